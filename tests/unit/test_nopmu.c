/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Machines that lack something: with the argument "none" a PMU, with "silent"
 * only its interrupt, with "plain" the cycle counter. [SLICE-NOPMU]
 */
#include "unit.h"

static struct sim_task *monitor, *target;

static void two_tasks(void)
{
	monitor = sim_task_on(0, "monitor");
	target = sim_task_on(1, "target");
}

/* Hardware events are refused as on Linux. */
static void hardware_is_refused(void **state)
{
	const uint32_t types[] = {PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE, PERF_TYPE_RAW};

	(void)state;
	two_tasks();
	for (unsigned int i = 0; i < 3; i++) {
		struct perf_event_attr attr = sim_attr(types[i], 0);

		assert_int_equal(sim_open(monitor, &attr, 0, -1, -1, 0), -ENOENT);
		assert_int_equal(sim_open(monitor, &attr, -1, 1, -1, 0), -ENOENT);
	}
}

/* All else works. */
static void software_works(void **state)
{
	struct perf_event_attr attr = sim_attr_sw(PERF_COUNT_SW_TASK_CLOCK);
	struct sim_task *child;
	int fd;

	(void)state;
	two_tasks();
	attr.inherit = 1;
	fd = (int)sim_open(monitor, &attr, sim_tid(target), -1, -1, 0);
	assert_true(fd >= 0);
	child = sim_fork(target);
	sim_switch(2, child);
	sim_run_all(100);
	sim_migrate(child, 3);
	sim_run_all(100);
	sim_exit(child);
	assert_count(sim_value(monitor, fd), 400);
}

/* Counting works without the interrupt. */
static void counting_works(void **state)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	int fd, of_cpu;

	(void)state;
	two_tasks();
	fd = (int)sim_open(monitor, &attr, sim_tid(target), -1, -1, 0);
	of_cpu = (int)sim_open(monitor, &attr, -1, 2, -1, 0);
	assert_true(fd >= 0 && of_cpu >= 0);
	for (int i = 0; i < 100; i++) {
		sim_migrate(target, 1 + i % 3);
		sim_run(1 + i % 3, 1000000);
	}
	assert_count(sim_value(monitor, fd),
		     sim_count(target, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH));
	assert_count(sim_value(monitor, of_cpu), 33 * 2000000);
}

/* Sampling hardware events is refused; sampling software events is not. */
static void sampling_is_refused(void **state)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_event_attr clock = sim_attr_sw(PERF_COUNT_SW_CPU_CLOCK);

	(void)state;
	two_tasks();
	attr.sample_period = 1000;
	assert_int_equal(sim_open(monitor, &attr, 0, -1, -1, 0), -EOPNOTSUPP);
	attr.freq = 1;
	assert_int_equal(sim_open(monitor, &attr, -1, 1, -1, 0), -EOPNOTSUPP);
	clock.sample_period = 1000000;
	assert_true(sim_open(monitor, &clock, 0, -1, -1, 0) >= 0);
}

/* Without a cycle counter, cycles are counted like everything else. [SLICE-MUX] */
static void cycles_on_any_counter(void **state)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_CPU_CYCLES);
	uint64_t total = 0;
	int fd[4];

	(void)state;
	two_tasks();
	for (int i = 0; i < 4; i++) {
		fd[i] = (int)sim_open(monitor, &attr, sim_tid(target), -1, -1, 0);
		assert_true(fd[i] >= 0);
	}
	sim_run(1, 400000000);
	for (int i = 0; i < 4; i++)
		total += sim_value(monitor, fd[i]);
	assert_count(total, 2 * sim_count(target, SIM_EVENT_CYCLES, SIM_IN_BOTH));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest none[] = {
		clean_test(hardware_is_refused),
		clean_test(software_works),
	};
	const struct CMUnitTest silent[] = {
		clean_test(counting_works),
		clean_test(sampling_is_refused),
		clean_test(software_works),
	};
	const struct CMUnitTest plain[] = {
		clean_test(cycles_on_any_counter),
		clean_test(counting_works),
	};

	if (argc == 2 && strcmp(argv[1], "none") == 0) {
		sim_boot(&(struct sim_config){.cpus = 4});
		return cmocka_run_group_tests(none, NULL, NULL);
	}
	if (argc == 2 && strcmp(argv[1], "silent") == 0) {
		sim_boot(&(struct sim_config){.pmu = {{.counters = 7, .no_interrupt = true}}});
		return cmocka_run_group_tests(silent, NULL, NULL);
	}
	sim_boot(&(struct sim_config){.pmu = {{.counters = 2, .no_cycle_counter = true}}});
	return cmocka_run_group_tests(plain, NULL, NULL);
}
