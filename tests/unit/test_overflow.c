/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Overflows that fall on a switch, a migration, an exit, or on an operation of
 * another CPU: each sample is taken once, by its own task, and the ring and the
 * event survive each other in any order.
 */
#include <stdlib.h>

#include "records.h"

#define PERIOD 1000U

static struct sim_task *monitor, *target, *helper;
static struct ring ring;
static int fd;
static uint64_t last; /* count at the last sample */
static bool unmapped, closed;

static struct perf_event_attr sampling(uint64_t period)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ | PERF_SAMPLE_CPU;
	return attr;
}

static void make_tasks(void)
{
	monitor = sim_task_on(0, "monitor");
	target = sim_task_on(1, "target");
	helper = sim_thread(monitor);
	sim_switch(2, helper);
	last = 0;
	unmapped = closed = false;
}

static void open_with_ring(const struct perf_event_attr *attr, int cpu)
{
	make_tasks();
	fd = (int)sim_open(monitor, attr, sim_tid(target), cpu, -1, 0);
	sim_assert(fd >= 0);
	ring_open(&ring, monitor, fd, 16);
}

/* Reads the ring: all samples are the target's, and no interval is longer than allowed. */
static unsigned int check_samples(uint64_t longest)
{
	const struct record *record;
	unsigned int n = 0;

	while ((record = ring_next(&ring)) != NULL) {
		assert_int_equal(record->type, PERF_RECORD_SAMPLE);
		assert_count(record->words[0] >> 32, sim_tid(target));
		assert_true(record->words[2] > last && record->words[2] - last <= longest);
		last = record->words[2];
		n++;
	}
	return n;
}

/*
 * The kernel takes time, so that counters overflow anywhere in it, also where
 * interrupts are off and the task is just leaving. [SLICE-SAMPLE, SAMPLE-OWNER,
 * SLICE-PERIOD]
 */
static void overflow_meets_switch(void **state)
{
	struct perf_event_attr attr = sampling(PERIOD);
	struct sim_task *other;
	unsigned int n = 0;
	uint64_t count;

	(void)state;
	open_with_ring(&attr, -1);
	other = sim_task_new("other");
	for (uint64_t step = 1; step < 12; step++) {
		sim_kernel_ns(step);
		for (int i = 0; i < 200; i++) {
			sim_run(1, sim_random(60));
			sim_switch(1, i % 2 == 0 ? other : target);
		}
		sim_kernel_ns(0);
		/* One period, and what passes in the kernel with interrupts off. */
		ring.tail = __atomic_load_n(&ring.header->data_tail, __ATOMIC_ACQUIRE);
		n += ring_count(&ring, PERF_RECORD_SAMPLE);
		count = sim_value(monitor, fd);
		assert_in_range(n, count / PERIOD - 1, count / PERIOD);
	}
	assert_true(n > 40);
	sim_munmap(monitor, ring.map);
}

/* A task that moves at every chance. [SLICE-MIGRATE, SLICE-PERIOD] */
static void overflow_meets_migration(void **state)
{
	struct perf_event_attr attr = sampling(PERIOD);
	uint64_t count;
	unsigned int n;

	(void)state;
	open_with_ring(&attr, -1);
	sim_kernel_ns(3);
	for (int i = 0; i < 600; i++) {
		int cpu = 1 + (int)sim_random(3);

		sim_migrate(target, cpu == 2 ? 3 : cpu);
		sim_run(sim_cpu_of(target), sim_random(200));
	}
	sim_kernel_ns(0);
	count = sim_value(monitor, fd);
	n = check_samples(PERIOD + PERIOD / 2);
	assert_in_range(n, count / PERIOD - 1, count / PERIOD);
	assert_true(n > 50);
	sim_munmap(monitor, ring.map);
}

