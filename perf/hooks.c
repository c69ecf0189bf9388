/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hooks.c - what happens to a task, from the kernel's hooks to those concerned.
 *
 * The switch hooks run with interrupts off: no allocation, no sleeping lock, and
 * no walk over events that are not scheduled.
 */
#include <linux/errno.h>
#include <utlist.h>

#include "callchain.h"
#include "context.h"
#include "control.h"
#include "inherit.h"
#include "map.h"
#include "opener.h"
#include "registry.h"
#include "sideband.h"
#include "software.h"
#include "tracepoint.h"

int perf_init(void)
{
	uintptr_t irq;
	int error;

	perf_registry_init();
	perf_callchain_init();
	perf_map_init();
	perf_opener_init();
	error = perf_context_init();
	if (!error)
		error = perf_software_init();
	if (!error)
		error = perf_tracepoint_init();
	if (error)
		return error;
	irq = port_irq_save();
	perf_cpu_online();
	port_irq_restore(irq);
	return 0;
}

static void leave_switch(struct perf_cpu *cpu)
{
	cpu->site.ip = 0;
}

void perf_do_sched_out(struct perf_task *prev, struct perf_task *next)
{
	struct perf_cpu *cpu = perf_this_cpu();
	struct perf_context *context = cpu->task_context;

	cpu->site = PERF_SITE_HERE();
	perf_sw_event(PERF_COUNT_SW_CONTEXT_SWITCHES, 1, NULL, 0);
	if (perf_watched(PERF_WATCH_SWITCH_RECORDS))
		perf_sideband_switch(true, next);
	if (context && !perf_context_hand_over(context, prev, next))
		perf_context_go_out(context);
	leave_switch(cpu);
}

void perf_do_sched_in(struct perf_task *prev, struct perf_task *next)
{
	struct perf_cpu *cpu = perf_this_cpu();
	struct perf_context *context = atomic_load_explicit(&next->context, memory_order_acquire);

	cpu->site = PERF_SITE_HERE();
	if (context && context != cpu->task_context)
		perf_context_go_in(context);
	if (perf_watched(PERF_WATCH_SWITCH_RECORDS))
		perf_sideband_switch(false, prev);
	if (next->migrations > 0) {
		perf_sw_event(PERF_COUNT_SW_CPU_MIGRATIONS, next->migrations, NULL, 0);
		next->migrations = 0;
	}
	leave_switch(cpu);
}

int perf_do_clone(struct perf_task *child, struct perf_task *parent, bool thread)
{
	return perf_inherit_copy(child, parent, thread);
}

static void enable_on_exec(struct perf_context *context)
{
	struct perf_event *event;

	DL_FOREACH2(context->events, event, ctx_next) {
		if (event->enable_on_exec) {
			event->enable_on_exec = false;
			perf_control_enable(event);
		}
	}
}

static void remove_on_exec(struct perf_context *context)
{
	struct perf_event *event, *next;

	DL_FOREACH_SAFE2(context->events, event, next, ctx_next) {
		if (event->attr.remove_on_exec)
			perf_inherit_leave(event);
	}
}

/* Whether exec means anything to an event; to most it does not, such as to copies. */
static bool exec_matters(struct perf_task *task)
{
	struct perf_context *context = perf_context_hold_shared(task);
	struct perf_event *event;
	bool matters = false;

	if (!context)
		return false;
	DL_FOREACH2(context->events, event, ctx_next)
		matters = matters || event->enable_on_exec || event->attr.remove_on_exec;
	perf_context_release(context);
	return matters;
}

void perf_do_exec(struct perf_task *task)
{
	struct perf_context *context = exec_matters(task) ? perf_context_hold(task) : NULL;

	if (!context)
		return;
	enable_on_exec(context);
	remove_on_exec(context);
	perf_context_release(context);
}

/* A clone that failed is ended by its parent, and has never been anybody. */
void perf_do_exit(struct perf_task *task)
{
	if (port_current() == task->task)
		perf_sideband_exit(task);
	perf_inherit_end(task);
}

void perf_do_task_free(struct perf_task *task)
{
	struct perf_context *context = perf_context_take(task);

	if (context)
		perf_context_put(context);
}
