// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Makes two RDMA devices say everything once, so that their packets can be
 * captured: each opcode of RC, UC and UD, payloads with each pad, ACK, and
 * the NAKs. Path MTU 256 keeps the packets short. Used by capture.sh.
 *
 *	rxe_traffic DEVICE GID_INDEX DEVICE GID_INDEX
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <infiniband/verbs.h>

#define BUF_BYTES 4096
#define QKEY 0x11223344

struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	union ibv_gid gid;
	int gid_index;
	unsigned char *buf;
	uint32_t psn;
};

static void check(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return ibv_open_device(list[i]);
	}
	return NULL;
}

static void open_side(struct side *s, const char *name, int gid_index)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	int i;

	s->ctx = open_device(name);
	check(!!s->ctx, name);
	s->gid_index = gid_index;
	check(!ibv_query_gid(s->ctx, 1, gid_index, &s->gid), "gid");
	s->pd = ibv_alloc_pd(s->ctx);
	s->buf = aligned_alloc(4096, BUF_BYTES);
	check(s->pd && s->buf, "pd");
	for (i = 0; i < BUF_BYTES; i++)
		s->buf[i] = (unsigned char)(i * 7 + i / 256);
	s->mr = ibv_reg_mr(s->pd, s->buf, BUF_BYTES, access);
	s->cq = ibv_create_cq(s->ctx, 64, NULL, NULL, 0);
	check(s->mr && s->cq, "mr");
}

static void create_qp(struct side *s, enum ibv_qp_type type, uint32_t psn)
{
	struct ibv_qp_init_attr init = {
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.cap = { 16, 16, 2, 2, 0 },
		.qp_type = type,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = QKEY,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	s->psn = psn;
	s->qp = ibv_create_qp(s->pd, &init);
	check(!!s->qp, "create_qp");
	if (type == IBV_QPT_RC)
		attr.qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC |
				       IBV_ACCESS_REMOTE_READ;
	attr.qp_access_flags |= IBV_ACCESS_REMOTE_WRITE;
	mask |= type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	check(!ibv_modify_qp(s->qp, &attr, mask), "INIT");
}

static void fill_ah(struct ibv_ah_attr *ah, const struct side *from,
		    const struct side *to)
{
	memset(ah, 0, sizeof(*ah));
	ah->is_global = 1;
	ah->port_num = 1;
	ah->grh.dgid = to->gid;
	ah->grh.sgid_index = (uint8_t)from->gid_index;
	ah->grh.hop_limit = 17;
	ah->grh.traffic_class = 0x28;
}

static void connect_qp(struct side *s, struct side *peer)
{
	int rc = s->qp->qp_type == IBV_QPT_RC,
	    ud = s->qp->qp_type == IBV_QPT_UD;
	int rtr = IBV_QP_STATE, rts = IBV_QP_STATE | IBV_QP_SQ_PSN;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_256,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = peer->psn,
		.max_dest_rd_atomic = 4,
		.max_rd_atomic = 4,
		.min_rnr_timer = 26,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.sq_psn = s->psn,
	};

	if (!ud)
		rtr |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		       IBV_QP_RQ_PSN;
	if (rc) {
		rtr |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		rts |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		       IBV_QP_MAX_QP_RD_ATOMIC;
	}
	fill_ah(&attr.ah_attr, s, peer);
	check(!ibv_modify_qp(s->qp, &attr, rtr), "RTR");
	attr.qp_state = IBV_QPS_RTS;
	check(!ibv_modify_qp(s->qp, &attr, rts), "RTS");
}

static enum ibv_wc_status wait_wc(struct side *s)
{
	struct ibv_wc wc;
	long tries;
	int n = 0;

	for (tries = 0; tries < 100000000 && !n; tries++)
		n = ibv_poll_cq(s->cq, 1, &wc);
	check(n == 1, "no completion");
	return wc.status;
}

