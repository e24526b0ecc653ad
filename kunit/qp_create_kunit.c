// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What CREATE_QP takes of its queues, and the number that it gives. */
#include <kunit/test.h>

#include "pair_fixture.h"
#include "engine/proto.h"

#define PAGES 4

static int create_init(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };

	test->priv =
		kunit_kzalloc(test, sizeof(struct ornic_fixture), GFP_KERNEL);
	if (!test->priv)
		return -ENOMEM;
	return ornic_fix_open(test->priv, ORNIC_FIX_WIRE, &init) ? -EINVAL : 0;
}

static void create_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ornic_fix_close(test->priv), 0);
}

static const struct shape_row {
	const char *name;
	u8 log_depth, log_stride, max_sge;
	int status;
	u32 npages; /* 0: PAGES */
} shape_rows[] = {
	{ "an SGE", 4, 5, 1, ORNIC_OK },
	{ "no SGE", 4, 5, 0, ORNIC_OK },
	{ "an SGE more than fits", 4, 5, 2, ORNIC_BAD_PARAM },
	{ "SGEs for another slot", 4, 5, 32, ORNIC_BAD_PARAM },
	{ "as many as fit", 4, 6, 3, ORNIC_OK },
	{ "as many as there are", 2, 10, 32, ORNIC_OK },
	{ "as many, in half of the slot", 2, 9, 32, ORNIC_BAD_PARAM },
	{ "more than there are", 2, 10, 33, ORNIC_BAD_PARAM },
	{ "slots too small", 4, 4, 0, ORNIC_BAD_PARAM },
	{ "slots too large", 1, 11, 1, ORNIC_BAD_PARAM },
	{ "too deep", 15, 5, 1, ORNIC_BAD_PARAM },
	{ "as deep as any", ORNIC_LOG_MAX_WQE, 5, 1, ORNIC_OK, 257 },
	{ "deeper than any", ORNIC_LOG_MAX_WQE + 1, 5, 1, ORNIC_BAD_PARAM,
	  513 },
};

KUNIT_ARRAY_PARAM_DESC(shape, shape_rows, name);

/* CREATE_QP of an RC QP without queues, in @npages of new memory. */
static union ornic_req request_qp(struct kunit *test, u32 npages)
{
	struct ornic_fixture *fix = test->priv;
	u8 *mem = ornic_th_alloc(fix->pair.a, max_t(u32, npages, 1) * 4096);
	union ornic_req req = { .hdr.opcode = ORNIC_CMD_CREATE_QP };

	KUNIT_ASSERT_NOT_NULL(test, mem);
	req.create_qp.mem.addr = cpu_to_le64((u64)(uintptr_t)mem);
	req.create_qp.mem.npages = cpu_to_le32(npages);
	req.create_qp.mem.page_shift = ORNIC_PAGE_SHIFT;
	req.create_qp.send_cqn = cpu_to_le32(fix->ascq.cqn);
	req.create_qp.recv_cqn = cpu_to_le32(fix->arcq.cqn);
	req.create_qp.qp_type = ORNIC_QPT_RC;
	return req;
}

/* A slot that is read beyond its end is memory of another, at the last page. */
static void create_checks_receive_slots(struct kunit *test)
{
	const struct shape_row *row = test->param_value;
	struct ornic_fixture *fix = test->priv;
	union ornic_req req = request_qp(test, row->npages ?: PAGES);
	union ornic_rsp rsp;

	req.create_qp.has_rq = 1;
	req.create_qp.rq_log_depth = row->log_depth;
	req.create_qp.rq_log_stride = row->log_stride;
	req.create_qp.rq_max_sge = row->max_sge;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(fix->pair.a, &req, &rsp),
			row->status);
}

