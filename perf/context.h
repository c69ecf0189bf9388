/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * context.h - the events of one task, or of one CPU.
 *
 * Ownership. A context is "in" on a CPU while its events may be on that CPU's
 * counters: a task's context from sched_in to sched_out, a CPU's context while
 * the CPU is online.
 *
 *   - While it is in on a CPU (context->cpu), only that CPU touches what is
 *     marked "owner", with interrupts off. No lock is needed for that, so the
 *     overflow interrupt, rotation and the inside of a switch take none.
 *   - While it is in nowhere (context->cpu is -1), whoever holds its lock does.
 *   - Going in and going out happens under the lock.
 *
 * perf_context_run() finds the owner and runs a function as the owner. That is
 * how every operation reaches an event, wherever it is.
 *
 * Which events there are changes only under the context's mutex as well, so
 * holding it keeps lists and groups still for a caller that sleeps.
 *
 * Order of locks: a context's mutex (a parent's before its child's), then a
 * root event's copies_mutex, then a context's lock.
 */
#ifndef PERF_CONTEXT_H
#define PERF_CONTEXT_H

#include "event.h"

/**
 * The groups of a context that compete for the counters of one PMU, and that
 * may run on the same CPUs. Only groups whose leader is enabled are in it.
 */
struct perf_lane {
	struct perf_context *context; /* const */
	struct perf_pmu *pmu;	      /* const */
	int cpu;		      /* const: -1 for wherever the context is in */
	struct perf_lane *next;	      /* const once linked, see perf_context_lane() */
	struct perf_event *pinned;    /* owner, as all that follows */
	struct perf_event *flexible;  /* those whose turn it is come first */
	struct perf_event *active;    /* the groups that are on counters */
	bool crowded;		      /* a flexible group had to be left out */
	bool new_turn;		      /* the order of flexible has changed: look at more of it */
	uint64_t turn_began;	      /* in the context's time */
};

struct perf_context {
	struct port_spinlock lock;
	struct port_mutex mutex;
	_Atomic uint32_t refs;
	struct perf_task *task;	   /* of a task that lives, else NULL: lock */
	bool of_task;		   /* const */
	int cpu;		   /* where it is in, or -1: lock */
	struct perf_event *events; /* all that are attached: mutex and owner */
	unsigned int nr_events;
	unsigned int nr_sampling; /* how many of them are sampling events */
	uint64_t family;	  /* see perf_context_hand_over(); owner */
	struct perf_event *shown; /* those that user mode reads, see userpage.c; owner */

	/* Its clock: stands still while it is in nowhere. Owner. */
	uint64_t time;	/* ns so far */
	uint64_t stamp; /* port_clock() up to which time is right, while in */

	/*
	 * Lanes for events of any CPU, and for each CPU those of events bound
	 * to it (of a task's context; a CPU's context has only the first).
	 */
	bool bound_first; /* which of the two goes first; owner */
	struct perf_lane *any;
	struct perf_lane *bound[];
};

/** A place in the kernel, as port_regs_at() wants it. */
struct perf_site {
	uintptr_t ip, frame;
};

/** Where the function that this is in was called; a macro, to be in its frame. */
#define PERF_SITE_HERE()                                          \
	((struct perf_site){(uintptr_t)__builtin_return_address(0), \
			    (uintptr_t)__builtin_frame_address(0)})

/** The record of a tracepoint. */
struct perf_raw {
	const void *data;
	size_t size;
};

/** What the core keeps for each CPU; touched by that CPU, interrupts off. */
struct perf_cpu {
	struct perf_context *context;	   /* of the CPU's events: const */
	struct perf_context *task_context; /* of the current task, if in */
	struct perf_event *halted;	   /* active events that stand still */
	struct port_timer halt_timer;	   /* started for halt_when, if there are any */
	uint64_t halt_when;
	uint64_t share_began; /* time for samples is rationed in bursts, see overflow.c */
	uint64_t share_spent; /* ns of this burst */
	struct perf_site site; /* where the kernel called the hook we are in; 0: in none */
	struct perf_raw raw;   /* what a tracepoint says, during perf_trace() */
};

extern struct perf_cpu *perf_cpus;

/** Make the contexts of all CPUs. Context: sleep. Returns 0 or -ENOMEM. */
int perf_context_init(void);

