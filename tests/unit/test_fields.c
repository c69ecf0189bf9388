/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples with registers, stack and addresses in them, and the records of
 * mappings: each field where the ABI wants it.
 */
#include <sys/mman.h>

#include "records.h"

static struct sim_task *monitor, *task;
static struct ring ring;

static void open_ring(const struct perf_event_attr *attr)
{
	int fd;

	monitor = sim_task_on(0, "monitor");
	task = sim_task_on(1, "task");
	sim_user(task);
	fd = (int)sim_open(monitor, attr, sim_tid(task), -1, -1, 0);
	assert_true(fd >= 0);
	ring_open(&ring, monitor, fd, 32);
}

static const struct record *next_of(uint32_t type)
{
	const struct record *record = ring_next(&ring);

	assert_non_null(record);
	assert_int_equal(record->type, type);
	return record;
}

/* What the simulator says register @index of the task is. */
static uint64_t reg(unsigned int index)
{
	return (uint64_t)sim_tid(task) * 1000 + index;
}

/* Registers of user mode and of the interrupted code, as many as asked for. [SAMPLE-FIELDS] */
static void registers(void **state)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	const struct record *record;
	size_t n = 0;

	(void)state;
	attr.sample_period = 1000;
	attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_user = 0x8005;
	attr.sample_regs_intr = 0x2;
	open_ring(&attr);
	sim_run(1, 600);
	record = next_of(PERF_RECORD_SAMPLE);
	assert_count(record->words[n++], PERF_SAMPLE_REGS_ABI_64);
	assert_count(record->words[n++], reg(0));
	assert_count(record->words[n++], reg(2));
	assert_count(record->words[n++], reg(15));
	assert_count(record->words[n++], PERF_SAMPLE_REGS_ABI_64);
	assert_count(record->words[n++], reg(1));
	assert_int_equal(record->size, n * sizeof(uint64_t));
	sim_munmap(monitor, ring.map);
}

/* The user stack: size, bytes, and how many of them are real. [SAMPLE-FIELDS] */
static void user_stack(void **state)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	const struct record *record;

	(void)state;
	attr.sample_period = 1000;
	attr.sample_type = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CPU;
	attr.sample_stack_user = 1024;
	open_ring(&attr);
	for (unsigned int i = 0; i < 1024; i++)
		sim_user(task)[SIM_USER_SIZE / 2 + i] = (unsigned char)(i * 7);
	sim_run(1, 600);
	record = next_of(PERF_RECORD_SAMPLE);
	assert_int_equal(record->size, 8 + 8 + 1024 + 8);
	assert_count(record->words[0], 1);
	assert_count(record->words[1], 1024);
	assert_memory_equal(&record->words[2], sim_user(task) + SIM_USER_SIZE / 2, 1024);
	assert_count(record->words[2 + 128], 1024);
	sim_munmap(monitor, ring.map);
}

/* A stack that ends before the dump does: what is there is there. [SAMPLE-FIELDS] */
static void short_user_stack(void **state)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	const struct record *record;
	uint64_t size, real;

	(void)state;
	attr.sample_period = 100000;
	attr.sample_type = PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 65528;
	open_ring(&attr);
	sim_user(task)[SIM_USER_SIZE / 2] = 0x5a;
	sim_run(1, 51000);
	record = next_of(PERF_RECORD_SAMPLE);
	size = record->words[0];
	assert_in_range(size, 8, 65528);
	assert_int_equal(record->size, 8 + size + 8);
	real = record->words[1 + size / 8];
	assert_in_range(real, 0, SIM_USER_SIZE / 2);
	if (real > 0)
		assert_int_equal(record->bytes[8], 0x5a);
	sim_munmap(monitor, ring.map);
}

/* Where the data is: addresses of a page fault, physical too, and page sizes. [SAMPLE-FIELDS] */
static void addresses(void **state)
{
	struct perf_event_attr attr = sim_attr_sw(PERF_COUNT_SW_PAGE_FAULTS);
	const struct record *record;
	uintptr_t addr;
	size_t n = 0;

	(void)state;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE |
			   PERF_SAMPLE_CODE_PAGE_SIZE;
	open_ring(&attr);
	addr = (uintptr_t)sim_user(task) + 100;
	sim_set_ip(task, addr + 8);
	sim_page_fault(task, false, addr);
	record = next_of(PERF_RECORD_SAMPLE);
	assert_count(record->words[n++], addr);
	assert_count(record->words[n++], addr & 0xffffffffff);
	assert_count(record->words[n++], 4096);
	assert_count(record->words[n++], 4096);
	assert_int_equal(record->size, n * sizeof(uint64_t));

	/* Nothing is mapped there. */
	sim_page_fault(task, false, 0x10);
	record = next_of(PERF_RECORD_SAMPLE);
	assert_count(record->words[0], 0x10);
	assert_count(record->words[1], 0);
	assert_count(record->words[2], 0);
	sim_munmap(monitor, ring.map);
}

