// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Raw packet QPs: frames as they are posted leave the port, and those that rules
 * name arrive, from the wire and from QPs of the same device.
 */
#include <kunit/test.h>

#include "raw_frames.h"
#include "suite_fixture.h"
#include "engine/dev.h"
#include "engine/proto.h"

#define RAW ORNIC_QPT_RAW
#define LEN 100u
#define OWN \
	1 /* last byte of the address of harness 1; its others are 2, 0, ... */

/**
 * struct raw_test - raw packet QPs a and b
 * @fix: the harness
 * @sent: a frame that was posted
 * @got: a frame that was received
 * @changes: how often a program has changed one
 * @srq: of one more QP
 * @qp: one more QP
 */
struct raw_test {
	struct ornic_fixture fix;
	u8 sent[ORNIC_TH_FRAME_BYTES + 8];
	u8 got[ORNIC_TH_FRAME_BYTES + 8];
	u32 changes;
	struct ornic_th_srq srq;
	struct ornic_th_qp qp;
};

static_assert(offsetof(struct raw_test, fix) == 0);

static int raw_init(struct kunit *test)
{
	return ornic_suite_alloc(test, sizeof(struct raw_test));
}

static int to_rts(struct ornic_th_qp *qp)
{
	int status = ornic_th_to(qp, ORNIC_QPS_INIT);

	if (!status)
		status = ornic_th_to(qp, ORNIC_QPS_RTR);
	return status ?: ornic_th_to(qp, ORNIC_QPS_RTS);
}

static struct raw_test *open_raw(struct kunit *test, enum ornic_fix_kind kind)
{
	struct ornic_th_qpinit init = { .type = RAW };
	struct raw_test *rt = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(&rt->fix, kind, &init), 0);
	KUNIT_ASSERT_EQ(test, to_rts(&rt->fix.a), 0);
	KUNIT_ASSERT_EQ(test, to_rts(&rt->fix.b), 0);
	return rt;
}

static u32 add_rule(struct kunit *test, const struct ornic_rf_rule *rule)
{
	u32 number = 0;

	KUNIT_ASSERT_EQ(test, ornic_rf_create(rule->qp->th, rule, &number), 0);
	return number;
}

/* Post rt->sent on a, from its memory. */
static int post(struct raw_test *rt, u32 len)
{
	ornic_th_mr_write(&rt->fix.am, 0, rt->sent, len);
	return ornic_fix_post(&rt->fix.a, &rt->fix.am, NULL, ORNIC_WQE_SEND, 0,
			      0, len);
}

/* Post a UDP frame to @host. */
static int post_udp(struct raw_test *rt, u8 host, u32 len)
{
	ornic_rf_udp(rt->sent, host, 53, len);
	return post(rt, len);
}

static int send_status(struct raw_test *rt)
{
	struct ornic_cqe cqe;

	return ornic_fix_status(&rt->fix.ascq, &cqe);
}

/* Did b receive what was sent, all of it, to byte 0 of its memory? */
static void expect_got(struct kunit *test, u32 len)
{
	struct raw_test *rt = test->priv;
	struct ornic_cqe cqe;

	KUNIT_EXPECT_EQ(test, ornic_fix_status(&rt->fix.brcq, &cqe),
			ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.byte_len), len);
	KUNIT_EXPECT_EQ(test, cqe.opcode, ORNIC_CQE_RECV);
	KUNIT_EXPECT_EQ(test, cqe.flags & ~ORNIC_CQE_PHASE, 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.qpn), rt->fix.b.qpn);
	ornic_th_mr_read(&rt->fix.bm, 0, rt->got, len);
	KUNIT_EXPECT_EQ(test, memcmp(rt->got, rt->sent, len), 0);
}

/* How many frames have left. */
static u32 drain(struct raw_test *rt)
{
	struct ornic_th_frame *f;
	u32 n = 0;

	while ((f = ornic_th_pull(rt->fix.pair.a))) {
		ornic_th_put(rt->fix.pair.a, f);
		n++;
	}
	return n;
}

static bool got_nothing(struct raw_test *rt)
{
	struct ornic_cqe cqe;

	return !ornic_th_poll(&rt->fix.brcq, &cqe);
}

static u64 stat_of(const struct ornic_th *th, enum ornic_stat stat)
{
	return ornic_engine_stat(th->eng, stat);
}

/* ---- sending ---------------------------------------------------------------------- */

