/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations on an event that is running elsewhere, while something happens to
 * it there: small stories, played in every order in which the CPUs can take
 * turns (see sim_explore()). Besides what a story checks, each play ends with
 * the checks of sim_reset(): nothing may be left, whatever the order was. The
 * arguments limit the number of delays, and give that of plays at random.
 * [LIFE-REMOTE, LIFE-ONCE, SLICE-MIGRATE, CTL-IOCTL, INH-CLONE, INH-COUNT]
 */
#include <stdlib.h>

#include "unit.h"

#define RATE 2 /* instructions per ns in user mode */

/* CPU 0: monitor, CPU 1: target, CPU 2: helper, a thread of the monitor. */
static struct sim_task *monitor, *target, *helper, *child;
static int fd, group[3];
static long result;
static uint64_t seen, seen_again;

static uint64_t instructions(const struct sim_task *task)
{
	return sim_count(task, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH);
}

static void make_tasks(void)
{
	monitor = sim_task_on(0, "monitor");
	target = sim_task_on(1, "target");
	helper = sim_thread(monitor);
	sim_switch(2, helper);
	child = NULL;
	result = 0;
	seen = seen_again = 0;
	fd = -1;
}

static void open_with(bool inherit, bool disabled)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);

	attr.inherit = inherit;
	attr.disabled = disabled;
	fd = (int)sim_open(monitor, &attr, sim_tid(target), -1, -1, 0);
	sim_assert(fd >= 0);
	sim_run(1, 100);
}

static void counting(void)
{
	make_tasks();
	open_with(false, false);
}

static void inheriting(void)
{
	make_tasks();
	open_with(true, false);
}

static void inheriting_with_child(void)
{
	inheriting();
	child = sim_fork(target);
	sim_switch(3, child);
	sim_run(3, 100);
}

/* The child waits; its event is a copy of the target's, so the two may swap. */
static void copies(void)
{
	inheriting();
	child = sim_fork(target);
	sim_switch(1, child);
	sim_run(1, 100);
	sim_switch(1, target);
}

static void disabled_copies(void)
{
	make_tasks();
	open_with(true, true);
	child = sim_fork(target);
}

static void disabled(void)
{
	make_tasks();
	open_with(false, true);
}

static void disabled_inheriting(void)
{
	make_tasks();
	open_with(true, true);
}

static void three_counting(void)
{
	make_tasks();
	for (int i = 0; i < 3; i++) {
		struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);

		group[i] = (int)sim_open(monitor, &attr, sim_tid(target), -1,
					 i == 0 ? -1 : group[0], 0);
		sim_assert(group[i] >= 0);
	}
	sim_run(1, 100);
	fd = group[0];
}

/* ---------------------------------------------------- what a CPU can do */

/* On CPU 0, in the monitor. */

static void reads(void *arg)
{
	(void)arg;
	seen = sim_value(monitor, fd);
}

static void reads_twice(void *arg)
{
	(void)arg;
	seen = sim_value(monitor, fd);
	seen_again = sim_value(monitor, fd);
}

static void closes(void *arg)
{
	(void)arg;
	sim_close(monitor, fd);
}

static void opens(void *arg)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);

	(void)arg;
	result = sim_open(monitor, &attr, sim_tid(target), -1, -1, 0);
	fd = (int)result;
}

static void opens_another(void *arg)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_CPU_CYCLES);

	(void)arg;
	result = sim_open(monitor, &attr, sim_tid(target), -1, -1, 0);
	sim_assert(result >= 0);
}

static void opens_inherited(void *arg)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);

	(void)arg;
	attr.inherit = 1;
	result = sim_open(monitor, &attr, sim_tid(target), -1, -1, 0);
	fd = (int)result;
}

static void opens_and_closes(void *arg)
{
	opens(arg);
	if (fd >= 0)
		closes(arg);
}

