// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Times of probes and resends: how they follow the RTT, also of what was sent twice, and how
 * a responder tells which of the two it answers.
 */
#include "engine/proto.h"
#include "suite_fixture.h"

#define PSN ORNIC_FIX_PSN
#define US 1000ull
#define MS 1000000ull
#define MTU 1024u
#define ACK 0x1f /* credits: none */
#define FIRST ORNIC_BTH_SELECTIVE
#define COPY (ORNIC_BTH_SELECTIVE | ORNIC_BTH_AGAIN)

/* ---- The requester, retry.c ----------------------------------------------------- */

static struct ornic_sq *sq_of(struct ornic_fixture *fix)
{
	return &ornic_fix_qp(&fix->a)->sq;
}

static void write_packets(struct kunit *test, struct ornic_fixture *fix, u32 n)
{
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       n * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), n);
}

/* After @ns an ACK of packet @n comes, with these bits of the BTH. */
static void ack_after(struct ornic_fixture *fix, u64 ns, u32 n, u8 bits)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_ACK,
		.psn = ornic_psn_add(PSN, n),
		.syndrome = ACK,
		.selective = bits,
	};

	fix->pair.a->now += ns;
	ornic_th_inject(&fix->a, &info, NULL, 0);
	ornic_th_run(fix->pair.a);
}

/* After @ns, and not before, packet @n goes again, and nothing else. */
static void expect_resend(struct kunit *test, struct ornic_fixture *fix, u64 ns,
			  u32 n)
{
	KUNIT_ASSERT_TRUE(test, ornic_fix_sends_in(fix, ns));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, n));
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/* The ACK timeout is 67 ms. */
static struct ornic_fixture *open_unknown(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.timeout = 14;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	return fix;
}

/* A peer with an RTT of 20 us; packet 0 was sent. */
static struct ornic_fixture *open_timed(struct kunit *test, u8 bits)
{
	struct ornic_fixture *fix = open_unknown(test);

	write_packets(test, fix, 1);
	ack_after(fix, 20 * US, 0, bits);
	KUNIT_ASSERT_EQ(test, sq_of(fix)->rtt.smooth, 20 * US);
	return fix;
}

/* RFC 6298, 5.5 to 5.7. An ACK of what was sent twice is no sample. */
static void times_stay_doubled_until_a_sample(struct kunit *test)
{
	struct ornic_fixture *fix = open_timed(test, FIRST);
	u32 i;

	for (i = 0; i < 4; i++) {
		write_packets(test, fix, 2);
		expect_resend(test, fix, 150 * US << i, 2 * i + 2);
		ack_after(fix, 20 * US, 2 * i + 1, FIRST);
		ack_after(fix, US, 2 * i + 2, COPY);
		KUNIT_EXPECT_EQ(test, sq_of(fix)->rtt.smooth, 20 * US);
	}
	write_packets(test, fix, 1);
	ack_after(fix, 20 * US, 9, FIRST);
	write_packets(test, fix, 1);
	expect_resend(test, fix, 150 * US, 10);
}

/* What its ACK is for is not known, so of two doublings one stays. */
static void standard_peer_takes_one_back(struct kunit *test)
{
	struct ornic_fixture *fix = open_timed(test, 0);

	write_packets(test, fix, 1);
	expect_resend(test, fix, 150 * US, 1);
	expect_resend(test, fix, MS, 1);
	ack_after(fix, 20 * US, 1, 0);
	write_packets(test, fix, 1);
	expect_resend(test, fix, 300 * US, 2);
}

/* Before the first sample each of these comes so long after the packet, in ms. */
static const u32 first_probes[] = { 4, 4, 16, 32 };

/* Then a probe is no sign yet. */
static void first_probe_doubles_nothing(struct kunit *test)
{
	struct ornic_fixture *fix = open_unknown(test);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(first_probes); i++) {
		write_packets(test, fix, 2);
		expect_resend(test, fix, first_probes[i] * MS, 2 * i + 1);
		ack_after(fix, 20 * US, 2 * i, FIRST);
		ack_after(fix, US, 2 * i + 1, COPY);
		KUNIT_EXPECT_EQ(test, sq_of(fix)->rtt.smooth, 0);
	}
}

