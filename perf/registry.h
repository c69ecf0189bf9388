/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * registry.h - the PMUs there are, and which of them counts what.
 */
#ifndef PERF_REGISTRY_H
#define PERF_REGISTRY_H

#include <perf/pmu.h>

/** Set up the empty registry. */
void perf_registry_init(void);

/**
 * Find the PMU that can count what hw->attr asks for on hw->cpu, and have it
 * fill in hw. Context: sleep. Returns 0, -ENOENT if no PMU knows the event, or
 * the error of the one that does.
 */
int perf_registry_init_event(struct perf_hw_event *hw);

#endif
