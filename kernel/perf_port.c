/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port of the perf_event core onto this kernel: what perf/port.h asks for,
 * except for what has to do with files (perf_file.c). sysfs and the sysctls are
 * in perf_sysfs.c.
 *
 * port_task is struct task, port_regs is struct pt_regs.
 */
#include "arch/aarch64/cpu.h"
#include "dev/dev.h"
#include "lib/lock.h"
#include "mm/vm.h"
#include "perf_port.h"
#include "proc/clock.h"
#include "proc/task.h"
#include <armv8_pmuv3.h>
#include <asm/perf_regs.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <linux/time.h>
#include <perf/perf.h>

_Static_assert(sizeof(struct spinlock) <= sizeof(struct port_spinlock), "port storage");
_Static_assert(sizeof(struct mutex) <= sizeof(struct port_mutex), "port storage");

static struct task *task_of(struct port_task *t)
{
	return (struct task *)t;
}

static const struct task *const_task_of(const struct port_task *t)
{
	return (const struct task *)t;
}

static const struct pt_regs *regs_of(const struct port_regs *regs)
{
	return (const struct pt_regs *)regs;
}

/* ------------------------------------------------------------------ locks */

void port_spin_init(struct port_spinlock *lock)
{
	memset(lock, 0, sizeof(*lock));
}

uintptr_t port_spin_lock(struct port_spinlock *lock)
{
	return spin_lock_irqsave((struct spinlock *)lock);
}

void port_spin_unlock(struct port_spinlock *lock, uintptr_t irq)
{
	spin_unlock_irqrestore((struct spinlock *)lock, irq);
}

void port_mutex_init(struct port_mutex *mutex)
{
	memset(mutex, 0, sizeof(*mutex));
}

void port_mutex_lock(struct port_mutex *mutex)
{
	mutex_lock((struct mutex *)mutex);
}

void port_mutex_unlock(struct port_mutex *mutex)
{
	mutex_unlock((struct mutex *)mutex);
}

/* ------------------------------------------------------------ CPUs, calls */

uintptr_t port_irq_save(void)
{
	return irq_save();
}

void port_irq_restore(uintptr_t irq)
{
	irq_restore(irq);
}

int port_cpu(void)
{
	return (int)cpu_id();
}

int port_nr_cpus(void)
{
	return (int)nr_cpus();
}

bool port_cpu_online(int cpu)
{
	return cpu_online((unsigned)cpu);
}

int port_call_cpu(int cpu, void (*fn)(void *arg), void *arg)
{
	return smp_call((unsigned)cpu, fn, arg);
}

/* ----------------------------------------------------------------- clocks */

uint64_t port_clock(void)
{
	return clock_ns();
}

int port_clock_id(int32_t clockid, uint64_t *ns)
{
	u64 offset;

	switch (clockid) {
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_REALTIME:
	case CLOCK_BOOTTIME:
	case CLOCK_TAI:
		if (!clock_offset(clockid, &offset))
			return -EINVAL;
		*ns = clock_ns() + offset;
		return 0;
	default:
		return -EINVAL;
	}
}

bool port_clock_scale(struct port_clock_scale *scale)
{
	*scale = (struct port_clock_scale){.mult = clock_ns_per_count};
	return clock_ns_per_count != 0;
}

struct perf_timer {
	struct ktimer timer;
	port_timer_fn fn;
};
_Static_assert(sizeof(struct perf_timer) <= sizeof(struct port_timer), "port storage");

static void timer_expired(struct ktimer *timer)
{
	struct perf_timer *t = container_of(timer, struct perf_timer, timer);

	t->fn((struct port_timer *)t, (const struct port_regs *)timer_interrupted_regs());
}

void port_timer_init(struct port_timer *timer, port_timer_fn fn)
{
	struct perf_timer *t = (struct perf_timer *)timer;

	*t = (struct perf_timer){.timer = {.fn = timer_expired, .cpu = -1}, .fn = fn};
}

void port_timer_start(struct port_timer *timer, uint64_t when)
{
	ktimer_start(&((struct perf_timer *)timer)->timer, when);
}

void port_timer_stop(struct port_timer *timer)
{
	ktimer_cancel(&((struct perf_timer *)timer)->timer);
}

/* ----------------------------------------------------------------- memory */

