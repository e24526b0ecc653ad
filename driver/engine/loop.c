// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Loopback within a device, and between peer engines: the requester passes its
 * message to the responder of the peer, MR to MR, without packets. The protocol
 * is that of the wire: a peer that does not exist or is not ready to receive
 * equals a lost packet, and the ACK timer takes over. Where the two can send
 * packets as well (direct.c) these go instead, and a READ that may end there leaves
 * the responder resource that they need.
 *
 * Locks: A.sq is held, B.rq is taken around the responder, nothing else. The
 * error state of B is left to a run of B. Work of a peer engine has the device
 * of that engine in its ctx, which also delivers its events.
 */
#include "loop.h"

#include "proto.h"

/* The peer's response, and what of its state belongs to it. */
struct reply {
	enum ornic_verdict verdict;
	u8 rnr_timer;
	u64 epoch;
};

/* The peer of a connected QP, in whichever device it is. */
static struct ornic_qp *peer_of(const struct ornic_ctx *ctx,
				const struct ornic_qp *qp)
{
	struct ornic_dev *dev = ctx->direct;

	if (!dev)
		dev = ornic_path_dev(qp->dev, &qp->path);
	return dev ? ornic_qp_lookup(dev, qp->dest_qpn) : NULL;
}

/* True if the addresses match as those of packets have to. */
static bool addresses_match(const struct ornic_qp *qp,
			    const struct ornic_qp *peer)
{
	return ornic_gid_equal(peer->path.dgid, qp->path.sgid) &&
	       ornic_gid_equal(peer->path.sgid, qp->path.dgid);
}

/* True if each has the other as its peer, IBTA A17.9. Under peer's rq.lock. */
static bool are_peers(const struct ornic_qp *qp, const struct ornic_qp *peer)
{
	return peer->loop_peer == qp->loop_self && ornic_qp_can_receive(peer) &&
	       addresses_match(qp, peer);
}

/* True if @peer would accept packets of @qp. Under peer's rq.lock. */
static bool is_connected(const struct ornic_qp *qp, const struct ornic_qp *peer)
{
	return are_peers(qp, peer) && ornic_pkeys_match(peer->pkey, qp->pkey);
}

/* ---- The fast path ----------------------------------------------------------- */

/*
 * Single-packet WRITEs and READs between plain MRs, or ODP MRs whose pages are there.
 * Everything is checked before anything changes; anything unusual (a failure, a fault,
 * an event, a counter, a window, an FRMR or DMA key, device memory, more than a page)
 * takes the slow path, which starts from the beginning.
 */
bool ornic_loop_is_short(const struct ornic_qp *qp, const struct ornic_swqe *sw)
{
	return (sw->opcode == ORNIC_WQE_WRITE ||
		sw->opcode == ORNIC_WQE_READ) &&
	       (qp->type == ORNIC_QPT_RC || qp->type == ORNIC_QPT_UC) &&
	       sw->npkts == 1 && sw->length && !sw->done;
}

static u8 *local_bytes(struct ornic_qp *qp, const struct ornic_swqe *sw)
{
	bool read = sw->opcode == ORNIC_WQE_READ;

	if (sw->flags & ORNIC_WQE_INLINE)
		return sw->inline_data;
	if (sw->nsge != 1)
		return NULL;
	return ornic_mr_bytes(qp->dev, sw->sge->lkey, qp->pdn, sw->sge->addr,
			      sw->length, read ? ORNIC_ACCESS_LOCAL_WRITE : 0);
}

/*
 * True if @peer expects this request next and can execute it at once. An answer to a
 * fault may be for this request, and has to be used up. Under its rq.lock.
 */
static bool is_expected(const struct ornic_qp *qp, const struct ornic_qp *peer,
			const struct ornic_swqe *sw, u8 access)
{
	const struct ornic_rq *rq = &peer->rq;

	return is_connected(qp, peer) && !rq->dead && !rq->msg &&
	       rq->fault.state == ORNIC_FAULT_NONE && rq->epsn == qp->sq.psn &&
	       sw->length <= peer->mtu &&
	       (peer->state != ORNIC_QPS_RTR || rq->comm_est) &&
	       peer->access & access && !peer->cntr_ops &&
	       !READ_ONCE(peer->dev->optional);
}

