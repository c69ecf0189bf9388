/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of fs/ share with one another and with drivers that take
 * kernel buffers. The rest of the kernel uses vfs.h.
 */
#ifndef TALLY_FS_FS_H
#define TALLY_FS_FS_H

#include "arch/aarch64/cpu.h"
#include "fs/vfs.h"
#include "mm/page.h"
#include "proc/task.h"
#include <linux/uio.h>

#define PATH_MAX     4096
#define NAME_MAX     255
#define MAX_SYMLINKS 40
#define MAX_RW_COUNT 0x7ffff000ULL /* as Linux cuts one read or write */

/* asm/stat.h of arm64 has the structure, linux/stat.h the mode bits; these are shorter. */
#define MODE_PERM 07777u

/*
 * Buffers. A file operation marked kernel_buf gets user addresses from the
 * system calls (checked by user_range_ok before) and kernel addresses from
 * inside the kernel; TASK_SIZE tells them apart. 0 or -EFAULT.
 */
static inline bool is_kernel_addr(const void *p)
{
	return (uintptr_t)p >= TASK_SIZE;
}
static inline bool user_range_ok(const void *p, size_t n)
{
	return (uintptr_t)p < TASK_SIZE && n <= TASK_SIZE - (uintptr_t)p;
}
int io_copy_in(void *dst, const void *src, size_t n) __must_check;
int io_copy_out(void *dst, const void *src, size_t n) __must_check;
int io_clear(void *dst, size_t n) __must_check;

/* May the current task use the capability? Kernel threads and the boot task may use all. */
bool fs_capable(int cap);
/* Owner or CAP_FOWNER. */
bool inode_owner_ok(const struct inode *ino);
/* May an entry of dir be removed or renamed: write and search permission, sticky bit. 0 or -errno. */
int may_delete(struct inode *dir, struct inode *victim);
void inode_touch(struct inode *ino);	/* mtime and ctime are now */
void inode_accessed(struct inode *ino); /* relatime */
/* inode_new with `extra` zeroed bytes behind it; inode->priv points there. */
struct inode *inode_new_extra(struct super *sb, mode_t mode, size_t extra);
/* Mode and group of something made in dir: umask is applied by the caller, set-gid directories here. */
void inode_init_owner(struct inode *ino, const struct inode *dir);
dev_t anon_dev(void); /* a new st_dev without a device */

/* dentry.c */
struct dentry *dentry_alloc(struct dentry *parent, const char *name, size_t len);
/* A child by name: from the tree or the file system. `negative`: a name that is not there is a negative dentry. */
/*
 * Waits until nobody else looks the name up or makes something there, and keeps others from it until
 * dentry_unclaim(): a file system may sleep over it. The caller has a reference. Not recursive.
 */
void dentry_claim(struct dentry *d);
void dentry_unclaim(struct dentry *d);
struct dentry *dentry_lookup(struct dentry *dir, const char *name, size_t len, bool negative);
struct dentry *dentry_add_borrowed(struct dentry *parent, const char *name, size_t len,
				   struct inode *ino);
void dentry_drop(struct dentry *d);   /* out of the tree: it has no name any more */
void dentry_attach(struct dentry *d); /* into parent->children */
/* `name` (kmalloc'ed) is taken over. */
void dentry_move(struct dentry *d, struct dentry *newparent, char *name, size_t len);
void dentry_exchange(struct dentry *a, struct dentry *b); /* each takes the other's place */
struct dentry *root_dentry(void);			  /* of the mount tree, not referenced */
struct dentry *current_root(void);
struct dentry *current_cwd(void);
struct dentry *dentry_cross_mounts(struct dentry *d); /* takes and gives a reference */
/* A dentry without a place in the tree for an inode whose reference it takes over. `name` is kept if not borrowed. */
struct dentry *dentry_alone(struct super *sb, const char *name, struct inode *ino);
bool dentry_is_below(const struct dentry *d,
		     const struct dentry *top); /* or the same; across mounts */
extern struct super *all_supers;		/* mounted ones, in mount order (utlist) */

/* namei.c */
struct walk {
	struct dentry *root, *d; /* referenced */
	const char *rest;
	unsigned depth, links;
	bool want_dir; /* a trailing slash was seen */
	u64 resolve;   /* RESOLVE_* of openat2 */
	u32 last_len;  /* after walk_parent: the last component, 0 = the path is `d` itself ("/") */
	const char *last;
	char *buf; /* text of the link being walked */
	struct {
		const char *rest;
		char *buf;
	} stack[MAX_SYMLINKS];
};
int walk_begin(struct walk *w, int dirfd, const char *path, u64 resolve);
int walk_all(struct walk *w, bool follow_last);	    /* the place is w->d */
int walk_parent(struct walk *w);		    /* w->d is the directory; w->last */
int walk_link(struct walk *w, struct dentry *link); /* jumps: call walk_* again */
void walk_end(struct walk *w);
/* For system calls that make or remove a name: the directory and the (maybe negative) child, both referenced. */
struct name_at {
	struct walk w;
	char *path;
	struct dentry *dir, *child;
};
int name_at_begin(struct name_at *n, int dirfd, const char *upath, bool negative);
void name_at_end(struct name_at *n);
/* path of a system call to a dentry: AT_EMPTY_PATH and AT_SYMLINK_NOFOLLOW in at_flags are understood. */
int user_path(int dirfd, const char *upath, u32 lookup, struct dentry **out);
int user_path_at(int dirfd, const char *upath, u32 at_flags, struct dentry **out);

