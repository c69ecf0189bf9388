/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drive.c - whose turn it is, and how the machine says that a rule is broken.
 *
 * Only the main coroutine drives. A script that has to wait switches to it with
 * the condition it waits for; a CPU that has nothing to do or passes a point
 * switches to it as well. The driver then runs scripts that can go on, and
 * picks one of the CPUs that can.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#include "machine.h"

struct sim_machine sim;

struct sim_script {
	void (*fn)(void *arg);
	void *arg;
	struct coro *coro, *home;
	bool (*cond)(const void *arg); /* waits for this, NULL: can go on */
	const void *cond_arg;
	bool done;
	struct sim_script *next;
};

static struct sim_script *scripts; /* in the order they were started */
static unsigned long turns;

#define MOST_TURNS 20000000UL /* without the test getting on: it never will */

/* ---------------------------------------------------------------- reports */

static const char *const point_names[SIM_AT_NR] = {
	[SIM_AT_SPIN_LOCK] = "before a spin lock",
	[SIM_AT_SPIN_UNLOCK] = "after a spin unlock",
	[SIM_AT_IRQ_ON] = "after interrupts went on",
	[SIM_AT_MUTEX_LOCK] = "before a mutex",
	[SIM_AT_MUTEX_UNLOCK] = "after a mutex unlock",
	[SIM_AT_CALL] = "before a remote call",
	[SIM_AT_CALLED] = "in a remote call",
	[SIM_AT_COPY] = "before a user copy",
	[SIM_AT_ALLOC] = "at an allocation",
	[SIM_AT_SWITCH] = "in a switch",
	[SIM_AT_ATOMIC] = "before an atomic operation",
	[SIM_AT_BASE] = "out of the kernel",
};

static void report_task(const struct sim_task *task)
{
	char site[256];

	if (task->call == NULL || !task->call->done)
		fprintf(stderr, "  task %d \"%s\": %s%s on %d, %s\n", task->tid, task->name,
			task->state == SIM_DEAD	      ? "dead"
			: task->state == SIM_SLEEPING ? "sleeping on a mutex"
						      : "runnable",
			task->call == NULL ? "" : ", in a call", task->cpu,
			task->on_cpu ? "running" : "not running");
	for (unsigned int i = 0; i < task->nr_held; i++)
		fprintf(stderr, "    holds a mutex taken at %s\n",
			sim_site((const void *)task->held[i]->opaque[1], site, sizeof(site)));
}

static void report(void)
{
	char site[256];

	for (int i = 0; i < sim.nr_cpus; i++) {
		const struct sim_cpu *cpu = &sim.cpus[i];

		fprintf(stderr, "cpu %d%s: %s at %s%s%s%s%s\n", i, cpu == sim.cpu ? " (turn)" : "",
			point_names[cpu->at], sim_site(cpu->site, site, sizeof(site)),
			cpu->irq_off ? ", interrupts off" : "", cpu->in_irq ? ", in interrupt" : "",
			cpu->spinning != NULL ? ", spinning" : "", cpu->parked ? ", parked" : "");
		if (cpu->current != NULL)
			report_task(cpu->current);
		for (unsigned int n = 0; n < cpu->nr_held; n++)
			fprintf(stderr, "    holds a spin lock taken at %s\n",
				sim_site((const void *)cpu->held[n]->opaque[1], site,
					 sizeof(site)));
	}
	for (const struct sim_task *task = sim.tasks; task != NULL; task = task->next)
		if (task->call != NULL && !task->on_cpu)
			report_task(task);
}

void sim_fail(const char *format, ...)
{
	static bool failing;
	va_list args;

	fflush(stdout);
	fprintf(stderr, "sim: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n");
	if (!failing) {
		failing = true;
		report();
#ifdef __SANITIZE_ADDRESS__
		__sanitizer_print_stack_trace();
#endif
	}
	fflush(stderr);
	abort();
}

void port_panic(const char *what)
{
	sim_fail("panic: %s", what);
}

/* ------------------------------------------------------------------ turns */

bool sim_can_run(const struct sim_cpu *cpu)
{
	const struct sim_task *task = cpu->current;

	if (cpu->spinning != NULL)
		return !sim_spin_held(cpu->spinning);
	if (cpu->in_irq)
		return true;
	if (!cpu->irq_off && sim_irq_pending(cpu))
		return true;
	if (cpu->active == cpu->loop)
		return cpu->at != SIM_AT_BASE || sim_base_work(cpu);
	if (task->remote != NULL && !task->remote->done)
		return cpu->switch_wanted;
	return true;
}

static struct sim_cpu *choose(void)
{
	struct sim_cpu *able[SIM_MAX_CPUS];
	unsigned int n = 0;
	int last = -1;

	for (int i = 0; i < sim.nr_cpus; i++) {
		struct sim_cpu *cpu = &sim.cpus[i];

		if (!sim_can_run(cpu))
			continue;
		if (cpu == sim.last)
			last = (int)n;
		able[n++] = cpu;
	}
	if (n == 0)
		return NULL;
	return able[n == 1 ? 0 : sim.choose(n, last)];
}

