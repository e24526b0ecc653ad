// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The bed of the protocol suites. */
#include "pair_fixture.h"

static int make_cqs(struct ornic_bed *bed)
{
	int status = ornic_rig_cq_init(bed->pair.a, &bed->ascq, 8);

	if (!status)
		status = ornic_rig_cq_init(bed->pair.a, &bed->arcq, 8);
	if (!status)
		status = ornic_rig_cq_init(bed->pair.b, &bed->bscq, 8);
	if (!status)
		status = ornic_rig_cq_init(bed->pair.b, &bed->brcq, 8);
	return status;
}

static int make_mrs(struct ornic_bed *bed)
{
	int status = ornic_rig_mr_init(bed->pair.a, &bed->am,
				       ORNIC_BED_MR_BYTES, 100, 1,
				       ORNIC_ACCESS_MASK);

	if (status)
		return status;
	return ornic_rig_mr_init(bed->pair.b, &bed->bm, ORNIC_BED_MR_BYTES,
				 2000, 1, ORNIC_ACCESS_MASK);
}

/**
 * ornic_bed_open - a pair with CQs, MRs and QPs in RESET
 * @bed: out
 * @kind: wire, loopback, or a alone
 * @init: shape of the QPs
 *
 * Return: 0, or an enum ornic_status.
 */
int ornic_bed_open(struct ornic_bed *bed, enum ornic_bed_kind kind,
		   const struct ornic_rig_qpinit *init)
{
	int status;

	memset(bed, 0, sizeof(*bed));
	if (ornic_rig_pair_init(&bed->pair, 42,
				kind == ORNIC_BED_LOOP ||
					kind == ORNIC_BED_LONE))
		return ORNIC_NO_RESOURCE;
	if (kind == ORNIC_BED_NEAR) {
		bed->pair.a->near = bed->pair.b;
		bed->pair.b->near = bed->pair.a;
	}
	status = make_cqs(bed);
	if (!status)
		status = make_mrs(bed);
	if (!status)
		status = ornic_rig_qp_init(bed->pair.a, &bed->a, init,
					   &bed->ascq, &bed->arcq);
	if (!status && kind != ORNIC_BED_LONE)
		status = ornic_rig_qp_init(bed->pair.b, &bed->b, init,
					   &bed->bscq, &bed->brcq);
	return status;
}

/**
 * ornic_bed_connect - bring the QPs to RTS
 * @bed: opened
 *
 * Return: enum ornic_status.
 */
int ornic_bed_connect(struct ornic_bed *bed)
{
	return ornic_rig_connect(&bed->a, bed->b.rig ? &bed->b : NULL,
				 ORNIC_RIG_IPV4);
}

/**
 * ornic_bed_close - destroy all of it
 * @bed: opened, perhaps in part
 *
 * Return: pieces of memory that were written beside; 0 is right.
 */
u32 ornic_bed_close(struct ornic_bed *bed)
{
	if (bed->frame)
		ornic_rig_put(bed->pair.a, bed->frame);
	bed->frame = NULL;
	return ornic_rig_pair_fini(&bed->pair);
}

/**
 * ornic_bed_fill - put a pattern into an MR
 * @mr: the MR
 * @off: where
 * @len: bytes
 * @seed: number of the pattern
 */
void ornic_bed_fill(const struct ornic_rig_mr *mr, u32 off, u32 len, u32 seed)
{
	u32 i = 0;

	while (i < len) {
		u32 run, k;
		u8 *p = ornic_rig_mr_at(mr, off + i, &run);

		run = min_t(u32, run, len - i);
		for (k = 0; k < run; k++)
			p[k] = ornic_bed_byte(seed, i + k);
		i += run;
	}
}

/**
 * ornic_bed_compare - is a pattern in an MR?
 * @mr: the MR
 * @off: where
 * @len: bytes
 * @seed: number of the pattern
 *
 * Return: offset of the first byte that differs, or -1.
 */
s32 ornic_bed_compare(const struct ornic_rig_mr *mr, u32 off, u32 len, u32 seed)
{
	u32 i = 0;

	while (i < len) {
		u32 run, k;
		u8 *p = ornic_rig_mr_at(mr, off + i, &run);

		run = min_t(u32, run, len - i);
		for (k = 0; k < run; k++)
			if (p[k] != ornic_bed_byte(seed, i + k))
				return i + k;
		i += run;
	}
	return -1;
}

/**
 * ornic_bed_sge - an SGE for a part of an MR
 * @mr: the MR
 * @off: where
 * @len: bytes
 *
 * Return: the SGE.
 */
struct ornic_lsge ornic_bed_sge(const struct ornic_rig_mr *mr, u32 off, u32 len)
{
	struct ornic_lsge sge = { mr->iova + off, len, mr->key };

	return sge;
}

/**
 * ornic_bed_post - a plain send work request of one SGE
 * @qp: QP
 * @mr: local memory
 * @remote: memory of the peer, or NULL
 * @opcode: enum ornic_wqe_opcode
 * @flags: enum ornic_wqe_flags; signalled is added
 * @off: offset in both
 * @len: bytes
 *
 * Return: 0 or -ENOSPC.
 */
