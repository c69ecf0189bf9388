/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * boot.c - making the machine, bringing it back to where it was, and looking
 * for what was left behind.
 */
#include <stdlib.h>

#include "machine.h"

#define SECOND UINT64_C(1000000000)

static int boot_sysctls[PERF_SYSCTL_NR];

/* ---------------------------------------------------------------- hotplug */

static long go_online(struct sim_task *task, const uintptr_t *arg)
{
	(void)task;
	(void)arg;
	sim.cpu->irq_off = true;
	sim.cpu->online = true;
	perf_cpu_online();
	sim.cpu->irq_off = false;
	return 0;
}

static long go_offline(struct sim_task *task, const uintptr_t *arg)
{
	(void)task;
	(void)arg;
	sim.cpu->irq_off = true;
	perf_cpu_offline();
	sim.cpu->online = false;
	if (sim.cpu->timers != NULL)
		sim_fail("a timer is left on a CPU that goes offline");
	sim.cpu->irq_off = false;
	return 0;
}

void sim_cpu_online(int cpu)
{
	sim_assert(!sim.cpus[cpu].online);
	sim_do(sim.cpus[cpu].idle, go_online, 0, 0, 0, 0, 0, 0);
}

void sim_cpu_offline(int cpu)
{
	sim_assert(sim.cpus[cpu].online && sim.cpus[cpu].current == sim.cpus[cpu].idle);
	sim_do(sim.cpus[cpu].idle, go_offline, 0, 0, 0, 0, 0, 0);
}

/* ------------------------------------------------------------------- boot */

static long start_core(struct sim_task *task, const uintptr_t *arg)
{
	(void)task;
	(void)arg;
	if (perf_init() != 0)
		sim_fail("perf_init() failed");
	return 0;
}

static long start_pmus(struct sim_task *task, const uintptr_t *arg)
{
	(void)task;
	(void)arg;
	sim_counters_register();
	return sim_trace_boot();
}

static void make_cpu(int nr, struct sim_process *kernel)
{
	struct sim_cpu *cpu = &sim.cpus[nr];

	cpu->nr = nr;
	cpu->at = SIM_AT_BASE;
	cpu->idle = cpu->current = sim_task_make(kernel, "idle");
	cpu->idle->idle = true;
	cpu->idle->tid = 0;
	cpu->idle->cpu = nr;
	cpu->idle->on_cpu = cpu->idle->claimed = true;
	for (unsigned int event = 0; event < SIM_EVENT_NR; event++)
		sim_rate(cpu->idle, event, 0, 0);
	cpu->loop = cpu->active = coro_get(sim_cpu_loop, cpu, &cpu->loop);
}

/*
 * What the core makes once for each CPU and PMU, and keeps: the machine starts
 * with all of it, so that whatever is allocated later is to be freed.
 */
static void warm_up(void)
{
	struct sim_task *task = sim_task_on(0, "warm-up");
	struct perf_event_attr attr = sim_attr_sw(PERF_COUNT_SW_DUMMY);

	for (int cpu = 0; cpu < sim.nr_cpus; cpu++) {
		struct perf_event_attr trace = sim_attr(PERF_TYPE_TRACEPOINT, sim_trace_id());

		sim_open(task, &attr, -1, cpu, -1, 0);
		sim_open(task, &trace, -1, cpu, -1, 0);
		for (unsigned int i = 0; i < SIM_MAX_PMUS; i++) {
			struct perf_event_attr of_pmu = sim_attr(sim_pmu_type(i), SIM_EVENT_CYCLES);

			if (sim.pmus[i].present)
				sim_open(task, &of_pmu, -1, cpu, -1, 0);
		}
	}
	sim_exit(task);
}

