/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system calls about signals: rt_sigaction(2) and its family, kill(2) and its family,
 * sigaltstack(2).
 */
#include "proc/internal.h"
#include "proc/pidfd.h"
#include "proc/sigsets.h"
#include "sys/syscall.h"
#include <utlist.h>

#define SIGSET_SIZE    8
#define ALTSTACK_MIN   5120u /* MINSIGSTKSZ of arm64 */
#define SS_FLAG_DISARM (1U << 31)
#define SA_KNOWN                                                                           \
	(SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER | \
	 SA_RESETHAND | 0x800 /* SA_EXPOSE_TAGBITS */ | 0x04000000 /* SA_RESTORER */)

_Static_assert(sizeof(struct ksigaction) == 32, "the layout of rt_sigaction(2)'s argument");

static int read_sigset(u64 uaddr, u64 size, ksigset_t *set)
{
	if (size != SIGSET_SIZE)
		return -EINVAL;
	return get_user(*set, (u64 *)uaddr);
}

static bool ignores(int sig, u64 handler)
{
	return handler == (u64)SIG_IGN ||
	       (handler == (u64)SIG_DFL && (SIGSET(sig) & SIG_DEFAULT_IGNORE));
}

/* rt_sigaction(sig, act, oldact, size) */
long sys_rt_sigaction(const u64 a[6])
{
	int sig = (int)a[0];
	struct ksigaction new, *slot;
	struct ksigaction old;

	if (a[3] != SIGSET_SIZE || sig < 1 || sig > _NSIG)
		return -EINVAL;
	if (a[1]) {
		if (copy_from_user(&new, (void *)a[1], sizeof(new)))
			return -EFAULT;
		if (SIGSET(sig) & SIG_UNBLOCKABLE)
			return -EINVAL;
	}
	slot = &current->sighand->action[sig - 1];
	old = *slot;
	if (a[1]) {
		new.mask &= ~SIG_UNBLOCKABLE;
		new.flags &= SA_KNOWN;
		*slot = new;
		if (ignores(sig, new.handler)) {
			signal_discard(current->proc, SIGSET(sig));
			signal_recalc();
		}
	}
	if (a[2])
		return copy_to_user((void *)a[2], &old, sizeof(old));
	return 0;
}

/* rt_sigprocmask(how, set, oldset, size) */
long sys_rt_sigprocmask(const u64 a[6])
{
	ksigset_t old = current->blocked, set, mask;

	if (a[3] != SIGSET_SIZE)
		return -EINVAL;
	if (a[1]) {
		if (get_user(set, (u64 *)a[1]))
			return -EFAULT;
		switch ((int)a[0]) {
		case SIG_BLOCK:
			mask = old | set;
			break;
		case SIG_UNBLOCK:
			mask = old & ~set;
			break;
		case SIG_SETMASK:
			mask = set;
			break;
		default:
			return -EINVAL;
		}
		set_blocked(mask);
	}
	return a[2] ? put_user(old, (u64 *)a[2]) : 0;
}

long sys_rt_sigpending(const u64 a[6])
{
	ksigset_t set = (current->pending.set | current->proc->pending.set) & current->blocked;

	if (a[1] > SIGSET_SIZE)
		return -EINVAL;
	return copy_to_user((void *)a[0], &set, a[1]);
}

long sys_rt_sigsuspend(const u64 a[6])
{
	ksigset_t set;
	int err = read_sigset(a[0], a[1], &set);

	if (err)
		return err;
	sigmask_set_temporary(set);
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (signal_pending(current))
			break;
		schedule();
	}
	set_current_state(TASK_RUNNING);
	return -ERESTARTNOHAND;
}

/* rt_sigtimedwait(set, info, timeout, size) */
long sys_rt_sigtimedwait(const u64 a[6])
{
	u64 deadline = NO_DEADLINE, timeout;
	siginfo_t info;
	ksigset_t set;
	int sig = 0, err = read_sigset(a[0], a[3], &set);

	if (err)
		return err;
	set &= ~SIG_UNBLOCKABLE;
	if (a[2]) {
		err = read_timespec(a[2], &timeout);
		if (err)
			return err;
		deadline = deadline_after(timeout);
	}
	err = wait_event_until(&current->sighand->wq, (sig = dequeue_signal(~set, &info)) != 0,
			       deadline, true);
	if (err)
		return err == -ETIMEDOUT ? -EAGAIN : -EINTR;
	signal_recalc();
	if (a[1] && copy_to_user((void *)a[1], &info, sizeof(info)))
		return -EFAULT;
	return sig;
}

/* ---------------------------------------------------------------- sending */

static void fill_user_info(siginfo_t *info, int sig, int code)
{
	memset(info, 0, sizeof(*info));
	info->si_signo = sig;
	info->si_code = code;
	info->si_pid = current->proc->pid;
	info->si_uid = current->cred.uid;
}

static int kill_one(struct process *p, int sig, const siginfo_t *info)
{
	if (!may_signal(p->leader, sig))
		return -EPERM;
	return sig ? send_signal_process(p, sig, info) : 0;
}

static bool kill_applies(const struct process *p, pid_t pid)
{
	if (pid == -1)
		return p->pid != 1 && !p->is_kthread && p != current->proc;
	return p->pgrp == (pid ? -pid : current->proc->pgrp);
}

/* A group or everybody: success if one could be signalled. */
static int kill_many(pid_t pid, int sig, const siginfo_t *info)
{
	struct process *p;
	int result = -ESRCH;
	pid_t next = 1;

	while ((p = process_next(next))) {
		int err;

		next = p->pid + 1;
		if (!kill_applies(p, pid))
			continue;
		err = kill_one(p, sig, info);
		if (result != 0)
			result = err;
	}
	return result;
}

