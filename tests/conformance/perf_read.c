/* SPDX-License-Identifier: BSD-2-Clause */
/* read(2) and the ioctls of counting events. */
#include "perf_util.h"

#include <sys/prctl.h>

#define TURNS 100000

TEST(count_is_exact, "SLICE-IN SLICE-OUT SLICE-FILTER")
{
	struct perf_event_attr attr = instructions_u();
	int fd = open_or_skip(&attr, 0, -1, -1);
	uint64_t one, two;

	EXPECT(fd >= 0);
	count_spin(fd, 10); /* faults the code in */
	one = count_spin(fd, TURNS);
	two = count_spin(fd, 2 * TURNS);
	EXPECT_EQ(two - one, 2 * TURNS);
	EXPECT(one >= 2 * TURNS && one < 2 * TURNS + 200);
}

TEST(disabled_does_not_count, "CTL-DISABLED")
{
	struct perf_event_attr attr = instructions_u();
	int fd = open_or_skip(&attr, 0, -1, -1);

	EXPECT(fd >= 0);
	spin(TURNS);
	EXPECT_EQ(read_count(fd), 0);
}

TEST(enabled_counts_at_once, "CTL-DISABLED")
{
	struct perf_event_attr attr = instructions_u();
	int fd;
	uint64_t now;

	attr.disabled = 0;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0);
	spin(TURNS);
	now = read_count(fd);
	EXPECT(now >= 2 * TURNS && now < 2 * TURNS + 5000);
}

TEST(reading_changes_nothing_and_grows, "CTL-READ")
{
	struct perf_event_attr attr = instructions_u();
	int fd;
	uint64_t last = 0;

	attr.disabled = 0;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0);
	for (int i = 0; i < 1000; i++) {
		uint64_t now = read_count(fd);

		EXPECT(now > last);
		last = now;
	}
}

TEST(reset_zeroes_the_count_only, "CTL-RESET")
{
	struct perf_event_attr attr = instructions_u();
	uint64_t v[3], enabled;
	int fd;

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin(TURNS);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(read(fd, v, sizeof(v)), sizeof(v));
	EXPECT(v[0] >= 2 * TURNS);
	EXPECT(v[1] > 0 && v[1] == v[2]);
	enabled = v[1];
	EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_RESET, 0), 0);
	EXPECT_EQ(read(fd, v, sizeof(v)), sizeof(v));
	EXPECT_EQ(v[0], 0);
	EXPECT_EQ(v[1], enabled);
}

/* All that this thread has opened, siblings too, and nothing that another has. */
TEST(prctl_on_ones_own_events, "CTL-IOCTL")
{
	struct perf_event_attr attr = instructions_u();
	int own[2], back[2], others;
	pid_t child;
	char c;

	own[0] = open_or_skip(&attr, 0, -1, -1);
	own[1] = open_or_skip(&attr, 0, -1, own[0]);
	EXPECT(own[0] >= 0 && own[1] >= 0);
	EXPECT_EQ(pipe(back), 0);
	EXPECT_EQ(prctl(PR_TASK_PERF_EVENTS_ENABLE), 0);
	spin(TURNS);
	EXPECT(read_count(own[0]) >= 2 * TURNS && read_count(own[1]) >= 2 * TURNS);
	child = fork();
	if (child == 0) {
		struct perf_event_attr its = instructions_u();

		others = perf_open(&its, getppid(), -1, -1, 0);
		(void)!write(back[1], prctl(PR_TASK_PERF_EVENTS_DISABLE) ? "n" : "y", 1);
		_exit(others < 0);
	}
	EXPECT_EQ(read(back[0], &c, 1), 1);
	EXPECT_EQ(c, 'y');
	EXPECT_EQ(waitpid(child, NULL, 0), child);
	EXPECT_EQ(ioctl(own[0], PERF_EVENT_IOC_RESET, 0), 0);
	spin(TURNS);
	EXPECT(read_count(own[0]) >= 2 * TURNS); /* still enabled */
	EXPECT_EQ(prctl(PR_TASK_PERF_EVENTS_DISABLE), 0);
	for (int i = 0; i < 2; i++) {
		uint64_t count = read_count(own[i]);

		spin(TURNS);
		EXPECT_EQ(read_count(own[i]), count);
	}
}

TEST(every_format, "CTL-READ CTL-ID")
{
	for (uint64_t format = 0; format < 32; format++) {
		struct perf_event_attr attr = instructions_u();
		uint64_t v[8], id = 0;
		int fd, n = 1, i;

		attr.read_format = format;
		fd = open_or_skip(&attr, 0, -1, -1);
		EXPECT(fd >= 0);
		EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_ID, &id), 0);
		n += !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING) +
		     !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST) + !!(format & PERF_FORMAT_GROUP);
		EXPECT_EQ(read(fd, v, sizeof(v)), n * 8);
		EXPECT_ERRNO(read(fd, v, (size_t)n * 8 - 1), ENOSPC);
		if (format & PERF_FORMAT_ID) {
			i = 1 + !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			    !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING) + !!(format & PERF_FORMAT_GROUP);
			EXPECT_EQ(v[i], id);
		}
		if (format & PERF_FORMAT_GROUP)
			EXPECT_EQ(v[0], 1);
		close(fd);
	}
}

