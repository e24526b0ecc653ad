// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Responses of the responder: READ responses, atomics, and what is repeated. */
#include "suite_fixture.h"

#define PSN ORNIC_FIX_PSN
#define ACK 0x1f
#define NAK(n) (ORNIC_AETH_NAK | (n))
#define MTU 1024u

static struct ornic_fixture *open_fix(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1);
	for (i = 0; i < sizeof(fix->buf); i++)
		fix->buf[i] = ornic_fix_byte(2, i);
	return fix;
}

static u32 epsn(struct ornic_fixture *fix)
{
	return ornic_psn_diff(ornic_th_rq_psn(&fix->a), PSN);
}

/* ---- duplicates ------------------------------------------------------------ */

/* IBTA C9-105: a duplicate WRITE is acknowledged and not executed again. */
static void resp_tx_duplicate_write(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);
	struct ornic_engine *eng = fix->pair.a->eng;

	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 0, 0, 100, 100);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	ornic_fix_fill(&fix->am, 0, 100, 3);
	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 0, 0, 100, 100);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	KUNIT_EXPECT_EQ(test, fix->pkt.msn, 1);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 0, 100, 3), -1);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(eng, ORNIC_STAT_DUPLICATES), 1);
}

static void inject_write(struct ornic_fixture *fix, u32 n, bool ack_req)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_WRITE_ONLY,
		.psn = ornic_psn_add(PSN, n),
		.ack_req = ack_req,
		.va = fix->am.iova,
		.rkey = fix->am.key,
		.dma_len = 8,
	};

	ornic_th_inject(&fix->a, &info, fix->buf, 8);
}

/* A window that is sent again costs no ACK for each packet, yet a lost one is. */
static void resp_tx_duplicates_once(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);
	u32 i;

	for (i = 0; i < 64; i++)
		inject_write(fix, i, false);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	for (i = 0; i < 63; i++)
		inject_write(fix, i, false);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	inject_write(fix, 63, false);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 63));
	inject_write(fix, 31, true);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 63));
}

/* Check the responses to a READ of @len at @off: First to Last from PSN @n. */
static void expect_read(struct kunit *test, struct ornic_fixture *fix, u32 n,
			u32 off, u32 len, u32 seed)
{
	u32 npkts = len ? DIV_ROUND_UP(len, MTU) : 1, i, k, f, at;
	struct ornic_frag frag[ORNIC_RX_SEGS];

	for (i = 0; i < npkts; i++) {
		u8 op = npkts == 1     ? ORNIC_OP_READ_RESP_ONLY :
			!i	       ? ORNIC_OP_READ_RESP_FIRST :
			i + 1 == npkts ? ORNIC_OP_READ_RESP_LAST :
					 ORNIC_OP_READ_RESP_MIDDLE;

		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_EQ(test, fix->pkt.opcode, op);
		KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, n + i));
		KUNIT_EXPECT_EQ(test, fix->pkt.payload_len,
				min_t(u32, MTU, len - i * MTU));
		if (op != ORNIC_OP_READ_RESP_MIDDLE)
			KUNIT_EXPECT_EQ(test, fix->pkt.syndrome & 0xe0, 0);
		at = off + i * MTU;
		k = ornic_pkt_payload(&fix->pkt, frag);
		for (f = 0; f < k; f++) {
			u32 b;

			for (b = 0; b < frag[f].len; b++, at++)
				if (((u8 *)frag[f].ptr)[b] !=
				    ornic_fix_byte(seed, at))
					break;
			KUNIT_EXPECT_EQ(test, b, frag[f].len);
		}
	}
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

static const struct rd_row {
	const char *desc;
	u32 length;
	u32 psns;
	u32 from; /* duplicate: first packet asked for again */
	u32 until; /* duplicate: one past the last */
} rd_rows[] = {
	{ "IBTA 9.7.5.1.8: empty READ", 0, 1, 0, 1 },
	{ "IBTA 9.7.5.1.8: one byte", 1, 1, 0, 1 },
	{ "IBTA 9.7.5.1.8: one MTU", MTU, 1, 0, 1 },
	{ "IBTA 9.7.5.1.9: whole duplicate", 3 * MTU + 5, 4, 0, 4 },
	{ "IBTA 9.7.5.1.9: duplicate of the tail", 3 * MTU + 5, 4, 2, 4 },
	{ "IBTA 9.7.5.1.9: duplicate of the last packet", 4 * MTU, 4, 3, 4 },
	{ "IBTA 9.7.5.1.9: duplicate of the middle", 4 * MTU, 4, 1, 3 },
};

