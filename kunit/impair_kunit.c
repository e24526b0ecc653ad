// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Impairments: rules as text, which packets they select, packets that wait. */
#include <kunit/test.h>

#include "pair_fixture.h"
#include "data/rxe_packets.h"

#define ETH 14
#define MS 1000000ull

/* A packet as hosts describe it. */
struct impaired {
	u8 ip[40];
	u8 bth[16];
	struct ornic_impair_packet packet;
};

static const struct ornic_impair_packet *packet_of(struct impaired *p, u8 dir,
						   u8 opcode, u32 qpn, u32 psn)
{
	memset(p, 0, sizeof(*p));
	p->bth[0] = opcode;
	p->bth[5] = qpn >> 16;
	p->bth[6] = qpn >> 8;
	p->bth[7] = qpn;
	p->bth[9] = psn >> 16;
	p->bth[10] = psn >> 8;
	p->bth[11] = psn;
	p->packet.dir = dir;
	p->packet.ip = p->ip;
	p->packet.bth = p->bth;
	p->packet.len = sizeof(p->bth);
	return &p->packet;
}

static struct ornic_impair *new_table(struct kunit *test)
{
	struct ornic_impair *im = kunit_kzalloc(test, sizeof(*im), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, im);
	return im;
}

static void add_rule(struct kunit *test, struct ornic_impair *im,
		     const char *text)
{
	struct ornic_impair_error error;
	struct ornic_impair_rule rule;

	KUNIT_ASSERT_EQ(
		test, ornic_impair_parse(&rule, text, strlen(text), &error), 0);
	KUNIT_ASSERT_EQ(test, ornic_impair_add(im, &rule), 0);
}

static u8 action_on(struct ornic_impair *im, u8 dir, u8 opcode, u32 qpn,
		    u32 psn)
{
	struct impaired p;

	return ornic_impair_decide(im, packet_of(&p, dir, opcode, qpn, psn))
		.action;
}

/* A SEND in the middle of a message, sent to QP 5. */
static u8 action_on_psn(struct ornic_impair *im, u32 psn)
{
	return action_on(im, ORNIC_IMPAIR_TX, ORNIC_OP_SEND_MIDDLE, 5, psn);
}

/* ---- Text ---------------------------------------------------------------- */

static const struct good_row {
	const char *text;
	u8 dir;
	u8 action;
	s32 qpn;
	s32 psn;
	u32 nth;
	u32 every;
	u32 count;
	u64 number; /* of delay, ns, or of swap */
} good_rows[] = {
	{ "tx drop", 0, ORNIC_IMPAIR_DROP, -1, -1, 1, 1, 1, 0 },
	{ "rx corrupt", 1, ORNIC_IMPAIR_CORRUPT, -1, -1, 1, 1, 1, 0 },
	{ "  tx   ce  ", 0, ORNIC_IMPAIR_CE, -1, -1, 1, 1, 1, 0 },
	{ "tx qpn=0x12 psn=5 duplicate", 0, ORNIC_IMPAIR_DUPLICATE, 0x12, 5, 1,
	  1, 1, 0 },
	{ "tx drop psn=16777215 qpn=0", 0, ORNIC_IMPAIR_DROP, 0, 0xffffff, 1, 1,
	  1, 0 },
	{ "tx nth=3 every=10 drop", 0, ORNIC_IMPAIR_DROP, -1, -1, 3, 10, 0, 0 },
	{ "tx nth=3 every=10 count=2 drop", 0, ORNIC_IMPAIR_DROP, -1, -1, 3, 10,
	  2, 0 },
	{ "tx count=all drop", 0, ORNIC_IMPAIR_DROP, -1, -1, 1, 1, 0, 0 },
	{ "tx nth=4294967295 drop", 0, ORNIC_IMPAIR_DROP, -1, -1, 0xffffffff, 1,
	  1, 0 },
	{ "rx delay=5ms", 1, ORNIC_IMPAIR_DELAY, -1, -1, 1, 1, 1, 5 * MS },
	{ "rx delay=1us", 1, ORNIC_IMPAIR_DELAY, -1, -1, 1, 1, 1, 1000 },
	{ "rx delay=10s", 1, ORNIC_IMPAIR_DELAY, -1, -1, 1, 1, 1, 10000 * MS },
	{ "rx swap", 1, ORNIC_IMPAIR_SWAP, -1, -1, 1, 1, 1, 1 },
	{ "rx swap=256", 1, ORNIC_IMPAIR_SWAP, -1, -1, 1, 1, 1, 256 },
	{ "rx op=0xff qpn=first drop", 1, ORNIC_IMPAIR_DROP, -1, -1, 1, 1, 1,
	  0 },
	{ "rx type=xrc op=nak psn=+2 drop", 1, ORNIC_IMPAIR_DROP, -1, 2, 1, 1,
	  1, 0 },
};

KUNIT_ARRAY_PARAM_DESC(good, good_rows, text);

