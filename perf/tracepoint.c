/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracepoint.c - the PMU of PERF_TYPE_TRACEPOINT.
 *
 * As with the other software events, each CPU has for each tracepoint the list of
 * events that are on; coming by walks this list and nothing else. Tracepoints
 * are only ever added, at the end of a list that readers walk without a lock.
 *
 * The record of the tracepoint that the CPU has come by is the perf_cpu's `raw`
 * while that list is walked, for sample.c to find.
 */
#include <linux/errno.h>
#include <utlist.h>

#include "access.h"
#include "context.h"
#include "filter.h"
#include "overflow.h"
#include "tracepoint.h"

static _Atomic(struct perf_tracepoint *) first;
static struct port_mutex registering;

/* -------------------------------------------------------------- the places */

const struct perf_trace_field perf_trace_header_fields[] = {
	{"unsigned short", "common_type", 0, 2, 0, false, false},
	{"unsigned char", "common_flags", 2, 1, 0, false, false},
	{"unsigned char", "common_preempt_count", 3, 1, 0, false, false},
	{"int", "common_pid", 4, 4, 0, true, false},
	{0},
};

struct perf_tracepoint *perf_tracepoint_next(struct perf_tracepoint *tracepoint)
{
	return atomic_load(tracepoint ? &tracepoint->next : &first);
}

int perf_tracepoint_register(struct perf_tracepoint *tracepoint)
{
	_Atomic(struct perf_tracepoint *) *end = &first;
	uint16_t id = 1;
	int error = 0;

	tracepoint->on_cpu = port_alloc((size_t)port_nr_cpus() * sizeof(*tracepoint->on_cpu));
	if (!tracepoint->on_cpu)
		return -ENOMEM;
	atomic_store(&tracepoint->next, NULL);
	port_mutex_lock(&registering);
	while (atomic_load(end)) {
		id = atomic_load(end)->id;
		end = &atomic_load(end)->next;
		id++;
	}
	if (id == 0)
		error = -ENOSPC;
	tracepoint->id = id;
	if (!error)
		atomic_store(end, tracepoint);
	port_mutex_unlock(&registering);
	if (error)
		port_free(tracepoint->on_cpu);
	return error;
}

static struct perf_tracepoint *find(uint64_t id)
{
	struct perf_tracepoint *tracepoint = perf_tracepoint_next(NULL);

	while (tracepoint && tracepoint->id != id)
		tracepoint = perf_tracepoint_next(tracepoint);
	return tracepoint;
}

static struct perf_tracepoint *of_hw(const struct perf_hw_event *hw)
{
	return (struct perf_tracepoint *)(uintptr_t)hw->config;
}

struct perf_tracepoint *perf_tracepoint_of(const struct perf_event *event)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT ? of_hw(&event->hw) : NULL;
}

/* --------------------------------------------------------------- operations */

static void change_watchers(struct perf_tracepoint *tracepoint, uint32_t change)
{
	atomic_fetch_add(&tracepoint->watchers, change);
	if (tracepoint->shared_watchers)
		atomic_fetch_add(tracepoint->shared_watchers, change);
}

/* What a record says is for few to know, but a copy is made for whoever was allowed the root. */
static int check_access(struct perf_hw_event *hw, const struct perf_tracepoint *tracepoint)
{
	if (perf_event_of_hw(hw)->root || !(hw->attr->sample_type & PERF_SAMPLE_RAW))
		return 0;
	if (hw->of_task && tracepoint->harmless)
		return 0;
	return perf_access_raw_trace();
}

static int trace_event_init(struct perf_hw_event *hw)
{
	struct perf_tracepoint *tracepoint = find(hw->attr->config);
	int error;

	if (hw->attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return -EOPNOTSUPP;
	if (!tracepoint)
		return -EINVAL;
	error = check_access(hw, tracepoint);
	if (error)
		return error;
	hw->config = (uintptr_t)tracepoint;
	change_watchers(tracepoint, 1);
	return 0;
}

static void trace_event_destroy(struct perf_hw_event *hw)
{
	change_watchers(of_hw(hw), (uint32_t)-1);
}

static void trace_start(struct perf_hw_event *hw)
{
	struct perf_event **list = &of_hw(hw)->on_cpu[port_cpu()];

	if (hw->idx)
		return;
	hw->idx = 1;
	DL_APPEND2(*list, perf_event_of_hw(hw), sw_prev, sw_next);
}

static void trace_stop(struct perf_hw_event *hw, unsigned int flags)
{
	struct perf_event **list = &of_hw(hw)->on_cpu[port_cpu()];

	(void)flags;
	if (!hw->idx)
		return;
	hw->idx = 0;
	DL_DELETE2(*list, perf_event_of_hw(hw), sw_prev, sw_next);
}

static int trace_add(struct perf_hw_event *hw, unsigned int flags)
{
	if (flags & PERF_PMU_START)
		trace_start(hw);
	return 0;
}

static void trace_del(struct perf_hw_event *hw)
{
	trace_stop(hw, PERF_PMU_UPDATE);
}

/* The count is always up to date. */
static void trace_read(struct perf_hw_event *hw)
{
	(void)hw;
}

static const struct perf_pmu_ops trace_ops = {
	.event_init = trace_event_init,
	.event_destroy = trace_event_destroy,
	.add = trace_add,
	.del = trace_del,
	.start = trace_start,
	.stop = trace_stop,
	.read = trace_read,
};

static struct perf_pmu trace_pmu = {
	.name = "tracepoint",
	.ops = &trace_ops,
	.caps = PERF_PMU_SOFTWARE,
	.type = PERF_TYPE_TRACEPOINT,
};

int perf_tracepoint_init(void)
{
	port_mutex_init(&registering);
	for (int cpu = 0; cpu < port_nr_cpus(); cpu++)
		perf_cpu_set_add(&trace_pmu.cpus, cpu);
	return perf_pmu_register(&trace_pmu);
}

/* --------------------------------------------------------------- coming by */

void perf_trace(struct perf_tracepoint *tracepoint, struct perf_trace_header *record, size_t size,
		uint64_t count)
{
	uintptr_t irq = port_irq_save();
	struct perf_cpu *cpu = perf_this_cpu();
	struct perf_event *event, *next;

	*record = (struct perf_trace_header){.type = tracepoint->id,
					     .pid = port_task_tid(port_current())};
	cpu->raw = (struct perf_raw){record, size};
	cpu->site = PERF_SITE_HERE();
	DL_FOREACH_SAFE2(tracepoint->on_cpu[port_cpu()], event, next, sw_next) {
		if (!event->attr.exclude_kernel && perf_filter_passes(event->filter, record))
			perf_overflow_count(event, count, NULL, 0);
	}
	cpu->site.ip = 0;
	cpu->raw = (struct perf_raw){0}; /* it is the caller's again */
	port_irq_restore(irq);
}
