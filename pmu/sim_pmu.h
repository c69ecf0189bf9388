/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_pmu.h - driver of a simulated PMU.
 *
 * It drives a PMU that no CPU has, made to be like those that exist: a number
 * of counters per CPU, one of which may count cycles only, of any width, with
 * privilege filters and an overflow interrupt. It reaches the counters through
 * two functions, so that it can run on whatever simulates them.
 *
 * The registers of one CPU's counters. Those with a bit per counter come in
 * pairs, one to set bits and one to clear them, and both read the same.
 */
#ifndef PMU_SIM_PMU_H
#define PMU_SIM_PMU_H

#include <perf/pmu.h>

enum sim_pmu_reg {
	SIM_PMU_CTRL,	    /**< bit 0: counters that are enabled count; 0 at reset */
	SIM_PMU_ENABLE_SET, /**< counter n counts */
	SIM_PMU_ENABLE_CLR,
	SIM_PMU_IRQ_SET, /**< an overflow of counter n raises the interrupt */
	SIM_PMU_IRQ_CLR,
	SIM_PMU_OVERFLOW,    /**< counter n has wrapped; write a one to clear */
	SIM_PMU_USER,	     /**< bit 0: user mode may read counters; 0 at reset */
	SIM_PMU_SELECT = 32, /**< + n: what counter n counts, see below */
	SIM_PMU_COUNT = 64,  /**< + n: value of counter n */
};

/** Most counters a simulated PMU can have on a CPU. */
#define SIM_PMU_COUNTERS 32

/** SIM_PMU_SELECT: number of the event in the low byte, and the filters. */
#define SIM_PMU_EVENT_MASK     0xffU
#define SIM_PMU_EXCLUDE_USER   (1U << 8)
#define SIM_PMU_EXCLUDE_KERNEL (1U << 9)

/** Numbers of the simulated events. */
enum sim_pmu_event {
	SIM_EVENT_CYCLES,
	SIM_EVENT_INSTRUCTIONS,
	SIM_EVENT_CACHE_REFERENCES,
	SIM_EVENT_CACHE_MISSES,
	SIM_EVENT_BRANCHES,
	SIM_EVENT_BRANCH_MISSES,
	SIM_EVENT_LOADS,
	SIM_EVENT_STORES,
	SIM_EVENT_NR,
};

/** struct sim_pmu_model - what kind of PMU it is. */
struct sim_pmu_model {
	const char *name;
	unsigned int counters;	  /**< 1 to SIM_PMU_COUNTERS */
	unsigned int width;	  /**< of each, in bits: 8 to 64 */
	bool cycle_counter;	  /**< counter 0 counts cycles and nothing else */
	bool interrupt;		  /**< the overflow interrupt is wired */
	bool generic;		  /**< serves PERF_TYPE_HARDWARE and RAW as well */
	uint32_t events;	  /**< supported ones, a bit for each sim_pmu_event */
	struct perf_cpu_set cpus; /**< where it exists */

	/** Register access to the counters of the CPU that calls. */
	uint64_t (*read)(const struct sim_pmu_model *model, unsigned int reg);
	void (*write)(const struct sim_pmu_model *model, unsigned int reg, uint64_t value);
};

/** struct sim_pmu_cpu - the events on one CPU's counters. */
struct sim_pmu_cpu {
	struct perf_hw_event *events[SIM_PMU_COUNTERS];
	uint32_t running; /**< counters that are started, a bit for each */
};

/** struct sim_pmu - one PMU. */
struct sim_pmu {
	struct perf_pmu pmu;
	const struct sim_pmu_model *model;
	uint64_t mask; /**< a one for each bit that a counter has */
	struct sim_pmu_cpu *cpus;
};

/**
 * Set up a PMU and register it with the core. @model must stay. Context: sleep,
 * after perf_init(). Returns 0, -ENOMEM, or what perf_pmu_register() says.
 */
int sim_pmu_register(struct sim_pmu *sim, const struct sim_pmu_model *model);

/**
 * The overflow interrupt of this CPU. @regs is the interrupted context.
 * Context: irq-off.
 */
void sim_pmu_interrupt(struct sim_pmu *sim, const struct port_regs *regs);

#endif
