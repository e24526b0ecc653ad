// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What a responder keeps that comes too early, and what a requester makes of it. */
#include "engine/proto.h"
#include "suite_fixture.h"

#define PSN ORNIC_FIX_PSN
#define MTU 1024u
#define ACK 0x1f /* credits: none */
#define SEQ_NAK (ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ)
#define NONE 0xff
#define US 1000ull

static u32 kept(struct ornic_fixture *fix)
{
	return ornic_fix_qp(&fix->a)->rq.ahead.n;
}

/* Bytes that the device has taken for what is out of order. */
static int spare(struct ornic_fixture *fix)
{
	return ornic_atomic_read(&fix->pair.a->eng->dev.spare);
}

/* A connection with room for @n receives. */
static struct ornic_fixture *open_receiver(struct kunit *test, u32 n)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	u32 i;

	fix->pair.a->lends = true;
	for (i = 0; i < n; i++)
		ornic_fix_recv(&fix->a, &fix->am, i, i * 64, 64);
	return fix;
}

/* SEND number @n of the peer, which has 10 + @n bytes. */
static void request(struct ornic_fixture *fix, s32 n)
{
	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, n, 0, 0, 10 + n % 50);
}

/* The same, of a peer that repeats selectively. */
static void selective_request(struct ornic_fixture *fix, s32 n)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_SEND_ONLY,
		.psn = ornic_psn_add(PSN, n),
		.ack_req = true,
		.selective = true,
	};

	ornic_th_inject(&fix->a, &info, fix->buf, 10);
	ornic_th_run(fix->pair.a);
}

static void expect_ack(struct kunit *test, struct ornic_fixture *fix,
		       u8 syndrome, s32 n)
{
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), syndrome);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, n));
}

/*
 * Requests are executed in the order of their PSNs. A standard requester that has got a
 * NAK sends them again, and gets the ACK for all then.
 */
static void reorder_executes_in_order(struct kunit *test)
{
	struct ornic_fixture *fix = open_receiver(test, 4);
	struct ornic_cqe cqe;
	u32 i;

	request(fix, 3);
	expect_ack(test, fix, SEQ_NAK, 0);
	request(fix, 1);
	ornic_fix_drain(fix);
	request(fix, 2);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, kept(fix), 3);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), NONE);
	request(fix, 0);
	expect_ack(test, fix, ACK, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NONE);
	request(fix, 3);
	expect_ack(test, fix, ACK, 3);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->arcq, &cqe), 0);
		KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), i);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), 10 + i);
	}
	KUNIT_EXPECT_EQ(test, kept(fix), 0);
}

/* Each once, none far beyond the others, nor the window, and nothing after RESET. */
static void reorder_keeps_so_many(struct kunit *test)
{
	struct ornic_fixture *fix = open_receiver(test, 1);

	u32 n, i = 0;

	request(fix, ORNIC_REORDER_STEP + 1);
	KUNIT_EXPECT_EQ(test, kept(fix), 0);
	for (n = ORNIC_REORDER_STEP; n <= ORNIC_REORDER_WINDOW;
	     n += ORNIC_REORDER_STEP) {
		request(fix, n);
		request(fix, n);
		request(fix, n + ORNIC_REORDER_STEP + 1);
		KUNIT_EXPECT_EQ(test, kept(fix), ++i);
	}
	request(fix, ORNIC_REORDER_WINDOW);
	request(fix, ORNIC_REORDER_WINDOW + 1);
	KUNIT_EXPECT_EQ(test, kept(fix), i + 1);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_GT(test, spare(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, kept(fix), 0);
	KUNIT_EXPECT_EQ(test, spare(fix), 0);
}

/*
 * IBTA C9-116: of a standard requester, which goes back, each sequence NAK may take a
 * retry, so requests after a packet that is lost again cause none.
 */
static void reorder_naks_a_resend_once(struct kunit *test)
{
	struct ornic_fixture *fix = open_receiver(test, 1);
	struct ornic_th *th = fix->pair.a;
	s32 n, round;

	for (round = 0; round < 3; round++) {
		for (n = 1; n <= 8; n++)
			request(fix, n);
		ornic_fix_drain(fix);
		KUNIT_EXPECT_EQ(
			test,
			ornic_engine_stat(th->eng, ORNIC_STAT_SEQ_NAK_SENT), 1);
		th->now += 200 * US;
	}
}

/* One QP gets no more than half of what others have left. */
static void reorder_leaves_room_for_others(struct kunit *test)
{
	struct ornic_fixture *fix = open_receiver(test, 1);
	struct ornic_dev *dev = &fix->pair.a->eng->dev;
	u32 i;

	ornic_atomic_set(&dev->spare, (int)dev->spare_limit - 9000);
	for (i = 1; i < 40; i++)
		request(fix, i);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_GE(test, kept(fix), 5);
	KUNIT_EXPECT_LE(test, ornic_atomic_read(&ornic_fix_qp(&fix->a)->spare),
			3300);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, spare(fix), (int)dev->spare_limit - 9000);
	ornic_atomic_set(&dev->spare, 0);
}

