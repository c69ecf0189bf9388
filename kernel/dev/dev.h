/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices: what is found in the device tree at boot, and the start-up call of
 * each driver. Drivers panic only when the machine cannot run without them.
 */
#ifndef TALLY_DEV_DEV_H
#define TALLY_DEV_DEV_H

#include "lib/kernel.h"

struct file_ops;

/* fdt.c, on libfdt. `fdt_init` runs first, on the direct map. */
void fdt_init(paddr_t dtb);
const void *fdt_blob(void);
/* The n-th node compatible with `compat`: its reg entry `index` and interrupt number (INTID, or -1). False: no such node. */
struct fdt_dev {
	paddr_t base;
	u64 size;
	int intid;
	int node; /* libfdt offset */
};
bool fdt_find(const char *compat, unsigned n, unsigned index, struct fdt_dev *out);
void fdt_memory(void (*fn)(paddr_t start, u64 size)); /* each bank */
bool fdt_initrd(paddr_t *start, paddr_t *end);
const char *fdt_bootargs(void);
/* Is the word (`name`) or `name=value` on the command line? *value set behind '=' (to end of word). */
bool bootarg(const char *name, char *value, size_t size);
u64 fdt_cpu_mpidr(unsigned i); /* ~0ULL: no such CPU */
unsigned fdt_cpu_count(void);

/* MMIO is mapped with device memory type at this address. */
volatile void *ioremap(paddr_t pa, u64 size);
static inline u32 mmio_read32(const volatile void *p)
{
	return *(const volatile u32 *)p;
}
static inline void mmio_write32(volatile void *p, u32 v)
{
	*(volatile u32 *)p = v;
}

/* pl011.c: the kernel log. Any context, polling. */
void uart_init(void);
void uart_putc(char c);

void fw_cfg_init(void);	     /* items -> /sys/firmware/qemu_fw_cfg/by_name/.../raw */
void virtio_console_init(void); /* the five channels: /dev/hvc0 (tty), /dev/vport0p1..4 */
void mem_devices_init(void); /* null zero full random urandom kmsg console */
void tty_init(void);	     /* /dev/tty, /dev/ptmx, /dev/pts */

extern const struct file_ops kmsg_ops, console_ops; /* kmsg.c */

/* Random bytes: deterministic unless the device tree had a seed (rng-seed). Any context. */
void random_bytes(void *buf, size_t n);

/* devfs.c, besides devfs_add() of fs/vfs.h. Names are relative to /dev. 0 or -errno. */
void devfs_remove(const char *name);
void devfs_set_owner(const char *name, uid_t uid);
int devfs_mkdir(const char *name, mode_t mode);
int devfs_symlink(const char *name, const char *target);

#endif
