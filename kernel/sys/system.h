/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TALLY_SYS_SYSTEM_H
#define TALLY_SYS_SYSTEM_H

struct new_utsname;

/* What uname(2) says, for /proc/version and /proc/sys/kernel. */
const struct new_utsname *system_names(void);

#endif
