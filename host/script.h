/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads what `perf script --ns -F comm,pid,tid,time,event,period,ip,sym,dso` prints:
 *
 *	sh     5/7     0.072267000:      20000 instructions:u:
 *		    fffff7fd690c do_lookup_x (/usr/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1)
 *		            aabb helper (inlined)
 *
 *	true    11/11    1.130117000:      20000 cycles:      fffff7fd690c [unknown] (/usr/bin/true)
 *
 * A sample without a chain of calls has its only frame on the first line. Names are whatever
 * programs call themselves and their functions; one with line breaks can spoil its own sample, and
 * no more.
 */
#ifndef HOST_SCRIPT_H
#define HOST_SCRIPT_H

#include "profile.h"

/* The fields, for perf script -F. */
extern const char script_fields[];

struct script {
	struct profile *profile;
	bool in_sample;
	struct profile_sample sample;
	uint32_t comm;
	uint32_t *frame; /* of the sample, from the innermost on */
	size_t frames;
	uint64_t strange; /* lines that are none of the above */
};

void script_begin(struct script *script, struct profile *profile);

/* Takes a line without its end, and changes it. */
void script_line(struct script *script, char *line);

/* Ends the last sample. */
void script_end(struct script *script);

#endif
