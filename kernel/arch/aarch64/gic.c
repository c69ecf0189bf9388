/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GICv3 (IHI 0069): distributor, one redistributor for each CPU, and the CPU
 * interface in system registers. All interrupts are in group 1, of one
 * priority, and SPIs go to the boot CPU, or to the one that has the turn (turn.h).
 */
#include "arch/aarch64/boot.h"
#include "arch/aarch64/smp.h"
#include "arch/aarch64/sysreg.h"
#include "arch/aarch64/trap.h"
#include "dev/dev.h"

#define GICD_CTLR	0x0000
#define GICD_TYPER	0x0004
#define GICD_IGROUPR	0x0080
#define GICD_ISENABLER	0x0100
#define GICD_ICENABLER	0x0180
#define GICD_IPRIORITYR 0x0400
#define GICD_IROUTER	0x6000
#define CTLR_GRP1	BIT(1)
#define CTLR_ARE	BIT(4)
#define CTLR_RWP	BIT(31)

#define GICR_TYPER     0x0008
#define GICR_WAKER     0x0014
#define GICR_SGI_FRAME 0x10000
#define GICR_STRIDE    0x20000
#define TYPER_LAST     BIT(4)
#define WAKER_SLEEP    BIT(1)
#define WAKER_ASLEEP   BIT(2)

/* CPU interface registers, by encoding: the assembler wants a GICv3 CPU for the names. */
#define ICC_PMR		 s3_0_c4_c6_0
#define ICC_IAR1	 s3_0_c12_c12_0
#define ICC_EOIR1	 s3_0_c12_c12_1
#define ICC_BPR1	 s3_0_c12_c12_3
#define ICC_CTLR	 s3_0_c12_c12_4
#define ICC_SRE		 s3_0_c12_c12_5
#define ICC_IGRPEN1	 s3_0_c12_c12_7
#define ICC_SGI1R	 s3_0_c12_c11_5
#define read_icc(r)	 read_icc_(r)
#define read_icc_(r)	 read_sysreg(r)
#define write_icc(r, v)	 write_icc_(r, v)
#define write_icc_(r, v) write_sysreg(r, v)

#define FIRST_SPI 32
#define NR_INTIDS 1020
#define PRIORITY  0xa0

static volatile char *gicd, *gicr_region;
static volatile char *gicr[MAX_CPUS]; /* SGI frame of each CPU's redistributor */
static u64 mpidr[MAX_CPUS];
static u32 ppis_everywhere;

/* The SPIs that are enabled. */
static u16 spis[64];
static unsigned nr_spis;

static struct {
	irq_handler_t fn;
	void *arg;
} handlers[NR_INTIDS];

static void dist_wait(void)
{
	while (mmio_read32(gicd + GICD_CTLR) & CTLR_RWP)
		cpu_relax();
}

static void dist_init(void)
{
	unsigned n = 32 * ((mmio_read32(gicd + GICD_TYPER) & 31) + 1);

	n = MIN(n, (unsigned)NR_INTIDS);
	mmio_write32(gicd + GICD_CTLR, 0);
	dist_wait();
	for (unsigned i = FIRST_SPI; i < n; i += 32) {
		mmio_write32(gicd + GICD_ICENABLER + i / 8, ~0u);
		mmio_write32(gicd + GICD_IGROUPR + i / 8, ~0u);
	}
	for (unsigned i = FIRST_SPI; i < n; i += 4)
		mmio_write32(gicd + GICD_IPRIORITYR + i, PRIORITY * 0x01010101u);
	mmio_write32(gicd + GICD_CTLR, CTLR_ARE | CTLR_GRP1);
	dist_wait();
	for (unsigned i = FIRST_SPI; i < n; i++)
		*(volatile u64 *)(gicd + GICD_IROUTER + 8 * i) = mpidr[0];
}

/* The redistributor whose affinity is this CPU's. */
static volatile char *redist_find(u64 affinity)
{
	u32 want = (u32)((affinity & 0xffffff) | ((affinity >> 32) & 0xff) << 24);

	for (volatile char *r = gicr_region;; r += GICR_STRIDE) {
		u64 typer = *(volatile u64 *)(r + GICR_TYPER);

		if ((u32)(typer >> 32) == want)
			return r;
		if (typer & TYPER_LAST)
			panic("no redistributor for CPU %llx", (unsigned long long)affinity);
	}
}

