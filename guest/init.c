/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PID 1 of the guest, on Tally's kernel and on Linux. It reads from the firmware what the user
 * of the `tally` command wants to run, runs it, and says how it ended.
 *
 * Its contract with the host (docs/host.md):
 * - opt/tally/run: NUL-terminated texts key=value (cwd, share, fd0, fd1, fd2, rows, cols, env, arg).
 * - opt/tally/files: a cpio archive that is unpacked over the root first, if there is one. (On
 *   Linux there never is: the same archive comes at the end of the ramdisk.)
 * - /dev/hvc0 is the terminal; /dev/vport0p1 to p3 are standard input, output and error.
 * - /dev/vport0p4 is the control channel. From the host: "signal N\n" for the command's process
 *   group, "size ROWS COLUMNS\n" for the terminal. To the host: "ready\n" when the command is
 *   about to start, and at the end "exit N\n" or "signal N\n".
 *
 * All other processes are gone when the status is sent, and the terminal has shown everything.
 * Errors of the command are told as a shell does, on the command's own standard error; errors
 * of init itself go to the kernel's console, and then there is no status.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "setup.h"

#define FW_CFG "/sys/firmware/qemu_fw_cfg/by_name/opt/tally/"

enum { NOT_EXEC = 126, NOT_FOUND = 127, FAILED = 125 };

struct run {
	const char *cwd;
	const char *share; /* mount tag of the current folder on the host, or NULL */
	const char *fd[3]; /* tty, port, null; 0 also a file's absolute path; 2 also same */
	unsigned short rows, columns;
	char **environment;
	char **argv;
};

static volatile sig_atomic_t child_ended;

static void on_child(int signal)
{
	(void)signal;
	child_ended = 1;
}

/* Ends the machine. The reason for not saying a status is on the console by then. */
static void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}

static void fail(const char *what)
{
	perror(what);
	power_off();
}

/* Reads a whole file; the caller frees it. It ends with a NUL that does not count. */
static char *read_all(const char *path, size_t *size)
{
	size_t room = 1 << 14;
	char *data = malloc(room);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	*size = 0;
	if (fd < 0)
		fail(path);
	while (data && (n = read(fd, data + *size, room - *size - 1)) > 0) {
		*size += (size_t)n;
		if (room - *size < 2)
			data = realloc(data, room *= 2);
	}
	if (!data || n < 0)
		fail(path);
	close(fd);
	data[*size] = '\0';
	return data;
}

static void apply(struct run *run, char *text, size_t *variables, size_t *words)
{
	char *value = strchr(text, '=');

	if (!value)
		return;
	*value++ = '\0';
	if (strcmp(text, "env") == 0)
		run->environment[(*variables)++] = value;
	else if (strcmp(text, "arg") == 0)
		run->argv[(*words)++] = value;
	else if (strcmp(text, "cwd") == 0)
		run->cwd = value;
	else if (strcmp(text, "share") == 0)
		run->share = value;
	else if (strcmp(text, "rows") == 0)
		run->rows = (unsigned short)atoi(value);
	else if (strcmp(text, "cols") == 0)
		run->columns = (unsigned short)atoi(value);
	else if (strlen(text) == 3 && strncmp(text, "fd", 2) == 0 && text[2] >= '0' && text[2] < '3')
		run->fd[text[2] - '0'] = value;
}

static void read_run(struct run *run)
{
	size_t size, variables = 0, words = 0, count = 1;
	char *text = read_all(FW_CFG "run/raw", &size), *end = text + size;

	for (size_t i = 0; i < size; i++)
		count += text[i] == '\0';
	*run = (struct run){.cwd = "/", .fd = {"null", "null", "null"}};
	run->environment = calloc(count + 1, sizeof(char *));
	run->argv = calloc(count + 1, sizeof(char *));
	if (!run->environment || !run->argv)
		fail("opt/tally/run");
	while (text < end) {
		char *next = text + strlen(text) + 1;

		apply(run, text, &variables, &words);
		text = next;
	}
	if (words == 0) {
		fprintf(stderr, "init: opt/tally/run names no command\n");
		power_off();
	}
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return status;
}

