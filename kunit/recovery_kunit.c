// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the requester does about loss, reordering and peers that are not ready. */
#include <kunit/test.h>

#include "engine/proto.h"
#include "pair_fixture.h"

#define PSN ORNIC_BED_PSN
#define MTU 1024u
#define ACK 0x1f /* credits: none */
#define NAK(n) (ORNIC_AETH_NAK | (n))
#define RNR(n) (ORNIC_AETH_RNR | (n))

static int recovery_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct ornic_bed), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static void recovery_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ornic_bed_close(test->priv), 0);
}

static struct ornic_bed *open_kind(struct kunit *test, enum ornic_bed_kind kind)
{
	struct ornic_rig_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_bed *bed = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_bed_open(bed, kind, &init), 0);
	ornic_bed_fill(&bed->am, 0, ORNIC_BED_MR_BYTES, 1);
	/* The least: 10 us. */
	bed->a.conn.min_rnr_timer = 1;
	bed->b.conn.min_rnr_timer = 1;
	KUNIT_ASSERT_EQ(test, ornic_bed_connect(bed), 0);
	return bed;
}

static void post_send(struct ornic_bed *bed, u32 len)
{
	ornic_bed_post(&bed->a, &bed->am, NULL, ORNIC_WQE_SEND, 0, 0, len);
}

static void ack(struct ornic_bed *bed, u32 n, u8 syndrome)
{
	ornic_bed_answer(bed, ORNIC_OP_ACK, PSN + n, syndrome, NULL, 0);
}

static void run_at(struct ornic_rig *rig, u64 when)
{
	rig->now = when;
	ornic_rig_expire(rig);
	ornic_rig_run(rig);
}

static u64 stat(struct ornic_rig *rig, enum ornic_stat which)
{
	return ornic_engine_stat(rig->eng, which);
}

/* ---- RNR ------------------------------------------------------------------- */

/* A message that was refused is not sent in full only to be refused again. */
static void rnr_narrows_the_window(struct kunit *test)
{
	struct ornic_bed *bed = open_kind(test, ORNIC_BED_LONE);
	u32 i, acked = 0;

	post_send(bed, 20 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), 20);
	for (i = 0; i < 3; i++) {
		ack(bed, 0, RNR(1));
		KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), 0);
		run_at(bed->pair.a, bed->pair.a->now + ORNIC_RIG_MS);
		KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), 1);
		KUNIT_EXPECT_TRUE(test, bed->pkt.ack_req);
	}
	for (i = 2; i <= 8; i *= 2) {
		acked += i / 2;
		ack(bed, acked - 1, ACK);
		KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), i);
	}
}

/* Waits in a row, in us, of a peer that asks for 10 each time. */
static const u32 rnr_waits[] = { 10,  18,  26,	 42,   75,  141,
				 272, 534, 1058, 1058, 1058 };

static void rnr_waits_grow(struct kunit *test)
{
	struct ornic_bed *bed = open_kind(test, ORNIC_BED_LONE);
	struct ornic_rig *rig = bed->pair.a;
	u32 i, round;

	for (round = 0; round < 2; round++) {
		post_send(bed, 1);
		ornic_bed_drain(bed);
		for (i = 0; i < ARRAY_SIZE(rnr_waits); i++) {
			u64 now = rig->now;

			ack(bed, round, RNR(1));
			run_at(rig, now + rnr_waits[i] * 1000);
			KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), !i);
			run_at(rig, now + rnr_waits[i] * 1000 + 1000);
			KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), !!i);
		}
		ack(bed, round, ACK);
	}
}

/* On loopback as well, where each try is work of a timer, which nobody pays. */
static void rnr_on_loopback_costs_little(struct kunit *test)
{
	struct ornic_bed *bed = open_kind(test, ORNIC_BED_LOOP);
	struct ornic_cqe cqe;
	u64 tries;

	post_send(bed, 1);
	ornic_rig_advance(&bed->pair, 100 * ORNIC_RIG_MS);
	tries = stat(bed->pair.a, ORNIC_STAT_RNR_NAK_RCVD);
	KUNIT_EXPECT_GE(test, tries, 90);
	KUNIT_EXPECT_LE(test, tries, 110);
	ornic_bed_recv(&bed->b, &bed->bm, 0, 0, 64);
	ornic_rig_advance(&bed->pair, 2 * ORNIC_RIG_MS);
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0);
}

