/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timer_create(2) and its family.
 *
 *   disarmed --settime--> armed --expires--> signalled --dequeued--> armed again
 *                                              (or disarmed, without interval)
 *
 * A timer whose signal is on its way is not armed: it goes on from its own beat
 * when the signal is taken, and the beats that were missed are the overrun
 * (timer_getoverrun(2)). If the signal is ignored it goes on at once. Clocks that
 * run with time use a ktimer and a work item; CPU-time clocks are looked at by
 * the tick (itimer.c).
 */
#include "mm/page.h"
#include "proc/clock.h"
#include "proc/posix_timer.h"
#include "sys/syscall.h"
#include <limits.h>
#include <linux/time.h>
#include <utlist.h>

static struct posix_timer *timer_find(struct process *p, int id)
{
	struct posix_timer *pt;

	DL_FOREACH(p->posix_timers, pt) {
		if (pt->id == id)
			return pt;
	}
	return NULL;
}

/*
 * Time of the timer's own clock, in the units of expires. -EINVAL: the thread or process of a
 * CPU clock is gone.
 */
static int timer_now(const struct posix_timer *pt, u64 *now)
{
	struct cpu_clock c;
	int err;

	if (!pt->is_cpu) {
		*now = clock_ns();
		return 0;
	}
	err = cpu_clock_find(pt->clock, &c);
	if (!err)
		*now = cpu_clock_read(&c);
	return err;
}

static void timer_arm(struct posix_timer *pt, u64 expires)
{
	pt->expires = expires;
	pt->armed = true;
	if (!pt->is_cpu)
		ktimer_start(&pt->timer, expires);
}

static void timer_disarm(struct posix_timer *pt)
{
	pt->armed = false;
	ktimer_cancel(&pt->timer);
	work_cancel(&pt->work);
}

/* Goes on from the last expiry: the beats up to now count as overrun. */
static void timer_go_on(struct posix_timer *pt)
{
	u64 now, missed = 0;

	if (!pt->interval || timer_now(pt, &now))
		return;
	if (now > pt->expires)
		missed = (now - pt->expires) / pt->interval;
	pt->overrun = (int)MIN(missed, (u64)INT_MAX);
	timer_arm(pt, pt->expires + (missed + 1) * pt->interval);
}

static void timer_signal(struct posix_timer *pt)
{
	struct process *p = pt->proc;
	struct sigqueue_set *queue = pt->thread ? &pt->thread->pending : &p->pending;
	siginfo_t info;

	pt->armed = false;
	pt->overrun = 0;
	if (pt->notify == SIGEV_NONE) {
		timer_go_on(pt);
		return;
	}
	memset(&info, 0, sizeof(info));
	info.si_signo = pt->signo;
	info.si_code = SI_TIMER;
	info.si_tid = pt->id;
	info.si_value = pt->value;
	if (pt->thread)
		send_signal_task(pt->thread, pt->signo, &info);
	else
		send_signal_process(p, pt->signo, &info);
	if (!(queue->set & SIGSET(pt->signo)))
		timer_go_on(pt); /* ignored, or the thread is gone */
}

static void timer_work(struct work *w)
{
	struct posix_timer *pt = container_of(w, struct posix_timer, work);

	if (pt->armed && clock_ns() >= pt->expires)
		timer_signal(pt);
}

static void timer_interrupt(struct ktimer *t)
{
	work_queue(&container_of(t, struct posix_timer, timer)->work);
}

void posix_timer_dequeued(struct process *p, siginfo_t *info)
{
	struct posix_timer *pt = timer_find(p, info->si_tid);

	if (!pt || pt->armed)
		return;
	timer_go_on(pt);
	info->si_overrun = pt->overrun;
}

bool posix_cputimers_armed(const struct process *p)
{
	const struct posix_timer *pt;

	DL_FOREACH(p->posix_timers, pt) {
		if (pt->is_cpu && pt->armed)
			return true;
	}
	return false;
}

void posix_cputimers_run(void)
{
	struct posix_timer *pt;
	u64 now;

	DL_FOREACH(current->proc->posix_timers, pt) {
		if (pt->is_cpu && pt->armed && !timer_now(pt, &now) && now >= pt->expires)
			timer_signal(pt);
	}
}

static void timer_free(struct process *p, struct posix_timer *pt)
{
	timer_disarm(pt);
	DL_DELETE(p->posix_timers, pt);
	if (pt->thread)
		task_put(pt->thread);
	kfree(pt);
}

void posix_timers_exit(struct process *p)
{
	while (p->posix_timers)
		timer_free(p, p->posix_timers);
}

