// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The completer: responses, retries, timers. The peer is on the wire only. */
#include "suite_fixture.h"

#define PSN ORNIC_FIX_PSN
#define ACK 0x1f /* credits: none */
#define NAK(n) (ORNIC_AETH_NAK | (n))
#define RNR(n) (ORNIC_AETH_RNR | (n))
#define NONE 0xff

/* Byte 4 of the BTH in a frame with IPv4 */
#define BTH_RESERVED (14 + 20 + 8 + 4)

static struct ornic_fixture *open_fix(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1);
	return fix;
}

static struct ornic_fixture *open_rts(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);

	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	return fix;
}

static void post_send(struct ornic_fixture *fix, u32 len)
{
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, len);
}

static void post_read(struct ornic_fixture *fix, u32 off, u32 len)
{
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, off,
		       len);
}

static void ack(struct ornic_fixture *fix, u32 n, u8 syndrome)
{
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + n, syndrome, NULL, 0);
}

static int status(struct ornic_fixture *fix)
{
	struct ornic_cqe cqe;

	return ornic_fix_status(&fix->ascq, &cqe);
}

/* Let timers fire until something is sent, or the ACK timeout has come. */
static void expire(struct ornic_fixture *fix)
{
	struct ornic_th *th = fix->pair.a;
	u32 i;

	for (i = 0; i < 4 && !th->tx_head; i++) {
		u64 when = ornic_th_deadline(th);

		if (!when)
			return;
		when = max_t(u64, when, ornic_fix_ack_timeout(&fix->a));
		th->now = max_t(u64, th->now, when);
		ornic_th_expire(th);
		ornic_th_run(th);
	}
}

/* ---- ACKs ------------------------------------------------------------------ */

/*
 * Five SENDs of 1, 2, 1, 3, 1 packets are out (PSNs 0 to 7 from the first).
 * One answer: how many complete, and does the next then retransmit?
 */
static const struct ack_row {
	const char *desc;
	s32 psn;
	u8 syndrome;
	u32 done;
	s32 resent; /* first PSN of a retransmission, -1 none */
} ack_rows[] = {
	{ "IBTA 9.7.5.1.2: ACK of the first", 0, ACK, 1, -1 },
	{ "IBTA 9.7.5.1.2: ACK within a message", 1, ACK, 1, -1 },
	{ "IBTA 9.7.5.1.2: coalesced ACK of three", 3, ACK, 3, -1 },
	{ "IBTA 9.7.5.1.2: coalesced ACK, the fourth half done", 5, ACK, 3,
	  -1 },
	{ "IBTA 9.7.5.1.2: coalesced ACK of all", 7, ACK, 5, -1 },
	{ "IBTA 9.7.6.1.2: ghost ACK of the past", -1, ACK, 0, -1 },
	{ "IBTA 9.7.6.1.2: ghost ACK of the future", 8, ACK, 0, -1 },
	{ "IBTA 9.7.5.2.2: sequence NAK of the first", 0, NAK(0), 0, 0 },
	{ "IBTA 9.7.5.2.2: sequence NAK acknowledges what precedes it", 3,
	  NAK(0), 2, 3 },
	{ "IBTA 9.7.5.2.2: sequence NAK within a message", 5, NAK(0), 3, 5 },
	{ "IBTA 9.7.5.2.2: sequence NAK of the last", 7, NAK(0), 4, 7 },
};

KUNIT_ARRAY_PARAM_DESC(ack, ack_rows, desc);

static const u32 five[] = { 1, 2, 1, 3, 1 };

static void comp_ack(struct kunit *test)
{
	const struct ack_row *row = test->param_value;
	struct ornic_fixture *fix = open_rts(test);
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(five); i++)
		post_send(fix, five[i] * 1024);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 8);
	ack(fix, row->psn, row->syndrome);
	for (i = 0; ornic_fix_status(&fix->ascq, &cqe) == 0; i++)
		KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.wqe_index), i);
	KUNIT_EXPECT_EQ(test, i, row->done);
	if (row->resent < 0) {
		KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
		return;
	}
	for (i = row->resent; i < 8; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, i));
	}
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/*
 * IBTA 9.7.5.2.2: go back N sends the same packets again, byte for byte but for
 * the reserved bit, which asks no more.
 */
