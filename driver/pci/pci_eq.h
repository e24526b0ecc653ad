/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PCI_EQ_H
#define ORNIC_PCI_EQ_H

struct ornic_pci;

int ornic_pci_eqs_alloc(struct ornic_pci *pci);
void ornic_pci_eqs_free(struct ornic_pci *pci);
int ornic_pci_eqs_start(struct ornic_pci *pci);
void ornic_pci_eqs_stop(struct ornic_pci *pci);

#endif /* ORNIC_PCI_EQ_H */
