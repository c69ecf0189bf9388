/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions and job control on a pty: signals from the keyboard, background groups, hang-up (credentials(7), pty(7)). */
#include "check.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

struct pair {
	int master, slave;
};

static bool open_pair(struct pair *p)
{
	p->master = posix_openpt(O_RDWR | O_NOCTTY);
	if (p->master < 0 || grantpt(p->master) || unlockpt(p->master))
		return false;
	p->slave = open(ptsname(p->master), O_RDWR | O_NOCTTY);
	return p->slave >= 0;
}

static void note(int sig)
{
	(void)sig;
}

/* In a child that leads a session with the slave as its terminal. Says 'r' on the pipe when it is ready. */
static pid_t start_session(struct pair *p, int ready[2], void (*body)(struct pair *p))
{
	pid_t pid;
	char c;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(p->master);
		setsid();
		if (ioctl(p->slave, TIOCSCTTY, 0))
			_exit(90);
		dup2(ready[1], 100);
		body(p);
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		return -1;
	return pid;
}

static void say_ready(void)
{
	(void)!write(100, "r", 1);
}

static int status_of(pid_t pid)
{
	int status = -1;

	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

static void sleep_for_signal(struct pair *p)
{
	(void)p;
	say_ready();
	for (;;)
		pause();
}

static void keyboard(const char *key, int sig)
{
	struct pair p;
	int ready[2], status;
	pid_t pid;

	EXPECT(open_pair(&p));
	pid = start_session(&p, ready, sleep_for_signal);
	EXPECT(pid > 0);
	EXPECT_EQ(write(p.master, key, 1), 1);
	status = status_of(pid);
	EXPECT(WIFSIGNALED(status));
	EXPECT_EQ(WTERMSIG(status), sig);
}

TEST(interrupt_key, "tty")
{
	keyboard("\003", SIGINT);
}

TEST(quit_key, "tty")
{
	keyboard("\034", SIGQUIT);
}

static void stop_child(struct pair *p)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		setpgid(0, 0);
		for (;;)
			pause();
	}
	setpgid(pid, pid);
	signal(SIGTTOU, SIG_IGN);
	if (tcsetpgrp(p->slave, pid))
		_exit(1);
	say_ready();
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGTSTP)
		_exit(2);
	kill(pid, SIGKILL);
	_exit(waitpid(pid, NULL, 0) == pid ? 0 : 3);
}

TEST(suspend_key_stops_the_foreground, "tty")
{
	struct pair p;
	int ready[2];
	pid_t pid;

	EXPECT(open_pair(&p));
	pid = start_session(&p, ready, stop_child);
	EXPECT(pid > 0);
	EXPECT_EQ(write(p.master, "\032", 1), 1);
	EXPECT_EQ(status_of(pid), 0);
}

static void background_read(struct pair *p)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		char c;

		setpgid(0, 0);
		_exit(read(p->slave, &c, 1) == 1 ? 0 : 1);
	}
	setpgid(pid, pid);
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGTTIN)
		_exit(2);
	signal(SIGTTOU, SIG_IGN);
	if (tcsetpgrp(p->slave, pid) || kill(pid, SIGCONT))
		_exit(3);
	say_ready();
	_exit(waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 4);
}

TEST(background_read_stops, "tty")
{
	struct pair p;
	int ready[2];
	pid_t pid;

	EXPECT(open_pair(&p));
	pid = start_session(&p, ready, background_read);
	EXPECT(pid > 0);
	EXPECT_EQ(write(p.master, "x\n", 2), 2);
	EXPECT_EQ(status_of(pid), 0);
}

static void background_write(struct pair *p)
{
	struct termios t;
	pid_t pid;
	int status;

	tcgetattr(p->slave, &t);
	t.c_lflag |= TOSTOP;
	tcsetattr(p->slave, TCSANOW, &t);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		_exit(write(p->slave, "x", 1) == 1 ? 0 : 1);
	}
	setpgid(pid, pid);
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGTTOU)
		_exit(2);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	say_ready();
}

