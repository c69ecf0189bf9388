/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opener.h - which task opened an event.
 *
 * A task's list of what it opened is walked by that task only, and shortened by
 * whoever closes an event. Each event on it holds a reference to the task.
 * Lock order: the list's mutex before any context's.
 */
#ifndef PERF_OPENER_H
#define PERF_OPENER_H

#include "event.h"

void perf_opener_init(void);

/**
 * The current task is opening the event. Context: sleep.
 */
void perf_opener_add(struct perf_event *event);

/**
 * The event is being closed, or could not be opened. Does nothing for one that
 * is on no list. Context: sleep, no context's mutex held.
 */
void perf_opener_remove(struct perf_event *event);

#endif
