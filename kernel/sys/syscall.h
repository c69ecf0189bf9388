/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls. Each is `long sys_NAME(const u64 a[6])`: a[0]..a[5] are x0..x5.
 * It runs with the big lock held and interrupts on, may sleep, and returns a
 * value or a negative errno. syscalls.def lists them, one line each:
 * SYSCALL(NAME) stands for __NR_NAME and sys_NAME. What is not in the list is
 * ENOSYS, and is named in the kernel log the first time.
 */
#ifndef TALLY_SYS_SYSCALL_H
#define TALLY_SYS_SYSCALL_H

#include "lib/kernel.h"
#include <asm/unistd.h>

struct pt_regs;

#define SYSCALL(name) long sys_##name(const u64 a[6]);
#include "sys/syscalls.def"
#undef SYSCALL

/* Called by the trap code for `svc #0`: looks up x8, calls, stores the result in x0. Returns to the usual return-to-user work. */
void syscall_dispatch(struct pt_regs *regs);

#endif
