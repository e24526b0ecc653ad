// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * MSI-X messages and their event queues: one of each for commands and
 * asynchronous events, and one for each completion vector.
 *
 * Interrupts exist as long as the device is bound, EQs from reset to reset. The
 * interrupt delivers events, at most one ring full; its thread delivers what is
 * left. The message is not masked meanwhile, and with threaded interrupts both
 * run as threads. So a ring has an owner: a handler that finds it owned leaves
 * its events to the owner.
 */
#include "pci/pci_eq.h"

#include <linux/cpumask.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "pci/pci_cmd.h"
#include "pci/pci_dev.h"
#include "pci/pci_life.h"

#define LOG_DEPTH 8 /* a page */
#define MEM_BYTES (ORNIC_RING_OFFSET + (sizeof(struct ornic_eqe) << LOG_DEPTH))

static void eq_deliver(struct ornic_pci_eq *eq, const struct ornic_eqe *eqe)
{
	struct ornic_pci *pci = eq->pci;

	if (!ornic_pci_eqe_fits(eqe, eq->msg)) {
		dev_warn_ratelimited(&pci->pdev->dev,
				     "event queue %u: unexpected type %u\n",
				     eq->msg, eqe->type);
		return;
	}
	if (eqe->type == ORNIC_EVENT_DEVICE_FATAL)
		ornic_pci_fail(pci, "reported a fatal error");
	else
		ornic_event(&pci->bus, eqe);
}

/* Called by the owner. Returns true after one ring full: there may be more. */
static bool eq_drain(struct ornic_pci_eq *eq)
{
	u32 left = 1u << LOG_DEPTH;
	struct ornic_eqe eqe;
	u32 before;

	/* Pairs with eq_start(). */
	if (!smp_load_acquire(&eq->live))
		return false;
	for (;;) {
		before = eq->ring.consumer;
		while (left && ornic_pci_eq_ring_take(&eq->ring, &eqe)) {
			eq_deliver(eq, &eqe);
			left--;
		}
		if (eq->ring.consumer == before)
			return false;
		if (ornic_pci_eq_ring_give(&eq->ring))
			ornic_pci_ring_control(eq->pci);
		if (!left)
			return true;
	}
}

static irqreturn_t on_message(int irq, void *data)
{
	struct ornic_pci_eq *eq = data;

	if (eq->msg == ORNIC_PCI_MSG_CONTROL) {
		ornic_pci_cmds_poll(eq->pci);
		ornic_pci_check(eq->pci);
	}
	if (!ornic_pci_eq_turn_begin(&eq->turn))
		return IRQ_HANDLED;
	/* The thread inherits the turn. */
	if (eq_drain(eq) || !ornic_pci_eq_turn_end(&eq->turn))
		return IRQ_WAKE_THREAD;
	return IRQ_HANDLED;
}

static irqreturn_t on_flood(int irq, void *data)
{
	struct ornic_pci_eq *eq = data;

	do {
		while (eq_drain(eq))
			cond_resched();
	} while (!ornic_pci_eq_turn_end(&eq->turn));
	return IRQ_HANDLED;
}

/* Spread vectors over the CPUs, those near the device first. */
static unsigned int cpu_of(struct ornic_pci *pci, u32 msg)
{
	u32 vector = msg == ORNIC_PCI_MSG_CONTROL ? 0 :
						    msg - ORNIC_PCI_MSG_COMP;

	return cpumask_local_spread(vector, dev_to_node(&pci->pdev->dev));
}

static int eq_alloc(struct ornic_pci *pci, u32 msg)
{
	struct ornic_pci_eq *eq = &pci->eqs[msg];
	int irq = pci_irq_vector(pci->pdev, msg);
	struct device *dev = &pci->pdev->dev;
	int ret;

	eq->pci = pci;
	eq->msg = msg;
	eq->mem = dma_alloc_coherent(dev, MEM_BYTES, &eq->dma, GFP_KERNEL);
	if (!eq->mem)
		return -ENOMEM;
	if (msg == ORNIC_PCI_MSG_CONTROL)
		snprintf(eq->name, sizeof(eq->name), "ornic-control@%s",
			 pci_name(pci->pdev));
	else
		snprintf(eq->name, sizeof(eq->name), "ornic-comp%u@%s",
			 msg - ORNIC_PCI_MSG_COMP, pci_name(pci->pdev));
	ret = request_threaded_irq(irq, on_message, on_flood, 0, eq->name, eq);
	if (ret)
		goto err_free;
	irq_set_affinity_and_hint(irq, cpumask_of(cpu_of(pci, msg)));
	return 0;

err_free:
	dma_free_coherent(dev, MEM_BYTES, eq->mem, eq->dma);
	return ret;
}

