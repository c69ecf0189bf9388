/* SPDX-License-Identifier: BSD-2-Clause */
/* Children: exit, wait4, waitid, stopping and continuing, orphans, usage. */
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

static pid_t child_that_exits(int code)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(code);
	return pid;
}

static pid_t child_that_waits(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	return pid;
}

TEST(exit_status, "")
{
	pid_t pid = child_that_exits(0x1ab);
	int status;

	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFEXITED(status));
	EXPECT_EQ(WEXITSTATUS(status), 0xab);
	EXPECT_ERRNO(waitpid(pid, &status, 0), ECHILD);
	EXPECT_ERRNO(waitpid(-1, &status, 0), ECHILD);
}

TEST(wait_arguments, "")
{
	pid_t pid = child_that_waits();
	siginfo_t info;
	int status;

	EXPECT_EQ(waitpid(pid, &status, WNOHANG), 0);
	EXPECT_ERRNO(waitpid(pid, &status, 0x4000), EINVAL);
	EXPECT_ERRNO(waitpid(1, &status, 0), ECHILD);
	EXPECT_ERRNO(waitpid(-29999, &status, 0), ECHILD);
	EXPECT_ERRNO(waitid(P_PID, (id_t)pid, &info, 0), EINVAL);
	EXPECT_ERRNO(waitid(9, 0, &info, WEXITED), EINVAL);
	info.si_pid = 99;
	info.si_signo = 99;
	EXPECT_EQ(waitid(P_ALL, 0, &info, WEXITED | WNOHANG), 0);
	EXPECT_EQ(info.si_pid, 0);
	EXPECT_EQ(info.si_signo, 0);
	kill(pid, SIGKILL);
	EXPECT_EQ(waitpid(0, &status, 0), pid); /* in the caller's group */
	EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST(order_and_choice, "")
{
	pid_t a = child_that_exits(1), b = child_that_exits(2), c = child_that_waits();
	int status;

	EXPECT_EQ(waitpid(b, &status, 0), b);
	EXPECT_EQ(WEXITSTATUS(status), 2);
	EXPECT_EQ(waitpid(-1, &status, 0), a);
	EXPECT_EQ(waitpid(-1, &status, WNOHANG), 0);
	kill(c, SIGTERM);
	EXPECT_EQ(wait(&status), c);
	EXPECT_EQ(status, SIGTERM);
}

TEST(waitid_exited, "")
{
	pid_t pid = child_that_exits(7);
	siginfo_t info;

	EXPECT_EQ(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	EXPECT_EQ(info.si_signo, SIGCHLD);
	EXPECT_EQ(info.si_code, CLD_EXITED);
	EXPECT_EQ(info.si_status, 7);
	EXPECT_EQ(info.si_pid, pid);
	memset(&info, 0, sizeof(info));
	EXPECT_EQ(waitid(P_PID, (id_t)pid, &info, WEXITED), 0);
	EXPECT_EQ(info.si_status, 7);
	EXPECT_ERRNO(waitid(P_PID, (id_t)pid, &info, WEXITED), ECHILD);
}

TEST(stop_and_continue, "")
{
	pid_t pid = child_that_waits();
	siginfo_t info;
	int status;

	usleep(1000);
	kill(pid, SIGSTOP);
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
	EXPECT(WIFSTOPPED(status));
	EXPECT_EQ(WSTOPSIG(status), SIGSTOP);
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED | WNOHANG), 0); /* told once */
	kill(pid, SIGTERM);					  /* waits until it goes on */
	usleep(5000);
	EXPECT_EQ(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGCONT);
	EXPECT_EQ(waitid(P_PID, (id_t)pid, &info, WEXITED), 0);
	EXPECT_EQ(info.si_code, CLD_KILLED);
	EXPECT_EQ(info.si_status, SIGTERM);
}

TEST(continued, "")
{
	pid_t pid = child_that_waits();
	siginfo_t info;
	int status;

	usleep(1000);
	kill(pid, SIGTSTP);
	EXPECT_EQ(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
	EXPECT_EQ(info.si_code, CLD_STOPPED);
	EXPECT_EQ(info.si_status, SIGTSTP);
	kill(pid, SIGCONT);
	EXPECT_EQ(waitid(P_PID, (id_t)pid, &info, WCONTINUED), 0);
	EXPECT_EQ(info.si_code, CLD_CONTINUED);
	EXPECT_EQ(info.si_status, SIGCONT);
	EXPECT_EQ(waitpid(pid, &status, WCONTINUED | WNOHANG), 0);
	kill(pid, SIGKILL);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
}

TEST(kill_ends_a_stopped_one, "")
{
	pid_t pid = child_that_waits();
	int status;

	usleep(1000);
	kill(pid, SIGSTOP);
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
	kill(pid, SIGKILL);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, SIGKILL);
}

