/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmu.h - what a counter driver provides to the event core.
 *
 * A PMU is a set of counters that exists once on each of the CPUs it covers.
 * Its driver knows how to program one counter; the core decides which events
 * get one, on which CPU, and when.
 *
 * Rules:
 *
 *   - Every operation except event_init() and group_fits() runs with
 *     interrupts off on the CPU whose counters it touches, so operations on
 *     one CPU never meet, and neither does the overflow interrupt meet them.
 *     A driver needs no lock. It must not sleep, allocate, or call the core
 *     back, except perf_overflow() from its interrupt handler and the helpers
 *     in this file.
 *   - Per-CPU state of a driver is indexed by port_cpu().
 *   - An event is with the driver from add() to del(). At any other time the
 *     driver keeps no pointer to it.
 */
#ifndef PERF_PMU_H
#define PERF_PMU_H

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <perf/port.h>

struct perf_pmu;
struct perf_pmu_cpu;

/** Upper bound of port_nr_cpus(). */
#define PERF_MAX_CPUS 256

/** A set of CPUs. */
struct perf_cpu_set {
	uint64_t bits[PERF_MAX_CPUS / 64];
};

static inline bool perf_cpu_set_has(const struct perf_cpu_set *set, int cpu)
{
	return (set->bits[(unsigned int)cpu / 64] >> ((unsigned int)cpu % 64)) & 1;
}

static inline void perf_cpu_set_add(struct perf_cpu_set *set, int cpu)
{
	set->bits[(unsigned int)cpu / 64] |= UINT64_C(1) << ((unsigned int)cpu % 64);
}

/**
 * struct perf_hw_event - the part of an event that its driver works on.
 *
 * The count of an event is all that passed through its counter; the driver
 * adds to it with perf_hw_fold() whenever it looks at the counter.
 *
 * A sampling event has a sample_period > 0: after that many counts there is an
 * overflow. period_left is what is left of the running period; it goes down
 * with the count and is carried over from slice to slice. Once it is <= 0, the
 * period is over. A counting event has sample_period 0 and never overflows.
 */
struct perf_hw_event {
	/* Set by the core before event_init(), constant to the driver. */
	struct perf_pmu *pmu;
	const struct perf_event_attr *attr; /**< checked and complete */
	int cpu;			    /**< attr's CPU, or -1 for any */
	bool of_task;			    /**< counts a task, not a CPU */

	/* The driver's own, the core only zeroes it. */
	uint64_t config;  /**< what to program, made by event_init() */
	int idx;	  /**< counter that add() chose */
	int idx_extra;	  /**< second counter, for a driver that needs one */
	uint64_t prev;	  /**< counter value at the last perf_hw_fold() */
	bool user_access; /**< user mode may read its counter, see user_index() */

	/* Shared: the driver writes through the helpers below. */
	_Atomic uint64_t count; /**< all counts so far */
	int64_t period_left;	/**< counts until the next overflow */
	uint64_t sample_period; /**< counts per overflow, 0: counting only */
	uint64_t last_period;	/**< length of the period that ended last */
};

/** A name and a text, as one file of a PMU's folder in sysfs. */
struct perf_pmu_text {
	const char *name;
	const char *text; /**< without a final newline */
};

enum perf_pmu_caps {
	/** No overflow interrupt: sampling is refused with EOPNOTSUPP. */
	PERF_PMU_NO_INTERRUPT = 1U << 0,
	/** Cannot filter by privilege: any exclude_* bit is EINVAL. */
	PERF_PMU_NO_EXCLUDE = 1U << 1,
	/** Counts a CPU, not a task: refused for tasks with EINVAL. */
	PERF_PMU_CPU_ONLY = 1U << 2,
	/** Never runs out of counters; its events may join any group. */
	PERF_PMU_SOFTWARE = 1U << 3,
	/** Also serves PERF_TYPE_HARDWARE, HW_CACHE and RAW. */
	PERF_PMU_GENERIC = 1U << 4,
};

