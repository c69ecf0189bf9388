/* SPDX-License-Identifier: BSD-2-Clause */
/* For uthash, utlist and libfdt: the C library's name for what lib/kernel.h declares. */
#include "lib/kernel.h"
