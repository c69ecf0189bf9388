/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TALLY_PROC_PIDFD_H
#define TALLY_PROC_PIDFD_H

#include "lib/kernel.h"

struct file;
struct process;

/* A new close-on-exec descriptor that stands for a process (O_NONBLOCK in flags as asked). Big lock held. fd or -errno. */
int pidfd_create(struct process *p, u32 flags);
/* The process behind a descriptor of the current task; referenced. -EBADF if it is no pidfd. */
int pidfd_process(int fd, struct process **out);

#endif
