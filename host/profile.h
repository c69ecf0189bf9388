/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording in memory, as pictures need it: samples, each with an event, a thread, a time, a weight
 * and a stack. Stacks are paths in one tree, so that what they have in common is there once.
 */
#ifndef HOST_PROFILE_H
#define HOST_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_NONE UINT32_MAX

enum profile_kind {
	PROFILE_THREAD, /* no function: the name of a thread, below which its stacks are */
	PROFILE_USER,
	PROFILE_KERNEL,
	PROFILE_INLINED, /* a function of user mode that was compiled into its caller */
};

struct profile_frame {
	enum profile_kind kind;
	uint32_t name, object; /* texts; the object is the file with the code */
};

/* A frame and the stack that called it. Parents have smaller numbers. */
struct profile_node {
	uint32_t parent; /* or PROFILE_NONE: then the frame is a PROFILE_THREAD */
	uint32_t frame;
};

struct profile_event {
	uint32_t name;
	uint64_t weight, samples; /* of all samples */
};

/* A thread under one name; exec(2) and prctl(2) change names. */
struct profile_thread {
	int pid, tid;
	uint32_t name;
};

struct profile_sample {
	uint64_t time;	 /* ns of the recording's clock */
	uint64_t weight; /* the period: events that the sample stands for */
	uint32_t event, thread, node;
};

struct profile {
	const char **text;
	struct profile_frame *frame;
	struct profile_node *node;
	struct profile_event *event;
	struct profile_thread *thread;
	struct profile_sample *sample;
	size_t texts, frames, nodes, events, threads, samples;
	struct profile_index *index; /* where each of them is found again */
};

void profile_init(struct profile *profile);
void profile_free(struct profile *profile);

/* Each gives the number of the thing that is so, made if need be. */
uint32_t profile_text(struct profile *profile, const char *text, size_t length);
uint32_t profile_frame(struct profile *profile, struct profile_frame frame);
uint32_t profile_node(struct profile *profile, uint32_t parent, uint32_t frame);
uint32_t profile_event(struct profile *profile, uint32_t name);
uint32_t profile_thread(struct profile *profile, struct profile_thread thread);

/* Adds a sample, and its weight to its event. */
void profile_add(struct profile *profile, const struct profile_sample *sample);

/* The name of a node's frame. */
const char *profile_name(const struct profile *profile, uint32_t node);

#endif
