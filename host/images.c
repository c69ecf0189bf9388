/* SPDX-License-Identifier: BSD-2-Clause */
/* Which images a run needs, and how they are put together; see images.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "fetch.h"
#include "hash.h"
#include "images.h"
#include "newc.h"
#include "ownroot.h"
#include "rootfs.h"
#include "say.h"

static const char linux_package[] = "linux-image-arm64";

/* All that a run's images are made of, and where they are in the cache. */
struct plan {
	char *folder;		/* the cache */
	struct ownroot own;	/* if there is --root */
	char *packages;		/* else: names of Debian packages, separated by commas, */
	bool added;		/* of which some are --package's, */
	char *root;		/* and the image of them */
	char *kernel, *modules; /* Debian's Linux, or NULL */
	char *initrd;
	uint64_t limit; /* bytes that it may have at most: the guest's memory */
	void *init;	/* PID 1 */
	size_t init_size;
};

struct output {
	const char *path;
	int fd;
};

static void discard_outputs(void *arg)
{
	for (struct output *output = arg; output->path; output++)
		cache_discard(output->fd, output->path);
}

static void finish_outputs(struct output *output)
{
	for (; output->path; output++)
		cache_finish(output->fd, output->path);
}

static int convert_root(int tar, void *arg)
{
	const struct output *output = arg;

	return rootfs_convert(tar, output[0].fd, false);
}

static int convert_whole_root(int tar, void *arg)
{
	const struct output *output = arg;

	return rootfs_convert(tar, output[0].fd, true);
}

static int convert_linux(int tar, void *arg)
{
	const struct output *output = arg;

	return rootfs_linux(tar, output[0].fd, output[1].fd);
}

static void make_root(const struct plan *plan)
{
	struct output outputs[] = {{plan->root, cache_create(plan->root)}, {NULL, -1}};

	fetch_packages(&(struct fetch){
		.what = plan->added ? "making a root image with the packages (once)"
				    : "making the root image of Debian's packages (once)",
		.packages = plan->packages,
		.folder = plan->folder,
		.convert = plan->added ? convert_whole_root : convert_root,
		.discard = discard_outputs,
		.arg = outputs,
	});
	finish_outputs(outputs);
}

static void make_linux(const struct plan *plan)
{
	struct output outputs[] = {{plan->kernel, cache_create(plan->kernel)},
				   {plan->modules, cache_create(plan->modules)},
				   {NULL, -1}};

	fetch_packages(&(struct fetch){
		.what = "fetching Debian's Linux kernel (once)",
		.packages = linux_package,
		.folder = plan->folder,
		.convert = convert_linux,
		.discard = discard_outputs,
		.arg = outputs,
	});
	/* The modules first: the kernel's file is the one that is looked for. */
	cache_finish(outputs[1].fd, outputs[1].path);
	cache_finish(outputs[0].fd, outputs[0].path);
}

static int append(struct newc *archive, const char *path)
{
	int fd = cache_open(path), error;

	if (fd < 0)
		return -errno;
	error = newc_append(archive, fd);
	close(fd);
	return error;
}

/* The initial ramdisk: PID 1, then for Linux its modules, then the root. */
static void make_initrd(const struct plan *plan)
{
	static struct newc archive; /* large for a stack */
	int fd = cache_create(plan->initrd), error;
	char *wrong = NULL;

	newc_open(&archive, fd);
	newc_file(&archive, "init", 0755, NEWC_TIME, plan->init, plan->init_size);
	newc_align(&archive);
	error = newc_flush(&archive);
	if (!error && plan->modules)
		error = append(&archive, plan->modules);
	if (!error && plan->root)
		error = append(&archive, plan->root);
	if (!error && !plan->root) {
		wrong = ownroot_write(&plan->own, &archive, plan->limit);
		error = wrong ? 0 : newc_close(&archive);
	}
	if (wrong || error)
		cache_discard(fd, plan->initrd);
	if (wrong)
		die(EXIT_TALLY, "--root %s: %s", plan->own.path, wrong);
	if (error)
		die(EXIT_TALLY, "cannot write %s: %s", plan->initrd, strerror(-error));
	cache_finish(fd, plan->initrd);
}

static bool there(const char *path)
{
	return access(path, R_OK) == 0;
}

