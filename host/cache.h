/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What Tally fetches and makes once and keeps: the guest's root image, and Debian's Linux
 * kernel for --kernel=linux. All of it lies in one folder, ${XDG_CACHE_HOME:-~/.cache}/tally,
 * which may be removed at any time.
 *
 * A file there is whole or absent: it is written under another name, flushed to the disk, and
 * renamed. Its name holds a hash of all that went into it. One process at a time makes files;
 * others wait for it.
 */
#ifndef HOST_CACHE_H
#define HOST_CACHE_H

#include <stdbool.h>

struct images {
	char *kernel; /* the file for QEMU's -kernel */
	char *initrd; /* the file for QEMU's -initrd */
};

/*
 * Finds the kernel and the initial ramdisk of either kernel, and makes what is missing, telling
 * the user. `build` is the folder with the files built for the guest. Ends the program with a
 * plain sentence when that cannot be done.
 */
void cache_images(struct images *images, const char *build, bool linux_kernel);

#endif
