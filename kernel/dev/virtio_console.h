/* SPDX-License-Identifier: BSD-2-Clause */
/* What the rest of the kernel needs of the virtio console. */
#ifndef TALLY_DEV_VIRTIO_CONSOLE_H
#define TALLY_DEV_VIRTIO_CONSOLE_H

#include "lib/kernel.h"

/*
 * Before the power goes: waits until the host has taken what was written to
 * the ports. Process context.
 */
void virtio_console_drain(void);

/* How often something has come from the host, over all ports. */
u64 virtio_console_words(void);

#endif