static void enables(void *arg)
{
	(void)arg;
	sim_assert(sim_ioctl(monitor, fd, PERF_EVENT_IOC_ENABLE, 0) == 0);
}

static void disables(void *arg)
{
	(void)arg;
	sim_assert(sim_ioctl(monitor, fd, PERF_EVENT_IOC_DISABLE, 0) == 0);
}

static void resets(void *arg)
{
	(void)arg;
	sim_assert(sim_ioctl(monitor, fd, PERF_EVENT_IOC_RESET, 0) == 0);
}

/* On CPU 2, in the helper, which has the same descriptors. */

static void helper_reads(void *arg)
{
	(void)arg;
	seen_again = sim_value(helper, fd);
}

static void helper_disables_and_enables(void *arg)
{
	(void)arg;
	sim_assert(sim_ioctl(helper, fd, PERF_EVENT_IOC_DISABLE, 0) == 0);
	sim_assert(sim_ioctl(helper, fd, PERF_EVENT_IOC_ENABLE, 0) == 0);
}

static void helper_closes_sibling(void *arg)
{
	(void)arg;
	sim_close(helper, group[1]);
}

static void helper_opens(void *arg)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	int other;

	(void)arg;
	other = (int)sim_open(helper, &attr, sim_tid(target), -1, -1, 0);
	sim_assert(other >= 0);
	sim_close(helper, other);
}

static void helper_joins_group(void *arg)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_CPU_CYCLES);

	(void)arg;
	result = sim_open(helper, &attr, sim_tid(target), -1, fd, 0);
	sim_assert(result >= 0 || result == -EINVAL || result == -EBADF);
}

/* On CPU 1, to or in the target. */

static void runs(void *arg)
{
	(void)arg;
	sim_run(1, 10);
}

static void goes_and_comes(void *arg)
{
	(void)arg;
	sim_switch(1, NULL);
	sim_switch(1, target);
	sim_run(1, 10);
}

static void moves(void *arg)
{
	(void)arg;
	sim_run(1, 10);
	sim_migrate(target, 3);
	sim_run(3, 10);
}

static void moves_and_returns(void *arg)
{
	(void)arg;
	sim_migrate(target, 3);
	sim_migrate(target, 1);
	sim_run(1, 10);
}

/* Straight from one task to the other, whose events are copies. */
static void trade_places(void *arg)
{
	(void)arg;
	sim_switch(1, child);
	sim_run(1, 10);
	sim_switch(1, target);
	sim_run(1, 10);
}

static void trades_and_moves(void *arg)
{
	(void)arg;
	sim_switch(1, child);
	sim_run(1, 10);
	sim_switch(3, target);
	sim_run(3, 10);
}

static void trades_and_exits(void *arg)
{
	(void)arg;
	sim_switch(1, child);
	sim_run(1, 10);
	sim_exit(child);
	sim_switch(1, target);
	sim_run(1, 10);
}

static void helper_opens_on_child(void *arg)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_CPU_CYCLES);

	(void)arg;
	result = sim_open(helper, &attr, sim_tid(child), -1, -1, 0);
	sim_assert(result >= 0 || result == -ESRCH);
}

/* The monitor itself is preempted wherever it is, and goes on elsewhere. */
static void monitor_is_moved(void *arg)
{
	(void)arg;
	sim_run(1, 10); /* so that it is CPU 1's turn that decides when */
	sim_switch(0, NULL);
	sim_switch(3, monitor);
	sim_switch(3, NULL);
	sim_switch(1, NULL);
	sim_switch(1, monitor);
}

static void exits(void *arg)
{
	(void)arg;
	sim_run(1, 10);
	sim_exit(target);
}

static void execs(void *arg)
{
	(void)arg;
	sim_exec(target, "program");
	sim_run(1, 10);
}

static void forks(void *arg)
{
	(void)arg;
	child = sim_fork(target);
	sim_assert(child != NULL);
}

