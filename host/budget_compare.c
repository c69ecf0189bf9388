/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether counts are what they were. Figures are text until they are compared, so that what is
 * written is what perf said; the comparison is exact up to 64 bits.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "say.h"

/* How an event's count has changed. */
struct change {
	const char *event, *old, *now;
	long double step, percent;
	bool over; /* beyond the tolerance */
};

/* A figure with its thousands apart; the caller frees it. */
static char *grouped(const char *text)
{
	size_t whole = strspn(text, "0123456789"), used = 0;
	char *out = malloc(2 * strlen(text) + 1);

	if (!out)
		abort();
	for (size_t i = 0; i < whole; i++) {
		if (i && (whole - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = text[i];
	}
	strcpy(out + used, text + whole);
	return out;
}

static const char *count_of(const struct budget_count *counts, size_t nr_counts, const char *event)
{
	for (size_t i = 0; i < nr_counts; i++) {
		if (strcmp(counts[i].event, event) == 0)
			return counts[i].text;
	}
	return NULL;
}

static struct change change_of(const char *event, const char *old, const char *now,
			       double tolerance)
{
	struct change change = {.event = event, .old = old, .now = now};
	long double before = strtold(old, NULL);

	change.step = strtold(now, NULL) - before;
	if (before > 0)
		change.percent = change.step * 100 / before;
	else
		change.percent = change.step > 0 ? INFINITY : 0;
	change.over = fabsl(change.step) * 100 > (long double)tolerance * before;
	return change;
}

static void show_change(const struct change *change)
{
	int decimals = strchr(change->old, '.') || strchr(change->now, '.') ? 3 : 0;
	char *size = textf("%.*Lf", decimals, fabsl(change->step));
	char *old = grouped(change->old), *now = grouped(change->now), *step = grouped(size);
	char *with_sign = textf("%c%s", change->step < 0 ? '-' : '+', step);

	fprintf(stderr, "  %-20s %18s %18s %16s  %+.6Lg%%\n", change->event, old, now, with_sign,
		change->percent);
	free(with_sign);
	free(step);
	free(now);
	free(old);
	free(size);
}

/* Every count has a figure, and every figure a count. */
static void check_complete(const struct budget_entry *entry, const struct budget_figures *figures,
			   const char *path)
{
	const struct budget_count *counts = entry->counts;

	for (size_t i = 0; i < entry->nr_counts; i++) {
		if (!count_of(figures->counts, figures->nr_counts, counts[i].event))
			die(EXIT_USAGE, "%s: [%s] has a count of %s, which is not among its events",
			    path, entry->name, counts[i].event);
	}
	for (size_t i = 0; i < figures->nr_counts; i++) {
		if (!count_of(counts, entry->nr_counts, figures->counts[i].event))
			die(EXIT_USAGE,
			    "%s: [%s] has no count of %s yet; to record it, use --update", path,
			    entry->name, figures->counts[i].event);
	}
}

bool budget_compare(const struct budget_entry *entry, const struct budget_figures *figures,
		    const char *path)
{
	struct change *changes = calloc(entry->nr_counts + 1, sizeof(*changes));
	bool changed = false, over = false;
	double tolerance = 0;

	if (!changes)
		abort();
	check_complete(entry, figures, path);
	if (entry->tolerance)
		budget_tolerance(entry->tolerance, &tolerance);
	for (size_t i = 0; i < entry->nr_counts; i++) {
		const struct budget_count *old = &entry->counts[i];
		const char *now = count_of(figures->counts, figures->nr_counts, old->event);

		changes[i] = change_of(old->event, old->text, now, tolerance);
		changed = changed || changes[i].step != 0;
		over = over || changes[i].over;
	}
	if (changed) {
		say("%s: counts have changed%s (%s, line %u; tolerance %.10g%%)", entry->name,
		    over ? "" : " a little", path, entry->line, tolerance);
		fprintf(stderr, "  %-20s %18s %18s %16s\n", "event", "recorded", "now", "change");
	}
	for (size_t i = 0; i < entry->nr_counts; i++) {
		if (changed)
			show_change(&changes[i]);
		else
			say("%s: %s %s, as recorded", entry->name, changes[i].event,
			    changes[i].now);
	}
	free(changes);
	return over;
}

void budget_record(struct budget_entry *entry, struct budget_figures *figures)
{
	for (size_t i = 0; i < figures->nr_counts; i++) {
		const struct budget_count *now = &figures->counts[i];
		const char *old = count_of(entry->counts, entry->nr_counts, now->event);

		if (old && strcmp(old, now->text) == 0)
			say("%s: %s %s, as before", entry->name, now->event, now->text);
		else if (old)
			say("%s: %s %s, before %s", entry->name, now->event, now->text, old);
		else
			say("%s: %s %s", entry->name, now->event, now->text);
	}
	budget_clear_counts(entry);
	entry->counts = figures->counts;
	entry->nr_counts = figures->nr_counts;
	entry->recorded = true;
	figures->counts = NULL;
	figures->nr_counts = 0;
}
