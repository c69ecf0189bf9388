/* SPDX-License-Identifier: BSD-2-Clause */
/* PID 1: a process made from nothing, whose first act is to execute /init of the root image. */
#include "fs/vfs.h"
#include "mm/page.h"
#include "mm/vm.h"
#include "proc/internal.h"
#include <linux/capability.h>

#define INIT "/init"

struct limit {
	unsigned resource;
	u64 soft, hard;
};

/*
 * What Linux gives PID 1 (include/asm-generic/resource.h's values are in getrlimit(2) and
 * proc(5)).
 */
static const struct limit limits[] = {
	{RLIMIT_STACK, 8 << 20, RLIM64_INFINITY},
	{RLIMIT_CORE, 0, RLIM64_INFINITY},
	{RLIMIT_NOFILE, 1024, 4096},
	{RLIMIT_MEMLOCK, 8 << 20, 8 << 20},
	{RLIMIT_MSGQUEUE, 819200, 819200},
	{RLIMIT_NICE, 0, 0},
	{RLIMIT_RTPRIO, 0, 0},
};

static void set_limits(struct process *p)
{
	u64 total, free_pages, nthreads;

	for (unsigned i = 0; i < RLIM_NLIMITS; i++)
		p->rlim[i].rlim_cur = p->rlim[i].rlim_max = RLIM64_INFINITY;
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		p->rlim[limits[i].resource].rlim_cur = limits[i].soft;
		p->rlim[limits[i].resource].rlim_max = limits[i].hard;
	}
	/* As many threads as fill an eighth of memory with their stacks. */
	page_stats(&total, &free_pages);
	nthreads = total * PAGE_SIZE / (8 * KSTACK_SIZE) / 2;
	p->rlim[RLIMIT_NPROC].rlim_cur = p->rlim[RLIMIT_NPROC].rlim_max = nthreads;
	p->rlim[RLIMIT_SIGPENDING] = p->rlim[RLIMIT_NPROC];
}

/*
 * Standard input, output and error of init: the console. Without one it starts with none, as
 * on Linux.
 */
static void open_console(void)
{
	struct file *f;

	if (open_path(AT_FDCWD, "/dev/console", O_RDWR, 0, &f)) {
		printk("init: cannot open /dev/console\n");
		return;
	}
	for (int i = 0; i < 3; i++) {
		file_get(f);
		if (fd_alloc(f, 0, false) < 0)
			file_put(f);
	}
	file_put(f);
}

/* Runs in the new task; afterwards it leaves to user mode like any other. */
static void exec_init(void)
{
	static char *argv[] = {INIT, NULL}, *envp[] = {"HOME=/", "TERM=linux", NULL};
	struct exec_args args = {.argv = argv, .envp = envp, .argc = 1, .envc = 2};
	struct file *f;
	int err = open_path(AT_FDCWD, INIT, O_RDONLY, 0, &f);

	if (err)
		panic("no " INIT " in the root image (error %d)", -err);
	open_console();
	err = exec_file(f, INIT, &args);
	if (err)
		panic("cannot execute " INIT ": error %d", -err);
	file_put(f);
}

void start_init(void)
{
	struct task *t = task_create_bare(1, "init");

	if (!t)
		panic("no memory for init");
	t->files = files_create();
	t->fs = fs_fork(NULL);
	t->sighand = sighand_create();
	if (!t->files || !t->fs || !t->sighand)
		panic("no memory for init");
	t->cred.cap_permitted = t->cred.cap_effective = t->cred.cap_bounding = CAP_ALL;
	set_limits(t->proc);
	t->start_fn = exec_init;
	arch_thread_init_user(t);
	memset(task_regs(t), 0, sizeof(struct pt_regs));
	sched_new_task(t);
}
