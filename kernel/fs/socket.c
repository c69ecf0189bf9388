/* SPDX-License-Identifier: BSD-2-Clause */
/* The system calls of sockets. There is one family, AF_UNIX; the others are EAFNOSUPPORT. */
#include "fs/unix.h"
#include "sys/syscall.h"
#include <linux/time_types.h>

int sock_get(int fd, struct file **f, struct unix_sock **s)
{
	*f = fd_get(fd);
	if (!*f)
		return -EBADF;
	*s = file_sock(*f);
	if (*s)
		return 0;
	file_put(*f);
	return -ENOTSOCK;
}

static int check_type(u64 family, u64 type, u64 protocol)
{
	if (type & ~(u64)(SOCK_TYPE_MASK | O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	if (family != AF_UNIX)
		return -EAFNOSUPPORT;
	if (protocol && protocol != AF_UNIX)
		return -EPROTONOSUPPORT;
	switch (type & SOCK_TYPE_MASK) {
	case SOCK_STREAM:
	case SOCK_DGRAM:
	case SOCK_RAW: /* an old name of SOCK_DGRAM here */
	case SOCK_SEQPACKET:
		return 0;
	default:
		return -ESOCKTNOSUPPORT;
	}
}

static struct unix_sock *make_sock(u64 type)
{
	int kind = type & SOCK_TYPE_MASK;

	return unix_new(kind == SOCK_RAW ? SOCK_DGRAM : kind);
}

long sys_socket(const u64 a[6])
{
	int err = check_type((u32)a[0], (u32)a[1], (u32)a[2]);
	struct unix_sock *s;
	struct file *f;

	if (err)
		return err;
	s = make_sock(a[1]);
	f = s ? unix_file(s, (u32)a[1] & O_NONBLOCK) : NULL;
	return f ? fd_install_new(f, a[1] & O_CLOEXEC) : -ENOMEM;
}

long sys_socketpair(const u64 a[6])
{
	int err = check_type((u32)a[0], (u32)a[1], (u32)a[2]), fd[2];
	bool cloexec = a[1] & O_CLOEXEC;
	struct unix_sock *s[2];
	struct file *f[2];

	if (err)
		return err;
	s[0] = make_sock(a[1]);
	s[1] = make_sock(a[1]);
	if (!s[0] || !s[1]) {
		if (s[0])
			unix_put(s[0]);
		if (s[1])
			unix_put(s[1]);
		return -ENOMEM;
	}
	f[0] = unix_file(s[0], (u32)a[1] & O_NONBLOCK);
	f[1] = unix_file(s[1], (u32)a[1] & O_NONBLOCK);
	if (!f[0] || !f[1]) {
		if (f[0])
			file_put(f[0]);
		if (f[1])
			file_put(f[1]);
		return -ENOMEM;
	}
	unix_pair(s[0], s[1]);
	fd[0] = fd_install_new(f[0], cloexec);
	if (fd[0] < 0) {
		file_put(f[1]);
		return fd[0];
	}
	fd[1] = fd_install_new(f[1], cloexec);
	err = fd[1] < 0 ? fd[1] : copy_to_user((void *)a[3], fd, sizeof(fd));
	if (err) {
		fd_close(fd[0]);
		if (fd[1] >= 0)
			fd_close(fd[1]);
	}
	return err;
}

/* ---- addresses ---- */

static int addr_from_user(struct sockaddr_un *addr, u64 uaddr, u64 len)
{
	if (len > sizeof(*addr) || len < sizeof(addr->sun_family))
		return -EINVAL;
	memset(addr, 0, sizeof(*addr));
	return copy_from_user(addr, (const void *)uaddr, len);
}

/* The address of a socket without a name is its family alone. */
static int addr_to_user(const struct unix_name *n, u64 uaddr, u64 ulen)
{
	struct sockaddr_un none = {.sun_family = AF_UNIX};
	const struct sockaddr_un *addr = n ? &n->addr : &none;
	int len = n ? (int)n->len : (int)sizeof(none.sun_family), room;

	if (get_user(room, (const int *)ulen))
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	if (copy_to_user((void *)uaddr, addr, (size_t)MIN(len, room)))
		return -EFAULT;
	return put_user(len, (int *)ulen);
}

long sys_bind(const u64 a[6])
{
	struct sockaddr_un addr;
	struct unix_sock *s;
	struct file *f;
	int err = sock_get((int)a[0], &f, &s);

	if (err)
		return err;
	err = addr_from_user(&addr, a[1], (u32)a[2]);
	if (!err)
		err = unix_bind(s, &addr, (u32)a[2]);
	file_put(f);
	return err;
}

long sys_connect(const u64 a[6])
{
	struct sockaddr_un addr;
	struct unix_sock *s;
	struct file *f;
	int err = sock_get((int)a[0], &f, &s);

	if (err)
		return err;
	err = addr_from_user(&addr, a[1], (u32)a[2]);
	if (!err)
		err = unix_connect(s, &addr, (u32)a[2], f->flags & O_NONBLOCK);
	file_put(f);
	return err;
}

long sys_listen(const u64 a[6])
{
	struct unix_sock *s;
	struct file *f;
	int err = sock_get((int)a[0], &f, &s);

	if (err)
		return err;
	err = unix_listen(s, (int)a[1]);
	file_put(f);
	return err;
}

static long do_accept(int fd, u64 uaddr, u64 ulen, u64 flags)
{
	struct unix_sock *s, *conn;
	struct file *f, *cf;
	long ret = sock_get(fd, &f, &s);

	if (ret)
		return ret;
	ret = unix_accept(s, f->flags & O_NONBLOCK, &conn);
	file_put(f);
	if (ret)
		return ret;
	cf = unix_file(conn, (u32)flags & O_NONBLOCK);
	if (!cf)
		return -ENOMEM;
	if (uaddr)
		ret = addr_to_user(conn->peer->name, uaddr, ulen);
	if (ret) {
		file_put(cf);
		return ret;
	}
	return fd_install_new(cf, flags & O_CLOEXEC);
}

long sys_accept(const u64 a[6])
{
	return do_accept((int)a[0], a[1], a[2], 0);
}

long sys_accept4(const u64 a[6])
{
	if (a[3] & ~(u64)(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	return do_accept((int)a[0], a[1], a[2], a[3]);
}

long sys_getsockname(const u64 a[6])
{
	struct unix_sock *s;
	struct file *f;
	int err = sock_get((int)a[0], &f, &s);

	if (err)
		return err;
	err = addr_to_user(s->name, a[1], a[2]);
	file_put(f);
	return err;
}

long sys_getpeername(const u64 a[6])
{
	struct unix_sock *s;
	struct file *f;
	int err = sock_get((int)a[0], &f, &s);

	if (err)
		return err;
	err = s->connected && s->peer ? addr_to_user(s->peer->name, a[1], a[2]) : -ENOTCONN;
	file_put(f);
	return err;
}

#define SHUT_RDWR 2

long sys_shutdown(const u64 a[6])
{
	struct unix_sock *s;
	struct file *f;
	int err = sock_get((int)a[0], &f, &s), how = (int)a[1];

	if (err)
		return err;
	if (how < 0 || how > SHUT_RDWR) {
		err = -EINVAL;
	} else if (!s->connected && !s->listening) {
		err = -ENOTCONN;
	} else {
		s->shut_rd |= how != 1;
		s->shut_wr |= how != 0;
		wake_up(&s->rd);
		wake_up(&s->wr);
		wake_up(&s->poll);
		if (s->peer) {
			wake_up(&s->peer->rd);
			wake_up(&s->peer->wr);
			wake_up(&s->peer->poll);
		}
	}
	file_put(f);
	return err;
}

/* ---- options ---- */

#define SOL_SOCKET    1
#define SO_REUSEADDR  2
#define SO_TYPE	      3
#define SO_ERROR      4
#define SO_SNDBUF     7
#define SO_RCVBUF     8
#define SO_PASSCRED   16
#define SO_PEERCRED   17
#define SO_RCVTIMEO   20
#define SO_SNDTIMEO   21
#define SO_ACCEPTCONN 30
#define SO_PROTOCOL   38
#define SO_DOMAIN     39

static int set_timeout(u64 *timeout, u64 uval, u32 len)
{
	struct __kernel_old_timeval tv;

	if (len < sizeof(tv))
		return -EINVAL;
	if (copy_from_user(&tv, (const void *)uval, sizeof(tv)))
		return -EFAULT;
	if (tv.tv_usec < 0 || tv.tv_usec >= 1000000)
		return -EDOM;
	*timeout =
		tv.tv_sec < 0 ? 0 : (u64)tv.tv_sec * NSEC_PER_SEC + (u64)tv.tv_usec * NSEC_PER_USEC;
	return 0;
}

static int set_option(struct unix_sock *s, int opt, u64 uval, u32 len)
{
	int on;

	if (opt == SO_RCVTIMEO)
		return set_timeout(&s->rcv_timeout, uval, len);
	if (opt == SO_SNDTIMEO)
		return set_timeout(&s->snd_timeout, uval, len);
	if (len < sizeof(on))
		return -EINVAL;
	if (get_user(on, (const int *)uval))
		return -EFAULT;
	switch (opt) {
	case SO_PASSCRED:
		s->passcred = on;
		return 0;
	case SO_REUSEADDR:
		s->reuse = on;
		return 0;
	case SO_SNDBUF: /* the kernel may give another size than was asked for; getsockopt tells */
	case SO_RCVBUF:
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

long sys_setsockopt(const u64 a[6])
{
	struct unix_sock *s;
	struct file *f;
	int err = sock_get((int)a[0], &f, &s);

	if (err)
		return err;
	err = (int)a[1] == SOL_SOCKET ? set_option(s, (int)a[2], a[3], (u32)a[4]) : -EOPNOTSUPP;
	file_put(f);
	return err;
}

/* The answer in buf; its length or -errno. */
static int get_option(struct unix_sock *s, int opt, void *buf)
{
	struct __kernel_old_timeval tv;
	u64 t;
	int v;

	switch (opt) {
	case SO_TYPE:
		v = s->type;
		break;
	case SO_ERROR:
		v = -s->error;
		s->error = 0;
		break;
	case SO_DOMAIN:
		v = AF_UNIX;
		break;
	case SO_PROTOCOL:
		v = 0;
		break;
	case SO_REUSEADDR:
		v = s->reuse;
		break;
	case SO_PASSCRED:
		v = s->passcred;
		break;
	case SO_ACCEPTCONN:
		v = s->listening;
		break;
	case SO_SNDBUF:
	case SO_RCVBUF:
		v = UNIX_BUFFER;
		break;
	case SO_PEERCRED:
		memcpy(buf, &s->peer_cred, sizeof(s->peer_cred));
		return sizeof(s->peer_cred);
	case SO_RCVTIMEO:
	case SO_SNDTIMEO:
		t = opt == SO_RCVTIMEO ? s->rcv_timeout : s->snd_timeout;
		tv.tv_sec = (long)(t / NSEC_PER_SEC);
		tv.tv_usec = (long)(t % NSEC_PER_SEC / NSEC_PER_USEC);
		memcpy(buf, &tv, sizeof(tv));
		return sizeof(tv);
	default:
		return -ENOPROTOOPT;
	}
	memcpy(buf, &v, sizeof(v));
	return sizeof(v);
}

long sys_getsockopt(const u64 a[6])
{
	struct unix_sock *s;
	u8 buf[32];
	struct file *f;
	int err = sock_get((int)a[0], &f, &s), len;

	if (err)
		return err;
	if (get_user(len, (const int *)a[4]))
		err = -EFAULT;
	else if (len < 0)
		err = -EINVAL;
	else
		err = (int)a[1] == SOL_SOCKET ? get_option(s, (int)a[2], buf) : -EOPNOTSUPP;
	if (err >= 0) {
		len = MIN(len, err);
		err = copy_to_user((void *)a[3], buf, (size_t)len);
		if (!err)
			err = put_user(len, (int *)a[4]);
	}
	file_put(f);
	return err;
}
