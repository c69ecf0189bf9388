/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map.c - mmap(2) on an event, and which event writes into which ring.
 *
 * An event gets a ring by being mapped, or by being told to write into that of
 * another (PERF_EVENT_IOC_SET_OUTPUT); all that changes this goes one at a time
 * under one mutex. Writers see the ring of an event, or none, under the event's
 * output_lock.
 *
 * A ring loses its writers when its last mapping goes. Its pages last until
 * then, whatever has become of its events.
 */
#include <linux/errno.h>
#include <linux/poll.h>
#include <utlist.h>

#include "context.h"
#include "map.h"
#include "ring.h"
#include "userpage.h"

struct perf_map {
	_Atomic uint32_t refs;	  /* areas of user space that it stands for */
	struct perf_event *event; /* holds a reference */
	struct perf_ring *ring;	  /* holds a reference */
};

static struct port_mutex mapping;
static uint64_t pages_in_use; /* by all rings; mapping mutex */

void perf_map_init(void)
{
	port_mutex_init(&mapping);
}

/* -------------------------------------------- which event writes where */

/* Under the mapping mutex. @ring may be NULL. */
static void set_ring(struct perf_event *event, struct perf_ring *ring)
{
	struct perf_ring *old = event->ring;
	uintptr_t irq;

	if (old == ring)
		return;
	if (old) {
		irq = port_spin_lock(&old->lock);
		DL_DELETE2(old->events, event, ring_prev, ring_next);
		port_spin_unlock(&old->lock, irq);
	}
	if (ring) {
		perf_ring_get(ring);
		irq = port_spin_lock(&ring->lock);
		DL_APPEND2(ring->events, event, ring_prev, ring_next);
		port_spin_unlock(&ring->lock, irq);
	}
	irq = port_spin_lock(&event->output_lock);
	event->ring = ring;
	port_spin_unlock(&event->output_lock, irq);
	if (old)
		perf_ring_put(old);
}

/* The clock of the records' times. */
static int64_t clock_of(const struct perf_event *event)
{
	return event->attr.use_clockid ? event->attr.clockid : INT64_MAX;
}

static bool may_redirect(const struct perf_event *event, const struct perf_event *target)
{
	if (event == target || event->hw.cpu != target->hw.cpu)
		return false;
	if (event->hw.cpu < 0 && event->context != target->context)
		return false;
	return clock_of(event) == clock_of(target) &&
	       event->attr.write_backward == target->attr.write_backward;
}

int perf_map_redirect(struct perf_event *event, struct perf_event *target)
{
	int error = -EINVAL;

	if (target && !may_redirect(event, target))
		return -EINVAL;
	port_mutex_lock(&mapping);
	if (event->mappings == 0 && (!target || target->ring)) {
		set_ring(event, target ? target->ring : NULL);
		error = 0;
	}
	port_mutex_unlock(&mapping);
	return error;
}

void perf_map_close_event(struct perf_event *event)
{
	port_mutex_lock(&mapping);
	set_ring(event, NULL);
	port_mutex_unlock(&mapping);
}

int perf_map_pause(struct perf_event *event, bool pause)
{
	struct perf_ring *ring;
	int error = -EINVAL;

	port_mutex_lock(&mapping);
	ring = event->ring;
	if (ring && ring->nr_pages > 0) {
		uintptr_t irq = port_spin_lock(&ring->lock);

		ring->paused = pause;
		port_spin_unlock(&ring->lock, irq);
		error = 0;
	}
	port_mutex_unlock(&mapping);
	return error;
}

bool perf_map_poll(struct perf_event *event, unsigned int *readable)
{
	uintptr_t irq = port_spin_lock(&event->output_lock);
	struct perf_ring *ring = event->ring;

	*readable = ring ? atomic_exchange(&ring->readable, 0) : 0;
	port_spin_unlock(&event->output_lock, irq);
	return ring != NULL;
}

/* ---------------------------------------------------------------- mappings */

