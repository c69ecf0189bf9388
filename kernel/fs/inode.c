/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inodes: making and freeing them, who may do what to them, their times.
 *
 * An inode lives as long as it has references; a dentry and an open file hold
 * one each. tmpfs pins the dentries of its tree, so that an inode of tmpfs
 * ends when its last name and its last open file are gone.
 */
#include "fs/fs.h"
#include <linux/capability.h>

u64 wall_ns(void)
{
	return boot_epoch_ns() + clock_ns();
}

dev_t anon_dev(void)
{
	static u32 minor;

	minor++;
	return MKDEV(0, minor);
}

struct inode *inode_new_extra(struct super *sb, mode_t mode, size_t extra)
{
	struct inode *ino = kzalloc(sizeof(*ino) + extra);

	if (!ino)
		return NULL;
	ino->refs = 1;
	ino->nlink = 1;
	ino->mode = mode;
	ino->sb = sb;
	ino->ino = ++sb->next_ino;
	if (extra)
		ino->priv = ino + 1;
	return ino;
}

struct inode *inode_new(struct super *sb, mode_t mode)
{
	struct inode *ino = inode_new_extra(sb, mode, 0);

	if (ino)
		ino->atime_ns = ino->mtime_ns = ino->ctime_ns = wall_ns();
	return ino;
}

void inode_put(struct inode *ino)
{
	if (--ino->refs)
		return;
	if (ino->ops && ino->ops->evict)
		ino->ops->evict(ino);
	ASSERT(!ino->pipe && !ino->locks);
	kfree(ino);
}

void inode_touch(struct inode *ino)
{
	ino->mtime_ns = ino->ctime_ns = wall_ns();
}

#define DAY_NS (86400 * NSEC_PER_SEC)

void inode_accessed(struct inode *ino)
{
	u64 now;

	/* once it is newer than the last change it is renewed once a day */
	if (likely(ino->atime_ns > ino->mtime_ns && ino->atime_ns > ino->ctime_ns &&
		   clock_ns() < DAY_NS))
		return;
	now = wall_ns();
	if (ino->atime_ns <= ino->mtime_ns || ino->atime_ns <= ino->ctime_ns ||
	    now - ino->atime_ns >= DAY_NS)
		ino->atime_ns = now;
}

/* The kernel's own threads act with all rights: boot builds the root with them. */
static bool is_kernel_task(void)
{
	return current->is_kthread || current->is_idle || !current->proc;
}

bool fs_capable(int cap)
{
	return is_kernel_task() || capable(cap);
}

bool inode_owner_ok(const struct inode *ino)
{
	return current->cred.fsuid == ino->uid || fs_capable(CAP_FOWNER);
}

int inode_permission(struct inode *ino, int mask)
{
	u32 bits = ino->mode;

	if (current->cred.fsuid == ino->uid)
		bits >>= 6;
	else if (in_group(ino->gid))
		bits >>= 3;
	if (((u32)mask & 7 & ~bits) == 0)
		return 0;
	/* root: everything, but execution needs one execute bit unless it is a directory */
	if (S_ISDIR(ino->mode)) {
		if (fs_capable(CAP_DAC_OVERRIDE))
			return 0;
		if (!(mask & 2) && fs_capable(CAP_DAC_READ_SEARCH))
			return 0;
		return -EACCES;
	}
	if (!(mask & 1) || (ino->mode & 0111))
		if (fs_capable(CAP_DAC_OVERRIDE))
			return 0;
	if ((mask & 7) == 4 && fs_capable(CAP_DAC_READ_SEARCH))
		return 0;
	return -EACCES;
}

int may_delete(struct inode *dir, struct inode *victim)
{
	int err = inode_permission(dir, 3);

	if (err)
		return err;
	if ((dir->mode & S_ISVTX) && current->cred.fsuid != victim->uid &&
	    current->cred.fsuid != dir->uid && !fs_capable(CAP_FOWNER))
		return -EPERM;
	return 0;
}

void inode_init_owner(struct inode *ino, const struct inode *dir)
{
	ino->uid = current->cred.fsuid;
	ino->gid = current->cred.fsgid;
	if (!dir || !(dir->mode & S_ISGID))
		return;
	ino->gid = dir->gid;
	if (S_ISDIR(ino->mode))
		ino->mode |= S_ISGID;
	else if ((ino->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && !in_group(ino->gid) &&
		 !fs_capable(CAP_FSETID))
		ino->mode &= ~(mode_t)S_ISGID;
}

u64 current_rlimit(int which)
{
	return current->proc ? current->proc->rlim[which].rlim_cur : RLIM64_INFINITY;
}

int io_copy_in(void *dst, const void *src, size_t n)
{
	if (likely(!is_kernel_addr(src)))
		return copy_from_user(dst, src, n);
	memcpy(dst, src, n);
	return 0;
}

int io_copy_out(void *dst, const void *src, size_t n)
{
	if (likely(!is_kernel_addr(dst)))
		return copy_to_user(dst, src, n);
	memcpy(dst, src, n);
	return 0;
}

int io_clear(void *dst, size_t n)
{
	if (likely(!is_kernel_addr(dst)))
		return clear_user(dst, n);
	memset(dst, 0, n);
	return 0;
}
