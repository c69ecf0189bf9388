/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TALLY_SYS_SYSRQ_H
#define TALLY_SYS_SYSRQ_H

/* Makes /proc/sysrq-trigger. Boot, procfs is there. */
void sysrq_init(void);

#endif
