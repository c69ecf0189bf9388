/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading one's own counter from user mode, by the first page of a mapping, and
 * telling the time of samples by it (the comment at struct perf_event_mmap_page
 * in linux/perf_event.h).
 */
#include "perf_util.h"

#include <sys/mman.h>
#include <time.h>

#define PAGE 4096

enum { CONFIG1_LONG = 1, CONFIG1_RDPMC = 2 };

#define READ_COUNTER(n)                                                                 \
	case n:                                                                         \
		__asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(value)::"memory"); \
		break

static uint64_t counter(uint32_t n)
{
	uint64_t value = 0;

	switch (n) {
		READ_COUNTER(0);
		READ_COUNTER(1);
		READ_COUNTER(2);
		READ_COUNTER(3);
		READ_COUNTER(4);
		READ_COUNTER(5);
	default:
		__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value)::"memory");
	}
	return value;
}

static uint64_t ticks(void)
{
	uint64_t value;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(value)::"memory");
	return value;
}

/* False if the counter cannot be read now. */
static bool read_page(const volatile struct perf_event_mmap_page *page, uint64_t *count)
{
	uint32_t seq, index;

	do {
		unsigned int unused;

		seq = page->lock;
		__asm__ volatile("" ::: "memory");
		index = page->index;
		*count = (uint64_t)page->offset;
		unused = 64U - page->pmc_width;
		if (index)
			*count += (uint64_t)((int64_t)(counter(index - 1) << unused) >> unused);
		__asm__ volatile("" ::: "memory");
	} while (page->lock != seq || (seq & 1));
	return index != 0;
}

static struct perf_event_mmap_page *map(int fd)
{
	void *at = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		FAIL("mmap: errno %d", errno);
	return at;
}

static void set_access(const char *value)
{
	int fd = open("/proc/sys/kernel/perf_user_access", O_WRONLY);

	if (fd < 0)
		SKIP("no perf_user_access here");
	EXPECT_EQ(write(fd, value, 1), 1);
	close(fd);
}

/* What user mode reads lies between two calls of read(2), over thousands of slices. */
static void compare(uint64_t event)
{
	struct perf_event_attr attr = perf_attr(PERF_TYPE_HARDWARE, event);
	const struct perf_event_mmap_page *page;
	int fd;

	attr.exclude_kernel = 1;
	attr.config1 = CONFIG1_RDPMC | (event == PERF_COUNT_HW_CPU_CYCLES ? CONFIG1_LONG : 0);
	set_access("1");
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0);
	page = map(fd);
	EXPECT(page->cap_user_rdpmc);
	for (int i = 0; i < 5000; i++) {
		uint64_t before = read_count(fd), now, after;

		EXPECT(read_page(page, &now));
		after = read_count(fd);
		EXPECT(before <= now && now <= after);
		if (i % 4 == 0)
			sched_yield();
		if (i % 16 == 0)
			usleep(1);
	}
	set_access("0");
}

TEST(instructions, "CTL-RDPMC")
{
	compare(PERF_COUNT_HW_INSTRUCTIONS);
}

TEST(cycles, "CTL-RDPMC")
{
	compare(PERF_COUNT_HW_CPU_CYCLES);
}

/* Other events, so that all take turns on the counters. */
static void open_crowd(void)
{
	struct perf_event_attr attr = instructions_u();

	attr.disabled = 0;
	for (int i = 0; i < 8; i++)
		EXPECT(perf_open(&attr, 0, -1, -1, 0) >= 0);
}

/*
 * A million reads, with a move to another CPU after each hundred, and turns: none goes back, and
 * those in between lie between two calls of read(2). Linux waits too long for QEMU at each move.
 */
