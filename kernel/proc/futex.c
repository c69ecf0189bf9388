/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * futex(2): sleeping on a word in user memory, and waking those who do.
 *
 * Waiters are on lists hashed by key. Everything runs under the big lock, so
 * "compare the word and go to sleep" cannot be cut in two: a waker on another
 * CPU changes the word without the kernel, but its FUTEX_WAKE comes after we
 * are queued. The word is read before queueing, since reading may fault and sleep;
 * nothing sleeps between the (last) read and the queueing.
 *
 * A waker takes the waiter off the list and sets `woken`. The waiter looks at that
 * before anything else, so a wake-up that meets its deadline or a signal is
 * reported as one, and not lost.
 */
#include "mm/page.h"
#include "mm/vm.h"
#include "proc/clock.h"
#include "proc/futex.h"
#include "sys/syscall.h"
#include <linux/time.h>
#include <utlist.h>

#define BUCKETS 256

static struct futex_bucket buckets[BUCKETS];

bool futex_same(const struct futex_key *a, const struct futex_key *b)
{
	return a->where == b->where && a->mm == b->mm;
}

struct futex_bucket *futex_bucket_of(const struct futex_key *key)
{
	/* Not by the pointer: the order on a list must not depend on where memory was allocated. */
	return &buckets[(key->where >> 2) * 0x9e3779b97f4a7c15ULL >> 56];
}

struct futex_bucket *futex_buckets(unsigned i)
{
	return i < BUCKETS ? &buckets[i] : NULL;
}

/*
 * The word has to be mapped (and writable where it will be written): touching it brings the
 * page.
 */
int futex_get_key(u64 uaddr, bool private, bool write, struct futex_key *key)
{
	struct mm *mm = current->mm;
	struct vma *vma;
	unsigned prot;
	paddr_t pa;
	u32 word;

	if (uaddr % sizeof(u32))
		return -EINVAL;
	if (uaddr >= TASK_SIZE)
		return -EFAULT;
	if (private) {
		key->where = uaddr;
		key->mm = mm;
		return 0;
	}
	if (get_user(word, (u32 *)uaddr))
		return -EFAULT;
	vma = vma_find(mm, uaddr);
	if (!vma || vma->start > uaddr)
		return -EFAULT;
	if (!(vma->flags & VM_SHARED)) {
		key->where = uaddr;
		key->mm = mm;
		return 0;
	}
	if (write && !(vma->flags & VM_WRITE))
		return -EFAULT;
	pa = pgd_lookup(mm->pgd, uaddr & PAGE_MASK, &prot);
	if (!pa)
		return -EFAULT;
	key->where = pa + uaddr % PAGE_SIZE;
	key->mm = NULL;
	return 0;
}

void futex_enqueue(struct futex_waiter *w)
{
	DL_APPEND(futex_bucket_of(&w->key)->list, w);
}

void futex_unqueue(struct futex_waiter *w)
{
	if (!w->woken)
		DL_DELETE(futex_bucket_of(&w->key)->list, w);
}

void futex_wake_waiter(struct futex_waiter *w)
{
	DL_DELETE(futex_bucket_of(&w->key)->list, w);
	w->woken = true;
	wake_task(w->task, WAKE_NORMAL);
}

int futex_sleep(struct futex_waiter *w, u64 deadline)
{
	int err = 0;

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (w->woken)
			break;
		if (deadline != NO_DEADLINE && clock_ns() >= deadline) {
			err = -ETIMEDOUT;
			break;
		}
		if (signal_pending(current)) {
			err = -ERESTARTSYS;
			break;
		}
		schedule_until(deadline);
	}
	set_current_state(TASK_RUNNING);
	futex_unqueue(w);
	return err;
}

/* ------------------------------------------------------------- wait, wake */

static int wake_key(const struct futex_key *key, int n, u32 bitset)
{
	struct futex_waiter *w, *tmp;
	int woken = 0;

	DL_FOREACH_SAFE(futex_bucket_of(key)->list, w, tmp) {
		if (woken >= n)
			break;
		if (!futex_same(&w->key, key) || !(w->bitset & bitset))
			continue;
		if (w->pi)
			return woken ? woken : -EINVAL;
		futex_wake_waiter(w);
		woken++;
	}
	return woken;
}

static long futex_wake(u64 uaddr, bool private, int n, u32 bitset)
{
	struct futex_key key;
	int err;

	if (!bitset)
		return -EINVAL;
	err = futex_get_key(uaddr, private, false, &key);
	return err ? err : wake_key(&key, n > 0 ? n : 1, bitset);
}

