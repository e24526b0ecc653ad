/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PCI_NETDEV_H
#define ORNIC_PCI_NETDEV_H

#include <linux/types.h>

struct ornic_bus;
struct ornic_pci;

int ornic_pci_netdev_init(struct ornic_pci *pci);
void ornic_pci_netdev_exit(struct ornic_pci *pci);
int ornic_pci_pair(struct ornic_pci *pci);
void ornic_pci_unpair(struct ornic_pci *pci);
int ornic_pci_join(struct ornic_bus *bus, const u8 *mgid);
void ornic_pci_leave(struct ornic_bus *bus, const u8 *mgid);

#endif /* ORNIC_PCI_NETDEV_H */
