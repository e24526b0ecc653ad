// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages of one packet on loopback: the fast path takes those that need nothing
 * else, and what it leaves alone ends as on the wire. Datagrams as well.
 */
#include "suite_fixture.h"

#define RC ORNIC_QPT_RC
#define UC ORNIC_QPT_UC
#define UD ORNIC_QPT_UD
#define BYTES 2000u /* more than the default MTU */

static void fill(struct ornic_fixture *fix)
{
	ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1);
	ornic_fix_fill(&fix->bm, 0, ORNIC_FIX_MR_BYTES, 2);
}

static struct ornic_fixture *open_fix(struct kunit *test,
				      enum ornic_fix_kind kind, u8 type)
{
	struct ornic_th_qpinit init = { .type = type };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, &init), 0);
	fill(fix);
	return fix;
}

/* b alone, once more, with other attributes than a expects. */
static void reconnect_b(struct ornic_fixture *fix, u8 last)
{
	u8 state;

	ornic_th_to(&fix->b, ORNIC_QPS_RESET);
	for (state = ORNIC_QPS_INIT; state <= last; state++)
		ornic_th_to(&fix->b, state);
}

static void nothing(struct ornic_fixture *fix)
{
}

static void in_reset(struct ornic_fixture *fix)
{
	ornic_th_to(&fix->b, ORNIC_QPS_RESET);
}

static void in_rtr(struct ornic_fixture *fix)
{
	reconnect_b(fix, ORNIC_QPS_RTR);
}

static void other_psn(struct ornic_fixture *fix)
{
	fix->b.conn.rq_psn = 0x10;
	reconnect_b(fix, ORNIC_QPS_RTS);
}

static void other_source(struct ornic_fixture *fix)
{
	fix->b.conn.av.sgid_index = ORNIC_TH_VLAN;
	reconnect_b(fix, ORNIC_QPS_RTS);
}

/* a is connected to a UC QP, which is connected to it. */
static void other_type(struct ornic_fixture *fix)
{
	struct ornic_th_qpinit init = { .type = UC };

	ornic_th_qp_fini(&fix->b);
	ornic_th_qp_init(fix->pair.b, &fix->b, &init, &fix->bscq, &fix->brcq);
	ornic_th_to(&fix->a, ORNIC_QPS_RESET);
	ornic_th_conn_default(&fix->b.conn, UC);
	ornic_fix_connect(fix);
}

static void other_key(struct ornic_fixture *fix)
{
	fix->bm.key ^= 0x100;
}

static void all_memory(struct ornic_fixture *fix)
{
	u32 run;

	ornic_th_mkey(fix->pair.b, ORNIC_MKEY_DMA, 0,
		      ORNIC_ACCESS_LOCAL_WRITE | ORNIC_ACCESS_REMOTE_WRITE |
			      ORNIC_ACCESS_REMOTE_READ,
		      &fix->bm.key);
	fix->bm.iova = (u64)(uintptr_t)ornic_th_mr_at(&fix->bm, 0, &run);
}

/* An ODP MR in the place of b's, with all of its pages. */
static void replace_bm(struct ornic_fixture *fix, u32 pdn, u32 length,
		       u8 access)
{
	struct ornic_th *th = fix->pair.b;
	u32 own = th->pdn;

	ornic_th_mr_fini(&fix->bm);
	th->pdn = pdn;
	ornic_th_odp_init(th, &fix->bm, length, 104, access);
	th->pdn = own;
	ornic_th_odp_set(&fix->bm, 0, fix->bm.npages, true);
	ornic_fix_fill(&fix->bm, 0, 8, 2);
}

static void odp(struct ornic_fixture *fix)
{
	replace_bm(fix, fix->pair.b->pdn, ORNIC_FIX_MR_BYTES,
		   ORNIC_ACCESS_MR_MASK);
}

static void odp_of_other_pd(struct ornic_fixture *fix)
{
	replace_bm(fix, fix->pair.b->pdn + 1, ORNIC_FIX_MR_BYTES,
		   ORNIC_ACCESS_MR_MASK);
}

static void odp_of_owner(struct ornic_fixture *fix)
{
	replace_bm(fix, fix->pair.b->pdn, ORNIC_FIX_MR_BYTES,
		   ORNIC_ACCESS_LOCAL_WRITE);
}

static void odp_of_seven(struct ornic_fixture *fix)
{
	replace_bm(fix, fix->pair.b->pdn, 7, ORNIC_ACCESS_MR_MASK);
}

static void other_odp_key(struct ornic_fixture *fix)
{
	odp(fix);
	fix->bm.key ^= 1;
}

