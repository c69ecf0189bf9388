/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll(7). A set has an item for each watched (file, descriptor). The item
 * queues itself with the file once, by waiters that stay; a wake-up there puts
 * the item on the set's ready list, and epoll_wait looks at those alone.
 *
 * The ready list is guarded by the set's own spin lock, taken with interrupts
 * off and inside sched_lock: wake-ups come with that held, from any context.
 * Nothing is woken and nothing is allocated under it. All else is under the
 * big lock.
 *
 * An item ends with EPOLL_CTL_DEL, with its set, or when the watched file's
 * last reference goes (epoll_file_gone); it holds no reference to the file.
 */
#include "fs/poll.h"
#include "sys/syscall.h"
#include <linux/eventpoll.h>
#include <utlist.h>

#define EPOLL_DEPTH_MAX	 5 /* sets watching sets */
#define EPOLL_EVENTS_MAX (0x7fffffff / (int)sizeof(struct epoll_event))

struct epoll_waiter {
	struct waiter w;
	struct epoll_item *item;
	struct epoll_waiter *next;
};

struct epoll_key {
	struct file *file;
	u64 fd;
};

struct epoll_item {
	struct epoll_key key;
	struct epoll_set *set;
	u32 events; /* asked for; 0 besides flags when a one-shot has fired */
	u64 data;
	struct epoll_waiter *waiters;
	bool oom;
	bool ready;			  /* on set->ready (set->lock) */
	struct epoll_item *rnext, *rprev; /* there */
	struct epoll_item *fnext, *fprev; /* file->epitems */
	UT_hash_handle hh;		  /* set->items */
};

struct epoll_set {
	struct epoll_item *items;
	struct spinlock lock;
	struct epoll_item *ready; /* oldest first */
	struct waitq wait;	  /* epoll_wait */
	struct waitq poll;	  /* sets and polls that watch this one */
};

static const struct file_ops epoll_ops;

/* ---- ready list ---- */

/* The head is looked at without the lock: others only append, taking away is under the big lock. */

/* Puts the item at the end, if it is not on the list. */
static void make_ready(struct epoll_item *it)
{
	struct epoll_set *set = it->set;
	u64 flags = spin_lock_irqsave(&set->lock);

	if (!it->ready) {
		it->ready = true;
		DL_APPEND2(set->ready, it, rprev, rnext);
	}
	spin_unlock_irqrestore(&set->lock, flags);
}

static void make_unready(struct epoll_item *it)
{
	struct epoll_set *set = it->set;
	u64 flags = spin_lock_irqsave(&set->lock);

	if (it->ready) {
		it->ready = false;
		DL_DELETE2(set->ready, it, rprev, rnext);
	}
	spin_unlock_irqrestore(&set->lock, flags);
}

/* A watched queue was woken: sched_lock held, interrupts off, any context. */
static void item_woken(struct waiter *w)
{
	struct epoll_item *it = container_of(w, struct epoll_waiter, w)->item;
	struct epoll_set *set = it->set;

	if (!(READ_ONCE(it->events) &
	      ~(u32)(EPOLLET | EPOLLONESHOT | EPOLLEXCLUSIVE | EPOLLWAKEUP)))
		return;
	make_ready(it);
	if (set->wait.head)
		wake_up_locked(&set->wait);
	if (set->poll.head)
		wake_up_locked(&set->poll);
}

struct item_table {
	struct poll_table pt;
	struct epoll_item *item;
};

static void item_queue(struct poll_table *pt, struct file *f, struct waitq *wq)
{
	struct epoll_item *it = container_of(pt, struct item_table, pt)->item;
	struct epoll_waiter *ew = kzalloc(sizeof(*ew));

	(void)f;
	if (!ew) {
		it->oom = true;
		return;
	}
	ew->w.func = item_woken;
	ew->item = it;
	ew->next = it->waiters;
	it->waiters = ew;
	wait_add(wq, &ew->w);
}

static void wake_set(struct epoll_set *set)
{
	wake_up(&set->wait);
	wake_up(&set->poll);
}

/* ---- items ---- */

static void item_free(struct epoll_item *it)
{
	struct epoll_waiter *ew, *next;

	for (ew = it->waiters; ew; ew = next) {
		next = ew->next;
		wait_remove(&ew->w);
		kfree(ew);
	}
	make_unready(it);
	DL_DELETE2(it->key.file->epitems, it, fprev, fnext);
	HASH_DEL(it->set->items, it);
	kfree(it);
}

void epoll_file_gone(struct file *f)
{
	while (f->epitems)
		item_free(f->epitems);
}

static void epoll_release(struct file *f)
{
	struct epoll_set *set = f->priv;
	struct epoll_item *it, *next;

	HASH_ITER(hh, set->items, it, next) {
		item_free(it);
	}
	kfree(set);
}

