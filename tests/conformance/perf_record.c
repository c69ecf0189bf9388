/* SPDX-License-Identifier: BSD-2-Clause */
/* What is in the records: sample fields, side-band records, trailers. */
#include "perf_ring.h"

#include <asm/perf_regs.h>
#include <pthread.h>
#include <sys/prctl.h>

static struct ring ring;

/* Takes 64-bit words off a record, in order. */
struct cursor {
	const uint64_t *at, *end;
};

static struct cursor body_of(const struct perf_event_header *h)
{
	return (struct cursor){ (const uint64_t *)(h + 1), (const uint64_t *)((const char *)h + h->size) };
}

static uint64_t next(struct cursor *c)
{
	if (c->at >= c->end) {
		FAIL("the record is too short");
		return 0;
	}
	return *c->at++;
}

TEST(every_simple_field_in_order, "SAMPLE-FIELDS SAMPLE-OWNER")
{
	struct perf_event_attr attr =
		sampling(100000, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
					 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ);
	uint64_t id = 0, pid_tid, last = 0, last_value = 0;
	struct perf_event_header *h;
	int fd, n = 0;

	attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	ioctl(fd, PERF_EVENT_IOC_ID, &id);
	run_enabled(fd, 1000000);
	while ((h = ring_find(&ring, PERF_RECORD_SAMPLE))) {
		struct cursor c = body_of(h);
		uint64_t time, value;

		n++;
		EXPECT_EQ(next(&c), id);
		EXPECT(next(&c) - (uint64_t)spin < 64);
		pid_tid = next(&c);
		EXPECT_EQ((uint32_t)pid_tid, getpid());
		EXPECT_EQ(pid_tid >> 32, getpid());
		time = next(&c);
		EXPECT(time > last);
		last = time;
		next(&c); /* addr */
		EXPECT_EQ(next(&c), id);
		EXPECT(next(&c) > 0);
		EXPECT((uint32_t)next(&c) < 64);
		EXPECT_EQ(next(&c), 100000);
		value = next(&c);
		EXPECT(value > last_value && value >= (uint64_t)n * 100000 && value < (uint64_t)n * 100000 + 1000);
		last_value = value;
		EXPECT(next(&c) > 0);
		EXPECT_EQ(next(&c), id);
		EXPECT(c.at == c.end);
	}
	EXPECT(n >= 18 && n <= 20);
}

TEST(values_of_a_group, "SAMPLE-FIELDS SLICE-GROUP")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_READ);
	struct perf_event_attr sibling = instructions_u();
	struct perf_event_header *h;
	int fd, n = 0;

	attr.read_format = sibling.read_format = PERF_FORMAT_GROUP;
	sibling.disabled = 0;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0 && open_or_skip(&sibling, 0, -1, fd) >= 0);
	EXPECT(ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	run_enabled(fd, 1000000);
	while ((h = ring_find(&ring, PERF_RECORD_SAMPLE))) {
		struct cursor c = body_of(h);
		uint64_t cycles, instructions;

		n++;
		EXPECT_EQ(next(&c), 2);
		cycles = next(&c);
		instructions = next(&c);
		EXPECT(cycles >= (uint64_t)n * 100000 && cycles < (uint64_t)n * 100000 + 1000);
		EXPECT(instructions + 1000 > cycles && instructions < cycles + 1000);
	}
	EXPECT(n >= 18);
}

/* Three frames that the compiler keeps. */
__attribute__((noinline)) static void leaf(int fd)
{
	run_enabled(fd, 1000000);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void middle(int fd)
{
	leaf(fd);
	__asm__ volatile("" ::: "memory");
}

TEST(user_call_chain, "SAMPLE-FIELDS")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
	struct perf_event_header *h;
	int fd, n = 0;

	attr.exclude_callchain_kernel = 1;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	middle(fd);
	while ((h = ring_find(&ring, PERF_RECORD_SAMPLE))) {
		struct cursor c = body_of(h);
		uint64_t ip = next(&c), nr = next(&c), in_middle = 0;

		n++;
		EXPECT(nr >= 4 && nr <= 127);
		EXPECT_EQ((int64_t)next(&c), (int64_t)PERF_CONTEXT_USER);
		EXPECT_EQ(next(&c), ip);
		for (uint64_t i = 2; i < nr; i++) {
			uint64_t pc = next(&c);

			in_middle += pc > (uint64_t)middle && pc < (uint64_t)middle + 64;
		}
		EXPECT_EQ(in_middle, 1);
	}
	EXPECT(n >= 18);
}

