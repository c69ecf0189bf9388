/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scheduler: one round-robin queue for each CPU, all under sched_lock.
 *
 * A task is in one of three places: on a CPU (on_cpu, rq->curr), on a queue
 * (on_rq), or asleep. It moves between them only under sched_lock, and the lock
 * is held from the moment the outgoing task's state is looked at until the
 * incoming one runs (the incoming one releases it). So nobody ever sees a task
 * half switched, and these races have simple answers:
 *
 *   wake before sleep   The sleeper sets its state, then looks at its condition,
 *                       then calls schedule(). A waker that comes in between
 *                       finds it on_cpu, sets the state back to running, and
 *                       schedule() returns at once.
 *   wake on a CPU that  The state is checked and changed under the lock; the
 *   is switching away   waker waits for it and then finds a complete sleeper.
 *   exit                A dead task's stack is freed by the task that ran next,
 *                       after the lock was released, never by itself.
 *
 * Time slices: a task has a quantum of CPU time. It keeps what is left of it when
 * something urgent (an interrupt's wake-up) takes the CPU away, and then goes on
 * first; when it is used up the task goes to the end of the queue. The timer is
 * armed for the end of the quantum, which is the tick: HZ times a second on a busy
 * CPU, never on an idle one. Arming is lazy: a deadline that moves back is left to
 * an early interrupt, so that a switch rarely touches the timer.
 */
#include "arch/aarch64/cpu.h"
#include "dev/dev.h"
#include "mm/vm.h"
#include "proc/internal.h"
#include "proc/task.h"
#include "proc/turn.h"
#include "trace/trace.h"
#include <utlist.h>

#define QUANTUM (NSEC_PER_SEC / HZ)

struct runqueue {
	struct task *queue; /* DL by rq_next, rq_prev; the first runs next */
	u32 nr;		    /* in the queue */
	struct task *curr, *idle;
	u64 nr_switches;
	/* CPU time of finished slices, and where the running one began */
	u64 user_ns, sys_ns;
	u64 slice_user, slice_sys;
};

struct spinlock sched_lock;
static struct runqueue runqueues[MAX_CPUS];
static struct task idle_tasks[MAX_CPUS];

static struct runqueue *this_rq(void)
{
	return &runqueues[current->cpu];
}

static bool rq_is_idle(const struct runqueue *rq)
{
	return rq->curr == rq->idle && rq->nr == 0;
}

static bool cpu_allowed(const struct task *t, unsigned cpu)
{
	return (t->affinity & BIT(cpu)) && cpu_online(cpu);
}

/* ------------------------------------------------------------ accounting */

void acct_enter_kernel(void)
{
	struct task *t = current;
	u64 now = clock_ns();

	t->utime_ns += now - t->last_stamp;
	t->last_stamp = now;
}

void acct_leave_kernel(void)
{
	struct task *t = current;
	u64 now = clock_ns();

	t->stime_ns += now - t->last_stamp;
	t->last_stamp = now;
}

u64 task_cpu_ns(const struct task *t, u64 *utime, u64 *stime)
{
	u64 u = READ_ONCE(t->utime_ns), s = READ_ONCE(t->stime_ns);

	/* A task that is running elsewhere is most likely in user mode. */
	if (t->on_cpu) {
		u64 live = clock_ns() - READ_ONCE(t->last_stamp);

		if (t == current)
			s += live;
		else if ((s64)live > 0)
			u += live;
	}
	if (utime)
		*utime = u;
	if (stime)
		*stime = s;
	return u + s;
}

void sched_cpu_times(unsigned cpu, u64 *user, u64 *sys, u64 *idle, u64 *nr_switches)
{
	struct runqueue *rq = &runqueues[cpu];
	u64 flags = sched_lock_irqsave();
	u64 u = rq->user_ns, s = rq->sys_ns;
	u64 i = task_cpu_ns(rq->idle, NULL, NULL);

	if (rq->curr != rq->idle) {
		u64 cu, cs;

		task_cpu_ns(rq->curr, &cu, &cs);
		u += cu - rq->slice_user;
		s += cs - rq->slice_sys;
	}
	if (user)
		*user = u;
	if (sys)
		*sys = s;
	if (idle)
		*idle = i;
	if (nr_switches)
		*nr_switches = rq->nr_switches;
	sched_unlock_irqrestore(flags);
}

static u32 nr_running_locked(void)
{
	u32 n = 0;

	for (unsigned cpu = 0; cpu < nr_cpus(); cpu++)
		n += runqueues[cpu].nr + (runqueues[cpu].curr != runqueues[cpu].idle);
	return n;
}

u32 sched_nr_running(void)
{
	u64 flags = sched_lock_irqsave();
	u32 n = nr_running_locked();

	sched_unlock_irqrestore(flags);
	return n;
}

static u32 nr_uninterruptible; /* asleep so; sched_lock */

static bool sleeps_uninterruptibly(const struct task *t)
{
	return t->state == TASK_UNINTERRUPTIBLE && !t->is_kthread;
}

/* sched_lock held. Later than any busy CPU comes by: then none was. */
static void sample_load(u64 now)
{
	bool was_idle = now - load_next_sample > 2 * QUANTUM;

	load_sample(now, nr_uninterruptible + (was_idle ? 0 : nr_running_locked()));
}

/* The outgoing task's slice is charged to it and to the CPU. */
static void account_slice(struct runqueue *rq, struct task *prev, u64 now)
{
	prev->stime_ns += now - prev->last_stamp;
	prev->last_stamp = now;
	if (prev == rq->idle)
		return;
	rq->user_ns += prev->utime_ns - rq->slice_user;
	rq->sys_ns += prev->stime_ns - rq->slice_sys;
}

/* -------------------------------------------------- queues and placement */

static void enqueue(struct task *t, bool first)
{
	struct runqueue *rq = &runqueues[t->cpu];

	if (first)
		DL_PREPEND2(rq->queue, t, rq_prev, rq_next);
	else
		DL_APPEND2(rq->queue, t, rq_prev, rq_next);
	rq->nr++;
	t->on_rq = true;
}

static void dequeue(struct task *t)
{
	struct runqueue *rq = &runqueues[t->cpu];

	DL_DELETE2(rq->queue, t, rq_prev, rq_next);
	rq->nr--;
	t->on_rq = false;
}

/* Gives a task that is on no queue to a CPU. */
static void set_task_cpu(struct task *t, unsigned cpu)
{
	if (t->cpu == (int)cpu)
		return;
	trace_migrate(t, cpu);
	t->cpu = (int)cpu;
	t->migrations++;
	perf_migrate(&t->perf);
}

/* The CPU's running task is to look at its queue. */
static void resched_cpu(unsigned cpu)
{
	runqueues[cpu].curr->need_resched = true;
	if (turns_on)
		turn_want(cpu, false);
	else if (cpu != cpu_id())
		smp_send_reschedule(cpu);
}

/* Where a waking task goes: where it was if that is idle, else an idle CPU, else where it was. */
static unsigned place_waking(const struct task *t)
{
	unsigned fallback = (unsigned)t->cpu;

	if (cpu_allowed(t, fallback)) {
		if (rq_is_idle(&runqueues[fallback]))
			return fallback;
	} else {
		fallback = MAX_CPUS;
	}
	for (unsigned cpu = 0; cpu < nr_cpus(); cpu++) {
		if (!cpu_allowed(t, cpu))
			continue;
		if (rq_is_idle(&runqueues[cpu]))
			return cpu;
		if (fallback == MAX_CPUS)
			fallback = cpu;
	}
	ASSERT(fallback != MAX_CPUS);
	return fallback;
}

static unsigned place_new(const struct task *t)
{
	unsigned best = MAX_CPUS;
	u32 best_load = 0;

	for (unsigned i = 0; i < nr_cpus(); i++) {
		unsigned cpu = (cpu_id() + i) % nr_cpus();
		struct runqueue *rq = &runqueues[cpu];
		u32 load = rq->nr + (rq->curr != rq->idle);

		if (cpu_allowed(t, cpu) && (best == MAX_CPUS || load < best_load)) {
			best = cpu;
			best_load = load;
		}
	}
	ASSERT(best != MAX_CPUS);
	return best;
}

/* sched_lock held. `urgent`: by an interrupt, or on its behalf; then it runs next. */
static bool wake_task_locked(struct task *t, u32 state_mask, bool urgent)
{
	unsigned cpu;

	if (!(BIT(t->state) & state_mask))
		return false;
	if (sleeps_uninterruptibly(t) && !t->on_cpu)
		nr_uninterruptible--;
	t->state = TASK_RUNNING;
	if (t->on_cpu)
		return true; /* it has not left yet: its schedule() will see the state */
	cpu = place_waking(t);
	set_task_cpu(t, cpu);
	enqueue(t, urgent);
	trace_wakeup(t, cpu);
	if (urgent || runqueues[cpu].curr == runqueues[cpu].idle)
		resched_cpu(cpu);
	return true;
}

/* Interrupt handlers, and who does their work for them, want their task to run soon. */
static bool wake_is_urgent(u64 flags)
{
	return (flags & (1u << 7)) || current->acts_for_irq;
}

bool wake_task(struct task *t, u32 state_mask)
{
	u64 flags = sched_lock_irqsave();
	bool woken = wake_task_locked(t, state_mask, wake_is_urgent(flags));

	sched_unlock_irqrestore(flags);
	return woken;
}

bool sched_wake_sleeper(struct task *t, u64 flags)
{
	return wake_task_locked(t, WAKE_NORMAL, wake_is_urgent(flags));
}

void sched_new_task(struct task *t)
{
	u64 flags = sched_lock_irqsave();
	unsigned cpu = place_new(t);

	t->cpu = (int)cpu; /* its first place is no migration */
	t->state = TASK_RUNNING;
	t->quantum_left = QUANTUM;
	t->wants_big = true; /* schedule_tail() */
	enqueue(t, false);
	trace_wakeup_new(t, cpu);
	if (runqueues[cpu].curr == runqueues[cpu].idle)
		resched_cpu(cpu);
	sched_unlock_irqrestore(flags);
}

/* Tasks that wait for another to leave the CPU. One that an idle CPU was given runs there in a moment. */
static u32 nr_waiting(const struct runqueue *rq)
{
	return rq->curr == rq->idle && rq->nr > 0 ? rq->nr - 1 : rq->nr;
}

/* An idle CPU takes the task that has waited longest on the longest queue. */
static struct task *steal(unsigned me)
{
	struct task *best = NULL;
	u32 best_nr = 0;

	for (unsigned cpu = 0; cpu < nr_cpus(); cpu++) {
		struct runqueue *rq = &runqueues[cpu];
		struct task *t;

		if (cpu == me || nr_waiting(rq) <= best_nr)
			continue;
		DL_FOREACH2(rq->queue, t, rq_next) {
			if (cpu_allowed(t, me)) {
				best = t;
				best_nr = nr_waiting(rq);
				break;
			}
		}
	}
	if (best) {
		dequeue(best);
		set_task_cpu(best, me);
	}
	return best;
}

/* -------------------------------------------------------------- switching */

void set_current_state(enum task_state s)
{
	WRITE_ONCE(current->state, s);
	if (s != TASK_RUNNING)
		__atomic_thread_fence(__ATOMIC_SEQ_CST); /* before looking at the condition */
}

/* Puts the outgoing task, if it still wants to run, where it belongs, and takes the next one. */
static struct task *pick_next(struct runqueue *rq, struct task *prev, u64 now, bool yield)
{
	unsigned cpu = (unsigned)prev->cpu;
	struct task *next;
	bool runnable = prev != rq->idle && prev->state == TASK_RUNNING;
	bool requeue_first = false;

	if (prev->quantum_left)
		prev->quantum_left = prev->quantum_end > now ? prev->quantum_end - now : 0;
	if (runnable && !cpu_allowed(prev, cpu)) {
		unsigned to = place_waking(prev);

		set_task_cpu(prev, to);
		enqueue(prev, false);
		resched_cpu(to);
	} else if (runnable) {
		requeue_first = prev->quantum_left && !yield && rq->queue;
		if (!requeue_first)
			enqueue(prev, false);
	}
	next = rq->queue;
	if (next)
		dequeue(next);
	else
		next = nr_cpus() > 1 ? steal(cpu) : NULL;
	if (requeue_first)
		enqueue(prev, true);
	return next ? next : rq->idle;
}

/* The first half of a switch is undone here, by whoever runs next; then the lock goes. */
static void finish_switch(struct task *prev)
{
	bool dead = prev->state == TASK_DEAD;

	prev->on_cpu = false;
	perf_sched_in(&prev->perf, &current->perf);
	spin_unlock(&sched_lock);
	if (unlikely(dead))
		task_release_dead(prev);
}

static void start_slice(struct runqueue *rq, struct task *next, u64 now)
{
	if (next->quantum_left == 0 || now - next->last_stamp >= QUANTUM)
		next->quantum_left = QUANTUM;
	next->slice_start = now;
	next->last_stamp = now;
	next->quantum_end = now + next->quantum_left;
	next->on_cpu = true;
	rq->curr = next;
	rq->nr_switches++;
	rq->slice_user = next->utime_ns;
	rq->slice_sys = next->stime_ns;
	if (next != rq->idle)
		timer_arm_before(next->quantum_end);
}

/*
 * The big lock belongs to the CPU, so it can stay with it over a switch between two
 * tasks that both run with it; otherwise the one that leaves lets go of it.
 */
static void pass_big_lock(struct task *prev, struct task *next)
{
	next->has_big = prev->wants_big && next->wants_big;
	if (prev->wants_big && !next->has_big)
		big_unlock();
}

/* Interrupts off, sched_lock held, which is released. */
static void switch_away(bool yield)
{
	struct task *prev = current, *next;
	struct runqueue *rq = this_rq();
	u64 now = clock_ns();

	if (unlikely(kstack_spoiled(prev)))
		panic("the kernel stack of %s (%d) was too small", prev->comm, prev->tid);
	if (unlikely(now >= load_next_sample))
		sample_load(now);
	next = pick_next(rq, prev, now, yield);
	prev->need_resched = false;
	if (next == prev) {
		prev->state = TASK_RUNNING; /* the boot thread, which cannot sleep */
		if (prev->quantum_left == 0)
			prev->quantum_left = QUANTUM;
		prev->quantum_end = now + prev->quantum_left;
		prev->has_big = prev->wants_big;
		spin_unlock(&sched_lock);
		return;
	}
	pass_big_lock(prev, next);
	if (prev != rq->idle)
		trace_runtime(prev, now - prev->slice_start);
	trace_switch(prev, next);
	perf_sched_out(&prev->perf, &next->perf);
	nr_uninterruptible += sleeps_uninterruptibly(prev);
	if (prev->state == TASK_RUNNING)
		prev->nivcsw++;
	else
		prev->nvcsw++;
	if (prev == rq->idle)
		prev->state = TASK_RUNNING;
	account_slice(rq, prev, now);
	start_slice(rq, next, now);
	if (prev->mm != next->mm)
		mm_activate(next->mm);
	finish_switch(arch_switch(prev, next));
}

static void schedule_common(bool yield)
{
	bool locked = big_lock_held();
	u64 flags;

	if (READ_ONCE(current->state) == TASK_RUNNING && !current->need_resched && !yield)
		return; /* woken before it slept */
	flags = irq_save();
	if (unlikely(current->todo & TODO_WORK))
		work_hand_over();
	spin_lock(&sched_lock);
	current->wants_big = locked;
	switch_away(yield);
	irq_restore(flags);
	if (locked && !current->has_big)
		big_lock();
}

void schedule(void)
{
	schedule_common(false);
}

void sched_yield_current(void)
{
	schedule_common(true);
}

void schedule_until(u64 deadline)
{
	struct task *t = current;

	if (deadline == NO_DEADLINE) {
		schedule();
		return;
	}
	u64 flags = irq_save();

	ktimer_start(&t->sleep_timer, deadline);
	irq_restore(flags);
	schedule();
	ktimer_cancel(&t->sleep_timer);
}

void sched_sleep_timer(struct ktimer *timer)
{
	wake_task(container_of(timer, struct task, sleep_timer), WAKE_NORMAL);
}

void schedule_tail(struct task *prev)
{
	finish_switch(prev);
	irq_enable();
	if (!current->has_big)
		big_lock();
	task_first_run();
}

void sched_let_others_run(void)
{
	if (READ_ONCE(current->need_resched))
		schedule();
	if (!turn_over())
		return;
	irq_disable();
	big_unlock();
	turn_pass();
	irq_enable(); /* what is pending is handled here */
	big_lock();
}

/* The timer interrupt, after the timers that were due. Returns when it wants the next one. */
u64 sched_tick(u64 now)
{
	struct runqueue *rq = this_rq();
	struct task *t = current;

	if (t == rq->idle)
		return NO_DEADLINE;
	if (now >= t->quantum_end) {
		if (rq->nr) {
			t->quantum_left = 0;
			t->need_resched = true;
		}
		t->quantum_end = now + QUANTUM;
		if (t->proc->cputimers)
			t->todo |= TODO_CPUTIMERS;
	}
	return t->quantum_end;
}

/* --------------------------------------------------------------- affinity */

int sched_set_affinity(struct task *t, u64 mask)
{
	u64 flags, online = 0;

	for (unsigned cpu = 0; cpu < nr_cpus(); cpu++) {
		if (cpu_online(cpu))
			online |= BIT(cpu);
	}
	if (!(mask & online))
		return -EINVAL;
	flags = sched_lock_irqsave();
	t->affinity = mask & online;
	if (!cpu_allowed(t, (unsigned)t->cpu)) {
		if (t->on_cpu) {
			resched_cpu((unsigned)t->cpu);
		} else if (t->on_rq) {
			dequeue(t);
			set_task_cpu(t, place_waking(t));
			enqueue(t, false);
			resched_cpu((unsigned)t->cpu);
		}
	}
	sched_unlock_irqrestore(flags);
	if (t == current && t->need_resched)
		schedule();
	return 0;
}

int task_running_on(const struct task *t)
{
	u64 flags = sched_lock_irqsave();
	int cpu = t->on_cpu ? t->cpu : -1;

	sched_unlock_irqrestore(flags);
	return cpu;
}

/* -------------------------------------------------------------- idle tasks */

void sched_init_cpu(unsigned cpu)
{
	struct task *t = &idle_tasks[cpu];
	struct runqueue *rq = &runqueues[cpu];

	t->cpu = (int)cpu;
	t->state = TASK_RUNNING;
	t->is_idle = true;
	t->on_cpu = true;
	t->affinity = BIT(cpu);
	t->refs = 1;
	t->policy = SCHED_POLICY_NORMAL;
	t->proc = kernel_process();
	task_init_common(t);
	snprintf(t->comm, sizeof(t->comm), "swapper/%u", cpu);
	rq->idle = t;
	rq->curr = t;
	__asm__ volatile("msr tpidr_el1, %0" ::"r"(t) : "memory");
	t->last_stamp = clock_ns();
}
