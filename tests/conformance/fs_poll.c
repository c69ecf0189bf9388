/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting for several files: poll, select, epoll. And file locks, which are waited for as well. */
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>

static volatile sig_atomic_t got;

static void on_signal(int sig)
{
	got = sig;
}

static long ms_since(const struct timespec *t)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - t->tv_sec) * 1000 + (now.tv_nsec - t->tv_nsec) / 1000000;
}

/* A child that does something after so many milliseconds. */
static bool later(int ms)
{
	if (fork())
		return false;
	usleep((useconds_t)ms * 1000);
	return true;
}

TEST(poll_basics, "poll(2)")
{
	struct timespec t;
	struct pollfd p[3];
	int a[2], b[2];

	EXPECT(pipe(a) == 0 && pipe(b) == 0);
	p[0] = (struct pollfd){a[0], POLLIN, -1};
	p[1] = (struct pollfd){-1, POLLIN, -1};
	p[2] = (struct pollfd){b[0], POLLIN, -1};
	EXPECT_EQ(poll(p, 3, 0), 0);
	EXPECT(p[0].revents == 0 && p[1].revents == 0);
	clock_gettime(CLOCK_MONOTONIC, &t);
	EXPECT_EQ(poll(p, 3, 50), 0);
	EXPECT(ms_since(&t) >= 50);
	if (later(20))
		_exit(write(b[1], "x", 1) != 1);
	EXPECT_EQ(poll(p, 3, 10000), 1);
	EXPECT(p[2].revents == POLLIN && p[0].revents == 0);
	p[1].fd = 77;
	EXPECT_EQ(poll(p, 3, 0), 2);
	EXPECT_EQ(p[1].revents, POLLNVAL);
	EXPECT_ERRNO(syscall(SYS_ppoll, 16, 1, &(struct timespec){0, 0}, NULL, 0), EFAULT);
	p[0] = (struct pollfd){open("/etc/passwd", O_RDONLY), POLLIN | POLLOUT, 0};
	EXPECT(poll(p, 1, 0) == 1 && p[0].revents == (POLLIN | POLLOUT));
}

TEST(ppoll_mask, "ppoll(2)")
{
	struct sigaction sa = {.sa_handler = on_signal};
	struct timespec ts = {10, 0};
	sigset_t block, none, now;
	int a[2];

	EXPECT(pipe(a) == 0);
	sigaction(SIGUSR1, &sa, NULL);
	sigemptyset(&none);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, NULL);
	kill(getpid(), SIGUSR1);
	EXPECT_EQ(got, 0);
	EXPECT_ERRNO(ppoll(&(struct pollfd){a[0], POLLIN, 0}, 1, &ts, &none), EINTR);
	EXPECT_EQ(got, SIGUSR1);
	sigprocmask(SIG_SETMASK, NULL, &now);
	EXPECT(sigismember(&now, SIGUSR1));
}

TEST(select_basics, "select(2)")
{
	struct timeval tv = {0, 30000};
	fd_set r, w;
	int a[2];

	EXPECT(pipe(a) == 0);
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_SET(a[0], &r);
	FD_SET(a[1], &w);
	EXPECT_EQ(select(a[1] + 1, &r, &w, NULL, &tv), 1);
	EXPECT(!FD_ISSET(a[0], &r) && FD_ISSET(a[1], &w));
	FD_SET(a[0], &r);
	EXPECT_EQ(select(a[1] + 1, &r, NULL, NULL, &tv), 0);
	EXPECT(tv.tv_sec == 0 && tv.tv_usec == 0 && !FD_ISSET(a[0], &r));
	FD_SET(a[0], &r);
	close(a[1]);
	tv.tv_sec = 5;
	EXPECT_EQ(select(a[0] + 1, &r, NULL, NULL, &tv), 1);
	EXPECT(FD_ISSET(a[0], &r) && tv.tv_sec >= 4);
	FD_SET(a[1], &r);
	EXPECT_ERRNO(select(a[1] + 1, &r, NULL, NULL, &(struct timeval){0, 0}), EBADF);
}

