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
 * Above 4 GiB QEMU's machines pc and virt have the same layout, so a guest of virt
 * puts the nonce below, where they differ.
 */
static __le32 *alloc_copy(struct ornic_pci *pci, dma_addr_t *dma)
{
	struct device *dev = &pci->pdev->dev;
	__le32 *copy;

	if (pci->is_cuttable || IS_ENABLED(CONFIG_X86))
		return dma_alloc_coherent(dev, PAGE_SIZE, dma, GFP_KERNEL);
	if (dma_set_coherent_mask(dev, DMA_BIT_MASK(32)))
		return NULL;
	copy = dma_alloc_coherent(dev, PAGE_SIZE, dma, GFP_KERNEL);
	dma_set_coherent_mask(dev, DMA_BIT_MASK(64));
	return copy;
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

	copy = alloc_copy(pci, &dma);
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
