/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queue pairs: the state that requester (req.c), completer (comp.c),
 * responder (resp.c) and same-device traffic (loop.c) work on.
 *
 * struct ornic_qp is grouped by who writes what. The SQ half is protected by
 * @sq.lock, the RQ half by @rq.lock; attributes and state are written under
 * both and read under either.
 */
#ifndef ORNIC_ENGINE_QP_H
#define ORNIC_ENGINE_QP_H

#include "cc.h"
#include "comp_cntr.h"
#include "cq.h"
#include "dev.h"
#include "late.h"
#include "mem.h"
#include "psn.h"
#include "psn_map.h"
#include "rate.h"
#include "rd.h"
#include "spray.h"
#include "srq.h"
#include "tm.h"
#include "wire.h"

/* Pieces that the payload of a request may have: an SGE is in two pages. */
#define ORNIC_TX_FRAGS (2 * ORNIC_MAX_SGE)
/* Of a READ response: its payload lies in two pages of the key at most. */
#define ORNIC_RESP_FRAGS 2

/*
 * struct ornic_swqe - the device's copy of a send WQE and its progress.
 *
 * ornic_sq_fetch() writes the copy; progress is written by requester, completer
 * and loopback. All under sq.lock.
 */
struct ornic_swqe {
	/* The copy */
	u64 wr_id; /* given back in the CQE */
	const struct ornic_wqe_info *info; /* what @opcode is */
	u64 raddr; /* remote address of WRITE, READ and atomics; TAG_ADD: tag */
	union {
		u64 swap_add; /* CAS: new value; FAA: addend */
		u64 reg_list; /* REG_MR: DMA address of the page list */
		u64 tag_mask; /* TAG_ADD */
		/*
		 * READ on loopback, once @done: &ornic_qp.epoch of the QP that
		 * accepted it
		 */
		u64 peer_epoch;
	};
	union {
		u64 compare; /* CAS */
		u64 bind_length; /* BIND_MW, REG_MR: bytes */
		u64 tag_wr_id; /* TAG_ADD: of the tagged receive */
		struct {
			u32 flush_length; /* FLUSH: bytes */
			u32 feth; /* FLUSH: type and level, as in FETH */
		};
	};
	union {
		u32 bind_lkey; /* BIND_MW: of the MR */
		u32 reg_npages; /* REG_MR: pages in @reg_list */
		u32 tag_unexpected; /* TAG_*: messages that the host has handled */
	};
	u32 index; /* free-running number of the WQE */
	u32 kind; /* ORNIC_OPF_SEND, WRITE, READ, ATOMIC, ..., LOCAL */
	u32 length; /* bytes of the message */
	u32 npkts; /* PSNs that it takes (READ: response packets) */

	/* Progress */
	u32 first_psn; /* valid once @started */
	u32 pkts; /* PSNs sent (READ: requested), or executed on loopback */

	/* The copy */
	union {
		u32 rkey; /* of @raddr; BIND_MW, REG_MR: new key; TAG_*: handle */
		u32 dest_qkey; /* UD: Q_Key of the receiver */
	};
	__be32 imm; /* immediate data or key to invalidate, wire order */
	union {
		u32 srqn; /* XRC: SRQ of the peer that receives the message */
		u32 pkey_index; /* GSI: of the P_Key that it is sent with */
	};
	u32 ah; /* UD: address handle, if there is no @av */
	u32 dest_qpn; /* UD: receiver */
	u8 opcode; /* enum ornic_wqe_opcode */
	u8 flags; /* enum ornic_wqe_flags */
	u8 nsge; /* entries of @sge */
	u8 status; /* what is wrong with the WQE, or ORNIC_CQE_SUCCESS */
	u8 verr; /* enum ornic_vendor_err that goes with @status */
	u8 bind_access; /* BIND_MW, REG_MR: enum ornic_access */
	u8 reg_shift; /* REG_MR: log2 of the bytes of a page */

	/* Progress */
	u8 tm_flags; /* TAG_*: enum ornic_cqe_tm_flags */
	bool started; /* it has PSNs */
	bool asked_again; /* READ: also for parts of it */
	u8 piece_shift; /* READ: log2 of the packets that a request asks for */
	/*
	 * READ on loopback: the peer accepted it; LOCAL: executed; multicast:
	 * it is on the wire. What is left to do must not repeat that.
	 */
	bool done;
	bool sink_known; /* whether an older WQE writes to its memory ... */
	bool sink_shared; /* ... it does: that of index @sink_after and ... */
	union {
		u32 sink_after; /* ... perhaps some before it */
		u32 mcast_at; /* multicast: members below this slot have it */
	};
	u32 sink_before; /* READ, atomic: the last one before it; below tail: none */

