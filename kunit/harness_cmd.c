// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Objects of the harness, made by commands as the driver makes them. */
#include "harness.h"
#include "engine/dev.h"

static u64 dma_addr(const void *p)
{
	return (u64)(uintptr_t)p;
}

/**
 * ornic_th_cmd - one command
 * @th: the harness
 * @req: request
 * @rsp: response, filled
 *
 * Return: enum ornic_status.
 */
int ornic_th_cmd(struct ornic_th *th, union ornic_req *req,
		 union ornic_rsp *rsp)
{
	memset(rsp, 0xee, sizeof(*rsp));
	ornic_engine_cmd(th->eng, req, rsp);
	return rsp->hdr.status;
}

/**
 * ornic_th_destroy_obj - a command that is a header alone
 * @th: the harness
 * @opcode: ORNIC_CMD_DESTROY_*
 * @obj: number of the object
 *
 * Return: enum ornic_status.
 */
int ornic_th_destroy_obj(struct ornic_th *th, u8 opcode, u32 obj)
{
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = opcode;
	req.hdr.obj = cpu_to_le32(obj);
	return ornic_th_cmd(th, &req, &rsp);
}

/**
 * ornic_th_destroy_mem - destroy an object and free the memory it used
 * @th: the harness
 * @opcode: ORNIC_CMD_DESTROY_*
 * @obj: number of the object
 * @mem: from ornic_th_alloc()
 *
 * Return: enum ornic_status; nothing is freed when it is not ORNIC_OK.
 */
int ornic_th_destroy_mem(struct ornic_th *th, u8 opcode, u32 obj, u8 *mem)
{
	int status = ornic_th_destroy_obj(th, opcode, obj);

	if (!status)
		ornic_th_free(th, mem);
	return status;
}

/**
 * ornic_th_gid_bytes - a GID of harness number @index
 * @index: number of the harness
 * @which: which of its GIDs
 * @gid: out: 16 bytes
 */
void ornic_th_gid_bytes(u8 index, enum ornic_th_gid which, u8 *gid)
{
	memset(gid, 0, 16);
	if (which == ORNIC_TH_IPV6 || which == ORNIC_TH_V1) {
		gid[0] = 0xfd;
		gid[15] = index;
		return;
	}
	gid[10] = 0xff;
	gid[11] = 0xff;
	gid[12] = 10;
	gid[13] = which;
	gid[15] = index;
}

/**
 * ornic_th_av - the way to harness number @index
 * @av: out
 * @index: the destination
 * @which: GID of both ends
 */
void ornic_th_av(struct ornic_av *av, u8 index, enum ornic_th_gid which)
{
	memset(av, 0, sizeof(*av));
	ornic_th_gid_bytes(index, which, av->dgid);
	av->dmac[0] = 2;
	av->dmac[5] = index;
	av->udp_sport = cpu_to_le16(0xc000 + index);
	av->sgid_index = which;
	av->hop_limit = 64;
}

/* A run of pages, or with @levels 1 a list that names them in reverse. */
static int describe(struct ornic_th *th, struct ornic_mem *mem, u8 *buf,
		    u32 npages, u8 levels, u8 **list)
{
	__le64 *entry;
	u32 i;

	memset(mem, 0, sizeof(*mem));
	mem->npages = cpu_to_le32(npages);
	mem->page_shift = ORNIC_PAGE_SHIFT;
	mem->levels = levels;
	*list = NULL;
	if (!levels) {
		mem->addr = cpu_to_le64(dma_addr(buf));
		return 0;
	}
	*list = ornic_th_alloc(th, 4096);
	if (!*list)
		return -ENOMEM;
	entry = (__le64 *)*list;
	for (i = 0; i < npages; i++)
		entry[i] =
			cpu_to_le64(dma_addr(buf + 4096ull * (npages - 1 - i)));
	mem->addr = cpu_to_le64(dma_addr(*list));
	return 0;
}

/**
 * ornic_th_cq_init - make a CQ
 * @th: the harness
 * @cq: out
 * @log_depth: log2 of CQEs
 *
 * Return: enum ornic_status.
 */
