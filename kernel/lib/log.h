/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel log: lines in a ring, oldest overwritten. printk() fills it, the
 * serial port shows it, /dev/kmsg reads it.
 */
#ifndef TALLY_LIB_LOG_H
#define TALLY_LIB_LOG_H

#include "lib/kernel.h"

#define LOG_LINE_MAX 232 /* a longer line is cut */

struct log_line {
	u64 seq;     /* 0 for the first line since boot */
	u64 time_ns; /* clock_ns() */
	u32 len;
	char text[LOG_LINE_MAX]; /* without the newline; not ended by NUL */
};

/* The sequence numbers there are: [first, next). Any context. */
u64 log_first(void);
u64 log_next(void);
/* A copy of one line; false if it is not there (yet, or any more). Any context. */
bool log_get(u64 seq, struct log_line *out);

#endif
