/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AF_UNIX sockets: sending, receiving, waiting (unix(7)).
 *
 * Data lies in the receiver's queue. A sender that finds it full sleeps on the
 * receiver's `wr` and is woken when a quarter of the buffer is free (or all of
 * it); a receiver sleeps on its own `rd` and is woken when a message comes to
 * an empty queue. A socket is counted: by its file and by those whose peer it
 * is, so that a queue's wait lists outlive whoever waits there.
 */
#include "fs/unix.h"
#include <asm/ioctls.h>
#include <linux/poll.h>
#include <utlist.h>

#define CHARGE_PER_MSG 256u /* what keeping a message costs besides its bytes */
#define STREAM_PIECE   32768u

struct ucred current_ucred(void)
{
	return (struct ucred){current->proc ? (u32)current->proc->pid : 0, current->cred.euid,
			      current->cred.egid};
}

struct unix_sock *unix_new(int type)
{
	struct unix_sock *s = kzalloc(sizeof(*s));

	if (!s)
		return NULL;
	s->refs = 1;
	s->type = type;
	s->cred = current_ucred();
	return s;
}

void unix_name_put(struct unix_name *n)
{
	if (n && !--n->refs)
		kfree(n);
}

static void msg_free(struct unix_msg *m)
{
	for (u32 i = 0; i < m->nfds; i++)
		file_put(m->fds[i]);
	kfree(m->fds);
	unix_name_put(m->from);
	kfree(m);
}

void unix_put(struct unix_sock *s)
{
	struct unix_msg *m, *tmp;
	struct unix_old *old, *next;

	if (--s->refs)
		return;
	DL_FOREACH_SAFE(s->queue, m, tmp) {
		DL_DELETE(s->queue, m);
		msg_free(m);
	}
	for (old = s->old_peers; old; old = next) {
		next = old->next;
		unix_put(old->sock);
		kfree(old);
	}
	if (s->peer)
		unix_put(s->peer);
	unix_name_put(s->name);
	kfree(s);
}

void unix_pair(struct unix_sock *a, struct unix_sock *b)
{
	a->peer = b;
	b->peer = a;
	a->refs++;
	b->refs++;
	a->connected = b->connected = true;
	a->peer_cred = b->cred;
	b->peer_cred = a->cred;
}

static bool packets(const struct unix_sock *s)
{
	return s->type != SOCK_STREAM;
}

/* Would a sender that needs so much room go on? */
static bool has_room(const struct unix_sock *to, u32 need)
{
	return !to->queue ||
	       UNIX_BUFFER - MIN(to->queued, UNIX_BUFFER) >= MAX(need, UNIX_BUFFER / 4);
}

static bool writable(const struct unix_sock *s)
{
	return !s->peer || s->peer->dead || has_room(s->peer, 0);
}

/* Nothing will ever come again. */
static bool at_end(const struct unix_sock *s)
{
	if (s->shut_rd)
		return true;
	return s->type != SOCK_DGRAM && s->peer && (s->peer->dead || s->peer->shut_wr);
}

/* ---- sending ---- */

/* Why nothing can be sent to `to`; 0: it can. */
static int send_error(struct unix_sock *s, const struct unix_sock *to)
{
	int err;

	if (s->error) {
		err = s->error;
		s->error = 0;
		return err;
	}
	if (s->shut_wr)
		return -EPIPE;
	if (!to)
		return -ENOTCONN;
	if (to->dead)
		return s->type == SOCK_DGRAM ? -ECONNREFUSED : -EPIPE;
	return to->shut_rd ? -EPIPE : 0;
}

static struct unix_msg *make_msg(struct unix_sock *s, const void *buf, u32 n,
				 struct unix_control *c)
{
	struct unix_msg *m = kmalloc(sizeof(*m) + n);

