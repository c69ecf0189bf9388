/* SPDX-License-Identifier: BSD-2-Clause */
/* The port of the perf_event core onto this kernel: see perf_port.c. */
#ifndef TALLY_PERF_PORT_H
#define TALLY_PERF_PORT_H

/* Starts the core, probes the PMU, makes the sysctls and the sysfs entries. Boot, all CPUs up. */
void perf_port_init(void);

#endif
