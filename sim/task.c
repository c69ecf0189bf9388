/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task.c - tasks and processes: how they come into being, change and end, and
 * the part of the port that is about them.
 *
 * A task that has exited and has no references left keeps its memory until
 * sim_reset(), so that tests can still ask what it did; the core may not touch
 * it any more, and AddressSanitizer sees to that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

#include "machine.h"

static const unsigned int default_rates[SIM_MODES][SIM_EVENT_NR] = {
	[SIM_USER] = {3, 2, 5, 1, 7, 1, 11, 13},
	[SIM_KERNEL] = {4, 3, 6, 2, 8, 2, 12, 14},
};

/* ------------------------------------------------------ making and ending */

struct sim_process *sim_process_make(void)
{
	struct sim_process *process = calloc(1, sizeof(*process));

	sim_assert(process != NULL);
	process->perfmon = process->ipc_lock = true;
	process->fd_limit = 65536;
	return process;
}

struct sim_task *sim_task_make(struct sim_process *process, const char *name)
{
	struct sim_task *task = calloc(1, sizeof(*task));

	sim_assert(task != NULL);
	task->tid = sim.next_id++;
	strncpy(task->name, name, sizeof(task->name) - 1);
	task->process = process;
	if (process->pid == 0)
		process->pid = task->tid;
	process->tasks++;
	process->refs++;
	task->refs = 1;
	task->cpu = -1;
	task->ip = 0x400000U + (uint64_t)task->tid * 0x1000U;
	memcpy(task->rate, default_rates, sizeof(task->rate));
	task->next = sim.tasks;
	sim.tasks = task;
	perf_task_init(&task->perf, (struct port_task *)task);
	return task;
}

static void drop(struct sim_task *task)
{
	if (task->refs == 0)
		sim_fail("task %d has no reference left to drop", task->tid);
	if (--task->refs != 0)
		return;
	perf_task_free(&task->perf);
	ASAN_POISON_MEMORY_REGION(&task->perf, sizeof(task->perf));
}

void sim_task_gone(struct sim_task *task)
{
	for (int i = 0; i < sim.nr_cpus; i++)
		if (sim.cpus[i].chosen == task)
			sim.cpus[i].chosen = NULL;
	sim.cpu->worker = true;
	drop(task);
	sim.cpu->worker = false;
}

static void free_task(struct sim_task *task)
{
	ASAN_UNPOISON_MEMORY_REGION(&task->perf, sizeof(task->perf));
	if (--task->process->refs == 0) {
		free(task->process->files);
		free(task->process);
	}
	free(task->user);
	free(task);
}

/* Free the tasks that were made since boot; all have exited. */
static void free_tasks(void)
{
	struct sim_task **link = &sim.tasks;

	while (*link != NULL) {
		struct sim_task *task = *link;

		if (task->idle) {
			link = &task->next;
			continue;
		}
		if (task->refs != 0)
			sim_fail("task %d \"%s\" still has %u references", task->tid, task->name,
				 task->refs);
		*link = task->next;
		free_task(task);
	}
}

static struct sim_task *find_living(void)
{
	for (struct sim_task *task = sim.tasks; task != NULL; task = task->next)
		if (!task->idle && task->state != SIM_DEAD)
			return task;
	return NULL;
}

void sim_tasks_end(void)
{
	struct sim_task *task;

	while ((task = find_living()) != NULL) {
		if (!task->on_cpu)
			sim_switch(0, task);
		sim_maps_end(task);
		sim_exit(task);
	}
	sim_settle();
	free_tasks();
}

struct sim_task *sim_task_new(const char *name)
{
	struct sim_task *task = sim_task_make(sim_process_make(), name);

	task->findable = true;
	return task;
}

struct sim_task *sim_task_on(int cpu, const char *name)
{
	struct sim_task *task = sim_task_new(name);

	sim_switch(cpu, task);
	return task;
}

/* ------------------------------------------------------------------ clone */

void sim_fail_fork_late(void)
{
	sim.late_fork_failure = true;
}

/* A child that was not born after all. */
static void unmake(struct sim_task *child)
{
	child->state = SIM_DEAD;
	child->process->tasks--;
	if (child->process->tasks == 0)
		sim_files_close(child->process);
	drop(child);
}

static void copy_process(struct sim_process *to, const struct sim_process *from)
{
	to->perfmon = from->perfmon;
	to->ipc_lock = from->ipc_lock;
	to->uid = from->uid;
	to->fd_limit = from->fd_limit;
	sim_files_copy(to, from);
}

