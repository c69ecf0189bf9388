/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scheduler as programs see it: affinity, migration, yielding, policies, priorities,
 * fairness.
 */
#include "check.h"
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

struct attr { /* struct sched_attr of linux/sched/types.h, whose header collides with sched.h */
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};

static cpu_set_t only(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return set;
}

TEST(affinity, "")
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
	EXPECT_EQ(CPU_COUNT(&set), cpus);
	for (int round = 0; round < 20; round++) {
		for (int cpu = 0; cpu < cpus; cpu++) {
			set = only(cpu);
			EXPECT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
			EXPECT_EQ(sched_getcpu(), cpu);
		}
	}
	EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
	EXPECT_EQ(CPU_COUNT(&set), 1);
	CPU_ZERO(&set);
	EXPECT_ERRNO(sched_setaffinity(0, sizeof(set), &set), EINVAL);
	set = only(900);
	EXPECT_ERRNO(sched_setaffinity(0, sizeof(set), &set), EINVAL);
	EXPECT_ERRNO(sched_setaffinity(30000, sizeof(set), &set), ESRCH);
	EXPECT_ERRNO(syscall(SYS_sched_getaffinity, 0, 0, &set), EINVAL);
	EXPECT_ERRNO(syscall(SYS_sched_getaffinity, 0, 12, &set), EINVAL);
	EXPECT_ERRNO(syscall(SYS_sched_getaffinity, 30000, 128, &set), ESRCH);
}

TEST(affinity_is_inherited, "")
{
	cpu_set_t set = only(0);
	int status;

	EXPECT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
	pid_t pid = fork();
	if (pid == 0) {
		CPU_ZERO(&set);
		sched_getaffinity(0, sizeof(set), &set);
		_exit(CPU_COUNT(&set) != 1 || !CPU_ISSET(0, &set));
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
}

TEST(affinity_of_another, "")
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	volatile int *cpu =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cpu_set_t set = only((int)cpus - 1);
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			*cpu = sched_getcpu() + 1;
	}
	EXPECT_EQ(sched_setaffinity(pid, sizeof(set), &set), 0);
	usleep(50000);
	EXPECT_EQ(*cpu, cpus);
	EXPECT_EQ(kill(pid, SIGKILL), 0);
}

TEST(two_share_a_cpu, "")
{
	volatile long *work =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cpu_set_t set = only(0);
	pid_t pid[3];

	EXPECT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
	for (int i = 0; i < 3; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			for (;;)
				work[i * 16]++;
		}
	}
	usleep(600000);
	for (int i = 0; i < 3; i++)
		kill(pid[i], SIGKILL);
	long sum = work[0] + work[16] + work[32];
	for (int i = 0; i < 3; i++)
		EXPECT_BETWEEN(work[i * 16] * 100 / sum, 25, 42);
}

static void spin_for_ever(void)
{
	for (;;)
		;
}

/* Each call takes a tenth of a second and more. */
static void make_long_calls(void)
{
	static char room[16 << 20];

	for (;;) {
		if (syscall(SYS_getrandom, room, sizeof(room), 0) < 0)
			_exit(1);
	}
}

/* A hundred milliseconds of sleep, in pieces, on one CPU with somebody busy. */
static void sleep_beside(void (*busy)(void))
{
	cpu_set_t set = only(0);
	struct timespec from, to, ts = {0, 5000000};
	pid_t pid;

	EXPECT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
	pid = fork();
	if (pid == 0)
		busy();
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < 20; i++)
		nanosleep(&ts, NULL);
	clock_gettime(CLOCK_MONOTONIC, &to);
	kill(pid, SIGKILL);
	long ms = (to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000;
	EXPECT_BETWEEN(ms, 99, 180);
}

TEST(sleeper_is_not_starved, "")
{
	sleep_beside(spin_for_ever);
}

TEST(long_calls_let_others_run, "")
{
	sleep_beside(make_long_calls);
}

