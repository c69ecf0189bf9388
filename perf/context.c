/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * context.c - the events of one task, or of one CPU; context.h has the rules.
 */
#include <linux/errno.h>
#include <utlist.h>

#include "context.h"
#include "sched.h"
#include "time.h"
#include "userpage.h"
#include "watch.h"

/*
 * A task's reference to its context is dropped, and another one taken through
 * the task's pointer, only under this lock. It is never held for long, and not
 * on the switch path.
 */
static struct port_spinlock pointer_lock;

/* ---------------------------------------------------------------- lifetime */

struct perf_context *perf_context_create(struct perf_task *task)
{
	size_t nr_bound = task ? (size_t)port_nr_cpus() : 0;
	struct perf_context *context =
		port_alloc(sizeof(*context) + nr_bound * sizeof(context->bound[0]));

	if (!context)
		return NULL;
	port_spin_init(&context->lock);
	port_mutex_init(&context->mutex);
	atomic_init(&context->refs, 1);
	context->task = task;
	context->of_task = task != NULL;
	context->cpu = -1;
	return context;
}

void perf_context_get(struct perf_context *context)
{
	atomic_fetch_add_explicit(&context->refs, 1, memory_order_relaxed);
}

static void free_lanes(struct perf_lane *lanes)
{
	struct perf_lane *lane, *next;

	LL_FOREACH_SAFE(lanes, lane, next)
		port_free(lane);
}

void perf_context_put(struct perf_context *context)
{
	if (atomic_fetch_sub_explicit(&context->refs, 1, memory_order_acq_rel) != 1)
		return;
	free_lanes(context->any);
	if (context->of_task) {
		for (int cpu = 0; cpu < port_nr_cpus(); cpu++)
			free_lanes(context->bound[cpu]);
	}
	port_free(context);
}

/* The task's context with a reference, or NULL. */
static struct perf_context *get_existing(struct perf_task *task)
{
	uintptr_t irq = port_spin_lock(&pointer_lock);
	struct perf_context *context = atomic_load(&task->context);

	if (context)
		perf_context_get(context);
	port_spin_unlock(&pointer_lock, irq);
	return context;
}

/*
 * A task that exits says so first and looks for a context then; here it is the
 * other way round. So either the task finds the context and ends it, or it is
 * seen to be exiting here, and the new context stays empty until the task is
 * freed.
 */
int perf_context_of_task(struct perf_task *task, struct perf_context **result)
{
	struct perf_context *context = get_existing(task);

	if (!context) {
		struct perf_context *none = NULL;
		struct perf_context *made = perf_context_create(task);

		if (!made)
			return -ENOMEM;
		if (!atomic_compare_exchange_strong(&task->context, &none, made))
			perf_context_put(made);
		context = get_existing(task);
	}
	if (context && atomic_load(&task->exiting)) {
		perf_context_put(context);
		context = NULL;
	}
	*result = context;
	return context ? 0 : -ESRCH;
}

/* Whether the context is the task's; and no other's from now on, if asked for. */
struct claim {
	const struct perf_task *task;
	bool exclusive, granted;
};

static void claim(struct perf_context *context, void *arg)
{
	struct claim *wanted = arg;

	wanted->granted = context->task == wanted->task;
	if (wanted->granted && wanted->exclusive)
		context->family = 0;
}

/* Between finding the context and holding it, it may have been handed over. */
static struct perf_context *hold(struct perf_task *task, bool exclusive)
{
	struct claim wanted = {.task = task, .exclusive = exclusive};
	struct perf_context *context;

	while ((context = get_existing(task))) {
		port_mutex_lock(&context->mutex);
		perf_context_run(context, claim, &wanted);
		if (wanted.granted)
			break;
		perf_context_release(context);
	}
	return context;
}

struct perf_context *perf_context_hold(struct perf_task *task)
{
	return hold(task, true);
}

struct perf_context *perf_context_hold_shared(struct perf_task *task)
{
	return hold(task, false);
}

void perf_context_release(struct perf_context *context)
{
	port_mutex_unlock(&context->mutex);
	perf_context_put(context);
}

struct perf_context *perf_context_take(struct perf_task *task)
{
	uintptr_t irq = port_spin_lock(&pointer_lock);
	struct perf_context *context = atomic_exchange(&task->context, NULL);

	port_spin_unlock(&pointer_lock, irq);
	return context;
}

/* --------------------------------------------------------------- ownership */

struct call {
	struct perf_context *context;
	void (*fn)(struct perf_context *context, void *arg);
	void *arg;
	bool done;
};

/*
 * Run the function if this CPU is or can be the owner. Returns the CPU that is
 * the owner otherwise.
 */
