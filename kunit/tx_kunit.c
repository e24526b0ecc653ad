// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Frames: every byte written, once, whatever memory does meanwhile. */
#include "suite_fixture.h"

/* ---- what a frame holds ---------------------------------------------------- */

/* Build a packet of @opcode in memory that holds @stale. Returns its length. */
static u32 build(u8 *data, u8 stale, u8 opcode, enum ornic_th_gid which,
		 u32 len)
{
	static const u8 payload[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct ornic_frag frag = { (void *)payload, len };
	struct ornic_gid src = { .vlan = ORNIC_VLAN_NONE, .valid = true };
	struct ornic_txinfo info = { .opcode = opcode };
	struct ornic_path path;
	struct ornic_tx tx;
	struct ornic_av av;

	ornic_th_gid_bytes(1, which, src.gid);
	ornic_th_av(&av, 2, which);
	if (which == ORNIC_TH_VLAN)
		src.vlan = ORNIC_TH_VLAN_ID;
	src.v1 = which == ORNIC_TH_V1;
	ornic_path_init(&path, &src, &av);
	memset(data, stale, 256);
	return ornic_th_build(&tx, data, &path, &info, &frag, !!len);
}

/* Nothing of what the memory held before leaves the host. */
static void frame_is_written_completely(struct kunit *test)
{
	u8 *a = kunit_kzalloc(test, 256, GFP_KERNEL);
	u8 *b = kunit_kzalloc(test, 256, GFP_KERNEL);
	u32 opcode, which, len, n;

	KUNIT_ASSERT_TRUE(test, a && b);
	for (opcode = 0; opcode < 256; opcode++) {
		if (!ornic_opcode_lookup(opcode))
			continue;
		for (which = 0; which < ORNIC_TH_GIDS; which++) {
			for (len = 0; len <= 8; len++) {
				n = build(a, 0x00, opcode, which, len);
				build(b, 0xff, opcode, which, len);
				KUNIT_EXPECT_MEMEQ(test, a, b, n);
			}
		}
	}
}

/* ---- memory that changes ---------------------------------------------------- */

static const struct live_row {
	const char *desc;
	u8 type;
	u8 opcode;
	u32 len;
} live_rows[] = {
	{ "IBTA A17.3.3: RC SEND, 8 bytes", ORNIC_QPT_RC, ORNIC_WQE_SEND, 8 },
	{ "RC SEND, 20000 bytes", ORNIC_QPT_RC, ORNIC_WQE_SEND, 20000 },
	{ "RC WRITE, 8 bytes", ORNIC_QPT_RC, ORNIC_WQE_WRITE, 8 },
	{ "RC WRITE, 65000 bytes", ORNIC_QPT_RC, ORNIC_WQE_WRITE, 65000 },
	{ "RC READ, 8 bytes", ORNIC_QPT_RC, ORNIC_WQE_READ, 8 },
	{ "RC READ, 65000 bytes", ORNIC_QPT_RC, ORNIC_WQE_READ, 65000 },
	{ "RC FAA", ORNIC_QPT_RC, ORNIC_WQE_FAA, 8 },
	{ "RC ATOMIC WRITE", ORNIC_QPT_RC, ORNIC_WQE_ATOMIC_WRITE, 8 },
	{ "UC WRITE, 5000 bytes", ORNIC_QPT_UC, ORNIC_WQE_WRITE, 5000 },
	{ "UC SEND, 37 bytes", ORNIC_QPT_UC, ORNIC_WQE_SEND, 37 },
};

KUNIT_ARRAY_PARAM_DESC(live, live_rows, desc);

/* A program of each side writes to all of its memory. */
static void scribble(struct ornic_th *th)
{
	struct ornic_fixture *fix = th->program;
	u32 i;

	for (i = 0; i < ORNIC_FIX_MR_BYTES; i++) {
		fix->am.buf[i]++;
		fix->bm.buf[i]++;
	}
}

static void live(struct ornic_fixture *fix)
{
	fix->pair.a->program = fix;
	fix->pair.b->program = fix;
	fix->pair.a->meanwhile = scribble;
	fix->pair.b->meanwhile = scribble;
}

static u64 both(struct ornic_fixture *fix, enum ornic_stat stat)
{
	return ornic_engine_stat(fix->pair.a->eng, stat) +
	       ornic_engine_stat(fix->pair.b->eng, stat);
}

/* What arrives may be torn, but it arrives, and at once. */
static void frame_carries_what_the_icrc_covers(struct kunit *test)
{
	const struct live_row *row = test->param_value;
	struct ornic_fixture *fix =
		ornic_suite_open(test, ORNIC_FIX_WIRE, row->type);
	struct ornic_cqe cqe;

	live(fix);
	ornic_fix_recv(&fix->b, &fix->bm, 7, 0, row->len);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, row->opcode, 0, 0,
		       row->len);
	KUNIT_ASSERT_TRUE(test, ornic_th_settle(&fix->pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	if (row->opcode == ORNIC_WQE_SEND)
		KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->brcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, both(fix, ORNIC_STAT_RX_ICRC_ERRORS), 0);
	KUNIT_EXPECT_EQ(test, both(fix, ORNIC_STAT_RETRIES), 0);
}

/* The same of what is sent again, from memory that is other by now. */
static void resend_carries_what_the_icrc_covers(struct kunit *test)
{
	struct ornic_fixture *fix =
		ornic_suite_open(test, ORNIC_FIX_LONE, ORNIC_QPT_RC);
	struct ornic_th *th = fix->pair.a;

	th->program = fix;
	th->meanwhile = scribble;
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 900);
	KUNIT_EXPECT_TRUE(test, ornic_fix_sent(fix));
	th->now = ornic_th_deadline(th);
	KUNIT_EXPECT_TRUE(test, ornic_th_expire(th));
	KUNIT_EXPECT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ORNIC_FIX_PSN);
}

