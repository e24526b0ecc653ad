/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The protocol of a QP, and who calls whom:
 *
 *   run.c   kicks, packets, timers; takes the locks
 *   wqe.c   rings to struct ornic_swqe and struct ornic_rwqe
 *   srq.c   rings that several QPs take receive WQEs from (srq.lock)
 *   tx.c    packets to the port (sq or rq)
 *   req.c   requester: what to send next (sq.lock)
 *   comp.c  completer: responses, timers, completions (sq.lock)
 *   resp.c  responder: requests (rq.lock)
 *   xrc.c   responder: SRQs of XRC targets (rq.lock)
 *   resp_tx.c  responder: packets that answer them (rq.lock)
 *   sgl.c   bytes to SGEs and keys
 *   mcast.c   groups and their members (mcast.lock)
 *   mw.c    windows: bind, invalidate, remote keys (sq or rq)
 *   frmr.c  fast registration, invalidation of any key (sq or rq)
 *   loop.c  requester to responder on the same device (A.sq, B.rq)
 *   qp.c    create, destroy, modify, query (both locks)
 *
 * "sq" and "rq" in a comment below names the lock that the caller holds.
 */
#ifndef ORNIC_ENGINE_PROTO_H
#define ORNIC_ENGINE_PROTO_H

#include "frmr.h"
#include "mw.h"
#include "qp.h"

/* PSNs that may be outstanding, IBTA 9.7.2: less than half of the space. */
#define ORNIC_PSN_WINDOW ((1u << 23) - 1)
/* Unacknowledged packets before RC waits, and between AckReqs. */
#define ORNIC_SEND_WINDOW 128
#define ORNIC_ACK_INTERVAL 32
/* What a connection begins with; each answer that comes soon adds to it. */
#define ORNIC_FIRST_WINDOW 32
/* The window does not shrink below this for a lost packet, ... */
#define ORNIC_LOSS_WINDOW 8
/* ... nor below this for a response that comes late. */
#define ORNIC_LATE_WINDOW 2
/* RNR waits in a row: the second is longer by STEP, ... the last by STEP << LOG */
#define ORNIC_RNR_STEP_NS 8192ull
#define ORNIC_RNR_STEPS_LOG 7
/* Bytes that a loopback step moves at once, at most. */
#define ORNIC_LOOP_PIECE (128u << 10)
/* What a message costs at least, in bytes of budget. */
#define ORNIC_MSG_COST 256
#define ORNIC_RETRY_INFINITE 7 /* RNR, IBTA 9.7.5.2.8 */

/*
 * A request further ahead than this is no sign of loss: from outside the path
 * one in 256 PSNs would bring a NAK and half a window, else one in two.
 */
#define ORNIC_MAX_GAP (1 << 16)
/* How long what precedes a fatal NAK may take to leave, ns. */
#define ORNIC_DRAIN_NS 4000000000ull

/* ---- wqe.c ---------------------------------------------------------------- */

/**
 * struct ornic_wqe_info - what a send opcode is
 * @kind: ORNIC_OPF_SEND, WRITE, READ, ATOMIC, ATOMIC_WRITE, FLUSH, LOCAL; 0 = no such opcode
 * @types: QP types that have it, bit = enum ornic_qp_type
 * @cqe: enum ornic_cqe_opcode
 * @imm: carries immediate data
 * @inv: has the peer invalidate a key
 */
struct ornic_wqe_info {
	u32 kind;
	u16 types;
	u8 cqe;
	bool imm;
	bool inv;
};

static inline struct ornic_swqe *ornic_swqe(struct ornic_sq *sq, u32 index)
{
	return &sq->swqe[index & (sq->depth - 1)];
}

/* sq: copy the next WQE of the ring, NULL if there is none or it is broken. */
__flatten noinline struct ornic_swqe *ornic_sq_fetch(struct ornic_qp *qp);

/* rq: copy the next receive WQE to rq.rwqe; false if there is none. */
bool ornic_rq_fetch(struct ornic_qp *qp);

/* May slots of 2^@log_stride bytes hold receive WQEs of @max_sge SGEs? */
bool ornic_rwqe_fits(u32 log_stride, u32 max_sge);

/* Copy the receive WQE in @slot: all of @rw but index and pdn. */
void ornic_rwqe_decode(struct ornic_rwqe *rw, const u8 *slot, u32 max_sge);

/* What the host has posted according to @record. */
static inline u32 ornic_wq_producer(const struct ornic_wq_record *record)
{
	/* Pairs with the host's store-release after it wrote the WQEs. */
	return le32_to_cpu((__force __le32)smp_load_acquire(&record->producer));
}

enum ornic_step {
	ORNIC_STEP_DONE, /* something was done: go on */
	ORNIC_STEP_WAIT, /* a response, a timer or room is needed */
	ORNIC_STEP_STOP, /* the QP left its state */
};

