/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long random runs against a model. The model knows which tasks each event is
 * on and whether it is enabled there, and adds up what those tasks did; every
 * read must agree with it to the last count. The arguments are the width of
 * the counters and the number of seeds to try.
 */
#include <stdlib.h>

#include "unit.h"

#define MAX_EVENTS 12U
#define MAX_TASKS  24U
#define STEPS	   1500

/* A task that has the event, or a copy of it. */
struct member {
	struct sim_task *task;
	bool enabled;
	uint64_t last; /* what it had done when looked at last */
};

struct model {
	bool used, inherit, on_exec;
	int fd, cpu; /* cpu: of a CPU's event, else -1 */
	enum sim_pmu_event event;
	unsigned int modes;
	uint64_t expected, last_read;
	struct member members[1000];
	unsigned int nr_members;
};

static struct model models[MAX_EVENTS];
static struct sim_task *monitor, *tasks[MAX_TASKS];
static unsigned int reads;

/* ---------------------------------------------------------------- the model */

static void account(struct model *m)
{
	for (unsigned int i = 0; i < m->nr_members; i++) {
		struct member *member = &m->members[i];
		uint64_t now = m->cpu >= 0 ? sim_cpu_count(m->cpu, m->event, m->modes)
					   : sim_count(member->task, m->event, m->modes);

		if (member->enabled)
			m->expected += now - member->last;
		member->last = now;
	}
}

static void add_member(struct model *m, struct sim_task *task, bool enabled)
{
	struct member *member = &m->members[m->nr_members++];

	sim_assert(m->nr_members < 1000);
	member->task = task;
	member->enabled = enabled;
	member->last = m->cpu >= 0 ? sim_cpu_count(m->cpu, m->event, m->modes)
				   : sim_count(task, m->event, m->modes);
}

static struct member *member_of(struct model *m, const struct sim_task *task)
{
	for (unsigned int i = 0; i < m->nr_members; i++)
		if (m->members[i].task == task)
			return &m->members[i];
	return NULL;
}

static void set_enabled(struct model *m, bool enabled)
{
	account(m);
	for (unsigned int i = 0; i < m->nr_members; i++)
		m->members[i].enabled = enabled;
}

/* ---------------------------------------------------------------- the steps */

static struct sim_task *any_task(void)
{
	unsigned int slot = (unsigned int)sim_random(MAX_TASKS);

	while (tasks[slot] == NULL)
		slot = (slot + 1) % MAX_TASKS;
	return tasks[slot];
}

/* Somebody who is running on a CPU other than the monitor's; NULL if that one idles. */
static struct sim_task *any_running(void)
{
	int cpu = 1 + (int)sim_random(3);

	for (unsigned int i = 0; i < MAX_TASKS; i++)
		if (tasks[i] != NULL && sim_cpu_of(tasks[i]) == cpu)
			return tasks[i];
	return NULL;
}

static struct model *any_event(void)
{
	struct model *m = &models[sim_random(MAX_EVENTS)];

	return m->used ? m : NULL;
}

static void step_open(void)
{
	struct model *m = &models[sim_random(MAX_EVENTS)];
	struct sim_task *task = any_task();
	struct perf_event_attr attr = sim_attr_hw(sim_random(2));

	if (m->used)
		return;
	memset(m, 0, sizeof(*m));
	m->event =
		attr.config == PERF_COUNT_HW_CPU_CYCLES ? SIM_EVENT_CYCLES : SIM_EVENT_INSTRUCTIONS;
	m->cpu = sim_random(4) == 0 ? 1 + (int)sim_random(3) : -1;
	m->modes = 1 + (unsigned int)sim_random(3);
	m->inherit = m->cpu < 0 && sim_random(2) == 0;
	attr.inherit = m->inherit;
	attr.disabled = sim_random(2) == 0;
	attr.enable_on_exec = m->on_exec = m->cpu < 0 && sim_random(3) == 0;
	attr.exclude_user = (m->modes & SIM_IN_USER) == 0;
	attr.exclude_kernel = (m->modes & SIM_IN_KERNEL) == 0;
	m->fd = (int)sim_open(monitor, &attr, m->cpu >= 0 ? -1 : sim_tid(task), m->cpu, -1, 0);
	assert_true(m->fd >= 0);
	m->used = true;
	add_member(m, task, !attr.disabled);
}

static void step_close(void)
{
	struct model *m = any_event();

	if (m == NULL)
		return;
	sim_close(monitor, m->fd);
	m->used = false;
}

