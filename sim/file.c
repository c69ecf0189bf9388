/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.c - files and descriptors, and the part of the port about them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

struct sim_waitq {
	uint32_t magic;
	unsigned int wakeups;
};

_Static_assert(sizeof(struct sim_waitq) <= sizeof(struct port_waitq), "port_waitq is too small");

#define WAITQ_MAGIC 0x3a17c001U

/* ------------------------------------------------------------------ files */

static struct sim_file *make_file(struct perf_event *event)
{
	struct sim_file *file = calloc(1, sizeof(*file));

	sim_assert(file != NULL);
	file->refs = 1;
	file->event = event;
	file->next = sim.files;
	file->link = &sim.files;
	if (file->next != NULL)
		file->next->link = &file->next;
	sim.files = file;
	return file;
}

void sim_file_put(struct sim_file *file)
{
	if (--file->refs != 0)
		return;
	if (file->event != NULL)
		perf_file_release(file->event);
	*file->link = file->next;
	if (file->next != NULL)
		file->next->link = file->link;
	free(file);
}

static struct sim_file *file_of_event(const struct perf_event *event)
{
	for (struct sim_file *file = sim.files; file != NULL; file = file->next)
		if (file->event == event)
			return file;
	return NULL;
}

/* ------------------------------------------------------------ descriptors */

struct sim_file *sim_file_of(struct sim_process *process, int fd)
{
	return fd >= 0 && fd < process->nr_files ? process->files[fd] : NULL;
}

static int free_fd(struct sim_process *process)
{
	int fd = 0;

	while (sim_file_of(process, fd) != NULL)
		fd++;
	if (fd >= process->fd_limit)
		return -EMFILE;
	if (fd >= process->nr_files) {
		int nr = process->nr_files * 2 + 16;

		process->files = realloc(process->files, (size_t)nr * sizeof(struct sim_file *));
		sim_assert(process->files != NULL);
		memset(process->files + process->nr_files, 0,
		       (size_t)(nr - process->nr_files) * sizeof(struct sim_file *));
		process->nr_files = nr;
	}
	return fd;
}

void sim_files_copy(struct sim_process *to, const struct sim_process *from)
{
	if (from->nr_files == 0)
		return;
	to->files = calloc((size_t)from->nr_files, sizeof(struct sim_file *));
	sim_assert(to->files != NULL);
	to->nr_files = from->nr_files;
	for (int fd = 0; fd < from->nr_files; fd++) {
		to->files[fd] = from->files[fd];
		if (to->files[fd] != NULL)
			to->files[fd]->refs++;
	}
}

static int close_fd(struct sim_process *process, int fd)
{
	struct sim_file *file = sim_file_of(process, fd);

	if (file == NULL)
		return -EBADF;
	process->files[fd] = NULL;
	sim_file_put(file);
	return 0;
}

void sim_files_close(struct sim_process *process)
{
	for (int fd = 0; fd < process->nr_files; fd++)
		close_fd(process, fd);
}

static long do_close(struct sim_task *task, const uintptr_t *arg)
{
	return close_fd(task->process, (int)arg[0]);
}

int sim_close(struct sim_task *task, int fd)
{
	return (int)sim_do(task, do_close, (uintptr_t)fd, 0, 0, 0, 0, 0);
}

int sim_dup(struct sim_task *task, int fd)
{
	struct sim_file *file = sim_file_of(task->process, fd);
	int copy = free_fd(task->process);

	if (file == NULL)
		return -EBADF;
	if (copy >= 0) {
		file->refs++;
		task->process->files[copy] = file;
	}
	return copy;
}

int sim_open_other(struct sim_task *task)
{
	int fd = free_fd(task->process);

	if (fd >= 0)
		task->process->files[fd] = make_file(NULL);
	return fd;
}

void sim_set_fd_limit(struct sim_task *task, int limit)
{
	task->process->fd_limit = limit;
}

/* --------------------------------------------------------------- the port */

int port_fd_install(struct perf_event *event, bool cloexec)
{
	struct sim_process *process;
	int fd;

	(void)cloexec;
	sim_must_sleep("port_fd_install()");
	process = sim.cpu->current->process;
	fd = free_fd(process);
	if (fd >= 0)
		process->files[fd] = make_file(event);
	return fd;
}

struct perf_event *port_fd_get(int fd)
{
	struct sim_file *file;

	sim_must_sleep("port_fd_get()");
	file = sim_file_of(sim.cpu->current->process, fd);
	if (file == NULL || file->event == NULL)
		return NULL;
	file->refs++;
	return file->event;
}

void port_fd_put(struct perf_event *event)
{
	struct sim_file *file = file_of_event(event);

	sim_must_sleep("port_fd_put()");
	if (file == NULL)
		sim_fail("port_fd_put() of an event that has no file");
	sim_file_put(file);
}

static struct sim_waitq *waitq_of(struct port_waitq *waitq)
{
	struct sim_waitq *w = (struct sim_waitq *)waitq->opaque;

	if (w->magic != WAITQ_MAGIC)
		sim_fail("a wait queue that is not initialised");
	return w;
}

void port_waitq_init(struct port_waitq *waitq)
{
	*(struct sim_waitq *)waitq->opaque = (struct sim_waitq){.magic = WAITQ_MAGIC};
}

void port_wake(struct port_waitq *waitq)
{
	waitq_of(waitq)->wakeups++;
}

void port_signal(struct perf_event *event, int si_code)
{
	struct sim_file *file = file_of_event(event);

	if (file == NULL)
		return;
	file->signals++;
	file->si_code = si_code;
}

/* ------------------------------------------------ what tests ask a file for */

static long do_poll(struct sim_task *task, const uintptr_t *arg)
{
	struct sim_file *file = sim_file_of(task->process, (int)arg[0]);

	if (file == NULL || file->event == NULL)
		return -EBADF;
	return perf_file_poll(file->event);
}

unsigned int sim_poll(struct sim_task *task, int fd)
{
	return (unsigned int)sim_do(task, do_poll, (uintptr_t)fd, 0, 0, 0, 0, 0);
}

static long do_count_wakeups(struct sim_task *task, const uintptr_t *arg)
{
	struct sim_file *file = sim_file_of(task->process, (int)arg[0]);

	if (file == NULL || file->event == NULL)
		return 0;
	return waitq_of(perf_file_waitq(file->event))->wakeups;
}

unsigned int sim_wakeups(struct sim_task *task, int fd)
{
	return (unsigned int)sim_do(task, do_count_wakeups, (uintptr_t)fd, 0, 0, 0, 0, 0);
}

unsigned int sim_signals(struct sim_task *task, int fd, int *si_code)
{
	const struct sim_file *file = sim_file_of(task->process, fd);

	sim_assert(file != NULL);
	if (si_code != NULL)
		*si_code = file->si_code;
	return file->signals;
}
