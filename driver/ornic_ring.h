/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ORNIC_RING_H
#define ORNIC_RING_H

#include "ornic_pure.h"

/* Limits of the device. */
struct ornic_ring_limits {
	u8 log_max_wqe; /* log2 of the WQEs of one ring */
	u8 max_sge; /* SGEs per WQE */
	/* Inline bytes per send WQE, and of segments beyond the usual ones */
	u16 max_inline;
};

/* In: requested by the user; out: of the rings. */
struct ornic_ring_caps {
	u32 send_wr; /* send WQEs; 0: no send queue */
	u32 recv_wr; /* receive WQEs; 0: no receive queue */
	u32 send_sge; /* SGEs per send WQE */
	u32 recv_sge; /* SGEs per receive WQE */
	u32 inline_data; /* inline bytes per send WQE */
	/* Bytes of segments that send WQEs have beyond the usual ones */
	u32 send_segs;
};

/* Geometry of one ring. */
struct ornic_ring_geom {
	bool exists; /* false: the queue does not exist, all else is 0 */
	u8 log_depth; /* log2 of the number of WQEs */
	u8 log_stride; /* log2 of the bytes per WQE */
	u8 max_sge; /* SGEs that a WQE holds */
	u16 max_inline; /* inline bytes that a WQE holds (send only) */
	u32 offset; /* byte offset in the memory of the QP */
};

/* Geometry of the memory of a QP. */
struct ornic_qp_rings {
	struct ornic_ring_geom sq; /* send ring */
	struct ornic_ring_geom rq; /* receive ring */
	u64 size; /* bytes of record page and rings, a multiple of 4 KiB */
};

int ornic_qp_rings_init(struct ornic_qp_rings *rings,
			struct ornic_ring_caps *caps, bool atomics,
			const struct ornic_ring_limits *limits);
int ornic_srq_ring_init(struct ornic_ring_geom *ring,
			struct ornic_ring_caps *caps,
			const struct ornic_ring_limits *limits, u64 *size);
int ornic_cq_ring_init(u32 cqe, u8 log_max_cqe, u8 *log_depth, u64 *size);

#endif /* ORNIC_RING_H */
