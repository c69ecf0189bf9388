/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pseudo terminals (pty(7)): /dev/ptmx makes a pair; its slave side is the
 * terminal /dev/pts/N, for which the master side plays the line.
 *
 * A pair lives until both sides are closed. When the master closes, the slave
 * is hung up and loses its name; when the last slave closes, the master reads
 * what is left and then gets EIO until a slave is opened again.
 */
#include "dev/dev.h"
#include "dev/tty.h"
#include "fs/fs.h"
#include "mm/page.h"
#include "proc/task.h"
#include <asm/poll.h>
#include <linux/major.h>

#define RING_ORDER	2u
#define RING_SIZE	((u32)PAGE_SIZE << RING_ORDER)
#define MAX_PTYS	256u

struct pty {
	struct tty slave;
	unsigned index;
	bool locked;
	bool master_open;
	bool slave_was_open;
	u32 slave_opens;
	bool packet_mode;
	u8 packet_event;
	u8 *ring; /* what the slave wrote; indices run freely */
	u32 head, tail;
	struct waitq master_wait; /* for reading and for writing */
};

static struct pty *ptys[MAX_PTYS];

/* ---- the slave's driver ---- */

static size_t pty_line_write(struct tty *t, const void *buf, size_t n)
{
	struct pty *p = t->drv_priv;
	const u8 *src = buf;
	u32 room = RING_SIZE - (p->head - p->tail);

	if (!p->master_open)
		return n; /* nobody listens: gone, like what is sent down a dead line */
	n = MIN(n, room);
	for (size_t done = 0; done < n;) {
		u32 at = p->head % RING_SIZE;
		u32 len = (u32)MIN(n - done, RING_SIZE - at);

		memcpy(p->ring + at, src + done, len);
		p->head += len;
		done += len;
	}
	if (n)
		wake_up(&p->master_wait);
	return n;
}

static bool pty_line_can_write(struct tty *t)
{
	struct pty *p = t->drv_priv;

	return !p->master_open || p->head - p->tail < RING_SIZE;
}

static void pty_line_unthrottle(struct tty *t)
{
	wake_up(&((struct pty *)t->drv_priv)->master_wait);
}

/* What the master has not read has still arrived, for tcdrain(3) on a pty, as on Linux. */
static size_t pty_line_pending(struct tty *t)
{
	(void)t;
	return 0;
}

static void pty_line_packet(struct tty *t, u8 event)
{
	struct pty *p = t->drv_priv;

	if (!p->packet_mode)
		return;
	if (event & (TIOCPKT_STOP | TIOCPKT_START))
		p->packet_event &= (u8) ~(TIOCPKT_STOP | TIOCPKT_START);
	p->packet_event |= event;
	wake_up(&p->master_wait);
}

static void pty_line_flush(struct tty *t)
{
	struct pty *p = t->drv_priv;

	p->tail = p->head;
}

static const struct tty_driver pty_driver = {
	.write = pty_line_write,
	.can_write = pty_line_can_write,
	.unthrottle = pty_line_unthrottle,
	.pending = pty_line_pending,
	.packet = pty_line_packet,
	.flush = pty_line_flush,
};

/* ---- life ---- */

static void pty_name(const struct pty *p, char *name, size_t size)
{
	snprintf(name, size, "pts/%u", p->index);
}

/* Both sides are closed. */
static void pty_free(struct pty *p)
{
	ptys[p->index] = NULL;
	tty_destroy(&p->slave);
	if (p->ring)
		page_put(phys_to_page(virt_to_phys(p->ring)));
	kfree(p);
}

static int slave_open(struct inode *ino, struct file *f)
{
	return pty_open_slave(ino->priv, f);
}

static void slave_release(struct file *f)
{
	struct pty *p = ((struct tty_file *)f->priv)->tty->drv_priv;

	tty_file_ops.release(f);
	if (--p->slave_opens)
		return;
	wake_up(&p->master_wait);
	if (!p->master_open)
		pty_free(p);
}

static struct file_ops slave_ops; /* tty_file_ops with the two above */

