/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making tasks: clone(2), clone3(2) and kernel threads.
 *
 * A new task is built completely before anybody can find it: everything that
 * can fail comes first, and is undone by one function. Then it is attached to
 * the table of ids, to its process and to the parent, and only then put on a
 * run queue, all without sleeping, so that under the big lock this is one step.
 * perf_clone() comes before the first, perf_forked() just before the last.
 *
 * fork() checks for signals first and restarts: a signal to a group reaches
 * parent and child, or comes before there is a child.
 */
#include "fs/vfs.h"
#include "mm/page.h"
#include "mm/vm.h"
#include "proc/internal.h"
#include "proc/pidfd.h"
#include "sys/syscall.h"
#include "trace/trace.h"
#include <linux/capability.h>
#include <linux/sched.h>
#include <utlist.h>

#define CLONE_NAMESPACES                                                               \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWTIME)

/* What clone(2), ERRORS, says about combinations; there are no namespaces here. */
static int check_flags(const struct clone_params *p)
{
	u64 f = p->flags;

	if (f & (CLONE_NAMESPACES | CLONE_INTO_CGROUP))
		return -EINVAL;
	if ((f & CLONE_THREAD) && !(f & CLONE_SIGHAND))
		return -EINVAL;
	if ((f & CLONE_SIGHAND) && (!(f & CLONE_VM) || (f & CLONE_CLEAR_SIGHAND)))
		return -EINVAL;
	if ((f & CLONE_PARENT) && current->proc->pid == 1)
		return -EINVAL;
	if ((f & CLONE_PIDFD) && (f & (CLONE_DETACHED | CLONE_THREAD)))
		return -EINVAL;
	return 0;
}

static bool too_many_processes(void)
{
	u64 limit = rlimit_cur(RLIMIT_NPROC), n = 0;
	pid_t pid = 0;
	struct process *p;

	if (limit == RLIM64_INFINITY || current->cred.uid == 0 || capable(CAP_SYS_RESOURCE) ||
	    capable(CAP_SYS_ADMIN))
		return false;
	while ((p = process_next(pid + 1))) {
		if (p->leader->cred.uid == current->cred.uid)
			n += p->nr_threads;
		pid = p->pid;
	}
	return n >= limit;
}

static int copy_resources(struct task *t, u64 flags)
{
	struct task *me = current;

	if (flags & CLONE_FILES) {
		t->files = me->files;
		files_get(t->files);
	} else {
		t->files = files_fork(me->files);
	}
	if (flags & CLONE_FS) {
		t->fs = me->fs;
		t->fs->refs++;
	} else {
		t->fs = fs_fork(me->fs);
	}
	if (flags & CLONE_SIGHAND)
		t->sighand = sighand_get(me->sighand);
	else
		t->sighand = sighand_fork(me->sighand);
	if (!t->files || !t->fs || !t->sighand)
		return -ENOMEM;
	if (flags & CLONE_CLEAR_SIGHAND)
		sighand_flush_exec(t->sighand);
	if (flags & CLONE_VM) {
		t->mm = me->mm;
		mm_get(t->mm);
	} else {
		t->mm = mm_fork(me->mm);
	}
	return t->mm ? 0 : -ENOMEM;
}

static struct process *copy_process(const struct clone_params *params)
{
	struct process *me = current->proc;
	struct process *p = process_alloc();

	if (!p)
		return NULL;
	p->tty = me->tty;
	p->dumpable = me->dumpable;
	memcpy(p->rlim, me->rlim, sizeof(p->rlim));
	p->rlim_cpu_next = me->rlim_cpu_next;
	p->cputimers = p->rlim[RLIMIT_CPU].rlim_cur != RLIM64_INFINITY;
	p->exit_signal = params->flags & CLONE_PARENT ? me->exit_signal : params->exit_signal;
	return p;
}

static void copy_attributes(struct task *t, const struct clone_params *p)
{
	struct task *me = current;

	memcpy(t->comm, me->comm, sizeof(t->comm));
	t->cred = me->cred;
	t->affinity = me->affinity;
	t->nice = me->nice;
	t->policy = me->policy;
	t->rt_priority = me->rt_priority;
	t->personality = me->personality;
	t->blocked = me->blocked;
	t->timer_slack = me->timer_slack;
	if (!(p->flags & CLONE_VM) || (p->flags & CLONE_VFORK)) {
		t->altstack_sp = me->altstack_sp;
		t->altstack_size = me->altstack_size;
		t->altstack_flags = me->altstack_flags;
	} else {
		t->altstack_flags = SS_DISABLE;
	}
	t->exit_signal = p->flags & CLONE_THREAD ? -1 : t->proc->exit_signal;
	t->set_child_tid = p->flags & CLONE_CHILD_SETTID ? p->child_tid : 0;
	t->clear_child_tid = p->flags & CLONE_CHILD_CLEARTID ? p->child_tid : 0;
}

