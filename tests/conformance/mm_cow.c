/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory across fork(2): copies on write, what is shared, what is wiped or left out; other
 * processes' memory.
 */
#include "check.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096UL

static char *map(size_t n, int flags)
{
	return mmap(NULL, n, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
}

/* Runs fn in a child; its result is the child's exit status. */
static int in_child(int (*fn)(char *), char *arg)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn(arg));
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int check_and_scribble(char *p)
{
	for (size_t i = 0; i < 64; i++) {
		if (p[i * PAGE] != (char)i)
			return 1;
		p[i * PAGE] = 111;
	}
	return 0;
}

TEST(child_sees_a_copy, "")
{
	char *p = map(64 * PAGE, MAP_PRIVATE);

	for (size_t i = 0; i < 64; i++)
		p[i * PAGE] = (char)i;
	EXPECT_EQ(in_child(check_and_scribble, p), 0);
	for (size_t i = 0; i < 64; i++)
		EXPECT_EQ(p[i * PAGE], i);
}

TEST(parent_writes_do_not_reach_the_child, "")
{
	char *p = map(PAGE, MAP_PRIVATE), c = 0;
	int go[2], status;
	pid_t pid;

	p[0] = 1;
	EXPECT(pipe(go) == 0);
	pid = fork();
	if (pid == 0) {
		if (read(go[0], &c, 1) != 1)
			_exit(9);
		_exit(p[0]);
	}
	p[0] = 2;
	EXPECT_EQ(write(go[1], "x", 1), 1);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(WEXITSTATUS(status), 1);
}

static int deep(char *p)
{
	int n = p[0];

	if (n == 6)
		return 0;
	p[0] = (char)(n + 1);
	p[PAGE * (size_t)(n + 1)] = (char)n;
	if (in_child(deep, p))
		return 1;
	return p[0] == n + 1 && p[PAGE * (size_t)(n + 1)] == n ? 0 : 2;
}

TEST(generations, "")
{
	char *p = map(16 * PAGE, MAP_PRIVATE);

	EXPECT_EQ(in_child(deep, p), 0);
	EXPECT_EQ(p[0], 0);
}

static int write_42(char *p)
{
	p[0] = 42;
	p[3 * PAGE] = 43;
	return 0;
}

TEST(shared_anonymous_is_shared, "")
{
	char *p = map(4 * PAGE, MAP_SHARED);

	EXPECT_EQ(in_child(write_42, p), 0);
	EXPECT_EQ(p[0], 42);
	EXPECT_EQ(p[3 * PAGE], 43);
	EXPECT_EQ(p[PAGE], 0);
}

static int unmap_all(char *p)
{
	return munmap(p, 4 * PAGE);
}

TEST(childs_unmapping_is_its_own, "")
{
	char *p = map(4 * PAGE, MAP_PRIVATE);

	p[0] = 5;
	EXPECT_EQ(in_child(unmap_all, p), 0);
	EXPECT_EQ(p[0], 5);
}

static int read_byte(char *p)
{
	return p[0];
}

TEST(dontfork_and_wipeonfork, "")
{
	char *p = map(4 * PAGE, MAP_PRIVATE);

	memset(p, 7, 4 * PAGE);
	EXPECT_EQ(madvise(p, PAGE, MADV_DONTFORK), 0);
	EXPECT_EQ(madvise(p + PAGE, PAGE, MADV_WIPEONFORK), 0);
	EXPECT_EQ(in_child(read_byte, p), 1000 + SIGSEGV);
	EXPECT_EQ(in_child(read_byte, p + PAGE), 0);
	EXPECT_EQ(in_child(read_byte, p + 2 * PAGE), 7);
	EXPECT_EQ(p[PAGE], 7);
	EXPECT_EQ(madvise(p, PAGE, MADV_DOFORK), 0);
	EXPECT_EQ(madvise(p + PAGE, PAGE, MADV_KEEPONFORK), 0);
	EXPECT_EQ(in_child(read_byte, p), 7);
	EXPECT_EQ(in_child(read_byte, p + PAGE), 7);
}

