/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Power: PSCI (DEN 0022) for starting CPUs and for powering off, waiting for
 * interrupts, and semihosting for ending QEMU with an exit status.
 */
#include "arch/aarch64/boot.h"
#include "arch/aarch64/smp.h"
#include "arch/aarch64/sysreg.h"
#include "dev/dev.h"
#include <libfdt.h>

#define PSCI_SYSTEM_OFF 0x84000008
#define PSCI_CPU_ON	0xc4000003

#define SYS_EXIT_EXTENDED	    0x20
#define ADP_STOPPED_APPLICATIONEXIT 0x20026

static enum { CONDUIT_NONE, CONDUIT_HVC, CONDUIT_SMC } conduit;

static s64 psci(u64 function, u64 a, u64 b, u64 c)
{
	register u64 x0 __asm__("x0") = function;
	register u64 x1 __asm__("x1") = a;
	register u64 x2 __asm__("x2") = b;
	register u64 x3 __asm__("x3") = c;

	if (conduit == CONDUIT_HVC)
		__asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::"memory");
	else if (conduit == CONDUIT_SMC)
		__asm__ volatile("smc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::"memory");
	else
		return -1; /* NOT_SUPPORTED */
	return (s64)x0;
}

void psci_init(void)
{
	struct fdt_dev dev;
	const char *method;

	if (!fdt_find("arm,psci-0.2", 0, 0, &dev))
		return;
	method = fdt_getprop(fdt_blob(), dev.node, "method", NULL);
	if (method && !strcmp(method, "hvc"))
		conduit = CONDUIT_HVC;
	else if (method && !strcmp(method, "smc"))
		conduit = CONDUIT_SMC;
}

int psci_cpu_on(u64 mpidr, paddr_t entry, u64 context)
{
	return (int)psci(PSCI_CPU_ON, mpidr, entry, context);
}

void arch_cpu_idle(void)
{
	dsb(sy);
	__asm__ volatile("wfi" ::: "memory");
}

static void __noreturn halt(void)
{
	irq_disable();
	for (;;)
		__asm__ volatile("wfi");
}

void machine_power_off(void)
{
	irq_disable();
	psci(PSCI_SYSTEM_OFF, 0, 0, 0);
	halt();
}

/* Without semihosting the HLT is an undefined instruction: the second call gets past it. */
void machine_die(int status)
{
	static bool tried;
	u64 block[2] = {ADP_STOPPED_APPLICATIONEXIT, (u64)status};

	irq_disable();
	if (!__atomic_exchange_n(&tried, true, __ATOMIC_RELAXED)) {
		register u64 x0 __asm__("x0") = SYS_EXIT_EXTENDED;
		register u64 *x1 __asm__("x1") = block;

		__asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
	}
	machine_power_off();
}
