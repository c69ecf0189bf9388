/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The requests of 9P2000.L, one function each. Their layout is described in the
 * protocol document of diod ("9P2000.L Protocol").
 */
#include "fs/p9.h"

#define SMALL		  PAGE_SIZE
#define AROUND_DATA	  64u
#define GETATTR_BASIC	  0x7ffULL
#define UNLINK_REMOVEDIR  0x200u
#define LCREATE_FLAGS	  (01u | 0200u) /* O_WRONLY, O_EXCL as the protocol has them */

/*
 * Writes a request: `layout` has a letter for each field that follows, w for
 * 16 bits, d for 32, q for 64, s for a string ended by NUL. 0 or -ENOMEM, and
 * then there is nothing to end.
 */
static int write_request(struct p9_msg *m, struct p9_super *sb, u8 type, u32 size,
			 const char *layout, va_list args)
{
	int err = p9_begin(m, sb, type, size);

	for (; !err && *layout; layout++) {
		const char *text;

		switch (*layout) {
		case 'w':
			p9_put16(m, (u16)va_arg(args, u32));
			break;
		case 'd':
			p9_put32(m, va_arg(args, u32));
			break;
		case 'q':
			p9_put64(m, va_arg(args, u64));
			break;
		case 's':
			text = va_arg(args, const char *);
			p9_puts(m, text, strlen(text));
			break;
		}
	}
	return err;
}

/* A request whose answer the caller reads and ends. *begun: there is something to end. */
static int ask(struct p9_msg *m, bool *begun, struct p9_super *sb, u8 type, u32 size,
	       const char *layout, ...)
{
	va_list args;
	int err;

	va_start(args, layout);
	err = write_request(m, sb, type, size, layout, args);
	va_end(args);
	*begun = !err;
	return err ? err : p9_call(m);
}

/* A request whose answer has nothing to say, or nothing that we want to know. */
static int tell(struct p9_super *sb, u8 type, u32 size, const char *layout, ...)
{
	struct p9_msg m;
	va_list args;
	int err;

	va_start(args, layout);
	err = write_request(&m, sb, type, size, layout, args);
	va_end(args);
	return err ? err : p9_end(&m, p9_call(&m));
}

static int end(struct p9_msg *m, bool begun, int err)
{
	return begun ? p9_end(m, err) : err;
}

static u32 nr_fids;

u32 p9_fids(void)
{
	return nr_fids;
}

u32 p9_new_fid(struct p9_super *sb)
{
	u32 fid = sb->next_fid++;

	return fid == P9_NOFID ? sb->next_fid++ : fid;
}

int p9_version(struct p9_super *sb)
{
	static const char version[] = "9P2000.L";
	struct p9_msg m;
	const char *s;
	bool begun;
	u32 msize;
	int err = ask(&m, &begun, sb, TVERSION, SMALL, "ds", P9_MSIZE, version);

	if (!err) {
		msize = p9_get32(&m);
		if (p9_gets(&m, &s) != strlen(version) || memcmp(s, version, strlen(version)) ||
		    msize < SMALL || msize > P9_MSIZE)
			err = -EPROTONOSUPPORT;
		sb->msize = msize;
	}
	return end(&m, begun, err);
}

int p9_attach(struct p9_super *sb, u32 fid)
{
	int err = tell(sb, TATTACH, SMALL, "ddssd", fid, P9_NOFID, "root", "", 0u);

	nr_fids += !err;
	return err;
}

int p9_walk(struct p9_super *sb, u32 fid, u32 newfid, const char *name)
{
	struct p9_msg m;
	bool begun;
	int err = name ? ask(&m, &begun, sb, TWALK, SMALL, "ddws", fid, newfid, 1u, name)
		       : ask(&m, &begun, sb, TWALK, SMALL, "ddw", fid, newfid, 0u);

	if (!err && p9_get16(&m) != (name ? 1 : 0))
		err = -ENOENT;
	err = end(&m, begun, err);
	nr_fids += !err;
	return err;
}