	if (!m)
		return ERR_PTR(-ENOBUFS);
	m->off = 0;
	m->len = n;
	m->charge = n + CHARGE_PER_MSG;
	m->fds = NULL;
	m->nfds = 0;
	m->from = NULL;
	if (io_copy_in(m->data, buf, n)) {
		kfree(m);
		return ERR_PTR(-EFAULT);
	}
	if (c && c->nfds) {
		m->fds = kmalloc(c->nfds * sizeof(*m->fds));
		if (!m->fds) {
			kfree(m);
			return ERR_PTR(-ENOBUFS);
		}
		memcpy(m->fds, c->fds, c->nfds * sizeof(*m->fds));
		m->nfds = c->nfds;
		c->nfds = 0;
	}
	m->cred = c ? c->cred : current_ucred();
	m->from = s->name;
	if (m->from)
		m->from->refs++;
	return m;
}

static int wait_room(struct unix_sock *s, struct unix_sock *to, u32 need, bool nonblock)
{
	int err = 0;

	if (nonblock)
		return -EAGAIN;
	err = wait_event_until(&to->wr, has_room(to, need) || send_error(s, to),
			       s->snd_timeout ? clock_ns() + s->snd_timeout : NO_DEADLINE, true);
	return err == -ETIMEDOUT ? -EAGAIN : err;
}

/* One message: all of it, or -errno. */
static ssize_t send_piece(struct unix_sock *s, const void *buf, u32 n, struct unix_sock *to,
			  struct unix_control *c, bool nonblock)
{
	u32 need = n + CHARGE_PER_MSG;
	struct unix_msg *m;
	int err;

	for (;;) {
		err = send_error(s, to);
		if (err)
			return err;
		if (to->queued + need <= UNIX_BUFFER || !to->queue)
			break;
		err = wait_room(s, to, need, nonblock);
		if (err)
			return err;
	}
	m = make_msg(s, buf, n, c);
	if (IS_ERR(m))
		return PTR_ERR(m);
	if (to->dead) { /* it was closed while the copy slept */
		msg_free(m);
		return -EPIPE;
	}
	DL_APPEND(to->queue, m);
	to->queued += m->charge;
	if (to->rd.head)
		wake_up_n(&to->rd, 1);
	if (to->poll.head)
		wake_up(&to->poll);
	return n;
}

ssize_t unix_send(struct unix_sock *s, const void *buf, size_t n, struct unix_sock *to,
		  struct unix_control *c, bool nonblock)
{
	size_t done = 0;
	ssize_t ret = 0;

	if (!to)
		to = s->connected ? s->peer : NULL;
	if (packets(s)) {
		if (n > UNIX_BUFFER - CHARGE_PER_MSG)
			return -EMSGSIZE;
		return send_piece(s, buf, (u32)n, to, c, nonblock);
	}
	if (!n)
		return send_error(s, to);
	while (done < n) {
		ret = send_piece(s, (const u8 *)buf + done, (u32)MIN(n - done, STREAM_PIECE), to, c,
				 nonblock);
		if (ret < 0)
			break;
		done += (size_t)ret;
	}
	return done ? (ssize_t)done : ret;
}

void unix_control_drop(struct unix_control *c)
{
	while (c->nfds)
		file_put(c->fds[--c->nfds]);
}

/* ---- receiving ---- */

static int wait_data(struct unix_sock *s, bool nonblock)
{
	int err;

	if (s->error) {
		err = s->error;
		s->error = 0;
		return err;
	}
	if (s->type != SOCK_DGRAM && !s->connected && !s->peer)
		return s->type == SOCK_STREAM ? -EINVAL : -ENOTCONN;
	if (at_end(s))
		return 0;
	if (nonblock)
		return -EAGAIN;
	err = wait_event_until(&s->rd, s->queue || at_end(s),
			       s->rcv_timeout ? clock_ns() + s->rcv_timeout : NO_DEADLINE, true);
	if (err && s->queue)
		wake_up_n(&s->rd, 1); /* it was woken in our place */
	return err == -ETIMEDOUT ? -EAGAIN : err ? err : 1;
}

static void took(struct unix_sock *s, u32 charge)
{
	bool was_full = !has_room(s, 0);

	s->queued -= charge;
	if (has_room(s, 0) && (was_full || !s->queue)) {
		if (s->wr.head)
			wake_up(&s->wr);
		if (s->wr_poll.head)
			wake_up(&s->wr_poll);
	}
}

