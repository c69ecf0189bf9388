/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * armv8_pmuv3_quirk.c - see armv8_pmuv3_quirk.h. Nothing here runs after start-up.
 */
#include "armv8_pmuv3_quirk.h"
#include "armv8_pmuv3_events.h"
#include "armv8_pmuv3_regs.h"

enum {
	COUNTS_TO_WRAP = 1000,
	LOOP_TURNS = 4000, /* several instructions each, none of which traps */
};

bool armv8_pmuv3_overflow_is_late(void)
{
	volatile unsigned int turns = LOOP_TURNS;
	uint64_t wrapped;

	pmu_write_pmselr(0);
	pmu_isb();
	pmu_write_pmxevtyper(ARMV8_EVENT_INST_RETIRED);
	pmu_write_pmxevcntr((UINT64_C(0) - COUNTS_TO_WRAP) & UINT32_MAX);
	pmu_write_pmovsclr(UINT32_MAX);
	pmu_write_pmcntenset(1);
	pmu_write_pmcr(PMCR_LC | PMCR_E);
	pmu_isb();
	while (turns > 0)
		turns--;
	wrapped = pmu_read_pmovs();
	pmu_write_pmcr(PMCR_LC);
	pmu_write_pmcntenclr(1);
	pmu_isb();
	pmu_write_pmovsclr(UINT32_MAX);
	return (wrapped & 1) == 0;
}