TEST(kernel_and_user_chain, "SAMPLE-FIELDS SAMPLE-MISC")
{
	struct perf_event_attr attr = sampling(5000, PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
	struct perf_event_header *h;
	int fd, kernel = 0, both = 0;

	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 64, PROT_READ | PROT_WRITE));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 2000; i++)
		getppid();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	while ((h = ring_find(&ring, PERF_RECORD_SAMPLE))) {
		struct cursor c = body_of(h);
		uint64_t ip = next(&c), nr = next(&c), user = 0;

		if ((h->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL)
			continue; /* taken as the kernel was left */
		kernel++;
		EXPECT_EQ((int64_t)next(&c), (int64_t)PERF_CONTEXT_KERNEL);
		EXPECT_EQ(next(&c), ip);
		EXPECT((int64_t)ip < 0);
		for (uint64_t i = 2; i < nr; i++)
			user += next(&c) == (uint64_t)PERF_CONTEXT_USER;
		both += user == 1;
	}
	EXPECT(kernel > 10);
	EXPECT_EQ(both, kernel);
}

TEST(short_chains, "SAMPLE-FIELDS")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_CALLCHAIN);
	struct perf_event_header *h;
	int fd, n = 0;

	attr.sample_max_stack = 2;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	middle(fd);
	while ((h = ring_find(&ring, PERF_RECORD_SAMPLE))) {
		struct cursor c = body_of(h);

		n++;
		EXPECT_EQ(next(&c), 3); /* a marker and two addresses */
	}
	EXPECT(n >= 18);
	attr.sample_max_stack = 10000;
	EXPECT_ERRNO(perf_open(&attr, 0, -1, -1, 0), EOVERFLOW);
}

TEST(user_registers_and_stack, "SAMPLE-FIELDS")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	volatile uint64_t marker = 0x7a117a117a117a11;
	struct perf_event_header *h;
	int fd, n = 0, found = 0;

	attr.sample_regs_user = 1ull << PERF_REG_ARM64_SP | 1ull << PERF_REG_ARM64_PC | 1ull << PERF_REG_ARM64_X29;
	attr.sample_stack_user = 1024;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 32, PROT_READ | PROT_WRITE));
	run_enabled(fd, 1000000);
	while ((h = ring_find(&ring, PERF_RECORD_SAMPLE))) {
		struct cursor c = body_of(h);
		uint64_t ip = next(&c), sp, size, dynamic;

		n++;
		EXPECT_EQ(next(&c), PERF_SAMPLE_REGS_ABI_64);
		next(&c); /* x29 */
		sp = next(&c);
		EXPECT((uint64_t)&marker - sp < 1024);
		EXPECT_EQ(next(&c), ip);
		size = next(&c);
		EXPECT_EQ(size, 1024);
		for (uint64_t i = 0; i < size / 8; i++)
			found += next(&c) == marker;
		dynamic = next(&c);
		EXPECT(dynamic > 0 && dynamic <= size);
	}
	EXPECT(n >= 18);
	EXPECT(found >= n);
}

TEST(bad_sample_requests, "ACC-ERRORS")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_STACK_USER);

	attr.sample_stack_user = 1025;
	EXPECT_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	attr = sampling(100000, PERF_SAMPLE_REGS_USER);
	attr.sample_regs_user = 1ull << 60;
	EXPECT_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	attr = sampling(100000, PERF_SAMPLE_IP);
	attr.freq = 1;
	attr.sample_freq = 1000000000;
	EXPECT_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	attr = sampling(1ull << 63, PERF_SAMPLE_IP);
	EXPECT_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	attr = sampling(100000, PERF_SAMPLE_READ);
	attr.inherit = 1;
	EXPECT_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
}

