/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happens when tasks are switched, migrated, and switched again: counts
 * and times stay exact. The program's argument is the width of the counters.
 */
#include <stdlib.h>

#include "unit.h"

static unsigned int width = 64;

struct timed {
	uint64_t value, enabled, running;
};

static int open_event(struct sim_task *task, const struct perf_event_attr *attr, int pid, int cpu)
{
	int fd = (int)sim_open(task, attr, pid, cpu, -1, 0);

	assert_true(fd >= 0);
	return fd;
}

static struct perf_event_attr timed_attr(uint64_t config)
{
	struct perf_event_attr attr = sim_attr_hw(config);

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return attr;
}

static struct timed read_timed(struct sim_task *task, int fd)
{
	struct timed timed;

	assert_int_equal(sim_read(task, fd, &timed, sizeof(timed)), sizeof(timed));
	return timed;
}

/*
 * Two tasks trade places thousands of times; only one is measured. That hooks
 * neither sleep nor allocate is seen to by the simulator. [SLICE-IN, SLICE-OUT,
 * SLICE-IRQOFF]
 */
static void trading_places(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *measured = sim_task_on(1, "measured"), *other = sim_task_new("other");
	struct perf_event_attr attr = timed_attr(PERF_COUNT_HW_INSTRUCTIONS);
	int fd = open_event(monitor, &attr, sim_tid(measured), -1);
	struct timed timed;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		sim_run(1, 1 + sim_random(50));
		sim_switch(1, i % 2 == 0 ? other : measured);
	}
	timed = read_timed(monitor, fd);
	assert_count(timed.value, sim_count(measured, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH));
	assert_count(timed.enabled, sim_runtime(measured));
	assert_count(timed.running, sim_runtime(measured));
}

/* Both are measured, by each other: nothing of one goes to the other. [SLICE-IN, SLICE-OUT] */
static void each_has_its_own(void **state)
{
	struct sim_task *a = sim_task_on(1, "a"), *b = sim_task_on(0, "b");
	struct perf_event_attr attr = timed_attr(PERF_COUNT_HW_CPU_CYCLES);
	int of_b, of_a = open_event(b, &attr, sim_tid(a), -1);

	(void)state;
	of_b = open_event(a, &attr, sim_tid(b), -1);
	sim_switch(0, NULL);
	for (int i = 0; i < 1000; i++) {
		sim_run(1, 1 + sim_random(50));
		sim_switch(1, i % 2 == 0 ? b : a);
	}
	assert_count(read_timed(a, of_b).value, sim_count(b, SIM_EVENT_CYCLES, SIM_IN_BOTH));
	sim_switch(1, b);
	assert_count(read_timed(b, of_a).value, sim_count(a, SIM_EVENT_CYCLES, SIM_IN_BOTH));
	assert_count(read_timed(b, of_a).running, sim_runtime(a));
}

/* Privilege filters: each of the four combinations. [SLICE-FILTER] */
static void filters(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *target = sim_task_on(1, "target");
	int fd[4];

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);

		attr.exclude_user = (i & SIM_IN_USER) == 0;
		attr.exclude_kernel = (i & SIM_IN_KERNEL) == 0;
		fd[i] = open_event(monitor, &attr, sim_tid(target), -1);
	}
	for (int i = 0; i < 50; i++) {
		sim_run(1, 100);
		sim_run_kernel(1, 30);
		sim_migrate(target, 1 + i % 3);
	}
	sim_run_kernel(1, 30);
	for (unsigned int i = 0; i < 4; i++)
		assert_count(sim_value(monitor, fd[i]),
			     sim_count(target, SIM_EVENT_INSTRUCTIONS, i));
}

/* A task that moves at every chance: nothing lost, nothing doubled. [SLICE-MIGRATE] */
static void migrating(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *target = sim_task_on(1, "target");
	struct perf_event_attr attr = timed_attr(PERF_COUNT_HW_INSTRUCTIONS);
	int fd = open_event(monitor, &attr, sim_tid(target), -1);
	uint64_t last = 0;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		int cpu = 1 + (int)sim_random(3);

		sim_migrate(target, cpu);
		sim_run(cpu, sim_random(20));
		if (i % 16 == 0) {
			uint64_t value = read_timed(monitor, fd).value;

			assert_count(value, sim_count(target, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH));
			assert_true(value >= last);
			last = value;
		}
	}
	assert_count(read_timed(monitor, fd).running, sim_runtime(target));
}

