/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts the files of a root file system into an image, wherever they come from; see ownroot.h for
 * what becomes of them.
 */
#ifndef HOST_TREE_H
#define HOST_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "newc.h"

struct archive;
struct tree_place;

struct tree {
	struct newc *out; /* in a regular file */
	struct tree_place *places;
	uint64_t limit;		   /* bytes that the image may have */
	unsigned int arm64, other; /* programs and libraries so far, for this machine and others */
	uint16_t machine;	   /* e_machine of the first of the others */
	bool layers;		   /* it looks like an image in layers */
	char *wrong;		   /* what the user is told, once something is */
};

struct tree_item {
	const char *path;   /* below the root */
	const char *link;   /* the other name, if it is a hard link */
	const char *target; /* where to, if it is a symbolic one */
	mode_t mode;
	uint32_t uid, gid;
	time_t mtime;
	uint64_t size;

	/* Gives the next bytes of the contents as read(2) does. */
	ssize_t (*read)(const struct tree_item *item, void *buffer, size_t size);
	struct archive *tar; /* for it: one of the two */
	int fd;
};

/* Adds one file, after its other name if it is a link. */
void tree_add(struct tree *tree, const struct tree_item *item);

/* Notes what is wrong with the root, unless something is already. */
void tree_fail(struct tree *tree, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Adds the folders that every root has, and flushes. Returns NULL if it is a root for arm64, or
 * else what is wrong with it, to be freed by the caller.
 */
char *tree_finish(struct tree *tree);

#endif
