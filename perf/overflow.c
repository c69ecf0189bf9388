/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * overflow.c - the interrupt side of an event: period, limits, and halting.
 *
 * Frequency mode keeps a schedule in running time: sample number n is due at n
 * times the interval. At each overflow the next period is chosen from the rate
 * seen since the last one so that it ends when the next sample is due. An error
 * made once is so made good at the next sample, and the number of samples stays
 * right over any time; sleeping does not count.
 *
 * Halting. An event that samples too often, or has reached its refresh limit,
 * cannot be taken off its counter here, in the middle of its driver's interrupt
 * handler. Its counter is stopped, it goes on the CPU's list of halted events,
 * and a timer has sched.c see to it.
 */
#include <utlist.h>

#include "context.h"
#include "overflow.h"
#include "record.h"
#include "sample.h"
#include "time.h"
#include "userpage.h"

/* si_code of the signals, as in fcntl(2). */
enum { CODE_POLL_IN = 1, CODE_POLL_HUP = 6 };

static const uint64_t ns_per_s = 1000000000;

/* Samples are rationed per burst of 4 ms, as with Linux's tick at 250 Hz. */
static const uint64_t burst_ns = 4000000;
static const uint64_t bursts_per_s = 250;

/*
 * All samples of a CPU together may take perf_cpu_time_max_percent of its time, so that the CPU
 * gets on with its work whatever is asked of it; as on Linux, 0 and 100 are no limit. One sample
 * counts for no more than most_ns: the clock may have jumped for other reasons, as when the CPU
 * itself is virtual.
 */
static const uint64_t most_ns = 100000;

/* A first guess for frequency mode: this fraction of what one count per ns gives. */
enum { FIRST_GUESS_FRACTION = 1000 };

/* ----------------------------------------------------------------- periods */

static uint64_t interval_of(const struct perf_event *event)
{
	return ns_per_s / event->attr.sample_freq;
}

static uint64_t at_least_one(uint64_t value)
{
	return value ? value : 1;
}

/* A clock's period follows from its frequency; others must find theirs. */
static uint64_t first_period(const struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (!attr->freq)
		return attr->sample_period;
	if (attr->sample_freq == 0)
		return 0;
	if (perf_event_is_clock(event))
		return at_least_one(interval_of(event));
	if (perf_event_is_software(event))
		return 1;
	return at_least_one(interval_of(event) / FIRST_GUESS_FRACTION);
}

static void begin_period(struct perf_event *event, uint64_t period)
{
	event->hw.sample_period = period;
	event->hw.last_period = period;
	event->hw.period_left = (int64_t)period;
}

void perf_overflow_init(struct perf_event *event)
{
	begin_period(event, first_period(event));
	if (event->attr.freq && event->attr.sample_freq)
		event->freq.due = interval_of(event);
}

void perf_overflow_set_period(struct perf_event *event, uint64_t value)
{
	event->attr.sample_period = value;
	begin_period(event, first_period(event));
	if (event->attr.freq)
		event->freq.due = event->freq.time + interval_of(event);
}

/* a * b / c without more than 64 bits, for b below 2^32; good to 2^-31. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	while (a >> 32) {
		a >>= 1;
		c >>= 1;
	}
	return a * b / at_least_one(c);
}

static uint64_t running_time(struct perf_event *event)
{
	perf_time_advance(event->context);
	perf_time_charge(event);
	return event->time_running;
}

/* A sample has come; choose the period after which the next one is due. */
static void adapt_period(struct perf_event *event)
{
	uint64_t interval = interval_of(event);
	uint64_t now = running_time(event);
	uint64_t count = atomic_load_explicit(&event->hw.count, memory_order_relaxed);
	uint64_t ns = now - event->freq.time;
	uint64_t counted = count - event->freq.count;
	uint64_t to_go;

	event->freq.time = now;
	event->freq.count = count;
	event->freq.due += interval;
	if (event->freq.due + 2 * interval < now) /* too rare to keep up with: start afresh */
		event->freq.due = now + interval;
	to_go = event->freq.due > now ? event->freq.due - now : 0;
	if (to_go < interval / 2)
		to_go = interval / 2;
	if (to_go > 2 * interval)
		to_go = 2 * interval;
	event->hw.sample_period = at_least_one(scale(counted, to_go, at_least_one(ns)));
}

bool perf_hw_next_period(struct perf_hw_event *hw, uint64_t mask, uint64_t *left)
{
	struct perf_event *event = perf_event_of_hw(hw);
	uint64_t half = mask >> 1;
	bool ended = false;

	if (hw->sample_period == 0) {
		*left = half;
		return false;
	}
	if (hw->period_left <= 0) {
		ended = true;
		hw->last_period = hw->sample_period;
		if (event->attr.freq && !perf_event_is_clock(event))
			adapt_period(event);
		hw->period_left += (int64_t)hw->sample_period;
		/* Late by more than a whole period: what was missed stays missed. */
		if (hw->period_left <= 0)
			hw->period_left = (int64_t)hw->sample_period;
	}
	*left = (uint64_t)hw->period_left < half ? (uint64_t)hw->period_left : half;
	return ended;
}

/* ----------------------------------------------------------------- halting */

/* On the list, to be looked at by a certain time. */
static void list_halted(struct perf_event *event, uint64_t when)
{
	struct perf_cpu *cpu = perf_this_cpu();

	if (!cpu->halted || when < cpu->halt_when) {
		cpu->halt_when = when;
		port_timer_start(&cpu->halt_timer, when);
	}
	DL_APPEND2(cpu->halted, event, halt_prev, halt_next);
}

