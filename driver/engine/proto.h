/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The protocol of a QP, by file:
 *
 *   run.c   kicks, packets, timers; takes the locks
 *   wqe.c   rings to struct ornic_swqe and struct ornic_rwqe
 *   srq.c   rings that several QPs take receive WQEs from (srq.lock)
 *   tx.c    packets to the port (sq or rq)
 *   cc.c    congestion control by marks (sq or rq, cc.lock)
 *   delay.c  congestion control by RTT (sq.lock)
 *   req.c   requester: what to send next (sq.lock)
 *   datagram.c  requester: datagrams (sq.lock)
 *   comp.c  completer: responses, completions (sq.lock)
 *   retry.c  requester: timers and retries (sq.lock)
 *   gaps.c  requester: what has arrived, and what is missing (sq.lock)
 *   gaps_map.c  requester: where that is marked (sq.lock)
 *   gaps_nak.c  requester: what a NAK names (sq.lock)
 *   sink.c  requester: responses that write to the same memory (sq.lock)
 *   recv.c  receive WQEs and their completions (rq.lock)
 *   tm.c    tag lists (srq.lock); messages with tags (rq.lock), rendezvous (sq.lock)
 *   resp.c  responder: requests (rq.lock)
 *   reorder.c  responder: requests that came too early (rq.lock)
 *   kept.c  responder: their memory (rq.lock)
 *   replay.c  responder: its resources, requests that came again (rq.lock)
 *   spare.c  memory for what is out of order (sq or rq)
 *   spray.c  several paths (sq or rq)
 *   xrc.c   responder: SRQs of XRC targets (rq.lock)
 *   resp_tx.c  responder: sends READ responses, ACKs, NAKs (rq.lock)
 *   fault.c  pages that are absent: asks the host, holds requests (sq or rq)
 *   mcast.c   groups and their members (mcast.lock)
 *   mem.c   pieces of memory, bytes to SGEs
 *   mw.c    remote keys; windows: bind, invalidate (sq or rq)
 *   frmr.c  registration and invalidation of FRMRs (sq or rq)
 *   mkey.c  memory keys: commands, invalidation of any key (sq or rq)
 *   odp.c   pages of ODP MRs come and go
 *   odp_map.c  where they are (sq or rq)
 *   loop.c  requester to responder on the same device (A.sq, B.rq)
 *   loop_datagram.c  the same for UD
 *   direct.c  the same instead of packets to another device
 *   raw.c   frames of raw packet QPs (A.sq, B.rq)
 *   flow_key.c  what flow rules match of a frame
 *   flow.c  flow rules (flows.lock)
 *   rss.c   which queue gets a frame
 *   qp.c    create, destroy, modify, query (both locks)
 *
 * "sq" and "rq" in a comment below names the lock that the caller holds.
 */
#ifndef ORNIC_ENGINE_PROTO_H
#define ORNIC_ENGINE_PROTO_H

#include "delay.h"
#include "fault.h"
#include "frmr.h"
#include "mkey.h"
#include "mw.h"
#include "qp.h"
#include "retry.h"
#include "sink.h"
#include "spray.h"

/* PSNs that may be outstanding, IBTA 9.7.2: less than half of the space. */
#define ORNIC_PSN_WINDOW ((1u << 23) - 1)
/* Unacknowledged packets before RC waits, and between AckReqs. */
#define ORNIC_SEND_WINDOW 128
#define ORNIC_ACK_INTERVAL 32
/*
 * A READ is requested in pieces of so many response packets, so that all that is
 * outstanding fits the maps of struct ornic_gaps.
 */
#define ORNIC_READ_PIECE (1u << ORNIC_READ_PIECE_SHIFT)
/* Initial window; each response in time adds to it. */
#define ORNIC_FIRST_WINDOW 32
/* The window does not shrink below this for a lost packet, ... */
#define ORNIC_LOSS_WINDOW 8
/* ... nor below this for a late response, ... */
#define ORNIC_LATE_WINDOW 2
/* ... nor below this for a marked packet. */
#define ORNIC_MARKED_WINDOW 1
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
/*
 * PSNs ahead of the expected one that a responder keeps, at most, and ahead of the last
 * one that it keeps.
 */