/** Flag of add() and stop(). */
enum {
	PERF_PMU_START = 1,  /**< add(): start the counter as well */
	PERF_PMU_UPDATE = 2, /**< stop(): fold the counter into the count */
};

/**
 * struct perf_pmu_ops - what one kind of PMU can do.
 *
 * "Local" means: interrupts off, on the CPU concerned.
 */
struct perf_pmu_ops {
	/**
	 * Decide whether this PMU can count what hw->attr asks for on hw->cpu,
	 * and fill in hw->config.
	 * Context: sleep. Returns 0; -ENOENT if the event is not one of this
	 * PMU's, so that another may be asked; -EOPNOTSUPP or -EINVAL if it is,
	 * and cannot be had like that. (As perf_event_open(2) reports it.)
	 */
	int (*event_init)(struct perf_hw_event *hw);

	/** Called once when the event is destroyed, if set. Context: sleep. */
	void (*event_destroy)(struct perf_hw_event *hw);

	/**
	 * Whether these @n events, all of this PMU, could run at the same time
	 * on an otherwise empty PMU. May be NULL: they always can.
	 * Context: sleep. Returns 0 or -EINVAL.
	 */
	int (*group_fits)(struct perf_pmu *pmu, struct perf_hw_event *const *events,
			  unsigned int n);

	/**
	 * Give the event a free counter and program it; with PERF_PMU_START,
	 * start it. The count does not change; a sampling event is set up to
	 * overflow after period_left counts.
	 * Local. Returns 0, or -EAGAIN if no suitable counter is free.
	 */
	int (*add)(struct perf_hw_event *hw, unsigned int flags);

	/** Stop the counter, fold it into the count, and free it. Local. */
	void (*del)(struct perf_hw_event *hw);

	/**
	 * Start and stop the counter of an added event. start() takes up
	 * sample_period and period_left again, which may have changed.
	 * Starting a running event or stopping a stopped one has no effect.
	 * Local, also from inside perf_overflow().
	 */
	void (*start)(struct perf_hw_event *hw);
	void (*stop)(struct perf_hw_event *hw, unsigned int flags);

	/** Fold the counter of an added event into its count. Local. */
	void (*read)(struct perf_hw_event *hw);

	/**
	 * Stop, and let go on, all counters of this CPU at once, while the core
	 * changes what is on them. Paused counters keep their values. A PMU
	 * starts out paused on each CPU, and is paused whenever no event has
	 * been added; calls are not nested. May be NULL. Local.
	 */
	void (*pause)(struct perf_pmu *pmu);
	void (*resume)(struct perf_pmu *pmu);

	/**
	 * Whether a counter of this CPU has overflowed, and the interrupt has not
	 * been taken yet. May be NULL: it cannot be told. Local.
	 */
	bool (*overflowed)(const struct perf_pmu *pmu);

	/**
	 * Number under which user mode reads the counter of an added event that
	 * has user_access (struct perf_event_mmap_page.index), or 0 if it may
	 * not now; the counter's width in bits goes to @width. NULL for a driver
	 * that never sets user_access. Local.
	 */
	uint32_t (*user_index)(struct perf_hw_event *hw, uint16_t *width);

	/**
	 * Let user mode on this CPU read counters, or no longer. It may while a
	 * task runs that has a page of an event with user_access, also when none
	 * of these is on a counter: whoever has just read user_index() from the
	 * page must not fault if the event is taken off in between. Counters that
	 * hold what others counted are to be emptied. The driver may refuse to.
	 * NULL for a driver that never sets user_access. Local.
	 */
	void (*allow_user)(struct perf_pmu *pmu, bool allowed);
};

/**
 * struct perf_pmu - one PMU. Filled in by its driver, given to
 * perf_pmu_register(), and then part of the core for good.
 */
