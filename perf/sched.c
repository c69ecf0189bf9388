/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched.c - which groups are on the counters of a CPU.
 *
 * On each CPU two contexts compete for the counters of a PMU: the CPU's own and
 * the current task's. In order of precedence: pinned groups of the CPU, pinned
 * groups of the task, flexible groups of the CPU, flexible groups of the task.
 * A group goes on as a whole or not at all. A pinned group that finds no room
 * goes to error state; a flexible one waits.
 *
 * Turns. When a flexible group of a lane has to wait, the lane is crowded, and
 * those that run have a turn of the PMU's multiplexing interval, in time during
 * which the context is in. At the end of it those that ran go behind those that
 * waited, and the counters are filled anew from the front: the one that has
 * waited longest always gets on, and smaller ones that still fit come along.
 * Groups of equal size so get equal time, and none starves. A timer ends the
 * turn of what is running; a task that never runs until the timer fires has its
 * turn ended when it goes out.
 *
 * Those whose turn it is stand at the front of the lane's list, so that a switch
 * within a turn looks at them and at one that waits, and at no more.
 */
#include <linux/errno.h>
#include <utlist.h>

#include "group.h"
#include "overflow.h"
#include "sched.h"
#include "time.h"

enum {
	DEFAULT_MUX_INTERVAL_MS = 4, /* as Linux */
	MAX_MISFITS = 16,	     /* waiting groups tried in vain before a turn begins */
};

static const uint64_t ns_per_ms = 1000000;

static void turn_over(struct port_timer *timer, const struct port_regs *regs);
static void offer_room(struct perf_pmu *pmu);

int perf_sched_init_pmu(struct perf_pmu *pmu)
{
	size_t nr_cpus = (size_t)port_nr_cpus();

	pmu->on_cpu = port_alloc(nr_cpus * sizeof(*pmu->on_cpu));
	if (!pmu->on_cpu)
		return -ENOMEM;
	for (size_t cpu = 0; cpu < nr_cpus; cpu++) {
		pmu->on_cpu[cpu].pmu = pmu;
		port_timer_init(&pmu->on_cpu[cpu].timer, turn_over);
	}
	atomic_store(&pmu->mux_interval_ms, DEFAULT_MUX_INTERVAL_MS);
	return 0;
}

static uint64_t turn_ns(const struct perf_pmu *pmu)
{
	return atomic_load_explicit(&pmu->mux_interval_ms, memory_order_relaxed) * ns_per_ms;
}

/* ------------------------------------------------------------------- lanes */

static struct perf_event **queue_of(struct perf_event *leader)
{
	return leader->attr.pinned ? &leader->lane->pinned : &leader->lane->flexible;
}

static void enqueue(struct perf_event *leader)
{
	struct perf_event **queue = queue_of(leader);

	DL_APPEND2(*queue, leader, q_prev, q_next);
	leader->queued = true;
}

static void dequeue(struct perf_event *leader)
{
	struct perf_event **queue = queue_of(leader);

	if (!leader->queued)
		return;
	DL_DELETE2(*queue, leader, q_prev, q_next);
	leader->queued = false;
}

/* A pinned group did not fit: that is final until somebody enables it again. */
static void pinned_failed(struct perf_event *leader)
{
	dequeue(leader);
	perf_time_set_state(leader, PERF_STATE_ERROR);
}

static void pinned_on(struct perf_lane *lane)
{
	struct perf_event *leader, *next;

	DL_FOREACH_SAFE2(lane->pinned, leader, next, q_next) {
		if (leader->state != PERF_STATE_ACTIVE && !perf_group_on(leader))
			pinned_failed(leader);
	}
}

/* Have the timer end the turn of a crowded lane, unless it fires before anyway. */
static void await_turn_end(const struct perf_lane *lane)
{
	struct perf_pmu_cpu *local = perf_pmu_here(lane->pmu);
	uint64_t passed = lane->context->time - lane->turn_began;
	uint64_t turn = turn_ns(lane->pmu);
	uint64_t when = port_clock() + (passed < turn ? turn - passed : 0);

	if (local->armed && local->when <= when)
		return;
	local->armed = true;
	local->when = when;
	port_timer_start(&local->timer, when);
}

/* Note whether a flexible group of the lane has to wait. */
static void set_crowded(struct perf_lane *lane, bool crowded)
{
	if (crowded && !lane->crowded)
		lane->turn_began = lane->context->time;
	lane->crowded = crowded;
	if (crowded)
		await_turn_end(lane);
}

