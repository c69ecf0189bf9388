/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of poll: what waits on the queues of a file. */
#ifndef TALLY_FS_POLL_H
#define TALLY_FS_POLL_H

#include "fs/fs.h"
#include <linux/poll.h>

struct poll_table {
	/* A queue whose wake-up may change the answer of f. Called by poll_wait. */
	void (*queue)(struct poll_table *pt, struct file *f, struct waitq *wq);
};

/* A relative timeout in user memory as a clock_ns() deadline; NULL: none. 0, -EFAULT, -EINVAL. */
struct timespec64 {
	s64 tv_sec;
	s64 tv_nsec;
};
int deadline_from_user(const void *uts, u64 *deadline);
u64 deadline_from_ns(u64 ns); /* from now, saturating */

#endif
