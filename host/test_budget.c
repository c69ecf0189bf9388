/* SPDX-License-Identifier: BSD-2-Clause */
/* Budgets as text: what is written is read again, and what is broken is told with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "budget.h"
#include "say.h"
#include "words.h"

static const char good[] = "# A file.\n"
			   "format = 1\n"
			   "\n"
			   "# Sorting.\n"
			   "# Twice.\n"
			   "[sort -n]\n"
			   "command = sort -n 'my numbers.txt'\n"
			   "options = --smp=2 --env=A=B\n"
			   "input = some file\n"
			   "events = instructions:u,armv8_pmuv3_0/event=0x11/u\n"
			   "tolerance = 0.5%\n"
			   "count instructions:u = 18446744073709551615\n"
			   "count armv8_pmuv3_0/event=0x11/u = 12.50\n"
			   "\n"
			   "[true]\n"
			   "command = true\n"
			   "\n"
			   "# The end.\n";

static char *printed(const struct budget *budget)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	budget_print(budget, out);
	fclose(out);
	return text;
}

static void test_reads_what_it_writes(void **state)
{
	struct budget budget;
	char *text;

	(void)state;
	assert_null(budget_parse(&budget, good, strlen(good)));
	assert_int_equal(budget.nr_entries, 2);
	assert_string_equal(budget.entries[0].name, "sort -n");
	assert_int_equal(budget.entries[0].line, 6);
	assert_string_equal(budget.entries[0].counts[1].event, "armv8_pmuv3_0/event=0x11/u");
	assert_string_equal(budget.entries[0].counts[1].text, "12.50");
	text = printed(&budget);
	assert_string_equal(text, good);
	free(text);
	budget_free(&budget);
}

static void test_tells_the_line(void **state)
{
	static const struct {
		const char *text, *problem;
	} broken[] = {
		{"", "line 1: a budget's file begins with 'format = 1'"},
		{"[a]\ncommand = a\n", "line 1: a budget's file begins with 'format = 1'"},
		{"format = 2\n", "line 1: this is a file of format 2; this tally knows 1"},
		{"format = 1\nhello\n", "line 2: 'hello' is neither [NAME] nor KEY = VALUE"},
		{"format = 1\ncommand = a\n", "line 2: 'command' is before the first [NAME]"},
		{"format = 1\n[]\n", "line 2: '' is no name"},
		{"format = 1\n[a]\ncommand = a\n\n[a]\n", "line 5: there is a section [a] already"},
		{"format = 1\n\n[a]\n", "line 3: [a] has no command"},
		{"format = 1\n[a]\n[b]\ncommand = b\n", "line 2: [a] has no command"},
		{"format = 1\n[a]\ncommand = 'a\n",
		 "line 3: the quotes of this command do not match"},
		{"format = 1\n[a]\ncommand =\n", "line 3: command has no value"},
		{"format = 1\n[a]\ncommand = a\ncommand = b\n", "line 4: command is given twice"},
		{"format = 1\n[a]\nspeed = 4\n", "line 3: there is no key 'speed'"},
		{"format = 1\n[a]\ncommand = a\ntolerance = -1%\n",
		 "line 4: a tolerance is a percentage such as 0.5%, not '-1%'"},
		{"format = 1\n[a]\ncommand = a\ncount e = 1e5\n", "line 4: '1e5' is no count"},
		{"format = 1\n[a]\ncommand = a\ncount e = \n", "line 4: '' is no count"},
		{"format = 1\n[a]\ncommand = a\ncount = 7\n",
		 "line 4: a count needs the name of an event"},
		{"format = 1\n[a]\ncommand = a\ncount e = 1\ncount e = 2\n",
		 "line 5: there is a count of e already"},
		{"format = 1\n<<<<<<< HEAD\n",
		 "line 2: '<<<<<<< HEAD' is neither [NAME] nor KEY = VALUE"},
	};
	struct budget budget;

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		char *problem = budget_parse(&budget, broken[i].text, strlen(broken[i].text));

		assert_non_null(problem);
		assert_string_equal(problem, broken[i].problem);
		free(problem);
		budget_free(&budget);
	}
	char *problem = budget_parse(&budget, "format = 1\nx\0y\n", 15);

	assert_string_equal(problem, "line 2: this is no text");
	free(problem);
	budget_free(&budget);
}

/* Whatever a file has in it, reading ends, and what was accepted is written and read the same. */
static void test_survives_anything(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char text[sizeof(good)];
		struct budget budget, again;
		char *problem;

		memcpy(text, good, sizeof(good));
		for (int i = 0; i < 1 + round % 4; i++) {
			seed = seed * 1664525 + 1013904223;
			text[(seed >> 8) % (sizeof(good) - 1)] =
				(char)"[]=#'\"\\$ \n\0%a1="[seed >> 28];
		}
		problem = budget_parse(&budget, text, sizeof(good) - 1);
		if (!problem) {
			char *first = printed(&budget), *second;

			assert_null(budget_parse(&again, first, strlen(first)));
			second = printed(&again);
			assert_string_equal(first, second);
			budget_free(&again);
			free(second);
			free(first);
		}
		free(problem);
		budget_free(&budget);
	}
}

