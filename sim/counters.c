/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counters.c - the counter hardware behind the registers of sim_pmu.h.
 *
 * A counter advances with the work of its CPU, wraps at its width, remembers
 * that it did, and raises the CPU's interrupt line as long as the overflow is
 * not cleared. Only its own CPU can reach it.
 */
#include "machine.h"

#define pmu_of(m)                                                            \
	((struct sim_machine_pmu *)(void *)((char *)(uintptr_t)(m)-offsetof( \
		struct sim_machine_pmu, model)))

static struct sim_hw *this_hw(const struct sim_pmu_model *model)
{
	sim_must_irq_off("a counter register was touched");
	if (!perf_cpu_set_has(&model->cpus, sim.cpu->nr))
		sim_fail("CPU %d has no PMU %s", sim.cpu->nr, model->name);
	return &pmu_of(model)->hw[sim.cpu->nr];
}

static uint64_t value_mask(const struct sim_pmu_model *model)
{
	return model->width == 64 ? UINT64_MAX : (UINT64_C(1) << model->width) - 1;
}

/* -------------------------------------------------------------- registers */

static uint64_t hw_read(const struct sim_pmu_model *model, unsigned int reg)
{
	struct sim_hw *hw = this_hw(model);

	switch (reg) {
	case SIM_PMU_CTRL:
		return hw->on;
	case SIM_PMU_ENABLE_SET:
	case SIM_PMU_ENABLE_CLR:
		return hw->enabled;
	case SIM_PMU_IRQ_SET:
	case SIM_PMU_IRQ_CLR:
		return hw->irq;
	case SIM_PMU_OVERFLOW:
		return hw->overflow;
	default:
		break;
	}
	if (reg >= SIM_PMU_COUNT && reg < SIM_PMU_COUNT + model->counters)
		return hw->count[reg - SIM_PMU_COUNT];
	if (reg >= SIM_PMU_SELECT && reg < SIM_PMU_SELECT + model->counters)
		return hw->select[reg - SIM_PMU_SELECT];
	sim_fail("no counter register %u", reg);
}

static void select_event(const struct sim_pmu_model *model, struct sim_hw *hw, unsigned int n,
			 uint64_t value)
{
	uint64_t event = value & SIM_PMU_EVENT_MASK;

	if (hw->enabled >> n & 1)
		sim_fail("the event of a running counter was changed");
	if (event >= SIM_EVENT_NR || (model->events >> event & 1) == 0)
		sim_fail("counter %u cannot count event %u", n, (unsigned int)event);
	if (n == 0 && model->cycle_counter && event != SIM_EVENT_CYCLES)
		sim_fail("the cycle counter was told to count something else");
	hw->select[n] = (uint32_t)value;
}

static void hw_write(const struct sim_pmu_model *model, unsigned int reg, uint64_t value)
{
	struct sim_hw *hw = this_hw(model);
	uint32_t bits = (uint32_t)value;

	if (reg >= SIM_PMU_COUNT && reg < SIM_PMU_COUNT + model->counters)
		hw->count[reg - SIM_PMU_COUNT] = value & value_mask(model);
	else if (reg >= SIM_PMU_SELECT && reg < SIM_PMU_SELECT + model->counters)
		select_event(model, hw, reg - SIM_PMU_SELECT, value);
	else if (reg == SIM_PMU_CTRL)
		hw->on = (value & 1) != 0;
	else if (reg == SIM_PMU_ENABLE_SET)
		hw->enabled |= bits;
	else if (reg == SIM_PMU_ENABLE_CLR)
		hw->enabled &= ~bits;
	else if (reg == SIM_PMU_IRQ_SET)
		hw->irq |= bits;
	else if (reg == SIM_PMU_IRQ_CLR)
		hw->irq &= ~bits;
	else if (reg == SIM_PMU_OVERFLOW)
		hw->overflow &= ~bits;
	else if (reg == SIM_PMU_USER)
		hw->user = (value & 1) != 0;
	else
		sim_fail("no counter register %u", reg);
}

/* --------------------------------------------------------------- counting */

/* How fast a counter counts while the CPU works in a mode. */
static unsigned int speed(const struct sim_hw *hw, unsigned int n, const struct sim_task *task,
			  int mode)
{
	uint32_t exclude = mode == SIM_USER ? SIM_PMU_EXCLUDE_USER : SIM_PMU_EXCLUDE_KERNEL;

	if (!hw->on || (hw->enabled >> n & 1) == 0 || (hw->select[n] & exclude) != 0)
		return 0;
	return task->rate[mode][hw->select[n] & SIM_PMU_EVENT_MASK];
}

static void advance(struct sim_machine_pmu *pmu, struct sim_cpu *cpu, int mode, uint64_t ns)
{
	struct sim_hw *hw = &pmu->hw[cpu->nr];
	uint64_t mask = value_mask(&pmu->model);

	for (unsigned int n = 0; n < pmu->model.counters; n++) {
		uint64_t counts = speed(hw, n, cpu->current, mode) * ns;

		if (counts > mask - hw->count[n])
			hw->overflow |= 1U << n;
		hw->count[n] = (hw->count[n] + counts) & mask;
	}
}

