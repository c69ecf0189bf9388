/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf.h - what a kernel calls of the event core.
 *
 * Four groups of calls:
 *
 *   start-up       perf_init(), perf_cpu_online(), perf_cpu_offline()
 *   system calls   perf_sys_event_open(), perf_prctl_events()
 *   files          perf_file_*() and perf_map_*() on the struct perf_event that
 *                  port_fd_install() put behind a descriptor
 *   hooks          called as things happen to a task
 *
 * The hooks are inline. While nobody has asked for what a hook serves, it costs
 * one relaxed load and one branch not taken.
 *
 * Contexts (sleep, irq-off, any) are those of port.h. Errors are negative
 * errno values. User addresses are uintptr_t and never trusted.
 */
#ifndef PERF_PERF_H
#define PERF_PERF_H

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <perf/port.h>

struct perf_context;
struct perf_event;
struct perf_map;

/* --------------------------------------------------------------- start-up */

/**
 * Set up the core: its per-CPU state and its software PMU. Called once, on the
 * boot CPU, before any other function, when port_nr_cpus() and port_alloc()
 * work. The calling CPU counts as online from then on.
 * Context: sleep. Returns 0 or -ENOMEM.
 */
int perf_init(void);

/** This CPU has come online. Context: irq-off, before it switches to a task. */
void perf_cpu_online(void);

/**
 * This CPU is going offline: its CPU events stop counting. Its current task is
 * not measured, and no task is switched to any more.
 * Context: irq-off, while port_cpu_online() still says yes.
 */
void perf_cpu_offline(void);

/* ------------------------------------------------------------ system call */

/**
 * perf_event_open(2). @attr is the user address of a struct perf_event_attr.
 * Context: sleep. Returns the new descriptor or a negative errno value.
 */
long perf_sys_event_open(uintptr_t attr, int pid, int cpu, int group_fd, unsigned long flags);

/**
 * prctl(2), PR_TASK_PERF_EVENTS_ENABLE and PR_TASK_PERF_EVENTS_DISABLE: all
 * events that the current task has opened and that are not closed yet, with
 * their inherited copies. Context: sleep. (The call itself returns 0.)
 */
void perf_prctl_events(bool enable);

/* ------------------------------------------------------------------ files */

/**
 * read(2): the count, in the layout that attr.read_format asks for.
 * Context: sleep. Returns the number of bytes; 0 for an event in error state
 * (a pinned one that could not be placed); -ENOSPC if @size is too small;
 * -EFAULT.
 */
long perf_file_read(struct perf_event *event, uintptr_t buffer, size_t size);

/**
 * ioctl(2), the PERF_EVENT_IOC_* requests. Context: sleep.
 * Returns 0 or more on success, -ENOTTY for a request that does not exist.
 */
long perf_file_ioctl(struct perf_event *event, unsigned int request, uintptr_t arg);

/** The queue on which a change of what perf_file_poll() says is announced. */
struct port_waitq *perf_file_waitq(struct perf_event *event);

/**
 * poll(2): returns the POLL* bits that are true now. POLLIN is said once for
 * each time that the reader is to be woken, as on Linux, so the caller puts
 * itself on the queue first and then asks once. Context: sleep.
 */
unsigned int perf_file_poll(struct perf_event *event);

/**
 * The last user of the file is gone; the event ends. Context: sleep. May wait
 * for other CPUs.
 */
void perf_file_release(struct perf_event *event);

/**
 * mmap(2) on an event's file. On success *@map stands for the mapping, whose
 * pages are perf_map_page(map, 0) up to the size asked for. The host maps them
 * shared, does not copy the mapping at fork, and does not let it be expanded.
 * The pages stay until perf_map_put() whatever happens to the event.
 * Context: sleep. Returns 0, -EINVAL, -EPERM, -EACCES or -ENOMEM.
 */
int perf_map_open(struct perf_event *event, size_t size, uint64_t page_offset, bool shared,
		  bool writable, struct perf_map **map);

/** Kernel address of a page of a mapping. Context: any. */
void *perf_map_page(struct perf_map *map, size_t index);

/** Another area refers to a mapping: it was split by a partial munmap(2). */
void perf_map_get(struct perf_map *map);

/** An area that referred to a mapping is gone. Context: sleep. */
void perf_map_put(struct perf_map *map);

/* ----------------------------------------------------------------- sysctls */

/** The knobs in /proc/sys/kernel. */
enum perf_sysctl {
	PERF_SYSCTL_PARANOID,		    /**< perf_event_paranoid */
	PERF_SYSCTL_MLOCK_KB,		    /**< perf_event_mlock_kb */
	PERF_SYSCTL_CPU_TIME_MAX_PERCENT,   /**< perf_cpu_time_max_percent */
	PERF_SYSCTL_MAX_SAMPLE_RATE,	    /**< perf_event_max_sample_rate */
	PERF_SYSCTL_MAX_STACK,		    /**< perf_event_max_stack */
	PERF_SYSCTL_MAX_CONTEXTS_PER_STACK, /**< perf_event_max_contexts_per_stack */
	PERF_SYSCTL_USER_ACCESS,	    /**< perf_user_access, on arm64 */
	PERF_SYSCTL_NR,
};

