// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests ahead of the expected PSN that a responder keeps in the memory of the host.
 * That has all of it back at the end of each case: see ornic_th_destroy().
 */
#include "engine/kept.h"
#include "suite_fixture.h"

#define MTU 1024u
#define PATTERN 7
#define MANY 700u /* more than are freed at a time */

static u32 kept(struct ornic_fixture *fix)
{
	return ornic_fix_qp(&fix->a)->rq.ahead.n;
}

/* Request number @n, which is kept */
static struct ornic_kept *kept_at(const struct ornic_ahead *ahead, u32 n)
{
	u32 psn = ornic_psn_add(ORNIC_FIX_PSN, n);

	return ahead->block[psn / ORNIC_KEPT_BLOCK % ahead->nblocks]
		.kept[psn % ORNIC_KEPT_BLOCK];
}

/* Bytes that the device has taken for what is out of order. */
static int spare(struct ornic_fixture *fix)
{
	return ornic_atomic_read(&fix->pair.a->eng->dev.spare);
}

/* A connection to a host that lends, and bytes that the peer writes. */
static struct ornic_fixture *open_lender(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	u32 i;

	fix->pair.a->lends = true;
	for (i = 0; i < sizeof(fix->buf); i++)
		fix->buf[i] = ornic_fix_byte(PATTERN, i);
	return fix;
}

/* WRITE number @n of the peer, of @len bytes. */
static void request(struct ornic_fixture *fix, s32 n, u32 len)
{
	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, n, n % 8 * 4096, len, len);
	ornic_fix_drain(fix);
}

/* The host has everything back, and others may have the room. */
static void expect_nothing_kept(struct kunit *test, struct ornic_fixture *fix)
{
	KUNIT_EXPECT_EQ(test, fix->pair.a->lent, 0);
	KUNIT_EXPECT_EQ(test, spare(fix), 0);
}

struct lend_row {
	const char *desc;
	u32 len;
	u32 seg_bytes;
	u32 lend_more;
	u32 nlent; /* so often is it asked for */
	u32 lent; /* ... and so many stay */
	bool copies;
};

static const struct lend_row lend_rows[] = {
	{ .desc = "one piece", .len = MTU, .nlent = 1, .lent = 1 },
	{ .desc = "two pieces",
	  .len = MTU,
	  .seg_bytes = 600,
	  .nlent = 1,
	  .lent = 1 },
	{ .desc = "three pieces",
	  .len = MTU,
	  .seg_bytes = 400,
	  .nlent = 1,
	  .lent = 1 },
	{ .desc = "four pieces are copied", .len = MTU, .seg_bytes = 300 },
	{ .desc = "the shortest", .len = 512, .nlent = 1, .lent = 1 },
	{ .desc = "a shorter one is copied", .len = 511 },
	{ .desc = "some memory beside it",
	  .len = MTU,
	  .lend_more = 1900,
	  .nlent = 1,
	  .lent = 1 },
	{ .desc = "too much memory for it",
	  .len = MTU,
	  .lend_more = 2000,
	  .nlent = 1 },
	{ .desc = "the host lends nothing", .len = MTU, .copies = true },
	{ .desc = "no byte", .len = 0 },
};

KUNIT_ARRAY_PARAM_DESC(lend, lend_rows, desc);

/* Wherever a payload is kept, it is what was sent, and given back once executed. */
static void lend_executes(struct kunit *test)
{
	const struct lend_row *row = test->param_value;
	struct ornic_fixture *fix = open_lender(test);
	struct ornic_th *th = fix->pair.a;

	th->lends = !row->copies;
	th->lend_more = row->lend_more;
	th->seg_bytes = row->seg_bytes;
	request(fix, 1, row->len);
	KUNIT_EXPECT_EQ(test, kept(fix), 1);
	KUNIT_EXPECT_EQ(test, th->nlent, row->nlent);
	KUNIT_EXPECT_EQ(test, th->lent, row->lent);
	KUNIT_EXPECT_GT(test, spare(fix),
			(int)(row->len + row->lent * row->lend_more));
	request(fix, 0, 8);
	KUNIT_EXPECT_EQ(test, kept(fix), 0);
	KUNIT_EXPECT_EQ(
		test, ornic_fix_compare(&fix->am, 4096, row->len, PATTERN), -1);
	expect_nothing_kept(test, fix);
}

/* What comes twice is lent once, and what is expected not at all. */
static void lend_once(struct kunit *test)
{
	struct ornic_fixture *fix = open_lender(test);
	struct ornic_th *th = fix->pair.a;

	request(fix, 0, MTU);
	KUNIT_EXPECT_EQ(test, th->nlent, 0);
	request(fix, 2, MTU);
	request(fix, 2, MTU);
	request(fix, 3, MTU);
	KUNIT_EXPECT_EQ(test, th->nlent, 2);
	KUNIT_EXPECT_EQ(test, th->lent, 2);
	request(fix, 1, MTU);
	expect_nothing_kept(test, fix);
}

