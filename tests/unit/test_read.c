/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read(2) in every layout that read_format can ask for. [CTL-READ, CTL-ID]
 */
#include "unit.h"

static const uint64_t configs[] = {
	PERF_COUNT_HW_CPU_CYCLES,
	PERF_COUNT_HW_INSTRUCTIONS,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
};
static const enum sim_pmu_event events[] = {
	SIM_EVENT_CYCLES,
	SIM_EVENT_INSTRUCTIONS,
	SIM_EVENT_BRANCHES,
};

#define MEMBERS 3U

static struct sim_task *monitor, *target;
static int fds[MEMBERS];
static uint64_t ids[MEMBERS];

/* A group of @n events on the target, all with the same read_format. */
static void open_group(unsigned int n, uint64_t format)
{
	monitor = sim_task_on(0, "monitor");
	target = sim_task_on(1, "target");
	for (unsigned int i = 0; i < n; i++) {
		struct perf_event_attr attr = sim_attr_hw(configs[i]);

		attr.read_format = format;
		fds[i] =
			(int)sim_open(monitor, &attr, sim_tid(target), -1, i == 0 ? -1 : fds[0], 0);
		assert_true(fds[i] >= 0);
		assert_int_equal(
			sim_ioctl_ptr(monitor, fds[i], PERF_EVENT_IOC_ID, &ids[i], sizeof(ids[i])),
			0);
	}
}

static uint64_t *expect_times(uint64_t *out, uint64_t format)
{
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		*out++ = sim_runtime(target);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		*out++ = sim_runtime(target);
	return out;
}

static uint64_t *expect_identity(uint64_t *out, uint64_t format, unsigned int member)
{
	if (format & PERF_FORMAT_ID)
		*out++ = ids[member];
	if (format & PERF_FORMAT_LOST)
		*out++ = 0;
	return out;
}

/* What the manual page says read(2) returns. Returns the size in bytes. */
static size_t expect(uint64_t *out, uint64_t format, unsigned int n, unsigned int member)
{
	uint64_t *start = out;

	if ((format & PERF_FORMAT_GROUP) == 0) {
		*out++ = sim_count(target, events[member], SIM_IN_BOTH);
		out = expect_times(out, format);
		out = expect_identity(out, format, member);
	} else {
		*out++ = n;
		out = expect_times(out, format);
		for (unsigned int i = 0; i < n; i++) {
			*out++ = sim_count(target, events[i], SIM_IN_BOTH);
			out = expect_identity(out, format, i);
		}
	}
	return (size_t)(out - start) * sizeof(*out);
}

static void check_layout(uint64_t format, unsigned int n)
{
	uint64_t expected[32], got[32];

	open_group(n, format);
	sim_run(1, 1234);
	sim_switch(1, NULL);
	sim_switch(2, target);
	sim_run(2, 99);
	for (unsigned int member = 0; member < n; member++) {
		size_t size = expect(expected, format, n, member);

		assert_int_equal(sim_read(monitor, fds[member], got, sizeof(got)), size);
		assert_memory_equal(got, expected, size);
		assert_int_equal(sim_read(monitor, fds[member], got, size), size);
		for (size_t less = 0; less < size; less++)
			assert_int_equal(sim_read(monitor, fds[member], got, less), -ENOSPC);
	}
	sim_reset();
}

static void every_layout_of_one(void **state)
{
	(void)state;
	for (uint64_t format = 0; format < PERF_FORMAT_MAX; format++)
		check_layout(format, 1);
}

static void every_layout_of_a_group(void **state)
{
	(void)state;
	for (uint64_t format = 0; format < PERF_FORMAT_MAX; format++)
		check_layout(format, MEMBERS);
}

/* A bad buffer is EFAULT; the next read is right. [ACC-ERRORS] */
static void bad_buffer(void **state)
{
	const uint64_t formats[] = {0, PERF_FORMAT_GROUP | PERF_FORMAT_ID};

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t value[8];
		uintptr_t end;

		open_group(MEMBERS, formats[i]);
		sim_run(1, 100);
		end = (uintptr_t)sim_user(monitor) + SIM_USER_SIZE;
		assert_int_equal(sim_read_raw(monitor, fds[0], 0, 64), -EFAULT);
		assert_int_equal(sim_read_raw(monitor, fds[0], UINTPTR_MAX, 64), -EFAULT);
		assert_int_equal(sim_read_raw(monitor, fds[0], end - 4, 64), -EFAULT);
		sim_fail_copy(1);
		assert_int_equal(sim_read(monitor, fds[0], value, sizeof(value)), -EFAULT);
		assert_true(sim_read(monitor, fds[0], value, sizeof(value)) > 0);
		sim_reset();
	}
}

