// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Flow rules: which of them counts, and which there may be. */
#include <kunit/test.h>

#include "flow_fixture.h"

/* ---- which rule ------------------------------------------------------------------- */

static void flow_matches(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_to(&ft->fix.a, 9);
	const struct ornic_flow_hits *hits;
	u32 number;

	hits = find(ft, 9, 53);
	KUNIT_EXPECT_EQ(test, hits->n, 0);
	KUNIT_EXPECT_FALSE(test, hits->taken);
	number = add(test, &rule);
	KUNIT_EXPECT_TRUE(test, th_of(ft)->raw_wanted);
	hits = find(ft, 9, 53);
	KUNIT_EXPECT_TRUE(test, is_for(hits, &ft->fix.a));
	KUNIT_EXPECT_TRUE(test, hits->taken);
	KUNIT_EXPECT_TRUE(test, hits->named);
	hits = find(ft, 8, 53);
	KUNIT_EXPECT_EQ(test, hits->n, 0);
	KUNIT_EXPECT_FALSE(test, hits->taken);
	KUNIT_EXPECT_EQ(test, ornic_rf_destroy(th_of(ft), number), 0);
	KUNIT_EXPECT_FALSE(test, th_of(ft)->raw_wanted);
	hits = find(ft, 9, 53);
	KUNIT_EXPECT_EQ(test, hits->n, 0);
	KUNIT_EXPECT_EQ(test, ornic_rf_destroy(th_of(ft), number),
			ORNIC_NOT_FOUND);
}

/* Bits outside of the mask count for nothing, part of a byte may be in it. */
static void flow_masks(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_port(&ft->fix.a, 0x1234);
	const struct ornic_flow_hits *hits;

	rule.match.mask.dst_port = cpu_to_be16(0xfff0);
	rule.match.value.ttl = 77;
	add(test, &rule);
	hits = find(ft, 9, 0x1230);
	KUNIT_EXPECT_TRUE(test, is_for(hits, &ft->fix.a));
	KUNIT_EXPECT_FALSE(test, hits->named);
	hits = find(ft, 9, 0x123f);
	KUNIT_EXPECT_TRUE(test, is_for(hits, &ft->fix.a));
	hits = find(ft, 9, 0x1240);
	KUNIT_EXPECT_EQ(test, hits->n, 0);
}

/* The lowest number first, whatever the masks and the order of creation. */
static void flow_priorities(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule wide = ornic_rf_port(&ft->fix.a, 53);
	struct ornic_rf_rule narrow = ornic_rf_to(&ft->fix.b, 9);
	const struct ornic_flow_hits *hits;
	u32 number;

	narrow.priority = 2;
	add(test, &narrow);
	wide.priority = 1;
	number = add(test, &wide);
	hits = find(ft, 9, 53);
	KUNIT_EXPECT_TRUE(test, is_for(hits, &ft->fix.a));
	KUNIT_EXPECT_EQ(test, ornic_rf_destroy(th_of(ft), number), 0);
	hits = find(ft, 9, 53);
	KUNIT_EXPECT_TRUE(test, is_for(hits, &ft->fix.b));
	/* Of one priority the rule with more bits. */
	wide.priority = 2;
	add(test, &wide);
	hits = find(ft, 9, 53);
	KUNIT_EXPECT_TRUE(test, is_for(hits, &ft->fix.b));
	/* Also where its mask has rules of a lower number. */
	wide.priority = 1;
	wide.match.value.dst_port = cpu_to_be16(54);
	add(test, &wide);
	hits = find(ft, 9, 53);
	KUNIT_EXPECT_TRUE(test, is_for(hits, &ft->fix.b));
	/* Of one match. */
	narrow.qp = &ft->fix.a;
	narrow.priority = 0;
	add(test, &narrow);
	narrow.priority = 65535;
	add(test, &narrow);
	hits = find(ft, 9, 53);
	KUNIT_EXPECT_TRUE(test, is_for(hits, &ft->fix.a));
}

