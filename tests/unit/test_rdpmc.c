/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A task reads its own counters from user mode, as linux/perf_event.h shows it,
 * and finds what read(2) says, across slices, migrations and rotation. The
 * argument is the width of the counters. [CTL-RDPMC]
 */
#include <stdlib.h>

#include "unit.h"

#define EVENTS 12U

struct timed {
	uint64_t value, enabled, running;
};

static struct sim_task *task, *other;
static int fds[EVENTS];
static struct sim_map *maps[EVENTS];
static unsigned int direct; /* reads that used a counter */

/* What a program does that measures itself; nothing here enters the kernel. */
static struct timed read_in_user_mode(const struct sim_map *map)
{
	const volatile struct perf_event_mmap_page *page = sim_map_page((struct sim_map *)map, 0);
	uint64_t since = sim_now();
	struct timed timed;
	uint32_t lock = page->lock;

	assert_int_equal(lock % 2, 0);
	assert_true(sim_user_may_read(task)); /* also if it has read an index that has just become stale */
	timed.enabled = page->time_enabled;
	timed.running = page->time_running;
	assert_true(page->cap_user_time);
	since = page->time_offset + ((since * page->time_mult) >> page->time_shift);
	timed.enabled += since;
	timed.value = (uint64_t)page->offset;
	if (page->index != 0) {
		unsigned int unused = 64U - page->pmc_width;
		uint64_t counter = sim_user_counter(task, page->index - 1);

		timed.running += since;
		timed.value += (uint64_t)((int64_t)(counter << unused) >> unused);
		direct++;
	}
	assert_int_equal(page->lock, lock);
	return timed;
}

static void expect_as_read(unsigned int n)
{
	struct timed user = read_in_user_mode(maps[n]), kernel;

	assert_int_equal(sim_read(task, fds[n], &kernel, sizeof(kernel)), sizeof(kernel));
	assert_count(user.value, kernel.value);
	assert_count(user.enabled, kernel.enabled);
	assert_count(user.running, kernel.running);
}

static void open_events(unsigned int n)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	task = sim_task_on(1, "task");
	other = sim_task_new("other");
	direct = 0;
	for (unsigned int i = 0; i < n; i++) {
		fds[i] = (int)sim_open(task, &attr, 0, -1, -1, 0);
		assert_true(fds[i] >= 0);
		assert_int_equal(sim_mmap(task, fds[i], 4096, 0, false, &maps[i]), 0);
	}
}

static void in_one_slice(void **state)
{
	struct timed kernel;

	(void)state;
	open_events(1);
	for (int i = 0; i < 200; i++) {
		sim_run(1, sim_random(5000));
		expect_as_read(0);
	}
	assert_int_equal(direct, 200);

	/* Of a disabled event only the count is right: user mode cannot tell that its time stands. */
	sim_ioctl(task, fds[0], PERF_EVENT_IOC_DISABLE, 0);
	sim_run(1, 100);
	sim_read(task, fds[0], &kernel, sizeof(kernel));
	assert_count(read_in_user_mode(maps[0]).value, kernel.value);
	sim_ioctl(task, fds[0], PERF_EVENT_IOC_RESET, 0);
	assert_count(read_in_user_mode(maps[0]).value, 0);
	assert_int_equal(direct, 200);
	sim_ioctl(task, fds[0], PERF_EVENT_IOC_ENABLE, 0);
	sim_run(1, 100);
	expect_as_read(0);
	assert_int_equal(direct, 201);
}

static void across_slices(void **state)
{
	(void)state;
	open_events(2);
	for (int i = 0; i < 2000; i++) {
		if (i % 3 == 0) {
			sim_switch(sim_cpu_of(task), other);
			sim_wait(sim_random(100));
			sim_switch(1 + (int)sim_random(3), NULL);
		}
		if (sim_cpu_of(other) >= 0)
			sim_switch(sim_cpu_of(other), NULL);
		sim_migrate(task, 1 + (int)sim_random(3));
		sim_run(sim_cpu_of(task), sim_random(500));
		expect_as_read(0);
		expect_as_read(1);
	}
	assert_int_equal(direct, 4000);
}

static void across_rotation(void **state)
{
	(void)state;
	open_events(EVENTS);
	for (int i = 0; i < 300; i++) {
		sim_run(sim_cpu_of(task), sim_random(2000000));
		for (unsigned int n = 0; n < EVENTS; n++)
			expect_as_read(n);
		if (i % 7 == 0)
			sim_migrate(task, 1 + (int)sim_random(3));
	}
	assert_in_range(direct, 300 * 5, 300 * 7);
}

/* Access is the task's, while it runs and shows a counter to somebody. */
static void nobody_else_may_read(void **state)
{
	(void)state;
	open_events(2);
	sim_switch(1, other);
	assert_false(sim_user_may_read(other));
	sim_switch(1, task);
	assert_true(sim_user_may_read(task));
	sim_munmap(task, maps[0]);
	assert_true(sim_user_may_read(task));
	expect_as_read(1);
	sim_munmap(task, maps[1]);
	assert_false(sim_user_may_read(task));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		clean_test(in_one_slice),
		clean_test(across_slices),
		clean_test(across_rotation),
		clean_test(nobody_else_may_read),
	};
	unsigned int width = argc > 1 ? (unsigned int)atoi(argv[1]) : 64;

	sim_boot(&(struct sim_config){.pmu = {{.counters = 7, .width = width}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
