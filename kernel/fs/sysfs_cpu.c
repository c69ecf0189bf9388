/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /sys/devices/system/{cpu,node}: which CPUs there are, how they hang together
 * (from the device tree's cpu-map, as Linux does on arm64), and their
 * identification registers.
 */
#include "dev/dev.h"
#include "fs/fs.h"
#include "fs/pseudo.h"
#include "fs/sysfs.h"
#include <libfdt.h>

#define CPU_DIR	 "devices/system/cpu"
#define NODE_DIR "devices/system/node"

static struct {
	int package, cluster, core, thread; /* cluster -1: not said */
} topo[MAX_CPUS];

/* ------------------------------------------------------------------ format */

void seq_bitmap_list(struct seq *s, u64 bits)
{
	const char *sep = "";

	for (unsigned i = 0; i < 64; i++) {
		unsigned first = i;

		if (!(bits & BIT(i)))
			continue;
		while (i + 1 < 64 && (bits & BIT(i + 1)))
			i++;
		if (i == first)
			seq_printf(s, "%s%u", sep, i);
		else
			seq_printf(s, "%s%u-%u", sep, first, i);
		sep = ",";
	}
}

void seq_bitmap_mask(struct seq *s, u64 bits, unsigned nbits)
{
	if (nbits > 32)
		seq_printf(s, "%0*x,%08x", (int)(nbits - 32 + 3) / 4, (u32)(bits >> 32), (u32)bits);
	else
		seq_printf(s, "%0*x", (int)(nbits + 3) / 4, (u32)bits);
}

/* -------------------------------------------------------------------- sets */

unsigned nr_possible_cpus(void)
{
	return MIN(fdt_cpu_count(), (unsigned)MAX_CPUS);
}

static u64 possible_cpus(void)
{
	return BIT(nr_possible_cpus()) - 1;
}

static u64 online_cpus(void)
{
	u64 set = 0;

	for (unsigned i = 0; i < MAX_CPUS; i++)
		if ((possible_cpus() & BIT(i)) && cpu_online(i))
			set |= BIT(i);
	return set;
}

static int show_possible(struct seq *s, void *arg)
{
	(void)arg;
	seq_bitmap_list(s, possible_cpus());
	seq_printf(s, "\n");
	return 0;
}

static int show_online(struct seq *s, void *arg)
{
	(void)arg;
	seq_bitmap_list(s, online_cpus());
	seq_printf(s, "\n");
	return 0;
}

static int show_offline(struct seq *s, void *arg)
{
	(void)arg;
	seq_bitmap_list(s, possible_cpus() & ~online_cpus());
	seq_printf(s, "\n");
	return 0;
}

static int show_kernel_max(struct seq *s, void *arg)
{
	(void)arg;
	seq_printf(s, "%u\n", MAX_CPUS - 1);
	return 0;
}

/* ---------------------------------------------------------------- topology */

enum topo_kind { CORE_ID, PACKAGE_ID, CLUSTER_ID, THREADS, CLUSTER_CPUS, PACKAGE_CPUS };

static const struct {
	const char *name;
	enum topo_kind kind;
	bool list;
} topo_files[] = {
	{ "core_id", CORE_ID, false },
	{ "physical_package_id", PACKAGE_ID, false },
	{ "cluster_id", CLUSTER_ID, false },
	{ "thread_siblings", THREADS, false },
	{ "thread_siblings_list", THREADS, true },
	{ "core_cpus", THREADS, false },
	{ "core_cpus_list", THREADS, true },
	{ "cluster_cpus", CLUSTER_CPUS, false },
	{ "cluster_cpus_list", CLUSTER_CPUS, true },
	{ "core_siblings", PACKAGE_CPUS, false },
	{ "core_siblings_list", PACKAGE_CPUS, true },
	{ "package_cpus", PACKAGE_CPUS, false },
	{ "package_cpus_list", PACKAGE_CPUS, true },
};

static u64 siblings(unsigned cpu, enum topo_kind kind)
{
	u64 set = 0;

	for (unsigned i = 0; i < MAX_CPUS; i++) {
		bool same = topo[i].package == topo[cpu].package;

		if (kind != PACKAGE_CPUS)
			same = same && topo[i].cluster == topo[cpu].cluster;
		if (kind == THREADS)
			same = same && topo[i].core == topo[cpu].core;
		if (same && (online_cpus() & BIT(i)))
			set |= BIT(i);
	}
	return set;
}

/* arg: the CPU and the index in topo_files */
static int show_topology(struct seq *s, void *arg)
{
	unsigned cpu = (unsigned)(unsigned long)arg >> 8, i = (unsigned long)arg & 0xff;

	switch (topo_files[i].kind) {
	case CORE_ID:
		seq_printf(s, "%d\n", topo[cpu].core);
		return 0;
	case PACKAGE_ID:
		seq_printf(s, "%d\n", topo[cpu].package);
		return 0;
	case CLUSTER_ID:
		seq_printf(s, "%d\n", topo[cpu].cluster);
		return 0;
	default:
		break;
	}
	if (topo_files[i].list)
		seq_bitmap_list(s, siblings(cpu, topo_files[i].kind));
	else
		seq_bitmap_mask(s, siblings(cpu, topo_files[i].kind), nr_possible_cpus());
	seq_printf(s, "\n");
	return 0;
}

/* Which CPU a cpu-map leaf means: by its phandle, in the order of the CPU nodes. */
static int cpu_of_phandle(const void *fdt, int leaf)
{
	int len, parent, node, i = 0;
	const fdt32_t *ref = fdt_getprop(fdt, leaf, "cpu", &len);

	if (!ref || len < (int)sizeof(*ref))
		return -1;
	parent = fdt_path_offset(fdt, "/cpus");
	fdt_for_each_subnode(node, fdt, parent) {
		const char *type = fdt_getprop(fdt, node, "device_type", NULL);

		if (!type || strcmp(type, "cpu"))
			continue;
		if (fdt_get_phandle(fdt, node) == fdt32_to_cpu(*ref))
			return i;
		i++;
	}
	return -1;
}

static void read_cpu_map(const void *fdt, int node, int package, int cluster, int core)
{
	int child;

	fdt_for_each_subnode(child, fdt, node) {
		const char *name = fdt_get_name(fdt, child, NULL);
		int p = package, cl = cluster, co = core, th = 0, cpu;

		if (!strncmp(name, "socket", 6))
			p = (int)strtoull(name + 6, NULL, 10);
		else if (!strncmp(name, "cluster", 7))
			cl = (int)strtoull(name + 7, NULL, 10);
		else if (!strncmp(name, "core", 4))
			co = (int)strtoull(name + 4, NULL, 10);
		else if (!strncmp(name, "thread", 6))
			th = (int)strtoull(name + 6, NULL, 10);
		cpu = cpu_of_phandle(fdt, child);
		if (cpu < 0) {
			read_cpu_map(fdt, child, p, cl, co);
		} else if (cpu < (int)MAX_CPUS) {
			topo[cpu].package = p;
			topo[cpu].cluster = cl;
			topo[cpu].core = co;
			topo[cpu].thread = th;
		}
	}
}

static void find_topology(void)
{
	int map = fdt_path_offset(fdt_blob(), "/cpus/cpu-map");

	for (unsigned i = 0; i < MAX_CPUS; i++) {
		topo[i].cluster = -1;
		topo[i].core = (int)i;
	}
	if (map >= 0)
		read_cpu_map(fdt_blob(), map, 0, -1, 0);
}

/* --------------------------------------------------------------- registers */

static int show_midr(struct seq *s, void *arg)
{
	seq_printf(s, "0x%016llx\n", (unsigned long long)arch_midr((unsigned)(unsigned long)arg));
	return 0;
}

static int show_revidr(struct seq *s, void *arg)
{
	seq_printf(s, "0x%016llx\n", (unsigned long long)arch_revidr((unsigned)(unsigned long)arg));
	return 0;
}

/* -------------------------------------------------------------------- node */

static int show_node_meminfo(struct seq *s, void *arg)
{
	u64 total, free;

	(void)arg;
	page_stats(&total, &free);
	seq_printf(s, "Node 0 MemTotal:       %8llu kB\n", (unsigned long long)total * 4);
	seq_printf(s, "Node 0 MemFree:        %8llu kB\n", (unsigned long long)free * 4);
	seq_printf(s, "Node 0 MemUsed:        %8llu kB\n", (unsigned long long)(total - free) * 4);
	return 0;
}

static int show_cpumap(struct seq *s, void *arg)
{
	(void)arg;
	seq_bitmap_mask(s, online_cpus(), nr_possible_cpus());
	seq_printf(s, "\n");
	return 0;
}

/* There is one memory node, number 0, with all CPUs: a kernel without NUMA. */
static int show_zero(struct seq *s, void *arg)
{
	(void)arg;
	seq_printf(s, "0\n");
	return 0;
}

/* ---------------------------------------------------------------- start-up */

static void add(const char *dir, const char *name, mode_t mode,
		int (*show)(struct seq *s, void *arg), unsigned long arg)
{
	if (sysfs_add(dir, &(struct pseudo_file){ .name = name, .mode = mode, .show = show,
						  .arg = (void *)arg }))
		panic("no memory for /sys/%s/%s", dir, name);
}

static void add_cpu(unsigned cpu)
{
	char dir[64], link[64], target[32];

	snprintf(dir, sizeof(dir), CPU_DIR "/cpu%u/topology", cpu);
	for (unsigned i = 0; i < ARRAY_SIZE(topo_files); i++)
		add(dir, topo_files[i].name, 0444, show_topology, cpu << 8 | i);
	snprintf(dir, sizeof(dir), CPU_DIR "/cpu%u/regs/identification", cpu);
	add(dir, "midr_el1", 0444, show_midr, cpu);
	add(dir, "revidr_el1", 0444, show_revidr, cpu);
	snprintf(link, sizeof(link), NODE_DIR "/node0/cpu%u", cpu);
	snprintf(target, sizeof(target), "../../cpu/cpu%u", cpu);
	if (sysfs_symlink(link, target))
		panic("no memory for /sys/%s", link);
}

void sysfs_cpu_init(void)
{
	find_topology();
	add(CPU_DIR, "possible", 0444, show_possible, 0);
	add(CPU_DIR, "present", 0444, show_possible, 0);
	add(CPU_DIR, "online", 0444, show_online, 0);
	add(CPU_DIR, "offline", 0444, show_offline, 0);
	add(CPU_DIR, "kernel_max", 0444, show_kernel_max, 0);
	for (unsigned i = 0; i < nr_possible_cpus(); i++)
		add_cpu(i);
	add(NODE_DIR, "possible", 0444, show_zero, 0);
	add(NODE_DIR, "online", 0444, show_zero, 0);
	add(NODE_DIR, "has_cpu", 0444, show_zero, 0);
	add(NODE_DIR, "has_memory", 0444, show_zero, 0);
	add(NODE_DIR, "has_normal_memory", 0444, show_zero, 0);
	add(NODE_DIR "/node0", "cpulist", 0444, show_online, 0);
	add(NODE_DIR "/node0", "cpumap", 0444, show_cpumap, 0);
	add(NODE_DIR "/node0", "meminfo", 0444, show_node_meminfo, 0);
}
