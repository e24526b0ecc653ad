// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The responder: decides on requests and executes them, in PSN order. It
 * serves packets and loopback alike and sends nothing: resp_tx.c does, from the
 * ring of responder resources that READs and atomics leave here. The resources
 * stay for duplicates until they are overwritten.
 */
#include "proto.h"

/* Write the payload to the SGEs of the receive WQE. */
static enum ornic_vendor_err scatter_payload(struct ornic_qp *qp, u64 off,
					     const struct ornic_iov *src)
{
	const struct ornic_rwqe *rw = &qp->rq.rwqe;

	return ornic_sgl_write_pd(qp->dev, rw->pdn, rw->sge, rw->nsge, off,
				  src);
}

/* ---- verdicts ----------------------------------------------------------------- */

/* An error of class A, B or C, IBTA 9.9.3: the end of the QP. */
static enum ornic_verdict fail_qp(struct ornic_ctx *ctx, struct ornic_qp *qp,
				  enum ornic_verdict verdict)
{
	static const enum ornic_eqe_type events[] = {
		[ORNIC_RESP_NAK_INVALID] = ORNIC_EVENT_QP_REQ_ERR,
		[ORNIC_RESP_NAK_ACCESS] = ORNIC_EVENT_QP_ACCESS_ERR,
		[ORNIC_RESP_NAK_OP] = ORNIC_EVENT_QP_FATAL,
	};

	ornic_ctx_event(ctx, events[verdict], qp->qpn, 0);
	ornic_resp_die(ctx, &qp->rq);
	return verdict;
}

/* A request that breaks the rules; UC drops the message, IBTA 9.8.2.2. */
static enum ornic_verdict refuse_request(struct ornic_ctx *ctx,
					 struct ornic_qp *qp,
					 enum ornic_verdict verdict)
{
	if (ornic_qp_is_reliable(qp))
		return fail_qp(ctx, qp, verdict);
	/* No end of the QP stops a peer that guesses keys: show that it does. */
	if (verdict == ORNIC_RESP_NAK_ACCESS)
		ornic_qp_stat_inc(qp, ORNIC_STAT_RX_BAD_RKEY);
	qp->rq.msg = 0;
	return ORNIC_RESP_DROP;
}

noinline enum ornic_verdict ornic_resp_bad_recv(struct ornic_ctx *ctx,
						struct ornic_qp *qp,
						enum ornic_cqe_status status,
						enum ornic_vendor_err verr)
{
	ornic_recv_fail(ctx, qp, status, verr);
	ornic_resp_die(ctx, &qp->rq);
	return status == ORNIC_CQE_LOC_LEN_ERR ? ORNIC_RESP_NAK_INVALID :
						 ORNIC_RESP_NAK_OP;
}

/*
 * A message that is longer than its receive, IBTA 9.9.3. On RC it is the peer's
 * fault (class C). Others reach UD QPs as well, so there no message ends the QP:
 * the WQE waits for the next one (class D), or, from an SRQ, completes in error
 * (class E).
 */
static noinline enum ornic_verdict too_long(struct ornic_ctx *ctx,
					    struct ornic_qp *qp)
{
	if (ornic_qp_is_reliable(qp))
		return ornic_resp_bad_recv(ctx, qp, ORNIC_CQE_LOC_LEN_ERR,
					   ORNIC_VERR_BAD_LENGTH);
	ornic_qp_stat_inc(qp, ORNIC_STAT_RX_TOO_LONG);
	if (qp->rq.srq)
		ornic_recv_fail(ctx, qp, ORNIC_CQE_LOC_LEN_ERR,
				ORNIC_VERR_BAD_LENGTH);
	qp->rq.msg = 0;
	return ORNIC_RESP_DROP;
}

enum ornic_verdict ornic_resp_no_rwqe(struct ornic_ctx *ctx,
				      struct ornic_qp *qp)
{
	struct ornic_srq *srq = qp->rq.srq;