int pty_open_slave(struct tty *t, struct file *f)
{
	struct pty *p = t->drv_priv;
	int err;

	if (!p->master_open || p->locked)
		return -EIO;
	err = tty_open_file(t, f);
	if (err)
		return err;
	f->ops = &slave_ops;
	p->slave_opens++;
	p->slave_was_open = true;
	wake_up(&p->master_wait);
	return 0;
}

static struct pty *pty_create(void)
{
	struct page *ring = page_alloc(RING_ORDER);
	struct pty *p = kzalloc(sizeof(*p));
	unsigned i = 0;

	while (i < MAX_PTYS && ptys[i])
		i++;
	if (!p || !ring || i == MAX_PTYS ||
	    tty_setup(&p->slave, &pty_driver, p, MKDEV(UNIX98_PTY_SLAVE_MAJOR, i))) {
		if (ring)
			page_put(ring);
		kfree(p);
		return NULL;
	}
	p->ring = page_addr(ring);
	p->index = i;
	p->locked = true;
	p->master_open = true;
	p->slave.is_pty = true;
	ptys[i] = p;
	return p;
}

static int master_open(struct inode *ino, struct file *f)
{
	struct pty *p = pty_create();
	char name[16];
	int err;

	(void)ino;
	if (!p)
		return -ENOSPC;
	pty_name(p, name, sizeof(name));
	strscpy(p->slave.name, name, sizeof(p->slave.name));
	err = devfs_add(name, 0620, p->slave.rdev, &slave_ops, &p->slave);
	if (err) {
		pty_free(p);
		return err;
	}
	devfs_set_owner(name, current->cred.fsuid);
	f->priv = p;
	return 0;
}

static void master_release(struct file *f)
{
	struct pty *p = f->priv;
	char name[16];

	pty_name(p, name, sizeof(name));
	devfs_remove(name);
	p->master_open = false;
	tty_hangup(&p->slave);
	if (p->slave_opens == 0)
		pty_free(p);
}

/* ---- the master's file ---- */

static bool slave_closed(const struct pty *p)
{
	return p->slave_was_open && p->slave_opens == 0;
}

static bool master_readable(const struct pty *p)
{
	return p->head != p->tail || (p->packet_mode && p->packet_event);
}

static ssize_t ring_read(struct pty *p, char *ubuf, size_t n)
{
	size_t done = 0;

	while (done < n && p->head != p->tail) {
		u32 at = p->tail % RING_SIZE;
		u32 len = MIN(p->head - p->tail, RING_SIZE - at);

		len = (u32)MIN(len, n - done);
		if (io_copy_out(ubuf + done, p->ring + at, len))
			return done ? (ssize_t)done : -EFAULT;
		p->tail += len;
		done += len;
	}
	tty_write_wakeup(&p->slave);
	return (ssize_t)done;
}

static ssize_t master_read(struct file *f, void *ubuf, size_t n, loff_t *pos)
{
	struct pty *p = f->priv;
	u8 event = 0;
	ssize_t r;
	int err;

	(void)pos;
	if (!n)
		return 0;
	if (!master_readable(p)) {
		if (slave_closed(p))
			return -EIO;
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(&p->master_wait,
					       master_readable(p) || slave_closed(p));
		if (err)
			return err;
		if (!master_readable(p))
			return -EIO;
	}
	if (!p->packet_mode)
		return ring_read(p, ubuf, n);
	if (p->packet_event) {
		event = p->packet_event;
		p->packet_event = 0;
		return io_copy_out(ubuf, &event, 1) ? -EFAULT : 1;
	}
	if (io_copy_out(ubuf, &event, 1))
		return -EFAULT;
	r = ring_read(p, (char *)ubuf + 1, n - 1);
	return r < 0 ? r : r + 1;
}

/* Typing: waits while the slave's input is full, as nothing may be lost. */
static ssize_t master_write(struct file *f, const void *ubuf, size_t n, loff_t *pos)
{
	struct pty *p = f->priv;
	size_t done = 0;
	u8 chunk[256];
	int err = 0;

	(void)pos;
	while (done < n) {
		size_t len = MIN(n - done, sizeof(chunk)), took;

		if (io_copy_in(chunk, (const char *)ubuf + done, len)) {
			err = -EFAULT;
			break;
		}
		took = slave_closed(p) ? len : tty_receive(&p->slave, chunk, len);
		done += took;
		if (took == len)
			continue;
		if (f->flags & O_NONBLOCK) {
			err = -EAGAIN;
			break;
		}
		err = wait_event_interruptible(&p->master_wait,
					       !p->slave.throttled || slave_closed(p));
		if (err)
			break;
	}
	return done ? (ssize_t)done : err;
}