/* Rules that are equal share their frames; one QP has such a rule once. */
static void flow_equals(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_to(&ft->fix.a, 9);
	const struct ornic_flow_hits *hits;

	add(test, &rule);
	KUNIT_EXPECT_EQ(test, try_add(ft, &rule), ORNIC_EXISTS);
	rule.qp = &ft->fix.b;
	add(test, &rule);
	hits = find(ft, 9, 53);
	KUNIT_EXPECT_EQ(test, hits->n, 2);
	KUNIT_EXPECT_EQ(test, hits->qpn[0], ft->fix.a.qpn);
	KUNIT_EXPECT_EQ(test, hits->qpn[1], ft->fix.b.qpn);
	/* Another priority is another rule. */
	rule.priority = 3;
	add(test, &rule);
	hits = find(ft, 9, 53);
	KUNIT_EXPECT_EQ(test, hits->n, 2);
}

/* A copy leaves the frame to others and the host, if its priority comes to it. */
static void flow_copies(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule copy = ornic_rf_port(&ft->fix.a, 53);
	struct ornic_rf_rule rule = ornic_rf_to(&ft->fix.b, 9);
	const struct ornic_flow_hits *hits;
	u32 number;

	copy.flags = ORNIC_FLOW_COPY;
	copy.priority = 5;
	add(test, &copy);
	hits = find(ft, 9, 53);
	KUNIT_EXPECT_TRUE(test, is_for(hits, &ft->fix.a));
	KUNIT_EXPECT_FALSE(test, hits->taken);
	rule.priority = 5;
	number = add(test, &rule);
	hits = find(ft, 9, 53);
	KUNIT_EXPECT_EQ(test, hits->n, 2);
	KUNIT_EXPECT_TRUE(test, hits->taken);
	KUNIT_EXPECT_EQ(test, ornic_rf_destroy(th_of(ft), number), 0);
	rule.priority = 4;
	add(test, &rule);
	hits = find(ft, 9, 53);
	KUNIT_EXPECT_TRUE(test, is_for(hits, &ft->fix.b));
}

static void flow_drops(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_to(&ft->fix.a, 9);
	const struct ornic_flow_hits *hits;

	rule.flags = ORNIC_FLOW_DROP;
	add(test, &rule);
	hits = find(ft, 9, 53);
	KUNIT_EXPECT_EQ(test, hits->n, 0);
	KUNIT_EXPECT_TRUE(test, hits->taken);
}

/* What is for many is never hidden from the host. */
static void flow_shares_multicast(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_port(&ft->fix.a, 53);
	const struct ornic_flow_hits *hits;

	add(test, &rule);
	ornic_rf_udp(ft->frame, 9, 53, LEN);
	ft->frame[0] |= 1;
	hits = find_frame(ft, true);
	KUNIT_EXPECT_TRUE(test, is_for(hits, &ft->fix.a));
	KUNIT_EXPECT_FALSE(test, hits->taken);
}

/* Rules without a match: who gets what is left, and who gets all. */
struct other_row {
	const char *name;
	u8 type;
	bool multicast, for_host, rule;
	bool gets, taken;
};

#define SNIFFER ORNIC_FLOW_SNIFFER
#define ALL ORNIC_FLOW_ALL_DEFAULT
#define MC ORNIC_FLOW_MC_DEFAULT

static const struct other_row other_rows[] = {
	{ "sniffer", SNIFFER, false, true, false, true, false },
	{ "sniffer, rule", SNIFFER, false, true, true, true, true },
	{ "sniffer, group", SNIFFER, true, true, false, true, false },
	{ "all, for the host", ALL, false, true, false, false, false },
	/* It may be for a macvlan of the host. */
	{ "all", ALL, false, false, false, true, false },
	{ "all, rule", ALL, false, false, true, false, true },
	{ "all, group", ALL, true, true, false, true, false },
	{ "all, group, rule", ALL, true, true, true, false, false },
	{ "groups", MC, false, false, false, false, false },
	{ "groups, group", MC, true, true, false, true, false },
	{ "groups, group, rule", MC, true, true, true, false, false },
};

KUNIT_ARRAY_PARAM_DESC(other, other_rows, name);