void sim_boot(const struct sim_config *config)
{
	struct sim_process *kernel = sim_process_make();

	sim_assert(!sim.booted);
	sim.booted = true;
	sim.test = coro_main();
	sim.now = 1000;
	sim.nr_cpus = config->cpus != 0 ? config->cpus : 4;
	sim_assert(sim.nr_cpus <= SIM_MAX_CPUS);
	kernel->pid = -1; /* so that no idle task gives it its own */
	for (int i = 0; i < sim.nr_cpus; i++)
		make_cpu(i, kernel);
	kernel->pid = 0;
	sim.next_id = 1000;
	sim_counters_boot(config);
	sim.cpus[0].online = true;
	sim_do(sim.cpus[0].idle, start_core, 0, 0, 0, 0, 0, 0);
	for (int i = 1; i < sim.nr_cpus - (int)config->offline; i++)
		sim_cpu_online(i);
	sim_do(sim.cpus[0].idle, start_pmus, 0, 0, 0, 0, 0, 0);
	for (unsigned int which = 0; which < PERF_SYSCTL_NR; which++)
		boot_sysctls[which] = perf_sysctl_get(which);
	warm_up();
	sim_memory_mark();
	sim_seed(1);
	sim_check_clean();
}

/* ------------------------------------------------------- reset and checks */

static void check_cpu(const struct sim_cpu *cpu)
{
	if (cpu->at != SIM_AT_BASE || cpu->active != cpu->loop)
		sim_fail("CPU %d is still in the kernel", cpu->nr);
	if (cpu->timers != NULL)
		sim_fail("a timer is still started on CPU %d", cpu->nr);
	if (cpu->remotes != NULL || cpu->woken != NULL)
		sim_fail("CPU %d still has something to do", cpu->nr);
}

void sim_check_no_events(void)
{
	sim_counters_check_off();
	if (perf_live_events() != 0)
		sim_fail("%u events are left", perf_live_events());
	if (perf_task_events() != 0)
		sim_fail("%u task events are left", perf_task_events());
	for (unsigned int what = 0; what < PERF_WATCH_NR; what++)
		if (perf_watched(what))
			sim_fail("hook %u is still watched", what);
}

void sim_check_clean(void)
{
	for (int i = 0; i < sim.nr_cpus; i++)
		check_cpu(&sim.cpus[i]);
	sim_check_no_events();
	for (const struct sim_task *task = sim.tasks; task != NULL; task = task->next)
		if (task->refs != (task->idle ? 1U : 0U))
			sim_fail("task %d still has %u references", task->tid, task->refs);
	if (sim.files != NULL || sim.maps != NULL)
		sim_fail("a file or a mapping is left");
	sim_memory_check();
}

static void reset_knobs(void)
{
	sim.kernel_ns = 0;
	sim.late_fork_failure = false;
	sim_memory_reset();
	sim_seed(1);
}

/* Some cannot be changed while an event depends on them. */
static void reset_sysctls(void)
{
	for (unsigned int which = 0; which < PERF_SYSCTL_NR; which++)
		if (perf_sysctl_set(which, boot_sysctls[which]) != 0)
			sim_fail("sysctl %u cannot be set back", which);
}

void sim_reset(void)
{
	reset_knobs();
	for (int i = 0; i < sim.nr_cpus; i++)
		sim.cpus[i].parked = false;
	sim_settle();
	for (int i = 0; i < sim.nr_cpus; i++)
		if (!sim.cpus[i].online)
			sim_cpu_online(i);
	sim_tasks_end();
	reset_sysctls();
	sim_wait(SECOND); /* the core lets a timer run out rather than stop it */
	sim_check_clean();
	sim.next_id = 1000;
}

/* ----------------------------------------------------------------- random */

void sim_seed(uint64_t seed)
{
	sim.random = seed;
}

/* SplitMix64. */
uint64_t sim_random(uint64_t below)
{
	uint64_t z = sim.random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return below != 0 ? z % below : z;
}

void sim_kernel_ns(uint64_t ns)
{
	sim.kernel_ns = ns;
}
