/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pipes and FIFOs (pipe(7), fifo(7)).
 *
 * A pipe is a ring of bytes in pages that are allocated when they are first
 * written; when the ring runs empty it starts again at the first page and gives
 * the others back. Who sleeps is woken exactly when it can go on: a reader when
 * the ring stops being empty, a writer when there is room for PIPE_BUF bytes
 * again; one at a time, and who leaves wakes the next if there is more to do.
 */
#include "fs/pipe.h"
#include "sys/syscall.h"
#include <asm/ioctls.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/poll.h>

#define PIPEFS_SUPER_MAGIC 0x50495045
#define PIPE_MAX_SIZE	   (1u << 20) /* for users without CAP_SYS_RESOURCE, as Linux's default */

static struct super pipefs = {.type = "pipefs", .magic = PIPEFS_SUPER_MAGIC};

static struct pipe *pipe_new(void)
{
	struct pipe *p = kzalloc(sizeof(*p));

	if (!p)
		return NULL;
	p->cap = PIPE_DEFAULT_PAGES * PAGE_SIZE;
	p->page = kzalloc(PIPE_DEFAULT_PAGES * sizeof(*p->page));
	if (!p->page) {
		kfree(p);
		return NULL;
	}
	p->r_counter = p->w_counter = 1;
	return p;
}

static void free_page_at(struct pipe *p, u32 i)
{
	if (!p->page[i])
		return;
	page_put(phys_to_page(virt_to_phys(p->page[i])));
	p->page[i] = NULL;
}

static void pipe_free(struct pipe *p)
{
	for (u32 i = 0; i < p->cap / PAGE_SIZE; i++)
		free_page_at(p, i);
	kfree(p->page);
	kfree(p);
}

struct pipe *file_pipe(const struct file *f)
{
	return f->ops == &fifo_ops ? f->priv : NULL;
}

/* ---- waking ---- */

static inline void wake_readers(struct pipe *p, bool was_empty)
{
	if (was_empty && p->rd.head)
		wake_up_n(&p->rd, 1);
	if (p->poll.head)
		wake_up(&p->poll);
}

static inline void wake_writers(struct pipe *p, bool was_full)
{
	if (was_full && pipe_space(p) >= PIPE_BUF) {
		if (p->wr.head)
			wake_up_n(&p->wr, 1);
		if (p->poll.head)
			wake_up(&p->poll);
	}
}

/* A reader (writer) leaves: if there is more to read (room to write), the next one may. */
static inline void pass_on_read(struct pipe *p)
{
	if (p->rd.head && p->len)
		wake_up_n(&p->rd, 1);
}

static inline void pass_on_write(struct pipe *p)
{
	if (p->wr.head && pipe_space(p) >= PIPE_BUF)
		wake_up_n(&p->wr, 1);
}

/* ---- the ring; p->lock held ---- */

/* Data was read: n bytes off the front. */
static void ring_take(struct pipe *p, u32 n)
{
	bool was_full = pipe_space(p) < PIPE_BUF;

	p->len -= n;
	p->start += n;
	if (!p->len) {
		/* all beyond the first page goes back; data that ran over a page's end used more than one */
		for (u32 i = 1; p->start > PAGE_SIZE && i < p->cap / PAGE_SIZE; i++)
			free_page_at(p, i);
		p->start = 0;
	} else if (p->start >= p->cap) {
		p->start -= p->cap;
	}
	wake_writers(p, was_full);
}

static ssize_t ring_read(struct pipe *p, void *buf, u32 n)
{
	u32 done = 0;

	n = MIN(n, p->len);
	while (done < n) {
		u32 at = p->start + done, off, part;

		if (at >= p->cap)
			at -= p->cap;
		off = at & (PAGE_SIZE - 1);
		part = MIN(n - done, (u32)PAGE_SIZE - off);
		if (io_copy_out((u8 *)buf + done, p->page[at >> PAGE_SHIFT] + off, part))
			break;
		done += part;
	}
	if (!done && n)
		return -EFAULT;
	ring_take(p, done);
	return done;
}

