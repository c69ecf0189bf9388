/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Physical pages: a binary buddy allocator over all banks of RAM, with a stack
 * of single pages in front of it, because nearly all requests are for one page
 * and splitting and merging blocks for each would cost more than the rest.
 *
 * Rules: only the first page of a free block is on a list and has PG_FREE; a
 * page that is free or inside a block has refs == 0. `lock` guards the lists,
 * it is taken with interrupts off in any context. Reference counts are atomic
 * and need no lock. What is handed out first depends on nothing but the order
 * of the calls, so that runs can be repeated.
 */
#include "mm/page.h"
#include "lib/lock.h"

#define MAX_ORDER    10 /* blocks of up to 4 MiB */
#define MAX_BANKS    8
#define MAX_RESERVED 24
#define HOT_MAX	     256 /* single pages kept back from the buddy lists */
#define HOT_ORDER    5	 /* block that refills them */

struct range {
	paddr_t start, end;
};

struct page_bank page_banks[MAX_BANKS];
static unsigned nr_banks;
static struct range reserved[MAX_RESERVED]; /* by address; whole pages */
static unsigned nr_reserved;

static struct spinlock lock;
static struct page *free_list[MAX_ORDER + 1]; /* doubly linked, head has prev NULL */
static struct page *hot;		      /* stack through next */
static u32 nr_hot;
static u64 nr_total, nr_free; /* nr_free includes the hot ones */

struct page *phys_to_page_slow(paddr_t pa)
{
	for (struct page_bank *b = page_banks + 1; b < page_banks + nr_banks; b++)
		if (pa >= b->start && pa - b->start < b->nr_pages << PAGE_SHIFT)
			return b->pages + ((pa - b->start) >> PAGE_SHIFT);
	return NULL;
}

static struct page_bank *bank_of_page(const struct page *pg)
{
	for (struct page_bank *b = page_banks; b < page_banks + nr_banks; b++)
		if (pg >= b->pages && pg < b->pages + b->nr_pages)
			return b;
	panic("not a page: %p", (const void *)pg);
}

paddr_t page_to_phys_slow(const struct page *pg)
{
	struct page_bank *b = bank_of_page(pg);

	return b->start + ((u64)(pg - b->pages) << PAGE_SHIFT);
}

static void list_push(struct page *pg, unsigned order)
{
	pg->prev = NULL;
	pg->next = free_list[order];
	if (pg->next)
		pg->next->prev = pg;
	free_list[order] = pg;
	pg->order = (u8)order;
	pg->flags = PG_FREE;
}

static void list_remove(struct page *pg)
{
	if (pg->prev)
		pg->prev->next = pg->next;
	else
		free_list[pg->order] = pg->next;
	if (pg->next)
		pg->next->prev = pg->prev;
	pg->flags = 0;
}

/* Gives a block back, merged with its free buddies as far as the bank goes. Lock held. */
static void buddy_free(struct page *pg, unsigned order)
{
	struct page_bank *b = bank_of_page(pg);
	u64 first = b->start >> PAGE_SHIFT, n = b->nr_pages;
	u64 pfn = first + (u64)(pg - b->pages);

	for (; order < MAX_ORDER; order++) {
		u64 buddy = pfn ^ (1ULL << order);
		struct page *other;

		if (buddy < first || buddy + (1ULL << order) > first + n)
			break;
		other = b->pages + (buddy - first);
		if (!(other->flags & PG_FREE) || other->order != order)
			break;
		list_remove(other);
		pfn &= ~(1ULL << order);
	}
	list_push(b->pages + (pfn - first), order);
}

/* A block of exactly this order, split from a larger one if need be. Lock held. */
static struct page *buddy_alloc(unsigned order)
{
	unsigned from = order;
	struct page *pg;

	while (from <= MAX_ORDER && !free_list[from])
		from++;
	if (from > MAX_ORDER)
		return NULL;
	pg = free_list[from];
	list_remove(pg);
	while (from > order) {
		from--;
		list_push(pg + (1UL << from), from);
	}
	return pg;
}

static void hot_push(struct page *pg)
{
	pg->next = hot;
	hot = pg;
	nr_hot++;
}

static struct page *hot_pop(void)
{
	struct page *pg = hot;

	if (!pg) {
		unsigned order = HOT_ORDER;

		while (!(pg = buddy_alloc(order)) && order > 0)
			order--;
		if (!pg)
			return NULL;
		/* the lowest address on top */
		for (unsigned long i = 1UL << order; i-- > 0;)
			hot_push(pg + i);
		pg = hot;
	}
	hot = pg->next;
	nr_hot--;
	return pg;
}

static void hot_drain(void)
{
	while (hot) {
		struct page *pg = hot;

		hot = pg->next;
		buddy_free(pg, 0);
	}
	nr_hot = 0;
}

struct page *page_alloc(unsigned order)
{
	struct page *pg;
	u64 irq;

	if (order > MAX_ORDER)
		return NULL;
	irq = spin_lock_irqsave(&lock);
	pg = order ? buddy_alloc(order) : hot_pop();
	if (!pg && order) {
		hot_drain();
		pg = buddy_alloc(order);
	}
	if (pg)
		nr_free -= 1ULL << order;
	spin_unlock_irqrestore(&lock, irq);
	if (!pg)
		return NULL;
	ASSERT(pg->refs == 0 && pg->flags == 0);
	pg->refs = 1;
	pg->order = (u8)order;
	return pg;
}

