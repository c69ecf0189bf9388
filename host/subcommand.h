/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands of tally's own: a first word that is one of their names is not looked for in the guest.
 * `tally -- NAME` and `tally /usr/bin/NAME` run a program of the guest that has such a name.
 */
#ifndef HOST_SUBCOMMAND_H
#define HOST_SUBCOMMAND_H

#include "options.h"

struct subcommand {
	const char *name;
	/*
	 * options->command has the subcommand's name and its arguments, as main()'s argv; all else
	 * of the options is what came before the name. Returns the exit status.
	 */
	int (*run)(const struct options *options);
};

/* The subcommand that is meant, or NULL if the command is a program of the guest. */
const struct subcommand *subcommand_find(const struct options *options);

#endif
