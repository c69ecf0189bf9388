/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * More events than counters: groups go on as a whole, flexible ones in turn,
 * pinned ones first or never; and the times tell how it was.
 */
#include "unit.h"

#define COUNTERS 7U /* the cycle counter and six others */

#define MS UINT64_C(1000000)

struct timed {
	uint64_t value, enabled, running;
};

static struct sim_task *monitor, *target;

static void two_tasks(void)
{
	monitor = sim_task_on(0, "monitor");
	target = sim_task_on(1, "target");
}

static struct perf_event_attr attr_of(uint64_t config)
{
	struct perf_event_attr attr = sim_attr_hw(config);

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return attr;
}

static int open_at(const struct perf_event_attr *attr, int pid, int cpu, int group_fd)
{
	int fd = (int)sim_open(monitor, attr, pid, cpu, group_fd, 0);

	assert_true(fd >= 0);
	return fd;
}

static int open_on_target(const struct perf_event_attr *attr, int group_fd)
{
	return open_at(attr, sim_tid(target), -1, group_fd);
}

static struct timed read_timed(int fd)
{
	struct timed timed;

	assert_int_equal(sim_read(monitor, fd, &timed, sizeof(timed)), sizeof(timed));
	return timed;
}

/* Open a group of @n events on the target; fds go to @fd. */
static void open_group(int *fd, unsigned int n)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);

	for (unsigned int i = 0; i < n; i++)
		fd[i] = open_on_target(&attr, i == 0 ? -1 : fd[0]);
}

/* The count scaled up to all of the time is within percent of the truth. */
static void expect_scaled(int fd, uint64_t truth, double percent)
{
	struct timed timed = read_timed(fd);
	double scaled = (double)timed.value * (double)timed.enabled / (double)timed.running;

	if (timed.running == 0 || scaled < (double)truth * (1 - percent / 100) ||
	    scaled > (double)truth * (1 + percent / 100))
		fail_msg("%g scaled up from %" PRIu64 " (%" PRIu64 " of %" PRIu64
			 " ns), true is %" PRIu64,
			 scaled, timed.value, timed.running, timed.enabled, truth);
}

/* As many as there are counters: all run all the time. [SLICE-MUX] */
static void as_many_as_fit(void **state)
{
	struct perf_event_attr cycles = attr_of(PERF_COUNT_HW_CPU_CYCLES);
	int fd[COUNTERS];

	(void)state;
	two_tasks();
	for (unsigned int i = 0; i < COUNTERS - 1; i++)
		open_group(&fd[i], 1);
	fd[COUNTERS - 1] = open_on_target(&cycles, -1);
	sim_run(1, 100 * MS);
	for (unsigned int i = 0; i < COUNTERS; i++) {
		struct timed timed = read_timed(fd[i]);

		assert_count(timed.running, timed.enabled);
		assert_count(timed.enabled, 100 * MS);
	}
}

/* One too many: they share the time evenly, none starves. [SLICE-MUX] */
static void one_too_many(void **state)
{
	int fd[COUNTERS];
	uint64_t total = 0;

	(void)state;
	two_tasks();
	for (unsigned int i = 0; i < COUNTERS; i++)
		open_group(&fd[i], 1);
	sim_run(1, 1000 * MS);
	for (unsigned int i = 0; i < COUNTERS; i++) {
		struct timed timed = read_timed(fd[i]);

		assert_count(timed.enabled, 1000 * MS);
		assert_count(timed.value, 2 * timed.running);
		assert_in_range(timed.running, 1000 * MS * 6 / 7 * 95 / 100,
				1000 * MS * 6 / 7 * 105 / 100);
		total += timed.running;
	}
	assert_count(total, 6 * 1000 * MS);
}

/* Sixteen events in groups of 1, 1, 2, 4 and singles on six counters. [SLICE-MUX, SLICE-GROUP] */
static void sixteen_events(void **state)
{
	const unsigned int sizes[] = {1, 1, 2, 4, 1, 1, 2, 4};
	int fd[16];
	unsigned int n = 0;

	(void)state;
	two_tasks();
	for (unsigned int g = 0; g < 8; g++) {
		open_group(&fd[n], sizes[g]);
		n += sizes[g];
	}
	sim_run(1, 4000 * MS);
	n = 0;
	for (unsigned int g = 0; g < 8; g++) {
		uint64_t running = read_timed(fd[n]).running;

		for (unsigned int i = 0; i < sizes[g]; i++) {
			assert_count(read_timed(fd[n + i]).running, running);
			expect_scaled(fd[n + i], 4000 * MS * 2, 2);
		}
		n += sizes[g];
	}
	/* Groups of equal size have equal time, within 5 %. */
	for (unsigned int g = 0; g < 4; g++) {
		const unsigned int first[] = {0, 1, 2, 4}, second[] = {8, 9, 10, 12};
		uint64_t a = read_timed(fd[first[g]]).running,
			 b = read_timed(fd[second[g]]).running;

		assert_in_range(a, b * 95 / 100, b * 105 / 100);
		assert_true(a > 400 * MS);
	}
}