/* ---- tx.c ----------------------------------------------------------------- */

/* sq or rq: send a packet along @path; false: later, see @b. */
bool ornic_tx_send(struct ornic_ctx *ctx, struct ornic_qp *qp,
		   struct ornic_backoff *b, const struct ornic_path *path,
		   const struct ornic_txinfo *info,
		   const struct ornic_iov *payload);

/* ---- req.c ---------------------------------------------------------------- */

/* sq: send and execute what can be, within ctx->budget. */
enum ornic_run_result ornic_req_run(struct ornic_ctx *ctx, struct ornic_qp *qp);

/* sq: continue sending at @psn, which is in [acked, max_psn]. */
noinline void ornic_req_seek(struct ornic_qp *qp, u32 psn);

/*
 * sq: packets may be out that asked for no ACK: send the last one again so
 * that it does. False if there is none.
 */
noinline bool ornic_req_probe(struct ornic_qp *qp);

/* sq: @sw is executed or on the wire as far as @npkts: advance psn, cur. */
void ornic_req_advance(struct ornic_qp *qp, struct ornic_swqe *sw, u32 npkts);

/* sq, not rq: @sw is at fault itself and fails in its turn. */
noinline enum ornic_step ornic_req_fail(struct ornic_ctx *ctx,
					struct ornic_qp *qp,
					struct ornic_swqe *sw,
					enum ornic_cqe_status status,
					enum ornic_vendor_err verr);

/* sq, not rq: invalidate the key of LOCAL_INV or READ_INV. */
noinline enum ornic_vendor_err
ornic_req_invalidate(struct ornic_qp *qp, const struct ornic_swqe *sw);

/* Completion status for an SGE that may not be used. */
enum ornic_cqe_status ornic_prot_status(enum ornic_vendor_err verr);

/* sq: pieces of the payload of @sw: [@off, @off + @len). */
enum ornic_vendor_err ornic_swqe_iov(struct ornic_qp *qp,
				     const struct ornic_swqe *sw, u32 off,
				     u32 len, u8 access, struct ornic_iov *iov);

/* ---- comp.c --------------------------------------------------------------- */

/* sq: a response packet. */
__flatten noinline void ornic_comp_rx(struct ornic_ctx *ctx,
				      struct ornic_qp *qp,
				      const struct ornic_pkt *pkt);

/* sq: the deadline may have come. */
noinline void ornic_comp_expire(struct ornic_ctx *ctx, struct ornic_qp *qp);

/* sq: start, move or stop the ACK timer after sending or progress. */
void ornic_comp_timer(struct ornic_ctx *ctx, struct ornic_qp *qp);

/* sq: have the host call when the next of the deadlines of @qp has come. */
noinline void ornic_comp_arm(const struct ornic_ctx *ctx, struct ornic_qp *qp);

/* sq: the peer answered everything before @acked. */
void ornic_comp_progress(struct ornic_ctx *ctx, struct ornic_qp *qp, u32 acked);

/* sq: the oldest WQE (@sw) is done. */
void ornic_comp_success(struct ornic_ctx *ctx, struct ornic_qp *qp,
			struct ornic_swqe *sw);

/* sq, not rq: the data of the READ @sw is there; false: it failed, see STOP. */
bool ornic_comp_read(struct ornic_ctx *ctx, struct ornic_qp *qp,
		     struct ornic_swqe *sw);

/* sq: operations that need no answer are done once all before them are. */
void ornic_comp_local(struct ornic_ctx *ctx, struct ornic_qp *qp);

/* sq, not rq: the oldest WQE failed; the QP goes to ERR or SQE, all flushed. */
noinline void ornic_comp_fail(struct ornic_ctx *ctx, struct ornic_qp *qp,
			      enum ornic_cqe_status status,
			      enum ornic_vendor_err verr);

/* sq: the peer was not ready; @code is its timer code. */
noinline void ornic_comp_rnr(struct ornic_ctx *ctx, struct ornic_qp *qp,
			     u8 code);

/* sq: complete all WQEs with FLUSH_ERR, and look for more. */
noinline void ornic_sq_flush(struct ornic_ctx *ctx, struct ornic_qp *qp);

/* sq: SQD: tell when everything that was started is done. */
noinline void ornic_sq_check_drained(struct ornic_ctx *ctx,
				     struct ornic_qp *qp);

/* ns that RNR timer @code means, IBTA table 45. */
u64 ornic_rnr_ns(u8 code);

/* ---- resp.c --------------------------------------------------------------- */

/* rq: execute a request, or say why not. */
enum ornic_verdict ornic_resp_request(struct ornic_ctx *ctx,
				      struct ornic_qp *qp,
				      struct ornic_inreq *r);

/* rq: complete the receive in progress and all posted ones with FLUSH_ERR. */
noinline void ornic_rq_flush(struct ornic_ctx *ctx, struct ornic_qp *qp);

