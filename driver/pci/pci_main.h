/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PCI_MAIN_H
#define ORNIC_PCI_MAIN_H

int ornic_pci_register(void);
void ornic_pci_unregister(void);

#endif /* ORNIC_PCI_MAIN_H */
