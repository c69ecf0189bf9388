/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Side-band records: what is written when tasks are made, renamed, switched and
 * ended, and the trailer that tells whose record it is.
 */
#include "records.h"

/* Counts nothing; is told everything. */
static struct perf_event_attr listener(void)
{
	struct perf_event_attr attr = sim_attr_sw(PERF_COUNT_SW_DUMMY);

	attr.sample_period = 1;
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	return attr;
}

static void open_ring(struct ring *ring, struct sim_task *monitor,
		      const struct perf_event_attr *attr, int pid, int cpu)
{
	int fd = (int)sim_open(monitor, attr, pid, cpu, -1, 0);

	assert_true(fd >= 0);
	ring_open(ring, monitor, fd, 8);
}

static uint64_t ids(const struct sim_task *task)
{
	return (uint64_t)sim_tid(task) << 32 | (uint64_t)sim_pid(task);
}

/* The trailer: who, when, on which CPU. [SIDE-TRAILER] */
static void check_trailer(const struct record *record, const struct sim_task *task, int cpu)
{
	const uint64_t *trailer = &record->words[record->size / 8 - 3];

	assert_count(trailer[0], ids(task));
	assert_in_range(trailer[1], 1, sim_now());
	assert_count(trailer[2], cpu);
}

/* COMM at exec, with its flag, and when the name changes. [SIDE-COMM] */
static void names(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = listener();
	const struct record *record;
	struct ring ring;

	(void)state;
	attr.comm = 1;
	open_ring(&ring, monitor, &attr, sim_tid(task), -1);
	sim_set_name(task, "exactly15bytes.");
	record = ring_next(&ring);
	assert_non_null(record);
	assert_int_equal(record->type, PERF_RECORD_COMM);
	assert_int_equal(record->misc, 0);
	assert_int_equal(record->size, 8 + 16 + 24);
	assert_count(record->words[0], ids(task));
	assert_string_equal((const char *)&record->words[1], "exactly15bytes.");
	check_trailer(record, task, 1);

	sim_exec(task, "prog");
	record = ring_find(&ring, PERF_RECORD_COMM);
	assert_non_null(record);
	assert_int_equal(record->misc, PERF_RECORD_MISC_COMM_EXEC);
	assert_int_equal(record->size, 8 + 8 + 24);
	assert_string_equal((const char *)&record->words[1], "prog");
	sim_munmap(monitor, ring.map);
}

/* FORK by the parent, EXIT by the one that exits, before its ring is let go. [SIDE-FORK, SIDE-EXIT] */
static void fork_and_exit(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *parent = sim_task_on(1, "parent");
	struct perf_event_attr attr = listener();
	const struct record *record;
	struct sim_task *child;
	struct ring ring;

	(void)state;
	attr.task = 1;
	attr.inherit = 1;
	open_ring(&ring, monitor, &attr, sim_tid(parent), 1);
	child = sim_fork(parent);
	record = ring_next(&ring);
	assert_non_null(record);
	assert_int_equal(record->type, PERF_RECORD_FORK);
	assert_int_equal(record->size, 24 + 24);
	assert_count(record->words[0], (uint64_t)sim_pid(parent) << 32 | (uint64_t)sim_pid(child));
	assert_count(record->words[1], (uint64_t)sim_tid(parent) << 32 | (uint64_t)sim_tid(child));
	check_trailer(record, parent, 1);
	assert_null(ring_next(&ring));

	sim_switch(1, child);
	sim_exit(child);
	record = ring_next(&ring);
	assert_non_null(record);
	assert_int_equal(record->type, PERF_RECORD_EXIT);
	assert_count(record->words[0], (uint64_t)sim_pid(parent) << 32 | (uint64_t)sim_pid(child));
	check_trailer(record, child, 1);
	assert_null(ring_next(&ring));

	sim_switch(1, parent);
	sim_exit(parent);
	record = ring_next(&ring);
	assert_non_null(record);
	assert_int_equal(record->type, PERF_RECORD_EXIT);
	sim_munmap(monitor, ring.map);
}