static volatile sig_atomic_t chld_count, chld_code, chld_status, chld_pid;

static void on_chld(int sig, siginfo_t *info, void *uc)
{
	(void)sig;
	(void)uc;
	chld_count++;
	chld_code = info->si_code;
	chld_status = info->si_status;
	chld_pid = info->si_pid;
}

static void catch_chld(int flags)
{
	struct sigaction sa = {.sa_sigaction = on_chld, .sa_flags = SA_SIGINFO | flags};

	sigaction(SIGCHLD, &sa, NULL);
}

TEST(sigchld_info, "")
{
	pid_t pid;
	int status;

	catch_chld(SA_RESTART);
	pid = child_that_exits(3);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(chld_count, 1);
	EXPECT_EQ(chld_code, CLD_EXITED);
	EXPECT_EQ(chld_status, 3);
	EXPECT_EQ(chld_pid, pid);
	pid = child_that_waits();
	usleep(1000);
	kill(pid, SIGSTOP);
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
	EXPECT_EQ(chld_code, CLD_STOPPED);
	EXPECT_EQ(chld_status, SIGSTOP);
	kill(pid, SIGCONT);
	usleep(1000);
	EXPECT_EQ(chld_code, CLD_CONTINUED);
	kill(pid, SIGABRT);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(chld_code == CLD_KILLED || chld_code == CLD_DUMPED);
	EXPECT_EQ(chld_status, SIGABRT);
}

TEST(nocldstop, "")
{
	pid_t pid;
	int status;

	catch_chld(SA_RESTART | SA_NOCLDSTOP);
	pid = child_that_waits();
	usleep(1000);
	kill(pid, SIGSTOP);
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
	kill(pid, SIGCONT);
	usleep(1000);
	EXPECT_EQ(chld_count, 0);
	kill(pid, SIGKILL);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(chld_count, 1);
}

TEST(ignored_sigchld_leaves_no_zombie, "")
{
	pid_t pid;
	int status;

	signal(SIGCHLD, SIG_IGN);
	pid = child_that_exits(0);
	EXPECT_ERRNO(waitpid(pid, &status, 0), ECHILD); /* after it has ended */
	EXPECT_ERRNO(kill(pid, 0), ESRCH);
	catch_chld(SA_NOCLDWAIT | SA_RESTART);
	pid = child_that_exits(0);
	EXPECT_ERRNO(waitpid(-1, &status, 0), ECHILD);
	EXPECT_EQ(chld_count, 1);
}