static void comp_resends_the_same(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test);
	u8 *first[3];
	u32 len[3], i;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE_IMM, 0, 7,
		       2500);
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		len[i] = fix->frame->len;
		first[i] = kunit_kzalloc(test, len[i], GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, first[i]);
		memcpy(first[i], fix->frame->data, len[i]);
		KUNIT_EXPECT_TRUE(test, fix->pkt.selective);
		first[i][BTH_RESERVED] = 0;
	}
	ack(fix, 0, NAK(0));
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_ASSERT_EQ(test, fix->frame->len, len[i]);
		KUNIT_EXPECT_MEMEQ(test, fix->frame->data + 42, first[i] + 42,
				   len[i] - 42);
	}
}

/* Unsignalled WQEs make no CQE; their slots come back with the next one. */
static void comp_unsignalled(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test);
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 4);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.nsge = 1,
		.sge = &sge,
	};
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < 5; i++) {
		wr.wr_id = i;
		wr.flags = i == 3 ? ORNIC_WQE_SIGNALED : 0;
		ornic_th_post_send(&fix->a, &wr);
	}
	ornic_fix_drain(fix);
	ack(fix, 4, ACK);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 3);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.wqe_index), 3);
	KUNIT_EXPECT_EQ(test, status(fix), NONE);
}

/* ---- timer and retry counters ---------------------------------------------- */

/* IBTA 9.7.6.1.3: the ACK timeout is 4.096 us * 2^code; 0 means none. */
static void comp_ack_timeout(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);
	u32 code;

	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	for (code = 0; code < 32; code++) {
		u64 now = fix->pair.a->now;

		fix->a.conn.timeout = code;
		ornic_th_to(&fix->a, ORNIC_QPS_RESET);
		KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
		post_send(fix, 4);
		ornic_fix_drain(fix);
		expire(fix);
		if (!code) {
			KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
			continue;
		}
		KUNIT_EXPECT_EQ(test, fix->pair.a->now - now, 4096ull << code);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	}
}

static const struct retry_row {
	const char *desc;
	u8 retry_cnt;
} retry_rows[] = {
	{ "IBTA 9.9.2.1.1: retry_cnt 0", 0 },
	{ "IBTA 9.9.2.1.1: retry_cnt 1", 1 },
	{ "IBTA 9.9.2.1.1: retry_cnt 7", 7 },
};

KUNIT_ARRAY_PARAM_DESC(retry, retry_rows, desc);

static void comp_retries_run_out(struct kunit *test)
{
	const struct retry_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test);
	u32 i;

	fix->a.conn.retry_cnt = row->retry_cnt;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	post_send(fix, 4);
	post_send(fix, 4);
	for (i = 0; i <= row->retry_cnt; i++) {
		KUNIT_EXPECT_EQ(test, status(fix), NONE);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), i ? 1 : 2);
		expire(fix);
	}
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, status(fix), ORNIC_CQE_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, status(fix), ORNIC_CQE_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, status(fix), NONE);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
	i = ornic_engine_stat(fix->pair.a->eng, ORNIC_STAT_TIMEOUTS);
	KUNIT_EXPECT_EQ(test, i, row->retry_cnt + 1);
}

/* Expire a's timer until it gives up, while the peer talks to @qp. */
static u32 timeouts_beside(struct ornic_fixture *fix, struct ornic_th_qp *qp)
{
	struct ornic_txinfo info = { .opcode = ORNIC_OP_WRITE_ONLY };
	u32 i;

	post_send(fix, 4);
	for (i = 0; i < 100 && status(fix) == NONE; i++) {
		ornic_fix_drain(fix);
		info.psn = ornic_psn_add(qp->conn.rq_psn, i);
		ornic_th_inject(qp, &info, NULL, 0);
		ornic_fix_drain(fix);
		expire(fix);
	}
	return i;
}

/* A peer that sends requests is given more time, but not for ever. */
static void comp_busy_peer_has_time(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);

	fix->a.conn.retry_cnt = 2;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_EXPECT_EQ(test, timeouts_beside(fix, &fix->a), 2 + 2 + 1);
}

/* So is one that talks to another QP: with many it gets to each in turn. */
static void comp_busy_host_has_time(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = open_fix(test);
	struct ornic_th_qp b = {};
	int err;

	err = ornic_th_qp_init(fix->pair.a, &b, &init, &fix->ascq, &fix->arcq);
	err = err ?: ornic_th_connect(&b, NULL, ORNIC_TH_IPV4);
	KUNIT_ASSERT_EQ(test, err, 0);
	fix->a.conn.retry_cnt = 2;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	KUNIT_EXPECT_EQ(test, timeouts_beside(fix, &b), 2 + 2 + 1);
}

