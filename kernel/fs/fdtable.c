/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptor tables: which open file stands behind which number.
 *
 * A table is shared by threads (CLONE_FILES) and counted. A new descriptor is
 * always the lowest free one; next_free says where to begin looking.
 */
#include "fs/fs.h"
#include "sys/syscall.h"
#include <linux/close_range.h>

#define FIRST_CAP 32

struct files *files_create(void)
{
	struct files *t = kzalloc(sizeof(*t));

	if (!t)
		return NULL;
	t->fd = kzalloc(FIRST_CAP * sizeof(*t->fd));
	if (!t->fd) {
		kfree(t);
		return NULL;
	}
	t->refs = 1;
	t->cap = FIRST_CAP;
	return t;
}

static int highest(const struct files *t)
{
	int i = t->cap;

	while (i > 0 && !t->fd[i - 1].file)
		i--;
	return i;
}

struct files *files_fork(struct files *old)
{
	struct files *t;
	int n, cap = FIRST_CAP;

	if (!old)
		return files_create();
	n = highest(old);
	while (cap < n)
		cap *= 2;
	t = kmalloc(sizeof(*t));
	if (!t)
		return NULL;
	t->fd = kmalloc((size_t)cap * sizeof(*t->fd));
	if (!t->fd) {
		kfree(t);
		return NULL;
	}
	t->refs = 1;
	t->cap = cap;
	t->next_free = old->next_free;
	memcpy(t->fd, old->fd, (size_t)n * sizeof(*t->fd));
	memset(t->fd + n, 0, (size_t)(cap - n) * sizeof(*t->fd));
	for (int i = 0; i < n; i++)
		if (t->fd[i].file)
			t->fd[i].file->refs++;
	return t;
}

void files_get(struct files *t)
{
	t->refs++;
}

/* The end of a descriptor: POSIX locks of its table on the file go, then the reference. */
static void end_descriptor(struct files *t, struct file *f)
{
	if (unlikely(f->inode->locks != NULL))
		locks_close(f, t);
	file_put(f);
}

void files_put(struct files *t)
{
	if (--t->refs)
		return;
	for (int i = 0; i < t->cap; i++)
		if (t->fd[i].file)
			end_descriptor(t, t->fd[i].file);
	kfree(t->fd);
	kfree(t);
}

static int close_in(struct files *t, int fd)
{
	struct file *f;

	if ((unsigned)fd >= (unsigned)t->cap || !t->fd[fd].file)
		return -EBADF;
	f = t->fd[fd].file;
	t->fd[fd].file = NULL;
	t->fd[fd].cloexec = false;
	if (fd < t->next_free)
		t->next_free = fd;
	end_descriptor(t, f);
	return 0;
}

void files_close_exec(struct files *t)
{
	for (int i = 0; i < t->cap; i++)
		if (t->fd[i].file && t->fd[i].cloexec)
			close_in(t, i);
}

int fd_close(int fd)
{
	return close_in(current->files, fd);
}

static int fd_limit(void)
{
	u64 limit = current_rlimit(RLIMIT_NOFILE);

	return limit > 1048576 ? 1048576 : (int)limit;
}

/* Makes room for the number fd. */
static int grow(struct files *t, int fd)
{
	int cap = t->cap;
	struct fdent *n;

	while (cap <= fd)
		cap *= 2;
	if (cap == t->cap)
		return 0;
	n = krealloc(t->fd, (size_t)cap * sizeof(*n));
	if (!n)
		return -ENOMEM;
	memset(n + t->cap, 0, (size_t)(cap - t->cap) * sizeof(*n));
	t->fd = n;
	t->cap = cap;
	return 0;
}

int fd_alloc(struct file *f, int min, bool cloexec)
{
	struct files *t = current->files;
	int fd = MAX(min, t->next_free), err;

	while (fd < t->cap && t->fd[fd].file)
		fd++;
	if (fd >= fd_limit())
		return -EMFILE;
	err = grow(t, fd);
	if (err)
		return err;
	t->fd[fd].file = f;
	t->fd[fd].cloexec = cloexec;
	if (min <= t->next_free)
		t->next_free = fd + 1;
	return fd;
}

struct file *fd_get_raw(int fd)
{
	struct files *t = current->files;

	if (!t || (unsigned)fd >= (unsigned)t->cap || !t->fd[fd].file)
		return NULL;
	t->fd[fd].file->refs++;
	return t->fd[fd].file;
}

struct file *fd_get(int fd)
{
	struct file *f = fd_get_raw(fd);

	if (f && (f->flags & O_PATH)) {
		file_put(f);
		return NULL;
	}
	return f;
}

struct fdref fd_get_light(int fd)
{
	struct files *t = current->files;
	struct fdref r = {NULL, false};

	if (unlikely((unsigned)fd >= (unsigned)t->cap))
		return r;
	r.file = t->fd[fd].file;
	if (unlikely(!r.file || (r.file->flags & O_PATH))) {
		r.file = NULL;
	} else if (t->refs > 1) {
		r.counted = true;
		r.file->refs++;
	}
	return r;
}

bool *fd_cloexec(int fd)
{
	struct files *t = current->files;

	if ((unsigned)fd >= (unsigned)t->cap || !t->fd[fd].file)
		return NULL;
	return &t->fd[fd].cloexec;
}

int fd_install_new(struct file *f, bool cloexec)
{
	int fd = fd_alloc(f, 0, cloexec);

	if (fd < 0)
		file_put(f);
	return fd;
}

/* ---- system calls ---- */

long sys_close(const u64 a[6])
{
	return fd_close((int)a[0]);
}

long sys_close_range(const u64 a[6])
{
	u32 first = (u32)a[0], last = (u32)a[1], flags = (u32)a[2];
	struct files *t = current->files;

	if (first > last || (flags & ~(u32)(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC)))
		return -EINVAL;
	if ((flags & CLOSE_RANGE_UNSHARE) && t->refs > 1) {
		struct files *own = files_fork(t);

		if (!own)
			return -ENOMEM;
		current->files = own;
		files_put(t);
		t = own;
	}
	for (u32 fd = first; fd <= last && fd < (u32)t->cap; fd++) {
		if (!t->fd[fd].file)
			continue;
		if (flags & CLOSE_RANGE_CLOEXEC)
			t->fd[fd].cloexec = true;
		else
			close_in(t, (int)fd);
	}
	return 0;
}

long sys_dup(const u64 a[6])
{
	struct file *f = fd_get_raw((int)a[0]);

	return f ? fd_install_new(f, false) : -EBADF;
}

long sys_dup3(const u64 a[6])
{
	int oldfd = (int)a[0], newfd = (int)a[1];
	struct files *t = current->files;
	struct file *f, *before;
	int err;

	if ((a[2] & ~(u64)O_CLOEXEC) || oldfd == newfd)
		return -EINVAL;
	if (newfd < 0 || newfd >= fd_limit())
		return -EBADF;
	f = fd_get_raw(oldfd);
	if (!f)
		return -EBADF;
	err = grow(t, newfd);
	if (err) {
		file_put(f);
		return err;
	}
	before = t->fd[newfd].file;
	t->fd[newfd].file = f;
	t->fd[newfd].cloexec = a[2] & O_CLOEXEC;
	if (before)
		end_descriptor(t, before);
	return newfd;
}
