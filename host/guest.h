/* SPDX-License-Identifier: BSD-2-Clause */
/* One run of a guest: the images are found or made, QEMU runs, and the command's end is ours. */
#ifndef HOST_GUEST_H
#define HOST_GUEST_H

#include "options.h"

/*
 * Runs options->command in a guest, connected to the descriptors 0, 1 and 2, and ends this program
 * as the command ended: with its status, or by the signal that ended it. A program that needs a
 * guest's result and goes on forks first.
 */
void guest_run(const struct options *options) __attribute__((noreturn));

#endif
