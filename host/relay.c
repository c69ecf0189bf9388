/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop that runs while the guest does; see relay.h. One thread, one poll(2); no descriptor
 * of the user's is made non-blocking, since other programs share it: a write there is at most
 * PIPE_BUF bytes after poll said that there is room.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "relay.h"
#include "say.h"
#include "terminal.h"

enum {
	BUFFER = 1 << 16,
	TWICE_MS = 2000,    /* a second signal within this time ends the guest */
	OBEY_MS = 3000,	    /* after SIGTERM or SIGHUP the guest ends within this time */
	SHUTDOWN_MS = 5000, /* a guest that gave a status ends within this time */
	ESCAPE = 0x1d,	    /* Ctrl-] */
	ESCAPES = 3
};

struct stream {
	int from, to;
	bool open; /* `from` may still give something */
	bool dead; /* `to` takes nothing more; what comes is thrown away */
	size_t start, used;
	char buffer[BUFFER];
};

enum { INPUT, FIRST_OUTPUT, TTY_OUT = FIRST_OUTPUT, OUT, ERR, RESULTS, STREAMS };

struct relay {
	const struct machine *machine;
	const struct wiring *wiring;
	struct outcome *outcome;
	struct stream stream[STREAMS];
	int signals;
	bool trusted;	      /* how QEMU itself ends means something */
	bool running;	      /* QEMU is */
	bool ready;	      /* the command has started, and gets our signals */
	int64_t kill_at;      /* when QEMU is killed, ms; INT64_MAX for never */
	int64_t signalled_at; /* when the last signal was passed on, ms */
	int64_t end_at;	      /* when the guest is ended by `end_signal`, ms; INT64_MAX for never */
	int end_signal;	      /* the SIGTERM or SIGHUP that the command got first */
	int64_t broken_at;    /* when an output of ours broke, ms; 0 for never */
	unsigned int escapes; /* escape keys in a row */
	size_t line_used;
	char line[64]; /* of the control channel */
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCHLD};

static void handled_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
		sigaddset(set, handled[i]);
}

