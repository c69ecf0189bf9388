/* SPDX-License-Identifier: BSD-2-Clause */
/* Sending and receiving on sockets: sendto, recvfrom, sendmsg, recvmsg and their control data (cmsg(3), unix(7)). */
#include "fs/unix.h"
#include "sys/syscall.h"
#include <linux/capability.h>

/* The ABI's struct msghdr and struct cmsghdr of a 64-bit machine. */
struct user_msghdr {
	u64 name;
	u32 namelen;
	u32 pad1;
	u64 iov, iovlen;
	u64 control, controllen;
	u32 flags;
	u32 pad2;
};
struct user_mmsghdr {
	struct user_msghdr hdr;
	u32 len;
	u32 pad;
};
struct user_cmsg {
	u64 len;
	int level, type;
};

#define SOL_SOCKET    1
#define CMSG_ALIGN(n) ALIGN_UP((u64)(n), 8ul)
#define CONTROL_MAX   20480u
#define MESSAGE_MAX   (1u << 20) /* gathered at once; a stream goes on after it */

static void sigpipe(u32 flags, const struct unix_sock *s)
{
	siginfo_t si = {.si_signo = SIGPIPE, .si_code = SI_USER};

	if ((flags & MSG_NOSIGNAL) || s->type == SOCK_DGRAM)
		return;
	si.si_pid = current->proc->pid;
	send_signal_task(current, SIGPIPE, &si);
}

/* ---- control data of a send ---- */

static int parse_rights(struct unix_control *c, const int *fd, u32 n)
{
	if (c->nfds + n > SCM_MAX_FD)
		return -EINVAL;
	for (u32 i = 0; i < n; i++) {
		struct file *f = fd_get_raw(fd[i]);

		if (!f)
			return -EBADF;
		c->fds[c->nfds++] = f;
	}
	return 0;
}

static int parse_cred(struct unix_control *c, const void *data, u64 len)
{
	const struct cred *me = &current->cred;
	struct ucred u;

	if (len != sizeof(u))
		return -EINVAL;
	memcpy(&u, data, sizeof(u));
	if ((u.pid != (u32)current->proc->pid && !fs_capable(CAP_SYS_ADMIN)) ||
	    (u.uid != me->uid && u.uid != me->euid && u.uid != me->suid &&
	     !fs_capable(CAP_SETUID)) ||
	    (u.gid != me->gid && u.gid != me->egid && u.gid != me->sgid && !fs_capable(CAP_SETGID)))
		return -EPERM;
	c->cred = u;
	return 0;
}

static int parse_control(struct unix_control *c, const u8 *buf, u64 len)
{
	struct user_cmsg h;
	int err = 0;

	for (u64 at = 0; !err && at + sizeof(h) <= len; at += CMSG_ALIGN(h.len)) {
		const u8 *data = buf + at + sizeof(h);

		memcpy(&h, buf + at, sizeof(h));
		if (h.len < sizeof(h) || h.len > len - at)
			return -EINVAL;
		if (h.level != SOL_SOCKET)
			continue;
		if (h.type == SCM_RIGHTS)
			err = parse_rights(c, (const int *)data, (u32)(h.len - sizeof(h)) / 4);
		else if (h.type == SCM_CREDENTIALS)
			err = parse_cred(c, data, h.len - sizeof(h));
		else
			err = -EINVAL;
	}
	return err;
}

static int control_from_user(struct unix_control *c, u64 ubuf, u64 len)
{
	u8 *buf;
	int err;

	c->nfds = 0;
	c->cred = current_ucred();
	if (!ubuf || !len)
		return 0;
	if (len > CONTROL_MAX)
		return -ENOBUFS;
	buf = kmalloc(len);
	if (!buf)
		return -ENOMEM;
	err = copy_from_user(buf, (const void *)ubuf, len);
	if (!err)
		err = parse_control(c, buf, len);
	kfree(buf);
	if (err)
		unix_control_drop(c);
	return err;
}

/* ---- send ---- */