static const struct short_row {
	const char *name;
	void (*act)(struct ornic_fixture *fix);
	u32 len;
	u8 status;
	u32 comm_est; /* events at the first of two messages */
} short_rows[] = {
	{ "all is well", nothing, 8, 0, 0 },
	{ "IBTA 9.9.2.1.1: peer in RESET", in_reset, 8, ORNIC_CQE_RETRY_EXC_ERR,
	  0 },
	{ "IBTA 11.6.3: peer in RTR", in_rtr, 8, 0, 1 },
	{ "IBTA 9.7.1: peer expects another PSN", other_psn, 8,
	  ORNIC_CQE_RETRY_EXC_ERR, 0 },
	{ "IBTA A17.9: peer with another source", other_source, 8,
	  ORNIC_CQE_RETRY_EXC_ERR, 0 },
	{ "IBTA 9.6.1: peer of another type", other_type, 8,
	  ORNIC_CQE_RETRY_EXC_ERR, 0 },
	{ "IBTA 9.7.4.1.5: key that is not there", other_key, 8,
	  ORNIC_CQE_REM_ACCESS_ERR, 0 },
	{ "key of all DMA memory", all_memory, 8, 0, 0 },
	{ "ODP key", odp, 8, 0, 0 },
	{ "ODP key of another PD", odp_of_other_pd, 8, ORNIC_CQE_REM_ACCESS_ERR,
	  0 },
	{ "ODP key without the right", odp_of_owner, 8,
	  ORNIC_CQE_REM_ACCESS_ERR, 0 },
	{ "ODP key of 7 bytes", odp_of_seven, 8, ORNIC_CQE_REM_ACCESS_ERR, 0 },
	{ "ODP key of another variant", other_odp_key, 8,
	  ORNIC_CQE_REM_ACCESS_ERR, 0 },
};

KUNIT_ARRAY_PARAM_DESC(short, short_rows, name);

static int transfer(struct ornic_fixture *fix, u8 opcode, u32 len)
{
	struct ornic_cqe cqe;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, opcode, 0, 0, len);
	ornic_th_advance(&fix->pair, 2000 * ORNIC_TH_MS);
	return ornic_fix_status(&fix->ascq, &cqe);
}

static void short_messages(struct kunit *test, u8 opcode)
{
	const struct short_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, RC);
	bool read = opcode == ORNIC_WQE_READ;
	const struct ornic_th_mr *to = read ? &fix->am : &fix->bm;
	u32 *comm_est = &fix->pair.b->event_count[ORNIC_EVENT_COMM_EST];
	u32 was = read ? 1 : 2, is = row->status ? was : 3 - was;

	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	row->act(fix);
	KUNIT_EXPECT_EQ(test, transfer(fix, opcode, row->len), row->status);
	KUNIT_EXPECT_EQ(test, *comm_est, row->comm_est);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(to, 0, row->len, is), -1);
	if (row->status)
		return;
	fill(fix);
	KUNIT_EXPECT_EQ(test, transfer(fix, opcode, row->len), 0);
	KUNIT_EXPECT_EQ(test, *comm_est, row->comm_est);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(to, 0, row->len, is), -1);
	KUNIT_EXPECT_EQ(test, ornic_th_rq_psn(&fix->b),
			ornic_th_sq_psn(&fix->a));
}

static void short_write_is_as_on_the_wire(struct kunit *test)
{
	short_messages(test, ORNIC_WQE_WRITE);
}

static void short_read_is_as_on_the_wire(struct kunit *test)
{
	short_messages(test, ORNIC_WQE_READ);
}

/* IBTA C9-82: one packet for a, but two for b. */
static void short_write_of_another_mtu(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, RC);

	fix->a.conn.mtu = 4;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_EXPECT_EQ(test, transfer(fix, ORNIC_WQE_WRITE, BYTES),
			ORNIC_CQE_REM_INV_REQ_ERR);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->bm, 0, BYTES, 2), -1);
}

/* An optional counter counts what the fast path would pass by. */
static void short_write_is_counted(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, RC);
	enum ornic_stat stat = ORNIC_STAT_RX_WRITE_REQUESTS;
	union ornic_req req;
	union ornic_rsp rsp;

	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_MODIFY_STATS;
	req.modify_stats.optional = cpu_to_le64(BIT_ULL(stat));
	KUNIT_ASSERT_EQ(test, ornic_th_cmd(fix->pair.a, &req, &rsp), 0);
	KUNIT_EXPECT_EQ(test, transfer(fix, ORNIC_WQE_WRITE, 8), 0);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(fix->pair.a->eng, stat), 1);
}

/* ---- Datagrams -------------------------------------------------------------------- */

/* The status of a datagram of 100 bytes from a to @qpn. */
static int send_datagram(struct ornic_fixture *fix, u32 ah, u32 qpn)
{
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 100);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
		.ah = ah,
		.dest_qpn = qpn,
		.dest_qkey = 0x1234,
	};
	struct ornic_cqe cqe;

	ornic_th_post_send(&fix->a, &wr);
	ornic_th_settle(&fix->pair);
	return ornic_fix_status(&fix->ascq, &cqe);
}