TEST(background_write_stops_with_tostop, "tty")
{
	struct pair p;
	int ready[2];
	pid_t pid;

	EXPECT(open_pair(&p));
	pid = start_session(&p, ready, background_write);
	EXPECT(pid > 0);
	EXPECT_EQ(status_of(pid), 0);
}

static void orphan_read(struct pair *p)
{
	char c;

	/* blocked SIGTTIN: EIO instead of stopping */
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGTTIN, SIG_IGN);
		setpgid(0, 0);
		errno = 0;
		_exit(read(p->slave, &c, 1) == -1 && errno == EIO ? 0 : 1);
	}
	int status;

	waitpid(pid, &status, 0);
	say_ready();
	_exit(status ? 1 : 0);
}

TEST(background_read_with_the_signal_ignored, "tty")
{
	struct pair p;
	int ready[2];
	pid_t pid;

	EXPECT(open_pair(&p));
	pid = start_session(&p, ready, orphan_read);
	EXPECT(pid > 0);
	EXPECT_EQ(status_of(pid), 0);
}

static void session_ids(struct pair *p)
{
	pid_t id = -1;
	int fd;

	signal(SIGHUP, SIG_IGN); /* giving up the terminal tells the foreground group */
	if (tcgetpgrp(p->slave) != getpgrp())
		_exit(1);
	if (ioctl(p->slave, TIOCGSID, &id) || id != getsid(0))
		_exit(2);
	fd = open("/dev/tty", O_RDWR);
	if (fd < 0 || tcgetpgrp(fd) != getpgrp())
		_exit(3);
	/* a group that is not in the session, and one that is not at all */
	if (tcsetpgrp(p->slave, getppid()) != -1 || errno != EPERM)
		_exit(4);
	if (ioctl(p->slave, TIOCNOTTY))
		_exit(5);
	if (open("/dev/tty", O_RDWR) != -1 || errno != ENXIO)
		_exit(6);
	if (tcgetpgrp(p->slave) != -1 || errno != ENOTTY)
		_exit(7);
	say_ready();
	_exit(0);
}

TEST(controlling_terminal, "tty")
{
	struct pair p;
	int ready[2];
	pid_t pid;

	EXPECT(open_pair(&p));
	setpgid(0, 0);
	pid = start_session(&p, ready, session_ids);
	if (pid > 0)
		EXPECT_EQ(status_of(pid), 0);
	else
		FAIL("the child ended before it was ready");
}

static void wait_winch(struct pair *p)
{
	struct winsize ws;
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGWINCH, note);
	say_ready();
	sigwait(&set, &sig);
	_exit(ioctl(p->slave, TIOCGWINSZ, &ws) == 0 && ws.ws_row == 33 && ws.ws_col == 99 ? 0 : 1);
}

TEST(window_size, "tty")
{
	struct winsize ws = { .ws_row = 33, .ws_col = 99 };
	struct pair p;
	int ready[2];
	pid_t pid;

	EXPECT(open_pair(&p));
	pid = start_session(&p, ready, wait_winch);
	EXPECT(pid > 0);
	EXPECT_EQ(ioctl(p.master, TIOCSWINSZ, &ws), 0);
	EXPECT_EQ(status_of(pid), 0);
}

static void wait_hangup(struct pair *p)
{
	sigset_t set;
	char c;
	int sig = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	say_ready();
	sigwait(&set, &sig);
	if (sig != SIGHUP)
		_exit(1);
	if (read(p->slave, &c, 1) != 0)
		_exit(2);
	if (write(p->slave, "x", 1) != -1 || errno != EIO)
		_exit(3);
	_exit(0);
}