	/* The copy, in the WQE's slot of sq.store */
	union {
		struct ornic_lsge *sge; /* SGEs in host order */
		u8 *inline_data; /* payload of an inline WQE */
	};
	struct ornic_av *av; /* UD: address vector of the WQE, NULL if none */
};

/* 16 of them are half a page. */
static_assert(sizeof(struct ornic_swqe) <= 128);

/**
 * struct ornic_backoff - the port refused a frame, or a rate of the QP holds it
 * @until: not to be tried again before, ns; 0 = now
 * @tries: refusals since the last frame that it took
 * @slot: the rate has a place for the next packet, at @until
 */
struct ornic_backoff {
	u64 until;
	u8 tries;
	bool slot;
};

/* Nothing is refused: try at once. */
static inline void ornic_backoff_reset(struct ornic_backoff *b)
{
	WRITE_ONCE(b->until, 0);
	b->tries = 0;
	b->slot = false;
}

/* True if it is too early to try again. */
static inline bool ornic_backoff_on(struct ornic_backoff *b, u64 now)
{
	if (likely(!b->until))
		return false;
	if (now < b->until)
		return true;
	WRITE_ONCE(b->until, 0);
	return false;
}

/*
 * Does the peer keep requests that are ahead, and name those that it has? What the next
 * responses may change is even.
 */
enum ornic_selective {
	ORNIC_SELECTIVE_ASK, /* not known: requests ask */
	ORNIC_SELECTIVE_YES,
	ORNIC_SELECTIVE_FULL, /* it does, but its last NAK named nothing: it has no room */
	ORNIC_SELECTIVE_NO,
	ORNIC_SELECTIVE_DOUBTED, /* it does, but may have dropped all by now */
};

static inline bool ornic_selective_is_open(u8 selective)
{
	return !(selective & 1);
}

/* It does, but is to get all again, as if it kept nothing. */
static inline bool ornic_selective_lacks_all(u8 selective)
{
	return selective == ORNIC_SELECTIVE_FULL ||
	       selective == ORNIC_SELECTIVE_DOUBTED;
}

/*
 * PSNs from acked on of which the requester knows one by one what has arrived: at
 * first, and at most.
 */
#define ORNIC_GAPS_FIRST 1024
#define ORNIC_GAPS_MOST (1 << 15)

enum ornic_gaps_map {
	/*
	 * Of a READ or atomic, its response is here; of another request, the peer
	 * keeps it. The latter it may drop.
	 */
	ORNIC_GAPS_GOT,
	ORNIC_GAPS_RESENT, /* in this epoch */
	ORNIC_GAPS_RESENT_BEFORE, /* in the last one */
	ORNIC_GAPS_HELD, /* READ requests that the peer keeps */
	ORNIC_GAPS_MAPS,
};

/*
 * struct ornic_gaps - what has arrived beyond the oldest PSN without a response,
 * and what is to be sent again, gaps.c
 *
 * An epoch is a round trip.
 */
struct ornic_gaps {
	bool open; /* something is known beyond acked */
	bool used; /* a bit may be set */
	u32 executed; /* if @open: PSNs before this one were executed by the peer */
	u32 limit; /* if @open: responses before it that are missing were lost */
	u32 at; /* PSNs from here ... */
	u32 end; /* ... to here are sent again, unless they have arrived */
	u32 ngot; /* bits of ORNIC_GAPS_GOT */
	u32 found; /* the WQE of which a PSN was looked up last */
	u32 passed; /* of sq.rd_out, those whose responses have been sent: ... */
	u32 seen; /* ... before this PSN ... */
	u32 newest; /* ... and the last WQE with data of these; older: none. If @open */
	u32 size; /* PSNs of the maps, a power of two; the window is not larger */
	u32 nresent; /* requests in this epoch that have no response of their own, ... */
	u32 nasked; /* ... and those that have, ... */
	u32 epoch_psn; /* ... which began with this PSN */
	u32 last; /* of those that were sent again, what has arrived last */
	u64 epoch; /* when it began, ns */
	bool again; /* what is missing may be more than was asked for */
	u32 whole_psn; /* first PSN of the READ that went again as a whole last ... */
	u64 whole_at; /* ... at this time, ns; 0 = none since, or it is complete */
	u32 unplaced; /* responses from this PSN on came, but could not be placed: ... */
	u32 nunplaced; /* ... so many at most; 0 = none */
	u8 refusal; /* an RNR or fatal NAK that waits for responses; 0 = none ... */
	u32 refusal_psn; /* ... and its PSN */
	struct ornic_late late; /* responses */
	u64 due; /* since when those before @due_limit do not come by themselves, ns; */
	u32 due_limit; /* others have come later. If @open */
	u64 ask_at; /* when those before @ask_limit are lost, ns; 0 = none wait */
	u32 ask_limit;
	u32 judged_asks; /* how often the one that is judged was asked for, ... */
	u32 judged_copies; /* ... and has come */
	u64 *map[ORNIC_GAPS_MAPS]; /* in @own, or in spare memory: see psn_map.h */
	u64 own[ORNIC_GAPS_MAPS * ORNIC_GAPS_FIRST / 64];
};

