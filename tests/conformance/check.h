/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a conformance test is written with.
 *
 * A conformance test is one program, tests/conformance/NAME.c, whose name stands in the list in
 * meson.build there. The same binary runs on Tally and on Debian's arm64 Linux, which is the
 * judge of what is right: where the two differ Tally is wrong, or a comment in the test says why
 * Linux is. A program has any number of tests, and no main():
 *
 *	#include "check.h"
 *
 *	TEST(close_keeps_value, "LIFE-ONCE")
 *	{
 *		int fd = open(...);
 *
 *		EXPECT(fd >= 0);
 *		EXPECT_EQ(read(fd, &value, sizeof(value)), 8);
 *		EXPECT_ERRNO(read(fd, &value, 4), ENOSPC);
 *	}
 *
 * The second argument names the rows of the specification that the test proves, separated by
 * spaces ("" if there is none). Each test runs in a process of its own, in the order of the file,
 * for at most CHECK_SECONDS of the guest's time; the first expectation that does not hold ends it.
 * What a test leaves behind (children included, they are in its process group) is killed.
 *
 * Output is one line for each test: "ok NAME (ROWS)", "not ok NAME: WHY" or "skip NAME: WHY", where
 * NAME is the program's name, a dot, and the test's. The exit status is 1 if a test failed.
 * A program started with names of tests runs only these:
 *
 *	./tally build/arm64/tests/conformance/mm_map NAME...
 *	./tally --kernel=linux build/arm64/tests/conformance/mm_map
 *	./check conformance           (all of them, on both)
 */
#ifndef CONFORMANCE_CHECK_H
#define CONFORMANCE_CHECK_H

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CHECK_SECONDS
#define CHECK_SECONDS 60
#endif

struct check_test {
	const char *name, *rows;
	void (*run)(void);
	struct check_test *next;
};

static struct check_test *check_first, **check_last = &check_first;
static const struct check_test *check_now;

#define TEST(test, spec_rows)                                                            \
	static void check_run_##test(void);                                              \
	__attribute__((constructor)) static void check_add_##test(void)                  \
	{                                                                                \
		static struct check_test self = {#test, spec_rows, check_run_##test, 0}; \
		*check_last = &self;                                                     \
		check_last = &self.next;                                                 \
	}                                                                                \
	static void check_run_##test(void)

/* How the process of a test ends; its parent prints the "ok". */
enum { CHECK_OK = 0, CHECK_FAILED = 1, CHECK_SKIPPED = 77 };

/* The line of a test, written with one call so that the lines of several processes do not mix. */
__attribute__((format(printf, 2, 3))) static inline void check_say(const char *result,
								    const char *fmt, ...)
{
	char text[1024];
	int used = snprintf(text, sizeof(text), "%s %s.%s", result, program_invocation_short_name,
			    check_now->name);
	va_list args;

	va_start(args, fmt);
	used += vsnprintf(text + used, sizeof(text) - (size_t)used - 1, fmt, args);
	va_end(args);
	if (used > (int)sizeof(text) - 2)
		used = (int)sizeof(text) - 2;
	text[used++] = '\n';
	if (write(STDOUT_FILENO, text, (size_t)used) != used)
		_exit(CHECK_FAILED);
}

/* Ends the test, from any of its processes' main thread; a child must hand on its own failure. */
#define FAIL(fmt, ...)                                                                          \
	do {                                                                                    \
		check_say("not ok", ": %s:%d: " fmt, __FILE_NAME__, __LINE__, ##__VA_ARGS__);   \
		_exit(CHECK_FAILED);                                                            \
	} while (0)

/* Ends the test as one that cannot be done here. */
#define SKIP(fmt, ...)                                    \
	do {                                              \
		check_say("skip", ": " fmt, ##__VA_ARGS__); \
		_exit(CHECK_SKIPPED);                     \
	} while (0)

#define EXPECT(condition)                                                             \
	do {                                                                          \
		errno = 0;                                                            \
		if (!(condition))                                                     \
			FAIL("not %s (errno: %s)", #condition, strerrorname_np(errno)); \
	} while (0)

/* Two integers are the same. */
#define EXPECT_EQ(expression, value)                                                        \
	do {                                                                                \
		long long check_got, check_want;                                            \
											    \
		errno = 0;                                                                  \
		check_got = (long long)(expression);                                        \
		check_want = (long long)(value);                                            \
		if (check_got != check_want)                                                \
			FAIL("%s is %lld instead of %lld (errno: %s)", #expression, check_got, \
			     check_want, strerrorname_np(errno));                           \
	} while (0)

/* An integer is within the limits, which both belong to it. */
#define EXPECT_BETWEEN(expression, low, high)                                               \
	do {                                                                                \
		long long check_got = (long long)(expression);                              \
		long long check_low = (long long)(low), check_high = (long long)(high);     \
											    \
		if (check_got < check_low || check_got > check_high)                        \
			FAIL("%s is %lld, not within %lld and %lld", #expression, check_got, \
			     check_low, check_high);                                        \
	} while (0)

/* A system call gives -1 with this errno. */
#define EXPECT_ERRNO(call, error)                                                          \
	do {                                                                               \
		long long check_got;                                                       \
											   \
		errno = 0;                                                                 \
		check_got = (long long)(call);                                             \
		if (check_got != -1 || errno != (error))                                   \
			FAIL("%s gives %lld with %s instead of %s", #call, check_got,      \
			     strerrorname_np(errno), strerrorname_np(error));              \
	} while (0)

/* Whether this is Linux; for comments' sake only, tests are the same on both. */
static inline bool check_on_linux(void)
{
	struct utsname name;

	return uname(&name) == 0 && !strstr(name.version, "Tally");
}

static inline bool check_chosen(const struct check_test *test, char **names)
{
	if (!*names)
		return true;
	for (; *names; names++) {
		if (strcmp(*names, test->name) == 0)
			return true;
	}
	return false;
}

static inline void check_child(const struct check_test *test)
{
	setpgid(0, 0);
	alarm(CHECK_SECONDS);
	test->run();
	_exit(CHECK_OK);
}

/* Runs one test; returns whether it failed. */
static inline bool check_one(const struct check_test *test)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		check_child(test);
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		check_say("not ok", ": cannot run: %s", strerror(errno));
		return true;
	}
	kill(-pid, SIGKILL);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		check_say("not ok", ": not done after %d s", CHECK_SECONDS);
	else if (WIFSIGNALED(status))
		check_say("not ok", ": died by SIG%s", sigabbrev_np(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == CHECK_OK)
		check_say("ok", " (%s)", test->rows);
	else if (WEXITSTATUS(status) != CHECK_FAILED && WEXITSTATUS(status) != CHECK_SKIPPED)
		check_say("not ok", ": exit status %d", WEXITSTATUS(status));
	return !WIFEXITED(status) ||
	       (WEXITSTATUS(status) != CHECK_OK && WEXITSTATUS(status) != CHECK_SKIPPED);
}

int main(int argc, char **argv)
{
	bool failed = false;

	(void)argc;
	for (const struct check_test *test = check_first; test; test = test->next) {
		check_now = test;
		if (check_chosen(test, argv + 1))
			failed |= check_one(test);
	}
	return failed ? 1 : 0;
}

#endif
