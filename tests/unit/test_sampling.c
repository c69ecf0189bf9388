/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sampling: periods, frequencies and limits, what is in a sample, and whose it
 * is. The program's argument is the width of the counters.
 */
#include <signal.h>
#include <stdlib.h>

#include "records.h"

static unsigned int width = 64;

static const uint64_t ns_per_ms = 1000000;

static struct perf_event_attr sampling(uint64_t config, uint64_t period)
{
	struct perf_event_attr attr = sim_attr_hw(config);

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
	attr.exclude_kernel = 1;
	return attr;
}

static int open_event(struct sim_task *task, const struct perf_event_attr *attr, int pid)
{
	int fd = (int)sim_open(task, attr, pid, -1, -1, 0);

	assert_true(fd >= 0);
	return fd;
}

/* One sample for each period, with the ids and the address of the one that runs. [SAMPLE-PERIOD] */
static void fixed_period(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 50000);
	int fd = open_event(monitor, &attr, sim_tid(task));
	const struct record *record;
	struct ring ring;
	unsigned int n = 0;

	(void)state;
	ring_open(&ring, monitor, fd, 8);
	sim_set_ip(task, 0x400123);
	sim_run(1, 5 * ns_per_ms);
	while ((record = ring_next(&ring))) {
		assert_int_equal(record->type, PERF_RECORD_SAMPLE);
		assert_int_equal(record->misc, PERF_RECORD_MISC_USER);
		assert_int_equal(record->size, 32);
		assert_count(record->words[0], 0x400123);
		assert_count(record->words[1] & 0xffffffff, sim_pid(task));
		assert_count(record->words[1] >> 32, sim_tid(task));
		assert_count(record->words[3], 50000);
		n++;
	}
	assert_count(n, sim_count(task, SIM_EVENT_INSTRUCTIONS, SIM_IN_USER) / 50000);
	assert_true(n > 50);
	sim_munmap(monitor, ring.map);
}

/* A period is carried over from slice to slice, and from CPU to CPU. [SLICE-PERIOD, SLICE-MIGRATE] */
static void short_slices(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 10007);
	int fd = open_event(monitor, &attr, sim_tid(task));
	struct ring ring;
	unsigned int expected;

	(void)state;
	ring_open(&ring, monitor, fd, 8);
	for (int i = 0; i < 2000; i++) {
		sim_run(sim_cpu_of(task), 1 + sim_random(300));
		sim_migrate(task, 1 + (int)sim_random(3));
	}
	expected = (unsigned int)(sim_count(task, SIM_EVENT_INSTRUCTIONS, SIM_IN_USER) / 10007);
	assert_int_equal(ring_count(&ring, PERF_RECORD_SAMPLE), expected);
	assert_true(expected > 20);
	sim_munmap(monitor, ring.map);
}

/* Samples of a task are its own, whoever shares its CPU. [SAMPLE-OWNER] */
static void own_samples_only(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor");
	struct sim_task *task = sim_task_on(1, "task"), *other = sim_task_new("other");
	struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 1000);
	int fd = open_event(monitor, &attr, sim_tid(task));
	const struct record *record;
	struct ring ring;
	unsigned int n = 0;

	(void)state;
	ring_open(&ring, monitor, fd, 32);
	for (int i = 0; i < 500; i++) {
		sim_run(1, sim_random(1500));
		sim_switch(1, i % 2 ? task : other);
	}
	while ((record = ring_next(&ring))) {
		assert_int_equal(record->type, PERF_RECORD_SAMPLE);
		assert_count(record->words[1] >> 32, sim_tid(task));
		n++;
	}
	assert_count(n, sim_count(task, SIM_EVENT_INSTRUCTIONS, SIM_IN_USER) / 1000);
	sim_munmap(monitor, ring.map);
}

