/* SPDX-License-Identifier: BSD-2-Clause */
/* How the members of a record are described (struct perf_trace_field). */
#ifndef TALLY_TRACE_FIELDS_H
#define TALLY_TRACE_FIELDS_H

#include "trace/trace.h"

#define FIELD_(record, type, name, length, sign, string)                            \
	{                                                                           \
		type, #name, offsetof(struct record, name),                         \
			sizeof(((struct record *)0)->name), length, sign, string    \
	}
#define FIELD_SIGNED(record, type, name)   FIELD_(record, type, name, 0, true, false)
#define FIELD_UNSIGNED(record, type, name) FIELD_(record, type, name, 0, false, false)
#define FIELD_STRING(record, name)                                                        \
	FIELD_(record, "char", name, sizeof(((struct record *)0)->name), false, true)

#endif
