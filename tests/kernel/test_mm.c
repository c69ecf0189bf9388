/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's memory code on the host, under the sanitizers: pages, the heap,
 * and address spaces against a model that knows only what every page should be.
 * The page tables of the fakes are arrays, RAM is a block of host memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fs/vfs.h"
#include "lib/lock.h"
#include "mm/vma.h"
#include "proc/task.h"
#include <linux/mman.h>

#define RAM_PAGES 16384
#define RAM_SIZE  (RAM_PAGES * PAGE_SIZE)

static char ram[RAM_SIZE] __aligned(1 << 22);

/* ---- what the code under test calls ---- */

static struct process the_process;
static struct task the_task = {.proc = &the_process};
struct task *fake_task = &the_task;
_Atomic uint32_t perf_watchers[PERF_WATCH_NR];

struct entry {
	paddr_t pa;
	unsigned prot;
};
#define WINDOW	     0x10000000UL /* where the tests map */
#define WINDOW_PAGES 2048
struct table {
	struct entry e[WINDOW_PAGES];
};
static struct table tables[4];
static bool table_used[4];

void panic(const char *fmt, ...)
{
	print_message("panic: %s\n", fmt);
	fail();
	__builtin_trap();
}
void printk(const char *fmt, ...)
{
	(void)fmt;
}
bool capable(int cap)
{
	(void)cap;
	return true;
}
void perf_do_mmap(const struct perf_mmap *map)
{
	(void)map;
}
char *dentry_path(struct dentry *d, char *buf, size_t size)
{
	(void)d, (void)size;
	return buf;
}
void file_get(struct file *f)
{
	f->refs++;
}
void file_put(struct file *f)
{
	assert_true(f->refs > 1); /* the test holds one */
	f->refs--;
}
void sync_icache(void *kaddr, size_t n)
{
	(void)kaddr, (void)n;
}

paddr_t pgd_alloc(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(tables); i++) {
		if (!table_used[i]) {
			table_used[i] = true;
			memset(&tables[i], 0, sizeof(tables[i]));
			return i + 1;
		}
	}
	return 0;
}
void pgd_free(paddr_t pgd)
{
	table_used[pgd - 1] = false;
}
static struct entry *entry_of(paddr_t pgd, u64 va)
{
	assert_true(va >= WINDOW && va < WINDOW + WINDOW_PAGES * PAGE_SIZE);
	return &tables[pgd - 1].e[(va - WINDOW) >> PAGE_SHIFT];
}
int pgd_map(paddr_t pgd, u64 va, paddr_t pa, unsigned prot)
{
	*entry_of(pgd, va) = (struct entry){pa, prot};
	return 0;
}
u32 pgd_map_new(paddr_t pgd, u64 va, const paddr_t *pa, unsigned n, unsigned prot)
{
	u32 mapped = 0;

	for (unsigned i = 0; i < n; i++) {
		struct entry *e = entry_of(pgd, va + i * PAGE_SIZE);

		if (!pa[i] || e->pa)
			continue;
		*e = (struct entry){pa[i], prot};
		mapped |= 1u << i;
	}
	return mapped;
}
paddr_t pgd_lookup(paddr_t pgd, u64 va, unsigned *prot)
{
	struct entry *e = entry_of(pgd, va);

	if (prot)
		*prot = e->prot;
	return e->pa;
}
bool pgd_block_empty(paddr_t pgd, u64 va)
{
	u64 block = ALIGN_DOWN(va, BLOCK_SIZE);

	for (u64 at = block; at < block + BLOCK_SIZE; at += PAGE_SIZE)
		if (entry_of(pgd, at)->pa)
			return false;
	return true;
}
int pgd_map_block(paddr_t pgd, u64 va, paddr_t pa, unsigned prot)
{
	for (u64 i = 0; i < BLOCK_SIZE; i += PAGE_SIZE)
		*entry_of(pgd, ALIGN_DOWN(va, BLOCK_SIZE) + i) = (struct entry){pa + i, prot};
	return 0;
}
static void each(paddr_t pgd, u64 start, u64 end, void (*fn)(struct entry *e, u64 va, void *arg),
		 void *arg)
{
	for (u64 i = 0; i < WINDOW_PAGES; i++) {
		u64 va = WINDOW + i * PAGE_SIZE;

		if (va >= start && va < end && tables[pgd - 1].e[i].pa)
			fn(&tables[pgd - 1].e[i], va, arg);
	}
}
struct call {
	void (*unmap)(paddr_t pa, u64 va, void *arg);
	unsigned (*walk)(paddr_t pa, u64 va, unsigned prot, void *arg);
	void *arg;
};
static void unmap_entry(struct entry *e, u64 va, void *arg)
{
	struct call *c = arg;
	paddr_t pa = e->pa;

	e->pa = 0;
	if (c->unmap)
		c->unmap(pa, va, c->arg);
}
static void walk_entry(struct entry *e, u64 va, void *arg)
{
	struct call *c = arg;

	e->prot = c->walk(e->pa, va, e->prot, c->arg);
}
void pgd_unmap_range(paddr_t pgd, u64 start, u64 end, void (*fn)(paddr_t pa, u64 va, void *arg),
		     void *arg)
{
	struct call c = {.unmap = fn, .arg = arg};

	each(pgd, start, end, unmap_entry, &c);
}
void pgd_drop_range(paddr_t pgd, u64 start, u64 end, void (*fn)(paddr_t pa, u64 va, void *arg),
		    void *arg)
{
	pgd_unmap_range(pgd, start, end, fn, arg);
}
void pgd_walk_range(paddr_t pgd, u64 start, u64 end,
		    unsigned (*fn)(paddr_t pa, u64 va, unsigned prot, void *arg), void *arg)
{
	struct call c = {.walk = fn, .arg = arg};

	each(pgd, start, end, walk_entry, &c);
}

