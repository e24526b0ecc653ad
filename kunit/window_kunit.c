// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Long windows between two that repeat selectively: maps by PSN, what they and what is
 * kept take of a device's memory, and what may be sent beyond what is missing.
 */
#include "engine/proto.h"
#include "suite_fixture.h"

#define PSN ORNIC_FIX_PSN
#define MTU 256u
#define ACK 0x1f /* credits: none */
#define SEQ_NAK (ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ)
#define NONE 0xff
#define US 1000ull
#define SELECTIVE ORNIC_BTH_SELECTIVE
#define LONG 3000 /* packets */

static int spare(struct ornic_fixture *fix)
{
	return ornic_atomic_read(&fix->pair.a->eng->dev.spare);
}

/* A connection with the smallest path MTU; the ACK timeout is far away. */
static struct ornic_fixture *open_short(struct kunit *test, u8 max_rd_atomic)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.mtu = 1;
	fix->a.conn.timeout = 20;
	fix->a.conn.max_rd_atomic = max_rd_atomic;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	return fix;
}

static void reset(struct kunit *test, struct ornic_fixture *fix)
{
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, spare(fix), 0);
}

/* ---- Maps ------------------------------------------------------------------------ */

#define SIZE 256u

/* Bits by PSN, over the end of the PSNs and of the map, one by one and many at once. */
static void window_maps_wrap(struct kunit *test)
{
	u32 first = 0xffffff - 100, i, n;
	u64 map[SIZE / 64] = { 0 }, large[2 * SIZE / 64] = { 0 }, bits;

	for (i = 0; i < SIZE; i += 14)
		ornic_map_set_bits(map, SIZE, ornic_psn_add(first, i),
				   i + 7 < SIZE ? 0x81 : 1);
	ornic_map_copy(large, 2 * SIZE, map, SIZE, first, SIZE);
	for (i = 0; i < 2 * SIZE; i++)
		KUNIT_EXPECT_EQ(test,
				ornic_map_has(large, 2 * SIZE,
					      ornic_psn_add(first, i)),
				i < SIZE && i % 7 == 0);
	for (i = 0; i + 64 <= SIZE; i += 13) {
		bits = ornic_map_bits(map, SIZE, ornic_psn_add(first, i));
		for (n = 0; n < 64; n++)
			KUNIT_EXPECT_EQ(test, bits >> n & 1, (i + n) % 7 == 0);
	}
	KUNIT_EXPECT_EQ(test, ornic_map_clear(map, SIZE, first, 70), 10);
	KUNIT_EXPECT_EQ(test, ornic_map_clear(map, SIZE, first, 71), 1);
	KUNIT_EXPECT_EQ(test, ornic_map_fill(map, SIZE, first, 71), 71);
	KUNIT_EXPECT_EQ(test, ornic_map_fill(map, SIZE, first, 72), 1);
	KUNIT_EXPECT_EQ(test, ornic_map_clear(map, SIZE, first, SIZE),
			72 + (SIZE - 72) / 7);
	KUNIT_EXPECT_EQ(test, ornic_low_bit(0x50), 4);
	KUNIT_EXPECT_EQ(test, ornic_high_bit(0x50), 6);
	KUNIT_EXPECT_EQ(test, ornic_low_bits(64), U64_MAX);
}

static void grow(struct ornic_qp *qp)
{
	ornic_lock(&qp->sq.lock);
	ornic_gaps_grow(qp);
	ornic_unlock(&qp->sq.lock);
}

/* What is known stays known when the maps grow; their memory is counted. */
static void window_maps_grow(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 1);
	struct ornic_qp *qp = ornic_fix_qp(&fix->a);
	struct ornic_gaps *gaps = &qp->sq.gaps;
	u32 i, n;

	gaps->used = true;
	for (i = 5; i < ORNIC_GAPS_FIRST; i += 5)
		ornic_map_set(gaps->map[ORNIC_GAPS_GOT], gaps->size,
			      ornic_psn_add(qp->sq.acked, i));
	for (n = 0; n < 8; n++)
		grow(qp);
	KUNIT_EXPECT_EQ(test, gaps->size, ORNIC_GAPS_MOST);
	KUNIT_EXPECT_EQ(test, spare(fix),
			ORNIC_GAPS_MAPS * ORNIC_GAPS_MOST / 8);
	for (i = 0; i < ORNIC_GAPS_MOST; i++)
		KUNIT_EXPECT_EQ(test,
				ornic_map_has(gaps->map[ORNIC_GAPS_GOT],
					      gaps->size,
					      ornic_psn_add(qp->sq.acked, i)),
				i && i < ORNIC_GAPS_FIRST && i % 5 == 0);
	reset(test, fix);
	KUNIT_EXPECT_EQ(test, gaps->size, ORNIC_GAPS_FIRST);
}

