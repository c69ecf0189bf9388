/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks as lines of text; see export.h. */
#include <stdlib.h>
#include <string.h>

#include "export.h"

/* A name without what separates names: ';' and line breaks. */
static void put_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc(*name == ';' ? ':' : (unsigned char)*name < ' ' ? ' ' : *name, out);
}

static void put_stack(FILE *out, const struct profile *profile, uint32_t node)
{
	uint32_t parent = profile->node[node].parent;
	enum profile_kind kind = profile->frame[profile->node[node].frame].kind;

	if (parent != PROFILE_NONE) {
		put_stack(out, profile, parent);
		fputc(';', out);
	}
	put_name(out, profile_name(profile, node));
	if (kind == PROFILE_KERNEL)
		fputs("_[k]", out);
	else if (kind == PROFILE_INLINED)
		fputs("_[i]", out);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void export_collapsed(const struct profile *profile, uint32_t event, FILE *out)
{
	uint64_t *weight = calloc(profile->nodes + 1, sizeof(*weight));
	char **line = calloc(profile->nodes + 1, sizeof(*line));
	size_t lines = 0, size;

	if (!weight || !line)
		abort();
	for (size_t i = 0; i < profile->samples; i++) {
		if (profile->sample[i].event == event)
			weight[profile->sample[i].node] += profile->sample[i].weight;
	}
	for (uint32_t node = 0; node < profile->nodes; node++) {
		FILE *text;

		if (!weight[node])
			continue;
		text = open_memstream(&line[lines++], &size);
		if (!text)
			abort();
		put_stack(text, profile, node);
		fprintf(text, " %ju\n", (uintmax_t)weight[node]);
		if (fclose(text))
			abort();
	}
	qsort(line, lines, sizeof(*line), compare);
	for (size_t i = 0; i < lines; i++) {
		fputs(line[i], out);
		free(line[i]);
	}
	free(line);
	free(weight);
}
