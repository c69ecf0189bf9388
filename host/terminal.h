/* SPDX-License-Identifier: BSD-2-Clause */
/* The user's terminal, when there is one: raw while the guest has it, and as before afterwards. */
#ifndef HOST_TERMINAL_H
#define HOST_TERMINAL_H

#include <stdbool.h>

/*
 * Puts the terminal on descriptor 0 into raw mode, in which every key goes to the guest, whose
 * own terminal then does what this one would have done. It is put back when the program ends by
 * exit(3), or by terminal_restore().
 */
void terminal_raw(void);
void terminal_restore(void);

/* Rows and columns of the terminal on descriptor `fd`; 24 and 80 if it does not say. */
void terminal_size(int fd, unsigned int *rows, unsigned int *columns);

/* Whether this process is in the background of the terminal on descriptor `fd`. */
bool terminal_background(int fd);

#endif
