/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtio console, multiport (virtio 1.1, 5.3): the channels to the host.
 * A console port, or a port with the name "tty", is the terminal /dev/hvc0; any
 * other port N is the byte stream /dev/vport0pN. (QEMU's console ports drop
 * what the host cannot take at once; a port that is only named so does not.)
 *
 * Output: at most one buffer per port is on its way. The device nearly always
 * takes it inside the notification, so that a write neither sleeps nor sees an
 * interrupt; when the host cannot keep up, the writer sleeps until the buffer
 * is used. Input: the device fills buffers, and gets one back only when all
 * of it has been read, so nothing is ever dropped. A port that the host has closed
 * reads as end of file once it is empty.
 *
 * The interrupt handler only acknowledges and wakes; all queue work is done in
 * process context with the big lock held.
 */
#include "arch/aarch64/cpu.h"
#include "dev/dev.h"
#include "dev/tty.h"
#include "dev/virtio.h"
#include "dev/virtio_console.h"
#include "fs/fs.h"
#include "fs/pseudo.h"
#include "mm/page.h"
#include "proc/task.h"
#include "proc/work.h"
#include <asm/poll.h>
#include <linux/virtio_console.h>
#include <linux/virtio_ids.h>

#define MAX_PORTS     31u
#define TX_ORDER      4u
#define TX_SIZE	      (PAGE_SIZE << TX_ORDER)
#define RX_BUFFERS    16u
#define CTRL_BUFFERS  32u
#define CTRL_SIZE     128u
#define VPORT_MAJOR   250u /* as Linux's, of the dynamic range */
#define HVC_MAJOR     229u
#define NAME_MAX_LEN  64u

struct vport {
	unsigned id;
	bool added, is_console, host_open;
	u32 opens;
	struct virtq rx, tx;
	struct waitq read_wait, write_wait;
	struct mutex read_lock, write_lock;
	u8 *rx_buf; /* being read, and how far */
	u32 rx_len, rx_off;
	u8 *tx_buf;
	bool tx_busy; /* tx_buf belongs to the device */
	u32 tx_len;
	char name[NAME_MAX_LEN];
	struct tty tty;
};

static struct {
	struct virtio_dev dev;
	bool present;
	struct virtq ctrl_rx, ctrl_tx;
	u8 *ctrl_buf; /* one page for each direction */
	struct vport *port[MAX_PORTS];
	unsigned nr_ports;
	struct work work;
} con;

/* ------------------------------------------------------------------ output */

/* Takes the buffer back if the device has finished with it. */
static void tx_reap(struct vport *p)
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
	tx_reap(p);
}

static bool tx_idle(const struct vport *p)
{
	return !p->tx_busy || virtq_has_used(&p->tx);
}

/* Sleeps until the buffer is free and, if asked, the host is there. -ERESTARTSYS. */
static int tx_wait(struct vport *p, bool need_host)
{
	int err;

	virtq_interrupt(&p->tx, true);
	err = wait_event_interruptible(&p->write_wait,
				       tx_idle(p) && (p->host_open || !need_host));
	virtq_interrupt(&p->tx, false);
	tx_reap(p);
	return err;
}

/* One buffer's worth. Bytes, -EAGAIN (nothing done: wait), -EFAULT. */
static ssize_t tx_user_chunk(struct vport *p, const char *ubuf, size_t n)
{
	ssize_t done = -EAGAIN;

	mutex_lock(&p->write_lock);
	tx_reap(p);
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
	if (done && !nonblock && !tx_idle(p))
		(void)tx_wait(p, false);
	return done ? (ssize_t)done : r;
}

void virtio_console_drain(void)
{
	for (unsigned i = 0; i < con.nr_ports; i++) {
		struct vport *p = con.port[i];

		if (!p || !p->added)
			continue;
		if (p->is_console)
			tty_start(&p->tty);
		virtq_interrupt(&p->tx, true);
		wait_event(&p->write_wait,
			   (!p->is_console || tty_push_output(&p->tty)) && tx_idle(p));
		tx_reap(p);
	}
}

/* ------------------------------------------------------------------- input */

static u64 words;

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

static void send_control(unsigned id, u16 event, u16 value);

static int vport_open(struct inode *ino, struct file *f)
{
	struct vport *p = ino->priv;

	(void)f;
	if (p->opens++ == 0)
		send_control(p->id, VIRTIO_CONSOLE_PORT_OPEN, 1);
	return 0;
}

static void vport_release(struct file *f)
{
	struct vport *p = f->inode->priv;

	if (--p->opens == 0)
		send_control(p->id, VIRTIO_CONSOLE_PORT_OPEN, 0);
}

