/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening: open(2), openat2(2), memfd_create(2), and vfs_open for the rest of the kernel. */
#include "fs/fs.h"
#include "sys/syscall.h"
#include <linux/magic.h>
#include <linux/memfd.h>
#include <linux/openat2.h>

/* What a file keeps of the flags it was opened with. */
#define O_KEPT                                                                          \
	(O_ACCMODE | O_APPEND | O_NONBLOCK | O_SYNC | FASYNC | O_DIRECT | O_LARGEFILE | \
	 O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_PATH)
#define O_VALID (O_KEPT | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC | __O_TMPFILE)

static const struct file_ops path_ops; /* O_PATH: nothing can be done through it */

/* The rights that opening with these flags needs: 4 read, 2 write, 1 execute. */
static int access_mask(u32 flags)
{
	static const int mask[4] = {4, 2, 6, 6};
	int m = mask[flags & O_ACCMODE];

	if (flags & FMODE_EXEC)
		m = 1;
	if (flags & O_TRUNC)
		m |= 2;
	return m;
}

static int may_open(struct inode *ino, u32 flags)
{
	int err;

	if (S_ISLNK(ino->mode))
		return -ELOOP;
	if (S_ISDIR(ino->mode)) {
		if (access_mask(flags) & 2)
			return -EISDIR;
		if (flags & FMODE_EXEC)
			return -EACCES;
	} else if (flags & O_DIRECTORY) {
		return -ENOTDIR;
	} else if ((flags & FMODE_EXEC) && !S_ISREG(ino->mode)) {
		return -EACCES;
	}
	err = inode_permission(ino, access_mask(flags));
	if (err)
		return err;
	if ((flags & O_NOATIME) && !inode_owner_ok(ino))
		return -EPERM;
	return 0;
}

/* A device node outside /dev stands for the one there. */
static struct inode *opened_inode(struct inode *ino, u32 flags)
{
	if (ino->fops || (flags & O_PATH))
		return ino;
	return S_ISCHR(ino->mode) ? devfs_find_inode(ino->rdev) : NULL;
}

/* A program that runs cannot be written to, nor what is being written be run. */
static int claim_content(struct file *f, u32 flags)
{
	struct inode *ino = f->inode;
	int claim = flags & FMODE_EXEC ? -1 : file_can_write(f) ? 1 : 0;

	if (!S_ISREG(ino->mode) || (flags & O_PATH))
		return 0;
	if (claim > 0 ? ino->writers < 0 : claim < 0 && ino->writers > 0)
		return -ETXTBSY;
	f->writer = claim;
	ino->writers += claim;
	return 0;
}

/* Opens without asking for permission. */
static int open_dentry(struct dentry *d, u32 flags, struct file **out)
{
	struct inode *ino = opened_inode(d->inode, flags);
	struct file *f;
	int err = 0;

	if (!ino)
		return -ENXIO;
	f = file_alloc(dentry_get(d), flags & O_PATH ? &path_ops : ino->fops,
		       flags & (O_KEPT | O_NOCTTY));
	if (!f)
		return -ENOMEM;
	if (unlikely(ino != d->inode)) {
		ino->refs++;
		f->inode = ino;
	}
	err = claim_content(f, flags);
	if (!err && f->ops->open)
		err = f->ops->open(ino, f);
	f->flags &= ~(u32)O_NOCTTY; /* for open only */
	if (err) {
		f->ops = &path_ops; /* it was never open: no release */
		file_put(f);
		return err;
	}
	*out = f;
	return 0;
}

int vfs_open(struct dentry *d, u32 flags, struct file **out)
{
	int err;

	if (!d->inode)
		return -ENOENT;
	if (flags & O_PATH) {
		if ((flags & O_DIRECTORY) && !S_ISDIR(d->inode->mode))
			return -ENOTDIR;
		return open_dentry(d, flags & (O_PATH | O_DIRECTORY | O_NOFOLLOW), out);
	}
	err = may_open(d->inode, flags);
	if (err)
		return err;
	err = open_dentry(d, flags, out);
	if (!err && (flags & O_TRUNC) && S_ISREG(d->inode->mode)) {
		err = vfs_truncate(d->inode, 0);
		if (err)
			file_put(*out);
	}
	return err;
}

