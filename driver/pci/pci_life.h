/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PCI_LIFE_H
#define ORNIC_PCI_LIFE_H

#include <linux/types.h>

struct ornic_bus;
struct ornic_pci;
struct ornic_pci_device_regs;

/* Before the first device, and after the last. */
int ornic_pci_lives_init(void);
void ornic_pci_lives_exit(void);

void ornic_pci_read_regs(struct ornic_pci *pci,
			 struct ornic_pci_device_regs *regs);
void ornic_pci_life_init(struct ornic_pci *pci);
int ornic_pci_life_start(struct ornic_pci *pci);
void ornic_pci_life_stop(struct ornic_pci *pci);
void ornic_pci_life_resume(struct ornic_pci *pci);
void ornic_pci_shut_down(struct ornic_pci *pci);
void ornic_pci_queue_update(struct ornic_pci *pci);
void ornic_pci_check(struct ornic_pci *pci);
void ornic_pci_fail(struct ornic_pci *pci, const char *why);
void ornic_pci_broken(struct ornic_bus *bus, const char *why);

#endif /* ORNIC_PCI_LIFE_H */
