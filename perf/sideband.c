/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sideband.c - records of what tasks do, beside the samples.
 *
 * Whom to tell: the enabled events of the current task's context and of this
 * CPU's context. Both are in on this CPU, so with interrupts off this CPU owns
 * them, and writing needs no lock of theirs.
 *
 * Layouts are those of linux/perf_event.h, enum perf_event_type.
 */
#include <linux/mman.h>
#include <utlist.h>

#include "context.h"
#include "record.h"
#include "sideband.h"

/* A kind of record: which events want it, and how it is written for one. */
struct news {
	bool (*wanted)(const struct perf_event *event, const void *arg);
	void (*write)(struct perf_event *event, const void *arg);
	const void *arg;
};

static bool runs_here(const struct perf_event *event)
{
	return event->hw.cpu < 0 || event->hw.cpu == port_cpu();
}

static void tell_context(struct perf_context *context, const struct news *news)
{
	struct perf_event *event;

	DL_FOREACH2(context->events, event, ctx_next) {
		if (event->state >= PERF_STATE_INACTIVE && runs_here(event) &&
		    news->wanted(event, news->arg))
			news->write(event, news->arg);
	}
}

/* Tell this CPU's events, and those of the task that runs on it. */
static void tell(const struct news *news)
{
	uintptr_t irq = port_irq_save();
	struct perf_cpu *cpu = perf_this_cpu();

	if (cpu->context->cpu >= 0)
		tell_context(cpu->context, news);
	if (cpu->task_context)
		tell_context(cpu->task_context, news);
	port_irq_restore(irq);
}

/* ------------------------------------------------------------ fork and exit */

struct fork_or_exit {
	uint32_t type;
	const struct port_task *task, *other; /* child and parent, or NULL at exit */
	uint64_t time;
};

static bool wants_tasks(const struct perf_event *event, const void *arg)
{
	const struct perf_event_attr *attr = &event->attr;

	(void)arg;
	return attr->task || attr->comm || attr->mmap || attr->mmap2 || attr->mmap_data;
}

static void put_task(struct perf_output *out, struct perf_event *event, const void *arg)
{
	const struct fork_or_exit *change = arg;
	const struct port_task *task = change->task, *parent = change->other;
	struct perf_identity now;

	perf_identity_now(&now, event);
	perf_output_u32_pair(out, (uint32_t)port_task_pid(task),
			     (uint32_t)(parent ? port_task_pid(parent) : port_task_ppid(task)));
	perf_output_u32_pair(out, (uint32_t)port_task_tid(task),
			     (uint32_t)(parent ? port_task_tid(parent) : port_task_ppid(task)));
	perf_output_u64(out, now.time);
}

static void write_task(struct perf_event *event, const void *arg)
{
	const struct fork_or_exit *change = arg;

	perf_record_write(event, change->type, 0, put_task, change);
}

void perf_do_forked(struct perf_task *child, struct perf_task *parent)
{
	const struct fork_or_exit change = {
		.type = PERF_RECORD_FORK, .task = child->task, .other = parent->task};
	const struct news news = {.wanted = wants_tasks, .write = write_task, .arg = &change};

	tell(&news);
}

void perf_sideband_exit(struct perf_task *task)
{
	const struct fork_or_exit change = {.type = PERF_RECORD_EXIT, .task = task->task};
	const struct news news = {.wanted = wants_tasks, .write = write_task, .arg = &change};

	tell(&news);
}

/* -------------------------------------------------------------------- names */

struct naming {
	const struct port_task *task;
	const char *name;
	bool exec;
};

static bool wants_comm(const struct perf_event *event, const void *arg)
{
	(void)arg;
	return event->attr.comm;
}

static void put_comm(struct perf_output *out, struct perf_event *event, const void *arg)
{
	const struct naming *naming = arg;

	(void)event;
	perf_output_u32_pair(out, (uint32_t)port_task_pid(naming->task),
			     (uint32_t)port_task_tid(naming->task));
	perf_output_string(out, naming->name);
}

static void write_comm(struct perf_event *event, const void *arg)
{
	const struct naming *naming = arg;
	uint16_t misc = naming->exec ? PERF_RECORD_MISC_COMM_EXEC : 0;

	perf_record_write(event, PERF_RECORD_COMM, misc, put_comm, naming);
}

