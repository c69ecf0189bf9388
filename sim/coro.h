/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coro.h - coroutines: stacks that hand the one thread of the process to each
 * other. They come from a pool and go back to it when their function returns.
 */
#ifndef SIM_CORO_H
#define SIM_CORO_H

#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

struct coro {
	ucontext_t context;
	void *stack;
	size_t size;
	void *fake_stack; /* AddressSanitizer's, while another one runs */
	void (*fn)(void *arg);
	void *arg;
	struct coro **home; /* where to go when fn returns */
	bool running;	    /* fn has been entered and has not returned */
	struct coro *next;
};

/** The coroutine that main() runs in. */
struct coro *coro_main(void);

/**
 * A coroutine that will call fn(arg) when it is first switched to. When fn
 * returns it switches to *home, and may be put back with coro_put().
 */
struct coro *coro_get(void (*fn)(void *arg), void *arg, struct coro **home);
void coro_put(struct coro *coro);

/** Go on in @to, until somebody switches to @from again. */
void coro_switch(struct coro *from, struct coro *to);

#endif
