/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals up to delivery: handlers, queues, sending, and who is chosen.
 *
 *   sent --> dropped (ignored, or already pending below SIGRTMIN)
 *        \-> pending on a thread or on the process --> dequeued by a thread
 *
 * A thread has to look at its signals when sig_pending is set. Whoever queues
 * something for it, stops it or ends its process sets the flag and then wakes
 * it; only the thread itself clears it, in signal_recalc(), after looking at
 * all the reasons. So a set flag may be stale, but a signal is never missed: a
 * sleeper sets its state before it looks at the flag (see sched.c).
 *
 * A signal to a process is for any thread that does not block it. One is woken;
 * if that one blocks the signal before it gets to it, it passes the news on.
 *
 * All of this is guarded by the big lock.
 */
#include "mm/page.h"
#include "proc/internal.h"
#include "proc/sigsets.h"
#include <linux/capability.h>
#include <utlist.h>

/* --------------------------------------------------------------- handlers */

struct sighand *sighand_create(void)
{
	struct sighand *h = kzalloc(sizeof(*h));

	if (h)
		h->refs = 1;
	return h;
}

struct sighand *sighand_fork(struct sighand *old)
{
	struct sighand *h = sighand_create();

	if (h)
		memcpy(h->action, old->action, sizeof(h->action));
	return h;
}

struct sighand *sighand_get(struct sighand *h)
{
	h->refs++;
	return h;
}

void sighand_put(struct sighand *h)
{
	if (--h->refs == 0)
		kfree(h);
}

void sighand_flush_exec(struct sighand *h)
{
	for (int i = 0; i < _NSIG; i++) {
		struct ksigaction *sa = &h->action[i];

		if (sa->handler != (u64)SIG_IGN)
			sa->handler = (u64)SIG_DFL;
		sa->flags = 0;
		sa->restorer = 0;
		sa->mask = 0;
	}
}

/*
 * The threads of a process share their handlers. NULL: it has no threads left, or is the
 * kernel's.
 */
struct sighand *process_sighand(const struct process *p)
{
	return p->threads ? p->threads->sighand : NULL;
}

/* ----------------------------------------------------------------- queues */

static void free_info(struct process *p, struct ksiginfo *k)
{
	p->nr_sigqueued--;
	kfree(k);
}

void sigqueue_remove(struct process *p, struct sigqueue_set *q, ksigset_t set)
{
	struct ksiginfo *k, *tmp;

	if (!(q->set & set))
		return;
	q->set &= ~set;
	DL_FOREACH_SAFE(q->list, k, tmp) {
		if (set & SIGSET(k->si.si_signo)) {
			DL_DELETE(q->list, k);
			free_info(p, k);
		}
	}
}

void sigqueue_flush(struct process *p, struct sigqueue_set *q)
{
	sigqueue_remove(p, q, ~0ULL);
}

/* A signal nobody can receive any more (ignored from now on), or that its opposite cancels. */
void signal_discard(struct process *p, ksigset_t set)
{
	struct task *t;

	sigqueue_remove(p, &p->pending, set);
	DL_FOREACH2(p->threads, t, thread_next) {
		sigqueue_remove(p, &t->pending, set);
	}
}

/* 0; 1: one of these is pending already and no more are kept; -EAGAIN. */
static int enqueue_signal(struct process *p, struct sigqueue_set *q, int sig, const siginfo_t *info)
{
	struct ksiginfo *k = NULL;

	if (sig < SIGRTMIN && (q->set & SIGSET(sig)))
		return 1;
	if (p->nr_sigqueued < p->rlim[RLIMIT_SIGPENDING].rlim_cur)
		k = kmalloc(sizeof(*k));
	if (!k) {
		/*
		 * sigqueue(3) promises its value or an error; the others arrive without their
		 * details.
		 */
		if (sig >= SIGRTMIN && info && info->si_code != SI_USER)
			return -EAGAIN;
		q->set |= SIGSET(sig);
		return 0;
	}
	if (info) {
		k->si = *info;
	} else {
		memset(&k->si, 0, sizeof(k->si));
		k->si.si_code = SI_KERNEL;
	}
	k->si.si_signo = sig;
	p->nr_sigqueued++;
	DL_APPEND(q->list, k);
	q->set |= SIGSET(sig);
	return 0;
}

/*
 * Takes the next of the signals in `wanted`: faults first, then the lowest number, oldest
 * first. 0: none.
 */
