/* SPDX-License-Identifier: BSD-2-Clause */
/* fcntl(2) and ioctl(2): what is asked of a descriptor or an open file rather than of its bytes. */
#include "fs/pipe.h"
#include "sys/syscall.h"
#include <asm/ioctls.h>
#include <linux/capability.h>
#include <linux/memfd.h>
#include <linux/poll.h>

/* ---- O_ASYNC and its owner ---- */

void file_set_owner(struct file *f, int type, int pid)
{
	f->owner_type = type;
	f->owner_pid = pid;
}

void file_send_sigio(struct file *f, int band)
{
	int sig = f->owner_sig ? f->owner_sig : SIGIO;
	int code = band & POLLHUP ? POLL_HUP : POLL_IN;
	siginfo_t si = {.si_signo = sig, .si_code = f->owner_sig ? code : SI_KERNEL};
	struct process *p;
	struct task *t;

	si.si_band = band;
	si.si_fd = f->owner_fd;
	if (!f->owner_pid)
		return;
	if (f->owner_type == F_OWNER_TID) {
		t = task_find(f->owner_pid);
		if (t)
			send_signal_task(t, sig, &si);
	} else if (f->owner_type == F_OWNER_PGRP) {
		send_signal_pgrp(f->owner_pid, sig, &si);
	} else {
		p = process_find(f->owner_pid);
		if (p)
			send_signal_process(p, sig, &si);
	}
}

static bool pgrp_exists(pid_t pgrp)
{
	struct process *p;

	for (p = process_next(0); p; p = process_next(p->pid + 1))
		if (p->pgrp == pgrp)
			return true;
	return false;
}

static long set_owner(struct file *f, int type, int pid)
{
	if (pid == 0)
		type = F_OWNER_PID;
	else if (type == F_OWNER_TID   ? !task_find(pid)
		 : type == F_OWNER_PID ? !process_find(pid)
				       : !pgrp_exists(pid))
		return -ESRCH;
	file_set_owner(f, type, pid);
	return 0;
}

static long owner_ex(struct file *f, unsigned cmd, void *uptr)
{
	struct f_owner_ex o;

	if (cmd == F_GETOWN_EX) {
		o.type = f->owner_pid ? f->owner_type : F_OWNER_TID;
		o.pid = f->owner_pid;
		return copy_to_user(uptr, &o, sizeof(o));
	}
	if (copy_from_user(&o, uptr, sizeof(o)))
		return -EFAULT;
	if (o.type != F_OWNER_TID && o.type != F_OWNER_PID && o.type != F_OWNER_PGRP)
		return -EINVAL;
	return set_owner(f, o.type, o.pid);
}

static long owner(struct file *f, unsigned cmd, unsigned long arg)
{
	int who = (int)arg;

	switch (cmd) {
	case F_SETOWN:
		if (who == (-2147483647 - 1))
			return -EINVAL;
		return set_owner(f, who < 0 ? F_OWNER_PGRP : F_OWNER_PID, who < 0 ? -who : who);
	case F_GETOWN:
		return f->owner_type == F_OWNER_PGRP ? -f->owner_pid : f->owner_pid;
	case F_SETSIG:
		if (arg >= _NSIG + 1)
			return -EINVAL;
		f->owner_sig = who;
		return 0;
	case F_GETSIG:
		return f->owner_sig;
	default:
		return owner_ex(f, cmd, (void *)arg);
	}
}

/* ---- flags ---- */

#define O_SETTABLE (O_APPEND | O_NONBLOCK | FASYNC | O_DIRECT | O_NOATIME)

static long set_flags(struct file *f, int fd, u32 flags)
{
	u32 changed = (f->flags ^ flags) & O_SETTABLE;

	if ((changed & flags & O_NOATIME) && !inode_owner_ok(f->inode))
		return -EPERM;
	if ((changed & flags & O_DIRECT) && S_ISREG(f->inode->mode))
		return -EINVAL;
	/* as on Linux, the flag stays off where no signal would ever come */
	if ((changed & FASYNC) && f->ops->fasync) {
		f->owner_fd = fd;
		f->flags ^= FASYNC;
		f->ops->fasync(f, flags & FASYNC);
	}
	changed &= ~(u32)FASYNC;
	f->flags ^= changed;
	return 0;
}

/* ---- seals of a memfd ---- */

