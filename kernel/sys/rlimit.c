/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits and usage: prlimit64(2), getrlimit(2), getrusage(2), times(2). */
#include "proc/internal.h"
#include "sys/syscall.h"

struct tms_user {
	long utime, stime, cutime, cstime;
};

static int set_limit(struct process *p, unsigned resource, const struct rlimit64 *new)
{
	struct rlimit64 *rl = &p->rlim[resource];

	if (new->rlim_cur > new->rlim_max)
		return -EINVAL;
	if (new->rlim_max > rl->rlim_max && !capable(CAP_SYS_RESOURCE))
		return -EPERM;
	if (resource == RLIMIT_NOFILE && new->rlim_max > 1048576)
		return -EPERM; /* fs.nr_open */
	*rl = *new;
	if (resource == RLIMIT_CPU) {
		if (rl->rlim_cur == 0)
			rl->rlim_cur = 1; /* at once, which a second is (getrlimit(2)) */
		p->rlim_cpu_next = 0;
		cputimers_update(p);
	}
	return 0;
}

/* prlimit(2): another process's only with all its ids, or the capability. */
static bool may_limit(const struct process *p)
{
	const struct cred *me = &current->cred, *c;

	if (p == current->proc || capable(CAP_SYS_RESOURCE))
		return true;
	c = &p->leader->cred;
	return me->uid == c->uid && me->uid == c->euid && me->uid == c->suid && me->gid == c->gid &&
	       me->gid == c->egid && me->gid == c->sgid;
}

/* prlimit64(pid, resource, new, old) */
long sys_prlimit64(const u64 a[6])
{
	struct process *p = current->proc;
	struct rlimit64 new, old;
	int err;

	if ((u32)a[1] >= RLIM_NLIMITS)
		return -EINVAL;
	if (a[2] && copy_from_user(&new, (void *)a[2], sizeof(new)))
		return -EFAULT;
	if (a[0]) {
		struct task *t = task_find((pid_t)a[0]);

		if (!t)
			return -ESRCH;
		p = t->proc;
	}
	if (!may_limit(p))
		return -EPERM;
	old = p->rlim[(u32)a[1]];
	if (a[2]) {
		err = set_limit(p, (u32)a[1], &new);
		if (err)
			return err;
	}
	return a[3] ? copy_to_user((void *)a[3], &old, sizeof(old)) : 0;
}

/* struct rlimit and struct rlimit64 are the same on a 64-bit machine. */
long sys_getrlimit(const u64 a[6])
{
	if ((u32)a[0] >= RLIM_NLIMITS)
		return -EINVAL;
	return copy_to_user((void *)a[1], &current->proc->rlim[(u32)a[0]], sizeof(struct rlimit64));
}

long sys_setrlimit(const u64 a[6])
{
	struct rlimit64 new;

	if ((u32)a[0] >= RLIM_NLIMITS)
		return -EINVAL;
	if (copy_from_user(&new, (void *)a[1], sizeof(new)))
		return -EFAULT;
	return set_limit(current->proc, (u32)a[0], &new);
}

static void thread_usage(struct proc_usage *u)
{
	const struct task *t = current;

	*u = (struct proc_usage){
		.min_flt = t->min_flt,
		.maj_flt = t->maj_flt,
		.nvcsw = t->nvcsw,
		.nivcsw = t->nivcsw,
	};
	task_cpu_ns(t, &u->utime, &u->stime);
}

long sys_getrusage(const u64 a[6])
{
	struct proc_usage u;
	struct rusage r;

	switch ((int)a[0]) {
	case RUSAGE_SELF:
		process_usage(current->proc, &u);
		break;
	case RUSAGE_CHILDREN:
		process_child_usage(current->proc, &u);
		break;
	case RUSAGE_THREAD: {
		struct proc_usage all;

		thread_usage(&u);
		process_usage(current->proc, &all);
		u.maxrss = all.maxrss;
		break;
	}
	default:
		return -EINVAL;
	}
	usage_to_rusage(&u, &r);
	return copy_to_user((void *)a[1], &r, sizeof(r));
}

static long ticks(u64 ns)
{
	return (long)(ns / (NSEC_PER_SEC / USER_HZ));
}

long sys_times(const u64 a[6])
{
	struct proc_usage self, children;
	struct tms_user tms;

	if (a[0]) {
		process_usage(current->proc, &self);
		process_child_usage(current->proc, &children);
		tms.utime = ticks(self.utime);
		tms.stime = ticks(self.stime);
		tms.cutime = ticks(children.utime);
		tms.cstime = ticks(children.stime);
		if (copy_to_user((void *)a[0], &tms, sizeof(tms)))
			return -EFAULT;
	}
	return ticks(clock_ns());
}
