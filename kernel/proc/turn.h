/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPUs that take turns: boot argument `turns`, given in exact mode on several CPUs.
 *
 * QEMU runs the CPUs of an exact machine one after the other, when it likes, and
 * has one counter of instructions for all of them: what one executes while
 * another is off QEMU's thread in user mode is counted there. So this kernel
 * decides which CPU runs. One CPU has the turn; all others wait in WFI with
 * interrupts off, their counters frozen and their timers off: they execute
 * nothing, and nothing is counted that is not their own. It is fair as well,
 * which QEMU is not.
 *
 * Who has the turn keeps it until it goes idle or, if others want it, its time is
 * up; it hands it over on its way to user mode, never while it holds a lock. A
 * CPU wants it when it has something to run, when one of its timers is due
 * (whoever has the turn sets its timer for all of them), or when an interrupt is
 * pending. A remote call lends the turn to its target until the call has run.
 *
 * Without the boot argument all this is off and costs a load and a branch.
 */
#ifndef TALLY_PROC_TURN_H
#define TALLY_PROC_TURN_H

#include "arch/aarch64/cpu.h"

extern bool turns_on;
extern bool turn_is_over;

/* Called once, by the boot CPU, when the others are idle. */
void turns_init(void);

/*
 * The CPU has something to do. `soon`: before those who wait already, unless it
 * has used more than its share lately. Any context that holds neither the timers'
 * locks nor is without the turn, but for a CPU that asks for itself.
 */
void turn_want(unsigned cpu, bool soon);

/* Whether this CPU should call turn_pass(). Interrupts off, or the answer may be stale. */
static inline bool turn_over(void)
{
	return unlikely(READ_ONCE(turn_is_over));
}

/* Others go first. Interrupts off, no locks, on the way to user mode; what is pending is for the caller to handle. */
void turn_pass(void);

/* What an idle CPU does instead of WFI. Interrupts off; may return at any time. `spin`: do not sleep. */
void turn_idle(bool spin);

/* Interrupts off. The target has the turn, handles its interrupts, and gives it back. */
void turn_lend(unsigned cpu);

/* For the timer: when the turn ends; NO_DEADLINE: nobody else wants it, or it is over, or it is lent. */
u64 turn_end(void);
/* Whether the CPU will have the turn anyway: it is in the queue, or has lent its turn. */
bool turn_awaited_by(unsigned cpu);
/* The timer interrupt of the CPU that has the turn. */
void turn_tick(u64 now);

#endif
