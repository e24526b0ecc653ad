// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * FRMRs. They are registered and invalidated per message, so a lock protects
 * them instead of RCU: each lookup takes it, and its result is valid while the
 * lock of the queue that it works for is held.
 *
 * LOCAL_INV and READ_INV hold both locks of their QP, SEND_INV the lock of the RQ,
 * and each holds the use lock of the MR, as every request of a peer does for the
 * time that it moves data. So no access by a peer, through whichever QP, is under
 * way when the work request completes. Work requests of other QPs that use the
 * lkey are the program's own: it waits for them first.
 */
#include "frmr.h"
#include "dev.h"
#include "proto.h"

#define PAGE_MASK_4K ((1ull << ORNIC_PAGE_SHIFT) - 1)
#define MAX_PAGE_SHIFT 40
#define REMOTE_RIGHTS                                           \
	(ORNIC_ACCESS_REMOTE_WRITE | ORNIC_ACCESS_REMOTE_READ | \
	 ORNIC_ACCESS_REMOTE_ATOMIC)

static_assert(ORNIC_LIST_SEGMENTS * sizeof(struct ornic_list_segment) ==
	      1u << ORNIC_PAGE_SHIFT);

/* ---- Commands ------------------------------------------------------------------ */

struct ornic_mkey *ornic_frmr_alloc(void)
{
	struct ornic_frmr *f = ornic_zalloc(sizeof(*f));

	if (!f)
		return NULL;
	ornic_lock_init(&f->use);
	ornic_lock_init(&f->lock);
	f->base.frmr = f;
	f->base.guarded = true;
	return &f->base;
}

int ornic_frmr_init(struct ornic_frmr *f,
		    const struct ornic_req_create_mkey *req)
{
	struct ornic_mkey *m = &f->base;

	f->room = le32_to_cpu(req->mem.npages);
	if ((req->flags & ~ORNIC_MKEY_SG_GAPS) != ORNIC_MKEY_FAST || m->iova ||
	    m->length || m->access || !f->room || f->room > ORNIC_LIST_ENTRIES)
		return -EINVAL;
	if (req->flags & ORNIC_MKEY_SG_GAPS) {
		f->seg = ornic_vzalloc(f->room * sizeof(*f->seg));
		return f->seg ? 0 : -ENOMEM;
	}
	m->pages.page = ornic_vzalloc(f->room * sizeof(*m->pages.page));
	return m->pages.page ? 0 : -ENOMEM;
}

void ornic_frmr_put(struct ornic_frmr *f)
{
	ornic_vfree(f->seg);
	ornic_pages_put(&f->base.pages);
}

/* ---- Registering ---------------------------------------------------------------- */

/* Resolve the list that @sw names, each entry once. */
static bool read_list(struct ornic_dev *dev, struct ornic_pages *pages,
		      const struct ornic_swqe *sw)
{
	const __le64 *list;
	u64 entry;
	u32 i;

	if (sw->reg_list & PAGE_MASK_4K)
		return false;
	list = dev->ops->dma(dev->host, sw->reg_list,
			     sw->reg_npages * sizeof(*list));
	if (!list)
		return false;
	for (i = 0; i < sw->reg_npages; i++) {
		entry = le64_to_cpu(READ_ONCE(list[i]));
		if (entry & PAGE_MASK_4K)
			return false;
		pages->page[i] =
			dev->ops->dma(dev->host, entry, 1ull << sw->reg_shift);
		if (!pages->page[i])
			return false;
	}
	pages->npages = sw->reg_npages;
	pages->page_shift = sw->reg_shift;
	return true;
}

/* Do the bytes that @sw asks for lie inside its pages? */
static bool range_fits(const struct ornic_swqe *sw)
{
	u64 bytes, off0;

	if (sw->reg_shift < ORNIC_PAGE_SHIFT || sw->reg_shift > MAX_PAGE_SHIFT)
		return false;
	bytes = (u64)sw->reg_npages << sw->reg_shift;
	off0 = sw->raddr & ((1ull << sw->reg_shift) - 1);
	return bytes <= ORNIC_MAX_MR_BYTES && sw->bind_length <= bytes - off0;
}

static enum ornic_vendor_err get_pages(struct ornic_dev *dev,
				       struct ornic_frmr *f,
				       const struct ornic_swqe *sw)
{
	if (!range_fits(sw))
		return ORNIC_VERR_BAD_LENGTH;
	if (!read_list(dev, &f->base.pages, sw))
		return ORNIC_VERR_LKEY_RANGE;
	f->base.off0 = sw->raddr & ((1ull << sw->reg_shift) - 1);
	return ORNIC_VERR_NONE;
}

/* The page of the list of @sw that begins with segment @first; NULL: there is none. */
static const struct ornic_list_segment *
segment_page(struct ornic_dev *dev, const struct ornic_frmr *f,
	     const struct ornic_swqe *sw, u32 first)
{
	u32 n = min_t(u32, sw->reg_npages - first, ORNIC_LIST_SEGMENTS);
	u64 addr = sw->reg_list;
	const __le64 *entry;

	if (f->room > ORNIC_LIST_SEGMENTS) {
		if (addr & PAGE_MASK_4K)
			return NULL;
		addr += first / ORNIC_LIST_SEGMENTS * sizeof(*entry);
		entry = dev->ops->dma(dev->host, addr, sizeof(*entry));
		if (!entry)
			return NULL;
		addr = le64_to_cpu(READ_ONCE(*entry));
	}
	if (addr & PAGE_MASK_4K)
		return NULL;
	return dev->ops->dma(dev->host, addr,
			     n * sizeof(struct ornic_list_segment));
}

