/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening and naming files: open(2) flags, links, rename(2), unlink(2), permissions, getdents64(2). */
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Each test works in an empty directory of its own. */
static char dir[64];

static void setup(void)
{
	strcpy(dir, "/tmp/fsXXXXXX");
	if (!mkdtemp(dir) || chdir(dir))
		exit(1);
}

static int make(const char *name, const char *text)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);

	if (fd >= 0 && write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return -1;
	return fd;
}

static bool exists(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0;
}

TEST(create_flags, "open(2)")
{
	struct stat st;

	setup();
	umask(027);
	EXPECT_ERRNO(open("a", O_RDWR), ENOENT);
	EXPECT(close(open("a", O_RDWR | O_CREAT | O_EXCL, 0666)) == 0);
	EXPECT(stat("a", &st) == 0 && st.st_mode == (S_IFREG | 0640));
	EXPECT_ERRNO(open("a", O_RDWR | O_CREAT | O_EXCL, 0666), EEXIST);
	EXPECT_ERRNO(open("a", O_RDONLY | O_DIRECTORY), ENOTDIR);
	EXPECT_ERRNO(open("a/", O_RDONLY), ENOTDIR);
	EXPECT_ERRNO(open("a/b", O_RDONLY), ENOTDIR);
	EXPECT_ERRNO(open("b/", O_RDWR | O_CREAT, 0666), EISDIR);
	EXPECT_ERRNO(open(".", O_RDWR), EISDIR);
	EXPECT_ERRNO(open(".", O_RDONLY | O_CREAT, 0666), EISDIR);
	EXPECT_ERRNO(open("", O_RDONLY), ENOENT);
	EXPECT_ERRNO(open("none/b", O_RDWR | O_CREAT, 0666), ENOENT);
	EXPECT_ERRNO(openat(99, "a", O_RDONLY), EBADF);
}

