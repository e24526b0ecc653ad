// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a hostile peer, or somebody who knows the addresses of a connection, can have a
 * QP do: so much at a time, and no more than is proven.
 */
#include "engine/proto.h"
#include "suite_fixture.h"

#define PSN ORNIC_FIX_PSN
#define ACK 0x1f /* credits: none */
#define US 1000ull
#define BIG_READ (1u << 20)

/* Bytes that the device has taken for what is out of order. */
static int spare(const struct ornic_fixture *fix)
{
	return ornic_atomic_read(&fix->pair.a->eng->dev.spare);
}

/* Request number @n of the peer: a SEND with @len bytes. */
static void send_only(struct ornic_fixture *fix, s32 n, u8 selective, u32 len)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_SEND_ONLY,
		.psn = ornic_psn_add(PSN, n),
		.ack_req = true,
		.selective = selective,
	};

	ornic_th_inject(&fix->a, &info, fix->buf, len);
}

/* ---- Memory of requests that are ahead ---------------------------------------------- */

static void go_to_reset(struct kunit *test, struct ornic_fixture *fix)
{
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
}

static void go_to_err(struct kunit *test, struct ornic_fixture *fix)
{
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_ERR), 0);
}

static void send_nothing_for_long(struct kunit *test, struct ornic_fixture *fix)
{
	fix->pair.a->now += 1000000 * US;
	ornic_th_expire(fix->pair.a);
}

/* Its responses have the PSNs of requests that are kept. */
static void read_over_them(struct kunit *test, struct ornic_fixture *fix)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_READ_REQUEST,
		.psn = PSN,
		.dma_len = BIG_READ,
	};
	struct ornic_th_mr mr;

	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.a, &mr, BIG_READ, 0, 1,
					 ORNIC_ACCESS_MASK),
			0);
	info.va = mr.iova;
	info.rkey = mr.key;
	ornic_th_inject(&fix->a, &info, NULL, 0);
}

static const struct drop_row {
	const char *name;
	void (*drop)(struct kunit *test, struct ornic_fixture *fix);
} drop_rows[] = {
	{ "RESET", go_to_reset },
	{ "ERR", go_to_err },
	{ "a peer that sends no more", send_nothing_for_long },
	{ "a READ over them", read_over_them },
};

KUNIT_ARRAY_PARAM_DESC(drop, drop_rows, name);

#define KEPT 4000

/* What a peer had kept may be 32703 packets: they are freed a few at a time. */
static void kept_is_freed_in_pieces(struct kunit *test)
{
	const struct drop_row *row = test->param_value;
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	int most, last, rounds = 0;
	s32 n;

	for (n = 1; n <= KEPT; n++)
		send_only(fix, n, 0, 8);
	ornic_fix_drain(fix);
	KUNIT_ASSERT_EQ(test, ornic_fix_qp(&fix->a)->rq.ahead.n, KEPT);
	most = spare(fix);
	last = most;
	row->drop(test, fix);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->rq.ahead.n, 0);
	/* A connection that begins meanwhile does not add to it. */
	send_only(fix, KEPT, 0, 8);
	KUNIT_EXPECT_LE(test, spare(fix), most);
	while (last && rounds++ < KEPT) {
		KUNIT_EXPECT_LE(test, last - spare(fix), most / 3);
		last = spare(fix);
		ornic_th_run(fix->pair.a);
	}
	KUNIT_EXPECT_GE(test, rounds, 3);
	KUNIT_EXPECT_EQ(test, spare(fix), 0);
	ornic_fix_drain(fix);
}

/* DESTROY_QP waits for all of it. */
static void kept_goes_with_the_qp(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	s32 n;

	for (n = 1; n <= KEPT; n++)
		send_only(fix, n, 0, 8);
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_ERR), 0);
	KUNIT_EXPECT_GT(test, spare(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&fix->a), 0);
	KUNIT_EXPECT_EQ(test, spare(fix), 0);
}