	/* There will never be one: the QP ends, each on its next message. */
	if (unlikely(srq ? READ_ONCE(srq->broken) : qp->rq.broken)) {
		ornic_ctx_event(ctx, ORNIC_EVENT_QP_FATAL, qp->qpn, 0);
		ornic_resp_die(ctx, &qp->rq);
		return ORNIC_RESP_NAK_OP;
	}
	if (ornic_qp_is_reliable(qp))
		return ORNIC_RESP_RNR;
	ornic_qp_stat_inc(qp, ORNIC_STAT_RX_NO_WQE);
	qp->rq.msg = 0;
	return ORNIC_RESP_DROP;
}

/* Make sure of a receive WQE (ACK), else return the verdict. */
static enum ornic_verdict need_rwqe(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_rwqe *rw = &qp->rq.rwqe;

	if (!rw->valid && !ornic_recv_take(ctx, qp))
		return ornic_resp_no_rwqe(ctx, qp);
	if (rw->status != ORNIC_CQE_SUCCESS)
		return ornic_resp_bad_recv(ctx, qp, rw->status, rw->verr);
	return ORNIC_RESP_ACK;
}

/* The memory of the receive WQE may not be written to, or not yet. */
static noinline enum ornic_verdict recv_unmapped(struct ornic_ctx *ctx,
						 struct ornic_qp *qp,
						 const struct ornic_inreq *r,
						 enum ornic_vendor_err verr)
{
	if (verr == ORNIC_VERR_PAGE && !qp->tm &&
	    ornic_fault_recv(ctx, qp, r) == ORNIC_FAULT_WAITS)
		return ORNIC_RESP_ABSENT;
	return ornic_resp_bad_recv(ctx, qp, ORNIC_CQE_LOC_PROT_ERR, verr);
}

/* A key does not give @access to what @r names, or not yet. */
static noinline enum ornic_verdict
key_unmapped(struct ornic_ctx *ctx, struct ornic_qp *qp,
	     const struct ornic_inreq *r, u8 access, enum ornic_vendor_err verr)
{
	if (verr == ORNIC_VERR_PAGE &&
	    ornic_fault_request(ctx, qp, r, access) == ORNIC_FAULT_WAITS)
		return ORNIC_RESP_ABSENT;
	return refuse_request(ctx, qp, ORNIC_RESP_NAK_ACCESS);
}

/* ---- SEND and WRITE ------------------------------------------------------------ */

enum ornic_verdict ornic_resp_receive(struct ornic_ctx *ctx,
				      struct ornic_qp *qp,
				      const struct ornic_inreq *r,
				      const struct ornic_iov *src)
{
	struct ornic_rq *rq = &qp->rq;
	enum ornic_vendor_err verr;

	if (rq->received + src->bytes > rq->rwqe.length)
		return too_long(ctx, qp);
	verr = scatter_payload(qp, rq->received, src);
	if (verr != ORNIC_VERR_NONE)
		return recv_unmapped(ctx, qp, r, verr);
	rq->received += src->bytes;
	if (r->flags & ORNIC_OPF_INV) {
		verr = ornic_key_invalidate(qp, be32_to_cpu(r->imm), true);
		if (verr != ORNIC_VERR_NONE)
			return ornic_resp_bad_recv(
				ctx, qp, ORNIC_CQE_LOC_QP_OP_ERR, verr);
	}
	if (r->flags & ORNIC_OPF_END)
		ornic_recv_done(ctx, qp, r, ORNIC_CQE_RECV, rq->received);
	return ORNIC_RESP_ACK;
}

static enum ornic_verdict do_send(struct ornic_ctx *ctx, struct ornic_qp *qp,
				  const struct ornic_inreq *r)
{
	enum ornic_verdict verdict;

	if (r->flags & ORNIC_OPF_START) {
		verdict = need_rwqe(ctx, qp);
		if (verdict != ORNIC_RESP_ACK)
			return verdict;
		qp->rq.received = 0;
	}
	return ornic_resp_receive(ctx, qp, r, r->src);
}

/*
 * May the check of a WRITE wait for that of its first piece? Yes if this is all
 * of it and takes no receive WQE: nothing is decided in between, and what is
 * checked is the same.
 */
static bool is_whole(const struct ornic_inreq *r)
{
	u32 place = ORNIC_OPF_START | ORNIC_OPF_END;

	return (r->flags & (place | ORNIC_OPF_IMM)) == place &&
	       r->src->bytes == r->dma_len;
}

