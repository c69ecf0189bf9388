/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events on tracepoints: ids and formats from tracefs, counting, records, filters.
 */
#include "perf_ring.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define TRACING "/sys/kernel/tracing"

static struct ring ring_shared;

static void read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (n < 0)
		FAIL("%s cannot be read: %s", path, strerrorname_np(errno));
	text[n] = '\0';
	close(fd);
}

static int id_of(const char *name)
{
	char path[128], text[32];

	mount("tracefs", TRACING, "tracefs", 0, NULL); /* if it is not there already */
	snprintf(path, sizeof(path), TRACING "/events/%s/id", name);
	read_file(path, text, sizeof(text));
	return atoi(text);
}

static struct perf_event_attr tracing(const char *name)
{
	struct perf_event_attr attr = perf_attr(PERF_TYPE_TRACEPOINT, (uint64_t)id_of(name));

	attr.disabled = 1;
	return attr;
}

TEST(format_of_a_system_call, "")
{
	static const char *const lines[] = {
		"name: sys_enter_openat\n",
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n",
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n",
		"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n",
		"\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n",
		"\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n",
		"\tfield:umode_t mode;\toffset:40;\tsize:8;\tsigned:0;\n",
	};
	char text[4096], id[32];

	snprintf(id, sizeof(id), "ID: %d\n", id_of("syscalls/sys_enter_openat"));
	read_file(TRACING "/events/syscalls/sys_enter_openat/format", text, sizeof(text));
	EXPECT(strstr(text, id));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strstr(text, lines[i]))
			FAIL("the format has no line %s", lines[i]);
}

TEST(system_calls_are_counted, "")
{
	struct perf_event_attr all = tracing("raw_syscalls/sys_enter"),
			       one = tracing("syscalls/sys_enter_getppid");
	int fd[2] = { perf_open(&all, 0, -1, -1, 0), perf_open(&one, 0, -1, -1, 0) };

	EXPECT(fd[0] >= 0 && fd[1] >= 0);
	for (int i = 0; i < 2; i++)
		ioctl(fd[i], PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 100; i++) {
		getppid();
		getuid();
	}
	for (int i = 0; i < 2; i++)
		ioctl(fd[i], PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(read_count(fd[1]), 100);
	EXPECT_EQ(read_count(fd[0]), 200 + 2); /* and the ioctls that came after its own */
}

struct raw_enter {
	uint32_t size;
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	int64_t id;
	uint64_t args[6];
} __attribute__((packed));

/* A record for each, with the arguments, none left out however fast they come. */
TEST(records_of_system_calls, "SAMPLE-FIELDS")
{
	struct perf_event_attr attr = tracing("raw_syscalls/sys_enter");
	struct perf_event_header *h;
	int fd, n = 0;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_RAW;
	fd = perf_open(&attr, 0, -1, -1, 0);
	EXPECT(fd >= 0 && ring_map(&ring_shared, fd, 256, PROT_READ | PROT_WRITE));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 2000; i++)
		syscall(SYS_kill, 0x7fffffff, i, 3, 4, 5);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	while ((h = ring_find(&ring_shared, PERF_RECORD_SAMPLE))) {
		struct raw_enter raw;

		memcpy(&raw, (const char *)(h + 1) + 8, sizeof(raw));
		if (raw.id != SYS_kill)
			continue;
		EXPECT_EQ((raw.size + sizeof(raw.size)) % 8, 0);
		EXPECT(raw.size >= sizeof(raw) - sizeof(raw.size));
		EXPECT_EQ(raw.type, attr.config);
		EXPECT_EQ(raw.pid, gettid());
		EXPECT_EQ(raw.args[0], 0x7fffffff);
		EXPECT_EQ(raw.args[1], n);
		EXPECT_EQ(raw.args[4], 5);
		n++;
	}
	EXPECT_EQ(n, 2000);
}

