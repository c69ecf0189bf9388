/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's half of the address space: the direct map of all RAM, with the
 * image's text executable and read-only and everything else not executable,
 * and device registers, which appear at their place in the direct map.
 *
 * Blocks of 1 GiB and 2 MiB are used wherever they fit. Entries are only ever
 * added: after arch_map_init() nothing that is mapped changes.
 */
#include "arch/aarch64/boot.h"
#include "arch/aarch64/pte.h"
#include "arch/aarch64/sysreg.h"
#include "dev/dev.h"
#include <libfdt.h>

extern u64 kernel_l0[], empty_l0[];
extern char _image_start[], _text[], _etext[], _rodata[], _erodata[], _data[], _end[];
void set_kernel_tables(paddr_t l0);

#define PROT_DATA   (PTE_ATTR(MT_NORMAL) | PTE_INNER | PTE_PXN | PTE_UXN)
#define PROT_RODATA (PROT_DATA | PTE_RDONLY)
#define PROT_TEXT   (PTE_ATTR(MT_NORMAL) | PTE_INNER | PTE_RDONLY | PTE_UXN)
#define PROT_DEVICE (PTE_ATTR(MT_DEVICE) | PTE_PXN | PTE_UXN)

/* Tables made before the page allocator works. */
#define EARLY_TABLES 24
static u64 early_tables[EARLY_TABLES][PTRS_PER_TABLE] __aligned(4096);
static unsigned nr_early;
static bool pages_ready;

static u64 *table_new(void)
{
	struct page *pg;

	if (nr_early < EARLY_TABLES)
		return early_tables[nr_early++];
	pg = pages_ready ? page_alloc_zero() : NULL;
	if (!pg)
		panic("no memory for the kernel's page tables");
	return page_addr(pg);
}

static u64 *table_below(u64 *entry)
{
	if (!*entry)
		*entry = virt_to_phys(table_new()) | PTE_VALID | PTE_TABLE;
	ASSERT(*entry & PTE_TABLE);
	return phys_to_virt(*entry & PTE_ADDR);
}

/* One entry as large as [pa, pa+size) allows; returns the bytes it covers. */
static u64 map_one(paddr_t pa, u64 size, u64 prot)
{
	u64 va = pa + DIRECT_MAP;
	u64 *table = kernel_l0;

	for (int level = 0;; level++) {
		u64 *entry = &table[LEVEL_INDEX(va, level)];
		u64 span = 1ULL << LEVEL_SHIFT(level);

		if (level > 0 && size >= span && IS_ALIGNED(pa, span)) {
			if (!*entry)
				*entry = pa | prot | PTE_AF | PTE_VALID |
					 (level == 3 ? PTE_TABLE : 0);
			return span;
		}
		table = table_below(entry);
	}
}

static void map_range(paddr_t start, paddr_t end, u64 prot)
{
	while (start < end)
		start += map_one(start, end - start, prot);
}

static paddr_t image(const char *symbol)
{
	return virt_to_phys(symbol);
}

static void map_bank(paddr_t start, u64 size)
{
	paddr_t end = ALIGN_DOWN(start + size, PAGE_SIZE);

	start = ALIGN_UP(start, PAGE_SIZE);
	if (image(_image_start) < start || image(_image_start) >= end) {
		map_range(start, end, PROT_DATA);
		return;
	}
	map_range(start, image(_image_start), PROT_DATA);
	map_range(image(_text), image(_etext), PROT_TEXT);
	map_range(image(_etext), image(_erodata), PROT_RODATA);
	map_range(image(_erodata), end, PROT_DATA);
}

void arch_map_init(void)
{
	fdt_memory(map_bank);
	dsb(ishst);
	set_kernel_tables(virt_to_phys(kernel_l0));
	write_sysreg(ttbr0_el1, virt_to_phys(empty_l0));
	isb();
	__asm__ volatile("tlbi vmalle1\n\tdsb nsh\n\tisb" ::: "memory");
}

static void add_bank(paddr_t start, u64 size)
{
	page_add_ram(start, start + size);
}

void arch_memory_init(void)
{
	const void *fdt = fdt_blob();
	paddr_t start, end;
	u64 at, size;

	fdt_memory(add_bank);
	page_reserve(image(_image_start), image(_end));
	page_reserve(virt_to_phys(fdt), virt_to_phys(fdt) + fdt_totalsize(fdt));
	if (fdt_initrd(&start, &end))
		page_reserve(start, end);
	for (int i = 0; i < fdt_num_mem_rsv(fdt); i++)
		if (!fdt_get_mem_rsv(fdt, i, &at, &size))
			page_reserve(at, at + size);
	page_init();
	pages_ready = true;
}

volatile void *ioremap(paddr_t pa, u64 size)
{
	map_range(ALIGN_DOWN(pa, PAGE_SIZE), ALIGN_UP(pa + size, PAGE_SIZE), PROT_DEVICE);
	dsb(ishst);
	isb();
	return phys_to_virt(pa);
}
