/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of perf events: the system call, what one can do with the descriptor,
 * mappings of the ring, waking those who poll, and O_ASYNC's signal.
 *
 * The core asks for wake-ups and signals in any context, also under the
 * scheduler's lock, where nobody can be woken. They are put off: the queue goes
 * on a list, and this CPU interrupts itself, which happens once that lock is
 * gone. What goes away is taken off the lists before.
 */
#include "arch/aarch64/smp.h"
#include "fs/fs.h"
#include "lib/lock.h"
#include "mm/vm.h"
#include "perf_port.h"
#include "proc/work.h"
#include "sys/syscall.h"
#include <linux/poll.h>
#include <perf/perf.h>
#include <utlist.h>

/* --------------------------------------------- waking and signalling later */

struct perf_waitq {
	struct waitq wq;
	struct perf_waitq *next; /* on `put_off` */
	bool queued;
};
_Static_assert(sizeof(struct perf_waitq) <= sizeof(struct port_waitq), "port storage");

/* f->priv. Also found by its event, for port_fd_put() and port_signal(). */
struct perf_file {
	struct perf_event *event;
	struct file *file;	/* which holds it, so not referenced */
	bool async;		/* O_ASYNC; big lock */
	u32 si_codes;		/* BIT(POLL_*) to be signalled; put_off_lock */
	struct perf_file *next; /* on `to_signal` */
	bool queued;
	struct work work;
	UT_hash_handle hh;
};

static struct spinlock put_off_lock; /* interrupts off */
static struct perf_waitq *put_off;
static struct perf_file *to_signal;
static struct perf_file
	*perf_files;   /* uthash by event. Changed under the big lock and put_off_lock */
static u32 delivering; /* CPUs that have taken something off a list and not done with it */
static u32 nr_async;   /* files with O_ASYNC: while there are none, port_signal() is short */

void port_waitq_init(struct port_waitq *waitq)
{
	memset(waitq, 0, sizeof(*waitq));
}

void port_wake(struct port_waitq *waitq)
{
	struct perf_waitq *w = (struct perf_waitq *)waitq;
	u64 irq = spin_lock_irqsave(&put_off_lock);
	bool first = !w->queued;

	if (first) {
		w->queued = true;
		LL_PREPEND(put_off, w);
	}
	spin_unlock_irqrestore(&put_off_lock, irq);
	if (first)
		gic_send_sgi(cpu_id(), SGI_PERF);
}

void port_signal(struct perf_event *event, int si_code)
{
	struct perf_file *pf;
	u64 irq;

	if (!READ_ONCE(nr_async))
		return;
	irq = spin_lock_irqsave(&put_off_lock);
	HASH_FIND_PTR(perf_files, &event, pf);
	if (pf && READ_ONCE(pf->async)) {
		pf->si_codes |= (u32)BIT(si_code);
		if (!pf->queued)
			LL_PREPEND(to_signal, pf);
		pf->queued = true;
	}
	spin_unlock_irqrestore(&put_off_lock, irq);
	gic_send_sgi(cpu_id(), SGI_PERF);
}

/* Process context: the signals of one file. */
static void send_signals(struct work *work)
{
	struct perf_file *pf = container_of(work, struct perf_file, work);
	u64 irq = spin_lock_irqsave(&put_off_lock);
	u32 codes = pf->si_codes;

	pf->si_codes = 0;
	spin_unlock_irqrestore(&put_off_lock, irq);
	if (codes & BIT(POLL_IN))
		file_send_sigio(pf->file, POLLIN | POLLRDNORM);
	if (codes & BIT(POLL_HUP))
		file_send_sigio(pf->file, POLLHUP | POLLERR);
}

