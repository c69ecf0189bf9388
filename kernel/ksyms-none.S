/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of functions of the kernel's first link: empty. See ksyms.py. */
	.section .ksyms, "a"
	.globl ksyms_count, ksyms_offset, ksyms_name, ksyms_strings
	.balign 8
ksyms_count:	.long 0
ksyms_offset:
ksyms_name:
ksyms_strings:
