/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * explore.c - stories played in many orders.
 *
 * A play is determined by the choices made whenever several CPUs can go on.
 * sim_explore() plays a story with all sequences of choices: it remembers those
 * of the last play and how many there were each time, changes the last one that
 * has an alternative left, and starts anew. Choice 0 is always to go on with
 * the CPU that had the turn, or else with the next one in order; each CPU that
 * is passed over is a delay, and a play has only so many of them. Nearly all
 * races need very few.
 */
#include <stdlib.h>

#include "machine.h"

#define MAX_CHOICES 4096

static struct {
	unsigned char made[MAX_CHOICES], of[MAX_CHOICES];
	unsigned int depth, length; /* in this play; decided beforehand */
	unsigned int delays, bound;
} path;

static unsigned int bias; /* percent: stay with the CPU that had the turn */

static unsigned int choose_path(unsigned int of, int last)
{
	unsigned int n = of;
	unsigned int first = last >= 0 ? (unsigned int)last : 0, choice = 0;

	if (path.delays == path.bound)
		return first;
	if (n > path.bound - path.delays + 1)
		n = path.bound - path.delays + 1;
	sim_assert(path.depth < MAX_CHOICES);
	if (path.depth < path.length) {
		choice = path.made[path.depth];
		if (path.of[path.depth] != n)
			sim_fail("the story does not repeat itself");
	} else {
		path.made[path.depth] = 0;
		path.of[path.depth] = (unsigned char)n;
	}
	path.depth++;
	path.delays += choice;
	return (first + choice) % of;
}

static unsigned int choose_random(unsigned int n, int last)
{
	if (last >= 0 && sim_random(100) < bias)
		return (unsigned int)last;
	return (unsigned int)sim_random(n);
}

#define ALL_POINTS ((1U << SIM_AT_NR) - 1)

static void play(const struct sim_story *story, unsigned int (*choose)(unsigned int, int))
{
	struct sim_script *scripts[4] = {NULL};
	uint64_t seed = sim.random;

	sim_reset();
	sim.random = seed;
	story->setup();
	sim_settle();
	sim.choose = choose;
	sim.last = NULL;
	sim.turn_points = story->points != 0 ? story->points : ALL_POINTS & ~(1U << SIM_AT_ALLOC);
	for (unsigned int i = 0; i < 4; i++)
		if (story->scripts[i] != NULL)
			scripts[i] = sim_script(story->scripts[i], NULL);
	for (unsigned int i = 0; i < 4; i++)
		if (scripts[i] != NULL)
			sim_finish(scripts[i]);
	sim_settle();
	sim.choose = NULL;
	sim.turn_points = 0;
	if (story->check != NULL)
		story->check();
	seed = sim.random;
	sim_reset();
	sim.random = seed;
}

/* The next sequence of choices; false when there is none. */
static bool next_path(void)
{
	while (path.depth > 0 && path.made[path.depth - 1] + 1 == path.of[path.depth - 1])
		path.depth--;
	if (path.depth == 0)
		return false;
	path.made[path.depth - 1]++;
	path.length = path.depth;
	return true;
}

unsigned long sim_explore(const struct sim_story *story, unsigned int delays, unsigned long limit)
{
	unsigned long plays = 0;

	path.length = 0;
	path.bound = delays;
	do {
		if (plays++ == limit)
			sim_fail("there are more than %lu plays", limit);
		path.depth = path.delays = 0;
		play(story, choose_path);
	} while (next_path());
	return plays;
}

void sim_shuffle(const struct sim_story *story, uint64_t seed, unsigned long plays)
{
	sim_seed(seed);
	for (unsigned long i = 0; i < plays; i++) {
		bias = (unsigned int)sim_random(100);
		play(story, choose_random);
	}
}
