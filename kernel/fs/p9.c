/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A folder of the host as a file system: names and what inodes say of
 * themselves. The host may change anything behind our back. So names and
 * attributes are asked for each time they are used, unless they were a moment
 * ago (MOMENT) and since then we have changed nothing and heard nothing from
 * outside: who tells the guest of a change finds it there. The names used last
 * are kept, as asking for what is known takes one request less.
 *
 * Ownership. The host's QEMU acts as the user who started it, whatever the
 * guest says, so the host's rules hold in the end. What belongs to the owner of
 * the shared folder is shown as root's, as whom commands run in the guest.
 */
#include "fs/p9.h"
#include "dev/virtio_console.h"
#include "mm/vm.h"
#include <linux/magic.h>
#include <utlist.h>

#define MOMENT NSEC_PER_MSEC

static const struct inode_ops p9_dir_ops, p9_inode_ops;
static const struct file_ops p9_dir_fops;

/* ---- inodes ---- */

static u64 version_of(const struct p9_attr *a)
{
	return a->mtime_ns * 31 + a->ctime_ns * 7 + a->size;
}

/* Differs after each change of ours and each word from outside. */
static u64 stamp(const struct p9_super *sb)
{
	return sb->changes + virtio_console_words();
}

static bool just_asked(const struct inode *ino)
{
	const struct p9_node *node = p9_node(ino);

	return node->asked == stamp(p9_super(ino->sb)) && clock_ns() - node->asked_at < MOMENT;
}

static void take_attr(struct inode *ino, const struct p9_attr *a)
{
	struct p9_super *sb = p9_super(ino->sb);

	ino->ino = a->qid_path;
	ino->mode = a->mode;
	ino->nlink = (u32)a->nlink;
	ino->uid = a->uid == sb->owner ? 0 : a->uid;
	ino->gid = a->gid == sb->group ? 0 : a->gid;
	ino->size = (loff_t)a->size;
	ino->blocks = a->blocks;
	ino->blksize = (u32)MIN(a->blksize, 1ULL << 30);
	ino->atime_ns = a->atime_ns;
	ino->mtime_ns = a->mtime_ns;
	ino->ctime_ns = a->ctime_ns;
	p9_node(ino)->asked = stamp(sb);
	p9_node(ino)->asked_at = clock_ns();
}

/*
 * What the server says of the inode's place. The fid is a name for QEMU: if that was given to another
 * file it is -ESTALE, and no request may go by that name any more.
 */
static int ask_attr(struct inode *ino, struct p9_attr *a)
{
	struct p9_node *node = p9_node(ino);
	int err = node->gone ? -ENOENT : p9_getattr(p9_super(ino->sb), node->fid, a);

	if (!err && (a->qid_path != ino->ino || (a->mode & S_IFMT) != (ino->mode & S_IFMT)))
		err = -ESTALE;
	return err;
}

int p9_revalidate(struct inode *ino)
{
	struct p9_node *node = p9_node(ino);
	struct p9_attr a;
	bool changed;
	int err = ask_attr(ino, &a);

	if (err)
		return err;
	take_attr(ino, &a);
	changed = version_of(&a) != node->version;
	node->version = version_of(&a);
	if (changed)
		p9_forget_pages(ino);
	return 0;
}

void p9_keep_version(struct inode *ino)
{
	struct p9_attr a;

	if (ask_attr(ino, &a))
		return;
	take_attr(ino, &a);
	p9_node(ino)->version = version_of(&a);
}

int p9_refresh(struct inode *ino)
{
	return just_asked(ino) && !p9_node(ino)->gone ? 0 : p9_revalidate(ino);
}

static void refresh_for_stat(struct inode *ino)
{
	(void)p9_refresh(ino); /* a place that has gone keeps what was last known */
}

/* An inode for a fid, which it takes over. ERR_PTR; then the fid is let go. */
static struct inode *make_inode(struct p9_super *sb, u32 fid)
{
	struct p9_attr a;
	struct inode *ino;
	int err = p9_getattr(sb, fid, &a);

	ino = err ? NULL : inode_new_extra(&sb->sb, a.mode, sizeof(struct p9_node));
	if (!ino) {
		p9_clunk(sb, fid);
		return ERR_PTR(err ? err : -ENOMEM);
	}
	take_attr(ino, &a);
	p9_node(ino)->inode = ino;
	p9_node(ino)->write_fid = P9_NOFID;
	p9_node(ino)->fid = fid;
	p9_node(ino)->version = version_of(&a);
	ino->ops = S_ISDIR(a.mode) ? &p9_dir_ops : &p9_inode_ops;
	if (S_ISREG(a.mode)) {
		ino->fops = &p9_file_ops;
		ino->get_page = p9_get_page;
		ino->get_pages = p9_get_pages;
	} else if (S_ISDIR(a.mode)) {
		ino->fops = &p9_dir_fops;
	} else if (S_ISFIFO(a.mode)) {
		ino->fops = &fifo_ops;
	}
	return ino;
}

