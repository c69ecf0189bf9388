/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names that come and go: mkdir, mknod, symlink, link, unlink, rmdir, rename.
 *
 * The file system's operation does the inodes' side (link counts, times, its
 * pin on the dentry); the dentry tree is changed here, after it said yes.
 */
#include "fs/fs.h"
#include "sys/syscall.h"
#include <linux/capability.h>
#include <linux/fs.h>
#include <utlist.h>

/* The checks before something is made at d. */
static int may_make(struct dentry *dir, struct dentry *d)
{
	if (d->inode)
		return -EEXIST;
	if (dir->unlinked)
		return -ENOENT;
	return inode_permission(dir->inode, 3);
}

/* The same, and d is the caller's to make, until end_make(). */
static int begin_make(struct dentry *dir, struct dentry *d)
{
	int err;

	dentry_claim(d);
	err = may_make(dir, d);
	if (err)
		dentry_unclaim(d);
	return err;
}

static int end_make(struct dentry *d, int err)
{
	dentry_unclaim(d);
	return err;
}

int vfs_create(struct dentry *dir, struct dentry *d, mode_t mode)
{
	const struct inode_ops *ops = dir->inode->ops;
	int err = begin_make(dir, d);

	if (err)
		return err;
	return end_make(d, ops && ops->create ? ops->create(dir->inode, d, S_IFREG | (mode & MODE_PERM))
					      : -EACCES);
}

int vfs_mknod(struct dentry *dir, struct dentry *d, mode_t mode, dev_t rdev)
{
	const struct inode_ops *ops = dir->inode->ops;
	int err = begin_make(dir, d);

	if (err)
		return err;
	if ((S_ISCHR(mode) || S_ISBLK(mode)) && !fs_capable(CAP_MKNOD))
		return end_make(d, -EPERM);
	return end_make(d, ops && ops->mknod ? ops->mknod(dir->inode, d, mode, rdev) : -EPERM);
}

static mode_t apply_umask(mode_t mode)
{
	return current->fs ? mode & ~current->fs->umask : mode;
}

long sys_mkdirat(const u64 a[6])
{
	struct name_at n;
	int err = name_at_begin(&n, (int)a[0], (const char *)a[1], true);

	if (err)
		return err;
	err = begin_make(n.dir, n.child);
	if (!err) {
		const struct inode_ops *ops = n.dir->inode->ops;
		mode_t mode = apply_umask((mode_t)a[2] & 01777);

		err = ops && ops->mkdir ? ops->mkdir(n.dir->inode, n.child, S_IFDIR | mode)
					: -EPERM;
		end_make(n.child, err);
	}
	name_at_end(&n);
	return err;
}

static dev_t decode_dev(u32 dev)
{
	return MKDEV((dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00));
}

long sys_mknodat(const u64 a[6])
{
	mode_t mode = (mode_t)a[2];
	struct name_at n;
	int err;

	if (!(mode & S_IFMT))
		mode |= S_IFREG;
	if (S_ISDIR(mode))
		return -EPERM;
	if (!S_ISREG(mode) && !S_ISCHR(mode) && !S_ISBLK(mode) && !S_ISFIFO(mode) &&
	    !S_ISSOCK(mode))
		return -EINVAL;
	err = name_at_begin(&n, (int)a[0], (const char *)a[1], true);
	if (err)
		return err;
	if (n.child->inode)
		err = -EEXIST;
	else if (n.w.want_dir)
		err = -ENOENT;
	else if (S_ISREG(mode))
		err = vfs_create(n.dir, n.child, apply_umask(mode));
	else
		err = vfs_mknod(n.dir, n.child, (mode & S_IFMT) | apply_umask(mode & MODE_PERM),
				decode_dev((u32)a[3]));
	name_at_end(&n);
	return err;
}

