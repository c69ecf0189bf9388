/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page that the vDSO's code reads, one for the whole system, mapped as
 * [vvar] two pages below the code. It is written once, before the first program
 * runs: the clocks are the counter plus constants that never change (see
 * proc/clock.c), so readers need no sequence lock.
 */
#ifndef TALLY_VDSO_DATA_H
#define TALLY_VDSO_DATA_H

struct vdso_data {
	unsigned long freq;	    /* of CNTVCT_EL0, Hz */
	unsigned long ns_per_count; /* if that is a whole number, else 0 */
	unsigned long realtime;	    /* CLOCK_REALTIME is the monotonic clock plus this, ns */
};

/* [vvar] is as large as Linux's, so that what is mapped later has the same address. */
#define VVAR_PAGES 2

#endif
