/* SPDX-License-Identifier: BSD-2-Clause */
/* Events on tasks: lifetimes, exec, inheritance, attribution. */
#include "perf_util.h"

#include <pthread.h>

#define TURNS 200000

/* A child that waits for a byte, spins, says so, waits again, and exits. */
struct worker {
	pid_t pid;
	int go, done;
};

static bool worker_start(struct worker *w, uint64_t turns)
{
	int go[2], done[2];
	char c = 0;

	if (pipe(go) || pipe(done))
		return false;
	w->pid = fork();
	if (w->pid == 0) {
		close(go[1]);
		close(done[0]);
		while (read(go[0], &c, 1) == 1) {
			spin(turns);
			if (write(done[1], &c, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	close(go[0]);
	close(done[1]);
	w->go = go[1];
	w->done = done[0];
	return w->pid > 0;
}

static void worker_round(struct worker *w)
{
	char c = 'x';

	if (write(w->go, &c, 1) != 1 || read(w->done, &c, 1) != 1)
		FAIL("the worker does not answer");
}

static void worker_end(struct worker *w)
{
	close(w->go);
	close(w->done);
	waitpid(w->pid, NULL, 0);
}

static void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

TEST(another_task_is_counted, "LIFE-SHARED CTL-SELF")
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	uint64_t first, second;
	int fd;

	attr.disabled = 0;
	EXPECT(worker_start(&w, TURNS));
	worker_round(&w);
	fd = open_or_skip(&attr, w.pid, -1, -1);
	EXPECT(fd >= 0);
	worker_round(&w);
	first = read_count(fd);
	worker_round(&w);
	second = read_count(fd) - first;
	EXPECT(first >= 2 * TURNS && first < 2 * TURNS + 500);
	EXPECT(second >= 2 * TURNS && second < 2 * TURNS + 500);
	worker_end(&w);
}

TEST(task_exits_first, "LIFE-ONCE LIFE-SHARED")
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	uint64_t v[3], last;
	int fd;

	attr.disabled = 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	EXPECT(worker_start(&w, TURNS));
	fd = open_or_skip(&attr, w.pid, -1, -1);
	EXPECT(fd >= 0);
	worker_round(&w);
	worker_end(&w);
	EXPECT_EQ(read(fd, v, sizeof(v)), sizeof(v));
	EXPECT(v[0] >= 2 * TURNS && v[1] > 0 && v[1] == v[2]);
	last = v[0];
	spin(TURNS);
	EXPECT_EQ(read(fd, v, sizeof(v)), sizeof(v));
	EXPECT_EQ(v[0], last);
	EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_RESET, 0), 0);
	EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	EXPECT_EQ(read(fd, v, sizeof(v)), sizeof(v));
	EXPECT_EQ(v[0], 0);
	EXPECT_EQ(close(fd), 0);
}

TEST(closed_while_the_task_runs, "LIFE-ONCE LIFE-SHARED")
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;

	attr.disabled = 0;
	EXPECT(worker_start(&w, TURNS));
	for (int i = 0; i < 200; i++) {
		int fd = open_or_skip(&attr, w.pid, -1, -1);
		char c = 'x';

		EXPECT(fd >= 0);
		EXPECT_EQ(write(w.go, &c, 1), 1);
		if (i % 3)
			sched_yield();
		EXPECT_EQ(close(fd), 0);
		EXPECT_EQ(read(w.done, &c, 1), 1);
	}
	worker_end(&w);
}

