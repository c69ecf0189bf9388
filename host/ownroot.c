/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the user's own root; see ownroot.h. A folder is read in the order of names, so that the
 * same folder always makes the same image.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "hash.h"
#include "ownroot.h"
#include "progress.h"
#include "say.h"
#include "tree.h"

/* The first name of a file that has several, by its numbers on this machine. */
struct name {
	UT_hash_handle hh;
	uint64_t key[2];
	char path[];
};

/* ---- archives ---- */

static ssize_t read_tar(const struct tree_item *item, void *buffer, size_t size)
{
	la_ssize_t n = archive_read_data(item->tar, buffer, size);

	if (n < 0)
		errno = EBADMSG;
	return n < 0 ? -1 : n;
}

static void add_from_tar(struct tree *w, struct archive *tar, struct archive_entry *entry)
{
	struct tree_item item = {
		.path = archive_entry_pathname(entry),
		.link = archive_entry_hardlink(entry),
		.target = archive_entry_symlink(entry),
		.mode = archive_entry_mode(entry),
		.uid = (uint32_t)archive_entry_uid(entry),
		.gid = (uint32_t)archive_entry_gid(entry),
		.mtime = archive_entry_mtime(entry),
		.size = (uint64_t)archive_entry_size(entry),
		.read = read_tar,
		.tar = tar,
	};

	if (item.link)
		item.mode |= S_IFREG;
	if (item.path)
		tree_add(w, &item);
}

static void write_tar(struct tree *w, const struct ownroot *root)
{
	struct archive *tar = archive_read_new();
	struct archive_entry *entry;
	int status;

	if (!tar)
		abort();
	archive_read_support_filter_all(tar);
	archive_read_support_format_tar(tar);
	status = archive_read_open_filename(tar, root->path, 1 << 16);
	while (status == ARCHIVE_OK && !w->wrong &&
	       (status = archive_read_next_header(tar, &entry)) >= ARCHIVE_WARN &&
	       status != ARCHIVE_EOF) {
		status = ARCHIVE_OK;
		add_from_tar(w, tar, entry);
		progress_percent((unsigned int)((uint64_t)archive_filter_bytes(tar, -1) * 100 /
						(root->bytes + 1)));
	}
	if (status != ARCHIVE_EOF)
		tree_fail(w, "it is neither a folder nor a tar archive that can be read (%s)",
			  archive_error_string(tar) ? archive_error_string(tar)
						    : "no reason given");
	archive_read_free(tar);
}

/* ---- folders ---- */

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static FTS *open_folder(const char *path)
{
	char *const paths[] = {(char *)path, NULL};
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, by_name);

	if (!tree)
		die(EXIT_TALLY, "cannot read --root %s: %s", path, strerror(errno));
	return tree;
}

/* The next file of a folder; another folder in it comes once, before what is in it. */
static FTSENT *next_file(FTS *tree)
{
	static const char *const kernels[] = {"dev", "proc", "run", "sys"};
	FTSENT *file;

	while ((file = fts_read(tree))) {
		if (file->fts_level < 1 || file->fts_info == FTS_DP)
			continue;
		for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
			if (file->fts_level == 1 && strcmp(file->fts_name, kernels[i]) == 0)
				fts_set(tree, file, FTS_SKIP);
		}
		return file;
	}
	return NULL;
}

/* The path of a file below the folder. */
static const char *path_below(const struct ownroot *root, const FTSENT *file)
{
	const char *path = file->fts_path + strlen(root->path);

	return path + strspn(path, "/");
}

/* Sizes and times stand for contents, as with make(1); ctime is the one that nobody can set. */
static void look_over(struct ownroot *root)
{
	FTS *tree = open_folder(root->path);
	FTSENT *file;

	while ((file = next_file(tree))) {
		const struct stat *st = file->fts_statp;
		const uint64_t numbers[] = {
			st->st_mode,
			st->st_uid,
			st->st_gid,
			(uint64_t)st->st_size,
			(uint64_t)st->st_mtim.tv_sec,
			(uint64_t)st->st_mtim.tv_nsec,
			(uint64_t)st->st_ctim.tv_sec,
			(uint64_t)st->st_ctim.tv_nsec,
		};

		root->key = hash_text(root->key, path_below(root, file));
		if (file->fts_info == FTS_NS || file->fts_info == FTS_DNR)
			continue;
		root->key = hash_bytes(root->key, numbers, sizeof(numbers));
		if (S_ISREG(st->st_mode))
			root->bytes += (uint64_t)st->st_size;
	}
	fts_close(tree);
}

static ssize_t read_file(const struct tree_item *item, void *buffer, size_t size)
{
	return read(item->fd, buffer, size);
}