TEST(page_fault_addresses, "SAMPLE-FIELDS")
{
	struct perf_event_attr attr = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	struct perf_event_header *h;
	char *fresh = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd, hits = 0;

	attr.disabled = 1;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	fd = perf_open(&attr, 0, -1, -1, 0);
	EXPECT(fd >= 0 && fresh != MAP_FAILED && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 16; i++)
		((volatile char *)fresh)[i * PAGE + 8] = 1;
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	while ((h = ring_find(&ring, PERF_RECORD_SAMPLE))) {
		struct cursor c = body_of(h);
		uint64_t addr;

		next(&c);
		addr = next(&c);
		if (addr == (uint64_t)fresh + (uint64_t)hits * PAGE + 8)
			hits++;
	}
	EXPECT_EQ(hits, 16);
}

TEST(context_switch_samples, "SAMPLE-FIELDS")
{
	struct perf_event_attr attr = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	int fd, n;

	attr.disabled = 1;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN;
	fd = perf_open(&attr, 0, -1, -1, 0);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 32, PROT_READ | PROT_WRITE));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 10; i++)
		usleep(1000);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	n = ring_count(&ring, PERF_RECORD_SAMPLE);
	EXPECT(n >= 10 && n <= 12);
}

TEST(clock_samples, "SAMPLE-PERIOD")
{
	struct perf_event_attr attr = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	int fd, n;

	attr.disabled = 1;
	attr.sample_period = 1000000; /* ns */
	attr.sample_type = PERF_SAMPLE_IP;
	fd = perf_open(&attr, 0, -1, -1, 0);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	run_enabled(fd, 20000000); /* 40 ms and a little at an instruction a nanosecond */
	n = ring_count(&ring, PERF_RECORD_SAMPLE);
	EXPECT(n >= 35 && n <= 45);
}

TEST(frequency, "SAMPLE-FREQ")
{
	struct perf_event_attr attr = sampling(0, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD);
	int fd, n;

	attr.freq = 1;
	attr.sample_freq = 1000;
	fd = open_or_skip(&attr, 0, -1, -1);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 32, PROT_READ | PROT_WRITE));
	run_enabled(fd, 150000000); /* 300 ms */
	n = ring_count(&ring, PERF_RECORD_SAMPLE);
	EXPECT(n >= 270 && n <= 345);
}

/* ------------------------------------------------------------- side-band */

static struct perf_event_attr tracking(void)
{
	struct perf_event_attr attr = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr.sample_id_all = 1;
	attr.inherit = 1; /* so its ring must belong to one CPU: open it with open_tracking() */
	return attr;
}

/* Opens on this task on CPU 0, where it and its children stay. */
static int open_tracking(struct perf_event_attr *attr)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	return perf_open(attr, 0, 0, -1, 0);
}

/* The trailer: pid/tid, time, cpu, identifier, at the very end. */
static void expect_trailer(const struct perf_event_header *h, pid_t pid, pid_t tid, uint64_t id)
{
	const uint64_t *end = (const uint64_t *)((const char *)h + h->size);

	EXPECT_EQ(end[-1], id);
	EXPECT((uint32_t)end[-2] < 64);
	EXPECT(end[-3] > 0);
	EXPECT_EQ((uint32_t)end[-4], pid);
	EXPECT_EQ(end[-4] >> 32, tid);
}

static const char *comm_of(const struct perf_event_header *h)
{
	return (const char *)(h + 1) + 8;
}

