/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that are open on a terminal: open, read, write, poll, hang-up; and the
 * node /dev/tty. See tty.h.
 */
#include "dev/tty.h"
#include "dev/dev.h"
#include "fs/fs.h"
#include "mm/page.h"
#include "proc/task.h"
#include <asm/poll.h>
#include <linux/capability.h>
#include <linux/major.h>

int tty_setup(struct tty *t, const struct tty_driver *drv, void *drv_priv, dev_t rdev)
{
	static const struct ktermios standard = {
		.c_iflag = ICRNL | IXON,
		.c_oflag = OPOST | ONLCR,
		.c_cflag = B38400 | CS8 | CREAD | HUPCL,
		.c_lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
		.c_cc = { [VINTR] = 3, [VQUIT] = 034, [VERASE] = 0177, [VKILL] = 025,
			  [VEOF] = 4, [VMIN] = 1, [VSTART] = 021, [VSTOP] = 023,
			  [VSUSP] = 032, [VREPRINT] = 022, [VDISCARD] = 017,
			  [VWERASE] = 027, [VLNEXT] = 026 },
		.c_ispeed = 38400,
		.c_ospeed = 38400,
	};

	t->input = kmalloc(TTY_INPUT);
	t->input_flag = kmalloc(TTY_INPUT);
	t->output = kmalloc(TTY_OUTPUT);
	if (!t->input || !t->input_flag || !t->output) {
		tty_destroy(t);
		return -ENOMEM;
	}
	t->drv = drv;
	t->drv_priv = drv_priv;
	t->rdev = rdev;
	t->termios = standard;
	return 0;
}

void tty_destroy(struct tty *t)
{
	tty_clear_references(t);
	kfree(t->input);
	kfree(t->input_flag);
	kfree(t->output);
	t->input = t->input_flag = t->output = NULL;
}

bool tty_hung_up(const struct tty_file *tf)
{
	return tf->generation != tf->tty->generation;
}

void tty_hangup(struct tty *t)
{
	t->generation++;
	/* what was written before still goes out: the last words of a session */
	tty_start(t);
	t->head = t->canon_head = t->tail = 0;
	tty_session_hangup(t);
	wake_up(&t->read_wait);
	wake_up(&t->write_wait);
}

int tty_open_file(struct tty *t, struct file *f)
{
	struct tty_file *tf;

	if (t->exclusive && t->opens && !capable(CAP_SYS_ADMIN))
		return -EBUSY;
	tf = kmalloc(sizeof(*tf));
	if (!tf)
		return -ENOMEM;
	tf->tty = t;
	tf->generation = t->generation;
	f->priv = tf;
	t->opens++;
	if (!(f->flags & O_NOCTTY))
		tty_maybe_controlling(t);
	return 0;
}

static int tty_open(struct inode *ino, struct file *f)
{
	return tty_open_file(ino->priv, f);
}

static void tty_release(struct file *f)
{
	struct tty_file *tf = f->priv;

	if (--tf->tty->opens == 0)
		tf->tty->exclusive = false;
	kfree(tf);
}

/* ----------------------------------------------------------------- reading */

/* Sleeps for input. 0; -EAGAIN: nonblocking; -ETIMEDOUT; -ERESTARTSYS; 1: hung up. */
static int wait_input(struct file *f, u32 want, u64 deadline)
{
	struct tty_file *tf = f->priv;
	struct tty *t = tf->tty;
	int err;

	if (tty_hung_up(tf))
		return 1;
	if (tty_input_ready(t, want))
		return 0;
	if (f->flags & O_NONBLOCK)
		return -EAGAIN;
	err = wait_event_until(&t->read_wait, tty_hung_up(tf) || tty_input_ready(t, want),
			       deadline, true);
	return err ? err : tty_hung_up(tf);
}

/*
 * Raw mode: when is a read done? VMIN and VTIME as termios(3) has them. Returns
 * like wait_input() for the next byte, when `have` bytes have been read.
 */
static int wait_raw(struct file *f, size_t have, u64 start)
{
	struct tty *t = ((struct tty_file *)f->priv)->tty;
	u32 min = t->termios.c_cc[VMIN];
	u64 time = t->termios.c_cc[VTIME] * (NSEC_PER_SEC / 10);
	u64 deadline = NO_DEADLINE;

	if (have && have >= min)
		return tty_input_ready(t, 1) ? 0 : -ETIMEDOUT;
	if (min == 0)
		deadline = start + time;
	else if (time && have)
		deadline = clock_ns() + time;
	if (min == 0 && time == 0 && !tty_input_ready(t, 1))
		return tty_hung_up(f->priv) ? 1 : -ETIMEDOUT;
	return wait_input(f, 1, deadline);
}

