// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* READs of which parts are missing: what is asked for again, and what is sent for it. */
#include "engine/proto.h"
#include "suite_fixture.h"

#define PSN ORNIC_FIX_PSN
#define MTU 1024u
#define ACK 0x1f /* credits: none */
#define US 1000ull
#define ONLY ORNIC_OP_READ_RESP_ONLY
#define FIRST ORNIC_OP_READ_RESP_FIRST
#define MIDDLE ORNIC_OP_READ_RESP_MIDDLE
#define LAST ORNIC_OP_READ_RESP_LAST

/* ---- The responder, replay.c --------------------------------------------------- */

/* The peer asks for packets [@n, @n + @npkts) of the READ that begins at am. */
static void ask(struct ornic_fixture *fix, u32 n, u32 npkts, bool selective)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_READ_REQUEST,
		.psn = ornic_psn_add(PSN, n),
		.ack_req = true,
		.selective = selective,
		.va = fix->am.iova + n * MTU,
		.rkey = fix->am.key,
		.dma_len = npkts * MTU,
	};

	ornic_th_inject(&fix->a, &info, NULL, 0);
	ornic_th_run(fix->pair.a);
}

static void expect_data(struct kunit *test, struct ornic_fixture *fix, u32 n,
			u8 opcode)
{
	struct ornic_frag frag[ORNIC_RX_SEGS];

	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, opcode);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, n));
	KUNIT_ASSERT_EQ(test, fix->pkt.payload_len, MTU);
	ornic_pkt_payload(&fix->pkt, frag);
	KUNIT_EXPECT_EQ(test, *(u8 *)frag[0].ptr, ornic_fix_byte(1, n * MTU));
}

/* A READ of eight packets, of which the port has taken the first. */
static struct ornic_fixture *open_busy(struct kunit *test, bool selective)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);

	fix->pair.a->tx_window = 1;
	ask(fix, 0, 8, selective);
	return fix;
}

/*
 * What has not left yet is not begun again, however often it is asked for: a
 * requester that asks early would never get the end of it.
 */
static void replay_goes_on_with_what_is_to_come(struct kunit *test)
{
	struct ornic_fixture *fix = open_busy(test, true);
	u32 i;

	for (i = 0; i < 8; i++) {
		expect_data(test, fix, i, !i ? FIRST : i < 7 ? MIDDLE : LAST);
		ask(fix, 7, 1, true);
		if (i < 5)
			ask(fix, i + 2, 6 - i, true);
	}
	/* The last packet has left before it was asked for. */
	expect_data(test, fix, 7, ONLY);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/* Parts wait for the rest, in their order, and what overlaps is sent once. */
static void replay_parts_wait(struct kunit *test)
{
	struct ornic_fixture *fix = open_busy(test, true);
	u32 i;

	for (i = 0; i < 6; i++)
		expect_data(test, fix, i, i ? MIDDLE : FIRST);
	ask(fix, 4, 1, true);
	ask(fix, 1, 2, true);
	ask(fix, 2, 1, true);
	ask(fix, 4, 4, true);
	expect_data(test, fix, 6, MIDDLE);
	expect_data(test, fix, 7, LAST);
	expect_data(test, fix, 1, FIRST);
	expect_data(test, fix, 2, LAST);
	expect_data(test, fix, 4, FIRST);
	expect_data(test, fix, 5, LAST);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/* More parts than are remembered: no part is lost, others may come as well. */
static void replay_parts_are_bounded(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	u32 i, seen = 0;

	fix->pair.a->tx_window = 1;
	ask(fix, 0, 16, true);
	for (i = 0; i < 15; i++)
		expect_data(test, fix, i, i ? MIDDLE : FIRST);
	for (i = 0; i <= 12; i += 2)
		ask(fix, 12 - i, 1, true);
	expect_data(test, fix, 15, LAST);
	for (i = 0; i < 16 && ornic_fix_sent(fix); i++)
		seen |= 1u << ornic_psn_diff(fix->pkt.psn, PSN);
	KUNIT_EXPECT_EQ(test, seen & 0x1555, 0x1555);
	KUNIT_EXPECT_LE(test, i, 13);
}

/* IBTA C9-105: a requester that goes back begins where it asks. */
static void replay_begins_anew_for_others(struct kunit *test)
{
	struct ornic_fixture *fix = open_busy(test, false);

	expect_data(test, fix, 0, FIRST);
	expect_data(test, fix, 1, MIDDLE);
	ask(fix, 1, 7, false);
	expect_data(test, fix, 1, FIRST);
	expect_data(test, fix, 2, MIDDLE);
	ornic_fix_drain(fix);
}

/* A part of other memory is none of it, and the READ goes on. */
static void replay_of_other_memory(struct kunit *test)
{
	struct ornic_fixture *fix = open_busy(test, true);

	expect_data(test, fix, 0, FIRST);
	fix->am.iova += MTU;
	ask(fix, 0, 1, true);
	fix->am.iova -= MTU;
	expect_data(test, fix, 1, MIDDLE);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->rq.rd_parts, 0);
}

/* ---- The requester, gaps.c ------------------------------------------------------ */

/* A response to packet @n from the peer. */
static void data(struct ornic_fixture *fix, u32 n, u8 opcode, bool selective)
{
	struct ornic_txinfo info = {
		.opcode = opcode,
		.psn = ornic_psn_add(PSN, n),
		.syndrome = ACK,
		.selective = selective,
	};

	memset(fix->buf, (u8)n, MTU);
	ornic_th_inject(&fix->a, &info, fix->buf, MTU);
	ornic_th_run(fix->pair.a);
}

/* The next frame asks for @npkts packets at PSN @n, from packet @at of bm on. */
static void expect_request_at(struct kunit *test, struct ornic_fixture *fix,
			      u32 n, u32 at, u32 npkts)
{
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_REQUEST);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, n));
	KUNIT_EXPECT_EQ(test, fix->pkt.va, fix->bm.iova + at * MTU);
	KUNIT_EXPECT_EQ(test, fix->pkt.dma_len, npkts * MTU);
}

