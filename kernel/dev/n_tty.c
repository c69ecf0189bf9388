/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal line discipline (termios(3)): input editing and echo, signals
 * from the keyboard, flow control, and output processing.
 *
 * Input lies in a ring of TTY_INPUT bytes. In canonical mode readers see what
 * lies before canon_head, in raw mode all of it. When the ring is full of a
 * line that is not complete, bytes are dropped until the line ends (as
 * termios(3) says for MAX_CANON); in all other cases input is refused and the
 * driver keeps it until there is room, so that nothing is lost.
 */
#include "dev/tty.h"
#include "proc/signal.h"

#define INPUT_LINE_END 1u /* the byte ends a line */
#define INPUT_EOF      2u /* and is the EOF character, which is not part of it */

#define I(t, f) ((t)->termios.c_iflag & (f))
#define O(t, f) ((t)->termios.c_oflag & (f))
#define L(t, f) ((t)->termios.c_lflag & (f))
#define C(t, i) ((t)->termios.c_cc[i])

static u8 input_at(const struct tty *t, u32 i)
{
	return t->input[i % TTY_INPUT];
}

static bool is_char(const struct tty *t, unsigned index, u8 c)
{
	return C(t, index) && C(t, index) == c;
}

static bool is_utf8_continuation(const struct tty *t, u8 c)
{
	return I(t, IUTF8) && (c & 0xc0) == 0x80;
}

static bool is_control(u8 c)
{
	return c < 32 || c == 127;
}

/* ------------------------------------------------------------------ output */

/* What c becomes on its way out; at most 8 bytes into out. Moves the cursor. */
static u32 process_char(struct tty *t, u8 c, u8 *out)
{
	u32 n;

	if (!O(t, OPOST)) {
		out[0] = c;
		return 1;
	}
	switch (c) {
	case '\n':
		if (O(t, ONLRET))
			t->column = 0;
		if (O(t, ONLCR)) {
			t->column = t->canon_column = 0;
			out[0] = '\r';
			out[1] = '\n';
			return 2;
		}
		t->canon_column = t->column;
		break;
	case '\r':
		if (O(t, ONOCR) && t->column == 0)
			return 0;
		if (O(t, OCRNL)) {
			c = '\n';
			if (O(t, ONLRET))
				t->column = t->canon_column = 0;
			break;
		}
		t->column = t->canon_column = 0;
		break;
	case '\t':
		n = 8 - (t->column & 7);
		t->column += n;
		if (O(t, TABDLY) == XTABS) {
			memset(out, ' ', n);
			return n;
		}
		break;
	case '\b':
		if (t->column)
			t->column--;
		break;
	default:
		if (is_control(c))
			break;
		if (O(t, OLCUC) && c >= 'a' && c <= 'z')
			c = (u8)(c - 'a' + 'A');
		if (!is_utf8_continuation(t, c))
			t->column++;
	}
	out[0] = c;
	return 1;
}

bool tty_push_output(struct tty *t)
{
	while (t->output_start < t->output_end && !t->stopped) {
		size_t took = t->drv->write(t, t->output + t->output_start,
					    t->output_end - t->output_start);
		if (took == 0)
			return false;
		t->output_start += (u32)took;
	}
	if (t->output_start < t->output_end)
		return false;
	t->output_start = t->output_end = 0;
	/* what was echoed meanwhile comes after what was written before it */
	if (t->echo_len && !t->stopped) {
		size_t took = t->drv->write(t, t->echo, t->echo_len);

		t->echo_len -= (u32)took;
		memmove(t->echo, t->echo + took, t->echo_len);
	}
	return t->echo_len == 0;
}

size_t tty_process_output(struct tty *t, const u8 *buf, size_t n)
{
	size_t done = 0;

	if (t->stopped || !tty_push_output(t))
		return 0;
	while (done < n && t->output_end + 8 <= TTY_OUTPUT)
		t->output_end += process_char(t, buf[done++], t->output + t->output_end);
	tty_push_output(t);
	return done;
}