/*
 * Put flexible groups on counters, from the front. Within a turn the first one
 * that does not fit ends the search: those behind it are waiting, too. At the
 * beginning of a turn more are tried, and those that fit move to the front.
 */
static void flexible_on(struct perf_lane *lane)
{
	unsigned int misfits_left = lane->new_turn ? MAX_MISFITS : 1;
	struct perf_event *leader, *next, *first_misfit = NULL;

	DL_FOREACH_SAFE2(lane->flexible, leader, next, q_next) {
		if (leader->state != PERF_STATE_ACTIVE && !perf_group_on(leader)) {
			if (!first_misfit)
				first_misfit = leader;
			if (--misfits_left == 0)
				break;
		} else if (first_misfit) {
			DL_DELETE2(lane->flexible, leader, q_prev, q_next);
			DL_PREPEND_ELEM2(lane->flexible, first_misfit, leader, q_prev, q_next);
		}
	}
	lane->new_turn = false;
	set_crowded(lane, first_misfit != NULL);
}

/* Whether those on the counters have had their turn while others waited. */
static bool turn_is_over(const struct perf_lane *lane)
{
	return lane->crowded && lane->context->time - lane->turn_began >= turn_ns(lane->pmu);
}

/*
 * Take all groups of a lane off, or only the flexible ones. Ends its turn if due,
 * and returns whether it was.
 */
static bool lane_off(struct perf_lane *lane, bool pinned_too)
{
	bool over = turn_is_over(lane);
	struct perf_event *leader, *next;

	DL_FOREACH_SAFE2(lane->active, leader, next, on_next) {
		if (leader->attr.pinned && !pinned_too)
			continue;
		perf_group_off(leader);
		if (over && !leader->attr.pinned) {
			DL_DELETE2(lane->flexible, leader, q_prev, q_next);
			DL_APPEND2(lane->flexible, leader, q_prev, q_next);
		}
	}
	if (over) {
		lane->new_turn = true;
		lane->turn_began = lane->context->time;
	}
	return over;
}

/* ---------------------------------------------------------- whole contexts */

/*
 * Take off what a context has on the counters of a PMU (NULL: of all). When a turn
 * is over, the other kind of lane has the first choice of counters next.
 */
static void lanes_off(struct perf_context *context, const struct perf_pmu *pmu, bool pinned_too)
{
	struct perf_lane *lane;
	bool over = false;

	PERF_FOREACH_LANE(lane, context, context->cpu) {
		if ((!pmu || lane->pmu == pmu) && lane_off(lane, pinned_too))
			over = true;
	}
	if (over)
		context->bound_first = !context->bound_first;
}

static void refill(struct perf_context *context, const struct perf_pmu *pmu)
{
	struct perf_lane *lane;

	PERF_FOREACH_LANE(lane, context, context->cpu) {
		if (lane->pmu == pmu)
			flexible_on(lane);
	}
}

/* Whether a context has a lane of a PMU for which a condition holds. */
static bool any_lane(struct perf_context *context, const struct perf_pmu *pmu,
		     bool (*holds)(const struct perf_lane *lane))
{
	struct perf_lane *lane;

	PERF_FOREACH_LANE(lane, context, context->cpu) {
		if (lane->pmu == pmu && holds(lane))
			return true;
	}
	return false;
}

static bool is_crowded(const struct perf_lane *lane)
{
	return lane->crowded;
}

/* The two contexts that compete on this CPU. The second is NULL if there is none. */
static void competitors(struct perf_context *contexts[2])
{
	struct perf_cpu *cpu = perf_this_cpu();

	contexts[0] = cpu->context->cpu < 0 ? NULL : cpu->context;
	contexts[1] = cpu->task_context;
}

/*
 * Deal out the counters of a PMU on this CPU anew among flexible groups, those
 * of the CPU before those of the task. @pinned, if not NULL, goes on first.
 */
static void deal_anew(struct perf_pmu *pmu, struct perf_event *pinned)
{
	struct perf_context *contexts[2];

	competitors(contexts);
	perf_group_pause(pmu);
	for (int i = 1; i >= 0; i--) {
		if (contexts[i]) {
			perf_time_advance(contexts[i]);
			lanes_off(contexts[i], pmu, false);
		}
	}
	if (pinned && !perf_group_on(pinned))
		pinned_failed(pinned);
	for (int i = 0; i < 2; i++) {
		if (contexts[i])
			refill(contexts[i], pmu);
	}
	perf_group_resume(pmu);
}

