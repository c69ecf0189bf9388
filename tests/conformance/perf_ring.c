/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring: mapping, filling, overrunning, polling, redirecting, and hostile readers. */
#include "perf_ring.h"

#include <time.h>

static struct ring ring, other;

TEST(sizes, "RING-MAP ACC-ERRORS")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IP);
	int fd = open_or_skip(&attr, 0, -1, -1);

	EXPECT(fd >= 0);
	for (size_t pages = 0; pages <= 9; pages++) {
		void *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		int error = errno;
		bool good = pages == 1 || pages == 2 || pages == 3 || pages == 5 || pages == 9;

		EXPECT_EQ(at != MAP_FAILED, good);
		if (good)
			EXPECT_EQ(munmap(at, pages * PAGE), 0);
		else
			EXPECT_EQ(error, EINVAL);
	}
	EXPECT(mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED && errno == EINVAL);
	EXPECT(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, PAGE) == MAP_FAILED && errno == EINVAL);
}

TEST(second_mapping_shares_the_ring, "RING-MAP LIFE-VMA")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IP);
	int fd = open_or_skip(&attr, 0, -1, -1);

	EXPECT(fd >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	EXPECT(!ring_map(&other, fd, 4, PROT_READ | PROT_WRITE));
	EXPECT(ring_map(&other, fd, 8, PROT_READ | PROT_WRITE));
	run_enabled(fd, 1000000);
	EXPECT(ring.page->data_head > 0);
	EXPECT_EQ(ring.page->data_head, other.page->data_head);
	EXPECT(memcmp(ring.data, other.data, 64) == 0);
	EXPECT_EQ(ring.page->data_size, 8 * PAGE);
	EXPECT_EQ(ring.page->data_offset, PAGE);
}

TEST(pages_outlive_the_event, "LIFE-VMA LIFE-ARMED")
{
	struct perf_event_attr attr = sampling(50000, PERF_SAMPLE_IP);
	int fd = open_or_skip(&attr, 0, -1, -1);
	uint64_t head;

	EXPECT(fd >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin(1000000);
	EXPECT_EQ(close(fd), 0);
	head = ring.page->data_head;
	EXPECT(head > 0);
	spin(1000000);
	EXPECT(ring.page->data_head >= head); /* the mapping holds the file, and with it the event */
	EXPECT_EQ(munmap(ring.page, 9 * PAGE), 0);
}

TEST(number_of_samples, "SAMPLE-PERIOD SLICE-SAMPLE RING-PUBLISH")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD);
	int fd = open_or_skip(&attr, 0, -1, -1), n = 0;
	struct {
		struct perf_event_header h;
		uint64_t ip, period;
	} *s;

	EXPECT(fd >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	run_enabled(fd, 5000000);
	while ((s = (void *)ring_next(&ring))) {
		if (s->h.type != PERF_RECORD_SAMPLE)
			continue;
		n++;
		EXPECT_EQ(s->h.size, sizeof(*s));
		EXPECT_EQ(s->h.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER);
		EXPECT_EQ(s->period, 100000);
		EXPECT(s->ip >= (uint64_t)spin && s->ip < (uint64_t)spin + 64);
	}
	EXPECT(n >= 99 && n <= 101);
	EXPECT((uint64_t)n * 100000 <= read_count(fd) && read_count(fd) < (uint64_t)(n + 2) * 100000);
}

TEST(overflows_without_a_ring, "SLICE-NORING")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IP);
	int fd = open_or_skip(&attr, 0, -1, -1);

	EXPECT(fd >= 0);
	run_enabled(fd, 1000000);
	EXPECT(read_count(fd) >= 1900000);
}

TEST(full_ring_says_how_many_are_lost, "RING-FULL")
{
	struct perf_event_attr attr = sampling(50000, PERF_SAMPLE_IP | PERF_SAMPLE_TIME);
	struct {
		struct perf_event_header h;
		uint64_t id, lost;
	} *lost;
	uint64_t v[2];
	int fd, n = 0;
	struct perf_event_header *h;
	uint64_t told = 0;

	attr.read_format = PERF_FORMAT_LOST;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 1, PROT_READ | PROT_WRITE));
	run_enabled(fd, 10000000); /* 400 samples of 24 bytes into 4096 bytes */
	EXPECT_EQ(read(fd, v, sizeof(v)), sizeof(v));
	EXPECT(v[1] > 200);
	EXPECT(ring.page->data_head <= PAGE);
	n += ring_count(&ring, PERF_RECORD_SAMPLE);
	run_enabled(fd, 100000); /* room again: now it is told */
	while ((h = ring_next(&ring))) {
		n += h->type == PERF_RECORD_SAMPLE;
		if (h->type == PERF_RECORD_LOST) {
			lost = (void *)h;
			told += lost->lost;
		}
	}
	EXPECT_EQ(told, v[1]);
	EXPECT(n + (int)told >= 400 && n + (int)told <= 406);
}

