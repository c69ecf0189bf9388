/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changing what an inode says of itself: mode, owner, times, size. And
 * extended attributes, which no file system here has.
 */
#include "fs/fs.h"
#include "fs/poll.h"
#include "sys/syscall.h"
#include <linux/capability.h>
#include <linux/falloc.h>
#include <linux/xattr.h>

/* ---- mode and owner ---- */

/* What of an inode this file changes, to be taken back if the file system refuses it. */
struct attr {
	mode_t mode;
	uid_t uid;
	gid_t gid;
	u64 atime_ns, mtime_ns, ctime_ns;
};

static struct attr attr_of(const struct inode *ino)
{
	return (struct attr){ino->mode,	    ino->uid,	   ino->gid,
			     ino->atime_ns, ino->mtime_ns, ino->ctime_ns};
}

/* The inode has new values; tells the file system. */
static int attr_commit(struct inode *ino, const struct attr *old, u32 what)
{
	int err = ino->ops && ino->ops->attr_changed ? ino->ops->attr_changed(ino, what) : 0;

	if (err) {
		ino->mode = old->mode;
		ino->uid = old->uid;
		ino->gid = old->gid;
		ino->atime_ns = old->atime_ns;
		ino->mtime_ns = old->mtime_ns;
		ino->ctime_ns = old->ctime_ns;
	}
	return err;
}

static int set_mode(struct inode *ino, mode_t mode)
{
	struct attr old = attr_of(ino);

	if (!inode_owner_ok(ino))
		return -EPERM;
	if (S_ISLNK(ino->mode))
		return -EOPNOTSUPP;
	if (!in_group(ino->gid) && !fs_capable(CAP_FSETID))
		mode &= ~(mode_t)S_ISGID;
	ino->mode = (ino->mode & S_IFMT) | (mode & MODE_PERM);
	ino->ctime_ns = wall_ns();
	return attr_commit(ino, &old, ATTR_CHANGED_MODE);
}

long sys_fchmod(const u64 a[6])
{
	struct file *f = fd_get((int)a[0]);
	int err;

	if (!f)
		return -EBADF;
	err = set_mode(f->dentry->inode, (mode_t)a[1]);
	file_put(f);
	return err;
}

long sys_fchmodat(const u64 a[6])
{
	struct dentry *d;
	int err = user_path((int)a[0], (const char *)a[1], LOOKUP_FOLLOW, &d);

	if (err)
		return err;
	err = set_mode(d->inode, (mode_t)a[2]);
	dentry_put(d);
	return err;
}

#define KEEP_ID (~0u)

static int set_owner(struct inode *ino, uid_t uid, gid_t gid)
{
	struct attr old = attr_of(ino);

	if (uid != KEEP_ID && !fs_capable(CAP_CHOWN) &&
	    (current->cred.fsuid != ino->uid || uid != ino->uid))
		return -EPERM;
	if (gid != KEEP_ID && !fs_capable(CAP_CHOWN) &&
	    (current->cred.fsuid != ino->uid || (!in_group(gid) && gid != ino->gid)))
		return -EPERM;
	if (uid != KEEP_ID)
		ino->uid = uid;
	if (gid != KEEP_ID)
		ino->gid = gid;
	if (!S_ISDIR(ino->mode) && (uid != KEEP_ID || gid != KEEP_ID)) {
		ino->mode &= ~(mode_t)S_ISUID;
		if (ino->mode & S_IXGRP)
			ino->mode &= ~(mode_t)S_ISGID;
	}
	ino->ctime_ns = wall_ns();
	return attr_commit(ino, &old, (uid != KEEP_ID ? ATTR_CHANGED_UID : 0) |
					      (gid != KEEP_ID ? ATTR_CHANGED_GID : 0));
}

long sys_fchown(const u64 a[6])
{
	struct file *f = fd_get((int)a[0]);
	int err;

	if (!f)
		return -EBADF;
	err = set_owner(f->dentry->inode, (uid_t)a[1], (gid_t)a[2]);
	file_put(f);
	return err;
}

