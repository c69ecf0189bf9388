/* SPDX-License-Identifier: BSD-2-Clause */
/* memcpy, memmove and memset. FP/SIMD registers belong to user space and are not used. */
#include "arch/aarch64/asm.h"
#include "arch/aarch64/copy.h"

	.text
FUNC memcpy
	mov	x4, x0
	COPY_FORWARD
	mov	x0, x4
	ret
ENDF memcpy

/* Backwards only when the destination lies inside the source. */
FUNC memmove
	sub	x3, x0, x1
	cmp	x3, x2
	b.lo	1f
	sub	x3, x1, x0
	cmp	x3, #16				/* so close that COPY_FORWARD would read what it wrote? */
	b.hs	memcpy
	mov	x4, x0
	cbz	x2, 5f
	cmp	x3, #8
	b.lo	4f
3:	subs	x2, x2, #8
	b.lo	6f
	ldr	x6, [x1], #8
	str	x6, [x0], #8
	b	3b
6:	adds	x2, x2, #8
	b.eq	5f
4:	ldrb	w6, [x1], #1
	strb	w6, [x0], #1
	subs	x2, x2, #1
	b.ne	4b
5:	mov	x0, x4
	ret
1:	add	x4, x0, x2
	add	x1, x1, x2
	cmp	x3, #8
	b.lo	8f
7:	subs	x2, x2, #8
	b.lo	9f
	ldr	x6, [x1, #-8]!
	str	x6, [x4, #-8]!
	b	7b
9:	add	x2, x2, #8
8:	cbz	x2, 10f
	ldrb	w6, [x1, #-1]!
	strb	w6, [x4, #-1]!
	sub	x2, x2, #1
	b	8b
10:	ret
ENDF memmove

/* Zeros in bulk by DC ZVA, where its block is the usual 64 bytes. */
FUNC memset
	mov	x4, x0
	and	x1, x1, #0xff
	mov	x5, #0x0101010101010101
	mul	x5, x1, x5
	cmp	x2, #16
	b.lo	6f
	add	x15, x0, x2
	cbnz	x1, 2f
	cmp	x2, #256
	b.lo	2f
	mrs	x6, dczid_el0
	and	x6, x6, #0x1f
	cmp	x6, #4
	b.ne	2f
	stp	xzr, xzr, [x4]			/* up to the first block */
	stp	xzr, xzr, [x4, #16]
	stp	xzr, xzr, [x4, #32]
	stp	xzr, xzr, [x4, #48]
	add	x4, x4, #64
	and	x4, x4, #~63
	and	x7, x15, #~63
1:	dc	zva, x4
	add	x4, x4, #64
	cmp	x4, x7
	b.lo	1b
	sub	x2, x15, x4
	cmp	x2, #16
	b.lo	5f
2:	subs	x2, x2, #64
	b.lo	4f
3:	stp	x5, x5, [x4]
	stp	x5, x5, [x4, #16]
	stp	x5, x5, [x4, #32]
	stp	x5, x5, [x4, #48]
	add	x4, x4, #64
	subs	x2, x2, #64
	b.hs	3b
4:	tbz	x2, #5, 41f
	stp	x5, x5, [x4], #16
	stp	x5, x5, [x4], #16
41:	tbz	x2, #4, 5f
	stp	x5, x5, [x4]
5:	stp	x5, x5, [x15, #-16]		/* the last, possibly again */
	ret
6:	tbz	x2, #3, 7f
	str	x5, [x4], #8
7:	tbz	x2, #2, 8f
	str	w5, [x4], #4
8:	tbz	x2, #1, 9f
	strh	w5, [x4], #2
9:	tbz	x2, #0, 10f
	strb	w5, [x4]
10:	ret
ENDF memset
