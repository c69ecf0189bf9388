/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of tally's own commands; see subcommand.h. */
#include <stddef.h>
#include <string.h>

#include "budget.h"
#include "doctor.h"
#include "export.h"
#include "subcommand.h"

static const struct subcommand table[] = {
	{"budget", budget_main},
	{"doctor", doctor_main},
	{"export", export_main},
	{"flamegraph", flamegraph_main},
	{NULL, NULL},
};

const struct subcommand *subcommand_find(const struct options *options)
{
	if (options->of_guest)
		return NULL;
	for (const struct subcommand *own = table; own->name; own++) {
		if (strcmp(own->name, options->command[0]) == 0)
			return own;
	}
	return NULL;
}
