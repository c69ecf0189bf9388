/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/PID/mounts and mountinfo. A mount's id is its place in the order of mounting, from 1 on. */
#include "fs/procfs.h"
#include <utlist.h>

#define MAJOR(dev) ((unsigned)((dev) >> 8) & 0xfff)
#define MINOR(dev) (((unsigned)(dev)&0xff) | ((unsigned)((dev) >> 12) & 0xfff00))

int mount_id(const struct super *sb)
{
	struct super *i;
	int id = 1;

	DL_FOREACH(all_supers, i) {
		if (i == sb)
			return id;
		id++;
	}
	return 0;
}

/* Where it is mounted; spaces and the like as octal escapes. */
static int show_mount_point(struct seq *s, const struct super *sb)
{
	char *buf = kmalloc(PATH_MAX), *path;

	if (!buf)
		return -ENOMEM;
	path = sb->mounted_on ? dentry_path(sb->mounted_on, buf, PATH_MAX) : "/";
	seq_escape(s, IS_ERR(path) ? "/" : path, " \t\n\\");
	kfree(buf);
	return 0;
}

int show_mounts(struct seq *s, struct task *t, bool whole)
{
	struct super *sb;
	int err = 0;

	DL_FOREACH(all_supers, sb) {
		seq_escape(s, sb->source, " \t\n\\#");
		seq_printf(s, " ");
		err = show_mount_point(s, sb);
		if (err)
			break;
		seq_printf(s, " %s %s 0 0\n", sb->type, sb->options);
	}
	return err;
}

int show_mountinfo(struct seq *s, struct task *t, bool whole)
{
	struct super *sb;
	int err = 0;

	DL_FOREACH(all_supers, sb) {
		int parent = sb->mounted_on ? mount_id(sb->mounted_on->sb) : mount_id(sb);

		seq_printf(s, "%d %d %u:%u / ", mount_id(sb), parent, MAJOR(sb->dev),
			   MINOR(sb->dev));
		err = show_mount_point(s, sb);
		if (err)
			break;
		seq_printf(s, " %s - %s ", sb->options, sb->type);
		seq_escape(s, sb->source, " \t\n\\#");
		seq_printf(s, " %s\n", strncmp(sb->options, "ro", 2) ? "rw" : "ro");
	}
	return err;
}