static void p9_evict(struct inode *ino)
{
	p9_end_pages(ino);
	p9_clunk(p9_super(ino->sb), p9_node(ino)->fid);
}

/* ---- names ---- */

static void keep(struct p9_super *sb, struct dentry *d)
{
	struct dentry **slot = &sb->kept[sb->next_kept++ % P9_KEPT], *old = *slot;

	*slot = dentry_get(d);
	dentry_put(old);
}

static int p9_lookup(struct inode *dir, struct dentry *d)
{
	struct p9_super *sb = p9_super(dir->sb);
	u32 fid = p9_new_fid(sb);
	struct inode *ino;
	int err = p9_walk(sb, p9_node(dir)->fid, fid, d->name);

	if (err)
		return err;
	ino = make_inode(sb, fid);
	if (IS_ERR(ino))
		return (int)PTR_ERR(ino);
	d->inode = ino;
	keep(sb, d);
	return 0;
}

/* A name that somebody uses or that is kept: the host may have put another file in its place. */
static bool p9_still_there(struct inode *dir, struct dentry *d)
{
	int err = p9_refresh(d->inode);

	(void)dir;
	return err != -ENOENT && err != -ESTALE;
}

/* After something was made under the name: what the host made of it. */
static int made(struct inode *dir, struct dentry *d, int err)
{
	return err ? err : p9_lookup(dir, d);
}

static int p9_create(struct inode *dir, struct dentry *d, mode_t mode)
{
	struct p9_super *sb = p9_super(dir->sb);
	u32 fid = p9_new_fid(sb);
	int err = p9_walk(sb, p9_node(dir)->fid, fid, NULL);

	if (err)
		return err;
	err = p9_lcreate(sb, fid, d->name, mode);
	p9_clunk(sb, fid);
	return made(dir, d, err);
}

static int p9_dir_mkdir(struct inode *dir, struct dentry *d, mode_t mode)
{
	return made(dir, d, p9_mkdir(p9_super(dir->sb), p9_node(dir)->fid, d->name, mode));
}

static int p9_dir_mknod(struct inode *dir, struct dentry *d, mode_t mode, dev_t rdev)
{
	return made(dir, d, p9_mknod(p9_super(dir->sb), p9_node(dir)->fid, d->name, mode, rdev));
}

static int p9_dir_symlink(struct inode *dir, struct dentry *d, const char *target)
{
	return made(dir, d, p9_symlink(p9_super(dir->sb), p9_node(dir)->fid, d->name, target));
}

static int p9_dir_link(struct inode *dir, struct dentry *d, struct inode *target)
{
	return made(dir, d, p9_link(p9_super(dir->sb), p9_node(dir)->fid, d->name, p9_node(target)->fid));
}

/* The name that the inode's fid stands for has been removed, or is another's. */
static void lost_name(struct inode *ino)
{
	p9_node(ino)->gone = true;
	if (ino->nlink > 0)
		ino->nlink--;
}

static int remove_name(struct inode *dir, struct dentry *d, bool is_dir)
{
	int err = p9_unlinkat(p9_super(dir->sb), p9_node(dir)->fid, d->name, is_dir);

	if (!err)
		lost_name(d->inode);
	return err;
}

static int p9_unlink(struct inode *dir, struct dentry *d)
{
	return remove_name(dir, d, false);
}

static int p9_rmdir(struct inode *dir, struct dentry *d)
{
	return remove_name(dir, d, true);
}

static int p9_rename(struct inode *olddir, struct dentry *oldd, struct inode *newdir,
		     struct dentry *newd)
{
	int err = p9_renameat(p9_super(olddir->sb), p9_node(olddir)->fid, oldd->name,
			      p9_node(newdir)->fid, newd->name);

	if (!err && newd->inode)
		lost_name(newd->inode);
	return err;
}

static ssize_t p9_link_target(struct inode *ino, char *buf, size_t size)
{
	return p9_readlink(p9_super(ino->sb), p9_node(ino)->fid, buf, size);
}

/* ---- attributes ---- */

/* As p9_setattr, if the fid's name still is that of this file: it may be by a descriptor that we are asked. */
static int set_attr(struct inode *ino, u32 valid, u64 size)
{
	if (p9_refresh(ino))
		return -ENOENT;
	return p9_setattr(p9_super(ino->sb), p9_node(ino)->fid, valid, ino, size);
}

static int p9_truncate(struct inode *ino, loff_t size)
{
	int err;

	p9_forget_pages(ino);
	err = set_attr(ino, P9_SET_SIZE, (u64)size);
	if (!err)
		vm_unmap_file(ino, ALIGN_UP((u64)size, PAGE_SIZE) / PAGE_SIZE, ~0ULL);
	return err ? err : p9_revalidate(ino);
}