static enum ornic_verdict write_start(struct ornic_ctx *ctx,
				      struct ornic_qp *qp,
				      const struct ornic_inreq *r)
{
	enum ornic_vendor_err verr = ORNIC_VERR_NONE;
	struct ornic_rq *rq = &qp->rq;
	struct ornic_mkey *mkey;

	if (!(qp->access & ORNIC_ACCESS_REMOTE_WRITE) ||
	    r->dma_len > ORNIC_MAX_MSG)
		return refuse_request(ctx, qp, ORNIC_RESP_NAK_INVALID);
	rq->va = r->va;
	rq->rkey = r->rkey;
	rq->dma_len = r->dma_len;
	rq->received = 0;
	/* IBTA C9-88: a length of zero needs no valid key. */
	if (r->dma_len && !is_whole(r))
		verr = ornic_rkey_check(qp, r->rkey, r->va, r->dma_len,
					ORNIC_ACCESS_REMOTE_WRITE, &mkey);
	if (verr != ORNIC_VERR_NONE)
		return key_unmapped(ctx, qp, r, ORNIC_ACCESS_REMOTE_WRITE,
				    verr);
	return ORNIC_RESP_ACK;
}

static enum ornic_verdict do_write(struct ornic_ctx *ctx, struct ornic_qp *qp,
				   const struct ornic_inreq *r)
{
	bool end = r->flags & ORNIC_OPF_END, imm = r->flags & ORNIC_OPF_IMM;
	struct ornic_rq *rq = &qp->rq;
	enum ornic_verdict verdict;
	enum ornic_vendor_err verr;
	u64 total;

	if (r->flags & ORNIC_OPF_START) {
		verdict = write_start(ctx, qp, r);
		if (verdict != ORNIC_RESP_ACK)
			return verdict;
	}
	total = rq->received + r->src->bytes;
	if (end ? total != rq->dma_len : total >= rq->dma_len)
		return refuse_request(ctx, qp, ORNIC_RESP_NAK_INVALID);
	if (end && imm) {
		verdict = need_rwqe(ctx, qp);
		if (verdict != ORNIC_RESP_ACK)
			return verdict;
	}
	verr = ornic_key_write(qp, rq->rkey, rq->va + rq->received, r->src);
	if (verr != ORNIC_VERR_NONE)
		return key_unmapped(ctx, qp, r, ORNIC_ACCESS_REMOTE_WRITE,
				    verr);
	rq->received = total;
	if (end && imm)
		ornic_recv_done(ctx, qp, r, ORNIC_CQE_RECV_WRITE_IMM, total);
	return ORNIC_RESP_ACK;
}

/* ---- READ and atomics ----------------------------------------------------------- */

static enum ornic_verdict do_read(struct ornic_ctx *ctx, struct ornic_qp *qp,
				  struct ornic_inreq *r)
{
	enum ornic_vendor_err verr;
	struct ornic_rd *rd;

	if (!(qp->access & ORNIC_ACCESS_REMOTE_READ) ||
	    r->dma_len > ORNIC_MAX_MSG || ornic_rd_full(qp, r))
		return refuse_request(ctx, qp, ORNIC_RESP_NAK_INVALID);
	verr = ornic_read_check(qp, r);
	if (verr != ORNIC_VERR_NONE)
		return key_unmapped(ctx, qp, r, ORNIC_ACCESS_REMOTE_READ, verr);
	r->npsn = ornic_read_npkts(qp, r->dma_len);
	if (r->pkt || r->direct) {
		rd = ornic_rd_new(qp, r);
		rd->more = r->more;
	}
	return ORNIC_RESP_DATA;
}

/* cmpxchg, so that it is atomic against CPUs as well (IB_ATOMIC_GLOB). */
static u64 atomic_execute(u64 *p, const struct ornic_inreq *r)
{
	u64 old = READ_ONCE(*p), new_val, seen;

	for (;;) {
		if (!r->cas)
			new_val = old + r->swap_add;
		else if (old == r->compare)
			new_val = r->swap_add;
		else
			return old;
		seen = ornic_cmpxchg64(p, old, new_val);
		if (seen == old)
			return old;
		old = seen;
	}
}

