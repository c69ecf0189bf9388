/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine.h - what the parts of the simulator share. Tests use sim.h.
 *
 * Each CPU has a coroutine, its loop, in which it takes interrupts and switches
 * tasks. A system call runs in a coroutine of its own, to which the loop hands
 * the CPU, and which gives it back when the call ends, sleeps, or is preempted.
 *
 * The test, or a script of it, waits for things to happen; while it does, the
 * driver (drive.c) picks a CPU and resumes it. The CPU gives the turn back when
 * it has nothing to do, has to wait for another CPU, or passes a point at which
 * it is told to.
 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include <perf/perf.h>

#include "coro.h"
#include "sim.h"

enum { SIM_USER, SIM_KERNEL, SIM_MODES };

struct sim_cpu;
struct sim_file;
struct sim_process;

/* Register state: an address, and which of a task's worlds it is in. */
struct port_regs {
	bool user;
	uint64_t ip;
	uint64_t sp;
	const struct sim_task *task;
};

/* A counter that has not wrapped; the hardware of one PMU on one CPU. */
struct sim_hw {
	uint64_t count[SIM_PMU_COUNTERS];
	uint32_t select[SIM_PMU_COUNTERS];
	uint32_t enabled, irq, overflow;
	bool on, user;
};

struct sim_machine_pmu {
	struct sim_pmu_model model;
	struct sim_pmu driver;
	struct sim_hw hw[SIM_MAX_CPUS];
	bool present;
};

/* A function that one CPU asks another to run. */
struct sim_remote {
	void (*fn)(void *arg);
	void *arg;
	bool done;
	struct sim_remote *next;
};

/* What a task does in the kernel. */
struct sim_call {
	long (*fn)(struct sim_task *task, const uintptr_t *arg);
	uintptr_t arg[6];
	long result;
	bool done;
};

#define SIM_MAX_HELD 16

struct sim_cpu {
	int nr;
	bool online;
	struct sim_task *current, *idle;
	struct sim_task *chosen; /* what the test wants to run here, NULL: idle */
	struct coro *loop;
	struct coro *active; /* the one to resume: loop, or a call */

	bool irq_off, in_irq;
	bool worker; /* the loop stands in for a kernel thread that may sleep */
	const struct port_spinlock *held[SIM_MAX_HELD]; /* in the order taken */
	unsigned int nr_held;
	const struct port_spinlock *spinning; /* waits for this one */

	struct sim_remote *remotes; /* to be run here */
	struct port_timer *timers;  /* by time */
	struct sim_task *woken;	    /* tasks that want to go on here */
	bool switch_wanted;
	struct sim_task *switch_to; /* NULL: idle */
	bool switch_result;
	uint64_t run_ns;  /* user mode work to be done */
	bool kernel_work; /* what it does now is kernel mode work */

	enum sim_point at; /* last point passed */
	const void *site;  /* from where in the core */
	bool parked;
	unsigned long passed[SIM_AT_NR];
	uint64_t truth[SIM_MODES][SIM_EVENT_NR];
	unsigned int storm; /* counter interrupts without time passing */
};

enum sim_task_state { SIM_RUNNABLE, SIM_SLEEPING, SIM_DEAD };

struct sim_task {
	struct perf_task perf;
	int tid;
	char name[16];
	struct sim_process *process;
	unsigned int refs;
	bool findable;
	enum sim_task_state state;
	int cpu; /* where it runs, or last ran; -1: nowhere yet */
	bool on_cpu;
	bool claimed; /* on a CPU, or a CPU is just switching to it */
	bool idle;
	bool reaped; /* the test knows it no more */
	struct sim_call *call;
	struct coro *coro;	   /* while the call is under way */
	struct coro *home;	   /* where it goes at its end */
	struct sim_remote *remote; /* waits for this one */
	const struct port_mutex *held[SIM_MAX_HELD];
	unsigned int nr_held;
	struct sim_task *next_waiting; /* of a mutex, or woken on a CPU */

	unsigned int rate[SIM_MODES][SIM_EVENT_NR];
	uint64_t truth[SIM_MODES][SIM_EVENT_NR];
	uint64_t runtime;
	uint64_t ip;
	uint64_t chain[16];
	unsigned int chain_length;
	unsigned char *user;
	struct sim_sigtraps sigtraps;
	struct sim_task *next; /* of all tasks, newest first */
};

struct sim_process {
	int pid, ppid;
	unsigned int tasks; /* alive */
	unsigned int refs;
	bool perfmon, ipc_lock;
	unsigned int uid;
	int fd_limit;
	struct sim_file **files; /* by descriptor */
	int nr_files;
};