static void parse_reads_rules(struct kunit *test)
{
	const struct good_row *row = test->param_value;
	struct ornic_impair_error error;
	struct ornic_impair_rule rule;
	u32 len = strlen(row->text);

	KUNIT_ASSERT_EQ(test, ornic_impair_parse(&rule, row->text, len, &error),
			0);
	KUNIT_EXPECT_EQ(test, rule.dir, row->dir);
	KUNIT_EXPECT_EQ(test, rule.action, row->action);
	KUNIT_EXPECT_EQ(test, rule.qpn, row->qpn);
	KUNIT_EXPECT_EQ(test, rule.psn, row->psn);
	KUNIT_EXPECT_EQ(test, rule.nth, row->nth);
	KUNIT_EXPECT_EQ(test, rule.every, row->every);
	KUNIT_EXPECT_EQ(test, rule.count, row->count);
	KUNIT_EXPECT_EQ(test, rule.delay_ns + rule.overtakers, row->number);
	KUNIT_EXPECT_EQ(test, strlen(rule.text), len);
	KUNIT_EXPECT_MEMEQ(test, rule.text, row->text, len);
}

/* @word: what the error points to */
static const struct bad_row {
	const char *text;
	const char *word;
} bad_rows[] = {
	{ "", "" },
	{ "\n", "" },
	{ " ", "" },
	{ "tx", "" },
	{ "drop", "drop" },
	{ "drop tx", "drop" },
	{ "qpn=1 tx drop", "qpn=1" },
	{ "tx rx drop", "rx" },
	{ "tx drop drop", "drop" },
	{ "tx drop corrupt", "corrupt" },
	{ "TX drop", "TX" },
	{ "tx Drop", "Drop" },
	{ "tx drops", "drops" },
	{ "tx dro", "dro" },
	{ "tx drop=1", "drop=1" },
	{ "tx=1 drop", "tx=1" },
	{ "tx qpn drop", "qpn" },
	{ "tx qpn= drop", "qpn=" },
	{ "tx =5 drop", "=5" },
	{ "tx qpn==5 drop", "qpn==5" },
	{ "tx qpn=1 qpn=1 drop", "qpn=1" },
	{ "tx qpn=-1 drop", "qpn=-1" },
	{ "tx qpn=+1 drop", "qpn=+1" },
	{ "tx qpn=0x drop", "qpn=0x" },
	{ "tx qpn=x1 drop", "qpn=x1" },
	{ "tx qpn=0x1g drop", "qpn=0x1g" },
	{ "tx qpn=1a drop", "qpn=1a" },
	{ "tx qpn=0x1000000 drop", "qpn=0x1000000" },
	{ "tx qpn=16777216 drop", "qpn=16777216" },
	{ "tx qpn=18446744073709551617 drop", "qpn=18446744073709551617" },
	{ "tx qpn=0x10000000000000001 drop", "qpn=0x10000000000000001" },
	{ "tx psn=+ drop", "psn=+" },
	{ "tx psn=++1 drop", "psn=++1" },
	{ "tx psn=0x1000000 drop", "psn=0x1000000" },
	{ "tx psn=first drop", "psn=first" },
	{ "tx nth=0 drop", "nth=0" },
	{ "tx nth=4294967296 drop", "nth=4294967296" },
	{ "tx every=0 drop", "every=0" },
	{ "tx every=all drop", "every=all" },
	{ "tx count=0 drop", "count=0" },
	{ "tx type=rd drop", "type=rd" },
	{ "tx op=sends drop", "op=sends" },
	{ "tx op=256 drop", "op=256" },
	{ "tx src=1.2.3 drop", "src=1.2.3" },
	{ "tx src=1.2.3.4.5 drop", "src=1.2.3.4.5" },
	{ "tx src=1.2.3.256 drop", "src=1.2.3.256" },
	{ "tx dst=fd00:::1 drop", "dst=fd00:::1" },
	{ "tx dst=: drop", "dst=:" },
	{ "tx dst=1: drop", "dst=1:" },
	{ "tx dst=:1 drop", "dst=:1" },
	{ "tx dst=1::2::3 drop", "dst=1::2::3" },
	{ "tx dst=12345:: drop", "dst=12345::" },
	{ "tx dst=1:2:3:4:5:6:7 drop", "dst=1:2:3:4:5:6:7" },
	{ "tx dst=1:2:3:4:5:6:7:8:9 drop", "dst=1:2:3:4:5:6:7:8:9" },
	{ "tx dst=1:2:3:4:5:6:7:8:: drop", "dst=1:2:3:4:5:6:7:8::" },
	{ "tx dst=::1:2:3:4:5:6:7:8 drop", "dst=::1:2:3:4:5:6:7:8" },
	{ "tx dst=10.0.0.1/24 drop", "dst=10.0.0.1/24" },
	{ "tx dst=host drop", "dst=host" },
	{ "tx delay", "delay" },
	{ "tx delay=5", "delay=5" },
	{ "tx delay=ms", "delay=ms" },
	{ "tx delay=0ms", "delay=0ms" },
	{ "tx delay=5 ms", "delay=5" },
	{ "tx delay=5ns", "delay=5ns" },
	{ "tx delay=0x5ms", "delay=0x5ms" },
	{ "tx delay=11s", "delay=11s" },
	{ "tx delay=10000001us", "delay=10000001us" },
	{ "tx delay=18446744073709552us", "delay=18446744073709552us" },
	{ "tx swap=0", "swap=0" },
	{ "tx swap=", "swap=" },
	{ "tx swap=257", "swap=257" },
	{ "clear", "clear" },
	/* Of these, none of the words is wrong. */
	{ "tx\tdrop", "" },
	{ "tx drop\nrx drop", "" },
	{ "tx drop\n\n", "" },
	{ "tx dr\xc3\xb6p", "" },
	{ "tx drop\x7f", "" },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_rows, word);