/* The next frame asks for packets [@n, @n + @npkts) of the READ of bm. */
static void expect_request(struct kunit *test, struct ornic_fixture *fix, u32 n,
			   u32 npkts)
{
	expect_request_at(test, fix, n, n, npkts);
}

/* The ACK timeout is far away. */
static struct ornic_fixture *open_reader(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.timeout = 20;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0,
		       8 * MTU);
	expect_request(test, fix, 0, 8);
	return fix;
}

static void pass_time(struct ornic_fixture *fix, u64 ns)
{
	fix->pair.a->now += ns;
	ornic_th_expire(fix->pair.a);
	ornic_th_run(fix->pair.a);
}

static void expect_success(struct kunit *test, struct ornic_fixture *fix)
{
	struct ornic_cqe cqe;
	u8 byte;
	u32 n;

	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	for (n = 0; n < 8; n++) {
		ornic_th_mr_read(&fix->am, n * MTU, &byte, 1);
		KUNIT_EXPECT_EQ(test, byte, n);
	}
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/* All gaps are asked for at once, and nothing else. */
static void gaps_of_a_selective_peer(struct kunit *test)
{
	struct ornic_fixture *fix = open_reader(test);

	data(fix, 0, FIRST, true);
	data(fix, 2, MIDDLE, true);
	data(fix, 5, MIDDLE, true);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	data(fix, 7, LAST, true);
	expect_request(test, fix, 1, 1);
	expect_request(test, fix, 3, 2);
	expect_request(test, fix, 6, 1);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	data(fix, 1, ONLY, true);
	data(fix, 3, FIRST, true);
	data(fix, 4, LAST, true);
	data(fix, 6, ONLY, true);
	expect_success(test, fix);
}

/*
 * rxe refuses what is before the part that it was asked for last, so the second
 * gap is asked for when the first is filled, also by a probe.
 */
static void gaps_of_a_standard_peer(struct kunit *test)
{
	struct ornic_fixture *fix = open_reader(test);

	data(fix, 0, FIRST, false);
	data(fix, 2, MIDDLE, false);
	data(fix, 5, MIDDLE, false);
	data(fix, 7, LAST, false);
	expect_request(test, fix, 1, 1);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	/* It was lost. */
	pass_time(fix, 4000 * US);
	expect_request(test, fix, 1, 1);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	data(fix, 1, ONLY, false);
	expect_request(test, fix, 3, 2);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	data(fix, 3, FIRST, false);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	data(fix, 4, LAST, false);
	expect_request(test, fix, 6, 1);
	data(fix, 6, ONLY, false);
	expect_success(test, fix);
}

static const struct peer_row {
	const char *desc;
	bool selective;
} peer_rows[] = {
	{ "a selective peer", true },
	{ "a standard peer", false },
};

KUNIT_ARRAY_PARAM_DESC(peer, peer_rows, desc);

/*
 * A response that was late, not lost, gets the next ones more time. A selective peer says
 * that it is no copy, that of a standard one comes twice.
 */
static void gaps_learn_to_wait(struct kunit *test)
{
	const struct peer_row *row = test->param_value;
	struct ornic_fixture *fix = open_reader(test);
	bool selective = row->selective;
	u32 i;

	for (i = 1; i < 7; i++)
		data(fix, i, MIDDLE, selective);
	data(fix, 7, LAST, selective);
	expect_request(test, fix, 0, 1);
	pass_time(fix, 200 * US);
	data(fix, 0, FIRST, selective);
	if (!selective)
		data(fix, 0, ONLY, selective);
	expect_success(test, fix);

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 8 * MTU,
		       8 * MTU);
	expect_request(test, fix, 8, 8);
	data(fix, 8, FIRST, selective);
	data(fix, 15, LAST, selective);
	pass_time(fix, 200 * US);
	for (i = 10; i < 13; i++)
		data(fix, i, MIDDLE, selective);
	pass_time(fix, 49 * US);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	pass_time(fix, 1 * US);
	expect_request(test, fix, 9, 1);
	if (selective)
		expect_request(test, fix, 13, 2);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/* How late a response may be is given up: what is missing since then is not forgotten. */
static void gaps_stop_waiting(struct kunit *test)
{
	struct ornic_fixture *fix = open_reader(test);
	struct ornic_gaps *gaps = &ornic_fix_qp(&fix->a)->sq.gaps;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 8 * MTU,
		       2 * MTU);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 10 * MTU,
		       MTU);
	ornic_fix_drain(fix);
	gaps->late.ns = 1050;
	data(fix, 8, FIRST, true);
	data(fix, 10, ONLY, true);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	pass_time(fix, 1050);
	KUNIT_EXPECT_EQ(test, gaps->late.ns, 0);
	expect_request(test, fix, 0, 8);
	expect_request(test, fix, 9, 1);
	KUNIT_EXPECT_EQ(test, gaps->ask_at, 0);
}

