/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a replay sees and changes inside of a QP. */
#ifndef ORNIC_SPIN_PEEK_H
#define ORNIC_SPIN_PEEK_H

#include "harness.h"

/* Positions, relative to the first PSN of the connection. */
struct ornic_peek {
	s32 acked;
	s32 psn;
	s32 max_psn;
	s32 epsn; /* of the peer */
	u64 deadline; /* of the requester, ns; 0 = none */
	u64 ack_at; /* the ACK timeout, ns */
	u64 nak_at; /* of the peer: when its NAK is due, ns; 0 = not */
};

/* The requester @a with its responder @b. */
struct ornic_peek ornic_peek_at(const struct ornic_th_qp *a,
				const struct ornic_th_qp *b);
/* @qp drops the requests that it keeps. */
void ornic_peek_forget(const struct ornic_th_qp *qp);
/* @qp waits for @ns before it sends a sequence NAK. */
void ornic_peek_set_late(const struct ornic_th_qp *qp, u64 ns);
/* The device has no room for requests that are ahead, or as much as ever. */
void ornic_peek_set_full(struct ornic_th *th, bool full);

#endif /* ORNIC_SPIN_PEEK_H */
