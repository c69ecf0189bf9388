/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work that an interrupt handler hands to process context: one kernel thread
 * runs queued items in order with the big lock held and interrupts on.
 */
#ifndef TALLY_PROC_WORK_H
#define TALLY_PROC_WORK_H

#include "lib/kernel.h"

struct work {
	void (*fn)(struct work *w);
	struct work *next, *prev;
	bool queued;
};
void work_queue(struct work *w); /* any context; nothing happens if it is queued already */
/* Takes it off the list. Process context, big lock held: afterwards it neither runs nor is going to. */
void work_cancel(struct work *w);
void work_init(void);

#endif
