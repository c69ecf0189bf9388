/* SPDX-License-Identifier: BSD-2-Clause */
/* Files in /proc about the CPUs, the memory, the time and the tasks of the whole system (proc(5)). */
#include "dev/dev.h"
#include "fs/procfs.h"
#include "fs/tmpfs.h"
#include "proc/internal.h"
#include "sys/uname.h"
#include <asm/hwcap.h>
#include <utlist.h>

#define LOAD_BITS 11 /* behind the point of load averages, as Linux has them */

/* --------------------------------------------------------------------- CPU */

/* Linux's names of the bits of AT_HWCAP and AT_HWCAP2, from bit 0 on. */
static const char *const hwcap_names[] = {
	"fp",	   "asimd", "evtstrm",	"aes",	"pmull", "sha1",   "sha2",    "crc32",
	"atomics", "fphp",  "asimdhp",	"cpuid", "asimdrdm", "jscvt", "fcma",  "lrcpc",
	"dcpop",   "sha3",  "sm3",	"sm4",	"asimddp", "sha512", "sve",    "asimdfhm",
	"dit",	   "uscat", "ilrcpc",	"flagm", "ssbs", "sb",	   "paca",    "pacg",
};
static const char *const hwcap2_names[] = {
	"dcpodp",   "sve2",	"sveaes",   "svepmull", "svebitperm", "svesha3", "svesm4",
	"flagm2",   "frint",	"svei8mm",  "svef32mm", "svef64mm",   "svebf16", "i8mm",
	"bf16",	    "dgh",	"rng",	    "bti",
};

static void show_hwcaps(struct seq *s, u64 caps, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (caps & BIT(i))
			seq_printf(s, " %s", names[i]);
}

static int show_cpuinfo(struct seq *s, void *arg)
{
	u64 timer_hz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(timer_hz));
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		u64 midr;

		if (!cpu_online(cpu))
			continue;
		midr = arch_midr(cpu);
		seq_printf(s, "processor\t: %u\n", cpu);
		/* on arm64 this is the timer's frequency, not a delay loop's */
		seq_printf(s, "BogoMIPS\t: %llu.%02llu\n",
			   (unsigned long long)(timer_hz / 500000),
			   (unsigned long long)(timer_hz / 5000 % 100));
		seq_printf(s, "Features\t:");
		show_hwcaps(s, arch_hwcap(), hwcap_names, ARRAY_SIZE(hwcap_names));
		show_hwcaps(s, arch_hwcap2(), hwcap2_names, ARRAY_SIZE(hwcap2_names));
		seq_printf(s, "\nCPU implementer\t: 0x%02x\nCPU architecture: 8\n"
			      "CPU variant\t: 0x%x\nCPU part\t: 0x%03x\nCPU revision\t: %u\n\n",
			   (unsigned)(midr >> 24) & 0xff, (unsigned)(midr >> 20) & 0xf,
			   (unsigned)(midr >> 4) & 0xfff, (unsigned)midr & 0xf);
	}
	return 0;
}

static u32 nr_blocked(void)
{
	u32 n = 0;

	for (struct process *p = process_next(1); p; p = process_next(p->pid + 1))
		for (struct task *t = p->threads; t; t = t->thread_next)
			n += t->state == TASK_UNINTERRUPTIBLE && !t->is_kthread;
	return n;
}

static void stat_line(struct seq *s, const char *name, u64 user, u64 sys, u64 idle)
{
	/* nice, iowait, irq, softirq, steal, guest are not told apart from the others here */
	seq_printf(s, "%s %llu 0 %llu %llu 0 0 0 0 0 0\n", name,
		   (unsigned long long)(user / USER_TICK_NS),
		   (unsigned long long)(sys / USER_TICK_NS),
		   (unsigned long long)(idle / USER_TICK_NS));
}