static void parse_refuses(struct kunit *test)
{
	const struct bad_row *row = test->param_value;
	struct ornic_impair_error error;
	struct ornic_impair_rule rule;

	KUNIT_ASSERT_EQ(test,
			ornic_impair_parse(&rule, row->text, strlen(row->text),
					   &error),
			-EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, error.why);
	KUNIT_ASSERT_EQ(test, error.len, strlen(row->word));
	KUNIT_ASSERT_TRUE(test, error.at + error.len <= strlen(row->text));
	KUNIT_EXPECT_MEMEQ(test, row->text + error.at, row->word, error.len);
}

/* A 0 does not end the text, and 239 characters are the most. */
static void parse_bounds_the_text(struct kunit *test)
{
	char text[ORNIC_IMPAIR_TEXT + 1] = "tx drop";
	struct ornic_impair_error error;
	struct ornic_impair_rule rule;

	KUNIT_EXPECT_EQ(test, ornic_impair_parse(&rule, text, 8, &error),
			-EINVAL);
	memset(text + 7, ' ', sizeof(text) - 7);
	KUNIT_EXPECT_EQ(test,
			ornic_impair_parse(&rule, text, ORNIC_IMPAIR_TEXT - 1,
					   &error),
			0);
	KUNIT_EXPECT_EQ(test, strlen(rule.text), ORNIC_IMPAIR_TEXT - 1);
	KUNIT_EXPECT_EQ(test,
			ornic_impair_parse(&rule, text, ORNIC_IMPAIR_TEXT,
					   &error),
			-EINVAL);
	text[ORNIC_IMPAIR_TEXT - 1] = '\n';
	KUNIT_EXPECT_EQ(
		test,
		ornic_impair_parse(&rule, text, ORNIC_IMPAIR_TEXT, &error), 0);
}

/* Rules with bytes that were changed, cut off, or swapped, in exact buffers. */
static void parse_survives(struct kunit *test)
{
	static const char alphabet[] = "tx rx=0123456789abcdef+.:\n\t\0\xff";
	struct ornic_impair_error error;
	struct ornic_impair_rule rule;
	char *end, *text;
	u32 i, len, state = 1;

	end = kunit_kzalloc(test, ORNIC_IMPAIR_TEXT, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, end);
	end += ORNIC_IMPAIR_TEXT;
	for (i = 0; i < 20000; i++) {
		const char *good = good_rows[i % ARRAY_SIZE(good_rows)].text;

		state = state * 1103515245 + 12345;
		len = strlen(good) - (state >> 8) % 4;
		text = end - len;
		memcpy(text, good, len);
		text[(state >> 12) % len] =
			alphabet[(state >> 20) % sizeof(alphabet)];
		if (ornic_impair_parse(&rule, text, len, &error)) {
			KUNIT_ASSERT_NOT_NULL(test, error.why);
			KUNIT_ASSERT_TRUE(test, error.at + error.len <= len);
			continue;
		}
		KUNIT_ASSERT_NE(test, rule.action, ORNIC_IMPAIR_NONE);
		KUNIT_ASSERT_TRUE(test, rule.qpn <= 0xffffff);
		KUNIT_ASSERT_TRUE(test, rule.every && rule.nth);
	}
}

/* ---- Conditions ---------------------------------------------------------- */