static void post_recv(struct side *s)
{
	struct ibv_sge sge = { (uintptr_t)s->buf, 2048, s->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	check(!ibv_post_recv(s->qp, &wr, &bad), "post_recv");
}

struct op {
	enum ibv_wr_opcode opcode;
	uint32_t bytes;
	unsigned int flags;
	int bad_rkey;
};

static void post_send(struct side *s, struct side *peer, const struct op *op,
		      struct ibv_ah *ah)
{
	struct ibv_sge sge = { (uintptr_t)s->buf, op->bytes, s->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = op->bytes ? 1 : 0,
		.opcode = op->opcode,
		.send_flags = IBV_SEND_SIGNALED | op->flags,
		.imm_data = htonl(0x89abcdef),
	}, *bad;
	uint32_t rkey = peer->mr->rkey ^ (op->bad_rkey ? 0xff : 0);

	if (ah) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = peer->qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	} else if (op->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		   op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)peer->buf + 2048;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 0x0102030405060708;
		wr.wr.atomic.swap = 0x1112131415161718;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)peer->buf + 1024;
		wr.wr.rdma.rkey = rkey;
	}
	check(!ibv_post_send(s->qp, &wr, &bad), "post_send");
}

static int takes_recv(const struct op *op)
{
	return op->opcode == IBV_WR_SEND ||
	       op->opcode == IBV_WR_SEND_WITH_IMM ||
	       op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static const struct op ops[] = {
	{ IBV_WR_SEND, 0, 0, 0 },
	{ IBV_WR_SEND, 1, IBV_SEND_SOLICITED, 0 },
	{ IBV_WR_SEND, 2, 0, 0 },
	{ IBV_WR_SEND_WITH_IMM, 31, 0, 0 },
	{ IBV_WR_SEND, 520, 0, 0 },
	{ IBV_WR_SEND_WITH_IMM, 521, IBV_SEND_SOLICITED, 0 },
	{ IBV_WR_RDMA_WRITE, 0, 0, 0 },
	{ IBV_WR_RDMA_WRITE, 23, 0, 0 },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, 42, 0, 0 },
	{ IBV_WR_RDMA_WRITE, 600, 0, 0 },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, 601, 0, 0 },
	{ IBV_WR_RDMA_READ, 17, 0, 0 },
	{ IBV_WR_RDMA_READ, 582, 0, 0 },
	{ IBV_WR_ATOMIC_CMP_AND_SWP, 8, 0, 0 },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 0, 0 },
	{ IBV_WR_RDMA_WRITE, 16, 0, 1 },
};

static int supports(enum ibv_qp_type type, const struct op *op)
{
	if (type == IBV_QPT_RC)
		return 1;
	if (type == IBV_QPT_UD)
		return takes_recv(op) && op->bytes <= 256 &&
		       op->opcode != IBV_WR_RDMA_WRITE_WITH_IMM;
	return op->opcode < IBV_WR_RDMA_READ && !op->bad_rkey;
}

/* The receive comes late, so that the first try of an RC meets an RNR NAK. */
static void rnr(struct side *a, struct side *b)
{
	static const struct op op = { IBV_WR_SEND, 5, 0, 0 };
	struct timespec wait = { 0, 150000000 };

	post_send(a, b, &op, NULL);
	nanosleep(&wait, NULL);
	post_recv(b);
	check(!wait_wc(a) && !wait_wc(b), "rnr");
}

static void exchange(struct side *a, struct side *b, enum ibv_qp_type type)
{
	struct ibv_ah *ah = NULL;
	struct ibv_ah_attr ah_attr;
	unsigned int i;

	create_qp(a, type, 0xfffff0);
	create_qp(b, type, 0x123456);
	connect_qp(a, b);
	connect_qp(b, a);
	if (type == IBV_QPT_UD) {
		fill_ah(&ah_attr, a, b);
		ah = ibv_create_ah(a->pd, &ah_attr);
		check(!!ah, "ah");
	}
	if (type == IBV_QPT_RC)
		rnr(a, b);
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (!supports(type, &ops[i]))
			continue;
		if (takes_recv(&ops[i]))
			post_recv(b);
		post_send(a, b, &ops[i], ah);
		check(!wait_wc(a) == !ops[i].bad_rkey, "send");
		if (takes_recv(&ops[i]))
			check(!wait_wc(b), "recv");
	}
	ibv_destroy_qp(a->qp);
	ibv_destroy_qp(b->qp);
	if (ah)
		ibv_destroy_ah(ah);
}

int main(int argc, char **argv)
{
	struct side a = { 0 }, b = { 0 };

	check(argc == 5,
	      "usage: rxe_traffic DEVICE GID_INDEX DEVICE GID_INDEX");
	open_side(&a, argv[1], atoi(argv[2]));
	open_side(&b, argv[3], atoi(argv[4]));
	exchange(&a, &b, IBV_QPT_RC);
	exchange(&a, &b, IBV_QPT_UC);
	exchange(&a, &b, IBV_QPT_UD);
	return 0;
}
