// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a context may map: the memory of its queues, and the doorbell page of
 * a bus that has one.
 *
 * Queue memory is mapped page by page, and every mapping holds references to
 * its pages: after disassociation it stays readable and writable, only that
 * no device looks at it. The doorbell page is I/O memory, which ib_core zaps.
 */
#include "ornic_mmap.h"

#include <linux/mm.h>
#include <linux/slab.h>

#include "ornic_queue_mem.h"
#include "ornic_verbs.h"

static struct ornic_mmap_entry *to_entry(struct rdma_user_mmap_entry *rdma)
{
	return container_of(rdma, struct ornic_mmap_entry, rdma);
}

static struct ornic_mmap_entry *add(struct ib_ucontext *context, size_t size,
				    struct ornic_queue_mem *mem,
				    unsigned long pfn)
{
	struct ornic_mmap_entry *entry;
	int ret;

	entry = kzalloc(sizeof(*entry), GFP_KERNEL_ACCOUNT);
	if (!entry)
		return ERR_PTR(-ENOMEM);
	entry->mem = mem;
	entry->pfn = pfn;
	ret = rdma_user_mmap_entry_insert(context, &entry->rdma, size);
	if (ret)
		goto err_free_entry;
	return entry;

err_free_entry:
	kfree(entry);
	return ERR_PTR(ret);
}

/**
 * ornic_mmap_add_queue - let the user map queue memory
 * @context: of the user
 * @mem: queue memory; on success owned by the entry, which frees it once it is
 *	removed and nobody is in the middle of mapping it
 *
 * Context: process, may sleep.
 * Return: the entry, or ERR_PTR(-ENOMEM).
 */
struct ornic_mmap_entry *ornic_mmap_add_queue(struct ib_ucontext *context,
					      struct ornic_queue_mem *mem)
{
	return add(context, (size_t)mem->npages << PAGE_SHIFT, mem, 0);
}

/**
 * ornic_mmap_add_doorbell - let the user map the doorbell page
 * @context: of the user
 * @pfn: its page frame
 *
 * Context: process, may sleep.
 * Return: the entry, or ERR_PTR(-ENOMEM).
 */
struct ornic_mmap_entry *ornic_mmap_add_doorbell(struct ib_ucontext *context,
						 unsigned long pfn)
{
	return add(context, PAGE_SIZE, NULL, pfn);
}

/**
 * ornic_mmap_remove - allow no further mapping
 * @entry: of which nothing may be used any more; NULL is allowed
 *
 * Context: process.
 */
void ornic_mmap_remove(struct ornic_mmap_entry *entry)
{
	if (entry)
		rdma_user_mmap_entry_remove(&entry->rdma);
}

/**
 * ornic_mmap_offset - offset for the user's mmap()
 * @entry: what to map
 *
 * Context: any.
 * Return: bytes.
 */
u64 ornic_mmap_offset(const struct ornic_mmap_entry *entry)
{
	return rdma_user_mmap_get_offset(&entry->rdma);
}

/**
 * ornic_mmap_size - length for the user's mmap()
 * @entry: what to map
 *
 * Context: any.
 * Return: bytes.
 */
u64 ornic_mmap_size(const struct ornic_mmap_entry *entry)
{
	return (u64)entry->rdma.npages << PAGE_SHIFT;
}

static int map_queue(struct vm_area_struct *vma, struct ornic_queue_mem *mem)
{
	unsigned long left = mem->npages;

	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	return vm_insert_pages(vma, vma->vm_start, mem->pages, &left);
}

/*
 * To ib_core this is the mapping of rdma_user_mmap_io(). Its PTE is inserted
 * anew because of x86: remapping a whole VMA reserves a memory type (VM_PAT).
 * Before 6.16 both munmap() and the zapping at disassociation give that back,
 * both with the mmap lock held for reading only; if they meet, one finds no PTE
 * to take the type from, and warns. Inserting looks the type up and reserves
 * nothing. The driver's own mapping of the page goes after the zapping. A guest
 * with encrypted memory reaches its devices unencrypted only.
 *
 * Nothing may fail after rdma_user_mmap_io(): ib_core has the VMA on its list.
 * Nor can it: the page table is there, and the mmap lock is held for writing.
 */
static int map_doorbell_page(struct ib_ucontext *context,
			     struct vm_area_struct *vma,
			     struct ornic_mmap_entry *entry)
{
	int ret;

	ret = rdma_user_mmap_io(context, vma, entry->pfn, PAGE_SIZE,
				pgprot_noncached(vma->vm_page_prot),
				&entry->rdma);
	if (ret)
		return ret;

	zap_vma_ptes(vma, vma->vm_start, PAGE_SIZE);
	WARN_ON(vmf_insert_pfn_prot(vma, vma->vm_start, entry->pfn,
				    pgprot_decrypted(vma->vm_page_prot)) !=
		VM_FAULT_NOPAGE);
	return 0;
}

/**
 * ornic_ib_mmap - ib_device_ops.mmap
 * @context: of the user
 * @vma: shared, not executable, of exactly one entry
 *
 * Context: process, mmap lock held for writing.
 * Return: 0; -EINVAL for an unknown offset, another size or a private mapping;
 * -EPERM for an executable one; -ENOMEM, -EAGAIN.
 */
int ornic_ib_mmap(struct ib_ucontext *context, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *rdma;
	struct ornic_mmap_entry *entry;
	int ret;

	if (vma->vm_flags & VM_EXEC) {
		ibdev_dbg(context->device, "mmap: executable, pgoff %#lx\n",
			  vma->vm_pgoff);
		return -EPERM;
	}
	vm_flags_clear(vma, VM_MAYEXEC);

	rdma = rdma_user_mmap_entry_get(context, vma);
	if (!rdma) {
		ibdev_dbg(context->device, "mmap: pgoff %#lx, %lu bytes\n",
			  vma->vm_pgoff, vma->vm_end - vma->vm_start);
		return -EINVAL;
	}

	entry = to_entry(rdma);
	if (entry->mem)
		ret = map_queue(vma, entry->mem);
	else
		ret = map_doorbell_page(context, vma, entry);
	rdma_user_mmap_entry_put(rdma);
	return ret;
}

/**
 * ornic_ib_mmap_free - ib_device_ops.mmap_free
 * @rdma: entry without users
 *
 * Context: process.
 */
void ornic_ib_mmap_free(struct rdma_user_mmap_entry *rdma)
{
	struct ornic_mmap_entry *entry = to_entry(rdma);

	if (entry->mem)
		ornic_queue_mem_free(entry->mem);
	kfree(entry);
}