struct length_row {
	const char *name;
	u32 len;
	int status;
};

#define OK ORNIC_CQE_SUCCESS
#define TOO_SHORT ORNIC_CQE_LOC_LEN_ERR
#define TOO_LONG ORNIC_CQE_LOC_LEN_ERR

static const struct length_row length_rows[] = {
	{ "nothing", 0, TOO_SHORT },
	{ "less than a header", 13, TOO_SHORT },
	{ "a header", 14, OK },
	{ "less than a tag", 17, OK },
	{ "a tag", 18, OK },
	{ "the least of Ethernet", 60, OK },
	{ "all in the first piece", ORNIC_FLOW_HEAD, OK },
	{ "a byte more", ORNIC_FLOW_HEAD + 1, OK },
	{ "the most of Ethernet", 1514, OK },
	{ "the most of the port", ORNIC_TH_FRAME_BYTES, OK },
	{ "more", ORNIC_TH_FRAME_BYTES + 1, TOO_LONG },
};

KUNIT_ARRAY_PARAM_DESC(length, length_rows, name);

/* What leaves is what was posted, byte for byte. */
static void raw_sends(struct kunit *test)
{
	const struct length_row *row = test->param_value;
	struct raw_test *rt = open_raw(test, ORNIC_FIX_WIRE);
	bool leaves = row->status == ORNIC_CQE_SUCCESS;
	struct ornic_th_frame *f;

	ornic_rf_udp(rt->sent, 9, 53, max_t(u32, row->len, ORNIC_RF_HEAD));
	/* There may be no tag behind the type of one. */
	rt->sent[12] = 0x81;
	KUNIT_ASSERT_EQ(test, post(rt, row->len), 0);
	KUNIT_EXPECT_EQ(test, send_status(rt), row->status);
	f = ornic_th_pull(rt->fix.pair.a);
	KUNIT_EXPECT_EQ(test, !!f, leaves);
	if (f) {
		KUNIT_EXPECT_EQ(test, f->len, row->len);
		KUNIT_EXPECT_EQ(test, memcmp(f->data, rt->sent, row->len), 0);
		ornic_th_put(rt->fix.pair.a, f);
	}
	KUNIT_EXPECT_EQ(test, stat_of(rt->fix.pair.a, ORNIC_STAT_TX_PACKETS),
			leaves);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&rt->fix.a),
			leaves ? ORNIC_QPS_RTS : ORNIC_QPS_SQE);
}

/* A frame longer than any port's fails before one is asked for. */
static void raw_length_limit(struct kunit *test)
{
	struct raw_test *rt = open_raw(test, ORNIC_FIX_WIRE);
	struct ornic_lsge sge[2] = {
		ornic_fix_sge(&rt->fix.am, 0, 65535),
		ornic_fix_sge(&rt->fix.am, 0, 19),
	};
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 2,
		.sge = sge,
	};

	KUNIT_ASSERT_EQ(test, ornic_th_post_send(&rt->fix.a, &wr), 0);
	KUNIT_EXPECT_EQ(test, send_status(rt), ORNIC_CQE_LOC_LEN_ERR);
	KUNIT_EXPECT_EQ(test, stat_of(rt->fix.pair.a, ORNIC_STAT_TX_ERRORS), 0);
}

/* From many pieces, one of a single byte, and inline. */
static void raw_gathers(struct kunit *test)
{
	struct raw_test *rt = open_raw(test, ORNIC_FIX_WIRE);
	struct ornic_lsge sge[4] = {
		ornic_fix_sge(&rt->fix.am, 0, 1),
		ornic_fix_sge(&rt->fix.am, 1, 16),
		ornic_fix_sge(&rt->fix.am, 17, 0),
		ornic_fix_sge(&rt->fix.am, 17, LEN - 17),
	};
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.flags = ORNIC_WQE_SIGNALED,
		.nsge = 4,
		.sge = sge,
	};
	struct ornic_th_frame *f;
	u32 i;

	ornic_rf_udp(rt->sent, 9, 53, LEN);
	ornic_th_mr_write(&rt->fix.am, 0, rt->sent, LEN);
	KUNIT_ASSERT_EQ(test, ornic_th_post_send(&rt->fix.a, &wr), 0);
	wr.flags |= ORNIC_WQE_INLINE;
	wr.inline_data = rt->sent;
	wr.inline_len = 64;
	KUNIT_ASSERT_EQ(test, ornic_th_post_send(&rt->fix.a, &wr), 0);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, send_status(rt), ORNIC_CQE_SUCCESS);
		f = ornic_th_pull(rt->fix.pair.a);
		KUNIT_ASSERT_NOT_NULL(test, f);
		KUNIT_EXPECT_EQ(test, f->len, i ? 64 : LEN);
		KUNIT_EXPECT_EQ(test, memcmp(f->data, rt->sent, f->len), 0);
		ornic_th_put(rt->fix.pair.a, f);
	}
}

