/* SPDX-License-Identifier: BSD-2-Clause */
/* mmap(2), munmap(2), mprotect(2): placement, flags, errors, and the signals that go with them. */
#include "check.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE 4096UL

static sigjmp_buf back;
static volatile int caught_signal, caught_code;
static volatile uintptr_t caught_addr;

static void catch (int sig, siginfo_t *info, void *context)
{
	(void)context;
	caught_signal = sig;
	caught_code = info->si_code;
	caught_addr = (uintptr_t)info->si_addr;
	siglongjmp(back, 1);
}

static void catch_faults(void)
{
	struct sigaction sa = {.sa_sigaction = catch, .sa_flags = SA_SIGINFO};

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
}

/* The signal that an access ends in, 0 = none. */
static int touch(volatile char *p, bool write)
{
	caught_signal = 0;
	if (sigsetjmp(back, 1) == 0) {
		if (write)
			*p = 1;
		else
			(void)*p;
	}
	return caught_signal;
}

static char *map(size_t n, int prot, int flags)
{
	return mmap(NULL, n, prot, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

/* A file with n bytes, byte i being its number modulo 251. */
static int make_file(size_t n)
{
	char name[] = "/tmp/mm_map.XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	for (size_t i = 0; i < n; i++) {
		char c = (char)(i % 251);

		if (pwrite(fd, &c, 1, (off_t)i) != 1)
			return -1;
	}
	return fd;
}

TEST(anonymous_memory_is_zero, "")
{
	char *p = map(64 * PAGE, PROT_READ | PROT_WRITE, 0);

	EXPECT(p != MAP_FAILED);
	for (size_t i = 0; i < 64 * PAGE; i += 512)
		EXPECT_EQ(p[i], 0);
	p[5 * PAGE] = 7;
	EXPECT_EQ(p[5 * PAGE], 7);
	EXPECT_EQ(munmap(p, 64 * PAGE), 0);
}

TEST(maps_below_one_another, "")
{
	char *a = map(4 * PAGE, PROT_READ, MAP_NORESERVE);
	char *b = map(PAGE, PROT_READ | PROT_WRITE, 0);

	/*
	 * the second goes right below the first, or into a hole above it that was too small
	 * for that
	 */
	EXPECT(a != MAP_FAILED && b != MAP_FAILED);
	munmap(a, 4 * PAGE);
	EXPECT(map(4 * PAGE, PROT_READ, 0) == a);
}

TEST(hint_is_taken_when_free, "")
{
	char *p = map(8 * PAGE, PROT_READ, 0);

	munmap(p + 2 * PAGE, 2 * PAGE);
	EXPECT(mmap(p + 2 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	       p + 2 * PAGE);
	EXPECT(mmap(p, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != p);
}

TEST(fixed_replaces, "")
{
	char *p = map(3 * PAGE, PROT_READ | PROT_WRITE, 0);

	memset(p, 1, 3 * PAGE);
	EXPECT(mmap(p + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	       p + PAGE);
	EXPECT_EQ(p[PAGE], 0);
	EXPECT_EQ(p[0], 1);
	EXPECT_EQ(p[2 * PAGE], 1);
	EXPECT_ERRNO((long)mmap(p, PAGE, PROT_READ,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
		     EEXIST);
}

TEST(mmap_errors, "")
{
	int fd = make_file(10), ro = open("/proc/self/exe", O_RDONLY),
	    wo = open("/dev/null", O_WRONLY);
	int dir = open("/", O_RDONLY), pipes[2];

	EXPECT_ERRNO((long)mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), EINVAL);
	EXPECT_ERRNO((long)mmap(NULL, PAGE, PROT_READ, MAP_ANONYMOUS, -1, 0), EINVAL);
	EXPECT_ERRNO((long)mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, -1, 0), EBADF);
	EXPECT_ERRNO((long)mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 5), EINVAL);
	EXPECT_ERRNO((long)mmap((void *)5, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
				-1, 0),
		     EINVAL);
	EXPECT_ERRNO((long)mmap(NULL, 1UL << 50, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		     ENOMEM);
	EXPECT_ERRNO((long)mmap((void *)(1UL << 48), PAGE, PROT_READ,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
		     ENOMEM);
	EXPECT_ERRNO((long)mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ro, 0), EACCES);
	EXPECT_ERRNO((long)mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, wo, 0), EACCES);
	EXPECT_ERRNO((long)mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, dir, 0), ENODEV);
	EXPECT(pipe(pipes) == 0);
	EXPECT_ERRNO((long)mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, pipes[0], 0), ENODEV);
	EXPECT_ERRNO((long)mmap(NULL, PAGE, PROT_READ, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0),
		     EOPNOTSUPP);
}

