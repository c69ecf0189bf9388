/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ring: how it is mapped, what happens when it is full or its reader is
 * hostile, who is woken, and who may write into whose.
 */
#include <time.h>

#include "records.h"

static const uint64_t ns_per_ms = 1000000;

static struct perf_event_attr sampling(uint64_t period)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.exclude_kernel = 1;
	return attr;
}

static int open_on(struct sim_task *task, const struct perf_event_attr *attr, int pid, int cpu)
{
	int fd = (int)sim_open(task, attr, pid, cpu, -1, 0);

	assert_true(fd >= 0);
	return fd;
}

/* One page and 2^n pages, from the start, shared; a second mapping alike. [RING-MAP] */
static void sizes(void **state)
{
	struct sim_task *task = sim_task_on(0, "task");
	struct perf_event_attr attr = sampling(50000);
	int fd = open_on(task, &attr, 0, -1);
	struct ring ring, again;
	struct sim_map *map;

	(void)state;
	assert_int_equal(ring_try(&ring, task, fd, 3, true), -EINVAL);
	assert_int_equal(sim_mmap(task, fd, PAGE + 1, 0, true, &map), -EINVAL);
	assert_int_equal(sim_mmap(task, fd, 0, 0, true, &map), -EINVAL);
	assert_int_equal(sim_mmap(task, fd, 2 * PAGE, PAGE, true, &map), -EINVAL);
	ring_open(&ring, task, fd, 4);
	assert_int_equal(ring_try(&again, task, fd, 2, true), -EINVAL);
	ring_open(&again, task, fd, 4);
	assert_ptr_equal(ring.header, again.header);
	assert_count(ring.header->data_offset, PAGE);
	assert_count(ring.header->data_size, 4 * PAGE);
	sim_munmap(task, ring.map);
	sim_munmap(task, again.map);

	attr.inherit = 1;
	fd = open_on(task, &attr, 0, -1);
	assert_int_equal(ring_try(&ring, task, fd, 4, true), -EINVAL);
}

/* The unprivileged get perf_event_mlock_kb for each CPU. [RING-MAP] */
static void locked_memory(void **state)
{
	struct sim_task *task = sim_task_on(0, "task");
	struct perf_event_attr attr = sampling(50000);
	int fd = open_on(task, &attr, 0, -1), other = open_on(task, &attr, 0, -1);
	struct ring ring, more;

	(void)state;
	sim_set_ipc_lock(task, false);
	assert_int_equal(ring_try(&ring, task, fd, 1024, true), -EPERM);
	ring_open(&ring, task, fd, 512);
	assert_int_equal(ring_try(&more, task, other, 16, true), -EPERM);
	sim_munmap(task, ring.map);
	ring_open(&more, task, other, 16);
	sim_munmap(task, more.map);
}

/* What does not fit is dropped whole, counted, and reported. [RING-FULL] */
static void full(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(50000);
	unsigned int samples = 0, lost = 0;
	const struct record *record;
	struct ring ring;
	uint64_t values[2];
	int fd;

	(void)state;
	attr.read_format = PERF_FORMAT_LOST;
	fd = open_on(monitor, &attr, sim_tid(task), -1);
	ring_open(&ring, monitor, fd, 1);
	for (int i = 0; i < 10; i++) {
		sim_run(1, 50 * ns_per_ms);
		while ((record = ring_next(&ring))) {
			samples += record->type == PERF_RECORD_SAMPLE;
			if (record->type == PERF_RECORD_LOST)
				lost += (unsigned int)record->words[1];
		}
	}
	sim_run(1, ns_per_ms);
	samples += ring_count(&ring, PERF_RECORD_SAMPLE);
	assert_int_equal(sim_read(monitor, fd, values, sizeof(values)), sizeof(values));
	assert_true(values[1] > 1000);
	assert_count(samples + values[1],
		     sim_count(task, SIM_EVENT_INSTRUCTIONS, SIM_IN_USER) / 50000);
	assert_in_range(lost, values[1] / 2, values[1]);
	sim_munmap(monitor, ring.map);
}

/* Whatever the reader writes into the header, records stay inside. [RING-HOSTILE] */
static void hostile_reader(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(5000);
	int fd = open_on(monitor, &attr, sim_tid(task), -1);
	struct ring ring;

	(void)state;
	ring_open(&ring, monitor, fd, 2);
	for (int i = 0; i < 2000; i++) {
		uint64_t *header = (uint64_t *)ring.header;

		for (size_t word = 0; word < PAGE / 8; word++)
			header[word] = i % 2 ? sim_random(0) : sim_random(3 * PAGE);
		sim_run(1, 20000);
	}
	sim_munmap(monitor, ring.map);
}

/* Woken after so many samples, or so many bytes; poll says it once. [RING-POLL] */
static void wakeups(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(50000);
	struct ring ring;
	int fd;

	(void)state;
	attr.wakeup_events = 10;
	fd = open_on(monitor, &attr, sim_tid(task), -1);
	assert_int_equal(sim_poll(monitor, fd), POLLHUP);
	ring_open(&ring, monitor, fd, 8);
	assert_int_equal(sim_poll(monitor, fd), 0);
	sim_run(1, 5 * ns_per_ms);
	assert_int_equal(sim_poll(monitor, fd), POLLIN);
	assert_int_equal(sim_poll(monitor, fd), 0);
	assert_int_equal(sim_wakeups(monitor, fd), ring_count(&ring, PERF_RECORD_SAMPLE) / 10);
	sim_munmap(monitor, ring.map);

	attr.watermark = 1;
	attr.wakeup_watermark = 1000;
	fd = open_on(monitor, &attr, sim_tid(task), -1);
	ring_open(&ring, monitor, fd, 8);
	while (sim_wakeups(monitor, fd) == 0)
		sim_run(1, 10000);
	assert_in_range(ring_count(&ring, PERF_RECORD_SAMPLE), 1000 / 16, 1000 / 16 + 2);

	sim_exit(task);
	assert_int_equal(sim_poll(monitor, fd), POLLHUP);
	sim_munmap(monitor, ring.map);
}

