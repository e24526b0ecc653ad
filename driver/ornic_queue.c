// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue memory: zeroed pages, charged to the memcg of the caller, mapped for
 * DMA, that the provider maps too. One run of pages is tried first, because
 * it needs no page list; single pages are the fallback.
 *
 * It is released in two steps. ornic_queue_mem_unmap() takes it from the device,
 * when the object is destroyed; ornic_queue_mem_free() drops our references
 * to the pages, when no mapping can be made any more. A page that a user still
 * maps lives on until that mapping goes.
 */
#include "ornic_queue.h"

#include <linux/file.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "compat/compat_mm.h"
#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_verbs.h"

static void put_pages_upto(struct ornic_queue_mem *mem, u32 count)
{
	while (count--) {
		__free_page(mem->pages[count]);
		cond_resched();
	}
}

/* Without reclaim: single pages are good enough. */
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

/* The pointer is valid up to the end of its page. */
void *ornic_queue_mem_at(const struct ornic_queue_mem *mem, u32 off)
{
	return page_address(mem->pages[off >> PAGE_SHIFT]) +
	       offset_in_page(off);
}

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

/* References that are never dropped. */
static void queue_leak_pages(struct ornic_queue_mem *mem)
{
	u32 i;

	for (i = 0; i < mem->npages; i++)
		get_page(mem->pages[i]);
}

void ornic_queue_mem_unmap(struct ib_device *ibdev, struct ornic_queue_mem *mem)
{
	if (ornic_dma_lives(ibdev, NULL, (u64)mem->npages << PAGE_SHIFT))
		queue_leak_pages(mem);
	if (mem->list.pages)
		unmap_list_upto(ibdev, mem, mem->npages);
	else
		ib_dma_unmap_page(ibdev, mem->run,
				  (size_t)mem->npages << PAGE_SHIFT,
				  DMA_BIDIRECTIONAL);
}

void ornic_queue_mem_free(struct ornic_queue_mem *mem)
{
	put_pages_upto(mem, mem->npages);
	kvfree(mem->pages);
	kfree(mem);
}

/* ---- Mappings ------------------------------------------------------------ */

/*
 * What a context may map: the memory of its queues, its device memory, and the
 * doorbell page of a bus that has one.
 *
 * Memory is mapped page by page, and every mapping holds references to its pages:
 * after disassociation it stays readable and writable, but no device accesses it.
 * The doorbell page and memory of the device are I/O memory, which ib_core zaps;
 * until then every mapping has a reference to the entry.
 */

static struct ornic_mmap_entry *to_entry(struct rdma_user_mmap_entry *rdma)
{
	return container_of(rdma, struct ornic_mmap_entry, rdma);
}

/* Let @context map @what, a template, with @size bytes. */
static struct ornic_mmap_entry *mmap_add(struct ib_ucontext *context,
					 size_t size,
					 const struct ornic_mmap_entry *what)
{
	struct ornic_mmap_entry *entry;
	int ret;

	entry = kmemdup(what, sizeof(*what), GFP_KERNEL_ACCOUNT);
	if (!entry)
		return ERR_PTR(-ENOMEM);
	ret = rdma_user_mmap_entry_insert(context, &entry->rdma, size);
	if (ret)
		goto err_free_entry;
	return entry;

err_free_entry:
	kfree(entry);
	return ERR_PTR(ret);
}

/* On success the entry owns @mem and frees it after its last user. */
static struct ornic_mmap_entry *mmap_add_queue(struct ib_ucontext *context,
					       struct ornic_queue_mem *mem,
					       bool read_only)
{
	const struct ornic_mmap_entry what = {
		.mem = mem,
		.read_only = read_only,
	};

	return mmap_add(context, (size_t)mem->npages << PAGE_SHIFT, &what);
}

/*
 * Let @context map @mem, which @file owns. On success the entry has the caller's
 * reference to @file; each mapping has one of its own.
 */
struct ornic_mmap_entry *ornic_mmap_add_file(struct ib_ucontext *context,
					     struct ornic_queue_mem *mem,
					     struct file *file)
{
	const struct ornic_mmap_entry what = {
		.mem = mem,
		.file = file,
	};

	return mmap_add(context, (size_t)mem->npages << PAGE_SHIFT, &what);
}

/*
 * Let @context map @io, which @file owns (NULL: the bus). On success the entry has
 * the caller's reference to @file.
 */
struct ornic_mmap_entry *ornic_mmap_add_io(struct ib_ucontext *context,
					   const struct ornic_io_mem *io,
					   struct file *file)
{
	const struct ornic_mmap_entry what = {
		.io = *io,
		.file = file,
	};

	return mmap_add(context, io->bytes, &what);
}

/* @entry may be NULL. */
void ornic_mmap_remove(struct ornic_mmap_entry *entry)
{
	if (entry)
		rdma_user_mmap_entry_remove(&entry->rdma);
}

u64 ornic_mmap_offset(const struct ornic_mmap_entry *entry)
{
	return rdma_user_mmap_get_offset(&entry->rdma);
}

u64 ornic_mmap_size(const struct ornic_mmap_entry *entry)
{
	return (u64)entry->rdma.npages << PAGE_SHIFT;
}

/* ib_uverbs' own expect one of its files. */
static const struct vm_operations_struct file_vm_ops = {};

