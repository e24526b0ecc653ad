// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Page faults: a queue needs a page of an ODP MR that is absent. It asks the host, by
 * an event, for that page and what of the message follows it, and stops.
 *
 * Requester: sq.wait is ORNIC_WAIT_PAGES. Responses are taken all the same. No timer
 * runs, as nothing is sent that the peer could be late with; what was lost meanwhile
 * is sent again afterwards.
 *
 * Responder: nothing of the request is executed. A copy of it is held, and what
 * follows waits behind it: of a reliable QP as requests that came too early
 * (reorder.c), else in the same list. So the peer notices nothing but time. If that
 * becomes long for its ACK timeout, a reliable QP sends an RNR NAK and drops the
 * request, and so it does without memory. Another QP drops what it has held for long, and
 * holds no more for that fault. The rest of a READ waits in its responder resource, and
 * later requests are executed meanwhile; if that becomes long, a copy of the READ gets an
 * RNR NAK (replay.c).
 *
 * On loopback there is nothing to hold of connected QPs: the requester waits, and is
 * run when the fault of its peer has ended.
 */
#include "fault.h"
#include "proto.h"

/* Of a QP that is not reliable so many requests are held. */
#define MOST_HELD 64
/* When the peer is told. A quarter of the ACK timeout, which both ends often share. */
#define LEAST_HOLD_NS 1000000ull
#define MOST_HOLD_NS 50000000ull
/* It is not known: the QP sends nothing, or its peer waits without end. */
#define USUAL_HOLD_NS 4000000ull
/* Of a QP that is not reliable, since something was executed. */
#define DROP_NS 1000000000ull
#define IP_BYTES 40
/* Of a receive, if more than the packet follows. */
#define RECV_AHEAD (64u << 10)

/**
 * struct ornic_held - a request that waits for pages
 * @next: of the same queue
 * @cost: bytes of spare memory that it takes
 * @r: the request; its pointers are to what follows
 * @src: of @r
 * @frag: of @src
 * @pkt: the packet, or zeros
 * @rx: of @pkt, what completions tell
 * @ip: header of a datagram
 * @data: payload
 */
struct ornic_held {
	struct ornic_held *next;
	u32 cost;
	struct ornic_inreq r;
	struct ornic_iov src;
	struct ornic_frag frag;
	struct ornic_pkt pkt;
	struct ornic_rx rx;
	u8 ip[IP_BYTES];
	u8 data[];
};

/* ---- Asking --------------------------------------------------------------------- */

/**
 * struct need - bytes of an ODP MR that a queue needs
 * @odp: the MR; NULL: no byte is missing
 * @addr: first one
 * @len: how many, or more
 * @write: to be written to
 * @read: by a READ response
 * @psn: first one of that READ; 0 of others
 */
struct need {
	struct ornic_odp *odp;
	u64 addr;
	u64 len;
	bool write;
	bool read;
	u32 psn;
};

/* Leave out what is there. False if all is, as far as the device looks. */
static bool narrow(struct need *need)
{
	u64 len = ornic_odp_ahead(need->len), there;

	there = ornic_odp_present(need->odp, need->addr, len, need->write);
	need->addr += there;
	need->len = len - there;
	return need->len;
}

/*
 * Has the host answered that there is no such page? It is asked again the next time, and for
 * another READ.
 */
static bool has_failed(struct ornic_fault *f, const struct need *need)
{
	u8 shift = need->odp->page_shift;

	if (f->state != ORNIC_FAULT_FAILED)
		return false;
	f->state = ORNIC_FAULT_NONE;
	return f->key == need->odp->base.key && f->write == need->write &&
	       f->read == need->read && f->psn == need->psn &&
	       f->addr >> shift == need->addr >> shift;
}

/* A READ response fails next, or has no room to be tried: nobody else asks before. */
static bool is_for_read(const struct ornic_qp *qp, const struct ornic_fault *f)
{
	return f->state == ORNIC_FAULT_FAILED && f->read &&
	       qp->rq.rd_head != qp->rq.rd_tail;
}

