// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From rings to the device's own copies. The rings are memory of a hostile
 * process: every byte is read once, into the copy, and checked there. What is
 * wrong with a WQE is noted in it and becomes its completion status later, in
 * its turn.
 */
#include "proto.h"

#define RQ_MIN_LOG_STRIDE 5
#define RQ_MAX_LOG_STRIDE 10

#define T(type) (1u << (type))
#define RC T(ORNIC_QPT_RC)
#define UC T(ORNIC_QPT_UC)
#define UD T(ORNIC_QPT_UD)
#define RAW T(ORNIC_QPT_RAW)
#define TAGS T(ORNIC_QPT_TAGS)
/* What has responses, and what has a peer. */
#define RX (RC | T(ORNIC_QPT_XRC_INI))
#define CN (RX | UC)

/* clang-format off */
static const struct ornic_wqe_info wqe_table[] = {
	[ORNIC_WQE_SEND] = {
		ORNIC_OPF_SEND, CN | UD | RAW, ORNIC_CQE_SEND, false },
	[ORNIC_WQE_SEND_IMM] = {
		ORNIC_OPF_SEND, CN | UD, ORNIC_CQE_SEND, true },
	[ORNIC_WQE_WRITE] = {
		ORNIC_OPF_WRITE, CN, ORNIC_CQE_WRITE, false },
	[ORNIC_WQE_WRITE_IMM] = {
		ORNIC_OPF_WRITE, CN, ORNIC_CQE_WRITE, true },
	[ORNIC_WQE_READ] = {
		ORNIC_OPF_READ, RX, ORNIC_CQE_READ, false },
	[ORNIC_WQE_CAS] = {
		ORNIC_OPF_ATOMIC, RX, ORNIC_CQE_CAS, false },
	[ORNIC_WQE_FAA] = {
		ORNIC_OPF_ATOMIC, RX, ORNIC_CQE_FAA, false },
	[ORNIC_WQE_BIND_MW] = {
		ORNIC_OPF_LOCAL, CN, ORNIC_CQE_BIND_MW, false },
	[ORNIC_WQE_LOCAL_INV] = {
		ORNIC_OPF_LOCAL, CN, ORNIC_CQE_LOCAL_INV, false },
	[ORNIC_WQE_SEND_INV] = {
		ORNIC_OPF_SEND, RX, ORNIC_CQE_SEND, false, true },
	[ORNIC_WQE_REG_MR] = {
		ORNIC_OPF_LOCAL, RC, ORNIC_CQE_REG_MR, false },
	[ORNIC_WQE_READ_INV] = {
		ORNIC_OPF_READ, RC, ORNIC_CQE_READ, false, true },
	[ORNIC_WQE_ATOMIC_WRITE] = {
		ORNIC_OPF_ATOMIC_WRITE, RC, ORNIC_CQE_ATOMIC_WRITE, false },
	[ORNIC_WQE_FLUSH] = {
		ORNIC_OPF_FLUSH, RC, ORNIC_CQE_FLUSH, false },
	[ORNIC_WQE_TAG_ADD] = {
		ORNIC_OPF_LOCAL, TAGS, ORNIC_CQE_TAG_ADD, false },
	[ORNIC_WQE_TAG_DEL] = {
		ORNIC_OPF_LOCAL, TAGS, ORNIC_CQE_TAG_DEL, false },
	[ORNIC_WQE_TAG_SYNC] = {
		ORNIC_OPF_LOCAL, TAGS, ORNIC_CQE_TAG_SYNC, false },
};

/* clang-format on */

/* The row of any byte; for an opcode that does not exist one with kind 0. */
static const struct ornic_wqe_info *info_of(u8 opcode)
{
	static const struct ornic_wqe_info none;

	if (opcode >= ARRAY_SIZE(wqe_table))
		return &none;
	return &wqe_table[ornic_index_nospec(opcode, ARRAY_SIZE(wqe_table))];
}

