/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.h - which records of a tracepoint an event is about
 * (PERF_EVENT_IOC_SET_FILTER; Documentation/trace/events, "Event filtering").
 */
#ifndef PERF_FILTER_H
#define PERF_FILTER_H

#include <perf/trace.h>

struct perf_filter;

/**
 * Make a filter of its text. Context: sleep. Returns 0; -EINVAL for one that
 * is not well formed or speaks of fields that the tracepoint does not have;
 * -ENOMEM. The filter has one reference, the caller's.
 */
int perf_filter_parse(const struct perf_tracepoint *tracepoint, const char *text,
		      struct perf_filter **filter);

void perf_filter_get(struct perf_filter *filter);

/** NULL is ignored. Context: sleep. */
void perf_filter_put(struct perf_filter *filter);

/** Whether a record passes; every one passes no filter at all (NULL). Context: any. */
bool perf_filter_passes(const struct perf_filter *filter, const struct perf_trace_header *record);

#endif
