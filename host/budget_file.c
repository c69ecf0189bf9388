/* SPDX-License-Identifier: BSD-2-Clause */
/* A budget's file: sections of lines "key = value", and comments, which are kept. */
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "say.h"
#include "words.h"

const char budget_default_events[] = "instructions:u";

/* What is read: a line, without blanks at its ends. */
struct reader {
	struct budget *budget;
	struct budget_entry *entry; /* the section that the line is in, or NULL */
	char *comments;		    /* that are before something yet to come */
	unsigned int line;
	bool has_format;
};

static void append(char **text, const char *more)
{
	char *both = textf("%s%s", *text ? *text : "", more);

	free(*text);
	*text = both;
}

struct budget_entry *budget_find(const struct budget *budget, const char *name)
{
	for (size_t i = 0; i < budget->nr_entries; i++) {
		if (strcmp(budget->entries[i].name, name) == 0)
			return &budget->entries[i];
	}
	return NULL;
}

struct budget_entry *budget_add(struct budget *budget, const char *name)
{
	struct budget_entry *entry;

	budget->entries =
		reallocarray(budget->entries, budget->nr_entries + 1, sizeof(*budget->entries));
	if (!budget->entries)
		abort();
	entry = &budget->entries[budget->nr_entries++];
	*entry = (struct budget_entry){.name = textf("%s", name)};
	return entry;
}

/* All but the name and the comments, which are the file's, changes places. */
static void swap_entries(struct budget_entry *a, struct budget_entry *b)
{
	struct budget_entry old = *a;

	*a = *b;
	a->name = old.name;
	a->comments = old.comments;
	old.name = b->name;
	old.comments = b->comments;
	*b = old;
}

void budget_merge(struct budget *to, struct budget *from)
{
	for (size_t i = 0; i < from->nr_entries; i++) {
		struct budget_entry *entry = &from->entries[i];
		struct budget_entry *old = budget_find(to, entry->name);

		if (entry->recorded)
			swap_entries(old ? old : budget_add(to, entry->name), entry);
	}
}

bool budget_name_is_good(const char *name)
{
	if (!*name || *name == ' ' || name[strlen(name) - 1] == ' ')
		return false;
	for (; *name; name++) {
		if ((unsigned char)*name < ' ' || *name == 0x7f || *name == '[' || *name == ']')
			return false;
	}
	return true;
}

bool budget_tolerance(const char *text, double *percent)
{
	char *end;

	if (!strchr("0123456789", *text) || !*text || strpbrk(text, "xXpPnN"))
		return false;
	*percent = strtod(text, &end);
	return (!*end || strcmp(end, "%") == 0) && *percent >= 0 && *percent <= 1000;
}

static bool is_figure(const char *text)
{
	size_t digits = strspn(text, "0123456789"), decimals = 0;

	if (text[digits] == '.') {
		decimals = strspn(text + digits + 1, "0123456789");
		if (!decimals)
			return false;
		decimals++;
	}
	return digits > 0 && digits <= 20 && decimals < 10 && !text[digits + decimals];
}

static char *take_count(struct budget_entry *entry, const char *event, const char *text)
{
	if (!*event)
		return textf("a count needs the name of an event");
	if (!is_figure(text))
		return textf("'%s' is no count", text);
	for (size_t i = 0; i < entry->nr_counts; i++) {
		if (strcmp(entry->counts[i].event, event) == 0)
			return textf("there is a count of %s already", event);
	}
	entry->counts = reallocarray(entry->counts, entry->nr_counts + 1, sizeof(*entry->counts));
	if (!entry->counts)
		abort();
	entry->counts[entry->nr_counts++] =
		(struct budget_count){textf("%s", event), textf("%s", text)};
	return NULL;
}

/* Why a value cannot be that of a key, or NULL. */
static char *check_value(const char *key, const char *value)
{
	double percent;
	char **words;
	bool empty;

	if (strcmp(key, "tolerance") == 0 && !budget_tolerance(value, &percent))
		return textf("a tolerance is a percentage such as 0.5%%, not '%s'", value);
	if (strcmp(key, "command") != 0 && strcmp(key, "options") != 0)
		return *value ? NULL : textf("%s has no value", key);
	words = words_split(value);
	if (!words)
		return textf("the quotes of this %s do not match", key);
	empty = !words[0];
	words_free(words);
	return empty ? textf("%s has no value", key) : NULL;
}

static char *take_value(struct reader *reader, const char *key, const char *value)
{
	struct budget_entry *entry = reader->entry;
	const struct {
		const char *key;
		char **value;
	} keys[] = {
		{"command", &entry->command},	  {"options", &entry->options},
		{"input", &entry->input},	  {"events", &entry->events},
		{"tolerance", &entry->tolerance},
	};
	char *problem = check_value(key, value);

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(key, keys[i].key) != 0)
			continue;
		if (problem)
			return problem;
		if (*keys[i].value)
			return textf("%s is given twice", key);
		*keys[i].value = textf("%s", value);
		return NULL;
	}
	free(problem);
	return textf("there is no key '%s'", key);
}

static char *end_section(const struct reader *reader)
{
	if (reader->entry && !reader->entry->command)
		return textf("line %u: [%s] has no command", reader->entry->line,
			     reader->entry->name);
	return NULL;
}

static char *take_header(struct reader *reader, char *line)
{
	size_t length = strlen(line);
	char *problem = end_section(reader);

	if (problem)
		return problem;
	line[length - 1] = '\0';
	if (!budget_name_is_good(line + 1))
		return textf("line %u: '%s' is no name", reader->line, line + 1);
	if (budget_find(reader->budget, line + 1))
		return textf("line %u: there is a section [%s] already", reader->line, line + 1);
	reader->entry = budget_add(reader->budget, line + 1);
	reader->entry->line = reader->line;
	reader->entry->comments = reader->comments;
	reader->comments = NULL;
	return NULL;
}