void gic_cpu_init(void)
{
	unsigned cpu = cpu_id();
	volatile char *r, *sgi;

	mpidr[cpu] = read_sysreg(mpidr_el1) & MPIDR_AFF_MASK;
	r = redist_find(mpidr[cpu]);
	sgi = r + GICR_SGI_FRAME;
	mmio_write32(r + GICR_WAKER, mmio_read32(r + GICR_WAKER) & ~WAKER_SLEEP);
	while (mmio_read32(r + GICR_WAKER) & WAKER_ASLEEP)
		cpu_relax();
	mmio_write32(sgi + GICD_ICENABLER, 0xffff0000);
	mmio_write32(sgi + GICD_IGROUPR, ~0u);
	for (unsigned i = 0; i < FIRST_SPI; i += 4)
		mmio_write32(sgi + GICD_IPRIORITYR + i, PRIORITY * 0x01010101u);
	mmio_write32(sgi + GICD_ISENABLER, 0xffff | ppis_everywhere);
	gicr[cpu] = sgi;

	write_icc(ICC_SRE, read_icc(ICC_SRE) | 1);
	isb();
	write_icc(ICC_PMR, 0xff);
	write_icc(ICC_BPR1, 0);
	write_icc(ICC_CTLR, 0);
	write_icc(ICC_IGRPEN1, 1);
	isb();
}

void arch_irq_init(void)
{
	struct fdt_dev dist, redist;

	if (!fdt_find("arm,gic-v3", 0, 0, &dist) || !fdt_find("arm,gic-v3", 0, 1, &redist))
		panic("no GICv3 in the device tree (-M virt,gic-version=3)");
	gicd = ioremap(dist.base, dist.size);
	gicr_region = ioremap(redist.base, redist.size);
	mpidr[0] = read_sysreg(mpidr_el1) & MPIDR_AFF_MASK;
	dist_init();
	gic_cpu_init();
}

void irq_register(unsigned intid, irq_handler_t fn, void *arg)
{
	ASSERT(intid < NR_INTIDS && !handlers[intid].fn);
	handlers[intid].arg = arg;
	handlers[intid].fn = fn;
}

void irq_enable_line(unsigned intid)
{
	volatile char *frame = intid < FIRST_SPI ? gicr[cpu_id()] : gicd;

	mmio_write32(frame + GICD_ISENABLER + intid / 32 * 4, (u32)BIT(intid % 32));
	if (intid < FIRST_SPI)
		return;
	ASSERT(nr_spis < ARRAY_SIZE(spis));
	spis[nr_spis++] = (u16)intid;
}

void irq_route_devices(unsigned cpu)
{
	for (unsigned i = 0; i < nr_spis; i++)
		*(volatile u64 *)(gicd + GICD_IROUTER + 8 * spis[i]) = mpidr[cpu];
}

void irq_enable_ppi_all(unsigned intid)
{
	ASSERT(intid >= 16 && intid < FIRST_SPI);
	ppis_everywhere |= (u32)BIT(intid);
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		if (gicr[cpu])
			mmio_write32(gicr[cpu] + GICD_ISENABLER, (u32)BIT(intid));
}

void gic_send_sgi(unsigned cpu, unsigned sgi)
{
	u64 m = mpidr[cpu];
	u64 v = BIT(m & 15) | (u64)sgi << 24; /* target list within Aff3.Aff2.Aff1 */

	v |= ((m >> 8) & 0xff) << 16 | ((m >> 16) & 0xff) << 32 | ((m >> 32) & 0xff) << 48;
	v |= ((m >> 4) & 15) << 44; /* range selector: Aff0 / 16 */
	dsb(ishst);		    /* what the interrupt is about, before it */
	write_icc(ICC_SGI1R, v);
	isb();
}

void gic_handle(struct pt_regs *regs)
{
	for (;;) {
		unsigned intid = (unsigned)read_icc(ICC_IAR1) & 0xffffff;

		if (intid >= NR_INTIDS) /* 1023: nothing (more) pending */
			return;
		dsb(sy);
		if (likely(handlers[intid].fn))
			handlers[intid].fn(intid, regs, handlers[intid].arg);
		else
			printk("interrupt %u without a handler\n", intid);
		write_icc(ICC_EOIR1, intid);
		isb();
	}
}