static const struct match_row {
	const char *text;
	u8 dir;
	u8 opcode;
	u8 syndrome;
	bool matches;
} match_rows[] = {
	{ "tx drop", 0, 0x04, 0, true },
	{ "tx drop", 1, 0x04, 0, false },
	{ "rx drop", 1, 0x04, 0, true },
	{ "tx qpn=0x12 drop", 0, 0x04, 0, true },
	{ "tx qpn=0x13 drop", 0, 0x04, 0, false },
	{ "tx psn=0x123456 drop", 0, 0x04, 0, true },
	{ "tx psn=0x123457 drop", 0, 0x04, 0, false },
	{ "tx type=rc drop", 0, 0x04, 0, true },
	{ "tx type=uc drop", 0, 0x24, 0, true },
	{ "tx type=ud drop", 0, 0x64, 0, true },
	{ "tx type=xrc drop", 0, 0xa4, 0, true },
	{ "tx type=rc drop", 0, 0x64, 0, false },
	{ "tx op=0x81 drop", 0, 0x81, 0, true },
	{ "tx op=0x81 drop", 0, 0x01, 0, false },
	{ "tx op=request drop", 0, 0x0c, 0, true },
	{ "tx op=request drop", 0, 0x11, 0, false },
	{ "tx op=response drop", 0, 0x10, 0, true },
	{ "tx op=send drop", 0, 0x01, 0, true },
	{ "tx op=send drop", 0, 0x64, 0, true },
	{ "tx op=send drop", 0, 0x06, 0, false },
	{ "tx op=write drop", 0, 0x08, 0, true },
	{ "tx op=write drop", 0, 0x1d, 0, false },
	{ "tx op=read drop", 0, 0x0c, 0, true },
	{ "tx op=read drop", 0, 0x0e, 0, false },
	{ "tx op=read-response drop", 0, 0x0e, 0, true },
	{ "tx op=atomic drop", 0, 0x14, 0, true },
	{ "tx op=atomic-response drop", 0, 0x12, 0, true },
	{ "tx op=atomic-write drop", 0, 0x1d, 0, true },
	{ "tx op=flush drop", 0, 0x1c, 0, true },
	{ "tx op=ack drop", 0, 0x11, 0x1f, true },
	{ "tx op=ack drop", 0, 0xb1, 0x1f, true },
	{ "tx op=ack drop", 0, 0x11, 0x60, false },
	{ "tx op=ack drop", 0, 0x10, 0x1f, false },
	{ "tx op=nak drop", 0, 0x11, 0x60, true },
	{ "tx op=nak drop", 0, 0x11, 0x22, false },
	{ "tx op=rnr drop", 0, 0x11, 0x22, true },
	/* An opcode that does not exist is of no kind. */
	{ "tx op=request drop", 0, 0x1b, 0, false },
	{ "tx op=ack drop", 0, 0x31, 0x1f, false },
	{ "tx op=0x1b drop", 0, 0x1b, 0, true },
	{ "tx type=rc op=send qpn=18 psn=1193046 drop", 0, 0x04, 0, true },
	{ "tx type=rc op=send qpn=18 psn=1193047 drop", 0, 0x04, 0, false },
};

KUNIT_ARRAY_PARAM_DESC(match, match_rows, text);

static void rule_matches_packets(struct kunit *test)
{
	const struct match_row *row = test->param_value;
	struct ornic_impair *im = new_table(test);
	struct impaired p;

	add_rule(test, im, row->text);
	packet_of(&p, row->dir, row->opcode, 0x12, 0x123456);
	p.bth[12] = row->syndrome;
	KUNIT_EXPECT_EQ(test, ornic_impair_decide(im, &p.packet).action,
			row->matches ? ORNIC_IMPAIR_DROP : ORNIC_IMPAIR_NONE);
	KUNIT_EXPECT_EQ(test, im->rule[0].seen, row->matches);
}

static const struct address_row {
	const char *text;
	bool ipv6;
	bool matches;
} address_rows[] = {
	{ "tx src=10.0.0.1 drop", false, true },
	{ "tx src=10.0.0.2 drop", false, false },
	{ "tx dst=10.0.0.2 drop", false, true },
	{ "tx src=10.0.0.1 dst=10.0.0.2 drop", false, true },
	{ "tx src=10.0.0.2 dst=10.0.0.2 drop", false, false },
	{ "tx src=10.0.0.1 drop", true, false },
	{ "tx src=fd00::1 drop", true, true },
	{ "tx src=fd00::2 drop", true, false },
	{ "tx dst=fd00::2 drop", true, true },
	{ "tx dst=FD00:0:0:0:0:0:0:2 drop", true, true },
	{ "tx dst=fd00::2 drop", false, false },
	{ "tx dst=fd00::0:2 drop", true, true },
	{ "tx dst=fd00:0:0:0:0:0::2 drop", true, true },
	{ "tx dst=fd00:: drop", true, false },
	{ "tx dst=:: drop", true, false },
	{ "tx dst=::2 drop", true, false },
};

KUNIT_ARRAY_PARAM_DESC(address, address_rows, text);

static void rule_matches_addresses(struct kunit *test)
{
	const struct address_row *row = test->param_value;
	struct ornic_impair *im = new_table(test);
	struct impaired p;

	add_rule(test, im, row->text);
	packet_of(&p, ORNIC_IMPAIR_TX, ORNIC_OP_SEND_ONLY, 1, 1);
	p.packet.ipv6 = row->ipv6;
	if (row->ipv6) {
		p.ip[8] = 0xfd;
		p.ip[23] = 1;
		p.ip[24] = 0xfd;
		p.ip[39] = 2;
	} else {
		p.ip[12] = 10;
		p.ip[15] = 1;
		p.ip[16] = 10;
		p.ip[19] = 2;
	}
	KUNIT_EXPECT_EQ(test, ornic_impair_decide(im, &p.packet).action,
			row->matches ? ORNIC_IMPAIR_DROP : ORNIC_IMPAIR_NONE);
}

