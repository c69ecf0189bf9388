/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * overflow.h - the interrupt side of an event: period, limits, and halting.
 *
 * All functions are for the owner, interrupts off, with the event active on
 * this CPU unless said otherwise.
 */
#ifndef PERF_OVERFLOW_H
#define PERF_OVERFLOW_H

#include "event.h"

/** Set up the period of a new event, from its attr. The event may be anywhere. */
void perf_overflow_init(struct perf_event *event);

/**
 * Change the period, or the frequency, of an event that counts nothing now.
 * The event may be inactive.
 */
void perf_overflow_set_period(struct perf_event *event, uint64_t value);

/**
 * The event is about to go on a counter. Returns whether the counter is to run;
 * an event that has used up its refresh limit only waits to be disabled.
 */
bool perf_overflow_going_on(struct perf_event *event);

/**
 * The event's counter has been stopped and folded. An overflow that fell on
 * this moment, and would never be noticed, is taken now; the event may be
 * halted by it.
 */
void perf_overflow_catch_up(struct perf_event *event);

/** The same for an event that is about to go off its counter. */
void perf_overflow_going_off(struct perf_event *event);

/**
 * Something that an event counts without a counter has happened @nr times. @regs and
 * @addr as for perf_overflow().
 */
void perf_overflow_count(struct perf_event *event, uint64_t nr, const struct port_regs *regs,
			 uint64_t addr);

/** When a halted event should be seen to, in ns of port_clock(); 0 is at once. */
uint64_t perf_overflow_halted_until(const struct perf_event *event);

/** Let an event that was halted go on counting. */
void perf_overflow_go_on(struct perf_event *event);

#endif