static void forks_and_both_run(void *arg)
{
	forks(arg);
	sim_switch(3, child);
	sim_run(3, 10);
	sim_run(1, 10);
}

static void forks_and_child_exits(void *arg)
{
	forks_and_both_run(arg);
	sim_exit(child);
}

static void child_forks(void *arg)
{
	(void)arg;
	sim_assert(sim_fork(child) != NULL);
}

static void child_exits(void *arg)
{
	(void)arg;
	sim_exit(child);
}

/* -------------------------------------------------------------- the checks */

/* The event has counted all that its task and its child did, and goes on doing so. */
static void all_is_counted(void)
{
	uint64_t truth = instructions(target) + (child != NULL ? instructions(child) : 0);

	assert_count(sim_value(monitor, fd), truth);
	assert_true(seen <= truth && seen_again <= truth);
	if (sim_cpu_of(target) >= 0) {
		sim_run(sim_cpu_of(target), 7);
		assert_count(sim_value(monitor, fd), truth + 7 * RATE);
	}
	sim_close(monitor, fd);
	if (child == NULL)
		sim_check_no_events();
}

static void reads_are_in_order(void)
{
	assert_true(seen <= seen_again && seen >= 100 * RATE);
	all_is_counted();
}

static void reads_are_valid(void)
{
	assert_true(seen <= seen_again && seen >= 100 * RATE);
	assert_true(seen_again <= instructions(target));
}

static void nothing_is_left(void)
{
	sim_check_no_events();
	if (sim_cpu_of(target) >= 0)
		sim_run(sim_cpu_of(target), 7);
	if (child != NULL && !sim_dead(child)) {
		sim_switch(3, NULL);
		sim_switch(3, child);
		sim_run(3, 7);
	}
}

/* Opened at some moment: it counts from there on. */
static void counts_from_now_on(void)
{
	uint64_t before;

	if (result < 0) {
		assert_int_equal(result, -ESRCH);
		assert_true(sim_dead(target));
		return;
	}
	if (sim_dead(target) && child == NULL)
		assert_int_equal(perf_task_events(), 0);
	before = sim_value(monitor, fd);
	assert_true(before <= instructions(target) + (child != NULL ? instructions(child) : 0));
	if (sim_cpu_of(target) >= 0) {
		sim_run(sim_cpu_of(target), 7);
		assert_count(sim_value(monitor, fd), before + 7 * RATE);
	}
	if (child != NULL && sim_cpu_of(child) >= 0) {
		uint64_t inherited = sim_value(monitor, fd);

		sim_run(3, 7);
		assert_in_range(sim_value(monitor, fd) - inherited, 0, 7 * RATE);
	}
	sim_close(monitor, fd);
	sim_check_no_events();
}

/* What is open on the child goes on counting it, and nobody else. */
static void child_is_counted_as_well(void)
{
	uint64_t before;

	all_is_counted();
	if (result < 0 || sim_dead(child))
		return;
	before = sim_value(monitor, (int)result);
	assert_true(before <= sim_count(child, SIM_EVENT_CYCLES, SIM_IN_BOTH));
	sim_switch(3, NULL);
	sim_switch(1, target);
	sim_run(1, 10);
	sim_switch(1, child);
	sim_run(1, 10);
	assert_count(sim_value(monitor, (int)result), before + 30);
}

/* Enabled by now, root and copies. */
static void all_are_enabled(void)
{
	uint64_t before = sim_value(monitor, fd);

	sim_run(1, 7);
	assert_count(sim_value(monitor, fd), before + 7 * RATE);
	if (child != NULL) {
		sim_switch(3, child);
		sim_run(3, 7);
		assert_count(sim_value(monitor, fd), before + 14 * RATE);
	}
}

static void all_are_disabled(void)
{
	uint64_t before = sim_value(monitor, fd);

	sim_run(1, 7);
	if (child != NULL) {
		sim_switch(3, child);
		sim_run(3, 7);
	}
	sim_run_all(7);
	assert_count(sim_value(monitor, fd), before);
}

