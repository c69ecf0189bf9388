/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The build id of a mapped ELF file, for perf's MMAP2 records: the note that
 * the linker's --build-id leaves (elf(5), Elf64_Nhdr). As on Linux only the
 * first page of the file is looked at, where linkers put it. Nothing in the
 * file is trusted.
 */
#include "mm/vma.h"
#include "fs/vfs.h"
#include <linux/elf.h>

#define NT_GNU_BUILD_ID 3

/* A part of the page, or NULL if it does not lie inside. */
static const void *part(const char *page, u64 off, u64 n)
{
	return off <= PAGE_SIZE && n <= PAGE_SIZE - off ? page + off : NULL;
}

static u8 search_notes(const char *page, u64 off, u64 size, u8 *id)
{
	u64 end = off + MIN(size, PAGE_SIZE);

	while (off < end) {
		const Elf64_Nhdr *n = IS_ALIGNED(off, 4) ? part(page, off, sizeof(*n)) : NULL;
		const char *name, *desc;

		if (!n || n->n_namesz > PAGE_SIZE || n->n_descsz > PAGE_SIZE)
			return 0;
		off += sizeof(*n);
		name = part(page, off, n->n_namesz);
		off += ALIGN_UP((u64)n->n_namesz, 4);
		desc = part(page, off, n->n_descsz);
		off += ALIGN_UP((u64)n->n_descsz, 4);
		if (!name || !desc)
			return 0;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(name, "GNU", 4) &&
		    n->n_descsz > 0 && n->n_descsz <= BUILD_ID_MAX) {
			memcpy(id, desc, n->n_descsz);
			return (u8)n->n_descsz;
		}
	}
	return 0;
}

static u8 search_page(const char *page, u8 *id)
{
	const Elf64_Ehdr *eh = (const void *)page;
	u8 n = 0;

	if (memcmp(eh->e_ident, ELFMAG, SELFMAG) || eh->e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh->e_phentsize != sizeof(Elf64_Phdr) || !IS_ALIGNED(eh->e_phoff, 8))
		return 0;
	for (unsigned i = 0; i < eh->e_phnum && !n; i++) {
		const Elf64_Phdr *p = part(page, eh->e_phoff, (i + 1) * sizeof(*p));

		if (!p)
			break;
		if (p[i].p_type == PT_NOTE)
			n = search_notes(page, p[i].p_offset, p[i].p_filesz, id);
	}
	return n;
}

u8 file_build_id(const struct file *f, u8 id[BUILD_ID_MAX])
{
	struct inode *ino = f->inode;
	struct page *pg = NULL;
	u8 n;

	if (!ino->get_page || ino->get_page(ino, 0, true, &pg) || !pg)
		return 0;
	n = search_page(page_addr(pg), id);
	page_put(pg);
	return n;
}
