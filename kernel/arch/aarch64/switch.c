/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Context switch and the first steps of new threads.
 *
 * FP/SIMD registers always hold the state of the user thread that ran last on
 * this CPU: they are saved when a user thread leaves the CPU, and loaded when
 * one arrives, unless they still hold its own (it was away for kernel threads
 * only). Kernel threads have none.
 */
#include "arch/aarch64/asm.h"
#include "arch/aarch64/sysreg.h"
#include "mm/page.h"
#include "proc/task.h"

_Static_assert(offsetof(struct task, ctx) == 0, "switch.S");
_Static_assert(offsetof(struct thread_ctx, fp) == CTX_FP, "switch.S");
_Static_assert(offsetof(struct thread_ctx, sp) == CTX_SP, "switch.S");
_Static_assert(offsetof(struct thread_ctx, fpsimd) == CTX_FPSIMD, "switch.S");
_Static_assert(offsetof(struct fpsimd_state, fpsr) == FPSIMD_FPSR, "switch.S");

struct task *cpu_switch_to(struct task *prev, struct task *next);
void ret_from_fork_user(void);
void ret_from_fork_kernel(void);

/* The thread whose state is in each CPU's FP/SIMD registers. */
static struct task *fpsimd_owner[MAX_CPUS];

struct pt_regs *task_regs(struct task *t)
{
	return (struct pt_regs *)((char *)t->kstack + KSTACK_SIZE) - 1;
}

static bool has_user_state(const struct task *t)
{
	return !t->is_kthread && !t->is_idle;
}

struct task *arch_switch(struct task *prev, struct task *next)
{
	unsigned cpu = cpu_id();

	if (has_user_state(prev)) {
		arch_save_fpsimd(&prev->ctx.fpsimd);
		prev->ctx.tls = read_sysreg(tpidr_el0);
		prev->ctx.fpsimd_cpu = cpu;
		fpsimd_owner[cpu] = prev;
	}
	if (has_user_state(next)) {
		if (fpsimd_owner[cpu] != next || next->ctx.fpsimd_cpu != cpu) {
			arch_load_fpsimd(&next->ctx.fpsimd);
			fpsimd_owner[cpu] = NULL;
		}
		write_sysreg(tpidr_el0, next->ctx.tls);
	}
	return cpu_switch_to(prev, next);
}

void arch_fork_state(struct task *child)
{
	arch_save_fpsimd(&child->ctx.fpsimd);
	child->ctx.tls = read_sysreg(tpidr_el0);
}

static void thread_init(struct task *t, u64 sp, void (*entry)(void))
{
	t->ctx.fp = 0;
	t->ctx.lr = (u64)entry;
	t->ctx.sp = sp;
	t->ctx.fpsimd_cpu = MAX_CPUS;
}

void arch_thread_init_user(struct task *t)
{
	thread_init(t, (u64)task_regs(t), ret_from_fork_user);
}

void arch_thread_init_kernel(struct task *t, void (*fn)(void *), void *arg)
{
	t->ctx.x19_x28[0] = (u64)fn;
	t->ctx.x19_x28[1] = (u64)arg;
	thread_init(t, (u64)task_regs(t), ret_from_fork_kernel);
}

void arch_start_user(struct pt_regs *regs, u64 pc, u64 sp)
{
	static const struct fpsimd_state clean;

	memset(regs, 0, sizeof(*regs));
	regs->pc = pc;
	regs->sp = sp;
	regs->syscallno = -1;
	arch_load_fpsimd(&clean);
	arch_set_tls(0);
	current->ctx.fault_esr = 0;
	current->ctx.fault_addr = 0;
}

void arch_set_tls(u64 tls)
{
	write_sysreg(tpidr_el0, tls);
}
