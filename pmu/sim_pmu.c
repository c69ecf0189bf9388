/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_pmu.c - driver of a simulated PMU; see sim_pmu.h for what it is like.
 *
 * A counter is loaded with minus the number of counts it may run for, and
 * raises its interrupt when it wraps. The handler folds what was counted into
 * the event and loads the counter anew, so that counts stay exact on counters
 * of any width. While the handler runs, all counters of the CPU are stopped:
 * the workload is counted, not the handler.
 *
 * The sets of events that counters can count are nested (the cycle counter's is
 * part of everybody else's), so taking the most restricted counter that will do
 * is always best.
 */
#include <errno.h>

#include "sim_pmu.h"

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static struct sim_pmu *sim_of(struct perf_pmu *pmu)
{
	return container_of(pmu, struct sim_pmu, pmu);
}

static struct sim_pmu_cpu *this_cpu(struct sim_pmu *sim)
{
	return &sim->cpus[port_cpu()];
}

static uint64_t reg_read(struct sim_pmu *sim, unsigned int reg)
{
	return sim->model->read(sim->model, reg);
}

static void reg_write(struct sim_pmu *sim, unsigned int reg, uint64_t value)
{
	sim->model->write(sim->model, reg, value);
}

static uint64_t counter_bit(const struct perf_hw_event *hw)
{
	return UINT64_C(1) << (unsigned int)hw->idx;
}

/* ---------------------------------------------------------- what to count */

static const uint8_t generic_events[PERF_COUNT_HW_MAX] = {
	[PERF_COUNT_HW_CPU_CYCLES] = SIM_EVENT_CYCLES,
	[PERF_COUNT_HW_INSTRUCTIONS] = SIM_EVENT_INSTRUCTIONS,
	[PERF_COUNT_HW_CACHE_REFERENCES] = SIM_EVENT_CACHE_REFERENCES,
	[PERF_COUNT_HW_CACHE_MISSES] = SIM_EVENT_CACHE_MISSES,
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = SIM_EVENT_BRANCHES,
	[PERF_COUNT_HW_BRANCH_MISSES] = SIM_EVENT_BRANCH_MISSES,
	[PERF_COUNT_HW_BUS_CYCLES] = SIM_EVENT_NR,
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = SIM_EVENT_NR,
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = SIM_EVENT_NR,
	[PERF_COUNT_HW_REF_CPU_CYCLES] = SIM_EVENT_NR,
};

/* Number of the simulated event that an attr means, SIM_EVENT_NR for none. */
static uint64_t event_number(const struct sim_pmu *sim, const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_HARDWARE) {
		uint64_t config = attr->config & PERF_HW_EVENT_MASK;

		return config < PERF_COUNT_HW_MAX ? generic_events[config] : SIM_EVENT_NR;
	}
	if (attr->type == PERF_TYPE_RAW || attr->type == (uint32_t)sim->pmu.type)
		return attr->config;
	return SIM_EVENT_NR;
}

static int sim_event_init(struct perf_hw_event *hw)
{
	struct sim_pmu *sim = sim_of(hw->pmu);
	const struct perf_event_attr *attr = hw->attr;
	uint64_t event = event_number(sim, attr);

	if (event >= SIM_EVENT_NR || (sim->model->events >> event & 1) == 0)
		return -ENOENT;
	if (hw->cpu >= 0 && !perf_cpu_set_has(&sim->pmu.cpus, hw->cpu))
		return -ENOENT;
	if (attr->exclude_idle)
		return -EOPNOTSUPP;
	hw->config = event;
	hw->user_access = hw->of_task && !attr->inherit;
	if (attr->exclude_user)
		hw->config |= SIM_PMU_EXCLUDE_USER;
	if (attr->exclude_kernel)
		hw->config |= SIM_PMU_EXCLUDE_KERNEL;
	return 0;
}

/* ------------------------------------------------------- sharing counters */

/* The counter for an event, given the ones in use (a bit for each); or -1. */
static int find_counter(const struct sim_pmu *sim, uint64_t used, uint64_t config)
{
	bool cycles = (config & SIM_PMU_EVENT_MASK) == SIM_EVENT_CYCLES;
	unsigned int n = sim->model->cycle_counter && !cycles ? 1 : 0;

	for (; n < sim->model->counters; n++)
		if ((used >> n & 1) == 0)
			return (int)n;
	return -1;
}

static int sim_group_fits(struct perf_pmu *pmu, struct perf_hw_event *const *events, unsigned int n)
{
	uint64_t used = 0;

	for (unsigned int i = 0; i < n; i++) {
		int idx = find_counter(sim_of(pmu), used, events[i]->config);

		if (idx < 0)
			return -EINVAL;
		used |= UINT64_C(1) << (unsigned int)idx;
	}
	return 0;
}

/* --------------------------------------------------- one counter's doings */

/* Load a stopped counter with as much as it may count. Whether a period ended. */
static bool load(struct sim_pmu *sim, struct perf_hw_event *hw)
{
	uint64_t left;
	bool period_over = perf_hw_next_period(hw, sim->mask, &left);

	hw->prev = (UINT64_C(0) - left) & sim->mask;
	reg_write(sim, SIM_PMU_COUNT + (unsigned int)hw->idx, hw->prev);
	perf_hw_loaded(hw);
	return period_over;
}

static void sim_read(struct perf_hw_event *hw)
{
	struct sim_pmu *sim = sim_of(hw->pmu);

	perf_hw_fold(hw, reg_read(sim, SIM_PMU_COUNT + (unsigned int)hw->idx), sim->mask);
}