/* A PSN goes round: what comes long afterwards is no second copy of a standard peer's. */
static void gaps_judge_soon_or_never(struct kunit *test)
{
	struct ornic_fixture *fix = open_reader(test);
	struct ornic_gaps *gaps = &ornic_fix_qp(&fix->a)->sq.gaps;
	u32 i;

	data(fix, 7, LAST, false);
	expect_request(test, fix, 0, 7);
	pass_time(fix, 200 * US);
	for (i = 0; i < 7; i++)
		data(fix, i, i ? i < 6 ? MIDDLE : LAST : FIRST, false);
	expect_success(test, fix);
	pass_time(fix, 20000 * US);
	data(fix, 0, FIRST, false);
	data(fix, 0, FIRST, false);
	KUNIT_EXPECT_EQ(test, gaps->late.ns, 0);
}

/* As long as responses come, nothing is asked for before the last of them. */
static void gaps_wait_for_the_end(struct kunit *test)
{
	struct ornic_fixture *fix = open_reader(test);
	u32 i;

	data(fix, 0, FIRST, true);
	for (i = 2; i < 7; i++) {
		pass_time(fix, 3000 * US);
		KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
		data(fix, i, MIDDLE, true);
	}
	data(fix, 7, LAST, true);
	expect_request(test, fix, 1, 1);
	data(fix, 1, ONLY, true);
	expect_success(test, fix);
}

