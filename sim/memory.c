/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.c - memory that is accounted for, user copies, and their failing.
 *
 * What was allocated before sim_memory_mark() belongs to the machine; whatever
 * was allocated later has to be freed by the time sim_memory_check() is called.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "machine.h"

#define PAGE_SIZE 4096U

struct block {
	void *memory;
	const void *site;
	bool page, old;
	UT_hash_handle hh;
};

static struct block *blocks;
static unsigned int alloc_countdown, copy_countdown;
static bool failed;

void sim_fail_alloc(unsigned int n)
{
	alloc_countdown = n;
	failed = false;
}

void sim_fail_copy(unsigned int n)
{
	copy_countdown = n;
	failed = false;
}

bool sim_failed(void)
{
	return failed;
}

static bool fails_now(unsigned int *countdown)
{
	if (*countdown == 0 || --*countdown != 0)
		return false;
	failed = true;
	return true;
}

/* -------------------------------------------------------------- kernel's */

static void *allocate(size_t size, bool page, const void *site)
{
	struct block *block;
	void *memory;

	sim_must_sleep("an allocation");
	sim_pass(SIM_AT_ALLOC, site);
	if (fails_now(&alloc_countdown))
		return NULL;
	memory = page ? aligned_alloc(PAGE_SIZE, PAGE_SIZE) : malloc(size != 0 ? size : 1);
	block = calloc(1, sizeof(*block));
	sim_assert(memory != NULL && block != NULL);
	memset(memory, 0, size);
	block->memory = memory;
	block->site = site;
	block->page = page;
	HASH_ADD_PTR(blocks, memory, block);
	return memory;
}

static void release(void *memory, bool page, const void *site)
{
	struct block *block;

	sim_must_sleep("freeing memory");
	HASH_FIND_PTR(blocks, &memory, block);
	if (block == NULL || block->page != page)
		sim_fail("freed what was not allocated like that");
	HASH_DEL(blocks, block);
	free(block);
	free(memory);
	sim_pass(SIM_AT_ALLOC, site);
}

void *port_alloc(size_t size)
{
	return allocate(size, false, __builtin_return_address(0));
}

void port_free(void *memory)
{
	if (memory != NULL)
		release(memory, false, __builtin_return_address(0));
}

size_t port_page_size(void)
{
	return PAGE_SIZE;
}

void *port_page_alloc(void)
{
	return allocate(PAGE_SIZE, true, __builtin_return_address(0));
}

void port_page_free(void *page)
{
	release(page, true, __builtin_return_address(0));
}

void sim_memory_mark(void)
{
	struct block *block, *next;

	HASH_ITER(hh, blocks, block, next)
		block->old = true;
}

void sim_memory_check(void)
{
	struct block *block, *next;
	unsigned int leaks = 0;
	char site[256];

	HASH_ITER(hh, blocks, block, next) {
		if (block->old)
			continue;
		leaks++;
		fprintf(stderr, "sim: leaked %s %p, allocated at %s\n",
			block->page ? "page" : "memory", block->memory,
			sim_site(block->site, site, sizeof(site)));
	}
	if (leaks != 0)
		sim_fail("%u leaks", leaks);
}

void sim_memory_reset(void)
{
	alloc_countdown = copy_countdown = 0;
	failed = false;
}

/* ---------------------------------------------------------------- user's */

int port_copy_from_user(void *dst, uintptr_t src, size_t size)
{
	sim_must_sleep("port_copy_from_user()");
	sim_pass(SIM_AT_COPY, __builtin_return_address(0));
	if (fails_now(&copy_countdown) || !sim_user_range(sim.cpu->current, src, size))
		return -EFAULT;
	memcpy(dst, (const void *)src, size);
	return 0;
}

int port_copy_to_user(uintptr_t dst, const void *src, size_t size)
{
	sim_must_sleep("port_copy_to_user()");
	sim_pass(SIM_AT_COPY, __builtin_return_address(0));
	if (fails_now(&copy_countdown) || !sim_user_range(sim.cpu->current, dst, size))
		return -EFAULT;
	memcpy((void *)dst, src, size);
	return 0;
}

int port_copy_from_user_atomic(void *dst, uintptr_t src, size_t size)
{
	if (sim.cpu == NULL)
		sim_fail("port_copy_from_user_atomic() on no CPU");
	if (!sim_user_range(sim.cpu->current, src, size))
		return -EFAULT;
	memcpy(dst, (const void *)src, size);
	return 0;
}

uint64_t port_phys_addr(uint64_t virt)
{
	sim_must_irq_off("port_phys_addr()");
	return sim_user_range(sim.cpu->current, (uintptr_t)virt, 1) ? virt & 0xffffffffffU : 0;
}

uint64_t port_mapped_page_size(uint64_t virt)
{
	sim_must_irq_off("port_mapped_page_size()");
	return sim_user_range(sim.cpu->current, (uintptr_t)virt, 1) ? PAGE_SIZE : 0;
}
