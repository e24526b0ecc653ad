// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * On-demand paging: MRs of the memory of a process. A fault of a QP, or a program, asks
 * for pages; the kernel brings them in (ornic_odp_page.c), and they are given to the key.
 * When the kernel takes pages away, it tells by an MMU notifier, which takes them from the
 * key and waits until the device uses them no more.
 *
 * An MR of a range has one ib_umem_odp. One of all memory has a child for each 2 MiB
 * that had pages; it goes when all of its range is unmapped, or for a newer one when the
 * process has as many as it may have.
 *
 * Locks, outermost first: a walk (struct ornic_walk), for the time that pages of 2 MiB
 * take to come; children_lock; mmap_lock of the process; umem_mutex of an ib_umem_odp,
 * held from the last look at the notifier's sequence until the key has the pages; key_lock
 * of the MR, which the key outlives. children_lock and mmap_lock are not held together.
 */
#include "ornic_odp.h"

#include <linux/bitmap.h>
#include <linux/hmm.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_umem_odp.h>

#include "compat/compat_mm.h"
#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_mr.h"
#include "ornic_odp_key.h"
#include "ornic_odp_mr.h"

#define CHILD_SHIFT 21
#define CHILD_BYTES BIT_ULL(CHILD_SHIFT)
/* So many a process may have in any case: a request needs some at one time. */
#define LEAST_CHILDREN 64

/* Pages that are mapped together: a list page names them. */
static_assert(CHILD_BYTES >> PAGE_SHIFT <= ORNIC_LIST_ENTRIES);

/**
 * struct part - an MR of a range, or a child
 * @mr: the MR
 * @umem: its pages
 * @given: a bit for each page that the key may have; umem_mutex
 */
struct part {
	struct mem_mr *mr;
	struct ib_umem_odp *umem;
	unsigned long *given;
};

/**
 * struct mem_mr - an MR
 * @odp: what all kinds have; a child has a reference
 * @shift: what is added to an address of the process for one of the key
 * @whole: the range; or all memory, which has no pages itself
 * @implicit: it is the latter
 * @children_lock: changes of @children
 * @children: struct child by address, divided by its size
 */
struct mem_mr {
	struct ornic_ib_odp odp;
	u64 shift;
	struct part whole;
	bool implicit;
	struct mutex children_lock; /* see above */
	struct xarray children;
};

/**
 * struct child - part of an implicit MR
 * @ref: one of the MR, one of each user
 * @part: its pages; it holds the MR
 * @index: in @children of the MR
 * @list: in @children of the pager
 * @since: when it was made, jiffies
 * @reclaim: takes it from there
 * @goes: that is queued, or done; umem_mutex of its umem
 * @used: it had a page; walk
 * @given: of @part
 */
struct child {
	refcount_t ref;
	struct part part;
	unsigned long index;
	struct list_head list;
	unsigned long since;
	struct work_struct reclaim;
	bool goes;
	bool used;
	DECLARE_BITMAP(given, CHILD_BYTES >> PAGE_SHIFT);
};

/* ---- Lifetime ------------------------------------------------------------------- */

static_assert(!offsetof(struct mem_mr, odp));

static struct mem_mr *to_mem_mr(struct ornic_ib_odp *odp)
{
	return container_of(odp, struct mem_mr, odp);
}

static void mr_free(struct mem_mr *mr)
{
	kvfree(mr->whole.given);
	xa_destroy(&mr->children);
	mutex_destroy(&mr->children_lock);
	ornic_odp_free(&mr->odp);
}

static void mr_release(struct ornic_ib_odp *odp)
{
	struct mem_mr *mr = to_mem_mr(odp);

	ib_umem_odp_release(mr->whole.umem);
	mr_free(mr);
}

/*
 * Pages of [@va, @va + @len), of which @part has all, are not the key's any more. The device
 * is asked only about those that it was given: the kernel takes others away one by one, with
 * mmap_lock held. umem_mutex held.
 */