static const struct send_row {
	const char *name;
	u8 log_depth, log_stride, max_sge;
	u32 npages;
	int status;
} send_rows[] = {
	{ "the smallest slots", 4, 6, 1, PAGES, ORNIC_OK },
	{ "the largest slots", 2, 10, 32, PAGES, ORNIC_OK },
	{ "slots too small", 4, 5, 1, PAGES, ORNIC_BAD_PARAM },
	{ "slots too large", 1, 11, 1, PAGES, ORNIC_BAD_PARAM },
	{ "more SGEs than there are", 2, 10, 33, PAGES, ORNIC_BAD_PARAM },
	{ "as deep as any", ORNIC_LOG_MAX_WQE, 6, 1, 513, ORNIC_OK },
	{ "deeper than any", ORNIC_LOG_MAX_WQE + 1, 6, 1, 1025,
	  ORNIC_BAD_PARAM },
	{ "no memory at all", 4, 6, 1, 0, ORNIC_BAD_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(send, send_rows, name);

static void create_checks_send_slots(struct kunit *test)
{
	const struct send_row *row = test->param_value;
	struct ornic_fixture *fix = test->priv;
	union ornic_req req = request_qp(test, row->npages);
	union ornic_rsp rsp;

	req.create_qp.has_sq = 1;
	req.create_qp.sq_log_depth = row->log_depth;
	req.create_qp.sq_log_stride = row->log_stride;
	req.create_qp.sq_max_sge = row->max_sge;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(fix->pair.a, &req, &rsp),
			row->status);
}

/* What QUERY_DEVICE names can be had, and no more. */
static void create_checks_inline(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;
	union ornic_req req = request_qp(test, PAGES);
	union ornic_rsp rsp;

	req.create_qp.has_sq = 1;
	req.create_qp.sq_log_depth = 2;
	req.create_qp.sq_log_stride = 10;
	req.create_qp.max_inline = cpu_to_le16(ORNIC_MAX_INLINE + 1);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(fix->pair.a, &req, &rsp),
			ORNIC_BAD_PARAM);
	req.create_qp.max_inline = cpu_to_le16(ORNIC_MAX_INLINE);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(fix->pair.a, &req, &rsp), ORNIC_OK);
}

/* Receives come from an SRQ or from a queue of the QP's own. */
static void create_takes_one_kind_of_receives(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;
	union ornic_req req = request_qp(test, PAGES);
	struct ornic_th_srq srq;
	union ornic_rsp rsp;

	KUNIT_ASSERT_EQ(test, ornic_th_srq_init(fix->pair.a, &srq, 4, 4), 0);
	req.create_qp.flags = ORNIC_QP_SRQ;
	req.create_qp.srqn = cpu_to_le32(srq.srqn);
	req.create_qp.has_rq = 1;
	req.create_qp.rq_log_depth = 4;
	req.create_qp.rq_log_stride = 6;
	req.create_qp.rq_max_sge = 1;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(fix->pair.a, &req, &rsp),
			ORNIC_BAD_PARAM);
	req.create_qp.flags = 0;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(fix->pair.a, &req, &rsp), ORNIC_OK);
}

/* IBTA 11.2.4.1: both CQs have to be there, and none is held by what fails. */
static void create_needs_both_cqs(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;
	struct ornic_th_cq none = { .cqn = 0xffff };
	struct ornic_th *th = fix->pair.a;
	struct ornic_th_cq cq;
	struct ornic_th_qp qp;

	KUNIT_ASSERT_EQ(test, ornic_th_cq_init(th, &cq, 4), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_init(th, &qp, &init, &none, &cq),
			ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_init(th, &qp, &init, &cq, &none),
			ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, ornic_th_cq_fini(&cq), 0);
}

/* No others than enum ornic_qp_type has. */
static void create_checks_the_type(struct kunit *test)
{
	/* IB_QPT_SMI, _GSI, those between UD and raw packets, and none at all. */
	static const u8 types[] = { 0, 1, 5, 7, ORNIC_QPT_XRC_TGT + 1, 0xff };
	struct ornic_fixture *fix = test->priv;
	union ornic_req req = request_qp(test, PAGES);
	union ornic_rsp rsp;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		req.create_qp.qp_type = types[i];
		KUNIT_EXPECT_EQ_MSG(test, ornic_th_cmd(fix->pair.a, &req, &rsp),
				    ORNIC_BAD_PARAM, "type %u", types[i]);
	}
	req.create_qp.qp_type = ORNIC_QPT_RC;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(fix->pair.a, &req, &rsp), ORNIC_OK);
}

