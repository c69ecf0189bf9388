/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sample.c - PERF_RECORD_SAMPLE: its fields, in the order of the ABI; and
 * PERF_RECORD_READ, which is one of them alone.
 *
 * Everything is captured first, then the record is measured and written.
 */
#include <utlist.h>

#include "attr.h"
#include "callchain.h"
#include "context.h"
#include "record.h"
#include "ring.h"
#include "sample.h"
#include "time.h"

/* What a memory access was like, when nobody knows (enum perf_mem_data_src). */
static const union perf_mem_data_src unknown_access = {
	.mem_op = PERF_MEM_OP_NA,
	.mem_lvl = PERF_MEM_LVL_NA,
	.mem_snoop = PERF_MEM_SNOOP_NA,
	.mem_lock = PERF_MEM_LOCK_NA,
	.mem_dtlb = PERF_MEM_TLB_NA,
	.mem_lvl_num = PERF_MEM_LVLNUM_NA,
};

/* Leaves this much of the largest record to the fields other than the stack. */
enum { MAX_STACK_BYTES = 48 * 1024 };

struct sample {
	const struct port_regs *regs; /* interrupted context */
	const struct port_regs *user; /* user mode context, the same or below, or NULL */
	uint64_t addr;
	struct perf_identity identity;
	struct perf_callchain chain;
};

/* ------------------------------------------------------------------ fields */

static void put_registers(struct perf_output *out, const struct port_regs *regs, uint64_t mask)
{
	perf_output_u64(out, regs ? port_regs_abi() : PERF_SAMPLE_REGS_ABI_NONE);
	if (!regs)
		return;
	while (mask) {
		unsigned int index = (unsigned int)__builtin_ctzll(mask);

		perf_output_u64(out, port_regs_value(regs, index));
		mask &= mask - 1;
	}
}

/* Copy user memory into the ring, piece by piece; returns how much there was. */
static uint64_t copy_stack(struct perf_output *out, uint64_t from, size_t size)
{
	uint64_t pos = out->pos + out->size;
	uint64_t done = 0;

	while (done < size) {
		size_t piece = size - done;
		size_t page_left = port_page_size() - (from + done) % port_page_size();
		void *to = perf_ring_piece(out->ring, pos + done, &piece);

		if (piece > page_left)
			piece = page_left;
		if (port_copy_from_user_atomic(to, (uintptr_t)(from + done), piece) != 0)
			break;
		done += piece;
	}
	return done;
}

/* Size asked for, that many bytes of stack, and how many of them are real. */
static void put_stack(struct perf_output *out, const struct port_regs *user, size_t size)
{
	uint64_t copied = 0;

	if (size > MAX_STACK_BYTES)
		size = MAX_STACK_BYTES;
	if (!user)
		size = 0;
	perf_output_u64(out, size);
	if (size == 0)
		return;
	if (out->ring)
		copied = copy_stack(out, port_regs_sp(user), size);
	out->size += size;
	perf_output_u64(out, copied);
}

static void put_read_identity(struct perf_output *out, uint64_t format, struct perf_event *event)
{
	struct perf_event *root = perf_event_root(event);

	if (format & PERF_FORMAT_ID)
		perf_output_u64(out, root->id);
	if (format & PERF_FORMAT_LOST)
		perf_output_u64(out, atomic_load(&root->lost_records));
}

static void put_read_times(struct perf_output *out, uint64_t format,
			   const struct perf_reading *reading)
{
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		perf_output_u64(out, reading->time_enabled);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		perf_output_u64(out, reading->time_running);
}

static void put_read_one(struct perf_output *out, struct perf_event *event)
{
	uint64_t format = event->attr.read_format;
	struct perf_reading reading = {0};

	perf_time_read(event, &reading);
	perf_output_u64(out, reading.count);
	put_read_times(out, format, &reading);
	put_read_identity(out, format, event);
}