struct sim_file {
	unsigned int refs;
	struct perf_event *event; /* NULL: a file of another kind */
	unsigned int signals;
	int si_code;
	struct sim_file *next, **link; /* of all files */
};

struct sim_map {
	struct perf_map *map;
	struct sim_file *file;
	size_t pages;
	struct sim_map *next, **link; /* of all mappings */
};

struct sim_machine {
	bool booted;
	int nr_cpus;
	struct sim_cpu cpus[SIM_MAX_CPUS];
	struct sim_machine_pmu pmus[SIM_MAX_PMUS];
	struct sim_cpu *cpu; /* that has the turn, NULL: the test */
	struct coro *test;   /* that waits: main, or a script */
	struct sim_task *tasks;
	struct sim_map *maps;
	struct sim_file *files;
	int next_id;
	uint64_t now;
	uint64_t kernel_ns;
	uint64_t random;
	bool late_fork_failure;
	unsigned int turn_points; /* SIM_AT_*, a bit each: all CPUs give the turn away there */
	/* Chooses among n CPUs that can go on; @last is the index of the one that did, or -1. */
	unsigned int (*choose)(unsigned int n, int last);
	struct sim_cpu *last;
};

extern struct sim_machine sim;

/* --- drive.c */
/* Go on with other things until cond(arg) is true. */
void sim_wait_for(bool (*cond)(const void *arg), const void *arg, struct sim_cpu *prefer);
/* Give the turn to whoever drives; called by a CPU. */
void sim_give_turn(void);
/* A point has been passed: maybe give the turn, then take interrupts. */
void sim_pass(enum sim_point point, const void *site);
bool sim_can_run(const struct sim_cpu *cpu);

/* --- cpu.c */
void sim_cpu_loop(void *arg);
bool sim_base_work(const struct sim_cpu *cpu);
bool sim_irq_pending(const struct sim_cpu *cpu);
bool sim_take_interrupts(void); /* whether there was one */
/* From a call's coroutine: sleep until somebody makes the task runnable. */
void sim_sleep(void);
void sim_wake(struct sim_task *task);
/* From a call's coroutine: let the CPU do what it is asked to, then go on. */
void sim_preempt_point(void);
long sim_do(struct sim_task *task, long (*fn)(struct sim_task *, const uintptr_t *), uintptr_t a0,
	    uintptr_t a1, uintptr_t a2, uintptr_t a3, uintptr_t a4, uintptr_t a5);
/* The current context may sleep; @what is what it wants to do. */
/* trace.c: once, in process context. */
int sim_trace_boot(void);

void sim_must_sleep(const char *what);
void sim_must_irq_off(const char *what);
void sim_irq_on(void);

/* --- time.c */
/* Time passes; the CPUs of the mask work in that mode. */
void sim_tick(uint64_t cpus, int mode, uint64_t ns);
/* Nanoseconds until something happens on one of these CPUs, at most @ns. */
uint64_t sim_quiet(uint64_t cpus, int mode, uint64_t ns);
void sim_run_timer(struct sim_cpu *cpu, const struct port_regs *regs);
bool sim_timer_due(const struct sim_cpu *cpu);

/* --- counters.c */
void sim_counters_boot(const struct sim_config *config);
void sim_counters_register(void);
void sim_counters_advance(struct sim_cpu *cpu, int mode, uint64_t ns);
uint64_t sim_counters_quiet(const struct sim_cpu *cpu, int mode, uint64_t ns);
bool sim_counters_irq(const struct sim_cpu *cpu);
void sim_counters_interrupt(const struct sim_cpu *cpu, const struct port_regs *regs);
void sim_counters_check_off(void);

/* --- task.c */
struct sim_task *sim_task_make(struct sim_process *process, const char *name);
struct sim_process *sim_process_make(void);
/* The task has been switched out for the last time; as a worker thread would. */
void sim_task_gone(struct sim_task *task);
void sim_tasks_end(void);
bool sim_user_range(const struct sim_task *task, uintptr_t address, size_t size);

/* --- file.c */
struct sim_file *sim_file_of(struct sim_process *process, int fd);
void sim_file_put(struct sim_file *file);
void sim_files_copy(struct sim_process *to, const struct sim_process *from);
void sim_files_close(struct sim_process *process);
void sim_maps_end(struct sim_task *task);

/* --- memory.c */
void sim_memory_mark(void);
void sim_memory_check(void);
void sim_memory_reset(void);

/* --- lock.c */
bool sim_spin_held(const struct port_spinlock *lock);
const char *sim_site(const void *site, char *buffer, size_t size);

#endif
