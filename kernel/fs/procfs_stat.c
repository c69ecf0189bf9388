/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /proc/PID/stat, status and statm, and the same of a thread. Fields whose
 * figure this kernel does not keep are 0 where the format has a place for them
 * (stat), and left out where it has not (status).
 */
#include "dev/tty.h"
#include "fs/procfs.h"
#include "fs/sysfs.h"
#include "mm/vm.h"
#include "proc/internal.h"
#include <utlist.h>

/* Of the kernel's task flags, those that tools look at (PF_*). */
#define FLAG_EXITING	0x00000004u
#define FLAG_FORKNOEXEC 0x00000040u
#define FLAG_KTHREAD	0x00200000u

static const char *state_name(const struct task *t, bool whole)
{
	if (t->exiting)
		return !whole || t->proc->zombie || !t->proc->nr_threads ? "Z (zombie)"
									 : "S (sleeping)";
	switch (t->state) {
	case TASK_RUNNING:
		return "R (running)";
	case TASK_INTERRUPTIBLE:
		return "S (sleeping)";
	case TASK_UNINTERRUPTIBLE:
		/* a kernel thread that waits for work does not count as waiting for a disk */
		return t->is_kthread ? "I (idle)" : "D (disk sleep)";
	case TASK_STOPPED:
		return "T (stopped)";
	case TASK_ZOMBIE:
		return "Z (zombie)";
	case TASK_DEAD:
		break;
	}
	return "X (dead)";
}

static unsigned task_flags(const struct task *t)
{
	return (t->exiting ? FLAG_EXITING : 0) | (t->proc->did_exec ? 0 : FLAG_FORKNOEXEC) |
	       (t->is_kthread ? FLAG_KTHREAD : 0);
}

static void signal_sets(const struct task *t, u64 *ignored, u64 *caught)
{
	*ignored = *caught = 0;
	if (!t->sighand)
		return;
	for (int sig = 1; sig <= _NSIG; sig++) {
		u64 h = t->sighand->action[sig - 1].handler;

		if (h == (u64)SIG_IGN)
			*ignored |= SIGSET(sig);
		else if (h != (u64)SIG_DFL)
			*caught |= SIGSET(sig);
	}
}

static void usage_of(struct task *t, bool whole, struct proc_usage *u)
{
	if (whole) {
		process_usage(t->proc, u);
		return;
	}
	*u = (struct proc_usage){ .min_flt = t->min_flt, .maj_flt = t->maj_flt,
				  .nvcsw = t->nvcsw, .nivcsw = t->nivcsw };
	task_cpu_ns(t, &u->utime, &u->stime);
}

static pid_t parent_pid(const struct process *p)
{
	return p->parent ? p->parent->pid : 0;
}

/* pid (comm) state ppid pgrp session tty_nr tpgid flags minflt cminflt majflt cmajflt */
static void stat_identity(struct seq *s, struct task *t, bool whole, const struct proc_usage *own,
			  const struct proc_usage *child)
{
	struct process *p = t->proc;

	seq_printf(s, "%d (%s) %c %d %d %d %llu %d %u %llu %llu %llu %llu", t->tid, t->comm,
		   state_name(t, whole)[0], parent_pid(p), p->pgrp, p->session,
		   p->tty ? (unsigned long long)p->tty->rdev : 0ULL, p->tty ? p->tty->pgrp : -1,
		   task_flags(t), (unsigned long long)own->min_flt,
		   (unsigned long long)child->min_flt, (unsigned long long)own->maj_flt,
		   (unsigned long long)child->maj_flt);
}

/* utime stime cutime cstime priority nice num_threads itrealvalue starttime */
static void stat_times(struct seq *s, struct task *t, const struct proc_usage *own,
		       const struct proc_usage *child)
{
	int priority = t->rt_priority ? -1 - t->rt_priority : 20 + t->nice;

	seq_printf(s, " %llu %llu %llu %llu %d %d %u 0 %llu",
		   (unsigned long long)(own->utime / USER_TICK_NS),
		   (unsigned long long)(own->stime / USER_TICK_NS),
		   (unsigned long long)(child->utime / USER_TICK_NS),
		   (unsigned long long)(child->stime / USER_TICK_NS), priority, t->nice,
		   t->proc->nr_threads, (unsigned long long)(t->start_ns / USER_TICK_NS));
}

/*
 * vsize rss rsslim startcode endcode startstack kstkesp kstkeip. Addresses are
 * for those who may trace it, as on Linux; others see 1 1 0.
 */
