/* SPDX-License-Identifier: BSD-2-Clause */
/* Making tasks: clone, clone3, vfork, what is shared and what is copied, thread ids. */
#include "check.h"
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static long raw_clone(unsigned long flags)
{
	return syscall(SYS_clone, flags, 0, 0, 0, 0);
}

static int wait_status(pid_t pid)
{
	int status = -1;

	EXPECT_EQ(waitpid(pid, &status, __WALL), pid);
	return status;
}

TEST(bad_flags, "")
{
	struct clone_args args = {.flags = CLONE_THREAD};

	EXPECT_ERRNO(raw_clone(CLONE_THREAD), EINVAL);
	EXPECT_ERRNO(raw_clone(CLONE_SIGHAND), EINVAL);
	EXPECT_ERRNO(raw_clone(CLONE_PIDFD | CLONE_PARENT_SETTID | SIGCHLD), EINVAL);
	EXPECT_ERRNO(syscall(SYS_clone3, &args, sizeof(args)), EINVAL);
	EXPECT_ERRNO(syscall(SYS_clone3, &args, 8), EINVAL);
	args.flags = 0;
	args.exit_signal = 200;
	EXPECT_ERRNO(syscall(SYS_clone3, &args, sizeof(args)), EINVAL);
	args.exit_signal = SIGCHLD;
	args.stack = 4096;
	EXPECT_ERRNO(syscall(SYS_clone3, &args, sizeof(args)), EINVAL);
	EXPECT_ERRNO(syscall(SYS_clone3, 8, sizeof(args)), EFAULT);
	EXPECT_ERRNO(syscall(SYS_clone3, &args, 5000), E2BIG);
	args = (struct clone_args){.flags = CLONE_SIGHAND | CLONE_VM | CLONE_CLEAR_SIGHAND};
	EXPECT_ERRNO(syscall(SYS_clone3, &args, sizeof(args)), EINVAL);
}

TEST(fork_copies_memory, "")
{
	static volatile int value = 1;
	pid_t pid = fork();

	if (pid == 0) {
		int ok = value == 1;

		value = 2;
		_exit(ok ? 0 : 1);
	}
	EXPECT_EQ(wait_status(pid), 0);
	EXPECT_EQ(value, 1);
}

TEST(parent_and_child_ids, "")
{
	int parent_tid = 0, *child_tid;
	pid_t me = getpid();

	child_tid = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long pid = syscall(SYS_clone, CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | SIGCHLD, 0,
			   &parent_tid, 0, child_tid);
	if (pid == 0)
		_exit(getppid() != me || getpid() != syscall(SYS_gettid) || *child_tid != getpid());
	EXPECT_EQ(parent_tid, pid);
	EXPECT_EQ(wait_status((pid_t)pid), 0);
	EXPECT_EQ(*child_tid, pid);
}

static void nothing(int sig)
{
	(void)sig;
}

TEST(clone3_pidfd_and_clear_sighand, "")
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
		.pidfd = (unsigned long)&pidfd,
		.exit_signal = SIGCHLD,
	};
	siginfo_t info;

	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, nothing);
	long pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0) {
		struct sigaction a, b;

		sigaction(SIGUSR1, NULL, &a);
		sigaction(SIGUSR2, NULL, &b);
		_exit(a.sa_handler != SIG_IGN || b.sa_handler != SIG_DFL);
	}
	EXPECT(pid > 0);
	EXPECT(pidfd >= 0);
	EXPECT_EQ(waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED), 0);
	EXPECT_EQ(info.si_status, 0);
}

TEST(vfork_suspends_the_parent, "")
{
	static volatile int step;
	pid_t pid = vfork();

	if (pid == 0) {
		step = 1; /* the same memory */
		usleep(10000);
		step = 2;
		_exit(6);
	}
	EXPECT_EQ(step, 2);
	EXPECT_EQ(WEXITSTATUS(wait_status(pid)), 6);
}

