/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shows on standard error how something that takes a while gets on: on a terminal in one line,
 * which changes and is gone at the end; elsewhere in a plain line for each step.
 */
#ifndef HOST_PROGRESS_H
#define HOST_PROGRESS_H

/* Says what begins. One thing at a time. */
void progress_begin(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The next step begins. */
void progress_step(const char *step);

/* So much of the step is done. Shown on terminals only, and not more often than is of use. */
void progress_percent(unsigned int percent);

/* Called about once a second while nothing else is: lets the seconds pass on a terminal. */
void progress_tick(void);

/* It is over, well or not: the line is free again. May be called without a beginning. */
void progress_end(void);

#endif
