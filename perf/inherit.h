/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inherit.h - events of a task's children, and how a task's events end.
 */
#ifndef PERF_INHERIT_H
#define PERF_INHERIT_H

#include "event.h"

/**
 * Copy the events that a child inherits. @thread: it is a thread of the same
 * process. Context: sleep. Returns 0, or -ENOMEM with nothing left behind.
 */
int perf_inherit_copy(struct perf_task *child, struct perf_task *parent, bool thread);

/**
 * End an event that the current task leaves behind, at exit or at exec; a copy's
 * count goes to its root, and with inherit_stat also into a READ record. The
 * caller holds the context's mutex. Context: sleep.
 */
void perf_inherit_leave(struct perf_event *event);

/** End all events of a task that exits. Context: sleep. */
void perf_inherit_end(struct perf_task *task);

/** End all copies of a root whose file is closed. Context: sleep. */
void perf_inherit_close(struct perf_event *root);

#endif
