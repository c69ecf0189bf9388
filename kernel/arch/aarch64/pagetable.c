/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page tables of user space. Every page is mapped by one 4 KiB entry that is
 * not global. An entry with PTE_NONE keeps its page without any access.
 *
 * TLB entries go by address for all address spaces (VAAE1), so that these
 * functions need not know whose table they work on: on all CPUs, or on this one
 * if the table is the current task's and was never used on another (mm->cpus,
 * which mm_activate() sets before it uses the table; here it is read after the
 * table was changed). A page that is unmapped is handed back only after its
 * translation is gone from every CPU.
 *
 * All: big lock held.
 */
#include "arch/aarch64/cpu.h"
#include "arch/aarch64/pte.h"
#include "arch/aarch64/sysreg.h"
#include "mm/vm.h"
#include "proc/task.h"

/* From this many pages on, one flush of everything is cheaper. */
#define FLUSH_ALL_PAGES 1024

/* After the change to the table: may only this CPU have seen what was there? */
static bool only_here(paddr_t pgd)
{
	const struct mm *mm = current->mm;

	dsb(ishst);
	return mm && mm->pgd == pgd && READ_ONCE(mm->cpus) == BIT(cpu_id());
}

static inline void tlbi_page(u64 va, bool local)
{
	u64 operand = (va >> 12) & 0xfffffffffffULL;

	if (local)
		__asm__ volatile("tlbi vaae1, %0" ::"r"(operand) : "memory");
	else
		__asm__ volatile("tlbi vaae1is, %0" ::"r"(operand) : "memory");
}

static void tlbi_all(bool local)
{
	if (local)
		__asm__ volatile("tlbi vmalle1" ::: "memory");
	else
		__asm__ volatile("tlbi vmalle1is" ::: "memory");
}

static u64 pte_of(paddr_t pa, unsigned prot)
{
	u64 pte = pa | PTE_ATTR(MT_NORMAL) | PTE_INNER | PTE_AF | PTE_NG | PTE_PXN | PTE_TABLE;

	if (!prot)
		return pte | PTE_NONE | PTE_RDONLY | PTE_UXN;
	if (!(prot & PTE_WRITE))
		pte |= PTE_RDONLY;
	if (!(prot & PTE_EXEC))
		pte |= PTE_UXN;
	return pte | PTE_USER | PTE_VALID;
}

static unsigned prot_of(u64 pte)
{
	if (pte & PTE_NONE)
		return 0;
	return PTE_READ | (pte & PTE_RDONLY ? 0 : PTE_WRITE) | (pte & PTE_UXN ? 0 : PTE_EXEC);
}

paddr_t pgd_alloc(void)
{
	struct page *pg = page_alloc_zero();

	return pg ? page_to_phys(pg) : 0;
}

/* The first entry in [p, stop) that is not zero, or stop: most are, so eight at a time. */
static inline u64 *skip_zeros(u64 *p, u64 *stop)
{
	while (stop - p >= 8 && !(p[0] | p[1] | p[2] | p[3] | p[4] | p[5] | p[6] | p[7]))
		p += 8;
	while (p < stop && !*p)
		p++;
	return p;
}

static void free_table(u64 *table, int level)
{
	u64 *stop = table + PTRS_PER_TABLE;

	if (level < 3)
		for (u64 *p = skip_zeros(table, stop); p < stop; p = skip_zeros(p + 1, stop))
			free_table(phys_to_virt(*p & PTE_ADDR), level + 1);
	page_put(phys_to_page(virt_to_phys(table)));
}

void pgd_free(paddr_t pgd)
{
	free_table(phys_to_virt(pgd), 0);
}

/* The level 3 entry for va; NULL if a table is missing and not wanted, or cannot be had. */
static u64 *pte_find(paddr_t pgd, u64 va, bool create)
{
	u64 *table = phys_to_virt(pgd);

	for (int level = 0; level < 3; level++) {
		u64 *entry = &table[LEVEL_INDEX(va, level)];

		if (!*entry) {
			struct page *pg = create ? page_alloc_zero() : NULL;

			if (!pg)
				return NULL;
			dmb(ishst); /* an empty table, before walkers can see it */
			WRITE_ONCE(*entry, page_to_phys(pg) | PTE_VALID | PTE_TABLE);
		}
		table = phys_to_virt(*entry & PTE_ADDR);
	}
	return &table[LEVEL_INDEX(va, 3)];
}

