/* SPDX-License-Identifier: BSD-2-Clause */
/* What postinst scripts ask of update-alternatives; see alternatives.h and its man page. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "alternatives.h"

enum { MAX_WORD = 512 };

/*
 * The next word of a shell command, or an empty one at its end. A backslash joins lines; what
 * begins with '#' is a comment; quotes are dropped. Returns where to go on.
 */
static const char *next_word(const char *text, char word[MAX_WORD])
{
	size_t used = 0;

	for (;;) {
		text += strspn(text, " \t\r");
		if (text[0] != '\\' || text[1] != '\n')
			break;
		text += 2;
	}
	if (*text == '#')
		text += strcspn(text, "\n");
	while (*text && !strchr(" \t\r\n;&|", *text) && !(text[0] == '\\' && text[1] == '\n')) {
		if (*text != '"' && *text != '\'' && used < MAX_WORD - 1)
			word[used++] = *text;
		text++;
	}
	word[used] = '\0';
	return text;
}

static bool is_plain_path(const char *word)
{
	return *word == '/' && !strpbrk(word, "$`*?(){}\\");
}

static char *copy(const char *text)
{
	char *new = strdup(text);

	if (!new)
		abort();
	return new;
}

static void add(struct alternatives *all, const char *link, const char *path, long priority)
{
	if (!is_plain_path(link) || !is_plain_path(path))
		return;
	all->at = reallocarray(all->at, all->count + 1, sizeof(*all->at));
	if (!all->at)
		abort();
	all->at[all->count] = (struct alternative){copy(link), copy(path), priority, all->count};
	all->count++;
}

/* One command up to its end: --install LINK NAME PATH PRIORITY [--slave LINK NAME PATH]... */
static const char *read_command(struct alternatives *all, const char *text)
{
	char word[MAX_WORD], link[MAX_WORD], name[MAX_WORD], path[MAX_WORD], number[MAX_WORD];
	long priority = 0;

	while (text = next_word(text, word), *word) {
		bool install = strcmp(word, "--install") == 0;

		if (!install && strcmp(word, "--slave") != 0)
			continue;
		text = next_word(text, link);
		text = next_word(text, name);
		text = next_word(text, path);
		if (install) {
			text = next_word(text, number);
			priority = strtol(number, NULL, 10);
		}
		add(all, link, path, priority);
	}
	return text;
}

static int best_first(const void *a, const void *b)
{
	const struct alternative *x = a, *y = b;

	if (x->priority != y->priority)
		return x->priority < y->priority ? 1 : -1;
	return x->order < y->order ? -1 : 1;
}

void alternatives_read(struct alternatives *all, const char *text)
{
	*all = (struct alternatives){NULL, 0};
	while (*text) {
		text = read_command(all, text);
		if (*text)
			text++;
	}
	if (all->count)
		qsort(all->at, all->count, sizeof(*all->at), best_first);
}

void alternatives_free(struct alternatives *all)
{
	for (size_t i = 0; i < all->count; i++) {
		free(all->at[i].link);
		free(all->at[i].path);
	}
	free(all->at);
}
