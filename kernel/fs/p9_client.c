/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The requests of 9P2000.L, one function each. Their layout is described in the
 * protocol document of diod ("9P2000.L Protocol").
 */
#include "fs/p9.h"

enum {
	TSTATFS = 8,
	TLOPEN = 12,
	TLCREATE = 14,
	TSYMLINK = 16,
	TMKNOD = 18,
	TREADLINK = 22,
	TGETATTR = 24,
	TSETATTR = 26,
	TREADDIR = 40,
	TFSYNC = 50,
	TLINK = 70,
	TMKDIR = 72,
	TRENAMEAT = 74,
	TUNLINKAT = 76,
	TVERSION = 100,
	TATTACH = 104,
	TWALK = 110,
	TREAD = 116,
	TWRITE = 118,
	TCLUNK = 120,
};

#define SMALL		  PAGE_SIZE
#define AROUND_DATA	  64u
#define GETATTR_BASIC	  0x7ffULL
#define UNLINK_REMOVEDIR  0x200u
#define LCREATE_FLAGS	  (01u | 0200u) /* O_WRONLY, O_EXCL as the protocol has them */

/* A request whose answer has nothing to say, or nothing that we want to know. */
static int call_and_end(struct p9_msg *m)
{
	return p9_end(m, p9_call(m));
}

static void put_name(struct p9_msg *m, const char *s)
{
	p9_puts(m, s, strlen(s));
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
	u32 msize;
	int err = p9_begin(&m, sb, TVERSION, SMALL);

	if (err)
		return err;
	p9_put32(&m, P9_MSIZE);
	put_name(&m, version);
	err = p9_call(&m);
	if (!err) {
		msize = p9_get32(&m);
		if (p9_gets(&m, &s) != strlen(version) || memcmp(s, version, strlen(version)) ||
		    msize < SMALL || msize > P9_MSIZE)
			err = -EPROTONOSUPPORT;
		sb->msize = msize;
	}
	return p9_end(&m, err);
}

int p9_attach(struct p9_super *sb, u32 fid)
{
	struct p9_msg m;
	int err = p9_begin(&m, sb, TATTACH, SMALL);

	if (err)
		return err;
	p9_put32(&m, fid);
	p9_put32(&m, P9_NOFID);
	put_name(&m, "root");
	put_name(&m, "");
	p9_put32(&m, 0);
	return call_and_end(&m);
}

int p9_walk(struct p9_super *sb, u32 fid, u32 newfid, const char *name)
{
	struct p9_msg m;
	int err = p9_begin(&m, sb, TWALK, SMALL);

	if (err)
		return err;
	p9_put32(&m, fid);
	p9_put32(&m, newfid);
	p9_put16(&m, name ? 1 : 0);
	if (name)
		put_name(&m, name);
	err = p9_call(&m);
	if (!err && p9_get16(&m) != (name ? 1 : 0))
		err = -ENOENT;
	return p9_end(&m, err);
}

void p9_clunk(struct p9_super *sb, u32 fid)
{
	struct p9_msg m;

	if (p9_begin(&m, sb, TCLUNK, SMALL))
		return; /* the server forgets it when the guest ends */
	p9_put32(&m, fid);
	(void)call_and_end(&m);
}

static u64 get_time(struct p9_msg *m)
{
	u64 sec = p9_get64(m), nsec = p9_get64(m);

	return sec * NSEC_PER_SEC + nsec;
}

int p9_getattr(struct p9_super *sb, u32 fid, struct p9_attr *a)
{
	struct p9_msg m;
	int err = p9_begin(&m, sb, TGETATTR, SMALL);

	if (err)
		return err;
	p9_put32(&m, fid);
	p9_put64(&m, GETATTR_BASIC);
	err = p9_call(&m);
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
		p9_get64(&m); /* block size */
		p9_get64(&m); /* blocks */
		a->atime_ns = get_time(&m);
		a->mtime_ns = get_time(&m);
		a->ctime_ns = get_time(&m);
	}
	return p9_end(&m, err);
}

