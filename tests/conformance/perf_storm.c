/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A storm: processes and threads do whatever can be done with events, in an order that only a seed
 * knows, with descriptors and rings that they share, close and unmap under one another's hands. What
 * each call gives is its own affair. No kernel may crash or hang, and afterwards events count as
 * before. Tally says so at power-off, by its status, if an event is still alive then.
 *
 * With PERF_SMP_FULL in the environment there are many more seeds (./check full).
 */
#define CHECK_SECONDS 900
#include "perf_util.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PAGE	      4096ul
#define PLACE	      (17 * PAGE) /* of one ring: sixteen pages and the first */

enum { WORKERS = 4, THREADS = 3, SLOTS = 16, TASKS = 32, COUNTERS = 6, NOBODY_ID = 65534 };

/* Shared by all processes. */
static struct {
	int tasks[TASKS]; /* whom one may observe; many of them are gone */
	int opened;
} * shared;

/* Shared by the threads of a process. A descriptor is in one slot at most, and each slot has a place for a ring. */
static int slots[SLOTS];
static char *places;

/* Of some tracepoints; none on Linux. */
static uint64_t tracepoints[3];
static unsigned nr_tracepoints;

/* Shared by all, as descriptors: two ends to pass events through, and a file of random bytes. */
static int ends[2], noise;

static _Thread_local uint64_t state;

static void seed_with(uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15 + 1;
}

static uint64_t random_bits(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1d;
}

static unsigned below(unsigned n)
{
	return (unsigned)((random_bits() >> 33) % n);
}

static bool one_in(unsigned n)
{
	return below(n) == 0;
}

static int any_cpu(void)
{
	return (int)below((unsigned)sysconf(_SC_NPROCESSORS_ONLN));
}

static int any_event(void)
{
	return __atomic_load_n(&slots[below(SLOTS)], __ATOMIC_RELAXED);
}

static char *any_place(void)
{
	return places + below(SLOTS) * PLACE;
}

/* What was in the slot is closed. */
static void put_into_slot(int fd)
{
	int old = __atomic_exchange_n(&slots[below(SLOTS)], fd, __ATOMIC_RELAXED);

	if (old >= 0)
		close(old);
}

/* ------------------------------------------------------------- attributes */

static struct perf_event_attr any_kind(void)
{
	static const uint64_t raw[] = {0x00, 0x01, 0x08, 0x11};

	switch (below(5)) {
	case 0:
		return perf_attr(PERF_TYPE_SOFTWARE, below(PERF_COUNT_SW_MAX));
	case 1:
		return perf_attr(PERF_TYPE_RAW, raw[below(ARRAY_SIZE(raw))]);
	case 2:
		if (nr_tracepoints)
			return perf_attr(PERF_TYPE_TRACEPOINT, tracepoints[below(nr_tracepoints)]);
		/* fallthrough */
	default:
		return perf_attr(PERF_TYPE_HARDWARE, below(2));
	}
}

/* On Linux rarely: its way to a sample is longer than a short period, and it would get nowhere. */
static void make_sampling(struct perf_event_attr *attr)
{
	unsigned rarely = check_on_linux() ? 10 : 1;

	attr->freq = one_in(3);
	attr->sample_period =
		attr->freq ? 1 + below(20000 / rarely) : rarely * (2000 + below(50000));
	if (attr->type == PERF_TYPE_TRACEPOINT)
		attr->sample_period = 1 + below(20);
	attr->sample_type = random_bits() & (PERF_SAMPLE_MAX - 1) &
			    ~(uint64_t)PERF_SAMPLE_BRANCH_STACK & ~(uint64_t)PERF_SAMPLE_AUX &
			    ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT;
	if (one_in(2))
		attr->sample_type &= 0xff;
	attr->sample_regs_user = random_bits() & 0x1ffffffff;
	attr->sample_regs_intr = random_bits() & 0x1ffffffff;
	attr->sample_stack_user = 8 * below(200);
	attr->exclude_callchain_kernel = one_in(2);
	attr->exclude_callchain_user = one_in(2);
	attr->precise_ip = one_in(8);
	attr->watermark = one_in(2);
	attr->wakeup_events = below(attr->watermark ? 5000 : 5);
}

static void choose_records(struct perf_event_attr *attr)
{
	attr->mmap = one_in(2);
	attr->mmap2 = one_in(2);
	attr->mmap_data = one_in(4);
	attr->build_id = one_in(5);
	attr->comm = one_in(2);
	attr->comm_exec = one_in(2);
	attr->task = one_in(2);
	attr->context_switch = one_in(2);
	attr->sample_id_all = one_in(2);
	attr->write_backward = one_in(6);
	attr->use_clockid = one_in(8);
	attr->clockid = one_in(2) ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_RAW;
}

