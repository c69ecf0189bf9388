/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulator itself: that it notices broken rules, and that time, work and
 * interleavings are as promised.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "machine.h"
#include "unit.h"

static struct port_spinlock spin, inner_spin;
static struct port_mutex mutex, inner_mutex;
static struct port_timer timer;
static struct sim_task *task, *other;

static long call(struct sim_task *caller, void (*fn)(void))
{
	return sim_do(caller, (long (*)(struct sim_task *, const uintptr_t *))fn, 0, 0, 0, 0, 0, 0);
}

/* In a child process: fn() has to end it with a report that has @words in it. */
static void expect_report(void (*fn)(void), const char *words)
{
	char output[65536] = "";
	size_t length = 0;
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		fn();
		_exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], output + length, sizeof(output) - 1 - length)) > 0)
		length += (size_t)n;
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSIGNALED(status) || strstr(output, words) == NULL)
		fail_msg("no report of \"%s\", but: %s", words, output);
}

/* ------------------------------------------------------------ broken rules */

static void takes_spin_twice(void)
{
	port_spin_lock(&spin);
	port_spin_lock(&spin);
}

static void takes_mutex_twice(void)
{
	port_mutex_lock(&mutex);
	port_mutex_lock(&mutex);
}

static void allocates_under_a_spin_lock(void)
{
	port_spin_lock(&spin);
	port_alloc(8);
}

static void sleeps_with_interrupts_off(void)
{
	port_irq_save();
	port_mutex_lock(&mutex);
}

static void nothing(void *arg)
{
	(void)arg;
}

static void calls_under_a_spin_lock(void)
{
	port_spin_lock(&spin);
	port_call_cpu(1, nothing, NULL);
}

static void asks_for_the_cpu_with_interrupts_on(void)
{
	port_cpu();
}

static void leaves_interrupts_off(void)
{
	port_irq_save();
}

static void leaves_a_mutex_taken(void)
{
	port_mutex_lock(&mutex);
}

static void restores_too_much(void)
{
	uintptr_t irq = port_spin_lock(&spin);

	port_spin_lock(&inner_spin);
	port_spin_unlock(&inner_spin, irq);
}

static void unlocks_what_it_does_not_hold(void)
{
	port_spin_unlock(&spin, 0);
}

static void uses_an_uninitialised_lock(void)
{
	static struct port_spinlock fresh;

	port_spin_lock(&fresh);
}

static void takes_locks_in_both_orders(void)
{
	uintptr_t a = port_spin_lock(&spin), b = port_spin_lock(&inner_spin);

	port_spin_unlock(&inner_spin, b);
	port_spin_unlock(&spin, a);
	a = port_spin_lock(&inner_spin);
	port_spin_lock(&spin);
}

static void touches_a_counter(void)
{
	sim.pmus[0].model.read(&sim.pmus[0].model, SIM_PMU_CTRL);
}

static void drops_too_many_references(void)
{
	port_task_put((struct port_task *)other);
	port_task_put((struct port_task *)other);
}

static void moves_a_timer(void)
{
	port_irq_save();
	port_timer_start(&timer, UINT64_MAX);
	sim.cpu->irq_off = false;
}

static void on_the_task(void (*fn)(void))
{
	call(task, fn);
}

