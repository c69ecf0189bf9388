/* SPDX-License-Identifier: BSD-2-Clause */
/* Pipes, FIFOs, eventfd and AF_UNIX sockets: blocking, atomicity, ends that close, signals. */
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

static volatile sig_atomic_t got;

static void on_signal(int sig)
{
	got = sig;
}

static short poll1(int fd, short events)
{
	struct pollfd p = {fd, events, 0};

	return poll(&p, 1, 0) >= 0 ? p.revents : -1;
}

TEST(pipe_capacity, "pipe(7)")
{
	char buf[4096] = {0};
	int p[2], n = 0;

	EXPECT(pipe2(p, O_NONBLOCK) == 0);
	EXPECT_EQ(fcntl(p[0], F_GETPIPE_SZ), 65536);
	EXPECT_ERRNO(read(p[0], buf, 1), EAGAIN);
	while (write(p[1], buf, sizeof(buf)) == sizeof(buf))
		n++;
	EXPECT_ERRNO(write(p[1], buf, sizeof(buf)), EAGAIN);
	EXPECT_EQ(n, 16);
	EXPECT_EQ(poll1(p[1], POLLOUT), 0);
	EXPECT_EQ(ioctl(p[0], FIONREAD, &n), 0);
	EXPECT_EQ(n, 65536);
	EXPECT_EQ(read(p[0], buf, 4096), 4096);
	EXPECT_EQ(poll1(p[1], POLLOUT), POLLOUT);
	EXPECT_EQ(fcntl(p[0], F_SETPIPE_SZ, 131072), 131072);
	EXPECT_EQ(write(p[1], buf, 4096), 4096);
	EXPECT_ERRNO(fcntl(p[0], F_SETPIPE_SZ, 4096), EBUSY);
	EXPECT_ERRNO(lseek(p[0], 0, SEEK_CUR), ESPIPE);
	EXPECT_ERRNO(pread(p[0], buf, 1, 0), ESPIPE);
	EXPECT_ERRNO(write(p[0], buf, 1), EBADF);
	EXPECT_ERRNO(read(p[1], buf, 1), EBADF);
}

TEST(pipe_ends, "pipe(7)")
{
	struct sigaction sa = {.sa_handler = on_signal};
	char c;
	int p[2];

	EXPECT(pipe(p) == 0);
	EXPECT_EQ(write(p[1], "x", 1), 1);
	close(p[1]);
	EXPECT_EQ(poll1(p[0], POLLIN), POLLIN | POLLHUP);
	EXPECT_EQ(read(p[0], &c, 1), 1);
	EXPECT_EQ(read(p[0], &c, 1), 0);
	EXPECT_EQ(poll1(p[0], POLLIN), POLLHUP);
	close(p[0]);
	EXPECT(pipe(p) == 0);
	close(p[0]);
	sigaction(SIGPIPE, &sa, NULL);
	EXPECT_ERRNO(write(p[1], "x", 1), EPIPE);
	EXPECT_EQ(got, SIGPIPE);
	EXPECT_EQ(poll1(p[1], POLLOUT), POLLOUT | POLLERR);
}

TEST(order_and_content, "pipe(7)")
{
	unsigned char buf[10000];
	unsigned sum = 0, want = 0;
	ssize_t n;
	int p[2];

	EXPECT(pipe(p) == 0);
	if (fork() == 0) {
		unsigned v = 0;

		close(p[0]);
		for (int i = 0; i < 200; i++) {
			size_t len = (size_t)(i * 37 % 9001) + 1;

			for (size_t k = 0; k < len; k++)
				buf[k] = (unsigned char)(v++ * 7);
			if (write(p[1], buf, len) != (ssize_t)len)
				_exit(1);
		}
		_exit(0);
	}
	close(p[1]);
	while ((n = read(p[0], buf, 1 + sum % 5000)) > 0)
		for (ssize_t k = 0; k < n; k++) {
			if (buf[k] != (unsigned char)(want++ * 7))
				FAIL("byte %u is wrong", want - 1);
			sum++;
		}
	for (int i = 0, total = 0; i < 200; i++) {
		total += i * 37 % 9001 + 1;
		if (i == 199)
			EXPECT_EQ(sum, total);
	}
}