static void clear_key_pages(struct part *part, u64 va, u64 len)
{
	u64 start = va - ib_umem_start(part->umem);
	unsigned long first = start >> PAGE_SHIFT;
	unsigned long end = PAGE_ALIGN(start + len) >> PAGE_SHIFT;
	struct mem_mr *mr = part->mr;

	if (find_next_bit(part->given, end, first) >= end)
		return;
	if (ornic_odp_clear(&mr->odp, va + mr->shift, len))
		ornic_odp_keep(part->umem, part->given, first, end);
	/* ib_umem_odp has no more than INT_MAX bytes for the list of its pages. */
	bitmap_clear(part->given, first, end - first);
}

static void child_count(struct child *child)
{
	struct ornic_pager *pager = child->part.mr->odp.pager;

	spin_lock(&pager->lock);
	list_add_tail(&child->list, &pager->children);
	pager->nchildren++;
	child->since = jiffies;
	spin_unlock(&pager->lock);
}

static void child_uncount(struct child *child)
{
	struct ornic_pager *pager = child->part.mr->odp.pager;

	spin_lock(&pager->lock);
	list_del(&child->list);
	pager->nchildren--;
	spin_unlock(&pager->lock);
}

static void child_put(struct child *child)
{
	struct mem_mr *mr = child->part.mr;
	struct ib_umem_odp *umem = child->part.umem;

	if (!refcount_dec_and_test(&child->ref))
		return;
	/* A fault that was under way may have set some after the reclaim. */
	mutex_lock(&umem->umem_mutex);
	clear_key_pages(&child->part, ib_umem_start(umem), CHILD_BYTES);
	mutex_unlock(&umem->umem_mutex);
	ib_umem_odp_release(umem);
	child_uncount(child);
	kfree(child);
	ornic_ib_odp_put(&mr->odp);
}

/* Nobody has to take it away any more. */
static void child_goes(struct child *child)
{
	struct ib_umem_odp *umem = child->part.umem;

	mutex_lock(&umem->umem_mutex);
	WRITE_ONCE(child->goes, true);
	mutex_unlock(&umem->umem_mutex);
}

static void child_remove(struct child *child)
{
	struct mem_mr *mr = child->part.mr;
	bool was_there;

	mutex_lock(&mr->children_lock);
	was_there = xa_load(&mr->children, child->index) == child;
	if (was_there)
		xa_erase(&mr->children, child->index);
	mutex_unlock(&mr->children_lock);
	if (was_there)
		child_put(child);
}

static void reclaim_child(struct work_struct *work)
{
	struct child *child = container_of(work, struct child, reclaim);

	child_remove(child);
	child_put(child);
}

/* ---- Invalidation --------------------------------------------------------------- */

/* umem_mutex held: all of it is unmapped, so perhaps it is not needed any more. */
static void reclaim_later(struct child *child)
{
	if (child->goes || !refcount_inc_not_zero(&child->ref))
		return;
	WRITE_ONCE(child->goes, true);
	ornic_odp_queue(&child->reclaim);
}

/* umem_mutex held: [start, end) of the process, of which @part has some. */
static void invalidate_locked(struct part *part, u64 start, u64 end)
{
	struct ib_umem_odp *umem = part->umem;

	start = max_t(u64, start, ib_umem_start(umem));
	end = min_t(u64, end, ib_umem_end(umem));
	clear_key_pages(part, start, end - start);
	ib_umem_odp_unmap_dma_pages(umem, start, end);
}

/* All of it, for ever: not by fork(), mprotect(), migration and the like. */
static bool is_unmapped(struct ib_umem_odp *umem,
			const struct mmu_notifier_range *range)
{
	return (range->event == MMU_NOTIFY_UNMAP ||
		range->event == MMU_NOTIFY_RELEASE) &&
	       range->start <= ib_umem_start(umem) &&
	       range->end >= ib_umem_end(umem);
}

static bool invalidate(struct mmu_interval_notifier *mni,
		       const struct mmu_notifier_range *range,
		       unsigned long cur_seq)
{
	struct ib_umem_odp *umem =
		container_of(mni, struct ib_umem_odp, notifier);
	struct part *part;

	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&umem->umem_mutex);
	mmu_interval_set_seq(mni, cur_seq);
	part = READ_ONCE(umem->private);
	/* Not yet: it has no pages. */
	if (part)
		invalidate_locked(part, range->start, range->end);
	if (part && part->mr->implicit && is_unmapped(umem, range))
		reclaim_later(container_of(part, struct child, part));
	mutex_unlock(&umem->umem_mutex);
	return true;
}

