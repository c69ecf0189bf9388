/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work that interrupt handlers leave for process context: run in order, one
 * item at a time, with the big lock held.
 *
 * Who runs it: the task that was interrupted in user mode, on its way back there
 * (so that nobody is switched in for it), else the worker thread. Such a task is
 * known by being neither idle nor the kernel's and not holding the big lock. One
 * that has only just entered the kernel looks the same: if it goes to sleep, it
 * hands the work over to the worker (schedule()).
 *
 * An item is off the list before its function runs, so that it may be queued
 * again meanwhile, also by itself; its memory may go then. An item may sleep:
 * `busy` keeps others from overtaking it.
 */
#include "proc/internal.h"
#include <utlist.h>

static struct spinlock work_lock;
static struct work *work_list;
static struct waitq work_wait;
static bool busy; /* big lock */

static bool interrupted_user(void)
{
	const struct task *t = current;

	return irqs_disabled() && !t->is_idle && !t->is_kthread && !big_lock_held();
}

void work_queue(struct work *w)
{
	u64 flags = spin_lock_irqsave(&work_lock);
	bool was_queued = w->queued;

	if (!was_queued) {
		w->queued = true;
		DL_APPEND(work_list, w);
	}
	spin_unlock_irqrestore(&work_lock, flags);
	if (was_queued)
		return;
	if (interrupted_user())
		current->todo |= TODO_WORK;
	else
		wake_up(&work_wait);
}

void work_cancel(struct work *w)
{
	u64 flags = spin_lock_irqsave(&work_lock);

	if (w->queued) {
		DL_DELETE(work_list, w);
		w->queued = false;
	}
	spin_unlock_irqrestore(&work_lock, flags);
}

static struct work *next_work(void)
{
	u64 flags = spin_lock_irqsave(&work_lock);
	struct work *w = work_list;

	if (w) {
		DL_DELETE(work_list, w);
		w->queued = false;
	}
	spin_unlock_irqrestore(&work_lock, flags);
	return w;
}

static void run_all(void)
{
	struct work *w;

	busy = true;
	current->acts_for_irq = true;
	while ((w = next_work()))
		w->fn(w);
	current->acts_for_irq = false;
	busy = false;
}

/* If somebody else is at it, he will take ours, too: he looks again after each item. */
void work_run_inline(void)
{
	if (!busy)
		run_all();
}

void work_hand_over(void)
{
	current->todo &= (u8)~TODO_WORK;
	wake_up(&work_wait);
}

static void worker(void *arg)
{
	(void)arg;
	for (;;) {
		wait_event(&work_wait, READ_ONCE(work_list) && !busy);
		run_all();
	}
}

void work_init(void)
{
	if (!kthread_create(worker, NULL, "kworker"))
		panic("no memory for the worker thread");
}