static void rule_ignores_stubs(struct kunit *test)
{
	struct ornic_impair *im = new_table(test);
	struct impaired p;

	add_rule(test, im, "tx count=all drop");
	packet_of(&p, ORNIC_IMPAIR_TX, ORNIC_OP_SEND_ONLY, 1, 1);
	for (p.packet.len = 0; p.packet.len < 16; p.packet.len++)
		KUNIT_EXPECT_EQ(test, ornic_impair_decide(im, &p.packet).action,
				ORNIC_IMPAIR_NONE);
	KUNIT_EXPECT_EQ(test, im->rule[0].seen, 0);
}

/* IBTA 9.7.2: PSNs have 24 bits. */
static void relative_psn_wraps(struct kunit *test)
{
	struct ornic_impair *im = new_table(test);

	add_rule(test, im, "tx op=request psn=+2 drop");
	/* Responses have PSNs of the other direction. */
	action_on(im, ORNIC_IMPAIR_TX, ORNIC_OP_ACK, 5, 7);
	KUNIT_EXPECT_EQ(test, action_on_psn(im, 0xfffffe), ORNIC_IMPAIR_NONE);
	KUNIT_EXPECT_EQ(test, action_on_psn(im, 0xffffff), ORNIC_IMPAIR_NONE);
	KUNIT_EXPECT_EQ(test,
			action_on(im, ORNIC_IMPAIR_TX, ORNIC_OP_SEND_MIDDLE, 6,
				  0),
			ORNIC_IMPAIR_NONE);
	KUNIT_EXPECT_EQ(test, action_on_psn(im, 0), ORNIC_IMPAIR_DROP);
	KUNIT_EXPECT_EQ(test, action_on_psn(im, 0), ORNIC_IMPAIR_NONE);
}

/* The packet is sent, and sent again twice. */
static void iteration_is_nth_of_a_psn(struct kunit *test)
{
	struct ornic_impair *im = new_table(test);

	add_rule(test, im, "tx psn=+1 nth=2 drop");
	action_on_psn(im, 10);
	KUNIT_EXPECT_EQ(test, action_on_psn(im, 11), ORNIC_IMPAIR_NONE);
	KUNIT_EXPECT_EQ(test, action_on_psn(im, 12), ORNIC_IMPAIR_NONE);
	KUNIT_EXPECT_EQ(test, action_on_psn(im, 11), ORNIC_IMPAIR_DROP);
	KUNIT_EXPECT_EQ(test, action_on_psn(im, 12), ORNIC_IMPAIR_NONE);
	KUNIT_EXPECT_EQ(test, action_on_psn(im, 11), ORNIC_IMPAIR_NONE);
}

static void first_binds_to_a_qp(struct kunit *test)
{
	struct ornic_impair *im = new_table(test);
	u8 tx = ORNIC_IMPAIR_TX, op = ORNIC_OP_SEND_ONLY;

	add_rule(test, im, "tx type=rc qpn=first nth=2 drop");
	/* QP 1 gets MADs first. */
	action_on(im, tx, ORNIC_UD | op, 1, 0);
	KUNIT_EXPECT_EQ(test, action_on(im, tx, op, 7, 1), ORNIC_IMPAIR_NONE);
	KUNIT_EXPECT_EQ(test, action_on(im, tx, op, 8, 1), ORNIC_IMPAIR_NONE);
	KUNIT_EXPECT_EQ(test, action_on(im, tx, op, 7, 2), ORNIC_IMPAIR_DROP);
	KUNIT_EXPECT_EQ(test, im->rule[0].seen, 2);
}

/* QPs of two peers may have the same number. */
static void first_binds_to_an_address(struct kunit *test)
{
	struct ornic_impair *im = new_table(test);
	struct impaired a, b;

	add_rule(test, im, "tx psn=+1 nth=2 drop");
	packet_of(&a, ORNIC_IMPAIR_TX, ORNIC_OP_SEND_ONLY, 5, 10);
	packet_of(&b, ORNIC_IMPAIR_TX, ORNIC_OP_SEND_ONLY, 5, 11);
	b.ip[19] = 1;
	ornic_impair_decide(im, &a.packet);
	ornic_impair_decide(im, &b.packet);
	KUNIT_EXPECT_EQ(test, im->rule[0].seen, 0);
	action_on(im, ORNIC_IMPAIR_TX, ORNIC_OP_SEND_ONLY, 5, 11);
	KUNIT_EXPECT_EQ(test, im->rule[0].seen, 1);
	ornic_impair_decide(im, &b.packet);
	KUNIT_EXPECT_EQ(
		test, action_on(im, ORNIC_IMPAIR_TX, ORNIC_OP_SEND_ONLY, 5, 11),
		ORNIC_IMPAIR_DROP);
}

/* ---- Selection ----------------------------------------------------------- */

