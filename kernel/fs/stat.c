/* SPDX-License-Identifier: BSD-2-Clause */
/* Asking about files: stat, statx, statfs, access, readlink. */
#include "fs/fs.h"
#include "sys/syscall.h"
#include <linux/capability.h>

/* ---- stat ---- */

static u64 blocks_of(struct inode *ino)
{
	return inode_is_tmpfs(ino) ? tmpfs_blocks(ino) : ino->blocks;
}

static u32 blksize_of(const struct inode *ino)
{
	return ino->blksize ? ino->blksize : PAGE_SIZE;
}

static void fill_stat(struct inode *ino, struct stat *st)
{
	if (ino->ops && ino->ops->refresh)
		ino->ops->refresh(ino);
	memset(st, 0, sizeof(*st));
	st->st_dev = ino->sb ? ino->sb->dev : 0;
	st->st_ino = ino->ino;
	st->st_mode = ino->mode;
	st->st_nlink = ino->nlink;
	st->st_uid = ino->uid;
	st->st_gid = ino->gid;
	st->st_rdev = ino->rdev;
	st->st_size = ino->size;
	st->st_blksize = (int)blksize_of(ino);
	st->st_blocks = (long)blocks_of(ino);
	st->st_atime = (long)(ino->atime_ns / NSEC_PER_SEC);
	st->st_atime_nsec = ino->atime_ns % NSEC_PER_SEC;
	st->st_mtime = (long)(ino->mtime_ns / NSEC_PER_SEC);
	st->st_mtime_nsec = ino->mtime_ns % NSEC_PER_SEC;
	st->st_ctime = (long)(ino->ctime_ns / NSEC_PER_SEC);
	st->st_ctime_nsec = ino->ctime_ns % NSEC_PER_SEC;
}

long sys_fstat(const u64 a[6])
{
	struct file *f = fd_get_raw((int)a[0]);
	struct stat st;

	if (!f)
		return -EBADF;
	fill_stat(f->dentry->inode, &st);
	file_put(f);
	return copy_to_user((void *)a[1], &st, sizeof(st));
}

#define STAT_FLAGS (AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH)

/* The C library's fstat(): no path to walk. A path that cannot be read is for the long way to say. */
static bool is_empty_path(const char *upath, u32 at_flags)
{
	char first;

	return (at_flags & AT_EMPTY_PATH) && !get_user(first, upath) && !first;
}

long sys_newfstatat(const u64 a[6])
{
	struct dentry *d;
	struct stat st;
	int err;

	if (a[3] & ~(u64)STAT_FLAGS)
		return -EINVAL;
	if ((int)a[0] >= 0 && is_empty_path((const char *)a[1], (u32)a[3])) {
		const u64 b[6] = {a[0], a[2]};

		return sys_fstat(b);
	}
	err = user_path_at((int)a[0], (const char *)a[1], (u32)a[3], &d);
	if (err)
		return err;
	fill_stat(d->inode, &st);
	dentry_put(d);
	return copy_to_user((void *)a[2], &st, sizeof(st));
}

static struct statx_timestamp statx_time(u64 ns)
{
	return (struct statx_timestamp){.tv_sec = (s64)(ns / NSEC_PER_SEC),
					.tv_nsec = (u32)(ns % NSEC_PER_SEC)};
}

static u32 dev_major(dev_t dev)
{
	return (dev >> 8) & 0xfff;
}

static u32 dev_minor(dev_t dev)
{
	return (u32)((dev & 0xff) | ((dev >> 12) & 0xfff00));
}

static void fill_statx(const struct dentry *d, struct statx *sx)
{
	struct inode *ino = d->inode;
	dev_t dev = ino->sb ? ino->sb->dev : 0;

	if (ino->ops && ino->ops->refresh)
		ino->ops->refresh(ino);
	memset(sx, 0, sizeof(*sx));
	sx->stx_mask = STATX_BASIC_STATS;
	sx->stx_blksize = blksize_of(ino);
	sx->stx_attributes_mask = STATX_ATTR_MOUNT_ROOT;
	if (d->parent == d && d->sb && d->sb->root == d)
		sx->stx_attributes = STATX_ATTR_MOUNT_ROOT;
	sx->stx_nlink = ino->nlink;
	sx->stx_uid = ino->uid;
	sx->stx_gid = ino->gid;
	sx->stx_mode = (u16)ino->mode;
	sx->stx_ino = ino->ino;
	sx->stx_size = (u64)ino->size;
	sx->stx_blocks = blocks_of(ino);
	sx->stx_atime = statx_time(ino->atime_ns);
	sx->stx_mtime = statx_time(ino->mtime_ns);
	sx->stx_ctime = statx_time(ino->ctime_ns);
	sx->stx_rdev_major = dev_major(ino->rdev);
	sx->stx_rdev_minor = dev_minor(ino->rdev);
	sx->stx_dev_major = dev_major(dev);
	sx->stx_dev_minor = dev_minor(dev);
}