void p9_clunk(struct p9_super *sb, u32 fid)
{
	struct p9_msg m;

	nr_fids--;
	if (p9_begin(&m, sb, TCLUNK, SMALL))
		return; /* at worst the server forgets it when the guest ends */
	p9_put32(&m, fid);
	p9_post(&m);
}

void p9_close(struct p9_super *sb, u32 fid)
{
	nr_fids--;
	(void)tell(sb, TCLUNK, SMALL, "d", fid); /* it is gone whatever the server says */
}

static u64 get_time(struct p9_msg *m)
{
	u64 sec = p9_get64(m), nsec = p9_get64(m);

	return sec * NSEC_PER_SEC + nsec;
}

int p9_getattr(struct p9_super *sb, u32 fid, struct p9_attr *a)
{
	struct p9_msg m;
	bool begun;
	int err = ask(&m, &begun, sb, TGETATTR, SMALL, "dq", fid, GETATTR_BASIC);

	if (!err) {
		p9_get64(&m); /* which fields are right: all basic ones are */
		p9_get8(&m);
		p9_get32(&m);
		a->qid_path = p9_get64(&m);
		a->mode = p9_get32(&m);
		a->uid = p9_get32(&m);
		a->gid = p9_get32(&m);
		a->nlink = p9_get64(&m);
		a->rdev = p9_get64(&m);
		a->size = p9_get64(&m);
		a->blksize = p9_get64(&m);
		a->blocks = p9_get64(&m);
		a->atime_ns = get_time(&m);
		a->mtime_ns = get_time(&m);
		a->ctime_ns = get_time(&m);
	}
	return end(&m, begun, err);
}

int p9_setattr(struct p9_super *sb, u32 fid, u32 valid, const struct inode *ino, u64 size)
{
	return tell(sb, TSETATTR, SMALL, "dddddqqqqq", fid, valid, ino->mode & MODE_PERM,
		    ino->uid == 0 ? sb->owner : ino->uid, ino->gid == 0 ? sb->group : ino->gid,
		    size, ino->atime_ns / NSEC_PER_SEC, ino->atime_ns % NSEC_PER_SEC,
		    ino->mtime_ns / NSEC_PER_SEC, ino->mtime_ns % NSEC_PER_SEC);
}

int p9_lopen(struct p9_super *sb, u32 fid, u32 flags)
{
	return tell(sb, TLOPEN, SMALL, "dd", fid, flags & (O_ACCMODE | O_APPEND));
}

int p9_lcreate(struct p9_super *sb, u32 fid, const char *name, u32 mode)
{
	return tell(sb, TLCREATE, SMALL, "dsddd", fid, name, LCREATE_FLAGS, mode & MODE_PERM,
		    sb->group);
}

int p9_mkdir(struct p9_super *sb, u32 fid, const char *name, u32 mode)
{
	return tell(sb, TMKDIR, SMALL, "dsdd", fid, name, mode & MODE_PERM, sb->group);
}

int p9_mknod(struct p9_super *sb, u32 fid, const char *name, u32 mode, dev_t rdev)
{
	u32 major = (u32)(rdev >> 8 & 0xfff), minor = (u32)((rdev & 0xff) | (rdev >> 12 & 0xfff00));

	return tell(sb, TMKNOD, SMALL, "dsdddd", fid, name, mode, major, minor, sb->group);
}

int p9_symlink(struct p9_super *sb, u32 fid, const char *name, const char *target)
{
	return tell(sb, TSYMLINK, 2 * SMALL, "dssd", fid, name, target, sb->group);
}

int p9_link(struct p9_super *sb, u32 dirfid, const char *name, u32 fid)
{
	return tell(sb, TLINK, SMALL, "dds", dirfid, fid, name);
}

int p9_unlinkat(struct p9_super *sb, u32 fid, const char *name, bool dir)
{
	return tell(sb, TUNLINKAT, SMALL, "dsd", fid, name, dir ? UNLINK_REMOVEDIR : 0u);
}

int p9_renameat(struct p9_super *sb, u32 olddir, const char *oldname, u32 newdir,
		const char *newname)
{
	return tell(sb, TRENAMEAT, SMALL, "dsds", olddir, oldname, newdir, newname);
}

