/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of signals by what they do (signal(7)), and what the signal files share. */
#ifndef TALLY_PROC_SIGSETS_H
#define TALLY_PROC_SIGSETS_H

#include "proc/task.h"

#define SIG_UNBLOCKABLE (SIGSET(SIGKILL) | SIGSET(SIGSTOP))
/* Raised by the thread's own instruction: delivered before others, or it would be raised again. */
#define SIG_SYNCHRONOUS                                                             \
	(SIGSET(SIGSEGV) | SIGSET(SIGBUS) | SIGSET(SIGILL) | SIGSET(SIGTRAP) |      \
	 SIGSET(SIGFPE) | SIGSET(SIGSYS))
/* Default actions; all others end the process. */
#define SIG_DEFAULT_IGNORE (SIGSET(SIGCONT) | SIGSET(SIGCHLD) | SIGSET(SIGWINCH) | SIGSET(SIGURG))
#define SIG_DEFAULT_STOP   (SIGSET(SIGSTOP) | SIGSET(SIGTSTP) | SIGSET(SIGTTIN) | SIGSET(SIGTTOU))

/* signal.c */
struct sighand *process_sighand(const struct process *p);
void sigqueue_remove(struct process *p, struct sigqueue_set *q, ksigset_t set);
void signal_discard(struct process *p, ksigset_t set);
void signal_prod(struct task *t);
void set_blocked(ksigset_t mask); /* of current */

/* stop.c */
/* What sending sig does before anything else: SIGCONT continues and cancels stops, stops cancel SIGCONT. */
void signal_stop_effects(struct process *p, int sig);
/* The default action of a stop signal, of which current is the first to know. Returns when it is over. */
void group_stop(int sig);
/* Current has stop_pending. Returns when it may go on. */
void group_stop_join(void);

#endif
