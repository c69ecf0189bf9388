/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.c - how many events are interested in what; see watch.h.
 */
#include "watch.h"

_Atomic uint32_t perf_watchers[PERF_WATCH_NR];

static _Atomic uint32_t task_events;

uint32_t perf_task_events(void)
{
	return atomic_load_explicit(&task_events, memory_order_relaxed);
}

static void add_watchers(unsigned int what, uint32_t change)
{
	atomic_fetch_add(&perf_watchers[what], change);
}

/* Add one, or take one away, wherever the event is interested. */
static void change_watchers(const struct perf_event *event, uint32_t change)
{
	const struct perf_event_attr *attr = &event->attr;
	bool of_task = event->hw.of_task;
	bool software = attr->type == PERF_TYPE_SOFTWARE;
	bool of_switch = software && (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
				      attr->config == PERF_COUNT_SW_CPU_MIGRATIONS);

	if (of_task)
		atomic_fetch_add(&task_events, change);
	if (of_task || of_switch || attr->context_switch)
		add_watchers(PERF_WATCH_SWITCH, change);
	if (of_task || attr->task || attr->comm || attr->mmap || attr->mmap2 || attr->mmap_data)
		add_watchers(PERF_WATCH_TASK, change);
	if (attr->context_switch)
		add_watchers(PERF_WATCH_SWITCH_RECORDS, change);
	if (attr->comm)
		add_watchers(PERF_WATCH_COMM, change);
	if (attr->mmap || attr->mmap2 || attr->mmap_data)
		add_watchers(PERF_WATCH_MMAP, change);
	if (software && attr->config < PERF_COUNT_SW_MAX)
		add_watchers(PERF_WATCH_SW + (unsigned int)attr->config, change);
}

void perf_watch_add(const struct perf_event *event)
{
	change_watchers(event, 1);
}

void perf_watch_remove(const struct perf_event *event)
{
	change_watchers(event, (uint32_t)-1);
}
