/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events and several CPUs: migration, operations that reach an event elsewhere, large families.
 * With one CPU the tests that need more are skipped.
 */
#include "perf_ring.h"

#include <pthread.h>

static struct ring ring_shared;

static int cpus(void)
{
	return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static void need_cpus(int n)
{
	if (cpus() < n)
		SKIP("needs %d CPUs", n);
}

static void move_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		FAIL("cannot move to CPU %d (errno %d)", cpu, errno);
}

/* A process that does nothing but spin, anywhere it is let. */
static pid_t spinner(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			spin(1000);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* One body for both measurements; at rest the CPU stays the same. */
__attribute__((noinline)) static uint64_t count_moving(int fd, int moves, int over)
{
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < moves; i++) {
		move_to(i % over);
		spin(300);
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	return read_count(fd);
}

TEST(moved_a_thousand_times, "SLICE-MIGRATE")
{
	struct perf_event_attr attr = instructions_u();
	struct perf_event_attr moves = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS);
	int fd = open_or_skip(&attr, 0, -1, -1), sw = perf_open(&moves, 0, -1, -1, 0);
	uint64_t rest, moving;

	need_cpus(2);
	EXPECT(fd >= 0 && sw >= 0);
	count_moving(fd, 10, 2);
	rest = count_moving(fd, 1000, 1);
	move_to(1);
	ioctl(sw, PERF_EVENT_IOC_RESET, 0);
	moving = count_moving(fd, 1000, 2);
	/* i % over takes the same instructions whatever `over` is */
	EXPECT_EQ(moving, rest);
	EXPECT_EQ(read_count(sw), 1000);
}

TEST(samples_while_moving, "SAMPLE-OWNER SLICE-MIGRATE SLICE-PERIOD")
{
	struct perf_event_attr attr = sampling(50000, PERF_SAMPLE_TID | PERF_SAMPLE_CPU);
	struct perf_event_header *h;
	int fd = open_or_skip(&attr, 0, -1, -1), n = 0, seen = 0;
	uint64_t counted;

	need_cpus(2);
	EXPECT(fd >= 0 && ring_map(&ring_shared, fd, 16, PROT_READ | PROT_WRITE));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 500; i++) {
		move_to(i % 2);
		spin(9000);
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	counted = read_count(fd);
	while ((h = ring_find(&ring_shared, PERF_RECORD_SAMPLE))) {
		const uint32_t *word = (const uint32_t *)(h + 1);

		n++;
		EXPECT_EQ(word[0], getpid());
		EXPECT(word[2] < 2);
		seen |= 1 << word[2];
	}
	EXPECT_EQ(seen, 3);
	EXPECT_BETWEEN(n, counted / 50000 - 1, counted / 50000 + 1);
}

TEST(bound_to_task_and_cpu, "CTL-SELF SLICE-MIGRATE")
{
	struct perf_event_attr attr = instructions_u();
	int fd[2];
	uint64_t before;

	need_cpus(2);
	attr.disabled = 0;
	for (int i = 0; i < 2; i++) {
		fd[i] = open_or_skip(&attr, 0, i, -1);
		EXPECT(fd[i] >= 0);
	}
	move_to(0);
	before = read_count(fd[1]);
	spin(1000000);
	EXPECT_EQ(read_count(fd[1]), before);
	EXPECT(read_count(fd[0]) >= 2000000);
	move_to(1);
	before = read_count(fd[0]);
	spin(1000000);
	EXPECT_EQ(read_count(fd[0]), before);
	EXPECT(read_count(fd[1]) >= 2000000);
}

/*
 * Every kind of operation, again and again, on an event that is running elsewhere. In exact mode each
 * waits until QEMU lets the other CPU go, which is what takes the time of this program.
 */