int ornic_th_cq_init(struct ornic_th *th, struct ornic_th_cq *cq, u32 log_depth)
{
	u32 bytes = 4096 + ALIGN(64u << log_depth, 4096u);
	union ornic_req req;
	union ornic_rsp rsp;
	int status;
	u8 *list;

	memset(cq, 0, sizeof(*cq));
	cq->th = th;
	cq->log_depth = log_depth;
	cq->mem = ornic_th_alloc(th, bytes);
	if (!cq->mem)
		return ORNIC_NO_RESOURCE;
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_CQ;
	describe(th, &req.create_cq.mem, cq->mem, bytes / 4096, 0, &list);
	req.create_cq.log_depth = log_depth;
	req.create_cq.vector = 1;
	status = ornic_th_cmd(th, &req, &rsp);
	if (status)
		ornic_th_free(th, cq->mem);
	cq->cqn = le32_to_cpu(rsp.hdr.obj);
	return status;
}

/**
 * ornic_th_cq_resize - give a CQ other memory
 * @cq: the CQ
 * @log_depth: log2 of CQEs
 *
 * Return: enum ornic_status.
 */
int ornic_th_cq_resize(struct ornic_th_cq *cq, u32 log_depth)
{
	u32 bytes = 4096 + ALIGN(64u << log_depth, 4096u);
	u8 *mem = ornic_th_alloc(cq->th, bytes);
	union ornic_req req;
	union ornic_rsp rsp;
	int status;
	u8 *list;

	if (!mem)
		return ORNIC_NO_RESOURCE;
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_RESIZE_CQ;
	req.hdr.obj = cpu_to_le32(cq->cqn);
	describe(cq->th, &req.resize_cq.mem, mem, bytes / 4096, 0, &list);
	req.resize_cq.log_depth = log_depth;
	status = ornic_th_cmd(cq->th, &req, &rsp);
	ornic_th_free(cq->th, status ? mem : cq->mem);
	if (status)
		return status;
	cq->mem = mem;
	cq->log_depth = log_depth;
	cq->consumer = 0;
	return ORNIC_OK;
}

/**
 * ornic_th_cq_fini - destroy a CQ and free its memory
 * @cq: the CQ
 *
 * Return: enum ornic_status; nothing is freed when it is not ORNIC_OK.
 */
int ornic_th_cq_fini(struct ornic_th_cq *cq)
{
	return ornic_th_destroy_mem(cq->th, ORNIC_CMD_DESTROY_CQ, cq->cqn,
				    cq->mem);
}

/**
 * ornic_th_mr_init - make an MR
 * @th: the harness
 * @mr: out
 * @length: bytes
 * @off0: offset of its first byte in its first page
 * @levels: 0: one run; 1: a list of 4 KiB pages, at most 512
 * @access: enum ornic_access
 *
 * Return: enum ornic_status.
 */
int ornic_th_mr_init(struct ornic_th *th, struct ornic_th_mr *mr, u32 length,
		     u32 off0, u8 levels, u8 access)
{
	union ornic_req req;
	union ornic_rsp rsp;
	int status;
	u8 *list;

	memset(mr, 0, sizeof(*mr));
	mr->th = th;
	mr->length = length;
	mr->levels = levels;
	mr->touch = 1;
	mr->access = access;
	mr->off0 = levels ? off0 & 4095 : 0;
	mr->npages = DIV_ROUND_UP(mr->off0 + length, 4096);
	if (!mr->npages)
		mr->npages = 1;
	mr->iova = 0x7f1200000000ull + (off0 & 4095);
	mr->buf = ornic_th_alloc(th, 4096ull * mr->npages);
	if (!mr->buf)
		return ORNIC_NO_RESOURCE;
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_MKEY;
	if (describe(th, &req.create_mkey.mem, mr->buf, mr->npages, levels,
		     &list)) {
		ornic_th_free(th, mr->buf);
		return ORNIC_NO_RESOURCE;
	}
	req.create_mkey.iova = cpu_to_le64(mr->iova);
	req.create_mkey.length = cpu_to_le64(length);
	req.create_mkey.pdn = cpu_to_le32(th->pdn);
	req.create_mkey.access = access;
	status = ornic_th_cmd(th, &req, &rsp);
	if (list)
		ornic_th_free(th, list);
	if (status)
		ornic_th_free(th, mr->buf);
	mr->key = le32_to_cpu(rsp.hdr.obj);
	return status;
}

