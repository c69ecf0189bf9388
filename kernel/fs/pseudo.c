/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pseudo file systems: see pseudo.h. A tree of nodes that is never taken down;
 * inodes are made from the nodes when a path leads there, and freed again.
 */
#include "fs/pseudo.h"
#include "fs/fs.h"
#include <asm/poll.h>
#include <utlist.h>

static const struct inode_ops dir_ops, link_ops, file_ops;
static const struct file_ops dir_fops, text_fops, blob_fops;

/* ------------------------------------------------------------------- nodes */

static struct pseudo_node *child_of(struct pseudo_node *dir, const char *name, size_t len)
{
	struct pseudo_node *n;

	DL_FOREACH(dir->children, n) {
		if (strncmp(n->name, name, len) == 0 && n->name[len] == '\0')
			return n;
	}
	return NULL;
}

static struct pseudo_node *node_new(struct pseudo_node *dir, const char *name, size_t len,
				    int kind)
{
	struct pseudo_node *n = kzalloc(sizeof(*n));
	char *copy = kmalloc(len + 1);

	if (!n || !copy) {
		kfree(n);
		kfree(copy);
		return NULL;
	}
	memcpy(copy, name, len);
	copy[len] = '\0';
	n->name = copy;
	n->kind = kind;
	n->nlink = kind == PSEUDO_DIR ? 2 : 1;
	n->mode = kind == PSEUDO_DIR ? 0555 : 0777;
	n->fs = dir->fs;
	n->ino = ++dir->fs->sb.next_ino;
	n->parent = dir;
	if (kind == PSEUDO_DIR)
		dir->nlink++;
	DL_APPEND(dir->children, n);
	return n;
}

struct pseudo_node *pseudo_make(struct pseudo_fs *fs, const char *path, int kind)
{
	struct pseudo_node *n = &fs->root;

	while (*path) {
		const char *end = strchr(path, '/');
		size_t len = end ? (size_t)(end - path) : strlen(path);
		struct pseudo_node *next = child_of(n, path, len);
		int want = end ? PSEUDO_DIR : kind;

		if (!next)
			next = node_new(n, path, len, want);
		else if ((int)next->kind != want || (!end && kind != PSEUDO_DIR))
			return NULL;
		if (!next)
			return NULL;
		n = next;
		path += len + (end != NULL);
	}
	return n;
}

int pseudo_add(struct pseudo_fs *fs, const char *dir, const struct pseudo_file *pf)
{
	struct pseudo_node *d = pseudo_make(fs, dir, PSEUDO_DIR), *n;
	size_t len = strlen(pf->name);

	if (!d)
		return -ENOMEM;
	if (child_of(d, pf->name, len))
		return -EEXIST;
	n = node_new(d, pf->name, len, PSEUDO_FILE);
	if (!n)
		return -ENOMEM;
	n->file = *pf;
	n->file.name = n->name;
	n->mode = pf->mode;
	return 0;
}

int pseudo_add_blob(struct pseudo_fs *fs, const char *path, const struct pseudo_blob *blob)
{
	struct pseudo_node *n = pseudo_make(fs, path, PSEUDO_BLOB);

	if (!n)
		return -ENOMEM;
	n->blob = *blob;
	n->mode = blob->mode;
	return 0;
}

int pseudo_symlink(struct pseudo_fs *fs, const char *path, const char *target)
{
	char *copy = kstrdup(target);
	struct pseudo_node *n = copy ? pseudo_make(fs, path, PSEUDO_LINK) : NULL;

	if (!n) {
		kfree(copy);
		return -ENOMEM;
	}
	n->target = copy;
	return 0;
}

/* ------------------------------------------------------------------ inodes */

static struct inode *node_inode(struct pseudo_node *n)
{
	static const mode_t type[] = { [PSEUDO_DIR] = S_IFDIR, [PSEUDO_FILE] = S_IFREG,
				       [PSEUDO_LINK] = S_IFLNK, [PSEUDO_BLOB] = S_IFREG };
	struct inode *ino = inode_new(&n->fs->sb, type[n->kind] | n->mode);

