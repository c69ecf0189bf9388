/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wait4(2), waitid(2): a parent learns what became of its children, and the
 * sums of what they used (getrusage(2), times(2)).
 *
 * Each pass looks through the children in the order in which they were made.
 * One that fits and has something to report ends it; otherwise the caller
 * sleeps on its process's wait_child queue, if there is any child that fits.
 */
#include "mm/page.h"
#include "mm/vm.h"
#include "proc/internal.h"
#include "proc/pidfd.h"
#include "sys/syscall.h"
#include <linux/wait.h>
#include <utlist.h>

struct wait_request {
	int idtype; /* P_* */
	pid_t id;
	struct process *pidfd_proc; /* P_PIDFD */
	u32 options;
	/* what was found */
	pid_t pid;
	uid_t uid;
	int code, status; /* CLD_*; si_status */
	int wstatus;	  /* as wait4 encodes it */
	struct proc_usage usage;
};

/* ------------------------------------------------------------------ usage */

void process_usage(struct process *p, struct proc_usage *u)
{
	struct task *t;

	*u = (struct proc_usage){
		.utime = p->dead_utime,
		.stime = p->dead_stime,
		.min_flt = p->dead_min_flt,
		.maj_flt = p->dead_maj_flt,
		.nvcsw = p->dead_nvcsw,
		.nivcsw = p->dead_nivcsw,
		.maxrss = p->maxrss,
	};
	DL_FOREACH2(p->threads, t, thread_next) {
		u64 utime, stime;

		task_cpu_ns(t, &utime, &stime);
		u->utime += utime;
		u->stime += stime;
		u->min_flt += t->min_flt;
		u->maj_flt += t->maj_flt;
		u->nvcsw += t->nvcsw;
		u->nivcsw += t->nivcsw;
		if (t->mm && t->mm->hiwater_rss > u->maxrss)
			u->maxrss = t->mm->hiwater_rss;
	}
}

void process_child_usage(struct process *p, struct proc_usage *u)
{
	*u = (struct proc_usage){
		.utime = p->child_utime,
		.stime = p->child_stime,
		.min_flt = p->child_min_flt,
		.maj_flt = p->child_maj_flt,
		.nvcsw = p->child_nvcsw,
		.nivcsw = p->child_nivcsw,
		.maxrss = p->child_maxrss,
	};
}

void usage_to_rusage(const struct proc_usage *u, struct rusage *r)
{
	memset(r, 0, sizeof(*r));
	r->ru_utime.tv_sec = (long)(u->utime / NSEC_PER_SEC);
	r->ru_utime.tv_usec = (long)(u->utime % NSEC_PER_SEC / NSEC_PER_USEC);
	r->ru_stime.tv_sec = (long)(u->stime / NSEC_PER_SEC);
	r->ru_stime.tv_usec = (long)(u->stime % NSEC_PER_SEC / NSEC_PER_USEC);
	r->ru_maxrss = (long)(u->maxrss * (PAGE_SIZE / 1024));
	r->ru_minflt = (long)u->min_flt;
	r->ru_majflt = (long)u->maj_flt;
	r->ru_nvcsw = (long)u->nvcsw;
	r->ru_nivcsw = (long)u->nivcsw;
}

/* What a child that was waited for and its own children used goes to the parent's account. */
static void inherit_usage(struct process *parent, struct process *p)
{
	struct proc_usage self;

	process_usage(p, &self);
	parent->child_utime += self.utime + p->child_utime;
	parent->child_stime += self.stime + p->child_stime;
	parent->child_min_flt += self.min_flt + p->child_min_flt;
	parent->child_maj_flt += self.maj_flt + p->child_maj_flt;
	parent->child_nvcsw += self.nvcsw + p->child_nvcsw;
	parent->child_nivcsw += self.nivcsw + p->child_nivcsw;
	parent->child_maxrss = MAX(parent->child_maxrss, MAX(self.maxrss, p->child_maxrss));
}

/* ---------------------------------------------------------------- looking */

static bool fits(const struct process *p, const struct wait_request *r)
{
	switch (r->idtype) {
	case P_PID:
		if (p->pid != r->id)
			return false;
		break;
	case P_PGID:
		if (p->pgrp != r->id)
			return false;
		break;
	case P_PIDFD:
		if (p != r->pidfd_proc)
			return false;
		break;
	default:
		break;
	}
	if (r->options & __WALL)
		return true;
	return (p->exit_signal != SIGCHLD) == !!(r->options & __WCLONE);
}

static void found(struct wait_request *r, struct process *p, int code, int status, int wstatus)
{
	struct proc_usage children;

	r->pid = p->pid;
	r->uid = p->leader->cred.uid;
	r->code = code;
	r->status = status;
	r->wstatus = wstatus;
	process_usage(p, &r->usage);
	process_child_usage(p, &children);
	r->usage.utime += children.utime;
	r->usage.stime += children.stime;
	r->usage.min_flt += children.min_flt;
	r->usage.maj_flt += children.maj_flt;
	r->usage.nvcsw += children.nvcsw;
	r->usage.nivcsw += children.nivcsw;
	r->usage.maxrss = MAX(r->usage.maxrss, children.maxrss);
}