#define F_ALL_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)

static long seals(struct file *f, unsigned cmd, unsigned long arg)
{
	u32 *s;

	if (tmpfs_seals(f->inode, &s))
		return -EINVAL;
	if (cmd == F_GET_SEALS)
		return *s;
	if (!file_can_write(f) || (*s & F_SEAL_SEAL))
		return -EPERM;
	if (arg & ~(unsigned long)F_ALL_SEALS)
		return -EINVAL;
	/* a mapping holds the file besides the descriptors: one that may write cannot be told from others */
	if ((arg & F_SEAL_WRITE) && tmpfs_writable_maps(f->inode))
		return -EBUSY;
	*s |= (u32)arg;
	return 0;
}

static long pipe_size(struct file *f, unsigned cmd, unsigned long arg)
{
	struct pipe *p = file_pipe(f);

	if (!p)
		return -EBADF;
	return cmd == F_GETPIPE_SZ ? (long)p->cap : pipe_set_size(p, (u32)arg);
}

static long dup_from(struct file *f, unsigned long min, bool cloexec)
{
	int fd;

	if (min >= current_rlimit(RLIMIT_NOFILE))
		return -EINVAL;
	file_get(f);
	fd = fd_alloc(f, (int)min, cloexec);
	if (fd < 0)
		file_put(f);
	return fd;
}

static long do_fcntl(struct file *f, int fd, unsigned cmd, unsigned long arg)
{
	switch (cmd) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return dup_from(f, arg, cmd == F_DUPFD_CLOEXEC);
	case F_GETFD:
		return *fd_cloexec(fd) ? FD_CLOEXEC : 0;
	case F_SETFD:
		*fd_cloexec(fd) = arg & FD_CLOEXEC;
		return 0;
	case F_GETFL:
		return f->flags;
	}
	if (f->flags & O_PATH)
		return -EBADF;
	switch (cmd) {
	case F_SETFL:
		return set_flags(f, fd, (u32)arg);
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		return fcntl_lock(f, cmd, arg);
	case F_SETOWN:
	case F_GETOWN:
	case F_SETSIG:
	case F_GETSIG:
	case F_SETOWN_EX:
	case F_GETOWN_EX:
		return owner(f, cmd, arg);
	case F_GETPIPE_SZ:
	case F_SETPIPE_SZ:
		return pipe_size(f, cmd, arg);
	case F_GET_SEALS:
	case F_ADD_SEALS:
		return seals(f, cmd, arg);
	default:
		return -EINVAL;
	}
}

long sys_fcntl(const u64 a[6])
{
	struct file *f = fd_get_raw((int)a[0]);
	long ret;

	if (!f)
		return -EBADF;
	ret = do_fcntl(f, (int)a[0], (unsigned)a[1], a[2]);
	file_put(f);
	return ret;
}

/* ---- ioctl: those that mean the same for every file; the rest is the file's own ---- */

static long set_flag_ioctl(struct file *f, int fd, u32 flag, const int *uarg)
{
	int on;

	if (get_user(on, uarg))
		return -EFAULT;
	return set_flags(f, fd, on ? f->flags | flag : f->flags & ~flag);
}

static long do_ioctl(struct file *f, int fd, unsigned cmd, unsigned long arg)
{
	switch (cmd) {
	case FIOCLEX:
		*fd_cloexec(fd) = true;
		return 0;
	case FIONCLEX:
		*fd_cloexec(fd) = false;
		return 0;
	case FIONBIO:
		return set_flag_ioctl(f, fd, O_NONBLOCK, (const int *)arg);
	case FIOASYNC:
		if (!f->ops->fasync)
			return -ENOTTY;
		return set_flag_ioctl(f, fd, FASYNC, (const int *)arg);
	case FIONREAD:
		if (S_ISREG(f->inode->mode))
			return put_user((int)(f->inode->size - f->pos), (int *)arg);
		break;
	}
	return f->ops->ioctl ? f->ops->ioctl(f, cmd, arg) : -ENOTTY;
}

long sys_ioctl(const u64 a[6])
{
	struct file *f = fd_get((int)a[0]);
	long ret;

	if (!f)
		return -EBADF;
	ret = do_ioctl(f, (int)a[0], (unsigned)a[1], a[2]);
	file_put(f);
	return ret;
}
