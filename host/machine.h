/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The virtual machine: how QEMU is called. docs/host.md describes the machine that the guest
 * sees, and the channels.
 */
#ifndef HOST_MACHINE_H
#define HOST_MACHINE_H

#include <sys/types.h>

#include "images.h"
#include "options.h"

#define MACHINE_QEMU "qemu-system-aarch64"

/*
 * The channels between the guest and this process, ports of a virtio console. The control channel
 * is the last, since PID 1 takes it for a sign that the others are there.
 */
enum channel {
	CHANNEL_TTY,
	CHANNEL_IN,
	CHANNEL_OUT,
	CHANNEL_ERR,
	CHANNEL_RESULTS, /* only if options->results says so */
	CHANNEL_CONTROL,
	CHANNELS
};

struct machine {
	pid_t pid;
	int socket[CHANNELS]; /* our ends, non-blocking */
	int console;	      /* what the kernel has said; readable by pread(2) */
	int errors;	      /* what QEMU itself has said */
};

/* Mount tag of the folder that is shared. */
#define MACHINE_SHARE_TAG "cwd"

/* What goes into the machine besides the images. */
struct inputs {
	int run, files;	    /* the fw_cfg files opt/tally/run and opt/tally/files; -1: none */
	const char *shared; /* a folder for virtio-9p, or NULL */
};

/*
 * The version of QEMU. Returns 1 if it is good enough, 0 if it is not, and -1 if there is none; then
 * the version is not set.
 */
int machine_version(int *major, int *minor);

/*
 * Starts QEMU. QEMU gets a process group of its own, so that the terminal's signals
 * do not reach it, and ends when this process does. Ends the program if it cannot be started.
 */
void machine_start(struct machine *machine, const struct options *options,
		   const struct images *images, const struct inputs *inputs);

#endif
