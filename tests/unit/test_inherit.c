/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that children inherit: the root's count is the sum over the living and
 * the dead.
 */
#include "unit.h"

static struct sim_task *monitor, *root;

static uint64_t instructions(const struct sim_task *task)
{
	return sim_count(task, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH);
}

static struct perf_event_attr inherited(bool disabled)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);

	attr.inherit = 1;
	attr.disabled = disabled;
	return attr;
}

/* The monitor on CPU 0 has an event on the root on CPU 1. Returns its descriptor. */
static int two_tasks(const struct perf_event_attr *attr)
{
	int fd;

	monitor = sim_task_on(0, "monitor");
	root = sim_task_on(1, "root");
	fd = (int)sim_open(monitor, attr, sim_tid(root), -1, -1, 0);
	assert_true(fd >= 0);
	return fd;
}

/* One child: counted before and after it exits. [INH-CLONE, INH-COUNT] */
static void child_is_counted(void **state)
{
	struct perf_event_attr attr = inherited(false);
	int fd = two_tasks(&attr);
	struct sim_task *child;

	(void)state;
	sim_run(1, 100);
	child = sim_fork(root);
	sim_switch(2, child);
	sim_run(2, 50);
	assert_count(sim_value(monitor, fd), instructions(root) + instructions(child));
	sim_run(1, 10);
	sim_exit(child);
	assert_count(sim_value(monitor, fd), instructions(root) + instructions(child));
	sim_exit(root);
	assert_count(sim_value(monitor, fd), instructions(root) + instructions(child));
	assert_int_equal(perf_live_events(), 1);
}

/* Without the bit, and to processes with inherit_thread, nothing is copied. [INH-CLONE, INH-THREAD] */
static void not_everything_is_inherited(void **state)
{
	struct perf_event_attr attr = inherited(false);
	int none, threads;
	struct sim_task *child, *thread;

	(void)state;
	attr.inherit = 0;
	none = two_tasks(&attr);
	attr.inherit = attr.inherit_thread = 1;
	threads = (int)sim_open(monitor, &attr, sim_tid(root), -1, -1, 0);
	child = sim_fork(root);
	thread = sim_thread(root);
	sim_switch(2, child);
	sim_switch(3, thread);
	sim_run_all(100);
	assert_count(sim_value(monitor, none), instructions(root));
	assert_count(sim_value(monitor, threads), instructions(root) + instructions(thread));
}

/* Children of children, in a row. [INH-CLONE] */
static void transitive(void **state)
{
	struct perf_event_attr attr = inherited(false);
	int fd = two_tasks(&attr);
	struct sim_task *task = root;
	uint64_t sum = 0;

	(void)state;
	for (int generation = 0; generation < 10; generation++) {
		struct sim_task *child = sim_fork(task);

		sim_run(1, 10);
		sim_switch(1, child);
		sim_run(1, 7);
		sum += instructions(task);
		task = child;
	}
	assert_count(sim_value(monitor, fd), sum + instructions(task));
}

/* A disabled event is inherited disabled, without enable_on_exec. [INH-CLONE] */
static void state_is_inherited(void **state)
{
	struct perf_event_attr attr = inherited(true);
	int fd;
	struct sim_task *child;

	(void)state;
	attr.enable_on_exec = 1;
	fd = two_tasks(&attr);
	child = sim_fork(root);
	sim_switch(2, child);
	sim_run(2, 100);
	sim_exec(child, "program");
	sim_run(2, 100);
	assert_count(sim_value(monitor, fd), 0);
	sim_exec(root, "program");
	sim_run(1, 5);
	assert_count(sim_value(monitor, fd), 10);
	child = sim_fork(root);
	sim_switch(3, child);
	sim_run(3, 6);
	assert_count(sim_value(monitor, fd), 22);
}

/* The usual way of perf stat: fork, wait in the child, exec, more children. [CTL-EXEC, INH-COUNT] */
static void as_perf_stat_does(void **state)
{
	struct perf_event_attr attr = inherited(true);
	struct sim_task *workload, *child;
	uint64_t before;
	int fd;

	(void)state;
	attr.enable_on_exec = 1;
	monitor = sim_task_on(0, "perf");
	workload = sim_fork(monitor);
	sim_switch(1, workload);
	sim_run(1, 33);
	fd = (int)sim_open(monitor, &attr, sim_tid(workload), -1, -1, 0);
	sim_run(1, 44);
	before = instructions(workload);
	sim_exec(workload, "sh");
	sim_run(1, 100);
	child = sim_fork(workload);
	sim_switch(2, child);
	sim_exec(child, "true");
	sim_run_all(100);
	sim_exit(child);
	sim_exit(workload);
	assert_count(sim_value(monitor, fd), instructions(workload) + instructions(child) - before);
	sim_close(monitor, fd);
	sim_check_no_events();
}

