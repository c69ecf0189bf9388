/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contents of files in a folder of the host. read and write go to the host each
 * time. Pages are kept for mappings only, as long as the inode is in use and
 * the host's file is as it was; what is written through us is put into them,
 * too. A mapping that is shared and writable is refused (EINVAL, as Linux's 9p
 * does without a cache): nothing would bring its changes back.
 */
#include "fs/p9.h"
#include "mm/vm.h"

#define READ_AHEAD 32u /* pages that one fault brings */

/* ---- pages ---- */

void p9_drop_pages(struct inode *ino, u64 from)
{
	struct p9_node *node = p9_node(ino);

	for (u64 i = from; i < node->nr_pages; i++) {
		if (node->pages[i])
			page_put(node->pages[i]);
		node->pages[i] = NULL;
	}
	if (from == 0) {
		kfree(node->pages);
		node->pages = NULL;
		node->nr_pages = 0;
	}
}

static int make_room(struct p9_node *node, u64 pages)
{
	struct page **grown;

	if (pages <= node->nr_pages)
		return 0;
	grown = krealloc(node->pages, pages * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + node->nr_pages, 0, (pages - node->nr_pages) * sizeof(*grown));
	node->pages = grown;
	node->nr_pages = pages;
	return 0;
}

/*
 * Puts what was read into fresh pages; those that are there already stay. The
 * array is looked at anew: while we slept, others may have let it go.
 */
static int fill(struct p9_node *node, u64 first, const u8 *data, u64 len)
{
	int err = make_room(node, first + ALIGN_UP(len, PAGE_SIZE) / PAGE_SIZE);

	if (err)
		return err;
	for (u64 at = 0; at < len; at += PAGE_SIZE) {
		struct page **slot = &node->pages[first + at / PAGE_SIZE];
		u64 n = MIN(len - at, PAGE_SIZE);
		struct page *pg;

		if (*slot)
			continue;
		pg = page_alloc(0);
		if (!pg)
			return -ENOMEM;
		memcpy(page_addr(pg), data + at, n);
		memset((u8 *)page_addr(pg) + n, 0, PAGE_SIZE - n);
		*slot = pg;
	}
	return 0;
}

/* The inode's own fid is not open for reading: one is opened for the purpose. */
static int read_pages(struct inode *ino, u64 first, u64 count)
{
	struct p9_super *sb = p9_super(ino->sb);
	u32 fid = p9_new_fid(sb);
	const void *data;
	struct p9_msg m;
	ssize_t n;
	int err = p9_walk(sb, p9_node(ino)->fid, fid, NULL);

	if (err)
		return err;
	err = p9_lopen(sb, fid, O_RDONLY);
	if (!err) {
		n = p9_read(&m, sb, fid, first * PAGE_SIZE, (u32)(count * PAGE_SIZE), &data);
		err = n < 0 ? (int)n : p9_end(&m, fill(p9_node(ino), first, data, (u64)n));
	}
	p9_clunk(sb, fid);
	return err;
}

int p9_get_page(struct inode *ino, u64 pgoff, bool create, struct page **out)
{
	struct p9_node *node = p9_node(ino);
	u64 pages = ALIGN_UP((u64)ino->size, PAGE_SIZE) / PAGE_SIZE;
	int err;

	(void)create; /* there are no holes: what the host has not written it reads as zeros */
	if (pgoff >= pages)
		return -ERANGE;
	err = make_room(node, pages);
	if (!err && !node->pages[pgoff])
		err = read_pages(ino, pgoff, MIN(pages - pgoff, READ_AHEAD));
	if (err)
		return err;
	if (pgoff >= node->nr_pages || !node->pages[pgoff])
		return -ERANGE; /* the host has cut the file meanwhile */
	page_get(node->pages[pgoff]);
	*out = node->pages[pgoff];
	return 0;
}

void p9_get_pages(struct inode *ino, u64 pgoff, unsigned n, struct page **out)
{
	struct p9_node *node = p9_node(ino);

	for (unsigned i = 0; i < n; i++) {
		out[i] = pgoff + i < node->nr_pages ? node->pages[pgoff + i] : NULL;
		if (out[i])
			page_get(out[i]);
	}
}