static enum ornic_fault_result raise_fault(struct ornic_ctx *ctx,
					   struct ornic_qp *qp,
					   struct ornic_fault *f,
					   const struct need *need)
{
	if (!need->read && is_for_read(qp, f))
		return ORNIC_FAULT_WAITS;
	if (has_failed(f, need))
		return ORNIC_FAULT_FAILS;
	if (ornic_fault_is_out(f))
		return ORNIC_FAULT_WAITS;
	f->state = ORNIC_FAULT_RAISED;
	f->write = need->write;
	f->read = need->read;
	f->psn = need->psn;
	f->told = ctx->now;
	f->ntold = 0;
	f->seq++;
	f->key = need->odp->base.key;
	f->addr = need->addr;
	f->length = need->len;
	ornic_ctx_event(ctx, ORNIC_EVENT_PAGE_FAULT, qp->qpn,
			f == &qp->sq.fault ? ORNIC_FAULT_SQ : ORNIC_FAULT_RQ);
	ornic_qp_stat_inc(qp, ORNIC_STAT_PAGE_FAULTS);
	return ORNIC_FAULT_WAITS;
}

/* rq: the QP on this host whose requester may be waiting for pages of @qp. */
static void wake_peer(struct ornic_qp *qp)
{
	struct ornic_dev *dev;
	struct ornic_qp *peer;

	if (qp->type == ORNIC_QPT_UD || !qp->path.loop)
		return;
	dev = ornic_path_dev(qp->dev, &qp->path);
	peer = dev ? ornic_qp_lookup(dev, qp->dest_qpn) : NULL;
	if (peer)
		ornic_qp_resched(peer);
}

/* The page has come since it was missed: try again. */
static enum ornic_fault_result came_meanwhile(struct ornic_qp *qp,
					      struct ornic_fault *f, bool read)
{
	ornic_fault_passed(f, read);
	ornic_qp_resched(qp);
	if (f == &qp->rq.fault)
		wake_peer(qp);
	return ORNIC_FAULT_WAITS;
}

void ornic_fault_read_passed(struct ornic_qp *qp)
{
	ornic_fault_passed(&qp->rq.fault, true);
	/* What is held, see is_for_read(). */
	ornic_qp_resched(qp);
}

void ornic_fault_read_dropped(struct ornic_qp *qp, u32 psn)
{
	struct ornic_fault *f = &qp->rq.fault;

	if (f->read && f->psn == psn)
		ornic_fault_forget(f);
	ornic_qp_resched(qp);
}

/* An SGE list of PD @pdn, from byte @off on, @len of them */
struct sgl_part {
	const struct ornic_lsge *sge;
	u32 nsge;
	u32 pdn;
	u64 off;
	u64 len;
};

/* The ODP MR that @need is of. Its length ends with the key. */
static struct ornic_odp *find_odp(const struct ornic_mkey *m, u32 pdn,
				  struct need *need)
{
	u64 off = need->addr - m->iova;

	if (!m->odp || m->pdn != pdn || need->addr < m->iova ||
	    off >= m->length)
		return NULL;
	need->len = min_t(u64, need->len, m->length - off);
	return m->odp;
}

/*
 * The first bytes of @part that are on an absent page. It ends where the queue will
 * fail for another reason.
 */
static struct need find_need(struct ornic_dev *dev, struct sgl_part part,
			     bool write)
{
	struct need need = { .odp = NULL };
	const struct ornic_mkey *m;
	u32 i;

	for (i = 0; i < part.nsge && part.len; i++) {
		if (part.off >= part.sge[i].length) {
			part.off -= part.sge[i].length;
			continue;
		}
		need.addr = part.sge[i].addr + part.off;
		need.len = min_t(u64, part.sge[i].length - part.off, part.len);
		need.write = write;
		part.off = 0;
		part.len -= need.len;
		if (part.sge[i].lkey == ORNIC_NULL_LKEY)
			continue;
		m = ornic_mkey_lookup(dev, part.sge[i].lkey);
		if (!m)
			break;
		if (!m->odp)
			continue;
		need.odp = find_odp(m, part.pdn, &need);
		if (!need.odp)
			break;
		if (narrow(&need))
			return need;
	}
	need.odp = NULL;
	return need;
}

enum ornic_fault_result ornic_fault_sq(struct ornic_ctx *ctx,
				       struct ornic_qp *qp,
				       const struct ornic_swqe *sw)
{
	bool sink = ornic_swqe_is_fetch(sw) &&
		    !(sw->kind & ORNIC_OPF_EMPTY_RESPONSE);
	struct sgl_part part = {
		.sge = sw->sge,
		.nsge = sw->nsge,
		.pdn = qp->pdn,
		.off = (u64)sw->pkts * qp->mtu,
		.len = U64_MAX,
	};
	struct need need = find_need(qp->dev, part, sink);
	struct ornic_sq *sq = &qp->sq;

	if (!need.odp)
		return came_meanwhile(qp, &sq->fault, false);
	if (raise_fault(ctx, qp, &sq->fault, &need) == ORNIC_FAULT_FAILS)
		return ORNIC_FAULT_FAILS;
	sq->wait = ORNIC_WAIT_PAGES;
	if (!sq->retry.nak_held)
		sq->deadline = 0;
	return ORNIC_FAULT_WAITS;
}

