/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dentries: the tree of names, the mounts on it, and paths back to the root.
 *
 * References. A dentry is counted once by each of its children, by each open
 * file, working directory or walk that stands on it, by the super whose root
 * it is and by the super that is mounted on it. tmpfs, whose names exist
 * nowhere else, holds one more for each name (a pin) until it is unlinked. A
 * dentry in its parent's table is not counted by the table: the last put takes
 * it out. One that was unlinked is out of the table, keeps its parent, and
 * goes with its last user.
 */
#include "fs/fs.h"
#include <utlist.h>

struct super *all_supers;
static struct dentry *the_root;
static u64 next_cookie = 2;

struct dentry *dentry_get(struct dentry *d)
{
	d->refs++;
	return d;
}

void dentry_put(struct dentry *d)
{
	while (d && --d->refs == 0) {
		struct dentry *parent = d->parent == d ? NULL : d->parent;

		if (parent && !d->unlinked)
			HASH_DELETE(hh, parent->children, d);
		if (d->inode)
			inode_put(d->inode);
		if (!d->name_borrowed)
			kfree(d->name);
		kfree(d);
		d = parent;
	}
}

void dentry_attach(struct dentry *d)
{
	d->cookie = next_cookie++;
	d->unlinked = false;
	HASH_ADD_KEYPTR(hh, d->parent->children, d->name, d->hh.keylen, d);
}

/* A negative child, not yet in the tree. */
static struct dentry *dentry_make(struct dentry *parent, char *name, size_t len, bool borrowed)
{
	struct dentry *d = kzalloc(sizeof(*d));

	if (!d) {
		if (!borrowed)
			kfree(name);
		return NULL;
	}
	d->name = name;
	d->name_borrowed = borrowed;
	d->hh.keylen = (unsigned)len;
	d->refs = 1;
	d->parent = parent ? dentry_get(parent) : d;
	d->sb = parent ? parent->sb : NULL;
	return d;
}

struct dentry *dentry_alloc(struct dentry *parent, const char *name, size_t len)
{
	char *copy = kmalloc(len + 1);
	struct dentry *d;

	if (!copy)
		return NULL;
	memcpy(copy, name, len);
	copy[len] = '\0';
	d = dentry_make(parent, copy, len, false);
	if (d)
		dentry_attach(d);
	return d;
}

/* For the root image: the name lies in the image, ended by NUL, and the child is pinned by its reference. */
struct dentry *dentry_add_borrowed(struct dentry *parent, const char *name, size_t len,
				   struct inode *ino)
{
	struct dentry *d = dentry_make(parent, (char *)(uintptr_t)name, len, true);

	if (!d)
		return NULL;
	d->inode = ino;
	dentry_attach(d);
	return d;
}

struct dentry *dentry_add(struct dentry *parent, const char *name, struct inode *ino)
{
	struct dentry *d = dentry_alloc(parent, name, strlen(name));

	if (d)
		d->inode = ino;
	return d;
}

struct dentry *dentry_find(struct dentry *parent, const char *name, size_t len)
{
	struct dentry *d;

	HASH_FIND(hh, parent->children, name, len, d);
	return d ? dentry_get(d) : NULL;
}

static struct waitq claims; /* of all dentries: few are waited for */

void dentry_claim(struct dentry *d)
{
	wait_event(&claims, !d->claimed);
	d->claimed = true;
}

void dentry_unclaim(struct dentry *d)
{
	d->claimed = false;
	if (claims.head)
		wake_up(&claims);
}

/* A name that the tree has. Somebody may be about to find out whether it is there. */
static struct dentry *find_known(struct dentry *dir, const char *name, size_t len)
{
	struct dentry *d = dentry_find(dir, name, len);

	if (d && d->claimed) {
		dentry_claim(d);
		dentry_unclaim(d);
	}
	return d;
}

struct dentry *dentry_lookup(struct dentry *dir, const char *name, size_t len, bool negative)
{
	const struct inode_ops *ops = dir->inode->ops;
	struct dentry *d;
	int err = -ENOENT;

	if (len > NAME_MAX)
		return ERR_PTR(-ENAMETOOLONG);
	d = find_known(dir, name, len);
	if (d && d->inode && ops && ops->revalidate && !ops->revalidate(dir->inode, d)) {
		dentry_drop(d);
		dentry_put(d);
		d = NULL;
	}
	if (d) {
		if (d->inode || negative)
			return d;
		dentry_put(d);
		return ERR_PTR(-ENOENT);
	}
	if (dir->unlinked || (!negative && !(ops && ops->lookup)))
		return ERR_PTR(-ENOENT);
	d = dentry_alloc(dir, name, len);
	if (!d)
		return ERR_PTR(-ENOMEM);
	if (ops && ops->lookup) {
		dentry_claim(d);
		err = ops->lookup(dir->inode, d);
		dentry_unclaim(d);
	}
	if (!err || (err == -ENOENT && negative))
		return d;
	dentry_put(d);
	return ERR_PTR(err);
}

void dentry_drop(struct dentry *d)
{
	if (d->unlinked || d->parent == d)
		return;
	HASH_DELETE(hh, d->parent->children, d);
	d->unlinked = true;
}

