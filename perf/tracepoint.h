/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracepoint.h - the PMU of PERF_TYPE_TRACEPOINT; see perf/trace.h.
 */
#ifndef PERF_TRACEPOINT_H
#define PERF_TRACEPOINT_H

#include <perf/trace.h>

#include "event.h"

/** Register the PMU. Context: sleep. Returns 0 or what perf_pmu_register() says. */
int perf_tracepoint_init(void);

/** The tracepoint that an event is about, or NULL. Context: any. */
struct perf_tracepoint *perf_tracepoint_of(const struct perf_event *event);

#endif
