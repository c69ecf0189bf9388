/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tmpfs: the tree. Names live in the dentry tree alone; each is pinned by one
 * reference, given back when it is unlinked. The root of the machine is one
 * (its files' first contents lie in the root image), and mount(2) makes more.
 */
#include "fs/tmpfs.h"
#include <linux/magic.h>
#include <linux/memfd.h>
#include <utlist.h>

#define DIRENT_SIZE 20 /* what Linux's tmpfs adds to a directory's size for a name */

static const struct inode_ops tmpfs_dir_ops, tmpfs_file_inode_ops, tmpfs_link_ops;
static const struct file_ops tmpfs_dir_fops;

static void name_added(struct inode *dir, struct dentry *d)
{
	dentry_get(d);
	dir->size += DIRENT_SIZE;
	inode_touch(dir);
}

static void name_removed(struct inode *dir, struct dentry *d)
{
	dir->size -= DIRENT_SIZE;
	d->inode->nlink--;
	inode_touch(dir);
	d->inode->ctime_ns = dir->ctime_ns;
	dentry_put(d);
}

struct inode *tmpfs_inode(struct super *sb, mode_t mode, dev_t rdev)
{
	struct inode *ino = inode_new_extra(sb, mode, sizeof(struct tmpfs_node));

	if (!ino)
		return NULL;
	tmpfs_super(sb)->inodes++;
	ino->ops = &tmpfs_file_inode_ops;
	switch (mode & S_IFMT) {
	case S_IFREG:
		ino->fops = &tmpfs_file_ops;
		ino->get_page = tmpfs_get_page;
		ino->get_pages = tmpfs_get_pages;
		break;
	case S_IFDIR:
		ino->ops = &tmpfs_dir_ops;
		ino->fops = &tmpfs_dir_fops;
		ino->nlink = 2;
		ino->size = 2 * DIRENT_SIZE; /* "." and ".." */
		break;
	case S_IFLNK:
		ino->ops = &tmpfs_link_ops;
		break;
	case S_IFIFO:
		ino->fops = &fifo_ops;
		break;
	default:
		ino->rdev = rdev;
	}
	return ino;
}

bool inode_is_tmpfs(const struct inode *ino)
{
	return ino->ops == &tmpfs_file_inode_ops || ino->ops == &tmpfs_dir_ops ||
	       ino->ops == &tmpfs_link_ops;
}

static int make(struct inode *dir, struct dentry *d, mode_t mode, dev_t rdev)
{
	struct inode *ino = tmpfs_inode(dir->sb, mode, rdev);

	if (!ino)
		return -ENOSPC;
	inode_init_owner(ino, dir);
	d->inode = ino;
	name_added(dir, d);
	ino->atime_ns = ino->mtime_ns = ino->ctime_ns = dir->mtime_ns;
	return 0;
}

static int tmpfs_create(struct inode *dir, struct dentry *d, mode_t mode)
{
	return make(dir, d, mode, 0);
}

static int tmpfs_mkdir(struct inode *dir, struct dentry *d, mode_t mode)
{
	int err = make(dir, d, mode, 0);

	if (!err)
		dir->nlink++;
	return err;
}

static int tmpfs_symlink(struct inode *dir, struct dentry *d, const char *target)
{
	char *copy = kstrdup(target);
	int err;

	if (!copy)
		return -ENOSPC;
	err = make(dir, d, S_IFLNK | 0777, 0);
	if (err) {
		kfree(copy);
		return err;
	}
	tmpfs_node(d->inode)->link = copy;
	d->inode->size = (loff_t)strlen(copy);
	return 0;
}

static int tmpfs_link(struct inode *dir, struct dentry *d, struct inode *target)
{
	target->refs++;
	target->nlink++;
	d->inode = target;
	name_added(dir, d);
	target->ctime_ns = dir->ctime_ns;
	return 0;
}

static int tmpfs_unlink(struct inode *dir, struct dentry *d)
{
	name_removed(dir, d);
	return 0;
}

static int tmpfs_rmdir(struct inode *dir, struct dentry *d)
{
	d->inode->nlink--; /* its own "." */
	dir->nlink--;
	name_removed(dir, d);
	return 0;
}

static int tmpfs_rename(struct inode *olddir, struct dentry *oldd, struct inode *newdir,
			struct dentry *newd)
{
	bool dir = S_ISDIR(oldd->inode->mode);

	if (newd->inode) {
		if (dir)
			tmpfs_rmdir(newdir, newd);
		else
			tmpfs_unlink(newdir, newd);
	}
	if (dir) {
		olddir->nlink--;
		newdir->nlink++;
	}
	olddir->size -= DIRENT_SIZE;
	newdir->size += DIRENT_SIZE;
	inode_touch(olddir);
	inode_touch(newdir);
	oldd->inode->ctime_ns = newdir->ctime_ns;
	return 0;
}

static ssize_t tmpfs_readlink(struct inode *ino, char *buf, size_t size)
{
	size_t n = MIN(size, (size_t)ino->size);

	memcpy(buf, tmpfs_node(ino)->link, n);
	return (ssize_t)n;
}

static void tmpfs_evict(struct inode *ino)
{
	struct tmpfs_node *tn = tmpfs_node(ino);

	tmpfs_free_pages(ino);
	if (tn->link && !tn->link_borrowed)
		kfree(tn->link);
	tmpfs_super(ino->sb)->inodes--;
}

static int tmpfs_iterate(struct file *f, struct dir_sink *sink)
{
	struct dentry *d;

	if (!dir_emit_dots(f, sink))
		return 0;
	for (d = f->dentry->children; d; d = d->hh.next) {
		if (!d->inode || d->cookie < (u64)f->pos)
			continue;
		if (!sink->emit(sink, d->name, d->hh.keylen, d->inode->ino,
				(d->inode->mode & S_IFMT) >> 12, (loff_t)d->cookie + 1))
			break;
	}
	inode_accessed(f->inode);
	return 0;
}

void tmpfs_set_image(struct inode *ino, const void *src, u64 len)
{
	struct tmpfs_node *tn = tmpfs_node(ino);

	tn->image = src;
	tn->image_len = len;
	ino->size = (loff_t)len;
}

void tmpfs_set_link_image(struct inode *ino, const char *target, size_t len)
{
	struct tmpfs_node *tn = tmpfs_node(ino);

	tn->link = target;
	tn->link_borrowed = true;
	ino->size = (loff_t)len;
}

void tmpfs_allow_seals(struct inode *ino)
{
	tmpfs_node(ino)->can_seal = true;
}

int tmpfs_seals(struct inode *ino, u32 **seals)
{
	if (ino->ops != &tmpfs_file_inode_ops || !tmpfs_node(ino)->can_seal)
		return -EINVAL;
	*seals = &tmpfs_node(ino)->seals;
	return 0;
}

static int tmpfs_statfs(struct super *sb, struct statfs64 *out)
{
	struct tmpfs_super *ts = tmpfs_super(sb);
	u64 total, free, left = ts->max_pages - MIN(ts->pages, ts->max_pages);

	page_stats(&total, &free);
	out->f_bsize = PAGE_SIZE;
	out->f_blocks = ts->max_pages;
	out->f_bfree = out->f_bavail = MIN(left, free);
	out->f_files = total / 2;
	out->f_ffree = total / 2 - MIN(total / 2, ts->inodes);
	return 0;
}

/* A number with k, m, g or % (of RAM) behind it, as mount's size= takes it; in pages. 0: not one. */
static u64 parse_size(const char *s, u64 total_pages)
{
	char *end;
	u64 n = strtoull(s, &end, 0);

	switch (*end) {
	case '%':
		return n * total_pages / 100;
	case 'g':
	case 'G':
		n <<= 10; /* fall through */
	case 'm':
	case 'M':
		n <<= 10; /* fall through */
	case 'k':
	case 'K':
		n <<= 10;
	}
	return ALIGN_UP(n, PAGE_SIZE) / PAGE_SIZE;
}

static const char *find_option(const char *options, const char *name)
{
	size_t n = strlen(name);

	for (const char *s = options; s && *s; s = strchr(s, ',')) {
		if (*s == ',')
			s++;
		if (!strncmp(s, name, n))
			return s + n;
	}
	return NULL;
}

static struct super *tmpfs_make(const char *source, const char *options)
{
	struct tmpfs_super *ts = kzalloc(sizeof(*ts));
	struct inode *root;
	const char *opt;
	u64 total, free;

	if (!ts)
		return ERR_PTR(-ENOMEM);
	page_stats(&total, &free);
	opt = find_option(options, "size=");
	ts->max_pages = opt ? parse_size(opt, total) : total / 2;
	opt = find_option(options, "mode=");
	ts->sb.dev = anon_dev();
	ts->sb.statfs = tmpfs_statfs;
	root = tmpfs_inode(&ts->sb,
			   S_IFDIR | (opt ? (mode_t)strtoull(opt, NULL, 8) & 07777 : 01777), 0);
	if (root)
		root->atime_ns = root->mtime_ns = root->ctime_ns = wall_ns();
	if (!root || super_setup(&ts->sb, "tmpfs", source, TMPFS_MAGIC, root)) {
		kfree(root);
		kfree(ts);
		return ERR_PTR(-ENOMEM);
	}
	return &ts->sb;
}

struct super *tmpfs_new(const char *source)
{
	struct super *sb = tmpfs_make(source, NULL);

	return IS_ERR(sb) ? NULL : sb;
}

/* Takes the tree of an unmounted file system apart; nobody stands in it. */
static void free_below(struct dentry *d)
{
	struct dentry *c, *next;

	for (c = d->children; c; c = next) {
		next = c->hh.next;
		free_below(c);
		dentry_put(c); /* the pin */
	}
}

void tmpfs_tree_free(struct super *sb)
{
	free_below(sb->root);
	dentry_put(sb->root);
	kfree(tmpfs_super(sb));
}

/* A file without a name: O_TMPFILE, memfd_create. `name` is what /proc shows. ERR_PTR. */
struct file *tmpfs_unlinked_file(struct super *sb, const char *name, mode_t mode, u32 flags)
{
	struct inode *ino = tmpfs_inode(sb, S_IFREG | mode, 0);
	struct dentry *d;
	struct file *f;

	if (!ino)
		return ERR_PTR(-ENOSPC);
	ino->nlink = 0;
	inode_init_owner(ino, NULL);
	ino->atime_ns = ino->mtime_ns = ino->ctime_ns = wall_ns();
	d = dentry_alone(sb, name, ino);
	if (!d) {
		inode_put(ino);
		return ERR_PTR(-ENOMEM);
	}
	f = file_alloc(d, &tmpfs_file_ops, flags);
	return f ? f : ERR_PTR(-ENOMEM);
}

static const struct inode_ops tmpfs_dir_ops = {
	.create = tmpfs_create,
	.mkdir = tmpfs_mkdir,
	.mknod = make,
	.symlink = tmpfs_symlink,
	.link = tmpfs_link,
	.unlink = tmpfs_unlink,
	.rmdir = tmpfs_rmdir,
	.rename = tmpfs_rename,
	.evict = tmpfs_evict,
};
static const struct inode_ops tmpfs_file_inode_ops = {
	.truncate = tmpfs_truncate,
	.evict = tmpfs_evict,
};
static const struct inode_ops tmpfs_link_ops = {
	.readlink = tmpfs_readlink,
	.evict = tmpfs_evict,
};
static const struct file_ops tmpfs_dir_fops = {
	.iterate = tmpfs_iterate,
};

void vfs_init(void)
{
	static struct fs_type type = {.name = "tmpfs", .get = tmpfs_make};
	struct super *root = tmpfs_make("rootfs", "mode=755");

	if (IS_ERR(root) || vfs_mount(root, NULL))
		panic("no memory for the root file system");
	fs_type_register(&type);
}
