/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stopping and continuing whole processes (job control).
 *
 *   running --stop signal delivered--> stopping --last thread stops--> stopped
 *      ^                                  |                               |
 *      +------------- SIGCONT sent -------+-------------------------------+
 *
 * The thread that takes the signal marks all others; each stops when it gets to
 * its signals. The last one tells the parent. SIGCONT acts when it is sent, not
 * when it is delivered, also if it is blocked or ignored. A thread that exits
 * while its process is stopping counts as stopped.
 */
#include "proc/internal.h"
#include "proc/sigsets.h"
#include <utlist.h>

static void one_has_stopped(struct process *p)
{
	if (--p->stop_left > 0)
		return;
	p->stopped = true;
	p->wait_stopped = true;
	p->wait_continued = false;
	notify_parent_stop(p, CLD_STOPPED);
}

static void sleep_stopped(struct process *p)
{
	for (;;) {
		set_current_state(TASK_STOPPED);
		if (!p->stopping || fatal_signal_pending(current))
			break;
		schedule();
	}
	set_current_state(TASK_RUNNING);
	signal_recalc();
}

void group_stop_join(void)
{
	struct task *t = current;

	t->stop_pending = false;
	one_has_stopped(t->proc);
	sleep_stopped(t->proc);
}

void group_stop(int sig)
{
	struct process *p = current->proc;
	struct task *t;

	if (!p->stopping) {
		p->stopping = true;
		p->stop_sig = sig;
		p->stop_left = 0;
		DL_FOREACH2(p->threads, t, thread_next) {
			if (t->exiting)
				continue;
			t->stop_pending = true;
			p->stop_left++;
			if (t != current)
				signal_prod(t);
		}
	}
	if (current->stop_pending)
		group_stop_join();
}

void group_stop_thread_exits(struct task *t)
{
	if (t->stop_pending) {
		t->stop_pending = false;
		one_has_stopped(t->proc);
	}
}

static void continue_process(struct process *p)
{
	bool was_stopped = p->stopped;
	struct task *t;

	signal_discard(p, SIG_DEFAULT_STOP);
	if (!p->stopping)
		return;
	p->stopping = p->stopped = false;
	DL_FOREACH2(p->threads, t, thread_next) {
		t->stop_pending = false;
		wake_task(t, BIT(TASK_STOPPED));
	}
	p->wait_stopped = false;
	if (was_stopped) {
		p->wait_continued = true;
		notify_parent_stop(p, CLD_CONTINUED);
	}
}

void signal_stop_effects(struct process *p, int sig)
{
	if (sig == SIGCONT)
		continue_process(p);
	else if (SIGSET(sig) & SIG_DEFAULT_STOP)
		signal_discard(p, SIGSET(SIGCONT));
}
