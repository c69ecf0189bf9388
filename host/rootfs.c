/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The root image. Its rules:
 * - /bin, /sbin and /lib are links into /usr, as on every Debian since bookworm.
 * - A hard link becomes a symbolic one: a reader of the archive need not know inode numbers.
 * - binutils' programs have their plain names (objdump), and not the long ones as well.
 * - No time is later than the guest's clock at its start (NEWC_TIME), and what has no time of
 *   its own has that one, so that the same packages always make the same image.
 * - Everything belongs to root; there are no devices, which are the kernel's to show.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <uthash.h>

#include "alternatives.h"
#include "ldcache.h"
#include "newc.h"
#include "rootfs.h"

const char rootfs_suite[] = "bookworm";
const char rootfs_version[] = "5";
const char rootfs_linux_version[] = "4";

const char rootfs_packages[] =
	"base-files,bash,binutils,bsdutils,busybox-static,coreutils,dash,debianutils,diffutils,"
	"findutils,grep,gzip,hostname,less,libc-bin,linux-perf,mawk,mount,ncurses-base,ncurses-bin,"
	"papi-tools,perl-base,procps,python3,sed,strace,tar,util-linux";

/* What no image needs (fnmatch(3); '*' also stands for '/'). */
static const char *const left_out[] = {
	"boot/*",
	"dev/*",
	"etc/alternatives/*",
	"etc/apt*",
	"etc/cron*",
	"etc/dpkg*",
	"etc/init.d*",
	"etc/logrotate.d*",
	"etc/pam.d*",
	"etc/rc[0-9S].d*",
	"etc/rmt",
	"etc/systemd*",
	"etc/update-motd.d*",
	"usr/bin/deb*-*",
	"usr/bin/gp-*",
	"usr/bin/debconf",
	"usr/bin/dpkg*",
	"usr/lib/aarch64-linux-gnu/gprofng*",
	"usr/lib/aarch64-linux-gnu/libgprofng*",
	"usr/lib/python3*/test*",
	"usr/lib/python3*/lib-dynload/*test*",
	"usr/lib/apt*",
	"usr/lib/dpkg*",
	"usr/lib/init*",
	"usr/lib/mime*",
	"usr/lib/systemd*",
	"usr/lib/udev*",
	"usr/libexec/dpkg*",
	"usr/sbin/*getty",
	"usr/sbin/*-shell*",
	"usr/sbin/dpkg*",
	"usr/sbin/iconvconfig",
	"usr/sbin/installkernel",
	"usr/sbin/invoke-rc.d",
	"usr/sbin/service",
	"usr/sbin/start-stop-daemon",
	"usr/sbin/update-rc.d",
	"usr/share/apport*",
	"usr/share/base-files*",
	"usr/share/bash-completion*",
	"usr/share/binfmts*",
	"usr/share/bug*",
	"usr/share/debconf*",
	"usr/share/debianutils*",
	"usr/share/doc*",
	"usr/share/dpkg*",
	"usr/share/info*",
	"usr/share/lintian*",
	"usr/share/locale*",
	"usr/share/man/*",
	"usr/share/menu*",
	"usr/share/pixmaps*",
	"usr/share/polkit*",
	"usr/share/zsh*",
	"*/__pycache__*",
	"var/cache/apt*",
	"var/lib/apt*",
	"var/lib/dpkg*",
};

/* What besides is left out where no packages are added to the list above, to start sooner. */
static const char *const trimmed[] = {
	"etc/perl*",
	"usr/bin/as",
	"usr/bin/cpan*",
	"usr/bin/dwp",
	"usr/bin/elfedit",
	"usr/bin/gold",
	"usr/bin/gprof*",
	"usr/bin/ld",
	"usr/bin/ld.*",
	"usr/bin/localedef",
	"usr/bin/perl5*-aarch64-linux-gnu",
	"usr/bin/pydoc3*",
	"usr/games*",
	"usr/include*",
	"usr/lib/aarch64-linux-gnu/gconv*",
	"usr/lib/aarch64-linux-gnu/ldscripts*",
	"usr/lib/aarch64-linux-gnu/perl/*",
	"usr/lib/aarch64-linux-gnu/security*",
	"usr/lib/compat-ld*",
	"usr/lib/gold-ld*",
	"usr/lib/python3/dist-packages/debpython*",
	"usr/lib/python3*/ensurepip*",
	"usr/lib/python3*/idlelib*",
	"usr/lib/python3*/lib2to3*",
	"usr/lib/python3*/pydoc_data*",
	"usr/lib/python3*/tkinter*",
	"usr/lib/python3*/turtledemo*",
	"usr/sbin/zic",
	"usr/share/dict*",
	"usr/share/gcc*",
	"usr/share/gdb*",
	"usr/share/i18n*",
	"usr/share/perl/*",
	"usr/share/perl5*",
	"usr/src*",
	"*.a",
	"usr/sbin/fsck*",
	"usr/sbin/mkfs*",
	"var/cache/*",
	"var/lib/*",
};

