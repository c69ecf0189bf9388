/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event.h - one event: what it is, who holds it, what state it is in.
 *
 * An event is reference counted. Its file holds a reference, its context holds
 * one while the event is attached, and the list of a root event's copies holds
 * one on each copy; a copy holds one on its root. Whoever ends first, file or
 * task, detaches the event from its context; the other finds it done.
 *
 * What protects what is written beside each member, with these shorthands:
 *
 *   const      set before the event can be found, never changed
 *   mutex      event->context->mutex to change, and that or owner to read
 *   owner      the context's owner (see context.h): the CPU it is in on, or
 *              whoever holds its lock while it is in nowhere
 *   copies     copies_mutex of the root event
 */
#ifndef PERF_EVENT_H
#define PERF_EVENT_H

#include <perf/perf.h>
#include <perf/pmu.h>

struct perf_context;
struct perf_filter;
struct perf_lane;
struct perf_ring;

/** From PERF_STATE_INACTIVE on, an event wants to count. */
enum perf_state {
	PERF_STATE_GONE = -3,	 /**< its task has ended or left it behind in exec */
	PERF_STATE_ERROR = -2,	 /**< pinned, and could not be placed */
	PERF_STATE_OFF = -1,	 /**< disabled */
	PERF_STATE_INACTIVE = 0, /**< enabled, not on a counter now */
	PERF_STATE_ACTIVE = 1,	 /**< on a counter */
};

/** Why the counter of an active event stands still. */
enum perf_halt {
	PERF_HALT_NONE,
	PERF_HALT_THROTTLED, /**< too many samples; goes on soon */
	PERF_HALT_REFRESH,   /**< the limit of PERF_EVENT_IOC_REFRESH; about to be disabled */
};

struct perf_event {
	struct perf_event_attr attr; /* const, but for its period: owner */
	struct perf_hw_event hw;     /* driver side, owner */
	uint64_t id;		     /* const */
	_Atomic uint32_t refs;

	/* Its context and its group. */
	struct perf_context *context;		/* const once attached; holds a reference */
	bool attached;				/* mutex */
	struct perf_event *ctx_prev, *ctx_next; /* in context->events: mutex and owner */
	struct perf_event *leader;		/* itself if it leads: mutex and owner */
	struct perf_event *siblings;		/* of a leader: mutex and owner */
	struct perf_event *sib_prev, *sib_next;
	unsigned int nr_siblings;

	/* Scheduling: owner. */
	enum perf_state state;
	bool enable_on_exec;
	struct perf_lane *home; /* lane of its own PMU: const once attached */
	struct perf_lane *lane; /* of a leader: lane of the group */
	bool queued;		/* leader, in one of the lane's two queues */
	struct perf_event *q_prev, *q_next;
	struct perf_event *on_prev, *on_next; /* in lane->active */
	struct perf_event *sw_prev, *sw_next; /* in a list of software.c or tracepoint.c */
	struct perf_filter *filter;	      /* of a tracepoint's records, or NULL; a reference */

	/* Times in ns of the context's clock, up to stamp: owner. */
	uint64_t stamp;
	uint64_t time_enabled;
	uint64_t time_running;

	/* Copies made by inheritance: copies, except that root is const. */
	struct perf_event *root; /* of a copy, else NULL */
	struct port_mutex copies_mutex;
	bool closed;		   /* no more copies */
	struct perf_event *copies; /* those not yet folded in below */
	struct perf_event *copy_prev, *copy_next;
	bool listed;	      /* of a copy: in root->copies */
	uint64_t ended_count; /* sums over the copies that have ended */
	uint64_t ended_enabled;
	uint64_t ended_running;

	/* Sampling: owner, but for refresh_left. */
	struct {
		uint64_t due;  /* when the next sample should come, in ns of running time */
		uint64_t time; /* running time, and count, at the last one */
		uint64_t count;
	} freq;
	uint64_t burst_began;	      /* samples are rationed in bursts of fixed length */
	uint32_t burst;		      /* how many there were in this one */
	_Atomic int64_t refresh_left; /* overflows until it is disabled, 0: no limit */
	enum perf_halt halt;
	struct perf_event *halt_prev, *halt_next; /* in perf_cpu->halted */
	struct port_timer timer;		  /* overflow of a clock, see software.c */

	/* The task whose list it is on, or NULL: opener.c's mutex. */
	struct port_task *opener;
	struct perf_event *opener_prev, *opener_next;

	/* Output of a root event. A copy writes into its root's ring. */
	struct port_spinlock output_lock;	    /* held to write, and to change ring */
	struct perf_ring *ring;			    /* holds a reference */
	struct perf_event *ring_prev, *ring_next;   /* in ring->events, ring's lock */
	unsigned int mappings;			    /* mapping mutex, see map.c */
	struct perf_event_mmap_page *page;	    /* that tells of its counter, or NULL: owner */
	struct perf_event *shown_prev, *shown_next; /* in context->shown: owner */
	_Atomic uint64_t lost_records;

	struct port_waitq waitq;
};

static inline bool perf_event_is_software(const struct perf_event *event)
{
	return (event->hw.pmu->caps & PERF_PMU_SOFTWARE) != 0;
}

static inline bool perf_event_is_sampling(const struct perf_event *event)
{
	return event->attr.sample_period != 0;
}

/** Whether an event counts nanoseconds. */
static inline bool perf_event_is_clock(const struct perf_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       (event->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
		event->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

/** The event that a copy stands in for, or the event itself. */
static inline struct perf_event *perf_event_root(struct perf_event *event)
{
	return event->root ? event->root : event;
}

static inline struct perf_event *perf_event_of_hw(struct perf_hw_event *hw)
{
	return (struct perf_event *)((char *)hw - offsetof(struct perf_event, hw));
}

/**
 * Make an event, alone in its group, attached to nothing, with one reference.
 * @attr is checked. @of_task: it is to count a task; @cpu is -1 for any; @root is
 * the event to copy, or NULL.
 * Asks the PMUs which of them can count it.
 * Context: sleep. Returns 0 or the error of perf_event_open(2).
 */
int perf_event_create(const struct perf_event_attr *attr, bool of_task, int cpu,
		      struct perf_event *root, struct perf_event **event);

/** Take a reference. Context: any. */
void perf_event_get(struct perf_event *event);

/** Drop a reference; the last one frees the event. Context: sleep. */
void perf_event_put(struct perf_event *event);

#endif
