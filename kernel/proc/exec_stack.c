/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stack of a new program, built page by page before there is an address
 * space to put it in. From the top: eight bytes of zero, the path, a gap, the
 * environment, the arguments, then what create_elf_tables() puts there on
 * Linux: platform name, random bytes, auxiliary vector, pointers, argc.
 *
 * On Linux there is no gap, and the environment has the order of its pointers, so that a longer
 * path or variable moves all that lies below, and programs, whose strlen() and the like look at
 * addresses, execute some instructions more or fewer. Here the gap makes the environment begin at
 * a page, and the variables that tell of the place where something runs (PWD) lie above all
 * others: what is below has the same addresses whatever their lengths, unless the environment
 * takes up another number of pages.
 */
#include "proc/exec.h"
#include "dev/dev.h"
#include "fs/vfs.h"
#include "mm/page.h"
#include "mm/vma.h"
#include <asm/auxvec.h>
#include <asm/sigcontext.h>
#include <asm/ucontext.h>
#include <linux/auxvec.h>
#include <linux/elf.h>
#include <linux/limits.h>

#define MAX_STRING    (32 * PAGE_SIZE) /* execve(2): MAX_ARG_STRLEN */
#define MAX_STRINGS   0x7fffffffu
#define MAX_ALL	      (6UL << 20)   /* three quarters of the default stack */
#define EXPAND	      (128UL << 10) /* mapped below from the start */
#define EXTRA_STRINGS 16	    /* what scripts may add */
#define AUX_ENTRIES   24
#define USER_HZ	      100 /* what times(2) counts in */
/*
 * What a signal needs at most: the frame, the frame record above it, and what alignment may
 * cost.
 */
#define SIGFRAME_SIZE (sizeof(struct siginfo) + sizeof(struct ucontext) + 16 + 16)

/* The kernel address of a byte of the new stack. */
static char *stack_byte(struct binprm *b, u64 addr)
{
	u64 i = (STACK_TOP - 1 - addr) >> PAGE_SHIFT;

	while (i >= b->nr_pages) {
		if (b->nr_pages == b->cap_pages) {
			u32 cap = b->cap_pages ? b->cap_pages * 2 : 8;
			struct page **p = krealloc(b->pages, cap * sizeof(*p));

			if (!p)
				return NULL;
			b->pages = p;
			b->cap_pages = cap;
		}
		b->pages[b->nr_pages] = page_alloc_zero();
		if (!b->pages[b->nr_pages])
			return NULL;
		b->nr_pages++;
	}
	return (char *)page_addr(b->pages[i]) + (addr & ~PAGE_MASK);
}

static int put_bytes(struct binprm *b, u64 addr, const void *src, size_t n)
{
	const char *s = src;

	while (n) {
		size_t part = MIN(n, PAGE_SIZE - (addr & ~PAGE_MASK));
		char *d = stack_byte(b, addr);

		if (!d)
			return -ENOMEM;
		memcpy(d, s, part);
		addr += part;
		s += part;
		n -= part;
	}
	return 0;
}

/* n includes the NUL. */
static int push(struct binprm *b, const char *s, size_t n)
{
	if (n > MAX_STRING || b->p - b->lowest < n)
		return -E2BIG;
	b->p -= n;
	return put_bytes(b, b->p, s, n);
}

/* Room for the addresses of so many strings, and the limit they leave for the bytes. */
static int prepare(struct binprm *b, u64 argc, u64 envc)
{
	u64 limit = current->proc->rlim[RLIMIT_STACK].rlim_cur / 4;
	u64 pointers = (MAX(argc, 1UL) + envc) * sizeof(u64);

	limit = MAX(MIN(limit, MAX_ALL), (u64)ARG_MAX);
	if (argc > MAX_STRINGS || envc > MAX_STRINGS || limit <= pointers)
		return -E2BIG;
	b->vec_cap = (u32)(argc + envc + EXTRA_STRINGS);
	b->vec_at = b->vec_cap;
	b->vec = kmalloc(b->vec_cap * sizeof(u64));
	if (!b->vec)
		return -ENOMEM;
	b->p = STACK_TOP - sizeof(u64);
	b->lowest = b->p - (limit - pointers);
	if (push(b, b->path, strlen(b->path) + 1))
		return -E2BIG;
	b->execfn = b->p;
	return 0;
}