void dentry_move(struct dentry *d, struct dentry *newparent, char *name, size_t len)
{
	struct dentry *oldparent = d->parent;

	dentry_drop(d);
	if (!d->name_borrowed)
		kfree(d->name);
	d->name = name;
	d->name_borrowed = false;
	d->hh.keylen = (unsigned)len;
	d->parent = dentry_get(newparent);
	dentry_attach(d);
	dentry_put(oldparent);
}

#define SWAP(x, y)                       \
	do {                             \
		__typeof__(x) __t = (x); \
		(x) = (y);               \
		(y) = __t;               \
	} while (0)

void dentry_exchange(struct dentry *a, struct dentry *b)
{
	dentry_drop(a);
	dentry_drop(b);
	SWAP(a->name, b->name);
	SWAP(a->name_borrowed, b->name_borrowed);
	SWAP(a->hh.keylen, b->hh.keylen);
	SWAP(a->parent, b->parent);
	dentry_attach(a);
	dentry_attach(b);
}

struct dentry *dentry_alone(struct super *sb, const char *name, struct inode *ino)
{
	size_t len = strlen(name);
	char *copy = kmalloc(len + 1);
	struct dentry *d;

	if (!copy)
		return NULL;
	memcpy(copy, name, len + 1);
	d = dentry_make(NULL, copy, len, false);
	if (!d)
		return NULL;
	d->sb = sb;
	d->inode = ino;
	return d;
}

int super_setup(struct super *sb, const char *type, const char *source, u32 magic,
		struct inode *root)
{
	sb->type = type;
	sb->source = source;
	sb->magic = magic;
	if (!sb->dev)
		sb->dev = anon_dev();
	if (!sb->options)
		sb->options = "rw,relatime";
	sb->root = dentry_alone(sb, "", root);
	return sb->root ? 0 : -ENOMEM;
}

/* ---- mounts ---- */

struct dentry *root_dentry(void)
{
	return the_root;
}

struct dentry *current_root(void)
{
	return current->fs ? current->fs->root : the_root;
}

struct dentry *current_cwd(void)
{
	return current->fs ? current->fs->cwd : the_root;
}

struct dentry *dentry_cross_mounts(struct dentry *d)
{
	while (unlikely(d->mounted != NULL)) {
		struct dentry *top = dentry_get(d->mounted->root);

		dentry_put(d);
		d = top;
	}
	return d;
}

int vfs_mount(struct super *sb, struct dentry *on)
{
	if (sb->mounted_on || sb->root == the_root)
		return -EBUSY;
	if (!the_root) {
		the_root = sb->root;
	} else {
		if (!S_ISDIR(on->inode->mode))
			return -ENOTDIR;
		on = dentry_cross_mounts(dentry_get(on));
		sb->mounted_on = on;
		on->mounted = sb;
	}
	DL_APPEND(all_supers, sb);
	return 0;
}

bool dentry_is_below(const struct dentry *d, const struct dentry *top)
{
	for (;;) {
		if (d == top)
			return true;
		if (d->parent != d)
			d = d->parent;
		else if (d->sb && d->sb->mounted_on)
			d = d->sb->mounted_on;
		else
			return false;
	}
}

/* ---- paths ---- */

/* Puts the n bytes at s before *end; false when there is no room. */
static bool prepend(char **end, char *buf, const char *s, size_t n)
{
	if ((size_t)(*end - buf) < n)
		return false;
	*end -= n;
	memcpy(*end, s, n);
	return true;
}

static char *alone_path(struct dentry *d, char *buf, size_t size)
{
	const char *type = d->sb ? d->sb->type : "";

	if (!strcmp(type, "pipefs"))
		snprintf(buf, size, "pipe:[%llu]", (unsigned long long)d->inode->ino);
	else if (!strcmp(type, "sockfs"))
		snprintf(buf, size, "socket:[%llu]", (unsigned long long)d->inode->ino);
	else if (!strcmp(type, "anon_inodefs"))
		snprintf(buf, size, "anon_inode:%s", d->name);
	else
		snprintf(buf, size, "/%s (deleted)", d->name);
	return buf;
}

char *dentry_path(struct dentry *d, char *buf, size_t size)
{
	static const char deleted[] = " (deleted)", unreachable[] = "(unreachable)";
	struct dentry *root = current_root();
	char *end = buf + size;
	bool ok;

	if (size < 2)
		return ERR_PTR(-ENAMETOOLONG);
	if (d->parent == d && !(d->sb && d->sb->root == d))
		return alone_path(d, buf, size);
	ok = prepend(&end, buf, "", 1);
	if (d->unlinked)
		ok = ok && prepend(&end, buf, deleted, sizeof(deleted) - 1);
	if (d == root)
		ok = ok && prepend(&end, buf, "/", 1);
	while (ok && d != root) {
		if (d->parent != d) {
			ok = prepend(&end, buf, d->name, d->hh.keylen) &&
			     prepend(&end, buf, "/", 1);
			d = d->parent;
		} else if (d->sb->mounted_on) {
			d = d->sb->mounted_on;
		} else {
			if (d == the_root && *end == '/')
				ok = prepend(&end, buf, unreachable, sizeof(unreachable) - 1);
			else
				ok = prepend(&end, buf, "/", 1) &&
				     prepend(&end, buf, unreachable, sizeof(unreachable) - 1);
			break;
		}
	}
	return ok ? end : ERR_PTR(-ENAMETOOLONG);
}