TEST(inherited_counts_add_up, "INH-CLONE INH-COUNT")
{
	struct perf_event_attr attr = instructions_u();
	uint64_t before, after;
	int fd;

	attr.inherit = 1;
	attr.disabled = 0;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0);
	before = read_count(fd);
	for (int i = 0; i < 8; i++) {
		pid_t child = fork();

		if (child == 0) {
			pid_t grandchild;

			spin(TURNS);
			grandchild = fork();
			if (grandchild == 0)
				spin(TURNS);
			else
				waitpid(grandchild, NULL, 0);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	after = read_count(fd);
	EXPECT(after - before >= 16 * 2 * TURNS);
	EXPECT(after - before < 16 * 2 * TURNS + 2 * TURNS);
}

TEST(living_copies_are_in_the_sum, "INH-COUNT INH-CTL")
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	uint64_t before, after;
	int fd;

	attr.inherit = 1;
	attr.disabled = 0;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0);
	EXPECT(worker_start(&w, TURNS));
	before = read_count(fd);
	worker_round(&w);
	after = read_count(fd);
	EXPECT(after - before >= 2 * TURNS && after - before < 2 * TURNS + 5000);
	EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	before = read_count(fd);
	worker_round(&w);
	EXPECT_EQ(read_count(fd), before);
	EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	worker_round(&w);
	EXPECT(read_count(fd) - before >= 2 * TURNS);
	worker_end(&w);
}

TEST(not_inherited_stays_with_its_task, "INH-CLONE")
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	uint64_t before;
	int fd;

	attr.disabled = 0;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0 && worker_start(&w, 10 * TURNS));
	before = read_count(fd);
	worker_round(&w);
	EXPECT(read_count(fd) - before < TURNS);
	worker_end(&w);
}

static void *thread_spins(void *turns)
{
	spin(*(uint64_t *)turns);
	return NULL;
}

TEST(threads_inherit, "INH-CLONE INH-THREAD")
{
	struct perf_event_attr attr = instructions_u();
	uint64_t turns = TURNS, before, sum;
	pthread_t thread[4];
	int fd;

	attr.inherit = 1;
	attr.disabled = 0;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0);
	before = read_count(fd);
	for (int i = 0; i < 4; i++)
		EXPECT(pthread_create(&thread[i], NULL, thread_spins, &turns) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	sum = read_count(fd) - before;
	EXPECT(sum >= 4 * 2 * TURNS && sum < 5 * 2 * TURNS);
}

TEST(inherit_thread_leaves_children_out, "INH-THREAD")
{
	struct perf_event_attr attr = instructions_u();
	struct worker w;
	uint64_t before;
	int fd;

	attr.inherit = 1;
	attr.inherit_thread = 1;
	attr.disabled = 0;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0 && worker_start(&w, 10 * TURNS));
	before = read_count(fd);
	worker_round(&w);
	EXPECT(read_count(fd) - before < TURNS);
	worker_end(&w);
}