/* Only as much as there is to say is written. [CTL-READ] */
static void writes_no_more_than_it_says(void **state)
{
	unsigned char buffer[256];
	long size;

	(void)state;
	open_group(MEMBERS, PERF_FORMAT_GROUP);
	size = sim_read(monitor, fds[0], buffer, sizeof(buffer));
	assert_int_equal(size, 4 * sizeof(uint64_t));
	for (size_t i = (size_t)size; i < sizeof(buffer); i++)
		assert_int_equal(buffer[i], 0xee);
}

/* Whatever allocation fails in a group read: ENOMEM, nothing is lost. */
static void group_read_without_memory(void **state)
{
	uint64_t value[8];
	long result = -1;

	(void)state;
	open_group(MEMBERS, PERF_FORMAT_GROUP);
	sim_run(1, 100);
	for (unsigned int n = 1; result < 0; n++) {
		sim_fail_alloc(n);
		result = sim_read(monitor, fds[0], value, sizeof(value));
		assert_int_equal(result, sim_failed() ? -ENOMEM : (long)(4 * sizeof(uint64_t)));
	}
	assert_count(value[1], sim_count(target, SIM_EVENT_CYCLES, SIM_IN_BOTH));
}

/* Ids differ, also from those of events that are gone. [CTL-ID] */
static void ids_are_unique(void **state)
{
	uint64_t last = 0;

	(void)state;
	for (int round = 0; round < 20; round++) {
		open_group(MEMBERS, PERF_FORMAT_ID);
		for (unsigned int i = 0; i < MEMBERS; i++) {
			uint64_t value[2];

			assert_int_equal(sim_read(monitor, fds[i], value, 16), 16);
			assert_count(value[1], ids[i]);
			assert_true(ids[i] > last);
			last = ids[i];
		}
		sim_reset();
	}
}

/* A group whose leader is closed falls apart: siblings are read alone. [SLICE-GROUP] */
static void leader_is_closed(void **state)
{
	uint64_t value[8];

	(void)state;
	open_group(MEMBERS, PERF_FORMAT_GROUP);
	sim_run(1, 100);
	sim_close(monitor, fds[0]);
	sim_run(1, 100);
	for (unsigned int i = 1; i < MEMBERS; i++) {
		assert_int_equal(sim_read(monitor, fds[i], value, sizeof(value)), 16);
		assert_count(value[0], 1);
		assert_count(value[1], sim_count(target, events[i], SIM_IN_BOTH));
	}
}

/* A sibling that is closed is missing from the group. [SLICE-GROUP] */
static void sibling_is_closed(void **state)
{
	uint64_t value[8];

	(void)state;
	open_group(MEMBERS, PERF_FORMAT_GROUP);
	sim_run(1, 100);
	sim_close(monitor, fds[1]);
	sim_run(1, 100);
	assert_int_equal(sim_read(monitor, fds[0], value, sizeof(value)), 3 * sizeof(uint64_t));
	assert_count(value[0], 2);
	assert_count(value[1], sim_count(target, SIM_EVENT_CYCLES, SIM_IN_BOTH));
	assert_count(value[2], sim_count(target, SIM_EVENT_BRANCHES, SIM_IN_BOTH));
}

/* Members read each for itself, though they are a group. [CTL-READ] */
static void member_reads_alone(void **state)
{
	(void)state;
	open_group(MEMBERS, 0);
	sim_run(1, 100);
	for (unsigned int i = 0; i < MEMBERS; i++)
		assert_count(sim_value(monitor, fds[i]), sim_count(target, events[i], SIM_IN_BOTH));
}

/* poll(2) of an event without a ring. [RING-POLL] */
static void polling_without_a_ring(void **state)
{
	(void)state;
	open_group(1, 0);
	assert_int_equal(sim_poll(monitor, fds[0]), POLLHUP);
	sim_exit(target);
	assert_int_equal(sim_poll(monitor, fds[0]), POLLHUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		clean_test(every_layout_of_one),
		clean_test(every_layout_of_a_group),
		clean_test(bad_buffer),
		clean_test(writes_no_more_than_it_says),
		clean_test(group_read_without_memory),
		clean_test(ids_are_unique),
		clean_test(leader_is_closed),
		clean_test(sibling_is_closed),
		clean_test(member_reads_alone),
		clean_test(polling_without_a_ring),
	};

	sim_boot(&(struct sim_config){.pmu = {{.counters = 4}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
