/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that go along into the guest; see files.h. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "newc.h"
#include "ownroot.h"
#include "say.h"

/* QEMU holds what goes along in its own memory; more than this is a mistake. */
static const uint64_t max_size = 1 << 30;

static struct newc archive;

static bool below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]);
}

/* The guest has no root but what goes along. */
static bool no_root;

/* Whether a path is the guest's own: what is there on this machine has no meaning in the guest. */
static bool is_system(const char *path)
{
	static const char *const folders[] = {"/bin", "/boot", "/dev", "/etc", "/lib", "/proc",
					      "/run", "/sbin", "/sys", "/usr", "/var"};

	if (no_root)
		return below(path, "/dev") || below(path, "/proc") || below(path, "/sys");
	if (below(path, "/usr/local") || below(path, "/usr/src") || below(path, "/var/tmp"))
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (below(path, folders[i]))
			return true;
	}
	return false;
}

enum kind { KIND_ARM64, KIND_OTHER_ELF, KIND_OTHER };

/* What a file is, by the first bytes of it (ELF: elf(5)). */
static enum kind kind_of(const char *path)
{
	Elf64_Ehdr header;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, &header, sizeof(header));

	if (fd >= 0)
		close(fd);
	if (n < (ssize_t)sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return KIND_OTHER;
	if (header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
	    header.e_machine == EM_AARCH64)
		return KIND_ARM64;
	return KIND_OTHER_ELF;
}

/*
 * Linux makes no folders of its own when it unpacks a file. Those that the root image has are left
 * out: they would get the mode given here.
 */
static void make_parents(const char *to)
{
	static const char *const given[] = {"/tmp", "/root",  "/home", "/mnt",
					    "/opt", "/media", "/srv"};
	char *path = textf("%s", to);

	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		bool there = false;

		*slash = '\0';
		for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
			there = there || strcmp(path, given[i]) == 0;
		if (!there && !is_system(path))
			newc_directory(&archive, path + 1, 0755, NEWC_TIME);
		*slash = '/';
	}
	free(path);
}

static void start_archive(void)
{
	int fd = memfd_create("tally-files", MFD_CLOEXEC);

	if (fd < 0)
		die(EXIT_TALLY, "cannot make a file in memory: %s", strerror(errno));
	newc_open(&archive, fd);
}

static void copy_contents(int fd, const char *path, const struct newc_entry *entry)
{
	char buffer[1 << 16];
	uint64_t left = entry->size;

	newc_entry(&archive, entry);
	while (left > 0) {
		size_t want = left < sizeof(buffer) ? (size_t)left : sizeof(buffer);
		ssize_t n = read(fd, buffer, want);

		if (n <= 0)
			die(EXIT_TALLY, "cannot read %s: %s", path,
			    n ? strerror(errno) : "it became shorter");
		newc_data(&archive, buffer, (size_t)n);
		left -= (uint64_t)n;
	}
}

/*
 * The folders above an entry, which Linux does not make by itself. One that is there already
 * gets the mode that it has anyway (host/rootfs.c).
 */
static void add_parents(const char *to)
{
	for (const char *slash = strchr(to + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		char *parent = strndup(to + 1, (size_t)(slash - to - 1));
		mode_t mode = 0755;

		if (!parent)
			abort();
		if (strcmp(parent, "tmp") == 0 || strcmp(parent, "var/tmp") == 0)
			mode = 01777;
		else if (strcmp(parent, "root") == 0)
			mode = 0700;
		newc_directory(&archive, parent, mode, NEWC_TIME);
		free(parent);
	}
}

static void copy_regular(const char *path, const char *to)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct newc_entry entry = {.path = to + 1};
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die(EXIT_TALLY, "cannot read %s: %s", path, strerror(errno));
	entry.mode = st.st_mode & (S_IFMT | 0777);
	entry.mtime = (uint32_t)st.st_mtime;
	entry.size = (uint64_t)st.st_size;
	if (archive.size + entry.size > max_size)
		die(EXIT_TALLY, "%s is too much to copy into the guest (1 GiB in all)", path);
	add_parents(to);
	make_parents(to);
	copy_contents(fd, path, &entry);
	close(fd);
}

static void copy_link(const char *path, const char *to, const struct stat *st)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n < 0)
		die(EXIT_TALLY, "cannot read %s: %s", path, strerror(errno));
	target[n] = '\0';
	add_parents(to);
	newc_symlink(&archive, to + 1, target, (uint32_t)st->st_mtime);
}

static void copy_folder(const char *to, const struct stat *st)
{
	if (!to[1])
		return;
	add_parents(to);
	newc_directory(&archive, to + 1, st->st_mode & 07777, (uint32_t)st->st_mtime);
}