/* What the hardware does not know is said to be unknown, in its place. [SAMPLE-FIELDS] */
static void unknown_fields(void **state)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	union perf_mem_data_src source;
	const struct record *record;
	size_t n = 0;

	(void)state;
	attr.sample_period = 1000;
	attr.sample_type = PERF_SAMPLE_CPU | PERF_SAMPLE_RAW | PERF_SAMPLE_DATA_SRC |
			   PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_TRANSACTION;
	open_ring(&attr);
	sim_run(1, 600);
	record = next_of(PERF_RECORD_SAMPLE);
	assert_count(record->words[n++], 1);
	assert_count((uint32_t)record->words[n++], sizeof(uint32_t)); /* raw: size, padding */
	assert_count(record->words[n++], 0);			      /* weight */
	source.val = record->words[n++];
	assert_int_equal(source.mem_op, PERF_MEM_OP_NA);
	assert_count(record->words[n++], 0); /* transaction */
	assert_int_equal(record->size, n * sizeof(uint64_t));
	sim_munmap(monitor, ring.map);
}

/* Whether user or kernel was interrupted, and where. [SAMPLE-MISC] */
static void user_or_kernel(void **state)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_CPU_CYCLES);
	const struct record *record;

	(void)state;
	attr.sample_period = 3000;
	attr.sample_type = PERF_SAMPLE_IP;
	open_ring(&attr);
	sim_set_ip(task, 0x400123);
	for (int i = 0; i < 10; i++) {
		sim_run(1, 1000);
		record = next_of(PERF_RECORD_SAMPLE);
		assert_int_equal(record->misc, PERF_RECORD_MISC_USER);
		assert_count(record->words[0], 0x400123);
		sim_run_kernel(1, 750);
		record = next_of(PERF_RECORD_SAMPLE);
		assert_int_equal(record->misc, PERF_RECORD_MISC_KERNEL);
		assert_true(record->words[0] > UINT64_C(0xffff000000000000));
	}
	sim_munmap(monitor, ring.map);
}

/* Call chains without one half, and at most so deep. [SAMPLE-FIELDS] */
static void call_chains(void **state)
{
	const uint64_t callers[] = {0x1000, 0x2000, 0x3000, 0x4000};
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);
	const struct record *record;

	(void)state;
	attr.sample_period = 1000;
	attr.sample_type = PERF_SAMPLE_CALLCHAIN;
	attr.sample_max_stack = 3;
	open_ring(&attr);
	sim_set_ip(task, 0x500);
	sim_set_user_chain(task, callers, 4);
	sim_run(1, 600);
	record = next_of(PERF_RECORD_SAMPLE);
	assert_count(record->words[0], 4);
	assert_count(record->words[1], (uint64_t)PERF_CONTEXT_USER);
	assert_count(record->words[2], 0x500);
	assert_count(record->words[4], 0x2000);
	sim_munmap(monitor, ring.map);
	sim_reset();

	attr.exclude_callchain_user = 1;
	attr.sample_max_stack = 0;
	open_ring(&attr);
	sim_run_kernel(1, 600);
	record = next_of(PERF_RECORD_SAMPLE);
	assert_int_equal(record->misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_KERNEL);
	assert_count(record->words[0], 4);
	assert_count(record->words[1], (uint64_t)PERF_CONTEXT_KERNEL);
	sim_munmap(monitor, ring.map);
}

/* --------------------------------------------------------------- mappings */

static const struct perf_mmap code = {
	.start = 0x400000,
	.length = 0x3000,
	.page_offset = 0x1000,
	.major = 8,
	.minor = 1,
	.inode = 4711,
	.inode_generation = 7,
	.prot = PROT_READ | PROT_EXEC,
	.flags = MAP_PRIVATE,
	.name = "/usr/bin/true",
	.build_id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
	.build_id_size = 20,
};

static struct perf_event_attr listener(void)
{
	struct perf_event_attr attr = sim_attr_sw(PERF_COUNT_SW_DUMMY);

