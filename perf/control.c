/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control.c - ioctl(2) on an event.
 *
 * What is done to an event is done to its copies as well, and with
 * PERF_IOC_FLAG_GROUP to all members of its group, each wherever it is.
 */
#include <linux/errno.h>
#include <utlist.h>

#include "access.h"
#include "attr.h"
#include "context.h"
#include "control.h"
#include "filter.h"
#include "map.h"
#include "overflow.h"
#include "sched.h"
#include "tracepoint.h"
#include "userpage.h"

typedef void (*action)(struct perf_context *context, void *event);

static void enable(struct perf_context *context, void *event)
{
	(void)context;
	perf_sched_enable(event);
}

static void disable(struct perf_context *context, void *event)
{
	(void)context;
	perf_sched_disable(event, PERF_STATE_OFF);
}

/* Zeroes the count and leaves the times. The root's copies_mutex is held. */
static void reset(struct perf_context *context, void *arg)
{
	struct perf_event *event = arg;

	(void)context;
	if (event->state == PERF_STATE_ACTIVE)
		event->hw.pmu->ops->read(&event->hw);
	atomic_store_explicit(&event->hw.count, 0, memory_order_relaxed);
	if (!event->root)
		event->ended_count = 0;
	perf_userpage_update(event);
}

void perf_control_enable(struct perf_event *event)
{
	perf_context_run(event->context, enable, event);
}

static void act_with_copies(struct perf_event *event, action act)
{
	struct perf_event *copy;

	port_mutex_lock(&event->copies_mutex);
	perf_context_run(event->context, act, event);
	DL_FOREACH2(event->copies, copy, copy_next)
		perf_context_run(copy->context, act, copy);
	port_mutex_unlock(&event->copies_mutex);
}

static void act_on_all(struct perf_event *event, uintptr_t flags, action act)
{
	struct perf_context *context = event->context;
	struct perf_event *sibling;

	port_mutex_lock(&context->mutex);
	if (flags & PERF_IOC_FLAG_GROUP) {
		act_with_copies(event->leader, act);
		DL_FOREACH2(event->leader->siblings, sibling, sib_next)
			act_with_copies(sibling, act);
	} else {
		act_with_copies(event, act);
	}
	port_mutex_unlock(&context->mutex);
}

struct new_period {
	struct perf_event *event;
	uint64_t value;
};

static void change_period(struct perf_context *context, void *arg)
{
	const struct new_period *new = arg;
	struct perf_event *event = new->event;
	const struct perf_pmu_ops *ops = event->hw.pmu->ops;
	bool running = event->state == PERF_STATE_ACTIVE && event->halt == PERF_HALT_NONE;

	(void)context;
	if (running) {
		ops->stop(&event->hw, PERF_PMU_UPDATE);
		perf_overflow_catch_up(event);
	}
	perf_overflow_set_period(event, new->value);
	if (running && event->halt == PERF_HALT_NONE)
		ops->start(&event->hw);
}

/* PERF_EVENT_IOC_PERIOD: a period, or a frequency in Hz; counting events have none. */
static long set_period(struct perf_event *event, uintptr_t arg)
{
	struct new_period new = {.event = event};
	struct perf_event *copy;
	uint64_t max_rate = (uint64_t)perf_sysctl_get(PERF_SYSCTL_MAX_SAMPLE_RATE);

	if (port_copy_from_user(&new.value, arg, sizeof(new.value)))
		return -EFAULT;
	if (!perf_event_is_sampling(event) || new.value == 0)
		return -EINVAL;
	if (event->attr.freq ? new.value > max_rate : new.value >> 63)
		return -EINVAL;

	port_mutex_lock(&event->copies_mutex);
	perf_context_run(event->context, change_period, &new);
	DL_FOREACH2(event->copies, copy, copy_next) {
		new.event = copy;
		perf_context_run(copy->context, change_period, &new);
	}
	port_mutex_unlock(&event->copies_mutex);
	return 0;
}

static void go_on(struct perf_context *context, void *arg)
{
	struct perf_event *event = arg;

	(void)context;
	if (event->state == PERF_STATE_ACTIVE && event->halt == PERF_HALT_REFRESH)
		perf_overflow_go_on(event);
	perf_sched_enable(event);
}

/* PERF_EVENT_IOC_REFRESH: enabled for so many overflows more. */
static long refresh(struct perf_event *event, uintptr_t arg)
{
	if (event->attr.inherit || !perf_event_is_sampling(event))
		return -EINVAL;
	atomic_fetch_add(&event->refresh_left, (int64_t)(int)arg);
	perf_context_run(event->context, go_on, event);
	return 0;
}

