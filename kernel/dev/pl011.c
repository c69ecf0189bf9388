/* SPDX-License-Identifier: BSD-2-Clause */
/* PL011 serial port (DDI 0183): the kernel log, by polling, transmit only. */
#include "dev/dev.h"

#define UART_DR 0x00
#define UART_FR 0x18
#define FR_TXFF BIT(5)

static volatile char *uart;

void uart_init(void)
{
	struct fdt_dev dev;

	if (fdt_find("arm,pl011", 0, 0, &dev))
		uart = ioremap(dev.base, dev.size);
	printk_start();
}

/* QEMU's port is on after reset; its speed does not matter. */
void uart_putc(char c)
{
	if (!uart)
		return;
	while (mmio_read32(uart + UART_FR) & FR_TXFF)
		;
	mmio_write32(uart + UART_DR, (u8)c);
}