static struct perf_event_attr any_attr(void)
{
	struct perf_event_attr attr = any_kind();

	if (one_in(2))
		make_sampling(&attr);
	choose_records(&attr);
	attr.read_format = below(PERF_FORMAT_MAX);
	attr.disabled = one_in(3);
	attr.pinned = one_in(6);
	attr.exclusive = one_in(8);
	attr.exclude_user = one_in(6);
	attr.exclude_kernel = one_in(3);
	attr.exclude_idle = one_in(8);
	attr.enable_on_exec = one_in(4);
	attr.remove_on_exec = !attr.enable_on_exec && one_in(4);
	attr.sigtrap = attr.remove_on_exec && one_in(2);
	attr.config1 = one_in(4) ? below(4) : 0;
	attr.inherit = one_in(2);
	if (!attr.inherit)
		return attr;
	attr.inherit_stat = one_in(3);
	attr.inherit_thread = one_in(4);
	attr.sample_type &= ~(uint64_t)PERF_SAMPLE_READ;
	attr.read_format &= ~(uint64_t)(one_in(4) ? 0 : PERF_FORMAT_GROUP);
	return attr;
}

/* ---------------------------------------------------------------- actions */

static void open_event(void)
{
	static const unsigned long flags[] = {PERF_FLAG_FD_CLOEXEC, PERF_FLAG_FD_CLOEXEC, 0,
					      PERF_FLAG_FD_CLOEXEC | PERF_FLAG_FD_OUTPUT};
	struct perf_event_attr attr = any_attr();
	int pid = one_in(4) ? shared->tasks[below(TASKS)] : one_in(8) ? -1 : 0;
	int cpu = pid < 0 || one_in(3) ? any_cpu() : -1;
	int fd = perf_open(&attr, pid, cpu, one_in(2) ? any_event() : -1,
			   flags[below(ARRAY_SIZE(flags))]);

	if (fd < 0)
		return;
	put_into_slot(fd);
	__atomic_fetch_add(&shared->opened, 1, __ATOMIC_RELAXED);
}

static void control_event(void)
{
	static const unsigned long plain[] = {PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE,
					      PERF_EVENT_IOC_RESET};
	uint64_t value = (check_on_linux() ? 20000 : 2000) + below(30000);

	switch (below(8)) {
	case 0:
		ioctl(any_event(), PERF_EVENT_IOC_SET_FILTER,
		      one_in(2) ? "common_pid > 7" : "prev_pid == 3 || next_prio != 120");
		break;
	case 4:
		ioctl(any_event(), PERF_EVENT_IOC_REFRESH, below(5));
		break;
	case 1:
		ioctl(any_event(), PERF_EVENT_IOC_PERIOD, &value);
		break;
	case 2:
		ioctl(any_event(), PERF_EVENT_IOC_SET_OUTPUT, one_in(4) ? -1 : any_event());
		break;
	case 3:
		ioctl(any_event(), PERF_EVENT_IOC_PAUSE_OUTPUT, below(2));
		ioctl(any_event(), PERF_EVENT_IOC_ID, &value);
		break;
	default:
		ioctl(any_event(), plain[below(3)], one_in(2) ? PERF_IOC_FLAG_GROUP : 0);
	}
}

static void modify_event(void)
{
	struct perf_event_attr attr = any_attr();

	ioctl(any_event(), PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr);
}

static void read_event(void)
{
	static const size_t sizes[] = {8, 24, 64, 4096};
	char buffer[4096];

	(void)!read(any_event(), one_in(20) ? (void *)16 : buffer, sizes[below(4)]);
}

static void map_ring(void)
{
	unsigned i = below(SLOTS);
	size_t size = PAGE * (one_in(6) ? 1 : 1 + (1ul << below(5)));
	int prot = one_in(4) ? PROT_READ : PROT_READ | PROT_WRITE;

	mmap(places + i * PLACE, size, prot, MAP_SHARED | MAP_FIXED, slots[i], 0);
}

