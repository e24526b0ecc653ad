/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PCI_REGS_H
#define ORNIC_PCI_REGS_H

#include "ornic_pure.h"

#include <rdma/ornic-hw-pci.h>

/**
 * struct ornic_pci_info - what the registers of a device say, checked
 * @num_msgs: MSI-X messages that it sends
 * @doorbell_bar: BAR of the doorbell register
 * @doorbell_offset: bytes from the start of that BAR
 * @doorbell_control: value that makes the device look at commands
 * @doorbell_kick: value that makes it look at queues
 * @mac: Ethernet address
 */
struct ornic_pci_info {
	u32 num_msgs;
	u32 doorbell_bar;
	u32 doorbell_offset;
	u32 doorbell_control;
	u32 doorbell_kick;
	u8 mac[6];
};

/**
 * struct ornic_pci_flaw - what is wrong with the registers
 * @what: name of the register
 * @value: what it says
 */
struct ornic_pci_flaw {
	const char *what;
	u32 value;
};

/**
 * struct ornic_pci_pulse - whether a device is alive
 * @health: the register, at the last look
 * @looked_ms: when that was
 * @age_ms: how long it has not changed
 * @known: false before the first look
 */
struct ornic_pci_pulse {
	u32 health;
	u64 looked_ms;
	u64 age_ms;
	bool known;
};

/**
 * struct ornic_pci_span - bytes of a BAR that have a use of their own
 * @bar: BAR
 * @start: first byte in it
 * @bytes: how many; 0: none
 */
struct ornic_pci_span {
	u32 bar;
	u64 start;
	u64 bytes;
};

bool ornic_pci_is_ours(const struct ornic_pci_device_regs *regs);
int ornic_pci_read_info(const struct ornic_pci_device_regs *regs,
			struct ornic_pci_info *info,
			struct ornic_pci_flaw *flaw);
bool ornic_pci_may_map(const struct ornic_pci_info *info, u64 bar_bytes,
		       u64 page_bytes, const struct ornic_pci_span *used,
		       u32 num_used);
u32 ornic_pci_next_reset(u32 asked, u32 done);
u64 ornic_pci_pulse_age(struct ornic_pci_pulse *pulse, u32 health, u64 now_ms);

#endif /* ORNIC_PCI_REGS_H */