/* The timer: end the turns that are due, wait on for the others. */
static void turn_over(struct port_timer *timer, const struct port_regs *regs)
{
	struct perf_pmu_cpu *local = (struct perf_pmu_cpu *)timer;
	struct perf_context *contexts[2];
	bool crowded = false, over = false;

	(void)regs;
	local->armed = false;
	competitors(contexts);
	for (int i = 0; i < 2; i++) {
		if (!contexts[i])
			continue;
		perf_time_advance(contexts[i]);
		crowded = crowded || any_lane(contexts[i], local->pmu, is_crowded);
		over = over || any_lane(contexts[i], local->pmu, turn_is_over);
	}
	if (over)
		deal_anew(local->pmu, NULL);
	else if (crowded)
		offer_room(local->pmu);
}

/* Stop the timer if nobody waits any more, not counting a context that leaves. */
static void disarm_if_idle(const struct perf_pmu *pmu, const struct perf_context *leaving)
{
	struct perf_pmu_cpu *local = perf_pmu_here(pmu);
	struct perf_context *contexts[2];

	competitors(contexts);
	for (int i = 0; i < 2; i++) {
		if (contexts[i] && contexts[i] != leaving && any_lane(contexts[i], pmu, is_crowded))
			return;
	}
	if (local->armed)
		port_timer_stop(&local->timer);
	local->armed = false;
}

/* Something has left the counters, or a turn goes on: those that wait may fit now. */
static void offer_room(struct perf_pmu *pmu)
{
	struct perf_context *contexts[2];

	competitors(contexts);
	perf_group_pause(pmu);
	for (int i = 0; i < 2; i++) {
		if (contexts[i] && any_lane(contexts[i], pmu, is_crowded))
			refill(contexts[i], pmu);
	}
	perf_group_resume(pmu);
	disarm_if_idle(pmu, NULL);
}

bool perf_sched_overflow_pending(const struct perf_context *context)
{
	struct perf_lane *lane;

	if (context->nr_sampling == 0)
		return false;
	PERF_FOREACH_LANE(lane, context, context->cpu) {
		const struct perf_pmu *pmu = lane->pmu;

		if (lane->active && (!pmu->ops->overflowed || pmu->ops->overflowed(pmu)))
			return true;
	}
	return false;
}

void perf_sched_all_in(struct perf_context *context)
{
	struct perf_context *contexts[2];
	struct perf_lane *lane;

	competitors(contexts);
	PERF_FOREACH_LANE(lane, context, context->cpu) {
		bool displaces = lane->pinned && context->of_task && contexts[0];

		perf_group_pause(lane->pmu);
		if (displaces) {
			perf_time_advance(contexts[0]);
			lanes_off(contexts[0], lane->pmu, false);
		}
		pinned_on(lane);
		if (displaces)
			refill(contexts[0], lane->pmu);
	}
	PERF_FOREACH_LANE(lane, context, context->cpu) {
		flexible_on(lane);
		perf_group_resume(lane->pmu);
	}
}

void perf_sched_all_out(struct perf_context *context)
{
	struct perf_lane *lane;

	PERF_FOREACH_LANE(lane, context, context->cpu)
		perf_group_pause(lane->pmu);
	perf_time_advance(context);
	lanes_off(context, NULL, true);
	PERF_FOREACH_LANE(lane, context, context->cpu) {
		perf_group_resume(lane->pmu);
		if (lane->crowded)
			disarm_if_idle(lane->pmu, context);
	}
}

/* --------------------------------------------------------------- one event */

/* Whether the context is in on a CPU that the group's PMU covers. */
static bool can_run_now(const struct perf_event *leader)
{
	const struct perf_context *context = leader->context;
	const struct perf_lane *lane = leader->lane;

	return context->cpu >= 0 && perf_cpu_set_has(&lane->pmu->cpus, context->cpu) &&
	       (lane->cpu < 0 || lane->cpu == context->cpu);
}

