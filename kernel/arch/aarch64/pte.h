/* SPDX-License-Identifier: BSD-2-Clause */
/* Translation table descriptors, 4 KiB granule, four levels (DDI 0487, D8.3). */
#ifndef TALLY_ARCH_PTE_H
#define TALLY_ARCH_PTE_H

#include "arch/aarch64/asm.h"
#include "mm/page.h"

#define PTE_VALID	BIT(0)
#define PTE_TABLE	BIT(1) /* levels 0..2: a table; level 3: a page */
#define PTE_ATTR(i)	((u64)(i) << 2)
#define PTE_USER	BIT(6) /* AP[1] */
#define PTE_RDONLY	BIT(7) /* AP[2] */
#define PTE_INNER	(3ULL << 8)
#define PTE_AF		BIT(10)
#define PTE_NG		BIT(11)
#define PTE_PXN		BIT(53)
#define PTE_UXN		BIT(54)
#define PTE_NONE	BIT(55) /* software: holds a page that nobody may touch (not valid) */
#define PTE_ADDR	0x0000fffffffff000ULL

#define PTRS_PER_TABLE	512u
/* Shift of the address bits that index a table of the level. */
#define LEVEL_SHIFT(l)	(12 + 9 * (3 - (l)))
#define LEVEL_INDEX(va, l) (((va) >> LEVEL_SHIFT(l)) & (PTRS_PER_TABLE - 1))

#endif