int pgd_map(paddr_t pgd, u64 va, paddr_t pa, unsigned prot)
{
	u64 *pte = pte_find(pgd, va, true), old;

	if (!pte)
		return -ENOMEM;
	old = *pte;
	if (old & PTE_VALID) {
		/* another page at the same address: break before make */
		if ((old & PTE_ADDR) != pa)
			WRITE_ONCE(*pte, 0);
		else
			WRITE_ONCE(*pte, pte_of(pa, prot));
		tlbi_page(va, only_here(pgd));
		dsb(ish);
	}
	WRITE_ONCE(*pte, pte_of(pa, prot));
	dsb(ishst);
	return 0;
}

u32 pgd_map_new(paddr_t pgd, u64 va, const paddr_t *pa, unsigned n, unsigned prot)
{
	u64 *pte = pte_find(pgd, va, true), attr = pte_of(0, prot);
	u32 mapped = 0;

	for (unsigned i = 0; pte && i < n; i++) {
		if (!pa[i] || pte[i])
			continue;
		WRITE_ONCE(pte[i], attr | pa[i]);
		mapped |= 1u << i;
	}
	dsb(ishst);
	return mapped;
}

bool pgd_block_empty(paddr_t pgd, u64 va)
{
	u64 *table = pte_find(pgd, ALIGN_DOWN(va, BLOCK_SIZE), false);

	return !table || skip_zeros(table, table + PTRS_PER_TABLE) == table + PTRS_PER_TABLE;
}

int pgd_map_block(paddr_t pgd, u64 va, paddr_t pa, unsigned prot)
{
	u64 *pte = pte_find(pgd, ALIGN_DOWN(va, BLOCK_SIZE), true);
	u64 entry = pte_of(pa, prot);

	if (!pte)
		return -ENOMEM;
	for (unsigned i = 0; i < PTRS_PER_TABLE; i++, entry += PAGE_SIZE)
		WRITE_ONCE(pte[i], entry);
	dsb(ishst);
	return 0;
}

paddr_t pgd_lookup(paddr_t pgd, u64 va, unsigned *prot)
{
	u64 *pte = pte_find(pgd, va, false);

	if (!pte || !*pte)
		return 0;
	if (prot)
		*prot = prot_of(*pte);
	return *pte & PTE_ADDR;
}

/* A walk over the entries in use, in address order. */
struct walk {
	paddr_t pgd;
	u64 va, end;	 /* where it is: pte is the entry for va */
	u64 *pte, *stop; /* the part of a level 3 table that is being looked at */
};

/* Goes to the level 3 table for w->va, past what missing tables cover. False: at the end. */
static bool walk_down(struct walk *w)
{
	while (w->va < w->end) {
		u64 *table = phys_to_virt(w->pgd);
		u64 span, left;
		int level = 0;

		while (level < 3 && table[LEVEL_INDEX(w->va, level)]) {
			table = phys_to_virt(table[LEVEL_INDEX(w->va, level)] & PTE_ADDR);
			level++;
		}
		if (level == 3) {
			left = (w->end - w->va) >> PAGE_SHIFT;
			w->pte = &table[LEVEL_INDEX(w->va, 3)];
			w->stop = MIN(w->pte + left, table + PTRS_PER_TABLE);
			return true;
		}
		span = 1ULL << LEVEL_SHIFT(level);
		w->va = ALIGN_DOWN(w->va, span) + span;
	}
	return false;
}

/* The next entry in use, with its address in w->va; NULL at the end. */
static u64 *walk_next(struct walk *w)
{
	do {
		u64 *found = skip_zeros(w->pte, w->stop);

		w->va += (u64)(found - w->pte) << PAGE_SHIFT;
		w->pte = found;
		if (found < w->stop)
			return found;
	} while (walk_down(w));
	return NULL;
}

