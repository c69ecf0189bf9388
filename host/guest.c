/* SPDX-License-Identifier: BSD-2-Clause */
/* One run of a guest, from the images to how the command ended; see guest.h. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "files.h"
#include "guest.h"
#include "images.h"
#include "machine.h"
#include "ownroot.h"
#include "relay.h"
#include "say.h"
#include "terminal.h"

char *guest_build(void)
{
	char path[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n < 0)
		die(EXIT_TALLY, "cannot find out where tally is: %s", strerror(errno));
	path[n] = '\0';
	for (int up = 0; up < 3; up++) {
		slash = strrchr(path, '/');
		if (!slash)
			die(EXIT_TALLY, "tally is not in its build folder");
		*slash = '\0';
	}
	return textf("%s/arm64", path);
}

static void put(FILE *run, const char *key, const char *value)
{
	fprintf(run, "%s=%s%c", key, value, '\0');
}

/* A variable that the user has not set by --env. */
static void put_variable(FILE *run, const struct options *options, const char *name,
			 const char *value)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < options->environment.count; i++) {
		const char *own = options->environment.at[i];

		if (strncmp(own, name, length) == 0 && own[length] == '=')
			return;
	}
	fprintf(run, "env=%s=%s%c", name, value, '\0');
}

/*
 * The command's environment is the same everywhere, since its size alone changes what a program
 * executes; only TERM is taken from here, where there is a terminal.
 */
static void put_environment(FILE *run, const struct options *options, const struct wiring *wiring)
{
	const char *term = getenv("TERM");

	put_variable(run, options, "HOME", "/root");
	put_variable(run, options, "LANG", "C.UTF-8");
	put_variable(run, options, "PATH",
		     "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	put_variable(run, options, "TERM",
		     wiring->terminal >= 0 && term && *term ? term : "dumb");
	for (size_t i = 0; i < options->environment.count; i++)
		put(run, "env", options->environment.at[i]);
}

/* What PID 1 shall do (opt/tally/run): NUL-terminated texts key=value. Returns a descriptor. */
static int describe_run(const struct options *options, const struct wiring *wiring,
			const char *shared)
{
	static const char *const names[] = {
		[ENDPOINT_NULL] = "null",
		[ENDPOINT_TTY] = "tty",
		[ENDPOINT_PORT] = "port",
		[ENDPOINT_SAME] = "same",
	};
	int fd = memfd_create("tally-run", MFD_CLOEXEC);
	FILE *run = fd < 0 ? NULL : fdopen(dup(fd), "w");
	char *cwd = getcwd(NULL, 0);
	unsigned int rows, columns;

	if (!run)
		die(EXIT_TALLY, "cannot make a file in memory: %s", strerror(errno));
	put(run, "cwd", options->folder ? options->folder : cwd ? cwd : "/");
	put(run, "fd0", options->input ? options->input : names[wiring->fd[0]]);
	put(run, "fd1", names[wiring->fd[1]]);
	put(run, "fd2", names[wiring->fd[2]]);
	if (wiring->terminal >= 0) {
		terminal_size(wiring->terminal, &rows, &columns);
		fprintf(run, "rows=%u%ccols=%u%c", rows, '\0', columns, '\0');
	}
	put_environment(run, options, wiring);
	for (char **word = options->command; *word; word++)
		put(run, "arg", *word);
	if (shared)
		put(run, "share", MACHINE_SHARE_TAG);
	free(cwd);
	if (fclose(run))
		die(EXIT_TALLY, "cannot make a file in memory: %s", strerror(errno));
	return fd;
}

enum { TAIL = 4096 };

/* Prints the last of what is in a file, from the start of a line on. */
static void show_tail(int fd, const char *title)
{
	char text[TAIL + 1];
	struct stat st;
	off_t from;
	ssize_t n;
	char *start = text;

	if (fstat(fd, &st) || st.st_size == 0)
		return;
	from = st.st_size > TAIL ? st.st_size - TAIL : 0;
	n = pread(fd, text, TAIL, from);
	if (n <= 0)
		return;
	text[n] = '\0';
	if (from && strchr(text, '\n'))
		start = strchr(text, '\n') + 1;
	fprintf(stderr, "tally: %s:\n%s%s", title, start, text[n - 1] == '\n' ? "" : "\n");
}