static int push_vec(struct binprm *b, const char *s, size_t n)
{
	int err = push(b, s, n);

	if (!err)
		b->vec[--b->vec_at] = b->p;
	return err;
}

int stack_push_string(struct binprm *b, const char *s)
{
	ASSERT(b->vec_at > 0);
	b->argc++;
	return push_vec(b, s, strlen(s) + 1);
}

void stack_drop_argv0(struct binprm *b)
{
	b->vec_at++;
	b->argc--;
	b->p = b->argc ? b->vec[b->vec_at] : b->arg_end;
}

/* A NULL-ended array of user pointers: a kernel copy. */
struct uvec {
	u64 *ptr;
	u64 n, cap;
};

static int uvec_load(struct uvec *u, u64 uaddr)
{
	u->ptr = NULL;
	u->n = u->cap = 0;
	for (;; u->n++, uaddr += sizeof(u64)) {
		if (u->n == u->cap) {
			u64 cap = u->cap ? u->cap * 2 : 64;
			u64 *p = u->n < MAX_ALL / sizeof(u64) ? krealloc(u->ptr, cap * sizeof(u64))
							      : NULL;

			if (!p)
				return u->n < MAX_ALL / sizeof(u64) ? -ENOMEM : -E2BIG;
			u->ptr = p;
			u->cap = cap;
		}
		if (!uaddr) /* a null vector is an empty one */
			return 0;
		if (get_user(u->ptr[u->n], (const u64 *)uaddr))
			return -EFAULT;
		if (!u->ptr[u->n])
			return 0;
	}
}

/* A buffer for one string, which grows for a long one. */
struct bounce {
	char *buf;
	size_t size;
};

/* Reads a string; returns its length without the NUL. */
static ssize_t read_string(struct bounce *s, u64 uaddr)
{
	ssize_t len = strncpy_from_user(s->buf, (const char *)uaddr, s->size);

	if (len == -ENAMETOOLONG && s->size < MAX_STRING) {
		char *p = kmalloc(MAX_STRING);

		if (!p)
			return -ENOMEM;
		kfree(s->buf);
		s->buf = p;
		s->size = MAX_STRING;
		len = strncpy_from_user(p, (const char *)uaddr, s->size);
	}
	return len == -ENAMETOOLONG ? -E2BIG : len;
}

/* The strings, last first. */
static int push_uvec(struct binprm *b, const struct uvec *u, struct bounce *s)
{
	for (u64 i = u->n; i-- > 0;) {
		ssize_t len = read_string(s, u->ptr[i]);
		int err = len < 0 ? (int)len : push_vec(b, s->buf, (size_t)len + 1);

		if (err)
			return err;
	}
	return 0;
}

/* Which variables differ from one place to another; of many such, some are like all others. */
struct local {
	u64 at[8];
	unsigned n;
};

static bool is_local(const char *variable)
{
	static const char *const names[] = {"PWD=", "OLDPWD=", "TERM=", "_="};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(variable, names[i], strlen(names[i])))
			return true;
	return false;
}

/* How many bytes the environment takes up, or a negative errno; and which of it is local. */
static ssize_t look_over(const struct uvec *u, struct bounce *s, struct local *local)
{
	u64 bytes = 0;

	for (u64 i = 0; i < u->n && bytes <= MAX_ALL; i++) {
		ssize_t len = read_string(s, u->ptr[i]);

		if (len < 0)
			return len;
		if (local->n < sizeof(local->at) / sizeof(local->at[0]) && is_local(s->buf))
			local->at[local->n++] = i;
		bytes += (u64)len + 1;
	}
	return bytes <= MAX_ALL ? (ssize_t)bytes : -E2BIG;
}

