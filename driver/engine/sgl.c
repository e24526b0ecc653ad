// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Writing bytes that arrived to where they belong: to the SGEs of a WQE, or
 * to the range of a remote key. Keys are looked at again for every piece, so
 * that a key that goes away in the middle of a message stops it.
 */
#include "proto.h"

/* Copy what @to has collected from the front of @left. */
static u64 move_front(const struct ornic_iov *to, struct ornic_frag *left)
{
	struct ornic_iov from = { left, 1, 1, left->len };

	ornic_iov_copy(to, &from);
	left->ptr = (u8 *)left->ptr + to->bytes;
	left->len -= to->bytes;
	return to->bytes;
}

enum ornic_vendor_err ornic_sgl_write(struct ornic_qp *qp,
				      const struct ornic_lsge *sge, u32 nsge,
				      u64 off, const struct ornic_iov *src)
{
	return ornic_sgl_write_pd(qp->dev, qp->pdn, sge, nsge, off, src);
}

enum ornic_vendor_err ornic_sgl_write_pd(struct ornic_dev *dev, u32 pdn,
					 const struct ornic_lsge *sge, u32 nsge,
					 u64 off, const struct ornic_iov *src)
{
	struct ornic_frag dst[8] __uninitialized, left __uninitialized;
	struct ornic_iov to = { .frag = dst, .max = ARRAY_SIZE(dst) };
	enum ornic_vendor_err verr;
	u32 i;

	for (i = 0; i < src->n; i++) {
		left = src->frag[i];
		while (left.len) {
			to.n = 0;
			to.bytes = 0;
			verr = ornic_iov_add_sgl(&to, dev, pdn, sge, nsge, off,
						 left.len,
						 ORNIC_ACCESS_LOCAL_WRITE);
			if (verr != ORNIC_VERR_NONE)
				return verr;
			if (!to.bytes)
				return ORNIC_VERR_BAD_LENGTH;
			off += move_front(&to, &left);
		}
	}
	return ORNIC_VERR_NONE;
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
static bool more_of_key(struct ornic_iov *to, const struct ornic_qp *qp,
			u32 rkey, const struct ornic_mkey *mkey, u64 va,
			u64 len)
{
	to->n = 0;
	to->bytes = 0;
	if (mkey->dma)
		return ornic_iov_add_key(to, mkey, va, len);
	return !ornic_rkey_map(to, qp, rkey, va, len,
			       ORNIC_ACCESS_REMOTE_WRITE) &&
	       to->bytes;
}

/* @piece goes to memory that has to be asked for, and may be invalidated. */
static noinline bool write_asking(const struct ornic_qp *qp, u32 rkey,
				  const struct ornic_mkey *mkey, u64 va,
				  const struct ornic_frag *piece)
{
	struct ornic_frag dst[8] __uninitialized, left = *piece;
	struct ornic_iov to = { .frag = dst, .max = ARRAY_SIZE(dst) };

	while (left.len) {
		if (!more_of_key(&to, qp, rkey, mkey, va, left.len))
			return false;
		va += move_front(&to, &left);
	}
	return true;
}

/* All of @src, of which @mkey was good for the range. */
static enum ornic_vendor_err write_key(const struct ornic_qp *qp, u32 rkey,
				       const struct ornic_mkey *mkey, u64 va,
				       const struct ornic_iov *src)
{
	u32 i;

	for (i = 0; i < src->n; i++) {
		if (likely(!mkey->frmr && !mkey->dma))
			write_pages(mkey, va, &src->frag[i]);
		else if (!write_asking(qp, rkey, mkey, va, &src->frag[i]))
			return ORNIC_VERR_LKEY_RANGE;
		va += src->frag[i].len;
	}
	return ORNIC_VERR_NONE;
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
