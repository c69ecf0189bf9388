/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks (threads), processes (thread groups), and what they own.
 * Guarded by the big lock except where a member says otherwise.
 */
#ifndef TALLY_PROC_TASK_H
#define TALLY_PROC_TASK_H

#include "arch/aarch64/cpu.h"
#include "lib/kernel.h"
#include "proc/sched.h"
#include "proc/signal.h"
#include "proc/work.h"
#include <linux/resource.h>
#include <perf/perf.h>


struct mm;
struct files;
struct fs_ctx;
struct tty;

struct cred {
	uid_t uid, euid, suid, fsuid;
	gid_t gid, egid, sgid, fsgid;
	u32 ngroups;
	gid_t groups[32];
	u64 cap_effective, cap_permitted, cap_inheritable, cap_bounding, cap_ambient;
	bool no_new_privs;
	u32 securebits;
	bool keep_caps;
};

/* The tick: look at the CPU-time timers. Some interrupt: run what is in the work queue; send perf_trap. */
#define TODO_CPUTIMERS 1u
#define TODO_WORK      2u
#define TODO_PERF_TRAP 4u

/* The SIGTRAP of a perf event with attr.sigtrap. */
struct perf_trap {
	u64 addr, data;
	u32 type;
};

struct task {
	struct thread_ctx ctx; /* first: switch.S */
	void *kstack;

	/* scheduler (sched_lock) */
	enum task_state state;
	int cpu;	  /* where it runs, or last ran */
	bool on_cpu;	  /* its registers are live on `cpu` */
	bool on_rq;
	bool need_resched;
	bool is_idle, is_kthread;
	bool wants_big;	  /* off the CPU: it goes on with the big lock held */
	bool has_big;	  /* it was given the lock by who ran before it */
	u64 affinity;
	struct task *rq_next, *rq_prev;
	struct ktimer sleep_timer;
	u64 slice_start;  /* clock_ns() when it was put on the CPU */
	u64 quantum_end;  /* while it is on the CPU */
	u64 quantum_left; /* while it is not */
	u64 utime_ns, stime_ns; /* CPU time up to last_stamp */
	u64 last_stamp;	  /* of kernel entry, exit, and switch */
	u64 nvcsw, nivcsw, migrations;
	u64 min_flt, maj_flt;
	int nice;
	int policy, rt_priority; /* kept and reported; scheduling is round robin */

	/* identity */
	pid_t tid;
	struct process *proc;
	char comm[16];
	u64 start_ns;
	struct cred cred;
	u32 refs; /* of this structure (atomic); the last frees it */

	/* resources */
	struct mm *mm;
	struct files *files;
	struct fs_ctx *fs;
	struct sighand *sighand;

	/* signals */
	bool sig_pending;    /* something for do_signals; see signal_recalc() */
	bool stop_pending;   /* the process is stopping: this thread has to stop, too */
	bool acts_for_irq;   /* runs work items: those it wakes are as urgent as an interrupt's */
	u8 todo;	     /* TODO_*: left by an interrupt, for the way back to user mode */
	ksigset_t blocked, saved_blocked; /* saved: by sigsuspend/ppoll/epoll_pwait until the signal is delivered */
	bool restore_blocked;
	struct sigqueue_set pending;
	u64 altstack_sp, altstack_size;
	int altstack_flags;
	u64 restart_deadline; /* restart_syscall of nanosleep, futex, poll */
	long (*restart_fn)(struct task *t);
	u64 restart_arg[6];

	/* threads library */
	u64 clear_child_tid, set_child_tid;
	u64 robust_list;
	size_t robust_len;
	struct futex_waiter *pi_wait; /* in FUTEX_LOCK_PI (futex_pi.c) */

	int exit_signal;  /* to the parent; -1 for a thread */
	int exit_code;	  /* as wait(2) encodes it */
	int pdeath_signal;
	bool exiting;
	u32 personality;
	u64 timer_slack; /* ns; PR_SET_TIMERSLACK, reported only: timers here are exact */
	struct vfork_wait *vfork; /* where its parent waits for exec or exit; NULL: it does not */
	void (*start_fn)(void); /* schedule_tail calls it in the new thread (PID 1) */

	struct task *thread_next, *thread_prev; /* proc->threads, DL */

	struct perf_task perf;
	struct perf_trap perf_trap; /* for TODO_PERF_TRAP */
};

/* setitimer(2): ITIMER_REAL on the clock, the others on the CPU time of the process. */
struct itimer {
	u64 interval, value_at; /* ns; value_at 0 = disarmed */
};

