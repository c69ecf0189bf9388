/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages to the user; see say.h. A message is put together first and written with one
 * call, so that lines of several programs on one terminal do not mix.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "say.h"

int say_verbose;
const char *say_about;

/* What came from a file's name or contents shall not move the cursor. */
static void make_harmless(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' && *text != '\n' && *text != '\t')
			*text = '?';
	}
}

static void vsay(const char *fmt, va_list args)
{
	int saved = errno;
	char *text;

	if (vasprintf(&text, fmt, args) >= 0) {
		make_harmless(text);
		fprintf(stderr, "tally: %s%s\n", say_about ? say_about : "", text);
		free(text);
	}
	errno = saved;
}

void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsay(fmt, args);
	va_end(args);
}

void die(int status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsay(fmt, args);
	va_end(args);
	exit(status);
}

char *textf(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		abort();
	va_end(args);
	return text;
}
