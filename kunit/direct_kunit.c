// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Two devices of one host whose messages of RC need no packets, as long as the host says
 * so: what it says may change between two messages, and in the middle of one.
 */
#include <kunit/test.h>

#include "suite_fixture.h"
#include "engine/proto.h"

#define RC ORNIC_QPT_RC
#define BYTES (512u << 10) /* some pieces of a message */
#define PATTERN 5

/* a sends to b. @am and @bm: larger ones than the fixture has. */
struct direct_test {
	struct ornic_fixture fix;
	struct ornic_th_mr am;
	struct ornic_th_mr bm;
};

static_assert(offsetof(struct direct_test, fix) == 0);

static int direct_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct direct_test));
}

static struct direct_test *open_pair(struct kunit *test)
{
	struct direct_test *dt = test->priv;
	struct ornic_fixture *fix =
		ornic_suite_open(test, ORNIC_FIX_DIRECT, RC);

	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.a, &dt->am, BYTES, 0, 1,
					 ORNIC_ACCESS_MASK),
			0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.b, &dt->bm, BYTES, 0, 1,
					 ORNIC_ACCESS_MASK),
			0);
	return dt;
}

static u64 packets(const struct ornic_fixture *fix)
{
	return ornic_engine_stat(fix->pair.a->eng, ORNIC_STAT_TX_PACKETS) +
	       ornic_engine_stat(fix->pair.b->eng, ORNIC_STAT_TX_PACKETS);
}

/* All of @bm, and of a READ @am, is what it should be, and a knows. */
static void expect_done(struct kunit *test, struct direct_test *dt, u8 opcode)
{
	struct ornic_fixture *fix = &dt->fix;
	struct ornic_cqe cqe;

	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test,
			ornic_fix_compare(opcode == ORNIC_WQE_READ ? &dt->am :
								     &dt->bm,
					  0, BYTES, PATTERN),
			-1);
	KUNIT_EXPECT_EQ(test, ornic_th_sq_psn(&fix->a),
			ornic_th_rq_psn(&fix->b));
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->b), ORNIC_QPS_RTS);
}

/* ---- One message ------------------------------------------------------------- */

static const struct opcode_row {
	const char *name;
	u8 opcode;
	u32 len;
	bool receives;
} opcode_rows[] = {
	{ "SEND", ORNIC_WQE_SEND, 3000, true },
	{ "SEND of nothing", ORNIC_WQE_SEND, 0, true },
	{ "SEND with immediate", ORNIC_WQE_SEND_IMM, 3000, true },
	{ "WRITE", ORNIC_WQE_WRITE, 60000, false },
	{ "short WRITE", ORNIC_WQE_WRITE, 8, false },
	{ "WRITE with immediate", ORNIC_WQE_WRITE_IMM, 3000, true },
	{ "READ", ORNIC_WQE_READ, 60000, false },
	{ "short READ", ORNIC_WQE_READ, 8, false },
	{ "CAS", ORNIC_WQE_CAS, 8, false },
	{ "FAA", ORNIC_WQE_FAA, 8, false },
	{ "ATOMIC WRITE", ORNIC_WQE_ATOMIC_WRITE, 8, false },
};

KUNIT_ARRAY_PARAM_DESC(opcode, opcode_rows, name);

/* No packet is made, and each device tells its own user. */
static void direct_makes_no_packets(struct kunit *test)
{
	const struct opcode_row *row = test->param_value;
	struct ornic_fixture *fix =
		ornic_suite_open(test, ORNIC_FIX_DIRECT, RC);
	struct ornic_cqe cqe;

	ornic_th_arm(&fix->ascq, ORNIC_ARM_NEXT);
	ornic_th_arm(&fix->brcq, ORNIC_ARM_NEXT);
	if (row->receives)
		ornic_fix_recv(&fix->b, &fix->bm, 7, 0, 4096);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, row->opcode, 0, 0,
		       row->len);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe),
			row->receives ? 0 : 0xff);
	KUNIT_EXPECT_EQ(test, packets(fix), 0);
	KUNIT_EXPECT_EQ(
		test, ornic_engine_stat(fix->pair.a->eng, ORNIC_STAT_LOOP_MSGS),
		1);
	KUNIT_EXPECT_EQ(test, fix->pair.a->event_count[ORNIC_EVENT_COMP], 1);
	KUNIT_EXPECT_EQ(test, fix->pair.b->event_count[ORNIC_EVENT_COMP],
			row->receives);
}

static const struct other_row {
	const char *name;
	u8 type;
	bool paced;
} other_rows[] = {
	{ "UC, which would overtake its packets", ORNIC_QPT_UC, false },
	{ "RC that has a rate", RC, true },
};

KUNIT_ARRAY_PARAM_DESC(other, other_rows, name);

static void others_make_packets(struct kunit *test)
{
	const struct other_row *row = test->param_value;
	struct ornic_fixture *fix =
		ornic_suite_open(test, ORNIC_FIX_DIRECT, row->type);
	struct ornic_cqe cqe;

	if (row->paced)
		WRITE_ONCE(ornic_fix_qp(&fix->a)->cc.paced, true);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_GE(test, packets(fix), 1);
}

/* ---- The host changes its mind ----------------------------------------------- */

static const struct change_row {
	const char *name;
	u8 opcode;
} change_rows[] = {
	{ "SEND", ORNIC_WQE_SEND },
	{ "WRITE", ORNIC_WQE_WRITE },
	{ "READ", ORNIC_WQE_READ },
};

KUNIT_ARRAY_PARAM_DESC(change, change_rows, name);

static void begin(struct kunit *test, struct direct_test *dt, u8 opcode)
{
	struct ornic_fixture *fix = &dt->fix;
	struct ornic_cqe cqe;

	fix->pair.a->budget = 1000;
	ornic_fix_fill(opcode == ORNIC_WQE_READ ? &dt->bm : &dt->am, 0, BYTES,
		       PATTERN);
	if (opcode == ORNIC_WQE_SEND)
		ornic_fix_recv(&fix->b, &dt->bm, 7, 0, BYTES);
	ornic_fix_post(&fix->a, &dt->am, &dt->bm, opcode, 0, 0, BYTES);
	KUNIT_ASSERT_FALSE(test, ornic_th_poll(&fix->ascq, &cqe));
	KUNIT_ASSERT_NE(test, ornic_th_sq_psn(&fix->a), ORNIC_FIX_PSN);
}

/* What was begun in memory goes on by packets, and nothing was lost. */
static void message_goes_on_by_packets(struct kunit *test)
{
	const struct change_row *row = test->param_value;
	struct direct_test *dt = open_pair(test);

	begin(test, dt, row->opcode);
	KUNIT_EXPECT_EQ(test, packets(&dt->fix), 0);
	ornic_th_go_by_packets(&dt->fix.pair);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&dt->fix.pair));
	KUNIT_EXPECT_GT(test, packets(&dt->fix), 0);
	expect_done(test, dt, row->opcode);
	/* Each knows of the other what packets from the start would have told. */
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&dt->fix.a)->sq.selective,
			ORNIC_SELECTIVE_YES);
}

/* The other way round; what is out is waited for. */
static void message_goes_on_in_memory(struct kunit *test)
{
	const struct change_row *row = test->param_value;
	struct direct_test *dt = open_pair(test);
	struct ornic_fixture *fix = &dt->fix;

	ornic_th_go_by_packets(&fix->pair);
	begin(test, dt, row->opcode);
	ornic_th_go_direct(&fix->pair, 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_GT(test, packets(fix), 0);
	KUNIT_EXPECT_GT(
		test,
		ornic_engine_stat(fix->pair.a->eng, ORNIC_STAT_LOOP_BYTES), 0);
	expect_done(test, dt, row->opcode);
}

/* There and back in the middle of a READ: the peer is asked for each piece of it. */
static void read_goes_there_and_back(struct kunit *test)
{
	struct direct_test *dt = open_pair(test);
	struct ornic_fixture *fix = &dt->fix;

	begin(test, dt, ORNIC_WQE_READ);
	ornic_th_go_by_packets(&fix->pair);
	fix->pair.a->budget = 1;
	ornic_th_run(fix->pair.a);
	KUNIT_EXPECT_EQ(test, packets(fix), 1);
	ornic_th_go_direct(&fix->pair, 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	expect_done(test, dt, ORNIC_WQE_READ);
}

/* A QP has packets only, until one is acknowledged, and 100 ms after the last. */
static void packets_prove_the_way(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open(test, ORNIC_FIX_WIRE, RC);
	static const u64 sent[] = { 2, 2, 4, 4 };
	struct ornic_cqe cqe;
	u32 i;

	ornic_th_go_direct(&fix->pair, 0);
	for (i = 0; i < ARRAY_SIZE(sent); i++) {
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0,
			       0, 100);
		KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
		KUNIT_EXPECT_EQ(test, packets(fix), sent[i]);
		if (i == 1)
			KUNIT_EXPECT_TRUE(test,
					  ornic_th_advance(&fix->pair,
							   100 * ORNIC_TH_MS));
	}
}

/* Nothing overtakes a packet, which has not asked for an ACK: it is asked for. */
static void message_waits_for_packets(struct kunit *test)
{
	struct direct_test *dt = open_pair(test);
	struct ornic_fixture *fix = &dt->fix;
	struct ornic_cqe cqe;

	ornic_th_go_by_packets(&fix->pair);
	ornic_fix_fill(&dt->am, 0, BYTES, PATTERN);
	fix->pair.a->budget = 1;
	ornic_fix_post(&fix->a, &dt->am, &dt->bm, ORNIC_WQE_WRITE, 0, 0,
		       BYTES / 2);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->sq.unacked_pkts, 1);
	ornic_th_go_direct(&fix->pair, 0);
	fix->pair.a->budget = 1 << 20;
	ornic_fix_post(&fix->a, &dt->am, &dt->bm, ORNIC_WQE_WRITE, 0, BYTES / 2,
		       BYTES / 2);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(
		test,
		ornic_engine_stat(fix->pair.a->eng, ORNIC_STAT_LOOP_BYTES), 0);
	/* No timer is needed. */
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	expect_done(test, dt, ORNIC_WQE_WRITE);
	/* The packet, once more with AckReq, and the ACK. */
	KUNIT_EXPECT_EQ(test, packets(fix), 3);
	KUNIT_EXPECT_EQ(
		test, ornic_engine_stat(fix->pair.a->eng, ORNIC_STAT_LOOP_MSGS),
		2);
}

/* What was lost on the wire goes again there, before all else. */
static void loss_is_mended_first(struct kunit *test)
{
	struct ornic_fixture *fix = &open_pair(test)->fix;
	struct ornic_cqe cqe;

	ornic_th_go_by_packets(&fix->pair);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_FAA, 0, 0, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	ornic_th_go_direct(&fix->pair, 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_FAA, 0, 8, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	KUNIT_EXPECT_TRUE(test,
			  ornic_th_advance(&fix->pair, 2000 * ORNIC_TH_MS));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(
		test, ornic_engine_stat(fix->pair.a->eng, ORNIC_STAT_LOOP_MSGS),
		1);
}

/* Without an ACK timeout nobody waits for a response that may be lost. */
static void loss_shows_without_a_timeout(struct kunit *test)
{
	struct direct_test *dt = test->priv;
	struct ornic_th_qpinit init = { .type = RC };
	struct ornic_fixture *fix = &dt->fix;
	struct ornic_cqe cqe;
	u32 lost = 1;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_DIRECT, &init), 0);
	fix->a.conn.timeout = 0;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_th_go_by_packets(&fix->pair);
	fix->pair.filter = ornic_fix_drop_from_b;
	fix->pair.ctx = &lost;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	ornic_th_go_direct(&fix->pair, 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 8, 8);
	KUNIT_EXPECT_TRUE(test,
			  ornic_th_advance(&fix->pair, 2000 * ORNIC_TH_MS));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
}

/* Packets prove the path that they have taken, and no other. */
static void new_path_is_not_proved(struct kunit *test)
{
	struct ornic_fixture *fix = &open_pair(test)->fix;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_SQD), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_modify(&fix->a, ORNIC_QPS_SQD,
					ORNIC_QPM_STATE | ORNIC_QPM_AV),
			0);
	KUNIT_ASSERT_EQ(
		test, ornic_th_modify(&fix->a, ORNIC_QPS_RTS, ORNIC_QPM_STATE),
		0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, packets(fix), 2);
}

/* An atomic whose ACK was lost is not executed again, nor anything before it. */
static void lost_response_is_asked_for(struct kunit *test)
{
	struct ornic_fixture *fix = &open_pair(test)->fix;
	u32 lost = 1;
	struct ornic_cqe cqe;
	u64 value;

	ornic_th_go_by_packets(&fix->pair);
	value = 40;
	ornic_th_mr_write(&fix->bm, 0, &value, sizeof(value));
	fix->pair.filter = ornic_fix_drop_from_b;
	fix->pair.ctx = &lost;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_FAA, 0, 0, 8);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, lost, 0);
	ornic_th_go_direct(&fix->pair, 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_FAA, 0, 0, 8);
	KUNIT_EXPECT_TRUE(test,
			  ornic_th_advance(&fix->pair, 2000 * ORNIC_TH_MS));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	ornic_th_mr_read(&fix->bm, 0, &value, sizeof(value));
	KUNIT_EXPECT_EQ(test, value, 42);
	ornic_th_mr_read(&fix->am, 0, &value, sizeof(value));
	KUNIT_EXPECT_EQ(test, value, 41);
}

/* After losses the window opens by ACKs of packets, not by what makes none. */
static void window_stays(struct kunit *test)
{
	struct direct_test *dt = open_pair(test);
	struct ornic_fixture *fix = &dt->fix;
	struct ornic_cqe cqe;

	ornic_fix_qp(&fix->a)->sq.window = 4;
	ornic_fix_post(&fix->a, &dt->am, &dt->bm, ORNIC_WQE_WRITE, 0, 0, BYTES);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->sq.window, 4);
}

/* ---- What does not work in memory --------------------------------------------- */

/* Nobody is ready: the wait is that of the wire, and it goes on either way. */
static void receive_comes_late(struct kunit *test)
{
	struct ornic_fixture *fix = &open_pair(test)->fix;
	struct ornic_cqe cqe;

	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 100);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 100);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(fix->pair.a->eng,
					  ORNIC_STAT_RNR_NAK_RCVD),
			1);
	ornic_fix_recv(&fix->b, &fix->bm, 7, 0, 100);
	KUNIT_EXPECT_TRUE(test, ornic_th_advance(&fix->pair, 20 * ORNIC_TH_MS));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, packets(fix), 0);
	ornic_th_go_by_packets(&fix->pair);
	ornic_fix_recv(&fix->b, &fix->bm, 7, 0, 100);
	KUNIT_EXPECT_TRUE(test,
			  ornic_th_advance(&fix->pair, 200 * ORNIC_TH_MS));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
}

/* The peer is not there: packets find out, and retries end. */
static void peer_is_gone(struct kunit *test)
{
	struct ornic_fixture *fix = &open_pair(test)->fix;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_th_qp_fini(&fix->b), 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 100);
	KUNIT_EXPECT_TRUE(test,
			  ornic_th_advance(&fix->pair, 9000 * ORNIC_TH_MS));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_RETRY_EXC_ERR);
	KUNIT_EXPECT_GT(test, packets(fix), 0);
}

/* A key that does not exist ends both QPs, and each user hears of its own. */
static void key_is_wrong(struct kunit *test)
{
	const struct opcode_row *row = test->param_value;
	struct ornic_fixture *fix = &open_pair(test)->fix;
	struct ornic_cqe cqe;

	if (row->receives)
		kunit_skip(test, "no key is used");
	fix->bm.key ^= 1;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, row->opcode, 0, 0, 8);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->b), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test,
			fix->pair.a->event_count[ORNIC_EVENT_QP_ACCESS_ERR], 0);
	KUNIT_EXPECT_EQ(test,
			fix->pair.b->event_count[ORNIC_EVENT_QP_ACCESS_ERR], 1);
	KUNIT_EXPECT_EQ(test, packets(fix), 0);
}

static const struct absent_row {
	const char *name;
	u8 opcode;
	bool remote; /* the peer's page is absent, not ours */
	u32 page; /* of the memory */
} absent_rows[] = {
	{ "WRITE, first page", ORNIC_WQE_WRITE, true, 0 },
	{ "WRITE, a later page", ORNIC_WQE_WRITE, true, 50 },
	{ "WRITE, source", ORNIC_WQE_WRITE, false, 50 },
	{ "READ, first page", ORNIC_WQE_READ, true, 0 },
	{ "READ, a later page", ORNIC_WQE_READ, true, 50 },
	{ "READ, sink", ORNIC_WQE_READ, false, 50 },
	{ "SEND, a later page", ORNIC_WQE_SEND, true, 50 },
};