static int take_signal(struct process *p, struct sigqueue_set *q, ksigset_t wanted, siginfo_t *info)
{
	ksigset_t set = q->set & wanted;
	struct ksiginfo *k, *tmp, *first = NULL;
	bool more = false;
	int sig;

	if (!set)
		return 0;
	if (set & SIG_SYNCHRONOUS)
		set &= SIG_SYNCHRONOUS;
	sig = __builtin_ctzll(set) + 1;
	DL_FOREACH_SAFE(q->list, k, tmp) {
		if (k->si.si_signo != sig)
			continue;
		if (first) {
			more = true;
			break;
		}
		first = k;
	}
	if (!more)
		q->set &= ~SIGSET(sig);
	if (first) {
		*info = first->si;
		DL_DELETE(q->list, first);
		free_info(p, first);
	} else {
		memset(info, 0, sizeof(*info));
		info->si_signo = sig;
	}
	return sig;
}

int dequeue_signal(ksigset_t blocked, siginfo_t *info)
{
	struct task *t = current;
	int sig = take_signal(t->proc, &t->pending, ~blocked, info);

	if (!sig)
		sig = take_signal(t->proc, &t->proc->pending, ~blocked, info);
	if (sig && info->si_code == SI_TIMER)
		posix_timer_dequeued(t->proc, info);
	return sig;
}

/* ----------------------------------------------------------- asking about */

bool signal_pending(const struct task *t)
{
	return READ_ONCE(t->sig_pending);
}

bool fatal_signal_pending(const struct task *t)
{
	const struct process *p = t->proc;

	return p->group_exit || (p->exec_task && p->exec_task != t);
}

void signal_recalc(void)
{
	struct task *t = current;

	t->sig_pending = ((t->pending.set | t->proc->pending.set) & ~t->blocked) ||
			 t->stop_pending || fatal_signal_pending(t);
}

static bool is_ignored(const struct sighand *h, int sig)
{
	u64 handler = h->action[sig - 1].handler;

	return handler == (u64)SIG_IGN ||
	       (handler == (u64)SIG_DFL && (SIGSET(sig) & SIG_DEFAULT_IGNORE));
}

bool signal_blocked_or_ignored(const struct task *t, int sig)
{
	return (t->blocked & SIGSET(sig)) || t->sighand->action[sig - 1].handler == (u64)SIG_IGN;
}

bool may_signal(const struct task *t, int sig)
{
	const struct cred *me = &current->cred, *c = &t->cred;

	if (t->proc == current->proc || capable(CAP_KILL))
		return true;
	if (me->euid == c->suid || me->euid == c->uid || me->uid == c->suid || me->uid == c->uid)
		return true;
	return sig == SIGCONT && t->proc->session == current->proc->session;
}

bool pgrp_in_session(pid_t pgrp, pid_t session)
{
	struct process *p = NULL;

	while ((p = process_next(p ? p->pid + 1 : 1))) {
		if (p->pgrp == pgrp && p->session == session && !p->zombie)
			return true;
	}
	return false;
}

bool pgrp_is_orphaned(pid_t pgrp)
{
	struct process *p = NULL;

	while ((p = process_next(p ? p->pid + 1 : 1))) {
		const struct process *parent = p->parent;

		if (p->pgrp != pgrp || p->zombie || !parent || parent->pid == 1)
			continue;
		if (parent->pgrp != pgrp && parent->session == p->session)
			return false;
	}
	return true;
}

/* ---------------------------------------------------------------- sending */

/*
 * Makes the thread look: wakes it if it sleeps interruptibly, interrupts it if it runs
 * elsewhere.
 */
static void prod_thread(struct task *t, u32 states)
{
	int cpu;

	WRITE_ONCE(t->sig_pending, true);
	if (t == current || wake_task(t, states))
		return;
	cpu = task_running_on(t);
	if (cpu >= 0)
		smp_send_reschedule((unsigned)cpu);
}

void signal_prod(struct task *t)
{
	prod_thread(t, BIT(TASK_INTERRUPTIBLE));
}

void kill_thread(struct task *t)
{
	prod_thread(t, WAKE_NORMAL | BIT(TASK_STOPPED));
}

static void kill_process(struct process *p, int sig)
{
	struct task *t;

	if (p->group_exit)
		return;
	p->group_exit = true;
	p->group_exit_code = sig;
	DL_FOREACH2(p->threads, t, thread_next) {
		kill_thread(t);
	}
}

