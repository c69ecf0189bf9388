/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * setitimer(2), and everything that goes off by CPU time: ITIMER_VIRTUAL,
 * ITIMER_PROF, RLIMIT_CPU and the CPU-time timers of timer_create(2).
 *
 * ITIMER_REAL is a ktimer; its interrupt leaves the signal to a work item. The
 * CPU-time ones are looked at by the tick of a thread of the process (only if
 * `cputimers` says that there are any), on its way back to user mode.
 */
#include "proc/clock.h"
#include "sys/syscall.h"
#include <linux/time.h>

static const int itimer_signal[] = {
	[ITIMER_REAL] = SIGALRM,
	[ITIMER_VIRTUAL] = SIGVTALRM,
	[ITIMER_PROF] = SIGPROF,
};

static u64 itimer_clock(struct process *p, int which)
{
	u64 utime, total;

	if (which == ITIMER_REAL)
		return clock_ns();
	total = process_cpu_ns(p, &utime, NULL);
	return which == ITIMER_VIRTUAL ? utime : total;
}

/*
 * The next time a timer goes off that went off at `at`: in the future, on the same beat. 0:
 * never.
 */
static u64 next_beat(u64 at, u64 interval, u64 now)
{
	if (!interval)
		return 0;
	if (now < at)
		return at;
	return at + ((now - at) / interval + 1) * interval;
}

static void real_fire(struct work *w)
{
	struct process *p = container_of(w, struct process, real_work);
	struct itimer *it = &p->itimer[ITIMER_REAL];
	u64 now = clock_ns();

	if (!it->value_at || now < it->value_at)
		return; /* set anew meanwhile */
	it->value_at = next_beat(it->value_at, it->interval, now);
	if (it->value_at)
		ktimer_start(&p->real_timer, it->value_at);
	send_signal_process(p, SIGALRM, NULL);
}

static void real_interrupt(struct ktimer *t)
{
	work_queue(&container_of(t, struct process, real_timer)->real_work);
}

static void cpu_itimer_run(struct process *p, int which)
{
	struct itimer *it = &p->itimer[which];
	u64 now;

	if (!it->value_at)
		return;
	now = itimer_clock(p, which);
	if (now < it->value_at)
		return;
	it->value_at = next_beat(it->value_at, it->interval, now);
	send_signal_process(p, itimer_signal[which], NULL);
}

/* getrlimit(2): SIGXCPU at the soft limit and each second from then on, SIGKILL at the hard one. */
static void rlimit_cpu_run(struct process *p)
{
	const struct rlimit64 *rl = &p->rlim[RLIMIT_CPU];
	u64 used;

	if (rl->rlim_cur == RLIM64_INFINITY)
		return;
	used = process_cpu_ns(p, NULL, NULL);
	if (rl->rlim_max != RLIM64_INFINITY && used / NSEC_PER_SEC >= rl->rlim_max) {
		send_signal_process(p, SIGKILL, NULL);
		return;
	}
	if (used / NSEC_PER_SEC >= rl->rlim_cur && used >= p->rlim_cpu_next) {
		p->rlim_cpu_next = used + NSEC_PER_SEC;
		send_signal_process(p, SIGXCPU, NULL);
	}
}

void cputimers_update(struct process *p)
{
	p->cputimers = p->itimer[ITIMER_VIRTUAL].value_at || p->itimer[ITIMER_PROF].value_at ||
		       p->rlim[RLIMIT_CPU].rlim_cur != RLIM64_INFINITY || posix_cputimers_armed(p);
}

void cputimers_run(void)
{
	struct process *p = current->proc;

	cpu_itimer_run(p, ITIMER_VIRTUAL);
	cpu_itimer_run(p, ITIMER_PROF);
	rlimit_cpu_run(p);
	posix_cputimers_run();
	cputimers_update(p);
}

void itimers_exit(struct process *p)
{
	ktimer_cancel(&p->real_timer);
	work_cancel(&p->real_work);
	memset(p->itimer, 0, sizeof(p->itimer));
	p->cputimers = false;
}

static void itimer_get(struct process *p, int which, struct __kernel_old_itimerval *out)
{
	const struct itimer *it = &p->itimer[which];
	u64 left = 0;

	if (it->value_at) {
		u64 now = itimer_clock(p, which);

		/* An armed timer never shows 0: that would mean it is not. */
		left = it->value_at > now + NSEC_PER_USEC ? it->value_at - now : NSEC_PER_USEC;
	}
	out->it_value.tv_sec = (long)(left / NSEC_PER_SEC);
	out->it_value.tv_usec = (long)(left % NSEC_PER_SEC / NSEC_PER_USEC);
	out->it_interval.tv_sec = (long)(it->interval / NSEC_PER_SEC);
	out->it_interval.tv_usec = (long)(it->interval % NSEC_PER_SEC / NSEC_PER_USEC);
}

static int timeval_to_ns(const struct __kernel_old_timeval *tv, u64 *ns)
{
	if (tv->tv_sec < 0 || tv->tv_usec < 0 || tv->tv_usec >= 1000000)
		return -EINVAL;
	*ns = MIN((u64)tv->tv_sec, NO_DEADLINE / 4 / NSEC_PER_SEC) * NSEC_PER_SEC +
	      (u64)tv->tv_usec * NSEC_PER_USEC;
	return 0;
}

static void itimer_set(struct process *p, int which, u64 value, u64 interval)
{
	struct itimer *it = &p->itimer[which];

	it->interval = interval;
	it->value_at = value ? itimer_clock(p, which) + value : 0;
	if (which != ITIMER_REAL) {
		cputimers_update(p);
		return;
	}
	ktimer_cancel(&p->real_timer);
	work_cancel(&p->real_work);
	if (value) {
		p->real_timer.fn = real_interrupt;
		p->real_work.fn = real_fire;
		ktimer_start(&p->real_timer, it->value_at);
	}
}

long sys_getitimer(const u64 a[6])
{
	struct __kernel_old_itimerval out;

	if ((u32)a[0] > ITIMER_PROF)
		return -EINVAL;
	itimer_get(current->proc, (int)a[0], &out);
	return copy_to_user((void *)a[1], &out, sizeof(out));
}

/* setitimer(which, new, old): without new, disarms (as Linux does). */
long sys_setitimer(const u64 a[6])
{
	struct __kernel_old_itimerval in = {0}, old;
	u64 value, interval;

	if ((u32)a[0] > ITIMER_PROF)
		return -EINVAL;
	if (a[1] && copy_from_user(&in, (void *)a[1], sizeof(in)))
		return -EFAULT;
	if (timeval_to_ns(&in.it_value, &value) || timeval_to_ns(&in.it_interval, &interval))
		return -EINVAL;
	itimer_get(current->proc, (int)a[0], &old);
	itimer_set(current->proc, (int)a[0], value, interval);
	return a[2] ? copy_to_user((void *)a[2], &old, sizeof(old)) : 0;
}
