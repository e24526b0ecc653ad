// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands in flight: requests are sent in the order of their ring, responses
 * come in any order. Pure: the caller has the lock, the doorbell and the
 * waiters.
 *
 * Numbers from the device are only looked up. A response is copied once, into a
 * slot that waits for just this id and opcode: one that is late, forged or
 * repeated finds no such slot.
 */
#include "pci/pci_slots.h"

#include "ornic_wqe.h"

#define SLOT_MASK (ORNIC_PCI_NUM_SLOTS - 1)

/* The rings are zeroed here; the device does not have them. */
void ornic_pci_slots_init(struct ornic_pci_slots *slots,
			  union ornic_req *requests, union ornic_rsp *responses)
{
	u32 i;

	slots->requests = requests;
	slots->responses = responses;
	slots->producer = 0;
	slots->consumer = 0;
	for (i = 0; i < ORNIC_PCI_NUM_SLOTS; i++) {
		slots->slots[i].state = ORNIC_PCI_SLOT_FREE;
		slots->slots[i].id = i;
	}
	memset(responses, 0, ORNIC_PCI_NUM_SLOTS * sizeof(*responses));
}

ORNIC_FOR_KUNIT(ornic_pci_slots_init);

/*
 * Write a request with an id of ours; the caller then passes the new producer
 * to the device, after a write barrier. Returns its slot, or -EBUSY if all are
 * in use.
 */
int ornic_pci_slots_send(struct ornic_pci_slots *slots,
			 const union ornic_req *req)
{
	union ornic_req *to = &slots->requests[slots->producer & SLOT_MASK];
	struct ornic_pci_slot *slot;
	u32 i;

	for (i = 0; i < ORNIC_PCI_NUM_SLOTS; i++)
		if (slots->slots[i].state == ORNIC_PCI_SLOT_FREE)
			break;
	if (i == ORNIC_PCI_NUM_SLOTS)
		return -EBUSY;

	slot = &slots->slots[i];
	slot->state = ORNIC_PCI_SLOT_SENT;
	slot->opcode = req->hdr.opcode;
	slot->id += ORNIC_PCI_NUM_SLOTS;
	*to = *req;
	to->hdr.id = cpu_to_le16(slot->id);
	slots->producer++;
	return i;
}

ORNIC_FOR_KUNIT(ornic_pci_slots_send);

/* The opcode, status and id of a response are in its first word. */
static u8 word_opcode(u32 word)
{
	return word;
}

static u8 word_status(u32 word)
{
	return word >> 8;
}

static u16 word_id(u32 word)
{
	return word >> 16;
}

static bool is_new(const struct ornic_pci_slots *slots, u32 word)
{
	return ornic_phase_is_new(word_status(word) & ORNIC_PCI_RSP_PHASE,
				  slots->consumer, ORNIC_PCI_MAX_LOG_CMDS);
}

/*
 * Take the next response. Returns the slot of its command; -EAGAIN if there is
 * none yet; -EBADMSG if no such command was sent, so the device is broken.
 */
int ornic_pci_slots_take(struct ornic_pci_slots *slots)
{
	union ornic_rsp *from = &slots->responses[slots->consumer & SLOT_MASK];
	struct ornic_pci_slot *slot;
	u32 word;

	word = le32_to_cpu(READ_ONCE(*(__le32 *)from));
	if (!is_new(slots, word))
		return -EAGAIN;
	slots->consumer++;
	slot = &slots->slots[word_id(word) & SLOT_MASK];
	if (slot->state != ORNIC_PCI_SLOT_SENT || slot->id != word_id(word) ||
	    slot->opcode != word_opcode(word))
		return -EBADMSG;

	/* Pairs with the device's release of the word: the rest is there. */
	dma_rmb();
	slot->rsp = *from;
	slot->rsp.hdr.opcode = word_opcode(word);
	slot->rsp.hdr.status = word_status(word) & ~ORNIC_PCI_RSP_PHASE;
	slot->rsp.hdr.id = cpu_to_le16(word_id(word));
	slot->state = ORNIC_PCI_SLOT_DONE;
	return slot - slots->slots;
}

ORNIC_FOR_KUNIT(ornic_pci_slots_take);

/* Copy the response out of a slot and free it. False if there is none. */
bool ornic_pci_slots_finish(struct ornic_pci_slots *slots, u32 slot,
			    union ornic_rsp *rsp)
{
	struct ornic_pci_slot *s = &slots->slots[slot & SLOT_MASK];
	bool has_rsp = s->state == ORNIC_PCI_SLOT_DONE;

	if (has_rsp)
		*rsp = s->rsp;
	s->state = ORNIC_PCI_SLOT_FREE;
	return has_rsp;
}

ORNIC_FOR_KUNIT(ornic_pci_slots_finish);
