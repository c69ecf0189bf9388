/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_event_open(2): which arguments are taken, and the error each bad one gets. */
#include "perf_util.h"

#include <sys/mman.h>
#include <sys/prctl.h>

/* Opens on this task and closes again: 0, or the errno. */
static int try_open(struct perf_event_attr *attr)
{
	int fd = perf_open(attr, 0, -1, -1, 0);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static struct perf_event_attr dummy(void)
{
	return perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
}

TEST(every_size_from_ver0_up, "ACC-ERRORS")
{
	for (uint32_t size = PERF_ATTR_SIZE_VER0; size <= sizeof(struct perf_event_attr); size += 8) {
		struct perf_event_attr attr = dummy();

		attr.size = size;
		EXPECT_EQ(try_open(&attr), 0);
	}
}

TEST(size_zero_means_ver0, "ACC-ERRORS")
{
	struct perf_event_attr attr = dummy();

	attr.size = 0;
	EXPECT_EQ(try_open(&attr), 0);
}

TEST(size_too_small_tells_the_right_one, "ACC-ERRORS")
{
	struct perf_event_attr attr = dummy();

	attr.size = PERF_ATTR_SIZE_VER0 - 8;
	EXPECT_EQ(try_open(&attr), E2BIG);
	EXPECT(attr.size >= PERF_ATTR_SIZE_VER0);
}

TEST(larger_than_a_page_is_too_big, "ACC-ERRORS")
{
	struct perf_event_attr attr = dummy();

	attr.size = 4096 + 8;
	EXPECT_EQ(try_open(&attr), E2BIG);
	EXPECT(attr.size >= PERF_ATTR_SIZE_VER0 && attr.size < 4096);
}

TEST(unknown_tail_must_be_zero, "ACC-ERRORS")
{
	static union {
		struct perf_event_attr attr;
		unsigned char bytes[1024];
	} u;

	u.attr = dummy();
	u.attr.size = sizeof(u);
	EXPECT_EQ(try_open(&u.attr), 0);
	u.bytes[sizeof(u) - 1] = 1;
	EXPECT_EQ(try_open(&u.attr), E2BIG);
	EXPECT(u.attr.size < sizeof(u));
}

TEST(reserved_bits_are_refused, "ACC-ERRORS")
{
	struct perf_event_attr attr = dummy();

	attr.__reserved_1 = 1;
	EXPECT_EQ(try_open(&attr), EINVAL);
	attr = dummy();
	attr.__reserved_2 = 1;
	EXPECT_EQ(try_open(&attr), EINVAL);
	attr = dummy();
	attr.sample_type = 1ull << 40;
	EXPECT_EQ(try_open(&attr), EINVAL);
	attr = dummy();
	attr.read_format = 1ull << 20;
	EXPECT_EQ(try_open(&attr), EINVAL);
}

TEST(bad_pointer, "ACC-ERRORS")
{
	long page = sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct perf_event_attr attr = dummy();

	EXPECT(map != MAP_FAILED);
	munmap(map + page, (size_t)page);
	EXPECT_ERRNO(perf_open(NULL, 0, -1, -1, 0), EFAULT);
	EXPECT_ERRNO(perf_open((void *)-4096L, 0, -1, -1, 0), EFAULT);
	memcpy(map + page - 64, &attr, 64); /* the size says more than is there */
	EXPECT_ERRNO(perf_open((void *)(map + page - 64), 0, -1, -1, 0), EFAULT);
}

TEST(unknown_flags, "ACC-ERRORS")
{
	struct perf_event_attr attr = dummy();

	EXPECT_ERRNO(perf_open(&attr, 0, -1, -1, 1ul << 10), EINVAL);
}

TEST(unknown_type_and_config, "ACC-ERRORS")
{
	struct perf_event_attr attr = perf_attr(4242, 0);

	EXPECT_EQ(try_open(&attr), ENOENT);
	attr = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_MAX + 5);
	EXPECT_EQ(try_open(&attr), ENOENT);
	attr = perf_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_MAX + 5);
	EXPECT_EQ(try_open(&attr), EINVAL);
}

TEST(which_task_and_cpu, "CTL-SELF ACC-ERRORS")
{
	struct perf_event_attr attr = dummy();
	int fd;

	EXPECT_ERRNO(perf_open(&attr, -1, -1, -1, 0), EINVAL);
	EXPECT_ERRNO(perf_open(&attr, 0, 100000, -1, 0), EINVAL);
	EXPECT_ERRNO(perf_open(&attr, 4194000, -1, -1, 0), ESRCH);
	EXPECT_ERRNO(perf_open(&attr, 0, -1, 999, 0), EBADF);
	EXPECT_ERRNO(perf_open(&attr, 0, -1, 1, 0), EBADF);
	EXPECT((fd = perf_open(&attr, getpid(), -1, -1, 0)) >= 0);
	close(fd);
	EXPECT((fd = perf_open(&attr, 0, 0, -1, 0)) >= 0);
	close(fd);
	EXPECT((fd = perf_open(&attr, -1, 0, -1, 0)) >= 0);
	close(fd);
}

/* Which of several faults is told of: the descriptor's, then the task's, then the event's own. */
TEST(order_of_faults, "ACC-ERRORS")
{
	struct perf_event_attr attr = dummy(), clock = dummy();

	EXPECT_ERRNO(perf_open(&attr, -1, -1, 1000, 0), EBADF);
	EXPECT_ERRNO(perf_open(&attr, 0, -2, 1000, 0), EBADF);
	EXPECT_ERRNO(perf_open(&attr, 0, 100000, -5, 0), EBADF);
	EXPECT_ERRNO(perf_open(&attr, 999999, -2, -1, 0), ESRCH);
	clock.use_clockid = 1;
	clock.clockid = 13;
	EXPECT_ERRNO(perf_open(&clock, 0, -1, -1, 0), EINVAL);
	EXPECT_ERRNO(perf_open(&clock, 0, -1, 1000, 0), EBADF);
	EXPECT_ERRNO(perf_open(&clock, 999999, -1, -1, 0), ESRCH);
	attr.inherit = 1;
	attr.sample_type = PERF_SAMPLE_READ;
	EXPECT_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	EXPECT_ERRNO(perf_open(&attr, 999999, -1, -1, 0), ESRCH);
}

