/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtio over MMIO (virtio 1.1, 4.2: the modern transport) with split queues
 * (2.6). Each request is one descriptor.
 *
 * A queue belongs to process context with the big lock held. An interrupt
 * handler may only call virtio_ack() and virtq_has_used().
 */
#ifndef TALLY_DEV_VIRTIO_H
#define TALLY_DEV_VIRTIO_H

#include "lib/kernel.h"
#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>

struct virtio_dev {
	volatile void *base;
	int intid;
};

#define VIRTQ_MAX 64

struct virtq {
	struct virtio_dev *dev;
	unsigned index;
	unsigned size;
	struct vring_desc *desc;
	struct vring_avail *avail;
	struct vring_used *used;
	u16 last_used;	  /* what virtq_get() has taken */
	u16 free[VIRTQ_MAX]; /* descriptors not in use */
	unsigned nr_free;
	void *token[VIRTQ_MAX];
};

/* The n-th device of this type (linux/virtio_ids.h), reset and acknowledged. False: there is none. */
bool virtio_find(u32 device_id, unsigned n, struct virtio_dev *dev);
/* Takes what the device offers of `wanted` into *got. -ENODEV: the device refuses, or is not a modern one. */
int virtio_negotiate(struct virtio_dev *dev, u64 wanted, u64 *got);
/* Makes queue number `index` ready to use. -ENOENT: the device has no such queue; -ENOMEM. */
int virtq_init(struct virtio_dev *dev, unsigned index, struct virtq *q);
void virtio_ready(struct virtio_dev *dev);
u32 virtio_config32(struct virtio_dev *dev, unsigned offset);
/* A read that begins within the device's configuration must also end there. */
u8 virtio_config8(struct virtio_dev *dev, unsigned offset);
/* Takes back the interrupt. Any context. */
void virtio_ack(struct virtio_dev *dev);

/*
 * Hands a buffer of physically contiguous memory to the device; `token` comes
 * back from virtq_get(). -ENOSPC when all descriptors are in use.
 */
int virtq_add(struct virtq *q, void *buf, u32 len, bool device_writes, void *token);
/* A chain of two: the device reads `out` and writes `in`. virtq_get() tells how much it wrote. */
int virtq_add_pair(struct virtq *q, void *out, u32 out_len, void *in, u32 in_len, void *token);
void virtq_notify(struct virtq *q);
/* A buffer that the device has finished with, or NULL. *len: bytes it wrote. */
void *virtq_get(struct virtq *q, u32 *len);
bool virtq_has_used(const struct virtq *q);
/* Whether the device should interrupt when it has finished with a buffer. Look at virtq_has_used() after turning it on. */
void virtq_interrupt(struct virtq *q, bool on);

#endif