/**
 * ornic_th_mr_fini - destroy an MR and free its memory
 * @mr: the MR
 *
 * Return: enum ornic_status.
 */
int ornic_th_mr_fini(struct ornic_th_mr *mr)
{
	int status = ornic_th_destroy_mem(mr->th, ORNIC_CMD_DESTROY_MKEY,
					  mr->key, mr->buf);

	if (!status)
		ornic_th_odp_unlink(mr);
	return status;
}

/**
 * ornic_th_mr_page - which of its pages is in a place of an MR with a list
 * @mr: the MR
 * @i: the place
 *
 * Return: the page, counted in @mr->buf.
 */
u32 ornic_th_mr_page(const struct ornic_th_mr *mr, u32 i)
{
	u32 first = i - i % mr->touch;
	u32 n = min_t(u32, mr->touch, mr->npages - first);

	return mr->npages - first - n + i % mr->touch;
}

/**
 * ornic_th_mr_at - where byte @off of an MR lies
 * @mr: the MR
 * @off: offset from its start
 * @run: out: how many bytes follow in one piece
 *
 * Return: the byte.
 */
u8 *ornic_th_mr_at(const struct ornic_th_mr *mr, u32 off, u32 *run)
{
	u32 at = mr->off0 + off;

	if (!mr->levels) {
		*run = mr->length - off;
		return mr->buf + at;
	}
	*run = 4096 - (at & 4095);
	return mr->buf + 4096ull * ornic_th_mr_page(mr, at >> 12) + (at & 4095);
}

/**
 * ornic_th_mr_write - put bytes into an MR, as its owner
 * @mr: the MR
 * @off: offset from its start
 * @src: bytes
 * @len: how many
 */
void ornic_th_mr_write(const struct ornic_th_mr *mr, u32 off, const void *src,
		       u32 len)
{
	const u8 *s = src;

	while (len) {
		u32 run;
		u8 *p = ornic_th_mr_at(mr, off, &run);

		run = min_t(u32, run, len);
		memcpy(p, s, run);
		s += run;
		off += run;
		len -= run;
	}
}

/**
 * ornic_th_mr_read - get bytes out of an MR, as its owner
 * @mr: the MR
 * @off: offset from its start
 * @dst: out
 * @len: how many
 */
void ornic_th_mr_read(const struct ornic_th_mr *mr, u32 off, void *dst, u32 len)
{
	u8 *d = dst;

	while (len) {
		u32 run;
		u8 *p = ornic_th_mr_at(mr, off, &run);

		run = min_t(u32, run, len);
		memcpy(d, p, run);
		d += run;
		off += run;
		len -= run;
	}
}

/**
 * ornic_th_mkey - make a key without memory of its own
 * @th: the harness
 * @flags: ORNIC_MKEY_DMA for one of all memory, ORNIC_MKEY_FAST for an FRMR
 * @npages: room of an FRMR
 * @access: of a key of all memory
 * @key: out
 *
 * Return: enum ornic_status.
 */
int ornic_th_mkey(struct ornic_th *th, u8 flags, u32 npages, u8 access,
		  u32 *key)
{
	union ornic_req req;
	union ornic_rsp rsp;
	int status;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_MKEY;
	req.create_mkey.mem.npages = cpu_to_le32(npages);
	req.create_mkey.pdn = cpu_to_le32(th->pdn);
	req.create_mkey.access = access;
	req.create_mkey.flags = flags;
	status = ornic_th_cmd(th, &req, &rsp);
	*key = le32_to_cpu(rsp.hdr.obj);
	return status;
}

/**
 * ornic_th_mw - make a memory window
 * @th: the harness
 * @type: enum ornic_mw_type
 * @key: out
 *
 * Return: enum ornic_status.
 */
int ornic_th_mw(struct ornic_th *th, u8 type, u32 *key)
{
	union ornic_req req;
	union ornic_rsp rsp;
	int status;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_MW;
	req.create_mw.pdn = cpu_to_le32(th->pdn);
	req.create_mw.type = type;
	status = ornic_th_cmd(th, &req, &rsp);
	*key = le32_to_cpu(rsp.hdr.obj);
	return status;
}

