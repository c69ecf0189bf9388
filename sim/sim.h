/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim.h - the words that tests of the event core are written in.
 *
 * The simulator is a host of the core (perf/include/perf/port.h) inside one
 * ordinary process: a machine with CPUs, tasks, a clock, counters and
 * interrupts, in which nothing happens unless the test says so. There are no
 * threads. The same test takes the same course every time.
 *
 * A task is in user mode unless it is in a system call. A system call takes no
 * time (unless kernel_ns says otherwise); work is done by sim_run(), which lets
 * a CPU's task run in user mode for a while. Its counters then advance by known
 * rates, and sim_count() has the truth, told by the workload and not by the
 * counters.
 *
 * A broken rule (a lock taken twice, sleeping with interrupts off, a leak, ...)
 * ends the program with a report of who did what where.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <perf/perf.h>
#include <perf/trace.h>

#include "sim_pmu.h"

struct sim_task;
struct sim_script;

/* ---------------------------------------------------------------- machine */

#define SIM_MAX_CPUS 64
#define SIM_MAX_PMUS 3

/** struct sim_pmu_config - a PMU of the machine; zero counters for none. */
struct sim_pmu_config {
	const char *name;      /**< default "sim" */
	unsigned int counters; /**< per CPU, the cycle counter among them */
	unsigned int width;    /**< default 64 */
	bool no_cycle_counter; /**< all counters are alike */
	bool no_interrupt;     /**< overflow is not wired */
	bool not_generic;      /**< serves only its own type */
	uint32_t events;       /**< supported ones; default: all */
	uint64_t cpus;	       /**< where it exists, a bit per CPU; default: all */
};

/** struct sim_config - what machine to make. */
struct sim_config {
	int cpus; /**< default 4 */
	struct sim_pmu_config pmu[SIM_MAX_PMUS];
	unsigned int offline; /**< how many of the last CPUs start offline */
};

/** Make the machine and start the core on it; once per program. */
void sim_boot(const struct sim_config *config);

/**
 * Back to the state after boot: end what tests left running, except that
 * anything the core still holds on to is a leak, which ends the program. Also
 * resets sysctls, fault injection, kernel time and random numbers.
 */
void sim_reset(void);

/** No event is left, nor a counter, or a hook that is watched. */
void sim_check_no_events(void);

/** Nothing at all is left: besides, no task, file, memory, page, timer, reference. */
void sim_check_clean(void);