/*
 * True if @peer can execute one more READ: none with packets holds a
 * resource.
 */
static bool has_resource(const struct ornic_qp *peer)
{
	return peer->max_dest_rd_atomic && peer->rq.rd_head == peer->rq.rd_tail;
}

/* Both ends are known, and @peer accepts. */
static void move_short(struct ornic_qp *peer, const struct ornic_swqe *sw,
		       u8 *local, u8 *remote)
{
	struct ornic_rq *rq = &peer->rq;

	if (sw->opcode == ORNIC_WQE_READ)
		ornic_copy(local, remote, sw->length);
	else
		ornic_copy(remote, local, sw->length);
	rq->nak_sent = false;
	rq->epsn = ornic_psn_add(rq->epsn, 1);
	rq->msn = ornic_psn_add(rq->msn, 1);
}

/* Returns false if it has to take the slow path; nothing has happened then. */
static bool go_short(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		     const struct ornic_swqe *sw)
{
	bool read = sw->opcode == ORNIC_WQE_READ, done = false;
	u8 access = read ? ORNIC_ACCESS_REMOTE_READ : ORNIC_ACCESS_REMOTE_WRITE;
	u8 *local = local_bytes(qp, sw), *remote;
	struct ornic_qp *peer = peer_of(ctx, qp);

	if (!local || !peer)
		return false;
	ornic_lock_inner(&peer->rq.lock);
	if (is_expected(qp, peer, sw, access) &&
	    (!read || has_resource(peer))) {
		remote = ornic_mr_bytes(peer->dev, sw->rkey, peer->pdn,
					sw->raddr, sw->length, access);
		if (remote)
			move_short(peer, sw, local, remote);
		done = remote;
	}
	ornic_unlock_inner(&peer->rq.lock);
	return done;
}

/* ---- The slow path ------------------------------------------------------------ */

static __flatten noinline struct reply
loop_request(struct ornic_ctx *ctx, struct ornic_qp *qp, struct ornic_inreq *r)
{
	struct ornic_qp *peer = peer_of(ctx, qp);
	struct reply reply = { .verdict = ORNIC_RESP_DROP };
	bool dead = false;

	if (!peer)
		return reply;
	r->direct = ctx->direct;
	ctx->dev = peer->dev;
	ornic_lock_inner(&peer->rq.lock);
	if (is_connected(qp, peer)) {
		reply.verdict = ornic_resp_request(ctx, peer, r);
		reply.rnr_timer = peer->min_rnr_timer;
		reply.epoch = peer->epoch;
		dead = peer->rq.dead;
	} else if (are_peers(qp, peer)) {
		ornic_qp_stat_inc(peer, ORNIC_STAT_RX_BAD_PKEY);
	}
	ornic_unlock_inner(&peer->rq.lock);
	if (dead)
		ornic_qp_resched(peer);
	ctx->dev = qp->dev;
	return reply;
}

/* PSNs that may still be outstanding: no more than on the wire. */
static u32 psns_left(const struct ornic_qp *qp)
{
	return ORNIC_PSN_WINDOW - ornic_psn_diff(qp->sq.psn, qp->sq.acked);
}

/* No response. UC does not mind; RC waits for its timer. */
static enum ornic_step loop_lost(struct ornic_ctx *ctx, struct ornic_qp *qp,
				 struct ornic_swqe *sw)
{
	u32 npkts = sw->npkts - sw->pkts;

	if (ornic_qp_is_reliable(qp))
		npkts = min_t(u32, npkts, psns_left(qp));
	ornic_req_advance(qp, sw, npkts);
	ctx->budget -= ORNIC_MSG_COST;
	if (qp->type == ORNIC_QPT_UC)
		ornic_comp_success(ctx, qp, sw);
	return ORNIC_STEP_DONE;
}

