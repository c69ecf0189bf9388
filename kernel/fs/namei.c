/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a path to a dentry (path_resolution(7)).
 *
 * A walk stands on a directory and eats one component at a time. Text of
 * symbolic links is pushed in front of what is left: the rest of the path
 * waits on a stack, and only when there is a rest. So the last component of
 * the whole path is known when it is met, and whoever makes or removes a name
 * can stop in front of it.
 */
#include "fs/fs.h"
#include <linux/capability.h>
#include <linux/openat2.h>

int getname(const char *upath, char **out)
{
	char buf[256];
	ssize_t n = strncpy_from_user(buf, upath, sizeof(buf));
	char *s;

	if (n == -ENAMETOOLONG) {
		s = kmalloc(PATH_MAX);
		if (!s)
			return -ENOMEM;
		n = strncpy_from_user(s, upath, PATH_MAX);
		if (n < 0) {
			kfree(s);
			return (int)n;
		}
		*out = s;
		return 0;
	}
	if (n < 0)
		return (int)n;
	s = kmalloc((size_t)n + 1);
	if (!s)
		return -ENOMEM;
	memcpy(s, buf, (size_t)n + 1);
	*out = s;
	return 0;
}

/* The directory that dirfd stands for, referenced. Anything but a directory is the caller's to refuse. */
static int dirfd_dentry(int dirfd, struct dentry **out)
{
	struct fdref r;

	if (dirfd == AT_FDCWD) {
		*out = dentry_get(current_cwd());
		return 0;
	}
	struct file *f = fd_get_raw(dirfd);

	if (!f)
		return -EBADF;
	r.file = f;
	r.counted = true;
	*out = dentry_get(f->dentry);
	fd_put_light(r);
	return 0;
}

int walk_begin(struct walk *w, int dirfd, const char *path, u64 resolve)
{
	int err;

	w->rest = path;
	w->depth = w->links = 0;
	w->want_dir = false;
	w->resolve = resolve;
	w->last = NULL;
	w->last_len = 0;
	w->buf = NULL;
	w->d = w->root = NULL;
	if (*path == '/' && !(resolve & RESOLVE_IN_ROOT)) {
		if (resolve & RESOLVE_BENEATH)
			return -EXDEV;
		w->d = dentry_get(current_root());
	} else {
		err = dirfd_dentry(dirfd, &w->d);
		if (err)
			return err;
		if (*path && !S_ISDIR(w->d->inode->mode)) {
			dentry_put(w->d);
			w->d = NULL;
			return -ENOTDIR;
		}
	}
	if (resolve & (RESOLVE_IN_ROOT | RESOLVE_BENEATH))
		w->root = dentry_get(w->d);
	else
		w->root = dentry_get(current_root());
	w->d = dentry_cross_mounts(w->d);
	return 0;
}

void walk_end(struct walk *w)
{
	kfree(w->buf);
	while (w->depth)
		kfree(w->stack[--w->depth].buf);
	dentry_put(w->d);
	dentry_put(w->root);
	w->d = w->root = NULL;
}

static void walk_move(struct walk *w, struct dentry *to)
{
	dentry_put(w->d);
	w->d = to;
}

static int walk_up(struct walk *w)
{
	struct dentry *d = w->d;

	if (d == w->root)
		return w->resolve & RESOLVE_BENEATH ? -EXDEV : 0;
	while (d->parent == d && d->sb && d->sb->mounted_on) {
		if (w->resolve & RESOLVE_NO_XDEV)
			return -EXDEV;
		d = d->sb->mounted_on;
		if (d == w->root)
			break;
	}
	walk_move(w, dentry_cross_mounts(dentry_get(d->parent)));
	return 0;
}

/* A magic link names a place, not a path. */
static int jump(struct walk *w, struct inode *ino)
{
	struct dentry *to;
	int err;

	if (w->resolve & (RESOLVE_NO_MAGICLINKS | RESOLVE_BENEATH | RESOLVE_IN_ROOT))
		return w->resolve & RESOLVE_NO_MAGICLINKS ? -ELOOP : -EXDEV;
	err = ino->ops->follow(ino, &to);
	if (!err)
		walk_move(w, to);
	return err;
}

int walk_link(struct walk *w, struct dentry *link)
{
	struct inode *ino = link->inode;
	size_t size = ino->size > 0 ? (size_t)ino->size : PATH_MAX - 1;
	ssize_t n;
	char *text;

	if (++w->links > MAX_SYMLINKS || (w->resolve & RESOLVE_NO_SYMLINKS))
		return -ELOOP;
	if (ino->ops->follow)
		return jump(w, ino);
	text = kmalloc(size + 1);
	if (!text)
		return -ENOMEM;
	n = ino->ops->readlink ? ino->ops->readlink(ino, text, size) : -EINVAL;
	if (n <= 0) {
		kfree(text);
		return n ? (int)n : -ENOENT;
	}
	text[n] = '\0';
	if (*w->rest) {
		w->stack[w->depth].rest = w->rest;
		w->stack[w->depth++].buf = w->buf;
	} else {
		kfree(w->buf);
	}
	w->buf = text;
	w->rest = text;
	inode_accessed(ino);
	if (*text == '/') {
		if (w->resolve & RESOLVE_BENEATH)
			return -EXDEV;
		walk_move(w, dentry_cross_mounts(dentry_get(w->root)));
	}
	return 0;
}

/*
 * Takes the next component off the text. 0 length: the path is used up.
 * *last: nothing comes after it.
 */
