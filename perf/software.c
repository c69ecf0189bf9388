/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * software.c - the PMU of PERF_TYPE_SOFTWARE: clocks, and what the kernel does.
 *
 * A clock event counts the nanoseconds during which it is on: hw.prev is when
 * it was last looked at. All others count what the hooks report. For them each
 * CPU has, for each kind, the list of events that are on; a hook that something
 * has happened walks the list of that kind and nothing else.
 *
 * A sampling clock event has a timer for its overflow. Other sampling events
 * overflow where the hook counts them.
 *
 * Everything here happens with interrupts off on the CPU concerned.
 */
#include <linux/errno.h>
#include <utlist.h>

#include "event.h"
#include "overflow.h"
#include "software.h"

/* The events of each kind that are on, on one CPU. */
struct listeners {
	struct perf_event *of[PERF_COUNT_SW_MAX];
};

static struct listeners *listeners;

/* Timers closer than this would leave the CPU no time for anything else. */
static const uint64_t min_timer_ns = 10000;

static bool is_clock(const struct perf_hw_event *hw)
{
	return hw->config == PERF_COUNT_SW_CPU_CLOCK || hw->config == PERF_COUNT_SW_TASK_CLOCK;
}

static struct perf_event **list_of(const struct perf_hw_event *hw)
{
	return &listeners[port_cpu()].of[hw->config];
}

static bool excluded(const struct perf_event_attr *attr, const struct port_regs *regs)
{
	bool user = regs && port_regs_user(regs);

	return user ? attr->exclude_user : attr->exclude_kernel;
}

/* ------------------------------------------------------------------ clocks */

static void arm(struct perf_event *event)
{
	uint64_t left;

	perf_hw_next_period(&event->hw, UINT64_MAX, &left);
	port_timer_start(&event->timer,
			 event->hw.prev + (left > min_timer_ns ? left : min_timer_ns));
}

static void clock_expired(struct port_timer *timer, const struct port_regs *regs)
{
	struct perf_event *event =
		(struct perf_event *)((char *)timer - offsetof(struct perf_event, timer));
	struct perf_hw_event *hw = &event->hw;
	uint64_t left;
	bool ended;

	perf_hw_fold(hw, port_clock(), UINT64_MAX);
	ended = perf_hw_next_period(hw, UINT64_MAX, &left);
	arm(event);
	if (ended && !excluded(&event->attr, regs))
		perf_overflow(hw, regs, 0);
}

static void clock_start(struct perf_event *event)
{
	event->hw.prev = port_clock();
	if (perf_event_is_sampling(event))
		arm(event);
}

static void clock_stop(struct perf_event *event)
{
	if (perf_event_is_sampling(event))
		port_timer_stop(&event->timer);
}

/* --------------------------------------------------------------- operations */

static int sw_event_init(struct perf_hw_event *hw)
{
	const struct perf_event_attr *attr = hw->attr;

	if (attr->config >= PERF_COUNT_SW_MAX)
		return -ENOENT;
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return -EOPNOTSUPP;
	hw->config = attr->config;
	if (is_clock(hw))
		port_timer_init(&perf_event_of_hw(hw)->timer, clock_expired);
	return 0;
}

static void sw_read(struct perf_hw_event *hw)
{
	if (is_clock(hw))
		perf_hw_fold(hw, port_clock(), UINT64_MAX);
}

static void sw_start(struct perf_hw_event *hw)
{
	struct perf_event *event = perf_event_of_hw(hw);
	struct perf_event **list = list_of(hw);

	if (hw->idx)
		return;
	hw->idx = 1;
	if (is_clock(hw))
		clock_start(event);
	else
		DL_APPEND2(*list, event, sw_prev, sw_next);
}

static void sw_stop(struct perf_hw_event *hw, unsigned int flags)
{
	struct perf_event *event = perf_event_of_hw(hw);
	struct perf_event **list = list_of(hw);

	if (!hw->idx)
		return;
	hw->idx = 0;
	if (flags & PERF_PMU_UPDATE)
		sw_read(hw);
	if (is_clock(hw))
		clock_stop(event);
	else
		DL_DELETE2(*list, event, sw_prev, sw_next);
}

static int sw_add(struct perf_hw_event *hw, unsigned int flags)
{
	if (flags & PERF_PMU_START)
		sw_start(hw);
	return 0;
}

static void sw_del(struct perf_hw_event *hw)
{
	sw_stop(hw, PERF_PMU_UPDATE);
}

void perf_do_sw_event(unsigned int id, uint64_t nr, const struct port_regs *regs, uint64_t addr)
{
	uintptr_t irq = port_irq_save();
	struct perf_event *event, *next;

	DL_FOREACH_SAFE2(listeners[port_cpu()].of[id], event, next, sw_next) {
		if (!excluded(&event->attr, regs))
			perf_overflow_count(event, nr, regs, addr);
	}
	port_irq_restore(irq);
}

static const struct perf_pmu_ops sw_ops = {
	.event_init = sw_event_init,
	.add = sw_add,
	.del = sw_del,
	.start = sw_start,
	.stop = sw_stop,
	.read = sw_read,
};

static struct perf_pmu sw_pmu = {
	.name = "software",
	.ops = &sw_ops,
	.caps = PERF_PMU_SOFTWARE,
	.type = PERF_TYPE_SOFTWARE,
};

int perf_software_init(void)
{
	listeners = port_alloc((size_t)port_nr_cpus() * sizeof(*listeners));
	if (!listeners)
		return -ENOMEM;
	for (int cpu = 0; cpu < port_nr_cpus(); cpu++)
		perf_cpu_set_add(&sw_pmu.cpus, cpu);
	return perf_pmu_register(&sw_pmu);
}