/* Far past 2^32, in slices of all lengths, with reads at any moment. [SLICE-WRAP] */
static void wraps(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *target = sim_task_on(1, "target");
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_event_attr cycles = sim_attr_hw(PERF_COUNT_HW_CPU_CYCLES);
	int fd = open_event(monitor, &attr, sim_tid(target), -1);
	int cycles_fd = open_event(monitor, &cycles, sim_tid(target), -1);
	int cpu_fd = open_event(monitor, &attr, -1, 1);
	uint64_t before = sim_cpu_count(1, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH);
	uint64_t step = width < 32 ? 3000 : UINT64_C(3000000000);

	(void)state;
	for (int i = 0; i < 60; i++) {
		sim_run(1, 1 + sim_random(step));
		if (i % 3 == 0)
			assert_count(sim_value(monitor, fd),
				     sim_count(target, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH));
		if (i % 5 == 0) {
			sim_switch(1, NULL);
			sim_switch(1, target);
		}
	}
	assert_true(step < 10000 || sim_count(target, SIM_EVENT_CYCLES, SIM_IN_BOTH) > UINT32_MAX);
	assert_count(sim_value(monitor, fd),
		     sim_count(target, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH));
	assert_count(sim_value(monitor, cycles_fd),
		     sim_count(target, SIM_EVENT_CYCLES, SIM_IN_BOTH));
	assert_count(sim_value(monitor, cpu_fd),
		     sim_cpu_count(1, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH) - before);
}

/* The wrap, the switch and the read all fall within a few counts. [SLICE-WRAP] */
static void wrap_meets_switch(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *target = sim_task_on(1, "target");
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t half = width == 64 ? UINT64_C(1) << 20 : UINT64_C(1) << (width - 1);

	(void)state;
	sim_rate(target, SIM_EVENT_INSTRUCTIONS, 1, 1);
	for (uint64_t offset = 0; offset < 6; offset++) {
		for (uint64_t rest = 0; rest < 6; rest++) {
			uint64_t before = sim_count(target, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH);
			int fd = open_event(monitor, &attr, sim_tid(target), -1);

			sim_run(1, half - 3 + offset);
			if (rest % 2 != 0)
				assert_count(sim_value(monitor, fd), half - 3 + offset);
			sim_migrate(target, rest % 3 == 0 ? 1 : 2);
			sim_migrate(target, 1);
			sim_run(1, rest);
			assert_count(sim_value(monitor, fd),
				     sim_count(target, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH) -
					     before);
			sim_close(monitor, fd);
		}
	}
}

/* An event that is opened in the middle of a slice counts the rest of it. [CTL-DISABLED] */
static void opened_in_a_slice(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *target = sim_task_on(1, "target");
	struct perf_event_attr attr = timed_attr(PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t before;
	int fd;

	(void)state;
	sim_run(1, 1000);
	before = sim_count(target, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH);
	fd = open_event(monitor, &attr, sim_tid(target), -1);
	sim_run(1, 300);
	assert_count(read_timed(monitor, fd).value,
		     sim_count(target, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH) - before);
	assert_count(read_timed(monitor, fd).enabled, 300);
	assert_count(read_timed(monitor, fd).running, 300);
	sim_wait(50);
	assert_count(read_timed(monitor, fd).running, 350);
	sim_switch(1, NULL);
	sim_wait(70);
	assert_count(read_timed(monitor, fd).enabled, 350);
	assert_count(read_timed(monitor, fd).running, 350);
}

/* Reading changes nothing, however often it is done. [CTL-READ] */
static void reading_changes_nothing(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *target = sim_task_on(1, "target");
	struct perf_event_attr attr = timed_attr(PERF_COUNT_HW_INSTRUCTIONS);
	int fd = open_event(monitor, &attr, sim_tid(target), -1);
	struct timed first, again;

	(void)state;
	sim_run(1, 1000);
	first = read_timed(monitor, fd);
	for (int i = 0; i < 100; i++) {
		again = read_timed(monitor, fd);
		assert_memory_equal(&again, &first, sizeof(first));
	}
	sim_run(1, 1);
	assert_count(read_timed(monitor, fd).value,
		     sim_count(target, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH));
}

/* Time in the kernel is counted for whom it is spent, whatever the core does in it. [SLICE-OUT] */
static void kernel_time_is_counted(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *target = sim_task_on(1, "target");
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	int user, kernel;
	uint64_t before;

	(void)state;
	attr.exclude_kernel = 1;
	user = open_event(monitor, &attr, sim_tid(target), -1);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	kernel = open_event(monitor, &attr, sim_tid(target), -1);
	before = sim_count(target, SIM_EVENT_INSTRUCTIONS, SIM_IN_KERNEL);
	sim_kernel_ns(10);
	for (int i = 0; i < 100; i++) {
		sim_run(1, 100);
		sim_switch(1, i % 2 == 0 ? NULL : target);
	}
	assert_count(sim_value(monitor, user),
		     sim_count(target, SIM_EVENT_INSTRUCTIONS, SIM_IN_USER));
	/* Some of the switch itself is not counted, but never more than there was. */
	assert_in_range(sim_value(monitor, kernel), 1,
			sim_count(target, SIM_EVENT_INSTRUCTIONS, SIM_IN_KERNEL) - before);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		clean_test(trading_places),
		clean_test(each_has_its_own),
		clean_test(filters),
		clean_test(migrating),
		clean_test(wraps),
		clean_test(wrap_meets_switch),
		clean_test(opened_in_a_slice),
		clean_test(reading_changes_nothing),
		clean_test(kernel_time_is_counted),
	};

	if (argc > 1)
		width = (unsigned int)atoi(argv[1]);
	sim_boot(&(struct sim_config){.pmu = {{.counters = 7, .width = width}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
