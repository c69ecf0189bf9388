/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group.h - one group on counters, or off. Which groups, and when, sched.c says.
 *
 * All functions are for the context's owner (context.h), on the CPU on which the
 * context is in, with its clock up to date.
 */
#ifndef PERF_GROUP_H
#define PERF_GROUP_H

#include "context.h"

/** A PMU on one CPU; only that CPU touches it, interrupts off. */
struct perf_pmu_cpu {
	struct port_timer timer; /* ends a turn; must be first, see sched.c */
	struct perf_pmu *pmu;
	bool armed; /* the timer is started, for: */
	uint64_t when;
	bool exclusive;	     /* an exclusive group is on, alone */
	unsigned int events; /* how many are on counters */
	unsigned int pauses; /* how many reasons not to count now */
};

/** What there is of a PMU on the CPU we are on. */
static inline struct perf_pmu_cpu *perf_pmu_here(const struct perf_pmu *pmu)
{
	return &pmu->on_cpu[port_cpu()];
}

/** Counters stand still from pause to resume, while what is on them changes. */
void perf_group_pause(struct perf_pmu *pmu);
void perf_group_resume(struct perf_pmu *pmu);

/**
 * Put a group on counters: its leader and those siblings that are enabled, or
 * nothing. The PMU of its lane is paused. Returns whether it is on.
 */
bool perf_group_on(struct perf_event *leader);

/** Take a group off. The PMU is paused. No effect if it is not on. */
void perf_group_off(struct perf_event *leader);

/** Take one sibling off, leaving the others. The PMU is paused. */
void perf_group_member_off(struct perf_event *event);

#endif