TEST(epoll_level_and_edge, "epoll(7)")
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = 7}, out[4];
	int ep = epoll_create1(EPOLL_CLOEXEC), a[2];
	char c;

	EXPECT(ep >= 0 && pipe(a) == 0);
	EXPECT(epoll_ctl(ep, EPOLL_CTL_ADD, a[0], &e) == 0);
	EXPECT_ERRNO(epoll_ctl(ep, EPOLL_CTL_ADD, a[0], &e), EEXIST);
	EXPECT_ERRNO(epoll_ctl(ep, EPOLL_CTL_MOD, a[1], &e), ENOENT);
	EXPECT_ERRNO(epoll_ctl(ep, EPOLL_CTL_ADD, ep, &e), EINVAL);
	EXPECT_ERRNO(epoll_ctl(ep, EPOLL_CTL_ADD, 99, &e), EBADF);
	EXPECT_EQ(epoll_wait(ep, out, 4, 0), 0);
	EXPECT_EQ(write(a[1], "xy", 2), 2);
	EXPECT(epoll_wait(ep, out, 4, 0) == 1 && out[0].events == EPOLLIN && out[0].data.u64 == 7);
	EXPECT_EQ(epoll_wait(ep, out, 4, 0), 1);
	e.events = EPOLLIN | EPOLLET;
	EXPECT(epoll_ctl(ep, EPOLL_CTL_MOD, a[0], &e) == 0);
	EXPECT_EQ(epoll_wait(ep, out, 4, 0), 1);
	EXPECT_EQ(epoll_wait(ep, out, 4, 0), 0);
	EXPECT_EQ(read(a[0], &c, 1), 1);
	EXPECT_EQ(epoll_wait(ep, out, 4, 0), 0);
	EXPECT_EQ(write(a[1], "z", 1), 1);
	EXPECT_EQ(epoll_wait(ep, out, 4, 0), 1);
	e.events = EPOLLIN | EPOLLONESHOT;
	EXPECT(epoll_ctl(ep, EPOLL_CTL_MOD, a[0], &e) == 0);
	EXPECT_EQ(epoll_wait(ep, out, 4, 0), 1);
	EXPECT_EQ(write(a[1], "z", 1), 1);
	EXPECT_EQ(epoll_wait(ep, out, 4, 0), 0);
	EXPECT(epoll_ctl(ep, EPOLL_CTL_MOD, a[0], &e) == 0 && epoll_wait(ep, out, 4, 0) == 1);
	EXPECT(epoll_ctl(ep, EPOLL_CTL_DEL, a[0], NULL) == 0);
	EXPECT_ERRNO(epoll_ctl(ep, EPOLL_CTL_DEL, a[0], NULL), ENOENT);
	EXPECT_ERRNO(epoll_ctl(ep, EPOLL_CTL_ADD, open("/etc/passwd", O_RDONLY), &e), EPERM);
	EXPECT_ERRNO(epoll_wait(ep, out, 0, 0), EINVAL);
}

TEST(epoll_waits_and_forgets, "epoll(7)")
{
	struct epoll_event e = {.events = EPOLLIN}, out[4];
	struct timespec t;
	int ep = epoll_create1(0), a[2], d;

	EXPECT(pipe(a) == 0);
	EXPECT(epoll_ctl(ep, EPOLL_CTL_ADD, a[0], &e) == 0);
	clock_gettime(CLOCK_MONOTONIC, &t);
	EXPECT_EQ(epoll_wait(ep, out, 4, 30), 0);
	EXPECT(ms_since(&t) >= 30);
	if (later(20))
		_exit(write(a[1], "x", 1) != 1);
	EXPECT_EQ(epoll_wait(ep, out, 4, -1), 1);
	EXPECT(wait(NULL) > 0); /* it has the pipe open as well */
	/* it is watched until the open file ends, not the descriptor */
	d = dup(a[0]);
	close(a[0]);
	EXPECT_EQ(epoll_wait(ep, out, 4, 0), 1);
	close(d);
	EXPECT_EQ(epoll_wait(ep, out, 4, 0), 0);
}

TEST(epoll_in_epoll, "epoll(7)")
{
	struct epoll_event e = {.events = EPOLLIN}, out[4];
	int in = epoll_create1(0), outer = epoll_create1(0), ev = eventfd(0, 0);
	uint64_t one = 1;

	EXPECT(epoll_ctl(in, EPOLL_CTL_ADD, ev, &e) == 0);
	EXPECT(epoll_ctl(outer, EPOLL_CTL_ADD, in, &e) == 0);
	EXPECT_ERRNO(epoll_ctl(in, EPOLL_CTL_ADD, outer, &e), ELOOP);
	EXPECT_EQ(epoll_wait(outer, out, 4, 0), 0);
	if (later(20))
		_exit(write(ev, &one, 8) != 8);
	EXPECT_EQ(epoll_wait(outer, out, 4, 5000), 1);
	EXPECT_EQ(poll(&(struct pollfd){outer, POLLIN, 0}, 1, 0), 1);
	EXPECT_EQ(read(ev, &one, 8), 8);
	EXPECT_EQ(epoll_wait(outer, out, 4, 0), 0);
}

static int temp_file(char *name)
{
	strcpy(name, "/tmp/lockXXXXXX");
	return mkstemp(name);
}

static int lock(int fd, int cmd, short type, off_t start, off_t len)
{
	struct flock fl = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};

	return fcntl(fd, cmd, &fl);
}

