/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything at once: three CPUs run, fork, exec and exit a crowd of tasks that
 * wander between them, while a fourth opens, reads, controls, maps, redirects
 * and closes events on them; and the CPUs take turns at random, in the middle of
 * everything. The arguments are the number of counters, their width, and the
 * number of plays.
 *
 * Two events watch the crowd from beginning to end, and must agree with the
 * truth in the end. [LIFE-*, SLICE-MIGRATE, SLICE-SWAP, INH-COUNT, INH-SLOTS,
 * RING-HOSTILE, RING-REDIRECT, ACC-LIMITS]
 */
#include <stdlib.h>

#include "unit.h"

#define CROWD  16U
#define OTHERS 6U

static struct sim_task *monitor, *root;
static struct sim_task *crowd[CROWD]; /* alive */
static bool taken[CROWD];	      /* by one of the CPUs */
static struct sim_task *all[4096];    /* who ever was in it */
static unsigned int nr_all;
static int tree_fd, root_fd;
static uint64_t last_seen;

/* What the monitor has opened besides. */
struct other {
	int fd; /* -1: nothing */
	struct sim_map *map;
};

static struct other others[OTHERS];
static bool multiplexing;

static int open_at(const struct perf_event_attr *attr, int pid, int cpu)
{
	int fd = (int)sim_open(monitor, attr, pid, cpu, -1, 0);

	sim_assert(fd >= 0 || fd == -ESRCH || fd == -ENOENT || fd == -EINVAL || fd == -EOPNOTSUPP);
	return fd;
}

static void setup(void)
{
	struct perf_event_attr attr = sim_attr_hw(PERF_COUNT_HW_INSTRUCTIONS);

	memset(crowd, 0, sizeof(crowd));
	memset(taken, 0, sizeof(taken));
	last_seen = 0;
	monitor = sim_task_on(0, "monitor");
	root = sim_task_new("root");
	crowd[0] = all[0] = root;
	nr_all = 1;
	attr.exclude_kernel = 1;
	attr.pinned = 1;
	root_fd = open_at(&attr, sim_tid(root), -1);
	attr.inherit = 1;
	tree_fd = open_at(&attr, sim_tid(root), -1);
	sim_kernel_ns(sim_random(3));
}

/* --------------------------------------------------- what the monitor does */

static void read_tree(void)
{
	uint64_t value = sim_value(monitor, tree_fd);

	sim_assert(value >= last_seen);
	last_seen = value;
}

/* Let it sample, in one way or another. */
static void make_sampling(struct perf_event_attr *attr)
{
	attr->sample_period = 200 + sim_random(3000);
	attr->freq = sim_random(4) == 0;
	attr->sample_type = sim_random(PERF_SAMPLE_REGS_USER) & ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
	if (attr->inherit)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_READ;
	attr->read_format = sim_random(PERF_FORMAT_MAX);
	attr->wakeup_events = (uint32_t)sim_random(3);
	attr->sample_id_all = sim_random(2) == 0;
	attr->task = attr->comm = attr->context_switch = sim_random(2) == 0;
	attr->write_backward = sim_random(4) == 0;
	attr->inherit_stat = attr->inherit && sim_random(2) == 0;
}

static int open_random(void)
{
	struct perf_event_attr attr = sim_attr_hw(sim_random(3));
	const struct sim_task *task = crowd[sim_random(CROWD)];
	int cpu = sim_random(3) == 0 ? 1 + (int)sim_random(3) : -1;

	if (sim_random(4) == 0)
		attr = sim_attr_sw(sim_random(PERF_COUNT_SW_MAX));
	attr.inherit = sim_random(2) == 0;
	attr.disabled = sim_random(2) == 0;
	attr.enable_on_exec = sim_random(4) == 0;
	attr.remove_on_exec = !attr.enable_on_exec && sim_random(4) == 0;
	attr.inherit_thread = attr.inherit && sim_random(4) == 0;
	if (sim_random(2) == 0)
		make_sampling(&attr);
	if (cpu < 0 && task == NULL)
		task = monitor;
	return open_at(&attr,
		       task == NULL || sim_random(4) == 0 ? (cpu < 0 ? 0 : -1) : sim_tid(task),
		       cpu);
}

static void control_random(int fd)
{
	const unsigned int requests[] = {PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE,
					 PERF_EVENT_IOC_RESET, PERF_EVENT_IOC_REFRESH,
					 PERF_EVENT_IOC_PAUSE_OUTPUT};
	uint64_t period = 1 + sim_random(2000);

	switch (sim_random(4)) {
	case 0:
		sim_ioctl_ptr(monitor, fd, PERF_EVENT_IOC_PERIOD, &period, sizeof(period));
		break;
	case 1:
		sim_ioctl(monitor, fd, PERF_EVENT_IOC_SET_OUTPUT,
			  (uintptr_t)others[sim_random(OTHERS)].fd);
		break;
	default:
		sim_ioctl(monitor, fd, requests[sim_random(5)],
			  sim_random(2) * PERF_IOC_FLAG_GROUP);
		break;
	}
}

