// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Flow rules: the table that they are in, of many rules and of hostile ones. */
#include <kunit/test.h>

#include "flow_fixture.h"

/* ---- many rules ------------------------------------------------------------------- */

static void add_many(struct kunit *test, u32 n)
{
	struct flow_test *ft = test->priv;
	struct ornic_rf_rule rule;
	u32 i;

	for (i = 0; i < n; i++) {
		rule = ornic_rf_port(i & 1 ? &ft->fix.b : &ft->fix.a, (u16)i);
		ft->number[i] = add(test, &rule);
	}
}

/* Rules that differ in their port alone. */
static void add_values(struct kunit *test, struct ornic_rf_rule *rule, u32 n)
{
	struct flow_test *ft = test->priv;
	u32 i;

	for (i = 0; i < n; i++) {
		rule->match.value.dst_port = cpu_to_be16((u16)i);
		ft->number[i] = add(test, rule);
	}
}

/* Each of many rules is found, and no longer when it is gone. */
static void flow_many(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	const struct ornic_flow_hits *hits;
	u32 i, wrong = 0;

	add_many(test, MANY);
	KUNIT_EXPECT_EQ(test, th_of(ft)->eng->dev.flows.nmasks, 1);
	for (i = 0; i < MANY; i++) {
		hits = find(ft, 9, (u16)i);
		wrong += !is_for(hits, i & 1 ? &ft->fix.b : &ft->fix.a);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	for (i = 0; i < MANY; i += 2)
		wrong += ornic_rf_destroy(th_of(ft), ft->number[i]);
	for (i = 0; i < MANY; i++) {
		hits = find(ft, 9, (u16)i);
		wrong += hits->n != (i & 1);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Longest chain of the hash table, and the sum of the squares. */
static void chain_lengths(const struct ornic_flows *flows, u32 *longest,
			  u64 *squares)
{
	const struct ornic_flow_bucket *bucket;
	const struct ornic_flow *flow;
	u32 i, n;

	bucket = ornic_rcu_locked(flows->bucket);
	*longest = 0;
	*squares = 0;
	for (i = 0; i < ORNIC_FLOW_BUCKETS; i++) {
		n = 0;
		flow = ornic_rcu_locked(bucket[i].first);
		for (; flow; flow = ornic_rcu_locked(flow->next))
			n++;
		*longest = max_t(u32, *longest, n);
		*squares += n * n;
	}
}

/*
 * The cost of a look-up does not grow with the number of rules: a rule that is
 * found has hardly more than itself in its chain.
 */
static void flow_many_cost(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	u32 longest;
	u64 squares;

	add_many(test, MANY);
	chain_lengths(&th_of(ft)->eng->dev.flows, &longest, &squares);
	KUNIT_EXPECT_LE(test, longest, 8);
	/* Random chains: n rules in m buckets meet n * (1 + n / m) of them. */
	KUNIT_EXPECT_LE(test, squares, MANY * 17 / 10);
}

/* Source and destination of the layer of IP. */
static u8 *addresses(struct ornic_flow_key *key)
{
	static_assert(offsetof(struct ornic_flow_key, dst_ip) ==
		      offsetof(struct ornic_flow_key, src_ip) + 16);

	return (u8 *)key + offsetof(struct ornic_flow_key, src_ip);
}

/*
 * Values that differ where the differences cancel out in a hash of which only the
 * start is secret: bit 63 of a word, and bits 63 and 34 of the next one.
 */
static void set_addresses(struct ornic_flow_key *key, u32 which)
{
	u8 *p = addresses(key);
	u32 i;

	memset(p, 0, 32);
	for (i = 0; i < 3; i++, p += 8) {
		if (!(which >> i & 1))
			continue;
		p[7] ^= 0x80;
		p[15] ^= 0x80;
		p[12] ^= 4;
	}
}

/* Nobody who does not know the secret makes rules that meet in one chain. */
static void flow_no_collisions(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_port(&ft->fix.a, 53);
	u32 i, seed, longest;
	u64 squares;

	memset(addresses(&rule.match.mask), 0xff, 32);
	for (seed = 0; seed < 4; seed++) {
		for (i = 0; i < 8; i++) {
			set_addresses(&rule.match.value, i);
			ft->number[i] = add(test, &rule);
		}
		chain_lengths(&th_of(ft)->eng->dev.flows, &longest, &squares);
		KUNIT_EXPECT_LE(test, longest, 2);
		for (i = 0; i < 8; i++)
			ornic_rf_destroy(th_of(ft), ft->number[i]);
	}
}

/* Who does know it still makes no frame meet more than so many rules. */
static void flow_chain_limit(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_port(&ft->fix.a, 0);
	u32 i, longest;
	u64 squares;

	th_of(ft)->not_random = true;
	/* Of a key of zeroes, words with one half in use all meet. */
	rule.match.mask.layers = 0;
	add_values(test, &rule, ORNIC_FLOW_MAX_CHAIN);
	chain_lengths(&th_of(ft)->eng->dev.flows, &longest, &squares);
	KUNIT_ASSERT_EQ(test, longest, ORNIC_FLOW_MAX_CHAIN);
	rule.match.value.dst_port = cpu_to_be16(ORNIC_FLOW_MAX_CHAIN);
	KUNIT_EXPECT_EQ(test, try_add(ft, &rule), ORNIC_LIMIT);
	for (i = 0; i < ORNIC_FLOW_MAX_CHAIN; i++)
		KUNIT_EXPECT_TRUE(test,
				  is_for(find(ft, 9, (u16)i), &ft->fix.a));
	KUNIT_EXPECT_EQ(test, ornic_rf_destroy(th_of(ft), ft->number[5]), 0);
	add(test, &rule);
}

/* A CPU may see the mask of the first rule, and not yet the table. */
static void flow_table_comes_late(struct kunit *test)
{
	struct flow_test *ft = open_flows(test);
	struct ornic_rf_rule rule = ornic_rf_port(&ft->fix.a, 53);
	struct ornic_flows *flows = &th_of(ft)->eng->dev.flows;
	struct ornic_flow_bucket *bucket;

	add(test, &rule);
	bucket = ornic_rcu_locked(flows->bucket);
	ornic_rcu_assign(flows->bucket, NULL);
	KUNIT_EXPECT_EQ(test, find(ft, 9, 53)->n, 0);
	ornic_rcu_assign(flows->bucket, bucket);
	KUNIT_EXPECT_EQ(test, find(ft, 9, 53)->n, 1);
}

static struct kunit_case flow_table_cases[] = { KUNIT_CASE(flow_many),
						KUNIT_CASE(flow_many_cost),
						KUNIT_CASE(flow_no_collisions),
						KUNIT_CASE(flow_chain_limit),
						KUNIT_CASE(
							flow_table_comes_late),
						{} };

static struct kunit_suite flow_table_suite = {
	.name = "ornic_flow_table",
	.init = flow_init,
	.exit = ornic_suite_exit,
	.test_cases = flow_table_cases,
};

kunit_test_suite(flow_table_suite);

MODULE_DESCRIPTION("ornic: flow table suite");
MODULE_LICENSE("Dual BSD/GPL");