static enum ornic_verdict do_atomic(struct ornic_ctx *ctx, struct ornic_qp *qp,
				    struct ornic_inreq *r)
{
	struct ornic_frag frag;
	struct ornic_iov iov = { &frag, 1, 0, 0 };
	enum ornic_vendor_err verr;
	struct ornic_rd *rd;

	if (!(qp->access & ORNIC_ACCESS_REMOTE_ATOMIC) ||
	    ornic_rd_full(qp, r) || r->va & (sizeof(u64) - 1))
		return refuse_request(ctx, qp, ORNIC_RESP_NAK_INVALID);
	verr = ornic_rkey_map(&iov, qp, r->rkey, r->va, sizeof(u64),
			      ORNIC_ACCESS_REMOTE_ATOMIC);
	if (verr != ORNIC_VERR_NONE || iov.bytes != sizeof(u64))
		return key_unmapped(ctx, qp, r, ORNIC_ACCESS_REMOTE_ATOMIC,
				    verr);
	/* An MR may begin anywhere: aligned for the peer is not for us. */
	if ((uintptr_t)frag.ptr & (sizeof(u64) - 1))
		return refuse_request(ctx, qp, ORNIC_RESP_NAK_INVALID);
	r->orig = atomic_execute(frag.ptr, r);
	r->npsn = 1;
	if (r->pkt) {
		rd = ornic_rd_new(qp, r);
		rd->atomic = true;
		rd->orig = r->orig;
	}
	return ORNIC_RESP_ATOMIC;
}

/* A resource for a response without data. */
static void rd_new_empty(struct ornic_qp *qp, const struct ornic_inreq *r)
{
	struct ornic_rd *rd = ornic_rd_new(qp, r);

	rd->empty = true;
	rd->length = 0;
}

/* IBTA A19.4.2: 8 bytes, written at once. */
static enum ornic_verdict do_atomic_write(struct ornic_ctx *ctx,
					  struct ornic_qp *qp,
					  struct ornic_inreq *r)
{
	struct ornic_frag frag;
	struct ornic_iov iov = { &frag, 1, 0, 0 };
	u64 value;
	struct ornic_frag to = { &value, sizeof(value) };
	struct ornic_iov payload = { &to, 1, 1, sizeof(value) };
	enum ornic_vendor_err verr;

	if (!(qp->access & ORNIC_ACCESS_REMOTE_WRITE) || ornic_rd_full(qp, r) ||
	    r->va & (sizeof(u64) - 1) || r->dma_len != sizeof(u64) ||
	    r->src->bytes != sizeof(u64))
		return refuse_request(ctx, qp, ORNIC_RESP_NAK_INVALID);
	verr = ornic_rkey_map(&iov, qp, r->rkey, r->va, sizeof(u64),
			      ORNIC_ACCESS_REMOTE_WRITE);
	if (verr != ORNIC_VERR_NONE || iov.bytes != sizeof(u64))
		return key_unmapped(ctx, qp, r, ORNIC_ACCESS_REMOTE_WRITE,
				    verr);
	if ((uintptr_t)frag.ptr & (sizeof(u64) - 1))
		return refuse_request(ctx, qp, ORNIC_RESP_NAK_INVALID);
	ornic_iov_copy(&payload, r->src);
	/* Readers of it see the writes before it: pairs with acquires. */
	smp_store_release((u64 *)frag.ptr, value);
	r->npsn = 1;
	if (r->pkt)
		rd_new_empty(qp, r);
	return ORNIC_RESP_EMPTY;
}

/* An atomic or an ATOMIC WRITE, while the key stays what it is. */
static noinline enum ornic_verdict
do_word(struct ornic_ctx *ctx, struct ornic_qp *qp, struct ornic_inreq *r)
{
	enum ornic_verdict verdict;
	struct ornic_frmr *frmr;

	frmr = ornic_frmr_hold(ornic_mkey_lookup(qp->dev, r->rkey));
	if (r->flags & ORNIC_OPF_ATOMIC_WRITE)
		verdict = do_atomic_write(ctx, qp, r);
	else
		verdict = do_atomic(ctx, qp, r);
	ornic_frmr_release(frmr);
	return verdict;
}

/*
 * True if everything that @r names can be flushed as requested, IBTA A19.4.1.
 */
