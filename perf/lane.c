/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lane.c - walking the lanes of a context that may run on a CPU: those whose PMU
 * the CPU has, of events bound to that CPU or to none.
 */
#include "context.h"

struct perf_cpu *perf_cpus;

static bool covers(const struct perf_lane *lane, int cpu)
{
	return perf_cpu_set_has(&lane->pmu->cpus, cpu);
}

static struct perf_lane *bound_lanes(const struct perf_context *context, int cpu)
{
	return context->of_task ? context->bound[cpu] : NULL;
}

static struct perf_lane *first_covering(struct perf_lane *lane, int cpu)
{
	while (lane && !covers(lane, cpu))
		lane = lane->next;
	return lane;
}

struct perf_lane *perf_lane_first(const struct perf_context *context, int cpu)
{
	struct perf_lane *any = first_covering(context->any, cpu);
	struct perf_lane *bound = first_covering(bound_lanes(context, cpu), cpu);

	if (context->bound_first)
		return bound ? bound : any;
	return any ? any : bound;
}

struct perf_lane *perf_lane_next(const struct perf_context *context, int cpu,
				 const struct perf_lane *lane)
{
	struct perf_lane *next = first_covering(lane->next, cpu);

	if (!next && (lane->cpu >= 0) == context->bound_first)
		next = first_covering(lane->cpu >= 0 ? context->any : bound_lanes(context, cpu),
				      cpu);
	return next;
}