#define ORNIC_REORDER_STEP 512
#define ORNIC_REORDER_WINDOW ((1 << 15) - ORNIC_KEPT_BLOCK - 1)
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

/* Where the piece of the READ @sw ends that packet @at of its response is in. */
static inline u32 ornic_piece_end(const struct ornic_swqe *sw, u32 at)
{
	u32 end = ornic_piece_start(sw, at) + (1u << sw->piece_shift);

	return min_t(u32, end, sw->npkts);
}

/* Retransmission timeout of RFC 6298, without its least value, ns. */
static inline u64 ornic_sq_rto_ns(const struct ornic_sq *sq)
{
	return sq->rtt.smooth + 4 * sq->rtt.var;
}

/*
 * sq: copy the next WQE of the ring; NULL if there is none. A producer index
 * that claims more WQEs than the ring has slots marks the ring broken: it is not
 * read again until RESET.
 */
__flatten noinline struct ornic_swqe *ornic_sq_fetch(struct ornic_qp *qp);

/* sq: map bytes [@off, @off + @len) of @sw, as far as @iov has room. RCU section. */
enum ornic_vendor_err ornic_swqe_iov(struct ornic_qp *qp,
				     const struct ornic_swqe *sw, u32 off,
				     u32 len, u8 access, struct ornic_iov *iov);

/*
 * The same for one packet: all of it, in sq.frag, copied if there are more pieces.
 * LKEY_RANGE if a host takes memory of a DMA key away meanwhile, or if there are
 * more and the QP has no room to copy them.
 */
enum ornic_vendor_err ornic_swqe_map(struct ornic_qp *qp,
				     const struct ornic_swqe *sw, u32 off,
				     u32 len, struct ornic_iov *iov);

/* For what ornic_swqe_iov() has no room for: copy @len bytes, no more than a packet. */
noinline enum ornic_vendor_err ornic_swqe_gather(struct ornic_qp *qp,
						 const struct ornic_swqe *sw,
						 u32 off, u32 len,
						 struct ornic_iov *iov);

/* rq: copy the next receive WQE to rq.rwqe; false if none. Broken: as above. */
bool ornic_rq_fetch(struct ornic_qp *qp);

/*
 * True if slots of 2^@log_stride bytes and @max_sge SGEs are within the limits
 * and fit each other, so that ornic_rwqe_decode() stays inside the slot.
 */
bool ornic_rwqe_fits(u32 log_stride, u32 max_sge);

/* Copy the receive WQE in @slot: all of @rw but index and pdn. Queue locked. */
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
	ORNIC_STEP_WIRE, /* direct.c: nothing was done, packets have to go */
};

/* ---- tx.c ----------------------------------------------------------------- */

/*
 * Send a packet along @path. sq and sq.backoff for a request, rq and rq.backoff
 * for a response; RCU section. True if it is sent, or lost; false if the port
 * refused it: send it again when @b is over, for which ornic_retry_arm() sets the
 * host's timer.
 */
bool ornic_tx_send(struct ornic_ctx *ctx, struct ornic_qp *qp,
		   struct ornic_backoff *b, const struct ornic_path *path,
		   const struct ornic_txinfo *info,
		   const struct ornic_iov *payload);

/*
 * sq or rq, of which @b is the backoff. ornic_tx_refused(): the port has refused a
 * frame with @err; true if it is to be sent again when @b is over, else it is lost.
 * ornic_tx_accepted(): it has taken one.
 */
bool ornic_tx_refused(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		      struct ornic_backoff *b, int err);
void ornic_tx_accepted(struct ornic_qp *qp, struct ornic_backoff *b);

/* ---- cc.c ----------------------------------------------------------------- */

/* The parameters of a new device. */
void ornic_cc_init(struct ornic_dev *dev);