void *port_alloc(size_t size)
{
	return kzalloc(size);
}

void port_free(void *memory)
{
	kfree(memory);
}

size_t port_page_size(void)
{
	return PAGE_SIZE;
}

void *port_page_alloc(void)
{
	struct page *pg = page_alloc_zero();

	return pg ? page_addr(pg) : NULL;
}

void port_page_free(void *page)
{
	page_put(phys_to_page(virt_to_phys(page)));
}

/* ------------------------------------------------------------- user space */

int port_copy_from_user(void *dst, uintptr_t src, size_t size)
{
	return copy_from_user(dst, (const void *)src, size);
}

int port_copy_to_user(uintptr_t dst, const void *src, size_t size)
{
	return copy_to_user((void *)dst, src, size);
}

int port_copy_from_user_atomic(void *dst, uintptr_t src, size_t size)
{
	return copy_from_user_nofault(dst, (const void *)src, size);
}

/* ------------------------------------------------------------------ tasks */

struct port_task *port_current(void)
{
	return (struct port_task *)current;
}

struct port_task *port_task_find(int pid)
{
	struct task *t = task_find(pid);

	if (!t || task_is_dead(t))
		return NULL;
	task_get(t);
	return (struct port_task *)t;
}

void port_task_get(struct port_task *task)
{
	task_get(task_of(task));
}

void port_task_put(struct port_task *task)
{
	task_put(task_of(task));
}

struct perf_task *port_task_perf(struct port_task *task)
{
	return &task_of(task)->perf;
}

int port_task_tid(const struct port_task *task)
{
	return const_task_of(task)->tid;
}

int port_task_pid(const struct port_task *task)
{
	return task_pid(const_task_of(task));
}

int port_task_ppid(const struct port_task *task)
{
	const struct process *parent = const_task_of(task)->proc->parent;

	return parent ? parent->pid : 0;
}

bool port_task_runnable(const struct port_task *task)
{
	return const_task_of(task)->state == TASK_RUNNING;
}

int port_task_running_on(const struct port_task *task)
{
	return task_running_on(const_task_of(task));
}

bool port_capable(enum port_capability capability)
{
	if (capability == PORT_CAP_KILL)
		return capable(CAP_KILL);
	if (capability == PORT_CAP_PERFMON)
		return capable(CAP_PERFMON) || capable(CAP_SYS_ADMIN);
	return capable(CAP_IPC_LOCK);
}

bool port_task_may_observe(struct port_task *task)
{
	return ptrace_may_access(task_of(task));
}

void port_sigtrap(uint64_t addr, uint64_t data, uint32_t type)
{
	current->perf_trap = (struct perf_trap){addr, data, type};
	current->todo |= TODO_PERF_TRAP;
}

/* ---------------------------------------------------------------- samples */

uint64_t port_regs_ip(const struct port_regs *regs)
{
	return regs_of(regs)->pc;
}

bool port_regs_user(const struct port_regs *regs)
{
	return user_mode(regs_of(regs));
}

const struct port_regs *port_regs_at(uintptr_t ip, uintptr_t frame)
{
	static struct pt_regs here[MAX_CPUS];
	struct pt_regs *r = &here[cpu_id()];

	memset(r, 0, sizeof(*r));
	r->pc = ip;
	r->regs[29] = *(const u64 *)frame; /* the frame record: its caller's frame comes first */
	r->sp = frame + 16;
	r->pstate = 5; /* EL1h */
	r->syscallno = -1;
	return (const struct port_regs *)r;
}

const struct port_regs *port_regs_of_user(void)
{
	return current->mm ? (const struct port_regs *)task_regs(current) : NULL;
}

uint64_t port_regs_value(const struct port_regs *regs, unsigned int index)
{
	const struct pt_regs *r = regs_of(regs);

	if (index == PERF_REG_ARM64_SP)
		return r->sp;
	if (index == PERF_REG_ARM64_PC)
		return r->pc;
	return index <= PERF_REG_ARM64_LR ? r->regs[index] : 0;
}

uint64_t port_regs_mask(void)
{
	return BIT(PERF_REG_ARM64_PC + 1) - 1;
}

uint64_t port_regs_sp(const struct port_regs *regs)
{
	return regs_of(regs)->sp;
}

