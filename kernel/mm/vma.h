/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of mm/ share with each other: the ordered set of areas and the
 * rules for their pages. See vm.h for the interface to the rest of the kernel.
 */
#ifndef TALLY_MM_VMA_H
#define TALLY_MM_VMA_H

#include "arch/aarch64/cpu.h"
#include "mm/vm.h"

#define MAX_AREAS	65530 /* Linux's vm.max_map_count */
#define MMAP_MIN_ADDR	65536UL
#define STACK_GUARD_GAP (256 * PAGE_SIZE)
#define VM_ACCESS	(VM_READ | VM_WRITE | VM_EXEC)

/* Index of the first area with end > addr; nr_areas if there is none. */
u32 area_index(const struct mm *mm, u64 addr);
/* The areas that have a part in [start, end): indices [*from, *to). */
void area_range(const struct mm *mm, u64 start, u64 end, u32 *from, u32 *to);
/* An area for [start,end) that is in no set yet. NULL: no memory. */
struct vma *vma_new(struct mm *mm, u64 start, u64 end, u32 flags);
/* Puts it into the set, where nothing overlaps it. -ENOMEM: too many areas, or no memory. */
int vma_insert(struct mm *mm, struct vma *vma);
/*
 * Cuts an area of the set in two at addr; `vma` keeps the lower part. The upper part, or NULL:
 * no memory.
 */
struct vma *vma_split(struct mm *mm, struct vma *vma, u64 addr);
/*
 * Splits so that no area of the set crosses start or end. 0, -ENOMEM, -EINVAL (an area that
 * must stay whole).
 */
int vma_isolate(struct mm *mm, u64 start, u64 end);
/* Joins areas around [start,end) that have become alike. */
void vma_merge(struct mm *mm, u64 start, u64 end);
/*
 * Takes the areas [from,to) out of the set; they stay linked through next, the last ends with
 * NULL.
 */
struct vma *vma_detach(struct mm *mm, u32 from, u32 to);
/* Lets go of an area that is in no set: its file, its object, itself. May sleep. */
void vma_free(struct vma *vma);
/* Moves one or both ends of an area of the set without passing a neighbour. */
void vma_resize(struct mm *mm, struct vma *vma, u64 start, u64 end);

/* VM_LOCKED on or off, for an area of the set. */
void vma_lock(struct mm *mm, struct vma *vma);
void vma_unlock(struct mm *mm, struct vma *vma);

/* Unmaps the pages of [start,end) and lets go of them. The areas stay. */
void unmap_pages(struct mm *mm, u64 start, u64 end);
/*
 * Maps a page, whose reference passes to the table. Counts rss. 0 or -ENOMEM (then the
 * reference is gone too).
 */
int map_page(struct mm *mm, u64 addr, struct page *pg, unsigned prot);
/* The instruction cache is told about a page's contents, once. */
void sync_exec(struct page *pg);
/* The protection of the pages of an area: without PTE_WRITE unless it is a shared writable one. */
unsigned vma_prot(const struct vma *vma);
/* Nobody else has a reference on this page of a private area: it may be written in place. */
bool page_is_exclusive(const struct page *pg);
/* The page that stands for untouched anonymous memory in read faults. */
struct page *zero_page(void);
extern const char zero_bytes[PAGE_SIZE]; /* its contents */
/*
 * Like vm_fault(), for accesses that are not the current task's own: no counting, no stack
 * growth.
 */
int fault_in(struct mm *mm, u64 addr, u32 access);

/*
 * shmem.c: an object of zero pages shared by the areas that map it. Fills in vma->ops and
 * priv. -ENOMEM.
 */
int shmem_setup(struct vma *vma);

/* build_id.c: the length of an ELF file's build id, which is put into id; 0: it has none. */
#define BUILD_ID_MAX 20
struct file;
u8 file_build_id(const struct file *f, u8 id[BUILD_ID_MAX]);
/* Tells perf about an area that was mapped or made executable. */
void vma_tell_perf(const struct vma *vma);

/* mmap.c: a free place of len bytes as Linux picks it, -ENOMEM. */
s64 find_place(const struct mm *mm, u64 hint, u64 len);
u32 prot_to_vm(u32 prot);
bool can_commit(u32 vm, u64 pages); /* areas with flags vm: is there so much memory at all? */
bool within_limit(const struct mm *mm, u64 more_pages); /* RLIMIT_AS */

#endif
