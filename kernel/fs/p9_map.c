/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mappings of files in a folder of the host. Pages are kept for them as long as
 * the inode is in use and the host's file is as it was; what write(2) writes is
 * put into them, too.
 *
 * A page that was written through a shared mapping is dirty (PG_DIRTY) until it
 * has been sent to the host: by msync, fsync and sync, when a mapping through
 * which it may have been written goes away, and before anything else is done
 * with the contents. It is mapped without the write bit until it is written,
 * and again once it has been sent.
 *
 * node->lock keeps apart what changes the same bytes here and on the host:
 * bringing pages, sending them, write(2). It is never held while the user's
 * memory is touched, where a fault may want it.
 */
#include "fs/p9.h"
#include "mm/vm.h"
#include <utlist.h>

#define READ_AHEAD 32u			   /* pages that one fault brings */
#define SEND_PAGES (P9_DATA / PAGE_SIZE) /* at most, with one request */
#define KEPT_PAGES 4096u		   /* at most, of a file that is not mapped at the moment */

/* ---- dirty pages ---- */

static void set_dirty(struct p9_node *node, struct page *pg)
{
	if (pg->flags & PG_DIRTY)
		return;
	pg->flags |= PG_DIRTY;
	if (node->nr_dirty++ == 0)
		DL_APPEND(p9_super(node->inode->sb)->dirty, node);
}

static void clear_dirty(struct p9_node *node, struct page *pg)
{
	if (!(pg->flags & PG_DIRTY))
		return;
	pg->flags &= (u8)~PG_DIRTY;
	if (--node->nr_dirty == 0)
		DL_DELETE(p9_super(node->inode->sb)->dirty, node);
}

static bool is_dirty(const struct p9_node *node, u64 page)
{
	return page < node->nr_pages && node->pages[page] && node->pages[page]->flags & PG_DIRTY;
}

/* Sends n dirty pages, as far as they are in the file. node->lock held. */
static int send_run(struct inode *ino, u64 first, u64 n)
{
	struct p9_node *node = p9_node(ino);
	u64 at = first * PAGE_SIZE, end = MIN(at + n * PAGE_SIZE, (u64)ino->size);
	struct page *pages[SEND_PAGES];

	vm_protect_file(ino, first, first + n - 1);
	for (u64 i = 0; i < n; i++) {
		pages[i] = node->pages[first + i];
		clear_dirty(node, pages[i]);
	}
	while (at < end) {
		ssize_t put = p9_write_pages(p9_super(ino->sb), node->write_fid, at,
					     pages + (at / PAGE_SIZE - first), (u32)(end - at));

		if (put <= 0)
			return put ? (int)put : -EIO;
		at += (u64)put;
	}
	return 0;
}

/* Sends what is dirty among [first,last]. node->lock held. The first error, which is kept as well. */
static int send(struct inode *ino, u64 first, u64 last)
{
	struct p9_node *node = p9_node(ino);
	int err = 0;

	for (u64 at = first; at <= last && at < node->nr_pages && node->nr_dirty;) {
		u64 n = 0;
		int this;

		while (n < SEND_PAGES && n <= last - at && is_dirty(node, at + n))
			n++;
		this = n ? send_run(ino, at, n) : 0;
		err = err ? err : this;
		at += n ? n : 1;
	}
	if (err)
		node->error = err;
	p9_keep_version(ino); /* it was us who changed the file */
	return err;
}

int p9_send_pages(struct inode *ino, u64 first, u64 last)
{
	struct p9_node *node = p9_node(ino);
	int err;

	if (likely(!node->nr_dirty))
		return 0;
	mutex_lock(&node->lock);
	err = send(ino, first, last);
	mutex_unlock(&node->lock);
	return err;
}

void p9_sync(struct super *sb)
{
	const struct p9_node *node;

	while ((node = p9_super(sb)->dirty)) {
		struct inode *ino = node->inode;

		ino->refs++;
		(void)p9_send_pages(ino, 0, ~0ULL);
		inode_put(ino);
	}
}

/* ---- pages ---- */

static void drop_pages(struct p9_node *node)
{
	for (u64 i = 0; i < node->nr_pages; i++) {
		if (!node->pages[i])
			continue;
		clear_dirty(node, node->pages[i]);
		page_put(node->pages[i]);
	}
	kfree(node->pages);
	node->pages = NULL;
	node->nr_pages = 0;
}

void p9_forget_pages(struct inode *ino)
{
	struct p9_node *node = p9_node(ino);

	if (!node->nr_pages)
		return;
	mutex_lock(&node->lock);
	while (node->nr_dirty)
		(void)send(ino, 0, ~0ULL);
	if (node->areas)
		vm_unmap_pages(ino, node->pages, node->nr_pages);
	drop_pages(node);
	mutex_unlock(&node->lock);
}

