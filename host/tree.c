/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of a root come one after the other as items and are put into the image in that order.
 *
 * Tally's kernel wants an entry's folder before the entry, and its path free of links. So it is
 * noted of each path what is there, and the paths of later items are resolved by that, as tar(1)
 * would do it by unpacking.
 */
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <uthash.h>

#include "rootfs.h"
#include "tree.h"

enum { MAX_PATH = 2048, MAX_NAME = 255, MAX_LINKS = 40 };

/* What is at a path of the image. */
struct tree_place {
	UT_hash_handle hh;
	mode_t type;		 /* S_IF... */
	uint64_t header;	 /* of a regular file: where it is in the archive, */
	struct newc_entry entry; /* and what it is; `path` is not kept */
	char *target;		 /* of a symbolic link */
	char path[];
};

static struct tree_place *find(const struct tree *w, const char *path)
{
	struct tree_place *place;

	HASH_FIND(hh, w->places, path, strlen(path), place);
	return place;
}

static struct tree_place *note(struct tree *w, const char *path, mode_t mode)
{
	struct tree_place *place = find(w, path);
	size_t length = strlen(path);

	if (!place) {
		place = calloc(1, sizeof(*place) + length + 1);
		if (!place)
			abort();
		memcpy(place->path, path, length + 1);
		HASH_ADD_KEYPTR(hh, w->places, place->path, length, place);
	}
	free(place->target);
	place->target = NULL;
	place->type = mode & S_IFMT;
	return place;
}

void tree_fail(struct tree *w, const char *fmt, ...)
{
	va_list args;

	if (w->wrong)
		return;
	va_start(args, fmt);
	if (vasprintf(&w->wrong, fmt, args) < 0)
		abort();
	va_end(args);
}

/* A folder that nothing has described yet. */
static void add_folder(struct tree *w, const char *path)
{
	newc_directory(w->out, path, 0755, NEWC_TIME);
	note(w, path, S_IFDIR);
}

/*
 * Where the path leads: without ".", "..", and links in any part but the last. What is missing of
 * the folders on the way is made. False if that is not possible.
 */
static bool resolve(struct tree *w, const char *from, char to[MAX_PATH])
{
	char rest[MAX_PATH], more[MAX_PATH];
	unsigned int links = 0;
	size_t used = 0;
	char *part = rest;

	if (snprintf(rest, sizeof(rest), "%s", from) >= MAX_PATH)
		return false;
	to[0] = '\0';
	for (;;) {
		size_t length, before = used;
		struct tree_place *place;
		bool last;

		part += strspn(part, "/");
		length = strcspn(part, "/");
		last = !part[length + strspn(part + length, "/")];
		if (length == 0)
			return true;
		if (length == 2 && memcmp(part, "..", 2) == 0) {
			char *slash = strrchr(to, '/');

			used = slash ? (size_t)(slash - to) : 0;
			to[used] = '\0';
		} else if (length != 1 || *part != '.') {
			if (length > MAX_NAME || used + length + 2 > MAX_PATH)
				return false;
			used += (size_t)sprintf(to + used, "%s%.*s", used ? "/" : "", (int)length,
						part);
		}
		if (last)
			return true;
		part += length;
		place = used ? find(w, to) : NULL;
		if (used && !place)
			add_folder(w, to);
		if (!place || S_ISDIR(place->type))
			continue;
		if (!S_ISLNK(place->type) || ++links > MAX_LINKS ||
		    snprintf(more, sizeof(more), "%s/%s", place->target, part) >= MAX_PATH)
			return false;
		used = *place->target == '/' ? 0 : before;
		to[used] = '\0';
		strcpy(rest, more);
		part = rest;
	}
}

/* What the guest's kernel, or PID 1, has there itself; and that it needs a folder for. */
static bool is_left_out(const char *path, mode_t mode)
{
	static const char *const folders[] = {"dev/", "proc/", "run/", "sys/"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		size_t length = strlen(folders[i]);

		if (strncmp(path, folders[i], length) == 0)
			return true;
		if (!S_ISDIR(mode) && strlen(path) == length - 1 &&
		    strncmp(path, folders[i], length - 1) == 0)
			return true;
	}
	return !*path || strcmp(path, "init") == 0;
}

static void look_at_elf(struct tree *w, const char *data, size_t size)
{
	Elf64_Ehdr header;

	if (size < sizeof(header) || memcmp(data, ELFMAG, SELFMAG) != 0)
		return;
	memcpy(&header, data, sizeof(header));
	if (header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_AARCH64)
		w->arm64++;
	else if (w->other++ == 0)
		w->machine = header.e_machine;
}

static void add_contents(struct tree *w, const struct tree_item *item, const char *path)
{
	char buffer[1 << 16];
	uint64_t left = item->size;
	ssize_t n;

	for (; left > 0; left -= (uint64_t)n) {
		n = item->read(item, buffer, left < sizeof(buffer) ? (size_t)left : sizeof(buffer));
		if (n <= 0) {
			tree_fail(w, "cannot read /%s: %s", path,
				  n ? strerror(errno) : "it became shorter");
			return;
		}
		if (left == item->size)
			look_at_elf(w, buffer, (size_t)n);
		newc_data(w->out, buffer, (size_t)n);
	}
}

