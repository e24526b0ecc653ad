// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the device does for kernel users only: QP 1, addresses in WQEs, keys of
 * all DMA memory.
 */
#include "engine/dev.h"
#include "suite_fixture.h"

#define UD ORNIC_QPT_UD
#define PAGE 4096u

static struct ornic_fixture *open_fix(struct kunit *test,
				      enum ornic_fix_kind kind, u8 flags)
{
	struct ornic_th_qpinit init = {
		.type = UD,
		.flags = flags,
		.max_inline = 200,
	};
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, &init), 0);
	if (kind == ORNIC_FIX_LONE)
		ornic_th_av(&fix->a.conn.av, 9, ORNIC_TH_IPV4);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	return fix;
}

/* ---- QP 1 ------------------------------------------------------------------- */

static const struct flags_row {
	const char *desc;
	u8 type;
	u8 flags;
	int status;
	u32 qpn; /* 0: an ordinary one */
} flags_rows[] = {
	{ "IBTA 3.9.5: the GSI is QP 1", UD, ORNIC_QP_GSI, ORNIC_OK, 1 },
	{ "GSI with addresses in WQEs", UD, ORNIC_QP_GSI | ORNIC_QP_AV,
	  ORNIC_OK, 1 },
	{ "addresses in WQEs", UD, ORNIC_QP_AV | ORNIC_QP_SIG_ALL, ORNIC_OK,
	  0 },
	{ "GSI on RC", ORNIC_QPT_RC, ORNIC_QP_GSI, ORNIC_BAD_PARAM, 0 },
	{ "GSI on UC", ORNIC_QPT_UC, ORNIC_QP_GSI, ORNIC_BAD_PARAM, 0 },
	{ "addresses on RC", ORNIC_QPT_RC, ORNIC_QP_AV, ORNIC_BAD_PARAM, 0 },
	{ "unknown flag", UD, 0x80, ORNIC_BAD_PARAM, 0 },
};

KUNIT_ARRAY_PARAM_DESC(flags, flags_rows, desc);

static void users_qp_flags(struct kunit *test)
{
	const struct flags_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, 0);
	struct ornic_th_qpinit init = {
		.type = row->type,
		.flags = row->flags,
	};
	struct ornic_th_qp *qp;

	qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp);
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(fix->pair.a, qp, &init, &fix->ascq,
					 &fix->arcq),
			row->status);
	if (row->status)
		return;
	if (row->qpn)
		KUNIT_EXPECT_EQ(test, qp->qpn, row->qpn);
	else
		KUNIT_EXPECT_GE(test, qp->qpn, 16);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(qp), 0);
}

static void users_one_gsi(struct kunit *test)
{
	struct ornic_fixture *fix =
		open_fix(test, ORNIC_FIX_LONE, ORNIC_QP_GSI);
	struct ornic_th_qpinit init = { .type = UD, .flags = ORNIC_QP_GSI };
	struct ornic_th_qp *qp;

	qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp);
	KUNIT_EXPECT_EQ(test, fix->a.qpn, 1);
	KUNIT_EXPECT_EQ(test,
			ornic_th_qp_init(fix->pair.a, qp, &init, &fix->ascq,
					 &fix->arcq),
			ORNIC_BUSY);
}

/* ---- Addresses in WQEs -------------------------------------------------------- */

static const struct av_row {
	const char *desc;
	enum ornic_th_gid gid;
	u8 qp_flags;
	u8 bad_sgid;
	int status;
	u8 verr;
} av_rows[] = {
	{ "IPv4", ORNIC_TH_IPV4, ORNIC_QP_AV, 0, 0, 0 },
	{ "IPv6", ORNIC_TH_IPV6, ORNIC_QP_AV, 0, 0, 0 },
	{ "VLAN", ORNIC_TH_VLAN, ORNIC_QP_AV, 0, 0, 0 },
	{ "RoCE v1", ORNIC_TH_V1, ORNIC_QP_AV, 0, 0, 0 },
	{ "empty source", ORNIC_TH_IPV4, ORNIC_QP_AV, 100,
	  ORNIC_CQE_LOC_QP_OP_ERR, ORNIC_VERR_AH },
	{ "QP of a process", ORNIC_TH_IPV4, 0, 0, ORNIC_CQE_LOC_QP_OP_ERR,
	  ORNIC_VERR_BAD_FLAGS },
};