TEST(operations_on_a_running_event, "LIFE-REMOTE CTL-IOCTL")
{
	struct perf_event_attr attr = instructions_u();
	uint64_t last = 0, period = 100000;
	pid_t pid;
	int fd;

	need_cpus(2);
	move_to(0);
	pid = spinner();
	EXPECT(pid > 0);
	if (sched_setaffinity(pid, sizeof(cpu_set_t), &(cpu_set_t){ .__bits = { 2 } }))
		FAIL("cannot place the spinner");
	attr.sample_period = 1000000;
	fd = open_or_skip(&attr, pid, -1, -1);
	EXPECT(fd >= 0);
	for (int i = 0; i < 300; i++) { /* under icount each one waits for the other CPU's turn */
		uint64_t now;

		EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
		if (i % 50 == 49)
			usleep(1000); /* asleep, so that the other CPU gets on */
		now = read_count(fd);
		EXPECT(now >= last);
		last = now;
		EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), 0);
		EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
		now = read_count(fd);
		EXPECT(now >= last);
		last = now;
		EXPECT_EQ(read_count(fd), last); /* disabled is disabled */
		if (i % 100 == 0) {
			EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_RESET, 0), 0);
			last = 0;
		}
	}
	EXPECT(last > 0);
	end(pid);
}

TEST(opened_and_closed_on_a_running_task, "LIFE-REMOTE LIFE-ONCE")
{
	struct perf_event_attr attr = instructions_u();
	pid_t pid;

	need_cpus(2);
	move_to(0);
	pid = spinner();
	EXPECT(pid > 0);
	if (sched_setaffinity(pid, sizeof(cpu_set_t), &(cpu_set_t){ .__bits = { 2 } }))
		FAIL("cannot place the spinner");
	attr.disabled = 0;
	for (int i = 0; i < 40; i++) {
		int fd = open_or_skip(&attr, pid, -1, -1);

		EXPECT(fd >= 0);
		if (i % 10 == 0) {
			uint64_t began = read_count(fd);

			usleep(1000); /* asleep, so that the other CPU gets on */
			EXPECT(read_count(fd) > began);
		}
		EXPECT_EQ(close(fd), 0);
	}
	end(pid);
}

TEST(racing_with_exit, "LIFE-REMOTE LIFE-ONCE")
{
	struct perf_event_attr attr = instructions_u();

	attr.disabled = 0;
	attr.inherit = 1;
	for (int i = 0; i < 300; i++) {
		pid_t pid = fork();
		int fd;

		if (pid == 0) {
			spin((uint64_t)(i * 37 % 500 + 1));
			_exit(0);
		}
		fd = perf_open(&attr, pid, -1, -1, 0);
		if (fd < 0 && errno != ESRCH)
			FAIL("opening on a task that exits fails with errno %d", errno);
		if (i % 2)
			waitpid(pid, NULL, 0);
		if (fd >= 0) {
			read_count(fd);
			ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
			ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
			close(fd);
		}
		if (i % 2 == 0)
			waitpid(pid, NULL, 0);
	}
}

TEST(family_of_three_hundred, "INH-COUNT INH-SLOTS")
{
	struct perf_event_attr attr = instructions_u();
	uint64_t before, sum;
	int fd, wait_here[2];
	char c;

	attr.inherit = 1;
	attr.disabled = 0;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0 && pipe(wait_here) == 0);
	before = read_count(fd);
	for (int i = 0; i < 300; i++) {
		pid_t pid = fork();

		EXPECT(pid >= 0);
		if (pid == 0) {
			spin(10000);
			close(wait_here[1]);
			_exit(read(wait_here[0], &c, 1) != 0);
		}
	}
	while (read_count(fd) - before < 300 * 20000)
		usleep(1000);
	sum = read_count(fd) - before;
	/* QEMU's counters of CPUs that take turns count one another's instructions */
	EXPECT_BETWEEN(sum, 300 * 20000, 300 * 20000 * 2 * cpus());
	close(wait_here[1]);
	while (wait(NULL) > 0)
		;
	EXPECT(read_count(fd) - before >= sum); /* the dead are still in it */
}

static void *thread_forks(void *failed)
{
	for (int i = 0; i < 100; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			*(bool *)failed = true;
	}
	return NULL;
}