/* Appends up to n bytes, as room allows. Bytes or -errno when it was none. */
static ssize_t ring_write(struct pipe *p, const void *buf, u32 n)
{
	bool was_empty = !p->len;
	u32 done = 0;
	int err = 0;

	n = MIN(n, pipe_space(p));
	while (done < n) {
		u32 at = p->start + p->len + done, off, part;
		u8 **page;

		if (at >= p->cap)
			at -= p->cap;
		off = at & (PAGE_SIZE - 1);
		part = MIN(n - done, (u32)PAGE_SIZE - off);
		page = &p->page[at >> PAGE_SHIFT];
		if (unlikely(!*page)) {
			struct page *pg = page_alloc(0);

			if (!pg) {
				err = -ENOMEM;
				break;
			}
			*page = page_addr(pg);
		}
		if (io_copy_in(*page + off, (const u8 *)buf + done, part)) {
			err = -EFAULT;
			break;
		}
		done += part;
	}
	if (!done)
		return err;
	p->len += done;
	wake_readers(p, was_empty);
	return done;
}

/* ---- reading and writing ---- */

int pipe_wait_data(struct pipe *p, bool nonblock)
{
	while (!p->len) {
		int err;

		if (!p->writers)
			return 0;
		if (nonblock)
			return -EAGAIN;
		err = wait_event_interruptible(&p->rd, p->len || !p->writers);
		if (err) {
			pass_on_read(p);
			return err;
		}
	}
	return 1;
}

static int broken(void)
{
	siginfo_t si = {.si_signo = SIGPIPE, .si_code = SI_USER};

	si.si_pid = current->proc ? current->proc->pid : 0;
	si.si_uid = current->cred.uid;
	send_signal_task(current, SIGPIPE, &si);
	return -EPIPE;
}

int pipe_wait_space(struct pipe *p, bool nonblock)
{
	for (;;) {
		int err;

		if (!p->readers)
			return broken();
		if (pipe_space(p) >= PIPE_BUF)
			return 0;
		if (nonblock)
			return -EAGAIN;
		err = wait_event_interruptible(&p->wr, pipe_space(p) >= PIPE_BUF || !p->readers);
		if (err) {
			pass_on_write(p);
			return err;
		}
	}
}

static ssize_t pipe_read(struct file *f, void *buf, size_t n, loff_t *pos)
{
	struct pipe *p = f->priv;
	ssize_t ret;

	(void)pos;
	if (unlikely(!n))
		return 0;
	do {
		mutex_lock(&p->lock);
		if (likely(p->len)) {
			ret = ring_read(p, buf, (u32)n);
			mutex_unlock(&p->lock);
			pass_on_read(p);
			return ret;
		}
		mutex_unlock(&p->lock);
		ret = pipe_wait_data(p, f->flags & O_NONBLOCK);
	} while (ret > 0);
	return ret;
}

static ssize_t pipe_write(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	struct pipe *p = f->priv;
	size_t done = 0;
	ssize_t ret = 0;

	(void)pos;
	if (unlikely(!n))
		return 0;
	while (done < n) {
		if (unlikely(!p->readers)) {
			ret = broken();
			break;
		}
		mutex_lock(&p->lock);
		/* a write up to PIPE_BUF goes in whole or waits */
		if (pipe_space(p) >= MIN(n - done, n <= PIPE_BUF ? PIPE_BUF : 1)) {
			ret = ring_write(p, (const u8 *)buf + done, (u32)(n - done));
			mutex_unlock(&p->lock);
			if (ret < 0)
				break;
			done += (size_t)ret;
			continue;
		}
		mutex_unlock(&p->lock);
		ret = pipe_wait_space(p, f->flags & O_NONBLOCK);
		if (ret < 0)
			break;
	}
	pass_on_write(p);
	return done ? (ssize_t)done : ret;
}

