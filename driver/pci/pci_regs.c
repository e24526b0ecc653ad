// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Checks the registers of a PCI device. Pure: the caller has read them.
 */
#include "pci/pci_regs.h"

#define STD_BARS 6
#define MAX_LOOK_MS 2000
#define DOORBELL_PAGE 4096 /* of the device interface, not of the host */
#define DM_PAGE_SHIFT 12 /* likewise */

/* Other functions have the same PCI ids; only ours have the magic. */
bool ornic_pci_is_ours(const struct ornic_pci_device_regs *regs)
{
	return le64_to_cpu(regs->magic) == ORNIC_PCI_MAGIC;
}

ORNIC_FOR_KUNIT(ornic_pci_is_ours);

/* Neither zero nor a group. */
static bool is_station(const u8 *mac)
{
	return !(mac[0] & 1) &&
	       (mac[0] | mac[1] | mac[2] | mac[3] | mac[4] | mac[5]);
}

static int set_flaw(struct ornic_pci_flaw *flaw, const char *what, u32 value,
		    int err)
{
	flaw->what = what;
	flaw->value = value;
	return err;
}

/*
 * Check the registers that do not change; @flaw is filled in on failure.
 * Returns -ENODEV without the magic, -EPROTO for another version, -EINVAL for
 * other nonsense.
 */
int ornic_pci_read_info(const struct ornic_pci_device_regs *regs,
			struct ornic_pci_info *info,
			struct ornic_pci_flaw *flaw)
{
	u32 version = le32_to_cpu(regs->version);

	if (!ornic_pci_is_ours(regs))
		return set_flaw(flaw, "magic", le64_to_cpu(regs->magic),
				-ENODEV);
	if (version != ORNIC_HW_VERSION)
		return set_flaw(flaw, "version", version, -EPROTO);

	info->num_msgs = le32_to_cpu(regs->num_msgs);
	info->doorbell_bar = regs->doorbell_bar;
	info->doorbell_offset = le32_to_cpu(regs->doorbell_offset);
	info->doorbell_control = le32_to_cpu(regs->doorbell_control);
	info->doorbell_kick = le32_to_cpu(regs->doorbell_kick);
	info->dm_bar = regs->dm_bar;
	info->dm_page = le32_to_cpu(regs->dm_page);
	info->dm_pages = le32_to_cpu(regs->dm_pages);
	memcpy(info->mac, regs->mac, sizeof(info->mac));

	if (info->num_msgs <= ORNIC_PCI_MSG_COMP ||
	    info->num_msgs > ORNIC_PCI_MAX_MSGS)
		return set_flaw(flaw, "num_msgs", info->num_msgs, -EINVAL);
	if (info->doorbell_bar >= STD_BARS)
		return set_flaw(flaw, "doorbell_bar", info->doorbell_bar,
				-EINVAL);
	if (info->doorbell_offset % sizeof(u32))
		return set_flaw(flaw, "doorbell_offset", info->doorbell_offset,
				-EINVAL);
	if (info->dm_pages && info->dm_bar >= STD_BARS)
		return set_flaw(flaw, "dm_bar", info->dm_bar, -EINVAL);
	if (!is_station(info->mac))
		return set_flaw(flaw, "mac", info->mac[0], -EINVAL);
	return 0;
}

ORNIC_FOR_KUNIT(ornic_pci_read_info);

/* Is nothing of @used, what a device has in its BARs, in @span? */
bool ornic_pci_is_apart(const struct ornic_pci_span *span,
			const struct ornic_pci_span *used, u32 num_used)
{
	u32 i;

	for (i = 0; i < num_used; i++)
		if (used[i].bar == span->bar && used[i].bytes && span->bytes &&
		    used[i].start < span->start + span->bytes &&
		    span->start < used[i].start + used[i].bytes)
			return false;
	return true;
}

ORNIC_FOR_KUNIT(ornic_pci_is_apart);

/*
 * Where in its BAR device memory is, in whole pages of the host, which may be none.
 * Returns -EINVAL if the BAR does not have it.
 */
int ornic_pci_dm_span(const struct ornic_pci_info *info, u64 bar_bytes,
		      u64 page_bytes, struct ornic_pci_span *span)
{
	u64 start = (u64)info->dm_page << DM_PAGE_SHIFT;
	u64 end = start + ((u64)info->dm_pages << DM_PAGE_SHIFT);

	if (end > bar_bytes)
		return -EINVAL;
	start = (start + page_bytes - 1) & ~(page_bytes - 1);
	end &= ~(page_bytes - 1);
	span->bar = info->dm_bar;
	span->start = start;
	span->bytes = end > start ? end - start : 0;
	return 0;
}

ORNIC_FOR_KUNIT(ornic_pci_dm_span);

u64 ornic_pci_dm_start(const struct ornic_pci_info *info,
		       const struct ornic_pci_span *span)
{
	return span->start - ((u64)info->dm_page << DM_PAGE_SHIFT);
}

ORNIC_FOR_KUNIT(ornic_pci_dm_start);

/*
 * May processes map the page of the doorbell? The device grants the 4 KiB
 * around the register. It says nothing about the rest of a larger page, so
 * there the BAR must end. @used is what else it has in its BARs.
 */
bool ornic_pci_may_map(const struct ornic_pci_info *info, u64 bar_bytes,
		       u64 page_bytes, const struct ornic_pci_span *used,
		       u32 num_used)
{
	const struct ornic_pci_span page = {
		.bar = info->doorbell_bar,
		.start = info->doorbell_offset & ~(page_bytes - 1),
		.bytes = page_bytes,
	};

	if (page_bytes > DOORBELL_PAGE && bar_bytes > DOORBELL_PAGE)
		return false;
	return ornic_pci_is_apart(&page, used, num_used);
}

ORNIC_FOR_KUNIT(ornic_pci_may_map);

/*
 * A value to ask for a reset with, new to both sides. The host's register holds
 * @asked, from us or a driver before us; the device's holds @done.
 */
u32 ornic_pci_next_reset(u32 asked, u32 done)
{
	u32 next = done + 1;

	return next == asked ? next + 1 : next;
}

ORNIC_FOR_KUNIT(ornic_pci_next_reset);

/*
 * Milliseconds without a sign of life. A host that did not look for a while may
 * have been paused, and the device of a guest with it, so the time between two
 * looks counts for two seconds at most. One caller at a time.
 */
u64 ornic_pci_pulse_age(struct ornic_pci_pulse *pulse, u32 health, u64 now_ms)
{
	u64 passed_ms = now_ms - pulse->read_ms;

	if (passed_ms > MAX_LOOK_MS)
		passed_ms = MAX_LOOK_MS;
	if (pulse->known && pulse->health == health)
		pulse->age_ms += passed_ms;
	else
		pulse->age_ms = 0;
	pulse->known = true;
	pulse->health = health;
	pulse->read_ms = now_ms;
	return pulse->age_ms;
}

ORNIC_FOR_KUNIT(ornic_pci_pulse_age);
