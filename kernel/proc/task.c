/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks and processes as objects: the table of ids, references, allocation,
 * and the questions that are asked about them.
 *
 * One id is used by at most one task, by at most one process (with the same id
 * as its first thread), and by any number of members of a process group or a
 * session. It is free again when none of these is left. Ids are given out in
 * ascending order from 2 and wrap to PID_RESERVED, as on Linux; PID 1 is
 * init's.
 *
 * References: a task structure has one from being alive (dropped after its last
 * switch), and its process holds one on the leader until it is reaped. Each
 * task structure holds one on its process, and the pid table holds one.
 */
#include "fs/vfs.h"
#include "mm/page.h"
#include "mm/vm.h"
#include "proc/internal.h"
#include <linux/capability.h>
#include <utlist.h>

#define PID_MAX	     32768
#define PID_RESERVED 300
#define CHUNK	     128 /* ids in one part of the table */

struct pid_entry {
	struct task *task;
	struct process *proc;
	u32 holds; /* members of the process group and of the session */
	bool taken;
};

/* A part of the table, there while an id of it is in use. */
struct pid_chunk {
	u32 used;
	struct pid_entry entries[CHUNK];
};

static struct pid_chunk *pid_table[PID_MAX / CHUNK];
static pid_t pid_last = 1;
static u32 processes, threads;
static u64 forks;
static struct process process_zero = {.refs = 1, .is_kthread = true};

struct process *kernel_process(void)
{
	return &process_zero;
}

/* ------------------------------------------------------------------- ids */

static struct pid_entry *entry_of(pid_t pid)
{
	if (pid <= 0 || pid >= PID_MAX || !pid_table[pid / CHUNK])
		return NULL;
	return &pid_table[pid / CHUNK]->entries[pid % CHUNK];
}

static bool entry_free(const struct pid_entry *e)
{
	return !e->task && !e->proc && !e->holds && !e->taken;
}

/* Something of the entry has gone; was it the last? */
static void entry_put(pid_t pid)
{
	struct pid_chunk **chunk = &pid_table[pid / CHUNK];

	if (!entry_free(entry_of(pid)) || --(*chunk)->used)
		return;
	kfree(*chunk);
	*chunk = NULL;
}

static bool try_pid(pid_t pid, int *err)
{
	struct pid_chunk **chunk = &pid_table[pid / CHUNK];
	struct pid_entry *e;

	if (!*chunk)
		*chunk = kzalloc(sizeof(**chunk));
	if (!*chunk) {
		*err = -ENOMEM;
		return false;
	}
	e = &(*chunk)->entries[pid % CHUNK];
	if (!entry_free(e))
		return false;
	e->taken = true;
	(*chunk)->used++;
	return true;
}

pid_t pid_alloc(pid_t want)
{
	pid_t pid = pid_last;
	int err = -EAGAIN;

	if (want)
		return try_pid(want, &err) ? want : err;
	for (int tries = 0; tries < PID_MAX && err == -EAGAIN; tries++) {
		if (++pid >= PID_MAX)
			pid = PID_RESERVED;
		if (try_pid(pid, &err)) {
			pid_last = pid;
			return pid;
		}
	}
	return err;
}

void pid_free_unused(pid_t pid)
{
	entry_of(pid)->taken = false;
	entry_put(pid);
}

void pid_attach_task(struct task *t)
{
	struct pid_entry *e = entry_of(t->tid);

	e->taken = false;
	e->task = t;
	threads++;
	forks++;
}

void pid_readopt_task(struct task *t)
{
	entry_of(t->tid)->task = t;
	threads++;
}

void pid_detach_task(struct task *t)
{
	entry_of(t->tid)->task = NULL;
	entry_put(t->tid);
	threads--;
}

void pid_attach_process(struct process *p)
{
	entry_of(p->pid)->proc = p;
	process_get(p);
	processes++;
}

void pid_detach_process(struct process *p)
{
	entry_of(p->pid)->proc = NULL;
	entry_put(p->pid);
	processes--;
	process_put(p);
}

void pid_hold(pid_t pid)
{
	if (pid)
		entry_of(pid)->holds++;
}

void pid_release(pid_t pid)
{
	if (pid) {
		entry_of(pid)->holds--;
		entry_put(pid);
	}
}

struct task *task_find(pid_t tid)
{
	struct pid_entry *e = entry_of(tid);

