/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The signal frame that a handler sees, as arm64's ABI has it: siginfo, then
 * ucontext with the registers and, in its reserved space, the FP/SIMD state and
 * (for a fault) ESR. Above it lies a frame record, so that unwinding by frame
 * pointer goes on into the interrupted code.
 *
 * The frame comes back from user space in sigreturn: everything in it is
 * untrusted.
 */
#include "arch/aarch64/sysreg.h"
#include "mm/vm.h"
#include "proc/task.h"
#include <asm/sigcontext.h>
#include <asm/ucontext.h>
#include <linux/signal.h>

struct rt_sigframe {
	struct siginfo info;
	struct ucontext uc;
};

struct frame_record {
	u64 fp, lr;
};

/* What goes into uc_mcontext.__reserved. */
struct saved_extra {
	struct fpsimd_context fpsimd;
	struct esr_context esr;
	struct _aarch64_ctx end;
};

_Static_assert(sizeof(((struct fpsimd_context *)0)->vregs) ==
		       sizeof(((struct fpsimd_state *)0)->vregs),
	       "same registers");
_Static_assert(sizeof(struct ucontext) % 16 == 0, "alignment of the frame");

#define PSTATE_FLAGS 0xf0000000ULL /* NZCV */
#define PSTATE_SSBS  BIT(12)
#define PSTATE_DIT   BIT(24)
#define PSTATE_BTYPE (3ULL << 10)

static bool on_altstack(const struct task *t, u64 sp)
{
	return sp - t->altstack_sp < t->altstack_size;
}

static u64 frame_top(const struct pt_regs *regs, const struct ksigaction *ka)
{
	const struct task *t = current;

	if ((ka->flags & SA_ONSTACK) && t->altstack_size && !(t->altstack_flags & SS_DISABLE) &&
	    !on_altstack(t, regs->sp))
		return t->altstack_sp + t->altstack_size;
	return regs->sp;
}

static u32 altstack_flags(const struct task *t, u64 sp)
{
	if (!t->altstack_size)
		return SS_DISABLE;
	return (on_altstack(t, sp) ? SS_ONSTACK : 0) | (u32)t->altstack_flags;
}

static void fill_extra(struct saved_extra *x)
{
	struct fpsimd_state st;
	struct task *t = current;

	arch_save_fpsimd(&st);
	memset(x, 0, sizeof(*x));
	x->fpsimd.head.magic = FPSIMD_MAGIC;
	x->fpsimd.head.size = sizeof(x->fpsimd);
	x->fpsimd.fpsr = st.fpsr;
	x->fpsimd.fpcr = st.fpcr;
	memcpy(x->fpsimd.vregs, st.vregs, sizeof(st.vregs));
	if (t->ctx.fault_esr) {
		x->esr.head.magic = ESR_MAGIC;
		x->esr.head.size = sizeof(x->esr);
		x->esr.esr = t->ctx.fault_esr;
	}
}

/* Everything but the reserved space's tail, which stays as it is on the user's stack. */
static int write_frame(struct rt_sigframe *frame, const struct pt_regs *regs,
		       const struct ksiginfo *info, u64 oldmask)
{
	struct task *t = current;
	struct saved_extra extra;
	struct ucontext *uc = &frame->uc;
	struct sigcontext *sc = &uc->uc_mcontext;
	u64 mask_area[sizeof(uc->uc_sigmask) / 8] = {oldmask};
	stack_t ss = {.ss_sp = (void *)t->altstack_sp,
		      .ss_flags = (int)altstack_flags(t, regs->sp),
		      .ss_size = t->altstack_size};
	u64 head[2] = {0, 0}; /* uc_flags, uc_link */
	int err;

	fill_extra(&extra);
	err = copy_to_user(&frame->info, &info->si, sizeof(frame->info));
	err |= copy_to_user(uc, head, sizeof(head));
	err |= copy_to_user(&uc->uc_stack, &ss, sizeof(ss));
	err |= copy_to_user(&uc->uc_sigmask, mask_area, sizeof(mask_area));
	err |= put_user(t->ctx.fault_addr, (u64 *)&sc->fault_address);
	err |= copy_to_user(&sc->regs, regs, 34 * sizeof(u64)); /* regs, sp, pc, pstate */
	err |= copy_to_user(sc->__reserved, &extra, sizeof(extra));
	return err ? -EFAULT : 0;
}