KUNIT_ARRAY_PARAM_DESC(absent, absent_rows, name);

/* Pages that are absent are asked for, and nothing is missing afterwards. */
static void page_is_absent(struct kunit *test)
{
	const struct absent_row *row = test->param_value;
	struct direct_test *dt = open_pair(test);
	struct ornic_fixture *fix = &dt->fix;
	struct ornic_th_mr *odp = row->remote ? &dt->bm : &dt->am;
	const struct ornic_th_qp *qp = row->remote ? &fix->b : &fix->a;

	ornic_th_mr_fini(odp);
	KUNIT_ASSERT_EQ(test,
			ornic_th_odp_init(row->remote ? fix->pair.b :
							fix->pair.a,
					  odp, BYTES, 0, ORNIC_ACCESS_MASK),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(odp, 0, BYTES / 4096, true), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_odp_clear(odp, row->page, 1), 0);
	ornic_fix_fill(row->opcode == ORNIC_WQE_READ ? &dt->bm : &dt->am, 0,
		       BYTES, PATTERN);
	if (row->opcode == ORNIC_WQE_SEND)
		ornic_fix_recv(&fix->b, &dt->bm, 7, 0, BYTES);
	ornic_fix_post(&fix->a, &dt->am, &dt->bm, row->opcode, 0, 0, BYTES);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_th_fault_serve(qp, odp), 1);
	KUNIT_EXPECT_TRUE(test,
			  ornic_th_advance(&fix->pair, 2000 * ORNIC_TH_MS));
	expect_done(test, dt, row->opcode);
}

/* A page goes for good while a READ of it is moved: the peer is told, by a packet. */
static void page_goes(struct kunit *test)
{
	struct direct_test *dt = open_pair(test);
	struct ornic_fixture *fix = &dt->fix;
	struct ornic_th_fault fault;
	struct ornic_cqe cqe;

	ornic_th_mr_fini(&dt->bm);
	KUNIT_ASSERT_EQ(test,
			ornic_th_odp_init(fix->pair.b, &dt->bm, BYTES, 0,
					  ORNIC_ACCESS_MASK),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(&dt->bm, 0, BYTES / 4096, true),
			0);
	begin(test, dt, ORNIC_WQE_READ);
	KUNIT_ASSERT_EQ(test, ornic_th_odp_clear(&dt->bm, 50, 1), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_GT(test, packets(fix), 0);
	KUNIT_ASSERT_TRUE(test, ornic_th_fault_take(&fix->b, &fault));
	KUNIT_ASSERT_EQ(test, ornic_th_fault_end(&fix->b, &fault, true), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->b), ORNIC_QPS_ERR);
}

static struct kunit_case direct_cases[] = {
	KUNIT_CASE_PARAM(direct_makes_no_packets, opcode_gen_params),
	KUNIT_CASE_PARAM(others_make_packets, other_gen_params),
	KUNIT_CASE_PARAM(message_goes_on_by_packets, change_gen_params),
	KUNIT_CASE_PARAM(message_goes_on_in_memory, change_gen_params),
	KUNIT_CASE(read_goes_there_and_back),
	KUNIT_CASE(packets_prove_the_way),
	KUNIT_CASE(message_waits_for_packets),
	KUNIT_CASE(loss_is_mended_first),
	KUNIT_CASE(loss_shows_without_a_timeout),
	KUNIT_CASE(new_path_is_not_proved),
	KUNIT_CASE(lost_response_is_asked_for),
	KUNIT_CASE(window_stays),
	KUNIT_CASE(receive_comes_late),
	KUNIT_CASE(peer_is_gone),
	KUNIT_CASE_PARAM(key_is_wrong, opcode_gen_params),
	KUNIT_CASE_PARAM(page_is_absent, absent_gen_params),
	KUNIT_CASE(page_goes),
	{}
};

static struct kunit_suite direct_suite = {
	.name = "ornic_direct",
	.init = direct_init,
	.exit = ornic_suite_exit,
	.test_cases = direct_cases,
};

kunit_test_suite(direct_suite);

MODULE_DESCRIPTION("ornic: messages between devices without packets");
MODULE_LICENSE("Dual BSD/GPL");