/*
 * The peer needs pages. Its device runs this QP when they are there; the timer is for
 * a peer that has lost interest.
 */
static enum ornic_step wait_for_peer(const struct ornic_ctx *ctx,
				     struct ornic_qp *qp)
{
	struct ornic_sq *sq = &qp->sq;

	sq->wait = ORNIC_WAIT_PEER;
	sq->deadline = ctx->now + ORNIC_PEER_PAGES_NS;
	ornic_retry_arm(ctx, qp);
	return ORNIC_STEP_WAIT;
}

/* Anything but success. */
static noinline enum ornic_step loop_refused(struct ornic_ctx *ctx,
					     struct ornic_qp *qp,
					     struct ornic_swqe *sw,
					     struct reply reply)
{
	enum ornic_cqe_status status;

	switch (reply.verdict) {
	case ORNIC_RESP_ABSENT:
		return ctx->direct ? ORNIC_STEP_WIRE : wait_for_peer(ctx, qp);
	case ORNIC_RESP_RNR:
		ornic_retry_rnr(ctx, qp, reply.rnr_timer);
		return qp->sq.wait == ORNIC_WAIT_RNR ? ORNIC_STEP_WAIT :
						       ORNIC_STEP_STOP;
	case ORNIC_RESP_NAK_INVALID:
		status = ORNIC_CQE_REM_INV_REQ_ERR;
		break;
	case ORNIC_RESP_NAK_ACCESS:
		status = ORNIC_CQE_REM_ACCESS_ERR;
		break;
	case ORNIC_RESP_NAK_OP:
		status = ORNIC_CQE_REM_OP_ERR;
		break;
	default:
		return ctx->direct ? ORNIC_STEP_WIRE : loop_lost(ctx, qp, sw);
	}
	if (!ornic_qp_is_reliable(qp))
		return loop_lost(ctx, qp, sw);
	ornic_comp_fail(ctx, qp, status, ORNIC_VERR_NAK);
	return ORNIC_STEP_STOP;
}

/* @npkts more of @sw are executed. */
static __flatten noinline enum ornic_step loop_executed(struct ornic_ctx *ctx,
							struct ornic_qp *qp,
							struct ornic_swqe *sw,
							u32 npkts, u32 bytes)
{
	ornic_req_advance(qp, sw, npkts);
	ctx->budget -= bytes;
	ornic_qp_stat_add(qp, ORNIC_STAT_LOOP_BYTES, bytes);
	if (sw->pkts != sw->npkts) {
		/* Acknowledged: no timer runs if the budget ends here. */
		ornic_comp_progress(ctx, qp, qp->sq.psn);
		return ORNIC_STEP_DONE;
	}
	ctx->budget -= ORNIC_MSG_COST;
	ornic_qp_stat_inc(qp, ORNIC_STAT_LOOP_MSGS);
	if (sw->kind == ORNIC_OPF_READ)
		return ornic_comp_read(ctx, qp, sw) ? ORNIC_STEP_DONE :
						      ORNIC_STEP_STOP;
	ornic_comp_success(ctx, qp, sw);
	return ORNIC_STEP_DONE;
}

/* Keep the first @bytes of @iov. */
static void trim_iov(struct ornic_iov *iov, u64 bytes)
{
	struct ornic_frag *last;

	while (iov->bytes > bytes) {
		last = &iov->frag[iov->n - 1];
		if (iov->bytes - last->len < bytes) {
			last->len -= iov->bytes - bytes;
			iov->bytes = bytes;
			return;
		}
		iov->bytes -= last->len;
		iov->n--;
	}
}

static u32 piece_len(const struct ornic_qp *qp, u32 left)
{
	if (left <= ORNIC_LOOP_PIECE)
		return left;
	return ORNIC_LOOP_PIECE / qp->mtu * qp->mtu;
}