/* A key that is not of the QP, in the middle of the frame. */
static void raw_bad_key(struct kunit *test)
{
	struct raw_test *rt = open_raw(test, ORNIC_FIX_WIRE);
	struct ornic_lsge sge[2] = {
		ornic_fix_sge(&rt->fix.am, 0, 64),
		{ .addr = 4096, .length = 36, .lkey = 0x12345678 },
	};
	struct ornic_th_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.nsge = 2,
		.sge = sge,
	};

	KUNIT_ASSERT_EQ(test, ornic_th_post_send(&rt->fix.a, &wr), 0);
	KUNIT_EXPECT_EQ(test, send_status(rt), ORNIC_CQE_LOC_PROT_ERR);
	KUNIT_EXPECT_NULL(test, ornic_th_pull(rt->fix.pair.a));
	/* The frame that was begun is the port's again. */
	KUNIT_EXPECT_NOT_NULL(test, rt->fix.pair.a->free);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&rt->fix.a), ORNIC_QPS_SQE);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&rt->fix.a, ORNIC_QPS_RTS), 0);
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_EQ(test, send_status(rt), ORNIC_CQE_SUCCESS);
}

/* Nothing but SEND. */
static void raw_opcodes(struct kunit *test)
{
	static const u8 opcodes[] = {
		ORNIC_WQE_SEND_IMM, ORNIC_WQE_WRITE,	    ORNIC_WQE_READ,
		ORNIC_WQE_CAS,	    ORNIC_WQE_BIND_MW,	    ORNIC_WQE_LOCAL_INV,
		ORNIC_WQE_REG_MR,   ORNIC_WQE_ATOMIC_WRITE, ORNIC_WQE_FLUSH,
	};
	struct raw_test *rt = open_raw(test, ORNIC_FIX_WIRE);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		KUNIT_ASSERT_EQ(test,
				ornic_fix_post(&rt->fix.a, &rt->fix.am, NULL,
					       opcodes[i], 0, 0, 64),
				0);
		KUNIT_EXPECT_EQ(test, send_status(rt), ORNIC_CQE_LOC_QP_OP_ERR);
		KUNIT_EXPECT_EQ(test, ornic_th_to(&rt->fix.a, ORNIC_QPS_RTS),
				0);
	}
	KUNIT_EXPECT_NULL(test, ornic_th_pull(rt->fix.pair.a));
}

/* What the port refuses for a while goes again; what a rule drops is lost. */
static void raw_port_refuses(struct kunit *test)
{
	struct raw_test *rt = open_raw(test, ORNIC_FIX_WIRE);
	struct ornic_th *th = rt->fix.pair.a;

	th->frame_fail = 1;
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_EQ(test, send_status(rt), 0xff);
	KUNIT_EXPECT_TRUE(test, ornic_th_advance(&rt->fix.pair, 100000));
	KUNIT_EXPECT_EQ(test, send_status(rt), ORNIC_CQE_SUCCESS);
	th->xmit_fail = 1;
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_EQ(test, send_status(rt), 0xff);
	KUNIT_EXPECT_TRUE(test, ornic_th_advance(&rt->fix.pair, 100000));
	KUNIT_EXPECT_EQ(test, send_status(rt), ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, stat_of(th, ORNIC_STAT_TX_PACKETS), 2);
	th->xmit_fail = 1;
	th->xmit_err = -EPERM;
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_EQ(test, send_status(rt), ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, stat_of(th, ORNIC_STAT_TX_PACKETS), 2);
	KUNIT_EXPECT_EQ(test, stat_of(th, ORNIC_STAT_TX_ERRORS), 3);
}

/* ---- receiving -------------------------------------------------------------------- */