/* All of a ring, or a part of it. The place stays reserved: a new thread's stack must not lie there. */
static void unmap_ring(void)
{
	size_t part = one_in(3) ? PAGE * below(4) : 0;

	mmap(any_place() + part, PLACE - 4 * part, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* The kernel copies: where a store would be a fault it fails, if the ring has gone meanwhile. */
static void scribble(void)
{
	size_t header = offsetof(struct perf_event_mmap_page, data_head);
	char *place = any_place();

	switch (below(4)) {
	case 0: /* what a reader does */
		(void)!pwrite(noise, place + header, 8, 0);
		(void)!pread(noise, place + header + 8, 8, 0);
		break;
	case 1:
		(void)!pread(noise, place + header, 48, 8 * below(400));
		break;
	case 2:
		(void)!pread(noise, place, PAGE, 0);
		break;
	default:
		(void)!pread(noise, place + below(2 * PAGE), 8, 8 * below(400));
	}
}

static void poll_event(void)
{
	struct pollfd polled = {.fd = any_event(), .events = POLLIN};

	poll(&polled, 1, (int)below(3));
}

static void ask_for_signals(void)
{
	int fd = any_event();

	fcntl(fd, F_SETOWN, one_in(2) ? getpid() : shared->tasks[below(TASKS)]);
	fcntl(fd, F_SETSIG, one_in(2) ? SIGUSR1 : 0);
	fcntl(fd, F_SETFL, one_in(2) ? O_ASYNC | O_NONBLOCK : O_NONBLOCK);
}

static void duplicate(void)
{
	int fd = dup(any_event());

	if (fd >= 0)
		put_into_slot(fd);
}

static void close_event(void)
{
	put_into_slot(-1);
}

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static void send_event(void)
{
	char byte = 0;
	struct iovec data = {&byte, 1};
	union control control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	int fd = any_event();

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	sendmsg(ends[0], &message, MSG_DONTWAIT);
}

static void receive_event(void)
{
	char byte;
	struct iovec data = {&byte, 1};
	union control control;
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	int fd;

	if (recvmsg(ends[1], &message, MSG_DONTWAIT) <= 0 || message.msg_controllen == 0)
		return;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	put_into_slot(fd);
}

static void move(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(any_cpu(), &set);
	if (one_in(2))
		CPU_SET(any_cpu(), &set);
	sched_setaffinity(one_in(4) ? shared->tasks[below(TASKS)] : 0, sizeof(set), &set);
}

static void work(void)
{
	spin(1 + below(20000));
}

static void rest(void)
{
	if (one_in(2))
		sched_yield();
	else
		usleep(below(300));
	prctl(PR_SET_NAME, one_in(2) ? "short" : "a longer name");
}

/* A child has copies of the descriptors and of the events that are inherited. */
static void be_a_child(void)
{
	work();
	if (one_in(2))
		control_event();
	if (one_in(3) && fork() == 0)
		work();
	if (one_in(3)) /* a test without a name: it ends at once */
		execl("/proc/self/exe", "perf_storm", "-", NULL);
	_exit(0);
}

static void make_a_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		be_a_child();
	if (pid < 0)
		return;
	shared->tasks[below(TASKS)] = pid;
	if (one_in(3))
		kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static const struct {
	unsigned weight;
	void (*act)(void);
} actions[] = {
	{22, open_event},     {20, control_event}, {1, modify_event}, {10, read_event},
	{8, map_ring},	      {4, unmap_ring},	   {10, scribble},    {2, poll_event},
	{2, ask_for_signals}, {2, duplicate},	   {7, close_event},  {2, send_event},
	{2, receive_event},   {3, move},	   {5, work},	      {3, rest},
	{2, make_a_child},
};

static void act(void)
{
	static unsigned total;
	unsigned sum = 0, choice;
	size_t i = 0;

	if (total == 0) {
		for (i = 0; i < ARRAY_SIZE(actions); i++)
			sum += actions[i].weight;
		total = sum;
	}
	choice = below(total);
	for (i = 0; choice >= actions[i].weight; i++)
		choice -= actions[i].weight;
	actions[i].act();
}

/* -------------------------------------------------------------- the storm */

struct part {
	uint64_t seed;
	int length;
};

static void *thread(void *arg)
{
	struct part *part = arg;

	seed_with(part->seed);
	for (int i = 0; i < part->length; i++)
		act();
	return NULL;
}

/* One process, as root or as somebody who may do less. */
static void be_a_worker(uint64_t seed, int length, bool as_root)
{
	struct part parts[THREADS];
	pthread_t threads[THREADS];

	if (!as_root && setresuid(NOBODY_ID, NOBODY_ID, NOBODY_ID))
		_exit(1);
	for (int i = 0; i < THREADS; i++) {
		parts[i] = (struct part){seed * THREADS + (uint64_t)i, length};
		if (pthread_create(&threads[i], NULL, thread, &parts[i]))
			_exit(2);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

static void ignore_signal(int number)
{
	(void)number;
}

static void find_tracepoint(const char *path)
{
	FILE *file = fopen(path, "r");

	if (file && fscanf(file, "%" SCNu64, &tracepoints[nr_tracepoints]) == 1)
		nr_tracepoints++;
	if (file)
		fclose(file);
}

static void make_ready(void)
{
	const struct sigaction ignore = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART};
	uint64_t bytes[PAGE / 8];

	sigaction(SIGIO, &ignore, NULL);
	sigaction(SIGUSR1, &ignore, NULL);
	sigaction(SIGTRAP, &ignore, NULL);
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	places = mmap(NULL, SLOTS * PLACE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	noise = memfd_create("noise", 0);
	EXPECT(shared != MAP_FAILED && places != MAP_FAILED && noise >= 0);
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bytes); i++)
		bytes[i] = random_bits() >> below(64);
	EXPECT_EQ(write(noise, bytes, sizeof(bytes)), sizeof(bytes));
	for (int i = 0; i < SLOTS; i++)
		slots[i] = -1;
	if (check_on_linux())
		return; /* with samples of the scheduler's tracepoints it gets nowhere here */
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL); /* if it is not there yet */
	find_tracepoint("/sys/kernel/tracing/events/sched/sched_switch/id");
	find_tracepoint("/sys/kernel/tracing/events/sched/sched_wakeup/id");
	find_tracepoint("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id");
}

/* The last one is ended in the middle of what it does. */
static void storm(uint64_t seed, int length)
{
	pid_t workers[WORKERS];
	int status;

	seed_with(seed);
	make_ready();
	for (int i = 0; i < WORKERS; i++) {
		workers[i] = fork();
		if (workers[i] == 0)
			be_a_worker(seed * WORKERS + (uint64_t)i, length, i != 1);
		EXPECT(workers[i] > 0);
		shared->tasks[i] = workers[i];
	}
	usleep(5000 + below(50000));
	kill(workers[WORKERS - 1], SIGKILL);
	for (int i = 0; i < WORKERS; i++) {
		EXPECT_EQ(waitpid(workers[i], &status, 0), workers[i]);
		if (i < WORKERS - 1 && status)
			FAIL("seed %llu: worker %d ended with status %#x", (unsigned long long)seed,
			     i, status);
	}
	EXPECT(shared->opened > length / 3);
}

/* What events that are all on counters count in the meantime. */
__attribute__((noipa)) static void count_all(const int *fds, uint64_t turns, uint64_t *counts)
{
	for (int i = 0; i < COUNTERS; i++)
		counts[i] = read_count(fds[i]);
	spin(turns);
	for (int i = 0; i < COUNTERS; i++)
		counts[i] = read_count(fds[i]) - counts[i];
}

/* Each counter that there is can be had, and counts what is done. */
static void count_as_before(void)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t less[COUNTERS], more[COUNTERS];
	int fds[COUNTERS];

	attr.disabled = 0;
	attr.pinned = 1;
	for (int i = 0; i < COUNTERS; i++) {
		fds[i] = perf_open(&attr, 0, -1, -1, 0);
		if (fds[i] < 0 && i == 0)
			return; /* in parallel mode QEMU has none */
		EXPECT(fds[i] >= 0);
	}
	count_all(fds, 1000, less);
	count_all(fds, 31000, more);
	for (int i = 0; i < COUNTERS; i++)
		if (!check_on_linux() || sysconf(_SC_NPROCESSORS_ONLN) == 1)
			EXPECT_EQ(more[i] - less[i], 60000);
}

/* Each storm in a process of its own; in full there are many whose seeds end with the same digit. */
static void storms(uint64_t seed)
{
	int n = getenv("PERF_SMP_FULL") ? 60 : 1, status;

	for (int i = 0; i < n; i++, seed += 10) {
		pid_t pid = fork();

		if (pid == 0) {
			storm(seed, check_on_linux() ? 50 : 400);
			_exit(CHECK_OK);
		}
		EXPECT_EQ(waitpid(pid, &status, 0), pid);
		if (status)
			_exit(CHECK_FAILED);
	}
	count_as_before();
}

TEST(seed_1, "LIFE-ONCE LIFE-SHARED LIFE-ARMED LIFE-VMA LIFE-REMOTE RING-HOSTILE ACC-LIMITS")
{
	storms(1);
}

TEST(seed_2, "LIFE-ONCE LIFE-SHARED LIFE-ARMED LIFE-VMA LIFE-REMOTE RING-HOSTILE ACC-LIMITS")
{
	storms(2);
}

TEST(seed_3, "LIFE-ONCE LIFE-SHARED LIFE-ARMED LIFE-VMA LIFE-REMOTE RING-HOSTILE ACC-LIMITS")
{
	storms(3);
}
