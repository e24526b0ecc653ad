/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * FRMRs, fast registration MRs (IBTA 10.6.4): keys that are created without
 * memory, get it by REG_MR and lose it by an invalidation (IBTA 10.6.5). The
 * index stays; REG_MR chooses the variant.
 */
#ifndef ORNIC_ENGINE_FRMR_H
#define ORNIC_ENGINE_FRMR_H

#include "mem.h"

struct ornic_qp;
struct ornic_swqe;

/**
 * struct ornic_segment - a segment of an FRMR with gaps
 * @ptr: its first byte
 * @end: offset in the MR of the byte after it, more than that of the one before
 */
struct ornic_segment {
	u8 *ptr;
	u64 end;
};

/**
 * struct ornic_frmr - an FRMR
 * @base: its place among the keys. All but its PD is protected by @lock.
 * @use: held while a peer's request moves data of the MR, from the look-up
 *	of its key to the end of the copy, and while the key is invalidated. Taken under
 *	the rq.lock of the request, outside of @lock; one at a time.
 * @lock: a leaf, held for each look at the MR and each change of it
 * @room: pages or segments that it can have
 * @valid: it has memory; else it is in the free state
 * @seg: with gaps: its segments, which end where @base does or later; else NULL.
 *	The pages of @base are empty then
 * @nsegs: segments of @seg, while it is @valid
 */
struct ornic_frmr {
	struct ornic_mkey base;
	ornic_lock_t use;
	ornic_lock_t lock;
	u32 room;
	bool valid;
	struct ornic_segment *seg;
	u32 nsegs;
};

/**
 * ornic_frmr_hold - let no QP invalidate a key while data moves through it
 * @m: what a request names, or NULL
 *
 * LOCAL_INV holds the locks of its own QP; requests to other QPs of the PD may
 * use the key at the same time. Other MRs have no work request that takes their
 * memory back, and are not held.
 *
 * Context: rq.lock held, inside the RCU section of the lookup; nothing is held.
 * Return: for ornic_frmr_release().
 */
static inline struct ornic_frmr *ornic_frmr_hold(const struct ornic_mkey *m)
	__acquires(ornic_frmr)
{
	if (likely(!m || !m->frmr)) {
		__acquire(ornic_frmr);
		return NULL;
	}
	ornic_lock_inner(&m->frmr->use);
	return m->frmr;
}

/* The end of it; @f may be NULL. */
static inline void ornic_frmr_release(struct ornic_frmr *f)
	__releases(ornic_frmr)
{
	if (unlikely(f))
		ornic_unlock_inner(&f->use);
	else
		__release(ornic_frmr);
}

/*
 * A new FRMR as a key, zeroed but for @frmr, to be freed like any other; NULL: no
 * memory. May sleep.
 */
struct ornic_mkey *ornic_frmr_alloc(void);

/*
 * Check CREATE_MKEY and make room. @f is new; its base has the PD. May sleep.
 * Return: 0; -EINVAL for fields that it does not have, or no or too much room;
 * -ENOMEM.
 */
int ornic_frmr_init(struct ornic_frmr *f,
		    const struct ornic_req_create_mkey *req);

/* Free that room: the key is in no table any more, and unused. */
void ornic_frmr_put(struct ornic_frmr *f);

/*
 * Execute REG_MR: sq.lock held, inside an RCU section. After an error the MR is
 * unchanged.
 */
enum ornic_vendor_err ornic_frmr_register(const struct ornic_qp *qp,
					  const struct ornic_swqe *sw);

/* ornic_key_invalidate() of the FRMR @m. */
enum ornic_vendor_err ornic_frmr_invalidate(const struct ornic_mkey *m,
					    const struct ornic_qp *qp, u32 key,
					    bool remote);

#endif /* ORNIC_ENGINE_FRMR_H */
