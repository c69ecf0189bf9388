/* SPDX-License-Identifier: BSD-2-Clause */
/* What the perf_event tests share: opening, reading, and work of known length. */
#ifndef TALLY_PERF_UTIL_H
#define TALLY_PERF_UTIL_H

#include "check.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

static inline int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
			    unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);
}

static inline struct perf_event_attr perf_attr(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = type;
	attr.config = config;
	return attr;
}

/* instructions:u, disabled until an ioctl. */
static inline struct perf_event_attr instructions_u(void)
{
	struct perf_event_attr attr = perf_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);

	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.disabled = 1;
	return attr;
}

/* A hardware event that the machine does not count is a reason to skip, not to fail. */
static inline int open_or_skip(struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	int fd = perf_open(attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && (errno == ENOENT || errno == EOPNOTSUPP))
		SKIP("no such counter here (errno %d)", errno);
	return fd;
}

static inline uint64_t read_count(int fd)
{
	uint64_t value = 0;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		FAIL("read of a count fails with errno %d", errno);
	return value;
}

/* Two instructions a turn and nothing else: counts are told by the difference of two lengths. */
__attribute__((noinline)) static void spin(uint64_t turns)
{
	__asm__ volatile("1:	subs	%0, %0, #1\n"
			 "	b.ne	1b\n"
			 : "+r"(turns)
			 :
			 : "cc");
}

/*
 * What enabling, spinning for `turns` and disabling adds to an event of this task. Not inlined: a
 * constant of more than 16 bits takes one more instruction.
 */
__attribute__((noipa, unused)) static uint64_t count_spin(int fd, uint64_t turns)
{
	uint64_t before = read_count(fd);

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin(turns);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	return read_count(fd) - before;
}

#endif