/* What the maintainer scripts of base-files, base-passwd and netbase set up. */
static const struct {
	const char *path, *text;
} files[] = {
	{"etc/passwd", "root:x:0:0:root:/root:/bin/bash\n"
		       "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
		       "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
	{"etc/group", "root:x:0:\ndaemon:x:1:\ntty:x:5:\nusers:x:100:\nnogroup:x:65534:\n"},
	{"etc/hostname", "tally\n"},
	{"etc/hosts", "127.0.0.1\tlocalhost tally\n"},
	{"etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"},
	{"etc/fstab", ""},
	{"etc/shells", "/bin/sh\n/bin/bash\n"},
};

static const struct {
	const char *path, *target;
} links[] = {
	{"bin", "usr/bin"},
	{"sbin", "usr/sbin"},
	{"lib", "usr/lib"},
	{"etc/mtab", "../proc/self/mounts"},
};

static const struct {
	const char *path;
	mode_t mode;
} folders[] = {
	{"dev", 0755},	 {"home", 0755}, {"mnt", 0755},	 {"proc", 0555},      {"root", 0700},
	{"run", 0755},	 {"sys", 0555},	 {"tmp", 01777}, {"var/cache", 0755}, {"var/lib", 0755},
	{"var/tmp", 01777},
};

/* A path that is in the image already. */
struct seen {
	UT_hash_handle hh;
	char path[];
};

struct image {
	struct newc out;
	struct seen *seen;
	struct ldcache libraries;
	bool whole;    /* nothing is trimmed */
	char *scripts; /* the postinst scripts of all packages, or NULL */
};

static bool is_there(const struct image *image, const char *path)
{
	struct seen *seen;

	HASH_FIND(hh, image->seen, path, strlen(path), seen);
	return seen != NULL;
}

/* Notes that `path` is in the image; false if it was before. */
static bool first_time(struct image *image, const char *path)
{
	size_t length = strlen(path);
	struct seen *seen;

	if (is_there(image, path))
		return false;
	seen = malloc(sizeof(*seen) + length + 1);
	if (!seen)
		abort();
	memcpy(seen->path, path, length + 1);
	HASH_ADD_KEYPTR(hh, image->seen, seen->path, length, seen);
	return true;
}

/* The folders above `path` come before it. */
static void add_parents(struct image *image, const char *path)
{
	char parent[4096];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
		if (first_time(image, parent))
			newc_directory(&image->out, parent, 0755, NEWC_TIME);
	}
}

/* How binutils' programs are called in its package; the plain names are links to these. */
static const char long_name[] = "aarch64-linux-gnu-";

static bool is_long(const char *name)
{
	return strncmp(name, long_name, sizeof(long_name) - 1) == 0;
}

/* The path in the image of a path in the packages: without "./", below usr, by its plain name. */
static void place(const struct image *image, const char *from, char *to, size_t size)
{
	static const char *const moved[] = {"bin", "sbin", "lib"};
	static const char programs[] = "usr/bin/";

	if (strncmp(from, "./", 2) == 0)
		from += 2;
	from += strspn(from, "/");
	snprintf(to, size, "%s", from);
	for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
		size_t length = strlen(moved[i]);

		if (strncmp(from, moved[i], length) == 0 && (!from[length] || from[length] == '/'))
			snprintf(to, size, "usr/%s", from);
	}
	if (!image->whole && strncmp(to, programs, sizeof(programs) - 1) == 0 &&
	    is_long(to + sizeof(programs) - 1)) {
		char *name = to + sizeof(programs) - 1, *plain = name + sizeof(long_name) - 1;

		memmove(name, plain, strlen(plain) + 1);
	}
	for (size_t end = strlen(to); end > 0 && to[end - 1] == '/'; end--)
		to[end - 1] = '\0';
}

