/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port of the perf_event core onto this kernel. perf_port.c and perf_file.c
 * are what perf/port.h asks for, perf_sysfs.c shows PMUs and knobs.
 */
#ifndef TALLY_PERF_PORT_H
#define TALLY_PERF_PORT_H

#include "lib/kernel.h"

/* Starts the core, probes the PMU, makes the sysctls and the sysfs entries. Boot, all CPUs up. */
void perf_port_init(void);

/* perf_file.c: the interrupt by which wake-ups are put off. */
void perf_file_init(void);
/* perf_sysfs.c: the sysctls, and the folders of all PMUs that are registered. */
void perf_sysfs_init(void);

/*
 * Between the two, this CPU's counters stand still, whatever they are about and without anybody's
 * knowing: it is as good as off. Interrupts off; not nested. perf_port_thaw() takes what
 * perf_port_freeze() gave.
 */
u64 perf_port_freeze(void);
void perf_port_thaw(u64 frozen);

#endif