enum ornic_fault_state {
	ORNIC_FAULT_NONE,
	ORNIC_FAULT_RAISED, /* the event is raised */
	ORNIC_FAULT_TAKEN, /* the host knows more */
	ORNIC_FAULT_FAILED, /* the page cannot be had: for what needed it, if it still does */
};

/* struct ornic_fault - a page fault of a queue, fault.c */
struct ornic_fault {
	u8 state; /* enum ornic_fault_state */
	bool write; /* pages are to be written to */
	bool read; /* rq: of a READ response, not of a request */
	/* rq: what was held was dropped, for it or one that a reset has ended since */
	bool slow;
	u8 ntold; /* rq: RNR NAKs for copies of a READ */
	u32 seq; /* number of the fault */
	u64 told; /* rq: when the last one was sent, or the fault raised, ns */
	u32 key; /* of the ODP MR */
	u32 psn; /* @read: first PSN of that READ, else 0 */
	u64 addr; /* first byte, whose page is absent */
	u64 length; /* bytes */
};

enum ornic_wait {
	ORNIC_WAIT_NONE,
	ORNIC_WAIT_RNR, /* until @deadline, IBTA 9.7.5.2.8 */
	ORNIC_WAIT_PAGES, /* until @fault has ended */
	ORNIC_WAIT_PEER, /* loopback: for pages of the peer; each run tries again */
};

/*
 * struct ornic_sq - send queue, requester and completer. All under @lock but
 * where a peek is noted.
 */
struct ornic_sq {
	ornic_lock_t lock;

	/* Set by CREATE_QP */
	struct ornic_ring ring; /* the WQEs, the user's memory */
	struct ornic_wq_record *record; /* doorbell record, the user's memory */
	struct ornic_cq *cq; /* where its WQEs complete */
	struct ornic_swqe *swqe; /* copies of the WQEs, @depth of them */
	u8 *store; /* SGEs and inline data of the copies, ... */
	u32 store_stride; /* ... so many bytes each */
	u32 depth; /* WQEs, a power of two; 0 = no SQ */

	/* Cursor: tail <= cur <= fetched; acked <= psn <= max_psn */
	u32 fetched; /* WQEs copied from the ring; @fetched - @tail <= @depth */
	u32 seen; /* the producer at the last run, while the device polls */
	u32 cur; /* WQE that is being sent */
	u32 tail; /* oldest WQE that is not complete */
	u32 psn; /* next PSN to send */
	u32 acked; /* oldest PSN that is not acknowledged */
	u32 max_psn; /* one past the highest PSN ever sent */
	u32 rd_out; /* READs and atomics without a response */
	u32 sink_last; /* the last WQE that began and writes here; below tail: none */
	u32 unacked_pkts; /* packets since the last AckReq */
	u32 window; /* PSNs that may be outstanding; the congestion window */
	u32 credit; /* PSNs acknowledged since @window grew, if @probing */

	/* RTT sample: one packet at a time is timed */
	struct {
		u32 psn; /* one past the PSN that is timed */
		u64 start; /* when it was sent, ns; 0 = none is timed */
		u64 last; /* ns, at most timeout / 4; 0 = none so far */
		u64 smooth; /* SRTT of RFC 6298, ns; 0 = none so far */
		u64 var; /* RTTVAR, ns */
		u64 least; /* of those that are not long ago, ns */
		bool congested; /* above timeout / 8: the window stays */
		bool clean; /* nothing was known to be lost as it was sent */
		u8 backoff; /* the time to a probe doubles so often until there is one */
		bool again; /* it, or something after it, was sent again */
		bool early; /* the last timer that expired did so too early */
	} rtt;

