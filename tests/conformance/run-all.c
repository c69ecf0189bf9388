/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs all conformance tests in one boot of the guest. Prints "# NAME" before each program, then
 * what the program prints (check.h), then a "not ok NAME" of its own if the program did not end
 * as such a program does.
 *
 *	run-all FOLDER [NAME...]      FOLDER holds the programs; all of them unless named
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(const char *folder, char *name)
{
	char path[512];
	char *argv[] = {name, NULL};
	int status;
	pid_t pid;

	printf("# %s\n", name);
	fflush(stdout);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	pid = fork();
	if (pid == 0) {
		execv(path, argv);
		printf("not ok %s: %s\n", name, strerror(errno));
		fflush(stdout);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		printf("not ok %s: cannot run: %s\n", name, strerror(errno));
		return 1;
	}
	if (WIFSIGNALED(status))
		printf("not ok %s: died by signal %d\n", name, WTERMSIG(status));
	else if (WEXITSTATUS(status) > 1)
		printf("not ok %s: exit status %d\n", name, WEXITSTATUS(status));
	return status != 0;
}

int main(int argc, char **argv)
{
	char all[] = PROGRAMS;
	int failed = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: run-all FOLDER [NAME...]\n");
		return 2;
	}
	for (int i = 2; i < argc; i++)
		failed |= run(argv[1], argv[i]);
	if (argc == 2) {
		for (char *name = strtok(all, " "); name; name = strtok(NULL, " "))
			failed |= run(argv[1], name);
	}
	return failed;
}
