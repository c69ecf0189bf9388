/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading a program: ELF64 for AArch64, at fixed addresses or position
 * independent, with or without an interpreter (elf(5)). The file's pages are
 * mapped, not read; only the page in which data ends and bss begins is touched.
 *
 * Everything goes into an address space that nobody uses yet, so that each
 * error can still be returned to the caller of execve(2).
 */
#include "proc/exec.h"
#include "fs/vfs.h"
#include "mm/vma.h"
#include <linux/elf.h>
#include <linux/limits.h>
#include <linux/mman.h>

#define MAX_PHDRS (65536 / sizeof(Elf64_Phdr))
/*
 * Position-independent programs that have an interpreter start at two thirds of the address
 * space.
 */
#define DYN_BASE (2 * TASK_SIZE / 3)

struct image {
	struct file *file;
	Elf64_Ehdr eh;
	Elf64_Phdr *ph;
	u64 bias;
	u64 first, end; /* of its loadable segments, whole pages, without the bias */
};

/* Checks the header and reads the program headers. `bad` is the error for what is not a program. */
static int image_read(struct image *im, struct file *f, int bad)
{
	Elf64_Ehdr *eh = &im->eh;
	size_t size;

	im->file = f;
	im->ph = NULL;
	if (file_kread(f, eh, sizeof(*eh), 0) != (ssize_t)sizeof(*eh) ||
	    memcmp(eh->e_ident, ELFMAG, SELFMAG) || eh->e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh->e_ident[EI_DATA] != ELFDATA2LSB || eh->e_machine != EM_AARCH64 ||
	    (eh->e_type != ET_EXEC && eh->e_type != ET_DYN) || !f->ops->mmap ||
	    eh->e_phentsize != sizeof(Elf64_Phdr) || !eh->e_phnum || eh->e_phnum > MAX_PHDRS)
		return bad;
	size = eh->e_phnum * sizeof(Elf64_Phdr);
	im->ph = kmalloc(size);
	if (!im->ph)
		return -ENOMEM;
	if (file_kread(f, im->ph, size, (loff_t)eh->e_phoff) != (ssize_t)size)
		return bad;
	return 0;
}