	/* Retry: counters restart with each progress of the peer */
	struct {
		u64 ack_at; /* the ACK timeout, ns; @deadline is not later */
		u64 recover_until; /* a round trip after the last resend, ns */
		u32 recover; /* max_psn at that resend */
		u64 peer_seen; /* ornic_qp_peer_seen() as the timer was set */
		/*
		 * A sequence NAK for PSNs before @recover counts unless
		 * something is acknowledged before @deadline
		 */
		bool nak_held;
		u8 rnr_waits; /* in a row, to ORNIC_RNR_STEPS_LOG + 1 */
		u8 grace_used; /* timeouts that cost no retry */
		u8 left; /* retries */
		u8 rnr_left; /* RNR retries */
		u8 resends; /* before the ACK timeout, since the last progress */
		bool postponed; /* @ack_at, for the rate of the QP */
		bool silent; /* a timer has expired, and no response has come since */
		bool judge; /* @silent or rtt.again: look at the next response */
	} retry;

	/* Set by CREATE_QP */
	u8 max_sge; /* SGEs that a WQE may have */
	u16 max_inline; /* bytes that a WQE may carry */

	u8 wait; /* enum ornic_wait */
	bool draining; /* SQD requested and not reached */
	bool probing; /* the window grows slowly: it was too large */
	bool probe; /* the next packet has AckReq whatever follows */
	bool broken; /* the producer is invalid: the ring is not read */
	bool polled; /* ornic_engine_busy_poll() is on */
	u64 deadline; /* when to act, ns; 0 = never */
	u64 timer_at; /* deadline that the host was given, ns; 0 = none */
	u64 answered; /* when a packet was acknowledged last, ns; 0 = never */
	u8 selective; /* enum ornic_selective */
	struct ornic_backoff backoff; /* of requests */
	struct ornic_cc_window marks; /* that the peer has sent back */
	struct ornic_delay delay;
	u64 cnp_at; /* the next CNP for a response not before, ns */
	struct ornic_gaps gaps;
	struct ornic_fault fault;
	struct ornic_frag frag[ORNIC_TX_FRAGS]; /* payload being sent */
	u8 *bounce; /* what has more pieces, copied; NULL: QP without FAST_REG */
	struct ornic_rate rate; /* raw packet */
};

/* struct ornic_rwqe - receive WQE of the message that is being received. */
struct ornic_rwqe {
	u64 wr_id; /* given back in the CQE */
	u32 index; /* free-running number of the WQE */
	u32 length; /* sum of its SGEs, bytes */
	u32 pdn; /* PD of its keys */
	u8 nsge; /* entries of @sge */
	u8 status; /* what is wrong with the WQE, or ORNIC_CQE_SUCCESS */
	u8 verr; /* enum ornic_vendor_err that goes with @status */
	bool valid; /* one has been taken and is not complete */
	bool tagged; /* from the tag list of an SRQ, not from a ring */
	bool unexpected; /* the SRQ counts its message as unexpected */
	struct ornic_lsge sge[ORNIC_MAX_SGE]; /* in host order */
};

struct ornic_kept;
struct ornic_held;
struct ornic_rss_table;

#define ORNIC_KEPT_BLOCK 64 /* PSNs */
#define ORNIC_KEPT_BLOCKS 8 /* at first */

/* struct ornic_kept_block - the requests of PSNs from a multiple of 64 on */
struct ornic_kept_block {
	u64 has; /* bit n: the one of PSN n of the block is kept */
	struct ornic_kept **kept; /* spare memory; NULL: none is */
};

/* What a responder had seen at a time: @psn, and perhaps more before it. */
struct ornic_seen {
	u64 when; /* ns */
	u32 psn;
};

#define ORNIC_SEEN 8 /* a power of two */

/*
 * struct ornic_ahead - requests that came ahead of the expected PSN, reorder.c
 *
 * The block of a PSN is that of number PSN / 64 modulo @nblocks. They are from @base
 * on, one block less than there are, so that no two PSNs have the same place.
 */
