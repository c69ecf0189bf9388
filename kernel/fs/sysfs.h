/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of sysfs; others use fs/pseudo.h. */
#ifndef TALLY_FS_SYSFS_H
#define TALLY_FS_SYSFS_H

#include "fs/vfs.h"

int sysfs_mkdir(const char *path);
void sysfs_cpu_init(void);
unsigned nr_possible_cpus(void); /* in the device tree, up to MAX_CPUS */
/* A set of CPUs (or any bits) as Linux prints lists: "0-3,5"; and as masks: "0000002f" in groups of 32 bits. */
void seq_bitmap_list(struct seq *s, u64 bits);
void seq_bitmap_mask(struct seq *s, u64 bits, unsigned nbits);

#endif
