// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tag matching: the tag list of an SRQ, and rendezvous.
 *
 * The headers of a message are the peer's and hostile. A message whose headers make
 * no sense is a message without: it goes to a receive of the ring as it is.
 */
#include "tm.h"
#include "proto.h"

/* First byte of a TMH. */
enum tmh_opcode {
	TMH_NO_TAG = 0,
	TMH_RNDV = 1,
	TMH_FIN = 2,
	TMH_EAGER = 3,
};

/* What looking at an entry of the list costs, in bytes of budget. */
#define STEP_COST 8

/* ---- The list ------------------------------------------------------------------ */

static void tags_init(struct ornic_tags *tags, u32 max)
{
	u32 i;

	tags->max = max;
	tags->first = ORNIC_NO_TAG;
	tags->last = ORNIC_NO_TAG;
	tags->waiting = ORNIC_NO_TAG;
	tags->free = 0;
	for (i = 0; i < max; i++)
		tags->key[i].next = i + 1 < max ? i + 1 : ORNIC_NO_TAG;
}

struct ornic_tags *ornic_tags_alloc(u32 max)
{
	struct ornic_tags *tags = ornic_zalloc(sizeof(*tags));

	if (!tags)
		return NULL;
	tags->key = ornic_vzalloc(max * sizeof(*tags->key));
	tags->recv = ornic_vzalloc(max * sizeof(*tags->recv));
	if (!tags->key || !tags->recv) {
		ornic_tags_free(tags);
		return NULL;
	}
	tags_init(tags, max);
	return tags;
}

void ornic_tags_free(struct ornic_tags *tags)
{
	if (!tags)
		return;
	ornic_vfree(tags->key);
	ornic_vfree(tags->recv);
	ornic_free(tags);
}

static void tell_gone(struct ornic_srq *srq)
{
	struct ornic_tags *tags = srq->tags;

	tags->gone++;
	/* Pairs with the host's load before it adds another one. */
	smp_store_release(&srq->mem.record->tags_gone, cpu_to_le32(tags->gone));
}

/* Take the entry @i off the list, of which @before is the one before it. */
static void unlink_tag(struct ornic_srq *srq, u16 before, u16 i)
{
	struct ornic_tags *tags = srq->tags;
	u16 next = tags->key[i].next;

	if (before == ORNIC_NO_TAG)
		tags->first = next;
	else
		tags->key[before].next = next;
	if (tags->last == i)
		tags->last = before;
	if (tags->waiting == i)
		tags->waiting = next;
	tags->key[i].next = tags->free;
	tags->free = i;
	tags->n--;
	tell_gone(srq);
}

static void fill_rwqe(const struct ornic_tag_recv *recv, struct ornic_rwqe *rw)
{
	rw->wr_id = recv->wr_id;
	rw->index = 0;
	rw->length = recv->length;
	rw->nsge = recv->nsge;
	rw->status = ORNIC_CQE_SUCCESS;
	rw->verr = ORNIC_VERR_NONE;
	rw->valid = true;
	rw->tagged = true;
	rw->unexpected = false;
	memcpy(rw->sge, recv->sge, recv->nsge * sizeof(*rw->sge));
}

bool ornic_tags_match(struct ornic_ctx *ctx, struct ornic_srq *srq, u64 tag,
		      struct ornic_rwqe *rw)
{
	struct ornic_tags *tags = srq->tags;
	u16 i, before = ORNIC_NO_TAG;

	ornic_lock_held(&srq->lock);
	for (i = tags->first; i != tags->waiting; i = tags->key[i].next) {
		if ((tag & tags->key[i].mask) == tags->key[i].tag) {
			fill_rwqe(&tags->recv[i], rw);
			rw->pdn = srq->pdn;
			unlink_tag(srq, before, i);
			return true;
		}
		before = i;
		ctx->budget -= STEP_COST;
	}
	return false;
}

static enum ornic_vendor_err add_tag(struct ornic_srq *srq,
				     const struct ornic_swqe *sw)
{
	struct ornic_tags *tags = srq->tags;
	struct ornic_tag_recv *recv;
	u16 i = tags->free;

	if (i == ORNIC_NO_TAG) {
		tell_gone(srq);
		return ORNIC_VERR_TAGS_FULL;
	}
	recv = &tags->recv[i];
	tags->free = tags->key[i].next;
	tags->key[i].tag = sw->raddr;
	tags->key[i].mask = sw->tag_mask;
	tags->key[i].handle = sw->rkey;
	tags->key[i].next = ORNIC_NO_TAG;
	recv->wr_id = sw->tag_wr_id;
	recv->length = sw->length;
	recv->nsge = sw->nsge;
	memcpy(recv->sge, sw->sge, sw->nsge * sizeof(*recv->sge));
	if (tags->last == ORNIC_NO_TAG)
		tags->first = i;
	else
		tags->key[tags->last].next = i;
	tags->last = i;
	if (tags->waiting == ORNIC_NO_TAG && tags->handled != tags->unexpected)
		tags->waiting = i;
	tags->n++;
	return ORNIC_VERR_NONE;
}