/* Add the segment that @entry names to those before it, which end at *@end. */
static enum ornic_vendor_err get_segment(struct ornic_dev *dev,
					 struct ornic_segment *seg,
					 const struct ornic_list_segment *entry,
					 u64 *end)
{
	u64 addr = le64_to_cpu(READ_ONCE(entry->addr));
	u64 len = le64_to_cpu(READ_ONCE(entry->length));

	if (!len || len > ORNIC_MAX_MR_BYTES - *end)
		return ORNIC_VERR_BAD_LENGTH;
	seg->ptr = dev->ops->dma(dev->host, addr, len);
	if (!seg->ptr)
		return ORNIC_VERR_LKEY_RANGE;
	*end += len;
	seg->end = *end;
	return ORNIC_VERR_NONE;
}

/* Resolve the segments that @sw names, each entry once. */
static enum ornic_vendor_err get_segments(struct ornic_dev *dev,
					  struct ornic_frmr *f,
					  const struct ornic_swqe *sw)
{
	const struct ornic_list_segment *list = NULL;
	enum ornic_vendor_err verr;
	u64 end = 0;
	u32 i, at;

	if (sw->reg_shift)
		return ORNIC_VERR_BAD_LENGTH;
	for (i = 0; i < sw->reg_npages; i++) {
		at = i % ORNIC_LIST_SEGMENTS;
		if (!at)
			list = segment_page(dev, f, sw, i);
		if (!list)
			return ORNIC_VERR_LKEY_RANGE;
		verr = get_segment(dev, &f->seg[i], &list[at], &end);
		if (verr != ORNIC_VERR_NONE)
			return verr;
	}
	if (sw->bind_length > end)
		return ORNIC_VERR_BAD_LENGTH;
	f->nsegs = sw->reg_npages;
	return ORNIC_VERR_NONE;
}

static enum ornic_vendor_err register_locked(struct ornic_dev *dev,
					     struct ornic_frmr *f,
					     const struct ornic_swqe *sw)
{
	struct ornic_mkey *m = &f->base;
	enum ornic_vendor_err verr;

	/* IBTA 10.6.4: out of the free state, and no other. */
	if (f->valid)
		return ORNIC_VERR_BAD_OPCODE;
	if (sw->bind_access & ~ORNIC_ACCESS_MASK ||
	    !ornic_access_is_legal(sw->bind_access))
		return ORNIC_VERR_LKEY_ACCESS;
	if (!sw->reg_npages || sw->reg_npages > f->room || !sw->bind_length ||
	    sw->raddr > U64_MAX - sw->bind_length)
		return ORNIC_VERR_BAD_LENGTH;
	verr = f->seg ? get_segments(dev, f, sw) : get_pages(dev, f, sw);
	if (verr != ORNIC_VERR_NONE)
		return verr;
	m->key = sw->rkey;
	m->access = sw->bind_access;
	m->iova = sw->raddr;
	m->length = sw->bind_length;
	f->valid = true;
	return ORNIC_VERR_NONE;
}

enum ornic_vendor_err ornic_frmr_register(const struct ornic_qp *qp,
					  const struct ornic_swqe *sw)
{
	struct ornic_mkey *m = ornic_mkey_lookup(qp->dev, sw->rkey);
	enum ornic_vendor_err verr;

	if (!m || !m->frmr)
		return ORNIC_VERR_LKEY_UNKNOWN;
	if (m->pdn != qp->pdn)
		return ORNIC_VERR_LKEY_PD;
	ornic_lock(&m->frmr->lock);
	verr = register_locked(qp->dev, m->frmr, sw);
	ornic_unlock(&m->frmr->lock);
	return verr;
}

/* ---- Invalidating ----------------------------------------------------------------- */

/* What has no memory (any more) can be invalidated again. */
static enum ornic_vendor_err invalidate_locked(struct ornic_frmr *f,
					       const struct ornic_qp *qp,
					       u32 key, bool remote)
{
	if (f->base.key != key)
		return ORNIC_VERR_LKEY_UNKNOWN;
	if (f->base.pdn != qp->pdn)
		return ORNIC_VERR_LKEY_PD;
	/* A peer has no say in keys that are not for peers. */
	if (remote && !(f->base.access & REMOTE_RIGHTS))
		return ORNIC_VERR_LKEY_ACCESS;
	f->valid = false;
	return ORNIC_VERR_NONE;
}

enum ornic_vendor_err ornic_frmr_invalidate(const struct ornic_mkey *m,
					    const struct ornic_qp *qp, u32 key,
					    bool remote)
{
	struct ornic_frmr *f = ornic_frmr_hold(m);
	enum ornic_vendor_err verr;

	ornic_lock(&f->lock);
	verr = invalidate_locked(f, qp, key, remote);
	ornic_unlock(&f->lock);
	ornic_frmr_release(f);
	return verr;
}
