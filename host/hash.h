/* SPDX-License-Identifier: BSD-2-Clause */
/* FNV-1a, 64 bits: names files by what went into them; nobody is kept out by it. */
#ifndef HOST_HASH_H
#define HOST_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START 0xcbf29ce484222325

static inline uint64_t hash_bytes(uint64_t h, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++)
		h = (h ^ bytes[i]) * 0x100000001b3;
	return h;
}

static inline uint64_t hash_text(uint64_t h, const char *text)
{
	return hash_bytes(h, text, strlen(text) + 1);
}

#endif
