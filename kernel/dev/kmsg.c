/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /dev/kmsg and /dev/console: the kernel log, one record a read, as Linux's
 * Documentation/ABI/testing/dev-kmsg describes it; what is written becomes a
 * line of the log. A file's position in the log is its own, in f->priv.
 */
#include "dev/dev.h"
#include "fs/fs.h"
#include "lib/log.h"
#include <asm/poll.h>
#include <linux/fs.h>

#define PRIORITY_INFO 6 /* printk has no levels */
/* printk may hold any lock and so wakes nobody: who waits for a line looks this often. */
#define LOOK_NS	      (100 * NSEC_PER_MSEC)

static int kmsg_open(struct inode *ino, struct file *f)
{
	u64 *seq = kmalloc(sizeof(*seq));

	(void)ino;
	if (!seq)
		return -ENOMEM;
	*seq = log_first();
	f->priv = seq;
	return 0;
}

static void kmsg_release(struct file *f)
{
	kfree(f->priv);
}

static int wait_line(struct file *f, u64 seq)
{
	struct waitq nobody_wakes = { 0 };

	while (seq >= log_next()) {
		int err;

		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_until(&nobody_wakes, seq < log_next(), clock_ns() + LOOK_NS, true);
		if (err && err != -ETIMEDOUT)
			return err;
	}
	return 0;
}

static ssize_t kmsg_read(struct file *f, void *ubuf, size_t n, loff_t *pos)
{
	u64 *seq = f->priv;
	struct log_line line;
	char out[LOG_LINE_MAX + 64];
	int len, err = wait_line(f, *seq);

	(void)pos;
	if (err)
		return err;
	if (!log_get(*seq, &line)) {
		*seq = log_first();
		return -EPIPE; /* overwritten meanwhile; the next read goes on behind the gap */
	}
	len = snprintf(out, sizeof(out), "%d,%llu,%llu,-;%.*s\n", PRIORITY_INFO,
		       (unsigned long long)line.seq,
		       (unsigned long long)(line.time_ns / NSEC_PER_USEC), (int)line.len,
		       line.text);
	if ((size_t)len > n)
		return -EINVAL;
	if (io_copy_out(ubuf, out, (size_t)len))
		return -EFAULT;
	++*seq;
	return len;
}

static ssize_t kmsg_write(struct file *f, const void *ubuf, size_t n, loff_t *pos)
{
	char line[LOG_LINE_MAX];
	size_t len = MIN(n, sizeof(line) - 1);

	(void)f;
	(void)pos;
	if (io_copy_in(line, ubuf, len))
		return -EFAULT;
	while (len && line[len - 1] == '\n')
		len--;
	line[len] = '\0';
	printk("%s\n", line);
	return (ssize_t)n;
}

/* /dev/console: where init and others report when they have nothing else: the kernel log, too. Nobody types there. */
static ssize_t console_read(struct file *f, void *ubuf, size_t n, loff_t *pos)
{
	return 0;
}

/* SEEK_SET 0: the oldest line; SEEK_END 0: behind the newest; SEEK_DATA 0: as SEEK_SET (nothing clears the log). */
static loff_t kmsg_llseek(struct file *f, loff_t off, int whence)
{
	u64 *seq = f->priv;

	if (off)
		return -ESPIPE;
	if (whence == SEEK_SET || whence == SEEK_DATA)
		*seq = log_first();
	else if (whence == SEEK_END)
		*seq = log_next();
	else
		return -EINVAL;
	return 0;
}

static u32 kmsg_poll(struct file *f, struct poll_table *pt)
{
	(void)pt;
	return *(u64 *)f->priv < log_next() ? POLLIN | POLLRDNORM : 0;
}

const struct file_ops kmsg_ops = {
	.open = kmsg_open,
	.release = kmsg_release,
	.read = kmsg_read,
	.write = kmsg_write,
	.llseek = kmsg_llseek,
	.poll = kmsg_poll,
	.kernel_buf = true,
};

const struct file_ops console_ops = {
	.read = console_read,
	.write = kmsg_write,
	.kernel_buf = true,
};