static void test_words(void **state)
{
	static const char *const words[][6] = {
		{"sort", "-n", "a b", "", "it's", NULL},
		{"a\nb", "\t", "'\\", "\x01z", "\xc3\xa9", NULL},
		{"$HOME", "`x`", "a;b", "*", "\"q\"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char *line = words_join((char *const *)words[i]);
		char **split = words_split(line);

		assert_null(strchr(line, '\n'));
		assert_non_null(split);
		for (size_t j = 0; words[i][j]; j++)
			assert_string_equal(split[j], words[i][j]);
		assert_null(split[5]);
		words_free(split);
		free(line);
	}
}

static void test_words_by_hand(void **state)
{
	static const char *const broken[] = {"'",	 "\"a",	     "a\\", "$'\\q'",
					     "$'\\x0g'", "$'\\x00'", "$'"};
	char **split = words_split("  a\\ b\t\"c \\\" \\$d\" e'f'\"g\" $'\\x41\\n' ");

	(void)state;
	assert_string_equal(split[0], "a b");
	assert_string_equal(split[1], "c \" $d");
	assert_string_equal(split[2], "efg");
	assert_string_equal(split[3], "A\n");
	assert_null(split[4]);
	words_free(split);
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		assert_null(words_split(broken[i]));
}

static char *figures_of(struct budget_figures *figures, const char *text)
{
	return budget_read_figures(figures, text, strlen(text));
}

static void test_figures(void **state)
{
	static const char *const bad[][2] = {
		{"<not supported>\t\tbranches\t0\t100.00\t\t\n", "branches cannot be counted here"},
		{"<not counted>\t\tcycles\t0\t0.00\t\t\n", "cycles was not counted at all"},
		{"what\t\tcycles\t9\t100.00\t\t\n", "perf says 'what' for cycles"},
		{"1\t\tcycles\t9\t100.00\t\t\n2\t\tcycles\t9\t100.00\t\t\n",
		 "cycles is asked for twice"},
		{"1\t\tcycles\t9\t62.50\t\t\n",
		 "cycles was counted only 62.50 % of the time, because more events were asked for than "
		 "there are counters"},
	};
	struct budget_figures figures;

	(void)state;
	assert_null(figures_of(&figures, "# started on Thu Jan  1 00:00:01 2026\n\n"
					 "17\t\tinstructions:u\t99\t100.00\t1.00\tinsn per cycle\n"
					 "\t\t\t\t\t0.5\tfurther metric\n"
					 "0.65\tmsec\ttask-clock\t650000\t100.00\t0.8\tCPUs\n"
					 "signal 11\n"));
	assert_int_equal(figures.nr_counts, 2);
	assert_string_equal(figures.counts[0].event, "instructions:u");
	assert_string_equal(figures.counts[0].text, "17");
	assert_string_equal(figures.counts[1].text, "0.65");
	assert_int_equal(figures.signal, 11);
	budget_free_figures(&figures);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *problem = figures_of(&figures, bad[i][0]);

		assert_non_null(problem);
		assert_string_equal(problem, bad[i][1]);
		free(problem);
		budget_free_figures(&figures);
	}
}

/* Runs a comparison of one count; what it says goes nowhere. */
static bool is_over(const char *old, const char *now, const char *tolerance)
{
	struct budget_count count = {(char *)"e", (char *)old}, figure = {(char *)"e", (char *)now};
	struct budget_entry entry = {.name = (char *)"n",
				     .tolerance = (char *)tolerance,
				     .counts = &count,
				     .nr_counts = 1};
	struct budget_figures figures = {&figure, 1, 0};

	return budget_compare(&entry, &figures, "file");
}

static void test_tolerance(void **state)
{
	(void)state;
	assert_false(is_over("18446744073709551615", "18446744073709551615", NULL));
	assert_true(is_over("18446744073709551615", "18446744073709551614", NULL));
	assert_true(is_over("1000", "1001", NULL));
	assert_true(is_over("1000", "999", "0%"));
	assert_false(is_over("1000", "1010", "1%"));
	assert_true(is_over("1000", "1011", "1%"));
	assert_false(is_over("1000", "990", "1"));
	assert_true(is_over("1000", "989", "1"));
	assert_true(is_over("0", "1", "1000%"));
	assert_false(is_over("0", "0", NULL));
	assert_true(is_over("0.65", "0.66", NULL));
}

/* Two that record at the same time: each keeps what the other has written, and all comments. */
static void test_merge(void **state)
{
	static const char after[] = "format = 1\n"
				    "# Kept.\n"
				    "[mine]\n"
				    "command = new\n"
				    "count e = 2\n"
				    "\n"
				    "[other's]\n"
				    "command = new\n"
				    "\n"
				    "[added]\n"
				    "command = added\n";
	static const char now[] = "format = 1\n# Kept.\n[mine]\ncommand = old\noptions = --smp=2\n"
				  "[other's]\ncommand = new\n";
	static const char ours[] = "format = 1\n[mine]\ncommand = new\ncount e = 2\n"
				   "[other's]\ncommand = old\n[added]\ncommand = added\n";
	struct budget file, budget, expected;
	char *text, *wanted;

	(void)state;
	assert_null(budget_parse(&file, now, strlen(now)));
	assert_null(budget_parse(&budget, ours, strlen(ours)));
	assert_null(budget_parse(&expected, after, strlen(after)));
	budget_find(&budget, "mine")->recorded = true;
	budget_find(&budget, "added")->recorded = true;
	budget_merge(&file, &budget);
	text = printed(&file);
	wanted = printed(&expected);
	assert_string_equal(text, wanted);
	free(wanted);
	free(text);
	budget_free(&expected);
	budget_free(&budget);
	budget_free(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_what_it_writes),
		cmocka_unit_test(test_tells_the_line),
		cmocka_unit_test(test_survives_anything),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_words_by_hand),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_tolerance),
		cmocka_unit_test(test_merge),
	};

	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
