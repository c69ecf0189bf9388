/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pidfd_open(2): a descriptor that stands for a process, whatever becomes of
 * its id. It holds a reference on the process; readable once it has ended.
 */
#include "fs/vfs.h"
#include "proc/internal.h"
#include "proc/pidfd.h"
#include "sys/syscall.h"
#include <asm/poll.h>

#define PIDFD_FLAG_NONBLOCK O_NONBLOCK

static void pidfd_release(struct file *f)
{
	process_put(f->priv);
}

static u32 pidfd_poll(struct file *f, struct poll_table *pt)
{
	struct process *p = f->priv;

	poll_wait(f, &p->exit_wq, pt);
	return p->zombie ? POLLIN : 0;
}

static void pidfd_fdinfo(struct file *f, struct seq *s)
{
	struct process *p = f->priv;
	int pid = p->leader ? p->pid : -1;

	seq_printf(s, "Pid:\t%d\nNSpid:\t%d\n", pid, pid);
}

static const struct file_ops pidfd_ops = {
	.release = pidfd_release,
	.poll = pidfd_poll,
	.show_fdinfo = pidfd_fdinfo,
};

int pidfd_create(struct process *p, u32 flags)
{
	struct file *f = anon_file("[pidfd]", &pidfd_ops, p, O_RDWR | flags);
	int fd;

	if (IS_ERR(f) || !f)
		return f ? (int)PTR_ERR(f) : -ENOMEM;
	process_get(p);
	fd = fd_alloc(f, 0, true);
	if (fd < 0)
		file_put(f);
	return fd;
}

int pidfd_process(int fd, struct process **out)
{
	struct file *f = fd_get(fd);
	int err = -EBADF;

	if (!f)
		return err;
	if (f->ops == &pidfd_ops) {
		*out = f->priv;
		process_get(*out);
		err = 0;
	}
	file_put(f);
	return err;
}

long sys_pidfd_open(const u64 a[6])
{
	pid_t pid = (pid_t)a[0];
	struct process *p;

	if (((u32)a[1] & ~(u32)PIDFD_FLAG_NONBLOCK) || pid <= 0)
		return -EINVAL;
	p = process_find(pid);
	if (!p)
		return task_find(pid) ? -EINVAL : -ESRCH;
	return pidfd_create(p, (u32)a[1]);
}
