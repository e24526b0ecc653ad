// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ornic as a PCI function: from probe to remove.
 *
 * Behind ivshmem the function has the ids of any ivshmem-doorbell, so probe
 * first checks our magic, and leaves functions without it to other drivers.
 */
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "pci/pci_cmd.h"
#include "pci/pci_dev.h"
#include "pci/pci_eq.h"
#include "pci/pci_life.h"
#include "pci/pci_main.h"
#include "pci/pci_netdev.h"

#define VENDOR_ID PCI_VENDOR_ID_REDHAT_QUMRANET
#define DEVICE_ID 0x1110

/* driver_data: the bus-master bit has no effect on the device. */
#define BEHIND_IVSHMEM BIT(0)

static void ornic_pci_kick(struct ornic_bus *bus, u32 qpn,
			   enum ornic_kick_where where)
{
	struct ornic_pci *pci = to_ornic_pci(bus);

	/* After all stores to records; it names no QP. */
	iowrite32(pci->info.doorbell_kick, pci->doorbell);
}

static const struct ornic_bus_ops bus_ops = {
	.cmd = ornic_pci_cmd,
	.kick = ornic_pci_kick,
	.broken = ornic_pci_broken,
};

/* ---- Registers ----------------------------------------------------------- */

/*
 * Behind ivshmem the registers are memory of the host, whose processes use it
 * through the cache. So must we: where a guest's memory type counts, as on arm64,
 * a mapping as device memory would not see their stores, nor they ours.
 */
static void __iomem *iomap_regs(struct ornic_pci *pci)
{
	resource_size_t start =
		pci_resource_start(pci->pdev, ORNIC_PCI_REG_BAR);

	if (pci->is_cuttable)
		return pci_iomap(pci->pdev, ORNIC_PCI_REG_BAR,
				 ORNIC_PCI_REGS_SIZE);
	return (void __iomem __force *)memremap(start, ORNIC_PCI_REGS_SIZE,
						MEMREMAP_WB | MEMREMAP_DEC);
}

static void iounmap_regs(struct ornic_pci *pci)
{
	void __iomem *base = (void __iomem *)pci->regs;

	if (pci->is_cuttable)
		pci_iounmap(pci->pdev, base);
	else
		memunmap((void __force *)base);
}

static int map_regs(struct ornic_pci *pci)
{
	struct pci_dev *pdev = pci->pdev;
	void __iomem *base;
	int ret;

	if (!(pci_resource_flags(pdev, ORNIC_PCI_REG_BAR) & IORESOURCE_MEM) ||
	    pci_resource_len(pdev, ORNIC_PCI_REG_BAR) < ORNIC_PCI_REGS_SIZE)
		return -ENODEV;
	ret = pci_request_region(pdev, ORNIC_PCI_REG_BAR, KBUILD_MODNAME);
	if (ret)
		return ret;
	base = iomap_regs(pci);
	if (!base) {
		ret = -ENOMEM;
		goto err_release;
	}
	pci->regs = base + ORNIC_PCI_DEVICE_REGS;
	pci->host = base + ORNIC_PCI_HOST_REGS;
	return 0;

err_release:
	pci_release_region(pdev, ORNIC_PCI_REG_BAR);
	return ret;
}

static void unmap_regs(struct ornic_pci *pci)
{
	iounmap_regs(pci);
	pci_release_region(pci->pdev, ORNIC_PCI_REG_BAR);
}

static int check_regs(struct ornic_pci *pci)
{
	struct device *dev = &pci->pdev->dev;
	struct ornic_pci_device_regs regs;
	struct ornic_pci_flaw flaw = {};
	int ret;

	ornic_pci_read_regs(pci, &regs);
	ret = ornic_pci_read_info(&regs, &pci->info, &flaw);
	if (ret == -EPROTO)
		dev_err(dev,
			"device has interface version %u, driver supports %u\n",
			flaw.value, ORNIC_HW_VERSION);
	else if (ret == -EINVAL)
		dev_err(dev, "register %s has invalid value %#x\n", flaw.what,
			flaw.value);
	return ret;
}

/* ---- Doorbell ------------------------------------------------------------ */

/* A structure of the MSI-X capability; no bytes without one. */
static struct ornic_pci_span msix_span(struct pci_dev *pdev, int reg, u64 bytes)
{
	struct ornic_pci_span span = { .bytes = bytes };
	u32 where;

	if (!pdev->msix_cap ||
	    pci_read_config_dword(pdev, pdev->msix_cap + reg, &where)) {
		span.bytes = 0;
		return span;
	}
	span.bar = where & PCI_MSIX_TABLE_BIR;
	span.start = where & PCI_MSIX_TABLE_OFFSET;
	return span;
}

