/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open files, and the system calls that move bytes through them.
 *
 * An open file lives as long as it has references: one for each descriptor,
 * one for each mapping, and one for a system call at work on it unless nobody
 * else could close the descriptor meanwhile (fd_get_light).
 */
#include "fs/fs.h"
#include "sys/syscall.h"
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/uio.h>
#include <utlist.h>

void file_get(struct file *f)
{
	f->refs++;
}

void file_put(struct file *f)
{
	if (--f->refs)
		return;
	if (unlikely(f->epitems != NULL))
		epoll_file_gone(f);
	if (unlikely(f->inode->locks != NULL))
		locks_release(f);
	if ((f->flags & FASYNC) && f->ops->fasync)
		f->ops->fasync(f, false);
	if (f->ops->release)
		f->ops->release(f);
	f->inode->writers -= f->writer;
	if (unlikely(f->inode != f->dentry->inode))
		inode_put(f->inode);
	dentry_put(f->dentry);
	kfree(f);
}

struct file *file_alloc(struct dentry *d, const struct file_ops *ops, u32 flags)
{
	struct file *f = kzalloc(sizeof(*f));

	if (!f) {
		dentry_put(d);
		return NULL;
	}
	f->refs = 1;
	f->ops = ops;
	f->dentry = d;
	f->inode = d->inode;
	f->flags = flags;
	return f;
}

struct file *anon_file(const char *name, const struct file_ops *ops, void *priv, u32 flags)
{
	static struct super anon_super = {.type = "anon_inodefs", .magic = ANON_INODE_FS_MAGIC};
	struct inode *ino;
	struct dentry *d;
	struct file *f;

	if (!anon_super.dev)
		anon_super.dev = anon_dev();
	ino = inode_new(&anon_super, 0600);
	if (!ino)
		return NULL;
	ino->uid = current->cred.fsuid;
	ino->gid = current->cred.fsgid;
	d = dentry_alone(&anon_super, name, ino);
	if (!d) {
		inode_put(ino);
		return NULL;
	}
	f = file_alloc(d, ops, flags);
	if (f)
		f->priv = priv;
	return f;
}

bool file_seekable(const struct file *f)
{
	switch (f->inode->mode & S_IFMT) {
	case S_IFREG:
	case S_IFDIR:
	case S_IFBLK:
	case S_IFCHR:
		return true;
	default:
		return f->ops->llseek != NULL;
	}
}

/* ---- one buffer ---- */

ssize_t file_read(struct file *f, void *buf, size_t n, loff_t *pos)
{
	if (unlikely(!file_can_read(f)))
		return -EBADF;
	if (unlikely(!f->ops->read))
		return S_ISDIR(f->inode->mode) ? -EISDIR : -EINVAL;
	if (unlikely(!user_range_ok(buf, n)))
		return (ssize_t)n < 0 ? -EINVAL : -EFAULT;
	return f->ops->read(f, buf, MIN(n, MAX_RW_COUNT), pos);
}

ssize_t file_write(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	if (unlikely(!file_can_write(f)))
		return -EBADF;
	if (unlikely(!f->ops->write))
		return -EINVAL;
	if (unlikely(!user_range_ok(buf, n)))
		return (ssize_t)n < 0 ? -EINVAL : -EFAULT;
	return f->ops->write(f, buf, MIN(n, MAX_RW_COUNT), pos);
}

ssize_t file_kread(struct file *f, void *buf, size_t n, loff_t pos)
{
	size_t done = 0;

	if (!f->ops->read || !f->ops->kernel_buf)
		return -EINVAL;
	while (done < n) {
		ssize_t r = f->ops->read(f, (u8 *)buf + done, n - done, &pos);

		if (r < 0)
			return done ? (ssize_t)done : r;
		if (!r)
			break;
		done += (size_t)r;
	}
	return (ssize_t)done;
}

long sys_read(const u64 a[6])
{
	struct fdref r = fd_get_light((int)a[0]);
	ssize_t ret;

	if (unlikely(!r.file))
		return -EBADF;
	ret = file_read(r.file, (void *)a[1], a[2], &r.file->pos);
	fd_put_light(r);
	return ret;
}

long sys_write(const u64 a[6])
{
	struct fdref r = fd_get_light((int)a[0]);
	ssize_t ret;

	if (unlikely(!r.file))
		return -EBADF;
	ret = file_write(r.file, (const void *)a[1], a[2], &r.file->pos);
	fd_put_light(r);
	return ret;
}

/* The checks of a call that brings its own position. */
static int positioned(struct file *f, loff_t pos)
{
	if (pos < 0)
		return -EINVAL;
	return file_seekable(f) ? 0 : -ESPIPE;
}

long sys_pread64(const u64 a[6])
{
	struct fdref r = fd_get_light((int)a[0]);
	loff_t pos = (loff_t)a[3];
	ssize_t ret;

	if (!r.file)
		return pos < 0 ? -EINVAL : -EBADF;
	ret = positioned(r.file, pos);
	if (!ret)
		ret = file_read(r.file, (void *)a[1], a[2], &pos);
	fd_put_light(r);
	return ret;
}