static void stat_memory(struct seq *s, struct task *t, bool permitted)
{
	struct mm *mm = t->mm;
	u64 limit = t->proc->rlim[RLIMIT_RSS].rlim_cur;

	if (!mm) {
		seq_printf(s, " 0 0 %llu 0 0 0 0 0", (unsigned long long)limit);
		return;
	}
	seq_printf(s, " %llu %llu %llu", (unsigned long long)mm->total_vm * PAGE_SIZE,
		   (unsigned long long)mm->rss, (unsigned long long)limit);
	if (permitted)
		seq_printf(s, " %llu %llu %llu 0 0", (unsigned long long)mm->start_code,
			   (unsigned long long)mm->end_code, (unsigned long long)mm->start_stack);
	else
		seq_printf(s, " 1 1 0 0 0");
}

/* start_data end_data start_brk arg_start arg_end env_start env_end */
static void stat_areas(struct seq *s, const struct mm *mm, bool permitted)
{
	if (!mm || !permitted) {
		seq_printf(s, " 0 0 0 0 0 0 0");
		return;
	}
	seq_printf(s, " %llu %llu %llu %llu %llu %llu %llu", (unsigned long long)mm->start_data,
		   (unsigned long long)mm->end_data, (unsigned long long)mm->brk_start,
		   (unsigned long long)mm->arg_start, (unsigned long long)mm->arg_end,
		   (unsigned long long)mm->env_start, (unsigned long long)mm->env_end);
}

int show_stat(struct seq *s, struct task *t, bool whole)
{
	struct proc_usage own, child = { 0 };
	bool permitted = ptrace_may_access(t);
	u64 ignored, caught;

	usage_of(t, whole, &own);
	if (whole)
		process_child_usage(t->proc, &child);
	signal_sets(t, &ignored, &caught);
	stat_identity(s, t, whole, &own, &child);
	stat_times(s, t, &own, &child);
	stat_memory(s, t, permitted);
	/* signal blocked sigignore sigcatch: the lower 31, as on Linux; wchan nswap cnswap */
	seq_printf(s, " %llu %llu %llu %llu %d 0 0",
		   (unsigned long long)(t->pending.set & 0x7fffffff),
		   (unsigned long long)(t->blocked & 0x7fffffff),
		   (unsigned long long)(ignored & 0x7fffffff),
		   (unsigned long long)(caught & 0x7fffffff),
		   t->state != TASK_RUNNING && !t->exiting);
	/* exit_signal processor rt_priority policy delayacct_blkio guest cguest */
	seq_printf(s, " %d %d %d %d 0 0 0",
		   t == t->proc->leader ? t->proc->exit_signal : -1, t->cpu, t->rt_priority,
		   t->policy);
	stat_areas(s, t->mm, permitted);
	seq_printf(s, " %d\n", permitted ? t->exit_code : 0);
	return 0;
}

/* ------------------------------------------------------------------ statm */

struct sizes {
	u64 total, stack, data, text, lib, locked; /* pages */
};

static void measure(struct mm *mm, struct sizes *z)
{
	struct vma *v;
	u64 exec = 0;

	*z = (struct sizes){ 0 };
	DL_FOREACH(mm->vmas, v) {
		u64 pages = (v->end - v->start) / PAGE_SIZE;

		z->total += pages;
		if (v->flags & VM_LOCKED)
			z->locked += pages;
		if (v->flags & VM_GROWSDOWN)
			z->stack += pages;
		else if ((v->flags & (VM_WRITE | VM_SHARED)) == VM_WRITE)
			z->data += pages;
		else if ((v->flags & (VM_EXEC | VM_WRITE)) == VM_EXEC)
			exec += pages;
	}
	z->text = (ALIGN_UP(mm->end_code, PAGE_SIZE) - ALIGN_DOWN(mm->start_code, PAGE_SIZE)) /
		  PAGE_SIZE;
	z->text = MIN(z->text, exec);
	z->lib = exec - z->text;
}

int show_statm(struct seq *s, struct task *t, bool whole)
{
	struct sizes z;
	struct rss rss;

	if (!t->mm) {
		seq_printf(s, "0 0 0 0 0 0 0\n");
		return 0;
	}
	measure(t->mm, &z);
	mm_count_rss(t->mm, &rss);
	seq_printf(s, "%llu %llu %llu %llu 0 %llu 0\n", (unsigned long long)z.total,
		   (unsigned long long)(rss.anon + rss.file + rss.shmem),
		   (unsigned long long)(rss.file + rss.shmem), (unsigned long long)z.text,
		   (unsigned long long)(z.data + z.stack));
	return 0;
}

/* ------------------------------------------------------------------ status */

