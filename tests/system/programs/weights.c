/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three functions of known weight: fifty, thirty and twenty take these shares of all instructions
 * (and, at one instruction a cycle, of all cycles). `weights HOW ROUNDS`, HOW being
 *
 *	alone	 in one task
 *	fork	 in two processes
 *	threads	 in two threads
 *	beside	 while a child, which must not be in the profile, does something else on the same CPU
 *	bursts	 with sleeps in between
 *
 * A round is 200,000 instructions and a few. The lengths are not round numbers, so that no period
 * of sampling keeps in step with them.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A function that is one loop of two instructions a turn. */
#define LOOP(name, turns)                                          \
	__attribute__((noinline)) static void name(void)           \
	{                                                          \
		uint64_t left = turns;                             \
								   \
		__asm__ volatile("1:	subs	%0, %0, #1\n"      \
				 "	b.ne	1b\n"              \
				 : "+r"(left)                      \
				 :                                 \
				 : "cc");                          \
	}

LOOP(fifty, 50021)
LOOP(thirty, 30013)
LOOP(twenty, 20008)
LOOP(stranger, 7919)

/* One more frame, for call chains. */
__attribute__((noinline)) static void a_round(void)
{
	fifty();
	thirty();
	twenty();
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline, noclone)) static void work(long rounds, int burst)
{
	for (long i = 0; i < rounds; i++) {
		a_round();
		if (burst && i % burst == burst - 1)
			usleep(2000);
	}
}

static void *work_in_thread(void *rounds)
{
	work(*(long *)rounds, 0);
	return NULL;
}

static void in_threads(long rounds)
{
	pthread_t thread[2];

	rounds /= 2;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, work_in_thread, &rounds);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

static void in_processes(long rounds)
{
	pid_t child = fork();

	work(rounds / 2, 0);
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
}

static void beside_a_stranger(long rounds)
{
	pid_t child = fork();

	if (child == 0)
		for (;;) {
			stranger();
			sched_yield();
		}
	for (long i = 0; i < rounds; i++) {
		a_round();
		sched_yield();
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	long rounds = argc == 3 ? atol(argv[2]) : 0;

	if (rounds <= 0) {
		fprintf(stderr, "usage: weights alone|fork|threads|beside|bursts ROUNDS\n");
		return 2;
	}
	if (strcmp(argv[1], "fork") == 0)
		in_processes(rounds);
	else if (strcmp(argv[1], "threads") == 0)
		in_threads(rounds);
	else if (strcmp(argv[1], "beside") == 0)
		beside_a_stranger(rounds);
	else
		work(rounds, strcmp(argv[1], "bursts") == 0 ? 7 : 0);
	return 0;
}
