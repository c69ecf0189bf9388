/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files written whole; see output.h. They grow in memory. Then a file with a name of its own beside
 * the old one takes that one's place, and signals wait until that is over.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "say.h"

/* The path of what is in the same folder. */
static char *beside(const char *path, const char *name)
{
	char *folder = textf("%s", path), *slash = strrchr(folder, '/'), *other;

	*(slash ? slash + 1 : folder) = '\0';
	other = textf("%s%s", folder, name);
	free(folder);
	return other;
}

/* Whether the file can be made, or replaced by its user. Sets errno if not. */
static bool can_replace(const char *path)
{
	char *folder = beside(path, ".");
	struct stat st;
	bool can;

	if (stat(path, &st))
		can = errno == ENOENT && *path;
	else if (S_ISDIR(st.st_mode))
		can = (errno = EISDIR, false);
	else
		can = access(path, W_OK) == 0;
	can = can && access(folder, W_OK | X_OK) == 0;
	free(folder);
	return can;
}

static FILE *open_memory(void)
{
	int fd = memfd_create("tally-output", MFD_CLOEXEC);

	return fd < 0 ? NULL : fdopen(fd, "w");
}

void output_begin(struct output *output, const char *path)
{
	struct stat st;

	*output = (struct output){.file = NULL};
	if (strcmp(path, "-") == 0) {
		output->file = stdout;
		output->path = textf("standard output");
		return;
	}
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		output->path = textf("%s", path);
		output->file = fopen(path, "we");
	} else {
		/* What a link leads to is written, and the link stays. */
		output->path = realpath(path, NULL);
		if (!output->path)
			output->path = textf("%s", path);
		output->new_path = beside(output->path, ".tally-XXXXXX");
		output->file = can_replace(output->path) ? open_memory() : NULL;
	}
	if (!output->file)
		die(EXIT_TALLY, "cannot write %s: %s", path, strerror(errno));
}

/* The owner stays if we may give files away, as root may. */
static void set_mode(int fd, const char *old)
{
	mode_t mask = umask(0);
	struct stat st;

	umask(mask);
	if (stat(old, &st)) {
		fchmod(fd, 0666 & ~mask);
		return;
	}
	if (fchown(fd, st.st_uid, st.st_gid))
		errno = 0;
	fchmod(fd, st.st_mode & 0777);
}

static bool copy(int from, int to)
{
	off_t at = 0;
	ssize_t n;

	while ((n = sendfile(to, from, &at, 1 << 30)) > 0)
		;
	return n == 0;
}

static bool replace(struct output *output)
{
	int fd = mkstemp(output->new_path);
	bool good;

	if (fd < 0)
		return false;
	good = copy(fileno(output->file), fd);
	set_mode(fd, output->path);
	good = good && fsync(fd) == 0;
	good = close(fd) == 0 && good;
	good = good && rename(output->new_path, output->path) == 0;
	if (!good) {
		int error = errno;

		unlink(output->new_path);
		errno = error;
	}
	return good;
}

/* The folder's, since the file's own would go with the file. */
int output_lock(const struct output *output)
{
	char *folder = beside(output->path, ".");
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	free(folder);
	if (fd < 0 || flock(fd, LOCK_EX) == 0)
		return fd;
	close(fd);
	return -1;
}

void output_discard(struct output *output)
{
	if (output->file != stdout)
		fclose(output->file);
	free(output->path);
	free(output->new_path);
}

void output_finish(struct output *output)
{
	bool good = !ferror(output->file) && fflush(output->file) == 0;
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	if (output->new_path)
		good = good && replace(output);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!good)
		die(EXIT_TALLY, "cannot write %s: %s", output->path, strerror(errno));
	output_discard(output);
}
