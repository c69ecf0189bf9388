/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record.c - writing one record into the ring of an event; see record.h.
 *
 * Layouts are those of linux/perf_event.h, enum perf_event_type.
 */
#include "record.h"
#include "ring.h"

void perf_identity_now(struct perf_identity *identity, const struct perf_event *event)
{
	const struct port_task *task = port_current();
	const struct perf_event_attr *attr = &event->attr;

	identity->pid = (uint32_t)port_task_pid(task);
	identity->tid = (uint32_t)port_task_tid(task);
	identity->id = event->root ? event->root->id : event->id;
	identity->stream_id = event->id;
	identity->cpu = (uint32_t)port_cpu();
	identity->reserved = 0;
	if (!attr->use_clockid || port_clock_id(attr->clockid, &identity->time) != 0)
		identity->time = port_clock();
}

void perf_output_bytes(struct perf_output *out, const void *data, size_t size)
{
	if (out->ring)
		perf_ring_write(out->ring, out->pos + out->size, data, size);
	out->size += size;
}

void perf_output_u64(struct perf_output *out, uint64_t value)
{
	perf_output_bytes(out, &value, sizeof(value));
}

void perf_output_u32_pair(struct perf_output *out, uint32_t first, uint32_t second)
{
	uint32_t pair[2] = {first, second};

	perf_output_bytes(out, pair, sizeof(pair));
}

void perf_output_string(struct perf_output *out, const char *string)
{
	static const char zeros[8];
	size_t length = 0;

	while (string[length])
		length++;
	perf_output_bytes(out, string, length);
	perf_output_bytes(out, zeros, sizeof(zeros) - length % sizeof(zeros));
}

static void put_trailer(struct perf_output *out, const struct perf_event_attr *attr,
			const struct perf_identity *identity)
{
	uint64_t fields = attr->sample_id_all ? attr->sample_type : 0;

	if (fields & PERF_SAMPLE_TID)
		perf_output_u32_pair(out, identity->pid, identity->tid);
	if (fields & PERF_SAMPLE_TIME)
		perf_output_u64(out, identity->time);
	if (fields & PERF_SAMPLE_ID)
		perf_output_u64(out, identity->id);
	if (fields & PERF_SAMPLE_STREAM_ID)
		perf_output_u64(out, identity->stream_id);
	if (fields & PERF_SAMPLE_CPU)
		perf_output_u32_pair(out, identity->cpu, identity->reserved);
	if (fields & PERF_SAMPLE_IDENTIFIER)
		perf_output_u64(out, identity->id);
}

/* A record on its way into a ring, both of whose locks are held. */
struct writing {
	struct perf_event *event;
	uint32_t type;
	uint16_t misc;
	perf_body_fn body;
	const void *arg;
	struct perf_identity identity; /* for the trailer */
};

/* Header, body and trailer; the size in the header is known in the second pass. */
static void put_record(struct perf_output *out, const struct writing *writing, size_t size)
{
	struct perf_event_header header = {.type = writing->type, .misc = writing->misc};

	header.size = (uint16_t)size;
	perf_output_bytes(out, &header, sizeof(header));
	writing->body(out, writing->event, writing->arg);
	if (writing->type != PERF_RECORD_SAMPLE)
		put_trailer(out, &writing->event->attr, &writing->identity);
}

static size_t measure(const struct writing *writing)
{
	struct perf_output out = {0};

	put_record(&out, writing, 0);
	return out.size;
}

static void put_lost(struct perf_output *out, struct perf_event *event, const void *arg)
{
	const uint64_t *lost = arg;

	perf_output_u64(out, perf_event_root(event)->id);
	perf_output_u64(out, *lost);
}

/* The record, after a LOST record if any were dropped. Returns whether it fit. */
static bool put_in_ring(struct perf_ring *ring, const struct writing *writing)
{
	struct writing lost = {
		.event = writing->event,
		.type = PERF_RECORD_LOST,
		.body = put_lost,
		.arg = &ring->lost,
		.identity = writing->identity,
	};
	size_t lost_size = ring->lost ? measure(&lost) : 0;
	size_t size = measure(writing);
	struct perf_output out = {.ring = ring};

	if (size > UINT16_MAX || ring->paused)
		return false;
	if (!perf_ring_reserve(ring, lost_size + size, writing->event->attr.write_backward,
			       &out.pos))
		return false;
	if (lost_size) {
		put_record(&out, &lost, lost_size);
		ring->lost = 0;
	}
	put_record(&out, writing, size);
	perf_ring_publish(ring);
	return true;
}

/* Whether the reader is to be woken now: after so many samples, or bytes. */
static bool wakes_reader(struct perf_ring *ring, const struct writing *writing)
{
	const struct perf_event_attr *attr = &writing->event->attr;
	bool wake = false;

	if (writing->type == PERF_RECORD_SAMPLE && !attr->watermark && attr->wakeup_events) {
		if (++ring->samples >= attr->wakeup_events) {
			ring->samples = 0;
			wake = true;
		}
	}
	if (ring->written - ring->woken > ring->watermark) {
		ring->woken += ring->watermark;
		wake = true;
	}
	return wake;
}

static void write_locked(struct perf_ring *ring, const struct writing *writing)
{
	if (put_in_ring(ring, writing)) {
		if (wakes_reader(ring, writing))
			perf_ring_wake(ring);
	} else {
		ring->lost++;
		atomic_fetch_add(&perf_event_root(writing->event)->lost_records, 1);
	}
}

void perf_record_write(struct perf_event *event, uint32_t type, uint16_t misc, perf_body_fn body,
		       const void *arg)
{
	struct perf_event *root = perf_event_root(event);
	struct writing writing = {
		.event = event, .type = type, .misc = misc, .body = body, .arg = arg};
	uintptr_t irq = port_spin_lock(&root->output_lock);
	struct perf_ring *ring = root->ring;

	if (ring && ring->nr_pages > 0) {
		uintptr_t ring_irq = port_spin_lock(&ring->lock);

		if (type != PERF_RECORD_SAMPLE || ring->lost)
			perf_identity_now(&writing.identity, event);
		write_locked(ring, &writing);
		port_spin_unlock(&ring->lock, ring_irq);
	}
	port_spin_unlock(&root->output_lock, irq);
}