/**
 * ornic_th_ah - make an AH
 * @th: the harness
 * @av: where to
 * @ah: out
 *
 * Return: enum ornic_status.
 */
int ornic_th_ah(struct ornic_th *th, const struct ornic_av *av, u32 *ah)
{
	union ornic_req req;
	union ornic_rsp rsp;
	int status;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_AH;
	req.create_ah.av = *av;
	req.create_ah.pdn = cpu_to_le32(th->pdn);
	status = ornic_th_cmd(th, &req, &rsp);
	*ah = le32_to_cpu(rsp.hdr.obj);
	return status;
}

static u8 log2_up(u32 n)
{
	u8 log = 0;

	while ((1u << log) < n)
		log++;
	return log;
}

static void qp_shape(struct ornic_th_qp *qp, const struct ornic_th_qpinit *in,
		     u32 max_sge, u32 max_inline)
{
	u32 data = max_t(u32, max_sge * 16, max_inline);
	u32 sq_bytes;

	qp->type = in->type;
	qp->sig_all = in->flags & ORNIC_QP_SIG_ALL;
	qp->max_inline = max_inline;
	qp->sq_log_depth = in->sq_log_depth ? in->sq_log_depth : 4;
	qp->rq_log_depth = in->rq_log_depth ? in->rq_log_depth : 4;
	if (in->type == ORNIC_QPT_XRC_INI)
		data += sizeof(struct ornic_seg_xrc);
	qp->sq_log_stride = max_t(u8, 6, log2_up(16 + 32 + data));
	qp->rq_log_stride = max_t(u8, 5, log2_up(16 + max_sge * 16));
	sq_bytes = in->no_sq ?
			   0 :
			   ALIGN(1u << (qp->sq_log_depth + qp->sq_log_stride),
				 4096u);
	qp->rq_offset = 4096 + sq_bytes;
	qp->mem_bytes =
		qp->rq_offset +
		ALIGN(1u << (qp->rq_log_depth + qp->rq_log_stride), 4096u);
}

/* The next QP gets @qpn, as if it were the only number that is not at rest. */
void ornic_th_next_qpn(struct ornic_th *th, u32 qpn)
{
	struct ornic_table *t = &th->eng->dev.qps;

	memset(t->resting, 0xff, t->size / 8);
	t->resting[qpn / 64] &= ~(1ull << (qpn % 64));
	t->nresting = t->size - 1;
}

/**
 * ornic_th_qp_init - make a QP, in RESET
 * @th: the harness
 * @qp: out; stays where it is until ornic_th_qp_fini
 * @init: its shape
 * @scq: CQ of its sends, NULL for an XRC target
 * @rcq: CQ of its receives, NULL for XRC
 *
 * Return: enum ornic_status.
 */
int ornic_th_qp_init(struct ornic_th *th, struct ornic_th_qp *qp,
		     const struct ornic_th_qpinit *init,
		     struct ornic_th_cq *scq, struct ornic_th_cq *rcq)
{
	u32 max_sge = init->max_sge ? init->max_sge : 4;
	u32 max_inline = init->max_inline ? init->max_inline : 64;
	struct ornic_req_create_qp *c;
	union ornic_req req;
	union ornic_rsp rsp;
	int status;
	u8 *list;

