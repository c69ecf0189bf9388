/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The root image: one or more cpio archives in the "newc" format (cpio(5)),
 * one behind the other with any number of zero bytes between them, become the
 * tree of the root tmpfs. Nothing is copied: names, link targets and contents
 * stay where they lie in the image (struct tmpfs_node).
 *
 * Rules. Header and name together, and the data, are padded to 4 bytes. The
 * name field may be longer than the name (padding with NULs puts data on page
 * boundaries). An entry's directory comes before it. A later entry of the same
 * name replaces an earlier one. Of several entries that share inode and device
 * numbers and have a link count above one, any one carries the data.
 */
#include "fs/tmpfs.h"

#define HEADER_SIZE 110u

struct entry {
	u32 ino, mode, uid, gid, nlink, mtime, size, devmajor, devminor, rdevmajor, rdevminor;
	const char *name;
	size_t name_len;
	const u8 *data;
};

/* Files with several names, for the length of one archive. */
struct hard_link {
	u64 key[2]; /* device, inode number */
	struct inode *ino;
	UT_hash_handle hh;
};

struct unpacker {
	const u8 *start, *pos, *end;
	struct dentry *root;
	/* the directory of the last entry: most entries come after one of the same directory */
	const char *dir_name;
	size_t dir_len;
	struct dentry *dir;
	struct hard_link *links;
};

#define EACH_BYTE(x) (0x0101010101010101ULL * (x))

/*
 * The n-th 8-digit field of a header, all digits at once: there are a dozen for
 * each of thousands of entries. *bad becomes nonzero when it is not a number.
 */
static inline u32 field(const u8 *h, unsigned n, u64 *bad)
{
	u64 text, letter, v, tens;

	memcpy(&text, h + 6 + 8 * n, 8); /* the first digit is in the lowest byte */
	letter = text >> 6 & EACH_BYTE(1);
	v = (text & EACH_BYTE(15)) + 9 * letter;
	/* what digits of these values look like, in small letters, must be what is there */
	tens = (v + EACH_BYTE(6)) >> 4 & EACH_BYTE(1);
	*bad |= (v & EACH_BYTE(0xf0)) |
		((v + EACH_BYTE('0') + tens * ('a' - '0' - 10)) ^ (text | letter << 5));
	v = (v << 4 | v >> 8) & 0x00ff00ff00ff00ffULL;
	v = (v << 8 | v >> 16) & 0x0000ffff0000ffffULL;
	return (u32)(v << 16 | v >> 32);
}

/* Everything wrong with the image is said this way: where, and with which entry. */
static int damaged(const struct unpacker *u, const struct entry *e, const char *what)
{
	if (e && e->name)
		printk("root image: entry \"%s\" at byte %zu: %s\n", e->name,
		       (size_t)(u->pos - u->start), what);
	else
		printk("root image: at byte %zu: %s\n", (size_t)(u->pos - u->start), what);
	return -EINVAL;
}

/* Reads the header at u->pos; *next is where the entry after it begins. */
static int read_entry(struct unpacker *u, struct entry *e, const u8 **next)
{
	const u8 *h = u->pos;
	size_t left = (size_t)(u->end - h), at;
	u64 bad = 0;
	u32 namesize;

	e->name = NULL;
	if (left < HEADER_SIZE)
		return damaged(u, e, "the header is cut off");
	if (memcmp(h, "070701", 6) && memcmp(h, "070702", 6))
		return damaged(u, e, "not a newc header");
	e->ino = field(h, 0, &bad);
	e->mode = field(h, 1, &bad);
	e->uid = field(h, 2, &bad);
	e->gid = field(h, 3, &bad);
	e->nlink = field(h, 4, &bad);
	e->mtime = field(h, 5, &bad);
	e->size = field(h, 6, &bad);
	e->devmajor = field(h, 7, &bad);
	e->devminor = field(h, 8, &bad);
	e->rdevmajor = field(h, 9, &bad);
	e->rdevminor = field(h, 10, &bad);
	namesize = field(h, 11, &bad);
	if (bad)
		return damaged(u, e, "a field of the header is not a hexadecimal number");
	if (!namesize || namesize > left - HEADER_SIZE || h[HEADER_SIZE + namesize - 1])
		return damaged(u, e, "the name is cut off");
	e->name = (const char *)h + HEADER_SIZE;
	/* only padding makes the name shorter than its field */
	e->name_len = namesize > 1 && e->name[namesize - 2] ? namesize - 1 : strlen(e->name);
	at = ALIGN_UP((size_t)(h - u->start) + HEADER_SIZE + namesize, 4ul);
	if (at > (size_t)(u->end - u->start) || e->size > (size_t)(u->end - u->start) - at)
		return damaged(u, e, "the data is cut off");
	e->data = u->start + at;
	at = ALIGN_UP(at + e->size, 4ul);
	*next = u->start + MIN(at, (size_t)(u->end - u->start));
	return 0;
}

