/* SPDX-License-Identifier: BSD-2-Clause */
/* The vDSO inside the kernel: one whole page. VDSO_PATH is the linked file. */
	.section .rodata, "a", @progbits
	.globl vdso_image
	.p2align 12
vdso_image:
	.incbin VDSO_PATH
	.p2align 12