long sys_pwrite64(const u64 a[6])
{
	struct fdref r = fd_get_light((int)a[0]);
	loff_t pos = (loff_t)a[3];
	ssize_t ret;

	if (!r.file)
		return pos < 0 ? -EINVAL : -EBADF;
	ret = positioned(r.file, pos);
	if (!ret)
		ret = file_write(r.file, (const void *)a[1], a[2], &pos);
	fd_put_light(r);
	return ret;
}

/* ---- several buffers ---- */

ssize_t iovec_import(struct iovec_list *l, const void *uiov, u64 count)
{
	u64 total = 0;

	l->v = l->fast;
	l->count = (u32)count;
	if (count > UIO_MAXIOV)
		return -EINVAL;
	if (count > ARRAY_SIZE(l->fast)) {
		l->v = kmalloc(count * sizeof(struct iovec));
		if (!l->v)
			return -ENOMEM;
	}
	if (copy_from_user(l->v, uiov, count * sizeof(struct iovec))) {
		iovec_free(l);
		return -EFAULT;
	}
	for (u32 i = 0; i < l->count; i++) {
		if ((ssize_t)l->v[i].iov_len < 0) {
			iovec_free(l);
			return -EINVAL;
		}
		if (l->v[i].iov_len && !user_range_ok(l->v[i].iov_base, l->v[i].iov_len)) {
			iovec_free(l);
			return -EFAULT;
		}
		if (l->v[i].iov_len > MAX_RW_COUNT - total)
			l->v[i].iov_len = MAX_RW_COUNT - total;
		total += l->v[i].iov_len;
	}
	return (ssize_t)total;
}

void iovec_free(struct iovec_list *l)
{
	if (l->v != l->fast)
		kfree(l->v);
}

int iovec_gather(const struct iovec_list *l, void *buf)
{
	u8 *to = buf;

	for (u32 i = 0; i < l->count; i++) {
		if (copy_from_user(to, l->v[i].iov_base, l->v[i].iov_len))
			return -EFAULT;
		to += l->v[i].iov_len;
	}
	return 0;
}

int iovec_scatter(const struct iovec_list *l, const void *buf, size_t n)
{
	const u8 *from = buf;

	for (u32 i = 0; i < l->count && n; i++) {
		size_t part = MIN(n, l->v[i].iov_len);

		if (copy_to_user(l->v[i].iov_base, from, part))
			return -EFAULT;
		from += part;
		n -= part;
	}
	return 0;
}

#define GATHER_MAX (256 * 1024UL)

/*
 * Pipes, sockets and the like see the buffers as one: a write up to PIPE_BUF is
 * one piece, a datagram is one datagram.
 */
static ssize_t vector_as_one(struct file *f, struct iovec_list *l, size_t total, bool write)
{
	size_t n = MIN(total, GATHER_MAX);
	void *buf = kmalloc(n ? n : 1);
	loff_t pos = 0;
	ssize_t ret;

	if (!buf)
		return -ENOMEM;
	if (write) {
		for (u64 i = 0, sum = 0; i < l->count; i++) {
			l->v[i].iov_len = MIN(l->v[i].iov_len, n - sum);
			sum += l->v[i].iov_len;
		}
		ret = iovec_gather(l, buf);
		if (!ret)
			ret = f->ops->write(f, buf, n, &pos);
	} else {
		ret = f->ops->read(f, buf, n, &pos);
		if (ret > 0 && iovec_scatter(l, buf, (size_t)ret))
			ret = -EFAULT;
	}
	kfree(buf);
	return ret;
}

static ssize_t vector_each(struct file *f, struct iovec_list *l, loff_t *pos, bool write)
{
	ssize_t done = 0, ret = 0;

	for (u32 i = 0; i < l->count; i++) {
		if (!l->v[i].iov_len && !(l->count == 1))
			continue;
		if (write)
			ret = f->ops->write(f, l->v[i].iov_base, l->v[i].iov_len, pos);
		else
			ret = f->ops->read(f, l->v[i].iov_base, l->v[i].iov_len, pos);
		if (ret < 0)
			break;
		done += ret;
		if ((size_t)ret < l->v[i].iov_len)
			break;
	}
	return done ? done : ret;
}

static ssize_t vector_io(struct file *f, const void *uiov, u64 count, loff_t *pos, bool write)
{
	struct iovec_list l;
	ssize_t total, ret;

	if (!(write ? file_can_write(f) : file_can_read(f)))
		return -EBADF;
	if (!(write ? (const void *)f->ops->write : (const void *)f->ops->read))
		return S_ISDIR(f->inode->mode) ? -EISDIR : -EINVAL;
	total = iovec_import(&l, uiov, count);
	if (total < 0)
		return total;
	if (l.count > 1 && f->ops->kernel_buf && !file_seekable(f))
		ret = vector_as_one(f, &l, (size_t)total, write);
	else
		ret = vector_each(f, &l, pos, write);
	iovec_free(&l);
	return ret;
}

