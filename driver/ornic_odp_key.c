// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * On-demand paging: keys, which faults look up, and which get and lose pages by commands.
 * Where the pages come from is the business of ornic_odp.c, memory of a process, and
 * ornic_odp_dmabuf.c.
 *
 * A fault may take as long as user space likes (FUSE). So what goes waits for none: MRs,
 * and the faults of QPs (ornic_odp_fault.c), are counted, and hold the device. Only an MR on
 * a dma-buf waits for those who have the lock of its exporter.
 */
#include "ornic_odp_key.h"

#include <linux/sched/signal.h>
#include <linux/xarray.h>

#include "ornic_cmd.h"
#include "ornic_dev.h"
#include "ornic_mr.h"
#include "ornic_odp.h"
#include "ornic_odp_mr.h"

/* Kernel memory for each page of a range, bytes. */
#define PAGE_COST 24

/* ---- Lifetime -------------------------------------------------------------------- */

int ornic_odp_open(struct ornic_ib_odp *odp, struct ornic_ib_dev *dev,
		   const struct ornic_odp_ops *ops)
{
	struct ornic_pager *pager = ornic_pager_get(dev);

	if (IS_ERR(pager))
		return PTR_ERR(pager);
	odp->pager = pager;
	odp->dev = dev;
	odp->ops = ops;
	refcount_set(&odp->ref, 1);
	init_rwsem(&odp->key_lock);
	return 0;
}

void ornic_odp_free(struct ornic_ib_odp *odp)
{
	struct ornic_pager *pager = odp->pager;

	ornic_pager_uncharge(pager, odp->charged);
	kfree_rcu(odp, rcu);
	/* It may hold the module for the last time. */
	ornic_pager_put(pager);
}

bool ornic_odp_charge(struct ornic_ib_odp *odp, u64 length)
{
	u64 npages = (length >> PAGE_SHIFT) + 2;
	u64 pages = (npages * PAGE_COST >> PAGE_SHIFT) + 1;

	if (!ornic_pager_charge(odp->pager, pages))
		return false;
	odp->charged = pages;
	return true;
}

void ornic_ib_odp_put(struct ornic_ib_odp *odp)
{
	if (refcount_dec_and_test(&odp->ref))
		odp->ops->release(odp);
}

struct ornic_ib_odp *ornic_ib_odp_get(struct ornic_ib_dev *dev, u32 key)
{
	struct ornic_ib_odp *odp;

	rcu_read_lock();
	odp = xa_load(&dev->odps, key);
	if (odp && !refcount_inc_not_zero(&odp->ref))
		odp = NULL;
	rcu_read_unlock();
	return odp;
}

/* ---- The key --------------------------------------------------------------------- */

/* Unless windows are bound to it; no command names it afterwards. */
static int destroy_key(struct ornic_ib_odp *odp, bool may_have_windows)
{
	int ret;

	down_write(&odp->key_lock);
	ret = ornic_cmd_destroy_mkey(odp->dev, odp->key, may_have_windows);
	if (!ret) {
		odp->lives = ornic_dma_lives(&odp->dev->ibdev, NULL, 0);
		WRITE_ONCE(odp->key_gone, true);
	}
	up_write(&odp->key_lock);
	return ret;
}

int ornic_odp_publish(struct ornic_ib_odp *odp,
		      struct ornic_create_mkey_params *params)
{
	struct ornic_ib_dev *dev = odp->dev;
	int ret;

	params->odp = true;
	params->mem.page_shift = PAGE_SHIFT;
	ret = ornic_cmd_create_mkey(dev, params, &odp->key);
	if (ret)
		return ret;
	odp->pdn = params->pdn;
	odp->iova = params->iova;
	odp->length = params->length;
	ret = xa_insert(&dev->odps, odp->key, odp, GFP_KERNEL);
	if (ret)
		goto err_destroy_mkey;
	return 0;

err_destroy_mkey:
	destroy_key(odp, false);
	/* The key of an MR that is about to go. */
	return ret == -EBUSY ? -EAGAIN : ret;
}

void ornic_odp_describe(const struct ornic_ib_odp *odp, struct ornic_ib_mr *mr,
			int access)
{
	mr->access = access;
	mr->page_shift = PAGE_SHIFT;
	mr->ibmr.lkey = odp->key;
	mr->ibmr.rkey = odp->key;
	mr->ibmr.length = odp->length;
}

int ornic_odp_unpublish(struct ornic_ib_odp *odp, bool may_have_windows)
{
	int ret = destroy_key(odp, may_have_windows);

	if (ret)
		return ret;
	xa_erase(&odp->dev->odps, odp->key);
	odp->ops->end(odp);
	ornic_ib_odp_put(odp);
	return 0;
}

int ornic_odp_dereg(struct ornic_ib_mr *mr)
{
	return ornic_odp_unpublish(mr->odp, mr->ibmr.uobject);
}

bool ornic_odp_clear(struct ornic_ib_odp *odp, u64 addr, u64 len)
{
	bool lives;

	down_read(&odp->key_lock);
	lives = odp->lives;
	if (!odp->key_gone) {
		ornic_cmd_clear_pages(odp->dev, odp->key, addr, len);
		lives = ornic_dma_lives(&odp->dev->ibdev, NULL, 0);
	}
	up_read(&odp->key_lock);
	return lives;
}

/* key_lock held; the key exists. */
static int set_locked(struct ornic_ib_odp *odp, u64 addr, u32 npages,
		      struct ornic_bring *bring)
{
	struct ornic_ib_dev *dev = odp->dev;
	int ret;

	if (ornic_is_dead(dev))
		return -EIO;
	bring->sent = true;
	ret = ornic_cmd_set_pages(dev, odp->key, addr, bring->dma, npages);
	if (ret && ornic_dma_lives(&dev->ibdev, bring->list,
				   ORNIC_LIST_ENTRIES * sizeof(*bring->list)))
		bring->keep = true;
	return ret;
}

int ornic_odp_set(struct ornic_ib_odp *odp, u64 addr, u32 npages,
		  struct ornic_bring *bring)
{
	int ret = -ENOENT;

	down_read(&odp->key_lock);
	if (!odp->key_gone)
		ret = set_locked(odp, addr, npages, bring);
	up_read(&odp->key_lock);
	return ret;
}

/* ---- Faults and advice ----------------------------------------------------------- */

int ornic_bring_in(struct ornic_ib_odp *odp, u64 addr, u64 len,
		   struct ornic_bring *bring)
{
	s64 done;

	bring->gone = &odp->key_gone;
	for (; len; addr += done, len -= done) {
		if (fatal_signal_pending(current))
			return -EINTR;
		done = odp->ops->bring(odp, addr, len, bring);
		if (done < 0)
			return done;
		cond_resched();
	}
	return 0;
}

int ornic_ib_odp_check(const struct ornic_ib_odp *odp, u32 pdn, u64 addr,
		       u64 length, bool write)
{
	if (odp->pdn != pdn || addr < odp->iova || length > odp->length ||
	    addr - odp->iova > odp->length - length)
		return -EINVAL;
	return write && !odp->writable ? -EPERM : 0;
}

struct ornic_pager *ornic_ib_odp_pager(const struct ornic_ib_odp *odp)
{
	return odp->pager;
}
