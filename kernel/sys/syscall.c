/* SPDX-License-Identifier: BSD-2-Clause */
/* From a system call's number to its function. */
#include "sys/syscall.h"
#include "arch/aarch64/cpu.h"
#include "proc/task.h"
#include "trace/trace.h"

typedef long (*syscall_fn)(const u64 a[6]);

#define SYSCALL(name) [__NR_##name] = sys_##name,
static const syscall_fn table[] = {
#include "sys/syscalls.def"
};
#undef SYSCALL

#define NR_NOTED 512
static u64
	noted[NR_NOTED /
	      64]; /* numbers that the log has named; the last one stands for all from there on */

static long not_there(u64 nr)
{
	u64 i = MIN(nr, NR_NOTED - 1ULL);

	if (!(noted[i / 64] & BIT(i % 64))) {
		noted[i / 64] |= BIT(i % 64);
		printk("%s (%d): system call %lld is not there\n", current->comm, current->tid,
		       (long long)nr);
	}
	return -ENOSYS;
}

void syscall_dispatch(struct pt_regs *regs)
{
	u64 nr = (u64)regs->syscallno;

	if (trace_syscalls())
		trace_syscall_enter(regs, nr);
	if (likely(nr < ARRAY_SIZE(table) && table[nr]))
		regs->regs[0] = (u64)table[nr](regs->regs);
	else
		regs->regs[0] = (u64)not_there(nr);
	if (trace_syscalls())
		trace_syscall_exit(nr, (long)regs->regs[0]);
}
