// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the requester does about loss, reordering and peers that are not ready. */
#include "engine/proto.h"
#include "suite_fixture.h"

#define PSN ORNIC_FIX_PSN
#define MTU 1024u
#define ACK 0x1f /* credits: none */
#define NAK(n) (ORNIC_AETH_NAK | (n))
#define RNR(n) (ORNIC_AETH_RNR | (n))

static struct ornic_fixture *open_kind(struct kunit *test,
				       enum ornic_fix_kind kind)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, kind, &init), 0);
	ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1);
	/* The least: 10 us. */
	fix->a.conn.min_rnr_timer = 1;
	fix->b.conn.min_rnr_timer = 1;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	return fix;
}

static void post_send(struct ornic_fixture *fix, u32 len)
{
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, len);
}

static void ack(struct ornic_fixture *fix, u32 n, u8 syndrome)
{
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + n, syndrome, NULL, 0);
}

static void run_at(struct ornic_th *th, u64 when)
{
	th->now = when;
	ornic_th_expire(th);
	ornic_th_run(th);
}

static u64 stat(struct ornic_th *th, enum ornic_stat which)
{
	return ornic_engine_stat(th->eng, which);
}

static struct ornic_sq *sq_of(struct ornic_fixture *fix)
{
	return &ornic_fix_qp(&fix->a)->sq;
}

/* ---- RNR ------------------------------------------------------------------- */

/*
 * What was under way when the RNR NAK came asks for nothing to be sent again: the
 * wait goes on, and no retry is used.
 */
static void rnr_wait_outlasts_late_responses(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LONE);
	struct ornic_th *th = fix->pair.a;
	u64 retries;

	post_send(fix, MTU);
	post_send(fix, MTU);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0, 8);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 4);
	ack(fix, 0, RNR(1));
	retries = stat(th, ORNIC_STAT_RETRIES);
	ack(fix, 0, NAK(ORNIC_NAK_PSN_SEQ));
	/* It acknowledges the SENDs, but not the READ before it. */
	ornic_fix_respond(fix, ORNIC_OP_READ_RESP_ONLY, PSN + 3, ACK, fix->buf,
			  8);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_RETRIES), retries);
	run_at(th, ornic_th_deadline(th));
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 2));
}

/* A message that was refused is not sent in full only to be refused again. */
static void rnr_narrows_the_window(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LONE);
	u32 i, acked = 0;

	post_send(fix, 20 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 20);
	for (i = 0; i < 3; i++) {
		ack(fix, 0, RNR(1));
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
		run_at(fix->pair.a, fix->pair.a->now + ORNIC_TH_MS);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
		KUNIT_EXPECT_TRUE(test, fix->pkt.ack_req);
	}
	KUNIT_EXPECT_EQ(test, stat(fix->pair.a, ORNIC_STAT_RNR_NAK_RCVD), 3);
	KUNIT_EXPECT_EQ(test, stat(fix->pair.a, ORNIC_STAT_RETRIES), 3);
	for (i = 2; i <= 8; i *= 2) {
		acked += i / 2;
		ack(fix, acked - 1, ACK);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), i);
	}
}

/*
 * A peer that takes one request and refuses the next, again and again, costs what was
 * sent since, and no look at all that the window has had room for.
 */
static void rnr_costs_what_was_sent(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LONE);
	struct ornic_sq *sq = sq_of(fix);
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < 12; i++)
		post_send(fix, 2 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 24);
	for (i = 1; i < 4; i++) {
		ack(fix, 2 * i, RNR(1));
		KUNIT_EXPECT_EQ(test, sq->wait, ORNIC_WAIT_RNR);
		KUNIT_EXPECT_EQ(test, sq->psn, ornic_psn_add(PSN, 2 * i));
		KUNIT_EXPECT_EQ(test, sq->cur, i);
		KUNIT_EXPECT_EQ(test, ornic_swqe(sq, i)->pkts, 0);
		KUNIT_EXPECT_EQ(test, ornic_swqe(sq, 11)->pkts, i > 1 ? 2 : 0);
		ornic_swqe(sq, 11)->pkts = 2;
		run_at(fix->pair.a, fix->pair.a->now + ORNIC_TH_MS);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	}
	ornic_swqe(sq, 11)->pkts = 0;
	ack(fix, 23, ACK);
	for (i = 0; i < 12; i++)
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, sq->cur, 12);
	KUNIT_EXPECT_EQ(test, sq->psn, sq->max_psn);
}

