/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ioctls of terminals (ioctl_tty(2)): attributes, window size, queues, flow.
 * What is not here is ENOTTY.
 */
#include "dev/tty.h"
#include "proc/task.h"
#include <linux/capability.h>

/* Waits until all output has been taken. */
static int drain(struct tty *t)
{
	return wait_event_interruptible(&t->write_wait,
					tty_push_output(t) && t->drv->pending(t) == 0);
}

/* The old interface has no speeds of its own: they come from c_cflag. */
static u32 speed_of(tcflag_t cflag, u32 other)
{
	static const u32 low[] = { 0,	50,   75,   110,  134,	150,  200,   300,
				   600, 1200, 1800, 2400, 4800, 9600, 19200, 38400 };
	static const u32 high[] = { 57600,   115200,  230400,  460800,	500000,
				    576000,  921600,  1000000, 1152000, 1500000,
				    2000000, 2500000, 3000000, 3500000, 4000000 };
	u32 i = cflag & CBAUD;

	if (i == BOTHER)
		return other;
	if (!(i & CBAUDEX))
		return low[i];
	i = (i & ~(u32)CBAUDEX) - 1;
	return i < ARRAY_SIZE(high) ? high[i] : other;
}

static int set_termios(struct tty *t, const void *uarg, bool with_speed)
{
	struct ktermios old = t->termios, new = t->termios;

	if (copy_from_user(&new, uarg,
			   with_speed ? sizeof(struct termios2) : sizeof(struct termios)))
		return -EFAULT;
	if (!with_speed || (new.c_cflag & CBAUD) != BOTHER) {
		new.c_ospeed = speed_of(new.c_cflag, old.c_ospeed);
		new.c_ispeed = new.c_ospeed;
	}
	new.c_line = 0;
	t->termios = new;
	tty_termios_changed(t, &old);
	return 0;
}

static long change_termios(struct tty *t, unsigned cmd, unsigned long arg)
{
	bool with_speed = cmd == TCSETS2 || cmd == TCSETSW2 || cmd == TCSETSF2;
	int err = tty_check_background(t, SIGTTOU);

	if (err)
		return err;
	if (cmd != TCSETS && cmd != TCSETS2) {
		err = drain(t);
		if (err)
			return err;
	}
	if (cmd == TCSETSF || cmd == TCSETSF2)
		tty_flush_input(t);
	return set_termios(t, (const void *)arg, with_speed);
}

/* The System V structure: the low half of each flag word and fewer characters. */
static long get_termio(struct tty *t, void *uarg)
{
	struct termio old = {
		.c_iflag = (unsigned short)t->termios.c_iflag,
		.c_oflag = (unsigned short)t->termios.c_oflag,
		.c_cflag = (unsigned short)t->termios.c_cflag,
		.c_lflag = (unsigned short)t->termios.c_lflag,
		.c_line = t->termios.c_line,
	};

	memcpy(old.c_cc, t->termios.c_cc, NCC);
	return copy_to_user(uarg, &old, sizeof(old));
}

static long set_termio(struct tty *t, unsigned cmd, const void *uarg)
{
	struct ktermios before = t->termios;
	struct termio new;
	int err = tty_check_background(t, SIGTTOU);

	if (!err && cmd != TCSETA)
		err = drain(t);
	if (err)
		return err;
	if (copy_from_user(&new, uarg, sizeof(new)))
		return -EFAULT;
	if (cmd == TCSETAF)
		tty_flush_input(t);
	t->termios.c_iflag = (before.c_iflag & 0xffff0000u) | new.c_iflag;
	t->termios.c_oflag = (before.c_oflag & 0xffff0000u) | new.c_oflag;
	t->termios.c_cflag = (before.c_cflag & 0xffff0000u) | new.c_cflag;
	t->termios.c_lflag = (before.c_lflag & 0xffff0000u) | new.c_lflag;
	memcpy(t->termios.c_cc, new.c_cc, NCC);
	t->termios.c_ospeed = speed_of(t->termios.c_cflag, before.c_ospeed);
	t->termios.c_ispeed = t->termios.c_ospeed;
	tty_termios_changed(t, &before);
	return 0;
}