/* IBTA 9.9.2.1.1: progress fills the retry counter again. */
static void comp_progress_refills_retries(struct kunit *test)
{
	struct ornic_fixture *fix = open_fix(test);
	u32 i, n;

	fix->a.conn.retry_cnt = 2;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	post_send(fix, 5 * 1024);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 5);
	for (i = 0; i < 4; i++) {
		for (n = 0; n < 2; n++) {
			expire(fix);
			KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
		}
		ack(fix, i, ACK);
		ornic_fix_drain(fix);
	}
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
	ack(fix, 4, ACK);
	KUNIT_EXPECT_EQ(test, status(fix), 0);
}

/*
 * A peer that does not answer in time is not flooded: one packet asks whether
 * it is there, and every answer opens the window by what it acknowledges.
 */
static void comp_restarts_slowly(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test);
	u32 i, acked = 0;

	post_send(fix, 20 * 1024);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 20);
	expire(fix);
	for (i = 1; i <= 8; i *= 2) {
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), i);
		KUNIT_EXPECT_TRUE(test, fix->pkt.ack_req);
		acked += i;
		ack(fix, acked - 1, ACK);
	}
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 5);
	ack(fix, 19, ACK);
	KUNIT_EXPECT_EQ(test, status(fix), 0);
}

/* A lost packet halves the window. */
static void comp_loss_narrows(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test);
	u32 i;

	for (i = 0; i < 8; i++)
		post_send(fix, 40 * 1024);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 32);
	ack(fix, 31, ACK);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 64);
	ack(fix, 95, ACK);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 128);
	ack(fix, 96, NAK(0));
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 64);
	ack(fix, 159, ACK);
	KUNIT_EXPECT_EQ(test, status(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 128);
}

/*
 * A response that takes more than a quarter of the timeout (here 4.2 ms) halves
 * the window; it grows again when one takes less than an eighth.
 */
static void comp_late_response_narrows(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test);
	u32 i;

	for (i = 0; i < 8; i++)
		post_send(fix, 40 * 1024);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 32);
	fix->pair.a->now += 2 * ORNIC_TH_MS;
	ack(fix, 31, ACK);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 16);
	fix->pair.a->now += ORNIC_TH_MS * 7 / 10;
	ack(fix, 47, ACK);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 16);
	ack(fix, 63, ACK);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 32);
}

/* The answer to a packet that was sent twice says nothing about the time. */
static void comp_resent_is_not_timed(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test);

	post_send(fix, 20 * 1024);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 20);
	fix->pair.a->now += 2 * ORNIC_TH_MS;
	ack(fix, 0, NAK(0));
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 16);
	ack(fix, 15, ACK);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 4);
	ack(fix, 19, ACK);
	post_send(fix, 60 * 1024);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 36);
}

/* What READs ask for counts: a slow responder has so much to send at most. */
static void comp_reads_fill_window(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test);
	u32 i;

	for (i = 0; i < 4; i++)
		post_read(fix, 0, 20 * 1024);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 2);
}

/* A timer that fires early or after everything is done does nothing. */
static void comp_stale_timer(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test);

	post_send(fix, 4);
	ornic_fix_drain(fix);
	ornic_engine_expire(fix->pair.a->eng, fix->a.qpn);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	ack(fix, 0, ACK);
	fix->pair.a->now += 10000 * ORNIC_TH_MS;
	ornic_engine_expire(fix->pair.a->eng, fix->a.qpn);
	ornic_engine_expire(fix->pair.a->eng, 0xffff);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
	KUNIT_EXPECT_EQ(test, status(fix), 0);
	KUNIT_EXPECT_EQ(test, status(fix), NONE);
}

/* ---- RNR ------------------------------------------------------------------- */

/* IBTA table 45, in ns */
static const u64 rnr_ns[32] = {
	655360000, 10000,     20000,	30000,	   40000,     60000,
	80000,	   120000,    160000,	240000,	   320000,    480000,
	640000,	   960000,    1280000,	1920000,   2560000,   3840000,
	5120000,   7680000,   10240000, 15360000,  20480000,  30720000,
	40960000,  61440000,  81920000, 122880000, 163840000, 245760000,
	327680000, 491520000,
};

/* A responder that answers RNR is there: its sequence NAKs cost no retry. */
static void comp_rnr_refills_retries(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test);
	u32 i;

	post_send(fix, 2048);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 2);
	for (i = 0; i < 20; i++) {
		ack(fix, 0, RNR(1));
		expire(fix);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
		ack(fix, 0, NAK(0));
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	}
	KUNIT_EXPECT_EQ(test, status(fix), NONE);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_RTS);
}

