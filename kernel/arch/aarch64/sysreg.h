/* SPDX-License-Identifier: BSD-2-Clause */
/* System register access and barriers for the arch/aarch64 files and device code. */
#ifndef TALLY_ARCH_SYSREG_H
#define TALLY_ARCH_SYSREG_H

#include "lib/kernel.h"

#define read_sysreg(name)                                                \
	({                                                               \
		u64 __r;                                                 \
		__asm__ volatile("mrs %0, " #name : "=r"(__r)::"memory"); \
		__r;                                                     \
	})
#define write_sysreg(name, v) __asm__ volatile("msr " #name ", %x0" ::"rZ"((u64)(v)) : "memory")

#define isb() __asm__ volatile("isb" ::: "memory")
#define dsb(opt) __asm__ volatile("dsb " #opt ::: "memory")
#define dmb(opt) __asm__ volatile("dmb " #opt ::: "memory")

#define MPIDR_AFF_MASK 0xff00ffffffULL

#endif