static void raw_receives(struct kunit *test)
{
	struct raw_test *rt = open_raw(test, ORNIC_FIX_WIRE);
	struct ornic_rf_rule rule = ornic_rf_to(&rt->fix.b, 9);
	struct ornic_th *b = rt->fix.pair.b;

	add_rule(test, &rule);
	ornic_fix_recv(&rt->fix.b, &rt->fix.bm, 7, 0, 2000);
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&rt->fix.pair));
	expect_got(test, LEN);
	KUNIT_EXPECT_EQ(test, b->host_frames, 0);
	/* What no rule names is the host's. */
	ornic_fix_recv(&rt->fix.b, &rt->fix.bm, 7, 0, 2000);
	KUNIT_ASSERT_EQ(test, post_udp(rt, 8, LEN), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&rt->fix.pair));
	KUNIT_EXPECT_TRUE(test, got_nothing(rt));
	KUNIT_EXPECT_EQ(test, b->host_frames, 1);
}

/* A long frame, that arrives in pieces, into pieces of memory. */
static void raw_scatters(struct kunit *test)
{
	struct raw_test *rt = open_raw(test, ORNIC_FIX_WIRE);
	struct ornic_rf_rule rule = ornic_rf_to(&rt->fix.b, 9);
	struct ornic_lsge sge[3] = {
		ornic_fix_sge(&rt->fix.bm, 0, 3),
		ornic_fix_sge(&rt->fix.bm, 3, 1000),
		ornic_fix_sge(&rt->fix.bm, 1003, 511),
	};

	rt->fix.pair.b->seg_bytes = 100;
	add_rule(test, &rule);
	ornic_th_post_recv(&rt->fix.b, 7, sge, 3);
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, 1514), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&rt->fix.pair));
	expect_got(test, 1514);
}

/* Frames that nothing is posted for, or too little, end no QP. */
static void raw_misfits(struct kunit *test)
{
	struct raw_test *rt = open_raw(test, ORNIC_FIX_WIRE);
	struct ornic_rf_rule rule = ornic_rf_to(&rt->fix.b, 9);
	struct ornic_th *b = rt->fix.pair.b;

	add_rule(test, &rule);
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&rt->fix.pair));
	KUNIT_EXPECT_EQ(test, stat_of(b, ORNIC_STAT_RX_NO_WQE), 1);
	ornic_fix_recv(&rt->fix.b, &rt->fix.bm, 7, 0, LEN);
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN + 1), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&rt->fix.pair));
	KUNIT_EXPECT_EQ(test, stat_of(b, ORNIC_STAT_RX_TOO_LONG), 1);
	KUNIT_EXPECT_TRUE(test, got_nothing(rt));
	/* The receive waits for one that fits. */
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&rt->fix.pair));
	expect_got(test, LEN);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&rt->fix.b), ORNIC_QPS_RTS);
}

/* A receive with a key that is none ends the QP, as with others. */
static void raw_bad_receive(struct kunit *test)
{
	struct raw_test *rt = open_raw(test, ORNIC_FIX_WIRE);
	struct ornic_rf_rule rule = ornic_rf_to(&rt->fix.b, 9);
	struct ornic_lsge sge = { .length = 2000, .lkey = 0x12345678 };
	struct ornic_cqe cqe;

	add_rule(test, &rule);
	ornic_th_post_recv(&rt->fix.b, 7, &sge, 1);
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&rt->fix.pair));
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&rt->fix.brcq, &cqe),
			ORNIC_CQE_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&rt->fix.b), ORNIC_QPS_ERR);
}

/* A rule of a QP that is not ready takes its frames, which are lost. */
static void raw_not_ready(struct kunit *test)
{
	struct raw_test *rt = open_raw(test, ORNIC_FIX_WIRE);
	struct ornic_rf_rule rule = ornic_rf_to(&rt->fix.b, 9);

	add_rule(test, &rule);
	ornic_fix_recv(&rt->fix.b, &rt->fix.bm, 7, 0, 2000);
	KUNIT_EXPECT_EQ(test, ornic_th_to(&rt->fix.b, ORNIC_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&rt->fix.pair));
	KUNIT_EXPECT_EQ(test, rt->fix.pair.b->host_frames, 0);
	KUNIT_EXPECT_EQ(test, stat_of(rt->fix.pair.b, ORNIC_STAT_RX_NO_QP), 1);
	KUNIT_EXPECT_TRUE(test, got_nothing(rt));
}

