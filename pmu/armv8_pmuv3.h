/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * armv8_pmuv3.h - driver of Arm's PMUv3 (DDI 0487, chapter D13).
 *
 * One cycle counter of 64 bits and up to 31 event counters of 32 bits, or 64
 * with FEAT_PMUv3p5. Which of the common events there are is said by PMCEID.
 */
#ifndef PMU_ARMV8_PMUV3_H
#define PMU_ARMV8_PMUV3_H

#include <perf/pmu.h>

/** Whether the calling CPU has a PMUv3. Context: any. */
bool armv8_pmuv3_present(void);

/**
 * Put this CPU's PMU into a known state: nothing counts, nothing interrupts,
 * user mode has no access. Once on each CPU, before any event can be on it.
 * Context: irq-off.
 */
void armv8_pmuv3_cpu_init(void);

/**
 * Find out what the calling CPU's PMU can do and make it known to the core, for
 * a set of CPUs that are all like this one. @interrupt: the overflow interrupt
 * is wired on all of them and leads to armv8_pmuv3_interrupt(). @name stays the
 * caller's and is not copied.
 * Context: sleep, after perf_init(). Returns 0 or what perf_pmu_register() says.
 */
int armv8_pmuv3_register(const char *name, const struct perf_cpu_set *cpus, bool interrupt);

/**
 * Stop all counters of the calling CPU at once, whatever state its events are in: the
 * CPU will not run until armv8_pmuv3_thaw(), which takes what this returns. No
 * event is told. An overflow that is pending stays so. Context: irq-off.
 */
uint64_t armv8_pmuv3_freeze(void);
void armv8_pmuv3_thaw(uint64_t frozen);

/** The overflow interrupt of this CPU. @regs is what it interrupted. Context: irq-off. */
void armv8_pmuv3_interrupt(const struct port_regs *regs);

#endif