static size_t next_component(struct walk *w, const char **name, bool *last)
{
	for (;;) {
		const char *s = w->rest, *end;

		while (*s == '/')
			s++;
		if (*s) {
			end = s;
			while (*end && *end != '/')
				end++;
			*name = s;
			w->rest = end;
			while (*w->rest == '/')
				w->rest++;
			*last = !*w->rest && !w->depth;
			if (*last && *end == '/')
				w->want_dir = true;
			return (size_t)(end - s);
		}
		if (!w->depth)
			return 0;
		kfree(w->buf);
		w->rest = w->stack[--w->depth].rest;
		w->buf = w->stack[w->depth].buf;
	}
}

static int enter_dir(struct walk *w)
{
	if (!w->d->inode || !S_ISDIR(w->d->inode->mode))
		return -ENOTDIR;
	return inode_permission(w->d->inode, 1);
}

/* One component that is neither the one to stop at nor missing. */
static int walk_step(struct walk *w, const char *name, size_t len, bool last, bool follow_last)
{
	struct dentry *child;
	int err = 0;

	if (name[0] == '.' && len == 1)
		return 0;
	if (name[0] == '.' && name[1] == '.' && len == 2)
		return walk_up(w);
	child = dentry_lookup(w->d, name, len, false);
	if (IS_ERR(child))
		return (int)PTR_ERR(child);
	if (S_ISLNK(child->inode->mode) && (!last || follow_last || w->want_dir)) {
		err = walk_link(w, child);
		dentry_put(child);
		return err;
	}
	if (child->mounted) {
		if (w->resolve & RESOLVE_NO_XDEV)
			err = -EXDEV;
		child = dentry_cross_mounts(child);
	}
	walk_move(w, child);
	return err;
}

int walk_all(struct walk *w, bool follow_last)
{
	const char *name;
	size_t len;
	bool last;
	int err;

	while ((len = next_component(w, &name, &last)) != 0) {
		err = enter_dir(w);
		if (!err)
			err = walk_step(w, name, len, last, follow_last);
		if (err)
			return err;
	}
	if (w->want_dir && !S_ISDIR(w->d->inode->mode))
		return -ENOTDIR;
	return 0;
}

int walk_parent(struct walk *w)
{
	const char *name;
	size_t len;
	bool last;
	int err;

	while ((len = next_component(w, &name, &last)) != 0) {
		err = enter_dir(w);
		if (err)
			return err;
		if (last) {
			w->last = name;
			w->last_len = (u32)len;
			return 0;
		}
		err = walk_step(w, name, len, false, true);
		if (err)
			return err;
	}
	w->last_len = 0;
	return 0;
}

static bool last_is_dots(const struct walk *w)
{
	return w->last[0] == '.' && (w->last_len == 1 || (w->last_len == 2 && w->last[1] == '.'));
}

int path_lookup(int dirfd, const char *path, u32 flags, struct dentry **out)
{
	struct walk w;
	struct dentry *d = NULL;
	int err;

	if (!*path && !(flags & LOOKUP_EMPTY))
		return -ENOENT;
	err = walk_begin(&w, dirfd, path, 0);
	if (err)
		return err;
	if (flags & LOOKUP_PARENT) {
		err = walk_parent(&w);
		if (!err && (!w.last_len || last_is_dots(&w)))
			err = -EEXIST;
		if (!err) {
			d = dentry_lookup(w.d, w.last, w.last_len, true);
			if (IS_ERR(d))
				err = (int)PTR_ERR(d);
		}
	} else {
		err = walk_all(&w, flags & LOOKUP_FOLLOW);
		if (!err && (flags & LOOKUP_DIRECTORY) && !S_ISDIR(w.d->inode->mode))
			err = -ENOTDIR;
		if (!err)
			d = dentry_get(w.d);
	}
	walk_end(&w);
	if (!err)
		*out = d;
	return err;
}

int user_path(int dirfd, const char *upath, u32 lookup, struct dentry **out)
{
	char *path;
	int err = getname(upath, &path);

	if (err)
		return err;
	err = path_lookup(dirfd, path, lookup, out);
	kfree(path);
	return err;
}

int user_path_at(int dirfd, const char *upath, u32 at_flags, struct dentry **out)
{
	u32 lookup = at_flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;

	if (at_flags & AT_EMPTY_PATH)
		lookup |= LOOKUP_EMPTY;
	return user_path(dirfd, upath, lookup, out);
}

/*
 * `negative`: the name is to be made, so "." and "/" are -EEXIST; otherwise it
 * is to be removed: "." -EINVAL, ".." -ENOTEMPTY, "/" -EBUSY (rmdir(2), rename(2)).
 */
int name_at_begin(struct name_at *n, int dirfd, const char *upath, bool negative)
{
	int err = getname(upath, &n->path);

	if (err)
		return err;
	err = *n->path ? walk_begin(&n->w, dirfd, n->path, 0) : -ENOENT;
	if (err) {
		kfree(n->path);
		return err;
	}
	n->child = NULL;
	err = walk_parent(&n->w);
	n->dir = n->w.d;
	if (!err && !n->w.last_len)
		err = negative ? -EEXIST : -EBUSY;
	else if (!err && last_is_dots(&n->w))
		err = negative ? -EEXIST : n->w.last_len == 1 ? -EINVAL : -ENOTEMPTY;
	if (!err) {
		n->child = dentry_lookup(n->dir, n->w.last, n->w.last_len, negative);
		if (IS_ERR(n->child)) {
			err = (int)PTR_ERR(n->child);
			n->child = NULL;
		}
	}
	if (err)
		name_at_end(n);
	return err;
}

void name_at_end(struct name_at *n)
{
	dentry_put(n->child);
	walk_end(&n->w);
	kfree(n->path);
}