void sim_counters_advance(struct sim_cpu *cpu, int mode, uint64_t ns)
{
	for (unsigned int i = 0; i < SIM_MAX_PMUS; i++)
		if (sim.pmus[i].present)
			advance(&sim.pmus[i], cpu, mode, ns);
}

static uint64_t quiet(const struct sim_machine_pmu *pmu, const struct sim_cpu *cpu, int mode,
		      uint64_t ns)
{
	const struct sim_hw *hw = &pmu->hw[cpu->nr];

	for (unsigned int n = 0; n < pmu->model.counters; n++) {
		unsigned int rate = speed(hw, n, cpu->current, mode);
		uint64_t left = value_mask(&pmu->model) - hw->count[n]; /* one more wraps */

		if (rate != 0 && (hw->irq >> n & 1) != 0 && left / rate < ns)
			ns = left / rate + 1;
	}
	return ns;
}

uint64_t sim_counters_quiet(const struct sim_cpu *cpu, int mode, uint64_t ns)
{
	for (unsigned int i = 0; i < SIM_MAX_PMUS; i++)
		if (sim.pmus[i].present)
			ns = quiet(&sim.pmus[i], cpu, mode, ns);
	return ns;
}

static bool line(const struct sim_machine_pmu *pmu, const struct sim_cpu *cpu)
{
	const struct sim_hw *hw = &pmu->hw[cpu->nr];

	return pmu->present && pmu->model.interrupt && (hw->overflow & hw->irq) != 0;
}

bool sim_counters_irq(const struct sim_cpu *cpu)
{
	for (unsigned int i = 0; i < SIM_MAX_PMUS; i++)
		if (line(&sim.pmus[i], cpu))
			return true;
	return false;
}

void sim_counters_interrupt(const struct sim_cpu *cpu, const struct port_regs *regs)
{
	for (unsigned int i = 0; i < SIM_MAX_PMUS; i++)
		if (line(&sim.pmus[i], cpu))
			sim_pmu_interrupt(&sim.pmus[i].driver, regs);
}

bool sim_user_may_read(const struct sim_task *task)
{
	sim_assert(task->on_cpu);
	for (unsigned int i = 0; i < SIM_MAX_PMUS; i++)
		if (sim.pmus[i].present && sim.pmus[i].hw[task->cpu].user)
			return true;
	return false;
}

uint64_t sim_user_counter(const struct sim_task *task, unsigned int n)
{
	sim_assert(sim_user_may_read(task));
	for (unsigned int i = 0; i < SIM_MAX_PMUS; i++) {
		const struct sim_machine_pmu *pmu = &sim.pmus[i];

		if (!pmu->present || !perf_cpu_set_has(&pmu->model.cpus, task->cpu))
			continue;
		sim_assert(n < pmu->model.counters);
		return pmu->hw[task->cpu].count[n];
	}
	sim_fail("CPU %d has no counters", task->cpu);
}

/* --------------------------------------------------------- start and end */

void sim_counters_boot(const struct sim_config *config)
{
	for (unsigned int i = 0; i < SIM_MAX_PMUS; i++) {
		const struct sim_pmu_config *from = &config->pmu[i];
		struct sim_machine_pmu *pmu = &sim.pmus[i];
		uint64_t cpus = from->cpus != 0 ? from->cpus : UINT64_MAX;

		if (from->counters == 0)
			continue;
		pmu->present = true;
		pmu->model = (struct sim_pmu_model){
			.name = from->name != NULL ? from->name : "sim",
			.counters = from->counters,
			.width = from->width != 0 ? from->width : 64,
			.cycle_counter = !from->no_cycle_counter,
			.interrupt = !from->no_interrupt,
			.generic = !from->not_generic,
			.events = from->events != 0 ? from->events : (1U << SIM_EVENT_NR) - 1,
			.read = hw_read,
			.write = hw_write,
		};
		for (int cpu = 0; cpu < sim.nr_cpus; cpu++)
			if (cpus >> cpu & 1)
				perf_cpu_set_add(&pmu->model.cpus, cpu);
	}
}

void sim_counters_register(void)
{
	for (unsigned int i = 0; i < SIM_MAX_PMUS; i++) {
		struct sim_machine_pmu *pmu = &sim.pmus[i];

		if (pmu->present && sim_pmu_register(&pmu->driver, &pmu->model) != 0)
			sim_fail("PMU %s could not be registered", pmu->model.name);
	}
}

void sim_counters_check_off(void)
{
	for (unsigned int i = 0; i < SIM_MAX_PMUS; i++) {
		const struct sim_machine_pmu *pmu = &sim.pmus[i];

		for (int cpu = 0; pmu->present && cpu < sim.nr_cpus; cpu++) {
			const struct sim_hw *hw = &pmu->hw[cpu];

			if (hw->enabled != 0 || hw->irq != 0)
				sim_fail("counters 0x%x of CPU %d are still on",
					 hw->enabled | hw->irq, cpu);
			if (hw->on)
				sim_fail("the counters of CPU %d are not paused", cpu);
			for (unsigned int n = 0; n < pmu->model.counters; n++)
				if (pmu->driver.cpus[cpu].events[n] != NULL)
					sim_fail("counter %u of CPU %d still has an event", n, cpu);
		}
	}
}

uint32_t sim_pmu_type(unsigned int n)
{
	return (uint32_t)sim.pmus[n].driver.pmu.type;
}