/* @need, of a remote key. */
static enum ornic_fault_result fault_rkey(struct ornic_ctx *ctx,
					  struct ornic_qp *qp, u32 rkey,
					  u8 access, struct need *need)
{
	struct ornic_fault *f = &qp->rq.fault;
	struct ornic_mkey *mkey = NULL;

	/* For the MR alone, which may be that of a window. */
	ornic_rkey_check(qp, rkey, need->addr, need->len, access, &mkey);
	if (!mkey || !mkey->odp)
		return ORNIC_FAULT_FAILS;
	need->odp = mkey->odp;
	need->write = ornic_access_writes(access);
	return narrow(need) ? raise_fault(ctx, qp, f, need) :
			      came_meanwhile(qp, f, need->read);
}

enum ornic_fault_result ornic_fault_read(struct ornic_ctx *ctx,
					 struct ornic_qp *qp, u32 psn, u32 rkey,
					 struct ornic_range range)
{
	struct need need = {
		.addr = range.addr,
		.len = range.len,
		.read = true,
		.psn = psn,
	};

	return fault_rkey(ctx, qp, rkey, ORNIC_ACCESS_REMOTE_READ, &need);
}

enum ornic_fault_result ornic_fault_request(struct ornic_ctx *ctx,
					    struct ornic_qp *qp,
					    const struct ornic_inreq *r,
					    u8 access)
{
	struct need need = { .addr = r->va, .len = r->dma_len };
	const struct ornic_rq *rq = &qp->rq;
	u32 rkey = r->rkey;

	if (r->flags & ORNIC_OPF_ATOMIC)
		need.len = sizeof(u64);
	if (r->flags & ORNIC_OPF_WRITE) {
		rkey = rq->rkey;
		need.addr = rq->va + rq->received;
		need.len = rq->dma_len - rq->received;
	}
	return fault_rkey(ctx, qp, rkey, access, &need);
}

enum ornic_fault_result ornic_fault_recv(struct ornic_ctx *ctx,
					 struct ornic_qp *qp,
					 const struct ornic_inreq *r)
{
	bool ud = qp->type == ORNIC_QPT_UD;
	const struct ornic_rwqe *rw = &qp->rq.rwqe;
	struct sgl_part part = {
		.sge = rw->sge,
		.nsge = rw->nsge,
		.pdn = rw->pdn,
		.off = ud ? 0 : qp->rq.received,
		.len = r->src->bytes + (ud ? ORNIC_GRH_LEN : 0),
	};
	struct need need;

	if (!(r->flags & ORNIC_OPF_END))
		part.len = max_t(u64, part.len, RECV_AHEAD);
	need = find_need(qp->dev, part, true);
	return need.odp ? raise_fault(ctx, qp, &qp->rq.fault, &need) :
			  came_meanwhile(qp, &qp->rq.fault, false);
}

/* ---- Holding --------------------------------------------------------------------- */

u64 ornic_hold_ns(const struct ornic_qp *qp)
{
	u64 ns = (4096ull << qp->timeout) / 4;

	if (!ornic_qp_is_reliable(qp))
		return DROP_NS;
	if (!qp->timeout)
		return USUAL_HOLD_NS;
	return min_t(u64, max_t(u64, ns, LEAST_HOLD_NS), MOST_HOLD_NS);
}

/* What a completion tells of a datagram. */
static void copy_origin(struct ornic_held *held, const struct ornic_inreq *r)
{
	const struct ornic_path *path = r->path;

	if (r->pkt) {
		memcpy(held->rx.smac, r->pkt->rx->smac, sizeof(held->rx.smac));
		held->rx.vlan = r->pkt->rx->vlan;
		held->rx.sl = r->pkt->rx->sl;
		held->pkt = *r->pkt;
	} else if (path) {
		memcpy(held->rx.smac, path->hdr + 6, sizeof(held->rx.smac));
		held->rx.vlan = path->vlan;
		/* The priority travels in the VLAN tag. */
		held->rx.sl = path->vlan != ORNIC_VLAN_NONE ? path->av.sl : 0;
	}
	held->rx.ipv6 = r->ipv6;
	held->pkt.rx = &held->rx;
}

