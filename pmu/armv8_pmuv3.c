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
 *
 * On a PMU that notices wraps late (armv8_pmuv3_quirk.h) an event that samples
 * instructions has a partner: a second counter, hw->idx_extra, of the same event
 * that wraps one count later and interrupts nobody.
 */
#include <linux/errno.h>

#include "armv8_pmuv3.h"
#include "armv8_pmuv3_events.h"
#include "armv8_pmuv3_quirk.h"
#include "armv8_pmuv3_regs.h"

#include <perf/perf.h>

enum { MAX_COUNTERS = 32 };

/* attr.config1, as arm64 Linux defines it. */
#define CONFIG1_LONG 1U
#define CONFIG1_RDPMC 2U

/* The events on the counters of one CPU. Only that CPU touches it. */
struct pmu_cpu {
	struct perf_hw_event *events[MAX_COUNTERS];
	uint32_t used;	  /* counters that have an event */
	uint32_t running; /* those of them that are started */
	bool user_reads;  /* user mode may read counters */
};

static struct perf_pmu armv8_pmu;
static struct pmu_cpu *cpus;
static unsigned int nr_event_counters;
static uint64_t event_counter_mask; /* a one for each bit of an event counter */
static uint64_t pmcr_idle;	    /* PMCR_EL0 without E */
static uint64_t common_events;	    /* PMCEID: numbers 0 to 63 */
static bool overflow_is_late;	    /* of counters of INST_RETIRED */

static struct pmu_cpu *this_cpu(void)
{
	return &cpus[port_cpu()];
}

/* The bits of an event's own counter, and of that and its partner if it has one. */
static uint32_t bit_of(const struct perf_hw_event *hw)
{
	return UINT32_C(1) << (unsigned int)hw->idx;
}

static uint32_t bits_of(const struct perf_hw_event *hw)
{
	return bit_of(hw) | (hw->idx_extra < 0 ? 0 : UINT32_C(1) << (unsigned int)hw->idx_extra);
}

