/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of threads and processes.
 *
 *   alive --do_exit()--> exiting --last switch--> dead
 *
 * A thread that exits lets go of what it owns one by one, may sleep while it
 * does, and is no longer a target of signals. When it leaves its process's list
 * of threads all of that is over; the last one out turns the process into a
 * zombie, hands its children on, and tells the parent. Then the thread switches
 * away for ever, without having slept since. Its stack goes in the next task's
 * context, the rest of its structure with the last reference.
 *
 * A parent that waits and a child that exits: both hold the big lock; the
 * waiter is queued before it looks, so the wake-up cannot be missed.
 * exit_group() and fatal signals set `group_exit` and prod every thread; the
 * first code set wins. execve() does the same to the other threads only.
 */
#include "dev/tty.h"
#include "fs/vfs.h"
#include "mm/vm.h"
#include "proc/internal.h"
#include "proc/sigsets.h"
#include "sys/syscall.h"
#include "trace/trace.h"
#include <utlist.h>

static struct process *find_reaper(struct process *p)
{
	for (struct process *a = p->parent; a; a = a->parent) {
		if (a->child_subreaper && !a->zombie)
			return a;
	}
	return process_find(1);
}

/*
 * p, or a group that only it connects to its session, is left alone: stopped members must not
 * hang for ever.
 */
static void signal_orphaned_group(pid_t pgrp)
{
	struct process *q;
	pid_t pid = 0;

	if (!pgrp_is_orphaned(pgrp))
		return;
	while ((q = process_next(pid + 1))) {
		if (q->pgrp == pgrp && q->stopped && !q->zombie) {
			send_signal_pgrp(pgrp, SIGHUP, NULL);
			send_signal_pgrp(pgrp, SIGCONT, NULL);
			return;
		}
		pid = q->pid;
	}
}

static bool wants_no_zombie(const struct process *p)
{
	const struct ksigaction *sa = &process_sighand(p->parent)->action[SIGCHLD - 1];

	return p->exit_signal == SIGCHLD &&
	       (sa->handler == (u64)SIG_IGN || (sa->flags & SA_NOCLDWAIT));
}

static void fill_sigchld(struct process *p, siginfo_t *info)
{
	struct proc_usage u;

	memset(info, 0, sizeof(*info));
	process_usage(p, &u);
	info->si_signo = p->exit_signal;
	info->si_pid = p->pid;
	info->si_uid = p->leader->cred.uid;
	info->si_utime = (long)(u.utime / (NSEC_PER_SEC / USER_HZ));
	info->si_stime = (long)(u.stime / (NSEC_PER_SEC / USER_HZ));
}

/*
 * A zombie is there for its parent: SIGCHLD (or what clone said) and a wake-up. It may be gone
 * afterwards.
 */
static void announce_death(struct process *p)
{
	struct process *parent = p->parent;
	siginfo_t info;
	bool reap = wants_no_zombie(p);

	if (p->exit_signal > 0) {
		fill_sigchld(p, &info);
		if (p->exit_code & 0x7f) {
			info.si_code = p->exit_code & 0x80 ? CLD_DUMPED : CLD_KILLED;
			info.si_status = p->exit_code & 0x7f;
		} else {
			info.si_code = CLD_EXITED;
			info.si_status = (p->exit_code >> 8) & 0xff;
		}
		send_signal_process(parent, p->exit_signal, &info);
	}
	if (reap)
		process_reap(p);
	wake_up(&parent->wait_child);
}

void notify_parent_stop(struct process *p, int why)
{
	struct process *parent = p->parent;
	siginfo_t info;

	if (!parent)
		return;
	if (!(process_sighand(parent)->action[SIGCHLD - 1].flags & SA_NOCLDSTOP)) {
		fill_sigchld(p, &info);
		info.si_signo = SIGCHLD;
		info.si_code = why;
		info.si_status = why == CLD_CONTINUED ? SIGCONT : p->stop_sig;
		send_signal_process(parent, SIGCHLD, &info);
	}
	wake_up(&parent->wait_child);
}

void process_reap(struct process *p)
{
	struct task *leader = p->leader;

	DL_DELETE2(p->parent->children, p, sib_prev, sib_next);
	p->parent = NULL;
	pid_detach_task(leader);
	process_set_group(p, 0, 0);
	p->leader = NULL;
	pid_detach_process(p);
	task_put(leader);
}

static void reparent_children(struct process *p)
{
	struct process *child, *tmp, *reaper = find_reaper(p);

	DL_FOREACH_SAFE2(p->children, child, tmp, sib_next) {
		DL_DELETE2(p->children, child, sib_prev, sib_next);
		child->parent = reaper;
		child->exit_signal = SIGCHLD;
		DL_APPEND2(reaper->children, child, sib_prev, sib_next);
		if (child->leader->pdeath_signal && !child->zombie)
			send_signal_process(child, child->leader->pdeath_signal, NULL);
		if (child->zombie)
			announce_death(child);
		else if (child->pgrp != p->pgrp && child->session == p->session)
			signal_orphaned_group(child->pgrp);
	}
}

/* The thread's counts go to its process; its name goes from the table. */
static void leave_process(struct task *t, int code)
{
	struct process *p = t->proc;
	u64 utime, stime;

	task_cpu_ns(t, &utime, &stime);
	p->dead_utime += utime;
	p->dead_stime += stime;
	p->dead_min_flt += t->min_flt;
	p->dead_maj_flt += t->maj_flt;
	p->dead_nvcsw += t->nvcsw;
	p->dead_nivcsw += t->nivcsw;
	DL_DELETE2(p->threads, t, thread_prev, thread_next);
	p->nr_threads--;
	t->exit_code = code;
	if (!p->group_exit)
		p->exit_code = code; /* the last thread's counts, as since Linux 6.0 */
	if (t != p->leader)
		pid_detach_task(t);
}

