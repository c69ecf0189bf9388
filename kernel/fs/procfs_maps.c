/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /proc/PID/maps and smaps, and what is present of an address space. The
 * layout of a line is an interface: perf, gdb, glibc and others scan it.
 */
#include "fs/procfs.h"
#include "fs/tmpfs.h"
#include "mm/vm.h"
#include <utlist.h>

#define NAME_COLUMN 73 /* where the name starts: Linux's, on 64-bit machines */
#define MAJOR(dev)  ((unsigned)((dev) >> 8) & 0xfff)
#define MINOR(dev)  (((unsigned)(dev)&0xff) | ((unsigned)((dev) >> 12) & 0xfff00))

/* ----------------------------------------------------------------- present */

struct count {
	struct vma *vma;
	struct rss *rss;
};

/* Is this page the file's own, or a private copy of it? */
static bool is_file_page(const struct vma *v, u64 va, const struct page *pg)
{
	struct inode *ino = v->file->inode;
	struct page *cached = NULL;
	bool same;

	if (!ino->get_page)
		return true; /* a device's */
	if (ino->get_page(ino, v->pgoff + (va - v->start) / PAGE_SIZE, false, &cached) || !cached)
		return false;
	same = cached == pg;
	page_put(cached);
	return same;
}

static unsigned count_page(paddr_t pa, u64 va, unsigned prot, void *arg)
{
	struct count *c = arg;
	const struct vma *v = c->vma;

	bool anon = v->file ? !is_file_page(v, va, phys_to_page(pa)) : !(v->flags & VM_SHARED);

	if (anon)
		c->rss->anon++;
	else if (!v->file || inode_is_tmpfs(v->file->inode))
		c->rss->shmem++; /* Linux counts tmpfs here */
	else
		c->rss->file++;
	return prot;
}

void vma_count_rss(struct vma *v, struct rss *rss)
{
	struct count c = { v, rss };

	pgd_walk_range(v->mm->pgd, v->start, v->end, count_page, &c);
}

void mm_count_rss(struct mm *mm, struct rss *rss)
{
	struct vma *v;

	*rss = (struct rss){ 0 };
	DL_FOREACH(mm->vmas, v) {
		vma_count_rss(v, rss);
	}
}

/* ------------------------------------------------------------------- lines */

static const char *special_name(const struct vma *v)
{
	const struct mm *mm = v->mm;

	if (v->ops && v->ops->name)
		return v->ops->name;
	if (v->start <= mm->brk && v->end >= mm->brk_start && mm->brk > mm->brk_start)
		return "[heap]";
	if (v->start <= mm->start_stack && v->end >= mm->start_stack)
		return "[stack]";
	return NULL;
}

static void pad_to_name(struct seq *s, size_t line)
{
	size_t width = s->len - line;

	seq_printf(s, "%*s", (int)(width < NAME_COLUMN ? NAME_COLUMN - width : 1), "");
}

static void show_name(struct seq *s, const struct vma *v, size_t line)
{
	const char *name;
	char *buf, *path;

	if (!v->file) {
		name = special_name(v);
		if (name) {
			pad_to_name(s, line);
			seq_printf(s, "%s", name);
		}
		return;
	}
	pad_to_name(s, line);
	buf = kmalloc(PATH_MAX);
	path = buf ? dentry_path(v->file->dentry, buf, PATH_MAX) : ERR_PTR(-ENOMEM);
	if (!IS_ERR(path))
		seq_escape(s, path, "\n");
	kfree(buf);
}

static void show_line(struct seq *s, const struct vma *v)
{
	const struct inode *ino = v->file ? v->file->inode : NULL;
	dev_t dev = ino && ino->sb ? ino->sb->dev : 0;
	size_t line = s->len;

	seq_printf(s, "%08llx-%08llx %c%c%c%c %08llx %02x:%02x %llu ", (unsigned long long)v->start,
		   (unsigned long long)v->end, v->flags & VM_READ ? 'r' : '-',
		   v->flags & VM_WRITE ? 'w' : '-', v->flags & VM_EXEC ? 'x' : '-',
		   v->flags & VM_SHARED ? 's' : 'p',
		   ino ? (unsigned long long)(v->pgoff * PAGE_SIZE) : 0ULL, MAJOR(dev), MINOR(dev),
		   ino ? (unsigned long long)ino->ino : 0ULL);
	show_name(s, v, line);
	seq_printf(s, "\n");
}

int show_maps(struct seq *s, struct task *t, bool whole)
{
	struct vma *v;

	if (!t->mm)
		return 0;
	DL_FOREACH(t->mm->vmas, v) {
		show_line(s, v);
	}
	return 0;
}

static void show_kb(struct seq *s, const char *name, u64 pages)
{
	seq_printf(s, "%-16s%8llu kB\n", name, (unsigned long long)pages * (PAGE_SIZE / 1024));
}

/* Linux's two-letter names of the flags that exist here. */
static void show_flags(struct seq *s, u32 flags)
{
	static const struct {
		u32 flag;
		const char *name;
	} names[] = { { VM_READ, "rd" },	 { VM_WRITE, "wr" },	   { VM_EXEC, "ex" },
		      { VM_SHARED, "sh" },	 { VM_MAYWRITE, "mw" },	   { VM_GROWSDOWN, "gd" },
		      { VM_LOCKED, "lo" },	 { VM_DONTFORK, "dc" },	   { VM_NORESERVE, "nr" },
		      { VM_WIPEONFORK, "wf" } };

	seq_printf(s, "VmFlags: ");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (flags & names[i].flag)
			seq_printf(s, "%s ", names[i].name);
	seq_printf(s, "\n");
}

int show_smaps(struct seq *s, struct task *t, bool whole)
{
	struct vma *v;

	if (!t->mm)
		return 0;
	DL_FOREACH(t->mm->vmas, v) {
		struct rss rss = { 0 };
		u64 all;

		vma_count_rss(v, &rss);
		all = rss.anon + rss.file + rss.shmem;
		show_line(s, v);
		show_kb(s, "Size:", (v->end - v->start) / PAGE_SIZE);
		show_kb(s, "KernelPageSize:", 1);
		show_kb(s, "MMUPageSize:", 1);
		show_kb(s, "Rss:", all);
		show_kb(s, "Anonymous:", rss.anon);
		show_kb(s, "Swap:", 0);
		show_kb(s, "Locked:", v->flags & VM_LOCKED ? all : 0);
		show_flags(s, v->flags);
	}
	return 0;
}
