/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of the system. It says Linux, because programs ask this to learn
 * which system calls they may expect; the release is that of the Linux whose
 * interface it follows, with Tally's own name behind it.
 */
#include "sys/uname.h"

static struct new_utsname names = {
	.sysname = "Linux",
	.nodename = "tally",
	.release = "6.1.0-tally",
	.version = "#1 SMP Tally",
	.machine = "aarch64",
	.domainname = "(none)",
};

struct new_utsname *system_utsname(void)
{
	return &names;
}