/* RoCE packets to the number of a raw packet QP are for nobody. */
static void raw_is_no_roce(struct kunit *test)
{
	struct raw_test *rt = open_raw(test, ORNIC_FIX_WIRE);
	struct ornic_txinfo info = { .opcode = ORNIC_UD | ORNIC_OP_SEND_ONLY };

	ornic_th_av(&rt->fix.b.conn.av, 1, ORNIC_TH_IPV4);
	ornic_fix_recv(&rt->fix.b, &rt->fix.bm, 7, 0, 2000);
	KUNIT_ASSERT_EQ(test, ornic_th_inject(&rt->fix.b, &info, "1234", 4), 0);
	KUNIT_EXPECT_EQ(test, stat_of(rt->fix.pair.b, ORNIC_STAT_RX_NO_QP), 1);
	KUNIT_EXPECT_TRUE(test, got_nothing(rt));
}

/* ---- on one device ---------------------------------------------------------------- */

enum rule_kind { RULE_ADDRESS, RULE_GROUP, RULE_PORT, RULE_SNIFFER, RULE_NONE };

/*
 * struct loop_row - to whom a frame to @host goes: b, the wire. The address of the
 * port ends in @now by then, if that is not 0
 */
static const struct loop_row {
	const char *name;
	enum rule_kind kind;
	u8 host;
	bool here, leaves;
	u8 now;
} loop_rows[] = {
	{ "named address", RULE_ADDRESS, 9, true, false },
	{ "another address", RULE_ADDRESS, 8, false, true },
	{ "port", RULE_PORT, 9, true, true },
	{ "sniffer", RULE_SNIFFER, 9, true, true },
	{ "no rule", RULE_NONE, 9, false, true },
	{ "own address", RULE_PORT, OWN, true, false },
	{ "own address, no rule", RULE_NONE, OWN, false, false },
	{ "new address", RULE_PORT, 77, true, false, 77 },
	{ "former address", RULE_PORT, OWN, true, true, 77 },
	{ "named group", RULE_GROUP, 9, true, true },
};

KUNIT_ARRAY_PARAM_DESC(loop, loop_rows, name);

static void add_kind(struct kunit *test, enum rule_kind kind,
		     const struct ornic_th_qp *qp)
{
	struct ornic_rf_rule rule = { .qp = qp, .type = ORNIC_FLOW_SNIFFER };

	if (kind == RULE_ADDRESS || kind == RULE_GROUP)
		rule = ornic_rf_to(qp, 9);
	if (kind == RULE_GROUP)
		rule.match.value.dmac[0] = 3;
	if (kind == RULE_PORT)
		rule = ornic_rf_port(qp, 53);
	if (kind != RULE_NONE)
		add_rule(test, &rule);
}

static void raw_loops(struct kunit *test)
{
	const struct loop_row *row = test->param_value;
	struct raw_test *rt = open_raw(test, ORNIC_FIX_LOOP);
	struct ornic_th_frame *f;

	add_kind(test, row->kind, &rt->fix.b);
	if (row->now)
		rt->fix.pair.a->mac[5] = row->now;
	ornic_fix_recv(&rt->fix.b, &rt->fix.bm, 7, 0, 2000);
	ornic_rf_udp(rt->sent, row->host, 53, LEN);
	rt->sent[0] |= row->kind == RULE_GROUP;
	KUNIT_ASSERT_EQ(test, post(rt, LEN), 0);
	KUNIT_EXPECT_EQ(test, send_status(rt), ORNIC_CQE_SUCCESS);
	if (row->here)
		expect_got(test, LEN);
	else
		KUNIT_EXPECT_TRUE(test, got_nothing(rt));
	f = ornic_th_pull(rt->fix.pair.a);
	KUNIT_EXPECT_EQ(test, !!f, row->leaves);
	if (f)
		ornic_th_put(rt->fix.pair.a, f);
	/* A frame that stays is the port's again. */
	KUNIT_EXPECT_NOT_NULL(test, rt->fix.pair.a->free);
	KUNIT_EXPECT_EQ(test, stat_of(rt->fix.pair.a, ORNIC_STAT_LOOP_MSGS),
			row->here);
}

/* What a QP sends does not come back to it. */
static void raw_loop_not_to_sender(struct kunit *test)
{
	struct raw_test *rt = open_raw(test, ORNIC_FIX_LOOP);
	struct ornic_cqe cqe;

	add_kind(test, RULE_PORT, &rt->fix.a);
	add_kind(test, RULE_PORT, &rt->fix.b);
	ornic_fix_recv(&rt->fix.a, &rt->fix.am, 7, 4096, 2000);
	ornic_fix_recv(&rt->fix.b, &rt->fix.bm, 7, 0, 2000);
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	expect_got(test, LEN);
	KUNIT_EXPECT_FALSE(test, ornic_th_poll(&rt->fix.arcq, &cqe));
}

