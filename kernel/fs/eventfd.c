/* SPDX-License-Identifier: BSD-2-Clause */
/* eventfd(2): a counter behind a descriptor. */
#include "fs/fs.h"
#include "sys/syscall.h"
#include <linux/poll.h>

#define EFD_SEMAPHORE 1u
#define EVENT_MAX     0xfffffffffffffffeULL

struct event_counter {
	u64 count;
	bool semaphore;
	struct waitq wait;
};

static ssize_t eventfd_read(struct file *f, void *buf, size_t n, loff_t *pos)
{
	struct event_counter *e = f->priv;
	u64 value;
	int err;

	(void)pos;
	if (n < sizeof(value))
		return -EINVAL;
	if (!e->count) {
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(&e->wait, e->count > 0);
		if (err)
			return err;
	}
	value = e->semaphore ? 1 : e->count;
	e->count -= value;
	wake_up(&e->wait);
	return io_copy_out(buf, &value, sizeof(value)) ? -EFAULT : (ssize_t)sizeof(value);
}

static ssize_t eventfd_write(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	struct event_counter *e = f->priv;
	u64 value;
	int err;

	(void)pos;
	if (n < sizeof(value))
		return -EINVAL;
	if (io_copy_in(&value, buf, sizeof(value)))
		return -EFAULT;
	if (value == ~0ULL)
		return -EINVAL;
	if (EVENT_MAX - e->count < value) {
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(&e->wait, EVENT_MAX - e->count >= value);
		if (err)
			return err;
	}
	e->count += value;
	if (value)
		wake_up(&e->wait);
	return sizeof(value);
}

static u32 eventfd_poll(struct file *f, struct poll_table *pt)
{
	struct event_counter *e = f->priv;

	poll_wait(f, &e->wait, pt);
	return (e->count ? POLLIN | POLLRDNORM : 0) |
	       (e->count < EVENT_MAX ? POLLOUT | POLLWRNORM : 0);
}

static void eventfd_release(struct file *f)
{
	kfree(f->priv);
}

static void eventfd_fdinfo(struct file *f, struct seq *s)
{
	const struct event_counter *e = f->priv;

	seq_printf(s, "eventfd-count: %16llx\n", (unsigned long long)e->count);
}

static const struct file_ops eventfd_ops = {
	.read = eventfd_read,
	.write = eventfd_write,
	.poll = eventfd_poll,
	.release = eventfd_release,
	.show_fdinfo = eventfd_fdinfo,
	.kernel_buf = true,
};

long sys_eventfd2(const u64 a[6])
{
	u32 flags = (u32)a[1];
	struct event_counter *e;
	struct file *f;

	if (flags & ~(u32)(EFD_SEMAPHORE | O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	e = kzalloc(sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->count = (u32)a[0];
	e->semaphore = flags & EFD_SEMAPHORE;
	f = anon_file("[eventfd]", &eventfd_ops, e, O_RDWR | (flags & O_NONBLOCK));
	if (!f) {
		kfree(e);
		return -ENOMEM;
	}
	return fd_install_new(f, flags & O_CLOEXEC);
}