static u32 make_ah(struct kunit *test, struct ornic_fixture *fix)
{
	u32 ah = 0;

	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_ah(fix->pair.a, &fix->a.conn.av, &ah),
			0);
	return ah;
}

static const struct bad_row {
	const char *name;
	enum ornic_fix_kind kind;
	u32 bad; /* which SGE */
	u32 nsge;
	int status;
} bad_rows[] = {
	{ "IBTA 9.9.3: GRH, on the wire", ORNIC_FIX_WIRE, 0, 2,
	  ORNIC_CQE_LOC_PROT_ERR },
	{ "IBTA 9.9.3: data, on the wire", ORNIC_FIX_WIRE, 1, 2,
	  ORNIC_CQE_LOC_PROT_ERR },
	{ "IBTA 9.9.3: SGEs, on the wire", ORNIC_FIX_WIRE, 4, 5,
	  ORNIC_CQE_LOC_QP_OP_ERR },
	{ "IBTA 9.9.3: GRH, on loopback", ORNIC_FIX_LOOP, 0, 2,
	  ORNIC_CQE_LOC_PROT_ERR },
	{ "IBTA 9.9.3: data, on loopback", ORNIC_FIX_LOOP, 1, 2,
	  ORNIC_CQE_LOC_PROT_ERR },
	{ "IBTA 9.9.3: SGEs, on loopback", ORNIC_FIX_LOOP, 4, 5,
	  ORNIC_CQE_LOC_QP_OP_ERR },
	{ "IBTA 9.9.3: data, in the process", ORNIC_FIX_PEER, 1, 2,
	  ORNIC_CQE_LOC_PROT_ERR },
	{ "IBTA 9.9.3: SGEs, in the process", ORNIC_FIX_PEER, 4, 5,
	  ORNIC_CQE_LOC_QP_OP_ERR },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_rows, name);

/* It ends the receiver, and the sender has nothing to do with it. */
static void datagram_without_memory(struct kunit *test)
{
	const struct bad_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test, row->kind, UD);
	u32 ah = make_ah(test, fix);
	/* One more than b may have; those without bytes need no key. */
	struct ornic_lsge sge[5] = {
		ornic_fix_sge(&fix->bm, 0, ORNIC_GRH_LEN),
		ornic_fix_sge(&fix->bm, 1000, 1000),
	};
	struct ornic_cqe cqe;

	sge[row->bad].lkey ^= 1;
	ornic_th_post_recv(&fix->b, 1, sge, row->nsge);
	ornic_fix_recv(&fix->b, &fix->bm, 2, 0, 1000);
	/* The run that RTS asks for is over: the error asks for its own. */
	KUNIT_ASSERT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, send_datagram(fix, ah, fix->b.qpn), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), row->status);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe),
			ORNIC_CQE_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->b), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->bm, 1000, 100, 1), 0);
}

/* IBTA 9.6.1.1: a QP of another type drops it, and it is counted. */
static void datagram_to_another_type(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_LOOP, UD);
	struct ornic_engine *eng = fix->pair.a->eng;
	u32 ah = make_ah(test, fix);
	struct ornic_th_qp rc;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(fix->pair.b, &rc, &init, &fix->bscq,
					 &fix->brcq),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_connect(&rc, NULL, ORNIC_TH_IPV4), 0);
	ornic_fix_recv(&rc, &fix->bm, 1, 0, 1000);
	KUNIT_EXPECT_EQ(test, send_datagram(fix, ah, rc.qpn), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_RX_NO_QP), 1);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&rc), 0);
}

/* The engine at the other end has gone: a datagram is lost, and no more. */
static void datagram_to_a_peer_that_went(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test, ORNIC_FIX_PEER, UD);
	u32 ah = make_ah(test, fix);
	struct ornic_cqe cqe;

	ornic_fix_recv(&fix->b, &fix->bm, 1, 0, 1000);
	fix->pair.a->peer = NULL;
	KUNIT_EXPECT_EQ(test, send_datagram(fix, ah, fix->b.qpn), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0xff);
	fix->pair.a->peer = fix->pair.b;
	KUNIT_EXPECT_EQ(test, send_datagram(fix, ah, fix->b.qpn), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0);
}

static struct kunit_case short_cases[] = {
	KUNIT_CASE_PARAM(short_write_is_as_on_the_wire, short_gen_params),
	KUNIT_CASE_PARAM(short_read_is_as_on_the_wire, short_gen_params),
	KUNIT_CASE(short_write_of_another_mtu),
	KUNIT_CASE(short_write_is_counted),
	KUNIT_CASE_PARAM(datagram_without_memory, bad_gen_params),
	KUNIT_CASE(datagram_to_another_type),
	KUNIT_CASE(datagram_to_a_peer_that_went),
	{}
};

static struct kunit_suite short_suite = {
	.name = "ornic_loop_short",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = short_cases,
};

kunit_test_suite(short_suite);

MODULE_DESCRIPTION("ornic: short messages on loopback");
MODULE_LICENSE("Dual BSD/GPL");