TEST(munmap_errors_and_holes, "")
{
	char *p = map(5 * PAGE, PROT_READ, 0);

	EXPECT_ERRNO(munmap(p + 1, PAGE), EINVAL);
	EXPECT_ERRNO(munmap(p, 0), EINVAL);
	EXPECT_ERRNO(munmap(p, 1UL << 50), EINVAL);
	EXPECT_EQ(munmap(p + PAGE, PAGE), 0);
	EXPECT_EQ(munmap(p + PAGE, PAGE), 0); /* nothing there: fine */
	EXPECT_EQ(munmap(p, 5 * PAGE), 0);
	catch_faults();
	EXPECT_EQ(touch(p, false), SIGSEGV);
	EXPECT_EQ(caught_code, SEGV_MAPERR);
	EXPECT_EQ(caught_addr, (uintptr_t)p);
}

TEST(protection_is_kept, "")
{
	char *p = map(4 * PAGE, PROT_READ | PROT_WRITE, 0);

	catch_faults();
	memset(p, 3, 4 * PAGE);
	EXPECT_EQ(mprotect(p + PAGE, PAGE, PROT_READ), 0);
	EXPECT_EQ(touch(p + PAGE, true), SIGSEGV);
	EXPECT_EQ(caught_code, SEGV_ACCERR);
	EXPECT_EQ(touch(p + PAGE, false), 0);
	EXPECT_EQ(mprotect(p + 2 * PAGE, PAGE, PROT_NONE), 0);
	EXPECT_EQ(touch(p + 2 * PAGE, false), SIGSEGV);
	EXPECT_EQ(caught_code, SEGV_ACCERR);
	EXPECT_EQ(touch(p, true), 0);
	EXPECT_EQ(touch(p + 3 * PAGE, true), 0);
	/* what was there comes back */
	EXPECT_EQ(mprotect(p, 4 * PAGE, PROT_READ | PROT_WRITE), 0);
	EXPECT_EQ(p[PAGE + 9], 3);
	EXPECT_EQ(p[2 * PAGE + 9], 3);
	EXPECT_EQ(touch(p + 2 * PAGE, true), 0);
}

TEST(kernel_respects_protection, "")
{
	char *p = map(2 * PAGE, PROT_READ | PROT_WRITE, 0);
	int pipes[2];

	EXPECT(pipe(pipes) == 0);
	p[0] = 'x';
	mprotect(p, PAGE, PROT_NONE);
	EXPECT_ERRNO(write(pipes[1], p, 1), EFAULT);
	mprotect(p, PAGE, PROT_READ);
	EXPECT_EQ(write(pipes[1], p, 1), 1);
	EXPECT_ERRNO(read(pipes[0], p, 1), EFAULT);
	mprotect(p, PAGE, PROT_READ | PROT_WRITE);
	EXPECT_EQ(write(pipes[1], "y", 1), 1);
	EXPECT_EQ(read(pipes[0], p, 1), 1);
}

TEST(mprotect_errors, "")
{
	char *p = map(4 * PAGE, PROT_READ, 0), *ro;
	int fd = open("/proc/self/exe", O_RDONLY);

	EXPECT_ERRNO(mprotect(p + 1, PAGE, PROT_READ), EINVAL);
	EXPECT_ERRNO(mprotect(p, PAGE, 0x1000), EINVAL);
	EXPECT_EQ(mprotect(p, 0, PROT_READ), 0);
	munmap(p + 2 * PAGE, PAGE);
	EXPECT_ERRNO(mprotect(p, 4 * PAGE, PROT_READ | PROT_WRITE), ENOMEM);
	catch_faults();
	EXPECT_EQ(touch(p + PAGE, true), 0); /* what lies before the hole was changed */
	EXPECT_EQ(touch(p + 3 * PAGE, true), SIGSEGV);
	ro = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	EXPECT(ro != MAP_FAILED);
	EXPECT_ERRNO(mprotect(ro, PAGE, PROT_READ | PROT_WRITE), EACCES);
	EXPECT_EQ(mprotect(ro, PAGE, PROT_READ | PROT_EXEC), 0);
}

TEST(code_can_be_made, "")
{
	unsigned *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	p[0] = 0x52800540; /* mov w0, #42 */
	p[1] = 0xd65f03c0; /* ret */
	catch_faults();
	caught_signal = 0;
	if (sigsetjmp(back, 1) == 0)
		((int (*)(void))p)();
	EXPECT_EQ(caught_signal, SIGSEGV);
	EXPECT_EQ(caught_code, SEGV_ACCERR);
	EXPECT_EQ(mprotect(p, PAGE, PROT_READ | PROT_EXEC), 0);
	__builtin___clear_cache((char *)p, (char *)(p + 2));
	EXPECT_EQ(((int (*)(void))p)(), 42);
}