TEST(call_chain_depth_is_limited_for_counting_too, "ACC-LIMITS")
{
	struct perf_event_attr attr = dummy();

	attr.sample_type = PERF_SAMPLE_CALLCHAIN;
	attr.sample_max_stack = 60000;
	EXPECT_ERRNO(perf_open(&attr, 0, -1, -1, 0), EOVERFLOW);
}

TEST(close_on_exec_when_asked, "ACC-ERRORS")
{
	struct perf_event_attr attr = dummy();
	int fd = perf_open(&attr, 0, -1, -1, 0);

	EXPECT(fd >= 0);
	EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	close(fd);
	fd = perf_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	EXPECT(fd >= 0);
	EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(out_of_descriptors, "ACC-LIMITS ACC-ERRORS")
{
	struct perf_event_attr attr = dummy();
	int last = -1, fd;

	while ((fd = perf_open(&attr, 0, -1, -1, 0)) >= 0)
		last = fd;
	EXPECT(last >= 0);
	EXPECT_ERRNO(perf_open(&attr, 0, -1, -1, 0), EMFILE);
	close(last);
	EXPECT_EQ(perf_open(&attr, 0, -1, -1, 0), last);
}

TEST(group_of_another_task_is_refused, "SLICE-GROUP ACC-ERRORS")
{
	struct perf_event_attr attr = dummy();
	int leader = perf_open(&attr, 0, -1, -1, 0);
	int to_child[2];
	pid_t child;

	EXPECT(leader >= 0 && pipe(to_child) == 0);
	child = fork();
	if (child == 0) {
		char c;

		close(to_child[1]);
		_exit(read(to_child[0], &c, 1) != 0);
	}
	EXPECT_ERRNO(perf_open(&attr, child, -1, leader, 0), EINVAL);
	close(to_child[1]);
	waitpid(child, NULL, 0);
}

TEST(sibling_cannot_lead, "SLICE-GROUP ACC-ERRORS")
{
	struct perf_event_attr attr = dummy();
	int leader = perf_open(&attr, 0, -1, -1, 0);
	int sibling = perf_open(&attr, 0, -1, leader, 0);

	EXPECT(leader >= 0 && sibling >= 0);
	EXPECT_ERRNO(perf_open(&attr, 0, -1, sibling, 0), EINVAL);
	attr.pinned = 1;
	EXPECT_ERRNO(perf_open(&attr, 0, -1, leader, 0), EINVAL);
	attr.pinned = 0;
	attr.exclusive = 1;
	EXPECT_ERRNO(perf_open(&attr, 0, -1, leader, 0), EINVAL);
}

TEST(group_larger_than_the_pmu, "SLICE-GROUP ACC-ERRORS")
{
	struct perf_event_attr attr = instructions_u();
	int leader = open_or_skip(&attr, 0, -1, -1);
	int n = 1;

	EXPECT(leader >= 0);
	attr.disabled = 0; /* a disabled sibling is not held against the group */
	while (n < 64 && perf_open(&attr, 0, -1, leader, 0) >= 0)
		n++;
	EXPECT_BETWEEN(n, 2, 33);
	EXPECT_ERRNO(perf_open(&attr, 0, -1, leader, 0), EINVAL);
}

/* Drops all privilege; perf_event_paranoid is what the system starts with. */
static int paranoid(void)
{
	char text[16] = "";
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return -100;
	close(fd);
	return atoi(text);
}

static bool set_paranoid(int level)
{
	char text[16];
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_WRONLY);
	int n = snprintf(text, sizeof(text), "%d\n", level);
	bool ok = fd >= 0 && write(fd, text, (size_t)n) == n;

	close(fd);
	return ok;
}

static int as_nobody(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(255);
		prctl(PR_SET_DUMPABLE, 1);
		_exit(perf_open(attr, pid, cpu, -1, 0) >= 0 ? 0 : errno);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

TEST(paranoid_levels, "ACC-PARANOID")
{
	struct perf_event_attr user = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	struct perf_event_attr kernel = user;
	int was = paranoid();

	EXPECT(was != -100);
	user.exclude_kernel = 1;
	EXPECT(set_paranoid(2));
	EXPECT_EQ(as_nobody(&user, 0, -1), 0);
	EXPECT_EQ(as_nobody(&kernel, 0, -1), EACCES);
	EXPECT_EQ(as_nobody(&user, -1, 0), EACCES);
	EXPECT(set_paranoid(1));
	EXPECT_EQ(as_nobody(&kernel, 0, -1), 0);
	EXPECT_EQ(as_nobody(&kernel, -1, 0), EACCES);
	EXPECT(set_paranoid(0));
	EXPECT_EQ(as_nobody(&kernel, -1, 0), 0);
	EXPECT(set_paranoid(was));
}

TEST(other_users_task, "ACC-PARANOID")
{
	struct perf_event_attr user = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	int was = paranoid();

	EXPECT(was != -100 && set_paranoid(1));
	user.exclude_kernel = 1;
	EXPECT_EQ(as_nobody(&user, getppid(), -1), EACCES);
	EXPECT(set_paranoid(was));
}