/* Reset at some moment: what is there now was counted afterwards. */
static void is_reset(void)
{
	uint64_t before = sim_value(monitor, fd);

	assert_true(before <= instructions(target) - 100 * RATE);
	if (sim_cpu_of(target) >= 0) {
		sim_run(sim_cpu_of(target), 7);
		assert_count(sim_value(monitor, fd), before + 7 * RATE);
	}
}

static void group_is_whole(void)
{
	for (int i = 0; i < 3; i += 2)
		if (i != 0 || seen != 0)
			assert_count(sim_value(monitor, group[i]), instructions(target));
	sim_run(1, 7);
	assert_count(sim_value(monitor, group[2]), instructions(target));
}

static void leader_is_gone(void)
{
	sim_run(1, 7);
	assert_count(sim_value(monitor, group[2]), instructions(target));
}

static void joined_or_not(void)
{
	uint64_t before;

	if (result < 0)
		return;
	before = sim_value(monitor, (int)result);
	sim_run(1, 7);
	assert_count(sim_value(monitor, (int)result), before + 7 * 3);
}

/* -------------------------------------------------------------- the stories */

struct titled_story {
	const char *title;
	struct sim_story story;
	unsigned int delays;
};

#define STORY(setup_, a, b, c, check_, n)                                              \
	{                                                                              \
		.title = #setup_ ": " #a ", " #b ", " #c,                              \
		.story = {.setup = (setup_), .scripts = {a, b, c}, .check = (check_)}, \
		.delays = (n),                                                         \
	}

