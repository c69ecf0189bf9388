/* SPDX-License-Identifier: BSD-2-Clause */
/* Formatted text: what C99's printf does for integers, characters, strings and pointers. */
#include "lib/kernel.h"

struct out {
	char *buf;
	size_t size, len; /* len counts also what did not fit */
};

struct spec {
	bool left, plus, space, alt, zero, upper;
	int width, precision; /* -1: none given */
};

static void put(struct out *o, char c)
{
	if (o->len < o->size)
		o->buf[o->len] = c;
	o->len++;
}

static void pad(struct out *o, char c, int n)
{
	while (n-- > 0)
		put(o, c);
}

static void put_text(struct out *o, const struct spec *s, const char *text, size_t n)
{
	int space = s->width - (int)n;

	if (!s->left)
		pad(o, ' ', space);
	for (size_t i = 0; i < n; i++)
		put(o, text[i]);
	if (s->left)
		pad(o, ' ', space);
}

static void put_number(struct out *o, const struct spec *s, u64 v, unsigned base,
		       const char *prefix)
{
	const char *digits = s->upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char text[24];
	int n = 0, zeros, space;

	for (u64 x = v; x; x /= base)
		text[n++] = digits[x % base];
	zeros = (s->precision < 0 ? 1 : s->precision) - n;
	if (zeros < 0)
		zeros = 0;
	space = s->width - n - zeros - (int)strlen(prefix);
	if (s->zero && !s->left && s->precision < 0 && space > 0) {
		zeros += space;
		space = 0;
	}
	if (!s->left)
		pad(o, ' ', space);
	while (*prefix)
		put(o, *prefix++);
	pad(o, '0', zeros);
	while (n)
		put(o, text[--n]);
	if (s->left)
		pad(o, ' ', space);
}

static int parse_int(const char **fmt, va_list *ap)
{
	int v = 0;

	if (**fmt == '*') {
		(*fmt)++;
		return va_arg(*ap, int);
	}
	while (**fmt >= '0' && **fmt <= '9')
		v = v * 10 + *(*fmt)++ - '0';
	return v;
}

static struct spec parse_spec(const char **fmt, va_list *ap)
{
	struct spec s = {.precision = -1};

	for (;; (*fmt)++) {
		if (**fmt == '-')
			s.left = true;
		else if (**fmt == '+')
			s.plus = true;
		else if (**fmt == ' ')
			s.space = true;
		else if (**fmt == '#')
			s.alt = true;
		else if (**fmt == '0')
			s.zero = true;
		else
			break;
	}
	s.width = parse_int(fmt, ap);
	if (s.width < 0) {
		s.left = true;
		s.width = -s.width;
	}
	if (**fmt == '.') {
		(*fmt)++;
		s.precision = parse_int(fmt, ap);
	}
	return s;
}

/* Bytes of the argument by its length modifier; char and short come as int. */
static int parse_length(const char **fmt)
{
	int bytes = 4;

	for (;; (*fmt)++) {
		if (**fmt == 'l' || **fmt == 'z' || **fmt == 'j' || **fmt == 't')
			bytes = 8;
		else if (**fmt == 'h')
			bytes = bytes == 2 ? 1 : 2;
		else
			return bytes;
	}
}

static u64 unsigned_arg(va_list *ap, int bytes)
{
	if (bytes == 8)
		return va_arg(*ap, u64);
	if (bytes == 4)
		return va_arg(*ap, u32);
	return va_arg(*ap, u32) & (bytes == 2 ? 0xffff : 0xff);
}

static s64 signed_arg(va_list *ap, int bytes)
{
	if (bytes == 8)
		return va_arg(*ap, s64);
	if (bytes == 4)
		return va_arg(*ap, int);
	return bytes == 2 ? (int16_t)va_arg(*ap, int) : (int8_t)va_arg(*ap, int);
}

static void put_signed(struct out *o, const struct spec *s, s64 v)
{
	const char *sign = v < 0 ? "-" : s->plus ? "+" : s->space ? " " : "";

	put_number(o, s, v < 0 ? 0 - (u64)v : (u64)v, 10, sign);
}

static void convert(struct out *o, char conversion, struct spec *s, int bytes, va_list *ap)
{
	const char *text;
	char c;
	u64 v;

	switch (conversion) {
	case 'd':
	case 'i':
		put_signed(o, s, signed_arg(ap, bytes));
		break;
	case 'u':
		put_number(o, s, unsigned_arg(ap, bytes), 10, "");
		break;
	case 'o':
		put_number(o, s, unsigned_arg(ap, bytes), 8, s->alt ? "0" : "");
		break;
	case 'X':
		s->upper = true;
		/* fall through */
	case 'x':
		v = unsigned_arg(ap, bytes);
		put_number(o, s, v, 16, !s->alt || !v ? "" : s->upper ? "0X" : "0x");
		break;
	case 'p':
		put_number(o, s, (u64)va_arg(*ap, void *), 16, "0x");
		break;
	case 'c':
		c = (char)va_arg(*ap, int);
		put_text(o, s, &c, 1);
		break;
	case 's':
		text = va_arg(*ap, const char *);
		if (!text)
			text = "(null)";
		put_text(o, s, text,
			 s->precision < 0 ? strlen(text) : strnlen(text, (size_t)s->precision));
		break;
	case '%':
		put(o, '%');
		break;
	default:
		panic("printf: unknown conversion '%c'", conversion);
	}
}

int vsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
	struct out o = {buf, size, 0};
	va_list args;

	va_copy(args, ap);
	while (*fmt) {
		struct spec s;
		int bytes;

		if (*fmt != '%') {
			put(&o, *fmt++);
			continue;
		}
		fmt++;
		s = parse_spec(&fmt, &args);
		bytes = parse_length(&fmt);
		convert(&o, *fmt, &s, bytes, &args);
		if (*fmt)
			fmt++;
	}
	va_end(args);
	if (size)
		buf[MIN(o.len, size - 1)] = '\0';
	return (int)o.len;
}

int snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return n;
}
