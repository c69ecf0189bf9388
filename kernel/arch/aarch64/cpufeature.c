/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the CPU can do: the features the kernel is built for, the hardware
 * capabilities that user space is told (AT_HWCAP), and the ID registers that
 * user space may read as if MRS worked in EL0 (arm64's "cpu-feature-registers"
 * ABI: fields without a meaning for user space read as their safe values). SSBS
 * is not offered: Neoverse N1 has an erratum there (3324349), and Linux hides it.
 */
#include "arch/aarch64/sysreg.h"
#include "arch/aarch64/trap.h"
#include "proc/task.h"
#include <asm/hwcap.h>

/* Names the assembler of armv8.2-a does not know. */
#define read_id_isar2() read_sysreg(s3_0_c0_c6_2)

enum id_reg { PFR0, ISAR0, ISAR1, ISAR2, MMFR2, NR_ID_REGS };

static u64 id_regs[NR_ID_REGS];
static u64 midr[MAX_CPUS], revidr[MAX_CPUS];

static unsigned field(enum id_reg reg, unsigned shift)
{
	return (id_regs[reg] >> shift) & 15;
}

struct cap {
	u8 reg, shift, min;
	u8 word; /* 1: AT_HWCAP, 2: AT_HWCAP2 */
	u64 bits;
};

static const struct cap caps[] = {
	{ISAR0, 4, 1, 1, HWCAP_AES},
	{ISAR0, 4, 2, 1, HWCAP_PMULL},
	{ISAR0, 8, 1, 1, HWCAP_SHA1},
	{ISAR0, 12, 1, 1, HWCAP_SHA2},
	{ISAR0, 12, 2, 1, HWCAP_SHA512},
	{ISAR0, 16, 1, 1, HWCAP_CRC32},
	{ISAR0, 20, 2, 1, HWCAP_ATOMICS},
	{ISAR0, 28, 1, 1, HWCAP_ASIMDRDM},
	{ISAR0, 32, 1, 1, HWCAP_SHA3},
	{ISAR0, 36, 1, 1, HWCAP_SM3},
	{ISAR0, 40, 1, 1, HWCAP_SM4},
	{ISAR0, 44, 1, 1, HWCAP_ASIMDDP},
	{ISAR0, 48, 1, 1, HWCAP_ASIMDFHM},
	{ISAR0, 52, 1, 1, HWCAP_FLAGM},
	{ISAR0, 52, 2, 2, HWCAP2_FLAGM2},
	{ISAR0, 60, 1, 2, HWCAP2_RNG},
	{PFR0, 48, 1, 1, HWCAP_DIT},
	{ISAR1, 0, 1, 1, HWCAP_DCPOP},
	{ISAR1, 0, 2, 2, HWCAP2_DCPODP},
	{ISAR1, 12, 1, 1, HWCAP_JSCVT},
	{ISAR1, 16, 1, 1, HWCAP_FCMA},
	{ISAR1, 20, 1, 1, HWCAP_LRCPC},
	{ISAR1, 20, 2, 1, HWCAP_ILRCPC},
	{ISAR1, 32, 1, 2, HWCAP2_FRINT},
	{ISAR1, 36, 1, 1, HWCAP_SB},
	{ISAR1, 44, 1, 2, HWCAP2_BF16},
	{ISAR1, 48, 1, 2, HWCAP2_DGH},
	{ISAR1, 52, 1, 2, HWCAP2_I8MM},
	{ISAR2, 4, 1, 2, HWCAP2_RPRES},
	{MMFR2, 32, 1, 1, HWCAP_USCAT},
};

static u64 cap_word(unsigned word)
{
	u64 bits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(caps); i++)
		if (caps[i].word == word && field(caps[i].reg, caps[i].shift) >= caps[i].min)
			bits |= caps[i].bits;
	return bits;
}

u64 arch_hwcap(void)
{
	u64 bits = cap_word(1) | HWCAP_CPUID | HWCAP_EVTSTRM | HWCAP_FP | HWCAP_ASIMD;

	if (field(PFR0, 16) == 1)
		bits |= HWCAP_FPHP;
	if (field(PFR0, 20) == 1)
		bits |= HWCAP_ASIMDHP;
	return bits;
}