static bool matches(const char *path, const char *const *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fnmatch(patterns[i], path, 0) == 0)
			return true;
	}
	return false;
}

static bool wanted(const struct image *image, const char *path)
{
	if (!*path || matches(path, left_out, sizeof(left_out) / sizeof(left_out[0])))
		return false;
	return image->whole || !matches(path, trimmed, sizeof(trimmed) / sizeof(trimmed[0]));
}

static uint32_t time_of(struct archive_entry *entry)
{
	time_t time = archive_entry_mtime(entry);

	return time < 0 || time > NEWC_TIME ? NEWC_TIME : (uint32_t)time;
}

/* Copies a regular file out of the tar archive. Returns 0 or a negative errno. */
static int copy_file(struct archive *tar, struct newc *out, const char *path,
		     struct archive_entry *entry)
{
	struct newc_entry file = {
		.path = path,
		.mode = S_IFREG | (archive_entry_perm(entry) & 0777),
		.mtime = time_of(entry),
		.size = (uint64_t)archive_entry_size(entry),
	};
	char buffer[1 << 16];
	la_ssize_t n;

	newc_entry(out, &file);
	while ((n = archive_read_data(tar, buffer, sizeof(buffer))) > 0) {
		newc_data(out, buffer, (size_t)n);
		file.size -= (uint64_t)n;
	}
	return n < 0 || file.size ? -EBADMSG : 0;
}

static void add_hard_link(struct image *image, const char *path, const char *target)
{
	char to[4096] = "/";

	place(image, target, to + 1, sizeof(to) - 1);
	newc_symlink(&image->out, path, to, NEWC_TIME);
}

/* The postinst scripts are no part of the image. */
static int keep_scripts(struct image *image, struct archive *tar, struct archive_entry *entry)
{
	size_t size = (size_t)archive_entry_size(entry);

	free(image->scripts);
	image->scripts = calloc(1, size + 1);
	if (!image->scripts)
		return -ENOMEM;
	return archive_read_data(tar, image->scripts, size) == (la_ssize_t)size ? 0 : -EBADMSG;
}

/* Packages of Debian have their libraries here, by the names that programs ask for. */
static void note_library(struct image *image, const char *path)
{
	static const char folder[] = "usr/lib/aarch64-linux-gnu/";
	const size_t length = sizeof(folder) - 1;
	char library[4097];

	if (strncmp(path, folder, length) == 0 && !strchr(path + length, '/')) {
		snprintf(library, sizeof(library), "/lib/%s", path + strlen("usr/lib/"));
		ldcache_add(&image->libraries, library);
	}
}

static int add_entry(struct image *image, struct archive *tar, struct archive_entry *entry)
{
	char path[4096];
	mode_t type = archive_entry_filetype(entry);

	place(image, archive_entry_pathname(entry), path, sizeof(path));
	if (strcmp(path, ROOTFS_SCRIPTS) == 0)
		return keep_scripts(image, tar, entry);
	if (!wanted(image, path) ||
	    (!image->whole && type == AE_IFLNK && is_long(archive_entry_symlink(entry))))
		return 0;
	add_parents(image, path);
	if (!first_time(image, path))
		return 0;
	note_library(image, path);
	if (archive_entry_hardlink(entry))
		add_hard_link(image, path, archive_entry_hardlink(entry));
	else if (type == AE_IFLNK)
		newc_symlink(&image->out, path, archive_entry_symlink(entry), time_of(entry));
	else if (type == AE_IFDIR)
		newc_directory(&image->out, path, archive_entry_perm(entry) & 01777, NEWC_TIME);
	else if (type == AE_IFREG)
		return copy_file(tar, &image->out, path, entry);
	return 0;
}

/* The best of the alternatives that are there has the name, unless a package has it. */
static void add_alternatives(struct image *image)
{
	struct alternatives all;

	alternatives_read(&all, image->scripts ? image->scripts : "");
	for (size_t i = 0; i < all.count; i++) {
		char link[4096], path[4096];

		place(image, all.at[i].link, link, sizeof(link));
		place(image, all.at[i].path, path, sizeof(path));
		if (!is_there(image, path) || is_there(image, link))
			continue;
		add_parents(image, link);
		first_time(image, link);
		newc_symlink(&image->out, link, all.at[i].path, NEWC_TIME);
		note_library(image, link);
	}
	alternatives_free(&all);
}