/* Waits in a row, in us, of a peer that asks for 10 each time. */
static const u32 rnr_waits[] = { 10,  18,  26,	 42,   75,  141,
				 272, 534, 1058, 1058, 1058 };

static void rnr_waits_grow(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LONE);
	struct ornic_th *th = fix->pair.a;
	u32 i, round;

	for (round = 0; round < 2; round++) {
		post_send(fix, 1);
		ornic_fix_drain(fix);
		for (i = 0; i < ARRAY_SIZE(rnr_waits); i++) {
			u64 now = th->now;

			ack(fix, round, RNR(1));
			run_at(th, now + rnr_waits[i] * 1000);
			KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), !i);
			run_at(th, now + rnr_waits[i] * 1000 + 1000);
			KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), !!i);
		}
		ack(fix, round, ACK);
	}
}

/* On loopback as well, where each try is work of a timer, which nobody pays. */
static void rnr_on_loopback_costs_little(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LOOP);
	struct ornic_cqe cqe;
	u64 tries;

	post_send(fix, 1);
	ornic_th_advance(&fix->pair, 100 * ORNIC_TH_MS);
	tries = stat(fix->pair.a, ORNIC_STAT_RNR_NAK_RCVD);
	KUNIT_EXPECT_GE(test, tries, 90);
	KUNIT_EXPECT_LE(test, tries, 110);
	ornic_fix_recv(&fix->b, &fix->bm, 0, 0, 64);
	ornic_th_advance(&fix->pair, 2 * ORNIC_TH_MS);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
}

/* What is more than one timer may do goes on without another event. */
static void rnr_wait_ends_with_much_to_do(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LOOP);
	struct ornic_th *th = fix->pair.a;
	struct ornic_cqe cqe;
	u32 i;

	post_send(fix, 1);
	ornic_th_run(th);
	for (i = 0; i < 6; i++)
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0,
			       0, ORNIC_FIX_MR_BYTES);
	ornic_fix_recv(&fix->b, &fix->bm, 0, 0, 64);
	th->now = ornic_th_deadline(th);
	KUNIT_ASSERT_TRUE(test, ornic_th_expire(th));
	while (ornic_th_run(th))
		;
	for (i = 0; i < 7; i++)
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
}

/* ---- timeouts ---------------------------------------------------------------- */

/* A request from each of 256 other hosts, for QP @b. */
static int others_send(struct ornic_fixture *fix, struct ornic_th_qp *b)
{
	struct ornic_txinfo info = { .opcode = ORNIC_OP_SEND_MIDDLE };
	int status = 0;
	u32 i;

	for (i = 0; i < 256 && !status; i++) {
		status = ornic_th_to(b, ORNIC_QPS_RESET);
		ornic_th_av(&b->conn.av, 9, ORNIC_TH_IPV4);
		b->conn.av.dgid[14] ^= 1;
		b->conn.av.dgid[15] = i;
		status = status ?: ornic_th_to(b, ORNIC_QPS_INIT);
		status = status ?: ornic_th_to(b, ORNIC_QPS_RTR);
		status = status ?: ornic_th_inject(b, &info, NULL, 0);
		ornic_fix_drain(fix);
	}
	return status;
}

/* The peer is silent, and no other host excuses that, whatever its address. */
static void timeout_grace_is_of_the_peer(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LONE);
	struct ornic_th *th = fix->pair.a;
	struct ornic_th_qp b = {};
	struct ornic_cqe cqe;
	u32 i;
	int err;

	err = ornic_th_qp_init(th, &b, &init, &fix->arcq, &fix->arcq);
	KUNIT_ASSERT_EQ(test, err, 0);
	ornic_th_conn_default(&b.conn, ORNIC_QPT_RC);
	b.conn.dest_qpn = 0x123;
	post_send(fix, 4);
	for (i = 0; i < 100 && !ornic_th_poll(&fix->ascq, &cqe); i++) {
		KUNIT_ASSERT_EQ(test, others_send(fix, &b), 0);
		ornic_fix_drain(fix);
		run_at(th, max_t(u64, th->now, ornic_th_deadline(th)));
	}
	KUNIT_EXPECT_EQ(test, cqe.status, ORNIC_CQE_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_TIMEOUTS),
			fix->a.conn.retry_cnt + 1);
}

