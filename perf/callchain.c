/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * callchain.c - the call chain of a sample.
 *
 * The kernel part and the user part each begin with a marker, as
 * linux/perf_event.h has them in enum perf_callchain_context. Chains are
 * captured into one buffer for each CPU, made when the first event wants them:
 * there is one sample at a time on a CPU, since interrupts are off.
 */
#include <linux/errno.h>

#include "access.h"
#include "callchain.h"

enum { NR_MARKERS = 2 };

static struct port_mutex mutex;
static unsigned int users;
static unsigned int max_ips, max_markers; /* as in procfs when the buffers were made */
static uint64_t **buffers;

void perf_callchain_init(void)
{
	port_mutex_init(&mutex);
}

static void free_buffers(void)
{
	for (int cpu = 0; buffers && cpu < port_nr_cpus(); cpu++)
		port_free(buffers[cpu]);
	port_free(buffers);
	buffers = NULL;
}

static int alloc_buffers(void)
{
	int nr_cpus = port_nr_cpus();

	max_ips = (unsigned int)perf_sysctl_get(PERF_SYSCTL_MAX_STACK);
	max_markers = (unsigned int)perf_sysctl_get(PERF_SYSCTL_MAX_CONTEXTS_PER_STACK);
	buffers = port_alloc((size_t)nr_cpus * sizeof(*buffers));
	for (int cpu = 0; buffers && cpu < nr_cpus; cpu++) {
		buffers[cpu] = port_alloc((max_ips + NR_MARKERS) * sizeof(**buffers));
		if (!buffers[cpu])
			free_buffers();
	}
	return buffers ? 0 : -ENOMEM;
}

int perf_callchain_want(const struct perf_event_attr *attr)
{
	int error = 0;

	port_mutex_lock(&mutex);
	if (attr->sample_max_stack > perf_sysctl_get(PERF_SYSCTL_MAX_STACK))
		error = -EOVERFLOW;
	else if (users == 0)
		error = alloc_buffers();
	if (!error) {
		users++;
		perf_access_hold_stack_limits();
	}
	port_mutex_unlock(&mutex);
	return error;
}

void perf_callchain_unwant(void)
{
	port_mutex_lock(&mutex);
	perf_access_release_stack_limits();
	if (--users == 0)
		free_buffers();
	port_mutex_unlock(&mutex);
}

void perf_callchain_capture(struct perf_callchain *chain, const struct perf_event_attr *attr,
			    const struct port_regs *regs, const struct port_regs *user)
{
	uint64_t *ips = buffers[port_cpu()], *out = ips;
	unsigned int left = attr->sample_max_stack, markers = max_markers, nr;

	if (!attr->exclude_callchain_kernel && !port_regs_user(regs) && left > 0 && markers > 0) {
		markers--;
		*out++ = (uint64_t)PERF_CONTEXT_KERNEL;
		nr = port_callchain_kernel(regs, out, left);
		out += nr;
		left -= nr;
	}
	if (!attr->exclude_callchain_user && user && left > 0 && markers > 0) {
		*out++ = (uint64_t)PERF_CONTEXT_USER;
		out += port_callchain_user(user, out, left);
	}
	chain->ips = ips;
	chain->nr = (unsigned int)(out - ips);
}
