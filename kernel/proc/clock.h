/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks by their id (clock_gettime(2)): what the files about timers share. Big lock held. */
#ifndef TALLY_PROC_CLOCK_H
#define TALLY_PROC_CLOCK_H

#include "proc/internal.h"
#include <linux/time_types.h>

/* The CPU time of a thread, or of a process (good until the caller sleeps). */
struct cpu_clock {
	struct task *thread;
	struct process *proc;
	bool user_only;
};
int cpu_clock_find(int id, struct cpu_clock *c); /* -EINVAL: no such clock */
u64 cpu_clock_read(const struct cpu_clock *c);

/* A clock that runs with clock_ns(): what to add to that. False: it is no such clock. */
bool clock_offset(int id, u64 *offset);
int clock_read(int id, u64 *ns); /* 0 or -EINVAL */

/* -EINVAL: out of range. Times that do not fit become NO_DEADLINE. */
int timespec_to_ns(const struct __kernel_timespec *ts, u64 *ns);
struct __kernel_timespec ns_to_timespec(u64 ns);

#endif