TEST(header_page_full_of_rubbish, "RING-HOSTILE")
{
	struct perf_event_attr attr = sampling(50000, PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN);
	int fd = open_or_skip(&attr, 0, -1, -1);
	static const uint64_t rubbish[] = { 0, 1, 7, PAGE - 1, PAGE, UINT64_MAX, UINT64_MAX - 7, 1ull << 63,
					    0xdeadbeefdeadbeef };

	EXPECT(fd >= 0 && ring_map(&ring, fd, 2, PROT_READ | PROT_WRITE));
	for (unsigned i = 0; i < 9 * 9; i++) {
		ring.page->data_tail = rubbish[i % 9];
		ring.page->data_head = rubbish[i / 9];
		ring.page->data_size = rubbish[i % 7];
		ring.page->data_offset = rubbish[i % 5];
		ring.page->lock = (uint32_t)rubbish[i % 9];
		run_enabled(fd, 100000);
	}
	memset(ring.page, 0xff, PAGE);
	run_enabled(fd, 1000000);
	memset(ring.page, 0, PAGE);
	run_enabled(fd, 1000000);
	EXPECT_EQ(munmap(ring.page, 3 * PAGE), 0);
	EXPECT_EQ(close(fd), 0);
	/* the same machine still makes good rings */
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 2, PROT_READ | PROT_WRITE));
	run_enabled(fd, 1000000);
	EXPECT(ring_count(&ring, PERF_RECORD_SAMPLE) >= 30);
}

TEST(poll_by_count, "RING-POLL")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IP);
	struct pollfd p = { .events = POLLIN };

	attr.wakeup_events = 10;
	p.fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(p.fd >= 0);
	EXPECT_EQ(poll(&p, 1, 0), 1); /* no ring: nothing will ever come */
	EXPECT(p.revents & POLLHUP);
	EXPECT(ring_map(&ring, p.fd, 8, PROT_READ | PROT_WRITE));
	EXPECT_EQ(poll(&p, 1, 0), 0);
	run_enabled(p.fd, 250000); /* 5 samples */
	EXPECT_EQ(poll(&p, 1, 0), 0);
	run_enabled(p.fd, 400000);
	EXPECT_EQ(poll(&p, 1, 1000), 1);
	EXPECT(p.revents & POLLIN);
}

TEST(poll_by_watermark, "RING-POLL")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IP);
	struct pollfd p = { .events = POLLIN };

	attr.watermark = 1;
	attr.wakeup_watermark = 16 * 20;
	p.fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(p.fd >= 0 && ring_map(&ring, p.fd, 8, PROT_READ | PROT_WRITE));
	run_enabled(p.fd, 500000);
	EXPECT_EQ(poll(&p, 1, 0), 0);
	run_enabled(p.fd, 1000000);
	EXPECT_EQ(poll(&p, 1, 1000), 1);
}

TEST(hang_up_when_the_task_is_gone, "RING-POLL LIFE-SHARED")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IP);
	struct pollfd p = { .events = POLLIN };
	int go[2];
	char c;
	pid_t pid;

	EXPECT(pipe(go) == 0);
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		_exit(read(go[0], &c, 1) != 0);
	}
	p.fd = open_or_skip(&attr, pid, -1, -1);
	EXPECT(p.fd >= 0 && ring_map(&ring, p.fd, 1, PROT_READ | PROT_WRITE));
	EXPECT_EQ(poll(&p, 1, 0), 0);
	close(go[1]);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(poll(&p, 1, 5000), 1);
	EXPECT(p.revents & POLLHUP);
}

TEST(redirect, "RING-REDIRECT")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP);
	int a = open_or_skip(&attr, 0, -1, -1), b = open_or_skip(&attr, 0, -1, -1);
	uint64_t id = 0;
	struct {
		struct perf_event_header h;
		uint64_t id, ip;
	} *s;

	EXPECT(a >= 0 && b >= 0 && ring_map(&ring, a, 4, PROT_READ | PROT_WRITE));
	EXPECT_ERRNO(ioctl(a, PERF_EVENT_IOC_SET_OUTPUT, a), EINVAL);
	EXPECT_EQ(ioctl(b, PERF_EVENT_IOC_SET_OUTPUT, a), 0);
	EXPECT_EQ(ioctl(b, PERF_EVENT_IOC_ID, &id), 0);
	run_enabled(b, 500000);
	s = (void *)ring_find(&ring, PERF_RECORD_SAMPLE);
	EXPECT(s);
	EXPECT_EQ(s->id, id);
	EXPECT(!ring_map(&other, b, 8, PROT_READ | PROT_WRITE)); /* it has a ring, of another size */
	EXPECT_EQ(close(a), 0);
	ring_count(&ring, 0);
	run_enabled(b, 500000); /* the ring lives on */
	EXPECT(ring_count(&ring, PERF_RECORD_SAMPLE) >= 9);
}

