/* SPDX-License-Identifier: BSD-2-Clause */
/* seq: a buffer that text is printed into and that grows as it must. Out of memory is remembered in `oom`. */
#include "fs/fs.h"

static bool room(struct seq *s, size_t n)
{
	size_t cap = s->cap ? s->cap : 256;
	char *buf;

	if (s->oom)
		return false;
	if (s->len + n <= s->cap)
		return true;
	while (cap < s->len + n)
		cap *= 2;
	buf = krealloc(s->buf, cap);
	if (!buf) {
		s->oom = true;
		return false;
	}
	s->buf = buf;
	s->cap = cap;
	return true;
}

void seq_write(struct seq *s, const void *p, size_t n)
{
	if (!room(s, n))
		return;
	memcpy(s->buf + s->len, p, n);
	s->len += n;
}

void seq_printf(struct seq *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!room(s, 128))
		return;
	va_start(ap, fmt);
	n = vsnprintf(s->buf + s->len, s->cap - s->len, fmt, ap);
	va_end(ap);
	if ((size_t)n >= s->cap - s->len) {
		if (!room(s, (size_t)n + 1))
			return;
		va_start(ap, fmt);
		vsnprintf(s->buf + s->len, s->cap - s->len, fmt, ap);
		va_end(ap);
	}
	s->len += (size_t)n;
}

void seq_free(struct seq *s)
{
	kfree(s->buf);
	s->buf = NULL;
	s->len = s->cap = 0;
}
