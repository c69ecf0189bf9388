/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /sys: the tree, and the ways for other parts to add to it (sysfs(5)). What
 * it says of the CPUs is in sysfs_cpu.c.
 */
#include "fs/fs.h"
#include "fs/pseudo.h"
#include "fs/sysfs.h"
#include <linux/magic.h>

static struct pseudo_fs sysfs;

int sysfs_add(const char *dir, const struct pseudo_file *pf)
{
	return pseudo_add(&sysfs, dir, pf);
}

int sysfs_symlink(const char *path, const char *target)
{
	return pseudo_symlink(&sysfs, path, target);
}

int sysfs_add_lazy(const char *path, const struct pseudo_blob *blob)
{
	return pseudo_add_blob(&sysfs, path, blob);
}

int sysfs_add_blob(const char *path, const void *data, size_t n)
{
	return sysfs_add_lazy(path, &(struct pseudo_blob){ .data = data, .size = n, .mode = 0444 });
}

int sysfs_mkdir(const char *path)
{
	return pseudo_make(&sysfs, path, PSEUDO_DIR) ? 0 : -ENOMEM;
}

static struct super *sysfs_get(const char *source, const char *options)
{
	(void)source;
	(void)options;
	return &sysfs.sb;
}

/* The linker puts the build id note between these. */
extern const u8 __start_notes[], __stop_notes[];

void sysfs_init(void)
{
	static struct fs_type type = { .name = "sysfs", .get = sysfs_get };
	int err = pseudo_setup(&sysfs, "sysfs", "sysfs", SYSFS_MAGIC, NULL, NULL);

	if (err || fs_mount_at(&sysfs.sb, "/sys"))
		panic("/sys cannot be mounted");
	if (sysfs_mkdir("bus/event_source/devices") || sysfs_mkdir("fs") || sysfs_mkdir("kernel"))
		panic("no memory for /sys");
	if (sysfs_add_blob("kernel/notes", __start_notes, (size_t)(__stop_notes - __start_notes)))
		panic("no memory for /sys/kernel/notes");
	sysfs_cpu_init();
	fs_type_register(&type);
}