/* What processes must not reach: they could send any message anywhere. */
struct used_spans {
	struct ornic_pci_span span[3];
};

static struct used_spans find_used(struct pci_dev *pdev)
{
	int msgs = max(pci_msix_vec_count(pdev), 0);

	return (struct used_spans){ {
		{ ORNIC_PCI_REG_BAR, 0, ORNIC_PCI_REGS_SIZE },
		msix_span(pdev, PCI_MSIX_TABLE, msgs * PCI_MSIX_ENTRY_SIZE),
		msix_span(pdev, PCI_MSIX_PBA,
			  DIV_ROUND_UP(msgs, 64) * sizeof(u64)),
	} };
}

static bool may_map(struct ornic_pci *pci)
{
	const struct used_spans used = find_used(pci->pdev);
	u64 bar_bytes = pci_resource_len(pci->pdev, pci->info.doorbell_bar);

	return ornic_pci_may_map(&pci->info, bar_bytes, PAGE_SIZE, used.span,
				 ARRAY_SIZE(used.span));
}

/*
 * Processes may map the page of the doorbell if nothing else is in it. Where
 * the BAR is smaller than a page, the rest of the page is reserved, so that no
 * other BAR is placed there.
 */
static bool own_page(struct ornic_pci *pci)
{
	struct resource *bar = &pci->pdev->resource[pci->info.doorbell_bar];
	struct resource *rest = &pci->doorbell_page;

	if (!PAGE_ALIGNED(bar->start) || !bar->parent || !may_map(pci))
		return false;
	if (PAGE_ALIGNED(bar->end + 1))
		return true;
	rest->name = KBUILD_MODNAME;
	rest->start = bar->end + 1;
	rest->end = PAGE_ALIGN(bar->end) - 1;
	rest->flags = bar->flags;
	return !request_resource(bar->parent, rest);
}

static void describe_doorbell(struct ornic_pci *pci)
{
	const struct ornic_pci_info *info = &pci->info;
	u64 addr = pci_resource_start(pci->pdev, info->doorbell_bar) +
		   info->doorbell_offset;

	pci->bus.kick_mode = ORNIC_KICK_FD;
	if (!own_page(pci)) {
		dev_info(&pci->pdev->dev,
			 "doorbell page is shared, kicks need system calls\n");
		return;
	}
	pci->bus.kick_mode = ORNIC_KICK_PAGE;
	pci->bus.kick_pfn = addr >> PAGE_SHIFT;
	pci->bus.kick_offset = offset_in_page(addr);
	pci->bus.kick_value = info->doorbell_kick;
}

static int map_doorbell(struct ornic_pci *pci)
{
	const struct ornic_pci_info *info = &pci->info;
	struct pci_dev *pdev = pci->pdev;
	int bar = info->doorbell_bar;
	void __iomem *base;
	int ret;

	if (!(pci_resource_flags(pdev, bar) & IORESOURCE_MEM) ||
	    pci_resource_len(pdev, bar) < sizeof(u32) ||
	    info->doorbell_offset > pci_resource_len(pdev, bar) - sizeof(u32)) {
		dev_err(&pdev->dev,
			"doorbell offset %#x is outside of BAR %d\n",
			info->doorbell_offset, bar);
		return -EINVAL;
	}
	if (bar != ORNIC_PCI_REG_BAR) {
		ret = pci_request_region(pdev, bar, KBUILD_MODNAME);
		if (ret)
			return ret;
	}
	base = pci_iomap_range(pdev, bar, info->doorbell_offset, sizeof(u32));
	if (!base) {
		ret = -ENOMEM;
		goto err_release;
	}
	pci->doorbell = base;
	describe_doorbell(pci);
	return 0;

err_release:
	if (bar != ORNIC_PCI_REG_BAR)
		pci_release_region(pdev, bar);
	return ret;
}

static void unmap_doorbell(struct ornic_pci *pci)
{
	int bar = pci->info.doorbell_bar;

	if (pci->doorbell_page.parent)
		release_resource(&pci->doorbell_page);
	pci_iounmap(pci->pdev, pci->doorbell);
	if (bar != ORNIC_PCI_REG_BAR)
		pci_release_region(pci->pdev, bar);
}

/* ---- Device memory ------------------------------------------------------- */

