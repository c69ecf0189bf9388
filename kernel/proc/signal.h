/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals: who gets one, when it is delivered, and what the default is.
 * All calls: big lock held, process context, unless said otherwise.
 * Interrupt handlers that must signal hand the work to the worker (proc/work.h).
 */
#ifndef TALLY_PROC_SIGNAL_H
#define TALLY_PROC_SIGNAL_H

#include "lib/kernel.h"
#include "proc/sched.h"
#include <asm/signal.h>
#include <asm/siginfo.h>
#include <linux/signal.h> /* SS_* */

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
	struct waitq wq; /* woken when any signal is queued: sigtimedwait, signalfd */
	struct ksigaction action[_NSIG]; /* action[sig - 1] */
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

/* Recomputes current->sig_pending; after each change of the mask or the queues. */
void signal_recalc(void);
/*
 * sigsuspend, ppoll, pselect6, epoll_pwait: a mask for the duration of the call. If the call was
 * interrupted by a signal (`interrupted`), the old mask comes back when its handler has been set up, else at once.
 */
void sigmask_set_temporary(ksigset_t mask);
void sigmask_end_temporary(bool interrupted);
/* SIGKILL or the end of the process awaits t: also an uninterruptible sleeper is woken and may look. */
bool fatal_signal_pending(const struct task *t);
/* Job control, for the tty: would t not notice the signal? */
bool signal_blocked_or_ignored(const struct task *t, int sig);
/* No member has a parent outside the group but inside the session (POSIX): nobody could continue it. */
bool pgrp_is_orphaned(pid_t pgrp);
/* Is there such a process group in the session? */
bool pgrp_in_session(pid_t pgrp, pid_t session);
/* kill(2)'s rule, for current. sig: SIGCONT is allowed within the session. */
bool may_signal(const struct task *t, int sig);

struct sighand *sighand_create(void);
struct sighand *sighand_fork(struct sighand *old); /* a copy */
void sighand_put(struct sighand *h);
void sighand_flush_exec(struct sighand *h); /* caught handlers -> SIG_DFL */

#endif