static void show_logs(const struct machine *machine)
{
	show_tail(machine->console, "the last of the kernel's log");
	show_tail(machine->errors, "QEMU says");
}

static void check_version(void)
{
	int major, minor;

	if (machine_version(&major, &minor) == 0)
		say("QEMU 7.2 or later is needed; this is QEMU %d.%d", major, minor);
}

/* An image that cannot be read is made anew only if it is not there. */
static void check_image(const struct machine *machine)
{
	char text[TAIL + 1];
	ssize_t n = pread(machine->console, text, TAIL, 0);

	text[n > 0 ? n : 0] = '\0';
	if (strstr(text, "the root image is damaged") || strstr(text, "no root image"))
		say("an image in %s is damaged; remove the folder, and it is made anew",
		    cache_path());
}

/* Ends this program as the command ended, so that a shell sees no difference. */
static void end_by_signal(int number)
{
	struct rlimit none = {0, 0};
	sigset_t set;

	terminal_restore();
	setrlimit(RLIMIT_CORE, &none);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
	exit(128 + number);
}

/* PID 1 has said that the command is not there; this says what to do if it is one of the root's. */
static void explain_not_found(const struct options *options)
{
	const char *name = options->command[0];
	bool none = options->root && strcmp(options->root, OWNROOT_NONE) == 0;

	if (none && strchr(name, '/'))
		say("--root none is for static programs; without it, Debian's libraries are there");
	else if (none)
		say("--root none has no programs; without it, Debian's are there, and perf");
	else if (options->root && strcmp(name, "perf") == 0)
		say("perf has to be installed in the root %s (Debian and Ubuntu: linux-perf or "
		    "linux-tools, Alpine and Fedora: perf)",
		    options->root);
}

static void finish(const struct machine *machine, const struct outcome *outcome,
		   const struct options *options)
{
	terminal_restore();
	if (outcome->write_error)
		say("cannot write the output: %s", strerror(outcome->write_error));
	switch (outcome->how) {
	case ENDED_EXIT:
		if (outcome->value == EXIT_NOT_FOUND)
			explain_not_found(options);
		exit(outcome->value == 0 && outcome->write_error ? EXIT_TALLY : outcome->value);
	case ENDED_SIGNAL:
		end_by_signal(outcome->value);
		break;
	case ENDED_TIMEOUT:
		if (say_verbose)
			show_logs(machine);
		die(EXIT_TIMED_OUT, "the command did not end within %u s", options->timeout);
	case ENDED_BY_KEY:
		die(EXIT_TALLY, "the guest was ended by Ctrl-]");
	case ENDED_BADLY:
		show_logs(machine);
		die(EXIT_TALLY, "the command had ended, but the kernel then failed to shut down");
	case ENDED_NO_STATUS:
		show_logs(machine);
		check_version();
		check_image(machine);
		die(EXIT_TALLY, "the guest ended before the command did");
	}
}

void guest_run(const struct options *options)
{
	struct images images;
	struct machine machine;
	struct wiring wiring;
	struct outcome outcome;
	struct timespec begin, end;
	int run, files;
	char *shared; /* the folder that host and guest share, or NULL */

	shared = options->share ? files_shareable() : NULL;
	files = files_collect(options, shared);
	images_open(&images, guest_build(), options);
	relay_wire(&wiring, options->terminal);
	wiring.results = options->results;
	run = describe_run(options, &wiring, shared);
	relay_prepare();
	clock_gettime(CLOCK_MONOTONIC, &begin);
	machine_start(&machine, options, &images, &(struct inputs){run, files, shared});
	if (wiring.raw)
		terminal_raw();
	relay_run(&machine, &wiring, options->timeout, !options->linux_kernel, &outcome);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (say_verbose)
		say("the guest ran for %.3f s",
		    (double)(end.tv_sec - begin.tv_sec) +
			    (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
	finish(&machine, &outcome, options);
	exit(EXIT_TALLY);
}