static enum ornic_verdict flush_allowed(struct ornic_qp *qp,
					const struct ornic_inreq *r)
{
	u32 level = (r->feth & ORNIC_FETH_LEVEL_MASK) >> ORNIC_FETH_LEVEL_SHIFT;
	u32 type = r->feth & ORNIC_FETH_TYPE_MASK;
	enum ornic_vendor_err verr;
	struct ornic_mkey *mkey;
	u64 len = r->dma_len;

	if (!type || type & ~(ORNIC_FLUSH_GLOBAL | ORNIC_FLUSH_PERSISTENT) ||
	    !(qp->access & ORNIC_ACCESS_FLUSH_GLOBAL) || level > ORNIC_FLUSH_MR)
		return ORNIC_RESP_NAK_INVALID;
	if (level == ORNIC_FLUSH_MR)
		len = 0;
	/* Nothing here is persistent, so no MR has the right to it. */
	if (type & ORNIC_FLUSH_PERSISTENT)
		return ORNIC_RESP_NAK_ACCESS;
	verr = ornic_rkey_check(qp, r->rkey, r->va, len,
				ORNIC_ACCESS_FLUSH_GLOBAL, &mkey);
	/* What was written to an absent page, the host has. */
	return verr == ORNIC_VERR_NONE || verr == ORNIC_VERR_PAGE ?
		       ORNIC_RESP_ACK :
		       ORNIC_RESP_NAK_ACCESS;
}

/*
 * Payload goes straight to memory that all CPUs see, so what is left is order:
 * nothing that comes after the response overtakes the writes before it.
 */
static noinline enum ornic_verdict
do_flush(struct ornic_ctx *ctx, struct ornic_qp *qp, struct ornic_inreq *r)
{
	enum ornic_verdict verdict = ORNIC_RESP_NAK_INVALID;

	if (!ornic_rd_full(qp, r))
		verdict = flush_allowed(qp, r);
	if (verdict != ORNIC_RESP_ACK)
		return refuse_request(ctx, qp, verdict);
	/* Writes of this QP before what its peer does on the response. */
	smp_mb();
	r->npsn = 1;
	if (r->pkt)
		rd_new_empty(qp, r);
	return ORNIC_RESP_EMPTY;
}

/* ---- order ---------------------------------------------------------------------- */

/* PSN order. ORNIC_RESP_ACK: it is the one expected. */
static enum ornic_verdict check_psn(const struct ornic_ctx *ctx,
				    struct ornic_qp *qp, struct ornic_inreq *r)
{
	struct ornic_rq *rq = &qp->rq;
	s32 diff = ornic_psn_diff(r->psn, rq->epsn);

	if (!diff) {
		rq->nak_sent = false;
		return ORNIC_RESP_ACK;
	}
	if (qp->type == ORNIC_QPT_UC) {
		/* What is before it may wait for pages. */
		if (qp->rq.held && r->pkt && !r->held)
			return ORNIC_RESP_ABSENT;
		/* IBTA 9.8.2.2.1: a message is lost, go on with the next. */
		ornic_qp_stat_inc(qp, ORNIC_STAT_OUT_OF_SEQ);
		rq->msg = 0;
		rq->epsn = r->psn;
		return ORNIC_RESP_ACK;
	}
	if (diff < 0) {
		ornic_qp_stat_inc(qp, ORNIC_STAT_DUPLICATES);
		ornic_reorder_duplicate(ctx, qp, r->psn);
		if (unlikely(qp->spray) && r->pkt)
			ornic_spray_unheard(ctx, qp);
		if (r->pkt && r->flags & ORNIC_OPF_HAS_RESPONSE)
			return ornic_xrc_lacks_srq(qp, r) ?
				       ORNIC_RESP_DROP :
				       ornic_replay(ctx, qp, r);
		return ORNIC_RESP_DUPLICATE;
	}
	ornic_qp_stat_inc(qp, ORNIC_STAT_OUT_OF_SEQ);
	return diff > ORNIC_MAX_GAP ? ORNIC_RESP_DROP : ORNIC_RESP_AHEAD;
}

