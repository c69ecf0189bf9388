/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timerfd_create(2) and its family: a timer that is read as a count of expiries.
 *
 * The interrupt counts one expiry and wakes; the beats since then are added when
 * somebody reads, and the timer is armed again then. So an unread timer costs
 * one interrupt. While the ktimer is armed only the interrupt changes `ticks`,
 * afterwards only the readers (big lock).
 */
#include "fs/vfs.h"
#include "mm/page.h"
#include "proc/clock.h"
#include "sys/syscall.h"
#include <asm/poll.h>
#include <linux/time.h>
#include <linux/timerfd.h>

struct timerfd {
	struct ktimer timer;
	struct waitq wq;
	int clock;
	u64 ticks;
	u64 expires, interval; /* clock_ns(); expires 0 = disarmed */
	u32 settime_flags;
};

static void timerfd_interrupt(struct ktimer *t)
{
	struct timerfd *tf = container_of(t, struct timerfd, timer);

	WRITE_ONCE(tf->ticks, tf->ticks + 1);
	wake_up(&tf->wq);
}

/* Brings a periodic timer that has expired up to date. */
static void timerfd_go_on(struct timerfd *tf)
{
	u64 now = clock_ns(), missed;

	if (!READ_ONCE(tf->ticks) || !tf->interval || !tf->expires)
		return;
	missed = now > tf->expires ? (now - tf->expires) / tf->interval : 0;
	tf->ticks += missed;
	tf->expires += (missed + 1) * tf->interval;
	ktimer_start(&tf->timer, tf->expires);
}

static u64 timerfd_take(struct timerfd *tf)
{
	u64 ticks;

	if (!READ_ONCE(tf->ticks))
		return 0;
	timerfd_go_on(tf);
	ktimer_cancel(&tf->timer); /* nobody else counts now */
	ticks = tf->ticks;
	tf->ticks = 0;
	if (tf->interval && tf->expires)
		ktimer_start(&tf->timer, tf->expires);
	else
		tf->expires = 0;
	return ticks;
}

static ssize_t timerfd_read(struct file *f, void *ubuf, size_t n, loff_t *pos)
{
	struct timerfd *tf = f->priv;
	u64 ticks;
	int err;

	(void)pos;
	if (n < sizeof(ticks))
		return -EINVAL;
	ticks = timerfd_take(tf);
	if (!ticks) {
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(&tf->wq, (ticks = timerfd_take(tf)) != 0);
		if (err)
			return err;
	}
	return copy_to_user(ubuf, &ticks, sizeof(ticks)) ? -EFAULT : (ssize_t)sizeof(ticks);
}

static u32 timerfd_poll(struct file *f, struct poll_table *pt)
{
	struct timerfd *tf = f->priv;

	poll_wait(f, &tf->wq, pt);
	return READ_ONCE(tf->ticks) ? POLLIN : 0;
}

static void timerfd_release(struct file *f)
{
	struct timerfd *tf = f->priv;

	ktimer_cancel(&tf->timer);
	kfree(tf);
}

static void timerfd_value(struct timerfd *tf, struct __kernel_itimerspec *out)
{
	u64 now = clock_ns(), left = 0;

	if (tf->expires > now)
		left = tf->expires - now;
	else if (tf->expires && tf->interval)
		left = tf->interval - (now - tf->expires) % tf->interval;
	else if (tf->expires && !READ_ONCE(tf->ticks))
		left = 1;
	out->it_interval = ns_to_timespec(tf->interval);
	out->it_value = ns_to_timespec(left);
}

static void timerfd_fdinfo(struct file *f, struct seq *s)
{
	struct timerfd *tf = f->priv;
	struct __kernel_itimerspec v;

	timerfd_value(tf, &v);
	seq_printf(s, "clockid: %d\nticks: %llu\nsettime flags: 0%o\n", tf->clock,
		   (unsigned long long)tf->ticks, tf->settime_flags);
	seq_printf(s, "it_value: (%llu, %llu)\nit_interval: (%llu, %llu)\n",
		   (unsigned long long)v.it_value.tv_sec, (unsigned long long)v.it_value.tv_nsec,
		   (unsigned long long)v.it_interval.tv_sec,
		   (unsigned long long)v.it_interval.tv_nsec);
}

