/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Credentials: user and group ids, supplementary groups, capabilities
 * (credentials(7), capabilities(7)). They belong to the thread; libraries make
 * changes in all threads of a process, as on Linux.
 */
#include "proc/internal.h"
#include "sys/syscall.h"
#include <linux/capability.h>
#include <linux/securebits.h>

#define KEEP 0xffffffffu /* an argument that leaves the id as it is */

long sys_getuid(const u64 a[6])
{
	(void)a;
	return current->cred.uid;
}

long sys_geteuid(const u64 a[6])
{
	(void)a;
	return current->cred.euid;
}

long sys_getgid(const u64 a[6])
{
	(void)a;
	return current->cred.gid;
}

long sys_getegid(const u64 a[6])
{
	(void)a;
	return current->cred.egid;
}

static int put_three(const u64 a[6], u32 x, u32 y, u32 z)
{
	if (put_user(x, (u32 *)a[0]) || put_user(y, (u32 *)a[1]) || put_user(z, (u32 *)a[2]))
		return -EFAULT;
	return 0;
}

long sys_getresuid(const u64 a[6])
{
	const struct cred *c = &current->cred;

	return put_three(a, c->uid, c->euid, c->suid);
}

long sys_getresgid(const u64 a[6])
{
	const struct cred *c = &current->cred;

	return put_three(a, c->gid, c->egid, c->sgid);
}

/* capabilities(7), "Effect of user ID changes on capabilities". */
static void fix_capabilities(struct cred *c, const struct cred *old)
{
	bool was_root = !old->uid || !old->euid || !old->suid;
	bool is_root = !c->uid || !c->euid || !c->suid;

	if (c->securebits & SECBIT_NO_SETUID_FIXUP)
		return;
	if (was_root && !is_root) {
		if (!c->keep_caps)
			c->cap_permitted = c->cap_effective = 0;
		c->cap_ambient = 0;
	}
	if (!old->euid && c->euid)
		c->cap_effective = 0;
	if (old->euid && !c->euid)
		c->cap_effective = c->cap_permitted;
}

/* A change of the effective ids makes the process private to its new self (PR_SET_DUMPABLE). */
static void commit_cred(const struct cred *c)
{
	struct cred *now = &current->cred;

	if (c->euid != now->euid || c->egid != now->egid || c->fsuid != now->fsuid ||
	    c->fsgid != now->fsgid) {
		current->proc->dumpable = false;
		current->pdeath_signal = 0;
	}
	*now = *c;
}

static void commit_uids(struct cred *c)
{
	c->fsuid = c->euid;
	fix_capabilities(c, &current->cred);
	commit_cred(c);
}

static void commit_gids(struct cred *c)
{
	c->fsgid = c->egid;
	commit_cred(c);
}

long sys_setuid(const u64 a[6])
{
	struct cred c = current->cred;
	uid_t uid = (uid_t)a[0];

	if (uid == KEEP)
		return -EINVAL;
	if (capable(CAP_SETUID))
		c.uid = c.euid = c.suid = uid;
	else if (uid == c.uid || uid == c.suid)
		c.euid = uid;
	else
		return -EPERM;
	commit_uids(&c);
	return 0;
}

long sys_setgid(const u64 a[6])
{
	struct cred c = current->cred;
	gid_t gid = (gid_t)a[0];

	if (gid == KEEP)
		return -EINVAL;
	if (capable(CAP_SETGID))
		c.gid = c.egid = c.sgid = gid;
	else if (gid == c.gid || gid == c.sgid)
		c.egid = gid;
	else
		return -EPERM;
	commit_gids(&c);
	return 0;
}

long sys_setreuid(const u64 a[6])
{
	struct cred c = current->cred, old = c;
	uid_t ruid = (uid_t)a[0], euid = (uid_t)a[1];
	bool may = capable(CAP_SETUID);

	if (ruid != KEEP) {
		if (!may && ruid != old.uid && ruid != old.euid)
			return -EPERM;
		c.uid = ruid;
	}
	if (euid != KEEP) {
		if (!may && euid != old.uid && euid != old.euid && euid != old.suid)
			return -EPERM;
		c.euid = euid;
	}
	if (ruid != KEEP || (euid != KEEP && euid != old.uid))
		c.suid = c.euid;
	commit_uids(&c);
	return 0;
}

long sys_setregid(const u64 a[6])
{
	struct cred c = current->cred, old = c;
	gid_t rgid = (gid_t)a[0], egid = (gid_t)a[1];
	bool may = capable(CAP_SETGID);

	if (rgid != KEEP) {
		if (!may && rgid != old.gid && rgid != old.egid)
			return -EPERM;
		c.gid = rgid;
	}
	if (egid != KEEP) {
		if (!may && egid != old.gid && egid != old.egid && egid != old.sgid)
			return -EPERM;
		c.egid = egid;
	}
	if (rgid != KEEP || (egid != KEEP && egid != old.gid))
		c.sgid = c.egid;
	commit_gids(&c);
	return 0;
}

/* Without the capability each of the three may become any of the old three. */
static bool one_of(u32 id, u32 x, u32 y, u32 z)
{
	return id == KEEP || id == x || id == y || id == z;
}

long sys_setresuid(const u64 a[6])
{
	struct cred c = current->cred;
	uid_t ids[3] = {(uid_t)a[0], (uid_t)a[1], (uid_t)a[2]};

	for (int i = 0; i < 3; i++) {
		if (!capable(CAP_SETUID) && !one_of(ids[i], c.uid, c.euid, c.suid))
			return -EPERM;
	}
	c.uid = ids[0] == KEEP ? c.uid : ids[0];
	c.euid = ids[1] == KEEP ? c.euid : ids[1];
	c.suid = ids[2] == KEEP ? c.suid : ids[2];
	commit_uids(&c);
	return 0;
}

