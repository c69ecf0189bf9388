/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tracepoints: counting, sampling and filtering what the kernel says of itself.
 */
#include "records.h"

static struct sim_task *monitor, *task;
static struct ring ring;

static struct perf_event_attr trace_attr(void)
{
	return sim_attr(PERF_TYPE_TRACEPOINT, sim_trace_id());
}

static int open_on_task(struct perf_event_attr *attr)
{
	int fd;

	monitor = sim_task_on(0, "monitor");
	task = sim_task_on(1, "task");
	fd = (int)sim_open(monitor, attr, sim_tid(task), -1, -1, 0);
	assert_true(fd >= 0);
	return fd;
}

/* Each task's own, wherever it runs; a CPU's are those of whoever comes by there. [SLICE-IN SLICE-OUT] */
static void counts(void **state)
{
	struct perf_event_attr attr = trace_attr();
	int fd = open_on_task(&attr), of_cpu = (int)sim_open(monitor, &attr, -1, 2, -1, 0);

	(void)state;
	assert_true(of_cpu >= 0);
	for (int i = 0; i < 12; i++) {
		sim_migrate(task, 1 + i % 3);
		sim_say(task, i, "x", 0);
		sim_say(monitor, i, "y", 0);
	}
	assert_count(sim_value(monitor, fd), 12);
	assert_count(sim_value(monitor, of_cpu), 4);
	sim_ioctl(monitor, fd, PERF_EVENT_IOC_DISABLE, 0);
	sim_say(task, 0, "x", 0);
	assert_count(sim_value(monitor, fd), 12);
}

/* A sample for each, with the record in it, in multiples of eight bytes. [SAMPLE-FIELDS] */
static void records(void **state)
{
	struct perf_event_attr attr = trace_attr();
	int fd;

	(void)state;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_RAW;
	fd = open_on_task(&attr);
	ring_open(&ring, monitor, fd, 64);
	for (int i = 0; i < 20000; i++) { /* none is left out for coming too fast */
		const struct record *record;
		struct sim_said said;
		uint32_t size;

		sim_say(task, i - 2, "hello", 1000);
		record = ring_next(&ring);
		assert_non_null(record);
		assert_int_equal(record->type, PERF_RECORD_SAMPLE);
		memcpy(&size, &record->bytes[8], sizeof(size));
		memcpy(&said, &record->bytes[12], sizeof(said));
		assert_int_equal((size + sizeof(size)) % 8, 0);
		assert_in_range(size, sizeof(said), sizeof(said) + 7);
		assert_int_equal(record->size, 8 + 4 + size);
		assert_int_equal(said.header.type, sim_trace_id());
		assert_int_equal(said.header.pid, sim_tid(task));
		assert_int_equal(said.number, i - 2);
		assert_string_equal(said.word, "hello");
	}
	sim_munmap(monitor, ring.map);
}

static int set_filter(int fd, const char *text)
{
	char copy[256];

	strcpy(copy, text);
	return (int)sim_ioctl_ptr(monitor, fd, PERF_EVENT_IOC_SET_FILTER, copy, strlen(copy) + 1);
}

/* How many of -3..6, said with the words "ax".."jx", pass. */
static uint64_t passing(const char *filter)
{
	struct perf_event_attr attr = trace_attr();
	int fd = (int)sim_open(monitor, &attr, sim_tid(task), -1, -1, 0);
	uint64_t count;

	if (set_filter(fd, filter))
		return 99;
	assert_int_equal(set_filter(fd, "number == 1"), -EEXIST); /* one for life */
	for (int i = 0; i < 10; i++)
		sim_say(task, i - 3, ((const char[]){(char)('a' + i), 'x', 0}), UINT64_MAX - (uint64_t)i);
	count = sim_value(monitor, fd);
	sim_close(monitor, fd);
	return count;
}

