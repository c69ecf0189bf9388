/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpu.c - what a CPU does when it has the turn: interrupts, task switches,
 * system calls, work; and the part of the port that is about CPUs.
 *
 * A CPU at its base is out of the kernel: its task is in user mode, or idle.
 */
#include <errno.h>
#include <string.h>

#include "machine.h"

/* ------------------------------------------------------------- interrupts */

bool sim_irq_pending(const struct sim_cpu *cpu)
{
	return cpu->remotes != NULL || sim_timer_due(cpu) || sim_counters_irq(cpu);
}

static struct port_regs interrupted(const struct sim_cpu *cpu)
{
	const struct sim_task *task = cpu->current;
	bool user = cpu->active == cpu->loop && cpu->at == SIM_AT_BASE && !task->idle &&
		    !cpu->kernel_work;

	return (struct port_regs){
		.user = user,
		.ip = user ? task->ip : UINT64_C(0xffff800000080000) + cpu->at * 16U,
		.sp = user && task->user != NULL ? (uintptr_t)task->user + SIM_USER_SIZE / 2 : 0,
		.task = task,
	};
}

static void run_remote(struct sim_cpu *cpu)
{
	struct sim_remote *remote = cpu->remotes;

	cpu->remotes = remote->next;
	remote->fn(remote->arg);
	remote->done = true;
}

static void take_interrupt(struct sim_cpu *cpu)
{
	struct port_regs regs = interrupted(cpu);
	enum sim_point at = cpu->at;

	cpu->irq_off = cpu->in_irq = true;
	if (cpu->remotes != NULL) {
		run_remote(cpu);
	} else if (sim_counters_irq(cpu)) {
		if (++cpu->storm > 10000)
			sim_fail("the counter interrupt does not go away");
		sim_counters_interrupt(cpu, &regs);
	} else {
		sim_run_timer(cpu, &regs);
	}
	if (cpu->nr_held != 0 || !cpu->irq_off)
		sim_fail("an interrupt handler left a lock taken or interrupts on");
	cpu->irq_off = cpu->in_irq = false;
	cpu->at = at;
}

bool sim_take_interrupts(void)
{
	struct sim_cpu *cpu = sim.cpu;
	bool took = false;

	while (!cpu->irq_off && sim_irq_pending(cpu)) {
		take_interrupt(cpu);
		took = true;
	}
	return took;
}

/* -------------------------------------------------------------- switching */

static void forget_woken(struct sim_task *task)
{
	for (int i = 0; i < sim.nr_cpus; i++) {
		struct sim_task **link = &sim.cpus[i].woken;

		while (*link != NULL && *link != task)
			link = &(*link)->next_waiting;
		if (*link != NULL)
			*link = task->next_waiting;
	}
}

static void switch_to(struct sim_cpu *cpu, struct sim_task *next)
{
	struct sim_task *prev = cpu->current;

	if (prev == next)
		return;
	forget_woken(next);
	next->claimed = true;
	cpu->irq_off = true;
	if (next->cpu >= 0 && next->cpu != cpu->nr)
		perf_migrate(&next->perf);
	next->cpu = cpu->nr;
	perf_sched_out(&prev->perf, &next->perf);
	prev->on_cpu = prev->claimed = false;
	cpu->current = next;
	next->on_cpu = true;
	sim_pass(SIM_AT_SWITCH, NULL);
	perf_sched_in(&prev->perf, &next->perf);
	if (cpu->nr_held != 0 || !cpu->irq_off)
		sim_fail("a switch hook left a lock taken or interrupts on");
	cpu->irq_off = false;
	if (prev->state == SIM_DEAD)
		sim_task_gone(prev);
	sim_pass(SIM_AT_IRQ_ON, NULL);
}

static bool can_switch_to(const struct sim_cpu *cpu, const struct sim_task *task)
{
	return task->state == SIM_RUNNABLE && (!task->claimed || task == cpu->current);
}

static void wanted_switch(struct sim_cpu *cpu)
{
	struct sim_task *next = cpu->switch_to;

	cpu->switch_result = next == NULL || can_switch_to(cpu, next);
	if (cpu->switch_result) {
		for (int i = 0; next != NULL && i < sim.nr_cpus; i++)
			if (sim.cpus[i].chosen == next)
				sim.cpus[i].chosen = NULL;
		cpu->chosen = next;
		switch_to(cpu, next != NULL ? next : cpu->idle);
	}
	cpu->switch_wanted = false;
}

/* The task that ought to be running, apart from one that is in a call. */
static struct sim_task *due_task(const struct sim_cpu *cpu)
{
	if (cpu->woken != NULL && can_switch_to(cpu, cpu->woken))
		return cpu->woken;
	if (cpu->chosen != NULL && can_switch_to(cpu, cpu->chosen))
		return cpu->chosen;
	return cpu->idle;
}