long sys_kill(const u64 a[6])
{
	pid_t pid = (pid_t)a[0];
	int sig = (int)a[1];
	struct process *p;
	siginfo_t info;

	if (sig < 0 || sig > _NSIG)
		return -EINVAL;
	if (pid == -2147483647 - 1)
		return -ESRCH;
	fill_user_info(&info, sig, SI_USER);
	if (pid <= 0)
		return kill_many(pid, sig, &info);
	p = process_find(pid);
	if (!p) {
		struct task *t = task_find(pid); /* any thread stands for its process */

		p = t ? t->proc : NULL;
	}
	return p ? kill_one(p, sig, &info) : -ESRCH;
}

/* tgid 0: any process. */
static long send_to_thread(pid_t tgid, pid_t tid, int sig, const siginfo_t *info)
{
	struct task *t;

	if (sig < 0 || sig > _NSIG)
		return -EINVAL;
	t = task_find(tid);
	if (!t || (tgid && t->proc->pid != tgid))
		return -ESRCH;
	if (!may_signal(t, sig))
		return -EPERM;
	return sig && !t->exiting ? send_signal_task(t, sig, info) : 0;
}

long sys_tkill(const u64 a[6])
{
	siginfo_t info;

	if ((pid_t)a[0] <= 0)
		return -EINVAL;
	fill_user_info(&info, (int)a[1], SI_TKILL);
	return send_to_thread(0, (pid_t)a[0], (int)a[1], &info);
}

long sys_tgkill(const u64 a[6])
{
	siginfo_t info;

	if ((pid_t)a[0] <= 0 || (pid_t)a[1] <= 0)
		return -EINVAL;
	fill_user_info(&info, (int)a[2], SI_TKILL);
	return send_to_thread((pid_t)a[0], (pid_t)a[1], (int)a[2], &info);
}

/*
 * rt_sigqueueinfo(2): only the kernel and kill() may claim the codes >= 0 and SI_TKILL, except
 * to oneself.
 */
static int read_siginfo(u64 uaddr, int sig, bool self, siginfo_t *info)
{
	if (copy_from_user(info, (void *)uaddr, sizeof(*info)))
		return -EFAULT;
	info->si_signo = sig;
	if ((info->si_code >= 0 || info->si_code == SI_TKILL) && !self)
		return -EPERM;
	return 0;
}

long sys_rt_sigqueueinfo(const u64 a[6])
{
	pid_t pid = (pid_t)a[0];
	int sig = (int)a[1], err;
	struct process *p;
	siginfo_t info;

	err = read_siginfo(a[2], sig, pid == current->proc->pid, &info);
	if (err)
		return err;
	if (sig < 0 || sig > _NSIG)
		return -EINVAL;
	p = process_find(pid);
	return p ? kill_one(p, sig, &info) : -ESRCH;
}

long sys_rt_tgsigqueueinfo(const u64 a[6])
{
	pid_t tgid = (pid_t)a[0], tid = (pid_t)a[1];
	siginfo_t info;
	int err;

	if (tgid <= 0 || tid <= 0)
		return -EINVAL;
	err = read_siginfo(a[3], (int)a[2], tgid == current->proc->pid, &info);
	if (err)
		return err;
	return send_to_thread(tgid, tid, (int)a[2], &info);
}

/* pidfd_send_signal(pidfd, sig, info, flags) */
long sys_pidfd_send_signal(const u64 a[6])
{
	int sig = (int)a[1], err;
	struct process *p;
	siginfo_t info;

	if ((u32)a[3])
		return -EINVAL;
	err = pidfd_process((int)a[0], &p);
	if (err)
		return err;
	if (sig < 0 || sig > _NSIG) {
		err = -EINVAL;
	} else if (a[2]) {
		err = read_siginfo(a[2], sig, p == current->proc, &info);
	} else {
		fill_user_info(&info, sig, SI_USER);
	}
	if (!err)
		err = p->leader ? kill_one(p, sig, &info) : -ESRCH;
	process_put(p);
	return err;
}

/* ------------------------------------------------------------ sigaltstack */

static bool on_altstack(const struct task *t)
{
	u64 sp = task_regs((struct task *)t)->sp;

	if ((u32)t->altstack_flags & SS_FLAG_DISARM)
		return false;
	return sp > t->altstack_sp && sp - t->altstack_sp <= t->altstack_size;
}

static int change_altstack(struct task *t, const stack_t *ss)
{
	int mode = ss->ss_flags & (int)~SS_FLAG_DISARM;

	if (on_altstack(t))
		return -EPERM;
	if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0)
		return -EINVAL;
	if (mode == SS_DISABLE) {
		t->altstack_sp = t->altstack_size = 0;
	} else {
		if (ss->ss_size < ALTSTACK_MIN)
			return -ENOMEM;
		t->altstack_sp = (u64)ss->ss_sp;
		t->altstack_size = ss->ss_size;
	}
	t->altstack_flags = ss->ss_flags;
	return 0;
}

long sys_sigaltstack(const u64 a[6])
{
	struct task *t = current;
	stack_t old = {
		.ss_sp = (void *)t->altstack_sp,
		.ss_size = t->altstack_size,
		.ss_flags = (int)((u32)t->altstack_flags & SS_FLAG_DISARM),
	};
	stack_t new;
	int err;

	if (!t->altstack_size)
		old.ss_flags |= SS_DISABLE;
	else if (on_altstack(t))
		old.ss_flags |= SS_ONSTACK;
	if (a[0]) {
		if (copy_from_user(&new, (void *)a[0], sizeof(new)))
			return -EFAULT;
		err = change_altstack(t, &new);
		if (err)
			return err;
	}
	return a[1] ? copy_to_user((void *)a[1], &old, sizeof(old)) : 0;
}