/* @changed: ATTR_CHANGED_*, of what has its new value in the inode already. */
static int p9_attr_changed(struct inode *ino, u32 changed)
{
	u32 valid = 0;

	if (changed & ATTR_CHANGED_MODE)
		valid |= P9_SET_MODE;
	if (changed & ATTR_CHANGED_UID)
		valid |= P9_SET_UID;
	if (changed & ATTR_CHANGED_GID)
		valid |= P9_SET_GID;
	if (changed & ATTR_CHANGED_ATIME)
		valid |= P9_SET_ATIME | P9_SET_ATIME_SET;
	if (changed & ATTR_CHANGED_MTIME)
		valid |= P9_SET_MTIME | P9_SET_MTIME_SET;
	return set_attr(ino, valid, 0);
}

/* ---- directories ---- */

static int p9_iterate(struct file *f, struct dir_sink *sink)
{
	struct p9_super *sb = p9_super(f->inode->sb);
	u64 offset = (u64)f->pos;
	bool more = true;

	while (more) {
		struct p9_msg m;
		int n = p9_readdir(sb, p9_file_fid(f), offset, &m);

		if (n <= 0)
			return n < 0 ? n : p9_end(&m, 0);
		while (more && m.pos < m.end) {
			u64 ino, next;
			const char *name;
			u8 type;
			u16 len;

			p9_get8(&m);
			p9_get32(&m);
			ino = p9_get64(&m);
			next = p9_get64(&m);
			type = p9_get8(&m);
			len = p9_gets(&m, &name);
			if (!name || len == 0)
				break;
			more = sink->emit(sink, name, len, ino, type, (loff_t)next);
			if (more)
				offset = next;
		}
		n = p9_end(&m, 0);
		if (n)
			return n;
	}
	return 0;
}

static const struct inode_ops p9_dir_ops = {
	.lookup = p9_lookup,
	.revalidate = p9_still_there,
	.create = p9_create,
	.mkdir = p9_dir_mkdir,
	.mknod = p9_dir_mknod,
	.symlink = p9_dir_symlink,
	.link = p9_dir_link,
	.unlink = p9_unlink,
	.rmdir = p9_rmdir,
	.rename = p9_rename,
	.refresh = refresh_for_stat,
	.attr_changed = p9_attr_changed,
	.evict = p9_evict,
};

static const struct inode_ops p9_inode_ops = {
	.readlink = p9_link_target,
	.truncate = p9_truncate,
	.refresh = refresh_for_stat,
	.attr_changed = p9_attr_changed,
	.evict = p9_evict,
};

static const struct file_ops p9_dir_fops = {
	.open = p9_open,
	.release = p9_release,
	.iterate = p9_iterate,
	.fsync = p9_fsync_file,
};

/* ---- mounting ---- */

static int p9_super_statfs(struct super *sb, struct statfs64 *out)
{
	return p9_statfs(p9_super(sb), p9_node(sb->root->inode)->fid, out);
}

static int attach(struct p9_super *sb, const char *tag)
{
	struct p9_attr a;
	struct inode *root;
	u32 fid = p9_new_fid(sb);
	int err = p9_device_find(tag, &sb->dev);

	if (!err)
		err = p9_version(sb);
	if (!err)
		err = p9_attach(sb, fid);
	if (!err)
		err = p9_getattr(sb, fid, &a);
	if (err)
		return err;
	sb->owner = a.uid;
	sb->group = a.gid;
	root = make_inode(sb, fid);
	if (IS_ERR(root))
		return (int)PTR_ERR(root);
	err = super_setup(&sb->sb, "9p", tag, V9FS_MAGIC, root);
	if (err)
		inode_put(root);
	return err;
}

/* mount -t 9p TAG FOLDER: the tag of one of QEMU's virtio-9p devices. */
static struct super *p9_mount(const char *source, const char *options)
{
	struct p9_super *sb = kzalloc(sizeof(*sb));
	int err;

	(void)options;
	if (!sb)
		return ERR_PTR(-ENOMEM);
	sb->msize = P9_MSIZE;
	sb->sb.dev = anon_dev();
	sb->sb.statfs = p9_super_statfs;
	sb->sb.sync = p9_sync;
	sb->sb.options = "trans=virtio,version=9p2000.L";
	err = attach(sb, source ? source : "");
	if (err) {
		kfree(sb);
		return ERR_PTR(err);
	}
	return &sb->sb;
}

void p9_shutdown(void)
{
	struct super *sb;

	DL_FOREACH(all_supers, sb) {
		if (sb->sync != p9_sync)
			continue;
		for (u32 i = 0; i < P9_KEPT; i++) {
			dentry_put(p9_super(sb)->kept[i]);
			p9_super(sb)->kept[i] = NULL;
		}
		p9_device_settle(p9_super(sb)->dev);
	}
}

void p9_init(void)
{
	static struct fs_type type = {.name = "9p", .get = p9_mount};

	fs_type_register(&type);
}
