/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control.h - what one can do to an event.
 */
#ifndef PERF_CONTROL_H
#define PERF_CONTROL_H

#include "event.h"

/**
 * Enable an event that has been attached, without its copies. Context: sleep.
 */
void perf_control_enable(struct perf_event *event);

#endif
