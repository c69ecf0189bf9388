/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files: inodes, names (dentries), open files, descriptors, and the tables of
 * operations that a file system or a device fills in.
 * All calls: process context, big lock held, may sleep, unless said otherwise.
 */
#ifndef TALLY_FS_VFS_H
#define TALLY_FS_VFS_H

#include "lib/kernel.h"
#include "proc/sched.h"
#include <asm/stat.h>
#include <asm/statfs.h>
#include <linux/fcntl.h>
#include <linux/stat.h>
#include <uthash.h>

struct inode;
struct dentry;
struct file;
struct vma;
struct page;
struct poll_table;
struct seq;

struct super {
	const char *type;	/* "tmpfs", "proc", "sysfs", "devtmpfs" */
	const char *source;
	u32 magic;
	dev_t dev;		/* st_dev of its inodes */
	struct dentry *root;
	struct dentry *mounted_on; /* NULL for the root */
	ino_t next_ino;
	const char *options;
	int (*statfs)(struct super *sb, struct statfs64 *out);
	void (*sync)(struct super *sb); /* what is only here goes to where it is kept. NULL: nothing is */
	struct super *next, *prev; /* of all mounts, for /proc/mounts */
};

#define ATTR_CHANGED_MODE  1u
#define ATTR_CHANGED_UID   2u
#define ATTR_CHANGED_GID   4u
#define ATTR_CHANGED_ATIME 8u
#define ATTR_CHANGED_MTIME 16u

struct inode_ops {
	/* A child of directory dir: a new inode with a reference in *out, or -ENOENT. NULL op: children live in the dentry tree only (tmpfs). */
	int (*lookup)(struct inode *dir, struct dentry *d);
	/* Does the child still stand for what the file system has by its name? False: it loses its name. NULL: always. */
	bool (*revalidate)(struct inode *dir, struct dentry *d);
	/* Make things; `d` is a negative dentry under dir. They set d->inode. NULL op: -EPERM/-EROFS. */
	int (*create)(struct inode *dir, struct dentry *d, mode_t mode);
	int (*mkdir)(struct inode *dir, struct dentry *d, mode_t mode);
	int (*mknod)(struct inode *dir, struct dentry *d, mode_t mode, dev_t rdev);
	int (*symlink)(struct inode *dir, struct dentry *d, const char *target);
	int (*link)(struct inode *dir, struct dentry *d, struct inode *target);
	int (*unlink)(struct inode *dir, struct dentry *d);
	int (*rmdir)(struct inode *dir, struct dentry *d);
	int (*rename)(struct inode *olddir, struct dentry *oldd, struct inode *newdir, struct dentry *newd);
	/* The target of a symbolic link into buf (not ended by NUL): its length. */
	ssize_t (*readlink)(struct inode *ino, char *buf, size_t size);
	/* "magic" links of /proc (exe, cwd, fd/N): the place itself, referenced. NULL: use readlink. */
	int (*follow)(struct inode *ino, struct dentry **out);
	int (*truncate)(struct inode *ino, loff_t size);
	/*
	 * Mode, owner or times of the inode have got new values: ATTR_CHANGED_*. An error takes them back.
	 * NULL: they are kept nowhere else.
	 */
	int (*attr_changed)(struct inode *ino, u32 what);
	/* Fills size, times etc. just before stat. May be NULL. */
	void (*refresh)(struct inode *ino);
	void (*evict)(struct inode *ino); /* last reference gone and nlink 0, or a pseudo inode: free what it owns */
};

/*
 * iterate() starts at f->pos, does not change it, and gives each entry with the position behind it (next_off,
 * growing, never 0); getdents64 moves f->pos. "." and ".." are the first two: dir_emit_dots() gives them, and the
 * first position after them is 2.
 */
struct dir_sink {
	/* One entry. False: the caller's buffer is full, stop and give it again next time. */
	bool (*emit)(struct dir_sink *s, const char *name, size_t len, ino_t ino, unsigned dtype, loff_t next_off);
};

