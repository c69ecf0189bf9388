/* SPDX-License-Identifier: BSD-2-Clause */
/* The progress line; see progress.h. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"
#include "say.h"

enum { INTERVAL = 100 /* ms between two changes of a percentage */ };

static struct {
	char *what; /* NULL: nothing is going on */
	char step[80];
	int percent; /* -1: unknown */
	bool terminal;
	struct timespec begin, shown;
} state;

static long milliseconds_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - then->tv_sec) * 1000 + (now.tv_nsec - then->tv_nsec) / 1000000;
}

static void show(void)
{
	char percent[16] = "";

	if (state.percent >= 0)
		snprintf(percent, sizeof(percent), " %d%%", state.percent);
	fprintf(stderr, "\r\033[Ktally: %s: %s%s, %ld s", state.what, state.step, percent,
		milliseconds_since(&state.begin) / 1000);
	clock_gettime(CLOCK_MONOTONIC, &state.shown);
}

/* A terminal on which a line can change. */
static bool can_change(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

void progress_begin(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&state.what, fmt, args) < 0)
		abort();
	va_end(args);
	state.terminal = can_change();
	state.percent = -1;
	clock_gettime(CLOCK_MONOTONIC, &state.begin);
	if (!state.terminal)
		say("%s", state.what);
}

void progress_step(const char *step)
{
	snprintf(state.step, sizeof(state.step), "%s", step);
	state.percent = -1;
	if (!state.what)
		return;
	if (state.terminal)
		show();
	else
		say("  %s", step);
}

void progress_percent(unsigned int percent)
{
	if (!state.what || !state.terminal || milliseconds_since(&state.shown) < INTERVAL)
		return;
	state.percent = percent > 100 ? 100 : (int)percent;
	show();
}

void progress_tick(void)
{
	if (state.what && state.terminal && milliseconds_since(&state.shown) >= INTERVAL)
		show();
}

void progress_end(void)
{
	if (state.what && state.terminal)
		fputs("\r\033[K", stderr);
	free(state.what);
	state.what = NULL;
}
