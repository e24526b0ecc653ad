// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Shared receive queues of the harness, as driver and provider use them. */
#include "harness.h"

static u32 mem_bytes(const struct ornic_th_srq *srq, u32 log_depth)
{
	return 4096 + ALIGN(1u << (log_depth + srq->log_stride), 4096u);
}

static void describe(struct ornic_mem *mem, const u8 *ptr, u32 bytes)
{
	mem->addr = cpu_to_le64((u64)(uintptr_t)ptr);
	mem->npages = cpu_to_le32(bytes / 4096);
	mem->page_shift = ORNIC_PAGE_SHIFT;
}

/* What an SRQ is beside a ring. */
struct kind {
	u8 flags;
	u32 xrcdn;
	u32 max_tags;
	const struct ornic_th_cq *cq;
};

static int make(struct ornic_th *th, struct ornic_th_srq *srq, u32 log_depth,
		u32 max_sge, const struct kind *kind)
{
	union ornic_req req;
	union ornic_rsp rsp;
	u32 bytes;
	int status;

	memset(srq, 0, sizeof(*srq));
	srq->th = th;
	srq->log_depth = log_depth;
	srq->log_stride = 5;
	while (1u << srq->log_stride < 16 + max_sge * 16)
		srq->log_stride++;
	bytes = mem_bytes(srq, log_depth);
	srq->mem = ornic_th_alloc(th, bytes);
	if (!srq->mem)
		return ORNIC_NO_RESOURCE;
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_SRQ;
	describe(&req.create_srq.mem, srq->mem, bytes);
	req.create_srq.pdn = cpu_to_le32(th->pdn);
	req.create_srq.log_depth = log_depth;
	req.create_srq.log_stride = srq->log_stride;
	req.create_srq.max_sge = max_sge;
	req.create_srq.flags = kind->flags;
	req.create_srq.xrcdn = cpu_to_le32(kind->xrcdn);
	req.create_srq.max_tags = cpu_to_le32(kind->max_tags);
	req.create_srq.cqn = cpu_to_le32(kind->cq ? kind->cq->cqn : 0);
	status = ornic_th_cmd(th, &req, &rsp);
	if (status)
		ornic_th_free(th, srq->mem);
	srq->srqn = le32_to_cpu(rsp.hdr.obj);
	return status;
}

/**
 * ornic_th_srq_init - make an SRQ
 * @th: the harness
 * @srq: out
 * @log_depth: log2 of WQEs
 * @max_sge: SGEs per WQE
 *
 * Return: enum ornic_status.
 */
int ornic_th_srq_init(struct ornic_th *th, struct ornic_th_srq *srq,
		      u32 log_depth, u32 max_sge)
{
	const struct kind kind = { .flags = 0 };

	return make(th, srq, log_depth, max_sge, &kind);
}

/**
 * ornic_th_xsrq_init - make an SRQ of an XRC domain
 * @th: the harness
 * @srq: out
 * @log_depth: log2 of WQEs
 * @xrcdn: the domain
 * @cq: where its WQEs complete
 *
 * Return: enum ornic_status.
 */
int ornic_th_xsrq_init(struct ornic_th *th, struct ornic_th_srq *srq,
		       u32 log_depth, u32 xrcdn, const struct ornic_th_cq *cq)
{
	const struct kind kind = {
		.flags = ORNIC_SRQ_XRC,
		.xrcdn = xrcdn,
		.cq = cq,
	};

	return make(th, srq, log_depth, 4, &kind);
}

/**
 * ornic_th_tm_srq_init - make an SRQ that matches tags
 * @th: the harness
 * @srq: out
 * @log_depth: log2 of WQEs
 * @max_tags: tagged receives
 * @cq: where its receives complete
 *
 * Return: enum ornic_status.
 */
int ornic_th_tm_srq_init(struct ornic_th *th, struct ornic_th_srq *srq,
			 u32 log_depth, u32 max_tags,
			 const struct ornic_th_cq *cq)
{
	const struct kind kind = {
		.flags = ORNIC_SRQ_TM,
		.max_tags = max_tags,
		.cq = cq,
	};

	return make(th, srq, log_depth, 4, &kind);
}

/**
 * ornic_th_srq_resize - RESIZE_SRQ
 * @srq: the SRQ
 * @log_depth: log2 of WQEs from now on
 *
 * Return: enum ornic_status.
 */
