// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Frames: every byte written, once, whatever memory does meanwhile. */
#include <kunit/test.h>

#include "rig_bed.h"

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

static struct kunit_case tx_cases[] = {
	KUNIT_CASE(frame_is_written_completely),
	KUNIT_CASE_PARAM(frame_carries_what_the_icrc_covers, live_gen_params),
	KUNIT_CASE(resend_carries_what_the_icrc_covers),
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