/* What a child that tries the lock gets: 0 or its errno. */
static int child_tries(int fd, int cmd, short type, off_t start, off_t len)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(lock(fd, cmd, type, start, len) ? errno : 0);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

TEST(posix_locks, "fcntl(2)")
{
	struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
	char name[32];
	int fd = temp_file(name), status, p[2];
	pid_t pid;

	EXPECT(lock(fd, F_SETLK, F_WRLCK, 10, 20) == 0);
	EXPECT_EQ(child_tries(fd, F_SETLK, F_RDLCK, 29, 1), EAGAIN);
	EXPECT_EQ(child_tries(fd, F_SETLK, F_RDLCK, 30, 1), 0);
	EXPECT(lock(fd, F_SETLK, F_UNLCK, 15, 5) == 0); /* splits */
	EXPECT_EQ(child_tries(fd, F_SETLK, F_WRLCK, 15, 5), 0);
	EXPECT_EQ(child_tries(fd, F_SETLK, F_WRLCK, 14, 2), EAGAIN);
	EXPECT(lock(fd, F_SETLK, F_RDLCK, 0, 100) == 0);
	EXPECT_EQ(child_tries(fd, F_SETLK, F_RDLCK, 0, 100), 0);
	EXPECT_EQ(child_tries(fd, F_SETLK, F_WRLCK, 99, 1), EAGAIN);
	if (!(pid = fork()))
		_exit(fcntl(fd, F_GETLK, &fl) || fl.l_type != F_RDLCK || fl.l_pid != getppid() ||
		      fl.l_start != 0 || fl.l_len != 100);
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	/* any close of the file gives the process's locks up */
	close(open(name, O_RDWR));
	EXPECT_EQ(child_tries(fd, F_SETLK, F_WRLCK, 0, 0), 0);
	/* waiting, and the end of the holder */
	EXPECT(pipe(p) == 0);
	if (!(pid = fork())) {
		if (lock(fd, F_SETLK, F_WRLCK, 0, 0) || write(p[1], "x", 1) != 1)
			_exit(1);
		usleep(30000);
		_exit(0);
	}
	EXPECT_EQ(read(p[0], name, 1), 1);
	EXPECT_ERRNO(lock(fd, F_SETLK, F_WRLCK, 0, 1), EAGAIN);
	EXPECT(lock(fd, F_SETLKW, F_WRLCK, 0, 1) == 0);
}

TEST(lock_circle, "fcntl(2) EDEADLK")
{
	char name[32], c;
	int fd = temp_file(name), p[2], status;
	pid_t pid;

	EXPECT(pipe(p) == 0);
	EXPECT(lock(fd, F_SETLK, F_WRLCK, 0, 1) == 0);
	if (!(pid = fork())) {
		if (lock(fd, F_SETLK, F_WRLCK, 1, 1) || write(p[1], "x", 1) != 1)
			_exit(1);
		_exit(lock(fd, F_SETLKW, F_WRLCK, 0, 1) != 0);
	}
	EXPECT_EQ(read(p[0], &c, 1), 1);
	usleep(30000);
	EXPECT_ERRNO(lock(fd, F_SETLKW, F_WRLCK, 1, 1), EDEADLK);
	EXPECT(lock(fd, F_SETLK, F_UNLCK, 0, 1) == 0);
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
}

TEST(ofd_locks_and_flock, "fcntl(2) flock(2)")
{
	char name[32];
	int fd = temp_file(name), other = open(name, O_RDWR);

	EXPECT(lock(fd, F_OFD_SETLK, F_WRLCK, 0, 10) == 0);
	EXPECT_ERRNO(lock(other, F_OFD_SETLK, F_WRLCK, 5, 1), EAGAIN);
	EXPECT_ERRNO(lock(other, F_SETLK, F_WRLCK, 5, 1), EAGAIN);
	EXPECT_EQ(child_tries(fd, F_OFD_SETLK, F_WRLCK, 0, 20), 0); /* the same open file */
	EXPECT(flock(fd, LOCK_EX) == 0);			    /* another world */
	EXPECT_ERRNO(flock(other, LOCK_SH | LOCK_NB), EWOULDBLOCK);
	EXPECT(flock(fd, LOCK_SH) == 0 && flock(other, LOCK_SH | LOCK_NB) == 0);
	EXPECT_ERRNO(flock(other, LOCK_EX | LOCK_NB), EWOULDBLOCK);
	close(fd);
	EXPECT(flock(other, LOCK_EX | LOCK_NB) == 0);
	EXPECT(lock(other, F_OFD_SETLK, F_WRLCK, 0, 0) == 0);
	EXPECT_ERRNO(flock(other, 77), EINVAL);
}