/* The first response is for the copy: there is none of what was sent before. */
static void copy_that_was_needed_doubles_nothing(struct kunit *test)
{
	struct ornic_fixture *fix = open_timed(test, FIRST);
	u32 i;

	for (i = 0; i < 4; i++) {
		write_packets(test, fix, 1);
		expect_resend(test, fix, 150 * US, i + 1);
		ack_after(fix, 20 * US, i + 1, COPY);
		KUNIT_EXPECT_EQ(test, sq_of(fix)->rtt.smooth, 20 * US);
		KUNIT_EXPECT_FALSE(test, sq_of(fix)->rtt.early);
	}
}

/*
 * A queue of others has made the RTT 17 ms. Each packet would go again several times
 * before its ACK can be here, if its RTT did not count.
 */
static void first_packet_is_timed(struct kunit *test)
{
	struct ornic_fixture *fix = open_timed(test, FIRST);
	struct ornic_sq *sq = sq_of(fix);

	write_packets(test, fix, 1);
	expect_resend(test, fix, 150 * US, 1);
	expect_resend(test, fix, 400 * US, 1);
	expect_resend(test, fix, 800 * US, 1);
	KUNIT_EXPECT_EQ(test, sq->rtt.backoff, 3);
	ack_after(fix, 17 * MS - 1350 * US, 1, FIRST);
	KUNIT_EXPECT_EQ(test, sq->rtt.smooth, 17500ull + 17 * MS / 8);
	KUNIT_EXPECT_TRUE(test, sq->rtt.early);
	KUNIT_EXPECT_EQ(test, sq->rtt.backoff, 0);
	write_packets(test, fix, 1);
	fix->pair.a->now += 17 * MS;
	ornic_th_expire(fix->pair.a);
	ornic_th_run(fix->pair.a);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

static const struct ambiguous_row {
	const char *desc;
	u32 acked;
	u8 bits;
} ambiguous_rows[] = {
	{ "of the copy", 3, COPY },
	{ "of an earlier packet", 2, FIRST },
	{ "of a standard peer", 3, 0 },
};

KUNIT_ARRAY_PARAM_DESC(ambiguous, ambiguous_rows, desc);

/* Packet 3 is timed, and has gone again: what is no response to it is no sample. */
static void ambiguous_acks_are_no_samples(struct kunit *test)
{
	const struct ambiguous_row *row = test->param_value;
	struct ornic_fixture *fix = open_timed(test, FIRST);

	write_packets(test, fix, 3);
	expect_resend(test, fix, 150 * US, 3);
	ack_after(fix, 17 * MS, row->acked, row->bits);
	ack_after(fix, US, 3, COPY);
	KUNIT_EXPECT_EQ(test, sq_of(fix)->rtt.smooth, 20 * US);
}

/*
 * While something is missing the time to a probe follows the least RTT, as the queue
 * of ours is short then. That of others is not, as timers that are early show.
 */
static void early_timers_follow_the_rtt(struct kunit *test)
{
	struct ornic_fixture *fix = open_timed(test, FIRST);
	struct ornic_sq *sq = sq_of(fix);

	sq->rtt.smooth = 10 * MS;
	sq->rtt.var = 0;
	sq->gaps.used = true;
	write_packets(test, fix, 1);
	expect_resend(test, fix, 400 * US, 1);
	ack_after(fix, 10 * MS - 400 * US, 1, FIRST);
	KUNIT_EXPECT_TRUE(test, sq->rtt.early);
	sq->rtt.var = 0;
	sq->gaps.used = true;
	write_packets(test, fix, 1);
	fix->pair.a->now += 18 * MS;
	ornic_th_expire(fix->pair.a);
	ornic_th_run(fix->pair.a);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/* ---- The responder, resp_tx.c --------------------------------------------------- */

/* Packet @n of the peer, a WRITE of 10 bytes. */
static void request(struct ornic_fixture *fix, u32 n, u8 bits)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_WRITE_ONLY,
		.psn = ornic_psn_add(PSN, n),
		.ack_req = true,
		.selective = bits,
		.va = fix->am.iova,
		.rkey = fix->am.key,
		.dma_len = 10,
	};

	ornic_th_inject(&fix->a, &info, fix->buf, 10);
	ornic_th_run(fix->pair.a);
}

static void expect_bits(struct kunit *test, struct ornic_fixture *fix, u32 n,
			u8 bits)
{
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, n));
	KUNIT_EXPECT_EQ(test, fix->pkt.selective, bits);
}

