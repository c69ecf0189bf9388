/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of the system: what uname(2), /proc/version and /proc/sys/kernel tell. */
#ifndef TALLY_SYS_UNAME_H
#define TALLY_SYS_UNAME_H

#include "lib/kernel.h"
#include <linux/utsname.h>

/* The one set of names there is; nodename and domainname may be changed (sethostname(2)). Big lock held. */
struct new_utsname *system_utsname(void);

#endif
