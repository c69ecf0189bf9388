/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared anonymous memory: an object without a name whose pages, zero at first,
 * are the same for all areas that map it (MAP_SHARED|MAP_ANONYMOUS, and shared
 * mappings of /dev/zero). It lives as long as one area refers to it.
 *
 * The pages stand in a table of two levels, so that a large sparse object costs
 * little.
 */
#include "mm/vma.h"

#define LEAF_PAGES (PAGE_SIZE / sizeof(struct page *))

struct shmem {
	u32 refs;
	u64 nr_pages;
	struct page ***leaf; /* (nr_pages / LEAF_PAGES) of them, NULL until needed */
	u64 nr_leaves;
};

static int shmem_fault(struct vma *v, u64 pgoff, bool write, struct page **out)
{
	struct shmem *s = v->priv;
	struct page ***leaf, **slot;

	(void)write;
	if (pgoff >= s->nr_pages)
		return -ERANGE;
	leaf = &s->leaf[pgoff / LEAF_PAGES];
	if (!*leaf)
		*leaf = kzalloc(LEAF_PAGES * sizeof(**leaf));
	if (!*leaf)
		return -ENOMEM;
	slot = *leaf + pgoff % LEAF_PAGES;
	if (!*slot)
		*slot = page_alloc_zero();
	if (!*slot)
		return -ENOMEM;
	page_get(*slot);
	*out = *slot;
	return 0;
}

static void shmem_open(struct vma *v)
{
	struct shmem *s = v->priv;

	s->refs++;
}

static void shmem_close(struct vma *v)
{
	struct shmem *s = v->priv;

	if (--s->refs)
		return;
	for (u64 i = 0; i < s->nr_leaves; i++) {
		struct page **leaf = s->leaf[i];

		for (u64 j = 0; leaf && j < LEAF_PAGES; j++)
			if (leaf[j])
				page_put(leaf[j]);
		kfree(leaf);
	}
	kfree(s->leaf);
	kfree(s);
}

static const struct vma_ops shmem_ops = {
	.fault = shmem_fault,
	.open = shmem_open,
	.close = shmem_close,
	.name = "/dev/zero (deleted)",
};

int shmem_setup(struct vma *v)
{
	struct shmem *s = kzalloc(sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->refs = 1;
	s->nr_pages = (v->end - v->start) >> PAGE_SHIFT;
	s->nr_leaves = (s->nr_pages + LEAF_PAGES - 1) / LEAF_PAGES;
	s->leaf = kzalloc(s->nr_leaves * sizeof(*s->leaf));
	if (!s->leaf) {
		kfree(s);
		return -ENOMEM;
	}
	v->pgoff = 0;
	v->ops = &shmem_ops;
	v->priv = s;
	return 0;
}