/* Without memory the window stays what it is. */
static void window_maps_need_memory(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 1);
	struct ornic_dev *dev = &fix->pair.a->eng->dev;
	struct ornic_qp *qp = ornic_fix_qp(&fix->a);

	ornic_atomic_set(&dev->spare, (int)dev->spare_limit - 100);
	grow(qp);
	KUNIT_EXPECT_EQ(test, qp->sq.gaps.size, ORNIC_GAPS_FIRST);
	ornic_atomic_set(&dev->spare, 0);
}

/* ---- The responder --------------------------------------------------------------- */

/* Request @n of a peer: a WRITE of nothing. */
static void inject_request(struct ornic_fixture *fix, u32 n, u8 selective,
			   bool ack_req)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_WRITE_ONLY,
		.psn = ornic_psn_add(PSN, n),
		.ack_req = ack_req,
		.selective = selective,
	};

	ornic_th_inject(&fix->a, &info, NULL, 0);
}

static void request(struct ornic_fixture *fix, u32 n, u8 selective,
		    bool ack_req)
{
	inject_request(fix, n, selective, ack_req);
	ornic_th_run(fix->pair.a);
}

/* Whatever order a peer sends in: all are executed when the first one comes. */
static void window_keeps_many(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 1);
	struct ornic_rq *rq = &ornic_fix_qp(&fix->a)->rq;
	u32 i;

	for (i = 500; i < LONG; i += 500)
		request(fix, i, 0, false);
	for (i = LONG; i; i--)
		if (i == LONG || i % 500)
			request(fix, i, 0, i == LONG);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, rq->ahead.n, LONG);
	/* Not all at once: a packet is only worth so much time, with data or without. */
	inject_request(fix, 0, 0, false);
	KUNIT_EXPECT_GT(test, rq->ahead.n, LONG / 2);
	KUNIT_EXPECT_LT(test, rq->ahead.n, LONG);
	while (ornic_th_run(fix->pair.a))
		;
	KUNIT_EXPECT_EQ(test, rq->epsn, ornic_psn_add(PSN, LONG + 1));
	KUNIT_EXPECT_EQ(test, rq->msn, LONG + 1);
	KUNIT_EXPECT_EQ(test, rq->ahead.n, 0);
	KUNIT_EXPECT_EQ(test, spare(fix), 0);
	ornic_fix_drain(fix);
	inject_request(fix, LONG, 0, true);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, LONG));
}

/* The response to the READ of one packet at PSN @n. */
static void data(struct ornic_fixture *fix, u32 n, bool selective)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_READ_RESP_ONLY,
		.psn = ornic_psn_add(PSN, n),
		.syndrome = ACK,
		.selective = selective,
	};

	ornic_th_inject(&fix->a, &info, fix->buf, 8);
	ornic_th_run(fix->pair.a);
}

/* The peer has all to request @n. */
static void ack(struct ornic_fixture *fix, u32 n)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_ACK,
		.psn = ornic_psn_add(PSN, n),
		.syndrome = ACK,
		.selective = SELECTIVE,
	};

	ornic_th_inject(&fix->a, &info, NULL, 0);
	ornic_th_run(fix->pair.a);
}

static u64 named(const struct ornic_fixture *fix, u32 n)
{
	u8 byte;

	ornic_pkt_copy_payload(&fix->pkt, n / 8, &byte, 1);
	return byte >> n % 8 & 1;
}

