/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printk. A line is gathered until its newline comes, then put into the ring;
 * what is printed goes to the serial port at once, and what was printed before
 * there was one is shown when it starts.
 */
#include "lib/log.h"
#include "dev/dev.h"
#include "lib/lock.h"

#define LOG_LINES 256

static struct spinlock lock; /* interrupts off; not taken once panicking */
static bool panicking;
static bool started; /* the serial port is there */
static struct log_line ring[LOG_LINES];
static u64 next; /* sequence number of the line being gathered: ring[next % LOG_LINES] */

static u64 log_lock(void)
{
	u64 irq = irq_save();

	if (!READ_ONCE(panicking))
		spin_lock(&lock);
	return irq;
}

static void log_unlock(u64 irq)
{
	if (!READ_ONCE(panicking))
		spin_unlock(&lock);
	irq_restore(irq);
}

static void serial(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\n')
			uart_putc('\r');
		uart_putc(s[i]);
	}
}

static void gather(char c)
{
	struct log_line *line = &ring[next % LOG_LINES];

	if (line->seq != next || !line->time_ns) {
		line->seq = next;
		line->len = 0;
		line->time_ns = clock_ns();
	}
	if (c != '\n') {
		if (line->len < LOG_LINE_MAX)
			line->text[line->len++] = c;
		return;
	}
	next++;
	ring[next % LOG_LINES].time_ns = 0;
}

void printk(const char *fmt, ...)
{
	char text[512];
	va_list ap;
	size_t n;
	u64 irq;

	va_start(ap, fmt);
	n = (size_t)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	n = MIN(n, sizeof(text) - 1);
	irq = log_lock();
	for (size_t i = 0; i < n; i++)
		gather(text[i]);
	if (started)
		serial(text, n);
	log_unlock(irq);
}

u64 log_first(void)
{
	u64 n = READ_ONCE(next);

	return n >= LOG_LINES ? n - (LOG_LINES - 1) : 0;
}

u64 log_next(void)
{
	return READ_ONCE(next);
}

bool log_get(u64 seq, struct log_line *out)
{
	u64 irq = log_lock();
	bool there = seq < next && seq >= log_first();

	if (there)
		*out = ring[seq % LOG_LINES];
	log_unlock(irq);
	return there;
}

void printk_start(void)
{
	u64 irq = log_lock();

	for (u64 seq = log_first(); seq < next; seq++) {
		const struct log_line *line = &ring[seq % LOG_LINES];

		serial(line->text, line->len);
		serial("\n", 1);
	}
	started = true;
	log_unlock(irq);
}

void printk_panic_mode(void)
{
	WRITE_ONCE(panicking, true);
}