/* IBTA C9-93: lists may be longer than the longest message. */
static void receive_takes_no_longer_message(struct kunit *test)
{
	struct {
		struct ornic_rq_hdr hdr;
		struct ornic_sge sge[2];
	} slot = {
		.hdr.num_sge = cpu_to_le16(2),
		.sge[0].length = cpu_to_le32(1u << 31),
		.sge[1].length = cpu_to_le32(U32_MAX),
	};
	struct ornic_rwqe *rw = kunit_kzalloc(test, sizeof(*rw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rw);
	ornic_rwqe_decode(rw, (const u8 *)&slot, 2);
	KUNIT_EXPECT_EQ(test, rw->status, ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, rw->nsge, 2);
	KUNIT_EXPECT_EQ(test, rw->length, 1u << 31);
}

/* What the mask of MODIFY_QP does not name may even be out of range. */
static void modify_reads_what_is_named(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;
	struct ornic_th_qp *qp = &fix->a;
	u8 state = ORNIC_QPS_RESET;

	memset(&qp->conn, 0xff, offsetof(struct ornic_th_conn, retry_cnt));
	KUNIT_EXPECT_EQ(test, ornic_th_modify(qp, state, ORNIC_QPM_STATE), 0);
	qp->conn.mtu = 0;
	KUNIT_EXPECT_EQ(test, ornic_th_modify(qp, state, ORNIC_QPM_STATE), 0);
}

/* IBTA 10.3.1.5: the event comes if it was asked for, whatever else changes. */
static void modify_asks_for_drained_by_name(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;
	u32 *drained = &fix->pair.a->event_count[ORNIC_EVENT_SQ_DRAINED];
	u8 retry_cnt = fix->a.conn.retry_cnt, sqd = ORNIC_QPS_SQD;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	/* It has its bit beside the retries, which are not named either. */
	fix->a.conn.retry_cnt |= ORNIC_MODIFY_SQD_NOTIFY;
	KUNIT_EXPECT_EQ(test, ornic_th_modify(&fix->a, sqd, ORNIC_QPM_STATE),
			0);
	KUNIT_EXPECT_EQ(test, *drained, 0);
	fix->a.conn.retry_cnt = retry_cnt;
	KUNIT_ASSERT_EQ(
		test, ornic_th_modify(&fix->a, ORNIC_QPS_RTS, ORNIC_QPM_STATE),
		0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(&fix->a, sqd,
					ORNIC_QPM_STATE | ORNIC_QPM_SQD_NOTIFY),
			0);
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(&fix->a, sqd,
					ORNIC_QPM_STATE | ORNIC_QPM_ACCESS),
			0);
	KUNIT_EXPECT_EQ(test, *drained, 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, *drained, 1);
	/* Asked for once, it does not come each time. */
	KUNIT_ASSERT_EQ(
		test, ornic_th_modify(&fix->a, ORNIC_QPS_RTS, ORNIC_QPM_STATE),
		0);
	KUNIT_EXPECT_EQ(test, ornic_th_modify(&fix->a, sqd, ORNIC_QPM_STATE),
			0);
	KUNIT_EXPECT_EQ(test, *drained, 1);
}

/* Two devices, two numbers, and neither tells the next one. */
static void numbers_are_random(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;
	struct ornic_th_qp more;

	KUNIT_EXPECT_NE(test, fix->a.qpn, ORNIC_RESERVED_QPNS);
	KUNIT_EXPECT_NE(test, fix->b.qpn, ORNIC_RESERVED_QPNS);
	KUNIT_EXPECT_NE(test, fix->a.qpn, fix->b.qpn);
	KUNIT_EXPECT_GE(test, fix->a.qpn, ORNIC_RESERVED_QPNS);
	KUNIT_EXPECT_GE(test, fix->b.qpn, ORNIC_RESERVED_QPNS);
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(fix->pair.a, &more, &init, &fix->ascq,
					 &fix->arcq),
			0);
	KUNIT_EXPECT_NE(test, more.qpn, fix->a.qpn + 1);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&more), 0);
}

