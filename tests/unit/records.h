/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records.h - a ring and its reader, as perf has them: maps an event, takes
 * records out one by one, and takes samples to pieces by their attr.
 */
#ifndef TESTS_RECORDS_H
#define TESTS_RECORDS_H

#include "unit.h"

#define PAGE 4096U

struct ring {
	struct sim_map *map;
	struct perf_event_mmap_page *header;
	unsigned int pages;
	uint64_t tail;
};

/* One record, made contiguous. */
struct record {
	uint32_t type;
	uint16_t misc, size;
	union {
		unsigned char bytes[65536 - sizeof(struct perf_event_header)];
		uint64_t words[8190];
	};
};

static inline long ring_try(struct ring *ring, struct sim_task *task, int fd, unsigned int pages,
			    bool writable)
{
	*ring = (struct ring){.pages = pages};
	return sim_mmap(task, fd, (size_t)(1 + pages) * PAGE, 0, writable, &ring->map);
}

static inline void ring_open(struct ring *ring, struct sim_task *task, int fd, unsigned int pages)
{
	assert_int_equal(ring_try(ring, task, fd, pages, true), 0);
	ring->header = sim_map_page(ring->map, 0);
}

static inline void ring_copy(const struct ring *ring, uint64_t pos, void *to, size_t size)
{
	for (size_t i = 0; i < size; i++, pos++) {
		const unsigned char *page =
			sim_map_page(ring->map, 1 + (size_t)(pos / PAGE) % ring->pages);

		((unsigned char *)to)[i] = page[pos % PAGE];
	}
}

/* The next record, or NULL. It is given back to the ring at once. */
static inline const struct record *ring_next(struct ring *ring)
{
	static struct record record;
	struct perf_event_header header;
	uint64_t head = __atomic_load_n(&ring->header->data_head, __ATOMIC_ACQUIRE);

	if (head == ring->tail)
		return NULL;
	ring_copy(ring, ring->tail, &header, sizeof(header));
	assert_in_range(header.size, sizeof(header), head - ring->tail);
	record.type = header.type;
	record.misc = header.misc;
	record.size = (uint16_t)(header.size - sizeof(header));
	ring_copy(ring, ring->tail + sizeof(header), record.bytes, record.size);
	ring->tail += header.size;
	__atomic_store_n(&ring->header->data_tail, ring->tail, __ATOMIC_RELEASE);
	return &record;
}

/* The next record of a type; others before it are skipped. */
static inline const struct record *ring_find(struct ring *ring, uint32_t type)
{
	const struct record *record;

	do
		record = ring_next(ring);
	while (record && record->type != type);
	return record;
}

/* Reads everything; returns how many records of a type there were. */
static inline unsigned int ring_count(struct ring *ring, uint32_t type)
{
	unsigned int n = 0;

	while (ring_find(ring, type))
		n++;
	return n;
}

#endif
