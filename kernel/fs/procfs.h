/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the files of procfs; others use procfs_add() of fs/pseudo.h.
 *
 * procfs.c        the file system: its root, /proc/PID and what hangs below
 * procfs_fd.c     fd/, fdinfo/, task/
 * procfs_pid.c    the small files of a process
 * procfs_stat.c   stat, status, statm
 * procfs_maps.c   maps, smaps
 * procfs_mounts.c mounts, mountinfo
 * procfs_sys.c    files about the whole system
 * procfs_sysctl.c /proc/sys
 */
#ifndef TALLY_FS_PROCFS_H
#define TALLY_FS_PROCFS_H

#include "fs/fs.h"
#include "fs/pseudo.h"
#include "proc/task.h"

/*
 * An entry of /proc/PID or /proc/PID/task/TID. `whole`: the figures of the
 * process are wanted, not those of the one thread. All calls are for a task
 * that is still in the table of ids; it may be a zombie.
 */
struct pid_entry {
	const char *name;
	mode_t mode; /* with its type */
	int (*show)(struct seq *s, struct task *t, bool whole);
	int (*store)(struct task *t, const char *text, size_t n);
	int (*follow)(struct task *t, struct dentry **out); /* magic links */
	const struct inode_ops *dir_ops;		   /* directories */
	const struct file_ops *dir_fops;
	bool guarded;	   /* asks for ptrace_may_access() */
	bool process_only; /* not in task/TID */
};
extern const struct pid_entry pid_entries[];
extern const unsigned nr_pid_entries;

/* inode->priv below /proc/PID */
struct pid_inode {
	struct task *task; /* referenced */
	bool whole;
	const struct pid_entry *entry; /* NULL: the directory of the task itself, or an entry of fd/ */
	int fd;
};
static inline struct pid_inode *pid_inode(const struct inode *ino)
{
	return ino->priv;
}
/* The task of the inode, or NULL when its id has been given back. */
struct task *pid_inode_task(const struct inode *ino);
/*
 * A new inode for t. Inode numbers: the id, then what it is: 0 the directory, 1.. the entries,
 * from PID_INO_FD on the descriptors.
 */
struct inode *pid_inode_new(struct super *sb, struct task *t, bool whole, mode_t mode,
			    const struct pid_entry *entry, u64 what);
#define PID_INO_FD     0x1000u
#define PID_INO_FDINFO 0x800000u
static inline ino_t pid_ino(pid_t tid, u64 what)
{
	return (u64)tid << 24 | what;
}
/* The directory /proc/PID, or /proc/PID/task/TID when not `whole`. */
struct inode *pid_dir_inode(struct super *sb, struct task *t, bool whole);

/* -ENOENT when s is not a number or too large. */
int parse_id(const char *s, unsigned *out);
/* A task's descriptor table entry without a reference, or NULL. */
struct file *task_fd(struct task *t, unsigned fd, bool *cloexec);
void seq_escape(struct seq *s, const char *text, const char *special);

extern const struct inode_ops fd_dir_ops, fdinfo_dir_ops, task_dir_ops;
extern const struct file_ops fd_dir_fops, fdinfo_dir_fops, task_dir_fops;

int show_stat(struct seq *s, struct task *t, bool whole);
int show_status(struct seq *s, struct task *t, bool whole);
int show_statm(struct seq *s, struct task *t, bool whole);
int show_maps(struct seq *s, struct task *t, bool whole);
int show_smaps(struct seq *s, struct task *t, bool whole);
/* Pages of an address space that are present, by what is behind them. */
struct rss {
	u64 anon, file, shmem;
};
void mm_count_rss(struct mm *mm, struct rss *rss);
void vma_count_rss(struct vma *vma, struct rss *rss);

/* Both add their files at boot. 0 or -ENOMEM. */
int procfs_sys_init(void);
int procfs_sysctl_init(void);
int show_mounts(struct seq *s, struct task *t, bool whole);
int show_mountinfo(struct seq *s, struct task *t, bool whole);
int mount_id(const struct super *sb); /* 0: mounted nowhere (pipes, sockets) */

/* /proc/sys/kernel/kptr_restrict */
int *kptr_restrict_knob(void);

#define USER_TICK_NS 10000000ULL /* USER_HZ is 100 */

#endif
