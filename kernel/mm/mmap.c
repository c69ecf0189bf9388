/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mapping, unmapping, protection and the break. Places are picked as Linux
 * does with address space randomisation off: the highest gap below mmap_base
 * that is large enough, so that addresses equal those under setarch -R.
 */
#include "mm/vma.h"
#include "fs/vfs.h"
#include "proc/task.h"
#include <linux/mman.h>
#include <linux/capability.h>
#include <utlist.h>

u32 prot_to_vm(u32 prot)
{
	return (prot & PROT_READ ? VM_READ : 0) | (prot & PROT_WRITE ? VM_WRITE : 0) |
	       (prot & PROT_EXEC ? VM_EXEC : 0);
}

static u64 rlimit_of(unsigned which)
{
	return current->proc ? current->proc->rlim[which].rlim_cur : RLIM64_INFINITY;
}

bool within_limit(const struct mm *mm, u64 more_pages)
{
	u64 limit = rlimit_of(RLIMIT_AS);

	return limit == RLIM64_INFINITY || mm->total_vm + more_pages <= limit >> PAGE_SHIFT;
}

/*
 * Linux's heuristic overcommit (vm.overcommit_memory = 0): one request may not
 * be for more than there is altogether. Of memory that can be written to, and
 * that was not asked for with MAP_NORESERVE.
 */
bool can_commit(u32 vm, u64 pages)
{
	u64 total, free;

	if (vm & VM_NORESERVE || (vm & (VM_WRITE | VM_SHARED)) != VM_WRITE)
		return true;
	page_stats(&total, &free);
	return pages <= total;
}

/* Where the gap below an area ends: a stack keeps some distance. */
static u64 gap_end(const struct vma *v)
{
	u64 gap = v->flags & VM_GROWSDOWN ? STACK_GUARD_GAP : 0;

	return v->start > gap ? v->start - gap : 0;
}

static bool is_free(const struct mm *mm, u64 start, u64 len)
{
	u32 i = area_index(mm, start);

	return i == mm->nr_areas || gap_end(mm->areas[i]) >= start + len;
}

s64 find_place(const struct mm *mm, u64 hint, u64 len)
{
	u64 top = mm->mmap_base;
	u32 i;

	if (hint) {
		hint = ALIGN_UP(MAX(hint, MMAP_MIN_ADDR), PAGE_SIZE);
		if (len <= TASK_SIZE && hint <= TASK_SIZE - len && is_free(mm, hint, len))
			return (s64)hint;
	}
	i = area_index(mm, top);
	if (i < mm->nr_areas)
		top = MIN(top, gap_end(mm->areas[i]));
	while (i-- > 0) {
		const struct vma *v = mm->areas[i];

		if (top >= v->end && top - v->end >= len)
			return (s64)(top - len);
		top = MIN(top, gap_end(v));
	}
	if (top >= MMAP_MIN_ADDR && top - MMAP_MIN_ADDR >= len)
		return (s64)(top - len);
	return -ENOMEM;
}

int generic_file_mmap(struct file *f, struct vma *v)
{
	(void)v;
	return f->inode->get_page ? 0 : -ENODEV;
}

int zero_file_mmap(struct file *f, struct vma *v)
{
	(void)f;
	if (v->flags & VM_SHARED)
		return shmem_setup(v);
	v->pgoff = v->start >> PAGE_SHIFT;
	return 0;
}

static void perf_map_of(const struct vma *v, struct perf_mmap *m)
{
	m->start = v->start;
	m->length = v->end - v->start;
	m->page_offset = v->file || v->ops ? v->pgoff << PAGE_SHIFT : 0;
	m->prot = (v->flags & VM_READ ? PROT_READ : 0) | (v->flags & VM_WRITE ? PROT_WRITE : 0) |
		  (v->flags & VM_EXEC ? PROT_EXEC : 0);
	m->flags = v->flags & VM_SHARED ? MAP_SHARED : MAP_PRIVATE;
	if (v->flags & VM_LOCKED)
		m->flags |= MAP_LOCKED;
	if (v->file) {
		struct inode *ino = v->file->inode;
		dev_t dev = ino->sb ? ino->sb->dev : 0;

		m->major = (u32)(dev >> 8) & 0xfff;
		m->minor = (u32)((dev & 0xff) | ((dev >> 12) & ~0xffULL));
		m->inode = ino->ino;
		_Static_assert(sizeof(m->build_id) == BUILD_ID_MAX, "perf.h");
		m->build_id_size = v->flags & VM_EXEC ? file_build_id(v->file, m->build_id) : 0;
	}
}