TEST(filters, "CTL-IOCTL")
{
	static const struct {
		const char *text;
		int passes;
	} some[] = {
		{ "sig == 3", 1 },
		{ "sig < 3", 3 },
		{ "sig == 1 || sig == 5", 2 },
		{ "sig > 1 && sig < 0x5", 3 },
		{ "!(sig == 4)", 9 },
		{ "sig & 1", 5 },
		{ "common_pid == 0", 0 },
	};
	struct perf_event_attr attr = tracing("syscalls/sys_enter_kill");
	int fd;

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		fd = perf_open(&attr, 0, -1, -1, 0);
		EXPECT(fd >= 0);
		if (ioctl(fd, PERF_EVENT_IOC_SET_FILTER, some[i].text))
			FAIL("%s is refused: %s", some[i].text, strerrorname_np(errno));
		EXPECT_ERRNO(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "sig == 2"), EEXIST); /* one for life */
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		for (int sig = 0; sig < 10; sig++)
			syscall(SYS_kill, 0x7fffffff, sig);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		if (read_count(fd) != (uint64_t)some[i].passes)
			FAIL("%s lets %d pass", some[i].text, (int)read_count(fd));
		close(fd);
	}
	fd = perf_open(&attr, 0, -1, -1, 0);
	EXPECT(fd >= 0);
	EXPECT_ERRNO(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "nothing == 1"), EINVAL);
	EXPECT_ERRNO(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "sig =="), EINVAL);
	EXPECT(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "(sig == 1") != 0);
	EXPECT_ERRNO(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, 8), EFAULT);
}

struct sched_switch {
	uint32_t size;
	uint8_t header[8];
	char prev_comm[16];
	int32_t prev_pid, prev_prio;
	int64_t prev_state;
	char next_comm[16];
	int32_t next_pid, next_prio;
} __attribute__((packed));

/* Going to sleep is a switch from oneself, in state S, at priority 120. */
TEST(switches, "")
{
	struct perf_event_attr attr = tracing("sched/sched_switch");
	struct perf_event_header *h;
	int fd, sleeps = 0;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	fd = perf_open(&attr, 0, -1, -1, 0);
	EXPECT(fd >= 0 && ring_map(&ring_shared, fd, 16, PROT_READ | PROT_WRITE));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 10; i++)
		usleep(1000);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	while ((h = ring_find(&ring_shared, PERF_RECORD_SAMPLE))) {
		struct sched_switch raw;

		memcpy(&raw, h + 1, sizeof(raw));
		EXPECT_EQ(raw.prev_pid, gettid());
		EXPECT(strncmp(raw.prev_comm, program_invocation_short_name, 15) == 0);
		EXPECT_EQ(raw.prev_prio, 120);
		sleeps += raw.prev_state == 1;
	}
	EXPECT_EQ(sleeps, 10);
}

/* A parent's events see its children made and running other programs; an exit comes after a task's events. */
TEST(a_process_s_life, "INH-COUNT")
{
	static const char *const names[] = { "sched/sched_process_fork", "sched/sched_process_exec",
					     "sched/sched_process_exit" };
	int fd[3];

	for (int i = 0; i < 3; i++) {
		struct perf_event_attr attr = tracing(names[i]);

		attr.inherit = 1;
		attr.disabled = 0;
		fd[i] = perf_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		EXPECT(fd[i] >= 0);
	}
	for (int i = 0; i < 5; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			execl("/proc/self/exe", "x", "no such test", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
	for (int i = 0; i < 3; i++)
		if (read_count(fd[i]) != (i == 2 ? 0 : 5))
			FAIL("%s counts %d", names[i], (int)read_count(fd[i]));
}

TEST(refused, "")
{
	struct perf_event_attr attr = perf_attr(PERF_TYPE_TRACEPOINT, 65535);

	EXPECT_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	attr = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	EXPECT_ERRNO(ioctl(perf_open(&attr, 0, -1, -1, 0), PERF_EVENT_IOC_SET_FILTER, "a == 1"), EINVAL);
}