KUNIT_ARRAY_PARAM_DESC(rd, rd_rows, desc);

static void resp_tx_read(struct kunit *test)
{
	const struct rd_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test);
	u32 off = row->from * MTU;

	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, row->length, 0);
	expect_read(test, fix, 0, 0, row->length, 1);
	KUNIT_EXPECT_EQ(test, epsn(fix), row->psns);
	/* IBTA C9-105: a duplicate reads the memory as it is now. */
	ornic_fix_fill(&fix->am, 0, 8192, 4);
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, row->from, off,
			  min_t(u32, row->length, row->until * MTU) - off, 0);
	expect_read(test, fix, row->from, off,
		    min_t(u32, row->length, row->until * MTU) - off, 4);
	KUNIT_EXPECT_EQ(test, epsn(fix), row->psns);
}

/* A duplicate READ of memory that has gone is not answered with data. */
static void resp_tx_duplicate_read_is_checked(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);

	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 100, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	KUNIT_ASSERT_EQ(test, ornic_th_mr_fini(&fix->am), 0);
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 100, 0);
	if (ornic_fix_sent(fix))
		KUNIT_EXPECT_EQ(test, fix->pkt.payload_len, 0);
}

static const struct beyond_row {
	const char *name;
	s32 n; /* PSN */
	u32 dma_len;
	u32 npkts; /* of the response */
} beyond_rows[] = {
	{ "all of it", 0, 4 * MTU, 4 },
	{ "the rest", 2, 2 * MTU, 2 },
	{ "more than there was", 0, 5 * MTU, 0 },
	{ "more than the rest", 2, 3 * MTU, 0 },
	{ "more than any message", 0, (1u << 31) + 1, 0 },
	{ "of the WRITE behind it", 4, 8, 0 },
	{ "of the WRITE before it", -1, 8, 0 },
};

KUNIT_ARRAY_PARAM_DESC(beyond, beyond_rows, name);

/* IBTA C9-105: a duplicate READ is of PSNs that a READ had. */
static void resp_tx_duplicate_is_no_new_read(struct kunit *test)
{
	const struct beyond_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test);

	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 0, 8, 8, 8);
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 1, 0, 4 * MTU, 0);
	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 5, 8, 8, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 6);
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 1 + row->n,
			  row->n > 0 ? (u32)row->n * MTU : 0, row->dma_len, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), row->npkts);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	KUNIT_EXPECT_EQ(test, epsn(fix), 6);
}

static u64 word(struct ornic_fixture *fix, u32 off)
{
	u64 v;

	ornic_th_mr_read(&fix->am, off, &v, 8);
	return v;
}

/* IBTA C9-105: a duplicate atomic gets the saved response and runs once. */
static void resp_tx_duplicate_atomic(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);
	u64 old = 7;
	u32 i;

	ornic_th_mr_write(&fix->am, 4, &old, 8);
	ornic_fix_request(fix, ORNIC_OP_FAA, 0, 4, 0, 0);
	ornic_fix_request(fix, ORNIC_OP_FAA, 1, 4, 0, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 2);
	KUNIT_EXPECT_EQ(test, word(fix, 4), 17);
	for (i = 0; i < 2; i++) {
		ornic_fix_request(fix, ORNIC_OP_FAA, i, 4, 0, 0);
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_ATOMIC_ACK);
		KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, i));
		KUNIT_EXPECT_EQ(test, fix->pkt.orig, 7 + 5 * i);
	}
	KUNIT_EXPECT_EQ(test, word(fix, 4), 17);
}

/* A duplicate atomic whose answer is no longer kept is dropped. */
static void resp_tx_forgotten_atomic(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);
	u64 old = 0;
	u32 i;

	ornic_th_mr_write(&fix->am, 4, &old, 8);
	for (i = 0; i < 5; i++)
		ornic_fix_request(fix, ORNIC_OP_FAA, i, 4, 0, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 5);
	ornic_fix_request(fix, ORNIC_OP_FAA, 0, 4, 0, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, word(fix, 4), 25);
}