/* The socket that an explicit address names, referenced; NULL: none was given. */
static int destination(struct unix_sock *s, u64 uaddr, u32 len, struct unix_sock **to)
{
	struct sockaddr_un addr;

	*to = NULL;
	if (!uaddr || !len)
		return 0;
	if (s->type == SOCK_STREAM)
		return s->connected ? -EISCONN : -EOPNOTSUPP;
	if (s->type == SOCK_SEQPACKET)
		return 0;
	if (len > sizeof(addr))
		return -EINVAL;
	memset(&addr, 0, sizeof(addr));
	if (copy_from_user(&addr, (const void *)uaddr, len))
		return -EFAULT;
	return unix_find(&addr, len, s->type, to);
}

static ssize_t send_vector(struct unix_sock *s, struct iovec_list *l, size_t total,
			   struct unix_sock *to, struct unix_control *c, bool nonblock)
{
	void *buf;
	ssize_t ret;

	if (l->count == 1)
		return unix_send(s, l->v[0].iov_base, l->v[0].iov_len, to, c, nonblock);
	if (total > MESSAGE_MAX && s->type != SOCK_STREAM)
		return -EMSGSIZE;
	for (size_t i = 0, sum = 0; i < l->count; i++) {
		l->v[i].iov_len = MIN(l->v[i].iov_len, MESSAGE_MAX - sum);
		sum += l->v[i].iov_len;
	}
	total = MIN(total, MESSAGE_MAX);
	buf = kmalloc(total + 1);
	if (!buf)
		return -ENOBUFS;
	ret = iovec_gather(l, buf);
	if (!ret)
		ret = unix_send(s, buf, total, to, c, nonblock);
	kfree(buf);
	return ret;
}

static ssize_t do_sendmsg(struct file *f, struct unix_sock *s, const struct user_msghdr *h,
			  u32 flags)
{
	bool nonblock = (f->flags & O_NONBLOCK) || (flags & MSG_DONTWAIT);
	struct unix_control *c = NULL;
	struct unix_sock *to = NULL;
	struct iovec_list l;
	ssize_t total = iovec_import(&l, (const void *)h->iov, h->iovlen), ret = 0;

	if (total < 0)
		return total == -EINVAL && h->iovlen > UIO_MAXIOV ? -EMSGSIZE : total;
	if (h->control && h->controllen) {
		c = kmalloc(sizeof(*c));
		ret = c ? control_from_user(c, h->control, h->controllen) : -ENOMEM;
	}
	if (!ret)
		ret = destination(s, h->name, h->namelen, &to);
	if (!ret)
		ret = send_vector(s, &l, (size_t)total, to, c, nonblock);
	if (ret == -EPIPE)
		sigpipe(flags, s);
	if (to)
		unix_put(to);
	if (c)
		unix_control_drop(c);
	kfree(c);
	iovec_free(&l);
	return ret;
}

long sys_sendto(const u64 a[6])
{
	struct unix_sock *s, *to = NULL;
	struct file *f;
	ssize_t ret = sock_get((int)a[0], &f, &s);
	u32 flags = (u32)a[3];

	if (ret)
		return ret;
	if (!user_range_ok((const void *)a[1], a[2]))
		ret = -EFAULT;
	else
		ret = destination(s, a[4], (u32)a[5], &to);
	if (!ret)
		ret = unix_send(s, (const void *)a[1], MIN(a[2], MAX_RW_COUNT), to, NULL,
				(f->flags & O_NONBLOCK) || (flags & MSG_DONTWAIT));
	if (ret == -EPIPE)
		sigpipe(flags, s);
	if (to)
		unix_put(to);
	file_put(f);
	return ret;
}

long sys_sendmsg(const u64 a[6])
{
	struct user_msghdr h;
	struct unix_sock *s;
	struct file *f;
	ssize_t ret = sock_get((int)a[0], &f, &s);

	if (ret)
		return ret;
	if (copy_from_user(&h, (const void *)a[1], sizeof(h)))
		ret = -EFAULT;
	else
		ret = do_sendmsg(f, s, &h, (u32)a[2]);
	file_put(f);
	return ret;
}