/* IBTA 9.7.5.2.8: sending waits for as long as the RNR NAK says. */
static void comp_rnr_timer(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test);
	u32 code;

	for (code = 0; code < 32; code++) {
		u64 now = fix->pair.a->now;

		post_send(fix, 1024);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
		ack(fix, code, RNR(code));
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
		KUNIT_EXPECT_LE(test, ornic_th_deadline(fix->pair.a) - now,
				rnr_ns[code]);
		fix->pair.a->now = now + rnr_ns[code] - 1;
		ornic_th_expire(fix->pair.a);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
		KUNIT_EXPECT_EQ(test, ornic_th_deadline(fix->pair.a),
				now + rnr_ns[code]);
		expire(fix);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
		ack(fix, code, ACK);
		KUNIT_EXPECT_EQ(test, status(fix), 0);
	}
}

static const struct rnr_row {
	const char *desc;
	u8 rnr_retry;
	u32 naks; /* that it survives */
} rnr_rows[] = {
	{ "IBTA 9.7.5.2.8: rnr_retry 0", 0, 0 },
	{ "IBTA 9.7.5.2.8: rnr_retry 1", 1, 1 },
	{ "IBTA 9.7.5.2.8: rnr_retry 6", 6, 6 },
	{ "IBTA 9.7.5.2.8: rnr_retry 7 is for ever", 7, 100 },
};

KUNIT_ARRAY_PARAM_DESC(rnr, rnr_rows, desc);

static void comp_rnr_retries_run_out(struct kunit *test)
{
	const struct rnr_row *row = test->param_value;
	struct ornic_fixture *fix = open_fix(test);
	u32 i;

	fix->a.conn.rnr_retry = row->rnr_retry;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	post_send(fix, 4);
	for (i = 0; i < row->naks; i++) {
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
		ack(fix, 0, RNR(1));
		KUNIT_EXPECT_EQ(test, status(fix), NONE);
		expire(fix);
	}
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	if (row->rnr_retry == 7)
		return;
	ack(fix, 0, RNR(1));
	KUNIT_EXPECT_EQ(test, status(fix), ORNIC_CQE_RNR_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
}

/* ---- errors ---------------------------------------------------------------- */

static const struct nak_row {
	const char *desc;
	u8 opcode; /* of the response */
	u8 syndrome;
	u32 len;
	u8 status;
} nak_rows[] = {
	{ "IBTA 9.7.5.2.4: invalid request", ORNIC_OP_ACK, NAK(1), 0,
	  ORNIC_CQE_REM_INV_REQ_ERR },
	{ "IBTA 9.7.5.2.5: remote access", ORNIC_OP_ACK, NAK(2), 0,
	  ORNIC_CQE_REM_ACCESS_ERR },
	{ "IBTA 9.7.5.2.6: remote operation", ORNIC_OP_ACK, NAK(3), 0,
	  ORNIC_CQE_REM_OP_ERR },
	{ "IBTA 9.9.2.3: NAK with a reserved code", ORNIC_OP_ACK, NAK(9), 0,
	  ORNIC_CQE_BAD_RESP_ERR },
	{ "IBTA 9.9.2.3: READ response to a SEND", ORNIC_OP_READ_RESP_ONLY, ACK,
	  4, ORNIC_CQE_BAD_RESP_ERR },
	{ "IBTA 9.9.2.3: atomic response to a SEND", ORNIC_OP_ATOMIC_ACK, ACK,
	  0, ORNIC_CQE_BAD_RESP_ERR },
};

KUNIT_ARRAY_PARAM_DESC(nak, nak_rows, desc);

static void comp_error_responses(struct kunit *test)
{
	const struct nak_row *row = test->param_value;
	struct ornic_fixture *fix = open_rts(test);
	struct ornic_cqe cqe;

	post_send(fix, 4);
	post_send(fix, 4);
	post_send(fix, 4);
	ornic_fix_drain(fix);
	ornic_fix_respond(fix, row->opcode, PSN + 1, row->syndrome, fix->buf,
			  row->len);
	KUNIT_EXPECT_EQ(test, status(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), row->status);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.wqe_index), 1);
	KUNIT_EXPECT_EQ(test, status(fix), ORNIC_CQE_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fix->a), ORNIC_QPS_ERR);
	expire(fix);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 0);
}

/* ---- READ and atomics ------------------------------------------------------ */

