/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are written as a whole or not at all. */
#ifndef HOST_OUTPUT_H
#define HOST_OUTPUT_H

#include <stdio.h>

struct output {
	FILE *file;
	char *path;
	char *new_path; /* a pattern for mkstemp(3); NULL if `file` is the user's own */
};

/*
 * Begins a file; "-" is standard output. Ends the program if it cannot be written, so that whoever
 * has much to do before there is anything to write begins the file first. Until output_finish()
 * nothing of it is on the disk, and nothing is left if the program ends before. A device or a pipe
 * is written directly.
 */
void output_begin(struct output *output, const char *path);

/*
 * Waits for others that have called this for a file of the same folder. Returns a descriptor, and
 * when that is closed the next one's turn has come; or -1 where there are no locks.
 */
int output_lock(const struct output *output);

/* Forgets the file. */
void output_discard(struct output *output);

/*
 * Puts the file in the place of the one that had its name, whose mode and owner it gets, or ends
 * the program, and then that is as it was.
 */
void output_finish(struct output *output);

#endif
