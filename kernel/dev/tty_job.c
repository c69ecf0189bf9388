/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Job control: controlling terminals, sessions, foreground and background
 * process groups (credentials(7), ioctl_tty(2), setpgid(2)).
 *
 * A process points to its controlling terminal (process.tty) without owning
 * it; who ends a terminal or a session clears the pointers first.
 */
#include "dev/tty.h"
#include "proc/task.h"
#include <linux/capability.h>

/* Calls fn for each process; fn may not sleep. */
#define for_each_process(p) for ((p) = process_next(1); (p); (p) = process_next((p)->pid + 1))

int tty_check_background(struct tty *t, int sig)
{
	struct process *p = current->proc;

	if (p->tty != t || t->pgrp == 0 || p->pgrp == t->pgrp)
		return 0;
	if (signal_blocked_or_ignored(current, sig))
		return sig == SIGTTIN ? -EIO : 0;
	if (pgrp_is_orphaned(p->pgrp))
		return -EIO;
	send_signal_pgrp(p->pgrp, sig, NULL);
	return -ERESTARTSYS;
}

void tty_signal_foreground(struct tty *t, int sig)
{
	if (t->pgrp)
		send_signal_pgrp(t->pgrp, sig, NULL);
}

void tty_clear_references(struct tty *t)
{
	struct process *p;

	for_each_process(p)
		if (p->tty == t)
			p->tty = NULL;
}

void tty_session_hangup(struct tty *t)
{
	struct process *leader = t->session ? process_find(t->session) : NULL;

	if (leader) {
		send_signal_process(leader, SIGHUP, NULL);
		send_signal_process(leader, SIGCONT, NULL);
	}
	if (t->pgrp && t->pgrp != t->session) {
		send_signal_pgrp(t->pgrp, SIGHUP, NULL);
		send_signal_pgrp(t->pgrp, SIGCONT, NULL);
	}
	tty_clear_references(t);
	t->session = t->pgrp = 0;
}

static void take(struct tty *t)
{
	struct process *p = current->proc;

	t->session = p->session;
	t->pgrp = p->pgrp;
	p->tty = t;
}

void tty_maybe_controlling(struct tty *t)
{
	struct process *p = current->proc;

	if (p->session == p->pid && !p->tty && t->session == 0)
		take(t);
}

int tty_become_controlling(struct tty *t, bool steal)
{
	struct process *p = current->proc;

	if (p->session == p->pid && t->session == p->session)
		return 0;
	if (p->session != p->pid || p->tty)
		return -EPERM;
	if (t->session) {
		if (!steal || !capable(CAP_SYS_ADMIN))
			return -EPERM;
		tty_clear_references(t);
	}
	take(t);
	return 0;
}

static void end_session(struct process *leader, struct tty *t, bool exiting)
{
	pid_t pgrp = t->pgrp;

	if (exiting && !t->is_pty) {
		tty_hangup(t);
		return;
	}
	tty_clear_references(t);
	t->session = t->pgrp = 0;
	leader->tty = NULL;
	if (!pgrp)
		return;
	send_signal_pgrp(pgrp, SIGHUP, NULL);
	if (!exiting)
		send_signal_pgrp(pgrp, SIGCONT, NULL);
}

void tty_give_up(struct process *p)
{
	struct tty *t = p->tty;

	if (t && p->session == p->pid && t->session == p->session)
		end_session(p, t, false);
	else
		p->tty = NULL;
}

void tty_session_exit(struct process *leader)
{
	struct tty *t = leader->tty;

	if (t && leader->session == leader->pid && t->session == leader->session)
		end_session(leader, t, true);
}

static long set_foreground(struct tty *t, bool master, const void *uarg)
{
	struct process *p = current->proc;
	pid_t pgrp;
	int err;

	if (!master) {
		err = tty_check_background(t, SIGTTOU);
		if (err)
			return err;
	}
	if (p->tty != t || t->session != p->session)
		return -ENOTTY;
	if (get_user(pgrp, uarg))
		return -EFAULT;
	if (pgrp < 0)
		return -EINVAL;
	if (!pgrp_in_session(pgrp, p->session)) {
		struct process *other;

		for_each_process(other)
			if (other->pgrp == pgrp)
				return -EPERM;
		return -ESRCH;
	}
	t->pgrp = pgrp;
	return 0;
}

long tty_job_ioctl(struct tty *t, bool master, unsigned cmd, unsigned long arg)
{
	struct process *p = current->proc;

	switch (cmd) {
	case TIOCSCTTY:
		return master ? -EIO : tty_become_controlling(t, arg == 1);
	case TIOCNOTTY:
		if (p->tty != t)
			return -ENOTTY;
		tty_give_up(p);
		return 0;
	case TIOCGPGRP:
		if (!master && p->tty != t)
			return -ENOTTY;
		return put_user(t->pgrp, (pid_t *)arg);
	case TIOCSPGRP:
		return set_foreground(t, master, (const void *)arg);
	case TIOCGSID:
		if ((!master && p->tty != t) || !t->session)
			return -ENOTTY;
		return put_user(t->session, (pid_t *)arg);
	}
	return -ENOIOCTLCMD;
}
