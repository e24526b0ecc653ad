// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Descriptors with packed fields, statuses and access rights:
 * driver/ornic_pack.c.
 */
#include <kunit/test.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ornic-hw.h>

#include "ornic_pack.h"

static const struct status_case {
	const char *name;
	u8 status;
	int ret;
} status_cases[] = {
	{ "ok", ORNIC_OK, 0 },
	{ "bad opcode", ORNIC_BAD_OPCODE, -EOPNOTSUPP },
	{ "bad param", ORNIC_BAD_PARAM, -EINVAL },
	{ "no resource", ORNIC_NO_RESOURCE, -ENOMEM },
	{ "limit", ORNIC_LIMIT, -ENOSPC },
	{ "bad state", ORNIC_BAD_STATE, -EINVAL },
	{ "not found", ORNIC_NOT_FOUND, -ENOENT },
	{ "busy", ORNIC_BUSY, -EBUSY },
	{ "bad addr", ORNIC_BAD_ADDR, -EFAULT },
	{ "failed", ORNIC_FAILED, -EIO },
	{ "exists", ORNIC_EXISTS, -EEXIST },
	{ "first unknown", ORNIC_EXISTS + 1, -EIO },
	{ "last unknown", 255, -EIO },
};

KUNIT_ARRAY_PARAM_DESC(status, status_cases, name);

static void status_has_its_errno(struct kunit *test)
{
	const struct status_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, ornic_status_to_errno(c->status), c->ret);
}

static const struct ornic_av_params a_path = {
	.dgid = { 0xfe, 0x80, [15] = 0x42 },
	.dmac = { 2, 3, 4, 5, 6, 7 },
	.udp_sport = 0xc1d2,
	.flow_label = 0xabcde,
	.sgid_index = 17,
	.tclass = 0xb8,
	.hop_limit = 64,
	.sl = 5,
};

static void check_av(struct kunit *test, const struct ornic_av *av)
{
	KUNIT_EXPECT_MEMEQ(test, av->dgid, a_path.dgid, 16);
	KUNIT_EXPECT_MEMEQ(test, av->dmac, a_path.dmac, 6);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(av->udp_sport), 0xc1d2);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(av->flow_label), 0xabcdeu);
	KUNIT_EXPECT_EQ(test, av->sgid_index, 17);
	KUNIT_EXPECT_EQ(test, av->tclass, 0xb8);
	KUNIT_EXPECT_EQ(test, av->hop_limit, 64);
	KUNIT_EXPECT_EQ(test, av->sl, 5);
}

static void av_has_every_field(struct kunit *test)
{
	struct ornic_av av;

	ornic_pack_av(&a_path, &av);
	check_av(test, &av);
}

static struct ornic_qp_params all_ones(void)
{
	struct ornic_qp_params params = {
		.mask = ORNIC_QPM_ALL & ~ORNIC_QPM_RATE_LIMIT,
		.state = ORNIC_QPS_RTS,
		.cur_state = ORNIC_QPS_SQD,
		.access = 0x0f,
		.path_mtu = 5,
		.timeout = 31,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 31,
		.max_rd_atomic = 16,
		.max_dest_rd_atomic = 128,
		.sqd_notify = true,
		.rq_psn = 0xffffff,
		.sq_psn = 0xfffffe,
		.dest_qpn = 0xfffffd,
		.qkey_ece = 0x81234567,
		.pkey_index = 31,
		.path = a_path,
	};

	return params;
}

static void modify_qp_packs_every_field(struct kunit *test)
{
	struct ornic_qp_params params = all_ones();
	struct ornic_req_modify_qp req = {};

	ornic_pack_modify_qp(&params, &req);
	KUNIT_EXPECT_EQ(test, req.hdr.param, 0x7f);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(req.mask), 0x3ffffu);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(req.rq_psn_rnr), 0x1fffffffu);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(req.sq_psn_timeout), 0x1ffffffeu);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(req.dest_qpn_mtu), 0xfdfffffdu);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(req.qkey_ece), 0x81234567u);
	KUNIT_EXPECT_EQ(test, req.state, 0x43);
	KUNIT_EXPECT_EQ(test, req.access, 0x0f);
	KUNIT_EXPECT_EQ(test, req.max_rd_atomic, 16);
	KUNIT_EXPECT_EQ(test, req.max_dest_rd_atomic, 128);
	check_av(test, &req.av);
}