int arch_setup_sigframe(struct pt_regs *regs, const struct ksigaction *ka, int sig,
			const struct ksiginfo *info, u64 oldmask)
{
	u64 record = ALIGN_DOWN(frame_top(regs, ka), 16) - sizeof(struct frame_record);
	u64 base = ALIGN_DOWN(record - sizeof(struct rt_sigframe), 16);
	struct rt_sigframe *frame = (struct rt_sigframe *)base;
	struct frame_record chain = {regs->regs[29], regs->regs[30]};

	if (write_frame(frame, regs, info, oldmask) ||
	    copy_to_user((void *)record, &chain, sizeof(chain)))
		return -EFAULT;
	regs->regs[0] = (u64)sig;
	if (ka->flags & SA_SIGINFO) {
		regs->regs[1] = (u64)&frame->info;
		regs->regs[2] = (u64)&frame->uc;
	}
	regs->sp = base;
	regs->regs[29] = record;
	regs->regs[30] = ka->flags & SA_RESTORER ? ka->restorer : vdso_sigreturn(current->mm);
	regs->pc = ka->handler;
	regs->pstate &= ~PSTATE_BTYPE;
	return 0;
}

/* The records in the reserved space: the one for FP/SIMD must be there. */
static int restore_extra(const struct sigcontext *sc)
{
	u64 at = (u64)sc->__reserved, end = at + sizeof(sc->__reserved);
	bool have_fpsimd = false;

	while (at + sizeof(struct _aarch64_ctx) <= end) {
		struct _aarch64_ctx head;
		struct fpsimd_context f;
		struct fpsimd_state st;

		if (copy_from_user(&head, (void *)at, sizeof(head)))
			return -EFAULT;
		if (!head.magic && !head.size)
			return have_fpsimd ? 0 : -EINVAL;
		if (head.size < sizeof(head) || !IS_ALIGNED(head.size, 16) || head.size > end - at)
			return -EINVAL;
		if (head.magic == FPSIMD_MAGIC) {
			if (have_fpsimd || head.size != sizeof(f))
				return -EINVAL;
			if (copy_from_user(&f, (void *)at, sizeof(f)))
				return -EFAULT;
			memcpy(st.vregs, f.vregs, sizeof(st.vregs));
			st.fpsr = f.fpsr;
			st.fpcr = f.fpcr;
			arch_load_fpsimd(&st);
			have_fpsimd = true;
		} else if (head.magic != ESR_MAGIC) {
			return -EINVAL;
		}
		at += head.size;
	}
	return -EINVAL;
}

int arch_restore_sigframe(struct pt_regs *regs, u64 *mask)
{
	struct rt_sigframe *frame = (struct rt_sigframe *)regs->sp;
	struct sigcontext *sc = &frame->uc.uc_mcontext;
	u64 r[34], new_mask;
	stack_t ss;

	if (!IS_ALIGNED(regs->sp, 16) || copy_from_user(r, &sc->regs, sizeof(r)) ||
	    copy_from_user(&new_mask, &frame->uc.uc_sigmask, sizeof(new_mask)) ||
	    copy_from_user(&ss, &frame->uc.uc_stack, sizeof(ss)) || restore_extra(sc))
		return -EFAULT;
	memcpy(regs->regs, r, 31 * sizeof(u64));
	regs->sp = r[31];
	regs->pc = r[32];
	/* EL0, AArch64, interrupts on, whatever the frame says */
	regs->pstate = r[33] & (PSTATE_FLAGS | PSTATE_SSBS | PSTATE_DIT);
	regs->syscallno = -1; /* nothing to restart */
	if (!on_altstack(current, regs->sp)) {
		current->altstack_sp = (u64)ss.ss_sp;
		current->altstack_size = ss.ss_flags & SS_DISABLE ? 0 : ss.ss_size;
		current->altstack_flags = ss.ss_flags & (int)SS_AUTODISARM;
	}
	*mask = new_mask;
	return 0;
}
