/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps of start-up that belong to the processor, in the order main.c takes them. */
#ifndef TALLY_ARCH_BOOT_H
#define TALLY_ARCH_BOOT_H

#include "lib/kernel.h"

void kernel_main(paddr_t dtb);
void arch_clock_init(void);
void psci_init(void);
void arch_map_init(void);    /* the final direct map; ioremap() works from here on */
void arch_memory_init(void); /* the page allocator */
void arch_irq_init(void);
void arch_timer_init(void); /* also on each later CPU */
void arch_smp_init(void);

#endif
