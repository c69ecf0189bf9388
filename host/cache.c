/* SPDX-License-Identifier: BSD-2-Clause */
/* The cache folder; see cache.h. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "say.h"

enum { DAY = 24 * 3600 /* seconds */ };

/*
 * What is kept of each kind of file: not what has not been used for longer than `age`, nor more
 * than the `count` used last. An initrd is put together without fetching anything, and each change
 * of PID 1 or of the user's root makes one.
 */
static const struct {
	const char *kind;
	time_t age;
	size_t count;
} kept[] = {
	{"initrd", 7 * DAY, 6},
	{"root", 30 * DAY, 10},
	{"linux", 30 * DAY, 4},
};

char *cache_path(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (base && *base == '/')
		return textf("%s/tally", base);
	return home && *home == '/' ? textf("%s/.cache/tally", home) : NULL;
}

char *cache_folder(void)
{
	char *folder = cache_path();

	if (!folder)
		die(EXIT_TALLY, "neither XDG_CACHE_HOME nor HOME says where the cache is");
	for (char *slash = strchr(folder + 1, '/');; slash = strchr(slash + 1, '/')) {
		if (slash)
			*slash = '\0';
		if (mkdir(folder, 0777) && errno != EEXIST)
			die(EXIT_TALLY, "cannot make the folder %s: %s", folder, strerror(errno));
		if (!slash)
			return folder;
		*slash = '/';
	}
}

struct file {
	char *path;
	time_t used;
};

static int later_first(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	return x->used == y->used ? strcmp(x->path, y->path) : x->used < y->used ? 1 : -1;
}

static void remove_old(const char *folder, size_t rule)
{
	char *pattern = textf("%s/%s-????????????????.*", folder, kept[rule].kind);
	struct file *files = NULL;
	glob_t found;
	struct stat st;

	if (glob(pattern, 0, NULL, &found) == 0) {
		files = calloc(found.gl_pathc, sizeof(*files));
		if (!files)
			abort();
		for (size_t i = 0; i < found.gl_pathc; i++) {
			files[i].path = found.gl_pathv[i];
			files[i].used = stat(files[i].path, &st) ? 0 : st.st_mtime;
		}
		qsort(files, found.gl_pathc, sizeof(*files), later_first);
		for (size_t i = 0; i < found.gl_pathc; i++) {
			if (i >= kept[rule].count || time(NULL) - files[i].used > kept[rule].age)
				unlink(files[i].path);
		}
		free(files);
		globfree(&found);
	}
	free(pattern);
}

static void remove_unfinished(const char *folder)
{
	char *pattern = textf("%s/*.new", folder);
	glob_t found;

	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	free(pattern);
}

int cache_lock(const char *folder)
{
	char *path = textf("%s/lock", folder);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0)
		die(EXIT_TALLY, "cannot write to the cache folder %s: %s", folder, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		say("waiting for another tally, which is making the images");
		while (flock(fd, LOCK_EX) && errno == EINTR)
			;
	}
	remove_unfinished(folder);
	for (size_t rule = 0; rule < sizeof(kept) / sizeof(kept[0]); rule++)
		remove_old(folder, rule);
	free(path);
	return fd;
}

static char *new_name(const char *path)
{
	return textf("%s.new", path);
}

int cache_create(const char *path)
{
	char *name = new_name(path);
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		die(EXIT_TALLY, "cannot write %s: %s", name, strerror(errno));
	free(name);
	return fd;
}

void cache_finish(int fd, const char *path)
{
	char *name = new_name(path);

	if (fsync(fd) || close(fd) || rename(name, path)) {
		int error = errno;

		unlink(name);
		die(EXIT_TALLY, "cannot write %s: %s", path, strerror(error));
	}
	free(name);
}

void cache_discard(int fd, const char *path)
{
	char *name = new_name(path);

	close(fd);
	unlink(name);
	free(name);
}

int cache_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		utimensat(AT_FDCWD, path, NULL, 0);
	return fd;
}
