/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Delivery: what a thread does about its signals on the way back to user mode,
 * and how an interrupted system call goes on.
 *
 * A call that was interrupted left one of the ERESTART codes in x0. It is first
 * set up to be made again (pc back onto the svc, x0 as it was). If no handler
 * runs, that is what happens. If one does, it sees EINTR instead for
 * ERESTARTNOHAND and ERESTART_RESTARTBLOCK, and for ERESTARTSYS without
 * SA_RESTART. ERESTART_RESTARTBLOCK calls restart_syscall(2) the second time,
 * so that a relative timeout is not begun anew.
 */
#include "proc/internal.h"
#include "proc/sigsets.h"
#include "sys/syscall.h"

#define SVC_SIZE 4

/* 0, or the code of the system call that is to be restarted. */
static s64 prepare_restart(struct pt_regs *regs)
{
	s64 ret = (s64)regs->regs[0];

	if (regs->syscallno < 0)
		return 0;
	regs->syscallno = -1;
	switch (ret) {
	case -ERESTARTSYS:
	case -ERESTARTNOINTR:
	case -ERESTARTNOHAND:
	case -ERESTART_RESTARTBLOCK:
		regs->regs[0] = regs->orig_x0;
		regs->pc -= SVC_SIZE;
		return ret;
	default:
		return 0;
	}
}

static void restart_with_handler(struct pt_regs *regs, s64 code, const struct ksigaction *sa)
{
	bool again = code == -ERESTARTNOINTR || (code == -ERESTARTSYS && (sa->flags & SA_RESTART));

	if (code && !again) {
		regs->regs[0] = (u64)-EINTR;
		regs->pc += SVC_SIZE;
	}
}

/* Runs when the frame is on the user's stack. */
static void handler_runs(struct task *t, int sig, struct ksigaction *sa)
{
	ksigset_t mask = t->blocked | sa->mask;

	if (!(sa->flags & SA_NODEFER))
		mask |= SIGSET(sig);
	if (sa->flags & SA_RESETHAND)
		sa->handler = (u64)SIG_DFL;
	t->restore_blocked = false;
	set_blocked(mask);
}

static void run_handler(struct pt_regs *regs, int sig, const siginfo_t *info)
{
	struct task *t = current;
	struct ksigaction *sa = &t->sighand->action[sig - 1];
	struct ksigaction copy = *sa;
	struct ksiginfo k = {.si = *info};
	ksigset_t oldmask = t->restore_blocked ? t->saved_blocked : t->blocked;

	if (arch_setup_sigframe(regs, &copy, sig, &k, oldmask) == 0) {
		handler_runs(t, sig, sa);
		return;
	}
	/* No usable stack. If it was SIGSEGV's own handler that could not run, there is no hope. */
	if (sig == SIGSEGV)
		sa->handler = (u64)SIG_DFL;
	force_signal(t, SIGSEGV, SI_KERNEL, 0);
}

/* The default action. Returns when the thread goes on. */
static void default_action(int sig)
{
	ksigset_t bit = SIGSET(sig);

	if (bit & SIG_DEFAULT_IGNORE)
		return;
	if (bit & SIG_DEFAULT_STOP) {
		/*
		 * POSIX: nobody could continue an orphaned group that stops itself from the
		 * terminal.
		 */
		if (sig == SIGSTOP || !pgrp_is_orphaned(current->proc->pgrp))
			group_stop(sig);
		return;
	}
	do_group_exit(sig);
}

static void end_if_killed(void)
{
	struct process *p = current->proc;

	if (p->group_exit)
		do_exit(p->group_exit_code);
	if (p->exec_task && p->exec_task != current)
		do_exit(0);
}

static void send_perf_trap(struct task *t)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = SIGTRAP;
	info.si_code = TRAP_PERF;
	info.si_addr = (void *)t->perf_trap.addr;
	info.si_perf_data = t->perf_trap.data;
	info.si_perf_type = t->perf_trap.type;
	info.si_perf_flags = t->blocked & SIGSET(SIGTRAP) ? TRAP_PERF_FLAG_ASYNC : 0;
	send_signal_task(t, SIGTRAP, &info);
}

static void run_todo(struct task *t)
{
	u64 flags = irq_save(); /* interrupts add to it */
	u8 todo = t->todo;

	t->todo = 0;
	irq_restore(flags);
	if (todo & TODO_WORK)
		work_run_inline();
	if (todo & TODO_CPUTIMERS)
		cputimers_run();
	if (todo & TODO_PERF_TRAP)
		send_perf_trap(t);
}

void do_signals(struct pt_regs *regs)
{
	struct task *t = current;
	s64 restart = prepare_restart(regs);
	siginfo_t info;
	int sig;

	for (;;) {
		u64 handler;

		if (unlikely(t->todo))
			run_todo(t);
		end_if_killed();
		if (t->stop_pending) {
			group_stop_join();
			continue;
		}
		sig = dequeue_signal(t->blocked, &info);
		if (!sig)
			break;
		handler = t->sighand->action[sig - 1].handler;
		if (handler == (u64)SIG_IGN)
			continue;
		if (handler == (u64)SIG_DFL) {
			default_action(sig);
			continue;
		}
		restart_with_handler(regs, restart, &t->sighand->action[sig - 1]);
		restart = 0;
		run_handler(regs, sig, &info);
	}
	if (restart == -ERESTART_RESTARTBLOCK)
		regs->regs[8] = __NR_restart_syscall;
	sigmask_end_temporary(false);
	signal_recalc();
}

long sys_rt_sigreturn(const u64 a[6])
{
	struct pt_regs *regs = task_regs(current);
	u64 mask;

	(void)a;
	regs->syscallno = -1; /* x0 is the interrupted program's, not a result */
	if (arch_restore_sigframe(regs, &mask))
		force_signal(current, SIGSEGV, SI_KERNEL, regs->sp);
	else
		set_blocked(mask);
	return (long)regs->regs[0];
}

long sys_restart_syscall(const u64 a[6])
{
	long (*fn)(struct task *) = current->restart_fn;

	(void)a;
	return fn ? fn(current) : -EINTR;
}