/* The retry grace of one connection does not count on the next. */
static void timeout_excuses_end_with_the_connection(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LONE);
	struct ornic_th *th = fix->pair.a;
	struct ornic_cqe cqe;
	u32 i, round;
	u64 before;

	for (round = 0; round < 2; round++) {
		before = stat(th, ORNIC_STAT_TIMEOUTS);
		post_send(fix, 4);
		for (i = 0; i < 100 && !ornic_th_poll(&fix->ascq, &cqe); i++) {
			ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, i, 0, 0, 0);
			ornic_fix_drain(fix);
			run_at(th, max_t(u64, th->now, ornic_th_deadline(th)));
		}
		KUNIT_EXPECT_EQ(test, cqe.status, ORNIC_CQE_RETRY_EXC_ERR);
		KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_TIMEOUTS) - before,
				2 * fix->a.conn.retry_cnt + 1);
		KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
		KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	}
}

/*
 * IBTA C9-145: a response without the one before it. That is asked for once in a
 * round trip, and again when nothing comes, without a timeout.
 */
static void gap_is_asked_for_again(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LONE);
	struct ornic_th *th = fix->pair.a;
	struct ornic_cqe cqe;
	u32 round;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0, 8);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 8, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 2);
	ornic_fix_respond(fix, ORNIC_OP_READ_RESP_ONLY, PSN + 1, ACK, fix->buf,
			  8);
	for (round = 0; round < 2; round++) {
		if (round)
			run_at(th, max_t(u64, th->now, ornic_th_deadline(th)));
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_EQ(test, fix->pkt.psn, PSN);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
		ornic_fix_respond(fix, ORNIC_OP_READ_RESP_ONLY, PSN + 1, ACK,
				  fix->buf, 8);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	}
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_TIMEOUTS), 0);
	ornic_fix_respond(fix, ORNIC_OP_READ_RESP_ONLY, PSN, ACK, fix->buf, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
}

/* ---- window ------------------------------------------------------------------ */

/*
 * The port takes some packets of a message, none of which asks for an ACK; then
 * the window shrinks below that. The last of them goes again and asks.
 */
static void window_that_shrinks_is_probed(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LONE);
	struct ornic_th *th = fix->pair.a;
	struct ornic_th_frame *frame[20];
	u32 i;

	post_send(fix, 1);
	ornic_fix_drain(fix);
	th->tx_window = ARRAY_SIZE(frame);
	post_send(fix, 40 * MTU);
	/* The first message took more than a quarter of the ACK timeout. */
	th->now += 2 * ORNIC_TH_MS;
	ack(fix, 0, ACK);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_TX_PACKETS), 21);
	for (i = 0; i < ARRAY_SIZE(frame); i++)
		frame[i] = ornic_th_pull(th);
	for (i = 0; i < ARRAY_SIZE(frame); i++)
		ornic_th_put(th, frame[i]);
	ornic_th_run(th);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 20));
	KUNIT_EXPECT_TRUE(test, fix->pkt.ack_req);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_RETRIES), 0);
}

/* A QP that waits for its peer is no work for the poll thread. */
static void window_that_is_full_is_no_news(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LONE);
	struct ornic_engine *eng = fix->pair.a->eng;

	/* The round begins where the QP is. */
	eng->dev.poll.at = fix->a.qpn;
	ornic_engine_set_polling(eng, true);
	ornic_th_run(fix->pair.a);
	post_send(fix, 40 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1000000), 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 32);
	/* It is found once, also if the search for others is at it. */
	eng->dev.poll.at = fix->a.qpn;
	post_send(fix, 8);
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1000000), 1);
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1000000), 0);
	ack(fix, 31, ACK);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 9);
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1000000), 0);
	post_send(fix, 8);
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1000000), 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
}

/* ---- reordering ------------------------------------------------------------- */

#define RTT (ORNIC_TH_MS / 10)

static void pass_time(struct ornic_fixture *fix, u64 ns)
{
	fix->pair.a->now += ns;
	fix->pair.b->now = fix->pair.a->now;
}

/* A WRITE of one packet, answered after a round trip: a knows that now. */
static void time_one(struct ornic_fixture *fix)
{
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 1);
	pass_time(fix, RTT);
	ornic_th_settle(&fix->pair);
}