struct file_ops {
	int (*open)(struct inode *ino, struct file *f);	  /* may replace f->ops, set f->priv */
	void (*release)(struct file *f);		  /* last reference gone */
	/* buf is a user address. *pos is the file's or the caller's position. Bytes done or -errno. */
	ssize_t (*read)(struct file *f, void *ubuf, size_t n, loff_t *pos);
	ssize_t (*write)(struct file *f, const void *ubuf, size_t n, loff_t *pos);
	loff_t (*llseek)(struct file *f, loff_t off, int whence); /* NULL: generic, by inode size */
	int (*iterate)(struct file *f, struct dir_sink *sink);	  /* from f->pos on */
	/* POLLIN... that hold now; registers the wait queues by poll_wait(). NULL: always readable and writable. */
	u32 (*poll)(struct file *f, struct poll_table *pt);
	long (*ioctl)(struct file *f, unsigned cmd, unsigned long arg); /* -ENOTTY if unknown */
	int (*mmap)(struct file *f, struct vma *vma);	  /* sets vma->ops/priv; NULL: -ENODEV */
	int (*fsync)(struct file *f);
	void (*show_fdinfo)(struct file *f, struct seq *s);
	void (*fasync)(struct file *f, bool on); /* O_ASYNC changed */
	/*
	 * read and write also take kernel addresses (they copy with io_copy_in/out of fs/fs.h): sendfile, splice and
	 * file_kread need it. Without it those are -EINVAL on this file.
	 */
	bool kernel_buf;
};

struct inode {
	ino_t ino;
	u32 refs;
	u32 nlink;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	dev_t rdev;
	loff_t size;
	u64 blocks;		/* st_blocks, of file systems that set it (tmpfs counts when asked) */
	u32 blksize;		/* st_blksize; 0: a page */
	u64 atime_ns, mtime_ns, ctime_ns; /* since 1970 */
	struct super *sb;
	const struct inode_ops *ops;
	const struct file_ops *fops;
	/*
	 * Page cache of regular files: the page at pgoff with a reference the caller owns.
	 * `create`: allocate a hole, bring what is not in memory (may sleep). *out NULL with 0: a hole, or not in
	 * memory. -ERANGE beyond the end.
	 */
	int (*get_page)(struct inode *ino, u64 pgoff, bool create, struct page **out);
	/* The n pages from pgoff on as far as they are in memory, each with a reference; NULL for the others. Must not sleep. */
	void (*get_pages)(struct inode *ino, u64 pgoff, unsigned n, struct page **out);
	void *priv;		/* of the file system */
	struct pipe *pipe;	/* of a FIFO that is open */
	void *locks;		/* flock/fcntl locks, fs/lock.c */
	int writers;		/* regular files: open for writing; negative: open as programs (ETXTBSY) */
};

struct dentry {
	char *name;
	u32 refs;		/* one for each child, open file, cwd, mount; tmpfs pins its own with one more */
	struct inode *inode;	/* NULL: negative */
	struct dentry *parent;	/* itself at a root */
	struct dentry *children; /* uthash by name */
	struct super *sb;
	struct super *mounted;	/* what covers it */
	bool unlinked;
	bool claimed;		/* somebody finds out what is there, or makes something; see dentry_claim() */
	bool name_borrowed;	/* name lies in memory that stays: not freed */
	u64 cookie;		/* position in its directory, grows with each addition */
	UT_hash_handle hh;
};

struct file {
	u32 refs;
	const struct file_ops *ops;
	struct dentry *dentry;	/* referenced; anonymous inodes have one of their own ("anon_inode:[perf_event]") */
	struct inode *inode;	/* dentry->inode, or the device's in devfs (then referenced) */
	u32 flags;		/* O_* */
	loff_t pos;
	void *priv;
	/* F_SETOWN and friends */
	int owner_type, owner_pid, owner_sig, owner_fd;
	int writer;		/* what it adds to inode->writers: 1, -1 or 0 */
	struct epoll_item *epitems; /* epoll sets that watch it */
};

struct fdent {
	struct file *file;
	bool cloexec;
};
struct files { /* descriptor table */
	u32 refs;
	int cap;
	int next_free; /* no free one below */
	struct fdent *fd;
};
struct fs_ctx {
	u32 refs;
	struct dentry *cwd, *root;
	mode_t umask;
};

struct files *files_create(void);
struct files *files_fork(struct files *old);
void files_get(struct files *f);
void files_put(struct files *f);
void files_close_exec(struct files *f);
struct fs_ctx *fs_fork(struct fs_ctx *old); /* old NULL: at the root */
void fs_put(struct fs_ctx *f);

/* Descriptors of the current task. */
int fd_alloc(struct file *f, int min, bool cloexec); /* installs, takes over the reference; -EMFILE (then the caller still owns it) */
struct file *fd_get(int fd);			     /* with a reference, or NULL (EBADF) */
int fd_close(int fd);
void file_get(struct file *f);
void file_put(struct file *f);
/* A file without a name in the tree. `name` e.g. "[perf_event]", shown as anon_inode:NAME. Reference 1. */
struct file *anon_file(const char *name, const struct file_ops *ops, void *priv, u32 flags);

