/* SPDX-License-Identifier: BSD-2-Clause */
/* `tally budget`: the command line, and the comparison; see budget.h. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "budget.h"
#include "output.h"
#include "say.h"
#include "words.h"

static const char help[] =
	"Usage: tally [OPTIONS] budget [--update] FILE [NAME...]\n"
	"       tally [OPTIONS] budget [--update] [ENTRY'S OPTIONS] FILE -- CMD [ARGS...]\n"
	"Counts exactly what commands execute, and fails when that is not what FILE says. FILE is a\n"
	"small text file to be checked in, with a section for each command.\n"
	"\n"
	"  tally budget --update budget.txt -- ./prog input.txt   # record\n"
	"  tally budget budget.txt                                # compare all; in a CI job\n"
	"  tally budget --update budget.txt                       # accept what all count now\n"
	"\n"
	"  -u, --update          write the counts into FILE instead of comparing them\n"
	"With a command, which is a section's:\n"
	"  -n, --name NAME       the section; without it, the name of the program\n"
	"  -e, --event EVENTS    what to count, for perf stat -e (instructions:u)\n"
	"  -t, --tolerance P%    how much a count may change, up or down (0%)\n"
	"  -i, --input FILE      the command's standard input (/dev/null)\n"
	"and those of tally's general OPTIONS that can change what the command does.\n"
	"\n"
	"The commands run in the current folder, without a terminal. The exit status is 0 if all counts\n"
	"are within their tolerances, 100 if one is not, and that of the first command that failed.\n"
	"docs/ci.md says what can move a count, and has examples for CI services.\n";

enum { LARGEST = 1 << 20 }; /* of a file, in bytes */

struct request {
	bool update;
	const char *path, *name, *events, *tolerance, *input;
	char **names;	/* of sections, ended by NULL */
	char **command; /* or NULL */
};

static const struct option table[] = {
	{"update", no_argument, NULL, 'u'},
	{"name", required_argument, NULL, 'n'},
	{"event", required_argument, NULL, 'e'},
	{"tolerance", required_argument, NULL, 't'},
	{"input", required_argument, NULL, 'i'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void apply(struct request *request, int option, const char *word)
{
	double percent;

	switch (option) {
	case 'u':
		request->update = true;
		break;
	case 'n':
		request->name = optarg;
		if (!budget_name_is_good(optarg))
			die(EXIT_USAGE, "'%s' cannot be a section's name", optarg);
		break;
	case 'e':
		request->events = optarg;
		break;
	case 't':
		request->tolerance = optarg;
		if (!budget_tolerance(optarg, &percent))
			die(EXIT_USAGE, "--tolerance takes a percentage such as 0.5%%, not '%s'",
			    optarg);
		break;
	case 'i':
		request->input = optarg;
		break;
	case 'h':
		fputs(help, stdout);
		exit(fflush(stdout) ? EXIT_TALLY : 0);
	case ':':
		die(EXIT_USAGE, "%s needs a value; see tally budget --help", word);
	default:
		die(EXIT_USAGE, "budget has no option %s; see tally budget --help", word);
	}
}

static void parse(struct request *request, char **argv)
{
	int argc, option;

	*request = (struct request){.command = words_cut(argv, &argc)};
	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":un:e:t:i:h", table, NULL)) != -1)
		apply(request, option, argv[optind - 1]);
	if (optind == argc)
		die(EXIT_USAGE, "budget needs the name of its file; see tally budget --help");
	request->path = argv[optind];
	request->names = argv + optind + 1;
	if (request->command && !request->command[0])
		die(EXIT_USAGE, "there is no command after --");
	if (request->command && request->names[0])
		die(EXIT_USAGE, "'%s' is one word too many; a section is named with --name",
		    request->names[0]);
	if (!request->command &&
	    (request->name || request->events || request->tolerance || request->input))
		die(EXIT_USAGE, "--name, --event, --tolerance and --input go with a command, which "
				"follows --; in FILE they can be edited");
}