/* ---- a port that refuses ---------------------------------------------------- */

#define PSN ORNIC_FIX_PSN
#define ACK 0x1f
#define BACKOFF_NS 64000u

static u64 count(struct ornic_fixture *fix, enum ornic_stat stat)
{
	return ornic_engine_stat(fix->pair.a->eng, stat);
}

/* The next timer of a fires. Returns how long it took. */
static u64 wait_timer(struct kunit *test, struct ornic_fixture *fix)
{
	struct ornic_th *th = fix->pair.a;
	u64 when = ornic_th_deadline(th), took = when - th->now;

	KUNIT_ASSERT_GT(test, when, th->now);
	th->now = when;
	KUNIT_EXPECT_TRUE(test, ornic_th_expire(th));
	return took;
}

/* Nothing is sent, and tried again after one backoff and after two. */
static void expect_backoff(struct kunit *test, struct ornic_fixture *fix)
{
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, wait_timer(test, fix), BACKOFF_NS);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, wait_timer(test, fix), 2 * BACKOFF_NS);
	KUNIT_EXPECT_EQ(test, count(fix, ORNIC_STAT_TX_ERRORS), 2);
}

static const struct refused_row {
	const char *desc;
	u8 opcode;
	u32 frame_fail, xmit_fail;
} refused_rows[] = {
	{ "SEND, no memory", ORNIC_WQE_SEND, 2, 0 },
	{ "SEND, no room", ORNIC_WQE_SEND, 0, 2 },
	{ "WRITE, no room", ORNIC_WQE_WRITE, 0, 2 },
	{ "READ, no memory", ORNIC_WQE_READ, 2, 0 },
	{ "READ, no room", ORNIC_WQE_READ, 0, 2 },
	{ "FAA, one of each", ORNIC_WQE_FAA, 1, 1 },
};

KUNIT_ARRAY_PARAM_DESC(refused, refused_rows, desc);

static void refuse(struct ornic_fixture *fix, const struct refused_row *row)
{
	fix->pair.a->frame_fail = row->frame_fail;
	fix->pair.a->xmit_fail = row->xmit_fail;
}

/* It keeps its PSN, costs no retry and is sent once. */
static void refused_request_keeps_its_place(struct kunit *test)
{
	const struct refused_row *row = test->param_value;
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	u64 waited = 0;

	refuse(fix, row);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, row->opcode, 0, 0, 8);
	KUNIT_EXPECT_EQ(test, ornic_th_sq_psn(&fix->a), PSN);
	expect_backoff(test, fix);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, PSN);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, count(fix, ORNIC_STAT_RETRIES), 0);
	/* The ACK timeout counts from here on; the host's timer may be early. */
	while (!count(fix, ORNIC_STAT_TIMEOUTS))
		waited += wait_timer(test, fix);
	KUNIT_EXPECT_EQ(test, waited, 4096ull << fix->a.conn.timeout);
}