/* sq and rq: forget all marks. */
void ornic_cc_reset(struct ornic_qp *qp);

/*
 * sq or rq, of which @b is the backoff: true if a packet with @len bytes of payload
 * must wait for the rate of the QP, which @b does then. Else it is taken for sent.
 */
bool ornic_cc_hold(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		   struct ornic_backoff *b, u32 len);

static inline bool ornic_cc_waits(const struct ornic_ctx *ctx,
				  struct ornic_qp *qp, struct ornic_backoff *b,
				  u32 len)
{
	return unlikely(READ_ONCE(qp->cc.paced)) &&
	       ornic_cc_hold(ctx, qp, b, len);
}

/*
 * sq: the next packet asks for an ACK, as the packets before the one that would ask
 * take long: 100 us and more.
 */
static inline bool ornic_cc_wants_ack(const struct ornic_qp *qp)
{
	u64 bytes = (qp->sq.unacked_pkts + 1ull) * qp->mtu;
	u32 rate;

	if (likely(!READ_ONCE(qp->cc.paced)))
		return false;
	/* Without its lock: an older rate does as well. 0: it is being measured. */
	rate = data_race(qp->cc.rate);
	return rate && bytes * 80 >= rate;
}

/* sq: the response @pkt has moved sq.acked from @before. */
void ornic_cc_acked(struct ornic_qp *qp, const struct ornic_pkt *pkt,
		    u32 before);

/* Neither sq nor rq: a CNP for @qp, from anybody. */
void ornic_cc_rx_cnp(const struct ornic_ctx *ctx, struct ornic_qp *qp,
		     const struct ornic_pkt *pkt);

/*
 * rq, or sq: a request, or a response, of the transport of @qp that a switch has
 * marked, from anybody. RCU section.
 */
void ornic_cc_marked_request(struct ornic_ctx *ctx, struct ornic_qp *qp,
			     const struct ornic_pkt *pkt);
void ornic_cc_marked_response(struct ornic_ctx *ctx, struct ornic_qp *qp,
			      const struct ornic_pkt *pkt);

/* ---- req.c ---------------------------------------------------------------- */

/*
 * sq, not rq: send and execute what is possible within ctx->budget. Unless the
 * result is ORNIC_RUN_IDLE, kick_wanted is clear: the queue is run again without
 * a kick.
 */
enum ornic_run_result ornic_req_run(struct ornic_ctx *ctx, struct ornic_qp *qp);

/* sq: continue sending at @psn, which is in [acked, max_psn]. */
noinline void ornic_req_seek(struct ornic_qp *qp, u32 psn);

/*
 * sq: if packets are outstanding and none asked for an ACK, send the last one
 * again with AckReq. False if there is none.
 */
noinline bool ornic_req_probe(struct ornic_qp *qp);

/* sq: @npkts more of @sw are executed or sent: advance psn and cur. */
void ornic_req_advance(struct ornic_qp *qp, struct ornic_swqe *sw, u32 npkts);

/*
 * sq, not rq: @sw, at sq.cur, is invalid. It fails after all before it are done,
 * so that completions keep their order. With ORNIC_VERR_PAGE it waits for the page
 * instead, if that can be had.
 */
noinline enum ornic_step ornic_req_fail(struct ornic_ctx *ctx,
					struct ornic_qp *qp,
					struct ornic_swqe *sw,
					enum ornic_cqe_status status,
					enum ornic_vendor_err verr);

/* sq, not rq: invalidate the key of LOCAL_INV or READ_INV. RCU section. */
noinline enum ornic_vendor_err
ornic_req_invalidate(struct ornic_qp *qp, const struct ornic_swqe *sw);

/* ---- comp.c --------------------------------------------------------------- */

/*
 * sq, not rq: a response packet from the right peer. PSNs that are not
 * outstanding are ignored (IBTA C9-144).
 */
__flatten noinline void ornic_comp_rx(struct ornic_ctx *ctx,
				      struct ornic_qp *qp,
				      const struct ornic_pkt *pkt);