/* Of raw packet QPs, in the place of what those do not have. */
static void modify_qp_packs_rate_limit(struct kunit *test)
{
	struct ornic_qp_params params = {
		.mask = ORNIC_QPM_RATE_LIMIT,
		.qkey_ece = 0x81234567,
		.max_burst = 0xfedcba98,
	};
	struct ornic_req_modify_qp req = {};

	ornic_pack_modify_qp(&params, &req);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(req.mask), 0x40000u);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(req.qkey_ece), 0x81234567u);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(req.rq_psn_rnr), 0xfedcba98u);
}

/* No value, however wrong, reaches the bits of another one. */
static void modify_qp_keeps_fields_apart(struct kunit *test)
{
	struct ornic_qp_params params = {
		.state = 0xff,
		.path_mtu = 0xff,
		.pkey_index = 0,
		.timeout = 0xff,
		.retry_cnt = 0xff,
		.rq_psn = 0xffffffff,
		.sq_psn = 0,
		.dest_qpn = 0,
	};
	struct ornic_req_modify_qp req = {};

	ornic_pack_modify_qp(&params, &req);
	KUNIT_EXPECT_EQ(test, req.hdr.param, 0x07);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(req.rq_psn_rnr), 0x00ffffffu);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(req.sq_psn_timeout), 0x1f000000u);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(req.dest_qpn_mtu), 0x07000000u);
	KUNIT_EXPECT_EQ(test, req.state, 0x0f);
	params.path_mtu = 0;
	params.pkey_index = 0xff;
	ornic_pack_modify_qp(&params, &req);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(req.dest_qpn_mtu), 0xf8000000u);
}

struct query_case {
	const char *name;
	u8 state, mtu;
	int ret;
};

static const struct query_case query_cases[] = {
	{ "last state", ORNIC_QPS_ERR, 5, 0 },
	{ "datagrams have no MTU", ORNIC_QPS_RTS, 0, 0 },
	{ "first state that there is not", ORNIC_QPS_ERR + 1, 5, -EIO },
	{ "last state of its bits", 15, 5, -EIO },
	{ "first MTU that there is not", ORNIC_QPS_RTS, 6, -EIO },
	{ "last MTU of its bits", ORNIC_QPS_RTS, 7, -EIO },
};

KUNIT_ARRAY_PARAM_DESC(query, query_cases, name);

/* Verbs use both as an index. */
static void query_qp_refuses_nonsense(struct kunit *test)
{
	const struct query_case *c = test->param_value;
	struct ornic_rsp_query_qp rsp = {
		.state = c->state,
		.dest_qpn_mtu = cpu_to_le32((u32)c->mtu << 24),
	};
	struct ornic_qp_params params;

	KUNIT_EXPECT_EQ(test, ornic_unpack_query_qp(&rsp, &params), c->ret);
}

static void query_qp_is_the_inverse(struct kunit *test)
{
	struct ornic_qp_params in = all_ones();
	struct ornic_req_modify_qp req = {};
	struct ornic_rsp_query_qp rsp = {};
	struct ornic_qp_params out;

	ornic_pack_modify_qp(&in, &req);
	rsp.rq_psn_rnr = req.rq_psn_rnr;
	rsp.sq_psn_timeout = req.sq_psn_timeout;
	rsp.dest_qpn_mtu = req.dest_qpn_mtu;
	rsp.qkey_ece = req.qkey_ece;
	rsp.av = req.av;
	rsp.state = req.state & 0xf;
	rsp.access = req.access;
	rsp.max_rd_atomic = req.max_rd_atomic;
	rsp.max_dest_rd_atomic = req.max_dest_rd_atomic;
	rsp.retry_cnt = 6;
	rsp.rnr_retry = 5;
	rsp.sq_draining = 1;
	ornic_unpack_query_qp(&rsp, &out);

	KUNIT_EXPECT_EQ(test, out.state, in.state);
	KUNIT_EXPECT_EQ(test, out.access, in.access);
	KUNIT_EXPECT_EQ(test, out.path_mtu, in.path_mtu);
	KUNIT_EXPECT_EQ(test, out.timeout, in.timeout);
	KUNIT_EXPECT_EQ(test, out.min_rnr_timer, in.min_rnr_timer);
	KUNIT_EXPECT_EQ(test, out.max_rd_atomic, in.max_rd_atomic);
	KUNIT_EXPECT_EQ(test, out.max_dest_rd_atomic, in.max_dest_rd_atomic);
	KUNIT_EXPECT_EQ(test, out.rq_psn, in.rq_psn);
	KUNIT_EXPECT_EQ(test, out.sq_psn, in.sq_psn);
	KUNIT_EXPECT_EQ(test, out.dest_qpn, in.dest_qpn);
	KUNIT_EXPECT_EQ(test, out.qkey_ece, in.qkey_ece);
	KUNIT_EXPECT_EQ(test, out.pkey_index, in.pkey_index);
	KUNIT_EXPECT_EQ(test, out.retry_cnt, 6);
	KUNIT_EXPECT_EQ(test, out.rnr_retry, 5);
	KUNIT_EXPECT_TRUE(test, out.sq_draining);
	KUNIT_EXPECT_MEMEQ(test, &out.path, &in.path, sizeof(in.path));
}

