/* SPDX-License-Identifier: BSD-2-Clause */
/* Files are written whole, in the place of the old ones, and nothing else is left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output.h"
#include "say.h"

static char folder[] = "/tmp/tally-test-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return chdir("/") || rmdir(folder);
}

static void put(const char *path, const char *text)
{
	struct output output;

	output_begin(&output, path);
	fputs(text, output.file);
	output_finish(&output);
}

static void assert_holds(const char *path, const char *text)
{
	FILE *file = fopen(path, "r");
	char found[64] = "";

	assert_non_null(file);
	assert_int_equal(fread(found, 1, sizeof(found) - 1, file), strlen(text));
	assert_string_equal(found, text);
	fclose(file);
}

static size_t files(void)
{
	DIR *here = opendir(".");
	size_t count = 0;

	assert_non_null(here);
	while (readdir(here))
		count++;
	closedir(here);
	return count - 2;
}

static void test_replaces(void **state)
{
	struct stat st;

	(void)state;
	put("file", "old");
	assert_int_equal(chmod("file", 0640), 0);
	assert_int_equal(symlink("file", "link"), 0);
	put("link", "new");
	assert_holds("file", "new");
	assert_int_equal(stat("file", &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0640);
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(files(), 2);
	unlink("link");
	unlink("file");
}

static void test_name_as_long_as_can_be(void **state)
{
	char name[256];

	(void)state;
	memset(name, 'x', 255);
	name[255] = '\0';
	put(name, "long");
	assert_holds(name, "long");
	unlink(name);
}

/* A program that ends in between, or is killed, has changed nothing. */
static void test_nothing_is_left(void **state)
{
	struct output output;

	(void)state;
	put("file", "old");
	output_begin(&output, "file");
	fputs("new", output.file);
	fflush(output.file);
	assert_int_equal(files(), 1);
	assert_holds("file", "old");
	output_discard(&output);
	assert_int_equal(files(), 1);
	unlink("file");
}

/* A pipe, as a device, stays what it is. */
static void test_pipe(void **state)
{
	char text[8] = "";
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(mkfifo("pipe", 0600), 0);
	fd = open("pipe", O_RDWR);
	put("pipe", "through");
	assert_int_equal(read(fd, text, sizeof(text)), 7);
	assert_string_equal(text, "through");
	assert_int_equal(stat("pipe", &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	close(fd);
	unlink("pipe");
}

/* Whether the program ends, in time, when the file is begun. */
static bool is_refused(const char *path)
{
	struct output output;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		output_begin(&output, path);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_TALLY;
}

static void test_refused_at_once(void **state)
{
	char name[257];

	(void)state;
	memset(name, 'x', 256);
	name[256] = '\0';
	assert_true(is_refused(name));
	assert_true(is_refused(""));
	assert_true(is_refused("."));
	assert_true(is_refused("nowhere/file"));
	assert_false(is_refused("file"));
	assert_int_equal(files(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replaces),
		cmocka_unit_test(test_name_as_long_as_can_be),
		cmocka_unit_test(test_nothing_is_left),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_refused_at_once),
	};

	return cmocka_run_group_tests_name("output", tests, set_up, tear_down);
}