/* In the middle of a message: each packet once, in order. A packet ends the wait. */
static void refused_packets_go_on(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_th *th = fix->pair.a;
	struct ornic_cqe cqe;
	u32 n = 0, tries = 0;

	th->tx_window = 1;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       20 * 1024);
	while (n < 20) {
		if (!ornic_fix_sent(fix)) {
			KUNIT_EXPECT_EQ(test, wait_timer(test, fix),
					BACKOFF_NS << tries++);
			continue;
		}
		tries = 0;
		KUNIT_ASSERT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, n));
		th->xmit_fail = ++n % 3;
	}
	KUNIT_EXPECT_GT(test, count(fix, ORNIC_STAT_TX_ERRORS), 10);
	KUNIT_EXPECT_EQ(test, count(fix, ORNIC_STAT_RETRIES), 0);
	ornic_fix_respond(fix, ORNIC_OP_ACK, PSN + 19, ACK, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
}

static const struct response_row {
	const char *desc;
	u8 opcode;
	u32 dma_len, len;
	u8 response;
	u32 npkts;
} response_rows[] = {
	{ "ACK", ORNIC_OP_WRITE_ONLY, 100, 100, ORNIC_OP_ACK, 1 },
	{ "READ response", ORNIC_OP_READ_REQUEST, 100, 0,
	  ORNIC_OP_READ_RESP_ONLY, 1 },
	{ "READ responses", ORNIC_OP_READ_REQUEST, 3 * 1024, 0,
	  ORNIC_OP_READ_RESP_FIRST, 3 },
	{ "atomic", ORNIC_OP_FAA, 0, 0, ORNIC_OP_ATOMIC_ACK, 1 },
};

KUNIT_ARRAY_PARAM_DESC(response, response_rows, desc);

static void refused_response_is_sent_later(struct kunit *test)
{
	const struct response_row *row = test->param_value;
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	u32 i;

	fix->pair.a->xmit_fail = 1;
	fix->pair.a->frame_fail = 1;
	ornic_fix_request(fix, row->opcode, 0, 4, row->dma_len, row->len);
	expect_backoff(test, fix);
	for (i = 0; i < row->npkts; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
		KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, i));
		if (!i)
			KUNIT_EXPECT_EQ(test, fix->pkt.opcode, row->response);
	}
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, ornic_th_deadline(fix->pair.a), 0);
}

/* By a run that no packet started: there was no room before. */
static void refused_response_of_a_run(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_th *th = fix->pair.a;

	th->tx_window = 1;
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 0, 0, 3 * 1024, 0);
	th->xmit_fail = 1;
	th->frame_fail = 1;
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	expect_backoff(test, fix);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.psn, ornic_psn_add(PSN, 1));
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_RESP_LAST);
}

/* Responses to a port that is down end as well: their peer asks again. */
static void refused_responses_are_lost_in_the_end(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_th *th = fix->pair.a;
	u32 timers = 0;

	th->frame_fail = 1000;
	ornic_fix_request(fix, ORNIC_OP_WRITE_ONLY, 0, 0, 100, 100);
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 1, 0, 3 * 1024, 0);
	for (; ornic_th_deadline(th); timers++)
		wait_timer(test, fix);
	KUNIT_EXPECT_EQ(test, timers, 10);
	KUNIT_EXPECT_FALSE(test, ornic_fix_sent(fix));
	th->frame_fail = 0;
	ornic_fix_request(fix, ORNIC_OP_READ_REQUEST, 1, 0, 1024, 0);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	KUNIT_EXPECT_EQ(test, fix->pkt.opcode, ORNIC_OP_READ_RESP_ONLY);
}

/* The ACK timer of what was sent before goes on while the port is full. */
static void refused_packet_leaves_the_timer(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	u64 timeout = 4096ull << fix->a.conn.timeout, start;

	start = fix->pair.a->now;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	fix->pair.a->now += timeout / 2;
	fix->pair.a->xmit_fail = 1;
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0, 8);
	KUNIT_EXPECT_EQ(test, wait_timer(test, fix), BACKOFF_NS);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	while (!count(fix, ORNIC_STAT_TIMEOUTS))
		wait_timer(test, fix);
	KUNIT_EXPECT_EQ(test, fix->pair.a->now, start + timeout);
}

