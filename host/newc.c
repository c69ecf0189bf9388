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
	HEADER = 110,	   /* magic and thirteen fields of eight hexadecimal digits */
	LINKS = 6 + 4 * 8, /* where in it the number of links is */
	FIELD_MAX = 4096,  /* PATH_MAX: Linux skips an entry with a longer name field */
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

	archive->entry = archive->size;
	snprintf(header, sizeof(header),
		 "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X",
		 entry->inode ? entry->inode : ++archive->inode, (unsigned int)entry->mode,
		 entry->uid, entry->gid, S_ISDIR(entry->mode) || entry->inode ? 2 : 1, entry->mtime,
		 (unsigned int)entry->size, 0, 0, 0, 0, (unsigned int)(name + fill), 0);
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

/* An entry that says nothing new (the root folder, once more) and takes up `size` bytes. */
static void put_filler(struct newc *archive, size_t size)
{
	const struct newc_entry root = {.path = ".", .mode = S_IFDIR | 0755, .mtime = NEWC_TIME};

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
	const struct newc_entry entry = {.path = path, .mode = S_IFDIR | mode, .mtime = mtime};

	newc_entry(archive, &entry);
}

void newc_symlink(struct newc *archive, const char *path, const char *target, uint32_t mtime)
{
	const struct newc_entry entry = {
		.path = path, .mode = S_IFLNK | 0777, .mtime = mtime, .size = strlen(target)};

	newc_entry(archive, &entry);
	newc_data(archive, target, strlen(target));
}

void newc_file(struct newc *archive, const char *path, mode_t mode, uint32_t mtime,
	       const void *data, size_t size)
{
	const struct newc_entry entry = {
		.path = path, .mode = S_IFREG | mode, .mtime = mtime, .size = size};

	newc_entry(archive, &entry);
	newc_data(archive, data, size);
}

int newc_is_linked(struct newc *archive, uint64_t header)
{
	static const char links[] = "00000002";
	const off_t at = (off_t)header + LINKS;

	if (!newc_flush(archive) && pwrite(archive->fd, links, 8, at) != 8)
		archive->error = errno ? errno : EIO;
	return -archive->error;
}

int newc_append(struct newc *archive, int from)
{
	ssize_t n;

	if (newc_flush(archive))
		return -archive->error;
	while ((n = copy_file_range(from, NULL, archive->fd, NULL, 1 << 30, 0)) > 0)
		archive->size += (uint64_t)n;
	if (n < 0 && (errno == EXDEV || errno == EINVAL || errno == EOPNOTSUPP)) {
		while ((n = read(from, archive->buffer, sizeof(archive->buffer))) > 0 &&
		       !archive->error) {
			archive->used = (size_t)n;
			archive->size += (uint64_t)n;
			newc_flush(archive);
		}
	}
	if (n < 0)
		archive->error = errno;
	return -archive->error;
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