static int run_if_owner(struct call *call)
{
	struct perf_context *context = call->context;
	uintptr_t irq = port_spin_lock(&context->lock);
	int cpu = context->cpu;

	if (cpu < 0 || cpu == port_cpu()) {
		perf_time_advance(context);
		call->fn(context, call->arg);
		call->done = true;
	}
	port_spin_unlock(&context->lock, irq);
	return cpu;
}

static void run_there(void *arg)
{
	run_if_owner(arg);
}

/*
 * By the time the call arrives, the context may have gone elsewhere; then its
 * new owner is asked. Each round needs a switch of that task in between.
 */
void perf_context_run(struct perf_context *context,
		      void (*fn)(struct perf_context *context, void *arg), void *arg)
{
	struct call call = {.context = context, .fn = fn, .arg = arg};

	while (!call.done) {
		int cpu = run_if_owner(&call);

		if (!call.done)
			port_call_cpu(cpu, run_there, &call);
	}
}

void perf_context_go_in(struct perf_context *context)
{
	uintptr_t irq = port_spin_lock(&context->lock);
	bool goes_in = context->cpu < 0 && context->nr_events > 0;

	if (goes_in) {
		context->cpu = port_cpu();
		context->stamp = port_clock();
		perf_this_cpu()->task_context = context;
	}
	port_spin_unlock(&context->lock, irq);
	if (goes_in) {
		perf_sched_all_in(context);
		perf_userpage_enter(context);
	}
}

/* With the lock held, and nothing on counters: the context is in nowhere. */
static void leave_cpu(struct perf_context *context)
{
	if (context->of_task && context->cpu >= 0) {
		perf_userpage_leave(context);
		perf_this_cpu()->task_context = NULL;
		context->cpu = -1;
	}
}

void perf_context_go_out(struct perf_context *context)
{
	uintptr_t irq;

	perf_sched_all_out(context);
	irq = port_spin_lock(&context->lock);
	leave_cpu(context);
	port_spin_unlock(&context->lock, irq);
}

/* ------------------------------------------------------------- handing over */

static void get_family(struct perf_context *context, void *arg)
{
	static _Atomic uint64_t last_family;

	if (context->family == 0 && !context->shown)
		context->family = atomic_fetch_add(&last_family, 1) + 1;
	*(uint64_t *)arg = context->family;
}

static void set_family(struct perf_context *context, void *arg)
{
	context->family = *(uint64_t *)arg;
}

void perf_context_set_alike(struct perf_context *context, struct perf_context *child)
{
	uint64_t family;

	perf_context_run(context, get_family, &family);
	perf_context_run(child, set_family, &family);
}

static bool are_alike(const struct perf_context *context, const struct perf_context *other)
{
	return context->family != 0 && context->family == other->family;
}

/*
 * The lock of the one that is in is taken first. The other one is in nowhere,
 * and no other CPU switches to its task now.
 */
bool perf_context_hand_over(struct perf_context *context, struct perf_task *prev,
			    struct perf_task *next)
{
	struct perf_context *other = atomic_load_explicit(&next->context, memory_order_acquire);
	uintptr_t irq, other_irq;
	bool done = false;

	if (!other)
		return false;
	irq = port_spin_lock(&context->lock);
	other_irq = port_spin_lock(&other->lock);
	if (are_alike(context, other) && other->cpu < 0 && context->task == prev &&
	    other->task == next && !perf_sched_overflow_pending(context)) {
		context->task = next;
		other->task = prev;
		atomic_store_explicit(&next->context, context, memory_order_release);
		atomic_store_explicit(&prev->context, other, memory_order_release);
		done = true;
	}
	port_spin_unlock(&other->lock, other_irq);
	port_spin_unlock(&context->lock, irq);
	return done;
}

/* ----------------------------------------------------------------- settling */

/*
 * A task's context that had no events is not brought in by a switch, and while
 * no task has any, the hooks do not even look. So after an event has been
 * attached and counted in perf_watchers[], its task may be running with its
 * context in nowhere. From now on switches do look; what remains is the slice
 * that has begun already.
 */
struct settling {
	struct perf_context *context;
	struct port_task *task;
};

static void settle_here(void *arg)
{
	struct settling *settling = arg;

	if (port_current() == settling->task)
		perf_context_go_in(settling->context);
}

static bool is_in(struct perf_context *context)
{
	uintptr_t irq = port_spin_lock(&context->lock);
	bool in = context->cpu >= 0 || !context->task;

	port_spin_unlock(&context->lock, irq);
	return in;
}

static void settle(struct perf_context *context)
{
	struct settling settling = {.context = context};

	if (!context->of_task || !context->task)
		return;
	settling.task = context->task->task;
	while (!is_in(context)) {
		int cpu = port_task_running_on(settling.task);

		if (cpu < 0)
			break;
		port_call_cpu(cpu, settle_here, &settling);
	}
}

/* ------------------------------------------------------ attach and detach */

