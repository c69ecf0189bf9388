/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which files of this machine go along into the guest. They become one cpio archive that PID 1
 * unpacks over the root before it runs the command.
 *
 * The rule for words of the command line (docs/host.md): the command, if it has a slash in it,
 * and every argument that begins with "./", "../" or "/", are looked up here. A regular file is
 * copied if it is the command, an arm64 ELF file, or below the current folder. The system's
 * folders are the guest's own and nothing is copied from there.
 */
#ifndef HOST_FILES_H
#define HOST_FILES_H

#include "options.h"

/*
 * Returns a descriptor of the archive, in memory, or -1 if there is nothing to copy. Ends the
 * program if a file named by --copy cannot be read (EXIT_TALLY), or if the command is a file
 * that cannot be run in the guest (EXIT_NOT_EXEC). What is below `shared` (NULL: nothing is) is
 * in the guest anyhow.
 */
int files_collect(const struct options *options, const char *shared);

/*
 * The current folder, if it can be shared with the guest at the same path, which must not hide
 * one of the guest's own folders; else NULL. The caller frees it.
 */
char *files_shareable(void);

#endif
