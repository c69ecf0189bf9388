/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file format is glibc's own (its installed ldconfig writes it, `ldconfig -p` prints it):
 * a header, fixed-size entries in descending order of library name, and the strings. Debian's
 * packages ship each library under its soname, so names need not be read out of the ELF files.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ldcache.h"

struct header {
	char magic[20];
	uint32_t count;
	uint32_t strings_size;
	uint8_t flags;
	uint8_t unused[3];
	uint32_t extension;
	uint32_t reserved[3];
};

struct entry {
	int32_t flags;
	uint32_t name; /* both strings: offset from the start of the file */
	uint32_t path;
	uint32_t os_version;
	uint64_t hwcap;
};

enum {
	LITTLE_ENDIAN_FILE = 2,
	LIBC6_AARCH64 = 0x0a03 /* a glibc library (3) for AArch64, 64 bits (0x0a00) */
};

static const char magic[] = "glibc-ld.so.cache1.1";

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void ldcache_add(struct ldcache *cache, const char *path)
{
	const char *name = last_part(path);

	if ((strncmp(name, "lib", 3) != 0 && strncmp(name, "ld-", 3) != 0) || !strstr(name, ".so"))
		return;
	if (cache->count == cache->room) {
		cache->room = cache->room ? 2 * cache->room : 256;
		cache->paths = reallocarray(cache->paths, cache->room, sizeof(*cache->paths));
		if (!cache->paths)
			abort();
	}
	cache->paths[cache->count] = strdup(path);
	if (!cache->paths[cache->count++])
		abort();
}

/* The linker's order of names: runs of digits compare as numbers and come after other bytes. */
static int compare_names(const char *a, const char *b)
{
	while (*a) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			unsigned long x = strtoul(a, (char **)&a, 10);
			unsigned long y = strtoul(b, (char **)&b, 10);

			if (x != y)
				return x < y ? -1 : 1;
		} else if (isdigit((unsigned char)*a)) {
			return 1;
		} else if (isdigit((unsigned char)*b)) {
			return -1;
		} else if (*a != *b) {
			return (unsigned char)*a - (unsigned char)*b;
		} else {
			a++;
			b++;
		}
	}
	return *b ? -1 : 0;
}

static int descending(const void *a, const void *b)
{
	return compare_names(last_part(*(char *const *)b), last_part(*(char *const *)a));
}

void *ldcache_build(struct ldcache *cache, size_t *size)
{
	size_t strings = sizeof(struct header) + cache->count * sizeof(struct entry);
	struct header *header;
	struct entry *entry;
	char *file;

	*size = strings;
	for (size_t i = 0; i < cache->count; i++)
		*size += strlen(cache->paths[i]) + 1;
	file = calloc(1, *size);
	if (!file)
		abort();
	qsort(cache->paths, cache->count, sizeof(*cache->paths), descending);
	header = (struct header *)file;
	memcpy(header->magic, magic, sizeof(header->magic));
	header->count = (uint32_t)cache->count;
	header->strings_size = (uint32_t)(*size - strings);
	header->flags = LITTLE_ENDIAN_FILE;
	entry = (struct entry *)(header + 1);
	for (size_t i = 0; i < cache->count; i++, entry++) {
		const char *path = cache->paths[i];

		strcpy(file + strings, path);
		entry->flags = LIBC6_AARCH64;
		entry->path = (uint32_t)strings;
		entry->name = (uint32_t)(strings + (size_t)(last_part(path) - path));
		strings += strlen(path) + 1;
	}
	return file;
}

void ldcache_free(struct ldcache *cache)
{
	for (size_t i = 0; i < cache->count; i++)
		free(cache->paths[i]);
	free(cache->paths);
	memset(cache, 0, sizeof(*cache));
}