/* A NAK shows that the peer has executed the READ before it. */
static void gaps_before_a_nak(struct kunit *test)
{
	struct ornic_fixture *fix = open_reader(test);

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 8 * MTU,
		       8);
	ornic_fix_drain(fix);
	data(fix, 0, FIRST, true);
	data(fix, 1, MIDDLE, true);
	data(fix, 3, MIDDLE, true);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + 8,
			  ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ, NULL, 0);
	expect_request(test, fix, 2, 1);
	expect_request(test, fix, 4, 4);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_WRITE_ONLY);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 8));
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/* Two READs into the same memory: what the second has read is left there. */
static void gaps_keep_the_order_in_a_sink(struct kunit *test)
{
	struct ornic_fixture *fix = open_reader(test);
	struct ornic_cqe cqe;
	u8 byte;
	u32 i;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0, MTU);
	expect_request_at(test, fix, 8, 0, 1);
	data(fix, 8, ONLY, true);
	expect_request(test, fix, 0, 8);
	for (i = 0; i < 8; i++)
		data(fix, i, !i ? FIRST : i < 7 ? MIDDLE : LAST, true);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	/* It comes twice, for the first READ has been completed since. */
	expect_request_at(test, fix, 8, 0, 1);
	data(fix, 8, ONLY, true);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	ornic_th_mr_read(&fix->am, 0, &byte, 1);
	KUNIT_EXPECT_EQ(test, byte, 8);
}

static void expect_bytes(struct kunit *test, struct ornic_fixture *fix,
			 u32 base)
{
	u8 byte;
	u32 n;

	for (n = 0; n < 8; n++) {
		ornic_th_mr_read(&fix->am, n * MTU, &byte, 1);
		KUNIT_EXPECT_EQ(test, byte, base + n);
	}
}

/*
 * Programs read into one buffer again and again. If the SGEs are the same, nothing
 * waits, and nothing comes twice; what the newest READ has read is left there.
 */
static void gaps_of_one_sink(struct kunit *test)
{
	struct ornic_fixture *fix = open_reader(test);
	struct ornic_cqe cqe;
	u32 i;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0,
		       8 * MTU);
	expect_request_at(test, fix, 8, 0, 8);
	for (i = 0; i < 8; i++) {
		if (i != 2)
			data(fix, i, !i ? FIRST : i < 7 ? MIDDLE : LAST, true);
	}
	expect_request(test, fix, 2, 1);
	/* Of the second READ all comes but one packet, before the first is complete. */
	for (i = 8; i < 15; i++) {
		if (i != 12)
			data(fix, i, i == 8 ? FIRST : MIDDLE, true);
	}
	data(fix, 15, LAST, true);
	expect_request_at(test, fix, 12, 4, 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	data(fix, 2, ONLY, true);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	data(fix, 12, ONLY, true);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	expect_bytes(test, fix, 8);
}

/*
 * What is asked for again ends before a READ that has its PSNs, but waits for room at
 * the peer: a standard one would forget a response for it.
 */
static void gaps_end_before_what_waits(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.timeout = 20;
	fix->a.conn.max_rd_atomic = 2;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	for (i = 0; i < 3; i++)
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0,
			       i * MTU, MTU);
	expect_request(test, fix, 0, 1);
	expect_request(test, fix, 1, 1);
	data(fix, 1, ONLY, false);
	expect_request(test, fix, 0, 1);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	/* It was lost. */
	pass_time(fix, 4000 * US);
	expect_request(test, fix, 0, 1);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	data(fix, 0, ONLY, false);
	expect_request(test, fix, 2, 1);
}

/*
 * As many WQEs may be under way as the window has PSNs: only those that write to memory
 * here are compared with what arrives.
 */
static void gaps_look_at_sinks_only(struct kunit *test)
{
	struct ornic_fixture *fix = open_reader(test);
	struct ornic_swqe *sw;
	struct ornic_cqe cqe;
	struct ornic_qp *qp;
	u32 i;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       8 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 8);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 8 * MTU,
		       MTU);
	expect_request_at(test, fix, 16, 8, 1);
	for (i = 0; i < 8; i++) {
		if (i != 2)
			data(fix, i, !i ? FIRST : i < 7 ? MIDDLE : LAST, true);
	}
	expect_request(test, fix, 2, 1);
	data(fix, 16, ONLY, true);
	qp = ornic_fix_qp(&fix->a);
	sw = ornic_swqe(&qp->sq, 1);
	KUNIT_EXPECT_TRUE(test, ornic_gaps_has(&qp->sq, sw->first_psn));
	/* Seen as a READ, it would be a newer one of the same memory. */
	sw->kind = ORNIC_OPF_READ;
	data(fix, 2, ONLY, true);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	expect_bytes(test, fix, 0);
}