/* sq: what is timed, sq.rtt, has arrived. */
void ornic_comp_rtt(const struct ornic_ctx *ctx, struct ornic_qp *qp);

/*
 * sq: the peer acknowledged everything before @acked. Retry counters and the
 * retry grace start again.
 */
void ornic_comp_progress(struct ornic_ctx *ctx, struct ornic_qp *qp, u32 acked);

/* sq: @sw, the oldest WQE and fully sent, is done. */
void ornic_comp_success(struct ornic_ctx *ctx, struct ornic_qp *qp,
			struct ornic_swqe *sw);

/*
 * sq, not rq: the data of the READ @sw, the oldest WQE, has arrived. READ_INV
 * invalidates its key before it completes. False if that failed: the QP has left
 * its state. RCU section.
 */
bool ornic_comp_read(struct ornic_ctx *ctx, struct ornic_qp *qp,
		     struct ornic_swqe *sw);

/* sq: complete executed local operations that are now the oldest. */
void ornic_comp_local(struct ornic_ctx *ctx, struct ornic_qp *qp);

/*
 * sq, not rq: the oldest WQE failed. RC and XRC go to ERR, UC and UD to SQE
 * (IBTA 10.3.1.7), and everything after it is flushed.
 */
noinline void ornic_comp_fail(struct ornic_ctx *ctx, struct ornic_qp *qp,
			      enum ornic_cqe_status status,
			      enum ornic_vendor_err verr);

/*
 * sq: ERR or SQE: complete everything with WR_FLUSH_ERR. At most one ring per
 * call, so that a process that keeps posting cannot hold the lock; a run does
 * the rest.
 */
noinline void ornic_sq_flush(struct ornic_ctx *ctx, struct ornic_qp *qp);

/* sq: SQD: raise the event when everything that was started is done. */
noinline void ornic_sq_check_drained(struct ornic_ctx *ctx,
				     struct ornic_qp *qp);

/*
 * sq: write the response @pkt, whose PSN is of @sw, to its place. @verr goes with
 * another result than SUCCESS. RCU section.
 */
__flatten enum ornic_cqe_status ornic_comp_place(struct ornic_qp *qp,
						 const struct ornic_swqe *sw,
						 const struct ornic_pkt *pkt,
						 enum ornic_vendor_err *verr);

/*
 * sq, not rq: the response to the oldest PSN, of @sw, is in its place. False if
 * the QP has left its state.
 */
bool ornic_comp_response(struct ornic_ctx *ctx, struct ornic_qp *qp,
			 struct ornic_swqe *sw);

/*
 * sq: the peer has executed everything before @end. A READ or atomic is complete
 * only by its own response; a response beyond it means that this was lost (IBTA
 * C9-145). False in that case.
 */
bool ornic_comp_up_to(struct ornic_ctx *ctx, struct ornic_qp *qp, u32 end);

/* ---- gaps.c --------------------------------------------------------------- */

/* sq: nothing is known beyond sq.acked, and nothing is to be sent again. */
void ornic_gaps_reset(struct ornic_qp *qp);

/*
 * sq: more READs may be requested, though as many as the peer allows are without some
 * of their responses: it has sent these, and remembers ORNIC_RD_SLOTS.
 */
noinline bool ornic_gaps_leave_reads(const struct ornic_qp *qp);

/* sq: make room for a window of twice as many PSNs, if there is memory for it. */
noinline void ornic_gaps_grow(struct ornic_qp *qp);

/*
 * sq: of the @out PSNs that are outstanding so many have arrived that more may be
 * sent, though the window is full.
 */
noinline bool ornic_gaps_leave_room(const struct ornic_sq *sq, u32 out);

/* sq: nothing is to be sent again. */
void ornic_gaps_stop(struct ornic_sq *sq);

/* sq: sq.acked moves to @end. */
noinline void ornic_gaps_forget(struct ornic_qp *qp, u32 end);

/* sq: send again what is missing from @from to before @end. */
noinline void ornic_gaps_ask(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			     u32 from, u32 end);

