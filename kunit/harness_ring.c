// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Rings and records of the harness: posts and polls as the provider does. */
#include "harness.h"

/**
 * ornic_th_arm - ask for the next completion event
 * @cq: the CQ
 * @mode: what is to cause it
 */
void ornic_th_arm(struct ornic_th_cq *cq, enum ornic_arm mode)
{
	struct ornic_cq_record *rec = (struct ornic_cq_record *)cq->mem;

	cq->arm_seq++;
	WRITE_ONCE(rec->arm,
		   cpu_to_le32(cq->arm_seq << ORNIC_ARM_SEQ_SHIFT | mode));
	/* Pairs with the device's between its CQE and its read of arm. */
	smp_mb();
}

static struct ornic_th_qp *find_qp(struct ornic_th *th, u32 qpn)
{
	struct ornic_th_qp *qp;

	for (qp = th->qps; qp; qp = qp->next)
		if (qp->qpn == qpn)
			return qp;
	return NULL;
}

/**
 * ornic_th_poll - take the next CQE
 * @cq: the CQ
 * @cqe: out: the CQE
 *
 * Return: whether there was one.
 */
bool ornic_th_poll(struct ornic_th_cq *cq, struct ornic_cqe *cqe)
{
	struct ornic_cq_record *rec = (struct ornic_cq_record *)cq->mem;
	u32 slot = cq->consumer & ((1u << cq->log_depth) - 1);
	struct ornic_cqe *ring = (struct ornic_cqe *)(cq->mem + 4096);
	u8 phase = ~(cq->consumer >> cq->log_depth) & 1;
	struct ornic_th_qp *qp;

	/* Pairs with the store of the phase by ornic_cq_push(). */
	if ((smp_load_acquire(&ring[slot].flags) & ORNIC_CQE_PHASE) != phase)
		return false;
	*cqe = ring[slot];
	cq->consumer++;
	/* The slot is the device's again once it sees this. */
	smp_store_release(&rec->consumer, cpu_to_le32(cq->consumer));
	qp = find_qp(cq->th, le32_to_cpu(cqe->qpn));
	if (qp && !(cqe->opcode & ORNIC_CQE_IS_RECV))
		qp->sq_tail = le32_to_cpu(cqe->wqe_index) + 1;
	return true;
}

/**
 * ornic_th_kick - kick a QP
 * @qp: the QP
 */
void ornic_th_kick(struct ornic_th_qp *qp)
{
	struct ornic_th *th = qp->th;
	struct ornic_th_hqp *hqp;

	if (ornic_engine_kick(th->eng, qp->qpn, th->budget) != ORNIC_RUN_MORE)
		return;
	for (hqp = th->hqps; hqp; hqp = hqp->next)
		if (hqp->qpn == qp->qpn)
			hqp->resched = true;
}

static void kick_if_wanted(struct ornic_th_qp *qp, u32 off)
{
	struct ornic_wq_record *rec = (struct ornic_wq_record *)(qp->mem + off);

	/* Pairs with the device's between kick_wanted and producer. */
	smp_mb();
	if (READ_ONCE(rec->kick_wanted))
		ornic_th_kick(qp);
}

static void put_sges(u8 *p, const struct ornic_lsge *sge, u32 nsge)
{
	struct ornic_sge *s = (struct ornic_sge *)p;
	u32 i;

	for (i = 0; i < nsge; i++) {
		s[i].addr = cpu_to_le64(sge[i].addr);
		s[i].length = cpu_to_le32(sge[i].length);
		s[i].lkey = cpu_to_le32(sge[i].lkey);
	}
}

static u8 *put_remote(u8 *p, const struct ornic_th_wr *wr)
{
	struct ornic_seg_remote *seg = (struct ornic_seg_remote *)p;

	seg->raddr = cpu_to_le64(wr->raddr);
	seg->rkey = cpu_to_le32(wr->rkey);
	seg->reserved = 0;
	return p + sizeof(*seg);
}

static u8 *put_xrc(u8 *p, const struct ornic_th_qp *qp,
		   const struct ornic_th_wr *wr)
{
	struct ornic_seg_xrc *seg = (struct ornic_seg_xrc *)p;

	if (qp->type != ORNIC_QPT_XRC_INI || wr->opcode == ORNIC_WQE_BIND_MW ||
	    wr->opcode == ORNIC_WQE_LOCAL_INV)
		return p;
	memset(seg, 0, sizeof(*seg));
	seg->srqn = cpu_to_le32(wr->srqn ? wr->srqn : qp->srqn);
	return p + sizeof(*seg);
}

