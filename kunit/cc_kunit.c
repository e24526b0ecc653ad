// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Congestion control: marks, CNPs, BECN, rates and windows. */
#include "engine/impair.h"
#include "engine/proto.h"
#include "suite_fixture.h"

#define PSN ORNIC_FIX_PSN
#define MTU 1024u
#define US 1000ull
#define ACK 0x1f /* credits: none */
#define RC ORNIC_QPT_RC
#define UC ORNIC_QPT_UC
#define UD ORNIC_QPT_UD

static u64 stat(struct ornic_th *th, enum ornic_stat which)
{
	return ornic_engine_stat(th->eng, which);
}

static void set(struct kunit *test, struct ornic_th *th,
		enum ornic_cc_param which, u32 value)
{
	KUNIT_ASSERT_EQ(test, ornic_engine_cc_set(th->eng, which, value), 0);
}

/* ECN and DSCP of the frame that a sent last. */
static u8 tclass(const struct ornic_fixture *fix)
{
	const u8 *ip = fix->rx.ip;

	return fix->rx.ipv6 ? (u8)(ip[0] << 4 | ip[1] >> 4) : ip[1];
}

static void cnp(struct ornic_fixture *fix)
{
	ornic_fix_respond(fix, ORNIC_CNP, 0, 0, NULL, 0);
}

/* Time passes up to @when, with all timers on the way. Frames that a sent. */
static u32 sent_until(struct ornic_fixture *fix, u64 when)
{
	struct ornic_th *th = fix->pair.a;
	u32 n = ornic_fix_drain(fix);
	u64 next;

	for (;;) {
		next = ornic_th_deadline(th);
		if (!next || next > when)
			break;
		th->now = max_t(u64, th->now, next);
		ornic_th_expire(th);
		n += ornic_fix_drain(fix);
	}
	th->now = when;
	return n;
}

static void forget_completions(struct ornic_fixture *fix)
{
	struct ornic_cqe cqe;

	while (ornic_th_poll(&fix->ascq, &cqe))
		;
}

/* ---- What is sent ------------------------------------------------------------- */

static const struct ect_row {
	const char *desc;
	u8 type;
	u8 gid;
	u8 tclass;
	u8 want;
} ect_rows[] = {
	{ "RC", RC, ORNIC_TH_IPV4, 0, ORNIC_ECN_ECT0 },
	{ "RC, IPv6", RC, ORNIC_TH_IPV6, 0, ORNIC_ECN_ECT0 },
	{ "RC, DSCP", RC, ORNIC_TH_IPV4, 0x68, 0x68 | ORNIC_ECN_ECT0 },
	{ "RC, IPv6, DSCP", RC, ORNIC_TH_IPV6, 0x68, 0x68 | ORNIC_ECN_ECT0 },
	{ "RC, RoCE v1 has no ECN", RC, ORNIC_TH_V1, 0x68, 0x68 },
	{ "RC, a program marks", RC, ORNIC_TH_IPV4, 0x6b,
	  0x68 | ORNIC_ECN_ECT0 },
	{ "UC", UC, ORNIC_TH_IPV4, 0x69, 0x68 | ORNIC_ECN_ECT0 },
	{ "XRC", ORNIC_QPT_XRC_INI, ORNIC_TH_IPV4, 0xff,
	  0xfc | ORNIC_ECN_ECT0 },
};

KUNIT_ARRAY_PARAM_DESC(ect, ect_rows, desc);

/* RFC 3168: connected QPs react to marks, and say so. IBTA A17.9.3 */
static void ect_of_connected_qps(struct kunit *test)
{
	const struct ect_row *row = test->param_value;
	struct ornic_th_qpinit init = { .type = row->type };
	struct ornic_fixture *fix = test->priv;
	struct ornic_th_conn *conn = &fix->a.conn;
	struct ornic_rsp_query_qp rsp;
	struct ornic_rx rx;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	ornic_th_av(&conn->av, 9, row->gid);
	conn->av.tclass = row->tclass;
	conn->dest_qpn = 0x123;
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_INIT), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RTR), 0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RTS), 0);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, tclass(fix), row->want);
	/* Checksum and ICRC are right. */
	KUNIT_EXPECT_EQ(test,
			ornic_rx_from_frame(&rx, fix->frame->data,
					    fix->frame->len),
			ORNIC_FRAME_ROCE);
	KUNIT_ASSERT_EQ(test, ornic_th_query(&fix->a, &rsp), 0);
	KUNIT_EXPECT_EQ(test, rsp.av.tclass, row->tclass & ~3);
}

