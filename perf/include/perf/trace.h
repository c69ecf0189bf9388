/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace.h - static tracepoints: places in a kernel that say what happens there.
 *
 * A kernel that has some describes and registers them, and reports with
 * perf_trace() what they have to say. Events of PERF_TYPE_TRACEPOINT then count and
 * sample them: a sample with PERF_SAMPLE_RAW carries the record.
 *
 * User space learns of tracepoints from files of the kernel's tracefs, which is
 * for the kernel to provide: events/SYSTEM/NAME/id and events/SYSTEM/NAME/format
 * (Documentation/trace/events). perf_tracepoint_next() walks what to show there.
 */
#ifndef PERF_TRACE_H
#define PERF_TRACE_H

#include <perf/perf.h>
#include <perf/pmu.h>

/** What every record begins with. The core fills it in. */
struct perf_trace_header {
	uint16_t type; /**< id of the tracepoint */
	uint8_t flags; /**< 0 */
	uint8_t preempt_count;
	int32_t pid; /**< thread id of the current task */
};

/** struct perf_trace_field - a member of a record behind its header. */
struct perf_trace_field {
	const char *type; /**< in C: "pid_t", "const char *", "char" */
	const char *name; /**< NULL ends a list of fields */
	uint16_t offset;  /**< from the beginning of the header */
	uint16_t size;	  /**< in bytes */
	uint16_t length;  /**< of an array, in elements; 0: it is none */
	bool is_signed;
	bool is_string; /**< an array of char with a NUL in it */
};

/** The fields of the header, ended as any list of fields. */
extern const struct perf_trace_field perf_trace_header_fields[];

/**
 * struct perf_tracepoint - one place. Filled in by the kernel, given to
 * perf_tracepoint_register(), and then part of the core for good.
 */
struct perf_tracepoint {
	const char *system, *name;
	const struct perf_trace_field *fields;
	const char *print; /**< "print fmt" of its format file; NULL: each field as name=value */
	/** Tells a task of itself nothing that it does not know: open to those without privilege. */
	bool harmless;
	/** Unless NULL, this goes up and down with the number of events on it, too. */
	_Atomic uint32_t *shared_watchers;

	/* The core's own. */
	uint16_t id; /**< attr.config of its events */
	_Atomic uint32_t watchers;
	struct perf_event **on_cpu; /**< list of the events that are on, for each CPU */
	_Atomic(struct perf_tracepoint *) next;
};

/**
 * Make a tracepoint known, under a new id. There is no way back.
 * Context: sleep, after perf_init(). Returns 0, -ENOMEM, or -ENOSPC when there are no more ids.
 */
int perf_tracepoint_register(struct perf_tracepoint *tracepoint);

/** Walk the tracepoints in order of registration; NULL begins and ends. Context: any. */
struct perf_tracepoint *perf_tracepoint_next(struct perf_tracepoint *tracepoint);

/** Whether making up a record is worth while. */
static inline bool perf_traced(const struct perf_tracepoint *tracepoint)
{
	return __builtin_expect(
		atomic_load_explicit(&tracepoint->watchers, memory_order_relaxed) != 0, 0);
}

/**
 * The current task has come by a tracepoint. @record, of @size bytes, is only used during
 * the call; its header is filled in. Events count @count, usually 1. Samples say that
 * this call's caller is where it happened.
 * Context: any but within the switch hooks; the scheduler's lock may be held.
 */
void perf_trace(struct perf_tracepoint *tracepoint, struct perf_trace_header *record, size_t size,
		uint64_t count);

#endif
