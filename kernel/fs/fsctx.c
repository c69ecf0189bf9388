/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process knows of the tree: working directory, root, umask. Shared by threads (CLONE_FS). And mounting. */
#include "fs/fs.h"
#include "sys/syscall.h"
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <utlist.h>

struct fs_ctx *fs_fork(struct fs_ctx *old)
{
	struct fs_ctx *f = kmalloc(sizeof(*f));

	if (!f)
		return NULL;
	f->refs = 1;
	f->umask = old ? old->umask : 022;
	f->root = dentry_get(old ? old->root : root_dentry());
	f->cwd = dentry_get(old ? old->cwd : root_dentry());
	return f;
}

void fs_put(struct fs_ctx *f)
{
	if (--f->refs)
		return;
	dentry_put(f->root);
	dentry_put(f->cwd);
	kfree(f);
}

/* Takes the reference over. */
static int change_dir(struct dentry **slot, struct dentry *d)
{
	int err = S_ISDIR(d->inode->mode) ? inode_permission(d->inode, 1) : -ENOTDIR;

	if (err) {
		dentry_put(d);
		return err;
	}
	dentry_put(*slot);
	*slot = d;
	return 0;
}

long sys_chdir(const u64 a[6])
{
	struct dentry *d;
	int err = user_path(AT_FDCWD, (const char *)a[0], LOOKUP_FOLLOW, &d);

	return err ? err : change_dir(&current->fs->cwd, d);
}

long sys_fchdir(const u64 a[6])
{
	struct file *f = fd_get_raw((int)a[0]);
	int err;

	if (!f)
		return -EBADF;
	err = change_dir(&current->fs->cwd, dentry_get(f->dentry));
	file_put(f);
	return err;
}

long sys_chroot(const u64 a[6])
{
	struct dentry *d;
	int err = user_path(AT_FDCWD, (const char *)a[0], LOOKUP_FOLLOW, &d);

	if (err)
		return err;
	if (!fs_capable(CAP_SYS_CHROOT)) {
		dentry_put(d);
		return -EPERM;
	}
	return change_dir(&current->fs->root, d);
}

long sys_getcwd(const u64 a[6])
{
	char *buf, *s;
	size_t n;
	long ret;

	if (current->fs->cwd->unlinked)
		return -ENOENT;
	buf = kmalloc(PATH_MAX);
	if (!buf)
		return -ENOMEM;
	s = dentry_path(current->fs->cwd, buf, PATH_MAX);
	if (IS_ERR(s)) {
		ret = PTR_ERR(s);
	} else {
		n = strlen(s) + 1;
		ret = n > a[1] ? -ERANGE : copy_to_user((void *)a[0], s, n);
		if (!ret)
			ret = (long)n;
	}
	kfree(buf);
	return ret;
}

long sys_umask(const u64 a[6])
{
	mode_t old = current->fs->umask;

	current->fs->umask = (mode_t)a[0] & 0777;
	return old;
}

/* ---- mount(2) ---- */

static struct fs_type *fs_types;

void fs_type_register(struct fs_type *t)
{
	LL_APPEND(fs_types, t);
}

const struct fs_type *fs_type_list(void)
{
	return fs_types;
}

static struct fs_type *find_type(const char *name)
{
	struct fs_type *t;

	LL_FOREACH(fs_types, t) {
		if (!strcmp(t->name, name))
			return t;
	}
	return NULL;
}

static int do_mount(const char *source, const char *target, const char *type, const char *options)
{
	struct fs_type *t = find_type(type);
	struct super *sb;
	struct dentry *d;
	int err;

	if (!t)
		return -ENODEV;
	err = path_lookup(AT_FDCWD, target, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &d);
	if (err)
		return err;
	sb = t->get(kstrdup(source), options);
	err = IS_ERR(sb) ? (int)PTR_ERR(sb) : sb->mounted_on ? -EBUSY : vfs_mount(sb, d);
	dentry_put(d);
	return err;
}

/* A string argument that may be NULL. */
static int optional_name(u64 uptr, char **out)
{
	*out = NULL;
	if (!uptr) {
		*out = kstrdup("");
		return *out ? 0 : -ENOMEM;
	}
	return getname((const char *)uptr, out);
}

#define MS_UNSUPPORTED \
	(MS_BIND | MS_MOVE | MS_REMOUNT | MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE)

long sys_mount(const u64 a[6])
{
	char *source = NULL, *target = NULL, *type = NULL, *options = NULL;
	int err;

	if (!fs_capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (a[3] & MS_UNSUPPORTED)
		return -EINVAL;
	err = optional_name(a[0], &source);
	if (!err)
		err = getname((const char *)a[1], &target);
	if (!err)
		err = optional_name(a[2], &type);
	if (!err)
		err = optional_name(a[4], &options);
	if (!err)
		err = do_mount(source, target, type, options);
	kfree(source);
	kfree(target);
	kfree(type);
	kfree(options);
	return err;
}

/* Does anybody but the tree itself stand below d? */
static bool tree_busy(const struct dentry *d)
{
	u32 own = 1; /* the pin, or the super's reference */

	for (const struct dentry *c = d->children; c; c = c->hh.next, own++)
		if (tree_busy(c))
			return true;
	return d->mounted || d->refs != own;
}

static int do_umount(struct super *sb)
{
	struct dentry *on = sb->mounted_on;

	if (!on)
		return -EBUSY; /* the root */
	if (strcmp(sb->type, "tmpfs"))
		return -EBUSY; /* the kernel's own, of which there is one each */
	if (tree_busy(sb->root))
		return -EBUSY;
	on->mounted = NULL;
	sb->mounted_on = NULL;
	DL_DELETE(all_supers, sb);
	dentry_put(on);
	tmpfs_tree_free(sb);
	return 0;
}

long sys_umount2(const u64 a[6])
{
	struct super *sb;
	struct dentry *d;
	int err;

	if (!fs_capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (a[1] & ~(u64)(1 /* MNT_FORCE */ | 8 /* UMOUNT_NOFOLLOW */))
		return -EINVAL;
	err = user_path(AT_FDCWD, (const char *)a[0], a[1] & 8 ? 0 : LOOKUP_FOLLOW, &d);
	if (err)
		return err;
	sb = d->parent == d && d->sb && d->sb->root == d ? d->sb : NULL;
	dentry_put(d);
	return sb ? do_umount(sb) : -EINVAL;
}
