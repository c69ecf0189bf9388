/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings for other programs, and as pictures. */
#ifndef HOST_EXPORT_H
#define HOST_EXPORT_H

#include <stdio.h>

#include "options.h"
#include "profile.h"

/*
 * For speedscope: a profile for each event and thread (its file-format-schema.json), the weights
 * of which are events.
 */
void export_speedscope(const struct profile *profile, const char *title, FILE *out);

/* For the Firefox Profiler, in its "processed" format. */
void export_firefox(const struct profile *profile, const char *title, FILE *out);

/*
 * For flamegraph.pl and all that read its input: lines "THREAD;CALLER;...;FUNCTION WEIGHT", sorted. Of
 * several events only `event`.
 */
void export_collapsed(const struct profile *profile, uint32_t event, FILE *out);

/* A page of HTML that needs nothing else. */
void export_flamegraph(const struct profile *profile, const char *title, FILE *out);

/* The subcommands. */
int export_main(const struct options *options);
int flamegraph_main(const struct options *options);

#endif