/* Nobody makes datagrams slower. */
static void ect_not_of_datagrams(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, UD);
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 8);
	struct ornic_th_wr wr = { .opcode = ORNIC_WQE_SEND,
				  .nsge = 1,
				  .sge = &sge,
				  .dest_qpn = 0x123 };
	struct ornic_av av;

	ornic_th_av(&av, 9, ORNIC_TH_IPV4);
	av.tclass = 0x6a;
	KUNIT_ASSERT_EQ(test, ornic_th_ah(fix->pair.a, &av, &wr.ah), 0);
	ornic_th_post_send(&fix->a, &wr);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, tclass(fix), 0x68);
}

/* ---- Notification point ----------------------------------------------------------- */

/* Every byte of one. IBTA A17.9.3 */
static void cnp_has_its_format(struct kunit *test)
{
	static const u8 want[28] = { 0x81, 0, 0xff, 0xff, 0x40, 0, 1, 0x23 };
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th *th = fix->pair.a;

	set(test, th, ORNIC_CC_CNP_DSCP, 46);
	th->marked = true;
	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 0, 0, 8, 8);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, tclass(fix), 46 << 2);
	KUNIT_EXPECT_EQ(test, fix->rx.len, sizeof(want) + ORNIC_ICRC_LEN);
	KUNIT_EXPECT_MEMEQ(test, (u8 *)fix->rx.seg[0].ptr, want, sizeof(want));
	/* And the ACK: the request was executed. */
	KUNIT_EXPECT_EQ(test, ornic_fix_syndrome(fix), ACK);
	KUNIT_EXPECT_FALSE(test, fix->pkt.becn);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_NP_CNP_SENT), 1);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_NP_ECN_MARKED_ROCE_PACKETS),
			1);
}

/* CNPs for requests of UC at these times, in us. */
static void cnp_at_most_one_in_a_time(struct kunit *test)
{
	static const struct {
		u32 us;
		u32 cnps;
	} steps[] = { { 0, 1 },	 { 1, 1 },   { 49, 1 },	 { 50, 2 },
		      { 99, 2 }, { 100, 3 }, { 900, 4 }, { 949, 4 } };
	struct ornic_fixture *fix = ornic_suite_open_lone(test, UC);
	struct ornic_th *th = fix->pair.a;
	u64 start = th->now;
	u32 i;

	th->marked = true;
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		th->now = start + steps[i].us * US;
		ornic_fix_request(fix, ORNIC_UC | ORNIC_OP_WRITE_ONLY, i, 0, 8,
				  8);
		KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_NP_CNP_SENT),
				steps[i].cnps);
	}
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_NP_ECN_MARKED_ROCE_PACKETS),
			ARRAY_SIZE(steps));
	set(test, th, ORNIC_CC_NP_ENABLE, 0);
	th->now += 1000 * US;
	ornic_fix_request(fix, ORNIC_UC | ORNIC_OP_WRITE_ONLY, i, 0, 8, 8);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_NP_CNP_SENT), 4);
}

/* READ responses have no other way back; less of ACKs would gain nothing. */
static void cnp_for_read_responses(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th *th = fix->pair.a;

	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_READ, 0, 0, 8);
	ornic_fix_drain(fix);
	th->marked = true;
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN, ACK, NULL, 0);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	ornic_fix_respond(fix, ORNIC_OP_READ_RESP_ONLY, PSN + 1, ACK, fix->buf,
			  8);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_CNP);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_NP_ECN_MARKED_ROCE_PACKETS),
			2);
}

/* Who is not the peer has no CNPs sent to it. IBTA A17.9 */
static void cnp_not_for_strangers(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th *th = fix->pair.a;

	th->marked = true;
	fix->a.conn.av.dgid[15] ^= 1;
	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 0, 0, 8, 8);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_RX_BAD_ADDR), 1);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_NP_ECN_MARKED_ROCE_PACKETS),
			0);
}

