/* SPDX-License-Identifier: BSD-2-Clause */
/* mremap(2), madvise(2), mincore(2), brk(2), mlock(2), membarrier(2). */
#include "check.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096UL

static char *map(size_t n, int flags)
{
	return mmap(NULL, n, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
}

/* n pages, page i filled with i + 1. */
static char *numbered(size_t n, int flags)
{
	char *p = map(n * PAGE, flags);

	for (size_t i = 0; i < n; i++)
		memset(p + i * PAGE, (int)i + 1, PAGE);
	return p;
}

TEST(mremap_shrinks_and_grows_in_place, "")
{
	char *p = numbered(8, MAP_PRIVATE);

	EXPECT(mremap(p, 8 * PAGE, 3 * PAGE, 0) == p);
	EXPECT_EQ(p[2 * PAGE], 3);
	EXPECT(mremap(p, 3 * PAGE, 8 * PAGE, 0) == p);
	EXPECT_EQ(p[2 * PAGE], 3);
	EXPECT_EQ(p[3 * PAGE], 0);
	EXPECT_EQ(p[7 * PAGE], 0);
}

TEST(mremap_moves, "")
{
	char *p = numbered(4, MAP_PRIVATE), *q;
	char *wall = mmap(p + 4 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)wall; /* whatever lies behind it is in use now */
	EXPECT_ERRNO((long)mremap(p, 4 * PAGE, 64 * PAGE, 0), ENOMEM);
	q = mremap(p, 4 * PAGE, 64 * PAGE, MREMAP_MAYMOVE);
	EXPECT(q != MAP_FAILED && q != p);
	for (size_t i = 0; i < 4; i++)
		EXPECT_EQ(q[i * PAGE + 17], i + 1);
	EXPECT_EQ(q[4 * PAGE], 0);
	EXPECT_ERRNO(msync(p, PAGE, MS_ASYNC), ENOMEM); /* the old place is empty */
}

TEST(mremap_fixed, "")
{
	char *p = numbered(4, MAP_PRIVATE), *q = numbered(8, MAP_PRIVATE);

	EXPECT(mremap(p, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q + 2 * PAGE) ==
	       q + 2 * PAGE);
	EXPECT_EQ(q[PAGE], 2);
	EXPECT_EQ(q[2 * PAGE], 1);
	EXPECT_EQ(q[5 * PAGE], 4);
	EXPECT_EQ(q[6 * PAGE], 7);
	EXPECT_ERRNO((long)mremap(q, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q + PAGE),
		     EINVAL);
}

TEST(mremap_part_of_an_area, "")
{
	char *p = numbered(6, MAP_PRIVATE), *q;

	q = mremap(p + 2 * PAGE, 2 * PAGE, 10 * PAGE, MREMAP_MAYMOVE);
	EXPECT(q != MAP_FAILED);
	EXPECT_EQ(q[0], 3);
	EXPECT_EQ(q[PAGE], 4);
	EXPECT_EQ(q[2 * PAGE], 0);
	EXPECT_EQ(p[PAGE], 2);
	EXPECT_EQ(p[4 * PAGE], 5);
	EXPECT_ERRNO(msync(p + 2 * PAGE, PAGE, MS_ASYNC), ENOMEM);
}

TEST(mremap_dontunmap, "")
{
	char *p = numbered(3, MAP_PRIVATE), *q;

	q = mremap(p, 3 * PAGE, 3 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
	EXPECT(q != MAP_FAILED);
	EXPECT_EQ(q[PAGE], 2);
	EXPECT_EQ(p[PAGE], 0); /* still mapped, empty */
}

TEST(mremap_doubles_a_shared_area, "")
{
	char *p = numbered(2, MAP_SHARED), *q = mremap(p, 0, 2 * PAGE, MREMAP_MAYMOVE);

	EXPECT(q != MAP_FAILED);
	q[PAGE] = 99;
	EXPECT_EQ(p[PAGE], 99);
	p = numbered(2, MAP_PRIVATE);
	EXPECT_ERRNO((long)mremap(p, 0, 2 * PAGE, MREMAP_MAYMOVE), EINVAL);
}

TEST(mremap_errors, "")
{
	char *p = map(4 * PAGE, MAP_PRIVATE);

	EXPECT_ERRNO((long)mremap(p + 1, PAGE, PAGE, 0), EINVAL);
	EXPECT_ERRNO((long)mremap(p, PAGE, 0, 0), EINVAL);
	EXPECT_ERRNO((long)mremap(p, PAGE, 2 * PAGE, MREMAP_FIXED, p), EINVAL);
	EXPECT_ERRNO((long)mremap(p, PAGE, 2 * PAGE, 8), EINVAL);
	munmap(p + PAGE, 2 * PAGE);
	EXPECT_ERRNO((long)mremap(p + PAGE, PAGE, 2 * PAGE, MREMAP_MAYMOVE), EFAULT);
	EXPECT_ERRNO((long)mremap(p, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE), EFAULT);
}

TEST(dontneed_empties, "")
{
	char name[] = "/tmp/mm_remap.XXXXXX", *p = numbered(3, MAP_PRIVATE);
	int fd = mkstemp(name);

	unlink(name);
	EXPECT_EQ(madvise(p + PAGE, PAGE, MADV_DONTNEED), 0);
	EXPECT_EQ(p[0], 1);
	EXPECT_EQ(p[PAGE], 0);
	EXPECT_EQ(p[2 * PAGE], 3);
	/* of a private file mapping, the file's own bytes come back */
	EXPECT_EQ(write(fd, "abc", 3), 3);
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	p[0] = 'x';
	EXPECT_EQ(madvise(p, PAGE, MADV_DONTNEED), 0);
	EXPECT_EQ(p[0], 'a');
	/* shared memory keeps its contents */
	p = numbered(1, MAP_SHARED);
	EXPECT_EQ(madvise(p, PAGE, MADV_DONTNEED), 0);
	EXPECT_EQ(p[0], 1);
}

TEST(madvise_errors, "")
{
	char *p = numbered(4, MAP_PRIVATE);

	EXPECT_ERRNO(madvise(p + 1, PAGE, MADV_DONTNEED), EINVAL);
	EXPECT_ERRNO(madvise(p, PAGE, 12345), EINVAL);
	EXPECT_EQ(madvise(p, 0, MADV_DONTNEED), 0);
	EXPECT_EQ(madvise(p, 4 * PAGE, MADV_WILLNEED), 0);
	EXPECT_EQ(madvise(p, 4 * PAGE, MADV_SEQUENTIAL), 0);
	EXPECT_EQ(madvise(p, 4 * PAGE, MADV_FREE), 0);
	munmap(p + PAGE, PAGE);
	EXPECT_ERRNO(madvise(p, 4 * PAGE, MADV_DONTNEED), ENOMEM);
	EXPECT_EQ(p[2 * PAGE], 0); /* what is behind the hole was done all the same */
	p = numbered(1, MAP_SHARED);
	EXPECT_ERRNO(madvise(p, PAGE, MADV_FREE), EINVAL);
}

TEST(populate_makes_pages_present, "")
{
	char *p = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	unsigned char vec[16];
	struct rusage before, after;

	EXPECT_EQ(mincore(p, 16 * PAGE, vec), 0);
	for (int i = 0; i < 16; i++)
		EXPECT_EQ(vec[i] & 1, 1);
	getrusage(RUSAGE_SELF, &before);
	for (int i = 0; i < 16; i++)
		p[(size_t)i * PAGE] = 1;
	getrusage(RUSAGE_SELF, &after);
	EXPECT(after.ru_minflt - before.ru_minflt < 4);
	p = map(16 * PAGE, MAP_PRIVATE);
	EXPECT_EQ(madvise(p, 16 * PAGE, MADV_POPULATE_WRITE), 0);
	EXPECT_EQ(mincore(p, 16 * PAGE, vec), 0);
	EXPECT_EQ(vec[15] & 1, 1);
	mprotect(p, PAGE, PROT_READ);
	EXPECT_ERRNO(madvise(p, PAGE, MADV_POPULATE_WRITE), EINVAL);
}

TEST(mincore_tells, "")
{
	char *p = map(4 * PAGE, MAP_PRIVATE);
	unsigned char vec[4] = {9, 9, 9, 9};

	p[PAGE] = 1;
	EXPECT_EQ(mincore(p, 4 * PAGE, vec), 0);
	EXPECT_EQ(vec[0] & 1, 0);
	EXPECT_EQ(vec[1] & 1, 1);
	EXPECT_EQ(vec[2] & 1, 0);
	EXPECT_ERRNO(mincore(p + 1, PAGE, vec), EINVAL);
	EXPECT_ERRNO(mincore(p, PAGE, (void *)8), EFAULT);
	munmap(p + 2 * PAGE, PAGE);
	EXPECT_ERRNO(mincore(p, 4 * PAGE, vec), ENOMEM);
}

TEST(brk_moves, "")
{
	char *start = sbrk(0);

	EXPECT(sbrk(100000) == start);
	start[99999] = 5;
	EXPECT_EQ(start[50000], 0);
	EXPECT(sbrk(-100000) == start + 100000);
	EXPECT(sbrk(0) == start);
	EXPECT(sbrk(100000) == start);
	EXPECT_EQ(start[99999], 0); /* given back and had again: zero */
	/* the system call returns the break also when it fails */
	EXPECT_EQ(syscall(SYS_brk, 8), (uintptr_t)sbrk(0));
}

TEST(brk_stops_at_a_mapping, "")
{
	char *now = sbrk(0), *wall;
	uintptr_t above = ((uintptr_t)now + 64 * PAGE) & ~(PAGE - 1);

	wall = mmap((void *)above, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	EXPECT(wall == (void *)above);
	EXPECT_EQ(syscall(SYS_brk, now + 128 * PAGE), (uintptr_t)now);
	EXPECT_EQ(syscall(SYS_brk, now + 16 * PAGE), (uintptr_t)now + 16 * PAGE);
}

TEST(brk_respects_the_data_limit, "")
{
	char *now = sbrk(0);
	struct rlimit r = {.rlim_cur = 8UL << 20, .rlim_max = RLIM_INFINITY};

	EXPECT(setrlimit(RLIMIT_DATA, &r) == 0);
	EXPECT_EQ(syscall(SYS_brk, now + (16UL << 20)), (uintptr_t)now);
	EXPECT_EQ(syscall(SYS_brk, now + (1UL << 20)), (uintptr_t)now + (1UL << 20));
}

TEST(mlock_makes_present, "")
{
	char *p = map(4 * PAGE, MAP_PRIVATE);
	unsigned char vec[4];

	EXPECT_EQ(mlock(p + 10, 2 * PAGE), 0);
	EXPECT_EQ(mincore(p, 4 * PAGE, vec), 0);
	EXPECT_EQ(vec[0] & vec[1] & vec[2] & 1, 1);
	EXPECT_EQ(vec[3] & 1, 0);
	EXPECT_ERRNO(madvise(p, PAGE, MADV_DONTNEED), EINVAL); /* locked */
	EXPECT_EQ(munlock(p, 4 * PAGE), 0);
	EXPECT_EQ(madvise(p, PAGE, MADV_DONTNEED), 0);
	munmap(p + PAGE, PAGE);
	EXPECT_ERRNO(mlock(p, 4 * PAGE), ENOMEM);
	EXPECT_ERRNO(mlockall(0), EINVAL);
	EXPECT_EQ(mlockall(MCL_FUTURE), 0);
	p = map(PAGE, MAP_PRIVATE);
	EXPECT_EQ(mincore(p, PAGE, vec), 0);
	EXPECT_EQ(vec[0] & 1, 1);
	EXPECT_EQ(munlockall(), 0);
}

TEST(membarrier_commands, "")
{
	long supported = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	if (supported < 0 && errno == ENOSYS)
		SKIP("no membarrier");
	EXPECT(supported & MEMBARRIER_CMD_GLOBAL);
	EXPECT(supported & MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	EXPECT_ERRNO(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0), EPERM);
	EXPECT_EQ(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0), 0);
	EXPECT_EQ(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0), 0);
	EXPECT_EQ(syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0), 0);
	EXPECT_ERRNO(syscall(SYS_membarrier, 12345, 0, 0), EINVAL);
}
