/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * userpage.c - the first page of a mapping, as far as it is about the counter.
 *
 * A task that measures itself reads its counter from user mode, as the comment
 * at struct perf_event_mmap_page in linux/perf_event.h shows it: the count is
 * offset plus what the counter of number index - 1 holds, sign-extended; the
 * times are those in the page plus what has passed since, by the counter that
 * user mode tells the time from. The reader runs on the CPU that writes, so a
 * sequence number around each change is enough.
 *
 * The page is user space's to scribble on; nothing is ever read back from it.
 */
#include <utlist.h>

#include "time.h"
#include "userpage.h"

static uint64_t sign_extended(uint64_t value, unsigned int width)
{
	unsigned int unused = 64 - width;

	return (uint64_t)((int64_t)(value << unused) >> unused);
}

/* Which counter to read, and what to add to it. */
static void tell_counter(struct perf_event *event, struct perf_event_mmap_page *page)
{
	struct perf_hw_event *hw = &event->hw;
	const struct perf_pmu_ops *ops = hw->pmu->ops;
	uint64_t count = atomic_load_explicit(&hw->count, memory_order_relaxed);
	uint16_t width = 0;
	uint32_t index = 0;

	if (hw->user_access && event->state == PERF_STATE_ACTIVE && event->halt == PERF_HALT_NONE)
		index = ops->user_index(hw, &width);
	if (index)
		count -= sign_extended(hw->prev, width);
	page->index = index;
	page->pmc_width = width;
	page->offset = (int64_t)count;
}

static void tell_times(const struct perf_event *event, struct perf_event_mmap_page *page)
{
	struct port_clock_scale scale;

	page->time_enabled = event->time_enabled;
	page->time_running = event->time_running;
	if (port_clock_scale(&scale))
		page->time_offset = scale.zero - event->context->stamp;
}

void perf_userpage_update(struct perf_event *event)
{
	struct perf_event_mmap_page *page = event->page;

	if (!page)
		return;
	perf_time_charge(event);
	page->lock++;
	atomic_signal_fence(memory_order_seq_cst);
	tell_counter(event, page);
	tell_times(event, page);
	atomic_signal_fence(memory_order_seq_cst);
	page->lock++;
}

void perf_userpage_enter(struct perf_context *context)
{
	struct perf_event *event;

	DL_FOREACH2(context->shown, event, shown_next) {
		event->hw.pmu->ops->allow_user(event->hw.pmu, true);
		perf_userpage_update(event);
	}
}

void perf_userpage_leave(struct perf_context *context)
{
	struct perf_event *event;

	DL_FOREACH2(context->shown, event, shown_next)
		event->hw.pmu->ops->allow_user(event->hw.pmu, false);
}

/* What does not change while the page is mapped. */
static void introduce(const struct perf_event *event, struct perf_event_mmap_page *page)
{
	struct port_clock_scale scale;

	page->cap_user_rdpmc = event->hw.user_access;
	if (port_clock_scale(&scale)) {
		page->cap_user_time = 1;
		page->cap_user_time_zero = 1;
		page->time_mult = scale.mult;
		page->time_shift = scale.shift;
		page->time_zero = scale.zero;
	}
}

void perf_userpage_show(struct perf_event *event, struct perf_event_mmap_page *page)
{
	struct perf_context *context = event->context;
	bool is_in = context->cpu >= 0;

	if (event->page && event->hw.user_access) {
		if (is_in)
			perf_userpage_leave(context);
		DL_DELETE2(context->shown, event, shown_prev, shown_next);
		if (is_in)
			perf_userpage_enter(context);
	}
	event->page = page;
	if (!page)
		return;
	/* Who reads his own counter needs it to stay his: no other task gets the context. */
	if (event->hw.user_access) {
		context->family = 0;
		DL_APPEND2(context->shown, event, shown_prev, shown_next);
		if (is_in)
			event->hw.pmu->ops->allow_user(event->hw.pmu, true);
	}
	introduce(event, page);
	perf_userpage_update(event);
}

void perf_hw_loaded(struct perf_hw_event *hw)
{
	perf_userpage_update(perf_event_of_hw(hw));
}