void tty_write_wakeup(struct tty *t)
{
	tty_push_output(t);
	wake_up(&t->write_wait);
}

void tty_stop(struct tty *t)
{
	if (t->stopped)
		return;
	t->stopped = true;
	if (t->drv->packet)
		t->drv->packet(t, TIOCPKT_STOP);
}

void tty_start(struct tty *t)
{
	if (!t->stopped)
		return;
	t->stopped = false;
	if (t->drv->packet)
		t->drv->packet(t, TIOCPKT_START);
	tty_write_wakeup(t);
}

void tty_flush_output(struct tty *t)
{
	t->output_start = t->output_end = 0;
	t->echo_len = 0;
	if (t->drv->flush)
		t->drv->flush(t);
	if (t->drv->packet)
		t->drv->packet(t, TIOCPKT_FLUSHWRITE);
	wake_up(&t->write_wait);
}

/* -------------------------------------------------------------------- echo */

/* Echo never waits: what the driver and the buffer cannot take is not shown. */
static void echo_raw(struct tty *t, u8 c)
{
	if (t->echo_len + 8 <= TTY_ECHO)
		t->echo_len += process_char(t, c, t->echo + t->echo_len);
}

static void echo_char(struct tty *t, u8 c)
{
	if (L(t, ECHOCTL) && is_control(c) && c != '\t') {
		echo_raw(t, '^');
		echo_raw(t, c ^ 0100);
	} else {
		echo_raw(t, c);
	}
}

static void echo_input(struct tty *t, u8 c)
{
	if (!L(t, ECHO) && !(c == '\n' && L(t, ECHONL) && L(t, ICANON)))
		return;
	if (c == '\n') {
		echo_raw(t, '\n');
		return;
	}
	if (t->canon_head == t->head)
		t->canon_column = t->column;
	echo_char(t, c);
}

static void echo_back(struct tty *t, u32 columns)
{
	while (columns--) {
		echo_raw(t, '\b');
		if (L(t, ECHOE)) {
			echo_raw(t, ' ');
			echo_raw(t, '\b');
		}
	}
}

/* How far the cursor moved for the tab at index `at` of the line. */
static u32 tab_width(const struct tty *t, u32 at)
{
	u32 col = t->canon_column;

	for (u32 i = t->canon_head; i != at; i++) {
		u8 c = input_at(t, i);

		if (c == '\t')
			col = (col | 7) + 1;
		else if (is_control(c))
			col += L(t, ECHOCTL) ? 2 : 0;
		else if (!is_utf8_continuation(t, c))
			col++;
	}
	return 8 - (col & 7);
}

/* ----------------------------------------------------------------- editing */

/* Takes the last character of the line away, all bytes of it. */
static void erase_one(struct tty *t)
{
	u8 c;

	do {
		c = input_at(t, --t->head);
	} while (is_utf8_continuation(t, c) && t->head != t->canon_head);
	if (!L(t, ECHO))
		return;
	if (!L(t, ECHOE)) {
		echo_char(t, C(t, VERASE));
	} else if (c == '\t') {
		for (u32 n = tab_width(t, t->head); n; n--)
			echo_raw(t, '\b');
	} else if (!is_control(c)) {
		echo_back(t, 1);
	} else if (L(t, ECHOCTL)) {
		echo_back(t, 2);
	}
}

static bool is_word_char(u8 c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c >= 0x80;
}

static void erase_word(struct tty *t)
{
	bool seen = false;

	while (t->head != t->canon_head) {
		bool word = is_word_char(input_at(t, t->head - 1));

		if (seen && !word)
			return;
		seen |= word;
		erase_one(t);
	}
}