TEST(group_is_read_as_a_whole, "CTL-READ SLICE-GROUP")
{
	struct perf_event_attr attr = instructions_u();
	uint64_t v[3 + 2 * 3];
	uint64_t id[3];
	int fd[3];

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd[0] = open_or_skip(&attr, 0, -1, -1);
	attr.disabled = 0;
	fd[1] = open_or_skip(&attr, 0, -1, fd[0]);
	attr = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd[2] = perf_open(&attr, 0, -1, fd[0], 0);
	EXPECT(fd[0] >= 0 && fd[1] >= 0 && fd[2] >= 0);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(ioctl(fd[i], PERF_EVENT_IOC_ID, &id[i]), 0);
	EXPECT_EQ(ioctl(fd[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), 0);
	spin(TURNS);
	EXPECT_EQ(ioctl(fd[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), 0);
	EXPECT_EQ(read(fd[0], v, sizeof(v)), sizeof(v));
	EXPECT_EQ(v[0], 3);
	EXPECT(v[1] == v[2] && v[1] > 0);
	EXPECT(v[3] == v[5] && v[3] >= 2 * TURNS && v[3] < 2 * TURNS + 200);
	EXPECT(v[7] > 0);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(v[4 + 2 * i], id[i]);
}

TEST(ids_differ, "CTL-ID")
{
	struct perf_event_attr attr = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	uint64_t a = 0, b = 0;
	int one = perf_open(&attr, 0, -1, -1, 0), two = perf_open(&attr, 0, -1, -1, 0);

	EXPECT_EQ(ioctl(one, PERF_EVENT_IOC_ID, &a), 0);
	EXPECT_EQ(ioctl(two, PERF_EVENT_IOC_ID, &b), 0);
	EXPECT(a != b && a != 0 && b != 0);
	EXPECT_ERRNO(ioctl(one, PERF_EVENT_IOC_ID, NULL), EFAULT);
}

TEST(ioctls_that_do_not_fit, "CTL-IOCTL ACC-ERRORS")
{
	struct perf_event_attr attr = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	int fd = perf_open(&attr, 0, -1, -1, 0);
	uint64_t period = 1000;

	EXPECT(fd >= 0);
	EXPECT_ERRNO(ioctl(fd, 0x1234, 0), ENOTTY);
	EXPECT_ERRNO(ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), EINVAL);
	EXPECT_ERRNO(ioctl(fd, PERF_EVENT_IOC_REFRESH, 1), EINVAL);
	EXPECT_ERRNO(ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, 999), EBADF);
}

TEST(write_and_seek_are_refused, "ACC-ERRORS")
{
	struct perf_event_attr attr = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	int fd = perf_open(&attr, 0, -1, -1, 0);

	EXPECT(fd >= 0);
	EXPECT_ERRNO(write(fd, &attr, 8), EINVAL);
	EXPECT_ERRNO(read(fd, (void *)-4096L, 8), EFAULT);
}

TEST(time_runs_only_while_enabled, "CTL-DISABLED SLICE-OUT")
{
	struct perf_event_attr attr = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	uint64_t v[3], w[3];
	int fd;

	attr.disabled = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = perf_open(&attr, 0, -1, -1, 0);
	EXPECT(fd >= 0);
	spin(TURNS);
	EXPECT_EQ(read(fd, v, sizeof(v)), sizeof(v));
	EXPECT(v[0] == 0 && v[1] == 0 && v[2] == 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin(TURNS);
	EXPECT_EQ(read(fd, v, sizeof(v)), sizeof(v));
	EXPECT(v[0] > 0 && v[1] > 0 && v[1] == v[2]);
	usleep(50000); /* asleep: neither time runs for a task's event */
	EXPECT_EQ(read(fd, w, sizeof(w)), sizeof(w));
	EXPECT(w[0] - v[0] < 20000000 && w[1] - v[1] < 20000000);
}

/* Counters have 32 bits; this takes the better part of a minute. */
TEST(more_than_two_to_the_thirty_two, "SLICE-WRAP")
{
	struct perf_event_attr attr = instructions_u();
	int fd = open_or_skip(&attr, 0, -1, -1);
	uint64_t one, big;

	EXPECT(fd >= 0);
	count_spin(fd, 10);
	one = count_spin(fd, 1000);
	big = count_spin(fd, 1000 + (1ull << 31) + 12345);
	EXPECT_EQ(big - one, (1ull << 32) + 2 * 12345);
}