static const struct select_row {
	const char *text;
	u32 acts; /* bit n: on packet n of 20, from 1 */
} select_rows[] = {
	{ "tx drop", 1 << 1 },
	{ "tx nth=3 drop", 1 << 3 },
	{ "tx nth=3 count=2 drop", 1 << 3 | 1 << 4 },
	{ "tx nth=3 every=5 drop", 1 << 3 | 1 << 8 | 1 << 13 | 1 << 18 },
	{ "tx nth=3 every=10 count=2 drop", 1 << 3 | 1 << 13 },
	{ "tx every=7 drop", 1 << 1 | 1 << 8 | 1 << 15 },
	{ "tx nth=17 count=all drop", 1 << 17 | 1 << 18 | 1 << 19 | 1 << 20 },
	{ "tx nth=21 drop", 0 },
	{ "tx nth=20 every=4294967295 drop", 1 << 20 },
};

KUNIT_ARRAY_PARAM_DESC(select, select_rows, text);

static void rule_selects_by_number(struct kunit *test)
{
	const struct select_row *row = test->param_value;
	struct ornic_impair *im = new_table(test);
	u32 i, acts = 0;

	add_rule(test, im, row->text);
	for (i = 1; i <= 20; i++) {
		if (action_on_psn(im, i))
			acts |= 1 << i;
	}
	KUNIT_EXPECT_EQ(test, acts, row->acts);
	KUNIT_EXPECT_EQ(test, im->rule[0].seen, 20);
	KUNIT_EXPECT_EQ(test, im->rule[0].missed, 0);
}

/* Each counts all packets, and the first one that selects a packet acts. */
static void rules_count_by_themselves(struct kunit *test)
{
	struct ornic_impair *im = new_table(test);

	add_rule(test, im, "tx nth=2 drop");
	add_rule(test, im, "tx nth=2 count=2 corrupt");
	KUNIT_EXPECT_EQ(test, action_on_psn(im, 1), ORNIC_IMPAIR_NONE);
	KUNIT_EXPECT_EQ(test, action_on_psn(im, 2), ORNIC_IMPAIR_DROP);
	KUNIT_EXPECT_EQ(test, action_on_psn(im, 3), ORNIC_IMPAIR_CORRUPT);
	KUNIT_EXPECT_EQ(test, action_on_psn(im, 4), ORNIC_IMPAIR_NONE);
	KUNIT_EXPECT_EQ(test, im->rule[0].hits, 1);
	KUNIT_EXPECT_EQ(test, im->rule[1].hits, 1);
	KUNIT_EXPECT_EQ(test, im->rule[1].missed, 1);
	KUNIT_EXPECT_EQ(test, im->rule[1].seen, 4);
}

static void table_is_bounded(struct kunit *test)
{
	struct ornic_impair *im = new_table(test);
	struct ornic_impair_error error;
	struct ornic_impair_rule rule;
	u32 i;

	for (i = 0; i < ORNIC_IMPAIR_RULES; i++)
		add_rule(test, im, "tx drop");
	ornic_impair_parse(&rule, "tx drop", 7, &error);
	KUNIT_EXPECT_EQ(test, ornic_impair_add(im, &rule), -ENOSPC);
	KUNIT_EXPECT_EQ(test, im->nrules, ORNIC_IMPAIR_RULES);
}

/* ---- Packets that wait --------------------------------------------------- */

/* Decide about packet @psn of QP @qpn, and hold it as @frame. */
static bool hold(struct ornic_impair *im, u32 qpn, u32 psn, void *frame,
		 u32 bytes, u64 now)
{
	struct ornic_impair_verdict verdict;
	struct impaired p;

	packet_of(&p, ORNIC_IMPAIR_TX, ORNIC_OP_SEND_MIDDLE, qpn, psn);
	verdict = ornic_impair_decide(im, &p.packet);
	return ornic_impair_hold(im, &verdict, frame, bytes, now);
}

/* A packet that nothing happens to. */
static void pass(struct ornic_impair *im, u8 dir, u32 qpn)
{
	struct ornic_impair_verdict verdict;
	struct impaired p;

	packet_of(&p, dir, ORNIC_OP_SEND_MIDDLE, qpn, 0);
	verdict = ornic_impair_decide(im, &p.packet);
	ornic_impair_passed(im, &verdict);
}

static void delay_keeps_order(struct kunit *test)
{
	struct ornic_impair *im = new_table(test);
	char a, b;

	add_rule(test, im, "tx count=all delay=5ms");
	KUNIT_EXPECT_EQ(test, ornic_impair_next(im), U64_MAX);
	KUNIT_EXPECT_TRUE(test, hold(im, 5, 1, &a, 10, 100));
	KUNIT_EXPECT_TRUE(test, hold(im, 5, 2, &b, 10, 100));
	KUNIT_EXPECT_EQ(test, ornic_impair_next(im), 100 + 5 * MS);
	/* Others do not let it go on. */
	ornic_impair_passed(im, &(struct ornic_impair_verdict){ .qpn = 5 });
	KUNIT_EXPECT_NULL(test,
			  ornic_impair_take(im, ORNIC_IMPAIR_TX, 99 + 5 * MS));
	KUNIT_EXPECT_NULL(test,
			  ornic_impair_take(im, ORNIC_IMPAIR_RX, U64_MAX));
	KUNIT_EXPECT_PTR_EQ(
		test, ornic_impair_take(im, ORNIC_IMPAIR_TX, 100 + 5 * MS),
		(void *)&a);
	KUNIT_EXPECT_PTR_EQ(test,
			    ornic_impair_take(im, ORNIC_IMPAIR_TX, U64_MAX),
			    (void *)&b);
	KUNIT_EXPECT_EQ(test, im->nheld, 0);
	KUNIT_EXPECT_EQ(test, im->held_bytes, 0);
	KUNIT_EXPECT_EQ(test, ornic_impair_next(im), U64_MAX);
}

