/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line; see options.h. Options end at the first word that is none. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "say.h"

enum { MAX_CPUS = 64 };

static const char help[] =
	"Usage: tally [OPTIONS] CMD [ARGS...]\n"
	"Runs an arm64 command on Tally's kernel in QEMU, as if it were local.\n"
	"By default one instruction takes one nanosecond of the guest's time, so that what is\n"
	"measured is the same on every run and every machine:\n"
	"\n"
	"  tally perf stat -- /bin/true\n"
	"  tally perf stat -e instructions:u -- ./my-arm64-program\n"
	"  tally bash\n"
	"\n"
	"CMD can also be one of tally's own commands; `tally NAME --help` says more of each. What the\n"
	"guest has under such a name is `tally -- NAME`.\n"
	"  budget                exact counts of commands, kept in a file, and compared in CI\n"
	"  flamegraph            a recording, or a command, as a flame graph in a page of HTML\n"
	"  export                the same for speedscope, the Firefox Profiler, flamegraph.pl\n"
	"  doctor                what is missing on this machine, and what to do about it\n"
	"\n"
	"Options:\n"
	"  --smp N               number of CPUs (1)\n"
	"  --mem SIZE            memory, such as 512M or 4G (2G)\n"
	"  --no-pmu              a machine without hardware counters\n"
	"  --root DIR|TAR|none   use this root file system for arm64 instead of Debian's; none: only\n"
	"                        the current folder and CMD, a static program\n"
	"  --package NAME        add a Debian package, and what it depends on, to the root; several\n"
	"                        times\n"
	"  --no-share            do not share the current folder with the guest\n"
	"  --no-exact            let time pass as it does outside; no `instructions` event\n"
	"  --kernel=tally|linux  Tally's kernel (the default) or Debian's arm64 Linux\n"
	"  --copy PATH[:TO]      copy a file or folder into the guest, to the same path or TO;\n"
	"                        may be given several times\n"
	"  --env NAME=VALUE      set a variable of the command's environment; several times\n"
	"  --timeout SECONDS     end the guest after that time, with status 124\n"
	"  --log FILE            write the kernel's console to FILE\n"
	"  --verbose             say how QEMU is called, and how long the parts took\n"
	"  -h, --help            say this and end\n"
	"  --version             say the version and end\n"
	"\n"
	"The current folder is the guest's as well, at the same path, read and write. What is outside\n"
	"of it is not, except CMD itself, arm64 programs named by ../PATH or /PATH, and --copy. The\n"
	"system's folders, such as /usr and /bin, are always the guest's own: Debian's, for arm64.\n"
	"\n"
	"The exit status is CMD's own. 124: out of time; 125: Tally or QEMU failed; 126: CMD cannot\n"
	"be run; 127: there is no CMD. On a terminal, three times Ctrl-] ends the guest.\n";

enum {
	OPT_SMP = 256,
	OPT_MEM,
	OPT_KERNEL,
	OPT_ROOT,
	OPT_PACKAGE,
	OPT_NO_EXACT,
	OPT_NO_PMU,
	OPT_NO_SHARE,
	OPT_COPY,
	OPT_ENV,
	OPT_LOG,
	OPT_TIMEOUT,
	OPT_VERBOSE,
	OPT_HELP,
	OPT_VERSION
};

static const struct option table[] = {
	{"smp", required_argument, NULL, OPT_SMP},
	{"mem", required_argument, NULL, OPT_MEM},
	{"kernel", required_argument, NULL, OPT_KERNEL},
	{"root", required_argument, NULL, OPT_ROOT},
	{"package", required_argument, NULL, OPT_PACKAGE},
	{"no-exact", no_argument, NULL, OPT_NO_EXACT},
	{"no-pmu", no_argument, NULL, OPT_NO_PMU},
	{"no-share", no_argument, NULL, OPT_NO_SHARE},
	{"copy", required_argument, NULL, OPT_COPY},
	{"env", required_argument, NULL, OPT_ENV},
	{"log", required_argument, NULL, OPT_LOG},
	{"timeout", required_argument, NULL, OPT_TIMEOUT},
	{"verbose", no_argument, NULL, OPT_VERBOSE},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static unsigned int number(const char *option, const char *text, unsigned long max)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || value < 1 || value > max)
		die(EXIT_USAGE, "%s takes a number from 1 to %lu, not '%s'", option, max, text);
	return (unsigned int)value;
}

/* QEMU takes more spellings; these are the ones that mean what they say. */
static void set_memory(struct options *options, const char *text)
{
	char *end;
	unsigned long long value, unit = 0;

	errno = 0;
	value = strtoull(text, &end, 10);
	if ((*end == 'M' || *end == 'm') && !end[1])
		unit = 1;
	else if ((*end == 'G' || *end == 'g') && !end[1])
		unit = 1024;
	if (errno || end == text || *text == '-' || !unit || value > 255 * 1024 / unit ||
	    value * unit < 256)
		die(EXIT_USAGE, "--mem takes a size from 256M to 255G, not '%s'", text);
	options->memory = text;
	options->memory_mb = (unsigned int)(value * unit);
}

