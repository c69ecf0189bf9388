/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * armv8_pmuv3.c - driver of Arm's PMUv3. See armv8_pmuv3.h.
 *
 * Counters count upwards and interrupt when they wrap. One that is started is
 * loaded with the negative of what it may count, which is never more than half
 * a turn: the interrupt folds it into the event's count and loads it again, and
 * the other half is time enough to get there. A counter that is read before
 * the interrupt came is folded right all the same, because the difference is
 * taken modulo its width.
 */
#include <linux/errno.h>

#include "armv8_pmuv3.h"
#include "armv8_pmuv3_events.h"
#include "armv8_pmuv3_regs.h"

enum { MAX_COUNTERS = 32 };

/* attr.config1, as arm64 Linux defines it. */
#define CONFIG1_RDPMC 2U

/* The events on the counters of one CPU. Only that CPU touches it. */
struct pmu_cpu {
	struct perf_hw_event *events[MAX_COUNTERS];
	uint32_t used;	  /* counters that have an event */
	uint32_t running; /* those of them that are started */
};

static struct perf_pmu armv8_pmu;
static struct pmu_cpu *cpus;
static unsigned int nr_event_counters;
static uint64_t event_counter_mask; /* a one for each bit of an event counter */
static uint64_t pmcr_idle;	    /* PMCR_EL0 without E */
static uint64_t common_events;	    /* PMCEID: numbers 0 to 63 */

static struct pmu_cpu *this_cpu(void)
{
	return &cpus[port_cpu()];
}

static uint32_t bit_of(const struct perf_hw_event *hw)
{
	return UINT32_C(1) << (unsigned int)hw->idx;
}

/* ------------------------------------------------------------ one counter */

static bool is_cycle_counter(const struct perf_hw_event *hw)
{
	return hw->idx == (int)CYCLE_COUNTER;
}

static uint64_t mask_of(const struct perf_hw_event *hw)
{
	return is_cycle_counter(hw) ? UINT64_MAX : event_counter_mask;
}

static void select_counter(const struct perf_hw_event *hw)
{
	pmu_write_pmselr((uint64_t)hw->idx);
	pmu_isb();
}

static uint64_t counter_read(const struct perf_hw_event *hw)
{
	if (is_cycle_counter(hw))
		return pmu_read_pmccntr();
	select_counter(hw);
	return pmu_read_pmxevcntr();
}

static void counter_write(const struct perf_hw_event *hw, uint64_t value)
{
	if (is_cycle_counter(hw)) {
		pmu_write_pmccntr(value);
		return;
	}
	select_counter(hw);
	pmu_write_pmxevcntr(value);
}

/* What it counts, and in which modes. */
static void counter_program(const struct perf_hw_event *hw)
{
	if (is_cycle_counter(hw)) {
		pmu_write_pmccfiltr(hw->config & ~(uint64_t)PMEVTYPER_EVENT);
		return;
	}
	select_counter(hw);
	pmu_write_pmxevtyper(hw->config);
}

/* Load a stopped counter with as much as it may count. Whether a period ended. */
static bool counter_load(struct perf_hw_event *hw)
{
	uint64_t left;
	bool period_over = perf_hw_next_period(hw, mask_of(hw), &left);

	hw->prev = (UINT64_C(0) - left) & mask_of(hw);
	counter_write(hw, hw->prev);
	return period_over;
}

/* ------------------------------------------------------------- operations */

static int armv8_event_init(struct perf_hw_event *hw)
{
	const struct perf_event_attr *attr = hw->attr;
	int event = armv8_pmuv3_event_number(attr, (uint32_t)armv8_pmu.type, common_events);

	if (event < 0)
		return event;
	if (attr->config1 & CONFIG1_RDPMC) /* user mode has no access to the counters */
		return -EOPNOTSUPP;
	if (attr->exclude_idle || (attr->sample_type & PERF_SAMPLE_BRANCH_STACK))
		return -EOPNOTSUPP;
	hw->config = (uint64_t)event;
	if (attr->exclude_user)
		hw->config |= PMEVTYPER_U;
	if (attr->exclude_kernel)
		hw->config |= PMEVTYPER_P;
	if (!attr->exclude_hv)
		hw->config |= PMEVTYPER_NSH;
	return 0;
}

/* The counter for an event, given those in use; or -1. Only cycles suit the cycle counter. */
static int find_counter(uint32_t used, uint64_t config)
{
	uint32_t cycle_bit = UINT32_C(1) << CYCLE_COUNTER;

	if ((config & PMEVTYPER_EVENT) == ARMV8_EVENT_CPU_CYCLES && (used & cycle_bit) == 0)
		return (int)CYCLE_COUNTER;
	for (unsigned int n = 0; n < nr_event_counters; n++)
		if ((used >> n & 1) == 0)
			return (int)n;
	return -1;
}

static int armv8_group_fits(struct perf_pmu *pmu, struct perf_hw_event *const *events,
			    unsigned int n)
{
	uint32_t used = 0;

	(void)pmu;
	for (unsigned int i = 0; i < n; i++) {
		int idx = find_counter(used, events[i]->config);

		if (idx < 0)
			return -EINVAL;
		used |= UINT32_C(1) << (unsigned int)idx;
	}
	return 0;
}

static void armv8_read(struct perf_hw_event *hw)
{
	perf_hw_fold(hw, counter_read(hw), mask_of(hw));
}

