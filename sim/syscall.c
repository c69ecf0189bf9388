/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscall.c - the system calls that tests make. Arguments go through the first
 * half of the task's user memory, from different ends so that attr, buffer and
 * argument of different calls do not overlap by chance.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#define ARGUMENTS (SIM_USER_SIZE / 2)

struct perf_event_attr sim_attr(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.type = type,
		.size = sizeof(struct perf_event_attr),
		.config = config,
	};
}

struct perf_event_attr sim_attr_hw(uint64_t config)
{
	return sim_attr(PERF_TYPE_HARDWARE, config);
}

struct perf_event_attr sim_attr_sw(uint64_t config)
{
	return sim_attr(PERF_TYPE_SOFTWARE, config);
}

/* ------------------------------------------------------------------- open */

static long do_open(struct sim_task *task, const uintptr_t *arg)
{
	(void)task;
	return perf_sys_event_open(arg[0], (int)arg[1], (int)arg[2], (int)arg[3], arg[4]);
}

long sim_open_raw(struct sim_task *task, uintptr_t attr, int pid, int cpu, int group_fd,
		  unsigned long flags)
{
	return sim_do(task, do_open, attr, (uintptr_t)pid, (uintptr_t)cpu, (uintptr_t)group_fd,
		      flags, 0);
}

long sim_open(struct sim_task *task, const struct perf_event_attr *attr, int pid, int cpu,
	      int group_fd, unsigned long flags)
{
	memcpy(sim_user(task), attr, sizeof(*attr));
	return sim_open_raw(task, (uintptr_t)sim_user(task), pid, cpu, group_fd, flags);
}

/* ------------------------------------------------------------------- read */

static struct sim_file *event_file(struct sim_task *task, uintptr_t fd)
{
	struct sim_file *file = sim_file_of(task->process, (int)fd);

	return file != NULL && file->event != NULL ? file : NULL;
}

static long do_read(struct sim_task *task, const uintptr_t *arg)
{
	struct sim_file *file = event_file(task, arg[0]);
	long result;

	if (file == NULL)
		return -EBADF;
	file->refs++;
	result = perf_file_read(file->event, arg[1], arg[2]);
	sim_file_put(file);
	return result;
}

long sim_read_raw(struct sim_task *task, int fd, uintptr_t buffer, size_t size)
{
	return sim_do(task, do_read, (uintptr_t)fd, buffer, size, 0, 0, 0);
}

long sim_read(struct sim_task *task, int fd, void *buffer, size_t size)
{
	unsigned char *user = sim_user(task) + ARGUMENTS / 2;
	long result;

	sim_assert(size <= ARGUMENTS / 2);
	memset(user, 0xee, size);
	result = sim_read_raw(task, fd, (uintptr_t)user, size);
	memcpy(buffer, user, size);
	return result;
}

uint64_t sim_value(struct sim_task *task, int fd)
{
	uint64_t value;
	long result = sim_read(task, fd, &value, sizeof(value));

	if (result != (long)sizeof(value))
		sim_fail("read of descriptor %d: %ld", fd, result);
	return value;
}

/* ------------------------------------------------------------------ ioctl */

static long do_ioctl(struct sim_task *task, const uintptr_t *arg)
{
	struct sim_file *file = event_file(task, arg[0]);
	long result;

	if (file == NULL)
		return -EBADF;
	file->refs++;
	result = perf_file_ioctl(file->event, (unsigned int)arg[1], arg[2]);
	sim_file_put(file);
	return result;
}

long sim_ioctl(struct sim_task *task, int fd, unsigned int request, uintptr_t arg)
{
	return sim_do(task, do_ioctl, (uintptr_t)fd, request, arg, 0, 0, 0);
}

static long do_task_events(struct sim_task *task, const uintptr_t *arg)
{
	(void)task;
	perf_prctl_events(arg[0] != 0);
	return 0;
}

void sim_task_events(struct sim_task *task, bool enable)
{
	(void)sim_do(task, do_task_events, enable, 0, 0, 0, 0, 0);
}

long sim_ioctl_ptr(struct sim_task *task, int fd, unsigned int request, void *arg, size_t size)
{
	unsigned char *user = sim_user(task) + ARGUMENTS / 4;
	long result;

	sim_assert(size <= ARGUMENTS / 4);
	memcpy(user, arg, size);
	result = sim_ioctl(task, fd, request, (uintptr_t)user);
	memcpy(arg, user, size);
	return result;
}

/* ------------------------------------------------------------------- mmap */

static long do_mmap(struct sim_task *task, const uintptr_t *arg)
{
	struct sim_file *file = event_file(task, arg[0]);
	struct perf_map *map = NULL;
	long result;

	if (file == NULL)
		return -EBADF;
	file->refs++;
	result = perf_map_open(file->event, arg[1], arg[2], true, arg[3] != 0, &map);
	if (result != 0)
		sim_file_put(file);
	*(struct perf_map **)arg[4] = map;
	return result;
}

/* As on Linux, the mapping holds on to the file. */
long sim_mmap(struct sim_task *task, int fd, size_t size, uint64_t offset, bool writable,
	      struct sim_map **map)
{
	struct perf_map *perf_map = NULL;
	long result = sim_do(task, do_mmap, (uintptr_t)fd, size, (uintptr_t)offset, writable,
			     (uintptr_t)&perf_map, 0);

	*map = NULL;
	if (result != 0)
		return result;
	*map = calloc(1, sizeof(**map));
	sim_assert(*map != NULL);
	(*map)->map = perf_map;
	(*map)->file = sim_file_of(task->process, fd);
	(*map)->pages = size / port_page_size();
	(*map)->next = sim.maps;
	(*map)->link = &sim.maps;
	if (sim.maps != NULL)
		sim.maps->link = &(*map)->next;
	sim.maps = *map;
	return 0;
}

static long do_munmap(struct sim_task *task, const uintptr_t *arg)
{
	struct sim_map *map = (struct sim_map *)arg[0];

	(void)task;
	*map->link = map->next;
	if (map->next != NULL)
		map->next->link = map->link;
	perf_map_put(map->map);
	sim_file_put(map->file);
	free(map);
	return 0;
}

void sim_munmap(struct sim_task *task, struct sim_map *map)
{
	sim_do(task, do_munmap, (uintptr_t)map, 0, 0, 0, 0, 0);
}

void *sim_map_page(struct sim_map *map, size_t n)
{
	sim_assert(n < map->pages);
	return perf_map_page(map->map, n);
}

void sim_maps_end(struct sim_task *task)
{
	while (sim.maps != NULL)
		sim_munmap(task, sim.maps);
}