/* The QPs of one peer get no more than others have left. */
static void reorder_leaves_room_for_other_peers(struct kunit *test)
{
	struct ornic_fixture *fix = open_receiver(test, 1);
	struct ornic_dev *dev = &fix->pair.a->eng->dev;
	ornic_atomic_t *of_peer =
		&dev->spare_of_peer[ornic_fix_qp(&fix->a)->peer >> 56];

	ornic_atomic_set(&dev->spare, (int)dev->spare_limit / 2);
	ornic_atomic_set(of_peer, (int)dev->spare_limit / 2 - 100);
	request(fix, 1);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, kept(fix), 0);
	ornic_atomic_set(of_peer, 0);
	request(fix, 1);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, kept(fix), 1);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, ornic_atomic_read(of_peer), 0);
	ornic_atomic_set(&dev->spare, 0);
}

/* A peer that does not fill a gap leaves its room to others, and may go on. */
static void reorder_forgets_in_time(struct kunit *test)
{
	struct ornic_fixture *fix = open_receiver(test, 4);
	struct ornic_th *th = fix->pair.a;

	request(fix, 1);
	th->now += 500000 * US;
	request(fix, 2);
	ornic_fix_drain(fix);
	th->now += 499999 * US;
	ornic_th_expire(th);
	ornic_th_run(th);
	KUNIT_EXPECT_EQ(test, kept(fix), 2);
	KUNIT_EXPECT_NE(test, ornic_th_deadline(th), 0);
	th->now += 1 * US;
	ornic_th_expire(th);
	ornic_th_run(th);
	KUNIT_EXPECT_EQ(test, kept(fix), 0);
	request(fix, 3);
	expect_ack(test, fix, SEQ_NAK, 0);
	request(fix, 0);
	expect_ack(test, fix, ACK, 0);
}

/* A fatal error of a request ends the QP, and what came after it is dropped. */
static void reorder_ends_with_the_qp(struct kunit *test)
{
	struct ornic_fixture *fix = open_receiver(test, 4);

	request(fix, 2);
	ornic_fix_drain(fix);
	ornic_fix_request(fix, ORNIC_OP_SEND_LAST, 1, 0, 0, 10);
	ornic_fix_drain(fix);
	request(fix, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix),
			ORNIC_AETH_NAK | ORNIC_NAK_INVALID_REQ);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, kept(fix), 0);
}