long sys_sendmmsg(const u64 a[6])
{
	struct user_mmsghdr *v = (struct user_mmsghdr *)a[1];
	u64 n = MIN((u32)a[2], (u32)UIO_MAXIOV), done;
	struct user_msghdr h;
	struct unix_sock *s;
	struct file *f;
	ssize_t ret = sock_get((int)a[0], &f, &s);

	if (ret)
		return ret;
	for (done = 0; done < n; done++) {
		if (copy_from_user(&h, &v[done].hdr, sizeof(h)))
			ret = -EFAULT;
		else
			ret = do_sendmsg(f, s, &h, (u32)a[3]);
		if (ret < 0)
			break;
		ret = put_user((u32)ret, &v[done].len);
		if (ret)
			break;
	}
	file_put(f);
	return done ? (ssize_t)done : ret;
}

/* ---- receive ---- */

/* Where control data goes in user memory. */
struct control_out {
	u64 at, left, used;
	u32 flags; /* MSG_CTRUNC */
};

static int control_put(struct control_out *o, int type, const void *data, u32 n)
{
	struct user_cmsg h = {sizeof(h) + n, SOL_SOCKET, type};
	u64 space;

	if (o->left < h.len) {
		o->flags |= MSG_CTRUNC;
		return 0;
	}
	space = MIN(CMSG_ALIGN(h.len), o->left);
	if (copy_to_user((void *)o->at, &h, sizeof(h)) ||
	    copy_to_user((void *)(o->at + sizeof(h)), data, n))
		return -EFAULT;
	o->at += space;
	o->left -= space;
	o->used += space;
	return 0;
}

/* Passed files become descriptors as far as there is room for their numbers; the rest is closed. */
static int rights_put(struct control_out *o, struct unix_recv *r, bool cloexec)
{
	u64 room =
		o->left > sizeof(struct user_cmsg) ? (o->left - sizeof(struct user_cmsg)) / 4 : 0;
	int fds[SCM_MAX_FD];
	u32 n = 0;

	while (n < r->nfds && n < room) {
		fds[n] = fd_alloc(r->fds[n], 0, cloexec);
		if (fds[n] < 0)
			break;
		n++;
	}
	if (n < r->nfds)
		o->flags |= MSG_CTRUNC;
	for (u32 i = n; i < r->nfds; i++)
		file_put(r->fds[i]);
	r->nfds = 0;
	return n ? control_put(o, SCM_RIGHTS, fds, n * 4) : 0;
}

static ssize_t recv_vector(struct unix_sock *s, struct iovec_list *l, size_t total,
			   struct unix_recv *r, bool nonblock)
{
	ssize_t ret;
	void *buf;

	if (l->count == 1)
		return unix_recv(s, l->v[0].iov_base, l->v[0].iov_len, r, nonblock);
	total = MIN(total, MESSAGE_MAX);
	buf = kmalloc(total + 1);
	if (!buf)
		return -ENOBUFS;
	ret = unix_recv(s, buf, total, r, nonblock);
	if (ret > 0 && iovec_scatter(l, buf, MIN((size_t)ret, total)))
		ret = -EFAULT;
	kfree(buf);
	return ret;
}

/* The sender's address, cut to the room there is; its full length goes to *ulen. */
static int from_to_user(const struct unix_name *n, u64 uaddr, u32 room, u32 *ulen)
{
	if (copy_to_user((void *)uaddr, &n->addr, MIN(n->len, room)))
		return -EFAULT;
	return put_user(n->len, ulen);
}