static enum ornic_vendor_err del_tag(struct ornic_ctx *ctx,
				     struct ornic_srq *srq, u32 handle)
{
	struct ornic_tags *tags = srq->tags;
	u16 i, before = ORNIC_NO_TAG;

	for (i = tags->first; i != ORNIC_NO_TAG; i = tags->key[i].next) {
		if (tags->key[i].handle == handle) {
			unlink_tag(srq, before, i);
			return ORNIC_VERR_NONE;
		}
		before = i;
		ctx->budget -= STEP_COST;
	}
	return ORNIC_VERR_TAG_UNKNOWN;
}

/* When the counts are equal, no message is on its way to be matched by the host. */
static void compare_counts(struct ornic_tags *tags)
{
	if (tags->handled == tags->unexpected)
		tags->waiting = ORNIC_NO_TAG;
}

void ornic_tags_uncount(struct ornic_tags *tags)
{
	tags->unexpected--;
	compare_counts(tags);
}

static void set_handled(struct ornic_tags *tags, const struct ornic_swqe *sw)
{
	if (!(sw->flags & ORNIC_WQE_UNEXPECTED))
		return;
	tags->handled = sw->tag_unexpected;
	compare_counts(tags);
}

void ornic_tags_taken(const struct ornic_qp *qp, u32 taken)
{
	/* Pairs with the host's load before it writes to the slot. */
	smp_store_release(&qp->sq.record->taken, cpu_to_le32(taken));
}

void ornic_tags_execute(struct ornic_ctx *ctx, struct ornic_qp *qp,
			struct ornic_swqe *sw)
{
	enum ornic_vendor_err verr = ORNIC_VERR_NONE;
	struct ornic_srq *srq = qp->tag_srq;

	ornic_lock(&srq->lock);
	set_handled(srq->tags, sw);
	if (sw->opcode == ORNIC_WQE_TAG_ADD)
		verr = add_tag(srq, sw);
	else if (sw->opcode == ORNIC_WQE_TAG_DEL)
		verr = del_tag(ctx, srq, sw->rkey);
	if (srq->tags->handled != srq->tags->unexpected)
		sw->tm_flags = ORNIC_CQE_TM_SYNC_REQ;
	ornic_unlock(&srq->lock);
	ornic_tags_taken(qp, sw->index + 1);
	sw->length = 0;
	if (verr == ORNIC_VERR_NONE)
		return;
	sw->status = ORNIC_CQE_TM_ERR;
	sw->verr = verr;
	sw->flags |= ORNIC_WQE_SIGNALED;
}

/* ---- Messages ------------------------------------------------------------------ */

static u32 be32_at(const u8 *p)
{
	__be32 v;

	memcpy(&v, p, sizeof(v));
	return be32_to_cpu(v);
}

static u64 be64_at(const u8 *p)
{
	return (u64)be32_at(p) << 32 | be32_at(p + 4);
}

/* Memory of the sender may change, so its bytes are read once. */
static u32 read_headers(struct ornic_tm_qp *tm, const struct ornic_iov *src)
{
	struct ornic_frag frag = { tm->hdr, sizeof(tm->hdr) };
	struct ornic_iov to = { &frag, 1, 1, sizeof(tm->hdr) };
	u32 have;

	memset(tm->hdr, 0, sizeof(tm->hdr));
	have = (u32)ornic_iov_copy(&to, src);
	tm->tag = 0;
	tm->app_ctx = 0;
	if (have >= ORNIC_TMH_LEN) {
		tm->app_ctx = be32_at(tm->hdr + 4);
		tm->tag = be64_at(tm->hdr + 8);
	}
	return have;
}

/* A request is one packet of any path MTU, and has nothing else to do. */
static bool is_rndv(const struct ornic_inreq *r, u32 have)
{
	return have == ORNIC_TM_HDR_LEN &&
	       r->src->bytes <= ORNIC_MAX_RNDV_HDR &&
	       r->flags & ORNIC_OPF_END &&
	       !(r->flags & (ORNIC_OPF_INV | ORNIC_OPF_IMM));
}