/**
 * Read or write a knob. Setting one to a value that Linux refuses is -EINVAL,
 * and -EBUSY for the two stack limits while call chains are being recorded.
 * Context: any; whether the caller may write is for the host to check.
 */
int perf_sysctl_get(enum perf_sysctl which);
int perf_sysctl_set(enum perf_sysctl which, int value);

/* ------------------------------------------------------------------ tasks */

/**
 * struct perf_task - what the core keeps in each task of the host. The host
 * embeds one in its task, reports it by port_task_perf(), and never looks into
 * it.
 */
struct perf_task {
	struct port_task *task;
	_Atomic(struct perf_context *) context; /**< its events, if it ever had any */
	atomic_bool exiting;
	uint32_t migrations; /**< not yet counted; its run queue's lock protects it */
	struct perf_event *opened; /**< the events that it has opened */
};

/**
 * What somebody may be waiting for. perf_watchers[] has the number of events
 * that do, so that a hook nobody waits for is skipped.
 */
enum perf_watch {
	PERF_WATCH_SWITCH,	   /**< task events, and events that a switch counts for */
	PERF_WATCH_TASK,	   /**< clone, exec and exit: task events, attr.task */
	PERF_WATCH_COMM,	   /**< attr.comm */
	PERF_WATCH_MMAP,	   /**< attr.mmap, mmap2, mmap_data */
	PERF_WATCH_SWITCH_RECORDS, /**< attr.context_switch */
	PERF_WATCH_SW,		   /**< + PERF_COUNT_SW_*: software events of that kind */
	PERF_WATCH_NR = PERF_WATCH_SW + PERF_COUNT_SW_MAX,
};

extern _Atomic uint32_t perf_watchers[PERF_WATCH_NR];

static inline bool perf_watched(unsigned int what)
{
	return __builtin_expect(
		atomic_load_explicit(&perf_watchers[what], memory_order_relaxed) != 0, 0);
}

/* The hooks out of line; call the inline ones below. */
void perf_do_sched_out(struct perf_task *prev, struct perf_task *next);
void perf_do_sched_in(struct perf_task *prev, struct perf_task *next);
int perf_do_clone(struct perf_task *child, struct perf_task *parent, bool thread);
void perf_do_exec(struct perf_task *task);
void perf_do_exit(struct perf_task *task);
void perf_do_task_free(struct perf_task *task);
void perf_do_sw_event(unsigned int id, uint64_t nr, const struct port_regs *regs, uint64_t addr);

/**
 * A new task: before anything else is done with its struct perf_task, also for
 * idle tasks and the first task. Context: any.
 */
static inline void perf_task_init(struct perf_task *task, struct port_task *owner)
{
	task->task = owner;
	atomic_init(&task->context, NULL);
	atomic_init(&task->exiting, false);
	task->migrations = 0;
	task->opened = NULL;
}

/**
 * A task is being cloned: give the child copies of the parent's events that it
 * inherits. After perf_task_init() of the child and before it can be found by
 * port_task_find() or run for the first time. @thread: clone(2) with
 * CLONE_THREAD. If the clone fails afterwards, the host calls perf_exit() for
 * the child.
 * Context: sleep, in the parent. Returns 0 or -ENOMEM: then the child has no
 * events and the clone must fail.
 */
static inline int perf_clone(struct perf_task *child, struct perf_task *parent, bool thread)
{
	return perf_watched(PERF_WATCH_TASK) ? perf_do_clone(child, parent, thread) : 0;
}

/**
 * The current task has passed the point of no return in execve(2): it has its
 * new address space and is going to run its first user instruction. Before
 * perf_comm() with @exec. Context: sleep.
 */
static inline void perf_exec(struct perf_task *task)
{
	if (perf_watched(PERF_WATCH_TASK))
		perf_do_exec(task);
}

/**
 * A task is exiting: it still runs (or, after a failed clone, never ran), has
 * still got its address space and ids, and port_task_find() no longer finds it.
 * Its events end here and stop counting; files keep their final values.
 * Called exactly once for each task before its last reference goes.
 * Context: sleep.
 */
static inline void perf_exit(struct perf_task *task)
{
	atomic_store(&task->exiting, true);
	if (perf_watched(PERF_WATCH_TASK) || atomic_load(&task->context) != NULL)
		perf_do_exit(task);
}

/**
 * The last reference to a task is gone and its memory is about to be freed;
 * perf_exit() was long ago. Context: sleep.
 */