/* Writes of up to PIPE_BUF bytes do not mix, however many write at a time. */
TEST(small_writes_are_atomic, "pipe(7) PIPE_BUF")
{
	enum { WRITERS = 4, LINES = 300, LEN = 999 };
	char buf[LEN];
	int p[2], lines[WRITERS] = {0};

	EXPECT(pipe(p) == 0);
	for (int w = 0; w < WRITERS; w++)
		if (fork() == 0) {
			memset(buf, 'a' + w, LEN);
			for (int i = 0; i < LINES; i++) {
				struct iovec v[2] = {{buf, 500}, {buf + 500, LEN - 500}};

				if ((i & 1 ? write(p[1], buf, LEN) : writev(p[1], v, 2)) != LEN)
					_exit(1);
			}
			_exit(0);
		}
	close(p[1]);
	for (;;) {
		size_t have = 0;
		ssize_t n;

		while (have < LEN && (n = read(p[0], buf + have, LEN - have)) > 0)
			have += (size_t)n;
		if (!have)
			break;
		EXPECT(have == LEN);
		for (int k = 1; k < LEN; k++)
			EXPECT(buf[k] == buf[0]);
		lines[buf[0] - 'a']++;
	}
	for (int w = 0; w < WRITERS; w++)
		EXPECT_EQ(lines[w], LINES);
}

TEST(interrupted_read, "signal(7)")
{
	struct sigaction sa = {.sa_handler = on_signal},
			 restart = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	char c = 0;
	int p[2];

	EXPECT(pipe(p) == 0);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &restart, NULL);
	if (fork() == 0) {
		usleep(20000);
		kill(getppid(), SIGUSR1);
		usleep(20000);
		kill(getppid(), SIGUSR2);
		usleep(20000);
		_exit(write(p[1], "z", 1) != 1);
	}
	EXPECT_ERRNO(read(p[0], &c, 1), EINTR);
	EXPECT_EQ(got, SIGUSR1);
	EXPECT_EQ(read(p[0], &c, 1), 1);
	EXPECT(c == 'z' && got == SIGUSR2);
}

TEST(fifo_open, "fifo(7)")
{
	char name[] = "/tmp/fifoXXXXXX", c;
	int r, w;

	EXPECT(mkdtemp(name) && chdir(name) == 0);
	EXPECT(mkfifo("f", 0600) == 0);
	EXPECT_ERRNO(open("f", O_WRONLY | O_NONBLOCK), ENXIO);
	r = open("f", O_RDONLY | O_NONBLOCK);
	EXPECT(r >= 0);
	EXPECT_EQ(poll1(r, POLLIN), 0);
	EXPECT_EQ(read(r, &c, 1), 0);
	w = open("f", O_WRONLY | O_NONBLOCK);
	EXPECT(w >= 0);
	EXPECT_ERRNO(read(r, &c, 1), EAGAIN);
	EXPECT_EQ(write(w, "ab", 2), 2);
	close(w);
	EXPECT_EQ(read(r, &c, 1), 1);
	EXPECT_EQ(poll1(r, POLLIN), POLLIN | POLLHUP);
	close(r);
	/* what nobody read is gone with the last one who had it open */
	r = open("f", O_RDWR | O_NONBLOCK);
	EXPECT_ERRNO(read(r, &c, 1), EAGAIN);
	close(r);
	if (fork() == 0) {
		w = open("f", O_WRONLY);
		_exit(write(w, "q", 1) != 1);
	}
	r = open("f", O_RDONLY); /* waits for the other end */
	EXPECT(r >= 0 && read(r, &c, 1) == 1 && c == 'q');
}

TEST(event_counter, "eventfd(2)")
{
	uint64_t v = 0;
	int fd = eventfd(3, EFD_NONBLOCK), s = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);

	EXPECT(read(fd, &v, 8) == 8 && v == 3);
	EXPECT_ERRNO(read(fd, &v, 8), EAGAIN);
	EXPECT_EQ(poll1(fd, POLLIN | POLLOUT), POLLOUT);
	v = 5;
	EXPECT(write(fd, &v, 8) == 8 && write(fd, &v, 8) == 8);
	EXPECT(read(fd, &v, 8) == 8 && v == 10);
	EXPECT_ERRNO(read(fd, &v, 4), EINVAL);
	v = ~0ull;
	EXPECT_ERRNO(write(fd, &v, 8), EINVAL);
	v = ~0ull - 1;
	EXPECT_EQ(write(fd, &v, 8), 8);
	v = 1;
	EXPECT_ERRNO(write(fd, &v, 8), EAGAIN);
	EXPECT_EQ(poll1(fd, POLLIN | POLLOUT), POLLIN);
	EXPECT(read(s, &v, 8) == 8 && v == 1 && read(s, &v, 8) == 8 && v == 1);
	EXPECT_ERRNO(read(s, &v, 8), EAGAIN);
}