/* ---- timeouts ---------------------------------------------------------------- */

/* A request from each of 256 other hosts, for QP @b. */
static int others_send(struct ornic_bed *bed, struct ornic_rig_qp *b)
{
	struct ornic_txinfo info = { .opcode = ORNIC_OP_SEND_MIDDLE };
	int status = 0;
	u32 i;

	for (i = 0; i < 256 && !status; i++) {
		status = ornic_rig_to(b, ORNIC_QPS_RESET);
		ornic_rig_av(&b->conn.av, 9, ORNIC_RIG_IPV4);
		b->conn.av.dgid[14] ^= 1;
		b->conn.av.dgid[15] = i;
		status = status ?: ornic_rig_to(b, ORNIC_QPS_INIT);
		status = status ?: ornic_rig_to(b, ORNIC_QPS_RTR);
		status = status ?: ornic_rig_inject(b, &info, NULL, 0);
		ornic_bed_drain(bed);
	}
	return status;
}

/* The peer is silent, and no other host excuses that, whatever its address. */
static void timeout_is_excused_by_no_other(struct kunit *test)
{
	struct ornic_rig_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_bed *bed = open_kind(test, ORNIC_BED_LONE);
	struct ornic_rig *rig = bed->pair.a;
	struct ornic_rig_qp b = {};
	struct ornic_cqe cqe;
	u32 i;
	int err;

	err = ornic_rig_qp_init(rig, &b, &init, &bed->arcq, &bed->arcq);
	KUNIT_ASSERT_EQ(test, err, 0);
	ornic_rig_conn_default(&b.conn, ORNIC_QPT_RC);
	b.conn.dest_qpn = 0x123;
	post_send(bed, 4);
	for (i = 0; i < 100 && !ornic_rig_poll(&bed->ascq, &cqe); i++) {
		KUNIT_ASSERT_EQ(test, others_send(bed, &b), 0);
		ornic_bed_drain(bed);
		run_at(rig, max_t(u64, rig->now, ornic_rig_deadline(rig)));
	}
	KUNIT_EXPECT_EQ(test, cqe.status, ORNIC_CQE_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, stat(rig, ORNIC_STAT_TIMEOUTS),
			bed->a.conn.retry_cnt + 1);
}

/* What was excused on the last connection is forgotten on the next. */
static void timeout_excuses_end_with_the_connection(struct kunit *test)
{
	struct ornic_txinfo info = { .opcode = ORNIC_OP_SEND_MIDDLE };
	struct ornic_bed *bed = open_kind(test, ORNIC_BED_LONE);
	struct ornic_rig *rig = bed->pair.a;
	struct ornic_cqe cqe;
	u32 i, round;
	u64 before;

	for (round = 0; round < 2; round++) {
		before = stat(rig, ORNIC_STAT_TIMEOUTS);
		post_send(bed, 4);
		for (i = 0; i < 100 && !ornic_rig_poll(&bed->ascq, &cqe); i++) {
			ornic_rig_inject(&bed->a, &info, NULL, 0);
			ornic_bed_drain(bed);
			run_at(rig,
			       max_t(u64, rig->now, ornic_rig_deadline(rig)));
		}
		KUNIT_EXPECT_EQ(test, cqe.status, ORNIC_CQE_RETRY_EXC_ERR);
		KUNIT_EXPECT_EQ(test, stat(rig, ORNIC_STAT_TIMEOUTS) - before,
				2 * bed->a.conn.retry_cnt + 1);
		KUNIT_ASSERT_EQ(test, ornic_rig_to(&bed->a, ORNIC_QPS_RESET),
				0);
		KUNIT_ASSERT_EQ(test, ornic_bed_connect(bed), 0);
	}
}

/* ---- window ------------------------------------------------------------------ */

/*
 * The port takes some packets of a message, none of which asks for an ACK; then
 * the window shrinks below that. The last of them goes again and asks.
 */
static void window_that_shrinks_is_probed(struct kunit *test)
{
	struct ornic_bed *bed = open_kind(test, ORNIC_BED_LONE);
	struct ornic_rig *rig = bed->pair.a;
	struct ornic_rig_frame *frame[20];
	u32 i;

	post_send(bed, 1);
	ornic_bed_drain(bed);
	rig->tx_window = ARRAY_SIZE(frame);
	post_send(bed, 40 * MTU);
	/* The first message took more than a quarter of the ACK timeout. */
	rig->now += 2 * ORNIC_RIG_MS;
	ack(bed, 0, ACK);
	KUNIT_EXPECT_EQ(test, stat(rig, ORNIC_STAT_TX_PACKETS), 21);
	for (i = 0; i < ARRAY_SIZE(frame); i++)
		frame[i] = ornic_rig_pull(rig);
	for (i = 0; i < ARRAY_SIZE(frame); i++)
		ornic_rig_put(rig, frame[i]);
	ornic_rig_run(rig);
	KUNIT_ASSERT_TRUE(test, ornic_bed_sent(bed));
	KUNIT_EXPECT_EQ(test, bed->pkt.psn, ornic_psn_add(PSN, 20));
	KUNIT_EXPECT_TRUE(test, bed->pkt.ack_req);
	KUNIT_EXPECT_FALSE(test, ornic_bed_sent(bed));
	KUNIT_EXPECT_EQ(test, stat(rig, ORNIC_STAT_RETRIES), 0);
}

/* A QP that waits for its peer is no work for the poll thread. */
static void window_that_is_full_is_no_news(struct kunit *test)
{
	struct ornic_bed *bed = open_kind(test, ORNIC_BED_LONE);
	struct ornic_engine *eng = bed->pair.a->eng;

	ornic_engine_set_polling(eng, true);
	ornic_rig_run(bed->pair.a);
	post_send(bed, 40 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1000000), 1);
	KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), 32);
	post_send(bed, 8);
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1000000), 1);
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1000000), 0);
	ack(bed, 31, ACK);
	KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), 9);
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1000000), 0);
	post_send(bed, 8);
	KUNIT_EXPECT_EQ(test, ornic_engine_poll(eng, 1000000), 1);
	KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), 1);
}

/* ---- reordering ------------------------------------------------------------- */

#define RTT (ORNIC_RIG_MS / 10)

static void pass_time(struct ornic_bed *bed, u64 ns)
{
	bed->pair.a->now += ns;
	bed->pair.b->now = bed->pair.a->now;
}

/* A WRITE of one packet, answered after a round trip: a knows that now. */
static void time_one(struct ornic_bed *bed)
{
	ornic_bed_post(&bed->a, &bed->am, &bed->bm, ORNIC_WQE_WRITE, 0, 0, 1);
	pass_time(bed, RTT);
	ornic_rig_settle(&bed->pair);
}

/* a's frames reach b, the two from @swap on in the wrong order. */
static void deliver_swapped(struct ornic_bed *bed, u32 swap)
{
	struct ornic_rig_frame *frame, *late = NULL;
	u32 i;

	for (i = 0; (frame = ornic_rig_pull(bed->pair.a)); i++) {
		if (i == swap) {
			late = frame;
			continue;
		}
		ornic_rig_rx(bed->pair.b, frame->data, frame->len);
		ornic_rig_put(bed->pair.a, frame);
		if (late) {
			ornic_rig_rx(bed->pair.b, late->data, late->len);
			ornic_rig_put(bed->pair.a, late);
			late = NULL;
		}
	}
}

/* Two packets that swap their places: two NAKs, but only one is loss. */
static void reorder_goes_back_once(struct kunit *test)
{
	struct ornic_bed *bed = open_kind(test, ORNIC_BED_WIRE);
	struct ornic_rig *a = bed->pair.a;
	struct ornic_cqe cqe;

	time_one(bed);
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0);
	ornic_bed_post(&bed->a, &bed->am, &bed->bm, ORNIC_WQE_WRITE, 0, 0,
		       16 * MTU);
	deliver_swapped(bed, 3);
	ornic_rig_settle(&bed->pair);
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, stat(a, ORNIC_STAT_SEQ_NAK_RCVD), 2);
	KUNIT_EXPECT_EQ(test, stat(a, ORNIC_STAT_RETRIES), 1);
	KUNIT_EXPECT_EQ(test, stat(a, ORNIC_STAT_TX_PACKETS), 1 + 16 + 13);
	KUNIT_EXPECT_EQ(test, ornic_bed_compare(&bed->bm, 0, 16 * MTU, 1), -1);
}

