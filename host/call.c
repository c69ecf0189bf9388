/* SPDX-License-Identifier: BSD-2-Clause */
/* A guest as a child process, for commands of tally's own; see guest.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "say.h"

/* A terminal sends the first two to the child as well; the others are passed on. */
static const int ours[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

enum { OURS = sizeof(ours) / sizeof(ours[0]) };

static struct sigaction before[OURS];
static volatile pid_t child;
static volatile sig_atomic_t received;

static void on_signal(int number)
{
	received = number;
	if ((number == SIGTERM || number == SIGHUP) && child > 0)
		kill(child, number);
}

static void restore_signals(void)
{
	for (int i = 0; i < OURS; i++)
		sigaction(ours[i], &before[i], NULL);
}

static void become_guest(const struct guest_call *call, const struct options *options, pid_t parent)
{
	restore_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_TALLY);
	if (call->folder && chdir(call->folder))
		die(EXIT_TALLY, "cannot go to %s: %s", call->folder, strerror(errno));
	dup2(call->in, STDIN_FILENO);
	dup2(call->out, STDOUT_FILENO);
	dup2(call->err, STDERR_FILENO);
	guest_run(options);
}

void guest_start(struct guest_call *call, const struct options *options)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pid_t parent = getpid();

	fflush(NULL);
	child = 0;
	received = 0;
	for (int i = 0; i < OURS; i++)
		sigaction(ours[i], &action, &before[i]);
	call->pid = fork();
	if (call->pid == 0)
		become_guest(call, options, parent);
	if (call->pid < 0)
		die(EXIT_TALLY, "cannot start a process: %s", strerror(errno));
	child = call->pid;
}

int guest_wait(struct guest_call *call)
{
	int status;

	while (waitpid(call->pid, &status, 0) < 0) {
		if (errno != EINTR)
			die(EXIT_TALLY, "cannot wait for the guest: %s", strerror(errno));
	}
	child = 0;
	restore_signals();
	if (received && (WIFSIGNALED(status) || !call->interruptible)) {
		signal(received, SIG_DFL);
		raise(received);
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
