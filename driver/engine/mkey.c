// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory keys of all kinds: CREATE_, MODIFY_ and DESTROY_MKEY, and the
 * invalidation of FRMRs and windows.
 */
#include "mkey.h"
#include "frmr.h"
#include "mw.h"
#include "odp.h"
#include "proto.h"

#define FEW_QPS 64 /* whose locks are passed sooner than RCU waits */

/* A key of all DMA memory: there is nothing to resolve. */
static int dma_key_init(struct ornic_dev *dev, struct ornic_mkey *m,
			const struct ornic_req_create_mkey *req)
{
	if (req->flags != ORNIC_MKEY_DMA || m->iova || m->length ||
	    req->mem.npages || !ornic_access_is_legal(m->access))
		return -EINVAL;
	m->dev = dev;
	return 0;
}

/*
 * Map @iova and @length of @m; its bytes must lie inside its pages, which are device
 * memory if it has @dev. They begin at @off0 of @m if @at_offset is set, which may be
 * any number, else where @iova tells.
 */
static int map_bytes(struct ornic_dev *dev, struct ornic_mkey *m,
		     const struct ornic_mem *mem, bool at_offset)
{
	u64 limit = m->dev ? ORNIC_MAX_MR_BYTES : ornic_max_mem(dev);
	u64 bytes;
	int err;

	if (m->length > limit || m->off0 > limit ||
	    m->iova > U64_MAX - m->length || (!m->length && !at_offset))
		return -EINVAL;
	/* The host's dma op takes no empty range. */
	err = m->dev ? ornic_pages_get_dm(dev, mem, &m->pages) :
		       ornic_pages_get_part(dev, mem, m->off0 + m->length ?: 1,
					    &m->pages);
	if (err)
		return err;
	bytes = ornic_pages_bytes(&m->pages);
	if (!at_offset && m->pages.page)
		m->off0 = m->iova & ((1ull << m->pages.page_shift) - 1);
	if (m->off0 > bytes || m->length > bytes - m->off0) {
		ornic_pages_put(&m->pages);
		return -EINVAL;
	}
	return 0;
}

/* Nobody uses @m any more. */
static void put_memory(const struct ornic_dev *dev, struct ornic_mkey *m)
{
	if (m->frmr)
		ornic_frmr_put(m->frmr);
	else if (m->odp)
		ornic_odp_fini(dev, m->odp);
	else
		ornic_pages_put(&m->pages);
}

static struct ornic_mkey *alloc_key(u8 flags)
{
	if (flags & ORNIC_MKEY_FAST)
		return ornic_frmr_alloc();
	if (flags & ORNIC_MKEY_ODP)
		return ornic_odp_alloc();
	return ornic_zalloc(sizeof(struct ornic_mkey));
}

static int mkey_init(struct ornic_dev *dev, struct ornic_mkey *m,
		     const struct ornic_req_create_mkey *req)
{
	bool at_offset = req->flags & ORNIC_MKEY_OFFSET;

	m->iova = le64_to_cpu(req->iova);
	m->length = le64_to_cpu(req->length);
	m->pdn = le32_to_cpu(req->pdn);
	m->access = req->access;
	if (m->frmr)
		return ornic_frmr_init(m->frmr, req);
	if (m->odp)
		return ornic_odp_init(dev, m->odp, req);
	if (req->flags & ~(ORNIC_MKEY_OFFSET | ORNIC_MKEY_DM))
		return dma_key_init(dev, m, req);
	if (!ornic_access_is_legal(m->access))
		return -EINVAL;
	if (req->flags & ORNIC_MKEY_DM) {
		if (!dev->ops->dm)
			return -EINVAL;
		m->dev = dev;
	}
	if (at_offset)
		m->off0 = le64_to_cpu(req->offset);
	return map_bytes(dev, m, &req->mem, at_offset);
}

int ornic_mkey_create(struct ornic_dev *dev,
		      const struct ornic_req_create_mkey *req, u32 *key)
{
	u32 random = dev->ops->random(dev->host);
	struct ornic_mkey *m;
	int index, err;

	m = alloc_key(req->flags);
	if (!m)
		return ORNIC_NO_RESOURCE;
	err = mkey_init(dev, m, req);
	if (err)
		goto err_free;
	index = ornic_mkey_reserve(dev, random >> 8);
	if (index < 0) {
		err = index;
		goto err_put_memory;
	}
	m->key = (u32)index << 8 | (random & 0xff);
	*key = m->key;
	ornic_table_publish(&dev->mkeys, (u32)index, m);
	return ORNIC_OK;

err_put_memory:
	put_memory(dev, m);
err_free:
	ornic_free(m);
	return ornic_errno_status(err);
}

static void pass_locks(struct ornic_qp *qp)
{
	ornic_lock(&qp->sq.lock);
	ornic_unlock(&qp->sq.lock);
	ornic_lock(&qp->rq.lock);
	ornic_unlock(&qp->rq.lock);
}

/*
 * Wait until keys that were unlinked are unused. The memory of a key is used
 * only under a lock of a QP of its device, and the key is looked up under
 * that lock: after all these locks were passed there are no users left. A QP
 * that is out of its table runs until the end of the grace period for which
 * ornic_qp_destroy() waits. A grace period costs more than the locks of a few
 * QPs.
 */