static void flow_others(struct kunit *test)
{
	const struct other_row *row = test->param_value;
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule other = { .qp = &ft->fix.b, .type = row->type };
	struct ornic_rf_rule rule = ornic_rf_port(&ft->fix.a, 53);
	const struct ornic_flow_hits *hits;

	add(test, &other);
	KUNIT_EXPECT_EQ(test, try_add(ft, &other), ORNIC_EXISTS);
	if (row->rule)
		add(test, &rule);
	ornic_rf_udp(ft->frame, 9, 53, LEN);
	if (row->multicast)
		ft->frame[0] |= 1;
	hits = find_frame(ft, row->for_host);
	KUNIT_EXPECT_EQ(test, hits->n, row->gets + row->rule);
	if (row->gets)
		KUNIT_EXPECT_EQ(test, hits->qpn[hits->n - 1], ft->fix.b.qpn);
	KUNIT_EXPECT_EQ(test, hits->taken, row->taken);
}

/* ---- limits ----------------------------------------------------------------------- */

static void flow_mask_limit(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_port(&ft->fix.a, 0);
	const struct ornic_flow_hits *hits;
	u32 i;

	for (i = 0; i < ORNIC_FLOW_MAX_MASKS; i++) {
		rule.match.mask.dst_port = cpu_to_be16((u16)i);
		rule.match.value.dst_port = cpu_to_be16((u16)i);
		rule.priority = (u16)i;
		ft->number[i] = add(test, &rule);
	}
	rule.match.mask.dst_port = cpu_to_be16(0xffff);
	KUNIT_EXPECT_EQ(test, try_add(ft, &rule), ORNIC_LIMIT);
	hits = find(ft, 9, 63);
	KUNIT_EXPECT_TRUE(test, is_for(hits, &ft->fix.a));
	KUNIT_EXPECT_EQ(test, ornic_rf_destroy(th_of(ft), ft->number[7]), 0);
	add(test, &rule);
	KUNIT_EXPECT_EQ(test, th_of(ft)->eng->dev.flows.nmasks,
			ORNIC_FLOW_MAX_MASKS);
}

static struct ornic_th_qp *add_qp(struct kunit *test, u32 i)
{
	struct ornic_th_qpinit init = { .type = RAW };
	struct flow_test *ft = test->priv;

	KUNIT_ASSERT_EQ(test,
			ornic_th_qp_init(th_of(ft), &ft->more[i], &init,
					 &ft->fix.ascq, &ft->fix.arcq),
			0);
	return &ft->more[i];
}

/* Such a rule of @limit QPs, and of not one more: all of them get frames. */
static noinline void expect_limit(struct kunit *test,
				  struct ornic_rf_rule *rule, u32 limit)
{
	struct flow_test *ft = test->priv;
	u32 i;

	for (i = 0; i < limit; i++) {
		rule->qp = add_qp(test, i);
		add(test, rule);
	}
	rule->qp = add_qp(test, i);
	KUNIT_EXPECT_EQ(test, try_add(ft, rule), ORNIC_LIMIT);
	KUNIT_EXPECT_EQ(test, find(ft, 9, 53)->n, limit);
}

static void flow_equal_limit(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_port(&ft->fix.a, 53);

	expect_limit(test, &rule, ORNIC_FLOW_MAX_EQUAL);
}

static void flow_other_limit(struct kunit *test)
{
	struct ornic_rf_rule rule = { .type = ORNIC_FLOW_SNIFFER };

	open_flows(test);
	expect_limit(test, &rule, ORNIC_FLOW_MAX_OTHERS);
}

/* A frame meets so many rules of one match, whatever their priorities. */
static void flow_same_limit(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_port(&ft->fix.a, 53);
	u32 i;

	for (i = 0; i < ORNIC_FLOW_MAX_SAME; i++) {
		rule.priority = (u16)(1000 - i);
		add(test, &rule);
	}
	for (i = 0; i < 2; i++) {
		rule.priority = (u16)(i * 2000);
		KUNIT_EXPECT_EQ(test, try_add(ft, &rule), ORNIC_LIMIT);
	}
	rule = ornic_rf_port(&ft->fix.a, 54);
	add(test, &rule);
}

