/* SPDX-License-Identifier: BSD-2-Clause */
/* `tally flamegraph` and `tally export`: from a recording, or from a command, to a file. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "output.h"
#include "recording.h"
#include "say.h"
#include "words.h"

static const char flamegraph_help[] =
	"Usage: tally [OPTIONS] flamegraph [-i FILE] [-o FILE] [--title TEXT]\n"
	"       tally [OPTIONS] flamegraph [-o FILE] [RECORD'S OPTIONS] -- CMD [ARGS...]\n"
	"Draws a recording of `tally perf record -g` as a flame graph: one page of HTML that needs\n"
	"nothing else. With a command, records that first.\n"
	"\n"
	"  tally flamegraph -- ./prog input.txt\n"
	"  tally perf record -g ./prog && tally flamegraph -o prog.html\n"
	"\n"
	"  -i, --input FILE      the recording (perf.data); -: standard input\n"
	"  -o, --output FILE     the page (flamegraph.html); -: standard output\n"
	"      --title TEXT      its title (the command that was recorded)\n";

static const char export_help[] =
	"Usage: tally [OPTIONS] export FORMAT [-i FILE] [-o FILE]\n"
	"       tally [OPTIONS] export FORMAT [-o FILE] [RECORD'S OPTIONS] -- CMD [ARGS...]\n"
	"Writes a recording for another program. With a command, records that first. FORMAT is\n"
	"\n"
	"      --speedscope      for https://www.speedscope.app (speedscope.json)\n"
	"      --firefox         for https://profiler.firefox.com (firefox.json)\n"
	"      --collapsed       lines CALLER;FUNCTION WEIGHT, as for flamegraph.pl (stacks.txt)\n"
	"\n"
	"  -i, --input FILE      the recording (perf.data); -: standard input\n"
	"  -o, --output FILE     instead of the name above; -: standard output\n"
	"      --title TEXT      its title (the command that was recorded)\n";

static const char record_help[] =
	"With a command:\n"
	"  -e, --event EVENTS    what to record, for perf record -e (instructions)\n"
	"  -F, --freq HZ         samples in a second of the guest's time (10000)\n"
	"  -c, --count N         or one every N events\n"
	"      --call-graph HOW  fp, dwarf (fp: programs must have frame pointers)\n"
	"\n"
	"The sizes are events, not samples. Names come from the guest's files and the current folder,\n"
	"or the recording's. The exit status is that of the command, if it has failed.\n";

enum { SPEEDSCOPE = 256, FIREFOX, COLLAPSED, TITLE, CALL_GRAPH };

struct request {
	int format; /* 0: a flame graph */
	const char *input, *output, *title, *event, *freq, *count, *call_graph;
	char **command; /* or NULL */
};

static const struct option table[] = {
	{"speedscope", no_argument, NULL, SPEEDSCOPE},
	{"firefox", no_argument, NULL, FIREFOX},
	{"collapsed", no_argument, NULL, COLLAPSED},
	{"input", required_argument, NULL, 'i'},
	{"output", required_argument, NULL, 'o'},
	{"title", required_argument, NULL, TITLE},
	{"event", required_argument, NULL, 'e'},
	{"freq", required_argument, NULL, 'F'},
	{"count", required_argument, NULL, 'c'},
	{"call-graph", required_argument, NULL, CALL_GRAPH},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void apply(struct request *request, int option, bool flamegraph, const char *word)
{
	const struct {
		int option;
		const char **value;
	} values[] = {
		{'i', &request->input},
		{'o', &request->output},
		{TITLE, &request->title},
		{'e', &request->event},
		{'F', &request->freq},
		{'c', &request->count},
		{CALL_GRAPH, &request->call_graph},
	};
	const char *name = flamegraph ? "flamegraph" : "export";

	if (option == 'h') {
		fputs(flamegraph ? flamegraph_help : export_help, stdout);
		fputs(record_help, stdout);
		exit(fflush(stdout) ? EXIT_TALLY : 0);
	}
	if (option == ':')
		die(EXIT_USAGE, "%s needs a value; see tally %s --help", word, name);
	if (option == '?' || (flamegraph && option >= SPEEDSCOPE && option <= COLLAPSED))
		die(EXIT_USAGE, "%s has no option %s; see tally %s --help", name, word, name);
	if (option >= SPEEDSCOPE && option <= COLLAPSED) {
		if (request->format && request->format != option)
			die(EXIT_USAGE, "export writes one format at a time");
		request->format = option;
	}
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (values[i].option == option)
			*values[i].value = optarg;
	}
}