static const struct mmu_interval_notifier_ops part_ops = {
	.invalidate = invalidate,
};

/* ---- Bringing pages in ----------------------------------------------------------- */

/* umem_mutex held: @npages of @part from @va on become the key's. */
static int set_key_pages(struct part *part, u64 va, u32 npages,
			 struct ornic_bring *bring)
{
	size_t first = (va - ib_umem_start(part->umem)) >> PAGE_SHIFT;
	bool found = false;
	u64 entry;
	int ret;
	u32 i;

	for (i = 0; i < npages; i++) {
		ret = ornic_odp_entry(part->umem, first + i, bring, &entry);
		if (ret)
			return ret;
		found |= !!entry;
		bring->list[i] = cpu_to_le64(entry);
	}
	if (!found)
		return 0;
	bring->found = true;
	bring->sent = false;
	ret = ornic_odp_set(&part->mr->odp, va + part->mr->shift, npages,
			    bring);
	for (i = 0; bring->sent && i < npages; i++)
		if (bring->list[i])
			__set_bit(first + i, part->given);
	return ret;
}

/* What @part has of CHILD_BYTES, at a multiple of these. */
static int bring_chunk(struct part *part, u64 va, u64 len,
		       struct ornic_bring *bring)
{
	struct ib_umem_odp *umem = part->umem;
	int ret, npages;

	bring->found = false;
	if (bring->write && !umem->umem.writable)
		return -EPERM;
	npages = ornic_odp_map_and_lock(umem, va, len, bring);
	if (npages < 0)
		return npages;
	ret = set_key_pages(part, ALIGN_DOWN(va, PAGE_SIZE), npages, bring);
	ornic_odp_unlock(umem, va, npages);
	return ret;
}

static struct child *child_alloc(struct mem_mr *mr, unsigned long index)
{
	struct ib_umem_odp *umem;
	struct child *child;

	child = kzalloc(sizeof(*child), GFP_KERNEL_ACCOUNT);
	if (!child)
		return ERR_PTR(-ENOMEM);
	umem = ib_umem_odp_alloc_child(mr->whole.umem, index << CHILD_SHIFT,
				       CHILD_BYTES, &part_ops);
	if (IS_ERR(umem)) {
		kfree(child);
		return ERR_CAST(umem);
	}
	refcount_inc(&mr->odp.ref);
	child->part.mr = mr;
	child->part.umem = umem;
	child->part.given = child->given;
	child->index = index;
	INIT_WORK(&child->reclaim, reclaim_child);
	refcount_set(&child->ref, 1);
	child_count(child);
	/* The notifier may run already. Pairs with its READ_ONCE(). */
	smp_store_release(&umem->private, &child->part);
	return child;
}

/* With the lock: the oldest child that does not go already, or NULL. */
static struct child *oldest_child(struct ornic_pager *pager)
{
	struct child *child;

	list_for_each_entry(child, &pager->children, list) {
		if (!READ_ONCE(child->goes) &&
		    refcount_inc_not_zero(&child->ref))
			return child;
	}
	return NULL;
}

/* The child to go for @who, if the process has as many as it may have; -ENOMEM: none. */
static struct child *child_too_many(struct ornic_pager *pager, const void *who)
{
	u64 limit = READ_ONCE(pager->limit);
	struct child *child = NULL;
	bool stays = false;

	spin_lock(&pager->lock);
	if (pager->nchildren >= LEAST_CHILDREN &&
	    ornic_pager_used(pager) + ORNIC_CHILD_PAGES > limit) {
		child = oldest_child(pager) ?: ERR_PTR(-ENOMEM);
		stays = !IS_ERR(child) &&
			!ornic_pager_may_take(pager, child->since, who);
	}
	spin_unlock(&pager->lock);
	if (!stays)
		return child;
	child_put(child);
	return ERR_PTR(-ENOMEM);
}

static void child_end(struct child *child)
{
	child_goes(child);
	child_remove(child);
}

/*
 * A new one for all of it takes the place of the oldest, whose pages can come again. It
 * waits, by -ENOMEM, if those are needed still, or cannot go before a page that hangs.
 */
static int make_room(struct ornic_pager *pager, const void *who)
{
	struct child *child = child_too_many(pager, who);

	if (IS_ERR_OR_NULL(child))
		return PTR_ERR_OR_ZERO(child);
	child_end(child);
	child_put(child);
	return 0;
}

