/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group.c - one group on counters, or off; see group.h.
 */
#include <utlist.h>

#include "group.h"
#include "overflow.h"
#include "time.h"
#include "userpage.h"

/*
 * Counters stand still while it is being decided what is on them. A PMU with
 * nothing on it is left paused.
 */
void perf_group_pause(struct perf_pmu *pmu)
{
	struct perf_pmu_cpu *local = perf_pmu_here(pmu);

	if (local->pauses++ == 0 && local->events > 0 && pmu->ops->pause)
		pmu->ops->pause(pmu);
}

void perf_group_resume(struct perf_pmu *pmu)
{
	struct perf_pmu_cpu *local = perf_pmu_here(pmu);

	if (--local->pauses == 0 && local->events > 0 && pmu->ops->resume)
		pmu->ops->resume(pmu);
}

static bool event_on(struct perf_event *event)
{
	struct perf_pmu *pmu = event->hw.pmu;
	bool halted = event->halt != PERF_HALT_NONE;

	if (pmu->ops->add(&event->hw, halted ? 0 : PERF_PMU_START) != 0)
		return false;
	if (halted && perf_overflow_going_on(event))
		pmu->ops->start(&event->hw);
	perf_pmu_here(pmu)->events++;
	perf_time_set_state(event, PERF_STATE_ACTIVE);
	perf_userpage_update(event);
	return true;
}

void perf_group_member_off(struct perf_event *event)
{
	struct perf_pmu *pmu = event->hw.pmu;

	if (event->state != PERF_STATE_ACTIVE)
		return;
	if (perf_event_is_sampling(event)) {
		pmu->ops->stop(&event->hw, PERF_PMU_UPDATE);
		perf_overflow_going_off(event);
	}
	pmu->ops->del(&event->hw);
	perf_pmu_here(pmu)->events--;
	perf_time_set_state(event, PERF_STATE_INACTIVE);
	perf_userpage_update(event);
}

static void members_off(struct perf_event *leader)
{
	struct perf_event *sibling;

	DL_FOREACH2(leader->siblings, sibling, sib_next)
		perf_group_member_off(sibling);
	perf_group_member_off(leader);
}

static bool members_on(struct perf_event *leader)
{
	struct perf_event *sibling;

	if (!event_on(leader))
		return false;
	DL_FOREACH2(leader->siblings, sibling, sib_next) {
		if (sibling->state == PERF_STATE_INACTIVE && !event_on(sibling)) {
			members_off(leader);
			return false;
		}
	}
	return true;
}

/* Software groups never compete; an exclusive group wants its PMU for itself. */
static bool may_share(const struct perf_event *leader, const struct perf_pmu_cpu *local)
{
	if (local->pmu->caps & PERF_PMU_SOFTWARE)
		return true;
	return !local->exclusive && !(leader->attr.exclusive && local->events > 0);
}

/* Put a group on counters, all of it or nothing. The PMU is paused. */
bool perf_group_on(struct perf_event *leader)
{
	struct perf_lane *lane = leader->lane;
	struct perf_pmu_cpu *local = perf_pmu_here(lane->pmu);

	if (!may_share(leader, local) || !members_on(leader))
		return false;
	local->exclusive = leader->attr.exclusive && !(lane->pmu->caps & PERF_PMU_SOFTWARE);
	DL_APPEND2(lane->active, leader, on_prev, on_next);
	return true;
}

void perf_group_off(struct perf_event *leader)
{
	struct perf_lane *lane = leader->lane;

	if (leader->state != PERF_STATE_ACTIVE)
		return;
	members_off(leader);
	if (leader->attr.exclusive)
		perf_pmu_here(lane->pmu)->exclusive = false;
	DL_DELETE2(lane->active, leader, on_prev, on_next);
}