static void sim_start(struct perf_hw_event *hw)
{
	struct sim_pmu *sim = sim_of(hw->pmu);
	struct sim_pmu_cpu *cpu = this_cpu(sim);
	uint64_t bit = counter_bit(hw);
	bool period_over;

	if (cpu->running & bit)
		return;
	cpu->running |= (uint32_t)bit;
	period_over = load(sim, hw);
	if (sim->model->interrupt)
		reg_write(sim, SIM_PMU_IRQ_SET, bit);
	reg_write(sim, SIM_PMU_ENABLE_SET, bit);
	if (period_over)
		perf_overflow(hw, NULL, 0);
}

static void sim_stop(struct perf_hw_event *hw, unsigned int flags)
{
	struct sim_pmu *sim = sim_of(hw->pmu);
	struct sim_pmu_cpu *cpu = this_cpu(sim);
	uint64_t bit = counter_bit(hw);

	if ((cpu->running & bit) == 0)
		return;
	reg_write(sim, SIM_PMU_ENABLE_CLR, bit);
	reg_write(sim, SIM_PMU_IRQ_CLR, bit);
	reg_write(sim, SIM_PMU_OVERFLOW, bit);
	cpu->running &= (uint32_t)~bit;
	if (flags & PERF_PMU_UPDATE)
		sim_read(hw);
}

static int sim_add(struct perf_hw_event *hw, unsigned int flags)
{
	struct sim_pmu *sim = sim_of(hw->pmu);
	struct sim_pmu_cpu *cpu = this_cpu(sim);
	uint64_t used = 0;

	for (unsigned int n = 0; n < sim->model->counters; n++)
		if (cpu->events[n] != NULL)
			used |= UINT64_C(1) << n;
	hw->idx = find_counter(sim, used, hw->config);
	if (hw->idx < 0)
		return -EAGAIN;
	cpu->events[hw->idx] = hw;
	reg_write(sim, SIM_PMU_SELECT + (unsigned int)hw->idx, hw->config);
	hw->prev = reg_read(sim, SIM_PMU_COUNT + (unsigned int)hw->idx);
	if (flags & PERF_PMU_START)
		sim_start(hw);
	return 0;
}

static void sim_del(struct perf_hw_event *hw)
{
	struct sim_pmu *sim = sim_of(hw->pmu);

	sim_stop(hw, PERF_PMU_UPDATE);
	this_cpu(sim)->events[hw->idx] = NULL;
}

static bool sim_overflowed(const struct perf_pmu *pmu)
{
	const struct sim_pmu *sim = container_of(pmu, const struct sim_pmu, pmu);

	return (sim->model->read(sim->model, SIM_PMU_OVERFLOW) & sim->cpus[port_cpu()].running) !=
	       0;
}

static uint32_t sim_user_index(struct perf_hw_event *hw, uint16_t *width)
{
	*width = (uint16_t)sim_of(hw->pmu)->model->width;
	return (uint32_t)hw->idx + 1;
}

static void sim_allow_user(struct perf_pmu *pmu, bool allowed)
{
	reg_write(sim_of(pmu), SIM_PMU_USER, allowed);
}

/* --------------------------------------------------------- all of a CPU's */

static void sim_pause(struct perf_pmu *pmu)
{
	reg_write(sim_of(pmu), SIM_PMU_CTRL, 0);
}

static void sim_resume(struct perf_pmu *pmu)
{
	reg_write(sim_of(pmu), SIM_PMU_CTRL, 1);
}

/* A counter has wrapped: account for it, load it anew, and report it. */
static void counter_overflow(struct sim_pmu *sim, struct perf_hw_event *hw,
			     const struct port_regs *regs)
{
	sim_read(hw);
	if (load(sim, hw))
		perf_overflow(hw, regs, 0);
}

void sim_pmu_interrupt(struct sim_pmu *sim, const struct port_regs *regs)
{
	struct sim_pmu_cpu *cpu = this_cpu(sim);
	uint64_t wrapped;

	sim_pause(&sim->pmu);
	wrapped = reg_read(sim, SIM_PMU_OVERFLOW);
	reg_write(sim, SIM_PMU_OVERFLOW, wrapped);
	for (unsigned int n = 0; n < sim->model->counters; n++)
		if (wrapped & cpu->running & (UINT64_C(1) << n))
			counter_overflow(sim, cpu->events[n], regs);
	sim_resume(&sim->pmu);
}

/* ------------------------------------------------------------ description */

static const struct perf_pmu_ops ops = {
	.event_init = sim_event_init,
	.group_fits = sim_group_fits,
	.add = sim_add,
	.del = sim_del,
	.start = sim_start,
	.stop = sim_stop,
	.read = sim_read,
	.pause = sim_pause,
	.resume = sim_resume,
	.overflowed = sim_overflowed,
	.user_index = sim_user_index,
	.allow_user = sim_allow_user,
};

static const struct perf_pmu_text formats[] = {
	{"event", "config:0-7"},
	{NULL, NULL},
};

int sim_pmu_register(struct sim_pmu *sim, const struct sim_pmu_model *model)
{
	struct perf_pmu *pmu = &sim->pmu;
	int err;

	sim->cpus = port_alloc((size_t)port_nr_cpus() * sizeof(*sim->cpus));
	if (sim->cpus == NULL)
		return -ENOMEM;
	sim->model = model;
	sim->mask = model->width == 64 ? UINT64_MAX : (UINT64_C(1) << model->width) - 1;
	pmu->name = model->name;
	pmu->ops = &ops;
	pmu->caps = (model->interrupt ? 0U : PERF_PMU_NO_INTERRUPT) |
		    (model->generic ? PERF_PMU_GENERIC : 0U);
	pmu->cpus = model->cpus;
	pmu->formats = formats;
	pmu->type = -1;
	err = perf_pmu_register(pmu);
	if (err != 0) {
		port_free(sim->cpus);
		sim->cpus = NULL;
	}
	return err;
}