/* Read, disable and enable from elsewhere do not disturb the rhythm. [CTL-READ] */
static void control_keeps_the_period(void **state)
{
	struct perf_event_attr attr = sampling(PERIOD);
	unsigned int n;

	(void)state;
	open_with_ring(&attr, -1);
	for (int i = 0; i < 500; i++) {
		sim_run(1, sim_random(100));
		sim_value(monitor, fd);
		if (i % 3 == 0) {
			sim_ioctl(monitor, fd, PERF_EVENT_IOC_DISABLE, 0);
			sim_run(1, sim_random(100));
			sim_ioctl(monitor, fd, PERF_EVENT_IOC_ENABLE, 0);
		}
	}
	n = check_samples(PERIOD + 2);
	assert_count(n, sim_value(monitor, fd) / PERIOD);
	assert_true(n > 20);
	sim_munmap(monitor, ring.map);
}

/* Without a ring an event overflows all the same: count, limit and signal. [SLICE-NORING] */
static void without_a_ring(void **state)
{
	struct perf_event_attr attr = sampling(PERIOD);
	uint64_t count;

	(void)state;
	attr.disabled = 1;
	attr.wakeup_events = 1;
	make_tasks();
	fd = (int)sim_open(monitor, &attr, sim_tid(target), -1, -1, 0);
	assert_true(fd >= 0);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_REFRESH, 5), 0);
	for (int i = 0; i < 100; i++) {
		sim_run(sim_cpu_of(target), sim_random(100));
		sim_migrate(target, 1 + 2 * (i % 2));
	}
	assert_int_equal(sim_signals(monitor, fd, NULL), 5);
	count = sim_read(monitor, fd, &count, sizeof(count)) > 0 ? count : 0;
	assert_in_range(count, 5 * PERIOD, 5 * PERIOD + 200);
}

/* More sampling events than counters, on one CPU: all get their share. [SLICE-MUX, SLICE-PERIOD] */
static void sampling_and_multiplexing(void **state)
{
	struct perf_event_attr attr = sampling(50000);
	int fds[12];
	unsigned int n[12] = {0};
	struct ring rings[12];

	(void)state;
	make_tasks();
	for (int i = 0; i < 12; i++) {
		fds[i] = (int)sim_open(monitor, &attr, sim_tid(target), -1, -1, 0);
		ring_open(&rings[i], monitor, fds[i], 8);
	}
	for (int slice = 0; slice < 10; slice++) {
		sim_run(1, 20000000);
		for (int i = 0; i < 12; i++)
			n[i] += ring_count(&rings[i], PERF_RECORD_SAMPLE);
	}
	for (int i = 0; i < 12; i++) {
		uint64_t count = sim_value(monitor, fds[i]);

		assert_in_range(n[i], count / 50000 - 1, count / 50000);
		assert_in_range(count, 180000000, 220000000);
		sim_munmap(monitor, rings[i].map);
	}
}

/* ---------------------------------------------------------------- stories */

static void two_samples_due(void)
{
	struct perf_event_attr attr = sampling(PERIOD);

	attr.exclude_kernel = 1;
	open_with_ring(&attr, -1);
	sim_run(1, PERIOD / 2 - 3);
}

/* As perf record does it: a ring for each CPU; here the one of CPU 3. */
static void inherited_sampling(void)
{
	struct perf_event_attr attr = sampling(PERIOD);

	attr.exclude_kernel = 1;
	attr.inherit = 1;
	attr.sample_type = PERF_SAMPLE_TID;
	open_with_ring(&attr, 3);
}

static void overflows(void *arg)
{
	(void)arg;
	sim_run(1, PERIOD);
}

static void overflows_and_moves(void *arg)
{
	(void)arg;
	sim_run(1, 3);
	sim_migrate(target, 3);
	sim_run(3, PERIOD / 2);
}

static void overflows_and_exits(void *arg)
{
	(void)arg;
	sim_run(1, PERIOD);
	sim_exit(target);
}

static void forks_and_overflows(void *arg)
{
	struct sim_task *child = sim_fork(target);

	(void)arg;
	sim_assert(child != NULL);
	sim_switch(3, child);
	sim_run(3, PERIOD);
	sim_run(1, PERIOD);
	sim_exit(child);
}

static void unmaps(void *arg)
{
	(void)arg;
	sim_munmap(monitor, ring.map);
	unmapped = true;
}

static void closes(void *arg)
{
	(void)arg;
	sim_close(monitor, fd);
	closed = true;
}

static void unmaps_and_closes(void *arg)
{
	unmaps(arg);
	closes(arg);
}

