/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spin locks and the big lock.
 *
 * The big lock is one word. Nobody else wants it: one compare-and-swap takes
 * it, one atomic instruction gives it back. CPUs that find it taken queue up;
 * the first of the queue alone tries for the lock. Whoever comes by may still
 * overtake the queue, since handing the lock from CPU to CPU is slow where the
 * CPUs are threads of a busy host; but once the first one has waited for
 * PATIENCE it says so, and from then on the lock is its next.
 *
 * Who waits long sleeps until an interrupt: spinning would keep the host from
 * running the CPU that is waited for. Remote calls are served meanwhile because
 * interrupts are on, except around the WFI, which a pending one ends.
 */
#include "lib/lock.h"

#define HELD   1u /* somebody has it */
#define WANTED 2u /* the first of the queue is impatient: nobody may overtake it */
#define ASLEEP 4u /* the first of the queue has to be woken */

#define PATIENCE (200 * NSEC_PER_USEC)

static struct {
	u32 word;
	u32 owner; /* CPU + 1, 0 when free */
	u32 next;  /* ticket of the next one to queue up */
	u32 first; /* ticket of the first of the queue */
	u32 first_cpu;
	bool asleep[MAX_CPUS]; /* waiting to become the first */
} big;

/* Takes the lock if it is free and nobody but the caller has a better right to it. */
static bool try_take(u32 expect)
{
	return __atomic_compare_exchange_n(&big.word, &expect, HELD, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static bool is_first(u32 ticket)
{
	return __atomic_load_n(&big.first, __ATOMIC_ACQUIRE) == ticket;
}

static void wait_to_be_first(u32 ticket)
{
	wait_for_other_cpu(&big.asleep[cpu_id()], is_first(ticket));
}

/* The first of the queue sleeps until the holder lets go. */
static void sleep_as_first(void)
{
	u32 old;

	irq_disable();
	old = __atomic_fetch_or(&big.word, ASLEEP, __ATOMIC_SEQ_CST);
	if (old & HELD)
		arch_cpu_idle();
	__atomic_fetch_and(&big.word, ~ASLEEP, __ATOMIC_RELAXED);
	irq_enable();
}

static void wait_as_first(void)
{
	u64 began = clock_ns();
	u32 expect = 0;

	WRITE_ONCE(big.first_cpu, cpu_id());
	for (u32 spins = 0; !try_take(expect); spins++) {
		if (!expect && clock_ns() - began >= PATIENCE) {
			__atomic_fetch_or(&big.word, WANTED, __ATOMIC_RELAXED);
			expect = WANTED;
		}
		if (spins < SPINS)
			cpu_relax();
		else
			sleep_as_first();
	}
}

/* The next one becomes the first. */
static void leave_queue(void)
{
	__atomic_store_n(&big.first, big.first + 1, __ATOMIC_SEQ_CST);
	for (unsigned cpu = 0; cpu < nr_cpus(); cpu++)
		if (__atomic_load_n(&big.asleep[cpu], __ATOMIC_SEQ_CST))
			smp_send_reschedule(cpu);
}

static __attribute__((noinline)) void take_slowly(void)
{
	wait_to_be_first(__atomic_fetch_add(&big.next, 1, __ATOMIC_RELAXED));
	wait_as_first();
	leave_queue();
}

void big_lock(void)
{
	if (unlikely(!try_take(0)))
		take_slowly();
	WRITE_ONCE(big.owner, cpu_id() + 1);
}

void big_unlock(void)
{
	WRITE_ONCE(big.owner, 0);
	if (unlikely(__atomic_fetch_and(&big.word, ~HELD, __ATOMIC_SEQ_CST) & ASLEEP))
		smp_send_reschedule(READ_ONCE(big.first_cpu));
}

bool big_lock_held(void)
{
	return READ_ONCE(big.owner) == cpu_id() + 1;
}
