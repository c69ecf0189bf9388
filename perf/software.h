/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * software.h - the PMU of PERF_TYPE_SOFTWARE.
 */
#ifndef PERF_SOFTWARE_H
#define PERF_SOFTWARE_H

#include <perf/pmu.h>

/** Register the software PMU. Context: sleep. Returns 0 or -ENOMEM. */
int perf_software_init(void);

#endif
