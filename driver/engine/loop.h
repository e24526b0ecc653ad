/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From memory to memory: messages that make no packets. "sq" is as in proto.h.
 */
#ifndef ORNIC_ENGINE_LOOP_H
#define ORNIC_ENGINE_LOOP_H

#include "proto.h"

/*
 * sq: RC, UC: execute a piece of @sw on the same device or a peer engine. RCU
 * section.
 */
__flatten noinline enum ornic_step ornic_loop_step(struct ornic_ctx *ctx,
						   struct ornic_qp *qp,
						   struct ornic_swqe *sw);

/* sq: deliver the datagram @sw to a QP of the same device or a peer engine. */
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

/*
 * sq: RC, XRC: execute a piece of @sw at the QP that packets of @qp would reach. WIRE:
 * nothing was done, and packets have to go. RCU section.
 */
noinline enum ornic_step ornic_direct_step(struct ornic_ctx *ctx,
					   struct ornic_qp *qp,
					   struct ornic_swqe *sw);

/*
 * Will ornic_loop_step() take @sw, of a QP on loopback, by the fast path if it can? It
 * looks at the sink of a READ then, which begin_wqe() leaves to it.
 */
bool ornic_loop_is_short(const struct ornic_qp *qp,
			 const struct ornic_swqe *sw);

#endif /* ORNIC_ENGINE_LOOP_H */