static u8 *put_segments(u8 *p, const struct ornic_th_wr *wr, bool ud)
{
	if (wr->opcode <= ORNIC_WQE_SEND_IMM) {
		struct ornic_seg_ud *seg = (struct ornic_seg_ud *)p;

		if (!ud)
			return p;
		seg->ah = cpu_to_le32(wr->ah);
		seg->dest_qpn = cpu_to_le32(wr->dest_qpn);
		seg->dest_qkey = cpu_to_le32(wr->dest_qkey);
		seg->pkey_index = cpu_to_le16(wr->pkey_index);
		p += sizeof(*seg);
		if (!wr->av)
			return p;
		memcpy(p, wr->av, sizeof(*wr->av));
		return p + sizeof(*wr->av);
	}
	if (wr->tag) {
		memcpy(p, wr->tag, sizeof(*wr->tag));
		return p + sizeof(*wr->tag);
	}
	/* The key is in the header. */
	if (wr->opcode == ORNIC_WQE_LOCAL_INV ||
	    wr->opcode == ORNIC_WQE_SEND_INV)
		return p;
	p = put_remote(p, wr);
	if (wr->opcode == ORNIC_WQE_BIND_MW) {
		struct ornic_seg_bind *seg = (struct ornic_seg_bind *)p;

		memset(seg, 0, sizeof(*seg));
		seg->length = cpu_to_le64(wr->bind_length);
		seg->lkey = cpu_to_le32(wr->bind_lkey);
		seg->access = wr->bind_access;
		return p + sizeof(*seg);
	}
	if (wr->opcode == ORNIC_WQE_REG_MR) {
		struct ornic_seg_reg *seg = (struct ornic_seg_reg *)p;

		memset(seg, 0, sizeof(*seg));
		seg->length = cpu_to_le64(wr->bind_length);
		seg->list = cpu_to_le64(wr->reg_list);
		seg->npages = cpu_to_le32(wr->reg_npages);
		seg->page_shift = wr->reg_shift;
		seg->access = wr->bind_access;
		return p + sizeof(*seg);
	}
	if (wr->opcode == ORNIC_WQE_FLUSH) {
		struct ornic_seg_flush *seg = (struct ornic_seg_flush *)p;

		memset(seg, 0, sizeof(*seg));
		seg->length = cpu_to_le32((u32)wr->bind_length);
		seg->type = wr->flush_type;
		seg->level = wr->flush_level;
		return p + sizeof(*seg);
	}
	if (wr->opcode == ORNIC_WQE_CAS || wr->opcode == ORNIC_WQE_FAA) {
		struct ornic_seg_atomic *seg = (struct ornic_seg_atomic *)p;

		seg->swap_add = cpu_to_le64(wr->swap_add);
		seg->compare = cpu_to_le64(wr->compare);
		p += sizeof(*seg);
	}
	return p;
}

/**
 * ornic_th_post_send - post a send WQE, and kick if the device wants it
 * @qp: the QP
 * @wr: the request; more SGEs or inline bytes than the stride has room for
 *	are the caller's mistake
 *
 * Return: 0, or -ENOSPC when the ring is full.
 */
int ornic_th_post_send(struct ornic_th_qp *qp, const struct ornic_th_wr *wr)
{
	struct ornic_wq_record *rec =
		(struct ornic_wq_record *)(qp->mem + ORNIC_SQ_RECORD);
	bool is_inline = wr->flags & ORNIC_WQE_INLINE;
	u32 depth = 1u << qp->sq_log_depth;
	struct ornic_sq_hdr *hdr;
	__le32 taken;
	u8 *p;

	if (qp->type == ORNIC_QPT_TAGS) {
		/* Pairs with the device's store after it copied the WQE. */
		taken = (__force __le32)smp_load_acquire(&rec->taken);
		qp->sq_tail = le32_to_cpu(taken);
	}
	if (qp->sq_producer - qp->sq_tail >= depth)
		return -ENOSPC;
	p = qp->mem + ORNIC_RING_OFFSET +
	    ((qp->sq_producer & (depth - 1)) << qp->sq_log_stride);
	hdr = (struct ornic_sq_hdr *)p;
	hdr->opcode = wr->opcode;
	hdr->flags = wr->flags;
	hdr->payload = cpu_to_le16(is_inline ? wr->inline_len : wr->nsge);
	hdr->imm = wr->imm;
	hdr->wr_id = cpu_to_le64(wr->wr_id);
	p = put_xrc(p + sizeof(*hdr), qp, wr);
	p = put_segments(p, wr, qp->type == ORNIC_QPT_UD);
	if (is_inline && wr->inline_len)
		memcpy(p, wr->inline_data, wr->inline_len);
	else if (!is_inline)
		put_sges(p, wr->sge, wr->nsge);
	qp->sq_producer++;
	/* Pairs with the load of the producer that precedes a fetch. */
	smp_store_release(&rec->producer, cpu_to_le32(qp->sq_producer));
	kick_if_wanted(qp, ORNIC_SQ_RECORD);
	return 0;
}

/**
 * ornic_th_post_recv - post a receive WQE
 * @qp: the QP
 * @wr_id: its id
 * @sge: SGEs
 * @nsge: how many
 *
 * The caller keeps count of the ring.
 *
 * Return: 0.
 */
int ornic_th_post_recv(struct ornic_th_qp *qp, u64 wr_id,
		       const struct ornic_lsge *sge, u32 nsge)
{
	struct ornic_wq_record *rec =
		(struct ornic_wq_record *)(qp->mem + ORNIC_RQ_RECORD);
	u32 slot = qp->rq_producer & ((1u << qp->rq_log_depth) - 1);
	u8 *p = qp->mem + qp->rq_offset + (slot << qp->rq_log_stride);
	struct ornic_rq_hdr *hdr = (struct ornic_rq_hdr *)p;

	memset(hdr, 0, sizeof(*hdr));
	hdr->wr_id = cpu_to_le64(wr_id);
	hdr->num_sge = cpu_to_le16(nsge);
	put_sges(p + sizeof(*hdr), sge, nsge);
	qp->rq_producer++;
	/* Pairs with the load of the producer that precedes a fetch. */
	smp_store_release(&rec->producer, cpu_to_le32(qp->rq_producer));
	kick_if_wanted(qp, ORNIC_RQ_RECORD);
	return 0;
}
