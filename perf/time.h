/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * time.h - time_enabled and time_running, and the count that goes with them.
 *
 * A context has a clock that goes on while it is in on a CPU. An event notes
 * the time up to which its own two times are right, and brings them up to date
 * when its state changes or somebody reads them. So time passing costs nothing,
 * and an event that waits for a counter is not touched at all.
 *
 * All functions are for the context's owner (context.h).
 */
#ifndef PERF_TIME_H
#define PERF_TIME_H

#include "context.h"

/** Bring the clock of a context up to date. */
void perf_time_advance(struct perf_context *context);

/** Bring the times of an event up to its context's clock. */
void perf_time_charge(struct perf_event *event);

/**
 * Change the state of an event, its times charged up to now in the old one.
 * The times of siblings depend on their leader's state and are charged, too.
 */
void perf_time_set_state(struct perf_event *event, enum perf_state state);

/** What an event has counted, and for how long, in ns. */
struct perf_reading {
	uint64_t count;
	uint64_t time_enabled;
	uint64_t time_running;
};

/**
 * Bring an event's count and times up to date and add them to a reading; its
 * copies are not included.
 */
void perf_time_read(struct perf_event *event, struct perf_reading *reading);

#endif