struct ornic_ahead {
	struct ornic_kept_block *block; /* @own, or in spare memory */
	struct ornic_kept_block own[ORNIC_KEPT_BLOCKS];
	u32 nblocks; /* a power of two */
	u32 base; /* none is before it: the expected PSN, when that was looked at last */
	u32 last; /* if @n: the highest PSN */
	u32 n; /* requests; a peek is allowed */
	/*
	 * A table that was dropped, with what is left of it to be freed, from block
	 * @aside_at on. NULL: none; a peek is allowed. Until then nothing is kept.
	 */
	struct ornic_kept_block *aside;
	u32 naside; /* its blocks */
	u32 aside_at;
	struct ornic_kept *unused; /* what was allocated, to be used again */
	u32 nunused;
	bool naked; /* one was sent since there are any */
	bool refused; /* there was no room for @refused_psn, and for others perhaps */
	u32 refused_psn;
	u64 nak_at; /* a sequence NAK is due, or rq.held is over, ns; 0 = no */
	u64 nak_time; /* when the last one was sent, ns; 0 = it was an RNR NAK */
	u64 expires; /* all are dropped, unless one is executed, ns; 0 = none */
	u64 since; /* when the gap before the first of them was seen, ns */
	u32 gap_psn; /* of the last NAK */
	struct ornic_late late; /* requests; what NAKs are for is judged */
	/* If @late.ns: the last ones, a quarter of it after each other */
	struct ornic_seen seen[ORNIC_SEEN];
	u32 seen_at; /* the next one is written there */
};

/* struct ornic_rq - receive queue and responder. All under @lock. */
struct ornic_rq {
	ornic_lock_t lock;

	/* Set by CREATE_QP */
	struct ornic_ring ring; /* the WQEs, the user's memory */
	struct ornic_wq_record *record; /* doorbell record, the user's memory */
	struct ornic_cq *cq; /* where its WQEs complete; NULL for XRC */
	/*
	 * Where the WQEs come from, NULL = @ring. XRC targets: SRQ of the
	 * message that is being received, NULL if that is gone; not counted,
	 * DESTROY_SRQ clears it.
	 */
	struct ornic_srq *srq;
	u32 depth; /* WQEs, a power of two; 0 = no RQ */

	/* The message that is being received */
	u32 fetched; /* receive WQEs taken from the ring */
	u32 epsn; /* expected PSN */
	u32 msn; /* message sequence number, IBTA 9.7.7.1 */
	u32 msg; /* ORNIC_OPF_SEND or WRITE inside a message, else 0 */
	u32 received; /* bytes of the message so far */
	u64 va; /* RETH of the WRITE */
	u32 rkey; /* RETH */
	u32 dma_len; /* RETH, bytes */
	u8 max_sge; /* SGEs that a WQE may have; set by CREATE_QP */
	bool nak_sent; /* a sequence NAK or RNR NAK for the gap, IBTA C9-116 */
	bool selective; /* the requester repeats selectively */
	bool again; /* the newest request was sent before, ... */
	bool again_due; /* ... and so was all that the due ACK or NAK is for */
	bool marked; /* a request was, since the last response: BECN is due */
	bool comm_est; /* the communication-established event was raised */

	/* Responses, resp_tx.c */
	bool ack_due; /* an ACK or NAK must follow the READ responses */
	bool reads_out; /* the port may have some, which none may overtake */
	bool dead; /* a responder error: to ERR when no response waits */
	bool last_wqe; /* with an SRQ: LAST_WQE was raised */
	bool broken; /* the producer is invalid: the ring is not read */
	u8 syndrome_due; /* AETH syndrome of the ACK or NAK that is due */
	u32 psn_due; /* its PSN */
	u64 dead_until; /* @dead: to ERR at that time at last, ns; else 0 */
	u32 rd_head; /* oldest resource with a response to send, free running */
	u32 rd_tail; /* resource to be used next, free running */
	struct ornic_rd_ring *rd; /* NULL: it has never accepted any */
	u16 rd_parts; /* bit n: ornic_rd_ring.part[n] is in use */
	struct ornic_rwqe rwqe; /* of the message that is being received */
	struct ornic_backoff backoff; /* of responses */
	u64 cnp_at; /* the next CNP for a request not before, ns */
	struct ornic_ahead ahead;
	struct ornic_fault fault;
	struct ornic_held
		*held; /* requests that wait for pages, in order; a peek */
	u32 nheld;
	struct ornic_frag frag[ORNIC_RESP_FRAGS]; /* payload being sent */
	u8 *bounce; /* as that of the SQ, with which it is allocated */
};

