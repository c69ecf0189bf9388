/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings; see recording.h. perf script runs in the guest, where the programs and the kernel are
 * that the recording is of, and its text comes out through a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "guest.h"
#include "ownroot.h"
#include "progress.h"
#include "recording.h"
#include "say.h"
#include "script.h"
#include "words.h"

/* Where a recording is in the guest that is in no folder of the guest's. */
#define COPY "/tmp/perf.data"

/*
 * In the guest: perf record, then perf script into the channel of results. Ctrl-C ends the
 * recording, and what there is of it is drawn.
 *
 * The kernel leaves samples out when they take up more than a quarter of the time, and then the
 * picture is of a part of the program. Here they may have 70 %, so that the program still gets on;
 * who wants more is told. And perf record -q does not say why it cannot run a command; the shell
 * does.
 */
/* clang-format off */
static const char record_script[] =
	"fields=$1; program=$2; shift 2\n"
	"command -v \"$program\" >/dev/null || exec \"$program\"\n"
	"(cd /proc/sys/kernel && echo 10000000 >perf_event_max_sample_rate &&\n"
	"	echo 70 >perf_cpu_time_max_percent) 2>/dev/null\n"
	"trap : INT\n"
	"perf record -q -o " COPY " \"$@\"\n"
	"status=$?\n"
	"if [ -s " COPY " ]; then\n"
	"	[ \"$3\" = -c ] && case $(perf report --stats -i " COPY " 2>/dev/null) in\n"
	"	*'THROTTLE events'*)\n"
	"		echo 'tally: samples were left out, as there were too many: use a larger -c' >&2\n"
	"	esac\n"
	"	perf script --ns -F \"$fields\" -i " COPY " 2>/tmp/errors >/dev/vport0p6 </dev/null || {\n"
	"		cat /tmp/errors >&2\n"
	"		status=125\n"
	"	}\n"
	"fi\n"
	"exit $status\n";
/* clang-format on */

/* The words of an array are the program's for as long as it runs. */
struct line {
	char *at[64];
	size_t count;
};

static void put(struct line *line, const char *word)
{
	if (line->count == sizeof(line->at) / sizeof(line->at[0]) - 1)
		die(EXIT_USAGE, "there are too many options for perf record");
	line->at[line->count++] = textf("%s", word);
	line->at[line->count] = NULL;
}

static void make_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC))
		die(EXIT_TALLY, "cannot make a pipe: %s", strerror(errno));
}

/* perf's command line, "/usr/bin/perf record ... ", without the folder and the last blank. */
static char *tidy(const char *words)
{
	const char *slash = memrchr(words, '/', strcspn(words, " "));
	size_t length;

	if (slash)
		words = slash + 1;
	length = strlen(words);
	while (length && words[length - 1] == ' ')
		length--;
	return textf("%.*s", (int)length, words);
}

/* Takes a line of perf script's. A header says what was recorded. */
static void take_line(struct recording *recording, struct script *script, char *line)
{
	static const char mark[] = "# cmdline : ";

	if (recording->profile.samples || script->in_sample || *line != '#') {
		script_line(script, line);
	} else if (strncmp(line, mark, strlen(mark)) == 0 && !*recording->command) {
		free(recording->command);
		recording->command = tidy(line + strlen(mark));
	}
}

/* Called about once a second. */
static void tell_progress(const char *path)
{
	static bool begun;

	if (begun) {
		progress_tick();
	} else {
		progress_begin("reading %s", path);
		progress_step("perf script");
	}
	begun = true;
}

/*
 * Takes perf script's text to its end. perf needs a second for some thousand calls, so that who waits
 * at a terminal is told what for: `path`, if not NULL.
 */