/* Processes map pages of it, so they are its own. */
static int find_dm(struct ornic_pci *pci, struct ornic_pci_span *span)
{
	const struct ornic_pci_info *info = &pci->info;
	const struct used_spans used = find_used(pci->pdev);
	const struct ornic_pci_span doorbell = {
		.bar = info->doorbell_bar,
		.start = info->doorbell_offset,
		.bytes = sizeof(u32),
	};
	u64 bar_bytes = 0;

	if (pci_resource_flags(pci->pdev, info->dm_bar) & IORESOURCE_MEM &&
	    PAGE_ALIGNED(pci_resource_start(pci->pdev, info->dm_bar)))
		bar_bytes = pci_resource_len(pci->pdev, info->dm_bar);
	if (ornic_pci_dm_span(info, bar_bytes, PAGE_SIZE, span) ||
	    !ornic_pci_is_apart(span, used.span, ARRAY_SIZE(used.span)) ||
	    !ornic_pci_is_apart(span, &doorbell, 1)) {
		dev_err(&pci->pdev->dev,
			"device memory: no room for %u pages at page %u of BAR %u\n",
			info->dm_pages, info->dm_page, info->dm_bar);
		return -EINVAL;
	}
	return 0;
}

static bool has_own_bar(const struct ornic_pci *pci, u32 bar)
{
	return bar != ORNIC_PCI_REG_BAR && bar != pci->info.doorbell_bar;
}

/* Behind ivshmem it is memory of the host, as the registers are. */
static void __iomem *iomap_dm(struct ornic_pci *pci, u64 addr, u64 bytes)
{
	if (pci->is_cuttable)
		return ioremap_wc(addr, bytes);
	return (void __iomem __force *)memremap(addr, bytes,
						MEMREMAP_WB | MEMREMAP_DEC);
}

static void unmap_dm(struct ornic_pci *pci)
{
	struct ornic_bus_dm *dm = &pci->bus.dm;

	if (!dm->base)
		return;
	if (pci->is_cuttable)
		iounmap(dm->base);
	else
		memunmap((void __force *)dm->base);
	if (has_own_bar(pci, pci->info.dm_bar))
		pci_release_region(pci->pdev, pci->info.dm_bar);
}

/* A device that has none is fine. */
static int map_dm(struct ornic_pci *pci)
{
	struct ornic_bus_dm *dm = &pci->bus.dm;
	u32 bar = pci->info.dm_bar;
	struct ornic_pci_span span;
	u64 addr;
	int ret;

	if (!pci->info.dm_pages)
		return 0;
	ret = find_dm(pci, &span);
	if (ret || !span.bytes)
		return ret;
	if (has_own_bar(pci, bar)) {
		ret = pci_request_region(pci->pdev, bar, KBUILD_MODNAME);
		if (ret)
			return ret;
	}
	addr = pci_resource_start(pci->pdev, bar) + span.start;
	dm->base = iomap_dm(pci, addr, span.bytes);
	if (!dm->base) {
		ret = -ENOMEM;
		goto err_release;
	}
	dm->pfn = addr >> PAGE_SHIFT;
	dm->start = ornic_pci_dm_start(&pci->info, &span);
	dm->is_cached = !pci->is_cuttable;
	pci->bus.max_dm = span.bytes;
	return 0;

err_release:
	if (has_own_bar(pci, bar))
		pci_release_region(pci->pdev, bar);
	return ret;
}

/* ---- DMA ----------------------------------------------------------------- */

/*
 * Rings and user memory are shared with the device as long as they exist, and
 * nobody could sync them: DMA has to be coherent and to the memory itself, not
 * to a bounce buffer. What is behind ivshmem gets no translation by an IOMMU.
 */
