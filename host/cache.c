/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache folder and how the images in it are made; see cache.h. The packages come through
 * mmdebstrap, which writes them as one tar archive into a pipe; a child process turns that into
 * the image while this one shows mmdebstrap's progress.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "newc.h"
#include "rootfs.h"
#include "say.h"

enum { DAY = 24 * 3600 /* seconds */ };

static const char linux_package[] = "linux-image-arm64";

/* FNV-1a, 64 bits: names files by what went into them; nobody is kept out by it. */
static uint64_t hash(uint64_t h, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++)
		h = (h ^ bytes[i]) * 0x100000001b3;
	return h;
}

static uint64_t hash_texts(const char *const *texts)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *texts; texts++)
		h = hash(h, *texts, strlen(*texts) + 1);
	return h;
}

static char *cache_folder(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *folder;

	if (base && *base == '/')
		folder = textf("%s/tally", base);
	else if (home && *home == '/')
		folder = textf("%s/.cache/tally", home);
	else
		die(EXIT_TALLY, "neither XDG_CACHE_HOME nor HOME says where the cache is");
	for (char *slash = strchr(folder + 1, '/');; slash = strchr(slash + 1, '/')) {
		if (slash)
			*slash = '\0';
		if (mkdir(folder, 0777) && errno != EEXIST)
			die(EXIT_TALLY, "cannot make the folder %s: %s", folder, strerror(errno));
		if (!slash)
			return folder;
		*slash = '/';
	}
}

/*
 * Waits until no other process makes images, and removes what one left unfinished. The lock
 * ends with the descriptor it returns.
 */
static int lock_cache(const char *folder)
{
	char *path = textf("%s/lock", folder), *pattern = textf("%s/*.new", folder);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	glob_t found;

	if (fd < 0)
		die(EXIT_TALLY, "cannot write to the cache folder %s: %s", folder, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		say("waiting for another tally, which is making the images");
		while (flock(fd, LOCK_EX) && errno == EINTR)
			;
	}
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	free(pattern);
	free(path);
	return fd;
}

static void remove_older(const char *folder, const char *kind, time_t age)
{
	char *pattern = textf("%s/%s-????????????????.*", folder, kind);
	glob_t found;
	struct stat st;

	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			if (!stat(found.gl_pathv[i], &st) && time(NULL) - st.st_mtime > age)
				unlink(found.gl_pathv[i]);
		}
		globfree(&found);
	}
	free(pattern);
}

/*
 * Images that nothing has used for a while are of an older list of packages or build. Those that
 * are put together without fetching anything go sooner, since each change of PID 1 makes one.
 */
static void remove_unused(const char *folder)
{
	remove_older(folder, "initrd", DAY);
	remove_older(folder, "root", 30 * DAY);
	remove_older(folder, "linux", 30 * DAY);
}

static char *new_name(const char *path)
{
	return textf("%s.new", path);
}

static int create_new(const char *path)
{
	char *name = new_name(path);
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		die(EXIT_TALLY, "cannot write %s: %s", name, strerror(errno));
	free(name);
	return fd;
}

/* Makes the file written under path's new name the whole and only one. */
static void finish_new(int fd, const char *path)
{
	char *name = new_name(path);

	if (fsync(fd) || close(fd) || rename(name, path)) {
		int error = errno;

		unlink(name);
		die(EXIT_TALLY, "cannot write %s: %s", path, strerror(error));
	}
	free(name);
}

static void discard_new(int fd, const char *path)
{
	char *name = new_name(path);

	close(fd);
	unlink(name);
	free(name);
}

/*
 * Shows mmdebstrap's progress lines as they come and keeps the last lines of all it says, which
 * tell why it failed. `log` holds the last LOG_SIZE bytes at most.
 */
enum { LOG_SIZE = 4096 };