/*
 * Leaves the gap above an environment of so many bytes. Near the limit there is none: it is
 * Linux's limit, which a gap must not lower.
 */
static void leave_gap(struct binprm *b, u64 bytes)
{
	if (b->p - b->lowest > bytes + PAGE_SIZE)
		b->p = ALIGN_DOWN(b->p - bytes, PAGE_SIZE) + bytes;
	b->env_end = b->p;
}

static int push_variable(struct binprm *b, const struct uvec *u, u64 i, struct bounce *s)
{
	ssize_t len = read_string(s, u->ptr[i]);
	int err = len < 0 ? (int)len : push(b, s->buf, (size_t)len + 1);

	b->vec[b->vec_at + i] = b->p;
	return err;
}

static int push_environment(struct binprm *b, const struct uvec *u, struct bounce *s)
{
	struct local local = {.n = 0};
	ssize_t bytes = look_over(u, s, &local);
	int err = bytes < 0 ? (int)bytes : 0;

	if (err)
		return err;
	leave_gap(b, (u64)bytes);
	b->vec_at -= u->n;
	for (unsigned i = local.n; !err && i-- > 0;)
		err = push_variable(b, u, local.at[i], s);
	for (u64 i = u->n; !err && i-- > 0;) {
		if (local.n && local.at[local.n - 1] == i)
			local.n--;
		else
			err = push_variable(b, u, i, s);
	}
	return err;
}

int stack_push_user(struct binprm *b, u64 uargv, u64 uenvp)
{
	struct uvec argv = {0}, envp = {0};
	struct bounce s = {kmalloc(PAGE_SIZE), PAGE_SIZE};
	int err = s.buf ? uvec_load(&argv, uargv) : -ENOMEM;

	if (!err)
		err = uvec_load(&envp, uenvp);
	if (!err)
		err = prepare(b, argv.n, envp.n);
	if (!err)
		err = push_environment(b, &envp, &s);
	if (!err)
		b->arg_end = b->p;
	if (!err)
		err = push_uvec(b, &argv, &s);
	b->argc = (u32)argv.n;
	b->envc = (u32)envp.n;
	if (!err && !argv.n) /* as Linux since 5.18: a program always has an argv[0] */
		err = stack_push_string(b, "");
	kfree(s.buf);
	kfree(argv.ptr);
	kfree(envp.ptr);
	return err;
}

int stack_push_kernel(struct binprm *b, const struct exec_args *args)
{
	int err = prepare(b, (u64)args->argc, (u64)args->envc);
	u64 bytes = 0;

	for (int i = 0; i < args->envc; i++)
		bytes += strlen(args->envp[i]) + 1;
	leave_gap(b, bytes);
	for (int i = args->envc; !err && i-- > 0;)
		err = push_vec(b, args->envp[i], strlen(args->envp[i]) + 1);
	b->arg_end = b->p;
	for (int i = args->argc; !err && i-- > 0;)
		err = push_vec(b, args->argv[i], strlen(args->argv[i]) + 1);
	b->argc = (u32)args->argc;
	b->envc = (u32)args->envc;
	return err;
}

/* ---- the vectors ---- */

struct auxv {
	u64 *at;
	unsigned n;
};

static void aux(struct auxv *v, u64 type, u64 value)
{
	ASSERT(v->n < AUX_ENTRIES);
	v->at[2 * v->n] = type;
	v->at[2 * v->n + 1] = value;
	v->n++;
}

static void fill_auxv(struct binprm *b, const struct elf_info *info, u64 platform, u64 random,
		      struct auxv *v)
{
	const struct cred *c = &b->cred;