TEST(redirect_refusals, "RING-REDIRECT ACC-ERRORS")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IP);
	struct perf_event_attr clocked = attr;
	int task = open_or_skip(&attr, 0, -1, -1), cpu = open_or_skip(&attr, -1, 0, -1), clock;

	clocked.use_clockid = 1;
	clocked.clockid = CLOCK_MONOTONIC;
	clock = open_or_skip(&clocked, 0, -1, -1);
	EXPECT(task >= 0 && cpu >= 0 && clock >= 0);
	EXPECT_ERRNO(ioctl(task, PERF_EVENT_IOC_SET_OUTPUT, cpu), EINVAL);
	EXPECT_ERRNO(ioctl(clock, PERF_EVENT_IOC_SET_OUTPUT, task), EINVAL);
	EXPECT_EQ(ioctl(task, PERF_EVENT_IOC_SET_OUTPUT, -1), 0);
}

TEST(pause_output, "RING-BACKWARD CTL-IOCTL")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IP);
	int fd = open_or_skip(&attr, 0, -1, -1);

	EXPECT(fd >= 0);
	EXPECT_ERRNO(ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), EINVAL);
	EXPECT(ring_map(&ring, fd, 4, PROT_READ | PROT_WRITE));
	EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), 0);
	run_enabled(fd, 500000);
	EXPECT_EQ(ring.page->data_head, 0);
	EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), 0);
	run_enabled(fd, 500000);
	EXPECT(ring.page->data_head > 0);
}

TEST(backward, "RING-BACKWARD")
{
	struct perf_event_attr attr = sampling(50000, PERF_SAMPLE_IP | PERF_SAMPLE_TIME);
	struct {
		struct perf_event_header h;
		uint64_t ip, time;
	} s;
	uint64_t head, last = UINT64_MAX;
	int fd, n = 0;

	attr.write_backward = 1;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 1, PROT_READ));
	run_enabled(fd, 10000000); /* more than the ring holds: the newest stay */
	EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), 0);
	head = ring.page->data_head;
	EXPECT((int64_t)head < 0);
	for (uint64_t at = head; at - head <= PAGE - sizeof(s); at += sizeof(s)) {
		for (size_t i = 0; i < sizeof(s); i++)
			((unsigned char *)&s)[i] = ring.data[(at + i) % PAGE];
		if (s.h.type != PERF_RECORD_SAMPLE || s.h.size != sizeof(s))
			break;
		EXPECT(s.time < last); /* newest first */
		last = s.time;
		n++;
	}
	EXPECT(n > 100);
}

static volatile sig_atomic_t got_in, got_hup, got_fd;

static void on_signal(int sig, siginfo_t *si, void *context)
{
	(void)sig;
	(void)context;
	got_fd = si->si_fd;
	if (si->si_code == POLL_HUP)
		got_hup++;
	else if (si->si_code == POLL_IN)
		got_in++;
}

TEST(refresh_and_its_signal, "SAMPLE-SIGNAL")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IP);
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	int fd = open_or_skip(&attr, 0, -1, -1);
	uint64_t counted;

	EXPECT(fd >= 0 && ring_map(&ring, fd, 4, PROT_READ | PROT_WRITE));
	sigaction(SIGUSR1, &sa, NULL);
	EXPECT_EQ(fcntl(fd, F_SETFL, O_ASYNC), 0);
	EXPECT_EQ(fcntl(fd, F_SETSIG, SIGUSR1), 0);
	EXPECT_EQ(fcntl(fd, F_SETOWN, getpid()), 0);
	EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_REFRESH, 3), 0);
	spin(1000000);
	EXPECT_EQ(got_in, 2);
	EXPECT_EQ(got_hup, 1);
	EXPECT_EQ(got_fd, fd);
	counted = read_count(fd);
	EXPECT(counted >= 300000 && counted < 310000); /* it disabled itself */
	EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_REFRESH, 1), 0);
	spin(1000000);
	EXPECT_EQ(got_hup, 2);
}

TEST(change_the_period, "CTL-IOCTL SAMPLE-PERIOD")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IP);
	int fd = open_or_skip(&attr, 0, -1, -1);
	uint64_t period = 50000, zero = 0;

	EXPECT(fd >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	EXPECT_EQ(ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), 0);
	EXPECT_ERRNO(ioctl(fd, PERF_EVENT_IOC_PERIOD, &zero), EINVAL);
	run_enabled(fd, 2500000);
	period = (uint64_t)ring_count(&ring, PERF_RECORD_SAMPLE);
	EXPECT(period >= 98 && period <= 101);
}

TEST(periods_carry_over_slices, "SLICE-PERIOD")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IP);
	int fd = open_or_skip(&attr, 0, -1, -1), n;
	uint64_t counted;

	EXPECT(fd >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 300; i++) { /* each slice a third of a period */
		spin(15000);
		usleep(1000);
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	n = ring_count(&ring, PERF_RECORD_SAMPLE);
	counted = read_count(fd);
	EXPECT(n >= (int)(counted / 100000) - 1 && n <= (int)(counted / 100000) + 1);
}