/* Place in the message and payload length, IBTA C9-81 to C9-87. */
static bool check_form(struct ornic_qp *qp, const struct ornic_inreq *r)
{
	u32 kind = r->flags & (ORNIC_OPF_SEND | ORNIC_OPF_WRITE);
	bool start = r->flags & ORNIC_OPF_START;
	u64 most = (u64)r->npsn * qp->mtu;

	if (start ? qp->rq.msg != 0 : qp->rq.msg != kind)
		return false;
	if (!kind)
		return true;
	if (!(r->flags & ORNIC_OPF_END))
		return r->src->bytes == most;
	if (start && !r->src->bytes)
		return r->npsn == 1;
	return r->src->bytes <= most && r->src->bytes > most - qp->mtu;
}

static enum ornic_verdict execute_request(struct ornic_ctx *ctx,
					  struct ornic_qp *qp,
					  struct ornic_inreq *r)
{
	enum ornic_verdict verdict = ORNIC_RESP_NAK_INVALID;

	if (check_form(qp, r))
		verdict = ornic_xrc_bind_srq(qp, r);
	if (unlikely(verdict != ORNIC_RESP_ACK))
		return refuse_request(ctx, qp, verdict);
	if (r->flags & ORNIC_OPF_SEND)
		return unlikely(qp->tm) ? ornic_tm_send(ctx, qp, r) :
					  do_send(ctx, qp, r);
	if (r->flags & ORNIC_OPF_WRITE)
		return do_write(ctx, qp, r);
	if (r->flags & ORNIC_OPF_READ)
		return do_read(ctx, qp, r);
	if (r->flags & ORNIC_OPF_FLUSH)
		return do_flush(ctx, qp, r);
	return do_word(ctx, qp, r);
}

static noinline enum ornic_verdict request_ud(struct ornic_ctx *ctx,
					      struct ornic_qp *qp,
					      const struct ornic_inreq *r)
{
	u8 grh[ORNIC_GRH_LEN];
	struct ornic_frag frag = { grh, sizeof(grh) };
	struct ornic_iov head = { &frag, 1, 1, sizeof(grh) };
	struct ornic_rwqe *rw = &qp->rq.rwqe;
	enum ornic_vendor_err verr;

	/* In order, also where that is not promised. */
	if (unlikely(qp->rq.held) && !r->held)
		return ORNIC_RESP_ABSENT;
	if (need_rwqe(ctx, qp) != ORNIC_RESP_ACK)
		return ORNIC_RESP_DROP;
	if (r->src->bytes + sizeof(grh) > rw->length)
		return too_long(ctx, qp);
	ornic_grh_from_ip(grh, r->ip, r->ipv6);
	verr = scatter_payload(qp, 0, &head);
	if (verr == ORNIC_VERR_NONE)
		verr = scatter_payload(qp, sizeof(grh), r->src);
	if (verr != ORNIC_VERR_NONE)
		return recv_unmapped(ctx, qp, r, verr) == ORNIC_RESP_ABSENT ?
			       ORNIC_RESP_ABSENT :
			       ORNIC_RESP_DROP;
	ornic_fault_passed(&qp->rq.fault, false);
	ornic_recv_done(ctx, qp, r, ORNIC_CQE_RECV,
			r->src->bytes + sizeof(grh));
	return ORNIC_RESP_ACK;
}

void ornic_resp_raw(struct ornic_ctx *ctx, struct ornic_qp *qp,
		    const struct ornic_iov *frame)
{
	const struct ornic_inreq r = { .src = frame };
	enum ornic_vendor_err verr;

	ornic_lock_held(&qp->rq.lock);
	if (qp->rq.dead || need_rwqe(ctx, qp) != ORNIC_RESP_ACK)
		return;
	if (frame->bytes > qp->rq.rwqe.length) {
		too_long(ctx, qp);
		return;
	}
	verr = scatter_payload(qp, 0, frame);
	if (verr != ORNIC_VERR_NONE) {
		/* It is lost, as if there were no receive. */
		if (recv_unmapped(ctx, qp, &r, verr) == ORNIC_RESP_ABSENT)
			ornic_qp_stat_inc(qp, ORNIC_STAT_RX_NO_WQE);
		return;
	}
	ornic_fault_passed(&qp->rq.fault, false);
	ornic_recv_done(ctx, qp, &r, ORNIC_CQE_RECV, (u32)frame->bytes);
}