/* So many samples a second as were asked for, of running time. [SAMPLE-FREQ] */
static void frequency(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(PERF_COUNT_HW_CPU_CYCLES, 1000);
	struct ring ring;
	int fd;

	(void)state;
	attr.freq = 1;
	fd = open_event(monitor, &attr, sim_tid(task));
	ring_open(&ring, monitor, fd, 32);
	sim_run(1, 1000 * ns_per_ms);
	assert_in_range(ring_count(&ring, PERF_RECORD_SAMPLE), 990, 1010);

	for (int i = 0; i < 400; i++) {
		sim_run(1, sim_random(5 * ns_per_ms));
		sim_switch(1, NULL);
		sim_wait(sim_random(20 * ns_per_ms));
		sim_switch(1, task);
	}
	assert_in_range(ring_count(&ring, PERF_RECORD_SAMPLE),
			(sim_runtime(task) / ns_per_ms - 1000) * 98 / 100,
			(sim_runtime(task) / ns_per_ms - 1000) * 102 / 100);
	sim_munmap(monitor, ring.map);
}

/* Faster than allowed: throttled, said so, and going on in the next burst. [SAMPLE-FREQ] */
static void throttling(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 1000);
	unsigned int samples = 0, throttled = 0, unthrottled = 0;
	int fd = open_event(monitor, &attr, sim_tid(task));
	const struct record *record;
	struct ring ring;

	(void)state;
	ring_open(&ring, monitor, fd, 64);
	perf_sysctl_set(PERF_SYSCTL_MAX_SAMPLE_RATE, 25000);
	sim_run(1, 40 * ns_per_ms);
	while ((record = ring_next(&ring))) {
		samples += record->type == PERF_RECORD_SAMPLE;
		throttled += record->type == PERF_RECORD_THROTTLE;
		unthrottled += record->type == PERF_RECORD_UNTHROTTLE;
	}
	assert_in_range(samples, 1000, 1020);
	assert_in_range(throttled, 9, 10);
	assert_in_range(throttled - unthrottled, 0, 1);
	sim_munmap(monitor, ring.map);
}

/* How many samples come in 40 ms if each takes long, and the CPU may give so much of its time to them. */
static unsigned int samples_at(int percent)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 20000);
	int fd = open_event(monitor, &attr, sim_tid(task));
	unsigned int samples;
	struct ring ring;

	ring_open(&ring, monitor, fd, 64);
	assert_int_equal(perf_sysctl_set(PERF_SYSCTL_CPU_TIME_MAX_PERCENT, percent), 0);
	sim_kernel_ns(4000);
	sim_run(1, 40 * ns_per_ms);
	sim_kernel_ns(0);
	samples = ring_count(&ring, PERF_RECORD_SAMPLE);
	sim_munmap(monitor, ring.map);
	sim_exit(task);
	sim_exit(monitor);
	return samples;
}

/* Samples may take a part of a CPU's time; 0 and 100 are no limit. [SAMPLE-FREQ] */
static void share_of_time(void **state)
{
	unsigned int all = samples_at(100), quarter = samples_at(25), tenth = samples_at(10);

	(void)state;
	assert_in_range(samples_at(0), all - 2, all + 2);
	assert_true(quarter < all / 2 && tenth < quarter * 2 / 3 && tenth > 0);
}

/* REFRESH: so many overflows, a signal for each, then disabled. [CTL-IOCTL, SAMPLE-SIGNAL] */
static void refresh(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 10000);
	struct ring ring;
	int fd, si_code = 0;

	(void)state;
	attr.disabled = 1;
	fd = open_event(monitor, &attr, sim_tid(task));
	ring_open(&ring, monitor, fd, 8);
	for (int round = 1; round <= 3; round++) {
		assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_REFRESH, 5), 0);
		sim_run(1, ns_per_ms);
		assert_int_equal(ring_count(&ring, PERF_RECORD_SAMPLE), 5);
		assert_int_equal(sim_signals(monitor, fd, &si_code), 5 * round);
		assert_int_equal(si_code, POLL_HUP);
	}
	sim_munmap(monitor, ring.map);
}

