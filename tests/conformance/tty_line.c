/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line discipline, seen through a pty: editing, echo, canonical and raw
 * reads, output processing, queues (termios(3)).
 */
#include "check.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>

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

static void type(struct pair *p, const char *text, size_t n)
{
	EXPECT_EQ(write(p->master, text, n), n);
}

/* What comes out of fd next is exactly this. */
static void expect_bytes(int fd, const char *want, size_t n, int line)
{
	char got[8192];
	size_t have = 0;

	while (have < n) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		ssize_t r;

		if (poll(&pfd, 1, 2000) != 1)
			break;
		r = read(fd, got + have, n - have);
		if (r <= 0)
			break;
		have += (size_t)r;
	}
	if (have != n || memcmp(got, want, n))
		FAIL("line %d: got \"%.*s\" (%zu bytes), not \"%.*s\" (%zu)", line, (int)have, got,
			   have, (int)n, want, n);
}
#define EXPECT_OUT(fd, text) expect_bytes(fd, text, sizeof(text) - 1, __LINE__)

/* Nothing can be read now. */
static void expect_silence(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	EXPECT_EQ(poll(&pfd, 1, 20), 0);
}

static void set_mode(int fd, tcflag_t local_off, tcflag_t local_on, int vmin, int vtime)
{
	struct termios t;

	EXPECT_EQ(tcgetattr(fd, &t), 0);
	t.c_lflag = (t.c_lflag & ~local_off) | local_on;
	t.c_cc[VMIN] = (cc_t)vmin;
	t.c_cc[VTIME] = (cc_t)vtime;
	EXPECT_EQ(tcsetattr(fd, TCSANOW, &t), 0);
}
#define TYPE(p, text) type(p, text, sizeof(text) - 1)

TEST(line_and_echo, "tty")
{
	struct pair p;

	EXPECT(open_pair(&p));
	TYPE(&p, "abc");
	EXPECT_OUT(p.master, "abc");
	expect_silence(p.slave);
	TYPE(&p, "\n");
	EXPECT_OUT(p.master, "\r\n");
	EXPECT_OUT(p.slave, "abc\n");
}

TEST(carriage_return_becomes_newline, "tty")
{
	struct pair p;

	EXPECT(open_pair(&p));
	TYPE(&p, "a\r");
	EXPECT_OUT(p.slave, "a\n");
}

TEST(erase_character, "tty")
{
	struct pair p;

	EXPECT(open_pair(&p));
	TYPE(&p, "abx\177c\n");
	EXPECT_OUT(p.slave, "abc\n");
	EXPECT_OUT(p.master, "abx\b \bc\r\n");
}

TEST(erase_stops_at_line_start, "tty")
{
	struct pair p;

	EXPECT(open_pair(&p));
	TYPE(&p, "a\177\177\177b\n");
	EXPECT_OUT(p.slave, "b\n");
	EXPECT_OUT(p.master, "a\b \bb\r\n");
}

TEST(erase_control_and_tab, "tty")
{
	struct pair p;

	EXPECT(open_pair(&p));
	TYPE(&p, "\001\177a\t\177b\n");
	EXPECT_OUT(p.slave, "ab\n");
	EXPECT_OUT(p.master, "^A\b \b\b \ba\t\b\b\b\b\b\b\bb\r\n");
}

TEST(erase_utf8, "tty")
{
	struct termios t;
	struct pair p;

	EXPECT(open_pair(&p));
	EXPECT_EQ(tcgetattr(p.slave, &t), 0);
	t.c_iflag |= IUTF8;
	EXPECT_EQ(tcsetattr(p.slave, TCSANOW, &t), 0);
	TYPE(&p, "x\303\244\177y\n");
	EXPECT_OUT(p.slave, "xy\n");
	EXPECT_OUT(p.master, "x\303\244\b \by\r\n");
}

TEST(kill_line, "tty")
{
	struct pair p;

	EXPECT(open_pair(&p));
	TYPE(&p, "abc\025de\n");
	EXPECT_OUT(p.slave, "de\n");
	EXPECT_OUT(p.master, "abc\b \b\b \b\b \bde\r\n");
}

TEST(erase_word, "tty")
{
	struct pair p;

	EXPECT(open_pair(&p));
	TYPE(&p, "one two  \027three\n");
	EXPECT_OUT(p.slave, "one three\n");
}

TEST(literal_next, "tty")
{
	struct pair p;

	EXPECT(open_pair(&p));
	TYPE(&p, "\026\003\026\004\n");
	EXPECT_OUT(p.slave, "\003\004\n");
	EXPECT_OUT(p.master, "^\b^C^\b^D\r\n");
}

