/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tmpfs: the contents of files. See struct tmpfs_node for where a page comes
 * from: the radix tree, else the root image, else it is a hole.
 */
#include "fs/tmpfs.h"
#include "mm/vm.h"
#include <linux/capability.h>
#include <linux/falloc.h>
#include <linux/fs.h>

#define RADIX_BITS  6
#define RADIX_SLOTS (1u << RADIX_BITS)

struct radix_node {
	void *slot[RADIX_SLOTS];
};

static bool covers(unsigned height, u64 pgoff)
{
	return RADIX_BITS * height >= 64 || !(pgoff >> (RADIX_BITS * height));
}

/* The place of a page in the tree; NULL when there is none (create: when memory is short). */
static void **radix_slot(struct tmpfs_node *tn, u64 pgoff, bool create)
{
	void **slot = &tn->tree;
	unsigned h;

	while (!covers(tn->height, pgoff)) {
		if (!create)
			return NULL;
		if (tn->tree) {
			struct radix_node *n = kzalloc(sizeof(*n));

			if (!n)
				return NULL;
			n->slot[0] = tn->tree;
			tn->tree = n;
		}
		tn->height++;
	}
	for (h = tn->height; h; h--) {
		if (!*slot) {
			if (!create)
				return NULL;
			*slot = kzalloc(sizeof(struct radix_node));
			if (!*slot)
				return NULL;
		}
		slot = &((struct radix_node *)*slot)
				->slot[(pgoff >> (RADIX_BITS * (h - 1))) & (RADIX_SLOTS - 1)];
	}
	return slot;
}

static struct page *tree_page(struct tmpfs_node *tn, u64 pgoff)
{
	void **slot = tn->npages ? radix_slot(tn, pgoff, false) : NULL;

	return slot ? *slot : NULL;
}

/* Adds a page (its reference is taken over) at an empty place. */
static int tree_add(struct inode *ino, u64 pgoff, struct page *pg)
{
	struct tmpfs_node *tn = tmpfs_node(ino);
	void **slot = radix_slot(tn, pgoff, true);

	if (!slot)
		return -ENOSPC;
	*slot = pg;
	tn->npages++;
	tmpfs_super(ino->sb)->pages++;
	return 0;
}

/* Frees pages from first to last below a node of the given height that starts at base. True: it is empty now. */
static bool free_range(struct tmpfs_node *tn, void **slot, unsigned height, u64 base, u64 first,
		       u64 last, u64 *freed)
{
	struct radix_node *n = *slot;
	u64 span;
	bool empty = true;

	if (!n)
		return true;
	if (!height) {
		page_put(*slot);
		*slot = NULL;
		(*freed)++;
		return true;
	}
	span = 1ULL << (RADIX_BITS * (height - 1));
	for (unsigned i = 0; i < RADIX_SLOTS; i++, base += span) {
		if (!n->slot[i])
			continue;
		if (base > last || base + span - 1 < first ||
		    !free_range(tn, &n->slot[i], height - 1, base, first, last, freed))
			empty = false;
	}
	if (empty) {
		kfree(n);
		*slot = NULL;
	}
	return empty;
}

static void tree_free(struct inode *ino, u64 first, u64 last)
{
	struct tmpfs_node *tn = tmpfs_node(ino);
	u64 freed = 0;

	if (!tn->tree || (!tn->height && first > 0))
		return;
	if (free_range(tn, &tn->tree, tn->height, 0, first, last, &freed))
		tn->height = 0;
	tn->npages -= freed;
	tmpfs_super(ino->sb)->pages -= freed;
}

void tmpfs_free_pages(struct inode *ino)
{
	tree_free(ino, 0, ~0ULL);
	tmpfs_node(ino)->image_len = 0;
}

static struct page *new_page(struct inode *ino, bool zero)
{
	struct tmpfs_super *ts = tmpfs_super(ino->sb);

	if (ts->pages >= ts->max_pages)
		return NULL;
	return zero ? page_alloc_zero() : page_alloc(0);
}

