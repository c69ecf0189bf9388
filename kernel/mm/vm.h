/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A user address space: a sorted set of areas (struct vma) and the page tables
 * they fill on demand. All calls: process context, big lock held, may sleep.
 */
#ifndef TALLY_MM_VM_H
#define TALLY_MM_VM_H

#include "lib/kernel.h"
#include "mm/page.h"

struct file;
struct vma;
struct inode;

struct vma_ops {
	/*
	 * The page at file page offset pgoff for this area, with a reference the caller owns, in
	 * *out. `write`: it is going to be written through a shared mapping. One that sleeps holds
	 * on to what it needs: the area may be gone afterwards. -ERANGE: beyond the end of the
	 * object (SIGBUS); -ENOMEM.
	 */
	int (*fault)(struct vma *vma, u64 pgoff, bool write, struct page **out);
	/*
	 * For objects that must know which of their pages are written to: shared areas have
	 * these without the write bit until this says that pg, the page at pgoff, may get it.
	 * False: it is no longer the object's page, and the fault is taken anew. Must not sleep.
	 */
	bool (*written)(struct vma *vma, u64 pgoff, struct page *pg);
	/* the area was copied (fork) or split: NULL if not needed */
	void (*open)(struct vma *vma);
	/* the area, or this part of it, goes away, already unmapped; empty: joined to its neighbour. May sleep. */
	void (*close)(struct vma *vma);
	bool no_split, no_fork;
	/* name in /proc/PID/maps if there is no file */
	const char *name;
};

#define VM_READ 1u
#define VM_WRITE 2u
#define VM_EXEC 4u
#define VM_SHARED 8u
#define VM_MAYWRITE 16u	   /* mprotect may add PROT_WRITE */
#define VM_GROWSDOWN 32u
#define VM_LOCKED 64u
#define VM_DONTFORK 128u
#define VM_WIPEONFORK 256u
#define VM_NORESERVE 512u
/* a private area that may hold pages of its own: fork must copy its tables */
#define VM_ANON_PAGES 1024u
#define VM_DONTDUMP 2048u
#define VM_NOHUGEPAGE 8192u /* madvise: no more than the page that is touched */
#define VM_DONTEXPAND 4096u /* set by a file's mmap(): mremap may not grow it, areas do not merge */

struct vma {
	u64 start, end;		 /* page aligned, [start,end) */
	u32 flags;		 /* VM_* */
	u64 pgoff;		 /* of start, in pages, in the file */
	struct file *file;	 /* referenced; NULL = anonymous */
	const struct vma_ops *ops; /* NULL = anonymous zero pages */
	void *priv;		 /* of ops */
	struct mm *mm;
	struct vma *next, *prev; /* in address order */
};

struct mm {
	u32 refs;
	paddr_t pgd;
	u64 asid_gen;		  /* arch */
	u64 cpus;		  /* arch: those that have used the page tables */
	struct vma *vmas;	  /* DL list, by address */
	struct vma **areas;	  /* the same areas in an array, for binary search */
	u32 nr_areas, cap_areas;
	struct vma *last_hit;	  /* lookup cache */
	u64 seq;		  /* goes up whenever the set of areas changes */
	u64 locked_vm;		  /* pages of areas with VM_LOCKED */
	u32 def_flags;		  /* mlockall(MCL_FUTURE): VM_LOCKED */
	u32 membarrier_ready;	  /* membarrier(2): commands registered for */
	/* exec is filling it: perf's mmap hook waits until it is in use */
	bool building;
	u64 brk_start, brk;
	u64 mmap_base;		  /* top of the mmap area, grows down */
	u64 stack_top;
	u64 arg_start, arg_end, env_start, env_end;
	u64 auxv[48];		  /* for /proc/PID/auxv, zero-ended */
	u64 start_code, end_code, start_data, end_data, start_stack;
	struct file *exe;	  /* referenced */
	u64 vdso;		  /* its base, 0 = none */
	u64 rss, hiwater_rss, total_vm, hiwater_vm; /* pages */
	struct mm *next, *prev;		  /* of all there are */
};