static inline void walk_past(struct walk *w)
{
	w->pte++;
	w->va += PAGE_SIZE;
}

static struct walk walk_begin(paddr_t pgd, u64 start, u64 end)
{
	return (struct walk){.pgd = pgd, .va = start, .end = end};
}

/* Entries that were taken out and whose pages wait for the TLB flush. */
struct unmap_batch {
	paddr_t pgd; /* 0: nobody can have its translations */
	unsigned n;
	struct {
		paddr_t pa;
		u64 va;
	} page[64];
};

static void batch_finish(struct unmap_batch *b, void (*fn)(paddr_t, u64, void *), void *arg)
{
	if (b->n && b->pgd) {
		bool local = only_here(b->pgd);

		for (unsigned i = 0; i < b->n; i++)
			tlbi_page(b->page[i].va, local);
		dsb(ish);
	}
	for (unsigned i = 0; fn && i < b->n; i++)
		fn(b->page[i].pa, b->page[i].va, arg);
	b->n = 0;
}

static void unmap_range(struct walk w, struct unmap_batch *b, void (*fn)(paddr_t, u64, void *),
			void *arg)
{
	u64 *pte;

	while ((pte = walk_next(&w))) {
		b->page[b->n].pa = *pte & PTE_ADDR;
		b->page[b->n].va = w.va;
		WRITE_ONCE(*pte, 0);
		if (++b->n == ARRAY_SIZE(b->page))
			batch_finish(b, fn, arg);
		walk_past(&w);
	}
	batch_finish(b, fn, arg);
}

void pgd_unmap_range(paddr_t pgd, u64 start, u64 end, void (*fn)(paddr_t, u64, void *), void *arg)
{
	struct unmap_batch b;

	b.pgd = pgd;
	b.n = 0;
	unmap_range(walk_begin(pgd, start, end), &b, fn, arg);
}

void pgd_drop_range(paddr_t pgd, u64 start, u64 end, void (*fn)(paddr_t, u64, void *), void *arg)
{
	struct unmap_batch b;

	b.pgd = 0;
	b.n = 0;
	unmap_range(walk_begin(pgd, start, end), &b, fn, arg);
}

static void flush_range(paddr_t pgd, u64 first, u64 last)
{
	bool local = only_here(pgd);

	if ((last - first) / PAGE_SIZE >= FLUSH_ALL_PAGES)
		tlbi_all(local);
	else
		for (u64 va = first; va <= last; va += PAGE_SIZE)
			tlbi_page(va, local);
	dsb(ish);
}

void pgd_walk_range(paddr_t pgd, u64 start, u64 end, unsigned (*fn)(paddr_t, u64, unsigned, void *),
		    void *arg)
{
	struct walk w = walk_begin(pgd, start, end);
	u64 first = 0, last = 0;
	bool changed = false;
	u64 *pte;

	while ((pte = walk_next(&w))) {
		unsigned old = prot_of(*pte);
		unsigned prot = fn(*pte & PTE_ADDR, w.va, old, arg);

		if (prot != old) {
			WRITE_ONCE(*pte, pte_of(*pte & PTE_ADDR, prot));
			if (!changed)
				first = w.va;
			changed = true;
			last = w.va;
		}
		walk_past(&w);
	}
	if (changed)
		flush_range(pgd, first, last);
}

void sync_icache(void *kaddr, size_t n)
{
	u64 ctr = read_sysreg(ctr_el0), end = (u64)kaddr + n;
	u64 dline = 4ULL << ((ctr >> 16) & 15), iline = 4ULL << (ctr & 15);

	for (u64 p = ALIGN_DOWN((u64)kaddr, dline); p < end; p += dline)
		__asm__ volatile("dc cvau, %0" ::"r"(p) : "memory");
	dsb(ish);
	for (u64 p = ALIGN_DOWN((u64)kaddr, iline); p < end; p += iline)
		__asm__ volatile("ic ivau, %0" ::"r"(p) : "memory");
	dsb(ish);
	isb();
}
