/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is who: process, thread, group and session ids (getpid(2), setpgid(2), setsid(2)). */
#include "proc/internal.h"
#include "sys/syscall.h"
#include <utlist.h>

long sys_getpid(const u64 a[6])
{
	(void)a;
	return current->proc->pid;
}

long sys_gettid(const u64 a[6])
{
	(void)a;
	return current->tid;
}

long sys_getppid(const u64 a[6])
{
	const struct process *parent = current->proc->parent;

	(void)a;
	return parent ? parent->pid : 0;
}

/* A process by id, 0 being the caller's. */
static struct process *find_or_self(pid_t pid)
{
	return pid ? process_find(pid) : current->proc;
}

long sys_getpgid(const u64 a[6])
{
	struct process *p = find_or_self((pid_t)a[0]);

	return p ? p->pgrp : -ESRCH;
}

long sys_getsid(const u64 a[6])
{
	struct process *p = find_or_self((pid_t)a[0]);

	return p ? p->session : -ESRCH;
}

/* setpgid(2): oneself, or a child in the same session that has not called exec yet. */
long sys_setpgid(const u64 a[6])
{
	struct process *me = current->proc, *p = find_or_self((pid_t)a[0]);
	pid_t pgrp = (pid_t)a[1];

	if (pgrp < 0)
		return -EINVAL;
	if (!p || (p != me && p->parent != me))
		return -ESRCH;
	if (!pgrp)
		pgrp = p->pid;
	if (p != me) {
		if (p->session != me->session)
			return -EPERM;
		if (p->did_exec)
			return -EACCES;
	}
	if (p->session == p->pid)
		return -EPERM;
	if (pgrp != p->pid && !pgrp_in_session(pgrp, me->session))
		return -EPERM;
	if (p->pgrp != pgrp)
		process_set_group(p, pgrp, p->session);
	return 0;
}

long sys_setsid(const u64 a[6])
{
	struct process *p = current->proc, *q = NULL;

	(void)a;
	if (p->session == p->pid)
		return -EPERM;
	while ((q = process_next(q ? q->pid + 1 : 1))) {
		if (q->pgrp == p->pid)
			return -EPERM;
	}
	process_set_group(p, p->pid, p->pid);
	p->tty = NULL;
	return p->pid;
}
