/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched.h - which groups are on the counters of a CPU.
 *
 * All functions are for the context's owner (context.h), with the context's
 * clock up to date. They do not sleep. Where the context is in nowhere, they
 * only change the lists.
 */
#ifndef PERF_SCHED_H
#define PERF_SCHED_H

#include "context.h"

/** Set up what the scheduler keeps for a CPU. */
void perf_sched_init_cpu(struct perf_cpu *cpu);

/** Set up what the scheduler keeps with a PMU. Returns 0 or -ENOMEM. */
int perf_sched_init_pmu(struct perf_pmu *pmu);

/** Enable an event; its group goes on counters if there is room. */
void perf_sched_enable(struct perf_event *event);

/** Disable an event, leaving it in @state, below PERF_STATE_INACTIVE. */
void perf_sched_disable(struct perf_event *event, enum perf_state state);

/** Make a disabled event a sibling in a group. */
void perf_sched_join(struct perf_event *event, struct perf_event *leader);

/**
 * Take an event out of its group. The siblings of a leader become groups of
 * one, still enabled if they were.
 */
void perf_sched_leave(struct perf_event *event);

/**
 * Whether a counter of a context that is in on this CPU has overflowed, and the
 * interrupt has not been taken yet; or it cannot be told.
 */
bool perf_sched_overflow_pending(const struct perf_context *context);

/** The groups of a context that is in on this CPU go on, or off, the counters. */
void perf_sched_all_in(struct perf_context *context);
void perf_sched_all_out(struct perf_context *context);

#endif
