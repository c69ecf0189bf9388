/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings, and comparing memory. The copying functions are in memory.S. */
#include "lib/kernel.h"

int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *p = a, *q = b;

	/* eight at a time as long as they are equal */
	for (; n >= 8; n -= 8, p += 8, q += 8) {
		u64 x, y;

		__builtin_memcpy(&x, p, 8);
		__builtin_memcpy(&y, q, 8);
		if (x != y)
			break;
	}
	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p < *q ? -1 : 1;
	return 0;
}

void *memchr(const void *s, int c, size_t n)
{
	for (const u8 *p = s; n; n--, p++)
		if (*p == (u8)c)
			return (void *)(uintptr_t)p;
	return NULL;
}

size_t strlen(const char *s)
{
	const char *p = s;

	while (*p)
		p++;
	return (size_t)(p - s);
}

size_t strnlen(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && s[i])
		i++;
	return i;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (u8)*a - (u8)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (*a != *b || !*a)
			return (u8)*a - (u8)*b;
	return 0;
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)(uintptr_t)s;
		if (!*s)
			return NULL;
	}
}

char *strrchr(const char *s, int c)
{
	const char *last = NULL;

	for (;; s++) {
		if (*s == (char)c)
			last = s;
		if (!*s)
			return (char *)(uintptr_t)last;
	}
}

ssize_t strscpy(char *dst, const char *src, size_t size)
{
	size_t n = strnlen(src, size);

	if (!size)
		return -E2BIG;
	if (n == size) {
		memcpy(dst, src, size - 1);
		dst[size - 1] = '\0';
		return -E2BIG;
	}
	memcpy(dst, src, n + 1);
	return (ssize_t)n;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 10;
	return 99;
}

u64 strtoull(const char *s, char **end, int base)
{
	const char *p = s;
	u64 v = 0;
	int d;

	if ((base == 0 || base == 16) && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') &&
	    digit(p[2]) < 16) {
		base = 16;
		p += 2;
	} else if (base == 0) {
		base = p[0] == '0' ? 8 : 10;
	}
	for (; (d = digit(*p)) < base; p++)
		if (__builtin_mul_overflow(v, (u64)base, &v) ||
		    __builtin_add_overflow(v, (u64)d, &v))
			v = ~0ULL;
	if (end)
		*end = (char *)(uintptr_t)p;
	return v;
}

unsigned long strtoul(const char *s, char **end, int base)
{
	return strtoull(s, end, base);
}
