/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwritten.c - weak definitions of what perf.h declares and the core does not
 * have yet, so that a machine links without it. Mapping an event is refused.
 */
#include <errno.h>

#include "machine.h"

__attribute__((weak)) int perf_map_open(struct perf_event *event, size_t size, uint64_t page_offset,
					bool shared, bool writable, struct perf_map **map)
{
	(void)event;
	(void)size;
	(void)page_offset;
	(void)shared;
	(void)writable;
	(void)map;
	return -EINVAL;
}

__attribute__((weak)) void *perf_map_page(struct perf_map *map, size_t index)
{
	sim_fail("page %zu of %p: no maps yet", index, (void *)map);
}

__attribute__((weak)) void perf_map_put(struct perf_map *map)
{
	sim_fail("end of map %p: no maps yet", (void *)map);
}

/* There are no records yet. */
__attribute__((weak)) void perf_do_forked(struct perf_task *child, struct perf_task *parent)
{
	(void)child;
	(void)parent;
}

__attribute__((weak)) void perf_do_comm(struct perf_task *task, const char *name, bool exec)
{
	(void)task;
	(void)name;
	(void)exec;
}
