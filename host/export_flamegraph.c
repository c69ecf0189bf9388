/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flame graph as one page of HTML: the page of host/flame/, with the data in it. Names from the
 * recording are in two places only, the JSON and the tables, and json.c writes both.
 */
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "json.h"

enum { TABLE_ROWS = 40 };

/* Made by embed from the files in host/flame/. */
extern const char flame_page[], flame_style[], flame_script[];

/* All texts, names of functions and of files alike, and one more, for node 0. */
static void put_texts(const struct profile *profile, FILE *out)
{
	fputs("\"texts\":[", out);
	for (size_t i = 0; i < profile->texts; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_text(out, profile->text[i]);
	}
	fprintf(out, "%s\"all\"],\n", profile->texts ? ",\n" : "");
}

static void put_events(const struct profile *profile, FILE *out)
{
	fputs("{\"events\":[", out);
	for (size_t i = 0; i < profile->events; i++) {
		const struct profile_event *event = &profile->event[i];

		fputs(i ? ",\n{\"name\":" : "{\"name\":", out);
		json_text(out, profile->text[event->name]);
		fprintf(out, ",\"weight\":%ju,\"samples\":%ju}", (uintmax_t)event->weight,
			(uintmax_t)event->samples);
	}
	fputs("],\n", out);
}

static void put_frames(const struct profile *profile, FILE *out)
{
	static const int kind[] = {[PROFILE_THREAD] = 0,
				   [PROFILE_USER] = 1,
				   [PROFILE_KERNEL] = 2,
				   [PROFILE_INLINED] = 3};

	fputs("\"kind\":[", out);
	for (size_t i = 0; i < profile->frames; i++)
		fprintf(out, "%d,", kind[profile->frame[i].kind]);
	fputs("0],\n\"name\":[", out);
	for (size_t i = 0; i < profile->frames; i++)
		fprintf(out, "%u,", profile->frame[i].name);
	fprintf(out, "%zu],\n\"object\":[", profile->texts);
	for (size_t i = 0; i < profile->frames; i++)
		fprintf(out, "%u,", profile->frame[i].object);
	fprintf(out, "%zu],\n", profile->texts);
}

/* Nodes have a number more than in the profile, since node 0 is all of it. */
static void put_nodes(const struct profile *profile, FILE *out)
{
	fputs("\"parent\":[-1", out);
	for (size_t i = 0; i < profile->nodes; i++) {
		uint32_t parent = profile->node[i].parent;

		fprintf(out, ",%u", parent == PROFILE_NONE ? 0 : parent + 1);
	}
	fprintf(out, "],\n\"frame\":[%zu", profile->frames);
	for (size_t i = 0; i < profile->nodes; i++)
		fprintf(out, ",%u", profile->node[i].frame);
	fputs("],\n", out);
}

/* What each node executed itself, of one event; the caller frees it. */
static uint64_t *self_weights(const struct profile *profile, uint32_t event)
{
	uint64_t *self = calloc(profile->nodes + 1, sizeof(*self));

	if (!self)
		abort();
	for (size_t i = 0; i < profile->samples; i++) {
		if (profile->sample[i].event == event)
			self[profile->sample[i].node] += profile->sample[i].weight;
	}
	return self;
}

static void put_self(const struct profile *profile, FILE *out)
{
	fputs("\"self\":[", out);
	for (uint32_t event = 0; event < profile->events; event++) {
		uint64_t *self = self_weights(profile, event);
		const char *before = "";

		fputs(event ? ",\n[" : "[", out);
		for (size_t i = 0; i < profile->nodes; i++) {
			if (!self[i])
				continue;
			fprintf(out, "%s%zu,%ju", before, i + 1, (uintmax_t)self[i]);
			before = ",";
		}
		fputs("]", out);
		free(self);
	}
	fputs("]}\n", out);
}

static void put_data(const struct profile *profile, FILE *out)
{
	put_events(profile, out);
	put_texts(profile, out);
	put_frames(profile, out);
	put_nodes(profile, out);
	put_self(profile, out);
}