/* Removes "./" and "/" from the front and "/" from the end. */
static void trim_name(struct entry *e)
{
	for (;;) {
		if (e->name_len && e->name[0] == '/') {
			e->name++;
			e->name_len--;
		} else if (e->name_len >= 2 && e->name[0] == '.' && e->name[1] == '/') {
			e->name += 2;
			e->name_len -= 2;
		} else {
			break;
		}
	}
	while (e->name_len && e->name[e->name_len - 1] == '/')
		e->name_len--;
	if (e->name_len == 1 && e->name[0] == '.')
		e->name_len = 0;
}

static bool is_prefix(const char *path, size_t len, const char *dir, size_t dir_len)
{
	return !dir_len || (dir_len <= len && !memcmp(path, dir, dir_len) &&
			    (dir_len == len || path[dir_len] == '/'));
}

/*
 * The directory with the path, not referenced (the tree's pins hold it); NULL
 * when it is not there. Archives are in the order of the tree: from the last
 * entry's directory it is a few steps up and down.
 */
static struct dentry *find_dir(const struct unpacker *u, const char *path, size_t len)
{
	struct dentry *d = u->dir;
	size_t at = u->dir_len;

	while (!is_prefix(path, len, u->dir_name, at)) {
		while (at && u->dir_name[--at] != '/')
			;
		while (at && u->dir_name[at - 1] == '/')
			at--;
		d = d->parent;
	}
	while (at < len && d && S_ISDIR(d->inode->mode)) {
		const char *name = path + at + (path[at] == '/'), *end = path + len;
		const char *slash = memchr(name, '/', (size_t)(end - name));

		end = slash ? slash : end;
		if (end > name) {
			d = dentry_find(d, name, (size_t)(end - name));
			if (d)
				d->refs--;
		}
		at = (size_t)(end - path);
	}
	return d && S_ISDIR(d->inode->mode) ? d : NULL;
}

static void set_attributes(struct inode *ino, const struct entry *e)
{
	ino->mode = (ino->mode & S_IFMT) | (e->mode & MODE_PERM);
	ino->uid = e->uid;
	ino->gid = e->gid;
	ino->atime_ns = ino->mtime_ns = ino->ctime_ns = e->mtime * NSEC_PER_SEC;
}

/* What the entry's name stands for: a new inode, or one that another name of the archive made. */
static struct inode *entry_inode(struct unpacker *u, const struct entry *e)
{
	struct super *sb = u->root->sb;
	struct hard_link *hl = NULL;
	struct inode *ino;

	if (e->nlink > 1 && S_ISREG(e->mode)) {
		u64 key[2] = {(u64)e->devmajor << 32 | e->devminor, e->ino};

		HASH_FIND(hh, u->links, key, sizeof(key), hl);
		if (hl) {
			hl->ino->refs++;
			hl->ino->nlink++;
			return hl->ino;
		}
		hl = kmalloc(sizeof(*hl));
		if (!hl)
			return NULL;
		memcpy(hl->key, key, sizeof(key));
	}
	ino = tmpfs_inode(sb, e->mode & (S_IFMT | MODE_PERM), MKDEV(e->rdevmajor, e->rdevminor));
	if (hl && ino) {
		hl->ino = ino;
		HASH_ADD(hh, u->links, key, sizeof(hl->key), hl);
	} else {
		kfree(hl);
	}
	return ino;
}

/* Takes away what an earlier archive had under the name. */
static int replace(struct unpacker *u, const struct entry *e, struct dentry *dir,
		   struct dentry *old)
{
	if (S_ISDIR(old->inode->mode))
		return damaged(u, e, "there is a directory of this name already");
	dentry_get(old);
	dir->inode->ops->unlink(dir->inode, old);
	dentry_drop(old);
	dentry_put(old);
	return 0;
}