TEST(read_only_after_fork_stays_so, "")
{
	char *p = map(PAGE, MAP_PRIVATE);

	p[0] = 1;
	mprotect(p, PAGE, PROT_READ);
	EXPECT_EQ(in_child(write_42, p), 1000 + SIGSEGV);
	/* protection taken away and given back between fork and write */
	mprotect(p, PAGE, PROT_NONE);
	if (fork() == 0) {
		mprotect(p, PAGE, PROT_READ | PROT_WRITE);
		p[0] = 9;
		_exit(0);
	}
	mprotect(p, PAGE, PROT_READ | PROT_WRITE);
	EXPECT_EQ(p[0], 1);
	p[0] = 2;
	wait(NULL);
	EXPECT_EQ(p[0], 2);
}

TEST(kernel_writes_are_copied_too, "")
{
	char *p = map(PAGE, MAP_PRIVATE);
	int pipes[2], status;
	pid_t pid;

	p[0] = 1;
	EXPECT(pipe(pipes) == 0);
	pid = fork();
	if (pid == 0) {
		if (write(pipes[1], "z", 1) != 1 || read(pipes[0], p, 1) != 1)
			_exit(9);
		_exit(p[0] == 'z' ? 0 : 1);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(p[0], 1);
}

TEST(many_forks_leave_memory_as_it_was, "")
{
	char *p = map(256 * PAGE, MAP_PRIVATE);

	memset(p, 1, 256 * PAGE);
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			memset(p, 2, 256 * PAGE);
			_exit(0);
		}
		EXPECT_EQ(waitpid(pid, &status, 0), pid);
		EXPECT_EQ(status, 0);
	}
	for (size_t i = 0; i < 256; i++)
		EXPECT_EQ(p[i * PAGE], 1);
}

TEST(written_page_is_not_copied_twice, "")
{
	char *p = map(64 * PAGE, MAP_PRIVATE);
	struct rusage before, after;

	memset(p, 1, 64 * PAGE);
	getrusage(RUSAGE_SELF, &before);
	memset(p, 2, 64 * PAGE);
	getrusage(RUSAGE_SELF, &after);
	EXPECT(after.ru_minflt - before.ru_minflt < 4);
}

TEST(process_vm_readv_and_writev, "")
{
	char *p = map(4 * PAGE, MAP_PRIVATE), buf[8192] = {0};
	struct iovec local[2] = {{buf, 100}, {buf + 100, 5000}};
	struct iovec remote = {p + PAGE - 50, 5100};
	int go[2], status;
	pid_t pid;

	EXPECT(pipe(go) == 0);
	memset(p, 3, 4 * PAGE);
	pid = fork();
	if (pid == 0) {
		if (read(go[0], buf, 1) != 1)
			_exit(9);
		_exit(p[PAGE] == 'w' && p[2 * PAGE] == 3 ? 0 : 1);
	}
	EXPECT_EQ(process_vm_readv(pid, local, 2, &remote, 1, 0), 5100);
	EXPECT_EQ(buf[0], 3);
	EXPECT_EQ(buf[5099], 3);
	memset(buf, 'w', 100);
	remote.iov_base = p + PAGE;
	EXPECT_EQ(process_vm_writev(pid, local, 1, &remote, 1, 0), 100);
	remote.iov_base = (void *)8;
	EXPECT_ERRNO(process_vm_readv(pid, local, 1, &remote, 1, 0), EFAULT);
	EXPECT_ERRNO(process_vm_readv(pid, local, 1, &remote, 1, 1), EINVAL);
	EXPECT_ERRNO(process_vm_readv(999999, local, 1, &remote, 1, 0), ESRCH);
	EXPECT_EQ(write(go[1], "x", 1), 1);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(p[PAGE], 3);
}
