/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One port of the virtio console: what virtio_console.c, which has the device,
 * and vport.c, which moves the bytes, share. Process context with the big lock
 * held, unless said otherwise.
 */
#ifndef TALLY_DEV_VPORT_H
#define TALLY_DEV_VPORT_H

#include "dev/tty.h"
#include "dev/virtio.h"
#include "fs/vfs.h"

#define VPORT_TX_ORDER	 4u /* of a port's output buffer */
#define VPORT_RX_BUFFERS 16u /* pages */
#define VPORT_NAME_MAX	 64u

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
	char name[VPORT_NAME_MAX];
	struct tty tty;
};

/* Takes the output buffer back if the device has finished with it. */
void vport_tx_reap(struct vport *p);
/* Nothing is on its way to the host. Any context. */
bool vport_tx_idle(const struct vport *p);
/* Of a port that is a byte stream; inode->priv is the port. */
extern const struct file_ops vport_ops;
/* Of a port that is a terminal; drv_priv is the port. */
extern const struct tty_driver vport_tty_driver;
/* Feeds the terminal's line discipline what has come, as long as it has room. */
void vport_tty_pump(struct tty *tty);
/* virtio_console.c: a control message; the device takes it inside the notification. */
void vport_send_control(unsigned id, u16 event, u16 value);

#endif