static const struct cas_row {
	const char *desc;
	u64 before;
	u64 after;
} cas_rows[] = {
	{ "IBTA 9.4.5: equal: swapped", 0, 5 },
	{ "IBTA 9.4.5: different: kept", 6, 6 },
};

KUNIT_ARRAY_PARAM_DESC(cas, cas_rows, desc);

static void resp_tx_cas(struct kunit *test)
{
	const struct cas_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test);

	ornic_th_mr_write(&fix->am, 4, &row->before, 8);
	ornic_fix_request(fix, ORNIC_OP_CAS, 0, 4, 0, 0);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.orig, row->before);
	KUNIT_EXPECT_EQ(test, word(fix, 4), row->after);
}

/* ---- READs that wait for the port ------------------------------------------ */

static void expect_sent(struct kunit *test, struct ornic_fixture *fix,
			u8 opcode)
{
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, opcode);
}

/* ACKs of later requests come behind the READ responses. */
static void resp_tx_ack_behind_read(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);
	struct ornic_th *th = fix->pair.a;

	th->tx_window = 1;
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 2500, 0);
	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 3, 8000, 10, 10);
	expect_sent(test, fix, ORNIC_OP_READ_RESP_FIRST);
	expect_sent(test, fix, ORNIC_OP_READ_RESP_MIDDLE);
	expect_sent(test, fix, ORNIC_OP_READ_RESP_LAST);
	expect_sent(test, fix, ORNIC_OP_ACK);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 3));
}

/* An ACK does not overtake a READ response that the port still has. */
static void resp_tx_ack_waits_for_port(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);
	struct ornic_th *th = fix->pair.a;

	th->tx_window = 1;
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 8, 0);
	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 1, 8000, 10, 10);
	KUNIT_ASSERT_NOT_NULL(test, th->hqps);
	KUNIT_EXPECT_EQ(test, th->hqps->in_flight, 1);
	expect_sent(test, fix, ORNIC_OP_READ_RESP_ONLY);
	expect_sent(test, fix, ORNIC_OP_ACK);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 1));
}

/* A READ response acknowledges what precedes it. */
static void resp_tx_no_ack_behind_later_read(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);
	struct ornic_th *th = fix->pair.a;

	th->tx_window = 0;
	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 0, 8000, 10, 10);
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 1, 0, 8, 0);
	th->tx_window = 1;
	ornic_th_kick(&fix->a);
	expect_sent(test, fix, ORNIC_OP_READ_RESP_ONLY);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
}

static const struct passes_row {
	const char *desc;
	bool selective;
	u32 in_flight; /* after a request, with one frame in a port for one */
} passes_rows[] = {
	{ "what the requester has in the port holds no ACK back", true, 2 },
	{ "a standard peer: no READ response may overtake it", false, 1 },
};

KUNIT_ARRAY_PARAM_DESC(passes, passes_rows, desc);

static void resp_tx_ack_passes_requests(struct kunit *test)
{
	const struct passes_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test);
	struct ornic_th *th = fix->pair.a;
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_WRITE_ONLY,
		.psn = PSN,
		.ack_req = true,
		.selective = row->selective,
		.va = fix->am.iova,
		.rkey = fix->am.key,
		.dma_len = 10,
	};

	th->tx_window = 1;
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	ornic_th_inject(&fix->a, &info, fix->buf, 10);
	ornic_th_run(th);
	KUNIT_ASSERT_NOT_NULL(test, th->hqps);
	KUNIT_EXPECT_EQ(test, th->hqps->in_flight, row->in_flight);
	expect_sent(test, fix, ORNIC_OP_SEND_ONLY);
	expect_sent(test, fix, ORNIC_OP_ACK);
}

static const struct turns_row {
	const char *desc;
	u32 tx_window, budget;
} turns_rows[] = {
	{ "room of the port", 4, 1 << 20 },
	{ "time", 64, 4096 },
};

KUNIT_ARRAY_PARAM_DESC(turns, turns_rows, desc);

