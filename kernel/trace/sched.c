/* SPDX-License-Identifier: BSD-2-Clause */
/* The scheduler's tracepoints. All but fork, exec and exit: interrupts off, sched_lock may be held. */
#include "proc/internal.h"
#include "trace/fields.h"

#define DEFAULT_PRIO 120 /* of nice 0, as top and perf show it; real-time ones are below 100 */
#define MAX_RT_PRIO  100

/* What prev_state says, in Linux's bits. */
#define STATE_INTERRUPTIBLE   0x01
#define STATE_UNINTERRUPTIBLE 0x02
#define STATE_STOPPED	      0x04
#define STATE_DEAD	      0x10
#define STATE_PREEMPTED	      0x100

static int prio_of(const struct task *t)
{
	return t->rt_priority ? MAX_RT_PRIO - 1 - t->rt_priority : DEFAULT_PRIO + t->nice;
}

static long state_of(const struct task *t)
{
	static const u16 states[] = {
		[TASK_RUNNING] = STATE_PREEMPTED, [TASK_INTERRUPTIBLE] = STATE_INTERRUPTIBLE,
		[TASK_UNINTERRUPTIBLE] = STATE_UNINTERRUPTIBLE, [TASK_STOPPED] = STATE_STOPPED,
		[TASK_ZOMBIE] = STATE_DEAD, [TASK_DEAD] = STATE_DEAD,
	};

	return t->is_idle ? 0 : states[t->state];
}

/* ------------------------------------------------------------------ switch */

struct switch_record {
	struct perf_trace_header header;
	char prev_comm[16];
	pid_t prev_pid;
	int prev_prio;
	long prev_state;
	char next_comm[16];
	pid_t next_pid;
	int next_prio;
};

static const struct perf_trace_field switch_fields[] = {
	FIELD_STRING(switch_record, prev_comm),
	FIELD_SIGNED(switch_record, "pid_t", prev_pid),
	FIELD_SIGNED(switch_record, "int", prev_prio),
	FIELD_SIGNED(switch_record, "long", prev_state),
	FIELD_STRING(switch_record, next_comm),
	FIELD_SIGNED(switch_record, "pid_t", next_pid),
	FIELD_SIGNED(switch_record, "int", next_prio),
	{0},
};

void trace_do_switch(const struct task *prev, const struct task *next)
{
	struct switch_record r = {
		.prev_pid = prev->tid,
		.prev_prio = prio_of(prev),
		.prev_state = state_of(prev),
		.next_pid = next->tid,
		.next_prio = prio_of(next),
	};

	memcpy(r.prev_comm, prev->comm, sizeof(r.prev_comm));
	memcpy(r.next_comm, next->comm, sizeof(r.next_comm));
	perf_trace(&trace_point_switch, &r.header, sizeof(r), 1);
}

/* ------------------------------------------------------------------ wakeup */

struct wakeup_record {
	struct perf_trace_header header;
	char comm[16];
	pid_t pid;
	int prio;
	int target_cpu;
};

static const struct perf_trace_field wakeup_fields[] = {
	FIELD_STRING(wakeup_record, comm),
	FIELD_SIGNED(wakeup_record, "pid_t", pid),
	FIELD_SIGNED(wakeup_record, "int", prio),
	FIELD_SIGNED(wakeup_record, "int", target_cpu),
	{0},
};

void trace_do_wakeup(struct perf_tracepoint *point, const struct task *t, unsigned cpu)
{
	struct wakeup_record r = {.pid = t->tid, .prio = prio_of(t), .target_cpu = (int)cpu};

	memcpy(r.comm, t->comm, sizeof(r.comm));
	perf_trace(point, &r.header, sizeof(r), 1);
}

/* ----------------------------------------------------------------- migrate */

struct migrate_record {
	struct perf_trace_header header;
	char comm[16];
	pid_t pid;
	int prio;
	int orig_cpu;
	int dest_cpu;
};

static const struct perf_trace_field migrate_fields[] = {
	FIELD_STRING(migrate_record, comm),
	FIELD_SIGNED(migrate_record, "pid_t", pid),
	FIELD_SIGNED(migrate_record, "int", prio),
	FIELD_SIGNED(migrate_record, "int", orig_cpu),
	FIELD_SIGNED(migrate_record, "int", dest_cpu),
	{0},
};

void trace_do_migrate(const struct task *t, unsigned to)
{
	struct migrate_record r = {
		.pid = t->tid, .prio = prio_of(t), .orig_cpu = t->cpu, .dest_cpu = (int)to};

	memcpy(r.comm, t->comm, sizeof(r.comm));
	perf_trace(&trace_point_migrate, &r.header, sizeof(r), 1);
}

/* ----------------------------------------------------------------- runtime */

struct runtime_record {
	struct perf_trace_header header;
	char comm[16];
	pid_t pid;
	u64 runtime;
	u64 vruntime; /* all slices do the same here: the time so far */
};

