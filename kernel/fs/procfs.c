/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * procfs: the file system (proc(5)). A tree of pseudo files for what concerns
 * the system, and a directory for each process, made when a path leads there.
 *
 * An inode below /proc/PID holds a reference on its task and asks, each time
 * it is used, whether the id still belongs to it: a file that is kept open
 * over the end of a process gives ESRCH, never another process's data.
 */
#include "fs/procfs.h"
#include <linux/magic.h>

/* Positions in the root directory: pseudo files first, then processes. */
#define POS_PROCESS 1024

static struct pseudo_fs procfs;

static const struct inode_ops pid_dir_ops, pid_file_ops, pid_link_ops;
static const struct file_ops pid_dir_fops, pid_text_fops;

int procfs_add(const char *dir, const struct pseudo_file *pf)
{
	return pseudo_add(&procfs, dir, pf);
}

int parse_id(const char *s, unsigned *out)
{
	unsigned v = 0;

	if (*s == '0' && s[1])
		return -ENOENT;
	if (!*s || strlen(s) > 9)
		return -ENOENT;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -ENOENT;
		v = v * 10 + (unsigned)(*s - '0');
	}
	*out = v;
	return 0;
}

void seq_escape(struct seq *s, const char *text, const char *special)
{
	for (; *text; text++) {
		if (strchr(special, *text))
			seq_printf(s, "\\%03o", (unsigned)(u8)*text);
		else
			seq_write(s, text, 1);
	}
}

/* ------------------------------------------------------------------ inodes */

struct task *pid_inode_task(const struct inode *ino)
{
	struct task *t = pid_inode(ino)->task;

	return task_find(t->tid) == t ? t : NULL;
}

static void pid_evict(struct inode *ino)
{
	task_put(pid_inode(ino)->task);
}

/* Owned by who runs it, or by root when its memory is not to be seen. */
static void pid_refresh(struct inode *ino)
{
	struct task *t = pid_inode_task(ino);
	bool own = t && t->proc->dumpable;

	ino->uid = own ? t->cred.euid : 0;
	ino->gid = own ? t->cred.egid : 0;
}

struct inode *pid_inode_new(struct super *sb, struct task *t, bool whole, mode_t mode,
			    const struct pid_entry *entry, u64 what)
{
	struct inode *ino = inode_new_extra(sb, mode, sizeof(struct pid_inode));
	struct pid_inode *p;

	if (!ino)
		return NULL;
	p = ino->priv;
	task_get(t);
	p->task = t;
	p->whole = whole;
	p->entry = entry;
	ino->ino = pid_ino(t->tid, what);
	ino->nlink = S_ISDIR(mode) ? 2 : 1;
	ino->atime_ns = ino->mtime_ns = ino->ctime_ns = wall_ns();
	ino->ops = S_ISLNK(mode) ? &pid_link_ops : &pid_file_ops;
	ino->fops = S_ISREG(mode) ? &pid_text_fops : NULL;
	if (entry && S_ISDIR(mode)) {
		ino->ops = entry->dir_ops;
		ino->fops = entry->dir_fops;
	}
	pid_refresh(ino);
	return ino;
}

struct inode *pid_dir_inode(struct super *sb, struct task *t, bool whole)
{
	struct inode *ino = pid_inode_new(sb, t, whole, S_IFDIR | 0555, NULL, whole ? 0 : 0x800);

	if (!ino)
		return NULL;
	ino->ops = &pid_dir_ops;
	ino->fops = &pid_dir_fops;
	return ino;
}

/* ---------------------------------------------------------------- /proc/PID */

static bool entry_shown(const struct pid_entry *e, bool whole)
{
	return whole || !e->process_only;
}

static int pid_lookup(struct inode *dir, struct dentry *d)
{
	struct task *t = pid_inode_task(dir);

	if (!t)
		return -ENOENT;
	for (unsigned i = 0; i < nr_pid_entries; i++) {
		const struct pid_entry *e = &pid_entries[i];

		if (strcmp(e->name, d->name) || !entry_shown(e, pid_inode(dir)->whole))
			continue;
		d->inode = pid_inode_new(dir->sb, t, pid_inode(dir)->whole, e->mode, e, i + 1);
		return d->inode ? 0 : -ENOMEM;
	}
	return -ENOENT;
}

static int pid_iterate(struct file *f, struct dir_sink *s)
{
	struct task *t = pid_inode_task(f->inode);

	if (!t)
		return -ENOENT;
	if (!dir_emit_dots(f, s))
		return 0;
	for (unsigned i = 0; i < nr_pid_entries; i++) {
		const struct pid_entry *e = &pid_entries[i];

		if (i + 2 < f->pos || !entry_shown(e, pid_inode(f->inode)->whole))
			continue;
		if (!s->emit(s, e->name, strlen(e->name), pid_ino(t->tid, i + 1), e->mode >> 12,
			     i + 3))
			break;
	}
	return 0;
}

static const struct inode_ops pid_dir_ops = {
	.lookup = pid_lookup, .refresh = pid_refresh, .evict = pid_evict,
};
static int pid_dir_open(struct inode *ino, struct file *f)
{
	return pid_inode_task(ino) ? 0 : -ENOENT;
}

static const struct file_ops pid_dir_fops = { .open = pid_dir_open, .iterate = pid_iterate };

/* -------------------------------------------------------------- text files */

static int pid_show(struct seq *s, void *arg)
{
	struct inode *ino = arg;
	struct task *t = pid_inode_task(ino);

	return t ? pid_inode(ino)->entry->show(s, t, pid_inode(ino)->whole) : -ESRCH;
}

