/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of an address space that need not be the current one: page by page
 * through the direct map, with the same faults as its owner's accesses.
 */
#include "mm/vma.h"

/*
 * The kernel address of a byte of the address space, its page present and fit for the access;
 * NULL if it cannot be.
 */
static char *byte_at(struct mm *mm, u64 addr, bool write)
{
	unsigned want = PTE_READ | (write ? PTE_WRITE : 0), prot = 0;
	paddr_t pa;

	for (;;) {
		pa = pgd_lookup(mm->pgd, addr, &prot);
		if (pa && (prot & want) == want)
			return (char *)phys_to_virt(pa) + (addr & ~PAGE_MASK);
		if (fault_in(mm, addr, write ? FAULT_WRITE : 0))
			return NULL;
	}
}

ssize_t vm_access(struct mm *mm, u64 addr, void *buf, size_t n, bool write)
{
	size_t done = 0;

	while (done < n && addr + done < TASK_SIZE) {
		u64 at = addr + done;
		size_t part = MIN(n - done, PAGE_SIZE - (at & ~PAGE_MASK));
		char *p = byte_at(mm, at, write);

		if (!p)
			break;
		if (write) {
			memcpy(p, (char *)buf + done, part);
			page_changed(phys_to_page(virt_to_phys(p)));
		} else {
			memcpy((char *)buf + done, p, part);
		}
		done += part;
	}
	return done || !n ? (ssize_t)done : -EFAULT;
}