TEST(symlinks, "path_resolution(7)")
{
	char buf[16], deep[16];
	int fd;

	setup();
	EXPECT(close(make("file", "x")) == 0);
	EXPECT(symlink("file", "link") == 0 && symlink("nowhere", "dangling") == 0);
	EXPECT(symlink("loop2", "loop1") == 0 && symlink("loop1", "loop2") == 0);
	EXPECT_ERRNO(open("link", O_RDONLY | O_NOFOLLOW), ELOOP);
	EXPECT_ERRNO(open("loop1", O_RDONLY), ELOOP);
	EXPECT_ERRNO(open("dangling", O_RDONLY), ENOENT);
	EXPECT_ERRNO(open("dangling", O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST);
	EXPECT(close(open("dangling", O_RDWR | O_CREAT, 0600)) == 0 && exists("nowhere"));
	EXPECT_ERRNO(open("link/", O_RDONLY), ENOTDIR);
	EXPECT_EQ(readlink("link", buf, sizeof(buf)), 4);
	EXPECT_EQ(readlink("link", buf, 2), 2);
	EXPECT_ERRNO(readlink("file", buf, sizeof(buf)), EINVAL);
	fd = open("link", O_PATH | O_NOFOLLOW);
	EXPECT(fd >= 0);
	EXPECT_EQ(readlinkat(fd, "", buf, sizeof(buf)), 4);
	EXPECT_ERRNO(read(fd, buf, 1), EBADF);
	/* forty links are followed, one more is not */
	for (int i = 0; i < 41; i++) {
		snprintf(buf, sizeof(buf), "l%d", i);
		snprintf(deep, sizeof(deep), i ? "l%d" : "file", i - 1);
		EXPECT(symlink(deep, buf) == 0);
	}
	EXPECT(close(open("l39", O_RDONLY)) == 0);
	EXPECT_ERRNO(open("l40", O_RDONLY), ELOOP);
}

TEST(link_to_directory, "path_resolution(7)")
{
	struct stat a, b;

	setup();
	EXPECT(mkdir("d", 0755) == 0 && mkdir("d/e", 0755) == 0 && symlink("d/e", "l") == 0);
	EXPECT(stat("l/..", &a) == 0 && stat("d", &b) == 0);
	EXPECT_EQ(a.st_ino, b.st_ino);
	EXPECT_ERRNO(mkdir("l", 0755), EEXIST);
	EXPECT_ERRNO(rmdir("l"), ENOTDIR);
	EXPECT_ERRNO(unlink("l/"), ENOTDIR);
	EXPECT(stat("/../..", &a) == 0 && stat("/", &b) == 0 && a.st_ino == b.st_ino);
}

TEST(unlink_and_rmdir, "unlink(2) rmdir(2)")
{
	struct stat st;
	char c;
	int fd;

	setup();
	fd = make("f", "q");
	EXPECT(link("f", "g") == 0);
	EXPECT(fstat(fd, &st) == 0 && st.st_nlink == 2);
	EXPECT(unlink("f") == 0 && unlink("g") == 0);
	EXPECT(fstat(fd, &st) == 0 && st.st_nlink == 0);
	EXPECT(pread(fd, &c, 1, 0) == 1 && c == 'q');
	EXPECT_ERRNO(unlink("f"), ENOENT);
	EXPECT(mkdir("d", 0755) == 0 && mkdir("d/e", 0755) == 0);
	EXPECT(stat("d", &st) == 0 && st.st_nlink == 3);
	EXPECT_ERRNO(unlink("d"), EISDIR);
	EXPECT_ERRNO(rmdir("d"), ENOTEMPTY);
	EXPECT_ERRNO(rmdir("d/."), EINVAL);
	EXPECT_ERRNO(rmdir("d/.."), ENOTEMPTY);
	EXPECT_ERRNO(rmdir("/"), EBUSY);
	EXPECT_ERRNO(link("d", "h"), EPERM);
	EXPECT(rmdir("d/e/") == 0 && rmdir("d") == 0);
	EXPECT(mkdir("x/", 0755) == 0);
	EXPECT_ERRNO(mkdir("x", 0755), EEXIST);
}

TEST(removed_working_directory, "getcwd(2)")
{
	char buf[256];

	setup();
	EXPECT(mkdir("d", 0755) == 0 && chdir("d") == 0 && rmdir("../d") == 0);
	EXPECT_ERRNO(syscall(SYS_getcwd, buf, sizeof(buf)), ENOENT);
	EXPECT_ERRNO(open("f", O_CREAT | O_RDWR, 0600), ENOENT);
	EXPECT(chdir("..") == 0);
	EXPECT_EQ(syscall(SYS_getcwd, buf, sizeof(buf)), (long)strlen(dir) + 1);
	EXPECT_ERRNO(syscall(SYS_getcwd, buf, 3), ERANGE);
}

TEST(rename_rules, "rename(2)")
{
	struct stat a, b;

	setup();
	EXPECT(close(make("a", "a")) == 0 && close(make("b", "b")) == 0);
	EXPECT(mkdir("d", 0755) == 0 && mkdir("d/s", 0755) == 0 && mkdir("e", 0755) == 0);
	EXPECT(stat("a", &a) == 0 && rename("a", "b") == 0 && stat("b", &b) == 0);
	EXPECT(a.st_ino == b.st_ino && !exists("a"));
	EXPECT_ERRNO(rename("nothing", "x"), ENOENT);
	EXPECT_ERRNO(rename("b", "d"), EISDIR);
	EXPECT_ERRNO(rename("d", "b"), ENOTDIR);
	EXPECT_ERRNO(rename("e", "d"), ENOTEMPTY);
	EXPECT_ERRNO(rename("d", "d/s/t"), EINVAL);
	EXPECT_ERRNO(rename("d/.", "x"), EBUSY);
	EXPECT_ERRNO(rename("b", "x/"), ENOTDIR);
	EXPECT(rename("d/s", "e/s") == 0 && stat("d", &a) == 0 && stat("e", &b) == 0);
	EXPECT_EQ(a.st_nlink, 2);
	EXPECT_EQ(b.st_nlink, 3);
	EXPECT(rename("d", "e/s") == 0 && !exists("d"));
	/* two names of one file: nothing happens */
	EXPECT(link("b", "c") == 0 && rename("b", "c") == 0 && exists("b") && exists("c"));
}

TEST(rename_flags, "renameat2(2)")
{
	struct stat a, b, c;

	setup();
	EXPECT(close(make("a", "aa")) == 0 && mkdir("d", 0755) == 0 &&
	       close(make("d/f", "f")) == 0);
	EXPECT(stat("a", &a) == 0 && stat("d", &b) == 0);
	EXPECT_ERRNO(renameat2(AT_FDCWD, "a", AT_FDCWD, "d", RENAME_NOREPLACE), EEXIST);
	EXPECT_ERRNO(renameat2(AT_FDCWD, "a", AT_FDCWD, "x", RENAME_EXCHANGE), ENOENT);
	EXPECT(renameat2(AT_FDCWD, "a", AT_FDCWD, "d", RENAME_EXCHANGE) == 0);
	EXPECT(stat("d", &c) == 0 && c.st_ino == a.st_ino);
	EXPECT(stat("a", &c) == 0 && c.st_ino == b.st_ino && exists("a/f"));
	EXPECT(renameat2(AT_FDCWD, "d", AT_FDCWD, "n", RENAME_NOREPLACE) == 0);
}

TEST(permissions, "path_resolution(7) access(2)")
{
	setup();
	EXPECT(chmod(dir, 0755) == 0);
	EXPECT(close(make("secret", "s")) == 0 && chmod("secret", 0600) == 0);
	EXPECT(close(make("open", "o")) == 0 && chmod("open", 0666) == 0);
	EXPECT(mkdir("closed", 0700) == 0 && close(make("closed/f", "f")) == 0);
	EXPECT(mkdir("sticky", 01777) == 0 && chmod("sticky", 01777) == 0);
	EXPECT(close(make("sticky/mine", "m")) == 0);
	EXPECT_EQ(access("secret", R_OK | W_OK), 0);
	EXPECT_ERRNO(access("secret", X_OK), EACCES);
	EXPECT(setresgid(1000, 1000, 1000) == 0 && setresuid(1000, 1000, 1000) == 0);
	EXPECT_ERRNO(open("secret", O_RDONLY), EACCES);
	EXPECT(close(open("open", O_RDWR)) == 0);
	EXPECT_ERRNO(open("closed/f", O_RDONLY), EACCES);
	EXPECT_ERRNO(open("new", O_CREAT | O_RDWR, 0600), EACCES);
	EXPECT_ERRNO(unlink("open"), EACCES);
	EXPECT_ERRNO(unlink("sticky/mine"), EPERM);
	EXPECT_ERRNO(rename("sticky/mine", "sticky/x"), EPERM);
	EXPECT_ERRNO(chmod("open", 0777), EPERM);
	EXPECT_ERRNO(chown("open", 1000, 1000), EPERM);
	EXPECT(close(make("sticky/own", "")) == 0 && unlink("sticky/own") == 0);
	EXPECT_ERRNO(access("secret", R_OK), EACCES);
}

TEST(tmpfile_gets_a_name, "open(2) O_TMPFILE")
{
	char proc[64];
	struct stat st;
	int fd;

	setup();
	fd = open(".", O_TMPFILE | O_RDWR, 0600);
	EXPECT(fd >= 0);
	EXPECT_EQ(write(fd, "abc", 3), 3);
	EXPECT(fstat(fd, &st) == 0 && st.st_nlink == 0);
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	EXPECT(linkat(AT_FDCWD, proc, AT_FDCWD, "named", AT_SYMLINK_FOLLOW) == 0);
	EXPECT(stat("named", &st) == 0 && st.st_size == 3 && st.st_nlink == 1);
	EXPECT_ERRNO(open(".", O_TMPFILE | O_RDONLY, 0600), EINVAL);
}

TEST(listing, "getdents64(2)")
{
	enum { N = 300 };
	char name[32], seen[N] = {0};
	int dots = 0, others = 0;
	struct dirent *e;
	DIR *d;

	setup();
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "entry-with-a-long-name-%d", i);
		EXPECT(close(make(name, "")) == 0);
	}
	d = opendir(".");
	EXPECT(d);
	while ((e = readdir(d)) != NULL) {
		int i;

		if (e->d_name[0] == '.')
			dots++;
		else if (sscanf(e->d_name, "entry-with-a-long-name-%d", &i) == 1 &&
			 e->d_type == DT_REG)
			seen[i]++;
		else
			others++;
		/* removing what was listed does not disturb the rest */
		if (e->d_name[0] != '.')
			EXPECT(unlink(e->d_name) == 0);
	}
	EXPECT_EQ(dots, 2);
	EXPECT_EQ(others, 0);
	for (int i = 0; i < N; i++)
		EXPECT_EQ(seen[i], 1);
	rewinddir(d);
	EXPECT(readdir(d) && readdir(d) && !readdir(d));
	EXPECT_EQ(syscall(SYS_getdents64, dirfd(d), name, 3), 0); /* the end, whatever the size */
	lseek(dirfd(d), 0, SEEK_SET);
	EXPECT_ERRNO(syscall(SYS_getdents64, dirfd(d), name, 8), EINVAL);
	EXPECT_ERRNO(syscall(SYS_getdents64, make("file", ""), name, 8), ENOTDIR);
}