/*
 * A NAK may have 4 KiB. A small packet that is too far ahead for any that is kept brings
 * none, as its sender may be nobody who knows where the connection is.
 */
static void stray_requests_bring_no_nak(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	const s32 last = 3 * ORNIC_REORDER_STEP;
	s32 n;

	for (n = 1; n <= last; n++)
		send_only(fix, n, ORNIC_BTH_SELECTIVE, 8);
	ornic_fix_drain(fix);
	for (n = 0; n < 3; n++) {
		fix->pair.a->now += 100 * US;
		send_only(fix, last + ORNIC_REORDER_STEP + 1 + n * 10000,
			  ORNIC_BTH_SELECTIVE, 8);
		KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	}
	send_only(fix, last, ORNIC_BTH_SELECTIVE, 8);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, PSN);
	KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, last / 8);
}

/* ---- Responses ------------------------------------------------------------------------ */

static void post_write(struct ornic_fixture *fix)
{
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	ornic_fix_drain(fix);
}

/*
 * An ACKNOWLEDGE of a standard peer has no payload, whatever its reserved bits
 * are.
 */
static void standard_peer_names_nothing(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_engine *eng = fix->pair.a->eng;
	struct ornic_txinfo nak = {
		.opcode = ORNIC_OP_ACK,
		.psn = ornic_psn_add(PSN, 1),
		.syndrome = ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ,
		.selective = ORNIC_BTH_SELECTIVE,
	};
	u32 bitmap = 1;

	post_write(fix);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN, ACK, NULL, 0);
	post_write(fix);
	post_write(fix);
	ornic_th_inject(&fix->a, &nak, &bitmap, sizeof(bitmap));
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_RX_MALFORMED),
			1);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_SEQ_NAK_RCVD),
			0);
	ornic_th_inject(&fix->a, &nak, NULL, 0);
	KUNIT_EXPECT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, nak.psn);
	ornic_fix_drain(fix);
}

#define SENT 6000

/* What a NAK of 4 KiB says costs some time: one packet brings a part of it. */
static void naks_bring_so_much(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC,
					.sq_log_depth = 7 };
	u8 *bitmap = kunit_kzalloc(test, ORNIC_SACK_MAX, GFP_KERNEL);
	struct ornic_fixture *fix = test->priv;
	struct ornic_txinfo nak = {
		.opcode = ORNIC_OP_ACK,
		.psn = PSN,
		.syndrome = ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ,
		.selective = ORNIC_BTH_SELECTIVE,
	};
	struct ornic_sq *sq;
	struct ornic_cqe cqe;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, bitmap);
	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.timeout = 20;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	sq = &ornic_fix_qp(&fix->a)->sq;
	while (sq->gaps.size < SENT)
		ornic_gaps_grow(ornic_fix_qp(&fix->a));
	sq->window = SENT;
	for (i = 0; i < SENT / 60; i++) {
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0,
			       0, 60 * 1024);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 60);
	}
	memset(bitmap, 0xff, ORNIC_SACK_MAX);
	ornic_th_inject(&fix->a, &nak, bitmap, ORNIC_SACK_MAX);
	KUNIT_EXPECT_GE(test, sq->gaps.ngot, SENT / 2);
	KUNIT_EXPECT_LE(test, sq->gaps.ngot, SENT - SENT / 5);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	ornic_th_inject(&fix->a, &nak, bitmap, ORNIC_SACK_MAX);
	KUNIT_EXPECT_EQ(test, sq->gaps.ngot, SENT - 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + SENT - 1, ACK, NULL, 0);
	for (i = 0; i < SENT / 60; i++)
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
}

/*
 * Requests that are not expected, and responses to what is not outstanding, are no sign of
 * life: a peer that is dead is found dead in time.
 */