TEST(comm_records, "SIDE-COMM SIDE-TRAILER")
{
	struct perf_event_attr attr = tracking();
	struct perf_event_header *h;
	uint64_t id = 0;
	int fd, w;

	attr.comm = 1;
	attr.comm_exec = 1;
	fd = open_tracking(&attr);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	ioctl(fd, PERF_EVENT_IOC_ID, &id);
	prctl(PR_SET_NAME, "renamed");
	h = ring_find(&ring, PERF_RECORD_COMM);
	EXPECT(h);
	EXPECT(strcmp(comm_of(h), "renamed") == 0);
	EXPECT_EQ(h->misc & PERF_RECORD_MISC_COMM_EXEC, 0);
	expect_trailer(h, getpid(), getpid(), id);

	w = open("/proc/self/comm", O_WRONLY);
	EXPECT(w >= 0 && write(w, "by proc", 7) == 7);
	h = ring_find(&ring, PERF_RECORD_COMM);
	EXPECT(h);
	EXPECT(strcmp(comm_of(h), "by proc") == 0);

	if (fork() == 0)
		execl("/bin/busybox", "true", (char *)NULL);
	wait(NULL);
	h = ring_find(&ring, PERF_RECORD_COMM);
	EXPECT(h);
	EXPECT(strcmp(comm_of(h), "busybox") == 0 || strcmp(comm_of(h), "true") == 0);
	EXPECT(h->misc & PERF_RECORD_MISC_COMM_EXEC);
}

struct task_record {
	struct perf_event_header h;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

TEST(fork_and_exit_records, "SIDE-FORK SIDE-EXIT SIDE-TRAILER INH-RING")
{
	struct perf_event_attr attr = tracking();
	struct task_record *r;
	uint64_t id = 0;
	pid_t child;
	int fd;

	attr.task = 1;
	fd = open_tracking(&attr);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	ioctl(fd, PERF_EVENT_IOC_ID, &id);
	child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	r = (void *)ring_next(&ring);
	EXPECT(r);
	EXPECT_EQ(r->h.type, PERF_RECORD_FORK);
	EXPECT(r->pid == (uint32_t)child && r->tid == (uint32_t)child);
	EXPECT(r->ppid == (uint32_t)getpid() && r->ptid == (uint32_t)getpid());
	EXPECT(r->time > 0);
	expect_trailer(&r->h, getpid(), getpid(), id);
	r = (void *)ring_next(&ring);
	EXPECT(r);
	EXPECT_EQ(r->h.type, PERF_RECORD_EXIT);
	EXPECT(r->pid == (uint32_t)child && r->tid == (uint32_t)child);
	expect_trailer(&r->h, child, child, id);
	EXPECT(!ring_next(&ring));
}

static void *thread_body(void *arg)
{
	return arg;
}

TEST(thread_records, "SIDE-FORK SIDE-EXIT")
{
	struct perf_event_attr attr = tracking();
	struct task_record *r;
	pthread_t thread;
	int fd;

	attr.task = 1;
	fd = open_tracking(&attr);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	EXPECT(pthread_create(&thread, NULL, thread_body, NULL) == 0);
	pthread_join(thread, NULL);
	r = (void *)ring_find(&ring, PERF_RECORD_FORK);
	EXPECT(r);
	EXPECT_EQ(r->pid, getpid());
	EXPECT(r->tid != (uint32_t)getpid());
}

struct mmap2_record {
	struct perf_event_header h;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, generation;
	uint32_t prot, flags;
	char name[];
};

TEST(mapping_records, "SIDE-MMAP2")
{
	struct perf_event_attr attr = tracking();
	struct mmap2_record *r;
	int fd, file = open("/proc/self/exe", O_RDONLY);
	void *data, *code;

	attr.mmap = 1;
	attr.mmap2 = 1;
	fd = open_tracking(&attr);
	EXPECT(fd >= 0 && file >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	ring_count(&ring, 0);
	data = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0); /* no record without mmap_data */
	code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, PAGE);
	EXPECT(data != MAP_FAILED && code != MAP_FAILED);
	r = (void *)ring_find(&ring, PERF_RECORD_MMAP2);
	EXPECT(r);
	EXPECT_EQ(r->addr, (uint64_t)code);
	EXPECT_EQ(r->len, 2 * PAGE);
	EXPECT_EQ(r->pgoff, PAGE);
	EXPECT_EQ(r->prot, PROT_READ | PROT_EXEC);
	EXPECT_EQ(r->flags & MAP_PRIVATE, MAP_PRIVATE);
	EXPECT(r->ino > 0);
	EXPECT(r->name[0] == '/' && strstr(r->name, "perf_record"));
	EXPECT_EQ(r->h.misc & PERF_RECORD_MISC_MMAP_DATA, 0);
	EXPECT(!ring_find(&ring, PERF_RECORD_MMAP2));
}