/* The name under which a file with several has come before, or NULL if this is the first. */
static const char *other_name(struct name **names, const struct stat *st, const char *path)
{
	const uint64_t key[2] = {st->st_dev, st->st_ino};
	struct name *name;

	HASH_FIND(hh, *names, key, sizeof(key), name);
	if (name)
		return name->path;
	name = calloc(1, sizeof(*name) + strlen(path) + 1);
	if (!name)
		abort();
	memcpy(name->key, key, sizeof(key));
	strcpy(name->path, path);
	HASH_ADD(hh, *names, key, sizeof(key), name);
	return NULL;
}

static void free_names(struct name *names)
{
	struct name *name, *next;

	HASH_ITER(hh, names, name, next) {
		HASH_DEL(names, name);
		free(name);
	}
}

/* Files that the user may not read are left out; this tells of it once. */
static void count_unreadable(const FTSENT *file, size_t *count, char **first)
{
	if ((*count)++ == 0)
		*first = textf("%s", file->fts_path);
}

static void add_from_folder(struct tree *w, const struct ownroot *root, const FTSENT *file, int fd,
			    struct name **names)
{
	char target[PATH_MAX] = "";
	struct stat st = *file->fts_statp;
	struct tree_item item = {
		.path = path_below(root, file), .target = target, .read = read_file, .fd = fd};
	ssize_t n;

	if (fd >= 0 && fstat(fd, &st))
		tree_fail(w, "cannot read %s: %s", file->fts_path, strerror(errno));
	if (S_ISLNK(st.st_mode)) {
		n = readlink(file->fts_accpath, target, sizeof(target) - 1);
		target[n < 0 ? 0 : n] = '\0';
	}
	if (S_ISREG(st.st_mode) && st.st_nlink > 1)
		item.link = other_name(names, &st, item.path);
	item.mode = st.st_mode;
	item.uid = st.st_uid == getuid() ? 0 : st.st_uid;
	item.gid = st.st_gid == getgid() ? 0 : st.st_gid;
	item.mtime = st.st_mtime;
	item.size = (uint64_t)st.st_size;
	tree_add(w, &item);
}

static void write_folder(struct tree *w, const struct ownroot *root)
{
	FTS *tree = open_folder(root->path);
	struct name *names = NULL;
	size_t unreadable = 0;
	char *first = NULL;
	FTSENT *file;

	while (!w->wrong && (file = next_file(tree))) {
		int fd = -1;

		if (file->fts_info == FTS_DNR || file->fts_info == FTS_NS) {
			count_unreadable(file, &unreadable, &first);
			continue;
		}
		if (file->fts_info == FTS_F) {
			fd = open(file->fts_accpath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
			if (fd < 0) {
				count_unreadable(file, &unreadable, &first);
				continue;
			}
		}
		add_from_folder(w, root, file, fd, &names);
		if (fd >= 0)
			close(fd);
		progress_percent((unsigned int)(w->out->size * 100 / (root->bytes + 1)));
	}
	fts_close(tree);
	free_names(names);
	if (unreadable) {
		progress_end();
		say("--root %s: left out what you may not read, %zu in all, such as %s", root->path,
		    unreadable, first);
	}
	free(first);
}

/* ---- both ---- */

void ownroot_find(struct ownroot *root, const char *path)
{
	struct stat st;

	*root = (struct ownroot){.path = path, .kind = OWNROOT_IS_NONE};
	if (strcmp(path, OWNROOT_NONE) == 0) {
		root->key = hash_text(HASH_START, "none 1");
		return;
	}
	root->key = hash_text(HASH_START, "own root 2");
	if (stat(path, &st) || access(path, R_OK | (S_ISDIR(st.st_mode) ? X_OK : 0)))
		die(EXIT_TALLY, "cannot read --root %s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode)) {
		root->kind = OWNROOT_IS_FOLDER;
		look_over(root);
	} else if (S_ISREG(st.st_mode)) {
		const uint64_t numbers[] = {
			st.st_dev,
			st.st_ino,
			(uint64_t)st.st_size,
			(uint64_t)st.st_mtim.tv_sec,
			(uint64_t)st.st_mtim.tv_nsec,
			(uint64_t)st.st_ctim.tv_sec,
			(uint64_t)st.st_ctim.tv_nsec,
		};

		root->kind = OWNROOT_IS_TAR;
		root->bytes = (uint64_t)st.st_size;
		root->key = hash_bytes(root->key, numbers, sizeof(numbers));
	} else {
		die(EXIT_TALLY, "--root %s: it is neither a folder nor a file", path);
	}
}

char *ownroot_write(const struct ownroot *root, struct newc *out, uint64_t limit)
{
	struct tree tree = {.out = out, .limit = limit};

	if (root->kind == OWNROOT_IS_NONE) {
		tree.arm64 = 1; /* PID 1 */
		return tree_finish(&tree);
	}
	progress_begin("making an image of %s", root->path);
	progress_step("reading");
	if (root->kind == OWNROOT_IS_FOLDER)
		write_folder(&tree, root);
	else
		write_tar(&tree, root);
	progress_end();
	return tree_finish(&tree);
}