	if (!ino)
		return NULL;
	ino->ino = n->ino;
	ino->nlink = n->nlink;
	ino->priv = n;
	switch (n->kind) {
	case PSEUDO_DIR:
		ino->ops = n->ops ? n->ops : &dir_ops;
		ino->fops = n->fops ? n->fops : &dir_fops;
		break;
	case PSEUDO_LINK:
		ino->ops = n->ops ? n->ops : &link_ops;
		break;
	case PSEUDO_FILE:
		ino->ops = &file_ops;
		ino->fops = &text_fops;
		break;
	case PSEUDO_BLOB:
		ino->ops = &file_ops;
		ino->fops = &blob_fops;
		ino->size = (loff_t)n->blob.size;
		break;
	}
	return ino;
}

int pseudo_lookup(struct pseudo_node *dir, struct dentry *d)
{
	struct pseudo_node *n = child_of(dir, d->name, strlen(d->name));

	if (!n)
		return -ENOENT;
	d->inode = node_inode(n);
	return d->inode ? 0 : -ENOMEM;
}

static int dir_lookup(struct inode *dir, struct dentry *d)
{
	return pseudo_lookup(dir->priv, d);
}

static ssize_t link_readlink(struct inode *ino, char *buf, size_t size)
{
	const struct pseudo_node *n = ino->priv;
	size_t len = MIN(strlen(n->target), size);

	memcpy(buf, n->target, len);
	return (ssize_t)len;
}

/* echo x > file truncates it first, which means nothing here. */
static int file_truncate(struct inode *ino, loff_t size)
{
	(void)ino;
	(void)size;
	return 0;
}

static const struct inode_ops dir_ops = { .lookup = dir_lookup };
static const struct inode_ops link_ops = { .readlink = link_readlink };
static const struct inode_ops file_ops = { .truncate = file_truncate };

/* ------------------------------------------------------------- directories */

bool pseudo_emit(struct pseudo_node *dir, struct file *f, struct dir_sink *s, loff_t *next)
{
	static const unsigned type[] = { [PSEUDO_DIR] = S_IFDIR >> 12, [PSEUDO_FILE] = S_IFREG >> 12,
					 [PSEUDO_LINK] = S_IFLNK >> 12,
					 [PSEUDO_BLOB] = S_IFREG >> 12 };
	struct pseudo_node *n;
	loff_t pos = 2;

	DL_FOREACH(dir->children, n) {
		if (pos >= f->pos &&
		    !s->emit(s, n->name, strlen(n->name), n->ino, type[n->kind], pos + 1))
			return false;
		pos++;
	}
	*next = pos;
	return true;
}

static int dir_iterate(struct file *f, struct dir_sink *s)
{
	loff_t next;

	if (dir_emit_dots(f, s))
		(void)pseudo_emit(f->inode->priv, f, s, &next);
	return 0;
}

static const struct file_ops dir_fops = { .iterate = dir_iterate };

/* -------------------------------------------------------------- text files */

int pseudo_text_open(struct file *f)
{
	f->priv = kzalloc(sizeof(struct pseudo_text));
	return f->priv ? 0 : -ENOMEM;
}

void pseudo_text_release(struct file *f)
{
	struct pseudo_text *t = f->priv;

	seq_free(&t->seq);
	kfree(t);
}

ssize_t pseudo_text_read(struct file *f, void *ubuf, size_t n, loff_t *pos,
			 int (*show)(struct seq *s, void *arg), void *arg)
{
	struct pseudo_text *t = f->priv;
	int err;

	if (!t->filled || *pos == 0) {
		t->seq.len = 0;
		t->filled = false;
		err = show(&t->seq, arg);
		if (!err && t->seq.oom)
			err = -ENOMEM;
		if (err)
			return err;
		t->filled = true;
	}
	if (*pos < 0 || (size_t)*pos >= t->seq.len)
		return 0;
	n = MIN(n, t->seq.len - (size_t)*pos);
	if (io_copy_out(ubuf, t->seq.buf + *pos, n))
		return -EFAULT;
	*pos += (loff_t)n;
	return (ssize_t)n;
}