static long do_clone(struct sim_task *parent, const uintptr_t *arg)
{
	bool thread = arg[0] != 0;
	struct sim_process *process = thread ? parent->process : sim_process_make();
	struct sim_task *child;

	if (!thread)
		copy_process(process, parent->process);
	if (!thread)
		process->ppid = parent->process->pid;
	child = sim_task_make(process, parent->name);
	memcpy(child->rate, parent->rate, sizeof(child->rate));
	if (perf_clone(&child->perf, &parent->perf, thread) != 0) {
		unmake(child);
		return 0;
	}
	if (sim.late_fork_failure) {
		sim.late_fork_failure = false;
		perf_exit(&child->perf);
		unmake(child);
		return 0;
	}
	child->findable = true;
	perf_forked(&child->perf, &parent->perf);
	return (long)child;
}

struct sim_task *sim_fork(struct sim_task *parent)
{
	return (struct sim_task *)sim_do(parent, do_clone, 0, 0, 0, 0, 0, 0);
}

struct sim_task *sim_thread(struct sim_task *parent)
{
	return (struct sim_task *)sim_do(parent, do_clone, 1, 0, 0, 0, 0, 0);
}

/* ---------------------------------------------------- exec, exit and more */

static void set_name(struct sim_task *task, const char *name)
{
	memset(task->name, 0, sizeof(task->name));
	strncpy(task->name, name, sizeof(task->name) - 1);
}

static long do_exec(struct sim_task *task, const uintptr_t *arg)
{
	set_name(task, (const char *)arg[0]);
	perf_exec(&task->perf);
	perf_comm(&task->perf, task->name, true);
	return 0;
}

void sim_exec(struct sim_task *task, const char *name)
{
	sim_do(task, do_exec, (uintptr_t)name, 0, 0, 0, 0, 0);
}

static long do_set_name(struct sim_task *task, const uintptr_t *arg)
{
	set_name(task, (const char *)arg[0]);
	perf_comm(&task->perf, task->name, false);
	return 0;
}

void sim_set_name(struct sim_task *task, const char *name)
{
	sim_do(task, do_set_name, (uintptr_t)name, 0, 0, 0, 0, 0);
}

/*
 * Kernels differ in what goes first, the events or the files, and the contract
 * leaves it open: tasks with an even id close their files first.
 */
static long do_exit(struct sim_task *task, const uintptr_t *arg)
{
	bool last = --task->process->tasks == 0;

	(void)arg;
	task->findable = false;
	if (last && task->tid % 2 == 0)
		sim_files_close(task->process);
	perf_exit(&task->perf);
	if (last && task->tid % 2 != 0)
		sim_files_close(task->process);
	task->state = SIM_DEAD;
	return 0;
}

static bool off_cpu(const void *arg)
{
	return !((const struct sim_task *)arg)->on_cpu;
}

void sim_exit(struct sim_task *task)
{
	sim_do(task, do_exit, 0, 0, 0, 0, 0, 0);
	sim_wait_for(off_cpu, task, &sim.cpus[task->cpu]);
}

static long do_report_mmap(struct sim_task *task, const uintptr_t *arg)
{
	(void)task;
	perf_mmap((const struct perf_mmap *)arg[0]);
	return 0;
}

void sim_report_mmap(struct sim_task *task, const struct perf_mmap *map)
{
	sim_do(task, do_report_mmap, (uintptr_t)map, 0, 0, 0, 0, 0);
}

static long do_page_fault(struct sim_task *task, const uintptr_t *arg)
{
	struct port_regs regs = {.user = true, .ip = task->ip, .task = task};

	perf_page_fault(arg[0] != 0, &regs, arg[1]);
	return 0;
}

void sim_page_fault(struct sim_task *task, bool major, uint64_t addr)
{
	sim_do(task, do_page_fault, major, (uintptr_t)addr, 0, 0, 0, 0);
}

/* ------------------------------------------------------ what tests ask for */

int sim_tid(const struct sim_task *task)
{
	return task->tid;
}

int sim_pid(const struct sim_task *task)
{
	return task->process->pid;
}

int sim_cpu_of(const struct sim_task *task)
{
	return task->on_cpu ? task->cpu : -1;
}

bool sim_dead(const struct sim_task *task)
{
	return task->state == SIM_DEAD;
}

void sim_set_perfmon(struct sim_task *task, bool allowed)
{
	task->process->perfmon = allowed;
}

void sim_set_ipc_lock(struct sim_task *task, bool allowed)
{
	task->process->ipc_lock = allowed;
}

