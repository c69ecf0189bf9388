/* SPDX-License-Identifier: BSD-2-Clause */
/* Directories below /proc/PID: fd, fdinfo, task. See procfs.h. */
#include "fs/procfs.h"
#include <utlist.h>

/* ------------------------------------------------------------ descriptors */

struct file *task_fd(struct task *t, unsigned fd, bool *cloexec)
{
	struct files *files = t->files;

	if (!files || fd >= (unsigned)files->cap)
		return NULL;
	if (cloexec)
		*cloexec = files->fd[fd].cloexec;
	return files->fd[fd].file;
}

static mode_t fd_link_mode(const struct file *f)
{
	mode_t mode = S_IFLNK | 0100;

	if (f->flags & O_PATH)
		return mode;
	if (file_can_read(f))
		mode |= 0400;
	if (file_can_write(f))
		mode |= 0200;
	return mode;
}

static int fd_lookup_common(struct inode *dir, struct dentry *d, unsigned *fd, struct file **f)
{
	struct task *t = pid_inode_task(dir);

	if (!t || parse_id(d->name, fd))
		return -ENOENT;
	if (!ptrace_may_access(t))
		return -EACCES;
	*f = task_fd(t, *fd, NULL);
	return *f ? 0 : -ENOENT;
}

static int fd_lookup(struct inode *dir, struct dentry *d)
{
	struct file *f;
	unsigned fd;
	int err = fd_lookup_common(dir, d, &fd, &f);

	if (err)
		return err;
	d->inode = pid_inode_new(dir->sb, pid_inode(dir)->task, pid_inode(dir)->whole,
				 fd_link_mode(f), NULL, PID_INO_FD + fd);
	if (!d->inode)
		return -ENOMEM;
	pid_inode(d->inode)->fd = (int)fd;
	d->inode->size = 64; /* as on Linux, whatever the length of the target */
	return 0;
}

static int show_fdinfo(struct seq *s, struct task *t, int fd)
{
	bool cloexec = false;
	struct file *f = task_fd(t, (unsigned)fd, &cloexec);

	if (!f)
		return -ENOENT;
	seq_printf(s, "pos:\t%lld\nflags:\t0%o\nmnt_id:\t%d\nino:\t%llu\n", (long long)f->pos,
		   f->flags | (cloexec ? O_CLOEXEC : 0u), mount_id(f->inode->sb),
		   (unsigned long long)f->inode->ino);
	if (f->ops && f->ops->show_fdinfo)
		f->ops->show_fdinfo(f, s);
	return 0;
}

static int fdinfo_text(struct seq *s, void *arg)
{
	struct inode *ino = arg;
	struct task *t = pid_inode_task(ino);

	return t ? show_fdinfo(s, t, pid_inode(ino)->fd) : -ESRCH;
}

static int fdinfo_open(struct inode *ino, struct file *f)
{
	struct task *t = pid_inode_task(ino);

	if (!t)
		return -ESRCH;
	return ptrace_may_access(t) ? pseudo_text_open(f) : -EACCES;
}

static ssize_t fdinfo_read(struct file *f, void *ubuf, size_t n, loff_t *pos)
{
	return pseudo_text_read(f, ubuf, n, pos, fdinfo_text, f->inode);
}

static const struct file_ops fdinfo_fops = {
	.open = fdinfo_open,
	.release = pseudo_text_release,
	.read = fdinfo_read,
	.kernel_buf = true,
};

static int fdinfo_lookup(struct inode *dir, struct dentry *d)
{
	struct file *f;
	unsigned fd;
	int err = fd_lookup_common(dir, d, &fd, &f);

	if (err)
		return err;
	d->inode = pid_inode_new(dir->sb, pid_inode(dir)->task, pid_inode(dir)->whole,
				 S_IFREG | 0400, NULL, PID_INO_FDINFO + fd);
	if (!d->inode)
		return -ENOMEM;
	d->inode->fops = &fdinfo_fops;
	pid_inode(d->inode)->fd = (int)fd;
	return 0;
}

/* Position of descriptor n: n + 2. */
static int list_fds(struct file *f, struct dir_sink *s, u64 ino_base, unsigned type)
{
	struct task *t = pid_inode_task(f->inode);
	unsigned fd = f->pos > 2 ? (unsigned)(f->pos - 2) : 0;
	char name[16];

	if (!t)
		return -ENOENT;
	if (!ptrace_may_access(t))
		return -EACCES;
	if (!dir_emit_dots(f, s) || !t->files)
		return 0;
	for (; fd < (unsigned)t->files->cap; fd++) {
		int len = snprintf(name, sizeof(name), "%u", fd);

		if (task_fd(t, fd, NULL) &&
		    !s->emit(s, name, (size_t)len, pid_ino(t->tid, ino_base + fd), type, fd + 3))
			break;
	}
	return 0;
}

static int fd_iterate(struct file *f, struct dir_sink *s)
{
	return list_fds(f, s, PID_INO_FD, S_IFLNK >> 12);
}

static int fdinfo_iterate(struct file *f, struct dir_sink *s)
{
	return list_fds(f, s, PID_INO_FDINFO, S_IFREG >> 12);
}

/* ----------------------------------------------------------------- threads */

/* The thread with the smallest id >= tid; a leader that has exited counts. */
static struct task *next_thread(struct process *p, pid_t tid)
{
	struct task *t, *best = NULL;

	if (p->leader && p->leader->tid >= tid)
		best = p->leader;
	DL_FOREACH2(p->threads, t, thread_next) {
		if (t->tid >= tid && (!best || t->tid < best->tid))
			best = t;
	}
	return best;
}

static int task_lookup(struct inode *dir, struct dentry *d)
{
	struct task *t = pid_inode_task(dir), *thread;
	unsigned tid;

	if (!t || parse_id(d->name, &tid))
		return -ENOENT;
	thread = task_find((pid_t)tid);
	if (!thread || thread->proc != t->proc)
		return -ENOENT;
	d->inode = pid_dir_inode(dir->sb, thread, false);
	return d->inode ? 0 : -ENOMEM;
}

static int task_iterate(struct file *f, struct dir_sink *s)
{
	struct task *t = pid_inode_task(f->inode);
	char name[16];

	if (!t)
		return -ENOENT;
	if (!dir_emit_dots(f, s))
		return 0;
	t = next_thread(t->proc, f->pos > 2 ? (pid_t)(f->pos - 2) : 0);
	for (; t; t = next_thread(t->proc, t->tid + 1)) {
		int len = snprintf(name, sizeof(name), "%d", t->tid);

		if (!s->emit(s, name, (size_t)len, pid_ino(t->tid, 0x800), S_IFDIR >> 12,
			     t->tid + 3))
			break;
	}
	return 0;
}

static void task_refresh(struct inode *ino)
{
	struct task *t = pid_inode_task(ino);

	if (t)
		ino->nlink = 2 + t->proc->nr_threads;
}

static void evict(struct inode *ino)
{
	task_put(pid_inode(ino)->task);
}

const struct inode_ops fd_dir_ops = { .lookup = fd_lookup, .evict = evict };
const struct inode_ops fdinfo_dir_ops = { .lookup = fdinfo_lookup, .evict = evict };
const struct inode_ops task_dir_ops = {
	.lookup = task_lookup, .refresh = task_refresh, .evict = evict,
};
const struct file_ops fd_dir_fops = { .iterate = fd_iterate };
const struct file_ops fdinfo_dir_fops = { .iterate = fdinfo_iterate };
const struct file_ops task_dir_fops = { .iterate = task_iterate };
