/* SPDX-License-Identifier: BSD-2-Clause */
/* The nodes in /dev: numbers and behaviour (null(4), full(4), random(4), tty(4)). */
#include "check.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static void expect_node(const char *path, unsigned want_major, unsigned want_minor)
{
	struct stat st;

	if (stat(path, &st))
		FAIL("%s: %s", path, strerrorname_np(errno));
	EXPECT(S_ISCHR(st.st_mode));
	EXPECT_EQ(major(st.st_rdev), want_major);
	EXPECT_EQ(minor(st.st_rdev), want_minor);
}

TEST(numbers, "")
{
	expect_node("/dev/null", 1, 3);
	expect_node("/dev/zero", 1, 5);
	expect_node("/dev/full", 1, 7);
	expect_node("/dev/random", 1, 8);
	expect_node("/dev/urandom", 1, 9);
	expect_node("/dev/kmsg", 1, 11);
	expect_node("/dev/tty", 5, 0);
	expect_node("/dev/console", 5, 1);
	expect_node("/dev/ptmx", 5, 2);
	expect_node("/dev/hvc0", 229, 0);
}

TEST(null, "")
{
	int fd = open("/dev/null", O_RDWR);
	char c;

	EXPECT(fd >= 0);
	EXPECT_EQ(read(fd, &c, 1), 0);
	EXPECT_EQ(write(fd, &c, 1), 1);
	EXPECT_EQ(lseek(fd, 100, SEEK_SET), 0);
	EXPECT_ERRNO(ioctl(fd, TIOCGWINSZ, &c), ENOTTY);
	EXPECT(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED);
}

TEST(zero, "")
{
	int fd = open("/dev/zero", O_RDWR);
	char buf[5000], *p;

	EXPECT(fd >= 0);
	memset(buf, 1, sizeof(buf));
	EXPECT_EQ(read(fd, buf, sizeof(buf)), sizeof(buf));
	for (size_t i = 0; i < sizeof(buf); i++)
		EXPECT(buf[i] == 0);
	p = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT_ERRNO(read(fd, p, 100), EFAULT);
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	EXPECT(p != MAP_FAILED);
	EXPECT_EQ(p[8191], 0);
	p[8191] = 1;
	EXPECT_EQ(p[8191], 1);
}

TEST(full, "")
{
	int fd = open("/dev/full", O_RDWR);
	char c = 1;

	EXPECT(fd >= 0);
	EXPECT_EQ(read(fd, &c, 1), 1);
	EXPECT_EQ(c, 0);
	EXPECT_ERRNO(write(fd, &c, 1), ENOSPC);
}

TEST(random_bytes, "")
{
	unsigned char buf[4096];
	int fd = open("/dev/urandom", O_RDONLY), bits = 0;

	EXPECT(fd >= 0);
	EXPECT_EQ(read(fd, buf, sizeof(buf)), sizeof(buf));
	for (size_t i = 0; i < sizeof(buf); i++)
		bits += __builtin_popcount(buf[i]);
	/* 16384 expected, standard deviation 90.5 */
	EXPECT_BETWEEN(bits, 15800, 16970);
}

TEST(device_nodes_elsewhere, "")
{
	char c;
	int fd;

	if (mknod("/tmp/check-node", S_IFCHR | 0600, makedev(1, 7)))
		SKIP("devices cannot be made here");
	fd = open("/tmp/check-node", O_RDWR);
	unlink("/tmp/check-node");
	EXPECT(fd >= 0);
	EXPECT_ERRNO(write(fd, &c, 1), ENOSPC);
	EXPECT_EQ(mknod("/tmp/check-node", S_IFCHR | 0600, makedev(99, 99)), 0);
	EXPECT_ERRNO(open("/tmp/check-node", O_RDWR), ENXIO);
	unlink("/tmp/check-node");
}

TEST(links, "")
{
	char link[64] = "";
	int fds[2];

	EXPECT(readlink("/dev/fd", link, sizeof(link)) > 0);
	EXPECT(strcmp(link, "/proc/self/fd") == 0);
	EXPECT_EQ(pipe(fds), 0);
	dup2(fds[0], 0);
	EXPECT_EQ(write(fds[1], "abc", 3), 3);
	EXPECT_EQ(read(open("/dev/stdin", O_RDONLY), link, sizeof(link)), 3);
}

TEST(kernel_log, "")
{
	int fd = open("/dev/kmsg", O_RDWR | O_NONBLOCK);
	char line[2048];
	unsigned long long seq, usec;
	bool found = false;
	ssize_t n;
	int prio, text;

	EXPECT(fd >= 0);
	EXPECT_EQ(write(fd, "a line of the test\n", 19), 19);
	while ((n = read(fd, line, sizeof(line) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		if (n < 0)
			continue;
		line[n] = '\0';
		EXPECT_EQ(sscanf(line, "%d,%llu,%llu,%*[^;];%n", &prio, &seq, &usec, &text), 3);
		found |= strncmp(line + text, "a line of the test\n", 19) == 0;
	}
	EXPECT_EQ(n, -1);
	EXPECT(found);
}