/* PERF_EVENT_IOC_SET_OUTPUT: into the ring of another event, or, with -1, of none. */
static long set_output(struct perf_event *event, uintptr_t arg)
{
	struct perf_event *target;
	long result;

	if ((int)arg == -1)
		return perf_map_redirect(event, NULL);
	target = port_fd_get((int)arg);
	if (!target)
		return -EBADF;
	result = perf_map_redirect(event, target);
	port_fd_put(target);
	return result;
}

static long get_id(const struct perf_event *event, uintptr_t arg)
{
	uint64_t id = event->id;

	return port_copy_to_user(arg, &id, sizeof(id));
}

struct new_filter {
	struct perf_event *event;
	struct perf_filter *filter;
};

static void take_filter(struct perf_context *context, void *arg)
{
	const struct new_filter *new = arg;

	(void)context;
	new->event->filter = new->filter;
}

/* Give an event its filter, which stays the caller's as well. */
static void set_filter_of(struct perf_event *event, struct perf_filter *filter)
{
	struct new_filter new = {event, filter};

	perf_filter_get(filter);
	perf_context_run(event->context, take_filter, &new);
}

/* As on Linux an event has one filter for life. */
static int set_filter_of_all(struct perf_event *event, struct perf_filter *filter)
{
	struct perf_event *copy;
	int error = 0;

	port_mutex_lock(&event->copies_mutex);
	if (event->filter) {
		error = -EEXIST;
	} else {
		set_filter_of(event, filter);
		DL_FOREACH2(event->copies, copy, copy_next)
			set_filter_of(copy, filter);
	}
	port_mutex_unlock(&event->copies_mutex);
	return error;
}

/* A string of user space, at most a page with its NUL. Returns 0, -EFAULT, -EINVAL or -ENOMEM. */
static int copy_string(uintptr_t user, char **result)
{
	size_t max = port_page_size(), n = 0;
	char *text = port_alloc(max);
	int error = text ? 0 : -ENOMEM;

	while (!error && n < max) {
		error = port_copy_from_user(&text[n], user + n, 1);
		if (!error && text[n++] == '\0')
			break;
	}
	if (!error && text[n - 1] != '\0')
		error = -EINVAL;
	if (error)
		port_free(text);
	*result = text;
	return error;
}

/* PERF_EVENT_IOC_SET_FILTER: the records of a tracepoint that it is about. There are no address filters. */
static long set_filter(struct perf_event *event, uintptr_t arg)
{
	const struct perf_tracepoint *tracepoint = perf_tracepoint_of(event);
	struct perf_filter *filter;
	char *text;
	int error;

	if (!tracepoint)
		return -EINVAL;
	error = copy_string(arg, &text);
	if (error)
		return error;
	error = perf_filter_parse(tracepoint, text, &filter);
	port_free(text);
	if (error)
		return error;
	error = set_filter_of_all(event, filter);
	perf_filter_put(filter);
	return error;
}

/* Only a breakpoint's attributes can be modified, and there are none here. */
static long modify_attributes(const struct perf_event *event, uintptr_t arg)
{
	struct perf_event_attr attr;
	int error = perf_attr_from_user(&attr, arg);

	if (error)
		return error;
	return attr.type == event->attr.type ? -EOPNOTSUPP : -EINVAL;
}

long perf_file_ioctl(struct perf_event *event, unsigned int request, uintptr_t arg)
{
	switch (request) {
	case PERF_EVENT_IOC_ENABLE:
		act_on_all(event, arg, enable);
		return 0;
	case PERF_EVENT_IOC_DISABLE:
		act_on_all(event, arg, disable);
		return 0;
	case PERF_EVENT_IOC_RESET:
		act_on_all(event, arg, reset);
		return 0;
	case PERF_EVENT_IOC_PERIOD:
		return set_period(event, arg);
	case PERF_EVENT_IOC_ID:
		return get_id(event, arg);
	case PERF_EVENT_IOC_SET_OUTPUT:
		return set_output(event, arg);
	case PERF_EVENT_IOC_REFRESH:
		return refresh(event, arg);
	case PERF_EVENT_IOC_PAUSE_OUTPUT:
		return perf_map_pause(event, arg != 0);
	case PERF_EVENT_IOC_SET_FILTER:
		return set_filter(event, arg);
	/* There are no BPF programs. */
	case PERF_EVENT_IOC_SET_BPF:
	case PERF_EVENT_IOC_QUERY_BPF:
		return -EINVAL;
	case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
		return modify_attributes(event, arg);
	default:
		return -ENOTTY;
	}
}