/*
 * What was not there when it was looked for. Somebody may have been faster: another task, then d has an
 * inode now, or the host, then d is out of date.
 */
static int create_here(struct walk *w, struct dentry *d, u32 flags, mode_t mode, struct file **out)
{
	int err = vfs_create(w->d, d, mode & ~(current->fs ? current->fs->umask : 0));

	if (!err)
		return open_dentry(d, flags, out);
	if (err != -EEXIST || (flags & O_EXCL))
		return err;
	if (!d->inode)
		dentry_drop(d);
	return -EAGAIN;
}

/* The last component of an open with O_CREAT. 1: it was a link, walk on. */
static int try_create_last(struct walk *w, u32 flags, mode_t mode, struct file **out)
{
	struct dentry *d;
	int err;

	if (!w->last_len || w->want_dir)
		return -EISDIR;
	if (w->last[0] == '.' && (w->last_len == 1 || (w->last_len == 2 && w->last[1] == '.')))
		return flags & O_EXCL ? -EEXIST : -EISDIR;
	d = dentry_lookup(w->d, w->last, w->last_len, true);
	if (IS_ERR(d))
		return (int)PTR_ERR(d);
	if (!d->inode) {
		err = create_here(w, d, flags, mode, out);
	} else if (flags & O_EXCL) {
		err = -EEXIST;
	} else if (S_ISLNK(d->inode->mode) && !(flags & O_NOFOLLOW)) {
		err = walk_link(w, d);
		if (!err)
			err = 1;
	} else {
		d = dentry_cross_mounts(d);
		err = S_ISDIR(d->inode->mode) ? -EISDIR : vfs_open(d, flags, out);
	}
	dentry_put(d);
	return err;
}

#define MOST_TRIES 10 /* names that come and go as fast as that are not worth more */

static int create_last(struct walk *w, u32 flags, mode_t mode, struct file **out)
{
	int err = -EAGAIN;

	for (unsigned tries = 0; err == -EAGAIN && tries < MOST_TRIES; tries++)
		err = try_create_last(w, flags, mode, out);
	return err == -EAGAIN ? -EEXIST : err;
}

static int open_tmpfile(struct walk *w, u32 flags, mode_t mode, struct file **out)
{
	struct inode *dir = w->d->inode;
	struct file *f;
	int err;

	if (!S_ISDIR(dir->mode))
		return -ENOTDIR;
	if ((flags & O_ACCMODE) == O_RDONLY)
		return -EINVAL;
	err = inode_permission(dir, 3);
	if (err)
		return err;
	if (!inode_is_tmpfs(dir))
		return -EOPNOTSUPP;
	f = tmpfs_unlinked_file(dir->sb, "#tmpfile",
				mode & MODE_PERM & ~(current->fs ? current->fs->umask : 0),
				flags & O_KEPT);
	if (IS_ERR(f))
		return (int)PTR_ERR(f);
	*out = f;
	return 0;
}

static int open_resolved(int dirfd, const char *path, u32 flags, mode_t mode, u64 resolve,
			 struct file **out)
{
	struct walk w;
	int err;

	if (!*path)
		return -ENOENT;
	err = walk_begin(&w, dirfd, path, resolve);
	if (err)
		return err;
	if (flags & O_CREAT) {
		do {
			err = walk_parent(&w);
			if (!err)
				err = create_last(&w, flags, mode, out);
		} while (err == 1);
	} else {
		err = walk_all(&w, !(flags & O_NOFOLLOW));
		if (!err && (flags & __O_TMPFILE))
			err = open_tmpfile(&w, flags, mode, out);
		else if (!err)
			err = vfs_open(w.d, flags, out);
	}
	walk_end(&w);
	return err;
}

int open_path(int dirfd, const char *path, u32 flags, mode_t mode, struct file **out)
{
	return open_resolved(dirfd, path, flags, mode, 0, out);
}

/* Flags that say more than one thing. */
static u32 settle_flags(u32 flags)
{
	if (flags & O_PATH)
		flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	if (flags & O_CREAT && flags & O_EXCL)
		flags |= O_NOFOLLOW;
	return flags;
}

