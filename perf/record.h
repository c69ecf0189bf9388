/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record.h - writing one record into the ring of an event.
 *
 * A record is written in two passes over the same code: first without a ring,
 * to learn its size, then into the room that was reserved for it. So size and
 * contents cannot disagree, as long as nothing that a pass looks at changes in
 * between; a caller captures such things beforehand.
 *
 * All functions are for irq-off context; they neither sleep nor allocate.
 */
#ifndef PERF_RECORD_H
#define PERF_RECORD_H

#include "event.h"

struct perf_ring;

/** A record being measured (ring is NULL) or written. */
struct perf_output {
	struct perf_ring *ring;
	uint64_t pos;
	size_t size; /* so far */
};

/** Who, when and where: the fields that all kinds of records can carry. */
struct perf_identity {
	uint32_t pid, tid;
	uint64_t time;
	uint64_t id;	    /* of the root event */
	uint64_t stream_id; /* of the very event */
	uint32_t cpu, reserved;
};

/** The identity of an event at this moment, on this CPU. */
void perf_identity_now(struct perf_identity *identity, const struct perf_event *event);

void perf_output_bytes(struct perf_output *out, const void *data, size_t size);
void perf_output_u64(struct perf_output *out, uint64_t value);
void perf_output_u32_pair(struct perf_output *out, uint32_t first, uint32_t second);

/** A string with its NUL, filled up with NULs to a multiple of eight bytes. */
void perf_output_string(struct perf_output *out, const char *string);

/** What a record consists of between its header and its trailer. */
typedef void (*perf_body_fn)(struct perf_output *out, struct perf_event *event, const void *arg);

/**
 * Write a record of @type with a body, and with sample_id_all's trailer unless
 * it is a sample, into the ring of @event (a copy's records go to its root's).
 * If there is no room it is dropped, counted, and reported by a LOST record in
 * front of the next one that fits. Wakes readers when it is time.
 */
void perf_record_write(struct perf_event *event, uint32_t type, uint16_t misc, perf_body_fn body,
		       const void *arg);

#endif
