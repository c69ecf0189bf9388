/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conformance tests: one static arm64 program per subject, which runs unchanged
 * on Tally and on Linux. A program is a list of tests:
 *
 *	#include "check.h"
 *
 *	TEST(read_gives_total, "CTL-READ")
 *	{
 *		int fd = open_something();
 *
 *		REQUIRE(fd >= 0);
 *		EXPECT_EQ(read(fd, &value, 8), 8);
 *	}
 *
 *	CHECK_MAIN
 *
 * Each test runs in a child of its own with a time limit, so that one that
 * crashes or hangs fails alone. A line is printed for each:
 *
 *	ok PROGRAM.TEST (ROWS)
 *	not ok PROGRAM.TEST (ROWS): FILE:LINE: what was wrong
 *	skip PROGRAM.TEST (ROWS): why
 *
 * The exit status is 0 when none failed. `PROGRAM NAME` runs the tests whose
 * name contains NAME, in the same process if CHECK_NOFORK is set (debugging).
 * EXPECT goes on after a failure, REQUIRE ends the test.
 */
#ifndef TALLY_CHECK_H
#define TALLY_CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* programs include this header first */
#endif

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK_TIME_LIMIT 60 /* seconds of guest time for one test */

enum { CHECK_OK, CHECK_FAILED, CHECK_SKIPPED = 77 };

struct check_test {
	const char *name, *rows;
	void (*run)(void);
	struct check_test *next;
};

static struct check_test *check_first, **check_last = &check_first;
static const struct check_test *check_now;
static const char *check_program;
static int check_failures;

static inline void check_add(struct check_test *t)
{
	*check_last = t;
	check_last = &t->next;
}

#define TEST(test, test_rows)                                                       \
	static void test_##test(void);                                              \
	static struct check_test check_##test = { #test, test_rows, test_##test, NULL }; \
	__attribute__((constructor)) static void check_add_##test(void)             \
	{                                                                           \
		check_add(&check_##test);                                           \
	}                                                                           \
	static void test_##test(void)

/* The verdict line; only the first failure of a test is told. */
__attribute__((format(printf, 2, 3))) static inline void check_say(const char *verdict,
								   const char *fmt, ...)
{
	va_list ap;

	printf("%s %s.%s (%s)", verdict, check_program, check_now->name, check_now->rows);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

#define CHECK_FAIL(fmt, ...)                                                            \
	do {                                                                            \
		if (!check_failures++)                                                  \
			check_say("not ok", ": %s:%d: " fmt, __FILE_NAME__, __LINE__, ##__VA_ARGS__); \
	} while (0)

#define EXPECT(cond)                                                     \
	do {                                                             \
		if (!(cond))                                             \
			CHECK_FAIL("%s (errno %d)", #cond, errno);       \
	} while (0)

#define EXPECT_EQ(got, want)                                                            \
	do {                                                                            \
		long long got_ = (long long)(got), want_ = (long long)(want);           \
		if (got_ != want_)                                                      \
			CHECK_FAIL("%s is %lld, not %s = %lld", #got, got_, #want, want_); \
	} while (0)

/* A call that must fail with -1 and this errno. */
#define EXPECT_ERRNO(call, want)                                                          \
	do {                                                                              \
		errno = 0;                                                                \
		long long got_ = (long long)(call);                                       \
		int err_ = errno;                                                         \
		if (got_ != -1 || err_ != (want))                                         \
			CHECK_FAIL("%s gives %lld, errno %d; not -1, %s", #call, got_, err_, #want); \
	} while (0)

#define REQUIRE(cond)                                                    \
	do {                                                             \
		if (!(cond)) {                                           \
			CHECK_FAIL("%s (errno %d)", #cond, errno);       \
			return;                                          \
		}                                                        \
	} while (0)

#define SKIP(fmt, ...)                                               \
	do {                                                         \
		check_say("skip", ": " fmt, ##__VA_ARGS__);          \
		fflush(stdout);                                      \
		_exit(CHECK_SKIPPED);                                \
	} while (0)

static inline int check_one_here(const struct check_test *t)
{
	check_now = t;
	check_failures = 0;
	t->run();
	if (!check_failures)
		check_say("ok", "%s", "");
	return check_failures ? CHECK_FAILED : CHECK_OK;
}

/* Runs one test in a child; false when it failed. */
static inline bool check_one(const struct check_test *t)
{
	int status;
	pid_t pid;

	check_now = t;
	if (getenv("CHECK_NOFORK"))
		return check_one_here(t) != CHECK_FAILED;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		alarm(CHECK_TIME_LIMIT);
		_exit(check_one_here(t));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		check_say("not ok", ": cannot run it: %s", strerror(errno));
		return false;
	}
	kill(-pid, SIGKILL); /* what it may have left running */
	if (WIFSIGNALED(status))
		check_say("not ok", ": ended by signal %d%s", WTERMSIG(status),
			  WTERMSIG(status) == SIGALRM ? " (time limit)" : "");
	return WIFEXITED(status) && WEXITSTATUS(status) != CHECK_FAILED;
}

static inline int check_main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	int failed = 0;

	check_program = slash ? slash + 1 : argv[0];
	for (const struct check_test *t = check_first; t; t = t->next)
		if (argc < 2 || strstr(t->name, argv[1]))
			failed += !check_one(t);
	return failed ? 1 : 0;
}

#define CHECK_MAIN                              \
	int main(int argc, char **argv)         \
	{                                       \
		return check_main(argc, argv);  \
	}

#endif
