/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * time.c - time_enabled and time_running; see time.h.
 */
#include <utlist.h>

#include "time.h"

void perf_time_advance(struct perf_context *context)
{
	uint64_t now;

	if (context->cpu < 0)
		return;
	now = port_clock();
	context->time += now - context->stamp;
	context->stamp = now;
}

/* A sibling is enabled only as long as its leader is. */
static bool wants_to_count(const struct perf_event *event)
{
	return event->state >= PERF_STATE_INACTIVE && event->leader->state >= PERF_STATE_INACTIVE;
}

void perf_time_charge(struct perf_event *event)
{
	uint64_t passed = event->context->time - event->stamp;

	if (wants_to_count(event))
		event->time_enabled += passed;
	if (event->state == PERF_STATE_ACTIVE)
		event->time_running += passed;
	event->stamp += passed;
}

void perf_time_set_state(struct perf_event *event, enum perf_state state)
{
	bool was_enabled = event->state >= PERF_STATE_INACTIVE;
	bool is_enabled = state >= PERF_STATE_INACTIVE;
	struct perf_event *sibling;

	perf_time_charge(event);
	if (was_enabled != is_enabled)
		DL_FOREACH2(event->siblings, sibling, sib_next)
			perf_time_charge(sibling);
	event->state = state;
}

void perf_time_read(struct perf_event *event, struct perf_reading *reading)
{
	if (event->state == PERF_STATE_ACTIVE)
		event->hw.pmu->ops->read(&event->hw);
	perf_time_charge(event);
	reading->count += atomic_load_explicit(&event->hw.count, memory_order_relaxed);
	reading->time_enabled += event->time_enabled;
	reading->time_running += event->time_running;
}
