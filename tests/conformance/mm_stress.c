/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads and their children map, write, protect, move and unmap memory, all at
 * the same time in one address space, and check that nobody's bytes change but
 * by their owner. What they do depends on the numbers drawn only.
 */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	4096UL
#define THREADS 4
#define SLOTS	12
#define STEPS	400
#define MAX	24 /* pages of one mapping */

struct slot {
	unsigned char *at;
	size_t pages;
	unsigned char value; /* each page begins with value + its number */
	bool writable;
};

struct worker {
	pthread_t thread;
	unsigned long seed;
	struct slot slot[SLOTS];
	const char *wrong;
};

static int image = -1; /* a file whose pages begin with 200 + their number modulo 50 */

static unsigned draw(struct worker *w, unsigned n)
{
	w->seed = w->seed * 6364136223846793005UL + 1442695040888963407UL;
	return (unsigned)(w->seed >> 40) % n;
}

static bool intact(const struct slot *s)
{
	for (size_t i = 0; i < s->pages; i++)
		if (s->at[i * PAGE] != (unsigned char)(s->value + i))
			return false;
	return true;
}

static void fill(struct slot *s, unsigned char value)
{
	s->value = value;
	for (size_t i = 0; i < s->pages; i++)
		s->at[i * PAGE] = (unsigned char)(value + i);
}

static const char *step_map(struct worker *w, struct slot *s)
{
	bool file = draw(w, 4) == 0;

	s->pages = 1 + draw(w, MAX);
	s->at = mmap(NULL, s->pages * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | (file ? 0 : MAP_ANONYMOUS), file ? image : -1, 0);
	if (s->at == MAP_FAILED)
		return "mmap";
	s->writable = true;
	s->value = 200;
	if (file && !intact(s))
		return "the file's pages are not the file's";
	fill(s, (unsigned char)draw(w, 256));
	return NULL;
}

static const char *step_remap(struct worker *w, struct slot *s)
{
	size_t pages = 1 + draw(w, MAX), keep = pages < s->pages ? pages : s->pages;
	void *p = mremap(s->at, s->pages * PAGE, pages * PAGE, MREMAP_MAYMOVE);

	if (p == MAP_FAILED)
		return "mremap";
	s->at = p;
	s->pages = keep;
	if (!intact(s))
		return "lost by mremap";
	if (pages > keep && munmap(s->at + keep * PAGE, (pages - keep) * PAGE))
		return "munmap of the tail";
	return NULL;
}

/* A child checks all slots of its thread, scribbles on them, and goes. */
static const char *step_fork(struct worker *w)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		for (struct slot *s = w->slot; s < w->slot + SLOTS; s++) {
			if (s->at && !intact(s))
				_exit(1);
			if (s->at && s->writable)
				memset(s->at, 77, s->pages * PAGE);
		}
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return "fork";
	return status ? "the child saw something else" : NULL;
}

static const char *step(struct worker *w)
{
	struct slot *s = &w->slot[draw(w, SLOTS)];

	if (!s->at)
		return step_map(w, s);
	if (!intact(s))
		return "changed by somebody else";
	switch (draw(w, 8)) {
	case 0:
	case 1:
		if (munmap(s->at, s->pages * PAGE))
			return "munmap";
		s->at = NULL;
		return NULL;
	case 2:
		s->writable = !s->writable;
		if (mprotect(s->at, s->pages * PAGE, PROT_READ | (s->writable ? PROT_WRITE : 0)))
			return "mprotect";
		return NULL;
	case 3:
		return step_remap(w, s);
	case 4:
		return draw(w, 3) ? NULL : step_fork(w);
	default:
		if (s->writable)
			fill(s, (unsigned char)draw(w, 256));
		return NULL;
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < STEPS && !w->wrong; i++)
		w->wrong = step(w);
	return NULL;
}

TEST(threads_and_children, "")
{
	static struct worker w[THREADS];
	char name[] = "/tmp/mm_stress.XXXXXX";

	image = mkstemp(name);
	EXPECT(image >= 0);
	unlink(name);
	for (size_t i = 0; i < MAX; i++) {
		unsigned char c = (unsigned char)(200 + i);

		EXPECT_EQ(pwrite(image, &c, 1, (off_t)(i * PAGE)), 1);
	}
	EXPECT_EQ(ftruncate(image, MAX * PAGE), 0);
	for (int i = 0; i < THREADS; i++) {
		w[i].seed = (unsigned long)i + 1;
		EXPECT_EQ(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(w[i].thread, NULL);
	for (int i = 0; i < THREADS; i++)
		if (w[i].wrong)
			FAIL("thread %d: %s", i, w[i].wrong);
}