TEST(zombie_can_be_signalled, "")
{
	pid_t pid = child_that_exits(0);
	siginfo_t info;
	int status;

	EXPECT_EQ(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	EXPECT_ERRNO(kill(pid, 0), ESRCH);
}

TEST(wait_by_group, "")
{
	pid_t a = child_that_waits(), b = child_that_waits();
	int status;

	EXPECT_EQ(setpgid(a, a), 0);
	kill(b, SIGKILL);
	kill(-a, SIGTERM);
	EXPECT_EQ(waitpid(-a, &status, 0), a);
	EXPECT_EQ(waitpid(0, &status, 0), b);
}

TEST(orphan_goes_to_subreaper, "")
{
	pid_t child, grandchild;
	int fd[2], status;

	EXPECT_EQ(pipe(fd), 0);
	EXPECT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	child = fork();
	if (child == 0) {
		grandchild = fork();
		if (grandchild == 0) {
			usleep(20000);
			_exit(getppid() == 1 ? 9 : 5);
		}
		_exit(write(fd[1], &grandchild, sizeof(grandchild)) != sizeof(grandchild));
	}
	EXPECT_EQ(read(fd[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
	EXPECT_EQ(waitpid(child, &status, 0), child);
	EXPECT_EQ(waitpid(grandchild, &status, 0), grandchild);
	EXPECT_EQ(WEXITSTATUS(status), 5);
}

TEST(parent_death_signal, "")
{
	int fd[2], status;
	char c;

	EXPECT_EQ(pipe(fd), 0);
	pid_t child = fork();
	if (child == 0) {
		pid_t grandchild = fork();

		if (grandchild == 0) {
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			if (write(fd[1], "r", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
		close(fd[1]);
		_exit(read(fd[0], &c, 1) != 1);
	}
	close(fd[1]);
	EXPECT_EQ(waitpid(child, &status, 0), child);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(read(fd[0], &c, 1), 0); /* the last writer is gone */
}

static void *exit_group_from_thread(void *arg)
{
	(void)arg;
	_exit(44);
}

static void *sleep_long(void *arg)
{
	sleep(100);
	return arg;
}

TEST(exit_group_ends_all_threads, "")
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		pthread_t t;

		for (int i = 0; i < 4; i++)
			pthread_create(&t, NULL, sleep_long, NULL);
		pthread_create(&t, NULL, exit_group_from_thread, NULL);
		for (;;)
			pause();
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(WEXITSTATUS(status), 44);
}

static void *sleep_and_exit_7(void *arg)
{
	(void)arg;
	usleep(20000);
	syscall(SYS_exit, 7); /* this thread only, the last one */
	return NULL;
}

TEST(leader_exits_first, "")
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		pthread_t t;

		pthread_create(&t, NULL, sleep_and_exit_7, NULL);
		syscall(SYS_exit, 3);
	}
	usleep(5000);
	EXPECT_EQ(waitpid(pid, &status, WNOHANG), 0);
	EXPECT_EQ(kill(pid, 0), 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(WEXITSTATUS(status), 7); /* the last one's */
}

static void *exec_from_thread(void *arg)
{
	execl("/bin/sh", "sh", "-c", "exit $(( $$ % 200 ))", NULL);
	return arg;
}

TEST(exec_in_a_thread_keeps_the_pid, "")
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		pthread_t t;

		pthread_create(&t, NULL, sleep_long, NULL);
		pthread_create(&t, NULL, exec_from_thread, NULL);
		for (;;)
			pause();
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFEXITED(status));
	EXPECT_EQ(WEXITSTATUS(status), pid % 200);
}

TEST(usage_of_children, "")
{
	struct rusage before, after, own;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		for (volatile long i = 0; i < 3000000; i++)
			;
		_exit(0);
	}
	getrusage(RUSAGE_CHILDREN, &before);
	EXPECT_EQ(wait4(pid, &status, 0, &own), pid);
	getrusage(RUSAGE_CHILDREN, &after);
	long us = (after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1000000 +
		  after.ru_utime.tv_usec - before.ru_utime.tv_usec;
	EXPECT(us >= 3000);
	EXPECT(own.ru_utime.tv_usec + own.ru_utime.tv_sec * 1000000 >= 3000);
	EXPECT(own.ru_minflt > 0);
	EXPECT(own.ru_maxrss > 0);
	EXPECT(after.ru_maxrss > 0);
}

TEST(pidfd, "")
{
	pid_t pid = child_that_waits();
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	siginfo_t info;

	EXPECT(fd >= 0);
	EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	EXPECT_EQ(poll(&p, 1, 0), 0);
	EXPECT_EQ(syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0), 0);
	EXPECT_EQ(poll(&p, 1, 1000), 1);
	EXPECT_EQ(p.revents, POLLIN);
	EXPECT_EQ(waitid(P_PIDFD, (id_t)fd, &info, WEXITED), 0);
	EXPECT_EQ(info.si_pid, pid);
	EXPECT_EQ(info.si_status, SIGTERM);
	EXPECT_ERRNO(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0), ESRCH);
	EXPECT_ERRNO(syscall(SYS_pidfd_open, pid, 0), ESRCH);
	EXPECT_ERRNO(syscall(SYS_pidfd_open, -1, 0), EINVAL);
	EXPECT_ERRNO(syscall(SYS_pidfd_open, getpid(), 1), EINVAL);
}

TEST(many_children, "")
{
	int status, sum = 0;

	for (int i = 0; i < 200; i++) {
		if (child_that_exits(i % 7) < 0)
			FAIL("fork %d: %s", i, strerror(errno));
	}
	for (int i = 0; i < 200; i++) {
		EXPECT(wait(&status) > 0);
		sum += WEXITSTATUS(status);
	}
	EXPECT_EQ(sum, 28 * 21 + 0 + 1 + 2 + 3);
	EXPECT_ERRNO(wait(&status), ECHILD);
}
