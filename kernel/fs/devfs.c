/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /dev: a tmpfs in which drivers put their nodes, as Linux's devtmpfs does. A
 * node is an inode with the driver's operations; all else (directories, links,
 * files, removing and renaming) is tmpfs's.
 *
 * All calls: big lock held, may sleep.
 */
#include "dev/dev.h"
#include "fs/fs.h"
#include "fs/pseudo.h"
#include <utlist.h>

static struct super *devfs;

static const struct inode_ops node_ops = { 0 };

/* The directory that `name` goes into (made if it is not there), referenced; *last: its last component. */
static int walk(const char *name, const char **last, struct dentry **out)
{
	struct dentry *d = dentry_get(devfs->root);
	const char *slash;

	while ((slash = strchr(name, '/')) != NULL) {
		struct dentry *child = dentry_lookup(d, name, (size_t)(slash - name), true);
		int err = 0;

		if (IS_ERR(child)) {
			dentry_put(d);
			return (int)PTR_ERR(child);
		}
		if (!child->inode)
			err = d->inode->ops->mkdir(d->inode, child, S_IFDIR | 0755);
		dentry_put(d);
		d = child;
		if (err) {
			dentry_put(d);
			return err;
		}
		name = slash + 1;
	}
	*last = name;
	*out = d;
	return 0;
}

/* Every driver's nodes, by number: also what a node elsewhere (mknod) stands for. */
struct device {
	struct inode *ino; /* referenced */
	struct device *next, *prev;
};
static struct device *devices;

struct inode *devfs_find_inode(dev_t rdev)
{
	struct device *dev;

	DL_FOREACH(devices, dev) {
		if (dev->ino->rdev == rdev)
			return dev->ino;
	}
	return NULL;
}

/* Makes the name with a tmpfs node, and puts the device's inode in the node's place. */
static int add_name(const char *name, mode_t mode, struct inode *ino)
{
	const char *last;
	struct dentry *dir, *d;
	struct inode *node;
	int err = walk(name, &last, &dir);

	if (err)
		return err;
	d = dentry_lookup(dir, last, strlen(last), true);
	if (IS_ERR(d)) {
		dentry_put(dir);
		return (int)PTR_ERR(d);
	}
	err = d->inode ? -EEXIST : dir->inode->ops->mknod(dir->inode, d, mode, ino->rdev);
	if (!err) {
		node = d->inode;
		ino->refs++;
		d->inode = ino;
		node->nlink = 0;
		inode_put(node);
	}
	dentry_put(d);
	dentry_put(dir);
	return err;
}

int devfs_add(const char *name, mode_t mode, dev_t rdev, const struct file_ops *fops, void *priv)
{
	struct device *dev = kzalloc(sizeof(*dev));
	int err = -ENOMEM;

	if (!dev)
		return -ENOMEM;
	dev->ino = inode_new(devfs, S_IFCHR | mode);
	if (dev->ino) {
		dev->ino->rdev = rdev;
		dev->ino->ops = &node_ops;
		dev->ino->fops = fops;
		dev->ino->priv = priv;
		err = add_name(name, S_IFCHR | mode, dev->ino);
	}
	if (err) {
		if (dev->ino)
			inode_put(dev->ino);
		kfree(dev);
		return err;
	}
	DL_APPEND(devices, dev);
	return 0;
}

static struct dentry *find(const char *name)
{
	const char *last;
	struct dentry *dir, *d;

	if (walk(name, &last, &dir))
		return NULL;
	d = dentry_find(dir, last, strlen(last));
	dentry_put(dir);
	return d;
}

/* The driver is going: nobody can open the node any more, through whatever name. */
static void forget(struct inode *ino)
{
	struct device *dev;

	DL_FOREACH(devices, dev) {
		if (dev->ino == ino)
			break;
	}
	if (!dev)
		return;
	DL_DELETE(devices, dev);
	kfree(dev);
	ino->fops = NULL;
	ino->priv = NULL;
	inode_put(ino);
}

void devfs_remove(const char *name)
{
	struct dentry *d = find(name);

	if (!d)
		return;
	forget(d->inode);
	if (!d->parent->inode->ops->unlink(d->parent->inode, d))
		dentry_drop(d);
	dentry_put(d);
}

void devfs_set_owner(const char *name, uid_t uid)
{
	struct dentry *d = find(name);

	if (!d)
		return;
	d->inode->uid = uid;
	dentry_put(d);
}

int devfs_mkdir(const char *name, mode_t mode)
{
	const char *last;
	struct dentry *dir, *d;
	int err = walk(name, &last, &dir);

	if (err)
		return err;
	d = dentry_lookup(dir, last, strlen(last), true);
	if (IS_ERR(d))
		err = (int)PTR_ERR(d);
	else if (!d->inode)
		err = dir->inode->ops->mkdir(dir->inode, d, S_IFDIR | mode);
	if (!IS_ERR(d))
		dentry_put(d);
	dentry_put(dir);
	return err;
}

int devfs_symlink(const char *name, const char *target)
{
	const char *last;
	struct dentry *dir, *d;
	int err = walk(name, &last, &dir);

	if (err)
		return err;
	d = dentry_lookup(dir, last, strlen(last), true);
	if (IS_ERR(d))
		err = (int)PTR_ERR(d);
	else
		err = d->inode ? -EEXIST : dir->inode->ops->symlink(dir->inode, d, target);
	if (!IS_ERR(d))
		dentry_put(d);
	dentry_put(dir);
	return err;
}

static struct super *devfs_get(const char *source, const char *options)
{
	(void)source;
	(void)options;
	return devfs;
}

void devfs_init(void)
{
	static struct fs_type type = { .name = "devtmpfs", .get = devfs_get };

	devfs = tmpfs_new("devtmpfs");
	if (!devfs)
		panic("no memory for /dev");
	devfs->type = "devtmpfs";
	if (fs_mount_at(devfs, "/dev"))
		panic("/dev cannot be mounted");
	if (devfs_symlink("fd", "/proc/self/fd") || devfs_symlink("stdin", "/proc/self/fd/0") ||
	    devfs_symlink("stdout", "/proc/self/fd/1") ||
	    devfs_symlink("stderr", "/proc/self/fd/2") || devfs_mkdir("shm", 01777))
		panic("no memory for /dev");
	fs_type_register(&type);
}
