/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page faults: which page belongs at an address, and how it may be mapped.
 *
 *   anonymous, read     the one page of zeros, read-only
 *   anonymous, write    a new zeroed page; in a large area, the 2 MiB around it
 *   private file        the file's own page, read-only; a write copies it
 *   shared              the object's page, with the write bit if the area has it; where the
 *                       object is told of writes (vma_ops.written), from the first write on
 *
 * The rule of copy on write: an entry of a private area has the write bit only
 * while nobody else refers to its page. A write to any other page takes a copy,
 * or takes the page over if the other references have gone meanwhile.
 *
 * A read fault in a file also maps those neighbours within an aligned 64 KiB
 * that the file has in memory, as Linux does, to save their faults.
 */
#include "mm/vma.h"
#include "fs/vfs.h"
#include "proc/task.h"

#define AROUND_PAGES 16
#define BLOCK_ORDER  9
_Static_assert(PAGE_SIZE << BLOCK_ORDER == BLOCK_SIZE, "2 MiB");

const char zero_bytes[PAGE_SIZE] __aligned(4096);

struct page *zero_page(void)
{
	return phys_to_page(virt_to_phys(zero_bytes));
}

bool page_is_exclusive(const struct page *pg)
{
	return !(pg->flags & PG_RESERVED) && __atomic_load_n(&pg->refs, __ATOMIC_ACQUIRE) == 1;
}

unsigned vma_prot(const struct vma *v)
{
	unsigned prot = 0;

	if (v->flags & VM_ACCESS)
		prot |= PTE_READ;
	if (v->flags & VM_EXEC)
		prot |= PTE_EXEC;
	if ((v->flags & (VM_WRITE | VM_SHARED)) == (VM_WRITE | VM_SHARED) &&
	    !(v->ops && v->ops->written))
		prot |= PTE_WRITE;
	return prot;
}

static void count_rss(struct mm *mm, u64 pages)
{
	mm->rss += pages;
	mm->hiwater_rss = MAX(mm->hiwater_rss, mm->rss);
}

void sync_exec(struct page *pg)
{
	if (pg->flags & PG_EXEC_SYNCED)
		return;
	sync_icache(page_addr(pg), PAGE_SIZE);
	pg->flags |= PG_EXEC_SYNCED;
}

int map_page(struct mm *mm, u64 addr, struct page *pg, unsigned prot)
{
	int err;

	if (prot & PTE_EXEC)
		sync_exec(pg);
	err = pgd_map(mm->pgd, addr, page_to_phys(pg), prot);
	if (err) {
		page_put(pg);
		return err;
	}
	if (pg != zero_page())
		count_rss(mm, 1);
	return 0;
}

static void drop_page(paddr_t pa, u64 va, void *arg)
{
	struct mm *mm = arg;
	struct page *pg = phys_to_page(pa);

	(void)va;
	if (!pg)
		return;
	if (pg != zero_page())
		mm->rss--;
	page_put(pg);
}

void unmap_pages(struct mm *mm, u64 start, u64 end)
{
	if (mm->refs)
		pgd_unmap_range(mm->pgd, start, end, drop_page, mm);
	else /* mm_put(): nobody will run in it again */
		pgd_drop_range(mm->pgd, start, end, drop_page, mm);
}

/* A write to a page that is mapped without the write bit in a private area. */
static int copy_on_write(struct mm *mm, struct vma *v, u64 addr, paddr_t pa)
{
	struct page *old = phys_to_page(pa), *new;
	unsigned prot = vma_prot(v) | PTE_WRITE;

	v->flags |= VM_ANON_PAGES;
	if (old && page_is_exclusive(old))
		return pgd_map(mm->pgd, addr, pa, prot);
	if (!old || old == zero_page()) {
		new = page_alloc_zero();
	} else {
		new = page_alloc(0);
		if (new)
			memcpy(page_addr(new), page_addr(old), PAGE_SIZE);
	}
	if (!new)
		return -ENOMEM;
	if (old && old != zero_page())
		mm->rss--;
	if (map_page(mm, addr, new, prot))
		return -ENOMEM;
	if (old)
		page_put(old);
	return 0;
}

/*
 * The first write to an aligned 2 MiB of an anonymous area fills all of it, as
 * Linux does with transparent huge pages: one fault instead of 512.
 */