static u32 master_poll(struct file *f, struct poll_table *pt)
{
	struct pty *p = f->priv;
	u32 mask = 0;

	poll_wait(f, &p->master_wait, pt);
	if (master_readable(p))
		mask |= POLLIN | POLLRDNORM;
	if (p->packet_mode && p->packet_event)
		mask |= POLLPRI;
	if (slave_closed(p))
		mask |= POLLHUP;
	if (!p->slave.throttled)
		mask |= POLLOUT | POLLWRNORM;
	return mask;
}

/* TIOCGPTPEER: the slave without a walk through /dev. */
static long open_peer(struct pty *p, unsigned flags)
{
	char path[24];
	struct file *f;
	int fd, err;

	snprintf(path, sizeof(path), "/dev/pts/%u", p->index);
	err = open_path(AT_FDCWD, path, (flags & ~(u32)O_CREAT) | O_NOCTTY, 0, &f);
	if (err)
		return err;
	fd = fd_alloc(f, 0, flags & O_CLOEXEC);
	if (fd < 0)
		file_put(f);
	return fd;
}

static long set_packet_mode(struct pty *p, const void *u)
{
	int on;

	if (get_user(on, u))
		return -EFAULT;
	p->packet_mode = on;
	p->packet_event = 0;
	return 0;
}

static long set_lock(struct pty *p, const void *u)
{
	int on;

	if (get_user(on, u))
		return -EFAULT;
	p->locked = on;
	return 0;
}

static long master_ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	struct pty *p = f->priv;
	void *u = (void *)arg;
	long r;

	switch (cmd) {
	case TIOCGPTN:
		return put_user(p->index, (unsigned *)u);
	case TIOCSPTLCK:
		return set_lock(p, u);
	case TIOCGPTLCK:
		return put_user((int)p->locked, (int *)u);
	case TIOCGPTPEER:
		return open_peer(p, (unsigned)arg);
	case TIOCPKT:
		return set_packet_mode(p, u);
	case TIOCGPKT:
		return put_user((int)p->packet_mode, (int *)u);
	case TIOCSIG:
		if (arg != SIGINT && arg != SIGQUIT && arg != SIGTSTP)
			return -EINVAL;
		tty_signal_foreground(&p->slave, (int)arg);
		return 0;
	case FIONREAD:
		return put_user((int)(p->head - p->tail), (int *)u);
	case TIOCOUTQ:
		return put_user((int)tty_input_len(&p->slave), (int *)u);
	case TCFLSH:
		/* the master's output is the slave's input */
		if (arg == TCIFLUSH || arg == TCIOFLUSH)
			tty_flush_output(&p->slave);
		if (arg == TCOFLUSH || arg == TCIOFLUSH)
			tty_flush_input(&p->slave);
		return arg > TCIOFLUSH ? -EINVAL : 0;
	}
	r = tty_mode_ioctl(&p->slave, f, cmd, arg);
	if (r == -ENOIOCTLCMD)
		r = tty_job_ioctl(&p->slave, true, cmd, arg);
	return r == -ENOIOCTLCMD ? -ENOTTY : r;
}

static const struct file_ops master_ops = {
	.open = master_open,
	.release = master_release,
	.read = master_read,
	.write = master_write,
	.poll = master_poll,
	.ioctl = master_ioctl,
	.llseek = tty_llseek,
	.kernel_buf = true,
};

void pty_init(void)
{
	slave_ops = tty_file_ops;
	slave_ops.open = slave_open;
	slave_ops.release = slave_release;
	if (devfs_add("ptmx", 0666, MKDEV(TTYAUX_MAJOR, 2), &master_ops, NULL) ||
	    devfs_mkdir("pts", 0755))
		panic("no memory for /dev/ptmx");
}