KUNIT_ARRAY_PARAM_DESC(av, av_rows, desc);

static void users_av_in_wqe(struct kunit *test)
{
	const struct av_row *row = test->param_value;
	struct ornic_fixture *fix =
		open_fix(test, ORNIC_FIX_LONE, row->qp_flags);
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 5, 99);
	struct ornic_av av;
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.nsge = 1,
		.sge = &sge,
		.dest_qpn = 1,
		.dest_qkey = 0x80010000,
		.flags = ORNIC_WQE_SIGNALED | ORNIC_WQE_AV,
		.av = &av,
	};
	struct ornic_cqe cqe;

	ornic_th_av(&av, 7, row->gid);
	if (row->bad_sgid)
		av.sgid_index = row->bad_sgid;
	ornic_th_post_send(&fix->a, &wr);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), row->status);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, row->verr);
	KUNIT_ASSERT_EQ(test, ornic_fix_sent(fix), !row->status);
	if (row->status)
		return;
	KUNIT_EXPECT_EQ(test, fix->pkt.qpn, 1);
	KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, 99);
	KUNIT_EXPECT_EQ(test, fix->rx.ipv6,
			row->gid == ORNIC_TH_IPV6 || row->gid == ORNIC_TH_V1);
	KUNIT_EXPECT_EQ(test, ornic_ip_is_grh(fix->rx.ip, fix->rx.ipv6),
			row->gid == ORNIC_TH_V1);
	KUNIT_EXPECT_EQ(test, fix->rx.vlan,
			row->gid == ORNIC_TH_VLAN ? ORNIC_TH_VLAN_ID :
						    ORNIC_VLAN_NONE);
}

/* Addresses share the store with inline data of the full length. */
static void users_av_beside_inline(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, ORNIC_QP_AV);
	const u32 len = 150;
	struct ornic_av av;
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.inline_data = fix->buf,
		.inline_len = len,
		.dest_qpn = 1,
		.flags = ORNIC_WQE_INLINE | ORNIC_WQE_AV,
		.av = &av,
	};
	struct ornic_frag frag[ORNIC_RX_SEGS];

	memset(fix->buf, 0x5a, len);
	ornic_th_av(&av, 7, ORNIC_TH_IPV6);
	ornic_th_post_send(&fix->a, &wr);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_ASSERT_EQ(test, ornic_pkt_payload(&fix->pkt, frag), 1);
	KUNIT_ASSERT_EQ(test, frag[0].len, len);
	KUNIT_EXPECT_MEMEQ(test, frag[0].ptr, fix->buf, len);
}

/* ---- What a receiver is told ------------------------------------------------- */

static const struct loop_row {
	const char *desc;
	enum ornic_th_gid gid;
} loop_rows[] = {
	{ "IBTA A17.4.5.2: 20 bytes, then IPv4", ORNIC_TH_IPV4 },
	{ "IBTA A17.4.5.2: IPv6", ORNIC_TH_IPV6 },
	{ "IBTA 8.3: GRH", ORNIC_TH_V1 },
};

KUNIT_ARRAY_PARAM_DESC(loop, loop_rows, desc);

