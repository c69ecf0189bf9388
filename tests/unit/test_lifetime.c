/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An event is held by its descriptor and by its task; either may end first.
 */
#include "unit.h"

/* A task counts itself: what it did between open and read. [LIFE-SHARED] */
static void counts_itself(void **state)
{
	struct sim_task *task = sim_task_on(0, "self");
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t before;
	int fd;

	(void)state;
	sim_run(0, 1000);
	before = sim_count(task, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH);
	fd = (int)sim_open(task, &attr, 0, -1, -1, 0);
	assert_true(fd >= 0);
	sim_run(0, 5000);
	assert_count(sim_value(task, fd), sim_count(task, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH) - before);
	assert_int_equal(sim_close(task, fd), 0);
	sim_check_no_events();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		clean_test(counts_itself),
	};

	sim_boot(&(struct sim_config){ .pmu = { { .counters = 7 } } });
	return cmocka_run_group_tests(tests, NULL, NULL);
}
