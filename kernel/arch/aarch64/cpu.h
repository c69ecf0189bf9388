/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the rest of the kernel needs from the processor: the current task,
 * interrupt masking, barriers, the saved state of user mode and of a switched
 * out thread, and the calls that the arch/aarch64 files offer.
 */
#ifndef TALLY_ARCH_CPU_H
#define TALLY_ARCH_CPU_H

#include "lib/kernel.h"

#define MAX_CPUS 8
#define KSTACK_SIZE 16384UL

struct task;
struct mm;

/*
 * User registers at kernel entry. The first four members lie as in the ABI's
 * struct user_pt_regs (asm/ptrace.h).
 */
struct pt_regs {
	u64 regs[31];
	u64 sp;
	u64 pc;
	u64 pstate;
	u64 orig_x0;	/* x0 at syscall entry, for restarting it */
	s64 syscallno;	/* -1 when not in a system call */
};

struct fpsimd_state {
	__uint128_t vregs[32];
	u32 fpsr, fpcr;
} __aligned(16);

/* What a switched-out thread keeps. */
struct thread_ctx {
	u64 x19_x28[10];
	u64 fp, lr, sp;
	u64 tls; /* TPIDR_EL0 */
	struct fpsimd_state fpsimd;
	unsigned fpsimd_cpu; /* whose FP/SIMD registers may still hold it (switch.c) */
	u64 fault_esr, fault_addr; /* of the last exception in user mode, for signal frames */
};

/* TPIDR_EL1 holds the running task. */
static inline struct task *current_task(void)
{
	struct task *t;
	/* not volatile: may be cached, a task never sees another's value */
	__asm__("mrs %0, tpidr_el1" : "=r"(t));
	return t;
}
#define current current_task()

static inline u64 irq_save(void)
{
	u64 f;
	__asm__ volatile("mrs %0, daif\n\tmsr daifset, #2" : "=r"(f)::"memory");
	return f;
}
static inline void irq_restore(u64 f)
{
	__asm__ volatile("msr daif, %0" ::"r"(f) : "memory");
}
static inline void irq_enable(void)
{
	__asm__ volatile("msr daifclr, #2" ::: "memory");
}
static inline void irq_disable(void)
{
	__asm__ volatile("msr daifset, #2" ::: "memory");
}
static inline bool irqs_disabled(void)
{
	u64 f;
	__asm__ volatile("mrs %0, daif" : "=r"(f));
	return f & (1u << 7);
}
/* Interrupts off. Whether one is waiting for them to be on; WFI does not wait then. */
static inline bool irq_is_pending(void)
{
	u64 isr;
	__asm__ volatile("mrs %0, isr_el1" : "=r"(isr));
	return isr & (1u << 7);
}
/* Interrupts off, and off again afterwards: those that are pending are taken. */
static inline void irq_window(void)
{
	__asm__ volatile("msr daifclr, #2\n\tisb\n\tmsr daifset, #2" ::: "memory");
}
static inline void cpu_relax(void)
{
	__asm__ volatile("yield" ::: "memory");
}
static inline bool user_mode(const struct pt_regs *r)
{
	return (r->pstate & 0xf) == 0;
}

/*
 * This CPU's number. Stable in the kernel, which is not preempted, but not across schedule().
 * start.S puts it into CONTEXTIDR_EL1, which nothing else uses here.
 */
static inline unsigned cpu_id(void)
{
	u64 id;
	__asm__ volatile("mrs %0, contextidr_el1" : "=r"(id));
	return (unsigned)id;
}
unsigned nr_cpus(void);		 /* CPUs that came up, fixed after boot */
bool cpu_online(unsigned cpu);

/* The user registers of a task that entered the kernel (top of its kernel stack). */
struct pt_regs *task_regs(struct task *t);