/* A port that refuses a CNP is not asked again for this one. */
static void cnp_is_not_repeated(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, UC);
	struct ornic_th *th = fix->pair.a;

	th->marked = true;
	th->xmit_fail = 1;
	ornic_fix_request(fix, ORNIC_UC | ORNIC_OP_WRITE_ONLY, 0, 0, 8, 8);
	KUNIT_EXPECT_EQ(test, sent_until(fix, th->now + ORNIC_TH_MS), 0);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_NP_CNP_SENT), 0);
	ornic_fix_request(fix, ORNIC_UC | ORNIC_OP_WRITE_ONLY, 1, 0, 8, 8);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
}

/* ---- Reaction point: the rate --------------------------------------------------------- */

/* A QP of @type that has had its first CNP: 50 Mbit/s, half of the first rate. */
static struct ornic_fixture *open_paced(struct kunit *test, u8 type)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, type);

	set(test, fix->pair.a, ORNIC_CC_FIRST_RATE, 100);
	cnp(fix);
	KUNIT_EXPECT_TRUE(test, ornic_fix_qp(&fix->a)->cc.paced);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->cc.rate, 50049);
	return fix;
}

static const struct paced_row {
	const char *desc;
	u8 type;
	u8 opcode;
} paced_rows[] = {
	{ "WRITE", RC, ORNIC_WQE_WRITE },
	{ "SEND", RC, ORNIC_WQE_SEND },
	{ "SEND, UC", UC, ORNIC_WQE_SEND },
	{ "READ responses", RC, ORNIC_WQE_READ },
};

KUNIT_ARRAY_PARAM_DESC(paced, paced_rows, desc);

/* A packet of 1024 bytes takes 177 us; two or less go early. */
static void rate_holds_packets(struct kunit *test)
{
	const struct paced_row *row = test->param_value;
	struct ornic_fixture *fix = open_paced(test, row->type);
	u64 start = fix->pair.a->now;

	/* Nothing but the rate. */
	set(test, fix->pair.a, ORNIC_CC_TIME_RESET, 131071);
	set(test, fix->pair.a, ORNIC_CC_BYTE_RESET, 0);
	if (row->opcode == ORNIC_WQE_READ)
		ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 16 * MTU,
				  0);
	else
		ornic_fix_post(&fix->a, &fix->am, &fix->bm, row->opcode, 0, 0,
			       16 * MTU);
	KUNIT_EXPECT_EQ(test, sent_until(fix, start + 100 * US), 1);
	KUNIT_EXPECT_EQ(test, sent_until(fix, start + 200 * US), 1);
	KUNIT_EXPECT_EQ(test, sent_until(fix, start + 360 * US), 1);
	if (row->type == RC)
		KUNIT_EXPECT_TRUE(test, row->opcode == ORNIC_WQE_READ ||
						fix->pkt.ack_req);
}

/* READ responses that wait hold the ACKs after them, but no CNPs. */
static void rate_does_not_hold_cnps(struct kunit *test)
{
	struct ornic_fixture *fix = open_paced(test, RC);
	struct ornic_th *th = fix->pair.a;

	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 16 * MTU, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
	th->marked = true;
	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 16, 0, 8, 8);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_CNP);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
}

/*
 * What waits for its place is not late: at 1 Mbit/s a packet takes 9 ms, and there are
 * no more ACK timeouts of 1 ms than packets.
 */
static void rate_outlasts_the_timeout(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th *th = fix->pair.a;
	u64 start = th->now;

	set(test, th, ORNIC_CC_FIRST_RATE, 1);
	set(test, th, ORNIC_CC_TIME_RESET, 131071);
	set(test, th, ORNIC_CC_BYTE_RESET, 0);
	cnp(fix);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       4 * MTU);
	KUNIT_EXPECT_EQ(test, sent_until(fix, start + 26000 * US), 3);
	KUNIT_EXPECT_LT(test, stat(th, ORNIC_STAT_TIMEOUTS), 3);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_ROCE_ADP_RETRANS), 0);
	sent_until(fix, start + 100000 * US);
	KUNIT_EXPECT_GT(test, stat(th, ORNIC_STAT_TIMEOUTS), 0);
}

/* While the rate is measured, packets ask for ACKs no more than before. */
static void rate_that_is_measured_asks_no_more(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	u32 asked = 0;

	cnp(fix);
	KUNIT_EXPECT_EQ(test, ornic_fix_qp(&fix->a)->cc.rate, 0);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       16 * MTU);
	while (ornic_fix_sent(fix))
		asked += fix->pkt.ack_req;
	KUNIT_EXPECT_EQ(test, asked, 1);
}

