/* SPDX-License-Identifier: BSD-2-Clause */
/* What trap.c, vectors.S and panic.c share. Handlers: interrupts off on entry and return. */
#ifndef TALLY_ARCH_TRAP_H
#define TALLY_ARCH_TRAP_H

#include "arch/aarch64/cpu.h"

/* ESR_EL1.EC, the classes that occur (DDI 0487, D17.2.37). */
enum esr_class {
	EC_UNKNOWN = 0x00,
	EC_ILLEGAL_STATE = 0x0e,
	EC_SVC = 0x15,
	EC_SYSREG = 0x18,
	EC_IABT_LOW = 0x20,
	EC_IABT = 0x21,
	EC_PC_ALIGN = 0x22,
	EC_DABT_LOW = 0x24,
	EC_DABT = 0x25,
	EC_SP_ALIGN = 0x26,
	EC_FPE = 0x2c,
	EC_BRK = 0x3c,
};
#define ESR_CLASS(esr) ((unsigned)((esr) >> 26) & 0x3f)
#define ESR_WNR	       BIT(6) /* data abort: by a write */
#define ESR_CM	       BIT(8) /* data abort: by cache maintenance */
#define ESR_FSC(esr)   ((unsigned)(esr)&0x3f)

void trap_el0_sync(struct pt_regs *regs);
void trap_el0_irq(struct pt_regs *regs);
void trap_el1_sync(struct pt_regs *regs);
void trap_el1_irq(struct pt_regs *regs);
void trap_return_new(struct pt_regs *regs);
void trap_serror(struct pt_regs *regs) __noreturn;
void trap_bad(struct pt_regs *regs) __noreturn;

/* gic.c: handles what is pending on this CPU. */
void gic_handle(struct pt_regs *regs);

/* cpufeature.c: does the instruction that trapped, if it is an MRS user space may do. May sleep. */
bool emulate_mrs(struct pt_regs *regs);

/* panic.c: panic() with the registers of an exception. */
void panic_regs(const struct pt_regs *regs, const char *fmt, ...) __printf(2, 3) __noreturn;

#endif