static void erase_line(struct tty *t)
{
	if (L(t, ECHO) && L(t, ECHOK) && L(t, ECHOKE) && L(t, ECHOE)) {
		while (t->head != t->canon_head)
			erase_one(t);
		return;
	}
	t->head = t->canon_head;
	if (!L(t, ECHO))
		return;
	echo_char(t, C(t, VKILL));
	if (L(t, ECHOK))
		echo_raw(t, '\n');
}

static void reprint_line(struct tty *t)
{
	echo_char(t, C(t, VREPRINT));
	echo_raw(t, '\n');
	for (u32 i = t->canon_head; i != t->head; i++)
		echo_char(t, input_at(t, i));
}

/* ------------------------------------------------------------------- input */

static u32 input_room(const struct tty *t)
{
	return TTY_INPUT - (t->head - t->tail);
}

static void put_input(struct tty *t, u8 c, u8 flag)
{
	/* the last place is for the end of the line */
	if (input_room(t) < (flag ? 1u : 2u))
		return;
	t->input[t->head % TTY_INPUT] = c;
	t->input_flag[t->head % TTY_INPUT] = flag;
	t->head++;
}

static void end_line(struct tty *t, u8 c, u8 flag)
{
	put_input(t, c, INPUT_LINE_END | flag);
	t->canon_head = t->head;
}

void tty_flush_input(struct tty *t)
{
	t->head = t->canon_head = t->tail = 0;
	t->literal_next = false;
	if (t->drv->packet)
		t->drv->packet(t, TIOCPKT_FLUSHREAD);
	if (t->throttled) {
		t->throttled = false;
		t->drv->unthrottle(t);
	}
}

static bool keyboard_signal(struct tty *t, u8 c)
{
	int sig;

	if (!L(t, ISIG))
		return false;
	if (is_char(t, VINTR, c))
		sig = SIGINT;
	else if (is_char(t, VQUIT, c))
		sig = SIGQUIT;
	else if (is_char(t, VSUSP, c))
		sig = SIGTSTP;
	else
		return false;
	if (!L(t, NOFLSH)) {
		t->head = t->canon_head = t->tail = 0;
		tty_flush_output(t);
	}
	tty_start(t);
	if (L(t, ECHO))
		echo_char(t, c);
	tty_signal_foreground(t, sig);
	return true;
}

static bool flow_control(struct tty *t, u8 c)
{
	if (!I(t, IXON))
		return false;
	if (is_char(t, VSTART, c)) {
		tty_start(t);
		return true;
	}
	if (is_char(t, VSTOP, c)) {
		tty_stop(t);
		return true;
	}
	return false;
}

/* Characters that edit the line. False: c is an ordinary one. */
static bool edit_line(struct tty *t, u8 c)
{
	bool extended = L(t, IEXTEN);

	if (is_char(t, VERASE, c)) {
		if (t->head != t->canon_head)
			erase_one(t);
	} else if (extended && is_char(t, VWERASE, c)) {
		erase_word(t);
	} else if (is_char(t, VKILL, c)) {
		erase_line(t);
	} else if (extended && is_char(t, VLNEXT, c)) {
		t->literal_next = true;
		if (L(t, ECHO) && L(t, ECHOCTL)) {
			echo_raw(t, '^');
			echo_raw(t, '\b');
		}
	} else if (extended && L(t, ECHO) && is_char(t, VREPRINT, c)) {
		reprint_line(t);
	} else {
		return false;
	}
	return true;
}

/* Characters that end the line. False: c is an ordinary one. */
static bool finish_line(struct tty *t, u8 c)
{
	if (c == '\n') {
		echo_input(t, c);
		end_line(t, c, 0);
	} else if (is_char(t, VEOF, c)) {
		end_line(t, 0, INPUT_EOF);
	} else if (is_char(t, VEOL, c) || (L(t, IEXTEN) && is_char(t, VEOL2, c))) {
		echo_input(t, c);
		end_line(t, c, 0);
	} else {
		return false;
	}
	return true;
}