static void stray_packets_save_no_retry(struct kunit *test)
{
	static const s32 stray[] = { -1, -1000, 1, 600, 1 << 17, 1 << 22 };
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_th *th = fix->pair.a;
	struct ornic_cqe cqe;
	u32 i, k;

	post_write(fix);
	for (i = 0; i < 100 && !ornic_th_poll(&fix->ascq, &cqe); i++) {
		for (k = 0; k < ARRAY_SIZE(stray); k++) {
			send_only(fix, stray[k], 0, 8);
			ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + stray[k],
					  ACK, NULL, 0);
		}
		ornic_fix_drain(fix);
		th->now = max_t(u64, th->now, ornic_th_deadline(th));
		ornic_th_expire(th);
		ornic_fix_drain(fix);
	}
	KUNIT_EXPECT_EQ(test, cqe.status, ORNIC_CQE_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(th->eng, ORNIC_STAT_TIMEOUTS),
			fix->a.conn.retry_cnt + 1);
}

/* ---- Peers that share memory ---------------------------------------------------------- */

/* The slot of the peer that has the address number @i, on the device of @qp. */
static u64 slot_of(struct kunit *test, struct ornic_th_qp *qp, u32 i)
{
	KUNIT_EXPECT_EQ(test, ornic_th_to(qp, ORNIC_QPS_RESET), 0);
	ornic_th_av(&qp->conn.av, 9, ORNIC_TH_IPV4);
	qp->conn.av.dgid[13] ^= (u8)(i >> 16);
	qp->conn.av.dgid[14] ^= (u8)(i >> 8);
	qp->conn.av.dgid[15] = (u8)i;
	KUNIT_EXPECT_EQ(test, ornic_th_to(qp, ORNIC_QPS_INIT), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_to(qp, ORNIC_QPS_RTR), 0);
	return ornic_fix_qp(qp)->peer >> (64 - ORNIC_PEER_SEEN_LOG);
}

/*
 * What peers have taken of a device's memory, and which was alive last, is known by a slot.
 * Addresses that share one on a device do not on another: a key decides, which none has.
 */
static void slots_are_secret(struct kunit *test)
{
	struct ornic_fixture *fix =
		ornic_suite_open(test, ORNIC_FIX_WIRE, ORNIC_QPT_RC);
	u64 victim_a = slot_of(test, &fix->a, 0);
	u64 victim_b = slot_of(test, &fix->b, 0);
	u32 i, on_a = 0, on_both = 0;

	for (i = 1; i < 5000; i++) {
		if (slot_of(test, &fix->a, i) != victim_a)
			continue;
		on_a++;
		on_both += slot_of(test, &fix->b, i) == victim_b;
	}
	KUNIT_EXPECT_GT(test, on_a, 4);
	KUNIT_EXPECT_LT(test, on_both, on_a / 2);
}

/* The vector of SipHash-2-4 for 16 bytes, by its authors. */
static void hash_is_siphash(struct kunit *test)
{
	const ornic_hash_key_t key = { { 0x0706050403020100ull,
					 0x0f0e0d0c0b0a0908ull } };

	KUNIT_EXPECT_EQ(test,
			ornic_hash128(0x0706050403020100ull,
				      0x0f0e0d0c0b0a0908ull, &key),
			0x3f2acc7f57c29bdbull);
}

static struct kunit_case hostile_cases[] = {
	KUNIT_CASE_PARAM(kept_is_freed_in_pieces, drop_gen_params),
	KUNIT_CASE(kept_goes_with_the_qp),
	KUNIT_CASE(stray_requests_bring_no_nak),
	KUNIT_CASE(standard_peer_names_nothing),
	KUNIT_CASE(naks_bring_so_much),
	KUNIT_CASE(stray_packets_save_no_retry),
	KUNIT_CASE(slots_are_secret),
	KUNIT_CASE(hash_is_siphash),
	{}
};

static struct kunit_suite hostile_suite = {
	.name = "ornic_hostile",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = hostile_cases,
};

kunit_test_suite(hostile_suite);

MODULE_DESCRIPTION("ornic: hostile peers suite");
MODULE_LICENSE("Dual BSD/GPL");