/*
 * struct ornic_qp - a queue pair. Attributes and state are written under both
 * locks and read under either.
 */
struct ornic_qp {
	/* Set by CREATE_QP */
	struct ornic_dev *dev;
	u64 id; /* random; unlike those of other QPs, ever, with its number */
	u64 epoch; /* unlike that of any other QP; changes at RESET, both locks */
	u32 qpn;
	u32 pdn; /* XRC targets: PD of the request's SRQ, rq.lock */
	u32 xrcdn; /* XRC targets: domain */
	u8 type; /* enum ornic_qp_type */
	u8 create_flags; /* ORNIC_QP_* */

	/* ATTACH_COMP_CNTR, both locks: bit n: @cntr[n] is not NULL */
	u8 cntr_ops;

	/*
	 * BIND_COUNTERS, both locks. @stats, dev->stats or those of @cset, is
	 * also read in RCU sections, where a late count does no harm.
	 */
	struct ornic_counters *stats;
	struct ornic_counter_set *cset; /* NULL = none */
	u32 csetn; /* number of @cset, 0 = none */
	struct ornic_comp_cntr *cntr[ORNIC_CNTR_OPS]; /* see @cntr_ops */
	struct ornic_pages pages; /* memory of rings and records */
	u32 mcast_groups; /* groups that it is a member of; mcast.lock */
	u32 nflows; /* flow rules that it has; flows.lock */
	bool closed; /* it gets no more of them; flows.lock */
	struct ornic_rss_table __rcu *rss; /* NULL: it has queues of its own */

	/* MODIFY_QP, both locks */
	u8 state; /* enum ornic_qp_state */
	u8 access; /* enum ornic_access that a peer may ask for */
	u8 path_mtu_enum; /* path MTU as enum ib_mtu */
	u8 timeout; /* ACK timeout, 4.096 us * 2^timeout; 0 = no timer */
	u8 retry_cnt; /* retries before RETRY_EXC_ERR */
	u8 rnr_retry; /* RNR retries; ORNIC_RETRY_INFINITE = no limit */
	u8 min_rnr_timer; /* code of the RNR timer that a peer is told */
	u8 max_rd_atomic; /* READs and atomics in flight as requester */
	u8 max_dest_rd_atomic; /* the same as responder */
	bool sqd_notify; /* raise an event when SQD is reached */
	bool has_ece; /* the hosts have agreed on @ece */
	bool standard; /* ... and selective repeat is not in it */
	u8 pkey_index; /* raw packet QPs: 0 */
	/*
	 * That entry, or ORNIC_PKEY_NONE; also changes with it. The GSI sends with
	 * any, and takes what matches any.
	 */
	u32 pkey;
	u32 mtu; /* path MTU in bytes */
	u32 dest_qpn; /* RC and UC: the peer */
	/* Loopback: QPN, type and version of RoCE of its requests, and of those to it */
	u32 loop_self;
	u32 loop_peer;
	u32 qkey; /* UD */
	u32 ece; /* RC and XRC: enum ornic_ece and a version */
	u64 peer; /* fingerprint of the peer, 0 in ORNIC_PEER_SEEN_TIME */
	ornic_atomic_t spare; /* bytes that it has taken, spare.c; sq or rq */
	struct ornic_path path; /* RC and UC: header template, from the AV */
	struct ornic_spray *spray; /* NULL: all packets go along @path */
	struct ornic_tm_qp
		*tm; /* the SRQ matches tags, the SQ is the device's; or NULL */
	struct ornic_srq *tag_srq; /* TAGS: whose list it changes, else NULL */
	bool requests_first; /* it is their turn to run first, run.c; a peek */

	struct ornic_cc cc;
	struct ornic_sq sq;
	struct ornic_rq rq;
	u64 host_qp[]; /* the host's own area, see struct ornic_engine_ops */
};

static inline void ornic_qp_stat_add(struct ornic_qp *qp, enum ornic_stat stat,
				     u64 n)
{
	ornic_counters_add(READ_ONCE(qp->stats), stat, n);
}

static inline void ornic_qp_stat_inc(struct ornic_qp *qp, enum ornic_stat stat)
{
	ornic_qp_stat_add(qp, stat, 1);
}