#define REPORTED(fn, words)                      \
	static void run_##fn(void)               \
	{                                        \
		on_the_task(fn);                 \
	}                                        \
	static void report_##fn(void **state)    \
	{                                        \
		(void)state;                     \
		task = sim_task_on(0, "task");   \
		other = sim_task_on(1, "other"); \
		expect_report(run_##fn, words);  \
	}

REPORTED(takes_spin_twice, "a spin lock is taken twice")
REPORTED(takes_mutex_twice, "a mutex is taken twice")
REPORTED(allocates_under_a_spin_lock, "an allocation where sleeping is not allowed")
REPORTED(sleeps_with_interrupts_off, "port_mutex_lock() where sleeping is not allowed")
REPORTED(calls_under_a_spin_lock, "port_call_cpu() where sleeping is not allowed")
REPORTED(asks_for_the_cpu_with_interrupts_on, "port_cpu() with interrupts on")
REPORTED(leaves_interrupts_off, "returned with a mutex held or interrupts off")
REPORTED(leaves_a_mutex_taken, "returned with a mutex held or interrupts off")
REPORTED(restores_too_much, "interrupts turned on with a spin lock held")
REPORTED(unlocks_what_it_does_not_hold, "by a CPU that does not hold it")
REPORTED(uses_an_uninitialised_lock, "not initialised")
REPORTED(takes_locks_in_both_orders, "locks are taken in both orders")
REPORTED(touches_a_counter, "a counter register was touched with interrupts on")
REPORTED(drops_too_many_references, "used without a reference")

static void timer_on_two_cpus(void)
{
	call(task, moves_a_timer);
	call(other, moves_a_timer);
}

static void report_timer_on_two_cpus(void **state)
{
	(void)state;
	task = sim_task_on(0, "task");
	other = sim_task_on(1, "other");
	expect_report(timer_on_two_cpus, "a timer moved that another CPU started");
}

/* Two tasks, two mutexes, opposite order, met by chance: the classes differ in no way. */
static void one_way(void)
{
	port_mutex_lock(&mutex);
	port_mutex_lock(&inner_mutex);
	port_mutex_unlock(&inner_mutex);
	port_mutex_unlock(&mutex);
}

static void other_way(void)
{
	port_mutex_lock(&inner_mutex);
	port_mutex_lock(&mutex);
	port_mutex_unlock(&mutex);
	port_mutex_unlock(&inner_mutex);
}

static void script_one_way(void *arg)
{
	(void)arg;
	call(task, one_way);
}

static void deadlocks(void)
{
	struct sim_script *script = sim_script(script_one_way, NULL);

	sim_until(0, SIM_AT_MUTEX_LOCK, 2);
	call(other, other_way);
	sim_finish(script);
}

static void report_deadlock(void **state)
{
	(void)state;
	task = sim_task_on(0, "task");
	other = sim_task_on(1, "other");
	expect_report(deadlocks, "deadlock");
}

static void leaks(void)
{
	port_alloc(100);
}

static void run_leak(void)
{
	call(task, leaks);
	sim_reset();
}

static void report_leak(void **state)
{
	(void)state;
	task = sim_task_on(0, "task");
	expect_report(run_leak, "1 leaks");
}

static void leaves_an_event(void)
{
	struct perf_event_attr attr = sim_attr_hw(0);

	sim_open(task, &attr, 0, -1, -1, 0);
	sim_check_no_events();
}

static void report_event(void **state)
{
	(void)state;
	task = sim_task_on(0, "task");
	expect_report(leaves_an_event, "are still on");
}

/* ------------------------------------------------------------- the promises */

/* Work advances the clock, the ledger of the task and that of its CPU, and nothing else. */
static void work_and_time(void **state)
{
	uint64_t now = sim_now(), on_cpu = sim_cpu_count(1, SIM_EVENT_CYCLES, SIM_IN_BOTH);

	(void)state;
	task = sim_task_on(1, "task");
	other = sim_task_on(2, "other");
	sim_rate(task, SIM_EVENT_CYCLES, 5, 9);
	sim_run(1, 10);
	sim_run_kernel(1, 3);
	sim_wait(7);
	assert_count(sim_now() - now, 20);
	assert_count(sim_count(task, SIM_EVENT_CYCLES, SIM_IN_USER), 50);
	assert_count(sim_count(task, SIM_EVENT_CYCLES, SIM_IN_KERNEL), 27);
	assert_count(sim_cpu_count(1, SIM_EVENT_CYCLES, SIM_IN_BOTH) - on_cpu, 77);
	assert_count(sim_count(other, SIM_EVENT_CYCLES, SIM_IN_BOTH), 0);
	assert_count(sim_runtime(other), 20);
	sim_run_all(2);
	assert_count(sim_count(other, SIM_EVENT_CYCLES, SIM_IN_USER), 6);
	assert_count(sim_count(task, SIM_EVENT_CYCLES, SIM_IN_USER), 60);
}

static unsigned int trace[16], traced;

static void leaves_trace(void)
{
	for (int i = 0; i < 2; i++) {
		uintptr_t irq = port_irq_save();

		trace[traced++ % 16] = (unsigned int)port_cpu();
		port_irq_restore(irq);
	}
}

static void trace_on_0(void *arg)
{
	(void)arg;
	call(task, leaves_trace);
}

static void trace_on_1(void *arg)
{
	(void)arg;
	call(other, leaves_trace);
}

static void trace_setup(void)
{
	task = sim_task_on(0, "task");
	other = sim_task_on(1, "other");
	traced = 0;
}

static unsigned int orders_seen;

static void trace_check(void)
{
	assert_int_equal(traced, 4);
	orders_seen |= 1U << (trace[0] | trace[1] << 1 | trace[2] << 2 | trace[3] << 3);
}

/* Two steps here and two there: all six orders are played. */
static void explorer_plays_all_orders(void **state)
{
	const struct sim_story story = {
		.setup = trace_setup,
		.scripts = {trace_on_0, trace_on_1},
		.check = trace_check,
	};

	(void)state;
	orders_seen = 0;
	sim_explore(&story, 8, 1000);
	assert_int_equal(__builtin_popcount(orders_seen), 6);
	orders_seen = 0;
	sim_explore(&story, 0, 1);
	assert_int_equal(__builtin_popcount(orders_seen), 1);
	orders_seen = 0;
	sim_shuffle(&story, 1, 200);
	assert_int_equal(__builtin_popcount(orders_seen), 6);
}

/* A CPU that is parked takes interrupts, and goes on when it is let. */
static void parked_cpus_take_calls(void **state)
{
	struct sim_script *script;

	(void)state;
	trace_setup();
	script = sim_script(trace_on_0, NULL);
	sim_until(0, SIM_AT_IRQ_ON, 1);
	assert_int_equal(traced, 1);
	call(other, leaves_trace);
	assert_int_equal(traced, 3);
	sim_finish(script);
	assert_int_equal(traced, 4);
	assert_int_equal(trace[3], 0);
}

static int setup_locks(void **state)
{
	struct port_mutex *const mutexes[] = {&mutex, &inner_mutex};

	port_spin_init(&spin);
	port_spin_init(&inner_spin);
	port_timer_init(&timer, NULL);
	/* At one place, so of one class: nothing is to be unrolled here. */
	for (volatile int i = 0; i < 2; i++)
		port_mutex_init(mutexes[i]);
	return unit_reset(state);
}

#define sim_test(fn) cmocka_unit_test_setup_teardown(fn, setup_locks, unit_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		sim_test(report_takes_spin_twice),
		sim_test(report_takes_mutex_twice),
		sim_test(report_allocates_under_a_spin_lock),
		sim_test(report_sleeps_with_interrupts_off),
		sim_test(report_calls_under_a_spin_lock),
		sim_test(report_asks_for_the_cpu_with_interrupts_on),
		sim_test(report_leaves_interrupts_off),
		sim_test(report_leaves_a_mutex_taken),
		sim_test(report_restores_too_much),
		sim_test(report_unlocks_what_it_does_not_hold),
		sim_test(report_uses_an_uninitialised_lock),
		sim_test(report_takes_locks_in_both_orders),
		sim_test(report_touches_a_counter),
		sim_test(report_drops_too_many_references),
		sim_test(report_timer_on_two_cpus),
		sim_test(report_deadlock),
		sim_test(report_leak),
		sim_test(report_event),
		sim_test(work_and_time),
		sim_test(explorer_plays_all_orders),
		sim_test(parked_cpus_take_calls),
	};

	sim_boot(&(struct sim_config){.pmu = {{.counters = 7}}});
	return cmocka_run_group_tests(tests, NULL, NULL);
}
