/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sideband.h - records of what tasks do, beside the samples.
 */
#ifndef PERF_SIDEBAND_H
#define PERF_SIDEBAND_H

#include <perf/perf.h>

/** The EXIT record of the current task. Context: sleep. */
void perf_sideband_exit(struct perf_task *task);

/**
 * The SWITCH records of a switch between two tasks. @out: the first one is
 * about to go, else it has just come. @other is its counterpart.
 * Context: irq-off, in the switch, with the task's context in.
 */
void perf_sideband_switch(bool out, struct perf_task *other);

#endif