static bool anonymous_block(struct mm *mm, struct vma *v, u64 addr)
{
	u64 block = ALIGN_DOWN(addr, BLOCK_SIZE);
	struct page *pg;

	if (block < v->start || block + BLOCK_SIZE > v->end || v->flags & VM_NOHUGEPAGE ||
	    !pgd_block_empty(mm->pgd, block))
		return false;
	pg = page_alloc(BLOCK_ORDER);
	if (!pg)
		return false;
	for (u64 off = 0; off < BLOCK_SIZE; off += PAGE_SIZE)
		page_clear((char *)page_addr(pg) + off);
	if (pgd_map_block(mm->pgd, block, page_to_phys(pg), vma_prot(v) | PTE_WRITE)) {
		page_put(pg);
		return false;
	}
	page_split(pg);
	v->flags |= VM_ANON_PAGES;
	count_rss(mm, BLOCK_SIZE / PAGE_SIZE);
	return true;
}

static int anonymous(struct mm *mm, struct vma *v, u64 addr, bool write)
{
	struct page *pg;

	if (!write) {
		pg = zero_page();
		page_get(pg);
		return map_page(mm, addr, pg, vma_prot(v));
	}
	if (anonymous_block(mm, v, addr))
		return 0;
	pg = page_alloc_zero();
	if (!pg)
		return -ENOMEM;
	v->flags |= VM_ANON_PAGES;
	return map_page(mm, addr, pg, vma_prot(v) | PTE_WRITE);
}

/* Counts the pages that were mapped, and lets go of the others. */
static void settle_around(struct mm *mm, struct page **pages, unsigned n, u32 mapped)
{
	for (unsigned i = 0; i < n; i++) {
		if (mapped & 1u << i)
			count_rss(mm, 1);
		else if (pages[i])
			page_put(pages[i]);
	}
}

/* Maps what the file has in memory around addr, where nothing is mapped yet. */
static void map_around(struct mm *mm, struct vma *v, u64 addr)
{
	u64 block = ALIGN_DOWN(addr, AROUND_PAGES * PAGE_SIZE);
	u64 start = MAX(block, v->start), end = MIN(block + AROUND_PAGES * PAGE_SIZE, v->end);
	u64 pgoff = v->pgoff + ((start - v->start) >> PAGE_SHIFT);
	unsigned n = (unsigned)((end - start) >> PAGE_SHIFT), prot = vma_prot(v);
	struct page *pages[AROUND_PAGES];
	struct inode *ino = v->file->inode;
	paddr_t pa[AROUND_PAGES];
	u32 mapped;

	ino->get_pages(ino, pgoff, n, pages);
	for (unsigned i = 0; i < n; i++) {
		pa[i] = pages[i] ? page_to_phys(pages[i]) : 0;
		if (pages[i] && prot & PTE_EXEC)
			sync_exec(pages[i]);
	}
	mapped = pgd_map_new(mm->pgd, start, pa, n, prot);
	settle_around(mm, pages, n, mapped);
}

/*
 * The page of the file or object behind the area, with a reference. The area may be gone when
 * it returns.
 */
static int object_page(struct vma *v, u64 addr, bool write, struct page **out)
{
	u64 pgoff = v->pgoff + ((addr - v->start) >> PAGE_SHIFT);
	struct file *f;
	int err;

	if (v->ops && v->ops->fault)
		return v->ops->fault(v, pgoff, write && v->flags & VM_SHARED, out);
	f = v->file;
	if (!f || !f->inode->get_page)
		return -ERANGE;
	file_get(f);
	err = f->inode->get_page(f->inode, pgoff, true, out);
	file_put(f);
	return err;
}

/* May the object's page be written to through this shared area? False: it is not the object's any more. */
static bool may_write(struct vma *v, u64 addr, struct page *pg)
{
	u64 pgoff = v->pgoff + ((addr - v->start) >> PAGE_SHIFT);

	return !(v->ops && v->ops->written) || v->ops->written(v, pgoff, pg);
}

/* A write to a page that is mapped without the write bit in a shared area. */
static int write_shared(struct mm *mm, struct vma *v, u64 addr, paddr_t pa)
{
	struct page *pg = phys_to_page(pa);

	if (pg && !may_write(v, addr, pg)) {
		unmap_pages(mm, addr, addr + PAGE_SIZE);
		return 0;
	}
	return pgd_map(mm->pgd, addr, pa, vma_prot(v) | PTE_WRITE);
}

