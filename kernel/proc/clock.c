/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clocks: which there are, reading them, and converting user space's times.
 *
 * All wall and monotonic clocks are clock_ns() plus a constant: the machine's
 * time is the host's or QEMU's, and nothing in the guest sets it. CPU-time
 * clocks are those of the caller, or of a process or thread by id, encoded as
 * in clock_getcpuclockid(3): ~id << 3 | 4 for a thread | 2.
 */
#include "fs/vfs.h"
#include "proc/clock.h"
#include "sys/syscall.h"
#include <linux/time.h>
#include <linux/timex.h>
#include <utlist.h>

#define TIMER_RESOLUTION  1		       /* ns: timers are armed exactly */
#define COARSE_RESOLUTION (NSEC_PER_SEC / 250) /* as Debian's kernel says: HZ=250 */

u64 realtime_ns(void)
{
	return wall_ns();
}

u64 deadline_after(u64 ns)
{
	u64 now = clock_ns();

	return ns > NO_DEADLINE - 1 - now ? NO_DEADLINE : now + ns;
}

int timespec_to_ns(const struct __kernel_timespec *ts, u64 *ns)
{
	if (ts->tv_sec < 0 || (u64)ts->tv_nsec >= NSEC_PER_SEC)
		return -EINVAL;
	if ((u64)ts->tv_sec >= NO_DEADLINE / NSEC_PER_SEC)
		*ns = NO_DEADLINE;
	else
		*ns = (u64)ts->tv_sec * NSEC_PER_SEC + (u64)ts->tv_nsec;
	return 0;
}

struct __kernel_timespec ns_to_timespec(u64 ns)
{
	return (struct __kernel_timespec){
		.tv_sec = (s64)(ns / NSEC_PER_SEC),
		.tv_nsec = (s64)(ns % NSEC_PER_SEC),
	};
}

int read_timespec(u64 uaddr, u64 *ns)
{
	struct __kernel_timespec ts;

	if (copy_from_user(&ts, (void *)uaddr, sizeof(ts)))
		return -EFAULT;
	return timespec_to_ns(&ts, ns);
}

int write_timespec(u64 uaddr, u64 ns)
{
	struct __kernel_timespec ts = ns_to_timespec(ns);

	return copy_to_user((void *)uaddr, &ts, sizeof(ts));
}

u64 process_cpu_ns(struct process *p, u64 *utime, u64 *stime)
{
	u64 u = p->dead_utime, s = p->dead_stime;
	struct task *t;

	DL_FOREACH2(p->threads, t, thread_next) {
		u64 tu, ts;

		task_cpu_ns(t, &tu, &ts);
		u += tu;
		s += ts;
	}
	if (utime)
		*utime = u;
	if (stime)
		*stime = s;
	return u + s;
}

/*
 * Bit 2: a thread's clock. The lowest two bits: 0 user and system, 1 user, 2 scheduled time
 * (here as exact as 0).
 */
static int cpu_clock(int id, struct cpu_clock *c)
{
	pid_t pid = ~(id >> 3);

	c->thread = NULL;
	c->proc = NULL;
	c->user_only = (id & 3) == 1;
	if ((id & 3) == 3)
		return -EINVAL;
	if (id & 4) {
		c->thread = pid ? task_find(pid) : current;
		if (!c->thread || c->thread->proc != current->proc)
			return -EINVAL;
	} else {
		c->proc = pid ? process_find(pid) : current->proc;
		if (!c->proc)
			return -EINVAL;
	}
	return 0;
}

int cpu_clock_find(int id, struct cpu_clock *c)
{
	switch (id) {
	case CLOCK_PROCESS_CPUTIME_ID:
		*c = (struct cpu_clock){.proc = current->proc};
		return 0;
	case CLOCK_THREAD_CPUTIME_ID:
		*c = (struct cpu_clock){.thread = current};
		return 0;
	default:
		return id < 0 ? cpu_clock(id, c) : -EINVAL;
	}
}

u64 cpu_clock_read(const struct cpu_clock *c)
{
	u64 utime, total;

	if (c->thread)
		total = task_cpu_ns(c->thread, &utime, NULL);
	else
		total = process_cpu_ns(c->proc, &utime, NULL);
	return c->user_only ? utime : total;
}

bool clock_offset(int id, u64 *offset)
{
	switch (id) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_REALTIME_ALARM:
	case CLOCK_TAI: /* no leap seconds are known, as on a Linux that was not told */
		*offset = realtime_ns() - clock_ns();
		return true;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
	case CLOCK_BOOTTIME_ALARM:
		*offset = 0;
		return true;
	default:
		return false;
	}
}

int clock_read(int id, u64 *ns)
{
	struct cpu_clock c;
	u64 offset;
	int err;

	if (clock_offset(id, &offset)) {
		*ns = clock_ns() + offset;
		return 0;
	}
	err = cpu_clock_find(id, &c);
	if (!err)
		*ns = cpu_clock_read(&c);
	return err;
}

long sys_clock_gettime(const u64 a[6])
{
	u64 ns;
	int err = clock_read((int)a[0], &ns);

	return err ? err : write_timespec(a[1], ns);
}

long sys_clock_getres(const u64 a[6])
{
	int id = (int)a[0], err;
	u64 ns;

	err = clock_read(id, &ns);
	if (err || !a[1])
		return err;
	ns = id == CLOCK_REALTIME_COARSE || id == CLOCK_MONOTONIC_COARSE ? COARSE_RESOLUTION
									 : TIMER_RESOLUTION;
	return write_timespec(a[1], ns);
}

/* Nobody in the guest may set the clock; what cannot be set at all is EINVAL. */
long sys_clock_settime(const u64 a[6])
{
	u64 ns;
	int err;

	if ((int)a[0] != CLOCK_REALTIME)
		return -EINVAL;
	err = read_timespec(a[1], &ns);
	return err ? err : -EPERM;
}

long sys_gettimeofday(const u64 a[6])
{
	u64 now = realtime_ns();
	struct __kernel_old_timeval tv = {
		.tv_sec = (long)(now / NSEC_PER_SEC),
		.tv_usec = (long)(now % NSEC_PER_SEC / NSEC_PER_USEC),
	};
	struct timezone tz = {0};

	if (a[0] && copy_to_user((void *)a[0], &tv, sizeof(tv)))
		return -EFAULT;
	if (a[1] && copy_to_user((void *)a[1], &tz, sizeof(tz)))
		return -EFAULT;
	return 0;
}

long sys_settimeofday(const u64 a[6])
{
	(void)a;
	return -EPERM;
}