void vma_tell_perf(const struct vma *v)
{
	struct perf_mmap m = {0};
	char *buf = NULL;

	if (v->mm->building || !perf_mmap_watched())
		return;
	perf_map_of(v, &m);
	m.name = vma_label(v);
	if (!m.name && v->file) {
		buf = kmalloc(PAGE_SIZE);
		m.name = buf ? dentry_path(v->file->dentry, buf, PAGE_SIZE) : "//enomem";
	}
	if (!m.name)
		m.name = "//anon";
	perf_mmap(&m);
	kfree(buf);
}

static bool map_type(u32 flags, u32 *vm)
{
	switch (flags & MAP_TYPE) {
	case MAP_PRIVATE:
		*vm |= VM_MAYWRITE;
		return true;
	case MAP_SHARED:
	case MAP_SHARED_VALIDATE:
		*vm |= VM_SHARED | VM_MAYWRITE;
		return true;
	default:
		return false;
	}
}

/* May this file be mapped so? Narrows *vm for a file that is open for reading only. */
static int check_file(const struct file *f, u32 flags, u32 *vm)
{
	u32 mode = f->flags & O_ACCMODE;

	if ((flags & MAP_TYPE) == MAP_SHARED_VALIDATE &&
	    flags & ~(u32)(MAP_TYPE | MAP_FIXED | MAP_GROWSDOWN | MAP_LOCKED | MAP_NORESERVE |
			   MAP_POPULATE | MAP_NONBLOCK | MAP_STACK | MAP_FIXED_NOREPLACE |
			   0x1800 /* MAP_DENYWRITE, MAP_EXECUTABLE: ignored */))
		return -EOPNOTSUPP;
	if (mode == O_WRONLY || f->flags & O_PATH)
		return -EACCES;
	if (*vm & VM_SHARED && mode != O_RDWR) {
		if (*vm & VM_WRITE)
			return -EACCES;
		*vm &= ~(u32)VM_MAYWRITE;
	}
	if (!f->ops->mmap)
		return -ENODEV;
	return flags & MAP_GROWSDOWN ? -EINVAL : 0;
}

static int lock_limit(const struct mm *mm, u64 more_pages)
{
	if (capable(CAP_IPC_LOCK))
		return 0;
	if (rlimit_of(RLIMIT_MEMLOCK) == 0)
		return -EPERM;
	return mm->locked_vm + more_pages > rlimit_of(RLIMIT_MEMLOCK) >> PAGE_SHIFT ? -EAGAIN : 0;
}

/* Fills in what backs the area; it lies at [0, len) until a place is found. */
static int attach(struct vma *v, struct file *f, u64 off)
{
	int err;

	if (!f)
		return v->flags & VM_SHARED ? shmem_setup(v) : 0;
	v->pgoff = off >> PAGE_SHIFT;
	file_get(f);
	v->file = f;
	err = f->ops->mmap(f, v);
	if (err) {
		file_put(f);
		v->file = NULL;
	}
	return err;
}

/* Puts a new area where flags and addr say, in place of what is there with MAP_FIXED. */
static int place(struct mm *mm, struct vma *v, u64 addr, u64 len, u32 flags)
{
	bool fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
	s64 at = (s64)addr;

	if (!fixed) {
		at = find_place(mm, addr, len);
		if (at < 0)
			return (int)at;
	}
	for (;;) {
		u32 from, to;
		int err;

		area_range(mm, (u64)at, (u64)at + len, &from, &to);
		if (from == to)
			break;
		if (flags & MAP_FIXED_NOREPLACE)
			return -EEXIST;
		err = vm_munmap(mm, (u64)at, len);
		if (err)
			return err;
	}
	if (!v->file && !v->ops)
		v->pgoff = (u64)at >> PAGE_SHIFT;
	v->start = (u64)at;
	v->end = (u64)at + len;
	return vma_insert(mm, v);
}

