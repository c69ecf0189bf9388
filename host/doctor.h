/* SPDX-License-Identifier: BSD-2-Clause */
/* `tally doctor`: looks at all that tally needs of this machine. */
#ifndef HOST_DOCTOR_H
#define HOST_DOCTOR_H

#include "options.h"

/* The subcommand (subcommand.h). Returns 0 if all is well, 1 if there is something to be done. */
int doctor_main(const struct options *options);

#endif
