/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a port of the virtio console.
 *
 * Output: at most one buffer per port is on its way. The device nearly always
 * takes it inside the notification, so that a write neither sleeps nor sees an
 * interrupt; when the host cannot keep up, the writer sleeps until the buffer
 * is used. Input: the device fills buffers, and gets one back only when all
 * of it has been read, so nothing is ever dropped. A port that the host has closed
 * reads as end of file once it is empty.
 */
#include "dev/vport.h"
#include "dev/virtio_console.h"
#include "fs/fs.h"
#include "mm/page.h"
#include "proc/task.h"
#include <asm/poll.h>
#include <linux/virtio_console.h>

#define TX_SIZE (PAGE_SIZE << VPORT_TX_ORDER)

/* ------------------------------------------------------------------ output */

void vport_tx_reap(struct vport *p)
{
	u32 len;

	if (p->tx_busy && virtq_get(&p->tx, &len))
		p->tx_busy = false;
}

static void tx_submit(struct vport *p, u32 len)
{
	if (virtq_add(&p->tx, p->tx_buf, len, false, p->tx_buf))
		panic("virtio console: output queue %u has no free descriptor", p->id);
	p->tx_busy = true;
	p->tx_len = len;
	virtq_notify(&p->tx);
	vport_tx_reap(p);
}

bool vport_tx_idle(const struct vport *p)
{
	return !p->tx_busy || virtq_has_used(&p->tx);
}

/* Sleeps until the buffer is free and, if asked, the host is there. -ERESTARTSYS. */
static int tx_wait(struct vport *p, bool need_host)
{
	int err;

	virtq_interrupt(&p->tx, true);
	err = wait_event_interruptible(&p->write_wait,
				       vport_tx_idle(p) && (p->host_open || !need_host));
	virtq_interrupt(&p->tx, false);
	vport_tx_reap(p);
	return err;
}

/* One buffer's worth. Bytes, -EAGAIN (nothing done: wait), -EFAULT. */
static ssize_t tx_user_chunk(struct vport *p, const char *ubuf, size_t n)
{
	ssize_t done = -EAGAIN;

	mutex_lock(&p->write_lock);
	vport_tx_reap(p);
	if (!p->tx_busy && p->host_open) {
		n = MIN(n, TX_SIZE);
		if (io_copy_in(p->tx_buf, ubuf, n)) {
			done = -EFAULT;
		} else {
			tx_submit(p, (u32)n);
			done = (ssize_t)n;
		}
	}
	mutex_unlock(&p->write_lock);
	return done;
}

static ssize_t vport_write(struct file *f, const void *ubuf, size_t n, loff_t *pos)
{
	struct vport *p = f->inode->priv;
	bool nonblock = f->flags & O_NONBLOCK;
	size_t done = 0;
	ssize_t r = 0;

	(void)pos;
	while (done < n) {
		r = tx_user_chunk(p, (const char *)ubuf + done, n - done);
		if (r >= 0) {
			done += (size_t)r;
			continue;
		}
		if (r != -EAGAIN || nonblock)
			break;
		r = tx_wait(p, true);
		if (r)
			break;
	}
	/* A blocking write returns when the host has the bytes, unless a signal wants to be heard. */
	if (done && !nonblock && !vport_tx_idle(p))
		(void)tx_wait(p, false);
	return done ? (ssize_t)done : r;
}

/* ------------------------------------------------------------------- input */

static u64 words; /* big lock */

u64 virtio_console_words(void)
{
	return words;
}

static void rx_give(struct vport *p, u8 *buf)
{
	if (virtq_add(&p->rx, buf, PAGE_SIZE, true, buf))
		panic("virtio console: input queue %u has no free descriptor", p->id);
	virtq_notify(&p->rx);
}

static bool rx_has_data(const struct vport *p)
{
	return p->rx_buf || virtq_has_used(&p->rx);
}

/* What can be read now in one piece; NULL when there is nothing. */
static u8 *rx_peek(struct vport *p, u32 *len)
{
	while (!p->rx_buf) {
		p->rx_buf = virtq_get(&p->rx, &p->rx_len);
		p->rx_off = 0;
		if (!p->rx_buf)
			return NULL;
		words++;
		if (p->rx_len == 0) {
			rx_give(p, p->rx_buf);
			p->rx_buf = NULL;
		}
	}
	*len = p->rx_len - p->rx_off;
	return p->rx_buf + p->rx_off;
}

