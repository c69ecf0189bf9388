/* SPDX-License-Identifier: BSD-2-Clause */
/* The small files of /proc/PID and /proc/PID/task/TID, and the table of all of them. */
#include "fs/procfs.h"
#include "mm/vm.h"
#include <utlist.h>

/* ------------------------------------------------------- what memory holds */

/* Copies [start,end) of the task's memory into s, as far as it can be read. */
static int copy_memory(struct seq *s, struct task *t, u64 start, u64 end)
{
	struct mm *mm = t->mm;
	ssize_t n = 0;
	char *buf;

	if (!mm || end <= start)
		return 0;
	buf = kmalloc(PAGE_SIZE);
	if (!buf)
		return -ENOMEM;
	mm_get(mm); /* reading may sleep */
	while (start < end) {
		n = vm_access(mm, start, buf, MIN(end - start, PAGE_SIZE), false);
		if (n <= 0)
			break;
		seq_write(s, buf, (size_t)n);
		start += (u64)n;
	}
	mm_put(mm);
	kfree(buf);
	return 0;
}

/*
 * A program may have written over its arguments to show a title: if the last
 * byte is not NUL any more, the title goes on into the environment and ends at
 * its first NUL.
 */
static int show_cmdline(struct seq *s, struct task *t, bool whole)
{
	struct mm *mm = t->mm;
	size_t len;
	int err;

	if (!mm)
		return 0;
	len = mm->arg_end - mm->arg_start;
	err = copy_memory(s, t, mm->arg_start, MAX(mm->arg_end, mm->env_end));
	if (err || s->len <= len)
		return err;
	if (len && s->buf[len - 1] != '\0') {
		s->len = strnlen(s->buf, s->len);
		if (s->len < s->cap)
			s->len++;
	} else {
		s->len = len;
	}
	return 0;
}

static int show_environ(struct seq *s, struct task *t, bool whole)
{
	return t->mm ? copy_memory(s, t, t->mm->env_start, t->mm->env_end) : 0;
}

static int show_auxv(struct seq *s, struct task *t, bool whole)
{
	size_t n = 0;

	if (!t->mm)
		return 0;
	while (n + 2 < ARRAY_SIZE(t->mm->auxv) && t->mm->auxv[n])
		n += 2;
	seq_write(s, t->mm->auxv, (n + 2) * sizeof(t->mm->auxv[0]));
	return 0;
}

/* -------------------------------------------------------------------- names */

static int show_comm(struct seq *s, struct task *t, bool whole)
{
	seq_printf(s, "%s\n", t->comm);
	return 0;
}

static int store_comm(struct task *t, const char *text, size_t n)
{
	char name[sizeof(t->comm)];

	if (t->proc != current->proc)
		return -EINVAL;
	strscpy(name, text, sizeof(name));
	if (strchr(name, '\n'))
		*strchr(name, '\n') = '\0';
	task_set_comm(t, name);
	return 0;
}

static int follow_exe(struct task *t, struct dentry **out)
{
	if (!t->mm || !t->mm->exe)
		return -ENOENT;
	*out = dentry_get(t->mm->exe->dentry);
	return 0;
}

static int follow_cwd(struct task *t, struct dentry **out)
{
	if (!t->fs)
		return -ENOENT;
	*out = dentry_get(t->fs->cwd);
	return 0;
}

static int follow_root(struct task *t, struct dentry **out)
{
	if (!t->fs)
		return -ENOENT;
	*out = dentry_get(t->fs->root);
	return 0;
}

/* ------------------------------------------------------------------- others */

static void show_limit(struct seq *s, u64 v)
{
	if (v == RLIM64_INFINITY)
		seq_printf(s, "%-20s ", "unlimited");
	else
		seq_printf(s, "%-20llu ", (unsigned long long)v);
}