/* Programs tell the families apart by the checksum of the header. */
static void users_grh_of_loopback(struct kunit *test)
{
	const struct loop_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, ORNIC_QP_AV);
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 10);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.nsge = 1,
		.sge = &sge,
		.dest_qpn = fix->b.qpn,
		.dest_qkey = 0x1234,
		.flags = ORNIC_WQE_AV,
	};
	bool ipv4 = row->gid == ORNIC_TH_IPV4;
	u8 grh[ORNIC_GRH_LEN];
	struct ornic_cqe cqe;
	struct ornic_av av;
	u32 i, sum = 0;

	ornic_th_av(&av, fix->pair.a->index, row->gid);
	wr.av = &av;
	ornic_fix_recv(&fix->b, &fix->bm, 1, 0, 100);
	ornic_th_post_send(&fix->a, &wr);
	KUNIT_ASSERT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, !!(cqe.flags & ORNIC_CQE_IPV4), ipv4);
	KUNIT_EXPECT_EQ(test, !!(cqe.flags & ORNIC_CQE_ROCE_V1),
			row->gid == ORNIC_TH_V1);
	KUNIT_EXPECT_TRUE(test, cqe.flags & ORNIC_CQE_GRH);
	ornic_th_mr_read(&fix->bm, 0, grh, sizeof(grh));
	if (!ipv4) {
		KUNIT_EXPECT_EQ(test, grh[0] >> 4, 6);
		KUNIT_EXPECT_EQ(test, grh[6],
				row->gid == ORNIC_TH_V1 ? ORNIC_NXTHDR_BTH :
							  17);
		return;
	}
	for (i = 20; i < sizeof(grh); i += 2)
		sum += grh[i] << 8 | grh[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	KUNIT_EXPECT_EQ(test, (sum & 0xffff) + (sum >> 16), 0xffff);
}

/* ---- Keys of all memory --------------------------------------------------------- */

static int create_dma_key(struct ornic_fixture *fix, u8 flags, u64 length,
			  u32 *key)
{
	struct ornic_req_create_mkey *c;
	union ornic_req req;
	union ornic_rsp rsp;
	int status;

	memset(&req, 0, sizeof(req));
	c = &req.create_mkey;
	c->hdr.opcode = ORNIC_CMD_CREATE_MKEY;
	c->pdn = cpu_to_le32(fix->pair.a->pdn);
	c->access = ORNIC_ACCESS_LOCAL_WRITE;
	c->flags = flags;
	c->length = cpu_to_le64(length);
	status = ornic_th_cmd(fix->pair.a, &req, &rsp);
	*key = le32_to_cpu(rsp.hdr.obj);
	return status;
}

static void users_dma_key_is_plain(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LONE, ORNIC_QP_AV);
	u32 key;

	KUNIT_EXPECT_EQ(test, create_dma_key(fix, ORNIC_MKEY_DMA, PAGE, &key),
			ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, create_dma_key(fix, 0x80, 0, &key),
			ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, create_dma_key(fix, 0, 0, &key), ORNIC_BAD_PARAM);
}

static const struct dma_row {
	const char *desc;
	bool mapped;
	u32 len;
	int status;
	u8 verr;
} dma_rows[] = {
	{ "memory that is mapped", true, 1000, 0, 0 },
	{ "beyond what is mapped", true, 64 * PAGE, ORNIC_CQE_LOC_PROT_ERR,
	  ORNIC_VERR_LKEY_RANGE },
	{ "memory that is not", false, 1, ORNIC_CQE_LOC_PROT_ERR,
	  ORNIC_VERR_LKEY_RANGE },
};

KUNIT_ARRAY_PARAM_DESC(dma, dma_rows, desc);

static void users_dma_key(struct kunit *test)
{
	const struct dma_row *row = test->param_value;
	struct ornic_fixture *fix = test->priv;
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	u8 *page;
	struct ornic_lsge sge = { .length = row->len };
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.nsge = 1,
		.sge = &sge,
		.flags = ORNIC_WQE_SIGNALED,
	};
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LOOP, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	page = ornic_th_alloc(fix->pair.a, PAGE);
	KUNIT_ASSERT_NOT_NULL(test, page);
	memset(page, 0x77, PAGE);
	KUNIT_ASSERT_EQ(test, create_dma_key(fix, ORNIC_MKEY_DMA, 0, &sge.lkey),
			0);
	sge.addr = row->mapped ? (uintptr_t)page + 16 : PAGE;
	ornic_fix_recv(&fix->b, &fix->bm, 1, 0, ORNIC_FIX_MR_BYTES);
	ornic_th_post_send(&fix->a, &wr);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), row->status);
	KUNIT_EXPECT_EQ(test, cqe.vendor_err, row->verr);
	if (!row->status) {
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), row->len);
	}
	KUNIT_EXPECT_EQ(test,
			ornic_th_destroy_obj(fix->pair.a,
					     ORNIC_CMD_DESTROY_MKEY, sge.lkey),
			0);
	ornic_th_free(fix->pair.a, page);
}

