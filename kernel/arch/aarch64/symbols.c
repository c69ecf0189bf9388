/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own symbols: a table of its functions in address order, made by
 * ksyms.py from the first link of the kernel and linked into the second.
 */
#include "arch/aarch64/cpu.h"

extern const u32 ksyms_count;
extern const u32 ksyms_offset[];   /* of the function, from _text */
extern const u32 ksyms_name[];	   /* where its type and name begin in ksyms_strings */
extern const char ksyms_strings[]; /* nm's letter, then the name, ended by NUL */
extern char _text[], _etext[];

bool ksym_get(size_t i, u64 *addr, char *type, const char **name)
{
	const char *s;

	if (i >= ksyms_count)
		return false;
	s = ksyms_strings + ksyms_name[i];
	*addr = (u64)_text + ksyms_offset[i];
	*type = s[0];
	*name = s + 1;
	return true;
}

const char *ksym_lookup(u64 addr, u64 *offset)
{
	size_t lo = 0, hi = ksyms_count;
	u64 at = addr - (u64)_text;

	if (addr < (u64)_text || addr >= (u64)_etext || !hi || at < ksyms_offset[0])
		return NULL;
	while (hi - lo > 1) { /* the last one that begins at or before it */
		size_t mid = lo + (hi - lo) / 2;

		if (ksyms_offset[mid] <= at)
			lo = mid;
		else
			hi = mid;
	}
	*offset = at - ksyms_offset[lo];
	return ksyms_strings + ksyms_name[lo] + 1;
}

static void print_location(u64 pc)
{
	u64 offset;
	const char *name = ksym_lookup(pc, &offset);

	if (name)
		printk("  %016llx %s+%#llx\n", (unsigned long long)pc, name,
		       (unsigned long long)offset);
	else
		printk("  %016llx\n", (unsigned long long)pc);
}

/* A frame record must lie above the last one and on the same stack, so a broken chain ends. */
void backtrace_print(u64 fp, u64 pc)
{
	print_location(pc);
	for (int depth = 0; depth < 40 && fp; depth++) {
		const u64 *record = (const u64 *)fp;
		u64 next;

		if (!IS_ALIGNED(fp, 16) || fp < (u64)_text)
			break;
		next = record[0];
		if (record[1])
			print_location(record[1] - 4); /* the call, not where it returns to */
		if (next <= fp || next - fp > KSTACK_SIZE)
			break;
		fp = next;
	}
}