static bool wants_signal(const struct task *t, int sig)
{
	return !t->exiting && !(t->blocked & SIGSET(sig)) && t->state != TASK_STOPPED;
}

/*
 * A thread that can take a process's signal: the first one, else one with nothing else to do,
 * else any.
 */
static struct task *choose_thread(struct process *p, int sig)
{
	struct task *t, *busy = NULL;

	DL_FOREACH2(p->threads, t, thread_next) {
		if (!wants_signal(t, sig))
			continue;
		if (!t->sig_pending)
			return t;
		if (!busy)
			busy = t;
	}
	return busy;
}

/*
 * Would the signal be thrown away at once? A blocked one is kept: it may be handled when it is
 * unblocked.
 */
static bool is_dropped(const struct process *p, const struct task *t, int sig)
{
	if (p->is_kthread)
		return true;
	if (p->pid == 1 && t->sighand->action[sig - 1].handler == (u64)SIG_DFL)
		return true; /* init gets only what it asked for */
	return !(t->blocked & SIGSET(sig)) && is_ignored(t->sighand, sig);
}

/* To thread t, or (t NULL) to the process. */
static int send(struct process *p, struct task *t, int sig, const siginfo_t *info)
{
	struct task *witness = t ? t : p->threads;
	int err;

	if (!witness || (t && t->exiting) || sig < 1 || sig > _NSIG)
		return 0;
	signal_stop_effects(p, sig);
	if (is_dropped(p, witness, sig))
		return 0;
	if (sig == SIGKILL) {
		kill_process(p, SIGKILL);
		return 0;
	}
	err = enqueue_signal(p, t ? &t->pending : &p->pending, sig, info);
	if (err)
		return err < 0 ? err : 0;
	wake_up(&witness->sighand->wq);
	if (t)
		t = wants_signal(t, sig) ? t : NULL;
	else
		t = choose_thread(p, sig);
	if (t)
		signal_prod(t);
	return 0;
}

int send_signal_task(struct task *t, int sig, const siginfo_t *info)
{
	return send(t->proc, t, sig, info);
}

int send_signal_process(struct process *p, int sig, const siginfo_t *info)
{
	return send(p, NULL, sig, info);
}

int send_signal_pgrp(pid_t pgrp, int sig, const siginfo_t *info)
{
	struct process *p = NULL;
	int result = -ESRCH;

	while ((p = process_next(p ? p->pid + 1 : 1))) {
		int err;

		if (p->pgrp != pgrp)
			continue;
		err = send(p, NULL, sig, info);
		if (result == -ESRCH || err == 0)
			result = err;
	}
	return result;
}

void force_signal(struct task *t, int sig, int code, u64 addr)
{
	struct ksigaction *sa = &t->sighand->action[sig - 1];
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = sig;
	info.si_code = code;
	info.si_addr = (void *)addr;
	if (sig == SIGKILL) {
		kill_process(t->proc, sig);
		return;
	}
	if ((t->blocked & SIGSET(sig)) || sa->handler == (u64)SIG_IGN) {
		sa->handler = (u64)SIG_DFL;
		t->blocked &= ~SIGSET(sig);
	}
	if (enqueue_signal(t->proc, &t->pending, sig, &info) < 0)
		t->pending.set |= SIGSET(sig);
	signal_prod(t);
}

/* ------------------------------------------------------------------ masks */

void set_blocked(ksigset_t mask)
{
	struct task *t = current, *other;
	struct process *p = t->proc;
	ksigset_t newly = (mask & ~t->blocked) & p->pending.set;

	t->blocked = mask & ~SIG_UNBLOCKABLE;
	signal_recalc();
	if (!newly)
		return;
	/* One of these may have been left to us: somebody else is to take it. */
	DL_FOREACH2(p->threads, other, thread_next) {
		if (other != t && !other->exiting && (newly & ~other->blocked))
			signal_prod(other);
	}
}

void sigmask_set_temporary(ksigset_t mask)
{
	struct task *t = current;

	t->saved_blocked = t->blocked;
	t->restore_blocked = true;
	set_blocked(mask);
}

void sigmask_end_temporary(bool interrupted)
{
	struct task *t = current;

	if (!t->restore_blocked || interrupted)
		return;
	t->restore_blocked = false;
	set_blocked(t->saved_blocked);
}