static void copy_registers(struct task *t, const struct clone_params *p)
{
	struct pt_regs *regs = task_regs(t);

	arch_thread_init_user(t);
	arch_fork_state(t);
	*regs = *task_regs(current);
	regs->regs[0] = 0;
	regs->syscallno = -1;
	if (p->stack)
		regs->sp = p->stack;
	if (p->flags & CLONE_SETTLS)
		t->ctx.tls = p->tls;
}

/* Undoes what was built of a task that nobody has seen. */
static void discard_task(struct task *t)
{
	if (t->mm)
		mm_put(t->mm);
	if (t->sighand)
		sighand_put(t->sighand);
	if (t->fs)
		fs_put(t->fs);
	if (t->files)
		files_put(t->files);
	if (t->tid > 0)
		pid_free_unused(t->tid);
	task_put(t);
}

/* Everything about the new task that can fail. */
static struct task *build_task(const struct clone_params *p)
{
	struct task *t = task_alloc();
	int err = -ENOMEM;

	if (!t)
		return ERR_PTR(-ENOMEM);
	if (p->flags & CLONE_THREAD) {
		t->proc = current->proc;
		process_get(t->proc);
	} else {
		t->proc = copy_process(p);
		if (!t->proc)
			goto fail;
	}
	err = t->tid = pid_alloc(0);
	if (err < 0)
		goto fail;
	if (!(p->flags & CLONE_THREAD))
		t->proc->pid = t->tid;
	err = copy_resources(t, p->flags);
	if (err)
		goto fail;
	copy_attributes(t, p);
	copy_registers(t, p);
	err = perf_clone(&t->perf, &current->perf, p->flags & CLONE_THREAD);
	if (err) {
		perf_exit(&t->perf);
		goto fail;
	}
	return t;
fail:
	discard_task(t);
	return ERR_PTR(err);
}

static void attach_task(struct task *t, const struct clone_params *params)
{
	struct process *p = t->proc, *me = current->proc;

	if (!(params->flags & CLONE_THREAD)) {
		struct process *parent = params->flags & CLONE_PARENT ? me->parent : me;

		p->leader = t;
		task_get(t);
		p->parent = parent;
		DL_APPEND2(parent->children, p, sib_prev, sib_next);
		process_set_group(p, me->pgrp, me->session);
		pid_attach_process(p);
	}
	DL_APPEND2(p->threads, t, thread_prev, thread_next);
	p->nr_threads++;
	pid_attach_task(t);
}

void vfork_release(struct task *t)
{
	if (t->vfork) {
		t->vfork->done = true;
		wake_up(&t->vfork->wq);
		t->vfork = NULL;
	}
}

/*
 * The parent of a vfork() sleeps until the child has its own memory or is gone, or must die
 * itself.
 */
static void wait_for_vfork(struct task *child, struct vfork_wait *vw)
{
	wait_event(&vw->wq, vw->done || fatal_signal_pending(current));
	if (!vw->done)
		child->vfork = NULL;
}

/* Gives the parent what it asked for before the child exists, so that failing is simple. */
static int report_ids(struct task *t, const struct clone_params *p, int *pidfd)
{
	*pidfd = -1;
	if (p->flags & CLONE_PIDFD) {
		*pidfd = pidfd_create(t->proc, 0);
		if (*pidfd < 0)
			return *pidfd;
		if (put_user(*pidfd, (int *)p->pidfd)) {
			fd_close(*pidfd);
			return -EFAULT;
		}
	}
	if (p->flags & CLONE_PARENT_SETTID) {
		/* As on Linux, a bad address here is not an error. */
		int ignored = put_user(t->tid, (pid_t *)p->parent_tid);

		(void)ignored;
	}
	return 0;
}

pid_t do_clone(const struct clone_params *p)
{
	struct vfork_wait vw = {0};
	struct task *t;
	pid_t tid;
	int pidfd, err = check_flags(p);

	if (err)
		return err;
	if (signal_pending(current))
		return -ERESTARTNOINTR;
	if (too_many_processes())
		return -EAGAIN;
	t = build_task(p);
	if (IS_ERR(t))
		return (pid_t)PTR_ERR(t);
	err = report_ids(t, p, &pidfd);
	if (err) {
		perf_exit(&t->perf);
		discard_task(t);
		return err;
	}
	tid = t->tid;
	attach_task(t, p);
	if (p->flags & CLONE_VFORK)
		t->vfork = &vw;
	task_get(t);
	perf_forked(&t->perf, &current->perf);
	trace_fork(t);
	sched_new_task(t);
	if (p->flags & CLONE_VFORK)
		wait_for_vfork(t, &vw);
	task_put(t);
	return tid;
}

void task_first_run(void)
{
	struct task *t = current;

	if (t->start_fn)
		t->start_fn();
	if (t->set_child_tid) {
		int ignored = put_user(t->tid, (pid_t *)t->set_child_tid);

		(void)ignored; /* clone(2): the child runs on regardless */
	}
}

/*
 * clone(flags, stack, parent_tid, tls, child_tid): arm64's order. parent_tid doubles as the
 * pidfd's address.
 */