static const struct perf_trace_field runtime_fields[] = {
	FIELD_STRING(runtime_record, comm),
	FIELD_SIGNED(runtime_record, "pid_t", pid),
	FIELD_UNSIGNED(runtime_record, "u64", runtime),
	FIELD_UNSIGNED(runtime_record, "u64", vruntime),
	{0},
};

void trace_do_runtime(const struct task *t, u64 ns)
{
	struct runtime_record r = {
		.pid = t->tid, .runtime = ns, .vruntime = t->utime_ns + t->stime_ns};

	memcpy(r.comm, t->comm, sizeof(r.comm));
	perf_trace(&trace_point_runtime, &r.header, sizeof(r), ns); /* as Linux counts it */
}

/* -------------------------------------------------------- fork, exec, exit */

struct fork_record {
	struct perf_trace_header header;
	char parent_comm[16];
	pid_t parent_pid;
	char child_comm[16];
	pid_t child_pid;
};

static const struct perf_trace_field fork_fields[] = {
	FIELD_STRING(fork_record, parent_comm),
	FIELD_SIGNED(fork_record, "pid_t", parent_pid),
	FIELD_STRING(fork_record, child_comm),
	FIELD_SIGNED(fork_record, "pid_t", child_pid),
	{0},
};

void trace_do_fork(const struct task *child)
{
	struct fork_record r = {.parent_pid = current->tid, .child_pid = child->tid};

	memcpy(r.parent_comm, current->comm, sizeof(r.parent_comm));
	memcpy(r.child_comm, child->comm, sizeof(r.child_comm));
	perf_trace(&trace_point_fork, &r.header, sizeof(r), 1);
}

/* The file's name lies behind the members: its offset in the low half of `filename`, its size in the high one. */
struct exec_record {
	struct perf_trace_header header;
	u32 filename;
	pid_t pid;
	pid_t old_pid;
	char text[256];
};

static const struct perf_trace_field exec_fields[] = {
	FIELD_UNSIGNED(exec_record, "__data_loc char[]", filename),
	FIELD_SIGNED(exec_record, "pid_t", pid),
	FIELD_SIGNED(exec_record, "pid_t", old_pid),
	{0},
};

void trace_do_exec(const char *filename, pid_t old_pid)
{
	struct exec_record r = {.pid = current->tid, .old_pid = old_pid};
	size_t n;

	strscpy(r.text, filename, sizeof(r.text));
	n = strlen(r.text) + 1;
	r.filename = (u32)n << 16 | offsetof(struct exec_record, text);
	perf_trace(&trace_point_exec, &r.header, offsetof(struct exec_record, text) + n, 1);
}

struct exit_record {
	struct perf_trace_header header;
	char comm[16];
	pid_t pid;
	int prio;
};

static const struct perf_trace_field exit_fields[] = {
	FIELD_STRING(exit_record, comm),
	FIELD_SIGNED(exit_record, "pid_t", pid),
	FIELD_SIGNED(exit_record, "int", prio),
	{0},
};

void trace_do_exit(void)
{
	struct exit_record r = {.pid = current->tid, .prio = prio_of(current)};

	memcpy(r.comm, current->comm, sizeof(r.comm));
	perf_trace(&trace_point_exit, &r.header, sizeof(r), 1);
}

/* ------------------------------------------------------------- the places */

#define POINT(variable, title, list) \
	struct perf_tracepoint variable = {.system = "sched", .name = title, .fields = list}

struct perf_tracepoint trace_point_switch = {
	.system = "sched",
	.name = "sched_switch",
	.fields = switch_fields,
	.print = "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> "
		 "next_comm=%s next_pid=%d next_prio=%d\", "
		 "REC->prev_comm, REC->prev_pid, REC->prev_prio, __print_symbolic(REC->prev_state, "
		 "{ 0x0, \"R\" }, { 0x1, \"S\" }, { 0x2, \"D\" }, { 0x4, \"T\" }, { 0x10, \"X\" }, "
		 "{ 0x100, \"R+\" }), REC->next_comm, REC->next_pid, REC->next_prio",
};
POINT(trace_point_waking, "sched_waking", wakeup_fields);
POINT(trace_point_wakeup, "sched_wakeup", wakeup_fields);
POINT(trace_point_wakeup_new, "sched_wakeup_new", wakeup_fields);
POINT(trace_point_migrate, "sched_migrate_task", migrate_fields);
POINT(trace_point_runtime, "sched_stat_runtime", runtime_fields);
POINT(trace_point_fork, "sched_process_fork", fork_fields);
POINT(trace_point_exec, "sched_process_exec", exec_fields);
POINT(trace_point_exit, "sched_process_exit", exit_fields);

int trace_sched_register(void)
{
	struct perf_tracepoint *const points[] = {
		&trace_point_switch,  &trace_point_waking,  &trace_point_wakeup,
		&trace_point_wakeup_new, &trace_point_migrate, &trace_point_runtime,
		&trace_point_fork,    &trace_point_exec,    &trace_point_exit,
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(points) && !err; i++)
		err = perf_tracepoint_register(points[i]);
	return err;
}
