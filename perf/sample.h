/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sample.h - PERF_RECORD_SAMPLE and PERF_RECORD_READ.
 */
#ifndef PERF_SAMPLE_H
#define PERF_SAMPLE_H

#include "event.h"

/**
 * Write a sample of an event, whose period has just ended, into its ring.
 * @regs is the interrupted context, NULL for the place in the kernel where this
 * happens; @addr the data address or 0.
 * Context: owner, irq-off, in the interrupt or in a hook.
 */
void perf_sample_write(struct perf_event *event, const struct port_regs *regs, uint64_t addr);

/**
 * Write a READ record, with the values of an event that the current task is
 * leaving behind. Context: owner, irq-off.
 */
void perf_sample_write_read(struct perf_event *event);

#endif
