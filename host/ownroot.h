/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A root file system of the user's (--root): a folder, or a tar archive however compressed, with
 * arm64 programs in it; or none at all.
 *
 * What becomes of it in the guest (docs/host.md):
 * - Links of both kinds, modes with set-user-ID, and named pipes are as they are. Owners are too,
 *   but in a folder what belongs to the user who calls tally is root's in the guest.
 * - Left out: devices and sockets, what is in /dev, /proc, /run and /sys, /init, extended
 *   attributes, and in a folder what the user may not read.
 * - No time is later than the guest's clock at its start.
 */
#ifndef HOST_OWNROOT_H
#define HOST_OWNROOT_H

#include <stdint.h>

#include "newc.h"

/* The word for no root at all. */
#define OWNROOT_NONE "none"

struct ownroot {
	const char *path; /* as the user gave it */
	enum { OWNROOT_IS_NONE, OWNROOT_IS_FOLDER, OWNROOT_IS_TAR } kind;
	uint64_t key;	/* changes when anything in it does */
	uint64_t bytes; /* of the folder's files, or of the archive */
};

/* Ends the program (EXIT_TALLY) if the root is not there or cannot be one. */
void ownroot_find(struct ownroot *root, const char *path);

/*
 * Writes the root's files as entries of an archive in a regular file, without a trailer; no more
 * than `limit` bytes. Returns NULL, or what is wrong with the root, to be freed by the caller.
 */
char *ownroot_write(const struct ownroot *root, struct newc *out, uint64_t limit);

#endif
