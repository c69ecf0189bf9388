/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes cpio archives of the "newc" kind, the format of Linux's initial ramdisk
 * (Documentation/driver-api/early-userspace/buffer-format.rst in Linux's sources).
 *
 * What it adds to any other writer: the data of a file of 4096 bytes or more begins at a
 * multiple of 4096 in the archive, so that a kernel that finds the archive in memory can map
 * a file's pages where they lie. The gap is filled by NULs after the entry's name, which the
 * format counts as part of the name and every reader ignores.
 */
#ifndef HOST_NEWC_H
#define HOST_NEWC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { NEWC_ALIGN = 4096 };

/* What has no time of its own has this: 2026-01-01 00:00:00 UTC, where host/machine.c starts the guest's clock. */
enum { NEWC_TIME = 1767225600 };

struct newc {
	int fd;
	uint64_t size;	/* bytes handed to the archive so far */
	uint64_t entry; /* where the last entry's header is */
	uint32_t inode; /* number of the last entry; each entry has its own */
	int error;	/* errno of the first write that failed; later calls do nothing */
	size_t used;
	char buffer[1 << 16];
};

struct newc_entry {
	const char *path; /* without a leading '/' */
	mode_t mode;	  /* with the file type */
	uint32_t mtime;	  /* seconds since 1970 */
	uint64_t size;	  /* of the data that follows: file contents or link target */
	uint32_t uid, gid;
	uint32_t inode; /* of the file that this is another name of (newc_is_linked()); else 0 */
};

/* Starts an archive at the beginning of `fd`, which stays the caller's. */
void newc_open(struct newc *archive, int fd);

/*
 * Starts an entry. The caller then gives exactly entry->size bytes with newc_data(), in any
 * number of pieces, before the next entry. Names of 2048 bytes or more and files of 4 GiB or
 * more do not fit the format: they set the error to ENAMETOOLONG or EFBIG.
 */
void newc_entry(struct newc *archive, const struct newc_entry *entry);
void newc_data(struct newc *archive, const void *data, size_t size);

/* A directory, a symbolic link, and a file whose contents are in memory. */
void newc_directory(struct newc *archive, const char *path, mode_t mode, uint32_t mtime);
void newc_symlink(struct newc *archive, const char *path, const char *target, uint32_t mtime);
void newc_file(struct newc *archive, const char *path, mode_t mode, uint32_t mtime,
	       const void *data, size_t size);

/*
 * Says of an entry that was written before, whose header is at `header`, that other entries are
 * names of the same file. Only for archives in regular files. Returns 0 or a negative errno.
 */
int newc_is_linked(struct newc *archive, uint64_t header);

/*
 * Writes out what is buffered, and then all of another archive from where `from` stands. Both
 * have to end at multiples of NEWC_ALIGN. Returns 0 or a negative errno.
 */
int newc_append(struct newc *archive, int from);

/* Fills up to a multiple of NEWC_ALIGN, so that another archive can follow in place. */
void newc_align(struct newc *archive);

/* Writes out what is buffered. Returns 0 or the negative errno of the first failure. */
int newc_flush(struct newc *archive);

/* Writes the trailer, fills up to a multiple of NEWC_ALIGN, and flushes. */
int newc_close(struct newc *archive);

#endif