/* Make @child that of its index, with two references. Nobody else does, as it is walked. */
static int child_add(struct mem_mr *mr, struct child *child)
{
	struct child *old = NULL;
	int ret;

	mutex_lock(&mr->children_lock);
	if (READ_ONCE(mr->odp.key_gone)) {
		ret = -ENOENT;
	} else if (READ_ONCE(child->goes)) {
		ret = -EBUSY;
	} else {
		old = xa_store(&mr->children, child->index, child,
			       GFP_KERNEL_ACCOUNT);
		ret = xa_err(old);
	}
	if (!ret)
		refcount_inc(&child->ref);
	mutex_unlock(&mr->children_lock);
	if (!ret && old)
		child_put(old);
	return ret;
}

/* The child with that index; NULL: there is none, or it goes. */
static struct child *child_find(struct mem_mr *mr, unsigned long index)
{
	struct child *child;

	mutex_lock(&mr->children_lock);
	child = xa_load(&mr->children, index);
	if (child && READ_ONCE(child->goes))
		child = NULL;
	if (child)
		refcount_inc(&child->ref);
	mutex_unlock(&mr->children_lock);
	return child;
}

/* With the walk: the child with @va, to be given to child_put(). For @who see above. */
static struct child *child_get(struct mem_mr *mr, u64 va, const void *who)
{
	unsigned long index = va >> CHILD_SHIFT;
	struct child *child = child_find(mr, index);
	int ret;

	if (child)
		return child;
	ret = make_room(mr->odp.pager, who);
	if (ret)
		return ERR_PTR(ret);
	/* Not under children_lock: it may be the last to leave the mm. */
	child = child_alloc(mr, index);
	if (IS_ERR(child))
		return child;
	ret = child_add(mr, child);
	if (!ret)
		return child;
	child_put(child);
	return ERR_PTR(ret);
}

/* With the walk of that part: what one child has. */
static int bring_to_child(struct mem_mr *mr, u64 va, u64 len,
			  struct ornic_bring *bring)
{
	struct child *child;
	int ret;

	child = child_get(mr, va, bring->job ?: (const void *)bring);
	if (IS_ERR(child))
		return PTR_ERR(child);
	ret = bring_chunk(&child->part, va, len, bring);
	child->used |= bring->found;
	/* There may be no memory, and no invalidation then takes it away. */
	if (!child->used)
		child_end(child);
	child_put(child);
	return ret;
}

static s64 bring_mem(struct ornic_ib_odp *odp, u64 addr, u64 len,
		     struct ornic_bring *bring)
{
	u64 end = odp->pager->mm->task_size;
	struct mem_mr *mr = to_mem_mr(odp);
	u64 va = addr - mr->shift;
	struct ornic_walk walk = { .odp = odp, .part = va >> CHILD_SHIFT };
	int ret;

	if (va >= end || len > end - va)
		return -EFAULT;
	len = min_t(u64, len, CHILD_BYTES - (va & (CHILD_BYTES - 1)));
	ret = ornic_walk_begin(odp->pager, &walk, bring->job);
	if (ret)
		return ret;
	if (READ_ONCE(odp->key_gone))
		ret = -ENOENT;
	else if (mr->implicit)
		ret = bring_to_child(mr, va, len, bring);
	else
		ret = bring_chunk(&mr->whole, va, len, bring);
	ornic_walk_end(odp->pager, &walk);
	return ret ?: (s64)len;
}

/* ---- The end -------------------------------------------------------------------- */

/* One of the children; its reference is the caller's. NULL: there is none. */
static struct child *child_pop(struct mem_mr *mr)
{
	unsigned long index = 0;
	struct child *child;

	mutex_lock(&mr->children_lock);
	child = xa_find(&mr->children, &index, ULONG_MAX, XA_PRESENT);
	if (child)
		xa_erase(&mr->children, index);
	mutex_unlock(&mr->children_lock);
	return child;
}

/* The key is gone, so none is added any more; and none is reclaimed. */
static void put_children(struct mem_mr *mr)
{
	struct child *child;

	while ((child = child_pop(mr))) {
		child_goes(child);
		child_put(child);
		cond_resched();
	}
}

