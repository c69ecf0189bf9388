/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands for kernel/arch/aarch64/cpu.h when the kernel's memory or file code is
 * built for the host: no interrupts, one task, and page tables that are a plain array
 * (test_mm.c).
 */
#ifndef TALLY_ARCH_CPU_H
#define TALLY_ARCH_CPU_H

#include "lib/kernel.h"

#define MAX_CPUS    1
#define KSTACK_SIZE 16384UL
#define TASK_SIZE   (1ULL << 48)
#define PTE_READ    BIT(0)
#define PTE_WRITE   BIT(1)
#define PTE_EXEC    BIT(2)
#define BLOCK_SIZE  (512 * 4096UL)

struct mm;
struct pt_regs {
	u64 pc;
};
struct thread_ctx {
	u64 sp;
};

extern struct task *fake_task;
#define current fake_task

static inline u64 irq_save(void)
{
	return 0;
}
static inline void irq_restore(u64 f)
{
	(void)f;
}

static inline void cpu_relax(void)
{
}

paddr_t pgd_alloc(void);
void pgd_free(paddr_t pgd);
int pgd_map(paddr_t pgd, u64 va, paddr_t pa, unsigned prot);
u32 pgd_map_new(paddr_t pgd, u64 va, const paddr_t *pa, unsigned n, unsigned prot);
bool pgd_block_empty(paddr_t pgd, u64 va);
int pgd_map_block(paddr_t pgd, u64 va, paddr_t pa, unsigned prot);
paddr_t pgd_lookup(paddr_t pgd, u64 va, unsigned *prot);
void pgd_unmap_range(paddr_t pgd, u64 start, u64 end, void (*fn)(paddr_t pa, u64 va, void *arg),
		     void *arg);
void pgd_drop_range(paddr_t pgd, u64 start, u64 end, void (*fn)(paddr_t pa, u64 va, void *arg),
		     void *arg);
void pgd_walk_range(paddr_t pgd, u64 start, u64 end,
		    unsigned (*fn)(paddr_t pa, u64 va, unsigned prot, void *arg), void *arg);
void sync_icache(void *kaddr, size_t n);

/* What files need; user memory is the test's own. */
u64 clock_ns(void);
u64 boot_epoch_ns(void);
int copy_from_user(void *dst, const void *usrc, size_t n);
int copy_to_user(void *udst, const void *src, size_t n);
int clear_user(void *udst, size_t n);

#endif
