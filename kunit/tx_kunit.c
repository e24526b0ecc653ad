// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Frames: every byte written, once, whatever memory does meanwhile. */
#include <kunit/test.h>

#include "pair_fixture.h"

static struct ornic_bed *open_bed(struct kunit *test, enum ornic_bed_kind kind,
				  u8 type)
{
	struct ornic_rig_qpinit init = { .type = type };
	struct ornic_bed *bed = test->priv;

	KUNIT_ASSERT_EQ(test, ornic_bed_open(bed, kind, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_bed_connect(bed), 0);
	return bed;
}

static int tx_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct ornic_bed), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static void tx_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ornic_bed_close(test->priv), 0);
}

/* ---- what a frame holds ---------------------------------------------------- */

/* Build a packet of @opcode in memory that holds @stale. Returns its length. */
static u32 build(u8 *data, u8 stale, u8 opcode, enum ornic_rig_gid which,
		 u32 len)
{
	static const u8 payload[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct ornic_frag frag = { (void *)payload, len };
	struct ornic_gid src = { .vlan = ORNIC_VLAN_NONE, .valid = true };
	struct ornic_txinfo info = { .opcode = opcode };
	struct ornic_path path;
	struct ornic_tx tx;
	struct ornic_av av;

	ornic_rig_gid_bytes(1, which, src.gid);
	ornic_rig_av(&av, 2, which);
	if (which == ORNIC_RIG_VLAN)
		src.vlan = ORNIC_RIG_VLAN_ID;
	ornic_path_init(&path, &src, &av);
	memset(data, stale, 256);
	return ornic_rig_build(&tx, data, &path, &info, &frag, !!len);
}

/* Nothing of what the memory held before leaves the host. */
static void frame_is_written_completely(struct kunit *test)
{
	u8 *a = kunit_kzalloc(test, 256, GFP_KERNEL);
	u8 *b = kunit_kzalloc(test, 256, GFP_KERNEL);
	u32 opcode, which, len, n;

	KUNIT_ASSERT_TRUE(test, a && b);
	for (opcode = 0; opcode < 256; opcode++) {
		if (!ornic_opinfo(opcode))
			continue;
		for (which = 0; which < ORNIC_RIG_GIDS; which++) {
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
static void scribble(struct ornic_rig *rig)
{
	struct ornic_bed *bed = rig->program;
	u32 i;

	for (i = 0; i < ORNIC_BED_MR_BYTES; i++) {
		bed->am.buf[i]++;
		bed->bm.buf[i]++;
	}
}

static void live(struct ornic_bed *bed)
{
	bed->pair.a->program = bed;
	bed->pair.b->program = bed;
	bed->pair.a->meanwhile = scribble;
	bed->pair.b->meanwhile = scribble;
}

static u64 both(struct ornic_bed *bed, enum ornic_stat stat)
{
	return ornic_engine_stat(bed->pair.a->eng, stat) +
	       ornic_engine_stat(bed->pair.b->eng, stat);
}

/* What arrives may be torn, but it arrives, and at once. */
static void frame_carries_what_the_icrc_covers(struct kunit *test)
{
	const struct live_row *row = test->param_value;
	struct ornic_bed *bed = open_bed(test, ORNIC_BED_WIRE, row->type);
	struct ornic_cqe cqe;

	live(bed);
	ornic_bed_recv(&bed->b, &bed->bm, 7, 0, row->len);
	ornic_bed_post(&bed->a, &bed->am, &bed->bm, row->opcode, 0, 0,
		       row->len);
	KUNIT_ASSERT_TRUE(test, ornic_rig_settle(&bed->pair));
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0);
	if (row->opcode == ORNIC_WQE_SEND)
		KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->brcq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, both(bed, ORNIC_STAT_RX_ICRC_ERRORS), 0);
	KUNIT_EXPECT_EQ(test, both(bed, ORNIC_STAT_RETRIES), 0);
}

/* The same of what is sent again, from memory that is other by now. */
static void resend_carries_what_the_icrc_covers(struct kunit *test)
{
	struct ornic_bed *bed = open_bed(test, ORNIC_BED_LONE, ORNIC_QPT_RC);
	struct ornic_rig *rig = bed->pair.a;

	rig->program = bed;
	rig->meanwhile = scribble;
	ornic_bed_post(&bed->a, &bed->am, NULL, ORNIC_WQE_SEND, 0, 0, 900);
	KUNIT_EXPECT_TRUE(test, ornic_bed_sent(bed));
	rig->now = ornic_rig_deadline(rig);
	KUNIT_EXPECT_TRUE(test, ornic_rig_expire(rig));
	KUNIT_EXPECT_TRUE(test, ornic_bed_sent(bed));
	KUNIT_EXPECT_EQ(test, bed->pkt.psn, ORNIC_BED_PSN);
}

/* ---- a port that refuses ---------------------------------------------------- */

#define PSN ORNIC_BED_PSN
#define ACK 0x1f
#define BACKOFF_NS 64000u

static struct ornic_bed *open_lone(struct kunit *test, u8 type)
{
	struct ornic_bed *bed = open_bed(test, ORNIC_BED_LONE, type);

	ornic_bed_fill(&bed->am, 0, ORNIC_BED_MR_BYTES, 1);
	return bed;
}

static u64 count(struct ornic_bed *bed, enum ornic_stat stat)
{
	return ornic_engine_stat(bed->pair.a->eng, stat);
}

/* The next timer of a fires. Returns how long it took. */
static u64 wait_timer(struct kunit *test, struct ornic_bed *bed)
{
	struct ornic_rig *rig = bed->pair.a;
	u64 when = ornic_rig_deadline(rig), took = when - rig->now;

	KUNIT_ASSERT_GT(test, when, rig->now);
	rig->now = when;
	KUNIT_EXPECT_TRUE(test, ornic_rig_expire(rig));
	return took;
}

/* Nothing is sent, and tried again after one backoff and after two. */
static void expect_backoff(struct kunit *test, struct ornic_bed *bed)
{
	KUNIT_EXPECT_FALSE(test, ornic_bed_sent(bed));
	KUNIT_EXPECT_EQ(test, wait_timer(test, bed), BACKOFF_NS);
	KUNIT_EXPECT_FALSE(test, ornic_bed_sent(bed));
	KUNIT_EXPECT_EQ(test, wait_timer(test, bed), 2 * BACKOFF_NS);
	KUNIT_EXPECT_EQ(test, count(bed, ORNIC_STAT_TX_ERRORS), 2);
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

static void refuse(struct ornic_bed *bed, const struct refused_row *row)
{
	bed->pair.a->frame_fail = row->frame_fail;
	bed->pair.a->xmit_fail = row->xmit_fail;
}

/* It keeps its PSN, costs no retry and is sent once. */
static void refused_request_keeps_its_place(struct kunit *test)
{
	const struct refused_row *row = test->param_value;
	struct ornic_bed *bed = open_lone(test, ORNIC_QPT_RC);
	u64 waited = 0;

	refuse(bed, row);
	ornic_bed_post(&bed->a, &bed->am, &bed->bm, row->opcode, 0, 0, 8);
	KUNIT_EXPECT_EQ(test, ornic_rig_sq_psn(&bed->a), PSN);
	expect_backoff(test, bed);
	KUNIT_ASSERT_TRUE(test, ornic_bed_sent(bed));
	KUNIT_EXPECT_EQ(test, bed->pkt.psn, PSN);
	KUNIT_EXPECT_FALSE(test, ornic_bed_sent(bed));
	KUNIT_EXPECT_EQ(test, count(bed, ORNIC_STAT_RETRIES), 0);
	/* The ACK timeout counts from here on; the host's timer may be early. */
	while (!count(bed, ORNIC_STAT_TIMEOUTS))
		waited += wait_timer(test, bed);
	KUNIT_EXPECT_EQ(test, waited, 4096ull << bed->a.conn.timeout);
}

/* In the middle of a message: each packet once, in order. */
static void refused_packets_go_on(struct kunit *test)
{
	struct ornic_bed *bed = open_lone(test, ORNIC_QPT_RC);
	struct ornic_rig *rig = bed->pair.a;
	struct ornic_cqe cqe;
	u32 n = 0;

	rig->tx_window = 1;
	ornic_bed_post(&bed->a, &bed->am, &bed->bm, ORNIC_WQE_WRITE, 0, 0,
		       20 * 1024);
	while (n < 20) {
		if (!ornic_bed_sent(bed)) {
			wait_timer(test, bed);
			continue;
		}
		KUNIT_ASSERT_EQ(test, bed->pkt.psn, ornic_psn_add(PSN, n));
		rig->xmit_fail = ++n % 3;
	}
	KUNIT_EXPECT_GT(test, count(bed, ORNIC_STAT_TX_ERRORS), 10);
	KUNIT_EXPECT_EQ(test, count(bed, ORNIC_STAT_RETRIES), 0);
	ornic_bed_answer(bed, ORNIC_OP_ACK, PSN + 19, ACK, NULL, 0);
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0);
}

static const struct answer_row {
	const char *desc;
	u8 opcode;
	u32 dma_len, len;
	u8 answer;
	u32 npkts;
} answer_rows[] = {
	{ "ACK", ORNIC_OP_WRITE_ONLY, 100, 100, ORNIC_OP_ACK, 1 },
	{ "READ response", ORNIC_OP_READ_REQUEST, 100, 0,
	  ORNIC_OP_READ_RESP_ONLY, 1 },
	{ "READ responses", ORNIC_OP_READ_REQUEST, 3 * 1024, 0,
	  ORNIC_OP_READ_RESP_FIRST, 3 },
	{ "atomic", ORNIC_OP_FAA, 0, 0, ORNIC_OP_ATOMIC_ACK, 1 },
};

KUNIT_ARRAY_PARAM_DESC(answer, answer_rows, desc);

static void refused_answer_is_sent_later(struct kunit *test)
{
	const struct answer_row *row = test->param_value;
	struct ornic_bed *bed = open_lone(test, ORNIC_QPT_RC);
	u32 i;

	bed->pair.a->xmit_fail = 1;
	bed->pair.a->frame_fail = 1;
	ornic_bed_request(bed, row->opcode, 0, 4, row->dma_len, row->len);
	expect_backoff(test, bed);
	for (i = 0; i < row->npkts; i++) {
		KUNIT_ASSERT_TRUE(test, ornic_bed_sent(bed));
		KUNIT_EXPECT_EQ(test, bed->pkt.psn, ornic_psn_add(PSN, i));
		if (!i)
			KUNIT_EXPECT_EQ(test, bed->pkt.opcode, row->answer);
	}
	KUNIT_EXPECT_FALSE(test, ornic_bed_sent(bed));
	KUNIT_EXPECT_EQ(test, ornic_rig_deadline(bed->pair.a), 0);
}

/* Answers to a port that is down end as well: their peer asks again. */
static void refused_answers_are_lost_in_the_end(struct kunit *test)
{
	struct ornic_bed *bed = open_lone(test, ORNIC_QPT_RC);
	struct ornic_rig *rig = bed->pair.a;
	u32 timers = 0;

	rig->frame_fail = 1000;
	ornic_bed_request(bed, ORNIC_OP_WRITE_ONLY, 0, 0, 100, 100);
	ornic_bed_request(bed, ORNIC_OP_READ_REQUEST, 1, 0, 3 * 1024, 0);
	for (; ornic_rig_deadline(rig); timers++)
		wait_timer(test, bed);
	KUNIT_EXPECT_EQ(test, timers, 10);
	KUNIT_EXPECT_FALSE(test, ornic_bed_sent(bed));
	rig->frame_fail = 0;
	ornic_bed_request(bed, ORNIC_OP_READ_REQUEST, 1, 0, 1024, 0);
	KUNIT_ASSERT_TRUE(test, ornic_bed_sent(bed));
	KUNIT_EXPECT_EQ(test, bed->pkt.opcode, ORNIC_OP_READ_RESP_ONLY);
}

/* IBTA 9.7.6.1.3: the port stays down: so many timeouts, then the end. */
static void refused_for_ever_ends_rc(struct kunit *test)
{
	struct ornic_bed *bed = open_lone(test, ORNIC_QPT_RC);
	struct ornic_rig *rig = bed->pair.a;
	struct ornic_cqe cqe;
	u32 timers = 0;

	rig->frame_fail = 100000;
	ornic_bed_post(&bed->a, &bed->am, NULL, ORNIC_WQE_SEND, 0, 0, 8);
	for (; ornic_rig_deadline(rig) && timers < 10000; timers++)
		wait_timer(test, bed);
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe),
			ORNIC_CQE_RETRY_EXC_ERR);
	KUNIT_EXPECT_EQ(test, count(bed, ORNIC_STAT_TIMEOUTS),
			bed->a.conn.retry_cnt + 1);
	KUNIT_EXPECT_LT(test, timers, 100);
}