static void armv8_start(struct perf_hw_event *hw)
{
	struct pmu_cpu *cpu = this_cpu();
	uint32_t bit = bit_of(hw);
	bool period_over;

	if (cpu->running & bit)
		return;
	cpu->running |= bit;
	period_over = counter_load(hw);
	if ((armv8_pmu.caps & PERF_PMU_NO_INTERRUPT) == 0)
		pmu_write_pmintenset(bit);
	pmu_isb();
	pmu_write_pmcntenset(bit);
	if (period_over)
		perf_overflow(hw, port_regs_here(), 0);
}

static void armv8_stop(struct perf_hw_event *hw, unsigned int flags)
{
	struct pmu_cpu *cpu = this_cpu();
	uint32_t bit = bit_of(hw);

	if ((cpu->running & bit) == 0)
		return;
	pmu_write_pmcntenclr(bit);
	pmu_write_pmintenclr(bit);
	pmu_isb();
	pmu_write_pmovsclr(bit);
	cpu->running &= ~bit;
	if (flags & PERF_PMU_UPDATE)
		armv8_read(hw);
}

static int armv8_add(struct perf_hw_event *hw, unsigned int flags)
{
	struct pmu_cpu *cpu = this_cpu();

	hw->idx = find_counter(cpu->used, hw->config);
	if (hw->idx < 0)
		return -EAGAIN;
	cpu->used |= bit_of(hw);
	cpu->events[hw->idx] = hw;
	counter_program(hw);
	hw->prev = counter_read(hw);
	if (flags & PERF_PMU_START)
		armv8_start(hw);
	return 0;
}

static void armv8_del(struct perf_hw_event *hw)
{
	struct pmu_cpu *cpu = this_cpu();

	armv8_stop(hw, PERF_PMU_UPDATE);
	cpu->events[hw->idx] = NULL;
	cpu->used &= ~bit_of(hw);
}

static void armv8_pause(struct perf_pmu *pmu)
{
	(void)pmu;
	pmu_write_pmcr(pmcr_idle);
	pmu_isb();
}

static void armv8_resume(struct perf_pmu *pmu)
{
	(void)pmu;
	pmu_isb();
	pmu_write_pmcr(pmcr_idle | PMCR_E);
}

/* A counter has wrapped: account for it, load it anew, and report it. */
static void counter_overflow(struct perf_hw_event *hw, const struct port_regs *regs)
{
	armv8_read(hw);
	if (counter_load(hw))
		perf_overflow(hw, regs, 0);
}

void armv8_pmuv3_interrupt(const struct port_regs *regs)
{
	struct pmu_cpu *cpu = this_cpu();
	uint32_t wrapped = (uint32_t)pmu_read_pmovs();

	pmu_write_pmovsclr(wrapped);
	if (cpu->used == 0)
		return;
	armv8_pause(&armv8_pmu);
	for (wrapped &= cpu->running; wrapped != 0; wrapped &= wrapped - 1)
		counter_overflow(cpu->events[__builtin_ctz(wrapped)], regs);
	armv8_resume(&armv8_pmu);
}

/* --------------------------------------------------------------- start-up */

bool armv8_pmuv3_present(void)
{
	unsigned int version = DFR0_PMUVER(pmu_read_dfr0());

	return version != 0 && version != 15; /* 15: some other kind of PMU */
}

void armv8_pmuv3_cpu_init(void)
{
	pmu_write_pmcntenclr(UINT32_MAX);
	pmu_write_pmintenclr(UINT32_MAX);
	pmu_write_pmovsclr(UINT32_MAX);
	pmu_write_pmuserenr(0);
	pmu_write_pmcr(PMCR_P | PMCR_C | PMCR_LC);
	pmu_isb();
}

static const struct perf_pmu_ops armv8_ops = {
	.event_init = armv8_event_init,
	.group_fits = armv8_group_fits,
	.add = armv8_add,
	.del = armv8_del,
	.start = armv8_start,
	.stop = armv8_stop,
	.read = armv8_read,
	.pause = armv8_pause,
	.resume = armv8_resume,
};

static const struct perf_pmu_text armv8_formats[] = {
	{ "event", "config:0-15" },
	{ "long", "config1:0" }, /* counts are always 64 bits wide: nothing to do */
	{ NULL, NULL },
};

static void probe(void)
{
	/* The upper halves of PMCEID are about events from 0x4000 on. */
	common_events = (pmu_read_pmceid0() & UINT32_MAX) | pmu_read_pmceid1() << 32;
	nr_event_counters = PMCR_N(pmu_read_pmcr());
	event_counter_mask = UINT32_MAX;
	pmcr_idle = PMCR_LC;
	if (DFR0_PMUVER(pmu_read_dfr0()) >= 6) {
		event_counter_mask = UINT64_MAX;
		pmcr_idle |= PMCR_LP;
	}
}

int armv8_pmuv3_register(const char *name, const struct perf_cpu_set *cpu_set, bool interrupt)
{
	int err;

	probe();
	cpus = port_alloc((size_t)port_nr_cpus() * sizeof(*cpus));
	armv8_pmu.events = armv8_pmuv3_event_texts(common_events);
	if (!cpus || !armv8_pmu.events)
		return -ENOMEM;
	armv8_pmu.name = name;
	armv8_pmu.ops = &armv8_ops;
	armv8_pmu.caps = PERF_PMU_GENERIC | (interrupt ? 0U : PERF_PMU_NO_INTERRUPT);
	armv8_pmu.cpus = *cpu_set;
	armv8_pmu.formats = armv8_formats;
	armv8_pmu.type = -1;
	err = perf_pmu_register(&armv8_pmu);
	return err;
}
