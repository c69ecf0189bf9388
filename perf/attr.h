/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attr.h - struct perf_event_attr as it comes from user space.
 */
#ifndef PERF_ATTR_H
#define PERF_ATTR_H

#include <perf/perf.h>

/**
 * Copy an attr of any published size from user space and check all of it that
 * can be checked without knowing the event's PMU or target. Sizes are as in
 * perf_event_open(2): 0 means PERF_ATTR_SIZE_VER0; what a shorter one lacks is
 * 0; what a longer one has more must be 0.
 * Context: sleep. Returns 0, -EFAULT, -EINVAL, or -E2BIG, when the size that we
 * know has been written back to the user's attr.
 */
int perf_attr_from_user(struct perf_event_attr *attr, uintptr_t user);

/** Size in bytes of a read(2) in a read_format, of a group of @nr events. */
size_t perf_attr_read_size(const struct perf_event_attr *attr, unsigned int nr);

#endif