/* timer_create(2)'s sigevent, checked. NULL: SIGALRM with the timer's id. */
static int set_notification(struct posix_timer *pt, u64 uaddr)
{
	struct sigevent ev;

	if (!uaddr) {
		pt->notify = SIGEV_SIGNAL;
		pt->signo = SIGALRM;
		pt->value.sival_int = pt->id;
		return 0;
	}
	if (copy_from_user(&ev, (void *)uaddr, sizeof(ev)))
		return -EFAULT;
	pt->notify = ev.sigev_notify;
	pt->signo = ev.sigev_signo;
	pt->value = ev.sigev_value;
	if (ev.sigev_notify == SIGEV_NONE)
		return 0;
	if (ev.sigev_notify & ~(SIGEV_SIGNAL | SIGEV_THREAD | SIGEV_THREAD_ID))
		return -EINVAL;
	if (ev.sigev_signo < 1 || ev.sigev_signo > _NSIG)
		return -EINVAL;
	if (ev.sigev_notify & SIGEV_THREAD_ID) {
		struct task *t = task_find(ev._sigev_un._tid);

		if (!t || t->proc != current->proc || t->exiting)
			return -EINVAL;
		task_get(t);
		pt->thread = t;
	}
	return 0;
}

static int timer_clock_ok(struct posix_timer *pt, int clock)
{
	struct cpu_clock c;
	u64 offset;

	if (clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_MONOTONIC_COARSE ||
	    clock == CLOCK_REALTIME_COARSE)
		return -EOPNOTSUPP;
	pt->is_cpu = !clock_offset(clock, &offset);
	pt->clock = clock;
	return pt->is_cpu ? cpu_clock_find(clock, &c) : 0;
}

/* timer_create(clock, sigevent, timerid) */
long sys_timer_create(const u64 a[6])
{
	struct process *p = current->proc;
	struct posix_timer *pt = kzalloc(sizeof(*pt));
	int err;

	if (!pt)
		return -EAGAIN;
	pt->proc = p;
	pt->timer.cpu = -1;
	pt->timer.fn = timer_interrupt;
	pt->work.fn = timer_work;
	pt->id = p->next_timer_id;
	err = timer_clock_ok(pt, (int)a[0]);
	if (!err)
		err = set_notification(pt, a[1]);
	if (!err)
		err = put_user(pt->id, (int *)a[2]);
	if (err) {
		if (pt->thread)
			task_put(pt->thread);
		kfree(pt);
		return err;
	}
	p->next_timer_id = (p->next_timer_id + 1) & INT_MAX;
	DL_APPEND(p->posix_timers, pt);
	return 0;
}

static void timer_read(const struct posix_timer *pt, struct __kernel_itimerspec *out)
{
	u64 now, left = 0;

	if (!timer_now(pt, &now)) {
		if (pt->armed)
			left = pt->expires > now ? pt->expires - now : 1;
		else if (pt->interval &&
			 pt->set) /* its signal waits to be taken: time to the next beat */
			left = pt->interval - (now - pt->expires) % pt->interval;
	}
	out->it_interval = ns_to_timespec(pt->interval);
	out->it_value = ns_to_timespec(left);
}

long sys_timer_gettime(const u64 a[6])
{
	struct posix_timer *pt = timer_find(current->proc, (int)a[0]);
	struct __kernel_itimerspec out;

	if (!pt)
		return -EINVAL;
	timer_read(pt, &out);
	return copy_to_user((void *)a[1], &out, sizeof(out));
}

static int timer_set(struct posix_timer *pt, bool absolute, u64 value, u64 interval)
{
	u64 now, offset = 0;
	int err = timer_now(pt, &now);

	if (err)
		return err;
	timer_disarm(pt);
	pt->interval = interval;
	pt->set = value != 0;
	pt->overrun = 0;
	if (value && absolute) {
		if (!pt->is_cpu)
			clock_offset(pt->clock, &offset);
		timer_arm(pt, value > offset ? value - offset : 1);
	} else if (value) {
		timer_arm(pt, value > NO_DEADLINE - 1 - now ? NO_DEADLINE - 1 : now + value);
	}
	cputimers_update(pt->proc);
	return 0;
}

/* timer_settime(timerid, flags, new, old) */
long sys_timer_settime(const u64 a[6])
{
	struct posix_timer *pt = timer_find(current->proc, (int)a[0]);
	struct __kernel_itimerspec in, old;
	u64 value, interval;
	int err;

	if (!a[2])
		return -EINVAL;
	if (copy_from_user(&in, (void *)a[2], sizeof(in)))
		return -EFAULT;
	if (timespec_to_ns(&in.it_value, &value) || timespec_to_ns(&in.it_interval, &interval))
		return -EINVAL;
	if (!pt)
		return -EINVAL;
	timer_read(pt, &old);
	err = timer_set(pt, a[1] & TIMER_ABSTIME, value, interval);
	if (err)
		return err;
	return a[3] ? copy_to_user((void *)a[3], &old, sizeof(old)) : 0;
}

long sys_timer_getoverrun(const u64 a[6])
{
	struct posix_timer *pt = timer_find(current->proc, (int)a[0]);

	return pt ? pt->overrun : -EINVAL;
}

long sys_timer_delete(const u64 a[6])
{
	struct posix_timer *pt = timer_find(current->proc, (int)a[0]);

	if (!pt)
		return -EINVAL;
	timer_free(current->proc, pt);
	cputimers_update(current->proc);
	return 0;
}
