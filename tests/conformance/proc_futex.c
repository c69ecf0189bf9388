/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * futex(2): waiting, waking, requeueing, operations, robust lists, PI; and what is built on
 * them.
 */
#include "check.h"
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

static long futex(uint32_t *word, int op, uint32_t val, const void *timeout, uint32_t *word2,
		  uint32_t val3)
{
	return syscall(SYS_futex, word, op, val, timeout, word2, val3);
}

static long futex_n(uint32_t *word, int op, uint32_t val, unsigned long val2, uint32_t *word2,
		    uint32_t val3)
{
	return syscall(SYS_futex, word, op, val, val2, word2, val3);
}

static uint32_t word, word2;
static volatile int woken, ready;

TEST(errors, "")
{
	struct timespec bad = {0, 2000000000}, ts = {0, 1000000};

	EXPECT_ERRNO(futex(&word, FUTEX_WAIT, 1, NULL, NULL, 0), EAGAIN);
	EXPECT_ERRNO(futex(&word, FUTEX_WAIT, 0, &bad, NULL, 0), EINVAL);
	EXPECT_ERRNO(futex(&word, FUTEX_WAIT, 0, (void *)8, NULL, 0), EFAULT);
	EXPECT_ERRNO(futex((uint32_t *)((char *)&word + 1), FUTEX_WAIT, 0, NULL, NULL, 0), EINVAL);
	EXPECT_ERRNO(futex((uint32_t *)16, FUTEX_WAIT, 0, NULL, NULL, 0), EFAULT);
	EXPECT_ERRNO(futex(&word, FUTEX_WAIT, 0, &ts, NULL, 0), ETIMEDOUT);
	EXPECT_ERRNO(futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 0), EINVAL);
	EXPECT_ERRNO(futex(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0), EINVAL);
	EXPECT_ERRNO(futex(&word, 99, 0, NULL, NULL, 0), ENOSYS);
	EXPECT_EQ(futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0), 0);
	EXPECT_EQ(futex(&word, FUTEX_WAKE_PRIVATE, 100, NULL, NULL, 0), 0);
}

static void *waiter(void *arg)
{
	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
	long bits = (long)arg;

	if (futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, (uint32_t)bits) == 0)
		__atomic_fetch_add(&woken, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void start_waiters(pthread_t *t, int n, const long *bits)
{
	ready = woken = 0;
	for (int i = 0; i < n; i++) {
		EXPECT_EQ(pthread_create(&t[i], NULL, waiter, (void *)(bits ? bits[i] : -1L)), 0);
		while (ready <= i)
			usleep(500);
		usleep(2000);
	}
}

TEST(wake_some, "")
{
	pthread_t t[5];

	start_waiters(t, 5, NULL);
	EXPECT_EQ(futex(&word, FUTEX_WAKE_PRIVATE, 2, NULL, NULL, 0), 2);
	usleep(5000);
	EXPECT_EQ(woken, 2);
	EXPECT_EQ(futex(&word, FUTEX_WAKE_PRIVATE, 100, NULL, NULL, 0), 3);
	for (int i = 0; i < 5; i++)
		pthread_join(t[i], NULL);
	EXPECT_EQ(woken, 5);
}

TEST(bitset, "")
{
	static const long bits[] = {1, 2, 3};
	pthread_t t[3];

	start_waiters(t, 3, bits);
	EXPECT_EQ(futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 100, NULL, NULL, 4), 0);
	EXPECT_EQ(futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 100, NULL, NULL, 2), 2);
	EXPECT_EQ(futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 100, NULL, NULL, 1), 1);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

TEST(requeue, "")
{
	pthread_t t[4];

	start_waiters(t, 4, NULL);
	EXPECT_ERRNO(futex_n(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 100, &word2, 5), EAGAIN);
	EXPECT_EQ(futex_n(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 2, &word2, 0), 3);
	EXPECT_EQ(futex(&word, FUTEX_WAKE_PRIVATE, 100, NULL, NULL, 0), 1);
	EXPECT_EQ(futex(&word2, FUTEX_WAKE_PRIVATE, 100, NULL, NULL, 0), 2);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	EXPECT_EQ(woken, 4);
}

TEST(wake_op, "")
{
	pthread_t t[1];

	start_waiters(t, 1, NULL);
	word2 = 5;
	EXPECT_EQ(futex_n(&word, FUTEX_WAKE_OP_PRIVATE, 1, 1, &word2,
			  FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 5)),
		  1);
	EXPECT_EQ(word2, 8);
	EXPECT_EQ(futex_n(&word, FUTEX_WAKE_OP_PRIVATE, 1, 1, &word2,
			  FUTEX_OP((FUTEX_OP_SET | FUTEX_OP_OPARG_SHIFT), 4, FUTEX_OP_CMP_LT, 0)),
		  0);
	EXPECT_EQ(word2, 16);
	EXPECT_EQ(futex_n(&word, FUTEX_WAKE_OP_PRIVATE, 1, 1, &word2,
			  FUTEX_OP(FUTEX_OP_ADD, -1, FUTEX_OP_CMP_GE, 0)),
		  0);
	EXPECT_EQ(word2, 15);
	word2 = 0;
	pthread_join(t[0], NULL);
}

TEST(absolute_timeout, "")
{
	struct timespec ts, now;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_nsec += 20000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	EXPECT_ERRNO(futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, &ts, NULL, ~0u), ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &now);
	EXPECT(now.tv_sec > ts.tv_sec || now.tv_nsec >= ts.tv_nsec);
	clock_gettime(CLOCK_REALTIME, &ts);
	EXPECT_ERRNO(
		futex(&word, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 0, &ts, NULL, ~0u),
		ETIMEDOUT);
	ts.tv_sec = 1;
	EXPECT_ERRNO(futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, &ts, NULL, ~0u), ETIMEDOUT);
}