static void status_identity(struct seq *s, struct task *t, bool whole)
{
	const struct cred *c = &t->cred;
	struct process *p = t->proc;

	seq_printf(s, "Name:\t");
	seq_escape(s, t->comm, "\n\\");
	seq_printf(s, "\n");
	if (t->fs)
		seq_printf(s, "Umask:\t%04o\n", t->fs->umask);
	seq_printf(s, "State:\t%s\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\n",
		   state_name(t, whole), p->pid, t->tid, parent_pid(p));
	seq_printf(s, "Uid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\nFDSize:\t%d\nGroups:\t",
		   c->uid, c->euid, c->suid, c->fsuid, c->gid, c->egid, c->sgid, c->fsgid,
		   t->files ? t->files->cap : 0);
	for (u32 i = 0; i < c->ngroups; i++)
		seq_printf(s, i ? " %u" : "%u", c->groups[i]);
	seq_printf(s, " \nNStgid:\t%d\nNSpid:\t%d\nNSpgid:\t%d\nNSsid:\t%d\n", p->pid, t->tid,
		   p->pgrp, p->session);
}

static void kb(struct seq *s, const char *name, u64 pages)
{
	seq_printf(s, "%s:\t%8llu kB\n", name, (unsigned long long)pages * (PAGE_SIZE / 1024));
}

static void status_memory(struct seq *s, struct mm *mm)
{
	struct sizes z;
	struct rss rss;
	u64 all;

	measure(mm, &z);
	mm_count_rss(mm, &rss);
	all = rss.anon + rss.file + rss.shmem;
	kb(s, "VmPeak", mm->hiwater_vm); /* perf takes a process without it for a kernel thread */
	kb(s, "VmSize", z.total);
	kb(s, "VmLck", z.locked);
	kb(s, "VmHWM", MAX(mm->hiwater_rss, all));
	kb(s, "VmRSS", all);
	kb(s, "RssAnon", rss.anon);
	kb(s, "RssFile", rss.file);
	kb(s, "RssShmem", rss.shmem);
	kb(s, "VmData", z.data);
	kb(s, "VmStk", z.stack);
	kb(s, "VmExe", z.text);
	kb(s, "VmLib", z.lib);
	kb(s, "VmSwap", 0);
}

static void status_signals(struct seq *s, struct task *t)
{
	u64 ignored, caught;

	signal_sets(t, &ignored, &caught);
	seq_printf(s, "Threads:\t%u\nSigQ:\t%u/%llu\n", t->proc->nr_threads,
		   t->proc->nr_sigqueued,
		   (unsigned long long)t->proc->rlim[RLIMIT_SIGPENDING].rlim_cur);
	seq_printf(s, "SigPnd:\t%016llx\nShdPnd:\t%016llx\nSigBlk:\t%016llx\nSigIgn:\t%016llx\n"
		      "SigCgt:\t%016llx\n",
		   (unsigned long long)t->pending.set, (unsigned long long)t->proc->pending.set,
		   (unsigned long long)t->blocked, (unsigned long long)ignored,
		   (unsigned long long)caught);
}

static void status_rights(struct seq *s, const struct task *t)
{
	const struct cred *c = &t->cred;

	seq_printf(s, "CapInh:\t%016llx\nCapPrm:\t%016llx\nCapEff:\t%016llx\nCapBnd:\t%016llx\n"
		      "CapAmb:\t%016llx\nNoNewPrivs:\t%d\nSeccomp:\t0\n",
		   (unsigned long long)c->cap_inheritable, (unsigned long long)c->cap_permitted,
		   (unsigned long long)c->cap_effective, (unsigned long long)c->cap_bounding,
		   (unsigned long long)c->cap_ambient, c->no_new_privs);
}

static void status_cpus(struct seq *s, const struct task *t)
{
	u64 mask = t->affinity & (BIT(nr_possible_cpus()) - 1);

	seq_printf(s, "Cpus_allowed:\t");
	seq_bitmap_mask(s, mask, nr_possible_cpus());
	seq_printf(s, "\nCpus_allowed_list:\t");
	seq_bitmap_list(s, mask);
	seq_printf(s, "\nMems_allowed:\t1\nMems_allowed_list:\t0\n");
}

int show_status(struct seq *s, struct task *t, bool whole)
{
	status_identity(s, t, whole);
	if (t->mm)
		status_memory(s, t->mm);
	status_signals(s, t);
	status_rights(s, t);
	status_cpus(s, t);
	seq_printf(s, "voluntary_ctxt_switches:\t%llu\nnonvoluntary_ctxt_switches:\t%llu\n",
		   (unsigned long long)t->nvcsw, (unsigned long long)t->nivcsw);
	return 0;
}
