// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* READs that a peer asks for again: what a responder remembers of them, replay.c. */
#include "engine/proto.h"
#include "suite_fixture.h"

#define PSN ORNIC_FIX_PSN
#define MTU 256u
#define PAGE 4096u

/* One QP that accepts so many READs at once, and whose peer the case is. */
static struct ornic_fixture *open_accepting(struct kunit *test, u8 most)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.mtu = 1;
	fix->a.conn.max_dest_rd_atomic = most;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	return fix;
}

static struct ornic_fixture *open_alone(struct kunit *test)
{
	return open_accepting(test, 4);
}

/* A peer READs @bytes at PSN @n, from byte @at of @mr on. */
static void ask_of(struct ornic_fixture *fix, const struct ornic_th_mr *mr,
		   u32 n, u32 at, u32 bytes, bool selective)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_READ_REQUEST,
		.psn = ornic_psn_add(PSN, n),
		.ack_req = true,
		.selective = selective,
		.va = mr->iova + at,
		.rkey = mr->key,
		.dma_len = bytes,
	};

	ornic_th_inject(&fix->a, &info, NULL, 0);
	ornic_th_run(fix->pair.a);
}

static void ask_part(struct ornic_fixture *fix, u32 n, u32 at, u32 bytes,
		     bool selective)
{
	ask_of(fix, &fix->am, n, at, bytes, selective);
}

static void ask(struct ornic_fixture *fix, u32 n, bool selective)
{
	ask_part(fix, n, 0, 8, selective);
}

/*
 * A selective requester goes on when responses are lost, so more of its requests are
 * remembered than it may have under way.
 */
static void replay_remembers_reads(struct kunit *test)
{
	struct ornic_fixture *fix = open_alone(test);
	u32 i;

	for (i = 0; i < ORNIC_RD_SLOTS; i++)
		ask(fix, i, true);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), ORNIC_RD_SLOTS);
	ask(fix, 0, true);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, PSN);
	/* Another requester has no use for these. */
	ask(fix, 0, false);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	for (i = 0; i < ORNIC_RD_SLOTS; i++)
		KUNIT_EXPECT_FALSE(test,
				   ornic_fix_qp(&fix->a)->rq.rd->slot[i].valid);
}

/* But no more of them may be under way. */
static void replay_bounds_reads(struct kunit *test)
{
	struct ornic_fixture *fix = open_alone(test);
	u32 i, most = ornic_fix_qp(&fix->a)->max_dest_rd_atomic;

	fix->pair.a->tx_window = 0;
	for (i = 0; i <= most; i++)
		ask(fix, i, true);
	fix->pair.a->tx_window = 64;
	ornic_th_kick(&fix->a);
	for (i = 0; i < most; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_RESP_ONLY);
	}
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix),
			ORNIC_AETH_NAK | ORNIC_NAK_INVALID_REQ);
}

/* READs of three packets, as many as are remembered. */
static void read_all(struct kunit *test, struct ornic_fixture *fix)
{
	u32 i;

	for (i = 0; i < ORNIC_RD_SLOTS; i++) {
		ask_part(fix, 3 * i, 0, 3 * MTU, true);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 3);
	}
}

/* Two packets of each, one by one, while nothing can be sent */
static void ask_all_again(struct ornic_fixture *fix)
{
	u32 i;

	fix->pair.a->tx_window = 0;
	for (i = 0; i < ORNIC_RD_SLOTS; i++) {
		ask_part(fix, 3 * i, 0, MTU, true);
		ask_part(fix, 3 * i + 2, 2 * MTU, MTU, true);
	}
}

/*
 * All READs are asked for again, two packets of each one by one, while nothing can be
 * sent: the second waits, but not of more than there is room for. Those that wait come
 * in the end, and leave the room to others.
 */