static int map_queue(struct vm_area_struct *vma, struct ornic_mmap_entry *entry)
{
	unsigned long left = entry->mem->npages;
	int ret;

	if (entry->read_only) {
		if (vma->vm_flags & VM_WRITE)
			return -EPERM;
		vm_flags_clear(vma, VM_MAYWRITE);
	}
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	ret = vm_insert_pages(vma, vma->vm_start, entry->mem->pages, &left);
	if (!ret && entry->file) {
		vma_set_file(vma, entry->file);
		vma->vm_ops = &file_vm_ops;
	}
	return ret;
}

static pgprot_t io_prot(enum ornic_io_type type, pgprot_t prot)
{
	switch (type) {
	case ORNIC_IO_WRITE_COMBINED:
		return pgprot_writecombine(prot);
	case ORNIC_IO_CACHED:
		return prot;
	default:
		return pgprot_noncached(prot);
	}
}

/*
 * To ib_core this is the mapping of rdma_user_mmap_io(). Its PTEs are inserted
 * again because of x86: remapping a whole VMA reserves a memory type (VM_PAT).
 * Before 6.16 both munmap() and the zapping at disassociation give that back,
 * both with the mmap lock held for reading only; if they meet, one finds no PTE
 * to take the type from, and warns. Inserting looks the type up and reserves
 * nothing. The driver's own mapping of the pages goes after the zapping. A guest
 * with encrypted memory reaches its devices unencrypted only.
 *
 * Nothing may fail after rdma_user_mmap_io(): ib_core has the VMA on its list.
 * Nor can it: the page tables are there, and the mmap lock is held for writing.
 */
static int map_io(struct ib_ucontext *context, struct vm_area_struct *vma,
		  struct ornic_mmap_entry *entry)
{
	const struct ornic_io_mem *io = &entry->io;
	unsigned long addr, pfn = io->pfn;
	int ret;

	ret = rdma_user_mmap_io(context, vma, io->pfn, io->bytes,
				io_prot(io->type, vma->vm_page_prot),
				&entry->rdma);
	if (ret)
		return ret;

	zap_special_vma_range(vma, vma->vm_start, io->bytes);
	for (addr = vma->vm_start; addr < vma->vm_end; addr += PAGE_SIZE) {
		WARN_ON_ONCE(vmf_insert_pfn_prot(
				     vma, addr, pfn++,
				     pgprot_decrypted(vma->vm_page_prot)) !=
			     VM_FAULT_NOPAGE);
		cond_resched();
	}
	return 0;
}

/*
 * All is mapped whole, shared and not executable.
 */
int ornic_ib_mmap(struct ib_ucontext *context, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *rdma;
	struct ornic_mmap_entry *entry;
	int ret;

	if (vma->vm_flags & VM_EXEC) {
		ibdev_dbg(context->device,
			  "mmap: PROT_EXEC refused, pgoff %#lx\n",
			  vma->vm_pgoff);
		return -EPERM;
	}
	vm_flags_clear(vma, VM_MAYEXEC);

	rdma = rdma_user_mmap_entry_get(context, vma);
	if (!rdma) {
		ibdev_dbg(context->device,
			  "mmap: no object at pgoff %#lx with %lu bytes\n",
			  vma->vm_pgoff, vma->vm_end - vma->vm_start);
		return -EINVAL;
	}

	entry = to_entry(rdma);
	if (entry->mem)
		ret = map_queue(vma, entry);
	else
		ret = map_io(context, vma, entry);
	rdma_user_mmap_entry_put(rdma);
	return ret;
}

void ornic_ib_mmap_free(struct rdma_user_mmap_entry *rdma)
{
	struct ornic_mmap_entry *entry = to_entry(rdma);

	if (entry->file)
		fput(entry->file);
	else if (entry->mem)
		ornic_queue_mem_free(entry->mem);
	kfree(entry);
}

/* ---- Queues -------------------------------------------------------------- */

static int queue_init(struct ornic_queue *queue, struct ib_ucontext *context,
		      u64 size, bool read_only)
{
	queue->mem = ornic_queue_mem_alloc(context->device, size);
	if (IS_ERR(queue->mem))
		return PTR_ERR(queue->mem);
	queue->mmap = mmap_add_queue(context, queue->mem, read_only);
	if (IS_ERR(queue->mmap))
		goto err_free_mem;
	return 0;

err_free_mem:
	ornic_queue_mem_unmap(context->device, queue->mem);
	ornic_queue_mem_free(queue->mem);
	return PTR_ERR(queue->mmap);
}

/* Allocate queue memory and let a user map it. */
int ornic_queue_init(struct ornic_queue *queue, struct ib_ucontext *context,
		     u64 size)
{
	return queue_init(queue, context, size, false);
}

/* The same for what the device alone writes. */
int ornic_queue_init_read_only(struct ornic_queue *queue,
			       struct ib_ucontext *context, u64 size)
{
	return queue_init(queue, context, size, true);
}

/* Allocate queue memory without a mapping. */
int ornic_queue_init_kernel(struct ornic_queue *queue, struct ib_device *ibdev,
			    u64 size)
{
	queue->mmap = NULL;
	queue->mem = ornic_queue_mem_alloc(ibdev, size);
	return PTR_ERR_OR_ZERO(queue->mem);
}

/*
 * The device does not use the queue any more. Its pages are freed here or with
 * the last mapping of them.
 */
void ornic_queue_release(struct ornic_queue *queue, struct ib_device *ibdev)
{
	ornic_queue_mem_unmap(ibdev, queue->mem);
	if (queue->mmap)
		ornic_mmap_remove(queue->mmap);
	else
		ornic_queue_mem_free(queue->mem);
}
