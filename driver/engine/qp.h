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

#include "cq.h"
#include "dev.h"
#include "mem.h"
#include "psn.h"
#include "srq.h"
#include "wire.h"

/* Pieces that the payload of a request may have: an SGE is in two pages. */
#define ORNIC_TX_FRAGS (2 * ORNIC_MAX_SGE)
/* Of a READ response: its payload lies in two pages of the key at most. */
#define ORNIC_RESP_FRAGS 2

/**
 * struct ornic_swqe - the device's copy of a send WQE and its progress
 * @wr_id: given back in the CQE
 * @info: what @opcode is
 * @raddr: remote address of WRITE, READ and atomics
 * @peer_epoch: READ on loopback, once @done: &ornic_qp.epoch of the QP that
 *	accepted it
 * @swap_add: CAS: new value; FAA: addend
 * @compare: CAS
 * @index: free-running number of the WQE
 * @kind: ORNIC_OPF_SEND, WRITE, READ, ATOMIC, ATOMIC_WRITE, FLUSH or LOCAL
 * @length: bytes of the message
 * @npkts: PSNs that it takes (READ: response packets)
 * @first_psn: valid once @started
 * @pkts: PSNs sent (READ: asked for), or executed on loopback
 * @rkey: of @raddr; BIND_MW, REG_MR: the new key of the window or MR
 * @reg_list: REG_MR: DMA address of the page list
 * @reg_npages: REG_MR: pages that it names
 * @reg_shift: REG_MR: log2 of their bytes
 * @bind_length: BIND_MW, REG_MR: bytes
 * @bind_lkey: BIND_MW: of the MR
 * @bind_access: BIND_MW, REG_MR: enum ornic_access
 * @flush_length: FLUSH: bytes
 * @feth: FLUSH: what goes into FETH
 * @imm: immediate data or key to invalidate, as it goes onto the wire
 * @srqn: XRC: SRQ of the peer that the message is for
 * @ah: UD: address handle, if there is no @av
 * @av: UD: the address vector of the WQE itself, at the end of its slot of
 *	sq.store; NULL if it has none
 * @dest_qpn: UD: who receives it
 * @dest_qkey: UD: its Q_Key
 * @opcode: enum ornic_wqe_opcode
 * @flags: enum ornic_wqe_flags
 * @nsge: entries of @sge
 * @status: what is wrong with the WQE itself, or ORNIC_CQE_SUCCESS
 * @verr: enum ornic_vendor_err that goes with @status
 * @started: it has PSNs
 * @done: the response of a READ or atomic has come; LOCAL: executed;
 *	multicast: it is on the wire
 * @mcast_at: multicast: members of this device below this slot have it
 * @sge: SGEs in host order, in the WQE's slot of sq.store
 * @inline_data: the bytes of an inline WQE, in that slot instead
 */
struct ornic_swqe {
	u64 wr_id;
	const struct ornic_wqe_info *info;
	u64 raddr;
	union {
		u64 swap_add;
		u64 reg_list;
		u64 peer_epoch;
	};
	union {
		u64 compare;
		u64 bind_length;
		struct {
			u32 flush_length;
			u32 feth;
		};
	};
	union {
		u32 bind_lkey;
		u32 reg_npages;
	};
	u8 bind_access;
	u8 reg_shift;
	u32 index;
	u32 kind;
	u32 length;
	u32 npkts;
	u32 first_psn;
	u32 pkts;
	u32 rkey;
	__be32 imm;
	u32 srqn;
	u32 ah;
	u32 dest_qpn;
	u32 dest_qkey;
	u8 opcode;
	u8 flags;
	u8 nsge;
	u8 status;
	u8 verr;
	bool started;
	bool done;
	u32 mcast_at;
	union {
		struct ornic_lsge *sge;
		u8 *inline_data;
	};
	struct ornic_av *av;
};

/**
 * struct ornic_backoff - the port refused a frame
 * @until: not to be tried again before, ns; 0 = now
 * @tries: refusals since the last frame that it took
 */
struct ornic_backoff {
	u64 until;
	u8 tries;
};

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

enum ornic_wait {
	ORNIC_WAIT_NONE,
	ORNIC_WAIT_RNR, /* until @deadline, IBTA 9.7.5.2.8 */
};