static void put_read_group(struct perf_output *out, struct perf_event *leader, uint64_t format)
{
	struct perf_reading reading = {0};
	struct perf_event *sibling;

	perf_time_read(leader, &reading);
	perf_output_u64(out, 1 + leader->nr_siblings);
	put_read_times(out, format, &reading);
	perf_output_u64(out, reading.count);
	put_read_identity(out, format, leader);
	DL_FOREACH2(leader->siblings, sibling, sib_next) {
		reading = (struct perf_reading){0};
		perf_time_read(sibling, &reading);
		perf_output_u64(out, reading.count);
		put_read_identity(out, format, sibling);
	}
}

/* The values of the event, or of its group, in the layout of read(2). */
static void put_read(struct perf_output *out, struct perf_event *event)
{
	if (event->attr.read_format & PERF_FORMAT_GROUP)
		put_read_group(out, event->leader, event->attr.read_format);
	else
		put_read_one(out, event);
}

static void put_chain(struct perf_output *out, const struct perf_callchain *chain)
{
	perf_output_u64(out, chain->nr);
	perf_output_bytes(out, chain->ips, chain->nr * sizeof(*chain->ips));
}

/* What a tracepoint says: its size, rounded up so that all is a multiple of 8, and the bytes. Others say 0. */
static void put_raw(struct perf_output *out, const struct perf_event *event)
{
	struct perf_raw raw = {0};
	const uint64_t zero = 0;
	uint32_t size;
	size_t padding;

	if (event->attr.type == PERF_TYPE_TRACEPOINT)
		raw = perf_this_cpu()->raw;
	padding = (0 - (sizeof(size) + raw.size)) % sizeof(uint64_t);
	size = (uint32_t)(raw.size + padding);
	perf_output_bytes(out, &size, sizeof(size));
	perf_output_bytes(out, raw.data, raw.size);
	perf_output_bytes(out, &zero, padding);
}

/* -------------------------------------------------------------- the record */

static void put_first_fields(struct perf_output *out, const struct perf_event *event,
			     const struct sample *sample)
{
	const struct perf_identity *identity = &sample->identity;
	uint64_t fields = event->attr.sample_type;

	if (fields & PERF_SAMPLE_IDENTIFIER)
		perf_output_u64(out, identity->id);
	if (fields & PERF_SAMPLE_IP)
		perf_output_u64(out, port_regs_ip(sample->regs));
	if (fields & PERF_SAMPLE_TID)
		perf_output_u32_pair(out, identity->pid, identity->tid);
	if (fields & PERF_SAMPLE_TIME)
		perf_output_u64(out, identity->time);
	if (fields & PERF_SAMPLE_ADDR)
		perf_output_u64(out, sample->addr);
	if (fields & PERF_SAMPLE_ID)
		perf_output_u64(out, identity->id);
	if (fields & PERF_SAMPLE_STREAM_ID)
		perf_output_u64(out, identity->stream_id);
	if (fields & PERF_SAMPLE_CPU)
		perf_output_u32_pair(out, identity->cpu, identity->reserved);
	if (fields & PERF_SAMPLE_PERIOD)
		perf_output_u64(out, event->hw.last_period);
}

static void put_context_fields(struct perf_output *out, const struct perf_event *event,
			       const struct sample *sample)
{
	const struct perf_event_attr *attr = &event->attr;
	uint64_t fields = attr->sample_type;

	if (fields & PERF_SAMPLE_CALLCHAIN)
		put_chain(out, &sample->chain);
	if (fields & PERF_SAMPLE_RAW)
		put_raw(out, event);
	if (fields & PERF_SAMPLE_BRANCH_STACK)
		perf_output_u64(out, 0);
	if (fields & PERF_SAMPLE_REGS_USER)
		put_registers(out, sample->user, attr->sample_regs_user);
	if (fields & PERF_SAMPLE_STACK_USER)
		put_stack(out, sample->user, attr->sample_stack_user);
}

