/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf(2) of a kernel without BPF: nothing can be loaded, and whoever asks what
 * is loaded (perf does, at each start) is told that there is nothing.
 */
#include "proc/task.h"
#include "sys/syscall.h"
#include <linux/bpf.h>
#include <linux/capability.h>

long sys_bpf(const u64 a[6])
{
	switch ((u32)a[0]) {
	case BPF_PROG_GET_NEXT_ID:
	case BPF_MAP_GET_NEXT_ID:
	case BPF_BTF_GET_NEXT_ID:
	case BPF_LINK_GET_NEXT_ID:
		return capable(CAP_SYS_ADMIN) ? -ENOENT : -EPERM;
	default:
		return -EINVAL;
	}
}
