/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Switching between tasks whose events are copies of one another: the counters
 * go on, and sums, samples and lifetimes are as if they had been changed over.
 * [SLICE-SWAP]
 */
#include "records.h"

static struct perf_event_attr inherited(uint64_t config)
{
	struct perf_event_attr attr = sim_attr_hw(config);

	attr.inherit = 1;
	return attr;
}

static int open_on(struct sim_task *monitor, const struct perf_event_attr *attr,
		   struct sim_task *task, int cpu, int leader)
{
	int fd = (int)sim_open(monitor, attr, sim_tid(task), cpu, leader, 0);

	assert_true(fd >= 0);
	return fd;
}

static uint64_t work_of(struct sim_task *const *tasks, unsigned int n, enum sim_pmu_event event)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += sim_count(tasks[i], event, SIM_IN_BOTH);
	return sum;
}

/* A family trades places on three CPUs; a stranger, too. The sum is exact at any time. */
static void sums(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *family[5] = {sim_task_on(1, "first")}, *stranger = sim_task_new("other");
	struct perf_event_attr attr = inherited(PERF_COUNT_HW_INSTRUCTIONS);
	int fd = open_on(monitor, &attr, family[0], -1, -1), cycles;

	(void)state;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	cycles = open_on(monitor, &attr, family[0], -1, fd);
	for (unsigned int i = 1; i < 5; i++)
		family[i] = sim_fork(family[0]);
	for (int i = 0; i < 5000; i++) {
		uint64_t who = sim_random(6);
		int cpu = 1 + (int)sim_random(3);

		sim_switch(cpu, who < 5 ? family[who] : stranger);
		sim_run(1 + (int)sim_random(3), sim_random(100));
		if (i % 100 == 0)
			assert_count(sim_value(monitor, fd),
				     work_of(family, 5, SIM_EVENT_INSTRUCTIONS));
	}
	assert_count(sim_value(monitor, fd), work_of(family, 5, SIM_EVENT_INSTRUCTIONS));
	assert_count(sim_value(monitor, cycles), work_of(family, 5, SIM_EVENT_CYCLES));
}

/* Whoever ends first, the one that the event was opened on or its child. [LIFE-SHARED] */
static void ends(void **state)
{
	(void)state;
	for (int first = 0; first < 2; first++) {
		struct sim_task *monitor = sim_task_on(0, "monitor");
		struct sim_task *pair[2] = {sim_task_on(1, "parent")};
		struct perf_event_attr attr = inherited(PERF_COUNT_HW_INSTRUCTIONS);
		int fd = open_on(monitor, &attr, pair[0], -1, -1);

		pair[1] = sim_fork(pair[0]);
		for (int i = 0; i < 7; i++) {
			sim_switch(1, pair[i % 2]);
			sim_run(1, 100);
		}
		sim_switch(1, pair[first]);
		sim_exit(pair[first]);
		sim_switch(1, pair[1 - first]);
		sim_run(1, 100);
		assert_count(sim_value(monitor, fd), work_of(pair, 2, SIM_EVENT_INSTRUCTIONS));
		assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_DISABLE, 0), 0);
		sim_run(1, 100);
		assert_true(sim_value(monitor, fd) < work_of(pair, 2, SIM_EVENT_INSTRUCTIONS));
		sim_exit(pair[1 - first]);
		sim_close(monitor, fd);
		sim_check_no_events();
	}
}

/* After a switch an event opened on one of them counts that one alone. */
static void strangers_again(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *parent = sim_task_on(1, "parent"), *child;
	struct perf_event_attr attr = inherited(PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t before;
	int fd;

	(void)state;
	open_on(monitor, &attr, parent, -1, -1);
	child = sim_fork(parent);
	sim_switch(1, child);
	sim_run(1, 100);
	before = sim_count(child, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH);
	attr.inherit = 0;
	fd = open_on(monitor, &attr, child, -1, -1);
	for (int i = 0; i < 10; i++) {
		sim_run(1, 100);
		sim_switch(1, i % 2 ? child : parent);
	}
	assert_count(sim_value(monitor, fd),
		     sim_count(child, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH) - before);
}

/* Samples carry the ids of the one that ran, with one ring for both. [SAMPLE-OWNER] */
static void samples(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *pair[2] = {sim_task_on(1, "parent")};
	struct perf_event_attr attr = inherited(PERF_COUNT_HW_INSTRUCTIONS);
	unsigned int of[2] = {0, 0};
	const struct record *record;
	struct ring ring;
	uint64_t total;
	int fd;

	(void)state;
	attr.sample_period = 50000;
	attr.sample_type = PERF_SAMPLE_TID;
	attr.exclude_kernel = 1;
	fd = open_on(monitor, &attr, pair[0], 1, -1);
	ring_open(&ring, monitor, fd, 8);
	pair[1] = sim_fork(pair[0]);
	for (int i = 0; i < 400; i++) {
		sim_switch(1, pair[i % 2]);
		sim_run(1, i % 2 ? 10000 : 30000);
	}
	while ((record = ring_next(&ring)))
		for (int i = 0; i < 2; i++)
			of[i] += record->words[0] >> 32 == (uint64_t)sim_tid(pair[i]);
	total = (sim_count(pair[0], SIM_EVENT_INSTRUCTIONS, SIM_IN_USER) +
		 sim_count(pair[1], SIM_EVENT_INSTRUCTIONS, SIM_IN_USER)) /
		50000;
	assert_in_range(of[0] + of[1], total - 1, total);
	assert_in_range(of[0], of[1] * 3 - of[1] / 3, of[1] * 3 + of[1] / 3);
	sim_munmap(monitor, ring.map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		clean_test(sums),
		clean_test(ends),
		clean_test(strangers_again),
		clean_test(samples),
	};

	sim_boot(&(struct sim_config){.pmu = {{.counters = 4}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