static int add_entry(struct unpacker *u, struct entry *e, struct dentry *dir, const char *base,
		     size_t len)
{
	struct dentry *old = dentry_find(dir, base, len);
	struct inode *ino;

	if (unlikely(old != NULL)) {
		old->refs--;
		if (S_ISDIR(e->mode) && S_ISDIR(old->inode->mode)) {
			set_attributes(old->inode, e);
			return 0;
		}
		if (replace(u, e, dir, old))
			return -EINVAL;
	}
	ino = entry_inode(u, e);
	if (!ino || !dentry_add_borrowed(dir, base, len, ino)) {
		if (ino)
			inode_put(ino);
		printk("root image: entry \"%s\": no memory\n", e->name);
		return -ENOMEM;
	}
	set_attributes(ino, e);
	dir->inode->size += 20;
	if (S_ISDIR(e->mode))
		dir->inode->nlink++;
	else if (S_ISREG(e->mode) && e->size)
		tmpfs_set_image(ino, e->data, e->size);
	else if (S_ISLNK(e->mode))
		tmpfs_set_link_image(ino, (const char *)e->data, e->size);
	return 0;
}

static int unpack_entry(struct unpacker *u, struct entry *e)
{
	const char *base;
	size_t dir_len;
	struct dentry *dir;

	trim_name(e);
	if (!e->name_len) {
		if (!S_ISDIR(e->mode))
			return damaged(u, e, "the root is not a directory");
		set_attributes(u->root->inode, e);
		return 0;
	}
	switch (e->mode & S_IFMT) {
	case S_IFREG:
	case S_IFDIR:
	case S_IFCHR:
	case S_IFBLK:
	case S_IFIFO:
	case S_IFSOCK:
		break;
	case S_IFLNK:
		if (e->size && e->size < PATH_MAX)
			break;
		return damaged(u, e, "a symbolic link without a target, or with too long a one");
	default:
		return damaged(u, e, "not a type of file");
	}
	for (base = e->name + e->name_len; base > e->name && base[-1] != '/'; base--)
		;
	dir_len = base > e->name ? (size_t)(base - e->name) - 1 : 0;
	dir = find_dir(u, e->name, dir_len);
	if (!dir)
		return damaged(u, e, "its directory is not in the image before it");
	u->dir = dir;
	u->dir_name = e->name;
	u->dir_len = dir_len;
	if (e->name_len - (size_t)(base - e->name) > NAME_MAX)
		return damaged(u, e, "the name is too long");
	/* names are used where they lie, ended by NUL */
	if (e->name[e->name_len])
		((char *)(uintptr_t)e->name)[e->name_len] = '\0';
	if (!strcmp(base, "..") || !strcmp(base, "."))
		return damaged(u, e, "a name with dots");
	return add_entry(u, e, dir, base, e->name_len - (size_t)(base - e->name));
}

static void forget_links(struct unpacker *u)
{
	struct hard_link *hl, *next;

	HASH_ITER(hh, u->links, hl, next) {
		HASH_DEL(u->links, hl);
		kfree(hl);
	}
}

int cpio_populate(const void *start, size_t size)
{
	struct unpacker u = {.start = start, .pos = start, .end = (const u8 *)start + size};
	struct entry e;
	const u8 *next;
	bool ended = false, any = false;
	int err = 0;

	u.root = u.dir = root_dentry();
	u.dir_name = "";
	u.dir_len = 0;
	while (!err) {
		while (u.pos < u.end && !*u.pos)
			u.pos++;
		if (u.pos == u.end)
			break;
		if ((u.pos - u.start) & 3) {
			err = damaged(&u, NULL, "what follows an archive is not a newc archive");
			break;
		}
		any = true;
		err = read_entry(&u, &e, &next);
		if (err)
			break;
		ended = e.name_len == 10 && !memcmp(e.name, "TRAILER!!!", 10);
		if (ended)
			forget_links(&u);
		else
			err = unpack_entry(&u, &e);
		if (!err)
			u.pos = next;
	}
	forget_links(&u);
	if (!err && !any)
		err = damaged(&u, NULL, "it is empty");
	if (!err && !ended)
		err = damaged(&u, NULL, "the end is missing");
	return err;
}