/* A selective peer is told what is kept, another one is not. */
static void reorder_names_what_is_kept(struct kunit *test)
{
	struct ornic_fixture *fix = open_receiver(test, 8);
	u8 *bitmap;

	ornic_fix_qp(&fix->a)->rq.ahead.late.lossy = true;
	selective_request(fix, 1);
	expect_ack(test, fix, SEQ_NAK, 0);
	KUNIT_EXPECT_TRUE(test, fix->pkt.selective);
	KUNIT_ASSERT_EQ(test, fix->pkt.payload_len, 4);
	bitmap = (u8 *)fix->rx.seg[0].ptr + fix->pkt.hdr_len;
	KUNIT_EXPECT_EQ(test, bitmap[0], 1);
	selective_request(fix, 2);
	selective_request(fix, 4);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NONE);
	fix->pair.a->now += 100 * US;
	selective_request(fix, 40);
	expect_ack(test, fix, SEQ_NAK, 0);
	KUNIT_ASSERT_EQ(test, fix->pkt.payload_len, 8);
	bitmap = (u8 *)fix->rx.seg[0].ptr + fix->pkt.hdr_len;
	KUNIT_EXPECT_EQ(test, bitmap[0], 0x0b);
	KUNIT_EXPECT_EQ(test, bitmap[4], 0x80);
	/* Of one that is kept already, or with a standard peer, there is none. */
	selective_request(fix, 4);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NONE);
	fix->pair.a->now += 100 * US;
	request(fix, 41);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NONE);
}

/*
 * What a peer is like is told by requests that are expected, or may overtake: others may
 * be of anybody who knows the addresses. A standard peer gets no bitmap then.
 */
static void reorder_learns_from_what_fits(struct kunit *test)
{
	static const s32 far[] = { -1, -(1 << 22), 1 << 17, 1 << 22 };
	struct ornic_fixture *fix = open_receiver(test, 8);
	struct ornic_th *th = fix->pair.a;
	u32 i;

	ornic_fix_qp(&fix->a)->rq.ahead.late.ns = 400 * US;
	request(fix, 1);
	for (i = 0; i < ARRAY_SIZE(far); i++)
		selective_request(fix, far[i]);
	ornic_fix_drain(fix);
	th->now += 400 * US;
	ornic_th_expire(th);
	ornic_th_run(th);
	expect_ack(test, fix, SEQ_NAK, 0);
	KUNIT_EXPECT_EQ(test, fix->pkt.selective, 0);
	KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, 0);
}

/*
 * A SEND that was kept finds no receive: a standard peer that has got a NAK sends it
 * again, and only that one is refused.
 */
static void reorder_refuses_once(struct kunit *test)
{
	struct ornic_fixture *fix = open_receiver(test, 1);

	request(fix, 1);
	expect_ack(test, fix, SEQ_NAK, 0);
	request(fix, 0);
	expect_ack(test, fix, ACK, 0);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	request(fix, 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix) & ORNIC_AETH_TYPE_MASK,
			ORNIC_AETH_RNR);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	/* One that repeats selectively does not send it again of itself. */
	ornic_fix_recv(&fix->a, &fix->am, 1, 64, 64);
	selective_request(fix, 2);
	selective_request(fix, 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix) & ORNIC_AETH_TYPE_MASK,
			ORNIC_AETH_RNR);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 2));
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/* What is longer than the path MTU is not kept: it would be refused. */
static void reorder_keeps_no_long_packets(struct kunit *test)
{
	struct ornic_fixture *fix = open_receiver(test, 1);

	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 1, 0, 0, MTU + 4);
	expect_ack(test, fix, SEQ_NAK, 0);
	KUNIT_EXPECT_EQ(test, kept(fix), 0);
}

/* A copy that comes long after the gap was filled was sent for another reason. */
static void reorder_judges_no_old_naks(struct kunit *test)
{
	struct ornic_fixture *fix = open_receiver(test, 8);

	request(fix, 1);
	fix->pair.a->now += 200 * US;
	request(fix, 0);
	fix->pair.a->now += 20000 * US;
	request(fix, 0);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->rq.ahead.late.ns, 0);
}

