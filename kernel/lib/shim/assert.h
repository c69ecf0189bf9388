/* SPDX-License-Identifier: BSD-2-Clause */
/* For utlist. */
#include "lib/kernel.h"
#define assert(cond) ASSERT(cond)