static pid_t exec_true_when_told(int *go)
{
	int p[2];
	pid_t pid;

	if (pipe2(p, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		char c;

		close(p[1]);
		if (read(p[0], &c, 1) == 1)
			execl("/bin/busybox", "true", (char *)NULL);
		_exit(127);
	}
	close(p[0]);
	*go = p[1];
	return pid;
}

TEST(enable_on_exec, "CTL-EXEC")
{
	struct perf_event_attr attr = instructions_u();
	uint64_t count[2];

	attr.enable_on_exec = 1;
	for (int i = 0; i < 2; i++) {
		int go, status, fd;
		pid_t pid = exec_true_when_told(&go);

		EXPECT(pid > 0);
		fd = open_or_skip(&attr, pid, -1, -1);
		EXPECT(fd >= 0);
		EXPECT_EQ(read_count(fd), 0);
		EXPECT_EQ(write(go, "x", 1), 1);
		waitpid(pid, &status, 0);
		EXPECT_EQ(status, 0);
		count[i] = read_count(fd);
		close(fd);
		close(go);
	}
	EXPECT(count[0] > 1000);
	EXPECT_EQ(count[0], count[1]);
}

TEST(remove_on_exec, "INH-THREAD CTL-EXEC")
{
	struct perf_event_attr attr = instructions_u();
	uint64_t count;
	int go, fd;
	pid_t pid = exec_true_when_told(&go);

	attr.disabled = 0;
	attr.remove_on_exec = 1;
	EXPECT(pid > 0);
	fd = open_or_skip(&attr, pid, -1, -1);
	EXPECT(fd >= 0);
	EXPECT_EQ(write(go, "x", 1), 1);
	waitpid(pid, NULL, 0);
	count = read_count(fd);
	EXPECT(count < 5000);
	attr.enable_on_exec = 1;
	EXPECT_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
}

/* One body for both measurements, so that the compiler cannot make them differ by an instruction. */
__attribute__((noinline)) static uint64_t count_yielding(int fd)
{
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 2000; i++) {
		spin(500);
		sched_yield();
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	return read_count(fd);
}

/* The heart of it: what others do on the same CPU is not counted. */
TEST(only_the_measured_task_is_counted, "SLICE-IN SLICE-OUT SLICE-FILTER")
{
	struct perf_event_attr attr = instructions_u();
	uint64_t alone, among;
	int fd = open_or_skip(&attr, 0, -1, -1);
	int status;
	pid_t other;

	EXPECT(fd >= 0);
	pin_to(0);
	count_spin(fd, 10);
	alone = count_yielding(fd);

	other = fork();
	if (other == 0)
		for (;;) {
			spin(300);
			sched_yield();
		}
	sched_yield();
	count_spin(fd, 10); /* copies the pages that fork made shared: a retried write counts twice */
	among = count_yielding(fd);
	kill(other, SIGKILL);
	waitpid(other, &status, 0);
	EXPECT_EQ(among, alone);
}

TEST(software_counts_of_a_task, "SLICE-IN SLICE-OUT")
{
	static const uint64_t what[] = { PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_PAGE_FAULTS,
					 PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
					 PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_CPU_CLOCK };
	int fd[6];
	struct worker w;
	volatile char *fresh;

	for (int i = 0; i < 6; i++) {
		struct perf_event_attr attr = perf_attr(PERF_TYPE_SOFTWARE, what[i]);

		fd[i] = perf_open(&attr, 0, -1, -1, 0);
		EXPECT(fd[i] >= 0);
	}
	EXPECT(worker_start(&w, 1000));
	for (int i = 0; i < 6; i++)
		ioctl(fd[i], PERF_EVENT_IOC_RESET, 0);
	for (int i = 0; i < 50; i++)
		worker_round(&w);
	EXPECT(read_count(fd[0]) >= 50 && read_count(fd[0]) <= 120);

	ioctl(fd[1], PERF_EVENT_IOC_RESET, 0);
	ioctl(fd[2], PERF_EVENT_IOC_RESET, 0);
	fresh = aligned_alloc(4096, 64 * 4096);
	for (int i = 0; i < 64; i++)
		fresh[i * 4096] = 1;
	EXPECT(read_count(fd[1]) >= 60 && read_count(fd[1]) <= 80);
	EXPECT_EQ(read_count(fd[1]), read_count(fd[2]));
	EXPECT_EQ(read_count(fd[3]), 0);
	EXPECT(read_count(fd[4]) > 0 && read_count(fd[5]) > 0);
	worker_end(&w);
}

TEST(many_events_share_the_counters, "SLICE-MUX")
{
	struct perf_event_attr attr = instructions_u();
	uint64_t v[3];
	int fd[16];
	bool shared = false;

	attr.disabled = 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	for (int i = 0; i < 16; i++) {
		fd[i] = open_or_skip(&attr, 0, -1, -1);
		EXPECT(fd[i] >= 0);
	}
	for (int i = 0; i < 400; i++)
		spin(500000);
	for (int i = 0; i < 16; i++) {
		EXPECT_EQ(read(fd[i], v, sizeof(v)), sizeof(v));
		EXPECT(v[2] > 0 && v[2] <= v[1]);
		shared |= v[2] < v[1];
		if (v[2]) {
			double scaled = (double)v[0] * (double)v[1] / (double)v[2];

			EXPECT(scaled > 400e6 * 0.9 && scaled < 400e6 * 1.15);
		}
	}
	EXPECT(shared);
}
