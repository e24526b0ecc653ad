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

/**
 * struct ornic_pci_cmds - the command rings
 * @lock: protects @slots and @dead; taken in interrupts
 * @room: one for each slot
 * @slots: rings and commands in flight
 * @answered: completed with the response of a slot, or when @dead is set
 * @dead: nothing goes out or is taken in
 * @requests_dma: DMA address of the ring
 * @responses_dma: DMA address of the ring
 */
struct ornic_pci_cmds {
	spinlock_t lock; /* rings */
	struct semaphore room;
	struct ornic_pci_slots slots;
	struct completion answered[ORNIC_PCI_NUM_SLOTS];
	bool dead;
	dma_addr_t requests_dma;
	dma_addr_t responses_dma;
};

/**
 * struct ornic_pci_eq - a message and its event queue
 * @pci: device
 * @msg: message
 * @live: the device may have an EQ; written with the interrupt quiet
 * @turn: who reads @ring: the interrupt handler or its thread
 * @ring: read by one at a time
 * @mem: of the ring
 * @dma: DMA address of @mem
 * @name: of the interrupt
 */
struct ornic_pci_eq {
	struct ornic_pci *pci;
	u32 msg;
	bool live;
	u32 turn;
	struct ornic_pci_eq_ring ring;
	void *mem;
	dma_addr_t dma;
	char name[40];
};

/* Bits of ornic_pci.flags */
enum {
	ORNIC_PCI_DEAD, /* failed; everything has to begin anew */
	ORNIC_PCI_STOPPING, /* nothing may begin any more */
	ORNIC_PCI_LOST, /* removed, or another device: it does not come back */
	ORNIC_PCI_NETDEV_GONE, /* @netdev wants to be let go */
};

/**
 * struct ornic_pci - a PCI device
 * @bus: as the driver knows it
 * @pdev: as the kernel knows it
 * @flags: bits above
 * @regs: registers that the device writes
 * @host: registers that we write
 * @doorbell: the doorbell register
 * @info: what does not change
 * @doorbell_page: reserves what the BAR leaves of the doorbell's page
 * @cmds: command rings
 * @eqs: message n and its EQ
 * @num_eqs: how many
 * @is_cuttable: a clear bus-master bit ends the DMA of the function
 * @lock: makes failing, and coming back, one step
 * @quiesced: the device touches no memory: it never did since the last reset, or
 *	was stopped, or nothing can stop it and @bus.writes_on is set
 * @quiesce: stops the DMA of a device that has failed, whatever @update waits for
 * @up: reset, with rings and EQs; of who runs @update
 * @registered: there is an ib_device; of who runs @update
 * @said_waiting: the log says so already; of who runs @update
 * @up_since: jiffies when @up was set
 * @delay_ms: from the next failure to the attempt to begin anew
 * @retry_at: jiffies of that
 * @return_by: jiffies until which a device without registers is asleep; later it
 *	is gone
 * @pulse: of the health register; of @watch
 * @watch: looks at the registers every second
 * @update: brings it up and down
 * @netdev_tracker: of @bus.netdev, which is written with the RTNL by who runs
 *	@update
 * @netdev_nb: sees netdevs come and go
 */
struct ornic_pci {
	struct ornic_bus bus;
	struct pci_dev *pdev;
	unsigned long flags;
	struct ornic_pci_device_regs __iomem *regs;
	struct ornic_pci_host_regs __iomem *host;
	u32 __iomem *doorbell;
	struct ornic_pci_info info;
	struct resource doorbell_page;
	struct ornic_pci_cmds cmds;
	struct ornic_pci_eq *eqs;
	u32 num_eqs;
	bool is_cuttable;
	spinlock_t lock; /* ORNIC_PCI_DEAD, cmds.dead, re-arming @quiesced */
	struct completion quiesced;
	struct work_struct quiesce;
	bool up;
	bool registered;
	bool said_waiting;
	unsigned long up_since;
	int delay_ms;
	unsigned long retry_at;
	unsigned long return_by;
	struct ornic_pci_pulse pulse;
	struct delayed_work watch;
	struct work_struct update;
	netdevice_tracker netdev_tracker;
	struct notifier_block netdev_nb;
};

static inline struct ornic_pci *to_ornic_pci(struct ornic_bus *bus)
{
	return container_of(bus, struct ornic_pci, bus);
}

/* A register of the host with a DMA address, as the words that it is made of. */
static inline void ornic_pci_write_addr(__le64 __iomem *reg, u64 addr)
{
	iowrite32(lower_32_bits(addr), reg);
	iowrite32(upper_32_bits(addr), (void __iomem *)reg + sizeof(u32));
}

/* Tell the device to look at its registers, the command ring, full EQs. */
static inline void ornic_pci_ring_control(struct ornic_pci *pci)
{
	iowrite32(pci->info.doorbell_control, pci->doorbell);
}

#endif /* ORNIC_PCI_DEV_H */
