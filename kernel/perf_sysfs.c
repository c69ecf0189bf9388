/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What perf(1) reads about perf: /proc/sys/kernel/perf_event_* and a folder for
 * each PMU in /sys/bus/event_source/devices, as Linux has them
 * (Documentation/ABI/testing/sysfs-bus-event_source-devices-*).
 */
#include "arch/aarch64/cpu.h"
#include "fs/pseudo.h"
#include "mm/page.h"
#include "perf_port.h"
#include "proc/task.h"
#include <linux/capability.h>
#include <perf/perf.h>
#include <perf/pmu.h>

#define PATH_SIZE 128

/* ---------------------------------------------------------------- sysctls */

static const char *const sysctl_names[PERF_SYSCTL_NR] = {
	[PERF_SYSCTL_PARANOID] = "perf_event_paranoid",
	[PERF_SYSCTL_MLOCK_KB] = "perf_event_mlock_kb",
	[PERF_SYSCTL_MAX_SAMPLE_RATE] = "perf_event_max_sample_rate",
	[PERF_SYSCTL_CPU_TIME_MAX_PERCENT] = "perf_cpu_time_max_percent",
	[PERF_SYSCTL_MAX_STACK] = "perf_event_max_stack",
	[PERF_SYSCTL_MAX_CONTEXTS_PER_STACK] = "perf_event_max_contexts_per_stack",
	[PERF_SYSCTL_USER_ACCESS] = "perf_user_access",
};

static int sysctl_show(struct seq *s, void *arg)
{
	seq_printf(s, "%d\n", perf_sysctl_get((enum perf_sysctl)(uintptr_t)arg));
	return 0;
}

/* A decimal number, with or without a sign, and at most a newline behind it. */
static int parse_int(const char *text, int *value)
{
	bool negative = *text == '-';
	const char *digits = text + negative;
	char *end;
	u64 v = strtoull(digits, &end, 10);

	if (end == digits || (*end != '\0' && strcmp(end, "\n")) || v > 0x7fffffff)
		return -EINVAL;
	*value = negative ? -(int)v : (int)v;
	return 0;
}

static int sysctl_store(const char *text, size_t n, void *arg)
{
	int value, err = parse_int(text, &value);

	return err ? err : perf_sysctl_set((enum perf_sysctl)(uintptr_t)arg, value);
}

static void add_sysctls(void)
{
	for (uintptr_t i = 0; i < PERF_SYSCTL_NR; i++) {
		struct pseudo_file pf = {.name = sysctl_names[i],
					 .mode = 0644,
					 .show = sysctl_show,
					 .store = sysctl_store,
					 .arg = (void *)i};

		procfs_add("sys/kernel", &pf);
	}
}

/* ------------------------------------------------------------------- PMUs */

static int type_show(struct seq *s, void *arg)
{
	const struct perf_pmu *pmu = arg;

	seq_printf(s, "%d\n", pmu->type);
	return 0;
}

static int interval_show(struct seq *s, void *arg)
{
	struct perf_pmu *pmu = arg;

	seq_printf(s, "%u\n", atomic_load(&pmu->mux_interval_ms));
	return 0;
}

static int interval_store(const char *text, size_t n, void *arg)
{
	int value, err = parse_int(text, &value);

	if (err || value <= 0)
		return -EINVAL;
	return perf_pmu_set_mux_interval(arg, (uint32_t)value);
}

/* A list such as "0-2,5". */
static int cpus_show(struct seq *s, void *arg)
{
	const struct perf_pmu *pmu = arg;
	const char *comma = "";

	for (int first = 0; first < MAX_CPUS; first++) {
		int last = first;

		if (!perf_cpu_set_has(&pmu->cpus, first))
			continue;
		while (last + 1 < MAX_CPUS && perf_cpu_set_has(&pmu->cpus, last + 1))
			last++;
		seq_printf(s, first == last ? "%s%d" : "%s%d-%d", comma, first, last);
		comma = ",";
		first = last;
	}
	seq_printf(s, "\n");
	return 0;
}

static int text_show(struct seq *s, void *arg)
{
	seq_printf(s, "%s\n", (const char *)arg);
	return 0;
}

/* format/, events/ or caps/ */
static void add_texts(const char *device, const char *folder, const struct perf_pmu_text *texts)
{
	char dir[PATH_SIZE];

	snprintf(dir, sizeof(dir), "%s/%s", device, folder);
	for (; texts && texts->name; texts++) {
		struct pseudo_file pf = {.name = texts->name,
					 .mode = 0444,
					 .show = text_show,
					 .arg = (void *)(uintptr_t)texts->text};

		sysfs_add(dir, &pf);
	}
}

static void add_pmu(struct perf_pmu *pmu)
{
	const struct pseudo_file files[] = {
		{.name = "type", .mode = 0444, .show = type_show, .arg = pmu},
		{.name = "perf_event_mux_interval_ms",
		 .mode = 0644,
		 .show = interval_show,
		 .store = interval_store,
		 .arg = pmu},
	};
	const struct pseudo_file cpus = {.name = pmu->caps & PERF_PMU_CPU_ONLY ? "cpumask" : "cpus",
					 .mode = 0444,
					 .show = cpus_show,
					 .arg = pmu};
	char device[PATH_SIZE], link[PATH_SIZE], target[PATH_SIZE];

	snprintf(device, sizeof(device), "devices/%s", pmu->name);
	snprintf(link, sizeof(link), "bus/event_source/devices/%s", pmu->name);
	snprintf(target, sizeof(target), "../../../devices/%s", pmu->name);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		sysfs_add(device, &files[i]);
	if (!(pmu->caps & PERF_PMU_SOFTWARE))
		sysfs_add(device, &cpus);
	add_texts(device, "format", pmu->formats);
	add_texts(device, "events", pmu->events);
	add_texts(device, "caps", pmu->caps_texts);
	sysfs_symlink(link, target);
}

void perf_sysfs_init(void)
{
	add_sysctls();
	for (struct perf_pmu *pmu = perf_pmu_next(NULL); pmu; pmu = perf_pmu_next(pmu))
		add_pmu(pmu);
}
