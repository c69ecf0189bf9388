/* SPDX-License-Identifier: BSD-2-Clause */
/* prctl(2): the options that programs use; all others are EINVAL. */
#include "mm/vm.h"
#include "proc/internal.h"
#include "sys/syscall.h"
#include <linux/prctl.h>
#include <linux/securebits.h>

static long set_name(u64 uaddr)
{
	char name[16];
	ssize_t n = strncpy_from_user(name, (char *)uaddr, sizeof(name));

	if (n == -EFAULT)
		return n;
	name[sizeof(name) - 1] = '\0'; /* a longer one is cut */
	task_set_comm(current, name);
	return 0;
}

static long change_bounding(u64 cap, bool drop)
{
	struct cred *c = &current->cred;

	if (cap > CAP_LAST_CAP)
		return -EINVAL;
	if (!drop)
		return !!(c->cap_bounding & BIT(cap));
	if (!capable(CAP_SETPCAP))
		return -EPERM;
	c->cap_bounding &= ~BIT(cap);
	return 0;
}

static long ambient(const u64 a[6])
{
	struct cred *c = &current->cred;
	u64 cap = a[2];

	if (a[3] || a[4])
		return -EINVAL;
	if (a[1] == PR_CAP_AMBIENT_CLEAR_ALL) {
		if (cap)
			return -EINVAL;
		c->cap_ambient = 0;
		return 0;
	}
	if (cap > CAP_LAST_CAP)
		return -EINVAL;
	switch (a[1]) {
	case PR_CAP_AMBIENT_IS_SET:
		return !!(c->cap_ambient & BIT(cap));
	case PR_CAP_AMBIENT_LOWER:
		c->cap_ambient &= ~BIT(cap);
		return 0;
	case PR_CAP_AMBIENT_RAISE:
		if (!(c->cap_permitted & c->cap_inheritable & BIT(cap)) ||
		    (c->securebits & SECBIT_NO_CAP_AMBIENT_RAISE))
			return -EPERM;
		c->cap_ambient |= BIT(cap);
		return 0;
	default:
		return -EINVAL;
	}
}

static long no_new_privs(const u64 a[6], bool set)
{
	if (a[2] || a[3] || a[4] || a[1] != (set ? 1 : 0))
		return -EINVAL;
	if (set)
		current->cred.no_new_privs = true;
	return set ? 0 : current->cred.no_new_privs;
}

static long set_dumpable(u64 value)
{
	if (value > 1)
		return -EINVAL;
	current->proc->dumpable = value;
	return 0;
}

static long set_pdeath_signal(u64 sig)
{
	if (sig > _NSIG)
		return -EINVAL;
	current->pdeath_signal = (int)sig;
	return 0;
}

static long capability_option(const u64 a[6])
{
	struct cred *c = &current->cred;

	switch ((int)a[0]) {
	case PR_CAPBSET_READ:
		return change_bounding(a[1], false);
	case PR_CAPBSET_DROP:
		return change_bounding(a[1], true);
	case PR_CAP_AMBIENT:
		return ambient(a);
	case PR_GET_KEEPCAPS:
		return c->keep_caps;
	case PR_SET_KEEPCAPS:
		if (a[1] > 1)
			return -EINVAL;
		if (c->securebits & SECBIT_KEEP_CAPS_LOCKED)
			return -EPERM;
		c->keep_caps = a[1];
		return 0;
	case PR_GET_SECUREBITS:
		return c->securebits | (c->keep_caps ? SECBIT_KEEP_CAPS : 0);
	default:
		return -EINVAL;
	}
}

long sys_prctl(const u64 a[6])
{
	struct task *t = current;

	switch ((int)a[0]) {
	case PR_SET_NAME:
		return set_name(a[1]);
	case PR_GET_NAME:
		return copy_to_user((void *)a[1], t->comm, sizeof(t->comm));
	case PR_SET_PDEATHSIG:
		return set_pdeath_signal(a[1]);
	case PR_GET_PDEATHSIG:
		return put_user(t->pdeath_signal, (int *)a[1]);
	case PR_SET_DUMPABLE:
		return set_dumpable(a[1]);
	case PR_GET_DUMPABLE:
		return t->proc->dumpable;
	case PR_SET_CHILD_SUBREAPER:
		t->proc->child_subreaper = a[1] != 0;
		return 0;
	case PR_GET_CHILD_SUBREAPER:
		return put_user((int)t->proc->child_subreaper, (int *)a[1]);
	case PR_SET_TIMERSLACK:
		t->timer_slack = a[1] ? a[1] : 50000;
		return 0;
	case PR_GET_TIMERSLACK:
		return (long)t->timer_slack;
	case PR_SET_NO_NEW_PRIVS:
		return no_new_privs(a, true);
	case PR_GET_NO_NEW_PRIVS:
		return no_new_privs(a, false);
	case PR_TASK_PERF_EVENTS_ENABLE:
	case PR_TASK_PERF_EVENTS_DISABLE:
		perf_prctl_events((int)a[0] == PR_TASK_PERF_EVENTS_ENABLE);
		return 0;
	case PR_GET_TID_ADDRESS:
		return put_user(t->clear_child_tid, (u64 *)a[1]);
	default:
		return capability_option(a);
	}
}
