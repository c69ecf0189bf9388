/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An event is held by its descriptor and by its task; either may end first, on
 * any CPU. Whoever does releases the counter, and afterwards nothing is left.
 */
#include "unit.h"

static uint64_t instructions(const struct sim_task *task)
{
	return sim_count(task, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH);
}

static int open_instructions(struct sim_task *task, int pid, int cpu)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	int fd = (int)sim_open(task, &attr, pid, cpu, -1, 0);

	assert_true(fd >= 0);
	return fd;
}

/* A task counts itself: what it did between open and read. [LIFE-SHARED, CTL-SELF] */
static void counts_itself(void **state)
{
	struct sim_task *task = sim_task_on(0, "self");
	uint64_t before;
	int fd;

	(void)state;
	sim_run(0, 1000);
	before = instructions(task);
	fd = open_instructions(task, 0, -1);
	sim_run(0, 5000);
	assert_count(sim_value(task, fd), instructions(task) - before);
	assert_int_equal(sim_close(task, fd), 0);
	sim_check_no_events();
}

/* Closed while its task runs on another CPU: the counter is free at once. [LIFE-SHARED, LIFE-REMOTE] */
static void closed_while_running(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *target = sim_task_on(1, "target");
	int fd = open_instructions(monitor, sim_tid(target), -1);

	(void)state;
	sim_run(1, 1000);
	assert_count(sim_value(monitor, fd), instructions(target));
	sim_close(monitor, fd);
	sim_check_no_events();
	sim_run(1, 1000);
	sim_switch(1, NULL);
	sim_switch(2, target);
	sim_run(2, 1000);
}

/* Closed while its task is not running, and before it ever ran. [LIFE-SHARED] */
static void closed_while_waiting(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *target = sim_task_new("target");
	int fd = open_instructions(monitor, sim_tid(target), -1);

	(void)state;
	sim_close(monitor, fd);
	sim_check_no_events();
	fd = open_instructions(monitor, sim_tid(target), -1);
	sim_switch(1, target);
	sim_run(1, 1000);
	sim_switch(1, NULL);
	assert_count(sim_value(monitor, fd), instructions(target));
	sim_close(monitor, fd);
	sim_check_no_events();
}

/* The task exits with the descriptor open: the final count stays. [LIFE-SHARED, LIFE-ONCE] */
static void task_exits_first(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *target = sim_task_on(1, "target");
	struct sim_task *other = sim_task_new("other");
	int fd = open_instructions(monitor, sim_tid(target), -1);
	uint64_t final;

	(void)state;
	sim_run(1, 777);
	final = instructions(target);
	sim_exit(target);
	assert_int_equal(perf_task_events(), 0);
	assert_int_equal(perf_live_events(), 1);
	sim_switch(1, other);
	sim_run(1, 1000);
	assert_count(sim_value(monitor, fd), final);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	sim_run(1, 1000);
	assert_count(sim_value(monitor, fd), final);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	assert_count(sim_value(monitor, fd), final);
	sim_close(monitor, fd);
	sim_check_no_events();
}

/* As before, with the last slice already over, and the exit on another CPU. [LIFE-ONCE] */
static void task_exits_elsewhere(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *target = sim_task_on(1, "target");
	int fd = open_instructions(monitor, sim_tid(target), -1);

	(void)state;
	sim_run(1, 100);
	sim_migrate(target, 3);
	sim_run(3, 50);
	sim_exit(target);
	assert_count(sim_value(monitor, fd), instructions(target));
}

/* A process that counts itself and others exits with all of it open. [LIFE-SHARED] */
static void owner_exits(void **state)
{
	struct sim_task *owner = sim_task_on(0, "owner");
	struct sim_task *target = sim_task_on(1, "target");

	(void)state;
	open_instructions(owner, 0, -1);
	open_instructions(owner, sim_tid(target), -1);
	open_instructions(owner, -1, 2);
	sim_run_all(500);
	sim_exit(owner);
	sim_check_no_events();
	sim_run_all(500);
}