static void cpu_totals(u64 *user, u64 *sys, u64 *idle, u64 *switches)
{
	*user = *sys = *idle = *switches = 0;
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		u64 u, k, i, n;

		if (!cpu_online(cpu))
			continue;
		sched_cpu_times(cpu, &u, &k, &i, &n);
		*user += u;
		*sys += k;
		*idle += i;
		*switches += n;
	}
}

static int show_system_stat(struct seq *s, void *arg)
{
	u64 user, sys, idle, switches, n;
	char name[16];

	cpu_totals(&user, &sys, &idle, &switches);
	stat_line(s, "cpu ", user, sys, idle);
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		if (!cpu_online(cpu))
			continue;
		sched_cpu_times(cpu, &user, &sys, &idle, &n);
		snprintf(name, sizeof(name), "cpu%u", cpu);
		stat_line(s, name, user, sys, idle);
	}
	seq_printf(s, "ctxt %llu\nbtime %llu\nprocesses %llu\nprocs_running %u\nprocs_blocked %u\n",
		   (unsigned long long)switches,
		   /* the clock chip has whole seconds: to the nearest one */
		   (unsigned long long)((boot_epoch_ns() + NSEC_PER_SEC / 2) / NSEC_PER_SEC),
		   (unsigned long long)nr_forks(), sched_nr_running(), nr_blocked());
	return 0;
}

static int show_uptime(struct seq *s, void *arg)
{
	u64 user, sys, idle, switches, up = clock_ns() / 10000000;

	cpu_totals(&user, &sys, &idle, &switches);
	idle /= 10000000;
	seq_printf(s, "%llu.%02llu %llu.%02llu\n", (unsigned long long)(up / 100),
		   (unsigned long long)(up % 100), (unsigned long long)(idle / 100),
		   (unsigned long long)(idle % 100));
	return 0;
}

static int show_loadavg(struct seq *s, void *arg)
{
	u64 load[3];

	load_averages(load, LOAD_BITS);
	for (unsigned i = 0; i < 3; i++) {
		u64 cents = (load[i] * 100 + (1 << LOAD_BITS) / 2) >> LOAD_BITS;

		seq_printf(s, "%llu.%02llu ", (unsigned long long)(cents / 100),
			   (unsigned long long)(cents % 100));
	}
	seq_printf(s, "%u/%u %d\n", sched_nr_running(), nr_threads_total(), last_pid());
	return 0;
}

/* ------------------------------------------------------------------ memory */

static void meminfo_line(struct seq *s, const char *name, u64 kb)
{
	seq_printf(s, "%-15s %8llu kB\n", name, (unsigned long long)kb);
}

/* What files hold that were written since boot; those of the root image lie in memory set aside for it. */
static u64 tmpfs_pages(void)
{
	struct super *sb;
	u64 pages = 0;

	DL_FOREACH(all_supers, sb) {
		if (inode_is_tmpfs(sb->root->inode))
			pages += tmpfs_super(sb)->pages;
	}
	return pages;
}

static int show_meminfo(struct seq *s, void *arg)
{
	u64 total, free;

	page_stats(&total, &free);
	meminfo_line(s, "MemTotal:", total * 4);
	meminfo_line(s, "MemFree:", free * 4);
	/* nothing is cached that could be dropped: what is free is what there is */
	meminfo_line(s, "MemAvailable:", free * 4);
	meminfo_line(s, "Buffers:", 0);
	meminfo_line(s, "Cached:", tmpfs_pages() * 4);
	meminfo_line(s, "SwapCached:", 0);
	meminfo_line(s, "SwapTotal:", 0);
	meminfo_line(s, "SwapFree:", 0);
	meminfo_line(s, "Shmem:", tmpfs_pages() * 4);
	meminfo_line(s, "Slab:", kmalloc_in_use() / 1024);
	return 0;
}

/* ----------------------------------------------------------------- symbols */

static int kptr_restrict;

int *kptr_restrict_knob(void)
{
	return &kptr_restrict;
}

