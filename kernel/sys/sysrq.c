/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/sysrq-trigger: 'c' is a crash on purpose, 'o' switches off, as on Linux. */
#include "fs/pseudo.h"
#include "sys/sysrq.h"

static int trigger(const char *text, size_t n, void *arg)
{
	switch (n ? text[0] : '\0') {
	case 'c':
		panic("sysrq: a crash was asked for");
	case 'o':
		machine_power_off();
	default:
		printk("sysrq: only c (crash) and o (off) are there\n");
		return -EINVAL;
	}
}

void sysrq_init(void)
{
	static const struct pseudo_file pf = {
		.name = "sysrq-trigger", .mode = 0200, .store = trigger};

	if (procfs_add("", &pf))
		panic("no memory for /proc/sysrq-trigger");
}