	return e ? e->task : NULL;
}

struct process *process_find(pid_t pid)
{
	struct pid_entry *e = entry_of(pid);

	return e ? e->proc : NULL;
}

struct process *process_next(pid_t pid)
{
	if (pid < 1)
		pid = 1;
	for (; pid < PID_MAX; pid++) {
		if (!pid_table[pid / CHUNK])
			pid |= CHUNK - 1;
		else if (entry_of(pid)->proc)
			return entry_of(pid)->proc;
	}
	return NULL;
}

u32 nr_processes(void)
{
	return processes;
}

u32 nr_threads_total(void)
{
	return threads;
}

u64 nr_forks(void)
{
	return forks;
}

pid_t last_pid(void)
{
	return pid_last;
}

/* --------------------------------------------------------------- objects */

void task_init_common(struct task *t)
{
	t->sleep_timer.fn = sched_sleep_timer;
	t->sleep_timer.cpu = -1;
	t->start_ns = clock_ns();
	perf_task_init(&t->perf, (struct port_task *)t);
}

struct task *task_alloc(void)
{
	struct page *stack;
	struct task *t = kzalloc(sizeof(*t));

	if (!t)
		return NULL;
	stack = page_alloc(__builtin_ctzl(KSTACK_SIZE / PAGE_SIZE));
	if (!stack) {
		kfree(t);
		return NULL;
	}
	t->kstack = page_addr(stack);
	*(u64 *)t->kstack = KSTACK_END;
	t->refs = 1;
	t->state = TASK_UNINTERRUPTIBLE;
	task_init_common(t);
	return t;
}

static void free_stack(struct task *t)
{
	if (t->kstack)
		page_put(phys_to_page(virt_to_phys(t->kstack)));
	t->kstack = NULL;
}

void task_get(struct task *t)
{
	__atomic_fetch_add(&t->refs, 1, __ATOMIC_RELAXED);
}

void task_put(struct task *t)
{
	if (__atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL))
		return;
	free_stack(t);
	if (t->proc)
		process_put(t->proc);
	kfree(t);
}

void task_release_dead(struct task *t)
{
	free_stack(t);
	task_put(t);
}

struct process *process_alloc(void)
{
	struct process *p = kzalloc(sizeof(*p));

	if (!p)
		return NULL;
	p->refs = 1;
	p->start_ns = clock_ns();
	p->dumpable = true;
	p->real_timer.cpu = -1;
	return p;
}

void process_get(struct process *p)
{
	__atomic_fetch_add(&p->refs, 1, __ATOMIC_RELAXED);
}

void process_put(struct process *p)
{
	if (__atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL) == 0)
		kfree(p);
}

/* The new ids are held before the old ones go: one may be the other. */
void process_set_group(struct process *p, pid_t pgrp, pid_t session)
{
	pid_hold(pgrp);
	pid_hold(session);
	pid_release(p->pgrp);
	pid_release(p->session);
	p->pgrp = pgrp;
	p->session = session;
}

void task_set_comm(struct task *t, const char *name)
{
	memset(t->comm, 0, sizeof(t->comm));
	strscpy(t->comm, name, sizeof(t->comm));
	perf_comm(&t->perf, t->comm, false);
}

/* ------------------------------------------------------------ permission */

bool capable(int cap)
{
	return current->cred.cap_effective & BIT(cap);
}

bool in_group(gid_t gid)
{
	const struct cred *c = &current->cred;

	if (c->fsgid == gid)
		return true;
	for (u32 i = 0; i < c->ngroups; i++) {
		if (c->groups[i] == gid)
			return true;
	}
	return false;
}

/* ptrace(2), "Ptrace access mode checking", for PTRACE_MODE_READ_REALCREDS. */
bool ptrace_may_access(struct task *target)
{
	const struct cred *me = &current->cred, *c = &target->cred;

	if (target->proc == current->proc)
		return true;
	if (capable(CAP_SYS_PTRACE))
		return true;
	if (me->uid != c->uid || me->uid != c->euid || me->uid != c->suid)
		return false;
	if (me->gid != c->gid || me->gid != c->egid || me->gid != c->sgid)
		return false;
	return target->proc->dumpable && (c->cap_permitted & ~me->cap_permitted) == 0;
}

u64 rlimit_cur(unsigned resource)
{
	return current->proc->rlim[resource].rlim_cur;
}