TEST(vfork_exec, "")
{
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "exit 8", NULL);
		_exit(1);
	}
	EXPECT_EQ(WEXITSTATUS(wait_status(pid)), 8);
}

static int files_child(void *arg)
{
	close(*(int *)arg);
	chdir("/usr");
	return 0;
}

TEST(shared_files_and_cwd, "")
{
	static char stack[65536];
	char cwd[64];
	int fd = open("/dev/null", O_RDONLY);

	EXPECT_EQ(chdir("/"), 0);
	int pid = clone(files_child, stack + sizeof(stack), CLONE_FILES | CLONE_FS | SIGCHLD, &fd);
	EXPECT(pid > 0);
	EXPECT_EQ(wait_status(pid), 0);
	EXPECT_ERRNO(fcntl(fd, F_GETFD), EBADF);
	EXPECT(getcwd(cwd, sizeof(cwd)) && strcmp(cwd, "/usr") == 0);
	fd = open("/dev/null", O_RDONLY);
	pid = clone(files_child, stack + sizeof(stack), SIGCHLD, &fd);
	EXPECT_EQ(chdir("/"), 0);
	EXPECT_EQ(wait_status(pid), 0);
	EXPECT_EQ(fcntl(fd, F_GETFD), 0);
	EXPECT(getcwd(cwd, sizeof(cwd)) && strcmp(cwd, "/") == 0);
}

TEST(other_exit_signal, "")
{
	static char stack[65536];
	int status, fd = -1;
	int pid = clone(files_child, stack + sizeof(stack), 0, &fd);

	EXPECT_ERRNO(waitpid(pid, &status, 0), ECHILD);
	EXPECT_EQ(waitpid(pid, &status, __WCLONE), pid);
	chdir("/");
}

static pid_t seen_pid, seen_tid;
static __thread int own = 5;

static void *look(void *arg)
{
	seen_pid = getpid();
	seen_tid = (pid_t)syscall(SYS_gettid);
	own = 6;
	return arg;
}

TEST(threads, "")
{
	pthread_t t;

	EXPECT_EQ(pthread_create(&t, NULL, look, NULL), 0);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(seen_pid, getpid());
	EXPECT(seen_tid != getpid());
	EXPECT_EQ(own, 5);
}

static void *add_many(void *arg)
{
	for (int i = 0; i < 10000; i++)
		__atomic_fetch_add((long *)arg, 1, __ATOMIC_RELAXED);
	return NULL;
}

TEST(many_threads, "")
{
	static pthread_t t[64];
	long sum = 0;

	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 64; i++)
			EXPECT_EQ(pthread_create(&t[i], NULL, add_many, &sum), 0);
		for (int i = 0; i < 64; i++)
			EXPECT_EQ(pthread_join(t[i], NULL), 0);
	}
	EXPECT_EQ(sum, 4L * 64 * 10000);
}

TEST(names, "")
{
	char name[16];

	EXPECT_EQ(prctl(PR_SET_NAME, "a name longer than fifteen", 0, 0, 0), 0);
	EXPECT_EQ(prctl(PR_GET_NAME, name, 0, 0, 0), 0);
	EXPECT(strcmp(name, "a name longer t") == 0);
	EXPECT_ERRNO(prctl(PR_SET_NAME, 8, 0, 0, 0), EFAULT);
	EXPECT_ERRNO(prctl(99999, 0, 0, 0, 0), EINVAL);
}

TEST(ids_go_up, "")
{
	pid_t a = fork();

	if (a == 0)
		_exit(0);
	pid_t b = fork();
	if (b == 0)
		_exit(0);
	EXPECT(b > a);
	EXPECT_EQ(wait_status(a), 0);
	EXPECT_EQ(wait_status(b), 0);
	pid_t c = fork();
	if (c == 0)
		_exit(0);
	EXPECT(c > b); /* not used again at once */
	EXPECT_EQ(wait_status(c), 0);
}