/* Copies a file or a whole folder. `to` is an absolute path of the guest. */
static void copy_tree(const char *path, const char *to)
{
	char *roots[] = {(char *)path, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while (tree && (entry = fts_read(tree))) {
		char *target = textf("%s%s", to, entry->fts_path + strlen(path));

		if (entry->fts_info == FTS_F)
			copy_regular(entry->fts_accpath, target);
		else if (entry->fts_info == FTS_D)
			copy_folder(target, entry->fts_statp);
		else if (entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE)
			copy_link(entry->fts_accpath, target, entry->fts_statp);
		else if (entry->fts_info == FTS_ERR || entry->fts_info == FTS_DNR ||
			 entry->fts_info == FTS_NS)
			die(EXIT_TALLY, "cannot read %s: %s", entry->fts_path,
			    strerror(entry->fts_errno));
		free(target);
	}
	if (tree)
		fts_close(tree);
}

/* The absolute path of a word that is relative to a folder, with "." and ".." resolved by name. */
static char *resolve(const char *folder, const char *word)
{
	char *path = *word == '/' ? strdup(word) : textf("%s/%s", folder, word);
	char *out = path, *part = path;

	if (!path)
		abort();
	while (*part) {
		char *end;
		size_t length;

		part += strspn(part, "/");
		end = part + strcspn(part, "/");
		length = (size_t)(end - part);
		if (length == 2 && memcmp(part, "..", 2) == 0) {
			while (out > path && *--out != '/')
				;
		} else if (length && !(length == 1 && *part == '.')) {
			*out++ = '/';
			memmove(out, part, length);
			out += length;
		}
		part = end;
	}
	if (out == path)
		*out++ = '/';
	*out = '\0';
	return path;
}

/*
 * The absolute path of a word of the command line. In a current folder that has been removed, names
 * lead to where nothing is shared or copied.
 */
static char *absolute(const char *word)
{
	char *cwd = getcwd(NULL, 0), *path = resolve(cwd ? cwd : "/proc/self/cwd", word);

	free(cwd);
	return path;
}

/* The folder that is shared, if any: what is below it need not be copied, and cannot be. */
static const char *shared_folder;

/* The guest's current folder, if it is another than here. */
static const char *guest_folder;

/* Where the guest looks for a word of the command line. */
static char *guest_path(const char *word)
{
	return guest_folder ? resolve(guest_folder, word) : absolute(word);
}

char *files_shareable(void)
{
	char *cwd = absolute(".");

	if (strcmp(cwd, "/") != 0 && !is_system(cwd) && access(cwd, R_OK | X_OK) == 0)
		return cwd;
	free(cwd);
	return NULL;
}

/* Whether a path of the guest's is in the shared folder. */
static bool is_in_share(const char *to)
{
	return shared_folder && below(to, guest_folder ? guest_folder : shared_folder);
}

/* Whether a file of ours is in the guest at `to` by being shared. */
static bool is_shared(const char *path, const char *to)
{
	char *place;
	bool same;

	if (!shared_folder || !below(path, shared_folder))
		return false;
	place = textf("%s%s", guest_folder ? guest_folder : shared_folder,
		      path + strlen(shared_folder));
	same = strcmp(place, to) == 0;
	free(place);
	return same;
}

/* --copy PATH[:TO]. A colon in an existing file's name is part of the name. */
static void copy_option(const char *text)
{
	const char *colon = access(text, F_OK) ? strrchr(text, ':') : NULL;
	char *from = colon ? strndup(text, (size_t)(colon - text)) : strdup(text);
	char *path, *to;

	if (!from)
		abort();
	path = absolute(from);
	to = guest_path(colon ? colon + 1 : from);
	if (access(path, R_OK))
		die(EXIT_TALLY, "cannot read %s: %s", from, strerror(errno));
	if (is_in_share(to) && !is_shared(path, to))
		die(EXIT_USAGE, "--copy %s: %s is in the shared folder (see --no-share)", text, to);
	if (!is_in_share(to))
		copy_tree(path, to);
	free(path);
	free(from);
	free(to);
}

static void copy_command(const char *word)
{
	char *path = absolute(word), *to = guest_path(word);
	struct stat st;

	if (strchr(word, '/') && !is_system(path) && stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			die(EXIT_NOT_EXEC, "%s: is a directory", word);
		if (!S_ISREG(st.st_mode) || access(path, X_OK))
			die(EXIT_NOT_EXEC, "%s: permission denied", word);
		if (kind_of(path) == KIND_OTHER_ELF)
			die(EXIT_NOT_EXEC, "%s: is not a program for arm64", word);
		if (!is_shared(path, to))
			copy_regular(path, to);
	}
	free(to);
	free(path);
}

/* perf would run such a file with sh, which then complains about its first line. */
static void warn_of_other_elf(const char *word, const char *path)
{
	struct stat st;

	if (!is_system(path) && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    access(path, X_OK) == 0 && kind_of(path) == KIND_OTHER_ELF)
		say("%s: is not a program for arm64", word);
}

static void copy_argument(const char *word, bool of_perf)
{
	char *path, *to, *cwd;
	struct stat st;

	if (*word != '/' && strncmp(word, "./", 2) != 0 && strncmp(word, "../", 3) != 0)
		return;
	path = absolute(word);
	if (of_perf)
		warn_of_other_elf(word, path);
	cwd = absolute(".");
	to = guest_path(word);
	if (!is_system(path) && !is_shared(path, to) && stat(path, &st) == 0 &&
	    S_ISREG(st.st_mode) && access(path, R_OK) == 0 &&
	    (below(path, cwd) || kind_of(path) == KIND_ARM64))
		copy_regular(path, to);
	free(to);
	free(cwd);
	free(path);
}

int files_collect(const struct options *options, const char *shared)
{
	shared_folder = shared;
	guest_folder = options->folder;
	no_root = options->root && strcmp(options->root, OWNROOT_NONE) == 0;
	start_archive();
	copy_command(options->command[0]);
	for (char **word = options->command + 1; *word; word++)
		copy_argument(*word, strcmp(options->command[0], "perf") == 0);
	for (size_t i = 0; i < options->copies.count; i++)
		copy_option(options->copies.at[i]);
	if (archive.size == 0) {
		close(archive.fd);
		return -1;
	}
	if (newc_close(&archive))
		die(EXIT_TALLY, "cannot gather the files to copy: %s", strerror(archive.error));
	return archive.fd;
}