/* A NAK that was in vain makes the next ones wait, but not for ever. */
static void reorder_learns_to_wait(struct kunit *test)
{
	struct ornic_fixture *fix = open_receiver(test, 8);
	struct ornic_th *th = fix->pair.a;

	request(fix, 1);
	expect_ack(test, fix, SEQ_NAK, 0);
	th->now += 200 * US;
	request(fix, 0);
	expect_ack(test, fix, ACK, 0);
	request(fix, 0);
	ornic_fix_drain(fix);
	request(fix, 3);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NONE);
	th->now += 249 * US;
	request(fix, 2);
	expect_ack(test, fix, ACK, 3);
	request(fix, 5);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NONE);
	th->now += 250 * US;
	ornic_th_expire(th);
	ornic_th_run(th);
	expect_ack(test, fix, SEQ_NAK, 4);
}

/* What one call has no time to execute is no gap. */
static void reorder_executes_by_and_by(struct kunit *test)
{
	struct ornic_fixture *fix = open_receiver(test, 1);
	struct ornic_engine *eng = fix->pair.a->eng;
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_WRITE_ONLY,
		.va = fix->am.iova,
		.rkey = fix->am.key,
		.dma_len = MTU,
		.selective = true,
	};
	u32 i;

	for (i = 1; i <= 400; i++) {
		info.psn = ornic_psn_add(PSN, i % 400);
		ornic_th_inject(&fix->a, &info, fix->buf, MTU);
	}
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_SEQ_NAK_SENT),
			1);
	KUNIT_EXPECT_GT(test, kept(fix), 0);
	info.psn = ornic_psn_add(PSN, 400);
	ornic_th_inject(&fix->a, &info, fix->buf, MTU);
	ornic_th_run(fix->pair.a);
	KUNIT_EXPECT_EQ(test, kept(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_SEQ_NAK_SENT),
			1);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->rq.ahead.late.ns, 0);
	ornic_fix_drain(fix);
}

/* A NAK of a selective peer with PSN @n, which keeps what @bits name. */
static void selective_nak(struct ornic_fixture *fix, u32 n, u32 bits)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_ACK,
		.psn = ornic_psn_add(PSN, n),
		.syndrome = SEQ_NAK,
		.selective = true,
	};
	__le32 bitmap = cpu_to_le32(bits);

	ornic_th_inject(&fix->a, &info, &bitmap, sizeof(bitmap));
	ornic_th_run(fix->pair.a);
}

static void expect_sent(struct kunit *test, struct ornic_fixture *fix, u32 n)
{
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, n));
	KUNIT_EXPECT_TRUE(test, fix->pkt.selective);
}

/* Only what is missing goes again, once in a round trip; then new packets. */
static void reorder_resends_what_is_missing(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_cqe cqe;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       8 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 8);
	/* 2, 4 and 5 are missing; what follows is not known. */
	selective_nak(fix, 2, 0x1 | 0x8);
	expect_sent(test, fix, 2);
	KUNIT_EXPECT_FALSE(test, fix->pkt.ack_req);
	expect_sent(test, fix, 4);
	KUNIT_EXPECT_FALSE(test, fix->pkt.ack_req);
	expect_sent(test, fix, 5);
	KUNIT_EXPECT_TRUE(test, fix->pkt.ack_req);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	selective_nak(fix, 2, 0x1 | 0x8);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 1);
	ornic_th_run(fix->pair.a);
	expect_sent(test, fix, 8);
	/* 4 has arrived, and 2 went before it: that was lost again. */
	selective_nak(fix, 2, 0x1 | 0x2 | 0x8);
	expect_sent(test, fix, 2);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + 8, ACK, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
}

/* A probe that is due while something waits to go again is no reason for more. */
static void reorder_probes_with_a_resend(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_th *th = fix->pair.a;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       8 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 8);
	th->tx_window = 0;
	selective_nak(fix, 2, 0x1);
	th->now = ornic_th_deadline(th);
	ornic_th_expire(th);
	th->tx_window = 64;
	ornic_th_kick(&fix->a);
	expect_sent(test, fix, 2);
	KUNIT_EXPECT_TRUE(test, fix->pkt.ack_req);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/* A peer without room keeps nothing: all after the gap goes again. */
