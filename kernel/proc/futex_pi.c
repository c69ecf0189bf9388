/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Priority-inheritance futexes and the list of robust ones (futex(2),
 * get_robust_list(2)).
 *
 * The scheduler is round robin, so there is no priority to inherit; what
 * remains is the protocol: the word holds the owner's id, a contended one is
 * given from owner to waiter by the kernel, deadlocks and dead owners are
 * found. FUTEX_WAITERS in the word makes the owner unlock in the kernel.
 *
 * A waiter knows the task that it waits for (`owner`, for deadlocks and for an
 * owner that exits); it is the same for all waiters of a word.
 */
#include "proc/futex.h"
#include "sys/syscall.h"
#include <utlist.h>

static u32 waiters; /* in LOCK_PI, all of them */

#define ROBUST_LIMIT 2048 /* a list may be endless: user space made it */

static struct futex_waiter *first_waiter(const struct futex_key *key)
{
	struct futex_waiter *w;

	DL_FOREACH(futex_bucket_of(key)->list, w) {
		if (futex_same(&w->key, key))
			return w;
	}
	return NULL;
}

static void set_owner(const struct futex_key *key, struct task *owner)
{
	struct futex_waiter *w;

	DL_FOREACH(futex_bucket_of(key)->list, w) {
		if (futex_same(&w->key, key))
			w->owner = owner;
	}
}

/* Would waiting for `owner` close a circle? Follows who waits for whom. */
static bool is_deadlock(const struct task *owner)
{
	for (u32 steps = 0; owner && steps <= nr_threads_total(); steps++) {
		if (owner == current)
			return true;
		owner = owner->pi_wait ? owner->pi_wait->owner : NULL;
	}
	return false;
}

/*
 * Tries to take or to mark the word. 1: current owns it; 0: *owner has it and the word says that
 * somebody waits. `died`: we were told that the owner has exited; then an id that is no task is
 * nobody.
 */
static int try_lock(u64 uaddr, const struct futex_key *key, bool try_only, bool died,
		    struct task **owner)
{
	u32 word, seen, new;
	u32 me = (u32)current->tid;

	if (get_user(word, (u32 *)uaddr))
		return -EFAULT;
	for (;;) {
		u32 tid = word & FUTEX_TID_MASK;
		struct task *t = tid ? task_find((pid_t)tid) : NULL;
		bool gone = !t || t->exiting;

		if (tid == me)
			return -EDEADLK;
		if (tid && gone && !died)
			return -ESRCH;
		if (gone) {
			new = me | (word & FUTEX_OWNER_DIED) | (tid ? FUTEX_OWNER_DIED : 0) |
			      (first_waiter(key) ? FUTEX_WAITERS : 0);
		} else {
			*owner = t;
			if (try_only)
				return -EAGAIN;
			new = word | FUTEX_WAITERS;
		}
		if (cmpxchg_user_u32((u32 *)uaddr, word, new, &seen))
			return -EFAULT;
		if (seen == word)
			return gone;
		word = seen;
	}
}

/*
 * Queued until the lock is ours (the unlocker makes us the owner before it wakes us), or we
 * may try again.
 */
static int wait_for_lock(struct futex_waiter *w, u64 deadline)
{
	int err;

	w->woken = w->retry = false;
	current->pi_wait = w;
	waiters++;
	futex_enqueue(w);
	err = futex_sleep(w, deadline);
	waiters--;
	current->pi_wait = NULL;
	return err;
}

long futex_lock_pi(u64 uaddr, bool private, u64 deadline, bool try_only)
{
	struct futex_waiter w = {.task = current, .pi = true, .bitset = FUTEX_BITSET_MATCH_ANY};
	int err = futex_get_key(uaddr, private, true, &w.key);

	if (err)
		return err;
	do {
		err = try_lock(uaddr, &w.key, try_only, w.retry, &w.owner);
		if (err)
			return err > 0 ? 0 : err;
		if (is_deadlock(w.owner))
			return -EDEADLK;
		err = wait_for_lock(&w, deadline);
	} while (!err && w.retry);
	return err == -ERESTARTSYS ? -ERESTARTNOINTR : err;
}