TEST(end_of_file, "tty")
{
	char buf[16];
	struct pair p;

	EXPECT(open_pair(&p));
	TYPE(&p, "abc\004");
	EXPECT_OUT(p.slave, "abc");
	TYPE(&p, "\004");
	EXPECT_EQ(read(p.slave, buf, sizeof(buf)), 0);
	TYPE(&p, "x\n");
	EXPECT_OUT(p.slave, "x\n");
}

TEST(a_read_takes_one_line, "tty")
{
	char buf[64];
	struct pair p;

	EXPECT(open_pair(&p));
	TYPE(&p, "one\ntwo\n");
	EXPECT_EQ(read(p.slave, buf, 2), 2);
	EXPECT_EQ(read(p.slave, buf, sizeof(buf)), 2);
	EXPECT(memcmp(buf, "e\n", 2) == 0);
	EXPECT_EQ(read(p.slave, buf, sizeof(buf)), 4);
	EXPECT(memcmp(buf, "two\n", 4) == 0);
}

TEST(eol_ends_a_line, "tty")
{
	struct termios t;
	struct pair p;

	EXPECT(open_pair(&p));
	EXPECT_EQ(tcgetattr(p.slave, &t), 0);
	t.c_cc[VEOL] = ';';
	EXPECT_EQ(tcsetattr(p.slave, TCSANOW, &t), 0);
	TYPE(&p, "ab;cd");
	EXPECT_OUT(p.slave, "ab;");
	expect_silence(p.slave);
}

TEST(long_line_is_cut, "tty")
{
	static char text[6000], buf[8192];
	struct pair p;

	EXPECT(open_pair(&p));
	set_mode(p.slave, ECHO, 0, 1, 0);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\n';
	for (size_t done = 0; done < sizeof(text);) {
		ssize_t n = write(p.master, text + done, sizeof(text) - done);

		EXPECT(n > 0);
		done += (size_t)n;
	}
	EXPECT_EQ(read(p.slave, buf, sizeof(buf)), 4096);
	EXPECT_EQ(buf[4094], 'x');
	EXPECT_EQ(buf[4095], '\n');
}

