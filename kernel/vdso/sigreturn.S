/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a signal handler returns to when its program gave no restorer.
 *
 * Without call frame information on purpose: unwinders recognise these two
 * instructions and find the interrupted registers in the signal frame. They
 * look up the return address minus one, hence the instruction before.
 */
#include <asm/unistd.h>

	.section .text.sigreturn, "ax", @progbits
	nop
	.globl __kernel_rt_sigreturn
	.type __kernel_rt_sigreturn, @function
	.p2align 2
__kernel_rt_sigreturn:
	mov	x8, #__NR_rt_sigreturn
	svc	#0
	.size __kernel_rt_sigreturn, . - __kernel_rt_sigreturn

	.section .note.GNU-stack, "", @progbits