static void make_missing(const struct plan *plan)
{
	if (plan->root && !there(plan->root))
		make_root(plan);
	if (plan->kernel && (!there(plan->modules) || !there(plan->kernel)))
		make_linux(plan);
	if (!there(plan->initrd))
		make_initrd(plan);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The list for mmdebstrap. The same packages in another order are the same set. */
static char *list_packages(const struct texts *added)
{
	char *list = textf("%s", rootfs_packages), *longer;
	const char **names = calloc(added->count + 1, sizeof(*names));

	if (!names)
		abort();
	for (size_t i = 0; i < added->count; i++)
		names[i] = added->at[i];
	qsort(names, added->count, sizeof(*names), compare);
	for (size_t i = 0; i < added->count; i++) {
		if (i > 0 && strcmp(names[i], names[i - 1]) == 0)
			continue;
		longer = textf("%s,%s", list, names[i]);
		free(list);
		list = longer;
	}
	free(names);
	return list;
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

static uint64_t plan_root(struct plan *plan, const struct texts *added)
{
	uint64_t key = hash_text(HASH_START, rootfs_suite);

	plan->packages = list_packages(added);
	plan->added = added->count > 0;
	key = hash_text(hash_text(key, plan->packages), rootfs_version);
	plan->root = textf("%s/root-%016jx.cpio", plan->folder, (uintmax_t)key);
	return key;
}

static uint64_t plan_linux(struct plan *plan)
{
	uint64_t key = hash_text(HASH_START, rootfs_suite);

	key = hash_text(hash_text(key, linux_package), rootfs_linux_version);
	plan->kernel = textf("%s/linux-%016jx.img", plan->folder, (uintmax_t)key);
	plan->modules = textf("%s/linux-%016jx.cpio", plan->folder, (uintmax_t)key);
	return key;
}

static void make_plan(struct plan *plan, const char *build, const struct options *options)
{
	char *init = textf("%s/guest/init", build);
	uint64_t key, linux_key;

	*plan = (struct plan){.folder = cache_folder(),
			      .limit = (uint64_t)options->memory_mb << 20};
	plan->init = read_file(init, &plan->init_size);
	free(init);
	if (options->root) {
		ownroot_find(&plan->own, options->root);
		key = plan->own.key;
	} else {
		key = plan_root(plan, &options->packages);
	}
	key = hash_bytes(key, plan->init, plan->init_size);
	if (options->linux_kernel) {
		linux_key = plan_linux(plan);
		key = hash_bytes(key, &linux_key, sizeof(linux_key));
	}
	plan->initrd = textf("%s/initrd-%016jx.cpio", plan->folder, (uintmax_t)key);
}

static void free_plan(struct plan *plan)
{
	free(plan->folder);
	free(plan->packages);
	free(plan->root);
	free(plan->kernel);
	free(plan->modules);
	free(plan->initrd);
	free(plan->init);
}

/* Marks what went into the ramdisk as used, so that a change of PID 1 fetches nothing. */
static void keep(const char *path)
{
	if (path)
		close(cache_open(path));
}

/*
 * QEMU puts the ramdisk 128 MB from the start of memory. Tally runs files where they lie in it;
 * Linux copies them into a file system that may take up half of the memory.
 */
static void check_room(const struct images *images, const struct options *options)
{
	const unsigned int least = 136; /* MB, for the kernel and what it needs to begin with */
	unsigned int size, need, better = 256;
	struct stat st;

	if (fstat(images->initrd, &st))
		return;
	size = (unsigned int)(st.st_size >> 20) + 1;
	need = options->linux_kernel ? 2 * size + least : size + least;
	if (options->memory_mb >= need)
		return;
	while (better < need + need / 4)
		better *= 2;
	die(EXIT_TALLY, "the root takes up %u MB, for which --mem %s is too little; try --mem %uM",
	    size, options->memory, better);
}

void images_open(struct images *images, const char *build, const struct options *options)
{
	struct plan plan;

	make_plan(&plan, build, options);
	images->initrd = plan.kernel && !there(plan.kernel) ? -1 : cache_open(plan.initrd);
	if (images->initrd < 0) {
		int lock = cache_lock(plan.folder);

		make_missing(&plan);
		images->initrd = cache_open(plan.initrd);
		if (images->initrd < 0)
			die(EXIT_TALLY, "cannot read %s: %s", plan.initrd, strerror(errno));
		close(lock);
	}
	keep(plan.root);
	keep(plan.modules);
	keep(plan.kernel);
	images->kernel =
		plan.kernel ? textf("%s", plan.kernel) : textf("%s/kernel/tally.img", build);
	free_plan(&plan);
	check_room(images, options);
}

bool images_have_root(void)
{
	struct plan plan = {.folder = cache_folder()};
	const struct texts none = {NULL, 0};
	bool have;

	plan_root(&plan, &none);
	have = there(plan.root);
	free_plan(&plan);
	return have;
}

bool images_have_linux(void)
{
	struct plan plan = {.folder = cache_folder()};
	bool have;

	plan_linux(&plan);
	have = there(plan.kernel) && there(plan.modules);
	free_plan(&plan);
	return have;
}