static void take_text(struct recording *recording, int fd, const char *path)
{
	struct script script;
	FILE *text = fdopen(fd, "r");
	char *line = NULL;
	time_t tick = 0;
	size_t room = 0;
	ssize_t n;

	if (!isatty(STDERR_FILENO))
		path = NULL;
	if (!text)
		abort();
	script_begin(&script, &recording->profile);
	while ((n = getline(&line, &room, text)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		take_line(recording, &script, line);
		if (path && tick && time(NULL) != tick)
			tell_progress(path);
		tick = time(NULL);
	}
	progress_end();
	script_end(&script);
	if (script.strange && say_verbose)
		say("%ju lines of perf script's are unclear", (uintmax_t)script.strange);
	free(line);
	fclose(text);
}

static void pass_on(int fd)
{
	char buffer[4096];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		fwrite(buffer, 1, (size_t)n, stderr);
}

/* Paths of options that are relative to the current folder, before that changes. */
static void make_absolute(struct options *options, const char *cwd)
{
	if (options->root && *options->root != '/' && strcmp(options->root, OWNROOT_NONE) != 0)
		options->root = textf("%s/%s", cwd, options->root);
	for (size_t i = 0; i < options->copies.count; i++) {
		if (options->copies.at[i][0] != '/')
			options->copies.at[i] = textf("%s/%s", cwd, options->copies.at[i]);
	}
}

/* Whether the guest could have a folder as its own current one. */
static bool is_shareable(const char *folder)
{
	int here = open(".", O_PATH | O_CLOEXEC);
	char *shared = chdir(folder) ? NULL : files_shareable();
	bool shareable = shared;

	if (here < 0 || fchdir(here))
		die(EXIT_TALLY, "cannot come back to the current folder: %s", strerror(errno));
	close(here);
	free(shared);
	return shareable;
}

/*
 * The guest's current folder is ours, if the recording is there or below, and else the recording's,
 * since programs are mostly where they were recorded. Returns the recording's name for the guest.
 */
static const char *place(struct guest_call *call, struct options *options, const char *path)
{
	char *cwd = realpath(".", NULL), *real = realpath(path, NULL), *folder;
	size_t length = cwd ? strlen(cwd) : 0;

	if (!real)
		die(EXIT_TALLY, "cannot read %s: %s", path, strerror(errno));
	folder = textf("%.*s", (int)(strrchr(real, '/') - real), real);
	if (cwd && options->share && strncmp(real, cwd, length) == 0 && real[length] == '/' &&
	    is_shareable(cwd))
		return real;
	if (options->share && is_shareable(folder)) {
		make_absolute(options, cwd ? cwd : "/");
		call->folder = folder;
		return real;
	}
	texts_add(&options->copies, textf("%s:" COPY, real));
	return COPY;
}

static void begin(struct recording *recording)
{
	*recording = (struct recording){.command = textf("%s", "")};
	profile_init(&recording->profile);
}

/* What comes from standard input goes along as a file: perf script reads that, piped or not. */
static void take_input(struct options *options)
{
	int fd = memfd_create("tally-recording", MFD_CLOEXEC);
	char buffer[1 << 16];
	ssize_t n = -1;

	while (fd >= 0 && (n = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0) {
		if (write(fd, buffer, (size_t)n) != n) {
			n = -1;
			break;
		}
	}
	if (n < 0)
		die(EXIT_TALLY, "cannot read standard input: %s", strerror(errno));
	texts_add(&options->copies, textf("/proc/self/fd/%d:" COPY, fd));
}

static const char *place_input(struct guest_call *call, struct options *options, const char *path)
{
	if (strcmp(path, "-") != 0)
		return place(call, options, path);
	take_input(options);
	return COPY;
}

void recording_read(struct recording *recording, const struct options *general, const char *path)
{
	const char *const perf[] = {"perf", "script",	   "--header", "--ns",
				    "-F",   script_fields, "-i"};
	struct options options = *general;
	struct guest_call call = {.in = open("/dev/null", O_RDONLY | O_CLOEXEC)};
	struct line line = {.count = 0};
	int ends[2], status;

	begin(recording);
	make_pipe(ends);
	call.out = ends[1];
	call.err = memfd_create("tally-errors", MFD_CLOEXEC);
	for (size_t i = 0; i < sizeof(perf) / sizeof(perf[0]); i++)
		put(&line, perf[i]);
	put(&line, place_input(&call, &options, path));
	options.command = line.at;
	options.terminal = false;
	guest_start(&call, &options);
	close(ends[1]);
	take_text(recording, ends[0], path);
	status = guest_wait(&call);
	if (status || !recording->profile.samples || say_verbose)
		pass_on(call.err);
	if (status)
		die(EXIT_TALLY, "perf script cannot read %s; its words are above", path);
	if (!recording->profile.samples)
		die(EXIT_TALLY, "there are no samples in %s", path);
	close(call.err);
	close(call.in);
}

void recording_make(struct recording *recording, const struct options *general, char *const *record,
		    char *const *command)
{
	struct options options = *general;
	struct guest_call call = {.in = 0, .out = 1, .err = 2, .interruptible = true};
	struct line line = {.count = 0};
	size_t count = 0;
	int ends[2];

	begin(recording);
	free(recording->command);
	recording->command = words_join(command);
	make_pipe(ends);
	put(&line, "sh");
	put(&line, "-c");
	put(&line, record_script);
	put(&line, "sh");
	put(&line, script_fields);
	put(&line, *command);
	for (; *record; record++)
		put(&line, *record);
	put(&line, "--");
	while (command[count])
		count++;
	options.command = calloc(line.count + count + 1, sizeof(char *));
	if (!options.command)
		abort();
	memcpy(options.command, line.at, line.count * sizeof(char *));
	memcpy(options.command + line.count, command, count * sizeof(char *));
	options.results = ends[1];
	guest_start(&call, &options);
	close(ends[1]);
	take_text(recording, ends[0], NULL);
	recording->status = guest_wait(&call);
	free(options.command);
	if (!recording->profile.samples)
		die(recording->status ? recording->status : EXIT_TALLY,
		    "no samples were taken: the command has ended with status %d",
		    recording->status);
}

void recording_free(struct recording *recording)
{
	profile_free(&recording->profile);
	free(recording->command);
}
