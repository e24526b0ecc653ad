// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Rate limits of raw packet QPs: what leaves in a span of time. */
#include <kunit/test.h>

#include "raw_frames.h"
#include "suite_fixture.h"
#include "engine/dev.h"
#include "engine/proto.h"

#define RAW ORNIC_QPT_RAW
#define LEN 1000u
#define MBIT 1000u
#define MS 1000000ull
#define SEC (1000 * MS)
/* As many frames wait at most. */
#define DEPTH 256u

static_assert(ORNIC_TH_FRAME_BYTES > LEN);

static int set_limit(struct ornic_th_qp *qp, u32 kbit, u32 burst)
{
	qp->conn.rate_limit = kbit;
	qp->conn.burst = burst;
	return ornic_th_modify(qp, 0, ORNIC_QPM_RATE_LIMIT);
}

/* QP a in RTS, without a limit. */
static struct ornic_fixture *open_rate(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RAW, .sq_log_depth = 8 };
	struct ornic_fixture *fix = test->priv;
	u8 frame[ORNIC_RF_HEAD];

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_WIRE, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_INIT), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RTR), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RTS), 0);
	ornic_rf_udp(frame, 9, 53, sizeof(frame));
	ornic_th_mr_write(&fix->am, 0, frame, sizeof(frame));
	return fix;
}

static int post(struct ornic_fixture *fix, u32 len)
{
	return ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0,
			      len);
}

/* Fill the SQ with frames of @len bytes. */
static void post_all(struct ornic_fixture *fix, u32 len)
{
	struct ornic_cqe cqe;

	while (ornic_th_poll(&fix->ascq, &cqe))
		;
	while (!post(fix, len))
		;
}

/* Bytes that have left. */
static u64 pull_all(struct ornic_fixture *fix)
{
	struct ornic_th *th = fix->pair.a;
	struct ornic_th_frame *f;
	u64 bytes = 0;

	do {
		while ((f = ornic_th_pull(th))) {
			bytes += f->len;
			ornic_th_put(th, f);
		}
	} while (ornic_th_run(th));
	return bytes;
}

/* Time passes up to @when, with all timers on the way; a late one is @late ns late. */
static u64 sent_until(struct ornic_fixture *fix, u64 when, u64 late)
{
	struct ornic_th *th = fix->pair.a;
	u64 bytes = pull_all(fix), next;

	for (;;) {
		next = ornic_th_deadline(th);
		if (!next || next + late > when)
			break;
		th->now = max_t(u64, th->now, next + late);
		ornic_th_expire(th);
		bytes += pull_all(fix);
	}
	th->now = when;
	return bytes;
}

/* The same with an SQ that is never empty, for @ns. */
static u64 sent_in(struct ornic_fixture *fix, u32 len, u64 ns, u64 late)
{
	u64 end = fix->pair.a->now + ns, bytes = 0, step;

	while (fix->pair.a->now < end) {
		post_all(fix, len);
		step = min_t(u64, end - fix->pair.a->now, ns / 100);
		bytes += sent_until(fix, fix->pair.a->now + step, late);
	}
	return bytes;
}

static const struct rate_row {
	const char *desc;
	u32 kbit, burst, len;
	u64 ns;
	u64 late; /* ns */
} rate_rows[] = {
	{ "1 kbit/s", 1, 1, LEN, 1000 * SEC, 0 },
	{ "5 Mbit/s", 5 * MBIT, 0, LEN, SEC, 0 },
	{ "5 Mbit/s, late timers", 5 * MBIT, 0, LEN, SEC, 5 * MS },
	{ "5 Mbit/s, short frames", 5 * MBIT, 2000, 60, SEC, 0 },
	{ "7 Mbit/s, burst of less than a frame", 7 * MBIT, 1, LEN, SEC, 0 },
	{ "1 Gbit/s", 1000 * MBIT, 0, LEN, 20 * MS, 0 },
	{ "1 Gbit/s, late timers", 1000 * MBIT, 0, LEN, 20 * MS, 200000 },
};

KUNIT_ARRAY_PARAM_DESC(rate, rate_rows, desc);

/* After the first burst, what the rate gives, within 1%. */
static void rate_is_kept(struct kunit *test)
{
	const struct rate_row *row = test->param_value;
	struct ornic_fixture *fix = open_rate(test);
	u64 want = (u64)row->kbit * row->ns / 8000000, got;

	KUNIT_ASSERT_EQ(test, set_limit(&fix->a, row->kbit, row->burst), 0);
	sent_in(fix, row->len, row->ns / 2 + 100 * row->late, row->late);
	got = sent_in(fix, row->len, row->ns, row->late);
	KUNIT_EXPECT_GE(test, got + row->len + want / 100, want);
	KUNIT_EXPECT_LE(test, got, want + row->len + want / 100);
}

/* The highest rate holds nothing for long. */
static void rate_may_be_high(struct kunit *test)
{
	struct ornic_fixture *fix = open_rate(test);
	u64 got;

	KUNIT_ASSERT_EQ(test,
			set_limit(&fix->a, ORNIC_RATE_LIMIT_MAX, UINT_MAX), 0);
	post_all(fix, LEN);
	got = sent_until(fix, fix->pair.a->now, 0);
	KUNIT_EXPECT_EQ(test, got, (u64)DEPTH * LEN);
}

