/* SPDX-License-Identifier: BSD-2-Clause */
/* The user's terminal; see terminal.h. */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "terminal.h"

static struct termios saved;
static bool is_raw;

void terminal_restore(void)
{
	if (is_raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
	is_raw = false;
}

void terminal_raw(void)
{
	static bool registered;
	struct termios raw;

	if (is_raw || tcgetattr(STDIN_FILENO, &saved))
		return;
	if (!registered)
		atexit(terminal_restore);
	registered = true;
	raw = saved;
	cfmakeraw(&raw);
	is_raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

void terminal_size(int fd, unsigned int *rows, unsigned int *columns)
{
	struct winsize size;

	*rows = 24;
	*columns = 80;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
		*rows = size.ws_row;
		*columns = size.ws_col;
	}
}

bool terminal_background(int fd)
{
	pid_t foreground = tcgetpgrp(fd);

	return foreground >= 0 && foreground != getpgrp();
}