static void show_progress(int fd, char *log)
{
	FILE *from = fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0, used = 0;
	ssize_t n;

	if (!from)
		abort();
	while ((n = getline(&line, &room, from)) > 0) {
		size_t length = (size_t)n;

		if (strncmp(line, "I: ", 3) == 0 && strstr(line, "..."))
			fprintf(stderr, "tally:   %s", line + 3);
		if (length >= LOG_SIZE)
			continue;
		if (used + length >= LOG_SIZE) {
			memmove(log, log + length, used - length);
			used -= length;
		}
		memcpy(log + used, line, length + 1);
		used += length;
	}
	free(line);
	fclose(from);
}

static pid_t start_mmdebstrap(const char *packages, int out, int err)
{
	char *include = textf("--include=%s", packages);
	const char *mirror = getenv("TALLY_MIRROR");
	pid_t pid = fork();

	if (pid == 0) {
		dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		execlp("mmdebstrap", "mmdebstrap", "--arch=arm64", "--variant=extract",
		       "--format=tar", include, rootfs_suite, "-", mirror, NULL);
		_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXEC);
	}
	if (pid < 0)
		die(EXIT_TALLY, "cannot start mmdebstrap: %s", strerror(errno));
	free(include);
	return pid;
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

static void explain_failure(int fetch, int convert, const char *log, const char *folder)
{
	if (fetch == EXIT_NOT_FOUND) {
		say("mmdebstrap is not installed (Debian package mmdebstrap)");
	} else if (convert == ENOSPC || convert == EDQUOT) {
		say("the disk is full: the images in %s need 500 MB", folder);
	} else if (strstr(log, "No space left on device")) {
		say("the disk is full: %s needs 500 MB while the images are made",
		    getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	} else if (fetch) {
		fputs(log, stderr);
		say("could not fetch Debian's arm64 packages: mmdebstrap's last words are above; "
		    "is there a network?");
	} else {
		say("could not make the image in %s: %s", folder, strerror(convert));
	}
	exit(EXIT_TALLY);
}

/*
 * Fetches packages and has convert(tar, arg) make files of them, in a child. Returns only when
 * all went well; otherwise `discard(arg)` is called and the program ends.
 */
static void fetch(const char *folder, const char *packages, int (*convert)(int tar, void *arg),
		  void (*discard)(void *arg), void *arg)
{
	char log[LOG_SIZE] = "";
	int tar[2], err[2], status, converted;
	pid_t fetcher, converter;

	if (pipe2(tar, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		die(EXIT_TALLY, "cannot make a pipe: %s", strerror(errno));
	fetcher = start_mmdebstrap(packages, tar[1], err[1]);
	close(tar[1]);
	close(err[1]);
	converter = fork();
	if (converter == 0)
		_exit(-convert(tar[0], arg));
	close(tar[0]);
	show_progress(err[0], log);
	status = exit_status(fetcher);
	converted = converter < 0 ? EAGAIN : exit_status(converter);
	if (status == 0 && converted == 0)
		return;
	discard(arg);
	explain_failure(status, converted, log, folder);
}

struct output {
	const char *path;
	int fd;
};

static void discard_outputs(void *arg)
{
	for (struct output *output = arg; output->path; output++)
		discard_new(output->fd, output->path);
}

static void finish_outputs(struct output *output)
{
	for (; output->path; output++)
		finish_new(output->fd, output->path);
}

static int convert_root(int tar, void *arg)
{
	const struct output *output = arg;

	return rootfs_convert(tar, output[0].fd);
}

static int convert_linux(int tar, void *arg)
{
	const struct output *output = arg;

	return rootfs_linux(tar, output[0].fd, output[1].fd);
}

static void make_root(const char *folder, const char *path)
{
	struct output outputs[] = {{path, create_new(path)}, {NULL, -1}};

	say("making the guest's root image of Debian %s packages (once; half a minute)",
	    rootfs_suite);
	fetch(folder, rootfs_packages, convert_root, discard_outputs, outputs);
	finish_outputs(outputs);
}

static void make_linux(const char *folder, const char *kernel, const char *modules)
{
	struct output outputs[] = {
		{modules, create_new(modules)}, {kernel, create_new(kernel)}, {NULL, -1}};
	struct output order[] = {outputs[1], outputs[0], {NULL, -1}};

	say("fetching Debian's Linux kernel for arm64 (once; half a minute)");
	fetch(folder, linux_package, convert_linux, discard_outputs, order);
	finish_outputs(outputs);
}

static void *read_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *data;

	if (fd < 0 || fstat(fd, &st))
		die(EXIT_TALLY, "cannot read %s: %s", path, strerror(errno));
	data = malloc((size_t)st.st_size + 1);
	if (!data)
		abort();
	*size = 0;
	for (ssize_t n; (n = read(fd, data + *size, (size_t)st.st_size - *size)) > 0;)
		*size += (size_t)n;
	close(fd);
	return data;
}

/* Appends a file to another. Both are at whole pages, so alignment inside is kept. */
static int append(int out, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = copy_file_range(fd, NULL, out, NULL, 1 << 30, 0)) > 0)
		;
	if (n < 0 && (errno == EXDEV || errno == EINVAL || errno == EOPNOTSUPP)) {
		char buffer[1 << 16];

		while ((n = read(fd, buffer, sizeof(buffer))) > 0 && write(out, buffer, (size_t)n) == n)
			;
	}
	if (n < 0)
		error = -errno;
	else if (n > 0)
		error = -ENOSPC;
	close(fd);
	return error;
}

