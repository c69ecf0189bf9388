/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Firefox Profiler's "processed" format, version 48 (docs-developer/CHANGELOG-formats.md there); it
 * reads all older versions than its own. Its threads are ours, once for each event. Weights are its
 * "samples": the Profiler has no other unit that is no time and no bytes.
 */
#include <stdlib.h>

#include "export.h"
#include "json.h"

enum { CATEGORY_USER, CATEGORY_KERNEL };

/* What of the recording's tables a thread needs, with numbers of its own. */
struct part {
	const struct profile *profile;
	uint32_t event, thread;
	uint32_t *node, *frame, *text;		   /* ours to its, or PROFILE_NONE */
	uint32_t *old_node, *old_frame, *old_text; /* its to ours */
	uint32_t nodes, frames, texts;
};

static uint32_t *numbers(size_t count)
{
	uint32_t *array = malloc((count + 1) * sizeof(*array));

	if (!array)
		abort();
	for (size_t i = 0; i < count; i++)
		array[i] = PROFILE_NONE;
	return array;
}

static void need(uint32_t *to_its, uint32_t *to_ours, uint32_t *count, uint32_t id)
{
	if (to_its[id] == PROFILE_NONE) {
		to_its[id] = *count;
		to_ours[(*count)++] = id;
	}
}

/* A node, its callers before it, and what they refer to. The thread's name is no function. */
static void need_node(struct part *part, uint32_t node)
{
	const struct profile_node *of = &part->profile->node[node];
	const struct profile_frame *frame = &part->profile->frame[of->frame];

	if (of->parent == PROFILE_NONE || part->node[node] != PROFILE_NONE)
		return;
	need_node(part, of->parent);
	need(part->node, part->old_node, &part->nodes, node);
	need(part->frame, part->old_frame, &part->frames, of->frame);
	need(part->text, part->old_text, &part->texts, frame->name);
	need(part->text, part->old_text, &part->texts, frame->object);
}

static bool belongs(const struct part *part, size_t sample)
{
	return part->profile->sample[sample].event == part->event &&
	       part->profile->sample[sample].thread == part->thread;
}

/* One column of a table: NAME:[values]. */
#define COLUMN(out, name, count, ...)                    \
	do {                                             \
		fputs(",\"" name "\":[", out);           \
		for (uint32_t i = 0; i < (count); i++) { \
			fputs(i ? "," : "", out);        \
			fprintf(out, __VA_ARGS__);       \
		}                                        \
		fputs("]", out);                         \
	} while (0)

static const struct profile_frame *frame_of(const struct part *part, uint32_t i)
{
	return &part->profile->frame[part->old_frame[i]];
}

static int category_of(const struct profile_frame *frame)
{
	return frame->kind == PROFILE_KERNEL ? CATEGORY_KERNEL : CATEGORY_USER;
}

/* The file that a function is in; there is none for one that was inlined. */
static int resource_of(const struct part *part, const struct profile_frame *frame)
{
	return *part->profile->text[frame->object] ? (int)part->text[frame->object] : -1;
}

/* Frames and functions are the same here: nothing is told apart within a function. */
static void put_frames(const struct part *part, FILE *out)
{
	uint32_t count = part->frames;

	fprintf(out, ",\n\"frameTable\":{\"length\":%u", count);
	COLUMN(out, "address", count, "-1");
	COLUMN(out, "inlineDepth", count, "0");
	COLUMN(out, "category", count, "%d", category_of(frame_of(part, i)));
	COLUMN(out, "subcategory", count, "0");
	COLUMN(out, "func", count, "%u", i);
	COLUMN(out, "nativeSymbol", count, "null");
	COLUMN(out, "innerWindowID", count, "null");
	COLUMN(out, "implementation", count, "null");
	COLUMN(out, "line", count, "null");
	COLUMN(out, "column", count, "null");
	fprintf(out, "},\n\"funcTable\":{\"length\":%u", count);
	COLUMN(out, "isJS", count, "false");
	COLUMN(out, "relevantForJS", count, "false");
	COLUMN(out, "name", count, "%u", part->text[frame_of(part, i)->name]);
	COLUMN(out, "resource", count, "%d", resource_of(part, frame_of(part, i)));
	COLUMN(out, "fileName", count, "null");
	COLUMN(out, "lineNumber", count, "null");
	COLUMN(out, "columnNumber", count, "null");
	fputs("}", out);
}

/* Every text is a resource, too, so that they have the same numbers; few are used as such. */
static void put_texts(const struct part *part, FILE *out)
{
	uint32_t count = part->texts;

	fprintf(out, ",\n\"resourceTable\":{\"length\":%u", count);
	COLUMN(out, "lib", count, "null");
	COLUMN(out, "name", count, "%u", i);
	COLUMN(out, "host", count, "null");
	COLUMN(out, "type", count, "1");
	fputs("},\n\"stringArray\":[", out);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_text(out, part->profile->text[part->old_text[i]]);
	}
	fputs("]", out);
}

static void put_stacks(const struct part *part, FILE *out)
{
	const struct profile_node *node = part->profile->node;

	fprintf(out, ",\n\"stackTable\":{\"length\":%u,\"prefix\":[", part->nodes);
	for (uint32_t i = 0; i < part->nodes; i++) {
		uint32_t prefix = part->node[node[part->old_node[i]].parent];

		fputs(i ? "," : "", out);
		if (prefix == PROFILE_NONE)
			fputs("null", out);
		else
			fprintf(out, "%u", prefix);
	}
	fputs("]", out);
	COLUMN(out, "frame", part->nodes, "%u", part->frame[node[part->old_node[i]].frame]);
	COLUMN(out, "category", part->nodes, "%d",
	       category_of(&part->profile->frame[node[part->old_node[i]].frame]));
	COLUMN(out, "subcategory", part->nodes, "0");
	fputs("}", out);
}

