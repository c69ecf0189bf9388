/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open.c - perf_event_open(2), and the end of an event's file.
 *
 * The event is made, checked against its group and its target, and attached;
 * when its file appears, all is in place and nothing can fail any more.
 */
#include <linux/errno.h>
#include <linux/poll.h>
#include <utlist.h>

#include "access.h"
#include "attr.h"
#include "context.h"
#include "control.h"
#include "inherit.h"
#include "map.h"
#include "opener.h"

static const unsigned long all_flags =
	PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC;

/* A group that could not be read, or not be sampled, as a whole is too big. */
enum { MAX_GROUP_BYTES = 16 * 1024 };

/* A call under way: what was asked for, and what has been found so far. */
struct opening {
	struct perf_event_attr attr;
	int pid;
	int cpu;
	unsigned long flags;
	struct port_task *task;	   /* NULL for the events of a CPU */
	struct perf_event *leader; /* NULL for a group of its own */
	struct perf_event *output; /* into whose ring it writes, NULL for its own */
	struct perf_context *context;
	struct perf_event *event;
};

static int check_arguments(const struct opening *opening)
{
	const struct perf_event_attr *attr = &opening->attr;

	if (attr->freq) {
		if (attr->sample_freq > (uint64_t)perf_sysctl_get(PERF_SYSCTL_MAX_SAMPLE_RATE))
			return -EINVAL;
	} else if (attr->sample_period >> 63) {
		return -EINVAL;
	}
	/* There are no control groups here. */
	if (opening->flags & PERF_FLAG_PID_CGROUP)
		return -EINVAL;
	return 0;
}

/* A bad file descriptor and a missing task have been told of by now, as on Linux. */
static int check_target(const struct opening *opening)
{
	if (opening->cpu < -1 || opening->cpu >= port_nr_cpus())
		return -EINVAL;
	if (opening->pid == -1 && (opening->cpu == -1 || opening->attr.sigtrap))
		return -EINVAL;
	if (opening->attr.inherit && (opening->attr.sample_type & PERF_SAMPLE_READ))
		return -EINVAL;
	return 0;
}

/* ------------------------------------------------------------------- groups */

/* The hardware PMU of a group, NULL if all its members are software events. */
static const struct perf_pmu *group_pmu(const struct perf_event *leader)
{
	const struct perf_event *member = leader->siblings;

	if (!perf_event_is_software(leader))
		return leader->hw.pmu;
	while (member && perf_event_is_software(member))
		member = member->sib_next;
	return member ? member->hw.pmu : NULL;
}

/* Whether the PMU could count the group with the new event in it. */
static int check_fits(struct perf_event *event, struct perf_event *leader)
{
	struct perf_pmu *pmu = event->hw.pmu;
	unsigned int nr = 0, max = 2 + (leader ? leader->nr_siblings : 0);
	struct perf_hw_event **events;
	struct perf_event *sibling;
	int error;

	if (!pmu->ops->group_fits)
		return 0;
	events = port_alloc(max * sizeof(struct perf_hw_event *));
	if (!events)
		return -ENOMEM;
	if (leader && leader->hw.pmu == pmu)
		events[nr++] = &leader->hw;
	if (leader) {
		DL_FOREACH2(leader->siblings, sibling, sib_next) {
			if (sibling->hw.pmu == pmu)
				events[nr++] = &sibling->hw;
		}
	}
	events[nr++] = &event->hw;
	error = pmu->ops->group_fits(pmu, events, nr);
	port_free(events);
	return error;
}

static int check_group_size(const struct perf_event *event, const struct perf_event *leader)
{
	unsigned int nr = leader ? 2 + leader->nr_siblings : 1;
	const struct perf_event *sibling;

	if (perf_attr_read_size(&event->attr, nr) >= MAX_GROUP_BYTES)
		return -E2BIG;
	if (!leader)
		return 0;
	if (perf_attr_read_size(&leader->attr, nr) >= MAX_GROUP_BYTES)
		return -E2BIG;
	DL_FOREACH2(leader->siblings, sibling, sib_next) {
		if (perf_attr_read_size(&sibling->attr, nr) >= MAX_GROUP_BYTES)
			return -E2BIG;
	}
	return 0;
}

/* With the context's mutex held: whether the event may become a sibling. */
static int check_joins(const struct perf_event *event, const struct perf_event *leader,
		       const struct perf_context *context)
{
	const struct perf_event_attr *attr = &event->attr;
	const struct perf_pmu *pmu;

	if (leader->context != context || leader->leader != leader || !leader->attached)
		return -EINVAL;
	if (leader->hw.cpu != event->hw.cpu)
		return -EINVAL;
	if (leader->attr.use_clockid != attr->use_clockid ||
	    (attr->use_clockid && leader->attr.clockid != attr->clockid))
		return -EINVAL;
	if (attr->exclusive || attr->pinned)
		return -EINVAL;
	pmu = group_pmu(leader);
	if (pmu && !perf_event_is_software(event) && pmu != event->hw.pmu)
		return -EINVAL;
	return 0;
}

/* ------------------------------------------------------------------ stages */

/* With the context's mutex held: the last checks, and the event is part of it. */
static int attach(const struct opening *opening)
{
	struct perf_event *event = opening->event, *leader = opening->leader;
	int error = 0;

	if (leader)
		error = check_joins(event, leader, opening->context);
	if (!error)
		error = check_fits(event, leader);
	if (!error)
		error = check_group_size(event, leader);
	if (!error && !opening->task && !port_cpu_online(opening->cpu))
		error = -ENODEV;
	if (!error)
		error = perf_context_attach(opening->context, event, leader);
	if (!error)
		perf_event_get(event); /* the context's */
	return error;
}