static void put_last_fields(struct perf_output *out, const struct perf_event *event,
			    const struct sample *sample)
{
	const struct perf_event_attr *attr = &event->attr;
	uint64_t fields = attr->sample_type;

	if (fields & PERF_SAMPLE_WEIGHT_TYPE)
		perf_output_u64(out, 0);
	if (fields & PERF_SAMPLE_DATA_SRC)
		perf_output_u64(out, unknown_access.val);
	if (fields & PERF_SAMPLE_TRANSACTION)
		perf_output_u64(out, 0);
	if (fields & PERF_SAMPLE_REGS_INTR)
		put_registers(out, sample->regs, attr->sample_regs_intr);
	if (fields & PERF_SAMPLE_PHYS_ADDR)
		perf_output_u64(out, port_phys_addr(sample->addr));
	if (fields & PERF_SAMPLE_CGROUP)
		perf_output_u64(out, 0);
	if (fields & PERF_SAMPLE_DATA_PAGE_SIZE)
		perf_output_u64(out, port_mapped_page_size(sample->addr));
	if (fields & PERF_SAMPLE_CODE_PAGE_SIZE)
		perf_output_u64(out, port_mapped_page_size(port_regs_ip(sample->regs)));
	if (fields & PERF_SAMPLE_AUX)
		perf_output_u64(out, 0);
}

static void put_sample(struct perf_output *out, struct perf_event *event, const void *arg)
{
	const struct sample *sample = arg;

	put_first_fields(out, event, sample);
	if (event->attr.sample_type & PERF_SAMPLE_READ)
		put_read(out, event);
	put_context_fields(out, event, sample);
	put_last_fields(out, event, sample);
}

static void put_read_record(struct perf_output *out, struct perf_event *event, const void *arg)
{
	const struct port_task *task = arg;

	perf_output_u32_pair(out, (uint32_t)port_task_pid(task), (uint32_t)port_task_tid(task));
	put_read(out, event);
}

void perf_sample_write_read(struct perf_event *event)
{
	perf_record_write(event, PERF_RECORD_READ, 0, put_read_record, port_current());
}

/* What the fields need to know of user mode, beneath an interrupt in the kernel. */
static bool wants_user_context(const struct perf_event_attr *attr)
{
	const uint64_t fields =
		PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	return (attr->sample_type & fields) != 0;
}

/*
 * What is counted in the switch hooks, or noticed there because interrupts were
 * off, is the scheduler's doing and not ours; so with a tracepoint.
 */
static const struct port_regs *regs_here(void)
{
	const struct perf_site *site = &perf_this_cpu()->site;

	if (site->ip)
		return port_regs_at(site->ip, site->frame);
	return port_regs_at((uintptr_t)__builtin_return_address(0),
			    (uintptr_t)__builtin_frame_address(0));
}

void perf_sample_write(struct perf_event *event, const struct port_regs *regs, uint64_t addr)
{
	const struct perf_event_attr *attr = &event->attr;
	struct sample sample = {.regs = regs, .addr = addr};

	if (!regs)
		regs = sample.regs = regs_here();
	if (port_regs_user(regs)) {
		sample.user = regs;
	} else if (attr->exclude_kernel || wants_user_context(attr)) {
		sample.user = port_regs_of_user();
		/* Counted in user mode, noticed after it was left. */
		if (attr->exclude_kernel && sample.user)
			sample.regs = sample.user;
	}
	perf_identity_now(&sample.identity, event);
	if (attr->sample_type & PERF_SAMPLE_CALLCHAIN)
		perf_callchain_capture(&sample.chain, attr, sample.regs, sample.user);
	if (attr->sample_type & PERF_SAMPLE_READ)
		perf_time_advance(event->context);
	perf_record_write(event, PERF_RECORD_SAMPLE,
			  port_regs_user(sample.regs) ? PERF_RECORD_MISC_USER
						      : PERF_RECORD_MISC_KERNEL,
			  put_sample, &sample);
}