int p9_setattr(struct p9_super *sb, u32 fid, u32 valid, const struct inode *ino, u64 size)
{
	struct p9_msg m;
	int err = p9_begin(&m, sb, TSETATTR, SMALL);

	if (err)
		return err;
	p9_put32(&m, fid);
	p9_put32(&m, valid);
	p9_put32(&m, ino->mode & MODE_PERM);
	p9_put32(&m, ino->uid == 0 ? sb->owner : ino->uid);
	p9_put32(&m, ino->gid == 0 ? sb->group : ino->gid);
	p9_put64(&m, size);
	p9_put64(&m, ino->atime_ns / NSEC_PER_SEC);
	p9_put64(&m, ino->atime_ns % NSEC_PER_SEC);
	p9_put64(&m, ino->mtime_ns / NSEC_PER_SEC);
	p9_put64(&m, ino->mtime_ns % NSEC_PER_SEC);
	return call_and_end(&m);
}

int p9_lopen(struct p9_super *sb, u32 fid, u32 accmode)
{
	struct p9_msg m;
	int err = p9_begin(&m, sb, TLOPEN, SMALL);

	if (err)
		return err;
	p9_put32(&m, fid);
	p9_put32(&m, accmode);
	return call_and_end(&m);
}

int p9_lcreate(struct p9_super *sb, u32 fid, const char *name, u32 mode)
{
	struct p9_msg m;
	int err = p9_begin(&m, sb, TLCREATE, SMALL);

	if (err)
		return err;
	p9_put32(&m, fid);
	put_name(&m, name);
	p9_put32(&m, LCREATE_FLAGS);
	p9_put32(&m, mode & MODE_PERM);
	p9_put32(&m, sb->group);
	return call_and_end(&m);
}

int p9_mkdir(struct p9_super *sb, u32 fid, const char *name, u32 mode)
{
	struct p9_msg m;
	int err = p9_begin(&m, sb, TMKDIR, SMALL);

	if (err)
		return err;
	p9_put32(&m, fid);
	put_name(&m, name);
	p9_put32(&m, mode & MODE_PERM);
	p9_put32(&m, sb->group);
	return call_and_end(&m);
}

int p9_mknod(struct p9_super *sb, u32 fid, const char *name, u32 mode, dev_t rdev)
{
	struct p9_msg m;
	int err = p9_begin(&m, sb, TMKNOD, SMALL);

	if (err)
		return err;
	p9_put32(&m, fid);
	put_name(&m, name);
	p9_put32(&m, mode);
	p9_put32(&m, (u32)(rdev >> 8 & 0xfff));
	p9_put32(&m, (u32)((rdev & 0xff) | (rdev >> 12 & 0xfff00)));
	p9_put32(&m, sb->group);
	return call_and_end(&m);
}

int p9_symlink(struct p9_super *sb, u32 fid, const char *name, const char *target)
{
	struct p9_msg m;
	int err = p9_begin(&m, sb, TSYMLINK, 2 * SMALL);

	if (err)
		return err;
	p9_put32(&m, fid);
	put_name(&m, name);
	put_name(&m, target);
	p9_put32(&m, sb->group);
	return call_and_end(&m);
}

int p9_link(struct p9_super *sb, u32 dirfid, const char *name, u32 fid)
{
	struct p9_msg m;
	int err = p9_begin(&m, sb, TLINK, SMALL);

	if (err)
		return err;
	p9_put32(&m, dirfid);
	p9_put32(&m, fid);
	put_name(&m, name);
	return call_and_end(&m);
}

int p9_unlinkat(struct p9_super *sb, u32 fid, const char *name, bool dir)
{
	struct p9_msg m;
	int err = p9_begin(&m, sb, TUNLINKAT, SMALL);

	if (err)
		return err;
	p9_put32(&m, fid);
	put_name(&m, name);
	p9_put32(&m, dir ? UNLINK_REMOVEDIR : 0);
	return call_and_end(&m);
}