static void replay_bounds_parts(struct kunit *test)
{
	struct ornic_fixture *fix = open_alone(test);
	struct ornic_rq *rq = &ornic_fix_qp(&fix->a)->rq;
	u32 round;

	read_all(test, fix);
	for (round = 0; round < 2; round++) {
		ask_all_again(fix);
		KUNIT_EXPECT_EQ(test, rq->rd_parts, 0xffff);
		fix->pair.a->tx_window = 4 * ORNIC_RD_SLOTS;
		ornic_th_kick(&fix->a);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix),
				ORNIC_RD_SLOTS + ORNIC_RD_WAITING);
		KUNIT_EXPECT_EQ(test, rq->rd_parts, 0);
	}
}

/* A new request of a peer that is not selective any more: no more than it is sent. */
static void replay_drops_parts(struct kunit *test)
{
	struct ornic_fixture *fix = open_alone(test);
	struct ornic_rq *rq = &ornic_fix_qp(&fix->a)->rq;

	read_all(test, fix);
	ask_all_again(fix);
	ask(fix, 3 * ORNIC_RD_SLOTS, false);
	KUNIT_EXPECT_NE(test, rq->rd_parts, 0xffff);
	fix->pair.a->tx_window = 4 * ORNIC_RD_SLOTS;
	ornic_th_kick(&fix->a);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, rq->rd_parts, 0);
	/* What was dropped can be asked for again. */
	ask_part(fix, 3 + 2, 2 * MTU, MTU, true);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
}

/* SQD: change how many the QP accepts at once. It has memory for them afterwards. */
static void accept_reads(struct kunit *test, struct ornic_fixture *fix, u8 most)
{
	fix->a.conn.max_dest_rd_atomic = most;
	KUNIT_ASSERT_EQ(test,
			ornic_th_modify(&fix->a, ORNIC_QPS_SQD,
					ORNIC_QPM_STATE |
						ORNIC_QPM_MAX_DEST_RD_ATOMIC),
			0);
	KUNIT_ASSERT_NOT_NULL(test, ornic_fix_qp(&fix->a)->rq.rd);
}

/* A QP that accepts none has no memory for them, until SQD lets it accept some. */
static void replay_begins_with_none(struct kunit *test)
{
	struct ornic_fixture *fix = open_accepting(test, 0);

	KUNIT_EXPECT_NULL(test, ornic_fix_qp(&fix->a)->rq.rd);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_SQD), 0);
	accept_reads(test, fix, 1);
	ask(fix, 0, true);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	/* It remembers that one when it accepts none again. */
	accept_reads(test, fix, 0);
	ask(fix, 0, true);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
}

static const struct none_row {
	const char *desc;
	u8 opcode;
	u8 response;
	u32 len;
} none_rows[] = {
	{ "READ", ORNIC_OP_READ_REQUEST, ORNIC_OP_READ_RESP_ONLY, 0 },
	{ "FAA", ORNIC_OP_FAA, ORNIC_OP_ATOMIC_ACK, 0 },
	{ "ATOMIC WRITE", ORNIC_OP_ATOMIC_WRITE, ORNIC_OP_READ_RESP_ONLY, 8 },
	{ "FLUSH", ORNIC_OP_FLUSH, ORNIC_OP_READ_RESP_ONLY, 0 },
};

KUNIT_ARRAY_PARAM_DESC(none, none_rows, desc);

static void request(struct ornic_fixture *fix, const struct none_row *row,
		    u32 n, bool selective)
{
	struct ornic_txinfo info = {
		.opcode = row->opcode,
		.psn = ornic_psn_add(PSN, n),
		.ack_req = true,
		.selective = selective,
		.va = (fix->am.iova + 7) & ~7ull,
		.rkey = fix->am.key,
		.dma_len = 8,
		.feth = ORNIC_FLUSH_GLOBAL,
	};

	ornic_th_inject(&fix->a, &info, fix->buf, row->len);
	ornic_th_run(fix->pair.a);
}