/* A page of the image that cannot be used as it lies there moves to the tree. */
static int copy_from_image(struct inode *ino, u64 pgoff, struct page **out)
{
	struct tmpfs_node *tn = tmpfs_node(ino);
	u64 off = pgoff << PAGE_SHIFT, n = MIN(PAGE_SIZE, tn->image_len - off);
	struct page *pg = page_alloc(0);
	u8 *to;
	int err;

	if (!pg)
		return -ENOMEM;
	to = page_addr(pg);
	memcpy(to, tn->image + off, n);
	memset(to + n, 0, PAGE_SIZE - n);
	err = tree_add(ino, pgoff, pg);
	if (err) {
		page_put(pg);
		return -ENOMEM;
	}
	if (off + PAGE_SIZE > tn->image_len)
		tn->image_len = off;
	*out = pg;
	return 0;
}

/* The page without a reference of its own, *out NULL for a hole. */
static int find_page(struct inode *ino, u64 pgoff, struct page **out)
{
	struct tmpfs_node *tn = tmpfs_node(ino);
	u64 off = pgoff << PAGE_SHIFT;

	*out = tree_page(tn, pgoff);
	if (*out || off >= tn->image_len)
		return 0;
	if (off + PAGE_SIZE > tn->image_len || !IS_ALIGNED((uintptr_t)tn->image, PAGE_SIZE))
		return copy_from_image(ino, pgoff, out);
	*out = phys_to_page(virt_to_phys(tn->image + off));
	return 0;
}

int tmpfs_get_page(struct inode *ino, u64 pgoff, bool create, struct page **out)
{
	struct page *pg;
	int err;

	if (pgoff >= (((u64)ino->size + PAGE_SIZE - 1) >> PAGE_SHIFT))
		return -ERANGE;
	err = find_page(ino, pgoff, &pg);
	if (err)
		return err;
	if (!pg && create) {
		pg = new_page(ino, true);
		if (!pg)
			return -ENOSPC;
		err = tree_add(ino, pgoff, pg);
		if (err) {
			page_put(pg);
			return err;
		}
	}
	if (pg)
		page_get(pg);
	*out = pg;
	return 0;
}

/* For fault-around: whole pages of the image, which is nearly all there are, without a look at the tree. */
void tmpfs_get_pages(struct inode *ino, u64 pgoff, unsigned n, struct page **out)
{
	struct tmpfs_node *tn = tmpfs_node(ino);
	u64 size = ((u64)ino->size + PAGE_SIZE - 1) >> PAGE_SHIFT, whole = 0;
	struct page *image = NULL;

	if (!tn->npages && tn->image && IS_ALIGNED((uintptr_t)tn->image, PAGE_SIZE)) {
		whole = MIN(tn->image_len >> PAGE_SHIFT, size);
		image = phys_to_page(virt_to_phys(tn->image));
	}
	for (unsigned i = 0; i < n; i++, pgoff++) {
		out[i] = NULL;
		if (pgoff < whole)
			out[i] = image + pgoff;
		else if (pgoff >= size || find_page(ino, pgoff, &out[i]))
			continue;
		if (out[i])
			page_get(out[i]);
	}
}

/* ---- read and write ---- */

static ssize_t tmpfs_read(struct file *f, void *buf, size_t n, loff_t *pos)
{
	struct inode *ino = f->inode;
	struct tmpfs_node *tn = tmpfs_node(ino);
	size_t done = 0;
	int err = 0;

	if (*pos >= ino->size)
		return 0;
	n = MIN(n, (size_t)(ino->size - *pos));
	if (!tn->npages && (u64)*pos + n <= tn->image_len) {
		err = io_copy_out(buf, tn->image + *pos, n);
		done = err ? 0 : n;
	}
	while (done < n && !err) {
		u64 at = (u64)*pos + done, off = at & (PAGE_SIZE - 1);
		size_t part = MIN(n - done, PAGE_SIZE - off);
		struct page *pg;

		err = find_page(ino, at >> PAGE_SHIFT, &pg);
		if (err)
			break;
		if (pg) {
			page_get(pg); /* the copy may sleep */
			err = io_copy_out((u8 *)buf + done, (u8 *)page_addr(pg) + off, part);
			page_put(pg);
		} else {
			err = io_clear((u8 *)buf + done, part);
		}
		if (!err)
			done += part;
	}
	if (!done)
		return err;
	*pos += (loff_t)done;
	if (!(f->flags & O_NOATIME))
		inode_accessed(ino);
	return (ssize_t)done;
}

