/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Software events: clocks, and what the kernel itself does.
 */
#include "unit.h"

static struct sim_task *monitor, *target;

static void two_tasks(void)
{
	monitor = sim_task_on(0, "monitor");
	target = sim_task_on(1, "target");
}

static int open_sw(uint64_t config, int pid, int cpu, int group_fd)
{
	struct perf_event_attr attr = sim_attr_sw(config);
	int fd = (int)sim_open(monitor, &attr, pid, cpu, group_fd, 0);

	assert_true(fd >= 0);
	return fd;
}

/* Both clocks count the time a task is on a CPU, and a CPU's all of it. */
static void clocks(void **state)
{
	int task_clock, cpu_clock, of_cpu;
	uint64_t opened;

	(void)state;
	two_tasks();
	task_clock = open_sw(PERF_COUNT_SW_TASK_CLOCK, sim_tid(target), -1, -1);
	cpu_clock = open_sw(PERF_COUNT_SW_CPU_CLOCK, sim_tid(target), -1, -1);
	of_cpu = open_sw(PERF_COUNT_SW_CPU_CLOCK, -1, 2, -1);
	opened = sim_now();
	for (int i = 0; i < 30; i++) {
		sim_wait(10 + (uint64_t)i);
		sim_migrate(target, 1 + i % 3);
		sim_run(1 + i % 3, 100);
		sim_switch(1 + i % 3, NULL);
		sim_wait(7);
	}
	assert_count(sim_value(monitor, task_clock), sim_runtime(target));
	assert_count(sim_value(monitor, cpu_clock), sim_runtime(target));
	assert_count(sim_value(monitor, of_cpu), sim_now() - opened);
}

/* Each switch away from the task is one, wherever. */
static void context_switches(void **state)
{
	int of_task, of_cpu;

	(void)state;
	two_tasks();
	of_task = open_sw(PERF_COUNT_SW_CONTEXT_SWITCHES, sim_tid(target), -1, -1);
	of_cpu = open_sw(PERF_COUNT_SW_CONTEXT_SWITCHES, -1, 2, -1);
	for (int i = 0; i < 20; i++)
		sim_migrate(target, 1 + i % 3);
	sim_switch(sim_cpu_of(target), NULL);
	/* The first sim_migrate() is to where it is: out and in again. */
	assert_count(sim_value(monitor, of_task), 21);
	/* CPU 2: in and out, seven times. */
	assert_count(sim_value(monitor, of_cpu), 14);
}

/* Moves between CPUs; coming back to the same CPU is none. */
static void migrations(void **state)
{
	int fd;

	(void)state;
	two_tasks();
	fd = open_sw(PERF_COUNT_SW_CPU_MIGRATIONS, sim_tid(target), -1, -1);
	for (int i = 0; i < 5; i++)
		sim_migrate(target, 1);
	assert_count(sim_value(monitor, fd), 0);
	for (int i = 0; i < 12; i++)
		sim_migrate(target, 1 + i % 3);
	assert_count(sim_value(monitor, fd), 11);
	sim_switch(sim_cpu_of(target), NULL);
	assert_count(sim_value(monitor, fd), 11);
}

/* Faults are sorted by kind, and are user mode events. */
static void page_faults(void **state)
{
	struct perf_event_attr attr = sim_attr_sw(PERF_COUNT_SW_PAGE_FAULTS);
	int all, minor, major, kernel_only, other_cpu;

	(void)state;
	two_tasks();
	all = open_sw(PERF_COUNT_SW_PAGE_FAULTS, sim_tid(target), -1, -1);
	minor = open_sw(PERF_COUNT_SW_PAGE_FAULTS_MIN, sim_tid(target), -1, -1);
	major = open_sw(PERF_COUNT_SW_PAGE_FAULTS_MAJ, sim_tid(target), -1, -1);
	other_cpu = open_sw(PERF_COUNT_SW_PAGE_FAULTS, -1, 2, -1);
	attr.exclude_user = 1;
	kernel_only = (int)sim_open(monitor, &attr, sim_tid(target), -1, -1, 0);
	for (int i = 0; i < 10; i++)
		sim_page_fault(target, i % 5 == 0, 0x1000);
	sim_page_fault(monitor, false, 0x1000);
	assert_count(sim_value(monitor, all), 10);
	assert_count(sim_value(monitor, minor), 8);
	assert_count(sim_value(monitor, major), 2);
	assert_count(sim_value(monitor, kernel_only), 0);
	assert_count(sim_value(monitor, other_cpu), 0);
}

