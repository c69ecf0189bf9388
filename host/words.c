/* SPDX-License-Identifier: BSD-2-Clause */
/* Quoting and splitting of words; see words.h. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

static void put_escaped(FILE *out, const char *word)
{
	fputs("$'", out);
	for (; *word; word++) {
		if (is_control(*word))
			fprintf(out, "\\x%02x", (unsigned char)*word);
		else if (*word == '\'' || *word == '\\')
			fprintf(out, "\\%c", *word);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

static void put_quoted(FILE *out, const char *word)
{
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

static void put_word(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=:,./@%^";
	bool control = false;

	for (const char *c = word; *c; c++)
		control = control || is_control(*c);
	if (control)
		put_escaped(out, word);
	else if (!*word || word[strspn(word, plain)])
		put_quoted(out, word);
	else
		fputs(word, out);
}

char *words_join(char *const *words)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	for (size_t i = 0; words[i]; i++) {
		if (i)
			fputc(' ', out);
		put_word(out, words[i]);
	}
	if (fclose(out))
		abort();
	return text;
}

/* The state while a line is taken apart. Words are never longer than the line. */
struct split {
	const char *at;
	char *word;
	size_t used;
};

static int hex(char c)
{
	const char *digits = "0123456789abcdef", *found;

	if (c >= 'A' && c <= 'F')
		c = (char)(c - 'A' + 'a');
	found = c ? strchr(digits, c) : NULL;
	return found ? (int)(found - digits) : -1;
}

/* After a backslash in $'...'. */
static bool take_escape(struct split *split)
{
	static const char names[] = "ntr\\'", values[] = "\n\t\r\\'";
	const char *name;

	if (*split->at == 'x') {
		int high = hex(split->at[1]), low = high < 0 ? -1 : hex(split->at[2]);

		if (low < 0 || high * 16 + low == 0)
			return false;
		split->word[split->used++] = (char)(high * 16 + low);
		split->at += 3;
		return true;
	}
	name = *split->at ? strchr(names, *split->at) : NULL;
	if (!name)
		return false;
	split->word[split->used++] = values[name - names];
	split->at++;
	return true;
}

/* After the opening quote. Escapes are those of ', " or $' (`kind` is '$'). */
static bool take_quoted(struct split *split, char kind)
{
	char close = kind == '"' ? '"' : '\'';

	while (*split->at && *split->at != close) {
		char c = *split->at++;

		if (kind == '$' && c == '\\') {
			if (!take_escape(split))
				return false;
			continue;
		}
		if (kind == '"' && c == '\\' && *split->at && strchr("\"\\$`", *split->at))
			c = *split->at++;
		split->word[split->used++] = c;
	}
	return *split->at++ == close;
}

static bool take_word(struct split *split)
{
	split->used = 0;
	while (*split->at && *split->at != ' ' && *split->at != '\t') {
		char c = *split->at++;

		if (c == '\'' || c == '"') {
			if (!take_quoted(split, c))
				return false;
		} else if (c == '$' && *split->at == '\'') {
			split->at++;
			if (!take_quoted(split, '$'))
				return false;
		} else if (c == '\\') {
			if (!*split->at)
				return false;
			split->word[split->used++] = *split->at++;
		} else {
			split->word[split->used++] = c;
		}
	}
	split->word[split->used] = '\0';
	return true;
}

char **words_split(const char *line)
{
	struct split split = {line, malloc(strlen(line) + 1), 0};
	char **words = calloc(strlen(line) / 2 + 2, sizeof(*words));
	size_t count = 0;
	bool good = true;

	if (!split.word || !words)
		abort();
	while (good && *(split.at += strspn(split.at, " \t"))) {
		good = take_word(&split);
		if (good && !(words[count++] = strdup(split.word)))
			abort();
	}
	free(split.word);
	if (good)
		return words;
	words_free(words);
	return NULL;
}

void words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

char **words_cut(char **argv, int *argc)
{
	for (*argc = 0; argv[*argc]; (*argc)++) {
		if (strcmp(argv[*argc], "--") == 0) {
			argv[*argc] = NULL;
			return argv + *argc + 1;
		}
	}
	return NULL;
}
