/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open files in a folder of the host. read and write go to the host each time;
 * what mappings have (p9_map.c) is sent before it is read, and has what is
 * written.
 */
#include "fs/p9.h"
#include "mm/vm.h"

int p9_open_fid(struct inode *ino, u32 flags, u32 *out)
{
	struct p9_super *sb = p9_super(ino->sb);
	u32 fid = p9_new_fid(sb);
	int err = p9_node(ino)->gone ? -ENOENT : p9_walk(sb, p9_node(ino)->fid, fid, NULL);

	if (err)
		return err;
	err = p9_lopen(sb, fid, flags);
	if (err)
		p9_clunk(sb, fid);
	*out = fid;
	return err;
}

int p9_open(struct inode *ino, struct file *f)
{
	u32 fid;
	int err = p9_open_fid(ino, f->flags & FMODE_EXEC ? O_RDONLY : f->flags, &fid);

	if (err)
		return err;
	err = p9_refresh(ino);
	if (err) {
		p9_clunk(p9_super(ino->sb), fid);
		return err;
	}
	f->priv = (void *)(uintptr_t)fid;
	return 0;
}

/* A file without a name gives its room on the disk back now, not some time later. */
void p9_release(struct file *f)
{
	struct p9_super *sb = p9_super(f->inode->sb);

	if ((f->flags & O_ACCMODE) == O_RDONLY)
		p9_clunk(sb, p9_file_fid(f));
	else
		p9_close(sb, p9_file_fid(f));
}

int p9_fsync_file(struct file *f)
{
	struct p9_node *node = p9_node(f->inode);
	int err, sent;

	(void)p9_send_pages(f->inode, 0, ~0ULL);
	sent = node->error;
	node->error = 0;
	err = p9_fsync(p9_super(f->inode->sb), p9_file_fid(f));
	return sent ? sent : err;
}

static ssize_t p9_file_read(struct file *f, void *buf, size_t n, loff_t *pos)
{
	struct p9_super *sb = p9_super(f->inode->sb);
	size_t done = 0;

	if (n)
		(void)p9_send_pages(f->inode, (u64)*pos / PAGE_SIZE, ((u64)*pos + n - 1) / PAGE_SIZE);
	while (done < n) {
		u32 want = (u32)MIN(n - done, (size_t)P9_DATA);
		const void *data;
		struct p9_msg m;
		ssize_t got = p9_read(&m, sb, p9_file_fid(f), (u64)*pos, want, &data);
		int err;

		if (got < 0)
			return done ? (ssize_t)done : got;
		err = p9_end(&m, io_copy_out((u8 *)buf + done, data, (size_t)got));
		if (err)
			return done ? (ssize_t)done : err;
		*pos += got;
		done += (size_t)got;
		if (got == 0)
			break;
	}
	return (ssize_t)done;
}

static ssize_t write_some(struct file *f, const void *src, u32 n, loff_t *pos)
{
	struct inode *ino = f->inode;
	struct p9_node *node = p9_node(ino);
	struct p9_msg m;
	ssize_t put;
	void *data;
	int err = p9_write_begin(&m, p9_super(ino->sb), p9_file_fid(f), (u64)*pos, &n, &data);

	if (err)
		return err;
	err = io_copy_in(data, src, n);
	if (err)
		return p9_end(&m, err);
	mutex_lock(&node->lock);
	put = p9_write_call(&m, n);
	if (put > 0) {
		p9_update_pages(ino, (u64)*pos, data, (u64)put);
		*pos += put;
		ino->size = MAX(ino->size, *pos);
	}
	mutex_unlock(&node->lock);
	err = p9_end(&m, put < 0 ? (int)put : 0);
	return err ? err : put;
}

/* Where a write with O_APPEND begins. The host appends, too: where another has done so meanwhile, pages are not right. */
static int find_end(struct file *f, loff_t *pos)
{
	int err = p9_revalidate(f->inode);

	if (err && err != -ESTALE && err != -ENOENT) /* the name may be gone, the file is open */
		return err;
	p9_forget_pages(f->inode);
	*pos = f->inode->size;
	return 0;
}

static ssize_t p9_file_write(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	size_t done = 0;
	int err = f->flags & O_APPEND ? find_end(f, pos) : 0;

	if (err)
		return err;
	while (done < n) {
		ssize_t put = write_some(f, (const u8 *)buf + done,
					 (u32)MIN(n - done, (size_t)P9_DATA), pos);

		if (put < 0)
			return done ? (ssize_t)done : put;
		if (put == 0)
			break;
		done += (size_t)put;
	}
	return (ssize_t)done;
}

const struct file_ops p9_file_ops = {
	.open = p9_open,
	.release = p9_release,
	.read = p9_file_read,
	.write = p9_file_write,
	.mmap = p9_mmap,
	.fsync = p9_fsync_file,
	.kernel_buf = true,
};
