// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * dma-bufs of MRs of a device that is part of the kernel. The CPU copies, so they
 * are mapped as the kernel's CPU access to a dma-buf has it: dma_buf_vmap(),
 * between dma_buf_begin_cpu_access() and dma_buf_end_cpu_access(). Pages of a
 * dma-buf are not the importer's to look at, and DMA addresses are of no use to a
 * device without DMA.
 *
 * The memory must not move until it is unmapped. Not all exporters see to that when
 * they map for the CPU, but for a static importer (one that takes no notice of moves)
 * those that cannot move buffers which others use do it at attachment. Others have
 * a pin() for importers with DMA; their memory is that of MRs on demand
 * (ornic_odp_dmabuf.c), or refused where there are none.
 *
 * The reference to the dma-buf, which is one to a file, holds the module of the
 * exporter, too.
 */
#include "ornic_dmabuf.h"

#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/iosys-map.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat/compat_dmabuf.h"

ORNIC_IMPORT_NS_DMA_BUF;

struct ornic_dmabuf {
	struct dma_buf *dmabuf;
	struct dma_buf_attachment *attach;
	struct iosys_map map; /* all of it */
};

bool ornic_dmabuf_has(const struct dma_buf *dmabuf, u64 offset, u64 length)
{
	return length && offset <= dmabuf->size &&
	       length <= dmabuf->size - offset;
}

static int check_dmabuf(const struct dma_buf *dmabuf, u64 offset, u64 length)
{
	if (!ornic_dmabuf_has(dmabuf, offset, length))
		return -EINVAL;
	if (!dmabuf->ops->vmap || dmabuf->ops->pin)
		return -EOPNOTSUPP;
	return 0;
}

/*
 * udmabuf of some kernels maps the first page of a huge page in the place of all its
 * pages, so an MR would have memory that the dma-buf has not. In such a mapping no
 * other page of a huge page is found.
 */
static bool maps_first_pages_only(const struct ornic_dmabuf *buf)
{
	const u8 *at = buf->map.vaddr, *end = at + buf->dmabuf->size;
	bool any = false;
	struct page *page;

	if (strcmp(buf->dmabuf->exp_name, "udmabuf") || !is_vmalloc_addr(at))
		return false;
	for (; at < end; at += PAGE_SIZE) {
		page = vmalloc_to_page(at);
		if (PageTail(page))
			return false;
		any |= PageHead(page);
		cond_resched();
	}
	return any;
}

/*
 * dma_buf_begin_cpu_access() waits for fences that users may add for as long as they
 * like, and the end of the device would wait with it. After this it waits for those
 * only that are added until the exporter's begin_cpu_access() is over, which may be
 * long: these have no limit but a signal.
 */
static int wait_for_fences(const struct dma_buf *dmabuf)
{
	long left = dma_resv_wait_timeout(dmabuf->resv, DMA_RESV_USAGE_READ,
					  true, ORNIC_FENCES_TIMEOUT);

	if (left > 0)
		return 0;
	return left ?: -EBUSY;
}

int ornic_dmabuf_begin_cpu_access(struct dma_buf *dmabuf)
{
	int ret = wait_for_fences(dmabuf);

	return ret ?: dma_buf_begin_cpu_access(dmabuf, DMA_BIDIRECTIONAL);
}

/* Of an attached dma-buf. */
static int map_for_cpu(struct ornic_dmabuf *buf)
{
	int ret;

	ret = dma_buf_vmap_unlocked(buf->dmabuf, &buf->map);
	if (ret)
		return ret;
	if (buf->map.is_iomem || maps_first_pages_only(buf)) {
		ret = -EOPNOTSUPP;
		goto err_unmap;
	}
	ret = ornic_dmabuf_begin_cpu_access(buf->dmabuf);
	if (ret)
		goto err_unmap;
	return 0;

err_unmap:
	dma_buf_vunmap_unlocked(buf->dmabuf, &buf->map);
	return ret;
}

static int attach_and_map(struct ornic_dmabuf *buf, struct device *dev)
{
	int ret;

	buf->attach = dma_buf_attach(buf->dmabuf, dev);
	if (IS_ERR(buf->attach))
		return PTR_ERR(buf->attach);
	ret = map_for_cpu(buf);
	if (ret)
		dma_buf_detach(buf->dmabuf, buf->attach);
	return ret;
}

struct ornic_dmabuf *ornic_dmabuf_map(struct device *dev, int fd, u64 offset,
				      u64 length, void **addr)
{
	struct ornic_dmabuf *buf;
	int ret;

	buf = kzalloc(sizeof(*buf), GFP_KERNEL_ACCOUNT);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	buf->dmabuf = dma_buf_get(fd);
	if (IS_ERR(buf->dmabuf)) {
		ret = PTR_ERR(buf->dmabuf);
		goto err_free;
	}
	ret = check_dmabuf(buf->dmabuf, offset, length);
	if (!ret)
		ret = attach_and_map(buf, dev);
	if (ret)
		goto err_put;
	*addr = buf->map.vaddr + offset;
	return buf;

err_put:
	dma_buf_put(buf->dmabuf);
err_free:
	kfree(buf);
	return ERR_PTR(ret);
}

void ornic_dmabuf_unmap(struct ornic_dmabuf *buf)
{
	if (!buf)
		return;
	dma_buf_end_cpu_access(buf->dmabuf, DMA_BIDIRECTIONAL);
	dma_buf_vunmap_unlocked(buf->dmabuf, &buf->map);
	dma_buf_detach(buf->dmabuf, buf->attach);
	dma_buf_put(buf->dmabuf);
	kfree(buf);
}

struct dma_buf *ornic_dmabuf_get_moving(int fd)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);

	if (IS_ERR(dmabuf))
		return NULL;
	if (dmabuf->ops->pin)
		return dmabuf;
	dma_buf_put(dmabuf);
	return NULL;
}
