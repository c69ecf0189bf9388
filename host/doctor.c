/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tally needs of this machine, one line for each thing, and below it what to do if it is not
 * well. Nothing is changed, but that a guest is started in the end, if all it needs is there.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "doctor.h"
#include "guest.h"
#include "images.h"
#include "machine.h"
#include "say.h"

static const char help[] =
	"Usage: tally doctor\n"
	"Looks at all that tally needs of this machine, and says what is missing and what to do about\n"
	"it. Changes nothing. The exit status is 0 if all is well, and 1 if there is something to do.\n";

enum { ROOM_MB = 500 }; /* that an image needs while it is made */

static bool well = true;

static void __attribute__((format(printf, 2, 3))) tell(const char *state, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("%-8s ", state);
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
	well = well && strcmp(state, "MISSING") != 0 && strcmp(state, "WRONG") != 0;
}

/* The packages are host/setup's to know. It prints its own lines. */
static void check_packages(void)
{
	static const char setup[] = TALLY_SOURCE "/host/setup";
	char *command;
	int status;

	if (access(setup, X_OK)) {
		tell("note", "%s is not there: packages are not looked at", setup);
		return;
	}
	command = textf("'%s' --check", setup);
	fflush(stdout);
	status = system(command);
	if (status)
		well = false;
	free(command);
}

/* Whether a line of the file (subuid(5)) begins with the user's name, or number, and a colon. */
static bool has_ids(const char *path, const char *name)
{
	FILE *file = fopen(path, "r");
	char line[256], *colon, *number = textf("%u", (unsigned int)getuid());
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		colon = strchr(line, ':');
		if (colon)
			*colon = '\0';
		found = colon && (strcmp(line, name) == 0 || strcmp(line, number) == 0);
	}
	if (file)
		fclose(file);
	free(number);
	return found;
}

/* What mmdebstrap unpacks packages with, if it is not root that calls it. */
static void check_ids(void)
{
	const struct passwd *user = getpwuid(getuid());
	const char *name = user ? user->pw_name : "USER";

	if (getuid() == 0)
		return;
	if (has_ids("/etc/subuid", name) && has_ids("/etc/subgid", name))
		tell("ok", "%s has ids in /etc/subuid and /etc/subgid, for mmdebstrap", name);
	else
		tell("MISSING",
		     "%s has no ids in /etc/subuid or /etc/subgid, so images cannot be made\n"
		     "         sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 %s",
		     name, name);
}

static bool check_qemu(void)
{
	int major, minor, found = machine_version(&major, &minor);

	if (found > 0)
		tell("ok", "QEMU %d.%d", major, minor);
	else if (found == 0)
		tell("WRONG", "QEMU %d.%d is too old; 7.2 or later is needed, as Debian 12 has it",
		     major, minor);
	else
		tell("MISSING",
		     MACHINE_QEMU " cannot be run\n"
				  "         install it: sudo apt-get install qemu-system-arm");
	return found > 0;
}

static bool check_build(void)
{
	char *build = guest_build(), *init = textf("%s/guest/init", build);
	char *kernel = textf("%s/kernel/tally.img", build);
	bool good = access(init, R_OK) == 0 && access(kernel, R_OK) == 0;

	if (good)
		tell("ok", "the guest's kernel and PID 1 are built, in %s", build);
	else
		tell("MISSING",
		     "the guest's kernel or PID 1 is not built, in %s\n"
		     "         build it: " TALLY_SOURCE "/host/build",
		     build);
	free(kernel);
	free(init);
	free(build);
	return good;
}

static void check_space(const char *what, const char *folder)
{
	struct statvfs space;
	uint64_t mb;

	if (statvfs(folder, &space)) {
		tell("WRONG", "%s %s: %s", what, folder, strerror(errno));
		return;
	}
	mb = (uint64_t)space.f_bavail * space.f_frsize >> 20;
	if (mb < ROOM_MB)
		tell("WRONG", "%s %s, which has %ju MB free; to make an image takes %d MB", what,
		     folder, (uintmax_t)mb, ROOM_MB);
	else
		tell("ok", "%s %s, which has %ju MB free", what, folder, (uintmax_t)mb);
}

