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
#include <linux/resource.h>
#include <perf/perf.h>
#include <uthash.h>

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
	u64 affinity;
	struct task *rq_next, *rq_prev;
	struct ktimer sleep_timer;
	u64 slice_start;  /* clock_ns() when it was put on the CPU */
	u64 quantum_end;
	u64 exec_ns;	  /* CPU time of finished slices */
	u64 utime_ns, stime_ns; /* split of it at kernel entry and exit */
	u64 last_stamp;	  /* of that split */
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
	u32 refs; /* of this structure; the last frees it */

	/* resources */
	struct mm *mm;
	struct files *files;
	struct fs_ctx *fs;
	struct sighand *sighand;

	/* signals */
	ksigset_t blocked, saved_blocked; /* saved: by sigsuspend/ppoll/epoll_pwait until the signal is delivered */
	bool restore_blocked;
	struct sigqueue_set pending;
	u64 altstack_sp, altstack_size;
	int altstack_flags;
	u64 restart_deadline; /* restart_syscall of nanosleep, futex, poll */
	long (*restart_fn)(struct task *t);
	u64 restart_arg[4];

	/* threads library */
	u64 clear_child_tid, set_child_tid;
	u64 robust_list;
	size_t robust_len;
	u64 rseq; u32 rseq_len, rseq_sig;

	int exit_signal;  /* to the parent; -1 for a thread */
	int exit_code;	  /* as wait(2) encodes it */
	int pdeath_signal;
	bool exiting;
	u32 personality;
	struct waitq *vfork_done; /* parent waits on it */
	bool vfork_flag;

	struct task *thread_next, *thread_prev; /* proc->threads, DL */
	UT_hash_handle hh;	  /* by tid */

	struct perf_task perf;
};

struct itimer {
	struct ktimer timer;
	u64 interval, value_at; /* ns; 0 = disarmed */
};

/* A thread group. */
struct process {
	pid_t pid;	  /* tgid */
	u32 refs;
	struct task *leader;
	struct task *threads; /* DL list */
	u32 nr_threads;
	struct process *parent;
	struct process *children; /* DL list */
	struct process *sib_next, *sib_prev;
	struct waitq wait_child; /* wait(2) of this process */
	pid_t pgrp, session;
	struct tty *tty;
	bool did_exec;
	bool group_exit;
	int group_exit_code;
	bool stopped, continued, stop_reported;
	int stop_sig;
	bool zombie;
	bool child_subreaper;
	bool dumpable;
	struct sigqueue_set pending;
	struct rlimit64 rlim[RLIM_NLIMITS];
	struct itimer itimer_real;
	/* of threads that ended, and of children that were waited for */
	u64 dead_utime, dead_stime, dead_min_flt, dead_maj_flt, dead_nvcsw, dead_nivcsw;
	u64 child_utime, child_stime, child_min_flt, child_maj_flt, child_nvcsw, child_nivcsw, child_maxrss;
	u64 maxrss; /* pages */
	u64 start_ns;
	void *posix_timers; /* proc/posix_timer.c */
	UT_hash_handle hh; /* by pid */
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
bool ptrace_may_access(struct task *target); /* PTRACE_MODE_READ with real creds */

#endif