/* A thread group. */
struct process {
	pid_t pid;	  /* tgid */
	u32 refs;	  /* atomic: one for each task, one for the pid table */
	struct task *leader;  /* referenced, also when it has exited; NULL once the process was waited for */
	struct task *threads; /* DL list of those that have not exited; NULL in a zombie */
	u32 nr_threads;	  /* in that list */
	struct process *parent;
	struct process *children; /* DL list */
	struct process *sib_next, *sib_prev;
	struct waitq wait_child; /* wait(2) of this process */
	pid_t pgrp, session;
	struct tty *tty;
	bool did_exec;
	bool group_exit;
	struct task *exec_task; /* is in execve() and waits for the other threads to be gone */
	int group_exit_code;
	bool stopped;	  /* all threads are in TASK_STOPPED */
	bool stopping;	  /* they are on the way there, or there */
	bool wait_stopped, wait_continued; /* something to report to WUNTRACED, WCONTINUED */
	int stop_sig;
	u32 stop_left;	  /* threads that have not stopped yet */
	bool zombie;	  /* all threads have exited; not waited for yet, or just now */
	bool is_kthread;
	int exit_signal;  /* to the parent, 0 = none */
	int exit_code;	  /* of the zombie, as wait(2) encodes it */
	bool child_subreaper;
	bool dumpable;
	struct sigqueue_set pending;
	struct rlimit64 rlim[RLIM_NLIMITS];
	u32 nr_sigqueued; /* entries of all its pending lists, for RLIMIT_SIGPENDING */
	struct waitq exit_wq; /* pidfds poll here */
	struct itimer itimer[3]; /* by ITIMER_* */
	struct ktimer real_timer; /* of ITIMER_REAL */
	struct work real_work;
	bool cputimers;	  /* some timer counts CPU time: the tick has to look */
	/* of threads that ended, and of children that were waited for */
	u64 dead_utime, dead_stime, dead_min_flt, dead_maj_flt, dead_nvcsw, dead_nivcsw;
	u64 child_utime, child_stime, child_min_flt, child_maj_flt, child_nvcsw, child_nivcsw, child_maxrss;
	u64 maxrss; /* pages */
	u64 start_ns;
	struct posix_timer *posix_timers; /* proc/posix_timer.c */
	int next_timer_id;
	u64 rlim_cpu_next; /* RLIMIT_CPU: when the next SIGXCPU is due, ns */
};

/* Lookup. The caller holds the big lock; the pointer is good until it sleeps unless a reference is taken. */
struct task *task_find(pid_t tid);	 /* NULL */
struct process *process_find(pid_t pid); /* NULL */
void task_get(struct task *t);
void task_put(struct task *t);
/* In pid order: the first process / thread with an id >= the given one. For /proc. */
struct process *process_next(pid_t pid);
u32 nr_processes(void);
u32 nr_threads_total(void);
u64 nr_forks(void);
pid_t last_pid(void);

/* fork.c */
struct clone_params {
	u64 flags;	  /* CLONE_* without the signal */
	int exit_signal;
	u64 stack, tls, parent_tid, child_tid, pidfd;
};
pid_t do_clone(const struct clone_params *p); /* tid or -errno; current is the parent */
/* PID 1: a process from nothing; its main loads /init. Kernel threads: see kthread_create. */
struct task *kthread_create(void (*fn)(void *), void *arg, const char *name);
void start_init(void); /* creates PID 1, which execs /init; panics when it cannot */
/* Has do_signals() something to do? For the way back to user mode, current task. */
static inline bool signals_need_work(void)
{
	const struct task *t = current;

	return t->sig_pending || t->restore_blocked || t->todo;
}

/* The id of its thread group, as getpid(2) shows it. */
static inline pid_t task_pid(const struct task *t)
{
	return t->proc->pid;
}
/*
 * Kernel stacks have no unmapped page below them: the direct map is made of large blocks. Instead,
 * an interrupt that comes when fewer than KSTACK_MARGIN bytes are left is a panic, and so is a switch
 * away from a task whose stack's lowest word is no longer KSTACK_END.
 */
#define KSTACK_MARGIN 1024
#define KSTACK_END    0x5441434b454e4421ULL
static inline bool kstack_spoiled(const struct task *t)
{
	return t->kstack && *(const u64 *)t->kstack != KSTACK_END;
}
/* Holds between "it has begun to exit" and the last reference: kstack and task_regs() may be gone. */
static inline bool task_is_dead(const struct task *t)
{
	return t->exiting;
}
/* The soft limit of the current process. */
u64 rlimit_cur(unsigned resource);
/* exit.c */
void do_exit(int code) __noreturn;	   /* this thread; code as wait(2) encodes it */
void do_group_exit(int code) __noreturn;   /* the whole process */
/* Kills the other threads of current's process and waits until they are gone (exec). */
int kill_other_threads(void);
/* At exec: new comm, perf hooks, signals, timers, close-on-exec, robust list, did_exec. */
void task_exec_done(const char *name);
void task_set_comm(struct task *t, const char *name); /* calls perf's comm hook */

/* CPU time of a task up to now, ns (includes the live slice). */
u64 task_cpu_ns(const struct task *t, u64 *utime, u64 *stime);
/* Kernel entry/exit accounting, called by the trap code. */
void acct_enter_kernel(void);
void acct_leave_kernel(void);

bool capable(int cap);			 /* current's effective set */
bool in_group(gid_t gid);		 /* current's fsgid or one of its supplementary groups */
bool ptrace_may_access(struct task *target); /* PTRACE_MODE_READ with real creds */

#endif