/* A port that stays full is asked less and less often, down to 15 times a second. */
static void refused_waits_have_a_limit(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;
	u32 i;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	fix->a.conn.timeout = 0;
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	fix->pair.a->xmit_fail = 1000;
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	for (i = 0; i < 15; i++)
		KUNIT_EXPECT_EQ(test, wait_timer(test, fix),
				BACKOFF_NS << (i < 10 ? i : 10));
}

/* IBTA 9.7.6.1.3: the port stays down: so many timeouts, then the end. */
static void refused_for_ever_ends_rc(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_th *th = fix->pair.a;
	struct ornic_cqe cqe;
	u32 timers = 0;

	th->frame_fail = 100000;
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	for (; ornic_th_deadline(th) && timers < 10000; timers++)
		wait_timer(test, fix);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, count(fix, ORNIC_STAT_TIMEOUTS),
			fix->a.conn.retry_cnt + 1);
	KUNIT_EXPECT_LT(test, timers, 200);
}

static const struct lossy_row {
	const char *desc;
	u8 type;
} lossy_rows[] = {
	{ "UC", ORNIC_QPT_UC },
	{ "UD", ORNIC_QPT_UD },
};

KUNIT_ARRAY_PARAM_DESC(lossy, lossy_rows, desc);

static void post_lossy(struct ornic_fixture *fix)
{
	struct ornic_lsge sge = ornic_fix_sge(&fix->am, 0, 8);
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.flags = ORNIC_WQE_SIGNALED,
		.dest_qpn = 77,
		.nsge = 1,
		.sge = &sge,
	};
	struct ornic_av av;

	ornic_th_av(&av, 2, ORNIC_TH_IPV4);
	if (fix->a.type == ORNIC_QPT_UD)
		ornic_th_ah(fix->pair.a, &av, &wr.ah);
	ornic_th_post_send(&fix->a, &wr);
}

/* Nobody asks again on UC and UD, so the port is, but not for ever. */
static void refused_for_ever_is_loss(struct kunit *test)
{
	const struct lossy_row *row = test->param_value;
	struct ornic_fixture *fix = ornic_suite_open_lone(test, row->type);
	struct ornic_th *th = fix->pair.a;
	struct ornic_cqe cqe;
	u32 timers = 0;

	th->frame_fail = 1000;
	post_lossy(fix);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0xff);
	for (; ornic_th_deadline(th); timers++)
		wait_timer(test, fix);
	KUNIT_EXPECT_EQ(test, timers, 10);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	/* The next does not wait as long again. */
	post_lossy(fix);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	th->frame_fail = 0;
	post_lossy(fix);
	KUNIT_EXPECT_TRUE(test, ornic_fix_sent(fix));
}

/* What a rule of the host's drops is lost, as in any network: nothing waits. */
static void dropped_by_a_rule_is_loss(struct kunit *test)
{
	const struct lossy_row *row = test->param_value;
	struct ornic_fixture *fix = ornic_suite_open_lone(test, row->type);
	struct ornic_th *th = fix->pair.a;
	struct ornic_cqe cqe;

	th->xmit_fail = 1;
	th->xmit_err = -EPERM;
	post_lossy(fix);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, count(fix, ORNIC_STAT_TX_ERRORS), 1);
	post_lossy(fix);
	KUNIT_EXPECT_TRUE(test, ornic_fix_sent(fix));
}

/* A frame that the port will never take is lost, and the retries find out. */
static void too_large_is_loss(struct kunit *test)
{
	struct ornic_fixture *fix = ornic_suite_open_lone(test, ORNIC_QPT_RC);
	struct ornic_th *th = fix->pair.a;
	struct ornic_cqe cqe;
	u32 timers = 0;

	th->largest = 600;
	ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0, 1000);
	for (; ornic_th_deadline(th); timers++)
		wait_timer(test, fix);
	KUNIT_EXPECT_EQ(test, count(fix, ORNIC_STAT_TIMEOUTS),
			fix->a.conn.retry_cnt + 1);
	KUNIT_EXPECT_EQ(test, count(fix, ORNIC_STAT_TX_ERRORS), timers);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_RETRY_EXC_ERR);
}

/* ---- type of service ------------------------------------------------------- */