static void set_bad(struct ornic_swqe *sw, enum ornic_cqe_status status,
		    enum ornic_vendor_err verr)
{
	if (sw->status != ORNIC_CQE_SUCCESS)
		return;
	sw->status = status;
	sw->verr = verr;
}

/* The XRC segment: the SRQ that the message is for. Returns its bytes. */
static u32 decode_xrc(struct ornic_qp *qp, struct ornic_swqe *sw,
		      const u8 *slot)
{
	struct ornic_seg_xrc xrc;

	if (qp->type != ORNIC_QPT_XRC_INI)
		return 0;
	ornic_copy_once(xrc, slot);
	sw->srqn = le32_to_cpu(xrc.srqn) & ORNIC_PSN_MASK;
	return sizeof(xrc);
}

/* Segments between header and payload. Returns their bytes. */
static u32 decode_segs(struct ornic_qp *qp, struct ornic_swqe *sw,
		       const u8 *slot)
{
	struct ornic_seg_remote remote;
	struct ornic_seg_atomic atomic;
	struct ornic_seg_ud ud;

	if (qp->type == ORNIC_QPT_UD) {
		ornic_copy_once(ud, slot);
		sw->ah = le32_to_cpu(ud.ah);
		sw->dest_qpn = le32_to_cpu(ud.dest_qpn) & ORNIC_PSN_MASK;
		sw->dest_qkey = le32_to_cpu(ud.dest_qkey);
		sw->pkey_index = le16_to_cpu(ud.pkey_index);
		if (!(sw->flags & ORNIC_WQE_AV))
			return sizeof(ud);
		sw->av = (struct ornic_av *)(sw->inline_data +
					     qp->sq.store_stride) -
			 1;
		ornic_copy_once(*sw->av, slot + sizeof(ud));
		return sizeof(ud) + sizeof(*sw->av);
	}
	if (sw->kind == ORNIC_OPF_SEND)
		return 0;
	ornic_copy_once(remote, slot);
	sw->raddr = le64_to_cpu(remote.raddr);
	sw->rkey = le32_to_cpu(remote.rkey);
	if (sw->kind != ORNIC_OPF_ATOMIC)
		return sizeof(remote);
	ornic_copy_once(atomic, slot + sizeof(remote));
	sw->swap_add = le64_to_cpu(atomic.swap_add);
	sw->compare = le64_to_cpu(atomic.compare);
	return sizeof(remote) + sizeof(atomic);
}

static void decode_inline(struct ornic_qp *qp, struct ornic_swqe *sw,
			  const u8 *data, u32 bytes, u32 room)
{
	/* The 8 bytes of an ATOMIC WRITE always fit. */
	u32 limit = sw->kind == ORNIC_OPF_ATOMIC_WRITE ? sizeof(u64) :
							 qp->sq.max_inline;

	if (bytes > limit || bytes > room ||
	    !(sw->kind &
	      (ORNIC_OPF_SEND | ORNIC_OPF_WRITE | ORNIC_OPF_ATOMIC_WRITE))) {
		set_bad(sw, ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_INLINE);
		return;
	}
	memcpy(sw->inline_data, data, bytes);
	sw->length = bytes;
}

/* Host order in place. Returns the sum of the lengths. */
static u64 decode_sges(struct ornic_lsge *lsge, const u8 *data, u32 nsge)
{
	struct ornic_sge sge;
	u64 sum = 0;
	u32 i;

	for (i = 0; i < nsge; i++) {
		ornic_copy_once(sge, data + i * sizeof(sge));
		lsge[i].addr = le64_to_cpu(sge.addr);
		lsge[i].length = le32_to_cpu(sge.length);
		lsge[i].lkey = le32_to_cpu(sge.lkey);
		sum += lsge[i].length;
	}
	return sum;
}