static void unpack_files(void)
{
	pid_t pid;

	if (access(FW_CFG "files/raw", F_OK))
		return;
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(open(FW_CFG "files/raw", O_RDONLY), STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		if (chdir("/") == 0)
			execl("/bin/busybox", "busybox", "cpio", "-idmu", NULL);
		_exit(NOT_FOUND);
	}
	if (pid < 0 || wait_for(pid) != 0) {
		fprintf(stderr, "init: cannot unpack the files that came along\n");
		power_off();
	}
}

/* Makes the folder and those above it. */
static int make_folders(const char *path)
{
	char *copy = strdup(path);
	int result = copy ? 0 : -1;

	for (char *slash = copy; slash && (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(copy, 0755);
		*slash = '/';
	}
	if (copy && mkdir(copy, 0755) && errno != EEXIST)
		result = -1;
	free(copy);
	return result;
}

static int open_tty(const struct run *run)
{
	const struct winsize size = {.ws_row = run->rows, .ws_col = run->columns};
	int fd = open("/dev/hvc0", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0 && run->rows && run->columns)
		ioctl(fd, TIOCSWINSZ, &size);
	return fd;
}

static bool uses_tty(const struct run *run)
{
	for (int i = 0; i < 3; i++) {
		if (strcmp(run->fd[i], "tty") == 0)
			return true;
	}
	return false;
}

static int open_end(const struct run *run, int fd)
{
	static const char *const ports[] = {"/dev/vport0p1", "/dev/vport0p2", "/dev/vport0p3"};

	if (strcmp(run->fd[fd], "tty") == 0)
		return open("/dev/hvc0", O_RDWR | O_NOCTTY);
	if (strcmp(run->fd[fd], "same") == 0)
		return dup(1);
	if (*run->fd[fd] == '/')
		return open(run->fd[fd], O_RDONLY);
	if (strcmp(run->fd[fd], "port") == 0)
		return open(ports[fd], fd ? O_WRONLY : O_RDONLY);
	return open("/dev/null", O_RDWR);
}

/*
 * In the child: a session of its own, its terminal, and the three descriptors. All are opened
 * before the first is put in place, so that errors still reach the console.
 */
static void take_ends(const struct run *run, int tty)
{
	int ends[3];

	setsid();
	if (tty >= 0)
		ioctl(tty, TIOCSCTTY, 0);
	for (int i = 0; i < 3; i++) {
		if (i == 2 && strcmp(run->fd[2], "same") == 0)
			ends[2] = ends[1];
		else
			ends[i] = open_end(run, i);
		if (ends[i] < 0) {
			fprintf(stderr, "init: cannot open descriptor %d: %s\n", i, strerror(errno));
			_exit(FAILED);
		}
		if (ends[i] < 3)
			ends[i] = fcntl(ends[i], F_DUPFD, 3);
	}
	for (int i = 0; i < 3; i++)
		dup2(ends[i], i);
	for (int i = 0; i < 3; i++) {
		if (i < 2 || ends[2] != ends[1])
			close(ends[i]);
	}
}

/* Says why the command did not start, in a shell's words, and ends with a shell's status. */
static void refuse(const char *command, int error)
{
	const char *why = strerror(error);
	int status = error == ENOENT ? NOT_FOUND : NOT_EXEC;
	struct stat st;

	if (error == ENOENT && !strchr(command, '/'))
		why = "command not found";
	else if (error == ENOENT && stat(command, &st) == 0)
		why = "the program or interpreter that it needs is not there";
	else if (error == EACCES && stat(command, &st) == 0 && S_ISDIR(st.st_mode))
		why = "is a directory";
	dprintf(STDERR_FILENO, "tally: %s: %s\n", command, why);
	_exit(status);
}

static void become_command(const struct run *run, int tty)
{
	const char *path = "/usr/bin:/bin";
	sigset_t none;

	take_ends(run, tty);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGCHLD, SIG_DFL);
	for (char **variable = run->environment; *variable; variable++) {
		if (strncmp(*variable, "PATH=", 5) == 0)
			path = *variable + 5;
	}
	if (make_folders(run->cwd) || chdir(run->cwd)) {
		dprintf(STDERR_FILENO, "tally: %s: %s\n", run->cwd, strerror(errno));
		_exit(FAILED);
	}
	setenv("PATH", path, 1);
	execvpe(run->argv[0], run->argv, run->environment);
	refuse(run->argv[0], errno);
}