u64 arch_hwcap2(void)
{
	return cap_word(2);
}

u64 arch_midr(unsigned cpu)
{
	return midr[cpu];
}

u64 arch_revidr(unsigned cpu)
{
	return revidr[cpu];
}

/* The fields of a register that user space may see. */
static u64 visible(enum id_reg reg, const u8 *shifts, size_t n)
{
	u64 v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (u64)field(reg, shifts[i]) << shifts[i];
	return v;
}
#define VISIBLE(reg, ...) visible(reg, (const u8[]){__VA_ARGS__}, sizeof((const u8[]){__VA_ARGS__}))

/* ID register (CRm, op2) as user space sees it; all it does not know reads as zero. */
static u64 user_id_reg(unsigned crm, unsigned op2)
{
	switch (crm << 3 | op2) {
	case 0 << 3 | 0:
		return midr[cpu_id()];
	case 0 << 3 | 5: /* MPIDR_EL1 */
		return BIT(31);
	case 0 << 3 | 6:
		return revidr[cpu_id()];
	case 4 << 3 | 0: /* EL0, EL1: AArch64 only */
		return VISIBLE(PFR0, 16, 20, 48) | 0x11;
	case 5 << 3 | 0: /* ID_AA64DFR0_EL1: debug architecture 8 */
		return 6;
	case 6 << 3 | 0:
		return VISIBLE(ISAR0, 4, 8, 12, 16, 20, 28, 32, 36, 40, 44, 48, 52, 60);
	case 6 << 3 | 1:
		return VISIBLE(ISAR1, 0, 12, 16, 20, 32, 36, 44, 48, 52);
	case 6 << 3 | 2:
		return VISIBLE(ISAR2, 4);
	case 7 << 3 | 0: /* ID_AA64MMFR0_EL1: no translation granule is shown */
		return 0xff000000;
	case 7 << 3 | 2:
		return VISIBLE(MMFR2, 32);
	default:
		return 0;
	}
}

/*
 * MRS Xt, <op0, op1, CRn, CRm, op2>: DDI 0487, C6.2.228. The instruction is read
 * from memory because a CPU without FEAT_IDST does not say in ESR_EL1 what it was.
 */
bool emulate_mrs(struct pt_regs *regs)
{
	unsigned op0, op1, crn, crm, op2, rt;
	u32 insn;

	if (get_user(insn, (const void *)regs->pc) || (insn & 0xfff00000) != 0xd5300000)
		return false;
	op0 = (insn >> 19) & 3;
	op1 = (insn >> 16) & 7;
	crn = (insn >> 12) & 15;
	crm = (insn >> 8) & 15;
	op2 = (insn >> 5) & 7;
	rt = insn & 31;
	if (op0 != 3 || op1 != 0 || crn != 0 || crm == 1 || crm > 7)
		return false;
	if (crm == 0 && op2 != 0 && op2 != 5 && op2 != 6)
		return false;
	if (rt != 31)
		regs->regs[rt] = user_id_reg(crm, op2);
	regs->pc += 4;
	return true;
}

void arch_cpufeature_init(void)
{
	unsigned cpu = cpu_id();

	midr[cpu] = read_sysreg(midr_el1);
	revidr[cpu] = read_sysreg(revidr_el1);
	if (((read_sysreg(id_aa64isar0_el1) >> 20) & 15) < 2 ||
	    ((read_sysreg(id_aa64mmfr1_el1) >> 20) & 15) < 1 ||
	    ((read_sysreg(id_aa64mmfr0_el1) >> 4) & 15) < 2)
		panic("CPU %u lacks LSE atomics, PAN or 16-bit ASIDs: the kernel needs ARMv8.2", cpu);
	if (cpu)
		return;
	id_regs[PFR0] = read_sysreg(id_aa64pfr0_el1);
	id_regs[ISAR0] = read_sysreg(id_aa64isar0_el1);
	id_regs[ISAR1] = read_sysreg(id_aa64isar1_el1);
	id_regs[ISAR2] = read_id_isar2();
	id_regs[MMFR2] = read_sysreg(id_aa64mmfr2_el1);
}
