/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The example of README.md: the ten most frequent words of a file.
 *
 *	aarch64-linux-gnu-gcc -O1 -static -o words docs/example/words.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096, WORD = 64 };

struct word {
	struct word *next;
	unsigned int count;
	char text[];
};

static struct word *buckets[BUCKETS];
static size_t nr_words;

unsigned int hash(const char *text)
{
	unsigned int h = 2166136261;

	while (*text)
		h = (h ^ (unsigned char)*text++) * 16777619;
	return h % BUCKETS;
}

struct word *find(const char *text, unsigned int bucket)
{
	struct word *word = buckets[bucket];

	while (word && strcmp(word->text, text) != 0)
		word = word->next;
	return word;
}

struct word *add(const char *text, unsigned int bucket)
{
	struct word *word = calloc(1, sizeof(*word) + strlen(text) + 1);

	if (!word)
		abort();
	strcpy(word->text, text);
	word->next = buckets[bucket];
	buckets[bucket] = word;
	nr_words++;
	return word;
}

void read_words(FILE *file)
{
	char text[WORD];

	while (fscanf(file, "%63s", text) == 1) {
		unsigned int bucket = hash(text);
		struct word *word = find(text, bucket);

		if (!word)
			word = add(text, bucket);
		word->count++;
	}
}

int compare(const void *a, const void *b)
{
	const struct word *x = *(struct word *const *)a, *y = *(struct word *const *)b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->text, y->text);
}

void print_words(size_t most)
{
	struct word **all = calloc(nr_words + 1, sizeof(*all));
	size_t used = 0;

	if (!all)
		abort();
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct word *word = buckets[i]; word; word = word->next)
			all[used++] = word;
	}
	qsort(all, used, sizeof(*all), compare);
	for (size_t i = 0; i < used && i < most; i++)
		printf("%7u %s\n", all[i]->count, all[i]->text);
	free(all);
}

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;

	if (!file) {
		fprintf(stderr, "usage: words FILE\n");
		return 2;
	}
	read_words(file);
	print_words(10);
	return 0;
}