/* perf record -q would fail without a word. */
static void check_number(const char *option, const char *text)
{
	if (text && (text[strspn(text, "0123456789")] || !text[strspn(text, "0")]))
		die(EXIT_USAGE, "%s takes a number from 1, not '%s'", option, text);
}

static void parse(struct request *request, char **argv, bool flamegraph)
{
	const char *name = argv[0];
	int argc, option;

	*request = (struct request){.command = words_cut(argv, &argc)};
	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":i:o:e:F:c:h", table, NULL)) != -1)
		apply(request, option, flamegraph, argv[optind - 1]);
	if (optind < argc)
		die(EXIT_USAGE,
		    "'%s' is one word too many: a recording is named with -i, and a command "
		    "comes after --; see tally %s --help",
		    argv[optind], name);
	if (!flamegraph && !request->format)
		die(EXIT_USAGE, "export needs --speedscope, --firefox or --collapsed");
	if (request->command && !request->command[0])
		die(EXIT_USAGE, "there is no command after --");
	if (request->command && request->input)
		die(EXIT_USAGE, "it is either a recording (-i) or a command");
	if (request->freq && request->count)
		die(EXIT_USAGE, "it is either --freq or --count");
	check_number("--freq", request->freq);
	check_number("--count", request->count);
	if (!request->command && (request->freq || request->count || request->call_graph))
		die(EXIT_USAGE,
		    "--freq, --count and --call-graph go with a command, which follows --");
}

static void record(struct recording *recording, const struct request *request,
		   const struct options *options)
{
	const char *event = request->event   ? request->event
			    : options->exact ? "instructions"
					     : "cycles";
	const char *const words[] = {
		"-e",
		event,
		request->count ? "-c" : "-F",
		request->count	? request->count
		: request->freq ? request->freq
				: "10000",
		"--call-graph",
		request->call_graph ? request->call_graph : "fp",
		NULL,
	};

	recording_make(recording, options, (char *const *)words, request->command);
}

/* The event that collapsed stacks are of, which can only be of one. */
static uint32_t choose_event(const struct profile *profile, const char *name)
{
	for (uint32_t i = 0; name && i < profile->events; i++) {
		if (strcmp(profile->text[profile->event[i].name], name) == 0)
			return i;
	}
	if (profile->events == 1 && !name)
		return 0;
	say(name ? "there is no event %s in the recording" : "collapsed stacks are of one event",
	    name);
	for (uint32_t i = 0; i < profile->events; i++)
		say("choose -e %s", profile->text[profile->event[i].name]);
	exit(EXIT_USAGE);
}

static void write_out(const struct request *request, const struct profile *profile,
		      const char *title, FILE *out)
{
	if (request->format == SPEEDSCOPE)
		export_speedscope(profile, title, out);
	else if (request->format == FIREFOX)
		export_firefox(profile, title, out);
	else if (request->format == COLLAPSED)
		export_collapsed(profile,
				 choose_event(profile, request->command ? NULL : request->event),
				 out);
	else
		export_flamegraph(profile, title, out);
}

static void tell(const struct request *request, const char *path, const struct profile *profile)
{
	for (size_t i = 0; i < profile->events; i++) {
		const struct profile_event *event = &profile->event[i];

		say("%s: %ju %s in %ju samples%s", path, (uintmax_t)event->weight,
		    profile->text[event->name], (uintmax_t)event->samples,
		    request->format || i + 1 < profile->events ? "" : "; open it in a browser");
	}
}

static const char *file_of(const struct request *request)
{
	if (request->output)
		return request->output;
	return request->format == SPEEDSCOPE  ? "speedscope.json"
	       : request->format == FIREFOX   ? "firefox.json"
	       : request->format == COLLAPSED ? "stacks.txt"
					      : "flamegraph.html";
}

static int draw(const struct options *options, bool flamegraph)
{
	struct recording recording;
	struct request request;
	struct output output;
	const char *title;
	int status;

	parse(&request, options->command, flamegraph);
	output_begin(&output, file_of(&request));
	if (request.command)
		record(&recording, &request, options);
	else
		recording_read(&recording, options, request.input ? request.input : "perf.data");
	title = request.title ? request.title : *recording.command ? recording.command : "tally";
	write_out(&request, &recording.profile, title, output.file);
	output_finish(&output);
	if (strcmp(file_of(&request), "-") != 0)
		tell(&request, file_of(&request), &recording.profile);
	status = recording.status;
	recording_free(&recording);
	return status;
}

int flamegraph_main(const struct options *options)
{
	return draw(options, true);
}

int export_main(const struct options *options)
{
	return draw(options, false);
}
