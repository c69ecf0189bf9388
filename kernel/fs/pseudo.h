/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pseudo file systems: a tree of directories and files whose text is made when
 * they are read. procfs and sysfs are built of these; so can any part of the
 * kernel add its own (perf's sysctls, sysfs entries of a PMU).
 */
#ifndef TALLY_FS_PSEUDO_H
#define TALLY_FS_PSEUDO_H

#include "fs/vfs.h"

struct pseudo_file {
	const char *name;
	mode_t mode; /* permission bits */
	int (*show)(struct seq *s, void *arg);			/* 0 or -errno */
	int (*store)(const char *text, size_t n, void *arg);	/* text is NUL-ended; NULL: -EACCES/-EIO */
	void *arg;
};

/* Directories are made as needed. `dir` relative to the root of the file system, "" for it. 0 or -errno. */
int procfs_add(const char *dir, const struct pseudo_file *pf);
int sysfs_add(const char *dir, const struct pseudo_file *pf);
int sysfs_symlink(const char *path, const char *target);
/* A file of fixed bytes in memory (fw_cfg items, /sys/kernel/notes). Not copied. */
int sysfs_add_blob(const char *path, const void *data, size_t n);

#endif