static u32 pipe_poll(struct file *f, struct poll_table *pt)
{
	struct pipe *p = f->priv;
	u32 mask = 0;

	poll_wait(f, &p->poll, pt);
	if (file_can_read(f)) {
		if (p->len)
			mask |= POLLIN | POLLRDNORM;
		/* a FIFO that nobody has opened for writing yet is not hung up */
		if (!p->writers && (u32)f->pos != p->w_counter)
			mask |= POLLHUP;
	}
	if (file_can_write(f)) {
		if (pipe_space(p) >= PIPE_BUF)
			mask |= POLLOUT | POLLWRNORM;
		if (!p->readers)
			mask |= POLLERR;
	}
	return mask;
}

static long pipe_ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	struct pipe *p = f->priv;

	if (cmd != FIONREAD)
		return -ENOTTY;
	return put_user((int)p->len, (int *)arg);
}

/* ---- opening and closing ---- */

/* Gives back what an open file (or an open that failed) had of the pipe. */
static void leave(struct inode *ino, struct pipe *p, u32 flags)
{
	u32 acc = flags & O_ACCMODE;

	if (acc != O_WRONLY && !--p->readers) {
		wake_up(&p->wr);
		wake_up(&p->poll);
	}
	if (acc != O_RDONLY && !--p->writers) {
		wake_up(&p->rd);
		wake_up(&p->poll);
	}
	if (--p->files)
		return;
	ino->pipe = NULL;
	pipe_free(p);
}

static void pipe_release(struct file *f)
{
	leave(f->inode, f->priv, f->flags);
}

static void enter(struct pipe *p, u32 flags)
{
	u32 acc = flags & O_ACCMODE;

	p->files++;
	if (acc != O_WRONLY) {
		p->r_counter++;
		if (!p->readers++)
			wake_up(&p->wr);
	}
	if (acc != O_RDONLY) {
		p->w_counter++;
		if (!p->writers++)
			wake_up(&p->rd);
	}
}

static int fifo_open(struct inode *ino, struct file *f)
{
	struct pipe *p = ino->pipe;
	u32 acc = f->flags & O_ACCMODE, seen;
	int err = 0;

	if (acc == O_WRONLY && (f->flags & O_NONBLOCK) && ino->sb != &pipefs && !(p && p->readers))
		return -ENXIO;
	if (!p) {
		p = ino->pipe = pipe_new();
		if (!p)
			return -ENOMEM;
	}
	enter(p, f->flags);
	f->priv = p;
	/* pipe(2)'s, opened again through /proc/PID/fd: nobody waits for the other end */
	if (ino->sb == &pipefs)
		return 0;
	if (acc == O_RDONLY && !p->writers) {
		seen = p->w_counter;
		if (f->flags & O_NONBLOCK)
			f->pos = seen; /* no POLLHUP until a writer has come and gone */
		else
			err = wait_event_interruptible(&p->rd, p->w_counter != seen);
	} else if (acc == O_WRONLY && !p->readers) {
		seen = p->r_counter;
		err = wait_event_interruptible(&p->wr, p->r_counter != seen);
	}
	if (err)
		leave(ino, p, f->flags);
	return err;
}

const struct file_ops fifo_ops = {
	.open = fifo_open,
	.release = pipe_release,
	.read = pipe_read,
	.write = pipe_write,
	.poll = pipe_poll,
	.ioctl = pipe_ioctl,
	.kernel_buf = true,
};

static struct inode *pipe_inode(void)
{
	struct inode *ino;

	if (!pipefs.dev)
		pipefs.dev = anon_dev();
	ino = inode_new(&pipefs, S_IFIFO | 0600);
	if (!ino)
		return NULL;
	ino->uid = current->cred.fsuid;
	ino->gid = current->cred.fsgid;
	ino->fops = &fifo_ops;
	ino->pipe = pipe_new();
	if (ino->pipe)
		return ino;
	inode_put(ino);
	return NULL;
}

