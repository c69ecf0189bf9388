/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device tree, read in place with libfdt. Understands as much of the
 * binding as QEMU's virt uses: address cells and size cells of the parent,
 * interrupts of the GICv3 (three cells), no translation by `ranges`.
 *
 * Boot only, because libfdt is compiled for user mode and may use FP/SIMD
 * registers; what is asked for later is found at boot.
 */
#include "arch/aarch64/sysreg.h"
#include "dev/dev.h"
#include "mm/page.h"
#include <libfdt.h>

static const void *fdt;
static const char *bootargs = "";
static unsigned nr_cpu_nodes;

const void *fdt_blob(void)
{
	return fdt;
}

static u64 read_cells(const fdt32_t **p, int cells)
{
	u64 v = 0;

	while (cells-- > 0)
		v = v << 32 | fdt32_to_cpu(*(*p)++);
	return v;
}

/* Entry `index` of a node's reg. */
static bool node_reg(int node, unsigned index, u64 *base, u64 *size)
{
	int parent = fdt_parent_offset(fdt, node), len;
	int ac = fdt_address_cells(fdt, parent), sc = fdt_size_cells(fdt, parent);
	const fdt32_t *reg = fdt_getprop(fdt, node, "reg", &len);

	if (!reg || ac < 0 || sc < 0 || len < (int)(index + 1) * (ac + sc) * 4)
		return false;
	reg += (int)index * (ac + sc);
	*base = read_cells(&reg, ac);
	*size = read_cells(&reg, sc);
	return true;
}

/* The first interrupt: type (0 = SPI, 1 = PPI), number, trigger. */
static int node_intid(int node)
{
	int len;
	const fdt32_t *p = fdt_getprop(fdt, node, "interrupts", &len);

	if (!p || len < 12)
		return -1;
	switch (fdt32_to_cpu(p[0])) {
	case 0:
		return 32 + (int)fdt32_to_cpu(p[1]);
	case 1:
		return 16 + (int)fdt32_to_cpu(p[1]);
	default:
		return -1;
	}
}

bool fdt_find(const char *compat, unsigned n, unsigned index, struct fdt_dev *out)
{
	int node = -1;

	do {
		node = fdt_node_offset_by_compatible(fdt, node, compat);
		if (node < 0)
			return false;
	} while (n-- > 0);
	*out = (struct fdt_dev){.node = node, .intid = node_intid(node)};
	return node_reg(node, index, &out->base, &out->size) ||
	       !fdt_getprop(fdt, node, "reg", NULL);
}

static bool node_is(int node, const char *type)
{
	const char *p = fdt_getprop(fdt, node, "device_type", NULL);

	return p && !strcmp(p, type);
}

void fdt_memory(void (*fn)(paddr_t start, u64 size))
{
	int node;

	fdt_for_each_subnode(node, fdt, 0)
	{
		u64 base, size;

		if (!node_is(node, "memory"))
			continue;
		for (unsigned i = 0; node_reg(node, i, &base, &size); i++)
			fn(base, size);
	}
}

static bool chosen_address(const char *name, u64 *out)
{
	int node = fdt_path_offset(fdt, "/chosen"), len;
	const fdt32_t *p = node < 0 ? NULL : fdt_getprop(fdt, node, name, &len);

	if (!p || (len != 4 && len != 8))
		return false;
	*out = read_cells(&p, len / 4);
	return true;
}

bool fdt_initrd(paddr_t *start, paddr_t *end)
{
	return chosen_address("linux,initrd-start", start) &&
	       chosen_address("linux,initrd-end", end) && *start < *end;
}

const char *fdt_bootargs(void)
{
	return bootargs;
}

bool bootarg(const char *name, char *value, size_t size)
{
	size_t n = strlen(name);
	const char *p = fdt_bootargs();

	while (*p) {
		const char *end = p;

		while (*end && *end != ' ')
			end++;
		if (!strncmp(p, name, n) && (p + n == end || p[n] == '=')) {
			size_t len = p + n == end ? 0 : (size_t)(end - p) - n - 1;

			if (value && size) {
				len = MIN(len, size - 1);
				memcpy(value, end - len, len);
				value[len] = '\0';
			}
			return true;
		}
		p = *end ? end + 1 : end;
	}
	return false;
}

/* The node of the i-th CPU, or a negative number. */
static int cpu_node(unsigned i)
{
	int cpus = fdt_path_offset(fdt, "/cpus"), node;

	if (cpus < 0)
		return cpus;
	fdt_for_each_subnode(node, fdt, cpus)
	{
		if (node_is(node, "cpu") && i-- == 0)
			return node;
	}
	return -1;
}

u64 fdt_cpu_mpidr(unsigned i)
{
	int node = cpu_node(i);
	u64 mpidr, size;

	return node >= 0 && node_reg(node, 0, &mpidr, &size) ? mpidr : ~0ULL;
}

unsigned fdt_cpu_count(void)
{
	return nr_cpu_nodes;
}

static void find_bootargs(void)
{
	int node = fdt_path_offset(fdt, "/chosen");
	const char *args = node < 0 ? NULL : fdt_getprop(fdt, node, "bootargs", NULL);

	if (args)
		bootargs = args;
}

void fdt_init(paddr_t dtb)
{
	fdt = phys_to_virt(dtb);
	if (!dtb || fdt_check_header(fdt))
		panic("no device tree: the kernel has to be started as an Image by QEMU -kernel");
	find_bootargs();
	while (cpu_node(nr_cpu_nodes) >= 0)
		nr_cpu_nodes++;
}
