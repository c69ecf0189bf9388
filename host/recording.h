/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings, as the guest's own perf reads and makes them. */
#ifndef HOST_RECORDING_H
#define HOST_RECORDING_H

#include "options.h"
#include "profile.h"

struct recording {
	struct profile profile;
	char *command; /* that was recorded, or perf's own command line; "" if it is not known */
	int status;    /* of the command that was recorded; 0 for a file */
};

/*
 * Reads a file, or standard input for "-". Ends the program, with perf's own words, if perf cannot
 * read it, and if there are no samples in it.
 */
void recording_read(struct recording *recording, const struct options *options, const char *path);

/*
 * Runs a command (ended by NULL) under perf record with some more words for that (ended by NULL,
 * too), and reads what is recorded, which is nowhere else. The command's descriptors are ours.
 */
void recording_make(struct recording *recording, const struct options *options, char *const *record,
		    char *const *command);

void recording_free(struct recording *recording);

#endif