/* ---- tools ---- */

static u64 seed = 1;
static u64 random_below(u64 n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % n;
}

static u64 free_pages(void)
{
	u64 total, n;

	page_stats(&total, &n);
	return n;
}

static int set_up(void **state)
{
	paddr_t base = virt_to_phys(ram), zeros = virt_to_phys(zero_bytes);

	(void)state;
	for (unsigned i = 0; i < RLIM_NLIMITS; i++)
		the_process.rlim[i].rlim_cur = RLIM64_INFINITY;
	page_add_ram(base, base + RAM_SIZE / 2);
	page_add_ram(base + RAM_SIZE / 2 + 8 * PAGE_SIZE, base + RAM_SIZE); /* two banks */
	page_reserve(base + 100 * PAGE_SIZE + 1, base + 120 * PAGE_SIZE - 1);
	/* the page of zeros lies in the kernel's own image */
	page_add_ram(zeros, zeros + PAGE_SIZE);
	page_reserve(zeros, zeros + PAGE_SIZE);
	page_init();
	return 0;
}

/* ---- pages ---- */

static void pages_come_back(void **state)
{
	struct page *pg[600];
	u64 before = free_pages();

	(void)state;
	for (int round = 0; round < 50; round++) {
		unsigned n = 1 + (unsigned)random_below(ARRAY_SIZE(pg));

		for (unsigned i = 0; i < n; i++) {
			pg[i] = page_alloc((unsigned)random_below(4));
			assert_non_null(pg[i]);
			assert_int_equal(pg[i]->refs, 1);
			/* each is whole, aligned and nobody else's */
			assert_true(IS_ALIGNED(page_to_phys(pg[i]), PAGE_SIZE << pg[i]->order));
			memset(page_addr(pg[i]), (int)i, PAGE_SIZE << pg[i]->order);
			*(u64 *)page_addr(pg[i]) = i;
		}
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(*(u64 *)page_addr(pg[i]), i);
			page_put(pg[i]);
		}
		assert_int_equal(free_pages(), before);
	}
	/* all merged again: the largest block can be had */
	pg[0] = page_alloc(10);
	assert_non_null(pg[0]);
	page_put(pg[0]);
}

static void all_memory_can_be_used(void **state)
{
	static struct page *pg[RAM_PAGES];
	unsigned n = 0;

	(void)state;
	while ((pg[n] = page_alloc(0)))
		n++;
	assert_int_equal(free_pages(), 0);
	assert_null(kmalloc(100000));
	for (unsigned i = 0; i < n; i++)
		page_put(pg[i]);
	assert_int_equal(free_pages(), n);
}

static void a_block_can_be_split(void **state)
{
	u64 before = free_pages();
	struct page *pg = page_alloc(3);

	(void)state;
	page_split(pg);
	for (int i = 7; i >= 0; i--)
		page_put(pg + i);
	assert_int_equal(free_pages(), before);
}

/* ---- heap ---- */