/* An operation is complete; sq.lock for send WQEs, rq.lock for the others. */
static inline void ornic_qp_count(struct ornic_qp *qp, enum ornic_cntr_op op,
				  enum ornic_cntr_entry entry)
{
	if (unlikely(qp->cntr_ops & 1u << op))
		ornic_comp_cntr_count(qp->cntr[op], entry);
}

/*
 * Bits of a slot of ornic_dev.peer_seen with the time. The rest is the
 * fingerprint of the peer.
 */
#define ORNIC_PEER_SEEN_TIME ((1ull << 24) - 1)

/*
 * When the peer of a reliable QP was alive last, as this QP or another has seen. Two
 * peers may share the slot: the last one has it.
 */
static inline u64 *ornic_qp_peer_seen(const struct ornic_qp *qp)
{
	return &qp->dev->peer_seen[qp->peer >> (64 - ORNIC_PEER_SEEN_LOG)];
}

/*
 * The peer of a reliable QP is alive: it has sent a response to what is outstanding, or the
 * request that was expected. Others may be of anybody who knows the addresses. The time is
 * in units of a millisecond or so, so that few packets write the word.
 */
static inline void ornic_qp_mark_peer_seen(const struct ornic_qp *qp, u64 now)
{
	u64 *peer_seen = ornic_qp_peer_seen(qp);
	u64 word = qp->peer | (now >> 20 & ORNIC_PEER_SEEN_TIME);

	if (READ_ONCE(*peer_seen) != word)
		WRITE_ONCE(*peer_seen, word);
}

static inline void ornic_trace(const struct ornic_qp *qp, enum ornic_trace what,
			       u32 code, u32 a, u32 b)
{
	const struct ornic_dev *dev = qp->dev;

	if (ornic_trace_on() && dev->ops->trace)
		dev->ops->trace(dev->host, what, qp->qpn, code, a, b);
}

/*
 * struct ornic_inreq - a request, or a piece of one, at the responder. Made
 * from a packet, or by loop.c from a WQE. @npsn: PSNs that it covers (loop.c
 * hands over more than one packet's worth at once). @src: payload. @srqn: what
 * an XRC request names, @srq: what resp.c finds there.
 */
struct ornic_inreq {
	u32 flags; /* enum ornic_op_flags */
	u32 psn;
	u32 npsn;
	bool solicited;
	bool ack_req;
	__be32 imm;
	u64 va;
	u32 rkey;
	u32 dma_len;
	u64 swap_add;
	u64 compare;
	u32 feth; /* FLUSH */
	bool cas; /* atomic: compare and swap */
	bool held; /* it was, fault.c */
	bool direct; /* on loopback: the rest of it may come by packets */
	bool more; /* READ: not the end of what the requester reads */
	bool ipv6;
	u8 sgid_index;
	u8 pkey_index;
	u32 src_qpn;
	u32 srqn;
	struct ornic_srq *srq;
	const void *ip; /* UD: IP header or GRH, as in struct ornic_rx */
	const struct ornic_iov *src;
	const struct ornic_pkt *pkt; /* NULL on loopback */
	const struct ornic_path *path; /* UD loopback: the sender's */
	u64 orig; /* out: loopback atomics */
};

/* It acknowledges, repeats and waits for receive WQEs: RC, and XRC like it. */
static inline bool ornic_qp_is_reliable(const struct ornic_qp *qp)
{
	return qp->type == ORNIC_QPT_RC || qp->type == ORNIC_QPT_XRC_INI ||
	       qp->type == ORNIC_QPT_XRC_TGT;
}

static inline bool ornic_qp_is_xrc(const struct ornic_qp *qp)
{
	return qp->type >= ORNIC_QPT_XRC_INI;
}

/* Responder resource of free-running @index. */
static inline struct ornic_rd *ornic_rd_slot(struct ornic_rq *rq, u32 index)
{
	return &rq->rd->slot[index % ORNIC_RD_SLOTS];
}

/* The QP may receive requests. */
static inline bool ornic_qp_can_receive(const struct ornic_qp *qp)
{
	return qp->state >= ORNIC_QPS_RTR && qp->state <= ORNIC_QPS_SQE;
}

/*
 * Does @qp take packets with @pkey (IBTA 9.6.1.1.1)? QP 1 does if any entry of the
 * table matches. sq or rq.
 */
