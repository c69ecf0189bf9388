/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes from one file to another without user memory between: sendfile(2),
 * copy_file_range(2), splice(2), tee(2), vmsplice(2).
 *
 * They go through a buffer of the kernel. A source only moves on by what the
 * destination took: a file by its position, a pipe by taking after looking.
 */
#include "fs/pipe.h"
#include "sys/syscall.h"

#define CHUNK		  65536u
#define SPLICE_F_MOVE	  1u
#define SPLICE_F_NONBLOCK 2u
#define SPLICE_F_MORE	  4u
#define SPLICE_F_GIFT	  8u
#define SPLICE_F_ALL	  (SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | SPLICE_F_GIFT)

/* A chunk buffer as large as the job needs. */
static void *chunk_buffer(u64 count, u32 *size)
{
	*size = (u32)MIN(count, CHUNK);
	return kmalloc(*size ? *size : 1);
}

/* Two descriptors, both referenced, the first readable and the second writable. */
static int get_both(int in_fd, int out_fd, struct file **in, struct file **out)
{
	*in = fd_get(in_fd);
	*out = fd_get(out_fd);
	if (*in && *out && file_can_read(*in) && file_can_write(*out))
		return 0;
	if (*in)
		file_put(*in);
	if (*out)
		file_put(*out);
	return -EBADF;
}

static void put_both(struct file *in, struct file *out)
{
	file_put(in);
	file_put(out);
}

/* From a file that has positions to anything; the positions move on. */
static ssize_t copy_from_file(struct file *in, loff_t *in_pos, struct file *out, loff_t *out_pos,
			      u64 count)
{
	u32 size;
	void *buf = chunk_buffer(count, &size);
	ssize_t done = 0, n, w = 0;

	if (!buf)
		return -ENOMEM;
	while ((u64)done < count) {
		loff_t at = *in_pos;

		n = in->ops->read(in, buf, MIN(size, count - (u64)done), &at);
		if (n <= 0) {
			w = n;
			break;
		}
		w = out->ops->write(out, buf, (size_t)n, out_pos);
		if (w <= 0)
			break;
		*in_pos += w;
		done += w;
		if (w < n || signal_pending(current))
			break;
	}
	kfree(buf);
	return done ? done : w;
}

static bool can_source(const struct file *f)
{
	return f->ops->read && f->ops->kernel_buf;
}

static bool can_sink(const struct file *f)
{
	return f->ops->write && f->ops->kernel_buf;
}

long sys_sendfile(const u64 a[6])
{
	loff_t pos, *uoff = (loff_t *)a[2];
	struct file *in, *out;
	ssize_t ret = get_both((int)a[1], (int)a[0], &in, &out);

	if (ret)
		return ret;
	pos = in->pos;
	if (!file_seekable(in) || !can_source(in) || !can_sink(out) || (out->flags & O_APPEND))
		ret = uoff && !file_seekable(in) ? -ESPIPE : -EINVAL;
	else if (uoff && get_user(pos, uoff))
		ret = -EFAULT;
	else if (pos < 0)
		ret = -EINVAL;
	if (!ret)
		ret = copy_from_file(in, &pos, out, &out->pos, MIN(a[3], MAX_RW_COUNT));
	if (ret >= 0) {
		if (!uoff)
			in->pos = pos;
		else if (put_user(pos, uoff))
			ret = -EFAULT;
	}
	put_both(in, out);
	return ret;
}

static ssize_t do_copy_range(struct file *in, loff_t *in_pos, struct file *out, loff_t *out_pos,
			     u64 count)
{
	if (S_ISDIR(in->inode->mode) || S_ISDIR(out->inode->mode))
		return -EISDIR;
	if (!S_ISREG(in->inode->mode) || !S_ISREG(out->inode->mode) || *in_pos < 0 || *out_pos < 0)
		return -EINVAL;
	if (out->flags & O_APPEND)
		return -EBADF;
	if (!can_source(in) || !can_sink(out))
		return -EXDEV;
	count = MIN(count, MAX_RW_COUNT);
	count = *in_pos < in->inode->size ? MIN(count, (u64)(in->inode->size - *in_pos)) : 0;
	if (in->inode == out->inode && *in_pos < *out_pos + (loff_t)count &&
	    *out_pos < *in_pos + (loff_t)count)
		return -EINVAL;
	return count ? copy_from_file(in, in_pos, out, out_pos, count) : 0;
}