TEST(file_mapping_shows_the_file, "")
{
	int fd = make_file(3 * PAGE + 100);
	unsigned char *p = mmap(NULL, 5 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);

	EXPECT(p != MAP_FAILED);
	for (size_t i = 0; i < 3 * PAGE + 100; i += 13)
		EXPECT_EQ(p[i], i % 251);
	EXPECT_EQ(p[3 * PAGE + 100], 0); /* the rest of the last page is zero */
	EXPECT_EQ(p[4 * PAGE - 1], 0);
	catch_faults();
	EXPECT_EQ(touch((char *)p + 4 * PAGE, false), SIGBUS); /* beyond the end */
	EXPECT_EQ(caught_code, BUS_ADRERR);
	EXPECT_EQ(caught_addr, (uintptr_t)p + 4 * PAGE);
	munmap(p, 5 * PAGE);
	p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 2 * PAGE);
	EXPECT_EQ(p[1], (2 * PAGE + 1) % 251);
}

TEST(private_writes_stay_private, "")
{
	int fd = make_file(2 * PAGE);
	unsigned char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0), c;

	p[10] = 200;
	EXPECT_EQ(pread(fd, &c, 1, 10), 1);
	EXPECT_EQ(c, 10);
	c = 77;
	EXPECT_EQ(pwrite(fd, &c, 1, PAGE + 3), 1);
	EXPECT_EQ(p[PAGE + 3], 77); /* a page not yet copied shows what is written to the file */
	EXPECT_EQ(pwrite(fd, &c, 1, 11), 1);
	EXPECT_EQ(p[11], 11); /* the copied one does not */
	EXPECT_EQ(p[10], 200);
}

TEST(shared_writes_reach_the_file, "")
{
	int fd = make_file(2 * PAGE);
	unsigned char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unsigned char *q = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0), c;

	EXPECT_EQ(q[5], 5);
	p[5] = 99;
	EXPECT_EQ(q[5], 99);
	EXPECT_EQ(pread(fd, &c, 1, 5), 1);
	EXPECT_EQ(c, 99);
	c = 55;
	EXPECT_EQ(pwrite(fd, &c, 1, PAGE), 1);
	EXPECT_EQ(p[PAGE], 55);
	EXPECT_EQ(msync(p, 2 * PAGE, MS_SYNC), 0);
	EXPECT_ERRNO(msync(p, PAGE, MS_SYNC | MS_ASYNC), EINVAL);
	EXPECT_ERRNO(msync(p + 1, PAGE, MS_SYNC), EINVAL);
	munmap(q, 2 * PAGE);
	EXPECT_ERRNO(msync(q, PAGE, MS_ASYNC), ENOMEM);
}

TEST(truncated_file_is_sigbus, "")
{
	int fd = make_file(3 * PAGE);
	char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	catch_faults();
	EXPECT_EQ(touch(p + 2 * PAGE, true), 0);
	EXPECT_EQ(ftruncate(fd, PAGE), 0);
	EXPECT_EQ(touch(p + 2 * PAGE, false), SIGBUS);
	EXPECT_EQ(touch(p, true), 0);
	EXPECT_EQ(ftruncate(fd, 3 * PAGE), 0);
	EXPECT_EQ(touch(p + 2 * PAGE, false), 0);
	EXPECT_EQ(p[2 * PAGE], 0);
}

TEST(mapping_outlives_its_file, "")
{
	int fd = make_file(PAGE);
	unsigned char *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	close(fd);
	EXPECT_EQ(p[100], 100);
}

TEST(address_space_limit, "")
{
	struct rlimit r;

	EXPECT(getrlimit(RLIMIT_AS, &r) == 0);
	r.rlim_cur = 64UL << 20;
	EXPECT(setrlimit(RLIMIT_AS, &r) == 0);
	EXPECT(map(16UL << 20, PROT_READ, 0) != MAP_FAILED);
	EXPECT_ERRNO((long)map(64UL << 20, PROT_READ, 0), ENOMEM);
}

static __attribute__((noinline)) int recurse(int depth)
{
	volatile char frame[4000];

	frame[0] = (char)depth;
	frame[3999] = depth ? (char)recurse(depth - 1) : 0;
	return frame[0] + frame[3999];
}

TEST(stack_grows, "")
{
	recurse(1500); /* six of the eight megabytes */
}

TEST(stack_overflow_is_sigsegv, "")
{
	static char alt[65536];
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof(alt)};
	struct sigaction sa = {.sa_sigaction = catch, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	EXPECT(sigaltstack(&ss, NULL) == 0);
	sigaction(SIGSEGV, &sa, NULL);
	caught_signal = 0;
	if (sigsetjmp(back, 1) == 0)
		recurse(100000);
	EXPECT_EQ(caught_signal, SIGSEGV);
}

TEST(stack_keeps_its_distance, "")
{
	char here, *below = (char *)(((uintptr_t)&here & ~(PAGE - 1)) - (3UL << 20)), *p;

	/* a mapping three megabytes below: the stack may come no nearer than the guard gap */
	p = mmap(below, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	EXPECT(p == below);
	catch_faults();
	EXPECT_EQ(touch(below + (2UL << 20), true), 0);
	EXPECT_EQ(touch(below + (1UL << 19), true), SIGSEGV);
	EXPECT_EQ(caught_code, SEGV_MAPERR);
}