/* A task that never runs for as long as a turn still rotates. [SLICE-MUX] */
static void short_slices_rotate(void **state)
{
	struct sim_task *other = NULL;
	int fd[12];

	(void)state;
	two_tasks();
	other = sim_task_new("other");
	for (unsigned int i = 0; i < 12; i++)
		open_group(&fd[i], 1);
	for (int i = 0; i < 20000; i++) {
		sim_run(1, 30000 + sim_random(1000));
		sim_switch(1, other);
		sim_run(1, 1000);
		sim_switch(1, target);
	}
	for (unsigned int i = 0; i < 12; i++) {
		struct timed timed = read_timed(fd[i]);

		assert_count(timed.enabled, sim_runtime(target));
		assert_in_range(timed.running, timed.enabled * 45 / 100, timed.enabled * 55 / 100);
		assert_count(timed.value, 2 * timed.running);
	}
}

/* And so does one that moves all the time. [SLICE-MUX, SLICE-MIGRATE] */
static void migrating_rotates(void **state)
{
	int fd[12];

	(void)state;
	two_tasks();
	for (unsigned int i = 0; i < 12; i++)
		open_group(&fd[i], 1);
	for (int i = 0; i < 3000; i++) {
		sim_migrate(target, 1 + i % 3);
		sim_run(1 + i % 3, 200000);
	}
	for (unsigned int i = 0; i < 12; i++) {
		struct timed timed = read_timed(fd[i]);

		assert_in_range(timed.running, timed.enabled * 45 / 100, timed.enabled * 55 / 100);
		assert_count(timed.value, 2 * timed.running);
	}
}

/* A CPU's events rotate on an idle CPU as well. [SLICE-MUX] */
static void idle_cpu_rotates(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	int fd[12];

	(void)state;
	two_tasks();
	for (unsigned int i = 0; i < 12; i++)
		fd[i] = open_at(&attr, -1, 2, -1);
	sim_wait(1000 * MS);
	for (unsigned int i = 0; i < 12; i++) {
		struct timed timed = read_timed(fd[i]);

		assert_count(timed.enabled, 1000 * MS);
		assert_in_range(timed.running, 450 * MS, 550 * MS);
	}
}

/* Pinned groups run all the time, and first. [SLICE-MUX] */
static void pinned_runs_always(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	int flexible[8], pinned;

	(void)state;
	two_tasks();
	for (unsigned int i = 0; i < 8; i++)
		open_group(&flexible[i], 1);
	sim_run(1, 10 * MS);
	attr.pinned = 1;
	pinned = open_on_target(&attr, -1);
	sim_run(1, 1000 * MS);
	assert_count(read_timed(pinned).running, 1000 * MS);
	assert_count(read_timed(pinned).value, 2000 * MS);
	for (unsigned int i = 0; i < 8; i++)
		assert_in_range(read_timed(flexible[i]).running, 500 * MS, 750 * MS);
}

/* Two pinned groups that cannot both fit: the second reads end of file. [SLICE-MUX] */
static void second_pinned_fails(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	int first[4], second[4];
	struct timed timed;

	(void)state;
	two_tasks();
	for (unsigned int i = 0; i < 4; i++) {
		attr.pinned = i == 0;
		first[i] = open_on_target(&attr, i == 0 ? -1 : first[0]);
	}
	attr.disabled = 1;
	for (unsigned int i = 0; i < 4; i++) {
		attr.pinned = i == 0;
		attr.disabled = i == 0;
		second[i] = open_on_target(&attr, i == 0 ? -1 : second[0]);
	}
	assert_int_equal(sim_ioctl(monitor, second[0], PERF_EVENT_IOC_ENABLE, 0), 0);
	sim_run(1, 100 * MS);
	assert_count(read_timed(first[0]).running, 100 * MS);
	assert_int_equal(sim_read(monitor, second[0], &timed, sizeof(timed)), 0);
	assert_int_equal(sim_read(monitor, second[0], &timed, 1), 0);

	/* Room is made, and it is enabled once more: it runs. */
	sim_close(monitor, first[0]);
	for (unsigned int i = 1; i < 4; i++)
		sim_close(monitor, first[i]);
	assert_int_equal(sim_ioctl(monitor, second[0], PERF_EVENT_IOC_ENABLE, 0), 0);
	sim_run(1, 100 * MS);
	assert_count(read_timed(second[0]).value, 200 * MS);
}

