/* SPDX-License-Identifier: BSD-2-Clause */
/* Fetches Debian's arm64 packages, through mmdebstrap, and makes files of them. */
#ifndef HOST_FETCH_H
#define HOST_FETCH_H

struct fetch {
	const char *what;     /* for the user: what is being made */
	const char *packages; /* names, separated by commas */
	const char *folder;   /* where the files are made, for what is said when there is no room */

	/*
	 * Reads the tar archive of the unpacked packages. Runs in a process of its own, while
	 * they are still coming. Returns 0 or a negative errno.
	 */
	int (*convert)(int tar, void *arg);
	/* Removes what there is of the files, when it has not gone well. */
	void (*discard)(void *arg);
	void *arg; /* of both */
};

/* Returns when all went well. Otherwise discards, tells the user why, and ends the program. */
void fetch_packages(const struct fetch *fetch);

#endif
