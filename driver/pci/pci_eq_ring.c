// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reading an event queue. Pure: the caller has the memory, the interrupt and
 * the doorbell, and serialises the calls.
 *
 * The device may write anything at any time. An EQE is copied once; its index
 * comes from our own counter, and its object is looked up elsewhere.
 */
#include "pci/pci_eq_ring.h"

#include "ornic_wqe.h"

/* @mem is a page and the ring, zeroed here, which the device does not have. */
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

/* Take the next event; one caller at a time. */
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

/*
 * Report to the device what was taken, once the ring was found empty; read it
 * again afterwards. Returns true if the device waits for room and needs a
 * doorbell. One caller at a time.
 */
bool ornic_pci_eq_ring_give(struct ornic_pci_eq_ring *eq)
{
	__le32 consumer = cpu_to_le32(eq->consumer);

	/* The slots may be written again once the device sees this. */
	virt_store_release(&eq->record->consumer, consumer);
	/*
	 * Pairs with the device's barrier between its store of an EQE and its
	 * load of consumer: it sees that all before it is taken and sends the
	 * message, or our next read finds it. The same for kick_wanted.
	 */
	dma_mb();
	return READ_ONCE(eq->record->kick_wanted);
}

ORNIC_FOR_KUNIT(ornic_pci_eq_ring_give);

/*
 * Completion events come by the message of their vector, all others by the
 * control message.
 */
bool ornic_pci_eqe_fits(const struct ornic_eqe *eqe, u32 msg)
{
	if (eqe->type > ORNIC_EVENT_PKEY_CHANGE)
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

/*
 * Become the reader of a ring. If there is one, false: it reads the ring once
 * more before it ends its turn.
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

/*
 * The ring was found empty: stop being its reader. False if a message came
 * meanwhile: the caller is still the reader and reads again.
 */
bool ornic_pci_eq_turn_end(u32 *turn)
{
	if (cmpxchg(turn, TURN_TAKEN, TURN_FREE) == TURN_TAKEN)
		return true;
	/* Only the reader leaves this state; it reads the ring after this. */
	xchg(turn, TURN_TAKEN);
	return false;
}

ORNIC_FOR_KUNIT(ornic_pci_eq_turn_end);
