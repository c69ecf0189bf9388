/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory system calls: mmap(2), munmap(2), mprotect(2), mremap(2), brk(2), msync(2),
 * mlock(2) and relatives.
 */
#include "mm/vma.h"
#include "fs/vfs.h"
#include "proc/task.h"
#include "sys/syscall.h"
#include <linux/capability.h>
#include <linux/membarrier.h>
#include <linux/mman.h>

long sys_mmap(const u64 a[6])
{
	struct file *f = NULL;
	u32 flags = (u32)a[3];
	s64 r;

	if (!IS_ALIGNED(a[5], PAGE_SIZE))
		return -EINVAL;
	if (!(flags & MAP_ANONYMOUS)) {
		f = fd_get((int)a[4]);
		if (!f)
			return -EBADF;
	}
	r = vm_mmap(current->mm, a[0], a[1], (u32)a[2], flags, f, f ? a[5] : 0);
	if (f)
		file_put(f);
	return r;
}

long sys_munmap(const u64 a[6])
{
	return vm_munmap(current->mm, untag_addr(a[0]), a[1]);
}

long sys_mprotect(const u64 a[6])
{
	u64 start = untag_addr(a[0]), len = a[1];
	u32 prot = (u32)a[2], grows = prot & (PROT_GROWSDOWN | PROT_GROWSUP);
	struct vma *v;

	prot &= ~(u32)(PROT_GROWSDOWN | PROT_GROWSUP);
	if (grows == (PROT_GROWSDOWN | PROT_GROWSUP))
		return -EINVAL;
	if (prot & ~(u32)(PROT_READ | PROT_WRITE | PROT_EXEC | PROT_SEM))
		return -EINVAL;
	if (grows && len && IS_ALIGNED(start, PAGE_SIZE)) {
		v = vma_find(current->mm, start);
		if (!v || v->start >= start + len)
			return -ENOMEM;
		if (grows != PROT_GROWSDOWN || !(v->flags & VM_GROWSDOWN))
			return -EINVAL;
		len += start - MIN(start, v->start);
		start = MIN(start, v->start);
	}
	return vm_mprotect(current->mm, start, len, prot);
}

long sys_mremap(const u64 a[6])
{
	return vm_mremap(current->mm, untag_addr(a[0]), a[1], a[2], (u32)a[3], a[4]);
}

long sys_brk(const u64 a[6])
{
	return vm_brk(current->mm, a[0]);
}

/* MS_SYNC of an area: its file is written to where it is kept. The area may be gone afterwards. */
static int sync_area(const struct vma *v)
{
	struct file *f = v->file;
	int err;

	if (!(v->flags & VM_SHARED) || !f || !f->ops->fsync)
		return 0;
	file_get(f);
	err = f->ops->fsync(f);
	file_put(f);
	return err;
}

long sys_msync(const u64 a[6])
{
	u64 start = untag_addr(a[0]), end;
	u32 flags = (u32)a[2];
	struct vma *v;
	int err = 0;

	if (flags & ~(u32)(MS_ASYNC | MS_INVALIDATE | MS_SYNC) || !IS_ALIGNED(start, PAGE_SIZE) ||
	    (flags & (MS_ASYNC | MS_SYNC)) == (MS_ASYNC | MS_SYNC))
		return -EINVAL;
	end = start + ALIGN_UP(a[1], PAGE_SIZE);
	if (end < start)
		return -ENOMEM;
	while (!err && start < end) {
		v = vma_find(current->mm, start);
		if (!v || v->start > start)
			return -ENOMEM;
		if (flags & MS_INVALIDATE && v->flags & VM_LOCKED)
			return -EBUSY;
		start = v->end;
		if (flags & MS_SYNC)
			err = sync_area(v);
	}
	return err;
}

/* ---- locking: pages never leave RAM, so it means that they are all there ---- */

