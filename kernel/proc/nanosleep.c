/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nanosleep(2), clock_nanosleep(2).
 *
 * A relative sleep that a signal interrupts goes on to the same deadline
 * (restart_syscall), or reports what is left if a handler ran. An absolute one
 * is simply made again.
 */
#include "proc/clock.h"
#include "sys/syscall.h"
#include <linux/time.h>

#define CPU_POLL (10 * NSEC_PER_MSEC)

/* 0 at the deadline, -ERESTARTSYS by a signal. */
static int sleep_until(u64 deadline)
{
	int err = 0;

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (clock_ns() >= deadline)
			break;
		if (signal_pending(current)) {
			err = -ERESTARTSYS;
			break;
		}
		schedule_until(deadline);
	}
	set_current_state(TASK_RUNNING);
	return err;
}

static long sleep_restart(struct task *t);

static long sleep_relative(struct task *t, u64 deadline, u64 rmtp)
{
	u64 now;

	if (!sleep_until(deadline))
		return 0;
	now = clock_ns();
	if (rmtp && write_timespec(rmtp, deadline > now ? deadline - now : 0))
		return -EFAULT;
	t->restart_fn = sleep_restart;
	t->restart_deadline = deadline;
	t->restart_arg[0] = rmtp;
	return -ERESTART_RESTARTBLOCK;
}

static long sleep_restart(struct task *t)
{
	return sleep_relative(t, t->restart_deadline, t->restart_arg[0]);
}

/*
 * The process's CPU time does not pass while nobody runs it: look at it now and then, at
 * latest when it can be reached.
 */
static long sleep_cpu_clock(int id, bool absolute, u64 ns, u64 rmtp)
{
	struct cpu_clock c;
	int err = cpu_clock_find(id, &c);
	u64 now, until;

	if (err || c.thread)
		return -EINVAL;
	now = cpu_clock_read(&c);
	until = absolute ? ns : now + ns;
	while (now < until) {
		if (sleep_until(clock_ns() + MAX(MIN(until - now, CPU_POLL), NSEC_PER_USEC)))
			break;
		err = cpu_clock_find(id, &c); /* it may have ended */
		if (err)
			return 0;
		now = cpu_clock_read(&c);
	}
	if (now >= until)
		return 0;
	if (absolute)
		return -ERESTARTNOHAND;
	if (rmtp && write_timespec(rmtp, until - now))
		return -EFAULT;
	return -EINTR;
}

/* clock_nanosleep(clock, flags, request, remain) */
long sys_clock_nanosleep(const u64 a[6])
{
	bool absolute = a[1] & TIMER_ABSTIME;
	int id = (int)a[0], err;
	u64 ns, offset;

	if (id == CLOCK_THREAD_CPUTIME_ID)
		return -EINVAL;
	if (id >= 0 && id != CLOCK_PROCESS_CPUTIME_ID && !clock_offset(id, &offset))
		return -EINVAL;
	if (id == CLOCK_MONOTONIC_RAW || id == CLOCK_MONOTONIC_COARSE ||
	    id == CLOCK_REALTIME_COARSE)
		return -EOPNOTSUPP;
	err = read_timespec(a[2], &ns);
	if (err)
		return err;
	if (id < 0 || id == CLOCK_PROCESS_CPUTIME_ID)
		return sleep_cpu_clock(id, absolute, ns, a[3]);
	if (!absolute)
		return sleep_relative(current, deadline_after(ns), a[3]);
	if (ns != NO_DEADLINE)
		ns = ns > offset ? ns - offset : 0;
	return sleep_until(ns) ? -ERESTARTNOHAND : 0;
}

long sys_nanosleep(const u64 a[6])
{
	u64 ns;
	int err = read_timespec(a[0], &ns);

	return err ? err : sleep_relative(current, deadline_after(ns), a[1]);
}