/* The position that a call works with: in user memory if it gave one, else the file's. */
static int position_in(const loff_t *uoff, const struct file *f, loff_t *pos)
{
	*pos = f->pos;
	return uoff && get_user(*pos, uoff) ? -EFAULT : 0;
}

static int position_out(loff_t *uoff, struct file *f, loff_t pos)
{
	if (uoff)
		return put_user(pos, uoff);
	f->pos = pos;
	return 0;
}

long sys_copy_file_range(const u64 a[6])
{
	loff_t in_pos, out_pos;
	struct file *in, *out;
	ssize_t ret;

	if (a[5])
		return -EINVAL;
	ret = get_both((int)a[0], (int)a[2], &in, &out);
	if (ret)
		return ret;
	ret = position_in((loff_t *)a[1], in, &in_pos);
	if (!ret)
		ret = position_in((loff_t *)a[3], out, &out_pos);
	if (!ret)
		ret = do_copy_range(in, &in_pos, out, &out_pos, a[4]);
	if (ret >= 0 && (position_out((loff_t *)a[1], in, in_pos) ||
			 position_out((loff_t *)a[3], out, out_pos)))
		ret = -EFAULT;
	put_both(in, out);
	return ret;
}

/* ---- splice ---- */

/* One piece of a pipe into a file that is no pipe; its lock is held while the file may make us wait. */
static ssize_t pipe_to_file(struct pipe *p, struct file *out, loff_t *pos, u64 count, bool nonblock)
{
	u32 size;
	void *buf;
	ssize_t ret;

	do {
		ret = pipe_wait_data(p, nonblock);
		if (ret <= 0)
			return ret;
		mutex_lock(&p->lock);
		if (p->len)
			break;
		mutex_unlock(&p->lock);
	} while (true);
	buf = chunk_buffer(MIN(count, p->len), &size);
	ret = -ENOMEM;
	if (buf) {
		size = pipe_peek(p, buf, 0, size);
		ret = out->ops->write(out, buf, size, pos);
		if (ret > 0)
			pipe_take(p, (u32)ret);
	}
	mutex_unlock(&p->lock);
	kfree(buf);
	return ret;
}

static ssize_t file_to_pipe(struct file *in, loff_t *pos, struct pipe *p, u64 count, bool nonblock)
{
	u32 size;
	void *buf;
	ssize_t ret = pipe_wait_space(p, nonblock), n;
	loff_t at = *pos;

	if (ret)
		return ret;
	buf = chunk_buffer(MIN(count, pipe_space(p)), &size);
	if (!buf)
		return -ENOMEM;
	n = in->ops->read(in, buf, size, &at);
	for (ret = 0; n > 0 && ret < n;) {
		/* the read may have slept; what it gave has to find room */
		ssize_t w = pipe_wait_space(p, false);

		if (w)
			break;
		mutex_lock(&p->lock);
		w = pipe_put(p, (u8 *)buf + ret, (u32)(n - ret));
		mutex_unlock(&p->lock);
		if (w <= 0)
			break;
		ret += w;
	}
	*pos += ret;
	kfree(buf);
	return ret || n <= 0 ? (ret ? ret : n) : -EINTR;
}

/*
 * Between two pipes, taking the data or (tee) leaving it. Both locks must be
 * free at one time; then nothing in here sleeps, so they need not be taken.
 */
