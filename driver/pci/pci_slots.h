/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PCI_SLOTS_H
#define ORNIC_PCI_SLOTS_H

#include "ornic_pure.h"

#include <rdma/ornic-hw-pci.h>

#define ORNIC_PCI_NUM_SLOTS (1u << ORNIC_PCI_MAX_LOG_CMDS)

/* A command in flight. */
struct ornic_pci_slot {
	enum {
		ORNIC_PCI_SLOT_FREE,
		ORNIC_PCI_SLOT_SENT,
		ORNIC_PCI_SLOT_DONE,
	} state;
	u8 opcode; /* of the request */
	/* Of the request: number of the slot, and a count of its uses */
	u16 id;
	union ornic_rsp rsp; /* valid in ORNIC_PCI_SLOT_DONE */
};

/* The host's end of both command rings. */
struct ornic_pci_slots {
	union ornic_req *requests; /* written by the host */
	union ornic_rsp *responses; /* written by the device */
	u32 producer; /* requests written, free running */
	u32 consumer; /* responses taken, free running */
	struct ornic_pci_slot slots[ORNIC_PCI_NUM_SLOTS];
};

void ornic_pci_slots_init(struct ornic_pci_slots *slots,
			  union ornic_req *requests,
			  union ornic_rsp *responses);
int ornic_pci_slots_send(struct ornic_pci_slots *slots,
			 const union ornic_req *req);
int ornic_pci_slots_take(struct ornic_pci_slots *slots);
bool ornic_pci_slots_finish(struct ornic_pci_slots *slots, u32 slot,
			    union ornic_rsp *rsp);

#endif /* ORNIC_PCI_SLOTS_H */
