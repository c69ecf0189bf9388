/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Advisory locks: POSIX records (fcntl F_SETLK), open file description records
 * (F_OFD_SETLK) and flock(2). They hang on the inode in one list; what kind a
 * lock is and who owns it is in the lock. POSIX locks belong to a descriptor
 * table, the other two to an open file.
 */
#include "fs/fs.h"
#include "sys/syscall.h"
#include <asm/fcntl.h>
#include <linux/fs.h>
#include <utlist.h>

#define LOCK_END 0x7fffffffffffffffLL

enum lock_kind { LOCK_POSIX, LOCK_OFD, LOCK_FLOCK };

struct file_lock {
	enum lock_kind kind;
	const void *owner; /* struct files or struct file */
	bool exclusive;
	loff_t start, end; /* inclusive */
	pid_t pid;	   /* F_GETLK's answer; -1 for an open file's */
	struct file_lock *next, *prev;
};

/* Behind inode->locks: there while there is a lock or somebody waits for one. */
struct inode_locks {
	struct file_lock *list;
	struct waitq wait;
	u32 waiting;
};

/* A task that waits for a POSIX lock, to notice circles. */
struct lock_wait {
	const void *owner, *blocker;
	struct lock_wait *next, *prev;
};
static struct lock_wait *lock_waits;

static struct inode_locks *inode_locks(struct inode *ino)
{
	if (!ino->locks)
		ino->locks = kzalloc(sizeof(struct inode_locks));
	return ino->locks;
}

static void free_if_unused(struct inode *ino)
{
	struct inode_locks *il = ino->locks;

	if (!il || il->list || il->waiting)
		return;
	kfree(il);
	ino->locks = NULL;
}

/* POSIX and OFD records exclude one another; flock is a world of its own. */
static bool same_world(enum lock_kind a, enum lock_kind b)
{
	return (a == LOCK_FLOCK) == (b == LOCK_FLOCK);
}

static struct file_lock *conflict(const struct inode_locks *il, const struct file_lock *want)
{
	struct file_lock *l;

	if (!il)
		return NULL;
	DL_FOREACH(il->list, l) {
		if (!same_world(l->kind, want->kind))
			continue;
		if (l->kind == want->kind && l->owner == want->owner)
			continue;
		if (l->start > want->end || l->end < want->start)
			continue;
		if (l->exclusive || want->exclusive)
			return l;
	}
	return NULL;
}

static struct file_lock *clone_lock(struct inode_locks *il, const struct file_lock *l)
{
	struct file_lock *n = kmalloc(sizeof(*n));

	if (!n)
		return NULL;
	*n = *l;
	DL_APPEND(il->list, n);
	return n;
}

/* Takes [start, end] away from the owner's locks; one that sticks out on both sides is split. */
static int remove_range(struct inode_locks *il, const struct file_lock *r)
{
	struct file_lock *l, *tmp, *tail;

	DL_FOREACH_SAFE(il->list, l, tmp) {
		if (l->kind != r->kind || l->owner != r->owner || l->start > r->end ||
		    l->end < r->start)
			continue;
		if (l->start < r->start && l->end > r->end) {
			tail = clone_lock(il, l);
			if (!tail)
				return -ENOLCK;
			tail->start = r->end + 1;
			l->end = r->start - 1;
		} else if (l->start < r->start) {
			l->end = r->start - 1;
		} else if (l->end > r->end) {
			l->start = r->end + 1;
		} else {
			DL_DELETE(il->list, l);
			kfree(l);
		}
	}
	return 0;
}

/* Joins the owner's locks of the same type that touch `want`. */
static void merge_neighbours(struct inode_locks *il, struct file_lock *want)
{
	struct file_lock *l, *tmp;

	DL_FOREACH_SAFE(il->list, l, tmp) {
		if (l == want || l->kind != want->kind || l->owner != want->owner ||
		    l->exclusive != want->exclusive)
			continue;
		if (l->end != LOCK_END && l->end + 1 < want->start)
			continue;
		if (want->end != LOCK_END && want->end + 1 < l->start)
			continue;
		want->start = MIN(want->start, l->start);
		want->end = MAX(want->end, l->end);
		DL_DELETE(il->list, l);
		kfree(l);
	}
}

static int apply(struct inode *ino, const struct file_lock *want, bool unlock)
{
	struct inode_locks *il = inode_locks(ino);
	struct file_lock *mine;
	int err;

	if (!il)
		return -ENOLCK;
	err = remove_range(il, want);
	if (!err && !unlock) {
		mine = clone_lock(il, want);
		if (mine)
			merge_neighbours(il, mine);
		else
			err = -ENOLCK;
	}
	wake_up(&il->wait);
	free_if_unused(ino);
	return err;
}

static bool would_deadlock(const void *owner, const void *blocker)
{
	struct lock_wait *w;
	bool found = true;

	/* follow who waits for whom; each step leaves by another waiter, so it ends */
	for (u32 steps = 0; found && steps < 1000; steps++) {
		if (blocker == owner)
			return true;
		found = false;
		DL_FOREACH(lock_waits, w) {
			if (w->owner == blocker) {
				blocker = w->blocker;
				found = true;
				break;
			}
		}
	}
	return false;
}