static void reorder_goes_back_if_nothing_is_kept(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	u32 i;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       8 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 8);
	selective_nak(fix, 2, 0);
	for (i = 2; i < 8; i++)
		expect_sent(test, fix, i);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	/* It has room again. */
	fix->pair.a->now += 3000 * US;
	selective_nak(fix, 4, 0x3);
	expect_sent(test, fix, 4);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/* Bits of what was not sent make nothing that is not sent be sent. */
static void reorder_stays_in_its_window(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       60 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 32);
	selective_nak(fix, 1, 0x80000000);
	while (ornic_fix_sent(fix))
		KUNIT_EXPECT_LT(test, ornic_psn_diff(fix->pkt.psn, PSN), 32);
}

/*
 * A peer drops what it kept without notice: what it named is sent again in the end,
 * a window at a time.
 */
static void reorder_does_not_trust_old_news(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;
	struct ornic_th *th;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.timeout = 20;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	th = fix->pair.a;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       8 * MTU);
	ornic_fix_drain(fix);
	selective_nak(fix, 0, 0x7f);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	/* The probe goes out, the oldest twice, then all. */
	for (i = 0; i < 4; i++) {
		th->now = ornic_th_deadline(th);
		ornic_th_expire(th);
		ornic_th_run(th);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), i < 3 ? 1 : 8);
		KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->sq.selective,
				i < 3 ? ORNIC_SELECTIVE_YES :
					ORNIC_SELECTIVE_DOUBTED);
	}
	/* All that was outstanding is there, which settles it. */
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + 7, ACK, NULL, 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 1);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + 8, ACK, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->sq.selective,
			ORNIC_SELECTIVE_YES);
	ornic_fix_drain(fix);
}

/* Bits of what was not sent, or of READs, mean nothing. */
static void reorder_believes_no_more_than_was_sent(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_cqe cqe;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 1);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 2);
	selective_nak(fix, 0, ~0u);
	KUNIT_EXPECT_GT(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), NONE);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN, ACK, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), NONE);
	ornic_fix_respond(fix, ORNIC_OP_READ_RESP_ONLY, PSN + 1, ACK, fix->buf,
			  8);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
}

/* The request with the first PSN is lost as often as the u32 at pair->ctx tells. */
static enum ornic_th_verdict lose_first(struct ornic_th_pair *pair,
					struct ornic_th *from,
					struct ornic_th_frame *frame,
					const struct ornic_pkt *pkt)
{
	u32 *left = pair->ctx;

	if (from != pair->a || pkt->psn != PSN || !*left)
		return ORNIC_TH_PASS;
	(*left)--;
	return ORNIC_TH_DROP;
}

/* b sends a sequence NAK when a packet is late by @ns. */
static void set_late(struct ornic_fixture *fix, u64 ns)
{
	ornic_fix_qp(&fix->b)->rq.ahead.late.ns = ns;
}

/*
 * A packet is lost, and lost again. The READs after it wait at the peer, and go
 * again once in a round trip: each of them causes a NAK, and that must not cause
 * all of them.
 */
static void reorder_resends_reads_once(struct kunit *test)
{
	static const u8 opcodes[] = { ORNIC_WQE_WRITE, ORNIC_WQE_READ,
				      ORNIC_WQE_READ, ORNIC_WQE_READ,
				      ORNIC_WQE_WRITE };
	struct ornic_fixture *fix =
		ornic_suite_open(test, ORNIC_FIX_WIRE, ORNIC_QPT_RC);
	struct ornic_th_pair *pair = &fix->pair;
	struct ornic_cqe cqe;
	u32 losses = 2, i;

	set_late(fix, 20 * US);
	pair->filter = lose_first;
	pair->ctx = &losses;
	for (i = 0; i < ARRAY_SIZE(opcodes); i++)
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, opcodes[i], 0,
			       i * 64, 8);
	KUNIT_ASSERT_TRUE(test, ornic_th_settle(pair));
	KUNIT_ASSERT_TRUE(test, ornic_th_advance(pair, 30 * US));
	KUNIT_EXPECT_LT(
		test, ornic_engine_stat(pair->b->eng, ORNIC_STAT_SEQ_NAK_SENT),
		10);
	KUNIT_EXPECT_TRUE(test, ornic_th_advance(pair, ORNIC_TH_MS * 10));
	for (i = 0; i < ARRAY_SIZE(opcodes); i++)
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
}

