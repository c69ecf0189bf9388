/* SPDX-License-Identifier: BSD-2-Clause */
/* A timer of timer_create(2). Belongs to its process; guarded by the big lock. */
#ifndef TALLY_PROC_POSIX_TIMER_H
#define TALLY_PROC_POSIX_TIMER_H

#include "proc/task.h"

struct posix_timer {
	int id, clock;
	bool is_cpu;	/* `expires` is CPU time, else clock_ns() */
	bool armed;
	bool set;	/* has a value, be it armed or waiting for its signal to be taken */
	int notify, signo; /* SIGEV_*, signal */
	sigval_t value;
	struct task *thread; /* SIGEV_THREAD_ID: referenced */
	struct process *proc;
	u64 expires, interval; /* ns */
	int overrun;	/* of the last signal */
	struct ktimer timer;
	struct work work;
	struct posix_timer *next, *prev; /* DL list of the process */
};

#endif