/* 0 and 1: those who may read the log see addresses; 2: nobody. */
static int show_kallsyms(struct seq *s, void *arg)
{
	bool real = kptr_restrict < 2 && capable(CAP_SYSLOG);
	const char *name;
	char type;
	u64 addr;

	for (size_t i = 0; ksym_get(i, &addr, &type, &name); i++)
		seq_printf(s, "%016llx %c %s\n", real ? (unsigned long long)addr : 0ULL, type, name);
	return 0;
}

/* ------------------------------------------------------------------ others */

static int show_version(struct seq *s, void *arg)
{
	const struct new_utsname *u = system_utsname();

	seq_printf(s, "%s version %s (gcc %s) %s\n", u->sysname, u->release, __VERSION__,
		   u->version);
	return 0;
}

static int show_boot_cmdline(struct seq *s, void *arg)
{
	const char *args = fdt_bootargs();

	seq_printf(s, "%s\n", args ? args : "");
	return 0;
}

/* There are no modules and no disks, and nothing is swapped. */
static int show_nothing(struct seq *s, void *arg)
{
	return 0;
}

static int show_swaps(struct seq *s, void *arg)
{
	seq_printf(s, "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
	return 0;
}

static int show_filesystems(struct seq *s, void *arg)
{
	/* the types that mount(2) knows: none needs a block device */
	for (const struct fs_type *t = fs_type_list(); t; t = t->next)
		seq_printf(s, "nodev\t%s\n", t->name);
	return 0;
}

static int show_devices(struct seq *s, void *arg)
{
	seq_printf(s, "Character devices:\n  1 mem\n  5 /dev/tty\n  5 /dev/console\n  5 /dev/ptmx\n"
		      "136 pts\n229 hvc\n250 virtio-portsdev\n\nBlock devices:\n");
	return 0;
}

/* How ps(1) learns the names of terminals from their numbers. */
static int show_tty_drivers(struct seq *s, void *arg)
{
	seq_printf(s, "%-20s /dev/%-8s %3d %7s %s\n", "/dev/tty", "tty", 5, "0", "system:/dev/tty");
	seq_printf(s, "%-20s /dev/%-8s %3d %7s %s\n", "/dev/console", "console", 5, "1",
		   "system:console");
	seq_printf(s, "%-20s /dev/%-8s %3d %7s %s\n", "/dev/ptmx", "ptmx", 5, "2", "system");
	seq_printf(s, "%-20s /dev/%-8s %3d %7s %s\n", "hvc", "hvc", 229, "0-30", "system");
	seq_printf(s, "%-20s /dev/%-8s %3d %7s %s\n", "pty_slave", "pts", 136, "0-255",
		   "pty:slave");
	return 0;
}

int procfs_sys_init(void)
{
	static const struct pseudo_file files[] = {
		{ .name = "cpuinfo", .mode = 0444, .show = show_cpuinfo },
		{ .name = "stat", .mode = 0444, .show = show_system_stat },
		{ .name = "uptime", .mode = 0444, .show = show_uptime },
		{ .name = "loadavg", .mode = 0444, .show = show_loadavg },
		{ .name = "meminfo", .mode = 0444, .show = show_meminfo },
		{ .name = "kallsyms", .mode = 0444, .show = show_kallsyms },
		{ .name = "version", .mode = 0444, .show = show_version },
		{ .name = "cmdline", .mode = 0444, .show = show_boot_cmdline },
		{ .name = "modules", .mode = 0444, .show = show_nothing },
		{ .name = "partitions", .mode = 0444, .show = show_nothing },
		{ .name = "swaps", .mode = 0444, .show = show_swaps },
		{ .name = "filesystems", .mode = 0444, .show = show_filesystems },
		{ .name = "devices", .mode = 0444, .show = show_devices },
	};
	static const struct pseudo_file drivers = { .name = "drivers", .mode = 0444,
						    .show = show_tty_drivers };
	int err = procfs_add("tty", &drivers);

	for (size_t i = 0; !err && i < ARRAY_SIZE(files); i++)
		err = procfs_add("", &files[i]);
	return err;
}
