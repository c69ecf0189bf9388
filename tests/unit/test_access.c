/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who may open what: perf_event_paranoid, CAP_PERFMON, and whose task it is.
 * [ACC-PARANOID]
 */
#include "unit.h"

static struct sim_task *caller, *own, *foreign;

static void three_tasks(void)
{
	caller = sim_task_on(0, "caller");
	own = sim_task_on(1, "own");
	foreign = sim_task_on(2, "foreign");
	sim_set_uid(caller, 1000);
	sim_set_uid(own, 1000);
	sim_set_uid(foreign, 0);
	sim_set_perfmon(caller, false);
}

static long try_open(bool exclude_kernel, int pid, int cpu)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	long fd;

	attr.exclude_kernel = exclude_kernel;
	fd = sim_open(caller, &attr, pid, cpu, -1, 0);
	if (fd >= 0)
		sim_close(caller, (int)fd);
	return fd < 0 ? fd : 0;
}

/* What an unprivileged caller gets, level by level. */
static void without_privilege(void **state)
{
	const struct {
		int level;
		long task_user, task_kernel, cpu_user, cpu_kernel;
	} expected[] = {
		{-1, 0, 0, 0, 0},
		{0, 0, 0, 0, 0},
		{1, 0, 0, -EACCES, -EACCES},
		{2, 0, -EACCES, -EACCES, -EACCES},
		{3, -EACCES, -EACCES, -EACCES, -EACCES},
		{4, -EACCES, -EACCES, -EACCES, -EACCES},
	};

	(void)state;
	three_tasks();
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		assert_int_equal(perf_sysctl_set(PERF_SYSCTL_PARANOID, expected[i].level), 0);
		assert_int_equal(try_open(true, 0, -1), expected[i].task_user);
		assert_int_equal(try_open(false, 0, -1), expected[i].task_kernel);
		assert_int_equal(try_open(true, sim_tid(own), -1), expected[i].task_user);
		assert_int_equal(try_open(true, sim_tid(own), 1), expected[i].task_user);
		assert_int_equal(try_open(true, -1, 0), expected[i].cpu_user);
		assert_int_equal(try_open(false, -1, 0), expected[i].cpu_kernel);
		assert_int_equal(try_open(true, sim_tid(foreign), -1), -EACCES);
	}
}

/* With CAP_PERFMON everything is allowed at all levels. */
static void with_privilege(void **state)
{
	(void)state;
	three_tasks();
	sim_set_perfmon(caller, true);
	for (int level = -1; level <= 4; level++) {
		perf_sysctl_set(PERF_SYSCTL_PARANOID, level);
		assert_int_equal(try_open(false, 0, -1), 0);
		assert_int_equal(try_open(false, sim_tid(foreign), -1), 0);
		assert_int_equal(try_open(false, -1, 3), 0);
	}
}

/* Whoever has a descriptor may use it, though he could not have opened it. */
static void descriptor_is_permission(void **state)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	struct sim_task *child;
	int fd;

	(void)state;
	three_tasks();
	sim_set_perfmon(caller, true);
	fd = (int)sim_open(caller, &attr, sim_tid(foreign), -1, -1, 0);
	assert_true(fd >= 0);
	child = sim_fork(caller);
	sim_set_perfmon(child, false);
	sim_switch(3, child);
	sim_run(2, 100);
	assert_count(sim_value(child, fd), 200);
	assert_int_equal(sim_ioctl(child, fd, PERF_EVENT_IOC_RESET, 0), 0);
	assert_count(sim_value(child, fd), 0);
}

/* Physical addresses and namespaces need privilege of their own. */
static void special_bits(void **state)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);

	(void)state;
	three_tasks();
	attr.exclude_kernel = 1;
	attr.namespaces = 1;
	assert_int_equal(sim_open(caller, &attr, 0, -1, -1, 0), -EACCES);
	attr.namespaces = 0;
	attr.sample_type = PERF_SAMPLE_PHYS_ADDR;
	assert_int_equal(sim_open(caller, &attr, 0, -1, -1, 0), -EACCES);
	perf_sysctl_set(PERF_SYSCTL_PARANOID, 1);
	assert_true(sim_open(caller, &attr, 0, -1, -1, 0) >= 0);
}

/* The defaults of the knobs, and what they refuse. */
static void sysctl_limits(void **state)
{
	(void)state;
	assert_int_equal(perf_sysctl_get(PERF_SYSCTL_PARANOID), 2);
	assert_int_equal(perf_sysctl_get(PERF_SYSCTL_MLOCK_KB), 516);
	assert_int_equal(perf_sysctl_get(PERF_SYSCTL_MAX_SAMPLE_RATE), 100000);
	assert_int_equal(perf_sysctl_get(PERF_SYSCTL_MAX_STACK), 127);
	assert_int_equal(perf_sysctl_get(PERF_SYSCTL_MAX_CONTEXTS_PER_STACK), 8);
	assert_int_equal(perf_sysctl_set(PERF_SYSCTL_MAX_SAMPLE_RATE, 0), -EINVAL);
	assert_int_equal(perf_sysctl_set(PERF_SYSCTL_MAX_STACK, -1), -EINVAL);
	assert_int_equal(perf_sysctl_set(PERF_SYSCTL_MAX_STACK, 640 * 1024 + 1), -EINVAL);
	assert_int_equal(perf_sysctl_set(PERF_SYSCTL_MAX_CONTEXTS_PER_STACK, 1001), -EINVAL);
	assert_int_equal(perf_sysctl_get(PERF_SYSCTL_MAX_STACK), 127);
	assert_int_equal(perf_sysctl_set(PERF_SYSCTL_MAX_SAMPLE_RATE, 5000), 0);
	assert_int_equal(perf_sysctl_get(PERF_SYSCTL_MAX_SAMPLE_RATE), 5000);
	assert_int_equal(perf_sysctl_get(PERF_SYSCTL_CPU_TIME_MAX_PERCENT), 25);
	assert_int_equal(perf_sysctl_set(PERF_SYSCTL_CPU_TIME_MAX_PERCENT, 101), -EINVAL);
	assert_int_equal(perf_sysctl_set(PERF_SYSCTL_CPU_TIME_MAX_PERCENT, 0), 0);
	assert_int_equal(perf_sysctl_set(PERF_SYSCTL_MAX_SAMPLE_RATE, 4000), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		clean_test(without_privilege),
		clean_test(with_privilege),
		clean_test(descriptor_is_permission),
		clean_test(special_bits),
		clean_test(sysctl_limits),
	};

	sim_boot(&(struct sim_config){.pmu = {{.counters = 7}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