static void heap_objects_are_apart(void **state)
{
	u8 *obj[400] = {0};
	size_t size[400] = {0};
	u64 before = kmalloc_in_use();

	(void)state;
	for (int step = 0; step < 20000; step++) {
		unsigned i = (unsigned)random_below(ARRAY_SIZE(obj));

		for (size_t k = 0; k < size[i]; k++)
			assert_int_equal(obj[i][k], (u8)(i * 7));
		if (obj[i] && random_below(4) == 0) {
			size_t n = 1 + random_below(6000);

			obj[i] = krealloc(obj[i], n);
			for (size_t k = 0; k < MIN(n, size[i]); k++)
				assert_int_equal(obj[i][k], (u8)(i * 7));
			size[i] = n;
		} else if (obj[i]) {
			kfree(obj[i]);
			obj[i] = NULL;
			size[i] = 0;
			continue;
		} else {
			size[i] = 1 + random_below(random_below(5) ? 300 : 9000);
			obj[i] = kzalloc(size[i]);
			assert_non_null(obj[i]);
			for (size_t k = 0; k < size[i]; k++)
				assert_int_equal(obj[i][k], 0);
		}
		memset(obj[i], (u8)(i * 7), size[i]);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(obj); i++)
		kfree(obj[i]);
	assert_int_equal(kmalloc_in_use(), before);
}

/* ---- address spaces ---- */

/* What one page of the window should be. */
struct want {
	bool mapped;
	u32 prot;
	u8 value; /* its first byte */
};
struct model {
	struct mm *mm;
	struct want page[WINDOW_PAGES];
};

static u8 file_data[WINDOW_PAGES]; /* first byte of each page of the file */
static struct page *file_pages[WINDOW_PAGES];

static int file_get_page(struct inode *ino, u64 pgoff, bool create, struct page **out)
{
	(void)ino, (void)create;
	if (pgoff >= WINDOW_PAGES / 2)
		return -ERANGE;
	if (!file_pages[pgoff]) {
		file_pages[pgoff] = page_alloc_zero();
		*(u8 *)page_addr(file_pages[pgoff]) = file_data[pgoff];
	}
	page_get(file_pages[pgoff]);
	*out = file_pages[pgoff];
	return 0;
}
static struct inode the_inode = {.refs = 1, .get_page = file_get_page};
static const struct file_ops the_ops = {.mmap = generic_file_mmap};
static struct file the_file = {.refs = 1, .ops = &the_ops, .inode = &the_inode, .flags = O_RDWR};

/* The areas are in order, apart, joined where they can be, and both indexes say the same. */
static void check_areas(struct mm *mm)
{
	struct vma *v = mm->vmas;
	u64 total = 0;

	for (u32 i = 0; i < mm->nr_areas; i++, v = v->next) {
		assert_ptr_equal(v, mm->areas[i]);
		assert_true(v->start < v->end);
		assert_ptr_equal(v->mm, mm);
		if (i)
			assert_true(mm->areas[i - 1]->end <= v->start);
		total += (v->end - v->start) >> PAGE_SHIFT;
	}
	assert_null(v);
	assert_int_equal(total, mm->total_vm);
}

static void check_pages(struct model *m)
{
	u64 present = 0;

	for (u64 i = 0; i < WINDOW_PAGES; i++) {
		u64 va = WINDOW + i * PAGE_SIZE;
		struct vma *v = vma_find(m->mm, va);
		unsigned prot;
		paddr_t pa = pgd_lookup(m->mm->pgd, va, &prot);

		if (!m->page[i].mapped) {
			assert_true(!v || v->start > va);
			assert_int_equal(pa, 0);
			continue;
		}
		assert_true(v && v->start <= va);
		assert_int_equal(v->flags & VM_ACCESS, prot_to_vm(m->page[i].prot));
		if (!pa)
			continue;
		present += phys_to_page(pa) != zero_page();
		if (prot & PTE_WRITE)
			assert_true(v->flags & VM_WRITE);
		if (prot & PTE_WRITE && !(v->flags & VM_SHARED))
			assert_true(page_is_exclusive(phys_to_page(pa)));
		assert_int_equal(*(u8 *)phys_to_virt(pa), m->page[i].value);
	}
	assert_int_equal(present, m->mm->rss);
}