/* A piece of a SEND or WRITE: whole packets' worth, or what is left. */
static enum ornic_step move_piece(struct ornic_ctx *ctx, struct ornic_qp *qp,
				  struct ornic_swqe *sw)
{
	struct ornic_iov iov = { .frag = qp->sq.frag, .max = ORNIC_TX_FRAGS };
	u32 off = sw->pkts * qp->mtu, left = sw->length - off;
	struct ornic_inreq r = {
		.flags = sw->kind | ORNIC_OPF_REQUEST,
		.psn = qp->sq.psn,
		.imm = sw->imm,
		.va = sw->raddr,
		.rkey = sw->rkey,
		.dma_len = sw->length,
		.src_qpn = qp->qpn,
		.srqn = sw->srqn,
		.src = &iov,
	};
	enum ornic_vendor_err verr;
	struct reply reply;

	verr = ornic_swqe_iov(qp, sw, off, piece_len(qp, left), 0, &iov);
	if (iov.bytes != left && verr == ORNIC_VERR_NONE &&
	    unlikely(iov.bytes < qp->mtu))
		verr = ornic_swqe_gather(qp, sw, off, min_t(u32, left, qp->mtu),
					 &iov);
	if (verr != ORNIC_VERR_NONE)
		return ornic_req_fail(ctx, qp, sw, ORNIC_CQE_LOC_PROT_ERR,
				      verr);
	if (iov.bytes == left) {
		r.npsn = sw->npkts - sw->pkts;
		r.flags |= ORNIC_OPF_END;
		r.solicited = sw->flags & ORNIC_WQE_SOLICITED;
		if (sw->info->imm)
			r.flags |= ORNIC_OPF_IMM;
		if (sw->info->inv)
			r.flags |= ORNIC_OPF_INV;
	} else {
		r.npsn = iov.bytes / qp->mtu;
		trim_iov(&iov, (u64)r.npsn * qp->mtu);
	}
	if (!sw->pkts)
		r.flags |= ORNIC_OPF_START;
	reply = loop_request(ctx, qp, &r);
	if (reply.verdict != ORNIC_RESP_ACK)
		return loop_refused(ctx, qp, sw, reply);
	return loop_executed(ctx, qp, sw, r.npsn, iov.bytes);
}

/* The peer's key has gone in the middle of a READ: its QP is dead as well. */
static noinline enum ornic_step
read_denied(struct ornic_ctx *ctx, struct ornic_qp *qp, struct ornic_qp *peer)
{
	ctx->dev = peer->dev;
	ornic_ctx_event(ctx, ORNIC_EVENT_QP_ACCESS_ERR, peer->qpn, 0);
	ctx->dev = qp->dev;
	ornic_qp_resched(peer);
	ornic_comp_fail(ctx, qp, ORNIC_CQE_REM_ACCESS_ERR, ORNIC_VERR_NAK);
	return ORNIC_STEP_STOP;
}

/*
 * True if @peer is the QP that accepted the READ @sw, and still of that
 * connection. Its number alone does not show it: since the last piece the QP
 * may have been reset, or destroyed and its number reused. Under peer's
 * rq.lock.
 */
static bool is_read_peer(const struct ornic_qp *qp, const struct ornic_qp *peer,
			 const struct ornic_swqe *sw)
{
	return is_connected(qp, peer) && peer->epoch == sw->peer_epoch &&
	       peer->access & ORNIC_ACCESS_REMOTE_READ;
}

/* The rest of the READ becomes a new request. */
static enum ornic_step read_lost(struct ornic_ctx *ctx, struct ornic_qp *qp,
				 struct ornic_swqe *sw)
{
	sw->done = false;
	return ctx->direct ? ORNIC_STEP_WIRE : loop_lost(ctx, qp, sw);
}

/* The peer's page has gone in the middle of a READ. */
static noinline enum ornic_step read_absent(struct ornic_ctx *ctx,
					    struct ornic_qp *qp,
					    struct ornic_qp *peer,
					    struct ornic_swqe *sw)
{
	u32 off = sw->pkts * qp->mtu;
	struct ornic_range rest = { sw->raddr + off, sw->length - off };
	enum ornic_fault_result res = ORNIC_FAULT_WAITS;
	bool served;