static void end_mem(struct ornic_ib_odp *odp)
{
	struct mem_mr *mr = to_mem_mr(odp);
	struct ib_umem_odp *umem = mr->whole.umem;

	put_children(mr);
	/* A fault may hold the MR for long; none of its pages is mapped then. */
	if (mr->implicit)
		return;
	mutex_lock(&umem->umem_mutex);
	invalidate_locked(&mr->whole, ib_umem_start(umem), ib_umem_end(umem));
	mutex_unlock(&umem->umem_mutex);
}

static const struct ornic_odp_ops mem_ops = {
	.bring = bring_mem,
	.end = end_mem,
	.release = mr_release,
};

static struct mem_mr *mr_alloc(struct ornic_ib_dev *dev)
{
	struct mem_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	ret = ornic_odp_open(&mr->odp, dev, &mem_ops);
	if (ret) {
		kfree(mr);
		return ERR_PTR(ret);
	}
	mr->whole.mr = mr;
	mutex_init(&mr->children_lock);
	xa_init(&mr->children);
	return mr;
}

/* ---- Registration ---------------------------------------------------------------- */

/*
 * The first notifier of a process takes mmap_lock for writing, which may be held for a
 * page that hangs. Here only the process itself waits for it.
 */
static int prepare_children(struct ib_umem_odp *umem)
{
	struct ib_umem_odp *child;

	child = ib_umem_odp_alloc_child(umem, 0, PAGE_SIZE, &part_ops);
	if (IS_ERR(child))
		return PTR_ERR(child);
	ib_umem_odp_release(child);
	return 0;
}

static int get_implicit_umem(struct mem_mr *mr, int flags)
{
	struct ib_umem_odp *umem;
	int ret;

	umem = ib_umem_odp_alloc_implicit(&mr->odp.dev->ibdev, flags);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	ret = prepare_children(umem);
	if (ret) {
		ib_umem_odp_release(umem);
		return ret;
	}
	mr->whole.umem = umem;
	return 0;
}

static int get_umem(struct mem_mr *mr, u64 start, u64 length, int flags)
{
	struct ib_umem_odp *umem;

	/* Pages of the key have one size: huge ones are many. */
	flags &= ~IB_ACCESS_HUGETLB;
	if (mr->implicit)
		return get_implicit_umem(mr, flags);
	if (!ornic_odp_charge(&mr->odp, length))
		return -ENOMEM;
	umem = ib_umem_odp_get(&mr->odp.dev->ibdev, start, length, flags,
			       &part_ops);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	mr->whole.given = kvcalloc(BITS_TO_LONGS(ib_umem_odp_num_pages(umem)),
				   sizeof(*mr->whole.given),
				   GFP_KERNEL_ACCOUNT);
	if (!mr->whole.given) {
		ib_umem_odp_release(umem);
		return -ENOMEM;
	}
	mr->whole.umem = umem;
	return 0;
}

/* The memory of @params, and its key. */
static int get_memory(struct mem_mr *mr, u64 start,
		      struct ornic_create_mkey_params *params, int flags)
{
	int ret;

	mr->implicit = !start && params->length == U64_MAX;
	mr->shift = params->iova - start;
	if (mr->implicit && params->iova)
		return -EINVAL;
	ret = get_umem(mr, start, params->length, flags);
	if (ret)
		return ret;
	mr->odp.writable = mr->whole.umem->umem.writable;
	if (mr->implicit)
		return 0;
	/* It has no pages before the key is found. Pairs as that of a child. */
	smp_store_release(&mr->whole.umem->private, &mr->whole);
	return 0;
}

int ornic_odp_reg(struct ornic_ib_dev *dev, struct ornic_ib_mr *ibmr, u64 start,
		  struct ornic_create_mkey_params *params, int flags)
{
	struct mem_mr *mr = mr_alloc(dev);
	int ret;

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	ret = get_memory(mr, start, params, flags);
	if (ret) {
		mr_free(mr);
		return ret;
	}
	ret = ornic_odp_publish(&mr->odp, params);
	if (ret) {
		ornic_ib_odp_put(&mr->odp);
		return ret;
	}
	ibmr->odp = &mr->odp;
	ornic_odp_describe(&mr->odp, ibmr, flags);
	return 0;
}