static inline bool ornic_qp_takes_pkey(const struct ornic_qp *qp, u32 pkey)
{
	if (likely(ornic_pkeys_match(qp->pkey, pkey)))
		return true;
	return ornic_pkey_is_for_gsi(qp, pkey);
}

/* UD: the P_Key that @qp sends @sw with, or ORNIC_PKEY_NONE. sq. */
static inline u32 ornic_datagram_pkey(const struct ornic_qp *qp,
				      const struct ornic_swqe *sw)
{
	if (likely(!(qp->create_flags & ORNIC_QP_GSI)))
		return qp->pkey;
	return ornic_pkey_read(qp->dev, sw->pkey_index);
}

/* UD: index of the entry by which @qp takes packets with @pkey, which it does. */
static inline u8 ornic_qp_pkey_index(const struct ornic_qp *qp, u32 pkey)
{
	u32 index = qp->pkey_index;

	if (qp->create_flags & ORNIC_QP_GSI)
		index = ornic_pkey_find(qp->dev, pkey);
	return index < ORNIC_PKEY_TABLE_LEN ? (u8)index : 0;
}

/* Transport bits of what a connected QP sends. */
static inline u8 ornic_qp_transport(const struct ornic_qp *qp)
{
	if (ornic_qp_is_xrc(qp))
		return ORNIC_XRC;
	return qp->type == ORNIC_QPT_UC ? ORNIC_UC : ORNIC_RC;
}

/* The result of a request at the responder. */
enum ornic_verdict {
	ORNIC_RESP_DROP, /* no response */
	ORNIC_RESP_ACK,
	ORNIC_RESP_RNR,
	ORNIC_RESP_NAK_SEQ,
	ORNIC_RESP_NAK_INVALID,
	ORNIC_RESP_NAK_ACCESS,
	ORNIC_RESP_NAK_OP,
	ORNIC_RESP_DUPLICATE,
	ORNIC_RESP_DATA, /* READ accepted: resource made */
	ORNIC_RESP_ATOMIC, /* atomic executed: resource made */
	ORNIC_RESP_EMPTY, /* ATOMIC WRITE, FLUSH executed: resource made */
	/* Not executed now */
	ORNIC_RESP_AHEAD, /* something before it is missing */
	ORNIC_RESP_ABSENT, /* a page that it needs is, rq.fault */
};

/*
 * Completion counters of a QP that has some: a send WQE is complete, with @cqe as
 * its opcode (sq.lock); a receive WQE is, with a status; or a request of the peer
 * was decided upon, with enum ornic_op_flags (rq.lock). A READ is complete when
 * its data has left, so the last one counts only those that fail.
 */
noinline void ornic_comp_cntr_send(struct ornic_qp *qp, u8 cqe,
				   enum ornic_cntr_entry entry);
noinline void ornic_comp_cntr_recv(struct ornic_qp *qp, u8 status);
noinline void ornic_comp_cntr_request(struct ornic_qp *qp, u32 flags,
				      enum ornic_verdict verdict);

/*
 * CREATE_, DESTROY_, MODIFY_, QUERY_QP. May sleep. Return: enum ornic_status.
 *
 * ornic_qp_create(): ORNIC_LIMIT if there are no QPNs left, ORNIC_BUSY if there is
 * a GSI QP. ornic_qp_destroy(), in any state: on return the rings are unused,
 * and neither timer nor run comes. ornic_qp_modify(): ORNIC_BAD_STATE for a
 * transition that does not exist, or an attribute that waits for the SQ to drain;
 * ORNIC_BAD_PARAM for a mask or value that it does not allow; ORNIC_NO_RESOURCE
 * without memory for the first READs and atomics of the peer. Nothing has changed then.
 */
int ornic_qp_create(struct ornic_dev *dev,
		    const struct ornic_req_create_qp *req, u32 *qpn);
int ornic_qp_destroy(struct ornic_dev *dev, u32 qpn);
int ornic_qp_modify(struct ornic_dev *dev,
		    const struct ornic_req_modify_qp *req);
int ornic_qp_query(struct ornic_dev *dev, u32 qpn,
		   struct ornic_rsp_query_qp *rsp);

/*
 * INSPECT. Return: ORNIC_OK; ORNIC_NOT_FOUND; ORNIC_BAD_PARAM for a kind of object
 * that does not exist.
 */
int ornic_inspect(struct ornic_dev *dev, const union ornic_req *req,
		  union ornic_rsp *rsp);

#endif /* ORNIC_ENGINE_QP_H */
