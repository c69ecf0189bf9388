/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtio console, multiport (virtio 1.1, 5.3): the channels to the host.
 * A console port, or a port with the name "tty", is the terminal /dev/hvc0; any
 * other port N is the byte stream /dev/vport0pN. (QEMU's console ports drop
 * what the host cannot take at once; a port that is only named so does not.)
 * This is the device and the life of its ports; vport.c moves the bytes.
 *
 * The interrupt handler only acknowledges and wakes; all queue work is done in
 * process context with the big lock held.
 */
#include "arch/aarch64/cpu.h"
#include "dev/dev.h"
#include "dev/virtio_console.h"
#include "dev/vport.h"
#include "fs/fs.h"
#include "fs/pseudo.h"
#include "mm/page.h"
#include "proc/task.h"
#include "proc/work.h"
#include <linux/virtio_console.h>
#include <linux/virtio_ids.h>

#define MAX_PORTS     31u
#define CTRL_BUFFERS  32u
#define CTRL_SIZE     128u
#define VPORT_MAJOR   250u /* as Linux's, of the dynamic range */
#define HVC_MAJOR     229u

static struct {
	struct virtio_dev dev;
	bool present;
	struct virtq ctrl_rx, ctrl_tx;
	u8 *ctrl_buf; /* one page for each direction */
	struct vport *port[MAX_PORTS];
	unsigned nr_ports;
	struct work work;
} con;

/* ----------------------------------------------------------------- control */

void vport_send_control(unsigned id, u16 event, u16 value)
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
	for (unsigned i = 0; i < MIN(VPORT_RX_BUFFERS, p->rx.size); i++) {
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
	struct page *pg = page_alloc(VPORT_TX_ORDER);
	int err = pg ? port_alloc_rx(p) : -ENOMEM;

	if (!err) {
		p->tx_buf = page_addr(pg);
		virtq_interrupt(&p->tx, false);
		p->added = true;
	}
	vport_send_control(p->id, VIRTIO_CONSOLE_PORT_READY, !err);
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
	if (tty_setup(&p->tty, &vport_tty_driver, p, MKDEV(HVC_MAJOR, consoles)) ||
	    devfs_add(name, 0600, p->tty.rdev, &tty_file_ops, &p->tty)) {
		printk("virtio console: no memory for /dev/%s\n", name);
		return;
	}
	strscpy(p->tty.name, name, sizeof(p->tty.name));
	p->is_console = true;
	consoles++;
	vport_send_control(p->id, VIRTIO_CONSOLE_PORT_OPEN, 1);
}

static void port_named(struct vport *p, const u8 *name, u32 len)
{
	char dir[48];

	len = MIN(len, VPORT_NAME_MAX - 2);
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
		vport_tty_pump(&p->tty);
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

/* ------------------------------------------------------- start-up and end */

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
	vport_send_control(VIRTIO_CONSOLE_BAD_ID, VIRTIO_CONSOLE_DEVICE_READY, 1);
	control_receive();
	for (unsigned i = 0; i < con.nr_ports; i++) {
		struct vport *p = con.port[i];

		if (p->added && !p->is_console)
			port_make_stream(p);
	}
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
			   (!p->is_console || tty_push_output(&p->tty)) && vport_tx_idle(p));
		vport_tx_reap(p);
	}
}