/* Be the reader of a ring, or what is worse. */
static void use_ring(struct sim_map *map)
{
	struct perf_event_mmap_page *header = sim_map_page(map, 0);

	if (sim_random(4) == 0)
		memset(sim_map_page(map, sim_random(2)), (int)sim_random(256), 4096);
	else
		header->data_tail = sim_random(4) == 0 ? sim_random(0) : header->data_head;
}

static void use_random(struct other *other)
{
	uint64_t buffer[64];

	switch (sim_random(6)) {
	case 0:
		sim_assert(sim_read(monitor, other->fd, buffer, sizeof(buffer)) >= 0);
		break;
	case 1:
		if (other->map != NULL)
			sim_munmap(monitor, other->map);
		other->map = NULL;
		break;
	case 2:
		if (other->map == NULL)
			sim_mmap(monitor, other->fd, (1 + (1U << sim_random(3))) * 4096, 0,
				 sim_random(4) != 0, &other->map);
		break;
	case 3:
		if (other->map != NULL)
			use_ring(other->map);
		sim_poll(monitor, other->fd);
		break;
	default:
		control_random(other->fd);
		break;
	}
}

static void close_other(struct other *other)
{
	sim_assert(sim_close(monitor, other->fd) == 0);
	if (other->map != NULL && sim_random(2) == 0)
		sim_munmap(monitor, other->map);
	*other = (struct other){.fd = -1};
}

static void monitors(void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < OTHERS; i++)
		others[i] = (struct other){.fd = -1};
	for (int i = 0; i < 80; i++) {
		struct other *other = &others[sim_random(OTHERS)];

		if (other->fd < 0)
			other->fd = open_random();
		else if (sim_random(6) == 0)
			close_other(other);
		else
			use_random(other);
		if (i % 8 == 0)
			read_tree();
	}
}

/* --------------------------------------------------------- what others do */

static void have_child(struct sim_task *task)
{
	unsigned int slot = (unsigned int)sim_random(CROWD);

	if (crowd[slot] != NULL || taken[slot])
		return;
	taken[slot] = true;
	crowd[slot] = sim_random(2) == 0 ? sim_fork(task) : sim_thread(task);
	sim_assert(crowd[slot] != NULL && nr_all < 4096);
	all[nr_all++] = crowd[slot];
	taken[slot] = false;
}

static void slice(int cpu, unsigned int slot)
{
	struct sim_task *task = crowd[slot];

	for (uint64_t n = sim_random(4); n > 0; n--) {
		sim_run(cpu, sim_random(multiplexing ? 3000000 : 200));
		switch (sim_random(8)) {
		case 0:
		case 1:
			have_child(task);
			break;
		case 2:
			sim_exec(task, "program");
			break;
		case 3:
			sim_page_fault(task, false, 0x1000);
			break;
		case 4:
			if (slot == 0)
				break;
			sim_exit(task);
			crowd[slot] = NULL;
			return;
		default:
			break;
		}
	}
}

/* Take somebody who is free, the root if the first choice is not; or nobody, -1. */
static int take_one(void)
{
	unsigned int slot = (unsigned int)sim_random(CROWD);

	if (crowd[slot] == NULL || taken[slot])
		slot = 0;
	if (taken[slot])
		return -1;
	taken[slot] = true;
	return (int)slot;
}

static void runs_the_crowd(int cpu)
{
	int slot, last = -1;

	for (int i = 0; i < 25; i++) {
		slot = sim_random(4) == 0 ? -1 : take_one();
		sim_assert(sim_switch(cpu, slot < 0 ? NULL : crowd[slot]));
		if (last >= 0)
			taken[last] = false;
		last = slot;
		if (slot < 0)
			sim_run(cpu, 1);
		else
			slice(cpu, (unsigned int)slot);
	}
	sim_switch(cpu, NULL);
	if (last >= 0)
		taken[last] = false;
}

static void cpu_1(void *arg)
{
	(void)arg;
	runs_the_crowd(1);
}

static void cpu_2(void *arg)
{
	(void)arg;
	runs_the_crowd(2);
}

static void cpu_3(void *arg)
{
	(void)arg;
	runs_the_crowd(3);
}

/* --------------------------------------------------------------- the check */

static void check(void)
{
	uint64_t truth = 0;

	for (unsigned int i = 0; i < nr_all; i++)
		truth += sim_count(all[i], SIM_EVENT_INSTRUCTIONS, SIM_IN_USER);
	read_tree();
	assert_count(last_seen, truth);
	assert_count(sim_value(monitor, root_fd),
		     sim_count(root, SIM_EVENT_INSTRUCTIONS, SIM_IN_USER));
}

static unsigned int plays = 100;

static void storm(void **state)
{
	const struct sim_story story = {
		.setup = setup,
		.scripts = {monitors, cpu_1, cpu_2, cpu_3},
		.check = check,
	};

	(void)state;
	sim_shuffle(&story, 20250101, plays);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		clean_test(storm),
	};
	unsigned int counters = argc > 1 ? (unsigned int)atoi(argv[1]) : 31;
	unsigned int width = argc > 2 ? (unsigned int)atoi(argv[2]) : 64;

	if (argc > 3)
		plays = (unsigned int)atoi(argv[3]);
	multiplexing = counters < 10;
	sim_boot(&(struct sim_config){.pmu = {{.counters = counters, .width = width}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