/* The dummy event counts nothing, and reset works on all of them. */
static void dummy_and_reset(void **state)
{
	int dummy, faults, clock;

	(void)state;
	two_tasks();
	dummy = open_sw(PERF_COUNT_SW_DUMMY, sim_tid(target), -1, -1);
	faults = open_sw(PERF_COUNT_SW_PAGE_FAULTS, sim_tid(target), -1, -1);
	clock = open_sw(PERF_COUNT_SW_TASK_CLOCK, sim_tid(target), -1, -1);
	sim_run(1, 100);
	sim_page_fault(target, false, 0);
	assert_count(sim_value(monitor, dummy), 0);
	assert_int_equal(sim_ioctl(monitor, faults, PERF_EVENT_IOC_RESET, 0), 0);
	assert_int_equal(sim_ioctl(monitor, clock, PERF_EVENT_IOC_RESET, 0), 0);
	sim_run(1, 50);
	sim_page_fault(target, false, 0);
	assert_count(sim_value(monitor, faults), 1);
	assert_count(sim_value(monitor, clock), 50);
}

/* What perf stat opens by default, on a task that runs, waits, moves and faults. */
static void as_perf_stat_opens_them(void **state)
{
	int clock, switches, migrations_fd, faults;

	(void)state;
	two_tasks();
	clock = open_sw(PERF_COUNT_SW_TASK_CLOCK, sim_tid(target), -1, -1);
	switches = open_sw(PERF_COUNT_SW_CONTEXT_SWITCHES, sim_tid(target), -1, -1);
	migrations_fd = open_sw(PERF_COUNT_SW_CPU_MIGRATIONS, sim_tid(target), -1, -1);
	faults = open_sw(PERF_COUNT_SW_PAGE_FAULTS, sim_tid(target), -1, -1);
	sim_run(1, 100);
	sim_page_fault(target, false, 0x1000);
	sim_switch(1, NULL);
	sim_wait(50);
	sim_switch(2, target);
	sim_run(2, 10);
	sim_exit(target);
	assert_count(sim_value(monitor, clock), sim_runtime(target));
	assert_count(sim_value(monitor, switches), 1);
	assert_count(sim_value(monitor, migrations_fd), 1);
	assert_count(sim_value(monitor, faults), 1);
}

/* Software and hardware events in one group, either as leader. [SLICE-GROUP] */
static void mixed_groups(void **state)
{
	struct perf_event_attr hw = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	int sw_leader, hw_sibling, hw_leader, sw_sibling;

	(void)state;
	two_tasks();
	sw_leader = open_sw(PERF_COUNT_SW_TASK_CLOCK, sim_tid(target), -1, -1);
	sim_run(1, 10);
	hw_sibling = (int)sim_open(monitor, &hw, sim_tid(target), -1, sw_leader, 0);
	assert_true(hw_sibling >= 0);
	hw_leader = (int)sim_open(monitor, &hw, sim_tid(target), -1, -1, 0);
	sw_sibling = open_sw(PERF_COUNT_SW_TASK_CLOCK, sim_tid(target), -1, hw_leader);
	sim_run(1, 100);
	sim_migrate(target, 2);
	sim_run(2, 100);
	assert_count(sim_value(monitor, sw_leader), 210);
	assert_count(sim_value(monitor, hw_sibling), 400);
	assert_count(sim_value(monitor, hw_leader), 400);
	assert_count(sim_value(monitor, sw_sibling), 200);
	sim_close(monitor, sw_leader);
	sim_close(monitor, hw_leader);
	sim_run(2, 100);
	assert_count(sim_value(monitor, hw_sibling), 600);
	assert_count(sim_value(monitor, sw_sibling), 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		clean_test(clocks),	     clean_test(context_switches),
		clean_test(migrations),	     clean_test(page_faults),
		clean_test(dummy_and_reset), clean_test(as_perf_stat_opens_them),
		clean_test(mixed_groups),
	};

	sim_boot(&(struct sim_config){.pmu = {{.counters = 7}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
