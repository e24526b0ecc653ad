// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Remote keys, and memory windows of type 1 and 2B.
 *
 * A window that is bound counts as a user of its MR, which can neither be
 * destroyed nor changed meanwhile. So what a lookup finds through a window is
 * good under the lock of its QP even if the window is invalidated in the middle:
 * the MR waits for that lock before it goes (mem.h).
 */
#include "mw.h"
#include "dev.h"
#include "odp.h"
#include "proto.h"

/* Rights that a window may give; local ones mean nothing to it. */
#define WINDOW_CHANGES (ORNIC_ACCESS_REMOTE_WRITE | ORNIC_ACCESS_REMOTE_ATOMIC)

static struct ornic_mw *mw_lookup(struct ornic_dev *dev, u32 key)
{
	struct ornic_mkey *m = ornic_mkey_lookup(dev, key);

	return m ? m->window : NULL;
}

static bool range_covers(u64 start, u64 size, u64 addr, u64 len)
{
	return addr >= start && len <= size && addr - start <= size - len;
}

/* ---- Use ----------------------------------------------------------------------- */

static enum ornic_vendor_err check_locked(const struct ornic_mw *mw,
					  const struct ornic_qp *qp, u32 rkey,
					  u64 addr, u64 len, u8 access)
{
	if (!mw->mr || mw->key != rkey)
		return ORNIC_VERR_LKEY_UNKNOWN;
	if (mw->base.pdn != qp->pdn ||
	    (mw->type == ORNIC_MW_TYPE_2 && mw->qp_id != qp->id))
		return ORNIC_VERR_LKEY_PD;
	if (access & ~mw->access)
		return ORNIC_VERR_LKEY_ACCESS;
	if (len && !range_covers(mw->addr, mw->length, addr, len))
		return ORNIC_VERR_LKEY_RANGE;
	return ORNIC_VERR_NONE;
}

static noinline enum ornic_vendor_err
check_window(struct ornic_mw *mw, const struct ornic_qp *qp, u32 rkey, u64 addr,
	     u64 len, u8 access, struct ornic_mkey **mkey)
{
	enum ornic_vendor_err verr;

	ornic_lock(&mw->lock);
	verr = check_locked(mw, qp, rkey, addr, len, access);
	if (verr == ORNIC_VERR_NONE)
		*mkey = mw->mr;
	ornic_unlock(&mw->lock);
	return verr;
}

/* The window is good for it; are the pages there? */
static bool window_lacks_page(const struct ornic_mkey *mr, u64 addr, u64 len,
			      u8 access)
{
	len = ornic_odp_ahead(len);
	return mr->odp && ornic_odp_present(mr->odp, addr, len,
					    ornic_access_writes(access)) != len;
}

static noinline enum ornic_vendor_err
check_window_pages(struct ornic_mw *mw, const struct ornic_qp *qp, u32 rkey,
		   u64 addr, u64 len, u8 access, struct ornic_mkey **mkey)
{
	enum ornic_vendor_err verr;

	verr = check_window(mw, qp, rkey, addr, len, access, mkey);
	if (verr == ORNIC_VERR_NONE &&
	    window_lacks_page(*mkey, addr, len, access))
		verr = ORNIC_VERR_PAGE;
	return verr;
}

enum ornic_vendor_err ornic_rkey_check(const struct ornic_qp *qp, u32 rkey,
				       u64 addr, u64 len, u8 access,
				       struct ornic_mkey **mkey)
{
	struct ornic_mkey *m = ornic_mkey_lookup(qp->dev, rkey);
	enum ornic_vendor_err verr;

	if (unlikely(!m))
		return ORNIC_VERR_LKEY_UNKNOWN;
	if (unlikely(m->window))
		return check_window_pages(m->window, qp, rkey, addr, len,
					  access, mkey);
	verr = ornic_mr_check(m, rkey, qp->pdn, addr, len, access);
	if (verr == ORNIC_VERR_NONE || verr == ORNIC_VERR_PAGE)
		*mkey = m;
	return verr;
}

enum ornic_vendor_err ornic_rkey_map(struct ornic_iov *iov,
				     const struct ornic_qp *qp, u32 rkey,
				     u64 addr, u64 len, u8 access)
{
	struct ornic_mkey *m = ornic_mkey_lookup(qp->dev, rkey), *mkey;
	enum ornic_vendor_err verr;

	if (unlikely(!m))
		return ORNIC_VERR_LKEY_UNKNOWN;
	if (likely(!m->window))
		return ornic_iov_map_mr(iov, m, rkey, qp->pdn, addr, len,
					access);
	verr = check_window(m->window, qp, rkey, addr, len, access, &mkey);
	if (verr != ORNIC_VERR_NONE)
		return verr;
	if (mkey->odp)
		return ornic_odp_map(iov, mkey->odp, addr, len,
				     ornic_access_writes(access));
	ornic_iov_add_key(iov, mkey, addr, len);
	return ORNIC_VERR_NONE;
}