/* Requests and READ responses take turns: neither stops the other. */
static void rate_is_shared(struct kunit *test)
{
	struct ornic_fixture *fix = open_paced(test, RC);
	struct ornic_th *th = fix->pair.a;
	u64 end = th->now + 1770 * US;
	u32 requests = 0, responses = 0;

	set(test, th, ORNIC_CC_TIME_RESET, 131071);
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 16 * MTU, 0);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 16 * MTU);
	while (th->now < end) {
		while (ornic_fix_sent(fix)) {
			requests += !!(fix->pkt.op->flags & ORNIC_OPF_SEND);
			responses += !!(fix->pkt.op->flags & ORNIC_OPF_READ);
		}
		th->now = ornic_th_deadline(th);
		KUNIT_ASSERT_TRUE(test, ornic_th_expire(th));
	}
	/* 177 us each. */
	KUNIT_EXPECT_GE(test, requests, 4);
	KUNIT_EXPECT_GE(test, responses, 4);
	KUNIT_EXPECT_LE(test, requests + responses, 11);
}

/* The first CNP begins to measure, the next one cuts what was measured. */
static void rate_is_measured(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, UC);
	struct ornic_cc *cc = &ornic_fix_qp(&fix->a)->cc;
	struct ornic_th *th = fix->pair.a;
	u32 i;

	cnp(fix);
	KUNIT_EXPECT_TRUE(test, cc->paced);
	KUNIT_EXPECT_EQ(test, cc->rate, 0);
	/* 20 times 1106 bytes in 1 ms: 177 Mbit/s. */
	for (i = 0; i < 20; i++) {
		ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0,
			       MTU);
		KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 1);
		if (i < 7)
			cnp(fix);
		KUNIT_EXPECT_EQ(test, cc->rate, 0);
		forget_completions(fix);
		th->now += 50 * US;
	}
	cnp(fix);
	KUNIT_EXPECT_EQ(test, cc->target, 176960);
	KUNIT_EXPECT_EQ(test, cc->rate, 88567);
	/* No congestion, no limit. */
	th->now += 1000 * ORNIC_TH_MS;
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 8 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 8);
	KUNIT_EXPECT_FALSE(test, cc->paced);
}

/* Of CNPs that come together one counts. */
static void rate_is_cut_once(struct kunit *test)
{
	struct ornic_fixture *fix = open_paced(test, RC);
	struct ornic_cc *cc = &ornic_fix_qp(&fix->a)->cc;
	u32 rate = cc->rate;

	fix->pair.a->now += 3 * US;
	cnp(fix);
	KUNIT_EXPECT_EQ(test, cc->rate, rate);
	fix->pair.a->now += 1 * US;
	cnp(fix);
	KUNIT_EXPECT_LT(test, cc->rate, rate);
	KUNIT_EXPECT_EQ(test, stat(fix->pair.a, ORNIC_STAT_RP_CNP_HANDLED), 3);
}

/* A flood of CNPs: the least rate, and everything still arrives in time. */
static void rate_has_a_floor(struct kunit *test)
{
	struct ornic_fixture *fix = open_paced(test, UC);
	struct ornic_cc *cc = &ornic_fix_qp(&fix->a)->cc;
	struct ornic_th *th = fix->pair.a;
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < 1000; i++) {
		th->now += 5 * US;
		cnp(fix);
	}
	KUNIT_EXPECT_EQ(test, cc->rate, 1000);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 4 * MTU);
	ornic_fix_drain(fix);
	/* 1106 bytes at 1 Mbit/s. */
	KUNIT_EXPECT_LE(test, ornic_th_deadline(th), th->now + 8848 * US);
	sent_until(fix, th->now + 27 * ORNIC_TH_MS);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
}