/* True: p has something to report, which is now in *r (and, without WNOWAIT, used up). */
static bool check_child(struct process *p, struct wait_request *r)
{
	bool keep = r->options & WNOWAIT;
	int sig = p->exit_code & 0x7f;

	if (p->zombie && (r->options & WEXITED)) {
		if (sig)
			found(r, p, p->exit_code & 0x80 ? CLD_DUMPED : CLD_KILLED, sig,
			      p->exit_code);
		else
			found(r, p, CLD_EXITED, (p->exit_code >> 8) & 0xff, p->exit_code);
		if (!keep) {
			inherit_usage(current->proc, p);
			process_reap(p);
		}
		return true;
	}
	if (p->wait_stopped && (r->options & WSTOPPED)) {
		found(r, p, CLD_STOPPED, p->stop_sig, (p->stop_sig << 8) | 0x7f);
		if (!keep)
			p->wait_stopped = false;
		return true;
	}
	if (p->wait_continued && (r->options & WCONTINUED)) {
		found(r, p, CLD_CONTINUED, SIGCONT, 0xffff);
		if (!keep)
			p->wait_continued = false;
		return true;
	}
	return false;
}

/* 1: found. 0: there are children that fit, without news. -ECHILD: there is none. */
static int look(struct wait_request *r)
{
	struct process *p, *tmp;
	int result = -ECHILD;

	DL_FOREACH_SAFE2(current->proc->children, p, tmp, sib_next) {
		if (!fits(p, r))
			continue;
		result = 0;
		if (check_child(p, r))
			return 1;
	}
	return result;
}

static int do_wait(struct wait_request *r)
{
	int found_one = look(r), err;

	if (found_one != 0 || (r->options & WNOHANG))
		return found_one;
	err = wait_event_interruptible(&current->proc->wait_child, (found_one = look(r)) != 0);
	return err ? err : found_one;
}

static int put_rusage(u64 uaddr, const struct proc_usage *u)
{
	struct rusage r;

	if (!uaddr)
		return 0;
	usage_to_rusage(u, &r);
	return copy_to_user((void *)uaddr, &r, sizeof(r));
}

/* wait4(pid, wstatus, options, rusage) */
long sys_wait4(const u64 a[6])
{
	struct wait_request r = {.options = (u32)a[2] | WEXITED};
	pid_t pid = (pid_t)a[0];
	int n;

	if ((u32)a[2] & ~(u32)(WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | __WCLONE | __WALL))
		return -EINVAL;
	if (pid == -2147483647 - 1)
		return -ESRCH;
	if (pid == -1) {
		r.idtype = P_ALL;
	} else if (pid > 0) {
		r.idtype = P_PID;
		r.id = pid;
	} else {
		r.idtype = P_PGID;
		r.id = pid ? -pid : current->proc->pgrp;
	}
	n = do_wait(&r);
	if (n <= 0)
		return n;
	if (a[1] && put_user(r.wstatus, (int *)a[1]))
		return -EFAULT;
	if (put_rusage(a[3], &r.usage))
		return -EFAULT;
	return r.pid;
}

static int waitid_target(struct wait_request *r, int idtype, pid_t id)
{
	r->idtype = idtype;
	r->id = id;
	switch (idtype) {
	case P_ALL:
		return 0;
	case P_PID:
		return id > 0 ? 0 : -EINVAL;
	case P_PGID:
		if (id < 0)
			return -EINVAL;
		if (id == 0)
			r->id = current->proc->pgrp;
		return 0;
	case P_PIDFD:
		if (id < 0)
			return -EINVAL;
		return pidfd_process(id, &r->pidfd_proc);
	default:
		return -EINVAL;
	}
}

/* waitid(idtype, id, infop, options, rusage): without news, infop is all zero. */
long sys_waitid(const u64 a[6])
{
	struct wait_request r = {.options = (u32)a[3]};
	siginfo_t info;
	int n, err;

	if (r.options & ~(u32)(WNOHANG | WNOWAIT | WEXITED | WSTOPPED | WCONTINUED | __WNOTHREAD |
			       __WCLONE | __WALL))
		return -EINVAL;
	if (!(r.options & (WEXITED | WSTOPPED | WCONTINUED)))
		return -EINVAL;
	err = waitid_target(&r, (int)a[0], (pid_t)a[1]);
	if (err)
		return err;
	n = do_wait(&r);
	if (r.pidfd_proc)
		process_put(r.pidfd_proc);
	if (n < 0)
		return n;
	if (n > 0 && put_rusage(a[4], &r.usage))
		return -EFAULT;
	if (!a[2])
		return 0;
	memset(&info, 0, sizeof(info));
	if (n > 0) {
		info.si_signo = SIGCHLD;
		info.si_code = r.code;
		info.si_pid = r.pid;
		info.si_uid = r.uid;
		info.si_status = r.status;
	}
	return copy_to_user((void *)a[2], &info, sizeof(info));
}