/**
 * struct ornic_sq - send queue, requester and completer
 * @lock: protects all of it
 * @ring: the WQEs, the user's memory
 * @record: doorbell record, the user's memory
 * @cq: where its WQEs complete
 * @swqe: copies of the WQEs, @depth of them
 * @store: SGEs and inline data of the copies, @store_stride bytes each
 * @store_stride: bytes
 * @depth: WQEs, a power of two; 0 = no SQ
 * @fetched: WQEs copied from the ring; @fetched - @tail <= @depth
 * @seen: the producer at the last run, while the device polls
 * @cur: WQE that is being sent
 * @tail: oldest WQE that is not complete
 * @psn: next PSN to send
 * @acked: oldest PSN that is not acknowledged
 * @max_psn: one past the highest PSN ever sent (for retransmissions)
 * @rd_out: READs and atomics sent and not answered
 * @unacked_pkts: packets since the last AckReq
 * @window: PSNs that may be out, shrinks when the peer does not keep up
 * @rtt_psn: one past the PSN whose answer is timed
 * @rtt_start: when it was sent, ns; 0 = none is timed
 * @rtt: the last answer that was timed took so long, ns; at most a quarter of
 *	the ACK timeout; 0 = none was timed
 * @recover: one past the highest PSN ever sent when packets were sent again
 * @recover_until: a round trip after that, ns
 * @peer_seen: ornic_qp_peer_seen() as the timer was set
 * @grace_used: timeouts since the last progress that cost no retry
 * @congested: the last answer that was timed came late: the window does not grow
 * @max_sge: SGEs that a WQE may have
 * @max_inline: bytes that a WQE may carry
 * @retry_left: what is left of the retry counter
 * @rnr_left: what is left of the RNR retry counter
 * @rnr_waits: RNR waits since the last progress, to ORNIC_RNR_STEPS_LOG + 1
 * @wait: what sending waits for, enum ornic_wait
 * @draining: SQD asked for and not reached
 * @gap: went back for a missing response; ignore more gaps until progress
 * @nak_held: at @deadline, if nothing was acknowledged by then, a sequence NAK
 *	for PSNs before @recover was true
 * @probe: the next packet asks for an ACK whatever follows
 * @broken: the record holds nonsense: the ring is not looked at any more
 * @polled: the host looks at it without being kicked
 * @deadline: when to act, ns; 0 = never
 * @timer_at: deadline that the host was given, ns; 0 = none
 * @backoff: of requests
 * @frag: pieces of the payload that is being sent
 */
struct ornic_sq {
	ornic_lock_t lock;
	struct ornic_ring ring;
	struct ornic_wq_record *record;
	struct ornic_cq *cq;
	struct ornic_swqe *swqe;
	u8 *store;
	u32 store_stride;
	u32 depth;
	u32 fetched;
	u32 seen;
	u32 cur;
	u32 tail;
	u32 psn;
	u32 acked;
	u32 max_psn;
	u32 rd_out;
	u32 unacked_pkts;
	u32 window;
	u32 rtt_psn;
	u64 rtt_start;
	u64 rtt;
	u64 recover_until;
	u32 recover;
	u64 peer_seen;
	u8 grace_used;
	bool congested;
	u8 max_sge;
	u16 max_inline;
	u8 retry_left;
	u8 rnr_left;
	u8 rnr_waits;
	u8 wait;
	bool draining;
	bool gap;
	bool nak_held;
	bool probe;
	bool broken;
	bool polled;
	u64 deadline;
	u64 timer_at;
	struct ornic_backoff backoff;
	struct ornic_frag frag[ORNIC_TX_FRAGS];
};

/**
 * struct ornic_rwqe - the receive WQE of the message that is being received
 * @wr_id: given back in the CQE
 * @index: free-running number of the WQE
 * @length: sum of its SGEs, bytes
 * @nsge: entries of @sge
 * @status: what is wrong with the WQE itself, or ORNIC_CQE_SUCCESS
 * @verr: enum ornic_vendor_err that goes with @status
 * @valid: one has been taken and is not complete
 * @pdn: PD in which its SGEs are looked up
 * @sge: SGEs in host order
 */
