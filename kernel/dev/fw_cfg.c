/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QEMU's firmware configuration device (QEMU, docs/specs/fw_cfg): named items
 * that the host hands to the guest, shown as Linux's qemu_fw_cfg driver shows
 * them: /sys/firmware/qemu_fw_cfg/by_name/NAME/raw and by_key/KEY/...
 *
 * Items are read by DMA when somebody reads the file. Every field of the
 * device is big-endian. Calls: process context, big lock held.
 */
#include "dev/dev.h"
#include "fs/pseudo.h"
#include "mm/page.h"
#include <linux/qemu_fw_cfg.h>

#define REG_DATA     0u
#define REG_SELECTOR 8u
#define REG_DMA	     16u
#define MAX_ITEMS    256u
#define SYSFS_DIR    "firmware/qemu_fw_cfg"

static volatile u8 *regs;

static u32 be32(u32 v)
{
	return __builtin_bswap32(v);
}

/* Reads n bytes of an item from offset on. The device does it all inside the register write. */
static int fw_cfg_read(u16 key, void *buf, size_t n, size_t off)
{
	/* the device reads and writes these by physical address: memory of our own, not the stack's */
	static struct fw_cfg_dma_access op __aligned(16);
	static u8 bounce[512] __aligned(16);
	u32 select = (u32)key << 16 | FW_CFG_DMA_CTL_SELECT;
	struct {
		u32 control, length;
	} step[2] = { { select | FW_CFG_DMA_CTL_SKIP, (u32)off },
		      { FW_CFG_DMA_CTL_READ, (u32)n } };

	if (n > sizeof(bounce))
		return -EINVAL;
	for (unsigned i = 0; i < 2; i++) {
		u64 pa = virt_to_phys(&op);

		op.control = be32(step[i].control);
		op.length = be32(step[i].length);
		op.address = __builtin_bswap64(virt_to_phys(bounce));
		__asm__ volatile("dmb sy" ::: "memory");
		*(volatile u32 *)(regs + REG_DMA) = be32((u32)(pa >> 32));
		*(volatile u32 *)(regs + REG_DMA + 4) = be32((u32)pa);
		__asm__ volatile("dmb sy" ::: "memory");
		while (READ_ONCE(op.control) & ~be32(FW_CFG_DMA_CTL_ERROR))
			;
		if (READ_ONCE(op.control))
			return -EIO;
	}
	memcpy(buf, bounce, n);
	return 0;
}

static int item_read(const struct pseudo_blob *b, void *buf, size_t n, size_t off)
{
	return fw_cfg_read((u16)b->arg, buf, n, off);
}

static int show_number(struct seq *s, void *arg)
{
	seq_printf(s, "%lu\n", (unsigned long)arg);
	return 0;
}

static int show_name(struct seq *s, void *arg)
{
	seq_printf(s, "%s\n", (const char *)arg);
	return 0;
}

static int show_rev(struct seq *s, void *arg)
{
	u32 id;
	int err = fw_cfg_read(FW_CFG_ID, &id, sizeof(id), 0);

	(void)arg;
	if (!err)
		seq_printf(s, "%u\n", id);
	return err;
}

static int add_item(const struct fw_cfg_file *item)
{
	u16 key = __builtin_bswap16(item->select);
	struct pseudo_blob blob = { .size = be32(item->size), .mode = 0400, .read = item_read, .arg = key };
	char path[sizeof(SYSFS_DIR) + FW_CFG_MAX_FILE_PATH + 32];
	char target[32], up[FW_CFG_MAX_FILE_PATH * 3 + 32];
	char *name = kstrdup(item->name);
	size_t len = 0;
	int err;

	if (!name)
		return -ENOMEM;
	snprintf(path, sizeof(path), SYSFS_DIR "/by_key/%u/raw", key);
	err = sysfs_add_lazy(path, &blob);
	if (err)
		return err;
	snprintf(path, sizeof(path), SYSFS_DIR "/by_key/%u", key);
	sysfs_add(path, &(struct pseudo_file){ .name = "size", .mode = 0400, .show = show_number,
					       .arg = (void *)(unsigned long)blob.size });
	sysfs_add(path, &(struct pseudo_file){ .name = "key", .mode = 0400, .show = show_number,
					       .arg = (void *)(unsigned long)key });
	sysfs_add(path, &(struct pseudo_file){ .name = "name", .mode = 0400, .show = show_name,
					       .arg = name });
	/* by_name/a/b/c -> ../../../by_key/N */
	for (const char *c = item->name; *c; c++)
		if (*c == '/' && len + 4 < sizeof(up) - sizeof(target))
			len += (size_t)snprintf(up + len, sizeof(up) - len, "../");
	snprintf(up + len, sizeof(up) - len, "../by_key/%u", key);
	snprintf(path, sizeof(path), SYSFS_DIR "/by_name/%s", item->name);
	return sysfs_symlink(path, up);
}

static bool device_present(void)
{
	struct fdt_dev dev;
	u32 id;

	if (!fdt_find("qemu,fw-cfg-mmio", 0, 0, &dev))
		return false;
	regs = ioremap(dev.base, dev.size);
	*(volatile u16 *)(regs + REG_SELECTOR) = __builtin_bswap16(FW_CFG_ID);
	id = 0;
	for (unsigned i = 0; i < 4; i++)
		id |= (u32)regs[REG_DATA] << (8 * i);
	return id & FW_CFG_VERSION_DMA;
}

void fw_cfg_init(void)
{
	struct fw_cfg_file item;
	u32 count;

	if (!device_present()) {
		printk("fw_cfg: no such device: nothing comes from the host by it\n");
		return;
	}
	if (fw_cfg_read(FW_CFG_FILE_DIR, &count, sizeof(count), 0))
		return;
	count = MIN(be32(count), MAX_ITEMS);
	for (u32 i = 0; i < count; i++) {
		if (fw_cfg_read(FW_CFG_FILE_DIR, &item, sizeof(item),
				sizeof(count) + i * sizeof(item)))
			break;
		item.name[sizeof(item.name) - 1] = '\0';
		if (add_item(&item))
			printk("fw_cfg: item %s cannot be shown\n", item.name);
	}
	sysfs_add(SYSFS_DIR, &(struct pseudo_file){ .name = "rev", .mode = 0400, .show = show_rev });
}
