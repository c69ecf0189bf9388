/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of proc/ (and the system calls of sys/ that act on tasks) share among themselves. */
#ifndef TALLY_PROC_INTERNAL_H
#define TALLY_PROC_INTERNAL_H

#include "lib/kernel.h"
#include "proc/task.h"
#include <linux/capability.h>

#define CAP_ALL (BIT(CAP_LAST_CAP + 1) - 1)
#define USER_HZ 100 /* of times(2), /proc and siginfo */
#define SCHED_POLICY_NORMAL 0 /* SCHED_OTHER of linux/sched.h */

/* sched.c, for waitq.c and timer.c */
extern struct spinlock sched_lock;
static inline u64 sched_lock_irqsave(void)
{
	return spin_lock_irqsave(&sched_lock);
}
static inline void sched_unlock_irqrestore(u64 flags)
{
	spin_unlock_irqrestore(&sched_lock, flags);
}
/* Wakes a sleeper, sched_lock held; flags: the interrupt state before it was taken. */
bool sched_wake_sleeper(struct task *t, u64 flags);
void sched_sleep_timer(struct ktimer *timer);
/* From the timer interrupt: the running task's quantum. Returns the next deadline. */
u64 sched_tick(u64 now);

/* load.c: when the next sample is due; the number of active tasks since then, sched_lock held. */
extern u64 load_next_sample;
void load_sample(u64 now, u32 active);
/* Over 1, 5 and 15 minutes, with so many bits behind the point. */
void load_averages(u64 out[3], unsigned bits);

/* timer.c: the CPU's timer fires at `deadline` or before. Interrupts off. */
void timer_arm_before(u64 deadline);
/* timer.c, for CPUs that take turns: this one has it now, or what the hardware timer is set for has changed. */
void timer_set_hardware(void);
/* Whether somebody waits for the time to pass, on any CPU. A hint: no lock is taken. */
bool timer_awaited(void);

/* task.c */
struct process *kernel_process(void); /* pid 0: the idle tasks */
void task_init_common(struct task *t);
struct task *task_alloc(void);	      /* NULL on no memory; refs 1 */
struct process *process_alloc(void);
void process_get(struct process *p);
void process_put(struct process *p);
pid_t pid_alloc(pid_t want);	      /* 0: the next free one; -EAGAIN when there is none */
void pid_free_unused(pid_t pid);      /* one from pid_alloc() that was never attached */
void pid_attach_task(struct task *t);
void pid_detach_task(struct task *t);
void pid_readopt_task(struct task *t); /* under another id (exec) */
void pid_attach_process(struct process *p);
void pid_detach_process(struct process *p);
/* A process group or session with this id has one member more, one less: the id is not given away. */
void pid_hold(pid_t pid);
void pid_release(pid_t pid);
void task_release_dead(struct task *t); /* after its last switch; interrupts off */
void task_first_run(void);
void process_set_group(struct process *p, pid_t pgrp, pid_t session);

/* fork.c: a process with one thread, without resources; pid 0: any. NULL on no memory. */
struct task *task_create_bare(pid_t pid, const char *name);

/* exit.c, wait.c */
struct vfork_wait {
	struct waitq wq;
	bool done;
};
void vfork_release(struct task *t);
void process_reap(struct process *p);
void notify_parent_stop(struct process *p, int why); /* CLD_STOPPED, CLD_CONTINUED: SIGCHLD and waiters */
/* Sums over the threads, living and dead. */
struct proc_usage {
	u64 utime, stime, min_flt, maj_flt, nvcsw, nivcsw, maxrss;
};
void process_usage(struct process *p, struct proc_usage *u);
void process_child_usage(struct process *p, struct proc_usage *u);
void usage_to_rusage(const struct proc_usage *u, struct rusage *r);

/* signal.c */
void sigqueue_flush(struct process *p, struct sigqueue_set *q);
int dequeue_signal(ksigset_t blocked, siginfo_t *info); /* of current; 0 = none */
void kill_thread(struct task *t);	 /* it will notice the group exit */
struct sighand *sighand_get(struct sighand *h);
void group_stop_thread_exits(struct task *t);

/* work.c: the current task takes the worker's place, on its way to user mode; or cannot, since it goes to sleep. */
void work_run_inline(void);
void work_hand_over(void);

/* futex.c */
void futex_exit_robust(struct task *t);
void futex_exit_pi(struct task *t);
int futex_wake_addr(u64 uaddr, int n);

/* itimer.c, posix_timer.c */
void itimers_exit(struct process *p);
void cputimers_update(struct process *p); /* is there any? after each change */
bool posix_cputimers_armed(const struct process *p);
void cputimers_run(void);	/* current's CPU-time timers that are due */
void posix_timers_exit(struct process *p);
void posix_timer_dequeued(struct process *p, siginfo_t *info);
void posix_cputimers_run(void);
u64 process_cpu_ns(struct process *p, u64 *utime, u64 *stime);

/* clock.c */
u64 realtime_ns(void);
int read_timespec(u64 uaddr, u64 *ns);	/* -EFAULT, -EINVAL */
int write_timespec(u64 uaddr, u64 ns);
u64 deadline_after(u64 ns);		/* saturating */

#endif
