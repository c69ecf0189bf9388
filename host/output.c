/* SPDX-License-Identifier: BSD-2-Clause */
/* Files written whole; see output.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "say.h"

void output_begin(struct output *output, const char *path)
{
	int fd;

	if (strcmp(path, "-") == 0) {
		*output = (struct output){stdout, textf("standard output"), NULL};
		return;
	}
	/* What a link leads to is written, and the link stays. */
	output->path = realpath(path, NULL);
	if (!output->path)
		output->path = textf("%s", path);
	output->new_path = textf("%s.XXXXXX", output->path);
	fd = mkstemp(output->new_path);
	output->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!output->file)
		die(EXIT_TALLY, "cannot write %s: %s", path, strerror(errno));
}

static void set_mode(const struct output *output)
{
	mode_t mask = umask(0);
	struct stat st;

	umask(mask);
	fchmod(fileno(output->file),
	       stat(output->path, &st) == 0 ? st.st_mode & 0777 : 0666 & ~mask);
}

void output_finish(struct output *output)
{
	int fd = fileno(output->file);
	bool good = !ferror(output->file) && fflush(output->file) == 0;

	if (output->new_path) {
		set_mode(output);
		good = good && fsync(fd) == 0;
		good = fclose(output->file) == 0 && good;
		good = good && rename(output->new_path, output->path) == 0;
	}
	if (!good) {
		int error = errno;

		if (output->new_path)
			unlink(output->new_path);
		die(EXIT_TALLY, "cannot write %s: %s", output->path, strerror(error));
	}
	free(output->path);
	free(output->new_path);
}