	memset(qp, 0, sizeof(*qp));
	qp->th = th;
	qp->scq = scq;
	qp->rcq = rcq;
	qp_shape(qp, init, max_sge, max_inline);
	qp->mem = ornic_th_alloc(th, qp->mem_bytes);
	if (!qp->mem)
		return ORNIC_NO_RESOURCE;
	memset(&req, 0, sizeof(req));
	c = &req.create_qp;
	c->hdr.opcode = ORNIC_CMD_CREATE_QP;
	describe(th, &c->mem, qp->mem, qp->mem_bytes / 4096, 0, &list);
	c->pdn = cpu_to_le32(th->pdn);
	c->send_cqn = cpu_to_le32(scq ? scq->cqn : 0);
	c->recv_cqn = cpu_to_le32(rcq ? rcq->cqn : 0);
	c->qp_type = init->type;
	c->flags = init->flags;
	c->has_sq = init->type != ORNIC_QPT_XRC_TGT && !init->no_sq;
	c->has_rq = !init->srq &&
		    (init->type <= ORNIC_QPT_UD || init->type == ORNIC_QPT_RAW);
	c->xrcdn = cpu_to_le32(init->xrcdn);
	c->sq_log_depth = qp->sq_log_depth;
	c->sq_log_stride = qp->sq_log_stride;
	c->rq_log_depth = qp->rq_log_depth;
	c->rq_log_stride = qp->rq_log_stride;
	c->sq_max_sge = max_sge;
	c->rq_max_sge = max_sge;
	if (init->srq) {
		c->flags |= ORNIC_QP_SRQ;
		c->srqn = cpu_to_le32(init->srq->srqn);
	}
	if (init->tag_srq)
		c->srqn = cpu_to_le32(init->tag_srq->srqn);
	c->max_inline = cpu_to_le16(max_inline);
	status = ornic_th_cmd(th, &req, &rsp);
	if (status) {
		ornic_th_free(th, qp->mem);
		return status;
	}
	qp->qpn = le32_to_cpu(rsp.hdr.obj);
	qp->next = th->qps;
	th->qps = qp;
	ornic_th_conn_default(&qp->conn, init->type);
	return ORNIC_OK;
}

/**
 * ornic_th_qp_fini - destroy a QP and free its memory
 * @qp: the QP
 *
 * Return: enum ornic_status.
 */
int ornic_th_qp_fini(struct ornic_th_qp *qp)
{
	struct ornic_th_qp **p;
	int status =
		ornic_th_destroy_obj(qp->th, ORNIC_CMD_DESTROY_QP, qp->qpn);

	if (status)
		return status;
	for (p = &qp->th->qps; *p; p = &(*p)->next) {
		if (*p == qp) {
			*p = qp->next;
			break;
		}
	}
	ornic_th_free(qp->th, qp->mem);
	return ORNIC_OK;
}

/**
 * ornic_th_modify - MODIFY_QP with the attributes of qp->conn
 * @qp: the QP
 * @state: new state, for ORNIC_QPM_STATE
 * @mask: enum ornic_qp_mask
 *
 * Return: enum ornic_status.
 */
int ornic_th_modify(struct ornic_th_qp *qp, u8 state, u32 mask)
{
	const struct ornic_th_conn *c = &qp->conn;
	struct ornic_req_modify_qp *m;
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	m = &req.modify_qp;
	m->hdr.opcode = ORNIC_CMD_MODIFY_QP;
	m->hdr.obj = cpu_to_le32(qp->qpn);
	m->hdr.param = c->retry_cnt | c->rnr_retry << ORNIC_MODIFY_RNR_SHIFT;
	if (mask & ORNIC_QPM_SQD_NOTIFY)
		m->hdr.param |= ORNIC_MODIFY_SQD_NOTIFY;
	m->mask = cpu_to_le32(mask);
	m->rq_psn_rnr = cpu_to_le32(c->rq_psn | (u32)c->min_rnr_timer << 24);
	m->sq_psn_timeout = cpu_to_le32(c->sq_psn | (u32)c->timeout << 24);
	m->dest_qpn_mtu =
		cpu_to_le32(c->dest_qpn | (u32)c->mtu << 24 |
			    (u32)c->pkey_index << ORNIC_MODIFY_PKEY_SHIFT);
	m->qkey_ece = cpu_to_le32(mask & ORNIC_QPM_ECE ? c->ece : c->qkey);
	if (mask & ORNIC_QPM_RATE_LIMIT) {
		m->qkey_ece = cpu_to_le32(c->rate_limit);
		m->rq_psn_rnr = cpu_to_le32(c->burst);
	}
	m->av = c->av;
	m->state = state;
	m->access = c->access;
	m->max_rd_atomic = c->max_rd_atomic;
	m->max_dest_rd_atomic = c->max_dest_rd_atomic;
	return ornic_th_cmd(qp->th, &req, &rsp);
}