static void read_response(struct ornic_fixture *fix, u32 n, u32 npkts,
			  u32 length)
{
	u8 op = npkts == 1     ? ORNIC_OP_READ_RESP_ONLY :
		!n	       ? ORNIC_OP_READ_RESP_FIRST :
		n + 1 == npkts ? ORNIC_OP_READ_RESP_LAST :
				 ORNIC_OP_READ_RESP_MIDDLE;
	u32 len = min_t(u32, 1024, length - n * 1024), i;

	for (i = 0; i < len; i++)
		fix->buf[i] = ornic_fix_byte(2, n * 1024 + i);
	ornic_fix_respond(fix, op, PSN + n, ACK, fix->buf, len);
}

static const struct rd_row {
	const char *desc;
	u32 length;
	u32 npkts;
	u32 lost; /* this response, the first time */
} rd_rows[] = {
	{ "IBTA 9.7.5.1.8: empty READ", 0, 1, 9 },
	{ "IBTA 9.7.5.1.8: one packet", 100, 1, 9 },
	{ "IBTA 9.7.5.1.8: four packets", 3073, 4, 9 },
	{ "IBTA 9.7.5.1.9: first lost: only that again", 3073, 4, 0 },
	{ "IBTA 9.7.5.1.9: a middle one lost: only that again", 3073, 4, 2 },
	{ "IBTA 9.7.5.1.9: the last lost", 4096, 4, 3 },
};

KUNIT_ARRAY_PARAM_DESC(rd, rd_rows, desc);

static void comp_read(struct kunit *test)
{
	const struct rd_row *row = test->param_value;
	struct ornic_fixture *fix = open_rts(test);
	u32 off = 11, n;

	post_read(fix, off, row->length);
	ornic_fix_drain(fix);
	for (n = 0; n < row->npkts && n != row->lost; n++)
		read_response(fix, n, row->npkts, row->length);
	if (n < row->npkts) {
		u32 len = min_t(u32, 1024, row->length - n * 1024), i;

		KUNIT_EXPECT_EQ(test, status(fix), NONE);
		/* The last packet shows that one is missing. */
		for (i = n + 1; i < row->npkts; i++) {
			KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
			read_response(fix, i, row->npkts, row->length);
		}
		if (n + 1 == row->npkts)
			expire(fix);
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_REQUEST);
		KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, n));
		KUNIT_EXPECT_EQ(test, fix->pkt.va,
				fix->bm.iova + off + n * 1024);
		KUNIT_EXPECT_EQ(test, fix->pkt.dma_len, len);
		for (i = 0; i < len; i++)
			fix->buf[i] = ornic_fix_byte(2, n * 1024 + i);
		ornic_fix_respond(fix, ORNIC_OP_READ_RESP_ONLY, PSN + n, ACK,
				  fix->buf, len);
	}
	KUNIT_EXPECT_EQ(test, status(fix), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, off, row->length, 2),
			-1);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 0, off, 1), -1);
}

/* IBTA 9.7.5.1.2: an ACK behind a READ without its data asks for it again. */
static void comp_ack_does_not_complete_read(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test);

	post_send(fix, 4);
	post_read(fix, 0, 100);
	post_send(fix, 4);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 3);
	ack(fix, 2, ACK);
	KUNIT_EXPECT_EQ(test, status(fix), 0);
	KUNIT_EXPECT_EQ(test, status(fix), NONE);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_REQUEST);
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 1));
	/* The SEND after it is acknowledged. */
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	ornic_fix_respond(fix, ORNIC_OP_READ_RESP_ONLY, PSN + 1, ACK, fix->buf,
			  100);
	KUNIT_EXPECT_EQ(test, status(fix), 0);
	KUNIT_EXPECT_EQ(test, status(fix), 0);
}

/* IBTA 9.7.5.1.2: a READ response acknowledges all that precedes it. */
static void comp_read_response_acks(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test);

	post_send(fix, 4);
	post_send(fix, 4);
	post_read(fix, 0, 4);
	ornic_fix_drain(fix);
	ornic_fix_respond(fix, ORNIC_OP_READ_RESP_ONLY, PSN + 2, ACK, fix->buf,
			  4);
	KUNIT_EXPECT_EQ(test, status(fix), 0);
	KUNIT_EXPECT_EQ(test, status(fix), 0);
	KUNIT_EXPECT_EQ(test, status(fix), 0);
}