/* Requests and their repetitions are no reason to look at what is not there. */
static void replay_of_none(struct kunit *test)
{
	const struct none_row *row = test->param_value;
	struct ornic_fixture *fix = open_accepting(test, 0);

	/* Requests before PSN, and then the first. */
	request(fix, row, ORNIC_PSN_MASK, true);
	request(fix, row, ORNIC_PSN_MASK, false);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	request(fix, row, 0, true);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix),
			ORNIC_AETH_NAK | ORNIC_NAK_INVALID_REQ);
	KUNIT_EXPECT_NULL(test, ornic_fix_qp(&fix->a)->rq.rd);
}

/* Nothing else is wrong with those requests. */
static void replay_of_one(struct kunit *test)
{
	const struct none_row *row = test->param_value;
	struct ornic_fixture *fix = open_accepting(test, 1);

	request(fix, row, 0, true);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, row->response);
}

static const struct other_row {
	const char *desc;
	u32 bytes; /* of the READ, from byte 0 on */
	bool key; /* the copy has another one, with the same rights */
	u32 at;
	u32 copy_bytes;
} other_rows[] = {
	{ "another key", 8, true, 0, 8 },
	{ "another address", 8, false, 8, 8 },
	{ "more bytes", 8, false, 0, 16 },
	{ "none of some", 8, false, 0, 0 },
	{ "part of a packet", 8, false, 0, 4 },
	/* Nobody looks at the key of a READ of no bytes. */
	{ "more than none", 0, false, 0, 8 },
};

KUNIT_ARRAY_PARAM_DESC(other, other_rows, desc);

/*
 * What is wrong in a copy of a READ does not end the QP. So it asks for what the READ asked
 * for: a peer cannot try keys and addresses one after the other.
 */
static void replay_asks_for_the_same(struct kunit *test)
{
	const struct other_row *row = test->param_value;
	struct ornic_fixture *fix = open_alone(test);
	struct ornic_th_mr other;
	u32 selective, key = fix->am.key;

	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.a, &other, 4096, 0, 0,
					 ORNIC_ACCESS_REMOTE_READ),
			0);
	ask_part(fix, 0, 0, row->bytes, true);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	for (selective = 0; selective < 2; selective++) {
		fix->am.key = row->key ? other.key : key;
		ask_part(fix, 0, row->at, row->copy_bytes, selective);
		fix->am.key = key;
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
		ask_part(fix, 0, 0, row->bytes, selective);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	}
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&other), 0);
}

/* The peer may READ no more: nor what it has READ before. */
static void replay_needs_access(struct kunit *test)
{
	struct ornic_fixture *fix = open_alone(test);

	ask(fix, 0, false);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	fix->a.conn.access = ORNIC_ACCESS_REMOTE_WRITE;
	KUNIT_ASSERT_EQ(test,
			ornic_th_modify(&fix->a, ORNIC_QPS_RTS,
					ORNIC_QPM_STATE | ORNIC_QPM_ACCESS),
			0);
	ask(fix, 0, false);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
}

/*
 * The peer has all of a READ and says so, and its memory is taken back, while a copy of the
 * request is answered, or comes late. That ends nothing.
 */
static void replay_loses_access(struct kunit *test, bool selective)
{
	struct ornic_fixture *fix = open_alone(test);
	struct ornic_th *th = fix->pair.a;

	ask_part(fix, 0, 0, 3 * MTU, selective);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 3);
	th->tx_window = 1;
	ask_part(fix, 0, 0, 3 * MTU, selective);
	/* One more, which is complete when the one before it is given up. */
	ask_part(fix, 3, 0, 0, selective);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_RESP_FIRST);
	KUNIT_ASSERT_EQ(test,
			ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_MKEY,
					     fix->am.key),
			ORNIC_OK);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_RESP_ONLY);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 3));
	ask_part(fix, 0, 0, 3 * MTU, selective);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	KUNIT_EXPECT_EQ(test, th->event_count[ORNIC_EVENT_QP_ACCESS_ERR], 0);
}

static void replay_loses_access_selective(struct kunit *test)
{
	replay_loses_access(test, true);
}

static void replay_loses_access_standard(struct kunit *test)
{
	replay_loses_access(test, false);
}

