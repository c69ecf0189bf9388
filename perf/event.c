/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event.c - how an event comes to be and ceases; see event.h.
 */
#include <linux/errno.h>

#include "callchain.h"
#include "context.h"
#include "event.h"
#include "filter.h"
#include "overflow.h"
#include "registry.h"

static _Atomic uint32_t live_events;
static _Atomic uint64_t last_id;

uint32_t perf_live_events(void)
{
	return atomic_load_explicit(&live_events, memory_order_relaxed);
}

/* As on Linux also one that only counts: sample_max_stack is checked for it, too. */
static bool wants_callchain(const struct perf_event *event)
{
	return (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
}

static void destroy(struct perf_event *event)
{
	perf_filter_put(event->filter);
	if (event->context)
		perf_context_put(event->context);
	if (event->root)
		perf_event_put(event->root);
	if (event->hw.pmu && event->hw.pmu->ops->event_destroy)
		event->hw.pmu->ops->event_destroy(&event->hw);
	if (event->hw.pmu && wants_callchain(event))
		perf_callchain_unwant();
	port_free(event);
	atomic_fetch_sub(&live_events, 1);
}

int perf_event_create(const struct perf_event_attr *attr, bool of_task, int cpu,
		      struct perf_event *root, struct perf_event **result)
{
	struct perf_event *event = port_alloc(sizeof(*event));
	int error;

	if (!event)
		return -ENOMEM;
	event->attr = *attr;
	event->hw.attr = &event->attr;
	event->hw.cpu = cpu;
	event->hw.of_task = of_task;
	event->id = atomic_fetch_add(&last_id, 1) + 1;
	event->leader = event;
	event->state = PERF_STATE_OFF;
	event->enable_on_exec = attr->enable_on_exec && !root;
	atomic_init(&event->refs, 1);
	port_mutex_init(&event->copies_mutex);
	port_spin_init(&event->output_lock);
	port_waitq_init(&event->waitq);
	if (root) {
		perf_event_get(root);
		event->root = root;
		perf_filter_get(root->filter);
		event->filter = root->filter;
	}
	atomic_fetch_add(&live_events, 1);

	error = wants_callchain(event) ? perf_callchain_want(attr) : 0;
	if (!error) {
		error = perf_registry_init_event(&event->hw);
		if (error && wants_callchain(event))
			perf_callchain_unwant();
	}
	if (error) {
		event->hw.pmu = NULL;
		destroy(event);
		return error;
	}
	perf_overflow_init(event);
	*result = event;
	return 0;
}

void perf_event_get(struct perf_event *event)
{
	atomic_fetch_add_explicit(&event->refs, 1, memory_order_relaxed);
}

void perf_event_put(struct perf_event *event)
{
	if (atomic_fetch_sub_explicit(&event->refs, 1, memory_order_acq_rel) == 1)
		destroy(event);
}
