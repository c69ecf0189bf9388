/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One command of a budget, under the guest's perf stat. Rules:
 * - What the command finds is the same on a developer's terminal and in a CI job: no terminal,
 *   TERM=dumb, /dev/null or a file as standard input, a folder of one name, and no descriptor of
 *   perf's.
 * - perf's figures come through a channel of their own; output and errors are the command's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "budget.h"
#include "guest.h"
#include "say.h"
#include "words.h"

/* The current folder's name in the guest: of the same length wherever the project is. */
#define FOLDER "/budget"

/* Where guest/perf_status.c is in the guest, and the descriptor it opens. */
#define PRELOADED "/opt/tally/perf-status.so"
#define RESULTS	  "9"

/* The command's standard input. */
#define INPUT "/opt/tally/input"

/*
 * The entry's own general options, which a file may have brought. They become part of a command
 * line, as if they were given there. What is not of the entry (--timeout, --log) is the caller's.
 */
static void read_options(struct options *options, const struct budget_entry *entry,
			 const struct options *general)
{
	char **own = words_split(entry->options ? entry->options : "");
	size_t count = 0;
	char **words;

	while (own[count])
		count++;
	words = calloc(count + 3, sizeof(*words));
	if (!words)
		abort();
	words[0] = textf("tally");
	memcpy(words + 1, own, count * sizeof(*words));
	words[count + 1] = textf("true");
	options_parse(options, (int)count + 2, words);
	options->timeout = general->timeout;
	options->log = general->log;
}

static void put(char **words, size_t *count, const char *word)
{
	words[(*count)++] = textf("%s", word);
}

static char **perf_command(const struct budget_entry *entry)
{
	char **command = words_split(entry->command), **words;
	size_t length = 0, count = 0;

	while (command[length])
		length++;
	words = calloc(length + 16, sizeof(*words));
	if (!words)
		abort();
	put(words, &count, "perf");
	put(words, &count, "stat");
	put(words, &count, "-x");
	put(words, &count, "\\t");
	put(words, &count, "--log-fd");
	put(words, &count, RESULTS);
	put(words, &count, "-e");
	put(words, &count, entry->events ? entry->events : budget_default_events);
	put(words, &count, "--");
	memcpy(words + count, command, length * sizeof(*words));
	free(command);
	return words;
}

/*
 * The input goes along as a file of the guest's. Through a channel it would come in pieces of the
 * host's making, and a program reads as often as there are pieces.
 */
static void add_input(struct options *options, const struct budget_entry *entry)
{
	struct stat st;

	if (!entry->input || strcmp(entry->input, "/dev/null") == 0)
		return;
	if (access(entry->input, R_OK))
		die(EXIT_TALLY, "cannot read the input %s: %s", entry->input, strerror(errno));
	if (stat(entry->input, &st) || !S_ISREG(st.st_mode))
		die(EXIT_TALLY, "the input %s is no regular file", entry->input);
	texts_add(&options->copies, textf("%s:" INPUT, entry->input));
	options->input = INPUT;
}

static char *read_results(int fd, size_t *size)
{
	struct stat st;
	char *text;

	if (fstat(fd, &st))
		die(EXIT_TALLY, "cannot read perf's figures: %s", strerror(errno));
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		abort();
	*size = 0;
	for (ssize_t n;
	     (n = pread(fd, text + *size, (size_t)st.st_size - *size, (off_t)*size)) > 0;)
		*size += (size_t)n;
	return text;
}

int budget_run(const struct budget_entry *entry, const struct options *general,
	       struct budget_figures *figures)
{
	char *build = guest_build(), *copy = textf("%s/guest/perf-status.so:" PRELOADED, build);
	struct options options;
	struct guest_call call = {
		.in = open("/dev/null", O_RDONLY | O_CLOEXEC), .out = 1, .err = 2};
	char *about = textf("[%s]: ", entry->name), *text, *problem;
	size_t size;
	int status;

	say_about = about;
	read_options(&options, entry, general);
	texts_add(&options.copies, copy);
	add_input(&options, entry);
	texts_add(&options.environment, "LD_PRELOAD=" PRELOADED);
	options.terminal = false;
	options.folder = FOLDER;
	options.command = perf_command(entry);
	options.results = memfd_create("tally-results", MFD_CLOEXEC);
	if (options.results < 0)
		die(EXIT_TALLY, "cannot make a file in memory: %s", strerror(errno));
	setenv("TERM", "dumb", 1);
	guest_start(&call, &options);
	say_about = NULL;
	status = guest_wait(&call);
	text = read_results(options.results, &size);
	problem = budget_read_figures(figures, text, size);
	if (problem)
		die(EXIT_TALLY, "%s: %s", entry->name, problem);
	if (figures->signal && status == 0)
		status = 128 + figures->signal;
	close(options.results);
	close(call.in);
	free(text);
	words_free(options.command);
	free(build);
	free(about);
	return status;
}