struct attachment {
	struct perf_event *event;
	struct perf_event *leader;
	struct perf_lane *lane; /* to be used if there is none like it */
	int error;
};

static struct perf_lane *find_lane(struct perf_lane *lanes, const struct perf_pmu *pmu)
{
	while (lanes && lanes->pmu != pmu)
		lanes = lanes->next;
	return lanes;
}

static struct perf_lane *lane_like(struct perf_context *context, struct attachment *attachment)
{
	struct perf_lane *made = attachment->lane;
	struct perf_lane **lanes = made->cpu >= 0 ? &context->bound[made->cpu] : &context->any;
	struct perf_lane *lane = find_lane(*lanes, made->pmu);

	if (!lane) {
		LL_APPEND(*lanes, made);
		attachment->lane = NULL;
		lane = made;
	}
	return lane;
}

static void attach(struct perf_context *context, void *arg)
{
	struct attachment *attachment = arg;
	struct perf_event *event = attachment->event;

	if (context->of_task && !context->task) {
		attachment->error = -ESRCH;
		return;
	}
	event->home = lane_like(context, attachment);
	event->lane = event->home;
	event->state = PERF_STATE_OFF;
	event->stamp = context->time;
	DL_APPEND2(context->events, event, ctx_prev, ctx_next);
	context->nr_events++;
	context->nr_sampling += perf_event_is_sampling(event);
	context->family = 0;
	if (attachment->leader)
		perf_sched_join(event, attachment->leader);
}

int perf_context_attach(struct perf_context *context, struct perf_event *event,
			struct perf_event *leader)
{
	struct perf_lane *lane = port_alloc(sizeof(*lane));
	struct attachment attachment = {.event = event, .leader = leader, .lane = lane};

	if (!lane)
		return -ENOMEM;
	lane->context = context;
	lane->pmu = event->hw.pmu;
	lane->cpu = context->of_task ? event->hw.cpu : -1;

	event->context = context;
	perf_context_get(context);
	perf_context_run(context, attach, &attachment);
	port_free(attachment.lane);
	if (attachment.error)
		return attachment.error;

	event->attached = true;
	perf_watch_add(event);
	settle(context);
	return 0;
}

struct detachment {
	struct perf_event *event;
	enum perf_state state;
	bool ungroup;
};

static void detach(struct perf_context *context, void *arg)
{
	const struct detachment *detachment = arg;
	struct perf_event *event = detachment->event;

	if (event->attached) {
		perf_sched_disable(event, detachment->state);
		DL_DELETE2(context->events, event, ctx_prev, ctx_next);
		context->nr_events--;
		context->nr_sampling -= perf_event_is_sampling(event);
	}
	context->family = 0;
	if (detachment->ungroup)
		perf_sched_leave(event);
	if (context->nr_events == 0)
		leave_cpu(context);
}

bool perf_context_detach(struct perf_event *event, enum perf_state state, bool ungroup)
{
	struct perf_context *context = event->context;
	bool was_attached = event->attached;
	struct detachment detachment = {.event = event, .state = state, .ungroup = ungroup};

	if (was_attached || ungroup)
		perf_context_run(context, detach, &detachment);
	if (was_attached) {
		event->attached = false;
		perf_watch_remove(event);
	}
	return was_attached;
}

static void end(struct perf_context *context, void *arg)
{
	(void)arg;
	if (context->cpu >= 0)
		perf_sched_all_out(context);
	leave_cpu(context);
	context->task = NULL;
}

void perf_context_end(struct perf_context *context)
{
	perf_context_run(context, end, NULL);
}

/* ---------------------------------------------------------------- the CPUs */

int perf_context_init(void)
{
	size_t nr_cpus = (size_t)port_nr_cpus();

	port_spin_init(&pointer_lock);
	perf_cpus = port_alloc(nr_cpus * sizeof(*perf_cpus));
	if (!perf_cpus)
		return -ENOMEM;
	for (size_t cpu = 0; cpu < nr_cpus; cpu++) {
		perf_cpus[cpu].context = perf_context_create(NULL);
		if (!perf_cpus[cpu].context)
			return -ENOMEM;
		perf_sched_init_cpu(&perf_cpus[cpu]);
	}
	return 0;
}

void perf_cpu_online(void)
{
	struct perf_context *context = perf_this_cpu()->context;
	uintptr_t irq = port_spin_lock(&context->lock);

	context->cpu = port_cpu();
	context->stamp = port_clock();
	perf_sched_all_in(context);
	port_spin_unlock(&context->lock, irq);
}

void perf_cpu_offline(void)
{
	struct perf_context *context = perf_this_cpu()->context;
	uintptr_t irq = port_spin_lock(&context->lock);

	perf_sched_all_out(context);
	context->cpu = -1;
	port_spin_unlock(&context->lock, irq);
}
