/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several CPUs: bringing them up by PSCI, calls to another CPU, and the
 * interrupt that makes one look at its run queue.
 *
 * A call waits on its caller's stack in the target's queue. The caller waits
 * with interrupts on, so two CPUs that call each other serve each other. Who
 * waits long sleeps until an interrupt: spinning would keep the host from running
 * the CPU that is waited for.
 */
#include "arch/aarch64/boot.h"
#include "arch/aarch64/smp.h"
#include "arch/aarch64/sysreg.h"
#include "dev/dev.h"
#include "lib/lock.h"
#include "mm/page.h"
#include "proc/sched.h"
#include "proc/turn.h"
#include <utlist.h>

struct call {
	void (*fn)(void *arg);
	void *arg;
	unsigned caller;
	bool done; /* from then on it is its caller's again */
	struct call *next, *prev;
};

static struct {
	struct spinlock lock; /* interrupts off */
	struct call *calls;   /* DL list, oldest first */
	bool asleep;	      /* waiting for a call of its own */
} queue[MAX_CPUS];

static bool online[MAX_CPUS] = {true};
static unsigned nr_online = 1;

/* What a starting CPU gets: offsets are known to start.S. */
static struct secondary_boot {
	u64 stack_top;
	u64 cpu;
} secondary;

void secondary_start(void);
void secondary_main(void);

unsigned nr_cpus(void)
{
	return nr_online;
}

bool cpu_online(unsigned cpu)
{
	return cpu < MAX_CPUS && READ_ONCE(online[cpu]);
}

static void serve_calls(unsigned intid, struct pt_regs *regs, void *arg)
{
	unsigned cpu = cpu_id(), caller;
	struct call *c;

	(void)intid, (void)regs, (void)arg;
	for (;;) {
		spin_lock(&queue[cpu].lock);
		c = queue[cpu].calls;
		if (c)
			DL_DELETE(queue[cpu].calls, c);
		spin_unlock(&queue[cpu].lock);
		if (!c)
			return;
		c->fn(c->arg);
		caller = c->caller;
		__atomic_store_n(&c->done, true, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&queue[caller].asleep, __ATOMIC_SEQ_CST))
			smp_send_reschedule(caller);
	}
}

static bool is_done(const struct call *c)
{
	return __atomic_load_n(&c->done, __ATOMIC_SEQ_CST);
}

int smp_call(unsigned cpu, void (*fn)(void *), void *arg)
{
	struct call c = {.fn = fn, .arg = arg, .caller = cpu_id()};
	u64 irq = irq_save();

	if (cpu == cpu_id()) {
		fn(arg);
		irq_restore(irq);
		return 0;
	}
	irq_restore(irq);
	if (!cpu_online(cpu))
		return -ENXIO;
	ASSERT(!irqs_disabled());
	irq = spin_lock_irqsave(&queue[cpu].lock);
	DL_APPEND(queue[cpu].calls, &c);
	spin_unlock_irqrestore(&queue[cpu].lock, irq);
	if (turns_on) {
		irq = irq_save();
		turn_lend(cpu);
		irq_restore(irq);
		ASSERT(c.done);
		return 0;
	}
	smp_send_call(cpu);
	wait_for_other_cpu(&queue[c.caller].asleep, is_done(&c));
	return 0;
}

void smp_send_call(unsigned cpu)
{
	gic_send_sgi(cpu, SGI_CALL);
}

void smp_send_reschedule(unsigned cpu)
{
	gic_send_sgi(cpu, SGI_RESCHEDULE);
}

/* need_resched was set by whoever sent it; the way out of the interrupt looks at it. */
static void reschedule(unsigned intid, struct pt_regs *regs, void *arg)
{
	(void)intid, (void)regs, (void)arg;
}

static void stop_cpu(unsigned intid, struct pt_regs *regs, void *arg)
{
	(void)intid, (void)regs, (void)arg;
	for (;;)
		__asm__ volatile("wfi");
}

void smp_stop_others(void)
{
	for (unsigned cpu = 0; cpu < nr_online; cpu++)
		if (cpu != cpu_id() && cpu_online(cpu))
			gic_send_sgi(cpu, SGI_STOP);
}

void secondary_main(void)
{
	unsigned cpu = cpu_id();

	arch_cpufeature_init();
	mm_activate(NULL);
	__asm__ volatile("tlbi vmalle1\n\tdsb nsh\n\tisb" ::: "memory");
	gic_cpu_init();
	sched_init_cpu(cpu);
	arch_timer_init();
	__atomic_store_n(&online[cpu], true, __ATOMIC_RELEASE);
	irq_enable();
	sched_idle_loop();
}

static void start_cpu(unsigned cpu)
{
	struct page *stack = page_alloc(2);
	u64 deadline = clock_ns() + NSEC_PER_SEC;
	int err;

	if (!stack)
		panic("no memory for the stack of CPU %u", cpu);
	secondary.stack_top = (u64)page_addr(stack) + KSTACK_SIZE;
	secondary.cpu = cpu;
	/* it reads this with its caches off */
	__asm__ volatile("dc civac, %0\n\tdsb sy" ::"r"(&secondary) : "memory");
	err = psci_cpu_on(fdt_cpu_mpidr(cpu), virt_to_phys((void *)secondary_start),
			  virt_to_phys(&secondary));
	while (!err && !cpu_online(cpu) && clock_ns() < deadline)
		cpu_relax();
	if (cpu_online(cpu))
		return;
	panic("CPU %u did not come up (PSCI says %d)", cpu, err);
}

void arch_smp_init(void)
{
	unsigned n = fdt_cpu_count();

	_Static_assert(KSTACK_SIZE == PAGE_SIZE << 2, "stack order");
	if (n > MAX_CPUS) {
		printk("smp: %u CPUs, only %u are used\n", n, MAX_CPUS);
		n = MAX_CPUS;
	}
	irq_register(SGI_RESCHEDULE, reschedule, NULL);
	irq_register(SGI_CALL, serve_calls, NULL);
	irq_register(SGI_STOP, stop_cpu, NULL);
	for (unsigned cpu = 1; cpu < n; cpu++) {
		start_cpu(cpu);
		nr_online = cpu + 1;
	}
	turns_init();
}
