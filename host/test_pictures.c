/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From perf script's text to pictures: what the reader makes of it, and that no name a program can
 * have gets out of its place in a page or a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "json.h"
#include "profile.h"
#include "script.h"

static struct profile profile;
static struct script script;

static void read_text(const char *text)
{
	char *copy = strdup(text), *rest = copy, *line;

	profile_init(&profile);
	script_begin(&script, &profile);
	while ((line = strsep(&rest, "\n")))
		script_line(&script, line);
	script_end(&script);
	free(copy);
}

/* Lines "THREAD;FUNCTION;... WEIGHT" of the first event, or of `event`. */
static void assert_stacks(uint32_t event, const char *want)
{
	char *got;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	export_collapsed(&profile, event, out);
	fclose(out);
	assert_string_equal(got, want);
	free(got);
}

static void test_chains(void **state)
{
	(void)state;
	read_text(
		"sh     5/7         0.072267123:      20000 instructions:u: \n"
		"\t    fffff7fd690c leaf (/usr/lib/a (deleted))\n"
		"\t            aabb helper (inlined)\n"
		"\t            aac0 operator new(unsigned long) (/tmp/b)\n"
		"\n"
		"sh     5/7         1.000000001:         30 cycles: \n"
		"\tffff000040202588 walk_next ([kernel.kallsyms])\n"
		"\t    fffff74bc88c [unknown] ([unknown])\n"
		"\t    fffff74bc890 [unknown] (/usr/bin/python3.11)\n"
		"\n"
		"            true    11/-1        1.130117000:      7 cpu-clock:ppp:      fffff7fd690c main (/a b)\n"
		"            true    11/-1        1.130117:      8 cpu-clock:ppp:      fffff7fd690c main (/a b)\n"
		"dummy 1/1 2.5:          1 dummy:u: \n\n");
	assert_int_equal(profile.events, 4);
	assert_int_equal(profile.samples, 5);
	assert_int_equal(script.strange, 0);
	assert_stacks(0, "sh;operator new(unsigned long);helper_[i];leaf 20000\n");
	assert_stacks(1, "sh;[python3.11];[unknown];walk_next_[k] 30\n");
	assert_stacks(2, "true;main 15\n");
	assert_stacks(3, "dummy 1\n");
	assert_string_equal(profile.text[profile.event[2].name], "cpu-clock:ppp");
	assert_int_equal(profile.sample[0].time, 72267123);
	assert_int_equal(profile.sample[3].time, 1130117000);
	assert_int_equal(profile.sample[4].time, 2500000000);
	assert_int_equal(profile.thread[0].pid, 5);
	assert_int_equal(profile.thread[0].tid, 7);
	assert_int_equal(profile.thread[1].tid, -1);
	profile_free(&profile);
}

/* Programs that are called like what stands behind their names, and like nothing at all. */
static void test_hostile_commands(void **state)
{
	(void)state;
	read_text("1/1 1.0: 1 x: 5/5         0.000002:      10 instructions:u: \n"
		  "\t    aa f (b)\n\n"
		  " 1/2 3.4: 5 5/6         0.000002:      20 instructions:u: \n"
		  "\t    aa f (b)\n\n"
		  " 5/7         0.000002:      30 instructions:u: \n"
		  "\t    aa f (b)\n\n"
		  "a;b     5/8         0.000002:      40 instructions:u: \n"
		  "\t    aa x;y (b)\n\n"
		  "sh 5/9 0.000002: 50 e: aa f 1/1 1.0: 1 e: (b)\n"
		  "sh 5/9 0.000002: 60 e: \n"
		  "\t    aa g 1/1 1.0: 1 e: (b)\n");
	assert_int_equal(profile.samples, 6);
	assert_stacks(0, "1/1 1.0: 1 x:;f 10\n1/2 3.4: 5;f 20\n;f 30\na:b;x:y 40\n");
	assert_stacks(1, "sh;f 1/1 1.0: 1 e: 50\nsh;g 1/1 1.0: 1 e: 60\n");
	profile_free(&profile);
}

static void test_objects(void **state)
{
	static const char *const lines[][3] = {
		{"aa f(int) (b)", "f(int)", "b"},
		{"aa f (b (deleted))", "f", "b (deleted)"},
		{"aa f (a)b)", "f", "a)b"},
		{"aa  (b)", "", "b"},
		{"aa f", "f", ""},
		{"aa f()", "f()", ""},
		{"aa f ()", "f", ""},
		{"aa [unknown] (b/c)", "[c]", "b/c"},
		{"aa )(", ")(", ""},
		{"aa x (y) z)", "x", "y) z"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[256];
		const struct profile_frame *frame;

		snprintf(text, sizeof(text), "sh 1/1 1.0: 1 e: \n\t%s\n", lines[i][0]);
		read_text(text);
		frame = &profile.frame[0];
		assert_string_equal(profile.text[frame->name], lines[i][1]);
		assert_string_equal(profile.text[frame->object], lines[i][2]);
		profile_free(&profile);
	}
}

typedef void exporter(const struct profile *profile, const char *title, FILE *out);

static char *exported(exporter *export, const char *title)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	export(&profile, title, out);
	fclose(out);
	assert_int_equal(strlen(text), size);
	return text;
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	while ((text = strstr(text, part))) {
		n++;
		text++;
	}
	return n;
}

