/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of tally: tally [OPTIONS] CMD ARGS... */
#ifndef HOST_OPTIONS_H
#define HOST_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Texts of the command line; they live as long as the program. */
struct texts {
	const char **at;
	size_t count;
};

struct options {
	unsigned int cpus;
	const char *memory;	  /* for QEMU's -m, */
	unsigned int memory_mb;	  /* and as a number */
	const char *root;	  /* a root of the user's own (ownroot.h), or NULL: Debian's, */
	struct texts packages;	  /* --package: with these added to it */
	bool linux_kernel;	  /* Debian's Linux instead of Tally's kernel */
	bool exact;		  /* one instruction is one nanosecond of the guest's time */
	bool pmu;		  /* the machine has counters */
	bool share;		  /* the current folder is the guest's, too */
	struct texts copies;	  /* --copy, each PATH or PATH:GUESTPATH */
	struct texts environment; /* --env, each NAME=VALUE */
	const char *log;	  /* where the kernel's console goes, or NULL */
	unsigned int timeout;	  /* seconds, or 0 for none */
	char **command;		  /* CMD ARGS..., ended by NULL */
	bool of_guest;		  /* "--" before CMD: it is none of tally's own commands */
	struct texts given; /* the options as given, --NAME=VALUE, that can change what CMD does */

	/* For tally's own commands to set. */
	const char *input;  /* a file of the guest's that is its standard input, or NULL: ours is */
	const char *folder; /* what the current folder is called in the guest, or NULL: the same */
	bool terminal;	    /* the command may have our terminal (true) */
	int results; /* where what is written to the guest's /dev/vport0p6 goes, or -1: no such port */
};

/* Appends a text, which must live as long as the program. */
void texts_add(struct texts *texts, const char *text);

/*
 * Reads the command line. Ends the program after --help and --version (status 0) and on a bad
 * option or a missing command (a plain sentence, EXIT_USAGE).
 */
void options_parse(struct options *options, int argc, char **argv);

#endif
