/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wait queues, and the sleeping mutex.
 *
 * A waiter is queued by the task that owns it and removed by that task. A
 * wake-up leaves it queued: the owner looks at its condition again and decides.
 * Lists are guarded by sched_lock, so that a wake-up from an interrupt and a
 * task that is about to sleep cannot miss one another.
 */
#include "proc/internal.h"
#include <utlist.h>

void wait_add(struct waitq *wq, struct waiter *w)
{
	u64 flags = sched_lock_irqsave();

	w->wq = wq;
	DL_APPEND(wq->head, w);
	sched_unlock_irqrestore(flags);
}

void wait_remove(struct waiter *w)
{
	u64 flags;

	if (!w->wq) /* only its owner queues a waiter */
		return;
	flags = sched_lock_irqsave();
	DL_DELETE(w->wq->head, w);
	w->wq = NULL;
	sched_unlock_irqrestore(flags);
}

static int wake_some(struct waitq *wq, int n, u64 flags)
{
	struct waiter *w, *tmp;
	int woken = 0;

	DL_FOREACH_SAFE(wq->head, w, tmp) {
		if (woken == n)
			break;
		if (w->func) {
			w->func(w);
			woken++;
		} else if (sched_wake_sleeper(w->task, flags)) {
			woken++;
		}
	}
	return woken;
}

int wake_up_n(struct waitq *wq, int n)
{
	u64 flags;
	int woken;

	/*
	 * Nobody there: the common case. The fence orders the caller's change of the
	 * condition before the look, as the sleeper's queueing comes before its own.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!READ_ONCE(wq->head))
		return 0;
	flags = sched_lock_irqsave();
	woken = wake_some(wq, n, flags);
	sched_unlock_irqrestore(flags);
	return woken;
}

void wake_up(struct waitq *wq)
{
	wake_up_n(wq, -1);
}

void wake_up_locked(struct waitq *wq)
{
	/* Reached from a waiter's func: as urgent as an interrupt's only if interrupts say so. */
	wake_some(wq, -1, 0);
}

/*
 * The mutex's list is guarded by the big lock; it is handed to the first waiter, so nobody
 * overtakes.
 */
void mutex_lock(struct mutex *m)
{
	struct waiter w = {.task = current};

	if (likely(!m->owner)) {
		m->owner = current;
		return;
	}
	ASSERT(m->owner != current);
	DL_APPEND(m->waiters, &w);
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (m->owner == current)
			break;
		schedule();
	}
	set_current_state(TASK_RUNNING);
}

void mutex_unlock(struct mutex *m)
{
	struct waiter *w = m->waiters;

	ASSERT(m->owner == current);
	if (!w) {
		m->owner = NULL;
		return;
	}
	DL_DELETE(m->waiters, w);
	m->owner = w->task;
	wake_task(w->task, BIT(TASK_UNINTERRUPTIBLE));
}