static void store_char(struct tty *t, u8 c)
{
	if (L(t, ICANON) && input_room(t) < 2) {
		if (I(t, IMAXBEL))
			echo_raw(t, '\a');
		return;
	}
	echo_input(t, c);
	if (c == 0xff && I(t, PARMRK))
		put_input(t, c, 0);
	put_input(t, c, 0);
}

static void receive_char(struct tty *t, u8 c)
{
	if (I(t, ISTRIP))
		c &= 0x7f;
	if (t->literal_next) {
		t->literal_next = false;
		store_char(t, c);
		return;
	}
	if (I(t, IUCLC) && L(t, IEXTEN) && c >= 'A' && c <= 'Z')
		c = (u8)(c - 'A' + 'a');
	if (flow_control(t, c) || keyboard_signal(t, c))
		return;
	if (t->stopped && I(t, IXON) && I(t, IXANY))
		tty_start(t);
	if (c == '\r') {
		if (I(t, IGNCR))
			return;
		if (I(t, ICRNL))
			c = '\n';
	} else if (c == '\n' && I(t, INLCR)) {
		c = '\r';
	}
	if (L(t, ICANON) && (edit_line(t, c) || finish_line(t, c)))
		return;
	store_char(t, c);
}

/* No more input is wanted before somebody reads. */
static bool input_full(const struct tty *t)
{
	if (L(t, ICANON) && t->canon_head == t->tail)
		return false;
	/* PARMRK makes two bytes of one; the last place is kept for the end of a line */
	return input_room(t) < 3;
}

size_t tty_receive(struct tty *t, const u8 *buf, size_t n)
{
	size_t done = 0;

	while (done < n && !input_full(t))
		receive_char(t, buf[done++]);
	t->throttled = done < n;
	tty_push_output(t);
	if (tty_input_ready(t, 1))
		wake_up(&t->read_wait);
	return done;
}

/* ----------------------------------------------------------------- reading */

u32 tty_input_len(const struct tty *t)
{
	u32 n = 0;

	if (!L(t, ICANON))
		return t->head - t->tail;
	for (u32 i = t->tail; i != t->canon_head; i++)
		n += !(t->input_flag[i % TTY_INPUT] & INPUT_EOF);
	return n;
}

bool tty_input_ready(const struct tty *t, u32 want)
{
	if (L(t, ICANON))
		return t->canon_head != t->tail;
	return t->head - t->tail >= want;
}

size_t tty_take_input(struct tty *t, u8 *buf, size_t n, bool *line_end)
{
	u32 end = L(t, ICANON) ? t->canon_head : t->head;
	size_t done = 0;

	*line_end = false;
	while (t->tail != end) {
		u8 flag = L(t, ICANON) ? t->input_flag[t->tail % TTY_INPUT] : 0;

		if (flag & INPUT_EOF) {
			t->tail++;
			*line_end = true;
			break;
		}
		if (done == n)
			break;
		buf[done++] = input_at(t, t->tail++);
		if (flag & INPUT_LINE_END) {
			*line_end = true;
			break;
		}
	}
	if (t->throttled && !input_full(t)) {
		t->throttled = false;
		t->drv->unthrottle(t);
	}
	return done;
}

/*
 * Into canonical mode, what is there counts as one line, as it does on Linux;
 * out of it, all becomes readable.
 */
void tty_termios_changed(struct tty *t, const struct ktermios *old)
{
	if ((old->c_lflag ^ t->termios.c_lflag) & ICANON) {
		if (!L(t, ICANON))
			t->canon_head = t->head;
		else if (t->head != t->tail) {
			t->input_flag[(t->head - 1) % TTY_INPUT] = INPUT_LINE_END;
			t->canon_head = t->head;
		} else {
			t->canon_head = t->tail;
		}
		t->literal_next = false;
	}
	if (t->stopped && (old->c_iflag & IXON) && !I(t, IXON))
		tty_start(t);
	wake_up(&t->read_wait);
	wake_up(&t->write_wait);
}
