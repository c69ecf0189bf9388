/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * execve(2): a new program in place of the current one.
 *
 * The new address space is built whole before anything of the old is given up.
 * Then come the steps that cannot be undone, none of which can fail: the other
 * threads go, the address space is exchanged, the new credentials hold.
 */
#include "proc/exec.h"
#include "arch/aarch64/cpu.h"
#include "fs/vfs.h"
#include "mm/page.h"
#include "mm/vma.h"
#include "sys/syscall.h"
#include "trace/trace.h"
#include <linux/capability.h>
#include <linux/limits.h>
#include <linux/securebits.h>

#define MAX_SCRIPTS   5 /* interpreters that are scripts themselves */
#define MIN_STACK_GAP (128UL << 20)

int open_program(int dirfd, const char *path, u32 lookup, struct file **out)
{
	struct dentry *d;
	int err = path_lookup(dirfd, path, lookup, &d);

	if (err)
		return err;
	if (!d->inode)
		err = -ENOENT;
	else if (S_ISLNK(d->inode->mode))
		err = -ELOOP;
	else if (!S_ISREG(d->inode->mode))
		err = -EACCES;
	else
		err = vfs_open(d, O_RDONLY | FMODE_EXEC, out);
	dentry_put(d);
	return err;
}

/* ---- scripts: "#!interpreter [argument]" ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * Splits the first line of b->head in place. -ENOEXEC: there is no interpreter, or its name is
 * cut off.
 */
static int parse_line(char *line, char **name, char **arg)
{
	char *end = strchr(line, '\n'), *p = line + 2;

	if (!end) {
		end = line + strlen(line);
		/* the line is longer than what was read: fine if the name at least is whole */
		if (end == line + EXEC_HEAD) {
			char *q = p;

			while (is_blank(*q))
				q++;
			while (*q && !is_blank(*q))
				q++;
			if (!*q)
				return -ENOEXEC;
		}
	}
	while (end > p && is_blank(end[-1]))
		end--;
	*end = '\0';
	while (is_blank(*p))
		p++;
	if (!*p)
		return -ENOEXEC;
	*name = p;
	while (*p && !is_blank(*p))
		p++;
	if (*p)
		*p++ = '\0';
	while (is_blank(*p))
		p++;
	*arg = *p ? p : NULL;
	return 0;
}

static int read_head(struct binprm *b)
{
	ssize_t n = file_kread(b->file, b->head, EXEC_HEAD, 0);

	if (n < 0)
		return (int)n;
	memset(b->head + n, 0, sizeof(b->head) - (size_t)n);
	return 0;
}

/* argv becomes: interpreter, its argument, the script, then the old argv[1] on. */
static int run_script(struct binprm *b)
{
	char *name, *arg, *script;
	struct file *f;
	int err = parse_line(b->head, &name, &arg);

	if (err)
		return err;
	if (b->hidden_fd)
		return -ENOENT;
	if (b->argc)
		stack_drop_argv0(b);
	err = stack_push_string(b, b->interp ? b->interp : b->path);
	if (!err && arg)
		err = stack_push_string(b, arg);
	if (!err)
		err = stack_push_string(b, name);
	if (err)
		return err;
	script = kstrdup(name);
	if (!script)
		return -ENOMEM;
	kfree(b->interp);
	b->interp = script;
	err = open_program(AT_FDCWD, script, LOOKUP_FOLLOW, &f);
	if (err)
		return err;
	file_put(b->file);
	b->file = f;
	return read_head(b);
}

static int resolve_scripts(struct binprm *b)
{
	int err = read_head(b);

	for (int depth = 0; !err && b->head[0] == '#' && b->head[1] == '!'; depth++)
		err = depth < MAX_SCRIPTS ? run_script(b) : -ELOOP;
	return err;
}

/* ---- credentials: capabilities(7), "transformation during execve" ---- */