static ssize_t do_recvmsg(struct file *f, struct unix_sock *s, struct user_msghdr *uh, u32 flags)
{
	struct unix_recv r = {.flags = flags & (MSG_PEEK | MSG_WAITALL | MSG_TRUNC)};
	struct control_out o;
	struct user_msghdr h;
	struct iovec_list l;
	ssize_t total, ret;
	int err = 0;

	if (copy_from_user(&h, uh, sizeof(h)))
		return -EFAULT;
	total = iovec_import(&l, (const void *)h.iov, h.iovlen);
	if (total < 0)
		return total == -EINVAL && h.iovlen > UIO_MAXIOV ? -EMSGSIZE : total;
	ret = recv_vector(s, &l, (size_t)total, &r,
			  (f->flags & O_NONBLOCK) || (flags & MSG_DONTWAIT));
	iovec_free(&l);
	o = (struct control_out){.at = h.control, .left = h.control ? h.controllen : 0};
	if (ret >= 0) {
		if (s->passcred && r.any)
			err = control_put(&o, SCM_CREDENTIALS, &r.cred, sizeof(r.cred));
		if (!err && r.nfds)
			err = rights_put(&o, &r, flags & MSG_CMSG_CLOEXEC);
		if (!err && h.name)
			err = r.from ? from_to_user(r.from, h.name, h.namelen, &uh->namelen)
				     : put_user((u32)0, &uh->namelen);
		if (!err)
			err = put_user(o.used, &uh->controllen);
		if (!err)
			err = put_user((r.flags & (MSG_TRUNC | MSG_EOR)) | o.flags |
					       (flags & MSG_CMSG_CLOEXEC),
				       &uh->flags);
	}
	while (r.nfds)
		file_put(r.fds[--r.nfds]);
	kfree(r.fds);
	unix_name_put(r.from);
	return err ? err : ret;
}

long sys_recvfrom(const u64 a[6])
{
	struct unix_recv r = {.flags = (u32)a[3] & (MSG_PEEK | MSG_WAITALL | MSG_TRUNC)};
	struct unix_sock *s;
	struct file *f;
	ssize_t ret = sock_get((int)a[0], &f, &s);
	int room, err = 0;

	if (ret)
		return ret;
	if (!user_range_ok((void *)a[1], a[2]))
		ret = -EFAULT;
	else
		ret = unix_recv(s, (void *)a[1], MIN(a[2], MAX_RW_COUNT), &r,
				(f->flags & O_NONBLOCK) || ((u32)a[3] & MSG_DONTWAIT));
	if (ret >= 0 && a[4]) {
		if (get_user(room, (const int *)a[5]))
			err = -EFAULT;
		else if (room < 0)
			err = -EINVAL;
		else
			err = r.from ? from_to_user(r.from, a[4], (u32)room, (u32 *)a[5])
				     : put_user((u32)0, (u32 *)a[5]);
	}
	while (r.nfds)
		file_put(r.fds[--r.nfds]);
	kfree(r.fds);
	unix_name_put(r.from);
	file_put(f);
	return err ? err : ret;
}

long sys_recvmsg(const u64 a[6])
{
	struct unix_sock *s;
	struct file *f;
	ssize_t ret = sock_get((int)a[0], &f, &s);

	if (ret)
		return ret;
	ret = do_recvmsg(f, s, (struct user_msghdr *)a[1], (u32)a[2]);
	file_put(f);
	return ret;
}

long sys_recvmmsg(const u64 a[6])
{
	struct user_mmsghdr *v = (struct user_mmsghdr *)a[1];
	u64 n = MIN((u32)a[2], (u32)UIO_MAXIOV), done;
	u32 flags = (u32)a[3];
	struct unix_sock *s;
	struct file *f;
	ssize_t ret;

	if (a[4]) /* a timeout that is looked at only between messages: nobody relies on it */
		return -EOPNOTSUPP;
	ret = sock_get((int)a[0], &f, &s);
	if (ret)
		return ret;
	for (done = 0; done < n; done++) {
		ret = do_recvmsg(f, s, &v[done].hdr, flags & ~MSG_WAITFORONE);
		if (ret < 0)
			break;
		ret = put_user((u32)ret, &v[done].len);
		if (ret)
			break;
		if (flags & MSG_WAITFORONE)
			flags |= MSG_DONTWAIT;
	}
	file_put(f);
	return done ? (ssize_t)done : ret;
}