static long lock_range(u64 addr, u64 len, bool lock, bool populate)
{
	struct mm *mm = current->mm;
	u64 start = ALIGN_DOWN(addr, PAGE_SIZE), end = ALIGN_UP(addr + len, PAGE_SIZE);
	u64 limit = current->proc->rlim[RLIMIT_MEMLOCK].rlim_cur;
	u64 at = start;
	int err;

	if (end < start || addr + len < addr)
		return -EINVAL;
	if (lock && !capable(CAP_IPC_LOCK)) {
		if (!limit)
			return -EPERM;
		if (mm->locked_vm + ((end - start) >> PAGE_SHIFT) > limit >> PAGE_SHIFT)
			return -ENOMEM;
	}
	while (at < end) {
		struct vma *v = vma_find(mm, at);

		if (!v || v->start > at)
			return -ENOMEM;
		err = vma_isolate(mm, at, MIN(end, v->end));
		if (err)
			return err == -EINVAL ? -ENOMEM : err;
		v = vma_find(mm, at);
		at = v->end;
		if (lock)
			vma_lock(mm, v);
		else
			vma_unlock(mm, v);
		if (populate && v->flags & VM_ACCESS &&
		    vm_populate(mm, v->start, v->end - v->start,
				(v->flags & (VM_WRITE | VM_SHARED)) == VM_WRITE))
			return -ENOMEM;
	}
	vma_merge(mm, start, end);
	return 0;
}

long sys_mlock(const u64 a[6])
{
	return lock_range(untag_addr(a[0]), a[1], true, true);
}

long sys_mlock2(const u64 a[6])
{
	if (a[2] & ~(u64)MLOCK_ONFAULT)
		return -EINVAL;
	return lock_range(untag_addr(a[0]), a[1], true, !(a[2] & MLOCK_ONFAULT));
}

long sys_munlock(const u64 a[6])
{
	return lock_range(untag_addr(a[0]), a[1], false, false);
}

static long lock_all(bool lock, bool populate)
{
	struct mm *mm = current->mm;

	for (struct vma *v = mm->vmas; v; v = v->next) {
		if (!lock) {
			vma_unlock(mm, v);
			continue;
		}
		vma_lock(mm, v);
		if (populate && v->flags & VM_ACCESS) /* as mlockall(2), without failing */
			(void)vm_populate(mm, v->start, v->end - v->start,
					  (v->flags & (VM_WRITE | VM_SHARED)) == VM_WRITE);
	}
	return 0;
}

long sys_mlockall(const u64 a[6])
{
	u64 flags = a[0], limit = current->proc->rlim[RLIMIT_MEMLOCK].rlim_cur;
	struct mm *mm = current->mm;

	if (!flags || flags & ~(u64)(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) ||
	    flags == MCL_ONFAULT)
		return -EINVAL;
	if (!capable(CAP_IPC_LOCK)) {
		if (!limit)
			return -EPERM;
		if (flags & MCL_CURRENT && mm->total_vm > limit >> PAGE_SHIFT)
			return -ENOMEM;
	}
	mm->def_flags = flags & MCL_FUTURE ? VM_LOCKED : 0;
	return flags & MCL_CURRENT ? lock_all(true, !(flags & MCL_ONFAULT)) : 0;
}

long sys_munlockall(const u64 a[6])
{
	(void)a;
	current->mm->def_flags = 0;
	return lock_all(false, false);
}

/* ---- membarrier(2) ---- */

static void full_barrier(void *arg)
{
	(void)arg;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__asm__ volatile("isb" ::: "memory");
}

long sys_membarrier(const u64 a[6])
{
	const u32 supported = MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_PRIVATE_EXPEDITED |
			      MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED |
			      MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE |
			      MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE;
	struct mm *mm = current->mm;
	u32 cmd = (u32)a[0];

	if (a[1])
		return -EINVAL;
	switch (cmd) {
	case MEMBARRIER_CMD_QUERY:
		return supported;
	case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED:
	case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE:
		mm->membarrier_ready |= cmd;
		return 0;
	case MEMBARRIER_CMD_PRIVATE_EXPEDITED:
	case MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE:
		/* each registering bit is the one after its command's */
		if (!(mm->membarrier_ready & cmd << 1))
			return -EPERM;
		break;
	case MEMBARRIER_CMD_GLOBAL:
		break;
	default:
		return -EINVAL;
	}
	for (unsigned cpu = 0; cpu < nr_cpus(); cpu++)
		(void)smp_call(cpu, full_barrier, NULL); /* one that is offline runs no user code */
	return 0;
}