static const struct titled_story stories[] = {
	STORY(counting, reads_twice, runs, NULL, reads_are_in_order, 2),
	STORY(counting, reads_twice, goes_and_comes, NULL, reads_are_in_order, 2),
	STORY(counting, reads_twice, moves, NULL, reads_are_in_order, 2),
	STORY(counting, reads, moves_and_returns, NULL, all_is_counted, 2),
	STORY(counting, reads, exits, NULL, all_is_counted, 2),
	STORY(counting, reads_twice, monitor_is_moved, NULL, reads_are_in_order, 2),
	STORY(counting, reads_twice, monitor_is_moved, helper_disables_and_enables, reads_are_valid,
	      2),
	STORY(counting, closes, monitor_is_moved, NULL, nothing_is_left, 2),
	STORY(make_tasks, opens, monitor_is_moved, NULL, counts_from_now_on, 2),
	STORY(counting, reads, exits, helper_reads, all_is_counted, 2),
	STORY(counting, closes, goes_and_comes, NULL, nothing_is_left, 2),
	STORY(counting, closes, moves, NULL, nothing_is_left, 2),
	STORY(counting, closes, exits, NULL, nothing_is_left, 2),
	STORY(counting, closes, execs, NULL, nothing_is_left, 2),
	STORY(make_tasks, opens, goes_and_comes, NULL, counts_from_now_on, 2),
	STORY(make_tasks, opens, moves, NULL, counts_from_now_on, 2),
	STORY(make_tasks, opens, moves_and_returns, NULL, counts_from_now_on, 2),
	STORY(make_tasks, opens, exits, NULL, counts_from_now_on, 2),
	STORY(make_tasks, opens, execs, NULL, counts_from_now_on, 2),
	STORY(make_tasks, opens, goes_and_comes, helper_opens, counts_from_now_on, 2),
	STORY(make_tasks, opens_and_closes, exits, NULL, nothing_is_left, 2),
	STORY(make_tasks, opens_and_closes, goes_and_comes, NULL, nothing_is_left, 2),
	STORY(make_tasks, opens_inherited, forks_and_both_run, NULL, counts_from_now_on, 2),
	STORY(disabled, enables, goes_and_comes, NULL, all_are_enabled, 2),
	STORY(disabled, enables, execs, NULL, all_are_enabled, 2),
	STORY(counting, disables, goes_and_comes, NULL, all_are_disabled, 2),
	STORY(counting, enables, goes_and_comes, helper_disables_and_enables, all_are_enabled, 2),
	STORY(counting, resets, moves, NULL, is_reset, 2),
	STORY(counting, resets, exits, NULL, is_reset, 2),
	STORY(disabled_inheriting, enables, forks, NULL, all_are_enabled, 2),
	STORY(inheriting, disables, forks, NULL, all_are_disabled, 2),
	STORY(inheriting, reads, forks_and_both_run, NULL, all_is_counted, 2),
	STORY(inheriting, reads, forks_and_child_exits, NULL, all_is_counted, 2),
	STORY(inheriting, closes, forks_and_both_run, NULL, nothing_is_left, 2),
	STORY(inheriting, closes, forks_and_child_exits, NULL, nothing_is_left, 2),
	STORY(inheriting_with_child, closes, child_forks, NULL, nothing_is_left, 3),
	STORY(inheriting_with_child, closes, child_forks, exits, nothing_is_left, 2),
	STORY(inheriting_with_child, closes, child_exits, forks, nothing_is_left, 2),
	STORY(inheriting_with_child, reads, child_exits, exits, all_is_counted, 2),
	STORY(inheriting_with_child, disables, child_forks, NULL, all_are_disabled, 2),
	STORY(copies, reads_twice, trade_places, NULL, reads_are_in_order, 2),
	STORY(copies, reads_twice, trades_and_moves, NULL, reads_are_in_order, 2),
	STORY(copies, reads, trades_and_exits, helper_reads, all_is_counted, 2),
	STORY(copies, reads, trade_places, helper_opens_on_child, child_is_counted_as_well, 2),
	STORY(copies, reads, trades_and_moves, helper_opens_on_child, child_is_counted_as_well, 2),
	STORY(copies, closes, trade_places, NULL, nothing_is_left, 2),
	STORY(copies, closes, trades_and_moves, helper_opens, nothing_is_left, 2),
	STORY(copies, closes, trades_and_exits, NULL, nothing_is_left, 2),
	STORY(copies, disables, trade_places, NULL, all_are_disabled, 2),
	STORY(copies, enables, trade_places, helper_disables_and_enables, all_are_enabled, 2),
	STORY(copies, opens_another, trade_places, NULL, joined_or_not, 2),
	STORY(disabled_copies, enables, trade_places, NULL, all_are_enabled, 2),
	STORY(three_counting, reads, goes_and_comes, helper_closes_sibling, group_is_whole, 2),
	STORY(three_counting, closes, goes_and_comes, helper_closes_sibling, leader_is_gone, 2),
	STORY(counting, closes, goes_and_comes, helper_joins_group, joined_or_not, 2),
};

#define NR_STORIES (sizeof(stories) / sizeof(stories[0]))

static unsigned int most_delays = 9, random_plays = 50;

static void in_all_orders(void **state)
{
	const struct titled_story *titled = *state;

	unsigned int delays = titled->delays < most_delays ? titled->delays : most_delays;

	assert_true(sim_explore(&titled->story, delays, 20000) >= 5);
}

static void in_random_orders(void **state)
{
	const struct titled_story *titled = *state;

	sim_shuffle(&titled->story, 42, random_plays);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[2 * NR_STORIES];

	for (size_t i = 0; i < NR_STORIES; i++) {
		tests[2 * i] = (struct CMUnitTest){
			.name = stories[i].title,
			.test_func = in_all_orders,
			.initial_state = (void *)&stories[i],
		};
		tests[2 * i + 1] = tests[2 * i];
		tests[2 * i + 1].test_func = in_random_orders;
	}
	if (argc > 2) {
		most_delays = (unsigned int)atoi(argv[1]);
		random_plays = (unsigned int)atoi(argv[2]);
	}
	sim_boot(&(struct sim_config){.pmu = {{.counters = 7}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