long sys_clone(const u64 a[6])
{
	struct clone_params p = {
		.flags = (u32)a[0] & ~(u64)CSIGNAL,
		.exit_signal = (int)(a[0] & CSIGNAL),
		.stack = a[1],
		.parent_tid = a[2],
		.pidfd = a[2],
		.tls = a[3],
		.child_tid = a[4],
	};

	if ((p.flags & CLONE_PIDFD) && (p.flags & CLONE_PARENT_SETTID))
		return -EINVAL;
	return do_clone(&p);
}

/* Bytes behind what we know have to be zero (the rule for growing argument structures). */
static int copy_clone_args(struct clone_args *args, u64 uaddr, u64 size)
{
	memset(args, 0, sizeof(*args));
	if (size > 4096)
		return -E2BIG;
	if (size < CLONE_ARGS_SIZE_VER0)
		return -EINVAL;
	for (u64 off = sizeof(*args); off < size; off++) {
		u8 byte;

		if (get_user(byte, (u8 *)(uaddr + off)))
			return -EFAULT;
		if (byte)
			return -E2BIG;
	}
	return copy_from_user(args, (void *)uaddr, MIN(size, sizeof(*args)));
}

long sys_clone3(const u64 a[6])
{
	struct clone_args args;
	struct clone_params p;
	int err = copy_clone_args(&args, a[0], a[1]);

	if (err)
		return err;
	if (args.set_tid || args.set_tid_size || (args.exit_signal & ~(u64)CSIGNAL) ||
	    args.exit_signal > _NSIG)
		return -EINVAL;
	if (args.flags & ~(0xffffffffULL | CLONE_CLEAR_SIGHAND | CLONE_INTO_CGROUP))
		return -EINVAL;
	if (args.flags & (CLONE_DETACHED | (CSIGNAL & ~(u64)CLONE_NEWTIME)))
		return -EINVAL;
	if ((args.flags & (CLONE_THREAD | CLONE_PARENT)) && args.exit_signal)
		return -EINVAL;
	if (!args.stack != !args.stack_size)
		return -EINVAL;
	p = (struct clone_params){
		.flags = args.flags,
		.exit_signal = (int)args.exit_signal,
		.stack = args.stack ? args.stack + args.stack_size : 0,
		.tls = args.tls,
		.parent_tid = args.parent_tid,
		.child_tid = args.child_tid,
		.pidfd = args.pidfd,
	};
	return do_clone(&p);
}

/*
 * unshare(2), of what clone(2) can share here: memory, handlers and threads only if they are
 * not shared already.
 */
long sys_unshare(const u64 a[6])
{
	u64 flags = a[0];
	struct task *t = current;
	struct files *files = NULL;

	if (flags & ~(u64)(CLONE_FILES | CLONE_FS | CLONE_SYSVSEM | CLONE_VM | CLONE_SIGHAND |
			   CLONE_THREAD))
		return -EINVAL;
	if ((flags & CLONE_THREAD) && t->proc->nr_threads > 1)
		return -EINVAL;
	if ((flags & (CLONE_SIGHAND | CLONE_THREAD)) && t->sighand->refs > 1)
		return -EINVAL;
	if ((flags & (CLONE_VM | CLONE_SIGHAND)) && t->mm->refs > 1)
		return -EINVAL;
	if ((flags & CLONE_FILES) && t->files->refs > 1) {
		files = files_fork(t->files);
		if (!files)
			return -ENOMEM;
	}
	if ((flags & CLONE_FS) && t->fs->refs > 1) {
		struct fs_ctx *fs = fs_fork(t->fs);

		if (!fs) {
			if (files)
				files_put(files);
			return -ENOMEM;
		}
		fs_put(t->fs);
		t->fs = fs;
	}
	if (files) {
		files_put(t->files);
		t->files = files;
	}
	return 0;
}

/* ------------------------------------------------- tasks without a parent */

/* A process with one thread that has no resources yet. NULL on no memory. */
struct task *task_create_bare(pid_t pid, const char *name)
{
	struct task *t = task_alloc();
	struct process *p;

	if (!t)
		return NULL;
	p = process_alloc();
	t->proc = p;
	if (!p || (pid = pid_alloc(pid)) < 0) {
		task_put(t);
		return NULL;
	}
	t->tid = p->pid = pid;
	t->affinity = ~0ULL;
	t->altstack_flags = SS_DISABLE;
	t->timer_slack = 50000;
	strscpy(t->comm, name, sizeof(t->comm));
	p->leader = t;
	task_get(t);
	DL_APPEND2(p->threads, t, thread_prev, thread_next);
	p->nr_threads = 1;
	pid_attach_process(p);
	pid_attach_task(t);
	return t;
}

struct task *kthread_create(void (*fn)(void *), void *arg, const char *name)
{
	struct task *t = task_create_bare(0, name);

	if (!t)
		return NULL;
	t->is_kthread = true;
	t->proc->is_kthread = true;
	arch_thread_init_kernel(t, fn, arg);
	sched_new_task(t);
	return t;
}
