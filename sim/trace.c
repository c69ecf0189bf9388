/* SPDX-License-Identifier: BSD-2-Clause */
/* trace.c - the simulated kernel's one tracepoint, sim:said, which a test has a task come by. */
#include "machine.h"

#include <string.h>

#define FIELD(type, name, array, sign, string)                                            \
	{                                                                                 \
		type, #name, offsetof(struct sim_said, name),                             \
			sizeof(((struct sim_said *)0)->name), array, sign, string         \
	}

static const struct perf_trace_field fields[] = {
	FIELD("int", number, 0, true, false),
	FIELD("char", word, sizeof(((struct sim_said *)0)->word), false, true),
	FIELD("u64", big, 0, false, false),
	{0},
};

static struct perf_tracepoint said = {.system = "sim", .name = "said", .fields = fields};

int sim_trace_boot(void)
{
	return said.on_cpu ? 0 : perf_tracepoint_register(&said);
}

uint16_t sim_trace_id(void)
{
	return said.id;
}

static long do_say(struct sim_task *task, const uintptr_t *arg)
{
	struct sim_said record = {.number = (int)arg[0], .big = arg[2]};

	(void)task;
	strncpy(record.word, (const char *)arg[1], sizeof(record.word) - 1);
	if (perf_traced(&said))
		perf_trace(&said, &record.header, sizeof(record), 1);
	return 0;
}

void sim_say(struct sim_task *task, int number, const char *word, uint64_t big)
{
	sim_do(task, do_say, (uintptr_t)number, (uintptr_t)word, (uintptr_t)big, 0, 0, 0);
}
