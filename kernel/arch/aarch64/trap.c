/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exceptions: system calls, faults and interrupts from user mode, faults of
 * user copies and interrupts in the kernel, and the way back to user mode.
 *
 * From user mode, everything but an interrupt takes the big lock. An interrupt
 * takes it only on its way out, when there is work to do. Kernel code is not
 * preempted, so an interrupt of the kernel returns to where it was.
 */
#include "arch/aarch64/asm.h"
#include "arch/aarch64/sysreg.h"
#include "arch/aarch64/trap.h"
#include "lib/lock.h"
#include "mm/vm.h"
#include "proc/task.h"
#include "proc/turn.h"
#include "sys/syscall.h"

_Static_assert(sizeof(struct pt_regs) == PT_SIZE, "vectors.S");
_Static_assert(offsetof(struct pt_regs, regs[30]) == PT_LR, "vectors.S");
_Static_assert(offsetof(struct pt_regs, pc) == PT_PC, "vectors.S");
_Static_assert(offsetof(struct pt_regs, pstate) == PT_PSTATE, "vectors.S");
_Static_assert(offsetof(struct pt_regs, orig_x0) == PT_ORIG_X0, "vectors.S");
_Static_assert(offsetof(struct pt_regs, syscallno) == PT_SYSCALLNO, "vectors.S");

extern char __usercopy_start[], __usercopy_nofault_start[], __usercopy_end[];
void usercopy_fault(void);

/* Top byte of a user address is a tag, which the hardware ignores (TCR_EL1.TBI0). */
static u64 untag(u64 addr)
{
	return addr & BIT(55) ? addr : addr & (BIT(56) - 1);
}

static bool work_pending(void)
{
	return current->need_resched || signals_need_work();
}

/* Big lock held, interrupts on. Returns with interrupts off and nothing left to do. */
static void do_return_work(struct pt_regs *regs)
{
	for (;;) {
		irq_disable();
		if (likely(!work_pending()))
			return;
		irq_enable();
		if (current->need_resched)
			schedule();
		if (signals_need_work())
			do_signals(regs);
	}
}

/* Other CPUs go first; the time that takes is the program's. Interrupts off, big lock not held. */
static void let_others_go_first(struct pt_regs *regs)
{
	acct_leave_kernel();
	turn_pass();
	acct_enter_kernel();
	gic_handle(regs);
}

static void leave_locked(struct pt_regs *regs)
{
	for (;;) {
		do_return_work(regs);
		big_unlock();
		if (!turn_over())
			break;
		let_others_go_first(regs);
		irq_enable();
		big_lock();
	}
	acct_leave_kernel();
}

void trap_return_new(struct pt_regs *regs)
{
	leave_locked(regs);
}

/* The signal for what vm_fault() could not resolve. */
static void signal_for_fault(int err, u64 addr)
{
	switch (err) {
	case -EACCES:
		force_signal(current, SIGSEGV, SEGV_ACCERR, addr);
		break;
	case -ERANGE:
		force_signal(current, SIGBUS, BUS_ADRERR, addr);
		break;
	case -ENOMEM:
		printk("out of memory: %s (%d) is killed\n", current->comm, current->tid);
		force_signal(current, SIGKILL, SI_KERNEL, 0);
		break;
	default:
		force_signal(current, SIGSEGV, SEGV_MAPERR, addr);
	}
}

static u32 fault_access(u64 esr)
{
	unsigned ec = ESR_CLASS(esr);

	if (ec == EC_IABT_LOW || ec == EC_IABT)
		return FAULT_EXEC;
	return (esr & ESR_WNR) && !(esr & ESR_CM) ? FAULT_WRITE : 0;
}

/* A translation, access flag or permission fault of the current task. Interrupts on, big lock held. */
static int resolve_fault(struct pt_regs *regs, u64 esr, u64 addr)
{
	bool major = false;
	int err = -EFAULT;

	if (current->mm && addr < TASK_SIZE)
		err = vm_fault(current->mm, addr, fault_access(esr), &major);
	if (major)
		current->maj_flt++;
	else
		current->min_flt++;
	perf_page_fault(major, (const struct port_regs *)regs, addr);
	return err;
}