/*
 * rq: the responder is at an error and takes no more requests. What it accepted
 * before is still answered, then run.c takes the QP to ERR.
 */
static inline void ornic_resp_die(const struct ornic_ctx *ctx,
				  struct ornic_rq *rq)
{
	rq->dead = true;
	rq->dead_until = ctx->now + ORNIC_DRAIN_NS;
}

/* ---- xrc.c ---------------------------------------------------------------- */

/* rq: look up the SRQ that @r names, if @qp is a target. */
void ornic_xrc_find_srq(struct ornic_qp *qp, struct ornic_inreq *r);

/* Is @qp a target, and @r names no SRQ of its domain? */
bool ornic_xrc_lacks_srq(const struct ornic_qp *qp,
			 const struct ornic_inreq *r);

/* rq: take receive WQEs from the SRQ of @r; false: it may not. */
bool ornic_xrc_bind_srq(struct ornic_qp *qp, const struct ornic_inreq *r);

/* ---- resp_tx.c ------------------------------------------------------------- */

/* rq: a request packet. */
__flatten noinline void ornic_resp_rx(struct ornic_ctx *ctx,
				      struct ornic_qp *qp,
				      const struct ornic_pkt *pkt);

/* rq: send READ responses that wait, and the ACK behind them. */
__flatten noinline enum ornic_run_result ornic_resp_run(struct ornic_ctx *ctx,
							struct ornic_qp *qp);

/* Responses that wait for room or budget. */
static inline bool ornic_resp_waits(const struct ornic_rq *rq)
{
	return rq->rd_head != rq->rd_tail || rq->ack_due;
}

/* Responder resource of free-running @index. */
static inline struct ornic_rd *ornic_rd_slot(struct ornic_rq *rq, u32 index)
{
	return &rq->rd[index % ORNIC_MAX_RD_ATOMIC];
}

/* The QP may receive requests. */
static inline bool ornic_qp_can_receive(const struct ornic_qp *qp)
{
	return qp->state >= ORNIC_QPS_RTR && qp->state <= ORNIC_QPS_SQE;
}

/* ---- sgl.c ---------------------------------------------------------------- */

/* Write the bytes of @src to [@off, ...) of an SGE list. */
enum ornic_vendor_err ornic_sgl_write(struct ornic_qp *qp,
				      const struct ornic_lsge *sge, u32 nsge,
				      u64 off, const struct ornic_iov *src);

/* The same, with the keys of another PD than the QP's. */
enum ornic_vendor_err ornic_sgl_write_pd(struct ornic_dev *dev, u32 pdn,
					 const struct ornic_lsge *sge, u32 nsge,
					 u64 off, const struct ornic_iov *src);

/* rq: write the bytes of @src to [@va, ...) of a remote key. */
enum ornic_vendor_err ornic_key_write(struct ornic_qp *qp, u32 rkey, u64 va,
				      const struct ornic_iov *src);

/* ---- loop.c --------------------------------------------------------------- */

/* sq: execute a piece of @sw on the same device. RC, UC. */
__flatten noinline enum ornic_step ornic_loop_step(struct ornic_ctx *ctx,
						   struct ornic_qp *qp,
						   struct ornic_swqe *sw);

/* sq: deliver the datagram @sw to a QP of the same device. */
noinline void ornic_loop_datagram(struct ornic_ctx *ctx, struct ornic_qp *qp,
				  struct ornic_swqe *sw,
				  const struct ornic_path *path,
				  const struct ornic_iov *src);

/*
 * sq: deliver the multicast @sw to the members on the same device; false if
 * some are left for another call.
 */
noinline bool ornic_loop_multicast(struct ornic_ctx *ctx, struct ornic_qp *qp,
				   struct ornic_swqe *sw,
				   const struct ornic_path *path,
				   const struct ornic_iov *src);

/* ---- qp.c ----------------------------------------------------------------- */

/* sq, not rq: to the error state, everything is flushed. */
void ornic_qp_error(struct ornic_ctx *ctx, struct ornic_qp *qp);

/* The QP of @qpn or NULL. Inside an RCU section. */
static inline struct ornic_qp *ornic_qp_lookup(struct ornic_dev *dev, u32 qpn)
{
	return (struct ornic_qp *)ornic_table_lookup(&dev->qps, qpn);
}

/* Ask the host for a run of @qp. */
static inline void ornic_qp_resched(struct ornic_qp *qp)
{
	qp->dev->ops->resched(qp->dev->host, qp->host_qp);
}

/* How many frames of @qp the host takes now; a stall is counted. */
static inline u32 ornic_qp_tx_room(struct ornic_qp *qp)
{
	u32 room = qp->dev->ops->tx_room(qp->dev->host, qp->host_qp);

	if (!room)
		ornic_qp_stat_inc(qp, ORNIC_STAT_TX_STALLS);
	return room;
}

#endif /* ORNIC_ENGINE_PROTO_H */