/* The request was executed: the next one is expected. */
static void accept_request(struct ornic_rq *rq, const struct ornic_inreq *r)
{
	rq->epsn = ornic_psn_add(rq->epsn, r->npsn);
	rq->msg = r->flags & (ORNIC_OPF_SEND | ORNIC_OPF_WRITE);
	if (r->flags & ORNIC_OPF_END) {
		rq->msg = 0;
		rq->msn = ornic_psn_add(rq->msn, 1);
	}
}

/* Optional counters: messages, by what they ask for. */
static void count_request(struct ornic_qp *qp, const struct ornic_inreq *r)
{
	static const struct {
		u32 kind;
		enum ornic_stat stat;
	} stats[] = {
		{ ORNIC_OPF_SEND, ORNIC_STAT_RX_SEND_REQUESTS },
		{ ORNIC_OPF_WRITE, ORNIC_STAT_RX_WRITE_REQUESTS },
		{ ORNIC_OPF_READ, ORNIC_STAT_RX_READ_REQUESTS },
		{ ORNIC_OPF_ATOMIC, ORNIC_STAT_RX_ATOMIC_REQUESTS },
	};
	u32 i;

	if (likely(!READ_ONCE(qp->dev->optional)) ||
	    !(r->flags & ORNIC_OPF_END))
		return;
	for (i = 0; i < ARRAY_SIZE(stats); i++) {
		if (r->flags & stats[i].kind &&
		    ornic_stat_optional(qp->dev, stats[i].stat))
			ornic_qp_stat_inc(qp, stats[i].stat);
	}
}

enum ornic_verdict ornic_resp_request(struct ornic_ctx *ctx,
				      struct ornic_qp *qp,
				      struct ornic_inreq *r)
{
	struct ornic_rq *rq = &qp->rq;
	enum ornic_verdict verdict;

	ornic_lock_held(&rq->lock);
	if (rq->dead)
		return ORNIC_RESP_DROP;
	if (qp->state == ORNIC_QPS_RTR && !rq->comm_est) {
		rq->comm_est = true;
		ornic_ctx_event(ctx, ORNIC_EVENT_COMM_EST, qp->qpn, 0);
	}
	if (qp->type == ORNIC_QPT_UD) {
		verdict = request_ud(ctx, qp, r);
		if (verdict == ORNIC_RESP_ACK)
			count_request(qp, r);
		return verdict;
	}
	ornic_xrc_find_srq(qp, r);
	verdict = check_psn(ctx, qp, r);
	if (verdict != ORNIC_RESP_ACK)
		return verdict;
	if (qp->type == ORNIC_QPT_UC && r->flags & ORNIC_OPF_START)
		rq->msg = 0;
	verdict = execute_request(ctx, qp, r);
	switch (verdict) {
	case ORNIC_RESP_ACK:
	case ORNIC_RESP_DATA:
	case ORNIC_RESP_ATOMIC:
	case ORNIC_RESP_EMPTY:
		accept_request(rq, r);
		count_request(qp, r);
		ornic_fault_passed(&rq->fault, false);
		break;
	case ORNIC_RESP_RNR:
		/* Packets in flight after it need no NAK of their own. */
		rq->nak_sent = true;
		rq->ahead.nak_time = 0;
		break;
	case ORNIC_RESP_DROP:
		rq->epsn = ornic_psn_add(rq->epsn, r->npsn);
		break;
	default:
		break;
	}
	if (unlikely(qp->cntr_ops))
		ornic_comp_cntr_request(qp, r->flags, verdict);
	return verdict;
}

/* ---- packets --------------------------------------------------------------------- */

/* The statistic to count if @pkt is not from the peer of @qp, else COUNT. */
static enum ornic_stat check_sender(const struct ornic_qp *qp,
				    const struct ornic_pkt *pkt)
{
	if (qp->type == ORNIC_QPT_UD) {
		if (ornic_rx_is_astray(qp->dev, pkt->rx))
			return ORNIC_STAT_RX_BAD_ADDR;
		return pkt->qkey == qp->qkey ? ORNIC_STAT_COUNT :
					       ORNIC_STAT_RX_BAD_QKEY;
	}
	return ornic_path_matches(&qp->path, pkt->rx) ? ORNIC_STAT_COUNT :
							ORNIC_STAT_RX_BAD_ADDR;
}