static void filters(void **state)
{
	static const struct {
		const char *text;
		uint64_t passes;
	} good[] = {
		{"number == 2", 1},
		{" number!=2 ", 9},
		{"number < 0", 3},
		{"number <= 0", 4},
		{"number > 0x5", 1},
		{"number >= -3", 10},
		{"number & 1", 5},
		{"number == 1 || number == 2 || number == 010", 2},
		{"number > 0 && number < 4", 3},
		{"number < 0 || number > 0 && number < 3", 5},
		{"(number < 0 || number > 0) && number < 3", 5},
		{"!(number == 1) && !number == 2", 8},
		{"word == ax", 1},
		{"word == \"bx\" || word == 'cx'", 2},
		{"word != dx", 9},
		{"word ~ \"*x\"", 10},
		{"word ~ \"?x\" && number >= 0", 7},
		{"word ~ \"a*\"", 1},
		{"word ~ \"*\"", 10},
		{"word ~ \"\"", 0},
		{"big > 0xfffffffffffffff8", 7},
		{"big == -1", 1},
		{"common_pid == 0", 0},
		{"common_type != 0", 10},
		{"((((number == 3))))", 1},
	};
	static const char *const bad[] = {
		"",	       "number",	  "number ==",	     "number == x",	"nothing == 1",
		"number = 1",  "number == 1 ||",  "|| number == 1",  "(number == 1",	"number == 1)",
		"number ~ 1",  "word < a",	  "word == \"a",     "number == 1 1",	"number == 08",
		"== 1",	       "number == 1 && ", "!",		     "()",		"number == 99999999999999999999",
		"((((((((((((((((((((number == 1))))))))))))))))))))",
	};
	struct perf_event_attr attr = trace_attr();
	int fd = open_on_task(&attr);

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (passing(good[i].text) != good[i].passes)
			fail_msg("%s does not let %u pass", good[i].text, (unsigned int)good[i].passes);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (set_filter(fd, bad[i]) != -EINVAL)
			fail_msg("%s is taken", bad[i]);
	}
	assert_int_equal(set_filter(fd, "number == 2"), 0); /* it still has none */
	assert_int_equal(sim_ioctl(monitor, fd, PERF_EVENT_IOC_SET_FILTER, 8), -EFAULT);
}

/* Nothing that can be written as a filter hurts. */
static void random_filters(void **state)
{
	static const char *const parts[] = {"number", "word", "big", "==", "!=", "~", "&&", "||", "(", ")",
					    "!", "1", "-5", "0x", "\"a*\"", "'", "&", "<", " ", "common_pid"};
	struct perf_event_attr attr = trace_attr();
	int fd, taken = 0;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		char text[256] = "";

		fd = i == 0 ? open_on_task(&attr) : (int)sim_open(monitor, &attr, sim_tid(task), -1, -1, 0);
		for (uint64_t n = 1 + sim_random(6); n > 0; n--)
			strcat(text, parts[sim_random(sizeof(parts) / sizeof(parts[0]))]);
		if (set_filter(fd, text) == 0) {
			taken++;
			sim_say(task, i, "word", 1);
		}
		sim_close(monitor, fd);
	}
	assert_true(taken > 0);
}

/* Children's events have the filter, those that are there and those to come. [INH-CTL] */
static void inherited(void **state)
{
	struct perf_event_attr attr = trace_attr();
	struct sim_task *child, *younger;
	int fd;

	(void)state;
	attr.inherit = 1;
	fd = open_on_task(&attr);
	child = sim_fork(task);
	sim_switch(2, child);
	assert_int_equal(set_filter(fd, "number == 7"), 0);
	younger = sim_fork(task);
	sim_switch(3, younger);
	for (int i = 0; i < 10; i++) {
		sim_say(task, i, "", 0);
		sim_say(child, i, "", 0);
		sim_say(younger, i, "", 0);
	}
	assert_count(sim_value(monitor, fd), 3);
}

/* Records are for the privileged; counting is not. */
static void privilege(void **state)
{
	struct perf_event_attr attr = trace_attr();

	(void)state;
	monitor = sim_task_on(0, "monitor");
	sim_set_perfmon(monitor, false);
	perf_sysctl_set(PERF_SYSCTL_PARANOID, 1);
	assert_true(sim_open(monitor, &attr, 0, -1, -1, 0) >= 0);
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	assert_int_equal(sim_open(monitor, &attr, 0, -1, -1, 0), -EPERM);
	perf_sysctl_set(PERF_SYSCTL_PARANOID, -1);
	assert_true(sim_open(monitor, &attr, 0, -1, -1, 0) >= 0);
}

static void unknown(void **state)
{
	struct perf_event_attr attr = sim_attr(PERF_TYPE_TRACEPOINT, 60000);
	int fd;

	(void)state;
	monitor = sim_task_on(0, "monitor");
	assert_int_equal(sim_open(monitor, &attr, 0, -1, -1, 0), -EINVAL);
	attr = sim_attr_sw(PERF_COUNT_SW_DUMMY);
	fd = (int)sim_open(monitor, &attr, 0, -1, -1, 0);
	assert_int_equal(set_filter(fd, "number == 1"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		clean_test(counts),    clean_test(records),   clean_test(filters),
		clean_test(inherited), clean_test(privilege), clean_test(unknown),
		clean_test(random_filters),
	};

	sim_boot(&(struct sim_config){.pmu = {{.counters = 7}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
