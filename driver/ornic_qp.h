/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_QP_H
#define ORNIC_QP_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "ornic_queue.h"
#include "ornic_ring.h"
#include "ornic_wq.h"

struct ornic_kick_set;
struct ornic_event_target;
struct ornic_ib_ucontext;

/**
 * struct ornic_ib_qp - a queue pair; its number is @ibqp.qp_num
 * @ibqp: the QP as ib_core knows it
 * @lock: orders modify_qp and query_qp of this QP; protects @state, @dest_qpn
 * @state: as of the last command; the device may have gone to SQE or ERR since
 * @dest_qpn: QP of the peer
 * @send_cqn: CQ of the SQ, 0: none
 * @recv_cqn: CQ of the RQ, 0: none
 * @rings: geometry of its memory
 * @caps: what create_qp returned
 * @sig_type: which send WQEs are signalled
 * @queue: record page and rings
 * @target: takes its events
 * @context: of its user; NULL for a kernel user and an XRC target
 * @kicks: of the context that may kick it; NULL for a kernel user
 * @sq: kernel user: the host's end of the send queue; else NULL
 * @rq: kernel user: the host's end of the receive queue; else NULL
 */
struct ornic_ib_qp {
	struct ib_qp ibqp;
	struct mutex lock; /* modify and query */
	enum ib_qp_state state;
	u32 dest_qpn;
	u32 send_cqn;
	u32 recv_cqn;
	struct ornic_qp_rings rings;
	struct ib_qp_cap caps;
	enum ib_sig_type sig_type;
	struct ornic_queue queue;
	struct ornic_event_target *target;
	struct ornic_ib_ucontext *context;
	struct ornic_kick_set *kicks;
	struct ornic_wq *sq;
	struct ornic_wq *rq;
};

static inline struct ornic_ib_qp *to_oqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct ornic_ib_qp, ibqp);
}

/* ib_core shares an XRC target among processes: it is nobody's object. */
static inline bool ornic_ib_qp_is_xrc_target(const struct ornic_ib_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_XRC_TGT;
}

static inline bool ornic_ib_qp_is_kernel(const struct ornic_ib_qp *qp)
{
	return !qp->ibqp.uobject && !ornic_ib_qp_is_xrc_target(qp);
}

/* To the device QP 1 is a UD QP. */
static inline bool ornic_ib_qp_is_datagram(const struct ornic_ib_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_UD || qp->ibqp.qp_type == IB_QPT_GSI;
}

void ornic_ib_qp_begin_anew(struct ornic_ib_qp *qp);

#endif /* ORNIC_QP_H */
