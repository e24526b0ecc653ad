// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets that were overtaken: what ends that repeat selectively learn of them (late.h);
 * and what a responder had no room to keep.
 */
#include "engine/proto.h"
#include "suite_fixture.h"

#define PSN ORNIC_FIX_PSN
#define MTU 1024u
#define ACK 0x1f /* credits: none */
#define SEQ_NAK (ORNIC_AETH_NAK | ORNIC_NAK_PSN_SEQ)
#define NONE 0xff
#define US 1000ull
#define SELECTIVE ORNIC_BTH_SELECTIVE
#define COPY (ORNIC_BTH_SELECTIVE | ORNIC_BTH_AGAIN)

static struct ornic_fixture *open_lone(struct kunit *test)
{
	return ornic_suite_open_lone(test, ORNIC_QPT_RC);
}

static struct ornic_late *late_requests(struct ornic_fixture *fix)
{
	return &ornic_fix_qp(&fix->a)->rq.ahead.late;
}

static struct ornic_late *late_responses(struct ornic_fixture *fix)
{
	return &ornic_fix_qp(&fix->a)->sq.gaps.late;
}

/* Request @n of the peer, with no payload. */
static void request_of(struct ornic_fixture *fix, u8 opcode, u32 n,
		       u8 selective)
{
	struct ornic_txinfo info = {
		.opcode = opcode,
		.psn = ornic_psn_add(PSN, n),
		.selective = selective,
		.ack_req = true,
	};

	ornic_th_inject(&fix->a, &info, NULL, 0);
	ornic_th_run(fix->pair.a);
}

static void request(struct ornic_fixture *fix, u32 n, u8 selective)
{
	request_of(fix, ORNIC_OP_WRITE_ONLY, n, selective);
}

/* Packet @n of a READ, at its end or not. */
static void response(struct ornic_fixture *fix, u32 n, bool end, u8 selective)
{
	struct ornic_txinfo info = {
		.opcode = end ? ORNIC_OP_READ_RESP_LAST :
				ORNIC_OP_READ_RESP_MIDDLE,
		.psn = ornic_psn_add(PSN, n),
		.syndrome = ACK,
		.selective = selective,
	};

	ornic_th_inject(&fix->a, &info, fix->buf, MTU);
	ornic_th_run(fix->pair.a);
}

/* A READ of @npkts packets is under way. */
static struct ornic_fixture *open_reader(struct kunit *test, u32 npkts)
{
	struct ornic_fixture *fix = open_lone(test);

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0,
		       npkts * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	return fix;
}

/* ---- What is learned --------------------------------------------------------------- */

static const struct law_row {
	const char *desc;
	u64 before, took, after; /* ns */
	u8 selective;
} law_rows[] = {
	{ "late", 0, 200 * US, 250 * US, SELECTIVE },
	{ "late, and not asked for", 400 * US, 360 * US, 450 * US, SELECTIVE },
	{ "not as late as others", 400 * US, 100 * US, 400 * US, SELECTIVE },
	{ "later than any is waited for", 0, 19000 * US, 20000 * US,
	  SELECTIVE },
	{ "as late as is worth a timer", 0, 800, 1000, SELECTIVE },
	{ "less than that", 0, 799, 0, SELECTIVE },
	{ "lost", 0, 200 * US, 0, COPY },
	{ "a copy that was not asked for", 400 * US, 360 * US, 400 * US, COPY },
	{ "of a standard peer", 0, 200 * US, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(law, law_rows, desc);

/* A request that another one has overtaken comes, or a copy of it. */
static void late_requests_teach(struct kunit *test)
{
	const struct law_row *row = test->param_value;
	struct ornic_fixture *fix = open_lone(test);

	late_requests(fix)->ns = row->before;
	request(fix, 1, row->selective);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), !row->before);
	fix->pair.a->now += row->took;
	request(fix, 0, row->selective);
	KUNIT_EXPECT_EQ(test, late_requests(fix)->ns, row->after);
	ornic_fix_drain(fix);
}

/* Likewise a response. */
static void late_responses_teach(struct kunit *test)
{
	const struct law_row *row = test->param_value;
	struct ornic_fixture *fix = open_reader(test, 2);
	struct ornic_cqe cqe;

	late_responses(fix)->ns = row->before;
	response(fix, 1, true, row->selective);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), !row->before);
	fix->pair.a->now += row->took;
	response(fix, 0, false, row->selective);
	KUNIT_EXPECT_EQ(test, late_responses(fix)->ns, row->after);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
}

