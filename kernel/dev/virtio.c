/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtio-mmio transport and split queues: see virtio.h.
 *
 * Rules: a descriptor and its buffer are written before the index that
 * publishes them; a used element is read after the index that covers it; what
 * the device writes into the used ring is checked before it is used as an index.
 */
#include "dev/virtio.h"
#include "dev/dev.h"
#include "mm/page.h"
#include <linux/virtio_mmio.h>

#define VIRTIO_MAGIC	0x74726976u /* "virt" */
#define VIRTIO_MODERN	2u
#define mb()		__asm__ volatile("dmb sy" ::: "memory")

static u32 reg_read(struct virtio_dev *dev, unsigned off)
{
	return mmio_read32((const volatile char *)dev->base + off);
}

static void reg_write(struct virtio_dev *dev, unsigned off, u32 v)
{
	mmio_write32((volatile char *)dev->base + off, v);
}

static void reg_write_pair(struct virtio_dev *dev, unsigned low, u64 v)
{
	reg_write(dev, low, (u32)v);
	reg_write(dev, low + 4, (u32)(v >> 32));
}

static void add_status(struct virtio_dev *dev, u32 bits)
{
	reg_write(dev, VIRTIO_MMIO_STATUS, reg_read(dev, VIRTIO_MMIO_STATUS) | bits);
}

bool virtio_find(u32 device_id, unsigned n, struct virtio_dev *dev)
{
	struct fdt_dev node;

	for (unsigned i = 0; fdt_find("virtio,mmio", i, 0, &node); i++) {
		dev->base = ioremap(node.base, node.size);
		dev->intid = node.intid;
		if (reg_read(dev, VIRTIO_MMIO_MAGIC_VALUE) != VIRTIO_MAGIC ||
		    reg_read(dev, VIRTIO_MMIO_DEVICE_ID) != device_id || n-- != 0)
			continue;
		reg_write(dev, VIRTIO_MMIO_STATUS, 0);
		add_status(dev, VIRTIO_CONFIG_S_ACKNOWLEDGE);
		add_status(dev, VIRTIO_CONFIG_S_DRIVER);
		return true;
	}
	return false;
}

static u64 device_features(struct virtio_dev *dev)
{
	u64 f;

	reg_write(dev, VIRTIO_MMIO_DEVICE_FEATURES_SEL, 1);
	f = (u64)reg_read(dev, VIRTIO_MMIO_DEVICE_FEATURES) << 32;
	reg_write(dev, VIRTIO_MMIO_DEVICE_FEATURES_SEL, 0);
	return f | reg_read(dev, VIRTIO_MMIO_DEVICE_FEATURES);
}

int virtio_negotiate(struct virtio_dev *dev, u64 wanted, u64 *got)
{
	u64 f = device_features(dev) & (wanted | BIT(VIRTIO_F_VERSION_1));

	if (reg_read(dev, VIRTIO_MMIO_VERSION) != VIRTIO_MODERN || !(f & BIT(VIRTIO_F_VERSION_1)))
		return -ENODEV;
	reg_write(dev, VIRTIO_MMIO_DRIVER_FEATURES_SEL, 0);
	reg_write(dev, VIRTIO_MMIO_DRIVER_FEATURES, (u32)f);
	reg_write(dev, VIRTIO_MMIO_DRIVER_FEATURES_SEL, 1);
	reg_write(dev, VIRTIO_MMIO_DRIVER_FEATURES, (u32)(f >> 32));
	add_status(dev, VIRTIO_CONFIG_S_FEATURES_OK);
	if (!(reg_read(dev, VIRTIO_MMIO_STATUS) & VIRTIO_CONFIG_S_FEATURES_OK))
		return -ENODEV;
	*got = f;
	return 0;
}

