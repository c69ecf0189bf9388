/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events and several CPUs: migration, operations that reach an event elsewhere, large families.
 * With one CPU the tests that need more are skipped.
 *
 * Linux's operations on an event of another CPU wait for QEMU to let that one run, which takes
 * milliseconds each, so there is less of everything there. With PERF_SMP_FULL in the environment there is
 * all that can be asked for (./check full).
 */
#define CHECK_SECONDS 900
#include "perf_ring.h"

#include <pthread.h>
#include <time.h>

static struct ring ring_shared;

static int cpus(void)
{
	return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* How often: in full, and of that a part in ./check, and on Linux. */
static int times(int full, int part, int on_linux)
{
	if (getenv("PERF_SMP_FULL"))
		return full;
	return check_on_linux() ? on_linux : part;
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

/* In parallel mode QEMU counts cycles only; what is not about numbers is tested with these. */
static struct perf_event_attr hardware_u(void)
{
	struct perf_event_attr attr = instructions_u();
	int fd = perf_open(&attr, 0, -1, -1, 0);

	if (fd < 0)
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
	else
		close(fd);
	return attr;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
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

TEST(moved_ten_thousand_times, "SLICE-MIGRATE")
{
	struct perf_event_attr attr = instructions_u();
	struct perf_event_attr moves = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS);
	int fd = open_or_skip(&attr, 0, -1, -1), sw = perf_open(&moves, 0, -1, -1, 0);
	uint64_t rest, moving;
	int n = times(10000, 10000, 1000);

	need_cpus(2);
	EXPECT(fd >= 0 && sw >= 0);
	count_moving(fd, 10, cpus());
	rest = count_moving(fd, n, 1);
	move_to(1);
	ioctl(sw, PERF_EVENT_IOC_RESET, 0);
	moving = count_moving(fd, n, cpus());
	/* i % over takes the same instructions whatever `over` is */
	EXPECT_EQ(moving, rest);
	EXPECT_EQ(read_count(sw), n);
}

TEST(samples_while_moving, "SAMPLE-OWNER SLICE-MIGRATE SLICE-PERIOD")
{
	struct perf_event_attr attr = sampling(50000, PERF_SAMPLE_TID | PERF_SAMPLE_CPU);
	struct perf_event_header *h;
	int fd = open_or_skip(&attr, 0, -1, -1), n = 0, seen = 0;
	uint64_t counted;

	need_cpus(2);
	EXPECT(fd >= 0 && ring_map(&ring_shared, fd, 512, PROT_READ | PROT_WRITE));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 500; i++) {
		move_to(i % cpus());
		spin(9000);
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	counted = read_count(fd);
	while ((h = ring_find(&ring_shared, PERF_RECORD_SAMPLE))) {
		const uint32_t *word = (const uint32_t *)(h + 1);

		n++;
		EXPECT_EQ(word[0], getpid());
		EXPECT((int)word[2] < cpus());
		seen |= 1 << word[2];
	}
	EXPECT_EQ(seen, (1 << cpus()) - 1);
	/* In parallel mode interrupts come when the host likes, and may come too late for one period each. */
	EXPECT((uint64_t)n <= counted / 50000 + 1);
	if (hardware_u().config == PERF_COUNT_HW_INSTRUCTIONS)
		EXPECT((uint64_t)n >= counted / 50000 - 1);
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

/* Every kind of operation, again and again, on an event that is running elsewhere. */
TEST(operations_on_a_running_event, "LIFE-REMOTE CTL-IOCTL")
{
	struct perf_event_attr attr = hardware_u();
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
	for (int i = 0; i < times(100000, 5000, 300); i++) {
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
	struct perf_event_attr attr = hardware_u();
	pid_t pid;

	need_cpus(2);
	move_to(0);
	pid = spinner();
	EXPECT(pid > 0);
	if (sched_setaffinity(pid, sizeof(cpu_set_t), &(cpu_set_t){ .__bits = { 2 } }))
		FAIL("cannot place the spinner");
	attr.disabled = 0;
	for (int i = 0; i < times(100000, 2000, 40); i++) {
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
	struct perf_event_attr attr = hardware_u();

	attr.disabled = 0;
	attr.inherit = 1;
	for (int i = 0; i < times(100000, 2000, 300); i++) {
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

/*
 * What a family under one inherited event has counted: a root that forks `n` children, which work and
 * wait. While all live (*alive), and when all but the root are gone (*gone).
 */
static void count_family(int n, uint64_t *alive, uint64_t *gone)
{
	struct perf_event_attr attr = instructions_u();
	int go[2], ready[2], leave[2], fd;
	char c = 0;
	pid_t root;

	EXPECT(pipe(go) == 0 && pipe(ready) == 0 && pipe(leave) == 0);
	root = fork();
	if (root == 0) {
		close(leave[1]);
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		for (int i = 0; i < n; i++) {
			if (fork() == 0) {
				spin(10000);
				_exit(write(ready[1], &c, 1) != 1 || read(leave[0], &c, 1) != 0);
			}
		}
		for (int i = 0; i < n; i++)
			wait(NULL);
		(void)!write(ready[1], &c, 1);
		pause();
	}
	attr.inherit = 1;
	attr.disabled = 0;
	fd = open_or_skip(&attr, root, -1, -1);
	EXPECT(fd >= 0 && write(go[1], &c, 1) == 1);
	close(leave[0]);
	for (int i = 0; i < n; i++)
		EXPECT_EQ(read(ready[0], &c, 1), 1);
	usleep(10000); /* they are all in read() now */
	*alive = read_count(fd);
	EXPECT_EQ(read_count(fd), *alive);
	close(leave[1]);
	EXPECT_EQ(read(ready[0], &c, 1), 1);
	usleep(10000);
	*gone = read_count(fd);
	EXPECT_EQ(read_count(fd), *gone);
	end(root);
	close(fd);
}

/* Each child does the same: so a thousand of them count a thousand times what one does, to the last digit. */
TEST(family_of_a_thousand, "INH-COUNT INH-SLOTS")
{
	int n = times(1000, 1000, 300);
	uint64_t alive[3], gone[3];

	count_family(1, &alive[0], &gone[0]);
	count_family(2, &alive[1], &gone[1]);
	count_family(n, &alive[2], &gone[2]);
	EXPECT(alive[2] >= (uint64_t)n * 20000 && gone[2] > alive[2]);
	if (check_on_linux() && cpus() > 1)
		return; /* QEMU's counters of CPUs that take turns count one another's instructions */
	EXPECT_EQ(alive[2] - alive[0], (uint64_t)(n - 1) * (alive[1] - alive[0]));
	EXPECT_EQ(gone[2] - gone[0], (uint64_t)(n - 1) * (gone[1] - gone[0]));
}

static void *thread_forks(void *failed)
{
	for (int i = 0; i < times(30000, 600, 100); i++) {
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
	struct perf_event_attr attr = hardware_u();
	bool failed = false;
	pthread_t thread;

	attr.inherit = 1;
	EXPECT(pthread_create(&thread, NULL, thread_forks, &failed) == 0);
	for (int i = 0; i < times(100000, 2000, 300); i++) {
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

/* One of several, each on a CPU of its own and busy with an event of the next; ends when all have done so. */
static void handle_the_next(int me, int n, const volatile pid_t *others, int *done)
{
	struct perf_event_attr attr = hardware_u();

	attr.disabled = 0;
	move_to(me);
	while (!others[n - 1])
		sched_yield();
	for (int i = 0; i < times(10000, 100, 5); i++) {
		int fd = perf_open(&attr, others[(me + 1) % n], -1, -1, 0);
		uint64_t first = read_count(fd);

		EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
		EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
		EXPECT(read_count(fd) >= first);
		EXPECT_EQ(close(fd), 0);
	}
	__atomic_fetch_add(done, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(done, __ATOMIC_SEQ_CST) < n)
		spin(100);
	_exit(0);
}

/* CPUs that wait for one another in a circle. */
TEST(each_handles_the_next, "LIFE-REMOTE CTL-IOCTL")
{
	pid_t *pids = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int n = cpus() < 8 ? cpus() : 8, status;

	need_cpus(2);
	EXPECT(pids != MAP_FAILED);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			handle_the_next(i, n, pids, pids + n);
		pids[i] = pid;
	}
	for (int i = 0; i < n; i++) {
		EXPECT(wait(&status) > 0);
		if (status)
			_exit(CHECK_FAILED);
	}
}

/*
 * A process on a CPU of its own that works for some time, sleeps for some (or not at all), and so on.
 * *late is the longest it has overslept.
 */
static pid_t worker(int cpu, uint64_t work_ns, long sleep_ns, uint64_t *late)
{
	struct timespec moment = { .tv_nsec = sleep_ns };
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	move_to(cpu);
	for (;;) {
		uint64_t began;

		spin(work_ns / 2);
		began = now_ns();
		if (sleep_ns && nanosleep(&moment, NULL) == 0 && now_ns() - began - (uint64_t)sleep_ns > *late)
			*late = now_ns() - began - (uint64_t)sleep_ns;
	}
}

/*
 * One that always works has its part beside others on their own CPUs that sleep now and then, for
 * short or long; and where it is known when CPUs execute, no timer is later than two turns for each CPU.
 */
static void share_with_sleepers(uint64_t work_ns, long sleep_ns)
{
	struct perf_event_attr attr = hardware_u();
	uint64_t *late = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), most = 0;
	pid_t pid[8];
	int n = cpus() < 8 ? cpus() : 8, fd[8];

	need_cpus(2);
	attr.disabled = 0;
	for (int i = 0; i < n; i++) {
		pid[i] = worker(i, work_ns, i ? sleep_ns : 0, &late[i]);
		fd[i] = open_or_skip(&attr, pid[i], -1, -1);
		EXPECT(late != MAP_FAILED && pid[i] > 0 && fd[i] >= 0);
	}
	usleep(300000);
	for (int i = 0; i < n; i++) {
		end(pid[i]);
		if (i > 0 && read_count(fd[i]) > most)
			most = read_count(fd[i]);
	}
	EXPECT(read_count(fd[0]) > most / 2);
	for (int i = 1; i < n && !check_on_linux() && attr.config == PERF_COUNT_HW_INSTRUCTIONS; i++)
		EXPECT_BETWEEN(late[i], 0, 2000000 * n);
}

TEST(shared_with_short_sleepers, "")
{
	share_with_sleepers(900000, 10000);
}

TEST(shared_with_timers, "")
{
	share_with_sleepers(3000, 5000);
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
		EXPECT(run[g] > run[g + 4] * 0.95 && run[g] < run[g + 4] * 1.05);
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