/* What comes with the first bytes of a message goes to the receiver (a copy if it only peeks). */
static void take_control(struct unix_msg *m, struct unix_recv *r)
{
	r->any = true;
	r->cred = m->cred;
	if (m->from && !r->from) {
		m->from->refs++;
		r->from = m->from;
	}
	if (!m->nfds)
		return;
	if (r->flags & MSG_PEEK) {
		r->fds = kmalloc(m->nfds * sizeof(*r->fds));
		if (!r->fds)
			return;
		memcpy(r->fds, m->fds, m->nfds * sizeof(*r->fds));
		for (u32 i = 0; i < m->nfds; i++)
			file_get(r->fds[i]);
		r->nfds = m->nfds;
		return;
	}
	r->fds = m->fds;
	r->nfds = m->nfds;
	m->fds = NULL;
	m->nfds = 0;
}

static void drop_head(struct unix_sock *s)
{
	struct unix_msg *m = s->queue;

	DL_DELETE(s->queue, m);
	took(s, m->charge);
	msg_free(m);
}

static ssize_t recv_packet(struct unix_sock *s, void *buf, size_t n, struct unix_recv *r)
{
	struct unix_msg *m = s->queue;
	bool peek = r->flags & MSG_PEEK, whole = r->flags & MSG_TRUNC;
	ssize_t ret = (ssize_t)MIN(n, m->len);

	if (io_copy_out(buf, m->data, (size_t)ret))
		return -EFAULT;
	take_control(m, r);
	r->flags = m->len > n ? MSG_TRUNC : 0;
	if (s->type == SOCK_SEQPACKET)
		r->flags |= MSG_EOR;
	if (whole)
		ret = m->len;
	if (!peek)
		drop_head(s);
	return ret;
}

/* As many bytes as there are without a change of what comes along with them. */
static ssize_t recv_stream(struct unix_sock *s, void *buf, size_t n, struct unix_recv *r)
{
	struct unix_msg *m = s->queue, *next;
	size_t done = 0;

	for (; m && done < n; m = next) {
		u32 part = (u32)MIN(n - done, m->len - m->off);

		next = m->next;
		if (done && (m->nfds || r->nfds || (s->passcred && m->cred.pid != r->cred.pid)))
			break;
		if (io_copy_out((u8 *)buf + done, m->data + m->off, part))
			return done ? (ssize_t)done : -EFAULT;
		if (!r->any || m->nfds)
			take_control(m, r);
		done += part;
		if (r->flags & MSG_PEEK)
			continue;
		m->off += part;
		if (m->off == m->len)
			drop_head(s);
	}
	return (ssize_t)done;
}

ssize_t unix_recv(struct unix_sock *s, void *buf, size_t n, struct unix_recv *r, bool nonblock)
{
	bool all = (r->flags & MSG_WAITALL) && !(r->flags & MSG_PEEK) && !packets(s);
	size_t done = 0;
	ssize_t ret;

	do {
		mutex_lock(&s->rd_lock);
		if (!s->queue) {
			mutex_unlock(&s->rd_lock);
			ret = wait_data(s, nonblock);
			if (ret <= 0)
				break;
			ret = 0;
			continue;
		}
		if (packets(s))
			ret = recv_packet(s, buf, n, r);
		else
			ret = n ? recv_stream(s, (u8 *)buf + done, n - done, r) : 0;
		mutex_unlock(&s->rd_lock);
		if (s->queue && s->rd.head)
			wake_up_n(&s->rd, 1);
		if (ret < 0 || packets(s) || !n)
			break;
		done += (size_t)ret;
	} while (!done || (all && done < n));
	return done ? (ssize_t)done : ret;
}

/* ---- as a file ---- */

struct unix_sock *file_sock(const struct file *f)
{
	return f->ops == &socket_ops ? f->priv : NULL;
}

static ssize_t socket_read(struct file *f, void *buf, size_t n, loff_t *pos)
{
	struct unix_recv r = {.flags = 0};
	ssize_t ret;

	(void)pos;
	ret = unix_recv(f->priv, buf, n, &r, f->flags & O_NONBLOCK);
	unix_name_put(r.from);
	while (r.nfds)
		file_put(r.fds[--r.nfds]);
	kfree(r.fds);
	return ret;
}