	if (ctx->direct)
		return ORNIC_STEP_WIRE;
	ctx->dev = peer->dev;
	ornic_lock_inner(&peer->rq.lock);
	/* The lock was free meanwhile. */
	served = is_read_peer(qp, peer, sw);
	if (served)
		res = ornic_fault_read(ctx, peer, sw->first_psn, sw->rkey,
				       rest);
	if (res == ORNIC_FAULT_FAILS) {
		WRITE_ONCE(peer->rq.dead, true);
		ornic_qp_count(peer, ORNIC_CNTR_REMOTE_READ, ORNIC_CNTR_ERRORS);
	}
	ornic_unlock_inner(&peer->rq.lock);
	ctx->dev = qp->dev;
	if (!served)
		return read_lost(ctx, qp, sw);
	return res == ORNIC_FAULT_WAITS ? wait_for_peer(ctx, qp) :
					  read_denied(ctx, qp, peer);
}

/* XRC: with the PD that the WQE names, as each request. */
static bool has_pd(struct ornic_qp *peer, const struct ornic_swqe *sw)
{
	struct ornic_srq *srq;

	if (peer->type != ORNIC_QPT_XRC_TGT)
		return true;
	srq = ornic_srq_xrc(peer->dev, sw->srqn, peer->xrcdn);
	if (srq)
		peer->pdn = srq->pdn;
	return srq;
}

/*
 * The packet at which the request ends that packet sw->pkts of the response of a READ
 * belongs to. Where packets may go on, the requests are theirs.
 */
static u32 request_end(const struct ornic_ctx *ctx, const struct ornic_swqe *sw)
{
	return ctx->direct ? ornic_piece_end(sw, sw->pkts) : sw->npkts;
}

/* Bytes from packet sw->pkts on to packet @end. */
static u32 bytes_to(const struct ornic_qp *qp, const struct ornic_swqe *sw,
		    u32 end)
{
	if (end == sw->npkts)
		return sw->length - sw->pkts * qp->mtu;
	return (end - sw->pkts) * qp->mtu;
}

/* What became of a piece of a READ: at the key of the peer, and at that of its sink. */
struct taken {
	bool served; /* the peer is there */
	u32 npkts; /* PSNs that it makes */
	enum ornic_vendor_err remote;
	enum ornic_vendor_err local;
};

/*
 * Take data of a READ, up to packet @end, from the key of the peer. Returns the PSNs that
 * it makes; 0: the peer denies it, or a page of it is absent.
 */
static u32 take_piece(struct ornic_qp *qp, struct ornic_qp *peer,
		      const struct ornic_swqe *sw, u32 end,
		      struct ornic_iov *src, struct taken *taken)
{
	u32 off = sw->pkts * qp->mtu, left = bytes_to(qp, sw, end);
	u32 len = piece_len(qp, left), npkts = end - sw->pkts;

	if (!has_pd(peer, sw))
		return 0;
	if (len)
		taken->remote = ornic_rkey_map(src, peer, sw->rkey,
					       sw->raddr + off, len,
					       ORNIC_ACCESS_REMOTE_READ);
	if (taken->remote != ORNIC_VERR_NONE)
		return 0;
	/* Not even a packet. */
	if (src->bytes != left && unlikely(src->bytes < qp->mtu)) {
		taken->remote = ornic_rkey_gather(src, peer, sw->rkey,
						  sw->raddr + off,
						  min_t(u32, left, qp->mtu));
		if (taken->remote != ORNIC_VERR_NONE)
			return 0;
	}
	if (src->bytes != left) {
		npkts = src->bytes / qp->mtu;
		trim_iov(src, (u64)npkts * qp->mtu);
	}
	taken->local = ornic_sgl_write(qp, sw->sge, sw->nsge, off, src);
	return npkts;
}

/* The same, while the key stays what it is. */
static u32 take_held_piece(struct ornic_qp *qp, struct ornic_qp *peer,
			   const struct ornic_swqe *sw, u32 end,
			   struct ornic_iov *src, struct taken *taken)
{
	struct ornic_frmr *frmr;
	u32 npkts;