static void closes_and_unmaps(void *arg)
{
	closes(arg);
	unmaps(arg);
}

static void maps_again(void *arg)
{
	struct sim_map *map;

	(void)arg;
	sim_munmap(monitor, ring.map);
	sim_assert(sim_mmap(monitor, fd, 9 * PAGE, 0, true, &map) == 0);
	ring.map = map;
	ring.pages = 8;
	ring.header = sim_map_page(map, 0);
}

static void helper_maps(void *arg)
{
	struct sim_map *map;

	(void)arg;
	if (sim_mmap(helper, fd, 17 * PAGE, 0, true, &map) == 0)
		sim_munmap(helper, map);
}

static void helper_closes(void *arg)
{
	(void)arg;
	sim_close(helper, fd);
}

/* The one who reads the ring while it is written; takes away what it has read. [RING-PUBLISH] */
static void helper_reads_ring(void *arg)
{
	struct perf_event_header *header = sim_map_page(ring.map, 1);

	(void)arg;
	for (int i = 0; i < 12; i++) {
		uint64_t head = __atomic_load_n(&ring.header->data_head, __ATOMIC_ACQUIRE);

		for (; ring.tail < head; ring.tail += header->size) {
			header = (void *)((char *)sim_map_page(ring.map, 1) + ring.tail);
			sim_assert(header->type == PERF_RECORD_SAMPLE && header->size == 32);
			sim_assert(((uint64_t *)(header + 1))[0] >> 32 ==
				   (uint64_t)sim_tid(target));
			sim_assert(((uint64_t *)(header + 1))[2] >= PERIOD);
			memset(header + 1, 0, 24);
		}
		__atomic_store_n(&ring.header->data_tail, ring.tail, __ATOMIC_RELEASE);
		sim_poll(helper, fd);
	}
}

static void changes_period(void *arg)
{
	uint64_t period = PERIOD / 2;

	(void)arg;
	sim_assert(sim_ioctl_ptr(monitor, fd, PERF_EVENT_IOC_PERIOD, &period, sizeof(period)) == 0);
}

static void disables_and_enables(void *arg)
{
	(void)arg;
	sim_assert(sim_ioctl(monitor, fd, PERF_EVENT_IOC_DISABLE, 0) == 0);
	sim_assert(sim_ioctl(monitor, fd, PERF_EVENT_IOC_ENABLE, 0) == 0);
}

static void redirects(void *arg)
{
	struct perf_event_attr attr = sampling(PERIOD / 2);
	int other;
	long result;

	(void)arg;
	attr.exclude_kernel = 1;
	other = (int)sim_open(monitor, &attr, sim_tid(target), -1, -1, 0);
	sim_assert(other >= 0);
	result = sim_ioctl(monitor, other, PERF_EVENT_IOC_SET_OUTPUT, (uintptr_t)fd);
	/* If the helper has closed it, its number is free, or this one's. */
	sim_assert(result == 0 || result == -EBADF || other == fd);
	sim_assert(sim_ioctl(monitor, other, PERF_EVENT_IOC_SET_OUTPUT, (uintptr_t)-1) == 0);
	sim_close(monitor, other);
}

static void helper_scribbles(void *arg)
{
	(void)arg;
	for (int i = 0; i < 4; i++) {
		ring.header->data_tail = sim_random(0);
		ring.header->data_head = sim_random(0);
		ring.header->data_offset = sim_random(0);
		ring.header->data_size = sim_random(0);
		memset(sim_map_page(ring.map, 1), (int)sim_random(256), PAGE);
		sim_wakeups(helper, fd);
	}
}

static void every_sample_is_there(void)
{
	assert_count(check_samples(PERIOD + 2), sim_value(monitor, fd) / PERIOD);
	sim_run(sim_cpu_of(target), PERIOD);
	assert_count(check_samples(PERIOD + 2), 2);
}

static void goes_on_sampling(void)
{
	if (unmapped || closed || sim_dead(target))
		return;
	ring.tail = __atomic_load_n(&ring.header->data_head, __ATOMIC_ACQUIRE);
	ring.header->data_tail = ring.tail;
	sim_run(sim_cpu_of(target), 10 * PERIOD);
	assert_true(ring_count(&ring, PERF_RECORD_SAMPLE) >= 10);
}