/* The SGEs of @sw. Returns the sum of their lengths, 0 if there are too many. */
static __always_inline u64 decode_sgl(struct ornic_qp *qp,
				      struct ornic_swqe *sw, const u8 *data,
				      u32 nsge, u32 room)
{
	if (nsge > qp->sq.max_sge || nsge * sizeof(struct ornic_sge) > room) {
		set_bad(sw, ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_SGE_COUNT);
		return 0;
	}
	sw->nsge = nsge;
	return decode_sges(sw->sge, data, nsge);
}

static void decode_gather(struct ornic_qp *qp, struct ornic_swqe *sw,
			  const u8 *data, u32 nsge, u32 room)
{
	u64 sum = decode_sgl(qp, sw, data, nsge, room);

	if (sum > ORNIC_MAX_MSG) {
		set_bad(sw, ORNIC_CQE_LOC_LEN_ERR, ORNIC_VERR_BAD_LENGTH);
		return;
	}
	sw->length = sum;
}

/* Whether the port sends frames of this size shows when one is made. */
static void check_frame(struct ornic_swqe *sw)
{
	sw->npkts = 1;
	if (sw->length < ORNIC_MIN_FRAME || sw->length > ORNIC_MAX_FRAME)
		set_bad(sw, ORNIC_CQE_LOC_LEN_ERR, ORNIC_VERR_BAD_LENGTH);
}

static void check_length(struct ornic_qp *qp, struct ornic_swqe *sw)
{
	u32 limit = ORNIC_MAX_MSG;

	if (unlikely(qp->type == ORNIC_QPT_RAW)) {
		check_frame(sw);
		return;
	}
	if (qp->type == ORNIC_QPT_UD)
		limit = qp->mtu;
	if (sw->kind & (ORNIC_OPF_ATOMIC | ORNIC_OPF_ATOMIC_WRITE)) {
		/* IBTA A19.4.2: ATOMIC WRITE has 8 bytes as well. */
		if (sw->length != sizeof(u64))
			set_bad(sw, ORNIC_CQE_LOC_LEN_ERR,
				ORNIC_VERR_BAD_LENGTH);
		sw->npkts = 1;
		return;
	}
	sw->npkts = 1;
	if (sw->length > qp->mtu)
		sw->npkts = DIV_ROUND_UP(sw->length, qp->mtu);
	/* The responses of a READ are all outstanding at once. */
	if (sw->length > limit ||
	    (sw->kind == ORNIC_OPF_READ && sw->npkts > ORNIC_PSN_WINDOW))
		set_bad(sw, ORNIC_CQE_LOC_LEN_ERR, ORNIC_VERR_BAD_LENGTH);
}

static void decode_bind(struct ornic_swqe *sw, const u8 *slot)
{
	struct ornic_seg_bind bind;

	ornic_copy_once(bind, slot);
	sw->bind_length = le64_to_cpu(bind.length);
	sw->bind_lkey = le32_to_cpu(bind.lkey);
	sw->bind_access = bind.access;
}

static void decode_reg(struct ornic_swqe *sw, const u8 *slot)
{
	struct ornic_seg_reg reg;

	ornic_copy_once(reg, slot);
	sw->bind_length = le64_to_cpu(reg.length);
	sw->reg_list = le64_to_cpu(reg.list);
	sw->reg_npages = le32_to_cpu(reg.npages);
	sw->reg_shift = reg.page_shift;
	sw->bind_access = reg.access;
}

