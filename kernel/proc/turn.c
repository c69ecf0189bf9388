/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPUs that take turns; see turn.h.
 *
 * `holder` is the one word that others look at: a CPU that waits sees its own
 * number there, and an interrupt has ended its WFI. All the rest belongs to the
 * CPU that has the turn, except that one which was woken by a device may ask for
 * itself; hence the lock.
 */
#include "proc/turn.h"
#include "dev/dev.h"
#include "perf_port.h"
#include "proc/internal.h"

#define TURN_NS NSEC_PER_MSEC
#define NOBODY	MAX_CPUS

bool turns_on;
bool turn_is_over;

static struct {
	struct spinlock lock; /* interrupts off; innermost */
	u32 holder;
	u32 lender; /* who gets the turn back after one remote call, or NOBODY */
	u8 queue[MAX_CPUS];
	unsigned waiting; /* CPUs in the queue */
	u64 began;	  /* this turn */
	u64 left[MAX_CPUS]; /* of the turn that was cut short; 0: none */
	u64 frozen[MAX_CPUS];
} turn = {.lender = NOBODY};

static bool has_turn(unsigned cpu)
{
	return __atomic_load_n(&turn.holder, __ATOMIC_ACQUIRE) == cpu;
}

bool turn_wanted_by(unsigned cpu)
{
	for (unsigned i = 0; i < turn.waiting; i++)
		if (turn.queue[i] == cpu)
			return true;
	return false;
}

/* ------------------------------------------------------- the queue; lock held */

static void queue_insert(unsigned place, unsigned cpu)
{
	memmove(&turn.queue[place + 1], &turn.queue[place], turn.waiting - place);
	turn.queue[place] = (u8)cpu;
	turn.waiting++;
}

static unsigned queue_take_first(void)
{
	unsigned cpu = turn.queue[0];

	turn.waiting--;
	memmove(&turn.queue[0], &turn.queue[1], turn.waiting);
	return cpu;
}

/* --------------------------------------------------------- handing it over */

static u64 time_left(void)
{
	return turn.left[cpu_id()] ? turn.left[cpu_id()] : TURN_NS;
}

u64 turn_end(void)
{
	return turn.waiting && !turn_is_over ? turn.began + time_left() : NO_DEADLINE;
}

/* From here on this CPU is as good as off. */
static void stop_here(void)
{
	turn.frozen[cpu_id()] = perf_port_freeze();
	arch_timer_set(0);
}

static void go_on_here(void)
{
	timer_set_hardware();
	perf_port_thaw(turn.frozen[cpu_id()]);
}

static void hand_to(unsigned cpu)
{
	irq_route_devices(cpu);
	__atomic_store_n(&turn.holder, cpu, __ATOMIC_RELEASE);
	smp_send_reschedule(cpu);
}

static void give_to_first(bool come_back)
{
	unsigned me = cpu_id(), next;
	u64 used = clock_ns() - turn.began, left = time_left();
	bool cut_short = used < left;

	turn.left[me] = cut_short && come_back ? left - used : 0;
	spin_lock(&turn.lock);
	turn_is_over = false;
	next = queue_take_first();
	if (come_back)
		queue_insert(cut_short ? 0 : turn.waiting, me);
	spin_unlock(&turn.lock);
	hand_to(next);
}

/* ----------------------------------------------------------------- waiting */

/* A remote call, for which another CPU lent its turn. What else is pending is handled as well. */
static void serve_lender(void)
{
	u32 lender = turn.lender;

	turn.lender = NOBODY;
	go_on_here();
	irq_window();
	stop_here();
	hand_to(lender);
}

/* A pending interrupt ends WFI at once: whoever has one asks for the turn, and lets QEMU run others. */
static void wait_until_given(unsigned me)
{
	while (!has_turn(me)) {
		if (!irq_is_pending()) {
			arch_cpu_idle();
			continue;
		}
		if (!turn_wanted_by(me))
			turn_want(me, true);
		cpu_relax();
	}
}

static void wait_for_turn(void)
{
	unsigned me = cpu_id();

	for (;;) {
		wait_until_given(me);
		if (turn.lender == NOBODY)
			break;
		serve_lender();
	}
	turn.began = clock_ns();
	go_on_here();
}

/* --------------------------------------------------------------- interface */

void turn_want(unsigned cpu, bool soon)
{
	u64 flags = spin_lock_irqsave(&turn.lock);
	unsigned holder = turn.holder;
	bool news = cpu != holder && !turn_wanted_by(cpu);

	if (news) {
		queue_insert(soon ? 0 : turn.waiting, cpu);
		turn_is_over |= soon;
	}
	spin_unlock_irqrestore(&turn.lock, flags);
	if (news && holder != cpu_id())
		smp_send_reschedule(holder);
	else if (news && turn.waiting == 1)
		timer_set_hardware(); /* the turn has an end now */
}

void turn_pass(void)
{
	turn_is_over = false;
	if (!turn.waiting)
		return;
	stop_here();
	give_to_first(true);
	wait_for_turn();
}

void turn_idle(bool spin)
{
	if (has_turn(cpu_id()) && turn.waiting) {
		stop_here();
		give_to_first(false);
	}
	if (!has_turn(cpu_id()) || turn.lender != NOBODY) {
		wait_for_turn();
	} else if (!spin) {
		u64 frozen = perf_port_freeze();

		arch_cpu_idle();
		perf_port_thaw(frozen);
	} else {
		cpu_relax(); /* QEMU lets others run */
	}
	irq_window(); /* what woke us is handled here */
}

void turn_lend(unsigned cpu)
{
	unsigned me = cpu_id();
	u64 lent = clock_ns();

	stop_here();
	turn.lender = me;
	__atomic_store_n(&turn.holder, cpu, __ATOMIC_RELEASE);
	smp_send_call(cpu);
	while (!has_turn(me)) {
		if (irq_is_pending())
			cpu_relax();
		else
			arch_cpu_idle();
	}
	turn.began += clock_ns() - lent;
	go_on_here();
}

void turn_tick(u64 now)
{
	if (now >= turn_end())
		turn_is_over = true;
}

void turns_init(void)
{
	if (nr_cpus() == 1 || !bootarg("turns", NULL, 0))
		return;
	turn.holder = cpu_id();
	turn.began = clock_ns();
	__atomic_store_n(&turns_on, true, __ATOMIC_RELEASE);
	for (unsigned cpu = 0; cpu < nr_cpus(); cpu++)
		if (cpu != cpu_id())
			smp_send_reschedule(cpu);
}
