/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PCI_EQ_RING_H
#define ORNIC_PCI_EQ_RING_H

#include "ornic_pure.h"

#include <rdma/ornic-hw-pci.h>

/* The host's end of an event queue. */
struct ornic_pci_eq_ring {
	struct ornic_eq_record *record; /* shared with the device */
	struct ornic_eqe *ring; /* written by the device */
	u32 consumer; /* EQEs taken, free running */
	u8 log_depth; /* log2 of the EQEs */
};

void ornic_pci_eq_ring_init(struct ornic_pci_eq_ring *eq, void *mem,
			    u8 log_depth);
bool ornic_pci_eq_ring_take(struct ornic_pci_eq_ring *eq,
			    struct ornic_eqe *eqe);
bool ornic_pci_eq_ring_give(struct ornic_pci_eq_ring *eq);
bool ornic_pci_eqe_fits(const struct ornic_eqe *eqe, u32 msg);
bool ornic_pci_eq_turn_begin(u32 *turn);
bool ornic_pci_eq_turn_end(u32 *turn);

#endif /* ORNIC_PCI_EQ_RING_H */