/* With the context held, which it releases. */
static long attach_and_install(const struct opening *opening)
{
	struct perf_event *event = opening->event;
	long fd = attach(opening);

	perf_context_release(opening->context);
	if (fd < 0)
		return fd;
	perf_event_get(event); /* the file's */
	if (opening->output)
		fd = perf_map_redirect(event, opening->output);
	if (fd < 0) {
		perf_file_release(event);
		return fd;
	}
	if (!event->attr.disabled)
		perf_control_enable(event);
	fd = port_fd_install(event, (opening->flags & PERF_FLAG_FD_CLOEXEC) != 0);
	if (fd < 0)
		perf_file_release(event);
	return fd;
}

static int hold_context_of_task(struct opening *opening)
{
	struct perf_task *task = port_task_perf(opening->task);
	struct perf_context *context;
	int error;

	if (opening->event->hw.pmu->caps & PERF_PMU_CPU_ONLY)
		return -EINVAL;
	error = perf_access_task(opening->task, opening->attr.sigtrap);
	if (!error)
		error = perf_context_of_task(task, &context);
	if (error)
		return error;
	perf_context_put(context);
	opening->context = perf_context_hold(task);
	return opening->context ? 0 : -ESRCH;
}

static int hold_context_of_cpu(struct opening *opening)
{
	struct perf_context *context = perf_cpus[opening->cpu].context;
	int error = perf_access_cpu();

	if (error)
		return error;
	perf_context_get(context);
	port_mutex_lock(&context->mutex);
	opening->context = context;
	return 0;
}

static int check_can_sample(const struct perf_event *event)
{
	uint64_t now;

	if (perf_event_is_sampling(event) && (event->hw.pmu->caps & PERF_PMU_NO_INTERRUPT))
		return -EOPNOTSUPP;
	/* There are no AUX areas. */
	if (event->attr.aux_output || event->attr.aux_sample_size)
		return -EOPNOTSUPP;
	return event->attr.use_clockid ? port_clock_id(event->attr.clockid, &now) : 0;
}

static long open_event(struct opening *opening)
{
	struct perf_event *leader = opening->leader;
	long result;

	if (opening->task && leader && leader->attr.inherit != opening->attr.inherit)
		return -EINVAL;
	result = check_target(opening);
	if (result)
		return result;
	result = perf_event_create(&opening->attr, opening->task != NULL, opening->cpu, NULL,
				   &opening->event);
	if (result)
		return result;
	perf_opener_add(opening->event);
	result = check_can_sample(opening->event);
	if (!result)
		result = opening->task ? hold_context_of_task(opening)
				       : hold_context_of_cpu(opening);
	if (!result)
		result = attach_and_install(opening);
	if (result < 0)
		perf_opener_remove(opening->event);
	perf_event_put(opening->event);
	return result;
}

static long open_on_target(struct opening *opening)
{
	long result;

	if (opening->pid == -1)
		return open_event(opening);
	if (opening->pid == 0) {
		opening->task = port_current();
		port_task_get(opening->task);
	} else {
		opening->task = port_task_find(opening->pid);
		if (!opening->task)
			return -ESRCH;
	}
	result = open_event(opening);
	port_task_put(opening->task);
	return result;
}

static long open_in_group(struct opening *opening, int group_fd)
{
	struct perf_event *other;
	long result;

	if (group_fd == -1)
		return open_on_target(opening);
	other = port_fd_get(group_fd);
	if (!other)
		return -EBADF;
	if (!(opening->flags & PERF_FLAG_FD_NO_GROUP))
		opening->leader = other;
	if (opening->flags & PERF_FLAG_FD_OUTPUT)
		opening->output = other;
	result = open_on_target(opening);
	port_fd_put(other);
	return result;
}

long perf_sys_event_open(uintptr_t attr, int pid, int cpu, int group_fd, unsigned long flags)
{
	struct opening opening = {.pid = pid, .cpu = cpu, .flags = flags};
	int error;

	if (flags & ~all_flags)
		return -EINVAL;
	error = perf_attr_from_user(&opening.attr, attr);
	if (!error)
		error = perf_access_attr(&opening.attr);
	if (!error)
		error = check_arguments(&opening);
	if (error)
		return error;
	return open_in_group(&opening, group_fd);
}

/* --------------------------------------------------------------- the file */

/* Whether the event and all its copies have been left by their tasks. */
static bool has_ended(struct perf_event *event)
{
	bool ended;

	port_mutex_lock(&event->context->mutex);
	port_mutex_lock(&event->copies_mutex);
	ended = !event->attached && !event->copies;
	port_mutex_unlock(&event->copies_mutex);
	port_mutex_unlock(&event->context->mutex);
	return ended;
}

struct port_waitq *perf_file_waitq(struct perf_event *event)
{
	return &event->waitq;
}

unsigned int perf_file_poll(struct perf_event *event)
{
	unsigned int readable;

	if (has_ended(event) || !perf_map_poll(event, &readable))
		return POLLHUP;
	return readable;
}

void perf_file_release(struct perf_event *event)
{
	struct perf_context *context = event->context;

	perf_opener_remove(event);
	port_mutex_lock(&context->mutex);
	if (perf_context_detach(event, PERF_STATE_GONE, true))
		perf_event_put(event);
	port_mutex_unlock(&context->mutex);
	perf_inherit_close(event);
	perf_map_close_event(event);
	perf_event_put(event);
}
