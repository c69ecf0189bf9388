/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Enabling, disabling and resetting events by attr, exec and ioctl, wherever
 * the event is running at that moment.
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

static struct perf_event_attr attr_of(uint64_t config, bool disabled)
{
	struct perf_event_attr attr = sim_attr_hw(config);

	attr.disabled = disabled;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return attr;
}

static int open_on_target(const struct perf_event_attr *attr, int group_fd)
{
	int fd = (int)sim_open(monitor, attr, sim_tid(target), -1, group_fd, 0);

	assert_true(fd >= 0);
	return fd;
}

static struct timed read_timed(int fd)
{
	struct timed timed;

	assert_int_equal(sim_read(monitor, fd, &timed, sizeof(timed)), sizeof(timed));
	return timed;
}

static void expect(int fd, uint64_t value, uint64_t enabled)
{
	struct timed timed = read_timed(fd);

	assert_count(timed.value, value);
	assert_count(timed.enabled, enabled);
	assert_count(timed.running, enabled);
}

static uint64_t value_of_other(int fd)
{
	struct timed timed;

	assert_int_equal(sim_read(target, fd, &timed, sizeof(timed)), sizeof(timed));
	return timed.value;
}

static void control(int fd, unsigned int request)
{
	assert_int_equal(sim_ioctl(monitor, fd, request, 0), 0);
}

#define RATE 2 /* instructions per ns in user mode */

/* disabled=1 waits for ENABLE; DISABLE stops; both are repeatable. [CTL-DISABLED, CTL-IOCTL] */
static void enable_and_disable(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, true);
	int fd;

	(void)state;
	two_tasks();
	fd = open_on_target(&attr, -1);
	sim_run(1, 100);
	expect(fd, 0, 0);
	control(fd, PERF_EVENT_IOC_ENABLE);
	control(fd, PERF_EVENT_IOC_ENABLE);
	sim_run(1, 30);
	expect(fd, 30 * RATE, 30);
	control(fd, PERF_EVENT_IOC_DISABLE);
	control(fd, PERF_EVENT_IOC_DISABLE);
	sim_run(1, 500);
	expect(fd, 30 * RATE, 30);
	control(fd, PERF_EVENT_IOC_ENABLE);
	sim_run(1, 7);
	expect(fd, 37 * RATE, 37);
}

/* The same while the task is not running, and then on another CPU. [CTL-IOCTL] */
static void control_of_a_waiting_task(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, true);
	int fd;

	(void)state;
	two_tasks();
	fd = open_on_target(&attr, -1);
	sim_switch(1, NULL);
	control(fd, PERF_EVENT_IOC_ENABLE);
	sim_wait(1000);
	sim_switch(2, target);
	sim_run(2, 10);
	sim_switch(2, NULL);
	control(fd, PERF_EVENT_IOC_DISABLE);
	sim_wait(1000);
	sim_switch(3, target);
	sim_run(3, 10);
	expect(fd, 10 * RATE, 10);
	control(fd, PERF_EVENT_IOC_ENABLE);
	sim_run(3, 5);
	expect(fd, 15 * RATE, 15);
}

/* On one's own event, in the middle of one's own slice. [CTL-IOCTL, CTL-SELF] */
static void control_of_oneself(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, true);
	int fd;

	(void)state;
	two_tasks();
	fd = (int)sim_open(monitor, &attr, 0, -1, -1, 0);
	for (int i = 0; i < 10; i++) {
		control(fd, PERF_EVENT_IOC_ENABLE);
		sim_run(0, 3);
		control(fd, PERF_EVENT_IOC_DISABLE);
		sim_run(0, 100);
	}
	expect(fd, 30 * RATE, 30);
}

/* Of a CPU's event, from another CPU. [CTL-IOCTL] */
static void control_of_a_cpu(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, true);
	int fd;

	(void)state;
	two_tasks();
	fd = (int)sim_open(monitor, &attr, -1, 1, -1, 0);
	assert_true(fd >= 0);
	sim_run(1, 100);
	control(fd, PERF_EVENT_IOC_ENABLE);
	sim_run(1, 5);
	control(fd, PERF_EVENT_IOC_DISABLE);
	sim_run(1, 100);
	expect(fd, 5 * RATE, 5);
}