static int pid_open(struct inode *ino, struct file *f)
{
	const struct pid_entry *e = pid_inode(ino)->entry;
	struct task *t = pid_inode_task(ino);

	if (!t)
		return -ESRCH;
	if (e->guarded && !ptrace_may_access(t))
		return -EACCES;
	if ((file_can_read(f) && !e->show) || (file_can_write(f) && !e->store))
		return -EACCES;
	return pseudo_text_open(f);
}

static ssize_t pid_read(struct file *f, void *ubuf, size_t n, loff_t *pos)
{
	return pseudo_text_read(f, ubuf, n, pos, pid_show, f->inode);
}

static ssize_t pid_write(struct file *f, const void *ubuf, size_t n, loff_t *pos)
{
	struct task *t;
	char *text;
	int err = pseudo_text_write(ubuf, n, &text);

	if (err)
		return err;
	t = pid_inode_task(f->inode);
	err = t ? pid_inode(f->inode)->entry->store(t, text, n) : -ESRCH;
	kfree(text);
	return err ? err : (ssize_t)n;
}

static int pid_truncate(struct inode *ino, loff_t size)
{
	return 0;
}

static const struct inode_ops pid_file_ops = {
	.refresh = pid_refresh, .evict = pid_evict, .truncate = pid_truncate,
};
static const struct file_ops pid_text_fops = {
	.open = pid_open,
	.release = pseudo_text_release,
	.read = pid_read,
	.write = pid_write,
	.kernel_buf = true,
};

/* ------------------------------------------------------------- magic links */

static int pid_follow(struct inode *ino, struct dentry **out)
{
	const struct pid_inode *p = pid_inode(ino);
	struct task *t = pid_inode_task(ino);
	struct file *f;

	if (!t)
		return -ENOENT;
	if (!ptrace_may_access(t))
		return -EACCES;
	if (p->entry)
		return p->entry->follow(t, out);
	f = task_fd(t, (unsigned)p->fd, NULL);
	if (!f)
		return -ENOENT;
	*out = dentry_get(f->dentry);
	return 0;
}

static const struct inode_ops pid_link_ops = {
	.follow = pid_follow, .refresh = pid_refresh, .evict = pid_evict,
};

/* -------------------------------------------------------------------- root */

static int root_lookup(struct inode *dir, struct dentry *d)
{
	int err = pseudo_lookup(&procfs.root, d);
	struct process *p;
	unsigned id;

	if (err != -ENOENT || parse_id(d->name, &id))
		return err;
	/* a thread's id is understood, too, though not listed */
	struct task *t = task_find((pid_t)id);

	p = t ? t->proc : NULL;
	if (!p || !p->leader || p->pid == 0)
		return -ENOENT;
	d->inode = pid_dir_inode(dir->sb, (pid_t)id == p->pid ? p->leader : t, true);
	return d->inode ? 0 : -ENOMEM;
}

static int root_iterate(struct file *f, struct dir_sink *s)
{
	struct process *p;
	char name[16];
	loff_t next;

	if (!dir_emit_dots(f, s))
		return 0;
	if (f->pos < POS_PROCESS && !pseudo_emit(&procfs.root, f, s, &next))
		return 0;
	p = process_next(f->pos <= POS_PROCESS ? 1 : (pid_t)(f->pos - POS_PROCESS));
	for (; p; p = process_next(p->pid + 1)) {
		int len = snprintf(name, sizeof(name), "%d", p->pid);

		if (p->leader && !s->emit(s, name, (size_t)len, pid_ino(p->pid, 0), S_IFDIR >> 12,
					  POS_PROCESS + p->pid + 1))
			break;
	}
	return 0;
}

static const struct inode_ops root_ops = { .lookup = root_lookup };
static const struct file_ops root_fops = { .iterate = root_iterate };

static ssize_t copy_link(char *buf, size_t size, const char *text, int len)
{
	size_t n = MIN((size_t)len, size);

	memcpy(buf, text, n);
	return (ssize_t)n;
}

static ssize_t self_readlink(struct inode *ino, char *buf, size_t size)
{
	char text[16];

	return copy_link(buf, size, text,
			 snprintf(text, sizeof(text), "%d", task_pid(current)));
}

static ssize_t thread_self_readlink(struct inode *ino, char *buf, size_t size)
{
	char text[40];

	return copy_link(buf, size, text,
			 snprintf(text, sizeof(text), "%d/task/%d", task_pid(current),
				  current->tid));
}

static const struct inode_ops self_ops = { .readlink = self_readlink };
static const struct inode_ops thread_self_ops = { .readlink = thread_self_readlink };

static struct super *procfs_get(const char *source, const char *options)
{
	return &procfs.sb;
}

void procfs_init(void)
{
	static struct fs_type type = { .name = "proc", .get = procfs_get };
	struct pseudo_node *self, *thread_self;

	if (pseudo_setup(&procfs, "proc", "proc", PROC_SUPER_MAGIC, &root_ops, &root_fops) ||
	    fs_mount_at(&procfs.sb, "/proc"))
		panic("/proc cannot be mounted");
	self = pseudo_make(&procfs, "self", PSEUDO_LINK);
	thread_self = pseudo_make(&procfs, "thread-self", PSEUDO_LINK);
	if (!self || !thread_self || procfs_sys_init() || procfs_sysctl_init() ||
	    pseudo_symlink(&procfs, "mounts", "self/mounts"))
		panic("no memory for /proc");
	self->ops = &self_ops;
	thread_self->ops = &thread_self_ops;
	fs_type_register(&type);
}
