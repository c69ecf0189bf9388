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
	 * The page at file page offset pgoff for this area, with a reference the
	 * caller owns, in *out. `write`: it is going to be written through a shared
	 * mapping. -ERANGE: beyond the end of the object (SIGBUS); -ENOMEM.
	 */
	int (*fault)(struct vma *vma, u64 pgoff, bool write, struct page **out);
	void (*open)(struct vma *vma);	/* the area was copied (fork) or split: NULL if not needed */
	void (*close)(struct vma *vma); /* the area, or this part of it, goes away */
	/* NULL = splitting allowed */
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
	struct vma *vmas;	  /* DL list, by address */
	struct vma *last_hit;	  /* lookup cache */
	u64 brk_start, brk;
	u64 mmap_base;		  /* top of the mmap area, grows down */
	u64 stack_top;
	u64 arg_start, arg_end, env_start, env_end;
	u64 auxv[48];		  /* for /proc/PID/auxv, zero-ended */
	u64 start_code, end_code, start_data, end_data, start_stack;
	struct file *exe;	  /* referenced */
	u64 vdso;		  /* its base, 0 = none */
	u64 rss, hiwater_rss, total_vm;   /* pages */
};

struct mm *mm_create(void);
void mm_get(struct mm *mm);
void mm_put(struct mm *mm);		 /* frees all at zero */
struct mm *mm_fork(struct mm *mm);	 /* copy on write; NULL on no memory */
struct vma *vma_find(struct mm *mm, u64 addr); /* first area with end > addr */

/*
 * Maps; addr 0 = anywhere (top down from mmap_base). flags are MAP_*, prot PROT_*. `file` may be NULL.
 * Takes its own reference on file. Returns the address or -errno. Calls perf's mmap hook.
 */
s64 vm_mmap(struct mm *mm, u64 addr, u64 len, u32 prot, u32 flags, struct file *file, u64 off);
int vm_munmap(struct mm *mm, u64 addr, u64 len);
int vm_mprotect(struct mm *mm, u64 addr, u64 len, u32 prot);
s64 vm_brk(struct mm *mm, u64 newbrk);

#define FAULT_WRITE 1u
#define FAULT_EXEC 2u
/*
 * Resolves a fault of the current task's mm. 0: retry the access. Else the signal is described by the result:
 * -EFAULT (SIGSEGV, SEGV_MAPERR), -EACCES (SIGSEGV, SEGV_ACCERR), -ERANGE (SIGBUS, BUS_ADRERR), -ENOMEM.
 * *major: the page had to be brought from somewhere (never, for pages in RAM).
 */
int vm_fault(struct mm *mm, u64 addr, u32 access, bool *major);

/* Reads/writes another process's memory page by page (proc/PID/mem, cmdline). Bytes done or -errno. */
ssize_t vm_access(struct mm *mm, u64 addr, void *buf, size_t n, bool write);

/* exec.c: replaces the current task's program. argv/envp: kernel copies. 0: *regs are those of the new program. */
struct exec_args {
	char **argv, **envp;	/* NULL-ended arrays of kernel strings */
	int argc, envc;
};
int exec_file(struct file *file, const char *path, struct exec_args *args);

#endif
