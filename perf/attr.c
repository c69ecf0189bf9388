/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attr.c - struct perf_event_attr as it comes from user space.
 *
 * The rules follow perf_event_open(2) and what Linux 6.1 accepts, so that a
 * program built for a newer or an older kernel gets the answer it expects.
 */
#include <linux/errno.h>

#include "access.h"
#include "attr.h"

enum { CHUNK = 64, MAX_STACK_DUMP = UINT16_MAX };

/* Whether user memory holds nothing but zeros. Returns 1, 0 or -EFAULT. */
static int is_zero(uintptr_t user, size_t size)
{
	uint8_t chunk[CHUNK];

	while (size > 0) {
		size_t part = size < sizeof(chunk) ? size : sizeof(chunk);
		int error = port_copy_from_user(chunk, user, part);

		if (error)
			return error;
		for (size_t i = 0; i < part; i++) {
			if (chunk[i])
				return 0;
		}
		user += part;
		size -= part;
	}
	return 1;
}

/* Tell the caller which size we know. */
static int wrong_size(uintptr_t user)
{
	uint32_t size = sizeof(struct perf_event_attr);
	uintptr_t field = user + offsetof(struct perf_event_attr, size);

	return port_copy_to_user(field, &size, sizeof(size)) ? -EFAULT : -E2BIG;
}

static int copy(struct perf_event_attr *attr, uintptr_t user)
{
	uint32_t size;
	int result;

	result = port_copy_from_user(&size, user + offsetof(struct perf_event_attr, size),
				     sizeof(size));
	if (result)
		return result;
	if (size == 0)
		size = PERF_ATTR_SIZE_VER0;
	if (size < PERF_ATTR_SIZE_VER0 || size > port_page_size())
		return wrong_size(user);

	if (size > sizeof(*attr)) {
		result = is_zero(user + sizeof(*attr), size - sizeof(*attr));
		if (result <= 0)
			return result ? result : wrong_size(user);
	}
	__builtin_memset(attr, 0, sizeof(*attr));
	result = port_copy_from_user(attr, user, size < sizeof(*attr) ? size : sizeof(*attr));
	attr->size = size;
	return result;
}

static int check_branches(struct perf_event_attr *attr)
{
	uint64_t mask = attr->branch_sample_type;
	const uint64_t levels = PERF_SAMPLE_BRANCH_PLM_ALL;

	if (!(attr->sample_type & PERF_SAMPLE_BRANCH_STACK)) {
		attr->branch_sample_type = 0;
		return 0;
	}
	if (mask >= PERF_SAMPLE_BRANCH_MAX || !(mask & ~levels))
		return -EINVAL;
	return 0;
}

static int check_registers(uint64_t mask)
{
	return mask == 0 || (mask & ~port_regs_mask()) != 0 ? -EINVAL : 0;
}

/* What is to be in a sample. */
static int check_sample_type(struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;
	int error = check_branches(attr);

	if (error)
		return error;
	if (type & PERF_SAMPLE_REGS_USER)
		error = check_registers(attr->sample_regs_user);
	if (!error && (type & PERF_SAMPLE_REGS_INTR))
		error = check_registers(attr->sample_regs_intr);
	if (error)
		return error;

	if (type & PERF_SAMPLE_STACK_USER) {
		if (attr->sample_stack_user % sizeof(uint64_t) != 0 ||
		    attr->sample_stack_user >= MAX_STACK_DUMP)
			return -EINVAL;
	}
	if ((type & PERF_SAMPLE_WEIGHT_TYPE) == PERF_SAMPLE_WEIGHT_TYPE)
		return -EINVAL;
	if (!attr->sample_max_stack)
		attr->sample_max_stack = (uint16_t)perf_sysctl_get(PERF_SYSCTL_MAX_STACK);
	return 0;
}

static int check_combinations(const struct perf_event_attr *attr)
{
	if (attr->inherit_thread && !attr->inherit)
		return -EINVAL;
	if (attr->remove_on_exec && attr->enable_on_exec)
		return -EINVAL;
	if (attr->sigtrap && !attr->remove_on_exec)
		return -EINVAL;
	return 0;
}

int perf_attr_from_user(struct perf_event_attr *attr, uintptr_t user)
{
	int error = copy(attr, user);

	if (error)
		return error;
	if (attr->__reserved_1 || attr->__reserved_2 || attr->__reserved_3)
		return -EINVAL;
	if (attr->sample_type >= PERF_SAMPLE_MAX || attr->read_format >= PERF_FORMAT_MAX)
		return -EINVAL;
	error = check_sample_type(attr);
	return error ? error : check_combinations(attr);
}

size_t perf_attr_read_size(const struct perf_event_attr *attr, unsigned int nr)
{
	uint64_t format = attr->read_format;
	size_t entry = 1, fixed = 0;

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		fixed++;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		fixed++;
	if (format & PERF_FORMAT_ID)
		entry++;
	if (format & PERF_FORMAT_LOST)
		entry++;
	if (format & PERF_FORMAT_GROUP)
		return (1 + fixed + nr * entry) * sizeof(uint64_t);
	return (fixed + entry) * sizeof(uint64_t);
}
