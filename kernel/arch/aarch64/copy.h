/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assembly macro shared by memcpy and the user copies: copies x2 bytes from x1
 * to x0, forwards, 64 bytes a turn. Changes x0..x2 and x5..x15. The last odd
 * bytes of 16 or more are copied as the 16 bytes that end the buffer, so the
 * two must not overlap in a way that a forward copy would spoil.
 */
	.macro COPY_FORWARD
	cmp	x2, #16
	b.lo	.Lsmall\@
	add	x14, x1, x2
	add	x15, x0, x2
	subs	x5, x2, #64
	b.lo	.Ltail\@
.Lloop\@:
	ldp	x6, x7, [x1]
	ldp	x8, x9, [x1, #16]
	ldp	x10, x11, [x1, #32]
	ldp	x12, x13, [x1, #48]
	add	x1, x1, #64
	stp	x6, x7, [x0]
	stp	x8, x9, [x0, #16]
	stp	x10, x11, [x0, #32]
	stp	x12, x13, [x0, #48]
	add	x0, x0, #64
	subs	x5, x5, #64
	b.hs	.Lloop\@
.Ltail\@:
	tbz	x5, #5, .Lno32\@
	ldp	x6, x7, [x1]
	ldp	x8, x9, [x1, #16]
	add	x1, x1, #32
	stp	x6, x7, [x0]
	stp	x8, x9, [x0, #16]
	add	x0, x0, #32
.Lno32\@:
	tbz	x5, #4, .Lno16\@
	ldp	x6, x7, [x1]
	stp	x6, x7, [x0]
.Lno16\@:
	tst	x5, #15
	b.eq	.Ldone\@
	ldp	x6, x7, [x14, #-16]
	stp	x6, x7, [x15, #-16]
	b	.Ldone\@
.Lsmall\@:
	tbz	x2, #3, .Lno8\@
	ldr	x6, [x1], #8
	str	x6, [x0], #8
.Lno8\@:
	tbz	x2, #2, .Lno4\@
	ldr	w6, [x1], #4
	str	w6, [x0], #4
.Lno4\@:
	tbz	x2, #1, .Lno2\@
	ldrh	w6, [x1], #2
	strh	w6, [x0], #2
.Lno2\@:
	tbz	x2, #0, .Ldone\@
	ldrb	w6, [x1]
	strb	w6, [x0]
.Ldone\@:
	.endm