/* What each transition to a state must carry, IBTA table 92 ("required"). */
static u32 required_mask(u8 type, u8 state)
{
	bool ud = type == ORNIC_QPT_UD, ini = type == ORNIC_QPT_XRC_INI;
	bool tgt = type == ORNIC_QPT_XRC_TGT, rc = type == ORNIC_QPT_RC;
	u32 rtr = ORNIC_QPM_AV | ORNIC_QPM_PATH_MTU | ORNIC_QPM_DEST_QPN |
		  ORNIC_QPM_RQ_PSN;
	u32 rts = ORNIC_QPM_SQ_PSN;

	if (type == ORNIC_QPT_RAW)
		return 0;
	if (rc || tgt)
		rtr |= ORNIC_QPM_MAX_DEST_RD_ATOMIC | ORNIC_QPM_MIN_RNR_TIMER;
	if (rc || ini)
		rts |= ORNIC_QPM_RETRY_CNT | ORNIC_QPM_RNR_RETRY |
		       ORNIC_QPM_MAX_RD_ATOMIC;
	if (rc || ini || tgt)
		rts |= ORNIC_QPM_TIMEOUT;
	switch (state) {
	case ORNIC_QPS_INIT:
		return ud ? ORNIC_QPM_QKEY : ORNIC_QPM_ACCESS;
	case ORNIC_QPS_RTR:
		return ud ? 0 : rtr;
	case ORNIC_QPS_RTS:
		return rts;
	default:
		return 0;
	}
}

/**
 * ornic_th_to - one transition, with what it requires
 * @qp: the QP
 * @state: the new state
 *
 * Return: enum ornic_status.
 */
int ornic_th_to(struct ornic_th_qp *qp, u8 state)
{
	u32 mask = ORNIC_QPM_STATE | required_mask(qp->type, state);
	int status;

	if (state == ORNIC_QPS_INIT && qp->conn.has_ece)
		mask |= ORNIC_QPM_ECE;
	if (state == ORNIC_QPS_INIT && qp->conn.pkey_index)
		mask |= ORNIC_QPM_PKEY;
	status = ornic_th_modify(qp, state, mask);
	if (!status && state == ORNIC_QPS_RESET) {
		qp->sq_producer = 0;
		qp->sq_tail = 0;
		qp->rq_producer = 0;
		/* Only what the host writes: kick_wanted is the device's. */
		memset(qp->mem + ORNIC_SQ_RECORD, 0, 4);
		memset(qp->mem + ORNIC_RQ_RECORD, 0, 4);
	}
	return status;
}

/**
 * ornic_th_query - QUERY_QP
 * @qp: the QP
 * @rsp: out
 *
 * Return: enum ornic_status.
 */
int ornic_th_query(struct ornic_th_qp *qp, struct ornic_rsp_query_qp *rsp)
{
	union ornic_req req;
	union ornic_rsp r;
	int status;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_QUERY_QP;
	req.hdr.obj = cpu_to_le32(qp->qpn);
	status = ornic_th_cmd(qp->th, &req, &r);
	*rsp = r.query_qp;
	return status;
}

/**
 * ornic_th_state - the state of a QP
 * @qp: the QP
 *
 * Return: enum ornic_qp_state.
 */
u8 ornic_th_state(struct ornic_th_qp *qp)
{
	struct ornic_rsp_query_qp rsp;

	return ornic_th_query(qp, &rsp) ? 0xff : rsp.state & 15;
}

/**
 * ornic_th_sq_psn - next PSN to be sent
 * @qp: the QP
 *
 * Return: the PSN.
 */
u32 ornic_th_sq_psn(struct ornic_th_qp *qp)
{
	struct ornic_rsp_query_qp rsp;

	ornic_th_query(qp, &rsp);
	return le32_to_cpu(rsp.sq_psn_timeout) & ORNIC_PSN_MASK;
}

/**
 * ornic_th_rq_psn - next PSN expected
 * @qp: the QP
 *
 * Return: the PSN.
 */
u32 ornic_th_rq_psn(struct ornic_th_qp *qp)
{
	struct ornic_rsp_query_qp rsp;

	ornic_th_query(qp, &rsp);
	return le32_to_cpu(rsp.rq_psn_rnr) & ORNIC_PSN_MASK;
}