/* switch.S: saves prev, loads next, sets TPIDR_EL1. Returns, in next's context, the task it came from. */
struct task *arch_switch(struct task *prev, struct task *next);
/* A new thread: first runs ret_from_fork (which finishes the switch), then returns to user mode with *task_regs(t). */
void arch_thread_init_user(struct task *t);
/* A new kernel thread: runs fn(arg) with interrupts on and the big lock held; must not return. */
void arch_thread_init_kernel(struct task *t, void (*fn)(void *), void *arg);
/* fork: gives the child copies of the running thread's FP/SIMD registers and TLS pointer. */
void arch_fork_state(struct task *child);
void arch_save_fpsimd(struct fpsimd_state *s);
void arch_load_fpsimd(const struct fpsimd_state *s);
/* exec: registers all zero, PC and SP as given, EL0t, FP/SIMD and TLS cleared. Current task only. */
void arch_start_user(struct pt_regs *regs, u64 pc, u64 sp);
void arch_set_tls(u64 tls); /* current task */

/* Idle: waits for an interrupt with interrupts off and returns with them off (a pending one wakes it). */
void arch_cpu_idle(void);

/* cpufeature.c: AT_HWCAP and AT_HWCAP2 of new programs, as arm64 Linux derives them from the ID registers. */
u64 arch_hwcap(void);
u64 arch_hwcap2(void);
u64 arch_midr(unsigned cpu); /* MIDR_EL1 */
u64 arch_revidr(unsigned cpu);
void arch_cpufeature_init(void); /* on each CPU: panics if it lacks what the kernel is built for */

/* timer.c: CNTVCT-based monotonic nanoseconds since boot, the same on all CPUs. Any context. */
extern u32 clock_ns_per_count; /* 0: not a whole number */
u64 clock_counts_to_ns(u64 counts);
static inline u64 clock_ns(void)
{
	u64 counts;
	/* not earlier than what came before */
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(counts)::"memory");
	return likely(clock_ns_per_count) ? counts * clock_ns_per_count
					  : clock_counts_to_ns(counts);
}
/* Arms this CPU's virtual timer for the given clock_ns() value (0 = off). Interrupts off. */
void arch_timer_set(u64 deadline_ns);
/* rtc.c (PL031): seconds since 1970 at boot; wall clock = that + clock_ns(). */
u64 boot_epoch_ns(void);

/* smp.c. Runs fn(arg) on the CPU with interrupts off, returns when it has run. Caller: interrupts on,
 * no spin lock held (the big lock may be). -ENXIO if the CPU is not online. On this CPU: direct call. */
int smp_call(unsigned cpu, void (*fn)(void *), void *arg);
/* Makes the CPU look at need_resched. Any context. */
void smp_send_reschedule(unsigned cpu);
/* Makes the CPU run the calls that wait for it. For turn.c alone: smp_call() does it otherwise. */
void smp_send_call(unsigned cpu);

/* gic.c: one handler per INTID; runs with interrupts off, without the big lock. regs: what was interrupted. */
typedef void (*irq_handler_t)(unsigned intid, struct pt_regs *regs, void *arg);
void irq_register(unsigned intid, irq_handler_t fn, void *arg);
void irq_enable_line(unsigned intid);		/* SPI, or PPI on the calling CPU */
void irq_route_devices(unsigned cpu);		/* all SPIs that are enabled go there from now on */
void irq_enable_ppi_all(unsigned intid);	/* PPI on this and on later CPUs */

/* powers the machine off / ends QEMU. Any context. */
void machine_power_off(void) __noreturn;
void machine_die(int status) __noreturn; /* semihosting exit with a status */

/*
 * usercopy. All return 0 or -EFAULT and touch only addresses below TASK_SIZE;
 * faults inside are resolved like any user fault (may sleep: big lock held).
 */
int copy_from_user(void *dst, const void *usrc, size_t n) __must_check;
int copy_to_user(void *udst, const void *src, size_t n) __must_check;
int clear_user(void *udst, size_t n) __must_check;
/* The length without NUL (< max), -EFAULT, or -ENAMETOOLONG when no NUL within max bytes. */
ssize_t strncpy_from_user(char *dst, const char *usrc, size_t max) __must_check;
#define get_user(var, uptr) copy_from_user(&(var), (uptr), sizeof(var))
#define put_user(val, uptr)                                                \
	({                                                                 \
		__typeof__(*(uptr)) __v = (val);                           \
		copy_to_user((void *)(uptr), &__v, sizeof(__v));           \
	})
