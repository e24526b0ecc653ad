// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reading an event queue. Pure: the caller has the memory, the interrupt and
 * the doorbell, and is alone.
 *
 * The device may write anything at any time. An EQE is copied once; its place
 * comes from our own counter, and what it names is looked up elsewhere.
 */
#include "pci/pci_eq_ring.h"

#include "ornic_wqe.h"

/**
 * ornic_pci_eq_ring_init - begin with an empty ring
 * @eq: filled in
 * @mem: a page and the ring; zeroed here
 * @log_depth: log2 of the EQEs
 *
 * Context: any, when the device has no such EQ.
 */
void ornic_pci_eq_ring_init(struct ornic_pci_eq_ring *eq, void *mem,
			    u8 log_depth)
{
	eq->record = mem;
	eq->ring = (void *)((u8 *)mem + ORNIC_RING_OFFSET);
	eq->consumer = 0;
	eq->log_depth = log_depth;
	memset(mem, 0,
	       ORNIC_RING_OFFSET + (sizeof(struct ornic_eqe) << log_depth));
}

ORNIC_FOR_KUNIT(ornic_pci_eq_ring_init);

/**
 * ornic_pci_eq_ring_take - take the next event
 * @eq: queue
 * @eqe: filled in
 *
 * Context: any; one caller at a time.
 * Return: whether there was one.
 */
bool ornic_pci_eq_ring_take(struct ornic_pci_eq_ring *eq, struct ornic_eqe *eqe)
{
	u32 slot = eq->consumer & ((1u << eq->log_depth) - 1);
	struct ornic_eqe *from = &eq->ring[slot];

	if (!ornic_cqe_is_new(READ_ONCE(from->flags), eq->consumer,
			      eq->log_depth))
		return false;
	/* Pairs with the device's release of the phase: the rest is there. */
	dma_rmb();
	*eqe = *from;
	eq->consumer++;
	return true;
}

ORNIC_FOR_KUNIT(ornic_pci_eq_ring_take);

/**
 * ornic_pci_eq_ring_give - tell the device what was taken
 * @eq: queue, looked at until it was empty; look again afterwards
 *
 * Context: any; one caller at a time.
 * Return: whether the device waits for room and wants to be told.
 */
bool ornic_pci_eq_ring_give(struct ornic_pci_eq_ring *eq)
{
	__le32 consumer = cpu_to_le32(eq->consumer);

	/* The slots may be written again once the device sees this. */
	virt_store_release(&eq->record->consumer, consumer);
	/*
	 * Pairs with the device's between an EQE and its look at consumer: it
	 * sees that all before it is taken and sends the message, or our next
	 * look finds it. The same for kick_wanted.
	 */
	dma_mb();
	return READ_ONCE(eq->record->kick_wanted);
}

ORNIC_FOR_KUNIT(ornic_pci_eq_ring_give);

/**
 * ornic_pci_eqe_fits - may this event come by this message?
 * @eqe: the event
 * @msg: message of the EQ that it was in
 *
 * Context: any.
 * Return: whether it is a completion event of a vector, or something else of
 * the control message.
 */
bool ornic_pci_eqe_fits(const struct ornic_eqe *eqe, u32 msg)
{
	if (eqe->type > ORNIC_EVENT_SRQ_ERR)
		return false;
	return (eqe->type == ORNIC_EVENT_COMP) ==
	       (msg != ORNIC_PCI_MSG_CONTROL);
}

ORNIC_FOR_KUNIT(ornic_pci_eqe_fits);

/* States of a turn. */
enum {
	TURN_FREE,
	TURN_TAKEN,
	TURN_AGAIN, /* taken, and a message came meanwhile */
};

/**
 * ornic_pci_eq_turn_begin - become the reader of a ring
 * @turn: of the ring; zeroed at first
 *
 * Context: any.
 * Return: whether the caller is the reader now. If not, the reader looks at the
 * ring once more before it ends its turn.
 */
bool ornic_pci_eq_turn_begin(u32 *turn)
{
	u32 old = READ_ONCE(*turn);

	for (;;) {
		u32 new = old == TURN_FREE ? TURN_TAKEN : TURN_AGAIN;
		u32 seen = cmpxchg(turn, old, new);

		if (seen == old)
			return old == TURN_FREE;
		old = seen;
	}
}

ORNIC_FOR_KUNIT(ornic_pci_eq_turn_begin);

/**
 * ornic_pci_eq_turn_end - stop being the reader, if there is nothing to read
 * @turn: of the ring, which the caller has found empty
 *
 * Context: any.
 * Return: false if a message came meanwhile: the caller is still the reader and
 * looks at the ring again.
 */
bool ornic_pci_eq_turn_end(u32 *turn)
{
	if (cmpxchg(turn, TURN_TAKEN, TURN_FREE) == TURN_TAKEN)
		return true;
	/* Only the reader leaves this state; it looks at the ring after this. */
	xchg(turn, TURN_TAKEN);
	return false;
}

ORNIC_FOR_KUNIT(ornic_pci_eq_turn_end);
