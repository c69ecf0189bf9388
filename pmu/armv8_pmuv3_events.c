/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * armv8_pmuv3_events.c - the common events of Arm's PMUv3 (DDI 0487, D13.12.3),
 * and which of them stand for perf's generic events, as on arm64 Linux.
 */
#include <linux/errno.h>

#include "armv8_pmuv3_events.h"

enum { COMMON_EVENTS = 64 };

/* Numbers of common events. */
enum {
	L1I_CACHE_REFILL = 0x01,
	L1I_TLB_REFILL = 0x02,
	L1D_CACHE_REFILL = 0x03,
	L1D_CACHE = 0x04,
	L1D_TLB_REFILL = 0x05,
	INST_RETIRED = 0x08,
	PC_WRITE_RETIRED = 0x0c,
	BR_MIS_PRED = 0x10,
	CPU_CYCLES = ARMV8_EVENT_CPU_CYCLES,
	BR_PRED = 0x12,
	L1I_CACHE = 0x14,
	BUS_CYCLES = 0x1d,
	STALL_FRONTEND = 0x23,
	STALL_BACKEND = 0x24,
	L1D_TLB = 0x25,
	L1I_TLB = 0x26,
	LL_CACHE_RD = 0x36,
	LL_CACHE_MISS_RD = 0x37,
};

/* By number. Left out are SW_INCR, which only the kernel could increment, and CHAIN, no event by itself. */
#define EVENT(number, event_name) [0x##number] = {event_name, "event=0x00" #number}
static const struct perf_pmu_text names[COMMON_EVENTS] = {
	EVENT(01, "l1i_cache_refill"),
	EVENT(02, "l1i_tlb_refill"),
	EVENT(03, "l1d_cache_refill"),
	EVENT(04, "l1d_cache"),
	EVENT(05, "l1d_tlb_refill"),
	EVENT(06, "ld_retired"),
	EVENT(07, "st_retired"),
	EVENT(08, "inst_retired"),
	EVENT(09, "exc_taken"),
	EVENT(0a, "exc_return"),
	EVENT(0b, "cid_write_retired"),
	EVENT(0c, "pc_write_retired"),
	EVENT(0d, "br_immed_retired"),
	EVENT(0e, "br_return_retired"),
	EVENT(0f, "unaligned_ldst_retired"),
	EVENT(10, "br_mis_pred"),
	EVENT(11, "cpu_cycles"),
	EVENT(12, "br_pred"),
	EVENT(13, "mem_access"),
	EVENT(14, "l1i_cache"),
	EVENT(15, "l1d_cache_wb"),
	EVENT(16, "l2d_cache"),
	EVENT(17, "l2d_cache_refill"),
	EVENT(18, "l2d_cache_wb"),
	EVENT(19, "bus_access"),
	EVENT(1a, "memory_error"),
	EVENT(1b, "inst_spec"),
	EVENT(1c, "ttbr_write_retired"),
	EVENT(1d, "bus_cycles"),
	EVENT(1f, "l1d_cache_allocate"),
	EVENT(20, "l2d_cache_allocate"),
	EVENT(21, "br_retired"),
	EVENT(22, "br_mis_pred_retired"),
	EVENT(23, "stall_frontend"),
	EVENT(24, "stall_backend"),
	EVENT(25, "l1d_tlb"),
	EVENT(26, "l1i_tlb"),
	EVENT(27, "l2i_cache"),
	EVENT(28, "l2i_cache_refill"),
	EVENT(29, "l3d_cache_allocate"),
	EVENT(2a, "l3d_cache_refill"),
	EVENT(2b, "l3d_cache"),
	EVENT(2c, "l3d_cache_wb"),
	EVENT(2d, "l2d_tlb_refill"),
	EVENT(2e, "l2i_tlb_refill"),
	EVENT(2f, "l2d_tlb"),
	EVENT(30, "l2i_tlb"),
	EVENT(31, "remote_access"),
	EVENT(32, "ll_cache"),
	EVENT(33, "ll_cache_miss"),
	EVENT(34, "dtlb_walk"),
	EVENT(35, "itlb_walk"),
	EVENT(36, "ll_cache_rd"),
	EVENT(37, "ll_cache_miss_rd"),
	EVENT(38, "remote_access_rd"),
	EVENT(39, "l1d_cache_lmiss_rd"),
	EVENT(3a, "op_retired"),
	EVENT(3b, "op_spec"),
	EVENT(3c, "stall"),
	EVENT(3d, "stall_slot_backend"),
	EVENT(3e, "stall_slot_frontend"),
	EVENT(3f, "stall_slot"),
};
#undef EVENT

