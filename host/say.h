/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tally command says to its user: plain sentences on standard error, each
 * beginning with "tally: ".
 */
#ifndef HOST_SAY_H
#define HOST_SAY_H

/* Exit statuses of tally itself; everything else is the command's own. */
enum {
	EXIT_USAGE = 2,		/* a bad option, as GNU tools have it */
	EXIT_OVER_BUDGET = 100, /* `tally budget`: a count has changed */
	EXIT_TIMED_OUT = 124,	/* --timeout passed, as timeout(1) has it */
	EXIT_TALLY = 125,	/* tally, QEMU or the guest's kernel failed */
	EXIT_NOT_EXEC = 126,	/* the command is there and cannot be run */
	EXIT_NOT_FOUND = 127	/* the command is not there */
};

/* Prints "tally: MESSAGE\n" on standard error. Keeps errno. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Says MESSAGE and ends the program with STATUS (exit(3), so atexit handlers run). */
void die(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));

/* A string made as by printf(3), to be freed by the caller. Never NULL. */
char *textf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* What messages are about, for example "[name]: ", put before each of them; or NULL. */
extern const char *say_about;

/* Whether --verbose was given; set once by main. */
extern int say_verbose;

#endif