/* What uses its rate gets more, up to the largest rate, and is then not limited. */
static void rate_grows(struct kunit *test)
{
	struct ornic_fixture *fix = open_paced(test, UC);
	struct ornic_cc *cc = &ornic_fix_qp(&fix->a)->cc;
	struct ornic_th *th = fix->pair.a;
	u32 i, last = cc->rate;

	set(test, th, ORNIC_CC_MAX_RATE, 120);
	for (i = 0; i < 200 && cc->paced; i++) {
		ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0,
			       4 * MTU);
		sent_until(fix, max_t(u64, th->now, cc->next));
		KUNIT_EXPECT_GE(test, cc->rate, last);
		last = cc->rate;
		forget_completions(fix);
	}
	KUNIT_EXPECT_FALSE(test, cc->paced);
	KUNIT_EXPECT_EQ(test, cc->rate, 120000);
}

/* What does not use its rate learns nothing about the path. */
static void rate_does_not_grow_at_rest(struct kunit *test)
{
	struct ornic_fixture *fix = open_paced(test, UC);
	struct ornic_cc *cc = &ornic_fix_qp(&fix->a)->cc;
	u32 rate = cc->rate, i;

	for (i = 0; i < 20; i++) {
		fix->pair.a->now += ORNIC_TH_MS;
		ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0,
			       8);
		ornic_fix_drain(fix);
		forget_completions(fix);
	}
	KUNIT_EXPECT_EQ(test, cc->rate, rate);
}

static void rate_ends_with_the_connection(struct kunit *test)
{
	struct ornic_fixture *fix = open_paced(test, RC);
	struct ornic_qp *qp = ornic_fix_qp(&fix->a);

	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	KUNIT_EXPECT_FALSE(test, qp->cc.paced);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 16 * MTU);
	KUNIT_EXPECT_EQ(test, ornic_fix_drain(fix), 16);
}

/* ---- CNPs that change nothing ------------------------------------------------------------ */

static void cnp_is_ignored(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th *th = fix->pair.a;

	set(test, th, ORNIC_CC_RP_ENABLE, 0);
	cnp(fix);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_RP_CNP_IGNORED), 1);
	set(test, th, ORNIC_CC_RP_ENABLE, 1);
	/* Of another host. IBTA A17.9 */
	fix->a.conn.av.dgid[15] ^= 1;
	cnp(fix);
	fix->a.conn.av.dgid[15] ^= 1;
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_RX_BAD_ADDR), 1);
	/* With payload. */
	ornic_fix_respond(fix, ORNIC_CNP, 0, 0, fix->buf, 4);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_RX_MALFORMED), 1);
	KUNIT_EXPECT_FALSE(test, ornic_fix_qp(&fix->a)->cc.paced);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, ORNIC_QPS_RESET), 0);
	cnp(fix);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_RX_NO_QP), 1);
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_RP_CNP_HANDLED), 0);
}

static void cnp_to_a_datagram_qp(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, UD);

	cnp(fix);
	KUNIT_EXPECT_EQ(test, stat(fix->pair.a, ORNIC_STAT_RX_NO_QP), 1);
	KUNIT_EXPECT_FALSE(test, ornic_fix_qp(&fix->a)->cc.paced);
}

static const u64 cc_optional = BIT_ULL(ORNIC_STAT_CC_RX_CE_PKTS) |
			       BIT_ULL(ORNIC_STAT_CC_RX_CNP_PKTS) |
			       BIT_ULL(ORNIC_STAT_CC_TX_CNP_PKTS);

static void optional_counters_count(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th *th = fix->pair.a;
	u32 on;

	for (on = 0; on < 2; on++) {
		WRITE_ONCE(th->eng->dev.optional, on ? cc_optional : 0);
		th->now += ORNIC_TH_MS;
		th->marked = false;
		cnp(fix);
		th->marked = true;
		ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, on, 0, 8, 8);
		KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_CC_RX_CE_PKTS), on);
		KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_CC_RX_CNP_PKTS), on);
		KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_CC_TX_CNP_PKTS), on);
	}
}

/* ---- Between two of ornic ------------------------------------------------------------------ */

/* Marks what a sends while the bool at pair->ctx is true; counts BECN from b. */
struct marker {
	bool on;
	u32 becn;
	u32 cnps;
};

static enum ornic_th_verdict mark(struct ornic_th_pair *pair,
				  struct ornic_th *from,
				  struct ornic_th_frame *frame,
				  const struct ornic_pkt *pkt)
{
	struct marker *m = pair->ctx;

	if (from == pair->b) {
		m->becn += pkt->becn;
		m->cnps += pkt->opcode == ORNIC_CNP;
	} else if (m->on) {
		ornic_impair_mark_ce(frame->data + 14, false);
	}
	return ORNIC_TH_PASS;
}