static void put_time(FILE *out, uint64_t ns)
{
	fprintf(out, "%ju.%06ju", (uintmax_t)(ns / 1000000), (uintmax_t)(ns % 1000000));
}

static void put_samples(const struct part *part, uint64_t begin, FILE *out)
{
	const struct profile *profile = part->profile;
	static const char *const columns[] = {"stack", "time", "weight"};
	uint32_t length = 0;

	fputs(",\n\"samples\":{\"weightType\":\"samples\"", out);
	for (int column = 0; column < 3; column++) {
		fprintf(out, ",\n\"%s\":[", columns[column]);
		length = 0;
		for (size_t i = 0; i < profile->samples; i++) {
			const struct profile_sample *sample = &profile->sample[i];

			if (!belongs(part, i))
				continue;
			fputs(length++ ? "," : "", out);
			if (column == 0 && part->node[sample->node] == PROFILE_NONE)
				fputs("null", out);
			else if (column == 0)
				fprintf(out, "%u", part->node[sample->node]);
			else if (column == 1)
				put_time(out, sample->time - begin);
			else
				fprintf(out, "%ju", (uintmax_t)sample->weight);
		}
		fputs("]", out);
	}
	fprintf(out, ",\"length\":%u}", length);
}

static void put_head(const struct part *part, FILE *out)
{
	const struct profile *profile = part->profile;
	const struct profile_thread *thread = &profile->thread[part->thread];
	char *name;
	size_t size;
	FILE *text = open_memstream(&name, &size);

	if (!text)
		abort();
	fputs(profile->text[thread->name], text);
	if (profile->events > 1)
		fprintf(text, " (%s)", profile->text[profile->event[part->event].name]);
	if (fclose(text))
		abort();
	fputs("{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
	      "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"name\":",
	      out);
	json_text(out, name);
	fputs(",\"processName\":", out);
	json_text(out, profile->text[thread->name]);
	fprintf(out, ",\"isMainThread\":%s,\"pid\":\"%d\",\"tid\":%d,\n",
		thread->pid == thread->tid ? "true" : "false", thread->pid, thread->tid);
	fputs("\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
	      "\"category\":[],\"length\":0},\n"
	      "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
	      "\"length\":0}",
	      out);
	free(name);
}

static void put_thread(struct part *part, uint64_t begin, FILE *out)
{
	const struct profile *profile = part->profile;

	part->nodes = part->frames = part->texts = 0;
	part->node = numbers(profile->nodes);
	part->old_node = numbers(profile->nodes);
	part->frame = numbers(profile->frames);
	part->old_frame = numbers(profile->frames);
	part->text = numbers(profile->texts);
	part->old_text = numbers(profile->texts);
	for (size_t i = 0; i < profile->samples; i++) {
		if (belongs(part, i))
			need_node(part, profile->sample[i].node);
	}
	put_head(part, out);
	put_frames(part, out);
	put_texts(part, out);
	put_stacks(part, out);
	put_samples(part, begin, out);
	fputs("}", out);
	free(part->node);
	free(part->old_node);
	free(part->frame);
	free(part->old_frame);
	free(part->text);
	free(part->old_text);
}

/* `interval` is the usual time between samples, in ns. */
static void put_meta(const char *title, uint64_t interval, FILE *out)
{
	fputs("{\"meta\":{\"interval\":", out);
	put_time(out, interval ? interval : 1);
	fputs(",\"startTime\":0,\"processType\":0,\"product\":", out);
	json_text(out, title);
	fputs(",\"stackwalk\":1,\"debug\":false,\"toolkit\":\"\",\"version\":28,"
	      "\"preprocessedProfileVersion\":48,\"symbolicated\":true,\"importedFrom\":\"tally\",\n"
	      "\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,"
	      "\"sourceCodeIsNotOnSearchfox\":true,\"markerSchema\":[],"
	      "\"extensions\":{\"id\":[],\"name\":[],\"baseURL\":[],\"length\":0},\n"
	      "\"categories\":[{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Kernel\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}]},\n"
	      "\"libs\":[],\"pages\":[],\"threads\":[",
	      out);
}

void export_firefox(const struct profile *profile, const char *title, FILE *out)
{
	size_t pairs = profile->events * profile->threads;
	bool *there = calloc(pairs + 1, sizeof(*there));
	uint64_t begin = UINT64_MAX, end = 0;
	const char *before = "\n";

	if (!there)
		abort();
	for (size_t i = 0; i < profile->samples; i++) {
		const struct profile_sample *sample = &profile->sample[i];

		there[sample->thread * profile->events + sample->event] = true;
		begin = sample->time < begin ? sample->time : begin;
		end = sample->time > end ? sample->time : end;
	}
	put_meta(title, profile->samples ? (end - begin) / profile->samples : 0, out);
	for (size_t pair = 0; pair < pairs; pair++) {
		struct part part = {.profile = profile,
				    .thread = (uint32_t)(pair / profile->events),
				    .event = (uint32_t)(pair % profile->events)};

		if (!there[pair])
			continue;
		fputs(before, out);
		put_thread(&part, begin, out);
		before = ",\n";
	}
	fputs("]}\n", out);
	free(there);
}