/* Without memory for the request itself, what was taken to keep it is given back. */
static void window_keeps_all_or_nothing(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 1);
	struct ornic_dev *dev = &fix->pair.a->eng->dev;
	u32 taken;

	for (taken = 100; taken < 8192; taken += 100) {
		ornic_atomic_set(&dev->spare, (int)(dev->spare_limit - taken));
		request(fix, 500, 0, false);
		if (ornic_fix_qp(&fix->a)->rq.ahead.n)
			break;
		KUNIT_EXPECT_EQ(test, spare(fix),
				(int)(dev->spare_limit - taken));
	}
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->rq.ahead.n, 1);
	ornic_atomic_add(&dev->spare, (int)taken - (int)dev->spare_limit);
	ornic_fix_drain(fix);
	reset(test, fix);
}

/* A NAK names what is kept as far as a packet of the path MTU goes. */
static void window_names_many(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 1);
	u32 i, n = 0;

	ornic_fix_qp(&fix->a)->rq.ahead.late.lossy = true;
	request(fix, 512, SELECTIVE, true);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), SEQ_NAK);
	KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, 64);
	fix->pair.a->now += 100 * US;
	request(fix, 700, SELECTIVE, true);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), SEQ_NAK);
	KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, 88);
	KUNIT_EXPECT_EQ(test, named(fix, 699), 1);
	for (i = 1199; i < 3000; i += 400)
		request(fix, i, SELECTIVE, false);
	fix->pair.a->now += 100 * US;
	request(fix, 3000, SELECTIVE, true);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), SEQ_NAK);
	KUNIT_ASSERT_EQ(test, fix->pkt.payload_len, MTU);
	for (i = 0; i < 8 * MTU; i++)
		n += named(fix, i);
	/* 512, 700, 1199, 1599, 1999 */
	KUNIT_EXPECT_EQ(test, n, 5);
	KUNIT_EXPECT_EQ(test, named(fix, 511), 1);
	KUNIT_EXPECT_EQ(test, named(fix, 1998), 1);
	reset(test, fix);
}

/* What goes again says so, and what does not was late: no second copy has to come. */
static void window_resends_are_not_late(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 1);
	struct ornic_rq *rq = &ornic_fix_qp(&fix->a)->rq;

	request(fix, 1, SELECTIVE, false);
	fix->pair.a->now += 200 * US;
	request(fix, 0, SELECTIVE | ORNIC_BTH_AGAIN, true);
	request(fix, 0, SELECTIVE | ORNIC_BTH_AGAIN, true);
	KUNIT_EXPECT_EQ(test, rq->ahead.late.ns, 0);
	request(fix, 3, SELECTIVE, false);
	fix->pair.a->now += 200 * US;
	request(fix, 2, SELECTIVE, false);
	KUNIT_EXPECT_EQ(test, rq->ahead.late.ns, 250 * US);
	ornic_fix_drain(fix);
}

/*
 * Packets of one QP may be handled by several CPUs. One of them has read the time
 * later, and yet got the lock first: that took no time, and not 2^64 ns.
 */
static void window_time_goes_back(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 2);
	struct ornic_th *th = fix->pair.a;
	struct ornic_qp *qp = ornic_fix_qp(&fix->a);

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	ornic_fix_drain(fix);
	th->now -= 5 * US;
	ack(fix, 0);
	KUNIT_EXPECT_LE(test, qp->sq.rtt.smooth, US);
	KUNIT_EXPECT_LE(test, qp->sq.rtt.var, US);
	th->now += 5 * US;
	request(fix, 1, SELECTIVE, false);
	th->now -= 5 * US;
	request(fix, 0, SELECTIVE, false);
	KUNIT_EXPECT_EQ(test, qp->rq.ahead.late.ns, 0);
	th->now += 5 * US;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0, 8);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 8, 8);
	data(fix, 2, true);
	th->now -= 5 * US;
	data(fix, 1, true);
	data(fix, 1, true);
	KUNIT_EXPECT_LE(test, qp->sq.gaps.late.ns, US);
	ornic_fix_drain(fix);
}

/*
 * On a path that reorders, a NAK names no more than what is overdue goes by: the
 * requester would send again what is under way.
 */
