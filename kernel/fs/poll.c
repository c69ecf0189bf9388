/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poll(2) and select(2). The first look at the files also queues the task with
 * each of them, unless something was ready before; later looks only look. The
 * task is in its sleeping state before it looks, so that a wake-up in between
 * makes the sleep end at once.
 */
#include "fs/poll.h"
#include "sys/syscall.h"

struct poll_entry {
	struct waiter w;
	struct poll_entry *next;
};

struct task_poll {
	struct poll_table pt;
	struct poll_entry *list; /* newest first */
	u32 used;
	bool oom;
	struct poll_entry first[8];
};

static void task_poll_queue(struct poll_table *pt, struct file *f, struct waitq *wq)
{
	struct task_poll *tp = container_of(pt, struct task_poll, pt);
	struct poll_entry *e;

	(void)f;
	e = tp->used < ARRAY_SIZE(tp->first) ? &tp->first[tp->used] : kmalloc(sizeof(*e));
	if (!e) {
		tp->oom = true;
		return;
	}
	tp->used++;
	e->w = (struct waiter){.task = current};
	e->next = tp->list;
	tp->list = e;
	wait_add(wq, &e->w);
}

static void task_poll_init(struct task_poll *tp)
{
	tp->pt.queue = task_poll_queue;
	tp->list = NULL;
	tp->used = 0;
	tp->oom = false;
}

static void task_poll_end(struct task_poll *tp)
{
	struct poll_entry *e, *next;

	for (e = tp->list; e; e = next) {
		next = e->next;
		wait_remove(&e->w);
		if (e < tp->first || e >= tp->first + ARRAY_SIZE(tp->first))
			kfree(e);
	}
}

void poll_wait(struct file *f, struct waitq *wq, struct poll_table *pt)
{
	if (pt)
		pt->queue(pt, f, wq);
}

u32 file_poll(struct file *f, struct poll_table *pt)
{
	if (!f->ops->poll)
		return POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;
	return f->ops->poll(f, pt);
}

u64 deadline_from_ns(u64 ns)
{
	u64 now = clock_ns();

	return ns > NO_DEADLINE - 1 - now ? NO_DEADLINE : now + ns;
}

int deadline_from_user(const void *uts, u64 *deadline)
{
	struct timespec64 ts;

	*deadline = NO_DEADLINE;
	if (!uts)
		return 0;
	if (copy_from_user(&ts, uts, sizeof(ts)))
		return -EFAULT;
	if (ts.tv_sec < 0 || (u64)ts.tv_nsec >= NSEC_PER_SEC)
		return -EINVAL;
	if ((u64)ts.tv_sec < NO_DEADLINE / NSEC_PER_SEC)
		*deadline = deadline_from_ns((u64)ts.tv_sec * NSEC_PER_SEC + (u64)ts.tv_nsec);
	return 0;
}

/* Writes what is left until the deadline, as ppoll and pselect6 do. */
static void left_to_user(void *uts, u64 deadline)
{
	u64 now = clock_ns(), left = deadline > now ? deadline - now : 0;
	struct timespec64 ts = {(s64)(left / NSEC_PER_SEC), (s64)(left % NSEC_PER_SEC)};

	/* a timeout in read-only memory is not an error */
	if (uts && deadline != NO_DEADLINE && copy_to_user(uts, &ts, sizeof(ts)))
		return;
}

/*
 * The loop both calls share: look (with the table the first time) until
 * something is ready, time is up or a signal came. The number of ready ones,
 * 0, or -ERESTARTNOHAND.
 */
static long poll_loop(long (*look)(void *arg, struct poll_table *pt), void *arg, u64 deadline)
{
	struct task_poll tp;
	struct poll_table *pt = &tp.pt;
	long n;

	task_poll_init(&tp);
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		n = look(arg, deadline == 0 ? NULL : pt);
		pt = NULL;
		if (!n && tp.oom)
			n = -ENOMEM;
		if (n)
			break;
		if (signal_pending(current)) {
			n = -ERESTARTNOHAND;
			break;
		}
		if (deadline != NO_DEADLINE && (!deadline || clock_ns() >= deadline))
			break;
		schedule_until(deadline);
	}
	set_current_state(TASK_RUNNING);
	task_poll_end(&tp);
	return n;
}

