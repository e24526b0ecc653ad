/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PCI_CMD_H
#define ORNIC_PCI_CMD_H

#include <rdma/ornic-hw.h>

struct ornic_bus;
struct ornic_pci;

int ornic_pci_cmds_alloc(struct ornic_pci *pci);
void ornic_pci_cmds_free(struct ornic_pci *pci);
void ornic_pci_cmds_start(struct ornic_pci *pci);
void ornic_pci_cmds_abort(struct ornic_pci *pci);
void ornic_pci_cmds_poll(struct ornic_pci *pci);
int ornic_pci_cmd(struct ornic_bus *bus, const union ornic_req *req,
		  union ornic_rsp *rsp, bool first);

#endif /* ORNIC_PCI_CMD_H */