TEST(data_mappings_when_asked, "SIDE-MMAP2")
{
	struct perf_event_attr attr = tracking();
	struct mmap2_record *r;
	void *data;
	int fd, file = open("/proc/self/exe", O_RDONLY);

	attr.mmap = 1;
	attr.mmap_data = 1;
	attr.mmap2 = 1;
	fd = open_tracking(&attr);
	EXPECT(fd >= 0 && file >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	ring_count(&ring, 0);
	data = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0);
	r = (void *)ring_find(&ring, PERF_RECORD_MMAP2);
	EXPECT(r);
	EXPECT_EQ(r->addr, (uint64_t)data);
	EXPECT_EQ(r->h.misc & PERF_RECORD_MISC_MMAP_DATA, PERF_RECORD_MISC_MMAP_DATA);
}

TEST(mappings_of_exec, "SIDE-MMAP2")
{
	struct perf_event_attr attr = tracking();
	struct mmap2_record *r;
	bool program = false, vdso = false;
	int fd;

	attr.mmap = 1;
	attr.mmap2 = 1;
	fd = open_tracking(&attr);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 16, PROT_READ | PROT_WRITE));
	if (fork() == 0)
		execl("/bin/busybox", "true", (char *)NULL);
	wait(NULL);
	while ((r = (void *)ring_find(&ring, PERF_RECORD_MMAP2))) {
		program |= strstr(r->name, "busybox") != NULL;
		vdso |= strcmp(r->name, "[vdso]") == 0;
	}
	EXPECT(program);
	EXPECT(vdso);
}

TEST(switch_records, "SIDE-MORE")
{
	struct perf_event_attr attr = tracking();
	struct perf_event_header *h;
	int fd, out = 0, in = 0;

	attr.inherit = 0;
	attr.context_switch = 1;
	fd = open_tracking(&attr);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	for (int i = 0; i < 10; i++)
		usleep(1000);
	while ((h = ring_find(&ring, PERF_RECORD_SWITCH))) {
		if (h->misc & PERF_RECORD_MISC_SWITCH_OUT)
			out++;
		else
			in++;
	}
	EXPECT(out >= 10 && out <= 13);
	EXPECT(in >= 10 && in <= 13);
}

TEST(samples_of_children_in_the_roots_ring, "INH-RING SAMPLE-OWNER")
{
	struct perf_event_attr attr = sampling(100000, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID);
	struct perf_event_header *h;
	uint64_t id = 0;
	pid_t child;
	int fd, of_child = 0, of_parent = 0;

	attr.inherit = 1;
	fd = perf_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		SKIP("no cycles here (errno %d)", errno);
	/* an inherited task event may be mapped only if it is bound to a CPU */
	EXPECT(!ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE) && errno == EINVAL);
	close(fd);
	fd = perf_open(&attr, 0, 0, -1, 0);
	EXPECT(fd >= 0 && ring_map(&ring, fd, 8, PROT_READ | PROT_WRITE));
	ioctl(fd, PERF_EVENT_IOC_ID, &id);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	child = fork();
	if (child == 0) {
		spin(1000000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	spin(1000000);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	while ((h = ring_find(&ring, PERF_RECORD_SAMPLE))) {
		struct cursor c = body_of(h);

		EXPECT_EQ(next(&c), id);
		if ((uint32_t)next(&c) == (uint32_t)child)
			of_child++;
		else
			of_parent++;
	}
	EXPECT(of_child >= 19 && of_child <= 21);
	EXPECT(of_parent >= 19 && of_parent <= 22);
}