/* But the peer cannot have had all before the end of it has left once. */
static void replay_of_a_start_loses_access(struct kunit *test)
{
	struct ornic_fixture *fix = open_alone(test);
	struct ornic_th *th = fix->pair.a;

	th->tx_window = 2;
	ask_part(fix, 0, 0, 3 * MTU, false);
	ask_part(fix, 0, 0, 3 * MTU, false);
	KUNIT_ASSERT_EQ(test,
			ornic_th_destroy_obj(th, ORNIC_CMD_DESTROY_MKEY,
					     fix->am.key),
			ORNIC_OK);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix),
			ORNIC_AETH_NAK | ORNIC_NAK_REMOTE_ACCESS);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
}

/* An MR of @npages, which are absent. */
static void make_absent(struct kunit *test, struct ornic_fixture *fix,
			struct ornic_th_mr *mr, u32 npages)
{
	KUNIT_ASSERT_EQ(test,
			ornic_th_odp_init(fix->pair.a, mr, npages * PAGE, 0,
					  ORNIC_ACCESS_REMOTE_READ),
			0);
}

/* A copy of the end of a READ of three packets, at PSN @n, waits for a page of @mr. */
static void wait_for_page(struct kunit *test, struct ornic_fixture *fix,
			  const struct ornic_th_mr *mr, u32 n,
			  struct ornic_th_fault *fault)
{
	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(mr, 0, 1, true), 0);
	ask_of(fix, mr, n, 0, 3 * MTU, false);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 3);
	KUNIT_ASSERT_EQ(test, ornic_th_odp_clear(mr, 0, 1), 0);
	ask_of(fix, mr, n + 2, 2 * MTU, MTU, false);
	KUNIT_ASSERT_TRUE(test, ornic_th_fault_take(&fix->a, fault));
}

/* It is the first READ, and of @fix->am. */
static struct ornic_fixture *open_absent(struct kunit *test,
					 struct ornic_th_fault *fault)
{
	struct ornic_fixture *fix = open_alone(test);

	KUNIT_ASSERT_EQ(test, ornic_th_mr_fini(&fix->am), 0);
	make_absent(test, fix, &fix->am, 1);
	wait_for_page(test, fix, &fix->am, 0, fault);
	return fix;
}

/* The copy of a READ of @fix->am that is being answered finds no key, with room for @window. */
static void lose_key(struct kunit *test, struct ornic_fixture *fix, u32 window)
{
	KUNIT_ASSERT_EQ(test, ornic_th_mr_fini(&fix->am), 0);
	fix->pair.a->tx_window = window;
	ornic_th_kick(&fix->a);
	ornic_th_run(fix->pair.a);
}

/*
 * Another copy is told by an RNR NAK that has no room yet, and an old one of all packets
 * comes late. The page does not come: that NAK must not become an ACK, which a peer may take
 * for the end of its READ. Later copies ask for no page, or a peer could repeat it for ever.
 */
static void replay_is_told_and_fails(struct kunit *test)
{
	struct ornic_th_fault fault;
	struct ornic_fixture *fix = open_absent(test, &fault);
	struct ornic_th *th = fix->pair.a;

	th->tx_window = 0;
	ornic_th_advance(&fix->pair, 1000 * ORNIC_TH_MS);
	ask_part(fix, 2, 2 * MTU, MTU, false);
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(th->eng, ORNIC_STAT_RNR_NAK_SENT), 1);
	ask_part(fix, 0, 0, 3 * MTU, false);
	KUNIT_ASSERT_EQ(test, ornic_th_fault_end(&fix->a, &fault, true), 0);
	th->tx_window = 4;
	ornic_th_kick(&fix->a);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	ask_part(fix, 2, 2 * MTU, MTU, false);
	KUNIT_EXPECT_FALSE(test, ornic_th_fault_take(&fix->a, &fault));
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
}

