/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can be asked of and told to the scheduler (sched(7)). Policies and
 * priorities are checked, kept and reported; the scheduler itself is round
 * robin for all. Affinity is real.
 */
#include "proc/internal.h"
#include "sys/syscall.h"
#include <linux/sched.h>
#include <linux/sched/types.h>

#define RT_PRIO_MAX  99
#define PRIO_PROCESS 0
#define PRIO_PGRP    1
#define PRIO_USER    2
#define QUANTUM_NS   (NSEC_PER_SEC / HZ)

static struct task *find_or_self(pid_t pid)
{
	return pid ? task_find(pid) : current;
}

static bool is_rt(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

/* sched_setaffinity(2) and others: one's own, by effective user id, or with CAP_SYS_NICE. */
static bool may_change(const struct task *t)
{
	const struct cred *me = &current->cred;

	return me->euid == t->cred.uid || me->euid == t->cred.euid || capable(CAP_SYS_NICE);
}

/* sched_setaffinity(pid, len, mask): bits of CPUs that there are not do not matter. */
long sys_sched_setaffinity(const u64 a[6])
{
	struct task *t = find_or_self((pid_t)a[0]);
	u64 mask = 0;

	if (copy_from_user(&mask, (void *)a[2], MIN((u32)a[1], sizeof(mask))))
		return -EFAULT;
	if (!t)
		return -ESRCH;
	if (!may_change(t))
		return -EPERM;
	return sched_set_affinity(t, mask);
}

/* Returns the size of the kernel's mask. */
long sys_sched_getaffinity(const u64 a[6])
{
	struct task *t = find_or_self((pid_t)a[0]);
	u64 mask = 0;

	if ((u32)a[1] * 8ULL < nr_cpus() || (u32)a[1] % sizeof(u64))
		return -EINVAL;
	if (!t)
		return -ESRCH;
	for (unsigned cpu = 0; cpu < nr_cpus(); cpu++) {
		if (cpu_online(cpu) && (t->affinity & BIT(cpu)))
			mask |= BIT(cpu);
	}
	if (copy_to_user((void *)a[2], &mask, sizeof(mask)))
		return -EFAULT;
	return sizeof(mask);
}

long sys_sched_yield(const u64 a[6])
{
	(void)a;
	sched_yield_current();
	return 0;
}

/* Raising one's claims takes CAP_SYS_NICE, or a limit that allows it. */
static bool nice_allowed(const struct task *t, int nice)
{
	return nice >= t->nice || capable(CAP_SYS_NICE) ||
	       (u64)(20 - nice) <= t->proc->rlim[RLIMIT_NICE].rlim_cur;
}

static int set_policy(struct task *t, int policy, int priority)
{
	int plain = policy & ~SCHED_RESET_ON_FORK;

	if (plain != SCHED_NORMAL && plain != SCHED_BATCH && plain != SCHED_IDLE && !is_rt(plain))
		return -EINVAL;
	if (is_rt(plain) ? priority < 1 || priority > RT_PRIO_MAX : priority != 0)
		return -EINVAL;
	if (!may_change(t))
		return -EPERM;
	if (is_rt(plain) && !capable(CAP_SYS_NICE) &&
	    (u64)priority > t->proc->rlim[RLIMIT_RTPRIO].rlim_cur)
		return -EPERM;
	t->policy = plain;
	t->rt_priority = priority;
	return 0;
}

long sys_sched_setscheduler(const u64 a[6])
{
	struct sched_param param;
	struct task *t;

	if ((int)a[1] < 0 || (pid_t)a[0] < 0 || !a[2])
		return -EINVAL;
	if (copy_from_user(&param, (void *)a[2], sizeof(param)))
		return -EFAULT;
	t = find_or_self((pid_t)a[0]);
	return t ? set_policy(t, (int)a[1], param.sched_priority) : -ESRCH;
}

long sys_sched_getscheduler(const u64 a[6])
{
	struct task *t = find_or_self((pid_t)a[0]);

	if ((pid_t)a[0] < 0)
		return -EINVAL;
	return t ? t->policy : -ESRCH;
}

long sys_sched_setparam(const u64 a[6])
{
	struct sched_param param;
	struct task *t;

	if ((pid_t)a[0] < 0 || !a[1])
		return -EINVAL;
	if (copy_from_user(&param, (void *)a[1], sizeof(param)))
		return -EFAULT;
	t = find_or_self((pid_t)a[0]);
	return t ? set_policy(t, t->policy, param.sched_priority) : -ESRCH;
}

long sys_sched_getparam(const u64 a[6])
{
	struct task *t = find_or_self((pid_t)a[0]);
	struct sched_param param;

	if ((pid_t)a[0] < 0 || !a[1])
		return -EINVAL;
	if (!t)
		return -ESRCH;
	param.sched_priority = t->rt_priority;
	return copy_to_user((void *)a[1], &param, sizeof(param));
}

long sys_sched_get_priority_max(const u64 a[6])
{
	int policy = (int)a[0];

	if (is_rt(policy))
		return RT_PRIO_MAX;
	return policy == SCHED_NORMAL || policy == SCHED_BATCH || policy == SCHED_IDLE ? 0
										       : -EINVAL;
}

long sys_sched_get_priority_min(const u64 a[6])
{
	int policy = (int)a[0];

	if (is_rt(policy))
		return 1;
	return policy == SCHED_NORMAL || policy == SCHED_BATCH || policy == SCHED_IDLE ? 0
										       : -EINVAL;
}

long sys_sched_rr_get_interval(const u64 a[6])
{
	struct task *t = find_or_self((pid_t)a[0]);

	if ((pid_t)a[0] < 0)
		return -EINVAL;
	if (!t)
		return -ESRCH;
	return write_timespec(a[1], t->policy == SCHED_FIFO ? 0 : QUANTUM_NS);
}

/*
 * sched_setattr(pid, attr, flags): sizes as for clone3's argument. Deadlines and clamps do not
 * exist here.
 */
long sys_sched_setattr(const u64 a[6])
{
	struct sched_attr attr = {0};
	struct task *t = find_or_self((pid_t)a[0]);
	u32 size;
	int err;

	if ((pid_t)a[0] < 0 || !a[1] || (u32)a[2])
		return -EINVAL;
	if (get_user(size, (u32 *)a[1]))
		return -EFAULT;
	if (!size)
		size = SCHED_ATTR_SIZE_VER0;
	if (size < SCHED_ATTR_SIZE_VER0 || size > sizeof(attr))
		return -E2BIG;
	if (copy_from_user(&attr, (void *)a[1], size))
		return -EFAULT;
	if (!t)
		return -ESRCH;
	if (attr.sched_flags & ~(u64)SCHED_FLAG_RESET_ON_FORK)
		return -EINVAL;
	if (attr.sched_nice < -20 || attr.sched_nice > 19)
		return -EINVAL;
	if (!is_rt((int)attr.sched_policy) && !nice_allowed(t, attr.sched_nice))
		return -EPERM;
	err = set_policy(t, (int)attr.sched_policy, (int)attr.sched_priority);
	if (!err && !is_rt(t->policy))
		t->nice = attr.sched_nice;
	return err;
}

/* sched_getattr(pid, attr, size, flags) */
long sys_sched_getattr(const u64 a[6])
{
	struct task *t = find_or_self((pid_t)a[0]);
	struct sched_attr attr = {.size = sizeof(attr)};

	if ((pid_t)a[0] < 0 || !a[1] || (u32)a[2] < SCHED_ATTR_SIZE_VER0 || (u32)a[2] > 4096 ||
	    (u32)a[3])
		return -EINVAL;
	if (!t)
		return -ESRCH;
	attr.size = MIN((u32)a[2], (u32)sizeof(attr));
	attr.sched_policy = (u32)t->policy;
	attr.sched_priority = (u32)t->rt_priority;
	attr.sched_nice = is_rt(t->policy) ? 0 : t->nice;
	return copy_to_user((void *)a[1], &attr, attr.size);
}

/* --------------------------------------------------------------- priority */

struct prio_walk {
	bool set;
	int nice;
	long result; /* -ESRCH so far; get: the highest 20 - nice; set: 0 or the last error */
};

static void prio_one(struct prio_walk *w, struct task *t)
{
	if (!w->set) {
		w->result = MAX(w->result, 20 - t->nice);
	} else if (current->cred.euid != t->cred.uid && current->cred.euid != t->cred.euid &&
		   !capable(CAP_SYS_NICE)) {
		w->result = -EPERM;
	} else if (!nice_allowed(t, w->nice)) {
		w->result = -EACCES;
	} else {
		t->nice = w->nice;
		if (w->result == -ESRCH)
			w->result = 0;
	}
}

static long prio_walk(struct prio_walk *w, int which, u32 who)
{
	struct process *p = NULL;
	struct task *t;

	w->result = -ESRCH;
	if (which == PRIO_PROCESS) {
		t = find_or_self((pid_t)who);
		if (t)
			prio_one(w, t);
		return w->result;
	}
	while ((p = process_next(p ? p->pid + 1 : 1))) {
		bool fits = which == PRIO_PGRP
				    ? p->pgrp == (who ? (pid_t)who : current->proc->pgrp)
				    : p->leader->cred.uid == (who ? who : current->cred.uid);

		for (t = p->threads; fits && t; t = t->thread_next)
			prio_one(w, t);
	}
	return w->result;
}

long sys_getpriority(const u64 a[6])
{
	struct prio_walk w = {0};

	if ((u32)a[0] > PRIO_USER)
		return -EINVAL;
	return prio_walk(&w, (int)a[0], (u32)a[1]);
}

long sys_setpriority(const u64 a[6])
{
	struct prio_walk w = {.set = true, .nice = (int)a[2]};

	if ((u32)a[0] > PRIO_USER)
		return -EINVAL;
	w.nice = MAX(-20, MIN(19, w.nice));
	return prio_walk(&w, (int)a[0], (u32)a[1]);
}

long sys_getcpu(const u64 a[6])
{
	u32 cpu = cpu_id();

	if (a[0] && put_user(cpu, (u32 *)a[0]))
		return -EFAULT;
	return a[1] ? put_user(0u, (u32 *)a[1]) : 0;
}
