/* SPDX-License-Identifier: BSD-2-Clause */
/* What PID 1 does once, before the command; see setup.h. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "setup.h"

#define MODULES "/.tally-modules"

enum { PATIENCE = 10 }; /* seconds of the guest's time */

static const struct {
	const char *type, *where;
	unsigned long flags;
	const char *options;
} mounts[] = {
	{"proc", "/proc", 0, NULL},
	{"sysfs", "/sys", 0, NULL},
	{"devtmpfs", "/dev", 0, NULL},
	{"devpts", "/dev/pts", 0, "ptmxmode=0666"},
	{"tmpfs", "/dev/shm", 0, "mode=1777"},
	{"tmpfs", "/run", 0, "mode=0755"},
	{"tracefs", "/sys/kernel/tracing", 0, NULL},
};

static const struct {
	const char *target, *path;
} links[] = {
	{"/proc/self/fd", "/dev/fd"},
	{"/proc/self/fd/0", "/dev/stdin"},
	{"/proc/self/fd/1", "/dev/stdout"},
	{"/proc/self/fd/2", "/dev/stderr"},
};

static int mount_all(void)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].where, 0755);
		if (mount(mounts[i].type, mounts[i].where, mounts[i].type, mounts[i].flags,
			  mounts[i].options) &&
		    strcmp(mounts[i].type, "tracefs") != 0) {
			perror(mounts[i].where);
			return -1;
		}
	}
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		if (symlink(links[i].target, links[i].path) && errno != EEXIST) {
			perror(links[i].path);
			return -1;
		}
	}
	return 0;
}

/*
 * Their names begin with a number, which is the order in which they need one another. Nothing of
 * them is left in the root, which is the user's.
 */
static int load_modules(void)
{
	glob_t found;
	int result = 0;

	if (glob(MODULES "/*.ko", 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc && !result; i++) {
		int fd = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC);

		result = fd < 0 ? -1 : (int)syscall(SYS_finit_module, fd, "", 0);
		if (result)
			perror(found.gl_pathv[i]);
		if (fd >= 0)
			close(fd);
		unlink(found.gl_pathv[i]);
	}
	globfree(&found);
	rmdir(MODULES);
	return result;
}

int setup_system(void)
{
	if (access("/proc/self", F_OK) == 0)
		return 0;
	return mount_all() || load_modules() ? -1 : 0;
}

/*
 * Whether waiting for the host has taken too long. Never asleep: under -icount, time that nobody
 * uses passes at once, and the host would have none of it.
 */
static bool out_of_time(const struct timespec *begin)
{
	struct timespec now;

	sched_yield();
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - begin->tv_sec > PATIENCE;
}

int setup_wait_devices(void)
{
	static const char *const devices[] = {"/dev/hvc0", "/dev/vport0p1", "/dev/vport0p2",
					      "/dev/vport0p3", "/dev/vport0p4"};
	struct timespec begin;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		while (access(devices[i], F_OK) && !out_of_time(&begin))
			;
		if (access(devices[i], F_OK)) {
			fprintf(stderr, "init: %s did not appear\n", devices[i]);
			return -1;
		}
	}
	return 0;
}

int setup_share(const char *tag, const char *folder)
{
	static const char options[] = "trans=virtio,version=9p2000.L,msize=131136,cache=mmap";
	struct timespec begin;

	/* On Linux the device comes a moment after its module. */
	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (mount(tag, folder, "9p", 0, options)) {
		if (errno != ENOENT || out_of_time(&begin))
			return -1;
	}
	return 0;
}
