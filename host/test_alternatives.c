/* SPDX-License-Identifier: BSD-2-Clause */
/* What is read out of postinst scripts, in the shapes that Debian's packages have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "alternatives.h"

static struct alternatives all;

static void expect(size_t at, const char *link, const char *path, long priority)
{
	assert_in_range(at, 0, all.count - 1);
	assert_string_equal(all.at[at].link, link);
	assert_string_equal(all.at[at].path, path);
	assert_int_equal(all.at[at].priority, priority);
}

static void test_one_line(void **state)
{
	(void)state;
	alternatives_read(&all,
			  "set -e\nif true; then update-alternatives --install /usr/bin/vi vi "
			  "\"/usr/bin/vim.tiny\" 15; fi\n");
	assert_int_equal(all.count, 1);
	expect(0, "/usr/bin/vi", "/usr/bin/vim.tiny", 15);
	alternatives_free(&all);
}

static void test_several_lines(void **state)
{
	(void)state;
	alternatives_read(&all,
			  "update-alternatives \\\n\t--install /bin/nc nc /bin/nc.openbsd 50 \\\n"
			  "  --slave /bin/netcat netcat /bin/nc.openbsd \\\n"
			  "  #--slave /bin/no no /bin/no\n"
			  "update-alternatives --install /bin/nc nc /bin/nc.traditional 60\n");
	assert_int_equal(all.count, 3);
	expect(0, "/bin/nc", "/bin/nc.traditional", 60);
	expect(1, "/bin/nc", "/bin/nc.openbsd", 50);
	expect(2, "/bin/netcat", "/bin/nc.openbsd", 50);
	alternatives_free(&all);
}

static void test_what_is_not_plain(void **state)
{
	static const char *const texts[] = {
		"",
		"--install",
		"update-alternatives --install /usr/bin/$i $i /usr/bin/x-$i 10\n",
		"update-alternatives --install /usr/bin/a a",
		"# update-alternatives --install /usr/bin/a a /usr/bin/b 1\n",
		"update-alternatives --remove a /usr/bin/b\n\\",
		"update-alternatives --install a b c 1\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		alternatives_read(&all, texts[i]);
		assert_int_equal(all.count, 0);
		alternatives_free(&all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_several_lines),
		cmocka_unit_test(test_what_is_not_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