/* a's frames reach b, the two from @swap on in the wrong order. */
static void deliver_swapped(struct ornic_fixture *fix, u32 swap)
{
	struct ornic_th_frame *frame, *late = NULL;
	u32 i;

	for (i = 0; (frame = ornic_th_pull(fix->pair.a)); i++) {
		if (i == swap) {
			late = frame;
			continue;
		}
		ornic_th_rx(fix->pair.b, frame->data, frame->len);
		ornic_th_put(fix->pair.a, frame);
		if (late) {
			ornic_th_rx(fix->pair.b, late->data, late->len);
			ornic_th_put(fix->pair.a, late);
			late = NULL;
		}
	}
}

/* Two packets that swap their places: the NAK names what is there. */
static void reorder_costs_one_packet(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_WIRE);
	struct ornic_th *a = fix->pair.a;
	struct ornic_cqe cqe;

	time_one(fix);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       16 * MTU);
	deliver_swapped(fix, 3);
	ornic_th_settle(&fix->pair);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, stat(a, ORNIC_STAT_SEQ_NAK_RCVD), 1);
	KUNIT_EXPECT_EQ(test, stat(a, ORNIC_STAT_RETRIES), 1);
	KUNIT_EXPECT_EQ(test, stat(a, ORNIC_STAT_TX_PACKETS), 1 + 16 + 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->bm, 0, 16 * MTU, 1), -1);
}

/* A round trip is timed, 16 packets go out, two NAKs come: the second is held. */
static void hold_second_nak(struct kunit *test, struct ornic_fixture *fix)
{
	post_send(fix, 1);
	ornic_fix_drain(fix);
	fix->pair.a->now += RTT;
	ack(fix, 0, ACK);
	post_send(fix, 16 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 16);
	ack(fix, 4, NAK(0));
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 13);
	ack(fix, 5, NAK(0));
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
}

/* One that was true is believed after a round trip: no timeout is needed. */
static void reorder_or_loss(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LONE);
	struct ornic_th *th = fix->pair.a;

	hold_second_nak(test, fix);
	run_at(th, th->now + RTT - 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	run_at(th, th->now + 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 9);
	/* What comes a round trip later is news. */
	th->now += RTT;
	ack(fix, 7, NAK(0));
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 8);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_TIMEOUTS), 0);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_RETRIES), 3);
}

/* The time of a NAK that is held is no ACK timeout of a QP that waits for a page. */
static void held_nak_leaves_no_timer(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LONE);
	struct ornic_th *th = fix->pair.a;
	struct ornic_th_fault fault;
	struct ornic_th_mr mr;
	struct ornic_cqe cqe;
	u32 i;

	KUNIT_ASSERT_EQ(
		test, ornic_th_odp_init(th, &mr, MTU, 0, ORNIC_ACCESS_MR_MASK),
		0);
	hold_second_nak(test, fix);
	ornic_fix_post(&fix->a, &mr, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	ack(fix, 7, ACK);
	for (i = 0; i < 8; i++)
		run_at(th, th->now + 500 * ORNIC_TH_MS);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_TIMEOUTS), 0);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_ROCE_ADP_RETRANS), 0);
	ack(fix, 16, ACK);
	KUNIT_EXPECT_TRUE(test, ornic_th_fault_take(&fix->a, &fault));
	KUNIT_EXPECT_EQ(test, ornic_th_odp_set(&mr, 0, 1, false), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_fault_end(&fix->a, &fault, false), 0);
	ornic_th_run(th);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	ack(fix, 17, ACK);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_mr_fini(&mr), 0);
}

/* A NAK that acknowledges something is no retry. */
static void loss_with_progress_is_free(struct kunit *test)
{
	struct ornic_fixture *fix = test->priv;
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_cqe cqe;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.retry_cnt = 1;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	post_send(fix, 16 * MTU);
	for (i = 1; i < 8; i++) {
		fix->pair.a->now += RTT;
		ack(fix, i, NAK(0));
		ornic_fix_drain(fix);
	}
	ack(fix, 7, NAK(0));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	ack(fix, 7, NAK(0));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_RETRY_EXC_ERR);
}

/* ---- errors ------------------------------------------------------------------ */

