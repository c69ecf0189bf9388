/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attr.sigtrap: an overflow sends the task SIGTRAP before it goes on in user mode (sigaction(2), TRAP_PERF).
 */
#include "perf_util.h"

#include <pthread.h>
#include <sys/mman.h>

enum { CODE_TRAP_PERF = 6, FLAG_ASYNC = 1, DATA = 0x1234 };

/* siginfo_t as the kernel fills it in; this C library has no names for the last three. */
struct trap {
	int signo, error, code, pad;
	uint64_t addr, data;
	uint32_t type, flags;
};

static volatile int traps;
static struct trap last;
static volatile pid_t trapped;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	memcpy(&last, info, sizeof(last));
	trapped = gettid();
	traps++;
}

static void handle_traps(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	EXPECT_EQ(sigaction(SIGTRAP, &action, NULL), 0);
}

static struct perf_event_attr trapping(uint32_t type, uint64_t config, uint64_t period)
{
	struct perf_event_attr attr = perf_attr(type, config);

	attr.sample_period = period;
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	attr.sig_data = DATA;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.disabled = 1;
	return attr;
}

TEST(a_trap_for_each_period, "SAMPLE-SIGNAL")
{
	struct perf_event_attr attr = trapping(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 100000);
	uint64_t count;
	int fd;

	handle_traps();
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin(1000000);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	count = read_count(fd);
	EXPECT_BETWEEN(traps, count / 100000 - 1, count / 100000);
	EXPECT_EQ(last.code, CODE_TRAP_PERF);
	EXPECT_EQ(last.data, DATA);
	EXPECT_EQ(last.type, PERF_TYPE_HARDWARE);
	EXPECT_EQ(last.flags, 0);
}

/* Synchronous: when the instruction that faulted is done, the handler has run. */
TEST(each_page_fault_is_told_of, "SAMPLE-SIGNAL")
{
	struct perf_event_attr attr = trapping(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
	volatile char *pages = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = perf_open(&attr, 0, -1, -1, 0);

	EXPECT(fd >= 0 && pages != MAP_FAILED);
	handle_traps();
	raise(SIGTRAP); /* its pages are there now */
	traps = 0;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 8; i++) {
		pages[i * 4096 + 8] = 1;
		EXPECT_EQ(traps, i + 1);
		EXPECT_EQ(last.addr, (uintptr_t)&pages[i * 4096 + 8]);
		EXPECT_EQ(last.type, PERF_TYPE_SOFTWARE);
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* A blocked one waits, and says that it came late; there is only one of it. */
TEST(blocked, "SAMPLE-SIGNAL")
{
	struct perf_event_attr attr = trapping(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
	volatile char *pages = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = perf_open(&attr, 0, -1, -1, 0);
	sigset_t set;

	EXPECT(fd >= 0 && pages != MAP_FAILED);
	handle_traps();
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 8; i++)
		pages[i * 4096] = 1;
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(traps, 0);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	EXPECT_EQ(traps, 1);
	EXPECT_EQ(last.flags, FLAG_ASYNC);
	EXPECT_EQ(last.code, CODE_TRAP_PERF);
}

static void *touch(void *page)
{
	*(volatile char *)page = 1;
	return (void *)(intptr_t)gettid();
}

/* The thread that it happened to gets it. */
TEST(threads, "SAMPLE-SIGNAL INH-COUNT")
{
	struct perf_event_attr attr = trapping(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
	char *pages = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd;

	attr.inherit = 1;
	attr.inherit_thread = 1;
	fd = perf_open(&attr, 0, -1, -1, 0);
	EXPECT(fd >= 0 && pages != MAP_FAILED);
	handle_traps();
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 8; i++) {
		pthread_t thread;
		void *tid;

		EXPECT_EQ(pthread_create(&thread, NULL, touch, pages + i * 4096), 0);
		pthread_join(thread, &tid);
		if (last.addr == (uintptr_t)(pages + i * 4096))
			EXPECT_EQ(trapped, (intptr_t)tid);
		else
			FAIL("thread %d was not told of its fault", i);
	}
}

TEST(refused, "SAMPLE-SIGNAL")
{
	struct perf_event_attr attr = trapping(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);

	attr.remove_on_exec = 0;
	EXPECT_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	attr.remove_on_exec = 1;
	EXPECT_ERRNO(perf_open(&attr, -1, 0, -1, 0), EINVAL);
}