static void set_ids(struct binprm *b)
{
	const struct inode *ino = b->file->inode;
	struct cred *c = &b->cred;

	if (!c->no_new_privs) {
		if (ino->mode & S_ISUID)
			c->euid = ino->uid;
		if ((ino->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
			c->egid = ino->gid;
	}
	c->suid = c->fsuid = c->euid;
	c->sgid = c->fsgid = c->egid;
}

static void prepare_cred(struct binprm *b)
{
	const struct cred *old = &current->cred;
	struct cred *c = &b->cred;
	bool as_root;

	*c = *old;
	set_ids(b);
	as_root = !(c->securebits & (1u << SECURE_NOROOT));
	if (c->euid != old->euid || c->egid != old->egid)
		c->cap_ambient = 0;
	c->cap_permitted = c->cap_ambient;
	c->cap_effective = c->cap_ambient;
	if (as_root && (c->euid == 0 || c->uid == 0))
		c->cap_permitted = c->cap_inheritable | c->cap_bounding;
	if (as_root && c->euid == 0)
		c->cap_effective = c->cap_permitted;
	c->keep_caps = false;
	b->secure = c->uid != c->euid || c->gid != c->egid;
}

/* ---- the exchange ---- */

static int build_mm(struct binprm *b)
{
	u64 stack = current->proc->rlim[RLIMIT_STACK].rlim_cur, gap;
	struct elf_info info;
	struct mm *mm = mm_create();
	int err;

	if (!mm)
		return -ENOMEM;
	b->mm = mm;
	mm->building = true;
	gap = MIN(stack, TASK_SIZE / 6 * 5) + STACK_GUARD_GAP;
	gap = MIN(MAX(gap, MIN_STACK_GAP), TASK_SIZE / 6 * 5);
	mm->stack_top = STACK_TOP;
	mm->mmap_base = ALIGN_UP(STACK_TOP - gap, PAGE_SIZE);
	err = elf_load(b, &info);
	if (!err)
		err = vdso_map(mm);
	if (!err)
		err = stack_finish(b, &info);
	if (!err)
		err = stack_map(b);
	if (err)
		return err;
	mm->exe = b->file;
	file_get(mm->exe);
	return 0;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* From here on there is no way back. */
static void exchange(struct binprm *b)
{
	struct task *t = current;
	struct mm *old = t->mm, *mm = b->mm;
	u64 irq = irq_save();

	t->mm = mm;
	mm_activate(mm);
	irq_restore(irq);
	b->mm = NULL;
	mm->building = false;
	t->cred = b->cred;
	task_exec_done(last_part(b->path));
	if (b->secure)
		t->proc->dumpable = false;
	if (old) {
		t->proc->maxrss = MAX(t->proc->maxrss, old->hiwater_rss);
		mm_put(old);
	}
	if (perf_mmap_watched())
		for (u32 i = 0; i < mm->nr_areas; i++)
			vma_tell_perf(mm->areas[i]);
	arch_start_user(task_regs(t), b->entry, b->sp);
}

/* The strings are on b's stack. */
static int run(struct binprm *b)
{
	pid_t old_pid = current->tid;
	int err = resolve_scripts(b);

	if (err)
		return err;
	prepare_cred(b);
	err = build_mm(b);
	if (!err)
		err = kill_other_threads();
	if (err)
		return err;
	exchange(b);
	trace_exec(b->path, old_pid);
	return 0;
}

static void binprm_free(struct binprm *b)
{
	stack_free(b);
	if (b->mm)
		mm_put(b->mm);
	if (b->file)
		file_put(b->file);
	kfree(b->interp);
	kfree(b);
}

int exec_file(struct file *file, const char *path, struct exec_args *args)
{
	struct binprm *b = kzalloc(sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	b->path = path;
	b->file = file;
	file_get(file);
	err = stack_push_kernel(b, args);
	if (!err)
		err = run(b);
	binprm_free(b);
	return err;
}

static long do_execve(int dirfd, const char *path, const char *shown, u32 lookup, u64 uargv,
		      u64 uenvp, bool hidden_fd)
{
	struct binprm *b = kzalloc(sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	b->path = shown;
	b->hidden_fd = hidden_fd;
	err = open_program(dirfd, path, lookup, &b->file);
	if (!err)
		err = stack_push_user(b, uargv, uenvp);
	if (!err)
		err = run(b);
	binprm_free(b);
	return err;
}

long sys_execve(const u64 a[6])
{
	char *path;
	long r = getname((const char *)a[0], &path);

	if (r)
		return r;
	r = do_execve(AT_FDCWD, path, path, LOOKUP_FOLLOW, a[1], a[2], false);
	kfree(path);
	return r;
}

static bool closes_on_exec(int fd)
{
	struct files *files = current->files;

	return fd >= 0 && fd < files->cap && files->fd[fd].file && files->fd[fd].cloexec;
}

long sys_execveat(const u64 a[6])
{
	int dirfd = (int)a[0], flags = (int)a[4];
	u32 lookup = flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;
	bool by_fd;
	char *path, *shown = NULL;
	long r;

	if (flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
		return -EINVAL;
	if (flags & AT_EMPTY_PATH)
		lookup |= LOOKUP_EMPTY;
	r = getname((const char *)a[1], &path);
	if (r)
		return r;
	by_fd = dirfd != AT_FDCWD && path[0] != '/';
	if (by_fd) {
		size_t size = strlen(path) + 32;

		shown = kmalloc(size);
		if (!shown) {
			kfree(path);
			return -ENOMEM;
		}
		snprintf(shown, size, path[0] ? "/dev/fd/%d/%s" : "/dev/fd/%d", dirfd, path);
	}
	r = do_execve(dirfd, path, shown ? shown : path, lookup, a[2], a[3],
		      by_fd && closes_on_exec(dirfd));
	kfree(shown);
	kfree(path);
	return r;
}