TEST(shared_between_processes, "")
{
	uint32_t *shared =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(futex(shared, FUTEX_WAIT, 0, NULL, NULL, 0) != 0 && errno != EAGAIN);
	usleep(10000);
	EXPECT_EQ(futex(shared, FUTEX_WAKE, 1, NULL, NULL, 0), 1);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
}

TEST(private_memory_is_not_shared, "")
{
	pid_t pid = fork();
	struct timespec ts = {0, 50000000};
	int status;

	if (pid == 0)
		_exit(futex(&word, FUTEX_WAIT, 0, &ts, NULL, 0) == 0 || errno != ETIMEDOUT);
	usleep(10000);
	EXPECT_EQ(futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0), 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int turn;

static void *take_turns(void *arg)
{
	long me = (long)arg;

	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 200; i++) {
		while (turn != me)
			pthread_cond_wait(&cond, &mutex);
		turn = (turn + 1) % 3;
		pthread_cond_broadcast(&cond);
	}
	pthread_mutex_unlock(&mutex);
	return NULL;
}

TEST(condition_variable, "")
{
	pthread_t t[3];

	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, take_turns, (void *)i);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
	EXPECT_EQ(turn, 0);
}

TEST(robust_mutex, "")
{
	pthread_mutexattr_t attr;
	pthread_mutex_t *m =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(m, &attr);
	pid_t pid = fork();
	if (pid == 0) {
		pthread_mutex_lock(m);
		usleep(20000);
		_exit(0); /* without unlocking */
	}
	usleep(5000);
	EXPECT_EQ(pthread_mutex_lock(m), EOWNERDEAD); /* it was waiting when the owner died */
	EXPECT_EQ(pthread_mutex_consistent(m), 0);
	EXPECT_EQ(pthread_mutex_unlock(m), 0);
	EXPECT_EQ(pthread_mutex_lock(m), 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
}

static pthread_mutex_t pi_mutex;
static long pi_sum;

static void *pi_adder(void *arg)
{
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&pi_mutex);
		long sum = pi_sum;
		if (i % 50 == 0)
			usleep(1000);
		pi_sum = sum + 1;
		pthread_mutex_unlock(&pi_mutex);
	}
	return arg;
}

TEST(pi_mutex_excludes, "")
{
	pthread_mutexattr_t attr;
	pthread_t t[4];

	pthread_mutexattr_init(&attr);
	EXPECT_EQ(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT), 0);
	EXPECT_EQ(pthread_mutex_init(&pi_mutex, &attr), 0);
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(pthread_create(&t[i], NULL, pi_adder, NULL), 0);
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
	EXPECT_EQ(pi_sum, 800);
}

TEST(pi_errors, "")
{
	uint32_t w = 0;
	struct timespec ts;

	EXPECT_EQ(futex(&w, FUTEX_LOCK_PI, 0, NULL, NULL, 0), 0);
	EXPECT_EQ(w, (uint32_t)getpid());
	EXPECT_ERRNO(futex(&w, FUTEX_LOCK_PI, 0, NULL, NULL, 0), EDEADLK);
	EXPECT_EQ(futex(&w, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0), 0);
	EXPECT_EQ(w, 0);
	EXPECT_ERRNO(futex(&w, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0), EPERM);
	w = 30000;
	EXPECT_ERRNO(futex(&w, FUTEX_LOCK_PI, 0, NULL, NULL, 0), ESRCH);
	w = (uint32_t)getppid();
	EXPECT_ERRNO(futex(&w, FUTEX_TRYLOCK_PI, 0, NULL, NULL, 0), EAGAIN);
	clock_gettime(CLOCK_REALTIME, &ts);
	EXPECT_ERRNO(futex(&w, FUTEX_LOCK_PI, 0, &ts, NULL, 0), ETIMEDOUT);
}

static void *exit_with_tid(void *arg)
{
	return arg;
}

TEST(clear_child_tid_wakes_join, "")
{
	/* pthread_join waits on the word that the kernel clears. */
	for (int i = 0; i < 50; i++) {
		pthread_t t;

		EXPECT_EQ(pthread_create(&t, NULL, exit_with_tid, NULL), 0);
		if (i % 2)
			usleep(500);
		EXPECT_EQ(pthread_join(t, NULL), 0);
	}
}

static uint32_t *pi_word;

static void *pi_owner_exits(void *arg)
{
	if (futex(pi_word, FUTEX_LOCK_PI, 0, NULL, NULL, 0))
		FAIL("cannot lock: %s", strerror(errno));
	ready = 1;
	usleep(20000);
	return arg; /* without unlocking */
}

TEST(pi_owner_dies, "")
{
	pthread_t t;

	pi_word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int round = 0; round < 2; round++) {
		*pi_word = 0;
		ready = 0;
		EXPECT_EQ(pthread_create(&t, NULL, pi_owner_exits, NULL), 0);
		while (!ready)
			usleep(1000);
		EXPECT_EQ(futex(pi_word, FUTEX_LOCK_PI, 0, NULL, NULL, 0), 0);
		EXPECT_EQ(*pi_word & FUTEX_TID_MASK, (uint32_t)getpid());
		EXPECT(*pi_word & FUTEX_OWNER_DIED);
		pthread_join(t, NULL);
		pi_word = &word; /* and once in private memory */
	}
}