static void window_names_what_is_overdue(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 1);
	struct ornic_th *th = fix->pair.a;

	ornic_fix_qp(&fix->a)->rq.ahead.late.ns = 400 * US;
	request(fix, 1, SELECTIVE, false);
	th->now += 100 * US;
	request(fix, 40, SELECTIVE, false);
	th->now += 200 * US;
	request(fix, 80, SELECTIVE, false);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	th->now += 100 * US;
	ornic_th_expire(th);
	ornic_th_run(th);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), SEQ_NAK);
	KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, 4);
	KUNIT_EXPECT_EQ(test, named(fix, 0), 1);
	th->now += 100 * US;
	request(fix, 81, SELECTIVE, true);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), SEQ_NAK);
	KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, 8);
	KUNIT_EXPECT_EQ(test, named(fix, 39), 1);
	reset(test, fix);
}

/* ---- READs ----------------------------------------------------------------------- */

static void expect_read(struct kunit *test, struct ornic_fixture *fix, u32 n)
{
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_REQUEST);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, n));
}

/*
 * Of two READs that may be under way the first response is lost: it is asked for, and
 * two more are requested, as the peer has sent both. They complete in order.
 */
static void window_of_reads_goes_on(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 2);
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < 5; i++)
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0,
			       8 * i, 8);
	expect_read(test, fix, 0);
	expect_read(test, fix, 1);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	data(fix, 1, true);
	expect_read(test, fix, 0);
	expect_read(test, fix, 2);
	expect_read(test, fix, 3);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	data(fix, 2, true);
	expect_read(test, fix, 4);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), NONE);
	data(fix, 0, true);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), NONE);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->sq.rd_out, 2);
}

/* Packet @n of the response to a READ of many. */
static void packet(struct ornic_fixture *fix, u32 n, u8 opcode)
{
	struct ornic_txinfo info = {
		.opcode = opcode,
		.psn = ornic_psn_add(PSN, n),
		.syndrome = ACK,
		.selective = SELECTIVE,
	};

	ornic_th_inject(&fix->a, &info, fix->buf, MTU);
	ornic_th_run(fix->pair.a);
}

/*
 * What arrives shows that what was asked for before it was lost again. But a peer that
 * sends backwards what it is asked for does not get a request for all the rest each
 * time: no more go out in a round trip than may be missing.
 */
static void window_of_reads_bounds_asks(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 1);
	u32 piece = ORNIC_READ_PIECE, i, n;
	struct ornic_cqe cqe;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0,
		       piece * MTU);
	expect_read(test, fix, 0);
	for (i = 1; i < piece - 1; i += 2)
		packet(fix, i, ORNIC_OP_READ_RESP_MIDDLE);
	packet(fix, i, ORNIC_OP_READ_RESP_LAST);
	n = ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, n, piece / 2);
	for (i = piece - 2; i; i -= 2) {
		packet(fix, i, ORNIC_OP_READ_RESP_ONLY);
		n += ornic_fix_drain(fix);
	}
	KUNIT_EXPECT_LE(test, n, ORNIC_FIRST_WINDOW + piece + 1);
	/* What is still missing goes on being asked for. */
	fix->pair.a->now += 4000 * US;
	ornic_th_expire(fix->pair.a);
	ornic_th_run(fix->pair.a);
	expect_read(test, fix, 0);
	packet(fix, 0, ORNIC_OP_READ_RESP_ONLY);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/* IBTA C9-93: 2^31 bytes are half of all PSNs, with the smallest path MTU. */
static void window_of_the_longest_read(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 1);
	u32 npkts = ORNIC_MAX_MSG / MTU;
	struct ornic_swqe *sw = ornic_swqe(&ornic_fix_qp(&fix->a)->sq, 0);
	struct ornic_cqe cqe;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0, MTU);
	expect_read(test, fix, 0);
	/* All but the last packet have arrived. */
	sw->npkts = npkts;
	sw->pkts = npkts;
	sw->length = ORNIC_MAX_MSG;
	sw->first_psn = (PSN - (npkts - 1)) & ORNIC_PSN_MASK;
	sw->sge[0].length = ORNIC_MAX_MSG;
	sw->sge[0].addr -= ORNIC_MAX_MSG - MTU;
	packet(fix, 0, ORNIC_OP_READ_RESP_LAST);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->sq.rd_out, 0);
}