static struct ornic_held *copy_request(struct ornic_qp *qp,
				       const struct ornic_inreq *r)
{
	u32 cost = sizeof(struct ornic_held) + (u32)r->src->bytes;
	struct ornic_held *held = ornic_spare_zalloc(qp, cost);

	if (!held)
		return NULL;
	held->cost = cost;
	copy_origin(held, r);
	held->frag.ptr = held->data;
	held->frag.len = (u32)r->src->bytes;
	held->src.frag = &held->frag;
	held->src.max = 1;
	held->src.n = 1;
	held->src.bytes = r->src->bytes;
	ornic_iov_copy(&held->src, r->src);
	held->r = *r;
	held->r.held = true;
	held->r.src = &held->src;
	held->r.pkt = &held->pkt;
	held->r.path = NULL;
	held->r.ip = held->ip;
	if (r->ip)
		memcpy(held->ip, r->ip, r->ipv6 ? IP_BYTES : 20);
	return held;
}

static enum ornic_verdict tell_peer(struct ornic_rq *rq)
{
	/* Packets in flight after it need no NAK of their own. */
	rq->nak_sent = true;
	rq->ahead.nak_time = 0;
	return ORNIC_RESP_RNR;
}

/* In the place of the sequence NAK that may be due: the gap is filled, but for pages. */
static void start_hold_timer(const struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	WRITE_ONCE(qp->rq.ahead.nak_at, ctx->now + ornic_hold_ns(qp));
}

/* Nobody is told what becomes of @n requests. */
static void count_dropped(struct ornic_qp *qp, u32 n)
{
	ornic_qp_stat_add(qp, ORNIC_STAT_RX_NO_WQE, n);
}

/* True if @qp, which is not reliable, may hold one more request. */
static bool has_place(const struct ornic_rq *rq)
{
	return rq->nheld < MOST_HELD &&
	       !(rq->fault.slow && ornic_fault_is_out(&rq->fault));
}

enum ornic_verdict ornic_hold_request(const struct ornic_ctx *ctx,
				      struct ornic_qp *qp,
				      const struct ornic_inreq *r)
{
	bool reliable = ornic_qp_is_reliable(qp);
	struct ornic_rq *rq = &qp->rq;
	struct ornic_held *held, **end;

	/* A copy of it, as only the expected one is held. */
	if (reliable && rq->held)
		return ORNIC_RESP_DROP;
	held = reliable || has_place(rq) ? copy_request(qp, r) : NULL;
	if (!held && reliable)
		return tell_peer(rq);
	if (!held) {
		count_dropped(qp, 1);
		return ORNIC_RESP_DROP;
	}
	for (end = &rq->held; *end; end = &(*end)->next)
		;
	WRITE_ONCE(*end, held);
	if (!rq->nheld++)
		start_hold_timer(ctx, qp);
	return ORNIC_RESP_DROP;
}

/* Take the first one off the list. */
static void drop_first(struct ornic_qp *qp)
{
	struct ornic_rq *rq = &qp->rq;
	struct ornic_held *held = rq->held;

	WRITE_ONCE(rq->held, held->next);
	rq->nheld--;
	ornic_spare_free(qp, held, held->cost);
	if (!rq->held)
		WRITE_ONCE(rq->ahead.nak_at, 0);
}

void ornic_hold_forget(struct ornic_qp *qp)
{
	while (qp->rq.held)
		drop_first(qp);
}

/* Of a reliable QP, a copy may have been executed when its pages were there. */
static bool is_due(const struct ornic_qp *qp, const struct ornic_held *held)
{
	return !ornic_qp_is_reliable(qp) || held->r.psn == qp->rq.epsn;
}

/* A selective requester is told at once: it may have asked by what was held. */
static void respond(struct ornic_qp *qp, enum ornic_verdict verdict,
		    const struct ornic_pkt *pkt)
{
	struct ornic_rq *rq = &qp->rq;

	rq->again = pkt->selective & ORNIC_BTH_AGAIN;
	if (verdict == ORNIC_RESP_ACK && rq->selective)
		ornic_resp_ack(qp, pkt->psn);
	else
		ornic_resp_verdict(qp, verdict, pkt);
}

/* Execute the first one; false if it has to wait still. */
static bool execute_first(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_held *held = qp->rq.held;
	enum ornic_verdict verdict;

	if (is_due(qp, held)) {
		verdict = ornic_resp_request(ctx, qp, &held->r);
		if (verdict == ORNIC_RESP_ABSENT)
			return false;
		ctx->budget -= held->frag.len + ORNIC_MSG_COST;
		if (verdict == ORNIC_RESP_ACK)
			ornic_qp_stat_add(qp, ORNIC_STAT_RX_BYTES,
					  held->frag.len);
		if (ornic_qp_is_reliable(qp))
			respond(qp, verdict, &held->pkt);
	}
	drop_first(qp);
	if (qp->rq.held)
		start_hold_timer(ctx, qp);
	return true;
}