void sim_preempt_point(void)
{
	struct sim_cpu *cpu = sim.cpu;
	struct coro *coro = cpu->active;

	if (!cpu->switch_wanted || cpu->irq_off || coro == cpu->loop)
		return;
	cpu->active = cpu->loop;
	coro_switch(coro, cpu->loop);
}

void sim_sleep(void)
{
	struct sim_cpu *cpu = sim.cpu;
	struct coro *coro = cpu->active;

	cpu->active = cpu->loop;
	coro_switch(coro, cpu->loop);
}

void sim_wake(struct sim_task *task)
{
	struct sim_task **end = &sim.cpus[task->cpu].woken;

	task->state = SIM_RUNNABLE;
	while (*end != NULL)
		end = &(*end)->next_waiting;
	task->next_waiting = NULL;
	*end = task;
}

/* ------------------------------------------------------------------ calls */

static void call_entry(void *arg)
{
	struct sim_task *task = arg;

	task->call->result = task->call->fn(task, task->call->arg);
	if (sim.cpu->irq_off || task->nr_held != 0)
		sim_fail("a system call returned with a mutex held or interrupts off");
	sim.cpu->active = sim.cpu->loop;
	task->home = sim.cpu->loop;
}

/* Start or continue the current task's call. */
static void run_call(struct sim_cpu *cpu)
{
	struct sim_task *task = cpu->current;
	struct sim_call *call = task->call;

	forget_woken(task);
	if (task->coro == NULL)
		task->coro = coro_get(call_entry, task, &task->home);
	cpu->active = task->coro;
	coro_switch(cpu->loop, task->coro);
	if (task->coro->running)
		return;
	coro_put(task->coro);
	task->coro = NULL;
	task->call = NULL;
	call->done = true;
}

/* The CPU works in user mode until something happens. */
static void work(struct sim_cpu *cpu)
{
	uint64_t self = UINT64_C(1) << cpu->nr;
	uint64_t ns = sim_quiet(self, SIM_USER, cpu->run_ns);

	cpu->run_ns -= ns;
	sim_tick(self, SIM_USER, ns);
}

bool sim_base_work(const struct sim_cpu *cpu)
{
	const struct sim_task *task = cpu->current;

	return cpu->switch_wanted || cpu->run_ns != 0 || task->call != NULL ||
	       due_task(cpu) != task;
}

static void base_step(struct sim_cpu *cpu)
{
	struct sim_task *task = cpu->current;

	cpu->at = SIM_AT_IRQ_ON; /* in the kernel */
	if (task->state != SIM_RUNNABLE)
		switch_to(cpu, due_task(cpu));
	else if (cpu->switch_wanted)
		wanted_switch(cpu);
	else if (task->call != NULL)
		run_call(cpu);
	else if (due_task(cpu) != task)
		switch_to(cpu, due_task(cpu));
	else if (cpu->run_ns != 0)
		work(cpu);
}

void sim_cpu_loop(void *arg)
{
	struct sim_cpu *cpu = arg;

	for (;;) {
		cpu->at = SIM_AT_BASE;
		cpu->site = NULL;
		cpu->passed[SIM_AT_BASE]++;
		sim_give_turn();
		if (sim_irq_pending(cpu))
			sim_take_interrupts();
		else
			base_step(cpu);
	}
}

static bool call_done(const void *arg)
{
	return ((const struct sim_call *)arg)->done;
}

static bool call_free(const void *arg)
{
	return ((const struct sim_task *)arg)->call == NULL;
}

long sim_do(struct sim_task *task, long (*fn)(struct sim_task *, const uintptr_t *), uintptr_t a0,
	    uintptr_t a1, uintptr_t a2, uintptr_t a3, uintptr_t a4, uintptr_t a5)
{
	struct sim_call call = {.fn = fn, .arg = {a0, a1, a2, a3, a4, a5}};
	struct sim_cpu *cpu = task->cpu < 0 ? NULL : &sim.cpus[task->cpu];

	if (task->state == SIM_DEAD)
		return -ESRCH;
	if (sim.test == coro_main() && (!task->on_cpu || task->call != NULL))
		sim_fail("task %d is not running, or in a system call already", task->tid);
	if (task->call != NULL)
		sim_wait_for(call_free, task, cpu);
	task->call = &call;
	sim_wait_for(call_done, &call, cpu);
	return call.result;
}

/* -------------------------------------------------- the test's scheduling */

static bool switch_done(const void *arg)
{
	return !((const struct sim_cpu *)arg)->switch_wanted;
}

bool sim_switch(int nr, struct sim_task *task)
{
	struct sim_cpu *cpu = &sim.cpus[nr];

	sim_assert(nr < sim.nr_cpus && cpu->online);
	sim_wait_for(switch_done, cpu, cpu);
	cpu->switch_to = task;
	cpu->switch_wanted = true;
	sim_wait_for(switch_done, cpu, cpu);
	return cpu->switch_result;
}

void sim_migrate(struct sim_task *task, int cpu)
{
	if (task->on_cpu)
		sim_switch(task->cpu, NULL);
	sim_switch(cpu, task);
}