int ornic_th_srq_resize(struct ornic_th_srq *srq, u32 log_depth)
{
	u32 bytes = mem_bytes(srq, log_depth);
	u8 *mem = ornic_th_alloc(srq->th, bytes);
	struct ornic_wq_record *rec = (struct ornic_wq_record *)mem;
	union ornic_req req;
	union ornic_rsp rsp;
	int status;

	if (!mem)
		return ORNIC_NO_RESOURCE;
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_RESIZE_SRQ;
	req.hdr.obj = cpu_to_le32(srq->srqn);
	describe(&req.resize_srq.mem, mem, bytes);
	req.resize_srq.log_depth = log_depth;
	status = ornic_th_cmd(srq->th, &req, &rsp);
	if (!status) {
		ornic_th_free(srq->th, srq->mem);
		srq->mem = mem;
		srq->log_depth = log_depth;
		srq->producer = le32_to_cpu(rec->producer);
	} else {
		ornic_th_free(srq->th, mem);
	}
	return status;
}

/**
 * ornic_th_srq_fini - destroy an SRQ and free its memory
 * @srq: the SRQ
 *
 * Return: enum ornic_status.
 */
int ornic_th_srq_fini(struct ornic_th_srq *srq)
{
	return ornic_th_destroy_mem(srq->th, ORNIC_CMD_DESTROY_SRQ, srq->srqn,
				    srq->mem);
}

/**
 * ornic_th_srq_limit - MODIFY_SRQ
 * @srq: the SRQ
 * @limit: WQEs
 *
 * Return: enum ornic_status.
 */
int ornic_th_srq_limit(struct ornic_th_srq *srq, u32 limit)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_MODIFY_SRQ;
	req.hdr.obj = cpu_to_le32(srq->srqn);
	req.modify_srq.limit = cpu_to_le32(limit);
	return ornic_th_cmd(srq->th, &req, &rsp);
}

/**
 * ornic_th_srq_query - QUERY_SRQ
 * @srq: the SRQ
 * @rsp: out
 *
 * Return: enum ornic_status.
 */
int ornic_th_srq_query(struct ornic_th_srq *srq,
		       struct ornic_rsp_query_srq *rsp)
{
	union ornic_req req;
	union ornic_rsp r;
	int status;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_QUERY_SRQ;
	req.hdr.obj = cpu_to_le32(srq->srqn);
	status = ornic_th_cmd(srq->th, &req, &r);
	*rsp = r.query_srq;
	return status;
}

/**
 * ornic_th_post_srq - post a receive WQE to an SRQ
 * @srq: the SRQ
 * @wr_id: its id
 * @sge: SGEs
 * @nsge: how many
 *
 * Return: 0, or -ENOSPC when the ring is full.
 */
int ornic_th_post_srq(struct ornic_th_srq *srq, u64 wr_id,
		      const struct ornic_lsge *sge, u32 nsge)
{
	struct ornic_wq_record *rec = (struct ornic_wq_record *)srq->mem;
	u32 slot = srq->producer & ((1u << srq->log_depth) - 1);
	u8 *p = srq->mem + ORNIC_RING_OFFSET + (slot << srq->log_stride);
	struct ornic_rq_hdr *hdr = (struct ornic_rq_hdr *)p;
	struct ornic_sge *s = (struct ornic_sge *)(hdr + 1);
	u32 i, taken;

	/* Pairs with the device's store after it copied the WQE. */
	taken = le32_to_cpu((__force __le32)smp_load_acquire(&rec->taken));
	if (srq->producer - taken >= 1u << srq->log_depth)
		return -ENOSPC;
	memset(hdr, 0, sizeof(*hdr));
	hdr->wr_id = cpu_to_le64(wr_id);
	hdr->num_sge = cpu_to_le16(nsge);
	for (i = 0; i < nsge; i++) {
		s[i].addr = cpu_to_le64(sge[i].addr);
		s[i].length = cpu_to_le32(sge[i].length);
		s[i].lkey = cpu_to_le32(sge[i].lkey);
	}
	srq->producer++;
	/* Pairs with the load of the producer that precedes a fetch. */
	smp_store_release(&rec->producer, cpu_to_le32(srq->producer));
	return 0;
}
