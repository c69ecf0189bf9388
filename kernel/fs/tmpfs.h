/* SPDX-License-Identifier: BSD-2-Clause */
/* tmpfs's own structures: tmpfs.c has the tree, tmpfs_data.c the contents of files. */
#ifndef TALLY_FS_TMPFS_H
#define TALLY_FS_TMPFS_H

#include "fs/fs.h"

struct tmpfs_super {
	struct super sb;
	u64 pages, max_pages; /* allocated, allowed */
	u64 inodes;
};

/* Behind each inode (inode->priv). */
struct tmpfs_node {
	/*
	 * Pages by file offset: a radix tree of 64-slot nodes. Height 0: `tree` is the page of offset 0 itself.
	 * What it does not have comes from the image, and what that does not have is a hole.
	 */
	void *tree;
	unsigned height;
	u64 npages; /* in the tree */
	/*
	 * The part of the file that still lies in the root image, from its start on. Where the image is page
	 * aligned its full pages are the file's pages, writable in place; other pages are copied at first use.
	 */
	const u8 *image;
	u64 image_len;
	u32 seals;	   /* F_SEAL_* of a memfd */
	u32 writable_maps; /* shared mappings that may be written through */
	bool can_seal;
	bool link_borrowed;
	const char *link; /* target of a symbolic link; its length is the inode's size */
};

static inline struct tmpfs_super *tmpfs_super(const struct super *sb)
{
	return container_of(sb, struct tmpfs_super, sb);
}
static inline struct tmpfs_node *tmpfs_node(const struct inode *ino)
{
	return ino->priv;
}

extern const struct file_ops tmpfs_file_ops;
int tmpfs_get_page(struct inode *ino, u64 pgoff, bool create, struct page **out);
void tmpfs_get_pages(struct inode *ino, u64 pgoff, unsigned n, struct page **out);
int tmpfs_truncate(struct inode *ino, loff_t size);
void tmpfs_free_pages(struct inode *ino);

#endif
