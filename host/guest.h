/* SPDX-License-Identifier: BSD-2-Clause */
/* One run of a guest: the images are found or made, QEMU runs, and the command's end is ours. */
#ifndef HOST_GUEST_H
#define HOST_GUEST_H

#include <stdbool.h>
#include <sys/types.h>

#include "options.h"

/*
 * Runs options->command in a guest, connected to the descriptors 0, 1 and 2, and ends this program
 * as the command ended: with its status, or by the signal that ended it. A program that needs a
 * guest's result and goes on forks first.
 */
void guest_run(const struct options *options) __attribute__((noreturn));

/*
 * The folder of the guest's build, found from where this program is: build/host/host/tally. The
 * caller frees it.
 */
char *guest_build(void);

/* A guest whose end is not ours. */
struct guest_call {
	int in, out, err;   /* what it has as descriptors 0, 1 and 2 */
	const char *folder; /* its current folder, or NULL: ours */
	bool interruptible; /* a command that Ctrl-C ends has done its work, as perf record has */
	pid_t pid;
};

/*
 * Starts such a guest in a child process, which ends when this one does. Until guest_wait(), what
 * a terminal's keys and kill(1) send to this process is the guest's.
 */
void guest_start(struct guest_call *call, const struct options *options);

/*
 * Waits for its end. Returns the command's exit status, or 128 + N if signal N ended it. Ends this
 * program if a signal that was sent to it has ended the guest, or the command, whose work is then
 * half done whatever its status says, unless it is interruptible.
 */
int guest_wait(struct guest_call *call);

#endif
