/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AF_UNIX sockets: addresses, connecting, accepting. A path is bound to the
 * inode it makes in the tree; an abstract name (first byte NUL) to itself.
 */
#include "fs/unix.h"
#include <utlist.h>

#define ADDR_MIN offsetof(struct sockaddr_un, sun_path)

static struct unix_sock *bound; /* all, by bnext */
static u32 next_autobind;

static int check_addr(const struct sockaddr_un *addr, u32 len)
{
	if (len < ADDR_MIN || len > sizeof(*addr))
		return -EINVAL;
	return addr->sun_family == AF_UNIX ? 0 : -EINVAL;
}

static bool is_abstract(const struct sockaddr_un *addr, u32 len)
{
	return len > ADDR_MIN && !addr->sun_path[0];
}

static struct unix_sock *find_abstract(const struct sockaddr_un *addr, u32 len)
{
	struct unix_sock *s;

	DL_FOREACH2(bound, s, bnext) {
		if (s->bound_abstract && s->name->len == len && !memcmp(&s->name->addr, addr, len))
			return s;
	}
	return NULL;
}

static struct unix_name *make_name(const struct sockaddr_un *addr, u32 len)
{
	struct unix_name *n = kzalloc(sizeof(*n));

	if (!n)
		return NULL;
	n->refs = 1;
	n->len = len;
	memcpy(&n->addr, addr, len);
	return n;
}

/* The path of an address, which need not end with NUL, into buf[UNIX_PATH_MAX + 1]. */
static void path_of(const struct sockaddr_un *addr, u32 len, char *buf)
{
	memcpy(buf, addr->sun_path, len - ADDR_MIN);
	buf[len - ADDR_MIN] = '\0';
}

static int bind_path(struct unix_sock *s, const struct sockaddr_un *addr, u32 len)
{
	char path[UNIX_PATH_MAX + 1];
	struct dentry *d;
	int err;

	path_of(addr, len, path);
	err = path_lookup(AT_FDCWD, path, LOOKUP_PARENT, &d);
	if (err)
		return err == -EEXIST ? -EADDRINUSE : err;
	if (d->inode)
		err = -EADDRINUSE;
	else
		err = vfs_mknod(d->parent, d, S_IFSOCK | (0777 & ~current->fs->umask), 0);
	if (err) {
		dentry_put(d);
		return err;
	}
	len = (u32)(ADDR_MIN + strlen(path) + 1);
	s->name = make_name(addr, MIN(len, (u32)sizeof(*addr)));
	s->node = d;
	return s->name ? 0 : -ENOMEM;
}

static int bind_abstract(struct unix_sock *s, const struct sockaddr_un *addr, u32 len)
{
	if (find_abstract(addr, len))
		return -EADDRINUSE;
	s->name = make_name(addr, len);
	s->bound_abstract = true;
	return s->name ? 0 : -ENOMEM;
}

/* Five hexadecimal digits nobody uses (unix(7), "Autobind"). */
static int autobind(struct unix_sock *s)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	for (u32 tries = 0; tries < 0x100000; tries++) {
		snprintf(addr.sun_path + 1, 6, "%05x", next_autobind++ & 0xfffff);
		if (!find_abstract(&addr, ADDR_MIN + 6))
			return bind_abstract(s, &addr, ADDR_MIN + 6);
	}
	return -ENOSPC;
}

int unix_bind(struct unix_sock *s, const struct sockaddr_un *addr, u32 len)
{
	int err = check_addr(addr, len);

	if (err)
		return err;
	if (s->name)
		return len == ADDR_MIN ? 0 : -EINVAL;
	if (len == ADDR_MIN)
		err = autobind(s);
	else if (is_abstract(addr, len))
		err = bind_abstract(s, addr, len);
	else
		err = bind_path(s, addr, len);
	if (!err)
		DL_APPEND2(bound, s, bprev, bnext);
	return err;
}

void unix_unbind(struct unix_sock *s)
{
	if (!s->name || !(s->node || s->bound_abstract))
		return;
	DL_DELETE2(bound, s, bprev, bnext);
	dentry_put(s->node);
	s->node = NULL;
	s->bound_abstract = false;
}

