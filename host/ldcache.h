/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes /etc/ld.so.cache, the table by which glibc's dynamic linker finds shared libraries
 * without trying one folder after the other. In a running Debian ldconfig makes it; for a
 * root image that no arm64 program has touched yet it is made here.
 */
#ifndef HOST_LDCACHE_H
#define HOST_LDCACHE_H

#include <stddef.h>

struct ldcache {
	char **paths; /* of libraries, absolute */
	size_t count;
	size_t room;
};

/* Notes a library; a path whose last part does not look like one is ignored. */
void ldcache_add(struct ldcache *cache, const char *path);

/*
 * Returns the contents of ld.so.cache for the libraries noted, to be freed by the caller, and
 * its size. The entries are for AArch64, little-endian.
 */
void *ldcache_build(struct ldcache *cache, size_t *size);

/* Frees what the noted paths take up. */
void ldcache_free(struct ldcache *cache);

#endif
