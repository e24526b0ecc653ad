/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PCI_REGS_H
#define ORNIC_PCI_REGS_H

#include "ornic_pure.h"

#include <rdma/ornic-hw-pci.h>

/* The registers of a device, checked. */
struct ornic_pci_info {
	u32 num_msgs; /* MSI-X messages that it sends */
	u32 doorbell_bar; /* BAR of the doorbell register */
	u32 doorbell_offset; /* bytes from the start of that BAR */
	u32 doorbell_control; /* value for commands and EQs */
	u32 doorbell_kick; /* value for send queues */
	u32 dm_bar; /* BAR of device memory */
	u32 dm_page; /* where it begins there, in pages of 4096 bytes */
	u32 dm_pages; /* its size in those, 0: none */
	u8 mac[6];
};

/* The register that is wrong. */
struct ornic_pci_flaw {
	const char *what; /* its name */
	u32 value;
};

/* The health register, whose changes show that a device works. */
struct ornic_pci_pulse {
	u32 health; /* value at the last look */
	u64 read_ms; /* when that was */
	u64 age_ms; /* time without a change */
	bool known; /* false before the first look */
};

/* Bytes of a BAR that are in use. */
struct ornic_pci_span {
	u32 bar;
	u64 start; /* first byte in it */
	u64 bytes; /* how many; 0: none */
};

bool ornic_pci_is_ours(const struct ornic_pci_device_regs *regs);
int ornic_pci_read_info(const struct ornic_pci_device_regs *regs,
			struct ornic_pci_info *info,
			struct ornic_pci_flaw *flaw);
bool ornic_pci_may_map(const struct ornic_pci_info *info, u64 bar_bytes,
		       u64 page_bytes, const struct ornic_pci_span *used,
		       u32 num_used);
int ornic_pci_dm_span(const struct ornic_pci_info *info, u64 bar_bytes,
		      u64 page_bytes, struct ornic_pci_span *span);
/* Address of the first byte of @span, from the former, as keys of the device have it. */
u64 ornic_pci_dm_start(const struct ornic_pci_info *info,
		       const struct ornic_pci_span *span);
bool ornic_pci_is_apart(const struct ornic_pci_span *span,
			const struct ornic_pci_span *used, u32 num_used);
u32 ornic_pci_next_reset(u32 asked, u32 done);
u64 ornic_pci_pulse_age(struct ornic_pci_pulse *pulse, u32 health, u64 now_ms);

#endif /* ORNIC_PCI_REGS_H */
