/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The copy of an address space for fork(2). Only what the child cannot get back
 * by a fault is copied: the tables of private areas that hold pages of their
 * own. Their pages are shared without the write bit from then on, and whoever
 * writes first takes a copy (fault.c). File pages, shared objects and areas
 * never written to are left to the child's own faults.
 */
#include "mm/vma.h"
#include "fs/vfs.h"

struct copy {
	struct mm *to;
	int err;
};

/* The entry of one page: the child gets the same page; neither may write to it. */
static unsigned share_page(paddr_t pa, u64 va, unsigned prot, void *arg)
{
	struct copy *c = arg;
	struct page *pg = phys_to_page(pa);

	prot &= ~(unsigned)PTE_WRITE;
	if (c->err || !pg)
		return prot;
	page_get(pg);
	c->err = map_page(c->to, va, pg, prot);
	return prot;
}

static int copy_area(struct mm *to, struct mm *from, const struct vma *v)
{
	struct copy c = {.to = to};
	struct vma *n = vma_new(to, v->start, v->end, v->flags & ~(u32)VM_LOCKED);

	if (!n)
		return -ENOMEM;
	n->pgoff = v->pgoff;
	n->file = v->file;
	n->ops = v->ops;
	n->priv = v->priv;
	if (vma_insert(to, n)) {
		kfree(n);
		return -ENOMEM;
	}
	if (n->file)
		file_get(n->file);
	if (n->ops && n->ops->open)
		n->ops->open(n);
	if (v->flags & VM_WIPEONFORK) {
		n->flags &= ~(u32)VM_ANON_PAGES;
		return 0;
	}
	if (v->flags & VM_ANON_PAGES)
		pgd_walk_range(from->pgd, v->start, v->end, share_page, &c);
	return c.err;
}

struct mm *mm_fork(struct mm *from)
{
	struct mm *to = mm_create();

	if (!to)
		return NULL;
	to->brk_start = from->brk_start;
	to->brk = from->brk;
	to->mmap_base = from->mmap_base;
	to->stack_top = from->stack_top;
	to->arg_start = from->arg_start;
	to->arg_end = from->arg_end;
	to->env_start = from->env_start;
	to->env_end = from->env_end;
	memcpy(to->auxv, from->auxv, sizeof(to->auxv));
	to->start_code = from->start_code;
	to->end_code = from->end_code;
	to->start_data = from->start_data;
	to->end_data = from->end_data;
	to->start_stack = from->start_stack;
	to->vdso = from->vdso;
	to->exe = from->exe;
	if (to->exe)
		file_get(to->exe);
	for (u32 i = 0; i < from->nr_areas; i++) {
		const struct vma *v = from->areas[i];

		if (v->flags & VM_DONTFORK || (v->ops && v->ops->no_fork))
			continue;
		if (copy_area(to, from, v)) {
			mm_put(to);
			return NULL;
		}
	}
	return to;
}