void perf_do_comm(struct perf_task *task, const char *name, bool exec)
{
	const struct naming naming = {.task = task->task, .name = name, .exec = exec};
	const struct news news = {.wanted = wants_comm, .write = write_comm, .arg = &naming};

	tell(&news);
}

/* ----------------------------------------------------------------- mappings */

static bool is_code(const struct perf_mmap *map)
{
	return (map->prot & PROT_EXEC) != 0;
}

static bool wants_mmap(const struct perf_event *event, const void *arg)
{
	const struct perf_event_attr *attr = &event->attr;

	return is_code(arg) ? attr->mmap || attr->mmap2 : attr->mmap_data;
}

static bool uses_build_id(const struct perf_event *event, const struct perf_mmap *map)
{
	return event->attr.mmap2 && event->attr.build_id && map->build_id_size > 0;
}

/* The file, by its build id or by its inode. */
static void put_file(struct perf_output *out, struct perf_event *event, const struct perf_mmap *map)
{
	if (uses_build_id(event, map)) {
		uint8_t size[4] = {map->build_id_size};

		perf_output_bytes(out, size, sizeof(size));
		perf_output_bytes(out, map->build_id, sizeof(map->build_id));
	} else {
		perf_output_u32_pair(out, map->major, map->minor);
		perf_output_u64(out, map->inode);
		perf_output_u64(out, map->inode_generation);
	}
}

static void put_mmap(struct perf_output *out, struct perf_event *event, const void *arg)
{
	const struct perf_mmap *map = arg;
	const struct port_task *task = port_current();

	perf_output_u32_pair(out, (uint32_t)port_task_pid(task), (uint32_t)port_task_tid(task));
	perf_output_u64(out, map->start);
	perf_output_u64(out, map->length);
	perf_output_u64(out, map->page_offset);
	if (event->attr.mmap2) {
		put_file(out, event, map);
		perf_output_u32_pair(out, map->prot, map->flags);
	}
	perf_output_string(out, map->name);
}

static void write_mmap(struct perf_event *event, const void *arg)
{
	const struct perf_mmap *map = arg;
	uint32_t type = event->attr.mmap2 ? PERF_RECORD_MMAP2 : PERF_RECORD_MMAP;
	unsigned int misc = PERF_RECORD_MISC_USER;

	if (!is_code(map))
		misc |= PERF_RECORD_MISC_MMAP_DATA;
	if (uses_build_id(event, map))
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	perf_record_write(event, type, (uint16_t)misc, put_mmap, map);
}

void perf_do_mmap(const struct perf_mmap *map)
{
	const struct news news = {.wanted = wants_mmap, .write = write_mmap, .arg = map};

	tell(&news);
}

/* ----------------------------------------------------------------- switches */

struct switching {
	bool out;
	const struct port_task *other;
};

static bool wants_switches(const struct perf_event *event, const void *arg)
{
	(void)arg;
	return event->attr.context_switch;
}

/* A CPU's event is told of the other task, too; a task's own is not. */
static void put_switch(struct perf_output *out, struct perf_event *event, const void *arg)
{
	const struct switching *switching = arg;

	if (!event->context->of_task)
		perf_output_u32_pair(out, (uint32_t)port_task_pid(switching->other),
				     (uint32_t)port_task_tid(switching->other));
}

static void write_switch(struct perf_event *event, const void *arg)
{
	const struct switching *switching = arg;
	uint32_t type = event->context->of_task ? PERF_RECORD_SWITCH : PERF_RECORD_SWITCH_CPU_WIDE;
	unsigned int misc = switching->out ? PERF_RECORD_MISC_SWITCH_OUT : 0;

	if (switching->out && port_task_runnable(port_current()))
		misc |= PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	perf_record_write(event, type, (uint16_t)misc, put_switch, switching);
}

void perf_sideband_switch(bool out, struct perf_task *other)
{
	const struct switching switching = {.out = out, .other = other->task};
	const struct news news = {
		.wanted = wants_switches, .write = write_switch, .arg = &switching};

	tell(&news);
}
