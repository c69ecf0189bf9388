/* SPDX-License-Identifier: BSD-2-Clause */
/* For libfdt: the compiler's own limits.h wants the C library's. */
#ifndef TALLY_SHIM_LIMITS_H
#define TALLY_SHIM_LIMITS_H

#define CHAR_BIT   __CHAR_BIT__
#define INT_MAX	   __INT_MAX__
#define INT_MIN	   (-INT_MAX - 1)
#define UINT_MAX   (INT_MAX * 2U + 1)
#define LONG_MAX   __LONG_MAX__
#define LONG_MIN   (-LONG_MAX - 1)
#define ULONG_MAX  (LONG_MAX * 2UL + 1)
#define LLONG_MAX  __LONG_LONG_MAX__
#define LLONG_MIN  (-LLONG_MAX - 1)
#define ULLONG_MAX (LLONG_MAX * 2ULL + 1)

#endif