/* sigtrap: a SIGTRAP for each overflow, to the task that is counted. [SAMPLE-SIGNAL] */
static void sigtrap(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 10000);
	struct sim_sigtraps traps;
	uint64_t count;
	int fd;

	(void)state;
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	attr.sig_data = 77;
	fd = open_event(monitor, &attr, sim_tid(task));
	sim_run(1, ns_per_ms);
	count = sim_value(monitor, fd);
	traps = sim_sigtraps(task);
	assert_true(traps.nr > 0);
	assert_int_equal(traps.nr, count / 10000);
	assert_int_equal(traps.data, 77);
	assert_int_equal(traps.type, PERF_TYPE_HARDWARE);
	assert_int_equal(sim_sigtraps(monitor).nr, 0);
	sim_exec(task, "other");
	sim_run(1, ns_per_ms);
	assert_int_equal(sim_sigtraps(task).nr, traps.nr);
}

/* A new period takes effect at once, on an event that runs elsewhere. [CTL-IOCTL] */
static void new_period(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, UINT64_C(1) << 60);
	int fd = open_event(monitor, &attr, sim_tid(task));
	uint64_t period = 10000, zero = 0;
	struct ring ring;

	(void)state;
	ring_open(&ring, monitor, fd, 8);
	sim_run(1, ns_per_ms);
	assert_int_equal(ring_count(&ring, PERF_RECORD_SAMPLE), 0);
	assert_int_equal(sim_ioctl_ptr(monitor, fd, PERF_EVENT_IOC_PERIOD, &zero, 8), -EINVAL);
	assert_int_equal(sim_ioctl_ptr(monitor, fd, PERF_EVENT_IOC_PERIOD, &period, 8), 0);
	sim_run(1, ns_per_ms);
	assert_in_range(ring_count(&ring, PERF_RECORD_SAMPLE), 95, 300);
	sim_munmap(monitor, ring.map);
}

/* Clock events sample by a timer; page faults where they happen. */
static void software_events(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(0, ns_per_ms);
	struct ring clock, faults;
	const struct record *record;
	int fd;

	(void)state;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	fd = open_event(monitor, &attr, sim_tid(task));
	ring_open(&clock, monitor, fd, 8);
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	attr.sample_period = 1;
	attr.sample_type |= PERF_SAMPLE_ADDR;
	fd = open_event(monitor, &attr, sim_tid(task));
	ring_open(&faults, monitor, fd, 8);

	sim_run(1, 50 * ns_per_ms);
	assert_int_equal(ring_count(&clock, PERF_RECORD_SAMPLE), 50);
	for (uint64_t i = 0; i < 10; i++)
		sim_page_fault(task, false, 0x1000 * i);
	for (uint64_t i = 0; i < 10; i++) {
		record = ring_next(&faults);
		assert_non_null(record);
		assert_count(record->words[3], 0x1000 * i);
	}
	assert_null(ring_next(&faults));
	sim_munmap(monitor, clock.map);
	sim_munmap(monitor, faults.map);
}

/* All the fields that need nothing special, each where the ABI wants it. [SAMPLE-FIELDS] */
static void all_fields(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 10000);
	const uint64_t callers[] = {0x400456, 0x400789};
	const struct record *record;
	struct ring ring;
	uint64_t id, expected[64];
	size_t n = 0;
	int fd;

	(void)state;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			   PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
			   PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ |
			   PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_TRANSACTION;
	attr.read_format = PERF_FORMAT_ID;
	fd = open_event(monitor, &attr, sim_tid(task));
	assert_int_equal(sim_ioctl_ptr(monitor, fd, PERF_EVENT_IOC_ID, &id, sizeof(id)), 0);
	ring_open(&ring, monitor, fd, 8);
	sim_set_ip(task, 0x400123);
	sim_set_user_chain(task, callers, 2);
	sim_run(1, ns_per_ms);

	expected[n++] = id;
	expected[n++] = 0x400123;
	expected[n++] = (uint64_t)sim_tid(task) << 32 | (uint64_t)sim_pid(task);
	expected[n++] = 0; /* addr */
	expected[n++] = id;
	expected[n++] = id;
	expected[n++] = 1;     /* cpu */
	expected[n++] = 10000; /* period */
	expected[n++] = 10000; /* value, id */
	expected[n++] = id;
	expected[n++] = 4; /* marker, then the chain */
	expected[n++] = (uint64_t)PERF_CONTEXT_USER;
	expected[n++] = 0x400123;
	expected[n++] = callers[0];
	expected[n++] = callers[1];
	expected[n++] = 0; /* weight */
	expected[n++] = 0; /* transaction */
	record = ring_next(&ring);
	assert_non_null(record);
	assert_int_equal(record->size, n * sizeof(uint64_t));
	for (size_t i = 0; i < n; i++) {
		if (i != 8) /* the interrupt comes a little late */
			assert_count(record->words[i], expected[i]);
	}
	assert_in_range(record->words[8], 10000, 10100);
	sim_munmap(monitor, ring.map);
}