	if (b->mm->vdso)
		aux(v, AT_SYSINFO_EHDR, b->mm->vdso);
	aux(v, AT_MINSIGSTKSZ, SIGFRAME_SIZE);
	aux(v, AT_HWCAP, arch_hwcap());
	aux(v, AT_PAGESZ, PAGE_SIZE);
	aux(v, AT_CLKTCK, USER_HZ);
	aux(v, AT_PHDR, info->phdr);
	aux(v, AT_PHENT, sizeof(Elf64_Phdr));
	aux(v, AT_PHNUM, info->phnum);
	aux(v, AT_BASE, info->base);
	aux(v, AT_FLAGS, 0);
	aux(v, AT_ENTRY, info->entry);
	aux(v, AT_UID, c->uid);
	aux(v, AT_EUID, c->euid);
	aux(v, AT_GID, c->gid);
	aux(v, AT_EGID, c->egid);
	aux(v, AT_SECURE, b->secure);
	aux(v, AT_RANDOM, random);
	aux(v, AT_HWCAP2, arch_hwcap2());
	aux(v, AT_EXECFN, b->execfn);
	aux(v, AT_PLATFORM, platform);
	aux(v, AT_NULL, 0);
}

int stack_finish(struct binprm *b, const struct elf_info *info)
{
	static const char name[] = "aarch64";
	u64 p = ALIGN_DOWN(b->p, 16), platform, random_at, zero = 0, argc = b->argc, words;
	struct mm *mm = b->mm;
	struct auxv v = {.at = mm->auxv};
	u8 random[16];
	int err;

	_Static_assert(sizeof(((struct mm *)0)->auxv) >= AUX_ENTRIES * 16, "auxv");
	platform = p -= sizeof(name);
	random_at = p -= sizeof(random);
	random_bytes(random, sizeof(random));
	fill_auxv(b, info, platform, random_at, &v);
	words = 1 + argc + 1 + b->envc + 1 + 2ULL * v.n;
	p = ALIGN_DOWN(p - words * sizeof(u64), 16);
	if (p > STACK_TOP || STACK_TOP - p > current->proc->rlim[RLIMIT_STACK].rlim_cur)
		return -E2BIG;
	mm->start_stack = b->sp = p;
	mm->arg_start = b->p;
	mm->arg_end = mm->env_start = b->arg_end;
	mm->env_end = b->env_end;
	err = put_bytes(b, platform, name, sizeof(name));
	err = err ? err : put_bytes(b, random_at, random, sizeof(random));
	err = err ? err : put_bytes(b, p, &argc, sizeof(u64));
	p += sizeof(u64);
	err = err ? err : put_bytes(b, p, &b->vec[b->vec_at], argc * sizeof(u64));
	p += argc * sizeof(u64);
	err = err ? err : put_bytes(b, p, &zero, sizeof(u64));
	p += sizeof(u64);
	err = err ? err : put_bytes(b, p, &b->vec[b->vec_cap - b->envc], b->envc * sizeof(u64));
	p += b->envc * sizeof(u64);
	err = err ? err : put_bytes(b, p, &zero, sizeof(u64));
	p += sizeof(u64);
	return err ? err : put_bytes(b, p, v.at, v.n * 2 * sizeof(u64));
}

int stack_map(struct binprm *b)
{
	u64 limit = current->proc->rlim[RLIMIT_STACK].rlim_cur & PAGE_MASK;
	u64 used = (u64)b->nr_pages << PAGE_SHIFT, size = used + EXPAND;
	struct mm *mm = b->mm;
	struct vma *v;

	size = MAX(MIN(size, limit), used);
	v = vma_new(mm, STACK_TOP - size, STACK_TOP,
		    VM_READ | VM_WRITE | VM_MAYWRITE | VM_GROWSDOWN | VM_ANON_PAGES |
			    (b->exec_stack ? VM_EXEC : 0));
	if (!v)
		return -ENOMEM;
	if (vma_insert(mm, v)) {
		kfree(v);
		return -ENOMEM;
	}
	while (b->nr_pages) {
		u32 i = --b->nr_pages;

		if (map_page(mm, STACK_TOP - ((u64)(i + 1) << PAGE_SHIFT), b->pages[i],
			     vma_prot(v) | PTE_WRITE))
			return -ENOMEM;
	}
	return 0;
}

void stack_free(struct binprm *b)
{
	while (b->nr_pages)
		page_put(b->pages[--b->nr_pages]);
	kfree(b->pages);
	kfree(b->vec);
}
