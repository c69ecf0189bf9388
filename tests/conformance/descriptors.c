/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What PID 1 gives the command: its three descriptors, its session, its folder and its
 * environment. ./check runs this with standard input from /dev/null and the output through pipes.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "check.h"

TEST(input_is_null, "")
{
	struct stat st;
	char byte;

	EXPECT_EQ(fstat(0, &st), 0);
	EXPECT(S_ISCHR(st.st_mode));
	EXPECT_EQ(st.st_rdev, makedev(1, 3));
	EXPECT_EQ(read(0, &byte, 1), 0);
}

TEST(output_is_no_terminal, "")
{
	EXPECT_EQ(isatty(1), 0);
	EXPECT_EQ(isatty(2), 0);
}

TEST(output_can_be_polled, "")
{
	struct pollfd poll_out = {1, POLLOUT, 0};

	EXPECT_EQ(poll(&poll_out, 1, 10000), 1);
	EXPECT_EQ(poll_out.revents, POLLOUT);
}

TEST(output_cannot_seek, "")
{
	EXPECT_ERRNO(lseek(1, 0, SEEK_SET), ESPIPE);
}

TEST(no_other_descriptors, "")
{
	for (int fd = 3; fd < 20; fd++)
		EXPECT_ERRNO(fcntl(fd, F_GETFD), EBADF);
}

TEST(no_terminal_controls, "")
{
	EXPECT_ERRNO(open("/dev/tty", O_RDWR), ENXIO);
}

TEST(environment, "")
{
	EXPECT(getenv("HOME") && strcmp(getenv("HOME"), "/root") == 0);
	EXPECT(getenv("PATH") && strstr(getenv("PATH"), "/usr/bin"));
	EXPECT(getenv("TERM"));
}

TEST(nothing_pending, "")
{
	sigset_t set;

	EXPECT_EQ(sigprocmask(SIG_BLOCK, NULL, &set), 0);
	for (int signal = 1; signal < 32; signal++)
		EXPECT_EQ(sigismember(&set, signal), 0);
	EXPECT_EQ(sigpending(&set), 0);
	EXPECT_EQ(sigismember(&set, SIGCHLD), 0);
}
