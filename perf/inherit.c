/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inherit.c - events of a task's children, and how a task's events end.
 *
 * A copy refers to its root, never to a copy in between, and the root lists its
 * copies. Making a copy, from looking at the state of what is copied to listing
 * the copy, happens under the root's copies_mutex; so does an ioctl on the root
 * and all its copies. Hence a child whose parent's event is enabled or disabled
 * meanwhile is either copied afterwards, or reached by the ioctl.
 */
#include <linux/errno.h>
#include <utlist.h>

#include "context.h"
#include "control.h"
#include "inherit.h"
#include "read.h"
#include "sample.h"

struct question {
	const struct perf_event *event;
	bool enabled;
};

static void ask_enabled(struct perf_context *context, void *arg)
{
	struct question *question = arg;

	(void)context;
	question->enabled = question->event->state >= PERF_STATE_INACTIVE;
}

static bool is_enabled(const struct perf_event *event)
{
	struct question question = {.event = event};

	perf_context_run(event->context, ask_enabled, &question);
	return question.enabled;
}

/* With the root's copies_mutex held. */
static int add_copy(struct perf_event *event, struct perf_event *root, struct perf_context *context,
		    struct perf_event *leader, struct perf_event **result)
{
	struct perf_event *copy;
	int error = perf_event_create(&root->attr, true, event->hw.cpu, root, &copy);

	if (error)
		return error;
	error = perf_context_attach(context, copy, leader);
	if (error) {
		perf_event_put(copy);
		return error;
	}
	perf_event_get(copy); /* one reference for the context, one for the list */
	DL_APPEND2(root->copies, copy, copy_prev, copy_next);
	copy->listed = true;
	if (is_enabled(event))
		perf_control_enable(copy);
	*result = copy;
	return 0;
}

/* Copy one event into a group; none if its root is being closed. */
static int copy_event(struct perf_event *event, struct perf_context *context,
		      struct perf_event *leader, struct perf_event **result)
{
	struct perf_event *root = perf_event_root(event);
	int error = 0;

	*result = NULL;
	port_mutex_lock(&root->copies_mutex);
	if (!root->closed)
		error = add_copy(event, root, context, leader, result);
	port_mutex_unlock(&root->copies_mutex);
	return error;
}

static int copy_group(struct perf_event *leader, struct perf_context *context)
{
	struct perf_event *sibling, *leader_copy, *copy;
	int error = copy_event(leader, context, NULL, &leader_copy);

	DL_FOREACH2(leader->siblings, sibling, sib_next) {
		if (error)
			break;
		error = copy_event(sibling, context, leader_copy, &copy);
	}
	return error;
}

static bool is_inherited(const struct perf_event *event, bool thread)
{
	return event->attr.inherit && (thread || !event->attr.inherit_thread);
}

/* With both mutexes held. */
static int copy_all(struct perf_context *from, struct perf_context *to, bool thread)
{
	bool alike = true;
	struct perf_event *event;
	int error = 0;

	DL_FOREACH2(from->events, event, ctx_next) {
		if (event->leader == event && is_inherited(event, thread))
			error = copy_group(event, to);
		if (error)
			return error;
		/* Exec enables the parent's event alone; inherit_stat tells tasks apart. */
		alike = alike && !event->enable_on_exec && !event->attr.inherit_stat;
	}
	if (alike && to->nr_events == from->nr_events)
		perf_context_set_alike(from, to);
	return 0;
}

static int copy_to_child(struct perf_context *from, struct perf_task *child, bool thread)
{
	struct perf_context *to;
	int error = perf_context_of_task(child, &to);

	if (error)
		return error;
	port_mutex_lock(&to->mutex);
	error = copy_all(from, to, thread);
	perf_context_release(to);
	return error;
}

static bool inherits_any(const struct perf_context *context, bool thread)
{
	const struct perf_event *event;

	DL_FOREACH2(context->events, event, ctx_next) {
		if (is_inherited(event, thread))
			return true;
	}
	return false;
}

int perf_inherit_copy(struct perf_task *child, struct perf_task *parent, bool thread)
{
	struct perf_context *from = perf_context_hold_shared(parent);
	int error = 0;

	if (!from)
		return 0;
	if (inherits_any(from, thread))
		error = copy_to_child(from, child, thread);
	perf_context_release(from);
	if (error)
		perf_inherit_end(child);
	return error;
}

static void leave(struct perf_event *event)
{
	struct perf_event *root = event->root;
	bool was_attached = perf_context_detach(event, PERF_STATE_GONE, root != NULL);

	if (root) {
		port_mutex_lock(&root->copies_mutex);
		perf_read_fold_copy(event);
		port_mutex_unlock(&root->copies_mutex);
	}
	port_wake(&perf_event_root(event)->waitq);
	if (was_attached)
		perf_event_put(event);
}

static void record_values(struct perf_context *context, void *event)
{
	(void)context;
	perf_sample_write_read(event);
}

void perf_inherit_leave(struct perf_event *event)
{
	if (event->root && event->attr.inherit_stat)
		perf_context_run(event->context, record_values, event);
	leave(event);
}

void perf_inherit_end(struct perf_task *task)
{
	struct perf_context *context = perf_context_hold(task);
	struct perf_context *taken;

	if (!context)
		return;
	taken = perf_context_take(task);
	perf_context_end(context);
	while (context->events) {
		if (port_current() == task->task)
			perf_inherit_leave(context->events);
		else /* a clone that failed: it has never run */
			leave(context->events);
	}
	perf_context_release(context);
	perf_context_put(taken);
}

/* The first copy that is still listed, with a reference; NULL at the end. */
static struct perf_event *get_copy(struct perf_event *root)
{
	struct perf_event *copy;

	port_mutex_lock(&root->copies_mutex);
	root->closed = true;
	copy = root->copies;
	if (copy)
		perf_event_get(copy);
	port_mutex_unlock(&root->copies_mutex);
	return copy;
}

void perf_inherit_close(struct perf_event *root)
{
	struct perf_event *copy;

	while ((copy = get_copy(root))) {
		port_mutex_lock(&copy->context->mutex);
		leave(copy);
		port_mutex_unlock(&copy->context->mutex);
		perf_event_put(copy);
	}
}
