/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pseudo file systems: a tree of directories and files whose text is made when
 * they are read. procfs and sysfs are built of these; so can any part of the
 * kernel add its own (perf's sysctls, sysfs entries of a PMU).
 */
#ifndef TALLY_FS_PSEUDO_H
#define TALLY_FS_PSEUDO_H

#include "fs/vfs.h"

struct pseudo_file {
	const char *name;
	mode_t mode; /* permission bits */
	int (*show)(struct seq *s, void *arg);			/* 0 or -errno */
	int (*store)(const char *text, size_t n, void *arg);	/* text is NUL-ended; NULL: -EACCES/-EIO */
	void *arg;
};

/* Directories are made as needed. `dir` relative to the root of the file system, "" for it. 0 or -errno. */
int procfs_add(const char *dir, const struct pseudo_file *pf);
int sysfs_add(const char *dir, const struct pseudo_file *pf);
int sysfs_symlink(const char *path, const char *target);
/* A file of fixed bytes in memory (/sys/kernel/notes). Not copied. */
int sysfs_add_blob(const char *path, const void *data, size_t n);
/* A file of n bytes that `read` fetches when they are wanted (fw_cfg items). */
struct pseudo_blob {
	const void *data; /* NULL: use read */
	size_t size;
	mode_t mode; /* permission bits */
	/* Kernel buffer, off + n <= size. 0 or -errno. */
	int (*read)(const struct pseudo_blob *b, void *buf, size_t n, size_t off);
	u64 arg;
};
int sysfs_add_lazy(const char *path, const struct pseudo_blob *blob);

/* ---- for the file systems made of it (procfs, sysfs) ---- */

struct pseudo_node {
	char *name;
	enum { PSEUDO_DIR, PSEUDO_FILE, PSEUDO_LINK, PSEUDO_BLOB } kind;
	mode_t mode;
	ino_t ino;
	u32 nlink;
	struct pseudo_node *parent, *children, *next, *prev; /* utlist */
	struct pseudo_fs *fs;
	struct pseudo_file file;
	struct pseudo_blob blob;
	char *target;
	/* a directory or link with operations of its own (procfs); NULL: pseudo.c's */
	const struct inode_ops *ops;
	const struct file_ops *fops;
};
struct pseudo_fs {
	struct super sb;
	struct pseudo_node root;
};
/* Makes the file system; `ops` and `fops` of the root, or NULL. 0 or -ENOMEM. */
int pseudo_setup(struct pseudo_fs *fs, const char *type, const char *source, u32 magic,
		 const struct inode_ops *root_ops, const struct file_ops *root_fops);
int pseudo_add(struct pseudo_fs *fs, const char *dir, const struct pseudo_file *pf);
int pseudo_add_blob(struct pseudo_fs *fs, const char *path, const struct pseudo_blob *blob);
int pseudo_symlink(struct pseudo_fs *fs, const char *path, const char *target);
/* The node of that path, directories on the way made. NULL: no memory, or something else has the name. */
struct pseudo_node *pseudo_make(struct pseudo_fs *fs, const char *path, int kind);
/* dir's node by name into d, as an inode_ops.lookup does. */
int pseudo_lookup(struct pseudo_node *dir, struct dentry *d);
/* Gives the children of a node with positions from 2 on; *next: the first position behind them. False: buffer full. */
bool pseudo_emit(struct pseudo_node *dir, struct file *f, struct dir_sink *s, loff_t *next);

/* Text of an open file, in f->priv: made at the first read, and again by a read at position 0. */
struct pseudo_text {
	struct seq seq;
	bool filled;
};
int pseudo_text_open(struct file *f);
void pseudo_text_release(struct file *f);
ssize_t pseudo_text_read(struct file *f, void *ubuf, size_t n, loff_t *pos,
			 int (*show)(struct seq *s, void *arg), void *arg);
/* What is written, as a string: *text is kmalloc'ed, for the caller to free. -EINVAL: longer than a page. */
int pseudo_text_write(const void *ubuf, size_t n, char **text);

/* Makes the directory if it is not there, and mounts. */
int fs_mount_at(struct super *sb, const char *path);

#endif
