/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two kinds of CPU, each with a PMU of its own, and tasks that move between
 * them. CPUs 0 and 1 are small (4 counters of 32 bits), 2 and 3 are big (7 of
 * 64). [SLICE-HETERO]
 */
#include "unit.h"

struct timed {
	uint64_t value, enabled, running;
};

static struct sim_task *monitor, *target;

static void two_tasks(void)
{
	monitor = sim_task_on(0, "monitor");
	target = sim_task_on(1, "target");
}

static struct perf_event_attr attr_of(unsigned int pmu)
{
	struct perf_event_attr attr = sim_attr(sim_pmu_type(pmu), SIM_EVENT_INSTRUCTIONS);

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return attr;
}

static int open_at(const struct perf_event_attr *attr, int pid, int cpu)
{
	int fd = (int)sim_open(monitor, attr, pid, cpu, -1, 0);

	assert_true(fd >= 0);
	return fd;
}

static struct timed read_timed(int fd)
{
	struct timed timed;

	assert_int_equal(sim_read(monitor, fd, &timed, sizeof(timed)), sizeof(timed));
	return timed;
}

/* Each event counts on its own kind of CPU; on the other, time_running stands still. */
static void counts_on_its_own_kind(void **state)
{
	struct perf_event_attr little = attr_of(0), big = attr_of(1);
	uint64_t work[2] = {0, 0}, since;
	int fd[2];

	(void)state;
	two_tasks();
	fd[0] = open_at(&little, sim_tid(target), -1);
	fd[1] = open_at(&big, sim_tid(target), -1);
	since = sim_runtime(target);
	for (int i = 0; i < 500; i++) {
		int cpu = 1 + (int)sim_random(3);
		uint64_t ns = sim_random(100);

		sim_migrate(target, cpu);
		sim_run(cpu, ns);
		work[cpu / 2] += ns;
	}
	for (int i = 0; i < 2; i++) {
		struct timed timed = read_timed(fd[i]);

		assert_count(timed.value, 2 * work[i]);
		assert_count(timed.running, work[i]);
		assert_count(timed.enabled, sim_runtime(target) - since);
	}
}

/* An event of a CPU of the wrong kind is refused; generic events go to the right one. */
static void wrong_cpu_is_refused(void **state)
{
	struct perf_event_attr little = attr_of(0), big = attr_of(1);
	struct perf_event_attr generic = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t before;
	int fd;

	(void)state;
	two_tasks();
	assert_int_equal(sim_open(monitor, &little, -1, 2, -1, 0), -ENOENT);
	assert_int_equal(sim_open(monitor, &big, -1, 1, -1, 0), -ENOENT);
	assert_int_equal(sim_open(monitor, &little, sim_tid(target), 3, -1, 0), -ENOENT);
	open_at(&little, -1, 1);
	open_at(&big, -1, 3);
	fd = open_at(&generic, -1, 3);
	before = sim_cpu_count(3, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH);
	sim_migrate(target, 3);
	sim_run(3, 100);
	assert_count(sim_value(monitor, fd),
		     sim_cpu_count(3, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH) - before);
}

/* The upper half of config names the PMU of a generic event. */
static void extended_type(void **state)
{
	struct perf_event_attr attr;
	int fd[2];

	(void)state;
	two_tasks();
	for (unsigned int i = 0; i < 2; i++) {
		attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS | (uint64_t)sim_pmu_type(i)
									<< PERF_PMU_TYPE_SHIFT);
		fd[i] = open_at(&attr, sim_tid(target), -1);
	}
	sim_run(1, 10);
	sim_migrate(target, 2);
	sim_run(2, 5);
	assert_count(sim_value(monitor, fd[0]), 20);
	assert_count(sim_value(monitor, fd[1]), 10);
}