static void step_control(void)
{
	struct model *m = any_event();

	if (m == NULL)
		return;
	switch (sim_random(3)) {
	case 0:
		set_enabled(m, true);
		sim_ioctl(monitor, m->fd, PERF_EVENT_IOC_ENABLE, 0);
		break;
	case 1:
		set_enabled(m, false);
		sim_ioctl(monitor, m->fd, PERF_EVENT_IOC_DISABLE, 0);
		break;
	default:
		account(m);
		sim_ioctl(monitor, m->fd, PERF_EVENT_IOC_RESET, 0);
		m->expected = m->last_read = 0;
		break;
	}
}

static void step_read(void)
{
	struct model *m = any_event();
	uint64_t value;

	if (m == NULL)
		return;
	account(m);
	value = sim_value(monitor, m->fd);
	assert_count(value, m->expected);
	assert_true(value >= m->last_read);
	m->last_read = value;
	reads++;
}

static void step_fork(void)
{
	struct sim_task *parent = any_running(), *child;
	unsigned int slot = (unsigned int)sim_random(MAX_TASKS);

	if (parent == NULL || tasks[slot] != NULL)
		return;
	child = sim_random(2) == 0 ? sim_fork(parent) : sim_thread(parent);
	assert_non_null(child);
	tasks[slot] = child;
	for (unsigned int i = 0; i < MAX_EVENTS; i++) {
		struct member *member = models[i].cpu < 0 ? member_of(&models[i], parent) : NULL;

		if (models[i].used && models[i].inherit && member != NULL)
			add_member(&models[i], child, member->enabled);
	}
}

static void step_exit(void)
{
	struct sim_task *task = any_running();
	unsigned int alive = 0;

	for (unsigned int i = 0; i < MAX_TASKS; i++)
		alive += tasks[i] != NULL;
	if (task == NULL || alive < 3)
		return;
	sim_exit(task);
	for (unsigned int i = 0; i < MAX_TASKS; i++)
		if (tasks[i] == task)
			tasks[i] = NULL;
}

static void step_exec(void)
{
	struct sim_task *task = any_running();

	if (task == NULL)
		return;
	for (unsigned int i = 0; i < MAX_EVENTS; i++) {
		struct model *m = &models[i];

		if (!m->used || !m->on_exec || m->members[0].task != task)
			continue;
		account(m);
		m->members[0].enabled = true;
		m->on_exec = false;
	}
	sim_exec(task, "program");
}

static void step_switch(void)
{
	struct sim_task *task = any_task();
	int cpu = 1 + (int)sim_random(3);

	if (sim_random(8) == 0)
		sim_switch(cpu, NULL);
	else if (sim_cpu_of(task) < 0)
		sim_switch(cpu, task);
	else
		sim_migrate(task, cpu);
}

static void step_run(void)
{
	uint64_t ns = sim_random(16) == 0 ? sim_random(2000000000) : sim_random(300);

	switch (sim_random(4)) {
	case 0:
		sim_run_all(ns);
		break;
	case 1:
		sim_run_kernel(1 + (int)sim_random(3), ns);
		break;
	default:
		sim_run(1 + (int)sim_random(3), ns);
		break;
	}
}

static void step(void)
{
	static void (*const steps[])(void) = {
		step_run,    step_run,	step_run,  step_switch, step_switch,
		step_switch, step_read, step_read, step_open,	step_control,
		step_exec,   step_fork, step_exit, step_close,
	};

	steps[sim_random(sizeof(steps) / sizeof(steps[0]))]();
}

static void one_run(uint64_t seed)
{
	sim_reset();
	sim_seed(seed);
	memset(models, 0, sizeof(models));
	memset(tasks, 0, sizeof(tasks));
	monitor = sim_task_on(0, "monitor");
	for (unsigned int i = 0; i < 4; i++)
		tasks[i] = sim_task_new("first");
	for (int i = 0; i < STEPS; i++)
		step();
	for (unsigned int i = 0; i < MAX_EVENTS; i++)
		if (models[i].used)
			sim_close(monitor, models[i].fd);
	sim_check_no_events();
}

static unsigned int seeds = 20;

/* [SLICE-IN, SLICE-OUT, SLICE-MIGRATE, SLICE-WRAP, SLICE-FILTER, CTL-*, INH-COUNT, LIFE-ONCE] */
static void agrees_with_the_model(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++)
		one_run(seed * 7919);
	assert_true(reads > seeds * STEPS / 20); /* it was a test indeed */
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		clean_test(agrees_with_the_model),
	};
	unsigned int width = argc > 1 ? (unsigned int)atoi(argv[1]) : 64;

	if (argc > 2)
		seeds = (unsigned int)atoi(argv[2]);
	sim_boot(&(struct sim_config){.pmu = {{.counters = 31, .width = width}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
