/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the guest's root image out of Debian's packages: which packages, what of them is left
 * out, and what their maintainer scripts would have done.
 */
#ifndef HOST_ROOTFS_H
#define HOST_ROOTFS_H

#include <stdbool.h>

/* Where in the guest PID 1 finds the modules of a Linux kernel, which it loads and removes. */
#define ROOTFS_MODULES ".tally-modules"

/* A file in the archive of packages that has all their postinst scripts. */
#define ROOTFS_SCRIPTS "tally-postinst"

/* Names of the packages, separated by commas, and the Debian release they come from. */
extern const char rootfs_packages[];
extern const char rootfs_suite[];

/* Change when the image made from the same packages would be another one. */
extern const char rootfs_version[];
extern const char rootfs_linux_version[];

/*
 * Reads a tar archive of unpacked packages from `tar` and writes the image to `out`, both file
 * descriptors of the caller's. `whole`: with all that compilers and other added packages may need
 * of rootfs_packages. Returns 0 or a negative errno; -EBADMSG for a broken archive.
 */
int rootfs_convert(int tar, int out, bool whole);

/*
 * Reads a tar archive of unpacked packages with a Linux kernel in it from `tar`. Writes the
 * kernel to `kernel` and an image of the modules that PID 1 needs, in ROOTFS_MODULES,
 * to `modules`; the latter has no trailer, for another image to follow. Returns as above, and
 * -ENOENT if the archive lacks the kernel or one of the modules.
 */
int rootfs_linux(int tar, int kernel, int modules);

#endif