/* Without a limit all leaves at once; with one a burst, and it grows no further. */
static void rate_has_a_burst(struct kunit *test)
{
	struct ornic_fixture *fix = open_rate(test);
	struct ornic_th *th = fix->pair.a;
	u32 i;

	post_all(fix, LEN);
	KUNIT_EXPECT_EQ(test, pull_all(fix), (u64)DEPTH * LEN);
	KUNIT_ASSERT_EQ(test, set_limit(&fix->a, 8 * MBIT, 10 * LEN), 0);
	for (i = 0; i < 3; i++) {
		post_all(fix, LEN);
		KUNIT_EXPECT_EQ(test, pull_all(fix), 10 * LEN);
		/* 1 byte in a us. */
		KUNIT_EXPECT_EQ(test, sent_until(fix, th->now + MS - 1, 0), 0);
		KUNIT_EXPECT_EQ(test, sent_until(fix, th->now + 1, 0), LEN);
		KUNIT_ASSERT_EQ(test, set_limit(&fix->a, 0, 0), 0);
		pull_all(fix);
		KUNIT_ASSERT_EQ(test, set_limit(&fix->a, 8 * MBIT, 10 * LEN),
				0);
		th->now += i * SEC;
	}
	KUNIT_ASSERT_EQ(test, set_limit(&fix->a, 8 * MBIT, 0), 0);
	th->now += SEC;
	post_all(fix, LEN);
	KUNIT_EXPECT_EQ(test, pull_all(fix), ORNIC_RATE_BURST / LEN * LEN);
}

/* Frames that wait go by the new limit, and at once without one. */
static void rate_changes_while_frames_wait(struct kunit *test)
{
	struct ornic_fixture *fix = open_rate(test);
	struct ornic_th *th = fix->pair.a;

	KUNIT_ASSERT_EQ(test, set_limit(&fix->a, 1, LEN), 0);
	post_all(fix, LEN);
	KUNIT_EXPECT_EQ(test, pull_all(fix), LEN);
	KUNIT_EXPECT_EQ(test, sent_until(fix, th->now + SEC, 0), 0);
	KUNIT_ASSERT_EQ(test, set_limit(&fix->a, 8 * MBIT, LEN), 0);
	KUNIT_EXPECT_EQ(test, sent_until(fix, th->now + 10 * MS, 0), 10 * LEN);
	/* A change gives no new burst. */
	KUNIT_ASSERT_EQ(test, set_limit(&fix->a, 80 * MBIT, 64 * LEN), 0);
	KUNIT_EXPECT_EQ(test, pull_all(fix), 0);
	KUNIT_EXPECT_EQ(test, sent_until(fix, th->now + MS, 0), 10 * LEN);
	KUNIT_ASSERT_EQ(test, set_limit(&fix->a, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, pull_all(fix), (u64)(DEPTH - 21) * LEN);
}

/* What the port refuses meanwhile goes again, and is taken from the bucket once. */
static void rate_beside_refusals(struct kunit *test)
{
	struct ornic_fixture *fix = open_rate(test);
	struct ornic_th *th = fix->pair.a;
	u64 got;

	KUNIT_ASSERT_EQ(test, set_limit(&fix->a, 8 * MBIT, LEN), 0);
	post_all(fix, LEN);
	th->xmit_fail = 3;
	got = sent_until(fix, th->now + 20 * MS, 0);
	KUNIT_EXPECT_GE(test, got, 19 * LEN);
	KUNIT_EXPECT_LE(test, got, 21 * LEN);
	/* A new limit does not wake the port. */
	th->xmit_fail = 1;
	KUNIT_ASSERT_EQ(test, set_limit(&fix->a, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, pull_all(fix), 0);
	KUNIT_ASSERT_EQ(test, set_limit(&fix->a, 8 * MBIT, UINT_MAX), 0);
	KUNIT_EXPECT_EQ(test, pull_all(fix), 0);
	KUNIT_EXPECT_GT(test, sent_until(fix, th->now + MS, 0), 0);
}

/* SQD comes when the frame that was begun has left. */
static void rate_and_drain(struct kunit *test)
{
	struct ornic_fixture *fix = open_rate(test);
	struct ornic_rsp_query_qp q;
	struct ornic_th *th = fix->pair.a;

	KUNIT_ASSERT_EQ(test, set_limit(&fix->a, 8 * MBIT, LEN), 0);
	post_all(fix, LEN);
	KUNIT_EXPECT_EQ(test, pull_all(fix), LEN);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_SQD), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_query(&fix->a, &q), 0);
	KUNIT_EXPECT_TRUE(test, q.sq_draining);
	KUNIT_EXPECT_EQ(test, sent_until(fix, th->now + 10 * MS, 0), LEN);
	KUNIT_ASSERT_EQ(test, ornic_th_query(&fix->a, &q), 0);
	KUNIT_EXPECT_FALSE(test, q.sq_draining);
}