/* A SEND that was kept finds no receive. */
static void lend_ends_with_a_refusal(struct kunit *test)
{
	struct ornic_fixture *fix = open_lender(test);

	ornic_fix_request(fix, ORNIC_OP_SEND_ONLY, 1, 0, 0, MTU);
	KUNIT_EXPECT_EQ(test, fix->pair.a->lent, 1);
	request(fix, 0, 8);
	KUNIT_EXPECT_EQ(test, kept(fix), 0);
	expect_nothing_kept(test, fix);
}

/* The peer sends no more. */
static void lend_ends_in_time(struct kunit *test)
{
	struct ornic_fixture *fix = open_lender(test);
	struct ornic_th *th = fix->pair.a;

	request(fix, 1, MTU);
	request(fix, 2, MTU);
	KUNIT_EXPECT_EQ(test, th->lent, 2);
	th->now += 1000 * ORNIC_TH_MS;
	ornic_th_expire(th);
	ornic_th_run(th);
	KUNIT_EXPECT_EQ(test, kept(fix), 0);
	expect_nothing_kept(test, fix);
}

static void lend_many(struct kunit *test, struct ornic_fixture *fix)
{
	u32 n;

	for (n = 1; n <= MANY; n++)
		request(fix, n, 512);
	KUNIT_EXPECT_EQ(test, fix->pair.a->lent, MANY);
}

/* RESET frees some, and runs of the QP the others. */
static void lend_ends_with_reset(struct kunit *test)
{
	struct ornic_fixture *fix = open_lender(test);
	struct ornic_th *th = fix->pair.a;

	lend_many(test, fix);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_EXPECT_GT(test, th->lent, 0);
	while (ornic_th_run(th))
		;
	expect_nothing_kept(test, fix);
}

static void lend_ends_with_the_qp(struct kunit *test)
{
	struct ornic_fixture *fix = open_lender(test);

	lend_many(test, fix);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&fix->a), 0);
	expect_nothing_kept(test, fix);
}

/* When a quarter of the room is in use, what is kept is copied: fragments hold more. */
static void lend_while_there_is_much_room(struct kunit *test)
{
	struct ornic_fixture *fix = open_lender(test);
	struct ornic_dev *dev = &fix->pair.a->eng->dev;
	struct ornic_th *th = fix->pair.a;
	int quarter = (int)dev->spare_limit / 4;

	ornic_atomic_set(&dev->spare, quarter);
	request(fix, 1, MTU);
	KUNIT_EXPECT_EQ(test, kept(fix), 1);
	KUNIT_EXPECT_EQ(test, th->nlent, 0);
	/* The place of the next one takes some. */
	ornic_atomic_set(&dev->spare, quarter - 1024);
	request(fix, 2, MTU);
	KUNIT_EXPECT_EQ(test, kept(fix), 2);
	KUNIT_EXPECT_EQ(test, th->nlent, 1);
	request(fix, 0, 8);
	KUNIT_EXPECT_EQ(test, kept(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 4096, MTU, PATTERN),
			-1);
	ornic_atomic_set(&dev->spare, 0);
}

/* What has no data of its own stays with the QP while anything is kept, and counts. */
static void lend_uses_memory_again(struct kunit *test)
{
	struct ornic_fixture *fix = open_lender(test);
	struct ornic_ahead *ahead = &ornic_fix_qp(&fix->a)->rq.ahead;
	struct ornic_kept *again;
	int before;
	s32 n;

	request(fix, 1, MTU);
	request(fix, 3, MTU);
	before = spare(fix);
	request(fix, 0, MTU);
	KUNIT_EXPECT_EQ(test, kept(fix), 1);
	KUNIT_EXPECT_EQ(test, fix->pair.a->lent, 1);
	KUNIT_EXPECT_EQ(test, ahead->nunused, 1);
	KUNIT_EXPECT_LT(test, spare(fix), before);
	again = ahead->unused;
	request(fix, 4, MTU);
	KUNIT_EXPECT_EQ(test, ahead->nunused, 0);
	KUNIT_EXPECT_PTR_EQ(test, kept_at(ahead, 4), again);
	/* No more than some */
	for (n = 5; n < (s32)MANY; n++)
		request(fix, n, MTU);
	request(fix, MANY + 1, MTU);
	request(fix, 2, MTU);
	while (ornic_th_run(fix->pair.a))
		;
	KUNIT_EXPECT_EQ(test, kept(fix), 1);
	KUNIT_EXPECT_EQ(test, ahead->nunused, 256);
	request(fix, MANY, MTU);
	KUNIT_EXPECT_EQ(test, ahead->nunused, 0);
	expect_nothing_kept(test, fix);
}

static struct kunit_case lend_cases[] = {
	KUNIT_CASE_PARAM(lend_executes, lend_gen_params),
	KUNIT_CASE(lend_once),
	KUNIT_CASE(lend_ends_with_a_refusal),
	KUNIT_CASE(lend_ends_in_time),
	KUNIT_CASE(lend_ends_with_reset),
	KUNIT_CASE(lend_ends_with_the_qp),
	KUNIT_CASE(lend_while_there_is_much_room),
	KUNIT_CASE(lend_uses_memory_again),
	{}
};

static struct kunit_suite lend_suite = {
	.name = "ornic_lend",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = lend_cases,
};

kunit_test_suite(lend_suite);

MODULE_DESCRIPTION("ornic: suite of packets that the engine keeps");
MODULE_LICENSE("Dual BSD/GPL");