/* A peer that READs all the time does not keep requests from being sent. */
static void resp_tx_takes_turns(struct kunit *test)
{
	const struct turns_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test);
	struct ornic_th *th = fix->pair.a;
	u32 i, seen = 0;

	th->tx_window = 0;
	th->budget = row->budget;
	for (i = 0; i < 4; i++)
		ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 16 * i, 0,
				  16 * MTU, 0);
	th->tx_window = row->tx_window;
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	for (i = 0; i < 64 && ornic_fix_sent(fix); i++) {
		if (fix->pkt.opcode == ORNIC_OP_SEND_ONLY)
			seen = i;
		ornic_th_run(th);
	}
	KUNIT_EXPECT_EQ(test, i, 64);
	KUNIT_EXPECT_GT(test, seen, 0);
	KUNIT_EXPECT_LT(test, seen, 48);
	ornic_fix_drain(fix);
}

/* Room that comes with each response is not all taken by requests either. */
static void resp_tx_gets_room_of_responses(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);
	struct ornic_th *th = fix->pair.a;
	struct ornic_txinfo info = { .opcode = ORNIC_OP_ACK, .syndrome = ACK };
	u32 i, n[2] = { 0 };

	th->tx_window = 1;
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 48 * MTU);
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 16 * MTU, 0);
	/* The host does not run the QP again, as there is not much room. */
	for (i = 0; i < 12 && ornic_fix_sent(fix); i++) {
		n[fix->pkt.opcode > ORNIC_OP_SEND_LAST]++;
		info.psn = ornic_psn_add(PSN, n[0] - 1);
		ornic_th_inject(&fix->a, &info, NULL, 0);
	}
	KUNIT_EXPECT_GE(test, n[0], 4);
	KUNIT_EXPECT_GE(test, n[1], 4);
	ornic_fix_drain(fix);
}

static const struct many_row {
	const char *name;
	u8 opcode;
	u32 len;
} many_rows[] = {
	{ "IBTA 9.7.4.1.2: READ", ORNIC_OP_READ_REQUEST, 0 },
	{ "IBTA 9.7.4.1.2: FAA", ORNIC_OP_FAA, 0 },
	{ "IBTA A19.4.2: ATOMIC WRITE", ORNIC_OP_ATOMIC_WRITE, 8 },
	{ "IBTA A19.4.1: FLUSH", ORNIC_OP_FLUSH, 0 },
};

KUNIT_ARRAY_PARAM_DESC(many, many_rows, name);

/* More of them than max_dest_rd_atomic is invalid. */
static void resp_tx_too_many_reads(struct kunit *test)
{
	const struct many_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test);
	u32 i;

	fix->pair.a->tx_window = 0;
	for (i = 0; i < 4; i++)
		ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, i, 0, 8, 0);
	ornic_fix_request(fix, row->opcode, 4, 4, 8, row->len);
	fix->pair.a->tx_window = 1;
	ornic_th_kick(&fix->a);
	for (i = 0; i < 4; i++)
		expect_sent(test, fix, ORNIC_OP_READ_RESP_ONLY);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NAK(1));
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 0, 64, 1), -1);
}

/* One packet does so much work and no more; the rest has a run of its own. */
static void resp_tx_long_read_gets_on(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);
	u32 npkts = 250, len = MTU * npkts, i;
	struct ornic_th_mr big;
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_READ_REQUEST,
		.psn = PSN,
		.dma_len = len,
	};

	KUNIT_ASSERT_EQ(test,
			ornic_th_mr_init(fix->pair.a, &big, len, 0, 0,
					 ORNIC_ACCESS_MASK),
			0);
	info.va = big.iova;
	info.rkey = big.key;
	fix->pair.a->tx_window = npkts;
	ornic_th_inject(&fix->a, &info, NULL, 0);
	for (i = 0; i < 10 && ornic_th_run(fix->pair.a);)
		i++;
	KUNIT_EXPECT_EQ(test, i, 1);
	for (i = 0; ornic_fix_sent(fix); i++)
		KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, i));
	KUNIT_EXPECT_EQ(test, i, npkts);
}

/* A READ of four packets, and behind it a WRITE beyond the end of the MR. */
static void read_and_bad_write(struct ornic_fixture *fix)
{
	fix->pair.a->tx_window = 1;
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 4 * MTU, 0);
	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 4, ORNIC_FIX_MR_BYTES, 10,
			  10);
}