/* futex: atomically compares and swaps the user word; *old is what was there. May fault and sleep. */
int cmpxchg_user_u32(u32 *uaddr, u32 expect, u32 desired, u32 *old) __must_check;
/* Like copy_from_user but never faults pages in and never sleeps; interrupt-safe (call chains). */
int copy_from_user_nofault(void *dst, const void *usrc, size_t n) __must_check;

/* mmu.c: page tables of user space; `pgd` is the physical address of the root table. Big lock held. */
#define TASK_SIZE (1ULL << 48)
#define PTE_READ BIT(0)
#define PTE_WRITE BIT(1)
#define PTE_EXEC BIT(2)
paddr_t pgd_alloc(void);			/* 0 on no memory */
void pgd_free(paddr_t pgd);			/* frees the tables, not the pages mapped */
int pgd_map(paddr_t pgd, u64 va, paddr_t pa, unsigned prot); /* one page, replaces; -ENOMEM */
/*
 * Maps the n pages pa[] (0: leave out) from va on, where nothing is mapped yet. All lie in one 64 KiB block.
 * Returns a bit for each page that it mapped; none if there is no memory for a table.
 */
u32 pgd_map_new(paddr_t pgd, u64 va, const paddr_t *pa, unsigned n, unsigned prot);
/* A block: the 2 MiB around va, which one level 3 table describes. Is anything mapped in it? */
#define BLOCK_SIZE (512 * 4096UL)
bool pgd_block_empty(paddr_t pgd, u64 va);
/* Maps a whole empty block to 2 MiB of consecutive pages. -ENOMEM. */
int pgd_map_block(paddr_t pgd, u64 va, paddr_t pa, unsigned prot);
paddr_t pgd_lookup(paddr_t pgd, u64 va, unsigned *prot);     /* 0 when nothing is mapped */
/* Calls fn for each present page in [start,end) and unmaps it; flushes the TLB at the end. fn may be NULL. */
void pgd_unmap_range(paddr_t pgd, u64 start, u64 end, void (*fn)(paddr_t pa, u64 va, void *arg), void *arg);
/* The same for an address space in which nothing will ever run again: no TLB is flushed. */
void pgd_drop_range(paddr_t pgd, u64 start, u64 end, void (*fn)(paddr_t pa, u64 va, void *arg), void *arg);
/*
 * Calls fn for each entry of [start,end), in address order; the protection that it returns replaces the entry's.
 * The TLB is flushed at the end if anything changed. fn may call pgd_map() on another table.
 * mprotect, fork, mincore. Protection 0 is an entry that keeps its page without any access (PROT_NONE): not valid
 * for the hardware, but found by pgd_lookup(), pgd_walk_range() and pgd_unmap_range() like the others.
 */
void pgd_walk_range(paddr_t pgd, u64 start, u64 end,
		    unsigned (*fn)(paddr_t pa, u64 va, unsigned prot, void *arg), void *arg);
void mm_activate(struct mm *mm); /* TTBR0 and ASID; NULL: kernel threads. Interrupts off. */
/* After writing code that user space will run (the page at this kernel address). */
void sync_icache(void *kaddr, size_t n);

/* signal frame, sigframe.c (asm/sigcontext.h layout); uses proc/signal.h types. */
struct ksigaction;
struct ksiginfo;
int arch_setup_sigframe(struct pt_regs *regs, const struct ksigaction *ka, int sig,
			const struct ksiginfo *info, u64 oldmask); /* -EFAULT: stack unusable */
int arch_restore_sigframe(struct pt_regs *regs, u64 *mask);

/* symbols.c: the kernel's own symbol table. */
const char *ksym_lookup(u64 addr, u64 *offset);
/* iterates in address order; false at the end (for /proc/kallsyms). type as nm(1) prints it. */
bool ksym_get(size_t i, u64 *addr, char *type, const char **name);
void backtrace_print(u64 fp, u64 pc);

#endif