static void rx_consume(struct vport *p, u32 len)
{
	p->rx_off += len;
	if (p->rx_off == p->rx_len) {
		rx_give(p, p->rx_buf);
		p->rx_buf = NULL;
	}
}

static ssize_t vport_read(struct file *f, void *ubuf, size_t n, loff_t *pos)
{
	struct vport *p = f->inode->priv;
	size_t done = 0;
	ssize_t r = 0;
	u32 len;
	u8 *data;

	(void)pos;
	while (n && !rx_has_data(p)) {
		if (!p->host_open)
			return 0;
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		r = wait_event_interruptible(&p->read_wait, rx_has_data(p) || !p->host_open);
		if (r)
			return r;
	}
	mutex_lock(&p->read_lock);
	while (done < n && (data = rx_peek(p, &len)) != NULL) {
		len = (u32)MIN(len, n - done);
		if (io_copy_out((char *)ubuf + done, data, len)) {
			r = -EFAULT;
			break;
		}
		rx_consume(p, len);
		done += len;
	}
	mutex_unlock(&p->read_lock);
	return done ? (ssize_t)done : r;
}

/* ------------------------------------------------------------------- files */

static int vport_open(struct inode *ino, struct file *f)
{
	struct vport *p = ino->priv;

	(void)f;
	if (p->opens++ == 0)
		vport_send_control(p->id, VIRTIO_CONSOLE_PORT_OPEN, 1);
	return 0;
}

static void vport_release(struct file *f)
{
	struct vport *p = f->inode->priv;

	if (--p->opens == 0)
		vport_send_control(p->id, VIRTIO_CONSOLE_PORT_OPEN, 0);
}

static u32 vport_poll(struct file *f, struct poll_table *pt)
{
	struct vport *p = f->inode->priv;
	u32 mask = 0;

	poll_wait(f, &p->read_wait, pt);
	poll_wait(f, &p->write_wait, pt);
	if (rx_has_data(p) || !p->host_open)
		mask |= POLLIN | POLLRDNORM;
	vport_tx_reap(p);
	if (p->tx_busy)
		virtq_interrupt(&p->tx, true);
	if (p->host_open && vport_tx_idle(p))
		mask |= POLLOUT | POLLWRNORM;
	if (!p->host_open)
		mask |= POLLHUP;
	return mask;
}

static loff_t vport_llseek(struct file *f, loff_t off, int whence)
{
	(void)f;
	(void)off;
	(void)whence;
	return -ESPIPE;
}

const struct file_ops vport_ops = {
	.open = vport_open,
	.release = vport_release,
	.read = vport_read,
	.write = vport_write,
	.poll = vport_poll,
	.llseek = vport_llseek,
	.kernel_buf = true,
};

/* ---------------------------------------------------------------- terminal */

static size_t hvc_write(struct tty *tty, const void *buf, size_t n)
{
	struct vport *p = tty->drv_priv;

	vport_tx_reap(p);
	if (p->tx_busy) {
		virtq_interrupt(&p->tx, true);
		vport_tx_reap(p);
		if (p->tx_busy)
			return 0;
	}
	n = MIN(n, TX_SIZE);
	memcpy(p->tx_buf, buf, n);
	tx_submit(p, (u32)n);
	return n;
}

static bool hvc_can_write(struct tty *tty)
{
	struct vport *p = tty->drv_priv;

	if (!vport_tx_idle(p))
		virtq_interrupt(&p->tx, true);
	return vport_tx_idle(p);
}

static size_t hvc_pending(struct tty *tty)
{
	struct vport *p = tty->drv_priv;

	return vport_tx_idle(p) ? 0 : p->tx_len;
}

void vport_tty_pump(struct tty *tty)
{
	struct vport *p = tty->drv_priv;
	u32 len;
	u8 *data;

	while ((data = rx_peek(p, &len)) != NULL) {
		size_t took = tty_receive(tty, data, len);

		rx_consume(p, (u32)took);
		if (took < len)
			break;
	}
}

const struct tty_driver vport_tty_driver = {
	.write = hvc_write,
	.can_write = hvc_can_write,
	.unthrottle = vport_tty_pump,
	.pending = hvc_pending,
};