/* A copy's values in a READ record when its task exits. [INH-THREAD] */
static void values_at_exit(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *parent = sim_task_on(1, "parent");
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	const struct record *record;
	struct sim_task *child;
	struct ring ring;

	(void)state;
	attr.inherit = 1;
	attr.inherit_stat = 1;
	attr.sample_period = UINT64_C(1) << 40;
	open_ring(&ring, monitor, &attr, sim_tid(parent), 1);
	child = sim_fork(parent);
	for (int i = 0; i < 9; i++) {
		sim_switch(1, i % 2 ? parent : child);
		sim_run(1, 1000);
	}
	sim_exit(child);
	record = ring_find(&ring, PERF_RECORD_READ);
	assert_non_null(record);
	assert_int_equal(record->size, 16);
	assert_count(record->words[0], ids(child));
	assert_count(record->words[1], sim_count(child, SIM_EVENT_INSTRUCTIONS, SIM_IN_BOTH));
	assert_null(ring_next(&ring));
	sim_munmap(monitor, ring.map);
}

/* SWITCH for a task's event, SWITCH_CPU_WIDE for a CPU's. [SIDE-MORE] */
static void switches(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct perf_event_attr attr = listener();
	const struct record *record;
	struct ring of_task, of_cpu;

	(void)state;
	attr.context_switch = 1;
	open_ring(&of_task, monitor, &attr, sim_tid(task), -1);
	open_ring(&of_cpu, monitor, &attr, -1, 1);
	sim_switch(1, NULL);
	sim_switch(1, task);

	record = ring_next(&of_task);
	assert_non_null(record);
	assert_int_equal(record->type, PERF_RECORD_SWITCH);
	assert_true(record->misc & PERF_RECORD_MISC_SWITCH_OUT);
	check_trailer(record, task, 1);
	record = ring_next(&of_task);
	assert_non_null(record);
	assert_int_equal(record->misc, 0);
	assert_null(ring_next(&of_task));

	/* The CPU's event sees idle go and come, too, each time with its counterpart. */
	for (unsigned int i = 0; i < 4; i++) {
		bool out = i % 2 == 0, of_idle = i == 1 || i == 2;

		record = ring_next(&of_cpu);
		assert_non_null(record);
		assert_int_equal(record->type, PERF_RECORD_SWITCH_CPU_WIDE);
		assert_int_equal((record->misc & PERF_RECORD_MISC_SWITCH_OUT) != 0, out);
		assert_count(record->words[0], of_idle ? ids(task) : 0);
	}
	assert_null(ring_next(&of_cpu));
	sim_munmap(monitor, of_task.map);
	sim_munmap(monitor, of_cpu.map);
}

/* What is told to whom: only those who asked, only what happens where they are. [SIDE-WHO] */
static void others_are_not_told(void **state)
{
	struct sim_task *monitor = sim_task_on(0, "monitor"), *task = sim_task_on(1, "task");
	struct sim_task *other = sim_task_on(2, "other");
	struct perf_event_attr attr = listener();
	struct ring deaf, disabled, of_other, of_cpu;

	(void)state;
	open_ring(&deaf, monitor, &attr, sim_tid(task), -1);
	attr.comm = 1;
	open_ring(&of_other, monitor, &attr, sim_tid(other), -1);
	open_ring(&of_cpu, monitor, &attr, -1, 2);
	attr.disabled = 1;
	open_ring(&disabled, monitor, &attr, sim_tid(task), -1);
	sim_set_name(task, "renamed");
	assert_null(ring_next(&deaf));
	assert_null(ring_next(&disabled));
	assert_null(ring_next(&of_other));
	assert_null(ring_next(&of_cpu));
	sim_set_name(other, "renamed");
	assert_non_null(ring_next(&of_other));
	assert_non_null(ring_next(&of_cpu));
	sim_munmap(monitor, deaf.map);
	sim_munmap(monitor, disabled.map);
	sim_munmap(monitor, of_other.map);
	sim_munmap(monitor, of_cpu.map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		clean_test(names),    clean_test(fork_and_exit),       clean_test(values_at_exit),
		clean_test(switches), clean_test(others_are_not_told),
	};

	sim_boot(&(struct sim_config){.pmu = {{.counters = 6}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