static bool kernel_is_linux(const char *name)
{
	if (strcmp(name, "linux") != 0 && strcmp(name, "tally") != 0)
		die(EXIT_USAGE, "--kernel is tally or linux, not '%s'", name);
	return strcmp(name, "linux") == 0;
}

void texts_add(struct texts *texts, const char *text)
{
	texts->at = reallocarray(texts->at, texts->count + 1, sizeof(*texts->at));
	if (!texts->at)
		abort();
	texts->at[texts->count++] = text;
}

static void add_variable(struct texts *texts, const char *text)
{
	if (*text == '=' || !strchr(text, '='))
		die(EXIT_USAGE, "--env takes NAME=VALUE, not '%s'", text);
	texts_add(texts, text);
}

/* Keeps an option that can change what the command does, so that a later run can have the same. */
static void keep(struct options *options, int option, const char *value)
{
	const struct option *entry = table;

	if (option == OPT_LOG || option == OPT_TIMEOUT || option == OPT_VERBOSE ||
	    (option == OPT_KERNEL && !options->linux_kernel))
		return;
	while (entry->val != option)
		entry++;
	texts_add(&options->given,
		  value ? textf("--%s=%s", entry->name, value) : textf("--%s", entry->name));
}

/*
 * Names as Debian's policy has them (5.6.1); anything else could be more than a name to apt, and so
 * could a last "-": not this one.
 */
static void add_package(struct texts *texts, const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+-.");

	if (length < 2 || name[length] || !strchr(letters, *name) || name[length - 1] == '-')
		die(EXIT_USAGE, "--package takes the name of a Debian package, not '%s'", name);
	texts_add(texts, name);
}

static void apply(struct options *options, int option, const char *value)
{
	switch (option) {
	case OPT_SMP:
		options->cpus = number("--smp", value, MAX_CPUS);
		break;
	case OPT_MEM:
		set_memory(options, value);
		break;
	case OPT_KERNEL:
		options->linux_kernel = kernel_is_linux(value);
		break;
	case OPT_ROOT:
		options->root = value;
		break;
	case OPT_PACKAGE:
		add_package(&options->packages, value);
		break;
	case OPT_NO_EXACT:
		options->exact = false;
		break;
	case OPT_NO_PMU:
		options->pmu = false;
		break;
	case OPT_NO_SHARE:
		options->share = false;
		break;
	case OPT_COPY:
		if (!*value || *value == ':')
			die(EXIT_USAGE, "--copy takes PATH[:TO], not '%s'", value);
		texts_add(&options->copies, value);
		break;
	case OPT_ENV:
		add_variable(&options->environment, value);
		break;
	case OPT_LOG:
		options->log = value;
		break;
	case OPT_TIMEOUT:
		options->timeout = number("--timeout", value, 1000000);
		break;
	case OPT_VERBOSE:
		say_verbose = 1;
		break;
	case 'h':
	case OPT_HELP:
		fputs(help, stdout);
		exit(fflush(stdout) ? EXIT_TALLY : 0);
	case OPT_VERSION:
		puts("tally " TALLY_VERSION);
		exit(fflush(stdout) ? EXIT_TALLY : 0);
	}
}

void options_parse(struct options *options, int argc, char **argv)
{
	int option, before = 1;

	*options = (struct options){.cpus = 1,
				    .memory = "2G",
				    .memory_mb = 2048,
				    .exact = true,
				    .pmu = true,
				    .share = true,
				    .terminal = true,
				    .results = -1};
	optind = 0; /* glibc: start anew */
	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:h", table, NULL)) != -1) {
		const char *word = argv[optind - 1];

		if (option == ':')
			die(EXIT_USAGE, "%s needs a value; see tally --help", word);
		else if (option == '?' && optopt >= 256)
			die(EXIT_USAGE, "%s takes no value; see tally --help", word);
		else if (option == '?' && optopt)
			die(EXIT_USAGE, "there is no option -%c; see tally --help", optopt);
		else if (option == '?')
			die(EXIT_USAGE, "there is no option %s; see tally --help", word);
		apply(options, option, optarg);
		keep(options, option, optarg);
		before = optind;
	}
	if (options->root && options->packages.count)
		die(EXIT_USAGE, "--package adds to Debian's root, and so does not go with --root");
	if (optind == argc)
		die(EXIT_USAGE, "what shall be run? See tally --help");
	options->command = argv + optind;
	options->of_guest = optind > before; /* getopt has passed over "--" */
}