/* What no package holds; these come first and win over what one has. */
static void add_own(struct image *image)
{
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		add_parents(image, folders[i].path);
		first_time(image, folders[i].path);
		newc_directory(&image->out, folders[i].path, folders[i].mode, NEWC_TIME);
	}
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		add_parents(image, links[i].path);
		first_time(image, links[i].path);
		newc_symlink(&image->out, links[i].path, links[i].target, NEWC_TIME);
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		add_parents(image, files[i].path);
		first_time(image, files[i].path);
		newc_file(&image->out, files[i].path, 0644, NEWC_TIME, files[i].text,
			  strlen(files[i].text));
	}
}

static void add_library_cache(struct image *image)
{
	size_t size;
	void *file = ldcache_build(&image->libraries, &size);

	if (first_time(image, "etc/ld.so.cache"))
		newc_file(&image->out, "etc/ld.so.cache", 0644, NEWC_TIME, file, size);
	free(file);
}

static struct archive *open_tar(int fd)
{
	struct archive *tar = archive_read_new();

	if (!tar)
		abort();
	archive_read_support_format_tar(tar);
	if (archive_read_open_fd(tar, fd, 1 << 16) != ARCHIVE_OK) {
		archive_read_free(tar);
		return NULL;
	}
	return tar;
}

int rootfs_convert(int fd, int out, bool whole)
{
	static struct image image;
	struct archive *tar = open_tar(fd);
	struct archive_entry *entry;
	struct seen *seen, *next;
	int status = ARCHIVE_OK, error = 0;

	if (!tar)
		return -EBADMSG;
	image.whole = whole;
	newc_open(&image.out, out);
	add_own(&image);
	while (!error && (status = archive_read_next_header(tar, &entry)) == ARCHIVE_OK)
		error = add_entry(&image, tar, entry);
	if (!error && status != ARCHIVE_EOF)
		error = -EBADMSG;
	archive_read_free(tar);
	add_alternatives(&image);
	free(image.scripts);
	add_library_cache(&image);
	ldcache_free(&image.libraries);
	HASH_ITER(hh, image.seen, seen, next) {
		HASH_DEL(image.seen, seen);
		free(seen);
	}
	if (newc_close(&image.out))
		return -image.out.error;
	return error;
}

/* In the order in which PID 1 loads them. */
static const char *const modules[] = {"virtio_mmio.ko", "virtio_console.ko", "qemu_fw_cfg.ko",
				      "netfs.ko",	"fscache.ko",	     "9pnet.ko",
				      "9pnet_virtio.ko", "9p.ko"};

static int copy_module(struct archive *tar, struct archive_entry *entry, struct newc *out,
		       unsigned int *found)
{
	const char *name = strrchr(archive_entry_pathname(entry), '/');
	char path[128];

	for (unsigned int i = 0; name && i < sizeof(modules) / sizeof(modules[0]); i++) {
		if (strcmp(name + 1, modules[i]) != 0)
			continue;
		*found |= 1u << i;
		snprintf(path, sizeof(path), ROOTFS_MODULES "/%u-%s", i, modules[i]);
		return copy_file(tar, out, path, entry);
	}
	return 0;
}

int rootfs_linux(int fd, int kernel, int out)
{
	static struct newc image;
	struct archive *tar = open_tar(fd);
	struct archive_entry *entry;
	const unsigned int all = 1u << (sizeof(modules) / sizeof(modules[0]));
	unsigned int found = 0;
	int status = ARCHIVE_OK, error = 0;

	if (!tar)
		return -EBADMSG;
	newc_open(&image, out);
	newc_directory(&image, ROOTFS_MODULES, 0755, NEWC_TIME);
	while (!error && (status = archive_read_next_header(tar, &entry)) == ARCHIVE_OK) {
		const char *path = archive_entry_pathname(entry);

		if (fnmatch("./boot/vmlinuz-*", path, 0) == 0) {
			found |= all;
			error = archive_read_data_into_fd(tar, kernel) == ARCHIVE_OK ? 0 : -EIO;
		} else if (fnmatch("./lib/modules/*.ko", path, 0) == 0) {
			error = copy_module(tar, entry, &image, &found);
		}
	}
	if (!error && status != ARCHIVE_EOF)
		error = -EBADMSG;
	archive_read_free(tar);
	newc_align(&image);
	if (newc_flush(&image))
		return -image.error;
	if (error)
		return error;
	return found == 2 * all - 1 ? 0 : -ENOENT;
}
