/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Start-up: from the first C code on the boot CPU to PID 1.
 * start.S has turned on the MMU with the direct map and passes the device
 * tree's physical address.
 */
#include "arch/aarch64/boot.h"
#include "dev/dev.h"
#include "fs/p9.h"
#include "fs/vfs.h"
#include "mm/page.h"
#include "perf_port.h"
#include "proc/task.h"
#include "proc/work.h"
#include "sys/sysrq.h"
#include "trace/trace.h"

static void load_root(void)
{
	paddr_t start, end;

	if (!fdt_initrd(&start, &end))
		panic("no root image: QEMU was started without -initrd");
	if (cpio_populate(phys_to_virt(start), end - start))
		panic("the root image is damaged");
}

void kernel_main(paddr_t dtb)
{
	arch_cpufeature_init();
	arch_clock_init();
	fdt_init(dtb);
	psci_init();
	arch_map_init();
	uart_init();
	arch_memory_init();
	mm_activate(NULL);
	arch_irq_init();
	sched_init_cpu(0);
	arch_timer_init();
	big_lock(); /* from here on we are an ordinary task of the kernel */
	irq_enable();
	work_init();
	vfs_init();
	load_root();
	devfs_init();
	procfs_init();
	sysrq_init();
	sysfs_init();
	tracefs_init();
	mem_devices_init();
	fw_cfg_init();
	tty_init();
	virtio_console_init();
	p9_init();
	arch_smp_init(); /* the other CPUs come up */
	perf_port_init();
	start_init();
	big_unlock();
	sched_idle_loop();
}
