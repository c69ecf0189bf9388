/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The images that QEMU gets: the kernel, and the initial ramdisk with PID 1 and the guest's root.
 * What is missing of them is made, in the cache; the name of a file there holds a hash of all that
 * went into it.
 */
#ifndef HOST_IMAGES_H
#define HOST_IMAGES_H

#include <stdbool.h>

#include "options.h"

struct images {
	char *kernel; /* the file for QEMU's -kernel */
	int initrd;   /* a descriptor of the one for its -initrd */
};

/*
 * Finds the images for a run, and makes what is missing, telling the user. `build` is the folder
 * with the files built for the guest. Ends the program with a plain sentence when that cannot be
 * done, or when the root does not fit into the guest's memory.
 */
void images_open(struct images *images, const char *build, const struct options *options);

/* Whether the images of Debian's root, and of its Linux kernel, are there without being made. */
bool images_have_root(void);
bool images_have_linux(void);

#endif