/* What only the run of a command may name: memory that has no DMA address. */
static u8 *hidden;

static void *run_of_hidden(void *host, u64 addr, u64 len)
{
	return addr == (uintptr_t)hidden && len <= PAGE ? hidden : NULL;
}

static int create_run(struct ornic_th *th, u32 *key)
{
	union ornic_req req = {};
	union ornic_rsp rsp;
	int status;

	req.create_mkey.hdr.opcode = ORNIC_CMD_CREATE_MKEY;
	req.create_mkey.mem.addr = cpu_to_le64((uintptr_t)hidden);
	req.create_mkey.mem.npages = cpu_to_le32(1);
	req.create_mkey.mem.page_shift = 12;
	req.create_mkey.pdn = cpu_to_le32(th->pdn);
	req.create_mkey.access = ORNIC_ACCESS_MASK;
	req.create_mkey.length = cpu_to_le64(PAGE);
	status = ornic_th_cmd(th, &req, &rsp);
	*key = le32_to_cpu(rsp.hdr.obj);
	return status;
}

static const struct run_row {
	const char *desc;
	enum ornic_fix_kind kind;
	u8 opcode;
	bool remote; /* the peer has the key */
	int status;
} run_rows[] = {
	{ "SEND", ORNIC_FIX_WIRE, ORNIC_WQE_SEND, false,
	  ORNIC_CQE_LOC_PROT_ERR },
	{ "READ", ORNIC_FIX_WIRE, ORNIC_WQE_READ, false,
	  ORNIC_CQE_LOC_PROT_ERR },
	{ "WRITE, remote", ORNIC_FIX_WIRE, ORNIC_WQE_WRITE, true,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "READ, remote", ORNIC_FIX_WIRE, ORNIC_WQE_READ, true,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "atomic, remote", ORNIC_FIX_WIRE, ORNIC_WQE_FAA, true,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "SEND, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_SEND, false,
	  ORNIC_CQE_LOC_PROT_ERR },
	{ "WRITE, remote, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE, true,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "READ, remote, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_READ, true,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "atomic, remote, loopback", ORNIC_FIX_LOOP, ORNIC_WQE_FAA, true,
	  ORNIC_CQE_REM_ACCESS_ERR },
};

KUNIT_ARRAY_PARAM_DESC(run, run_rows, desc);

/* A peer with a key of all DMA memory has no access to it by its address. */
static void users_run_is_no_dma_memory(struct kunit *test)
{
	const struct run_row *row = test->param_value;
	struct ornic_fixture *fix =
		ornic_suite_open(test, row->kind, ORNIC_QPT_RC);
	struct ornic_th *th = row->remote ? fix->pair.b : fix->pair.a;
	const struct ornic_engine_ops *th_ops = th->eng->dev.ops;
	struct ornic_engine_ops ops = *th_ops;
	struct ornic_lsge here = ornic_fix_sge(&fix->am, 0, 8);
	struct ornic_th_wr wr = {
		.opcode = row->opcode,
		.nsge = 1,
		.sge = &here,
		.flags = ORNIC_WQE_SIGNALED,
		.raddr = fix->bm.iova,
		.rkey = fix->bm.key,
	};
	struct ornic_cqe cqe;
	u32 key, run;

	hidden = kunit_kzalloc(test, PAGE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hidden);
	KUNIT_ASSERT_EQ(test, create_run(th, &run), ORNIC_BAD_ADDR);
	ops.run = run_of_hidden;
	th->eng->dev.ops = &ops;
	KUNIT_EXPECT_EQ(test, create_run(th, &run), 0);
	th->eng->dev.ops = th_ops;
	KUNIT_ASSERT_EQ(test,
			ornic_th_mkey(th, ORNIC_MKEY_DMA, 0, ORNIC_ACCESS_MASK,
				      &key),
			0);
	if (row->remote) {
		wr.raddr = (uintptr_t)hidden;
		wr.rkey = key;
	} else {
		here = (struct ornic_lsge){ (uintptr_t)hidden, 8, key };
	}
	ornic_fix_recv(&fix->b, &fix->bm, 1, 0, 100);
	ornic_th_post_send(&fix->a, &wr);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), row->status);
}