void p9_end_pages(struct inode *ino)
{
	struct p9_node *node = p9_node(ino);

	ASSERT(!node->areas);
	drop_pages(node);
	if (node->write_fid != P9_NOFID)
		p9_close(p9_super(ino->sb), node->write_fid);
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

/* Puts what was read into fresh pages; those that are there already stay. */
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

static int read_pages(struct inode *ino, u32 fid, u64 first, u64 count)
{
	struct p9_node *node = p9_node(ino);
	const void *data;
	struct p9_msg m;
	ssize_t n;
	int err;

	mutex_lock(&node->lock);
	n = p9_read(&m, p9_super(ino->sb), fid, first * PAGE_SIZE, (u32)(count * PAGE_SIZE), &data);
	err = n < 0 ? (int)n : p9_end(&m, fill(node, first, data, (u64)n));
	mutex_unlock(&node->lock);
	return err;
}

/* The page at pgoff, from the host by way of an open fid if it is not there. -ERANGE: beyond the end. */
static int get_page(struct inode *ino, u32 fid, u64 pgoff, struct page **out)
{
	struct p9_node *node = p9_node(ino);
	u64 pages = ALIGN_UP((u64)ino->size, PAGE_SIZE) / PAGE_SIZE;
	int err = 0;

	if (pgoff >= pages)
		return -ERANGE;
	if (pgoff >= node->nr_pages || !node->pages[pgoff])
		err = read_pages(ino, fid, pgoff, MIN(pages - pgoff, READ_AHEAD));
	if (err)
		return err;
	if (pgoff >= node->nr_pages || !node->pages[pgoff])
		return -ERANGE; /* the host has cut the file meanwhile */
	page_get(node->pages[pgoff]);
	*out = node->pages[pgoff];
	return 0;
}

/* The inode's own fid is not open: one is opened for the purpose. */
int p9_get_page(struct inode *ino, u64 pgoff, bool create, struct page **out)
{
	struct p9_super *sb = p9_super(ino->sb);
	u32 fid;
	int err;

	*out = NULL;
	p9_get_pages(ino, pgoff, 1, out);
	if (*out || !create)
		return 0;
	err = p9_open_fid(ino, O_RDONLY, &fid);
	if (err)
		return err;
	err = get_page(ino, fid, pgoff, out);
	p9_clunk(sb, fid);
	return err;
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

/* What lies behind the end of the file in its last page is not the file's. */
static void clear_tail(struct p9_node *node, u64 size)
{
	u64 page = size / PAGE_SIZE, in_page = size % PAGE_SIZE;

	if (in_page && page < node->nr_pages && node->pages[page])
		memset((u8 *)page_addr(node->pages[page]) + in_page, 0, PAGE_SIZE - in_page);
}

void p9_update_pages(struct inode *ino, u64 offset, const void *data, u64 len)
{
	struct p9_node *node = p9_node(ino);

	if (offset > (u64)ino->size)
		clear_tail(node, (u64)ino->size);
	for (u64 at = 0; at < len;) {
		u64 page = (offset + at) / PAGE_SIZE, in_page = (offset + at) % PAGE_SIZE;
		u64 n = MIN(PAGE_SIZE - in_page, len - at);

		if (page < node->nr_pages && node->pages[page]) {
			memcpy((u8 *)page_addr(node->pages[page]) + in_page, (const u8 *)data + at, n);
			page_changed(node->pages[page]);
		}
		at += n;
	}
}

/* ---- areas ---- */

/* Through these, pages may become dirty. */
static bool may_write(const struct vma *vma)
{
	return (vma->flags & (VM_SHARED | VM_MAYWRITE)) == (VM_SHARED | VM_MAYWRITE);
}

static int p9_fault(struct vma *vma, u64 pgoff, bool write, struct page **out)
{
	struct file *f = vma->file;
	int err;

	(void)write;
	file_get(f);
	err = get_page(f->inode, p9_file_fid(f), pgoff, out);
	file_put(f);
	return err;
}

static bool p9_written(struct vma *vma, u64 pgoff, struct page *pg)
{
	struct p9_node *node = p9_node(vma->file->inode);

	if (pgoff >= node->nr_pages || node->pages[pgoff] != pg)
		return false;
	set_dirty(node, pg);
	return true;
}

static void p9_area_open(struct vma *vma)
{
	struct p9_node *node = p9_node(vma->file->inode);

	node->areas++;
	if (may_write(vma))
		node->writers++;
}

static void p9_area_close(struct vma *vma)
{
	struct inode *ino = vma->file->inode;
	struct p9_node *node = p9_node(ino);
	u32 fid;

	if (may_write(vma) && vma->end > vma->start)
		(void)p9_send_pages(ino, vma->pgoff,
				    vma->pgoff + ((vma->end - vma->start) >> PAGE_SHIFT) - 1);
	if (--node->areas == 0 && node->nr_pages > KEPT_PAGES)
		p9_forget_pages(ino);
	if (!may_write(vma) || --node->writers || node->nr_dirty)
		return;
	fid = node->write_fid;
	node->write_fid = P9_NOFID;
	p9_clunk(p9_super(ino->sb), fid);
}

static const struct vma_ops p9_vma_ops = {
	.fault = p9_fault,
	.written = p9_written,
	.open = p9_area_open,
	.close = p9_area_close,
};

/*
 * The fid by which pages are sent is one of its own: it serves all areas, whichever of their files
 * are still open, and wherever the name has gone.
 */
int p9_mmap(struct file *f, struct vma *vma)
{
	struct p9_node *node = p9_node(f->inode);
	u32 fid;
	int err;

	vma->ops = &p9_vma_ops;
	p9_area_open(vma);
	if (!may_write(vma) || node->write_fid != P9_NOFID)
		return 0;
	err = p9_open_fid(f->inode, O_RDWR, &fid);
	if (err) {
		node->areas--;
		node->writers--;
	} else if (node->write_fid != P9_NOFID) {
		p9_clunk(p9_super(f->inode->sb), fid); /* another was faster */
	} else {
		node->write_fid = fid;
	}
	return err;
}