static void do_map(struct model *m, u64 at, u64 n)
{
	bool file = n < 100 && random_below(3) == 0;
	u32 prot = (u32)random_below(8);
	u64 off = file ? random_below(WINDOW_PAGES / 2 - n) : 0;

	assert_int_equal(vm_mmap(m->mm, WINDOW + at * PAGE_SIZE, n * PAGE_SIZE, prot,
				 MAP_PRIVATE | MAP_FIXED | (file ? 0 : MAP_ANONYMOUS),
				 file ? &the_file : NULL, off << PAGE_SHIFT),
			 WINDOW + at * PAGE_SIZE);
	for (u64 i = 0; i < n; i++)
		m->page[at + i] = (struct want){true, prot, file ? file_data[off + i] : 0};
}

static void do_protect(struct model *m, u64 at, u64 n)
{
	u32 prot = (u32)random_below(8);
	int err = vm_mprotect(m->mm, WINDOW + at * PAGE_SIZE, n * PAGE_SIZE, prot);

	for (u64 i = at; i < at + n; i++) {
		if (!m->page[i].mapped) {
			assert_int_equal(err, -ENOMEM);
			return;
		}
		m->page[i].prot = prot;
	}
	assert_int_equal(err, 0);
}

static void do_access(struct model *m, u64 at)
{
	bool write = random_below(2);
	u64 va = WINDOW + at * PAGE_SIZE + random_below(PAGE_SIZE);
	struct want *w = &m->page[at];
	bool major;
	int err = vm_fault(m->mm, va, write ? FAULT_WRITE : 0, &major);
	unsigned prot;

	if (!w->mapped) {
		assert_int_equal(err, -EFAULT);
		return;
	}
	if (write ? !(w->prot & PROT_WRITE) : !w->prot) {
		assert_int_equal(err, -EACCES);
		return;
	}
	assert_int_equal(err, 0);
	if (write) {
		char *p = phys_to_virt(pgd_lookup(m->mm->pgd, va, &prot));

		assert_true(prot & PTE_WRITE);
		w->value = (u8)random_below(256);
		*p = (char)w->value;
	}
}

static void do_remap(struct model *m, u64 at, u64 n, u64 to)
{
	struct want old[WINDOW_PAGES];
	bool one = true;
	s64 r;

	if (to + n > WINDOW_PAGES || (at < to + n && to < at + n))
		return;
	for (u64 i = at; i < at + n; i++)
		one = one && m->page[i].mapped;
	if (!one || vma_find(m->mm, WINDOW + at * PAGE_SIZE)->end < WINDOW + (at + n) * PAGE_SIZE)
		return; /* more than one area cannot be moved */
	memcpy(old, &m->page[at], n * sizeof(old[0]));
	r = vm_mremap(m->mm, WINDOW + at * PAGE_SIZE, n * PAGE_SIZE, n * PAGE_SIZE,
		      MREMAP_MAYMOVE | MREMAP_FIXED, WINDOW + to * PAGE_SIZE);
	assert_int_equal(r, WINDOW + to * PAGE_SIZE);
	memset(&m->page[at], 0, n * sizeof(old[0]));
	memcpy(&m->page[to], old, n * sizeof(old[0]));
}

static void one_step(struct model *m)
{
	u64 n = 1 + random_below(24), at = random_below(WINDOW_PAGES - 24);

	switch (random_below(9)) {
	case 0:
		if (random_below(20) == 0) { /* large enough for a block */
			do_map(m, random_below(WINDOW_PAGES - 1100), 1100);
			break;
		}
		__attribute__((fallthrough));
	case 1:
		do_map(m, at, n);
		break;
	case 2:
		assert_int_equal(vm_munmap(m->mm, WINDOW + at * PAGE_SIZE, n * PAGE_SIZE), 0);
		memset(&m->page[at], 0, n * sizeof(m->page[0]));
		break;
	case 3:
		do_protect(m, at, n);
		break;
	case 4:
		do_remap(m, at, n, random_below(WINDOW_PAGES));
		break;
	default:
		for (u64 i = 0; i < n; i++)
			do_access(m, at + i);
	}
}