static int p9_fault(struct vma *vma, u64 pgoff, bool write, struct page **out)
{
	(void)write; /* no shared mapping is writable */
	return p9_get_page(vma->file->inode, pgoff, false, out);
}

static const struct vma_ops p9_vma_ops = {.fault = p9_fault};

static int p9_mmap(struct file *f, struct vma *vma)
{
	if ((vma->flags & (VM_SHARED | VM_WRITE)) == (VM_SHARED | VM_WRITE))
		return -EINVAL;
	if (vma->flags & VM_SHARED)
		vma->flags &= ~VM_MAYWRITE;
	vma->ops = &p9_vma_ops;
	(void)f;
	return 0;
}

/* What was written is in the pages as well. */
static int update_pages(struct p9_node *node, u64 offset, const void *src, u64 len)
{
	for (u64 at = 0; at < len;) {
		u64 page = (offset + at) / PAGE_SIZE, in_page = (offset + at) % PAGE_SIZE;
		u64 n = MIN(PAGE_SIZE - in_page, len - at);

		if (page < node->nr_pages && node->pages[page] &&
		    io_copy_in((u8 *)page_addr(node->pages[page]) + in_page, (const u8 *)src + at, n))
			return -EFAULT;
		at += n;
	}
	return 0;
}

/* ---- open files ---- */

int p9_open(struct inode *ino, struct file *f)
{
	struct p9_super *sb = p9_super(ino->sb);
	u32 fid = p9_new_fid(sb);
	int err = p9_walk(sb, p9_node(ino)->fid, fid, NULL);

	if (err)
		return err;
	err = p9_lopen(sb, fid, f->flags & FMODE_EXEC ? O_RDONLY : f->flags & O_ACCMODE);
	if (!err)
		err = p9_revalidate(ino);
	if (err) {
		p9_clunk(sb, fid);
		return err;
	}
	f->priv = (void *)(uintptr_t)fid;
	return 0;
}

void p9_release(struct file *f)
{
	p9_clunk(p9_super(f->inode->sb), p9_file_fid(f));
}

int p9_fsync_file(struct file *f)
{
	return p9_fsync(p9_super(f->inode->sb), p9_file_fid(f));
}

static ssize_t p9_file_read(struct file *f, void *buf, size_t n, loff_t *pos)
{
	struct p9_super *sb = p9_super(f->inode->sb);
	size_t done = 0;

	while (done < n) {
		u32 want = (u32)MIN(n - done, (size_t)P9_DATA);
		const void *data;
		struct p9_msg m;
		ssize_t got = p9_read(&m, sb, p9_file_fid(f), (u64)*pos, want, &data);
		int err;

		if (got < 0)
			return done ? (ssize_t)done : got;
		err = p9_end(&m, io_copy_out((u8 *)buf + done, data, (size_t)got));
		if (err)
			return done ? (ssize_t)done : err;
		*pos += got;
		done += (size_t)got;
		if (got == 0)
			break;
	}
	return (ssize_t)done;
}

static ssize_t write_some(struct file *f, const void *src, u32 n, loff_t *pos)
{
	struct inode *ino = f->inode;
	ssize_t put = p9_write(p9_super(ino->sb), p9_file_fid(f), (u64)*pos, src, n);

	if (put > 0) {
		if (update_pages(p9_node(ino), (u64)*pos, src, (u64)put))
			p9_drop_pages(ino, 0);
		*pos += put;
		ino->size = MAX(ino->size, *pos);
	}
	return put;
}

static ssize_t p9_file_write(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	size_t done = 0;
	int err = f->flags & O_APPEND ? p9_revalidate(f->inode) : 0;

	if (err)
		return err;
	if (f->flags & O_APPEND)
		*pos = f->inode->size;
	while (done < n) {
		ssize_t put = write_some(f, (const u8 *)buf + done,
					 (u32)MIN(n - done, (size_t)P9_DATA), pos);

		if (put < 0)
			return done ? (ssize_t)done : put;
		if (put == 0)
			break;
		done += (size_t)put;
	}
	return (ssize_t)done;
}

const struct file_ops p9_file_ops = {
	.open = p9_open,
	.release = p9_release,
	.read = p9_file_read,
	.write = p9_file_write,
	.mmap = p9_mmap,
	.fsync = p9_fsync_file,
	.kernel_buf = true,
};
