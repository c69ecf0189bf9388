/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * armv8_pmuv3_regs.h - the registers of Arm's PMUv3 (DDI 0487, D13).
 *
 * On AArch64 these are the registers of the calling CPU. Elsewhere they are
 * functions that whoever links the driver provides: a simulated register file.
 */
#ifndef PMU_ARMV8_PMUV3_REGS_H
#define PMU_ARMV8_PMUV3_REGS_H

#include <stdint.h>

/* PMCR_EL0 */
#define PMCR_E	  (UINT64_C(1) << 0) /* counters that are enabled count */
#define PMCR_P	  (UINT64_C(1) << 1) /* zero the event counters */
#define PMCR_C	  (UINT64_C(1) << 2) /* zero the cycle counter */
#define PMCR_LC	  (UINT64_C(1) << 6) /* the cycle counter overflows at 64 bits */
#define PMCR_LP	  (UINT64_C(1) << 7) /* so do event counters (FEAT_PMUv3p5) */
#define PMCR_N(v) ((unsigned int)((v) >> 11) & 31U)

/* PMEVTYPERn_EL0 and PMCCFILTR_EL0 */
#define PMEVTYPER_EVENT 0xffffU
#define PMEVTYPER_NSH	(UINT64_C(1) << 27) /* count in EL2 */
#define PMEVTYPER_U	(UINT64_C(1) << 30) /* do not count in EL0 */
#define PMEVTYPER_P	(UINT64_C(1) << 31) /* do not count in EL1 */

/* PMUSERENR_EL0 */
#define PMUSERENR_CR (UINT64_C(1) << 2) /* user mode reads the cycle counter */
#define PMUSERENR_ER (UINT64_C(1) << 3) /* user mode reads event counters */

/* ID_AA64DFR0_EL1 */
#define DFR0_PMUVER(v) ((unsigned int)((v) >> 8) & 15U)

/* The cycle counter's bit in the registers that have one for each counter. */
#define CYCLE_COUNTER 31U

#if defined(__aarch64__)

#define PMU_REG_READ(fn, reg)                                         \
	static inline uint64_t fn(void)                               \
	{                                                             \
		uint64_t v;                                           \
		__asm__ volatile("mrs %0, " reg : "=r"(v)::"memory"); \
		return v;                                             \
	}
#define PMU_REG_WRITE(fn, reg)                                           \
	static inline void fn(uint64_t v)                                \
	{                                                                \
		__asm__ volatile("msr " reg ", %0" ::"r"(v) : "memory"); \
	}

static inline void pmu_isb(void)
{
	__asm__ volatile("isb" ::: "memory");
}

#else

#define PMU_REG_READ(fn, reg)  uint64_t fn(void);
#define PMU_REG_WRITE(fn, reg) void fn(uint64_t v);

static inline void pmu_isb(void)
{
}

#endif

PMU_REG_READ(pmu_read_dfr0, "id_aa64dfr0_el1")
PMU_REG_READ(pmu_read_pmcr, "pmcr_el0")
PMU_REG_WRITE(pmu_write_pmcr, "pmcr_el0")
PMU_REG_READ(pmu_read_pmceid0, "pmceid0_el0")
PMU_REG_READ(pmu_read_pmceid1, "pmceid1_el0")
PMU_REG_WRITE(pmu_write_pmcntenset, "pmcntenset_el0")
PMU_REG_WRITE(pmu_write_pmcntenclr, "pmcntenclr_el0")
PMU_REG_WRITE(pmu_write_pmintenset, "pmintenset_el1")
PMU_REG_WRITE(pmu_write_pmintenclr, "pmintenclr_el1")
PMU_REG_READ(pmu_read_pmovs, "pmovsclr_el0")
PMU_REG_WRITE(pmu_write_pmovsclr, "pmovsclr_el0")
PMU_REG_WRITE(pmu_write_pmuserenr, "pmuserenr_el0")
PMU_REG_WRITE(pmu_write_pmselr, "pmselr_el0")
PMU_REG_READ(pmu_read_pmccntr, "pmccntr_el0")
PMU_REG_WRITE(pmu_write_pmccntr, "pmccntr_el0")
PMU_REG_WRITE(pmu_write_pmccfiltr, "pmccfiltr_el0")
/* The event counter that PMSELR_EL0 selects. */
PMU_REG_READ(pmu_read_pmxevcntr, "pmxevcntr_el0")
PMU_REG_WRITE(pmu_write_pmxevcntr, "pmxevcntr_el0")
PMU_REG_WRITE(pmu_write_pmxevtyper, "pmxevtyper_el0")

#endif