/* A group with more events than there are counters is refused. [SLICE-GROUP] */
static void too_big_a_group(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_event_attr cycles = attr_of(PERF_COUNT_HW_CPU_CYCLES);
	struct perf_event_attr software = sim_attr_sw(PERF_COUNT_SW_TASK_CLOCK);
	int fd[COUNTERS];

	(void)state;
	two_tasks();
	open_group(fd, COUNTERS - 1);
	assert_int_equal(sim_open(monitor, &attr, sim_tid(target), -1, fd[0], 0), -EINVAL);
	fd[COUNTERS - 1] = open_on_target(&cycles, fd[0]);
	assert_int_equal(sim_open(monitor, &cycles, sim_tid(target), -1, fd[0], 0), -EINVAL);
	assert_true(sim_open(monitor, &software, sim_tid(target), -1, fd[0], 0) >= 0);
	sim_run(1, 10 * MS);
	for (unsigned int i = 0; i < COUNTERS; i++)
		assert_count(read_timed(fd[i]).running, 10 * MS);
}

/* The cycle counter is used for cycles, so that six other events still fit. [SLICE-MUX] */
static void cycles_do_not_compete(void **state)
{
	struct perf_event_attr cycles = attr_of(PERF_COUNT_HW_CPU_CYCLES);
	int fd[6], cycles_fd[2];

	(void)state;
	two_tasks();
	cycles_fd[0] = open_on_target(&cycles, -1);
	for (unsigned int i = 0; i < 5; i++)
		open_group(&fd[i], 1);
	cycles_fd[1] = open_on_target(&cycles, -1);
	sim_run(1, 100 * MS);
	for (unsigned int i = 0; i < 5; i++)
		assert_count(read_timed(fd[i]).running, 100 * MS);
	assert_count(read_timed(cycles_fd[0]).value, 300 * MS);
	assert_count(read_timed(cycles_fd[1]).value, 300 * MS);
}

/* CPU events come before task events. [SLICE-MUX] */
static void cpu_before_task(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	int of_cpu[6], of_task;

	(void)state;
	two_tasks();
	of_task = open_on_target(&attr, -1);
	attr.pinned = 1;
	for (unsigned int i = 0; i < 6; i++)
		of_cpu[i] = open_at(&attr, -1, 1, -1);
	sim_run(1, 100 * MS);
	for (unsigned int i = 0; i < 6; i++)
		assert_count(read_timed(of_cpu[i]).running, 100 * MS);
	assert_count(read_timed(of_task).enabled, 100 * MS);
	assert_count(read_timed(of_task).running, 0);
	sim_migrate(target, 2);
	sim_run(2, 100 * MS);
	assert_count(read_timed(of_task).running, 100 * MS);
}

/* An exclusive group shares the PMU with nobody. [SLICE-GROUP] */
static void exclusive_is_alone(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	int exclusive, other;
	uint64_t sum;

	(void)state;
	two_tasks();
	other = open_on_target(&attr, -1);
	attr.exclusive = 1;
	exclusive = open_on_target(&attr, -1);
	sim_run(1, 1000 * MS);
	sum = read_timed(other).running + read_timed(exclusive).running;
	assert_in_range(sum, 999 * MS, 1000 * MS);
	assert_in_range(read_timed(exclusive).running, 400 * MS, 600 * MS);
}

/* When those that ran go away, those that waited run at once. [SLICE-MUX] */
static void room_is_used_at_once(void **state)
{
	int big[6], waiting;
	uint64_t before;

	(void)state;
	two_tasks();
	open_group(big, 6);
	open_group(&waiting, 1);
	sim_run(1, 1 * MS);
	assert_count(read_timed(waiting).running, 0);
	sim_close(monitor, big[5]);
	before = read_timed(waiting).running;
	sim_run(1, 1 * MS);
	assert_count(read_timed(waiting).running - before, 1 * MS);
	assert_count(read_timed(big[0]).running, 2 * MS);
}

