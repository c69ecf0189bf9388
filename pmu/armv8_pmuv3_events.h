/* SPDX-License-Identifier: BSD-2-Clause */
/* armv8_pmuv3_events.h - the common events of Arm's PMUv3: numbers and names. */
#ifndef PMU_ARMV8_PMUV3_EVENTS_H
#define PMU_ARMV8_PMUV3_EVENTS_H

#include <perf/pmu.h>

enum {
	ARMV8_EVENT_INST_RETIRED = 0x08,
	ARMV8_EVENT_CPU_CYCLES = 0x11,
};

/**
 * Number of the event that an attr means on a PMU with this attr.type, whose
 * common events 0 to 63 are the bits of @common. Generic events must be among
 * them; a raw number is taken as it is. Returns -ENOENT for an event that is
 * not there, -EINVAL for one that cannot be anywhere.
 */
int armv8_pmuv3_event_number(const struct perf_event_attr *attr, uint32_t type, uint64_t common);

/** The files of sysfs's events/ for these common events, or NULL for want of memory. Context: sleep. */
const struct perf_pmu_text *armv8_pmuv3_event_texts(uint64_t common);

#endif