/* Both ends, each with one reference. */
static int pipe_files(u32 flags, struct file *end[2])
{
	struct inode *ino = pipe_inode();
	struct dentry *d;

	if (!ino)
		return -ENOMEM;
	d = dentry_alone(ino->sb, "", ino);
	if (!d) {
		pipe_free(ino->pipe);
		ino->pipe = NULL;
		inode_put(ino);
		return -ENOMEM;
	}
	dentry_get(d);
	end[0] = file_alloc(d, &fifo_ops, O_RDONLY | flags);
	end[1] = file_alloc(d, &fifo_ops, O_WRONLY | flags);
	if (end[0] && end[1]) {
		for (int i = 0; i < 2; i++) {
			end[i]->priv = ino->pipe;
			enter(ino->pipe, end[i]->flags);
		}
		return 0;
	}
	/* the pipe goes first: without an open end nothing else would free it */
	pipe_free(ino->pipe);
	ino->pipe = NULL;
	for (int i = 0; i < 2; i++) {
		if (!end[i])
			continue;
		dentry_put(end[i]->dentry);
		kfree(end[i]);
	}
	return -ENOMEM;
}

long sys_pipe2(const u64 a[6])
{
	u32 flags = (u32)a[1];
	struct file *end[2];
	int fd[2], err;

	/* packet mode (O_DIRECT) is not there */
	if (flags & ~(u32)(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	err = pipe_files(flags & O_NONBLOCK, end);
	if (err)
		return err;
	fd[0] = fd_install_new(end[0], flags & O_CLOEXEC);
	if (fd[0] < 0) {
		file_put(end[1]);
		return fd[0];
	}
	fd[1] = fd_install_new(end[1], flags & O_CLOEXEC);
	err = fd[1] < 0 ? fd[1] : copy_to_user((void *)a[0], fd, sizeof(fd));
	if (err) {
		fd_close(fd[0]);
		if (fd[1] >= 0)
			fd_close(fd[1]);
	}
	return err;
}

/* ---- F_SETPIPE_SZ, splice ---- */

/* Copies the data into a ring of another size; p->lock held. */
static int ring_resize(struct pipe *p, u32 cap)
{
	struct pipe n = *p;

	if (cap < p->len)
		return -EBUSY;
	n.page = kzalloc(cap / PAGE_SIZE * sizeof(*n.page));
	if (!n.page)
		return -ENOMEM;
	n.cap = cap;
	n.start = 0;
	for (u32 at = 0; at < p->len; at += PAGE_SIZE) {
		struct page *pg = page_alloc(0);

		if (!pg) {
			for (u32 i = 0; i < cap / PAGE_SIZE; i++)
				free_page_at(&n, i);
			kfree(n.page);
			return -ENOMEM;
		}
		n.page[at >> PAGE_SHIFT] = page_addr(pg);
		pipe_peek(p, page_addr(pg), at, PAGE_SIZE);
	}
	for (u32 i = 0; i < p->cap / PAGE_SIZE; i++)
		free_page_at(p, i);
	kfree(p->page);
	p->page = n.page;
	p->cap = n.cap;
	p->start = 0;
	return 0;
}

long pipe_set_size(struct pipe *p, u64 size)
{
	u32 cap = PAGE_SIZE;
	int err;

	if (size > 1u << 31)
		return -EINVAL;
	while (cap < size)
		cap *= 2;
	if (cap > p->cap && cap > PIPE_MAX_SIZE && !fs_capable(CAP_SYS_RESOURCE))
		return -EPERM;
	mutex_lock(&p->lock);
	err = ring_resize(p, cap);
	mutex_unlock(&p->lock);
	if (err)
		return err;
	wake_up(&p->wr);
	wake_up(&p->poll);
	return cap;
}

u32 pipe_peek(const struct pipe *p, void *buf, u32 skip, u32 n)
{
	u32 done = 0;

	n = skip < p->len ? MIN(n, p->len - skip) : 0;
	while (done < n) {
		u32 at = p->start + skip + done, off, part;

		if (at >= p->cap)
			at -= p->cap;
		off = at & (PAGE_SIZE - 1);
		part = MIN(n - done, (u32)PAGE_SIZE - off);
		memcpy((u8 *)buf + done, p->page[at >> PAGE_SHIFT] + off, part);
		done += part;
	}
	return n;
}

void pipe_take(struct pipe *p, u32 n)
{
	if (n)
		ring_take(p, n);
}

ssize_t pipe_put(struct pipe *p, const void *buf, u32 n)
{
	return ring_write(p, buf, n);
}
