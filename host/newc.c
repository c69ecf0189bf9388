/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The newc writer; see newc.h for the format and why it exists.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "newc.h"

enum {
	HEADER = 110,     /* magic and thirteen fields of eight hexadecimal digits */
	FIELD_MAX = 4096, /* PATH_MAX: Linux skips an entry with a longer name field */
	NAME_MAX_SIZE = FIELD_MAX - NEWC_ALIGN / 2 /* leaves room for half a page of NULs */
};

static const char zeros[NEWC_ALIGN];

void newc_open(struct newc *archive, int fd)
{
	memset(archive, 0, sizeof(*archive));
	archive->fd = fd;
}

int newc_flush(struct newc *archive)
{
	size_t done = 0;

	while (done < archive->used && !archive->error) {
		ssize_t n = write(archive->fd, archive->buffer + done, archive->used - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			archive->error = errno;
	}
	archive->used = 0;
	return -archive->error;
}

static void put(struct newc *archive, const void *data, size_t size)
{
	const char *from = data;

	archive->size += size;
	while (size > 0 && !archive->error) {
		size_t room = sizeof(archive->buffer) - archive->used;
		size_t n = size < room ? size : room;

		memcpy(archive->buffer + archive->used, from, n);
		archive->used += n;
		from += n;
		size -= n;
		if (archive->used == sizeof(archive->buffer))
			newc_flush(archive);
	}
}

static void pad(struct newc *archive, size_t unit)
{
	size_t over = archive->size % unit;

	if (over)
		put(archive, zeros, unit - over);
}

/* Writes a header and its name, with `fill` NULs after the name's own. */
static void put_header(struct newc *archive, const struct newc_entry *entry, size_t fill)
{
	size_t name = strlen(entry->path) + 1;
	char header[HEADER + 1];

	snprintf(header, sizeof(header), "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X",
		 ++archive->inode, (unsigned int)entry->mode, 0, 0, S_ISDIR(entry->mode) ? 2 : 1,
		 entry->mtime, (unsigned int)entry->size, 0, 0, 0, 0, (unsigned int)(name + fill), 0);
	put(archive, header, HEADER);
	put(archive, entry->path, name);
	put(archive, zeros, fill);
	pad(archive, 4);
}

/* How many NULs after the name of `name` bytes make what follows begin aligned. */
static size_t fill_for(const struct newc *archive, size_t name)
{
	size_t end = (archive->size + HEADER + name) % NEWC_ALIGN;

	return end ? NEWC_ALIGN - end : 0;
}

/* An entry that changes nothing (the root folder, once more) and takes up `size` bytes. */
static void put_filler(struct newc *archive, size_t size)
{
	const struct newc_entry root = {.path = ".", .mode = S_IFDIR | 0755};

	put_header(archive, &root, size - HEADER - sizeof("."));
}

void newc_entry(struct newc *archive, const struct newc_entry *entry)
{
	size_t name = strlen(entry->path) + 1;
	size_t fill = 0;

	pad(archive, 4);
	if (name > NAME_MAX_SIZE)
		archive->error = archive->error ? archive->error : ENAMETOOLONG;
	if (entry->size > UINT32_MAX)
		archive->error = archive->error ? archive->error : EFBIG;
	if (archive->error)
		return;
	if (S_ISREG(entry->mode) && entry->size >= NEWC_ALIGN) {
		fill = fill_for(archive, name);
		if (name + fill > FIELD_MAX) {
			put_filler(archive, NEWC_ALIGN / 2);
			fill = fill_for(archive, name);
		}
	}
	put_header(archive, entry, fill);
}

void newc_data(struct newc *archive, const void *data, size_t size)
{
	put(archive, data, size);
}

void newc_directory(struct newc *archive, const char *path, mode_t mode, uint32_t mtime)
{
	const struct newc_entry entry = {path, S_IFDIR | mode, mtime, 0};

	newc_entry(archive, &entry);
}

void newc_symlink(struct newc *archive, const char *path, const char *target, uint32_t mtime)
{
	const struct newc_entry entry = {path, S_IFLNK | 0777, mtime, strlen(target)};

	newc_entry(archive, &entry);
	newc_data(archive, target, strlen(target));
}

void newc_file(struct newc *archive, const char *path, mode_t mode, uint32_t mtime,
	       const void *data, size_t size)
{
	const struct newc_entry entry = {path, S_IFREG | mode, mtime, size};

	newc_entry(archive, &entry);
	newc_data(archive, data, size);
}

void newc_align(struct newc *archive)
{
	size_t left;

	pad(archive, 4);
	left = NEWC_ALIGN - archive->size % NEWC_ALIGN;
	if (left == NEWC_ALIGN)
		return;
	if (left < HEADER + sizeof("."))
		left += NEWC_ALIGN;
	if (left > NEWC_ALIGN) {
		put_filler(archive, NEWC_ALIGN / 2);
		left -= NEWC_ALIGN / 2;
	}
	put_filler(archive, left);
}

int newc_close(struct newc *archive)
{
	const struct newc_entry trailer = {.path = "TRAILER!!!"};

	newc_entry(archive, &trailer);
	pad(archive, NEWC_ALIGN);
	return newc_flush(archive);
}