/* @ns after the last packet, and not before, the packet @n goes again. */
static void expect_resend_after(struct kunit *test, struct ornic_fixture *fix,
				u64 ns, u32 n)
{
	KUNIT_ASSERT_TRUE(test, ornic_fix_sends_in(fix, ns));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, n));
}

/*
 * Before the ACK timeout the last packet asks, then the oldest goes again: sooner to
 * a peer that needs no other one again. No RTT is measured meanwhile.
 */
static void reorder_probes_before_the_timeout(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_engine *eng = fix->pair.a->eng;
	u32 i;

	/* A round trip of 20 us is measured. */
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 1);
	ornic_fix_drain(fix);
	fix->pair.a->now += 20 * US;
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN, ACK, NULL, 0);
	for (i = 0; i < 2; i++) {
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0,
			       0, 3 * MTU);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 3);
		expect_resend_after(test, fix, i ? 300 * US : 150 * US,
				    3 * i + 3);
		KUNIT_EXPECT_TRUE(test, fix->pkt.ack_req);
		KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
		expect_resend_after(test, fix, i ? 400 * US : 1000 * US,
				    3 * i + 1);
		ornic_fix_drain(fix);
		KUNIT_EXPECT_EQ(test,
				ornic_engine_stat(eng,
						  ORNIC_STAT_ROCE_ADP_RETRANS),
				2 * i + 2);
		ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + 3 * i + 3, ACK, NULL,
				  0);
		ornic_fix_qp(&fix->a)->sq.selective = ORNIC_SELECTIVE_YES;
	}
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_TIMEOUTS), 0);
}

static struct kunit_case reorder_cases[] = {
	KUNIT_CASE(reorder_executes_in_order),
	KUNIT_CASE(reorder_keeps_so_many),
	KUNIT_CASE(reorder_naks_a_resend_once),
	KUNIT_CASE(reorder_leaves_room_for_others),
	KUNIT_CASE(reorder_leaves_room_for_other_peers),
	KUNIT_CASE(reorder_forgets_in_time),
	KUNIT_CASE(reorder_ends_with_the_qp),
	KUNIT_CASE(reorder_names_what_is_kept),
	KUNIT_CASE(reorder_learns_from_what_fits),
	KUNIT_CASE(reorder_refuses_once),
	KUNIT_CASE(reorder_keeps_no_long_packets),
	KUNIT_CASE(reorder_judges_no_old_naks),
	KUNIT_CASE(reorder_learns_to_wait),
	KUNIT_CASE(reorder_executes_by_and_by),
	KUNIT_CASE(reorder_resends_what_is_missing),
	KUNIT_CASE(reorder_probes_with_a_resend),
	KUNIT_CASE(reorder_goes_back_if_nothing_is_kept),
	KUNIT_CASE(reorder_stays_in_its_window),
	KUNIT_CASE(reorder_does_not_trust_old_news),
	KUNIT_CASE(reorder_believes_no_more_than_was_sent),
	KUNIT_CASE(reorder_resends_reads_once),
	KUNIT_CASE(reorder_probes_before_the_timeout),
	{}
};

static struct kunit_suite reorder_suite = {
	.name = "ornic_reorder",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = reorder_cases,
};

kunit_test_suite(reorder_suite);

MODULE_DESCRIPTION("ornic: reordering and selective repeat suite");
MODULE_LICENSE("Dual BSD/GPL");