/* The same with an id of the other parity: see do_exit() in sim/task.c. [LIFE-SHARED] */
static void owner_exits_in_the_other_order(void **state)
{
	sim_task_new("shifts the ids by one");
	owner_exits(state);
}

/* Descriptors copied by dup and fork: the last close ends the event. [LIFE-SHARED] */
static void last_close_ends(void **state)
{
	struct sim_task *parent = sim_task_on(0, "parent");
	struct sim_task *child;
	int fd = open_instructions(parent, 0, -1);
	int copy = sim_dup(parent, fd);

	(void)state;
	child = sim_fork(parent);
	sim_switch(1, child);
	sim_run_all(100);
	sim_close(parent, fd);
	assert_count(sim_value(parent, copy), instructions(parent));
	sim_close(parent, copy);
	assert_int_equal(perf_live_events(), 1);
	sim_run_all(100);
	assert_count(sim_value(child, fd), instructions(parent));
	sim_exit(parent);
	assert_count(sim_value(child, fd), instructions(parent));
	sim_close(child, fd);
	assert_int_equal(perf_live_events(), 1);
	sim_exit(child);
	sim_check_no_events();
}

/* What is watched, and when it is not any more. [LIFE-ACTIVE] */
static void watched_only_while_needed(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *target = sim_task_on(1, "target");
	int first, second;

	(void)state;
	assert_false(perf_watched(PERF_WATCH_SWITCH));
	first = open_instructions(monitor, sim_tid(target), -1);
	assert_true(perf_watched(PERF_WATCH_SWITCH));
	assert_int_equal(perf_task_events(), 1);
	second = open_instructions(monitor, 0, -1);
	assert_int_equal(perf_task_events(), 2);
	sim_exit(target);
	assert_int_equal(perf_task_events(), 1);
	assert_true(perf_watched(PERF_WATCH_SWITCH));
	sim_close(monitor, second);
	assert_int_equal(perf_task_events(), 0);
	assert_false(perf_watched(PERF_WATCH_SWITCH));
	assert_int_equal(perf_live_events(), 1);
	sim_close(monitor, first);
	sim_check_no_events();
}

/* A task that is gone, or never was, cannot be measured. [ACC-ERRORS] */
static void no_such_task(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *target = sim_task_on(1, "target");
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);

	(void)state;
	assert_int_equal(sim_open(monitor, &attr, 999999, -1, -1, 0), -ESRCH);
	sim_exit(target);
	assert_int_equal(sim_open(monitor, &attr, sim_tid(target), -1, -1, 0), -ESRCH);
}

/* A CPU's event counts whoever runs there, and ends with its descriptor. [CTL-SELF] */
static void counts_a_cpu(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *a = sim_task_on(2, "a"), *b = sim_task_new("b");
	uint64_t before = sim_cpu_count(2, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH);
	int fd = open_instructions(monitor, -1, 2);

	(void)state;
	sim_run_all(100);
	sim_switch(2, b);
	sim_run_all(200);
	sim_switch(2, NULL);
	sim_run_all(400);
	sim_exit(sim_task_on(2, "short"));
	sim_switch(2, a);
	sim_run_all(800);
	assert_count(sim_value(monitor, fd),
		     sim_cpu_count(2, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH) - before);
	sim_close(monitor, fd);
	sim_check_no_events();
}

/* A CPU goes offline and comes back under its event, whose clock stands still meanwhile. [LIFE-REMOTE] */
static void cpu_goes_offline(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *task = sim_task_on(3, "task");
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t count, timed[3];
	int fd;

	(void)state;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = (int)sim_open(monitor, &attr, -1, 3, -1, 0);
	sim_run(3, 1000);
	sim_switch(3, NULL);
	count = instructions(task);
	sim_cpu_offline(3);
	assert_int_equal(sim_open(monitor, &attr, -1, 3, -1, 0), -ENODEV);
	sim_wait(500);
	assert_int_equal(sim_read(monitor, fd, timed, sizeof(timed)), sizeof(timed));
	assert_count(timed[0], count);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	sim_cpu_online(3);
	sim_switch(3, task);
	sim_run(3, 1000);
	assert_int_equal(sim_read(monitor, fd, timed, sizeof(timed)), sizeof(timed));
	assert_count(timed[0], instructions(task));
	assert_count(timed[1], 2000);
	assert_count(timed[2], 2000);
	sim_switch(3, NULL);
	sim_cpu_offline(3);
	sim_close(monitor, fd);
	sim_check_no_events();
}