/* Each slot of the ring has room for an address vector beside its data. */
static void create_leaves_room_for_avs(struct kunit *test)
{
	struct ornic_th_qpinit init = {
		.type = ORNIC_QPT_UD,
		.flags = ORNIC_QP_AV,
		.max_sge = 2,
		.max_inline = 1,
	};
	struct ornic_fixture *fix = test->priv;
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 100);
	struct ornic_lsge list[] = { sge, sge };
	struct ornic_th *th = fix->pair.a;
	struct ornic_av av;
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.flags = ORNIC_WQE_SIGNALED | ORNIC_WQE_AV,
		.nsge = ARRAY_SIZE(list),
		.sge = list,
		.av = &av,
		.dest_qpn = 0x456,
	};
	struct ornic_cqe cqe;
	struct ornic_th_qp ud;
	u32 i, depth;

	KUNIT_ASSERT_EQ(
		test, ornic_th_qp_init(th, &ud, &init, &fix->ascq, &fix->arcq),
		0);
	KUNIT_ASSERT_EQ(test, ornic_th_connect(&ud, NULL, ORNIC_TH_IPV6), 0);
	depth = 1u << ud.sq_log_depth;
	for (i = 0; i < depth; i++) {
		ornic_th_av(&av, 10 + i, ORNIC_TH_IPV6);
		KUNIT_ASSERT_EQ(test, ornic_th_post_send(&ud, &wr), 0);
	}
	ornic_th_kick(&ud);
	for (i = 0; i < depth; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		ornic_th_av(&av, 10 + i, ORNIC_TH_IPV6);
		KUNIT_EXPECT_MEMEQ(test, (const u8 *)fix->rx.ip + 24, av.dgid,
				   16);
		KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, 200);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	}
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&ud), 0);
}

/* A host that has no room for a QP: its number is free again. */
static void create_ends_if_the_host_refuses(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;
	struct ornic_th *th = fix->pair.a;
	u32 before = th->eng->dev.qps.count;
	struct ornic_th_qp qp;

	th->qp_init_err = -ENOMEM;
	KUNIT_EXPECT_EQ(
		test, ornic_th_qp_init(th, &qp, &init, &fix->ascq, &fix->arcq),
		ORNIC_NO_RESOURCE);
	KUNIT_EXPECT_EQ(test, th->eng->dev.qps.count, before);
	th->qp_init_err = 0;
	KUNIT_ASSERT_EQ(
		test, ornic_th_qp_init(th, &qp, &init, &fix->ascq, &fix->arcq),
		0);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&qp), 0);
}

static struct kunit_case create_cases[] = {
	KUNIT_CASE_PARAM(create_checks_receive_slots, shape_gen_params),
	KUNIT_CASE_PARAM(create_checks_send_slots, send_gen_params),
	KUNIT_CASE(create_checks_inline),
	KUNIT_CASE(create_takes_one_kind_of_receives),
	KUNIT_CASE(create_needs_both_cqs),
	KUNIT_CASE(create_checks_the_type),
	KUNIT_CASE(receive_takes_no_longer_message),
	KUNIT_CASE(modify_reads_what_is_named),
	KUNIT_CASE(modify_asks_for_drained_by_name),
	KUNIT_CASE(numbers_are_random),
	KUNIT_CASE(create_leaves_room_for_avs),
	KUNIT_CASE(create_ends_if_the_host_refuses),
	{}
};

static struct kunit_suite create_suite = {
	.name = "ornic_qp_create",
	.init = create_init,
	.exit = create_exit,
	.test_cases = create_cases,
};

kunit_test_suite(create_suite);

MODULE_DESCRIPTION("ornic: creation of QPs");
MODULE_LICENSE("Dual BSD/GPL");
