/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring.h - the buffer between the kernel, which writes records, and user space,
 * which reads them through a mapping.
 *
 * The first page tells the reader about the ring, the others hold records. All
 * pages are the reader's to scribble on at any time: what the kernel needs to
 * know is kept here, data_tail is the only thing it ever reads from there, and
 * whatever that says, only places inside the ring follow from it.
 *
 * Lifetime: each mapping and each event that writes into the ring holds a
 * reference.
 */
#ifndef PERF_RING_H
#define PERF_RING_H

#include "event.h"

struct perf_ring {
	struct port_spinlock lock; /* serialises writers; guards what has no remark */
	_Atomic uint32_t refs;
	struct perf_event_mmap_page *user; /* first page */
	unsigned int nr_pages;		   /* const: data pages, 0 or a power of two */
	unsigned int page_shift;	   /* const */
	uint64_t mask;			   /* const: size in bytes of the data, less one */
	bool overwrite;			   /* const: the reader cannot say what it has read */
	uint64_t watermark;		   /* const: wake up after so many bytes */
	unsigned int mappings;		   /* mapping mutex, see map.c */

	bool paused;
	uint64_t head;		   /* position of the next record; goes down in backward mode */
	uint64_t written;	   /* bytes in all */
	uint64_t woken;		   /* value of written up to which the reader has been woken */
	uint32_t samples;	   /* since the last wake-up by count */
	uint64_t lost;		   /* records dropped and not yet reported */
	_Atomic uint32_t readable; /* POLLIN, to be reported once */

	struct perf_event *events; /* that write into it, to wake their pollers */
	void *data[];		   /* const: the data pages */
};

/**
 * Make a ring of @nr_pages pages of data. @watermark in bytes, 0 for half of it.
 * Context: sleep. Returns NULL if there is no memory.
 */
struct perf_ring *perf_ring_create(unsigned int nr_pages, bool overwrite, uint64_t watermark);

void perf_ring_get(struct perf_ring *ring);

/** Drop a reference; the last one frees the pages. Context: sleep. */
void perf_ring_put(struct perf_ring *ring);

/** Kernel address of the first page (0) or of a data page (1 and up). */
void *perf_ring_page(const struct perf_ring *ring, size_t index);

/**
 * Find room for a record. The lock is held. Returns whether there is; @pos is
 * where it goes.
 */
bool perf_ring_reserve(struct perf_ring *ring, uint64_t size, bool backward, uint64_t *pos);

/** Copy to a position, which may be anything. The lock is held. */
void perf_ring_write(struct perf_ring *ring, uint64_t pos, const void *data, size_t size);

/** The longest piece at a position that is contiguous in memory, at most @size. */
void *perf_ring_piece(struct perf_ring *ring, uint64_t pos, size_t *size);

/** Show the reader everything up to the last reservation. The lock is held. */
void perf_ring_publish(struct perf_ring *ring);

/** Make poll(2) say that there is something to read. The lock is held. */
void perf_ring_wake(struct perf_ring *ring);

#endif
