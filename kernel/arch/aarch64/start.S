/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First instructions: the Image header, from EL2 to EL1, the early page tables
 * and the jump into the direct map. The same steps serve each later CPU, which
 * PSCI starts at secondary_start.
 *
 * Entered with the MMU off, x0 = physical address of the device tree (boot
 * CPU) or of a struct secondary_boot (later ones). Everything here runs at its
 * physical address until the jump; symbols are linked in the direct map, and
 * adrp gives the physical ones.
 */
#include "arch/aarch64/asm.h"

	.section .head.text, "ax"
	.globl _start
_start:
	/* Image header, as arm64 Linux documents it in Documentation/arm64/booting. */
	b	boot_start
	.long	0
	.quad	0				/* text_offset: at a 2 MiB boundary */
	.quad	_image_size
	.quad	0xa				/* little endian, 4K pages, anywhere */
	.quad	0, 0, 0
	.ascii	"ARM\x64"
	.long	0

LOCAL_FUNC boot_start
	mov	x20, x0
	adrp	x21, _start			/* linked at a fixed address: is it there? */
	ldr	x1, =_start - 0xffff000000000000
	cmp	x21, x1
	b.ne	park
	bl	leave_el2
	bl	clear_bss
	bl	early_tables
	adrp	x0, early_l0
	bl	mmu_on
	ldr	x1, =boot_high
	br	x1
boot_high:
	ldr	x1, =boot_stack_top
	mov	sp, x1
	mov	x29, xzr
	mov	x30, xzr
	msr	tpidr_el1, xzr
	msr	contextidr_el1, xzr		/* cpu_id(): the boot CPU is 0 */
	ldr	x1, =vectors
	msr	vbar_el1, x1
	isb
	mov	x0, x20
	b	kernel_main
park:	wfe
	b	park
ENDF boot_start

/* Offsets are those of struct secondary_boot (smp.c). */
FUNC secondary_start
	mov	x20, x0
	bl	leave_el2
	adrp	x0, kernel_l0
	bl	mmu_on
	ldr	x1, =secondary_high
	br	x1
secondary_high:
	mov	x1, #0xffff000000000000
	add	x20, x20, x1
	ldr	x1, [x20]
	mov	sp, x1
	ldr	x0, [x20, #8]
	msr	contextidr_el1, x0
	mov	x29, xzr
	mov	x30, xzr
	msr	tpidr_el1, xzr
	ldr	x1, =vectors
	msr	vbar_el1, x1
	isb
	b	secondary_main
ENDF secondary_start

/* To EL1 with everything of EL2 that could get in the way out of the way. Keeps x20. */
LOCAL_FUNC leave_el2
	ldr	x0, =SCTLR_OFF
	mrs	x1, CurrentEL
	cmp	x1, #(2 << 2)
	b.eq	1f
	msr	sctlr_el1, x0
	isb
	ret
1:	msr	sctlr_el1, x0
	mov	x0, #(1 << 31)			/* HCR_EL2.RW: EL1 is AArch64 */
	msr	hcr_el2, x0
	mrs	x0, cnthctl_el2
	orr	x0, x0, #3			/* EL1 may use the physical counter and timer */
	msr	cnthctl_el2, x0
	msr	cntvoff_el2, xzr
	mrs	x0, midr_el1
	msr	vpidr_el2, x0
	mrs	x0, mpidr_el1
	msr	vmpidr_el2, x0
	mov	x0, #0x33ff
	msr	cptr_el2, x0			/* no traps of FP/SIMD */
	msr	hstr_el2, xzr
	msr	vttbr_el2, xzr
	mrs	x0, mdcr_el2
	and	x0, x0, #0x1f			/* EL1 owns all counters: HPMN stays, no traps */
	msr	mdcr_el2, x0
	mrs	x0, id_aa64pfr0_el1
	ubfx	x0, x0, #24, #4			/* GICv3 system registers? */
	cbz	x0, 2f
	mrs	x0, s3_4_c12_c9_5		/* ICC_SRE_EL2 */
	orr	x0, x0, #1			/* SRE */
	orr	x0, x0, #8			/* Enable: EL1 may use its own */
	msr	s3_4_c12_c9_5, x0
	isb
2:	mov	x0, #0x3c5			/* EL1h, DAIF masked */
	msr	spsr_el2, x0
	msr	elr_el2, x30
	eret
ENDF leave_el2

/* With the caches off; _bss and _end lie at page boundaries. */
LOCAL_FUNC clear_bss
	adrp	x0, _bss
	adrp	x1, _end
1:	stp	xzr, xzr, [x0], #16
	cmp	x0, x1
	b.lo	1b
	ret
ENDF clear_bss

/*
 * Early tables: 1 GiB blocks over the image and over the device tree. Index 0 of
 * the top level is both the direct map (as TTBR1) and the physical addresses
 * themselves (as TTBR0). arch_map_init() makes the final ones.
 */
LOCAL_FUNC early_tables
	adrp	x0, early_l0
	adrp	x1, early_l1
	orr	x2, x1, #PD_TABLE
	str	x2, [x0]
	adrp	x0, _start
	mov	x2, #(PD_BLOCK | PD_AF | PD_SH_INNER)
	lsr	x3, x0, #30
	orr	x4, x2, x3, lsl #30
	str	x4, [x1, x3, lsl #3]
	lsr	x3, x20, #30
	orr	x4, x2, x3, lsl #30
	str	x4, [x1, x3, lsl #3]
	dmb	sy
	ret
ENDF early_tables

/* x0 = physical address of the kernel half's top table */
LOCAL_FUNC mmu_on
	msr	ttbr1_el1, x0
	adrp	x0, early_l0
	msr	ttbr0_el1, x0
	ldr	x0, =MAIR_VALUE
	msr	mair_el1, x0
	ldr	x0, =TCR_VALUE
	mrs	x1, id_aa64mmfr0_el1
	and	x1, x1, #7
	cmp	x1, #5				/* more than 48 bits needs 64K pages */
	mov	x2, #5
	csel	x1, x1, x2, ls
	orr	x0, x0, x1, lsl #TCR_IPS_SHIFT
	msr	tcr_el1, x0
	mov	x0, #(3 << 20)			/* FP/SIMD: no traps at EL1 and EL0 */
	msr	cpacr_el1, x0
	msr	mdscr_el1, xzr
	tlbi	vmalle1
	dsb	nsh
	isb
	ldr	x0, =SCTLR_ON
	msr	sctlr_el1, x0
	isb
	ic	iallu
	dsb	nsh
	isb
	ret
ENDF mmu_on

/*
 * void set_kernel_tables(paddr_t l0)
 * Blocks and pages of different size must not meet in the TLB, so the kernel
 * half is taken away in between: these steps run at their physical addresses.
 */
	.text
FUNC set_kernel_tables
	adr	x1, 1f
	mov	x2, #0xffff000000000000
	sub	x1, x1, x2
	br	x1
1:	adrp	x2, empty_l0
	msr	ttbr1_el1, x2
	isb
	tlbi	vmalle1
	dsb	nsh
	isb
	msr	ttbr1_el1, x0
	isb
	ret
ENDF set_kernel_tables

	.bss
	.balign 4096
	.globl kernel_l0, empty_l0
early_l0:	.space 4096
early_l1:	.space 4096
kernel_l0:	.space 4096
empty_l0:	.space 4096			/* user half of kernel threads: nothing mapped */
	.balign 16384
	.globl boot_stack_top
boot_stack:	.space 16384
boot_stack_top:
