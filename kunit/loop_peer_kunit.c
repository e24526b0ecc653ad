// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Loopback finds its peer by number for each piece of a message. What happens to
 * the number in between must not lead to another QP: that is a lost packet.
 */
#include <kunit/test.h>

#include "suite_fixture.h"
#include "engine/proto.h"

#define RC ORNIC_QPT_RC
#define BYTES (512u << 10) /* some pieces of a loopback message */
#define OTHER_PD 0x77
#define PATTERN 5

/*
 * a has begun a message to b. @from and @to are on their sides; @other is a QP
 * that has nothing to do with the two.
 */
struct peer_test {
	struct ornic_fixture fix;
	struct ornic_th_mr am;
	struct ornic_th_mr bm;
	struct ornic_th_qp other;
	struct ornic_engine_ops ops;
};

static_assert(offsetof(struct peer_test, fix) == 0);

static int peer_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct peer_test));
}

static struct peer_test *open_pair(struct kunit *test, enum ornic_fix_kind kind)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct peer_test *pt = test->priv;
	struct ornic_fixture *fix = &pt->fix;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, &init), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.a, &pt->am, BYTES, 0, 1,
					 ORNIC_ACCESS_MASK),
			0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.b, &pt->bm, BYTES, 0, 1,
					 ORNIC_ACCESS_MASK),
			0);
	fix->a.conn.retry_cnt = 1;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	return pt;
}

/* a does the first piece of a message and no more. */
static void begin(struct kunit *test, struct peer_test *pt, u8 opcode)
{
	struct ornic_fixture *fix = &pt->fix;
	struct ornic_cqe cqe;

	fix->pair.a->budget = 1000;
	ornic_fix_fill(opcode == ORNIC_WQE_READ ? &pt->bm : &pt->am, 0, BYTES,
		       PATTERN);
	if (opcode == ORNIC_WQE_SEND)
		ornic_fix_recv(&fix->b, &pt->bm, 7, 0, BYTES);
	ornic_fix_post(&fix->a, &pt->am, &pt->bm, opcode, 0, 0, BYTES);
	KUNIT_ASSERT_FALSE(test, ornic_th_poll(&fix->ascq, &cqe));
	KUNIT_ASSERT_NE(test, ornic_th_sq_psn(&fix->a), ORNIC_FIX_PSN);
}

/* ---- What becomes of the number ---------------------------------------------- */

/* Destroyed, and a QP of another PD gets it, which has a peer elsewhere. */
static int reuse(struct peer_test *pt)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = &pt->fix;
	struct ornic_th *th = fix->pair.b;
	u32 qpn = fix->b.qpn;
	int status;

	status = ornic_th_qp_fini(&fix->b);
	if (status)
		return status;
	ornic_th_next_qpn(th, qpn);
	th->pdn = OTHER_PD;
	status =
		ornic_th_qp_init(th, &pt->other, &init, &fix->bscq, &fix->brcq);
	if (status)
		return status;
	if (pt->other.qpn != qpn)
		return ORNIC_FAILED;
	return ornic_th_connect(&pt->other, NULL, ORNIC_TH_IPV4);
}

/* Destroyed; another QP has another number. */
static int destroy(struct peer_test *pt)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = &pt->fix;
	int status = ornic_th_qp_fini(&fix->b);

	if (!status)
		status = ornic_th_qp_init(fix->pair.b, &pt->other, &init,
					  &fix->bscq, &fix->brcq);
	if (!status)
		status = ornic_th_connect(&pt->other, NULL, ORNIC_TH_IPV4);
	return status;
}

/* Back to RESET and to RTS, as @other says from now on. */
static int reconnect(struct peer_test *pt)
{
	static const u8 way[] = { ORNIC_QPS_RESET, ORNIC_QPS_INIT,
				  ORNIC_QPS_RTR, ORNIC_QPS_RTS };
	int status = 0;
	u32 i;

	pt->other = pt->fix.b;
	for (i = 0; i < ARRAY_SIZE(way) && !status; i++)
		status = ornic_th_to(&pt->other, way[i]);
	return status;
}

static int other_peer(struct peer_test *pt)
{
	pt->fix.b.conn.dest_qpn = 0x123;
	return reconnect(pt);
}

static int other_gid(struct peer_test *pt)
{
	ornic_th_av(&pt->fix.b.conn.av, pt->fix.pair.a->index, ORNIC_TH_IPV6);
	return reconnect(pt);
}

/* The same two numbers, but a connection that knows nothing of the READ. */
static int same_peer(struct peer_test *pt)
{
	pt->fix.b.conn.rq_psn = 0x10;
	return reconnect(pt);
}

static int no_right(struct peer_test *pt)
{
	pt->other = pt->fix.b;
	pt->other.conn.access = ORNIC_ACCESS_LOCAL_WRITE;
	return ornic_th_modify(&pt->other, ORNIC_QPS_RTS,
			       ORNIC_QPM_STATE | ORNIC_QPM_ACCESS);
}

static const struct change_row {
	const char *name;
	u8 opcode;
	int (*act)(struct peer_test *pt);
} change_rows[] = {
	{ "READ, destroyed", ORNIC_WQE_READ, destroy },
	{ "READ, number reused", ORNIC_WQE_READ, reuse },
	{ "READ, another peer", ORNIC_WQE_READ, other_peer },
	{ "READ, another address", ORNIC_WQE_READ, other_gid },
	{ "READ, connected anew", ORNIC_WQE_READ, same_peer },
	{ "READ, right taken away", ORNIC_WQE_READ, no_right },
	{ "WRITE, destroyed", ORNIC_WQE_WRITE, destroy },
	{ "WRITE, number reused", ORNIC_WQE_WRITE, reuse },
	{ "WRITE, another peer", ORNIC_WQE_WRITE, other_peer },
	{ "WRITE, another address", ORNIC_WQE_WRITE, other_gid },
	{ "WRITE, connected anew", ORNIC_WQE_WRITE, same_peer },
	{ "SEND, number reused", ORNIC_WQE_SEND, reuse },
	{ "SEND, another peer", ORNIC_WQE_SEND, other_peer },
	{ "SEND, connected anew", ORNIC_WQE_SEND, same_peer },
};

KUNIT_ARRAY_PARAM_DESC(change, change_rows, name);

/* Nothing more arrives, and the other QP does not notice. */
static void expect_untouched(struct kunit *test, struct peer_test *pt,
			     u8 opcode, s32 arrived)
{
	const struct ornic_th_mr *to = opcode == ORNIC_WQE_READ ? &pt->am :
								  &pt->bm;
	struct ornic_fixture *fix = &pt->fix;
	struct ornic_cqe cqe;

	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(to, 0, BYTES, PATTERN),
			arrived);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&pt->other), ORNIC_QPS_RTS);
	KUNIT_EXPECT_EQ(test,
			fix->pair.b->event_count[ORNIC_EVENT_QP_ACCESS_ERR], 0);
	KUNIT_EXPECT_EQ(test, fix->pair.b->event_count[ORNIC_EVENT_QP_REQ_ERR],
			0);
}

static void try_change(struct kunit *test, enum ornic_fix_kind kind)
{
	const struct change_row *row = test->param_value;
	struct peer_test *pt = open_pair(test, kind);
	s32 arrived;

	begin(test, pt, row->opcode);
	arrived = ornic_fix_compare(row->opcode == ORNIC_WQE_READ ? &pt->am :
								    &pt->bm,
				    0, BYTES, PATTERN);
	KUNIT_ASSERT_GT(test, arrived, 0);
	KUNIT_ASSERT_EQ(test, row->act(pt), 0);
	KUNIT_EXPECT_TRUE(test,
			  ornic_th_advance(&pt->fix.pair, 2000 * ORNIC_TH_MS));
	expect_untouched(test, pt, row->opcode, arrived);
}

static void peer_changes_here(struct kunit *test)
{
	try_change(test, ORNIC_FIX_LOOP);
}

static void peer_changes_in_process(struct kunit *test)
{
	try_change(test, ORNIC_FIX_PEER);
}

/*
 * A connection made anew that expects what is missing of a READ serves it, as it
 * would on the wire: it is a request like any other.
 */
static void peer_takes_over(struct kunit *test)
{
	struct peer_test *pt = open_pair(test, ORNIC_FIX_LOOP);
	struct ornic_fixture *fix = &pt->fix;
	struct ornic_cqe cqe;

	begin(test, pt, ORNIC_WQE_READ);
	fix->b.conn.rq_psn = ornic_th_sq_psn(&fix->a);
	KUNIT_ASSERT_EQ(test, reconnect(pt), 0);
	KUNIT_EXPECT_TRUE(test,
			  ornic_th_advance(&fix->pair, 2000 * ORNIC_TH_MS));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&pt->am, 0, BYTES, PATTERN),
			-1);
	KUNIT_EXPECT_EQ(test, ornic_th_rq_psn(&pt->other),
			ornic_th_sq_psn(&fix->a));
}

static const struct ahead_row {
	const char *name;
	enum ornic_fix_kind kind;
	u8 first;
	u8 second;
} ahead_rows[] = {
	{ "READs", ORNIC_FIX_LOOP, ORNIC_WQE_READ, ORNIC_WQE_READ },
	{ "WRITE before READ", ORNIC_FIX_LOOP, ORNIC_WQE_WRITE,
	  ORNIC_WQE_READ },
	{ "READ before WRITE", ORNIC_FIX_LOOP, ORNIC_WQE_READ,
	  ORNIC_WQE_WRITE },
	{ "atomic before READ", ORNIC_FIX_LOOP, ORNIC_WQE_FAA, ORNIC_WQE_READ },
	{ "READs, in process", ORNIC_FIX_PEER, ORNIC_WQE_READ, ORNIC_WQE_READ },
};

KUNIT_ARRAY_PARAM_DESC(ahead, ahead_rows, name);

/* The peer expects the second request: the first one is still the first to end. */
static void peer_is_ahead(struct kunit *test)
{
	const struct ahead_row *row = test->param_value;
	struct peer_test *pt = open_pair(test, row->kind);
	struct ornic_fixture *fix = &pt->fix;
	struct ornic_cqe cqe;

	fix->b.conn.rq_psn = ornic_psn_add(ornic_th_sq_psn(&fix->a), 1);
	KUNIT_ASSERT_EQ(test, reconnect(pt), 0);
	ornic_fix_fill(&pt->am, 0, 16, PATTERN);
	ornic_fix_fill(&pt->bm, 0, 16, PATTERN + 1);
	ornic_fix_post(&fix->a, &pt->am, &pt->bm, row->first, 0, 0, 8);
	ornic_fix_post(&fix->a, &pt->am, &pt->bm, row->second, 0, 8, 8);
	KUNIT_EXPECT_TRUE(test,
			  ornic_th_advance(&fix->pair, 2000 * ORNIC_TH_MS));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&pt->am, 0, 16, PATTERN), -1);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&pt->bm, 0, 16, PATTERN + 1),
			-1);
}

/* A host that has one engine needs no way to find others. */
static void peers_of_a_host_with_one_engine(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RC };
	struct peer_test *pt = test->priv;
	struct ornic_fixture *fix = &pt->fix;
	struct ornic_dev *dev;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_PEER, &init), 0);
	dev = &fix->pair.a->eng->dev;
	pt->ops = *dev->ops;
	pt->ops.peer_engine = NULL;
	dev->ops = &pt->ops;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	KUNIT_EXPECT_EQ(
		test,
		ornic_engine_stat(fix->pair.a->eng, ORNIC_STAT_TX_PACKETS), 1);
}