/* Cuts blanks off both ends. */
static char *trim(char *text)
{
	char *end;

	text += strspn(text, " \t");
	end = text + strlen(text);
	while (end > text && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		*--end = '\0';
	return text;
}

/* The "=" of a line: for counts the last one, since events may have some in their names. */
static char *find_equals(char *line, bool count)
{
	return count ? strrchr(line, '=') : strchr(line, '=');
}

static char *take_pair(struct reader *reader, char *line)
{
	bool count = strncmp(line, "count ", 6) == 0;
	char *equals = find_equals(line, count), *problem, *placed;

	if (!equals)
		return textf("line %u: '%.40s' is neither [NAME] nor KEY = VALUE", reader->line,
			     line);
	*equals = '\0';
	line = trim(line);
	equals = trim(equals + 1);
	if (!reader->entry && strcmp(line, "format") == 0) {
		if (strcmp(equals, "1") != 0)
			return textf("line %u: this is a file of format %s; this tally knows 1",
				     reader->line, equals);
		if (reader->has_format)
			return textf("line %u: format is given twice", reader->line);
		reader->has_format = true;
		reader->budget->comments = reader->comments;
		reader->comments = NULL;
		return NULL;
	}
	if (!reader->entry)
		return textf("line %u: '%s' is before the first [NAME]", reader->line, line);
	problem = count ? take_count(reader->entry, trim(line + 6), equals)
			: take_value(reader, line, equals);
	if (!problem)
		return NULL;
	placed = textf("line %u: %s", reader->line, problem);
	free(problem);
	return placed;
}

static char *take_line(struct reader *reader, char *line)
{
	char *problem;

	line = trim(line);
	if (!*line)
		return NULL;
	if (*line == '#') {
		append(&reader->comments, line);
		append(&reader->comments, "\n");
		return NULL;
	}
	if (*line == '[' && line[strlen(line) - 1] == ']')
		problem = take_header(reader, line);
	else
		problem = take_pair(reader, line);
	if (!problem && !reader->has_format)
		problem = textf("line %u: a budget's file begins with 'format = 1'", reader->line);
	if (!problem && reader->entry && reader->comments) {
		append(&reader->entry->comments, reader->comments);
		free(reader->comments);
		reader->comments = NULL;
	}
	return problem;
}

char *budget_parse(struct budget *budget, const char *text, size_t size)
{
	struct reader reader = {.budget = budget};
	char *problem = NULL;
	size_t at = 0;

	*budget = (struct budget){.nr_entries = 0};
	while (at < size && !problem) {
		const char *newline = memchr(text + at, '\n', size - at);
		size_t length = newline ? (size_t)(newline - text) - at : size - at;
		char *line = strndup(text + at, length);

		if (!line)
			abort();
		reader.line++;
		if (strlen(line) != length)
			problem = textf("line %u: this is no text", reader.line);
		else
			problem = take_line(&reader, line);
		free(line);
		at += length + 1;
	}
	if (!problem && !reader.has_format)
		problem = textf("line 1: a budget's file begins with 'format = 1'");
	if (!problem)
		problem = end_section(&reader);
	budget->last_comments = reader.comments;
	return problem;
}

static void print_value(FILE *out, const char *key, const char *value)
{
	if (value)
		fprintf(out, "%s = %s\n", key, value);
}

void budget_print(const struct budget *budget, FILE *out)
{
	fputs(budget->comments ? budget->comments
			       : "# Exact counts; `tally budget --update` writes them anew.\n",
	      out);
	fputs("format = 1\n", out);
	for (size_t i = 0; i < budget->nr_entries; i++) {
		const struct budget_entry *entry = &budget->entries[i];

		fprintf(out, "\n%s[%s]\n", entry->comments ? entry->comments : "", entry->name);
		print_value(out, "command", entry->command);
		print_value(out, "options", entry->options);
		print_value(out, "input", entry->input);
		print_value(out, "events", entry->events);
		print_value(out, "tolerance", entry->tolerance);
		for (size_t j = 0; j < entry->nr_counts; j++)
			fprintf(out, "count %s = %s\n", entry->counts[j].event,
				entry->counts[j].text);
	}
	if (budget->last_comments)
		fprintf(out, "\n%s", budget->last_comments);
}

static void free_counts(struct budget_count *counts, size_t nr_counts)
{
	for (size_t i = 0; i < nr_counts; i++) {
		free(counts[i].event);
		free(counts[i].text);
	}
	free(counts);
}

void budget_clear_counts(struct budget_entry *entry)
{
	free_counts(entry->counts, entry->nr_counts);
	entry->counts = NULL;
	entry->nr_counts = 0;
}

void budget_free_figures(struct budget_figures *figures)
{
	free_counts(figures->counts, figures->nr_counts);
	*figures = (struct budget_figures){NULL, 0, 0};
}

void budget_free(struct budget *budget)
{
	for (size_t i = 0; i < budget->nr_entries; i++) {
		struct budget_entry *entry = &budget->entries[i];

		budget_clear_counts(entry);
		free(entry->name);
		free(entry->comments);
		free(entry->command);
		free(entry->options);
		free(entry->input);
		free(entry->events);
		free(entry->tolerance);
	}
	free(budget->entries);
	free(budget->comments);
	free(budget->last_comments);
	*budget = (struct budget){.nr_entries = 0};
}
