/* SPDX-License-Identifier: BSD-2-Clause */
/* The contents of files on tmpfs: positions, holes, truncation, mappings, vectors, copying, memfd and its seals. */
#include "check.h"
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

static int temp(void)
{
	char name[] = "/dev/shm/dataXXXXXX";
	int fd = mkstemp(name);

	if (fd >= 0)
		unlink(name);
	return fd;
}

static bool all(const char *p, size_t n, char c)
{
	while (n--)
		if (*p++ != c)
			return false;
	return true;
}

TEST(positions, "lseek(2) pread(2)")
{
	char buf[16];
	int fd = temp();

	EXPECT_EQ(write(fd, "0123456789", 10), 10);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 10);
	EXPECT_EQ(read(fd, buf, 5), 0);
	EXPECT_EQ(pread(fd, buf, 16, 4), 6);
	EXPECT_EQ(lseek(fd, -3, SEEK_END), 7);
	EXPECT_EQ(read(fd, buf, 16), 3);
	EXPECT_ERRNO(lseek(fd, -11, SEEK_CUR), EINVAL);
	EXPECT_ERRNO(lseek(fd, 0, 77), EINVAL);
	EXPECT_EQ(lseek(fd, 100, SEEK_SET), 100);
	EXPECT_EQ(read(fd, buf, 1), 0);
	EXPECT_EQ(write(fd, "x", 1), 1);
	EXPECT_EQ(lseek(fd, 0, SEEK_END), 101);
	EXPECT(pread(fd, buf, 4, 96) == 4 && all(buf, 4, 0));
	EXPECT(fcntl(fd, F_SETFL, O_APPEND) == 0);
	EXPECT_EQ(pwrite(fd, "y", 1, 0), 1); /* Linux appends all the same */
	EXPECT_EQ(lseek(fd, 0, SEEK_END), 102);
}

TEST(holes, "lseek(2) SEEK_DATA")
{
	const off_t far = 1LL << 40;
	struct stat st;
	char buf[8192];
	int fd = temp();

	EXPECT_EQ(pwrite(fd, "a", 1, far), 1);
	EXPECT_EQ(pwrite(fd, "b", 1, 20480), 1);
	EXPECT(fstat(fd, &st) == 0);
	EXPECT_EQ(st.st_size, far + 1);
	EXPECT(st.st_blocks >= 16 && st.st_blocks <= 64);
	EXPECT_EQ(lseek(fd, 0, SEEK_DATA), 20480);
	EXPECT_EQ(lseek(fd, 20481, SEEK_DATA), 20481);
	EXPECT_EQ(lseek(fd, 20480, SEEK_HOLE), 24576);
	EXPECT_EQ(lseek(fd, 24576, SEEK_DATA), far);
	EXPECT_EQ(lseek(fd, far, SEEK_HOLE), far + 1);
	EXPECT_ERRNO(lseek(fd, far + 1, SEEK_DATA), ENXIO);
	EXPECT(pread(fd, buf, sizeof(buf), 4096) == sizeof(buf) && all(buf, sizeof(buf), 0));
	EXPECT(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 16384, 8192) == 0);
	EXPECT_EQ(lseek(fd, 0, SEEK_DATA), far);
	EXPECT(ftruncate(fd, 5) == 0 && fstat(fd, &st) == 0 && st.st_blocks == 0);
}

TEST(truncate_zeroes, "ftruncate(2)")
{
	char buf[8192];
	int fd = temp();

	memset(buf, 'x', sizeof(buf));
	EXPECT_EQ(write(fd, buf, sizeof(buf)), sizeof(buf));
	EXPECT(ftruncate(fd, 5000) == 0 && ftruncate(fd, 8192) == 0);
	EXPECT(pread(fd, buf, 8192, 0) == 8192);
	EXPECT(all(buf, 5000, 'x') && all(buf + 5000, 3192, 0));
	EXPECT_ERRNO(ftruncate(fd, -1), EINVAL);
	EXPECT(fallocate(fd, 0, 0, 20000) == 0);
	EXPECT_EQ(lseek(fd, 0, SEEK_END), 20000);
	EXPECT(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 40000) == 0);
	EXPECT_EQ(lseek(fd, 0, SEEK_END), 20000);
	EXPECT_ERRNO(fallocate(fd, 0, 0, 0), EINVAL);
}

TEST(mappings_are_the_file, "mmap(2)")
{
	char *s, *p, c;
	int fd = temp();

	EXPECT(ftruncate(fd, 12288) == 0);
	s = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	EXPECT(s != MAP_FAILED && p != MAP_FAILED);
	EXPECT_EQ(s[5000], 0);
	EXPECT_EQ(pwrite(fd, "w", 1, 5000), 1);
	EXPECT(s[5000] == 'w' && p[5000] == 'w');
	s[5001] = 'm';
	EXPECT(pread(fd, &c, 1, 5001) == 1 && c == 'm');
	p[0] = 'p';
	EXPECT(pread(fd, &c, 1, 0) == 1 && c == 0 && s[0] == 0);
}

TEST(changing_a_file_of_the_root_image, "the root image is an ordinary file system")
{
	/* this very program: copied into place by the image, never written before */
	char before[100], buf[100];
	struct stat st;
	int fd = open("/proc/self/exe", O_RDONLY), w;

	EXPECT(fd >= 0 && fstat(fd, &st) == 0);
	EXPECT_EQ(pread(fd, before, sizeof(before), st.st_size - 100), 100);
	EXPECT(system("cp /proc/self/exe /tmp/copy.$$ && rm /tmp/copy.$$") == 0);
	w = open("/etc/tally-new-file", O_CREAT | O_EXCL | O_RDWR, 0600);
	EXPECT(w >= 0);
	EXPECT_EQ(sendfile(w, fd, &(off_t){0}, (size_t)st.st_size), st.st_size);
	EXPECT_EQ(pread(w, buf, sizeof(buf), st.st_size - 100), 100);
	EXPECT(memcmp(before, buf, 100) == 0);
	unlink("/etc/tally-new-file");
}