long sys_statx(const u64 a[6])
{
	struct dentry *d;
	struct statx sx;
	int err;

	if ((a[2] & ~(u64)(STAT_FLAGS | AT_STATX_SYNC_TYPE)) ||
	    (a[2] & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE || (a[3] & STATX__RESERVED))
		return -EINVAL;
	err = user_path_at((int)a[0], (const char *)a[1], (u32)a[2], &d);
	if (err)
		return err;
	fill_statx(d, &sx);
	dentry_put(d);
	return copy_to_user((void *)a[4], &sx, sizeof(sx));
}

/* ---- statfs ---- */

#define ST_VALID    0x0020
#define ST_RELATIME 0x1000

static int fill_statfs(struct super *sb, void *uout)
{
	struct statfs64 s;
	int err = 0;

	memset(&s, 0, sizeof(s));
	s.f_bsize = PAGE_SIZE;
	s.f_frsize = PAGE_SIZE;
	s.f_namelen = NAME_MAX;
	s.f_flags = ST_VALID | ST_RELATIME;
	if (sb) {
		s.f_type = sb->magic;
		s.f_fsid.val[0] = (int)sb->dev;
		if (sb->statfs)
			err = sb->statfs(sb, &s);
	}
	return err ? err : copy_to_user(uout, &s, sizeof(s));
}

long sys_statfs(const u64 a[6])
{
	struct dentry *d;
	int err = user_path(AT_FDCWD, (const char *)a[0], LOOKUP_FOLLOW, &d);

	if (err)
		return err;
	err = fill_statfs(d->inode->sb, (void *)a[1]);
	dentry_put(d);
	return err;
}

long sys_fstatfs(const u64 a[6])
{
	struct file *f = fd_get_raw((int)a[0]);
	int err;

	if (!f)
		return -EBADF;
	err = fill_statfs(f->dentry->inode->sb, (void *)a[1]);
	file_put(f);
	return err;
}

/* ---- access ---- */

/* The answer for the real ids, as access(2) gives it: a moment with other credentials. */
static int with_real_ids(struct inode *ino, int mask)
{
	struct cred *c = &current->cred;
	struct cred saved = *c;
	int err;

	c->fsuid = c->uid;
	c->fsgid = c->gid;
	if (c->uid)
		c->cap_effective = 0;
	else
		c->cap_effective = c->cap_permitted;
	err = inode_permission(ino, mask);
	*c = saved;
	return err;
}

static long do_access(int dirfd, const char *upath, u32 mode, u32 flags)
{
	struct dentry *d;
	int err;

	if ((mode & ~7u) || (flags & ~(u32)(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)))
		return -EINVAL;
	err = user_path_at(dirfd, upath, flags & ~(u32)AT_EACCESS, &d);
	if (err)
		return err;
	if (flags & AT_EACCESS)
		err = inode_permission(d->inode, (int)mode);
	else
		err = with_real_ids(d->inode, (int)mode);
	dentry_put(d);
	return err;
}

long sys_faccessat(const u64 a[6])
{
	return do_access((int)a[0], (const char *)a[1], (u32)a[2], 0);
}

long sys_faccessat2(const u64 a[6])
{
	return do_access((int)a[0], (const char *)a[1], (u32)a[2], (u32)a[3]);
}

/* ---- readlink ---- */

/* The text of a link; for a magic one without text of its own, the path of what it names. */
static ssize_t link_text(struct inode *ino, char *buf, size_t size)
{
	struct dentry *d;
	ssize_t n;
	char *s;

	if (ino->ops->readlink)
		return ino->ops->readlink(ino, buf, size);
	n = ino->ops->follow ? ino->ops->follow(ino, &d) : -EINVAL;
	if (n)
		return n;
	s = dentry_path(d, buf, size);
	dentry_put(d);
	if (IS_ERR(s))
		return PTR_ERR(s);
	n = (ssize_t)strlen(s);
	memmove(buf, s, (size_t)n);
	return n;
}

long sys_readlinkat(const u64 a[6])
{
	struct dentry *d;
	char *buf;
	long n;

	if ((int)a[3] <= 0)
		return -EINVAL;
	n = user_path((int)a[0], (const char *)a[1], LOOKUP_EMPTY, &d);
	if (n)
		return n;
	buf = kmalloc(PATH_MAX);
	if (!buf) {
		n = -ENOMEM;
	} else if (!S_ISLNK(d->inode->mode)) {
		char first = 1;

		/* "" stands for the descriptor itself: only a link can be read */
		n = get_user(first, (const char *)a[1]) || first ? -EINVAL : -ENOENT;
	} else {
		n = link_text(d->inode, buf, PATH_MAX);
		if (n > 0) {
			n = MIN(n, (long)(int)a[3]);
			if (copy_to_user((void *)a[2], buf, (size_t)n))
				n = -EFAULT;
		}
	}
	kfree(buf);
	dentry_put(d);
	return n;
}