/* sq, something is outstanding: ask for what is missing, or else for the last packet. */
noinline void ornic_gaps_probe(const struct ornic_ctx *ctx,
			       struct ornic_qp *qp);

/* sq: ask for the oldest PSN. */
noinline void ornic_gaps_oldest(const struct ornic_ctx *ctx,
				struct ornic_qp *qp);

/*
 * sq: @npkts from @psn on, as of ornic_gaps_next(), have been sent again; not
 * @request: they are responses, and have been asked for.
 */
noinline void ornic_gaps_sent(struct ornic_sq *sq, u32 psn, u32 npkts,
			      bool request);

/*
 * sq: how many PSNs from @psn on, of the WQE of index @wqe, are to be sent again by
 * one packet, 0 if none are left.
 */
noinline u32 ornic_gaps_next(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			     u32 *psn, u32 *wqe);

/* sq: is nothing behind @psn to go again, as far as is known? */
bool ornic_gaps_is_last(const struct ornic_sq *sq, u32 psn);

/*
 * sq: a sequence NAK of a selective peer, whose PSN is outstanding, names the requests
 * that it keeps: news are looked at one by one, the rest by 64. Returns
 * the last of them; the PSN of the NAK if it keeps none.
 */
noinline u32 ornic_gaps_sack(const struct ornic_ctx *ctx, struct ornic_qp *qp,
			     const struct ornic_pkt *pkt);

/*
 * sq, not rq: a READ response or the like beyond sq.acked, where another one is
 * missing.
 */
noinline void ornic_gaps_data(struct ornic_ctx *ctx, struct ornic_qp *qp,
			      const struct ornic_pkt *pkt);

/*
 * sq: the page of the response @psn, the oldest, is absent, so it is as if it had not
 * come. It is asked for again when the page is there, which is no retry.
 */
noinline void ornic_gaps_unplaced(const struct ornic_ctx *ctx,
				  struct ornic_qp *qp, u32 psn);

/*
 * sq, not rq: an ACK of all before @end, or a NAK of the request @end, while a READ
 * response before it is missing.
 */
noinline void ornic_gaps_ack(struct ornic_ctx *ctx, struct ornic_qp *qp,
			     const struct ornic_pkt *pkt, u32 end);

/*
 * sq: the syndrome of an RNR NAK or fatal one of the oldest request, which had to
 * wait for responses before it; 0 if there is none.
 */
noinline u8 ornic_gaps_refusal(struct ornic_sq *sq);

/* sq: the peer may have dropped the requests that it kept. */
noinline void ornic_gaps_doubt(struct ornic_sq *sq);

/* sq, not rq: complete what has become the oldest and has arrived before. */
noinline void ornic_gaps_advance(struct ornic_ctx *ctx, struct ornic_qp *qp);

/* sq: the response came again, or for the first time, that tells late from lost. */
noinline void ornic_gaps_judge(const struct ornic_ctx *ctx,
			       struct ornic_sq *sq);

/* sq: a response of a selective peer has come while there are gaps: is it late? */
void ornic_gaps_learn(const struct ornic_ctx *ctx, struct ornic_sq *sq,
		      const struct ornic_pkt *pkt);
/* sq, not rq: a timer: what was late at gaps.ask_at, if that is over, is lost. */
noinline void ornic_gaps_late(struct ornic_ctx *ctx, struct ornic_qp *qp);

/* sq: the response @psn is placed, or the peer keeps the request. */
bool ornic_gaps_has(const struct ornic_sq *sq, u32 psn);

/* ---- recv.c --------------------------------------------------------------- */

/* rq: take the next receive WQE to rq.rwqe, from the QP's own queue or an SRQ. */
bool ornic_recv_take(struct ornic_ctx *ctx, struct ornic_qp *qp);

/* rq: write @cqe, of which it sets what is rq.rwqe's, which does not end by it. */
void ornic_recv_push(struct ornic_ctx *ctx, struct ornic_qp *qp,
		     struct ornic_cqe *cqe, bool solicited);