static int check_range(u64 addr, u64 len, u32 flags)
{
	if (!(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)))
		return len > TASK_SIZE ? -ENOMEM : 0;
	if (!IS_ALIGNED(addr, PAGE_SIZE))
		return -EINVAL;
	if (len > TASK_SIZE || addr > TASK_SIZE - len)
		return -ENOMEM;
	return addr < MMAP_MIN_ADDR && !capable(CAP_SYS_RAWIO) ? -EPERM : 0;
}

s64 vm_mmap(struct mm *mm, u64 addr, u64 len, u32 prot, u32 flags, struct file *f, u64 off)
{
	u32 vm = prot_to_vm(prot) | mm->def_flags;
	struct vma *v;
	u64 start;
	int err;

	if (!len)
		return -EINVAL;
	if (len > TASK_SIZE)
		return -ENOMEM;
	len = ALIGN_UP(len, PAGE_SIZE);
	if ((off >> PAGE_SHIFT) + (len >> PAGE_SHIFT) < off >> PAGE_SHIFT)
		return -EOVERFLOW;
	err = check_range(addr, len, flags);
	if (err)
		return err;
	if (!map_type(flags, &vm))
		return -EINVAL;
	vm |= (flags & MAP_GROWSDOWN && !f ? VM_GROWSDOWN : 0) |
	      (flags & MAP_NORESERVE ? VM_NORESERVE : 0) | (flags & MAP_LOCKED ? VM_LOCKED : 0);
	err = f ? check_file(f, flags, &vm) : flags & MAP_HUGETLB ? -EINVAL : 0;
	if (!err && vm & VM_LOCKED)
		err = lock_limit(mm, len >> PAGE_SHIFT);
	if (err)
		return err;
	if (!within_limit(mm, len >> PAGE_SHIFT) ||
	    !can_commit(f ? vm : vm & ~(u32)VM_SHARED, len >> PAGE_SHIFT))
		return -ENOMEM;
	v = vma_new(mm, 0, len, vm);
	if (!v)
		return -ENOMEM;
	err = attach(v, f, off);
	if (err) {
		kfree(v);
		return err;
	}
	err = place(mm, v, addr, len, flags);
	if (err) {
		vma_free(v);
		return err;
	}
	start = v->start;
	vma_merge(mm, start, start + len);
	vma_tell_perf(vma_find(mm, start));
	if ((flags & MAP_POPULATE && !(flags & MAP_NONBLOCK)) || vm & VM_LOCKED)
		if (vm & VM_ACCESS) /* as on Linux, mmap succeeds even if this does not */
			(void)vm_populate(mm, start, len,
					  (vm & (VM_WRITE | VM_SHARED)) == VM_WRITE);
	return (s64)start;
}

int vm_munmap(struct mm *mm, u64 addr, u64 len)
{
	struct vma *list, *v, *tmp;
	u32 from, to;
	int err;

	if (!IS_ALIGNED(addr, PAGE_SIZE) || addr > TASK_SIZE || len > TASK_SIZE - addr)
		return -EINVAL;
	len = ALIGN_UP(len, PAGE_SIZE);
	if (!len)
		return -EINVAL;
	area_range(mm, addr, addr + len, &from, &to);
	if (from == to)
		return 0;
	err = vma_isolate(mm, addr, addr + len);
	if (err)
		return err;
	area_range(mm, addr, addr + len, &from, &to);
	list = vma_detach(mm, from, to);
	unmap_pages(mm, addr, addr + len);
	DL_FOREACH_SAFE(list, v, tmp)
		vma_free(v);
	return 0;
}

/* ---- protection ---- */

static unsigned protect_page(paddr_t pa, u64 va, unsigned prot, void *arg)
{
	const struct vma *v = arg;
	struct page *pg = phys_to_page(pa);
	unsigned new = vma_prot(v);

	(void)va;
	if (v->flags & VM_WRITE && !(v->flags & VM_SHARED)) {
		/* a private page keeps the write bit, or gets it when it is ours alone */
		if (prot & PTE_WRITE || (pg && page_is_exclusive(pg)))
			new |= PTE_WRITE;
	}
	if (new &PTE_EXEC && !(prot & PTE_EXEC) && pg)
		sync_exec(pg);
	return new;
}