/* IBTA 9.7.5.1.1: responses in order: what was accepted first, the NAK last. */
static void resp_tx_fatal_nak_in_its_turn(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);

	read_and_bad_write(fix);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	/* Nothing is accepted any more. */
	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 4, 0, 10, 10);
	KUNIT_EXPECT_EQ(test, epsn(fix), 4);
	expect_sent(test, fix, ORNIC_OP_READ_RESP_FIRST);
	expect_sent(test, fix, ORNIC_OP_READ_RESP_MIDDLE);
	expect_sent(test, fix, ORNIC_OP_READ_RESP_MIDDLE);
	expect_sent(test, fix, ORNIC_OP_READ_RESP_LAST);
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NAK(2));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 4));
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/* A port that takes nothing does not keep the QP alive. */
static void resp_tx_fatal_nak_has_an_end(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);
	struct ornic_th *th = fix->pair.a;

	read_and_bad_write(fix);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	KUNIT_ASSERT_GT(test, ornic_th_deadline(th), 0);
	th->now = ornic_th_deadline(th);
	ornic_th_expire(th);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
}

/* A QP that was reset meanwhile is another connection. */
static void resp_tx_fatal_nak_ends_with_reset(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);
	struct ornic_th *th = fix->pair.a;

	read_and_bad_write(fix);
	ornic_fix_drain(fix);
	ornic_th_to(&fix->a, ORNIC_QPS_RESET);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	th->now += 10000 * ORNIC_TH_MS;
	ornic_th_expire(th);
	ornic_th_run(th);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
}

/*
 * Not too many: the first was answered, so the peer may send a fifth, though a
 * stray duplicate of the first waits for the port again.
 */
static void resp_tx_duplicate_read_takes_no_room(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);
	u32 i;

	for (i = 0; i < 4; i++)
		ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, i, 0, 8, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 4);
	fix->pair.a->tx_window = 0;
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 8, 0);
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 4, 0, 8, 0);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	KUNIT_EXPECT_EQ(test, epsn(fix), 5);
}

/* An MR that goes in the middle of a READ ends it with a NAK. */
static void resp_tx_mr_goes_during_read(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);

	fix->pair.a->tx_window = 1;
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 4096, 0);
	KUNIT_ASSERT_EQ(test, ornic_th_mr_fini(&fix->am), 0);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), NAK(2));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 1));
	ornic_fix_drain(fix);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
}

static struct kunit_case resp_tx_cases[] = {
	KUNIT_CASE(resp_tx_duplicate_write),
	KUNIT_CASE(resp_tx_duplicates_once),
	KUNIT_CASE_PARAM(resp_tx_read, rd_gen_params),
	KUNIT_CASE(resp_tx_duplicate_read_is_checked),
	KUNIT_CASE_PARAM(resp_tx_duplicate_is_no_new_read, beyond_gen_params),
	KUNIT_CASE(resp_tx_duplicate_atomic),
	KUNIT_CASE(resp_tx_forgotten_atomic),
	KUNIT_CASE_PARAM(resp_tx_cas, cas_gen_params),
	KUNIT_CASE(resp_tx_ack_behind_read),
	KUNIT_CASE(resp_tx_ack_waits_for_port),
	KUNIT_CASE(resp_tx_no_ack_behind_later_read),
	KUNIT_CASE_PARAM(resp_tx_ack_passes_requests, passes_gen_params),
	KUNIT_CASE_PARAM(resp_tx_takes_turns, turns_gen_params),
	KUNIT_CASE(resp_tx_gets_room_of_responses),
	KUNIT_CASE_PARAM(resp_tx_too_many_reads, many_gen_params),
	KUNIT_CASE(resp_tx_long_read_gets_on),
	KUNIT_CASE(resp_tx_fatal_nak_in_its_turn),
	KUNIT_CASE(resp_tx_fatal_nak_has_an_end),
	KUNIT_CASE(resp_tx_fatal_nak_ends_with_reset),
	KUNIT_CASE(resp_tx_duplicate_read_takes_no_room),
	KUNIT_CASE(resp_tx_mr_goes_during_read),
	{}
};

static struct kunit_suite resp_tx_suite = {
	.name = "ornic_resp_tx",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = resp_tx_cases,
};

kunit_test_suite(resp_tx_suite);

MODULE_DESCRIPTION("ornic: suite of response transmission");
MODULE_LICENSE("Dual BSD/GPL");
