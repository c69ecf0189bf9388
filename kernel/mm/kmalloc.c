/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel heap. Requests up to 2 KiB come from slabs: single pages cut into
 * objects of one power of two; larger ones are blocks of whole pages.
 *
 * A free object holds the link to the next one in its first word and a mark,
 * made of its own address, in its second: freeing it again, or writing to it
 * after it was freed, is noticed and ends in a panic. The smallest object has
 * exactly these two words.
 *
 * Objects are aligned to their size. A slab with free objects is on its
 * class's list; a full one is on none. One empty slab is kept for each class.
 */
#include "mm/page.h"
#include "lib/lock.h"

#define MIN_SHIFT  4  /* 16 bytes */
#define MAX_SHIFT  11 /* 2048 */
#define NR_CLASSES (MAX_SHIFT - MIN_SHIFT + 1)

#define FREE_MARK 0x66726565d6d2a5f1ULL

struct object {
	struct object *next;
	u64 mark;
};

static struct spinlock lock;
static struct page *partial[NR_CLASSES]; /* doubly linked, head has prev NULL */
static u64 in_use;

static unsigned class_of(size_t n)
{
	if (n <= 1UL << MIN_SHIFT)
		return 0;
	return 64 - (unsigned)__builtin_clzl(n - 1) - MIN_SHIFT;
}

static u64 mark_of(const struct object *o)
{
	return (u64)(uintptr_t)o ^ FREE_MARK;
}

static void partial_add(struct page *slab)
{
	struct page **head = &partial[slab->order];

	slab->prev = NULL;
	slab->next = *head;
	if (*head)
		(*head)->prev = slab;
	*head = slab;
}

static void partial_remove(struct page *slab)
{
	if (slab->prev)
		slab->prev->next = slab->next;
	else
		partial[slab->order] = slab->next;
	if (slab->next)
		slab->next->prev = slab->prev;
}

/* A page cut into free objects, in address order. */
static struct page *slab_create(unsigned class)
{
	struct page *slab = page_alloc(0);
	size_t size = 1UL << (class + MIN_SHIFT);
	char *base;

	if (!slab)
		return NULL;
	base = page_addr(slab);
	for (size_t off = 0; off < PAGE_SIZE; off += size) {
		struct object *o = (struct object *)(base + off);

		o->next = off + size < PAGE_SIZE ? (struct object *)(base + off + size) : NULL;
		o->mark = mark_of(o);
	}
	slab->flags = PG_SLAB;
	slab->order = (u8) class;
	slab->used = 0;
	slab->priv = base;
	return slab;
}

static void *slab_alloc(unsigned class)
{
	u64 irq = spin_lock_irqsave(&lock);
	struct page *slab = partial[class];
	struct object *o;

	if (!slab) {
		slab = slab_create(class);
		if (!slab) {
			spin_unlock_irqrestore(&lock, irq);
			return NULL;
		}
		partial_add(slab);
	}
	o = slab->priv;
	ASSERT(o->mark == mark_of(o)); /* else somebody wrote to freed memory */
	o->mark = 0;
	slab->priv = o->next;
	slab->used++;
	if (!slab->priv)
		partial_remove(slab);
	__atomic_fetch_add(&in_use, 1UL << (class + MIN_SHIFT), __ATOMIC_RELAXED);
	spin_unlock_irqrestore(&lock, irq);
	return o;
}

static void slab_free(struct page *slab, void *p)
{
	unsigned class = slab->order;
	size_t size = 1UL << (class + MIN_SHIFT);
	struct object *o = p;
	u64 irq;

	ASSERT(IS_ALIGNED((uintptr_t)p, size));
	irq = spin_lock_irqsave(&lock);
	ASSERT(slab->used > 0 && o->mark != mark_of(o)); /* else it is free already */
	if (!slab->priv)
		partial_add(slab);
	o->next = slab->priv;
	o->mark = mark_of(o);
	slab->priv = o;
	slab->used--;
	__atomic_fetch_sub(&in_use, size, __ATOMIC_RELAXED);
	if (slab->used == 0 && (slab->next || slab->prev)) {
		partial_remove(slab);
		slab->order = 0;
		slab->priv = NULL;
		slab->next = slab->prev = NULL;
		page_put(slab);
	}
	spin_unlock_irqrestore(&lock, irq);
}

static unsigned order_of(size_t n)
{
	return n <= PAGE_SIZE ? 0 : 64 - (unsigned)__builtin_clzl((n - 1) >> PAGE_SHIFT);
}

static void *large_alloc(size_t n)
{
	struct page *pg;

	if (n > 1UL << 62)
		return NULL;
	pg = page_alloc(order_of(n));
	if (!pg)
		return NULL;
	pg->flags = PG_LARGE;
	__atomic_fetch_add(&in_use, PAGE_SIZE << pg->order, __ATOMIC_RELAXED);
	return page_addr(pg);
}

void *kmalloc(size_t n)
{
	return n <= 1UL << MAX_SHIFT ? slab_alloc(class_of(n)) : large_alloc(n);
}

void *kzalloc(size_t n)
{
	void *p = kmalloc(n);

	return p ? memset(p, 0, n) : NULL;
}

/* What the object at p can hold. */
static size_t capacity(const void *p)
{
	struct page *pg = phys_to_page(virt_to_phys(p));

	ASSERT(pg && pg->flags & (PG_SLAB | PG_LARGE));
	return pg->flags & PG_SLAB ? 1UL << (pg->order + MIN_SHIFT) : PAGE_SIZE << pg->order;
}

void *krealloc(void *p, size_t n)
{
	size_t have;
	void *q;

	if (!p)
		return kmalloc(n);
	have = capacity(p);
	/* shrinks in place unless that would waste more than three quarters */
	if (n <= have && n > have / 4)
		return p;
	q = kmalloc(n);
	if (!q)
		return n <= have ? p : NULL;
	memcpy(q, p, MIN(n, have));
	kfree(p);
	return q;
}

void kfree(const void *p)
{
	struct page *pg;

	if (!p)
		return;
	pg = phys_to_page(virt_to_phys(p));
	ASSERT(pg && pg->refs && pg->flags & (PG_SLAB | PG_LARGE));
	if (pg->flags & PG_SLAB) {
		slab_free(pg, (void *)(uintptr_t)p);
		return;
	}
	ASSERT(page_addr(pg) == p);
	__atomic_fetch_sub(&in_use, PAGE_SIZE << pg->order, __ATOMIC_RELAXED);
	page_put(pg);
}

char *kstrdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = kmalloc(n);

	return p ? memcpy(p, s, n) : NULL;
}

u64 kmalloc_in_use(void)
{
	return __atomic_load_n(&in_use, __ATOMIC_RELAXED);
}
