/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring.c - the buffer between the kernel and user space; see ring.h.
 *
 * Publication order, as linux/perf_event.h describes it: the bytes of a record
 * are visible before the data_head that covers them, and the reader has done
 * with bytes before we see the data_tail that gives them back.
 */
#include <linux/poll.h>
#include <utlist.h>

#include "ring.h"

static unsigned int log2_of(size_t power_of_two)
{
	return (unsigned int)__builtin_ctzll(power_of_two);
}

static void free_pages(struct perf_ring *ring)
{
	for (unsigned int i = 0; i < ring->nr_pages && ring->data[i]; i++)
		port_page_free(ring->data[i]);
	if (ring->user)
		port_page_free(ring->user);
	port_free(ring);
}

static bool alloc_pages(struct perf_ring *ring)
{
	ring->user = port_page_alloc();
	if (!ring->user)
		return false;
	for (unsigned int i = 0; i < ring->nr_pages; i++) {
		ring->data[i] = port_page_alloc();
		if (!ring->data[i])
			return false;
	}
	return true;
}

static void describe_to_reader(struct perf_ring *ring)
{
	struct perf_event_mmap_page *user = ring->user;

	user->cap_bit0_is_deprecated = 1;
	user->size = offsetof(struct perf_event_mmap_page, __reserved);
	user->data_offset = port_page_size();
	user->data_size = (uint64_t)ring->nr_pages << ring->page_shift;
}

struct perf_ring *perf_ring_create(unsigned int nr_pages, bool overwrite, uint64_t watermark)
{
	struct perf_ring *ring = port_alloc(sizeof(*ring) + nr_pages * sizeof(ring->data[0]));
	uint64_t size;

	if (!ring)
		return NULL;
	ring->nr_pages = nr_pages;
	if (!alloc_pages(ring)) {
		free_pages(ring);
		return NULL;
	}
	port_spin_init(&ring->lock);
	atomic_init(&ring->refs, 1);
	ring->page_shift = log2_of(port_page_size());
	size = (uint64_t)nr_pages << ring->page_shift;
	ring->mask = size - 1;
	ring->overwrite = overwrite;
	ring->watermark = watermark && watermark < size ? watermark : size / 2;
	describe_to_reader(ring);
	return ring;
}

void perf_ring_get(struct perf_ring *ring)
{
	atomic_fetch_add_explicit(&ring->refs, 1, memory_order_relaxed);
}

void perf_ring_put(struct perf_ring *ring)
{
	if (atomic_fetch_sub_explicit(&ring->refs, 1, memory_order_acq_rel) == 1)
		free_pages(ring);
}

void *perf_ring_page(const struct perf_ring *ring, size_t index)
{
	if (index == 0)
		return ring->user;
	return index <= ring->nr_pages ? ring->data[index - 1] : NULL;
}

/*
 * Room is what lies between head and the tail that the reader claims, going
 * round the ring, less one byte, so that a full ring differs from an empty one.
 */
static uint64_t room(const struct perf_ring *ring, bool backward)
{
	uint64_t tail = __atomic_load_n(&ring->user->data_tail, __ATOMIC_ACQUIRE);

	return (backward ? ring->head - tail - 1 : tail - ring->head - 1) & ring->mask;
}

bool perf_ring_reserve(struct perf_ring *ring, uint64_t size, bool backward, uint64_t *pos)
{
	if (size > ring->mask || (!ring->overwrite && room(ring, backward) < size))
		return false;
	if (backward)
		ring->head -= size;
	*pos = ring->head;
	if (!backward)
		ring->head += size;
	ring->written += size;
	return true;
}

void *perf_ring_piece(struct perf_ring *ring, uint64_t pos, size_t *size)
{
	size_t page_size = (size_t)1 << ring->page_shift;
	size_t offset = (size_t)pos & (page_size - 1);
	char *page = ring->data[(pos & ring->mask) >> ring->page_shift];

	if (*size > page_size - offset)
		*size = page_size - offset;
	return page + offset;
}

void perf_ring_write(struct perf_ring *ring, uint64_t pos, const void *data, size_t size)
{
	const char *from = data;

	while (size > 0) {
		size_t part = size;
		void *to = perf_ring_piece(ring, pos, &part);

		__builtin_memcpy(to, from, part);
		pos += part;
		from += part;
		size -= part;
	}
}

void perf_ring_publish(struct perf_ring *ring)
{
	__atomic_store_n(&ring->user->data_head, ring->head, __ATOMIC_RELEASE);
}

void perf_ring_wake(struct perf_ring *ring)
{
	struct perf_event *event;

	atomic_store(&ring->readable, POLLIN);
	DL_FOREACH2(ring->events, event, ring_next)
		port_wake(&event->waitq);
}