/* Writes the next owner (or nobody) into the word, which says `word` now, and wakes it. */
static int hand_over(u64 uaddr, const struct futex_key *key, u32 word)
{
	for (;;) {
		struct futex_waiter *next = first_waiter(key), *rest;
		u32 new = 0, seen;

		if (next) {
			rest = next->next;
			while (rest && !futex_same(&rest->key, key))
				rest = rest->next;
			new = (u32)next->task->tid | (rest ? FUTEX_WAITERS : 0);
		}
		if (cmpxchg_user_u32((u32 *)uaddr, word, new, &seen))
			return -EFAULT;
		word = seen == word ? new : seen;
		if (word != new || first_waiter(key) != next)
			continue; /* or the write slept, and the waiter gave up meanwhile */
		if (next) {
			struct task *t = next->task;

			next->owner = NULL; /* it waits for nobody, though it has not run yet */
			futex_wake_waiter(next);
			set_owner(key, t);
		}
		return 0;
	}
}

long futex_unlock_pi(u64 uaddr, bool private)
{
	struct futex_key key;
	int err = futex_get_key(uaddr, private, true, &key);
	u32 word;

	if (err)
		return err;
	if (get_user(word, (u32 *)uaddr))
		return -EFAULT;
	if ((word & FUTEX_TID_MASK) != (u32)current->tid)
		return -EPERM;
	return hand_over(uaddr, &key, word);
}

/*
 * An owner exits without unlocking: those who wait for it look again, and the first takes the
 * lock.
 */
void futex_exit_pi(struct task *t)
{
	struct futex_waiter *w, *tmp;

	if (!waiters)
		return;
	for (unsigned i = 0; futex_buckets(i); i++) {
		DL_FOREACH_SAFE(futex_buckets(i)->list, w, tmp) {
			if (!w->pi || w->owner != t)
				continue;
			w->retry = true;
			w->owner = NULL;
			futex_wake_waiter(w);
		}
	}
}

/* ----------------------------------------------------------------- robust */

/* One lock of the list: if t has it, mark it and wake somebody who waits. */
static void robust_death(struct task *t, u64 uaddr, bool pi, bool pending)
{
	u32 word, new, seen;

	if (uaddr % sizeof(u32) || get_user(word, (u32 *)uaddr))
		return;
	for (;;) {
		/* Unlocked, but the waker died before the FUTEX_WAKE. */
		if (pending && !pi && word == 0) {
			futex_wake_addr(uaddr, 1);
			return;
		}
		if ((word & FUTEX_TID_MASK) != (u32)t->tid)
			return;
		new = (word & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
		if (cmpxchg_user_u32((u32 *)uaddr, word, new, &seen))
			return;
		if (seen == word)
			break;
		word = seen;
	}
	if (!pi && (word & FUTEX_WAITERS))
		futex_wake_addr(uaddr, 1);
}

/* Bit 0 of an entry's address says that it is a PI futex. */
static bool read_entry(u64 uaddr, u64 *entry, bool *pi)
{
	u64 v;

	if (get_user(v, (u64 *)uaddr))
		return false;
	*entry = v & ~1ULL;
	*pi = v & 1;
	return true;
}

void futex_exit_robust(struct task *t)
{
	u64 head = t->robust_list, entry, next, pending;
	bool pi, next_pi, pending_pi;
	s64 offset;

	t->robust_list = 0;
	if (!head || !read_entry(head, &entry, &pi))
		return;
	if (get_user(offset, (s64 *)(head + offsetof(struct robust_list_head, futex_offset))) ||
	    !read_entry(head + offsetof(struct robust_list_head, list_op_pending), &pending,
			&pending_pi))
		return;
	for (int i = 0; entry != head && i < ROBUST_LIMIT; i++) {
		/* Its lock may be given away as soon as it is marked: read the link first. */
		bool more = read_entry(entry, &next, &next_pi);

		if (entry != pending)
			robust_death(t, entry + (u64)offset, pi, false);
		if (!more)
			return;
		entry = next;
		pi = next_pi;
	}
	if (pending)
		robust_death(t, pending + (u64)offset, pending_pi, true);
}

long sys_set_robust_list(const u64 a[6])
{
	if (a[1] != sizeof(struct robust_list_head))
		return -EINVAL;
	current->robust_list = a[0];
	current->robust_len = a[1];
	return 0;
}

/* get_robust_list(pid, head_ptr, len_ptr) */
long sys_get_robust_list(const u64 a[6])
{
	struct task *t = a[0] ? task_find((pid_t)a[0]) : current;

	if (!t)
		return -ESRCH;
	if (!ptrace_may_access(t))
		return -EPERM;
	if (put_user(sizeof(struct robust_list_head), (u64 *)a[2]))
		return -EFAULT;
	return put_user(t->robust_list, (u64 *)a[1]);
}

long sys_set_tid_address(const u64 a[6])
{
	current->clear_child_tid = a[0];
	return current->tid;
}
