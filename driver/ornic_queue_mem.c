// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue memory: zeroed pages, charged to the memcg of the caller, mapped for
 * DMA, that the provider maps too. One run of pages is tried first, because
 * it needs no page list; single pages are the fallback.
 *
 * Its end has two steps. ornic_queue_mem_unmap() takes it from the device,
 * when the object is destroyed; ornic_queue_mem_free() drops our references
 * to the pages, when nobody can map them any more. A page that a user still
 * maps lives on until that mapping goes.
 */
#include "ornic_queue_mem.h"

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "ornic_cmd.h"
#include "ornic_dev.h"

static void put_pages_upto(struct ornic_queue_mem *mem, u32 count)
{
	while (count--) {
		__free_page(mem->pages[count]);
		cond_resched();
	}
}

/* Takes what the page allocator has at hand, without reclaim. */
static bool alloc_run(struct ornic_queue_mem *mem)
{
	gfp_t gfp = (GFP_KERNEL_ACCOUNT & ~__GFP_DIRECT_RECLAIM) | __GFP_ZERO |
		    __GFP_NOWARN;
	size_t size = (size_t)mem->npages << PAGE_SHIFT;
	void *va;
	u32 i;

	if (get_order(size) > MAX_PAGE_ORDER)
		return false;
	va = alloc_pages_exact(size, gfp);
	if (!va)
		return false;
	for (i = 0; i < mem->npages; i++)
		mem->pages[i] = virt_to_page(va + ((size_t)i << PAGE_SHIFT));
	return true;
}

/* A user over the limit of its memcg gets -ENOMEM, not the OOM killer. */
static int alloc_single_pages(struct ornic_queue_mem *mem)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN |
		    __GFP_RETRY_MAYFAIL;
	u32 i;

	for (i = 0; i < mem->npages; i++) {
		if (fatal_signal_pending(current))
			goto err_put_pages;
		mem->pages[i] = alloc_page(gfp);
		if (!mem->pages[i])
			goto err_put_pages;
		cond_resched();
	}
	return 0;

err_put_pages:
	put_pages_upto(mem, i);
	return -ENOMEM;
}

static int map_run(struct ib_device *ibdev, struct ornic_queue_mem *mem)
{
	mem->run = ib_dma_map_page(ibdev, mem->pages[0], 0,
				   (size_t)mem->npages << PAGE_SHIFT,
				   DMA_BIDIRECTIONAL);
	return ib_dma_mapping_error(ibdev, mem->run) ? -ENOMEM : 0;
}

static void unmap_list_upto(struct ib_device *ibdev,
			    struct ornic_queue_mem *mem, u32 count)
{
	while (count--) {
		ib_dma_unmap_page(ibdev, ornic_tree_get(mem->list.pages, count),
				  PAGE_SIZE, DMA_BIDIRECTIONAL);
		cond_resched();
	}
	ornic_page_list_free(ibdev, &mem->list);
}

static int map_list(struct ib_device *ibdev, struct ornic_queue_mem *mem)
{
	u64 dma;
	u32 i;
	int ret;

	ret = ornic_page_list_alloc(ibdev, &mem->list, mem->npages);
	if (ret)
		return ret;
	for (i = 0; i < mem->npages; i++) {
		dma = ib_dma_map_page(ibdev, mem->pages[i], 0, PAGE_SIZE,
				      DMA_BIDIRECTIONAL);
		if (ib_dma_mapping_error(ibdev, dma))
			goto err_unmap;
		ornic_tree_set(mem->list.pages, i, dma);
		cond_resched();
	}
	ornic_page_list_finish(ibdev, &mem->list);
	return 0;

err_unmap:
	unmap_list_upto(ibdev, mem, i);
	return -ENOMEM;
}

/**
 * ornic_queue_mem_alloc - allocate queue memory and map it for the device
 * @ibdev: device
 * @size: bytes, not 0; rounded up to whole pages
 *
 * Context: process, may sleep.
 * Return: the memory; ERR_PTR(-ENOMEM).
 */
struct ornic_queue_mem *ornic_queue_mem_alloc(struct ib_device *ibdev, u64 size)
{
	struct ornic_queue_mem *mem;
	int ret = -ENOMEM;
	bool is_run;

	mem = kzalloc(sizeof(*mem), GFP_KERNEL_ACCOUNT);
	if (!mem)
		return ERR_PTR(-ENOMEM);
	mem->npages = PAGE_ALIGN(size) >> PAGE_SHIFT;
	mem->pages =
		kvcalloc(mem->npages, sizeof(*mem->pages), GFP_KERNEL_ACCOUNT);
	if (!mem->pages)
		goto err_free_mem;

	is_run = alloc_run(mem);
	if (!is_run) {
		ret = alloc_single_pages(mem);
		if (ret)
			goto err_free_array;
	}
	ret = is_run ? map_run(ibdev, mem) : map_list(ibdev, mem);
	if (ret)
		goto err_put_pages;
	return mem;

err_put_pages:
	put_pages_upto(mem, mem->npages);
err_free_array:
	kvfree(mem->pages);
err_free_mem:
	kfree(mem);
	return ERR_PTR(ret);
}

/**
 * ornic_queue_mem_at - pointer to a byte of queue memory
 * @mem: queue memory
 * @off: of the byte; the pointer is good to the end of its page
 *
 * Context: any.
 * Return: the pointer.
 */
void *ornic_queue_mem_at(const struct ornic_queue_mem *mem, u32 off)
{
	return page_address(mem->pages[off >> PAGE_SHIFT]) +
	       offset_in_page(off);
}

/**
 * ornic_queue_mem_describe - say where the device finds it
 * @mem: queue memory
 * @out: filled in
 *
 * Context: any.
 */
void ornic_queue_mem_describe(const struct ornic_queue_mem *mem,
			      struct ornic_dma_mem *out)
{
	out->npages = mem->npages;
	out->page_shift = PAGE_SHIFT;
	if (mem->list.pages) {
		out->addr = ornic_page_list_root(&mem->list);
		out->levels = mem->list.shape.levels;
	} else {
		out->addr = mem->run;
		out->levels = 0;
	}
}

/* References that nobody drops. */
static void leak_pages(struct ornic_queue_mem *mem)
{
	u32 i;

	for (i = 0; i < mem->npages; i++)
		get_page(mem->pages[i]);
}

/**
 * ornic_queue_mem_unmap - take the memory from the device
 * @ibdev: device, which has destroyed the object
 * @mem: queue memory
 *
 * Context: process.
 */
void ornic_queue_mem_unmap(struct ib_device *ibdev, struct ornic_queue_mem *mem)
{
	if (ornic_dma_lives(ibdev, NULL, (u64)mem->npages << PAGE_SHIFT))
		leak_pages(mem);
	if (mem->list.pages)
		unmap_list_upto(ibdev, mem, mem->npages);
	else
		ib_dma_unmap_page(ibdev, mem->run,
				  (size_t)mem->npages << PAGE_SHIFT,
				  DMA_BIDIRECTIONAL);
}

/**
 * ornic_queue_mem_free - drop our references to the pages
 * @mem: unmapped queue memory
 *
 * Context: process.
 */
void ornic_queue_mem_free(struct ornic_queue_mem *mem)
{
	put_pages_upto(mem, mem->npages);
	kvfree(mem->pages);
	kfree(mem);
}
