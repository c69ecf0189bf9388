/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of execve(2) share: exec.c (finding the program, scripts,
 * credentials, the point of no return), exec_stack.c (arguments, environment
 * and auxiliary vector on the new stack), elf.c (mapping the program).
 */
#ifndef TALLY_PROC_EXEC_H
#define TALLY_PROC_EXEC_H

#include "mm/vm.h"
#include "proc/task.h"

/* bytes of the file that tell its format; a #! line is cut off there, as on Linux */
#define EXEC_HEAD 255
#define STACK_TOP TASK_SIZE

struct binprm {
	struct file *file;   /* the program or, of a script, its interpreter; referenced */
	const char *path;    /* as the caller named the program: AT_EXECFN */
	char *interp;	     /* kmalloc'ed name of the script to pass on, NULL: path */
	char head[EXEC_HEAD + 1];
	/* path is /dev/fd/N and N closes on exec: a script could not be read */
	bool hidden_fd;

	/* the new stack, from STACK_TOP down */
	struct page **pages; /* [0] is the highest */
	u32 nr_pages, cap_pages;
	u64 p;		     /* lowest byte in use */
	u64 lowest;	     /* strings must stay above */
	u64 *vec;	     /* addresses of the strings, argv then envp, at the end of the array */
	u32 vec_at, vec_cap; /* first one in use */
	u32 argc, envc;
	u64 execfn;
	u64 arg_end, env_end;

	struct cred cred;    /* of the new program */
	bool secure;
	struct mm *mm;
	u64 entry, sp;
	bool exec_stack;
};

/* What elf.c learned, for the auxiliary vector. */
struct elf_info {
	u64 phdr, phnum, entry, base;
};

/* exec_stack.c. All: 0 or -E2BIG, -EFAULT, -ENOMEM. */
int stack_push_user(struct binprm *b, u64 uargv, u64 uenvp);
int stack_push_kernel(struct binprm *b, const struct exec_args *args);
int stack_push_string(struct binprm *b, const char *s); /* a new argv[0] */
void stack_drop_argv0(struct binprm *b);
/* The last step: the vectors. Sets b->sp and the mm's argument fields. */
int stack_finish(struct binprm *b, const struct elf_info *info);
/* Gives the pages to b->mm as its stack. */
int stack_map(struct binprm *b);
void stack_free(struct binprm *b);

/* elf.c: maps the program and its interpreter into b->mm. -ENOEXEC: not ours. */
int elf_load(struct binprm *b, struct elf_info *info);
/*
 * exec.c: opens a program for execution. -EACCES unless it is a regular file that may be
 * executed.
 */
int open_program(int dirfd, const char *path, u32 lookup, struct file **out);

/* vdso.c: maps the vDSO and its data, sets mm->vdso. */
int vdso_map(struct mm *mm);

#endif