/* Whether the QP may READ, the host says when it brings it to RTS. */
static bool is_busy(const struct ornic_qp *qp)
{
	const struct ornic_tm_qp *tm = qp->tm;

	if (qp->state == ORNIC_QPS_RTR)
		return true;
	/* Pairs with the release when a rendezvous is done with its place. */
	return tm->accepted - smp_load_acquire(&tm->done) >= ORNIC_RNDV_DEPTH;
}

enum take {
	TAKE_NONE, /* there is no receive */
	TAKE_BUSY, /* no rendezvous can begin now */
	TAKE_WHOLE, /* rq.rwqe is for all of the message */
	TAKE_EAGER, /* rq.rwqe is for what follows the TMH */
	TAKE_RNDV, /* rq.rwqe is for what the message names */
};

static enum take take_whole(struct ornic_ctx *ctx, struct ornic_qp *qp,
			    enum ornic_tm_message message)
{
	qp->tm->message = message;
	return ornic_recv_take(ctx, qp) ? TAKE_WHOLE : TAKE_NONE;
}

/* Look at the SEND that @r begins and take a receive for it to rq.rwqe. */
static enum take take_receive(struct ornic_ctx *ctx, struct ornic_qp *qp,
			      const struct ornic_inreq *r)
{
	struct ornic_tm_qp *tm = qp->tm;
	u32 have = read_headers(tm, r->src);
	bool rndv = tm->hdr[0] == TMH_RNDV, matched;

	tm->told = false;
	if (have && (tm->hdr[0] == TMH_NO_TAG || tm->hdr[0] == TMH_FIN))
		return take_whole(ctx, qp, ORNIC_TM_NO_TAG);
	if (rndv ? !is_rndv(r, have) :
		   tm->hdr[0] != TMH_EAGER || have < ORNIC_TMH_LEN)
		return take_whole(ctx, qp, ORNIC_TM_PLAIN);
	if (rndv && is_busy(qp))
		return TAKE_BUSY;
	if (!ornic_srq_take_tagged(ctx, qp->rq.srq, tm->tag, &qp->rq.rwqe,
				   &matched))
		return TAKE_NONE;
	ornic_qp_stat_inc(qp, ORNIC_STAT_RECV_WQES);
	tm->message = matched ? ORNIC_TM_MATCHED : ORNIC_TM_UNEXPECTED;
	if (!matched)
		return TAKE_WHOLE;
	return rndv ? TAKE_RNDV : TAKE_EAGER;
}

static void set_tag(const struct ornic_tm_qp *tm, struct ornic_cqe *cqe)
{
	cqe->tag = cpu_to_le64(tm->tag);
	cqe->app_ctx = cpu_to_le32(tm->app_ctx);
}

/* The CQE of a match alone; the data, of @bytes, is yet to come. */
static struct ornic_cqe match_cqe(const struct ornic_tm_qp *tm, u32 bytes)
{
	struct ornic_cqe cqe = {
		.byte_len = cpu_to_le32(bytes),
		.opcode = ORNIC_CQE_TM_RECV,
		.tm_flags = ORNIC_CQE_TM_MATCH,
		.vlan = cpu_to_le16(ORNIC_VLAN_NONE),
	};

	set_tag(tm, &cqe);
	return cqe;
}

/* The match of a message that has more packets. */
static void report_match(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_cqe cqe = match_cqe(qp->tm, 0);

	ornic_recv_push(ctx, qp, &cqe, false);
	qp->tm->told = true;
}

void ornic_tm_describe(const struct ornic_tm_qp *tm, struct ornic_cqe *cqe)
{
	switch (tm->message) {
	case ORNIC_TM_NO_TAG:
		cqe->opcode = ORNIC_CQE_TM_NO_TAG;
		break;
	case ORNIC_TM_UNEXPECTED:
		cqe->opcode = ORNIC_CQE_TM_RECV;
		break;
	case ORNIC_TM_MATCHED:
		cqe->opcode = ORNIC_CQE_TM_RECV;
		cqe->tm_flags = ORNIC_CQE_TM_DATA_VALID;
		if (tm->told)
			break;
		cqe->tm_flags |= ORNIC_CQE_TM_MATCH;
		set_tag(tm, cqe);
		break;
	}
}

/* ---- Rendezvous ---------------------------------------------------------------- */