/* How much there is in the cache. */
static void look_into_cache(const char *folder)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;
	struct stat st;
	uint64_t bytes = 0;
	unsigned int files = 0;

	while (entries && (entry = readdir(entries))) {
		if (fstatat(dirfd(entries), entry->d_name, &st, 0) || !S_ISREG(st.st_mode))
			continue;
		files++;
		bytes += (uint64_t)st.st_blocks * 512;
	}
	if (entries)
		closedir(entries);
	tell("ok", "the cache folder %s has %u files, %ju MB; it may be removed at any time",
	     folder, files, (uintmax_t)(bytes >> 20));
}

/* If the cache is not there yet, the folder in which it will be made stands for it. */
static bool check_cache(void)
{
	char *folder = cache_path();
	bool there = folder && access(folder, F_OK) == 0, good;

	if (!folder) {
		tell("WRONG", "neither XDG_CACHE_HOME nor HOME says where the cache is");
		return false;
	}
	while (!there && access(folder, F_OK) && strrchr(folder, '/') > folder)
		*strrchr(folder, '/') = '\0';
	good = access(folder, R_OK | W_OK | X_OK) == 0;
	if (!good)
		tell("WRONG",
		     "%s, for the cache: %s\n         XDG_CACHE_HOME can name another folder of yours",
		     folder, strerror(errno));
	else if (there)
		look_into_cache(folder);
	else
		tell("ok", "the cache folder is not there yet; it is made in %s", folder);
	check_space("the cache is in", folder);
	check_space("temporary files are in", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	free(folder);
	return good && there;
}

static bool check_images(bool cache)
{
	bool have = cache && images_have_root();

	if (have)
		tell("ok", "the root image of Debian's packages");
	else
		tell("note",
		     "the root image is not there; the first command makes it, in half a minute, "
		     "over the network");
	if (cache && images_have_linux())
		tell("ok", "Debian's Linux kernel");
	else
		tell("note",
		     "Debian's Linux kernel is not there; --kernel=linux fetches it when it is "
		     "first used");
	return have;
}

static void check_memory(const struct options *options)
{
	FILE *file = fopen("/proc/meminfo", "r");
	unsigned long kb = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file) &&
	       sscanf(line, "MemAvailable: %lu kB", &kb) != 1)
		;
	if (file)
		fclose(file);
	if (kb && kb / 1024 < options->memory_mb / 2)
		tell("note", "%lu MB of memory are free; the guest may use %u MB (--mem)",
		     kb / 1024, options->memory_mb);
	else if (kb)
		tell("ok", "%lu MB of memory are free", kb / 1024);
}

/* A guest that only ends. What it says is shown if it does not. */
static void check_guest(const struct options *general)
{
	static char *command[] = {"true", NULL};
	struct options options = *general;
	int said = memfd_create("tally-doctor", MFD_CLOEXEC),
	    null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct guest_call call = {.in = null, .out = null, .err = said};
	struct timespec begin, end;
	char text[4096];
	ssize_t n;
	int status;

	options.command = command;
	options.terminal = false;
	options.share = false;
	if (!options.timeout)
		options.timeout = 60;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	guest_start(&call, &options);
	status = guest_wait(&call);
	clock_gettime(CLOCK_MONOTONIC, &end);
	n = pread(said, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	if (status == 0)
		tell("ok", "a guest starts, runs a command and ends, in %.1f s",
		     (double)(end.tv_sec - begin.tv_sec) +
			     (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
	else
		tell("WRONG", "a guest does not run `true`, but ends with status %d:\n%s", status,
		     text);
	close(said);
	close(null);
}

int doctor_main(const struct options *options)
{
	const char *word = options->command[1];
	bool can_run;

	if (word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
		fputs(help, stdout);
		return fflush(stdout) ? EXIT_TALLY : 0;
	}
	if (word)
		die(EXIT_USAGE, "doctor takes no '%s'; see tally doctor --help", word);
	check_packages();
	check_ids();
	can_run = check_qemu();
	can_run &= check_build();
	can_run &= check_images(check_cache());
	check_memory(options);
	fflush(stdout);
	if (can_run)
		check_guest(options);
	printf(well ? "All is well.\n" : "There is something to be done: see above.\n");
	return fflush(stdout) ? EXIT_TALLY : well ? 0 : 1;
}