static const struct fit_row {
	const char *desc;
	u8 opcode;
	u32 len;
} fit_rows[] = {
	{ "IBTA 9.7.6.1.4: First is short", ORNIC_OP_READ_RESP_FIRST, 1023 },
	{ "IBTA 9.7.6.1.4: First is long", ORNIC_OP_READ_RESP_FIRST, 1025 },
	{ "IBTA 9.7.6.1.4: Last too early", ORNIC_OP_READ_RESP_LAST, 1024 },
	{ "IBTA 9.7.6.1.4: Only too early", ORNIC_OP_READ_RESP_ONLY, 1000 },
};

KUNIT_ARRAY_PARAM_DESC(fit, fit_rows, desc);

static void comp_read_that_does_not_fit(struct kunit *test)
{
	const struct fit_row *row = test->param_value;
	struct ornic_fixture *fix = open_rts(test);

	post_read(fix, 0, 2500);
	ornic_fix_drain(fix);
	ornic_fix_respond(fix, row->opcode, PSN, ACK, fix->buf, row->len);
	KUNIT_EXPECT_EQ(test, status(fix), ORNIC_CQE_BAD_RESP_ERR);
	KUNIT_EXPECT_EQ(test, ornic_fix_compare(&fix->am, 0, 4096, 1), -1);
}

/* IBTA 9.4.5: the original value lands in the SGEs. */
static void comp_atomic(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test);
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_ATOMIC_ACK,
		.psn = PSN,
		.syndrome = ACK,
		.orig = 0x1122334455667788ull,
	};
	u64 got = 0;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_FAA, 0, 16, 8);
	ornic_fix_drain(fix);
	ornic_th_inject(&fix->a, &info, NULL, 0);
	KUNIT_EXPECT_EQ(test, status(fix), 0);
	ornic_th_mr_read(&fix->am, 16, &got, 8);
	KUNIT_EXPECT_EQ(test, got, 0x1122334455667788ull);
	ornic_th_inject(&fix->a, &info, NULL, 0);
	KUNIT_EXPECT_EQ(test, status(fix), NONE);
}

/* A local MR that goes while its READ is out fails the READ, not the host. */
static void comp_read_into_lost_mr(struct kunit *test)
{
	struct ornic_fixture *fix = open_rts(test);

	post_read(fix, 0, 4);
	ornic_fix_drain(fix);
	KUNIT_ASSERT_EQ(test, ornic_th_mr_fini(&fix->am), 0);
	ornic_fix_respond(fix, ORNIC_OP_READ_RESP_ONLY, PSN, ACK, fix->buf, 4);
	KUNIT_EXPECT_EQ(test, status(fix), ORNIC_CQE_LOC_PROT_ERR);
}

static struct kunit_case comp_cases[] = {
	KUNIT_CASE_PARAM(comp_ack, ack_gen_params),
	KUNIT_CASE(comp_resends_the_same),
	KUNIT_CASE(comp_unsignalled),
	KUNIT_CASE(comp_ack_timeout),
	KUNIT_CASE_PARAM(comp_retries_run_out, retry_gen_params),
	KUNIT_CASE(comp_busy_peer_has_time),
	KUNIT_CASE(comp_busy_host_has_time),
	KUNIT_CASE(comp_progress_refills_retries),
	KUNIT_CASE(comp_restarts_slowly),
	KUNIT_CASE(comp_loss_narrows),
	KUNIT_CASE(comp_late_response_narrows),
	KUNIT_CASE(comp_resent_is_not_timed),
	KUNIT_CASE(comp_reads_fill_window),
	KUNIT_CASE(comp_stale_timer),
	KUNIT_CASE(comp_rnr_refills_retries),
	KUNIT_CASE(comp_rnr_timer),
	KUNIT_CASE_PARAM(comp_rnr_retries_run_out, rnr_gen_params),
	KUNIT_CASE_PARAM(comp_error_responses, nak_gen_params),
	KUNIT_CASE_PARAM(comp_read, rd_gen_params),
	KUNIT_CASE(comp_ack_does_not_complete_read),
	KUNIT_CASE(comp_read_response_acks),
	KUNIT_CASE_PARAM(comp_read_that_does_not_fit, fit_gen_params),
	KUNIT_CASE(comp_atomic),
	KUNIT_CASE(comp_read_into_lost_mr),
	{}
};

static struct kunit_suite comp_suite = {
	.name = "ornic_comp",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = comp_cases,
};

kunit_test_suite(comp_suite);

MODULE_DESCRIPTION("ornic: completer suite");
MODULE_LICENSE("Dual BSD/GPL");