static const struct service_row {
	const char *desc;
	u8 gid;
	u8 opcode; /* of the request that a gets; 0: a sends one */
} service_rows[] = {
	{ "request", ORNIC_TH_IPV4, 0 },
	{ "request, IPv6", ORNIC_TH_IPV6, 0 },
	{ "request, VLAN", ORNIC_TH_VLAN, 0 },
	{ "ACK", ORNIC_TH_IPV4, ORNIC_OP_WRITE_ONLY },
	{ "ACK, VLAN", ORNIC_TH_VLAN, ORNIC_OP_WRITE_ONLY },
	{ "READ response", ORNIC_TH_IPV4, ORNIC_OP_READ_REQUEST },
	{ "READ response, IPv6", ORNIC_TH_IPV6, ORNIC_OP_READ_REQUEST },
	{ "READ response, VLAN", ORNIC_TH_VLAN, ORNIC_OP_READ_REQUEST },
	{ "atomic result, VLAN", ORNIC_TH_VLAN, ORNIC_OP_FAA },
};

KUNIT_ARRAY_PARAM_DESC(service, service_rows, desc);

/* DSCP and PCP are those of the QP that sends, and the host knows the level. */
static void frame_has_the_service_of_its_qp(struct kunit *test)
{
	const struct service_row *row = test->param_value;
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	struct ornic_fixture *fix = test->priv;
	const u8 *ip;
	u8 state;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_LONE, &init), 0);
	ornic_th_av(&fix->a.conn.av, 9, row->gid);
	fix->a.conn.av.tclass = 0x68;
	fix->a.conn.av.sl = 5;
	fix->a.conn.dest_qpn = 0x123;
	for (state = ORNIC_QPS_INIT; state <= ORNIC_QPS_RTS; state++)
		KUNIT_ASSERT_EQ(test, ornic_th_to(&fix->a, state), 0);
	if (row->opcode)
		ornic_fix_request(fix, row->opcode, 0, 0, 8,
				  row->opcode == ORNIC_OP_WRITE_ONLY ? 8 : 0);
	else
		ornic_fix_post(&fix->a, &fix->am, NULL, ORNIC_WQE_SEND, 0, 0,
			       8);
	KUNIT_ASSERT_TRUE(test, ornic_fix_sent(fix));
	ip = fix->rx.ip;
	KUNIT_EXPECT_EQ(test,
			fix->rx.ipv6 ? (u8)(ip[0] << 4 | ip[1] >> 4) : ip[1],
			0x68 | ORNIC_ECN_ECT0);
	KUNIT_EXPECT_EQ(test, fix->rx.sl, row->gid == ORNIC_TH_VLAN ? 5 : 0);
	KUNIT_EXPECT_EQ(test, fix->frame->sl, 5);
}

static struct kunit_case tx_cases[] = {
	KUNIT_CASE(frame_is_written_completely),
	KUNIT_CASE_PARAM(frame_carries_what_the_icrc_covers, live_gen_params),
	KUNIT_CASE(resend_carries_what_the_icrc_covers),
	KUNIT_CASE_PARAM(refused_request_keeps_its_place, refused_gen_params),
	KUNIT_CASE(refused_packets_go_on),
	KUNIT_CASE_PARAM(refused_response_is_sent_later, response_gen_params),
	KUNIT_CASE(refused_response_of_a_run),
	KUNIT_CASE(refused_responses_are_lost_in_the_end),
	KUNIT_CASE(refused_packet_leaves_the_timer),
	KUNIT_CASE(refused_waits_have_a_limit),
	KUNIT_CASE(refused_for_ever_ends_rc),
	KUNIT_CASE_PARAM(refused_for_ever_is_loss, lossy_gen_params),
	KUNIT_CASE_PARAM(dropped_by_a_rule_is_loss, lossy_gen_params),
	KUNIT_CASE(too_large_is_loss),
	KUNIT_CASE_PARAM(frame_has_the_service_of_its_qp, service_gen_params),
	{}
};

static struct kunit_suite tx_suite = {
	.name = "ornic_tx",
	.init = ornic_suite_init,
	.exit = ornic_suite_exit,
	.test_cases = tx_cases,
};

kunit_test_suite(tx_suite);

MODULE_DESCRIPTION("ornic: tx suite");
MODULE_LICENSE("Dual BSD/GPL");