static void add_link(struct tree *w, const struct newc_entry *entry, const char *link)
{
	char path[MAX_PATH];
	struct newc_entry name;
	struct tree_place *place = resolve(w, link, path) ? find(w, path) : NULL;

	if (!place) {
		tree_fail(w, "/%s is a link to /%s, which is not there", entry->path, link);
	} else if (S_ISLNK(place->type)) {
		newc_symlink(w->out, entry->path, place->target, entry->mtime);
		note(w, entry->path, S_IFLNK)->target = strdup(place->target);
	} else if (S_ISREG(place->type)) {
		uint64_t header = place->header;

		name = place->entry; /* a link in an archive may have another mode, of no meaning */
		name.path = entry->path;
		name.size = 0;
		newc_entry(w->out, &name);
		newc_is_linked(w->out, header);
		place = note(w, entry->path, S_IFREG);
		place->entry = name;
		place->header = header;
	}
}

/* What the machine numbers of ELF files (elf.h) are called. */
static const char *machine_name(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86-64";
	case EM_386:
		return "32-bit x86";
	case EM_ARM:
		return "32-bit Arm";
	case EM_RISCV:
		return "RISC-V";
	case EM_PPC64:
		return "POWER";
	case EM_S390:
		return "IBM Z";
	}
	return "another machine";
}

static bool is_for_other_machine(struct tree *w)
{
	if (w->other <= w->arm64)
		return false;
	tree_fail(w, "its programs are for %s, not for arm64", machine_name(w->machine));
	return true;
}

void tree_add(struct tree *w, const struct tree_item *item)
{
	char path[MAX_PATH];
	struct newc_entry entry = {
		.path = path, .mode = item->mode, .uid = item->uid, .gid = item->gid};
	struct tree_place *old, *place;

	entry.mtime =
		item->mtime < 0 || item->mtime > NEWC_TIME ? NEWC_TIME : (uint32_t)item->mtime;
	if (!resolve(w, item->path, path)) {
		tree_fail(w, "/%s cannot be put in place: too long a path, or no folder",
			  item->path);
		return;
	}
	if (is_left_out(path, item->mode))
		return;
	if (w->out->size + item->size > w->limit) {
		if (!is_for_other_machine(w))
			tree_fail(w, "it is larger than the guest's memory; see --mem");
		return;
	}
	old = find(w, path);
	if (old && S_ISDIR(old->type) && !S_ISDIR(item->mode))
		return;
	if (strcmp(path, "manifest.json") == 0 || strcmp(path, "oci-layout") == 0)
		w->layers = true;
	if (item->link) {
		add_link(w, &entry, item->link);
	} else if (S_ISLNK(item->mode)) {
		if (!item->target || !*item->target)
			return;
		newc_symlink(w->out, path, item->target, entry.mtime);
		note(w, path, S_IFLNK)->target = strdup(item->target);
	} else if (S_ISDIR(item->mode) || S_ISFIFO(item->mode)) {
		newc_entry(w->out, &entry);
		note(w, path, item->mode);
	} else if (S_ISREG(item->mode)) {
		if (item->size > UINT32_MAX) {
			tree_fail(w, "/%s is too large: a file of the root may have 4 GB", path);
			return;
		}
		entry.size = item->size;
		newc_entry(w->out, &entry);
		place = note(w, path, S_IFREG);
		place->entry = entry;
		place->entry.inode = w->out->inode;
		place->header = w->out->entry;
		add_contents(w, item, path);
	}
}

/* What PID 1 and most programs take for granted. */
static void add_missing(struct tree *w)
{
	static const struct {
		const char *path;
		mode_t mode;
	} folders[] = {{"dev", 0755}, {"proc", 0555}, {"root", 0700},
		       {"run", 0755}, {"sys", 0555},  {"tmp", 01777}};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (!find(w, folders[i].path))
			newc_directory(w->out, folders[i].path, folders[i].mode, NEWC_TIME);
	}
}

static void free_places(struct tree *w)
{
	struct tree_place *place, *next;

	HASH_ITER(hh, w->places, place, next) {
		HASH_DEL(w->places, place);
		free(place->target);
		free(place);
	}
}

char *tree_finish(struct tree *w)
{
	add_missing(w);
	if (newc_flush(w->out))
		tree_fail(w, "the image cannot be written: %s", strerror(w->out->error));
	if (w->layers && !w->arm64)
		tree_fail(w,
			  "it is an image in layers, as `docker save` writes it; `docker export` "
			  "of a container gives a root");
	if (!is_for_other_machine(w) && !w->arm64)
		tree_fail(w, "there is no program for arm64 in it");
	free_places(w);
	return w->wrong;
}