/* A QP that all kinds of rules give UDP frames to port 53. */
static noinline void add_greedy_qp(struct kunit *test, u32 i)
{
	struct ornic_rf_rule rule = ornic_rf_port(add_qp(test, i), 53);
	u32 j;

	rule.flags = ORNIC_FLOW_COPY;
	for (j = 0; j < 2; j++) {
		rule.priority = (u16)(i / 8 * 2 + j);
		add(test, &rule);
	}
	rule.flags = 0;
	rule.type = ORNIC_FLOW_SNIFFER;
	add(test, &rule);
}

/* A QP gets a frame once, however many of its rules match; what takes it is first. */
static void flow_no_qp_twice(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_to(&ft->fix.a, 9);
	const struct ornic_flow_hits *hits;
	u32 i;

	rule.priority = 9;
	add(test, &rule);
	for (i = 0; i < ORNIC_FLOW_MAX_OTHERS; i++)
		add_greedy_qp(test, i);
	hits = find(ft, 9, 53);
	KUNIT_EXPECT_EQ(test, hits->n, ORNIC_FLOW_MAX_OTHERS + 1);
	KUNIT_EXPECT_EQ(test, hits->qpn[0], ft->fix.a.qpn);
}

/* Only so many QPs get a frame. */
static void flow_hits_limit(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_port(&ft->fix.a, 53);
	u32 i;

	rule.flags = ORNIC_FLOW_COPY;
	for (i = 0; i < ORNIC_FLOW_HITS; i++) {
		rule.qp = add_qp(test, i);
		rule.priority = (u16)(i / 8);
		add(test, &rule);
	}
	rule.qp = add_qp(test, i);
	rule.flags = 0;
	rule.type = ORNIC_FLOW_SNIFFER;
	add(test, &rule);
	KUNIT_EXPECT_EQ(test, find(ft, 9, 53)->n, ORNIC_FLOW_HITS);
}

/* ---- commands --------------------------------------------------------------------- */

enum spoil {
	NO_MASK,
	BAD_LAYER,
	RESERVED,
	BOTH_IPS,
	BOTH_L4,
	TYPE_NOT_IPV4,
	TYPE_NOT_IPV6,
	BAD_TYPE,
	BAD_FLAG,
	COPY_AND_DROP,
	SNIFFER_COPY,
	NOT_RAW,
	NO_QP,
};

static const struct bad_row {
	const char *name;
	enum spoil spoil;
	int status;
} bad_rows[] = {
	{ "no mask", NO_MASK, ORNIC_BAD_PARAM },
	{ "unknown layer", BAD_LAYER, ORNIC_BAD_PARAM },
	{ "reserved bits", RESERVED, ORNIC_BAD_PARAM },
	{ "IPv4 and IPv6", BOTH_IPS, ORNIC_BAD_PARAM },
	{ "TCP and UDP", BOTH_L4, ORNIC_BAD_PARAM },
	{ "IPv4 of another type", TYPE_NOT_IPV4, ORNIC_BAD_PARAM },
	{ "IPv6 of another type", TYPE_NOT_IPV6, ORNIC_BAD_PARAM },
	{ "unknown type", BAD_TYPE, ORNIC_BAD_PARAM },
	{ "unknown flag", BAD_FLAG, ORNIC_BAD_PARAM },
	{ "copy and drop", COPY_AND_DROP, ORNIC_BAD_PARAM },
	{ "sniffer with a flag", SNIFFER_COPY, ORNIC_BAD_PARAM },
	{ "UD QP", NOT_RAW, ORNIC_BAD_PARAM },
	{ "no QP", NO_QP, ORNIC_NOT_FOUND },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_rows, name);

static void set_layers(struct ornic_rf_rule *rule, u8 layers, u16 type)
{
	rule->match.value.layers = layers;
	rule->match.mask.layers = layers;
	rule->match.value.ether_type = cpu_to_be16(type);
	rule->match.mask.ether_type = cpu_to_be16(type ? 0xffff : 0);
}