/* RESET zeroes the count, not the times. [CTL-RESET] */
static void reset_counts_only(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, false);
	int fd;

	(void)state;
	two_tasks();
	fd = open_on_target(&attr, -1);
	sim_run(1, 100);
	control(fd, PERF_EVENT_IOC_RESET);
	expect(fd, 0, 100);
	sim_run(1, 10);
	expect(fd, 10 * RATE, 110);
	sim_switch(1, NULL);
	control(fd, PERF_EVENT_IOC_RESET);
	expect(fd, 0, 110);
	sim_switch(3, target);
	sim_run(3, 1);
	expect(fd, 1 * RATE, 111);
	control(fd, PERF_EVENT_IOC_DISABLE);
	control(fd, PERF_EVENT_IOC_RESET);
	expect(fd, 0, 111);
}

/* enable_on_exec: at exec, before the first instruction, and only once. [CTL-EXEC] */
static void enabled_by_exec(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, true);
	int fd;

	(void)state;
	attr.enable_on_exec = 1;
	two_tasks();
	fd = open_on_target(&attr, -1);
	sim_run(1, 100);
	sim_exec(target, "first");
	expect(fd, 0, 0);
	sim_run(1, 10);
	expect(fd, 10 * RATE, 10);
	control(fd, PERF_EVENT_IOC_DISABLE);
	sim_exec(target, "second");
	sim_run(1, 10);
	expect(fd, 10 * RATE, 10);
}

/* An event without enable_on_exec does not care about exec. [CTL-EXEC] */
static void not_enabled_by_exec(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, true);
	int off, on;

	(void)state;
	two_tasks();
	off = open_on_target(&attr, -1);
	attr.disabled = 0;
	on = open_on_target(&attr, -1);
	sim_run(1, 10);
	sim_exec(target, "program");
	sim_run(1, 10);
	expect(off, 0, 0);
	expect(on, 20 * RATE, 20);
}

/* As perf stat opens a group: leader waits for exec, siblings for the leader. [CTL-EXEC] */
static void group_enabled_by_exec(void **state)
{
	struct perf_event_attr leader = attr_of(PERF_COUNT_HW_INSTRUCTIONS, true);
	struct perf_event_attr sibling = attr_of(PERF_COUNT_HW_CPU_CYCLES, false);
	int fd[2];

	(void)state;
	leader.enable_on_exec = 1;
	two_tasks();
	fd[0] = open_on_target(&leader, -1);
	fd[1] = open_on_target(&sibling, fd[0]);
	sim_run(1, 100);
	expect(fd[0], 0, 0);
	expect(fd[1], 0, 0);
	sim_exec(target, "program");
	sim_run(1, 10);
	expect(fd[0], 10 * RATE, 10);
	expect(fd[1], 30, 10);
}

/* remove_on_exec: the event ends there, its count stays. [INH-THREAD] */
static void removed_by_exec(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, false);
	int removed, stays;

	(void)state;
	two_tasks();
	stays = open_on_target(&attr, -1);
	attr.remove_on_exec = 1;
	removed = open_on_target(&attr, -1);
	sim_run(1, 10);
	sim_exec(target, "program");
	sim_run(1, 10);
	expect(removed, 10 * RATE, 10);
	expect(stays, 20 * RATE, 20);
	control(removed, PERF_EVENT_IOC_ENABLE);
	sim_run(1, 10);
	expect(removed, 10 * RATE, 10);
}

/* PERF_IOC_FLAG_GROUP reaches all members, from any of them. [CTL-IOCTL] */
static void group_flag(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, true);
	int fd[3];

	(void)state;
	two_tasks();
	for (int i = 0; i < 3; i++)
		fd[i] = open_on_target(&attr, i == 0 ? -1 : fd[0]);
	assert_int_equal(sim_ioctl(monitor, fd[1], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), 0);
	sim_run(1, 10);
	for (int i = 0; i < 3; i++)
		expect(fd[i], 10 * RATE, 10);
	assert_int_equal(sim_ioctl(monitor, fd[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP), 0);
	for (int i = 0; i < 3; i++)
		expect(fd[i], 0, 10);
	assert_int_equal(sim_ioctl(monitor, fd[2], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), 0);
	sim_run(1, 10);
	for (int i = 0; i < 3; i++)
		expect(fd[i], 0, 10);
}

