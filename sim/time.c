/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * time.c - the clock, the workload, and timers.
 *
 * Time passes only here. While it does, the tasks of the CPUs that work advance
 * by their rates: in the truth that tests compare with, and on the counters.
 */
#include <errno.h>
#include <time.h>

#include "machine.h"

struct sim_timer {
	uint32_t magic;
	int cpu; /* -1: not started */
	port_timer_fn fn;
	uint64_t when;
	struct port_timer *next;
};

_Static_assert(sizeof(struct sim_timer) <= sizeof(struct port_timer), "port_timer is too small");

#define TIMER_MAGIC 0x71a3e401U

static struct sim_timer *timer_of(struct port_timer *timer)
{
	struct sim_timer *t = (struct sim_timer *)timer->opaque;

	if (t->magic != TIMER_MAGIC)
		sim_fail("a timer that is not initialised");
	return t;
}

uint64_t sim_now(void)
{
	return sim.now;
}

/* ------------------------------------------------------------------- work */

static void advance(struct sim_cpu *cpu, int mode, uint64_t ns)
{
	struct sim_task *task = cpu->current;

	for (unsigned int event = 0; event < SIM_EVENT_NR; event++) {
		uint64_t counts = task->rate[mode][event] * ns;

		task->truth[mode][event] += counts;
		cpu->truth[mode][event] += counts;
	}
	sim_counters_advance(cpu, mode, ns);
	cpu->storm = 0;
}

void sim_tick(uint64_t cpus, int mode, uint64_t ns)
{
	sim.now += ns;
	for (int i = 0; i < sim.nr_cpus; i++) {
		struct sim_cpu *cpu = &sim.cpus[i];

		if (cpu->online)
			cpu->current->runtime += ns;
		if (cpus >> i & 1)
			advance(cpu, mode, ns);
	}
}

uint64_t sim_quiet(uint64_t cpus, int mode, uint64_t ns)
{
	for (int i = 0; i < sim.nr_cpus; i++) {
		const struct sim_cpu *cpu = &sim.cpus[i];
		uint64_t quiet;

		if (cpu->timers != NULL && timer_of(cpu->timers)->when > sim.now) {
			quiet = timer_of(cpu->timers)->when - sim.now;
			ns = quiet < ns ? quiet : ns;
		}
		if (cpus >> i & 1) {
			quiet = sim_counters_quiet(cpu, mode, ns);
			ns = quiet < ns ? quiet : ns;
		}
	}
	return ns;
}

/* ----------------------------------------------------------------- clocks */

uint64_t port_clock(void)
{
	return sim.now;
}

/* User mode's time stamp counter goes at 1 GHz from boot. */
bool port_clock_scale(struct port_clock_scale *scale)
{
	*scale = (struct port_clock_scale){.mult = 1};
	return true;
}

int port_clock_id(int32_t clockid, uint64_t *ns)
{
	switch (clockid) {
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_BOOTTIME:
		*ns = sim.now;
		return 0;
	case CLOCK_REALTIME:
		*ns = sim.now + UINT64_C(1700000000000000000);
		return 0;
	default:
		return -EINVAL;
	}
}

/* ----------------------------------------------------------------- timers */

void port_timer_init(struct port_timer *timer, port_timer_fn fn)
{
	struct sim_timer *t = (struct sim_timer *)timer->opaque;

	*t = (struct sim_timer){.magic = TIMER_MAGIC, .cpu = -1, .fn = fn};
}

static void unlink_timer(struct port_timer *timer)
{
	struct sim_timer *t = timer_of(timer);
	struct port_timer **link;

	if (t->cpu < 0)
		return;
	link = &sim.cpus[t->cpu].timers;
	while (*link != timer)
		link = &timer_of(*link)->next;
	*link = t->next;
	t->cpu = -1;
}

void port_timer_start(struct port_timer *timer, uint64_t when)
{
	struct sim_timer *t = timer_of(timer);
	struct port_timer **link;

	sim_must_irq_off("port_timer_start()");
	if (t->cpu >= 0 && t->cpu != sim.cpu->nr)
		sim_fail("a timer moved that another CPU started");
	unlink_timer(timer);
	t->cpu = sim.cpu->nr;
	t->when = when;
	link = &sim.cpu->timers;
	while (*link != NULL && timer_of(*link)->when <= when)
		link = &timer_of(*link)->next;
	t->next = *link;
	*link = timer;
}

void port_timer_stop(struct port_timer *timer)
{
	struct sim_timer *t = timer_of(timer);

	sim_must_irq_off("port_timer_stop()");
	if (t->cpu >= 0 && t->cpu != sim.cpu->nr)
		sim_fail("a timer stopped that another CPU started");
	unlink_timer(timer);
}

bool sim_timer_due(const struct sim_cpu *cpu)
{
	return cpu->timers != NULL && timer_of(cpu->timers)->when <= sim.now;
}

void sim_run_timer(struct sim_cpu *cpu, const struct port_regs *regs)
{
	struct port_timer *timer = cpu->timers;

	unlink_timer(timer);
	timer_of(timer)->fn(timer, regs);
}
