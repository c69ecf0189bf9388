/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The links that update-alternatives(1) would make: /usr/bin/vi to vim.tiny, cc to gcc. Packages
 * ask for them in their postinst scripts, which cannot be run here; nearly all do so in plain
 * words, without variables, and these are read.
 */
#ifndef HOST_ALTERNATIVES_H
#define HOST_ALTERNATIVES_H

#include <stddef.h>

struct alternative {
	char *link, *path; /* absolute paths: the link, and what it shall lead to */
	long priority;
	size_t order; /* of two with the same priority the first wins */
};

struct alternatives {
	struct alternative *at;
	size_t count;
};

/*
 * Reads the text of any number of postinst scripts. The result is in descending order of priority
 * and has one entry for each --install and --slave; alternatives_free() frees it.
 */
void alternatives_read(struct alternatives *all, const char *text);

void alternatives_free(struct alternatives *all);

#endif