static ssize_t pipe_to_pipe(struct pipe *from, struct pipe *to, u64 count, bool nonblock, bool keep)
{
	u32 size;
	void *buf;
	ssize_t ret;

	do {
		ret = pipe_wait_data(from, nonblock);
		if (ret <= 0)
			return ret;
		ret = pipe_wait_space(to, nonblock);
		if (ret)
			return ret;
		mutex_lock(&from->lock);
		mutex_unlock(&from->lock);
		mutex_lock(&to->lock);
		mutex_unlock(&to->lock);
	} while (from->lock.owner || !from->len || pipe_space(to) < PIPE_BUF);
	buf = chunk_buffer(MIN(count, MIN(from->len, pipe_space(to))), &size);
	if (!buf)
		return -ENOMEM;
	ret = pipe_put(to, buf, pipe_peek(from, buf, 0, size));
	if (ret > 0 && !keep)
		pipe_take(from, (u32)ret);
	kfree(buf);
	return ret;
}

static ssize_t do_splice(struct file *in, loff_t *uin, struct file *out, loff_t *uout, u64 count,
			 u32 flags)
{
	struct pipe *from = file_pipe(in), *to = file_pipe(out);
	bool nonblock = flags & SPLICE_F_NONBLOCK;
	loff_t pos;
	ssize_t ret;

	if (!from && !to)
		return -EINVAL;
	if ((from && uin) || (to && uout))
		return -ESPIPE;
	if (from && to) {
		if (from == to)
			return -EINVAL;
		nonblock |= (in->flags | out->flags) & O_NONBLOCK;
		return pipe_to_pipe(from, to, count, nonblock, false);
	}
	ret = from ? position_in(uout, out, &pos) : position_in(uin, in, &pos);
	if (ret)
		return ret;
	if (from ? !can_sink(out) || (out->flags & O_APPEND) : !can_source(in))
		return -EINVAL;
	if (pos < 0 || ((from ? uout : uin) && !file_seekable(from ? out : in)))
		return pos < 0 ? -EINVAL : -ESPIPE;
	if (from)
		ret = pipe_to_file(from, out, &pos, count, nonblock || (in->flags & O_NONBLOCK));
	else
		ret = file_to_pipe(in, &pos, to, count, nonblock || (out->flags & O_NONBLOCK));
	if (ret > 0 && (from ? position_out(uout, out, pos) : position_out(uin, in, pos)))
		ret = -EFAULT;
	return ret;
}

long sys_splice(const u64 a[6])
{
	struct file *in, *out;
	ssize_t ret;

	if (a[5] & ~(u64)SPLICE_F_ALL)
		return -EINVAL;
	if (!a[4])
		return 0;
	ret = get_both((int)a[0], (int)a[2], &in, &out);
	if (ret)
		return ret;
	ret = do_splice(in, (loff_t *)a[1], out, (loff_t *)a[3], MIN(a[4], MAX_RW_COUNT),
			(u32)a[5]);
	put_both(in, out);
	return ret;
}

long sys_tee(const u64 a[6])
{
	struct file *in, *out;
	struct pipe *from, *to;
	bool nonblock;
	ssize_t ret;

	if (a[3] & ~(u64)SPLICE_F_ALL)
		return -EINVAL;
	if (!a[2])
		return 0;
	ret = get_both((int)a[0], (int)a[1], &in, &out);
	if (ret)
		return ret;
	from = file_pipe(in);
	to = file_pipe(out);
	nonblock = (a[3] & SPLICE_F_NONBLOCK) || ((in->flags | out->flags) & O_NONBLOCK);
	if (!from || !to || from == to)
		ret = -EINVAL;
	else
		ret = pipe_to_pipe(from, to, MIN(a[2], MAX_RW_COUNT), nonblock, true);
	put_both(in, out);
	return ret;
}

/* User pages are copied, which the caller cannot tell from their being mapped. */
long sys_vmsplice(const u64 a[6])
{
	const u64 b[6] = {a[0], a[1], a[2], 0, 0, 0};
	struct file *f;
	bool is_pipe, writes;

	if (a[3] & ~(u64)SPLICE_F_ALL)
		return -EINVAL;
	f = fd_get((int)a[0]);
	if (!f)
		return -EBADF;
	is_pipe = file_pipe(f) != NULL;
	writes = file_can_write(f);
	file_put(f);
	if (!is_pipe)
		return -EBADF;
	return writes ? sys_writev(b) : sys_readv(b);
}