/* ---- Draining ------------------------------------------------------------------- */

static const struct drain_row {
	const char *desc;
	enum ornic_fix_kind kind;
	u8 from; /* state before ERR */
	u32 before; /* work requests of each queue before the last */
} drain_rows[] = {
	{ "never used", ORNIC_FIX_WIRE, ORNIC_QPS_RESET, 0 },
	{ "not connected", ORNIC_FIX_WIRE, ORNIC_QPS_INIT, 0 },
	{ "idle", ORNIC_FIX_WIRE, ORNIC_QPS_RTS, 0 },
	{ "with work under way", ORNIC_FIX_WIRE, ORNIC_QPS_RTS, 5 },
	{ "loopback", ORNIC_FIX_LOOP, ORNIC_QPS_RTS, 5 },
};

KUNIT_ARRAY_PARAM_DESC(drain, drain_rows, desc);

/* b takes nothing, so that a's messages wait for it. */
static void post_some(struct ornic_fixture *fix, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0,
			       100);
		ornic_fix_recv(&fix->a, &fix->am, 2, 0, 100);
	}
}

static u32 last_of(struct ornic_th_cq *cq, u64 wr_id)
{
	struct ornic_cqe cqe;
	u32 n = 0;

	while (ornic_fix_status(cq, &cqe) == ORNIC_CQE_WR_FLUSH_ERR) {
		n++;
		if (le64_to_cpu(cqe.wr_id) == wr_id)
			return n;
	}
	return 0;
}

/*
 * How a kernel user drains: it moves the QP to ERR, posts one more to each
 * queue, without a wish for a completion, and waits for both to complete.
 * IBTA 10.3.1: in ERR each work request completes, in order.
 */
static void users_drain(struct kunit *test)
{
	const struct drain_row *row = test->param_value;
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_th_wr last = { .opcode = ORNIC_WQE_WRITE, .wr_id = 77 };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, row->kind, &init), 0);
	if (row->from == ORNIC_QPS_INIT)
		KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, row->from), 0);
	if (row->from == ORNIC_QPS_RTS)
		KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	post_some(fix, row->before);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_ERR), 0);
	ornic_th_post_send(&fix->a, &last);
	ornic_th_post_recv(&fix->a, 78, NULL, 0);
	KUNIT_EXPECT_EQ(test, last_of(&fix->ascq, 77), row->before + 1);
	KUNIT_EXPECT_EQ(test, last_of(&fix->arcq, 78), row->before + 1);
}

static struct kunit_case users_cases[] = {
	KUNIT_CASE_PARAM(users_qp_flags, flags_gen_params),
	KUNIT_CASE(users_one_gsi),
	KUNIT_CASE_PARAM(users_av_in_wqe, av_gen_params),
	KUNIT_CASE(users_av_beside_inline),
	KUNIT_CASE_PARAM(users_grh_of_loopback, loop_gen_params),
	KUNIT_CASE(users_dma_key_is_plain),
	KUNIT_CASE_PARAM(users_dma_key, dma_gen_params),
	KUNIT_CASE_PARAM(users_run_is_no_dma_memory, run_gen_params),
	KUNIT_CASE_PARAM(users_drain, drain_gen_params),
	{}
};

static struct kunit_suite users_suite = {
	.name = "ornic_kernel_users",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = users_cases,
};

kunit_test_suite(users_suite);

MODULE_DESCRIPTION("ornic: suite of what kernel users need");
MODULE_LICENSE("Dual BSD/GPL");
