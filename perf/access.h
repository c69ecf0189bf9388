/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * access.h - who may open which event, and the knobs that decide it.
 */
#ifndef PERF_ACCESS_H
#define PERF_ACCESS_H

#include <perf/perf.h>

/**
 * Whether the current task may open an event with these attributes at all: by
 * perf_event_paranoid, its capabilities, and what the event would reveal.
 * @attr is checked. Context: sleep. Returns 0 or -EACCES.
 */
int perf_access_attr(const struct perf_event_attr *attr);

/** Whether the current task may see the records of tracepoints. Returns 0 or -EPERM. */
int perf_access_raw_trace(void);

/** Whether the current task may observe a whole CPU. Returns 0 or -EACCES. */
int perf_access_cpu(void);

/**
 * From hold to release, the limits of call chains cannot be changed, because
 * buffers of that size are in use. Any number of holders. Context: any.
 */
void perf_access_hold_stack_limits(void);
void perf_access_release_stack_limits(void);

/**
 * Whether the current task may observe @task, and, if @signals, have it sent
 * signals. Returns 0 or -EACCES.
 */
int perf_access_task(struct port_task *task, bool signals);

#endif
