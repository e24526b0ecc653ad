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
		ORNIC_PCI_SLOT_ANSWERED,
	} state; /* who has it */
	u8 opcode; /* of the request */
	/* Of the request: the number of the slot, and how often it was used */
	u16 id;
	union ornic_rsp rsp; /* the response, once there */
};

/* The host's end of both command rings. */
struct ornic_pci_slots {
	union ornic_req *requests; /* ring that the host writes */
	union ornic_rsp *responses; /* ring that the device writes */
	u32 producer; /* requests written, free running */
	u32 consumer; /* responses taken, free running */
	/* Commands in flight */
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