/* A round trip is timed, 16 packets go out, two NAKs come: the second is held. */
static void hold_second_nak(struct kunit *test, struct ornic_bed *bed)
{
	post_send(bed, 1);
	ornic_bed_drain(bed);
	bed->pair.a->now += RTT;
	ack(bed, 0, ACK);
	post_send(bed, 16 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), 16);
	ack(bed, 4, NAK(0));
	KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), 13);
	ack(bed, 5, NAK(0));
	KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), 0);
}

/* One that was true is believed after a round trip: no timeout is needed. */
static void reorder_or_loss(struct kunit *test)
{
	struct ornic_bed *bed = open_kind(test, ORNIC_BED_LONE);
	struct ornic_rig *rig = bed->pair.a;

	hold_second_nak(test, bed);
	run_at(rig, rig->now + RTT - 1);
	KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), 0);
	run_at(rig, rig->now + 1);
	KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), 9);
	/* What comes a round trip later is news. */
	rig->now += RTT;
	ack(bed, 7, NAK(0));
	KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), 8);
	KUNIT_EXPECT_EQ(test, stat(rig, ORNIC_STAT_TIMEOUTS), 0);
	KUNIT_EXPECT_EQ(test, stat(rig, ORNIC_STAT_RETRIES), 3);
}

/* A NAK that acknowledges something is no retry. */
static void loss_with_progress_is_free(struct kunit *test)
{
	struct ornic_bed *bed = test->priv;
	struct ornic_rig_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_cqe cqe;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_bed_open(bed, ORNIC_BED_LONE, &init), 0);
	bed->a.conn.retry_cnt = 1;
	KUNIT_ASSERT_EQ(test, ornic_bed_connect(bed), 0);
	post_send(bed, 16 * MTU);
	for (i = 1; i < 8; i++) {
		bed->pair.a->now += RTT;
		ack(bed, i, NAK(0));
		ornic_bed_drain(bed);
	}
	ack(bed, 7, NAK(0));
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0xff);
	ack(bed, 7, NAK(0));
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe),
			ORNIC_CQE_RETRY_EXC_ERR);
}

/* ---- errors ------------------------------------------------------------------ */

/* IBTA 9.9.2: the READ was good, and the WRITE behind it fails as itself. */
static void fatal_nak_leaves_reads_whole(struct kunit *test)
{
	struct ornic_bed *bed = open_kind(test, ORNIC_BED_WIRE);
	struct ornic_cqe cqe;

	ornic_bed_fill(&bed->bm, 0, 8 * MTU, 5);
	bed->pair.b->tx_window = 2;
	ornic_bed_post(&bed->a, &bed->am, &bed->bm, ORNIC_WQE_READ, 0, 0,
		       8 * MTU);
	/* The peer does not know that key. */
	bed->bm.key ^= 1;
	ornic_bed_post(&bed->a, &bed->am, &bed->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	bed->bm.key ^= 1;
	ornic_rig_advance(&bed->pair, 10000 * ORNIC_RIG_MS);
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_bed_compare(&bed->am, 0, 8 * MTU, 5), -1);
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe),
			ORNIC_CQE_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, ornic_rig_state(&bed->b), ORNIC_QPS_ERR);
}

/* An ACK that overtakes a retransmission must not leave it running. */
static void ack_that_is_late_stops_resending(struct kunit *test)
{
	struct ornic_bed *bed = open_kind(test, ORNIC_BED_LONE);
	struct ornic_cqe cqe;
	u32 i;

	bed->pair.a->tx_window = 1;
	for (i = 0; i < 4; i++)
		post_send(bed, MTU);
	KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), 4);
	run_at(bed->pair.a, ornic_rig_deadline(bed->pair.a));
	ack(bed, 2, ACK);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0);
	ornic_bed_drain(bed);
	KUNIT_EXPECT_NE(test, ornic_bed_status(&bed->ascq, &cqe), 0);
	ack(bed, 3, ACK);
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_rig_sq_psn(&bed->a), ornic_psn_add(PSN, 4));
}