/* An RNR NAK counts when the responses before it are here, and once. */
static void gaps_before_an_rnr_nak(struct kunit *test)
{
	struct ornic_fixture *fix = open_reader(test);
	struct ornic_th *th = fix->pair.a;
	u32 i;

	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	ornic_fix_drain(fix);
	for (i = 0; i < 7; i++)
		data(fix, i, !i ? FIRST : MIDDLE, false);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + 8, ORNIC_AETH_RNR | 1, NULL,
			  0);
	expect_request(test, fix, 7, 1);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(th->eng, ORNIC_STAT_RNR_NAK_RCVD), 0);
	data(fix, 7, ONLY, false);
	expect_success(test, fix);
	KUNIT_EXPECT_EQ(test,
			ornic_engine_stat(th->eng, ORNIC_STAT_RNR_NAK_RCVD), 1);
	pass_time(fix, 10 * US);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 8));
}

#define LONG (ORNIC_READ_PIECE * 2 + 10) /* packets, of SHORT_MTU bytes */
#define SHORT_MTU 256u

/*
 * A long READ goes out in pieces, two of them at a time; what is outstanding fits
 * the window in which responses are told apart.
 */
static void gaps_of_a_long_read(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;
	struct ornic_th_mr mr = {};
	struct ornic_lsge sge;
	struct ornic_th_wr wr = { .opcode = ORNIC_WQE_READ,
				  .flags = ORNIC_WQE_SIGNALED,
				  .nsge = 1,
				  .sge = &sge };
	struct ornic_cqe cqe;
	u32 i, n, pieces = 0;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.mtu = 1;
	fix->a.conn.max_rd_atomic = 2;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.a, &mr, LONG * SHORT_MTU, 0,
					 1, ORNIC_ACCESS_MR_MASK),
			0);
	sge = ornic_fix_sge(&mr, 0, LONG * SHORT_MTU);
	wr.raddr = fix->bm.iova;
	wr.rkey = fix->bm.key;
	ornic_th_post_send(&fix->a, &wr);
	ornic_th_kick(&fix->a);
	for (i = 0; i < LONG; i++) {
		while (ornic_fix_sent(fix)) {
			KUNIT_EXPECT_EQ(
				test, fix->pkt.psn,
				ornic_psn_add(PSN, pieces * ORNIC_READ_PIECE));
			n = min_t(u32, ORNIC_READ_PIECE,
				  LONG - pieces * ORNIC_READ_PIECE);
			KUNIT_EXPECT_EQ(test, fix->pkt.dma_len, n * SHORT_MTU);
			pieces++;
		}
		KUNIT_EXPECT_LE(test, pieces, i / ORNIC_READ_PIECE + 2);
		n = i % ORNIC_READ_PIECE;
		ornic_fix_respond(fix,
				  i + 1 == LONG || n + 1 == ORNIC_READ_PIECE ?
					  LAST :
				  n ? MIDDLE :
				      FIRST,
				  PSN + i, ACK, fix->buf, SHORT_MTU);
	}
	KUNIT_EXPECT_EQ(test, pieces, 3);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), LONG * SHORT_MTU);
	ornic_th_mr_fini(&mr);
}

/* The oldest READ has begun as long ago as the longest one can. */
static void gaps_after_the_longest_read(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_sq *sq = &ornic_fix_qp(&fix->a)->sq;
	u32 before = BIT(23) - 2, i;
	struct ornic_swqe *sw;

	for (i = 0; i < 3; i++)
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0,
			       0, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 3);
	sw = ornic_swqe(sq, sq->tail);
	sw->first_psn = ornic_psn_add(sw->first_psn, -before);
	sw->npkts += before;
	ornic_fix_respond(fix, ONLY, PSN + 2, ACK, fix->buf, 8);
	KUNIT_EXPECT_EQ(test, sq->gaps.newest, sq->tail + 2);
	KUNIT_EXPECT_TRUE(
		test, ornic_sink_is_newer(sq, ornic_swqe(sq, sq->tail + 1), 0));
	ornic_fix_drain(fix);
}

/* UC has no responses by which ornics could know each other. */
static void gaps_are_not_for_uc(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_UC);

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_FALSE(test, fix->pkt.selective);
}

#define BEFORE_0 4 /* PSNs of the connection before PSN 0 */