int p9_renameat(struct p9_super *sb, u32 olddir, const char *oldname, u32 newdir,
		const char *newname)
{
	struct p9_msg m;
	int err = p9_begin(&m, sb, TRENAMEAT, SMALL);

	if (err)
		return err;
	p9_put32(&m, olddir);
	put_name(&m, oldname);
	p9_put32(&m, newdir);
	put_name(&m, newname);
	return call_and_end(&m);
}

ssize_t p9_readlink(struct p9_super *sb, u32 fid, char *buf, size_t size)
{
	struct p9_msg m;
	const char *s;
	size_t n = 0;
	int err = p9_begin(&m, sb, TREADLINK, 2 * SMALL);

	if (err)
		return err;
	p9_put32(&m, fid);
	err = p9_call(&m);
	if (!err) {
		n = p9_gets(&m, &s);
		n = MIN(n, size);
		if (s)
			memcpy(buf, s, n);
	}
	err = p9_end(&m, err);
	return err ? err : (ssize_t)n;
}

int p9_fsync(struct p9_super *sb, u32 fid)
{
	struct p9_msg m;
	int err = p9_begin(&m, sb, TFSYNC, SMALL);

	if (err)
		return err;
	p9_put32(&m, fid);
	p9_put32(&m, 0);
	return call_and_end(&m);
}

int p9_statfs(struct p9_super *sb, u32 fid, struct statfs64 *out)
{
	struct p9_msg m;
	int err = p9_begin(&m, sb, TSTATFS, SMALL);

	if (err)
		return err;
	p9_put32(&m, fid);
	err = p9_call(&m);
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
	return p9_end(&m, err);
}

ssize_t p9_read(struct p9_msg *m, struct p9_super *sb, u32 fid, u64 offset, u32 n, const void **data)
{
	int err;
	u32 got;

	n = MIN(n, sb->msize - AROUND_DATA);
	err = p9_begin(m, sb, TREAD, n + AROUND_DATA);
	if (err)
		return err;
	p9_put32(m, fid);
	p9_put64(m, offset);
	p9_put32(m, n);
	err = p9_call(m);
	got = err ? 0 : p9_get32(m);
	*data = p9_get_bytes(m, got);
	if (!err && (got > n || m->failed))
		err = -EIO;
	return err ? p9_end(m, err) : (ssize_t)got;
}

ssize_t p9_write(struct p9_super *sb, u32 fid, u64 offset, const void *src, u32 n)
{
	struct p9_msg m;
	u32 taken = 0;
	void *at;
	int err;

	n = MIN(n, sb->msize - AROUND_DATA);
	err = p9_begin(&m, sb, TWRITE, n + AROUND_DATA);
	if (err)
		return err;
	p9_put32(&m, fid);
	p9_put64(&m, offset);
	p9_put32(&m, n);
	at = p9_put_room(&m, n);
	err = at ? io_copy_in(at, src, n) : -EMSGSIZE;
	if (!err)
		err = p9_call(&m);
	if (!err)
		taken = p9_get32(&m);
	if (!err && taken > n)
		err = -EIO;
	err = p9_end(&m, err);
	return err ? err : (ssize_t)taken;
}

/* The answer is in m, to be ended by the caller: data[n] whose length this returns. */
int p9_readdir(struct p9_super *sb, u32 fid, u64 offset, struct p9_msg *m)
{
	u32 n = MIN(32u * 1024, sb->msize - AROUND_DATA), got;
	int err = p9_begin(m, sb, TREADDIR, n + AROUND_DATA);

	if (err)
		return err;
	p9_put32(m, fid);
	p9_put64(m, offset);
	p9_put32(m, n);
	err = p9_call(m);
	if (err)
		return p9_end(m, err);
	got = p9_get32(m);
	m->end = MIN(m->end, m->pos + got);
	return (int)got;
}