static bool run_done(const void *arg)
{
	const struct sim_cpu *cpu = arg;

	return cpu->run_ns == 0 && cpu->at == SIM_AT_BASE && !sim_irq_pending(cpu);
}

/* Time passes for these CPUs at once, and interrupts are taken as they come. */
static void pass_time(uint64_t cpus, int mode, uint64_t ns)
{
	for (int i = 0; i < sim.nr_cpus; i++)
		sim.cpus[i].kernel_work = mode == SIM_KERNEL && (cpus >> i & 1) != 0;
	sim_settle();
	while (ns != 0) {
		uint64_t step = sim_quiet(cpus, mode, ns);

		sim_tick(cpus, mode, step);
		ns -= step;
		sim_settle();
	}
	for (int i = 0; i < sim.nr_cpus; i++)
		sim.cpus[i].kernel_work = false;
}

void sim_run(int nr, uint64_t ns)
{
	struct sim_cpu *cpu = &sim.cpus[nr];

	if (sim.test == coro_main()) {
		pass_time(UINT64_C(1) << nr, SIM_USER, ns);
		return;
	}
	cpu->run_ns += ns;
	sim_wait_for(run_done, cpu, cpu);
}

void sim_run_all(uint64_t ns)
{
	uint64_t cpus = 0;

	for (int i = 0; i < sim.nr_cpus; i++)
		if (sim.cpus[i].online)
			cpus |= UINT64_C(1) << i;
	pass_time(cpus, SIM_USER, ns);
}

void sim_run_kernel(int cpu, uint64_t ns)
{
	pass_time(UINT64_C(1) << cpu, SIM_KERNEL, ns);
}

void sim_wait(uint64_t ns)
{
	pass_time(0, SIM_USER, ns);
}

/* --------------------------------------------------------------- the port */

void sim_must_sleep(const char *what)
{
	const struct sim_cpu *cpu = sim.cpu;

	if (cpu == NULL)
		sim_fail("%s on no CPU", what);
	if (cpu->irq_off || cpu->in_irq || cpu->nr_held != 0 ||
	    (cpu->active == cpu->loop && !cpu->worker))
		sim_fail("%s where sleeping is not allowed", what);
}

void sim_must_irq_off(const char *what)
{
	if (sim.cpu == NULL || !sim.cpu->irq_off)
		sim_fail("%s with interrupts on", what);
}

void sim_irq_on(void)
{
	if (sim.cpu->nr_held != 0)
		sim_fail("interrupts turned on with a spin lock held");
	if (sim.cpu->in_irq)
		sim_fail("interrupts turned on in an interrupt handler");
	sim.cpu->irq_off = false;
}

uintptr_t port_irq_save(void)
{
	uintptr_t irq;

	if (sim.cpu == NULL)
		sim_fail("the core runs on no CPU");
	irq = sim.cpu->irq_off;
	sim.cpu->irq_off = true;
	return irq;
}

void port_irq_restore(uintptr_t irq)
{
	if (!sim.cpu->irq_off)
		sim_fail("interrupts restored that are on");
	if (irq != 0)
		return;
	sim_irq_on();
	sim_pass(SIM_AT_IRQ_ON, __builtin_return_address(0));
}

int port_cpu(void)
{
	sim_must_irq_off("port_cpu()");
	return sim.cpu->nr;
}

int port_nr_cpus(void)
{
	return sim.nr_cpus;
}

bool port_cpu_online(int cpu)
{
	return cpu >= 0 && cpu < sim.nr_cpus && sim.cpus[cpu].online;
}

static void call_other(struct sim_cpu *to, struct sim_remote *remote, const void *site)
{
	struct sim_task *task = sim.cpu->current;
	struct sim_remote **end = &to->remotes;

	while (*end != NULL)
		end = &(*end)->next;
	*end = remote;
	task->remote = remote;
	while (!remote->done) {
		sim.cpu->at = SIM_AT_CALLED;
		sim.cpu->site = site;
		sim.cpu->passed[SIM_AT_CALLED]++;
		sim_give_turn();
		sim_take_interrupts();
		sim_preempt_point();
	}
	task->remote = NULL;
}

int port_call_cpu(int cpu, void (*fn)(void *arg), void *arg)
{
	struct sim_remote remote = {.fn = fn, .arg = arg};

	sim_must_sleep("port_call_cpu()");
	sim_pass(SIM_AT_CALL, __builtin_return_address(0));
	if (!port_cpu_online(cpu))
		return -ENXIO;
	if (cpu != sim.cpu->nr) {
		call_other(&sim.cpus[cpu], &remote, __builtin_return_address(0));
		return 0;
	}
	sim.cpu->irq_off = true;
	fn(arg);
	if (sim.cpu->nr_held != 0 || !sim.cpu->irq_off)
		sim_fail("a called function left a lock taken or interrupts on");
	sim.cpu->irq_off = false;
	sim_pass(SIM_AT_IRQ_ON, __builtin_return_address(0));
	return 0;
}