void relay_prepare(void)
{
	sigset_t set;

	handled_set(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static bool is_null(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

static bool same_file(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static enum endpoint endpoint_of(int fd, bool terminal)
{
	if (isatty(fd))
		return terminal ? ENDPOINT_TTY : ENDPOINT_PORT;
	return is_null(fd) ? ENDPOINT_NULL : ENDPOINT_PORT;
}

void relay_wire(struct wiring *wiring, bool terminal)
{
	for (int fd = 0; fd < 3; fd++)
		wiring->fd[fd] = endpoint_of(fd, terminal);
	wiring->results = -1;
	wiring->raw = wiring->fd[0] == ENDPOINT_TTY && wiring->fd[1] == ENDPOINT_TTY &&
		      !terminal_background(0);
	if (wiring->fd[0] == ENDPOINT_TTY && !wiring->raw)
		wiring->fd[0] = ENDPOINT_PORT;
	if (wiring->fd[1] == ENDPOINT_PORT && wiring->fd[2] == ENDPOINT_PORT && same_file(1, 2))
		wiring->fd[2] = ENDPOINT_SAME;
	wiring->terminal = wiring->fd[1] == ENDPOINT_TTY   ? 1
			   : wiring->fd[2] == ENDPOINT_TTY ? 2
							   : -1;
}

/* A message is short and the socket's buffer is not: it never blocks while the guest lives. */
static void tell_guest(const struct relay *relay, const char *message)
{
	if (write(relay->machine->socket[CHANNEL_CONTROL], message, strlen(message)) < 0 &&
	    say_verbose)
		say("the guest takes no messages: %s", strerror(errno));
}

static void tell_signal(const struct relay *relay, int signal)
{
	char message[32];

	snprintf(message, sizeof(message), "signal %d\n", signal);
	tell_guest(relay, message);
}

static void tell_size(const struct relay *relay)
{
	unsigned int rows, columns;
	char message[64];

	if (relay->wiring->terminal < 0)
		return;
	terminal_size(relay->wiring->terminal, &rows, &columns);
	snprintf(message, sizeof(message), "size %u %u\n", rows, columns);
	tell_guest(relay, message);
}

static void kill_machine(const struct relay *relay)
{
	if (relay->running)
		kill(relay->machine->pid, SIGKILL);
}

/* Ends the guest with an outcome of our own making, unless it gave one itself. */
static void give_up(struct relay *relay, int how, int value)
{
	if (relay->outcome->how == ENDED_NO_STATUS) {
		relay->outcome->how = how;
		relay->outcome->value = value;
		relay->trusted = false;
	}
	kill_machine(relay);
}

/*
 * A signal for us is one for the command, as soon as there is one. If it comes twice, the guest
 * does not listen. Who sends SIGTERM or SIGHUP (timeout(1), a service manager, a terminal that
 * goes away) often sends it once, and wants an end also of a guest that hangs.
 */
static void pass_signal(struct relay *relay, int signal)
{
	int64_t now = now_ms();

	if (!relay->ready || (relay->signalled_at && now - relay->signalled_at < TWICE_MS))
		give_up(relay, ENDED_SIGNAL, signal);
	else
		tell_signal(relay, signal);
	relay->signalled_at = now;
	if ((signal == SIGTERM || signal == SIGHUP) && relay->end_at == INT64_MAX) {
		relay->end_at = now + OBEY_MS;
		relay->end_signal = signal;
	}
}

/* Ctrl-Z where the terminal is not the guest's: both stop, and go on together. */
static void stop_both(const struct relay *relay)
{
	kill(relay->machine->pid, SIGSTOP);
	raise(SIGSTOP);
	kill(relay->machine->pid, SIGCONT);
}

static void reap(struct relay *relay)
{
	struct outcome *outcome = relay->outcome;
	bool clean;
	int status;

	if (waitpid(relay->machine->pid, &status, WNOHANG) != relay->machine->pid)
		return;
	relay->running = false;
	clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (relay->trusted && !clean && (outcome->how == ENDED_EXIT || outcome->how == ENDED_SIGNAL))
		outcome->how = ENDED_BADLY;
}

static void handle_signals(struct relay *relay)
{
	struct signalfd_siginfo info;

	while (read(relay->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reap(relay);
		else if (info.ssi_signo == SIGWINCH)
			tell_size(relay);
		else if (info.ssi_signo == SIGTSTP)
			stop_both(relay);
		else
			pass_signal(relay, (int)info.ssi_signo);
	}
}

/* A line of the control channel: "ready", "exit N" or "signal N". */
static void handle_line(struct relay *relay, const char *line)
{
	struct outcome *outcome = relay->outcome;
	int value;

	if (strcmp(line, "ready") == 0)
		relay->ready = true;
	if (outcome->how != ENDED_NO_STATUS)
		return;
	if (sscanf(line, "exit %d", &value) == 1 && value >= 0 && value <= 255)
		outcome->how = ENDED_EXIT;
	else if (sscanf(line, "signal %d", &value) == 1 && value > 0 && value < 65)
		outcome->how = ENDED_SIGNAL;
	else
		return;
	outcome->value = value;
	relay->end_at = INT64_MAX;
	if (relay->trusted)
		relay->kill_at = now_ms() + SHUTDOWN_MS;
	else
		kill_machine(relay);
}

/* Returns whether the channel is still open. */
static bool handle_control(struct relay *relay)
{
	char byte;
	ssize_t n;

	while ((n = read(relay->machine->socket[CHANNEL_CONTROL], &byte, 1)) == 1) {
		if (byte == '\n') {
			relay->line[relay->line_used] = '\0';
			handle_line(relay, relay->line);
			relay->line_used = 0;
		} else if (relay->line_used < sizeof(relay->line) - 1) {
			relay->line[relay->line_used++] = byte;
		}
	}
	return n < 0 && errno == EAGAIN;
}

static void count_escapes(struct relay *relay, const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		relay->escapes = data[i] == ESCAPE ? relay->escapes + 1 : 0;
		if (relay->escapes == ESCAPES)
			give_up(relay, ENDED_BY_KEY, 0);
	}
}

static void fill(struct relay *relay, struct stream *stream)
{
	ssize_t n;

	n = read(stream->from, stream->buffer + stream->start + stream->used,
		 BUFFER - stream->start - stream->used);
	if (n > 0) {
		if (stream == &relay->stream[INPUT] && relay->wiring->raw)
			count_escapes(relay, stream->buffer + stream->start + stream->used,
				      (size_t)n);
		stream->used += (size_t)n;
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		stream->open = false;
	}
}

/*
 * An output of ours that broke is to the command as if it had written there itself: SIGPIPE.
 * One that ignores the signal and goes on writing is ended after a while.
 */
static void handle_broken(struct relay *relay, int error)
{
	int64_t now = now_ms();

	if (!relay->broken_at) {
		relay->broken_at = now;
		if (error != EPIPE)
			relay->outcome->write_error = error;
		tell_signal(relay, SIGPIPE);
	} else if (now - relay->broken_at > TWICE_MS) {
		give_up(relay, ENDED_SIGNAL, SIGPIPE);
	}
}

static void drain(struct relay *relay, struct stream *stream)
{
	bool input = stream == &relay->stream[INPUT];
	bool whole = input || stream->dead || stream->used < PIPE_BUF;
	size_t size = whole ? stream->used : PIPE_BUF;
	ssize_t n = stream->dead ? (ssize_t)size
				 : write(stream->to, stream->buffer + stream->start, size);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		stream->dead = true;
		n = (ssize_t)size;
		if (!input)
			handle_broken(relay, errno);
	} else if (stream->dead && !input) {
		handle_broken(relay, 0);
	}
	stream->start += (size_t)n;
	stream->used -= (size_t)n;
	if (stream->used == 0)
		stream->start = 0;
}

/* The end of our input is the end of the guest's, once it has all that came before. */
static void close_input(struct stream *stream)
{
	if (!stream->open && !stream->used && !stream->dead) {
		shutdown(stream->to, SHUT_WR);
		stream->dead = true;
	}
}

static bool wants_input(const struct relay *relay, const struct stream *stream)
{
	if (!stream->open || stream->start + stream->used == BUFFER)
		return false;
	if (stream != &relay->stream[INPUT])
		return true;
	return !stream->dead && !(isatty(stream->from) && terminal_background(stream->from));
}

static bool all_written(const struct relay *relay)
{
	for (int i = FIRST_OUTPUT; i < STREAMS; i++) {
		const struct stream *stream = &relay->stream[i];

		if (stream->used || (stream->open && !stream->dead))
			return false;
	}
	return true;
}

static void connect_streams(struct relay *relay)
{
	const struct wiring *wiring = relay->wiring;
	const int *socket = relay->machine->socket;
	const struct {
		int from, to;
		bool open;
	} ends[STREAMS] = {
		[INPUT] = {0, socket[wiring->raw ? CHANNEL_TTY : CHANNEL_IN],
			   wiring->fd[0] != ENDPOINT_NULL},
		[TTY_OUT] = {socket[CHANNEL_TTY], wiring->terminal, wiring->terminal >= 0},
		[OUT] = {socket[CHANNEL_OUT], 1, wiring->fd[1] == ENDPOINT_PORT},
		[ERR] = {socket[CHANNEL_ERR], 2, wiring->fd[2] == ENDPOINT_PORT},
		[RESULTS] = {socket[CHANNEL_RESULTS], wiring->results, wiring->results >= 0},
	};

	for (int i = 0; i < STREAMS; i++) {
		relay->stream[i].from = ends[i].from;
		relay->stream[i].to = ends[i].to;
		relay->stream[i].open = ends[i].open;
	}
}

enum { POLL_SIGNALS = 2 * STREAMS, POLL_CONTROL, POLLS };

static void fill_polls(const struct relay *relay, struct pollfd *polls, bool control)
{
	for (int i = 0; i < STREAMS; i++) {
		const struct stream *stream = &relay->stream[i];

		polls[2 * i] = (struct pollfd){wants_input(relay, stream) ? stream->from : -1,
					       POLLIN, 0};
		polls[2 * i + 1] = (struct pollfd){
			stream->used && !stream->dead ? stream->to : -1, POLLOUT, 0};
	}
	polls[POLL_SIGNALS] = (struct pollfd){relay->signals, POLLIN, 0};
	polls[POLL_CONTROL] =
		(struct pollfd){control ? relay->machine->socket[CHANNEL_CONTROL] : -1, POLLIN, 0};
}

/* A terminal that we may not read now is looked at again later; nothing tells us when. */
static int wait_ms(const struct relay *relay, int64_t timeout_at)
{
	int64_t until = timeout_at < relay->kill_at ? timeout_at : relay->kill_at, left;

	if (relay->end_at < until)
		until = relay->end_at;
	left = until - now_ms();

	if (left < 0)
		return 0;
	if (relay->stream[INPUT].open && !wants_input(relay, &relay->stream[INPUT]) && left > 500)
		return 500;
	return until == INT64_MAX ? -1 : left > INT_MAX ? INT_MAX : (int)left;
}

static void check_time(struct relay *relay, int64_t timeout_at)
{
	int64_t now = now_ms();

	if (now >= timeout_at)
		give_up(relay, ENDED_TIMEOUT, 0);
	if (now >= relay->end_at)
		give_up(relay, ENDED_SIGNAL, relay->end_signal);
	if (now >= relay->kill_at)
		kill_machine(relay);
}

void relay_run(const struct machine *machine, const struct wiring *wiring, unsigned int timeout,
	       bool trusted, struct outcome *outcome)
{
	static struct relay relay;
	int64_t timeout_at = timeout ? now_ms() + (int64_t)timeout * 1000 : INT64_MAX;
	struct pollfd polls[POLLS];
	bool control = true;
	sigset_t set;

	*outcome = (struct outcome){.how = ENDED_NO_STATUS};
	relay.machine = machine;
	relay.wiring = wiring;
	relay.outcome = outcome;
	relay.trusted = trusted;
	relay.running = true;
	relay.kill_at = relay.end_at = INT64_MAX;
	handled_set(&set);
	relay.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (relay.signals < 0)
		die(EXIT_TALLY, "cannot wait for signals: %s", strerror(errno));
	connect_streams(&relay);
	reap(&relay);
	while (relay.running || control || !all_written(&relay)) {
		fill_polls(&relay, polls, control);
		if (poll(polls, POLLS, wait_ms(&relay, timeout_at)) < 0 && errno != EINTR)
			die(EXIT_TALLY, "cannot wait: %s", strerror(errno));
		for (int i = 0; i < STREAMS; i++) {
			struct stream *stream = &relay.stream[i];

			if (polls[2 * i].revents)
				fill(&relay, stream);
			if (polls[2 * i + 1].revents || (stream->used && stream->dead))
				drain(&relay, stream);
		}
		close_input(&relay.stream[INPUT]);
		if (polls[POLL_SIGNALS].revents)
			handle_signals(&relay);
		if (polls[POLL_CONTROL].revents)
			control = handle_control(&relay);
		check_time(&relay, timeout_at);
	}
	close(relay.signals);
}
