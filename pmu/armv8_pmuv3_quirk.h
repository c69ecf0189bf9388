/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * armv8_pmuv3_quirk.h - what some PMUs get wrong, found out by trying.
 */
#ifndef PMU_ARMV8_PMUV3_QUIRK_H
#define PMU_ARMV8_PMUV3_QUIRK_H

#include <stdbool.h>

/**
 * Whether this CPU's PMU notices late that a counter of INST_RETIRED has wrapped.
 *
 * QEMU that counts instructions (-icount) looks for the wrap one instruction
 * early, finds none, and does not look again before the next exception. A
 * second counter of the same event that wraps one count later cures it: when
 * its time comes, QEMU looks at all counters.
 *
 * Uses counter 0, and leaves all stopped and no overflow pending. The caller
 * has interrupts off, and nothing is on the counters yet.
 */
bool armv8_pmuv3_overflow_is_late(void);

#endif