static bool wants_partner(const struct perf_hw_event *hw)
{
	return overflow_is_late && hw->sample_period > 0 &&
	       (hw->config & PMEVTYPER_EVENT) == ARMV8_EVENT_INST_RETIRED;
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

static void select_counter(int idx)
{
	pmu_write_pmselr((uint64_t)idx);
	pmu_isb();
}

static uint64_t counter_read(const struct perf_hw_event *hw)
{
	if (is_cycle_counter(hw))
		return pmu_read_pmccntr();
	select_counter(hw->idx);
	return pmu_read_pmxevcntr();
}

static void event_counter_write(int idx, uint64_t value)
{
	select_counter(idx);
	pmu_write_pmxevcntr(value & event_counter_mask);
}

static void event_counter_program(int idx, uint64_t config)
{
	select_counter(idx);
	pmu_write_pmxevtyper(config);
}

/* What it counts, and in which modes. */
static void counter_program(const struct perf_hw_event *hw)
{
	if (is_cycle_counter(hw)) {
		pmu_write_pmccfiltr(hw->config & ~(uint64_t)PMEVTYPER_EVENT);
		return;
	}
	event_counter_program(hw->idx, hw->config);
	if (hw->idx_extra >= 0)
		event_counter_program(hw->idx_extra, hw->config);
}

/* Load a stopped counter with as much as it may count. Whether a period ended. */
static bool counter_load(struct perf_hw_event *hw)
{
	uint64_t left;
	bool period_over = perf_hw_next_period(hw, mask_of(hw), &left);

	hw->prev = (UINT64_C(0) - left) & mask_of(hw);
	if (is_cycle_counter(hw))
		pmu_write_pmccntr(hw->prev);
	else
		event_counter_write(hw->idx, hw->prev);
	if (hw->idx_extra >= 0)
		event_counter_write(hw->idx_extra, hw->prev - 1);
	perf_hw_loaded(hw);
	return period_over;
}

/* ------------------------------------------------------------- operations */

static int armv8_event_init(struct perf_hw_event *hw)
{
	const struct perf_event_attr *attr = hw->attr;
	int event = armv8_pmuv3_event_number(attr, (uint32_t)armv8_pmu.type, common_events);

	if (event < 0)
		return event;
	if ((attr->config1 & CONFIG1_RDPMC) != 0 && !hw->of_task)
		return -EINVAL;
	/* User mode reads what one counter holds, which may not be as long as asked for. */
	if ((attr->config1 & CONFIG1_LONG) != 0 && (attr->config1 & CONFIG1_RDPMC) != 0 &&
	    event != ARMV8_EVENT_CPU_CYCLES && event_counter_mask != UINT64_MAX)
		return -EOPNOTSUPP;
	if (attr->exclude_idle || (attr->sample_type & PERF_SAMPLE_BRANCH_STACK))
		return -EOPNOTSUPP;
	hw->user_access = (attr->config1 & CONFIG1_RDPMC) != 0;
	hw->config = (uint64_t)event;
	if (attr->exclude_user)
		hw->config |= PMEVTYPER_U;
	if (attr->exclude_kernel)
		hw->config |= PMEVTYPER_P;
	if (!attr->exclude_hv)
		hw->config |= PMEVTYPER_NSH;
	return 0;
}

/* The first event counter that is not in use, or -1. */
static int find_event_counter(uint32_t used)
{
	for (unsigned int n = 0; n < nr_event_counters; n++)
		if ((used >> n & 1) == 0)
			return (int)n;
	return -1;
}

/* Find what an event needs, given the counters in use. Only cycles suit the cycle counter. */
static bool find_counters(uint32_t used, const struct perf_hw_event *hw, int *idx, int *idx_extra)
{
	uint32_t cycle_bit = UINT32_C(1) << CYCLE_COUNTER;

	*idx_extra = -1;
	if ((hw->config & PMEVTYPER_EVENT) == ARMV8_EVENT_CPU_CYCLES && (used & cycle_bit) == 0) {
		*idx = (int)CYCLE_COUNTER;
		return true;
	}
	*idx = find_event_counter(used);
	if (*idx < 0 || !wants_partner(hw))
		return *idx >= 0;
	*idx_extra = find_event_counter(used | UINT32_C(1) << (unsigned int)*idx);
	return *idx_extra >= 0;
}

static int armv8_group_fits(struct perf_pmu *pmu, struct perf_hw_event *const *events,
			    unsigned int n)
{
	uint32_t used = 0;

	(void)pmu;
	for (unsigned int i = 0; i < n; i++) {
		int idx, idx_extra;

		if (!find_counters(used, events[i], &idx, &idx_extra))
			return -EINVAL;
		used |= UINT32_C(1) << (unsigned int)idx;
		if (idx_extra >= 0)
			used |= UINT32_C(1) << (unsigned int)idx_extra;
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
	bool period_over;

	if (cpu->running & bit_of(hw))
		return;
	cpu->running |= bit_of(hw);
	period_over = counter_load(hw);
	if ((armv8_pmu.caps & PERF_PMU_NO_INTERRUPT) == 0)
		pmu_write_pmintenset(bit_of(hw));
	pmu_isb();
	pmu_write_pmcntenset(bits_of(hw));
	if (period_over)
		perf_overflow(hw, NULL, 0);
}

static void armv8_stop(struct perf_hw_event *hw, unsigned int flags)
{
	struct pmu_cpu *cpu = this_cpu();

	if ((cpu->running & bit_of(hw)) == 0)
		return;
	pmu_write_pmcntenclr(bits_of(hw));
	pmu_write_pmintenclr(bit_of(hw));
	pmu_isb();
	pmu_write_pmovsclr(bits_of(hw));
	cpu->running &= ~bit_of(hw);
	if (flags & PERF_PMU_UPDATE)
		armv8_read(hw);
}

/*
 * Access is to all counters or to none, so while user mode has it those of
 * nobody are empty of what somebody else counted.
 */
static void clear_counters(uint32_t bits)
{
	for (unsigned int n = 0; n < nr_event_counters; n++)
		if (bits >> n & 1)
			event_counter_write((int)n, 0);
	if (bits >> CYCLE_COUNTER & 1)
		pmu_write_pmccntr(0);
}

static void armv8_allow_user(struct perf_pmu *pmu, bool allowed)
{
	struct pmu_cpu *cpu = this_cpu();
	bool reads = allowed && perf_sysctl_get(PERF_SYSCTL_USER_ACCESS) != 0;

	(void)pmu;
	if (reads == cpu->user_reads)
		return;
	cpu->user_reads = reads;
	if (reads)
		clear_counters(~cpu->used);
	pmu_write_pmuserenr(reads ? PMUSERENR_ER | PMUSERENR_CR : 0);
}

/* As user mode counts them: from 1, the cycle counter being the 32nd. */
static uint32_t armv8_user_index(struct perf_hw_event *hw, uint16_t *width)
{
	if (!this_cpu()->user_reads)
		return 0;
	*width = (uint16_t)(64 - __builtin_clzll(mask_of(hw)));
	return (uint32_t)hw->idx + 1;
}

static int armv8_add(struct perf_hw_event *hw, unsigned int flags)
{
	struct pmu_cpu *cpu = this_cpu();

	if (!find_counters(cpu->used, hw, &hw->idx, &hw->idx_extra))
		return -EAGAIN;
	cpu->used |= bits_of(hw);
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
	cpu->used &= ~bits_of(hw);
	if (cpu->user_reads)
		clear_counters(bits_of(hw));
}

static bool armv8_overflowed(const struct perf_pmu *pmu)
{
	(void)pmu;
	return ((uint32_t)pmu_read_pmovs() & this_cpu()->running) != 0;
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

uint64_t armv8_pmuv3_freeze(void)
{
	uint64_t pmcr = pmu_read_pmcr();

	pmu_write_pmcr(pmcr & ~PMCR_E);
	pmu_isb();
	return pmcr;
}

void armv8_pmuv3_thaw(uint64_t frozen)
{
	pmu_isb();
	pmu_write_pmcr(frozen);
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
	.overflowed = armv8_overflowed,
	.user_index = armv8_user_index,
	.allow_user = armv8_allow_user,
	.pause = armv8_pause,
	.resume = armv8_resume,
};

static const struct perf_pmu_text armv8_formats[] = {
	{"event", "config:0-15"},
	{"long", "config1:0"}, /* counts are always 64 bits wide: nothing to do */
	{"rdpmc", "config1:1"},
	{NULL, NULL},
};

static void probe(void)
{
	uintptr_t irq;

	/* The upper halves of PMCEID are about events from 0x4000 on. */
	common_events = (pmu_read_pmceid0() & UINT32_MAX) | pmu_read_pmceid1() << 32;
	nr_event_counters = PMCR_N(pmu_read_pmcr());
	event_counter_mask = UINT32_MAX;
	pmcr_idle = PMCR_LC;
	if (DFR0_PMUVER(pmu_read_dfr0()) >= 6) {
		event_counter_mask = UINT64_MAX;
		pmcr_idle |= PMCR_LP;
	}
	if (nr_event_counters == 0 || (common_events >> ARMV8_EVENT_INST_RETIRED & 1) == 0)
		return;
	irq = port_irq_save();
	overflow_is_late = armv8_pmuv3_overflow_is_late();
	port_irq_restore(irq);
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
