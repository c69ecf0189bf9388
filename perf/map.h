/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map.h - which event writes into which ring. All functions but poll: sleep.
 */
#ifndef PERF_MAP_H
#define PERF_MAP_H

#include "event.h"

/** Set up. */
void perf_map_init(void);

/**
 * Have an event write into the ring of another, or, with NULL, into none.
 * Returns 0, or -EINVAL as Linux has it: if the event is mapped itself, the
 * target has no ring, or the two differ in CPU, task, clock or direction.
 */
int perf_map_redirect(struct perf_event *event, struct perf_event *target);

/** The event's file is gone: it writes into no ring any more. */
void perf_map_close_event(struct perf_event *event);

/** Drop records instead of writing them, or end that. -EINVAL without a ring. */
int perf_map_pause(struct perf_event *event, bool pause);

/**
 * What there is to read, said once. Returns whether the event has a ring.
 * Context: any.
 */
bool perf_map_poll(struct perf_event *event, unsigned int *readable);

#endif