static ssize_t tty_read(struct file *f, void *ubuf, size_t n, loff_t *pos)
{
	struct tty *t = ((struct tty_file *)f->priv)->tty;
	u64 start = clock_ns();
	bool line_end = false;
	size_t done = 0;
	u8 chunk[256];
	int err;

	(void)pos;
	err = tty_hung_up(f->priv) ? 0 : tty_check_background(t, SIGTTIN);
	if (err)
		return err;
	while (done < n && !line_end) {
		bool canonical = t->termios.c_lflag & ICANON;
		size_t got;

		if (!canonical)
			err = wait_raw(f, done, start);
		else if (done)
			err = tty_input_ready(t, 1) ? 0 : -ETIMEDOUT;
		else
			err = wait_input(f, 1, NO_DEADLINE);
		if (err)
			break;
		got = tty_take_input(t, chunk, MIN(n - done, sizeof(chunk)), &line_end);
		if (io_copy_out((char *)ubuf + done, chunk, got))
			return -EFAULT;
		done += got;
	}
	if (done || err == -ETIMEDOUT || err == 1)
		return (ssize_t)done;
	return err;
}

/* ----------------------------------------------------------------- writing */

static bool can_output(struct tty *t)
{
	return !t->stopped && t->drv->can_write(t);
}

static int wait_output(struct file *f)
{
	struct tty_file *tf = f->priv;

	if (f->flags & O_NONBLOCK)
		return -EAGAIN;
	return wait_event_interruptible(&tf->tty->write_wait,
					tty_hung_up(tf) || can_output(tf->tty));
}

static ssize_t tty_write(struct file *f, const void *ubuf, size_t n, loff_t *pos)
{
	struct tty_file *tf = f->priv;
	struct tty *t = tf->tty;
	size_t done = 0;
	u8 chunk[512];
	int err = 0;

	(void)pos;
	if (!tty_hung_up(tf) && (t->termios.c_lflag & TOSTOP))
		err = tty_check_background(t, SIGTTOU);
	while (!err && done < n) {
		size_t len = MIN(n - done, sizeof(chunk)), took;

		if (io_copy_in(chunk, (const char *)ubuf + done, len)) {
			err = -EFAULT;
			break;
		}
		if (tty_hung_up(tf)) {
			err = -EIO;
			break;
		}
		took = tty_process_output(t, chunk, len);
		done += took;
		if (took < len && !can_output(t))
			err = wait_output(f);
	}
	return done ? (ssize_t)done : err;
}

/* -------------------------------------------------------------------- poll */

static u32 tty_poll(struct file *f, struct poll_table *pt)
{
	struct tty_file *tf = f->priv;
	struct tty *t = tf->tty;
	u32 min = t->termios.c_cc[VTIME] ? 1 : t->termios.c_cc[VMIN];
	u32 mask = 0;

	poll_wait(f, &t->read_wait, pt);
	poll_wait(f, &t->write_wait, pt);
	if (tty_hung_up(tf))
		return POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM | POLLERR | POLLHUP;
	if (tty_input_ready(t, MAX(min, 1u)))
		mask |= POLLIN | POLLRDNORM;
	if (can_output(t))
		mask |= POLLOUT | POLLWRNORM;
	return mask;
}

static long tty_file_ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	struct tty_file *tf = f->priv;

	if (tty_hung_up(tf))
		return cmd == TIOCSPGRP ? -ENOTTY : -EIO;
	return tty_ioctl(tf->tty, f, cmd, arg);
}

loff_t tty_llseek(struct file *f, loff_t off, int whence)
{
	(void)f;
	(void)off;
	(void)whence;
	return -ESPIPE;
}

const struct file_ops tty_file_ops = {
	.open = tty_open,
	.release = tty_release,
	.read = tty_read,
	.write = tty_write,
	.poll = tty_poll,
	.ioctl = tty_file_ioctl,
	.llseek = tty_llseek,
	.kernel_buf = true,
};

/* ---------------------------------------------------------------- /dev/tty */

static int current_tty_open(struct inode *ino, struct file *f)
{
	struct tty *t = current->proc->tty;
	int err;

	(void)ino;
	if (!t)
		return -ENXIO;
	f->flags |= O_NOCTTY;
	err = t->is_pty ? pty_open_slave(t, f) : tty_open_file(t, f);
	if (!err && !t->is_pty)
		f->ops = &tty_file_ops;
	return err;
}

static const struct file_ops current_tty_ops = { .open = current_tty_open };

void tty_init(void)
{
	if (devfs_add("tty", 0666, MKDEV(TTYAUX_MAJOR, 0), &current_tty_ops, NULL))
		panic("no memory for /dev/tty");
	pty_init();
}