static void swap_waits_for_its_qp(struct kunit *test)
{
	struct ornic_impair *im = new_table(test);
	struct ornic_impair_verdict verdict;
	struct impaired p;
	char a;

	add_rule(test, im, "tx qpn=5 swap=2");
	KUNIT_EXPECT_TRUE(test, hold(im, 5, 1, &a, 10, 100));
	pass(im, ORNIC_IMPAIR_TX, 6);
	pass(im, ORNIC_IMPAIR_RX, 5);
	/* The QP of another peer may have the same number. */
	packet_of(&p, ORNIC_IMPAIR_TX, ORNIC_OP_SEND_MIDDLE, 5, 2);
	p.ip[19] = 1;
	verdict = ornic_impair_decide(im, &p.packet);
	ornic_impair_passed(im, &verdict);
	pass(im, ORNIC_IMPAIR_TX, 5);
	KUNIT_EXPECT_NULL(test, ornic_impair_take(im, ORNIC_IMPAIR_TX, 200));
	pass(im, ORNIC_IMPAIR_TX, 5);
	KUNIT_EXPECT_EQ(test, ornic_impair_next(im), 0);
	KUNIT_EXPECT_PTR_EQ(test, ornic_impair_take(im, ORNIC_IMPAIR_TX, 200),
			    (void *)&a);
	pass(im, ORNIC_IMPAIR_TX, 5);
	KUNIT_EXPECT_NULL(test,
			  ornic_impair_take(im, ORNIC_IMPAIR_TX, U64_MAX));
}

static void swap_ends_without_others(struct kunit *test)
{
	struct ornic_impair *im = new_table(test);
	char a;

	add_rule(test, im, "tx swap");
	KUNIT_EXPECT_TRUE(test, hold(im, 5, 1, &a, 10, 100));
	KUNIT_EXPECT_EQ(test, ornic_impair_next(im),
			100 + ORNIC_IMPAIR_SWAP_NS);
	KUNIT_EXPECT_PTR_EQ(test,
			    ornic_impair_take(im, ORNIC_IMPAIR_TX,
					      100 + ORNIC_IMPAIR_SWAP_NS),
			    (void *)&a);
}

/* A packet that finds no room is not held, and the rule counts it as missed. */
static void held_packets_are_bounded(struct kunit *test)
{
	struct ornic_impair *im = new_table(test);
	char frame[ORNIC_IMPAIR_HELD + 1];
	u32 i;

	add_rule(test, im, "tx count=all delay=1s");
	for (i = 0; i < ORNIC_IMPAIR_HELD; i++)
		KUNIT_ASSERT_TRUE(test, hold(im, 5, i, frame + i, 1, 0));
	KUNIT_EXPECT_FALSE(test, hold(im, 5, i, frame + i, 1, 0));
	KUNIT_EXPECT_EQ(test, im->rule[0].hits, ORNIC_IMPAIR_HELD);
	KUNIT_EXPECT_EQ(test, im->rule[0].missed, 1);
	for (i = 0; i < ORNIC_IMPAIR_HELD; i++)
		KUNIT_EXPECT_PTR_EQ(
			test, ornic_impair_take(im, ORNIC_IMPAIR_TX, U64_MAX),
			(void *)(frame + i));
	KUNIT_EXPECT_TRUE(test, hold(im, 5, 0, frame,
				     ORNIC_IMPAIR_HELD_BYTES - 1, 0));
	KUNIT_EXPECT_FALSE(test, hold(im, 5, 1, frame + 1, 2, 0));
	KUNIT_EXPECT_FALSE(test, hold(im, 5, 1, frame + 1, 0xffffffff, 0));
	KUNIT_EXPECT_TRUE(test, hold(im, 5, 1, frame + 1, 1, 0));
	KUNIT_EXPECT_EQ(test, im->held_bytes, ORNIC_IMPAIR_HELD_BYTES);
}

/* ---- Marks --------------------------------------------------------------- */

KUNIT_ARRAY_PARAM_DESC(rxe, rxe_packets, name);

