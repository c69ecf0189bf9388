/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coro.c - coroutines on ucontext(3), with a guard page below each stack, and
 * announced to AddressSanitizer, which otherwise takes a change of stack for
 * an error.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coro.h"
#include "sim.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(save, bottom, size) \
	((void)(save), (void)(bottom), (void)(size))
#define __sanitizer_finish_switch_fiber(save, bottom, size) \
	((void)(save), (void)(bottom), (void)(size))
#endif

#define STACK_SIZE (256U * 1024)

static struct coro main_coro;
static struct coro *pool;
static struct coro *starting;

struct coro *coro_main(void)
{
	if (main_coro.stack == NULL) {
		pthread_attr_t attr;

		sim_assert(pthread_getattr_np(pthread_self(), &attr) == 0);
		sim_assert(pthread_attr_getstack(&attr, &main_coro.stack, &main_coro.size) == 0);
		pthread_attr_destroy(&attr);
	}
	return &main_coro;
}

static void entry(void)
{
	struct coro *self = starting;

	__sanitizer_finish_switch_fiber(NULL, NULL, NULL);
	for (;;) {
		self->running = true;
		self->fn(self->arg);
		self->running = false;
		coro_switch(self, *self->home);
	}
}

static struct coro *coro_new(void)
{
	size_t guard = (size_t)sysconf(_SC_PAGESIZE);
	struct coro *coro = calloc(1, sizeof(*coro));
	char *memory = mmap(NULL, guard + STACK_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	sim_assert(coro != NULL && memory != MAP_FAILED);
	sim_assert(mprotect(memory, guard, PROT_NONE) == 0);
	coro->stack = memory + guard;
	coro->size = STACK_SIZE;
	sim_assert(getcontext(&coro->context) == 0);
	coro->context.uc_stack.ss_sp = coro->stack;
	coro->context.uc_stack.ss_size = coro->size;
	makecontext(&coro->context, entry, 0);
	return coro;
}

struct coro *coro_get(void (*fn)(void *arg), void *arg, struct coro **home)
{
	struct coro *coro = pool;

	if (coro != NULL)
		pool = coro->next;
	else
		coro = coro_new();
	coro->fn = fn;
	coro->arg = arg;
	coro->home = home;
	return coro;
}

void coro_put(struct coro *coro)
{
	sim_assert(!coro->running);
	coro->next = pool;
	pool = coro;
}

void coro_switch(struct coro *from, struct coro *to)
{
	starting = to;
	__sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->size);
	sim_assert(swapcontext(&from->context, &to->context) == 0);
	__sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
}
