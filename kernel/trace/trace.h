/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's static tracepoints (perf/trace.h): what the scheduler does (sched.c)
 * and system calls (syscalls.c), with the names, fields and meaning that Linux's
 * have, so that perf sched and perf trace understand them. tracefs.c shows them.
 *
 * They are registered when tracefs is mounted for the first time, because nobody
 * can know their ids before. Until somebody opens an event on one, each costs a
 * load and a branch.
 */
#ifndef TALLY_TRACE_TRACE_H
#define TALLY_TRACE_TRACE_H

#include "arch/aarch64/cpu.h"
#include <perf/trace.h>

/* tracefs.c: makes the file system known. Boot. */
void tracefs_init(void);

/* Registers the tracepoints of a file; once. Big lock held. 0 or -errno. */
int trace_sched_register(void);
int trace_syscalls_register(void);

/* ------------------------------------------------------------------- sched */

extern struct perf_tracepoint trace_point_switch, trace_point_waking, trace_point_wakeup,
	trace_point_wakeup_new, trace_point_migrate, trace_point_runtime, trace_point_fork,
	trace_point_exec, trace_point_exit;

/* The functions behind the inline ones below. */
void trace_do_switch(const struct task *prev, const struct task *next);
void trace_do_wakeup(struct perf_tracepoint *point, const struct task *t, unsigned cpu);
void trace_do_migrate(const struct task *t, unsigned to);
void trace_do_runtime(const struct task *t, u64 ns);
void trace_do_fork(const struct task *child);
void trace_do_exec(const char *filename, pid_t old_pid);
void trace_do_exit(void);

/* Before the switch hooks; current is prev. sched_lock held. */
static inline void trace_switch(const struct task *prev, const struct task *next)
{
	if (perf_traced(&trace_point_switch))
		trace_do_switch(prev, next);
}

/* A sleeper, or a new task, has got a place on a CPU's queue. */
static inline void trace_wakeup(const struct task *t, unsigned cpu)
{
	if (perf_traced(&trace_point_waking))
		trace_do_wakeup(&trace_point_waking, t, cpu);
	if (perf_traced(&trace_point_wakeup))
		trace_do_wakeup(&trace_point_wakeup, t, cpu);
}

static inline void trace_wakeup_new(const struct task *t, unsigned cpu)
{
	if (perf_traced(&trace_point_wakeup_new))
		trace_do_wakeup(&trace_point_wakeup_new, t, cpu);
}

/* Before its CPU is changed. */
static inline void trace_migrate(const struct task *t, unsigned to)
{
	if (perf_traced(&trace_point_migrate))
		trace_do_migrate(t, to);
}

/* A slice has ended after so many ns. */
static inline void trace_runtime(const struct task *t, u64 ns)
{
	if (perf_traced(&trace_point_runtime))
		trace_do_runtime(t, ns);
}

/* The current task has made a child; runs another program (its id was old_pid); exits. */
static inline void trace_fork(const struct task *child)
{
	if (perf_traced(&trace_point_fork))
		trace_do_fork(child);
}
static inline void trace_exec(const char *filename, pid_t old_pid)
{
	if (perf_traced(&trace_point_exec))
		trace_do_exec(filename, old_pid);
}
static inline void trace_exit(void)
{
	if (perf_traced(&trace_point_exit))
		trace_do_exit();
}

/* ------------------------------------------------------------ system calls */

extern _Atomic u32 trace_syscall_watchers;

static inline bool trace_syscalls(void)
{
	return unlikely(atomic_load_explicit(&trace_syscall_watchers, memory_order_relaxed) != 0);
}

void trace_syscall_enter(const struct pt_regs *regs, u64 nr);
void trace_syscall_exit(u64 nr, long result);

#endif
