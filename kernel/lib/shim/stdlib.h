/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For uthash and libfdt: the C library's name for what lib/kernel.h declares,
 * and the heap that uthash uses.
 */
#ifndef TALLY_SHIM_STDLIB_H
#define TALLY_SHIM_STDLIB_H

#include "mm/page.h"

#define uthash_malloc(n)  kmalloc(n)
#define uthash_free(p, n) kfree(p)
#define uthash_fatal(msg) panic("uthash: %s", msg)

#endif