/* The key goes while the host looks for the page: what it finds is too late. */
static void replay_drops_its_fault(struct kunit *test)
{
	struct ornic_th_fault fault;
	struct ornic_fixture *fix = open_absent(test, &fault);

	KUNIT_ASSERT_EQ(test,
			ornic_th_destroy_obj(fix->pair.a,
					     ORNIC_CMD_DESTROY_MKEY,
					     fix->am.key),
			ORNIC_OK);
	ask_part(fix, 3, 0, 0, false);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	KUNIT_EXPECT_NE(test, ornic_th_fault_end(&fix->a, &fault, true), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
}

/*
 * The host has answered that the second page of @mr does not exist. The READ that needed it
 * does not any more: its peer has asked again, for a part of the first page alone.
 */
static struct ornic_fixture *open_refused(struct kunit *test,
					  struct ornic_th_mr *mr)
{
	struct ornic_fixture *fix = open_alone(test);
	u32 start = PAGE - 2 * MTU;
	struct ornic_th_fault fault;

	make_absent(test, fix, mr, 2);
	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(mr, 0, 2, true), 0);
	ask_of(fix, mr, 0, start, 3 * MTU, false);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 3);
	KUNIT_ASSERT_EQ(test, ornic_th_odp_clear(mr, 1, 1), 0);
	ask_of(fix, mr, 0, start, 3 * MTU, false);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 2);
	KUNIT_ASSERT_TRUE(test, ornic_th_fault_take(&fix->a, &fault));
	ask_of(fix, mr, 0, start, MTU, false);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(&fix->a, &fault, true), 0);
	return fix;
}

/* The later READ asks the host, and is answered when it has the page. */
static void expect_asked_anew(struct kunit *test, struct ornic_fixture *fix,
			      struct ornic_th_mr *mr)
{
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	KUNIT_EXPECT_EQ(test, ornic_th_fault_serve(&fix->a, mr), 1);
	ornic_th_run(fix->pair.a);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(mr), 0);
}

/*
 * The page of the end does not come, when the newest copy has asked for the start alone and
 * has it. A later READ asks for that page anew.
 */
static void replay_fails_for_no_other(struct kunit *test)
{
	struct ornic_th_mr mr;
	struct ornic_fixture *fix = open_refused(test, &mr);

	ask_of(fix, &mr, 3, PAGE, 8, false);
	expect_asked_anew(test, fix, &mr);
}

/*
 * Nor does a later READ whose page has come, and has gone again before it is read: it asks
 * for it anew.
 */
static void replay_fails_for_no_later(struct kunit *test)
{
	struct ornic_th_mr mr;
	struct ornic_fixture *fix = open_refused(test, &mr);

	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(&mr, 1, 1, true), 0);
	fix->pair.a->tx_window = 0;
	ask_of(fix, &mr, 3, PAGE, 8, false);
	KUNIT_ASSERT_EQ(test, ornic_th_odp_clear(&mr, 1, 1), 0);
	fix->pair.a->tx_window = 4;
	ornic_th_kick(&fix->a);
	ornic_th_run(fix->pair.a);
	expect_asked_anew(test, fix, &mr);
}

/* What waited for that fault asks for its own page at once. */
static void replay_lets_others_ask(struct kunit *test)
{
	struct ornic_th_fault fault;
	struct ornic_fixture *fix = open_absent(test, &fault);
	struct ornic_th_mr other;

	make_absent(test, fix, &other, 1);
	ask_of(fix, &other, 3, 0, 8, false);
	KUNIT_EXPECT_FALSE(test, ornic_th_fault_take(&fix->a, &fault));
	lose_key(test, fix, 4);
	KUNIT_ASSERT_TRUE(test, ornic_th_fault_take(&fix->a, &fault));
	KUNIT_EXPECT_EQ(test, fault.key, other.key);
	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(&other, 0, 1, true), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(&fix->a, &fault, false), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&other), 0);
}