#ifdef __aarch64__
void page_clear(void *page_va)
{
	u64 id, end = (u64)page_va + PAGE_SIZE;

	/* DCZID_EL0: bit 4 = not permitted, bits 3:0 = log2 of the block in words */
	__asm__("mrs %0, dczid_el0" : "=r"(id));
	if ((id & 0x1f) != 4) { /* not the usual 64 bytes */
		memset(page_va, 0, PAGE_SIZE);
		return;
	}
	for (u64 p = (u64)page_va; p < end; p += 256)
		__asm__ volatile("dc zva, %0\n\tdc zva, %1\n\tdc zva, %2\n\tdc zva, %3"
				 :
				 : "r"(p), "r"(p + 64), "r"(p + 128), "r"(p + 192)
				 : "memory");
}
#else
void page_clear(void *page_va)
{
	memset(page_va, 0, PAGE_SIZE);
}
#endif

struct page *page_alloc_zero(void)
{
	struct page *pg = page_alloc(0);

	if (pg)
		page_clear(page_addr(pg));
	return pg;
}

void page_free(struct page *pg)
{
	u64 irq;

	ASSERT(!(pg->flags & (PG_RESERVED | PG_FREE)));
	irq = spin_lock_irqsave(&lock);
	pg->flags = 0;
	nr_free += 1ULL << pg->order;
	if (pg->order == 0 && nr_hot < HOT_MAX)
		hot_push(pg);
	else
		buddy_free(pg, pg->order);
	spin_unlock_irqrestore(&lock, irq);
}

void page_split(struct page *pg)
{
	unsigned long n = 1UL << pg->order;

	ASSERT(pg->refs == 1);
	for (unsigned long i = 0; i < n; i++) {
		pg[i].order = 0;
		pg[i].flags = 0;
		pg[i].refs = 1;
	}
}

void page_stats(u64 *total, u64 *free)
{
	u64 irq = spin_lock_irqsave(&lock);

	*total = nr_total;
	*free = nr_free;
	spin_unlock_irqrestore(&lock, irq);
}

/* ---- start-up: on the boot CPU, before anything is allocated ---- */

void page_add_ram(paddr_t start, paddr_t end)
{
	start = ALIGN_UP(start, PAGE_SIZE);
	end = ALIGN_DOWN(end, PAGE_SIZE);
	if (start >= end)
		return;
	if (nr_banks == MAX_BANKS) {
		printk("mm: more than %d banks of RAM: %llx-%llx is not used\n", MAX_BANKS,
		       (unsigned long long)start, (unsigned long long)end);
		return;
	}
	page_banks[nr_banks++] =
		(struct page_bank){.start = start, .nr_pages = (end - start) >> PAGE_SHIFT};
}

void page_reserve(paddr_t start, paddr_t end)
{
	unsigned i;

	start = ALIGN_DOWN(start, PAGE_SIZE);
	end = ALIGN_UP(end, PAGE_SIZE);
	if (start >= end)
		return;
	if (nr_reserved == MAX_RESERVED)
		panic("mm: more than %d reserved ranges", MAX_RESERVED);
	for (i = nr_reserved++; i > 0 && reserved[i - 1].start > start; i--)
		reserved[i] = reserved[i - 1];
	reserved[i] = (struct range){start, end};
}

static paddr_t bank_end(const struct page_bank *b)
{
	return b->start + (b->nr_pages << PAGE_SHIFT);
}

static bool is_reserved(paddr_t start, paddr_t end, paddr_t *behind)
{
	for (unsigned i = 0; i < nr_reserved; i++) {
		if (start < reserved[i].end && reserved[i].start < end) {
			*behind = reserved[i].end;
			return true;
		}
	}
	return false;
}

/* Finds room for the bank's array of pages in any bank, and reserves it. */
static void place_page_array(struct page_bank *b)
{
	u64 size = b->nr_pages * sizeof(struct page);

	size = ALIGN_UP(size, PAGE_SIZE);
	for (unsigned i = 0; i < nr_banks; i++) {
		paddr_t at = page_banks[i].start;

		while (at + size <= bank_end(&page_banks[i]) && is_reserved(at, at + size, &at))
			;
		if (at + size > bank_end(&page_banks[i]))
			continue;
		b->pages = phys_to_virt(at);
		for (u64 off = 0; off < size; off += PAGE_SIZE)
			page_clear((char *)b->pages + off);
		page_reserve(at, at + size);
		return;
	}
	panic("mm: no room for the table of pages");
}

static void mark_reserved(struct page_bank *b, paddr_t start, paddr_t end)
{
	struct page *pg = b->pages + ((start - b->start) >> PAGE_SHIFT);

	for (; start < end; start += PAGE_SIZE, pg++) {
		pg->refs = 1;
		pg->flags = PG_RESERVED;
	}
}

static void free_range(struct page_bank *b, paddr_t start, paddr_t end)
{
	while (start < end) {
		unsigned order = MAX_ORDER;

		while (!IS_ALIGNED(start, PAGE_SIZE << order) || start + (PAGE_SIZE << order) > end)
			order--;
		buddy_free(b->pages + ((start - b->start) >> PAGE_SHIFT), order);
		nr_free += 1ULL << order;
		start += PAGE_SIZE << order;
	}
}

void page_init(void)
{
	for (unsigned i = 0; i < nr_banks; i++)
		place_page_array(&page_banks[i]);
	for (unsigned i = 0; i < nr_banks; i++) {
		struct page_bank *b = &page_banks[i];
		paddr_t at = b->start;

		nr_total += b->nr_pages;
		for (unsigned r = 0; r < nr_reserved; r++) {
			paddr_t start = MAX(reserved[r].start, at);
			paddr_t end = MIN(reserved[r].end, bank_end(b));

			if (start >= end)
				continue;
			free_range(b, at, start);
			mark_reserved(b, start, end);
			at = end;
		}
		free_range(b, at, bank_end(b));
	}
}
