/* SPDX-License-Identifier: BSD-2-Clause */
/* What futex.c and futex_pi.c share. Guarded by the big lock. */
#ifndef TALLY_PROC_FUTEX_H
#define TALLY_PROC_FUTEX_H

#include "proc/internal.h"
#include <linux/futex.h>

/*
 * What makes two addresses the same futex: the physical address in a shared
 * mapping, the address in its address space otherwise.
 */
struct futex_key {
	u64 where;
	const void *mm; /* NULL: `where` is physical */
};

/* A task that waits. On its own stack. */
struct futex_waiter {
	struct futex_key key;
	struct task *task;
	u32 bitset;
	bool woken;	    /* taken off the list by a waker */
	bool pi;	    /* waits to own it (LOCK_PI) */
	bool retry;	    /* pi: woken because the owner has exited */
	struct task *owner; /* pi: who has it; NULL when nobody in particular */
	struct futex_waiter *next, *prev;
};

struct futex_bucket {
	struct futex_waiter *list; /* DL, in the order they came */
};

int futex_get_key(u64 uaddr, bool private, bool write, struct futex_key *key);
struct futex_bucket *futex_bucket_of(const struct futex_key *key);
bool futex_same(const struct futex_key *a, const struct futex_key *b);
void futex_enqueue(struct futex_waiter *w);
void futex_unqueue(struct futex_waiter *w); /* if no waker has */
void futex_wake_waiter(struct futex_waiter *w);
/* Sleeps until woken (0), the deadline (-ETIMEDOUT) or a signal (-ERESTARTSYS); then it is not queued. */
int futex_sleep(struct futex_waiter *w, u64 deadline);
struct futex_bucket *futex_buckets(unsigned i); /* i-th, NULL past the end */

/* futex_pi.c */
long futex_lock_pi(u64 uaddr, bool private, u64 deadline, bool try_only);
long futex_unlock_pi(u64 uaddr, bool private);

#endif