	attr.sample_period = 1;
	attr.mmap = 1;
	return attr;
}

/* MMAP: whose, where, of what. [SIDE-MMAP2] */
static void plain_mmap(void **state)
{
	struct perf_event_attr attr = listener();
	const struct record *record;

	(void)state;
	open_ring(&attr);
	sim_report_mmap(task, &code);
	record = next_of(PERF_RECORD_MMAP);
	assert_int_equal(record->misc, PERF_RECORD_MISC_USER);
	assert_count(record->words[0], (uint64_t)sim_tid(task) << 32 | (uint64_t)sim_pid(task));
	assert_count(record->words[1], code.start);
	assert_count(record->words[2], code.length);
	assert_count(record->words[3], code.page_offset);
	assert_string_equal((const char *)&record->words[4], code.name);
	assert_int_equal(record->size, 4 * 8 + 16);
	sim_munmap(monitor, ring.map);
}

/* MMAP2: device, inode, protection and flags as well. [SIDE-MMAP2] */
static void mmap2(void **state)
{
	struct perf_event_attr attr = listener();
	const struct record *record;

	(void)state;
	attr.mmap2 = 1;
	open_ring(&attr);
	sim_report_mmap(task, &code);
	record = next_of(PERF_RECORD_MMAP2);
	assert_int_equal(record->misc, PERF_RECORD_MISC_USER);
	assert_count(record->words[4], UINT64_C(1) << 32 | 8);
	assert_count(record->words[5], 4711);
	assert_count(record->words[6], 7);
	assert_count(record->words[7], (uint64_t)MAP_PRIVATE << 32 | (PROT_READ | PROT_EXEC));
	assert_string_equal((const char *)&record->words[8], code.name);
	sim_munmap(monitor, ring.map);
}

/* With build ids, one takes the place of device and inode. [SIDE-MMAP2] */
static void build_id(void **state)
{
	struct perf_event_attr attr = listener();
	const struct record *record;

	(void)state;
	attr.mmap2 = attr.build_id = 1;
	open_ring(&attr);
	sim_report_mmap(task, &code);
	record = next_of(PERF_RECORD_MMAP2);
	assert_int_equal(record->misc, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	assert_int_equal(record->bytes[32], 20);
	assert_memory_equal(&record->bytes[36], code.build_id, 20);
	assert_string_equal((const char *)&record->words[8], code.name);
	sim_munmap(monitor, ring.map);
}

/* Data only for those who ask for it, and with its mark. [SIDE-MMAP2, SIDE-WHO] */
static void data_mappings(void **state)
{
	struct perf_event_attr attr = listener();
	struct perf_mmap data = code;

	(void)state;
	data.prot = PROT_READ | PROT_WRITE;
	open_ring(&attr);
	sim_report_mmap(task, &data);
	assert_null(ring_next(&ring));
	sim_munmap(monitor, ring.map);
	sim_reset();

	attr.mmap = 0;
	attr.mmap_data = 1;
	open_ring(&attr);
	sim_report_mmap(task, &code);
	assert_null(ring_next(&ring));
	sim_report_mmap(task, &data);
	assert_int_equal(next_of(PERF_RECORD_MMAP)->misc,
			 PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA);
	sim_munmap(monitor, ring.map);
}

/* Names of every length, up to the longest path; the record stays whole. [SIDE-MMAP2] */
static void long_names(void **state)
{
	static char name[4096];
	struct perf_event_attr attr = listener();
	struct perf_mmap map = code;

	(void)state;
	open_ring(&attr);
	map.name = name;
	for (size_t length = 0; length < sizeof(name); length += length < 32 ? 1 : 251) {
		const struct record *record;

		memset(name, 'x', length);
		name[length] = '\0';
		sim_report_mmap(task, &map);
		record = next_of(PERF_RECORD_MMAP);
		assert_int_equal(record->size % 8, 0);
		assert_true(record->size >= 4 * 8 + length + 1);
		assert_string_equal((const char *)&record->words[4], name);
	}
	sim_munmap(monitor, ring.map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		clean_test(registers),
		clean_test(user_stack),
		clean_test(short_user_stack),
		clean_test(addresses),
		clean_test(unknown_fields),
		clean_test(call_chains),
		clean_test(user_or_kernel),
		clean_test(plain_mmap),
		clean_test(mmap2),
		clean_test(build_id),
		clean_test(data_mappings),
		clean_test(long_names),
	};

	sim_boot(&(struct sim_config){.pmu = {{.counters = 7}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