/* RFC 3168; IBTA A17.3.3: the ICRC does not cover these bits. */
static void mark_changes_two_bits(struct kunit *test)
{
	const struct ornic_rxe_packet *p = test->param_value;
	u32 bits = p->ipv6 ? 0x30 : 3, i;
	struct ornic_rx rx;
	u8 *f = kunit_kzalloc(test, p->len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	memcpy(f, p->frame, p->len);
	ornic_impair_mark_ce(f + ETH, p->ipv6);
	/* With a valid checksum. */
	KUNIT_EXPECT_EQ(test, ornic_rx_from_frame(&rx, f, p->len),
			ORNIC_FRAME_ROCE);
	KUNIT_EXPECT_EQ(test, f[ETH + 1], p->frame[ETH + 1] | bits);
	for (i = 0; i < p->len; i++) {
		if (i == ETH + 1 || (!p->ipv6 && i / 2 == (ETH + 10) / 2))
			continue;
		KUNIT_ASSERT_EQ(test, f[i], p->frame[i]);
	}
}

/* ---- What a QP makes of it ----------------------------------------------- */

/* A filter: what QP a sends passes the rules. */
static enum ornic_th_verdict filter_by_rules(struct ornic_th_pair *pair,
					     struct ornic_th *from,
					     struct ornic_th_frame *frame,
					     const struct ornic_pkt *pkt)
{
	struct ornic_impair_packet packet = {
		.ipv6 = pkt->rx->ipv6,
		.ip = pkt->rx->ip,
		.bth = pkt->rx->seg[0].ptr,
		.len = pkt->rx->len,
	};
	u8 action = 0;

	if (from == pair->a)
		action = ornic_impair_decide(pair->ctx, &packet).action;
	if (action == ORNIC_IMPAIR_CORRUPT)
		frame->data[frame->len - 1] ^= 1;
	return action == ORNIC_IMPAIR_DROP ? ORNIC_TH_DROP : ORNIC_TH_PASS;
}

static const struct effect_row {
	const char *text;
	enum ornic_stat stat; /* of b, which counts one */
} effect_rows[] = {
	{ "tx op=request psn=+2 drop", ORNIC_STAT_SEQ_NAK_SENT },
	{ "tx op=write nth=3 drop", ORNIC_STAT_SEQ_NAK_SENT },
	{ "tx op=request psn=+2 corrupt", ORNIC_STAT_RX_ICRC_ERRORS },
};

KUNIT_ARRAY_PARAM_DESC(effect, effect_rows, text);

static void third_packet_is_lost(struct kunit *test)
{
	struct ornic_th_qpinit init = { .type = ORNIC_QPT_RC };
	const struct effect_row *row = test->param_value;
	struct ornic_fixture *fix;
	struct ornic_cqe cqe;

	fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fix);
	KUNIT_ASSERT_EQ(test, ornic_fix_open(fix, ORNIC_FIX_WIRE, &init), 0);
	KUNIT_ASSERT_EQ(test, ornic_fix_connect(fix), 0);
	ornic_fix_fill(&fix->am, 0, ORNIC_FIX_MR_BYTES, 1);
	fix->pair.ctx = new_table(test);
	fix->pair.filter = filter_by_rules;
	add_rule(test, fix->pair.ctx, row->text);
	ornic_fix_post(&fix->a, &fix->am, &fix->bm, ORNIC_WQE_WRITE, 0, 0,
		       ORNIC_FIX_MR_BYTES);
	ornic_th_settle(&fix->pair);
	KUNIT_EXPECT_EQ(test, ornic_fix_status(&fix->ascq, &cqe),
			ORNIC_CQE_SUCCESS);
	KUNIT_EXPECT_EQ(test, ornic_engine_stat(fix->pair.b->eng, row->stat),
			1);
	KUNIT_EXPECT_EQ(test,
			ornic_fix_compare(&fix->bm, 0, ORNIC_FIX_MR_BYTES, 1),
			-1);
	KUNIT_EXPECT_EQ(test, ornic_fix_close(fix), 0);
}

static struct kunit_case impair_cases[] = {
	KUNIT_CASE_PARAM(parse_reads_rules, good_gen_params),
	KUNIT_CASE_PARAM(parse_refuses, bad_gen_params),
	KUNIT_CASE(parse_bounds_the_text),
	KUNIT_CASE(parse_survives),
	KUNIT_CASE_PARAM(rule_matches_packets, match_gen_params),
	KUNIT_CASE_PARAM(rule_matches_addresses, address_gen_params),
	KUNIT_CASE(rule_ignores_stubs),
	KUNIT_CASE(relative_psn_wraps),
	KUNIT_CASE(iteration_is_nth_of_a_psn),
	KUNIT_CASE(first_binds_to_a_qp),
	KUNIT_CASE(first_binds_to_an_address),
	KUNIT_CASE_PARAM(rule_selects_by_number, select_gen_params),
	KUNIT_CASE(rules_count_by_themselves),
	KUNIT_CASE(table_is_bounded),
	KUNIT_CASE(delay_keeps_order),
	KUNIT_CASE(swap_waits_for_its_qp),
	KUNIT_CASE(swap_ends_without_others),
	KUNIT_CASE(held_packets_are_bounded),
	KUNIT_CASE_PARAM(mark_changes_two_bits, rxe_gen_params),
	KUNIT_CASE_PARAM(third_packet_is_lost, effect_gen_params),
	{}
};

static struct kunit_suite impair_suite = {
	.name = "ornic_impair",
	.test_cases = impair_cases,
};

kunit_test_suite(impair_suite);

MODULE_DESCRIPTION("ornic: suite of impairments");
MODULE_LICENSE("Dual BSD/GPL");
