/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signalfd4(2): signals read as records from a descriptor. It belongs to no
 * process: a read takes signals of the reader, and poll asks about the poller's.
 */
#include "fs/fs.h"
#include "fs/vfs.h"
#include "mm/page.h"
#include "proc/internal.h"
#include "proc/sigsets.h"
#include "sys/syscall.h"
#include <asm/poll.h>
#include <linux/signalfd.h>

struct signalfd {
	ksigset_t set;
};

static void fill_record(struct signalfd_siginfo *r, const siginfo_t *si)
{
	memset(r, 0, sizeof(*r));
	r->ssi_signo = (u32)si->si_signo;
	r->ssi_errno = si->si_errno;
	r->ssi_code = si->si_code;
	if (si->si_code == SI_TIMER) {
		r->ssi_tid = (u32)si->si_tid;
		r->ssi_overrun = (u32)si->si_overrun;
		r->ssi_ptr = (u64)si->si_ptr;
		r->ssi_int = si->si_int;
	} else if (si->si_code > 0 && (SIGSET(si->si_signo) & SIG_SYNCHRONOUS)) {
		r->ssi_addr = (u64)si->si_addr;
	} else if (si->si_code > 0 && si->si_signo == SIGIO) {
		r->ssi_band = (u32)si->si_band;
		r->ssi_fd = si->si_fd;
	} else {
		r->ssi_pid = (u32)si->si_pid;
		r->ssi_uid = si->si_uid;
		if (si->si_signo == SIGCHLD) {
			r->ssi_status = si->si_status;
			r->ssi_utime = (u64)si->si_utime;
			r->ssi_stime = (u64)si->si_stime;
		} else {
			r->ssi_ptr = (u64)si->si_ptr;
			r->ssi_int = si->si_int;
		}
	}
}

/* The first record may be waited for, the others are taken if they are there. */
static int next_signal(struct file *f, const struct signalfd *sfd, bool may_wait, siginfo_t *info)
{
	int sig = dequeue_signal(~sfd->set, info), err;

	if (sig || !may_wait)
		return sig;
	if (f->flags & O_NONBLOCK)
		return -EAGAIN;
	err = wait_event_interruptible(&current->sighand->wq,
				       (sig = dequeue_signal(~sfd->set, info)) != 0);
	return err ? err : sig;
}

static ssize_t signalfd_read(struct file *f, void *ubuf, size_t n, loff_t *pos)
{
	struct signalfd *sfd = f->priv;
	struct signalfd_siginfo record;
	siginfo_t info;
	size_t done = 0;

	(void)pos;
	if (n < sizeof(record))
		return -EINVAL;
	while (n - done >= sizeof(record)) {
		int sig = next_signal(f, sfd, done == 0, &info);

		if (sig <= 0)
			return done ? (ssize_t)done : sig;
		signal_recalc();
		fill_record(&record, &info);
		if (copy_to_user((char *)ubuf + done, &record, sizeof(record)))
			return done ? (ssize_t)done : -EFAULT;
		done += sizeof(record);
	}
	return (ssize_t)done;
}

static u32 signalfd_poll(struct file *f, struct poll_table *pt)
{
	struct signalfd *sfd = f->priv;

	poll_wait(f, &current->sighand->wq, pt);
	return (current->pending.set | current->proc->pending.set) & sfd->set ? POLLIN : 0;
}

static void signalfd_release(struct file *f)
{
	kfree(f->priv);
}

static void signalfd_fdinfo(struct file *f, struct seq *s)
{
	struct signalfd *sfd = f->priv;

	seq_printf(s, "sigmask:\t%016llx\n", (unsigned long long)sfd->set);
}

static const struct file_ops signalfd_ops = {
	.release = signalfd_release,
	.read = signalfd_read,
	.poll = signalfd_poll,
	.show_fdinfo = signalfd_fdinfo,
};

static long signalfd_change(int fd, ksigset_t set)
{
	struct file *f = fd_get(fd);
	long err = 0;

	if (!f)
		return -EBADF;
	if (f->ops == &signalfd_ops)
		((struct signalfd *)f->priv)->set = set;
	else
		err = -EINVAL;
	file_put(f);
	wake_up(&current->sighand->wq);
	return err ? err : fd;
}

/* signalfd4(fd, set, size, flags) */
long sys_signalfd4(const u64 a[6])
{
	u32 flags = (u32)a[3];
	struct signalfd *sfd;
	struct file *f;
	ksigset_t set;
	int fd;

	if (a[2] != sizeof(set) || (flags & ~(u32)(SFD_CLOEXEC | SFD_NONBLOCK)))
		return -EINVAL;
	if (get_user(set, (u64 *)a[1]))
		return -EFAULT;
	set &= ~SIG_UNBLOCKABLE;
	if ((int)a[0] != -1)
		return signalfd_change((int)a[0], set);
	sfd = kmalloc(sizeof(*sfd));
	if (!sfd)
		return -ENOMEM;
	sfd->set = set;
	f = anon_file("[signalfd]", &signalfd_ops, sfd, O_RDWR | (flags & SFD_NONBLOCK));
	if (IS_ERR(f) || !f) {
		kfree(sfd);
		return f ? PTR_ERR(f) : -ENOMEM;
	}
	fd = fd_alloc(f, 0, flags & SFD_CLOEXEC);
	if (fd < 0)
		file_put(f);
	return fd;
}