ssize_t p9_readlink(struct p9_super *sb, u32 fid, char *buf, size_t size)
{
	struct p9_msg m;
	const char *s;
	size_t n = 0;
	bool begun;
	int err = ask(&m, &begun, sb, TREADLINK, 2 * SMALL, "d", fid);

	if (!err) {
		n = p9_gets(&m, &s);
		n = MIN(n, size);
		if (s)
			memcpy(buf, s, n);
	}
	err = end(&m, begun, err);
	return err ? err : (ssize_t)n;
}

int p9_fsync(struct p9_super *sb, u32 fid)
{
	return tell(sb, TFSYNC, SMALL, "dd", fid, 0u);
}

int p9_statfs(struct p9_super *sb, u32 fid, struct statfs64 *out)
{
	struct p9_msg m;
	bool begun;
	int err = ask(&m, &begun, sb, TSTATFS, SMALL, "d", fid);

	if (!err) {
		p9_get32(&m); /* type: the super's own is shown */
		out->f_bsize = out->f_frsize = p9_get32(&m);
		out->f_blocks = p9_get64(&m);
		out->f_bfree = p9_get64(&m);
		out->f_bavail = p9_get64(&m);
		out->f_files = p9_get64(&m);
		out->f_ffree = p9_get64(&m);
		p9_get64(&m);
		out->f_namelen = p9_get32(&m);
	}
	return end(&m, begun, err);
}

ssize_t p9_read(struct p9_msg *m, struct p9_super *sb, u32 fid, u64 offset, u32 n, const void **data)
{
	bool begun;
	u32 got = 0;
	int err;

	n = MIN(n, sb->msize - AROUND_DATA);
	err = ask(m, &begun, sb, TREAD, n + AROUND_DATA, "dqd", fid, offset, n);
	if (!err) {
		got = p9_get32(m);
		*data = p9_get_bytes(m, got);
		if (got > n || m->failed)
			err = -EIO;
	}
	return err ? end(m, begun, err) : (ssize_t)got;
}

int p9_write_begin(struct p9_msg *m, struct p9_super *sb, u32 fid, u64 offset, u32 *n, void **data)
{
	int err;

	*n = MIN(*n, sb->msize - AROUND_DATA);
	err = p9_begin(m, sb, TWRITE, *n + AROUND_DATA);
	if (err)
		return err;
	p9_put32(m, fid);
	p9_put64(m, offset);
	p9_put32(m, *n);
	*data = p9_put_room(m, *n);
	return *data ? 0 : p9_end(m, -EMSGSIZE);
}

ssize_t p9_write_call(struct p9_msg *m, u32 n)
{
	int err = p9_call(m);
	u32 taken = err ? 0 : p9_get32(m);

	if (err)
		return err;
	return taken <= n && !m->failed ? (ssize_t)taken : -EIO;
}

ssize_t p9_write_pages(struct p9_super *sb, u32 fid, u64 offset, struct page *const *pages, u32 n)
{
	u64 in_page = offset % PAGE_SIZE;
	struct p9_msg m;
	ssize_t put;
	void *data;
	int err = p9_write_begin(&m, sb, fid, offset, &n, &data);

	if (err)
		return err;
	for (u32 at = 0; at < n; in_page = 0) {
		u32 part = (u32)MIN(n - at, PAGE_SIZE - in_page);

		memcpy((u8 *)data + at, (const u8 *)page_addr(*pages++) + in_page, part);
		at += part;
	}
	put = p9_write_call(&m, n);
	err = p9_end(&m, put < 0 ? (int)put : 0);
	return err ? err : put;
}

/* The answer is in m, to be ended by the caller: data[n] whose length this returns. */
int p9_readdir(struct p9_super *sb, u32 fid, u64 offset, struct p9_msg *m)
{
	u32 n = MIN(32u * 1024, sb->msize - AROUND_DATA), got;
	bool begun;
	int err = ask(m, &begun, sb, TREADDIR, n + AROUND_DATA, "dqd", fid, offset, n);

	if (err)
		return end(m, begun, err);
	got = p9_get32(m);
	m->end = MIN(m->end, m->pos + got);
	return (int)got;
}
