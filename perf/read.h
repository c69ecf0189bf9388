/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read.h - the value of an event and its copies.
 */
#ifndef PERF_READ_H
#define PERF_READ_H

#include "event.h"

/**
 * Fold the final values of a copy, which no longer counts, into its root, and
 * take it off the root's list. No effect if that has happened. The caller holds
 * the root's copies_mutex and a reference to the copy. Context: sleep.
 */
void perf_read_fold_copy(struct perf_event *copy);

#endif
