/* SPDX-License-Identifier: BSD-2-Clause */
/* Advice about memory, and what is in memory: madvise(2), mincore(2). */
#include "mm/vma.h"
#include "fs/vfs.h"
#include "proc/task.h"
#include "sys/syscall.h"
#include <linux/mman.h>

/* How one advice changes the flags of an area: bits set and cleared. */
static bool flag_advice(int advice, u32 *set, u32 *clear)
{
	*set = *clear = 0;
	switch (advice) {
	case MADV_DONTFORK:
		*set = VM_DONTFORK;
		return true;
	case MADV_DOFORK:
		*clear = VM_DONTFORK;
		return true;
	case MADV_WIPEONFORK:
		*set = VM_WIPEONFORK;
		return true;
	case MADV_KEEPONFORK:
		*clear = VM_WIPEONFORK;
		return true;
	case MADV_DONTDUMP:
		*set = VM_DONTDUMP;
		return true;
	case MADV_DODUMP:
		*clear = VM_DONTDUMP;
		return true;
	case MADV_HUGEPAGE:
		*clear = VM_NOHUGEPAGE;
		return true;
	case MADV_NOHUGEPAGE:
		*set = VM_NOHUGEPAGE;
		return true;
	default:
		return false;
	}
}

/* Hints that ask for nothing this kernel would do differently; Linux may ignore them too. */
static bool is_hint(int advice)
{
	return advice == MADV_NORMAL || advice == MADV_RANDOM || advice == MADV_SEQUENTIAL ||
	       advice == MADV_WILLNEED || advice == MADV_COLD || advice == MADV_PAGEOUT;
}

static bool is_known(int advice)
{
	u32 set, clear;

	return is_hint(advice) || flag_advice(advice, &set, &clear) || advice == MADV_DONTNEED ||
	       advice == MADV_FREE || advice == MADV_POPULATE_READ || advice == MADV_POPULATE_WRITE;
}

static int set_flags(struct mm *mm, u64 start, u64 end, u32 set, u32 clear)
{
	struct vma *v = vma_find(mm, start);
	int err;

	if (((v->flags | set) & ~clear) == v->flags)
		return 0;
	if (set & VM_WIPEONFORK && (v->file || v->flags & VM_SHARED))
		return -EINVAL;
	err = vma_isolate(mm, start, end);
	if (err)
		return err;
	v = vma_find(mm, start);
	v->flags = (v->flags | set) & ~clear;
	return 0;
}

static int populate(struct mm *mm, struct vma *v, u64 start, u64 end, bool write)
{
	int err;

	if (!(v->flags & (write ? VM_WRITE : VM_ACCESS)))
		return -EINVAL;
	err = vm_populate(mm, start, end - start, write);
	return err == -ERANGE ? -EFAULT : err;
}

/* [start,end) lies within one area. */
static int advise(struct mm *mm, struct vma *v, u64 start, u64 end, int advice)
{
	u32 set, clear;

	if (flag_advice(advice, &set, &clear))
		return set_flags(mm, start, end, set, clear);
	switch (advice) {
	case MADV_FREE:
		if (v->file || v->flags & VM_SHARED)
			return -EINVAL;
		__attribute__((fallthrough)); /* the pages may go at any time: why not now */
	case MADV_DONTNEED:
		if (v->flags & VM_LOCKED)
			return -EINVAL;
		unmap_pages(mm, start, end);
		return 0;
	case MADV_POPULATE_READ:
	case MADV_POPULATE_WRITE:
		return populate(mm, v, start, end, advice == MADV_POPULATE_WRITE);
	default:
		return 0;
	}
}

long sys_madvise(const u64 a[6])
{
	u64 start = untag_addr(a[0]), end = start + ALIGN_UP(a[1], PAGE_SIZE), at = start;
	struct mm *mm = current->mm;
	int advice = (int)a[2], err;
	bool hole = false;

	if (!is_known(advice) || !IS_ALIGNED(start, PAGE_SIZE) || (a[1] && end <= start) ||
	    end < start)
		return -EINVAL;
	while (at < end) {
		struct vma *v = vma_find(mm, at);

		if (!v || v->start >= end) {
			hole = true;
			break;
		}
		if (v->start > at) { /* goes on behind it, as Linux does */
			hole = true;
			at = v->start;
		}
		u64 to = MIN(end, v->end);

		err = advise(mm, v, at, to, advice);
		if (err)
			return err;
		at = to;
	}
	vma_merge(mm, start, end);
	return hole ? -ENOMEM : 0;
}

static bool in_memory(struct mm *mm, const struct vma *v, u64 addr)
{
	struct inode *ino = v->file ? v->file->inode : NULL;
	struct page *pg = NULL;

	if (pgd_lookup(mm->pgd, addr, NULL))
		return true;
	if (!ino || !ino->get_page)
		return false;
	if (ino->get_page(ino, v->pgoff + ((addr - v->start) >> PAGE_SHIFT), false, &pg) || !pg)
		return false;
	page_put(pg);
	return true;
}

long sys_mincore(const u64 a[6])
{
	u64 start = untag_addr(a[0]), len = ALIGN_UP(a[1], PAGE_SIZE), uvec = a[2];
	struct mm *mm = current->mm;
	u8 chunk[256];

	if (!IS_ALIGNED(start, PAGE_SIZE))
		return -EINVAL;
	if (start > TASK_SIZE || len > TASK_SIZE - start || (a[1] && !len))
		return -ENOMEM;
	while (len) {
		u64 n = MIN(len >> PAGE_SHIFT, sizeof(chunk));

		for (u64 i = 0; i < n; i++) {
			u64 addr = start + (i << PAGE_SHIFT);
			struct vma *v = vma_find(mm, addr);

			if (!v || v->start > addr)
				return -ENOMEM;
			chunk[i] = in_memory(mm, v, addr);
		}
		if (copy_to_user((void *)uvec, chunk, n))
			return -EFAULT;
		uvec += n;
		start += n << PAGE_SHIFT;
		len -= n << PAGE_SHIFT;
	}
	return 0;
}