static void spoil_rule(struct ornic_rf_rule *rule, enum spoil spoil)
{
	switch (spoil) {
	case NO_MASK:
		memset(&rule->match.mask, 0, sizeof(rule->match.mask));
		break;
	case BAD_LAYER:
		set_layers(rule, 0x20, 0);
		break;
	case RESERVED:
		rule->match.mask.reserved[2] = 1;
		break;
	case BOTH_IPS:
		set_layers(rule, ORNIC_FLOW_IPV4 | ORNIC_FLOW_IPV6, 0);
		break;
	case BOTH_L4:
		set_layers(rule, ORNIC_FLOW_TCP | ORNIC_FLOW_UDP, 0);
		break;
	case TYPE_NOT_IPV4:
		set_layers(rule, ORNIC_FLOW_IPV4, 0x86dd);
		break;
	case TYPE_NOT_IPV6:
		set_layers(rule, ORNIC_FLOW_IPV6, 0x0806);
		break;
	case BAD_TYPE:
		rule->type = ORNIC_FLOW_SNIFFER + 1;
		break;
	case BAD_FLAG:
		rule->flags = 4;
		break;
	case COPY_AND_DROP:
		rule->flags = ORNIC_FLOW_COPY | ORNIC_FLOW_DROP;
		break;
	case SNIFFER_COPY:
		rule->type = ORNIC_FLOW_SNIFFER;
		rule->flags = ORNIC_FLOW_COPY;
		break;
	default:
		break;
	}
}

static void flow_refuses(struct kunit *test)
{
	const struct bad_row *row = test->param_value;
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_to(&ft->fix.a, 9);
	struct ornic_th_qpinit ud = { .type = ORNIC_QPT_UD };
	const struct ornic_flows *flows = &th_of(ft)->eng->dev.flows;
	struct ornic_th_qp qp = { .qpn = 0x30000 };

	if (row->spoil == NOT_RAW)
		KUNIT_ASSERT_EQ(test,
				ornic_th_qp_init(th_of(ft), &ft->more[0], &ud,
						 &ft->fix.ascq, &ft->fix.arcq),
				0);
	spoil_rule(&rule, row->spoil);
	if (row->spoil == NOT_RAW)
		rule.qp = &ft->more[0];
	if (row->spoil == NO_QP)
		rule.qp = &qp;
	KUNIT_EXPECT_EQ(test, try_add(ft, &rule), row->status);
	KUNIT_EXPECT_EQ(test, flows->count + flows->nmasks, 0);
	KUNIT_EXPECT_EQ(test, flows->numbers.count, 0);
	KUNIT_EXPECT_FALSE(test, th_of(ft)->raw_wanted);
}

/* The match is DMA memory, and sniffers have none. */
static void flow_match_address(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	union ornic_req req;
	union ornic_rsp rsp;

	memset(&req, 0, sizeof(req));
	req.hdr.opcode = ORNIC_CMD_CREATE_FLOW;
	req.create_flow.rule.qpn = cpu_to_le32(ft->fix.a.qpn);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th_of(ft), &req, &rsp),
			ORNIC_BAD_PARAM);
	req.create_flow.rule.match = cpu_to_le64((u64)(uintptr_t)ft->frame);
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th_of(ft), &req, &rsp),
			ORNIC_BAD_ADDR);
	req.create_flow.rule.type = ORNIC_FLOW_SNIFFER;
	KUNIT_EXPECT_EQ(test, ornic_th_cmd(th_of(ft), &req, &rsp),
			ORNIC_BAD_PARAM);
}

/* A QP is not destroyed before its rules, which stay as they are. */
static void flow_keeps_qp(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_to(&ft->fix.a, 9);
	const struct ornic_flow_hits *hits;
	u32 number = add(test, &rule);

	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&ft->fix.a), ORNIC_BUSY);
	hits = find(ft, 9, 53);
	KUNIT_EXPECT_TRUE(test, is_for(hits, &ft->fix.a));
	rule.match.value.dmac[5] = 8;
	KUNIT_EXPECT_EQ(test, ornic_rf_destroy(th_of(ft), add(test, &rule)), 0);
	KUNIT_EXPECT_EQ(test, ornic_rf_destroy(th_of(ft), number), 0);
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&ft->fix.a), 0);
	KUNIT_EXPECT_EQ(test, try_add(ft, &rule), ORNIC_NOT_FOUND);
}

