/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One-shot timers: a list for each CPU, sorted by expiry, with its own lock
 * (innermost of all: taken inside sched_lock by perf's switch hooks).
 *
 * Timers of equal expiry run in the order they were started. The CPU's hardware
 * timer is armed for the first timer or the end of the running task's quantum,
 * whichever is earlier; `armed` remembers for when. It may fire too early (its
 * reason was cancelled), never too late.
 *
 * A handler runs without the lock, with `running` set: ktimer_cancel() on
 * another CPU waits for it, so that afterwards the timer's memory may go. On the
 * handler's own CPU there is nothing to wait for.
 */
#include "proc/internal.h"
#include "proc/turn.h"
#include <utlist.h>

struct timer_cpu {
	struct spinlock lock;
	struct ktimer *list;
	struct ktimer *running;
	u64 armed; /* NO_DEADLINE: off */
};

static struct timer_cpu timer_cpus[MAX_CPUS] = {
	[0 ... MAX_CPUS - 1] = {.armed = NO_DEADLINE},
};

/* When CPUs take turns, the one that has it keeps the time for all that do not wait for theirs already. */
static u64 first_deadline(void)
{
	u64 first = timer_cpus[cpu_id()].armed;

	if (!turns_on)
		return first;
	for (unsigned cpu = 0; cpu < nr_cpus(); cpu++)
		if (!turn_awaited_by(cpu))
			first = MIN(first, timer_cpus[cpu].armed);
	return MIN(first, turn_end());
}

void timer_set_hardware(void)
{
	u64 first = first_deadline();

	arch_timer_set(first == NO_DEADLINE ? 0 : first);
}

void timer_arm_before(u64 deadline)
{
	struct timer_cpu *tc = &timer_cpus[cpu_id()];

	if (deadline < tc->armed) {
		tc->armed = deadline;
		timer_set_hardware();
	}
}

/* The other CPUs whose timers are due want the turn, to run them. */
static void ask_for_others(u64 now)
{
	for (unsigned cpu = 0; cpu < nr_cpus(); cpu++)
		if (cpu != cpu_id() && timer_cpus[cpu].armed <= now)
			turn_want(cpu, true);
	turn_tick(now);
}

bool timer_awaited(void)
{
	for (unsigned cpu = 0; cpu < nr_cpus(); cpu++)
		if (READ_ONCE(timer_cpus[cpu].list))
			return true;
	return false;
}

static void insert_sorted(struct timer_cpu *tc, struct ktimer *t)
{
	struct ktimer *later;

	/* Most timers are set for later than those that wait: look from the end. */
	if (!tc->list || tc->list->prev->expires <= t->expires) {
		DL_APPEND(tc->list, t);
		return;
	}
	DL_FOREACH(tc->list, later) {
		if (later->expires > t->expires)
			break;
	}
	DL_PREPEND_ELEM(tc->list, later, t);
}

void ktimer_start(struct ktimer *t, u64 expires)
{
	struct timer_cpu *tc;
	u64 flags;

	ktimer_cancel(t);
	flags = irq_save();
	tc = &timer_cpus[cpu_id()];
	spin_lock(&tc->lock);
	t->expires = expires ? expires : 1;
	WRITE_ONCE(t->cpu, (int)cpu_id());
	insert_sorted(tc, t);
	spin_unlock(&tc->lock);
	timer_arm_before(t->expires);
	irq_restore(flags);
}

bool ktimer_cancel(struct ktimer *t)
{
	bool pending = false;
	int cpu;

	/* The timer may expire, or be moved by its handler, until its CPU's lock is held. */
	while ((cpu = READ_ONCE(t->cpu)) >= 0 && !pending) {
		struct timer_cpu *tc = &timer_cpus[cpu];
		u64 flags = spin_lock_irqsave(&tc->lock);

		if (t->cpu == cpu) {
			DL_DELETE(tc->list, t);
			WRITE_ONCE(t->cpu, -1);
			pending = true;
		}
		spin_unlock_irqrestore(&tc->lock, flags);
	}
	for (unsigned i = 0; i < nr_cpus(); i++) {
		while (i != cpu_id() &&
		       __atomic_load_n(&timer_cpus[i].running, __ATOMIC_ACQUIRE) == t)
			cpu_relax();
	}
	return pending;
}

static void run_expired(struct timer_cpu *tc, u64 now)
{
	struct ktimer *t;

	spin_lock(&tc->lock);
	while ((t = tc->list) && t->expires <= now) {
		DL_DELETE(tc->list, t);
		tc->running = t;
		WRITE_ONCE(t->cpu, -1);
		spin_unlock(&tc->lock);
		t->fn(t);
		spin_lock(&tc->lock);
		__atomic_store_n(&tc->running, NULL, __ATOMIC_RELEASE);
	}
	spin_unlock(&tc->lock);
}

static struct pt_regs *timer_regs[MAX_CPUS];

struct pt_regs *timer_interrupted_regs(void)
{
	return timer_regs[cpu_id()];
}

void sched_timer_interrupt(struct pt_regs *regs)
{
	unsigned cpu = cpu_id();
	struct timer_cpu *tc = &timer_cpus[cpu];
	u64 now = clock_ns();
	u64 next;

	timer_regs[cpu] = regs;
	run_expired(tc, now);
	timer_regs[cpu] = NULL;
	next = sched_tick(now);
	if (tc->list)
		next = MIN(next, tc->list->expires);
	tc->armed = next;
	if (turns_on)
		ask_for_others(now);
	timer_set_hardware();
}