/* A connected QP has one peer, which is alive if it goes on where it was. */
static void from_peer(const struct ornic_ctx *ctx, const struct ornic_qp *qp,
		      struct ornic_inreq *r)
{
	r->src_qpn = qp->dest_qpn;
	if (likely(r->psn == qp->rq.epsn && ornic_qp_is_reliable(qp)))
		ornic_qp_mark_peer_seen(qp, ctx->now);
}

static enum ornic_verdict execute_packet(struct ornic_ctx *ctx,
					 struct ornic_qp *qp,
					 const struct ornic_pkt *pkt)
{
	struct ornic_frag frag[ORNIC_RX_SEGS] __uninitialized;
	struct ornic_iov src = { .frag = frag, .max = ORNIC_RX_SEGS };
	struct ornic_inreq r = {
		.flags = pkt->op->flags,
		.psn = pkt->psn,
		.npsn = 1,
		.solicited = pkt->solicited,
		.ack_req = pkt->ack_req,
		.imm = pkt->imm,
		.va = pkt->va,
		.rkey = pkt->rkey,
		.dma_len = pkt->dma_len,
		.swap_add = pkt->swap_add,
		.compare = pkt->compare,
		.feth = pkt->feth,
		.cas = (pkt->opcode & ~ORNIC_TRANSPORT_MASK) == ORNIC_OP_CAS,
		.more = pkt->selective & ORNIC_BTH_MORE,
		.src_qpn = pkt->src_qpn,
		.srqn = pkt->srqn,
		.src = &src,
		.pkt = pkt,
		.ip = pkt->rx->ip,
		.ipv6 = pkt->rx->ipv6,
	};
	enum ornic_verdict verdict;

	src.n = ornic_pkt_payload(pkt, frag);
	src.bytes = pkt->payload_len;
	if (qp->type == ORNIC_QPT_UD) {
		r.sgid_index = ornic_rx_gid_index(qp->dev, pkt->rx);
		r.pkey_index = ornic_qp_pkey_index(qp, pkt->pkey);
	} else {
		from_peer(ctx, qp, &r);
	}
	verdict = ornic_resp_request(ctx, qp, &r);
	if (verdict == ORNIC_RESP_ACK)
		ornic_qp_stat_add(qp, ORNIC_STAT_RX_BYTES, pkt->payload_len);
	if (unlikely(verdict >= ORNIC_RESP_AHEAD))
		verdict = verdict == ORNIC_RESP_AHEAD ?
				  ornic_reorder_keep(ctx, qp, pkt) :
				  ornic_hold_request(ctx, qp, &r);
	return verdict;
}

enum ornic_verdict ornic_resp_execute(struct ornic_ctx *ctx,
				      struct ornic_qp *qp,
				      const struct ornic_pkt *pkt)
{
	return execute_packet(ctx, qp, pkt);
}

void ornic_resp_rx(struct ornic_ctx *ctx, struct ornic_qp *qp,
		   const struct ornic_pkt *pkt)
{
	enum ornic_stat stat = check_sender(qp, pkt);
	struct ornic_rq *rq = &qp->rq;
	enum ornic_verdict verdict;
	bool news;

	if (stat != ORNIC_STAT_COUNT) {
		ornic_qp_stat_inc(qp, stat);
		return;
	}
	/* Others are copies, or perhaps from somebody who knows the addresses only. */
	news = (u32)ornic_psn_diff(pkt->psn, rq->epsn) <= ORNIC_REORDER_WINDOW;
	verdict = execute_packet(ctx, qp, pkt);
	if (!ornic_qp_is_reliable(qp))
		return;
	rq->again = pkt->selective & ORNIC_BTH_AGAIN;
	ornic_resp_verdict(qp, verdict, pkt);
	if (likely(news))
		rq->selective = pkt->selective;
	if (unlikely(rq->ahead.n))
		ornic_reorder_run(ctx, qp, pkt);
	if (ornic_resp_waits(rq) && ornic_resp_run(ctx, qp) == ORNIC_RUN_MORE)
		ornic_qp_resched(qp);
}