/* Takes the first of what is put off and delivers it, without the lock. False: there is nothing. */
static bool deliver_one(void)
{
	struct perf_waitq *w;
	struct perf_file *pf;

	spin_lock(&put_off_lock);
	w = put_off;
	pf = w ? NULL : to_signal;
	if (w) {
		LL_DELETE(put_off, w);
		w->queued = false;
	} else if (pf) {
		LL_DELETE(to_signal, pf);
		pf->queued = false;
	}
	if (w || pf)
		delivering++;
	spin_unlock(&put_off_lock);
	if (!w && !pf)
		return false;
	if (w)
		wake_up(&w->wq);
	else
		work_queue(&pf->work);
	spin_lock(&put_off_lock);
	delivering--;
	spin_unlock(&put_off_lock);
	return true;
}

static void perf_sgi(unsigned intid, struct pt_regs *regs, void *arg)
{
	while (deliver_one())
		;
}

/* Nobody touches the file or its event's queue afterwards. Interrupts on, big lock held. */
static void forget_file(struct perf_file *pf, struct perf_waitq *w)
{
	u64 irq = spin_lock_irqsave(&put_off_lock);

	if (w->queued)
		LL_DELETE(put_off, w);
	w->queued = false;
	if (pf->queued)
		LL_DELETE(to_signal, pf);
	HASH_DEL(perf_files, pf);
	while (delivering) {
		spin_unlock_irqrestore(&put_off_lock, irq);
		cpu_relax();
		irq = spin_lock_irqsave(&put_off_lock);
	}
	spin_unlock_irqrestore(&put_off_lock, irq);
	work_cancel(&pf->work);
}

/* ---------------------------------------------------------------- mappings */

static int ring_fault(struct vma *vma, u64 pgoff, bool write, struct page **out)
{
	void *page = perf_map_page(vma->priv, pgoff);

	*out = phys_to_page(virt_to_phys(page));
	page_get(*out);
	return 0;
}

static void ring_open(struct vma *vma)
{
	perf_map_get(vma->priv);
}

static void ring_close(struct vma *vma)
{
	perf_map_put(vma->priv);
}

static const struct vma_ops ring_ops = {
	.fault = ring_fault,
	.open = ring_open,
	.close = ring_close,
	.no_fork = true, /* nor can it be moved or grow */
};

/* ------------------------------------------------------------------ files */

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

static struct perf_waitq *waitq_of(struct perf_event *event)
{
	return (struct perf_waitq *)perf_file_waitq(event);
}

static u32 event_poll(struct file *f, struct poll_table *pt)
{
	poll_wait(f, &waitq_of(event_of(f))->wq, pt);
	return perf_file_poll(event_of(f));
}

static int event_mmap(struct file *f, struct vma *vma)
{
	struct perf_map *map;
	int err = perf_map_open(event_of(f), vma->end - vma->start, vma->pgoff << PAGE_SHIFT,
				vma->flags & VM_SHARED, vma->flags & VM_WRITE, &map);

	if (err)
		return err;
	vma->ops = &ring_ops;
	vma->priv = map;
	return 0;
}

static void event_fasync(struct file *f, bool on)
{
	struct perf_file *pf = f->priv;

	if (pf->async == on)
		return;
	WRITE_ONCE(pf->async, on);
	WRITE_ONCE(nr_async, on ? nr_async + 1 : nr_async - 1);
}

static void event_release(struct file *f)
{
	struct perf_file *pf = f->priv;

	if (!pf) /* never got a descriptor */
		return;
	forget_file(pf, waitq_of(pf->event));
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
	.mmap = event_mmap,
	.fasync = event_fasync,
	.release = event_release,
	.llseek = event_llseek,
};

int port_fd_install(struct perf_event *event, bool cloexec)
{
	struct perf_file *pf = kzalloc(sizeof(*pf));
	struct file *f = pf ? anon_file("[perf_event]", &event_fops, NULL, O_RDWR) : NULL;
	u64 irq;
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
	sched_counters_used();
	*pf = (struct perf_file){.event = event, .file = f, .work = {.fn = send_signals}};
	f->priv = pf;
	irq = spin_lock_irqsave(&put_off_lock);
	HASH_ADD_PTR(perf_files, event, pf);
	spin_unlock_irqrestore(&put_off_lock, irq);
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
	irq_register(SGI_PERF, perf_sgi, NULL);
}