/* A sibling counts only while its leader is enabled, and is not reached without the flag. */
static void sibling_follows_leader(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, false);
	int leader, sibling;

	(void)state;
	two_tasks();
	leader = open_on_target(&attr, -1);
	sibling = open_on_target(&attr, leader);
	sim_run(1, 10);
	control(leader, PERF_EVENT_IOC_DISABLE);
	sim_run(1, 10);
	expect(leader, 10 * RATE, 10);
	expect(sibling, 10 * RATE, 10);
	control(leader, PERF_EVENT_IOC_ENABLE);
	control(sibling, PERF_EVENT_IOC_DISABLE);
	sim_run(1, 10);
	expect(leader, 20 * RATE, 20);
	expect(sibling, 10 * RATE, 10);
	control(sibling, PERF_EVENT_IOC_ENABLE);
	sim_run(1, 10);
	expect(leader, 30 * RATE, 30);
	expect(sibling, 20 * RATE, 20);
}

/* What an ioctl on a counting event answers. [CTL-IOCTL, ACC-ERRORS] */
static void ioctl_errors(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, false);
	uint64_t zero = 0, period = 1000;
	int fd, other;

	(void)state;
	two_tasks();
	fd = open_on_target(&attr, -1);
	other = sim_open_other(monitor);
	assert_int_equal(sim_ioctl(monitor, fd, 0x12345678, 0), -ENOTTY);
	assert_int_equal(sim_ioctl(monitor, fd, _IO('$', 99), 0), -ENOTTY);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_REFRESH, 1), -EINVAL);
	assert_int_equal(sim_ioctl_ptr(monitor, fd, PERF_EVENT_IOC_PERIOD, &period, 8), -EINVAL);
	assert_int_equal(sim_ioctl_ptr(monitor, fd, PERF_EVENT_IOC_PERIOD, &zero, 8), -EINVAL);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_PERIOD, 1), -EFAULT);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_ID, 1), -EFAULT);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_SET_OUTPUT, (uintptr_t)-1), 0);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_SET_OUTPUT, 9999), -EBADF);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_SET_OUTPUT, (uintptr_t)other),
			 -EBADF);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_SET_OUTPUT, (uintptr_t)fd), -EINVAL);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), -EINVAL);
	assert_int_equal(sim_ioctl(monitor, 9999, PERF_EVENT_IOC_ENABLE, 0), -EBADF);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, 1), -EFAULT);
	sim_run(1, 10);
	expect(fd, 10 * RATE, 10);
}

/*
 * PR_TASK_PERF_EVENTS_*: what the calling task has opened, on whomever, and nothing that others
 * have; not what has been closed, nor what could not be opened. [CTL-IOCTL]
 */
static void events_by_their_opener(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, true);
	int others, on_target, on_cpu, closed;

	(void)state;
	two_tasks();
	others = (int)sim_open(target, &attr, 0, -1, -1, 0);
	on_target = open_on_target(&attr, -1);
	closed = open_on_target(&attr, -1);
	on_cpu = (int)sim_open(monitor, &attr, -1, 1, -1, 0);
	assert_true(others >= 0 && on_cpu >= 0);
	assert_int_equal(sim_open(monitor, &attr, sim_tid(target), -1, 99, 0), -EBADF);
	attr.config = PERF_COUNT_HW_MAX;
	assert_true(sim_open(monitor, &attr, sim_tid(target), -1, -1, 0) < 0);
	assert_int_equal(sim_close(monitor, closed), 0);

	sim_task_events(monitor, true);
	sim_run(1, 30);
	expect(on_target, 30 * RATE, 30);
	assert_count(read_timed(on_cpu).value, 30 * RATE);
	assert_count(value_of_other(others), 0);
	sim_task_events(target, false); /* its own: nothing of the monitor's */
	sim_run(1, 10);
	expect(on_target, 40 * RATE, 40);
	sim_task_events(monitor, false);
	sim_run(1, 50);
	expect(on_target, 40 * RATE, 40);
	sim_task_events(target, true);
	sim_run(1, 5);
	expect(on_target, 40 * RATE, 40);
	assert_count(value_of_other(others), 5 * RATE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		clean_test(enable_and_disable),	    clean_test(control_of_a_waiting_task),
		clean_test(control_of_oneself),	    clean_test(control_of_a_cpu),
		clean_test(reset_counts_only),	    clean_test(enabled_by_exec),
		clean_test(not_enabled_by_exec),    clean_test(group_enabled_by_exec),
		clean_test(removed_by_exec),	    clean_test(group_flag),
		clean_test(sibling_follows_leader), clean_test(ioctl_errors),
		clean_test(events_by_their_opener),
	};

	sim_boot(&(struct sim_config){.pmu = {{.counters = 7}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