/* A write to a page of a private area that is not mapped yet: a copy, and nobody counts the original. */
static int private_copy(struct mm *mm, struct vma *v, u64 addr, struct page *pg)
{
	struct page *new = page_alloc(0);

	if (new)
		memcpy(page_addr(new), page_addr(pg), PAGE_SIZE);
	page_put(pg);
	if (!new)
		return -ENOMEM;
	v->flags |= VM_ANON_PAGES;
	return map_page(mm, addr, new, vma_prot(v) | PTE_WRITE);
}

static int from_object(struct mm *mm, struct vma *v, u64 addr, bool write)
{
	unsigned prot = 0;
	struct page *pg = NULL;
	u64 seq = mm->seq;
	bool cached = v->file && v->file->inode->get_pages;
	int err = object_page(v, addr, write, &pg);

	if (err)
		return err;
	if (!pg)
		return -ERANGE;
	if (mm->seq != seq || pgd_lookup(mm->pgd, addr, NULL)) {
		page_put(pg);
		return 0; /* it took a while and the world has moved on: try again */
	}
	if (write && !(v->flags & VM_SHARED))
		return private_copy(mm, v, addr, pg);
	if (write && !may_write(v, addr, pg)) {
		page_put(pg);
		return 0;
	}
	if (write)
		prot = PTE_WRITE;
	err = map_page(mm, addr, pg, vma_prot(v) | prot);
	if (!err && cached && !write)
		map_around(mm, v, addr);
	return err;
}

static int resolve(struct mm *mm, struct vma *v, u64 addr, u32 access)
{
	bool write = access & FAULT_WRITE;
	unsigned prot;
	paddr_t pa;

	if (write && !(v->flags & VM_WRITE))
		return -EACCES;
	if (access & FAULT_EXEC && !(v->flags & VM_EXEC))
		return -EACCES;
	if (!(v->flags & VM_ACCESS))
		return -EACCES;
	addr = ALIGN_DOWN(addr, PAGE_SIZE);
	pa = pgd_lookup(mm->pgd, addr, &prot);
	if (!pa) {
		if (v->file || v->ops)
			return from_object(mm, v, addr, write);
		return anonymous(mm, v, addr, write);
	}
	if (write && !(prot & PTE_WRITE)) {
		if (v->flags & VM_SHARED)
			return write_shared(mm, v, addr, pa);
		return copy_on_write(mm, v, addr, pa);
	}
	return 0; /* another thread was faster */
}

/* Is this below the stack, close enough for it to grow there? Then it has grown. */
static bool grow_down(struct mm *mm, struct vma *v, u64 addr)
{
	u64 start = ALIGN_DOWN(addr, PAGE_SIZE), pages = (v->start - start) >> PAGE_SHIFT;
	u64 limit = current->proc->rlim[RLIMIT_STACK].rlim_cur;
	struct vma *below = v->prev;

	if (!(v->flags & VM_GROWSDOWN) || start < MMAP_MIN_ADDR)
		return false;
	if (v->end - start > limit || !within_limit(mm, pages))
		return false;
	if (v != mm->vmas && below->flags & VM_ACCESS && !(below->flags & VM_GROWSDOWN) &&
	    start < below->end + STACK_GUARD_GAP)
		return false;
	if (v != mm->vmas && start < below->end)
		return false;
	vma_resize(mm, v, start, v->end);
	return true;
}

int fault_in(struct mm *mm, u64 addr, u32 access)
{
	struct vma *v = vma_find(mm, addr);

	if (!v || (addr < v->start && !grow_down(mm, v, addr)))
		return -EFAULT;
	return resolve(mm, v, addr, access);
}

int vm_fault(struct mm *mm, u64 addr, u32 access, bool *major)
{
	*major = false;
	if (addr >= TASK_SIZE)
		return -EFAULT;
	return fault_in(mm, addr, access);
}

int vm_populate(struct mm *mm, u64 addr, u64 len, bool write)
{
	u64 end = addr + len;

	for (u64 at = ALIGN_DOWN(addr, PAGE_SIZE); at < end; at += PAGE_SIZE) {
		unsigned prot;
		paddr_t pa = pgd_lookup(mm->pgd, at, &prot);
		u64 want = PTE_READ | (write ? PTE_WRITE : 0);
		int err;

		/* a fault that says "again" (0) may need another round */
		while (!pa || (prot & want) != want) {
			err = fault_in(mm, at, write ? FAULT_WRITE : 0);
			if (err)
				return err;
			pa = pgd_lookup(mm->pgd, at, &prot);
		}
	}
	return 0;
}