TEST(a_million_reads, "CTL-RDPMC SLICE-MIGRATE SLICE-MUX")
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), n = check_on_linux() ? 20000 : 1000000;
	struct perf_event_attr attr = instructions_u();
	const struct perf_event_mmap_page *page;
	uint64_t before = 0, now, last = 0;
	int fd, running = 0;

	attr.disabled = 0;
	attr.config1 = CONFIG1_RDPMC;
	set_access("1");
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0);
	page = map(fd);
	open_crowd();
	for (int i = 0; i < n; i++) {
		bool between = i % 10 == 0;

		if (i % 100 == 0) {
			cpu_set_t set;

			CPU_ZERO(&set);
			CPU_SET(i / 100 % cpus, &set);
			EXPECT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
		}
		if (between)
			before = read_count(fd);
		running += read_page(page, &now);
		EXPECT(now >= last);
		last = now;
		EXPECT(!between || (before <= now && now <= read_count(fd)));
	}
	EXPECT(running > n / 20);
	set_access("0");
}

/* Who has read a stale index may not fault: a task may read counters while its event waits for one. */
TEST(an_index_too_late, "CTL-RDPMC SLICE-MUX")
{
	struct perf_event_attr attr = instructions_u();
	const volatile struct perf_event_mmap_page *page;
	int fd;

	attr.disabled = 0;
	attr.config1 = CONFIG1_RDPMC;
	set_access("1");
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0);
	page = map(fd);
	open_crowd();
	for (int i = 0; i < 10; i++) {
		while (page->index)
			spin(1000);
		counter(0);
		while (!page->index)
			spin(1000);
	}
	set_access("0");
}

/* A disabled event has no counter to read, but a count. */
TEST(disabled, "CTL-RDPMC")
{
	struct perf_event_attr attr = instructions_u();
	const struct perf_event_mmap_page *page;
	uint64_t count;
	int fd;

	attr.config1 = CONFIG1_RDPMC;
	set_access("1");
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0);
	page = map(fd);
	count_spin(fd, 1000);
	EXPECT(!read_page(page, &count));
	EXPECT_EQ(count, read_count(fd));
	EXPECT(count >= 2000);
	set_access("0");
}

/* Without the sysctl, or without asking for it, there is no access. */
TEST(not_allowed, "CTL-RDPMC")
{
	struct perf_event_attr attr = instructions_u();
	uint64_t count;
	int fd;

	attr.disabled = 0;
	set_access("0");
	attr.config1 = CONFIG1_RDPMC;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(!read_page(map(fd), &count));
	set_access("1");
	attr.config1 = 0;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(!read_page(map(fd), &count));
	EXPECT(!map(fd)->cap_user_rdpmc);
	attr.config1 = CONFIG1_RDPMC;
	EXPECT_ERRNO(perf_open(&attr, -1, 0, -1, 0), EINVAL);
	set_access("0");
}

/* User mode cannot read 64 bits of a counter that has 32, as those of this machine do. */
TEST(longer_than_the_counter, "CTL-RDPMC")
{
	struct perf_event_attr attr = instructions_u();
	int fd;

	attr.config1 = CONFIG1_LONG;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0);
	attr.config1 = CONFIG1_LONG | CONFIG1_RDPMC;
	EXPECT_ERRNO(perf_open(&attr, 0, -1, -1, 0), EOPNOTSUPP);
}

/* The time of day of records, computed from the counter that user mode reads. */
TEST(time_conversion, "CTL-RDPMC")
{
	struct perf_event_attr attr = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	const struct perf_event_mmap_page *page;
	struct timespec now;
	uint64_t before, ns, after;
	int fd = perf_open(&attr, 0, -1, -1, 0);

	EXPECT(fd >= 0);
	page = map(fd);
	EXPECT(page->cap_user_time && page->cap_user_time_zero);
	for (int i = 0; i < 1000; i++) {
		uint64_t cyc = ticks(), part = ((uint64_t)1 << page->time_shift) - 1;

		ns = page->time_zero + (cyc >> page->time_shift) * page->time_mult +
		     ((cyc & part) * page->time_mult >> page->time_shift);
		clock_gettime(CLOCK_MONOTONIC, &now);
		after = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
		if (i > 0) {
			EXPECT(ns >= before);
			EXPECT(ns - before < 1000000000);
		}
		before = ns;
	}
	/* Both begin at boot: Linux's clocks differ by a little. */
	EXPECT(after - ns < 2000000000 || ns - after < 2000000000);
}
