// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Random bits in memory and in the registers, by which the device checks that
 * our DMA addresses lead to our memory.
 */
#include "pci/pci_nonce.h"

#include <linux/dma-mapping.h>
#include <linux/random.h>

#include "pci/pci_dev.h"

static void write_regs(struct ornic_pci *pci, dma_addr_t dma, const u32 *nonce)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(pci->host->nonce); i++)
		iowrite32(nonce[i], &pci->host->nonce[i]);
	ornic_pci_write_addr(&pci->host->nonce_addr, dma);
}

/*
 * Reset a device that may access memory. If it finds another value than the
 * nonce at the address, it has failed afterwards.
 */
int ornic_pci_reset_with_nonce(struct ornic_pci *pci,
			       int (*reset)(struct ornic_pci *pci))
{
	u32 nonce[ARRAY_SIZE(pci->host->nonce)];
	struct device *dev = &pci->pdev->dev;
	dma_addr_t dma;
	__le32 *copy;
	int ret;
	u32 i;

	copy = dma_alloc_coherent(dev, PAGE_SIZE, &dma, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	get_random_bytes(nonce, sizeof(nonce));
	for (i = 0; i < ARRAY_SIZE(nonce); i++)
		copy[i] = cpu_to_le32(nonce[i]);
	write_regs(pci, dma, nonce);
	ret = reset(pci);
	ornic_pci_write_addr(&pci->host->nonce_addr, 0);
	dma_free_coherent(dev, PAGE_SIZE, copy, dma);
	return ret;
}
