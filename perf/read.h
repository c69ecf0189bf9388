/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read.h - the value of an event.
 */
#ifndef PERF_READ_H
#define PERF_READ_H

#include "event.h"

/** What read(2) can tell of one event. Times in ns. */
struct perf_reading {
	uint64_t count;
	uint64_t time_enabled;
	uint64_t time_running;
};

/**
 * Bring an event's count and times up to date and add them to a reading; the
 * copies that others hold are not included. Context: owner.
 */
void perf_read_own(struct perf_event *event, struct perf_reading *reading);

/**
 * Fold the final values of a copy, which no longer counts, into its root, and
 * take it off the root's list. No effect if that has happened. The caller holds
 * the root's copies_mutex and a reference to the copy. Context: sleep.
 */
void perf_read_fold_copy(struct perf_event *copy);

#endif
