/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The vDSO's clocks (vdso(7)): what the system calls of the same names do for
 * the clocks that are the counter plus a constant, without entering the kernel.
 * All others are passed on to it. Runs in user mode.
 */
#include "vdso_data.h"
#include <asm/unistd.h>
#include <linux/time.h>
#include <linux/time_types.h>

#define NSEC_PER_SEC 1000000000UL
#define COARSE_NS    (NSEC_PER_SEC / 250)

extern const struct vdso_data vvar_data __attribute__((visibility("hidden")));

int __kernel_clock_gettime(int clock, struct __kernel_timespec *ts);
int __kernel_clock_getres(int clock, struct __kernel_timespec *ts);
int __kernel_gettimeofday(struct timeval *tv, struct timezone *tz);

static long call_kernel(long number, long arg0, long arg1)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = arg0;
	register long x1 __asm__("x1") = arg1;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x8) : "memory");
	return x0;
}

static unsigned long monotonic(void)
{
	unsigned long n;

	/* the barrier keeps the counter from being read before what comes earlier */
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(n)::"memory");
	if (__builtin_expect(vvar_data.ns_per_count != 0, 1))
		return n * vvar_data.ns_per_count;
	return n / vvar_data.freq * NSEC_PER_SEC +
	       n % vvar_data.freq * NSEC_PER_SEC / vvar_data.freq;
}

int __kernel_clock_gettime(int clock, struct __kernel_timespec *ts)
{
	unsigned long ns = 0;

	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_TAI:
		ns = vvar_data.realtime;
		__attribute__((fallthrough));
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
		ns += monotonic();
		break;
	default:
		return (int)call_kernel(__NR_clock_gettime, clock, (long)ts);
	}
	ts->tv_sec = (long)(ns / NSEC_PER_SEC);
	ts->tv_nsec = (long)(ns % NSEC_PER_SEC);
	return 0;
}

int __kernel_clock_getres(int clock, struct __kernel_timespec *ts)
{
	long res;

	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_TAI:
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_BOOTTIME:
		res = 1;
		break;
	case CLOCK_REALTIME_COARSE:
	case CLOCK_MONOTONIC_COARSE:
		res = COARSE_NS;
		break;
	default:
		return (int)call_kernel(__NR_clock_getres, clock, (long)ts);
	}
	if (ts) {
		ts->tv_sec = 0;
		ts->tv_nsec = res;
	}
	return 0;
}

int __kernel_gettimeofday(struct timeval *tv, struct timezone *tz)
{
	unsigned long ns = vvar_data.realtime + monotonic();

	if (tv) {
		tv->tv_sec = (long)(ns / NSEC_PER_SEC);
		tv->tv_usec = (long)(ns % NSEC_PER_SEC / 1000);
	}
	if (tz)
		tz->tz_minuteswest = tz->tz_dsttime = 0;
	return 0;
}
