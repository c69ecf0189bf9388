/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of perf events: the system call, what one can do with the descriptor,
 * and waking those who poll on one.
 *
 * The core asks for wake-ups in any context, also under the scheduler's lock,
 * where nobody can be woken. They are put off: the queue goes on a list, and
 * this CPU interrupts itself, which happens once that lock is gone. A queue
 * that goes away is taken off the list before.
 */
#include "arch/aarch64/smp.h"
#include "fs/fs.h"
#include "lib/lock.h"
#include "perf_port.h"
#include "sys/syscall.h"
#include <linux/poll.h>
#include <perf/perf.h>
#include <utlist.h>

/* ---------------------------------------------------------------- waking */

struct perf_waitq {
	struct waitq wq;
	struct perf_waitq *next; /* on `put_off` */
	bool queued;
	bool waking; /* off the list, being woken */
};
_Static_assert(sizeof(struct perf_waitq) <= sizeof(struct port_waitq), "port storage");

static struct spinlock put_off_lock; /* interrupts off */
static struct perf_waitq *put_off;

void port_waitq_init(struct port_waitq *waitq)
{
	memset(waitq, 0, sizeof(*waitq));
}

void port_wake(struct port_waitq *waitq)
{
	struct perf_waitq *w = (struct perf_waitq *)waitq;
	u64 irq = spin_lock_irqsave(&put_off_lock);
	bool first = !put_off;

	if (!w->queued) {
		w->queued = true;
		LL_PREPEND(put_off, w);
	}
	spin_unlock_irqrestore(&put_off_lock, irq);
	if (first)
		gic_send_sgi(cpu_id(), SGI_PERF);
}

static void wake_put_off(unsigned intid, struct pt_regs *regs, void *arg)
{
	struct perf_waitq *w;

	spin_lock(&put_off_lock);
	while ((w = put_off)) {
		LL_DELETE(put_off, w);
		w->queued = false;
		w->waking = true;
		spin_unlock(&put_off_lock);
		wake_up(&w->wq);
		spin_lock(&put_off_lock);
		w->waking = false;
	}
	spin_unlock(&put_off_lock);
}

/* Nobody touches the queue afterwards. Interrupts on. */
static void forget_waitq(struct perf_waitq *w)
{
	u64 irq = spin_lock_irqsave(&put_off_lock);

	if (w->queued)
		LL_DELETE(put_off, w);
	w->queued = false;
	while (w->waking) {
		spin_unlock_irqrestore(&put_off_lock, irq);
		cpu_relax();
		irq = spin_lock_irqsave(&put_off_lock);
	}
	spin_unlock_irqrestore(&put_off_lock, irq);
}

/* ------------------------------------------------------------------ files */

/* f->priv. Also found by its event, for port_fd_put(). Big lock. */
struct perf_file {
	struct perf_event *event;
	struct file *file; /* which holds it, so not referenced */
	UT_hash_handle hh;
};

static struct perf_file *perf_files; /* uthash by event */

static struct perf_event *event_of(const struct file *f)
{
	return ((struct perf_file *)f->priv)->event;
}

static ssize_t event_read(struct file *f, void *ubuf, size_t n, loff_t *pos)
{
	return perf_file_read(event_of(f), (uintptr_t)ubuf, n);
}

static long event_ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	return perf_file_ioctl(event_of(f), cmd, arg);
}

/* Asked twice: to learn the queue, and again once the caller is on it. */
static u32 event_poll(struct file *f, struct poll_table *pt)
{
	struct port_waitq *wq;

	perf_file_poll(event_of(f), &wq);
	poll_wait(f, &((struct perf_waitq *)wq)->wq, pt);
	return perf_file_poll(event_of(f), &wq);
}

static void event_release(struct file *f)
{
	struct perf_file *pf = f->priv;
	struct port_waitq *wq;

	if (!pf) /* never got a descriptor */
		return;
	perf_file_poll(pf->event, &wq);
	forget_waitq((struct perf_waitq *)wq);
	HASH_DEL(perf_files, pf);
	perf_file_release(pf->event);
	kfree(pf);
}

static loff_t event_llseek(struct file *f, loff_t off, int whence)
{
	return -ESPIPE;
}

static const struct file_ops event_fops = {
	.read = event_read,
	.ioctl = event_ioctl,
	.poll = event_poll,
	.release = event_release,
	.llseek = event_llseek,
};

int port_fd_install(struct perf_event *event, bool cloexec)
{
	struct perf_file *pf = kzalloc(sizeof(*pf));
	struct file *f = pf ? anon_file("[perf_event]", &event_fops, NULL, O_RDWR) : NULL;
	int fd;

	if (!f) {
		kfree(pf);
		return -ENOMEM;
	}
	fd = fd_alloc(f, 0, cloexec);
	if (fd < 0) {
		file_put(f);
		kfree(pf);
		return fd;
	}
	*pf = (struct perf_file){.event = event, .file = f};
	f->priv = pf;
	HASH_ADD_PTR(perf_files, event, pf);
	return fd;
}

struct perf_event *port_fd_get(int fd)
{
	struct file *f = fd_get(fd);

	if (!f)
		return NULL;
	if (f->ops == &event_fops)
		return event_of(f);
	file_put(f);
	return NULL;
}

void port_fd_put(struct perf_event *event)
{
	struct perf_file *pf;

	HASH_FIND_PTR(perf_files, &event, pf);
	file_put(pf->file);
}

long sys_perf_event_open(const u64 a[6])
{
	return perf_sys_event_open(a[0], (int)a[1], (int)a[2], (int)a[3], a[4]);
}

void perf_file_init(void)
{
	irq_register(SGI_PERF, wake_put_off, NULL);
}
