/* SPDX-License-Identifier: BSD-2-Clause */
/* Process groups, sessions, orphaned groups. Terminals have tests of their own. */
#include "check.h"

static int wait_status(pid_t pid, int options)
{
	int status = -1;

	EXPECT_EQ(waitpid(pid, &status, options), pid);
	return status;
}

TEST(groups, "")
{
	pid_t me = getpid(), pid;

	EXPECT_EQ(getpgid(0), me); /* the harness put us into a group */
	EXPECT_EQ(getpgrp(), me);
	EXPECT_EQ(setpgid(0, 0), 0);
	pid = fork();
	if (pid == 0) {
		if (getpgrp() != me)
			_exit(1);
		if (setpgid(0, 0) || getpgrp() != getpid())
			_exit(2);
		if (setpgid(0, me) || getpgrp() != me) /* and back */
			_exit(3);
		_exit(0);
	}
	EXPECT_EQ(wait_status(pid, 0), 0);
	EXPECT_ERRNO(getpgid(30000), ESRCH);
	EXPECT_ERRNO(setpgid(30000, 0), ESRCH);
	EXPECT_ERRNO(setpgid(0, -5), EINVAL);
	EXPECT_ERRNO(setpgid(0, 30000), EPERM);
	EXPECT_ERRNO(setpgid(1, 0), ESRCH); /* no child of ours */
}

TEST(setpgid_after_exec, "")
{
	int fd[2];
	char c;

	EXPECT_EQ(pipe(fd), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(fd[1], 1);
		execl("/bin/sh", "sh", "-c", "echo x; sleep 5", NULL);
	}
	EXPECT_EQ(read(fd[0], &c, 1), 1);
	EXPECT_ERRNO(setpgid(pid, pid), EACCES);
	kill(pid, SIGKILL);
}

TEST(sessions, "")
{
	EXPECT_ERRNO(setsid(), EPERM); /* we lead a group */
	pid_t pid = fork();
	if (pid == 0) {
		pid_t me = getpid();

		if (setsid() != me || getsid(0) != me || getpgrp() != me)
			_exit(1);
		if (setsid() != -1 || errno != EPERM)
			_exit(2);
		if (setpgid(0, 0) != -1 || errno != EPERM) /* a session's leader stays */
			_exit(3);
		_exit(0);
	}
	EXPECT_EQ(wait_status(pid, 0), 0);
	EXPECT_ERRNO(getsid(30000), ESRCH);
}

TEST(group_in_another_session, "")
{
	int fd[2];
	char c;

	EXPECT_EQ(pipe(fd), 0);
	pid_t pid = fork();
	if (pid == 0) {
		setsid();
		_exit(write(fd[1], "x", 1) != 1 || pause());
	}
	EXPECT_EQ(read(fd[0], &c, 1), 1);
	EXPECT_ERRNO(setpgid(pid, getpgrp()), EPERM);
	EXPECT_ERRNO(setpgid(0, pid), EPERM);
	kill(pid, SIGKILL);
}

TEST(kill_a_group, "")
{
	pid_t a = fork();
	if (a == 0) {
		setpgid(0, 0);
		for (;;)
			pause();
	}
	setpgid(a, a);
	pid_t b = fork();
	if (b == 0) {
		setpgid(0, a);
		for (;;)
			pause();
	}
	setpgid(b, a);
	EXPECT_EQ(kill(-a, SIGTERM), 0);
	EXPECT_EQ(wait_status(a, 0), SIGTERM);
	EXPECT_EQ(wait_status(b, 0), SIGTERM);
	EXPECT_ERRNO(kill(-a, 0), ESRCH);
}

static volatile sig_atomic_t hup, cont;

static void on_hup(int sig)
{
	if (sig == SIGHUP)
		hup++;
	else
		cont++;
}

TEST(orphaned_stopped_group_gets_hup_and_cont, "")
{
	int fd[2];
	char c;
	pid_t child;

	EXPECT_EQ(pipe(fd), 0);
	child = fork();
	if (child == 0) {
		pid_t grandchild = fork();

		if (grandchild == 0) {
			setpgid(0, 0);
			signal(SIGHUP, on_hup);
			signal(SIGCONT, on_hup);
			raise(SIGSTOP);
			/* The parent has ended; somebody has sent both. */
			c = hup == 1 && cont == 1 ? 'y' : 'n';
			_exit(write(fd[1], &c, 1) != 1);
		}
		waitpid(grandchild, NULL, WUNTRACED);
		_exit(0);
	}
	EXPECT_EQ(wait_status(child, 0), 0);
	EXPECT_EQ(read(fd[0], &c, 1), 1);
	EXPECT_EQ(c, 'y');
}

TEST(orphaned_group_does_not_stop_itself, "")
{
	int fd[2];
	char c;

	EXPECT_EQ(pipe(fd), 0);
	pid_t child = fork();
	if (child == 0) {
		if (fork() == 0) {
			setsid(); /* alone in its session: orphaned */
			raise(SIGTSTP);
			raise(SIGTTIN);
			_exit(write(fd[1], "g", 1) != 1);
		}
		_exit(0);
	}
	EXPECT_EQ(wait_status(child, 0), 0);
	EXPECT_EQ(read(fd[0], &c, 1), 1);
	EXPECT_EQ(c, 'g');
}
