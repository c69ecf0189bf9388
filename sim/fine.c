/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fine.c - a core that gives its turn away at every atomic operation.
 *
 * For a second set of tests the core is compiled as for ThreadSanitizer: the
 * compiler then calls a function for each access to memory. Here are these
 * functions. Atomic operations become points at which another CPU may get its
 * turn, SIM_AT_ATOMIC; plain accesses ask AddressSanitizer whether the memory
 * is there, since the compiler does not check it itself in this mode.
 */
#include <sanitizer/asan_interface.h>

#include "machine.h"

/* The names are the compiler's. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static void check(const volatile void *address, const void *site)
{
	char buffer[256];

	if (__asan_address_is_poisoned(address))
		sim_fail("access to memory that is not there, %p, at %s",
			 (const void *)(uintptr_t)address, sim_site(site, buffer, sizeof(buffer)));
}

#define PLAIN(name)                                          \
	void __tsan_##name(void *address)                    \
	{                                                    \
		check(address, __builtin_return_address(0)); \
	}

PLAIN(read1)
PLAIN(read2)
PLAIN(read4)
PLAIN(read8)
PLAIN(read16)
PLAIN(write1)
PLAIN(write2)
PLAIN(write4)
PLAIN(write8)
PLAIN(write16)
PLAIN(unaligned_read2)
PLAIN(unaligned_read4)
PLAIN(unaligned_read8)
PLAIN(unaligned_read16)
PLAIN(unaligned_write2)
PLAIN(unaligned_write4)
PLAIN(unaligned_write8)
PLAIN(unaligned_write16)

static void check_range(const void *address, size_t size, const void *site)
{
	if (size == 0)
		return;
	check(address, site);
	check((const char *)address + size - 1, site);
}

void __tsan_read_range(void *address, size_t size)
{
	check_range(address, size, __builtin_return_address(0));
}

void __tsan_write_range(void *address, size_t size)
{
	check_range(address, size, __builtin_return_address(0));
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void)
{
}

/* Outside the machine, where tests ask the core, nobody else has a turn. */
static void before_atomic(const volatile void *address, const void *site)
{
	check(address, site);
	if (sim.cpu != NULL)
		sim_pass(SIM_AT_ATOMIC, site);
}

#define POINT before_atomic(address, __builtin_return_address(0))

#define ATOMIC_FETCH(bits, op)                                                            \
	uint##bits##_t __tsan_atomic##bits##_fetch_##op(volatile uint##bits##_t *address, \
							uint##bits##_t value, int order)  \
	{                                                                                 \
		(void)order;                                                              \
		POINT;                                                                    \
		return __atomic_fetch_##op(address, value, __ATOMIC_SEQ_CST);             \
	}

#define ATOMIC_COMPARE(bits, kind)                                                                \
	int __tsan_atomic##bits##_compare_exchange_##kind(                                        \
		volatile uint##bits##_t *address, uint##bits##_t *expected, uint##bits##_t value, \
		int order, int failure_order)                                                     \
	{                                                                                         \
		(void)order;                                                                      \
		(void)failure_order;                                                              \
		POINT;                                                                            \
		return __atomic_compare_exchange_n(address, expected, value, 0, __ATOMIC_SEQ_CST, \
						   __ATOMIC_SEQ_CST);                             \
	}

#define ATOMIC(bits)                                                                             \
	uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *address,        \
						  int order)                                     \
	{                                                                                        \
		(void)order;                                                                     \
		POINT;                                                                           \
		return __atomic_load_n(address, __ATOMIC_SEQ_CST);                               \
	}                                                                                        \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *address, uint##bits##_t value, \
					 int order)                                              \
	{                                                                                        \
		(void)order;                                                                     \
		POINT;                                                                           \
		__atomic_store_n(address, value, __ATOMIC_SEQ_CST);                              \
	}                                                                                        \
	uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *address,          \
						      uint##bits##_t value, int order)           \
	{                                                                                        \
		(void)order;                                                                     \
		POINT;                                                                           \
		return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                    \
	}                                                                                        \
	ATOMIC_FETCH(bits, add)                                                                  \
	ATOMIC_FETCH(bits, sub)                                                                  \
	ATOMIC_FETCH(bits, and)                                                                  \
	ATOMIC_FETCH(bits, or)                                                                   \
	ATOMIC_COMPARE(bits, strong)                                                             \
	ATOMIC_COMPARE(bits, weak)

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order)
{
	(void)order;
}

void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}
