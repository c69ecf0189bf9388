/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The generic timer: the virtual counter is the clock, the virtual timer is
 * each CPU's one-shot interrupt. Nanoseconds count from the counter's zero,
 * which is when the machine started.
 */
#include "arch/aarch64/boot.h"
#include "arch/aarch64/sysreg.h"
#include "proc/sched.h"

#define TIMER_PPI \
	27 /* the virtual timer's, by the Base System Architecture; the device tree says the same */

#define CTL_ENABLE BIT(0)
#define CTL_IMASK  BIT(1)

#define KCTL_EL0VCTEN	BIT(1)
#define KCTL_EVNTEN	BIT(2)
#define KCTL_EVNTI(bit) ((u64)(bit) << 4)

static u64 freq;
u32 clock_ns_per_count;

/* Exact, without overflow, for any frequency up to 18 GHz. */
u64 clock_counts_to_ns(u64 counts)
{
	return counts / freq * NSEC_PER_SEC + counts % freq * NSEC_PER_SEC / freq;
}

/* Rounded up, so that the clock has passed `ns` when the counter gets there. */
static u64 ns_to_counts(u64 ns)
{
	u64 rest = ns % NSEC_PER_SEC * freq;

	if (ns / NSEC_PER_SEC >= ~0ULL / freq - 1)
		return ~0ULL;
	return ns / NSEC_PER_SEC * freq + (rest + NSEC_PER_SEC - 1) / NSEC_PER_SEC;
}

void arch_timer_set(u64 deadline_ns)
{
	if (!deadline_ns) {
		write_sysreg(cntv_ctl_el0, CTL_IMASK);
		return;
	}
	write_sysreg(cntv_cval_el0, ns_to_counts(deadline_ns));
	write_sysreg(cntv_ctl_el0, CTL_ENABLE);
	isb();
}

/* The line stays up until the timer is moved or turned off, which the scheduler may not do. */
static void timer_interrupt(unsigned intid, struct pt_regs *regs, void *arg)
{
	(void)intid, (void)arg;
	write_sysreg(cntv_ctl_el0, CTL_IMASK);
	sched_timer_interrupt(regs);
}

/* User space may read the virtual counter; WFE wakes up about ten thousand times a second. */
static void user_access(void)
{
	unsigned bit = 0;

	while (bit < 15 && (2ULL << bit) < freq / 10000)
		bit++;
	write_sysreg(cntkctl_el1, KCTL_EL0VCTEN | KCTL_EVNTEN | KCTL_EVNTI(bit));
}

void arch_clock_init(void)
{
	freq = read_sysreg(cntfrq_el0);
	if (!freq)
		panic("the firmware left CNTFRQ_EL0 at zero");
	clock_ns_per_count = NSEC_PER_SEC % freq ? 0 : (u32)(NSEC_PER_SEC / freq);
}

void arch_timer_init(void)
{
	write_sysreg(cntv_ctl_el0, CTL_IMASK);
	user_access();
	if (cpu_id() == 0)
		irq_register(TIMER_PPI, timer_interrupt, NULL);
	irq_enable_line(TIMER_PPI);
}