/* Several events write into one ring, as long as that makes sense. [RING-REDIRECT] */
static void redirected(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(50000), other_clock = attr, backward = attr;
	int pid = sim_tid(task), target = open_on(monitor, &attr, pid, -1);
	int source = open_on(monitor, &attr, pid, -1), elsewhere = open_on(monitor, &attr, 0, -1);
	struct ring ring;
	unsigned int n;
	int fd;

	(void)state;
	assert_int_equal(sim_ioctl(monitor, source, PERF_EVENT_IOC_SET_OUTPUT, target), -EINVAL);
	ring_open(&ring, monitor, target, 8);
	assert_int_equal(sim_ioctl(monitor, source, PERF_EVENT_IOC_SET_OUTPUT, target), 0);
	assert_int_equal(sim_ioctl(monitor, target, PERF_EVENT_IOC_SET_OUTPUT, target), -EINVAL);
	assert_int_equal(sim_ioctl(monitor, elsewhere, PERF_EVENT_IOC_SET_OUTPUT, target), -EINVAL);
	assert_int_equal(sim_ioctl(monitor, source, PERF_EVENT_IOC_SET_OUTPUT, 77), -EBADF);
	fd = open_on(monitor, &attr, pid, 1);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_SET_OUTPUT, target), -EINVAL);
	other_clock.use_clockid = 1;
	other_clock.clockid = CLOCK_MONOTONIC;
	fd = open_on(monitor, &other_clock, pid, -1);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_SET_OUTPUT, target), -EINVAL);
	backward.write_backward = 1;
	fd = open_on(monitor, &backward, pid, -1);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_SET_OUTPUT, target), -EINVAL);

	sim_run(1, ns_per_ms);
	n = (unsigned int)(sim_count(task, SIM_EVENT_INSTRUCTIONS, SIM_IN_USER) / 50000);
	assert_int_equal(ring_count(&ring, PERF_RECORD_SAMPLE), 2 * n);

	/* Back to none: only the target's own are left, which end with it. */
	assert_int_equal(sim_ioctl(monitor, source, PERF_EVENT_IOC_SET_OUTPUT, -1), 0);
	sim_run(1, ns_per_ms);
	assert_int_equal(ring_count(&ring, PERF_RECORD_SAMPLE), n);
	assert_int_equal(sim_ioctl(monitor, source, PERF_EVENT_IOC_SET_OUTPUT, target), 0);
	assert_int_equal(sim_ioctl(monitor, target, PERF_EVENT_IOC_DISABLE, 0), 0);
	sim_run(1, ns_per_ms);
	assert_int_equal(ring_count(&ring, PERF_RECORD_SAMPLE), n);
	sim_munmap(monitor, ring.map);
}

/* Overwriting, from the end to the start: the newest record is at head. [RING-BACKWARD] */
static void backward(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(50000);
	struct perf_event_header header;
	uint64_t head, time, last = UINT64_MAX;
	unsigned int n = 0;
	struct ring ring;
	int fd;

	(void)state;
	attr.write_backward = 1;
	attr.sample_type = PERF_SAMPLE_TIME;
	fd = open_on(monitor, &attr, sim_tid(task), -1);
	assert_int_equal(ring_try(&ring, monitor, fd, 1, false), 0);
	ring.header = sim_map_page(ring.map, 0);
	sim_run(1, 50 * ns_per_ms);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), 0);
	head = ring.header->data_head;
	sim_run(1, ns_per_ms);
	assert_count(ring.header->data_head, head);

	for (uint64_t pos = head; pos + 16 <= head + PAGE; pos += header.size) {
		ring_copy(&ring, pos, &header, sizeof(header));
		assert_int_equal(header.size, 16);
		ring_copy(&ring, pos + 8, &time, sizeof(time));
		assert_true(time < last);
		last = time;
		n++;
	}
	assert_int_equal(n, PAGE / 16);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), 0);
	sim_run(1, ns_per_ms);
	assert_true(ring.header->data_head != head);
	sim_munmap(monitor, ring.map);
}

/* A mapping outlives its event, and the event its mapping, in any order. [LIFE-VMA, LIFE-ARMED] */
static void any_order(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct perf_event_attr attr = sampling(50000);

	(void)state;
	for (unsigned int order = 0; order < 6; order++) {
		static const char orders[6][4] = {"cue", "ceu", "uce", "uec", "ecu", "euc"};
		struct sim_task *task = sim_task_on(1, "task");
		int fd = open_on(monitor, &attr, sim_tid(task), -1);
		struct ring ring;

		ring_open(&ring, monitor, fd, 2);
		for (const char *step = orders[order]; *step; step++) {
			sim_run(1, ns_per_ms);
			if (*step == 'c')
				assert_int_equal(sim_close(monitor, fd), 0);
			else if (*step == 'u')
				sim_munmap(monitor, ring.map);
			else
				sim_exit(task);
		}
		sim_check_no_events();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		clean_test(sizes),	    clean_test(locked_memory), clean_test(full),
		clean_test(hostile_reader), clean_test(wakeups),       clean_test(redirected),
		clean_test(backward),	    clean_test(any_order),
	};

	sim_boot(&(struct sim_config){.pmu = {{.counters = 6}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