static const struct lossy_row {
	const char *desc;
	u8 type;
} lossy_rows[] = {
	{ "UC", ORNIC_QPT_UC },
	{ "UD", ORNIC_QPT_UD },
};

KUNIT_ARRAY_PARAM_DESC(lossy, lossy_rows, desc);

static void post_lossy(struct ornic_bed *bed)
{
	struct ornic_lsge sge = ornic_bed_sge(&bed->am, 0, 8);
	struct ornic_rig_wr wr = {
		.opcode = ORNIC_WQE_SEND,
		.flags = ORNIC_WQE_SIGNALED,
		.dest_qpn = 77,
		.nsge = 1,
		.sge = &sge,
	};
	struct ornic_av av;

	ornic_rig_av(&av, 2, ORNIC_RIG_IPV4);
	if (bed->a.type == ORNIC_QPT_UD)
		ornic_rig_ah(bed->pair.a, &av, &wr.ah);
	ornic_rig_post_send(&bed->a, &wr);
}

/* Nobody asks again on UC and UD, so the port is, but not for ever. */
static void refused_for_ever_is_loss(struct kunit *test)
{
	const struct lossy_row *row = test->param_value;
	struct ornic_bed *bed = open_lone(test, row->type);
	struct ornic_rig *rig = bed->pair.a;
	struct ornic_cqe cqe;
	u32 timers = 0;

	rig->frame_fail = 1000;
	post_lossy(bed);
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0xff);
	for (; ornic_rig_deadline(rig); timers++)
		wait_timer(test, bed);
	KUNIT_EXPECT_EQ(test, timers, 10);
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0);
	/* The next does not wait as long again. */
	post_lossy(bed);
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0);
	rig->frame_fail = 0;
	post_lossy(bed);
	KUNIT_EXPECT_TRUE(test, ornic_bed_sent(bed));
}