int futex_wake_addr(u64 uaddr, int n)
{
	return (int)futex_wake(uaddr, false, n, FUTEX_BITSET_MATCH_ANY);
}

static long wait_restart(struct task *t);

static long futex_wait(u64 uaddr, bool private, u32 expected, u64 deadline, u32 bitset)
{
	struct futex_waiter w = {.task = current, .bitset = bitset};
	struct task *t = current;
	u32 word;
	int err;

	if (!bitset)
		return -EINVAL;
	err = futex_get_key(uaddr, private, false, &w.key);
	if (err)
		return err;
	if (get_user(word, (u32 *)uaddr))
		return -EFAULT;
	if (word != expected)
		return -EAGAIN;
	futex_enqueue(&w);
	err = futex_sleep(&w, deadline);
	if (err != -ERESTARTSYS || deadline == NO_DEADLINE)
		return err;
	t->restart_fn = wait_restart;
	t->restart_deadline = deadline;
	t->restart_arg[0] = uaddr;
	t->restart_arg[1] = private;
	t->restart_arg[2] = expected;
	t->restart_arg[3] = bitset;
	return -ERESTART_RESTARTBLOCK;
}

static long wait_restart(struct task *t)
{
	return futex_wait(t->restart_arg[0], t->restart_arg[1], (u32)t->restart_arg[2],
			  t->restart_deadline, (u32)t->restart_arg[3]);
}

/* ---------------------------------------------------------------- requeue */

/*
 * Wakes n_wake waiters and moves up to n_move others to the second futex. Returns how many, or
 * (compare) -EAGAIN.
 */
static long futex_requeue(u64 uaddr, u64 uaddr2, bool private, int n_wake, int n_move,
			  const u32 *expected)
{
	struct futex_waiter *w, *tmp;
	struct futex_key from, to;
	int woken = 0, moved = 0, err;
	u32 word;

	if (n_wake < 0 || n_move < 0)
		return -EINVAL;
	err = futex_get_key(uaddr, private, false, &from);
	if (!err)
		err = futex_get_key(uaddr2, private, true, &to);
	if (err)
		return err;
	if (expected) {
		if (get_user(word, (u32 *)uaddr))
			return -EFAULT;
		if (word != *expected)
			return -EAGAIN;
	}
	DL_FOREACH_SAFE(futex_bucket_of(&from)->list, w, tmp) {
		if (!futex_same(&w->key, &from))
			continue;
		if (w->pi)
			return -EINVAL;
		if (woken < n_wake) {
			futex_wake_waiter(w);
			woken++;
		} else if (moved < n_move) {
			if (!futex_same(&from, &to)) {
				DL_DELETE(futex_bucket_of(&from)->list, w);
				w->key = to;
				futex_enqueue(w);
			}
			moved++;
		} else {
			break;
		}
	}
	return woken + moved;
}

/* ---------------------------------------------------------------- wake_op */

/* Does the operation on the second word; returns the old value by *old. */
static int apply_op(u64 uaddr, u32 op, s32 arg, u32 *old)
{
	u32 word, new, seen;

	if (get_user(word, (u32 *)uaddr))
		return -EFAULT;
	for (;;) {
		switch (op) {
		case FUTEX_OP_SET:
			new = (u32)arg;
			break;
		case FUTEX_OP_ADD:
			new = word + (u32)arg;
			break;
		case FUTEX_OP_OR:
			new = word | (u32)arg;
			break;
		case FUTEX_OP_ANDN:
			new = word & ~(u32)arg;
			break;
		case FUTEX_OP_XOR:
			new = word ^ (u32)arg;
			break;
		default:
			return -ENOSYS;
		}
		if (cmpxchg_user_u32((u32 *)uaddr, word, new, &seen))
			return -EFAULT;
		if (seen == word)
			break;
		word = seen;
	}
	*old = word;
	return 0;
}

static int compare_op(u32 cmp, s32 old, s32 arg)
{
	switch (cmp) {
	case FUTEX_OP_CMP_EQ:
		return old == arg;
	case FUTEX_OP_CMP_NE:
		return old != arg;
	case FUTEX_OP_CMP_LT:
		return old < arg;
	case FUTEX_OP_CMP_GE:
		return old >= arg;
	case FUTEX_OP_CMP_LE:
		return old <= arg;
	case FUTEX_OP_CMP_GT:
		return old > arg;
	default:
		return -ENOSYS;
	}
}

