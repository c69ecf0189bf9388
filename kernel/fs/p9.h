/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client of 9P2000.L, the protocol by which the host shares a folder: what
 * its files share. p9_wire.c builds and reads messages, p9_client.c has one
 * function for each request, p9.c makes a file system of them (names),
 * p9_data.c has what open files read and write, and p9_map.c mappings.
 *
 * A fid is a number by which the server knows a place or an open file. Each
 * inode owns one that is never opened; each open file owns another.
 */
#ifndef TALLY_FS_P9_H
#define TALLY_FS_P9_H

#include "dev/virtio_9p.h"
#include "fs/fs.h"

#define P9_MSIZE (128u * 1024 + 64) /* the longest message: 128 KiB of data and what is around it */
#define P9_DATA	 (128u * 1024)	    /* the most that one read or write carries */
#define P9_NOFID (~0u)
#define P9_KEPT	 64u /* names that are kept after their last use */

struct p9_super {
	struct super sb; /* first */
	struct p9_device *dev;
	u32 next_fid;
	u32 msize;
	struct p9_node *dirty;	/* DL list of files that have pages to send */
	u64 changes;		/* grows with each request that may change something */
	struct dentry *kept[P9_KEPT]; /* the names used last, each with a reference; a ring */
	u32 next_kept;
	uid_t owner; /* of the shared folder on the host: root in the guest */
	gid_t group;
};

struct p9_node {
	struct inode *inode; /* whose node this is */
	u32 fid;
	bool gone;   /* what the server has by the fid's name is not this file */
	u64 asked, asked_at; /* when its attributes came: p9_stamp(), clock_ns() */
	u64 version; /* time of change and size for which the pages below are right */
	struct mutex lock; /* p9_map.c */
	struct page **pages; /* what mappings use; an array by page number */
	u64 nr_pages, nr_dirty;
	u32 areas;     /* that map it */
	u32 writers;   /* of them, those through which pages may become dirty */
	u32 write_fid; /* open while there are such areas; else P9_NOFID */
	int error;     /* of sending pages, which no fsync has told yet */
	struct p9_node *next, *prev; /* in p9_super.dirty */
};

static inline struct p9_super *p9_super(struct super *sb)
{
	return (struct p9_super *)sb;
}
static inline struct p9_node *p9_node(const struct inode *ino)
{
	return ino->priv;
}

/* ---- p9_wire.c: one request and its answer ---- */

/* Types of requests; the answer's is one more. */
enum {
	TSTATFS = 8,
	TLOPEN = 12,
	TLCREATE = 14,
	TSYMLINK = 16,
	TMKNOD = 18,
	TREADLINK = 22,
	TGETATTR = 24,
	TSETATTR = 26,
	TREADDIR = 40,
	TFSYNC = 50,
	TLINK = 70,
	TMKDIR = 72,
	TRENAMEAT = 74,
	TUNLINKAT = 76,
	TVERSION = 100,
	TATTACH = 104,
	TWALK = 110,
	TREAD = 116,
	TWRITE = 118,
	TCLUNK = 120,
};

struct p9_msg {
	struct p9_super *sb;
	u8 *out, *in;
	u32 order;    /* of the pages that both consist of */
	u32 len;      /* of the request so far */
	u32 pos, end; /* in the answer */
	bool failed;  /* the request did not fit, or the answer was too short */
};

/* Begins a request of this type with room for `size` bytes in either direction. -ENOMEM. */
int p9_begin(struct p9_msg *m, struct p9_super *sb, u8 type, u32 size);
void p9_put8(struct p9_msg *m, u8 v);
void p9_put16(struct p9_msg *m, u16 v);
void p9_put32(struct p9_msg *m, u32 v);
void p9_put64(struct p9_msg *m, u64 v);
void p9_puts(struct p9_msg *m, const char *s, size_t len);
/* Room for data at the end of the request: where to put it. */
void *p9_put_room(struct p9_msg *m, u32 n);
/* Sends it and waits. 0, or the server's errno, or -EIO for an answer that makes no sense. */
int p9_call(struct p9_msg *m);
/* Sends it, does not wait for its answer, which says nothing, and ends m. */
void p9_post(struct p9_msg *m);
u8 p9_get8(struct p9_msg *m);
u16 p9_get16(struct p9_msg *m);
u32 p9_get32(struct p9_msg *m);
u64 p9_get64(struct p9_msg *m);
/* n bytes of the answer where they lie, or NULL. */
const void *p9_get_bytes(struct p9_msg *m, u32 n);
/* A string: its length, *s where it lies. 0 with NULL if the answer is too short. */
u16 p9_gets(struct p9_msg *m, const char **s);
/* Gives the buffers back; -EIO if something did not fit, else err. */
int p9_end(struct p9_msg *m, int err);

/* ---- p9_client.c ---- */

struct p9_attr {
	u64 qid_path;
	u32 mode, uid, gid;
	u64 nlink, rdev, size, blksize, blocks;
	u64 atime_ns, mtime_ns, ctime_ns;
};