int unix_find(const struct sockaddr_un *addr, u32 len, int type, struct unix_sock **out)
{
	char path[UNIX_PATH_MAX + 1];
	struct unix_sock *s = NULL;
	struct dentry *d;
	int err = check_addr(addr, len);

	if (err || len == ADDR_MIN)
		return err ? err : -EINVAL;
	if (is_abstract(addr, len)) {
		s = find_abstract(addr, len);
	} else {
		path_of(addr, len, path);
		err = path_lookup(AT_FDCWD, path, LOOKUP_FOLLOW, &d);
		if (!err)
			err = inode_permission(d->inode, 2);
		else
			return err;
		if (!err) {
			DL_FOREACH2(bound, s, bnext) {
				if (s->node && s->node->inode == d->inode)
					break;
			}
		}
		dentry_put(d);
		if (err)
			return err;
	}
	if (!s || s->dead)
		return -ECONNREFUSED;
	if (s->type != type)
		return -EPROTOTYPE;
	s->refs++;
	*out = s;
	return 0;
}

int unix_listen(struct unix_sock *s, int backlog)
{
	if (s->type == SOCK_DGRAM)
		return -EOPNOTSUPP;
	if (!s->name || s->connected)
		return -EINVAL;
	s->listening = true;
	s->backlog = backlog < 0 || backlog > 4096 ? 4096 : (u32)backlog;
	s->cred = current_ucred();
	wake_up(&s->wr);
	return 0;
}

/* Takes the reference to `to` over. The old peer may still have polls of ours on its lists; then it stays until we end. */
static int set_dgram_peer(struct unix_sock *s, struct unix_sock *to)
{
	struct unix_sock *old = s->peer;
	struct unix_old *keep;

	if (old && old->wr_poll.head) {
		keep = kmalloc(sizeof(*keep));
		if (!keep) {
			if (to)
				unix_put(to);
			return -ENOMEM;
		}
		*keep = (struct unix_old){old, s->old_peers};
		s->old_peers = keep;
		old = NULL;
	}
	s->peer = to;
	s->connected = to != NULL;
	if (old)
		unix_put(old);
	return 0;
}

static int connect_stream(struct unix_sock *s, struct unix_sock *to, bool nonblock)
{
	struct unix_sock *server;
	int err;

	while (to->listening && !to->dead && to->npending > to->backlog) {
		if (nonblock)
			return -EAGAIN;
		err = wait_event_interruptible(&to->wr, to->npending <= to->backlog || to->dead);
		if (err)
			return err;
	}
	if (!to->listening || to->dead)
		return -ECONNREFUSED;
	if (s->connected)
		return -EISCONN;
	server = unix_new(s->type);
	if (!server)
		return -ENOMEM;
	server->cred = to->cred;
	server->name = to->name;
	server->name->refs++;
	s->cred = current_ucred();
	unix_pair(s, server);
	DL_APPEND2(to->pending, server, pprev,
		   pnext); /* its first reference: the list's, then the file's */
	to->npending++;
	wake_up_n(&to->rd, 1);
	wake_up(&to->poll);
	wake_up(&s->poll);
	return 0;
}

int unix_connect(struct unix_sock *s, const struct sockaddr_un *addr, u32 len, bool nonblock)
{
	struct unix_sock *to;
	int err;

	if (s->type == SOCK_DGRAM && len >= sizeof(addr->sun_family) && !addr->sun_family)
		return set_dgram_peer(s, NULL); /* AF_UNSPEC */
	if (s->listening)
		return -EINVAL;
	if (s->type != SOCK_DGRAM && s->connected)
		return -EISCONN;
	err = unix_find(addr, len, s->type, &to);
	if (err)
		return err;
	if (s->type == SOCK_DGRAM)
		return set_dgram_peer(s, to);
	err = connect_stream(s, to, nonblock);
	unix_put(to);
	return err;
}

int unix_accept(struct unix_sock *s, bool nonblock, struct unix_sock **out)
{
	int err;

	if (s->type == SOCK_DGRAM)
		return -EOPNOTSUPP;
	if (!s->listening)
		return -EINVAL;
	while (!s->pending) {
		if (nonblock)
			return -EAGAIN;
		err = wait_event_until(&s->rd, s->pending != NULL,
				       s->rcv_timeout ? clock_ns() + s->rcv_timeout : NO_DEADLINE,
				       true);
		if (err)
			return err == -ETIMEDOUT ? -EAGAIN : err;
	}
	*out = s->pending;
	DL_DELETE2(s->pending, *out, pprev, pnext);
	s->npending--;
	if (s->pending)
		wake_up_n(&s->rd, 1);
	wake_up(&s->wr);
	return 0;
}