static void eq_free(struct ornic_pci_eq *eq)
{
	struct pci_dev *pdev = eq->pci->pdev;
	int irq = pci_irq_vector(pdev, eq->msg);

	irq_set_affinity_and_hint(irq, NULL);
	free_irq(irq, eq);
	/* A device that cannot be stopped keeps it. */
	if (!eq->pci->bus.writes_on)
		dma_free_coherent(&pdev->dev, MEM_BYTES, eq->mem, eq->dma);
}

/* Allocate messages and memory. Returns -ENOSPC for less than two messages. */
int ornic_pci_eqs_alloc(struct ornic_pci *pci)
{
	u32 want = min3(pci->info.num_msgs, num_online_cpus() + 1u,
			(u32)U8_MAX + 1);
	int got, ret;
	u32 msg;

	got = pci_alloc_irq_vectors(pci->pdev, ORNIC_PCI_MSG_COMP + 1, want,
				    PCI_IRQ_MSIX);
	if (got < 0)
		return got;
	pci->eqs = kcalloc(got, sizeof(*pci->eqs), GFP_KERNEL);
	if (!pci->eqs) {
		ret = -ENOMEM;
		goto err_free_vectors;
	}
	for (msg = 0; msg < got; msg++) {
		ret = eq_alloc(pci, msg);
		if (ret)
			goto err_free_eqs;
	}
	pci->num_eqs = got;
	pci->bus.num_vectors = got - ORNIC_PCI_MSG_COMP;
	return 0;

err_free_eqs:
	while (msg--)
		eq_free(&pci->eqs[msg]);
	kfree(pci->eqs);
err_free_vectors:
	pci_free_irq_vectors(pci->pdev);
	return ret;
}

void ornic_pci_eqs_free(struct ornic_pci *pci)
{
	u32 msg = pci->num_eqs;

	while (msg--)
		eq_free(&pci->eqs[msg]);
	kfree(pci->eqs);
	pci_free_irq_vectors(pci->pdev);
}

static int eq_start(struct ornic_pci *pci, struct ornic_pci_eq *eq)
{
	union ornic_req req = {};
	struct ornic_req_create_eq *create = (void *)&req;
	union ornic_rsp rsp;
	int ret;

	static_assert(sizeof(*create) == sizeof(req));
	create->hdr.opcode = ORNIC_CMD_CREATE_EQ;
	create->mem.addr = cpu_to_le64(eq->dma);
	create->mem.npages = cpu_to_le32(MEM_BYTES >> ORNIC_PAGE_SHIFT);
	create->mem.page_shift = ORNIC_PAGE_SHIFT;
	create->log_depth = LOG_DEPTH;
	create->msg = cpu_to_le16(eq->msg);

	ornic_pci_eq_ring_init(&eq->ring, eq->mem, LOG_DEPTH);
	/* A handler that sees live sees the ring. */
	smp_store_release(&eq->live, true);
	ret = ornic_pci_cmd(&pci->bus, &req, &rsp, false);
	if (ret)
		return ret;
	if (rsp.hdr.status) {
		dev_err(&pci->pdev->dev,
			"CREATE_EQ for message %u failed: status %u\n", eq->msg,
			rsp.hdr.status);
		return -EIO;
	}
	return 0;
}

/*
 * Create the EQs after a reset, when the command rings are there. On failure
 * some may exist.
 */
int ornic_pci_eqs_start(struct ornic_pci *pci)
{
	u32 msg;
	int ret;

	for (msg = 0; msg < pci->num_eqs; msg++) {
		ret = eq_start(pci, &pci->eqs[msg]);
		if (ret)
			return ret;
	}
	return 0;
}

/* On return no handler reads an EQ. */
void ornic_pci_eqs_stop(struct ornic_pci *pci)
{
	u32 msg;

	for (msg = 0; msg < pci->num_eqs; msg++) {
		WRITE_ONCE(pci->eqs[msg].live, false);
		synchronize_irq(pci_irq_vector(pci->pdev, msg));
	}
}
