/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address spaces and their areas. The areas are kept twice: in a list, for
 * those who walk over all of them, and in an array in the same order, so that
 * a lookup is a binary search. Both are changed only here.
 *
 * Every change of the set moves mm->seq on, by which a fault that had to wait
 * for a file notices that the world may have changed meanwhile.
 */
#include "mm/vma.h"
#include "fs/vfs.h"
#include <utlist.h>

u32 area_index(const struct mm *mm, u64 addr)
{
	u32 lo = 0, hi = mm->nr_areas;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (mm->areas[mid]->end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

void area_range(const struct mm *mm, u64 start, u64 end, u32 *from, u32 *to)
{
	u32 i = area_index(mm, start);

	*from = i;
	while (i < mm->nr_areas && mm->areas[i]->start < end)
		i++;
	*to = i;
}

struct vma *vma_find(struct mm *mm, u64 addr)
{
	struct vma *v = mm->last_hit;
	u32 i;

	if (v && addr >= v->start && addr < v->end)
		return v;
	i = area_index(mm, addr);
	if (i == mm->nr_areas)
		return NULL;
	v = mm->areas[i];
	mm->last_hit = v;
	return v;
}

struct vma *vma_new(struct mm *mm, u64 start, u64 end, u32 flags)
{
	struct vma *v = kzalloc(sizeof(*v));

	if (!v)
		return NULL;
	v->mm = mm;
	v->start = start;
	v->end = end;
	v->flags = flags;
	v->pgoff = start >> PAGE_SHIFT;
	return v;
}

static u64 vma_pages(const struct vma *v)
{
	return (v->end - v->start) >> PAGE_SHIFT;
}

/* Room for one more area in the array. */
static int areas_grow(struct mm *mm)
{
	u32 cap = mm->cap_areas ? mm->cap_areas * 2 : 32;
	struct vma **p;

	if (mm->nr_areas < mm->cap_areas)
		return 0;
	p = krealloc(mm->areas, cap * sizeof(*p));
	if (!p)
		return -ENOMEM;
	mm->areas = p;
	mm->cap_areas = cap;
	return 0;
}

static void account(struct mm *mm, const struct vma *v, bool add)
{
	u64 n = vma_pages(v);

	mm->total_vm += add ? n : -n;
	if (mm->total_vm > mm->hiwater_vm)
		mm->hiwater_vm = mm->total_vm;
	if (v->flags & VM_LOCKED)
		mm->locked_vm += add ? n : -n;
}

static void put_at(struct mm *mm, u32 i, struct vma *v)
{
	memmove(&mm->areas[i + 1], &mm->areas[i], (mm->nr_areas - i) * sizeof(v));
	mm->areas[i] = v;
	mm->nr_areas++;
	mm->seq++;
	if (i == 0)
		DL_PREPEND(mm->vmas, v);
	else
		DL_APPEND_ELEM(mm->vmas, mm->areas[i - 1], v);
}

static void take_at(struct mm *mm, u32 i)
{
	struct vma *v = mm->areas[i];

	mm->nr_areas--;
	memmove(&mm->areas[i], &mm->areas[i + 1], (mm->nr_areas - i) * sizeof(v));
	mm->seq++;
	mm->last_hit = NULL;
	DL_DELETE(mm->vmas, v);
}

int vma_insert(struct mm *mm, struct vma *v)
{
	u32 i = area_index(mm, v->start);

	ASSERT(i == mm->nr_areas || mm->areas[i]->start >= v->end);
	if (mm->nr_areas >= MAX_AREAS || areas_grow(mm))
		return -ENOMEM;
	put_at(mm, i, v);
	account(mm, v, true);
	return 0;
}

struct vma *vma_split(struct mm *mm, struct vma *v, u64 addr)
{
	struct vma *upper;

	ASSERT(addr > v->start && addr < v->end && IS_ALIGNED(addr, PAGE_SIZE));
	if (mm->nr_areas >= MAX_AREAS || areas_grow(mm))
		return NULL;
	upper = kmalloc(sizeof(*upper));
	if (!upper)
		return NULL;
	*upper = *v;
	upper->start = addr;
	upper->pgoff += (addr - v->start) >> PAGE_SHIFT;
	v->end = addr;
	put_at(mm, area_index(mm, addr), upper);
	if (upper->file)
		file_get(upper->file);
	if (upper->ops && upper->ops->open)
		upper->ops->open(upper);
	return upper;
}

int vma_isolate(struct mm *mm, u64 start, u64 end)
{
	u64 edge[2] = {start, end};

	for (int i = 0; i < 2; i++) {
		struct vma *v = vma_find(mm, edge[i]);

		if (!v || v->start >= edge[i])
			continue;
		if (v->ops && v->ops->no_split)
			return -EINVAL;
		if (!vma_split(mm, v, edge[i]))
			return -ENOMEM;
	}
	return 0;
}

static bool can_join(const struct vma *a, const struct vma *b)
{
	const u32 ignore = VM_ANON_PAGES;

	return a->end == b->start && a->file == b->file && a->ops == b->ops && a->priv == b->priv &&
	       ((a->flags ^ b->flags) & ~ignore) == 0 &&
	       !(a->flags & (VM_DONTEXPAND | VM_GROWSDOWN)) &&
	       !(a->ops && (a->ops->no_fork || a->ops->no_split)) &&
	       b->pgoff == a->pgoff + vma_pages(a);
}

void vma_merge(struct mm *mm, u64 start, u64 end)
{
	u32 i = area_index(mm, start ? start - 1 : 0);

	while (i + 1 < mm->nr_areas && mm->areas[i]->start <= end) {
		struct vma *a = mm->areas[i], *b = mm->areas[i + 1];

		if (!can_join(a, b)) {
			i++;
			continue;
		}
		take_at(mm, i + 1);
		a->end = b->end;
		a->flags |= b->flags;
		b->start = b->end;
		vma_free(b); /* without sleeping: a holds on to the same file and object */
	}
}

void vma_resize(struct mm *mm, struct vma *v, u64 start, u64 end)
{
	account(mm, v, false);
	if (v->file || v->ops)
		v->pgoff += (u64)((s64)(start - v->start) >> PAGE_SHIFT);
	else
		v->pgoff = start >> PAGE_SHIFT;
	v->start = start;
	v->end = end;
	account(mm, v, true);
	mm->seq++;
}

struct vma *vma_detach(struct mm *mm, u32 from, u32 to)
{
	struct vma *head = NULL;

	for (u32 i = from; i < to; i++) {
		struct vma *v = mm->areas[i];

		account(mm, v, false);
		DL_DELETE(mm->vmas, v);
		DL_APPEND(head, v);
	}
	memmove(&mm->areas[from], &mm->areas[to], (mm->nr_areas - to) * sizeof(*mm->areas));
	mm->nr_areas -= to - from;
	mm->seq++;
	mm->last_hit = NULL;
	return head;
}

void vma_free(struct vma *v)
{
	if (v->ops && v->ops->close)
		v->ops->close(v);
	if (v->file)
		file_put(v->file);
	kfree(v);
}

void vma_lock(struct mm *mm, struct vma *v)
{
	if (!(v->flags & VM_LOCKED))
		mm->locked_vm += vma_pages(v);
	v->flags |= VM_LOCKED;
}

void vma_unlock(struct mm *mm, struct vma *v)
{
	if (v->flags & VM_LOCKED)
		mm->locked_vm -= vma_pages(v);
	v->flags &= ~(u32)VM_LOCKED;
}

const char *vma_label(const struct vma *v)
{
	const struct mm *mm = v->mm;

	if (v->ops && v->ops->name)
		return v->ops->name;
	if (v->file)
		return NULL;
	if (v->start <= mm->brk && v->end >= mm->brk_start)
		return "[heap]";
	if (v->start <= mm->start_stack && v->end >= mm->start_stack)
		return "[stack]";
	return NULL;
}

static struct mm *all_mms; /* DL list, in the order they were made */

struct mm *mm_create(void)
{
	struct mm *mm = kzalloc(sizeof(*mm));

	if (!mm)
		return NULL;
	mm->pgd = pgd_alloc();
	if (!mm->pgd) {
		kfree(mm);
		return NULL;
	}
	mm->refs = 1;
	DL_APPEND(all_mms, mm);
	return mm;
}

void mm_get(struct mm *mm)
{
	mm->refs++;
}

void mm_put(struct mm *mm)
{
	struct vma *list, *v, *tmp;

	ASSERT(mm->refs > 0);
	if (--mm->refs)
		return;
	DL_DELETE(all_mms, mm);
	list = vma_detach(mm, 0, mm->nr_areas);
	DL_FOREACH_SAFE(list, v, tmp) {
		unmap_pages(mm, v->start, v->end);
		vma_free(v);
	}
	ASSERT(mm->rss == 0);
	pgd_free(mm->pgd);
	if (mm->exe)
		file_put(mm->exe);
	kfree(mm->areas);
	kfree(mm);
}

/* Calls fn for each area that maps a part of pages [first,last] of a file, with that part's addresses. */
static void each_mapping(const struct inode *ino, u64 first, u64 last,
			 void (*fn)(struct vma *v, u64 start, u64 end, void *arg), void *arg)
{
	struct mm *mm;

	DL_FOREACH(all_mms, mm) {
		for (u32 i = 0; i < mm->nr_areas; i++) {
			struct vma *v = mm->areas[i];
			u64 from = MAX(first, v->pgoff),
			    to = MIN(last, v->pgoff + vma_pages(v) - 1);

			if (v->file && v->file->inode == ino && from <= to)
				fn(v, v->start + ((from - v->pgoff) << PAGE_SHIFT),
				   v->start + ((to - v->pgoff + 1) << PAGE_SHIFT), arg);
		}
	}
}

static void unmap_part(struct vma *v, u64 start, u64 end, void *arg)
{
	(void)arg;
	unmap_pages(v->mm, start, end);
}

void vm_unmap_file(const struct inode *ino, u64 first, u64 last)
{
	each_mapping(ino, first, last, unmap_part, NULL);
}

static void unmap_own(struct vma *v, u64 start, u64 end, void *arg)
{
	struct page *const *pages = arg;

	for (u64 at = start; at < end; at += PAGE_SIZE) {
		const struct page *pg = pages[v->pgoff + ((at - v->start) >> PAGE_SHIFT)];

		if (pg && pgd_lookup(v->mm->pgd, at, NULL) == page_to_phys(pg))
			unmap_pages(v->mm, at, at + PAGE_SIZE);
	}
}

void vm_unmap_pages(const struct inode *ino, struct page *const *pages, u64 n)
{
	if (n)
		each_mapping(ino, 0, n - 1, unmap_own, (void *)(uintptr_t)pages);
}

static unsigned without_write(paddr_t pa, u64 va, unsigned prot, void *arg)
{
	(void)pa;
	(void)va;
	(void)arg;
	return prot & ~(unsigned)PTE_WRITE;
}

static void protect_part(struct vma *v, u64 start, u64 end, void *arg)
{
	(void)arg;
	if (v->flags & VM_SHARED)
		pgd_walk_range(v->mm->pgd, start, end, without_write, NULL);
}

void vm_protect_file(const struct inode *ino, u64 first, u64 last)
{
	each_mapping(ino, first, last, protect_part, NULL);
}