/* Give an enabled group its chance at once. */
static void try_now(struct perf_event *leader)
{
	struct perf_pmu *pmu = leader->lane->pmu;

	if (!can_run_now(leader) || !leader->queued)
		return;
	if (leader->attr.pinned) {
		deal_anew(pmu, leader);
		return;
	}
	perf_group_pause(pmu);
	if (!perf_group_on(leader))
		set_crowded(leader->lane, true);
	perf_group_resume(pmu);
}

/* Take a group off its counters to change it. */
static void lift(struct perf_event *leader)
{
	struct perf_pmu *pmu = leader->lane->pmu;

	if (leader->state != PERF_STATE_ACTIVE)
		return;
	perf_group_pause(pmu);
	perf_group_off(leader);
	perf_group_resume(pmu);
}

void perf_sched_enable(struct perf_event *event)
{
	struct perf_event *leader = event->leader;

	if (event->state >= PERF_STATE_INACTIVE || event->state == PERF_STATE_GONE)
		return;
	if (event != leader)
		lift(leader);
	perf_time_set_state(event, PERF_STATE_INACTIVE);
	if (event == leader)
		enqueue(leader);
	try_now(leader);
}

void perf_sched_disable(struct perf_event *event, enum perf_state state)
{
	const struct perf_lane *lane = event->leader->lane;
	struct perf_pmu *pmu = lane->pmu;
	bool was_on = event->state == PERF_STATE_ACTIVE;

	if (event == event->leader) {
		lift(event);
		dequeue(event);
	} else if (was_on) {
		perf_group_pause(pmu);
		perf_group_member_off(event);
		perf_group_resume(pmu);
	}
	if (event->state > state)
		perf_time_set_state(event, state);
	event->halt = PERF_HALT_NONE;
	if (was_on || (event->context->cpu >= 0 && lane->crowded))
		offer_room(pmu);
}

void perf_sched_join(struct perf_event *event, struct perf_event *leader)
{
	event->leader = leader;
	DL_APPEND2(leader->siblings, event, sib_prev, sib_next);
	leader->nr_siblings++;
	if (leader->lane->pmu == event->hw.pmu || perf_event_is_software(event))
		return;

	/* A group of software events that gets a hardware event moves to its lane. */
	lift(leader);
	if (leader->queued) {
		dequeue(leader);
		leader->lane = event->home;
		enqueue(leader);
	}
	leader->lane = event->home;
	try_now(leader);
}

static void leave_leader(struct perf_event *event)
{
	struct perf_event *leader = event->leader;

	DL_DELETE2(leader->siblings, event, sib_prev, sib_next);
	leader->nr_siblings--;
	event->leader = event;
}

void perf_sched_leave(struct perf_event *event)
{
	struct perf_event *sibling, *next;

	if (event->leader != event) {
		perf_time_charge(event);
		leave_leader(event);
		return;
	}
	DL_FOREACH_SAFE2(event->siblings, sibling, next, sib_next) {
		perf_time_charge(sibling);
		leave_leader(sibling);
		if (sibling->state == PERF_STATE_INACTIVE) {
			enqueue(sibling);
			try_now(sibling);
		}
	}
}

/* ---------------------------------------------------------- halted events */

/* The first halted event that is due, or NULL and when the next one will be. */
static struct perf_event *first_due(const struct perf_cpu *cpu, uint64_t now, uint64_t *next)
{
	struct perf_event *event;

	*next = UINT64_MAX;
	DL_FOREACH2(cpu->halted, event, halt_next) {
		uint64_t when = perf_overflow_halted_until(event);

		if (when <= now)
			return event;
		if (when < *next)
			*next = when;
	}
	return NULL;
}

/*
 * Disable those that have reached their limit; let go on those that may again.
 * Either takes the event off the list, and with it, perhaps, others of its group.
 */
static void see_to_halted(struct port_timer *timer, const struct port_regs *regs)
{
	struct perf_cpu *cpu = perf_this_cpu();
	uint64_t now = port_clock(), next;
	struct perf_event *event;

	(void)regs;
	while ((event = first_due(cpu, now, &next))) {
		perf_time_advance(event->context);
		if (event->halt == PERF_HALT_REFRESH)
			perf_sched_disable(event, PERF_STATE_OFF);
		else
			perf_overflow_go_on(event);
	}
	if (cpu->halted) {
		cpu->halt_when = next;
		port_timer_start(timer, next);
	}
}

void perf_sched_init_cpu(struct perf_cpu *cpu)
{
	port_timer_init(&cpu->halt_timer, see_to_halted);
}