/* IBTA 9.9.2: the READ was good, and the WRITE behind it fails as itself. */
static void fatal_nak_leaves_reads_whole(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_WIRE);
	struct ornic_cqe cqe;

	ornic_fix_fill(&fix->bm, 0, 8 * MTU, 5);
	fix->pair.b->tx_window = 2;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0,
		       8 * MTU);
	/* The peer does not know that key. */
	fix->bm.key ^= 1;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	fix->bm.key ^= 1;
	ornic_th_advance(&fix->pair, 10000 * ORNIC_TH_MS);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 0, 8 * MTU, 5), -1);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->b), ORNIC_QPS_ERR);
}

/* An ACK that overtakes a retransmission must not leave it running. */
static void ack_that_is_late_stops_resending(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LONE);
	struct ornic_cqe cqe;
	u32 i;

	fix->pair.a->tx_window = 1;
	for (i = 0; i < 4; i++)
		post_send(fix, MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 4);
	run_at(fix->pair.a, ornic_th_deadline(fix->pair.a));
	ack(fix, 2, ACK);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_NE(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	ack(fix, 3, ACK);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_sq_psn(&fix->a), ornic_psn_add(PSN, 4));
}

/*
 * What goes back to a sequence NAK when the round trip is over needs no ACK
 * timeout: a QP may have none.
 */
static void reorder_or_loss_without_timeout(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;
	struct ornic_th *th;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.timeout = 0;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	th = fix->pair.a;
	hold_second_nak(test, fix);
	run_at(th, th->now + RTT);
	KUNIT_EXPECT_GT(test, ornic_fix_drain(fix), 0);
}

/* A refused resend whose original is acknowledged leaves no timer in SQD. */
static void refused_resend_ends_with_its_ack(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LONE);
	struct ornic_th *th = fix->pair.a;
	struct ornic_cqe cqe;
	u32 i;

	post_send(fix, MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	th->xmit_fail = 1000;
	run_at(th, ornic_fix_ack_timeout(&fix->a));
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_SQD), 0);
	post_send(fix, MTU); /* not begun in SQD */
	ack(fix, 0, ACK);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	th->xmit_fail = 0;
	for (i = 0; i < 40 && ornic_th_deadline(th); i++)
		run_at(th, max_t(u64, th->now + 1, ornic_th_deadline(th)));
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_TIMEOUTS), 1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_SQD);
}

/* A NAK of a selective peer, which misses PSN + @n and keeps what @bits name. */
static void nak_with_bitmap(struct ornic_fixture *fix, u32 n, u32 bits)
{
	struct ornic_txinfo info = { .opcode = ORNIC_OP_ACK,
				     .psn = ornic_psn_add(PSN, n),
				     .syndrome = NAK(ORNIC_NAK_PSN_SEQ),
				     .selective = ORNIC_BTH_SELECTIVE };
	__le32 bitmap = cpu_to_le32(bits);

	ornic_th_inject(&fix->a, &info, &bitmap, sizeof(bitmap));
	ornic_th_run(fix->pair.a);
}

/* A peer that is not ready gets one packet to ask, however much it keeps of the rest. */
static void rnr_window_is_one_packet(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LONE);
	struct ornic_txinfo info = { .opcode = ORNIC_OP_ACK,
				     .psn = PSN,
				     .syndrome = RNR(1),
				     .selective = ORNIC_BTH_SELECTIVE };
	u32 i;

	post_send(fix, 32 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 32);
	nak_with_bitmap(fix, 0, 0x3fffffff);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	for (i = 0; i < 2; i++) {
		ornic_th_inject(&fix->a, &info, NULL, 0);
		run_at(fix->pair.a, fix->pair.a->now + ORNIC_TH_MS);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	}
	info.syndrome = ACK;
	ornic_th_inject(&fix->a, &info, NULL, 0);
	KUNIT_EXPECT_GE(test, ornic_fix_drain(fix), 2);
}

/* What cannot go again fails in its turn, and what was sent after it is flushed. */
static void resend_of_memory_that_is_gone(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LONE);
	struct ornic_sq *sq = sq_of(fix);
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < 6; i++)
		post_send(fix, 2 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 12);
	ornic_swqe(sq, 1)->sge[0].lkey ^= 0xff00;
	/* 0, 2 and 4 are missing. */
	nak_with_bitmap(fix, 0, 0xf5);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	KUNIT_EXPECT_EQ(test, sq->cur, 1);
	for (i = 2; i < 6; i++)
		KUNIT_EXPECT_EQ(test, ornic_swqe(sq, i)->pkts, 0);
	ack(fix, 1, ACK);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_LOC_PROT_ERR);
	for (i = 2; i < 6; i++)
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
				ORNIC_CQE_WR_FLUSH_ERR);
}