/* Hardware events of two PMUs do not make a group; software events join either. [SLICE-GROUP] */
static void groups_do_not_mix_pmus(void **state)
{
	struct perf_event_attr little = attr_of(0), big = attr_of(1);
	struct perf_event_attr clock = sim_attr_sw(PERF_COUNT_SW_TASK_CLOCK);
	int leader, with_clock;

	(void)state;
	two_tasks();
	leader = open_at(&little, sim_tid(target), -1);
	assert_int_equal(sim_open(monitor, &big, sim_tid(target), -1, leader, 0), -EINVAL);
	with_clock = (int)sim_open(monitor, &clock, sim_tid(target), -1, leader, 0);
	assert_true(with_clock >= 0);
	leader = open_at(&clock, sim_tid(target), -1);
	assert_true(sim_open(monitor, &big, sim_tid(target), -1, leader, 0) >= 0);
	assert_int_equal(sim_open(monitor, &little, sim_tid(target), -1, leader, 0), -EINVAL);
	/* The software member runs only where its group can. */
	sim_run(1, 10);
	sim_migrate(target, 2);
	sim_run(2, 5);
	assert_count(sim_value(monitor, with_clock), 10);
}

/* Both PMUs are crowded, each rotates for itself. [SLICE-MUX] */
static void both_rotate(void **state)
{
	struct perf_event_attr little = attr_of(0), big = attr_of(1);
	int fd[2][12];

	(void)state;
	two_tasks();
	for (int i = 0; i < 12; i++) {
		fd[0][i] = open_at(&little, sim_tid(target), -1);
		fd[1][i] = open_at(&big, sim_tid(target), -1);
	}
	for (int i = 0; i < 2000; i++) {
		sim_migrate(target, 1 + i % 2);
		sim_run(1 + i % 2, 500000);
	}
	for (int i = 0; i < 12; i++) {
		struct timed timed = read_timed(fd[0][i]);

		/* Half of the time, 3 of 12; and the other half, 6 of 12. */
		assert_in_range(timed.running, timed.enabled / 8 * 85 / 100,
				timed.enabled / 8 * 115 / 100);
		assert_count(timed.value, 2 * timed.running);
		timed = read_timed(fd[1][i]);
		assert_in_range(timed.running, timed.enabled / 4 * 85 / 100,
				timed.enabled / 4 * 115 / 100);
	}
}

/* Inherited events follow children to either kind. [INH-COUNT] */
static void children_on_both_kinds(void **state)
{
	struct perf_event_attr little = attr_of(0), big = attr_of(1);
	struct sim_task *children[2];
	int fd[2];

	(void)state;
	two_tasks();
	little.inherit = big.inherit = 1;
	fd[0] = open_at(&little, sim_tid(target), -1);
	fd[1] = open_at(&big, sim_tid(target), -1);
	for (int i = 0; i < 2; i++) {
		children[i] = sim_fork(target);
		sim_switch(2 + i, children[i]);
	}
	sim_run_all(10);
	sim_migrate(children[0], 1);
	sim_run_all(100);
	sim_exit(children[0]);
	sim_exit(children[1]);
	assert_count(read_timed(fd[0]).value, 2 * (10 + 100));
	assert_count(read_timed(fd[1]).value, 2 * (10 + 10 + 100));
	assert_count(read_timed(fd[0]).enabled, 10 + 10 + 10 + 100 + 100);
}

/* Each PMU says where it is, once it is registered. */
static void pmus_are_listed(void **state)
{
	unsigned int found = 0;

	(void)state;
	for (struct perf_pmu *pmu = perf_pmu_next(NULL); pmu != NULL; pmu = perf_pmu_next(pmu)) {
		for (unsigned int i = 0; i < 2; i++) {
			if ((uint32_t)pmu->type != sim_pmu_type(i))
				continue;
			found++;
			assert_string_equal(pmu->name, i == 0 ? "little" : "big");
			for (int cpu = 0; cpu < 4; cpu++)
				assert_int_equal(perf_cpu_set_has(&pmu->cpus, cpu),
						 cpu / 2 == (int)i);
		}
	}
	assert_int_equal(found, 2);
	assert_int_not_equal(sim_pmu_type(0), sim_pmu_type(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		clean_test(counts_on_its_own_kind),
		clean_test(wrong_cpu_is_refused),
		clean_test(extended_type),
		clean_test(groups_do_not_mix_pmus),
		clean_test(both_rotate),
		clean_test(children_on_both_kinds),
		clean_test(pmus_are_listed),
	};

	sim_boot(&(struct sim_config){
		.pmu =
			{
				{.name = "little", .counters = 4, .width = 32, .cpus = 0x3},
				{.name = "big", .counters = 7, .cpus = 0xc},
			},
	});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