/* Several address spaces, forked from one another, each with a model of its own. */
static void address_spaces_follow_the_model(void **state)
{
	static struct model m[3];
	u64 pages = free_pages(), heap = kmalloc_in_use();

	(void)state;
	for (u64 i = 0; i < WINDOW_PAGES; i++)
		file_data[i] = (u8)(i * 3 + 1);
	for (unsigned i = 0; i < ARRAY_SIZE(m); i++) {
		m[i].mm = mm_create();
		m[i].mm->mmap_base = WINDOW + WINDOW_PAGES * PAGE_SIZE;
	}
	for (int step = 0; step < 6000; step++) {
		unsigned i = (unsigned)random_below(ARRAY_SIZE(m));

		one_step(&m[i]);
		check_areas(m[i].mm);
		if (step % 16 == 0)
			for (unsigned k = 0; k < ARRAY_SIZE(m); k++)
				check_pages(&m[k]);
		if (random_below(100) == 0) {
			unsigned k = (i + 1) % ARRAY_SIZE(m);

			mm_put(m[k].mm);
			m[k].mm = mm_fork(m[i].mm);
			memcpy(m[k].page, m[i].page, sizeof(m[k].page));
		}
	}
	for (unsigned i = 0; i < ARRAY_SIZE(m); i++)
		mm_put(m[i].mm);
	assert_int_equal(the_file.refs, 1);
	for (u64 i = 0; i < WINDOW_PAGES; i++) {
		if (file_pages[i]) {
			assert_int_equal(file_pages[i]->refs, 1);
			assert_int_equal(*(u8 *)page_addr(file_pages[i]), file_data[i]);
			page_put(file_pages[i]);
		}
	}
	assert_int_equal(kmalloc_in_use(), heap);
	/* the heap keeps an empty slab for each size at most */
	assert_true(free_pages() + 8 >= pages);
}

static void places_are_the_highest_that_fit(void **state)
{
	struct mm *mm = mm_create();
	u64 top = WINDOW + WINDOW_PAGES * PAGE_SIZE;
	s64 a, b, c;

	(void)state;
	mm->mmap_base = top;
	a = vm_mmap(mm, 0, 4 * PAGE_SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, NULL, 0);
	b = vm_mmap(mm, 0, PAGE_SIZE, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, NULL, 0);
	c = vm_mmap(mm, 0, 2 * PAGE_SIZE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, NULL, 0);
	assert_int_equal(a, top - 4 * PAGE_SIZE);
	assert_int_equal(b, a - PAGE_SIZE);
	assert_int_equal(c, b - 2 * PAGE_SIZE);
	/* the hole of one page is too small for two, and right for one */
	assert_int_equal(vm_munmap(mm, (u64)b, PAGE_SIZE), 0);
	assert_int_equal(vm_mmap(mm, 0, 2 * PAGE_SIZE, 0, MAP_PRIVATE | MAP_ANONYMOUS, NULL, 0),
			 c - 2 * PAGE_SIZE);
	assert_int_equal(vm_mmap(mm, 0, PAGE_SIZE, 0, MAP_PRIVATE | MAP_ANONYMOUS, NULL, 0), b);
	/* a hint is taken if it is free */
	assert_int_equal(
		vm_mmap(mm, WINDOW + 123, PAGE_SIZE, 0, MAP_PRIVATE | MAP_ANONYMOUS, NULL, 0),
		WINDOW + PAGE_SIZE);
	assert_int_equal(vm_mmap(mm, WINDOW + PAGE_SIZE, PAGE_SIZE, 0,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, NULL, 0),
			 -EEXIST);
	mm_put(mm);
}

static void shared_memory_is_shared(void **state)
{
	struct mm *mm = mm_create(), *child;
	u64 at, before = kmalloc_in_use();
	u8 byte = 42;

	(void)state;
	mm->mmap_base = WINDOW + WINDOW_PAGES * PAGE_SIZE;
	at = (u64)vm_mmap(mm, 0, 4 * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  NULL, 0);
	child = mm_fork(mm);
	assert_int_equal(vm_access(child, at + 5, &byte, 1, true), 1);
	byte = 0;
	assert_int_equal(vm_access(mm, at + 5, &byte, 1, false), 1);
	assert_int_equal(byte, 42);
	mm_put(mm);
	byte = 0;
	assert_int_equal(vm_access(child, at + 5, &byte, 1, false), 1);
	assert_int_equal(byte, 42);
	mm_put(child);
	assert_true(kmalloc_in_use() < before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_come_back),
		cmocka_unit_test(all_memory_can_be_used),
		cmocka_unit_test(a_block_can_be_split),
		cmocka_unit_test(heap_objects_are_apart),
		cmocka_unit_test(places_are_the_highest_that_fit),
		cmocka_unit_test(shared_memory_is_shared),
		cmocka_unit_test(address_spaces_follow_the_model),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
