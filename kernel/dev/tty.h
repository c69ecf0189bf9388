/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Terminals: a line discipline (n_tty.c) between a driver (the virtio console,
 * a pty's master side) and the files that are open on it (tty.c). Job control
 * is in tty_job.c, ioctls are in tty_ioctl.c, pty pairs in pty.c.
 *
 * Everything here runs in process context with the big lock held; a driver
 * whose interrupt has input hands it over through the work queue.
 */
#ifndef TALLY_DEV_TTY_H
#define TALLY_DEV_TTY_H

#include "fs/vfs.h"
#include "proc/sched.h"
#include <asm/termbits.h>
#include <asm/termios.h>

struct process;
struct tty;

struct tty_driver {
	/* Takes what it can of n bytes without sleeping: may be 0. */
	size_t (*write)(struct tty *tty, const void *buf, size_t n);
	/* False: write() would take nothing; write_wait is woken when that changes. */
	bool (*can_write)(struct tty *tty);
	/* A reader has made room for input (tty_receive() took less than it was offered). */
	void (*unthrottle)(struct tty *tty);
	/* Bytes that were written and have not arrived. */
	size_t (*pending)(struct tty *tty);
	/* An event for a master in packet mode (TIOCPKT_*). May be NULL. */
	void (*packet)(struct tty *tty, u8 event);
	/* Throws away what was written and has not arrived. May be NULL. */
	void (*flush)(struct tty *tty);
};

#define TTY_INPUT  4096u /* as N_TTY_BUF_SIZE */
#define TTY_OUTPUT 4096u
#define TTY_ECHO   1024u

struct tty {
	const struct tty_driver *drv;
	void *drv_priv;
	char name[16];
	dev_t rdev;
	bool is_pty;

	struct ktermios termios;
	struct winsize winsize;
	pid_t session, pgrp; /* 0: none */
	u32 opens;
	u32 generation;	     /* a file opened in an earlier one has been hung up */
	bool exclusive;
	bool stopped;	     /* by ^S or TCOOFF */
	struct waitq read_wait, write_wait;

	/* n_tty.c: input. Indices run freely; what is in [tail, canon_head) are whole lines. */
	u8 *input;
	u8 *input_flag;	     /* INPUT_* of the byte with the same index */
	u32 head, canon_head, tail;
	bool literal_next;
	bool throttled;	     /* input was refused: unthrottle when there is room */

	/* n_tty.c: output that the driver has not taken yet, and where the cursor is. */
	u8 *output;
	u32 output_start, output_end;
	u8 echo[TTY_ECHO];
	u32 echo_len;
	u32 column, canon_column;
};

/* What a file that is open on a terminal has in f->priv. */
struct tty_file {
	struct tty *tty;
	u32 generation;
};

/* tty.c */
int tty_setup(struct tty *tty, const struct tty_driver *drv, void *drv_priv, dev_t rdev);
void tty_destroy(struct tty *tty); /* no file is open on it */
loff_t tty_llseek(struct file *f, loff_t off, int whence); /* -ESPIPE */
extern const struct file_ops tty_file_ops; /* inode->priv is the struct tty */
/* Opens f on tty: becomes the controlling terminal where it should. */
int tty_open_file(struct tty *tty, struct file *f);
bool tty_hung_up(const struct tty_file *tf);
/* Cuts off all that are open on it; SIGHUP and SIGCONT for its session. */
void tty_hangup(struct tty *tty);

/* tty_job.c */
/* The session leader takes or gives up its terminal. */
int tty_become_controlling(struct tty *tty, bool steal);
void tty_give_up(struct process *p);
/* proc/exit.c calls this when a session leader exits. */
void tty_session_exit(struct process *leader);
/*
 * The current process uses its terminal from the background: sends `sig`
 * (SIGTTIN, SIGTTOU) to its group and returns -ERESTARTSYS, or -EIO if nobody
 * could continue the group. 0: go ahead.
 */
int tty_check_background(struct tty *tty, int sig);
void tty_signal_foreground(struct tty *tty, int sig);
void tty_clear_references(struct tty *tty);
/* Opened without O_NOCTTY: a session leader that has no terminal takes one that is nobody's. */
void tty_maybe_controlling(struct tty *tty);
/* SIGHUP and SIGCONT to the session's leader and foreground group; the session loses the terminal. */
void tty_session_hangup(struct tty *tty);
long tty_job_ioctl(struct tty *tty, bool master, unsigned cmd, unsigned long arg);

/* tty_ioctl.c */
long tty_ioctl(struct tty *tty, struct file *f, unsigned cmd, unsigned long arg);
/* Those that a pty's master shares: termios, window size, queues. -ENOIOCTLCMD: not one of them. */
long tty_mode_ioctl(struct tty *tty, struct file *f, unsigned cmd, unsigned long arg);
#define ENOIOCTLCMD 515
void tty_set_winsize(struct tty *tty, const struct winsize *ws);

/* n_tty.c */
/* Input from the driver; returns how many bytes it took. When fewer than n, unthrottle() follows. */
size_t tty_receive(struct tty *tty, const u8 *buf, size_t n);
bool tty_input_ready(const struct tty *tty, u32 want);
/* Takes input for a reader into a kernel buffer. *line_end: a line is complete, the read is over. */
size_t tty_take_input(struct tty *tty, u8 *buf, size_t n, bool *line_end);
void tty_flush_input(struct tty *tty);
void tty_flush_output(struct tty *tty);
void tty_termios_changed(struct tty *tty, const struct ktermios *old);
/* Processed output: takes as many bytes of buf as there is room for. */
size_t tty_process_output(struct tty *tty, const u8 *buf, size_t n);
/* Moves what is waiting to the driver. True: nothing is left. */
bool tty_push_output(struct tty *tty);
void tty_start(struct tty *tty);
void tty_stop(struct tty *tty);
/* The driver can take more. */
void tty_write_wakeup(struct tty *tty);
u32 tty_input_len(const struct tty *tty);

/* pty.c */
void pty_init(void);
/* Another file on the slave side (through /dev/tty). */
int pty_open_slave(struct tty *tty, struct file *f);

#endif