/* Two periods passed, one with the old and one with the new length, or so. */
static void samples_of_the_child(void)
{
	assert_in_range(ring_count(&ring, PERF_RECORD_SAMPLE), 2, 4);
}

struct titled_story {
	const char *title;
	struct sim_story story;
};

#define STORY(setup_, a, b, c, check_)                                                 \
	{                                                                              \
		.title = #setup_ ": " #a ", " #b ", " #c,                              \
		.story = {.setup = (setup_), .scripts = {a, b, c}, .check = (check_)}, \
	}

static const struct titled_story stories[] = {
	STORY(two_samples_due, disables_and_enables, overflows, NULL, every_sample_is_there),
	STORY(two_samples_due, disables_and_enables, overflows_and_moves, NULL,
	      every_sample_is_there),
	STORY(two_samples_due, helper_reads_ring, overflows, NULL, goes_on_sampling),
	STORY(two_samples_due, helper_reads_ring, overflows_and_moves, disables_and_enables, NULL),
	STORY(two_samples_due, changes_period, overflows_and_moves, NULL, goes_on_sampling),
	STORY(two_samples_due, unmaps, overflows, NULL, goes_on_sampling),
	STORY(two_samples_due, unmaps_and_closes, overflows_and_moves, NULL, goes_on_sampling),
	STORY(two_samples_due, closes_and_unmaps, overflows_and_moves, NULL, goes_on_sampling),
	STORY(two_samples_due, unmaps_and_closes, overflows_and_exits, NULL, goes_on_sampling),
	STORY(two_samples_due, closes_and_unmaps, overflows_and_exits, NULL, goes_on_sampling),
	STORY(two_samples_due, maps_again, overflows, NULL, goes_on_sampling),
	STORY(two_samples_due, unmaps, overflows, helper_maps, goes_on_sampling),
	STORY(two_samples_due, unmaps, overflows, helper_closes, goes_on_sampling),
	STORY(two_samples_due, redirects, overflows, NULL, goes_on_sampling),
	STORY(two_samples_due, redirects, overflows, helper_closes, goes_on_sampling),
	STORY(two_samples_due, disables_and_enables, overflows, helper_scribbles, NULL),
	STORY(inherited_sampling, closes_and_unmaps, forks_and_overflows, NULL, NULL),
	STORY(inherited_sampling, unmaps_and_closes, forks_and_overflows, NULL, NULL),
	STORY(inherited_sampling, maps_again, forks_and_overflows, NULL, NULL),
	STORY(inherited_sampling, changes_period, forks_and_overflows, NULL, samples_of_the_child),
};

#define FIRST_STORY 5 /* after as many tests of other kinds */
#define NR_STORIES  (sizeof(stories) / sizeof(stories[0]))

static unsigned int delays = 2, random_plays = 50;

static void in_all_orders(void **state)
{
	const struct titled_story *titled = *state;

	assert_true(sim_explore(&titled->story, delays, 20000) >= 5);
}

static void in_random_orders(void **state)
{
	const struct titled_story *titled = *state;

	sim_shuffle(&titled->story, 4711, random_plays);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[FIRST_STORY + 2 * NR_STORIES] = {
		clean_test(overflow_meets_switch),    clean_test(overflow_meets_migration),
		clean_test(control_keeps_the_period), clean_test(sampling_and_multiplexing),
		clean_test(without_a_ring),
	};
	unsigned int width = argc > 1 ? (unsigned int)atoi(argv[1]) : 64;

	for (size_t i = 0; i < NR_STORIES; i++) {
		struct CMUnitTest *test = &tests[FIRST_STORY + 2 * i];

		test[0] = test[1] = (struct CMUnitTest){
			.name = stories[i].title,
			.test_func = in_all_orders,
			.initial_state = (void *)(uintptr_t)&stories[i],
		};
		test[1].test_func = in_random_orders;
	}
	if (argc > 3) {
		delays = (unsigned int)atoi(argv[2]);
		random_plays = (unsigned int)atoi(argv[3]);
	}
	sim_boot(&(struct sim_config){.pmu = {{.counters = 7, .width = width}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
