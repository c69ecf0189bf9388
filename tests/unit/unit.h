/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit.h - what all unit tests include. The names in brackets in their comments
 * are rows of docs/behaviour.md.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "sim.h"

#include <perf/perf.h>

/** Fails with both numbers if two counts differ. */
#define assert_count(got, expected) assert_int_equal((uint64_t)(got), (uint64_t)(expected))

/** UNIT_ONLY='closed_*' in the environment: only tests with such names. */
__attribute__((constructor)) static void unit_filter(void)
{
	const char *only = getenv("UNIT_ONLY");

	if (only != NULL)
		cmocka_set_test_filter(only);
}

static inline int unit_reset(void **state)
{
	(void)state;
	sim_reset();
	return 0;
}

/** A test that begins and ends with nothing left on the machine. */
#define clean_test(fn) cmocka_unit_test_setup_teardown(fn, unit_reset, unit_reset)

#endif