static struct epoll_item *find_item(struct epoll_set *set, struct file *f, int fd)
{
	struct epoll_key key = {f, (u64)(unsigned)fd};
	struct epoll_item *it;

	HASH_FIND(hh, set->items, &key, sizeof(key), it);
	return it;
}

/* Does a set below f (a set itself) watch `top`, or are there too many levels? */
static bool makes_circle(struct file *f, const struct epoll_set *top, int depth)
{
	struct epoll_set *set = f->priv;
	struct epoll_item *it, *next;

	if (set == top || depth > EPOLL_DEPTH_MAX)
		return true;
	HASH_ITER(hh, set->items, it, next) {
		if (it->key.file->ops == &epoll_ops && makes_circle(it->key.file, top, depth + 1))
			return true;
	}
	return false;
}

static u32 item_poll(struct epoll_item *it, struct poll_table *pt)
{
	return file_poll(it->key.file, pt) & it->events & 0xffffu;
}

static int add_item(struct epoll_set *set, struct file *f, int fd, const struct epoll_event *ev)
{
	struct item_table tab = {.pt.queue = item_queue};
	struct epoll_item *it;

	if (find_item(set, f, fd))
		return -EEXIST;
	if (f->ops == &epoll_ops && makes_circle(f, set, 0))
		return -ELOOP;
	it = kzalloc(sizeof(*it));
	if (!it)
		return -ENOMEM;
	it->key = (struct epoll_key){f, (u64)(unsigned)fd};
	it->set = set;
	it->events = ev->events | EPOLLERR | EPOLLHUP;
	it->data = ev->data;
	DL_APPEND2(f->epitems, it, fprev, fnext);
	HASH_ADD(hh, set->items, key, sizeof(it->key), it);
	tab.item = it;
	if (item_poll(it, &tab.pt)) {
		make_ready(it);
		wake_set(set);
	}
	if (it->oom) {
		item_free(it);
		return -ENOMEM;
	}
	return 0;
}

static int change_item(struct epoll_set *set, struct epoll_item *it, const struct epoll_event *ev)
{
	if ((it->events | ev->events) & EPOLLEXCLUSIVE)
		return -EINVAL;
	it->events = ev->events | EPOLLERR | EPOLLHUP;
	it->data = ev->data;
	if (item_poll(it, NULL)) {
		make_ready(it);
		wake_set(set);
	}
	return 0;
}

static int control(struct epoll_set *set, int op, struct file *f, int fd,
		   const struct epoll_event *ev)
{
	struct epoll_item *it;

	if (op == EPOLL_CTL_ADD)
		return add_item(set, f, fd, ev);
	it = find_item(set, f, fd);
	if (!it)
		return -ENOENT;
	if (op == EPOLL_CTL_MOD)
		return change_item(set, it, ev);
	item_free(it);
	return 0;
}

/* ---- the set as a file ---- */

/* Drops from the front what it was woken for is over. Sets in sets: file_poll comes back here, EPOLL_DEPTH_MAX deep. */
static bool has_ready(struct epoll_set *set)
{
	struct epoll_item *it;

	while ((it = set->ready) != NULL) {
		if (item_poll(it, NULL))
			return true;
		make_unready(it);
	}
	return false;
}

static u32 epoll_poll(struct file *f, struct poll_table *pt)
{
	struct epoll_set *set = f->priv;

	poll_wait(f, &set->poll, pt);
	return has_ready(set) ? POLLIN | POLLRDNORM : 0;
}

static void epoll_fdinfo(struct file *f, struct seq *s)
{
	struct epoll_set *set = f->priv;
	struct epoll_item *it, *next;

	HASH_ITER(hh, set->items, it, next) {
		seq_printf(s, "tfd: %8d events: %8x data: %16llx\n", (int)it->key.fd, it->events,
			   (unsigned long long)it->data);
	}
}

static const struct file_ops epoll_ops = {
	.poll = epoll_poll,
	.release = epoll_release,
	.show_fdinfo = epoll_fdinfo,
};

/* ---- system calls ---- */

long sys_epoll_create1(const u64 a[6])
{
	struct epoll_set *set;
	struct file *f;

	if (a[0] & ~(u64)EPOLL_CLOEXEC)
		return -EINVAL;
	set = kzalloc(sizeof(*set));
	if (!set)
		return -ENOMEM;
	f = anon_file("[eventpoll]", &epoll_ops, set, O_RDWR);
	if (!f) {
		kfree(set);
		return -ENOMEM;
	}
	return fd_install_new(f, a[0] & EPOLL_CLOEXEC);
}

#define EXCLUSIVE_OK \
	(EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE)