void tty_set_winsize(struct tty *t, const struct winsize *ws)
{
	if (memcmp(ws, &t->winsize, sizeof(*ws)) == 0)
		return;
	t->winsize = *ws;
	tty_signal_foreground(t, SIGWINCH);
}

static long flush_queues(struct tty *t, unsigned long which)
{
	int err = tty_check_background(t, SIGTTOU);

	if (err)
		return err;
	if (which != TCIFLUSH && which != TCOFLUSH && which != TCIOFLUSH)
		return -EINVAL;
	if (which != TCOFLUSH)
		tty_flush_input(t);
	if (which != TCIFLUSH)
		tty_flush_output(t);
	return 0;
}

static long flow(struct tty *t, unsigned long action)
{
	u8 c;
	int err = tty_check_background(t, SIGTTOU);

	if (err)
		return err;
	switch (action) {
	case TCOOFF:
		tty_stop(t);
		return 0;
	case TCOON:
		tty_start(t);
		return 0;
	case TCIOFF:
	case TCION:
		c = t->termios.c_cc[action == TCIOFF ? VSTOP : VSTART];
		if (c)
			(void)t->drv->write(t, &c, 1);
		return 0;
	}
	return -EINVAL;
}

static long fake_input(struct tty *t, const void *uarg)
{
	u8 c;

	if (current->proc->tty != t && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (get_user(c, uarg))
		return -EFAULT;
	(void)tty_receive(t, &c, 1);
	return 0;
}

long tty_mode_ioctl(struct tty *t, struct file *f, unsigned cmd, unsigned long arg)
{
	void *u = (void *)arg;
	struct winsize ws;

	(void)f;
	switch (cmd) {
	case TCGETS:
		return copy_to_user(u, &t->termios, sizeof(struct termios));
	case TCGETS2:
		return copy_to_user(u, &t->termios, sizeof(struct termios2));
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
	case TCSETS2:
	case TCSETSW2:
	case TCSETSF2:
		return change_termios(t, cmd, arg);
	case TCGETA:
		return get_termio(t, u);
	case TCSETA:
	case TCSETAW:
	case TCSETAF:
		return set_termio(t, cmd, u);
	case TIOCGWINSZ:
		return copy_to_user(u, &t->winsize, sizeof(t->winsize));
	case TIOCSWINSZ:
		if (copy_from_user(&ws, u, sizeof(ws)))
			return -EFAULT;
		tty_set_winsize(t, &ws);
		return 0;
	case TIOCGETD:
		return put_user(0, (int *)u);
	case TIOCGSOFTCAR:
		return put_user(!!(t->termios.c_cflag & CLOCAL), (int *)u);
	}
	return -ENOIOCTLCMD;
}

long tty_ioctl(struct tty *t, struct file *f, unsigned cmd, unsigned long arg)
{
	void *u = (void *)arg;
	long r = tty_mode_ioctl(t, f, cmd, arg);
	int err;

	if (r == -ENOIOCTLCMD)
		r = tty_job_ioctl(t, false, cmd, arg);
	if (r != -ENOIOCTLCMD)
		return r;
	switch (cmd) {
	case FIONREAD:
		return put_user((int)tty_input_len(t), (int *)u);
	case TIOCOUTQ:
		return put_user((int)(t->output_end - t->output_start + t->drv->pending(t)),
				(int *)u);
	case TCFLSH:
		return flush_queues(t, arg);
	case TCXONC:
		return flow(t, arg);
	case TCSBRK:
	case TCSBRKP:
		/* there is no line to send a break on; all that is left is to drain */
		err = tty_check_background(t, SIGTTOU);
		return err ? err : drain(t);
	case TIOCSTI:
		return fake_input(t, u);
	case TIOCEXCL:
		t->exclusive = true;
		return 0;
	case TIOCNXCL:
		t->exclusive = false;
		return 0;
	case TIOCGEXCL:
		return put_user((int)t->exclusive, (int *)u);
	case TIOCGDEV:
		return put_user((unsigned)t->rdev, (unsigned *)u);
	case TIOCVHANGUP:
		if (!capable(CAP_SYS_ADMIN))
			return -EPERM;
		tty_hangup(t);
		return 0;
	}
	return -ENOTTY;
}