TEST(raw_min_and_time, "tty")
{
	struct timespec a, b;
	char buf[16];
	struct pair p;

	EXPECT(open_pair(&p));
	set_mode(p.slave, ICANON | ECHO, 0, 0, 0);
	EXPECT_EQ(read(p.slave, buf, sizeof(buf)), 0);
	TYPE(&p, "ab");
	EXPECT_EQ(read(p.slave, buf, sizeof(buf)), 2);
	set_mode(p.slave, 0, 0, 0, 2);
	clock_gettime(CLOCK_MONOTONIC, &a);
	EXPECT_EQ(read(p.slave, buf, sizeof(buf)), 0);
	clock_gettime(CLOCK_MONOTONIC, &b);
	long ms = (b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000;

	EXPECT(ms >= 190 && ms < 1000);
	/* the first byte waits for ever, the second 0.1 s */
	set_mode(p.slave, 0, 0, 5, 1);
	TYPE(&p, "abc");
	EXPECT_EQ(read(p.slave, buf, sizeof(buf)), 3);
}

TEST(raw_min_is_waited_for, "tty")
{
	char buf[16];
	struct pair p;
	pid_t pid;

	EXPECT(open_pair(&p));
	set_mode(p.slave, ICANON | ECHO, 0, 4, 0);
	pid = fork();
	if (pid == 0) {
		usleep(20000);
		(void)!write(p.master, "ab", 2);
		usleep(20000);
		(void)!write(p.master, "cd", 2);
		_exit(0);
	}
	EXPECT_EQ(read(p.slave, buf, sizeof(buf)), 4);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
}

TEST(raw_passes_everything, "tty")
{
	struct termios t;
	struct pair p;

	EXPECT(open_pair(&p));
	EXPECT_EQ(tcgetattr(p.slave, &t), 0);
	cfmakeraw(&t);
	EXPECT_EQ(tcsetattr(p.slave, TCSANOW, &t), 0);
	TYPE(&p, "\r\n\003\004\021\023\177");
	EXPECT_OUT(p.slave, "\r\n\003\004\021\023\177");
	EXPECT_EQ(write(p.slave, "a\nb", 3), 3);
	EXPECT_OUT(p.master, "a\nb");
}

TEST(output_processing, "tty")
{
	struct termios t;
	struct pair p;

	EXPECT(open_pair(&p));
	EXPECT_EQ(write(p.slave, "a\nb\tc\n", 6), 6);
	EXPECT_OUT(p.master, "a\r\nb\tc\r\n");
	EXPECT_EQ(tcgetattr(p.slave, &t), 0);
	t.c_oflag |= XTABS;
	EXPECT_EQ(tcsetattr(p.slave, TCSADRAIN, &t), 0);
	EXPECT_EQ(write(p.slave, "ab\tc\n", 5), 5);
	EXPECT_OUT(p.master, "ab      c\r\n");
}

TEST(echo_newline_only, "tty")
{
	struct pair p;

	EXPECT(open_pair(&p));
	set_mode(p.slave, ECHO, ECHONL, 1, 0);
	TYPE(&p, "secret\n");
	EXPECT_OUT(p.master, "\r\n");
	EXPECT_OUT(p.slave, "secret\n");
}

TEST(stop_and_start, "tty")
{
	struct pair p;

	EXPECT(open_pair(&p));
	set_mode(p.slave, ECHO, 0, 1, 0);
	TYPE(&p, "\023");
	fcntl(p.slave, F_SETFL, O_RDWR | O_NONBLOCK);
	EXPECT_ERRNO(write(p.slave, "x", 1), EAGAIN);
	expect_silence(p.master);
	TYPE(&p, "\021");
	EXPECT_EQ(write(p.slave, "x", 1), 1);
	EXPECT_OUT(p.master, "x");
}

TEST(nonblocking_read, "tty")
{
	char c;
	struct pair p;

	EXPECT(open_pair(&p));
	fcntl(p.slave, F_SETFL, O_RDWR | O_NONBLOCK);
	EXPECT_ERRNO(read(p.slave, &c, 1), EAGAIN);
	fcntl(p.master, F_SETFL, O_RDWR | O_NONBLOCK);
	EXPECT_ERRNO(read(p.master, &c, 1), EAGAIN);
}

TEST(bytes_waiting, "tty")
{
	struct pair p;
	int n;

	EXPECT(open_pair(&p));
	TYPE(&p, "abc");
	EXPECT_EQ(ioctl(p.slave, FIONREAD, &n), 0);
	EXPECT_EQ(n, 0);
	TYPE(&p, "\n");
	EXPECT_EQ(ioctl(p.slave, FIONREAD, &n), 0);
	EXPECT_EQ(n, 4);
	EXPECT_EQ(tcflush(p.slave, TCIFLUSH), 0);
	EXPECT_EQ(ioctl(p.slave, FIONREAD, &n), 0);
	EXPECT_EQ(n, 0);
}

TEST(attributes_are_kept, "tty")
{
	struct termios t, u;
	struct pair p;

	EXPECT(open_pair(&p));
	EXPECT_EQ(tcgetattr(p.slave, &t), 0);
	EXPECT(t.c_lflag == (ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN));
	EXPECT(t.c_iflag == (ICRNL | IXON));
	EXPECT(t.c_oflag == (OPOST | ONLCR));
	EXPECT_EQ(cfgetospeed(&t), B38400);
	t.c_cc[VINTR] = 'q';
	cfsetspeed(&t, B115200);
	EXPECT_EQ(tcsetattr(p.slave, TCSAFLUSH, &t), 0);
	EXPECT_EQ(tcgetattr(p.master, &u), 0);
	EXPECT_EQ(u.c_cc[VINTR], 'q');
	EXPECT_EQ(cfgetospeed(&u), B115200);
}

TEST(seek_is_refused, "tty")
{
	struct pair p;

	EXPECT(open_pair(&p));
	EXPECT_ERRNO(lseek(p.slave, 0, SEEK_SET), ESPIPE);
	EXPECT_ERRNO(lseek(p.master, 0, SEEK_CUR), ESPIPE);
}

TEST(unknown_ioctl, "tty")
{
	struct pair p;

	EXPECT(open_pair(&p));
	EXPECT_ERRNO(ioctl(p.slave, 0x12345678, 0), ENOTTY);
	EXPECT_EQ(isatty(p.slave), 1);
	EXPECT_EQ(isatty(p.master), 1);
}

/* Far more than any buffer holds, in both directions at once, through a slow reader. */
TEST(nothing_is_lost, "tty")
{
	enum { TOTAL = 200000 };
	struct termios t;
	struct pair p;
	long sum = 0;
	pid_t pid;

	EXPECT(open_pair(&p));
	EXPECT_EQ(tcgetattr(p.slave, &t), 0);
	cfmakeraw(&t);
	EXPECT_EQ(tcsetattr(p.slave, TCSANOW, &t), 0);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < TOTAL; i += 1000) {
			char out[1000];

			for (int j = 0; j < 1000; j++)
				out[j] = (char)((i + j) % 251);
			for (int done = 0; done < 1000;) {
				ssize_t n = write(p.master, out + done, (size_t)(1000 - done));

				if (n <= 0)
					_exit(1);
				done += (int)n;
			}
		}
		_exit(0);
	}
	while (sum < TOTAL) {
		char in[777];
		ssize_t n = read(p.slave, in, sizeof(in));

		EXPECT(n > 0);
		for (ssize_t i = 0; i < n; i++, sum++)
			if ((unsigned char)in[i] != sum % 251) {
				FAIL("byte %ld is %u", sum, (unsigned char)in[i]);
				return;
			}
	}
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
	expect_silence(p.slave);
}