static void halt(struct perf_event *event, enum perf_halt why, uint64_t until)
{
	event->hw.pmu->ops->stop(&event->hw, PERF_PMU_UPDATE);
	event->halt = why;
	perf_userpage_update(event);
	list_halted(event, until);
}

static void unlist(struct perf_event *event)
{
	struct perf_cpu *cpu = perf_this_cpu();

	if (event->halt == PERF_HALT_NONE)
		return;
	DL_DELETE2(cpu->halted, event, halt_prev, halt_next);
	if (!cpu->halted)
		port_timer_stop(&cpu->halt_timer);
}

static void put_throttle(struct perf_output *out, struct perf_event *event, const void *arg)
{
	const struct perf_identity *identity = arg;

	(void)event;
	perf_output_u64(out, identity->time);
	perf_output_u64(out, identity->id);
	perf_output_u64(out, identity->stream_id);
}

static void record_throttle(struct perf_event *event, uint32_t type)
{
	struct perf_identity identity;

	perf_identity_now(&identity, event);
	perf_record_write(event, type, 0, put_throttle, &identity);
}

static void end_throttle(struct perf_event *event)
{
	event->halt = PERF_HALT_NONE;
	event->burst = 0;
	record_throttle(event, PERF_RECORD_UNTHROTTLE);
}

/* Charge this CPU for a sample; whether its share is used up. */
static bool share_is_spent(uint64_t began, uint64_t now)
{
	uint64_t percent = (uint64_t)perf_sysctl_get(PERF_SYSCTL_CPU_TIME_MAX_PERCENT);
	struct perf_cpu *cpu = perf_this_cpu();

	if (now - cpu->share_began >= burst_ns) {
		cpu->share_began = now;
		cpu->share_spent = 0;
	}
	cpu->share_spent += now - began < most_ns ? now - began : most_ns;
	return percent % 100 != 0 && cpu->share_spent > burst_ns * percent / 100;
}

/*
 * Whether this sample, which began to be taken at @began, is one too many, in which case it is
 * the last for a while.
 */
static void ration(struct perf_event *event, uint64_t began)
{
	uint64_t max = (uint64_t)perf_sysctl_get(PERF_SYSCTL_MAX_SAMPLE_RATE) / bursts_per_s;
	uint64_t now = port_clock();
	bool spent = share_is_spent(began, now);

	if (now - event->burst_began >= burst_ns) {
		event->burst_began = now;
		event->burst = 0;
	}
	if (++event->burst <= at_least_one(max) && !spent)
		return;
	record_throttle(event, PERF_RECORD_THROTTLE);
	halt(event, PERF_HALT_THROTTLED, event->burst_began + burst_ns);
}

bool perf_overflow_going_on(struct perf_event *event)
{
	if (event->halt == PERF_HALT_THROTTLED)
		end_throttle(event);
	if (event->halt == PERF_HALT_NONE)
		return true;
	list_halted(event, 0);
	return false;
}

void perf_overflow_catch_up(struct perf_event *event)
{
	uint64_t left;

	if (event->hw.sample_period && perf_hw_next_period(&event->hw, UINT64_MAX, &left))
		perf_overflow(&event->hw, NULL, 0);
}

void perf_overflow_going_off(struct perf_event *event)
{
	perf_overflow_catch_up(event);
	unlist(event);
}

uint64_t perf_overflow_halted_until(const struct perf_event *event)
{
	return event->halt == PERF_HALT_THROTTLED ? event->burst_began + burst_ns : 0;
}

void perf_overflow_go_on(struct perf_event *event)
{
	unlist(event);
	if (event->halt == PERF_HALT_THROTTLED)
		end_throttle(event);
	event->halt = PERF_HALT_NONE;
	event->hw.pmu->ops->start(&event->hw);
}

/* ---------------------------------------------------------------- overflow */

/* attr.sigtrap. What an event of user mode only says of the kernel, by skid, is nobody's business. */
static void send_sigtrap(const struct perf_event *event, const struct port_regs *regs,
			 uint64_t addr)
{
	bool reveals = event->attr.exclude_kernel && regs && !port_regs_user(regs);

	port_sigtrap(reveals ? 0 : addr, event->attr.sig_data, event->attr.type);
}

/* What is counted where it happens cannot come too often: only interrupts are rationed. */
static bool is_by_interrupt(const struct perf_event *event)
{
	return !perf_event_is_software(event) || perf_event_is_clock(event);
}

void perf_overflow_count(struct perf_event *event, uint64_t nr, const struct port_regs *regs,
			 uint64_t addr)
{
	struct perf_hw_event *hw = &event->hw;
	uint64_t left;

	perf_hw_fold(hw, hw->prev + nr, UINT64_MAX);
	if (perf_hw_next_period(hw, UINT64_MAX, &left))
		perf_overflow(hw, regs, addr);
}

void perf_overflow(struct perf_hw_event *hw, const struct port_regs *regs, uint64_t addr)
{
	struct perf_event *event = perf_event_of_hw(hw);
	uint64_t began = port_clock();
	int si_code = CODE_POLL_IN;

	if (hw->sample_period == 0 || event->halt != PERF_HALT_NONE)
		return;
	perf_sample_write(event, regs, addr);
	if (event->attr.sigtrap)
		send_sigtrap(event, regs, addr);
	if (atomic_load_explicit(&event->refresh_left, memory_order_relaxed) > 0 &&
	    atomic_fetch_sub(&event->refresh_left, 1) == 1) {
		si_code = CODE_POLL_HUP;
		halt(event, PERF_HALT_REFRESH, 0);
	} else if (is_by_interrupt(event)) {
		ration(event, began);
	}
	port_signal(perf_event_root(event), si_code);
}
