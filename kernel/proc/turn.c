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

#define TURN_NS	    NSEC_PER_MSEC
#define SHORTEST_NS (20 * NSEC_PER_USEC) /* less than this is no turn */
#define NOBODY	    MAX_CPUS

bool turns_on;
bool turn_is_over;

static struct {
	struct spinlock lock; /* interrupts off; innermost */
	u32 holder;
	u32 lender; /* whose turn it is while another serves its remote call, or NOBODY */
	u8 queue[MAX_CPUS];
	unsigned waiting; /* CPUs in the queue */
	unsigned urgent;  /* so many of them, the first, go before those that wait in order */
	u64 began;	  /* this turn */
	u64 length[MAX_CPUS]; /* of the turn that the CPU has or waits for; what is left of it if it is idle */
	u64 idle_since[MAX_CPUS];
	u64 frozen[MAX_CPUS];
} turn = {.lender = NOBODY};

static bool has_turn(unsigned cpu)
{
	return __atomic_load_n(&turn.holder, __ATOMIC_ACQUIRE) == cpu;
}

bool turn_awaited_by(unsigned cpu)
{
	if (cpu == turn.lender)
		return true;
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

static void queue_insert_last(unsigned cpu)
{
	turn.length[cpu] = TURN_NS;
	queue_insert(turn.waiting, cpu);
}

static unsigned queue_take_first(void)
{
	unsigned cpu = turn.queue[0];

	turn.waiting--;
	if (turn.urgent)
		turn.urgent--;
	memmove(&turn.queue[0], &turn.queue[1], turn.waiting);
	return cpu;
}

/* ------------------------------------------------------------- what is used */

/*
 * An idle CPU may go before others for what is left of its last turn, and for the share of a busy
 * one in the time it was idle. So it need not wait if it does little, and starves nobody if it
 * sleeps for a moment again and again.
 */
static void earn(unsigned cpu)
{
	u64 now = clock_ns(), earned = (now - turn.idle_since[cpu]) / nr_cpus();

	turn.length[cpu] = MIN(turn.length[cpu] + earned, TURN_NS);
	turn.idle_since[cpu] = now;
}

/* Whoever has the turn stops using it. */
static void charge(unsigned me)
{
	u64 now = clock_ns(), used = now - turn.began;

	turn.length[me] -= MIN(used, turn.length[me]);
	turn.idle_since[me] = now;
}

/* --------------------------------------------------------- handing it over */

u64 turn_end(void)
{
	bool ends = turn.waiting && !turn_is_over && turn.lender == NOBODY;

	return ends ? turn.began + turn.length[cpu_id()] : NO_DEADLINE;
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

static void set_holder(unsigned cpu)
{
	__atomic_store_n(&turn.holder, cpu, __ATOMIC_RELEASE);
}

static void give_to_first(bool come_back)
{
	unsigned me = cpu_id(), next;

	charge(me);
	spin_lock(&turn.lock);
	turn_is_over = false;
	next = queue_take_first();
	if (come_back && turn.length[me] >= SHORTEST_NS)
		queue_insert(turn.urgent, me);
	else if (come_back)
		queue_insert_last(me);
	irq_route_devices(next);
	set_holder(next);
	spin_unlock(&turn.lock);
	smp_send_reschedule(next);
}

/* ----------------------------------------------------------------- waiting */

/* A remote call, for which another CPU lent its turn. What else is pending is handled as well. */
static void serve_lender(void)
{
	u32 lender = turn.lender;

	go_on_here();
	irq_window();
	stop_here();
	turn.lender = NOBODY;
	set_holder(lender);
	smp_send_reschedule(lender);
}

/* A pending interrupt ends WFI at once: whoever has one asks for the turn, and lets QEMU run others. */
static void wait_until_given(unsigned me)
{
	while (!has_turn(me)) {
		if (!irq_is_pending()) {
			arch_cpu_idle();
			continue;
		}
		if (turn.lender == NOBODY && !turn_awaited_by(me))
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
	bool has_it = cpu == holder && turn.lender == NOBODY;
	bool news = !has_it && !turn_awaited_by(cpu);

	if (news)
		earn(cpu);
	if (news && soon && turn.length[cpu] >= SHORTEST_NS) {
		queue_insert(turn.urgent++, cpu);
		turn_is_over = true;
	} else if (news) {
		queue_insert_last(cpu);
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

/* Nobody else wants the turn. */
static void idle_with_turn(bool spin)
{
	u64 frozen;

	charge(cpu_id());
	if (spin) {
		cpu_relax(); /* QEMU lets others run */
	} else {
		frozen = perf_port_freeze();
		arch_cpu_idle();
		perf_port_thaw(frozen);
	}
	earn(cpu_id());
	turn.began = clock_ns();
}

void turn_idle(bool spin)
{
	if (has_turn(cpu_id()) && turn.waiting) {
		stop_here();
		give_to_first(false);
	}
	if (!has_turn(cpu_id()) || turn.lender != NOBODY)
		wait_for_turn();
	else
		idle_with_turn(spin);
	irq_window(); /* what woke us is handled here */
}

void turn_lend(unsigned cpu)
{
	unsigned me = cpu_id();
	u64 lent = clock_ns();

	stop_here();
	turn.lender = me;
	smp_send_call(cpu); /* pending when the target looks for it */
	set_holder(cpu);
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
	turn.length[cpu_id()] = TURN_NS;
	turn.began = clock_ns();
	__atomic_store_n(&turns_on, true, __ATOMIC_RELEASE);
	for (unsigned cpu = 0; cpu < nr_cpus(); cpu++)
		if (cpu != cpu_id())
			smp_send_reschedule(cpu);
}