int ornic_bed_post(struct ornic_rig_qp *qp, const struct ornic_rig_mr *mr,
		   const struct ornic_rig_mr *remote, u8 opcode, u8 flags,
		   u32 off, u32 len)
{
	struct ornic_lsge sge = ornic_bed_sge(mr, off, len);
	struct ornic_rig_wr wr = {
		.wr_id = 1,
		.swap_add = 1,
		.imm = cpu_to_be32(0xabcd0123),
		.opcode = opcode,
		.flags = flags | ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
	};

	if (remote) {
		wr.raddr = remote->iova + off;
		wr.rkey = remote->key;
	}
	return ornic_rig_post_send(qp, &wr);
}

/**
 * ornic_bed_recv - a receive work request of one SGE
 * @qp: QP
 * @mr: memory
 * @wr_id: its id
 * @off: offset
 * @len: bytes
 */
void ornic_bed_recv(struct ornic_rig_qp *qp, const struct ornic_rig_mr *mr,
		    u64 wr_id, u32 off, u32 len)
{
	struct ornic_lsge sge = ornic_bed_sge(mr, off, len);

	ornic_rig_post_recv(qp, wr_id, &sge, 1);
}

/**
 * ornic_bed_sent - look at the next frame of a
 * @bed: the bed; pkt and rx are good until the next call
 *
 * Return: false if there is none, or if it does not decode.
 */
bool ornic_bed_sent(struct ornic_bed *bed)
{
	if (bed->frame)
		ornic_rig_put(bed->pair.a, bed->frame);
	ornic_rig_run(bed->pair.a);
	bed->frame = ornic_rig_pull(bed->pair.a);
	return bed->frame && ornic_rig_decode(bed->frame, &bed->rx, &bed->pkt);
}

/**
 * ornic_bed_drain - drop all frames of a
 * @bed: the bed
 *
 * Return: how many there were.
 */
u32 ornic_bed_drain(struct ornic_bed *bed)
{
	u32 n = 0;

	while (ornic_bed_sent(bed))
		n++;
	return n;
}

/**
 * ornic_bed_answer - a response packet from a's made-up peer
 * @bed: the bed
 * @opcode: RC opcode
 * @psn: PSN
 * @syndrome: of the AETH
 * @payload: payload
 * @len: bytes of it
 */
void ornic_bed_answer(struct ornic_bed *bed, u8 opcode, u32 psn, u8 syndrome,
		      const void *payload, u32 len)
{
	struct ornic_txinfo info = {
		.opcode = opcode,
		.psn = psn & ORNIC_PSN_MASK,
		.syndrome = syndrome,
	};

	ornic_rig_inject(&bed->a, &info, payload, len);
	ornic_rig_run(bed->pair.a);
}

/**
 * ornic_bed_request - a request packet from a's made-up peer
 * @bed: the bed
 * @opcode: BTH opcode
 * @n: PSN, relative to the first
 * @off: offset in am
 * @dma_len: of the RETH
 * @len: bytes of payload, from bed->buf
 */
void ornic_bed_request(struct ornic_bed *bed, u8 opcode, s32 n, u32 off,
		       u32 dma_len, u32 len)
{
	struct ornic_txinfo info = {
		.opcode = opcode,
		.psn = (ORNIC_BED_PSN + n) & ORNIC_PSN_MASK,
		.ack_req = true,
		.va = bed->am.iova + off,
		.rkey = bed->am.key,
		.dma_len = dma_len,
		.swap_add = 5,
		.imm = cpu_to_be32(0x01020304),
		.src_qpn = 0x123,
		.qkey = 0x1234,
	};

	ornic_rig_inject(&bed->a, &info, bed->buf, len);
	ornic_rig_run(bed->pair.a);
}

/**
 * ornic_bed_syndrome - what a answers
 * @bed: the bed
 *
 * Return: syndrome of its next frame, 0xff if there is none.
 */
u8 ornic_bed_syndrome(struct ornic_bed *bed)
{
	return ornic_bed_sent(bed) ? bed->pkt.syndrome : 0xff;
}

/**
 * ornic_bed_status - take a completion
 * @cq: the CQ
 * @cqe: out
 *
 * Return: its status, 0xff if there is none.
 */
int ornic_bed_status(struct ornic_rig_cq *cq, struct ornic_cqe *cqe)
{
	memset(cqe, 0, sizeof(*cqe));
	return ornic_rig_poll(cq, cqe) ? cqe->status : 0xff;
}

int ornic_bed_run_on_b(struct ornic_bed *bed, const struct ornic_rig_wr *wr)
{
	struct ornic_cqe cqe;

	ornic_rig_post_send(&bed->b, wr);
	ornic_rig_settle(&bed->pair);
	return ornic_bed_status(&bed->bscq, &cqe);
}

int ornic_bed_invalidate(struct ornic_bed *bed, u32 key)
{
	struct ornic_rig_wr wr = {
		.opcode = ORNIC_WQE_LOCAL_INV,
		.flags = ORNIC_WQE_SIGNALED,
		.imm = cpu_to_be32(key),
	};

	return ornic_bed_run_on_b(bed, &wr);
}
