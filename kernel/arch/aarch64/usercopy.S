/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access to user memory. User pages are out of the kernel's reach (PAN) except
 * inside these functions, which open the window themselves and refuse any
 * address that is not below TASK_SIZE.
 *
 * How a fault in here ends: all functions are leaves that keep nothing on the
 * stack. trap.c knows their addresses by the bounds __usercopy_start and
 * __usercopy_end; it resolves the fault and returns to the instruction, or
 * continues at usercopy_fault, which returns -EFAULT to the function's caller.
 * Between __usercopy_nofault_start and __usercopy_end it resolves nothing.
 */
#include "arch/aarch64/asm.h"
#include "arch/aarch64/copy.h"

#define EFAULT	     14
#define ENAMETOOLONG 36

	.arch	armv8.2-a

	/* Branches to refuse unless [addr, addr+n) is user space. Changes x3, x4. */
	.macro CHECK_RANGE addr, n
	adds	x3, \addr, \n
	mov	x4, #(1 << 48)
	ccmp	x3, x4, #2, cc			/* wrapped: "higher" */
	b.hi	refuse
	.endm

	.text
LOCAL_FUNC refuse
	mov	x0, #-EFAULT
	ret
ENDF refuse

FUNC usercopy_fault
	msr	pan, #1
	mov	x0, #-EFAULT
	ret
ENDF usercopy_fault

	.globl __usercopy_start
__usercopy_start:
FUNC copy_from_user
	CHECK_RANGE x1, x2
	msr	pan, #0
	COPY_FORWARD
	msr	pan, #1
	mov	x0, #0
	ret
ENDF copy_from_user

FUNC copy_to_user
	CHECK_RANGE x0, x2
	msr	pan, #0
	COPY_FORWARD
	msr	pan, #1
	mov	x0, #0
	ret
ENDF copy_to_user

FUNC clear_user
	CHECK_RANGE x0, x1
	msr	pan, #0
	subs	x1, x1, #64
	b.lo	2f
1:	stp	xzr, xzr, [x0]
	stp	xzr, xzr, [x0, #16]
	stp	xzr, xzr, [x0, #32]
	stp	xzr, xzr, [x0, #48]
	add	x0, x0, #64
	subs	x1, x1, #64
	b.hs	1b
2:	adds	x1, x1, #64
	b.eq	4f
3:	strb	wzr, [x0], #1
	subs	x1, x1, #1
	b.ne	3b
4:	msr	pan, #1
	mov	x0, #0
	ret
ENDF clear_user

/*
 * ssize_t strncpy_from_user(char *dst, const char *usrc, size_t max)
 * Eight bytes at a time once usrc is aligned: such a word never crosses a page,
 * so nothing behind the string can fault.
 */
FUNC strncpy_from_user
	mov	x4, #(1 << 48)
	cmp	x1, x4
	b.hs	refuse
	sub	x4, x4, x1
	cmp	x2, x4				/* the string must end below TASK_SIZE */
	csel	x5, x2, x4, lo			/* bytes to look at */
	mov	x3, #0				/* length so far */
	mov	x10, #0x0101010101010101
	msr	pan, #0
1:	cmp	x3, x5
	b.hs	5f
	add	x6, x1, x3
	tst	x6, #7
	b.ne	4f
2:	sub	x7, x5, x3
	cmp	x7, #8
	b.lo	4f
	ldr	x8, [x6]
	sub	x9, x8, x10			/* a zero byte in x8? */
	bic	x9, x9, x8
	tst	x9, #0x8080808080808080
	b.ne	4f
	str	x8, [x0, x3]
	add	x3, x3, #8
	add	x6, x6, #8
	b	2b
4:	cmp	x3, x5
	b.hs	5f
	ldrb	w8, [x1, x3]
	strb	w8, [x0, x3]
	cbz	w8, 6f
	add	x3, x3, #1
	b	1b
5:	msr	pan, #1
	mov	x0, #-ENAMETOOLONG
	mov	x6, #-EFAULT
	cmp	x5, x2				/* stopped by TASK_SIZE, not by max */
	csel	x0, x6, x0, lo
	ret
6:	msr	pan, #1
	mov	x0, x3
	ret
ENDF strncpy_from_user

/* int cmpxchg_user_u32(u32 *uaddr, u32 expect, u32 desired, u32 *old): uaddr is aligned. */
FUNC cmpxchg_user_u32
	mov	x4, #(1 << 48)
	cmp	x0, x4
	b.hs	refuse
	msr	pan, #0
	casal	w1, w2, [x0]
	msr	pan, #1
	str	w1, [x3]
	mov	x0, #0
	ret
ENDF cmpxchg_user_u32

	.globl __usercopy_nofault_start
__usercopy_nofault_start:
FUNC copy_from_user_nofault
	CHECK_RANGE x1, x2
	msr	pan, #0
	COPY_FORWARD
	msr	pan, #1
	mov	x0, #0
	ret
ENDF copy_from_user_nofault
	.globl __usercopy_end
__usercopy_end:
