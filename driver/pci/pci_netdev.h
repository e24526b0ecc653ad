/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PCI_NETDEV_H
#define ORNIC_PCI_NETDEV_H

struct ornic_pci;

int ornic_pci_netdev_init(struct ornic_pci *pci);
void ornic_pci_netdev_exit(struct ornic_pci *pci);
int ornic_pci_pair(struct ornic_pci *pci);
void ornic_pci_unpair(struct ornic_pci *pci);

#endif /* ORNIC_PCI_NETDEV_H */
