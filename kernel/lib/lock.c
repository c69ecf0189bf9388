/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spin locks and the big lock.
 *
 * The big lock is a ticket lock, so CPUs get it in the order they asked: under
 * icount the CPUs take turns, and without the order one of them could starve.
 * Remote calls are served while spinning because interrupts stay on.
 */
#include "lib/lock.h"

static struct {
	u32 next;    /* the ticket that the next one to ask gets */
	u32 serving; /* the ticket that holds the lock; its holder alone changes it */
	u32 owner;   /* CPU + 1, 0 when free */
} big;

void spin_lock(struct spinlock *l)
{
	while (unlikely(__atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE)))
		while (__atomic_load_n(&l->held, __ATOMIC_RELAXED))
			cpu_relax();
}

void spin_unlock(struct spinlock *l)
{
	__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}

void big_lock(void)
{
	u32 ticket = __atomic_fetch_add(&big.next, 1, __ATOMIC_RELAXED);

	while (unlikely(__atomic_load_n(&big.serving, __ATOMIC_ACQUIRE) != ticket))
		cpu_relax();
	WRITE_ONCE(big.owner, cpu_id() + 1);
}

void big_unlock(void)
{
	WRITE_ONCE(big.owner, 0);
	__atomic_store_n(&big.serving, big.serving + 1, __ATOMIC_RELEASE);
}

bool big_lock_held(void)
{
	return READ_ONCE(big.owner) == cpu_id() + 1;
}