/* What a rule of the host's drops is lost, as in any network: nothing waits. */
static void dropped_by_a_rule_is_loss(struct kunit *test)
{
	const struct lossy_row *row = test->param_value;
	struct ornic_bed *bed = open_lone(test, row->type);
	struct ornic_rig *rig = bed->pair.a;
	struct ornic_cqe cqe;

	rig->xmit_fail = 1;
	rig->xmit_err = -EPERM;
	post_lossy(bed);
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe), 0);
	KUNIT_EXPECT_EQ(test, count(bed, ORNIC_STAT_TX_ERRORS), 1);
	post_lossy(bed);
	KUNIT_EXPECT_TRUE(test, ornic_bed_sent(bed));
}

/* A frame that the port will never take is lost, and the retries find out. */
static void too_large_is_loss(struct kunit *test)
{
	struct ornic_bed *bed = open_lone(test, ORNIC_QPT_RC);
	struct ornic_rig *rig = bed->pair.a;
	struct ornic_cqe cqe;
	u32 timers = 0;

	rig->largest = 600;
	ornic_bed_post(&bed->a, &bed->am, NULL, ORNIC_WQE_SEND, 0, 0, 1000);
	for (; ornic_rig_deadline(rig); timers++)
		wait_timer(test, bed);
	KUNIT_EXPECT_EQ(test, timers, bed->a.conn.retry_cnt + 1);
	KUNIT_EXPECT_EQ(test, count(bed, ORNIC_STAT_TX_ERRORS), timers);
	KUNIT_EXPECT_EQ(test, ornic_bed_status(&bed->ascq, &cqe),
			ORNIC_CQE_RETRY_EXC_ERR);
}

static struct kunit_case tx_cases[] = {
	KUNIT_CASE(frame_is_written_completely),
	KUNIT_CASE_PARAM(frame_carries_what_the_icrc_covers, live_gen_params),
	KUNIT_CASE(resend_carries_what_the_icrc_covers),
	KUNIT_CASE_PARAM(refused_request_keeps_its_place, refused_gen_params),
	KUNIT_CASE(refused_packets_go_on),
	KUNIT_CASE_PARAM(refused_answer_is_sent_later, answer_gen_params),
	KUNIT_CASE(refused_answers_are_lost_in_the_end),
	KUNIT_CASE(refused_for_ever_ends_rc),
	KUNIT_CASE_PARAM(refused_for_ever_is_loss, lossy_gen_params),
	KUNIT_CASE_PARAM(dropped_by_a_rule_is_loss, lossy_gen_params),
	KUNIT_CASE(too_large_is_loss),
	{}
};

static struct kunit_suite tx_suite = {
	.name = "ornic_tx",
	.init = tx_init,
	.exit = tx_exit,
	.test_cases = tx_cases,
};

kunit_test_suite(tx_suite);

MODULE_DESCRIPTION("ornic: tx suite");
MODULE_LICENSE("Dual BSD/GPL");
