/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `tally budget`: the exact counts of commands in a small text file, and whether they are still
 * true. docs/ci.md describes the file for people.
 *
 *	budget_file.c      the file as text
 *	budget_run.c       one command under perf stat
 *	budget_figures.c   what perf stat said
 *	budget_compare.c   what has changed
 *	budget.c           the command line
 */
#ifndef HOST_BUDGET_H
#define HOST_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "options.h"

/* What one event counted. */
struct budget_count {
	char *event; /* as perf names it */
	char *text;  /* the figure: digits, perhaps with a point and decimals */
};

/* A command and its counts: a section of the file. All texts are malloc'ed; NULL if not given. */
struct budget_entry {
	char *name;
	char *comments; /* the lines of comments before it and in it, each with its '\n' */
	char *command;	/* as words_join() writes it */
	char *options;	/* tally's general options, the same way */
	char *input;	/* the file that is its standard input */
	char *events;	/* for perf stat -e; NULL: budget_default_events */
	char *tolerance;
	unsigned int line; /* of its header, from 1; 0 if it is new */
	struct budget_count *counts;
	size_t nr_counts;
	bool recorded; /* in this run */
};

struct budget {
	char *comments, *last_comments; /* the lines of comments at the file's start and end */
	struct budget_entry *entries;
	size_t nr_entries;
};

extern const char budget_default_events[];

/*
 * Reads the text of a file. Returns NULL, or what is wrong, with the number of the line ("line 3:
 * ..."), which the caller frees; either way budget_free() is to be called.
 */
char *budget_parse(struct budget *budget, const char *text, size_t size);
void budget_print(const struct budget *budget, FILE *out);
void budget_free(struct budget *budget);

struct budget_entry *budget_find(const struct budget *budget, const char *name);

/* A new entry at the end; pointers to others are no longer good. */
struct budget_entry *budget_add(struct budget *budget, const char *name);

/* Puts the entries of `from` that have been recorded in the place of those of their names, or adds them. */
void budget_merge(struct budget *to, struct budget *from);

void budget_clear_counts(struct budget_entry *entry);

/* Whether a text can be an entry's name: one line without brackets. */
bool budget_name_is_good(const char *name);

/* A percentage, "0.5%" or "0.5". False if the text is none. */
bool budget_tolerance(const char *text, double *percent);

/* What perf stat -x '\t' and guest/perf_status.c said of a command. */
struct budget_figures {
	struct budget_count *counts;
	size_t nr_counts;
	int signal; /* that ended the command, or 0 */
};

/* Reads these lines. Returns NULL, or why they are no exact counts, which the caller frees. */
char *budget_read_figures(struct budget_figures *figures, const char *text, size_t size);
void budget_free_figures(struct budget_figures *figures);

/*
 * Runs an entry's command. Returns its exit status (128 + N if signal N ended it), and the
 * figures if there are any. Ends the program if the entry cannot be run at all.
 */
int budget_run(const struct budget_entry *entry, const struct options *options,
	       struct budget_figures *figures);

/*
 * Says on standard error how figures compare with an entry's counts, where `path` is its file.
 * Returns whether one has changed beyond the tolerance. Ends the program if there is nothing to
 * compare.
 */
bool budget_compare(const struct budget_entry *entry, const struct budget_figures *figures,
		    const char *path);

/* Says what changes, and moves the figures into the entry. */
void budget_record(struct budget_entry *entry, struct budget_figures *figures);

/* The subcommand. */
int budget_main(const struct options *options);

#endif
