/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording in memory; see profile.h. */
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "profile.h"

/*
 * What identifies a thing: its kind and up to three numbers, or a text. uthash compares the bytes,
 * so every byte of a key is set.
 */
enum kind { FRAME, NODE, EVENT, THREAD };

struct key {
	uint32_t kind, a, b, c;
};

struct number_entry {
	UT_hash_handle hh;
	struct key key;
	uint32_t id;
};

struct text_entry {
	UT_hash_handle hh;
	uint32_t id;
	char text[];
};

struct profile_index {
	struct number_entry *numbers;
	struct text_entry *texts;
};

void profile_init(struct profile *profile)
{
	*profile = (struct profile){.index = calloc(1, sizeof(*profile->index))};
	if (!profile->index)
		abort();
}

void profile_free(struct profile *profile)
{
	struct number_entry *number, *next_number;
	struct text_entry *text, *next_text;

	HASH_ITER(hh, profile->index->numbers, number, next_number) {
		HASH_DEL(profile->index->numbers, number);
		free(number);
	}
	HASH_ITER(hh, profile->index->texts, text, next_text) {
		HASH_DEL(profile->index->texts, text);
		free(text);
	}
	free(profile->index);
	free(profile->text);
	free(profile->frame);
	free(profile->node);
	free(profile->event);
	free(profile->thread);
	free(profile->sample);
}

/* Room for one more in an array of `count` things, which doubles when it is full. */
static void *room(void *array, size_t count, size_t size)
{
	if (count & (count - 1))
		return array;
	array = reallocarray(array, count ? 2 * count : 1, size);
	if (!array)
		abort();
	return array;
}

uint32_t profile_text(struct profile *profile, const char *text, size_t length)
{
	struct text_entry *entry;

	HASH_FIND(hh, profile->index->texts, text, length, entry);
	if (entry)
		return entry->id;
	entry = malloc(sizeof(*entry) + length + 1);
	if (!entry)
		abort();
	memcpy(entry->text, text, length);
	entry->text[length] = '\0';
	entry->id = (uint32_t)profile->texts;
	HASH_ADD_KEYPTR(hh, profile->index->texts, entry->text, length, entry);
	profile->text = room(profile->text, profile->texts, sizeof(*profile->text));
	profile->text[profile->texts++] = entry->text;
	return entry->id;
}

/* The number of the thing with this key; `count`, the next number, if there is none yet. */
static uint32_t find(struct profile *profile, struct key key, size_t count)
{
	struct number_entry *entry;

	HASH_FIND(hh, profile->index->numbers, &key, sizeof(key), entry);
	if (entry)
		return entry->id;
	entry = malloc(sizeof(*entry));
	if (!entry)
		abort();
	entry->key = key;
	entry->id = (uint32_t)count;
	HASH_ADD(hh, profile->index->numbers, key, sizeof(key), entry);
	return entry->id;
}

uint32_t profile_frame(struct profile *profile, struct profile_frame frame)
{
	uint32_t id =
		find(profile,
		     (struct key){FRAME | (uint32_t)frame.kind << 8, frame.name, frame.object, 0},
		     profile->frames);

	if (id == profile->frames) {
		profile->frame = room(profile->frame, profile->frames, sizeof(*profile->frame));
		profile->frame[profile->frames++] = frame;
	}
	return id;
}

uint32_t profile_node(struct profile *profile, uint32_t parent, uint32_t frame)
{
	uint32_t id = find(profile, (struct key){NODE, parent, frame, 0}, profile->nodes);

	if (id == profile->nodes) {
		profile->node = room(profile->node, profile->nodes, sizeof(*profile->node));
		profile->node[profile->nodes++] = (struct profile_node){parent, frame};
	}
	return id;
}

uint32_t profile_event(struct profile *profile, uint32_t name)
{
	uint32_t id = find(profile, (struct key){EVENT, name, 0, 0}, profile->events);

	if (id == profile->events) {
		profile->event = room(profile->event, profile->events, sizeof(*profile->event));
		profile->event[profile->events++] = (struct profile_event){name, 0, 0};
	}
	return id;
}

uint32_t profile_thread(struct profile *profile, struct profile_thread thread)
{
	uint32_t id =
		find(profile,
		     (struct key){THREAD, (uint32_t)thread.pid, (uint32_t)thread.tid, thread.name},
		     profile->threads);

	if (id == profile->threads) {
		profile->thread = room(profile->thread, profile->threads, sizeof(*profile->thread));
		profile->thread[profile->threads++] = thread;
	}
	return id;
}

void profile_add(struct profile *profile, const struct profile_sample *sample)
{
	struct profile_event *event = &profile->event[sample->event];

	profile->sample = room(profile->sample, profile->samples, sizeof(*profile->sample));
	profile->sample[profile->samples++] = *sample;
	event->weight += sample->weight;
	event->samples++;
}

const char *profile_name(const struct profile *profile, uint32_t node)
{
	return profile->text[profile->frame[profile->node[node].frame].name];
}
