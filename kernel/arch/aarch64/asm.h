/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers that assembly files share with C: offsets into structures (asserted
 * in trap.c and switch.c) and register fields that start.S programs.
 */
#ifndef TALLY_ARCH_ASM_H
#define TALLY_ARCH_ASM_H

/* struct pt_regs */
#define PT_LR	     240
#define PT_PC	     256
#define PT_PSTATE    264
#define PT_ORIG_X0   272
#define PT_SYSCALLNO 280
#define PT_SIZE	     288

/* struct thread_ctx, at the start of struct task */
#define CTX_FP	   80
#define CTX_SP	   96
#define CTX_FPSIMD 112

/* struct fpsimd_state */
#define FPSIMD_FPSR 512

/* Memory attribute indices in MAIR_EL1. */
#define MT_NORMAL	 0 /* write-back, read and write allocate */
#define MT_DEVICE	 1 /* nGnRE */
#define MAIR_VALUE	 ((0xff << (8 * MT_NORMAL)) | (0x04 << (8 * MT_DEVICE)))

/* Descriptor fields that start.S needs (DDI 0487, D8.3). */
#define PD_TABLE	 3
#define PD_BLOCK	 1
#define PD_AF		 (1 << 10)
#define PD_SH_INNER	 (3 << 8)

/*
 * TCR_EL1: 48-bit addresses in both halves, 4 KiB granules, walks inner
 * shareable and cacheable, 16-bit ASIDs in TTBR0, tags ignored in user
 * addresses. The physical size (IPS) is or-ed in by start.S.
 */
#define TCR_T0SZ	 (16)
#define TCR_WALK0	 ((1 << 8) | (1 << 10) | (3 << 12))
#define TCR_T1SZ	 (16 << 16)
#define TCR_WALK1	 ((1 << 24) | (1 << 26) | (3 << 28))
#define TCR_TG1_4K	 (2 << 30)
#define TCR_AS_16	 (1 << 36)
#define TCR_TBI0	 (1 << 37)
#define TCR_VALUE	 (TCR_T0SZ | TCR_WALK0 | TCR_T1SZ | TCR_WALK1 | TCR_TG1_4K | TCR_AS_16 | TCR_TBI0)
#define TCR_IPS_SHIFT	 32

/*
 * SCTLR_EL1: MMU, caches, stack alignment checks; user mode may use DC ZVA
 * (DZE), read CTR_EL0 (UCT), maintain caches (UCI), WFI and WFE. SPAN is clear:
 * each exception sets PAN. The rest are bits that are one on a CPU without the
 * feature they belong to.
 */
#define SCTLR_M		 (1 << 0)
#define SCTLR_C		 (1 << 2)
#define SCTLR_SA	 (1 << 3)
#define SCTLR_SA0	 (1 << 4)
#define SCTLR_EOS	 (1 << 11)
#define SCTLR_I		 (1 << 12)
#define SCTLR_DZE	 (1 << 14)
#define SCTLR_UCT	 (1 << 15)
#define SCTLR_NTWI	 (1 << 16)
#define SCTLR_NTWE	 (1 << 18)
#define SCTLR_TSCXT	 (1 << 20)
#define SCTLR_EIS	 (1 << 22)
#define SCTLR_UCI	 (1 << 26)
#define SCTLR_NTLSMD	 (1 << 28)
#define SCTLR_LSMAOE	 (1 << 29)
#define SCTLR_RES1	 (SCTLR_EOS | SCTLR_TSCXT | SCTLR_EIS | SCTLR_NTLSMD | SCTLR_LSMAOE)
#define SCTLR_USER	 (SCTLR_SA0 | SCTLR_DZE | SCTLR_UCT | SCTLR_NTWI | SCTLR_NTWE | SCTLR_UCI)
#define SCTLR_OFF	 (SCTLR_RES1)
#define SCTLR_ON	 (SCTLR_RES1 | SCTLR_USER | SCTLR_M | SCTLR_C | SCTLR_SA | SCTLR_I)

#ifdef __ASSEMBLER__
.macro FUNC name
	.globl \name
	.type \name, %function
	.balign 16
\name:
.endm
.macro LOCAL_FUNC name
	.type \name, %function
	.balign 16
\name:
.endm
.macro ENDF name
	.size \name, . - \name
.endm
#endif

#endif