/* A rule that takes, one that copies, and a sniffer. */
static void add_all_kinds(struct kunit *test)
{
	struct flow_test *ft = test->priv;
	struct ornic_rf_rule rule = ornic_rf_to(&ft->fix.a, 9);

	ft->number[0] = add(test, &rule);
	rule.flags = ORNIC_FLOW_COPY;
	rule.priority = 1;
	ft->number[1] = add(test, &rule);
	rule.flags = 0;
	rule.type = ORNIC_FLOW_SNIFFER;
	ft->number[2] = add(test, &rule);
}

/* Rules that have ended are in no look-up; their QP has them until they go. */
static void flow_ends(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	const struct ornic_flows *flows = &th_of(ft)->eng->dev.flows;
	u32 i;

	add_all_kinds(test);
	KUNIT_EXPECT_EQ(test, ornic_rf_end_all(th_of(ft)), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, ornic_rf_end_all(th_of(ft)), ORNIC_OK);
	KUNIT_EXPECT_EQ(test, find(ft, 9, 53)->n, 0);
	KUNIT_EXPECT_FALSE(test, ft->hits.taken);
	KUNIT_EXPECT_EQ(test, flows->count + flows->nmasks, 0);
	KUNIT_EXPECT_EQ(test, flows->ncopies + flows->nothers, 0);
	KUNIT_EXPECT_FALSE(test, th_of(ft)->raw_wanted);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&ft->fix.a), ORNIC_BUSY);
		KUNIT_EXPECT_EQ(test,
				ornic_rf_destroy(th_of(ft), ft->number[i]), 0);
	}
	KUNIT_EXPECT_EQ(test, ornic_th_qp_fini(&ft->fix.a), 0);
}

static void note_number(struct ornic_th *th)
{
	struct flow_test *ft = th->program;

	ft->found =
		ornic_table_lookup(&th->eng->dev.flows.numbers, ft->number[0]);
}

/* While frames are wanted for a rule, what ends all rules finds it by its number. */
static void flow_destroys(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_to(&ft->fix.a, 9);
	struct ornic_th *th = th_of(ft);

	ft->number[0] = add(test, &rule);
	th->program = ft;
	th->on_raw_wanted = note_number;
	KUNIT_EXPECT_EQ(test, ornic_rf_destroy(th, ft->number[0]), 0);
	KUNIT_EXPECT_TRUE(test, ft->found);
	KUNIT_EXPECT_EQ(test, ornic_rf_destroy(th, ft->number[0]),
			ORNIC_NOT_FOUND);
	KUNIT_EXPECT_EQ(test, th->eng->dev.flows.numbers.count, 0);
}

static struct kunit_case flow_cases[] = {
	KUNIT_CASE(flow_matches),
	KUNIT_CASE(flow_masks),
	KUNIT_CASE(flow_priorities),
	KUNIT_CASE(flow_equals),
	KUNIT_CASE(flow_copies),
	KUNIT_CASE(flow_drops),
	KUNIT_CASE(flow_shares_multicast),
	KUNIT_CASE_PARAM(flow_others, other_gen_params),
	KUNIT_CASE(flow_mask_limit),
	KUNIT_CASE(flow_equal_limit),
	KUNIT_CASE(flow_same_limit),
	KUNIT_CASE(flow_other_limit),
	KUNIT_CASE(flow_no_qp_twice),
	KUNIT_CASE(flow_hits_limit),
	KUNIT_CASE_PARAM(flow_refuses, bad_gen_params),
	KUNIT_CASE(flow_match_address),
	KUNIT_CASE(flow_keeps_qp),
	KUNIT_CASE(flow_ends),
	KUNIT_CASE(flow_destroys),
	{}
};

static struct kunit_suite flow_suite = {
	.name = "ornic_flow",
	.init = flow_init,
	.exit = ornic_suite_exit,
	.test_cases = flow_cases,
};

kunit_test_suite(flow_suite);

MODULE_DESCRIPTION("ornic: flow rule suite");
MODULE_LICENSE("Dual BSD/GPL");