/* The device cannot read it, or not all of it: the host does. */
static noinline enum ornic_vendor_err leave_to_host(struct ornic_ctx *ctx,
						    struct ornic_qp *qp)
{
	struct ornic_rwqe *rw = &qp->rq.rwqe;
	struct ornic_frag frag = { qp->tm->hdr,
				   min_t(u32, ORNIC_TM_HDR_LEN, rw->length) };
	struct ornic_iov src = { &frag, 1, 1, frag.len };
	struct ornic_cqe cqe = match_cqe(qp->tm, frag.len);
	enum ornic_vendor_err verr;

	verr = ornic_sgl_write_pd(qp->dev, rw->pdn, rw->sge, rw->nsge, 0, &src);
	if (verr != ORNIC_VERR_NONE)
		return verr;
	cqe.status = ORNIC_CQE_TM_RNDV_INCOMPLETE;
	ornic_recv_cqe(ctx, qp, &cqe, true);
	return ORNIC_VERR_NONE;
}

/* Of the SGEs of @rw those that the data gets to, as for any message. */
static void fill_sges(struct ornic_rndv *rndv, const struct ornic_rwqe *rw)
{
	u32 left = rndv->length;
	struct ornic_lsge *sge;

	rndv->nsge = 0;
	while (left) {
		sge = &rndv->sge[rndv->nsge];
		*sge = rw->sge[rndv->nsge++];
		sge->length = min_t(u32, sge->length, left);
		left -= sge->length;
	}
}

/* The data is no longer than @rw. */
static void fill_rndv(struct ornic_rndv *rndv, const struct ornic_tm_qp *tm,
		      const struct ornic_rwqe *rw)
{
	const u8 *rvh = tm->hdr + ORNIC_TMH_LEN;

	rndv->wr_id = rw->wr_id;
	rndv->va = be64_at(rvh);
	rndv->rkey = be32_at(rvh + 8);
	rndv->length = be32_at(rvh + 12);
	fill_sges(rndv, rw);
	memcpy(rndv->fin, tm->hdr, sizeof(rndv->fin));
	rndv->fin[0] = TMH_FIN;
}

/*
 * Report the match, and schedule the READ. If the data does not fit, the headers go
 * to the tagged receive and it is complete; what is wrong if they could not.
 */
static enum ornic_vendor_err begin_rndv(struct ornic_ctx *ctx,
					struct ornic_qp *qp, bool solicited)
{
	struct ornic_tm_qp *tm = qp->tm;
	struct ornic_rndv *rndv = &tm->rndv[tm->accepted % ORNIC_RNDV_DEPTH];
	u32 length = be32_at(tm->hdr + ORNIC_TMH_LEN + 12);
	struct ornic_rwqe *rw = &qp->rq.rwqe;
	struct ornic_cqe cqe = match_cqe(tm, length);

	if (length > rw->length || !qp->max_rd_atomic ||
	    ornic_read_npkts(qp, length) > ORNIC_PSN_WINDOW)
		return leave_to_host(ctx, qp);
	fill_rndv(rndv, tm, rw);
	rndv->solicited = solicited;
	ornic_recv_push(ctx, qp, &cqe, false);
	rw->valid = false;
	/* After the match was reported; pairs with the load by the SQ. */
	smp_store_release(&tm->accepted, tm->accepted + 1);
	ornic_qp_resched(qp);
	return ORNIC_VERR_NONE;
}

static enum ornic_verdict accept_rndv(struct ornic_ctx *ctx,
				      struct ornic_qp *qp,
				      const struct ornic_inreq *r)
{
	enum ornic_vendor_err verr = begin_rndv(ctx, qp, r->solicited);

	if (verr != ORNIC_VERR_NONE)
		return ornic_resp_bad_recv(ctx, qp, ORNIC_CQE_LOC_PROT_ERR,
					   verr);
	return ORNIC_RESP_ACK;
}