static const struct file_ops timerfd_ops = {
	.release = timerfd_release,
	.read = timerfd_read,
	.poll = timerfd_poll,
	.show_fdinfo = timerfd_fdinfo,
};

long sys_timerfd_create(const u64 a[6])
{
	int clock = (int)a[0], fd;
	u32 flags = (u32)a[1];
	struct timerfd *tf;
	struct file *f;

	if (flags & ~(u32)(TFD_CLOEXEC | TFD_NONBLOCK))
		return -EINVAL;
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME &&
	    clock != CLOCK_REALTIME_ALARM && clock != CLOCK_BOOTTIME_ALARM)
		return -EINVAL;
	tf = kzalloc(sizeof(*tf));
	if (!tf)
		return -ENOMEM;
	tf->clock = clock;
	tf->timer.cpu = -1;
	tf->timer.fn = timerfd_interrupt;
	f = anon_file("[timerfd]", &timerfd_ops, tf, O_RDWR | (flags & TFD_NONBLOCK));
	if (IS_ERR(f) || !f) {
		kfree(tf);
		return f ? PTR_ERR(f) : -ENOMEM;
	}
	fd = fd_alloc(f, 0, flags & TFD_CLOEXEC);
	if (fd < 0)
		file_put(f);
	return fd;
}

/* The timer behind a descriptor, and its file with a reference. */
static int timerfd_get(int fd, struct file **f, struct timerfd **tf)
{
	*f = fd_get(fd);
	if (!*f)
		return -EBADF;
	if ((*f)->ops != &timerfd_ops) {
		file_put(*f);
		return -EINVAL;
	}
	*tf = (*f)->priv;
	return 0;
}

static void timerfd_set(struct timerfd *tf, u32 flags, u64 value, u64 interval)
{
	u64 offset = 0;

	ktimer_cancel(&tf->timer);
	tf->ticks = 0;
	tf->interval = interval;
	tf->settime_flags = flags;
	tf->expires = 0;
	if (!value)
		return;
	if (flags & TFD_TIMER_ABSTIME) {
		clock_offset(tf->clock, &offset);
		tf->expires = value > offset ? value - offset : 1;
	} else {
		tf->expires = deadline_after(value);
	}
	ktimer_start(&tf->timer, tf->expires);
}

/*
 * timerfd_settime(fd, flags, new, old). The clock is never set, so TFD_TIMER_CANCEL_ON_SET has
 * nothing to do.
 */
long sys_timerfd_settime(const u64 a[6])
{
	struct __kernel_itimerspec in, old;
	struct timerfd *tf;
	struct file *f;
	u64 value, interval;
	int err;

	if ((u32)a[1] & ~(u32)(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET))
		return -EINVAL;
	if (copy_from_user(&in, (void *)a[2], sizeof(in)))
		return -EFAULT;
	if (timespec_to_ns(&in.it_value, &value) || timespec_to_ns(&in.it_interval, &interval))
		return -EINVAL;
	err = timerfd_get((int)a[0], &f, &tf);
	if (err)
		return err;
	timerfd_value(tf, &old);
	timerfd_set(tf, (u32)a[1], value, interval);
	file_put(f);
	return a[3] ? copy_to_user((void *)a[3], &old, sizeof(old)) : 0;
}

long sys_timerfd_gettime(const u64 a[6])
{
	struct __kernel_itimerspec out;
	struct timerfd *tf;
	struct file *f;
	int err = timerfd_get((int)a[0], &f, &tf);

	if (err)
		return err;
	timerfd_value(tf, &out);
	file_put(f);
	return copy_to_user((void *)a[1], &out, sizeof(out));
}
