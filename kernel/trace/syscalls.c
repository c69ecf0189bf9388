/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tracepoints of system calls: raw_syscalls:sys_enter and sys_exit for all of
 * them, and syscalls:sys_enter_NAME and sys_exit_NAME for those whose arguments
 * have names in syscalls.def.
 */
#include "trace/fields.h"
#include "mm/page.h"
#include "proc/task.h"
#include <asm/unistd.h>

_Atomic u32 trace_syscall_watchers;

/* ---------------------------------------------------------------- the raw */

struct raw_enter {
	struct perf_trace_header header;
	long id;
	u64 args[6];
};

struct raw_exit {
	struct perf_trace_header header;
	long id;
	long ret;
};

static const struct perf_trace_field raw_enter_fields[] = {
	FIELD_SIGNED(raw_enter, "long", id),
	FIELD_(raw_enter, "unsigned long", args, 6, false, false),
	{0},
};

static const struct perf_trace_field raw_exit_fields[] = {
	FIELD_SIGNED(raw_exit, "long", id),
	FIELD_SIGNED(raw_exit, "long", ret),
	{0},
};

static struct perf_tracepoint raw_points[] = {
	{.system = "raw_syscalls", .name = "sys_enter", .fields = raw_enter_fields},
	{.system = "raw_syscalls", .name = "sys_exit", .fields = raw_exit_fields},
};
enum { ENTER, EXIT };

/* -------------------------------------------------------------- each its own */

struct enter_record {
	struct perf_trace_header header;
	int __syscall_nr;
	u64 args[6];
};

struct exit_record {
	struct perf_trace_header header;
	int __syscall_nr;
	long ret;
};

static const struct perf_trace_field exit_fields[] = {
	FIELD_SIGNED(exit_record, "int", __syscall_nr),
	FIELD_SIGNED(exit_record, "long", ret),
	{0},
};

static const struct description {
	u16 nr;
	const char *name;
	const char *args[6]; /* type and name */
} descriptions[] = {
#define DESCRIBE(name, ...) {__NR_##name, #name, {__VA_ARGS__}},
#include "trace/syscalls.def"
#undef DESCRIBE
};

struct points {
	struct perf_tracepoint of[2];
	char names[2][32];
	struct perf_trace_field fields[8]; /* of the arguments */
	char types[6][32];
};

#define NR_POINTS 512
static struct points *points[NR_POINTS]; /* by number */

static void describe_argument(struct points *p, unsigned i, const char *text)
{
	const char *name = strrchr(text, ' ') + 1;

	strscpy(p->types[i], text, MIN((size_t)(name - text), sizeof(p->types[i])));
	p->fields[1 + i] = (struct perf_trace_field){
		.type = p->types[i],
		.name = name,
		.offset = (u16)(offsetof(struct enter_record, args) + 8 * i),
		.size = 8,
	};
}

static int register_described(const struct description *d)
{
	struct points *p = kzalloc(sizeof(*p));
	int err = 0;

	if (!p)
		return -ENOMEM;
	ASSERT(d->nr < NR_POINTS);
	p->fields[0] = exit_fields[0];
	for (unsigned i = 0; i < 6 && d->args[i]; i++)
		describe_argument(p, i, d->args[i]);
	for (unsigned i = ENTER; i <= EXIT && !err; i++) {
		snprintf(p->names[i], sizeof(p->names[i]), "sys_%s_%s", i == ENTER ? "enter" : "exit",
			 d->name);
		p->of[i] = (struct perf_tracepoint){
			.system = "syscalls",
			.name = p->names[i],
			.fields = i == ENTER ? p->fields : exit_fields,
			.harmless = true,
			.shared_watchers = &trace_syscall_watchers,
		};
		err = perf_tracepoint_register(&p->of[i]);
	}
	if (!err)
		points[d->nr] = p;
	return err;
}

int trace_syscalls_register(void)
{
	int err = 0;

	for (unsigned i = ENTER; i <= EXIT && !err; i++) {
		raw_points[i].harmless = true;
		raw_points[i].shared_watchers = &trace_syscall_watchers;
		err = perf_tracepoint_register(&raw_points[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(descriptions) && !err; i++)
		err = register_described(&descriptions[i]);
	return err;
}

/* ----------------------------------------------------------------- coming by */

static struct perf_tracepoint *point_of(u64 nr, unsigned which)
{
	struct points *p = nr < NR_POINTS ? points[nr] : NULL;

	return p && perf_traced(&p->of[which]) ? &p->of[which] : NULL;
}

void trace_syscall_enter(const struct pt_regs *regs, u64 nr)
{
	struct perf_tracepoint *point = point_of(nr, ENTER);

	if (perf_traced(&raw_points[ENTER])) {
		struct raw_enter r = {.id = (long)nr};

		memcpy(r.args, regs->regs, sizeof(r.args));
		perf_trace(&raw_points[ENTER], &r.header, sizeof(r), 1);
	}
	if (point) {
		struct enter_record r = {.__syscall_nr = (int)nr};
		unsigned n = 0;

		while (point->fields[1 + n].name)
			n++;
		memcpy(r.args, regs->regs, n * sizeof(u64));
		perf_trace(point, &r.header, offsetof(struct enter_record, args) + n * sizeof(u64), 1);
	}
}

void trace_syscall_exit(u64 nr, long result)
{
	struct perf_tracepoint *point = point_of(nr, EXIT);

	if (perf_traced(&raw_points[EXIT])) {
		struct raw_exit r = {.id = (long)nr, .ret = result};

		perf_trace(&raw_points[EXIT], &r.header, sizeof(r), 1);
	}
	if (point) {
		struct exit_record r = {.__syscall_nr = (int)nr, .ret = result};

		perf_trace(point, &r.header, sizeof(r), 1);
	}
}