static u32 vport_poll(struct file *f, struct poll_table *pt)
{
	struct vport *p = f->inode->priv;
	u32 mask = 0;

	poll_wait(f, &p->read_wait, pt);
	poll_wait(f, &p->write_wait, pt);
	if (rx_has_data(p) || !p->host_open)
		mask |= POLLIN | POLLRDNORM;
	tx_reap(p);
	if (p->tx_busy)
		virtq_interrupt(&p->tx, true);
	if (p->host_open && tx_idle(p))
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

static const struct file_ops vport_ops = {
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

	tx_reap(p);
	if (p->tx_busy) {
		virtq_interrupt(&p->tx, true);
		tx_reap(p);
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

	if (!tx_idle(p))
		virtq_interrupt(&p->tx, true);
	return tx_idle(p);
}

static size_t hvc_pending(struct tty *tty)
{
	struct vport *p = tty->drv_priv;

	return tx_idle(p) ? 0 : p->tx_len;
}

/* Feeds the line discipline as long as it has room. */
static void hvc_pump(struct tty *tty)
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

static const struct tty_driver hvc_driver = {
	.write = hvc_write,
	.can_write = hvc_can_write,
	.unthrottle = hvc_pump,
	.pending = hvc_pending,
};

/* ----------------------------------------------------------------- control */

/* The device takes control messages inside the notification. */
static void send_control(unsigned id, u16 event, u16 value)
{
	struct virtio_console_control *m = (void *)(con.ctrl_buf + PAGE_SIZE);
	u32 len;

	*m = (struct virtio_console_control){ .id = id, .event = event, .value = value };
	if (virtq_add(&con.ctrl_tx, m, sizeof(*m), false, m))
		panic("virtio console: the control queue has no free descriptor");
	virtq_notify(&con.ctrl_tx);
	while (!virtq_get(&con.ctrl_tx, &len))
		cpu_relax();
}

static int port_alloc_rx(struct vport *p)
{
	for (unsigned i = 0; i < MIN(RX_BUFFERS, p->rx.size); i++) {
		struct page *pg = page_alloc(0);

		if (!pg)
			return -ENOMEM;
		if (virtq_add(&p->rx, page_addr(pg), PAGE_SIZE, true, page_addr(pg)))
			return -ENOSPC;
	}
	virtq_notify(&p->rx);
	return 0;
}

/* All queues exist before the device is set going; buffers come when the port does. */
static int port_create(unsigned id)
{
	struct vport *p = kzalloc(sizeof(*p));
	unsigned first = id == 0 ? 0 : 2 + 2 * id;
	int err;

	if (!p)
		return -ENOMEM;
	p->id = id;
	con.port[id] = p;
	err = virtq_init(&con.dev, first, &p->rx);
	return err ? err : virtq_init(&con.dev, first + 1, &p->tx);
}

static int port_add(struct vport *p)
{
	struct page *pg = page_alloc(TX_ORDER);
	int err = pg ? port_alloc_rx(p) : -ENOMEM;

	if (!err) {
		p->tx_buf = page_addr(pg);
		virtq_interrupt(&p->tx, false);
		p->added = true;
	}
	send_control(p->id, VIRTIO_CONSOLE_PORT_READY, !err);
	return err;
}

static void port_make_stream(struct vport *p)
{
	char name[16];

	snprintf(name, sizeof(name), "vport0p%u", p->id);
	if (devfs_add(name, 0600, MKDEV(VPORT_MAJOR, p->id), &vport_ops, p))
		printk("virtio console: no memory for /dev/%s\n", name);
}

static void port_make_console(struct vport *p)
{
	static unsigned consoles;
	char name[16];

	if (p->is_console)
		return;
	snprintf(name, sizeof(name), "hvc%u", consoles);
	if (tty_setup(&p->tty, &hvc_driver, p, MKDEV(HVC_MAJOR, consoles)) ||
	    devfs_add(name, 0600, p->tty.rdev, &tty_file_ops, &p->tty)) {
		printk("virtio console: no memory for /dev/%s\n", name);
		return;
	}
	strscpy(p->tty.name, name, sizeof(p->tty.name));
	p->is_console = true;
	consoles++;
	send_control(p->id, VIRTIO_CONSOLE_PORT_OPEN, 1);
}

static void port_named(struct vport *p, const u8 *name, u32 len)
{
	char dir[48];

	len = MIN(len, NAME_MAX_LEN - 2);
	len = (u32)strnlen((const char *)name, len);
	memcpy(p->name, name, len);
	p->name[len] = '\n';
	if (len == 3 && !memcmp(name, "tty", 3))
		port_make_console(p);
	snprintf(dir, sizeof(dir), "class/virtio-ports/vport0p%u/name", p->id);
	if (sysfs_add_blob(dir, p->name, strlen(p->name)))
		printk("virtio console: no memory for /sys/%s\n", dir);
}

static void control_message(const u8 *buf, u32 len)
{
	const struct virtio_console_control *m = (const void *)buf;
	struct vport *p;

	if (len < sizeof(*m) || m->id >= con.nr_ports)
		return;
	p = con.port[m->id];
	if (m->event == VIRTIO_CONSOLE_PORT_ADD) {
		if (!p->added && port_add(p))
			printk("virtio console: no memory for port %u\n", p->id);
		return;
	}
	if (!p->added)
		return;
	switch (m->event) {
	case VIRTIO_CONSOLE_CONSOLE_PORT:
		port_make_console(p);
		break;
	case VIRTIO_CONSOLE_PORT_OPEN:
		p->host_open = m->value;
		wake_up(&p->read_wait);
		wake_up(&p->write_wait);
		break;
	case VIRTIO_CONSOLE_PORT_NAME:
		port_named(p, buf + sizeof(*m), len - (u32)sizeof(*m));
		break;
	case VIRTIO_CONSOLE_RESIZE: {
		struct winsize ws = { 0 };

		if (!p->is_console || len < sizeof(*m) + 4)
			break;
		memcpy(&ws.ws_col, buf + sizeof(*m), 2);
		memcpy(&ws.ws_row, buf + sizeof(*m) + 2, 2);
		tty_set_winsize(&p->tty, &ws);
		break;
	}
	}
}

static void control_receive(void)
{
	u32 len;
	u8 *buf;

	while ((buf = virtq_get(&con.ctrl_rx, &len)) != NULL) {
		control_message(buf, len);
		if (virtq_add(&con.ctrl_rx, buf, CTRL_SIZE, true, buf))
			panic("virtio console: the control queue has no free descriptor");
		virtq_notify(&con.ctrl_rx);
	}
}

/* --------------------------------------------------------------- interrupt */

static void console_work(struct work *w)
{
	(void)w;
	control_receive();
	for (unsigned i = 0; i < con.nr_ports; i++) {
		struct vport *p = con.port[i];

		if (!p->is_console)
			continue;
		hvc_pump(&p->tty);
		tty_write_wakeup(&p->tty);
	}
}

static void console_interrupt(unsigned intid, struct pt_regs *regs, void *arg)
{
	bool need_work = virtq_has_used(&con.ctrl_rx);

	(void)intid;
	(void)regs;
	(void)arg;
	virtio_ack(&con.dev);
	for (unsigned i = 0; i < con.nr_ports; i++) {
		struct vport *p = con.port[i];

		need_work |= p->is_console && (virtq_has_used(&p->rx) || p->tx_busy);
		wake_up(&p->read_wait);
		wake_up(&p->write_wait);
	}
	if (need_work)
		work_queue(&con.work);
}

/* -------------------------------------------------------------- start-up */

static int console_queues(void)
{
	struct page *pg = page_alloc(1);
	int err;

	if (!pg)
		return -ENOMEM;
	con.ctrl_buf = page_addr(pg);
	for (unsigned i = 0; i < con.nr_ports; i++) {
		err = port_create(i);
		if (err)
			return err;
	}
	err = virtq_init(&con.dev, 2, &con.ctrl_rx);
	if (err)
		return err;
	err = virtq_init(&con.dev, 3, &con.ctrl_tx);
	if (err)
		return err;
	virtq_interrupt(&con.ctrl_tx, false);
	return 0;
}

void virtio_console_init(void)
{
	u64 features;
	u32 ports;

	if (!virtio_find(VIRTIO_ID_CONSOLE, 0, &con.dev)) {
		printk("virtio console: no such device, only the kernel log will be seen\n");
		return;
	}
	if (virtio_negotiate(&con.dev, BIT(VIRTIO_CONSOLE_F_MULTIPORT), &features) ||
	    !(features & BIT(VIRTIO_CONSOLE_F_MULTIPORT))) {
		printk("virtio console: the device is not a modern one with several ports\n");
		return;
	}
	ports = virtio_config32(&con.dev,
				offsetof(struct virtio_console_config, max_nr_ports));
	con.nr_ports = MIN(ports, MAX_PORTS);
	if (console_queues())
		panic("virtio console: its queues cannot be set up");
	con.work.fn = console_work;
	irq_register((unsigned)con.dev.intid, console_interrupt, NULL);
	irq_enable_line((unsigned)con.dev.intid);
	virtio_ready(&con.dev);
	for (unsigned i = 0; i < MIN(CTRL_BUFFERS, con.ctrl_rx.size); i++) {
		u8 *buf = con.ctrl_buf + i * CTRL_SIZE;

		if (virtq_add(&con.ctrl_rx, buf, CTRL_SIZE, true, buf))
			break;
	}
	virtq_notify(&con.ctrl_rx);
	send_control(VIRTIO_CONSOLE_BAD_ID, VIRTIO_CONSOLE_DEVICE_READY, 1);
	control_receive();
	for (unsigned i = 0; i < con.nr_ports; i++) {
		struct vport *p = con.port[i];

		if (p->added && !p->is_console)
			port_make_stream(p);
	}
}