noinline enum ornic_vendor_err ornic_rkey_gather(struct ornic_iov *iov,
						 const struct ornic_qp *qp,
						 u32 rkey, u64 addr, u32 len)
{
	const struct ornic_lsge sge = { addr, len, rkey };
	const struct ornic_sgl sgl = {
		.dev = qp->dev,
		.pdn = qp->pdn,
		.sge = &sge,
		.nsge = 1,
		.len = len,
		.access = ORNIC_ACCESS_REMOTE_READ,
	};

	return ornic_iov_gather(iov, qp->rq.bounce, &sgl);
}

/* @piece goes to memory that is resolved. */
static void write_pages(const struct ornic_mkey *mkey, u64 va,
			const struct ornic_frag *piece)
{
	u64 off = ornic_mkey_off(mkey, va), run;
	u32 done, take;
	u8 *to;

	for (done = 0; done < piece->len; done += take) {
		to = ornic_pages_at(&mkey->pages, off + done, &run);
		take = min_t(u64, run, piece->len - done);
		ornic_copy(to, (const u8 *)piece->ptr + done, take);
	}
}

/* More of a range that @mkey was good for. */
static enum ornic_vendor_err more_of_key(struct ornic_iov *to,
					 const struct ornic_qp *qp, u32 rkey,
					 const struct ornic_mkey *mkey, u64 va,
					 u64 len)
{
	enum ornic_vendor_err verr = ORNIC_VERR_NONE;

	to->n = 0;
	to->bytes = 0;
	if (mkey->dev)
		ornic_iov_add_key(to, mkey, va, len);
	else
		verr = ornic_rkey_map(to, qp, rkey, va, len,
				      ORNIC_ACCESS_REMOTE_WRITE);
	if (verr == ORNIC_VERR_NONE && !to->bytes)
		verr = ORNIC_VERR_LKEY_RANGE;
	return verr;
}

/* Copy what @to maps from the front of @left, and take it off. Return: bytes. */
static u64 fill_pieces(const struct ornic_iov *to, struct ornic_frag *left)
{
	struct ornic_iov from = { left, 1, 1, left->len };

	ornic_iov_copy(to, &from);
	left->ptr = (u8 *)left->ptr + to->bytes;
	left->len -= (u32)to->bytes;
	return to->bytes;
}

/* @piece goes to memory that has to be asked for, and may be invalidated. */
static noinline enum ornic_vendor_err
write_asking(const struct ornic_qp *qp, u32 rkey, const struct ornic_mkey *mkey,
	     u64 va, const struct ornic_frag *piece)
{
	struct ornic_frag dst[8] __uninitialized, left = *piece;
	struct ornic_iov to = { .frag = dst, .max = ARRAY_SIZE(dst) };
	enum ornic_vendor_err verr;

	while (left.len) {
		verr = more_of_key(&to, qp, rkey, mkey, va, left.len);
		if (verr != ORNIC_VERR_NONE)
			return verr;
		va += fill_pieces(&to, &left);
	}
	return ORNIC_VERR_NONE;
}

/* All of @src, of which @mkey was good for the range. */
static enum ornic_vendor_err write_key(const struct ornic_qp *qp, u32 rkey,
				       const struct ornic_mkey *mkey, u64 va,
				       const struct ornic_iov *src)
{
	enum ornic_vendor_err verr = ORNIC_VERR_NONE;
	u32 i;

	if (unlikely(mkey->odp))
		return ornic_odp_write(mkey->odp, va, src);
	for (i = 0; i < src->n && verr == ORNIC_VERR_NONE; i++) {
		if (likely(!mkey->guarded && !mkey->dev))
			write_pages(mkey, va, &src->frag[i]);
		else
			verr = write_asking(qp, rkey, mkey, va, &src->frag[i]);
		va += src->frag[i].len;
	}
	return verr;
}

enum ornic_vendor_err ornic_key_write(struct ornic_qp *qp, u32 rkey, u64 va,
				      const struct ornic_iov *src)
{
	enum ornic_vendor_err verr;
	struct ornic_mkey *mkey;
	struct ornic_frmr *frmr;

	if (!src->bytes)
		return ORNIC_VERR_NONE;
	verr = ornic_rkey_check(qp, rkey, va, src->bytes,
				ORNIC_ACCESS_REMOTE_WRITE, &mkey);
	if (verr != ORNIC_VERR_NONE)
		return verr;
	/* write_asking() looks at the key again. */
	frmr = ornic_frmr_hold(mkey);
	verr = write_key(qp, rkey, mkey, va, src);
	ornic_frmr_release(frmr);
	return verr;
}

/* ---- Binding ------------------------------------------------------------------- */

/* Look up the MR for the window that @sw binds. */
static enum ornic_vendor_err bind_target(const struct ornic_qp *qp,
					 const struct ornic_swqe *sw,
					 struct ornic_mkey **mr)
{
	u8 needs = ORNIC_ACCESS_MW_BIND;
	enum ornic_vendor_err verr;