struct ornic_rwqe {
	u64 wr_id;
	u32 index;
	u32 length;
	u32 pdn;
	u8 nsge;
	u8 status;
	u8 verr;
	bool valid;
	struct ornic_lsge sge[ORNIC_MAX_SGE];
};

/**
 * struct ornic_rd - responder resource: a READ or atomic that was accepted
 * @valid: in use
 * @busy: response not sent completely
 * @replayed: busy with a duplicate
 * @atomic: an atomic, else a READ
 * @pdn: PD of @rkey
 * @empty: an ATOMIC WRITE or FLUSH, answered like a READ of no bytes
 * @first_psn: first PSN of the response as first asked for
 * @npkts: PSNs of the response as first asked for
 * @psn0: first PSN of the newest request for it
 * @pkts: packets of that request
 * @next: next packet of it to be sent, from 0
 * @rkey: READ: the key in the newest request
 * @length: READ: bytes that the newest request asks for
 * @msn: of the response
 * @va: READ: address in the newest request
 * @orig: atomic: what the memory held before
 */
struct ornic_rd {
	bool valid;
	bool busy;
	bool replayed;
	bool atomic;
	u32 pdn;
	bool empty;
	u32 first_psn;
	u32 npkts;
	u32 psn0;
	u32 pkts;
	u32 next;
	u32 rkey;
	u32 length;
	u32 msn;
	u64 va;
	u64 orig;
};

/**
 * struct ornic_rq - receive queue and responder
 * @lock: protects all of it
 * @ring: the WQEs, the user's memory
 * @record: doorbell record, the user's memory
 * @cq: where its WQEs complete; NULL for XRC
 * @srq: where the WQEs come from, NULL = from @ring. XRC targets: what the
 *	message that is being received named, NULL if that is gone; not counted,
 *	DESTROY_SRQ clears it.
 * @depth: WQEs, a power of two; 0 = no RQ
 * @fetched: receive WQEs taken from the ring
 * @epsn: expected PSN
 * @msn: message sequence number, IBTA 9.7.7.1
 * @msg: ORNIC_OPF_SEND or WRITE while in the middle of a message, else 0
 * @received: bytes of the message so far
 * @va: RETH of the WRITE that is being received
 * @rkey: RETH, likewise
 * @dma_len: RETH, likewise; bytes
 * @max_sge: SGEs that a WQE may have
 * @nak_sent: one sequence NAK per gap, IBTA C9-116
 * @comm_est: the communication-established event was raised
 * @ack_due: an ACK or NAK must follow the READ responses
 * @reads_out: the port may still have some of these, which none may overtake
 * @dead: a responder error: the QP must go to ERR when nothing waits to be sent
 * @dead_until: or at that time, ns; 0 = not dead
 * @last_wqe: with an SRQ: LAST_WQE was raised
 * @broken: the record holds nonsense: the ring is not looked at any more
 * @syndrome_due: AETH syndrome of the response that is due
 * @psn_due: PSN of the response that is due
 * @rd_head: oldest resource with a response to send, free running
 * @rd_tail: resource to be used next, free running
 * @rd: responder resources, a ring of max_dest_rd_atomic
 * @rwqe: receive WQE of the message that is being received
 * @backoff: of responses
 * @frag: pieces of the payload that is being sent
 */
struct ornic_rq {
	ornic_lock_t lock;
	struct ornic_ring ring;
	struct ornic_wq_record *record;
	struct ornic_cq *cq;
	struct ornic_srq *srq;
	u32 depth;
	u32 fetched;
	u32 epsn;
	u32 msn;
	u32 msg;
	u32 received;
	u64 va;
	u32 rkey;
	u32 dma_len;
	u8 max_sge;
	bool nak_sent;
	bool comm_est;
	bool ack_due;
	bool reads_out;
	bool dead;
	bool last_wqe;
	bool broken;
	u8 syndrome_due;
	u32 psn_due;
	u64 dead_until;
	u32 rd_head;
	u32 rd_tail;
	struct ornic_rd rd[ORNIC_MAX_RD_ATOMIC];
	struct ornic_rwqe rwqe;
	struct ornic_backoff backoff;
	struct ornic_frag frag[ORNIC_RESP_FRAGS];
};

