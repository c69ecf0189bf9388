/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opener.c - prctl(2), PR_TASK_PERF_EVENTS_ENABLE and _DISABLE: all events that
 * the calling task has opened, whatever they measure; see opener.h.
 */
#include <utlist.h>

#include "control.h"
#include "opener.h"

static struct port_mutex mutex; /* of all lists */

void perf_opener_init(void)
{
	port_mutex_init(&mutex);
}

void perf_opener_add(struct perf_event *event)
{
	struct port_task *task = port_current();

	port_task_get(task);
	port_mutex_lock(&mutex);
	event->opener = task;
	DL_APPEND2(port_task_perf(task)->opened, event, opener_prev, opener_next);
	port_mutex_unlock(&mutex);
}

void perf_opener_remove(struct perf_event *event)
{
	struct port_task *task;

	port_mutex_lock(&mutex);
	task = event->opener;
	event->opener = NULL;
	if (task)
		DL_DELETE2(port_task_perf(task)->opened, event, opener_prev, opener_next);
	port_mutex_unlock(&mutex);
	if (task)
		port_task_put(task);
}

void perf_prctl_events(bool enable)
{
	struct perf_event *event;

	port_mutex_lock(&mutex);
	DL_FOREACH2(port_task_perf(port_current())->opened, event, opener_next)
		(void)perf_file_ioctl(event, enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	port_mutex_unlock(&mutex);
}