/* The NAK for the next gap waits as long as that. */
static void late_request_delays_the_next_nak(struct kunit *test)
{
	struct ornic_fixture *fix = open_lone(test);
	struct ornic_th *th = fix->pair.a;

	request(fix, 1, SELECTIVE);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), SEQ_NAK);
	th->now += 200 * US;
	request(fix, 0, SELECTIVE);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	request(fix, 3, SELECTIVE);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NONE);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sends_in(fix, 250 * US));
	KUNIT_EXPECT_EQ(test, fix->pkt.syndrome, SEQ_NAK);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 2));
}

/* The NAK names the first of a gap; each of the others teaches as well. */
static void late_requests_teach_each(struct kunit *test)
{
	struct ornic_fixture *fix = open_lone(test);
	struct ornic_th *th = fix->pair.a;

	request(fix, 3, SELECTIVE);
	th->now += 100 * US;
	request(fix, 0, COPY);
	KUNIT_EXPECT_EQ(test, late_requests(fix)->ns, 0);
	request(fix, 1, SELECTIVE);
	KUNIT_EXPECT_EQ(test, late_requests(fix)->ns, 125 * US);
	th->now += 100 * US;
	request(fix, 2, SELECTIVE);
	KUNIT_EXPECT_EQ(test, late_requests(fix)->ns, 250 * US);
	ornic_fix_drain(fix);
}

/* What has come before, or nothing has overtaken, is not late. */
static void late_requests_are_expected(struct kunit *test)
{
	struct ornic_fixture *fix = open_lone(test);
	struct ornic_th *th = fix->pair.a;

	request(fix, 0, SELECTIVE);
	request(fix, 2, SELECTIVE);
	th->now += 100 * US;
	request(fix, 0, SELECTIVE);
	request(fix, 2, SELECTIVE);
	request(fix, 3, SELECTIVE);
	KUNIT_EXPECT_EQ(test, late_requests(fix)->ns, 0);
	ornic_fix_drain(fix);
}

/* Of a READ what comes before its end is missed when that has come. */
static void late_responses_are_due(struct kunit *test)
{
	struct ornic_fixture *fix = open_reader(test, 6);
	struct ornic_th *th = fix->pair.a;

	response(fix, 1, false, SELECTIVE);
	th->now += 100 * US;
	response(fix, 0, false, SELECTIVE);
	response(fix, 3, false, SELECTIVE);
	th->now += 100 * US;
	response(fix, 5, true, SELECTIVE);
	th->now += 100 * US;
	response(fix, 3, false, SELECTIVE);
	KUNIT_EXPECT_EQ(test, late_responses(fix)->ns, 0);
	response(fix, 2, false, SELECTIVE);
	KUNIT_EXPECT_EQ(test, late_responses(fix)->ns, 125 * US);
	th->now += 100 * US;
	response(fix, 4, false, SELECTIVE);
	KUNIT_EXPECT_EQ(test, late_responses(fix)->ns, 250 * US);
	ornic_fix_drain(fix);
}

/* A second copy is no sign either, as one of a standard peer's is. */
static void late_copies_of_responses(struct kunit *test)
{
	struct ornic_fixture *fix = open_reader(test, 2);

	response(fix, 1, true, SELECTIVE);
	fix->pair.a->now += 200 * US;
	response(fix, 0, false, COPY);
	response(fix, 0, false, COPY);
	KUNIT_EXPECT_EQ(test, late_responses(fix)->ns, 0);
	ornic_fix_drain(fix);
}

/* ---- What a NAK names -------------------------------------------------------------- */

static bool is_named(const struct ornic_fixture *fix, u32 n)
{
	u8 byte = 0;

	/* Bit 0 is that of the PSN after the one of the NAK, which is PSN. */
	if ((n - 1) / 8 < fix->pkt.payload_len)
		ornic_pkt_copy_payload(&fix->pkt, (n - 1) / 8, &byte, 1);
	return byte >> (n - 1) % 8 & 1;
}

/* Every fifth is missing: the NAK that is next names those up to @last that are kept. */
static void expect_named(struct kunit *test, struct ornic_fixture *fix,
			 u32 last)
{
	u32 n;

	KUNIT_ASSERT_EQ(test, ornic_fix_syndrome(fix), SEQ_NAK);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, PSN);
	KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, DIV_ROUND_UP(last, 32) * 4);
	for (n = 1; n <= 8 * fix->pkt.payload_len; n++)
		KUNIT_EXPECT_EQ(test, is_named(fix, n), n % 5 && n <= last);
}