/* A standard peer remembers no more than it allows. */
static void window_of_reads_is_strict_to_others(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 2);
	u32 i;

	for (i = 0; i < 4; i++)
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0,
			       8 * i, 8);
	ornic_fix_drain(fix);
	data(fix, 1, false);
	expect_read(test, fix, 0);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/*
 * What a standard peer was asked for twice comes twice: that does not mean that it was
 * late.
 */
static void window_asks_are_counted(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 2);
	struct ornic_gaps *gaps = &ornic_fix_qp(&fix->a)->sq.gaps;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0, 8);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 8, 8);
	ornic_fix_drain(fix);
	data(fix, 1, false);
	expect_read(test, fix, 0);
	fix->pair.a->now += 4000 * US;
	ornic_th_expire(fix->pair.a);
	ornic_th_run(fix->pair.a);
	expect_read(test, fix, 0);
	data(fix, 0, false);
	data(fix, 0, false);
	KUNIT_EXPECT_EQ(test, gaps->late.ns, 0);
	/* Once more than that was the first one. */
	data(fix, 0, false);
	KUNIT_EXPECT_GT(test, gaps->late.ns, 0);
}

/* ---- The requester --------------------------------------------------------------- */

static void nak(struct ornic_fixture *fix, u32 n, const void *bitmap, u32 len)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_ACK,
		.psn = ornic_psn_add(PSN, n),
		.syndrome = SEQ_NAK,
		.selective = true,
	};

	ornic_th_inject(&fix->a, &info, bitmap, len);
	ornic_th_run(fix->pair.a);
}

/* What the peer has does not count: the window is of what is on its way. */
static void window_goes_on_beyond_a_gap(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 1);
	u8 bitmap[4] = { 0xff, 0xff, 0xff, 0x3f };
	u32 i;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       200 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 32);
	nak(fix, 0, bitmap, sizeof(bitmap));
	for (i = 0; i < 31; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_EQ(test, fix->pkt.psn,
				ornic_psn_add(PSN, i ? 31 + i : 0));
	}
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/*
 * The peer has all, though it was to be sent again: that costs what completes, and no
 * look at what does not.
 */
static void window_skips_what_is_there(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 1);
	struct ornic_sq *sq = &ornic_fix_qp(&fix->a)->sq;
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < 12; i++)
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0,
			       0, 2 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 24);
	fix->pair.a->now = ornic_fix_ack_timeout(&fix->a);
	ornic_th_expire(fix->pair.a);
	ornic_th_run(fix->pair.a);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_LE(test, ornic_psn_diff(sq->psn, PSN), 1);
	ornic_swqe(sq, 11)->pkts = 2;
	ack(fix, 6);
	KUNIT_EXPECT_EQ(test, ornic_swqe(sq, 11)->pkts, 2);
	ornic_swqe(sq, 11)->pkts = 0;
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), NONE);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_WRITE_LAST);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 7));
	ack(fix, 23);
	for (i = 0; i < 9; i++)
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, sq->cur, 12);
	KUNIT_EXPECT_EQ(test, sq->psn, sq->max_psn);
	ornic_fix_drain(fix);
}

/* A peer without room is tried again when all that it dropped is there. */
static void window_is_long_again(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 1);
	struct ornic_sq *sq = &ornic_fix_qp(&fix->a)->sq;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       8 * MTU);
	ornic_fix_drain(fix);
	nak(fix, 2, NULL, 0);
	KUNIT_EXPECT_EQ(test, sq->selective, ORNIC_SELECTIVE_FULL);
	ack(fix, 4);
	ack(fix, 5);
	KUNIT_EXPECT_EQ(test, sq->selective, ORNIC_SELECTIVE_FULL);
	ack(fix, 7);
	ornic_fix_drain(fix);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, MTU);
	ack(fix, 8);
	KUNIT_EXPECT_EQ(test, sq->selective, ORNIC_SELECTIVE_YES);
}

/* A window that is not used says nothing about the path, so it does not grow. */
static void window_grows_if_used(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 1);
	struct ornic_sq *sq = &ornic_fix_qp(&fix->a)->sq;
	u32 i;

	sq->selective = ORNIC_SELECTIVE_YES;
	sq->window = 160;
	for (i = 0; i < 4; i++) {
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0,
			       0, 8 * MTU);
		fix->pair.a->now += 10 * US;
		ack(fix, 8 * i + 7);
	}
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, sq->window, 160);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       200 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 160);
	fix->pair.a->now += 10 * US;
	ack(fix, 32 + 159);
	KUNIT_EXPECT_EQ(test, sq->window, 320);
}

