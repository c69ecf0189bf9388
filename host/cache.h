/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder of what Tally makes once and keeps, ${XDG_CACHE_HOME:-~/.cache}/tally, which may be
 * removed at any time.
 *
 * A file there is whole or absent: it is written under another name, flushed to the disk, and
 * renamed. One process at a time makes files and removes old ones; others wait for it. Whoever
 * uses a file keeps it open, so that it may be removed meanwhile.
 */
#ifndef HOST_CACHE_H
#define HOST_CACHE_H

/* Where the folder is, or NULL if nothing says so; the caller frees it. */
char *cache_path(void);

/* The folder, which is made if need be; the caller frees it. Ends the program if that fails. */
char *cache_folder(void);

/*
 * Waits until no other process makes files, removes what one left unfinished, and what nothing
 * has used for long. The lock lasts until the descriptor it returns is closed.
 */
int cache_lock(const char *folder);

/*
 * A new file at `path`, to be written to the descriptor, and in the end given to one of the
 * other two. These end the program if they fail.
 */
int cache_create(const char *path);
void cache_finish(int fd, const char *path);

void cache_discard(int fd, const char *path);

/* Opens a file for reading and marks it as used. Returns a descriptor, or -1 if it is not there. */
int cache_open(const char *path);

#endif