/* The encoding is in futex(2), FUTEX_WAKE_OP: op:4 cmp:4 oparg:12 cmparg:12. */
static long futex_wake_op(u64 uaddr, u64 uaddr2, bool private, int n, int n2, u32 encoded)
{
	u32 op = (encoded >> 28) & 7, cmp = (encoded >> 24) & 15;
	s32 oparg = (s32)(encoded << 8) >> 20, cmparg = (s32)(encoded << 20) >> 20;
	struct futex_key key, key2;
	int err, woken, also;
	u32 old;

	if ((encoded >> 28) & FUTEX_OP_OPARG_SHIFT)
		oparg = (s32)(1u << (oparg & 31));
	err = futex_get_key(uaddr, private, false, &key);
	if (!err)
		err = futex_get_key(uaddr2, private, true, &key2);
	if (!err)
		err = apply_op(uaddr2, op, oparg, &old);
	if (err)
		return err;
	also = compare_op(cmp, (s32)old, cmparg);
	if (also < 0)
		return also;
	woken = wake_key(&key, n > 0 ? n : 1, FUTEX_BITSET_MATCH_ANY);
	if (woken >= 0 && also) {
		int more = wake_key(&key2, n2 > 0 ? n2 : 1, FUTEX_BITSET_MATCH_ANY);

		woken = more < 0 ? more : woken + more;
	}
	return woken;
}

/* ------------------------------------------------------------ system call */

/*
 * WAIT's timeout is relative, all others are absolute; WAIT_BITSET and LOCK_PI2 choose the
 * clock.
 */
static int read_deadline(int cmd, u32 op, u64 uaddr, u64 *deadline)
{
	bool realtime = (op & FUTEX_CLOCK_REALTIME) || cmd == FUTEX_LOCK_PI;
	u64 ns, offset;
	int err;

	*deadline = NO_DEADLINE;
	if (!uaddr)
		return 0;
	err = read_timespec(uaddr, &ns);
	if (err)
		return err;
	if (cmd == FUTEX_WAIT) {
		*deadline = deadline_after(ns);
		return 0;
	}
	clock_offset(realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC, &offset);
	*deadline = ns == NO_DEADLINE ? ns : ns > offset ? ns - offset : 1;
	return 0;
}

/* futex(uaddr, op, val, timeout | val2, uaddr2, val3) */
long sys_futex(const u64 a[6])
{
	u32 op = (u32)a[1], val = (u32)a[2], val3 = (u32)a[5];
	bool private = op & FUTEX_PRIVATE_FLAG;
	int cmd = (int)(op & (u32)FUTEX_CMD_MASK), err;
	u64 deadline = NO_DEADLINE;

	if ((op & FUTEX_CLOCK_REALTIME) && cmd != FUTEX_WAIT_BITSET && cmd != FUTEX_LOCK_PI2)
		return -ENOSYS;
	if (cmd == FUTEX_WAIT || cmd == FUTEX_WAIT_BITSET || cmd == FUTEX_LOCK_PI ||
	    cmd == FUTEX_LOCK_PI2) {
		err = read_deadline(cmd, op, a[3], &deadline);
		if (err)
			return err;
	}
	switch (cmd) {
	case FUTEX_WAIT:
		return futex_wait(a[0], private, val, deadline, FUTEX_BITSET_MATCH_ANY);
	case FUTEX_WAIT_BITSET:
		return futex_wait(a[0], private, val, deadline, val3);
	case FUTEX_WAKE:
		return futex_wake(a[0], private, (int)val, FUTEX_BITSET_MATCH_ANY);
	case FUTEX_WAKE_BITSET:
		return futex_wake(a[0], private, (int)val, val3);
	case FUTEX_REQUEUE:
		return futex_requeue(a[0], a[4], private, (int)val, (int)a[3], NULL);
	case FUTEX_CMP_REQUEUE:
		return futex_requeue(a[0], a[4], private, (int)val, (int)a[3], &val3);
	case FUTEX_WAKE_OP:
		return futex_wake_op(a[0], a[4], private, (int)val, (int)a[3], val3);
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return futex_lock_pi(a[0], private, deadline, false);
	case FUTEX_TRYLOCK_PI:
		return futex_lock_pi(a[0], private, NO_DEADLINE, true);
	case FUTEX_UNLOCK_PI:
		return futex_unlock_pi(a[0], private);
	default:
		return -ENOSYS;
	}
}