static int show_limits(struct seq *s, struct task *t, bool whole)
{
	static const struct {
		const char *name, *unit;
	} limits[RLIM_NLIMITS] = {
		[RLIMIT_CPU] = { "Max cpu time", "seconds" },
		[RLIMIT_FSIZE] = { "Max file size", "bytes" },
		[RLIMIT_DATA] = { "Max data size", "bytes" },
		[RLIMIT_STACK] = { "Max stack size", "bytes" },
		[RLIMIT_CORE] = { "Max core file size", "bytes" },
		[RLIMIT_RSS] = { "Max resident set", "bytes" },
		[RLIMIT_NPROC] = { "Max processes", "processes" },
		[RLIMIT_NOFILE] = { "Max open files", "files" },
		[RLIMIT_MEMLOCK] = { "Max locked memory", "bytes" },
		[RLIMIT_AS] = { "Max address space", "bytes" },
		[RLIMIT_LOCKS] = { "Max file locks", "locks" },
		[RLIMIT_SIGPENDING] = { "Max pending signals", "signals" },
		[RLIMIT_MSGQUEUE] = { "Max msgqueue size", "bytes" },
		[RLIMIT_NICE] = { "Max nice priority", NULL },
		[RLIMIT_RTPRIO] = { "Max realtime priority", NULL },
		[RLIMIT_RTTIME] = { "Max realtime timeout", "us" },
	};

	seq_printf(s, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units");
	for (unsigned i = 0; i < RLIM_NLIMITS; i++) {
		seq_printf(s, "%-25s ", limits[i].name);
		show_limit(s, t->proc->rlim[i].rlim_cur);
		show_limit(s, t->proc->rlim[i].rlim_max);
		if (limits[i].unit)
			seq_printf(s, "%-10s\n", limits[i].unit);
		else
			seq_printf(s, "\n");
	}
	return 0;
}

static int show_personality(struct seq *s, struct task *t, bool whole)
{
	seq_printf(s, "%08x\n", t->personality);
	return 0;
}

/* The children that this thread's process has; they are not kept by thread. */
static int show_children(struct seq *s, struct task *t, bool whole)
{
	struct process *c;

	if (t != t->proc->leader)
		return 0;
	DL_FOREACH2(t->proc->children, c, sib_next) {
		seq_printf(s, "%d ", c->pid);
	}
	return 0;
}

static bool in_stack(const struct task *t, u64 fp)
{
	u64 base = (u64)t->kstack;

	return fp >= base && fp + 16 <= base + KSTACK_SIZE && IS_ALIGNED(fp, 8);
}

/* The first function below the scheduler's own, by the frame pointers of its kernel stack. */
static int show_wchan(struct seq *s, struct task *t, bool whole)
{
	static const char *const scheduler[] = { "schedule", "arch_switch", "switch_to",
						 "mutex_lock" };
	u64 fp = t->ctx.fp, pc = t->ctx.lr, off;
	const char *name = NULL;

	if (t == current || t->state == TASK_RUNNING || t->on_cpu || task_is_dead(t)) {
		seq_printf(s, "0");
		return 0;
	}
	for (unsigned depth = 0; depth < 16; depth++) {
		bool skip = false;

		name = ksym_lookup(pc, &off);
		for (size_t i = 0; name && i < ARRAY_SIZE(scheduler); i++)
			skip |= !strncmp(name, scheduler[i], strlen(scheduler[i]));
		if (!name || !skip)
			break;
		if (!in_stack(t, fp))
			break;
		pc = ((u64 *)fp)[1];
		fp = ((u64 *)fp)[0];
	}
	seq_printf(s, "%s", name ? name : "0");
	return 0;
}

/* -------------------------------------------------------------------- table */

#define REG(n, m, ...) { .name = n, .mode = S_IFREG | (m), __VA_ARGS__ }
#define LNK(n, fn)     { .name = n, .mode = S_IFLNK | 0777, .follow = fn }

const struct pid_entry pid_entries[] = {
	{ .name = "task", .mode = S_IFDIR | 0555, .dir_ops = &task_dir_ops,
	  .dir_fops = &task_dir_fops, .process_only = true },
	{ .name = "fd", .mode = S_IFDIR | 0500, .dir_ops = &fd_dir_ops, .dir_fops = &fd_dir_fops },
	{ .name = "fdinfo", .mode = S_IFDIR | 0555, .dir_ops = &fdinfo_dir_ops,
	  .dir_fops = &fdinfo_dir_fops },
	REG("environ", 0400, .show = show_environ, .guarded = true),
	REG("auxv", 0400, .show = show_auxv, .guarded = true),
	REG("status", 0444, .show = show_status),
	REG("personality", 0400, .show = show_personality, .guarded = true),
	REG("limits", 0444, .show = show_limits),
	REG("comm", 0644, .show = show_comm, .store = store_comm),
	REG("cmdline", 0444, .show = show_cmdline),
	REG("stat", 0444, .show = show_stat),
	REG("statm", 0444, .show = show_statm),
	REG("maps", 0444, .show = show_maps, .guarded = true),
	REG("smaps", 0444, .show = show_smaps, .guarded = true),
	LNK("cwd", follow_cwd),
	LNK("root", follow_root),
	LNK("exe", follow_exe),
	REG("mounts", 0444, .show = show_mounts),
	REG("mountinfo", 0444, .show = show_mountinfo),
	REG("wchan", 0444, .show = show_wchan, .guarded = true),
	REG("children", 0444, .show = show_children),
};
const unsigned nr_pid_entries = ARRAY_SIZE(pid_entries);
