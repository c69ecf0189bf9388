/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end on an internal error: the message, the registers, who called whom,
 * and QEMU ends with PANIC_STATUS. A panic within a panic, on any CPU, does not
 * try again.
 */
#include "arch/aarch64/smp.h"
#include "arch/aarch64/sysreg.h"
#include "arch/aarch64/trap.h"
#include "proc/task.h"

#define PANIC_STATUS 70 /* sysexits.h: EX_SOFTWARE */

static void print_registers(const struct pt_regs *r)
{
	for (int i = 0; i < 31; i += 3) {
		for (int j = i; j < i + 3 && j < 31; j++)
			printk("  x%-2d %016llx", j, (unsigned long long)r->regs[j]);
		printk("\n");
	}
	printk("  sp  %016llx  pc  %016llx  pstate %08llx\n", (unsigned long long)r->sp,
	       (unsigned long long)r->pc, (unsigned long long)r->pstate);
}

/* The first panic goes on; another one ends here. */
static void enter(void)
{
	static int panicking;

	irq_disable();
	if (!__atomic_exchange_n(&panicking, 1, __ATOMIC_ACQ_REL)) {
		printk_panic_mode();
		smp_stop_others();
		return;
	}
	machine_die(PANIC_STATUS);
}

static void print_message(const char *fmt, va_list ap)
{
	char text[256];
	const struct task *t = current;

	vsnprintf(text, sizeof(text), fmt, ap);
	printk("\nkernel panic: %s\n", text);
	if (t)
		printk("CPU %u, task %d (%s)\n", cpu_id(), t->tid, t->comm);
	else
		printk("CPU %u, before there are tasks\n", cpu_id());
}

void panic(const char *fmt, ...)
{
	va_list ap;

	enter();
	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
	backtrace_print((u64)__builtin_frame_address(0), (u64)panic);
	machine_die(PANIC_STATUS);
}

void panic_regs(const struct pt_regs *regs, const char *fmt, ...)
{
	va_list ap;

	enter();
	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
	print_registers(regs);
	backtrace_print(user_mode(regs) ? 0 : regs->regs[29], regs->pc);
	machine_die(PANIC_STATUS);
}

/* libfdt is compiled with stack protection. */
void *__stack_chk_guard = (void *)0xd6a2c81f5b903e47;

void __stack_chk_fail(void);
void __stack_chk_fail(void)
{
	panic("stack overrun in libfdt");
}