void ornic_mkey_wait_for_users(struct ornic_dev *dev)
{
	struct ornic_qp *qp;
	u32 i;

	/* A QP that is not seen here finds no key: pairs with that of ornic_qp_create(). */
	smp_mb();
	if (READ_ONCE(dev->qps.count) > FEW_QPS) {
		ornic_rcu_wait();
		return;
	}
	ornic_rcu_read_lock();
	for (i = 0; (qp = ornic_table_next(&dev->qps, &i)); i++)
		pass_locks(qp);
	ornic_rcu_read_unlock();
	/* Pairs with the one in ornic_qp_destroy() before it is unlinked. */
	smp_mb();
	if (ornic_atomic_read(&dev->qps_leaving))
		ornic_rcu_wait();
}

/*
 * No window is bound to @m from now on, as it is about to be destroyed or replaced.
 * Fails if one is. An enum ornic_status.
 */
static int end_binding(struct ornic_mkey *m)
{
	return ornic_atomic_cmpxchg(&m->windows, 0, -1) > 0 ? ORNIC_BUSY :
							      ORNIC_OK;
}

int ornic_mkey_destroy(struct ornic_dev *dev, u32 key)
{
	int status = ORNIC_NOT_FOUND;
	struct ornic_mkey *m;

	ornic_rcu_read_lock();
	m = ornic_mkey_lookup(dev, key);
	/* Work requests change the variant of an FRMR. */
	if (m && (m->frmr || m->key == key) && !m->window)
		status = end_binding(m);
	ornic_rcu_read_unlock();
	if (status != ORNIC_OK)
		return status;
	m = ornic_table_unlink(&dev->mkeys, key >> 8);
	if (!m)
		return ORNIC_NOT_FOUND;
	ornic_mkey_wait_for_users(dev);
	ornic_table_release(&dev->mkeys, key >> 8);
	put_memory(dev, m);
	ornic_free_rcu(m, rcu);
	return ORNIC_OK;
}

/* Copy the key that @req is about. Returns it as it is in the table, or NULL. */
static struct ornic_mkey *copy_key(struct ornic_dev *dev, u32 key,
				   struct ornic_mkey *copy)
{
	struct ornic_mkey *m;

	ornic_rcu_read_lock();
	m = ornic_mkey_lookup(dev, key);
	if (m && (m->guarded || m->key != key || m->window))
		m = NULL;
	if (m) {
		*copy = *m;
		/* Those of @m stay with it. */
		ornic_atomic_set(&copy->windows, 0);
	}
	ornic_rcu_read_unlock();
	return m;
}

/* @m is a copy of the key with its old pages: make of it what is asked for. */
static int mkey_change(struct ornic_dev *dev, struct ornic_mkey *m,
		       const struct ornic_req_modify_mkey *req)
{
	if (req->mask & ~ORNIC_MKEYM_ALL || m->dev)
		return -EINVAL;
	if (req->mask & ORNIC_MKEYM_PD)
		m->pdn = le32_to_cpu(req->pdn);
	if (req->mask & ORNIC_MKEYM_ACCESS)
		m->access = req->access;
	if (!ornic_access_is_legal(m->access))
		return -EINVAL;
	if (!(req->mask & ORNIC_MKEYM_MEM))
		return 0;
	m->iova = le64_to_cpu(req->iova);
	m->length = le64_to_cpu(req->length);
	m->off0 = 0;
	return map_bytes(dev, m, &req->mem, false);
}

/*
 * Put @m in the place of @old, unless windows are bound to that, or it is gone. An
 * enum ornic_status.
 */
static int mkey_replace(struct ornic_dev *dev, u32 key, struct ornic_mkey *old,
			struct ornic_mkey *m)
{
	int status = ORNIC_NOT_FOUND;

	ornic_rcu_read_lock();
	if (ornic_mkey_lookup(dev, key) == old)
		status = end_binding(old);
	ornic_rcu_read_unlock();
	if (status == ORNIC_OK &&
	    !ornic_table_replace(&dev->mkeys, key >> 8, old, m))
		status = ORNIC_NOT_FOUND;
	return status;
}

int ornic_mkey_modify(struct ornic_dev *dev,
		      const struct ornic_req_modify_mkey *req)
{
	struct ornic_mkey *m = ornic_zalloc(sizeof(*m));
	u32 key = le32_to_cpu(req->hdr.obj);
	bool moves = req->mask & ORNIC_MKEYM_MEM;
	int status = ORNIC_NOT_FOUND;
	struct ornic_mkey *old;

	if (!m)
		return ORNIC_NO_RESOURCE;
	old = copy_key(dev, key, m);
	if (!old)
		goto err_free;
	status = ornic_errno_status(mkey_change(dev, m, req));
	if (status != ORNIC_OK)
		goto err_free;
	status = mkey_replace(dev, key, old, m);
	if (status != ORNIC_OK)
		goto err_put_pages;
	ornic_mkey_wait_for_users(dev);
	if (moves)
		ornic_pages_put(&old->pages);
	ornic_free_rcu(old, rcu);
	return ORNIC_OK;

err_put_pages:
	if (moves)
		ornic_pages_put(&m->pages);
err_free:
	ornic_free_rcu(m, rcu);
	return status;
}

enum ornic_vendor_err ornic_key_invalidate(const struct ornic_qp *qp, u32 key,
					   bool remote)
{
	struct ornic_mkey *m = ornic_mkey_lookup(qp->dev, key);

	if (m && m->frmr)
		return ornic_frmr_invalidate(m, qp, key, remote);
	return ornic_mw_invalidate(qp, key);
}

enum ornic_vendor_err ornic_req_invalidate(struct ornic_qp *qp,
					   const struct ornic_swqe *sw)
{
	enum ornic_vendor_err verr;

	/* Of the peer's requests none that uses the key is half done. */
	ornic_lock(&qp->rq.lock);
	verr = ornic_key_invalidate(qp, be32_to_cpu(sw->imm), false);
	ornic_unlock(&qp->rq.lock);
	return verr;
}
