// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Geometry of queue memory: strides, depths, offsets. Pure.
 *
 * Every size is a power of two, so that indices can run freely and a WQE
 * never crosses a page. The caps that create_qp returns are those of the ring,
 * rounding included.
 */
#include "ornic_ring.h"

#include <rdma/ornic-hw.h>

#define SQ_MIN_LOG_STRIDE 6
#define RQ_MIN_LOG_STRIDE 5
#define HDR_BYTES sizeof(struct ornic_sq_hdr)
#define SEG_BYTES sizeof(struct ornic_seg_remote)
#define ATOMIC_BYTES sizeof(struct ornic_seg_atomic)
#define SGE_BYTES sizeof(struct ornic_sge)
#define PAGE_BYTES 4096u

static u8 log2_up(u32 value)
{
	u8 log = 0;

	while (log < 31 && (1u << log) < value)
		log++;
	return log;
}

static u32 min_of(u32 a, u32 b)
{
	return a < b ? a : b;
}

static u32 max_of(u32 a, u32 b)
{
	return a > b ? a : b;
}

static u32 inline_limit(const struct ornic_ring_caps *caps,
			const struct ornic_ring_limits *limits)
{
	return limits->max_inline > caps->send_segs ?
		       limits->max_inline - caps->send_segs :
		       0;
}

static bool caps_fit(const struct ornic_ring_caps *caps,
		     const struct ornic_ring_limits *limits)
{
	u32 max_wqe = 1u << limits->log_max_wqe;

	return caps->send_wr <= max_wqe && caps->recv_wr <= max_wqe &&
	       caps->send_sge <= limits->max_sge &&
	       caps->recv_sge <= limits->max_sge &&
	       caps->inline_data <= inline_limit(caps, limits);
}

static u64 ring_bytes(const struct ornic_ring_geom *ring)
{
	u64 bytes;

	if (!ring->exists)
		return 0;
	bytes = 1ull << (ring->log_depth + ring->log_stride);
	return bytes > PAGE_BYTES ? bytes : PAGE_BYTES;
}

/*
 * A WQE holds the header, the segment of its opcode, then SGEs or inline
 * bytes. Only RC has atomics, whose SGEs follow a second segment.
 */
static void init_sq(struct ornic_ring_geom *sq, struct ornic_ring_caps *caps,
		    bool atomics, const struct ornic_ring_limits *limits)
{
	u32 before_inline = HDR_BYTES + SEG_BYTES + caps->send_segs;
	u32 before_sges = before_inline + (atomics ? ATOMIC_BYTES : 0);
	u32 need, stride;

	memset(sq, 0, sizeof(*sq));
	if (!caps->send_wr) {
		caps->send_sge = 0;
		caps->inline_data = 0;
		return;
	}

	need = max_of(before_sges + max_of(caps->send_sge, 1) * SGE_BYTES,
		      before_inline + caps->inline_data);
	sq->exists = true;
	sq->log_depth = log2_up(caps->send_wr);
	sq->log_stride = max_of(log2_up(need), SQ_MIN_LOG_STRIDE);
	stride = 1u << sq->log_stride;
	sq->max_sge =
		min_of((stride - before_sges) / SGE_BYTES, limits->max_sge);
	sq->max_inline =
		min_of(stride - before_inline, inline_limit(caps, limits));

	caps->send_wr = 1u << sq->log_depth;
	caps->send_sge = sq->max_sge;
	caps->inline_data = sq->max_inline;
}

static void init_rq(struct ornic_ring_geom *rq, struct ornic_ring_caps *caps,
		    const struct ornic_ring_limits *limits)
{
	u32 need, stride;

	memset(rq, 0, sizeof(*rq));
	if (!caps->recv_wr) {
		caps->recv_sge = 0;
		return;
	}

	need = HDR_BYTES + max_of(caps->recv_sge, 1) * SGE_BYTES;
	rq->exists = true;
	rq->log_depth = log2_up(caps->recv_wr);
	rq->log_stride = max_of(log2_up(need), RQ_MIN_LOG_STRIDE);
	stride = 1u << rq->log_stride;
	rq->max_sge = min_of((stride - HDR_BYTES) / SGE_BYTES, limits->max_sge);

	caps->recv_wr = 1u << rq->log_depth;
	caps->recv_sge = rq->max_sge;
}

/*
 * Lay out the memory of a QP. @caps is raised to what the rings hold. @atomics:
 * send WQEs may carry atomics (RC).
 */
int ornic_qp_rings_init(struct ornic_qp_rings *rings,
			struct ornic_ring_caps *caps, bool atomics,
			const struct ornic_ring_limits *limits)
{
	if (!caps_fit(caps, limits))
		return -EINVAL;

	init_sq(&rings->sq, caps, atomics, limits);
	init_rq(&rings->rq, caps, limits);
	rings->sq.offset = ORNIC_RING_OFFSET;
	rings->rq.offset = ORNIC_RING_OFFSET + ring_bytes(&rings->sq);
	rings->size = rings->rq.offset + ring_bytes(&rings->rq);
	return 0;
}

ORNIC_FOR_KUNIT(ornic_qp_rings_init);

/* Lay out the memory of an SRQ. @caps is raised to what it holds. */
int ornic_srq_ring_init(struct ornic_ring_geom *ring,
			struct ornic_ring_caps *caps,
			const struct ornic_ring_limits *limits, u64 *size)
{
	if (!caps->recv_wr || !caps_fit(caps, limits))
		return -EINVAL;

	init_rq(ring, caps, limits);
	ring->offset = ORNIC_RING_OFFSET;
	*size = ring->offset + ring_bytes(ring);
	return 0;
}

ORNIC_FOR_KUNIT(ornic_srq_ring_init);

/* Lay out the memory of a CQ that holds at least @cqe completions. */
int ornic_cq_ring_init(u32 cqe, u8 log_max_cqe, u8 *log_depth, u64 *size)
{
	u64 bytes;

	if (!cqe || cqe > 1u << log_max_cqe)
		return -EINVAL;

	*log_depth = log2_up(cqe);
	bytes = (u64)sizeof(struct ornic_cqe) << *log_depth;
	*size = ORNIC_RING_OFFSET + (bytes > PAGE_BYTES ? bytes : PAGE_BYTES);
	return 0;
}

ORNIC_FOR_KUNIT(ornic_cq_ring_init);