/* Enabling, disabling and resetting the root reaches its copies. [INH-CTL] */
static void control_reaches_copies(void **state)
{
	struct perf_event_attr attr = inherited(true);
	int fd = two_tasks(&attr);
	struct sim_task *running = sim_fork(root), *waiting = sim_fork(root);

	(void)state;
	sim_switch(2, running);
	sim_run_all(100);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	sim_run_all(10);
	sim_switch(3, waiting);
	sim_run(3, 7);
	assert_count(sim_value(monitor, fd), 2 * (10 + 10 + 7));
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	sim_run_all(10);
	assert_count(sim_value(monitor, fd), 2 * (10 + 10 + 7));
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_RESET, 0), 0);
	assert_count(sim_value(monitor, fd), 0);
	sim_exit(running);
	assert_count(sim_value(monitor, fd), 0);
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	sim_run_all(1);
	assert_count(sim_value(monitor, fd), 2 * 2);
}

/* Times are summed as well. [INH-COUNT] */
static void times_are_summed(void **state)
{
	struct perf_event_attr attr = inherited(false);
	uint64_t value[3];
	struct sim_task *child;
	int fd;

	(void)state;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = two_tasks(&attr);
	child = sim_fork(root);
	sim_switch(2, child);
	sim_run_all(100);
	assert_int_equal(sim_read(monitor, fd, value, sizeof(value)), sizeof(value));
	assert_count(value[1], 200);
	assert_count(value[2], 200);
	sim_exit(child);
	sim_run(1, 10);
	assert_int_equal(sim_read(monitor, fd, value, sizeof(value)), sizeof(value));
	assert_count(value[1], 210);
	assert_count(value[2], 210);
}

/* A group is inherited as a group. [INH-CLONE, SLICE-GROUP] */
static void groups_are_inherited(void **state)
{
	struct perf_event_attr attr = inherited(false);
	uint64_t value[4];
	struct sim_task *child;
	int leader, sibling;

	(void)state;
	attr.read_format = PERF_FORMAT_GROUP;
	leader = two_tasks(&attr);
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	sibling = (int)sim_open(monitor, &attr, sim_tid(root), -1, leader, 0);
	assert_true(sibling >= 0);
	child = sim_fork(root);
	sim_switch(2, child);
	sim_run_all(100);
	assert_int_equal(sim_read(monitor, leader, value, sizeof(value)), 24);
	assert_count(value[1], instructions(root) + instructions(child));
	assert_count(value[2], sim_count(root, SIM_EVENT_CYCLES, SIM_IN_BOTH) +
				       sim_count(child, SIM_EVENT_CYCLES, SIM_IN_BOTH));
	assert_int_equal(sim_ioctl(monitor, sibling, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP),
			 0);
	sim_run_all(100);
	sim_exit(child);
	assert_int_equal(sim_read(monitor, leader, value, sizeof(value)), 24);
	assert_count(value[1], 400);
	assert_count(value[2], 600);
}

/* The root is closed while copies run: nothing is counted any more, nothing is left. [LIFE-ONCE] */
static void closed_with_living_copies(void **state)
{
	struct perf_event_attr attr = inherited(false);
	int fd = two_tasks(&attr);
	struct sim_task *child = sim_fork(root), *grandchild;

	(void)state;
	sim_switch(2, child);
	grandchild = sim_fork(child);
	sim_run_all(10);
	sim_close(monitor, fd);
	sim_check_no_events();
	sim_run_all(10);
	sim_switch(3, grandchild);
	sim_fork(grandchild);
	sim_check_no_events();
}

/* The parent exits before its children; they go on being counted. [INH-COUNT] */
static void orphans_are_counted(void **state)
{
	struct perf_event_attr attr = inherited(false);
	int fd = two_tasks(&attr);
	struct sim_task *child = sim_fork(root), *grandchild;

	(void)state;
	sim_switch(2, child);
	sim_run_all(10);
	sim_exit(root);
	grandchild = sim_fork(child);
	sim_switch(3, grandchild);
	sim_run_all(10);
	assert_count(sim_value(monitor, fd),
		     instructions(root) + instructions(child) + instructions(grandchild));
	sim_exit(child);
	sim_run_all(10);
	sim_exit(grandchild);
	assert_count(sim_value(monitor, fd),
		     instructions(root) + instructions(child) + instructions(grandchild));
}