/** The CPU we are on. Context: irq-off. */
static inline struct perf_cpu *perf_this_cpu(void)
{
	return &perf_cpus[port_cpu()];
}

/**
 * First and next lane of a context that may run on a CPU. The order depends on
 * bound_first, which must not change during a walk. Context: owner.
 */
struct perf_lane *perf_lane_first(const struct perf_context *context, int cpu);
struct perf_lane *perf_lane_next(const struct perf_context *context, int cpu,
				 const struct perf_lane *lane);

#define PERF_FOREACH_LANE(lane, context, cpu)                    \
	for ((lane) = perf_lane_first((context), (cpu)); (lane); \
	     (lane) = perf_lane_next((context), (cpu), (lane)))

/** A new context in nowhere, with one reference, or NULL. Context: sleep. */
struct perf_context *perf_context_create(struct perf_task *task);

void perf_context_get(struct perf_context *context);
void perf_context_put(struct perf_context *context);

/**
 * The context of a task, made if there is none, with a reference for the
 * caller. Context: sleep. Returns 0, -ENOMEM, or -ESRCH for a task that exits.
 */
int perf_context_of_task(struct perf_task *task, struct perf_context **context);

/**
 * Keep a task's context as it is: lock its mutex, and end its likeness to other
 * contexts, so that it stays this task's until perf_context_release().
 * Context: sleep. Returns NULL if the task has none.
 */
struct perf_context *perf_context_hold(struct perf_task *task);

/**
 * The same without ending its likeness: the context may be handed over to
 * another task, but neither it nor one that is like it changes.
 */
struct perf_context *perf_context_hold_shared(struct perf_task *task);
void perf_context_release(struct perf_context *context);

/**
 * Take a task's context away from it; the caller gets the task's reference.
 * Returns NULL if it has none. Context: sleep.
 */
struct perf_context *perf_context_take(struct perf_task *task);

/**
 * Run @fn as the owner of a context, with its lock held and its clock up to
 * date. Context: sleep.
 */
void perf_context_run(struct perf_context *context,
		      void (*fn)(struct perf_context *context, void *arg), void *arg);

/**
 * Make an event part of a context, and of @leader's group unless that is NULL,
 * in PERF_STATE_OFF; perf_control_enable() starts it. On success the context has
 * a reference to the event, which the caller gives it. The caller holds the
 * context's mutex.
 * Context: sleep. Returns 0, -ENOMEM, or -ESRCH if the task has ended.
 */
int perf_context_attach(struct perf_context *context, struct perf_event *event,
			struct perf_event *leader);

/**
 * End an event's part in its context: off its counter, out of the lists, with
 * @state as its last. No effect if that has happened already. With @ungroup it
 * also leaves its group; the siblings of a leader go on alone. The caller holds
 * the context's mutex.
 * Context: sleep. Returns whether it was part of it until now; then the context's
 * reference is the caller's, to be dropped.
 */
bool perf_context_detach(struct perf_event *event, enum perf_state state, bool ungroup);

/**
 * The task of a context ends: all events off their counters, and none can be
 * attached any more. The caller holds the mutex. Context: sleep.
 */
void perf_context_end(struct perf_context *context);

/**
 * The current task's context goes in on this CPU, or goes out of it. The parts
 * of a switch. Context: irq-off.
 */
void perf_context_go_in(struct perf_context *context);
void perf_context_go_out(struct perf_context *context);

/**
 * A child's context has got copies of all events of its parent's, and nothing
 * else: from now on the two are like each other. The caller holds both mutexes.
 * Context: sleep.
 */
void perf_context_set_alike(struct perf_context *context, struct perf_context *child);

/**
 * Instead of going out: if the next task's context is like this one, let the
 * next task have this one, which simply goes on counting, and the previous task
 * the other. What each event has counted is then no longer one task's, but the
 * sum over an event and its copies, which is all that anybody sees, is right.
 *
 * Contexts of the same family, a number other than 0, are alike. A context
 * leaves its family when an event is attached or detached, or when something
 * is done to it that is not done to all copies.
 *
 * Context: irq-off, in the switch. Returns whether it was done.
 */
bool perf_context_hand_over(struct perf_context *context, struct perf_task *prev,
			    struct perf_task *next);

#endif