/* What is in a file, which may be a pipe. Larger than LARGEST is none of ours. */
static char *read_text(FILE *file, const char *path, size_t *size)
{
	char *text = malloc(LARGEST + 1);

	if (!text)
		abort();
	*size = fread(text, 1, LARGEST + 1, file);
	if (ferror(file))
		die(EXIT_USAGE, "cannot read %s: %s", path, strerror(errno));
	if (*size > LARGEST)
		die(EXIT_USAGE, "%s is too large to be a budget's file", path);
	return text;
}

/* Reads FILE. One that is not there, or is empty, is one without sections if it is to be written. */
static void read_budget(struct budget *budget, const struct request *request)
{
	FILE *file = fopen(request->path, "re");
	char *text, *problem;
	struct stat st;
	size_t size;

	*budget = (struct budget){.nr_entries = 0};
	if (file && request->update && (fstat(fileno(file), &st) || !S_ISREG(st.st_mode)))
		die(EXIT_USAGE, "%s is no file that can be written anew", request->path);
	if (!file && errno == ENOENT && request->update && request->command)
		return;
	if (!file && errno == ENOENT && request->command)
		die(EXIT_USAGE, "there is no %s; to record the counts, use --update",
		    request->path);
	if (!file)
		die(EXIT_USAGE, "cannot read %s: %s", request->path, strerror(errno));
	text = read_text(file, request->path, &size);
	if (size || !request->update || !request->command) {
		problem = budget_parse(budget, text, size);
		if (problem)
			die(EXIT_USAGE, "%s, %s", request->path, problem);
	}
	free(text);
	fclose(file);
}

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void set(char **to, const char *text)
{
	if (!text)
		return;
	free(*to);
	*to = textf("%s", text);
}

/* An entry that is there must be of the same command, or the comparison would mean nothing. */
static void check_same(const struct request *request, const struct budget_entry *entry,
		       const char *command, const char *options)
{
	const char *what = NULL, *recorded = NULL, *now = NULL;

	if (!same(entry->command, command))
		what = "command", recorded = entry->command, now = command;
	else if (!same(entry->options, options))
		what = "options", recorded = entry->options, now = options;
	else if (request->input && !same(entry->input, request->input))
		what = "input", recorded = entry->input, now = request->input;
	else if (request->events && !same(entry->events, request->events))
		what = "events", recorded = entry->events ? entry->events : budget_default_events,
		now = request->events;
	if (what)
		die(EXIT_USAGE,
		    "%s, line %u: [%s] has the %s '%s', and not '%s'; to record anew, use --update; for "
		    "another section, --name",
		    request->path, entry->line, entry->name, what, recorded ? recorded : "",
		    now ? now : "");
}

/* The entry of the command line's command, made or brought up to date. */
static struct budget_entry *entry_of_command(struct budget *budget, const struct request *request,
					     const struct options *general)
{
	const char *slash = strrchr(request->command[0], '/');
	const char *name = request->name ? request->name : slash ? slash + 1 : request->command[0];
	char **given = calloc(general->given.count + 1, sizeof(*given));
	char *command = words_join(request->command), *options;
	struct budget_entry *entry = budget_find(budget, name);

	if (!given)
		abort();
	if (general->given.count)
		memcpy(given, general->given.at, general->given.count * sizeof(*given));
	options = general->given.count ? words_join(given) : NULL;
	if (!budget_name_is_good(name))
		die(EXIT_USAGE, "'%s' cannot be a section's name; give one with --name", name);
	if (!entry && !request->update)
		die(EXIT_USAGE, "%s has no section [%s]; to record its counts, use --update",
		    request->path, name);
	if (!entry)
		entry = budget_add(budget, name);
	else if (!request->update)
		check_same(request, entry, command, options);
	set(&entry->command, command);
	free(entry->options);
	entry->options = options;
	set(&entry->events, request->events);
	set(&entry->tolerance, request->tolerance);
	set(&entry->input, request->input);
	free(command);
	free(given);
	return entry;
}