#define LOCAL IB_UVERBS_ACCESS_LOCAL_WRITE
#define WRITE_ IB_UVERBS_ACCESS_REMOTE_WRITE
#define READ_ IB_UVERBS_ACCESS_REMOTE_READ
#define ATOMIC IB_UVERBS_ACCESS_REMOTE_ATOMIC

#define QP_FLAGS (LOCAL | WRITE_ | READ_ | ATOMIC | ORNIC_VERBS_FLUSH_GLOBAL)

static const struct access_case {
	const char *name;
	u32 flags;
	int mr_ret;
	int qp_ret;
	u8 access;
} access_cases[] = {
	/* IBTA 10.6.3.1: remote write and atomic need local write */
	{ "none", 0, 0, 0, 0 },
	{ "local write", LOCAL, 0, 0, 0x1 },
	{ "remote read", READ_, 0, 0, 0x4 },
	{ "remote write alone", WRITE_, -EINVAL, 0, 0x2 },
	{ "remote atomic alone", ATOMIC, -EINVAL, 0, 0x8 },
	{ "remote write", LOCAL | WRITE_, 0, 0, 0x3 },
	{ "remote atomic", LOCAL | ATOMIC, 0, 0, 0x9 },
	{ "all", LOCAL | WRITE_ | READ_ | ATOMIC, 0, 0, 0xf },
	{ "relaxed ordering", LOCAL | IB_UVERBS_ACCESS_RELAXED_ORDERING, 0, 0,
	  0x1 },
	{ "any optional", IB_UVERBS_ACCESS_OPTIONAL_RANGE, 0, 0, 0 },
	{ "memory window", LOCAL | IB_UVERBS_ACCESS_MW_BIND, 0, 0, 0x11 },
	{ "zero based", IB_UVERBS_ACCESS_ZERO_BASED, -EOPNOTSUPP, 0, 0 },
	{ "on demand", IB_UVERBS_ACCESS_ON_DEMAND, -EOPNOTSUPP, 0, 0 },
	{ "IBTA A19: flush", LOCAL | ORNIC_VERBS_FLUSH_GLOBAL, 0, 0, 0x81 },
	{ "flush to persistence", ORNIC_VERBS_FLUSH_PERSISTENT, -EOPNOTSUPP, 0,
	  0 },
	{ "huge pages", IB_UVERBS_ACCESS_HUGETLB, -EOPNOTSUPP, 0, 0 },
	{ "unknown", 1u << 31, -EOPNOTSUPP, -EOPNOTSUPP, 0 },
};

KUNIT_ARRAY_PARAM_DESC(access, access_cases, name);

static void access_is_granted_or_refused(struct kunit *test)
{
	const struct access_case *c = test->param_value;
	u8 access = 0;

	KUNIT_EXPECT_EQ(test, ornic_mr_access(c->flags, &access), c->mr_ret);
	if (!c->mr_ret)
		KUNIT_EXPECT_EQ(test, access, c->access);
	access = 0;
	KUNIT_EXPECT_EQ(test, ornic_qp_access(c->flags, &access), c->qp_ret);
	if (!c->qp_ret) {
		/* Those of MRs have no meaning for a QP. */
		KUNIT_EXPECT_EQ(test, access, c->access & ORNIC_ACCESS_MASK);
		/* QUERY_QP returns what was set. */
		KUNIT_EXPECT_EQ(test, ornic_access_flags(access),
				c->flags & QP_FLAGS);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(status_has_its_errno, status_gen_params),
	KUNIT_CASE(av_has_every_field),
	KUNIT_CASE(modify_qp_packs_every_field),
	KUNIT_CASE(modify_qp_packs_rate_limit),
	KUNIT_CASE(modify_qp_keeps_fields_apart),
	KUNIT_CASE(query_qp_is_the_inverse),
	KUNIT_CASE_PARAM(query_qp_refuses_nonsense, query_gen_params),
	KUNIT_CASE_PARAM(access_is_granted_or_refused, access_gen_params),
	{}
};

static struct kunit_suite suite = {
	.name = "ornic_driver_pack",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_DESCRIPTION("KUnit suite of ornic's descriptors and access rights");
MODULE_LICENSE("Dual BSD/GPL");
