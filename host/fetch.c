/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mmdebstrap writes the unpacked packages as one tar archive into a pipe; a child process converts
 * that while this one shows how mmdebstrap gets on.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fetch.h"
#include "progress.h"
#include "rootfs.h"
#include "say.h"

/* apt takes what is no package's name for a pattern, and one with a point in it fits many names. */
static const char names_only[] = "--aptopt=APT::Cmd::Pattern-Only \"true\"";

/*
 * While the packages still lie there: what they want to have done when they are installed, as a
 * file in the archive.
 */
static const char keep_scripts[] =
	"--extract-hook=for deb in \"$1\"/var/cache/apt/archives/*.deb; do "
	"dpkg-deb --ctrl-tarfile \"$deb\" | tar -xO ./postinst 2>/dev/null || :; "
	"done >\"$1/" ROOTFS_SCRIPTS "\"";

/* The last of what mmdebstrap says, which tells why it failed. */
struct log {
	char text[4096];
	size_t used;
};

static void keep_line(struct log *log, const char *line, size_t length)
{
	if (length >= sizeof(log->text))
		return;
	if (log->used + length >= sizeof(log->text)) {
		size_t old = log->used + length - sizeof(log->text) + 1;

		memmove(log->text, log->text + old, log->used - old);
		log->used -= old;
	}
	memcpy(log->text + log->used, line, length);
	log->used += length;
	log->text[log->used] = '\0';
}

/* A line of mmdebstrap's. Those that announce a step are like "I: downloading packages...". */
static void take_line(struct log *log, char *line)
{
	char *dots = strstr(line, "...");

	keep_line(log, line, strlen(line));
	if (strncmp(line, "I: ", 3) == 0 && dots && !strstr(line, "-hook")) {
		*dots = '\0';
		progress_step(line + 3);
	}
}

static void follow(int fd, struct log *log)
{
	struct pollfd poll_fd = {fd, POLLIN, 0};
	char line[4096];
	size_t used = 0;
	int ready;

	while ((ready = poll(&poll_fd, 1, 500)) >= 0 || errno == EINTR) {
		char *end;
		ssize_t n;

		progress_tick();
		if (ready <= 0)
			continue;
		n = read(fd, line + used, sizeof(line) - 1 - used);
		if (n <= 0)
			break;
		used += (size_t)n;
		line[used] = '\0';
		while ((end = strchr(line, '\n')) || used == sizeof(line) - 1) {
			size_t length = end ? (size_t)(end - line) + 1 : used;
			char next = line[length];

			line[length] = '\0';
			take_line(log, line);
			line[length] = next;
			used -= length;
			memmove(line, line + length, used + 1);
		}
	}
	close(fd);
}

/* In a process group of its own, for when it fails it sends its group SIGHUP. */
static pid_t start_mmdebstrap(const char *packages, int out, int err)
{
	char *include = textf("--include=%s", packages);
	const char *mirror = getenv("TALLY_MIRROR");
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(EXIT_TALLY);
		dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		execlp("mmdebstrap", "mmdebstrap", "--arch=arm64", "--variant=extract",
		       "--format=tar", keep_scripts, names_only, include, "--", rootfs_suite, "-",
		       mirror && *mirror ? mirror : NULL, NULL);
		_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXEC);
	}
	if (pid < 0)
		die(EXIT_TALLY, "cannot start mmdebstrap: %s", strerror(errno));
	free(include);
	return pid;
}

/*
 * The child that converts. An archive ends before its last bytes, and mmdebstrap fails if nobody
 * takes those.
 */
static int convert(const struct fetch *fetch, int tar)
{
	char rest[1 << 14];
	int error = fetch->convert(tar, fetch->arg);

	while (!error && read(tar, rest, sizeof(rest)) > 0)
		;
	return -error;
}

static int exit_status(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return EXIT_TALLY;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_TALLY;
}

/* Tells of packages that apt does not know, if that is what failed. */
static bool name_unknown(const char *log)
{
	static const char *const phrases[] = {"E: Unable to locate package ", "E: Package "};
	bool any = false;

	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		for (const char *at = log; (at = strstr(at, phrases[i]));) {
			at += strlen(phrases[i]);
			at += *at == '\'';
			say("there is no package %.*s for arm64 in Debian %s",
			    (int)strcspn(at, "' \n"), at, rootfs_suite);
			any = true;
		}
	}
	return any;
}

static void explain(const struct fetch *fetch, int fetched, int converted, const char *log)
{
	const char *temporary = getenv("TMPDIR");

	if (fetched == EXIT_NOT_FOUND) {
		say("mmdebstrap is not installed (Debian package mmdebstrap)");
	} else if (converted == ENOSPC || converted == EDQUOT) {
		say("the disk is full: the images in %s need 500 MB", fetch->folder);
	} else if (strstr(log, "No space left on device")) {
		say("the disk is full: %s needs 500 MB while the images are made",
		    temporary ? temporary : "/tmp");
	} else if (fetched && strstr(log, "in fakechroot mode") &&
		   strstr(log, "Exec format error")) {
		say("mmdebstrap needs ids for you in /etc/subuid and /etc/subgid; `tally doctor` says "
		    "how you get them");
	} else if (fetched && strstr(log, "unmet dependencies")) {
		fputs(log, stderr);
		say("these packages cannot be installed together; the reason is above");
	} else if (fetched && !name_unknown(log)) {
		fputs(log, stderr);
		say("could not fetch Debian's arm64 packages: mmdebstrap's last words are above; "
		    "is there a network?");
	} else if (!fetched) {
		say("could not make the image in %s: %s", fetch->folder, strerror(converted));
	}
}

void fetch_packages(const struct fetch *fetch)
{
	struct log log = {.used = 0};
	int tar[2], err[2], status, converted;
	pid_t fetcher, converter;

	if (pipe2(tar, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		die(EXIT_TALLY, "cannot make a pipe: %s", strerror(errno));
	progress_begin("%s", fetch->what);
	fetcher = start_mmdebstrap(fetch->packages, tar[1], err[1]);
	close(tar[1]);
	close(err[1]);
	converter = fork();
	if (converter == 0)
		_exit(convert(fetch, tar[0]));
	close(tar[0]);
	follow(err[0], &log);
	status = exit_status(fetcher);
	converted = converter < 0 ? EAGAIN : exit_status(converter);
	progress_end();
	if (status == 0 && converted == 0)
		return;
	fetch->discard(fetch->arg);
	explain(fetch, status, converted, log.text);
	exit(EXIT_TALLY);
}