static int generic_event(uint64_t id)
{
	static const uint8_t events[PERF_COUNT_HW_MAX] = {
		[PERF_COUNT_HW_CPU_CYCLES] = CPU_CYCLES,
		[PERF_COUNT_HW_INSTRUCTIONS] = INST_RETIRED,
		[PERF_COUNT_HW_CACHE_REFERENCES] = L1D_CACHE,
		[PERF_COUNT_HW_CACHE_MISSES] = L1D_CACHE_REFILL,
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = PC_WRITE_RETIRED,
		[PERF_COUNT_HW_BRANCH_MISSES] = BR_MIS_PRED,
		[PERF_COUNT_HW_BUS_CYCLES] = BUS_CYCLES,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = STALL_FRONTEND,
		[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = STALL_BACKEND,
	};

	if (id >= PERF_COUNT_HW_MAX)
		return -EINVAL;
	return events[id] != 0 ? events[id] : -ENOENT;
}

/* Only reads are told apart: the common events have no counts of writes. */
static int cache_event(uint64_t config)
{
	static const struct {
		uint8_t access, miss;
	} reads[PERF_COUNT_HW_CACHE_MAX] = {
		[PERF_COUNT_HW_CACHE_L1D] = {L1D_CACHE, L1D_CACHE_REFILL},
		[PERF_COUNT_HW_CACHE_L1I] = {L1I_CACHE, L1I_CACHE_REFILL},
		[PERF_COUNT_HW_CACHE_LL] = {LL_CACHE_RD, LL_CACHE_MISS_RD},
		[PERF_COUNT_HW_CACHE_DTLB] = {L1D_TLB, L1D_TLB_REFILL},
		[PERF_COUNT_HW_CACHE_ITLB] = {L1I_TLB, L1I_TLB_REFILL},
		[PERF_COUNT_HW_CACHE_BPU] = {BR_PRED, BR_MIS_PRED},
	};
	uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;
	int event;

	if (cache >= PERF_COUNT_HW_CACHE_MAX || op >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return -EINVAL;
	if (op != PERF_COUNT_HW_CACHE_OP_READ)
		return -ENOENT;
	event = result == PERF_COUNT_HW_CACHE_RESULT_MISS ? reads[cache].miss : reads[cache].access;
	return event != 0 ? event : -ENOENT;
}

int armv8_pmuv3_event_number(const struct perf_event_attr *attr, uint32_t type, uint64_t common)
{
	uint64_t config = attr->config & UINT32_MAX; /* above it may be the PMU's type */
	int event;

	if (attr->type == PERF_TYPE_RAW || attr->type == type)
		return (int)(config & 0xffff);
	if (attr->type == PERF_TYPE_HARDWARE)
		event = generic_event(config);
	else if (attr->type == PERF_TYPE_HW_CACHE)
		event = cache_event(config);
	else
		return -ENOENT;
	if (event >= 0 && (common >> (unsigned int)event & 1) == 0)
		return -ENOENT;
	return event;
}

const struct perf_pmu_text *armv8_pmuv3_event_texts(uint64_t common)
{
	struct perf_pmu_text *texts = port_alloc((COMMON_EVENTS + 1) * sizeof(*texts));
	size_t n = 0;

	for (unsigned int i = 0; texts && i < COMMON_EVENTS; i++)
		if (names[i].name && (common >> i & 1) != 0)
			texts[n++] = names[i];
	return texts;
}