/* ERR flushes what waits; RESET forgets the limit. */
static void rate_ends(struct kunit *test)
{
	struct ornic_fixture *fix = open_rate(test);
	struct ornic_rsp_query_qp q;
	struct ornic_th *th = fix->pair.a;
	struct ornic_cqe cqe;
	u32 n = 0;

	KUNIT_ASSERT_EQ(test, set_limit(&fix->a, 1, LEN), 0);
	post_all(fix, LEN);
	KUNIT_EXPECT_EQ(test, pull_all(fix), LEN);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_ERR), 0);
	while (ornic_th_poll(&fix->ascq, &cqe))
		n++;
	KUNIT_EXPECT_EQ(test, n, DEPTH);
	KUNIT_EXPECT_EQ(test, sent_until(fix, th->now + SEC, 0), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_query(&fix->a, &q), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(q.qkey_ece), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(q.rq_psn_rnr), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_INIT), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RTR), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RTS), 0);
	post_all(fix, LEN);
	KUNIT_EXPECT_EQ(test, pull_all(fix), (u64)DEPTH * LEN);
}

/* With RTS and in RTS, and nowhere else; QUERY_QP tells. */
static void rate_in_states(struct kunit *test)
{
	struct ornic_fixture *fix = open_rate(test);
	const u32 mask = ORNIC_QPM_STATE | ORNIC_QPM_RATE_LIMIT;
	struct ornic_rsp_query_qp q;
	u8 state;

	KUNIT_EXPECT_EQ(test, set_limit(&fix->a, ORNIC_RATE_LIMIT_MAX, 5), 0);
	KUNIT_EXPECT_EQ(test, set_limit(&fix->a, ORNIC_RATE_LIMIT_MAX + 1, 0),
			ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, set_limit(&fix->a, UINT_MAX, 0), ORNIC_BAD_PARAM);
	KUNIT_ASSERT_EQ(test, ornic_th_query(&fix->a, &q), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(q.qkey_ece), ORNIC_RATE_LIMIT_MAX);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(q.rq_psn_rnr), 5);
	fix->a.conn.rate_limit = 5000;
	for (state = ORNIC_QPS_RESET; state <= ORNIC_QPS_ERR; state++) {
		if (state == ORNIC_QPS_RTS || state == ORNIC_QPS_SQE)
			continue;
		KUNIT_EXPECT_NE(test, ornic_th_modify(&fix->a, state, mask), 0);
	}
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	for (state = ORNIC_QPS_INIT; state < ORNIC_QPS_RTS; state++) {
		KUNIT_EXPECT_NE(test, set_limit(&fix->a, 5000, 0), 0);
		KUNIT_EXPECT_NE(test, ornic_th_modify(&fix->a, state, mask), 0);
		KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, state), 0);
	}
	KUNIT_EXPECT_EQ(test, ornic_th_modify(&fix->a, ORNIC_QPS_RTS, mask), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_query(&fix->a, &q), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(q.qkey_ece), 5000);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(q.rq_psn_rnr), ORNIC_RATE_BURST);
}

static const struct type_row {
	const char *desc;
	u8 type;
} type_rows[] = {
	{ "RC", ORNIC_QPT_RC },
	{ "UC", ORNIC_QPT_UC },
	{ "UD", ORNIC_QPT_UD },
};

KUNIT_ARRAY_PARAM_DESC(type, type_rows, desc);

static void rate_of_other_types(struct kunit *test)
{
	const struct type_row *row = test->param_value;
	struct ornic_fixture *fix =
		ornic_suite_open(test, ORNIC_FIX_WIRE, row->type);

	KUNIT_EXPECT_EQ(test, set_limit(&fix->a, 5000, 0), ORNIC_BAD_PARAM);
}

static void rate_is_a_capability(struct kunit *test)
{
	struct ornic_fixture *fix = open_rate(test);
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_QUERY_DEVICE;
	ornic_th_cmd(fix->pair.a, &req, &rsp);
	KUNIT_EXPECT_TRUE(test, le64_to_cpu(rsp.query_device.caps) &
					ORNIC_CAP_RATE_LIMIT);
}

static struct kunit_case rate_cases[] = {
	KUNIT_CASE_PARAM(rate_is_kept, rate_gen_params),
	KUNIT_CASE(rate_may_be_high),
	KUNIT_CASE(rate_has_a_burst),
	KUNIT_CASE(rate_changes_while_frames_wait),
	KUNIT_CASE(rate_beside_refusals),
	KUNIT_CASE(rate_and_drain),
	KUNIT_CASE(rate_ends),
	KUNIT_CASE(rate_in_states),
	KUNIT_CASE_PARAM(rate_of_other_types, type_gen_params),
	KUNIT_CASE(rate_is_a_capability),
	{}
};

static struct kunit_suite rate_suite = {
	.name = "ornic_rate",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = rate_cases,
};

kunit_test_suite(rate_suite);

MODULE_DESCRIPTION("ornic: suite of rate limits");
MODULE_LICENSE("Dual BSD/GPL");
