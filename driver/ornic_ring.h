/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_RING_H
#define ORNIC_RING_H

#include "ornic_pure.h"

/**
 * struct ornic_ring_limits - what the device allows
 * @log_max_wqe: log2 of the WQEs of one ring
 * @max_sge: SGEs per WQE
 * @max_inline: inline bytes per send WQE, and of segments beyond the usual ones
 */
struct ornic_ring_limits {
	u8 log_max_wqe;
	u8 max_sge;
	u16 max_inline;
};

/**
 * struct ornic_ring_caps - what the user asks for, and what it gets
 * @send_wr: send WQEs; 0: no send queue
 * @recv_wr: receive WQEs; 0: no receive queue
 * @send_sge: SGEs per send WQE
 * @recv_sge: SGEs per receive WQE
 * @inline_data: inline bytes per send WQE
 * @send_segs: bytes of segments that send WQEs have beyond the usual ones
 */
struct ornic_ring_caps {
	u32 send_wr;
	u32 recv_wr;
	u32 send_sge;
	u32 recv_sge;
	u32 inline_data;
	u32 send_segs;
};

/**
 * struct ornic_ring_geom - geometry of one ring
 * @exists: false: the queue does not exist, all else is 0
 * @log_depth: log2 of the number of WQEs
 * @log_stride: log2 of the bytes per WQE
 * @max_sge: SGEs that a WQE holds
 * @max_inline: inline bytes that a WQE holds (send only)
 * @offset: byte offset in the memory of the QP
 */
struct ornic_ring_geom {
	bool exists;
	u8 log_depth;
	u8 log_stride;
	u8 max_sge;
	u16 max_inline;
	u32 offset;
};

/**
 * struct ornic_qp_rings - geometry of the memory of a QP
 * @sq: send ring
 * @rq: receive ring
 * @size: bytes of record page and rings, a multiple of 4 KiB
 */
struct ornic_qp_rings {
	struct ornic_ring_geom sq;
	struct ornic_ring_geom rq;
	u64 size;
};

int ornic_qp_rings_init(struct ornic_qp_rings *rings,
			struct ornic_ring_caps *caps, bool atomics,
			const struct ornic_ring_limits *limits);
int ornic_srq_ring_init(struct ornic_ring_geom *ring,
			struct ornic_ring_caps *caps,
			const struct ornic_ring_limits *limits, u64 *size);
int ornic_cq_ring_init(u32 cqe, u8 log_max_cqe, u8 *log_depth, u64 *size);

#endif /* ORNIC_RING_H */
