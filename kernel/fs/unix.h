/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AF_UNIX sockets: unix.c has their queues, unix_name.c names and connections,
 * socket.c the system calls. The constants below are the ABI's; no UAPI header
 * has them.
 */
#ifndef TALLY_FS_UNIX_H
#define TALLY_FS_UNIX_H

#include "fs/fs.h"
#include <linux/socket.h>
#include <linux/un.h>

#define AF_UNIX 1

#define SOCK_STREAM    1
#define SOCK_DGRAM     2
#define SOCK_RAW       3
#define SOCK_SEQPACKET 5
#define SOCK_TYPE_MASK 0xf

#define MSG_PEEK	 0x2u
#define MSG_CTRUNC	 0x8u
#define MSG_TRUNC	 0x20u
#define MSG_DONTWAIT	 0x40u
#define MSG_EOR		 0x80u
#define MSG_WAITALL	 0x100u
#define MSG_NOSIGNAL	 0x4000u
#define MSG_WAITFORONE	 0x10000u
#define MSG_CMSG_CLOEXEC 0x40000000u

#define SCM_RIGHTS	1
#define SCM_CREDENTIALS 2
#define SCM_MAX_FD	253

#define UNIX_BUFFER 212992u /* SO_SNDBUF and SO_RCVBUF, as Linux's default */

struct ucred {
	u32 pid, uid, gid;
};

/* What one send put into a queue. Of a stream, parts may be taken. */
struct unix_msg {
	struct unix_msg *next, *prev;
	u32 off, len; /* taken, total */
	u32 charge;   /* against the buffer */
	u32 nfds;
	struct file **fds; /* referenced */
	struct ucred cred;
	struct unix_name *from; /* referenced; NULL: the sender has no name */
	u8 data[];
};

struct unix_old {
	struct unix_sock *sock; /* referenced */
	struct unix_old *next;
};

/* An address, counted: a socket and the messages it sent share it. */
struct unix_name {
	u32 refs;
	u32 len; /* of addr */
	struct sockaddr_un addr;
};

struct unix_sock {
	u32 refs; /* its file, each socket whose peer it is, the queue of a listener */
	int type;
	bool listening, connected, dead; /* dead: closed */
	bool shut_rd, shut_wr;
	bool passcred, reuse;
	struct unix_sock *peer;	    /* referenced; stays when the peer dies */
	struct unix_old *old_peers; /* earlier ones, whose lists polls of ours may still be on */
	struct unix_msg *queue;	    /* oldest first */
	u32 queued;		    /* sum of charges */
	struct mutex rd_lock;	    /* one reader at a time: copying out may sleep */
	struct waitq rd, wr;	    /* sleeping receivers; senders into this queue */
	struct waitq poll, wr_poll;
	struct unix_sock *pending, *pnext, *pprev; /* a listener's: connections not accepted */
	u32 npending, backlog;
	struct ucred peer_cred, cred; /* at connect or socketpair, at listen */
	struct unix_name *name;
	struct dentry *node; /* a bound socket's place in the tree, referenced */
	bool bound_abstract;
	struct unix_sock *bnext, *bprev; /* all bound ones */
	u64 rcv_timeout, snd_timeout;	 /* ns, 0 = none */
	int error;
};

extern const struct file_ops socket_ops;
struct unix_sock *file_sock(const struct file *f); /* NULL: ENOTSOCK */
/* A descriptor's socket; *f is referenced on success. -EBADF, -ENOTSOCK. */
int sock_get(int fd, struct file **f, struct unix_sock **s);
struct unix_sock *unix_new(int type);
void unix_put(struct unix_sock *s);
struct file *unix_file(struct unix_sock *s,
		       u32 flags); /* takes the socket over, also on error (NULL) */
void unix_pair(struct unix_sock *a, struct unix_sock *b);
struct ucred current_ucred(void);
void unix_name_put(struct unix_name *n);
void unix_unbind(struct unix_sock *s);

/* What a send carries besides its bytes; fds are taken over when it succeeds for the first byte. */
struct unix_control {
	struct file *fds[SCM_MAX_FD];
	u32 nfds;
	struct ucred cred;
};
void unix_control_drop(struct unix_control *c);

/* buf: user or kernel address. `to` NULL: the peer. Bytes or -errno; no SIGPIPE. */
ssize_t unix_send(struct unix_sock *s, const void *buf, size_t n, struct unix_sock *to,
		  struct unix_control *c, bool nonblock);
struct unix_recv {
	u32 flags;		/* MSG_PEEK, MSG_WAITALL, MSG_TRUNC in; MSG_TRUNC, MSG_EOR out */
	struct unix_name *from; /* out, referenced */
	struct ucred cred;	/* out */
	struct file **fds;	/* out, referenced, kmalloc'ed */
	u32 nfds;
	bool any;
};
ssize_t unix_recv(struct unix_sock *s, void *buf, size_t n, struct unix_recv *r, bool nonblock);

int unix_bind(struct unix_sock *s, const struct sockaddr_un *addr, u32 len);
int unix_listen(struct unix_sock *s, int backlog);
int unix_connect(struct unix_sock *s, const struct sockaddr_un *addr, u32 len, bool nonblock);
int unix_accept(struct unix_sock *s, bool nonblock, struct unix_sock **out); /* *out referenced */
/* The bound socket of an address, referenced. */
int unix_find(const struct sockaddr_un *addr, u32 len, int type, struct unix_sock **out);

#endif