/* But a fault that a request waits for goes on. The READ has PSN 0. */
static void replay_keeps_the_fault_of_a_request(struct kunit *test)
{
	struct ornic_fixture *fix = open_alone(test);
	struct ornic_th_fault fault;
	struct ornic_th_mr other;

	make_absent(test, fix, &other, 1);
	ask_part(fix, 0, 0, 2 * MTU, false);
	ask_part(fix, 2, 0, 8, false);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 3);
	fix->pair.a->tx_window = 0;
	ask_part(fix, 2, 0, 8, false);
	ask_of(fix, &other, 3, 0, 8, false);
	KUNIT_ASSERT_TRUE(test, ornic_th_fault_take(&fix->a, &fault));
	lose_key(test, fix, 4);
	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(&other, 0, 1, true), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(&fix->a, &fault, false), 0);
	ornic_th_run(fix->pair.a);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 3));
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&other), 0);
}

/*
 * While a READ waits for its page, a copy of an older one comes, which loses its key. The
 * later one goes on waiting, and its peer is told.
 */
static void replay_keeps_what_is_of_another(struct kunit *test)
{
	struct ornic_fixture *fix = open_alone(test);
	struct ornic_th *th = fix->pair.a;
	struct ornic_th_fault fault;
	struct ornic_th_mr other;

	make_absent(test, fix, &other, 1);
	ask_part(fix, 0, 0, 3 * MTU, false);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 3);
	wait_for_page(test, fix, &other, 3, &fault);
	th->tx_window = 0;
	ornic_th_advance(&fix->pair, 1000 * ORNIC_TH_MS);
	ask_of(fix, &other, 5, 2 * MTU, MTU, false);
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(th->eng, ORNIC_STAT_RNR_NAK_SENT), 1);
	ask_part(fix, 0, 0, 3 * MTU, false);
	lose_key(test, fix, 4);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix) & ORNIC_AETH_TYPE_MASK,
			ORNIC_AETH_RNR);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 5));
	KUNIT_ASSERT_EQ(test, ornic_th_odp_set(&other, 0, 1, true), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(&fix->a, &fault, false), 0);
	ornic_th_run(th);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&other), 0);
}

/* The next request was refused for want of a receive: its peer is told likewise. */
static void replay_keeps_a_refusal(struct kunit *test)
{
	struct ornic_fixture *fix = open_alone(test);

	ask_part(fix, 0, 0, 3 * MTU, false);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 3);
	fix->pair.a->tx_window = 0;
	ask_part(fix, 0, 0, 3 * MTU, false);
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 3, 0, 0, 8);
	lose_key(test, fix, 4);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix) & ORNIC_AETH_TYPE_MASK,
			ORNIC_AETH_RNR);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 3));
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
}

static struct kunit_case replay_cases[] = {
	KUNIT_CASE(replay_begins_with_none),
	KUNIT_CASE_PARAM(replay_of_none, none_gen_params),
	KUNIT_CASE_PARAM(replay_of_one, none_gen_params),
	KUNIT_CASE(replay_remembers_reads),
	KUNIT_CASE(replay_bounds_reads),
	KUNIT_CASE(replay_bounds_parts),
	KUNIT_CASE(replay_drops_parts),
	KUNIT_CASE_PARAM(replay_asks_for_the_same, other_gen_params),
	KUNIT_CASE(replay_needs_access),
	KUNIT_CASE(replay_loses_access_selective),
	KUNIT_CASE(replay_loses_access_standard),
	KUNIT_CASE(replay_of_a_start_loses_access),
	KUNIT_CASE(replay_is_told_and_fails),
	KUNIT_CASE(replay_drops_its_fault),
	KUNIT_CASE(replay_fails_for_no_other),
	KUNIT_CASE(replay_fails_for_no_later),
	KUNIT_CASE(replay_lets_others_ask),
	KUNIT_CASE(replay_keeps_the_fault_of_a_request),
	KUNIT_CASE(replay_keeps_what_is_of_another),
	KUNIT_CASE(replay_keeps_a_refusal),
	{},
};

static struct kunit_suite replay_suite = {
	.name = "ornic_replay",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = replay_cases,
};

kunit_test_suite(replay_suite);

MODULE_DESCRIPTION("ornic: repeated READs suite");
MODULE_LICENSE("Dual BSD/GPL");