/* What a symbol may be called to break out of a script, a tag, an attribute or a string. */
static void test_hostile_names(void **state)
{
	static const char hostile[] = "</script><b x='\"\\&\x01\xff\xe2\x80\xa8@DATA@";
	exporter *const exporters[] = {export_speedscope, export_firefox};
	char text[1024], *page;

	(void)state;
	snprintf(text, sizeof(text), "%s 1/1 1.0: 1 %s: \n\taa %s (%s)\n\n", "</script>", "<i>",
		 hostile, hostile);
	read_text(text);
	page = exported(export_flamegraph, hostile);
	assert_int_equal(count(page, "</script>"), 2);
	assert_int_equal(count(page, "<script"), 2);
	assert_int_equal(count(page, "<b x"), 0);
	assert_int_equal(count(page, "<i>"), 0);
	assert_int_equal(count(page, "&#60;/script&#62;"), 4);
	assert_int_equal(count(page, "\xff"), 0);
	/* A mark in a name is no mark. */
	assert_int_equal(count(page, "\"parent\":"), 1);
	free(page);
	for (size_t i = 0; i < 2; i++) {
		page = exported(exporters[i], hostile);
		assert_int_equal(count(page, "<"), 0);
		/* The title, the function and the file, which are one text in Firefox's format. */
		assert_int_equal(count(page, "\\u003c/script\\u003e\\u003cb x='\\\"\\\\\\u0026"
					     "\\u0001\\ufffd\\u2028@DATA@"),
				 i == 0 ? 3 : 2);
		free(page);
	}
	profile_free(&profile);
}

static void assert_json(const char *text, const char *want)
{
	char *got;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	json_text(out, text);
	fclose(out);
	assert_string_equal(got, want);
	free(got);
}

static void test_json(void **state)
{
	(void)state;
	assert_json("", "\"\"");
	assert_json("a\n\t\x7f", "\"a\\u000a\\u0009\\u007f\"");
	assert_json("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\"\\u00e9 \\u20ac \\ud83d\\ude00\"");
	/* Overlong, a surrogate, too large, cut short, and stray. */
	assert_json("\xc0\x80", "\"\\ufffd\\ufffd\"");
	assert_json("\xe0\x80\x80", "\"\\ufffd\\ufffd\\ufffd\"");
	assert_json("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
	assert_json("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
	assert_json("\xe2\x82", "\"\\ufffd\\ufffd\"");
	assert_json("\xf0\x9f", "\"\\ufffd\\ufffd\"");
	assert_json("\x80z", "\"\\ufffdz\"");
}

/* Whatever perf script prints, there are pictures of it, and the sums are right. */
static void test_survives_anything(void **state)
{
	static const char good[] =
		"sh     5/7         0.072267123:      20000 instructions:u: \n"
		"\t    fffff7fd690c leaf (/usr/lib/a)\n\t            aabb helper (inlined)\n"
		"\t            aac0 main (/tmp/b)\n\n"
		"sh     5/8         1.000000001:         30 cycles: \n"
		"\tffff000040202588 walk_next ([kernel.kallsyms])\n\n"
		"    true    11/11   1.130117000:      7 cycles:      fffff7fd690c main (/a b)\n";
	static const char bytes[] = "\t\n :/().0-9af[];<\xff\x80";
	uint32_t seed = 7;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		char text[sizeof(good)];
		uint64_t sum = 0;

		memcpy(text, good, sizeof(good));
		for (int i = 0; i < 1 + round % 8; i++) {
			seed = seed * 1664525 + 1013904223;
			text[(seed >> 8) % (sizeof(good) - 1)] =
				bytes[(seed >> 20) % (sizeof(bytes) - 1)];
		}
		read_text(text);
		for (size_t i = 0; i < profile.events; i++)
			sum += profile.event[i].weight;
		for (size_t i = 0; i < profile.samples; i++) {
			assert_in_range(profile.sample[i].node, 0, profile.nodes - 1);
			sum -= profile.sample[i].weight;
		}
		assert_int_equal(sum, 0);
		free(exported(export_flamegraph, "t"));
		free(exported(export_speedscope, "t"));
		free(exported(export_firefox, "t"));
		profile_free(&profile);
	}
}

/* Twelve thousand stacks, forty deep, two thousand frames of one, and nothing at all. */
static void test_sizes(void **state)
{
	char *page;

	(void)state;
	profile_init(&profile);
	script_begin(&script, &profile);
	for (unsigned int i = 0; i < 12000; i++) {
		char line[80];

		sprintf(line, "big 1/%u 1.%09u: 3 e: ", 1 + i % 3, i);
		script_line(&script, line);
		for (unsigned int j = 0; j < 40; j++) {
			sprintf(line, "\taa f%u (x)", j < 6 ? i * 31 % 4001 + j : j);
			script_line(&script, line);
		}
	}
	script_end(&script);
	assert_int_equal(profile.samples, 12000);
	page = exported(export_flamegraph, "big");
	assert_true(strlen(page) < 12 << 20);
	free(page);
	profile_free(&profile);

	profile_init(&profile);
	script_begin(&script, &profile);
	script_line(&script, strcpy((char[80]){""}, "deep 1/1 1.0: 3 e: "));
	for (unsigned int j = 0; j < 20000; j++)
		script_line(&script, strcpy((char[80]){""}, "\taa f (x)"));
	script_end(&script);
	assert_int_equal(profile.nodes, 1 + 4096);
	profile_free(&profile);

	read_text("");
	free(exported(export_flamegraph, "empty"));
	free(exported(export_speedscope, "empty"));
	free(exported(export_firefox, "empty"));
	assert_stacks(0, "");
	profile_free(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chains),	cmocka_unit_test(test_hostile_commands),
		cmocka_unit_test(test_objects), cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_json),	cmocka_unit_test(test_survives_anything),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests_name("pictures", tests, NULL, NULL);
}
