/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory windows: keys for a part of an MR, bound and invalidated by WQEs.
 * The index stays; BIND_MW chooses the variant.
 */
#ifndef ORNIC_ENGINE_MW_H
#define ORNIC_ENGINE_MW_H

#include "mem.h"

struct ornic_qp;
struct ornic_swqe;

/**
 * struct ornic_mw - a memory window
 * @base: its place among the keys; its PD. All else of it is unused.
 * @type: enum ornic_mw_type
 * @lock: protects all below it; a leaf
 * @mr: the MR that it is bound to, counted in its @windows; NULL: unbound
 * @key: index and variant while bound
 * @access: enum ornic_access
 * @addr: first byte, as the MR has it
 * @length: bytes
 * @qp_id: type 2: the QP that may use it, by &ornic_qp.id: not a later QP
 *	with its number
 */
struct ornic_mw {
	struct ornic_mkey base;
	u8 type;
	ornic_lock_t lock;
	struct ornic_mkey *mr;
	u32 key;
	u8 access;
	u64 addr;
	u64 length;
	u64 qp_id;
};

/**
 * ornic_rkey_check - may the peer of a QP use a range through a key?
 * @qp: the QP that the request came to
 * @rkey: index and variant, of an MR or of a window
 * @addr: first byte
 * @len: bytes
 * @access: enum ornic_access bits that the key must have
 * @mkey: out: the MR, good until the end of the RCU section
 *
 * Context: inside an RCU section.
 * Return: ORNIC_VERR_NONE or the ORNIC_VERR_LKEY_* that says why not.
 */
enum ornic_vendor_err ornic_rkey_check(const struct ornic_qp *qp, u32 rkey,
				       u64 addr, u64 len, u8 access,
				       struct ornic_mkey **mkey);

/**
 * ornic_rkey_map - check a range of a remote key and append its memory, in one
 * @iov: collects it; iov->bytes tells how far it came
 * @qp: as for ornic_rkey_check()
 * @rkey: likewise
 * @addr: first byte
 * @len: bytes
 * @access: enum ornic_access bits that the key must have
 *
 * Context: as for ornic_iov_map().
 * Return: as for ornic_rkey_check().
 */
enum ornic_vendor_err ornic_rkey_map(struct ornic_iov *iov,
				     const struct ornic_qp *qp, u32 rkey,
				     u64 addr, u64 len, u8 access);

/**
 * ornic_rkey_gather - map a range that has more pieces than there is room for
 * @iov: with room for one piece; out: that of the bounce buffer of the RQ
 * @qp: as for ornic_rkey_check()
 * @rkey: of an MR: windows have no gaps
 * @addr: first byte
 * @len: bytes, of one packet
 *
 * The key must allow REMOTE_READ.
 *
 * Context: as for ornic_iov_gather().
 * Return: likewise.
 */
noinline enum ornic_vendor_err ornic_rkey_gather(struct ornic_iov *iov,
						 const struct ornic_qp *qp,
						 u32 rkey, u64 addr, u32 len);

/* rq: write the bytes of @src to [@va, ...) of a remote key. RCU section. */
enum ornic_vendor_err ornic_key_write(struct ornic_qp *qp, u32 rkey, u64 va,
				      const struct ornic_iov *src);

/*
 * Execute BIND_MW; a length of 0 unbinds a type 1 window. sq.lock held, inside an
 * RCU section. After an error the window is unchanged.
 */
enum ornic_vendor_err ornic_mw_bind(const struct ornic_qp *qp,
				    const struct ornic_swqe *sw);

/*
 * Invalidate a type 2 window of @qp, for LOCAL_INV or the peer's SEND_INV. sq.lock
 * or rq.lock held, inside an RCU section.
 */
enum ornic_vendor_err ornic_mw_invalidate(const struct ornic_qp *qp, u32 rkey);

/*
 * CREATE_MW and DESTROY_MW. The new key is unbound, never 0 and hard to guess.
 * When ornic_mw_destroy() returns, no memory is used through the window any
 * more; it takes any variant. Return: enum ornic_status.
 */
int ornic_mw_create(struct ornic_dev *dev,
		    const struct ornic_req_create_mw *req, u32 *key);
int ornic_mw_destroy(struct ornic_dev *dev, u32 key);

#endif /* ORNIC_ENGINE_MW_H */