/* An operation on the tag list of an SRQ; only a new receive has SGEs. */
static void decode_tag(struct ornic_qp *qp, struct ornic_swqe *sw,
		       const u8 *slot, u32 nsge)
{
	u32 room = (1u << qp->sq.ring.log_stride) - sizeof(struct ornic_sq_hdr);
	struct ornic_seg_tag tag;
	u64 sum;

	ornic_copy_once(tag, slot);
	sw->raddr = le64_to_cpu(tag.tag);
	sw->tag_mask = le64_to_cpu(tag.mask);
	sw->tag_wr_id = le64_to_cpu(tag.recv_wr_id);
	sw->rkey = le32_to_cpu(tag.handle);
	sw->tag_unexpected = le32_to_cpu(tag.unexpected);
	if (sw->opcode == ORNIC_WQE_TAG_ADD) {
		sum = decode_sgl(qp, sw, slot + sizeof(tag), nsge,
				 room - sizeof(tag));
		/* As any receive: it may have more room than there is to say. */
		sw->length = min_t(u64, sum, ORNIC_MAX_MSG);
	} else if (nsge) {
		set_bad(sw, ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_SGE_COUNT);
	}
}

/* Nothing is sent: no PSNs, no data. */
static noinline void decode_local(struct ornic_qp *qp, struct ornic_swqe *sw,
				  const u8 *slot, u32 payload)
{
	bool tags = qp->type == ORNIC_QPT_TAGS;
	struct ornic_seg_remote remote;

	sw->npkts = 0;
	if ((payload && !tags) || sw->flags & ORNIC_WQE_INLINE) {
		set_bad(sw, ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_SGE_COUNT);
		return;
	}
	if (sw->opcode == ORNIC_WQE_LOCAL_INV)
		return;
	if (tags) {
		decode_tag(qp, sw, slot, payload);
		return;
	}
	ornic_copy_once(remote, slot);
	sw->raddr = le64_to_cpu(remote.raddr);
	sw->rkey = le32_to_cpu(remote.rkey);
	if (sw->opcode == ORNIC_WQE_REG_MR)
		decode_reg(sw, slot + sizeof(remote));
	else
		decode_bind(sw, slot + sizeof(remote));
}

/* DMA addresses in a WQE are for the QPs that were made for it. */
static bool opcode_ok(const struct ornic_qp *qp, u8 opcode,
		      const struct ornic_wqe_info *info)
{
	if (!info->kind || !(info->types & T(qp->type)))
		return false;
	return opcode != ORNIC_WQE_REG_MR ||
	       qp->create_flags & ORNIC_QP_FAST_REG;
}

/*
 * FLUSH has no data. What it covers may be larger than a message, and what is
 * not possible here (a type that the peer does not have) is for the peer to
 * refuse.
 */
static void decode_flush(struct ornic_swqe *sw, const u8 *slot, u32 payload)
{
	struct ornic_seg_flush flush;

	if (payload || sw->flags & ORNIC_WQE_INLINE) {
		set_bad(sw, ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_SGE_COUNT);
		return;
	}
	ornic_copy_once(flush, slot);
	if (!flush.type || flush.type & ~ORNIC_FETH_TYPE_MASK ||
	    flush.level > ORNIC_FLUSH_MR) {
		set_bad(sw, ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_FLAGS);
		return;
	}
	sw->flush_length = le32_to_cpu(flush.length);
	sw->feth = flush.type | (u32)flush.level << ORNIC_FETH_LEVEL_SHIFT;
}

/* Flags that any WQE may have. */
#define COMMON_FLAGS                                                  \
	(ORNIC_WQE_SIGNALED | ORNIC_WQE_SOLICITED | ORNIC_WQE_FENCE | \
	 ORNIC_WQE_INLINE)

/* An address in the WQE is for the QPs that were made for it. */
static bool flags_ok(const struct ornic_qp *qp, u8 flags)
{
	if (likely(!(flags & (u8)~COMMON_FLAGS)))
		return true;
	if (flags & ~ORNIC_WQE_FLAGS_MASK)
		return false;
	if (flags & ORNIC_WQE_UNEXPECTED && qp->type != ORNIC_QPT_TAGS)
		return false;
	return !(flags & ORNIC_WQE_AV) || qp->create_flags & ORNIC_QP_AV;
}