void sim_set_uid(struct sim_task *task, unsigned int uid)
{
	task->process->uid = uid;
}

void sim_rate(struct sim_task *task, enum sim_pmu_event event, unsigned int user,
	      unsigned int kernel)
{
	task->rate[SIM_USER][event] = user;
	task->rate[SIM_KERNEL][event] = kernel;
}

static uint64_t sum(const uint64_t truth[SIM_MODES][SIM_EVENT_NR], enum sim_pmu_event event,
		    unsigned int modes)
{
	return (modes & SIM_IN_USER ? truth[SIM_USER][event] : 0) +
	       (modes & SIM_IN_KERNEL ? truth[SIM_KERNEL][event] : 0);
}

uint64_t sim_count(const struct sim_task *task, enum sim_pmu_event event, unsigned int modes)
{
	return sum(task->truth, event, modes);
}

uint64_t sim_cpu_count(int cpu, enum sim_pmu_event event, unsigned int modes)
{
	return sum(sim.cpus[cpu].truth, event, modes);
}

uint64_t sim_runtime(const struct sim_task *task)
{
	return task->runtime;
}

unsigned char *sim_user(struct sim_task *task)
{
	if (task->user == NULL)
		task->user = calloc(1, SIM_USER_SIZE);
	sim_assert(task->user != NULL);
	return task->user;
}

bool sim_user_range(const struct sim_task *task, uintptr_t address, size_t size)
{
	uintptr_t start = (uintptr_t)task->user;

	return start != 0 && address >= start && size <= SIM_USER_SIZE &&
	       address - start <= SIM_USER_SIZE - size;
}

void sim_set_ip(struct sim_task *task, uint64_t ip)
{
	task->ip = ip;
}

void sim_set_user_chain(struct sim_task *task, const uint64_t *ips, unsigned int n)
{
	sim_assert(n <= sizeof(task->chain) / sizeof(task->chain[0]));
	memcpy(task->chain, ips, n * sizeof(*ips));
	task->chain_length = n;
}

/* --------------------------------------------------------------- the port */

struct port_task *port_current(void)
{
	if (sim.cpu == NULL)
		sim_fail("port_current() on no CPU");
	return (struct port_task *)sim.cpu->current;
}

struct port_task *port_task_find(int pid)
{
	sim_must_sleep("port_task_find()");
	for (struct sim_task *task = sim.tasks; task != NULL; task = task->next) {
		if (task->tid == pid && task->findable) {
			task->refs++;
			return (struct port_task *)task;
		}
	}
	return NULL;
}

static struct sim_task *checked(const struct port_task *port_task)
{
	struct sim_task *task = (struct sim_task *)(uintptr_t)port_task;

	if (task->refs == 0)
		sim_fail("task %d is used without a reference", task->tid);
	return task;
}

void port_task_get(struct port_task *task)
{
	checked(task)->refs++;
}

void port_task_put(struct port_task *task)
{
	sim_must_sleep("port_task_put()");
	drop(checked(task));
}

struct perf_task *port_task_perf(struct port_task *task)
{
	return &checked(task)->perf;
}

int port_task_tid(const struct port_task *task)
{
	return checked(task)->tid;
}

int port_task_pid(const struct port_task *task)
{
	return checked(task)->process->pid;
}

int port_task_ppid(const struct port_task *task)
{
	return checked(task)->process->ppid;
}

bool port_task_runnable(const struct port_task *task)
{
	return checked(task)->state == SIM_RUNNABLE;
}

int port_task_running_on(const struct port_task *task)
{
	return sim_cpu_of(checked(task));
}

bool port_capable(enum port_capability capability)
{
	const struct sim_process *process;

	sim_must_sleep("port_capable()");
	process = sim.cpu->current->process;
	return capability == PORT_CAP_IPC_LOCK ? process->ipc_lock : process->perfmon;
}

void port_sigtrap(uint64_t addr, uint64_t data, uint32_t type)
{
	struct sim_sigtraps *traps = &sim.cpu->current->sigtraps;

	sim_must_irq_off("port_sigtrap()");
	*traps = (struct sim_sigtraps){traps->nr + 1, addr, data, type};
}

struct sim_sigtraps sim_sigtraps(const struct sim_task *task)
{
	return task->sigtraps;
}

bool port_task_may_observe(struct port_task *task)
{
	sim_must_sleep("port_task_may_observe()");
	return checked(task)->process->uid == sim.cpu->current->process->uid;
}
