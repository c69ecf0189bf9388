/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of the random number generator that only /dev/random needs. */
#ifndef TALLY_DEV_RANDOM_H
#define TALLY_DEV_RANDOM_H

#include "lib/kernel.h"

/* What user space writes is mixed in, too: the same writes give the same numbers. Any context. */
void random_mix(const void *bytes, size_t n);

#endif