static void run_write(struct kunit *test, struct ornic_fixture *fix)
{
	struct ornic_cqe cqe;

	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       ORNIC_FIX_MR_BYTES);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
}

/* RFC 8257: halved once in a round trip, by less as marks become fewer. */
static void becn_narrows_the_window(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open(test, ORNIC_FIX_WIRE, RC);
	struct ornic_sq *sq = &ornic_fix_qp(&fix->a)->sq;
	struct marker m = {};
	u32 i, before;

	fix->pair.filter = mark;
	fix->pair.ctx = &m;
	for (i = 0; i < 4; i++)
		run_write(test, fix);
	before = sq->window;
	KUNIT_EXPECT_GE(test, before, 128);
	KUNIT_EXPECT_FALSE(test, sq->marks.on);
	m.on = true;
	run_write(test, fix);
	KUNIT_EXPECT_LE(test, sq->window, before / 2 + 2);
	for (i = 0; i < 8; i++)
		run_write(test, fix);
	KUNIT_EXPECT_LE(test, sq->window, 4);
	KUNIT_EXPECT_GE(test, sq->window, ORNIC_MARKED_WINDOW);
	KUNIT_EXPECT_GT(test, m.becn, 0);
	KUNIT_EXPECT_EQ(test, m.cnps, 0);
	KUNIT_EXPECT_EQ(test, stat(fix->pair.a, ORNIC_STAT_RP_CNP_HANDLED), 0);
	m.on = false;
	m.becn = 0;
	before = sq->window;
	for (i = 0; i < 40; i++)
		run_write(test, fix);
	/* At most what was marked before. */
	KUNIT_EXPECT_LE(test, m.becn, 1);
	KUNIT_EXPECT_GT(test, sq->window, 8 * before);
	KUNIT_EXPECT_FALSE(test, sq->marks.on);
	/* One whose peer has no room to keep requests obeys as well. */
	sq->selective = ORNIC_SELECTIVE_FULL;
	before = sq->window;
	m.on = true;
	run_write(test, fix);
	KUNIT_EXPECT_LE(test, sq->window, before / 2 + 2);
}

/* One response has the marks of all requests that it is for. */
static void becn_comes_once(struct kunit *test)
{
	struct ornic_txinfo info = {
		.opcode = ORNIC_OP_WRITE_ONLY,
		.selective = true,
		.ack_req = true,
		.dma_len = 8,
	};
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_th *th = fix->pair.a;
	u32 i;

	info.va = fix->am.iova;
	info.rkey = fix->am.key;
	for (i = 0; i < 3; i++) {
		info.psn = ornic_psn_add(PSN, i);
		th->marked = !i;
		ornic_th_inject(&fix->a, &info, fix->buf, 8);
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_ACK);
		KUNIT_EXPECT_EQ(test, fix->pkt.becn, !i);
	}
	KUNIT_EXPECT_EQ(test, stat(th, ORNIC_STAT_NP_CNP_SENT), 0);
}

/* BECN of others is reserved by RoCEv2, as of IBTA 9.2. */
static void becn_of_a_standard_peer(struct kunit *test)
{
	struct ornic_txinfo info = { .opcode = ORNIC_OP_ACK,
				     .psn = PSN,
				     .syndrome = ACK,
				     .becn = true };
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_sq *sq = &ornic_fix_qp(&fix->a)->sq;

	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	ornic_fix_drain(fix);
	ornic_th_inject(&fix->a, &info, NULL, 0);
	KUNIT_EXPECT_EQ(test, sq->window, ORNIC_FIRST_WINDOW + 1);
	KUNIT_EXPECT_FALSE(test, sq->marks.on);
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static void params_have_ranges(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, RC);
	struct ornic_engine *eng = fix->pair.a->eng;
	const struct ornic_cc_param_info *info;
	u32 i, j;

	for (i = 0; i < ORNIC_CC_PARAM_COUNT; i++) {
		info = &ornic_cc_param_infos[i];
		KUNIT_EXPECT_EQ(test, ornic_engine_cc_get(eng, i),
				info->initial);
		KUNIT_EXPECT_EQ(test, ornic_engine_cc_set(eng, i, info->least),
				0);
		KUNIT_EXPECT_EQ(test, ornic_engine_cc_get(eng, i), info->least);
		KUNIT_EXPECT_EQ(test, ornic_engine_cc_set(eng, i, info->most),
				0);
		KUNIT_EXPECT_EQ(test,
				ornic_engine_cc_set(eng, i, info->most + 1),
				-EINVAL);
		if (info->least)
			KUNIT_EXPECT_EQ(test,
					ornic_engine_cc_set(eng, i,
							    info->least - 1),
					-EINVAL);
		KUNIT_EXPECT_EQ(test, ornic_engine_cc_get(eng, i), info->most);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test,
					strcmp(info->name,
					       ornic_cc_param_infos[j].name),
					0);
	}
	KUNIT_EXPECT_EQ(test, ornic_engine_cc_set(eng, i, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ornic_engine_cc_get(eng, i), 0);
}