enum ornic_verdict ornic_tm_send(struct ornic_ctx *ctx, struct ornic_qp *qp,
				 const struct ornic_inreq *r)
{
	struct ornic_rwqe *rw = &qp->rq.rwqe;
	struct ornic_iov rest = *r->src;

	if (!(r->flags & ORNIC_OPF_START))
		return ornic_resp_receive(ctx, qp, r, r->src);
	/* A WRITE with this PSN has it, and waits for a page: only that may come again. */
	if (unlikely(rw->valid)) {
		ornic_ctx_event(ctx, ORNIC_EVENT_QP_REQ_ERR, qp->qpn, 0);
		ornic_resp_die(ctx, &qp->rq);
		return ORNIC_RESP_NAK_INVALID;
	}
	qp->rq.received = 0;
	switch (take_receive(ctx, qp, r)) {
	case TAKE_NONE:
		return ornic_resp_no_rwqe(ctx, qp);
	case TAKE_BUSY:
		return ORNIC_RESP_RNR;
	case TAKE_RNDV:
		return accept_rndv(ctx, qp, r);
	case TAKE_EAGER:
		/* Nothing looks at the pieces after this. */
		ornic_iov_skip(&rest, ORNIC_TMH_LEN);
		if (!(r->flags & ORNIC_OPF_END))
			report_match(ctx, qp);
		break;
	case TAKE_WHOLE:
		if (rw->status != ORNIC_CQE_SUCCESS)
			return ornic_resp_bad_recv(ctx, qp, rw->status,
						   rw->verr);
		break;
	}
	return ornic_resp_receive(ctx, qp, r, &rest);
}

static void fill_read(struct ornic_swqe *sw, const struct ornic_rndv *rndv)
{
	sw->opcode = ORNIC_WQE_READ;
	sw->raddr = rndv->va;
	sw->rkey = rndv->rkey;
	sw->length = rndv->length;
	sw->nsge = rndv->nsge;
	memcpy(sw->sge, rndv->sge, rndv->nsge * sizeof(*sw->sge));
}

static void fill_fin(struct ornic_swqe *sw, const struct ornic_rndv *rndv)
{
	sw->opcode = ORNIC_WQE_SEND;
	sw->flags |= ORNIC_WQE_INLINE;
	sw->length = sizeof(rndv->fin);
	memcpy(sw->inline_data, rndv->fin, sizeof(rndv->fin));
}

bool ornic_tm_fetch(struct ornic_qp *qp, struct ornic_swqe *sw)
{
	struct ornic_tm_qp *tm = qp->tm;

	sw->flags = ORNIC_WQE_SIGNALED;
	/* A QP in error reports its READs, and sends nothing. */
	if (tm->fins != tm->read && qp->state != ORNIC_QPS_ERR) {
		fill_fin(sw, &tm->rndv[tm->fins++ % ORNIC_RNDV_DEPTH]);
		return true;
	}
	/* Pairs with the release by the responder. */
	if (tm->reads == smp_load_acquire(&tm->accepted))
		return false;
	fill_read(sw, &tm->rndv[tm->reads++ % ORNIC_RNDV_DEPTH]);
	return true;
}

/* The end of the message, which is solicited if its request was. */
static void report_data(struct ornic_ctx *ctx, struct ornic_qp *qp,
			const struct ornic_rndv *rndv, struct ornic_cqe *cqe)
{
	bool failed = cqe->status != ORNIC_CQE_SUCCESS;

	cqe->wr_id = cpu_to_le64(rndv->wr_id);
	if (!failed)
		cqe->tm_flags = ORNIC_CQE_TM_DATA_VALID;
	if (rndv->solicited)
		cqe->flags |= ORNIC_CQE_SOLICITED_EVENT;
	if (ornic_cq_push(ctx, qp->rq.srq->cq, cqe, failed || rndv->solicited))
		ornic_qp_stat_inc(qp, ORNIC_STAT_CQES);
	if (unlikely(qp->cntr_ops))
		ornic_comp_cntr_recv(qp, cqe->status);
}

void ornic_tm_complete(struct ornic_ctx *ctx, struct ornic_qp *qp,
		       const struct ornic_swqe *sw,
		       enum ornic_cqe_status status, enum ornic_vendor_err verr)
{
	struct ornic_tm_qp *tm = qp->tm;
	struct ornic_cqe cqe = {
		.qpn = cpu_to_le32(qp->qpn),
		.byte_len = cpu_to_le32(sw->length),
		.vlan = cpu_to_le16(ORNIC_VLAN_NONE),
		.opcode = ORNIC_CQE_TM_RECV,
		.status = status,
		.vendor_err = verr,
	};

	if (sw->opcode != ORNIC_WQE_READ) {
		/* Its place is free: pairs with the load by the responder. */
		smp_store_release(&tm->done, tm->done + 1);
		return;
	}
	report_data(ctx, qp, &tm->rndv[tm->read++ % ORNIC_RNDV_DEPTH], &cqe);
}

void ornic_tm_reset(struct ornic_tm_qp *tm)
{
	tm->message = ORNIC_TM_PLAIN;
	tm->accepted = 0;
	tm->reads = 0;
	tm->read = 0;
	tm->fins = 0;
	tm->done = 0;
}
