/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locking in this kernel.
 *
 * One big lock guards all that system calls and faults do: processes, memory
 * maps, files. A task takes it when it enters the kernel from user mode for
 * anything but an interrupt, keeps it while it runs there, and lets it go when
 * it sleeps (schedule() does that) or returns to user mode. Kernel code is not
 * preempted. Interrupts stay enabled in system calls, so that they can be
 * timed and sampled.
 *
 * What interrupt handlers touch (run queues, wait queues, timers, device
 * rings) has spin locks taken with interrupts off. Order: big lock, then spin
 * locks; sched_lock (proc/sched.c) is innermost. A handler never takes the big
 * lock.
 */
#ifndef TALLY_LIB_LOCK_H
#define TALLY_LIB_LOCK_H

#include "arch/aarch64/cpu.h"

struct spinlock {
	u32 held; /* 0 or 1 */
};

/* Interrupts already off, or the lock is never taken in a handler. */
static inline void spin_lock(struct spinlock *l)
{
	while (unlikely(__atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE)))
		while (__atomic_load_n(&l->held, __ATOMIC_RELAXED))
			cpu_relax();
}
static inline void spin_unlock(struct spinlock *l)
{
	__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}
static inline u64 spin_lock_irqsave(struct spinlock *l)
{
	u64 f = irq_save();
	spin_lock(l);
	return f;
}
static inline void spin_unlock_irqrestore(struct spinlock *l, u64 f)
{
	spin_unlock(l);
	irq_restore(f);
}

/*
 * Waits for another CPU to make `condition` true: looks for a while, then sleeps until an interrupt, since
 * spinning would keep the host from running the CPU that is waited for. *asleep is true while it may
 * sleep: whoever makes the condition true then sends an interrupt. All of that is sequentially
 * consistent. Interrupts on; they are served.
 */
#define SPINS 300 /* looks before sleeping */
#define wait_for_other_cpu(asleep, condition)                                    \
	do {                                                                     \
		for (u32 __spins = 0; !(condition); __spins++) {                 \
			if (__spins < SPINS) {                                   \
				cpu_relax();                                     \
				continue;                                        \
			}                                                        \
			irq_disable();                                           \
			__atomic_store_n((asleep), true, __ATOMIC_SEQ_CST);      \
			if (!(condition))                                        \
				arch_cpu_idle();                                 \
			__atomic_store_n((asleep), false, __ATOMIC_RELAXED);     \
			irq_enable();                                            \
		}                                                                \
	} while (0)

/* The big lock (lib/lock.c). Called with interrupts on; remote calls are served while spinning. Not recursive. */
void big_lock(void);
void big_unlock(void);
bool big_lock_held(void); /* by this CPU */

/* A lock whose holder may sleep. Process context, big lock held. (Built on the wait queues, proc/sched.c.) */
struct mutex {
	struct task *owner;
	struct waiter *waiters;
};
void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);

#endif