/* The CPU to go on with by rule: preferred, not parked, parked with an interrupt, parked. */
static struct sim_cpu *pick(struct sim_cpu *prefer)
{
	struct sim_cpu *best = NULL;
	int best_rank = 4;

	for (int i = 0; i < sim.nr_cpus; i++) {
		struct sim_cpu *cpu = &sim.cpus[i];
		int rank = cpu == prefer ? 0 : !cpu->parked ? 1 : 3;

		if (rank == 3 && !cpu->irq_off && sim_irq_pending(cpu))
			rank = 2;
		if (rank < best_rank && sim_can_run(cpu)) {
			best = cpu;
			best_rank = rank;
		}
	}
	return best;
}

static bool turn(struct sim_cpu *prefer)
{
	struct sim_cpu *cpu = sim.choose != NULL ? choose() : pick(prefer);

	if (cpu == NULL)
		return false;
	if (++turns > MOST_TURNS)
		sim_fail("no end in sight");
	sim.last = cpu;
	sim.cpu = cpu;
	coro_switch(coro_main(), cpu->active);
	sim.cpu = NULL;
	return true;
}

void sim_give_turn(void)
{
	coro_switch(sim.cpu->active, coro_main());
}

void sim_pass(enum sim_point point, const void *site)
{
	struct sim_cpu *cpu = sim.cpu;

	if (cpu == NULL)
		sim_fail("the core runs on no CPU");
	if (sim.kernel_ns != 0)
		sim_tick(UINT64_C(1) << cpu->nr, SIM_KERNEL, sim.kernel_ns);
	cpu->at = point;
	cpu->site = site;
	cpu->passed[point]++;
	if (!cpu->parked && (sim.turn_points >> point & 1) == 0) {
		sim_take_interrupts();
	} else {
		do
			sim_give_turn();
		while (sim_take_interrupts());
	}
	sim_preempt_point();
}

/* ---------------------------------------------------------------- waiting */

static struct sim_script *running_script(void)
{
	for (struct sim_script *s = scripts; s != NULL; s = s->next)
		if (s->coro == sim.test)
			return s;
	return NULL;
}

static bool run_script(struct sim_script *script)
{
	if (script->done || (script->cond != NULL && !script->cond(script->cond_arg)))
		return false;
	sim.test = script->coro;
	coro_switch(coro_main(), script->coro);
	sim.test = coro_main();
	script->done = !script->coro->running;
	return true;
}

/* Let scripts go on until all of them wait. */
static void run_scripts(void)
{
	bool again = true;

	while (again) {
		again = false;
		for (struct sim_script *s = scripts; s != NULL; s = s->next)
			again = run_script(s) || again;
	}
}

void sim_wait_for(bool (*cond)(const void *arg), const void *arg, struct sim_cpu *prefer)
{
	struct sim_script *script = running_script();

	if (sim.cpu != NULL)
		sim_fail("a test function was called inside the machine");
	if (script != NULL) {
		script->cond = cond;
		script->cond_arg = arg;
		coro_switch(script->coro, coro_main());
		script->cond = NULL;
		return;
	}
	turns = 0;
	for (;;) {
		run_scripts();
		if (cond(arg))
			return;
		if (!turn(prefer))
			sim_fail("deadlock: nobody can go on");
	}
}

static bool settled(const void *arg)
{
	(void)arg;
	for (int i = 0; i < sim.nr_cpus; i++)
		if (!sim.cpus[i].parked && sim_can_run(&sim.cpus[i]))
			return false;
	return true;
}

void sim_settle(void)
{
	sim_wait_for(settled, NULL, NULL);
}

/* ---------------------------------------------------------------- scripts */

static void script_entry(void *arg)
{
	struct sim_script *script = arg;

	script->fn(script->arg);
}

struct sim_script *sim_script(void (*fn)(void *arg), void *arg)
{
	struct sim_script *script = calloc(1, sizeof(*script)), **end = &scripts;

	sim_assert(script != NULL);
	script->fn = fn;
	script->arg = arg;
	script->home = coro_main();
	script->coro = coro_get(script_entry, script, &script->home);
	while (*end != NULL)
		end = &(*end)->next;
	*end = script;
	return script;
}

static bool script_done(const void *arg)
{
	return ((const struct sim_script *)arg)->done;
}

void sim_finish(struct sim_script *script)
{
	struct sim_script **link = &scripts;

	for (int i = 0; i < sim.nr_cpus; i++)
		sim.cpus[i].parked = false;
	sim_wait_for(script_done, script, NULL);
	while (*link != script)
		link = &(*link)->next;
	*link = script->next;
	coro_put(script->coro);
	free(script);
}

struct arrival {
	const struct sim_cpu *cpu;
	enum sim_point point;
	unsigned long passed;
};

static bool arrived(const void *arg)
{
	const struct arrival *arrival = arg;

	return arrival->cpu->passed[arrival->point] >= arrival->passed;
}

void sim_until(int cpu, enum sim_point point, unsigned int n)
{
	struct arrival arrival = {&sim.cpus[cpu], point, sim.cpus[cpu].passed[point] + n};

	sim.cpus[cpu].parked = true;
	sim_wait_for(arrived, &arrival, &sim.cpus[cpu]);
}
