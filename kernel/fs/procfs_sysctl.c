/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /proc/sys: names, knobs and limits (proc(5), sysctl(8)). Only those that
 * mean something here; perf adds its own with procfs_add().
 */
#include "dev/dev.h"
#include "fs/procfs.h"
#include "sys/uname.h"
#include <linux/capability.h>

/* ------------------------------------------------------------------- names */

static int show_string(struct seq *s, void *arg)
{
	seq_printf(s, "%s\n", (const char *)arg);
	return 0;
}

static int store_name(const char *text, size_t n, void *arg)
{
	char *name = arg;
	size_t len = 0;

	while (len < n && text[len] && text[len] != '\n')
		len++;
	if (len > __NEW_UTS_LEN)
		len = __NEW_UTS_LEN;
	memcpy(name, text, len);
	name[len] = '\0';
	return 0;
}

/* ----------------------------------------------------------------- numbers */

static int show_number(struct seq *s, void *arg)
{
	seq_printf(s, "%ld\n", (long)arg);
	return 0;
}

static int show_int(struct seq *s, void *arg)
{
	seq_printf(s, "%d\n", *(int *)arg);
	return 0;
}

static int store_kptr_restrict(const char *text, size_t n, void *arg)
{
	char *end;
	u64 v = strtoull(text, &end, 10);

	if (end == text || (*end && *end != '\n') || v > 2)
		return -EINVAL;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	*(int *)arg = (int)v;
	return 0;
}

/* ------------------------------------------------------------------- uuids */

static void show_uuid(struct seq *s, const u8 id[16])
{
	for (unsigned i = 0; i < 16; i++)
		seq_printf(s, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", id[i]);
	seq_printf(s, "\n");
}

/* Version 4, variant 1 (RFC 4122, 4.4). */
static void make_uuid(u8 id[16])
{
	random_bytes(id, 16);
	id[6] = (u8)((id[6] & 0x0f) | 0x40);
	id[8] = (u8)((id[8] & 0x3f) | 0x80);
}

static int show_new_uuid(struct seq *s, void *arg)
{
	u8 id[16];

	make_uuid(id);
	show_uuid(s, id);
	return 0;
}

static int show_boot_id(struct seq *s, void *arg)
{
	static u8 id[16];

	if (!id[6])
		make_uuid(id);
	show_uuid(s, id);
	return 0;
}

/* ------------------------------------------------------------------ limits */

#define PID_LIMIT     32768	/* proc/task.c */
#define FD_LIMIT      1048576	/* fs/fdtable.c */
#define PIPE_LIMIT    1048576	/* fs/pipe.c */
#define MMAP_MIN_ADDR 65536	/* mm/vma.h */

#define NUMBER(n, v) { .name = n, .mode = 0444, .show = show_number, .arg = (void *)(long)(v) }

static int add_all(const char *dir, const struct pseudo_file *files, size_t n)
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++)
		err = procfs_add(dir, &files[i]);
	return err;
}

int procfs_sysctl_init(void)
{
	struct new_utsname *u = system_utsname();
	const struct pseudo_file kernel[] = {
		{ .name = "ostype", .mode = 0444, .show = show_string, .arg = u->sysname },
		{ .name = "osrelease", .mode = 0444, .show = show_string, .arg = u->release },
		{ .name = "version", .mode = 0444, .show = show_string, .arg = u->version },
		{ .name = "hostname", .mode = 0644, .show = show_string, .store = store_name,
		  .arg = u->nodename },
		{ .name = "domainname", .mode = 0644, .show = show_string, .store = store_name,
		  .arg = u->domainname },
		{ .name = "kptr_restrict", .mode = 0644, .show = show_int,
		  .store = store_kptr_restrict, .arg = kptr_restrict_knob() },
		/* addresses are the same on every run, which is what the machine is for */
		NUMBER("randomize_va_space", 0),
		NUMBER("pid_max", PID_LIMIT),
		/* the only bound on threads is that of their ids */
		NUMBER("threads-max", PID_LIMIT),
		NUMBER("ngroups_max", ARRAY_SIZE(current->cred.groups)),
		NUMBER("cap_last_cap", CAP_LAST_CAP),
	};
	static const struct pseudo_file random[] = {
		{ .name = "boot_id", .mode = 0444, .show = show_boot_id },
		{ .name = "uuid", .mode = 0444, .show = show_new_uuid },
	};
	static const struct pseudo_file fs[] = {
		/* there is no bound but memory */
		NUMBER("file-max", ~0UL >> 1),
		NUMBER("nr_open", FD_LIMIT),
		NUMBER("pipe-max-size", PIPE_LIMIT),
	};
	static const struct pseudo_file vm[] = {
		/* memory is given out when it is touched, and mappings are never refused for want of it */
		NUMBER("overcommit_memory", 1),
		NUMBER("mmap_min_addr", MMAP_MIN_ADDR),
	};

	return add_all("sys/kernel", kernel, ARRAY_SIZE(kernel)) ||
	       add_all("sys/kernel/random", random, ARRAY_SIZE(random)) ||
	       add_all("sys/fs", fs, ARRAY_SIZE(fs)) || add_all("sys/vm", vm, ARRAY_SIZE(vm));
}