static int check_dma(struct ornic_pci *pci)
{
	struct device *dev = &pci->pdev->dev;
	struct page *page;
	dma_addr_t dma;
	bool moved;
	int ret = 0;

	page = alloc_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	dma = dma_map_page(dev, page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (dma_mapping_error(dev, dma)) {
		ret = -ENOMEM;
		goto out_free;
	}
	moved = !pci->is_cuttable && dma != page_to_phys(page);
	if (moved && iommu_get_domain_for_dev(dev)) {
		dev_err(dev, "DMA is translated: boot with iommu=pt\n");
		ret = -EOPNOTSUPP;
	} else if (moved || dma_need_sync(dev, dma)) {
		dev_err(dev, "DMA is bounced or not coherent\n");
		ret = -EOPNOTSUPP;
	}
	dma_unmap_page(dev, dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
out_free:
	__free_page(page);
	return ret;
}

/* ---- Probe --------------------------------------------------------------- */

static struct ornic_pci *pci_alloc(struct pci_dev *pdev,
				   const struct pci_device_id *id)
{
	struct ornic_pci *pci;

	pci = kzalloc(sizeof(*pci), GFP_KERNEL);
	if (!pci)
		return NULL;
	pci->pdev = pdev;
	pci->is_cuttable = !(id->driver_data & BEHIND_IVSHMEM);
	pci->bus.ops = &bus_ops;
	pci->bus.parent = &pdev->dev;
	pci->bus.dma_device = &pdev->dev;
	ornic_pci_life_init(pci);
	pci_set_drvdata(pdev, pci);
	return pci;
}

/* Resources, whatever state the device is in: registers, memory, messages. */
static int probe_function(struct ornic_pci *pci)
{
	struct device *dev = &pci->pdev->dev;
	int ret;

	ret = check_regs(pci);
	if (ret)
		return ret;
	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64));
	if (ret)
		return ret;
	dma_set_max_seg_size(dev, UINT_MAX);
	ret = check_dma(pci);
	if (ret)
		return ret;
	ret = map_doorbell(pci);
	if (ret)
		return ret;
	ret = map_dm(pci);
	if (ret)
		goto err_unmap_doorbell;
	ret = ornic_pci_cmds_alloc(pci);
	if (ret)
		goto err_unmap_dm;
	ret = ornic_pci_eqs_alloc(pci);
	if (ret) {
		dev_err(dev, "cannot allocate interrupts: %d\n", ret);
		goto err_free_cmds;
	}
	return 0;

err_free_cmds:
	ornic_pci_cmds_free(pci);
err_unmap_dm:
	unmap_dm(pci);
err_unmap_doorbell:
	unmap_doorbell(pci);
	return ret;
}

static void remove_function(struct ornic_pci *pci)
{
	ornic_pci_eqs_free(pci);
	ornic_pci_cmds_free(pci);
	unmap_dm(pci);
	unmap_doorbell(pci);
}

static int ornic_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct ornic_pci *pci;
	int ret;

	pci = pci_alloc(pdev, id);
	if (!pci)
		return -ENOMEM;
	ret = pci_enable_device_mem(pdev);
	if (ret)
		goto err_free;
	ret = map_regs(pci);
	if (ret)
		goto err_disable;
	ret = probe_function(pci);
	if (ret)
		goto err_unmap_regs;
	ret = ornic_pci_netdev_init(pci);
	if (ret)
		goto err_remove_function;
	ret = ornic_pci_life_start(pci);
	if (ret)
		goto err_netdev;
	return 0;

err_netdev:
	ornic_pci_netdev_exit(pci);
err_remove_function:
	remove_function(pci);
err_unmap_regs:
	unmap_regs(pci);
err_disable:
	pci_disable_device(pdev);
err_free:
	kfree(pci);
	return ret;
}

static void ornic_pci_remove(struct pci_dev *pdev)
{
	struct ornic_pci *pci = pci_get_drvdata(pdev);

	ornic_pci_life_stop(pci);
	ornic_pci_netdev_exit(pci);
	remove_function(pci);
	unmap_regs(pci);
	pci_disable_device(pdev);
	kfree(pci);
}

static void ornic_pci_shutdown(struct pci_dev *pdev)
{
	ornic_pci_shut_down(pci_get_drvdata(pdev));
}

/* Suspend loses all state of the device: the ib_device is registered again. */
static int ornic_pci_suspend(struct device *dev)
{
	ornic_pci_life_stop(dev_get_drvdata(dev));
	return 0;
}

static int ornic_pci_resume(struct device *dev)
{
	ornic_pci_life_resume(dev_get_drvdata(dev));
	return 0;
}

static DEFINE_SIMPLE_DEV_PM_OPS(pm_ops, ornic_pci_suspend, ornic_pci_resume);

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(VENDOR_ID, DEVICE_ID), .driver_data = BEHIND_IVSHMEM },
	{},
};

MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver pci_driver = {
	.name = KBUILD_MODNAME,
	.id_table = ids,
	.probe = ornic_pci_probe,
	.remove = ornic_pci_remove,
	.shutdown = ornic_pci_shutdown,
	.driver.pm = pm_sleep_ptr(&pm_ops),
};

int ornic_pci_register(void)
{
	int ret;

	ret = ornic_pci_lives_init();
	if (ret)
		return ret;
	ret = pci_register_driver(&pci_driver);
	if (ret)
		ornic_pci_lives_exit();
	return ret;
}

void ornic_pci_unregister(void)
{
	pci_unregister_driver(&pci_driver);
	ornic_pci_lives_exit();
}