/* The peer, which repeats selectively, sends an ACK or NAK of number @n. */
static void acknowledge(struct ornic_fixture *fix, u32 n, u8 syndrome,
			const u32 *bitmap)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_ACK,
		.psn = ornic_psn_add(n, -BEFORE_0),
		.syndrome = syndrome,
		.selective = ORNIC_BTH_SELECTIVE,
	};

	ornic_th_inject(&fix->a, &info, bitmap, bitmap ? sizeof(*bitmap) : 0);
	ornic_th_run(fix->pair.a);
}

/* Number @n goes again, and nothing else. */
static void expect_resend(struct kunit *test, struct ornic_fixture *fix, u32 n)
{
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(n, -BEFORE_0));
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

static void post(struct ornic_fixture *fix, u8 opcode)
{
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, opcode, 0, 0, 8);
	ornic_fix_drain(fix);
}

/* A connection that begins before PSN 0, of which a round trip was timed. */
static void open_before_0(struct kunit *test, struct ornic_fixture *fix)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.sq_psn = ornic_psn_add(0, -BEFORE_0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	post(fix, ORNIC_WQE_WRITE);
	fix->pair.a->now += 20 * US;
	acknowledge(fix, 0, ACK, NULL);
}

/* No READ has gone again as a whole so far, nor has that with PSN 0. */
static void gaps_hold_the_read_at_psn_0(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;
	u32 next = 1, next_two = 3;

	open_before_0(test, fix);
	/* A round trip of resends begins. */
	post(fix, ORNIC_WQE_WRITE);
	post(fix, ORNIC_WQE_WRITE);
	acknowledge(fix, 1, ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ, &next);
	expect_resend(test, fix, 1);
	acknowledge(fix, 2, ACK, NULL);
	/* The peer lacks 3, and keeps the READ and 5. */
	post(fix, ORNIC_WQE_WRITE);
	post(fix, ORNIC_WQE_READ);
	post(fix, ORNIC_WQE_WRITE);
	acknowledge(fix, 3, ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ, &next_two);
	expect_resend(test, fix, 3);
}

/* READs that a NAK names need not go again, also if it begins a round trip of resends. */
static void gaps_hold_reads(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;
	u32 next_two = 3, i;

	open_before_0(test, fix);
	for (i = 0; i < 3; i++)
		post(fix, ORNIC_WQE_READ);
	for (i = 0; i < 3; i++) {
		acknowledge(fix, 1, ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ,
			    &next_two);
		expect_resend(test, fix, 1);
		fix->pair.a->now += 200 * US;
	}
}

static struct kunit_case gaps_cases[] = {
	KUNIT_CASE(replay_goes_on_with_what_is_to_come),
	KUNIT_CASE(replay_parts_wait),
	KUNIT_CASE(replay_parts_are_bounded),
	KUNIT_CASE(replay_begins_anew_for_others),
	KUNIT_CASE(replay_of_other_memory),
	KUNIT_CASE(gaps_of_a_selective_peer),
	KUNIT_CASE(gaps_of_a_standard_peer),
	KUNIT_CASE_PARAM(gaps_learn_to_wait, peer_gen_params),
	KUNIT_CASE(gaps_stop_waiting),
	KUNIT_CASE(gaps_judge_soon_or_never),
	KUNIT_CASE(gaps_wait_for_the_end),
	KUNIT_CASE(gaps_before_a_nak),
	KUNIT_CASE(gaps_keep_the_order_in_a_sink),
	KUNIT_CASE(gaps_of_one_sink),
	KUNIT_CASE(gaps_end_before_what_waits),
	KUNIT_CASE(gaps_look_at_sinks_only),
	KUNIT_CASE(gaps_before_an_rnr_nak),
	KUNIT_CASE(gaps_of_a_long_read),
	KUNIT_CASE(gaps_after_the_longest_read),
	KUNIT_CASE(gaps_are_not_for_uc),
	KUNIT_CASE(gaps_hold_the_read_at_psn_0),
	KUNIT_CASE(gaps_hold_reads),
	{}
};

static struct kunit_suite gaps_suite = {
	.name = "ornic_gaps",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = gaps_cases,
};

kunit_test_suite(gaps_suite);

MODULE_DESCRIPTION("ornic: missing parts of READs suite");
MODULE_LICENSE("Dual BSD/GPL");