/* tmpfs has 20 bytes for each name, "." and ".." among them. */
TEST(size_of_a_folder, "tmpfs(5)")
{
	struct stat st;
	int fd;

	EXPECT_EQ(mkdir("folder", 0755), 0);
	EXPECT_EQ(stat("folder", &st), 0);
	EXPECT_EQ(st.st_size, 40);
	fd = open("folder/file", O_CREAT | O_WRONLY, 0644);
	EXPECT(fd >= 0);
	EXPECT_EQ(mkdir("folder/inner", 0755), 0);
	EXPECT_EQ(stat("folder", &st), 0);
	EXPECT_EQ(st.st_size, 80);
	EXPECT_EQ(unlink("folder/file"), 0);
	EXPECT_EQ(stat("folder", &st), 0);
	EXPECT_EQ(st.st_size, 60);
}

TEST(descriptors, "dup(2) fcntl(2)")
{
	struct rlimit rl = {10, 10};
	int a, b;

	setup();
	a = make("f", "0123456789");
	b = dup(a);
	EXPECT(b > a && lseek(a, 4, SEEK_SET) == 4 && lseek(b, 0, SEEK_CUR) == 4);
	EXPECT_EQ(dup2(a, a), a);
	EXPECT_ERRNO(dup3(a, a, 0), EINVAL);
	EXPECT_EQ(dup3(a, 9, O_CLOEXEC), 9);
	EXPECT_EQ(fcntl(9, F_GETFD), FD_CLOEXEC);
	EXPECT_EQ(fcntl(a, F_GETFD), 0);
	EXPECT_EQ(fcntl(a, F_DUPFD_CLOEXEC, 7), 7);
	EXPECT_EQ(fcntl(7, F_GETFL) & (O_ACCMODE | O_APPEND), O_RDWR);
	EXPECT(fcntl(7, F_SETFL, O_APPEND) == 0 && (fcntl(a, F_GETFL) & O_APPEND));
	EXPECT_ERRNO(close(99), EBADF);
	EXPECT_ERRNO(fcntl(a, F_DUPFD, 100000000), EINVAL);
	EXPECT(setrlimit(RLIMIT_NOFILE, &rl) == 0);
	for (b = 0; b >= 0 && b < 10; b = dup(a))
		;
	EXPECT_EQ(b, -1);
	EXPECT_ERRNO(dup(a), EMFILE);
	EXPECT_ERRNO(open("f", O_RDONLY), EMFILE);
	EXPECT_ERRNO(dup2(a, 10), EBADF);
	EXPECT(close(9) == 0 && dup(a) == 9);
	EXPECT(syscall(SYS_close_range, 5, ~0u, 0) == 0);
	EXPECT_ERRNO(fcntl(9, F_GETFD), EBADF);
}

TEST(bad_pointers, "open(2) read(2)")
{
	struct stat st;
	int fd;

	setup();
	fd = make("f", "0123456789");
	EXPECT_ERRNO(open((char *)16, O_RDONLY), EFAULT);
	EXPECT_ERRNO(syscall(SYS_read, fd, -4096L, 10), EFAULT);
	EXPECT_ERRNO(syscall(SYS_pread64, fd, 16, 10, 0), EFAULT);
	EXPECT_ERRNO(syscall(SYS_pwrite64, fd, 16, 10, 0), EFAULT);
	EXPECT_ERRNO(syscall(SYS_newfstatat, fd, "", 16, AT_EMPTY_PATH), EFAULT);
	EXPECT(fstat(fd, &st) == 0 && st.st_size == 10);
	EXPECT_ERRNO(pread(fd, &st, 1, -1), EINVAL);
}