/* The extent of the segments; false: there are none, or they make no sense. */
static bool image_extent(struct image *im)
{
	im->first = ~0ULL;
	im->end = 0;
	for (unsigned i = 0; i < im->eh.e_phnum; i++) {
		const Elf64_Phdr *p = &im->ph[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (p->p_memsz < p->p_filesz || p->p_vaddr >= TASK_SIZE ||
		    p->p_memsz >= TASK_SIZE || (p->p_vaddr - p->p_offset) & (PAGE_SIZE - 1))
			return false;
		im->first = MIN(im->first, ALIGN_DOWN(p->p_vaddr, PAGE_SIZE));
		im->end = MAX(im->end, ALIGN_UP(p->p_vaddr + p->p_memsz, PAGE_SIZE));
	}
	return im->end > im->first;
}

static u64 max_alignment(const struct image *im)
{
	u64 align = PAGE_SIZE;

	for (unsigned i = 0; i < im->eh.e_phnum; i++) {
		u64 a = im->ph[i].p_align;

		if (im->ph[i].p_type == PT_LOAD && (a & (a - 1)) == 0)
			align = MAX(align, a);
	}
	return align;
}

/* Zeros from the end of a segment's file part to the end of that page. */
static int clear_tail(struct mm *mm, u64 from)
{
	u64 n = ALIGN_UP(from, PAGE_SIZE) - from;
	ssize_t r = n ? vm_access(mm, from, (void *)(uintptr_t)zero_bytes, n, true) : 0;

	return r < 0 ? (int)r : 0;
}

static int map_segment(struct mm *mm, const struct image *im, const Elf64_Phdr *p)
{
	u64 start = ALIGN_DOWN(p->p_vaddr, PAGE_SIZE) + im->bias;
	u64 file_end = p->p_vaddr + p->p_filesz + im->bias;
	u64 end = ALIGN_UP(p->p_vaddr + p->p_memsz + im->bias, PAGE_SIZE);
	u64 bss = start;
	u32 prot = (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_W ? PROT_WRITE : 0) |
		   (p->p_flags & PF_X ? PROT_EXEC : 0);
	s64 r;

	if (p->p_filesz) {
		bss = ALIGN_UP(file_end, PAGE_SIZE);
		r = vm_mmap(mm, start, bss - start, prot, MAP_PRIVATE | MAP_FIXED_NOREPLACE,
			    im->file, ALIGN_DOWN(p->p_offset, PAGE_SIZE));
		if (r < 0)
			return (int)r;
		if (p->p_memsz > p->p_filesz && p->p_flags & PF_W && clear_tail(mm, file_end))
			return -EFAULT;
	}
	if (end <= bss)
		return 0;
	r = vm_mmap(mm, bss, end - bss, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		    NULL, 0);
	return r < 0 ? (int)r : 0;
}

static int map_image(struct mm *mm, const struct image *im)
{
	for (unsigned i = 0; i < im->eh.e_phnum; i++) {
		int err = im->ph[i].p_type == PT_LOAD ? map_segment(mm, im, &im->ph[i]) : 0;

		if (err)
			return err == -EEXIST ? -ENOEXEC : err;
	}
	return 0;
}

/* Puts a position-independent image where mmap would put it. */
static int place_free(struct mm *mm, struct image *im)
{
	s64 at = find_place(mm, 0, im->end - im->first);

	if (at < 0)
		return (int)at;
	im->bias = (u64)at - im->first;
	return 0;
}

/* The fields of the mm that /proc/PID/stat shows, and where the break starts. */
static void note_extents(struct mm *mm, const struct image *im)
{
	u64 start_code = ~0ULL, end_code = 0, start_data = 0, end_data = 0;

	for (unsigned i = 0; i < im->eh.e_phnum; i++) {
		const Elf64_Phdr *p = &im->ph[i];
		u64 end = p->p_vaddr + p->p_filesz;

		if (p->p_type != PT_LOAD)
			continue;
		if (p->p_flags & PF_X) {
			start_code = MIN(start_code, p->p_vaddr);
			end_code = MAX(end_code, end);
		}
		start_data = MAX(start_data, p->p_vaddr);
		end_data = MAX(end_data, end);
	}
	mm->start_code = start_code + im->bias;
	mm->end_code = end_code + im->bias;
	mm->start_data = start_data + im->bias;
	mm->end_data = end_data + im->bias;
	mm->brk_start = mm->brk = im->end + im->bias;
}

/* Where the program headers are in memory, for AT_PHDR. */
static u64 phdr_address(const struct image *im)
{
	for (unsigned i = 0; i < im->eh.e_phnum; i++) {
		const Elf64_Phdr *p = &im->ph[i];

		if (p->p_type == PT_LOAD && p->p_offset <= im->eh.e_phoff &&
		    im->eh.e_phoff < p->p_offset + p->p_filesz)
			return im->eh.e_phoff - p->p_offset + p->p_vaddr + im->bias;
	}
	return 0;
}

/* Opens what PT_INTERP names. *out NULL with 0: the program has none. */
static int open_interpreter(const struct image *im, struct file **out)
{
	const Elf64_Phdr *p = im->ph;
	char *name;
	int err;

	*out = NULL;
	while (p < im->ph + im->eh.e_phnum && p->p_type != PT_INTERP)
		p++;
	if (p == im->ph + im->eh.e_phnum)
		return 0;
	if (p->p_filesz < 2 || p->p_filesz > PATH_MAX)
		return -ENOEXEC;
	name = kmalloc(p->p_filesz);
	if (!name)
		return -ENOMEM;
	if (file_kread(im->file, name, p->p_filesz, (loff_t)p->p_offset) != (ssize_t)p->p_filesz)
		err = -EIO;
	else if (name[p->p_filesz - 1])
		err = -ENOEXEC;
	else
		err = open_program(AT_FDCWD, name, LOOKUP_FOLLOW, out);
	kfree(name);
	return err;
}

static int load_interpreter(struct mm *mm, struct file *f, struct elf_info *info, u64 *entry)
{
	struct image im = {0};
	int err = image_read(&im, f, -ELIBBAD);

	if (!err && !image_extent(&im))
		err = -EINVAL;
	if (!err && im.eh.e_type == ET_DYN)
		err = place_free(mm, &im);
	if (!err)
		err = map_image(mm, &im);
	info->base = im.bias;
	*entry = im.eh.e_entry + im.bias;
	kfree(im.ph);
	return err;
}

static bool wants_exec_stack(const struct image *im)
{
	for (unsigned i = 0; i < im->eh.e_phnum; i++)
		if (im->ph[i].p_type == PT_GNU_STACK)
			return im->ph[i].p_flags & PF_X;
	return false;
}

static int load(struct binprm *b, struct image *im, struct file *interp, struct elf_info *info)
{
	struct mm *mm = b->mm;
	int err = 0;

	if (!image_extent(im))
		return -ENOEXEC;
	if (im->eh.e_type == ET_DYN && interp)
		im->bias = ALIGN_DOWN(DYN_BASE - im->first, max_alignment(im));
	else if (im->eh.e_type == ET_DYN)
		err = place_free(mm, im);
	if (!err)
		err = map_image(mm, im);
	if (err)
		return err;
	note_extents(mm, im);
	info->phdr = phdr_address(im);
	info->phnum = im->eh.e_phnum;
	info->entry = b->entry = im->eh.e_entry + im->bias;
	info->base = 0;
	b->exec_stack = wants_exec_stack(im);
	return interp ? load_interpreter(mm, interp, info, &b->entry) : 0;
}

int elf_load(struct binprm *b, struct elf_info *info)
{
	struct image im = {0};
	struct file *interp = NULL;
	int err = image_read(&im, b->file, -ENOEXEC);

	if (!err)
		err = open_interpreter(&im, &interp);
	if (!err)
		err = load(b, &im, interp, info);
	if (interp) {
		/* only the program itself stays safe from writing (ETXTBSY) while it runs */
		interp->inode->writers -= interp->writer;
		interp->writer = 0;
		file_put(interp);
	}
	kfree(im.ph);
	return err;
}