/* ---- poll ---- */

struct poll_set {
	struct pollfd *fds;
	u32 n;
};

static long look_at_fds(void *arg, struct poll_table *pt)
{
	struct poll_set *s = arg;
	long ready = 0;

	for (u32 i = 0; i < s->n; i++) {
		struct pollfd *p = &s->fds[i];
		u32 want = (u32)(u16)p->events | POLLERR | POLLHUP, got;
		struct fdref r;

		p->revents = 0;
		if (p->fd < 0)
			continue;
		r = fd_get_light(p->fd);
		got = r.file ? file_poll(r.file, ready ? NULL : pt) & want : POLLNVAL;
		if (r.file)
			fd_put_light(r);
		p->revents = (short)got;
		ready += got != 0;
	}
	return ready;
}

/*
 * Between looks another thread may close a descriptor whose queue we wait on;
 * the files are therefore held while we sleep, unless the table is ours alone.
 */
static struct file **hold_files(const struct pollfd *fds, u32 n)
{
	struct file **held = kmalloc(n * sizeof(*held) + 1);

	for (u32 i = 0; held && i < n; i++)
		held[i] = fds[i].fd < 0 ? NULL : fd_get_raw(fds[i].fd);
	return held;
}

static void drop_files(struct file **held, u32 n)
{
	for (u32 i = 0; held && i < n; i++)
		if (held[i])
			file_put(held[i]);
	kfree(held);
}

static long do_poll(void *ufds, u32 n, u64 deadline)
{
	struct pollfd few[8];
	struct poll_set s = {few, n};
	struct file **held = NULL;
	bool shared = current->files->refs > 1;
	long ret;

	if (n > current_rlimit(RLIMIT_NOFILE) || n > 1048576)
		return -EINVAL;
	if (n > ARRAY_SIZE(few)) {
		s.fds = kmalloc(n * sizeof(*s.fds));
		if (!s.fds)
			return -ENOMEM;
	}
	ret = copy_from_user(s.fds, ufds, n * sizeof(*s.fds));
	if (!ret && shared) {
		held = hold_files(s.fds, n);
		ret = held ? 0 : -ENOMEM;
	}
	if (!ret) {
		ret = poll_loop(look_at_fds, &s, deadline);
		for (u32 i = 0; ret >= 0 && i < n; i++)
			if (put_user(s.fds[i].revents, &((struct pollfd *)ufds)[i].revents))
				ret = -EFAULT;
	}
	if (shared)
		drop_files(held, n);
	if (s.fds != few)
		kfree(s.fds);
	return ret;
}

/* A signal mask for the time of the call, if the caller brought one. */
static int mask_begin(const void *umask, size_t size, bool *set)
{
	ksigset_t mask;

	*set = umask != NULL;
	if (!umask)
		return 0;
	if (size != sizeof(mask))
		return -EINVAL;
	if (get_user(mask, (const ksigset_t *)umask))
		return -EFAULT;
	sigmask_set_temporary(mask);
	return 0;
}

static void mask_end(bool set, long ret)
{
	if (set)
		sigmask_end_temporary(ret == -ERESTARTNOHAND || ret == -EINTR);
}

long sys_ppoll(const u64 a[6])
{
	u64 deadline;
	bool masked;
	long ret = deadline_from_user((const void *)a[2], &deadline);
	bool at_once = !ret && deadline != NO_DEADLINE && deadline <= clock_ns();

	if (!ret)
		ret = mask_begin((const void *)a[3], a[4], &masked);
	if (ret)
		return ret;
	ret = do_poll((void *)a[0], (u32)a[1], at_once ? 0 : deadline);
	mask_end(masked, ret);
	left_to_user((void *)a[2], deadline);
	return ret;
}

/* ---- select ---- */