long sys_symlinkat(const u64 a[6])
{
	struct name_at n;
	char *target;
	int err = getname((const char *)a[0], &target);

	if (err)
		return err;
	err = *target ? name_at_begin(&n, (int)a[1], (const char *)a[2], true) : -ENOENT;
	if (err) {
		kfree(target);
		return err;
	}
	err = n.w.want_dir && !n.child->inode ? -ENOENT : begin_make(n.dir, n.child);
	if (!err) {
		const struct inode_ops *ops = n.dir->inode->ops;

		err = ops && ops->symlink ? ops->symlink(n.dir->inode, n.child, target) : -EPERM;
		end_make(n.child, err);
	}
	name_at_end(&n);
	kfree(target);
	return err;
}

static int do_link(struct dentry *old, struct name_at *n)
{
	const struct inode_ops *ops = n->dir->inode->ops;
	int err = n->w.want_dir && !n->child->inode ? -ENOENT : begin_make(n->dir, n->child);

	if (err)
		return err;
	if (old->sb != n->dir->sb)
		err = -EXDEV;
	else if (S_ISDIR(old->inode->mode) || !ops || !ops->link)
		err = -EPERM;
	else
		err = ops->link(n->dir->inode, n->child, old->inode);
	return end_make(n->child, err);
}

