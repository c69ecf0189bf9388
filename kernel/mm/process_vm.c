/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process_vm_readv(2), process_vm_writev(2): copies between the caller's memory and another
 * process's, a page at a time.
 */
#include "mm/vm.h"
#include "proc/task.h"
#include "sys/syscall.h"
#include <linux/uio.h>

#define MAX_IOV 1024

struct iov_set {
	struct iovec *v;
	u64 n;
	u64 i, off; /* where we are */
};

static int iov_load(struct iov_set *s, u64 uiov, u64 n)
{
	s->i = s->off = 0;
	s->n = n;
	s->v = NULL;
	if (n > MAX_IOV)
		return -EINVAL;
	if (!n)
		return 0;
	s->v = kmalloc(n * sizeof(*s->v));
	if (!s->v)
		return -ENOMEM;
	if (copy_from_user(s->v, (const void *)uiov, n * sizeof(*s->v))) {
		kfree(s->v);
		return -EFAULT;
	}
	for (u64 i = 0; i < n; i++) {
		if ((s64)s->v[i].iov_len < 0) {
			kfree(s->v);
			return -EINVAL;
		}
	}
	return 0;
}

/* Bytes left in the current element; 0 at the end. */
static u64 iov_left(struct iov_set *s)
{
	while (s->i < s->n && s->off == s->v[s->i].iov_len) {
		s->i++;
		s->off = 0;
	}
	return s->i < s->n ? s->v[s->i].iov_len - s->off : 0;
}

static u64 iov_addr(const struct iov_set *s)
{
	return (u64)s->v[s->i].iov_base + s->off;
}

static ssize_t transfer(struct mm *mm, struct iov_set *local, struct iov_set *remote, char *page,
			bool write)
{
	ssize_t done = 0;

	for (;;) {
		u64 part = MIN(iov_left(local), iov_left(remote));
		ssize_t got;

		part = MIN(part,
			   PAGE_SIZE - (iov_left(remote) ? iov_addr(remote) & ~PAGE_MASK : 0));
		if (!part)
			return done;
		if (write && copy_from_user(page, (const void *)iov_addr(local), part))
			return done ? done : -EFAULT;
		got = vm_access(mm, iov_addr(remote), page, part, write);
		if (got < (ssize_t)part)
			return done ? done : -EFAULT;
		if (!write && copy_to_user((void *)iov_addr(local), page, part))
			return done ? done : -EFAULT;
		local->off += part;
		remote->off += part;
		done += (ssize_t)part;
	}
}

static ssize_t run_transfer(pid_t pid, struct iov_set *local, struct iov_set *remote, bool write)
{
	struct task *t = task_find(pid);
	struct mm *mm;
	char *page;
	ssize_t r;

	if (!t || !t->mm)
		return -ESRCH;
	if (!ptrace_may_access(t))
		return -EPERM;
	page = kmalloc(PAGE_SIZE);
	if (!page)
		return -ENOMEM;
	mm = t->mm;
	mm_get(mm);
	r = transfer(mm, local, remote, page, write);
	mm_put(mm);
	kfree(page);
	return r;
}

static long process_vm_rw(const u64 a[6], bool write)
{
	struct iov_set local, remote;
	ssize_t r;

	if (a[5])
		return -EINVAL;
	r = iov_load(&local, a[1], a[2]);
	if (r)
		return r;
	r = iov_load(&remote, a[3], a[4]);
	if (!r) {
		r = run_transfer((pid_t)a[0], &local, &remote, write);
		kfree(remote.v);
	}
	kfree(local.v);
	return r;
}

long sys_process_vm_readv(const u64 a[6])
{
	return process_vm_rw(a, false);
}

long sys_process_vm_writev(const u64 a[6])
{
	return process_vm_rw(a, true);
}