	/* No right that the MR itself could not give. */
	if (sw->bind_access & WINDOW_CHANGES)
		needs |= ORNIC_ACCESS_LOCAL_WRITE;
	if (sw->bind_access & ~ORNIC_ACCESS_MASK)
		return ORNIC_VERR_BAD_FLAGS;
	verr = ornic_key_check(qp->dev, sw->bind_lkey, qp->pdn, sw->raddr,
			       sw->bind_length, needs, mr);
	/* Pages are needed when the window is used. */
	return verr == ORNIC_VERR_PAGE ? ORNIC_VERR_NONE : verr;
}

static void unbind_locked(struct ornic_mw *mw)
{
	if (mw->mr)
		ornic_atomic_dec(&mw->mr->windows);
	mw->mr = NULL;
}

static enum ornic_vendor_err bind_locked(struct ornic_mw *mw,
					 const struct ornic_qp *qp,
					 const struct ornic_swqe *sw,
					 struct ornic_mkey *mr)
{
	/* A type 2 window is invalidated first. */
	if (mw->type == ORNIC_MW_TYPE_2 && (mw->mr || !mr))
		return ORNIC_VERR_BAD_OPCODE;
	if (mr && !ornic_atomic_inc_unless_negative(&mr->windows))
		return ORNIC_VERR_LKEY_UNKNOWN;
	unbind_locked(mw);
	mw->mr = mr;
	mw->key = sw->rkey;
	mw->access = sw->bind_access;
	mw->addr = sw->raddr;
	mw->length = sw->bind_length;
	mw->qp_id = qp->id;
	return ORNIC_VERR_NONE;
}

enum ornic_vendor_err ornic_mw_bind(const struct ornic_qp *qp,
				    const struct ornic_swqe *sw)
{
	struct ornic_mw *mw = mw_lookup(qp->dev, sw->rkey);
	struct ornic_mkey *mr = NULL;
	enum ornic_vendor_err verr;

	if (!mw)
		return ORNIC_VERR_LKEY_UNKNOWN;
	if (mw->base.pdn != qp->pdn)
		return ORNIC_VERR_LKEY_PD;
	if (sw->bind_length) {
		verr = bind_target(qp, sw, &mr);
		if (verr != ORNIC_VERR_NONE)
			return verr;
	}
	ornic_lock(&mw->lock);
	verr = bind_locked(mw, qp, sw, mr);
	ornic_unlock(&mw->lock);
	return verr;
}

enum ornic_vendor_err ornic_mw_invalidate(const struct ornic_qp *qp, u32 rkey)
{
	struct ornic_mw *mw = mw_lookup(qp->dev, rkey);
	enum ornic_vendor_err verr;

	if (!mw || mw->type != ORNIC_MW_TYPE_2)
		return ORNIC_VERR_LKEY_UNKNOWN;
	ornic_lock(&mw->lock);
	verr = check_locked(mw, qp, rkey, 0, 0, 0);
	if (verr == ORNIC_VERR_NONE)
		unbind_locked(mw);
	ornic_unlock(&mw->lock);
	return verr;
}

/* ---- Commands ------------------------------------------------------------------ */

int ornic_mw_create(struct ornic_dev *dev,
		    const struct ornic_req_create_mw *req, u32 *key)
{
	u32 random = dev->ops->random(dev->host);
	struct ornic_mw *mw;
	int index;

	if (req->type != ORNIC_MW_TYPE_1 && req->type != ORNIC_MW_TYPE_2)
		return ORNIC_BAD_PARAM;
	mw = ornic_zalloc(sizeof(*mw));
	if (!mw)
		return ORNIC_NO_RESOURCE;
	index = ornic_mkey_reserve(dev, random >> 8);
	if (index < 0) {
		ornic_free(mw);
		return ornic_errno_status(index);
	}
	ornic_lock_init(&mw->lock);
	mw->type = req->type;
	mw->base.window = mw;
	mw->base.pdn = le32_to_cpu(req->pdn);
	mw->base.key = (u32)index << 8 | (random & 0xff);
	*key = mw->base.key;
	ornic_table_publish(&dev->mkeys, (u32)index, &mw->base);
	return ORNIC_OK;
}

int ornic_mw_destroy(struct ornic_dev *dev, u32 key)
{
	struct ornic_mw *mw;
	bool gone = false;

	ornic_rcu_read_lock();
	mw = mw_lookup(dev, key);
	if (mw)
		gone = ornic_table_replace(&dev->mkeys, key >> 8, &mw->base,
					   NULL);
	ornic_rcu_read_unlock();
	if (!gone)
		return ORNIC_NOT_FOUND;
	ornic_rcu_wait();
	unbind_locked(mw);
	ornic_table_release(&dev->mkeys, key >> 8);
	ornic_free(mw);
	return ORNIC_OK;
}