/* A frame that the port refuses, and takes later, is delivered here once. */
static void raw_loop_once(struct kunit *test)
{
	struct raw_test *rt = open_raw(test, ORNIC_FIX_LOOP);

	add_kind(test, RULE_PORT, &rt->fix.b);
	ornic_fix_recv(&rt->fix.b, &rt->fix.bm, 7, 0, 2000);
	ornic_fix_recv(&rt->fix.b, &rt->fix.bm, 8, 2048, 2000);
	rt->fix.pair.a->xmit_fail = 1;
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_EQ(test, send_status(rt), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_th_deadline(rt->fix.pair.a) != 0, true);
	rt->fix.pair.a->now += 100000;
	ornic_th_expire(rt->fix.pair.a);
	KUNIT_EXPECT_EQ(test, send_status(rt), ORNIC_CQE_SUCCESS);
	expect_got(test, LEN);
	KUNIT_EXPECT_TRUE(test, got_nothing(rt));
	KUNIT_EXPECT_EQ(test, drain(rt), 1);
}

/* To one QP in each call, as the budget wants it; each gets it once. */
static void raw_loop_in_turns(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RAW };
	struct raw_test *rt = open_raw(test, ORNIC_FIX_LOOP);
	struct ornic_th *th = rt->fix.pair.a;
	u32 nframes = th->nframes;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(th, &rt->qp, &init, &rt->fix.bscq,
					 &rt->fix.brcq),
			0);
	KUNIT_ASSERT_EQ(test, to_rts(&rt->qp), 0);
	add_kind(test, RULE_PORT, &rt->fix.b);
	add_kind(test, RULE_PORT, &rt->qp);
	ornic_fix_recv(&rt->fix.b, &rt->fix.bm, 7, 0, 2000);
	ornic_fix_recv(&rt->qp, &rt->fix.bm, 8, 2048, 2000);
	th->budget = 1;
	KUNIT_ASSERT_EQ(test, post_udp(rt, OWN, LEN), 0);
	expect_got(test, LEN);
	KUNIT_EXPECT_TRUE(test, got_nothing(rt));
	ornic_th_run(th);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&rt->fix.brcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(cqe.qpn), rt->qp.qpn);
	KUNIT_EXPECT_EQ(test, send_status(rt), ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_TRUE(test, got_nothing(rt));
	/* The frame of the first call was the port's again in the second. */
	KUNIT_EXPECT_EQ(test, th->nframes, nframes + 1);
}

/* Changes what a will send, while a frame of it is made. */
static void change_frame(struct ornic_th *th)
{
	struct raw_test *rt = th->program;
	u8 port[2] = { 0, 99 };

	rt->changes++;
	ornic_th_mr_write(&rt->fix.am, 36, port, sizeof(port));
}

/*
 * The program writes to its memory at any time: the frame that a rule sees is the
 * one that is delivered.
 */
