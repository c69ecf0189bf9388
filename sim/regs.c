/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regs.c - the part of the port that samples are made from: register state and
 * call chains. Registers have made-up values that tests can recognise.
 */
#include "machine.h"

#define NR_REGS 16U

uint64_t port_regs_ip(const struct port_regs *regs)
{
	return regs->ip;
}

bool port_regs_user(const struct port_regs *regs)
{
	return regs->user;
}

uint64_t port_regs_sp(const struct port_regs *regs)
{
	return regs->sp;
}

const struct port_regs *port_regs_at(uintptr_t ip, uintptr_t frame)
{
	static struct port_regs here[SIM_MAX_CPUS];
	struct port_regs *regs;

	sim_must_irq_off("port_regs_at()");
	sim_assert(frame != 0);
	regs = &here[sim.cpu->nr];
	*regs = (struct port_regs){.ip = ip, .task = sim.cpu->current};
	return regs;
}

const struct port_regs *port_regs_of_user(void)
{
	static struct port_regs user[SIM_MAX_CPUS];
	const struct sim_task *task;
	struct port_regs *regs;

	sim_must_irq_off("port_regs_of_user()");
	task = sim.cpu->current;
	regs = &user[sim.cpu->nr];
	if (task->idle)
		return NULL;
	*regs = (struct port_regs){
		.user = true,
		.ip = task->ip,
		.sp = task->user != NULL ? (uintptr_t)task->user + SIM_USER_SIZE / 2 : 0,
		.task = task,
	};
	return regs;
}

uint64_t port_regs_value(const struct port_regs *regs, unsigned int index)
{
	sim_assert(index < NR_REGS);
	return (uint64_t)regs->task->tid * 1000U + index;
}

uint64_t port_regs_mask(void)
{
	return (UINT64_C(1) << NR_REGS) - 1;
}

uint64_t port_regs_abi(void)
{
	return PERF_SAMPLE_REGS_ABI_64;
}

unsigned int port_callchain_kernel(const struct port_regs *regs, uint64_t *ips, unsigned int max)
{
	unsigned int n = 0;

	sim_must_irq_off("port_callchain_kernel()");
	for (; n < 3 && n < max; n++)
		ips[n] = regs->ip + n * 0x100U;
	return n;
}

unsigned int port_callchain_user(const struct port_regs *regs, uint64_t *ips, unsigned int max)
{
	const struct sim_task *task = regs->task;
	unsigned int n = 0;

	sim_must_irq_off("port_callchain_user()");
	if (max != 0)
		ips[n++] = regs->ip;
	for (unsigned int i = 0; i < task->chain_length && n < max; i++)
		ips[n++] = task->chain[i];
	return n;
}
