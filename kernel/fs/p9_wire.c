/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * 9P messages: little-endian numbers one after the other, strings with their
 * length in front, all behind size[4] type[1] tag[2]. Answers come from outside
 * and are not trusted: reading beyond the end gives zeros and is remembered.
 */
#include "fs/p9.h"

#define HEADER	7u
#define RLERROR 7u
#define NOTAG	0xffffu

int p9_begin(struct p9_msg *m, struct p9_super *sb, u8 type, u32 size)
{
	struct page *out, *in;
	u32 order = 0;

	while ((PAGE_SIZE << order) < size)
		order++;
	out = page_alloc(order);
	in = page_alloc(order);
	if (!out || !in) {
		if (out)
			page_put(out);
		if (in)
			page_put(in);
		return -ENOMEM;
	}
	*m = (struct p9_msg){.sb = sb, .out = page_addr(out), .in = page_addr(in), .order = order};
	p9_put32(m, 0); /* the size, when it is known */
	p9_put8(m, type);
	/* one request at a time has these buffers, and the transport tells answers apart by them */
	p9_put16(m, type == TVERSION ? NOTAG : 1);
	return 0;
}

void *p9_put_room(struct p9_msg *m, u32 n)
{
	u8 *at = m->out + m->len;

	if (n > (PAGE_SIZE << m->order) - m->len) {
		m->failed = true;
		return NULL;
	}
	m->len += n;
	return at;
}

static void put(struct p9_msg *m, u64 v, u32 bytes)
{
	u8 *at = p9_put_room(m, bytes);

	for (u32 i = 0; at && i < bytes; i++)
		at[i] = (u8)(v >> (8 * i));
}

void p9_put8(struct p9_msg *m, u8 v)
{
	put(m, v, 1);
}

void p9_put16(struct p9_msg *m, u16 v)
{
	put(m, v, 2);
}

void p9_put32(struct p9_msg *m, u32 v)
{
	put(m, v, 4);
}

void p9_put64(struct p9_msg *m, u64 v)
{
	put(m, v, 8);
}

void p9_puts(struct p9_msg *m, const char *s, size_t len)
{
	u8 *at;

	if (len > 0xffff) {
		m->failed = true;
		return;
	}
	p9_put16(m, (u16)len);
	at = p9_put_room(m, (u32)len);
	if (at)
		memcpy(at, s, len);
}

const void *p9_get_bytes(struct p9_msg *m, u32 n)
{
	const u8 *at = m->in + m->pos;

	if (n > m->end - m->pos) {
		m->failed = true;
		return NULL;
	}
	m->pos += n;
	return at;
}

static u64 get(struct p9_msg *m, u32 bytes)
{
	const u8 *at = p9_get_bytes(m, bytes);
	u64 v = 0;

	for (u32 i = 0; at && i < bytes; i++)
		v |= (u64)at[i] << (8 * i);
	return v;
}

u8 p9_get8(struct p9_msg *m)
{
	return (u8)get(m, 1);
}

u16 p9_get16(struct p9_msg *m)
{
	return (u16)get(m, 2);
}

u32 p9_get32(struct p9_msg *m)
{
	return (u32)get(m, 4);
}

u64 p9_get64(struct p9_msg *m)
{
	return get(m, 8);
}

u16 p9_gets(struct p9_msg *m, const char **s)
{
	u16 len = p9_get16(m);

	*s = p9_get_bytes(m, len);
	return *s ? len : 0;
}

/* The numbers of errors are the host's Linux's, which for all that a file system says are the guest's. */
static int error_of(struct p9_msg *m)
{
	u32 code = p9_get32(m);

	return code > 0 && code < 4096 ? -(int)code : -EIO;
}

static void put_size(struct p9_msg *m)
{
	for (u32 i = 0; i < 4; i++)
		m->out[i] = (u8)(m->len >> (8 * i));
}

/* Requests that leave files as they are. Of the others, what was known before they were answered may be old. */
static bool only_asks(u8 type)
{
	static const u8 types[] = {TSTATFS, TLOPEN, TREADLINK, TGETATTR, TREADDIR, TWALK, TREAD};

	return memchr(types, type, sizeof(types));
}

int p9_call(struct p9_msg *m)
{
	u8 request = m->out[4], type;
	u32 len, change = !only_asks(request);

	if (m->failed)
		return -EMSGSIZE;
	put_size(m);
	m->end = (u32)(PAGE_SIZE << m->order);
	m->sb->changes += change;
	len = p9_device_call(m->sb->dev, m->out, m->len, m->in, m->end);
	m->sb->changes += change;
	m->pos = 0;
	m->end = MIN(m->end, len);
	len = p9_get32(m);
	m->end = MIN(m->end, len);
	type = p9_get8(m);
	p9_get16(m);
	if (m->failed)
		return -EIO;
	if (type == RLERROR)
		return error_of(m);
	return type == request + 1 ? 0 : -EIO;
}

void p9_post(struct p9_msg *m)
{
	ASSERT(!m->failed && m->order == 0);
	put_size(m);
	p9_device_post(m->sb->dev, m->out, m->len, m->in);
}

int p9_end(struct p9_msg *m, int err)
{
	page_put(phys_to_page(virt_to_phys(m->out)));
	page_put(phys_to_page(virt_to_phys(m->in)));
	return err ? err : m->failed ? -EIO : 0;
}