/* Paths (kernel strings). dirfd AT_FDCWD or a descriptor. All return a reference in *out. */
#define LOOKUP_FOLLOW 1u     /* the last link too */
#define LOOKUP_EMPTY 2u	     /* "" is dirfd itself */
#define LOOKUP_DIRECTORY 4u
#define LOOKUP_PARENT 8u     /* *out may be negative: for making things */
int path_lookup(int dirfd, const char *path, u32 flags, struct dentry **out);
int getname(const char *upath, char **out); /* kmalloc'ed copy of a user path; -EFAULT, -ENAMETOOLONG */
struct dentry *dentry_get(struct dentry *d);
void dentry_put(struct dentry *d);
/* The path from the root (or "(unreachable)..."), " (deleted)" appended for unlinked ones. buf in, start out. */
char *dentry_path(struct dentry *d, char *buf, size_t size);
/* Opens with the current task's rights. FMODE_EXEC in flags: to be executed (a regular file with x), not read. */
#define FMODE_EXEC 0x20u
int vfs_open(struct dentry *d, u32 flags, struct file **out);
int open_path(int dirfd, const char *path, u32 flags, mode_t mode, struct file **out);
int inode_permission(struct inode *ino, int mask); /* R_OK 4, W_OK 2, X_OK 1: -EACCES */
void inode_put(struct inode *ino);
struct inode *inode_new(struct super *sb, mode_t mode); /* refs 1, times now */
/* Reads/writes into kernel memory (exec, image loading). */
ssize_t file_kread(struct file *f, void *buf, size_t n, loff_t pos);

/*
 * For file systems. dir_emit_dots: false when the buffer is full (stop). super_setup: fills a zeroed super in, gives it
 * an st_dev and a root directory with the inode `root` (whose reference it takes); dentry reference held by the super.
 * dentry_add: a positive child with the inode (reference taken over) and one reference, the caller's (a pin, if it keeps
 * it); NULL on no memory. dentry_find: a child that is in the tree, without calling lookup; NULL or a reference.
 */
bool dir_emit_dots(struct file *f, struct dir_sink *s);
int super_setup(struct super *sb, const char *type, const char *source, u32 magic, struct inode *root);
struct dentry *dentry_add(struct dentry *parent, const char *name, struct inode *ino);
struct dentry *dentry_find(struct dentry *parent, const char *name, size_t len);
/* Wall clock, ns since 1970. Any context. */
u64 wall_ns(void);
/* Types that mount(2) may make a second time ("tmpfs", "proc", "sysfs"): returns a new super or the one there is. */
struct fs_type {
	const char *name;
	struct super *(*get)(const char *source, const char *options);
	struct fs_type *next;
};
void fs_type_register(struct fs_type *t);
const struct fs_type *fs_type_list(void); /* for /proc/filesystems */

/* Mounting: puts a file system's root over a dentry. */
int vfs_mount(struct super *sb, struct dentry *on);
void vfs_init(void);			/* makes an empty tmpfs root */
struct super *tmpfs_new(const char *source);
int cpio_populate(const void *start, size_t size); /* root image -> tmpfs; pages in place. -EINVAL names what was wrong in the log */
void procfs_init(void);
void sysfs_init(void);
void devfs_init(void);

/* devices register a node under /dev. */
int devfs_add(const char *name, mode_t mode, dev_t rdev, const struct file_ops *fops, void *priv);
/* devfs's inode of a character device, for nodes elsewhere (mknod, root image). Not referenced; NULL: no such device. */
struct inode *devfs_find_inode(dev_t rdev);
#define MKDEV(ma, mi) (((dev_t)((ma)&0xfff) << 8) | ((mi)&0xff) | ((dev_t)((mi)&~0xffu) << 12))

/* poll(2). Sources call poll_wait for each queue whose wake-up can change the answer. pt NULL: only asking. */
void poll_wait(struct file *f, struct waitq *wq, struct poll_table *pt);
u32 file_poll(struct file *f, struct poll_table *pt);

/*
 * Text that is made when it is read (procfs, sysfs, fdinfo): a growing buffer.
 * A pseudo file's show() fills it at open or at the first read; reads then serve it.
 */
struct seq {
	char *buf;
	size_t len, cap;
	bool oom;
};
void seq_printf(struct seq *s, const char *fmt, ...) __printf(2, 3);
void seq_write(struct seq *s, const void *p, size_t n);
void seq_free(struct seq *s);

#endif