u32 p9_new_fid(struct p9_super *sb);
u32 p9_fids(void); /* that servers have of us, one for each mount's root among them */
int p9_version(struct p9_super *sb);
int p9_attach(struct p9_super *sb, u32 fid);
/* newfid stands for `name` in fid, or for fid's own place if name is NULL. */
int p9_walk(struct p9_super *sb, u32 fid, u32 newfid, const char *name);
/* Gives a fid back, without waiting for it to be gone. */
void p9_clunk(struct p9_super *sb, u32 fid);
/* The same for an open file that may have been written: when this returns, the server has closed it. */
void p9_close(struct p9_super *sb, u32 fid);
int p9_getattr(struct p9_super *sb, u32 fid, struct p9_attr *attr);
/* P9_SET_* */
int p9_setattr(struct p9_super *sb, u32 fid, u32 valid, const struct inode *ino, u64 size);
/* O_ACCMODE and O_APPEND */
int p9_lopen(struct p9_super *sb, u32 fid, u32 flags);
int p9_lcreate(struct p9_super *sb, u32 fid, const char *name, u32 mode);
int p9_mkdir(struct p9_super *sb, u32 fid, const char *name, u32 mode);
int p9_mknod(struct p9_super *sb, u32 fid, const char *name, u32 mode, dev_t rdev);
int p9_symlink(struct p9_super *sb, u32 fid, const char *name, const char *target);
int p9_link(struct p9_super *sb, u32 dirfid, const char *name, u32 fid);
int p9_unlinkat(struct p9_super *sb, u32 fid, const char *name, bool dir);
int p9_renameat(struct p9_super *sb, u32 olddir, const char *oldname, u32 newdir,
		const char *newname);
ssize_t p9_readlink(struct p9_super *sb, u32 fid, char *buf, size_t size);
int p9_fsync(struct p9_super *sb, u32 fid);
int p9_statfs(struct p9_super *sb, u32 fid, struct statfs64 *out);
/* At most P9_DATA bytes; m is ended by the caller after it has taken *data. Bytes or -errno. */
ssize_t p9_read(struct p9_msg *m, struct p9_super *sb, u32 fid, u64 offset, u32 n, const void **data);
/*
 * A write in two steps: room for *n bytes (which may become fewer) at *data, to be filled; then what the
 * server took of them, or -errno. m is ended by the caller if the first step went well.
 */
int p9_write_begin(struct p9_msg *m, struct p9_super *sb, u32 fid, u64 offset, u32 *n, void **data);
ssize_t p9_write_call(struct p9_msg *m, u32 n);
/* n bytes of pages, the first of which has the byte at `offset`. Bytes taken or -errno. */
ssize_t p9_write_pages(struct p9_super *sb, u32 fid, u64 offset, struct page *const *pages, u32 n);
int p9_readdir(struct p9_super *sb, u32 fid, u64 offset, struct p9_msg *m);

#define P9_SET_MODE	 0x01u
#define P9_SET_UID	 0x02u
#define P9_SET_GID	 0x04u
#define P9_SET_SIZE	 0x08u
#define P9_SET_ATIME	 0x10u
#define P9_SET_MTIME	 0x20u
#define P9_SET_ATIME_SET 0x80u
#define P9_SET_MTIME_SET 0x100u

/* ---- p9.c, p9_data.c ---- */

extern const struct file_ops p9_file_ops;
int p9_open(struct inode *ino, struct file *f);
void p9_release(struct file *f);
int p9_fsync_file(struct file *f);
static inline u32 p9_file_fid(const struct file *f)
{
	return (u32)(uintptr_t)f->priv;
}
/* A new fid for the inode's place, opened: O_ACCMODE and O_APPEND. */
int p9_open_fid(struct inode *ino, u32 flags, u32 *fid);
/*
 * Takes what the server says of the inode's place; pages that are no longer right are let go. 0 or -errno;
 * -ESTALE if the server has another file there.
 */
int p9_revalidate(struct inode *ino);
/* p9_revalidate() if it is not known that nothing can have happened since it was last asked. */
int p9_refresh(struct inode *ino);
/* The same as p9_revalidate() where the change is ours: the pages are right. */
void p9_keep_version(struct inode *ino);

void p9_init(void); /* makes "9p" a type that mount(2) knows */
void p9_shutdown(void); /* before the power goes: lets go of what is only kept */

/* ---- p9_map.c ---- */

int p9_get_page(struct inode *ino, u64 pgoff, bool create, struct page **out);
void p9_get_pages(struct inode *ino, u64 pgoff, unsigned n, struct page **out);
int p9_mmap(struct file *f, struct vma *vma);
/* Sends what is dirty of pages [first,last]. 0 or -errno, which p9_node.error keeps as well. */
int p9_send_pages(struct inode *ino, u64 first, u64 last);
void p9_sync(struct super *sb);
/* The host's file has changed: pages are sent if they are dirty, and let go. */
void p9_forget_pages(struct inode *ino);
/* The inode ends. */
void p9_end_pages(struct inode *ino);
/* What was written is in the pages as well. node->lock held, inode->size is the one before. */
void p9_update_pages(struct inode *ino, u64 offset, const void *data, u64 len);

#endif
