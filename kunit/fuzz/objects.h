/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Keys that a peer knows, of memory of each kind, and memory that no access may
 * change or send: outside of an MR or window, of another PD, without the right,
 * of a key that is gone.
 */
#ifndef ORNIC_FUZZ_OBJECTS_H
#define ORNIC_FUZZ_OBJECTS_H

#include "fuzz.h"

#define ORNIC_FUZZ_XRCD 7
#define ORNIC_FUZZ_CANARIES 42

enum ornic_fuzz_key_kind {
	ORNIC_FUZZ_KEY_ALL, /* the fixture's MR */
	ORNIC_FUZZ_KEY_FLAT, /* one run of pages */
	ORNIC_FUZZ_KEY_TREE, /* two levels of lists, at an offset */
	ORNIC_FUZZ_KEY_FRMR,
	ORNIC_FUZZ_KEY_WINDOW, /* of type 1 */
	ORNIC_FUZZ_KEY_WINDOW2, /* bound to the QP under test, if it can */
	ORNIC_FUZZ_KEY_WRITE_ONLY,
	ORNIC_FUZZ_KEY_READ_ONLY,
	ORNIC_FUZZ_KEY_LOCAL, /* no remote rights */
	ORNIC_FUZZ_KEY_OTHER_PD,
	ORNIC_FUZZ_KEY_GONE, /* destroyed; its memory is still there */
	ORNIC_FUZZ_KEY_GAPS, /* an FRMR of segments */
	ORNIC_FUZZ_KEY_DM, /* a part of device memory */
	ORNIC_FUZZ_KEYS,
};

struct ornic_fuzz_key {
	u32 key;
	u64 iova;
	u32 length;
};

/* Memory that must keep the word that fills it. */
struct ornic_fuzz_canary {
	u8 *ptr;
	u32 len;
	bool readable; /* by the peer */
};

/*
 * @hostile: the owner of the PD is an attacker, too: what its own WQEs may bind,
 *	register or use is not forbidden
 */
struct ornic_fuzz_objs {
	struct ornic_th *th;
	bool hostile;
	struct ornic_th_qp helper; /* binds and registers; shares the CQs */
	struct ornic_th_srq srq;
	struct ornic_th_srq xsrq;
	struct ornic_fuzz_key key[ORNIC_FUZZ_KEYS];
	struct ornic_th_mr flat;
	struct ornic_th_mr window_mr;
	bool window2_gone;
	__le64 *frmr_list;
	struct ornic_list_segment *segments;
	struct ornic_fuzz_canary canary[ORNIC_FUZZ_CANARIES];
	u32 ncanaries;
	u32 ah[2]; /* of UD: from a to b, from b to a */
	bool shared; /* receives are in an SRQ */
};

/* Make them on @th, beside the fixture's MR @all; aborts when that fails. */
void ornic_fuzz_objs_init(struct ornic_fuzz_objs *o, struct ornic_th *th,
			  struct ornic_th_cq *scq, struct ornic_th_cq *rcq,
			  const struct ornic_th_mr *all, bool hostile);

/* Bind the window of type 2 by @qp, which can send. */
void ornic_fuzz_objs_bind(struct ornic_fuzz_objs *o, struct ornic_th_qp *qp);

/* Destroy the flat MR, or the window and its MR: what the keys named is forbidden then. */
void ornic_fuzz_objs_revoke(struct ornic_fuzz_objs *o, bool window);

/*
 * Make the QPs again: @type RC, UC, UD or XRC (TGT: a in a lone fixture, else a
 * is its initiator), with receives from the SRQ of @o if @share.
 */
void ornic_fuzz_shape(struct ornic_fuzz_objs *o, struct ornic_fixture *fix,
		      u8 type, bool share, u8 flags, enum ornic_th_gid gid);

/* Post a receive where @qp, the one on the side of @o, takes it from. */
void ornic_fuzz_objs_recv(struct ornic_fuzz_objs *o, struct ornic_th_qp *qp,
			  u64 wr_id, const struct ornic_lsge *sge, u32 nsge);

/* What a WR of the helper's kind needs: BIND_MW, REG_MR, LOCAL_INV, FLUSH. */
void ornic_fuzz_objs_wr(struct ornic_fuzz_objs *o, struct ornic_fuzz_in *in,
			struct ornic_th_wr *wr);

/* A key and an address, in its range but for what the input makes wrong. */
void ornic_fuzz_pick(const struct ornic_fuzz_objs *o, struct ornic_fuzz_in *in,
		     u64 *va, u32 *key);

/* The QP of the window of type 2 is gone: so is what it names. */
void ornic_fuzz_objs_forbid_window2(struct ornic_fuzz_objs *o);

/* Nothing forbidden has changed; aborts if it has. */
void ornic_fuzz_objs_check(const struct ornic_fuzz_objs *o);

/* No forbidden byte is in a frame; aborts if one is. */
void ornic_fuzz_frame_check(const struct ornic_th_frame *f);

#endif /* ORNIC_FUZZ_OBJECTS_H */
