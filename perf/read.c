/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read.c - the value of an event, as read(2) returns it.
 *
 * What a reader sees is the sum over an event and all its copies, those that
 * live and those that have ended. Reading changes nothing.
 */
#include <linux/errno.h>
#include <utlist.h>

#include "attr.h"
#include "context.h"
#include "read.h"
#include "time.h"

/* Value, two times, id and lost: what a read of one event can consist of. */
enum { MAX_SINGLE = 5 };

void perf_read_fold_copy(struct perf_event *copy)
{
	struct perf_event *root = copy->root;

	if (!copy->listed)
		return;
	root->ended_count += atomic_load_explicit(&copy->hw.count, memory_order_relaxed);
	root->ended_enabled += copy->time_enabled;
	root->ended_running += copy->time_running;
	DL_DELETE2(root->copies, copy, copy_prev, copy_next);
	copy->listed = false;
	perf_event_put(copy);
}

struct reading_one {
	struct perf_event *event;
	struct perf_reading *reading;
	bool failed; /* the event is in error state */
};

static void read_one(struct perf_context *context, void *arg)
{
	struct reading_one *one = arg;

	(void)context;
	perf_time_read(one->event, one->reading);
	one->failed = one->event->state == PERF_STATE_ERROR;
}

/* Add what an event's copies have counted. */
static void add_copies(struct perf_event *event, struct perf_reading *reading)
{
	struct perf_event *copy;

	port_mutex_lock(&event->copies_mutex);
	reading->count += event->ended_count;
	reading->time_enabled += event->ended_enabled;
	reading->time_running += event->ended_running;
	DL_FOREACH2(event->copies, copy, copy_next) {
		struct reading_one one = {.event = copy, .reading = reading};

		perf_context_run(copy->context, read_one, &one);
	}
	port_mutex_unlock(&event->copies_mutex);
}

/* Times first, as far as they are asked for; returns where the next value goes. */
static uint64_t *put_times(uint64_t *out, uint64_t format, const struct perf_reading *reading)
{
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		*out++ = reading->time_enabled;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		*out++ = reading->time_running;
	return out;
}

static uint64_t *put_identity(uint64_t *out, uint64_t format, const struct perf_event *event)
{
	if (format & PERF_FORMAT_ID)
		*out++ = event->id;
	if (format & PERF_FORMAT_LOST)
		*out++ = atomic_load_explicit(&event->lost_records, memory_order_relaxed);
	return out;
}

/* Fill in values; returns their size, or 0 for an event in error state. */
static long read_single(struct perf_event *event, uint64_t *values)
{
	struct perf_reading reading = {0};
	struct reading_one one = {.event = event, .reading = &reading};
	uint64_t format = event->attr.read_format;
	uint64_t *out = values;

	perf_context_run(event->context, read_one, &one);
	if (one.failed)
		return 0;
	add_copies(event, &reading);
	*out++ = reading.count;
	out = put_times(out, format, &reading);
	out = put_identity(out, format, event);
	return (out - values) * (long)sizeof(*values);
}

struct reading_group {
	const struct perf_event *event; /* the member that is being read */
	struct perf_reading *readings;	/* of the leader, then of its siblings in order */
	bool failed;			/* the event is in error state */
};

/* All members at the same moment. */
static void read_group(struct perf_context *context, void *arg)
{
	struct reading_group *group = arg;
	struct perf_event *leader = group->event->leader, *sibling;
	struct perf_reading *reading = group->readings;

	(void)context;
	perf_time_read(leader, reading);
	DL_FOREACH2(leader->siblings, sibling, sib_next)
		perf_time_read(sibling, ++reading);
	group->failed = group->event->state == PERF_STATE_ERROR;
}

static void put_group(uint64_t *out, uint64_t format, struct perf_event *leader,
		      const struct perf_reading *reading)
{
	struct perf_event *sibling;

	*out++ = 1 + leader->nr_siblings;
	out = put_times(out, format, reading);
	*out++ = reading->count;
	out = put_identity(out, format, leader);
	DL_FOREACH2(leader->siblings, sibling, sib_next) {
		reading++;
		*out++ = reading->count;
		out = put_identity(out, format, sibling);
	}
}

/*
 * The same for a group, of which the event is a member. One block of memory, to be
 * freed by the caller, holds the readings and, behind them, the values.
 */
static long read_whole_group(const struct perf_event *event, size_t size, void **block,
			     uint64_t **values)
{
	struct perf_event *leader = event->leader, *sibling;
	unsigned int nr = 1 + leader->nr_siblings;
	struct perf_reading *reading = port_alloc(nr * sizeof(*reading) + size);
	struct reading_group group = {.event = event, .readings = reading};

	if (!reading)
		return -ENOMEM;
	*block = reading;
	*values = (uint64_t *)(reading + nr);
	perf_context_run(leader->context, read_group, &group);
	if (group.failed)
		return 0;
	add_copies(leader, reading);
	DL_FOREACH2(leader->siblings, sibling, sib_next)
		add_copies(sibling, ++reading);
	put_group(*values, event->attr.read_format, leader, group.readings);
	return (long)size;
}

static bool is_in_error(struct perf_event *event)
{
	struct perf_reading reading = {0};
	struct reading_one one = {.event = event, .reading = &reading};

	perf_context_run(event->context, read_one, &one);
	return one.failed;
}

/* The mutex keeps the group as it is; the user's memory is touched without it. */
long perf_file_read(struct perf_event *event, uintptr_t buffer, size_t size)
{
	struct perf_context *context = event->context;
	uint64_t single[MAX_SINGLE], *values = single;
	void *block = NULL;
	size_t needed;
	long result;

	port_mutex_lock(&context->mutex);
	needed = perf_attr_read_size(&event->attr, 1 + event->leader->nr_siblings);
	if (size < needed)
		result = is_in_error(event) ? 0 : -ENOSPC;
	else if (event->attr.read_format & PERF_FORMAT_GROUP)
		result = read_whole_group(event, needed, &block, &values);
	else
		result = read_single(event, single);
	port_mutex_unlock(&context->mutex);
	if (result > 0 && port_copy_to_user(buffer, values, (size_t)result) != 0)
		result = -EFAULT;
	port_free(block);
	return result;
}