/* The length of a turn can be set. [SLICE-MUX] */
static void turn_length(void **state)
{
	struct perf_pmu *pmu = perf_pmu_next(NULL);
	int fd[2][6];

	(void)state;
	while (pmu != NULL && (uint32_t)pmu->type != sim_pmu_type(0))
		pmu = perf_pmu_next(pmu);
	assert_non_null(pmu);
	assert_int_equal(perf_pmu_set_mux_interval(pmu, 0), -EINVAL);
	assert_int_equal(perf_pmu_set_mux_interval(pmu, 50), 0);
	two_tasks();
	open_group(fd[0], 6);
	open_group(fd[1], 6);
	sim_run(1, 49 * MS);
	assert_count(read_timed(fd[1][0]).running, 0);
	sim_run(1, 10 * MS);
	assert_in_range(read_timed(fd[1][0]).running, 8 * MS, 10 * MS);
	assert_int_equal(perf_pmu_set_mux_interval(pmu, 4), 0);
}

/* Inherited events multiplex in each child: none is left out. [INH-SLOTS] */
static void inherited_events_multiplex(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	struct sim_task *children[3];
	int fd[12];

	(void)state;
	two_tasks();
	attr.inherit = 1;
	for (unsigned int i = 0; i < 12; i++)
		fd[i] = open_on_target(&attr, -1);
	for (unsigned int i = 0; i < 3; i++) {
		children[i] = sim_fork(target);
		assert_non_null(children[i]);
	}
	sim_switch(2, children[0]);
	sim_switch(3, children[1]);
	sim_run_all(1000 * MS);
	for (unsigned int i = 0; i < 12; i++) {
		struct timed timed = read_timed(fd[i]);

		assert_count(timed.enabled, 3000 * MS);
		assert_in_range(timed.running, 1350 * MS, 1650 * MS);
		assert_count(timed.value, 2 * timed.running);
	}
}

/* A switch does not touch what is not scheduled: see bench/ for its cost. [SLICE-MUX] */
static void thousand_waiting_events(void **state)
{
	int fd[1000];
	uint64_t running = 0;

	(void)state;
	two_tasks();
	for (unsigned int i = 0; i < 1000; i++)
		open_group(&fd[i], 1);
	for (int i = 0; i < 1000; i++) {
		sim_run(1, MS);
		sim_migrate(target, 1);
	}
	for (unsigned int i = 0; i < 1000; i++) {
		assert_true(read_timed(fd[i]).running > 0);
		running += read_timed(fd[i]).running;
	}
	assert_count(running, 6 * 1000 * MS);
}

/* Events bound to a CPU compete with those that are not, in slices of one task. [SLICE-MUX] */
static void bound_and_unbound(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	struct sim_task *other;
	int fd[16];

	(void)state;
	two_tasks();
	other = sim_task_new("other");
	for (int i = 0; i < 16; i++)
		fd[i] = open_at(&attr, sim_tid(target), i % 2 ? 1 : -1, -1);
	for (int i = 0; i < 4000; i++) {
		sim_run(1, sim_random(MS));
		sim_switch(1, i % 2 ? target : other);
	}
	for (int i = 0; i < 16; i++) {
		struct timed timed = read_timed(fd[i]);
		uint64_t truth = sim_count(target, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH);

		assert_count(timed.enabled, sim_runtime(target));
		assert_in_range(timed.running * 16, timed.enabled * 5, timed.enabled * 7);
		assert_in_range(timed.value * 100 / timed.running * timed.enabled / 100,
				truth - truth / 20, truth + truth / 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		clean_test(as_many_as_fit),
		clean_test(one_too_many),
		clean_test(sixteen_events),
		clean_test(short_slices_rotate),
		clean_test(migrating_rotates),
		clean_test(idle_cpu_rotates),
		clean_test(pinned_runs_always),
		clean_test(second_pinned_fails),
		clean_test(too_big_a_group),
		clean_test(cycles_do_not_compete),
		clean_test(cpu_before_task),
		clean_test(exclusive_is_alone),
		clean_test(room_is_used_at_once),
		clean_test(turn_length),
		clean_test(inherited_events_multiplex),
		clean_test(thousand_waiting_events),
		clean_test(bound_and_unbound),
	};

	sim_boot(&(struct sim_config){.pmu = {{.counters = COUNTERS}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