	frmr = ornic_frmr_hold(ornic_mkey_lookup(peer->dev, sw->rkey));
	npkts = take_piece(qp, peer, sw, end, src, taken);
	ornic_frmr_release(frmr);
	return npkts;
}

/* Completion counters of @peer: the last piece, or one that it denies. */
static void count_read_piece(struct ornic_qp *peer, const struct ornic_swqe *sw,
			     u32 npkts)
{
	if (!npkts)
		ornic_qp_count(peer, ORNIC_CNTR_REMOTE_READ, ORNIC_CNTR_ERRORS);
	else if (sw->pkts + npkts == sw->npkts)
		ornic_qp_count(peer, ORNIC_CNTR_REMOTE_READ,
			       ORNIC_CNTR_COMPLETIONS);
}

/* rq of @peer, which is released: a piece has failed, or waits for a page. */
static noinline enum ornic_step
read_stopped(struct ornic_ctx *ctx, struct ornic_qp *qp, struct ornic_qp *peer,
	     struct ornic_swqe *sw, struct taken taken)
	__releases(&peer->rq.lock)
{
	bool absent = taken.remote == ORNIC_VERR_PAGE;

	/* A piece that its sink has no page for comes again. */
	if (taken.served && !absent && taken.local != ORNIC_VERR_PAGE)
		count_read_piece(peer, sw, taken.npkts);
	if (taken.served && !taken.npkts && !absent)
		WRITE_ONCE(peer->rq.dead, true);
	if (taken.npkts)
		ornic_fault_passed(&peer->rq.fault, true);
	ornic_unlock_inner(&peer->rq.lock);
	if (!taken.served)
		return read_lost(ctx, qp, sw);
	if (absent)
		return read_absent(ctx, qp, peer, sw);
	if (!taken.npkts)
		return read_denied(ctx, qp, peer);
	return ornic_req_fail(ctx, qp, sw, ORNIC_CQE_LOC_PROT_ERR, taken.local);
}

/* A piece of the data of a READ that the peer has accepted. */
static enum ornic_step read_piece(struct ornic_ctx *ctx, struct ornic_qp *qp,
				  struct ornic_swqe *sw)
{
	struct ornic_qp *peer = peer_of(ctx, qp);
	struct ornic_iov src = { .frag = qp->sq.frag, .max = ORNIC_TX_FRAGS };
	struct taken taken = { .npkts = 0 };
	u32 end = request_end(ctx, sw);

	if (!peer)
		return read_lost(ctx, qp, sw);
	/* Its key and memory are the peer's, and may be invalidated: mem.h. */
	ornic_lock_inner(&peer->rq.lock);
	taken.served = is_read_peer(qp, peer, sw);
	if (likely(taken.served))
		taken.npkts = take_held_piece(qp, peer, sw, end, &src, &taken);
	if (unlikely(!taken.npkts || taken.local != ORNIC_VERR_NONE))
		return read_stopped(ctx, qp, peer, sw, taken);
	count_read_piece(peer, sw, taken.npkts);
	ornic_fault_passed(&peer->rq.fault, true);
	ornic_unlock_inner(&peer->rq.lock);
	if (sw->pkts + taken.npkts == end)
		sw->done = false;
	return loop_executed(ctx, qp, sw, taken.npkts, src.bytes);
}