/* A thousand processes in a tree. [INH-SLOTS, INH-COUNT, ACC-LIMITS] */
static void thousand_children(void **state)
{
	static struct sim_task *tree[1000];
	struct perf_event_attr attr = inherited(false);
	int fd = two_tasks(&attr);
	uint64_t sum = 0;

	(void)state;
	tree[0] = root;
	for (unsigned int i = 1; i < 1000; i++) {
		struct sim_task *parent = tree[(i - 1) / 3];

		if (sim_cpu_of(parent) < 0)
			sim_switch(1, parent);
		tree[i] = sim_fork(parent);
		assert_non_null(tree[i]);
		sim_run(1, 1 + sim_random(5));
	}
	for (unsigned int i = 0; i < 1000; i++) {
		sim_switch(1 + (int)(i % 3), tree[i]);
		sim_run(1 + (int)(i % 3), sim_random(100));
		sum += instructions(tree[i]);
	}
	assert_count(sim_value(monitor, fd), sum);
	for (unsigned int i = 0; i < 1000; i += 2) {
		if (sim_cpu_of(tree[i]) < 0)
			sim_switch(2, tree[i]);
		sim_exit(tree[i]);
	}
	assert_count(sim_value(monitor, fd), sum);
	for (unsigned int i = 1; i < 1000; i += 2) {
		if (sim_cpu_of(tree[i]) < 0)
			sim_switch(3, tree[i]);
		sim_exit(tree[i]);
	}
	assert_count(sim_value(monitor, fd), sum);
	assert_int_equal(perf_live_events(), 1);
	sim_close(monitor, fd);
	sim_check_no_events();
}

/* Whatever allocation fails in fork: no child, no change, nothing left. [INH-CLONE] */
static void fork_without_memory(void **state)
{
	struct perf_event_attr attr = inherited(false);
	int fd = two_tasks(&attr);
	struct sim_task *child = NULL;
	unsigned int n;

	(void)state;
	assert_true(sim_open(monitor, &attr, sim_tid(root), -1, fd, 0) >= 0);
	for (n = 1; child == NULL; n++) {
		sim_fail_alloc(n);
		child = sim_fork(root);
		assert_int_equal(child == NULL, sim_failed());
		assert_int_equal(perf_live_events(), child == NULL ? 2 : 4);
		sim_run(1, 3);
		assert_count(sim_value(monitor, fd), instructions(root));
	}
	assert_true(n > 2);
}

/* A fork that fails after the core has done its part. [INH-CLONE] */
static void fork_fails_late(void **state)
{
	struct perf_event_attr attr = inherited(false);
	int fd = two_tasks(&attr);

	(void)state;
	sim_run(1, 10);
	sim_fail_fork_late();
	assert_null(sim_fork(root));
	assert_int_equal(perf_live_events(), 1);
	assert_int_equal(perf_task_events(), 1);
	sim_run(1, 10);
	assert_count(sim_value(monitor, fd), instructions(root));
}

/* remove_on_exec in a child takes its copy away, not the others. [INH-THREAD] */
static void copy_removed_by_exec(void **state)
{
	struct perf_event_attr attr = inherited(false);
	struct sim_task *child;
	int fd;

	(void)state;
	attr.remove_on_exec = 1;
	fd = two_tasks(&attr);
	child = sim_fork(root);
	sim_switch(2, child);
	sim_run_all(10);
	sim_exec(child, "program");
	sim_run_all(10);
	assert_count(sim_value(monitor, fd), 2 * (20 + 10));
	assert_int_equal(perf_live_events(), 1);
}

/* Switching between copies counts each for itself. [SLICE-SWAP] */
static void copies_trade_places(void **state)
{
	struct perf_event_attr attr = inherited(false);
	int fd = two_tasks(&attr);
	struct sim_task *child = sim_fork(root);

	(void)state;
	for (int i = 0; i < 2000; i++) {
		sim_switch(1, i % 2 == 0 ? child : root);
		sim_run(1, 1 + sim_random(20));
	}
	assert_count(sim_value(monitor, fd), instructions(root) + instructions(child));
	sim_exit(root);
	sim_switch(1, child);
	sim_run(1, 10);
	assert_count(sim_value(monitor, fd), instructions(root) + instructions(child));
}

/* Software events are inherited like all others. [INH-COUNT] */
static void software_events_are_inherited(void **state)
{
	struct perf_event_attr attr = sim_attr_sw(PERF_COUNT_SW_PAGE_FAULTS);
	struct sim_task *child;
	int fd;

	(void)state;
	attr.inherit = 1;
	fd = two_tasks(&attr);
	child = sim_fork(root);
	sim_switch(2, child);
	sim_page_fault(child, false, 0);
	sim_page_fault(root, false, 0);
	sim_page_fault(child, true, 0);
	assert_count(sim_value(monitor, fd), 3);
	sim_exit(child);
	assert_count(sim_value(monitor, fd), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		clean_test(child_is_counted),
		clean_test(not_everything_is_inherited),
		clean_test(transitive),
		clean_test(state_is_inherited),
		clean_test(as_perf_stat_does),
		clean_test(control_reaches_copies),
		clean_test(times_are_summed),
		clean_test(groups_are_inherited),
		clean_test(closed_with_living_copies),
		clean_test(orphans_are_counted),
		clean_test(thousand_children),
		clean_test(fork_without_memory),
		clean_test(fork_fails_late),
		clean_test(copy_removed_by_exec),
		clean_test(copies_trade_places),
		clean_test(software_events_are_inherited),
	};

	sim_boot(&(struct sim_config){.pmu = {{.counters = 7}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