/* rq: complete rq.rwqe with @cqe, of which it sets what is the WQE's. */
void ornic_recv_cqe(struct ornic_ctx *ctx, struct ornic_qp *qp,
		    struct ornic_cqe *cqe, bool solicited);

/* rq: complete rq.rwqe: the message of @r, whose end it is, has @bytes. */
void ornic_recv_done(struct ornic_ctx *ctx, struct ornic_qp *qp,
		     const struct ornic_inreq *r, u8 opcode, u32 bytes);

/* rq: complete rq.rwqe in error. */
void ornic_recv_fail(struct ornic_ctx *ctx, struct ornic_qp *qp,
		     enum ornic_cqe_status status, enum ornic_vendor_err verr);

/*
 * rq: ERR: complete the receive in progress and all posted ones with
 * WR_FLUSH_ERR, at most one ring per call.
 */
noinline void ornic_rq_flush(struct ornic_ctx *ctx, struct ornic_qp *qp);

/* ---- resp.c --------------------------------------------------------------- */

/*
 * rq: the raw packet QP gets a frame, or not: one that finds no receive WQE or
 * does not fit it is counted, as a datagram is. RCU section.
 */
void ornic_resp_raw(struct ornic_ctx *ctx, struct ornic_qp *qp,
		    const struct ornic_iov *frame);

/*
 * rq: execute a request, or return why not. A READ gets its number of PSNs, an
 * atomic its original value. If rq.dead is set afterwards, the caller takes the
 * QP to ERR once it holds no rq.lock.
 */
enum ornic_verdict ornic_resp_request(struct ornic_ctx *ctx,
				      struct ornic_qp *qp,
				      struct ornic_inreq *r);

/* rq: a receive WQE could not take the message: it and the QP are done. */
noinline enum ornic_verdict ornic_resp_bad_recv(struct ornic_ctx *ctx,
						struct ornic_qp *qp,
						enum ornic_cqe_status status,
						enum ornic_vendor_err verr);

/* rq: what becomes of a message that finds no receive WQE. */
enum ornic_verdict ornic_resp_no_rwqe(struct ornic_ctx *ctx,
				      struct ornic_qp *qp);

/* rq: the bytes @src of the SEND @r go to rq.rwqe, which is done at the end. */
enum ornic_verdict ornic_resp_receive(struct ornic_ctx *ctx,
				      struct ornic_qp *qp,
				      const struct ornic_inreq *r,
				      const struct ornic_iov *src);

/* rq: a request packet for a QP of its transport. */
__flatten noinline void ornic_resp_rx(struct ornic_ctx *ctx,
				      struct ornic_qp *qp,
				      const struct ornic_pkt *pkt);

/*
 * rq: execute a request packet, of which all is checked but PSN and content. The
 * caller schedules the response that the verdict calls for.
 */
__flatten noinline enum ornic_verdict
ornic_resp_execute(struct ornic_ctx *ctx, struct ornic_qp *qp,
		   const struct ornic_pkt *pkt);

/*
 * rq: the responder is at an error and takes no more requests. Responses to
 * earlier ones are still sent, then run.c takes the QP to ERR.
 */
static inline void ornic_resp_die(const struct ornic_ctx *ctx,
				  struct ornic_rq *rq)
{
	WRITE_ONCE(rq->dead, true);
	WRITE_ONCE(rq->dead_until, ctx->now + ORNIC_DRAIN_NS);
}

/* ---- reorder.c ------------------------------------------------------------ */

/*
 * rq: keep a copy of @pkt, whose PSN is ahead of the expected one, if there is
 * room. ORNIC_RESP_NAK_SEQ: the gap is to be reported; else ORNIC_RESP_DROP.
 */
noinline enum ornic_verdict ornic_reorder_keep(const struct ornic_ctx *ctx,
					       struct ornic_qp *qp,
					       const struct ornic_pkt *pkt);