TEST(socket_pairs, "unix(7)")
{
	char buf[16];
	int s[2], d[2];

	EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s) == 0);
	EXPECT(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, d) == 0);
	EXPECT(write(s[0], "abc", 3) == 3 && write(s[0], "def", 3) == 3);
	EXPECT_EQ(recv(s[1], buf, 16, MSG_PEEK), 6);
	EXPECT_EQ(read(s[1], buf, 16), 6);
	EXPECT_ERRNO(read(s[1], buf, 16), EAGAIN);
	EXPECT(write(d[0], "abc", 3) == 3 && write(d[0], "defg", 4) == 4 &&
	       write(d[0], "", 0) == 0);
	EXPECT_EQ(read(d[1], buf, 2), 2); /* the rest of a datagram is lost */
	EXPECT_EQ(read(d[1], buf, 16), 4);
	EXPECT_EQ(read(d[1], buf, 16), 0);
	EXPECT_ERRNO(read(d[1], buf, 16), EAGAIN);
	EXPECT(shutdown(s[0], SHUT_WR) == 0 && read(s[1], buf, 1) == 0);
	EXPECT_EQ(poll1(s[1], POLLIN | POLLRDHUP) & (POLLIN | POLLRDHUP), POLLIN | POLLRDHUP);
	EXPECT_EQ(write(s[1], "x", 1), 1);
	close(s[1]);
	EXPECT_EQ(read(s[0], buf, 4), 1);
	EXPECT_EQ(read(s[0], buf, 4), 0);
	EXPECT_ERRNO(send(s[0], "x", 1, MSG_NOSIGNAL), EPIPE);
}

TEST(passed_descriptors, "unix(7) SCM_RIGHTS")
{
	union {
		struct cmsghdr h;
		char space[CMSG_SPACE(sizeof(int))];
	} c = {.h = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	char buf[4], one = 'o';
	struct iovec v = {&one, 1};
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)};
	int s[2], p[2], fd;

	EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 && pipe(p) == 0);
	memcpy(CMSG_DATA(&c.h), &p[1], sizeof(int));
	EXPECT_EQ(sendmsg(s[0], &m, 0), 1);
	close(p[1]);
	memset(&c, 0, sizeof(c));
	EXPECT_EQ(poll1(p[0], POLLIN), 0); /* the end on its way is still open */
	EXPECT_EQ(recvmsg(s[1], &m, MSG_CMSG_CLOEXEC), 1);
	EXPECT(c.h.cmsg_level == SOL_SOCKET && c.h.cmsg_type == SCM_RIGHTS);
	EXPECT_EQ(c.h.cmsg_len, CMSG_LEN(sizeof(int)));
	memcpy(&fd, CMSG_DATA(&c.h), sizeof(int));
	EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	EXPECT(write(fd, "hi", 2) == 2 && read(p[0], buf, 4) == 2);
	close(fd);
	EXPECT_EQ(poll1(p[0], POLLIN), POLLHUP);
}

TEST(named_sockets, "unix(7)")
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX, .sun_path = "sock"}, peer;
	char name[] = "/tmp/sockXXXXXX", buf[4];
	struct ucred cred;
	socklen_t len = sizeof(cred), plen = sizeof(peer);
	int l, c, a;

	EXPECT(mkdtemp(name) && chdir(name) == 0);
	l = socket(AF_UNIX, SOCK_STREAM, 0);
	c = socket(AF_UNIX, SOCK_STREAM, 0);
	EXPECT_ERRNO(connect(c, (void *)&addr, sizeof(addr)), ENOENT);
	EXPECT(bind(l, (void *)&addr, sizeof(addr)) == 0);
	EXPECT_ERRNO(connect(c, (void *)&addr, sizeof(addr)), ECONNREFUSED);
	EXPECT_ERRNO(bind(c, (void *)&addr, sizeof(addr)), EADDRINUSE);
	EXPECT(listen(l, 5) == 0 && poll1(l, POLLIN) == 0);
	EXPECT(connect(c, (void *)&addr, sizeof(addr)) == 0 && poll1(l, POLLIN) == POLLIN);
	EXPECT_EQ(write(c, "hey", 3), 3);
	a = accept4(l, (void *)&peer, &plen, SOCK_CLOEXEC);
	EXPECT(a >= 0);
	EXPECT_EQ(plen, sizeof(sa_family_t));
	EXPECT(read(a, buf, 4) == 3 && write(a, "yo", 2) == 2 && read(c, buf, 4) == 2);
	EXPECT(getsockopt(c, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 && cred.pid == getpid());
	plen = sizeof(peer);
	EXPECT(getpeername(c, (void *)&peer, &plen) == 0 && !strcmp(peer.sun_path, "sock"));
	close(l);
	close(c);
	EXPECT_EQ(read(a, buf, 4), 0);
	EXPECT_ERRNO(open("sock", O_RDWR), ENXIO);
}
