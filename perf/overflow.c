/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * overflow.c - the interrupt side of an event: its period.
 */
#include <perf/pmu.h>

bool perf_hw_next_period(struct perf_hw_event *hw, uint64_t mask, uint64_t *left)
{
	uint64_t half = mask >> 1;
	bool ended = false;

	if (hw->sample_period == 0) {
		*left = half;
		return false;
	}
	if (hw->period_left <= 0) {
		ended = true;
		hw->last_period = hw->sample_period;
		hw->period_left += (int64_t)hw->sample_period;
		/* Late by more than a whole period: what was missed stays missed. */
		if (hw->period_left <= 0)
			hw->period_left = (int64_t)hw->sample_period;
	}
	*left = (uint64_t)hw->period_left < half ? (uint64_t)hw->period_left : half;
	return ended;
}

/* Counting events are all there are so far, and they have no periods to end. */
void perf_overflow(struct perf_hw_event *hw, const struct port_regs *regs, uint64_t addr)
{
	(void)hw;
	(void)regs;
	(void)addr;
}