long sys_setresgid(const u64 a[6])
{
	struct cred c = current->cred;
	gid_t ids[3] = {(gid_t)a[0], (gid_t)a[1], (gid_t)a[2]};

	for (int i = 0; i < 3; i++) {
		if (!capable(CAP_SETGID) && !one_of(ids[i], c.gid, c.egid, c.sgid))
			return -EPERM;
	}
	c.gid = ids[0] == KEEP ? c.gid : ids[0];
	c.egid = ids[1] == KEEP ? c.egid : ids[1];
	c.sgid = ids[2] == KEEP ? c.sgid : ids[2];
	commit_gids(&c);
	return 0;
}

/* setfsuid(2), setfsgid(2): no errors; both return the old id. */
long sys_setfsuid(const u64 a[6])
{
	struct cred c = current->cred;
	uid_t uid = (uid_t)a[0], old = c.fsuid;

	if (uid != KEEP &&
	    (capable(CAP_SETUID) || one_of(uid, c.uid, c.euid, c.suid) || uid == old)) {
		c.fsuid = uid;
		commit_cred(&c);
	}
	return old;
}

long sys_setfsgid(const u64 a[6])
{
	struct cred c = current->cred;
	gid_t gid = (gid_t)a[0], old = c.fsgid;

	if (gid != KEEP &&
	    (capable(CAP_SETGID) || one_of(gid, c.gid, c.egid, c.sgid) || gid == old)) {
		c.fsgid = gid;
		commit_cred(&c);
	}
	return old;
}

long sys_getgroups(const u64 a[6])
{
	const struct cred *c = &current->cred;
	int size = (int)a[0];

	if (size < 0)
		return -EINVAL;
	if (size == 0)
		return c->ngroups;
	if ((u32)size < c->ngroups)
		return -EINVAL;
	if (copy_to_user((void *)a[1], c->groups, c->ngroups * sizeof(gid_t)))
		return -EFAULT;
	return c->ngroups;
}

long sys_setgroups(const u64 a[6])
{
	struct cred c = current->cred;

	if (!capable(CAP_SETGID))
		return -EPERM;
	if ((u32)a[0] > ARRAY_SIZE(c.groups))
		return -EINVAL;
	if (copy_from_user(c.groups, (void *)a[1], (u32)a[0] * sizeof(gid_t)))
		return -EFAULT;
	c.ngroups = (u32)a[0];
	commit_cred(&c);
	return 0;
}

/* ----------------------------------------------------------- capabilities */

/*
 * Words per set for the version in the header; an unknown one is answered with the one that is
 * preferred.
 */
static int cap_words(u64 uheader, struct __user_cap_header_struct *h, u64 udata)
{
	if (copy_from_user(h, (void *)uheader, sizeof(*h)))
		return -EFAULT;
	switch (h->version) {
	case _LINUX_CAPABILITY_VERSION_1:
		return _LINUX_CAPABILITY_U32S_1;
	case _LINUX_CAPABILITY_VERSION_2:
	case _LINUX_CAPABILITY_VERSION_3:
		return _LINUX_CAPABILITY_U32S_3;
	default:
		if (put_user((u32)_LINUX_CAPABILITY_VERSION_3, (u32 *)uheader))
			return -EFAULT;
		return udata ? -EINVAL : 0;
	}
}

long sys_capget(const u64 a[6])
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	struct __user_cap_header_struct h;
	const struct task *t;
	int words = cap_words(a[0], &h, a[1]);

	if (words <= 0)
		return words;
	if (h.pid < 0)
		return -EINVAL;
	t = h.pid ? task_find(h.pid) : current;
	if (!t)
		return -ESRCH;
	if (!a[1])
		return 0;
	for (int i = 0; i < words; i++) {
		data[i].effective = (u32)(t->cred.cap_effective >> (32 * i));
		data[i].permitted = (u32)(t->cred.cap_permitted >> (32 * i));
		data[i].inheritable = (u32)(t->cred.cap_inheritable >> (32 * i));
	}
	return copy_to_user((void *)a[1], data, (size_t)words * sizeof(data[0]));
}

static bool subset(u64 part, u64 whole)
{
	return (part & ~whole) == 0;
}

/*
 * capset(2): nothing that is not permitted already; inheritable also from the bounding set
 * with CAP_SETPCAP.
 */
long sys_capset(const u64 a[6])
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	struct __user_cap_header_struct h;
	struct cred c = current->cred;
	u64 e = 0, p = 0, i = 0;
	int words = cap_words(a[0], &h, a[1]);

	if (words < 0)
		return words;
	if (words == 0)
		return -EINVAL;
	if (h.pid && h.pid != current->tid)
		return -EPERM;
	if (copy_from_user(data, (void *)a[1], (size_t)words * sizeof(data[0])))
		return -EFAULT;
	for (int n = 0; n < words; n++) {
		e |= (u64)data[n].effective << (32 * n);
		p |= (u64)data[n].permitted << (32 * n);
		i |= (u64)data[n].inheritable << (32 * n);
	}
	if (!capable(CAP_SETPCAP) && !subset(i, c.cap_inheritable | c.cap_permitted))
		return -EPERM;
	if (!subset(i, c.cap_inheritable | c.cap_bounding))
		return -EPERM;
	if (!subset(p, c.cap_permitted) || !subset(e, p))
		return -EPERM;
	c.cap_effective = e & CAP_ALL;
	c.cap_permitted = p & CAP_ALL;
	c.cap_inheritable = i & CAP_ALL;
	c.cap_ambient &= c.cap_permitted & c.cap_inheritable;
	commit_cred(&c);
	return 0;
}