/* Rings of the unprivileged are bounded by perf_event_mlock_kb for each CPU. */
static bool may_use(uint64_t pages)
{
	uint64_t kb = (uint64_t)perf_sysctl_get(PERF_SYSCTL_MLOCK_KB);
	uint64_t limit = kb * 1024 / port_page_size() * (uint64_t)port_nr_cpus();

	if (pages_in_use + pages <= limit || perf_sysctl_get(PERF_SYSCTL_PARANOID) < 0)
		return true;
	return port_capable(PORT_CAP_IPC_LOCK);
}

struct showing {
	struct perf_event *event;
	struct perf_event_mmap_page *page;
};

static void show(struct perf_context *context, void *arg)
{
	const struct showing *showing = arg;

	(void)context;
	perf_userpage_show(showing->event, showing->page);
}

/* Have a page tell about the event, or none any more. */
static void set_page(struct perf_event *event, struct perf_event_mmap_page *page)
{
	struct showing showing = {.event = event, .page = page};

	perf_context_run(event->context, show, &showing);
}

/* The event's ring, if it has as many pages; or a new one. */
static int find_ring(struct perf_event *event, unsigned int nr_pages, bool writable,
		     struct perf_ring **result)
{
	struct perf_ring *ring = event->ring;
	uint64_t watermark = event->attr.watermark ? event->attr.wakeup_watermark : 0;

	if (ring) {
		if (ring->nr_pages != nr_pages)
			return -EINVAL;
		perf_ring_get(ring);
		*result = ring;
		return 0;
	}
	if (!may_use(1 + nr_pages))
		return -EPERM;
	ring = perf_ring_create(nr_pages, !writable, watermark);
	if (!ring)
		return -ENOMEM;
	pages_in_use += 1 + nr_pages;
	set_ring(event, ring);
	set_page(event, ring->user);
	*result = ring;
	return 0;
}

static int open_locked(struct perf_event *event, unsigned int nr_pages, bool writable,
		       struct perf_map *map)
{
	int error = find_ring(event, nr_pages, writable, &map->ring);

	if (error)
		return error;
	perf_event_get(event);
	map->event = event;
	event->mappings++;
	map->ring->mappings++;
	return 0;
}

int perf_map_open(struct perf_event *event, size_t size, uint64_t page_offset, bool shared,
		  bool writable, struct perf_map **result)
{
	size_t page_size = port_page_size();
	size_t nr_pages = size / page_size - 1;
	struct perf_map *map;
	int error;

	if (!shared || page_offset != 0 || size == 0 || size % page_size != 0 ||
	    (nr_pages & (nr_pages - 1)) != 0 || nr_pages > UINT32_MAX / page_size)
		return -EINVAL;
	/* Copies on several CPUs at once would all write into it. */
	if (event->hw.cpu < 0 && event->attr.inherit)
		return -EINVAL;

	map = port_alloc(sizeof(*map));
	if (!map)
		return -ENOMEM;
	atomic_init(&map->refs, 1);
	port_mutex_lock(&mapping);
	error = open_locked(event, (unsigned int)nr_pages, writable, map);
	port_mutex_unlock(&mapping);
	if (error)
		port_free(map);
	else
		*result = map;
	return error;
}

void *perf_map_page(struct perf_map *map, size_t index)
{
	return perf_ring_page(map->ring, index);
}

void perf_map_get(struct perf_map *map)
{
	atomic_fetch_add_explicit(&map->refs, 1, memory_order_relaxed);
}

/* Nobody can read the ring any more: no use writing into it. */
static void close_locked(struct perf_map *map)
{
	struct perf_ring *ring = map->ring;

	if (--map->event->mappings == 0) {
		set_page(map->event, NULL);
		if (map->event->ring == ring)
			set_ring(map->event, NULL);
	}
	if (--ring->mappings > 0)
		return;
	while (ring->events)
		set_ring(ring->events, NULL);
	pages_in_use -= 1 + ring->nr_pages;
}

void perf_map_put(struct perf_map *map)
{
	if (atomic_fetch_sub_explicit(&map->refs, 1, memory_order_acq_rel) != 1)
		return;
	port_mutex_lock(&mapping);
	close_locked(map);
	port_mutex_unlock(&mapping);
	perf_ring_put(map->ring);
	perf_event_put(map->event);
	port_free(map);
}
