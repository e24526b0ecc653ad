// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* How a responder tells whether it answers what was sent first, or a copy. */
#include "engine/proto.h"
#include "suite_fixture.h"

#define PSN ORNIC_FIX_PSN
#define MS 1000000ull
#define FIRST ORNIC_BTH_SELECTIVE
#define COPY (ORNIC_BTH_SELECTIVE | ORNIC_BTH_AGAIN)

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