/* The last thread has left. */
static void become_zombie(struct process *p)
{
	pid_t pgrp = p->pgrp;

	if (p->group_exit)
		p->exit_code = p->group_exit_code;
	p->zombie = true;
	p->wait_stopped = p->wait_continued = false;
	sigqueue_flush(p, &p->pending);
	reparent_children(p);
	if (p->session == p->pid)
		tty_session_exit(p);
	signal_orphaned_group(pgrp);
	wake_up(&p->exit_wq);
	announce_death(p);
}

/* Memory: tell those who wait for the thread's id or its vfork() to end, then leave. */
static void exit_memory(struct task *t)
{
	struct mm *mm = t->mm;

	if (t->clear_child_tid && mm->refs > 1) {
		if (!put_user(0, (pid_t *)t->clear_child_tid))
			futex_wake_addr(t->clear_child_tid, 1);
	}
	t->clear_child_tid = 0;
	if (mm->hiwater_rss > t->proc->maxrss)
		t->proc->maxrss = mm->hiwater_rss;
	u64 flags = irq_save();

	t->mm = NULL;
	mm_activate(NULL);
	irq_restore(flags);
	vfork_release(t);
	mm_put(mm);
}

void do_exit(int code)
{
	struct task *t = current;
	struct process *p = t->proc;
	struct sighand *sighand;

	ASSERT(!t->is_kthread && !t->is_idle && !t->exiting);
	if (p->pid == 1 && p->nr_threads == 1)
		panic("init has ended: wait status %#x", (unsigned)code);
	t->exiting = true;
	group_stop_thread_exits(t);
	perf_exit(&t->perf);
	trace_exit(); /* for CPU events only, as on Linux */
	if (p->nr_threads == 1) {
		itimers_exit(p);
		posix_timers_exit(p);
	}
	futex_exit_robust(t);
	futex_exit_pi(t);
	exit_memory(t);
	files_put(t->files);
	fs_put(t->fs);
	t->files = NULL;
	t->fs = NULL;
	sigqueue_flush(p, &t->pending);
	leave_process(t, code);
	sighand = t->sighand;
	if (p->nr_threads == 0)
		become_zombie(p);
	else if (p->nr_threads == 1)
		wake_up(&p->exit_wq); /* execve() may wait for this */
	t->sighand = NULL;
	sighand_put(sighand);
	set_current_state(TASK_DEAD);
	schedule();
	panic("a dead task runs");
}

void do_group_exit(int code)
{
	struct process *p = current->proc;

	if (!p->group_exit) {
		struct task *t;

		p->group_exit = true;
		p->group_exit_code = code;
		DL_FOREACH2(p->threads, t, thread_next) {
			if (t != current)
				kill_thread(t);
		}
	}
	do_exit(p->group_exit_code);
}

/* The thread that called execve() becomes the leader: it takes over the process's id. */
static void take_over_leader(struct process *p, struct task *t)
{
	struct task *old = p->leader;

	pid_detach_task(t);
	pid_detach_task(old);
	t->tid = p->pid;
	t->start_ns = old->start_ns;
	p->leader = t;
	task_get(t);
	pid_readopt_task(t);
	task_put(old);
}

int kill_other_threads(void)
{
	struct process *p = current->proc;
	struct task *t;

	if (p->group_exit || p->exec_task)
		return -EINTR;
	if (p->nr_threads > 1) {
		p->exec_task = current;
		DL_FOREACH2(p->threads, t, thread_next) {
			if (t != current)
				kill_thread(t);
		}
		wait_event(&p->exit_wq, p->nr_threads == 1 || p->group_exit);
		p->exec_task = NULL;
		if (p->group_exit)
			return -EINTR;
	}
	if (current != p->leader)
		take_over_leader(p, current);
	current->exit_signal = p->exit_signal;
	return 0;
}

/*
 * Signal handlers were shared with another process (CLONE_SIGHAND without CLONE_THREAD): no
 * longer.
 */
static void unshare_for_exec(struct task *t)
{
	if (t->sighand->refs > 1) {
		struct sighand *own = sighand_fork(t->sighand);

		if (!own)
			panic("no memory for signal handlers at exec");
		sighand_put(t->sighand);
		t->sighand = own;
	}
	if (t->files->refs > 1) {
		struct files *own = files_fork(t->files);

		if (!own)
			panic("no memory for the descriptor table at exec");
		files_put(t->files);
		t->files = own;
	}
}

void task_exec_done(const char *name)
{
	struct task *t = current;
	struct process *p = t->proc;

	unshare_for_exec(t);
	sighand_flush_exec(t->sighand);
	files_close_exec(t->files);
	posix_timers_exit(p);
	cputimers_update(p);
	t->altstack_sp = t->altstack_size = 0;
	t->altstack_flags = SS_DISABLE;
	t->robust_list = 0;
	t->clear_child_tid = t->set_child_tid = 0;
	t->pdeath_signal = 0;
	p->exit_signal = t->exit_signal = SIGCHLD;
	p->did_exec = true;
	p->dumpable = true;
	vfork_release(t);
	memset(t->comm, 0, sizeof(t->comm));
	strscpy(t->comm, name, sizeof(t->comm));
	perf_exec(&t->perf);
	perf_comm(&t->perf, t->comm, true);
}

long sys_exit(const u64 a[6])
{
	do_exit((int)(a[0] & 0xff) << 8);
}

long sys_exit_group(const u64 a[6])
{
	do_group_exit((int)(a[0] & 0xff) << 8);
}