/* A sample of a leader carries the values of the whole group. [SAMPLE-FIELDS] */
static void group_values(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 100000);
	const struct record *record;
	struct ring ring;
	int leader;

	(void)state;
	attr.sample_type = PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP;
	leader = open_event(monitor, &attr, sim_tid(task));
	attr.sample_period = 0;
	assert_true(sim_open(monitor, &attr, sim_tid(task), -1, leader, 0) >= 0);
	ring_open(&ring, monitor, leader, 8);
	sim_run(1, ns_per_ms);
	record = ring_next(&ring);
	assert_non_null(record);
	assert_int_equal(record->size, 24);
	assert_count(record->words[0], 2);
	assert_in_range(record->words[1], 100000, 100100);
	assert_in_range(record->words[2], 99900, 100100);
	sim_munmap(monitor, ring.map);
}

/* Copies write into their root's ring, under its id. [INH-RING] */
static void inherited(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *parent = sim_task_on(1, "parent");
	struct perf_event_attr attr = sampling(PERF_COUNT_HW_INSTRUCTIONS, 10000);
	unsigned int of_parent = 0, of_child = 0;
	const struct record *record;
	struct sim_task *child;
	struct ring ring;
	uint64_t id;
	int fd;

	(void)state;
	attr.inherit = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ID;
	fd = (int)sim_open(monitor, &attr, sim_tid(parent), 1, -1, 0);
	assert_true(fd >= 0);
	assert_int_equal(sim_ioctl_ptr(monitor, fd, PERF_EVENT_IOC_ID, &id, sizeof(id)), 0);
	ring_open(&ring, monitor, fd, 8);
	child = sim_fork(parent);
	sim_run(1, ns_per_ms);
	sim_switch(1, child);
	sim_run(1, ns_per_ms);
	sim_exit(child);
	while ((record = ring_next(&ring))) {
		assert_count(record->words[1], id);
		of_parent += record->words[0] >> 32 == (uint64_t)sim_tid(parent);
		of_child += record->words[0] >> 32 == (uint64_t)sim_tid(child);
	}
	assert_count(of_parent, sim_count(parent, SIM_EVENT_INSTRUCTIONS, SIM_IN_USER) / 10000);
	assert_count(of_child, sim_count(child, SIM_EVENT_INSTRUCTIONS, SIM_IN_USER) / 10000);
	assert_true(of_child > 10);
	sim_munmap(monitor, ring.map);
}

/* On a PMU without interrupt there is no sampling, but counting. [SLICE-NOPMU] */
static void no_interrupt(void **state)
{
	struct sim_task *task = sim_task_on(0, "task");
	struct perf_event_attr attr = sampling(SIM_EVENT_CYCLES, 1000);

	(void)state;
	attr.type = sim_pmu_type(1);
	attr.config = SIM_EVENT_CYCLES;
	assert_int_equal(sim_open(task, &attr, 0, -1, -1, 0), -EOPNOTSUPP);
	attr.sample_period = 0;
	assert_true(sim_open(task, &attr, 0, -1, -1, 0) >= 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		clean_test(fixed_period), clean_test(short_slices),    clean_test(own_samples_only),
		clean_test(frequency),	  clean_test(throttling),      clean_test(share_of_time),
		clean_test(refresh),
		clean_test(sigtrap),
		clean_test(new_period),	  clean_test(software_events), clean_test(all_fields),
		clean_test(group_values), clean_test(inherited),       clean_test(no_interrupt),
	};

	if (argc > 1)
		width = (unsigned int)atoi(argv[1]);
	sim_boot(&(struct sim_config){
		.pmu = {{.counters = 4, .width = width},
			{.name = "quiet",
			 .counters = 2,
			 .no_interrupt = true,
			 .not_generic = true}},
	});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
