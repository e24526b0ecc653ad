/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Page faults of QPs, fault.c: a queue needs a page of an ODP MR that is absent. See
 * proto.h for "sq", "rq" and "not rq".
 */
#ifndef ORNIC_ENGINE_FAULT_H
#define ORNIC_ENGINE_FAULT_H

#include "odp.h"
#include "qp.h"

/* How the requester waits for pages of its peer on the same host, ns. */
#define ORNIC_PEER_PAGES_NS 1000000ull

/* What a queue that needs an absent page does. */
enum ornic_fault_result {
	ORNIC_FAULT_WAITS, /* the QP runs again when the host has answered */
	ORNIC_FAULT_FAILS, /* the host has no such page */
};

/*
 * sq: a page that @sw, at its next packet, needs is absent. WAITS: sq.wait is set. RCU
 * section.
 */
noinline enum ornic_fault_result ornic_fault_sq(struct ornic_ctx *ctx,
						struct ornic_qp *qp,
						const struct ornic_swqe *sw);

/*
 * rq: a page of a range of the remote key @rkey, which the response of the READ whose
 * first PSN is @psn is made of, is absent. The key can be read, or could when the page
 * was missed. RCU section.
 */
noinline enum ornic_fault_result ornic_fault_read(struct ornic_ctx *ctx,
						  struct ornic_qp *qp, u32 psn,
						  u32 rkey,
						  struct ornic_range range);

/*
 * The same for @access to what the request @r names, or what is left of the WRITE that
 * it is of; and for the memory of rq.rwqe that the payload of @r goes to.
 */
noinline enum ornic_fault_result
ornic_fault_request(struct ornic_ctx *ctx, struct ornic_qp *qp,
		    const struct ornic_inreq *r, u8 access);
noinline enum ornic_fault_result ornic_fault_recv(struct ornic_ctx *ctx,
						  struct ornic_qp *qp,
						  const struct ornic_inreq *r);

/* sq or rq, of which @f is: what the queue waits for is over; an answer is too late. */
static inline void ornic_fault_forget(struct ornic_fault *f)
{
	f->state = ORNIC_FAULT_NONE;
}

/*
 * sq or rq: the queue went on, by a READ response if @read. If the host had no page for
 * that, it was not needed any more; the next need has to be asked for.
 */
static inline void ornic_fault_passed(struct ornic_fault *f, bool read)
{
	if (unlikely(f->state == ORNIC_FAULT_FAILED) && f->read == read)
		f->state = ORNIC_FAULT_NONE;
}

/* sq or rq: the host has it. */
static inline bool ornic_fault_is_out(const struct ornic_fault *f)
{
	return f->state == ORNIC_FAULT_RAISED || f->state == ORNIC_FAULT_TAKEN;
}

/* rq: a packet of a READ response was sent. What waited for that fault goes on. */
noinline void ornic_fault_read_passed(struct ornic_qp *qp);
/*
 * rq: the READ whose first PSN is @psn is not responded to any more. Its fault, if it has
 * one, is forgotten, also while the host serves it; what waited for that goes on.
 */
noinline void ornic_fault_read_dropped(struct ornic_qp *qp, u32 psn);

/*
 * rq: the request @r cannot be executed before the fault of the queue has ended: keep
 * a copy. @pkt is NULL on loopback. What the caller does now: ORNIC_RESP_DROP, or
 * ORNIC_RESP_RNR if there is no memory. Not for connected QPs on loopback: they wait.
 */
noinline enum ornic_verdict ornic_hold_request(const struct ornic_ctx *ctx,
					       struct ornic_qp *qp,
					       const struct ornic_inreq *r);

/*
 * rq, and rq.held: execute what is held, if its fault has ended; or tell the peer, if
 * that takes long, or drop it where nobody is told. Responses are scheduled, the caller
 * calls ornic_resp_run(). True if the QP has to run again.
 */
noinline bool ornic_hold_run(struct ornic_ctx *ctx, struct ornic_qp *qp);

/* How long @qp holds a request before the peer is told, or it is dropped. */
u64 ornic_hold_ns(const struct ornic_qp *qp);

/* rq, or nobody else has the QP: hold nothing any more. */
noinline void ornic_hold_forget(struct ornic_qp *qp);

/* TAKE_FAULT and END_FAULT. Return: enum ornic_status. */
int ornic_fault_take(struct ornic_dev *dev, u32 qpn,
		     enum ornic_fault_queue queue,
		     struct ornic_rsp_take_fault *rsp);
int ornic_fault_end(struct ornic_dev *dev,
		    const struct ornic_req_end_fault *req);

#endif /* ORNIC_ENGINE_FAULT_H */
