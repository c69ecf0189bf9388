/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scheduler: round robin on each CPU, affinity, waking, sleeping, timers.
 *
 * Run queues and wait queues are guarded by sched_lock, taken with interrupts
 * off; timers by a lock for each CPU, which alone may be taken inside it.
 * Waking is allowed in any context that holds neither. perf's switch hooks run
 * with sched_lock held: they may start and stop timers, and wake nobody.
 */
#ifndef TALLY_PROC_SCHED_H
#define TALLY_PROC_SCHED_H

#include "lib/kernel.h"
#include "lib/lock.h"

struct task;
struct pt_regs;
struct waitq;

struct waiter {
	struct task *task;
	/* NULL: wake `task`. Else called by wake_up, sched_lock held, interrupts off; may call wake_up_locked. */
	void (*func)(struct waiter *w);
	struct waitq *wq; /* NULL when not queued */
	struct waiter *next, *prev;
};

struct waitq {
	struct waiter *head; /* DL list; zeroed memory is an empty queue */
};

/* Any context. Wakes everybody / at most n in the order they came. */
void wake_up(struct waitq *wq);
int wake_up_n(struct waitq *wq, int n);
void wake_up_locked(struct waitq *wq); /* sched_lock held */
void wait_add(struct waitq *wq, struct waiter *w); /* w->task, w->func set by the caller */
void wait_remove(struct waiter *w);		   /* fine when it is not queued */

enum task_state { TASK_RUNNING, TASK_INTERRUPTIBLE, TASK_UNINTERRUPTIBLE, TASK_STOPPED, TASK_ZOMBIE, TASK_DEAD };
/* Wakes t if it is in one of the states of the mask (BIT(state)). Any context. */
bool wake_task(struct task *t, u32 state_mask);
#define WAKE_NORMAL (BIT(TASK_INTERRUPTIBLE) | BIT(TASK_UNINTERRUPTIBLE))

#define NO_DEADLINE (~0ULL)
/*
 * Gives up the CPU. Process context. The big lock, if it is held, is released while away and held again after.
 * A task whose state was set to a sleeping one before stays away until it is woken.
 */
void schedule(void);
/*
 * The first call of a new thread, with what arch_switch() returned: ends the switch that began in
 * another thread. Returns with interrupts on and the big lock held. ret_from_fork then leaves to user
 * mode by the usual path; the entry of a kernel thread calls its function.
 */
void schedule_tail(struct task *prev);
/* schedule(), until woken or clock_ns() >= deadline. */
void schedule_until(u64 deadline);
void set_current_state(enum task_state s);

/*
 * Sleeps until cond, a deadline, or (interruptible) a signal. 0, -ETIMEDOUT, -ERESTARTSYS.
 * cond is evaluated with the big lock held, and again after each wake-up; when it is true, it is not evaluated again.
 */
#define wait_event_until(wqp, cond, deadline, interruptible)                            \
	({                                                                              \
		int __ret = 0;                                                          \
		if (!(cond)) {                                                          \
			struct waiter __w = {.task = current};                          \
			u64 __dl = (deadline);                                          \
			wait_add((wqp), &__w);                                          \
			for (;;) {                                                      \
				set_current_state((interruptible) ? TASK_INTERRUPTIBLE  \
								  : TASK_UNINTERRUPTIBLE); \
				if (cond)                                               \
					break;                                          \
				if ((interruptible) && signal_pending(current)) {       \
					__ret = -ERESTARTSYS;                           \
					break;                                          \
				}                                                       \
				if (__dl != NO_DEADLINE && clock_ns() >= __dl) {        \
					__ret = -ETIMEDOUT;                             \
					break;                                          \
				}                                                       \
				schedule_until(__dl);                                   \
			}                                                               \
			set_current_state(TASK_RUNNING);                                \
			wait_remove(&__w);                                              \
		}                                                                       \
		__ret;                                                                  \
	})
#define wait_event(wqp, cond) ((void)wait_event_until(wqp, cond, NO_DEADLINE, false))
#define wait_event_interruptible(wqp, cond) wait_event_until(wqp, cond, NO_DEADLINE, true)

/* One-shot timers. fn runs in the timer interrupt of the CPU that started it, no locks held, interrupts off. */
struct ktimer {
	u64 expires; /* clock_ns() */
	void (*fn)(struct ktimer *t);
	int cpu;     /* where it is queued, -1 = not */
	struct ktimer *next, *prev;
};
void ktimer_start(struct ktimer *t, u64 expires); /* (re)arms on this CPU; t->fn set, t->cpu = -1 at first */
/* Off the queue. Waits for a handler that runs on another CPU, unless called from the handler itself. True if it was pending. */
bool ktimer_cancel(struct ktimer *t);
/* timer.c's interrupt handler calls this. */
void sched_timer_interrupt(struct pt_regs *regs);

/* In a ktimer's handler: what the timer interrupt interrupted. */
struct pt_regs *timer_interrupted_regs(void);

/* In the midst of a long system call: whoever has waited for this CPU goes first. Only the big lock is held. */
void sched_let_others_run(void);
void sched_init_cpu(unsigned cpu);		/* makes the idle task of the CPU that calls, becomes it */
void sched_idle_loop(void) __noreturn;		/* the end of boot on each CPU */

/*
 * Around a wait for the host (big lock held): meanwhile an idle CPU spins, if timers are set; of several
 * exact ones the one that has the turn, and none if they run in parallel. If all CPUs slept, QEMU's clock would jump to the next timer (-icount sleep=off) before the host had any
 * time to answer, and alarms and timeouts would go off early. Without timers it stands still.
 */
void sched_host_wait_begin(void);
void sched_host_wait_end(void);
/* An event was opened: QEMU sets timers for counters, also for those that stand still. Big lock held. */
void sched_counters_used(void);

void sched_new_task(struct task *t);		/* a new task becomes runnable: least loaded CPU it may use */
int sched_set_affinity(struct task *t, u64 mask); /* moves it at once if it must; -EINVAL: no such CPU online */
void sched_yield_current(void);
/* where the task is running at this moment, or -1. Any context; may be stale at once. */
int task_running_on(const struct task *t);
/* Total and idle nanoseconds of a CPU, for /proc/stat. */
void sched_cpu_times(unsigned cpu, u64 *user, u64 *sys, u64 *idle, u64 *nr_switches);
u32 sched_nr_running(void);

#define HZ 100 /* periodic tick while a CPU is not idle; an idle CPU has none */

#endif
