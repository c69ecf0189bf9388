/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * access.c - who may open which event, and the knobs that decide it.
 *
 * The rules are those of perf_event_open(2) and of Documentation/admin-guide/
 * perf-security in Linux. perf_event_paranoid says what a caller without
 * CAP_PERFMON may do:
 *
 *   -1  everything
 *    0  no records of tracepoints, but those about oneself
 *    1  besides, no whole CPUs
 *    2  besides, no kernel mode
 *    3  nothing (Debian's addition)
 */
#include <linux/errno.h>
#include <limits.h>

#include "access.h"

enum {
	PARANOID_RAW = -1,   /* above this: no records of tracepoints */
	PARANOID_CPU = 0,    /* above this: no whole CPUs */
	PARANOID_KERNEL = 1, /* above this: no kernel mode */
	PARANOID_ANY = 2,    /* above this: nothing at all */
};

struct knob {
	_Atomic int value;
	int min, max;
};

static struct knob knobs[PERF_SYSCTL_NR] = {
	[PERF_SYSCTL_PARANOID] = {2, INT_MIN, INT_MAX},
	[PERF_SYSCTL_MLOCK_KB] = {516, INT_MIN, INT_MAX},
	[PERF_SYSCTL_MAX_SAMPLE_RATE] = {100000, 1, INT_MAX},
	[PERF_SYSCTL_CPU_TIME_MAX_PERCENT] = {25, 0, 100},
	[PERF_SYSCTL_MAX_STACK] = {PERF_MAX_STACK_DEPTH, 0, 640 * 1024},
	[PERF_SYSCTL_MAX_CONTEXTS_PER_STACK] = {PERF_MAX_CONTEXTS_PER_STACK, 0, 1000},
	[PERF_SYSCTL_USER_ACCESS] = {0, 0, 1},
};

static _Atomic uint32_t stack_limits_in_use;

void perf_access_hold_stack_limits(void)
{
	atomic_fetch_add(&stack_limits_in_use, 1);
}

void perf_access_release_stack_limits(void)
{
	atomic_fetch_sub(&stack_limits_in_use, 1);
}

int perf_sysctl_get(enum perf_sysctl which)
{
	return atomic_load_explicit(&knobs[which].value, memory_order_relaxed);
}

int perf_sysctl_set(enum perf_sysctl which, int value)
{
	struct knob *knob = &knobs[which];

	if (value < knob->min || value > knob->max)
		return -EINVAL;
	if ((which == PERF_SYSCTL_MAX_STACK || which == PERF_SYSCTL_MAX_CONTEXTS_PER_STACK) &&
	    atomic_load_explicit(&stack_limits_in_use, memory_order_relaxed) > 0)
		return -EBUSY;
	/* As on Linux: without the limit of time there is none of the rate to be set. */
	if (which == PERF_SYSCTL_MAX_SAMPLE_RATE &&
	    perf_sysctl_get(PERF_SYSCTL_CPU_TIME_MAX_PERCENT) % 100 == 0)
		return -EINVAL;
	atomic_store_explicit(&knob->value, value, memory_order_relaxed);
	return 0;
}

static bool allowed(int level)
{
	return perf_sysctl_get(PERF_SYSCTL_PARANOID) <= level || port_capable(PORT_CAP_PERFMON);
}

int perf_access_attr(const struct perf_event_attr *attr)
{
	bool reveals_kernel =
		!attr->exclude_kernel || (attr->sample_type & PERF_SAMPLE_PHYS_ADDR) != 0;

	if (!allowed(PARANOID_ANY))
		return -EACCES;
	if (reveals_kernel && !allowed(PARANOID_KERNEL))
		return -EACCES;
	if (attr->namespaces && !port_capable(PORT_CAP_PERFMON))
		return -EACCES;
	return 0;
}

int perf_access_raw_trace(void)
{
	return allowed(PARANOID_RAW) ? 0 : -EPERM;
}

int perf_access_cpu(void)
{
	return allowed(PARANOID_CPU) ? 0 : -EACCES;
}

int perf_access_task(struct port_task *task, bool signals)
{
	bool capable = port_capable(PORT_CAP_PERFMON) && (!signals || port_capable(PORT_CAP_KILL));

	return capable || port_task_may_observe(task) ? 0 : -EACCES;
}