/* ---- PSNs without a response ---------------------------------------------------- */

static const struct far_row {
	const char *name;
	u8 mtu;
	u32 wrs;
} far_rows[] = {
	{ "IBTA 9.7.2: four WRITEs of 2 GiB, MTU 1024", 3, 4 },
	{ "IBTA 9.7.2: nine WRITEs of 2 GiB, MTU 1024", 3, 9 },
	{ "IBTA C9-93: one of 2^23 packets", 1, 1 },
	{ "IBTA C9-93: three of 2^23 packets", 1, 3 },
};

KUNIT_ARRAY_PARAM_DESC(far, far_rows, name);

/* More PSNs than may be outstanding: the timer runs and ends the QP in order. */
static void peer_gone_far_behind(struct kunit *test)
{
	const struct far_row *row = test->param_value;
	struct ornic_th_qpinit init = { .type = RC };
	struct peer_test *pt = test->priv;
	struct ornic_fixture *fix = &pt->fix;
	struct ornic_lsge sge;
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_WRITE,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 1,
		.sge = &sge,
	};
	struct ornic_cqe cqe;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LOOP, &init), 0);
	fix->a.conn.mtu = row->mtu;
	fix->b.conn.mtu = row->mtu;
	fix->a.conn.retry_cnt = 2;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_qp_fini(&fix->b), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.a, &pt->am, BYTES, 0, 1,
					 ORNIC_ACCESS_MASK),
			0);
	sge = ornic_fix_sge(&pt->am, 0, 1u << 31);
	for (i = 0; i < row->wrs; i++)
		ornic_th_post_send(&fix->a, &wr);
	KUNIT_EXPECT_TRUE(test,
			  ornic_th_advance(&fix->pair, 2000 * ORNIC_TH_MS));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_RETRY_EXC_ERR);
	for (i = 1; i < row->wrs; i++)
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
				ORNIC_CQE_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
}

/* A GID that the device has for RoCEv2 only is not reached by RoCE v1 in memory. */
static void loop_is_of_one_version(struct kunit *test)
{
	struct ornic_fixture *fix = &open_pair(test, ORNIC_FIX_LOOP)->fix;
	struct ornic_dev *dev = &fix->pair.a->eng->dev;
	struct ornic_path path;
	struct ornic_av av;

	ornic_th_av(&av, fix->pair.a->index, ORNIC_TH_V1);
	KUNIT_ASSERT_EQ(test, ornic_path_resolve(dev, &path, &av), 0);
	KUNIT_EXPECT_TRUE(test, path.loop);
	ornic_th_gid_bytes(fix->pair.a->index, ORNIC_TH_IPV4, av.dgid);
	KUNIT_ASSERT_EQ(test, ornic_path_resolve(dev, &path, &av), 0);
	KUNIT_EXPECT_FALSE(test, path.loop);
}

static struct kunit_case peer_cases[] = {
	KUNIT_CASE(loop_is_of_one_version),
	KUNIT_CASE_PARAM(peer_changes_here, change_gen_params),
	KUNIT_CASE_PARAM(peer_changes_in_process, change_gen_params),
	KUNIT_CASE(peer_takes_over),
	KUNIT_CASE_PARAM(peer_is_ahead, ahead_gen_params),
	KUNIT_CASE(peers_of_a_host_with_one_engine),
	KUNIT_CASE_PARAM(peer_gone_far_behind, far_gen_params),
	{}
};

static struct kunit_suite peer_suite = {
	.name = "ornic_loop_peer",
	.init = peer_init,
	.exit = ornic_suite_exit,
	.test_cases = peer_cases,
};

kunit_test_suite(peer_suite);

MODULE_DESCRIPTION("ornic: peers of loopback that change");
MODULE_LICENSE("Dual BSD/GPL");