/* create.c: name operations on dentries, permission checked; also used by open and socket bind. */
int vfs_create(struct dentry *dir, struct dentry *d, mode_t mode);
int vfs_mknod(struct dentry *dir, struct dentry *d, mode_t mode, dev_t rdev);
int vfs_truncate(struct inode *ino, loff_t size);

/* file.c */
struct file *file_alloc(struct dentry *d, const struct file_ops *ops,
			u32 flags); /* takes the dentry reference */
/* Any descriptor, O_PATH ones too; with a reference. */
struct file *fd_get_raw(int fd);
/* The same without counting when the descriptor table is the task's alone: give back with fd_put_light. */
struct fdref {
	struct file *file;
	bool counted;
};
static inline void fd_put_light(struct fdref r)
{
	if (unlikely(r.counted))
		file_put(r.file);
}
struct fdref fd_get_light(int fd);		  /* .file NULL: EBADF */
bool *fd_cloexec(int fd);			  /* the flag of a descriptor, NULL: EBADF */
int fd_install_new(struct file *f, bool cloexec); /* lowest number; drops the reference on error */
bool file_seekable(const struct file *f);
static inline bool file_can_read(const struct file *f)
{
	return (f->flags & O_ACCMODE) != O_WRONLY && !(f->flags & O_PATH);
}
static inline bool file_can_write(const struct file *f)
{
	return (f->flags & O_ACCMODE) != O_RDONLY && !(f->flags & O_PATH);
}
ssize_t file_read(struct file *f, void *buf, size_t n, loff_t *pos);
ssize_t file_write(struct file *f, const void *buf, size_t n, loff_t *pos);
/* The buffers of readv and friends, checked and cut to MAX_RW_COUNT; the sum or -errno. Freed by the caller if >= 0. */
struct iovec_list {
	struct iovec *v, fast[8];
	u32 count;
};
ssize_t iovec_import(struct iovec_list *l, const void *uiov, u64 count);
void iovec_free(struct iovec_list *l);
int iovec_gather(const struct iovec_list *l, void *buf);		  /* all of it into buf */
int iovec_scatter(const struct iovec_list *l, const void *buf, size_t n); /* n bytes of buf out */
/* rlimit of the current process; RLIM64_INFINITY for kernel threads. */
u64 current_rlimit(int which);

extern const struct file_ops fifo_ops; /* pipe.c */

/* lock.c */
void locks_close(struct file *f, struct files *owner); /* a descriptor was closed: POSIX locks */
void locks_release(struct file *f);		       /* the open file ends: flock and OFD locks */
long fcntl_lock(struct file *f, unsigned cmd, unsigned long arg);

/* epoll.c */
void epoll_file_gone(struct file *f); /* the last reference to a watched file went */

/* tmpfs.c */
bool inode_is_tmpfs(const struct inode *ino);
struct inode *tmpfs_inode(struct super *sb, mode_t mode, dev_t rdev);
/* Contents of a file from memory that stays: cpio.c. `src` NULL: none. */
void tmpfs_set_image(struct inode *ino, const void *src, u64 len);
void tmpfs_set_link_image(struct inode *ino, const char *target, size_t len);
void tmpfs_allow_seals(struct inode *ino);
int tmpfs_seals(struct inode *ino, u32 **seals);   /* -EINVAL when it cannot have any */
bool tmpfs_writable_maps(const struct inode *ino); /* shared mappings that may be written through */
long tmpfs_fallocate(struct inode *ino, int mode, loff_t off, loff_t len);
loff_t tmpfs_seek_data(struct inode *ino, loff_t off, bool hole); /* -ENXIO */
u64 tmpfs_blocks(struct inode *ino);				  /* 512-byte units */
struct file *tmpfs_unlinked_file(struct super *sb, const char *name, mode_t mode, u32 flags);
void tmpfs_tree_free(struct super *sb);

/* fcntl.c */
void file_set_owner(struct file *f, int type, int pid);
/* SIGIO to the owner, for O_ASYNC files. Process context. */
void file_send_sigio(struct file *f, int band);

#endif
