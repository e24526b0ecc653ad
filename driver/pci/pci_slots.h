/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PCI_SLOTS_H
#define ORNIC_PCI_SLOTS_H

#include "ornic_pure.h"

#include <rdma/ornic-hw-pci.h>

#define ORNIC_PCI_NUM_SLOTS (1u << ORNIC_PCI_MAX_LOG_CMDS)

/**
 * struct ornic_pci_slot - a command in flight
 * @state: who has it
 * @opcode: of the request
 * @id: of the request: the number of the slot, and how often it was used
 * @rsp: the response, once there
 */
struct ornic_pci_slot {
	enum {
		ORNIC_PCI_SLOT_FREE,
		ORNIC_PCI_SLOT_SENT,
		ORNIC_PCI_SLOT_ANSWERED,
	} state;
	u8 opcode;
	u16 id;
	union ornic_rsp rsp;
};

/**
 * struct ornic_pci_slots - the host's end of both command rings
 * @requests: ring that the host writes
 * @responses: ring that the device writes
 * @producer: requests written, free running
 * @consumer: responses taken, free running
 * @slots: commands in flight
 */
struct ornic_pci_slots {
	union ornic_req *requests;
	union ornic_rsp *responses;
	u32 producer;
	u32 consumer;
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