static long do_open(int dirfd, const char *upath, u32 flags, mode_t mode, u64 resolve)
{
	struct file *f;
	char *path;
	int err;

	flags = settle_flags(flags);
	if ((flags & __O_TMPFILE) && (flags & O_TMPFILE_MASK) != O_TMPFILE)
		return -EINVAL;
	if (current->files->next_free >= current->files->cap &&
	    (u64)current->files->next_free >= current_rlimit(RLIMIT_NOFILE))
		return -EMFILE;
	err = getname(upath, &path);
	if (err)
		return err;
	err = open_resolved(dirfd, path, flags, mode, resolve, &f);
	kfree(path);
	return err ? err : fd_install_new(f, flags & O_CLOEXEC);
}

long sys_openat(const u64 a[6])
{
	return do_open((int)a[0], (const char *)a[1], (u32)a[2] & O_VALID, (mode_t)a[3] & MODE_PERM,
		       0);
}

/* Bytes of an extensible structure beyond those we know must be zero (openat2(2)). */
static int copy_struct(void *to, size_t known, const void *ufrom, size_t usize)
{
	u8 byte;

	memset(to, 0, known);
	if (copy_from_user(to, ufrom, MIN(known, usize)))
		return -EFAULT;
	for (size_t i = known; i < usize; i++) {
		if (get_user(byte, (const u8 *)ufrom + i))
			return -EFAULT;
		if (byte)
			return -E2BIG;
	}
	return 0;
}

#define RESOLVE_KNOWN                                                                      \
	(RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | \
	 RESOLVE_IN_ROOT)

#define OPEN_HOW_FIRST_SIZE 24 /* of struct open_how, as it was when it came */

long sys_openat2(const u64 a[6])
{
	struct open_how how;
	int err;

	if (a[3] < OPEN_HOW_FIRST_SIZE)
		return -EINVAL;
	if (a[3] > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct(&how, sizeof(how), (const void *)a[2], a[3]);
	if (err)
		return err;
	if ((how.flags & ~(u64)O_VALID) || (how.resolve & ~(u64)(RESOLVE_KNOWN | RESOLVE_CACHED)))
		return -EINVAL;
	if ((how.flags & O_PATH) &&
	    (how.flags & ~(u64)(O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)))
		return -EINVAL;
	if ((how.resolve & RESOLVE_BENEATH) && (how.resolve & RESOLVE_IN_ROOT))
		return -EINVAL;
	if (how.flags & (O_CREAT | __O_TMPFILE) ? how.mode & ~(u64)MODE_PERM : how.mode)
		return -EINVAL;
	return do_open((int)a[0], (const char *)a[1], (u32)how.flags, (mode_t)how.mode,
		       how.resolve & RESOLVE_KNOWN);
}

#define MEMFD_PREFIX   "memfd:"
#define MEMFD_NAME_MAX (NAME_MAX - (sizeof(MEMFD_PREFIX) - 1))

long sys_memfd_create(const u64 a[6])
{
	static struct super *memfd_super;
	char name[NAME_MAX + 1] = MEMFD_PREFIX;
	u32 flags = (u32)a[1];
	struct file *f;
	u32 *seals;
	ssize_t n;

	if (flags & ~(u32)(MFD_CLOEXEC | MFD_ALLOW_SEALING))
		return -EINVAL;
	n = strncpy_from_user(name + sizeof(MEMFD_PREFIX) - 1, (const char *)a[0],
			      MEMFD_NAME_MAX + 1);
	if (n < 0)
		return n == -ENAMETOOLONG ? -EINVAL : n;
	if (!memfd_super) {
		memfd_super = tmpfs_new("memfd");
		if (!memfd_super)
			return -ENOMEM;
	}
	f = tmpfs_unlinked_file(memfd_super, name, 0777, O_RDWR | O_LARGEFILE);
	if (IS_ERR(f))
		return PTR_ERR(f);
	tmpfs_allow_seals(f->inode);
	if (!(flags & MFD_ALLOW_SEALING)) {
		tmpfs_seals(f->inode, &seals);
		*seals = F_SEAL_SEAL;
	}
	return fd_install_new(f, flags & MFD_CLOEXEC);
}
