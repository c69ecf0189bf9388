/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals: who gets one, when it is delivered, and what the default is.
 * All calls: big lock held, process context, unless said otherwise.
 * Interrupt handlers that must signal hand the work to the worker (proc/work.h).
 */
#ifndef TALLY_PROC_SIGNAL_H
#define TALLY_PROC_SIGNAL_H

#include "lib/kernel.h"
#include <asm/signal.h>
#include <asm/siginfo.h>

#define SIGSET(sig) (1ULL << ((sig)-1))
typedef u64 ksigset_t; /* bit 0 = signal 1; the ABI's sigset_t is the same 8 bytes */

struct ksigaction {
	u64 handler; /* SIG_DFL, SIG_IGN or an address */
	u64 flags;   /* SA_* */
	u64 restorer;
	ksigset_t mask;
};

struct ksiginfo {
	siginfo_t si; /* the ABI's own structure */
	struct ksiginfo *next, *prev;
};

struct sigqueue_set {
	ksigset_t set;
	struct ksiginfo *list; /* DL list, oldest first */
};

/* Handlers, shared by the threads of a process (CLONE_SIGHAND). */
struct sighand {
	u32 refs;
	struct ksigaction action[_NSIG];
};

struct task;
struct process;

/* To one thread / to a process (any thread that does not block it). info NULL: SI_KERNEL. 0 or -EAGAIN (queue limit). */
int send_signal_task(struct task *t, int sig, const siginfo_t *info);
int send_signal_process(struct process *p, int sig, const siginfo_t *info);
int send_signal_pgrp(pid_t pgrp, int sig, const siginfo_t *info); /* -ESRCH if empty */
/* A fault: unblockable for the thread (a blocked or ignored one kills). */
void force_signal(struct task *t, int sig, int code, u64 addr);

/* An unblocked signal or a group exit awaits. Any context. */
bool signal_pending(const struct task *t);
/* Return-to-user path: delivers (sets up frames, stops, or exits). Handles syscall restart. */
void do_signals(struct pt_regs *regs);
bool signals_need_work(void); /* cheap test for the return path: current task */

struct sighand *sighand_create(void);
struct sighand *sighand_fork(struct sighand *old); /* a copy */
void sighand_put(struct sighand *h);
void sighand_flush_exec(struct sighand *h); /* caught handlers -> SIG_DFL */

#endif
