/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mremap(2): an area grows or shrinks in place, or moves with its pages. The
 * entries of the page table are carried over; no byte is copied.
 */
#include "mm/vma.h"
#include "fs/vfs.h"
#include <linux/mman.h>

struct move {
	struct mm *mm;
	u64 delta;
	int err;
};

static unsigned move_page(paddr_t pa, u64 va, unsigned prot, void *arg)
{
	struct move *m = arg;

	if (!m->err)
		m->err = pgd_map(m->mm->pgd, va + m->delta, pa, prot);
	return prot;
}

/* The area that holds all of [addr, addr+len), if it may be resized so. */
static int check_area(struct mm *mm, u64 addr, u64 old_len, u64 new_len, u32 flags,
		      struct vma **out)
{
	struct vma *v = vma_find(mm, addr);
	bool whole = v && v->ops && (v->ops->no_fork || v->ops->no_split);

	if (!v || v->start > addr)
		return -EFAULT;
	if (!old_len && !(v->flags & VM_SHARED))
		return -EINVAL;
	if (flags & MREMAP_DONTUNMAP && (whole || v->flags & VM_DONTEXPAND))
		return -EINVAL;
	if (old_len > v->end - addr)
		return -EFAULT;
	*out = v;
	if (new_len == old_len)
		return 0;
	if (whole || v->flags & VM_DONTEXPAND)
		return -EFAULT;
	if (new_len > old_len && (!within_limit(mm, (new_len - old_len) >> PAGE_SHIFT) ||
				  !can_commit(v->flags, (new_len - old_len) >> PAGE_SHIFT)))
		return -ENOMEM;
	return 0;
}

/*
 * Makes a new area at `to` (free) with the pages of [addr, addr+old_len) and takes the old one
 * away.
 */
static s64 move_area(struct mm *mm, u64 addr, u64 old_len, u64 to, u64 new_len, bool keep)
{
	struct move m = {.mm = mm, .delta = to - addr};
	struct vma *v, *n;
	int err = old_len ? vma_isolate(mm, addr, addr + old_len) : 0;

	if (err)
		return err;
	v = vma_find(mm, addr);
	n = vma_new(mm, to, to + new_len, v->flags);
	if (!n)
		return -ENOMEM;
	if (v->file || v->ops)
		n->pgoff = v->pgoff + ((addr - v->start) >> PAGE_SHIFT);
	n->file = v->file;
	n->ops = v->ops;
	n->priv = v->priv;
	err = vma_insert(mm, n);
	if (err) {
		kfree(n);
		return err;
	}
	if (n->file)
		file_get(n->file);
	if (n->ops && n->ops->open)
		n->ops->open(n);
	pgd_walk_range(mm->pgd, addr, addr + old_len, move_page, &m);
	if (m.err) {
		u32 i = area_index(mm, to);

		/* the old entries are still there: forget the new ones, the pages stay */
		pgd_unmap_range(mm->pgd, to, to + new_len, NULL, NULL);
		vma_free(vma_detach(mm, i, i + 1));
		return m.err;
	}
	pgd_unmap_range(mm->pgd, addr, addr + old_len, NULL, NULL);
	if (keep)
		vma_unlock(mm, vma_find(mm, addr));
	else if (old_len)
		(void)vm_munmap(mm, addr, old_len);
	vma_merge(mm, to, to + new_len);
	vma_tell_perf(vma_find(mm, to));
	return (s64)to;
}

static s64 move_to(struct mm *mm, u64 addr, u64 old_len, u64 new_len, u32 flags, u64 to)
{
	struct vma *v;
	s64 at = (s64)to;
	int err;

	if (flags & MREMAP_FIXED) {
		if (!IS_ALIGNED(to, PAGE_SIZE) || new_len > TASK_SIZE || to > TASK_SIZE - new_len)
			return -EINVAL;
		if (addr + old_len > to && to + new_len > addr)
			return -EINVAL; /* they overlap */
		err = vm_munmap(mm, to, new_len);
		if (err)
			return err;
	}
	if (old_len > new_len) {
		err = vm_munmap(mm, addr + new_len, old_len - new_len);
		if (err)
			return err;
		old_len = new_len;
	}
	err = check_area(mm, addr, old_len, new_len, flags, &v);
	if (err)
		return err;
	if (!(flags & MREMAP_FIXED)) {
		at = find_place(mm, to, new_len);
		if (at < 0)
			return at;
	}
	return move_area(mm, addr, old_len, (u64)at, new_len, flags & MREMAP_DONTUNMAP);
}

s64 vm_mremap(struct mm *mm, u64 addr, u64 old_len, u64 new_len, u32 flags, u64 new_addr)
{
	struct vma *v;
	u32 next;
	s64 to;
	int err;

	if (flags & ~(u32)(MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP))
		return -EINVAL;
	if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) && !(flags & MREMAP_MAYMOVE))
		return -EINVAL;
	if (!IS_ALIGNED(addr, PAGE_SIZE) || !new_len)
		return -EINVAL;
	if (old_len > TASK_SIZE || addr > TASK_SIZE - old_len || new_len > TASK_SIZE)
		return -EINVAL;
	old_len = ALIGN_UP(old_len, PAGE_SIZE);
	new_len = ALIGN_UP(new_len, PAGE_SIZE);
	if (flags & MREMAP_DONTUNMAP && old_len != new_len)
		return -EINVAL;
	v = vma_find(mm, addr);
	if (!v || v->start > addr)
		return -EFAULT;
	if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP))
		return move_to(mm, addr, old_len, new_len, flags, new_addr);
	if (old_len >= new_len && old_len) {
		err = old_len > new_len ? vm_munmap(mm, addr + new_len, old_len - new_len) : 0;
		return err ? err : (s64)addr;
	}
	err = check_area(mm, addr, old_len, new_len, flags, &v);
	if (err)
		return err;
	next = area_index(mm, v->end);
	if (old_len && old_len == v->end - addr && addr + new_len <= TASK_SIZE &&
	    (next == mm->nr_areas || mm->areas[next]->start >= addr + new_len)) {
		vma_resize(mm, v, v->start, addr + new_len);
		if (v->flags & VM_LOCKED)
			(void)vm_populate(mm, addr + old_len, new_len - old_len, true);
		return (s64)addr;
	}
	if (!(flags & MREMAP_MAYMOVE))
		return -ENOMEM;
	to = find_place(mm, 0, new_len);
	return to < 0 ? to : move_area(mm, addr, old_len, (u64)to, new_len, false);
}
