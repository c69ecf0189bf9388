/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What perf_event_open(2) makes of its arguments. [ACC-ERRORS]
 */
#include "unit.h"

static struct sim_task *task;

static void a_task(void)
{
	task = sim_task_on(0, "task");
}

static long try_open(const struct perf_event_attr *attr)
{
	long fd = sim_open(task, attr, 0, -1, -1, 0);

	if (fd >= 0)
		sim_close(task, (int)fd);
	sim_check_no_events();
	return fd < 0 ? fd : 0;
}

/* Open with @size bytes in user memory, the attr first, the rest @fill. */
static long try_size(uint32_t size, unsigned char fill, uint32_t *written_back)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	unsigned char *user = sim_user(task);
	long fd;

	attr.size = size;
	memset(user, fill, SIM_USER_SIZE / 2);
	memcpy(user, &attr, sizeof(attr));
	fd = sim_open_raw(task, (uintptr_t)user, 0, -1, -1, 0);
	memcpy(written_back, user + offsetof(struct perf_event_attr, size), sizeof(*written_back));
	if (fd >= 0)
		sim_close(task, (int)fd);
	return fd < 0 ? fd : 0;
}

/* Every size: up to VER0, all up to ours, larger with zeros and with rubbish behind. */
static void every_size(void **state)
{
	const uint32_t ours = sizeof(struct perf_event_attr);
	uint32_t back;

	(void)state;
	a_task();
	assert_int_equal(try_size(0, 0, &back), 0);
	for (uint32_t size = 1; size < PERF_ATTR_SIZE_VER0; size++) {
		assert_int_equal(try_size(size, 0, &back), -E2BIG);
		assert_int_equal(back, ours);
	}
	for (uint32_t size = PERF_ATTR_SIZE_VER0; size <= ours; size++) {
		assert_int_equal(try_size(size, 0xff, &back), 0);
		assert_int_equal(back, size);
	}
	for (uint32_t size = ours + 1; size <= 4096; size += 13) {
		assert_int_equal(try_size(size, 0, &back), 0);
		assert_int_equal(back, size);
		assert_int_equal(try_size(size, 1, &back), -E2BIG);
		assert_int_equal(back, ours);
	}
	assert_int_equal(try_size(4096, 0, &back), 0);
	assert_int_equal(try_size(4097, 0, &back), -E2BIG);
	assert_int_equal(back, ours);
	assert_int_equal(try_size(UINT32_MAX, 0, &back), -E2BIG);
	assert_int_equal(back, ours);
}

/* What lies behind a short attr is not looked at: it counts as zero. */
static void short_attr_is_padded(void **state)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);

	(void)state;
	a_task();
	attr.size = PERF_ATTR_SIZE_VER0;
	attr.__reserved_2 = 1;
	attr.sample_regs_user = UINT64_MAX;
	attr.clockid = -77;
	assert_int_equal(try_open(&attr), 0);
}

static void bad_addresses(void **state)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	uintptr_t end;

	(void)state;
	a_task();
	memcpy(sim_user(task) + SIM_USER_SIZE - 64, &attr, 64);
	end = (uintptr_t)sim_user(task) + SIM_USER_SIZE;
	assert_int_equal(sim_open_raw(task, 0, 0, -1, -1, 0), -EFAULT);
	assert_int_equal(sim_open_raw(task, UINTPTR_MAX - 3, 0, -1, -1, 0), -EFAULT);
	assert_int_equal(sim_open_raw(task, end - 64, 0, -1, -1, 0), -EFAULT);
	assert_int_equal(sim_open_raw(task, end - 4, 0, -1, -1, 0), -EFAULT);
	attr.size = PERF_ATTR_SIZE_VER0;
	memcpy(sim_user(task) + SIM_USER_SIZE - 64, &attr, 64);
	assert_true(sim_open_raw(task, end - 64, 0, -1, -1, 0) >= 0);
}

static void reserved_bits(void **state)
{
	struct perf_event_attr attr;

	(void)state;
	a_task();
	for (unsigned int bit = 0; bit < 26; bit++) {
		attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
		attr.__reserved_1 = UINT64_C(1) << bit;
		if (attr.__reserved_1 != 0)
			assert_int_equal(try_open(&attr), -EINVAL);
	}
	attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	attr.__reserved_2 = 1;
	assert_int_equal(try_open(&attr), -EINVAL);
	attr.__reserved_2 = 0;
	attr.__reserved_3 = 1;
	assert_int_equal(try_open(&attr), -EINVAL);
	for (unsigned int bit = 0; bit < 64; bit++) {
		attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
		attr.read_format = UINT64_C(1) << bit;
		assert_int_equal(try_open(&attr), attr.read_format < PERF_FORMAT_MAX ? 0 : -EINVAL);
		attr.read_format = 0;
		attr.sample_type = UINT64_C(1) << bit;
		if (attr.sample_type >= PERF_SAMPLE_MAX)
			assert_int_equal(try_open(&attr), -EINVAL);
	}
}