static ssize_t socket_write(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	siginfo_t si = {.si_signo = SIGPIPE, .si_code = SI_USER};
	struct unix_sock *s = f->priv;
	ssize_t ret;

	(void)pos;
	ret = unix_send(s, buf, n, NULL, NULL, f->flags & O_NONBLOCK);
	if (ret == -EPIPE && s->type != SOCK_DGRAM) {
		si.si_pid = current->proc->pid;
		send_signal_task(current, SIGPIPE, &si);
	}
	return ret;
}

static u32 socket_poll(struct file *f, struct poll_table *pt)
{
	struct unix_sock *s = f->priv, *peer = s->peer;
	bool stream = s->type != SOCK_DGRAM;
	u32 mask = 0;

	poll_wait(f, &s->poll, pt);
	if (peer)
		poll_wait(f, &peer->wr_poll, pt);
	if (s->listening)
		return s->pending ? POLLIN | POLLRDNORM : 0;
	if (s->error)
		mask |= POLLERR;
	if (s->queue || at_end(s))
		mask |= POLLIN | POLLRDNORM;
	if (at_end(s))
		mask |= POLLRDHUP;
	if (stream && ((!peer && !s->connected) || peer->dead || (s->shut_rd && s->shut_wr)))
		mask |= POLLHUP;
	if (writable(s))
		mask |= POLLOUT | POLLWRNORM | POLLWRBAND;
	return mask;
}

static long socket_ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	struct unix_sock *s = f->priv;
	struct unix_msg *m;
	int n = 0;

	if (cmd != FIONREAD)
		return -ENOTTY;
	if (s->listening)
		return -EINVAL;
	DL_FOREACH(s->queue, m) {
		n += (int)(m->len - m->off);
		if (packets(s))
			break;
	}
	return put_user(n, (int *)arg);
}

/* A closed socket waits for nothing more: it lets go of its peer, which may go on holding it. */
static void drop_peer(struct unix_sock *s)
{
	struct unix_sock *peer = s->peer;

	s->peer = NULL;
	if (peer)
		unix_put(peer);
}

/* Connections that nobody accepted. */
static void reset_pending(struct unix_sock *s)
{
	struct unix_sock *p, *tmp;

	DL_FOREACH_SAFE2(s->pending, p, tmp, pnext) {
		DL_DELETE2(s->pending, p, pprev, pnext);
		p->dead = true;
		p->peer->error = -ECONNRESET;
		wake_up(&p->peer->rd);
		wake_up(&p->peer->poll);
		drop_peer(p);
		unix_put(p);
	}
}

static void socket_release(struct file *f)
{
	struct unix_sock *s = f->priv;

	s->dead = true;
	unix_unbind(s);
	reset_pending(s);
	if (s->peer && s->type != SOCK_DGRAM) {
		if (s->queue)
			s->peer->error = -ECONNRESET; /* it sent what nobody read */
		wake_up(&s->peer->rd);
		wake_up(&s->peer->poll);
	}
	wake_up(&s->wr);
	wake_up(&s->wr_poll);
	drop_peer(s);
	unix_put(s);
}

const struct file_ops socket_ops = {
	.read = socket_read,
	.write = socket_write,
	.poll = socket_poll,
	.ioctl = socket_ioctl,
	.release = socket_release,
	.kernel_buf = true,
};

struct file *unix_file(struct unix_sock *s, u32 flags)
{
	static struct super sockfs = {.type = "sockfs", .magic = 0x534f434b};
	struct inode *ino;
	struct dentry *d = NULL;
	struct file *f = NULL;

	if (!sockfs.dev)
		sockfs.dev = anon_dev();
	ino = inode_new(&sockfs, S_IFSOCK | 0777);
	if (ino) {
		ino->uid = current->cred.fsuid;
		ino->gid = current->cred.fsgid;
		d = dentry_alone(&sockfs, "", ino);
		if (!d)
			inode_put(ino);
	}
	if (d)
		f = file_alloc(d, &socket_ops, O_RDWR | flags);
	if (f)
		f->priv = s;
	else
		unix_put(s);
	return f;
}