/*
 * What goes back to a sequence NAK when the round trip is over needs no ACK
 * timeout: a QP may have none.
 */
static void reorder_or_loss_without_timeout(struct kunit *test)
{
	struct ornic_rig_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_bed *bed = test->priv;
	struct ornic_rig *rig;

	KUNIT_ASSERT_EQ(test, ornic_bed_open(bed, ORNIC_BED_LONE, &init), 0);
	bed->a.conn.timeout = 0;
	KUNIT_ASSERT_EQ(test, ornic_bed_connect(bed), 0);
	rig = bed->pair.a;
	hold_second_nak(test, bed);
	run_at(rig, rig->now + RTT);
	KUNIT_EXPECT_GT(test, ornic_bed_drain(bed), 0);
}

/* A refused resend whose original is acknowledged leaves no timer in SQD. */
static void refused_resend_ends_with_its_ack(struct kunit *test)
{
	struct ornic_bed *bed = open_kind(test, ORNIC_BED_LONE);
	struct ornic_rig *rig = bed->pair.a;
	struct ornic_cqe cqe;
	u32 i;

	post_send(bed, MTU);
	KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), 1);
	rig->xmit_fail = 1000;
	run_at(rig, ornic_rig_deadline(rig));
	KUNIT_EXPECT_EQ(test, ornic_bed_drain(bed), 0);
	KUNIT_EXPECT_EQ(test, ornic_rig_to(&bed->a, ORNIC_QPS_SQD), 0);
	post_send(bed, MTU); /* not begun in SQD */
	ack(bed, 0, ACK);
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0);
	rig->xmit_fail = 0;
	for (i = 0; i < 40 && ornic_rig_deadline(rig); i++)
		run_at(rig, max_t(u64, rig->now + 1, ornic_rig_deadline(rig)));
	KUNIT_EXPECT_EQ(test, stat(rig, ORNIC_STAT_TIMEOUTS), 1);
	KUNIT_EXPECT_EQ(test, ornic_rig_state(&bed->a), ORNIC_QPS_SQD);
}

/* A probe after a message of 2^23 packets goes to the message behind it. */
static void probe_after_the_longest_message(struct kunit *test)
{
	struct ornic_rig_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_swqe *sw;
	struct ornic_qp *qp;

	KUNIT_ASSERT_EQ(test, ornic_bed_open(test->priv, ORNIC_BED_LONE, &init),
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
}

static struct kunit_case recovery_cases[] = {
	KUNIT_CASE(rnr_narrows_the_window),
	KUNIT_CASE(rnr_waits_grow),
	KUNIT_CASE(rnr_on_loopback_costs_little),
	KUNIT_CASE(timeout_is_excused_by_no_other),
	KUNIT_CASE(timeout_excuses_end_with_the_connection),
	KUNIT_CASE(window_that_shrinks_is_probed),
	KUNIT_CASE(window_that_is_full_is_no_news),
	KUNIT_CASE(reorder_goes_back_once),
	KUNIT_CASE(reorder_or_loss),
	KUNIT_CASE(loss_with_progress_is_free),
	KUNIT_CASE(reorder_or_loss_without_timeout),
	KUNIT_CASE(refused_resend_ends_with_its_ack),
	KUNIT_CASE(probe_after_the_longest_message),
	KUNIT_CASE(ack_that_is_late_stops_resending),
	KUNIT_CASE(fatal_nak_leaves_reads_whole),
	{}
};

static struct kunit_suite recovery_suite = {
	.name = "ornic_recovery",
	.init = recovery_init,
	.exit = recovery_exit,
	.test_cases = recovery_cases,
};

kunit_test_suite(recovery_suite);

MODULE_DESCRIPTION("ornic: loss recovery suite");
MODULE_LICENSE("Dual BSD/GPL");