/* A task on one CPU only: counted there and nowhere else. [CTL-SELF] */
static void counts_a_task_on_one_cpu(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *target = sim_task_on(1, "target");
	int fd = open_instructions(monitor, sim_tid(target), 2);
	uint64_t before;

	(void)state;
	sim_run(1, 1000);
	assert_count(sim_value(monitor, fd), 0);
	before = instructions(target);
	sim_migrate(target, 2);
	sim_run(2, 1000);
	sim_migrate(target, 3);
	assert_count(sim_value(monitor, fd), instructions(target) - before);
	sim_run(3, 1000);
	assert_count(sim_value(monitor, fd), 2 * 1000);
	sim_exit(target);
	assert_count(sim_value(monitor, fd), 2 * 1000);
}

/* Whatever allocation or copy fails, open fails and leaves nothing. [ACC-ERRORS] */
static void open_fails_whole(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *target;
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	long fd = -1;

	(void)state;
	for (unsigned int n = 1; fd < 0; n++) {
		target = sim_task_on(1, "target");
		sim_fail_alloc(n);
		fd = sim_open(monitor, &attr, sim_tid(target), -1, -1, 0);
		assert_int_equal(fd < 0, sim_failed());
		if (fd < 0) {
			assert_int_equal(fd, -ENOMEM);
			sim_check_no_events();
		}
		sim_exit(target);
	}
	sim_fail_alloc(0);
	sim_close(monitor, (int)fd);
	fd = -1;
	for (unsigned int n = 1; fd < 0; n++) {
		sim_fail_copy(n);
		fd = sim_open(monitor, &attr, 0, -1, -1, 0);
		assert_int_equal(fd, sim_failed() ? -EFAULT : fd);
		if (fd < 0)
			sim_check_no_events();
	}
}

/* No free descriptor: EMFILE, and nothing is left. [ACC-ERRORS] */
static void no_descriptor_left(void **state)
{
	struct sim_task *task = sim_task_on(0, "task");
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);

	(void)state;
	sim_set_fd_limit(task, 1);
	open_instructions(task, 0, -1);
	assert_int_equal(sim_open(task, &attr, 0, -1, -1, 0), -EMFILE);
	assert_int_equal(perf_live_events(), 1);
	sim_close(task, 0);
	sim_check_no_events();
}

/* Thousands of events come and go: memory returns to where it was. [ACC-LIMITS] */
static void many_come_and_go(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *target = sim_task_on(1, "target");

	(void)state;
	for (int i = 0; i < 2000; i++) {
		int fd = open_instructions(monitor, i % 3 == 0 ? -1 : sim_tid(target),
					   i % 3 - 1 + (i % 3 == 0));

		sim_run(1, 10);
		sim_value(monitor, fd);
		sim_close(monitor, fd);
	}
	sim_check_no_events();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		clean_test(counts_itself),
		clean_test(closed_while_running),
		clean_test(closed_while_waiting),
		clean_test(task_exits_first),
		clean_test(task_exits_elsewhere),
		clean_test(owner_exits),
		clean_test(owner_exits_in_the_other_order),
		clean_test(last_close_ends),
		clean_test(watched_only_while_needed),
		clean_test(no_such_task),
		clean_test(counts_a_cpu),
		clean_test(cpu_goes_offline),
		clean_test(counts_a_task_on_one_cpu),
		clean_test(open_fails_whole),
		clean_test(no_descriptor_left),
		clean_test(many_come_and_go),
	};

	sim_boot(&(struct sim_config){.pmu = {{.counters = 7}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