int virtq_init(struct virtio_dev *dev, unsigned index, struct virtq *q)
{
	struct page *pg;
	char *mem;
	u32 max;

	reg_write(dev, VIRTIO_MMIO_QUEUE_SEL, index);
	max = reg_read(dev, VIRTIO_MMIO_QUEUE_NUM_MAX);
	if (max == 0 || reg_read(dev, VIRTIO_MMIO_QUEUE_READY))
		return -ENOENT;
	pg = page_alloc_zero();
	if (!pg)
		return -ENOMEM;
	/* 64 entries: 1024 + 134 + 518 bytes, all in one page */
	mem = page_addr(pg);
	q->dev = dev;
	q->index = index;
	q->size = MIN(max, (u32)VIRTQ_MAX);
	q->desc = (void *)mem;
	q->avail = (void *)(mem + 1024);
	q->used = (void *)(mem + 2048);
	q->last_used = 0;
	q->nr_free = q->size;
	for (unsigned i = 0; i < q->size; i++)
		q->free[i] = (u16)(q->size - 1 - i);

	reg_write(dev, VIRTIO_MMIO_QUEUE_NUM, q->size);
	reg_write_pair(dev, VIRTIO_MMIO_QUEUE_DESC_LOW, virt_to_phys(q->desc));
	reg_write_pair(dev, VIRTIO_MMIO_QUEUE_AVAIL_LOW, virt_to_phys(q->avail));
	reg_write_pair(dev, VIRTIO_MMIO_QUEUE_USED_LOW, virt_to_phys(q->used));
	reg_write(dev, VIRTIO_MMIO_QUEUE_READY, 1);
	return 0;
}

void virtio_ready(struct virtio_dev *dev)
{
	add_status(dev, VIRTIO_CONFIG_S_DRIVER_OK);
}

u32 virtio_config32(struct virtio_dev *dev, unsigned offset)
{
	return reg_read(dev, VIRTIO_MMIO_CONFIG + offset);
}

u8 virtio_config8(struct virtio_dev *dev, unsigned offset)
{
	return *((const volatile u8 *)dev->base + VIRTIO_MMIO_CONFIG + offset);
}

void virtio_ack(struct virtio_dev *dev)
{
	reg_write(dev, VIRTIO_MMIO_INTERRUPT_ACK, reg_read(dev, VIRTIO_MMIO_INTERRUPT_STATUS));
}

static void describe(struct virtq *q, u16 d, void *buf, u32 len, u16 flags)
{
	q->desc[d].addr = virt_to_phys(buf);
	q->desc[d].len = len;
	q->desc[d].flags = flags;
}

/* Hands the chain that begins with descriptor d to the device. */
static void publish(struct virtq *q, u16 d)
{
	q->avail->ring[q->avail->idx % q->size] = d;
	mb();
	WRITE_ONCE(q->avail->idx, (u16)(q->avail->idx + 1));
}

int virtq_add(struct virtq *q, void *buf, u32 len, bool device_writes, void *token)
{
	u16 d;

	if (q->nr_free == 0)
		return -ENOSPC;
	d = q->free[--q->nr_free];
	q->token[d] = token;
	describe(q, d, buf, len, device_writes ? VRING_DESC_F_WRITE : 0);
	publish(q, d);
	return 0;
}

int virtq_add_pair(struct virtq *q, void *out, u32 out_len, void *in, u32 in_len, void *token)
{
	u16 first, second;

	if (q->nr_free < 2)
		return -ENOSPC;
	first = q->free[--q->nr_free];
	second = q->free[--q->nr_free];
	q->token[first] = token;
	describe(q, first, out, out_len, VRING_DESC_F_NEXT);
	q->desc[first].next = second;
	describe(q, second, in, in_len, VRING_DESC_F_WRITE);
	publish(q, first);
	return 0;
}

void virtq_notify(struct virtq *q)
{
	mb();
	reg_write(q->dev, VIRTIO_MMIO_QUEUE_NOTIFY, q->index);
}

bool virtq_has_used(const struct virtq *q)
{
	return READ_ONCE(q->used->idx) != q->last_used;
}

void *virtq_get(struct virtq *q, u32 *len)
{
	struct vring_used_elem *e;
	u32 d;

	if (!virtq_has_used(q))
		return NULL;
	mb();
	e = &q->used->ring[q->last_used % q->size];
	d = e->id;
	if (d >= q->size || !q->token[d])
		panic("virtio: queue %u gives back a buffer that it does not have", q->index);
	bool pair = q->desc[d].flags & VRING_DESC_F_NEXT;
	u16 last = pair ? q->desc[d].next : (u16)d;

	*len = MIN(e->len, q->desc[last].len);
	q->last_used++;
	q->free[q->nr_free++] = (u16)d;
	if (pair)
		q->free[q->nr_free++] = last;
	void *token = q->token[d];
	q->token[d] = NULL;
	return token;
}

void virtq_interrupt(struct virtq *q, bool on)
{
	WRITE_ONCE(q->avail->flags, on ? 0 : VRING_AVAIL_F_NO_INTERRUPT);
	mb();
}
