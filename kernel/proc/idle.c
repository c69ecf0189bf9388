/* SPDX-License-Identifier: BSD-2-Clause */
/* What a CPU does that has nothing to do: it waits for an interrupt, or, as sched.h says, for the host. */
#include "proc/internal.h"
#include "proc/turn.h"

static u32 host_waits; /* big lock for writing */
static bool counters_used;

void sched_counters_used(void)
{
	counters_used = true;
}

void sched_host_wait_begin(void)
{
	WRITE_ONCE(host_waits, host_waits + 1);
}

void sched_host_wait_end(void)
{
	WRITE_ONCE(host_waits, host_waits - 1);
}

static void idle(void)
{
	bool spin = READ_ONCE(host_waits) && (counters_used || timer_awaited());

	if (turns_on) {
		turn_idle(spin);
		return;
	}
	if (!spin || nr_cpus() > 1)
		arch_cpu_idle();
	irq_window(); /* what woke us is handled here */
}

void sched_idle_loop(void)
{
	for (;;) {
		irq_disable();
		while (!current->need_resched)
			idle();
		irq_enable();
		schedule();
	}
}