/* perf stat that has counted nothing says why by its status; 0 and others are no answer. */
static int status_of_nothing(int status)
{
	switch (status) {
	case 129: /* its own command line: the events */
		return EXIT_USAGE;
	case 255: /* the command could not be started, which it has said */
		return EXIT_NOT_FOUND;
	default:
		return status ? status : EXIT_TALLY;
	}
}

/* Runs one entry, and compares or records. Returns the status it ends with. */
static int take(const struct request *request, struct budget_entry *entry,
		const struct options *general)
{
	const char *done = request->update ? "recorded" : "compared";
	struct budget_figures figures;
	int status = budget_run(entry, general, &figures);

	if (figures.signal) {
		say("%s: signal %d (%s) has ended the command, so nothing is %s", entry->name,
		    figures.signal, strsignal(figures.signal), done);
	} else if (!figures.nr_counts) {
		say("%s: nothing was counted, and so nothing is %s", entry->name, done);
		status = status_of_nothing(status);
	} else if (status) {
		say("%s: the command has failed with status %d, so nothing is %s", entry->name,
		    status, done);
	} else if (request->update) {
		budget_record(entry, &figures);
	} else if (budget_compare(entry, &figures, request->path)) {
		status = EXIT_OVER_BUDGET;
	}
	budget_free_figures(&figures);
	return status;
}

/* The first failure of a command counts more than any changed count. */
static int worse(int a, int b)
{
	return a && a != EXIT_OVER_BUDGET ? a : b ? b : a;
}

static int take_named(struct budget *budget, const struct request *request,
		      const struct options *general)
{
	int status = 0;

	if (general->given.count)
		die(EXIT_USAGE,
		    "%s goes with a command, which follows --; in FILE it can be edited",
		    general->given.at[0]);
	for (char **name = request->names; *name; name++) {
		if (!budget_find(budget, *name))
			die(EXIT_USAGE, "%s has no section [%s]; a command comes after --",
			    request->path, *name);
	}
	if (!budget->nr_entries)
		die(EXIT_USAGE, "%s has no sections; a command comes after --", request->path);
	for (size_t i = 0; i < budget->nr_entries; i++) {
		struct budget_entry *entry = &budget->entries[i];
		bool wanted = !request->names[0];

		for (char **name = request->names; *name; name++)
			wanted = wanted || strcmp(*name, entry->name) == 0;
		if (wanted)
			status = worse(status, take(request, entry, general));
	}
	return status;
}

/*
 * Writes what has been recorded. Others may have written the file since it was read, as with
 * make -j, and that stays: one after the other reads the file again and puts its own there.
 */
static void write_budget(struct budget *budget, const struct request *request,
			 struct output *output)
{
	int lock = output_lock(output);
	struct budget now;

	read_budget(&now, request);
	budget_merge(&now, budget);
	budget_print(&now, output->file);
	output_finish(output);
	budget_free(&now);
	if (lock >= 0)
		close(lock);
}

int budget_main(const struct options *options)
{
	struct request request;
	struct budget budget;
	struct output output;
	int status;

	parse(&request, options->command);
	read_budget(&budget, &request);
	if (request.update)
		output_begin(&output, request.path);
	if (request.command)
		status = take(&request, entry_of_command(&budget, &request, options), options);
	else
		status = take_named(&budget, &request, options);
	if (request.update && status == 0) {
		write_budget(&budget, &request, &output);
	} else if (request.update) {
		say("%s is as it was", request.path);
		output_discard(&output);
	} else if (status == EXIT_OVER_BUDGET) {
		say("if that is meant to be so: tally budget --update %s", request.path);
	}
	budget_free(&budget);
	return status;
}