struct mm *mm_create(void);
void mm_get(struct mm *mm);
void mm_put(struct mm *mm);		 /* frees all at zero; may sleep (files are let go) */
struct mm *mm_fork(struct mm *mm);	 /* copy on write; NULL on no memory */
struct vma *vma_find(struct mm *mm, u64 addr); /* first area with end > addr */
/*
 * "[heap]", "[stack]", "[vdso]", "[vvar]" or what the area's ops say; NULL: the file's path,
 * or nothing.
 */
const char *vma_label(const struct vma *vma);

/*
 * Maps; addr 0 = anywhere (top down from mmap_base). flags are MAP_*, prot PROT_*, `file` may be
 * NULL, off is in bytes. Takes its own reference on file. Returns the address or -errno. Calls
 * perf's mmap hook.
 */
s64 vm_mmap(struct mm *mm, u64 addr, u64 len, u32 prot, u32 flags, struct file *file, u64 off);
int vm_munmap(struct mm *mm, u64 addr, u64 len);
int vm_mprotect(struct mm *mm, u64 addr, u64 len, u32 prot);
s64 vm_brk(struct mm *mm, u64 newbrk);	/* the break afterwards, as the system call returns it */
s64 vm_mremap(struct mm *mm, u64 addr, u64 old_len, u64 new_len, u32 flags, u64 new_addr);
/*
 * Makes every page of the range present (MAP_POPULATE, mlock). 0 or what vm_fault() says about
 * the first that fails.
 */
int vm_populate(struct mm *mm, u64 addr, u64 len, bool write);
/*
 * Pages [first,last] of a file are no longer its own (truncated, a hole punched): out of every
 * address space with them.
 */
void vm_unmap_file(const struct inode *ino, u64 first, u64 last);
/* Those pages [0,n) of a file that are not NULL are out of every address space; private copies stay. */
void vm_unmap_pages(const struct inode *ino, struct page *const *pages, u64 n);
/* The next write to pages [first,last] of a file through a shared mapping is a fault. */
void vm_protect_file(const struct inode *ino, u64 first, u64 last);
/* file_ops.mmap of plain files: pages come from inode->get_page. */
int generic_file_mmap(struct file *f, struct vma *vma);
/* file_ops.mmap of /dev/zero: private areas are anonymous, shared ones a new shared object. */
int zero_file_mmap(struct file *f, struct vma *vma);

#define FAULT_WRITE 1u
#define FAULT_EXEC 2u
/*
 * Resolves a fault of the current task's mm. 0: retry the access. Else the signal is described by
 * the result: -EFAULT (SIGSEGV, SEGV_MAPERR), -EACCES (SIGSEGV, SEGV_ACCERR), -ERANGE (SIGBUS,
 * BUS_ADRERR), -ENOMEM. The caller counts the fault (task->min_flt, perf_page_fault()).
 * *major: the page had to be brought from somewhere (never, for pages in RAM).
 */
int vm_fault(struct mm *mm, u64 addr, u32 access, bool *major);

/*
 * Reads/writes another process's memory page by page (proc/PID/mem, cmdline). Bytes done or
 * -errno.
 */
ssize_t vm_access(struct mm *mm, u64 addr, void *buf, size_t n, bool write);

/* The sigreturn code of the vDSO in this address space, for signal frames without SA_RESTORER. */
u64 vdso_sigreturn(const struct mm *mm);

/*
 * exec.c: replaces the current task's program. argv/envp: kernel copies. 0: *regs are those of
 * the new program.
 */
struct exec_args {
	char **argv, **envp;	/* NULL-ended arrays of kernel strings */
	int argc, envc;
};
int exec_file(struct file *file, const char *path, struct exec_args *args);

/*
 * An address with its tag in the top byte, which the hardware ignores and which does not count
 * for existing memory.
 */
static inline u64 untag_addr(u64 addr)
{
	return addr & BIT(55) ? addr : addr & (BIT(56) - 1);
}

#endif