struct perf_pmu {
	const char *name; /**< its folder in sysfs */
	const struct perf_pmu_ops *ops;
	uint32_t caps;				/**< enum perf_pmu_caps */
	struct perf_cpu_set cpus;		/**< where it exists */
	const struct perf_pmu_text *formats;	/**< format/: ended by a NULL name, or NULL */
	const struct perf_pmu_text *events;	/**< events/: likewise */
	const struct perf_pmu_text *caps_texts; /**< caps/: likewise */

	/**
	 * attr.type of its events: a fixed PERF_TYPE_*, or -1 on entry to get a
	 * number from PERF_TYPE_MAX upwards.
	 */
	int type;

	/* The core's own. */
	_Atomic uint32_t mux_interval_ms; /**< see perf_pmu_set_mux_interval() */
	struct perf_pmu_cpu *on_cpu;	  /**< one for each CPU */
	_Atomic(struct perf_pmu *) next;
};

/**
 * Make a PMU known. From now on events can be opened on it, by any number of
 * CPUs at once. There is no way back.
 * Context: sleep, after perf_init(). Returns 0, -EEXIST if the name or type is
 * taken, or -EINVAL for a description that contradicts itself.
 */
int perf_pmu_register(struct perf_pmu *pmu);

/**
 * Walk the registered PMUs in order of registration: start with NULL, NULL
 * ends the list. For sysfs: /sys/bus/event_source/devices/NAME has "type",
 * "format/", "events/", "caps/", "perf_event_mux_interval_ms", and "cpus" with
 * the set of CPUs. (Only a PERF_PMU_CPU_ONLY one has "cpumask": perf takes
 * that as "do not open this on a task".) Context: any.
 */
struct perf_pmu *perf_pmu_next(struct perf_pmu *pmu);

/**
 * Set how long a flexible group stays on the counters while others wait.
 * Context: any. Returns 0, or -EINVAL for 0 ms.
 */
int perf_pmu_set_mux_interval(struct perf_pmu *pmu, uint32_t ms);

/**
 * Account for what a counter did since the last look: @now is its present raw
 * value, @mask has a one for each bit it has. The difference to hw->prev, which
 * must be less than a full turn, goes to the count and off the period.
 * Local.
 */
static inline void perf_hw_fold(struct perf_hw_event *hw, uint64_t now, uint64_t mask)
{
	uint64_t delta = (now - hw->prev) & mask;
	uint64_t count = atomic_load_explicit(&hw->count, memory_order_relaxed);

	hw->prev = now;
	hw->period_left -= (int64_t)delta;
	atomic_store_explicit(&hw->count, count + delta, memory_order_relaxed);
}

/**
 * Work out how far a counter may run from here: call it when a counter is about
 * to be (re)loaded, after perf_hw_fold(). @mask is as there; @left receives the
 * number of counts after which the counter is to overflow, never more than half
 * a turn, so that the driver's handler has the other half to notice in. That is
 * how counts stay exact on narrow counters: the handler folds and reloads, for
 * counting events as well.
 * A period that is over is renewed; then true is returned, and the caller
 * reports it with perf_overflow() once the counter is loaded.
 * Local.
 */
bool perf_hw_next_period(struct perf_hw_event *hw, uint64_t mask, uint64_t *left);

/**
 * A counter has been loaded, and hw->prev is what it was loaded with: bring up to
 * date what user mode knows of it. After every load.
 * Local.
 */
void perf_hw_loaded(struct perf_hw_event *hw);

/**
 * A period of a running event has ended: write its sample, wake its readers,
 * and throttle it or stop it when a limit is reached (through ops->stop()).
 * @regs is the interrupted context, or NULL if it was not the interrupt by which
 * the driver noticed; @addr the data address or 0.
 * Local, from the driver's interrupt handler or start(), for an event between
 * add() and del(). Does nothing for a counting event.
 */
void perf_overflow(struct perf_hw_event *hw, const struct port_regs *regs, uint64_t addr);

#endif
