/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the system ready for the command: what Tally's kernel has by itself and Linux lacks. */
#ifndef GUEST_SETUP_H
#define GUEST_SETUP_H

/*
 * Mounts the kernel's file systems and loads the modules in /.tally-modules, where /proc is
 * not there yet; does nothing otherwise. Returns 0, or -1 with errno after saying what failed.
 */
int setup_system(void);

/*
 * Waits until the channels' devices are there, which on Linux come a moment after their module.
 * Returns 0, or -1 after saying which did not come.
 */
int setup_wait_devices(void);

/*
 * Puts a folder of the host, by its mount tag, at a folder that is there. Returns 0, or -1 with
 * errno.
 */
int setup_share(const char *tag, const char *folder);

#endif
