/* SPDX-License-Identifier: BSD-2-Clause */
/* Pipes and FIFOs: the ring behind them. See pipe.c. */
#ifndef TALLY_FS_PIPE_H
#define TALLY_FS_PIPE_H

#include "fs/fs.h"

#define PIPE_BUF	   4096u
#define PIPE_DEFAULT_PAGES 16u

struct pipe {
	struct mutex lock;	  /* over copies to and from user memory, which may sleep */
	u32 start, len;		  /* bytes: where the data begins, how much there is */
	u32 cap;		  /* bytes, a multiple of the page size */
	u8 **page;		  /* cap / PAGE_SIZE of them, NULL until used */
	u32 readers, writers;	  /* open ends */
	u32 files;		  /* open files, and opens under way: the last frees the pipe */
	u32 r_counter, w_counter; /* ends opened so far */
	struct waitq rd, wr;	  /* tasks that sleep in read, in write: woken one at a time */
	struct waitq poll;	  /* and everybody else */
};

struct pipe *file_pipe(const struct file *f); /* NULL when it is not one */
static inline u32 pipe_space(const struct pipe *p)
{
	return p->cap - p->len;
}
long pipe_set_size(struct pipe *p, u64 size);
/*
 * For splice and tee, with kernel buffers and p->lock held by the caller (or known to be free, and
 * no sleep in between). None of them waits; pipe_put takes as much as there is room for.
 */
u32 pipe_peek(const struct pipe *p, void *buf, u32 skip, u32 n);
void pipe_take(struct pipe *p, u32 n);
ssize_t pipe_put(struct pipe *p, const void *buf, u32 n);
int pipe_wait_data(struct pipe *p,
		   bool nonblock); /* 1 there is some, 0 end of file, -errno; lock not held */
int pipe_wait_space(struct pipe *p,
		    bool nonblock); /* 0 room for PIPE_BUF, -EPIPE (signal sent), -errno */

#endif
