/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * callchain.h - the call chain of a sample.
 */
#ifndef PERF_CALLCHAIN_H
#define PERF_CALLCHAIN_H

#include <perf/perf.h>

/** A call chain, in a buffer of this CPU that the next capture overwrites. */
struct perf_callchain {
	const uint64_t *ips; /* with PERF_CONTEXT_* markers */
	unsigned int nr;
};

/** Set up. Context: sleep. */
void perf_callchain_init(void);

/**
 * Be ready to capture chains for one event more, or for one less. While any
 * event captures them, the limits in procfs are fixed.
 * Context: sleep. Returns 0, -ENOMEM, or -EOVERFLOW if the event wants longer
 * chains than the limit.
 */
int perf_callchain_want(const struct perf_event_attr *attr);
void perf_callchain_unwant(void);

/**
 * Capture the chain of an interrupted context, as far as attr does not exclude
 * it. @user is the user mode context below it, or NULL. Context: irq-off.
 */
void perf_callchain_capture(struct perf_callchain *chain, const struct perf_event_attr *attr,
			    const struct port_regs *regs, const struct port_regs *user);

#endif
