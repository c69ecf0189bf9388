/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are written as a whole or not at all. */
#ifndef HOST_OUTPUT_H
#define HOST_OUTPUT_H

#include <stdio.h>

struct output {
	FILE *file;
	char *path, *new_path; /* new_path: NULL for standard output */
};

/* Begins a file; "-" is standard output. Ends the program if it cannot be written. */
void output_begin(struct output *output, const char *path);

/*
 * Puts the file in the place of the one that had its name, whose mode it gets, or ends the program,
 * and then that is as it was.
 */
void output_finish(struct output *output);

#endif
