/* SPDX-License-Identifier: BSD-2-Clause */
/* The system as a whole: its names, its memory, random bytes, switching it off. */
#include "dev/dev.h"
#include "dev/virtio_console.h"
#include "fs/p9.h"
#include "mm/page.h"
#include "proc/internal.h"
#include "sys/syscall.h"
#include "sys/uname.h"
#include <linux/random.h>
#include <linux/reboot.h>
#include <linux/sysinfo.h>

long sys_uname(const u64 a[6])
{
	return copy_to_user((void *)a[0], system_utsname(), sizeof(struct new_utsname));
}

static long set_name(char *field, const u64 a[6])
{
	char name[__NEW_UTS_LEN + 1] = {0};

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if ((u32)a[1] > __NEW_UTS_LEN)
		return -EINVAL;
	if (copy_from_user(name, (void *)a[0], (u32)a[1]))
		return -EFAULT;
	memcpy(field, name, sizeof(name));
	return 0;
}

long sys_sethostname(const u64 a[6])
{
	return set_name(system_utsname()->nodename, a);
}

long sys_setdomainname(const u64 a[6])
{
	return set_name(system_utsname()->domainname, a);
}

long sys_sysinfo(const u64 a[6])
{
	struct sysinfo info = {0};
	u64 loads[3];
	u64 total, free_pages;

	page_stats(&total, &free_pages);
	info.uptime = (long)(clock_ns() / NSEC_PER_SEC);
	info.totalram = total;
	info.freeram = free_pages;
	load_averages(loads, SI_LOAD_SHIFT);
	for (int i = 0; i < 3; i++)
		info.loads[i] = loads[i];
	info.procs = (u16)nr_threads_total();
	info.mem_unit = PAGE_SIZE;
	return copy_to_user((void *)a[0], &info, sizeof(info));
}

/* getrandom(buf, n, flags) */
long sys_getrandom(const u64 a[6])
{
	size_t done = 0, n = a[1];
	u8 bytes[256];

	if ((u32)a[2] & ~(u32)(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE))
		return -EINVAL;
	if ((a[2] & (GRND_INSECURE | GRND_RANDOM)) == (GRND_INSECURE | GRND_RANDOM))
		return -EINVAL;
	n = MIN(n, 0x7fffffffUL);
	while (done < n) {
		size_t part = MIN(n - done, sizeof(bytes));

		sched_let_others_run();
		if (done && signal_pending(current))
			break;
		random_bytes(bytes, part);
		if (copy_to_user((char *)a[0] + done, bytes, part))
			return done ? (long)done : -EFAULT;
		done += part;
	}
	return (long)done;
}

#define EXIT_LEAK 71 /* status of QEMU; a panic has another */

/*
 * The end, when only init is left. What is still in use is told in the log: a
 * test compares it with that of a run that did less. An event that lives on
 * now is a fault of the kernel, and ends QEMU as one.
 */
static void __noreturn power_off(void)
{
	u64 total, free_pages;

	page_stats(&total, &free_pages);
	printk("in use at the end: kmalloc %llu bytes, pages %llu, processes %u, threads %u, "
	       "perf events %u, task events %u, 9p fids %u\n",
	       (unsigned long long)kmalloc_in_use(), (unsigned long long)(total - free_pages),
	       nr_processes(), nr_threads_total(), perf_live_events(), perf_task_events(),
	       p9_fids());
	if (perf_live_events() || perf_task_events())
		machine_die(EXIT_LEAK);
	machine_power_off();
}

/*
 * reboot(magic, magic2, command, arg): there is nothing to boot again, so restarting switches
 * off, too.
 */
long sys_reboot(const u64 a[6])
{
	u32 magic2 = (u32)a[1];

	if (!capable(CAP_SYS_BOOT))
		return -EPERM;
	if ((u32)a[0] != LINUX_REBOOT_MAGIC1 ||
	    (magic2 != LINUX_REBOOT_MAGIC2 && magic2 != LINUX_REBOOT_MAGIC2A &&
	     magic2 != LINUX_REBOOT_MAGIC2B && magic2 != LINUX_REBOOT_MAGIC2C))
		return -EINVAL;
	switch ((u32)a[2]) {
	case LINUX_REBOOT_CMD_CAD_ON:
	case LINUX_REBOOT_CMD_CAD_OFF:
		return 0; /* no keyboard has Ctrl-Alt-Del here */
	case LINUX_REBOOT_CMD_RESTART:
	case LINUX_REBOOT_CMD_RESTART2:
	case LINUX_REBOOT_CMD_HALT:
	case LINUX_REBOOT_CMD_POWER_OFF:
		p9_shutdown();
		virtio_console_drain();
		power_off();
	default:
		return -EINVAL;
	}
}

/* personality(2): only PER_LINUX is there; the flag bits are kept and reported. */
long sys_personality(const u64 a[6])
{
	u32 old = current->personality;

	if ((u32)a[0] != 0xffffffffu) {
		if ((u32)a[0] & 0xff)
			return -EINVAL;
		current->personality = (u32)a[0];
	}
	return old;
}