TEST(copied_while_it_is_handled, "INH-CTL INH-CLONE LIFE-REMOTE")
{
	struct perf_event_attr attr = instructions_u();
	bool failed = false;
	pthread_t thread;

	attr.inherit = 1;
	EXPECT(pthread_create(&thread, NULL, thread_forks, &failed) == 0);
	for (int i = 0; i < 300; i++) {
		int fd = open_or_skip(&attr, getpid(), -1, -1);

		EXPECT(fd >= 0);
		EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
		read_count(fd);
		EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
		EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_RESET, 0), 0);
		EXPECT_EQ(close(fd), 0);
	}
	pthread_join(thread, NULL);
	EXPECT(!failed);
}

TEST(cpu_event_counts_who_is_there, "CTL-SELF")
{
	struct perf_event_attr attr = instructions_u();
	uint64_t before;
	pid_t pid;
	int here, there;

	need_cpus(2);
	attr.disabled = 0;
	move_to(0);
	here = open_or_skip(&attr, -1, 0, -1);
	there = open_or_skip(&attr, -1, 1, -1);
	EXPECT(here >= 0 && there >= 0);
	before = read_count(there);
	spin(1000000);
	EXPECT(read_count(here) >= 2000000);
	EXPECT(read_count(there) - before < 2000000);
	pid = spinner();
	EXPECT_EQ(sched_setaffinity(pid, sizeof(cpu_set_t), &(cpu_set_t){ .__bits = { 2 } }), 0);
	usleep(20000);
	EXPECT(read_count(there) - before > 1000000);
	end(pid);
}

/* --------------------------------------------------- sharing the counters */

static double scaled(const uint64_t v[3])
{
	return v[2] ? (double)v[0] * (double)v[1] / (double)v[2] : 0;
}

/* Groups of one, one, two and four, twice: sixteen events on six counters. */
TEST(sixteen_events_take_turns, "SLICE-MUX SLICE-GROUP")
{
	static const int sizes[] = { 1, 1, 2, 4, 1, 1, 2, 4 };
	struct perf_event_attr attr = instructions_u();
	uint64_t v[3], run[8];
	int leader[8];

	attr.disabled = 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	for (int g = 0; g < 8; g++) {
		leader[g] = open_or_skip(&attr, 0, -1, -1);
		EXPECT(leader[g] >= 0);
		for (int i = 1; i < sizes[g]; i++)
			EXPECT(open_or_skip(&attr, 0, -1, leader[g]) >= 0);
	}
	for (int g = 0; g < 8; g++)
		ioctl(leader[g], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	for (int i = 0; i < 1500; i++)
		spin(500000);
	for (int g = 0; g < 8; g++) {
		EXPECT_EQ(read(leader[g], v, sizeof(v)), sizeof(v));
		EXPECT(v[2] > 0 && v[2] < v[1]);
		EXPECT(scaled(v) > 1.5e9 * 0.98 && scaled(v) < 1.5e9 * 1.02);
		run[g] = v[2];
	}
	for (int g = 0; g < 4; g++) /* equal groups, equal times */
		EXPECT(run[g] > run[g + 4] * 0.93 && run[g] < run[g + 4] * 1.07);
}

TEST(second_pinned_group_fails, "SLICE-MUX")
{
	struct perf_event_attr attr = instructions_u();
	uint64_t value;
	int leader[2];

	attr.disabled = 0;
	for (int g = 0; g < 2; g++) {
		attr.pinned = 1;
		leader[g] = open_or_skip(&attr, 0, -1, -1);
		EXPECT(leader[g] >= 0);
		attr.pinned = 0;
		for (int i = 1; i < 4; i++)
			EXPECT(open_or_skip(&attr, 0, -1, leader[g]) >= 0);
	}
	usleep(1000);
	spin(100000);
	EXPECT_EQ(read(leader[0], &value, sizeof(value)), sizeof(value));
	EXPECT_EQ(read(leader[1], &value, sizeof(value)), 0); /* error state reads as end of file */
}