static pid_t start_command(const struct run *run, int tty)
{
	pid_t pid = fork();

	if (pid == 0)
		become_command(run, tty);
	if (pid < 0)
		fail("fork");
	return pid;
}

static void obey(const char *line, pid_t command, int tty)
{
	unsigned int rows, columns;
	int number;

	if (sscanf(line, "signal %d", &number) == 1) {
		if (kill(-command, number))
			kill(command, number);
	} else if (sscanf(line, "size %u %u", &rows, &columns) == 2 && tty >= 0) {
		const struct winsize size = {.ws_row = (unsigned short)rows,
					     .ws_col = (unsigned short)columns};

		ioctl(tty, TIOCSWINSZ, &size);
	}
}

/* Takes what has come on the control channel and obeys each whole line. */
static bool read_control(int control, pid_t command, int tty)
{
	static char line[64];
	static size_t used;
	char data[64];
	ssize_t n = read(control, data, sizeof(data));

	for (ssize_t i = 0; i < n; i++) {
		if (data[i] == '\n') {
			line[used] = '\0';
			obey(line, command, tty);
			used = 0;
		} else if (used < sizeof(line) - 1) {
			line[used++] = data[i];
		}
	}
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Reaps every child that has ended; true, with its status, once the command is among them. */
static bool reap(pid_t command, int *status)
{
	bool ended = false;
	int one;
	pid_t pid;

	child_ended = 0;
	while ((pid = waitpid(-1, &one, WNOHANG)) > 0) {
		if (pid == command) {
			*status = one;
			ended = true;
		}
	}
	return ended;
}

/* Until the command has ended: messages from the host, and orphans. */
static int attend(pid_t command, int control, int tty)
{
	struct pollfd poll = {control, POLLIN, 0};
	sigset_t open_mask;
	int status = 0;

	sigprocmask(SIG_BLOCK, NULL, &open_mask);
	sigdelset(&open_mask, SIGCHLD);
	while (!reap(command, &status)) {
		if (ppoll(&poll, 1, NULL, &open_mask) > 0 && !read_control(control, command, tty))
			poll.fd = -1;
	}
	return status;
}

static void end_all(int tty)
{
	if (kill(-1, SIGKILL) == 0) {
		while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
			;
	}
	if (tty >= 0)
		tcdrain(tty);
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_child};
	struct run run;
	sigset_t child;
	int control, tty, status;
	pid_t command;

	if (setup_system())
		power_off();
	read_run(&run);
	unpack_files();
	if (run.share && (make_folders(run.cwd) || setup_share(run.share, run.cwd)))
		fail(run.cwd);
	if (setup_wait_devices())
		power_off();
	control = open("/dev/vport0p4", O_RDWR | O_CLOEXEC);
	if (control < 0)
		fail("/dev/vport0p4");
	tty = uses_tty(&run) ? open_tty(&run) : -1;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	sigaction(SIGCHLD, &action, NULL);
	dprintf(control, "ready\n");
	command = start_command(&run, tty);
	status = attend(command, control, tty);
	end_all(tty);
	if (WIFSIGNALED(status))
		dprintf(control, "signal %d\n", WTERMSIG(status));
	else
		dprintf(control, "exit %d\n", WEXITSTATUS(status));
	power_off();
}
