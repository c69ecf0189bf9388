/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.h - how many events are interested in what, so that hooks which nobody
 * waits for cost next to nothing.
 */
#ifndef PERF_WATCH_H
#define PERF_WATCH_H

#include "event.h"

/**
 * Count an event in, or out of, perf_watchers[] and perf_task_events(). In when
 * it can be found through its context and before it starts; out when it no
 * longer runs. Context: any.
 */
void perf_watch_add(const struct perf_event *event);
void perf_watch_remove(const struct perf_event *event);

#endif
