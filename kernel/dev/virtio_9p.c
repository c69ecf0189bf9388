/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtio 9P transport; see virtio_9p.h. The interrupt handler only acknowledges
 * and wakes; the queue is worked on in process context with the big lock held.
 */
#include "dev/virtio_9p.h"
#include "dev/dev.h"
#include "dev/virtio.h"
#include "mm/page.h"
#include "proc/task.h"
#include <linux/virtio_9p.h>
#include <linux/virtio_ids.h>

#define MAX_DEVICES 4u
#define TAG_MAX	    128u

struct p9_device {
	struct virtio_dev dev;
	struct virtq queue;
	struct waitq answered, room;
	u32 posted; /* messages that nobody waits for, not answered yet */
	char tag[TAG_MAX];
};

/* One request on its way. */
struct call {
	bool done;
	u32 len;
	void *request, *answer; /* to be let go, of a message that nobody waits for; else NULL */
};

static struct p9_device devices[MAX_DEVICES];
static unsigned nr_devices;
static bool probed;

static void p9_interrupt(unsigned intid, struct pt_regs *regs, void *arg)
{
	struct p9_device *d = arg;

	(void)intid;
	(void)regs;
	virtio_ack(&d->dev);
	wake_up(&d->answered);
	wake_up(&d->room);
}

static void read_tag(struct p9_device *d)
{
	const unsigned text = offsetof(struct virtio_9p_config, tag);
	u32 len = virtio_config8(&d->dev, 0) | (u32)virtio_config8(&d->dev, 1) << 8;

	for (u32 i = 0; i < MIN(len, TAG_MAX - 1); i++)
		d->tag[i] = (char)virtio_config8(&d->dev, text + i);
}

static bool start(struct p9_device *d)
{
	u64 features;

	if (virtio_negotiate(&d->dev, BIT(VIRTIO_9P_MOUNT_TAG), &features) ||
	    virtq_init(&d->dev, 0, &d->queue)) {
		printk("virtio 9p: a device cannot be set up\n");
		return false;
	}
	irq_register((unsigned)d->dev.intid, p9_interrupt, d);
	irq_enable_line((unsigned)d->dev.intid);
	virtio_ready(&d->dev);
	virtq_interrupt(&d->queue, true);
	read_tag(d);
	return true;
}

static void probe(void)
{
	probed = true;
	for (unsigned n = 0; n < MAX_DEVICES; n++) {
		struct p9_device *d = &devices[nr_devices];

		if (!virtio_find(VIRTIO_ID_9P, n, &d->dev))
			break;
		if (start(d))
			nr_devices++;
	}
}

int p9_device_find(const char *tag, struct p9_device **out)
{
	if (!probed)
		probe();
	for (unsigned i = 0; i < nr_devices; i++) {
		if (!strcmp(devices[i].tag, tag)) {
			*out = &devices[i];
			return 0;
		}
	}
	return -ENOENT;
}

static void end_posted(struct p9_device *d, struct call *c)
{
	page_put(phys_to_page(virt_to_phys(c->request)));
	page_put(phys_to_page(virt_to_phys(c->answer)));
	kfree(c);
	d->posted--;
}

/* Takes all answers that are there, whosever they are. */
static void reap(struct p9_device *d)
{
	struct call *c;
	u32 len;

	while ((c = virtq_get(&d->queue, &len))) {
		c->len = len;
		c->done = true;
		if (c->request)
			end_posted(d, c);
		wake_up(&d->answered);
		wake_up(&d->room);
	}
}

static bool is_done(struct p9_device *d, const struct call *mine)
{
	reap(d);
	return mine->done;
}

/* Room in the queue may come by an answer that nobody has taken. */
static bool add(struct p9_device *d, void *request, u32 request_len, void *answer, u32 answer_size,
		struct call *call)
{
	reap(d);
	return !virtq_add_pair(&d->queue, request, request_len, answer, answer_size, call);
}

u32 p9_device_call(struct p9_device *d, void *request, u32 request_len, void *answer,
		   u32 answer_size)
{
	struct call call = {false, 0, NULL, NULL};

	wait_event(&d->room, add(d, request, request_len, answer, answer_size, &call));
	virtq_notify(&d->queue);
	sched_host_wait_begin();
	wait_event(&d->answered, is_done(d, &call));
	sched_host_wait_end();
	return call.len;
}

void p9_device_post(struct p9_device *d, void *request, u32 request_len, void *answer)
{
	struct call *call = kzalloc(sizeof(*call));

	if (!call) {
		p9_device_call(d, request, request_len, answer, PAGE_SIZE);
		page_put(phys_to_page(virt_to_phys(request)));
		page_put(phys_to_page(virt_to_phys(answer)));
		return;
	}
	call->request = request;
	call->answer = answer;
	wait_event(&d->room, add(d, request, request_len, answer, PAGE_SIZE, call));
	d->posted++;
	virtq_notify(&d->queue);
}

static bool is_settled(struct p9_device *d)
{
	reap(d);
	return d->posted == 0;
}

void p9_device_settle(struct p9_device *d)
{
	sched_host_wait_begin();
	wait_event(&d->answered, is_settled(d));
	sched_host_wait_end();
}