long sys_fchownat(const u64 a[6])
{
	struct dentry *d;
	int err;

	if (a[4] & ~(u64)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	err = user_path_at((int)a[0], (const char *)a[1], (u32)a[4], &d);
	if (err)
		return err;
	err = set_owner(d->inode, (uid_t)a[2], (gid_t)a[3]);
	dentry_put(d);
	return err;
}

/* ---- times ---- */

#define UTIME_NOW  0x3fffffff
#define UTIME_OMIT 0x3ffffffe

/* Times in user memory, NULL: both now. *explicit_time: one of them is neither now nor left alone. */
static int times_from_user(const void *uts, struct timespec64 ts[2], bool *explicit_time)
{
	*explicit_time = false;
	if (!uts) {
		ts[0].tv_nsec = ts[1].tv_nsec = UTIME_NOW;
		return 0;
	}
	if (copy_from_user(ts, uts, 2 * sizeof(ts[0])))
		return -EFAULT;
	for (int i = 0; i < 2; i++) {
		if (ts[i].tv_nsec == UTIME_NOW || ts[i].tv_nsec == UTIME_OMIT)
			continue;
		if (ts[i].tv_nsec < 0 || (u64)ts[i].tv_nsec >= NSEC_PER_SEC)
			return -EINVAL;
		*explicit_time = true;
	}
	return 0;
}

static void set_time(u64 *stamp, const struct timespec64 *ts, u64 now)
{
	if (ts->tv_nsec == UTIME_NOW)
		*stamp = now;
	else if (ts->tv_nsec != UTIME_OMIT)
		*stamp = ts->tv_sec < 0 ? 0 : (u64)ts->tv_sec * NSEC_PER_SEC + (u64)ts->tv_nsec;
}

static int set_times(struct inode *ino, const struct timespec64 ts[2], bool explicit_time)
{
	struct attr old = attr_of(ino);
	u64 now = wall_ns();

	if (ts[0].tv_nsec == UTIME_OMIT && ts[1].tv_nsec == UTIME_OMIT)
		return 0;
	if (!inode_owner_ok(ino)) {
		if (explicit_time || ts[0].tv_nsec != ts[1].tv_nsec)
			return -EPERM;
		if (inode_permission(ino, 2))
			return -EACCES;
	}
	set_time(&ino->atime_ns, &ts[0], now);
	set_time(&ino->mtime_ns, &ts[1], now);
	ino->ctime_ns = now;
	return attr_commit(ino, &old,
			   (ts[0].tv_nsec != UTIME_OMIT ? ATTR_CHANGED_ATIME : 0) |
				   (ts[1].tv_nsec != UTIME_OMIT ? ATTR_CHANGED_MTIME : 0));
}

long sys_utimensat(const u64 a[6])
{
	struct timespec64 ts[2] = {{0, 0}, {0, 0}};
	bool explicit_time;
	struct dentry *d;
	struct file *f;
	int err = times_from_user((const void *)a[2], ts, &explicit_time);

	if (err)
		return err;
	if (a[3] & ~(u64)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (!a[1] && (int)a[0] != AT_FDCWD) {
		if (a[3])
			return -EINVAL;
		f = fd_get((int)a[0]);
		if (!f)
			return -EBADF;
		err = set_times(f->dentry->inode, ts, explicit_time);
		file_put(f);
		return err;
	}
	err = user_path_at((int)a[0], (const char *)a[1], (u32)a[3], &d);
	if (err)
		return err;
	err = set_times(d->inode, ts, explicit_time);
	dentry_put(d);
	return err;
}

/* ---- size ---- */

int vfs_truncate(struct inode *ino, loff_t size)
{
	if (size < 0)
		return -EINVAL;
	if (S_ISDIR(ino->mode))
		return -EISDIR;
	if (!S_ISREG(ino->mode))
		return -EINVAL;
	if ((u64)size > current_rlimit(RLIMIT_FSIZE) && size > ino->size) {
		send_signal_task(current, SIGXFSZ, NULL);
		return -EFBIG;
	}
	/* text made when it is read has no size to cut: O_TRUNC is accepted there */
	return ino->ops && ino->ops->truncate ? ino->ops->truncate(ino, size) : 0;
}

long sys_truncate(const u64 a[6])
{
	struct dentry *d;
	int err;

	if ((loff_t)a[1] < 0)
		return -EINVAL;
	err = user_path(AT_FDCWD, (const char *)a[0], LOOKUP_FOLLOW, &d);
	if (err)
		return err;
	err = S_ISDIR(d->inode->mode) ? -EISDIR : inode_permission(d->inode, 2);
	if (!err && d->inode->writers < 0)
		err = -ETXTBSY;
	if (!err)
		err = vfs_truncate(d->inode, (loff_t)a[1]);
	dentry_put(d);
	return err;
}

long sys_ftruncate(const u64 a[6])
{
	struct file *f;
	int err;

	if ((loff_t)a[1] < 0)
		return -EINVAL;
	f = fd_get((int)a[0]);
	if (!f)
		return -EBADF;
	err = !file_can_write(f) ? -EINVAL : vfs_truncate(f->inode, (loff_t)a[1]);
	file_put(f);
	return err;
}

long sys_fallocate(const u64 a[6])
{
	loff_t off = (loff_t)a[2], len = (loff_t)a[3], end;
	int mode = (int)a[1];
	struct file *f;
	long err;

	if (off < 0 || len <= 0)
		return -EINVAL;
	f = fd_get((int)a[0]);
	if (!f)
		return -EBADF;
	if (__builtin_add_overflow(off, len, &end))
		err = -EFBIG;
	else if ((mode & FALLOC_FL_PUNCH_HOLE) && !(mode & FALLOC_FL_KEEP_SIZE))
		err = -EOPNOTSUPP;
	else if (!file_can_write(f))
		err = -EBADF;
	else if (S_ISFIFO(f->inode->mode))
		err = -ESPIPE;
	else if (S_ISDIR(f->inode->mode))
		err = -EISDIR;
	else if (!S_ISREG(f->inode->mode))
		err = -ENODEV;
	else if (!inode_is_tmpfs(f->inode))
		err = -EOPNOTSUPP;
	else
		err = tmpfs_fallocate(f->inode, mode, off, len);
	file_put(f);
	return err;
}

/*
 * ---- extended attributes ----
 *
 * As on a file system without them: listing gives none, asking and setting are
 * EOPNOTSUPP. Paths and descriptors are checked as usual.
 */

static long xattr_path(u64 upath, bool follow, long answer)
{
	struct dentry *d;
	int err = user_path(AT_FDCWD, (const char *)upath, follow ? LOOKUP_FOLLOW : 0, &d);

	if (err)
		return err;
	dentry_put(d);
	return answer;
}

static long xattr_fd(u64 fd, long answer)
{
	struct file *f = fd_get((int)fd);

	if (!f)
		return -EBADF;
	file_put(f);
	return answer;
}

long sys_setxattr(const u64 a[6])
{
	return xattr_path(a[0], true, -EOPNOTSUPP);
}

long sys_lsetxattr(const u64 a[6])
{
	return xattr_path(a[0], false, -EOPNOTSUPP);
}

long sys_fsetxattr(const u64 a[6])
{
	return xattr_fd(a[0], -EOPNOTSUPP);
}

long sys_getxattr(const u64 a[6])
{
	return xattr_path(a[0], true, -EOPNOTSUPP);
}

long sys_lgetxattr(const u64 a[6])
{
	return xattr_path(a[0], false, -EOPNOTSUPP);
}

long sys_fgetxattr(const u64 a[6])
{
	return xattr_fd(a[0], -EOPNOTSUPP);
}

long sys_listxattr(const u64 a[6])
{
	return xattr_path(a[0], true, 0);
}

long sys_llistxattr(const u64 a[6])
{
	return xattr_path(a[0], false, 0);
}

long sys_flistxattr(const u64 a[6])
{
	return xattr_fd(a[0], 0);
}

long sys_removexattr(const u64 a[6])
{
	return xattr_path(a[0], true, -EOPNOTSUPP);
}

long sys_lremovexattr(const u64 a[6])
{
	return xattr_path(a[0], false, -EOPNOTSUPP);
}

long sys_fremovexattr(const u64 a[6])
{
	return xattr_fd(a[0], -EOPNOTSUPP);
}
