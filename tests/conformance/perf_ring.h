/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the ring of an event, record by record. */
#ifndef TALLY_PERF_RING_H
#define TALLY_PERF_RING_H

#include "perf_util.h"

#include <poll.h>
#include <sys/mman.h>

#define PAGE 4096u

struct ring {
	struct perf_event_mmap_page *page;
	unsigned char *data;
	size_t size;
	unsigned char copy[65536]; /* the record that ring_next() returned */
};

/* Maps 1 + pages; false (with errno) when that is refused. */
static inline bool ring_map(struct ring *r, int fd, size_t pages, int prot)
{
	void *at = mmap(NULL, (pages + 1) * PAGE, prot, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return false;
	r->page = at;
	r->data = (unsigned char *)at + PAGE;
	r->size = pages * PAGE;
	return true;
}

/* The next record, copied out and given back to the kernel; NULL when there is none. */
static inline struct perf_event_header *ring_next(struct ring *r)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->page->data_tail;
	struct perf_event_header h;

	if (tail == head)
		return NULL;
	for (size_t i = 0; i < sizeof(h); i++)
		((unsigned char *)&h)[i] = r->data[(tail + i) % r->size];
	if (h.size < sizeof(h) || h.size > head - tail) {
		FAIL("record of %d bytes where %llu are", h.size, (unsigned long long)(head - tail));
		return NULL;
	}
	for (size_t i = 0; i < h.size; i++)
		r->copy[i] = r->data[(tail + i) % r->size];
	__atomic_store_n(&r->page->data_tail, tail + h.size, __ATOMIC_RELEASE);
	return (struct perf_event_header *)r->copy;
}

/* Skips to the next record of a type. */
static inline struct perf_event_header *ring_find(struct ring *r, uint32_t type)
{
	struct perf_event_header *h;

	do
		h = ring_next(r);
	while (h && h->type != type);
	return h;
}

/* How many records of a type are there; all are consumed. */
static inline int ring_count(struct ring *r, uint32_t type)
{
	struct perf_event_header *h;
	int n = 0;

	while ((h = ring_next(r)))
		n += h->type == type;
	return n;
}

/* cycles:u every `period`, disabled; on Linux in QEMU the one counter that samples right. */
static inline struct perf_event_attr sampling(uint64_t period, uint64_t sample_type)
{
	struct perf_event_attr attr = perf_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.disabled = 1;
	attr.sample_period = period;
	attr.sample_type = sample_type;
	return attr;
}

static inline void run_enabled(int fd, uint64_t turns)
{
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin(turns);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

#endif