/** Report a broken rule and abort. */
_Noreturn void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define sim_assert(cond)                                                  \
	do {                                                              \
		if (!(cond))                                              \
			sim_fail("%s:%d: %s", __FILE__, __LINE__, #cond); \
	} while (0)

/** Type number of the n-th PMU, as in sysfs. */
uint32_t sim_pmu_type(unsigned int n);

/** Nanoseconds since boot. */
uint64_t sim_now(void);

/** Take a CPU down, or up again. It must be idle and out of the kernel. */
void sim_cpu_offline(int cpu);
void sim_cpu_online(int cpu);

/** Random numbers, the same for the same seed. */
void sim_seed(uint64_t seed);
uint64_t sim_random(uint64_t below);

/* ------------------------------------------------------------------ tasks */

/** A new process with one task, child of nobody. It runs nowhere yet. */
struct sim_task *sim_task_new(const char *name);

/** A new process on a CPU: sim_task_new() and sim_switch(). */
struct sim_task *sim_task_on(int cpu, const char *name);

/** fork(2), and clone(2) of a thread, in the running @parent. NULL if it fails. */
struct sim_task *sim_fork(struct sim_task *parent);
struct sim_task *sim_thread(struct sim_task *parent);

/** Make the next fork or thread fail after the core's clone hook. */
void sim_fail_fork_late(void);

/** execve(2), and prctl(PR_SET_NAME), in the running @task. */
void sim_exec(struct sim_task *task, const char *name);
void sim_set_name(struct sim_task *task, const char *name);

/**
 * exit(2) of the running @task: events, descriptors, and off the CPU. The test
 * may use @task for sim_count() and sim_tid() until sim_reset().
 */
void sim_exit(struct sim_task *task);

/** The running @task has mapped something; nothing is mapped indeed. */
void sim_report_mmap(struct sim_task *task, const struct perf_mmap *map);

/** A page fault of the running @task. */
void sim_page_fault(struct sim_task *task, bool major, uint64_t addr);

int sim_tid(const struct sim_task *task);
int sim_pid(const struct sim_task *task);

/** The CPU the task is running on, or -1. */
int sim_cpu_of(const struct sim_task *task);

/** Whether it exited. */
bool sim_dead(const struct sim_task *task);

/** What the task's process may do; new processes have PERFMON and uid 0. */
void sim_set_perfmon(struct sim_task *task, bool allowed);
void sim_set_ipc_lock(struct sim_task *task, bool allowed);
void sim_set_uid(struct sim_task *task, unsigned int uid);

/* --------------------------------------------------- scheduling and work */

/**
 * Let @cpu run @task, or nothing (NULL). A task that comes from another CPU
 * must have been switched out there; the core is told that it migrated.
 * Returns whether it happened: the task may have died or be running elsewhere.
 */
bool sim_switch(int cpu, struct sim_task *task);

/** Switch a task out where it runs, and in on @cpu. */
void sim_migrate(struct sim_task *task, int cpu);

/** The task of @cpu works in user mode for a while; other CPUs stand still. */
void sim_run(int cpu, uint64_t ns);

/** All CPUs work at the same time. */
void sim_run_all(uint64_t ns);

/** The task of @cpu works in the kernel, without doing anything there. */
void sim_run_kernel(int cpu, uint64_t ns);

/** Time passes on idle or halted CPUs: nothing is counted. */
void sim_wait(uint64_t ns);

/** Deliver pending interrupts and wake-ups, until no CPU has anything to do. */
void sim_settle(void);

/** From now on every step in the kernel takes that long. 0 after sim_reset(). */
void sim_kernel_ns(uint64_t ns);

/** Counts per nanosecond of a task's work. */
void sim_rate(struct sim_task *task, enum sim_pmu_event event, unsigned int user,
	      unsigned int kernel);

/* Which mode's work to count. */
#define SIM_IN_USER   1U
#define SIM_IN_KERNEL 2U
#define SIM_IN_BOTH   3U

/** The truth: what the task, or everything on the CPU, did until now. */
uint64_t sim_count(const struct sim_task *task, enum sim_pmu_event event, unsigned int modes);
uint64_t sim_cpu_count(int cpu, enum sim_pmu_event event, unsigned int modes);

/** Time the task spent on CPUs, in the clock of the machine. */
uint64_t sim_runtime(const struct sim_task *task);

/* ----------------------------------------------------------- system calls */

/*
 * All in the context of @task, which must be running, and return what the
 * system call returns: -1 and errno do not exist here, but negative values.
 */

/** An attr of the newest size that counts in all modes, and is enabled. */
struct perf_event_attr sim_attr(uint32_t type, uint64_t config);

/** sim_attr() for one of the events of the generic hardware PMU. */
struct perf_event_attr sim_attr_hw(uint64_t config);
struct perf_event_attr sim_attr_sw(uint64_t config);

long sim_open(struct sim_task *task, const struct perf_event_attr *attr, int pid, int cpu,
	      int group_fd, unsigned long flags);

/** The same with the attr at any user address. */
long sim_open_raw(struct sim_task *task, uintptr_t attr, int pid, int cpu, int group_fd,
		  unsigned long flags);

long sim_read(struct sim_task *task, int fd, void *buffer, size_t size);
long sim_read_raw(struct sim_task *task, int fd, uintptr_t buffer, size_t size);

/** read(2) of an event with read_format 0: its count. Fails if it fails. */
uint64_t sim_value(struct sim_task *task, int fd);

long sim_ioctl(struct sim_task *task, int fd, unsigned int request, uintptr_t arg);

/** prctl(2): all events that the task has opened. */
void sim_task_events(struct sim_task *task, bool enable);

/** ioctl with a pointer to @size bytes, copied there and back. */
long sim_ioctl_ptr(struct sim_task *task, int fd, unsigned int request, void *arg, size_t size);

/** poll(2): the POLL* bits. */
unsigned int sim_poll(struct sim_task *task, int fd);

int sim_close(struct sim_task *task, int fd);

/** dup(2). */
int sim_dup(struct sim_task *task, int fd);

/** A descriptor of something that is not an event. */
int sim_open_other(struct sim_task *task);

/** Most descriptors a process may have. */
void sim_set_fd_limit(struct sim_task *task, int limit);

/** How often pollers of the file, and its owner by signal, were called so far. */
unsigned int sim_wakeups(struct sim_task *task, int fd);
unsigned int sim_signals(struct sim_task *task, int fd, int *si_code);

/** The SIGTRAPs (attr.sigtrap) that a task was sent so far, and what the last one said. */
struct sim_sigtraps {
	unsigned int nr;
	uint64_t addr, data;
	uint32_t type;
};
struct sim_sigtraps sim_sigtraps(const struct sim_task *task);

/** What the tracepoint sim:said says. */
struct sim_said {
	struct perf_trace_header header;
	int number;
	char word[16];
	uint64_t big;
};

/** Its id, and a task that comes by it. @word is cut off after 15 bytes. */
uint16_t sim_trace_id(void);
void sim_say(struct sim_task *task, int number, const char *word, uint64_t big);

/** mmap(2) on an event, and munmap(2) of it, which any task may do. */
struct sim_map;
long sim_mmap(struct sim_task *task, int fd, size_t size, uint64_t offset, bool writable,
	      struct sim_map **map);
void sim_munmap(struct sim_task *task, struct sim_map *map);

/** Whether user mode would not fault if it read a counter now. */
bool sim_user_may_read(const struct sim_task *task);

/** What user mode finds in counter @n of the first PMU of the task's CPU. */
uint64_t sim_user_counter(const struct sim_task *task, unsigned int n);

/** Address at which the test sees a page of the mapping. */
void *sim_map_page(struct sim_map *map, size_t n);

/* ------------------------------------------------------------ user memory */

#define SIM_USER_SIZE 65536U

/**
 * The task's own user memory: SIM_USER_SIZE bytes that the test may write to,
 * and no user memory before or behind. The system calls above use its first
 * half for their arguments.
 */
unsigned char *sim_user(struct sim_task *task);

/** What the interrupted user code looks like to samples. */
void sim_set_ip(struct sim_task *task, uint64_t ip);
void sim_set_user_chain(struct sim_task *task, const uint64_t *ips, unsigned int n);

/* ---------------------------------------------------------- fault injection */

/** The n-th allocation (memory or page) from now fails; 0: none. */
void sim_fail_alloc(unsigned int n);

/** The n-th copy from or to user memory from now fails; 0: none. */
void sim_fail_copy(unsigned int n);

/** Whether the failure asked for last has happened. */
bool sim_failed(void);

/* ---------------------------------------------------------- interleavings */

/** Places in the kernel at which another CPU may get its turn. */
enum sim_point {
	SIM_AT_SPIN_LOCK,    /**< about to take a spin lock */
	SIM_AT_SPIN_UNLOCK,  /**< has released one */
	SIM_AT_IRQ_ON,	     /**< interrupts went on again */
	SIM_AT_MUTEX_LOCK,   /**< about to take a mutex */
	SIM_AT_MUTEX_UNLOCK, /**< has released one */
	SIM_AT_CALL,	     /**< about to call another CPU */
	SIM_AT_CALLED,	     /**< waiting for that call to return */
	SIM_AT_COPY,	     /**< about to copy from or to user space */
	SIM_AT_ALLOC,	     /**< about to allocate or free memory */
	SIM_AT_SWITCH,	     /**< between the two switch hooks */
	SIM_AT_ATOMIC,	     /**< before an atomic operation: see fine.c */
	SIM_AT_BASE,	     /**< out of the kernel */
	SIM_AT_NR,
};

/**
 * Start a function of the test beside the test. Inside it, all functions above
 * that make something happen on a CPU take their time: they return when the
 * CPU is done, and it is for the test (or the explorer) to say which CPU goes
 * on when. A script must not use assertions of cmocka, but sim_assert().
 */
struct sim_script *sim_script(void (*fn)(void *arg), void *arg);

/**
 * Let a CPU go on until it has arrived at a point for the n-th time, and park
 * it there. While parked it takes interrupts, but does not go on by itself.
 * Other CPUs go on only if it waits for them.
 */
void sim_until(int cpu, enum sim_point point, unsigned int n);

/** Unpark all CPUs and let everything go on until the script has ended. */
void sim_finish(struct sim_script *script);

/** struct sim_story - what to explore. */
struct sim_story {
	void (*setup)(void); /**< make tasks and events */
	void (*scripts[4])(void *arg);
	void (*check)(void); /**< after all scripts have ended; ends all */
	unsigned int points; /**< SIM_AT_*, a bit each; 0: all but ALLOC */
};

/**
 * Play a story in all orders in which its CPUs can take turns, as long as no
 * more than @delays times a CPU that could go on has to wait for another one.
 * Each play begins and ends with sim_reset(). Fails if there are more than
 * @limit plays. Returns how many there were.
 */
unsigned long sim_explore(const struct sim_story *story, unsigned int delays, unsigned long limit);

/** Play a story @plays times, taking turns at random. */
void sim_shuffle(const struct sim_story *story, uint64_t seed, unsigned long plays);

#endif