static void raw_loop_is_copy(struct kunit *test)
{
	struct raw_test *rt = open_raw(test, ORNIC_FIX_LOOP);
	u8 port[2];

	add_kind(test, RULE_PORT, &rt->fix.b);
	ornic_fix_recv(&rt->fix.b, &rt->fix.bm, 7, 0, 2000);
	rt->fix.pair.a->program = rt;
	rt->fix.pair.a->meanwhile = change_frame;
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_EQ(test, send_status(rt), ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_GT(test, rt->changes, 0);
	/* It was another port's by then. */
	KUNIT_EXPECT_TRUE(test, got_nothing(rt));
	ornic_th_mr_read(&rt->fix.am, 36, port, sizeof(port));
	KUNIT_EXPECT_EQ(test, port[1], 99);
	KUNIT_EXPECT_EQ(test, drain(rt), 1);
}

/* ---- states ----------------------------------------------------------------------- */

/* Only the state changes, and nothing is sent before RTS. */
static void raw_states(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RAW };
	struct raw_test *rt = test->priv;
	struct ornic_th_qp *a = &rt->fix.a;

	KUNIT_ASSERT_EQ(test, ornic_fix_open(&rt->fix, ORNIC_FIX_WIRE, &init),
			0);
	KUNIT_EXPECT_EQ(test, ornic_th_to(a, ORNIC_QPS_RTR), ORNIC_BAD_STATE);
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(a, ORNIC_QPS_INIT,
					ORNIC_QPM_STATE | ORNIC_QPM_QKEY),
			ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, ornic_th_to(a, ORNIC_QPS_INIT), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_to(a, ORNIC_QPS_INIT), 0);
	KUNIT_EXPECT_EQ(test,
			ornic_th_modify(a, ORNIC_QPS_RTR,
					ORNIC_QPM_STATE | ORNIC_QPM_AV),
			ORNIC_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, ornic_th_to(a, ORNIC_QPS_RTR), 0);
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_EQ(test, send_status(rt), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_th_to(a, ORNIC_QPS_RTS), 0);
	ornic_th_run(rt->fix.pair.a);
	KUNIT_EXPECT_EQ(test, send_status(rt), ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, ornic_th_to(a, ORNIC_QPS_SQD), 0);
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_EQ(test, send_status(rt), 0xff);
	KUNIT_EXPECT_EQ(test, ornic_th_to(a, ORNIC_QPS_RTS), 0);
	ornic_th_run(rt->fix.pair.a);
	KUNIT_EXPECT_EQ(test, send_status(rt), ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, drain(rt), 2);
	KUNIT_ASSERT_EQ(test, ornic_th_to(a, ORNIC_QPS_ERR), 0);
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_EQ(test, send_status(rt), ORNIC_CQE_WR_FLUSH_ERR);
}

/* The end of the right to see frames: what was begun fails, the rest stays. */
static void raw_ends(struct kunit *test)
{
	struct raw_test *rt = open_raw(test, ORNIC_FIX_WIRE);
	struct ornic_th *th = rt->fix.pair.b;
	struct ornic_th_qpinit init = { .type = RAW };
	struct ornic_th_qp fresh, ud;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(th, &fresh, &init, &rt->fix.bscq,
					 &rt->fix.brcq),
			0);
	init.type = ORNIC_QPT_UD;
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(th, &ud, &init, &rt->fix.bscq,
					 &rt->fix.brcq),
			0);
	KUNIT_ASSERT_EQ(test, ornic_th_to(&ud, ORNIC_QPS_INIT), 0);
	ornic_fix_recv(&rt->fix.b, &rt->fix.bm, 7, 0, 2000);
	th->relaxed = 0;
	KUNIT_EXPECT_EQ(test, ornic_rf_end_all(th), ORNIC_OK);
	KUNIT_EXPECT_GE(test, th->relaxed, 3);
	KUNIT_EXPECT_EQ(test, ornic_rf_end_all(th), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, th->event_count[ORNIC_EVENT_QP_FATAL], 1);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&rt->fix.b), ORNIC_QPS_ERR);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&fresh), ORNIC_QPS_RESET);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&ud), ORNIC_QPS_INIT);
	ornic_th_run(th);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&rt->fix.brcq, &cqe),
			ORNIC_CQE_WR_FLUSH_ERR);
}

/* ... and rules take nothing any more. They may be made again. */
static void raw_rules_end(struct kunit *test)
{
	struct raw_test *rt = open_raw(test, ORNIC_FIX_WIRE);
	struct ornic_rf_rule rule = ornic_rf_to(&rt->fix.b, 9);
	struct ornic_th *b = rt->fix.pair.b;
	u32 number = add_rule(test, &rule);

	KUNIT_ASSERT_EQ(test, ornic_rf_end_all(b), ORNIC_OK);
	KUNIT_EXPECT_FALSE(test, b->raw_wanted);
	/* A host that has not noticed. */
	b->raw_wanted = true;
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&rt->fix.pair));
	KUNIT_EXPECT_EQ(test, b->host_frames, 1);
	KUNIT_EXPECT_EQ(test, stat_of(b, ORNIC_STAT_RX_NO_QP), 0);
	add_rule(test, &rule);
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_TRUE(test, ornic_th_settle(&rt->fix.pair));
	KUNIT_EXPECT_EQ(test, b->host_frames, 1);
	KUNIT_EXPECT_EQ(test, ornic_rf_destroy(b, number), 0);
	KUNIT_EXPECT_TRUE(test, b->raw_wanted);
}