/* Types and configs that no PMU knows. */
static void unknown_events(void **state)
{
	const struct {
		uint32_t type;
		uint64_t config;
	} unknown[] = {
		{PERF_TYPE_HARDWARE, PERF_COUNT_HW_MAX},
		{PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
		{PERF_TYPE_HARDWARE, 0xffffffff},
		{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_MAX},
		{PERF_TYPE_SOFTWARE, UINT64_MAX},
		{PERF_TYPE_HW_CACHE, 0},
		{PERF_TYPE_RAW, 0xff},
		{PERF_TYPE_BREAKPOINT, 0},
		{PERF_TYPE_MAX + 100, 0},
		{UINT32_MAX, 0},
	};

	(void)state;
	a_task();
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		struct perf_event_attr attr = sim_attr(unknown[i].type, unknown[i].config);

		assert_int_equal(try_open(&attr), -ENOENT);
	}
}

/* The same event by its generic name, raw, by the PMU's type, and by its extended type. */
static void four_names_of_an_event(void **state)
{
	struct perf_event_attr attr[4] = {
		sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS),
		sim_attr(PERF_TYPE_RAW, SIM_EVENT_INSTRUCTIONS),
		sim_attr(sim_pmu_type(0), SIM_EVENT_INSTRUCTIONS),
		sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS | (uint64_t)sim_pmu_type(0)
								 << PERF_PMU_TYPE_SHIFT),
	};
	int fd[4];

	(void)state;
	a_task();
	for (int i = 0; i < 4; i++) {
		fd[i] = (int)sim_open(task, &attr[i], 0, -1, -1, 0);
		assert_true(fd[i] >= 0);
	}
	sim_run(0, 1000);
	for (int i = 0; i < 4; i++)
		assert_count(sim_value(task, fd[i]), 2000);
}

/* Combinations of bits that the manual page forbids. */
static void bad_combinations(void **state)
{
	struct perf_event_attr attr;

	(void)state;
	a_task();
	attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	attr.inherit_thread = 1;
	assert_int_equal(try_open(&attr), -EINVAL);
	attr.inherit = 1;
	assert_int_equal(try_open(&attr), 0);

	attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	attr.remove_on_exec = 1;
	attr.enable_on_exec = 1;
	assert_int_equal(try_open(&attr), -EINVAL);

	attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	attr.sigtrap = 1;
	assert_int_equal(try_open(&attr), -EINVAL);

	attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	attr.inherit = 1;
	attr.sample_type = PERF_SAMPLE_READ;
	assert_int_equal(try_open(&attr), -EINVAL);

	attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	attr.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
	assert_int_equal(try_open(&attr), -EINVAL);

	attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	attr.sample_type = PERF_SAMPLE_REGS_USER;
	assert_int_equal(try_open(&attr), -EINVAL);
	attr.sample_regs_user = UINT64_MAX;
	assert_int_equal(try_open(&attr), -EINVAL);

	attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	attr.sample_type = PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 12;
	assert_int_equal(try_open(&attr), -EINVAL);
	attr.sample_stack_user = 65536;
	assert_int_equal(try_open(&attr), -EINVAL);

	attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	attr.sample_period = UINT64_C(1) << 63;
	assert_int_equal(try_open(&attr), -EINVAL);

	attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	attr.freq = 1;
	attr.sample_freq = 100001;
	assert_int_equal(try_open(&attr), -EINVAL);

	attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	attr.exclude_idle = 1;
	assert_int_equal(try_open(&attr), -EOPNOTSUPP);

	attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	attr.use_clockid = 1;
	attr.clockid = 77;
	assert_int_equal(try_open(&attr), -EINVAL);
}

/* Side-band bits of a counting event are accepted: perf sets them freely. */
static void harmless_bits(void **state)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);

	(void)state;
	a_task();
	attr.exclude_hv = 1;
	attr.exclude_guest = 1;
	attr.exclude_host = 1;
	attr.mmap = attr.mmap2 = attr.mmap_data = attr.comm = attr.comm_exec = attr.task = 1;
	attr.sample_id_all = attr.watermark = attr.context_switch = 1;
	attr.inherit_stat = attr.ksymbol = attr.bpf_event = 1;
	attr.sample_type =
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.wakeup_watermark = 1000;
	assert_int_equal(try_open(&attr), 0);
}

