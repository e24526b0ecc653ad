/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_QP_H
#define ORNIC_QP_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "ornic_queue.h"
#include "ornic_ring.h"
#include "ornic_wq.h"

struct ornic_event_target;
struct ornic_ib_dev;
struct ornic_ib_ucontext;
struct ornic_qp_faults;

struct ornic_ib_qp {
	struct ib_qp ibqp;

	/* Written by create_qp */
	struct ornic_qp_rings rings; /* geometry of its memory */
	struct ib_qp_cap caps; /* as returned */
	enum ib_sig_type sig_type;
	u32 send_cqn; /* 0: none */
	u32 recv_cqn;
	struct ornic_queue queue; /* record page and rings */
	struct ornic_event_target *target;
	struct ornic_qp_faults *faults; /* NULL: the device has no ODP */

	/* NULL for a kernel user and an XRC target */
	struct ornic_ib_ucontext *context;

	/* Written by modify_qp and query_qp */
	struct mutex lock; /* orders the two, protects what follows */
	enum ib_qp_state state; /* the device may have gone to SQE or ERR */
	u32 dest_qpn;

	/* Kernel user: the host's ends of the queues, else NULL */
	struct ornic_wq *sq;
	struct ornic_wq *rq;
};

static inline struct ornic_ib_qp *to_oqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct ornic_ib_qp, ibqp);
}

/* ib_core shares an XRC target among processes: it belongs to none of them. */
static inline bool ornic_ib_qp_is_xrc_target(const struct ornic_ib_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_XRC_TGT;
}

static inline bool ornic_ib_qp_is_kernel(const struct ornic_ib_qp *qp)
{
	return !qp->ibqp.uobject && !ornic_ib_qp_is_xrc_target(qp);
}

/*
 * IB_QPT_DRIVER: what the provider posts changes of the tag list of an SRQ to. It is
 * in RTS at once, and has no attributes.
 */
static inline bool ornic_ib_qp_is_tags(const struct ornic_ib_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_DRIVER;
}

/* To the device QP 1 is a UD QP. */
static inline bool ornic_ib_qp_is_datagram(const struct ornic_ib_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_UD || qp->ibqp.qp_type == IB_QPT_GSI;
}

void ornic_ib_qp_reset(struct ornic_ib_qp *qp);
void ornic_ib_qp_flush(struct ornic_ib_qp *qp);
void ornic_ib_flush_users(struct ornic_ib_dev *dev);

#endif /* ORNIC_QP_H */