/* Flags of other types, and groups, are not for raw packet QPs. */
static void raw_creates(struct kunit *test)
{
	static const u8 flags[] = { ORNIC_QP_AV, ORNIC_QP_GSI,
				    ORNIC_QP_FAST_REG, ORNIC_QP_NO_SELF_MCAST };
	struct raw_test *rt = open_raw(test, ORNIC_FIX_WIRE);
	union ornic_rsp rsp;
	union ornic_req req;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		struct ornic_th_qpinit init = { .type = RAW,
						.flags = flags[i] };
		struct ornic_th_qp qp;

		KUNIT_EXPECT_EQ(test,
				ornic_th_qp_init(rt->fix.pair.a, &qp, &init,
						 &rt->fix.ascq, &rt->fix.arcq),
				ORNIC_BAD_PARAM);
	}
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_ATTACH_MCAST;
	req.hdr.obj = cpu_to_le32(rt->fix.a.qpn);
	req.mcast.mgid[0] = 0xff;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(rt->fix.pair.a, &req, &rsp),
			ORNIC_BAD_PARAM);
	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_QUERY_DEVICE;
	ornic_th_cmd(rt->fix.pair.a, &req, &rsp);
	KUNIT_EXPECT_TRUE(test,
			  le64_to_cpu(rsp.query_device.caps) & ORNIC_CAP_RAW);
	KUNIT_EXPECT_EQ(test, rsp.query_device.log_max_flow,
			ORNIC_LOG_MAX_FLOW);
}

/* From an SRQ: what does not fit completes in error, as the WQE is taken. */
static void raw_srq(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = RAW };
	struct raw_test *rt = open_raw(test, ORNIC_FIX_LOOP);
	struct ornic_lsge sge = ornic_fix_sge(&rt->fix.bm, 0, LEN);
	struct ornic_rf_rule rule;
	struct ornic_cqe cqe;

	KUNIT_ASSERT_EQ(test, ornic_th_srq_init(rt->fix.pair.a, &rt->srq, 4, 2),
			0);
	init.srq = &rt->srq;
	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(rt->fix.pair.a, &rt->qp, &init,
					 &rt->fix.bscq, &rt->fix.brcq),
			0);
	KUNIT_ASSERT_EQ(test, to_rts(&rt->qp), 0);
	rule = ornic_rf_to(&rt->qp, 9);
	add_rule(test, &rule);
	ornic_th_post_srq(&rt->srq, 1, &sge, 1);
	ornic_th_post_srq(&rt->srq, 2, &sge, 1);
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN + 1), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&rt->fix.brcq, &cqe),
			ORNIC_CQE_LOC_LEN_ERR);
	KUNIT_ASSERT_EQ(test, post_udp(rt, 9, LEN), 0);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&rt->fix.brcq, &cqe),
			ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(cqe.wr_id), 2);
	KUNIT_EXPECT_EQ(test, ornic_th_state(&rt->qp), ORNIC_QPS_RTS);
}

static struct kunit_case raw_cases[] = {
	KUNIT_CASE_PARAM(raw_sends, length_gen_params),
	KUNIT_CASE(raw_length_limit),
	KUNIT_CASE(raw_gathers),
	KUNIT_CASE(raw_bad_key),
	KUNIT_CASE(raw_opcodes),
	KUNIT_CASE(raw_port_refuses),
	KUNIT_CASE(raw_receives),
	KUNIT_CASE(raw_scatters),
	KUNIT_CASE(raw_misfits),
	KUNIT_CASE(raw_bad_receive),
	KUNIT_CASE(raw_not_ready),
	KUNIT_CASE(raw_is_no_roce),
	KUNIT_CASE_PARAM(raw_loops, loop_gen_params),
	KUNIT_CASE(raw_loop_not_to_sender),
	KUNIT_CASE(raw_loop_once),
	KUNIT_CASE(raw_loop_in_turns),
	KUNIT_CASE(raw_loop_is_copy),
	KUNIT_CASE(raw_states),
	KUNIT_CASE(raw_ends),
	KUNIT_CASE(raw_rules_end),
	KUNIT_CASE(raw_creates),
	KUNIT_CASE(raw_srq),
	{}
};

static struct kunit_suite raw_suite = {
	.name = "ornic_raw",
	.init = raw_init,
	.exit = ornic_suite_exit,
	.test_cases = raw_cases,
};

kunit_test_suite(raw_suite);

MODULE_DESCRIPTION("ornic: raw packet QP suite");
MODULE_LICENSE("Dual BSD/GPL");