long sys_linkat(const u64 a[6])
{
	u32 flags = (u32)a[4];
	struct dentry *old;
	struct name_at n;
	int err;

	if (flags & ~(u32)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if ((flags & AT_EMPTY_PATH) && !fs_capable(CAP_DAC_READ_SEARCH))
		return -ENOENT;
	err = user_path((int)a[0], (const char *)a[1],
			(flags & AT_SYMLINK_FOLLOW ? LOOKUP_FOLLOW : 0) |
				(flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0),
			&old);
	if (err)
		return err;
	err = name_at_begin(&n, (int)a[2], (const char *)a[3], true);
	if (!err) {
		err = do_link(old, &n);
		name_at_end(&n);
	}
	dentry_put(old);
	return err;
}

static bool dir_is_empty(const struct dentry *d)
{
	for (const struct dentry *c = d->children; c; c = c->hh.next)
		if (c->inode)
			return false;
	return true;
}

static int vfs_rmdir(struct dentry *dir, struct dentry *d)
{
	const struct inode_ops *ops = dir->inode->ops;
	int err = may_delete(dir->inode, d->inode);

	if (err)
		return err;
	if (!S_ISDIR(d->inode->mode))
		return -ENOTDIR;
	if (d->mounted || d->parent == d)
		return -EBUSY;
	if (!ops || !ops->rmdir)
		return -EPERM;
	if (!dir_is_empty(d))
		return -ENOTEMPTY;
	err = ops->rmdir(dir->inode, d);
	if (!err)
		dentry_drop(d);
	return err;
}

static int vfs_unlink(struct dentry *dir, struct dentry *d)
{
	const struct inode_ops *ops = dir->inode->ops;
	int err = may_delete(dir->inode, d->inode);

	if (err)
		return err;
	if (S_ISDIR(d->inode->mode))
		return -EISDIR;
	if (d->mounted)
		return -EBUSY;
	if (!ops || !ops->unlink)
		return -EPERM;
	err = ops->unlink(dir->inode, d);
	if (!err)
		dentry_drop(d);
	return err;
}

long sys_unlinkat(const u64 a[6])
{
	u32 flags = (u32)a[2];
	struct name_at n;
	int err;

	if (flags & ~(u32)AT_REMOVEDIR)
		return -EINVAL;
	err = name_at_begin(&n, (int)a[0], (const char *)a[1], false);
	if (err == -EINVAL || err == -ENOTEMPTY || err == -EBUSY)
		return flags & AT_REMOVEDIR ? err : -EISDIR;
	if (err)
		return err;
	if (flags & AT_REMOVEDIR)
		err = vfs_rmdir(n.dir, n.child);
	else if (n.w.want_dir)
		err = S_ISDIR(n.child->inode->mode) ? -EISDIR : -ENOTDIR;
	else
		err = vfs_unlink(n.dir, n.child);
	name_at_end(&n);
	return err;
}

/* The checks of rename(2) that do not depend on the file system. 1: nothing to do. */
static int may_rename(struct name_at *o, struct name_at *n, u32 flags)
{
	struct inode *from = o->child->inode, *to = n->child->inode;
	bool dir = S_ISDIR(from->mode);
	int err;

	if (o->dir->sb != n->dir->sb)
		return -EXDEV;
	if ((flags & RENAME_NOREPLACE) && to)
		return -EEXIST;
	if ((flags & RENAME_EXCHANGE) && !to)
		return -ENOENT;
	if (!dir && (o->w.want_dir || (n->w.want_dir && (!to || !(flags & RENAME_EXCHANGE)))))
		return -ENOTDIR;
	if (dentry_is_below(n->dir, o->child))
		return -EINVAL;
	if (to && dentry_is_below(o->dir, n->child))
		return flags & RENAME_EXCHANGE ? -EINVAL : -ENOTEMPTY;
	if (from == to)
		return 1;
	err = may_delete(o->dir->inode, from);
	if (!err)
		err = to ? may_delete(n->dir->inode, to) : may_make(n->dir, n->child);
	if (!err && dir && o->dir != n->dir)
		err = inode_permission(from, 2);
	if (err)
		return err;
	if (o->child->mounted || n->child->mounted)
		return -EBUSY;
	if (to && !(flags & RENAME_EXCHANGE)) {
		if (dir && !S_ISDIR(to->mode))
			return -ENOTDIR;
		if (!dir && S_ISDIR(to->mode))
			return -EISDIR;
		if (dir && !dir_is_empty(n->child))
			return -ENOTEMPTY;
	}
	return 0;
}

static int do_rename(struct name_at *o, struct name_at *n, u32 flags)
{
	struct inode *odir = o->dir->inode, *ndir = n->dir->inode;
	int err = may_rename(o, n, flags);
	char *name;

	if (err)
		return err < 0 ? err : 0;
	if (!odir->ops || !odir->ops->rename)
		return -EPERM;
	if (flags & RENAME_EXCHANGE) {
		if (S_ISDIR(o->child->inode->mode) != S_ISDIR(n->child->inode->mode) &&
		    odir != ndir) {
			int up = S_ISDIR(o->child->inode->mode) ? 1 : -1;

			odir->nlink -= (u32)up;
			ndir->nlink += (u32)up;
		}
		dentry_exchange(o->child, n->child);
		inode_touch(odir);
		inode_touch(ndir);
		o->child->inode->ctime_ns = n->child->inode->ctime_ns = wall_ns();
		return 0;
	}
	name = kmalloc(n->w.last_len + 1);
	if (!name)
		return -ENOMEM;
	memcpy(name, n->w.last, n->w.last_len);
	name[n->w.last_len] = '\0';
	err = odir->ops->rename(odir, o->child, ndir, n->child);
	if (err) {
		kfree(name);
		return err;
	}
	dentry_drop(n->child);
	dentry_move(o->child, n->dir, name, n->w.last_len);
	return 0;
}

long sys_renameat2(const u64 a[6])
{
	u32 flags = (u32)a[4];
	struct name_at o, n;
	int err;

	if ((flags & ~(u32)(RENAME_NOREPLACE | RENAME_EXCHANGE)) ||
	    flags == (RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	err = name_at_begin(&o, (int)a[0], (const char *)a[1], false);
	if (err == -EINVAL || err == -ENOTEMPTY)
		err = -EBUSY;
	if (err)
		return err;
	err = name_at_begin(&n, (int)a[2], (const char *)a[3], true);
	if (err == -EEXIST)
		err = flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
	if (!err) {
		err = do_rename(&o, &n, flags);
		name_at_end(&n);
	}
	name_at_end(&o);
	return err;
}

long sys_renameat(const u64 a[6])
{
	const u64 b[6] = {a[0], a[1], a[2], a[3], 0, 0};

	return sys_renameat2(b);
}
