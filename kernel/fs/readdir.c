/* SPDX-License-Identifier: BSD-2-Clause */
/* Listing directories: getdents64(2). */
#include "fs/fs.h"
#include "sys/syscall.h"

struct dirent64 {
	u64 d_ino;
	s64 d_off;
	u16 d_reclen;
	u8 d_type;
	char d_name[];
};

bool dir_emit_dots(struct file *f, struct dir_sink *s)
{
	struct dentry *d = f->dentry, *up = d;

	if (f->pos == 0 && !s->emit(s, ".", 1, d->inode->ino, S_IFDIR >> 12, 1))
		return false;
	if (f->pos > 1)
		return true;
	while (up->parent == up && up != current_root() && up->sb && up->sb->mounted_on)
		up = up->sb->mounted_on;
	if (up != current_root())
		up = up->parent;
	return s->emit(s, "..", 2, up->inode->ino, S_IFDIR >> 12, 2);
}

/* Entries are collected in a kernel buffer: a file system's list must not change while user memory is touched. */
struct getdents_sink {
	struct dir_sink sink;
	u8 *buf;
	size_t size, used;
	loff_t pos;
	bool full;
};

static bool getdents_emit(struct dir_sink *sink, const char *name, size_t len, ino_t ino,
			  unsigned dtype, loff_t next_off)
{
	struct getdents_sink *g = container_of(sink, struct getdents_sink, sink);
	size_t reclen = ALIGN_UP(offsetof(struct dirent64, d_name) + len + 1, 8ul);
	struct dirent64 *de = (struct dirent64 *)(g->buf + g->used);

	if (reclen > g->size - g->used) {
		g->full = true;
		return false;
	}
	de->d_ino = ino;
	de->d_off = next_off;
	de->d_reclen = (u16)reclen;
	de->d_type = (u8)dtype;
	memcpy(de->d_name, name, len);
	memset(de->d_name + len, 0, reclen - offsetof(struct dirent64, d_name) - len);
	g->used += reclen;
	g->pos = next_off;
	return true;
}

static long do_getdents(struct file *f, void *ubuf, size_t size)
{
	struct getdents_sink g = {.sink.emit = getdents_emit, .pos = f->pos};
	long err;

	if (!S_ISDIR(f->inode->mode) || !f->ops->iterate)
		return -ENOTDIR;
	if (f->dentry->unlinked)
		return -ENOENT;
	g.size = MIN(size, 32768ul);
	g.buf = kmalloc(g.size ? g.size : 1);
	if (!g.buf)
		return -ENOMEM;
	err = f->ops->iterate(f, &g.sink);
	if (!err && g.full && !g.used)
		err = -EINVAL;
	if (!err && copy_to_user(ubuf, g.buf, g.used))
		err = -EFAULT;
	if (!err)
		f->pos = g.pos;
	kfree(g.buf);
	return err ? err : (long)g.used;
}

long sys_getdents64(const u64 a[6])
{
	struct fdref r = fd_get_light((int)a[0]);
	long ret;

	if (!r.file)
		return -EBADF;
	ret = do_getdents(r.file, (void *)a[1], (u32)a[2]);
	fd_put_light(r);
	return ret;
}