/* A NAK of a path that nothing was learned of names all, if most of it is kept. */
static void late_nak_names_all(struct kunit *test)
{
	struct ornic_fixture *fix = open_lone(test);
	u32 n;

	for (n = 1; n < 200; n++)
		if (n % 5)
			request(fix, n, SELECTIVE);
	expect_named(test, fix, 1);
	fix->pair.a->now += 100 * US;
	request(fix, 201, SELECTIVE);
	expect_named(test, fix, 201);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/* If most is missing, one of a new path ends with the first gap. A copy shows losses. */
static void late_nak_ends_with_the_first_gap(struct kunit *test)
{
	struct ornic_fixture *fix = open_lone(test);
	u32 n;

	request(fix, 0, SELECTIVE);
	ornic_fix_drain(fix);
	for (n = 4; n < 64; n += 3)
		request(fix, n, SELECTIVE);
	KUNIT_ASSERT_EQ(test, ornic_fix_syndrome(fix), SEQ_NAK);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 1));
	fix->pair.a->now += 100 * US;
	request(fix, 66, SELECTIVE);
	KUNIT_ASSERT_EQ(test, ornic_fix_syndrome(fix), SEQ_NAK);
	KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, 4);
	KUNIT_EXPECT_TRUE(test, is_named(fix, 3));
	KUNIT_EXPECT_FALSE(test, is_named(fix, 6));
	request(fix, 1, COPY);
	request(fix, 2, COPY);
	ornic_fix_drain(fix);
	request(fix, 3, COPY);
	KUNIT_ASSERT_EQ(test, ornic_fix_syndrome(fix), SEQ_NAK);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 5));
	KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, 8);
	KUNIT_EXPECT_TRUE(test, is_named(fix, 61));
}

/* What is kept, but may have overtaken others by less than they may be late. */
static void late_nak_ends_with_what_is_overdue(struct kunit *test)
{
	struct ornic_fixture *fix = open_lone(test);

	late_requests(fix)->ns = 400 * US;
	request(fix, 1, SELECTIVE);
	fix->pair.a->now += 100 * US;
	request(fix, 3, SELECTIVE);
	request(fix, 4, SELECTIVE);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sends_in(fix, 300 * US));
	KUNIT_EXPECT_EQ(test, fix->pkt.syndrome, SEQ_NAK);
	KUNIT_EXPECT_TRUE(test, is_named(fix, 1));
	KUNIT_EXPECT_FALSE(test, is_named(fix, 3));
	KUNIT_EXPECT_FALSE(test, is_named(fix, 4));
}

/* ---- What there was no room for ---------------------------------------------------- */

static const struct full_row {
	const char *desc;
	u32 first; /* so many have been executed before */
	u8 selective;
} full_rows[] = {
	/* A block of places begins two after PSN. */
	{ "no room for its place", 0, SELECTIVE },
	{ "no room for itself", 4, SELECTIVE },
	{ "a standard peer", 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(full, full_rows, desc);

/* What the device has taken: @room bytes of spare memory are left, or all of it. */
static void set_room(struct ornic_fixture *fix, u32 room)
{
	struct ornic_dev *dev = &fix->pair.a->eng->dev;

	ornic_atomic_set(&dev->spare,
			 ornic_atomic_read(&ornic_fix_qp(&fix->a)->spare) +
				 (room ? (int)(dev->spare_limit - room) : 0));
}

/* Request @first is missing, the next one is kept, and for @refused there is no room. */
static struct ornic_fixture *open_full(struct kunit *test, u32 first,
				       u32 refused, u8 selective)
{
	struct ornic_fixture *fix = open_lone(test);
	u32 n;

	for (n = 0; n < first; n++)
		request(fix, n, selective);
	request(fix, first + 1, selective);
	ornic_fix_drain(fix);
	set_room(fix, 100);
	request(fix, refused, selective);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NONE);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->rq.ahead.n, 1);
	return fix;
}

/* Is a NAK for request @n among what is sent? It names nothing. */
static bool is_naked(struct kunit *test, struct ornic_fixture *fix, u32 n)
{
	bool naked = false;
	u8 syndrome;

	while ((syndrome = ornic_fix_syndrome(fix)) != NONE) {
		if (syndrome != SEQ_NAK)
			continue;
		naked = true;
		KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, n));
		KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, 0);
	}
	return naked;
}

/*
 * The gap is filled, and nothing shows that a later one was dropped: the peer is told,
 * once, if it does not go back by itself.
 */
static void late_refused_is_asked_for(struct kunit *test)
{
	const struct full_row *row = test->param_value;
	u32 n = row->first;
	struct ornic_fixture *fix = open_full(test, n, n + 2, row->selective);

	request(fix, n, row->selective);
	KUNIT_EXPECT_EQ(test, is_naked(test, fix, n + 2), !!row->selective);
	request(fix, n + 3, row->selective);
	KUNIT_EXPECT_EQ(test, is_naked(test, fix, n + 2), !row->selective);
	set_room(fix, 0);
	request(fix, n + 2, row->selective);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
}