uint64_t port_regs_abi(void)
{
	return PERF_SAMPLE_REGS_ABI_64;
}

/* A frame record: the caller's frame pointer, and where this function returns to. */
struct frame_record {
	u64 fp, lr;
};

/* The chain goes up one kernel stack: each record above the last, none further than a stack is long. */
unsigned int port_callchain_kernel(const struct port_regs *regs, uint64_t *ips, unsigned int max)
{
	const struct pt_regs *r = regs_of(regs);
	u64 fp = r->regs[29], limit = r->sp + KSTACK_SIZE;
	unsigned int n = 0;

	if (max == 0)
		return 0;
	ips[n++] = r->pc;
	while (n < max && fp >= r->sp && fp < limit && IS_ALIGNED(fp, 16)) {
		const struct frame_record *record = (const struct frame_record *)fp;

		ips[n++] = record->lr;
		if (record->fp <= fp)
			break;
		fp = record->fp;
	}
	return n;
}

unsigned int port_callchain_user(const struct port_regs *regs, uint64_t *ips, unsigned int max)
{
	const struct pt_regs *r = regs_of(regs);
	u64 fp = r->regs[29];
	unsigned int n = 0;

	if (max == 0)
		return 0;
	ips[n++] = r->pc;
	while (n < max && fp && IS_ALIGNED(fp, 8)) {
		struct frame_record record;

		if (copy_from_user_nofault(&record, (const void *)fp, sizeof(record)))
			break;
		ips[n++] = record.lr;
		if (record.fp <= fp)
			break;
		fp = record.fp;
	}
	return n;
}

uint64_t port_phys_addr(uint64_t virt)
{
	paddr_t pa;

	if (virt >= DIRECT_MAP)
		return phys_to_page(virt - DIRECT_MAP) ? virt - DIRECT_MAP : 0;
	if (!current->mm || virt >= TASK_SIZE)
		return 0;
	pa = pgd_lookup(current->mm->pgd, virt & PAGE_MASK, NULL);
	return pa ? pa | (virt & ~PAGE_MASK) : 0;
}

uint64_t port_mapped_page_size(uint64_t virt)
{
	return port_phys_addr(virt) ? PAGE_SIZE : 0;
}

/* -------------------------------------------------- CPUs that are not running */

static bool have_pmu; /* once it is known */

u64 perf_port_freeze(void)
{
	return have_pmu ? armv8_pmuv3_freeze() : 0;
}

void perf_port_thaw(u64 frozen)
{
	if (have_pmu)
		armv8_pmuv3_thaw(frozen);
}

/* ------------------------------------------------------------------ panic */

void port_panic(const char *what)
{
	panic("perf: %s", what);
}

/* --------------------------------------------------------------- start-up */

static void pmu_interrupt(unsigned intid, struct pt_regs *regs, void *arg)
{
	armv8_pmuv3_interrupt((const struct port_regs *)regs);
}

static void cpu_start(void *arg)
{
	if (cpu_id() != 0)
		perf_cpu_online();
	if (have_pmu)
		armv8_pmuv3_cpu_init();
}

/* The name that arm64 Linux gives a PMUv3 which the device tree does not describe any closer. */
static int start_pmu(void)
{
	struct perf_cpu_set cpus = {0};
	struct fdt_dev dev;
	bool wired = fdt_find("arm,armv8-pmuv3", 0, 0, &dev) && dev.intid >= 0;

	if (!have_pmu) {
		printk("perf: this CPU has no PMUv3: no hardware events\n");
		return 0;
	}
	for (unsigned cpu = 0; cpu < nr_cpus(); cpu++)
		perf_cpu_set_add(&cpus, (int)cpu);
	if (wired) {
		irq_register((unsigned)dev.intid, pmu_interrupt, NULL);
		irq_enable_ppi_all((unsigned)dev.intid);
	}
	return armv8_pmuv3_register("armv8_pmuv3", &cpus, wired);
}

void perf_port_init(void)
{
	int err = perf_init();

	have_pmu = armv8_pmuv3_present();
	perf_file_init();
	for (unsigned cpu = 0; !err && cpu < nr_cpus(); cpu++)
		err = smp_call(cpu, cpu_start, NULL);
	if (!err)
		err = start_pmu();
	if (err)
		panic("perf: cannot start: error %d", err);
	perf_sysfs_init();
}