TEST(closing_the_master_hangs_up, "tty")
{
	struct pair p;
	int ready[2];
	pid_t pid;

	EXPECT(open_pair(&p));
	pid = start_session(&p, ready, wait_hangup);
	EXPECT(pid > 0);
	close(p.slave);
	close(p.master);
	EXPECT_EQ(status_of(pid), 0);
}

TEST(closing_the_slave, "tty")
{
	struct pollfd pfd = { .events = POLLIN };
	struct pair p;
	char buf[8];

	EXPECT(open_pair(&p));
	EXPECT_EQ(write(p.slave, "ab", 2), 2);
	close(p.slave);
	EXPECT_EQ(read(p.master, buf, sizeof(buf)), 2);
	EXPECT_ERRNO(read(p.master, buf, sizeof(buf)), EIO);
	pfd.fd = p.master;
	EXPECT_EQ(poll(&pfd, 1, 0), 1);
	EXPECT(pfd.revents & POLLHUP);
	p.slave = open(ptsname(p.master), O_RDWR | O_NOCTTY);
	EXPECT(p.slave >= 0);
	EXPECT_EQ(write(p.slave, "c", 1), 1);
	EXPECT_EQ(read(p.master, buf, sizeof(buf)), 1);
}

TEST(locked_until_unlocked, "tty")
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), locked = -1;
	unsigned number = ~0u;
	char name[32];

	EXPECT(master >= 0);
	EXPECT_EQ(ioctl(master, TIOCGPTN, &number), 0);
	snprintf(name, sizeof(name), "/dev/pts/%u", number);
	EXPECT(strcmp(ptsname(master), name) == 0);
	EXPECT_ERRNO(open(name, O_RDWR | O_NOCTTY), EIO);
	EXPECT_EQ(ioctl(master, TIOCGPTLCK, &locked), 0);
	EXPECT_EQ(locked, 1);
	EXPECT_EQ(unlockpt(master), 0);
	EXPECT(open(name, O_RDWR | O_NOCTTY) >= 0);
}

TEST(name_of_terminal, "tty")
{
	struct pair p;

	EXPECT(open_pair(&p));
	EXPECT(ttyname(p.slave) != NULL);
	EXPECT(strcmp(ttyname(p.slave), ptsname(p.master)) == 0);
}

TEST(name_goes_with_the_master, "tty")
{
	char name[32];
	struct pair p;

	EXPECT(open_pair(&p));
	snprintf(name, sizeof(name), "%s", ptsname(p.master));
	EXPECT_EQ(access(name, F_OK), 0);
	close(p.master);
	EXPECT_ERRNO(access(name, F_OK), ENOENT);
	EXPECT_ERRNO(open(name, O_RDWR), ENOENT);
}

TEST(packet_mode, "tty")
{
	struct pair p;
	char buf[16];
	int on = 1;

	EXPECT(open_pair(&p));
	EXPECT_EQ(ioctl(p.master, TIOCPKT, &on), 0);
	EXPECT_EQ(write(p.slave, "ab", 2), 2);
	EXPECT_EQ(read(p.master, buf, sizeof(buf)), 3);
	EXPECT_EQ(buf[0], TIOCPKT_DATA);
	EXPECT(memcmp(buf + 1, "ab", 2) == 0);
	EXPECT_EQ(tcflush(p.slave, TCIFLUSH), 0);
	EXPECT_EQ(read(p.master, buf, sizeof(buf)), 1);
	EXPECT(buf[0] & TIOCPKT_FLUSHREAD);
}

/* A session leader opens a terminal with and without O_NOCTTY: only then is /dev/tty there. */
TEST(no_controlling_terminal, "tty")
{
	struct pair p;
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		setsid();
		if (!open_pair(&p) || open("/dev/tty", O_RDWR) >= 0 || errno != ENXIO)
			_exit(1);
		if (open(ptsname(p.master), O_RDWR) < 0 || open("/dev/tty", O_RDWR) < 0)
			_exit(2);
		_exit(0);
	}
	EXPECT_EQ(status_of(pid), 0);
}
