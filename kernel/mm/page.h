/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Physical pages and kernel memory. Every page of RAM has a struct page with a
 * reference count; a page goes back to the allocator when the count falls to
 * zero. Pages of the root image are `reserved`: counted, never freed.
 */
#ifndef TALLY_MM_PAGE_H
#define TALLY_MM_PAGE_H

#include "lib/kernel.h"

#define PAGE_SHIFT 12
#define PAGE_SIZE 4096UL
#define PAGE_MASK (~(PAGE_SIZE - 1))

/* All RAM is mapped at this offset; the kernel image is linked inside it. */
#define DIRECT_MAP 0xffff000000000000ULL
static inline void *phys_to_virt(paddr_t pa)
{
	return (void *)(pa + DIRECT_MAP);
}
static inline paddr_t virt_to_phys(const void *va)
{
	return (paddr_t)va - DIRECT_MAP;
}

struct page {
	u32 refs;
	u8 order;	/* of a free or allocated block's first page */
	u8 flags;	/* PG_* */
	u16 used;	/* kmalloc: objects handed out */
	struct page *next, *prev; /* free lists, kmalloc's lists */
	void *priv;	/* kmalloc: first free object; otherwise the owner's */
};
#define PG_RESERVED 1
#define PG_FREE 2  /* first page of a free block */
#define PG_SLAB 4  /* kmalloc: holds objects of the size class `order` */
#define PG_LARGE 8 /* kmalloc: one object of 2^order pages */
/*
 * Mapped executable once, so the instruction cache has been told. Whoever changes the page's
 * bytes calls page_changed().
 */
#define PG_EXEC_SYNCED 16

/* Written through a mapping, and not yet where the file is kept (kernel/fs/p9_map.c). */
#define PG_DIRTY 32

/* The kernel has written to a page that user space may execute (a file's). Big lock held. */
static inline void page_changed(struct page *pg)
{
	pg->flags &= (u8)~PG_EXEC_SYNCED;
}

/*
 * A bank of RAM. Nearly every machine has one: the inline functions below look at the first
 * only.
 */
struct page_bank {
	paddr_t start;
	u64 nr_pages;
	struct page *pages;
};
extern struct page_bank page_banks[];
struct page *phys_to_page_slow(paddr_t pa);
paddr_t page_to_phys_slow(const struct page *pg);

/* NULL when it is not RAM */
static inline struct page *phys_to_page(paddr_t pa)
{
	u64 i = (pa - page_banks[0].start) >> PAGE_SHIFT;

	return likely(i < page_banks[0].nr_pages) ? page_banks[0].pages + i : phys_to_page_slow(pa);
}

static inline paddr_t page_to_phys(const struct page *pg)
{
	u64 i = (u64)(pg - page_banks[0].pages);

	return likely(i < page_banks[0].nr_pages) ? page_banks[0].start + (i << PAGE_SHIFT)
						  : page_to_phys_slow(pg);
}

static inline void *page_addr(const struct page *pg)
{
	return phys_to_virt(page_to_phys(pg));
}

/*
 * Boot: gives [start,end) of RAM to the allocator; `reserve` takes a part of it out (image,
 * initrd, dtb).
 */
void page_add_ram(paddr_t start, paddr_t end);
void page_reserve(paddr_t start, paddr_t end);
void page_init(void);

/*
 * All of these: any context (own irqsave lock). NULL when memory is short. 2^order pages, refs
 * = 1.
 */
struct page *page_alloc(unsigned order);
struct page *page_alloc_zero(void);
static inline void page_get(struct page *pg)
{
	u32 old = __atomic_fetch_add(&pg->refs, 1, __ATOMIC_RELAXED);

	ASSERT(old != 0 && old != ~0u);
}
void page_free(struct page *pg); /* page_put()'s */
static inline void page_put(struct page *pg) /* frees at zero */
{
	u32 old = __atomic_fetch_sub(&pg->refs, 1, __ATOMIC_ACQ_REL);

	ASSERT(old != 0);
	if (old == 1)
		page_free(pg);
}
/*
 * Makes 2^order single pages of a block of page_alloc(order), each with refs = 1: for memory
 * that is mapped in user space.
 */
void page_split(struct page *pg);
void page_clear(void *page_va); /* fills one page with zeros */
void page_stats(u64 *total, u64 *free); /* pages */

/*
 * Kernel heap (power-of-two slabs, big ones straight from pages). Any context; NULL when
 * memory is short.
 */
void *kmalloc(size_t n);
void *kzalloc(size_t n);
void *krealloc(void *p, size_t n);
void kfree(const void *p); /* NULL is fine */
char *kstrdup(const char *s);
/* Bytes handed out by kmalloc and not freed: for the leak check at shutdown. */
u64 kmalloc_in_use(void);

#endif