static inline void perf_task_free(struct perf_task *task)
{
	if (atomic_load(&task->context) != NULL)
		perf_do_task_free(task);
}

/**
 * A CPU stops running @prev and goes on with @next. Called as the last thing
 * before the switch, so that the scheduler's work is not counted for @prev more
 * than need be. port_current() is still @prev.
 * Context: irq-off, in the same irq-off section as perf_sched_in().
 */
static inline void perf_sched_out(struct perf_task *prev, struct perf_task *next)
{
	if (perf_watched(PERF_WATCH_SWITCH))
		perf_do_sched_out(prev, next);
}

/**
 * A CPU has switched from @prev to @next. Called as the first thing after the
 * switch, also when @next runs for the first time; port_current() is @next.
 * Context: irq-off.
 */
static inline void perf_sched_in(struct perf_task *prev, struct perf_task *next)
{
	if (perf_watched(PERF_WATCH_SWITCH))
		perf_do_sched_in(prev, next);
}

/**
 * The scheduler has given a task that is not running to another CPU.
 * Context: under the lock that protects the task's place on a run queue.
 */
static inline void perf_migrate(struct perf_task *task)
{
	if (perf_watched(PERF_WATCH_SW + PERF_COUNT_SW_CPU_MIGRATIONS))
		task->migrations++;
}

/**
 * Something that a PERF_COUNT_SW_* event counts has happened @nr times to the
 * current task: page faults by perf_page_fault(); alignment and emulation
 * faults, if the host has any, by this. @regs is the context in which it
 * happened, NULL for the kernel's own doing.
 * Context: any.
 */
static inline void perf_sw_event(unsigned int id, uint64_t nr, const struct port_regs *regs,
				 uint64_t addr)
{
	if (perf_watched(PERF_WATCH_SW + id))
		perf_do_sw_event(id, nr, regs, addr);
}

/**
 * A page fault was resolved, or ended in a signal. @major: the page had to be
 * fetched. @regs is the faulting context and @addr the address it touched.
 * Context: any.
 */
static inline void perf_page_fault(bool major, const struct port_regs *regs, uint64_t addr)
{
	perf_sw_event(PERF_COUNT_SW_PAGE_FAULTS, 1, regs, addr);
	perf_sw_event(major ? PERF_COUNT_SW_PAGE_FAULTS_MAJ : PERF_COUNT_SW_PAGE_FAULTS_MIN, 1,
		      regs, addr);
}

/* --------------------------------------------------------------- side-band */

/** A mapping of a file or of anonymous memory, as perf_mmap() reports it. */
struct perf_mmap {
	uint64_t start;
	uint64_t length;
	uint64_t page_offset; /**< in bytes */
	uint32_t major;	      /**< device of the file, 0 if there is none */
	uint32_t minor;
	uint64_t inode;
	uint64_t inode_generation;
	uint32_t prot;	      /**< PROT_* */
	uint32_t flags;	      /**< MAP_* */
	const char *name;     /**< path, or "//anon", "[heap]", "[vdso]" ... */
	uint8_t build_id[20]; /**< of an ELF file, if build_id_size > 0 */
	uint8_t build_id_size;
};

void perf_do_forked(struct perf_task *child, struct perf_task *parent);
void perf_do_comm(struct perf_task *task, const char *name, bool exec);
void perf_do_mmap(const struct perf_mmap *map);

/**
 * A clone has succeeded: the child can be found by its id and is about to run.
 * Writes the FORK record. Context: sleep, in the parent.
 */
static inline void perf_forked(struct perf_task *child, struct perf_task *parent)
{
	if (perf_watched(PERF_WATCH_TASK))
		perf_do_forked(child, parent);
}

/**
 * A task has got a new name: at most 15 bytes and a NUL. @exec: by execve(2).
 * Context: sleep, in any task.
 */
static inline void perf_comm(struct perf_task *task, const char *name, bool exec)
{
	if (perf_watched(PERF_WATCH_COMM))
		perf_do_comm(task, name, exec);
}

/** Whether perf_mmap() is worth preparing its argument for. */
static inline bool perf_mmap_watched(void)
{
	return perf_watched(PERF_WATCH_MMAP);
}

/**
 * The current task has mapped something, by mmap(2), by execve(2), or by
 * mprotect(2) making it executable. @map and its strings are only read during
 * the call. Context: sleep.
 */
static inline void perf_mmap(const struct perf_mmap *map)
{
	if (perf_mmap_watched())
		perf_do_mmap(map);
}

/* ------------------------------------------------------------- leak check */

/**
 * Number of events that are alive, and of events on tasks that have not let go
 * of their counters (spec row LIFE-ACTIVE): both are 0 in a system in which no
 * descriptor is open. Context: any.
 */
uint32_t perf_live_events(void);
uint32_t perf_task_events(void);

#endif