static long vector_call(const u64 a[6], bool own_pos, bool write)
{
	struct fdref r = fd_get_light((int)a[0]);
	loff_t pos = (loff_t)a[3];
	long ret = 0;

	if (!r.file)
		return -EBADF;
	if (own_pos)
		ret = positioned(r.file, pos);
	if (!ret)
		ret = vector_io(r.file, (const void *)a[1], a[2], own_pos ? &pos : &r.file->pos,
				write);
	fd_put_light(r);
	return ret;
}

long sys_readv(const u64 a[6])
{
	return vector_call(a, false, false);
}

long sys_writev(const u64 a[6])
{
	return vector_call(a, false, true);
}

long sys_preadv(const u64 a[6])
{
	return vector_call(a, true, false);
}

long sys_pwritev(const u64 a[6])
{
	return vector_call(a, true, true);
}

/* Memory is never waited for and always synchronous; the other flags change what is done. */
#define RWF_HARMLESS (RWF_HIPRI | RWF_DSYNC | RWF_SYNC)

long sys_preadv2(const u64 a[6])
{
	if (a[5] & ~(u64)RWF_HARMLESS)
		return -EOPNOTSUPP;
	return vector_call(a, (loff_t)a[3] != -1, false);
}

long sys_pwritev2(const u64 a[6])
{
	if (a[5] & ~(u64)RWF_HARMLESS)
		return -EOPNOTSUPP;
	return vector_call(a, (loff_t)a[3] != -1, true);
}

/* ---- position ---- */

static loff_t generic_llseek(struct file *f, loff_t off, int whence)
{
	loff_t base;

	switch (whence) {
	case SEEK_SET:
		base = 0;
		break;
	case SEEK_CUR:
		base = f->pos;
		break;
	case SEEK_END:
		base = f->inode->size;
		break;
	case SEEK_DATA:
	case SEEK_HOLE:
		if (S_ISREG(f->inode->mode) && inode_is_tmpfs(f->inode))
			return f->pos = tmpfs_seek_data(f->inode, off, whence == SEEK_HOLE);
		if (off < 0 || off >= f->inode->size)
			return -ENXIO;
		return f->pos = whence == SEEK_DATA ? off : f->inode->size;
	default:
		return -EINVAL;
	}
	if (__builtin_add_overflow(base, off, &base))
		return -EOVERFLOW;
	if (base < 0)
		return -EINVAL;
	f->pos = base;
	return base;
}

long sys_lseek(const u64 a[6])
{
	struct fdref r = fd_get_light((int)a[0]);
	loff_t old, ret;

	if (!r.file)
		return -EBADF;
	old = r.file->pos;
	if ((u32)a[2] > SEEK_MAX)
		ret = -EINVAL;
	else if (!file_seekable(r.file))
		ret = -ESPIPE;
	else if (r.file->ops->llseek)
		ret = r.file->ops->llseek(r.file, (loff_t)a[1], (int)a[2]);
	else
		ret = generic_llseek(r.file, (loff_t)a[1], (int)a[2]);
	if (ret < 0)
		r.file->pos = old;
	fd_put_light(r);
	return ret;
}

/* ---- to where it is kept: for most files memory is all there is, but the descriptor must be right ---- */

long sys_fsync(const u64 a[6])
{
	struct fdref r = fd_get_light((int)a[0]);
	int err;

	if (!r.file)
		return -EBADF;
	err = r.file->ops->fsync	     ? r.file->ops->fsync(r.file)
	      : S_ISDIR(r.file->inode->mode) ? 0
					     : -EINVAL;
	fd_put_light(r);
	return err;
}

long sys_fdatasync(const u64 a[6])
{
	return sys_fsync(a);
}

long sys_sync(const u64 a[6])
{
	struct super *sb;

	(void)a;
	DL_FOREACH(all_supers, sb) {
		if (sb->sync)
			sb->sync(sb);
	}
	return 0;
}

long sys_syncfs(const u64 a[6])
{
	struct file *f = fd_get((int)a[0]);

	if (!f)
		return -EBADF;
	if (f->inode->sb && f->inode->sb->sync)
		f->inode->sb->sync(f->inode->sb);
	file_put(f);
	return 0;
}

static long advice(int fd, bool valid)
{
	struct file *f = fd_get(fd);
	long ret = 0;

	if (!f)
		return -EBADF;
	if (S_ISFIFO(f->inode->mode))
		ret = -ESPIPE;
	else if (!valid)
		ret = -EINVAL;
	file_put(f);
	return ret;
}

long sys_fadvise64(const u64 a[6])
{
	return advice((int)a[0], (s64)a[2] >= 0 && a[3] <= 5);
}

long sys_readahead(const u64 a[6])
{
	struct file *f = fd_get((int)a[0]);
	long ret;

	if (!f)
		return -EBADF;
	ret = !file_can_read(f) ? -EBADF : !S_ISREG(f->inode->mode) ? -EINVAL : 0;
	file_put(f);
	return ret;
}
