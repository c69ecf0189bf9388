/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connects this process's standard input, output and error with the guest while it runs: bytes
 * both ways with bounded buffers, so that who is slow slows the other down; ends of files;
 * signals and the size of the terminal as messages on the control channel.
 */
#ifndef HOST_RELAY_H
#define HOST_RELAY_H

#include <stdbool.h>

#include "machine.h"

/* What one of the command's descriptors 0, 1 and 2 is in the guest. */
enum endpoint {
	ENDPOINT_NULL, /* /dev/null, as it is here */
	ENDPOINT_TTY,  /* the guest's terminal */
	ENDPOINT_PORT, /* a channel of its own */
	ENDPOINT_SAME  /* descriptor 2: the very one that 1 is */
};

struct wiring {
	enum endpoint fd[3];
	bool raw;     /* standard input is a terminal that the guest has for itself */
	int terminal; /* descriptor that the guest's terminal shows on, or -1 */
	int results;  /* descriptor for the channel of results, or -1 */
};

/* How the guest ended. */
struct outcome {
	enum {
		ENDED_NO_STATUS, /* without saying how the command ended */
		ENDED_EXIT,	 /* value: the command's exit status */
		ENDED_SIGNAL,	 /* value: the signal that ended the command, or tally */
		ENDED_TIMEOUT,	 /* --timeout passed */
		ENDED_BY_KEY,	 /* the user pressed the escape key three times */
		ENDED_BADLY	 /* with a status, and then the kernel reported a fault */
	} how;
	int value;
	int write_error; /* errno of the first write to our own output that failed, or 0 */
};

/*
 * Blocks the signals that relay_run() takes care of. To be called before QEMU is started, so
 * that none of them is lost.
 */
void relay_prepare(void);

/*
 * Finds out what the descriptors 0, 1 and 2 are, and so what the guest's shall be. Without
 * `terminal`, one that is a terminal here is none there.
 */
void relay_wire(struct wiring *wiring, bool terminal);

/*
 * Runs until the guest has ended and all that it wrote is written here. `timeout` is in seconds,
 * 0 for none; `trusted` is whether a kernel that gave a status is also asked to end by itself,
 * so that what it finds out at its shutdown counts.
 */
void relay_run(const struct machine *machine, const struct wiring *wiring, unsigned int timeout,
	       bool trusted, struct outcome *outcome);

#endif
