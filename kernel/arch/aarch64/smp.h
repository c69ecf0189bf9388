/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files that know of several CPUs share. */
#ifndef TALLY_ARCH_SMP_H
#define TALLY_ARCH_SMP_H

#include "arch/aarch64/cpu.h"

/* Software generated interrupts. SGI_PERF belongs to perf_file.c. */
enum sgi { SGI_RESCHEDULE, SGI_CALL, SGI_STOP, SGI_PERF };

/* gic.c: the CPU interface and redistributor of the calling CPU. Interrupts off. */
void gic_cpu_init(void);
/* Interrupts another CPU (or this one). Any context. */
void gic_send_sgi(unsigned cpu, unsigned sgi);

/* PSCI CPU_ON: 0 or PSCI's negative error. */
int psci_cpu_on(u64 mpidr, paddr_t entry, u64 context);

/* smp.c: the other CPUs stop for good. Any context; for panic. */
void smp_stop_others(void);

#endif