TEST(vectors, "readv(2)")
{
	char a[3], b[4], c[10];
	struct iovec out[] = {{"ab", 2}, {"", 0}, {"cdefg", 5}};
	struct iovec in[] = {{a, 3}, {b, 4}, {c, 10}};
	int fd = temp();

	EXPECT_EQ(writev(fd, out, 3), 7);
	EXPECT_EQ(preadv(fd, in, 3, 0), 7);
	EXPECT(!memcmp(a, "abc", 3) && !memcmp(b, "defg", 4));
	EXPECT_ERRNO(preadv(fd, in, 3, -1), EINVAL);
	EXPECT_ERRNO(syscall(SYS_readv, fd, in, -1), EINVAL);
	EXPECT_ERRNO(syscall(SYS_readv, fd, in, 1025), EINVAL);
	EXPECT_ERRNO(syscall(SYS_readv, fd, 16, 1), EFAULT);
	EXPECT_EQ(pwritev(fd, out, 3, 1), 7);
	EXPECT_EQ(lseek(fd, 0, SEEK_END), 8);
}

TEST(copying, "sendfile(2) copy_file_range(2)")
{
	char buf[8];
	off_t off = 2, o2 = 0;
	int a = temp(), b = temp(), p[2];

	EXPECT_EQ(write(a, "01234567", 8), 8);
	EXPECT_EQ(sendfile(b, a, &off, 3), 3);
	EXPECT_EQ(off, 5);
	EXPECT(pread(b, buf, 8, 0) == 3 && !memcmp(buf, "234", 3));
	off = 1;
	EXPECT_EQ(copy_file_range(a, &off, b, &o2, 4, 0), 4);
	EXPECT(pread(b, buf, 8, 0) == 4 && !memcmp(buf, "1234", 4));
	off = 0;
	EXPECT_ERRNO(copy_file_range(a, &off, a, &(off_t){2}, 4, 0), EINVAL);
	EXPECT_EQ(copy_file_range(a, &(off_t){100}, b, &o2, 4, 0), 0);
	EXPECT(pipe(p) == 0);
	off = 0;
	EXPECT_EQ(splice(a, &off, p[1], NULL, 8, 0), 8);
	EXPECT_EQ(read(p[0], buf, 4), 4);
	EXPECT_EQ(splice(p[0], NULL, b, &(off_t){10}, 100, 0), 4);
	EXPECT(pread(b, buf, 8, 10) == 4 && !memcmp(buf, "4567", 4));
	EXPECT_ERRNO(splice(a, &off, b, NULL, 1, 0), EINVAL);
	EXPECT_ERRNO(splice(p[0], &off, b, NULL, 1, 0), ESPIPE);
	EXPECT_ERRNO(splice(p[0], NULL, b, NULL, 1, SPLICE_F_NONBLOCK), EAGAIN);
}

TEST(memfd_seals, "memfd_create(2) fcntl(2)")
{
	int fd = memfd_create("name", MFD_ALLOW_SEALING), plain = memfd_create("plain", 0);
	char link[64], text[64], *m;
	ssize_t n;

	EXPECT(fd >= 0 && plain >= 0);
	EXPECT_EQ(fcntl(plain, F_GET_SEALS), F_SEAL_SEAL);
	EXPECT_ERRNO(fcntl(plain, F_ADD_SEALS, F_SEAL_GROW), EPERM);
	EXPECT_ERRNO(fcntl(0, F_GET_SEALS), EINVAL);
	EXPECT(ftruncate(fd, 4096) == 0);
	EXPECT(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) == 0);
	EXPECT_ERRNO(ftruncate(fd, 8192), EPERM);
	EXPECT_ERRNO(ftruncate(fd, 0), EPERM);
	m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	EXPECT(m != MAP_FAILED);
	EXPECT_ERRNO(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), EBUSY);
	EXPECT(munmap(m, 4096) == 0);
	EXPECT(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == 0);
	EXPECT_ERRNO(write(fd, "x", 1), EPERM);
	EXPECT_ERRNO((long)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), EPERM);
	EXPECT_EQ(fcntl(fd, F_GET_SEALS), F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_WRITE);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, text, sizeof(text));
	EXPECT(n == 21 && !memcmp(text, "/memfd:name (deleted)", 21));
}

TEST(times, "utimensat(2) inode(7)")
{
	struct timespec ts[2] = {{100, 5}, {200, 6}}, now[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
	struct stat st, st2;
	int fd = temp();

	EXPECT(futimens(fd, ts) == 0 && fstat(fd, &st) == 0);
	EXPECT(st.st_atim.tv_sec == 100 && st.st_atim.tv_nsec == 5 && st.st_mtim.tv_sec == 200);
	EXPECT(st.st_ctim.tv_sec > 200);
	EXPECT(futimens(fd, now) == 0 && fstat(fd, &st2) == 0);
	EXPECT(st2.st_atim.tv_sec > 200 && st2.st_mtim.tv_sec == 200);
	EXPECT_EQ(write(fd, "x", 1), 1);
	EXPECT(fstat(fd, &st) == 0 && st.st_mtim.tv_sec > 200);
	ts[0].tv_nsec = 1000000000;
	EXPECT_ERRNO(futimens(fd, ts), EINVAL);
}
