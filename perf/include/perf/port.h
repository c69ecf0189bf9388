/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * port.h - what a kernel provides to the event core.
 *
 * The core (perf/) calls these functions and nothing else of its host. A port
 * is one file that implements them; docs/porting.md walks through it.
 *
 * Words used for contexts:
 *
 *   any       any context: interrupts on or off, in an interrupt, in a switch
 *             hook (and so possibly under the scheduler's own lock), with spin
 *             locks of the core held.
 *   irq-off   interrupts are off on this CPU, so the CPU stays the same.
 *   sleep     task context, interrupts on, no spin lock held: may sleep.
 *
 * The core relies on three properties of its host:
 *
 *   - The counter overflow interrupt, the port_timer interrupt and the
 *     interrupt that carries port_call_cpu() are ordinary interrupts: they are
 *     not taken while interrupts are off. There is no NMI.
 *   - A context switch is one irq-off section: the two switch hooks of perf.h
 *     and the change of port_current() all happen inside it.
 *   - memcpy, memmove, memset and memcmp exist, as the compiler demands of
 *     every freestanding environment.
 *
 * The opaque types below are storage of fixed size in which the host keeps an
 * object of its own. The host asserts at compile time that its object fits.
 * All functions that can fail return 0 or a positive result on success and a
 * negative errno value on failure.
 */
#ifndef PERF_PORT_H
#define PERF_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A task of the host: one thread, with its own id. Never looked into. */
struct port_task;

/** Register state of an interrupted or entering context. Never looked into. */
struct port_regs;

struct perf_event;
struct perf_task;

/* ------------------------------------------------------------------ locks */

/** Storage for the host's spin lock. */
struct port_spinlock {
	uintptr_t opaque[4];
};

/** Initialise a spin lock to unlocked. Context: any. */
void port_spin_init(struct port_spinlock *lock);

/**
 * Turn interrupts off on this CPU, then take the lock.
 * Returns the previous interrupt state, for port_spin_unlock(). Not recursive.
 * Acquire ordering. Context: any.
 */
uintptr_t port_spin_lock(struct port_spinlock *lock);

/** Release the lock (release ordering), then restore the interrupt state. */
void port_spin_unlock(struct port_spinlock *lock, uintptr_t irq);

/** Storage for the host's sleeping mutex. */
struct port_mutex {
	uintptr_t opaque[8];
};

/** Initialise a mutex to unlocked. Context: any. */
void port_mutex_init(struct port_mutex *mutex);

/** Take a mutex, sleeping as long as another task holds it. Context: sleep. */
void port_mutex_lock(struct port_mutex *mutex);

/** Release a mutex that this task holds. Context: sleep. */
void port_mutex_unlock(struct port_mutex *mutex);

/* ------------------------------------------------------------ CPUs, calls */

/** Turn interrupts off on this CPU; returns the previous state. Context: any. */
uintptr_t port_irq_save(void);

/** Restore what port_irq_save() returned. */
void port_irq_restore(uintptr_t irq);

/**
 * Number of this CPU, from 0. Stable only while interrupts are off.
 * Context: irq-off.
 */
int port_cpu(void);

/** Number of CPUs that can ever be online; constant after boot. Context: any. */
int port_nr_cpus(void);

/** Whether a CPU is online now. Context: any. */
bool port_cpu_online(int cpu);

/**
 * Run fn(arg) on a CPU, in irq-off context, and return when it has returned.
 * On the calling CPU, fn is simply called with interrupts off. Everything
 * written before the call is visible to fn, and what fn writes to the caller.
 * Two CPUs may call each other at the same time.
 * Context: sleep. Returns 0, or -ENXIO if the CPU is not online (fn not run).
 */
int port_call_cpu(int cpu, void (*fn)(void *arg), void *arg);

/* ------------------------------------------------------------------ clocks */

/**
 * Nanoseconds since boot from a clock that never goes back on one CPU and
 * agrees between CPUs. All times of the core are in this clock; perf shows it
 * as the time of samples. Context: any.
 */
uint64_t port_clock(void);

/**
 * Nanoseconds of a POSIX clock (CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
 * CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI), for attr.use_clockid.
 * Context: any. Returns 0, or -EINVAL for a clock the host does not have.
 */
int port_clock_id(int32_t clockid, uint64_t *ns);

/** How port_clock() follows from the time stamp counter that user mode reads. */
struct port_clock_scale {
	uint64_t zero; /**< in ns */
	uint32_t mult;
	uint16_t shift; /**< port_clock() = zero + (counter * mult >> shift) */
};

/** Returns whether there is such a counter; always the same. Context: any. */
bool port_clock_scale(struct port_clock_scale *scale);

/** Storage for the host's one-shot timer. */
struct port_timer {
	uintptr_t opaque[12];
};

/**
 * Called when a timer expires, on the CPU that started it, in irq-off context
 * from the timer interrupt. @regs is the interrupted context. It may start the
 * timer again.
 */
typedef void (*port_timer_fn)(struct port_timer *timer, const struct port_regs *regs);

/** Initialise a timer; not started. Context: any. */
void port_timer_init(struct port_timer *timer, port_timer_fn fn);

/**
 * Start a timer on this CPU, to expire when port_clock() reaches @when (at
 * once if it already has). Starting a started timer moves it.
 * Context: irq-off, on the CPU that started it if it is started.
 */
void port_timer_start(struct port_timer *timer, uint64_t when);

/**
 * Stop a timer; its function does not run afterwards. No effect on a timer
 * that is not started. Context: irq-off, on the CPU that started it.
 */
void port_timer_stop(struct port_timer *timer);

/* ------------------------------------------------------------------ memory */

/**
 * Allocate zeroed memory, aligned for any type. Returns NULL when there is
 * none. Context: sleep.
 */
void *port_alloc(size_t size);

/** Free what port_alloc() returned; NULL is ignored. Context: sleep. */
void port_free(void *memory);

/** Size of a page in bytes, a power of two. Context: any. */
size_t port_page_size(void);

/**
 * Allocate one zeroed page that can also be mapped to user space. Returns its
 * kernel address, or NULL. Context: sleep.
 */
void *port_page_alloc(void);

/** Free a page; no mapping of it is left. Context: sleep. */
void port_page_free(void *page);

/* -------------------------------------------------------------- user space */

/**
 * Copy between user memory of the current task and the core. User addresses
 * are checked by the host; a page that is not there is faulted in.
 * Context: sleep. Returns 0, or -EFAULT (part may have been copied).
 */
int port_copy_from_user(void *dst, uintptr_t src, size_t size);
int port_copy_to_user(uintptr_t dst, const void *src, size_t size);

/**
 * The same without faulting anything in and without sleeping: -EFAULT if a
 * page is not there. Context: any.
 */
int port_copy_from_user_atomic(void *dst, uintptr_t src, size_t size);

/* ------------------------------------------------------------------- tasks */

/** The task running on this CPU; an idle task counts as one. Context: any. */
struct port_task *port_current(void);

/**
 * Find a task by the id that user space knows it by (Linux's thread id; the
 * id of a process names its first thread). Takes a reference.
 * Context: sleep. Returns NULL if there is none, or if it has begun to exit.
 */
struct port_task *port_task_find(int pid);

/**
 * Take and drop a reference. While one is held, the task's struct perf_task is
 * there and the functions below work, whether or not the task still lives.
 * Context: any for get; sleep for put.
 */
void port_task_get(struct port_task *task);
void port_task_put(struct port_task *task);

/** The struct perf_task that the host keeps in its task. Context: any. */
struct perf_task *port_task_perf(struct port_task *task);

/** Thread id and process id of a task, as user space sees them. Context: any. */
int port_task_tid(const struct port_task *task);
int port_task_pid(const struct port_task *task);

/**
 * Process id of a task's parent process, 0 if it has none. Context: irq-off.
 */
int port_task_ppid(const struct port_task *task);

/**
 * Whether a task could go on running: false for one that goes to sleep, stops
 * or exits. Asked of the current task in perf_sched_out(). Context: irq-off.
 */
bool port_task_runnable(const struct port_task *task);

/**
 * The CPU on which a task is running at this moment, or -1.
 *
 * This must be ordered with the context switch: if it returns -1, then the
 * next perf_sched_in() of the task sees everything the caller wrote before;
 * if it returns a CPU, then a port_call_cpu() to that CPU finds the task
 * either running there or switched out with its perf_sched_out() complete.
 * A read under the lock that protects the task's run-queue state does this.
 * Context: any without a lock of the scheduler.
 */
int port_task_running_on(const struct port_task *task);

/** What a caller may be allowed to do. */
enum port_capability {
	PORT_CAP_PERFMON,  /**< CAP_PERFMON or CAP_SYS_ADMIN */
	PORT_CAP_IPC_LOCK, /**< CAP_IPC_LOCK: no limit on ring memory */
	PORT_CAP_KILL,	   /**< CAP_KILL: may have signals sent to anybody's tasks */
};

/** Whether the current task has a capability. Context: sleep. */
bool port_capable(enum port_capability capability);

/**
 * Whether the current task may observe another, by the rules of
 * ptrace(2)'s PTRACE_MODE_READ_REALCREDS. Context: sleep.
 */
bool port_task_may_observe(struct port_task *task);

/* ------------------------------------------------------------------- files */

/**
 * Make a file for an event and install it at the lowest free descriptor of the
 * current task, close-on-exec if asked. On success the file owns the caller's
 * reference and hands it to perf_file_release() when its last user is gone.
 * Context: sleep. Returns the descriptor, or -EMFILE, -ENFILE or -ENOMEM.
 */
int port_fd_install(struct perf_event *event, bool cloexec);

/**
 * The event behind a descriptor of the current task. The file, and with it the
 * event, stays until port_fd_put(). Context: sleep. Returns NULL if the
 * descriptor is not open or not an event.
 */
struct perf_event *port_fd_get(int fd);

/** Let go of what port_fd_get() returned. Context: sleep. */
void port_fd_put(struct perf_event *event);

/** Storage for the head of the host's wait queue, on which poll(2) sleeps. */
struct port_waitq {
	uintptr_t opaque[4];
};

/** Initialise a wait queue; nobody waits. Context: any. */
void port_waitq_init(struct port_waitq *waitq);

/**
 * Wake everybody who polls on a wait queue, to ask perf_file_poll() again.
 * Context: any, so the host puts the wake-up off until its scheduler's lock
 * can be taken. The core keeps the queue's event until perf_file_release(),
 * and a put-off wake-up holds on to the file or is flushed before that.
 */
void port_wake(struct port_waitq *waitq);

/**
 * Tell the owner of an event's file that it has something to read, if the file
 * has O_ASYNC set: the signal of F_SETSIG or SIGIO, with POLL_IN or POLL_HUP
 * as its si_code and the descriptor as si_fd. Put off like a wake-up.
 * Context: any.
 */
void port_signal(struct perf_event *event, int si_code);

/**
 * Send the current task SIGTRAP before it executes another instruction in user
 * mode, with si_code TRAP_PERF, si_addr @addr, si_perf_data @data, si_perf_type
 * @type, and TRAP_PERF_FLAG_ASYNC in si_perf_flags if the task blocks it. If one
 * is still on its way, this one may be dropped; so may any for a task that exits.
 * Context: irq-off, in an interrupt or a switch hook.
 */
void port_sigtrap(uint64_t addr, uint64_t data, uint32_t type);

/* ---------------------------------------------------------------- samples */

/** Address of the interrupted instruction. Context: any. */
uint64_t port_regs_ip(const struct port_regs *regs);

/** Whether the interrupted context was user mode. Context: any. */
bool port_regs_user(const struct port_regs *regs);

/**
 * Register state of a place in the kernel, in a buffer of this CPU that the next
 * call overwrites: @ip is the address, and @frame what __builtin_frame_address(0)
 * is in a function that returns there. Context: irq-off.
 */
const struct port_regs *port_regs_at(uintptr_t ip, uintptr_t frame);

/**
 * Register state with which the current task last entered the kernel from user
 * mode, or NULL for a task that has no user mode. Context: irq-off.
 */
const struct port_regs *port_regs_of_user(void);

/**
 * Value of one register, by its number in the host's <asm/perf_regs.h>.
 * @index is one of the bits of port_regs_mask(). Context: any.
 */
uint64_t port_regs_value(const struct port_regs *regs, unsigned int index);

/** The registers that exist, as bits of attr.sample_regs_user. Context: any. */
uint64_t port_regs_mask(void);

/** User stack pointer. Context: any. */
uint64_t port_regs_sp(const struct port_regs *regs);

/** PERF_SAMPLE_REGS_ABI_* of the current task's user mode. Context: any. */
uint64_t port_regs_abi(void);

/**
 * Return addresses on the kernel stack, or on the current task's user stack,
 * from @regs outwards, by frame pointer; @regs' own address comes first.
 * Nothing is faulted in; a broken chain ends early. Context: irq-off.
 * Returns how many addresses were stored, at most @max.
 */
unsigned int port_callchain_kernel(const struct port_regs *regs, uint64_t *ips, unsigned int max);
unsigned int port_callchain_user(const struct port_regs *regs, uint64_t *ips, unsigned int max);

/**
 * Page table walk of the current address space. Nothing is faulted in.
 * Context: irq-off. Return 0 for an address that is not mapped.
 */
uint64_t port_phys_addr(uint64_t virt);
uint64_t port_mapped_page_size(uint64_t virt);

/* ------------------------------------------------------------------- panic */

/** Stop the machine: a rule of the core is broken. Context: any. */
_Noreturn void port_panic(const char *what);

#endif