static void acks_tell_what_they_answer(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);

	/* That it is selective shows in what follows. */
	request(fix, 0, FIRST);
	expect_bits(test, fix, 0, FIRST);
	request(fix, 1, COPY);
	expect_bits(test, fix, 1, COPY);
	request(fix, 2, FIRST);
	expect_bits(test, fix, 2, FIRST);
	request(fix, 2, COPY);
	expect_bits(test, fix, 2, COPY);
	/* A sequence NAK. */
	request(fix, 4, COPY);
	expect_bits(test, fix, 3, COPY);
	request(fix, 3, FIRST);
	ornic_fix_drain(fix);
	request(fix, 5, 0);
	expect_bits(test, fix, 5, 0);
	request(fix, 5, 0);
	expect_bits(test, fix, 5, 0);
}

static const struct both_row {
	const char *desc;
	u8 one, other, ack;
} both_rows[] = {
	{ "first, copy", FIRST, COPY, FIRST },
	{ "copy, first", COPY, FIRST, FIRST },
	{ "copies", COPY, COPY, COPY },
};

KUNIT_ARRAY_PARAM_DESC(both, both_rows, desc);

/* An ACK that had to wait is for all that came until then. */
static void late_ack_is_for_all(struct kunit *test)
{
	const struct both_row *row = test->param_value;
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_th *th = fix->pair.a;

	request(fix, 0, FIRST);
	ornic_fix_drain(fix);
	th->xmit_fail = 1;
	request(fix, 1, row->one);
	request(fix, 2, row->other);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	th->now += MS;
	ornic_th_expire(th);
	ornic_th_run(th);
	expect_bits(test, fix, 2, row->ack);
}

static void fetch(struct ornic_fixture *fix, u8 opcode, u32 n, u8 bits)
{
	struct ornic_txinfo info = {
		.opcode = opcode,
		.psn = ornic_psn_add(PSN, n),
		.ack_req = true,
		.selective = bits,
		.va = ALIGN(fix->am.iova, 8),
		.rkey = fix->am.key,
		.dma_len = 8,
	};

	ornic_th_inject(&fix->a, &info, NULL, 0);
	ornic_th_run(fix->pair.a);
}

static const u8 fetches[] = { ORNIC_OP_READ_REQUEST, ORNIC_OP_FAA };

/* Of the request that it is for, not of the newest one. */
static void responses_tell_what_they_answer(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(fetches); i++) {
		n = 4 * i;
		request(fix, n, FIRST);
		ornic_fix_drain(fix);
		fix->pair.a->xmit_fail = 1;
		fetch(fix, fetches[i], n + 1, FIRST);
		fetch(fix, fetches[i], n + 2, COPY);
		fix->pair.a->now += MS;
		ornic_th_expire(fix->pair.a);
		ornic_th_run(fix->pair.a);
		expect_bits(test, fix, n + 1, FIRST);
		expect_bits(test, fix, n + 2, COPY);
		fetch(fix, fetches[i], n + 1, COPY);
		expect_bits(test, fix, n + 1, COPY);
		fetch(fix, fetches[i], n + 3, 0);
		ornic_fix_drain(fix);
		fetch(fix, fetches[i], n + 3, 0);
		expect_bits(test, fix, n + 3, 0);
	}
}

static struct kunit_case retry_cases[] = {
	KUNIT_CASE(times_stay_doubled_until_a_sample),
	KUNIT_CASE(standard_peer_takes_one_back),
	KUNIT_CASE(first_probe_doubles_nothing),
	KUNIT_CASE(copy_that_was_needed_doubles_nothing),
	KUNIT_CASE(first_packet_is_timed),
	KUNIT_CASE_PARAM(ambiguous_acks_are_no_samples, ambiguous_gen_params),
	KUNIT_CASE(early_timers_follow_the_rtt),
	KUNIT_CASE(acks_tell_what_they_answer),
	KUNIT_CASE_PARAM(late_ack_is_for_all, both_gen_params),
	KUNIT_CASE(responses_tell_what_they_answer),
	{}
};

static struct kunit_suite retry_suite = {
	.name = "ornic_retry",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = retry_cases,
};

kunit_test_suite(retry_suite);

MODULE_DESCRIPTION("ornic: suite of times to resends");
MODULE_LICENSE("Dual BSD/GPL");