/* SENDs and CNPs for some time; all SENDs complete. */
static void traffic_with_cnps(struct kunit *test, struct ornic_fixture *fix)
{
	struct ornic_th *th = fix->pair.a;
	struct ornic_cqe cqe;
	u32 i;

	for (i = 0; i < 12; i++) {
		ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0,
			       MTU);
		cnp(fix);
		sent_until(fix, th->now + 17 * ORNIC_TH_MS);
		cnp(fix);
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	}
}

/* Each parameter at its ends, alone and with others, divides and overflows nothing. */
static void params_at_their_ends(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, UC);
	struct ornic_engine *eng = fix->pair.a->eng;
	const struct ornic_cc_param_info *info;
	u32 i, end, all;

	for (i = 0; i < 2 * ORNIC_CC_PARAM_COUNT; i++) {
		info = &ornic_cc_param_infos[i / 2];
		end = i % 2 ? info->most : info->least;
		ornic_engine_cc_set(eng, i / 2, end);
		traffic_with_cnps(test, fix);
		ornic_engine_cc_set(eng, i / 2, info->initial);
	}
	for (all = 0; all < 2; all++) {
		for (i = 0; i < ORNIC_CC_PARAM_COUNT; i++) {
			info = &ornic_cc_param_infos[i];
			ornic_engine_cc_set(eng, i,
					    all ? info->most : info->least);
		}
		ornic_engine_cc_set(eng, ORNIC_CC_RP_ENABLE, 1);
		traffic_with_cnps(test, fix);
	}
}

static struct kunit_case cc_cases[] = {
	KUNIT_CASE_PARAM(ect_of_connected_qps, ect_gen_params),
	KUNIT_CASE(ect_not_of_datagrams),
	KUNIT_CASE(cnp_has_its_format),
	KUNIT_CASE(cnp_at_most_one_in_a_time),
	KUNIT_CASE(cnp_for_read_responses),
	KUNIT_CASE(cnp_not_for_strangers),
	KUNIT_CASE(cnp_is_not_repeated),
	KUNIT_CASE_PARAM(rate_holds_packets, paced_gen_params),
	KUNIT_CASE(rate_does_not_hold_cnps),
	KUNIT_CASE(rate_outlasts_the_timeout),
	KUNIT_CASE(rate_that_is_measured_asks_no_more),
	KUNIT_CASE(rate_is_shared),
	KUNIT_CASE(rate_is_measured),
	KUNIT_CASE(rate_is_cut_once),
	KUNIT_CASE(rate_has_a_floor),
	KUNIT_CASE(rate_grows),
	KUNIT_CASE(rate_does_not_grow_at_rest),
	KUNIT_CASE(rate_ends_with_the_connection),
	KUNIT_CASE(cnp_is_ignored),
	KUNIT_CASE(cnp_to_a_datagram_qp),
	KUNIT_CASE(optional_counters_count),
	KUNIT_CASE(becn_narrows_the_window),
	KUNIT_CASE(becn_comes_once),
	KUNIT_CASE(becn_of_a_standard_peer),
	KUNIT_CASE(params_have_ranges),
	KUNIT_CASE(params_at_their_ends),
	{}
};

static struct kunit_suite cc_suite = {
	.name = "ornic_cc",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = cc_cases,
};

kunit_test_suite(cc_suite);

MODULE_DESCRIPTION("ornic: congestion control suite");
MODULE_LICENSE("Dual BSD/GPL");