static enum ornic_step loop_fetch(struct ornic_ctx *ctx, struct ornic_qp *qp,
				  struct ornic_swqe *sw)
{
	struct ornic_iov data = { .frag = qp->sq.frag, .max = ORNIC_TX_FRAGS };
	u32 off = sw->pkts * qp->mtu, end = request_end(ctx, sw);
	struct ornic_inreq r = {
		.flags = sw->kind | ORNIC_OPF_REQUEST | ORNIC_OPF_START |
			 ORNIC_OPF_END,
		.psn = qp->sq.psn,
		.npsn = 1,
		.va = sw->raddr + off,
		.rkey = sw->rkey,
		.dma_len = sw->kind == ORNIC_OPF_FLUSH ? sw->flush_length :
							 bytes_to(qp, sw, end),
		.more = end != sw->npkts,
		.swap_add = sw->swap_add,
		.compare = sw->compare,
		.feth = sw->feth,
		.cas = sw->opcode == ORNIC_WQE_CAS,
		.src_qpn = qp->qpn,
		.srqn = sw->srqn,
		.src = &data,
	};
	struct ornic_frag frag = { &r.orig, sizeof(r.orig) };
	struct ornic_iov orig = { &frag, 1, 1, sizeof(r.orig) };
	struct ornic_frag to[sizeof(r.orig)] __uninitialized;
	struct ornic_iov sink = { .frag = to, .max = ARRAY_SIZE(to) };
	enum ornic_vendor_err verr = ORNIC_VERR_NONE;
	enum ornic_vendor_err sink_verr = ORNIC_VERR_NONE;
	struct reply reply;

	if (sw->kind == ORNIC_OPF_ATOMIC_WRITE)
		verr = ornic_swqe_map(qp, sw, 0, sw->length, &data);
	/* An absent page shows before: it cannot be executed again for its result. */
	if (sw->kind == ORNIC_OPF_ATOMIC)
		sink_verr = ornic_swqe_iov(qp, sw, 0, sizeof(r.orig),
					   ORNIC_ACCESS_LOCAL_WRITE, &sink);
	if (sink_verr == ORNIC_VERR_PAGE)
		verr = sink_verr;
	if (verr != ORNIC_VERR_NONE)
		return ornic_req_fail(ctx, qp, sw, ORNIC_CQE_LOC_PROT_ERR,
				      verr);
	reply = loop_request(ctx, qp, &r);
	if (reply.verdict == ORNIC_RESP_EMPTY)
		return loop_executed(ctx, qp, sw, 1, sw->length);
	if (reply.verdict == ORNIC_RESP_DATA) {
		sw->done = true;
		sw->peer_epoch = reply.epoch;
		return read_piece(ctx, qp, sw);
	}
	if (reply.verdict != ORNIC_RESP_ATOMIC)
		return loop_refused(ctx, qp, sw, reply);
	if (sink_verr == ORNIC_VERR_NONE &&
	    ornic_iov_copy(&sink, &orig) != sizeof(r.orig))
		sink_verr = ORNIC_VERR_BAD_LENGTH;
	if (sink_verr != ORNIC_VERR_NONE)
		return ornic_req_fail(ctx, qp, sw, ORNIC_CQE_LOC_PROT_ERR,
				      sink_verr);
	return loop_executed(ctx, qp, sw, 1, sizeof(r.orig));
}

enum ornic_step ornic_loop_step(struct ornic_ctx *ctx, struct ornic_qp *qp,
				struct ornic_swqe *sw)
{
	enum ornic_vendor_err verr = ORNIC_VERR_NONE;

	/*
	 * The peer has not answered what is older, and says itself which PSN it expects: all
	 * that waits goes again when the timer expires.
	 */
	if (unlikely(qp->sq.tail != qp->sq.cur) && ornic_qp_is_reliable(qp))
		return ORNIC_STEP_WAIT;
	if (ornic_loop_is_short(qp, sw)) {
		if (go_short(ctx, qp, sw))
			return loop_executed(ctx, qp, sw, 1, sw->length);
		if (sw->kind == ORNIC_OPF_READ)
			verr = ornic_sink_check(qp, sw, 0, sw->length);
		if (verr != ORNIC_VERR_NONE)
			return ornic_req_fail(ctx, qp, sw,
					      ORNIC_CQE_LOC_PROT_ERR, verr);
	}
	if (unlikely(!psns_left(qp)))
		return ORNIC_STEP_WAIT;
	if (sw->kind & (ORNIC_OPF_SEND | ORNIC_OPF_WRITE))
		return move_piece(ctx, qp, sw);
	if (sw->done)
		return read_piece(ctx, qp, sw);
	return loop_fetch(ctx, qp, sw);
}
