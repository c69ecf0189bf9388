/* SPDX-License-Identifier: BSD-2-Clause */
/* The register side of a context switch, and saving and loading FP/SIMD state. See switch.c. */
#include "arch/aarch64/asm.h"

	.text
/*
 * struct task *cpu_switch_to(struct task *prev, struct task *next)
 * Keeps what a called function must keep (x19-x30, sp); all else is dead to
 * the callers of both sides. Returns prev, in next's context.
 */
FUNC cpu_switch_to
	mov	x9, sp
	stp	x19, x20, [x0, #0]
	stp	x21, x22, [x0, #16]
	stp	x23, x24, [x0, #32]
	stp	x25, x26, [x0, #48]
	stp	x27, x28, [x0, #64]
	stp	x29, x30, [x0, #CTX_FP]
	str	x9, [x0, #CTX_SP]
	ldp	x19, x20, [x1, #0]
	ldp	x21, x22, [x1, #16]
	ldp	x23, x24, [x1, #32]
	ldp	x25, x26, [x1, #48]
	ldp	x27, x28, [x1, #64]
	ldp	x29, x30, [x1, #CTX_FP]
	ldr	x9, [x1, #CTX_SP]
	mov	sp, x9
	msr	tpidr_el1, x1
	ret
ENDF cpu_switch_to

	.arch_extension fp
	.arch_extension simd
/* void arch_save_fpsimd(struct fpsimd_state *s) */
FUNC arch_save_fpsimd
	stp	q0, q1, [x0, #0]
	stp	q2, q3, [x0, #32]
	stp	q4, q5, [x0, #64]
	stp	q6, q7, [x0, #96]
	stp	q8, q9, [x0, #128]
	stp	q10, q11, [x0, #160]
	stp	q12, q13, [x0, #192]
	stp	q14, q15, [x0, #224]
	stp	q16, q17, [x0, #256]
	stp	q18, q19, [x0, #288]
	stp	q20, q21, [x0, #320]
	stp	q22, q23, [x0, #352]
	stp	q24, q25, [x0, #384]
	stp	q26, q27, [x0, #416]
	stp	q28, q29, [x0, #448]
	stp	q30, q31, [x0, #480]
	mrs	x1, fpsr
	mrs	x2, fpcr
	add	x0, x0, #FPSIMD_FPSR
	stp	w1, w2, [x0]
	ret
ENDF arch_save_fpsimd

/* void arch_load_fpsimd(const struct fpsimd_state *s) */
FUNC arch_load_fpsimd
	ldp	q0, q1, [x0, #0]
	ldp	q2, q3, [x0, #32]
	ldp	q4, q5, [x0, #64]
	ldp	q6, q7, [x0, #96]
	ldp	q8, q9, [x0, #128]
	ldp	q10, q11, [x0, #160]
	ldp	q12, q13, [x0, #192]
	ldp	q14, q15, [x0, #224]
	ldp	q16, q17, [x0, #256]
	ldp	q18, q19, [x0, #288]
	ldp	q20, q21, [x0, #320]
	ldp	q22, q23, [x0, #352]
	ldp	q24, q25, [x0, #384]
	ldp	q26, q27, [x0, #416]
	ldp	q28, q29, [x0, #448]
	ldp	q30, q31, [x0, #480]
	add	x0, x0, #FPSIMD_FPSR
	ldp	w1, w2, [x0]
	msr	fpsr, x1
	msr	fpcr, x2
	ret
ENDF arch_load_fpsimd