/* The initial ramdisk: PID 1, then for Linux its modules, then the root image. */
static void make_initrd(const char *path, const void *init, size_t init_size, const char *modules,
			const char *root)
{
	static struct newc archive;
	int fd = create_new(path), error;

	newc_open(&archive, fd);
	newc_file(&archive, "init", 0755, 0, init, init_size);
	newc_align(&archive);
	error = newc_flush(&archive);
	if (!error && modules)
		error = append(fd, modules);
	if (!error)
		error = append(fd, root);
	if (error) {
		discard_new(fd, path);
		die(EXIT_TALLY, "cannot write %s: %s", path, strerror(-error));
	}
	finish_new(fd, path);
}

static bool there(const char *path)
{
	return access(path, R_OK) == 0;
}

/* Marks an image as in use, so that it is not removed as unused. */
static void touch(const char *path)
{
	utimensat(AT_FDCWD, path, NULL, 0);
}

void cache_images(struct images *images, const char *build, bool linux_kernel)
{
	char *folder = cache_folder(), *init_path = textf("%s/guest/init", build);
	uint64_t root_key = hash_texts(
		(const char *[]){rootfs_suite, rootfs_packages, rootfs_version, NULL});
	uint64_t linux_key =
		hash_texts((const char *[]){rootfs_suite, linux_package, rootfs_version, NULL});
	char *root = textf("%s/root-%016jx.cpio", folder, (uintmax_t)root_key);
	char *modules = textf("%s/linux-%016jx.cpio", folder, (uintmax_t)linux_key);
	size_t init_size;
	void *init = read_file(init_path, &init_size);
	uint64_t key = hash(root_key, init, init_size);
	int lock = -1;

	if (linux_kernel) {
		key = hash(key, &linux_key, sizeof(linux_key));
		images->kernel = textf("%s/linux-%016jx.img", folder, (uintmax_t)linux_key);
	} else {
		images->kernel = textf("%s/kernel/tally.img", build);
	}
	images->initrd = textf("%s/initrd-%016jx.cpio", folder, (uintmax_t)key);
	if (!there(images->initrd) || (linux_kernel && !there(images->kernel))) {
		lock = lock_cache(folder);
		remove_unused(folder);
		if (!there(root))
			make_root(folder, root);
		if (linux_kernel && (!there(modules) || !there(images->kernel)))
			make_linux(folder, images->kernel, modules);
		if (!there(images->initrd))
			make_initrd(images->initrd, init, init_size,
				    linux_kernel ? modules : NULL, root);
		close(lock);
	}
	touch(images->initrd);
	touch(root);
	if (linux_kernel) {
		touch(images->kernel);
		touch(modules);
	}
	free(init);
	free(init_path);
	free(modules);
	free(root);
	free(folder);
}
