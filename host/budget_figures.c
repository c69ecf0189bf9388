/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What comes back of perf stat: lines of fields between tabs (perf-stat(1), "CSV FORMAT"), namely the
 * figure, its unit, the event, the time it counted for and the share of that in the time it was to
 * count for. A figure that was measured for a part of the time only is an estimate, and refused.
 */
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "say.h"

enum { FIGURE, UNIT, EVENT, TIME, SHARE, FIELDS };

static char *add_count(struct budget_figures *figures, const char *event, const char *text)
{
	for (size_t i = 0; i < figures->nr_counts; i++) {
		if (strcmp(figures->counts[i].event, event) == 0)
			return textf("%s is asked for twice", event);
	}
	figures->counts =
		reallocarray(figures->counts, figures->nr_counts + 1, sizeof(*figures->counts));
	if (!figures->counts)
		abort();
	figures->counts[figures->nr_counts++] =
		(struct budget_count){textf("%s", event), textf("%s", text)};
	return NULL;
}

static bool is_number(const char *text)
{
	return *text >= '0' && *text <= '9' && !text[strspn(text, "0123456789.")] &&
	       strlen(text) < 25;
}

/* Cuts a line into its fields; how many there are. */
static int cut(char *line, char *field[FIELDS])
{
	int count = 0;

	for (char *at = line; at && count < FIELDS; count++) {
		field[count] = at;
		at = strchr(at, '\t');
		if (at)
			*at++ = '\0';
	}
	return count;
}

static char *read_line(struct budget_figures *figures, char *line)
{
	char *field[FIELDS];
	int count;

	if (*line == '#' || !*line)
		return NULL;
	if (strncmp(line, "signal ", 7) == 0 && !strchr(line, '\t')) {
		figures->signal = atoi(line + 7);
		return NULL;
	}
	count = cut(line, field);
	if (count < FIELDS || !*field[EVENT])
		return NULL; /* a further metric of the event before */
	if (strcmp(field[FIGURE], "<not counted>") == 0)
		return textf("%s was not counted at all", field[EVENT]);
	if (strcmp(field[FIGURE], "<not supported>") == 0)
		return textf("%s cannot be counted here", field[EVENT]);
	if (!is_number(field[FIGURE]))
		return textf("perf says '%s' for %s", field[FIGURE], field[EVENT]);
	if (strtod(field[SHARE], NULL) < 100)
		return textf(
			"%s was counted only %s %% of the time, because more events were asked "
			"for than there are counters",
			field[EVENT], field[SHARE]);
	return add_count(figures, field[EVENT], field[FIGURE]);
}

char *budget_read_figures(struct budget_figures *figures, const char *text, size_t size)
{
	char *copy = strndup(text, size), *rest = copy, *line, *problem = NULL;

	*figures = (struct budget_figures){NULL, 0, 0};
	if (!copy)
		abort();
	while (!problem && (line = strsep(&rest, "\n")))
		problem = read_line(figures, line);
	free(copy);
	return problem;
}