int pseudo_text_write(const void *ubuf, size_t n, char **text)
{
	char *copy;

	if (n >= PAGE_SIZE)
		return -EINVAL;
	copy = kmalloc(n + 1);
	if (!copy)
		return -ENOMEM;
	if (io_copy_in(copy, ubuf, n)) {
		kfree(copy);
		return -EFAULT;
	}
	copy[n] = '\0';
	*text = copy;
	return 0;
}

static int text_open(struct inode *ino, struct file *f)
{
	const struct pseudo_node *n = ino->priv;

	if ((file_can_write(f) && !n->file.store) || (file_can_read(f) && !n->file.show))
		return -EACCES;
	return pseudo_text_open(f);
}

static ssize_t text_read(struct file *f, void *ubuf, size_t n, loff_t *pos)
{
	const struct pseudo_node *node = f->inode->priv;

	return pseudo_text_read(f, ubuf, n, pos, node->file.show, node->file.arg);
}

static ssize_t text_write(struct file *f, const void *ubuf, size_t n, loff_t *pos)
{
	const struct pseudo_node *node = f->inode->priv;
	char *text;
	int err = pseudo_text_write(ubuf, n, &text);

	if (err)
		return err;
	err = node->file.store(text, n, node->file.arg);
	kfree(text);
	if (err)
		return err;
	*pos += (loff_t)n;
	return (ssize_t)n;
}

/* Always readable; without POLLPRI, which would tell of a change. */
static u32 text_poll(struct file *f, struct poll_table *pt)
{
	(void)f;
	(void)pt;
	return POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM;
}

static const struct file_ops text_fops = {
	.open = text_open,
	.release = pseudo_text_release,
	.read = text_read,
	.write = text_write,
	.poll = text_poll,
	.kernel_buf = true,
};

/* ------------------------------------------------------------------- blobs */

static ssize_t blob_chunk(const struct pseudo_blob *b, void *ubuf, size_t n, size_t off)
{
	char buf[512];
	int err;

	if (b->data)
		return io_copy_out(ubuf, (const char *)b->data + off, n) ? -EFAULT : (ssize_t)n;
	n = MIN(n, sizeof(buf));
	err = b->read(b, buf, n, off);
	if (!err)
		err = io_copy_out(ubuf, buf, n);
	return err ? err : (ssize_t)n;
}

static ssize_t blob_read(struct file *f, void *ubuf, size_t n, loff_t *pos)
{
	const struct pseudo_blob *b = &((const struct pseudo_node *)f->inode->priv)->blob;
	size_t done = 0;

	if (*pos < 0)
		return -EINVAL;
	while (done < n && (size_t)*pos < b->size) {
		size_t len = MIN(n - done, b->size - (size_t)*pos);
		ssize_t r = blob_chunk(b, (char *)ubuf + done, len, (size_t)*pos);

		if (r < 0)
			return done ? (ssize_t)done : r;
		done += (size_t)r;
		*pos += r;
	}
	return (ssize_t)done;
}

static const struct file_ops blob_fops = { .read = blob_read, .kernel_buf = true };

/* ---------------------------------------------------------------- start-up */

int pseudo_setup(struct pseudo_fs *fs, const char *type, const char *source, u32 magic,
		 const struct inode_ops *root_ops, const struct file_ops *root_fops)
{
	struct inode *ino;

	fs->root.name = "";
	fs->root.kind = PSEUDO_DIR;
	fs->root.mode = 0555;
	fs->root.nlink = 2;
	fs->root.fs = fs;
	fs->root.parent = &fs->root;
	fs->root.ops = root_ops;
	fs->root.fops = root_fops;
	fs->root.ino = ++fs->sb.next_ino;
	ino = node_inode(&fs->root);
	return ino ? super_setup(&fs->sb, type, source, magic, ino) : -ENOMEM;
}

int fs_mount_at(struct super *sb, const char *path)
{
	struct dentry *d;
	int err = path_lookup(AT_FDCWD, path, LOOKUP_PARENT, &d);

	if (err)
		return err;
	if (!d->inode) {
		struct inode *dir = d->parent->inode;

		err = dir->ops->mkdir(dir, d, S_IFDIR | 0755);
	}
	if (!err)
		err = vfs_mount(sb, d);
	dentry_put(d);
	return err;
}
