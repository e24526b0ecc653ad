/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_PCI_DEV_H
#define ORNIC_PCI_DEV_H

#include <linux/completion.h>
#include <linux/ioport.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "ornic_bus.h"
#include "pci/pci_eq_ring.h"
#include "pci/pci_regs.h"
#include "pci/pci_slots.h"

struct ornic_pci;

/* The command rings. */
struct ornic_pci_cmds {
	spinlock_t lock; /* protects slots and dead; taken in interrupts */
	struct semaphore room; /* one for each slot but that of the first */
	struct ornic_pci_slots slots; /* rings and commands in flight */
	/* Completed with the response of a slot, or when dead is set */
	struct completion done[ORNIC_PCI_NUM_SLOTS];
	bool dead; /* nothing is sent or received */
	dma_addr_t requests_dma;
	dma_addr_t responses_dma;
};

/* A message and its event queue. */
struct ornic_pci_eq {
	struct ornic_pci *pci;
	u32 msg;
	/* The device may have an EQ; written with the interrupt disabled */
	bool live;
	u32 turn; /* of ring: the interrupt handler or its thread reads it */
	struct ornic_pci_eq_ring ring; /* read by one at a time */
	void *mem; /* of the ring */
	dma_addr_t dma;
	char name[40]; /* of the interrupt */
};

/* Bits of ornic_pci.flags */
enum {
	ORNIC_PCI_DEAD, /* failed; needs a reset */
	ORNIC_PCI_STOPPING, /* on its way down; do not reset */
	ORNIC_PCI_LOST, /* removed, or another device: it does not come back */
	ORNIC_PCI_NETDEV_GONE, /* bus.netdev is being unregistered */
};

struct ornic_pci {
	struct ornic_bus bus;
	struct pci_dev *pdev;
	unsigned long flags; /* bits above */

	/* Written by probe */
	struct ornic_pci_device_regs __iomem *regs; /* the device writes */
	struct ornic_pci_host_regs __iomem *host; /* we write */
	u32 __iomem *doorbell;
	struct ornic_pci_info info; /* registers that do not change */
	struct resource doorbell_page; /* reserves the rest of its page */
	bool is_cuttable; /* clearing the bus-master bit ends its DMA */

	struct ornic_pci_cmds cmds;
	struct ornic_pci_eq *eqs; /* one for each message */
	u32 num_eqs;

	spinlock_t lock; /* makes failing, and coming back, atomic */
	/*
	 * Interrupts, netdev events and quiesce queue update and watch only
	 * under the lock and while these are set. What was queued before they
	 * were cleared, cancel_work_sync() finds afterwards, also where the
	 * work item queues itself, and nothing is queued after that.
	 */
	bool may_update;
	bool may_watch;
	/*
	 * The device accesses no memory: not since the last reset, or it was
	 * stopped, or nothing can stop it and bus.writes_on is set
	 */
	struct completion quiesced;
	/* Stops its DMA after a failure, while update may be waiting */
	struct work_struct quiesce;

	/* Written by update, or probe and remove while may_update is clear */
	struct work_struct update; /* brings the device up and down */
	bool up; /* reset, with rings and EQs */
	bool registered; /* there is an ib_device */
	bool logged_waiting; /* "waits for a netdev" was logged */
	unsigned long up_since; /* jiffies when up was set */
	int delay_ms; /* from the next failure to the next attempt */
	unsigned long retry_at; /* jiffies of that attempt */
	unsigned long return_by; /* jiffies: lost if not back by then */
	netdevice_tracker netdev_tracker; /* of bus.netdev; RTNL */

	/* Written by watch */
	struct delayed_work watch; /* reads the registers every second */
	struct ornic_pci_pulse pulse; /* of the health register */

	struct notifier_block netdev_nb;
};

static inline struct ornic_pci *to_ornic_pci(struct ornic_bus *bus)
{
	return container_of(bus, struct ornic_pci, bus);
}

/* A DMA address in a host register, as two words. */
static inline void ornic_pci_write_addr(__le64 __iomem *reg, u64 addr)
{
	iowrite32(lower_32_bits(addr), reg);
	iowrite32(upper_32_bits(addr), (void __iomem *)reg + sizeof(u32));
}

/* The device reads its registers, the command ring and full EQs. */
static inline void ornic_pci_ring_control(struct ornic_pci *pci)
{
	iowrite32(pci->info.doorbell_control, pci->doorbell);
}

#endif /* ORNIC_PCI_DEV_H */