/* One sleep until the conflicting lock may be gone. */
static int wait_for(struct inode *ino, const struct file_lock *want, const struct file_lock *held)
{
	struct inode_locks *il = ino->locks;
	struct lock_wait w = {.owner = want->owner, .blocker = held->owner};
	bool posix = want->kind == LOCK_POSIX && held->kind == LOCK_POSIX;
	int err;

	if (posix && would_deadlock(want->owner, held->owner))
		return -EDEADLK;
	if (posix)
		DL_APPEND(lock_waits, &w);
	il->waiting++;
	err = wait_event_interruptible(&il->wait, conflict(il, want) != held);
	il->waiting--;
	if (posix)
		DL_DELETE(lock_waits, &w);
	return err;
}

static int set_lock(struct inode *ino, const struct file_lock *want, bool unlock, bool wait)
{
	struct file_lock *held;
	int err;

	while (!unlock && (held = conflict(ino->locks, want)) != NULL) {
		if (!wait)
			return -EAGAIN;
		err = wait_for(ino, want, held);
		if (err) {
			free_if_unused(ino);
			return err;
		}
	}
	if (unlock && !ino->locks)
		return 0;
	return apply(ino, want, unlock);
}

static void drop_all(struct inode *ino, const void *owner, bool posix)
{
	struct inode_locks *il = ino->locks;
	struct file_lock *l, *tmp;
	bool any = false;

	DL_FOREACH_SAFE(il->list, l, tmp) {
		if (l->owner != owner || (l->kind == LOCK_POSIX) != posix)
			continue;
		DL_DELETE(il->list, l);
		kfree(l);
		any = true;
	}
	if (any)
		wake_up(&il->wait);
	free_if_unused(ino);
}

void locks_close(struct file *f, struct files *owner)
{
	drop_all(f->inode, owner, true);
}

void locks_release(struct file *f)
{
	drop_all(f->inode, f, false);
}

/* ---- fcntl ---- */

/* The caller's struct flock as a range. */
static int range_from_user(struct file *f, const struct flock *fl, struct file_lock *l)
{
	loff_t base = 0;

	switch (fl->l_whence) {
	case SEEK_SET:
		break;
	case SEEK_CUR:
		base = f->pos;
		break;
	case SEEK_END:
		base = f->inode->size;
		break;
	default:
		return -EINVAL;
	}
	if (__builtin_add_overflow(base, fl->l_start, &l->start))
		return -EOVERFLOW;
	if (l->start < 0)
		return -EINVAL;
	if (fl->l_len > 0) {
		if (__builtin_add_overflow(l->start, fl->l_len - 1, &l->end))
			return -EOVERFLOW;
	} else if (fl->l_len < 0) {
		l->end = l->start - 1;
		l->start += fl->l_len;
		if (l->start < 0)
			return -EINVAL;
	} else {
		l->end = LOCK_END;
	}
	return 0;
}

static long get_lock(struct file *f, const struct file_lock *want, struct flock *fl)
{
	struct file_lock *held = conflict(f->inode->locks, want);

	if (!held) {
		fl->l_type = F_UNLCK;
		return 0;
	}
	fl->l_type = held->exclusive ? F_WRLCK : F_RDLCK;
	fl->l_whence = SEEK_SET;
	fl->l_start = held->start;
	fl->l_len = held->end == LOCK_END ? 0 : held->end - held->start + 1;
	fl->l_pid = held->pid;
	return 0;
}

long fcntl_lock(struct file *f, unsigned cmd, unsigned long arg)
{
	bool ofd = cmd == F_OFD_GETLK || cmd == F_OFD_SETLK || cmd == F_OFD_SETLKW;
	bool get = cmd == F_GETLK || cmd == F_OFD_GETLK;
	struct file_lock want = {.kind = ofd ? LOCK_OFD : LOCK_POSIX,
				 .owner = ofd ? (const void *)f : current->files,
				 .pid = ofd ? -1 : current->proc->pid};
	struct flock fl;
	long err;

	if (copy_from_user(&fl, (const void *)arg, sizeof(fl)))
		return -EFAULT;
	if (ofd && fl.l_pid)
		return -EINVAL;
	if (fl.l_type != F_RDLCK && fl.l_type != F_WRLCK && (fl.l_type != F_UNLCK || get))
		return -EINVAL;
	want.exclusive = fl.l_type == F_WRLCK;
	err = range_from_user(f, &fl, &want);
	if (err)
		return err;
	if (get) {
		err = get_lock(f, &want, &fl);
		return err ? err : copy_to_user((void *)arg, &fl, sizeof(fl));
	}
	if ((fl.l_type == F_RDLCK && !file_can_read(f)) ||
	    (fl.l_type == F_WRLCK && !file_can_write(f)))
		return -EBADF;
	return set_lock(f->inode, &want, fl.l_type == F_UNLCK,
			cmd == F_SETLKW || cmd == F_OFD_SETLKW);
}

/* ---- flock ---- */

long sys_flock(const u64 a[6])
{
	u32 op = (u32)a[1] & ~(u32)LOCK_NB;
	struct file *f = fd_get((int)a[0]);
	struct file_lock want = {.kind = LOCK_FLOCK, .owner = f, .end = LOCK_END};
	long err;

	if (!f)
		return -EBADF;
	if (op != LOCK_SH && op != LOCK_EX && op != LOCK_UN) {
		file_put(f);
		return -EINVAL;
	}
	want.exclusive = op == LOCK_EX;
	want.pid = current->proc->pid;
	/* changing the type lets go of the old lock first (flock(2)) */
	err = set_lock(f->inode, &want, true, false);
	if (!err && op != LOCK_UN)
		err = set_lock(f->inode, &want, false, !((u32)a[1] & LOCK_NB));
	file_put(f);
	return err;
}