/* rq: a request came again whose PSN is before the expected one. */
noinline void ornic_reorder_duplicate(const struct ornic_ctx *ctx,
				      struct ornic_qp *qp, u32 psn);

/*
 * rq: something is kept: execute what is the expected now, and send the NAK that
 * is due. Responses are scheduled, the caller calls ornic_resp_run(). @pkt: the
 * request that has just come, NULL if none has.
 */
noinline void ornic_reorder_run(struct ornic_ctx *ctx, struct ornic_qp *qp,
				const struct ornic_pkt *pkt);

/* CREATE_QP: nothing is kept yet. */
void ornic_reorder_init(struct ornic_qp *qp);

/* rq: keep nothing any more. Runs of the QP free what is large. */
noinline void ornic_reorder_forget(struct ornic_qp *qp);

/*
 * rq, and rq.ahead.aside: free some of what was dropped. True if there is more: the QP
 * has to run again.
 */
noinline bool ornic_reorder_free_some(struct ornic_qp *qp);

/* DESTROY_QP, nobody else has the QP: free all. May sleep. */
void ornic_reorder_fini(struct ornic_qp *qp);

/*
 * rq: which requests after @psn are kept: bit n of byte m is that of @psn + 1 +
 * 8 m + n. The first function returns how many bits are to be told, 0 if none is kept: a
 * requester sends what is missing before the last of them, so on a path that reorders they
 * end where packets may be under way. The second one writes that many to the @len bytes
 * of @bitmap, or what has room.
 */
u32 ornic_reorder_bits(const struct ornic_ctx *ctx, const struct ornic_qp *qp,
		       u32 psn);
void ornic_reorder_bitmap(const struct ornic_qp *qp, u32 psn, u32 nbits,
			  u8 *bitmap, u32 len);

/* ---- spare.c -------------------------------------------------------------- */

/* The limit of a new device. */
void ornic_spare_init(struct ornic_dev *dev);

/*
 * sq or rq: @qp takes @bytes of memory, of any kind, for what is out of order. False
 * if it may not.
 */
bool ornic_spare_take(struct ornic_qp *qp, u32 bytes);

/* Is most of it left, so that what does not count in full may be kept? */
bool ornic_spare_is_ample(const struct ornic_qp *qp);

/* sq or rq, or nobody else has the QP: it gives them back. */
void ornic_spare_return(struct ornic_qp *qp, u32 bytes);

/* The same with the memory, of zeros; NULL if there is none. */
void *ornic_spare_zalloc(struct ornic_qp *qp, u32 bytes);
void ornic_spare_free(struct ornic_qp *qp, void *p, u32 bytes);

/* sq and rq: @qp has another peer. */
void ornic_spare_move(struct ornic_qp *qp, u64 peer);

/* ---- replay.c ------------------------------------------------------------- */

/* PSNs of the response to a READ of @length bytes. */
static inline u32 ornic_read_npkts(const struct ornic_qp *qp, u32 length)
{
	return length ? DIV_ROUND_UP(length, qp->mtu) : 1;
}

/* rq: may @r read what it names? As ornic_rkey_check(). RCU section. */
static inline enum ornic_vendor_err
ornic_read_check(struct ornic_qp *qp, const struct ornic_inreq *r)
{
	struct ornic_mkey *mkey;

	if (!r->dma_len)
		return ORNIC_VERR_NONE;
	return ornic_rkey_check(qp, r->rkey, r->va, r->dma_len,
				ORNIC_ACCESS_REMOTE_READ, &mkey);
}

/*
 * rq: true if as many responses as the requester may have under way wait to be sent for
 * the first time. Completed ones, and replays of acknowledged requests, are reclaimed:
 * a new request in sequence acknowledges them. But one that repeats selectively may
 * miss some of them, and goes on.
 */
bool ornic_rd_full(struct ornic_qp *qp, const struct ornic_inreq *r);

/* rq: a resource for @r, whose response packets carry, or may have to. */
struct ornic_rd *ornic_rd_new(struct ornic_qp *qp, const struct ornic_inreq *r);

