/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory devices (null(4), full(4), random(4)) and the kernel log as a file (/dev/kmsg). */
#include "dev/dev.h"
#include "dev/random.h"
#include "fs/fs.h"
#include "mm/vm.h"
#include <linux/major.h>

static ssize_t null_read(struct file *f, void *ubuf, size_t n, loff_t *pos)
{
	(void)f;
	(void)ubuf;
	(void)n;
	(void)pos;
	return 0;
}

static ssize_t null_write(struct file *f, const void *ubuf, size_t n, loff_t *pos)
{
	(void)f;
	(void)ubuf;
	(void)pos;
	return (ssize_t)n;
}

#define LONG_PART 65536UL /* others may run after so much */

/* A position has no meaning, and is 0. */
static loff_t null_llseek(struct file *f, loff_t off, int whence)
{
	(void)off;
	(void)whence;
	f->pos = 0;
	return 0;
}

static ssize_t zero_read(struct file *f, void *ubuf, size_t n, loff_t *pos)
{
	size_t done = 0;

	(void)f;
	(void)pos;
	while (done < n) {
		size_t part = MIN(n - done, LONG_PART);

		if (io_clear((char *)ubuf + done, part))
			return done ? (ssize_t)done : -EFAULT;
		done += part;
		sched_let_others_run();
		if (done < n && signal_pending(current))
			break;
	}
	return (ssize_t)done;
}

/* A private mapping is anonymous memory, without the file; nothing here could be shared. */
static int zero_mmap(struct file *f, struct vma *vma)
{
	if (vma->flags & VM_SHARED)
		return -ENODEV;
	vma->file = NULL;
	vma->pgoff = 0;
	file_put(f); /* the mapping's reference */
	return 0;
}

static ssize_t full_write(struct file *f, const void *ubuf, size_t n, loff_t *pos)
{
	(void)f;
	(void)ubuf;
	(void)n;
	(void)pos;
	return -ENOSPC;
}

static ssize_t random_read(struct file *f, void *ubuf, size_t n, loff_t *pos)
{
	size_t done = 0;
	u8 buf[256];

	(void)f;
	(void)pos;
	while (done < n) {
		size_t len = MIN(n - done, sizeof(buf));

		random_bytes(buf, len);
		if (io_copy_out((char *)ubuf + done, buf, len))
			return done ? (ssize_t)done : -EFAULT;
		done += len;
		sched_let_others_run();
		if (done < n && signal_pending(current))
			break;
	}
	return (ssize_t)done;
}

static ssize_t random_write(struct file *f, const void *ubuf, size_t n, loff_t *pos)
{
	size_t done = 0;
	u8 buf[256];

	(void)f;
	(void)pos;
	while (done < n) {
		size_t len = MIN(n - done, sizeof(buf));

		if (io_copy_in(buf, (const char *)ubuf + done, len))
			return done ? (ssize_t)done : -EFAULT;
		random_mix(buf, len);
		done += len;
	}
	return (ssize_t)done;
}

static const struct file_ops null_ops = {
	.read = null_read, .write = null_write, .llseek = null_llseek, .kernel_buf = true,
};
static const struct file_ops zero_ops = {
	.read = zero_read, .write = null_write, .llseek = null_llseek, .mmap = zero_mmap,
	.kernel_buf = true,
};
static const struct file_ops full_ops = {
	.read = zero_read, .write = full_write, .llseek = null_llseek, .kernel_buf = true,
};
static const struct file_ops random_ops = {
	.read = random_read, .write = random_write, .llseek = null_llseek, .kernel_buf = true,
};

void mem_devices_init(void)
{
	static const struct {
		const char *name;
		mode_t mode;
		unsigned minor;
		const struct file_ops *ops;
	} dev[] = {
		{ "null", 0666, 3, &null_ops },	    { "zero", 0666, 5, &zero_ops },
		{ "full", 0666, 7, &full_ops },	    { "random", 0666, 8, &random_ops },
		{ "urandom", 0666, 9, &random_ops }, { "kmsg", 0644, 11, &kmsg_ops },
	};

	if (devfs_add("console", 0600, MKDEV(TTYAUX_MAJOR, 1), &console_ops, NULL))
		panic("no memory for /dev/console");
	for (size_t i = 0; i < ARRAY_SIZE(dev); i++)
		if (devfs_add(dev[i].name, dev[i].mode, MKDEV(MEM_MAJOR, dev[i].minor), dev[i].ops,
			      NULL))
			panic("no memory for /dev/%s", dev[i].name);
}
