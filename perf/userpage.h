/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * userpage.h - the first page of a mapping, as far as it is about the counter.
 *
 * All functions are for the owner of the event's context, with its clock up to
 * date.
 */
#ifndef PERF_USERPAGE_H
#define PERF_USERPAGE_H

#include "context.h"

/** From now on, or no longer (NULL), the page tells about the event. */
void perf_userpage_show(struct perf_event *event, struct perf_event_mmap_page *page);

/** Something about the event or its counter has changed. */
void perf_userpage_update(struct perf_event *event);

/** A context has come in: its clock goes on from here, and user mode may read counters. */
void perf_userpage_enter(struct perf_context *context);

/** It goes out. */
void perf_userpage_leave(struct perf_context *context);

#endif