/**
 * struct ornic_qp - a queue pair
 * @dev: its device
 * @qpn: its number
 * @id: random; tells it from other QPs that have had, or will have, its number
 * @epoch: differs from that of any other QP, and changes at RESET; written
 *	under both locks
 * @pdn: its PD; XRC targets: that of the SRQ of the request at hand, rq.lock
 * @xrcdn: XRC targets: their domain
 * @type: enum ornic_qp_type
 * @create_flags: ORNIC_QP_*
 * @stats: where it counts: dev->stats or those of @cset; written under both
 *	locks, read under either, or in an RCU section where a count that comes
 *	late does no harm
 * @cset: its counter set, NULL = none
 * @csetn: the number of that, 0 = none
 * @pages: memory of rings and records
 * @state: enum ornic_qp_state; written under both locks
 * @mcast_groups: groups that it is a member of; under mcast.lock
 * @access: enum ornic_access that a peer may ask for
 * @path_mtu_enum: path MTU as enum ib_mtu
 * @timeout: ACK timeout, 4.096 us * 2^timeout; 0 = no timer
 * @retry_cnt: retries before RETRY_EXC_ERR
 * @rnr_retry: RNR retries; ORNIC_RETRY_INFINITE = no limit
 * @min_rnr_timer: code of the RNR timer that a peer is told
 * @max_rd_atomic: READs and atomics in flight as requester
 * @max_dest_rd_atomic: the same as responder
 * @sqd_notify: raise an event when SQD is reached
 * @mtu: path MTU in bytes
 * @dest_qpn: RC and UC: the peer
 * @qkey: UD
 * @path: RC and UC: header template, set with the AV
 * @peer: fingerprint of its destination, 0 in the bits of ORNIC_PEER_SEEN_TIME
 * @sq: send side
 * @rq: receive side
 * @host_qp: the host's own area, see struct ornic_engine_ops
 */
struct ornic_qp {
	struct ornic_dev *dev;
	u64 id;
	u64 epoch;
	u32 qpn;
	u32 pdn;
	u32 xrcdn;
	u8 type;
	u8 create_flags;
	struct ornic_counters *stats;
	struct ornic_counter_set *cset;
	u32 csetn;
	struct ornic_pages pages;
	u32 mcast_groups;

	u8 state;
	u8 access;
	u8 path_mtu_enum;
	u8 timeout;
	u8 retry_cnt;
	u8 rnr_retry;
	u8 min_rnr_timer;
	u8 max_rd_atomic;
	u8 max_dest_rd_atomic;
	bool sqd_notify;
	u32 mtu;
	u32 dest_qpn;
	u32 qkey;
	u64 peer;
	struct ornic_path path;

	struct ornic_sq sq;
	struct ornic_rq rq;
	u64 host_qp[];
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

/*
 * Bits of a slot of ornic_dev.peer_seen with the time. The rest is the
 * fingerprint of the peer.
 */
#define ORNIC_PEER_SEEN_TIME ((1ull << 24) - 1)

/*
 * When a packet came from the peer of a connected QP, for this QP or another.
 * Two peers may share the slot: the last one has it.
 */
static inline u64 *ornic_qp_peer_seen(const struct ornic_qp *qp)
{
	return &qp->dev->peer_seen[qp->peer >> (64 - ORNIC_PEER_SEEN_LOG)];
}

/*
 * A packet came from the peer of a connected QP. The time is in units of a
 * millisecond or so, so that few packets write the word.
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
	bool ipv6;
	u8 sgid_index;
	u32 src_qpn;
	u32 srqn;
	struct ornic_srq *srq;
	const void *ip; /* UD: IP header, for the GRH */
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
};

/*
 * CREATE_, DESTROY_, MODIFY_, QUERY_QP. May sleep. Return: enum ornic_status.
 *
 * ornic_qp_create(): ORNIC_LIMIT if there are no QPNs left, ORNIC_BUSY if there is
 * a GSI QP. ornic_qp_destroy(), in any state: on return the rings are unused,
 * and neither timer nor run comes. ornic_qp_modify(): ORNIC_BAD_STATE for a
 * transition that does not exist, or an attribute that waits for the SQ to drain;
 * ORNIC_BAD_PARAM for a mask or value that it does not allow.
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
