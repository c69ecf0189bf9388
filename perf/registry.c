/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * registry.c - the PMUs there are, and which of them counts what.
 *
 * PMUs are only ever added, at the end of a list that readers walk without a
 * lock.
 */
#include <linux/errno.h>

#include "registry.h"
#include "sched.h"

static _Atomic(struct perf_pmu *) first;
static struct port_mutex registering;

enum { EXTENDED_TYPE_SHIFT = PERF_PMU_TYPE_SHIFT };

void perf_registry_init(void)
{
	port_mutex_init(&registering);
}

struct perf_pmu *perf_pmu_next(struct perf_pmu *pmu)
{
	return atomic_load(pmu ? &pmu->next : &first);
}

int perf_pmu_set_mux_interval(struct perf_pmu *pmu, uint32_t ms)
{
	if (ms == 0)
		return -EINVAL;
	atomic_store_explicit(&pmu->mux_interval_ms, ms, memory_order_relaxed);
	return 0;
}

static bool same_name(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Choose a type, and check that name and type are free. */
static int choose_type(const struct perf_pmu *pmu, int *type)
{
	int free_type = PERF_TYPE_MAX;

	for (struct perf_pmu *other = perf_pmu_next(NULL); other; other = perf_pmu_next(other)) {
		if (same_name(other->name, pmu->name) || other->type == pmu->type)
			return -EEXIST;
		if (other->type >= free_type)
			free_type = other->type + 1;
	}
	*type = pmu->type < 0 ? free_type : pmu->type;
	return 0;
}

int perf_pmu_register(struct perf_pmu *pmu)
{
	const struct perf_pmu_ops *ops = pmu->ops;
	_Atomic(struct perf_pmu *) *end = &first;
	int error;

	if (!pmu->name || !ops || !ops->event_init || !ops->add || !ops->del || !ops->start ||
	    !ops->stop || !ops->read || !ops->pause != !ops->resume)
		return -EINVAL;

	port_mutex_lock(&registering);
	error = choose_type(pmu, &pmu->type);
	if (!error)
		error = perf_sched_init_pmu(pmu);
	if (!error) {
		atomic_store(&pmu->next, NULL);
		while (atomic_load(end))
			end = &atomic_load(end)->next;
		atomic_store(end, pmu);
	}
	port_mutex_unlock(&registering);
	return error;
}

static bool excludes_something(const struct perf_event_attr *attr)
{
	return attr->exclude_user || attr->exclude_kernel || attr->exclude_hv ||
	       attr->exclude_idle || attr->exclude_host || attr->exclude_guest;
}

static int try(struct perf_pmu *pmu, struct perf_hw_event *hw)
{
	int error;

	if (hw->cpu >= 0 && !perf_cpu_set_has(&pmu->cpus, hw->cpu))
		return -ENOENT;
	hw->pmu = pmu;
	error = pmu->ops->event_init(hw);
	if (error)
		return error;
	if ((pmu->caps & PERF_PMU_NO_EXCLUDE) && excludes_something(hw->attr)) {
		if (pmu->ops->event_destroy)
			pmu->ops->event_destroy(hw);
		return -EINVAL;
	}
	return 0;
}

/* The PMU that attr names outright, by its type or in the upper half of config. */
static struct perf_pmu *named(const struct perf_event_attr *attr)
{
	uint64_t type = attr->type;

	if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE) {
		type = attr->config >> EXTENDED_TYPE_SHIFT;
		if (type == 0)
			return NULL;
	}
	for (struct perf_pmu *pmu = perf_pmu_next(NULL); pmu; pmu = perf_pmu_next(pmu)) {
		if ((uint64_t)pmu->type == type)
			return pmu;
	}
	return NULL;
}

static bool is_generic(uint32_t type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
}

int perf_registry_init_event(struct perf_hw_event *hw)
{
	struct perf_pmu *pmu = named(hw->attr);
	int error = -ENOENT;

	if (pmu)
		return try(pmu, hw);
	if (!is_generic(hw->attr->type))
		return -ENOENT;
	for (pmu = perf_pmu_next(NULL); pmu && error == -ENOENT; pmu = perf_pmu_next(pmu)) {
		if (pmu->caps & PERF_PMU_GENERIC)
			error = try(pmu, hw);
	}
	return error;
}