TEST(yield_lets_the_other_run, "")
{
	volatile int *turn =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cpu_set_t set = only(0);
	struct rusage r;
	pid_t pid;

	EXPECT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
	pid = fork();
	for (int i = 0; i < 100; i++) {
		while (*turn != (pid == 0))
			sched_yield();
		*turn = pid != 0;
	}
	if (pid == 0)
		_exit(0);
	EXPECT_EQ(getrusage(RUSAGE_SELF, &r), 0);
	EXPECT(r.ru_nvcsw + r.ru_nivcsw >= 90);
}

TEST(policies, "")
{
	struct sched_param p = {0};
	struct timespec ts;

	EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
	EXPECT_EQ(sched_get_priority_max(SCHED_FIFO), 99);
	EXPECT_EQ(sched_get_priority_min(SCHED_RR), 1);
	EXPECT_EQ(sched_get_priority_max(SCHED_OTHER), 0);
	EXPECT_ERRNO(sched_get_priority_max(77), EINVAL);
	EXPECT_ERRNO(sched_setscheduler(0, SCHED_FIFO, &p), EINVAL);
	EXPECT_ERRNO(sched_setscheduler(0, 77, &p), EINVAL);
	EXPECT_ERRNO(sched_getscheduler(30000), ESRCH);
	EXPECT_EQ(sched_setscheduler(0, SCHED_BATCH, &p), 0);
	EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH);
	EXPECT_EQ(sched_getparam(0, &p), 0);
	EXPECT_EQ(p.sched_priority, 0);
	EXPECT_EQ(sched_setscheduler(0, SCHED_OTHER, &p), 0);
	if (geteuid() == 0) {
		p.sched_priority = 10;
		EXPECT_EQ(sched_setscheduler(0, SCHED_RR, &p), 0);
		EXPECT_EQ(sched_getscheduler(0), SCHED_RR);
		EXPECT_EQ(sched_getparam(0, &p), 0);
		EXPECT_EQ(p.sched_priority, 10);
		EXPECT_EQ(sched_rr_get_interval(0, &ts), 0);
		EXPECT(ts.tv_nsec > 0);
		p.sched_priority = 0;
		EXPECT_EQ(sched_setscheduler(0, SCHED_OTHER, &p), 0);
	}
}

TEST(sched_attr, "")
{
	struct attr attr = {.size = sizeof(attr)};

	EXPECT_EQ(syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0), 0);
	EXPECT_EQ(attr.policy, SCHED_OTHER);
	EXPECT_EQ(attr.nice, 0);
	EXPECT_ERRNO(syscall(SYS_sched_getattr, 0, &attr, 8, 0), EINVAL);
	attr = (struct attr){.size = 48, .policy = SCHED_OTHER, .nice = 5};
	EXPECT_EQ(syscall(SYS_sched_setattr, 0, &attr, 0), 0);
	EXPECT_EQ(getpriority(PRIO_PROCESS, 0), 5);
	attr.size = 4;
	EXPECT_ERRNO(syscall(SYS_sched_setattr, 0, &attr, 0), E2BIG);
}

TEST(nice_values, "")
{
	EXPECT_EQ(setpriority(PRIO_PROCESS, 0, 7), 0);
	EXPECT_EQ(getpriority(PRIO_PROCESS, 0), 7);
	EXPECT_EQ(setpriority(PRIO_PROCESS, 0, 100), 0);
	EXPECT_EQ(getpriority(PRIO_PROCESS, 0), 19);
	EXPECT_ERRNO(setpriority(PRIO_PROCESS, 30000, 1), ESRCH);
	EXPECT_ERRNO(setpriority((__priority_which_t)9, 0, 1), EINVAL);
	pid_t pid = fork();
	int status;
	if (pid == 0) {
		if (setuid(1000))
			_exit(2);
		_exit(setpriority(PRIO_PROCESS, 0, 3) == 0 || errno != EACCES);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
}

static long sums[8];

static void *count_up(void *arg)
{
	long *sum = arg;

	for (long i = 0; i < 2000000; i++)
		__atomic_fetch_add(sum, 1, __ATOMIC_RELAXED);
	return NULL;
}

TEST(threads_use_all_cpus, "")
{
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		EXPECT_EQ(pthread_create(&t[i], NULL, count_up, &sums[i]), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 8; i++)
		EXPECT_EQ(sums[i], 2000000);
}
