/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exception vectors. Each entry saves the whole of struct pt_regs on the kernel
 * stack, calls its handler in trap.c with it, and restores from it. The
 * handlers return with interrupts off. For exceptions from user mode pt_regs
 * lies at the very top of the task's kernel stack (task_regs()).
 *
 * FP/SIMD registers are not touched: the kernel is compiled without them, and
 * arch_switch() keeps them.
 */
#include "arch/aarch64/asm.h"

	.macro SAVE_GENERAL
	stp	x0, x1, [sp, #0]
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	stp	x18, x19, [sp, #144]
	stp	x20, x21, [sp, #160]
	stp	x22, x23, [sp, #176]
	stp	x24, x25, [sp, #192]
	stp	x26, x27, [sp, #208]
	stp	x28, x29, [sp, #224]
	.endm

	.macro RESTORE_GENERAL
	ldp	x0, x1, [sp, #0]
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	ldp	x8, x9, [sp, #64]
	ldp	x10, x11, [sp, #80]
	ldp	x12, x13, [sp, #96]
	ldp	x14, x15, [sp, #112]
	ldp	x16, x17, [sp, #128]
	ldp	x18, x19, [sp, #144]
	ldp	x20, x21, [sp, #160]
	ldp	x22, x23, [sp, #176]
	ldp	x24, x25, [sp, #192]
	ldp	x26, x27, [sp, #208]
	ldp	x28, x29, [sp, #224]
	.endm

	.macro ENTER_FROM_USER
	sub	sp, sp, #PT_SIZE
	SAVE_GENERAL
	mrs	x21, sp_el0
	mrs	x22, elr_el1
	mrs	x23, spsr_el1
	mov	x24, #-1
	stp	x30, x21, [sp, #PT_LR]
	stp	x22, x23, [sp, #PT_PC]
	stp	x0, x24, [sp, #PT_ORIG_X0]	/* not in a system call yet */
	mov	x29, xzr			/* the frame chain ends here */
	mov	x30, xzr
	mov	x0, sp
	.endm

	/* A frame record below pt_regs joins the frame chains of both sides. */
	.macro ENTER_FROM_KERNEL
	sub	sp, sp, #PT_SIZE
	SAVE_GENERAL
	add	x21, sp, #PT_SIZE
	mrs	x22, elr_el1
	mrs	x23, spsr_el1
	mov	x24, #-1
	stp	x30, x21, [sp, #PT_LR]
	stp	x22, x23, [sp, #PT_PC]
	stp	x0, x24, [sp, #PT_ORIG_X0]
	mov	x0, sp
	stp	x29, x22, [sp, #-16]!
	mov	x29, sp
	.endm

	.macro VECTOR label
	.balign 128
	b	\label
	.endm

	.section .text.vectors, "ax"
	.balign 2048
	.globl vectors
vectors:
	VECTOR	el1t_bad			/* current level, SP_EL0: never used */
	VECTOR	el1t_bad
	VECTOR	el1t_bad
	VECTOR	el1t_bad
	VECTOR	el1_sync
	VECTOR	el1_irq
	VECTOR	el1t_bad
	VECTOR	el1_serror
	VECTOR	el0_sync
	VECTOR	el0_irq
	VECTOR	el0_bad
	VECTOR	el0_serror
	VECTOR	el0_bad				/* AArch32 user mode: never entered */
	VECTOR	el0_bad
	VECTOR	el0_bad
	VECTOR	el0_bad

LOCAL_FUNC el0_sync
	ENTER_FROM_USER
	bl	trap_el0_sync
	b	return_to_user
ENDF el0_sync

LOCAL_FUNC el0_irq
	ENTER_FROM_USER
	bl	trap_el0_irq
	b	return_to_user
ENDF el0_irq

LOCAL_FUNC el0_serror
	ENTER_FROM_USER
	bl	trap_serror
ENDF el0_serror

LOCAL_FUNC el0_bad
	ENTER_FROM_USER
	bl	trap_bad
ENDF el0_bad

	/* A new user thread: x0 = the task this CPU came from. */
FUNC ret_from_fork_user
	bl	schedule_tail
	mov	x0, sp
	bl	trap_return_new
ENDF ret_from_fork_user
	/* falls through */
LOCAL_FUNC return_to_user
	ldp	x22, x23, [sp, #PT_PC]
	ldp	x30, x21, [sp, #PT_LR]
	msr	elr_el1, x22
	msr	spsr_el1, x23
	msr	sp_el0, x21
	RESTORE_GENERAL
	add	sp, sp, #PT_SIZE
	eret
ENDF return_to_user

	/* A new kernel thread: x19 = function, x20 = its argument. */
FUNC ret_from_fork_kernel
	bl	schedule_tail
	mov	x0, x20
	blr	x19
	brk	#1				/* must not return */
ENDF ret_from_fork_kernel

LOCAL_FUNC el1_sync
	ENTER_FROM_KERNEL
	bl	trap_el1_sync
	b	return_to_kernel
ENDF el1_sync

LOCAL_FUNC el1_irq
	ENTER_FROM_KERNEL
	bl	trap_el1_irq
	b	return_to_kernel
ENDF el1_irq

LOCAL_FUNC return_to_kernel
	add	sp, sp, #16
	ldp	x22, x23, [sp, #PT_PC]
	ldr	x30, [sp, #PT_LR]
	msr	elr_el1, x22
	msr	spsr_el1, x23
	RESTORE_GENERAL
	add	sp, sp, #PT_SIZE
	eret
ENDF return_to_kernel

LOCAL_FUNC el1_serror
	ENTER_FROM_KERNEL
	bl	trap_serror
ENDF el1_serror

LOCAL_FUNC el1t_bad
	ENTER_FROM_KERNEL
	bl	trap_bad
ENDF el1t_bad
