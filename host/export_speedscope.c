/* SPDX-License-Identifier: BSD-2-Clause */
/* Speedscope's format; see export.h. */
#include <stdlib.h>

#include "export.h"
#include "json.h"

static void put_frames(const struct profile *profile, FILE *out)
{
	fputs("\"shared\":{\"frames\":[", out);
	for (size_t i = 0; i < profile->frames; i++) {
		const struct profile_frame *frame = &profile->frame[i];
		const char *object = profile->text[frame->object];

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		json_text(out, profile->text[frame->name]);
		if (*object) {
			fputs(",\"file\":", out);
			json_text(out, object);
		}
		fputc('}', out);
	}
	fputs("]}", out);
}

/* The frames of a stack, from the outermost on, without the thread's name. */
static void put_stack(const struct profile *profile, uint32_t node, FILE *out)
{
	uint32_t parent = profile->node[node].parent;

	if (parent == PROFILE_NONE)
		return;
	put_stack(profile, parent, out);
	if (profile->node[parent].parent != PROFILE_NONE)
		fputc(',', out);
	fprintf(out, "%u", profile->node[node].frame);
}

static bool belongs(const struct profile_sample *sample, uint32_t event, uint32_t thread)
{
	return sample->event == event && sample->thread == thread;
}

/* The samples of one event in one thread, and their weights. */
static void put_samples(const struct profile *profile, uint32_t event, uint32_t thread, FILE *out)
{
	const char *before = "\n";

	fputs("\"samples\":[", out);
	for (size_t i = 0; i < profile->samples; i++) {
		if (!belongs(&profile->sample[i], event, thread))
			continue;
		fprintf(out, "%s[", before);
		put_stack(profile, profile->sample[i].node, out);
		fputc(']', out);
		before = ",\n";
	}
	fputs("],\n\"weights\":[", out);
	before = "";
	for (size_t i = 0; i < profile->samples; i++) {
		if (!belongs(&profile->sample[i], event, thread))
			continue;
		fprintf(out, "%s%ju", before, (uintmax_t)profile->sample[i].weight);
		before = ",";
	}
	fputs("]", out);
}

static void put_name(const struct profile *profile, uint32_t event, uint32_t thread, FILE *out)
{
	const struct profile_thread *of = &profile->thread[thread];
	char *name;
	size_t size;
	FILE *text = open_memstream(&name, &size);

	if (!text)
		abort();
	fprintf(text, "%s %d/%d", profile->text[of->name], of->pid, of->tid);
	if (profile->events > 1)
		fprintf(text, ", %s", profile->text[profile->event[event].name]);
	if (fclose(text))
		abort();
	json_text(out, name);
	free(name);
}

void export_speedscope(const struct profile *profile, const char *title, FILE *out)
{
	size_t pairs = profile->events * profile->threads, number = 0, heaviest = 0;
	uint64_t *weight = calloc(pairs + 1, sizeof(*weight)), most = 0;
	const char *before = "\n";

	if (!weight)
		abort();
	for (size_t i = 0; i < profile->samples; i++) {
		const struct profile_sample *sample = &profile->sample[i];

		weight[sample->event * profile->threads + sample->thread] += sample->weight;
	}
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"tally\",\"name\":",
	      out);
	json_text(out, title);
	fputs(",\n\"profiles\":[", out);
	for (size_t pair = 0; pair < pairs; pair++) {
		uint32_t event = (uint32_t)(pair / profile->threads);
		uint32_t thread = (uint32_t)(pair % profile->threads);

		if (!weight[pair])
			continue;
		if (event == 0 && weight[pair] > most) {
			most = weight[pair];
			heaviest = number;
		}
		number++;
		fprintf(out, "%s{\"type\":\"sampled\",\"name\":", before);
		put_name(profile, event, thread, out);
		fputs(",\"unit\":\"none\",\"startValue\":0,\n", out);
		put_samples(profile, event, thread, out);
		fprintf(out, ",\n\"endValue\":%ju}", (uintmax_t)weight[pair]);
		before = ",\n";
	}
	fprintf(out, "],\n\"activeProfileIndex\":%zu,\n", heaviest);
	put_frames(profile, out);
	fputs("}\n", out);
	free(weight);
}