long sys_epoll_ctl(const u64 a[6])
{
	struct epoll_event ev = {0, 0};
	struct file *ep, *f;
	int op = (int)a[1], err = 0;

	if (op != EPOLL_CTL_DEL && copy_from_user(&ev, (const void *)a[3], sizeof(ev)))
		return -EFAULT;
	ep = fd_get((int)a[0]);
	if (!ep)
		return -EBADF;
	f = fd_get((int)a[2]);
	if (!f) {
		file_put(ep);
		return -EBADF;
	}
	if (!f->ops->poll)
		err = -EPERM;
	else if (ep->ops != &epoll_ops || f == ep ||
		 (op != EPOLL_CTL_ADD && op != EPOLL_CTL_MOD && op != EPOLL_CTL_DEL))
		err = -EINVAL;
	else if ((ev.events & EPOLLEXCLUSIVE) &&
		 (op == EPOLL_CTL_MOD || f->ops == &epoll_ops || (ev.events & ~(u32)EXCLUSIVE_OK)))
		err = -EINVAL;
	if (!err)
		err = control(ep->priv, op, f, (int)a[2], &ev);
	file_put(f);
	file_put(ep);
	return err;
}

/*
 * Reports up to max ready items. Each leaves the list; a level-triggered one
 * goes back to its end, behind those that have not had their turn.
 */
static int collect(struct epoll_set *set, struct epoll_event *out, int max)
{
	struct epoll_item *it, *last;
	u64 flags;
	int n = 0;

	flags = spin_lock_irqsave(&set->lock);
	last = set->ready ? set->ready->rprev : NULL;
	spin_unlock_irqrestore(&set->lock, flags);
	for (bool end = !last; !end && n < max;) {
		u32 got;

		it = set->ready; /* only this loop and frees take the head away */
		if (!it)
			break;
		end = it == last;
		make_unready(it);
		got = item_poll(it, NULL);
		if (!got)
			continue;
		out[n].events = got;
		out[n++].data = it->data;
		if (it->events & EPOLLONESHOT)
			it->events &= EPOLLET | EPOLLONESHOT | EPOLLEXCLUSIVE | EPOLLWAKEUP;
		else if (!(it->events & EPOLLET))
			make_ready(it);
	}
	return n;
}

static long wait_events(struct epoll_set *set, void *uevents, int max, u64 deadline)
{
	struct epoll_event few[16], *buf = few;
	int room = MIN(max, (int)ARRAY_SIZE(few)), n;
	long err = 0;

	if (max > room) {
		room = MIN(max, 1024);
		buf = kmalloc((size_t)room * sizeof(*buf));
		if (!buf)
			return -ENOMEM;
	}
	for (;;) {
		n = collect(set, buf, room);
		if (n || err)
			break;
		if (!deadline) {
			err = -ETIMEDOUT;
			break;
		}
		err = wait_event_until(&set->wait, set->ready != NULL, deadline, true);
	}
	if (n)
		err = copy_to_user(uevents, buf, (size_t)n * sizeof(*buf)) ? -EFAULT : n;
	else if (err == -ETIMEDOUT)
		err = 0;
	else if (err == -ERESTARTSYS)
		err = -EINTR;
	if (buf != few)
		kfree(buf);
	return err;
}

static long do_epoll_wait(const u64 a[6], u64 deadline)
{
	int max = (int)a[2];
	bool masked = a[4] != 0;
	struct file *ep;
	ksigset_t mask;
	long ret;

	if (max <= 0 || max > EPOLL_EVENTS_MAX)
		return -EINVAL;
	if (masked && a[5] != sizeof(mask))
		return -EINVAL;
	if (masked && get_user(mask, (const ksigset_t *)a[4]))
		return -EFAULT;
	ep = fd_get((int)a[0]);
	if (!ep)
		return -EBADF;
	if (ep->ops != &epoll_ops) {
		file_put(ep);
		return -EINVAL;
	}
	if (masked)
		sigmask_set_temporary(mask);
	ret = wait_events(ep->priv, (void *)a[1], max, deadline);
	if (masked)
		sigmask_end_temporary(ret == -EINTR);
	file_put(ep);
	return ret;
}

long sys_epoll_pwait(const u64 a[6])
{
	int ms = (int)a[3];

	return do_epoll_wait(a, ms < 0	  ? NO_DEADLINE
				: ms == 0 ? 0
					  : deadline_from_ns((u64)ms * NSEC_PER_MSEC));
}

long sys_epoll_pwait2(const u64 a[6])
{
	u64 deadline;
	int err = deadline_from_user((const void *)a[3], &deadline);

	if (err)
		return err;
	if (deadline != NO_DEADLINE && deadline <= clock_ns())
		deadline = 0;
	return do_epoll_wait(a, deadline);
}