/* What a function executed, itself and with all that it called. */
struct row {
	uint32_t frame;
	uint64_t self, total;
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* Whether a function that a node is in is also among its callers: it has been counted there. */
static bool recurs(const struct profile *profile, uint32_t node)
{
	uint32_t frame = profile->node[node].frame;

	while ((node = profile->node[node].parent) != PROFILE_NONE) {
		if (profile->node[node].frame == frame)
			return true;
	}
	return false;
}

/* All functions of one event, those first that executed most themselves; the caller frees it. */
static struct row *make_rows(const struct profile *profile, uint32_t event)
{
	struct row *rows = calloc(profile->frames + 1, sizeof(*rows));
	uint64_t *weight = self_weights(profile, event);

	if (!rows)
		abort();
	for (uint32_t i = 0; i < profile->frames; i++)
		rows[i].frame = i;
	for (uint32_t i = 0; i < profile->nodes; i++)
		rows[profile->node[i].frame].self += weight[i];
	for (uint32_t i = (uint32_t)profile->nodes; i-- > 0;) {
		uint32_t parent = profile->node[i].parent;

		if (parent != PROFILE_NONE)
			weight[parent] += weight[i];
	}
	for (uint32_t i = 0; i < profile->nodes; i++) {
		if (!recurs(profile, i))
			rows[profile->node[i].frame].total += weight[i];
	}
	qsort(rows, profile->frames, sizeof(*rows), compare_rows);
	free(weight);
	return rows;
}

static void put_row(const struct profile *profile, const struct row *row, uint64_t all, FILE *out)
{
	const struct profile_frame *frame = &profile->frame[row->frame];
	double whole = all ? (double)all : 1;

	fprintf(out,
		"<tr><td class=\"n\">%ju</td><td class=\"n\">%.2f%%</td><td class=\"n\">%.2f%%</td><td>",
		(uintmax_t)row->self, 100 * (double)row->self / whole,
		100 * (double)row->total / whole);
	html_text(out, profile->text[frame->name]);
	fputs("</td><td>", out);
	html_text(out, frame->kind == PROFILE_INLINED ? "inlined" : profile->text[frame->object]);
	fputs("</td></tr>\n", out);
}

static void put_table(const struct profile *profile, FILE *out)
{
	for (uint32_t event = 0; event < profile->events; event++) {
		struct row *rows = make_rows(profile, event);

		fputs("<table>\n<tr><th class=\"n\">", out);
		html_text(out, profile->text[profile->event[event].name]);
		fputs("</th><th class=\"n\">itself</th><th class=\"n\">with callees</th>"
		      "<th>function</th><th>in</th></tr>\n",
		      out);
		for (size_t i = 0; i < profile->frames && i < TABLE_ROWS && rows[i].self; i++)
			put_row(profile, &rows[i], profile->event[event].weight, out);
		fputs("</table>\n", out);
		free(rows);
	}
}

static void put_total(const struct profile *profile, FILE *out)
{
	if (profile->events) {
		fprintf(out, "%ju ", (uintmax_t)profile->event[0].weight);
		html_text(out, profile->text[profile->event[0].name]);
	}
}

/* Puts in what stands for a @MARK@ of the page. */
static void put_part(const char *mark, const struct profile *profile, const char *title, FILE *out)
{
	if (strncmp(mark, "@TITLE@", 7) == 0)
		html_text(out, title);
	else if (strncmp(mark, "@STYLE@", 7) == 0)
		fputs(flame_style, out);
	else if (strncmp(mark, "@TOTAL@", 7) == 0)
		put_total(profile, out);
	else if (strncmp(mark, "@TABLE@", 7) == 0)
		put_table(profile, out);
	else if (strncmp(mark, "@DATA@", 6) == 0)
		put_data(profile, out);
	else
		fputs(flame_script, out);
}

void export_flamegraph(const struct profile *profile, const char *title, FILE *out)
{
	const char *at = flame_page, *mark;

	while ((mark = strchr(at, '@'))) {
		fwrite(at, 1, (size_t)(mark - at), out);
		put_part(mark, profile, title, out);
		at = strchr(mark + 1, '@') + 1;
	}
	fputs(at, out);
}