static void decode_wqe(struct ornic_qp *qp, struct ornic_swqe *sw,
		       const u8 *slot)
{
	u32 stride = 1u << qp->sq.ring.log_stride;
	const struct ornic_wqe_info *info;
	struct ornic_sq_hdr hdr;
	u32 used, payload;

	ornic_copy_once(hdr, slot);
	info = info_of(hdr.opcode);
	sw->wr_id = le64_to_cpu(hdr.wr_id);
	sw->imm = hdr.imm;
	sw->opcode = hdr.opcode;
	sw->flags = hdr.flags;
	sw->info = info;
	sw->kind = info->kind;
	sw->npkts = 1;
	payload = le16_to_cpu(hdr.payload);

	if (!opcode_ok(qp, hdr.opcode, info)) {
		set_bad(sw, ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_OPCODE);
		return;
	}
	if (!flags_ok(qp, hdr.flags)) {
		set_bad(sw, ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_BAD_FLAGS);
		return;
	}
	if (info->kind == ORNIC_OPF_LOCAL) {
		decode_local(qp, sw, slot + sizeof(hdr), payload);
		return;
	}
	used = sizeof(hdr);
	used += decode_xrc(qp, sw, slot + used);
	used += decode_segs(qp, sw, slot + used);
	if (info->kind == ORNIC_OPF_FLUSH) {
		decode_flush(sw, slot + used, payload);
		return;
	}
	if (hdr.flags & ORNIC_WQE_INLINE)
		decode_inline(qp, sw, slot + used, payload, stride - used);
	else
		decode_gather(qp, sw, slot + used, payload, stride - used);
	check_length(qp, sw);
}

/* The next copy, of nothing yet. */
static struct ornic_swqe *clear_swqe(struct ornic_sq *sq)
{
	struct ornic_swqe *sw = ornic_swqe(sq, sq->fetched);

	memset(sw, 0, sizeof(*sw));
	sw->index = sq->fetched;
	sw->inline_data = sq->store + (size_t)(sq->fetched & (sq->depth - 1)) *
					      sq->store_stride;
	return sw;
}

/* The device's own work, where the SQ is its. */
static noinline struct ornic_swqe *fetch_rndv(struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_swqe *sw;

	if (sq->fetched - sq->tail == sq->depth)
		return NULL;
	sw = clear_swqe(sq);
	if (!ornic_tm_fetch(qp, sw))
		return NULL;
	sw->info = info_of(sw->opcode);
	sw->kind = sw->info->kind;
	check_length(qp, sw);
	sq->fetched++;
	return sw;
}

struct ornic_swqe *ornic_sq_fetch(struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;
	struct ornic_swqe *sw;
	u32 producer;

	ornic_lock_held(&sq->lock);
	if (sq->broken || !sq->depth)
		return NULL;
	if (unlikely(qp->tm))
		return fetch_rndv(qp);
	producer = ornic_wq_producer(sq->record);
	if (producer == sq->fetched)
		return NULL;
	/* Also a producer that goes back: then it claims nearly 2^32. */
	if (producer - sq->fetched > sq->depth - (sq->fetched - sq->tail)) {
		ornic_pr_debug("QP %u: SQ producer %u, tail %u, depth %u\n",
			       qp->qpn, producer, sq->tail, sq->depth);
		sq->broken = true;
		return NULL;
	}
	sw = clear_swqe(sq);
	decode_wqe(qp, sw, ornic_ring_slot(&sq->ring, sq->fetched));
	sq->fetched++;
	return sw;
}

/* ---- Data ------------------------------------------------------------------ */

enum ornic_vendor_err ornic_swqe_iov(struct ornic_qp *qp,
				     const struct ornic_swqe *sw, u32 off,
				     u32 len, u8 access, struct ornic_iov *iov)
{
	if (sw->flags & ORNIC_WQE_INLINE) {
		if (len)
			ornic_iov_add(iov, sw->inline_data + off, len);
		return ORNIC_VERR_NONE;
	}
	return ornic_iov_add_sgl(iov, qp->dev, qp->pdn, sw->sge, sw->nsge, off,
				 len, access);
}