static void protect_area(struct mm *mm, struct vma *v, u32 vm)
{
	bool new_exec = vm & VM_EXEC && !(v->flags & VM_EXEC);

	if ((v->flags & VM_ACCESS) == vm)
		return;
	v->flags = (v->flags & ~(u32)VM_ACCESS) | vm;
	mm->seq++;
	pgd_walk_range(mm->pgd, v->start, v->end, protect_page, v);
	if (new_exec)
		vma_tell_perf(v);
}

int vm_mprotect(struct mm *mm, u64 addr, u64 len, u32 prot)
{
	u32 vm = prot_to_vm(prot);
	u64 end, at = addr;
	int err = 0;

	if (!IS_ALIGNED(addr, PAGE_SIZE))
		return -EINVAL;
	if (!len)
		return 0;
	len = ALIGN_UP(len, PAGE_SIZE);
	if (!len || addr > TASK_SIZE || len > TASK_SIZE - addr)
		return -ENOMEM;
	end = addr + len;
	/* area by area, as far as it goes: what lies before a hole is changed */
	while (at < end) {
		struct vma *v = vma_find(mm, at);

		if (!v || v->start > at) {
			err = -ENOMEM;
			break;
		}
		if (vm & VM_WRITE && !(v->flags & VM_MAYWRITE)) {
			err = -EACCES;
			break;
		}
		if ((v->flags & VM_ACCESS) != vm) {
			u64 pages = (MIN(end, v->end) - at) >> PAGE_SHIFT;

			if (!can_commit(vm | (v->flags & (VM_SHARED | VM_NORESERVE)), pages)) {
				err = -ENOMEM;
				break;
			}
			err = vma_isolate(mm, at, MIN(end, v->end));
			if (err)
				break;
			v = vma_find(mm, at);
			protect_area(mm, v, vm);
		}
		at = v->end;
	}
	vma_merge(mm, addr, MIN(at, end));
	return err;
}

/* ---- the break ---- */

static int grow_heap(struct mm *mm, u64 from, u64 to)
{
	u32 i = area_index(mm, from), vm = VM_READ | VM_WRITE | VM_MAYWRITE | mm->def_flags;
	struct vma *v = i ? mm->areas[i - 1] : NULL;

	if (i < mm->nr_areas && gap_end(mm->areas[i]) < to + PAGE_SIZE)
		return -ENOMEM;
	if (!within_limit(mm, (to - from) >> PAGE_SHIFT) ||
	    !can_commit(vm, (to - from) >> PAGE_SHIFT))
		return -ENOMEM;
	if (v && v->end == from && !v->file && !v->ops && (v->flags & ~(u32)VM_ANON_PAGES) == vm) {
		vma_resize(mm, v, v->start, to);
		return 0;
	}
	v = vma_new(mm, from, to, vm);
	if (!v)
		return -ENOMEM;
	if (vma_insert(mm, v)) {
		kfree(v);
		return -ENOMEM;
	}
	vma_tell_perf(v);
	return 0;
}

s64 vm_brk(struct mm *mm, u64 newbrk)
{
	u64 limit = rlimit_of(RLIMIT_DATA);
	u64 old = ALIGN_UP(mm->brk, PAGE_SIZE), new;

	if (newbrk < mm->brk_start || newbrk > TASK_SIZE)
		return (s64)mm->brk;
	if (limit != RLIM64_INFINITY &&
	    newbrk - mm->brk_start + mm->end_data - mm->start_data > limit)
		return (s64)mm->brk;
	new = ALIGN_UP(newbrk, PAGE_SIZE);
	if (new < old && vm_munmap(mm, new, old - new))
		return (s64)mm->brk;
	if (new > old && grow_heap(mm, old, new))
		return (s64)mm->brk;
	mm->brk = newbrk;
	if (new > old && mm->def_flags &VM_LOCKED)
		(void)vm_populate(mm, old, new - old, true);
	return (s64)newbrk;
}