static const struct loss_row {
	const char *desc;
	u32 before, after;
	u64 rtt; /* ns */
} loss_rows[] = {
	{ "one that any path takes is kept", 100, 100, 400 * US },
	{ "of a larger one half, or what any path takes", 200, 128, 400 * US },
	{ "while queues are short it is kept", 200, 200, 20 * US },
};

KUNIT_ARRAY_PARAM_DESC(loss, loss_rows, desc);

/* A selective peer needs one packet again. */
static void window_after_a_loss(struct kunit *test)
{
	const struct loss_row *row = test->param_value;
	struct ornic_fixture *fix = open_short(test, 1);
	struct ornic_sq *sq = &ornic_fix_qp(&fix->a)->sq;
	u8 bitmap[4] = { 1 };

	sq->selective = ORNIC_SELECTIVE_YES;
	sq->window = row->before;
	sq->rtt.least = 20 * US;
	sq->rtt.last = row->rtt;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       8 * MTU);
	nak(fix, 0, bitmap, sizeof(bitmap));
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, sq->window, row->after);
}

#define MANY 1000u /* packets */

/* A long bitmap is read to its end; what it names does not go again. */
static void window_takes_long_bitmaps(struct kunit *test)
{
	struct ornic_fixture *fix = open_short(test, 1);
	struct ornic_lsge sge;
	struct ornic_th_wr wr = { .opcode = ORNIC_WQE_WRITE,
				  .flags = ORNIC_WQE_SIGNALED,
				  .nsge = 1,
				  .sge = &sge };
	struct ornic_th_mr mr = {};
	u8 bitmap[MANY / 8 + 3];
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.a, &mr, MANY * MTU, 0, 1,
					 ORNIC_ACCESS_MR_MASK),
			0);
	sge = ornic_fix_sge(&mr, 0, MANY * MTU);
	ornic_fix_qp(&fix->a)->sq.window = MANY;
	wr.raddr = fix->bm.iova;
	wr.rkey = fix->bm.key;
	ornic_th_post_send(&fix->a, &wr);
	ornic_th_kick(&fix->a);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), MANY);
	/* All but 0, 3 and 900; more than there is. */
	memset(bitmap, 0xff, sizeof(bitmap));
	bitmap[0] &= ~(1 << 2);
	bitmap[899 / 8] &= ~(1 << 899 % 8);
	nak(fix, 0, bitmap, sizeof(bitmap));
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, PSN);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 3));
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 900));
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + MANY - 1, ACK, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->sq.gaps.ngot, 0);
	ornic_th_mr_fini(&mr);
}

static struct kunit_case window_cases[] = {
	KUNIT_CASE(window_maps_wrap),
	KUNIT_CASE(window_maps_grow),
	KUNIT_CASE(window_maps_need_memory),
	KUNIT_CASE(window_keeps_many),
	KUNIT_CASE(window_keeps_all_or_nothing),
	KUNIT_CASE(window_names_many),
	KUNIT_CASE(window_resends_are_not_late),
	KUNIT_CASE(window_time_goes_back),
	KUNIT_CASE(window_names_what_is_overdue),
	KUNIT_CASE(window_of_reads_goes_on),
	KUNIT_CASE(window_of_reads_bounds_asks),
	KUNIT_CASE(window_of_the_longest_read),
	KUNIT_CASE(window_of_reads_is_strict_to_others),
	KUNIT_CASE(window_asks_are_counted),
	KUNIT_CASE(window_goes_on_beyond_a_gap),
	KUNIT_CASE(window_skips_what_is_there),
	KUNIT_CASE(window_is_long_again),
	KUNIT_CASE(window_grows_if_used),
	KUNIT_CASE_PARAM(window_after_a_loss, loss_gen_params),
	KUNIT_CASE(window_takes_long_bitmaps),
	{}
};

static struct kunit_suite window_suite = {
	.name = "ornic_window",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = window_cases,
};

kunit_test_suite(window_suite);

MODULE_DESCRIPTION("ornic: long windows suite");
MODULE_LICENSE("Dual BSD/GPL");
