/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Load averages (proc(5), sysinfo(2)): every five seconds, the number of tasks
 * that run, want to run or sleep without being interruptible goes into averages
 * that forget over 1, 5 and 15 minutes. No timer runs for it, so that an idle
 * machine stays idle: the scheduler comes by at least once in a quantum while a
 * CPU is busy, and while none is, the number stays what it was.
 */
#include "proc/internal.h"

#define ONE    2048u /* fixed point 1.0, as Linux's load averages have it (11 bits) */
#define PERIOD (5 * NSEC_PER_SEC)

u64 load_next_sample = PERIOD;
static u32 averages[3];

/* base^n, in fixed point. */
static u64 power(u64 base, u64 n)
{
	u64 result = ONE;

	for (; n; n >>= 1) {
		if (n & 1)
			result = (result * base + ONE / 2) / ONE;
		base = (base * base + ONE / 2) / ONE;
	}
	return result;
}

void load_sample(u64 now, u32 active)
{
	/* what five seconds keep of the average over 1, 5 and 15 minutes: e^(-5/60) and so on */
	static const u32 keep[3] = {1884, 2014, 2037};
	u64 periods = (now - load_next_sample) / PERIOD + 1, load = (u64)active * ONE;

	load_next_sample += periods * PERIOD;
	for (unsigned i = 0; i < 3; i++) {
		u64 kept = power(keep[i], periods);
		u64 sum = averages[i] * kept + load * (ONE - kept);

		/* upwards while it rises, as a fraction that is cut off would keep it from arriving */
		averages[i] = (u32)((sum + (load >= averages[i] ? ONE - 1 : 0)) / ONE);
	}
}

void load_averages(u64 out[3], unsigned bits)
{
	u64 flags = sched_lock_irqsave();

	for (unsigned i = 0; i < 3; i++)
		out[i] = (u64)averages[i] << bits >> 11;
	sched_unlock_irqrestore(flags);
}