/* The peer goes back for that NAK: another gap before what was refused is one. */
static void late_refused_is_asked_for_once(struct kunit *test)
{
	struct ornic_fixture *fix = open_full(test, 0, 5, SELECTIVE);

	request(fix, 0, SELECTIVE);
	KUNIT_EXPECT_TRUE(test, is_naked(test, fix, 2));
	set_room(fix, 0);
	request(fix, 2, COPY);
	request(fix, 4, COPY);
	ornic_fix_drain(fix);
	request(fix, 3, COPY);
	KUNIT_EXPECT_FALSE(test, is_naked(test, fix, 5));
}

/* What was refused has come again before the gap is filled. */
static void late_refused_comes_again(struct kunit *test)
{
	struct ornic_fixture *fix = open_full(test, 0, 2, SELECTIVE);

	set_room(fix, 0);
	request(fix, 2, SELECTIVE);
	ornic_fix_drain(fix);
	request(fix, 0, SELECTIVE);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NONE);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->rq.epsn,
			ornic_psn_add(PSN, 3));
}

/* The first of them finds no receive: its RNR NAK says that all comes again. */
static void late_refused_before_an_rnr_nak(struct kunit *test)
{
	struct ornic_fixture *fix = open_full(test, 0, 2, SELECTIVE);

	request_of(fix, ORNIC_OP_SEND_ONLY, 0, SELECTIVE);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix) & ORNIC_AETH_TYPE_MASK,
			ORNIC_AETH_RNR);
	request(fix, 3, SELECTIVE);
	ornic_fix_recv(&fix->a, &fix->am, 0, 0, 64);
	request_of(fix, ORNIC_OP_SEND_ONLY, 0, COPY);
	KUNIT_EXPECT_FALSE(test, is_naked(test, fix, 2));
	set_room(fix, 0);
	ornic_fix_drain(fix);
}

/* If there was room for none, the NAK says that all comes again. */
static void late_all_refused(struct kunit *test)
{
	struct ornic_fixture *fix = open_lone(test);

	request(fix, 0, SELECTIVE);
	ornic_fix_drain(fix);
	set_room(fix, 100);
	request(fix, 2, SELECTIVE);
	KUNIT_EXPECT_TRUE(test, is_naked(test, fix, 1));
	request(fix, 3, SELECTIVE);
	KUNIT_EXPECT_FALSE(test, ornic_fix_qp(&fix->a)->rq.ahead.refused);
	set_room(fix, 0);
}

/* As long as a gap becomes smaller nothing expires. */
static void late_gap_becomes_smaller(struct kunit *test)
{
	struct ornic_fixture *fix = open_lone(test);
	struct ornic_th *th = fix->pair.a;
	u32 n;

	request(fix, 4, SELECTIVE);
	for (n = 0; n < 3; n++) {
		th->now += 900000 * US;
		request(fix, n, COPY);
		ornic_th_expire(th);
		ornic_th_run(th);
		KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->rq.ahead.n, 1);
	}
	th->now += 1000000 * US;
	ornic_th_expire(th);
	ornic_th_run(th);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->rq.ahead.n, 0);
	ornic_fix_drain(fix);
}

static struct kunit_case late_cases[] = {
	KUNIT_CASE_PARAM(late_requests_teach, law_gen_params),
	KUNIT_CASE_PARAM(late_responses_teach, law_gen_params),
	KUNIT_CASE(late_request_delays_the_next_nak),
	KUNIT_CASE(late_requests_teach_each),
	KUNIT_CASE(late_requests_are_expected),
	KUNIT_CASE(late_responses_are_due),
	KUNIT_CASE(late_copies_of_responses),
	KUNIT_CASE(late_nak_names_all),
	KUNIT_CASE(late_nak_ends_with_the_first_gap),
	KUNIT_CASE(late_nak_ends_with_what_is_overdue),
	KUNIT_CASE_PARAM(late_refused_is_asked_for, full_gen_params),
	KUNIT_CASE(late_refused_is_asked_for_once),
	KUNIT_CASE(late_refused_comes_again),
	KUNIT_CASE(late_refused_before_an_rnr_nak),
	KUNIT_CASE(late_all_refused),
	KUNIT_CASE(late_gap_becomes_smaller),
	{}
};

static struct kunit_suite late_suite = {
	.name = "ornic_late",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = late_cases,
};

kunit_test_suite(late_suite);

MODULE_DESCRIPTION("ornic: suite of packets that were overtaken");
MODULE_LICENSE("Dual BSD/GPL");