/* pid, cpu, group_fd and flags. */
static void bad_arguments(void **state)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	int other;

	(void)state;
	a_task();
	other = sim_open_other(task);
	assert_int_equal(sim_open(task, &attr, -1, -1, -1, 0), -EINVAL);
	assert_int_equal(sim_open(task, &attr, -1, 64, -1, 0), -EINVAL);
	assert_int_equal(sim_open(task, &attr, -1, 4, -1, 0), -EINVAL);
	assert_int_equal(sim_open(task, &attr, 0, 4, -1, 0), -EINVAL);
	assert_int_equal(sim_open(task, &attr, 0, -2, -1, 0), -EINVAL);
	assert_int_equal(sim_open(task, &attr, -2, -1, -1, 0), -ESRCH);
	assert_int_equal(sim_open(task, &attr, 77, -1, -1, 0), -ESRCH);
	assert_int_equal(sim_open(task, &attr, 0, -1, 99, 0), -EBADF);
	assert_int_equal(sim_open(task, &attr, 0, -1, -7, 0), -EBADF);
	assert_int_equal(sim_open(task, &attr, 0, -1, other, 0), -EBADF);
	for (unsigned int bit = 4; bit < 32; bit++)
		assert_int_equal(sim_open(task, &attr, 0, -1, -1, 1UL << bit), -EINVAL);
	assert_int_equal(sim_open(task, &attr, 0, -1, -1, PERF_FLAG_PID_CGROUP), -EINVAL);
	assert_true(sim_open(task, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) >= 0);
	assert_true(sim_open(task, &attr, 0, -1, -1, PERF_FLAG_FD_NO_GROUP) >= 0);
	assert_int_equal(perf_live_events(), 2);
}

/* Rules of groups. [SLICE-GROUP] */
static void bad_groups(void **state)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_event_attr changed;
	struct sim_task *other;
	int leader, sibling, on_cpu;

	(void)state;
	a_task();
	other = sim_task_on(1, "other");
	leader = (int)sim_open(task, &attr, 0, -1, -1, 0);
	sibling = (int)sim_open(task, &attr, 0, -1, leader, 0);
	on_cpu = (int)sim_open(task, &attr, -1, 1, -1, 0);
	assert_true(leader >= 0 && sibling >= 0 && on_cpu >= 0);
	assert_int_equal(sim_open(task, &attr, 0, -1, sibling, 0), -EINVAL);
	assert_int_equal(sim_open(task, &attr, 0, 0, leader, 0), -EINVAL);
	assert_int_equal(sim_open(task, &attr, sim_tid(other), -1, leader, 0), -EINVAL);
	assert_int_equal(sim_open(task, &attr, -1, 2, on_cpu, 0), -EINVAL);
	assert_int_equal(sim_open(task, &attr, 0, 1, on_cpu, 0), -EINVAL);
	changed = attr;
	changed.pinned = 1;
	assert_int_equal(sim_open(task, &changed, 0, -1, leader, 0), -EINVAL);
	changed = attr;
	changed.exclusive = 1;
	assert_int_equal(sim_open(task, &changed, 0, -1, leader, 0), -EINVAL);
	changed = attr;
	changed.inherit = 1;
	assert_int_equal(sim_open(task, &changed, 0, -1, leader, 0), -EINVAL);
	changed = attr;
	changed.use_clockid = 1;
	changed.clockid = 1;
	assert_int_equal(sim_open(task, &changed, 0, -1, leader, 0), -EINVAL);
	assert_int_equal(perf_live_events(), 3);
}

/* Any bytes whatever as an attr: an error or an event, and no trace of it. */
static void random_attrs(void **state)
{
	struct perf_event_attr attr;
	unsigned int opened = 0;

	(void)state;
	a_task();
	for (int i = 0; i < 20000; i++) {
		unsigned char *bytes = (unsigned char *)&attr;
		long fd;

		attr = sim_attr_hw(sim_random(8));
		for (uint64_t n = sim_random(4); n > 0; n--)
			bytes[sim_random(sizeof(attr))] ^= (unsigned char)(1U << sim_random(8));
		fd = sim_open(task, &attr, (int)sim_random(3) - 1, (int)sim_random(7) - 2, -1, 0);
		if (fd < 0) {
			assert_in_range(-fd, 1, 133);
			continue;
		}
		opened++;
		sim_run(0, 2);
		sim_close(task, (int)fd);
	}
	assert_true(opened > 1000);
	sim_check_no_events();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		clean_test(every_size),	      clean_test(short_attr_is_padded),
		clean_test(bad_addresses),    clean_test(reserved_bits),
		clean_test(unknown_events),   clean_test(four_names_of_an_event),
		clean_test(bad_combinations), clean_test(harmless_bits),
		clean_test(bad_arguments),    clean_test(bad_groups),
		clean_test(random_attrs),
	};

	sim_boot(&(struct sim_config){.pmu = {{.counters = 7}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
