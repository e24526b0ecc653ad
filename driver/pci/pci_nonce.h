/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PCI_NONCE_H
#define ORNIC_PCI_NONCE_H

struct ornic_pci;

int ornic_pci_reset_with_nonce(struct ornic_pci *pci,
			       int (*reset)(struct ornic_pci *pci));

#endif /* ORNIC_PCI_NONCE_H */