static void user_abort(struct pt_regs *regs, u64 esr, u64 far)
{
	unsigned fsc = ESR_FSC(esr);
	int err;

	far = untag(far);
	if (fsc == 0x21) { /* alignment */
		force_signal(current, SIGBUS, BUS_ADRALN, far);
		return;
	}
	if (fsc < 0x04 || fsc > 0x0f) { /* external abort, address size, TLB conflict ... */
		force_signal(current, SIGBUS, BUS_OBJERR, far);
		return;
	}
	err = resolve_fault(regs, esr, far);
	if (err)
		signal_for_fault(err, far);
}

static void user_exception(struct pt_regs *regs, u64 esr, u64 far)
{
	struct task *t = current;
	unsigned ec = ESR_CLASS(esr);

	t->ctx.fault_esr = esr;
	t->ctx.fault_addr = far;
	switch (ec) {
	case EC_IABT_LOW:
	case EC_DABT_LOW:
		user_abort(regs, esr, far);
		break;
	case EC_UNKNOWN:
	case EC_SYSREG:
		if (!emulate_mrs(regs))
			force_signal(t, SIGILL, ILL_ILLOPC, regs->pc);
		break;
	case EC_PC_ALIGN:
		force_signal(t, SIGBUS, BUS_ADRALN, regs->pc);
		break;
	case EC_SP_ALIGN:
		force_signal(t, SIGBUS, BUS_ADRALN, regs->sp);
		break;
	case EC_FPE:
		force_signal(t, SIGFPE, FPE_FLTUNK, regs->pc);
		break;
	case EC_BRK:
		force_signal(t, SIGTRAP, TRAP_BRKPT, regs->pc);
		break;
	default:
		force_signal(t, SIGILL, ILL_ILLOPC, regs->pc);
	}
}

void trap_el0_sync(struct pt_regs *regs)
{
	u64 esr = read_sysreg(esr_el1);

	acct_enter_kernel();
	if (likely(ESR_CLASS(esr) == EC_SVC)) {
		irq_enable();
		big_lock();
		regs->syscallno = (s32)regs->regs[8];
		syscall_dispatch(regs);
	} else {
		u64 far = read_sysreg(far_el1);

		irq_enable();
		big_lock();
		user_exception(regs, esr, far);
	}
	leave_locked(regs);
}

void trap_el0_irq(struct pt_regs *regs)
{
	acct_enter_kernel();
	gic_handle(regs);
	while (turn_over())
		let_others_go_first(regs);
	if (unlikely(work_pending())) {
		irq_enable();
		big_lock();
		leave_locked(regs);
		return;
	}
	acct_leave_kernel();
}

/* Is there little left of the task's stack, or less than nothing? The boot threads' are not its. */
static bool stack_is_full(const struct pt_regs *regs)
{
	const char *end = current->kstack;

	return end && (const char *)regs - end < KSTACK_MARGIN;
}

void trap_el1_irq(struct pt_regs *regs)
{
	if (unlikely(stack_is_full(regs)))
		panic_regs(regs, "the kernel stack of %s (%d) is too small", current->comm,
			   current->tid);
	gic_handle(regs);
}

/* A fault inside usercopy.S: bring the page and go on, or make the copy return -EFAULT. */
static bool fix_usercopy(struct pt_regs *regs, u64 esr, u64 far)
{
	unsigned fsc = ESR_FSC(esr);
	bool resolve = regs->pc < (u64)__usercopy_nofault_start;

	if (regs->pc < (u64)__usercopy_start || regs->pc >= (u64)__usercopy_end)
		return false;
	if (resolve && fsc >= 0x04 && fsc <= 0x0f && big_lock_held()) {
		int err;

		irq_enable();
		err = resolve_fault(regs, esr, far);
		irq_disable();
		if (!err)
			return true;
	}
	regs->pc = (u64)usercopy_fault;
	return true;
}

void trap_el1_sync(struct pt_regs *regs)
{
	u64 esr = read_sysreg(esr_el1), far = read_sysreg(far_el1);

	if (ESR_CLASS(esr) == EC_DABT && far < TASK_SIZE && fix_usercopy(regs, esr, far))
		return;
	panic_regs(regs, "exception in the kernel: ESR %#llx FAR %#llx", (unsigned long long)esr,
		   (unsigned long long)far);
}

void trap_serror(struct pt_regs *regs)
{
	panic_regs(regs, "SError: ESR %#llx", (unsigned long long)read_sysreg(esr_el1));
}

void trap_bad(struct pt_regs *regs)
{
	panic_regs(regs, "an exception that cannot happen: ESR %#llx",
		   (unsigned long long)read_sysreg(esr_el1));
}