/* One page's part of a write. */
static int write_part(struct inode *ino, u64 at, const void *buf, size_t part)
{
	u64 pgoff = at >> PAGE_SHIFT, off = at & (PAGE_SIZE - 1);
	struct page *pg;
	int err = find_page(ino, pgoff, &pg);

	if (err)
		return err;
	if (pg) {
		page_get(pg);
		err = io_copy_in((u8 *)page_addr(pg) + off, buf, part);
		page_changed(pg);
		page_put(pg);
		return err;
	}
	pg = new_page(ino, part < PAGE_SIZE);
	if (!pg)
		return -ENOSPC;
	err = io_copy_in((u8 *)page_addr(pg) + off, buf, part);
	/* the copy may have slept, and somebody else filled the hole */
	if (!err && tree_page(tmpfs_node(ino), pgoff)) {
		page_put(pg);
		return write_part(ino, at, buf, part);
	}
	if (!err)
		err = tree_add(ino, pgoff, pg);
	if (err)
		page_put(pg);
	return err;
}

/* How much of a write at pos the seals and the file size limit let through; -errno. */
static ssize_t write_limit(struct inode *ino, loff_t pos, size_t n)
{
	u64 limit = current_rlimit(RLIMIT_FSIZE);
	u32 seals = tmpfs_node(ino)->seals;

	if (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return -EPERM;
	if ((seals & F_SEAL_GROW) && pos + (loff_t)n > ino->size) {
		if (pos >= ino->size)
			return -EPERM;
		n = (size_t)(ino->size - pos);
	}
	if (unlikely((u64)pos + n > limit)) {
		if ((u64)pos >= limit) {
			send_signal_task(current, SIGXFSZ, NULL);
			return -EFBIG;
		}
		n = limit - (u64)pos;
	}
	if (unlikely(pos + (loff_t)n < pos))
		return -EFBIG;
	return (ssize_t)n;
}

static ssize_t tmpfs_write(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	struct inode *ino = f->inode;
	size_t done = 0;
	ssize_t allowed;
	int err = 0;

	if (f->flags & O_APPEND)
		*pos = ino->size;
	if (!n)
		return 0;
	allowed = write_limit(ino, *pos, n);
	if (allowed < 0)
		return allowed;
	n = (size_t)allowed;
	if ((ino->mode & (S_ISUID | S_ISGID)) && !fs_capable(CAP_FSETID)) {
		ino->mode &= ~(mode_t)S_ISUID;
		if (ino->mode & S_IXGRP)
			ino->mode &= ~(mode_t)S_ISGID;
	}
	while (done < n) {
		u64 at = (u64)*pos + done;
		size_t part = MIN(n - done, PAGE_SIZE - (at & (PAGE_SIZE - 1)));

		err = write_part(ino, at, (const u8 *)buf + done, part);
		if (err)
			break;
		done += part;
		if ((u64)ino->size < at + part)
			ino->size = (loff_t)(at + part);
	}
	if (!done)
		return err;
	*pos += (loff_t)done;
	inode_touch(ino);
	return (ssize_t)done;
}

/* ---- size, holes ---- */

/* Zeroes [from, to) within one page, if the page exists. */
static int zero_part(struct inode *ino, u64 from, u64 to)
{
	struct page *pg;
	int err = from < to ? find_page(ino, from >> PAGE_SHIFT, &pg) : 0;

	if (!err && from < to && pg) {
		memset((u8 *)page_addr(pg) + (from & (PAGE_SIZE - 1)), 0, to - from);
		page_changed(pg);
	}
	return err;
}

int tmpfs_truncate(struct inode *ino, loff_t size)
{
	struct tmpfs_node *tn = tmpfs_node(ino);
	u64 end = (u64)size, keep = ALIGN_UP(end, PAGE_SIZE);
	int err;

	if ((size < ino->size && (tn->seals & F_SEAL_SHRINK)) ||
	    (size > ino->size && (tn->seals & F_SEAL_GROW)))
		return -EPERM;
	if (size < ino->size) {
		/* what is cut off must read as zeros if the file grows again */
		err = zero_part(ino, end, MIN(keep, (u64)ino->size));
		if (err)
			return err;
		tree_free(ino, keep >> PAGE_SHIFT, ~0ULL);
		tn->image_len = MIN(tn->image_len, keep);
	}
	if (size < ino->size)
		vm_unmap_file(ino, keep >> PAGE_SHIFT, ~0ULL);
	ino->size = size;
	inode_touch(ino);
	return 0;
}

static int punch_hole(struct inode *ino, u64 from, u64 to)
{
	struct tmpfs_node *tn = tmpfs_node(ino);
	u64 first = ALIGN_UP(from, PAGE_SIZE), last = ALIGN_DOWN(to, PAGE_SIZE);
	int err;

	if (first > last)
		return zero_part(ino, from, to);
	err = zero_part(ino, from, first);
	if (!err)
		err = zero_part(ino, last, to);
	if (err || first == last)
		return err;
	vm_unmap_file(ino, first >> PAGE_SHIFT, (last >> PAGE_SHIFT) - 1);
	tree_free(ino, first >> PAGE_SHIFT, (last >> PAGE_SHIFT) - 1);
	if (first < tn->image_len)
		memset((u8 *)(uintptr_t)tn->image + first, 0, MIN(last, tn->image_len) - first);
	return 0;
}

/* fallocate(2); the range was checked. */
long tmpfs_fallocate(struct inode *ino, int mode, loff_t off, loff_t len)
{
	struct tmpfs_node *tn = tmpfs_node(ino);
	u64 end = (u64)(off + len);
	struct page *pg;
	loff_t oldsize = ino->size;
	int err = 0;

	if (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE))
		return -EOPNOTSUPP;
	if (mode & FALLOC_FL_PUNCH_HOLE) {
		if (tn->seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
			return -EPERM;
		err = punch_hole(ino, (u64)off, MIN(end, ALIGN_UP((u64)ino->size, PAGE_SIZE)));
		inode_touch(ino);
		return err;
	}
	if (!(mode & FALLOC_FL_KEEP_SIZE) && (loff_t)end > ino->size) {
		if (tn->seals & F_SEAL_GROW)
			return -EPERM;
		if (end > current_rlimit(RLIMIT_FSIZE))
			return -EFBIG;
		ino->size = (loff_t)end;
	}
	for (u64 p = (u64)off >> PAGE_SHIFT;
	     p < (MIN(end, (u64)ino->size) + PAGE_SIZE - 1) >> PAGE_SHIFT; p++) {
		err = tmpfs_get_page(ino, p, true, &pg);
		if (err)
			break;
		page_put(pg);
	}
	if (err)
		ino->size = oldsize;
	ino->ctime_ns = wall_ns();
	return err;
}

/* The first page offset >= pgoff that is in the tree, or ~0. */
static u64 tree_next(void *node, unsigned height, u64 base, u64 pgoff)
{
	u64 span, found;

	if (!node)
		return ~0ULL;
	if (!height)
		return base >= pgoff ? base : ~0ULL;
	span = 1ULL << (RADIX_BITS * (height - 1));
	for (unsigned i = 0; i < RADIX_SLOTS; i++, base += span) {
		if (base + span - 1 < pgoff)
			continue;
		found = tree_next(((struct radix_node *)node)->slot[i], height - 1, base, pgoff);
		if (found != ~0ULL)
			return found;
	}
	return ~0ULL;
}

loff_t tmpfs_seek_data(struct inode *ino, loff_t off, bool hole)
{
	struct tmpfs_node *tn = tmpfs_node(ino);
	u64 p = (u64)off >> PAGE_SHIFT, end = ((u64)ino->size + PAGE_SIZE - 1) >> PAGE_SHIFT;
	u64 found;

	if (off < 0 || off >= ino->size)
		return -ENXIO;
	if (!hole) {
		found = (p << PAGE_SHIFT) < tn->image_len ? p
							  : tree_next(tn->tree, tn->height, 0, p);
		if (found >= end)
			return -ENXIO;
		return MAX(off, (loff_t)(found << PAGE_SHIFT));
	}
	while (p < end && ((p << PAGE_SHIFT) < tn->image_len || tree_page(tn, p)))
		p++;
	return MIN(MAX(off, (loff_t)(p << PAGE_SHIFT)), ino->size);
}

u64 tmpfs_blocks(struct inode *ino)
{
	struct tmpfs_node *tn = tmpfs_node(ino);

	if (!S_ISREG(ino->mode))
		return 0;
	return (tn->npages + (ALIGN_UP(tn->image_len, PAGE_SIZE) >> PAGE_SHIFT)) *
	       (PAGE_SIZE / 512);
}

/* ---- mappings ---- */

static int tmpfs_fault(struct vma *vma, u64 pgoff, bool write, struct page **out)
{
	struct inode *ino = vma->file->inode;
	int err;

	/* a hole becomes a page: what is mapped has to stay the file's page when somebody writes there */
	err = tmpfs_get_page(ino, pgoff, true, out);
	if (!err && write)
		inode_touch(ino);
	return err == -ENOSPC ? -ENOMEM : err;
}

static void tmpfs_vma_open(struct vma *vma)
{
	tmpfs_node(vma->file->inode)->writable_maps++;
}

static void tmpfs_vma_close(struct vma *vma)
{
	tmpfs_node(vma->file->inode)->writable_maps--;
}

bool tmpfs_writable_maps(const struct inode *ino)
{
	return tmpfs_node(ino)->writable_maps > 0;
}

static const struct vma_ops tmpfs_vma_ops = {.fault = tmpfs_fault};
/* Mappings that F_SEAL_WRITE must know of. */
static const struct vma_ops tmpfs_shared_vma_ops = {
	.fault = tmpfs_fault,
	.open = tmpfs_vma_open,
	.close = tmpfs_vma_close,
};

static int tmpfs_mmap(struct file *f, struct vma *vma)
{
	u32 seals = tmpfs_node(f->inode)->seals;

	if (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) {
		if ((vma->flags & (VM_SHARED | VM_WRITE)) == (VM_SHARED | VM_WRITE))
			return -EPERM;
		if (vma->flags & VM_SHARED)
			vma->flags &= ~VM_MAYWRITE;
	}
	vma->ops = &tmpfs_vma_ops;
	if ((vma->flags & (VM_SHARED | VM_MAYWRITE)) == (VM_SHARED | VM_MAYWRITE)) {
		vma->ops = &tmpfs_shared_vma_ops;
		tmpfs_node(f->inode)->writable_maps++;
	}
	if (!(f->flags & O_NOATIME))
		inode_accessed(f->inode);
	return 0;
}

static int tmpfs_fsync(struct file *f)
{
	(void)f; /* memory is all there is */
	return 0;
}

static int tmpfs_open(struct inode *ino, struct file *f)
{
	(void)ino;
	return f->flags & O_DIRECT ? -EINVAL : 0;
}

const struct file_ops tmpfs_file_ops = {
	.open = tmpfs_open,
	.read = tmpfs_read,
	.write = tmpfs_write,
	.mmap = tmpfs_mmap,
	.fsync = tmpfs_fsync,
	.kernel_buf = true,
};
