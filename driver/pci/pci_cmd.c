// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands over PCI. A caller waits for a slot, writes the request, rings the
 * doorbell and sleeps; the interrupt of message 0 takes responses.
 *
 * A command without a response fails the device, as does a response without a
 * command: the state of the device is unknown then. No response is taken until
 * the next reset, and commands fail as soon as the DMA of the device has
 * stopped.
 */
#include "pci/pci_cmd.h"

#include <linux/dma-mapping.h>

#include "pci/pci_dev.h"
#include "pci/pci_life.h"

#define ANSWER_LIMIT_S 15
#define RING_BYTES (ORNIC_PCI_NUM_SLOTS * sizeof(union ornic_req))

static_assert(sizeof(union ornic_req) == sizeof(union ornic_rsp));

static void *ring_alloc(struct device *dev, dma_addr_t *dma)
{
	return dma_alloc_coherent(dev, RING_BYTES, dma, GFP_KERNEL);
}

/* Allocate the rings. */
int ornic_pci_cmds_alloc(struct ornic_pci *pci)
{
	struct ornic_pci_cmds *cmds = &pci->cmds;
	struct device *dev = &pci->pdev->dev;
	int i;

	spin_lock_init(&cmds->lock);
	sema_init(&cmds->room, ORNIC_PCI_NUM_SLOTS - 1);
	for (i = 0; i < ORNIC_PCI_NUM_SLOTS; i++)
		init_completion(&cmds->done[i]);
	cmds->dead = true;

	cmds->slots.requests = ring_alloc(dev, &cmds->requests_dma);
	if (!cmds->slots.requests)
		return -ENOMEM;
	cmds->slots.responses = ring_alloc(dev, &cmds->responses_dma);
	if (!cmds->slots.responses)
		goto err_free_requests;
	return 0;

err_free_requests:
	dma_free_coherent(dev, RING_BYTES, cmds->slots.requests,
			  cmds->requests_dma);
	return -ENOMEM;
}

/*
 * Free the rings, after interrupts are off. A device that cannot be stopped
 * keeps them.
 */
void ornic_pci_cmds_free(struct ornic_pci *pci)
{
	struct ornic_pci_cmds *cmds = &pci->cmds;
	struct device *dev = &pci->pdev->dev;

	if (pci->bus.writes_on)
		return;
	dma_free_coherent(dev, RING_BYTES, cmds->slots.responses,
			  cmds->responses_dma);
	dma_free_coherent(dev, RING_BYTES, cmds->slots.requests,
			  cmds->requests_dma);
}

/* Give the rings to the device after a reset. No command is in flight. */
void ornic_pci_cmds_start(struct ornic_pci *pci)
{
	struct ornic_pci_cmds *cmds = &pci->cmds;
	unsigned long flags;

	spin_lock_irqsave(&cmds->lock, flags);
	ornic_pci_slots_init(&cmds->slots, cmds->slots.requests,
			     cmds->slots.responses);
	iowrite32(ORNIC_PCI_MAX_LOG_CMDS, &pci->host->cmd_log_depth);
	ornic_pci_write_addr(&pci->host->cmd_ring, cmds->requests_dma);
	ornic_pci_write_addr(&pci->host->rsp_ring, cmds->responses_dma);
	cmds->dead = false;
	spin_unlock_irqrestore(&cmds->lock, flags);
}

/* Fail all commands, from now on. */
void ornic_pci_cmds_abort(struct ornic_pci *pci)
{
	struct ornic_pci_cmds *cmds = &pci->cmds;
	unsigned long flags;
	int i;

	spin_lock_irqsave(&cmds->lock, flags);
	cmds->dead = true;
	for (i = 0; i < ORNIC_PCI_NUM_SLOTS; i++)
		if (cmds->slots.slots[i].state == ORNIC_PCI_SLOT_SENT)
			complete(&cmds->done[i]);
	spin_unlock_irqrestore(&cmds->lock, flags);
}

/*
 * Take responses, in any context: at most one ring full, whatever the device
 * writes.
 */
void ornic_pci_cmds_poll(struct ornic_pci *pci)
{
	struct ornic_pci_cmds *cmds = &pci->cmds;
	unsigned long flags;
	int left, slot = 0;

	spin_lock_irqsave(&cmds->lock, flags);
	for (left = ORNIC_PCI_NUM_SLOTS; left && !cmds->dead; left--) {
		slot = ornic_pci_slots_take(&cmds->slots);
		if (slot < 0)
			break;
		complete(&cmds->done[slot]);
	}
	spin_unlock_irqrestore(&cmds->lock, flags);
	if (slot == -EBADMSG)
		ornic_pci_fail(pci, "sent a response without a command");
}

/* Returns the slot, or -EIO. */
static int send_cmd(struct ornic_pci *pci, const union ornic_req *req)
{
	struct ornic_pci_cmds *cmds = &pci->cmds;
	unsigned long flags;
	int slot = -EIO;

	spin_lock_irqsave(&cmds->lock, flags);
	if (!cmds->dead)
		slot = ornic_pci_slots_send(&cmds->slots, req);
	if (slot >= 0) {
		reinit_completion(&cmds->done[slot]);
		/* The request before the producer; iowrite32() orders both. */
		iowrite32(cmds->slots.producer, &pci->host->cmd_producer);
		ornic_pci_ring_control(pci);
	}
	spin_unlock_irqrestore(&cmds->lock, flags);
	return slot;
}

/* Polls each second, in case an interrupt was lost. */
static bool wait_for_cmd(struct ornic_pci *pci, int slot)
{
	int left;

	for (left = ANSWER_LIMIT_S; left; left--) {
		if (wait_for_completion_timeout(&pci->cmds.done[slot], HZ))
			return true;
		ornic_pci_cmds_poll(pci);
	}
	return try_wait_for_completion(&pci->cmds.done[slot]);
}

static bool finish_cmd(struct ornic_pci *pci, int slot, union ornic_rsp *rsp)
{
	struct ornic_pci_cmds *cmds = &pci->cmds;
	unsigned long flags;
	bool done;

	spin_lock_irqsave(&cmds->lock, flags);
	done = ornic_pci_slots_finish(&cmds->slots, slot, rsp);
	spin_unlock_irqrestore(&cmds->lock, flags);
	return done;
}

/*
 * ornic_bus_ops.cmd. Waits for other commands, for the time limit, and until a
 * device that failed has been reset.
 */
int ornic_pci_cmd(struct ornic_bus *bus, const union ornic_req *req,
		  union ornic_rsp *rsp, bool first)
{
	struct ornic_pci *pci = to_ornic_pci(bus);
	bool in_time;
	int slot, ret = 0;

	if (!first)
		down(&pci->cmds.room);
	slot = send_cmd(pci, req);
	if (slot < 0) {
		ret = -EIO;
		goto out_up;
	}
	in_time = wait_for_cmd(pci, slot);
	if (!in_time)
		ornic_pci_fail(pci, "did not respond to a command");
	if (!finish_cmd(pci, slot, rsp))
		ret = in_time ? -EIO : -ETIMEDOUT;
out_up:
	if (!first)
		up(&pci->cmds.room);
	if (!ret)
		rsp->hdr.id = req->hdr.id;
	else /* The caller frees the memory that the device has. */
		wait_for_completion(&pci->quiesced);
	return ret;
}
