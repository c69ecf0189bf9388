/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The virtio transport of 9P (virtio 1.2 calls the device "9P transport"): a
 * device with one queue. Each request is a chain of two buffers, the message
 * and room for the answer. The host's server works on its own time, so the
 * caller sleeps; while nobody else runs, the guest's clock stands still, or, if
 * QEMU has timers, an idle CPU spins (sched_host_wait_begin()).
 */
#ifndef TALLY_DEV_VIRTIO_9P_H
#define TALLY_DEV_VIRTIO_9P_H

#include "lib/kernel.h"

struct p9_device;

/* The device whose mount tag is `tag`, ready to use. -ENOENT: none has it; -ENODEV; -ENOMEM. */
int p9_device_find(const char *tag, struct p9_device **out);

/*
 * Sends a message and sleeps until the answer is there; both buffers are
 * physically contiguous. The sleep is not interrupted: the device owns the
 * buffers. Several tasks may be at it. Returns the length of the answer.
 * Process context, big lock held.
 */
u32 p9_device_call(struct p9_device *dev, void *request, u32 request_len, void *answer,
		   u32 answer_size);

/*
 * Sends a message whose answer says nothing, and does not wait for it. Both buffers are a page each, which
 * the device puts when it is done with them. Sleeps only while the queue is full.
 */
void p9_device_post(struct p9_device *dev, void *request, u32 request_len, void *answer);

/* Sleeps until all that was posted has been answered. */
void p9_device_settle(struct p9_device *dev);

#endif
