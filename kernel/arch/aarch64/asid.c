/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address space identifiers. mm->asid_gen holds the generation in its upper
 * bits and the ASID in the lower 16. When the ASIDs of a generation are used up
 * a new one begins: all TLBs are flushed, and the ASIDs that are live on a CPU
 * at that moment are not given out again in it. ASID 0 belongs to the empty
 * table of kernel threads.
 */
#include "arch/aarch64/sysreg.h"
#include "lib/lock.h"
#include "mm/page.h"
#include "mm/vm.h"

#define ASID_BITS  16
#define ASID_COUNT (1u << ASID_BITS)
#define ASID_MASK  (ASID_COUNT - 1)

extern u64 empty_l0[];

static struct spinlock lock;
static u64 generation = ASID_COUNT; /* 0 in an mm means that it has none */
static u32 next_asid = 1;
static u32 live[MAX_CPUS];	/* by CPU */
static u32 held_over[MAX_CPUS]; /* live ones of the last generation */

static bool is_held_over(u32 asid)
{
	for (unsigned i = 0; i < MAX_CPUS; i++)
		if (held_over[i] == asid)
			return true;
	return false;
}

static void new_generation(void)
{
	generation += ASID_COUNT;
	next_asid = 1;
	memcpy(held_over, live, sizeof(held_over));
	dsb(ishst);
	__asm__ volatile("tlbi vmalle1is" ::: "memory");
	dsb(ish);
}

static u32 asid_alloc(void)
{
	do {
		if (next_asid == ASID_COUNT)
			new_generation();
	} while (is_held_over(next_asid++));
	return next_asid - 1;
}

void mm_activate(struct mm *mm)
{
	unsigned cpu = cpu_id();
	u64 ttbr = virt_to_phys(empty_l0);
	u32 asid = 0;

	spin_lock(&lock);
	if (mm) {
		if ((mm->asid_gen & ~(u64)ASID_MASK) != generation) {
			u32 new = asid_alloc();

			mm->asid_gen = generation | new;
		}
		asid = mm->asid_gen & ASID_MASK;
		WRITE_ONCE(mm->cpus, mm->cpus | BIT(cpu));
		ttbr = mm->pgd | (u64)asid << 48;
	}
	live[cpu] = asid;
	spin_unlock(&lock);
	if (read_sysreg(ttbr0_el1) != ttbr) {
		dsb(ish); /* mm->cpus, before this CPU walks the table (pagetable.c) */
		write_sysreg(ttbr0_el1, ttbr);
		isb();
	}
}