/* It takes long: the peer shall ask again, or knows that it may have been in vain. */
static void end_hold(struct ornic_qp *qp)
{
	struct ornic_rq *rq = &qp->rq;

	if (!ornic_qp_is_reliable(qp)) {
		count_dropped(qp, rq->nheld);
		rq->fault.slow = true;
	} else if (is_due(qp, rq->held)) {
		ornic_resp_verdict(qp, tell_peer(rq), &rq->held->pkt);
	}
	ornic_hold_forget(qp);
}

bool ornic_hold_run(struct ornic_ctx *ctx, struct ornic_qp *qp)
{
	struct ornic_rq *rq = &qp->rq;

	while (rq->held && !ornic_fault_is_out(&rq->fault)) {
		if (ctx->budget <= 0 || ornic_ctx_full(ctx))
			return true;
		if (!execute_first(ctx, qp))
			break;
	}
	if (rq->held && ctx->now >= rq->ahead.nak_at)
		end_hold(qp);
	return false;
}

/* ---- Commands -------------------------------------------------------------------- */

static bool take_fault(struct ornic_fault *f, struct ornic_rsp_take_fault *rsp)
{
	if (f->state != ORNIC_FAULT_RAISED)
		return false;
	f->state = ORNIC_FAULT_TAKEN;
	rsp->key = cpu_to_le32(f->key);
	rsp->seq = cpu_to_le32(f->seq);
	rsp->addr = cpu_to_le64(f->addr);
	rsp->length = cpu_to_le64(f->length);
	rsp->write = f->write;
	return true;
}

int ornic_fault_take(struct ornic_dev *dev, u32 qpn,
		     enum ornic_fault_queue queue,
		     struct ornic_rsp_take_fault *rsp)
{
	struct ornic_qp *qp;
	bool found = false;

	if (queue > ORNIC_FAULT_RQ)
		return ORNIC_BAD_PARAM;
	ornic_rcu_read_lock();
	qp = ornic_qp_lookup(dev, qpn);
	if (qp && queue == ORNIC_FAULT_SQ) {
		ornic_lock(&qp->sq.lock);
		found = take_fault(&qp->sq.fault, rsp);
		ornic_unlock(&qp->sq.lock);
	} else if (qp) {
		ornic_lock(&qp->rq.lock);
		found = take_fault(&qp->rq.fault, rsp);
		ornic_unlock(&qp->rq.lock);
	}
	ornic_rcu_read_unlock();
	return found ? ORNIC_OK : ORNIC_NOT_FOUND;
}

static bool end_fault(struct ornic_fault *f,
		      const struct ornic_req_end_fault *req)
{
	if (f->state != ORNIC_FAULT_TAKEN || f->seq != le32_to_cpu(req->seq))
		return false;
	f->state = req->failed ? ORNIC_FAULT_FAILED : ORNIC_FAULT_NONE;
	f->slow = false;
	return true;
}

static bool end_sq_fault(struct ornic_qp *qp,
			 const struct ornic_req_end_fault *req)
{
	struct ornic_sq *sq = &qp->sq;
	bool found;

	ornic_lock(&sq->lock);
	found = end_fault(&sq->fault, req);
	/* It may be waiting for something else by now. */
	if (found && sq->wait == ORNIC_WAIT_PAGES)
		sq->wait = ORNIC_WAIT_NONE;
	ornic_unlock(&sq->lock);
	return found;
}

static bool end_rq_fault(struct ornic_qp *qp,
			 const struct ornic_req_end_fault *req)
{
	bool found;

	ornic_lock(&qp->rq.lock);
	found = end_fault(&qp->rq.fault, req);
	if (found)
		wake_peer(qp);
	ornic_unlock(&qp->rq.lock);
	return found;
}

int ornic_fault_end(struct ornic_dev *dev,
		    const struct ornic_req_end_fault *req)
{
	struct ornic_qp *qp;
	bool found = false;

	if (req->hdr.param > ORNIC_FAULT_RQ || req->failed > 1)
		return ORNIC_BAD_PARAM;
	ornic_rcu_read_lock();
	qp = ornic_qp_lookup(dev, le32_to_cpu(req->hdr.obj));
	if (qp)
		found = req->hdr.param == ORNIC_FAULT_SQ ?
				end_sq_fault(qp, req) :
				end_rq_fault(qp, req);
	if (found)
		ornic_qp_resched(qp);
	ornic_rcu_read_unlock();
	return found ? ORNIC_OK : ORNIC_NOT_FOUND;
}