#define FDS_MAX 65536u
#define SEL_IN	(POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR)
#define SEL_OUT (POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR)
#define SEL_EX	POLLPRI

struct select_set {
	u32 n;
	u64 *in[3], *out[3]; /* read, write, except; NULL when not given */
};

static u32 select_events(const struct select_set *s, u32 fd)
{
	static const u32 events[3] = {SEL_IN, SEL_OUT, SEL_EX};
	u32 want = 0;

	for (unsigned k = 0; k < 3; k++)
		if (s->in[k] && (s->in[k][fd / 64] >> (fd % 64) & 1))
			want |= events[k];
	return want;
}

static long select_one(struct select_set *s, u32 fd, u32 got)
{
	static const u32 events[3] = {SEL_IN, SEL_OUT, SEL_EX};
	long n = 0;

	for (unsigned k = 0; k < 3; k++) {
		if (s->in[k] && (s->in[k][fd / 64] >> (fd % 64) & 1) && (got & events[k])) {
			s->out[k][fd / 64] |= BIT(fd % 64);
			n++;
		}
	}
	return n;
}

static long look_at_sets(void *arg, struct poll_table *pt)
{
	struct select_set *s = arg;
	long ready = 0;

	for (u32 fd = 0; fd < s->n; fd++) {
		u32 want = select_events(s, fd);
		struct fdref r;

		if (!want)
			continue;
		r = fd_get_light((int)fd);
		if (!r.file)
			return -EBADF;
		ready += select_one(s, fd, file_poll(r.file, ready ? NULL : pt) & want);
		fd_put_light(r);
	}
	return ready;
}

static long do_select(u32 n, void *const usets[3], u64 deadline)
{
	size_t bytes = ALIGN_UP(n, 64u) / 8;
	struct select_set s = {.n = n};
	u64 *mem = kzalloc(6 * bytes + 1);
	struct file **held = NULL;
	bool shared = current->files->refs > 1;
	long ret = 0;

	if (!mem)
		return -ENOMEM;
	for (unsigned k = 0; k < 3; k++) {
		if (!usets[k])
			continue;
		s.in[k] = mem + k * bytes / 8;
		s.out[k] = mem + (3 + k) * bytes / 8;
		if (copy_from_user(s.in[k], usets[k], bytes))
			ret = -EFAULT;
	}
	if (!ret && shared) {
		held = kzalloc(n * sizeof(*held) + 1);
		for (u32 fd = 0; held && fd < n; fd++)
			if (select_events(&s, fd))
				held[fd] = fd_get_raw((int)fd);
		ret = held ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = poll_loop(look_at_sets, &s, deadline);
	for (unsigned k = 0; k < 3 && ret >= 0; k++)
		if (usets[k] && copy_to_user(usets[k], s.out[k], bytes))
			ret = -EFAULT;
	if (shared)
		drop_files(held, n);
	kfree(mem);
	return ret;
}

long sys_pselect6(const u64 a[6])
{
	void *const usets[3] = {(void *)a[1], (void *)a[2], (void *)a[3]};
	struct {
		u64 mask, size;
	} m = {0, 0};
	u64 deadline;
	bool masked, at_once;
	long ret;

	if ((int)a[0] < 0)
		return -EINVAL;
	ret = deadline_from_user((const void *)a[4], &deadline);
	at_once = !ret && deadline != NO_DEADLINE && deadline <= clock_ns();
	if (!ret && a[5])
		ret = copy_from_user(&m, (const void *)a[5], sizeof(m));
	if (!ret)
		ret = mask_begin((const void *)m.mask, m.size, &masked);
	if (ret)
		return ret;
	/* no descriptor beyond the table can be in a set, but its words are read and written all the same */
	ret = do_select(MIN((u32)a[0], MIN(FDS_MAX, ALIGN_UP((u32)current->files->cap, 64u))),
			usets, at_once ? 0 : deadline);
	mask_end(masked, ret);
	left_to_user((void *)a[4], deadline);
	return ret;
}