/* A probe after a message of 2^23 packets goes to the message behind it. */
static void probe_after_the_longest_message(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_swqe *sw;
	struct ornic_qp *qp;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(test->priv, ORNIC_FIX_LONE, &init),
			0);
	qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	sw = kunit_kzalloc(test, 2 * sizeof(*sw), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp);
	KUNIT_ASSERT_NOT_NULL(test, sw);
	sw[0].npkts = 1 << 23;
	sw[1].first_psn = 1 << 23;
	sw[1].npkts = 1;
	sw[0].kind = ORNIC_OPF_WRITE;
	sw[1].kind = ORNIC_OPF_WRITE;
	sw[0].started = true;
	sw[1].started = true;
	qp->type = ORNIC_QPT_RC;
	qp->sq.swqe = sw;
	qp->sq.depth = 2;
	qp->sq.fetched = 2;
	qp->sq.cur = 2;
	qp->sq.acked = (1 << 23) - 20;
	qp->sq.psn = (1 << 23) + 1;
	qp->sq.max_psn = (1 << 23) + 1;
	qp->sq.unacked_pkts = 21;
	KUNIT_EXPECT_TRUE(test, ornic_req_probe(qp));
	KUNIT_EXPECT_EQ(test, qp->sq.psn, 1u << 23);
	KUNIT_EXPECT_EQ(test, qp->sq.cur, 1);
	KUNIT_EXPECT_EQ(test, sw[0].pkts, 1u << 23);
	KUNIT_EXPECT_EQ(test, qp->sq.unacked_pkts, 0);
}

/* IBTA C9-116: one NAK for a gap. A request in order ends it, by any way. */
static void loopback_ends_a_gap(struct kunit *test)
{
	struct ornic_fixture *fix = open_kind(test, ORNIC_FIX_LOOP);
	struct ornic_txinfo late = { .opcode = ORNIC_OP_SEND_ONLY };
	u32 i;

	for (i = 0; i < 3; i++) {
		late.psn = ornic_psn_add(PSN, i + 5);
		ornic_th_inject(&fix->b, &late, fix->buf, 8);
		KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix),
				NAK(ORNIC_NAK_PSN_SEQ));
		KUNIT_EXPECT_EQ(test, fix->pkt.msn, i);
		ornic_th_inject(&fix->b, &late, fix->buf, 8);
		KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), 0xff);
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0,
			       0, 8);
		ornic_th_kick(&fix->a);
	}
}

static struct kunit_case recovery_cases[] = {
	KUNIT_CASE(rnr_narrows_the_window),
	KUNIT_CASE(rnr_waits_grow),
	KUNIT_CASE(rnr_costs_what_was_sent),
	KUNIT_CASE(rnr_window_is_one_packet),
	KUNIT_CASE(rnr_wait_outlasts_late_responses),
	KUNIT_CASE(rnr_on_loopback_costs_little),
	KUNIT_CASE(rnr_wait_ends_with_much_to_do),
	KUNIT_CASE(timeout_grace_is_of_the_peer),
	KUNIT_CASE(timeout_excuses_end_with_the_connection),
	KUNIT_CASE(gap_is_asked_for_again),
	KUNIT_CASE(window_that_shrinks_is_probed),
	KUNIT_CASE(window_that_is_full_is_no_news),
	KUNIT_CASE(loopback_ends_a_gap),
	KUNIT_CASE(reorder_costs_one_packet),
	KUNIT_CASE(reorder_or_loss),
	KUNIT_CASE(held_nak_leaves_no_timer),
	KUNIT_CASE(loss_with_progress_is_free),
	KUNIT_CASE(reorder_or_loss_without_timeout),
	KUNIT_CASE(refused_resend_ends_with_its_ack),
	KUNIT_CASE(resend_of_memory_that_is_gone),
	KUNIT_CASE(probe_after_the_longest_message),
	KUNIT_CASE(ack_that_is_late_stops_resending),
	KUNIT_CASE(fatal_nak_leaves_reads_whole),
	{}
};

static struct kunit_suite recovery_suite = {
	.name = "ornic_recovery",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = recovery_cases,
};

kunit_test_suite(recovery_suite);

MODULE_DESCRIPTION("ornic: loss recovery suite");
MODULE_LICENSE("Dual BSD/GPL");