noinline enum ornic_vendor_err ornic_swqe_gather(struct ornic_qp *qp,
						 const struct ornic_swqe *sw,
						 u32 off, u32 len,
						 struct ornic_iov *iov)
{
	const struct ornic_sgl sgl = {
		.dev = qp->dev,
		.pdn = qp->pdn,
		.sge = sw->sge,
		.nsge = sw->nsge,
		.off = off,
		.len = len,
	};

	return ornic_iov_gather(iov, qp->sq.bounce, &sgl);
}

enum ornic_vendor_err ornic_swqe_map(struct ornic_qp *qp,
				     const struct ornic_swqe *sw, u32 off,
				     u32 len, struct ornic_iov *iov)
{
	enum ornic_vendor_err verr;

	verr = ornic_swqe_iov(qp, sw, off, len, 0, iov);
	if (unlikely(verr == ORNIC_VERR_NONE && iov->bytes != len))
		verr = ornic_swqe_gather(qp, sw, off, len, iov);
	return verr;
}

/* ---- Receive WQEs ---------------------------------------------------------- */

bool ornic_rwqe_fits(u32 log_stride, u32 max_sge)
{
	return log_stride >= RQ_MIN_LOG_STRIDE &&
	       log_stride <= RQ_MAX_LOG_STRIDE && max_sge <= ORNIC_MAX_SGE &&
	       sizeof(struct ornic_rq_hdr) +
			       max_sge * sizeof(struct ornic_sge) <=
		       1u << log_stride;
}

void ornic_rwqe_decode(struct ornic_rwqe *rw, const u8 *slot, u32 max_sge)
{
	struct ornic_rq_hdr hdr;
	u32 nsge;
	u64 sum;

	ornic_copy_once(hdr, slot);
	nsge = le16_to_cpu(hdr.num_sge);
	rw->wr_id = le64_to_cpu(hdr.wr_id);
	rw->valid = true;
	rw->tagged = false;
	rw->unexpected = false;
	rw->status = ORNIC_CQE_SUCCESS;
	rw->verr = ORNIC_VERR_NONE;
	rw->nsge = 0;
	rw->length = 0;
	if (nsge > max_sge) {
		rw->status = ORNIC_CQE_LOC_QP_OP_ERR;
		rw->verr = ORNIC_VERR_BAD_SGE_COUNT;
		return;
	}
	rw->nsge = nsge;
	sum = decode_sges(rw->sge, slot + sizeof(hdr), nsge);
	/* IBTA C9-93: a longer message is none, however much room there is. */
	rw->length = min_t(u64, sum, ORNIC_MAX_MSG);
}

bool ornic_rq_fetch(struct ornic_qp *qp)
{
	struct ornic_rq *rq = &qp->rq;
	const u8 *slot;
	u32 producer;

	ornic_lock_held(&rq->lock);
	if (!rq->depth || rq->broken)
		return false;
	producer = ornic_wq_producer(rq->record);
	if (producer == rq->fetched)
		return false;
	if (producer - rq->fetched > rq->depth) {
		ornic_pr_debug("QP %u: RQ producer %u, fetched %u, depth %u\n",
			       qp->qpn, producer, rq->fetched, rq->depth);
		rq->broken = true;
		return false;
	}
	slot = ornic_ring_slot(&rq->ring, rq->fetched);
	ornic_rwqe_decode(&rq->rwqe, slot, rq->max_sge);
	rq->rwqe.index = rq->fetched++;
	rq->rwqe.pdn = qp->pdn;
	ornic_qp_stat_inc(qp, ORNIC_STAT_RECV_WQES);
	return true;
}

/* build_datapath.c has other sources after this one. */
#undef COMMON_FLAGS
#undef T
#undef RC
#undef UC
#undef UD
#undef RAW
#undef TAGS
#undef RX
#undef CN