/*
 * rq: a READ, atomic or the like came again, as a packet: schedule its response
 * once more, or DROP, or RNR: it waits for a page. RCU section.
 */
noinline enum ornic_verdict ornic_replay(const struct ornic_ctx *ctx,
					 struct ornic_qp *qp,
					 const struct ornic_inreq *r);

/* rq: nothing is sent of @rd any more, unless it is asked for again. */
void ornic_rd_stop(struct ornic_rq *rq, struct ornic_rd *rd);

/* rq: what was being sent of @rd has left: begin with the first part that waits. */
noinline void ornic_replay_next(struct ornic_qp *qp, struct ornic_rd *rd);

/* ---- xrc.c ---------------------------------------------------------------- */

/*
 * rq: XRC target: set r->srq to the SRQ that @r names, NULL if its domain has
 * none. The keys of the request, also of a duplicate, are of the SRQ's PD (IBTA
 * A14.3.2), so this comes first. RCU section.
 */
void ornic_xrc_find_srq(struct ornic_qp *qp, struct ornic_inreq *r);

/* rq: true if @qp is a target and @r names no SRQ of its domain. */
bool ornic_xrc_lacks_srq(const struct ornic_qp *qp,
			 const struct ornic_inreq *r);

/*
 * rq: take receive WQEs from the SRQ of @r. ORNIC_RESP_NAK_INVALID if a target's
 * request names none, or another one than the message began with;
 * ORNIC_RESP_NAK_OP if the CQ of the SRQ has overflowed.
 */
enum ornic_verdict ornic_xrc_bind_srq(struct ornic_qp *qp,
				      const struct ornic_inreq *r);

/* ---- resp_tx.c ------------------------------------------------------------- */

/* rq: schedule the response that @verdict on @pkt calls for. */
void ornic_resp_verdict(struct ornic_qp *qp, enum ornic_verdict verdict,
			const struct ornic_pkt *pkt);

/* rq: schedule an ACK of everything up to @psn. */
void ornic_resp_ack(struct ornic_qp *qp, u32 psn);

/* rq: schedule a sequence NAK. */
void ornic_resp_nak_gap(struct ornic_qp *qp);

/*
 * rq: send READ responses that wait, and the ACK after them. IDLE if none is
 * left; WAIT for room or the end of rq.backoff; MORE for budget.
 */
__flatten noinline enum ornic_run_result ornic_resp_run(struct ornic_ctx *ctx,
							struct ornic_qp *qp);

/* Responses that wait for room or budget. rq, or without it a peek. */
static inline bool ornic_resp_waits(const struct ornic_rq *rq)
{
	return READ_ONCE(rq->rd_head) != READ_ONCE(rq->rd_tail) ||
	       READ_ONCE(rq->ack_due);
}

/* As ornic_sgl_write_pd(), with the keys of the PD of @qp. */
static inline enum ornic_vendor_err
ornic_sgl_write(struct ornic_qp *qp, const struct ornic_lsge *sge, u32 nsge,
		u64 off, const struct ornic_iov *src)
{
	return ornic_sgl_write_pd(qp->dev, qp->pdn, sge, nsge, off, src);
}

/* ---- datagram.c ----------------------------------------------------------- */

/* sq: send the datagram @sw. RCU section. */
noinline enum ornic_step ornic_datagram_send(struct ornic_ctx *ctx,
					     struct ornic_qp *qp,
					     struct ornic_swqe *sw);

/* ---- raw.c ---------------------------------------------------------------- */

/*
 * sq: send the frame @sw, and deliver it to the QPs of this device that get it by
 * flow rules. RCU section.
 */
noinline enum ornic_step ornic_raw_send(struct ornic_ctx *ctx,
					struct ornic_qp *qp,
					struct ornic_swqe *sw);

/* END_RAW. May sleep. Return: enum ornic_status. */
int ornic_raw_end_all(struct ornic_dev *dev);

/* ---- qp.c ----------------------------------------------------------------- */

/* sq, not rq: to the error state; everything is flushed. */
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
