/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's side of the vDSO: its data, and mapping both into each new address space. */
#include "arch/aarch64/cpu.h"
#include "mm/vma.h"
#include "proc/exec.h"
#include "vdso/vdso_data.h"
#include <linux/elf.h>

extern const Elf64_Ehdr vdso_image; /* image.S */

static union {
	struct vdso_data d;
	char page[PAGE_SIZE];
} vvar __aligned(4096);

static int image_page(const void *kaddr, struct page **out)
{
	struct page *pg = phys_to_page(virt_to_phys(kaddr));

	page_get(pg); /* of the kernel image: reserved, never freed */
	*out = pg;
	return 0;
}

/* Beyond the data there is nothing: the second page exists for the sake of addresses only. */
static int vvar_fault(struct vma *v, u64 pgoff, bool write, struct page **out)
{
	return pgoff ? -ERANGE : image_page(&vvar, out);
}

static int vdso_fault(struct vma *v, u64 pgoff, bool write, struct page **out)
{
	return pgoff ? -ERANGE : image_page(&vdso_image, out);
}

static const struct vma_ops vvar_ops = {.fault = vvar_fault, .name = "[vvar]"};
static const struct vma_ops vdso_ops = {.fault = vdso_fault, .name = "[vdso]"};

static void fill_data(void)
{
	u64 freq;

	__asm__("mrs %0, cntfrq_el0" : "=r"(freq));
	vvar.d.freq = freq;
	vvar.d.ns_per_count = NSEC_PER_SEC % freq ? 0 : NSEC_PER_SEC / freq;
	vvar.d.realtime = boot_epoch_ns();
}

static int map_part(struct mm *mm, u64 at, u64 pages, u32 flags, const struct vma_ops *ops)
{
	struct vma *v = vma_new(mm, at, at + pages * PAGE_SIZE, flags | VM_DONTEXPAND);

	if (!v)
		return -ENOMEM;
	v->pgoff = 0;
	v->ops = ops;
	if (vma_insert(mm, v)) {
		kfree(v);
		return -ENOMEM;
	}
	return 0;
}

int vdso_map(struct mm *mm)
{
	s64 at = find_place(mm, 0, (VVAR_PAGES + 1) * PAGE_SIZE);
	int err;

	if (at < 0)
		return (int)at;
	if (!vvar.d.freq)
		fill_data();
	err = map_part(mm, (u64)at, VVAR_PAGES, VM_READ, &vvar_ops);
	if (err)
		return err;
	mm->vdso = (u64)at + VVAR_PAGES * PAGE_SIZE;
	return map_part(mm, mm->vdso, 1, VM_READ | VM_EXEC | VM_MAYWRITE, &vdso_ops);
}

u64 vdso_sigreturn(const struct mm *mm)
{
	return mm->vdso + vdso_image.e_entry;
}
